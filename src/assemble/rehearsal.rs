//! `aye rehearsal`: shows, applies or discards the changes of a dry run; also the summary that a headless dry run ends
//! with.

mod patch;

use super::session_builder::SessionBuilder;
use super::{UsageError, resolve_folder, run_facts, sandbox_setup};
use crate::agent::ApplyRequest;
use crate::chat::dry_run_summary::OutsideChanges;
use crate::chat::result_origin::mark_dry_run;
use crate::chat::{ApplyOptions, DryRunCounts, DryRunSummary, Session, SessionId};
use crate::cli::Cli;
use crate::print;
use crate::project::change_summary;
use crate::project::rehearsal::Rehearsal;
use crate::store::{Places, Removal, Sessions};
use crate::text::clean::{clean_line, clean_text};
use crate::tui::host;
use crate::tui::parts::rehearsal_lines::{change_lines, outside_change_lines, step_lines, tree_lines};
use crate::tui::theme::Theme;
use crate::tui::update::rehearsal_list::APPLY_MESSAGE;
use anyhow::Result;
use ratatui::text::Line;
use serde_json::{Value, json};
use std::io::{self, BufRead, IsTerminal, Write};
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

/// Maximum line width, for narrow terminals and pipes.
const MAX_COLUMNS: u16 = 80;

/// A dry run that was read.
struct LoadedRehearsal {
    id: SessionId,
    title: String,
    folder: std::path::PathBuf,
    rehearsal: Rehearsal,
    staging: DryRunSummary,
    tally: DryRunCounts,
    notices: Vec<String>,
}

/// Rejects invalid arguments.
pub(super) fn check_arguments(cli: &Cli, words: &[&str]) -> Result<(), UsageError> {
    let verb = words.first().copied().unwrap_or_default();
    let most = if verb == "diff" { 3 } else { 2 };
    if words.len() > most {
        let takes = if verb == "diff" { "[ID] [PATH]" } else { "[ID]" };
        return Err(UsageError(format!(
            "aye rehearsal {verb} takes {takes}; to send this to the model, quote it: aye \"rehearsal {}\"",
            words.join(" ")
        )));
    }
    if let Some((flag, with)) = cli.sessions.set_options().find(|(flag, _)| *flag != "--yes") {
        return Err(UsageError(format!("{flag} can only be used with: aye sessions {}", with.join(", aye sessions "))));
    }
    for (flag, is, of) in [
        ("--hunks", cli.hunks, "apply"),
        ("--ignored", cli.ignored, "apply"),
        ("--commands", cli.commands, "apply"),
        ("--yes", cli.sessions.yes, "drop"),
    ] {
        if is && verb != of {
            return Err(UsageError(format!("{flag} can only be used with aye rehearsal {of}")));
        }
    }
    if cli.json && !["show", "diff"].contains(&verb) {
        return Err(UsageError("--json can only be used with aye rehearsal show and aye rehearsal diff".to_owned()));
    }
    Ok(())
}

/// Runs the command, except for apply, which needs the screen.
pub(super) fn run(cli: &Cli, words: &[&str]) -> Result<ExitCode> {
    let places = Places::find(std::env::var_os("AYE_HOME"))?;
    let here = if cli.tour { places.tour() } else { resolve_folder(cli.folder.as_deref())? };
    let id = find_dry_run(&Sessions::new(places.sessions()), &here, words.get(1).copied())?;
    let done = match words.first().copied() {
        Some("drop") => discard_after_asking(&places, &id, cli.sessions.yes),
        verb => {
            let mut looked = load_rehearsal(&places, &here, &id)?;
            mark_applied(&Sessions::new(places.sessions()), &mut looked);
            for notice in &looked.notices {
                writeln!(io::stderr(), "aye: {}", clean_text(notice))?;
            }
            let mut out = io::stdout().lock();
            match (verb, cli.json) {
                (Some("diff"), false) => patch::print_patch(&looked.rehearsal, words.get(2).copied(), &mut out),
                (_, true) => print_json(&looked, "rehearsal", &mut out),
                (_, false) => print_text(&looked, &mut out),
            }
        }
    };
    match done {
        // The reader of the pipe has closed it.
        Err(error) if is_broken_pipe(&error) => Ok(ExitCode::SUCCESS),
        done => done.map(|()| ExitCode::SUCCESS),
    }
}

fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error.downcast_ref::<io::Error>().is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
}

/// Returns the named dry run, or the newest of this folder.
pub(super) fn find_dry_run(sessions: &Sessions, here: &Path, named: Option<&str>) -> Result<SessionId> {
    if let Some(name) = named {
        return Ok(sessions.find_id(name).map_err(UsageError::from_error)?);
    }
    let listed = sessions.of_project(here).map_err(UsageError::from_error)?;
    let last = listed.into_iter().find(|listed| listed.dry_run).map(|listed| listed.id);
    Ok(last.ok_or_else(|| UsageError(format!("no dry run in {}. Start one with aye --dry-run", here.display())))?)
}

/// Reads a dry run.
fn load_rehearsal(places: &Places, here: &Path, id: &SessionId) -> Result<LoadedRehearsal> {
    let read = Sessions::new(places.sessions()).read(id).map_err(UsageError::from_error)?;
    let (folder, dry_run) = match &read.header {
        // A header cannot hold every folder name, so this folder's own name is used.
        Some(header) if header.is_of(here) => (here.to_owned(), header.dry_run),
        Some(header) => (header.folder.clone(), header.dry_run),
        None => (here.to_owned(), true),
    };
    if !dry_run {
        return Err(UsageError(format!("session {id} is live: it has no rehearsal")).into());
    }
    if !folder.is_dir() {
        return Err(UsageError(format!(
            "session {id} belongs to {}, which no longer exists, so its changes cannot be compared",
            folder.display()
        ))
        .into());
    }
    let disk = Arc::new(sandbox_setup::open_project(places, &folder)?);
    let rehearsal = Rehearsal::new(disk, places.rehearsal(id));
    let mut staging = DryRunSummary::new(change_summary::list_changes(&rehearsal)?, &read.entries);
    staging.outside = change_summary::list_outside_changes(&rehearsal)?;
    let stands: Vec<String> =
        staging.changes.iter().map(|altered| altered.path.to_string_lossy().into_owned()).collect();
    for step in &mut staging.calls {
        // A change that a later command reverted would not be made twice.
        step.changed_paths.retain(|path| stands.contains(path) || rehearsal.was_applied(Path::new(path)));
    }
    let tally = DryRunCounts::from_entries(&read.entries);
    let notices = read.notices.iter().map(ToString::to_string).collect();
    let session = Session::replay(read.entries);
    let title = session.title().unwrap_or("empty session").to_owned();
    Ok(LoadedRehearsal { id: id.clone(), title, folder, rehearsal, staging, tally, notices })
}

/// Marks the steps that were already run live in copies of the dry run.
fn mark_applied(sessions: &Sessions, looked: &mut LoadedRehearsal) {
    // Steps of an unreadable copy are offered again, with a prompt that shows what is applied.
    for listed in sessions.of_project(&looked.folder).unwrap_or_default() {
        if listed.from.as_ref() == Some(&looked.id)
            && !listed.dry_run
            && let Ok(copy) = sessions.read(&listed.id)
        {
            looked.staging.mark_run_live(&copy.entries);
        }
    }
}

/// Returns the rehearsal of this session, or of the dry run that it is a copy of.
pub(super) fn screen_rehearsal(wiring: &SessionBuilder, id: &SessionId) -> Result<host::Rehearsal, String> {
    let header = |id: &SessionId| wiring.stored_sessions().read(id).ok().and_then(|read| read.header);
    let of = match header(id) {
        None => return Err("nothing was rehearsed yet".to_owned()),
        Some(header) if header.dry_run => id.clone(),
        Some(header) => match header.from.filter(|from| wiring.places.rehearsal(from).is_dir()) {
            Some(from) => from,
            None => {
                return Err("this session is live and has no rehearsal. /fork dry rehearses in a copy".to_owned());
            }
        },
    };
    match load_rehearsal(&wiring.places, &wiring.folder, &of) {
        Ok(mut looked) => {
            mark_applied(&wiring.stored_sessions(), &mut looked);
            Ok(host::Rehearsal { session: of, staging: looked.staging })
        }
        Err(error) => Err(format!("{error:#}")),
    }
}

/// Returns the calls that apply a dry run, for the approval prompts.
pub(super) fn apply_offers(
    wiring: &SessionBuilder,
    here: &Path,
    named: Option<&str>,
    wanted: ApplyOptions,
) -> Result<ApplyRequest> {
    let id = find_dry_run(&wiring.stored_sessions(), here, named)?;
    let mut looked = load_rehearsal(&wiring.places, here, &id)?;
    mark_applied(&wiring.stored_sessions(), &mut looked);
    let calls = looked.staging.apply_calls(wanted);
    if calls.is_empty() {
        return Err(
            UsageError(format!("nothing to apply: session {id} has no changes, or all are already applied")).into()
        );
    }
    Ok(ApplyRequest { message: APPLY_MESSAGE.to_owned(), calls })
}

/// Discards the rehearsal of a session, if there is one. `own` is the session that this process has open.
///
/// # Errors
/// Fails if another process has the session open, or if one of its commands still runs.
pub(super) fn discard(places: &Places, id: &SessionId, own: Option<&SessionId>) -> Result<()> {
    let layer = places.rehearsal(id);
    let _held = match own {
        Some(own) if own == id => None,
        Some(_) | None => Some(Removal::lock_all(places, std::slice::from_ref(id)).map_err(UsageError::from_error)?),
    };
    crate::project::rehearsal::remove_overlay(&layer).map_err(|error| match error.kind() {
        io::ErrorKind::ResourceBusy => UsageError(error.to_string()).into(),
        _ => anyhow::anyhow!("{}: {error}", layer.display()),
    })
}

/// Discards the rehearsal, after asking if it is not empty.
fn discard_after_asking(places: &Places, id: &SessionId, yes: bool) -> Result<()> {
    let read = Sessions::new(places.sessions()).read(id).map_err(UsageError::from_error)?;
    if read.header.is_some_and(|header| !header.dry_run) {
        return Err(UsageError(format!("session {id} is live: it has no rehearsal")).into());
    }
    let layer = places.rehearsal(id);
    let mut out = io::stdout().lock();
    if !layer.exists() {
        writeln!(out, "Session {id} has no rehearsal.")?;
        return Ok(());
    }
    // Reports a locked session before asking.
    std::mem::drop(Removal::lock_all(places, std::slice::from_ref(id)).map_err(UsageError::from_error)?);
    if !yes {
        if !io::stdin().is_terminal() || !io::stdout().is_terminal() {
            return Err(UsageError(format!(
                "Cannot ask before discarding the rehearsal of session {id}: not a terminal. Confirm with --yes"
            ))
            .into());
        }
        write!(out, "To discard the rehearsal of session {id}, type yes: ")?;
        out.flush()?;
        let mut answer = String::new();
        io::stdin().lock().read_line(&mut answer)?;
        if answer.trim() != "yes" {
            writeln!(out, "Nothing was discarded.")?;
            return Ok(());
        }
    }
    discard(places, id, None)?;
    writeln!(out, "Discarded the rehearsal of session {id}. The session is kept.")?;
    Ok(())
}

/// Prints the summary that a headless dry run ends with.
pub(super) fn print_summary(wiring: &SessionBuilder, id: &SessionId, in_json: bool, out: &mut dyn Write) -> Result<()> {
    let looked = load_rehearsal(&wiring.places, &wiring.folder, id)?;
    match in_json {
        true => print_json(&looked, "plan", out),
        false => {
            writeln!(out)?;
            print_text(&looked, out)
        }
    }
}

fn print_json(looked: &LoadedRehearsal, kind: &str, out: &mut dyn Write) -> Result<()> {
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
fn print_text(looked: &LoadedRehearsal, out: &mut dyn Write) -> Result<()> {
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
