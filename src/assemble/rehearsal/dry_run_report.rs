//! Prints everything that a dry run did, as text or JSON.

use super::{LoadedRehearsal, load_rehearsal};
use crate::assemble::run_facts;
use crate::assemble::session_builder::SessionBuilder;
use crate::chat::dry_run_summary::OutsideChanges;
use crate::chat::result_origin::mark_dry_run;
use crate::chat::{ApplyOptions, DryRunCounts, SessionId};
use crate::print;
use crate::text::clean::clean_line;
use crate::tui::parts::rehearsal_lines::{change_lines, outside_change_lines, step_lines, tree_lines};
use crate::tui::theme::Theme;
use anyhow::Result;
use ratatui::text::Line;
use serde_json::{Value, json};
use std::io::{self, IsTerminal, Write};

/// Maximum line width, for narrow terminals and pipes.
const MAX_COLUMNS: u16 = 80;

/// Prints the summary that a headless dry run ends with.
pub(crate) fn print_summary(wiring: &SessionBuilder, id: &SessionId, in_json: bool, out: &mut dyn Write) -> Result<()> {
    let looked = load_rehearsal(&wiring.places, &wiring.folder, id)?;
    match in_json {
        true => print_json(&looked, "plan", out),
        false => {
            writeln!(out)?;
            print_text(&looked, out)
        }
    }
}

pub(crate) fn print_json(looked: &LoadedRehearsal, kind: &str, out: &mut dyn Write) -> Result<()> {
    let DryRunCounts { rehearsed, withheld, would_ask, ran, live_effects: outside, denied: refused, calls: _ } =
        looked.tally;
    let mut object = json!({
        "kind": kind, "session": looked.id.0, "dry_run": true, "title": looked.title,
        "folder": looked.folder.to_string_lossy(), "rehearsed": rehearsed, "ran": ran,
        "live_effects": outside, "outside": outside, "denied": refused, "refused": refused, "withheld": withheld, "would_have_asked": would_ask,
        "apply": format!("aye rehearsal apply {}", looked.id),
    });
    if let (Some(object), Value::Object(rest)) = (object.as_object_mut(), looked.staging.to_json()) {
        object.extend(rest);
    }
    writeln!(out, "{}", print::escape_json(&object.to_string()))?;
    out.flush()?;
    Ok(())
}

/// Prints the tree, every change in full, and every call with the first lines of its result.
pub(crate) fn print_text(looked: &LoadedRehearsal, out: &mut dyn Write) -> Result<()> {
    let columns = crossterm::terminal::size().map_or(MAX_COLUMNS, |(columns, _)| columns);
    let terminal = io::stdout().is_terminal();
    let width = usize::from(if terminal { columns.clamp(20, MAX_COLUMNS) } else { MAX_COLUMNS });
    let theme = Theme::without_colours();
    let staging = &looked.staging;
    writeln!(out, "{}", mark_dry_run(&clean_line(&looked.title), true))?;
    writeln!(out, "{} · {}", looked.id, clean_line(&run_facts::shorten_home(&looked.folder)))?;
    writeln!(out, "{}", looked.tally.describe_counts())?;
    if looked.tally.would_ask > 0 {
        writeln!(out, "would have asked: {}", looked.tally.would_ask)?;
    }
    if staging.is_empty() {
        writeln!(out, "Nothing to apply.")?;
        return Ok(());
    }
    writeln!(out, "{}", staging.describe_counts())?;
    if !staging.changes.is_empty() {
        writeln!(out)?;
        print_lines(&tree_lines(staging, width.saturating_sub(2), &theme), "  ", out)?;
    }
    for altered in &staging.changes {
        writeln!(out)?;
        print_lines(&change_lines(altered, width, &theme), "", out)?;
    }
    print_outside(&staging.outside, width, &theme, out)?;
    for played in &staging.calls {
        writeln!(out)?;
        print_lines(&step_lines(played, false, width, &theme), "", out)?;
    }
    let lines = staging.describe_prompts();
    let prompts = staging.apply_calls(ApplyOptions::default()).len();
    if !lines.is_empty() {
        let prompts = if prompts == 1 { "1 prompt".to_owned() } else { format!("{prompts} prompts") };
        writeln!(out, "\nTo apply, {prompts}: aye rehearsal apply {}", looked.id)?;
        for line in lines {
            writeln!(out, "  {}", clean_line(&line))?;
        }
    }
    out.flush()?;
    Ok(())
}

/// Prints every change outside the project in full, and the number of temporary files.
fn print_outside(outside: &OutsideChanges, width: usize, theme: &Theme, out: &mut dyn Write) -> io::Result<()> {
    for one in &outside.changes {
        writeln!(out)?;
        print_lines(&outside_change_lines(one, width, theme), "", out)?;
    }
    if let Some(words) = outside.describe_temporary() {
        writeln!(out, "\noutside the project\n{}", clean_line(&words))?;
    }
    Ok(())
}

fn print_lines(lines: &[Line<'_>], indent: &str, out: &mut dyn Write) -> io::Result<()> {
    for line in lines {
        let text: String = line.spans.iter().map(|span| span.content.as_ref()).collect();
        writeln!(out, "{indent}{}", text.trim_end())?;
    }
    Ok(())
}
