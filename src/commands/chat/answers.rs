//! Answers waiting questions with the file of `--answers`.

use crate::agent::{self, Event, WaitingCall};
use crate::assemble::session::Session;
use crate::chat::Decider;
use crate::cli::{ChatOptions, UsageError, bail_usage};
use crate::print::Answers;
use std::path::Path;

/// Rejects `--answers` if no question could be answered by it.
pub(super) fn check_flags(options: &ChatOptions) -> Result<(), UsageError> {
    let Some(file) = &options.answers else { return Ok(()) };
    if options.print {
        return Ok(());
    }
    let is_resuming = options.continue_last || options.resume.as_ref().is_some_and(|name| !name.is_empty());
    if !is_resuming {
        bail_usage!(
            "Cannot use --answers here: no question is waiting in a new session. Add -p, or --resume ID or --continue."
        );
    }
    if file == Path::new("-") {
        bail_usage!("Cannot use --answers -: standard input is needed for the keyboard. Name a file, or add -p.");
    }
    Ok(())
}

/// Returns whether a question of the session waits for these answers. Fails before anything runs if the answers do not
/// fit the question. Without a prompt, also fails if no question waits.
pub(super) fn check_answers(answers: &Answers, session: &Session, prompt: &str) -> Result<bool, UsageError> {
    if *answers == Answers::default() {
        return Ok(false);
    }
    match session.state.waiting_call() {
        Some(WaitingCall::Answer { call, questions, .. }) => {
            let matched = answers.clone().match_exactly(&call.id, questions);
            matched.map(|_| true).map_err(|reason| UsageError(mismatch_error(&reason)))
        }
        Some(WaitingCall::Approval { .. }) | None if prompt.trim().is_empty() => Err(UsageError(format!(
            "Cannot use --answers: session {} has no waiting question. Add a prompt, or omit --answers.",
            session.id
        ))),
        Some(WaitingCall::Approval { .. }) | None => Ok(false),
    }
}

/// Answers the waiting question before the screen is shown.
pub(super) fn apply_answers(answers: &mut Answers, session: &mut Session) -> Result<(), UsageError> {
    let no_prompt = "";
    check_answers(answers, session, no_prompt)?;
    if let Some(WaitingCall::Answer { call, questions, .. }) = session.state.waiting_call() {
        let call = call.id.clone();
        let answer = answers.match_exactly(&call, questions).map_err(|reason| UsageError(mismatch_error(&reason)))?;
        session
            .effects
            .extend(agent::update(&mut session.state, Event::QuestionsAnswered { call, answer, by: Decider::File }));
    }
    Ok(())
}

fn mismatch_error(reason: &str) -> String {
    let reason = reason.trim_end_matches('.');
    format!("Cannot use --answers: {reason}. The question is still waiting: correct the file and run this again.")
}
