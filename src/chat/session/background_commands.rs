//! Background commands of a session: which ones there are, and how they ended.

use super::Session;
use crate::chat::{BackgroundCommand, BackgroundEnd, CallId, Entry};

impl Session {
    /// Returns the background commands, in the order they were moved.
    pub fn background_commands(&self) -> &[BackgroundCommand] {
        &self.background
    }

    /// Returns the number of the background command that this call became.
    pub fn background_number(&self, call: &CallId) -> Option<u32> {
        self.background.iter().find(|command| command.call == *call).map(|command| command.number)
    }

    /// Returns the end of a background command; `None` while it runs.
    pub fn background_end(&self, command: &BackgroundCommand) -> Option<&BackgroundEnd> {
        match self.entries().get(command.ended_at?) {
            Some(Entry::BackgroundEnded(end)) => Some(end),
            Some(_) | None => None,
        }
    }

    /// Returns the number for the next background command.
    pub fn next_background_number(&self) -> u32 {
        self.background.iter().map(|command| command.number).max().unwrap_or(0) + 1
    }

    /// Records that a call became a background command.
    pub(super) fn add_background_command(&mut self, call: &CallId, number: u32) {
        if self.background_number(call).is_none() {
            self.background.push(BackgroundCommand { number, call: call.clone(), ended_at: None });
        }
    }

    /// Records the end of a background command, which is the entry at this index.
    pub(super) fn end_background_command(&mut self, end: &BackgroundEnd, index: usize) {
        let command = self.background.iter_mut().find(|command| command.call == end.call);
        if let Some(command) = command.filter(|command| command.ended_at.is_none()) {
            command.ended_at = Some(index);
        }
    }
}
