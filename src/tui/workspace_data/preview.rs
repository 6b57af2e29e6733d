//! Prepares the beginning of a file for its page: by its media type, up to limits, with what is not shown.

use super::{NumberedLines, PreviewContent};
use crate::chat::{image, pluralize};
use crate::text::byte_size::format_bytes;
use crate::text::delimited_rows::{RowLimits, parse_rows};
use crate::text::json_outline::JsonOutline;
use crate::text::truncation::truncate_end;
use std::sync::Arc;

/// Bytes of a file that are read for a preview.
pub const MAX_PREVIEW_BYTES: u64 = 256_000;
/// Limits of a table. A row that does not fit in the width is laid out as a line for each cell.
const TABLE_LIMITS: RowLimits = RowLimits { rows: 1000, columns: 200, cells: 20_000 };
/// Characters of a cell.
const MAX_CELL_CHARS: usize = 500;
/// Lines before and after the ones of a link.
const LINES_BEFORE: usize = 300;
const LINES_AFTER: usize = 700;
/// Lines that the preview of a link shows, so that all are highlighted.
const MAX_LINK_LINES: usize = 1900;
/// Bytes of them.
const MAX_LINK_BYTES: usize = 200_000;
/// Lines of indented JSON, not all of which are shown at once.
const MAX_JSON_LINES: usize = 20_000;

/// A file of which the beginning has been read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileBeginning<'a> {
    /// Name without folders.
    pub name: &'a str,
    pub media_type: &'a str,
    /// Bytes of the whole file.
    pub size: u64,
    /// The first bytes, all of them if the file is short.
    pub bytes: &'a [u8],
}

/// Content that has been prepared, and the part of the file that it shows.
struct ShownPart {
    content: PreviewContent,
    /// Length in the unit of the content, such as `3 rows`.
    length: String,
    /// Length in bytes of the file.
    bytes: usize,
}

impl FileBeginning<'_> {
    /// Prepares the content, and describes what of the file is not shown: one sentence, empty if all of it is shown.
    pub fn prepare_content(&self) -> (PreviewContent, String) {
        let Some(text) = self.text() else {
            let description = match image::detect_type(self.bytes) {
                Some(_) => "A picture.",
                None => "This file is not text. Open it to see it in another program.",
            };
            return (PreviewContent::NoText(description), String::new());
        };
        let structured = match self.media_type {
            "text/csv" => prepare_table(text, detect_delimiter(text), self.is_cut()),
            "text/tab-separated-values" => prepare_table(text, '\t', self.is_cut()),
            "application/json" => prepare_json(text, self.is_cut()),
            _ => None,
        };
        let shown = structured.unwrap_or_else(|| {
            let text_content = |name: &str| PreviewContent::Text { name: name.to_owned(), text: text.to_owned() };
            let content = match self.media_type {
                "text/markdown" => PreviewContent::Markdown(text.to_owned()),
                "application/jsonl" => text_content("json"),
                _ => text_content(self.name),
            };
            ShownPart { content, length: format_bytes(text.len() as u64), bytes: text.len() }
        });
        let omission = match self.size.saturating_sub(shown.bytes as u64) {
            0 => String::new(),
            bytes => {
                let size = format_bytes(bytes);
                format!("… Not shown: {size} after the first {}. Open the file to see all of it.", shown.length)
            }
        };
        (shown.content, omission)
    }

    /// Prepares the lines around those with these numbers, and describes what is not shown or missing: one sentence, empty if
    /// nothing is.
    pub fn prepare_lines(&self, (line, end): (usize, usize)) -> (PreviewContent, String) {
        let Some(text) = self.text() else { return self.prepare_content() };
        let lines: Vec<&str> = text.split_inclusive('\n').collect();
        // Without a line of this number, the last one.
        let marked = line.min(lines.len()).max(1) - 1;
        let fits = |count: usize, bytes: usize| count + 1 < MAX_LINK_LINES && bytes <= MAX_LINK_BYTES;
        let (mut first, mut last) = (marked, marked);
        let mut bytes = lines.get(marked).map_or(0, |line| line.len());
        while first > 0 && marked - first < LINES_BEFORE && fits(last - first, bytes + lines[first - 1].len()) {
            first -= 1;
            bytes += lines[first].len();
        }
        let wanted = end.max(line).saturating_add(LINES_AFTER);
        while last + 1 < lines.len().min(wanted) && fits(last - first, bytes + lines[last + 1].len()) {
            last += 1;
            bytes += lines[last].len();
        }
        let mut shown = lines.get(first..=last).unwrap_or_default().concat();
        let is_line_cut = shown.len() > MAX_LINK_BYTES;
        shown.truncate(shown.floor_char_boundary(MAX_LINK_BYTES));
        let is_missing = line > lines.len().max(1);
        let omission = if is_missing && self.is_cut() {
            format!("Line {line} is beyond the first {} of the file.", format_bytes(self.bytes.len() as u64))
        } else if is_missing {
            format!("Line {line} does not exist: the file has {}.", pluralize(lines.len(), "line"))
        } else if last + 1 < lines.len() || is_line_cut || self.is_cut() {
            "… Open the file to see the rest.".to_owned()
        } else {
            String::new()
        };
        let numbered = NumberedLines {
            name: self.name.to_owned(),
            text: shown,
            first: first + 1,
            marked: line..=end.max(line),
            // An empty file is shown as one empty line.
            total: (!self.is_cut()).then_some(lines.len().max(1)),
        };
        (PreviewContent::Lines(numbered), omission)
    }

    fn is_cut(&self) -> bool {
        (self.bytes.len() as u64) < self.size
    }

    /// Returns the bytes as text, without a character that was cut; `None` if they are not UTF-8 or have a NUL.
    fn text(&self) -> Option<&str> {
        let text = match std::str::from_utf8(self.bytes) {
            Ok(text) => text,
            Err(error) if error.error_len().is_none() && self.is_cut() => {
                std::str::from_utf8(&self.bytes[..error.valid_up_to()]).ok()?
            }
            Err(_) => return None,
        };
        (!text.contains('\0')).then_some(text)
    }
}

/// Returns the delimiter that the first line has most often outside quotes; the comma if it has none.
fn detect_delimiter(text: &str) -> char {
    let first_line = text.lines().next().unwrap_or_default();
    let count =
        |delimiter: &char| first_line.split('"').step_by(2).flat_map(str::chars).filter(|c| c == delimiter).count();
    // Of equal counts the last one is chosen.
    ['\t', ';', ','].into_iter().max_by_key(count).unwrap_or(',')
}

fn prepare_table(text: &str, delimiter: char, is_cut: bool) -> Option<ShownPart> {
    let mut table = parse_rows(text, delimiter, TABLE_LIMITS, is_cut)?;
    for cell in table.rows.iter_mut().flatten().filter(|cell| cell.len() > MAX_CELL_CHARS) {
        *cell = truncate_end(cell, MAX_CELL_CHARS);
    }
    let length = pluralize(table.rows.len(), "row");
    Some(ShownPart { content: PreviewContent::Table(table.rows), length, bytes: table.length })
}

fn prepare_json(text: &str, is_cut: bool) -> Option<ShownPart> {
    // The end is missing in the beginning of a text; everything before it must be valid.
    let parsed = serde_json::from_str::<serde::de::IgnoredAny>(text);
    if !parsed.map_or_else(|error| is_cut && error.is_eof(), |_| true) {
        return None;
    }
    let (outline, bytes) = JsonOutline::read(text, MAX_JSON_LINES);
    let length = pluralize(outline.line_count(), "line");
    Some(ShownPart { content: PreviewContent::Json(Arc::new(outline)), length, bytes })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Prepares a file whose first bytes are these.
    fn prepare(media_type: &str, bytes: &[u8], size: usize) -> (PreviewContent, String) {
        FileBeginning { name: "name.rs", media_type, size: size as u64, bytes }.prepare_content()
    }

    /// Prepares a file with this text.
    fn prepare_whole(media_type: &str, text: &str) -> (PreviewContent, String) {
        prepare(media_type, text.as_bytes(), text.len())
    }

    fn text_content(name: &str, text: &str) -> PreviewContent {
        PreviewContent::Text { name: name.into(), text: text.into() }
    }

    fn table(rows: &[&[&str]]) -> PreviewContent {
        PreviewContent::Table(rows.iter().map(|row| row.iter().map(|cell| (*cell).to_owned()).collect()).collect())
    }

    #[test]
    fn the_media_type_decides_how_a_text_is_shown() {
        for (media_type, text, expected) in [
            ("text/markdown", "# a", PreviewContent::Markdown("# a".into())),
            ("text/plain", "a,b", text_content("name.rs", "a,b")),
            ("application/jsonl", "[1]\n[2]", text_content("json", "[1]\n[2]")),
            ("application/json", "[ 1,2]", PreviewContent::Json(Arc::new(JsonOutline::read("[1,2]", 1).0))),
            ("application/json", "[1,", text_content("name.rs", "[1,")),
            ("text/csv", "a,b\n1,2", table(&[&["a", "b"], &["1", "2"]])),
            ("text/csv", "a,\"b", text_content("name.rs", "a,\"b")),
            ("text/tab-separated-values", "a,b\tc", table(&[&["a,b", "c"]])),
            (
                "text/markdown",
                "a\0",
                PreviewContent::NoText("This file is not text. Open it to see it in another program."),
            ),
        ] {
            assert_eq!(prepare_whole(media_type, text), (expected, String::new()), "{media_type}: {text}");
        }
        let (picture, _) = prepare("image/png", b"\x89PNG\r\n\x1a\n", 8);
        assert_eq!(picture, PreviewContent::NoText("A picture."));
    }

    #[test]
    fn the_most_frequent_delimiter_of_the_first_line_divides_the_cells() {
        for (line, expected) in [
            ("a,b", ','),
            ("a;b,5;c", ';'),
            ("a\tb", '\t'),
            ("a, b\tc\td", '\t'),
            ("\"a;b;c;d\",e", ','),
            ("a;b,c", ','),
            ("a\n;", ','),
            ("", ','),
        ] {
            assert_eq!(detect_delimiter(line), expected, "{line}");
        }
        assert_eq!(prepare_whole("text/csv", "a\tb\n1\t2\n").0, table(&[&["a", "b"], &["1", "2"]]));
    }

    #[test]
    fn the_omission_names_what_is_shown_and_how_much_is_not() {
        let rows = "1,2\n".repeat(1500);
        let wide_rows = format!("{}\n", vec!["1"; 100].join(",")).repeat(300);
        let json = format!("[{}]", vec!["[[1],[2]]"; 7000].join(","));
        for (media_type, bytes, size, shown) in [
            ("text/plain", &b"text"[..], 7, "3 bytes after the first 4 bytes"),
            ("text/csv", b"a,b\n1", 9, "5 bytes after the first 1 row"),
            ("text/csv", rows.as_bytes(), rows.len(), "2.0 kB after the first 1000 rows"),
            ("text/csv", wide_rows.as_bytes(), wide_rows.len(), "20.0 kB after the first 200 rows"),
            ("application/json", json.as_bytes(), json.len(), "after the first 20000 lines"),
            ("application/json", b"[1,2", 10, "6 bytes after the first 3 lines"),
        ] {
            let (_, omission) = prepare(media_type, bytes, size);
            assert!(omission.starts_with("… Not shown: ") && omission.contains(&format!("{shown}.")), "{omission}");
        }
    }

    #[test]
    fn the_lines_of_a_link_are_shown_with_those_around_them() {
        let text: String = (1..=3000).map(|number| format!("line {number}\n")).collect();
        let beginning = |text: &'static str, size: usize| FileBeginning {
            name: "a.rs",
            media_type: "text/plain",
            size: size as u64,
            bytes: text.as_bytes(),
        };
        let text: &'static str = text.leak();
        for (lines, first, last, omission) in [
            ((1, 1), 1, 701, "… Open the file to see the rest."),
            ((1000, 1000), 700, 1700, "… Open the file to see the rest."),
            ((1000, 5000), 700, 2599, "… Open the file to see the rest."),
            ((2999, 3000), 2699, 3000, ""),
            ((9000, 9000), 2700, 3000, "Line 9000 does not exist: the file has 3000 lines."),
        ] {
            let (PreviewContent::Lines(shown), found) = beginning(text, text.len()).prepare_lines(lines) else {
                panic!()
            };
            let last_line = shown.text.lines().last().unwrap();
            assert_eq!((shown.first, last_line, found.as_str()), (first, format!("line {last}").as_str(), omission));
            assert_eq!(shown.text.lines().next(), Some(format!("line {first}").as_str()));
            assert_eq!(shown.marked, lines.0..=lines.1);
        }
        let (_, omission) = beginning("a\nb", 10).prepare_lines((7, 7));
        assert_eq!(omission, "Line 7 is beyond the first 3 bytes of the file.");
        let (content, _) = beginning("", 0).prepare_lines((1, 1));
        let PreviewContent::Lines(shown) = content else { panic!() };
        assert_eq!((shown.text.as_str(), shown.first), ("", 1));
        // Lines as long as those of a minified file.
        let long: &'static str = format!("{}\nshort\n{}\n", "é".repeat(300_000), "x".repeat(150_000)).leak();
        for (line, expected, first) in [(1, MAX_LINK_BYTES, 1), (2, 6 + 150_001, 2), (3, 6 + 150_001, 2)] {
            let (PreviewContent::Lines(shown), omission) = beginning(long, long.len()).prepare_lines((line, line))
            else {
                panic!()
            };
            assert_eq!((shown.text.len(), shown.first), (expected, first), "{line}");
            assert_eq!(omission.is_empty(), line > 1, "{line}");
        }
        assert!(matches!(beginning("a\0", 2).prepare_lines((1, 1)).0, PreviewContent::NoText(_)));
    }

    #[test]
    fn long_cells_are_truncated() {
        let text = format!("a,{}", "é".repeat(MAX_CELL_CHARS + 1));
        let shortened = format!("{}…", "é".repeat(MAX_CELL_CHARS));
        assert_eq!(prepare_whole("text/csv", &text).0, table(&[&["a", &shortened]]));
    }

    #[test]
    fn a_character_that_is_cut_is_left_out_and_an_invalid_one_is_no_text() {
        let bytes = &"aé".as_bytes()[..2];
        let (content, omission) = prepare("text/plain", bytes, 3);
        assert_eq!(content, text_content("name.rs", "a"));
        assert!(omission.contains("2 bytes after the first 1 byte."), "{omission}");
        assert!(matches!(prepare("text/plain", bytes, 2).0, PreviewContent::NoText(_)));
        assert!(matches!(prepare("text/plain", b"\xffa", 3).0, PreviewContent::NoText(_)));
    }

    proptest! {
        #[test]
        fn any_beginning_is_prepared(bytes in "[a,;\t\"\n{}\\[\\]:1é\0]{0,40}", end in 0..60_usize, kind in 0..5_usize) {
            let media_type = ["text/csv", "text/tab-separated-values", "application/json", "text/markdown", "text/plain"][kind];
            let end = end.min(bytes.len());
            let (content, omission) = prepare(media_type, &bytes.as_bytes()[..end], bytes.len());
            if end < bytes.len() && !matches!(content, PreviewContent::NoText(_)) {
                prop_assert!(omission.starts_with("… Not shown: "), "{omission}");
            }
        }
    }
}
