//! Makes a model's markdown harmless, and points its links at the included files.

use super::escaping::is_web;
use super::file_links::file_link;
use super::included_files::{IncludedFile, IncludedFiles};
use pulldown_cmark::{Event, LinkType, Options, Parser, Tag, TagEnd};
use std::ops::Range;

/// Makes markdown harmless: HTML becomes text, and only links to the web and to included files are kept. Pictures become
/// links, except those that are included files.
pub(super) fn neutralize(text: &str, files: &IncludedFiles) -> String {
    let mut edits = Edits { text, files, edits: Vec::new(), open_links: Vec::new(), plain: 0..0, in_code: false };
    let options = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS;
    for (event, range) in Parser::new_ext(text, options).into_offset_iter() {
        edits.add_event(event, range);
    }
    edits.apply()
}

/// A link or picture whose text is being read.
struct OpenLink<'a> {
    start: usize,
    is_picture: bool,
    address: String,
    /// The file that an inline link leads to.
    file: Option<&'a IncludedFile>,
    /// End of its text so far.
    text_end: usize,
}

/// The edits of a text.
struct Edits<'a> {
    text: &'a str,
    files: &'a IncludedFiles,
    /// Ranges of the text and their replacements. An edit for safety replaces one character, and none contains another.
    edits: Vec<(Range<usize>, String)>,
    open_links: Vec<OpenLink<'a>>,
    /// Range of plain text, as far as it was read. The parser splits a text, and maybe an address in it.
    plain: Range<usize>,
    in_code: bool,
}

impl<'a> Edits<'a> {
    fn add_event(&mut self, event: Event<'_>, range: Range<usize>) {
        match &event {
            // With an entity or an escape the source is another text, or does not continue where the last one ends.
            Event::Text(text) if self.links_text() && self.text[range.clone()] == **text => {
                if self.plain.end != range.start {
                    self.link_plain_text();
                    self.plain.start = range.start;
                }
                self.plain.end = range.end;
            }
            _ => self.link_plain_text(),
        }
        match event {
            Event::Html(_) | Event::InlineHtml(_) => {
                let html = &self.text[range.clone()];
                let offsets = html.match_indices(['<', '>', '&']).map(|(offset, _)| range.start + offset);
                offsets.for_each(|offset| self.escape(offset));
            }
            // It would begin HTML or a link once another edit removes what prevents it. In a quote, the parser also takes the `>` of
            // the next line for the end of a declaration.
            Event::Text(_) if !self.in_code => {
                let starts = range.clone().filter(|offset| {
                    let (before, after) = self.text.as_bytes().split_at(*offset);
                    let backslashes = before.iter().rev().take_while(|byte| **byte == b'\\').count();
                    matches!(after, [b'<', b'!' | b'/' | b'?' | b'a'..=b'z' | b'A'..=b'Z', ..]) && backslashes % 2 == 0
                });
                starts.collect::<Vec<_>>().into_iter().for_each(|offset| self.escape(offset));
            }
            Event::Code(address) if self.links_text() && self.can_start_link(range.start) => {
                if let Some(file) = self.files.find_address(&address) {
                    let link = format!("[{}]({})", &self.text[range.clone()], file.relative_url());
                    self.edits.push((range.clone(), link));
                }
            }
            Event::Start(Tag::CodeBlock(_)) => self.in_code = true,
            Event::End(TagEnd::CodeBlock) => self.in_code = false,
            Event::Start(Tag::Image { link_type, dest_url, .. }) => {
                self.start_link(link_type, dest_url.into_string(), range.clone(), true);
            }
            Event::Start(Tag::Link { link_type, dest_url, .. }) => {
                self.start_link(link_type, dest_url.into_string(), range.clone(), false);
            }
            Event::End(TagEnd::Link | TagEnd::Image) => self.end_link(),
            _ => {}
        }
        if let Some(link) = self.open_links.last_mut().filter(|link| link.start < range.start) {
            link.text_end = link.text_end.max(range.end);
        }
    }

    /// Returns whether addresses in text become links here.
    fn links_text(&self) -> bool {
        !self.files.is_empty() && !self.in_code && self.open_links.is_empty()
    }

    /// Returns whether a link can be inserted here: after `!` it would be a picture, after a backslash it would be text.
    fn can_start_link(&self, offset: usize) -> bool {
        !self.text[..offset].ends_with(['!', '\\'])
    }

    fn link_plain_text(&mut self) {
        let range = std::mem::take(&mut self.plain);
        let plain = &self.text[range.clone()];
        for (address, file) in self.files.find_in_text(plain) {
            let source = range.start + address.start..range.start + address.end;
            if self.can_start_link(source.start) {
                self.edits.push((source, file_link(&plain[address], file)));
            }
        }
    }

    fn start_link(&mut self, link_type: LinkType, address: String, range: Range<usize>, is_picture: bool) {
        let mut file = self.files.find_address(&address);
        match (link_type, file) {
            (LinkType::Inline, _) => {}
            (LinkType::Autolink, Some(found)) if self.can_start_link(range.start) => {
                self.edits.push((range.clone(), file_link(&address, found)))
            }
            _ => file = None,
        }
        let is_autolink = link_type == LinkType::Autolink && file.is_some();
        if file.is_none() && (is_picture || !is_web(&address)) {
            self.escape_link(range.start, is_picture, &address);
        }
        let file = file.filter(|_| !is_autolink);
        let text_end = range.start + if is_picture { 2 } else { 1 };
        self.open_links.push(OpenLink { start: range.start, is_picture, address, file, text_end });
    }

    fn end_link(&mut self) {
        let Some(link) = self.open_links.pop() else { return };
        let Some(file) = link.file else { return };
        match self.find_destination(&link) {
            Some(destination) => {
                self.edits.push((destination, file.relative_url()));
                if link.is_picture && file.picture_type().is_none() {
                    self.escape(link.start);
                }
            }
            None => self.escape_link(link.start, link.is_picture, &link.address),
        }
    }

    /// Returns the range of an inline link's destination, if it is written as it is read: without escapes and entities.
    fn find_destination(&self, link: &OpenLink<'_>) -> Option<Range<usize>> {
        let after_text = self.text.get(link.text_end..)?;
        let destination = after_text.trim_start().strip_prefix("](")?.trim_start();
        let destination = destination.strip_prefix('<').unwrap_or(destination);
        let start = self.text.len() - destination.len();
        destination.starts_with(&link.address).then(|| start..start + link.address.len())
    }

    /// Makes a picture a link, or a link text.
    fn escape_link(&mut self, start: usize, is_picture: bool, address: &str) {
        // Without the `!` a picture is a link.
        self.escape(start);
        if is_picture && !is_web(address) {
            self.escape(start + 1);
        }
    }

    /// Escapes an ASCII character.
    fn escape(&mut self, offset: usize) {
        // In an HTML block a backslash is no escape.
        let escaped = match self.text.as_bytes().get(offset) {
            Some(b'<') => "&lt;".to_owned(),
            Some(b'>') => "&gt;".to_owned(),
            Some(b'&') => "&amp;".to_owned(),
            Some(_) | None => format!("\\{}", &self.text[offset..=offset]),
        };
        self.edits.push((offset..offset + 1, escaped));
    }

    fn apply(mut self) -> String {
        self.link_plain_text();
        self.edits.sort_by_key(|(range, _)| range.start);
        self.edits.dedup_by_key(|(range, _)| range.start);
        let mut out = String::with_capacity(self.text.len() + self.edits.len());
        let mut start = 0;
        for (range, replacement) in &self.edits {
            out.push_str(&self.text[start..range.start]);
            out.push_str(replacement);
            start = range.end;
        }
        out.push_str(&self.text[start..]);
        out
    }
}
