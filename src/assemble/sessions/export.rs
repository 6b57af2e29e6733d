//! Writes a session as markdown, HTML or JSON.

use super::{Desk, Mistake, say};
use crate::assemble::document::{self, Document, html, json, markdown};
use crate::cli::sessions::Format;
use crate::store::private;
use anyhow::{Context, Result};
use std::io::{self, ErrorKind, Write};
use std::path::Path;
use std::process::ExitCode;

impl Desk<'_> {
    pub(super) fn export(&self, named: Option<&str>) -> Result<ExitCode> {
        let id = self.find(named)?;
        let file = self.cli.kept.output.as_deref();
        if let Some(file) = file {
            may_write(file, self.cli.kept.force)?;
        }
        let read = self.read(&id)?;
        let format = self.cli.kept.format.unwrap_or_default();
        let (text, masked) = match format {
            Format::Json => json::write(&id, &read),
            Format::Markdown | Format::Html => {
                let document = Document::of(&id, &read);
                let write = if format == Format::Html { html::write } else { markdown::write };
                (write(&document), document.masked)
            }
        };
        match file {
            None => {
                let mut out = io::stdout().lock();
                out.write_all(text.as_bytes())?;
                out.flush()?;
            }
            Some(file) => {
                write(file, &text, self.cli.kept.force)?;
                say(&format!("session {id} is written to {}", file.display()))?;
            }
        }
        if let Some(told) = document::told(masked) {
            say(&told)?;
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// Says what is wrong with a place before anything is done for it.
fn may_write(file: &Path, force: bool) -> Result<()> {
    match std::fs::symlink_metadata(file) {
        Ok(about) if !about.is_file() => {
            Err(Mistake(format!("{} is there and is no plain file", file.display())).into())
        }
        Ok(_) if !force => {
            let words = format!("{} is there already; --force writes over it", file.display());
            Err(Mistake(words).into())
        }
        Ok(_) => Ok(()),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        Err(error) => Err(Mistake(format!("{}: {error}", file.display())).into()),
    }
}

/// The whole file or none, for its owner alone; one that came to be there meanwhile stays.
fn write(file: &Path, text: &str, force: bool) -> Result<()> {
    let file = std::path::absolute(file)?;
    let written = match force {
        true => private::replace(&file, text.as_bytes()),
        false => private::make(&file, |out| out.write_all(text.as_bytes())),
    };
    written.with_context(|| format!("{} could not be written", file.display()))
}
