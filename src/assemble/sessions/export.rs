//! `aye sessions export`: writes a session as markdown, HTML or JSON.

use super::{Desk, say};
use crate::assemble::document::{self, Document, html, json, markdown};
use crate::assemble::handed;
use crate::cli::sessions::Format;
use anyhow::Result;
use std::io::{self, Write};
use std::process::ExitCode;

impl Desk<'_> {
    pub(super) fn export(&self, named: Option<&str>) -> Result<ExitCode> {
        let id = self.find(named)?;
        let file = self.cli.kept.output.as_deref();
        if let Some(file) = file {
            handed::may_write(file, self.cli.kept.force, "use --force to overwrite it")?;
        }
        let read = self.read(&id)?;
        let format = self.cli.kept.format.unwrap_or_default();
        let (text, redacted) = match format {
            Format::Json => json::write(&id, &read),
            Format::Markdown | Format::Html => {
                let document = Document::of(&id, &read);
                let write = if format == Format::Html { html::write } else { markdown::write };
                (write(&document), document.redacted)
            }
        };
        match file {
            None => {
                let mut out = io::stdout().lock();
                out.write_all(text.as_bytes())?;
                out.flush()?;
            }
            Some(file) => {
                handed::write(file, &text, self.cli.kept.force)?;
                say(&format!("wrote session {id} to {}", file.display()))?;
            }
        }
        if let Some(told) = document::told(redacted) {
            say(&told)?;
        }
        Ok(ExitCode::SUCCESS)
    }
}
