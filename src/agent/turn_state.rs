//! State of the current turn, which is reset when the next one starts.

use super::context_estimate::CompactionAttempts;
use super::repeated_calls::RepeatedCalls;
use super::untrusted_text::UntrustedText;
use crate::chat::{CallId, ToolCall};
use std::collections::HashMap;

/// State of the current or last turn.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct TurnState {
    /// Number of requests for replies.
    pub(super) requests: u32,
    /// Number of tasks delegated to sub-agents.
    pub(super) delegated_tasks: u32,
    /// Attempts to fit into the context window; also reset when the user requests a summary.
    pub(super) compaction_attempts: CompactionAttempts,
    /// Failed calls, with the number of failures in a row.
    pub(super) failed_calls: Vec<(ToolCall, u32)>,
    /// Replies in a row in which no call of a tool succeeded, by tool.
    failed_replies: HashMap<String, FailedReplies>,
    /// Completed calls, to detect calls that repeat with the same outcome.
    pub(super) repeated_calls: RepeatedCalls,
    /// Text from the network that was read.
    pub(super) untrusted_text: UntrustedText,
    /// Paths changed by each call while it was rehearsed; `None` unless this is an apply turn.
    pub(super) rehearsed_paths: Option<HashMap<CallId, Vec<String>>>,
    /// True if the call comes from another program.
    pub(super) is_served: bool,
}

#[derive(Debug, Clone, Default, PartialEq)]
struct FailedReplies {
    count: u32,
    /// Number of the request for the last of them.
    last_request: u32,
}

impl TurnState {
    /// Returns whether the calls apply a dry run (`/rehearsal apply`) instead of coming from a model.
    pub(super) fn is_apply_turn(&self) -> bool {
        self.rehearsed_paths.is_some()
    }

    /// Returns whether no model takes part: the turn ends with its last call.
    pub(super) fn has_no_model(&self) -> bool {
        self.is_apply_turn() || self.is_served
    }

    /// Returns how often this call failed in a row with the same arguments.
    pub(super) fn failure_count(&self, call: &ToolCall) -> u32 {
        let failure = self.failed_calls.iter().find(|(failed_call, _)| is_same_call(failed_call, call));
        failure.map_or(0, |(_, count)| *count)
    }

    /// Returns in how many replies in a row all calls of this tool failed, whatever their arguments.
    pub(super) fn failed_reply_count(&self, tool: &str) -> u32 {
        self.failed_replies.get(tool).map_or(0, |replies| replies.count)
    }

    pub(super) fn count_failure(&mut self, call: &ToolCall) {
        let replies = self.failed_replies.entry(call.name.clone()).or_default();
        // The calls of one reply are guesses that did not learn from each other.
        if replies.last_request != self.requests {
            *replies = FailedReplies { count: replies.count + 1, last_request: self.requests };
        }
        match self.failed_calls.iter_mut().find(|(failed_call, _)| is_same_call(failed_call, call)) {
            Some((_, count)) => *count += 1,
            None => self.failed_calls.push((call.clone(), 1)),
        }
    }

    /// Clears the failures of all calls of a tool, because one succeeded.
    pub(super) fn clear_failures(&mut self, tool: &str) {
        self.failed_calls.retain(|(failed_call, _)| failed_call.name != tool);
        self.failed_replies.remove(tool);
    }
}

fn is_same_call(failed_call: &ToolCall, call: &ToolCall) -> bool {
    failed_call.name == call.name && failed_call.arguments == call.arguments
}
