//! Where a reply that grows can no longer change.

use super::bound::bound;
use super::options;
use crate::tui::text::clean::clean;
use pulldown_cmark::{Event, Parser, Tag};
use std::borrow::Cow;

/// The byte behind the last block that nothing to come can change; 0 where there is none. Of a reply that
/// grows, what is before it can be laid out once: `layout(before)`, a blank line where neither is empty, and
/// `layout(after)` are the layout of the whole. Ask again with what is after it only.
///
/// All this is true as long as nothing [`defines`] a link by reference, which changes what is far above it: 0 while
/// such a thing is in sight.
pub fn stable_prefix(source: &str) -> usize {
    let cleaned = clean(source);
    let clean_prefix = prefix(&cleaned);
    let Cow::Owned(cleaned) = &cleaned else { return clean_prefix };
    // Cleaning moved the bytes, but a prefix ends with a line: find the line, and believe it only if both parts
    // are cleaned to what they were in the whole.
    let lines = cleaned[..clean_prefix].matches('\n').count();
    let Some((end, _)) = lines.checked_sub(1).and_then(|nth| source.match_indices('\n').nth(nth)) else {
        return 0;
    };
    let (before, after) = source.split_at(end + 1);
    let same = clean(before) == cleaned[..clean_prefix] && clean(after) == cleaned[clean_prefix..];
    if same { end + 1 } else { 0 }
}

/// Whether a text defines a link by reference (`[name]: address`), or a note by a name that is another text where it is no
/// name (`[^*a*]: note`): then it can only be laid out as a whole.
pub fn defines(source: &str) -> bool {
    let source = clean(source);
    source.contains("]:") && {
        let parser = Parser::new_ext(&source, options());
        parser.reference_definitions().iter().next().is_some()
            || parser.into_iter().any(|event| is_odd_note(&event))
    }
}

/// Whether a note begins whose name would not be shown as it is written if it were none.
fn is_odd_note(event: &Event<'_>) -> bool {
    matches!(event, Event::Start(Tag::FootnoteDefinition(name))
        if !name.chars().all(|letter| letter.is_alphanumeric() || matches!(letter, '-' | '.')))
}

/// The bytes of a text that grows but for the row of a table that is not whole yet. A row that may head a table waits for
/// the next one, which says whether it does: nobody sees it as text first.
pub fn whole_rows(source: &str) -> usize {
    let is_row = |line: &str| line.trim_start().starts_with('|');
    let end = source.rfind('\n').map_or(0, |end| end + 1);
    let (before, last) = source.split_at(end);
    if !last.is_empty() && !is_row(last) {
        return source.len();
    }
    let mut lines = before.lines().rev();
    match (lines.next().filter(|line| is_row(line)), lines.next().filter(|line| is_row(line))) {
        (Some(head), None) => before.trim_end_matches(['\n', '\r']).len() - head.len(),
        (_, _) => end,
    }
}

fn prefix(source: &str) -> usize {
    // Too deep a text is rewritten before it is parsed, so its bytes say nothing.
    if matches!(bound(source), Cow::Owned(_)) {
        return 0;
    }
    let parser = Parser::new_ext(source, options());
    if parser.reference_definitions().iter().next().is_some() {
        return 0;
    }
    let (mut depth, mut starts) = (0usize, Vec::new());
    for (event, range) in parser.into_offset_iter() {
        if is_odd_note(&event) {
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
    let border = |start: &usize| *start > 0 && is_border(source, *start);
    starts.into_iter().skip(1).rfind(border).unwrap_or(0)
}

/// Whether a block that begins here is told from the one before it whatever comes: after a blank line, at the
/// first column, and its first line whole.
fn is_border(source: &str, start: usize) -> bool {
    let (before, after) = source.split_at(start);
    let blank = before.strip_suffix('\n').is_some_and(|before| {
        let line = before.rsplit('\n').next().unwrap_or_default();
        line.trim().is_empty()
    });
    blank && after.contains('\n') && !after.starts_with([' ', '\n'])
}
