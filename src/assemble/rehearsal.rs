//! `aye rehearsal`: shows, applies or discards the changes of a dry run; also the summary that a headless dry run ends
//! with.

mod patch;

use super::wiring::Wiring;
use super::{Mistake, facts, folder, walls};
use crate::agent::Offered;
use crate::chat::altered::Outside;
use crate::chat::staged::titled;
use crate::chat::{Session, SessionId, Staging, Tally, Wanted};
use crate::cli::Cli;
use crate::print;
use crate::project::altered;
use crate::project::rehearsal::Rehearsal;
use crate::store::{Places, Removal, Sessions};
use crate::tui::host::Rehearsed;
use crate::tui::parts::rehearsal::{branches, change, outside_change, step};
use crate::tui::text::clean::{clean, one_line};
use crate::tui::theme::Theme;
use crate::tui::update::rehearsal::APPLY;
use anyhow::Result;
use ratatui::text::Line;
use serde_json::{Value, json};
use std::io::{self, BufRead, IsTerminal, Write};
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

/// Maximum line width, for narrow terminals and pipes.
const WIDEST: u16 = 80;

/// A dry run that was read.
struct Looked {
    id: SessionId,
    title: String,
    folder: std::path::PathBuf,
    rehearsal: Rehearsal,
    staging: Staging,
    tally: Tally,
    notices: Vec<String>,
}

/// Rejects invalid arguments.
pub(super) fn allowed(cli: &Cli, words: &[&str]) -> Result<(), Mistake> {
    let verb = words.first().copied().unwrap_or_default();
    let most = if verb == "diff" { 3 } else { 2 };
    if words.len() > most {
        let takes = if verb == "diff" { "[ID] [PATH]" } else { "[ID]" };
        return Err(Mistake(format!(
            "aye rehearsal {verb} takes {takes}; to send this to the model, quote it: aye \"rehearsal {}\"",
            words.join(" ")
        )));
    }
    if let Some((flag, with)) = cli.kept.set().find(|(flag, _)| *flag != "--yes") {
        return Err(Mistake(format!(
            "{flag} can only be used with: aye sessions {}",
            with.join(", aye sessions ")
        )));
    }
    for (flag, is, of) in [
        ("--hunks", cli.hunks, "apply"),
        ("--ignored", cli.ignored, "apply"),
        ("--commands", cli.commands, "apply"),
        ("--yes", cli.kept.yes, "drop"),
    ] {
        if is && verb != of {
            return Err(Mistake(format!("{flag} can only be used with aye rehearsal {of}")));
        }
    }
    if cli.json && !["show", "diff"].contains(&verb) {
        return Err(Mistake(
            "--json can only be used with aye rehearsal show and aye rehearsal diff".to_owned(),
        ));
    }
    Ok(())
}

/// Runs the command, except for apply, which needs the screen.
pub(super) fn run(cli: &Cli, words: &[&str]) -> Result<ExitCode> {
    let places = Places::find(std::env::var_os("AYE_HOME"))?;
    let here = if cli.tour { places.tour() } else { folder(cli.folder.as_deref())? };
    let id = find(&Sessions::new(places.sessions()), &here, words.get(1).copied())?;
    let done = match words.first().copied() {
        Some("drop") => drop(&places, &id, cli.kept.yes),
        verb => {
            let mut looked = look(&places, &here, &id)?;
            done_since(&Sessions::new(places.sessions()), &mut looked);
            for notice in &looked.notices {
                writeln!(io::stderr(), "aye: {}", clean(notice))?;
            }
            let mut out = io::stdout().lock();
            match (verb, cli.json) {
                (Some("diff"), false) => patch::write(&looked.rehearsal, words.get(2).copied(), &mut out),
                (_, true) => tell_json(&looked, "rehearsal", &mut out),
                (_, false) => tell(&looked, &mut out),
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
pub(super) fn find(sessions: &Sessions, here: &Path, named: Option<&str>) -> Result<SessionId> {
    if let Some(name) = named {
        return Ok(sessions.find(name).map_err(Mistake::of)?);
    }
    let listed = sessions.of(here).map_err(Mistake::of)?;
    let last = listed.into_iter().find(|listed| listed.dry_run).map(|listed| listed.id);
    Ok(last
        .ok_or_else(|| Mistake(format!("no dry run in {}. Start one with aye --dry-run", here.display())))?)
}

/// Reads a dry run.
fn look(places: &Places, here: &Path, id: &SessionId) -> Result<Looked> {
    let read = Sessions::new(places.sessions()).read(id).map_err(Mistake::of)?;
    let (folder, dry_run) = match &read.header {
        // A header cannot hold every folder name, so this folder's own name is used.
        Some(header) if header.is_of(here) => (here.to_owned(), header.dry_run),
        Some(header) => (header.folder.clone(), header.dry_run),
        None => (here.to_owned(), true),
    };
    if !dry_run {
        return Err(Mistake(format!("session {id} is live: it has no rehearsal")).into());
    }
    if !folder.is_dir() {
        return Err(Mistake(format!(
            "session {id} belongs to {}, which no longer exists, so its changes cannot be compared",
            folder.display()
        ))
        .into());
    }
    let disk = Arc::new(walls::disk(places, &folder)?);
    let rehearsal = Rehearsal::new(disk, places.rehearsal(id));
    let mut staging = Staging::new(altered::all(&rehearsal)?, &read.entries);
    staging.outside = altered::outside(&rehearsal)?;
    let stands: Vec<String> =
        staging.altered.iter().map(|altered| altered.path.to_string_lossy().into_owned()).collect();
    for step in &mut staging.steps {
        // A change that a later command reverted would not be made twice.
        step.changed.retain(|path| stands.contains(path) || rehearsal.was_applied(Path::new(path)));
    }
    let tally = Tally::of(&read.entries);
    let notices = read.notices.iter().map(ToString::to_string).collect();
    let session = Session::replay(read.entries);
    let title = session.title().unwrap_or("empty session").to_owned();
    Ok(Looked { id: id.clone(), title, folder, rehearsal, staging, tally, notices })
}

/// Marks the steps that were already run live in copies of the dry run.
fn done_since(sessions: &Sessions, looked: &mut Looked) {
    // Steps of an unreadable copy are offered again, with a prompt that shows what is applied.
    for listed in sessions.of(&looked.folder).unwrap_or_default() {
        if listed.from.as_ref() == Some(&looked.id)
            && !listed.dry_run
            && let Ok(copy) = sessions.read(&listed.id)
        {
            looked.staging.done_in(&copy.entries);
        }
    }
}

/// Returns the rehearsal of this session, or of the dry run that it is a copy of.
pub(super) fn of_screen(wiring: &Wiring, id: &SessionId) -> Result<Rehearsed, String> {
    let header = |id: &SessionId| wiring.sessions().read(id).ok().and_then(|read| read.header);
    let of = match header(id) {
        None => return Err("nothing was rehearsed yet".to_owned()),
        Some(header) if header.dry_run => id.clone(),
        Some(header) => match header.from.filter(|from| wiring.places.rehearsal(from).is_dir()) {
            Some(from) => from,
            None => {
                return Err(
                    "this session is live and has no rehearsal. /fork dry rehearses in a copy".to_owned()
                );
            }
        },
    };
    match look(&wiring.places, &wiring.folder, &of) {
        Ok(mut looked) => {
            done_since(&wiring.sessions(), &mut looked);
            Ok(Rehearsed { of, staging: looked.staging })
        }
        Err(error) => Err(format!("{error:#}")),
    }
}

/// Returns the calls that apply a dry run, for the approval prompts.
pub(super) fn offers(wiring: &Wiring, here: &Path, named: Option<&str>, wanted: Wanted) -> Result<Offered> {
    let id = find(&wiring.sessions(), here, named)?;
    let mut looked = look(&wiring.places, here, &id)?;
    done_since(&wiring.sessions(), &mut looked);
    let calls = looked.staging.offers(wanted);
    if calls.is_empty() {
        return Err(Mistake(format!(
            "nothing to apply: session {id} has no changes, or all are already applied"
        ))
        .into());
    }
    Ok(Offered { said: APPLY.to_owned(), calls })
}

/// Discards the rehearsal of a session, if there is one. `own` is the session that this process has open.
///
/// # Errors
/// Fails if another process has the session open, or if one of its commands still runs.
pub(super) fn throw_away(places: &Places, id: &SessionId, own: Option<&SessionId>) -> Result<()> {
    let layer = places.rehearsal(id);
    let _held = match own {
        Some(own) if own == id => None,
        Some(_) | None => Some(Removal::hold(places, std::slice::from_ref(id)).map_err(Mistake::of)?),
    };
    crate::project::rehearsal::clear(&layer).map_err(|error| match error.kind() {
        io::ErrorKind::ResourceBusy => Mistake(error.to_string()).into(),
        _ => anyhow::anyhow!("{}: {error}", layer.display()),
    })
}

/// Discards the rehearsal, after asking if it is not empty.
fn drop(places: &Places, id: &SessionId, yes: bool) -> Result<()> {
    let read = Sessions::new(places.sessions()).read(id).map_err(Mistake::of)?;
    if read.header.is_some_and(|header| !header.dry_run) {
        return Err(Mistake(format!("session {id} is live: it has no rehearsal")).into());
    }
    let layer = places.rehearsal(id);
    let mut out = io::stdout().lock();
    if !layer.exists() {
        writeln!(out, "Session {id} has no rehearsal.")?;
        return Ok(());
    }
    // Reports a locked session before asking.
    std::mem::drop(Removal::hold(places, std::slice::from_ref(id)).map_err(Mistake::of)?);
    if !yes {
        if !io::stdin().is_terminal() || !io::stdout().is_terminal() {
            return Err(Mistake(format!(
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
    throw_away(places, id, None)?;
    writeln!(out, "Discarded the rehearsal of session {id}. The session is kept.")?;
    Ok(())
}

/// Prints the summary that a headless dry run ends with.
pub(super) fn plan(wiring: &Wiring, id: &SessionId, in_json: bool, out: &mut dyn Write) -> Result<()> {
    let looked = look(&wiring.places, &wiring.folder, id)?;
    match in_json {
        true => tell_json(&looked, "plan", out),
        false => {
            writeln!(out)?;
            tell(&looked, out)
        }
    }
}

fn tell_json(looked: &Looked, kind: &str, out: &mut dyn Write) -> Result<()> {
    let Tally { rehearsed, withheld, would_ask, ran, outside, refused, calls: _ } = looked.tally;
    let mut object = json!({
        "kind": kind, "session": looked.id.0, "dry_run": true, "title": looked.title,
        "folder": looked.folder.to_string_lossy(), "rehearsed": rehearsed, "ran": ran, "outside": outside,
        "refused": refused, "withheld": withheld, "would_have_asked": would_ask,
        "apply": format!("aye rehearsal apply {}", looked.id),
    });
    if let (Some(object), Value::Object(rest)) = (object.as_object_mut(), looked.staging.json()) {
        object.extend(rest);
    }
    writeln!(out, "{}", print::harmless(&object.to_string()))?;
    out.flush()?;
    Ok(())
}

/// Prints the tree, every change in full, and every call with the first lines of its result.
fn tell(looked: &Looked, out: &mut dyn Write) -> Result<()> {
    let columns = crossterm::terminal::size().map_or(WIDEST, |(columns, _)| columns);
    let terminal = io::stdout().is_terminal();
    let width = usize::from(if terminal { columns.clamp(20, WIDEST) } else { WIDEST });
    let theme = Theme::plain();
    let staging = &looked.staging;
    writeln!(out, "{}", titled(&one_line(&looked.title), true))?;
    writeln!(out, "{} · {}", looked.id, one_line(&facts::in_short(&looked.folder)))?;
    writeln!(out, "{}", looked.tally.words())?;
    if looked.tally.would_ask > 0 {
        writeln!(out, "would have asked: {}", looked.tally.would_ask)?;
    }
    if staging.is_empty() {
        writeln!(out, "Nothing to apply.")?;
        return Ok(());
    }
    writeln!(out, "{}", staging.words())?;
    if !staging.altered.is_empty() {
        writeln!(out)?;
        put(&branches(staging, width.saturating_sub(2), &theme), "  ", out)?;
    }
    for altered in &staging.altered {
        writeln!(out)?;
        put(&change(altered, width, &theme), "", out)?;
    }
    tell_outside(&staging.outside, width, &theme, out)?;
    for played in &staging.steps {
        writeln!(out)?;
        put(&step(played, false, width, &theme), "", out)?;
    }
    let lines = staging.plan_lines();
    let prompts = staging.offers(Wanted::default()).len();
    if !lines.is_empty() {
        let prompts = if prompts == 1 { "1 prompt".to_owned() } else { format!("{prompts} prompts") };
        writeln!(out, "\nTo apply, {prompts}: aye rehearsal apply {}", looked.id)?;
        for line in lines {
            writeln!(out, "  {}", one_line(&line))?;
        }
    }
    out.flush()?;
    Ok(())
}

/// Prints every change outside the project in full, and the number of temporary files.
fn tell_outside(outside: &Outside, width: usize, theme: &Theme, out: &mut dyn Write) -> io::Result<()> {
    for one in &outside.changes {
        writeln!(out)?;
        put(&outside_change(one, width, theme), "", out)?;
    }
    if let Some(words) = outside.temporary_words() {
        writeln!(out, "\noutside the project\n{}", one_line(&words))?;
    }
    Ok(())
}

fn put(lines: &[Line<'_>], indent: &str, out: &mut dyn Write) -> io::Result<()> {
    for line in lines {
        let text: String = line.spans.iter().map(|span| span.content.as_ref()).collect();
        writeln!(out, "{indent}{}", text.trim_end())?;
    }
    Ok(())
}
