//! Search in the text of a page.

use ratatui::text::Line;

/// An open search: its text, and the line of the page with the current match.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PageSearch {
    pub query: String,
    line: Option<usize>,
    has_no_match: bool,
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
            (self.line, self.has_no_match) = (None, false);
            return None;
        }
        let count = lines.len();
        let start = match (self.line, step) {
            (None, _) => top,
            (Some(line), SearchStep::Stay) => line,
            (Some(line), SearchStep::Next) => line + 1,
            (Some(line), SearchStep::Previous) => line + count - 1,
        };
        let place = |distance: usize| match step {
            SearchStep::Previous => (start + count - distance) % count,
            SearchStep::Stay | SearchStep::Next => (start + distance) % count,
        };
        let is_match = |line: &usize| lines[*line].to_string().to_lowercase().contains(&query);
        let found = (0..count).map(place).find(is_match);
        self.has_no_match = found.is_none();
        self.line = found.or(self.line);
        found
    }

    /// Returns rows of hints for the border of the page, longest first.
    pub fn hints(&self) -> Vec<String> {
        let suffix = if self.has_no_match { " (not found)" } else { "" };
        let text = format!("search: {}▏{suffix}", self.query);
        vec![format!("{text} · ↑↓ other matches · esc end search"), format!("{text} · esc end search"), text]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn matches_are_found_in_both_directions_and_around_the_end() {
        let lines: Vec<Line<'_>> = ["one", "Two", "three two", "four"].map(Line::from).to_vec();
        let mut search = PageSearch { query: "two".into(), ..PageSearch::default() };
        let mut find = |step| search.find_line(&lines, step, 2);
        assert_eq!(find(SearchStep::Stay), Some(2));
        assert_eq!(find(SearchStep::Stay), Some(2));
        assert_eq!(find(SearchStep::Next), Some(1));
        assert_eq!(find(SearchStep::Previous), Some(2));
        assert_eq!(find(SearchStep::Previous), Some(1));
        search.query = "twox".into();
        assert_eq!(search.find_line(&lines, SearchStep::Stay, 0), None);
        assert!(search.hints()[0].starts_with("search: twox▏ (not found)"), "{:?}", search.hints());
        search.query.clear();
        assert_eq!(search.find_line(&lines, SearchStep::Next, 0), None);
        search.query = "x".into();
        assert_eq!(search.find_line(&[], SearchStep::Previous, 0), None);
    }
}
