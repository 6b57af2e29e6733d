//! Inputs of the transcript's layout.

use crate::agent;
use crate::chat::CallId;
use crate::tui::keys::Keymap;
use crate::tui::parts::reply_timing::ReplyTiming;
use crate::tui::theme::Theme;
use std::time::Duration;

/// Inputs of a layout.
#[derive(Clone, Copy)]
pub struct LayoutContext<'a> {
    /// The session and the running turn.
    pub agent: &'a agent::State,
    pub theme: &'a Theme,
    /// Width of a line in cells.
    pub width: usize,
    /// Time since program start.
    pub now: Duration,
    /// Start of the current activity.
    pub activity_start: Duration,
    /// Start of each running sub-agent.
    pub sub_agent_starts: &'a [(CallId, Duration)],
    /// Timing of the current or last reply.
    pub timing: &'a ReplyTiming,
    /// Key bindings, for hints.
    pub keys: &'a Keymap,
}
