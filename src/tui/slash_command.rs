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
    /// Action whose keys are shown in the palette, if any.
    pub action: Option<Action>,
    /// Runs the command with the text after its name; `None` if it only runs its action.
    pub run: Option<fn(&mut State, &str)>,
}
