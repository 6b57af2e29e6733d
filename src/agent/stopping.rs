//! What becomes of open calls when the person stops the turn.

use super::Desk;
use super::acting::{digest, settle};
use super::state::Step;
use crate::chat::{Answer, CallId, Digest, Outcome, Status};
use std::time::Duration;

/// Settles what is open when the person stops the turn.
pub(super) fn settle_the_rest(desk: &mut Desk<'_>) {
    let open: Vec<(CallId, String, Digest)> = desk
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
                Step::Running(_) => pending
                    .printed
                    .outcome("The person stopped it in the middle. What it had done by then stays done."),
                Step::Delegated(sub_agent) if sub_agent.has_begun() => {
                    "The person stopped the sub-agent in the middle. What its calls had done by then stays done.".to_owned()
                }
                Step::ForAnswer(questions) => Answer::without(Status::Deferred).result(questions),
                Step::Waiting
                | Step::Planning
                | Step::Consulting(_)
                | Step::ForApproval(..)
                | Step::Delegated(_) => {
                    "Not done: the person stopped the turn before it began.".to_owned()
                }
            };
            Some((pending.call.id.clone(), words, ran))
        })
        .collect();
    for (id, words, ran) in open {
        settle(desk, &id, (Outcome::Interrupted(words), None), Duration::ZERO, ran);
    }
}
