//! Prints everything that a dry run did, as text or JSON.

use crate::assemble::rehearsal::{LoadedRehearsal, load_rehearsal};
use crate::assemble::session_builder::SessionBuilder;
use crate::chat::dry_run_summary::OutsideChanges;
use crate::chat::result_origin::mark_dry_run;
use crate::chat::{ApplyOptions, DryRunCounts, SessionId, extend_object, pluralize};
use crate::commands::output::page_width;
use crate::print::json_line;
use crate::project::folder_facts;
use crate::text::clean::clean_line;
use crate::tui::parts::rehearsal_lines::{call_lines, change_lines, outside_change_lines, tree_lines};
use crate::tui::theme::Theme;
use anyhow::Result;
use ratatui::text::Line;
use serde_json::json;
use std::io::{self, Write};

/// Prints the summary that a headless dry run ends with.
pub(crate) fn print_summary(
    session_builder: &SessionBuilder,
    id: &SessionId,
    as_json: bool,
    out: &mut dyn Write,
) -> Result<()> {
    let loaded = load_rehearsal(&session_builder.places, &session_builder.folder, id)?;
    match as_json {
        true => print_json(&loaded, "plan", out),
        false => {
            writeln!(out)?;
            print_text(&loaded, out)
        }
    }
}

/// Prints everything as one JSON object with this `kind`.
pub(crate) fn print_json(loaded: &LoadedRehearsal, kind: &str, out: &mut dyn Write) -> Result<()> {
    let DryRunCounts { rehearsed, withheld, would_ask, ran, live_effects, denied, commands: _, calls: _ } =
        loaded.counts;
    // `outside` and `refused` are names of version 0.1, kept for one release.
    let mut object = json!({
        "kind": kind, "session": loaded.id.0, "dry_run": true, "title": loaded.title,
        "folder": loaded.folder.to_string_lossy(), "rehearsed": rehearsed, "ran": ran,
        "live_effects": live_effects, "outside": live_effects, "denied": denied, "refused": denied, "withheld": withheld, "would_have_asked": would_ask,
        "apply": format!("aye rehearsal apply {}", loaded.id),
    });
    extend_object(&mut object, loaded.summary.to_json());
    writeln!(out, "{}", json_line(&object))?;
    Ok(out.flush()?)
}

/// Prints the tree, every change in full, and every call with the first lines of its result.
pub(crate) fn print_text(loaded: &LoadedRehearsal, out: &mut dyn Write) -> Result<()> {
    let width = page_width();
    let theme = Theme::without_colours();
    let summary = &loaded.summary;
    let (is_dry_run, is_full) = (true, false);
    writeln!(out, "{}", mark_dry_run(&clean_line(&loaded.title), is_dry_run))?;
    writeln!(out, "{} · {}", loaded.id, clean_line(&folder_facts::shorten_home(&loaded.folder)))?;
    writeln!(out, "{}", loaded.counts.describe_counts())?;
    if loaded.counts.would_ask > 0 {
        writeln!(out, "would have asked: {}", loaded.counts.would_ask)?;
    }
    if summary.is_empty() {
        writeln!(out, "Nothing to apply.")?;
        return Ok(());
    }
    writeln!(out, "{}", summary.describe_counts())?;
    if !summary.changes.is_empty() {
        writeln!(out)?;
        print_lines(&tree_lines(summary, width.saturating_sub(2), &theme), "  ", out)?;
    }
    for change in &summary.changes {
        writeln!(out)?;
        print_lines(&change_lines(change, width, &theme), "", out)?;
    }
    print_outside(&summary.outside, width, &theme, out)?;
    for step in &summary.calls {
        writeln!(out)?;
        print_lines(&call_lines(step, is_full, width, &theme), "", out)?;
    }
    let lines = summary.describe_prompts();
    let prompts = summary.apply_calls(ApplyOptions::default()).len();
    if !lines.is_empty() {
        let prompts = pluralize(prompts, "prompt");
        writeln!(out, "\nTo apply, {prompts}: aye rehearsal apply {}", loaded.id)?;
        for line in lines {
            writeln!(out, "  {}", clean_line(&line))?;
        }
    }
    Ok(out.flush()?)
}

/// Prints every change outside the project in full, and the number of temporary files.
fn print_outside(outside: &OutsideChanges, width: usize, theme: &Theme, out: &mut dyn Write) -> io::Result<()> {
    for change in &outside.changes {
        writeln!(out)?;
        print_lines(&outside_change_lines(change, width, theme), "", out)?;
    }
    if let Some(text) = outside.describe_temporary() {
        writeln!(out, "\noutside the project\n{}", clean_line(&text))?;
    }
    Ok(())
}

fn print_lines(lines: &[Line<'_>], indent: &str, out: &mut dyn Write) -> io::Result<()> {
    for line in lines {
        writeln!(out, "{indent}{}", line.to_string().trim_end())?;
    }
    Ok(())
}
