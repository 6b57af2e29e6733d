//! Running tasks, by turn.

use crate::chat::TurnId;
use std::collections::HashMap;
use tokio::task::JoinSet;

/// Tasks of all turns. Dropping it stops them.
#[derive(Default)]
pub(super) struct TurnTasks {
    turns: HashMap<TurnId, JoinSet<()>>,
}

impl TurnTasks {
    /// Starts a task of a turn.
    pub(super) fn spawn_task(&mut self, turn: TurnId, task: impl Future<Output = ()> + Send + 'static) {
        self.turns.retain(|_, tasks| {
            while tasks.try_join_next().is_some() {}
            !tasks.is_empty()
        });
        self.turns.entry(turn).or_default().spawn(task);
    }

    /// Aborts all tasks of a turn.
    pub(super) fn abort_turn(&mut self, turn: TurnId) {
        self.turns.remove(&turn);
    }
}
