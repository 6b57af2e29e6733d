//! Links in text to the files that an export includes.

use super::escaping::{escape, escape_inline};
use super::included_files::{IncludedFile, IncludedFiles};
use std::ops::Range;

/// Escapes text for HTML; the addresses of included files become links to their places in the page.
pub(super) fn escape_with_links(text: &str, files: &IncludedFiles) -> String {
    let link =
        |address: &str, file: &IncludedFile| format!("<a href=\"#{}\">{}</a>", escape(&file.anchor()), escape(address));
    replace_addresses(text, &files.find_in_text(text), escape, link)
}

/// Formats a link to an included file.
pub(super) fn file_link(text: &str, file: &IncludedFile) -> String {
    format!("[{}]({})", escape_inline(text), file.relative_url())
}

/// Like [`escape_inline`]; the addresses of included files become links.
pub(super) fn link_inline(text: &str, files: &IncludedFiles) -> String {
    replace_addresses(text, &files.find_in_text(text), escape_inline, file_link)
}

/// Converts the text between the addresses and each address.
fn replace_addresses(
    text: &str,
    addresses: &[(Range<usize>, &IncludedFile)],
    convert: impl Fn(&str) -> String,
    link: impl Fn(&str, &IncludedFile) -> String,
) -> String {
    let mut out = String::new();
    let mut start = 0;
    for (range, file) in addresses {
        out.push_str(&convert(&text[start..range.start]));
        out.push_str(&link(&text[range.clone()], file));
        start = range.end;
    }
    out.push_str(&convert(&text[start..]));
    out
}
