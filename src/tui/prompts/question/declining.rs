//! Declining to answer: a second press declines, and for some seconds the questions can be brought back.

use super::QuestionPrompt;
use crate::chat::{Answer, AnswerStatus};
use crate::tui::keys::{Action, Keymap, Scope};
use crate::tui::parts::frame::{Frame, is_readable};
use crate::tui::prompts::prompt::{DrawnPrompt, KeyResult, PromptCommand};
use crate::tui::text::wrap;
use crate::tui::theme::Theme;
use crossterm::event::{KeyEvent, KeyEventKind};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use std::time::Duration;

/// Time for which declined questions can be brought back. The turn goes on after it.
const HOLD_TIME: Duration = Duration::from_secs(5);

/// Progress of declining.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) enum Declining {
    #[default]
    No,
    /// The key was pressed once. A second press declines.
    Asked,
    /// Declined, and sent at this time.
    Until(Duration),
}

impl QuestionPrompt {
    /// Handles a key while the user is about to decline or has just declined. Returns `None` for a key that has its usual
    /// meaning.
    pub(super) fn handle_declining_key(&mut self, key: &KeyEvent, keys: &Keymap, now: Duration) -> Option<KeyResult> {
        let action = keys.lookup(Scope::Question, key);
        let is_press = key.kind == KeyEventKind::Press;
        match (self.declining, action) {
            (Declining::No, Some(Action::Decline)) if is_press && self.open_field.is_none() => {
                self.declining = Declining::Asked;
            }
            (Declining::No, _) => return None,
            (_, Some(Action::Decline | Action::Accept)) if !is_press => {}
            (Declining::Asked, Some(Action::Decline)) => self.declining = Declining::Until(now + HOLD_TIME),
            // If the first press came before the prompt accepted keys, this key is meant to send the decline.
            (Declining::Asked, Some(Action::Accept)) => self.declining = Declining::No,
            // Any other key keeps the questions and does what it always does.
            (Declining::Asked, _) => {
                self.declining = Declining::No;
                return None;
            }
            (Declining::Until(_), Some(Action::Decline | Action::AnswerLater)) => self.declining = Declining::No,
            (Declining::Until(_), Some(Action::Accept)) => return Some(self.decline()),
            (Declining::Until(_), _) => return Some(KeyResult::PassedOn),
        }
        Some(KeyResult::Run(vec![PromptCommand::IgnoreRepeats]))
    }

    fn decline(&self) -> KeyResult {
        self.send(Answer::from_status(AnswerStatus::Declined))
    }

    /// Returns the time at which the decline is sent or the shown time changes, if the questions are declined.
    pub(super) fn next_declining_change(&self, now: Duration) -> Option<Duration> {
        let Declining::Until(end) = self.declining else { return None };
        // The remaining seconds are rounded up, so they change whenever whole seconds remain.
        let remaining = end.saturating_sub(now);
        Some(end.saturating_sub(Duration::from_secs(
            remaining.as_secs().saturating_sub(u64::from(remaining.subsec_nanos() == 0)),
        )))
    }

    /// Returns the command that declines, once the time to bring the questions back is over.
    pub(super) fn take_due_decline(&mut self, now: Duration) -> Option<PromptCommand> {
        let Declining::Until(end) = self.declining else { return None };
        (now >= end).then(|| PromptCommand::Answer(self.call.clone(), Answer::from_status(AnswerStatus::Declined)))
    }

    /// Draws the prompt of declined questions.
    pub(super) fn draw_declined(
        &self,
        (keys, theme, now): (&Keymap, &Theme, Duration),
        area: Rect,
        buffer: &mut Buffer,
    ) -> DrawnPrompt {
        let key = |action| keys.first_chord(Scope::Question, action);
        let (decline_key, accept_key) = (key(Action::Decline), key(Action::Accept));
        let hints = [format!("{decline_key} return · {accept_key} decline now"), format!("{decline_key} return")];
        let title = format!("Declining in {} s", self.seconds_to_decline(now));
        let frame = Frame { title: &title, hints: &hints, is_listening: true, ..Frame::default() };
        let inner = frame.draw(area, buffer, theme);
        let text = self.describe_declining(keys);
        let lines = wrap::wrap_plain(&text, theme.text, usize::from(inner.width).max(1));
        for (line, row) in lines.iter().zip(inner.rows()) {
            buffer.set_line(row.x, row.y, line, row.width);
        }
        DrawnPrompt {
            visible_rows: usize::from(inner.height),
            field_width: self.field_width,
            is_readable: is_readable(inner, area, buffer),
            ..DrawnPrompt::default()
        }
    }

    /// Returns the remaining seconds, rounded up.
    fn seconds_to_decline(&self, now: Duration) -> u64 {
        let Declining::Until(end) = self.declining else { return 0 };
        let remaining = end.saturating_sub(now);
        remaining.as_secs() + u64::from(remaining.subsec_nanos() > 0)
    }

    fn describe_declining(&self, keys: &Keymap) -> String {
        let decline_key = keys.first_chord(Scope::Question, Action::Decline);
        format!("Press {decline_key} to return to the {} with what you answered.", self.noun())
    }

    /// Returns `question` or `questions`.
    pub(super) fn noun(&self) -> &'static str {
        if self.pages.len() == 1 { "question" } else { "questions" }
    }

    /// Returns the rows of the prompt of declined questions; `None` if they are not declined.
    pub(super) fn declined_height(&self, width: u16, keys: &Keymap, theme: &Theme) -> Option<u16> {
        let Declining::Until(_) = self.declining else { return None };
        // The border takes 2 rows; border and padding take 4 columns.
        let columns = usize::from(width.saturating_sub(4)).max(1);
        let rows = wrap::wrap_plain(&self.describe_declining(keys), theme.text, columns).len();
        Some(u16::try_from(rows + 2).unwrap_or(u16::MAX))
    }
}
