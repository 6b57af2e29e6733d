//! The tasks of turns, and of the commands that were moved out of them.

use crate::chat::{CallId, TurnId};
use crate::project::shell::command_control::CommandControl;
use std::collections::HashMap;
use std::sync::Arc;
use tokio::task::{AbortHandle, JoinSet};

/// Tasks of all turns. Dropping it stops them, background commands included.
#[derive(Default)]
pub(super) struct TurnTasks {
    turns: HashMap<TurnId, JoinSet<()>>,
    /// Live commands, each with tasks of its own, so that it can leave its turn.
    commands: HashMap<CallId, CommandTask>,
    background: Vec<JoinSet<()>>,
}

/// The task of a live command.
struct CommandTask {
    turn: TurnId,
    control: Arc<CommandControl>,
    tasks: JoinSet<()>,
}

impl TurnTasks {
    /// Starts a task of a turn.
    pub(super) fn spawn_task(&mut self, turn: TurnId, task: impl Future<Output = ()> + Send + 'static) -> AbortHandle {
        self.turns.retain(|_, tasks| is_running(tasks));
        self.turns.entry(turn).or_default().spawn(task)
    }

    /// Starts the task of a live command of a turn.
    pub(super) fn spawn_command(
        &mut self,
        turn: TurnId,
        call: CallId,
        control: Arc<CommandControl>,
        task: impl Future<Output = ()> + Send + 'static,
    ) {
        // A command of this turn that just ended can still be moved: its last events may not have been handled.
        self.commands.retain(|_, command| command.turn == turn || is_running(&mut command.tasks));
        self.background.retain_mut(is_running);
        let mut tasks = JoinSet::new();
        tasks.spawn(task);
        self.commands.insert(call, CommandTask { turn, control, tasks });
    }

    /// Moves a command out of its turn, whose end then does not stop it. Returns its control.
    pub(super) fn detach_command(&mut self, call: &CallId) -> Option<Arc<CommandControl>> {
        let CommandTask { control, tasks, .. } = self.commands.remove(call)?;
        self.background.push(tasks);
        Some(control)
    }

    /// Aborts all tasks of a turn.
    pub(super) fn abort_turn(&mut self, turn: TurnId) {
        self.turns.remove(&turn);
        self.commands.retain(|_, command| command.turn != turn);
    }
}

fn is_running(tasks: &mut JoinSet<()>) -> bool {
    while tasks.try_join_next().is_some() {}
    !tasks.is_empty()
}
