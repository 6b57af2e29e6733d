//! `aye rehearsal`: shows, applies or discards the changes of a dry run.

mod patch;

use crate::assemble::rehearsal::dry_run_report::{print_json, print_text};
use crate::assemble::rehearsal::{discard, find_dry_run, load_rehearsal, mark_applied};
use crate::assemble::{UsageError, resolve_folder};
use crate::chat::SessionId;
use crate::cli::Cli;
use crate::store::{Places, Removal, Sessions};
use crate::tui::text::clean::clean_text;
use anyhow::Result;
use std::io::{self, BufRead, IsTerminal, Write};
use std::process::ExitCode;

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
