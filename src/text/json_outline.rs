//! Lines of indented JSON, in which each object or list of several lines can be collapsed to one line.

use super::indented_json::indent_json;
use std::ops::Range;

/// An object or list is collapsed at first if it has more items than this, unless it contains everything.
const MAX_EXPANDED_ITEMS: usize = 100;
/// An object or list is collapsed at first if this many others contain it.
const COLLAPSED_DEPTH: usize = 3;

/// Lines of indented JSON.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JsonOutline {
    text: String,
    lines: Vec<OutlineLine>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct OutlineLine {
    bytes: Range<usize>,
    /// Line on which the object or list around this one begins.
    parent: Option<usize>,
    /// The object or list that begins on this line and ends on another one.
    container: Option<Container>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Container {
    /// Line of its closing bracket, or the last line if the text was cut before.
    end: usize,
    item_count: usize,
    is_closed: bool,
    is_collapsed_at_first: bool,
}

impl JsonOutline {
    /// Reads valid JSON, or the beginning of it, up to this many lines. Also returns how many bytes were read.
    pub fn read(source: &str, max_lines: usize) -> (Self, usize) {
        let (text, length) = indent_json(source, max_lines);
        let mut lines: Vec<OutlineLine> = Vec::new();
        let mut open: Vec<usize> = Vec::new();
        let mut start = 0;
        for line in text.split('\n') {
            let (index, bytes) = (lines.len(), start..start + line.len());
            start = bytes.end + 1;
            let content = line.trim_start();
            // Only the end of a value of several lines begins with a closing bracket, and only its start ends with an opening one.
            if content.starts_with(['}', ']']) {
                let parent = open.pop().and_then(|begin| {
                    let container = lines[begin].container.as_mut()?;
                    (container.end, container.is_closed) = (index, true);
                    lines[begin].parent
                });
                lines.push(OutlineLine { bytes, parent, container: None });
                continue;
            }
            let parent = open.last().copied();
            if let Some(container) = parent.and_then(|begin| lines[begin].container.as_mut()) {
                container.item_count += usize::from(!content.is_empty());
            }
            let opens = content.ends_with(['{', '[']);
            let container = Container { end: index, item_count: 0, is_closed: false, is_collapsed_at_first: false };
            lines.push(OutlineLine { bytes, parent, container: opens.then_some(container) });
            if opens {
                open.push(index);
            }
        }
        let last_line = lines.len().saturating_sub(1);
        let mut depths = vec![0; lines.len()];
        for index in 0..lines.len() {
            let depth = lines[index].parent.map_or(0, |parent| depths[parent] + 1);
            depths[index] = depth;
            if let Some(container) = &mut lines[index].container {
                container.end = if container.is_closed { container.end } else { last_line };
                container.is_collapsed_at_first =
                    depth >= COLLAPSED_DEPTH || depth > 0 && container.item_count > MAX_EXPANDED_ITEMS;
            }
        }
        (Self { text, lines }, length)
    }

    pub fn line_count(&self) -> usize {
        self.lines.len()
    }

    /// Returns a line without its line break.
    pub fn line(&self, index: usize) -> &str {
        &self.text[self.lines[index].bytes.clone()]
    }

    /// Returns whether an object or list begins on this line and can be collapsed.
    pub fn is_collapsible(&self, index: usize) -> bool {
        self.lines[index].container.is_some()
    }

    /// Returns the line on which the object or list around a line begins.
    pub fn parent(&self, index: usize) -> Option<usize> {
        self.lines[index].parent
    }

    /// Returns for each line whether the object or list that begins on it is collapsed at first, because it is long or deep.
    pub fn collapsed_at_first(&self) -> Vec<bool> {
        let is_collapsed = |line: &OutlineLine| line.container.is_some_and(|found| found.is_collapsed_at_first);
        self.lines.iter().map(is_collapsed).collect()
    }

    /// Returns the visible lines, in order, if the objects and lists that begin on the lines marked in `collapsed` are
    /// collapsed.
    pub fn shown_lines<'a>(&'a self, collapsed: &'a [bool]) -> impl Iterator<Item = usize> + 'a {
        let next = |index: usize| match self.lines[index].container {
            Some(container) if collapsed.get(index) == Some(&true) => container.end + 1,
            Some(_) | None => index + 1,
        };
        std::iter::successors((!self.lines.is_empty()).then_some(0), move |index| {
            Some(next(*index)).filter(|next| *next < self.lines.len())
        })
    }

    /// Returns the one line of a collapsed object or list, such as `"rows": [ … 12 items ],`. Any other line stays as it is.
    pub fn collapsed_line(&self, index: usize) -> String {
        let line = self.line(index);
        let Some(container) = self.lines[index].container else { return line.to_owned() };
        let (name, end) = if line.ends_with('{') { ("key", "}") } else { ("item", "]") };
        let plural = if container.item_count == 1 { "" } else { "s" };
        let comma = if container.is_closed && self.line(container.end).ends_with(',') { "," } else { "" };
        let more = if container.is_closed { "" } else { " or more" };
        format!("{line} … {} {name}{plural}{more} {end}{comma}", container.item_count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn shown_text(outline: &JsonOutline, collapsed: &[bool]) -> Vec<String> {
        let text = |index: usize| match collapsed[index] {
            true => outline.collapsed_line(index),
            false => outline.line(index).to_owned(),
        };
        outline.shown_lines(collapsed).map(text).collect()
    }

    #[test]
    fn long_and_deep_values_are_one_line_at_first() {
        let rows: Vec<String> = (0..101).map(|row| format!("[{row},[]]")).collect();
        let source = format!(r#"{{"rows":[{}],"a":{{"b":{{"c":{{"d":[[]],"e":1}}}}}},"f":2}}"#, rows.join(","));
        let (outline, length) = JsonOutline::read(&source, 10_000);
        assert_eq!(length, source.len());
        let expected = [
            "{",
            "  \"rows\": [ … 101 items ],",
            "  \"a\": {",
            "    \"b\": {",
            "      \"c\": { … 2 keys }",
            "    }",
            "  },",
            "  \"f\": 2",
            "}",
        ];
        assert_eq!(shown_text(&outline, &outline.collapsed_at_first()), expected);
        // The outermost one is never collapsed at first, however long it is.
        let (outline, _) = JsonOutline::read(&format!("[{}]", rows.join(",")), 10_000);
        assert!(!outline.collapsed_at_first()[0]);
    }

    #[test]
    fn a_value_that_is_cut_ends_with_the_last_line() {
        let (outline, _) = JsonOutline::read(r#"{"a":[[[]],[[]],"#, 100);
        let mut collapsed = vec![false; outline.line_count()];
        collapsed[1] = true;
        assert_eq!(shown_text(&outline, &collapsed), ["{", "  \"a\": [ … 2 items or more ]"]);
    }

    #[test]
    fn strings_with_brackets_open_and_close_nothing() {
        let (outline, _) = JsonOutline::read(r#"["] } [", "{", ["x [ {", []]]"#, 100);
        let collapsible: Vec<usize> = (0..outline.line_count()).filter(|line| outline.is_collapsible(*line)).collect();
        assert_eq!(collapsible, [0, 3], "{outline:?}");
        assert_eq!((outline.parent(3), outline.parent(4)), (Some(0), Some(3)));
    }

    proptest! {
        #[test]
        fn each_line_is_shown_once_or_is_inside_a_collapsed_value(
            source in "[\\[\\]{},:\" 1a]{0,60}", marks in prop::collection::vec(any::<bool>(), 0..60), max_lines in 1..40_usize,
        ) {
            let (outline, _) = JsonOutline::read(&source, max_lines);
            let all: Vec<usize> = outline.shown_lines(&[]).collect();
            prop_assert_eq!(&all, &(0..outline.line_count()).collect::<Vec<_>>());
            let shown: Vec<usize> = outline.shown_lines(&marks).collect();
            prop_assert!(shown.is_sorted() && shown.windows(2).all(|pair| pair[0] < pair[1]));
            for line in all {
                let inside_collapsed = std::iter::successors(outline.parent(line), |parent| outline.parent(*parent))
                    .any(|parent| marks.get(parent) == Some(&true));
                // A closing bracket has the parent of its opening one.
                let closes_collapsed = outline.line(line).trim_start().starts_with(['}', ']']) && !shown.contains(&line);
                prop_assert!(shown.contains(&line) != (inside_collapsed || closes_collapsed), "{line}: {shown:?}");
            }
        }
    }
}
