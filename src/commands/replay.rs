//! `aye replay`: plays a recording or a session in the terminal. Nothing runs.

use super::demo::recorded_script::{is_script, record_session};
use super::export::read_recording;
use crate::chat::SessionId;
use crate::cli::commands::ReplayRecording;
use crate::cli::{UsageError, bail_usage};
use crate::config::settings::{Overrides, Settings};
use crate::recording::frames::Frames;
use crate::store::{Error, Places, Sessions};
use crate::text::clean::clean_line;
use crate::tui::replay::{Replay, run_replay};
use crate::tui::theme::{ColourDepth, Theme, Themes};
use anyhow::Result;
use std::io::IsTerminal;
use std::process::ExitCode;

/// Runs the command.
pub(super) async fn run(arguments: &ReplayRecording) -> Result<ExitCode> {
    let name = clean_line(&arguments.file.display().to_string()).into_owned();
    if is_script(&arguments.file) {
        bail_usage!("Cannot replay {name}: it is a demo script, which runs tools. Play it with: aye demo play {name}");
    }
    let session = if arguments.file.exists() { None } else { Some(find_session(&name)?) };
    if !std::io::stdin().is_terminal() || !std::io::stdout().is_terminal() {
        bail_usage!(
            "Cannot replay {name}: standard input and output are not a terminal. Run it in a terminal, or write a page with aye \
             export html."
        );
    }
    let recording = match session {
        Some(id) => record_session(&id)?,
        None => read_recording(&arguments.file)?,
    };
    let frames = match Frames::play(&recording) {
        Ok(frames) => frames,
        Err(error) => bail_usage!("Cannot replay {name}: {error}."),
    };
    let title = recording.title.as_deref().unwrap_or(&name);
    let replay = Replay { frames, colours: &recording.theme, theme: choose_theme(), title };
    let signal = run_replay(replay).await?;
    Ok(signal.map_or(ExitCode::SUCCESS, |signal| ExitCode::from(u8::try_from(128 + signal).unwrap_or(1))))
}

/// Returns the session that the argument names.
fn find_session(name: &str) -> Result<SessionId> {
    let sessions = Sessions::new(Places::find(std::env::var_os("AYE_HOME"))?.sessions());
    match sessions.find_id(name) {
        Ok(id) => Ok(id),
        Err(Error::Missing(_)) => {
            bail_usage!(
                "Cannot replay {name}: no file and no session has this name. To list the sessions: aye sessions list --all"
            )
        }
        Err(error) => Err(UsageError::from_error(error).into()),
    }
}

/// Returns the theme of the settings for this terminal. Problems in the settings do not keep a recording from playing.
fn choose_theme() -> Theme {
    let variable = |name: &str| std::env::var(name).ok();
    let places = Places::find(std::env::var_os("AYE_HOME")).ok();
    let settings = places.as_ref().map(|places| Settings::load(&places.settings(), &variable, &Overrides::default()));
    let screen = settings.map(|settings| settings.config.screen).unwrap_or_default();
    let themes = places.map_or_else(Themes::bundled, |places| Themes::with_folder(&places.themes()));
    let depth = if screen.color { ColourDepth::from_environment(&variable) } else { ColourDepth::None };
    themes.adapted_to_terminal(depth, None).choose_configured(&screen, None).0
}
