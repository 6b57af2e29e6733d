//! What the file of a tool of the program gives to the list of tools.

use super::{Tool, ToolSettings};
use crate::chat::CallWords;
use std::sync::Arc;

/// A tool of the program that the settings alone can make.
pub(super) struct BuiltInTool {
    pub(super) words: CallWords,
    /// Makes the tool, or returns `None` if it is turned off.
    pub(super) make: fn(&ToolSettings) -> Option<Arc<dyn Tool>>,
}
