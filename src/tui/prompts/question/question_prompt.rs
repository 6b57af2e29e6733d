//! Implements [`Prompt`] for the question prompt.

use super::declining::Declining;
use super::question_layout::QuestionContext;
use super::{QuestionPrompt, is_field_listening};
use crate::agent::WaitingCall;
use crate::chat::CallId;
use crate::tui::keys::{Action, Keymap, Scope};
use crate::tui::parts::frame::PromptContext;
use crate::tui::parts::listening::Listening;
use crate::tui::parts::sub_agent_name::origin_line;
use crate::tui::prompts::prompt::{DrawnPrompt, KeyResult, Prompt, PromptCommand, PromptFacts};
use crossterm::event::KeyEvent;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use std::time::Duration;

impl Prompt for QuestionPrompt {
    fn call(&self) -> Option<&CallId> {
        Some(&self.call)
    }

    fn scope(&self) -> Scope {
        Scope::Question
    }

    fn notification(&self) -> &'static str {
        "aye has a question"
    }

    fn prompt_height(&self, facts: &PromptFacts<'_>, width: u16) -> u16 {
        match facts.agent.waiting_call() {
            Some(WaitingCall::Answer { questions, .. }) => {
                let declined_height = self.declined_height(width, facts.context.keys, facts.context.theme);
                declined_height.unwrap_or_else(|| self.preferred_height(questions, width, facts.context.theme))
            }
            Some(WaitingCall::Approval { .. }) | None => 0,
        }
    }

    fn draw_prompt(&self, facts: &PromptFacts<'_>, area: Rect, buffer: &mut Buffer) -> DrawnPrompt {
        match facts.agent.waiting_call() {
            Some(WaitingCall::Answer { .. }) if matches!(self.declining, Declining::Until(_)) => {
                self.draw_declined((facts.context.keys, facts.context.theme, facts.now), area, buffer)
            }
            Some(WaitingCall::Answer { questions, sub_agent, .. }) => {
                self.draw(questions, sub_agent.map(origin_line).as_deref(), &QuestionContext::new(facts), area, buffer)
            }
            Some(WaitingCall::Approval { .. }) | None => DrawnPrompt::default(),
        }
    }

    fn record_frame(&mut self, now: Duration, drawn: DrawnPrompt) {
        (self.visible_rows, self.scroll, self.question_scroll) =
            (drawn.visible_rows.max(1), drawn.scroll, drawn.head_scroll);
        self.field_width = drawn.field_width.max(1);
        if drawn.is_readable {
            self.first_drawn.get_or_insert(now);
        }
    }

    fn first_drawn(&self) -> Option<Duration> {
        self.first_drawn
    }

    fn handle_prompt_key(&mut self, key: &KeyEvent, facts: &PromptFacts<'_>) -> KeyResult {
        match facts.agent.waiting_call() {
            Some(WaitingCall::Answer { questions, .. }) => {
                let PromptContext { keys, listening, .. } = facts.context;
                let declining_result = match listening.is_listening() && !self.is_parked {
                    true => self.handle_declining_key(key, keys, facts.now),
                    false => None,
                };
                declining_result.unwrap_or_else(|| self.handle_key(key, keys, questions, listening))
            }
            Some(WaitingCall::Approval { .. }) | None => KeyResult::PassedOn,
        }
    }

    fn is_writing(&self) -> bool {
        self.open_field.is_some()
    }

    fn takes_text(&self, listening: Listening) -> bool {
        self.is_writing() && is_field_listening(self.is_field_untouched, listening)
    }

    fn insert_paste(&mut self, text: &str) -> bool {
        let Some((_, line)) = &mut self.open_field else { return false };
        line.insert(text);
        self.is_field_untouched = false;
        true
    }

    fn scroll_content(&mut self, lines: isize) -> bool {
        self.scroll = self.scroll.saturating_add_signed(lines);
        true
    }

    fn to_saved_json(&self) -> String {
        self.serialize_draft()
    }

    fn next_change(&self, now: Duration) -> Option<Duration> {
        self.next_declining_change(now)
    }

    fn take_due_command(&mut self, now: Duration) -> Option<PromptCommand> {
        self.take_due_decline(now)
    }

    fn start_declining(&mut self) {
        self.declining = Declining::Asked;
    }

    fn park(&mut self) -> bool {
        self.declining = Declining::No;
        !std::mem::replace(&mut self.is_parked, true)
    }

    fn restore(&mut self) {
        (self.is_parked, self.first_drawn, self.declining) = (false, None, Declining::No);
        self.is_field_untouched = self.open_field.is_some();
    }

    fn is_parked(&self) -> bool {
        self.is_parked
    }

    fn chip_text(&self, keys: &Keymap) -> String {
        let count = self.pages.len();
        let count_text =
            if count == 1 { "1 question waiting".to_owned() } else { format!("{count} questions waiting") };
        let key = |action| keys.first_chord(Scope::Anywhere, action);
        format!("{count_text} · {} answer · {} decline", key(Action::OpenQuestion), key(Action::DeclineQuestion))
    }
}
