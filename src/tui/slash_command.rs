//! Definition of a slash command. The commands themselves are in `update/slash_commands.rs`.

use super::keys::Action;
use super::parts::transcript::layout_cache::LayoutCache;
use super::state::State;

/// Runs a command with the text after its name.
pub type RunCommand = fn(&mut State, &mut LayoutCache, &str);

/// A command the user can run by name.
#[derive(Debug, Clone, Copy)]
pub struct SlashCommand {
    /// Names after the slash; the first one is shown.
    pub names: &'static [&'static str],
    /// Label for completion and the palette.
    pub help: &'static str,
    /// Action with the same effect, if any. Its keys are shown in the palette.
    pub action: Option<Action>,
    /// What the command does.
    pub run: RunCommand,
}
