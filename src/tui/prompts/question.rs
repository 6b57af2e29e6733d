//! The question prompt: shows one question per page and sends only answers that the user chose.

mod answer_draft;
mod border_hints;
mod declining;
mod option_picker;
mod option_preview;
mod question_layout;
mod question_prompt;
mod question_tabs;
mod row_links;
pub mod server_form_prompt;

use crate::chat::{Answer, AnswerStatus, CallId, Question, Questions};
use crate::tui::keys::{Action, Chord, Keymap, Scope};
use crate::tui::parts::frame::scroll_position;
use crate::tui::parts::listening::{Listening, TOO_SOON_AFTER_PASTE};
use crate::tui::parts::text_field::{self, TextField};
use crate::tui::prompts::prompt::{KeyResult, PromptCommand};
use answer_draft::{AnswerDraft, accepts_text};
use crossterm::event::{KeyEvent, KeyEventKind};
use declining::Declining;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// Question prompt of one call. Its draft is kept, also while it is parked, until the call is answered or declined.
#[derive(Debug, Clone, PartialEq)]
pub struct QuestionPrompt {
    call: CallId,
    first_drawn: Option<Duration>,
    is_parked: bool,
    /// Index of the page shown. The page after the last question is the review of all answers.
    page: usize,
    /// One draft per question. The review page has none.
    pages: Vec<AnswerDraft>,
    /// Text field being edited, if any.
    open_field: Option<(FieldKind, TextField)>,
    /// True if the field opened together with the prompt and received no key yet. Keys typed before it could be seen are
    /// not for it.
    is_field_untouched: bool,
    declining: Declining,
    visible_rows: usize,
    /// Width in cells of the text field in the last frame.
    field_width: usize,
    /// Lines by which content that does not fit is scrolled: first the text of the question, then the focused option,
    /// then its preview. On the review page, the answers.
    scroll: usize,
    /// True if an MCP server asks. Its questions take no notes and cannot wait.
    is_for_server: bool,
    /// Lines of the question's text that do not fit. `scroll` moves it by up to this many lines, then the options.
    question_scroll: usize,
}

/// Purpose of the text field being edited.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum FieldKind {
    #[serde(rename = "own_words")]
    TextAnswer,
    Note,
}

impl QuestionPrompt {
    /// Creates the prompt of a call with nothing selected.
    pub fn new(call: CallId, questions: &Questions) -> Self {
        let pages = vec![AnswerDraft::default(); questions.list.len()];
        let mut prompt = Self {
            call,
            first_drawn: None,
            is_parked: false,
            page: 0,
            pages,
            open_field: None,
            is_field_untouched: false,
            declining: Declining::No,
            visible_rows: 1,
            field_width: usize::MAX,
            scroll: 0,
            is_for_server: false,
            question_scroll: 0,
        };
        prompt.show_page(0, questions);
        prompt.is_field_untouched = prompt.open_field.is_some();
        prompt
    }

    /// Handles a key for these questions.
    fn handle_key(&mut self, key: &KeyEvent, keys: &Keymap, questions: &Questions, listening: Listening) -> KeyResult {
        if self.open_field.is_some() {
            return self.handle_field_key(key, keys, questions, listening);
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
                if self.is_review() && row < self.pages.len() {
                    // On the review page a digit opens that question.
                    self.show_page(row, questions);
                    KeyResult::Run(vec![PromptCommand::IgnoreRepeats])
                } else if !self.is_review() && row < self.option_count(questions) {
                    self.focus_row(row);
                    self.toggle_option(questions);
                    KeyResult::Handled
                } else {
                    self.explain_missing_row(row + 1, questions)
                }
            }
        }
    }

    /// Returns whether the review of all answers is shown.
    fn is_review(&self) -> bool {
        self.page == self.pages.len()
    }

    /// Handles a key for the text field being edited.
    fn handle_field_key(
        &mut self,
        key: &KeyEvent,
        keys: &Keymap,
        questions: &Questions,
        listening: Listening,
    ) -> KeyResult {
        let Some((kind, field)) = &mut self.open_field else { return KeyResult::Handled };
        let kind = *kind;
        // Text for the composer stays there, and so does what was typed before the field could be seen.
        if !is_field_listening(self.is_field_untouched, listening) {
            return KeyResult::PassedOn;
        }
        self.is_field_untouched = false;
        let action = keys.lookup(Scope::Question, key);
        if let (Some(direction @ (Action::NextQuestion | Action::PreviousQuestion)), true) =
            (action, self.pages.len() > 1 && kind == FieldKind::TextAnswer)
        {
            let text = field.text().trim().to_owned();
            self.open_field = None;
            self.pages[self.page].store_text(kind, text);
            self.turn_page(direction, questions);
            return KeyResult::Handled;
        }
        if kind == FieldKind::TextAnswer
            && let Some(direction @ (Action::Up | Action::Down)) = keys.lookup(Scope::List, key)
        {
            field.move_rows(self.field_width, if direction == Action::Up { -1 } else { 1 });
            return KeyResult::Handled;
        }
        match field.handle_key(key, keys) {
            // Enter that arrives with a paste is part of the pasted text.
            text_field::KeyResult::Accepted
                if matches!(listening, Listening::Until(_) | Listening::AfterFastInput(_)) =>
            {
                if kind != FieldKind::TextAnswer {
                    return KeyResult::Explained(TOO_SOON_AFTER_PASTE.to_owned());
                }
                field.insert("\n");
            }
            text_field::KeyResult::Accepted if key.kind == KeyEventKind::Press => {
                let text = field.text().trim().to_owned();
                let has_options = questions.list.get(self.page).is_some_and(|question| !question.options.is_empty());
                if kind == FieldKind::TextAnswer && text.is_empty() && !has_options {
                    // Without the field there would be nothing to answer with.
                    self.pages[self.page].store_unfinished_text(kind, text);
                    let close_key = keys.first_chord(Scope::TextField, Action::Close);
                    return KeyResult::Explained(format!("No answer written yet · {close_key} to leave it"));
                }
                self.open_field = None;
                self.pages[self.page].store_text(kind, text);
                return match kind == FieldKind::TextAnswer && self.pages[self.page].is_text_selected {
                    true => self.show_next_unanswered(questions),
                    false => KeyResult::Handled,
                };
            }
            text_field::KeyResult::Cancelled => {
                let text = field.text().trim().to_owned();
                self.open_field = None;
                self.pages[self.page].store_unfinished_text(kind, text);
            }
            text_field::KeyResult::PassedOn => return KeyResult::PassedOn,
            text_field::KeyResult::Handled | text_field::KeyResult::Changed | text_field::KeyResult::Accepted => {}
        }
        KeyResult::Handled
    }

    fn handle_action(&mut self, action: Action, is_press: bool, keys: &Keymap, questions: &Questions) -> KeyResult {
        // The review page has no rows to focus, so the keys that focus a row scroll it.
        let last_row = if self.is_review() { usize::MAX } else { self.option_count(questions).saturating_sub(1) };
        let cursor = self.pages.get(self.page).map_or(self.scroll, |page| page.cursor);
        if let Some(row) = scroll_position(action, cursor, self.visible_rows) {
            self.focus_row(row.min(last_row));
            return KeyResult::Handled;
        }
        match action {
            Action::ScrollTextUp => self.scroll = self.scroll.saturating_sub(1),
            Action::ScrollTextDown => self.scroll = self.scroll.saturating_add(1),
            Action::NextQuestion | Action::PreviousQuestion => self.turn_page(action, questions),
            Action::Accept | Action::Select | Action::Decline | Action::AnswerLater | Action::Note if !is_press => {}
            Action::Accept if self.is_review() && self.pages.iter().all(AnswerDraft::is_empty) => {
                let key = |action| keys.first_chord(Scope::Question, action);
                let (later_key, decline_key) = (key(Action::AnswerLater), key(Action::Decline));
                return KeyResult::Explained(format!(
                    "No answers yet · {later_key} for later, {decline_key} to decline"
                ));
            }
            Action::Accept if self.is_review() => return self.send_answers(questions),
            Action::Accept => return self.accept_option(questions),
            Action::Select if !self.is_review() && questions.list[self.page].is_multiple => {
                self.toggle_option(questions)
            }
            Action::Note if !self.is_review() && questions.list[self.page].options.is_empty() => {
                return KeyResult::Explained("A question without options takes no note".to_owned());
            }
            Action::Note if !self.is_review() => {
                let page = &self.pages[self.page];
                let note = page.unfinished_notes.get(&page.cursor).or(page.notes.get(&page.cursor));
                self.open_field = Some((FieldKind::Note, TextField::new(note.map_or("", String::as_str))));
            }
            Action::AnswerLater => {
                self.is_parked = true;
                return KeyResult::Run(vec![PromptCommand::ReturnParked]);
            }
            _ => return KeyResult::PassedOn,
        }
        KeyResult::Handled
    }

    /// Handles a digit or Space on the focused row: in a multiple-choice question it toggles the option, otherwise it
    /// selects the option. Enter confirms.
    fn toggle_option(&mut self, questions: &Questions) {
        if self.open_text_answer(questions) {
            return;
        }
        let page = &mut self.pages[self.page];
        page.is_text_selected = false;
        if questions.list[self.page].is_multiple {
            match page.picks.binary_search(&page.cursor) {
                Ok(index) => _ = page.picks.remove(index),
                Err(index) => page.picks.insert(index, page.cursor),
            }
        } else {
            page.picks = vec![page.cursor];
        }
    }

    /// Handles Enter on the focused row: selects the option and continues. In a multiple-choice question it continues with
    /// the options selected so far; if there are none, it only selects the option.
    fn accept_option(&mut self, questions: &Questions) -> KeyResult {
        if self.is_written_alone(questions) {
            self.pages[self.page].select_written_text();
            return self.show_next_unanswered(questions);
        }
        if self.open_text_answer(questions) {
            return KeyResult::Handled;
        }
        let is_multiple = questions.list[self.page].is_multiple;
        let page = &mut self.pages[self.page];
        page.is_text_selected = false;
        let had_no_picks = page.picks.is_empty();
        if had_no_picks || !is_multiple {
            page.picks = vec![page.cursor];
        }
        // Show the option that Enter just selected before sending it.
        match is_multiple && had_no_picks {
            true => KeyResult::Run(vec![PromptCommand::IgnoreRepeats]),
            false => self.show_next_unanswered(questions),
        }
    }

    /// Returns whether the question shown has no options and a text answer is written. Nothing else can be confirmed.
    fn is_written_alone(&self, questions: &Questions) -> bool {
        questions.list[self.page].options.is_empty() && !self.pages[self.page].text_answer.is_empty()
    }

    /// Opens the text answer if its row is focused. Returns false if an option is focused.
    fn open_text_answer(&mut self, questions: &Questions) -> bool {
        let question = &questions.list[self.page];
        let page = &self.pages[self.page];
        let is_option = page.cursor < question.options.len();
        if !is_option && accepts_text(question) {
            self.open_field = Some((FieldKind::TextAnswer, TextField::multiline(&page.text_answer)));
        }
        !is_option
    }

    /// Moves to the next unanswered question, or to the review page. Returns the answer to send if there is only one
    /// question.
    fn show_next_unanswered(&mut self, questions: &Questions) -> KeyResult {
        if self.pages.len() == 1 {
            return self.send_answers(questions);
        }
        let count = self.pages.len();
        let next = (1..count).map(|step| (self.page + step) % count).find(|index| self.pages[*index].is_empty());
        self.show_page(next.unwrap_or(count), questions);
        // A repeat of the key that answered one question must not answer the next.
        KeyResult::Run(vec![PromptCommand::IgnoreRepeats])
    }

    /// Returns the answers to send if there is at least one. Without any, the prompt can only be parked or declined.
    fn send_answers(&self, questions: &Questions) -> KeyResult {
        if self.pages.iter().all(AnswerDraft::is_empty) {
            return KeyResult::Handled;
        }
        let answers = questions.list.iter().zip(&self.pages).map(|(question, page)| page.to_answer(question));
        self.send(Answer { answers: answers.collect(), ..Answer::from_status(AnswerStatus::Answered) })
    }

    fn send(&self, answer: Answer) -> KeyResult {
        KeyResult::answered(PromptCommand::Answer(self.call.clone(), answer))
    }

    /// Returns the number of options, including the text answer.
    fn option_count(&self, questions: &Questions) -> usize {
        let question = &questions.list[self.page];
        question.options.len() + usize::from(accepts_text(question))
    }

    /// Returns the number of pages. A single question has no review page.
    fn page_count(&self) -> usize {
        self.pages.len() + usize::from(self.pages.len() > 1)
    }

    /// Focuses a row. The review page has no rows to focus; there the row becomes the first visible line.
    fn focus_row(&mut self, row: usize) {
        match self.pages.get_mut(self.page) {
            Some(page) => {
                page.cursor = row;
                // The text of the question stays scrolled; the newly focused option is shown from its start.
                self.scroll = self.scroll.min(self.question_scroll);
            }
            None => self.scroll = row,
        }
    }

    fn turn_page(&mut self, direction: Action, questions: &Questions) {
        let count = self.page_count();
        let step = if direction == Action::NextQuestion { 1 } else { count - 1 };
        self.show_page((self.page + step) % count, questions);
    }

    /// Shows a page. The text field of a question without options opens at once. On every other page, text that was
    /// written counts as the answer unless an option is selected, so that no text is skipped.
    fn show_page(&mut self, page: usize, questions: &Questions) {
        for (_, draft) in self.pages.iter_mut().enumerate().filter(|(index, _)| *index != page) {
            draft.select_written_text();
        }
        (self.page, self.scroll, self.question_scroll) = (page, 0, 0);
        let is_text_only = |question: &Question| question.options.is_empty();
        if questions.list.get(page).is_some_and(is_text_only) {
            self.open_text_answer(questions);
        }
    }
}

/// Returns whether the text field receives the keys. It does not while the composer has a draft, nor, until its first
/// key (`is_untouched`), before it was long enough on the screen to be read.
fn is_field_listening(is_untouched: bool, listening: Listening) -> bool {
    match listening {
        Listening::Ready | Listening::AfterFastInput(_) => true,
        Listening::Until(_) | Listening::Unseen => !is_untouched,
        Listening::Unsent => false,
    }
}

#[cfg(test)]
mod tests;
