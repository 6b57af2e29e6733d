//! Settles open calls when the user stops the turn.

use super::call_output::format_interrupted_outcome;
use super::call_settlement::{digest_call, settle_call};
use super::state::CallStage;
use super::update_context::UpdateContext;
use crate::chat::{Answer, AnswerStatus, CallId, Digest, Outcome};
use std::time::Duration;

/// Settles every open call when the user stops the turn.
pub(super) fn settle_open_calls(ctx: &mut UpdateContext<'_>) {
    let open_calls: Vec<(CallId, String, Digest)> = ctx
        .state
        .pending()
        .iter()
        .filter_map(|pending| {
            let (outcome_text, digest) = match &pending.stage {
                CallStage::Settled => return None,
                CallStage::Running(plan) => {
                    let reason = "The user interrupted this call. Changes it had made remain.";
                    let outcome_text = format_interrupted_outcome(reason, pending.full_output.text());
                    (outcome_text, digest_call(&pending.call, plan))
                }
                CallStage::Delegated(sub_agent) if sub_agent.has_started() => {
                    let outcome_text = "The user interrupted the sub-agent. Changes its calls had made remain.";
                    (outcome_text.to_owned(), sub_agent.sha256.clone())
                }
                CallStage::AwaitingAnswer(questions) => {
                    (Answer::from_status(AnswerStatus::Deferred).to_result(questions), Digest::default())
                }
                CallStage::AwaitingTurn
                | CallStage::Planning
                | CallStage::UnderReview(_)
                | CallStage::AwaitingApproval(..)
                | CallStage::OnTrial(..)
                | CallStage::Delegated(_) => {
                    let outcome_text = "Not run: the user stopped the turn before this call started.";
                    (outcome_text.to_owned(), Digest::default())
                }
            };
            Some((pending.call.id.clone(), outcome_text, digest))
        })
        .collect();
    for (id, outcome_text, digest) in open_calls {
        settle_call(ctx, &id, (Outcome::Interrupted(outcome_text), None), Duration::ZERO, digest);
    }
}
