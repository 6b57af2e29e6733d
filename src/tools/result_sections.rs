//! Finds where a long text is best divided: before a heading of Markdown, or before a value of JSON.

use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;
use std::fmt;
use std::ops::Range;

/// Share of an object or array, in percent, from which one of its values is divided instead.
const MAIN_SHARE: usize = 80;
/// Values of an object or array of JSON, above which the text is divided between lines.
const MAX_VALUES: usize = 200_000;
/// Begins the output of some programs.
const BYTE_ORDER_MARK: char = '\u{feff}';
/// Levels of JSON that are looked at.
const MAX_LEVELS: usize = 8;

/// Where a text is best divided.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Sections {
    /// Offsets in bytes of headings, each of which begins a part.
    Headings(Vec<usize>),
    /// Offsets in bytes of the values of a JSON object or array. A part has as many of them as fit.
    Values {
        /// Path of the object or array, as `data.rows`; empty for the whole text.
        path: String,
        is_array: bool,
        offsets: Vec<usize>,
    },
}

impl Sections {
    /// Finds the places within a range of bytes, at most `max_headings` headings: those of the deepest level up to which there
    /// are no more. `None` if the text has no such structure.
    pub fn find(text: &str, range: &Range<usize>, max_headings: usize) -> Option<Self> {
        find_values(text).or_else(|| find_headings(text, range, max_headings))
    }

    /// Describes what begins at an offset, if the text there does not: the path of a value.
    pub fn describe(&self, offset: usize) -> Option<String> {
        let Self::Values { path, is_array, offsets } = self else { return None };
        let index = offsets.binary_search(&offset).ok()?;
        match is_array {
            true => Some(format!("{path}[{index}]")),
            false => Some(path.clone()).filter(|path| !path.is_empty()),
        }
    }
}

/// Members of a JSON object, or items of an array, whose names are empty. In order, and at most [`MAX_VALUES`].
struct Members<'a>(Vec<(String, &'a RawValue)>);

impl<'a> Members<'a> {
    fn push<E: serde::de::Error>(&mut self, name: String, value: &'a RawValue) -> Result<(), E> {
        self.0.push((name, value));
        match self.0.len() > MAX_VALUES {
            true => Err(E::custom("too many values")),
            false => Ok(()),
        }
    }
}

impl<'de> Deserialize<'de> for Members<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct MembersVisitor;
        impl<'de> Visitor<'de> for MembersVisitor {
            type Value = Members<'de>;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("an object or array")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut members = Members(Vec::new());
                while let Some((name, value)) = map.next_entry()? {
                    members.push(name, value)?;
                }
                Ok(members)
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Self::Value, A::Error> {
                let mut members = Members(Vec::new());
                while let Some(value) = items.next_element()? {
                    members.push(String::new(), value)?;
                }
                Ok(members)
            }
        }
        deserializer.deserialize_any(MembersVisitor)
    }
}

/// Finds the values of the object or array that has most of a JSON text.
fn find_values(text: &str) -> Option<Sections> {
    let trimmed = text.trim_matches(|c: char| c.is_whitespace() || c == BYTE_ORDER_MARK);
    if !trimmed.starts_with(['{', '[']) {
        return None;
    }
    let offset_of = |part: &str| part.as_ptr() as usize - text.as_ptr() as usize;
    let (mut value, mut path) = (trimmed, String::new());
    for level in 1..=MAX_LEVELS {
        let is_array = value.starts_with('[');
        let members = serde_json::from_str::<Members<'_>>(value).ok()?.0;
        let main = members.iter().enumerate().find(|(_, (_, member))| {
            member.get().len() * 100 >= value.len() * MAIN_SHARE && member.get().starts_with(['{', '['])
        });
        if let Some((index, (key, member))) = main
            && level < MAX_LEVELS
        {
            match is_array {
                true => path.push_str(&format!("[{index}]")),
                false if path.is_empty() => path.push_str(key),
                false => path.push_str(&format!(".{key}")),
            }
            value = member.get();
            continue;
        }
        // A value of an object begins with its name.
        let mut end = offset_of(value) + 1;
        let offsets = members.iter().map(|(_, member)| {
            let start = offset_of(member.get());
            let name = text[end..start].find('"').filter(|_| !is_array);
            let offset = name.map_or(start, |name| end + name);
            end = start + member.get().len();
            offset
        });
        let offsets: Vec<usize> = offsets.collect();
        return Some(Sections::Values { path, is_array, offsets }).filter(|_| !members.is_empty());
    }
    None
}

/// Finds the headings of Markdown outside code, in a range of bytes.
fn find_headings(text: &str, range: &Range<usize>, max_headings: usize) -> Option<Sections> {
    let (mut headings, mut offset, mut fence) = (Vec::new(), 0, None);
    for line in text.split_inclusive('\n') {
        let trimmed = line.trim_start();
        let opened = ["```", "~~~"].into_iter().find(|mark| trimmed.starts_with(mark));
        match (fence, opened) {
            (None, Some(mark)) => fence = Some(mark),
            (Some(open), Some(mark)) if open == mark => fence = None,
            (None, None) if line.starts_with('#') && (range.start + 1..range.end).contains(&offset) => {
                let level = line.bytes().take_while(|byte| *byte == b'#').count();
                if level <= 6 && line[level..].starts_with([' ', '\t']) {
                    headings.push((offset, level));
                }
            }
            _ => {}
        }
        offset += line.len();
    }
    let count = |level: usize| headings.iter().filter(|(_, found)| *found <= level).count();
    let level = (1..=6).rev().find(|level| (1..=max_headings).contains(&count(*level)))?;
    let offsets = headings.iter().filter(|(_, found)| *found <= level).map(|(offset, _)| *offset);
    Some(Sections::Headings(offsets.collect()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn find(text: &str) -> Option<Sections> {
        Sections::find(text, &(0..text.len()), 3)
    }

    /// The text at the offsets, up to a limit.
    fn beginnings<'a>(text: &'a str, sections: &Sections) -> Vec<&'a str> {
        let (Sections::Headings(offsets) | Sections::Values { offsets, .. }) = sections;
        offsets.iter().map(|offset| text[*offset..].lines().next().unwrap_or_default()).collect()
    }

    #[test]
    fn the_values_of_the_largest_part_of_json_are_found() {
        let text = r#" {"count": 2, "data": {"rows": [{"id": 1, "text": "ééééééééééééééééééééééé"},  {"id": 2, "text": "bbbbbbbbbbbb"}]}} "#;
        let sections = find(text).unwrap();
        let Sections::Values { path, is_array, offsets } = &sections else { panic!("{sections:?}") };
        assert_eq!((path.as_str(), *is_array, offsets.len()), ("data.rows", true, 2));
        assert!(text[offsets[0]..].starts_with("{\"id\": 1") && text[offsets[1]..].starts_with("{\"id\": 2"));
        assert_eq!(sections.describe(offsets[1]).as_deref(), Some("data.rows[1]"));
        assert_eq!(sections.describe(offsets[1] + 1), None);
        let text = "{\n  \"a\": [1, 2],\n  \"b,\\\"\": {\"x\": 3},\n  \"c\": \"4\"\n}";
        let sections = find(text).unwrap();
        assert_eq!(beginnings(text, &sections), ["\"a\": [1, 2],", "\"b,\\\"\": {\"x\": 3},", "\"c\": \"4\""]);
        let Sections::Values { offsets, .. } = &sections else { panic!("{sections:?}") };
        assert_eq!(sections.describe(offsets[0]), None, "its name is there");
        assert!(matches!(find("\u{feff}[1, 2]"), Some(Sections::Values { .. })));
        for text in ["{}", "[]", "{\"a\": 1", "[1] 2", "[text]", "{ text }", ""] {
            assert_eq!(find(text), None, "{text}");
        }
        assert_eq!(
            find(&format!("[1{}]", ",1".repeat(MAX_VALUES))),
            None,
            "their offsets would take more than the text"
        );
        // The parser keeps values as text, so nesting needs no stack.
        let deep = format!("{}1{}", "[".repeat(100_000), "]".repeat(100_000));
        assert!(matches!(find(&deep), Some(Sections::Values { .. })));
    }

    #[test]
    fn headings_outside_code_are_found_up_to_a_level_with_few() {
        let text =
            "# One\ntext\n```\n# code\n```\n## Two\n#no heading\n####### neither\n## Three\n### Deep\n### Deeper\n";
        assert_eq!(beginnings(text, &find(text).unwrap()), ["## Two", "## Three"]);
        let all = Sections::find(text, &(0..text.len()), 9).unwrap();
        assert_eq!(beginnings(text, &all), ["## Two", "## Three", "### Deep", "### Deeper"]);
        let end = text.find("## Three").unwrap();
        assert_eq!(beginnings(text, &Sections::find(text, &(0..end), 9).unwrap()), ["## Two"]);
        assert_eq!(find("# A\n# B\n# C\n# D\n# E\n"), None, "more than the limit on the first level");
        assert_eq!(find("no heading\nat all"), None);
    }
}
