//! The files at the end of a document: embedded in a page, listed in Markdown.
//!
//! Nothing of a file becomes active content of the page: text is shown as text, pictures are shown only in formats
//! without scripts, and everything else can only be saved, as bytes of no known type.

use super::escaping::{code_span, escape, escape_inline};
use super::included_files::{IncludedFile, IncludedFiles};
use super::markdown_html::code_block;
use crate::text::byte_size::format_bytes;
use crate::text::clean::{clean_line, clean_text};
use crate::text::hidden_chars::remove_hidden;
use crate::workspace::is_text;
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use std::fmt::Write as _;

/// Media type of a link that saves a file. A browser never opens it as a page.
const SAVED_TYPE: &str = "application/octet-stream";
/// What a reader of the document should know about the files.
const NOTE: &str = "The files of the session, unchanged: secrets in them are not redacted.";

/// Writes the files into a page.
pub(super) fn write_files(files: &IncludedFiles, out: &mut String) {
    if files.is_empty() {
        return;
    }
    let _ = writeln!(out, "<hr>\n<h2>Files</h2>\n<p class=\"aside\">{}</p>", escape(NOTE));
    files.iter().for_each(|file| write_file(file, out));
}

fn write_file(file: &IncludedFile, out: &mut String) {
    let label = escape(&clean_line(&file.label()));
    let content = &file.content;
    let picture = file.picture_type();
    // Browsers open `details` for a link to something inside, but not for a link to the element itself.
    let _ = writeln!(
        out,
        "<details class=\"call file\"{}><summary><code>{label}</code> <span class=\"end\">{}</span></summary>\n<div id=\"{}\">",
        if picture.is_some() { " open" } else { "" },
        escape(&describe_file(file)),
        escape(&file.anchor()),
    );
    let base64 = BASE64_STANDARD.encode(content);
    let name = escape(&remove_hidden(file.stored.path.file_name()));
    let _ = writeln!(out, "<p><a download=\"{name}\" href=\"data:{SAVED_TYPE};base64,{base64}\">Save</a></p>");
    if let Some(media_type) = picture {
        let _ = writeln!(out, "<p><img alt=\"{label}\" src=\"data:{media_type};base64,{base64}\"></p>");
    } else if is_text(content) {
        // The files of a file are not linked: its text is shown as it is.
        let text = clean_text(&String::from_utf8_lossy(content)).into_owned();
        out.push_str(&code_block(language(file), &text, &IncludedFiles::default()));
    }
    out.push_str("</div>\n</details>\n");
}

/// Returns the language of a text, by the extension of its name.
fn language(file: &IncludedFile) -> &str {
    file.stored.path.file_name().rsplit_once('.').map_or("", |(_, extension)| extension)
}

/// Formats the list of the files, with links to them in the folder of the document.
pub(super) fn format_file_list(files: &IncludedFiles) -> String {
    if files.is_empty() {
        return String::new();
    }
    let mut out = format!("## Files\n\n{NOTE}\n\n");
    for file in files.iter() {
        let label = escape_inline(&clean_line(&file.label()));
        let address = code_span(&file.address());
        let _ =
            writeln!(out, "- [{label}]({}) · {} · {address}", file.relative_url(), escape_inline(&describe_file(file)));
    }
    out.push('\n');
    out
}

fn describe_file(file: &IncludedFile) -> String {
    format!("{} · {}", format_bytes(file.stored.size), clean_line(&file.stored.media_type))
}
