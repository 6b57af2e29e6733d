//! Implements [`Prompt`] for the queue list, which opens over an approval prompt.

use super::{QueueList, queue_rows};
use crate::agent;
use crate::tui::keys::Scope;
use crate::tui::prompts::prompt::{DrawnPrompt, KeyResult, Prompt, PromptFacts};
use crossterm::event::KeyEvent;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use std::time::Duration;

impl Prompt for QueueList {
    fn scope(&self) -> Scope {
        Scope::Queue
    }

    fn prompt_height(&self, facts: &PromptFacts<'_>, _width: u16) -> u16 {
        self.preferred_height(queue_rows(facts.agent).len())
    }

    fn draw_prompt(&self, facts: &PromptFacts<'_>, area: Rect, buffer: &mut Buffer) -> DrawnPrompt {
        self.draw(&queue_rows(facts.agent), &facts.context, area, buffer)
    }

    fn record_frame(&mut self, now: Duration, drawn: DrawnPrompt) {
        self.page_rows = drawn.visible_rows.max(1);
        if drawn.is_readable {
            self.first_drawn.get_or_insert(now);
        }
    }

    fn first_drawn(&self) -> Option<Duration> {
        self.first_drawn
    }

    fn handle_prompt_key(&mut self, key: &KeyEvent, facts: &PromptFacts<'_>) -> KeyResult {
        self.handle_key(key, facts.context.keys, &queue_rows(facts.agent), facts.context.listening)
    }

    fn is_writing(&self) -> bool {
        self.denial_message.is_some()
    }

    fn insert_paste(&mut self, text: &str) -> bool {
        let Some((_, line)) = &mut self.denial_message else { return false };
        line.insert(text);
        true
    }

    fn written_reply(&self, _agent: &agent::State) -> Option<String> {
        let (_, line) = self.denial_message.as_ref()?;
        Some(line.text().trim().to_owned()).filter(|text| !text.is_empty())
    }
}
