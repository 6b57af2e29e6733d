//! Finds the part of a growing reply that can no longer change.

use super::nesting_limit::bound_nesting;
use super::parser_options;
use crate::text::clean::clean_text;
use pulldown_cmark::{Event, Parser, Tag};
use std::borrow::Cow;

/// Returns the byte after the last block that later text cannot change; 0 if there is none. The part before it needs to
/// be laid out only once: `layout(before)`, a blank line if neither part is empty, and `layout(after)` equal the layout
/// of the whole. Pass only the text after it to the next call.
///
/// A definition of a link reference can change text far above it, so the result is 0 if the text contains one
/// (`defines_reference`).
pub fn stable_prefix(source: &str) -> usize {
    let cleaned = clean_text(source);
    let clean_prefix = stable_prefix_of_clean_text(&cleaned);
    let Cow::Owned(cleaned) = &cleaned else { return clean_prefix };
    // Cleaning changes byte offsets, but a prefix ends with a line: find that line, and use it only if both parts are
    // cleaned in the same way as the whole.
    let lines = cleaned[..clean_prefix].matches('\n').count();
    let Some((end, _)) = lines.checked_sub(1).and_then(|nth| source.match_indices('\n').nth(nth)) else {
        return 0;
    };
    let (before, after) = source.split_at(end + 1);
    let is_same = clean_text(before) == cleaned[..clean_prefix] && clean_text(after) == cleaned[clean_prefix..];
    if is_same { end + 1 } else { 0 }
}

/// Returns whether a text defines a link by reference (`[name]: address`), or a footnote whose name contains markup
/// (`[^*a*]: note`). Without the definition, references to it are parsed differently, so such a text is laid out whole.
pub fn defines_reference(source: &str) -> bool {
    let source = clean_text(source);
    source.contains("]:") && {
        let parser = Parser::new_ext(&source, parser_options());
        parser.reference_definitions().iter().next().is_some()
            || parser.into_iter().any(|event| is_unusual_footnote(&event))
    }
}

/// Returns whether the event starts the definition of a footnote whose name may contain markup.
fn is_unusual_footnote(event: &Event<'_>) -> bool {
    matches!(event, Event::Start(Tag::FootnoteDefinition(name))
        if !name.chars().all(|c| c.is_alphanumeric() || matches!(c, '-' | '.')))
}

/// Returns the length of a growing text without an incomplete table row. A row that may be the heading of a table waits
/// for the next line, so that it is never shown as text first.
pub fn complete_rows_length(source: &str) -> usize {
    let is_row = |line: &str| line.trim_start().starts_with('|');
    let end = source.rfind('\n').map_or(0, |end| end + 1);
    let (before, last_line) = source.split_at(end);
    if !last_line.is_empty() && !is_row(last_line) {
        return source.len();
    }
    let mut lines = before.lines().rev();
    match (lines.next().filter(|line| is_row(line)), lines.next().filter(|line| is_row(line))) {
        (Some(heading), None) => before.trim_end_matches(['\n', '\r']).len() - heading.len(),
        (_, _) => end,
    }
}

fn stable_prefix_of_clean_text(source: &str) -> usize {
    // A text that is nested too deeply is rewritten before parsing, so its byte offsets are not valid.
    if matches!(bound_nesting(source).text, Cow::Owned(_)) {
        return 0;
    }
    let parser = Parser::new_ext(source, parser_options());
    if parser.reference_definitions().iter().next().is_some() {
        return 0;
    }
    let (mut depth, mut starts) = (0usize, Vec::new());
    for (event, range) in parser.into_offset_iter() {
        if is_unusual_footnote(&event) {
            return 0;
        }
        if depth == 0 && !matches!(event, Event::End(_)) {
            starts.push(range.start);
        }
        match event {
            Event::Start(_) => depth += 1,
            Event::End(_) => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    let is_boundary = |start: &usize| *start > 0 && is_block_boundary(source, *start);
    starts.into_iter().skip(1).rfind(is_boundary).unwrap_or(0)
}

/// Returns whether a block that starts here is separate from the one before it, whatever follows: after a blank line,
/// at the first column, and with a complete first line.
fn is_block_boundary(source: &str, start: usize) -> bool {
    let (before, after) = source.split_at(start);
    let follows_blank_line = before.strip_suffix('\n').is_some_and(|before| {
        let line = before.rsplit('\n').next().unwrap_or_default();
        line.trim().is_empty()
    });
    follows_blank_line && after.contains('\n') && !after.starts_with([' ', '\n'])
}
