//! Recordings of demo scripts and sessions that are made to be drawn or replayed at once.

use super::new_script::write_session;
use super::{is_tour, isolation, name_of, read_script};
use crate::chat::SessionId;
use crate::cli::bail_usage;
use crate::commands::export::read_recording;
use crate::recording::cast_reader::Recording;
use anyhow::{Context, Result};
use std::path::Path;

/// Returns whether a path names a demo script.
pub(in crate::commands) fn is_script(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending == "toml" || ending == "md") || is_tour(path)
}

/// Plays a script without a screen, and returns its recording.
///
/// # Errors
/// A `UsageError` if it does not fit what happens. What did not fit is printed.
pub(in crate::commands) fn record_script(script: &Path) -> Result<Recording> {
    // A script that cannot be read is reported here, once.
    read_script(script)?;
    let folder = tempfile::tempdir().context("Cannot create a temporary folder")?;
    let file = folder.path().join("demo.cast");
    if !isolation::record(script, &file)?.success() {
        bail_usage!("Cannot record {}: the script does not fit what happened.", name_of(script));
    }
    read_recording(&file)
}

/// Returns a recording of a stored session, as it happened: no model and no tool takes part.
///
/// # Errors
/// A `UsageError` if the session cannot be played.
pub(in crate::commands) fn record_session(id: &SessionId) -> Result<Recording> {
    let folder = tempfile::tempdir().context("Cannot create a temporary folder")?;
    let script = folder.path().join(format!("session-{id}.toml"));
    write_session(&script, id)?;
    let recording = record_script(&script);
    isolation::remove(&script)?;
    recording
}
