//! Fuzzy filter for rows, with the matched characters.

use nucleo_matcher::pattern::{AtomKind, CaseMatching, Normalization, Pattern};
use nucleo_matcher::{Config, Matcher, Utf32Str};
use ratatui::style::Style;
use ratatui::text::Span;
use std::cmp::Reverse;
use unicode_segmentation::UnicodeSegmentation;

/// A fuzzy filter. Words match in any order; lower case matches upper case too.
pub struct Filter {
    pattern: Pattern,
    matcher: Matcher,
    char_buffer: Vec<char>,
}

impl Filter {
    /// Creates a filter for names and titles.
    pub fn new(typed: &str) -> Self {
        Self::with_config(typed, Config::DEFAULT)
    }

    /// Creates a filter for paths: the character after a `/` starts a word.
    pub fn for_paths(typed: &str) -> Self {
        Self::with_config(typed, Config::DEFAULT.match_paths())
    }

    fn with_config(typed: &str, config: Config) -> Self {
        let pattern = Pattern::new(typed, CaseMatching::Smart, Normalization::Smart, AtomKind::Fuzzy);
        Self { pattern, matcher: Matcher::new(config), char_buffer: Vec::new() }
    }

    /// Returns the indices of matching rows, best first. Rows with equal scores keep their order. An empty filter
    /// matches all rows.
    pub fn matching_rows<'a>(&mut self, rows: impl Iterator<Item = &'a str>) -> Vec<usize> {
        let mut scored: Vec<(usize, u32)> =
            rows.enumerate().filter_map(|(index, row)| Some((index, self.match_score(row)?))).collect();
        scored.sort_by_key(|(_, score)| Reverse(*score));
        scored.into_iter().map(|(index, _)| index).collect()
    }

    /// Returns the indices of the matched graphemes in ascending order.
    pub fn matched_graphemes(&mut self, text: &str) -> Vec<usize> {
        let mut indices = Vec::new();
        let text = Utf32Str::new(text, &mut self.char_buffer);
        if self.pattern.indices(text, &mut self.matcher, &mut indices).is_none() {
            return Vec::new();
        }
        indices.sort_unstable();
        indices.dedup();
        indices.into_iter().map(|index| index as usize).collect()
    }

    fn match_score(&mut self, text: &str) -> Option<u32> {
        self.pattern.score(Utf32Str::new(text, &mut self.char_buffer), &mut self.matcher)
    }
}

/// Converts the indices of matched graphemes of a text to those of its shortened form, in which one `…` replaces a part.
/// Matches in that part are left out.
pub fn matches_in_shortened(text: &str, shown: &str, matched: &[usize]) -> Vec<usize> {
    if text == shown {
        return matched.to_vec();
    }
    let (length, shown_length) = (text.graphemes(true).count(), shown.graphemes(true).count());
    let kept_start = text.graphemes(true).zip(shown.graphemes(true)).take_while(|(a, b)| a == b).count();
    let end_start = length - shown_length.saturating_sub(kept_start + 1).min(length);
    let place = |index: &usize| match *index {
        index if index < kept_start => Some(index),
        index if index >= end_start => (index + shown_length).checked_sub(length),
        _ => None,
    };
    matched.iter().filter_map(place).collect()
}

/// Returns a text whose matched graphemes have the style `match_style`.
pub fn highlight_matches(text: &str, matched: &[usize], style: Style, match_style: Style) -> Vec<Span<'static>> {
    let mut spans: Vec<Span<'static>> = Vec::new();
    let mut was_match = None;
    for (index, grapheme) in text.graphemes(true).enumerate() {
        let is_match = matched.binary_search(&index).is_ok();
        match (spans.last_mut(), was_match == Some(is_match)) {
            (Some(span), true) => span.content.to_mut().push_str(grapheme),
            _ => {
                let style = if is_match { style.patch(match_style) } else { style };
                spans.push(Span::styled(grapheme.to_owned(), style));
            }
        }
        was_match = Some(is_match);
    }
    spans
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_filter(typed: &str, rows: &[&str], expected: &[&str]) {
        let matched = Filter::new(typed).matching_rows(rows.iter().copied());
        assert_eq!(matched.into_iter().map(|index| rows[index]).collect::<Vec<_>>(), expected, "{typed}");
    }

    #[test]
    fn the_best_match_is_first_and_ties_keep_their_order() {
        check_filter("", &["b", "a"], &["b", "a"]);
        check_filter("main", &["src/domain.rs", "src/main.rs", "README"], &["src/main.rs", "src/domain.rs"]);
        check_filter("retry fix", &["fix the retry", "fix the test"], &["fix the retry"]);
        check_filter("same", &["same", "same"], &["same", "same"]);
        check_filter("zzz", &["a"], &[]);
    }

    #[test]
    fn matcher_operators_are_matched_literally() {
        check_filter("!a", &["a", "!a"], &["!a"]);
        check_filter("^a", &["a", "^a"], &["^a"]);
        check_filter("'a", &["a", "'a"], &["'a"]);
        check_filter("a$", &["ba", "a$b"], &["a$b"]);
        check_filter("$", &["ba", "a$b"], &["a$b"]);
    }

    #[test]
    fn matches_keep_their_characters_in_a_shortened_text() {
        for (shown, expected) in [
            ("src/tui/main.rs", "stmr"),
            ("src/…/main.rs", "smr"),
            ("…i/main.rs", "mr"),
            ("src/tui/ma…", "stm"),
            ("…s", ""),
            ("…", ""),
            ("", ""),
        ] {
            let mapped = matches_in_shortened("src/tui/main.rs", shown, &[0, 4, 8, 13]);
            let marked: String = mapped.iter().map(|index| shown.graphemes(true).nth(*index).unwrap()).collect();
            assert_eq!(marked, expected, "{shown}");
        }
    }

    #[test]
    fn matched_graphemes_are_returned() {
        assert_eq!(Filter::for_paths("mr").matched_graphemes("src/main.rs"), [4, 9]);
        assert_eq!(Filter::new("é").matched_graphemes("cafe\u{301} é"), [5]);
        assert_eq!(Filter::new("x").matched_graphemes("abc"), [0usize; 0]);
    }
}
