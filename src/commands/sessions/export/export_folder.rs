//! Writes an export as a folder: the document and the files of the workspace, all of them or nothing.

use crate::commands::export_file::describe_write_error;
use crate::commands::sessions::document::included_files::IncludedFiles;
use crate::store::private_files::temporary_folder::TemporaryFolder;
use crate::workspace::Workspace;
use anyhow::{Result, anyhow};
use std::io::{self, ErrorKind};
use std::path::Path;
use tokio::signal::unix::{SignalKind, signal};
use tokio::task::JoinHandle;

/// Writes the folder with a document of this name. It has another name until it is complete, and is removed after an
/// error or a signal that ends the program.
///
/// # Errors
/// If a content is damaged, something cannot be read or written, or a signal arrives.
pub(super) fn write_folder(
    folder: &Path,
    name: &str,
    text: &str,
    files: &IncludedFiles,
    workspace: &Workspace,
) -> Result<()> {
    let refuse = |reason: &str, advice: &str| {
        anyhow!("Cannot write the folder {}: {reason}. Nothing was written. {advice}", folder.display())
    };
    let explain = |error: io::Error| refuse(&describe_write_error(&error), "Name another folder, or correct this.");
    let interrupts = Interrupts::catch().map_err(explain)?;
    let folder = std::path::absolute(folder).map_err(explain)?;
    let parent = folder.parent().ok_or_else(|| explain(ErrorKind::AlreadyExists.into()))?;
    let temporary = TemporaryFolder::create_in(parent).map_err(explain)?;
    temporary.write_file(name, text.as_bytes()).map_err(explain)?;
    for file in files.iter() {
        if interrupts.has_arrived() {
            return Err(refuse("the export was stopped by a signal", "Start it again."));
        }
        let bytes = workspace.read(&file.stored)?;
        temporary.write_file(&file.location, &bytes).map_err(explain)?;
    }
    temporary.persist(&folder).map_err(explain)
}

/// Signals that ask the program to end. Once they are caught, only the check of this type does so.
struct Interrupts([JoinHandle<Option<()>>; 3]);

impl Interrupts {
    fn catch() -> io::Result<Self> {
        let wait = |kind| {
            let mut arrivals = signal(kind)?;
            io::Result::Ok(tokio::spawn(async move { arrivals.recv().await }))
        };
        Ok(Self([wait(SignalKind::interrupt())?, wait(SignalKind::terminate())?, wait(SignalKind::hangup())?]))
    }

    fn has_arrived(&self) -> bool {
        self.0.iter().any(JoinHandle::is_finished)
    }
}
