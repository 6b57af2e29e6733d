//! Implements [`Prompt`] for the queue list, which opens over an approval prompt.

use super::{KeyResult, QueueList, queue_rows};
use crate::agent::{self, Event};
use crate::chat::{CallId, Decider, Decision};
use crate::tui::keys::{Chord, Scope};
use crate::tui::prompts::prompt::{DrawnPrompt, Prompt, PromptCommand, PromptFacts};
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

    fn handle_prompt_key(&mut self, key: &KeyEvent, facts: &PromptFacts<'_>) -> Option<Vec<PromptCommand>> {
        let mut commands = vec![PromptCommand::IgnoreRepeats];
        match self.key(key, facts.context.keys, &queue_rows(facts.agent), facts.context.listening) {
            KeyResult::PassedOn => return None,
            KeyResult::Handled => return Some(Vec::new()),
            KeyResult::Explained(message) => return Some(vec![PromptCommand::Explain(message.to_owned())]),
            KeyResult::Close => commands.push(PromptCommand::CloseQueue),
            KeyResult::OpenPrompt(call) => {
                let event = Event::EarlyPromptRequested(Some(call));
                commands.extend([PromptCommand::CloseQueue, PromptCommand::Agent(event)]);
            }
            KeyResult::Deny(calls, message) => {
                let elapsed =
                    self.first_drawn.map_or(Duration::ZERO, |first_drawn| facts.now.saturating_sub(first_drawn));
                let by = Decider::from_key(Chord::from(key).to_string(), elapsed);
                let deny = |call: CallId| Event::CallDecided {
                    call,
                    decision: Decision::Deny(message.clone()),
                    by: by.clone(),
                };
                // The last call is denied first, so that no call is planned again in vain.
                commands.extend(calls.into_iter().rev().map(deny).map(PromptCommand::Agent));
            }
        }
        Some(commands)
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
