//! The question prompt: shows one question per page and sends only answers that the user chose.

mod answer_draft;
mod border_hints;
mod option_picker;
mod option_preview;
mod question_layout;
mod question_prompt;

use crate::chat::{Answer, AnswerStatus, CallId, Questions};
use crate::tui::keys::{Action, Chord, Keymap, Scope};
use crate::tui::parts::listening::{Listening, TOO_SOON_AFTER_PASTE};
use crate::tui::parts::text_field::{self, TextField};
use answer_draft::{AnswerDraft, accepts_text};
use crossterm::event::{KeyEvent, KeyEventKind};
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// Question prompt of one call. Its draft survives parking and is kept until the call is answered or declined.
#[derive(Debug, Clone, PartialEq)]
pub struct QuestionPrompt {
    call: CallId,
    first_drawn: Option<Duration>,
    is_parked: bool,
    /// Index of the page shown. The page after the last question is the review of all answers.
    page: usize,
    /// One draft per question. The review page has none.
    pages: Vec<AnswerDraft>,
    open_line: Option<(LineKind, TextField)>,
    visible_rows: usize,
    /// Width in cells of the text answer in the last frame.
    line_width: usize,
    /// Scroll offset of content that does not fit: first the question, then the focused option, then its preview. On the
    /// review page, of the answers.
    scroll: usize,
    /// Part of `scroll` that scrolls the question.
    question_scroll: usize,
}

/// Purpose of the line being edited.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum LineKind {
    #[serde(rename = "own_words")]
    TextAnswer,
    Note,
}

/// Result of a key press.
#[derive(Debug, Clone, PartialEq)]
pub enum KeyResult {
    /// The prompt handled the key, or ignored it; nothing is left to do.
    Handled,
    /// The key had no effect. The text gives the reason and the key that works, separated by ` · `.
    Explained(String),
    /// An option was selected and the prompt stays open. Repeats of the same held key must be ignored.
    Selected,
    /// The key is not for the prompt: it goes to the composer and delays the prompt like any key typed there.
    PassedOn,
    /// The prompt was parked with its draft.
    Parked,
    /// The answer to send to the model.
    Answered(Answer),
}

impl QuestionPrompt {
    /// Creates the prompt of a call with nothing selected.
    pub fn new(call: CallId, questions: &Questions) -> Self {
        let pages = vec![AnswerDraft::default(); questions.list.len()];
        Self {
            call,
            first_drawn: None,
            is_parked: false,
            page: 0,
            pages,
            open_line: None,
            visible_rows: 1,
            line_width: usize::MAX,
            scroll: 0,
            question_scroll: 0,
        }
    }

    /// Returns the index of the page. The page after the last question is the review of all answers.
    pub fn page(&self) -> usize {
        self.page
    }

    pub fn handle_key(
        &mut self,
        key: &KeyEvent,
        keys: &Keymap,
        questions: &Questions,
        listening: Listening,
    ) -> KeyResult {
        if self.open_line.is_some() {
            return self.handle_line_key(key, keys, questions, listening);
        }
        let digit = Chord::from(key).typed_character().and_then(|c| c.to_digit(10)).filter(|digit| *digit > 0);
        let action = keys.lookup(Scope::Question, key);
        if self.is_parked || !listening.is_listening() || (action.is_none() && digit.is_none()) {
            return KeyResult::PassedOn;
        }
        match action {
            Some(action) => self.handle_action(action, key.kind == KeyEventKind::Press, keys, questions),
            None if key.kind != KeyEventKind::Press => KeyResult::Handled,
            None => {
                let row = digit.map_or(0, |digit| digit as usize - 1);
                if self.page == self.pages.len() && row < self.pages.len() {
                    // On the review page a digit opens that question.
                    self.show_page(row);
                } else if self.page < self.pages.len() && row < self.option_count(questions) {
                    self.focus_row(row);
                    return self.select_option(questions, true);
                } else {
                    return self.explain_missing_row(row + 1, questions);
                }
                KeyResult::Handled
            }
        }
    }

    /// Handles a key for the line being edited.
    fn handle_line_key(
        &mut self,
        key: &KeyEvent,
        keys: &Keymap,
        questions: &Questions,
        listening: Listening,
    ) -> KeyResult {
        let Some((kind, field)) = &mut self.open_line else { return KeyResult::Handled };
        let kind = *kind;
        if kind == LineKind::TextAnswer
            && let Some(direction @ (Action::Up | Action::Down)) = keys.lookup(Scope::List, key)
        {
            field.move_row(self.line_width, direction == Action::Down);
            return KeyResult::Handled;
        }
        match field.key(key, keys) {
            // Enter that arrives with a paste is part of the pasted text.
            text_field::KeyResult::Accepted if matches!(listening, Listening::Until(_)) => {
                if kind != LineKind::TextAnswer {
                    return KeyResult::Explained(TOO_SOON_AFTER_PASTE.to_owned());
                }
                field.insert("\n");
            }
            text_field::KeyResult::Accepted if key.kind == KeyEventKind::Press => {
                let text = field.text().trim().to_owned();
                self.open_line = None;
                return self.accept_line(kind, text, questions);
            }
            text_field::KeyResult::Cancelled => {
                let text = field.text().trim().to_owned();
                self.open_line = None;
                self.store_unfinished_line(kind, text);
            }
            text_field::KeyResult::PassedOn => return KeyResult::PassedOn,
            text_field::KeyResult::Handled | text_field::KeyResult::Changed | text_field::KeyResult::Accepted => {}
        }
        KeyResult::Handled
    }

    fn handle_action(&mut self, action: Action, is_press: bool, keys: &Keymap, questions: &Questions) -> KeyResult {
        // The review page has no rows to focus: the same keys scroll it.
        let last_row =
            if self.page < self.pages.len() { self.option_count(questions).saturating_sub(1) } else { usize::MAX };
        let cursor = self.pages.get(self.page).map_or(self.scroll, |page| page.cursor);
        match action {
            Action::Up => self.focus_row(cursor.saturating_sub(1)),
            Action::Down => self.focus_row((cursor + 1).min(last_row)),
            Action::PageUp => self.focus_row(cursor.saturating_sub(self.visible_rows)),
            Action::PageDown => self.focus_row((cursor + self.visible_rows).min(last_row)),
            Action::Top => self.focus_row(0),
            Action::Bottom => self.focus_row(last_row),
            Action::ScrollTextUp => self.scroll = self.scroll.saturating_sub(1),
            Action::ScrollTextDown => self.scroll = self.scroll.saturating_add(1),
            Action::NextQuestion => self.show_page((self.page + 1) % self.page_count()),
            Action::PreviousQuestion => self.show_page((self.page + self.page_count() - 1) % self.page_count()),
            Action::Accept | Action::Select | Action::Decline | Action::AnswerLater | Action::Note if !is_press => {}
            Action::Accept if self.page == self.pages.len() && self.pages.iter().all(AnswerDraft::is_empty) => {
                let (later_key, decline_key) = (
                    keys.first_chord(Scope::Question, Action::AnswerLater),
                    keys.first_chord(Scope::Question, Action::Decline),
                );
                return KeyResult::Explained(format!(
                    "No answers yet · {later_key} for later, {decline_key} to decline"
                ));
            }
            Action::Accept if self.page == self.pages.len() => return self.build_answer(questions),
            Action::Accept => return self.select_option(questions, false),
            Action::Select if self.page < self.pages.len() && questions.list[self.page].is_multiple => {
                return self.select_option(questions, true);
            }
            Action::Note if self.page < self.pages.len() => {
                let page = &self.pages[self.page];
                let note = page.unfinished_notes.get(&page.cursor).or(page.notes.get(&page.cursor));
                self.open_line = Some((LineKind::Note, TextField::new(note.map_or("", String::as_str))));
            }
            Action::Decline => return KeyResult::Answered(Answer::from_status(AnswerStatus::Declined)),
            Action::AnswerLater => {
                self.is_parked = true;
                return KeyResult::Parked;
            }
            _ => return KeyResult::PassedOn,
        }
        KeyResult::Handled
    }

    /// Selects the option under the cursor. `toggles` is true for a digit and for Space, false for Enter. In a
    /// multiple-choice question they toggle the option; Enter ticks it if none is ticked, and continues otherwise.
    fn select_option(&mut self, questions: &Questions, toggles: bool) -> KeyResult {
        let question = &questions.list[self.page];
        let page = &mut self.pages[self.page];
        if page.cursor >= question.options.len() {
            if accepts_text(question) {
                self.open_line = Some((LineKind::TextAnswer, TextField::multiline(&page.text_answer)));
            }
            return KeyResult::Handled;
        }
        if question.is_multiple {
            let had_no_picks = page.picks.is_empty();
            match page.picks.binary_search(&page.cursor) {
                Ok(index) if toggles => _ = page.picks.remove(index),
                Err(index) if toggles || had_no_picks => page.picks.insert(index, page.cursor),
                Ok(_) | Err(_) => {}
            }
            page.is_text_selected = false;
            return match (toggles, had_no_picks) {
                (true, _) => KeyResult::Handled,
                // Show the option that Enter just picked before sending it.
                (false, true) => KeyResult::Selected,
                (false, false) => self.show_next_unanswered(questions),
            };
        }
        page.picks = vec![page.cursor];
        page.is_text_selected = false;
        // A digit does not send a single question, so that the user sees the choice first. Enter sends it.
        if toggles && self.pages.len() == 1 { KeyResult::Handled } else { self.show_next_unanswered(questions) }
    }

    fn accept_line(&mut self, kind: LineKind, text: String, questions: &Questions) -> KeyResult {
        let page = &mut self.pages[self.page];
        match kind {
            LineKind::Note => {
                page.unfinished_notes.remove(&page.cursor);
                match text.is_empty() {
                    true => _ = page.notes.remove(&page.cursor),
                    false => _ = page.notes.insert(page.cursor, text),
                }
            }
            LineKind::TextAnswer => {
                page.is_text_selected = !text.is_empty();
                page.text_answer = text;
                if page.is_text_selected {
                    page.picks.clear();
                    return self.show_next_unanswered(questions);
                }
            }
        }
        KeyResult::Handled
    }

    /// Keeps the text of a line that was closed without Enter. It is no answer; reopening the line shows it again.
    fn store_unfinished_line(&mut self, kind: LineKind, text: String) {
        let page = &mut self.pages[self.page];
        match kind {
            LineKind::Note => {
                let note = page.notes.get(&page.cursor).map_or("", String::as_str);
                match text == note {
                    true => _ = page.unfinished_notes.remove(&page.cursor),
                    false => _ = page.unfinished_notes.insert(page.cursor, text),
                }
            }
            LineKind::TextAnswer => {
                page.is_text_selected &= page.text_answer == text;
                page.text_answer = text;
            }
        }
    }

    /// Moves to the next unanswered question, or to the review page. Sends the answer of a single question.
    fn show_next_unanswered(&mut self, questions: &Questions) -> KeyResult {
        if self.pages.len() == 1 {
            return self.build_answer(questions);
        }
        let count = self.pages.len();
        let next = (1..count).map(|step| (self.page + step) % count).find(|index| self.pages[*index].is_empty());
        self.show_page(next.unwrap_or(count));
        KeyResult::Handled
    }

    /// Sends the answers if there is at least one. Without any, the prompt can only be parked or declined.
    fn build_answer(&self, questions: &Questions) -> KeyResult {
        if self.pages.iter().all(AnswerDraft::is_empty) {
            return KeyResult::Handled;
        }
        let answers = questions.list.iter().zip(&self.pages).map(|(question, page)| page.to_answer(question));
        KeyResult::Answered(Answer { answers: answers.collect(), ..Answer::from_status(AnswerStatus::Answered) })
    }

    /// Returns the number of options, including the text answer.
    fn option_count(&self, questions: &Questions) -> usize {
        let question = &questions.list[self.page];
        question.options.len() + usize::from(accepts_text(question))
    }

    fn page_count(&self) -> usize {
        self.pages.len() + usize::from(self.pages.len() > 1)
    }

    fn focus_row(&mut self, row: usize) {
        match self.pages.get_mut(self.page) {
            Some(page) => {
                page.cursor = row;
                // Keep the scroll offset of the question; reset that of the option and its preview.
                self.scroll = self.scroll.min(self.question_scroll);
            }
            None => self.scroll = row,
        }
    }

    fn show_page(&mut self, page: usize) {
        (self.page, self.scroll, self.question_scroll) = (page, 0, 0);
    }
}

#[cfg(test)]
mod tests;
