//! Splits a document into passages: the text below one heading, or a part of it if that is long.

use std::ops::Range;

/// Maximum bytes of a passage. The text below a heading is cut after an empty line or a line if it is longer.
pub const MAX_PASSAGE_BYTES: usize = 4 << 10;
/// Maximum number of headings of a document that begin a passage; later ones do not.
const MAX_HEADINGS: usize = 500;
/// Maximum bytes of a heading. Longer lines are text.
const MAX_HEADING_BYTES: usize = 400;
/// Maximum lines of front matter.
const MAX_FRONT_MATTER_LINES: usize = 60;
/// Characters that underline a heading.
const UNDERLINE_CHARS: &str = "=-~^\"'`:._*+#<>";

/// Kind of headings in a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Markup {
    /// `# Heading`, or a line underlined with `=` or `-`.
    Markdown,
    /// `== Heading`.
    AsciiDoc,
    /// A line underlined with one repeated character, as in reStructuredText and plain text.
    Underlined,
}

/// A part of a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Passage {
    /// The nearest heading above, without marks; empty before the first one.
    pub heading: String,
    /// Number of its first line, from 1.
    pub line: usize,
    /// Its bytes, the heading included.
    pub range: Range<usize>,
}

/// A heading, and where its passage begins.
struct Heading {
    text: String,
    line: usize,
    start: usize,
}

/// Splits a document. The passages together are the whole text, in order. Also returns the title: that of the front
/// matter, otherwise the first heading, if there is one.
pub fn split_passages(text: &str, markup: Markup) -> (Option<String>, Vec<Passage>) {
    let lines = Lines::new(text);
    let (body_line, named) = match markup {
        Markup::Markdown => read_front_matter(&lines),
        Markup::AsciiDoc | Markup::Underlined => (0, None),
    };
    let headings = match markup {
        Markup::Markdown => find_markdown_headings(&lines, body_line),
        Markup::AsciiDoc => find_asciidoc_headings(&lines),
        Markup::Underlined => find_underlined_headings(&lines),
    };
    let title = named.or_else(|| headings.first().map(|heading| heading.text.clone()));
    let beginning = Heading { text: String::new(), line: 1, start: 0 };
    let starts: Vec<Heading> = std::iter::once(beginning).chain(headings).collect();
    let mut passages = Vec::new();
    for (index, heading) in starts.iter().enumerate() {
        let end = starts.get(index + 1).map_or(text.len(), |next| next.start);
        push_parts(text, heading, end, &mut passages);
    }
    (title, passages)
}

/// Adds the text below a heading, in several passages if it is long.
fn push_parts(text: &str, heading: &Heading, end: usize, passages: &mut Vec<Passage>) {
    let (mut start, mut line) = (heading.start, heading.line);
    while start < end {
        let part = &text[start..end];
        let length = if part.len() <= MAX_PASSAGE_BYTES { part.len() } else { cut_length(part) };
        passages.push(Passage { heading: heading.text.clone(), line, range: start..start + length });
        line += memchr::memchr_iter(b'\n', &part.as_bytes()[..length]).count();
        start += length;
    }
}

/// Returns where a text that is too long for a passage is cut: after an empty line, otherwise after a line, otherwise
/// between two characters.
fn cut_length(text: &str) -> usize {
    let beginning = &text[..text.floor_char_boundary(MAX_PASSAGE_BYTES)];
    let after_line = |position: usize| position + 1;
    let after_paragraph = beginning.rfind("\n\n").map(|position| position + 2);
    after_paragraph.or_else(|| beginning.rfind('\n').map(after_line)).unwrap_or(beginning.len())
}

/// The lines of a text with their positions.
struct Lines<'a> {
    text: &'a str,
    /// Where each line begins.
    starts: Vec<usize>,
}

impl<'a> Lines<'a> {
    fn new(text: &'a str) -> Self {
        let after_breaks = memchr::memchr_iter(b'\n', text.as_bytes()).map(|position| position + 1);
        let starts = std::iter::once(0).chain(after_breaks).filter(|start| *start < text.len()).collect();
        Self { text, starts }
    }

    fn len(&self) -> usize {
        self.starts.len()
    }

    /// Returns a line without the space around it and the mark of the byte order; empty after the last line.
    fn get(&self, index: usize) -> &'a str {
        self.raw(index).trim_start_matches('\u{feff}').trim()
    }

    /// Returns a line with the space around it.
    fn raw(&self, index: usize) -> &'a str {
        let Some(start) = self.starts.get(index) else { return "" };
        let end = self.starts.get(index + 1).map_or(self.text.len(), |next| *next);
        self.text[*start..end].trim_end_matches(['\n', '\r'])
    }

    fn heading(&self, text: &str, first_line: usize) -> Heading {
        Heading { text: plain_heading(text), line: first_line + 1, start: self.starts[first_line] }
    }
}

/// Returns a heading without marks of emphasis and code, anchors and the text around links.
fn plain_heading(text: &str) -> String {
    let text = text.split(" {#").next().unwrap_or_default();
    let mut parts = text.split("](");
    let mut plain = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        plain.push_str(part.split_once(')').map_or(part, |(_, after)| after));
    }
    plain.retain(|c| !matches!(c, '`' | '*' | '[' | ']'));
    plain.trim().to_owned()
}

/// Returns the number of lines of front matter, and the title in it.
fn read_front_matter(lines: &Lines<'_>) -> (usize, Option<String>) {
    if lines.raw(0).trim_end().trim_start_matches('\u{feff}') != "---" {
        return (0, None);
    }
    let Some(end) = (1..lines.len().min(MAX_FRONT_MATTER_LINES)).find(|index| lines.get(*index) == "---") else {
        return (0, None);
    };
    let title = (1..end).find_map(|index| lines.raw(index).strip_prefix("title:"));
    let title = title.map(|title| plain_heading(title.trim().trim_matches(['"', '\''])));
    (end + 1, title.filter(|title| !title.is_empty()))
}

fn find_markdown_headings(lines: &Lines<'_>, first: usize) -> Vec<Heading> {
    let mut headings = Vec::new();
    // Character and length of the fence of the open code block.
    let mut fence: Option<(char, usize)> = None;
    for index in first..lines.len() {
        let (raw, line) = (lines.raw(index), lines.get(index));
        if headings.len() == MAX_HEADINGS {
            break;
        }
        let marks = leading_fence(line);
        match (fence, marks) {
            (None, Some(opened)) => fence = Some(opened),
            (Some((mark, length)), Some((closing, count))) if closing == mark && count >= length => {
                // A closing fence has no text after it.
                if line.chars().all(|c| c == mark) {
                    fence = None;
                }
            }
            (Some(_), _) | (None, None) => {}
        }
        if fence.is_some() || marks.is_some() || line.len() > MAX_HEADING_BYTES || is_indented(raw) {
            continue;
        }
        let underline = lines.get(index + 1);
        let is_underlined = (underline.len() >= 3 || underline == "==")
            && (underline.bytes().all(|byte| byte == b'=') || underline.bytes().all(|byte| byte == b'-'))
            && !line.starts_with(['|', '>', '-', '*', '+', '#', '<', '='])
            && !line.is_empty()
            // Otherwise it is the last line of a paragraph above a rule.
            && (index == first || lines.get(index - 1).is_empty());
        if let Some(text) = marked_heading(line, '#') {
            headings.push(lines.heading(text.trim_end_matches('#'), index));
        } else if is_underlined {
            headings.push(lines.heading(line, index));
        }
    }
    headings
}

/// Returns whether Markdown takes a line as code because of its indentation.
fn is_indented(line: &str) -> bool {
    line.starts_with("    ") || line.starts_with('\t')
}

/// Returns the character and the length of the fence of a code block.
fn leading_fence(line: &str) -> Option<(char, usize)> {
    let mark = line.chars().next().filter(|c| matches!(c, '`' | '~'))?;
    let count = line.chars().take_while(|c| *c == mark).count();
    // Inline code on one line is no fence.
    (count >= 3 && !(mark == '`' && line[count..].contains('`'))).then_some((mark, count))
}

/// Returns the text after one to six marks and a space.
fn marked_heading(line: &str, mark: char) -> Option<&str> {
    let text = line.trim_start_matches(mark);
    let count = line.len() - text.len();
    ((1..=6).contains(&count) && text.starts_with([' ', '\t']) && !text.trim().is_empty()).then(|| text.trim())
}

fn find_asciidoc_headings(lines: &Lines<'_>) -> Vec<Heading> {
    let mut headings = Vec::new();
    // The line that ends the open block.
    let mut block: Option<&str> = None;
    for index in 0..lines.len() {
        let line = lines.raw(index).trim_end();
        if headings.len() == MAX_HEADINGS {
            break;
        }
        let is_delimiter = line.len() >= 4
            && ["-", ".", "=", "*", "+", "/"].iter().any(|mark| line.trim_start_matches(mark).is_empty());
        match block {
            Some(end) if end == line => block = None,
            None if is_delimiter => block = Some(line),
            Some(_) | None => {}
        }
        if block.is_none() && !is_delimiter && line.len() <= MAX_HEADING_BYTES {
            headings.extend(marked_heading(line, '=').map(|text| lines.heading(text, index)));
        }
    }
    headings
}

fn find_underlined_headings(lines: &Lines<'_>) -> Vec<Heading> {
    let mut headings = Vec::new();
    for index in 0..lines.len().saturating_sub(1) {
        let (line, underline) = (lines.raw(index).trim_end(), lines.raw(index + 1).trim_end());
        if headings.len() == MAX_HEADINGS {
            break;
        }
        let is_heading = line.len() <= MAX_HEADING_BYTES
            && !line.trim().is_empty()
            && rule_char(line).is_none()
            && rule_char(underline).is_some()
            && underline.len() + 2 >= line.trim().chars().count()
            && (index == 0 || lines.get(index - 1).is_empty() || rule_char(lines.get(index - 1)).is_some());
        // A line above has the same character.
        let is_overlined = is_heading && index > 0 && rule_char(lines.get(index - 1)) == rule_char(underline);
        if is_heading {
            let heading = lines.heading(line, if is_overlined { index - 1 } else { index });
            headings.push(Heading { text: line.trim().to_owned(), ..heading });
        }
    }
    headings
}

/// Returns the character that a line consists of, if it underlines a heading.
fn rule_char(line: &str) -> Option<char> {
    let first = line.chars().next().filter(|c| UNDERLINE_CHARS.contains(*c))?;
    (line.len() >= 3 && line.chars().all(|c| c == first)).then_some(first)
}

#[cfg(test)]
mod tests;
