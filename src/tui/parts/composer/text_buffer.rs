//! An editable text on top of `tui_textarea`: the cursor moves by graphemes, and each long paste is folded into one
//! character.

mod replacement;

use super::pastes::{Pastes, clean_paste, paste_label};
use super::wrapped_rows::WrappedRows;
use crate::chat::DraftPart;
use crate::tui::keys::Action;
use tui_textarea::{CursorMove, TextArea};
use unicode_segmentation::UnicodeSegmentation;

/// Maximum number of undo steps.
const MAX_UNDO_STEPS: usize = 2000;

/// A text and its cursor, which is always on a grapheme boundary.
pub(super) struct TextBuffer {
    area: TextArea<'static>,
    /// All folded pastes, also deleted ones, so that undo can restore them.
    pastes: Pastes,
    /// The text before and after the last change that is undone in one step, although it is two for the text area. `None`
    /// once the text was edited otherwise.
    double_step: Option<(String, String)>,
}

impl Default for TextBuffer {
    fn default() -> Self {
        let mut area = TextArea::default();
        area.set_max_histories(MAX_UNDO_STEPS);
        Self { area, pastes: Pastes::default(), double_step: None }
    }
}

impl TextBuffer {
    /// Creates a buffer with this text, the cursor at its end, and nothing to undo.
    pub fn from_text(text: &str) -> Self {
        Self::from_parts(&[DraftPart::Typed(text.into())])
    }

    /// Restores a saved draft with folded pastes, the cursor at its end, and nothing to undo.
    pub fn from_parts(parts: &[DraftPart]) -> Self {
        let mut buffer = Self::default();
        let mut text = String::new();
        for part in parts {
            match part {
                DraftPart::Typed(typed) => text.push_str(&buffer.pastes.fold_private_chars(&clean_paste(typed))),
                DraftPart::Pasted(paste) => match buffer.pastes.fold(clean_paste(paste)) {
                    Ok(c) => text.push(c),
                    Err(paste) => text.push_str(&paste),
                },
            }
        }
        buffer.area = TextArea::new(text.split('\n').map(str::to_owned).collect());
        buffer.area.set_max_histories(MAX_UNDO_STEPS);
        buffer.move_to_end();
        buffer
    }

    /// Returns the draft to save; empty if there is no text.
    pub fn to_parts(&self) -> Vec<DraftPart> {
        let mut parts = Vec::new();
        let mut typed = String::new();
        for (index, line) in self.lines().iter().enumerate() {
            if index > 0 {
                typed.push('\n');
            }
            for c in line.chars() {
                let Some(paste) = self.pastes.get(c) else {
                    typed.push(c);
                    continue;
                };
                if !typed.is_empty() {
                    parts.push(DraftPart::Typed(std::mem::take(&mut typed).into()));
                }
                parts.push(DraftPart::Pasted(paste.clone()));
            }
        }
        if !typed.is_empty() {
            parts.push(DraftPart::Typed(typed.into()));
        }
        parts
    }

    /// Returns an empty buffer with the same yank text.
    pub fn cleared(&self) -> Self {
        let mut buffer = Self::default();
        let yank = self.pastes.unfold(&self.area.yank_text());
        let yank = buffer.pastes.fold_private_chars(&yank);
        buffer.area.set_yank_text(yank);
        buffer
    }

    /// Returns the text with pastes unfolded.
    pub fn text(&self) -> String {
        self.pastes.unfold(&self.lines().join("\n"))
    }

    /// Returns the text with pastes folded, and the byte offset of the cursor in it.
    pub fn folded_text(&self) -> (String, usize) {
        let (line, offset) = self.cursor();
        let line_start: usize = self.lines()[..line].iter().map(|line| line.len() + 1).sum();
        (self.lines().join("\n"), line_start + offset)
    }

    pub fn is_empty(&self) -> bool {
        self.area.is_empty()
    }

    /// Returns whether the text is empty or blank.
    pub fn is_blank(&self) -> bool {
        self.lines().iter().all(|line| line.trim().is_empty())
    }

    pub fn lines(&self) -> &[String] {
        self.area.lines()
    }

    /// Returns the paste that a character represents.
    pub fn get_paste(&self, c: char) -> Option<&str> {
        self.pastes.paste_text(c)
    }

    pub fn wrap_rows(&self, width: usize) -> WrappedRows {
        WrappedRows::new(self.lines(), |c| self.get_paste(c).map(paste_label), width)
    }

    /// Returns the line of the cursor and the byte offset in it.
    pub fn cursor(&self) -> (usize, usize) {
        let position = self.area.cursor();
        let line = &self.lines()[position.0];
        (position.0, line.char_indices().nth(position.1).map_or(line.len(), |(byte, _)| byte))
    }

    /// Moves the cursor to a byte offset of a line.
    pub fn move_to(&mut self, line: usize, byte: usize) {
        let text = &self.lines()[line];
        let column = text[..byte.min(text.len())].chars().count();
        let length = text.chars().count();
        // `Jump` reaches only the first 65,535 lines and columns. Beyond them the cursor moves step by step from the
        // nearest reachable position.
        let clamp_to_jump = |number: usize| u16::try_from(number).unwrap_or(u16::MAX);
        let steps_beyond_jump = column - usize::from(clamp_to_jump(column));
        let position = self.area.cursor();
        if position.0 != line || position.1.abs_diff(column) >= steps_beyond_jump {
            self.area.move_cursor(CursorMove::Jump(clamp_to_jump(line), clamp_to_jump(column)));
            while self.area.cursor().0 < line {
                self.area.move_cursor(CursorMove::End);
                self.area.move_cursor(CursorMove::Forward);
            }
            if length - column < column.abs_diff(self.area.cursor().1) {
                self.area.move_cursor(CursorMove::End);
            }
        }
        while self.area.cursor().1 < column {
            self.area.move_cursor(CursorMove::Forward);
        }
        while self.area.cursor().1 > column {
            self.area.move_cursor(CursorMove::Back);
        }
    }

    pub fn move_to_end(&mut self) {
        self.area.move_cursor(CursorMove::Bottom);
        self.area.move_cursor(CursorMove::End);
    }

    /// Inserts text without folding it. Only its private-use characters are folded, because each could be mistaken for
    /// a folded paste.
    pub fn insert(&mut self, text: &str) {
        self.double_step = None;
        let text = self.pastes.fold_private_chars(&clean_paste(text));
        self.area.insert_str(text);
    }

    /// Inserts a typed character, unless it is a control character.
    pub fn type_char(&mut self, c: char) {
        if !c.is_control() {
            self.insert(c.encode_utf8(&mut [0; 4]));
        }
    }

    /// Inserts pasted text, folded if it is long.
    pub fn paste(&mut self, text: &str) {
        let text = clean_paste(text);
        self.double_step = None;
        match self.pastes.fold_if_long(text) {
            Ok(c) => self.area.insert_char(c),
            Err(text) => self.insert(&text),
        }
    }

    /// Unfolds the paste before the cursor, otherwise the paste after it, otherwise the first paste. Returns false if no
    /// paste is folded.
    fn open_paste(&mut self) -> bool {
        let (line, offset) = self.cursor();
        let line_text = &self.lines()[line];
        // A private-use character is also stored as a paste, of one character. It cannot be unfolded.
        let is_paste = |c: &char| self.get_paste(*c).is_some_and(|paste| paste.chars().nth(1).is_some());
        let previous_char = line_text[..offset].chars().next_back().filter(is_paste);
        let next_char = line_text[offset..].chars().next().filter(is_paste);
        let find_first = || {
            self.lines().iter().enumerate().find_map(|(line, text)| {
                text.char_indices().find(|(_, c)| is_paste(c)).map(|(offset, c)| (line, offset, c))
            })
        };
        let target = match (previous_char, next_char) {
            (Some(c), _) => Some((line, offset - c.len_utf8(), c)),
            (None, Some(c)) => Some((line, offset, c)),
            (None, None) => find_first(),
        };
        let Some((line, offset, c)) = target else { return false };
        let Some(paste) = self.get_paste(c).map(str::to_owned) else { return false };
        self.move_to(line, offset);
        self.delete_chars(1);
        let paste = self.pastes.fold_private_chars(&paste);
        self.area.insert_str(paste);
        true
    }

    /// Runs an editing action. Returns false for other actions, and if there is no folded paste to open.
    pub fn run_edit_action(&mut self, action: Action) -> bool {
        if matches!(action, Action::Undo | Action::Redo) || self.double_step.is_none() {
            return self.run_action(action);
        }
        let text_before = self.folded_text().0;
        let is_known = self.run_action(action);
        if self.folded_text().0 != text_before {
            self.double_step = None;
        }
        is_known
    }

    fn run_action(&mut self, action: Action) -> bool {
        match action {
            Action::InsertLineBreak => self.insert("\n"),
            Action::Left => self.move_left(),
            Action::Right => self.move_right(),
            Action::WordLeft => self.area.move_cursor(CursorMove::WordBack),
            Action::WordRight => self.move_word_right(),
            Action::LineStart => self.area.move_cursor(CursorMove::Head),
            Action::LineEnd => self.area.move_cursor(CursorMove::End),
            Action::DeleteBack => self.delete_back(),
            Action::DeleteForward | Action::DeleteOrQuit => self.delete_forward(),
            Action::DeleteWordBack => _ = self.area.delete_word(),
            Action::DeleteWordForward => self.delete_word_forward(),
            Action::DeleteToStart => _ = self.area.delete_line_by_head(),
            Action::DeleteToEnd => _ = self.area.delete_line_by_end(),
            Action::Yank => _ = self.area.paste(),
            Action::Transpose => self.transpose(),
            Action::Undo => self.undo(),
            Action::Redo => self.redo(),
            Action::OpenPaste => return self.open_paste(),
            _ => return false,
        }
        true
    }

    pub fn move_left(&mut self) {
        for _ in 0..self.chars_before().max(1) {
            self.area.move_cursor(CursorMove::Back);
        }
    }

    fn move_right(&mut self) {
        for _ in 0..self.chars_after().max(1) {
            self.area.move_cursor(CursorMove::Forward);
        }
    }

    /// Moves to the end of the word, as in a shell.
    fn move_word_right(&mut self) {
        let (line, offset) = self.cursor();
        let text = &self.lines()[line];
        let is_word_char = |c: char| c.is_alphanumeric() || c == '_';
        match text[offset..].find(is_word_char) {
            None if line + 1 < self.lines().len() => self.move_to(line + 1, 0),
            None => self.move_to(line, text.len()),
            Some(start) => {
                let start = offset + start;
                let end = text[start..]
                    .find(|c: char| !is_word_char(c) && !is_combining(c))
                    .map_or(text.len(), |end| start + end);
                self.move_to(line, end);
            }
        }
    }

    fn delete_back(&mut self) {
        let characters = self.chars_before();
        if characters == 0 {
            self.area.delete_newline();
            return;
        }
        for _ in 0..characters {
            self.area.move_cursor(CursorMove::Back);
        }
        self.delete_chars(characters);
    }

    /// Deletes a blank before the cursor, if there is one.
    pub fn delete_blank(&mut self) {
        let (line, offset) = self.cursor();
        if self.lines()[line][..offset].ends_with(' ') {
            self.delete_back();
        }
    }

    fn delete_forward(&mut self) {
        // At the end of the text the text area would record an empty undo step.
        match self.chars_after() {
            0 if self.area.cursor().0 + 1 == self.lines().len() => {}
            characters => self.delete_chars(characters.max(1)),
        }
    }

    fn delete_word_forward(&mut self) {
        let (line, offset) = self.cursor();
        self.move_word_right();
        let (end_line, end_offset) = self.cursor();
        self.move_to(line, offset);
        let count_characters = |end: usize| self.lines()[line][offset..end].chars().count();
        let characters = match end_line == line {
            true => count_characters(end_offset),
            // To the start of the next line: the rest of this one and the line break.
            false => count_characters(self.lines()[line].len()) + 1,
        };
        self.area.delete_str(characters);
    }

    /// Swaps the graphemes around the cursor, or the last two at the end of a line.
    fn transpose(&mut self) {
        let (line, offset) = self.cursor();
        let text = &self.lines()[line];
        let offset = if offset == text.len() { offset - last_grapheme(&text[..offset]).len() } else { offset };
        let (first, second) = (last_grapheme(&text[..offset]), text[offset..].graphemes(true).next().unwrap_or(""));
        if first.is_empty() || second.is_empty() {
            return;
        }
        let (start, swapped) = (offset - first.len(), format!("{second}{first}"));
        self.move_to(line, start);
        self.delete_chars(swapped.chars().count());
        self.area.insert_str(swapped);
    }

    /// Deletes characters after the cursor without changing the yank buffer.
    fn delete_chars(&mut self, characters: usize) {
        let yank = self.area.yank_text();
        self.area.delete_str(characters);
        self.area.set_yank_text(yank);
    }

    /// Returns the length in characters of the grapheme before the cursor; 0 at the line start.
    fn chars_before(&self) -> usize {
        let (line, offset) = self.cursor();
        last_grapheme(&self.lines()[line][..offset]).chars().count()
    }

    /// Returns the length in characters of the grapheme after the cursor; 0 at the line end.
    fn chars_after(&self) -> usize {
        let (line, offset) = self.cursor();
        self.lines()[line][offset..].graphemes(true).next().map_or(0, |grapheme| grapheme.chars().count())
    }
}

fn last_grapheme(text: &str) -> &str {
    text.graphemes(true).next_back().unwrap_or("")
}

/// Returns whether a character combines with the one before it.
fn is_combining(c: char) -> bool {
    unicode_width::UnicodeWidthChar::width(c) == Some(0)
}
