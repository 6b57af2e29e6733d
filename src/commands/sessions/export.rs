//! `aye sessions export`: writes a session as markdown, HTML or JSON.

use super::SessionStore;
use super::document::{self, Document, html, json, markdown};
use crate::cli::sessions::{ExportFormat, ExportSession};
use crate::commands::export_file;
use crate::commands::output::print_notice;
use anyhow::Result;
use std::io::{self, Write};
use std::process::ExitCode;

impl SessionStore {
    pub(super) fn export_session(&self, options: &ExportSession) -> Result<ExitCode> {
        let id = self.find_session(options.id.as_deref())?;
        let file = options.output.as_deref();
        if let Some(file) = file {
            export_file::check_target(file, options.force, "use --force to overwrite it")?;
        }
        let stored = self.read_session(&id)?;
        let format = options.format;
        let (text, redacted) = match format {
            ExportFormat::Json => json::format_json(&id, &stored),
            ExportFormat::Markdown | ExportFormat::Html => {
                let document = Document::from_session(&id, &stored);
                let formatter =
                    if format == ExportFormat::Html { html::format_html } else { markdown::format_markdown };
                (formatter(&document), document.redacted)
            }
        };
        match file {
            None => {
                let mut out = io::stdout().lock();
                out.write_all(text.as_bytes())?;
                out.flush()?;
            }
            Some(file) => {
                export_file::write_file(file, &text, options.force)?;
                print_notice(&format!("wrote session {id} to {}", file.display()))?;
            }
        }
        if let Some(notice) = document::redaction_notice(redacted) {
            print_notice(&notice)?;
        }
        Ok(ExitCode::SUCCESS)
    }
}
