//! Replacing a part of the text, and undoing that.

use super::TextBuffer;
use std::ops::Range;

impl TextBuffer {
    /// Replaces a byte range of [`Self::folded_text`] and moves the cursor after the new text. Does nothing if the text
    /// does not have this range.
    pub fn replace(&mut self, range: Range<usize>, new_text: &str) {
        let (text, _) = self.folded_text();
        let (Some(text_before), Some(replaced)) = (text.get(..range.start), text.get(range)) else { return };
        let line_start = text_before.rfind('\n').map_or(0, |end| end + 1);
        self.move_to(text_before.matches('\n').count(), text_before.len() - line_start);
        self.delete_chars(replaced.chars().count());
        self.insert(new_text);
    }

    /// Replaces like [`Self::replace`], as one step for undo. A cursor after the range stays there.
    pub fn replace_in_one_step(&mut self, range: Range<usize>, new_text: &str) {
        let (before, cursor) = self.folded_text();
        self.replace(range.clone(), new_text);
        let (after, new_end) = self.folded_text();
        if cursor > range.end {
            let target = &after[..(new_end + cursor - range.end).min(after.len())];
            let line_start = target.rfind('\n').map_or(0, |end| end + 1);
            self.move_to(target.matches('\n').count(), target.len() - line_start);
        }
        self.double_step = Some((before, after));
    }

    pub(super) fn undo(&mut self) {
        let is_double = self.double_step.as_ref().is_some_and(|(_, after)| *after == self.folded_text().0);
        self.area.undo();
        if is_double {
            self.area.undo();
        }
    }

    pub(super) fn redo(&mut self) {
        let is_double = self.double_step.as_ref().is_some_and(|(before, _)| *before == self.folded_text().0);
        if self.area.redo() && is_double {
            self.area.redo();
        }
    }
}
