//! Where a reply that grows can no longer change.

use super::bound::bound;
use super::options;
use crate::tui::text::clean::clean;
use pulldown_cmark::{BrokenLink, Event, Parser};
use std::borrow::Cow;
use std::cell::Cell;

/// The byte behind the last block that nothing to come can change; 0 where there is none. Of a reply that
/// grows, what is before it can be laid out once: `layout(before)`, a blank line where neither is empty, and
/// `layout(after)` are the layout of the whole. Ask again with what is after it only.
///
/// It rather says less than too much: after what could become a link by reference, for one, everything
/// stays open.
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

fn prefix(source: &str) -> usize {
    // Too deep a text is rewritten before it is parsed, so its bytes say nothing.
    if matches!(bound(source), Cow::Owned(_)) {
        return 0;
    }
    let unresolved = Cell::new(usize::MAX);
    let parser = Parser::new_with_broken_link_callback(
        source,
        options(),
        Some(|link: BrokenLink<'_>| {
            unresolved.set(unresolved.get().min(link.span.start));
            None
        }),
    );
    // A link by reference depends on a line far from it, perhaps in the other part.
    if parser.reference_definitions().iter().next().is_some() {
        return 0;
    }
    let (mut depth, mut starts) = (0usize, Vec::new());
    for (event, range) in parser.into_offset_iter() {
        if depth == 0 && !matches!(event, Event::End(_)) {
            starts.push(range.start);
        }
        match event {
            Event::Start(_) => depth += 1,
            Event::End(_) => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    let border = |start: &usize| *start > 0 && *start <= unresolved.get() && is_border(source, *start);
    starts.into_iter().skip(1).filter(border).last().unwrap_or(0)
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
