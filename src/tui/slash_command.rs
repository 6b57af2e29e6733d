//! Definition of a slash command. The commands themselves are in `update/slash_commands.rs`.

use super::keys::Action;
use super::state::State;

/// A command the user can run by name.
#[derive(Debug, Clone, Copy)]
pub struct SlashCommand {
    /// Names after the slash; the first one is shown.
    pub names: &'static [&'static str],
    /// Label for completion and the palette.
    pub help: &'static str,
    /// What it does.
    pub run: CommandRun,
}

/// What a slash command does.
#[derive(Debug, Clone, Copy)]
pub enum CommandRun {
    /// Runs an action, whose keys are shown in the palette.
    Action(Action),
    /// Calls a function with the text after the name. The keys of the action, if any, are shown in the palette.
    Function(fn(&mut State, &str), Option<Action>),
}
