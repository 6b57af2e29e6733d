//! Selection in the transcript: an entry, or a running command, which has no entry yet.

use super::{Direction, Layouts, Transcript};
use crate::agent::{self, CallStage};
use crate::chat::{CallId, Preview};

impl Transcript {
    /// Returns the selected running command, if any.
    pub fn selected_call(&self) -> Option<&CallId> {
        self.selected_call.as_ref()
    }

    /// Returns whether an entry or a running command is selected.
    pub fn has_selection(&self) -> bool {
        self.selected.is_some() || self.selected_call.is_some()
    }

    /// Selects the entry of the selected command once the command is settled.
    pub fn sync_selected_call(&mut self, agent: &agent::State) {
        let is_running = |call: &mut CallId| running_commands(agent).any(|running_call| running_call == call);
        if let Some(call) = self.selected_call.take_if(|call| !is_running(call)) {
            self.selected = agent.session.find_call(&call).and_then(|call| call.settled_at);
        }
    }

    /// Selects the nearest running command, or entry that can be opened, above or below the selected one, and scrolls to
    /// it. Clears the selection if there is none below. Without a selection, up selects the last one.
    pub fn select_entry(&mut self, layouts: &mut Layouts<'_>, direction: Direction) {
        let commands: Vec<CallId> = running_commands(layouts.context.agent).cloned().collect();
        let selected_command = self.selected_call.take().and_then(|call| commands.iter().position(|id| *id == call));
        let next_command = match (selected_command, self.selected, direction) {
            (Some(index), _, Direction::Up) => index.checked_sub(1),
            (Some(index), _, Direction::Down) => Some(index + 1),
            (None, None, Direction::Up) => commands.len().checked_sub(1),
            (None, Some(_), _) | (None, None, Direction::Down) => None,
        };
        if let Some(command) = next_command.and_then(|index| commands.get(index)) {
            return self.select_command(command);
        }
        if selected_command.is_some() && direction == Direction::Down {
            return;
        }
        let had_entry = self.selected.is_some();
        self.select_openable_entry(layouts, direction);
        // Below the last entry are the running commands, and above the first command there may be no entry.
        if self.selected.is_none()
            && (had_entry || selected_command.is_some())
            && let Some(command) = commands.first()
        {
            self.select_command(command);
        }
    }

    /// Returns whether the start of the selected entry is visible; false without one.
    pub fn shows_selection(&mut self, layouts: &mut Layouts<'_>) -> bool {
        let item = self.selected_item(layouts);
        item.is_some_and(|item| self.shows_start(layouts, item))
    }

    /// Scrolls to the selected entry once the rows of the transcript are known: a selection may take rows from the prompt,
    /// and a view that does not show the end leaves a row to the chip that says so.
    pub fn show_selection(&mut self, layouts: &mut Layouts<'_>) {
        let item = self.selected_item(layouts);
        self.show_item(layouts, item);
    }

    /// Scrolls to an item, if any, once the rows of the transcript are known.
    pub fn show_item(&mut self, layouts: &mut Layouts<'_>, item: Option<usize>) {
        if let Some(item) = item {
            self.scroll_into_view(layouts, item);
        }
        // With more rows than before, the view may show the end again.
        if let Some(top) = self.top {
            self.scroll_to(layouts, top);
        }
    }

    fn select_command(&mut self, command: &CallId) {
        (self.selected, self.selected_call) = (None, Some(command.clone()));
        self.follow_end();
    }
}

/// Returns the running commands that can be selected, in the order of their rows.
fn running_commands(agent: &agent::State) -> impl DoubleEndedIterator<Item = &CallId> {
    let is_command = |pending: &&agent::PendingCall| match &pending.stage {
        CallStage::Running(plan) | CallStage::OnTrial(plan, _) => matches!(plan.preview, Preview::Command(_)),
        _ => false,
    };
    agent.pending().iter().filter(is_command).map(|pending| &pending.call.id)
}
