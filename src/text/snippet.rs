//! Chooses the part of a passage that shows why it was found.

use std::ops::Range;

/// Characters shown before the first found word of a long line.
const CONTEXT_CHARS: usize = 40;
/// Maximum bytes of a line that are compared.
const MAX_LINE_BYTES: usize = 8 << 10;

/// Part of a passage.
#[derive(Debug, PartialEq, Eq)]
pub struct Snippet {
    /// Number of lines of the passage before it.
    pub line: usize,
    /// Its text in one line. `…` marks omitted text. Not cleaned.
    pub text: String,
}

/// Returns the part of a passage that begins at the line with the most of the stems, at most `max_chars` characters. A heading
/// is skipped, because it is shown anyway, unless there is nothing below it.
pub fn choose_snippet(passage: &str, heading: &str, stems: &[String], max_chars: usize) -> Snippet {
    let lines: Vec<&str> = passage.split('\n').collect();
    let is_text = |line: &str| {
        let text = line.trim();
        // A line without a letter underlines a heading or separates parts of a table.
        text.chars().any(char::is_alphanumeric) && (heading.is_empty() || plain_text(text) != plain_text(heading))
    };
    let candidates = || lines.iter().enumerate().filter(|(_, line)| is_text(line));
    let count_hits = |line: &str| {
        let lower = lower_beginning(line);
        stems.iter().filter(|stem| find_stem(&lower, stem).is_some()).count()
    };
    // Of equal lines the first.
    let best = candidates().map(|(index, line)| (count_hits(line), std::cmp::Reverse(index))).max();
    let Some((_, std::cmp::Reverse(line))) = best else {
        let line = lines.iter().position(|line| !line.trim().is_empty()).unwrap_or(0);
        return Snippet { line, text: shorten(lines[line].split_whitespace(), max_chars, false) };
    };
    let start = first_shown_byte(lines[line], stems, max_chars);
    let following = lines[line + 1..].iter().flat_map(|line| line.split_whitespace());
    let words = lines[line][start..].split_whitespace().chain(following);
    Snippet { line, text: shorten(words, max_chars, start > 0) }
}

/// Joins words by spaces, up to a number of characters.
fn shorten<'a>(words: impl Iterator<Item = &'a str>, max_chars: usize, has_omission: bool) -> String {
    let mut text = if has_omission { "…".to_owned() } else { String::new() };
    let mut count = text.chars().count();
    // Marks of lists and tables say nothing in one line.
    for word in words.filter(|word| !word.chars().all(|c| "|-:*+=".contains(c))) {
        let space = usize::from(count > usize::from(has_omission));
        let length = word.chars().take(max_chars).count();
        if count + space + length > max_chars.saturating_sub(1) {
            let rest = max_chars.saturating_sub(1).saturating_sub(count + space);
            // A word longer than the snippet is cut.
            if length > max_chars / 2 && rest > 0 {
                text.extend((space > 0).then_some(' '));
                text.extend(word.chars().take(rest));
            }
            text.push('…');
            return text;
        }
        text.extend((space > 0).then_some(' '));
        text.push_str(word);
        count += space + length;
    }
    text
}

/// Returns where the shown part of a line begins: shortly before the first stem if that is not near the beginning.
fn first_shown_byte(line: &str, stems: &[String], max_chars: usize) -> usize {
    let lower = lower_beginning(line);
    let first = stems.iter().filter_map(|stem| find_stem(&lower, stem)).map(|range| range.start).min().unwrap_or(0);
    let chars_before = lower[..first].chars().count();
    if chars_before + CONTEXT_CHARS <= max_chars {
        return 0;
    }
    // Lower case may have other bytes, so the position is taken by characters.
    let start = line.char_indices().nth(chars_before.saturating_sub(CONTEXT_CHARS)).map_or(0, |(start, _)| start);
    let after_space = line[start..].find(char::is_whitespace).map_or(start, |space| start + space);
    if line[start..after_space].chars().count() > CONTEXT_CHARS { start } else { after_space }
}

fn lower_beginning(line: &str) -> String {
    line[..line.floor_char_boundary(MAX_LINE_BYTES)].to_lowercase()
}

/// Finds a stem at the beginning of a word; of a script without spaces anywhere.
fn find_stem(lower: &str, stem: &str) -> Option<Range<usize>> {
    let is_start = |position: usize| {
        let before = lower[..position].chars().next_back();
        !stem.is_ascii() || before.is_none_or(|c| !c.is_alphanumeric())
    };
    let found = lower.match_indices(stem).find(|(position, _)| is_start(*position));
    found.map(|(position, text)| position..position + text.len())
}

/// Returns the letters and digits of a line.
fn plain_text(line: &str) -> String {
    line.chars().filter(|c| c.is_alphanumeric()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn choose(passage: &str, heading: &str, stems: &[&str]) -> (usize, String) {
        let stems: Vec<String> = stems.iter().map(|stem| (*stem).to_owned()).collect();
        let Snippet { line, text } = choose_snippet(passage, heading, &stems, 60);
        (line, text)
    }

    #[test]
    fn the_line_with_most_stems_is_shown_and_not_the_heading() {
        let passage = "## The proxy\n\nNo match.\nA Proxy needs a  setting.\nMore.\n";
        assert_eq!(choose(passage, "The proxy", &["prox", "sett"]), (3, "A Proxy needs a setting. More.".to_owned()));
        assert_eq!(
            choose(passage, "The proxy", &["other"]),
            (2, "No match. A Proxy needs a setting. More.".to_owned())
        );
        assert_eq!(choose("# Only\n", "Only", &["only"]), (0, "# Only".to_owned()));
        assert_eq!(choose("", "", &["x"]), (0, String::new()));
        assert_eq!(choose("unproxy\nproxies\n", "", &["prox"]), (1, "proxies".to_owned()));
        assert_eq!(choose("前後\n中配置\n", "", &["配置"]), (1, "中配置".to_owned()));
    }

    #[test]
    fn long_lines_are_shown_around_the_first_stem() {
        let line = format!("{}the proxy is here and {}", "filler ".repeat(50), "more ".repeat(50));
        let (_, text) = choose(&line, "", &["prox"]);
        assert!(text.starts_with('…') && text.ends_with('…') && text.contains("the proxy"), "{text}");
        let (_, text) = choose(&"x".repeat(10_000), "", &["x"]);
        assert!(text.chars().count() <= 60 && text.starts_with("xxx"), "{text}");
    }

    proptest! {
        #[test]
        fn any_passage_has_a_short_snippet_of_one_of_its_lines(
            passage in "(\\PC|[ \n\tİßa漢]){0,400}", heading in "[a#]{0,5}", stems in proptest::collection::vec("[aß漢]{1,3}", 0..4),
        ) {
            let snippet = choose_snippet(&passage, &heading, &stems, 60);
            prop_assert!(snippet.text.chars().count() <= 60 && !snippet.text.contains('\n'), "{:?}", snippet);
            prop_assert!(snippet.line < passage.split('\n').count());
        }
    }
}
