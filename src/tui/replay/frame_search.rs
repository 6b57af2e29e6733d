//! Search in the text of all frames.

use crate::recording::frames::{Frame, Run};
use std::collections::HashMap;
use std::sync::Arc;

/// Returns the text of a row, with blanks between its runs.
pub(super) fn row_text(runs: &[Run]) -> String {
    let mut text = String::new();
    let mut column = 0;
    for run in runs {
        text.extend(std::iter::repeat_n(' ', usize::from(run.column.saturating_sub(column))));
        text.push_str(&run.text);
        column = run.column + run.width;
    }
    text
}

/// A text that was searched, and the frames in which it appears.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FrameSearch {
    query: String,
    /// Whether each frame has the text.
    matches: Vec<bool>,
}

impl FrameSearch {
    /// Searches all frames, whatever the case. An empty text is in none.
    pub fn new(query: &str, frames: &[Frame]) -> Self {
        let query = query.to_lowercase();
        // Frames share their equal rows.
        let mut known: HashMap<*const Vec<Run>, bool> = HashMap::new();
        let mut has_match = |row: &Arc<Vec<Run>>| {
            *known.entry(Arc::as_ptr(row)).or_insert_with(|| row_text(row).to_lowercase().contains(&query))
        };
        let matches = match query.is_empty() {
            true => vec![false; frames.len()],
            false => frames.iter().map(|frame| frame.rows.iter().any(&mut has_match)).collect(),
        };
        Self { query, matches }
    }

    /// Returns the text, in lower case.
    pub fn query(&self) -> &str {
        &self.query
    }

    /// Returns whether a frame has the text.
    pub fn has_match(&self, frame: usize) -> bool {
        self.matches.get(frame).copied().unwrap_or_default()
    }

    /// Returns whether the text appears at this frame: it is not in the one before.
    fn appears_at(&self, frame: usize) -> bool {
        self.has_match(frame) && !(frame > 0 && self.has_match(frame - 1))
    }

    /// Returns the number of places at which the text appears, up to this frame and in all frames.
    pub fn count_places(&self, frame: usize) -> (usize, usize) {
        let places = || (0..self.matches.len()).filter(|index| self.appears_at(*index));
        (places().take_while(|index| *index <= frame).count(), places().count())
    }

    /// Returns the next frame, or the one before, at which the text appears. Goes on at the other end.
    pub fn find(&self, frame: usize, is_forward: bool) -> Option<usize> {
        let appears = |index: &usize| self.appears_at(*index);
        let count = self.matches.len();
        match is_forward {
            true => (frame + 1..count).chain(0..count.min(frame + 1)).find(appears),
            false => (0..frame.min(count)).rev().chain((frame.min(count)..count).rev()).find(appears),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recording::cast_reader::Recording;
    use crate::recording::frames::Frames;

    #[test]
    fn a_text_is_found_where_it_appears() {
        let header = r#"{"version":2,"width":20,"height":2}"#;
        let texts = ["start", "find Me", "find me too", "gone", "x  \\u001b[31mfind\\u001b[44m me"];
        let lines: String = (0..)
            .zip(texts)
            .map(|(second, text)| format!("[{second}, \"o\", \"\\u001b[0m\\u001b[2J\\u001b[H{text}\"]\n"))
            .collect();
        let frames = Frames::play(&Recording::parse(&format!("{header}\n{lines}")).unwrap()).unwrap().frames;
        assert_eq!(row_text(&frames[4].rows[0]), "x  find me");
        let search = FrameSearch::new("FIND me", &frames);
        assert_eq!([0, 1, 2, 3, 4].map(|frame| search.has_match(frame)), [false, true, true, false, true]);
        assert_eq!([0, 1, 2, 3, 4].map(|frame| search.find(frame, true)), [1, 4, 4, 4, 1].map(Some));
        assert_eq!([0, 1, 2, 3, 4].map(|frame| search.find(frame, false)), [4, 4, 1, 1, 1].map(Some));
        assert_eq!([0, 1, 2, 3, 4].map(|frame| search.count_places(frame)), [0, 1, 1, 1, 2].map(|place| (place, 2)));
        assert_eq!(FrameSearch::new("missing", &frames).find(0, true), None);
        assert_eq!(FrameSearch::new("", &frames).find(0, false), None);
    }
}
