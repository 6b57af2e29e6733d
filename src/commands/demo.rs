//! `aye demo`: plays, checks and writes demo scripts.

mod isolation;
mod new_script;
pub(super) mod recorded_script;

use super::export_file::{check_target, write_file};
use crate::assemble::scripted_screen::{ScriptRun, build_scripted_screen};
use crate::cli::demo::{CheckDemos, DemoCommand, PlayDemo};
use crate::cli::{UsageError, bail_usage, resolve_folder};
use crate::demo::{Script, parse_markdown, parse_script};
use crate::text::clean::{clean_line, clean_text};
use crate::tui::Recorded;
use crate::tui::demo_player::{Mismatch, PlayEnd, PlayError, Played, ViewerOptions, play_script};
use anyhow::{Context, Result};
use isolation::Isolation;
use std::io::{IsTerminal, Read, Write};
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

/// Maximum bytes of a script.
const MAX_BYTES: u64 = 4 << 20;
/// Columns and rows if neither the script nor a terminal has any.
const STANDARD_SIZE: (u16, u16) = (100, 30);
/// Name of the built-in script.
const TOUR: &str = "tour";

/// Runs the command.
pub(super) async fn run(command: DemoCommand) -> Result<ExitCode> {
    match command {
        DemoCommand::Play(play) => run_play(play).await,
        DemoCommand::Check(check) => run_check(check).await,
        DemoCommand::New(new) => new_script::run(&new),
    }
}

async fn run_play(play: PlayDemo) -> Result<ExitCode> {
    let script = Arc::new(read_script(&play.script)?);
    let is_terminal = std::io::stdin().is_terminal() && std::io::stdout().is_terminal();
    if !is_terminal && play.record.is_none() {
        bail_usage!(
            "Cannot show the demo: standard input and output are not a terminal. Record it with --record FILE, or check it \
             with aye demo check."
        );
    }
    if let Some(file) = &play.record {
        check_target(file, play.force, "Name another file, or overwrite it with --force.")?;
        if file.canonicalize().is_ok_and(|file| play.script.canonicalize().is_ok_and(|script| script == file)) {
            bail_usage!("Cannot record to {}: it is the script. Name another file.", name_of(file));
        }
    }
    let Some(isolation) = Isolation::enter(&play.script)? else { return isolation::restart(&play.script) };
    let viewer = (is_terminal && !play.hidden).then_some(ViewerOptions {
        speed: play.speed,
        is_stepped: play.step,
        is_panic_caught: crate::tools::panic_guard::is_panic_caught,
    });
    let terminal_size = || viewer.and_then(|_| crossterm::terminal::size().ok()).filter(|(width, _)| *width > 0);
    let size = play.size.or(script.size).or_else(terminal_size).unwrap_or(STANDARD_SIZE);
    // An existing recording is replaced only after the new one is complete.
    let folder_of_new = play.force.then(tempfile::tempdir).transpose().context("Cannot create a temporary folder")?;
    let record_to = play.record.as_ref().map(|file| match &folder_of_new {
        Some(folder) => folder.path().join("new.cast"),
        None => file.clone(),
    });
    loop {
        isolation.clear()?;
        let folder = match &play.folder {
            Some(folder) => resolve_folder(Some(folder))?,
            None => isolation.create_project(&script)?,
        };
        let run = ScriptRun {
            script: script.clone(),
            folder,
            size,
            viewer,
            record_to: record_to.clone(),
            record_version: play.record_version,
            shows_keys: play.show_keys,
        };
        match play_script(build_scripted_screen(run)?).await {
            Ok(played) if played.end != PlayEnd::Over || !play.repeat => {
                if let (Some(made), Some(file)) = (record_to.as_ref().filter(|_| play.force), &play.record) {
                    let content = std::fs::read(made).with_context(|| format!("Cannot read {}", made.display()))?;
                    write_file(file, content, play.force)?;
                }
                return Ok(report_played(&play.script, &played, play.record.as_deref()));
            }
            Ok(_) => {}
            Err(error) => {
                if let Some(made) = &record_to {
                    // The recording is incomplete.
                    let _ = std::fs::remove_file(made);
                }
                return report_error(&play.script, error);
            }
        }
    }
}

async fn run_check(check: CheckDemos) -> Result<ExitCode> {
    let [file] = &check.scripts[..] else { return isolation::check_each(&check.scripts) };
    let script = Arc::new(read_script(file)?);
    let Some(isolation) = Isolation::enter(file)? else { return isolation::restart(file) };
    isolation.clear()?;
    let run = ScriptRun {
        folder: isolation.create_project(&script)?,
        size: script.size.unwrap_or(STANDARD_SIZE),
        script: script.clone(),
        viewer: None,
        record_to: None,
        record_version: Default::default(),
        shows_keys: false,
    };
    match play_script(build_scripted_screen(run)?).await {
        Ok(played) => {
            let seconds = played.duration.as_secs_f64();
            let _ = writeln!(std::io::stdout(), "{}: ok, {seconds:.1} s", name_of(file));
            Ok(ExitCode::SUCCESS)
        }
        Err(error) => report_error(file, error),
    }
}

fn report_played(script: &Path, played: &Played, file: Option<&Path>) -> ExitCode {
    if let (Some(Recorded { failure, .. }), Some(file)) = (&played.recorded, file) {
        let (name, seconds) = (name_of(file), played.duration.as_secs_f64());
        let _ = match failure {
            None => writeln!(std::io::stdout(), "Recorded: {name}, {seconds:.1} s"),
            Some(failure) => writeln!(std::io::stderr(), "aye: the end of the recording {name} is missing: {failure}"),
        };
        if failure.is_some() {
            return ExitCode::FAILURE;
        }
    }
    if file.is_none() && played.end == PlayEnd::Over {
        let _ = writeln!(std::io::stdout(), "Played: {}, {:.1} s", name_of(script), played.duration.as_secs_f64());
    }
    match played.end {
        PlayEnd::Over | PlayEnd::Left(None) => ExitCode::SUCCESS,
        PlayEnd::Left(Some(signal)) => ExitCode::from(u8::try_from(128 + signal).unwrap_or(1)),
    }
}

/// Prints what did not fit, with the line of the script and what was on the screen.
fn report_error(file: &Path, error: PlayError) -> Result<ExitCode> {
    let Mismatch { line, message, screen } = match error {
        PlayError::Mismatch(mismatch) => mismatch,
        PlayError::Left(_) => return Ok(ExitCode::SUCCESS),
        PlayError::Io(error) => bail_usage!("Cannot play {}: {error}.", name_of(file)),
    };
    let mut report = format!("aye: {}:{line}: {}.\n", name_of(file), clean_text(&message));
    if !screen.trim().is_empty() {
        report.push_str("The screen showed:\n");
        for row in screen.trim_end().lines() {
            report.push_str(&format!("  | {}\n", clean_line(row)));
        }
    }
    let _ = std::io::stderr().write_all(report.as_bytes());
    Ok(ExitCode::FAILURE)
}

/// Returns whether a path is the name of the built-in script.
fn is_tour(path: &Path) -> bool {
    path == Path::new(TOUR) && !path.exists()
}

/// Reads a script; `tour` is the built-in one unless there is a file of that name.
fn read_script(path: &Path) -> Result<Script> {
    if is_tour(path) {
        return Ok(crate::demo::tour());
    }
    let name = name_of(path);
    if path.metadata().is_ok_and(|metadata| !metadata.is_file()) {
        bail_usage!("Cannot read {name}: it is not a file. A script is read twice, so it cannot come from a pipe.");
    }
    let mut text = String::new();
    let read = std::fs::File::open(path).and_then(|file| file.take(MAX_BYTES + 1).read_to_string(&mut text));
    if let Err(error) = read {
        bail_usage!("Cannot read {name}: {error}. Name a demo script, or write one with aye demo new FILE.");
    }
    if text.len() as u64 > MAX_BYTES {
        bail_usage!("Cannot read {name}: a script has at most 4 MB.");
    }
    let id = script_name(path);
    let is_markdown = path.extension().is_some_and(|ending| ending == "md");
    let parsed = if is_markdown { parse_markdown(&id, &text) } else { parse_script(&id, &text) };
    match parsed {
        Ok(script) if script.steps.is_empty() => bail_usage!("Cannot use {name}: the script has no steps."),
        Ok(script) => Ok(script),
        Err(error) => Err(UsageError(format!("{name}:{}: {}.", error.line, clean_line(&error.message))).into()),
    }
}

/// Returns the name of a script, from that of its file.
fn script_name(path: &Path) -> String {
    let stem = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    let name: String = stem.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).take(40).collect();
    if name.is_empty() { "demo".to_owned() } else { name }
}

fn name_of(path: &Path) -> String {
    clean_line(&path.display().to_string()).into_owned()
}
