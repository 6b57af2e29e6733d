//! `aye sessions export`: writes a session as markdown, HTML or JSON, on request with the files of its workspace.

mod export_folder;

use super::SessionStore;
use super::document::included_files::IncludedFiles;
use super::document::{Document, html, json, markdown};
use crate::chat::{SessionId, pluralize};
use crate::cli::bail_usage;
use crate::cli::sessions::{ExportFormat, ExportSession};
use crate::commands::export_file;
use crate::commands::files::store_changed_copies;
use crate::commands::output::{print_notice, redaction_notice};
use crate::store::StoredSession;
use crate::text::byte_size::format_bytes;
use crate::workspace::{Limits, Workspace};
use anyhow::Result;
use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;

/// Maximum bytes of all files in a page. Base64 makes them a third longer, and text and pictures are in it twice; browsers get slow with
/// larger pages, and some do not save larger links.
const MAX_EMBEDDED_BYTES: u64 = 20_000_000;

/// Where an export is written.
enum Target<'a> {
    StandardOutput,
    File(&'a Path),
    /// A new folder with the document and the files.
    Folder(&'a Path),
}

impl SessionStore {
    pub(super) fn export_session(&self, options: &ExportSession) -> Result<ExitCode> {
        let id = self.find_session(options.id.as_deref())?;
        let target = check_target(options)?;
        let stored = self.read_session(&id)?;
        let workspace = Workspace::new(&self.places, id.clone(), Limits::default());
        let mut files = match options.with_files {
            true => {
                store_changed_copies(&workspace)?;
                IncludedFiles::find(&workspace, &stored)?
            }
            false => IncludedFiles::default(),
        };
        if options.with_files && files.is_empty() {
            print_notice(&format!("the session {id} has no files in its workspace"))?;
        }
        if options.format == ExportFormat::Html {
            check_embedded_size(files.total_bytes())?;
            files.load_contents(&workspace)?;
        }
        let (count, renamed) = (files.iter().len(), files.iter().filter(|file| file.is_renamed()).count());
        let (text, redacted) = format_session(&id, &stored, options.format, &files);
        let with_files = match count {
            0 => String::new(),
            count => format!(" with {}", pluralize(count, "file")),
        };
        match target {
            Target::StandardOutput => {
                let mut out = io::stdout().lock();
                out.write_all(text.as_bytes())?;
                out.flush()?;
            }
            Target::File(file) => {
                export_file::write_file(file, &text, options.force)?;
                print_notice(&format!("wrote session {id}{with_files} to {}", file.display()))?;
            }
            Target::Folder(folder) => {
                let name = format!("session.{}", if options.format == ExportFormat::Json { "json" } else { "md" });
                export_folder::write_folder(folder, &name, &text, &files, &workspace)?;
                print_notice(&format!("wrote session {id}{with_files} to {}", folder.display()))?;
                if renamed > 0 {
                    print_notice(&describe_renamed(renamed))?;
                }
            }
        }
        if let Some(notice) = redaction_notice(redacted) {
            print_notice(&notice)?;
        }
        if count > 0 {
            print_notice("the files are unchanged: secrets in them are not redacted")?;
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// Returns the target once it is known that nothing there would be replaced against the user's will.
fn check_target(options: &ExportSession) -> Result<Target<'_>> {
    match (options.output.as_deref(), options.format) {
        (None, ExportFormat::Markdown | ExportFormat::Json) if options.with_files => bail_usage!(
            "Cannot export files to standard output: this format puts them next to the document. Name a new folder with --output, or use --format html."
        ),
        (None, _) => Ok(Target::StandardOutput),
        (Some(folder), ExportFormat::Markdown | ExportFormat::Json) if options.with_files => {
            export_file::check_new_folder(folder)?;
            Ok(Target::Folder(folder))
        }
        (Some(file), _) => {
            export_file::check_target(file, options.force, "Use --force to overwrite it.")?;
            Ok(Target::File(file))
        }
    }
}

fn check_embedded_size(bytes: u64) -> Result<()> {
    if bytes > MAX_EMBEDDED_BYTES {
        let (bytes, limit) = (format_bytes(bytes), format_bytes(MAX_EMBEDDED_BYTES));
        bail_usage!(
            "Cannot embed the files: {bytes} exceeds the limit of {limit}. Export a folder: --format markdown --output FOLDER."
        );
    }
    Ok(())
}

fn describe_renamed(count: usize) -> String {
    let (were_renamed, reason) = match count {
        1 => ("was renamed", "its name is reserved or clashes"),
        _ => ("were renamed", "their names are reserved or clash"),
    };
    let files = pluralize(count, "file");
    format!("{files} {were_renamed}: {reason} on some systems. The document lists both names.")
}

/// Returns the document and the number of secrets redacted in it.
fn format_session(
    id: &SessionId,
    stored: &StoredSession,
    format: ExportFormat,
    files: &IncludedFiles,
) -> (String, usize) {
    if format == ExportFormat::Json {
        return json::format_json(id, stored, files);
    }
    let document = Document::from_session(id, stored);
    let formatter = if format == ExportFormat::Html { html::format_html } else { markdown::format_markdown };
    (formatter(&document, files), document.redacted)
}
