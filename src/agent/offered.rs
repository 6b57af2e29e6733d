//! A turn whose calls no model makes: the person wants to decide over them one by one. Each asks, whatever would let it
//! go ahead, and no request follows the last of them.

use super::thinking::{named_apart, new_turn};
use super::{Desk, acting};
use crate::chat::{CallId, Entry, ToolCall};
use crate::policy::Verdict;
use serde_json::Value;

/// What is looked at in such a turn.
#[derive(Debug, Clone, PartialEq)]
pub struct Offered {
    /// What the person wanted, as it stands in the talk.
    pub said: String,
    /// The calls, each with its tool and its arguments.
    pub calls: Vec<(String, Value)>,
}

/// Begins it. Not while anything goes on, and not in a dry run, where nothing could be done for real.
pub(super) fn begin(desk: &mut Desk<'_>, offered: Offered) {
    if !desk.state.is_idle() || desk.state.is_dry_run() || offered.calls.is_empty() {
        return;
    }
    let turn = new_turn(desk);
    desk.state.offered = true;
    let made = desk.state.session.calls().count();
    let call = |(at, (name, arguments)): (usize, (String, Value))| ToolCall {
        id: CallId(format!("offered_{}", made + at + 1)),
        name,
        arguments: arguments.to_string(),
    };
    let calls: Vec<ToolCall> = offered.calls.into_iter().enumerate().map(call).collect();
    // A model may have taken such a name for a call of its own.
    let calls = named_apart(desk, &calls);
    desk.keep(Entry::Said { text: offered.said });
    desk.keep(Entry::called(calls.clone()));
    acting::begin(desk, turn, calls);
}

/// What would go ahead by itself asks here: this is what the person wants to see.
pub(super) fn asks(offered: bool, verdict: Verdict) -> Verdict {
    match verdict {
        Verdict::Allow(_) if offered => Verdict::Ask("you want to decide over each of these".to_owned()),
        Verdict::Allow(_) | Verdict::Ask(_) | Verdict::Rehearse(_) | Verdict::Refuse(_) => verdict,
    }
}
