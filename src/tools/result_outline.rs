//! Outlines of the omitted part of a long result: the ranges in which it can be read.

use super::result_sections::Sections;
use super::summary_line::first_line;
use std::ops::Range;

/// Maximum number of ranges.
const MAX_RANGES: usize = 24;
/// Bytes of a range, if that makes no more than [`MAX_RANGES`]. One call of `read_workspace_file` returns more.
const RANGE_BYTES: usize = 40_000;
/// Bytes that a first line is made of.
const LINE_BYTES: usize = 400;
/// Maximum characters of a first line.
const LINE_CHARS: usize = 60;

/// Returns a line `OFFSET+LENGTH: FIRST LINE` for each part of a range of bytes. The parts are in characters of the
/// text, follow each other, and together are the range. They begin with headings of Markdown, or with values of JSON, which are
/// named by their path; otherwise they end with a line if they can.
pub(super) fn outline_range(text: &str, range: Range<usize>) -> String {
    let end = text.floor_char_boundary(range.end);
    let mut start = text.floor_char_boundary(range.start).min(end);
    let sections = Sections::find(text, &(start..end), MAX_RANGES - 1);
    let mut offset = text[..start].chars().count();
    let mut outline = String::new();
    for ranges_left in (1..=MAX_RANGES).rev() {
        let part = match ranges_left {
            1 => &text[start..end],
            _ => cut_part(text, start..end, ranges_left, sections.as_ref()),
        };
        if part.is_empty() {
            break;
        }
        let length = part.chars().count();
        let path = sections.as_ref().and_then(|sections| sections.describe(start));
        let beginning = &part[..part.floor_char_boundary(LINE_BYTES)];
        let line =
            first_line(&path.map_or_else(|| beginning.to_owned(), |path| format!("{path} {beginning}")), LINE_CHARS);
        outline.push_str(&format!("{offset}+{length}: {line}\n"));
        (start, offset) = (start + part.len(), offset + length);
    }
    outline
}

/// Returns the beginning of a range of a text that is divided into this many parts: up to a heading, to the last value that
/// begins in it, or else to the end of a line if one ends there.
fn cut_part<'a>(text: &'a str, range: Range<usize>, ranges_left: usize, sections: Option<&'a Sections>) -> &'a str {
    let bytes = RANGE_BYTES.max(range.len().div_ceil(ranges_left));
    let limit = range.end.min(range.start.saturating_add(bytes));
    let last_within = |offsets: &'a [usize]| offsets[..offsets.partition_point(|offset| *offset <= limit)].last();
    // With no range to spare, a part has as many sections as fit.
    let has_spare = range.len() <= RANGE_BYTES * (ranges_left - 1);
    let section = match sections {
        Some(Sections::Headings(offsets)) if has_spare => offsets.iter().find(|offset| **offset > range.start),
        Some(Sections::Headings(offsets)) => last_within(offsets),
        Some(Sections::Values { offsets, .. }) if limit < range.end => last_within(offsets),
        Some(Sections::Values { .. }) | None => None,
    };
    if let Some(offset) = section.filter(|offset| (range.start + 1..=limit).contains(*offset)) {
        return &text[range.start..*offset];
    }
    cut_lines(&text[range], bytes)
}

/// Returns the beginning of a text, at most `bytes` long, up to the end of a line if one ends there.
fn cut_lines(text: &str, bytes: usize) -> &str {
    if text.len() <= bytes {
        return text;
    }
    let part = &text[..text.floor_char_boundary(bytes)];
    part.rfind('\n').map_or(part, |position| &part[..=position])
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The parts of an outline.
    fn parse_parts(outline: &str) -> Vec<(usize, usize)> {
        let numbers = outline.lines().map(|line| line.split_once(": ").unwrap().0.split_once('+').unwrap());
        numbers.map(|(offset, length)| (offset.parse().unwrap(), length.parse().unwrap())).collect()
    }

    #[test]
    fn a_part_names_its_first_line() {
        let text = format!("shown\nfirst\tomitted \u{202e}\n{}second\nshown", "x\n".repeat(19_990));
        let outline = outline_range(&text, 6..text.len() - 5);
        assert_eq!(outline, "6+39996: first omitted <U+202E>…\n40002+7: second\n");
        assert_eq!(outline_range("text", 4..4), "");
        assert_eq!(outline_range(&"x".repeat(100), 10..30), "10+20: xxxxxxxxxxxxxxxxxxxx\n");
    }

    #[test]
    fn the_parts_of_a_page_begin_with_its_headings() {
        let section = |name: &str, lines: usize| format!("## {name}\n{}", "text\n".repeat(lines));
        let text = format!("{}{}{}", section("One", 10), section("Two", 20), section("Three", 12_000));
        let outline = outline_range(&text, 3..text.len());
        let lines: Vec<&str> = outline.lines().collect();
        assert_eq!(lines[0].split_once(": ").unwrap().1, "One…");
        assert_eq!(lines[1], format!("{}+107: ## Two…", 7 + 50));
        assert_eq!(lines[2].split_once(": ").unwrap(), ("164+39999", "## Three…"));
        assert_eq!(lines.len(), 4, "a long section is divided: {outline}");
        // Many short sections leave enough ranges for a long one after them.
        let text = format!("{}{}", section("Short", 1).repeat(20), section("Long", 200_000));
        let parts = parse_parts(&outline_range(&text, 0..text.len()));
        assert!(parts.iter().all(|(_, length)| *length <= 70_000), "{parts:?}");
    }

    #[test]
    fn the_parts_of_json_begin_with_values_and_name_their_path() {
        let rows: Vec<String> = (0..5000).map(|number| format!("{{\"id\":{number},\"name\":\"é\"}}")).collect();
        let text = format!("{{\"total\":5000,\"rows\":[{}]}}", rows.join(","));
        let outline = outline_range(&text, 100..text.len() - 100);
        let parts = parse_parts(&outline);
        assert!(parts.len() > 2, "{outline}");
        for (line, (offset, length)) in outline.lines().zip(parts).skip(1) {
            let part: String = text.chars().skip(offset).take(length).collect();
            let index = line.split_once("rows[").unwrap().1.split_once(']').unwrap().0;
            assert!(part.starts_with(&format!("{{\"id\":{index},")), "{line}");
            let whole = serde_json::from_str::<serde_json::Value>(&format!("[{}]", part.trim_end_matches(',')));
            assert!(whole.is_ok() || offset + length >= text.chars().count() - 100, "whole rows: {line}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(16))]
        #[test]
        fn the_parts_together_are_the_range(line in "[#]{0,2} ?[a-zé🙂\\[\\]{}\":,1]{0,9}", lines in 0..200_000_usize, cut in 0..2000_usize) {
            let text = format!("{line}\n").repeat(lines);
            let range = text.floor_char_boundary(cut.min(text.len()))..text.floor_char_boundary(text.len().saturating_sub(cut));
            prop_assume!(range.start <= range.end);
            let outline = outline_range(&text, range.clone());
            prop_assert!(outline.len() <= 2000, "{}", outline.len());
            let (mut next, parts) = (text[..range.start].chars().count(), parse_parts(&outline));
            for (offset, length) in parts {
                prop_assert_eq!(offset, next);
                next += length;
            }
            prop_assert_eq!(next, text[..range.end].chars().count());
        }
    }
}
