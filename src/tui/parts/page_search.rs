//! Search in the text of a page.

use crate::text::width::fit_end;
use ratatui::text::Line;

/// Cells of the search text that are shown, its end: with the number of matches they fit on a screen of 60 columns.
const MAX_QUERY_CELLS: usize = 28;

/// An open search: its text, and the line of the page with the current match.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PageSearch {
    pub query: String,
    /// Line of the current match, or of the last one if the text has none.
    line: Option<usize>,
    /// Lines with a match; `None` before the first search.
    matching_lines: Option<Vec<usize>>,
}

/// Line at which a search goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SearchStep {
    /// At the current match if it still matches, or else below it.
    Stay,
    Next,
    Previous,
}

impl PageSearch {
    /// Returns the line of the nearest match in this direction, wrapping around. Without a current match the search begins at
    /// the line `top`.
    pub fn find_line(&mut self, lines: &[Line<'_>], step: SearchStep, top: usize) -> Option<usize> {
        let query = self.query.to_lowercase();
        if query.is_empty() || lines.is_empty() {
            (self.line, self.matching_lines) = (None, None);
            return None;
        }
        let is_match = |line: &usize| lines[*line].to_string().to_lowercase().contains(&query);
        let matching: Vec<usize> = (0..lines.len()).filter(is_match).collect();
        let first_from = |start: usize| matching.iter().find(|line| **line >= start).or(matching.first());
        let last_before = |end: usize| matching.iter().rfind(|line| **line < end).or(matching.last());
        let found = match (self.line, step) {
            (None, SearchStep::Stay | SearchStep::Next) => first_from(top),
            (None, SearchStep::Previous) => last_before(top + 1),
            (Some(line), SearchStep::Stay) => first_from(line),
            (Some(line), SearchStep::Next) => first_from(line + 1),
            (Some(line), SearchStep::Previous) => last_before(line),
        };
        let found = found.copied();
        self.line = found.or(self.line);
        self.matching_lines = Some(matching);
        found
    }

    /// Returns the line of the page with the current match.
    pub fn current_line(&self) -> Option<usize> {
        self.line.filter(|line| self.matching_lines.as_ref().is_some_and(|lines| lines.contains(line)))
    }

    /// Returns rows of hints for the border of the page, longest first.
    pub fn hints(&self) -> Vec<String> {
        let text = format!("search: {}▏", fit_end(&self.query, MAX_QUERY_CELLS));
        let count = self.matching_lines.as_ref().map_or(0, Vec::len);
        let place = self.current_line().and_then(|line| self.matching_lines.as_ref()?.binary_search(&line).ok());
        match (place, &self.matching_lines) {
            (Some(place), _) => {
                let text = format!("{text} ({} of {count} lines)", place + 1);
                let [keys, next] =
                    if count > 1 { [" · enter next · ↑ previous", " · enter next"] } else { [""; 2] };
                let with_keys = |keys: &str| format!("{text}{keys} · esc end search");
                vec![with_keys(keys), with_keys(next), with_keys(""), text]
            }
            (None, Some(_)) => vec![format!("{text} (not found) · esc end search"), format!("{text} (not found)")],
            (None, None) => vec![format!("{text} · esc end search"), text],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn matches_are_found_in_both_directions_and_around_the_end() {
        let lines: Vec<Line<'_>> = ["one", "Two", "three two", "four"].map(Line::from).to_vec();
        let mut search = PageSearch { query: "two".into(), ..PageSearch::default() };
        assert_eq!(search.hints()[0], "search: two▏ · esc end search");
        let mut find = |step| search.find_line(&lines, step, 2);
        assert_eq!(find(SearchStep::Stay), Some(2));
        assert_eq!(find(SearchStep::Stay), Some(2));
        assert_eq!(find(SearchStep::Next), Some(1));
        assert_eq!(find(SearchStep::Previous), Some(2));
        assert_eq!(find(SearchStep::Previous), Some(1));
        assert_eq!(search.hints()[0], "search: two▏ (1 of 2 lines) · enter next · ↑ previous · esc end search");
        search.query = "four".into();
        assert_eq!(search.find_line(&lines, SearchStep::Stay, 0), Some(3));
        assert_eq!(search.hints()[0], "search: four▏ (1 of 1 lines) · esc end search");
        search.query = "twox".into();
        assert_eq!(search.find_line(&lines, SearchStep::Stay, 0), None);
        assert_eq!(search.hints()[0], "search: twox▏ (not found) · esc end search");
        assert_eq!(search.current_line(), None);
        search.query = "a text of which only the end fits".into();
        assert_eq!(search.find_line(&lines, SearchStep::Stay, 0), None);
        assert_eq!(search.hints()[1], "search: … of which only the end fits▏ (not found)");
        search.query.clear();
        assert_eq!(search.find_line(&lines, SearchStep::Next, 0), None);
        search.query = "x".into();
        assert_eq!(search.find_line(&[], SearchStep::Previous, 0), None);
    }
}
