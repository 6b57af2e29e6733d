//! Files that a user message names: `@path`, `@path:12`, `@path:12-30`, or in quotes if the path has blanks: `@"a path"`,
//! `@"a path:12"`, `@"a path":12`.

use super::attachments::own_text;
use crate::text::word_edges::{is_closing_sign, is_word_start};
use std::borrow::Cow;
use std::ops::RangeInclusive;

/// A file named in a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mention<'a> {
    /// Path, or address of a workspace, as written.
    pub name: &'a str,
    /// Lines, from 1.
    pub lines: Option<RangeInclusive<usize>>,
    /// The name with its lines, without quotes.
    pub text: Cow<'a, str>,
}

/// Returns the files that the user's own text of a message names, in order, each once.
pub fn find_mentions(message: &str) -> Vec<Mention<'_>> {
    // The text of an attached resource must not name files of the user.
    let text = own_text(message);
    let mut mentions: Vec<Mention<'_>> = Vec::new();
    let mut position = 0;
    while let Some(found) = text[position..].find('@') {
        let sign = position + found;
        let after = &text[sign + 1..];
        let quoted =
            after.strip_prefix('"').and_then(|rest| rest.split_once('"')).filter(|(name, _)| !name.contains('\n'));
        let mut lines_after = "";
        let (written, end) = match quoted {
            Some((name, rest)) => {
                lines_after = lines_prefix(rest);
                (name, sign + name.len() + lines_after.len() + 3)
            }
            None => {
                let word = after.split(char::is_whitespace).next().unwrap_or_default();
                (word.trim_end_matches(is_closing_sign), sign + 1 + word.len())
            }
        };
        if is_word_start(text, sign) && !written.is_empty() {
            let mention = Mention::parse(written).with_lines(lines_after);
            if !mentions.contains(&mention) {
                mentions.push(mention);
            }
            position = end;
        } else {
            position = sign + 1;
        }
    }
    mentions
}

impl<'a> Mention<'a> {
    fn parse(text: &'a str) -> Self {
        let lines = text.rsplit_once(':').and_then(|(name, lines)| Some((name, parse_lines(lines)?)));
        match lines.filter(|(name, _)| !name.is_empty()) {
            Some((name, lines)) => Self { name, lines: Some(lines), text: text.into() },
            None => Self { name: text, lines: None, text: text.into() },
        }
    }

    /// Adds lines written after the quotes, such as `:12-30`, unless the name has lines.
    fn with_lines(self, text: &str) -> Self {
        match text.strip_prefix(':').and_then(parse_lines).filter(|_| self.lines.is_none()) {
            Some(lines) => Self { lines: Some(lines), text: format!("{}{text}", self.name).into(), ..self },
            None => self,
        }
    }
}

/// Returns the lines at the start of a text, such as `:12-30`; empty if there are none.
fn lines_prefix(text: &str) -> &str {
    let end = text.find(|c: char| c != ':' && c != '-' && !c.is_ascii_digit()).unwrap_or(text.len());
    let lines = text[..end].trim_end_matches(['-', ':']);
    if lines.strip_prefix(':').and_then(parse_lines).is_some() { lines } else { "" }
}

/// Parses `12` or `12-30`.
fn parse_lines(text: &str) -> Option<RangeInclusive<usize>> {
    let parse = |number: &str| number.bytes().all(|c| c.is_ascii_digit()).then(|| number.parse().ok()).flatten();
    let (first, last): (usize, usize) = match text.split_once('-') {
        Some((first, last)) => (parse(first)?, parse(last)?),
        None => (parse(text)?, parse(text)?),
    };
    (first > 0 && first <= last).then_some(first..=last)
}

/// Returns whether a mention writes this path in quotes, because the mention would end before the path otherwise.
pub fn needs_quotes(path: &str) -> bool {
    (path.contains(char::is_whitespace) || path.ends_with(is_closing_sign)) && !path.contains('"')
}

/// Writes a path as a mention. `None` if no mention can name this path.
pub fn write_mention(path: &str) -> Option<String> {
    let written = if needs_quotes(path) { format!("@\"{path}\"") } else { format!("@{path}") };
    let is_same = matches!(&*find_mentions(&written), [mention] if mention.text == path && mention.lines.is_none());
    is_same.then_some(written)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_mentions(message: &str, expected: &[(&str, Option<(usize, usize)>)]) {
        let mentions = find_mentions(message);
        let found: Vec<_> = mentions
            .iter()
            .map(|mention| (mention.name, mention.lines.as_ref().map(|lines| (*lines.start(), *lines.end()))))
            .collect();
        assert_eq!(found, expected, "{message}");
    }

    #[test]
    fn finds_files_and_lines() {
        check_mentions(
            "see @src/main.rs, (@a.rs:12) and `@b/c.rs:3-9`.",
            &[("src/main.rs", None), ("a.rs", Some((12, 12))), ("b/c.rs", Some((3, 9)))],
        );
        check_mentions(
            "@\"a b.md\" and @\"c d.md:4-5\", @\"e\"",
            &[("a b.md", None), ("c d.md", Some((4, 5))), ("e", None)],
        );
        check_mentions(
            "@\"a b\":2, @\"a b\":3-4: @\"a b\":0 @\"a b:1\":2 @\"a\":x",
            &[("a b", Some((2, 2))), ("a b", Some((3, 4))), ("a b", None), ("a b", Some((1, 1))), ("a", None)],
        );
        assert_eq!(find_mentions("@\"a b\":3-4.")[0].text, "a b:3-4");
        check_mentions(
            "@src/ @docs:guide://a/b @workspace:///q1.md:2",
            &[("src/", None), ("docs:guide://a/b", None), ("workspace:///q1.md", Some((2, 2)))],
        );
        check_mentions("@a @a @a:1", &[("a", None), ("a", Some((1, 1)))]);
        check_mentions("@漢/字.rs:7", &[("漢/字.rs", Some((7, 7)))]);
    }

    #[test]
    fn other_signs_name_no_file_and_wrong_lines_belong_to_the_name() {
        for plain in ["me@example.com", "@", "@ a", "a@b", "@@", "@\"\"", "(@)", ""] {
            let expected: &[_] = if plain == "@@" { &[("@", None)] } else { &[] };
            check_mentions(plain, expected);
        }
        check_mentions("@a:0 @a:9-3 @a:x @a:1-", &[("a:0", None), ("a:9-3", None), ("a:x", None), ("a:1-", None)]);
        check_mentions("@\"not closed", &[("\"not", None)]);
    }

    #[test]
    fn a_written_path_is_found_again_or_refused() {
        for path in ["a.rs", "a b", "dir with blank/", "odd).", "漢字", "a'b", "~/x"] {
            let written = write_mention(path).unwrap();
            check_mentions(&format!("see {written} now"), &[(path, None)]);
        }
        for path in ["a\" b", "a\nb", "a:12", "a\"", ""] {
            assert_eq!(write_mention(path), None, "{path}");
        }
    }
}
