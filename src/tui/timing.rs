//! Clocks of the screen.

use super::parts::reply_timing::ReplyTiming;
use crate::chat::CallId;
use std::time::Duration;

/// Clocks of the screen.
#[derive(Debug, Clone, Default)]
pub struct Timing {
    /// Time since the start.
    pub now: Duration,
    /// Start of the current activity.
    pub activity_start: Duration,
    /// Start of each running sub-agent.
    pub sub_agent_starts: Vec<(CallId, Duration)>,
    /// Speed of the reply.
    pub pace: ReplyTiming,
    /// True if the passing of time changed the screen.
    pub(super) is_changed_by_time: bool,
}
