//! Outcomes of unsettled calls when the user stops the turn.

use super::Desk;
use super::acting::{digest, settle};
use super::state::Step;
use crate::chat::{Answer, CallId, Digest, Outcome, Status};
use std::time::Duration;

/// Settles every open call when the user stops the turn.
pub(super) fn settle_the_rest(ctx: &mut Desk<'_>) {
    let open: Vec<(CallId, String, Digest)> = ctx
        .state
        .pending()
        .iter()
        .filter_map(|pending| {
            let ran = match &pending.step {
                Step::Running(plan) => digest(&pending.call, plan),
                Step::Delegated(sub_agent) if sub_agent.has_begun() => sub_agent.sha256.clone(),
                _ => Digest::default(),
            };
            let words = match &pending.step {
                Step::Settled => return None,
                Step::Running(_) => {
                    pending.printed.outcome("The user interrupted this call. Changes it had made remain.")
                }
                Step::Delegated(sub_agent) if sub_agent.has_begun() => {
                    "The user interrupted the sub-agent. Changes its calls had made remain.".to_owned()
                }
                Step::ForAnswer(questions) => Answer::without(Status::Deferred).result(questions),
                Step::Waiting
                | Step::Planning
                | Step::Consulting(_)
                | Step::ForApproval(..)
                | Step::Delegated(_) => {
                    "Not run: the user stopped the turn before this call started.".to_owned()
                }
            };
            Some((pending.call.id.clone(), words, ran))
        })
        .collect();
    for (id, words, ran) in open {
        settle(ctx, &id, (Outcome::Interrupted(words), None), Duration::ZERO, ran);
    }
}
