//! The screen of a demo script.

use super::screen::{BuiltScreen, TerminalLook, build_screen};
use super::start::prepare_scripted_start;
use crate::cli::{ChatOptions, bail_usage};
use crate::demo::Script;
use crate::recording::cast::CastVersion;
use crate::store::clock;
use crate::tui::demo_player::{PlayStart, ViewerOptions};
use crate::tui::parts::pictures::Protocol;
use crate::tui::theme::depth::ColourDepth;
use crate::tui::{RecordingOptions, Settings};
use anyhow::Result;
use std::path::PathBuf;
use std::sync::Arc;

/// How a script is played.
pub(crate) struct ScriptRun {
    pub(crate) script: Arc<Script>,
    /// Folder of the project.
    pub(crate) folder: PathBuf,
    /// Columns and rows of the screen.
    pub(crate) size: (u16, u16),
    pub(crate) viewer: Option<ViewerOptions>,
    pub(crate) record_to: Option<PathBuf>,
    pub(crate) record_version: CastVersion,
    /// Shows the keys that are pressed, also if the script does not.
    pub(crate) shows_keys: bool,
}

/// Builds the screen on which a script is played. It does not depend on the terminal, so that every play shows the same.
///
/// # Errors
/// If the project or the session cannot be opened.
pub(crate) fn build_scripted_screen(run: ScriptRun) -> Result<PlayStart> {
    let ScriptRun { script, folder, size, viewer, record_to, record_version, shows_keys } = run;
    let options = ChatOptions {
        folder: Some(folder),
        mode: Some(script.mode.as_str().to_owned()),
        theme: script.theme.clone(),
        dry_run: script.is_dry_run,
        record_version: Some(record_version),
        show_keys: shows_keys || script.shows_keys,
        ..ChatOptions::default()
    };
    clock::start_demo();
    let start = prepare_scripted_start(options, script.clone())?;
    let session = start.open_session()?;
    let look = TerminalLook {
        depth: ColourDepth::True,
        is_light: Some(false),
        pictures: cfg!(feature = "images").then_some(Protocol::Blocks),
    };
    let BuiltScreen { mut state, link, host, replies, recording_options, journal: _ } =
        build_screen(start, session, None, &look);
    if let Some(theme) = script.theme.as_deref().filter(|theme| *theme != "auto" && !state.themes.has(theme)) {
        let names = state.themes.names().join(", ");
        bail_usage!("Cannot use the theme {theme:?} of the script: it does not exist. Use one of auto, {names}.");
    }
    state.settings = Settings {
        has_mouse: false,
        is_ascii: false,
        has_links: false,
        terminal_reorders: false,
        is_remote: false,
        has_bell: false,
        reads_terminal_clipboard: false,
        host_name: String::new(),
        ..state.settings
    };
    // The time of a recording is no part of a demo.
    let recording_options = RecordingOptions { title: script.title.clone(), timestamp: Some(0), ..recording_options };
    Ok(PlayStart {
        state,
        link,
        host: Box::new(host),
        replies,
        script,
        size,
        viewer,
        record_to,
        recording_options,
        set_time: clock::set_demo_time,
    })
}
