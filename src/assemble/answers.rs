//! Reads the answers file of `--answers` and answers waiting questions with it.

use super::session::Session;
use crate::agent::{self, Event, WaitingCall};
use crate::chat::Decider;
use crate::cli::ChatOptions;
use crate::cli::UsageError;
use crate::print::{Answers, EXPECTED_FORMATS};
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use std::fs::{File, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

/// Largest answers file, in bytes.
const MAX_BYTES: u64 = 1024 * 1024;

/// Rejects `--answers` if no question could be answered by it.
pub(super) fn check_flags(options: &ChatOptions) -> Result<(), UsageError> {
    let Some(file) = &options.answers else { return Ok(()) };
    if options.print {
        return Ok(());
    }
    let is_resuming = options.continue_last || options.resume.as_ref().is_some_and(|name| !name.is_empty());
    if !is_resuming {
        return Err(UsageError(
            "--answers needs -p, or a session with a waiting question: --resume ID or --continue".to_owned(),
        ));
    }
    if file == Path::new("-") {
        return Err(UsageError(
            "--answers - reads standard input, which the screen needs for the keyboard. Name a file, or add -p"
                .to_owned(),
        ));
    }
    Ok(())
}

/// Reads and parses the file.
pub(super) fn read_answers(file: &Path) -> Result<Answers, UsageError> {
    let name = if file == Path::new("-") { "standard input".to_owned() } else { file.display().to_string() };
    let usage_error = |reason: String| UsageError(format!("--answers: {name}: {reason}"));
    let mut bytes = Vec::new();
    let result = if file == Path::new("-") {
        std::io::stdin().take(MAX_BYTES + 1).read_to_end(&mut bytes)
    } else {
        open(file).and_then(|opened| opened.take(MAX_BYTES + 1).read_to_end(&mut bytes))
    };
    result.map_err(|error| usage_error(format!("{error}; {EXPECTED_FORMATS}")))?;
    if bytes.len() as u64 > MAX_BYTES {
        return Err(usage_error(format!("it has more than {MAX_BYTES} bytes, which is the limit; {EXPECTED_FORMATS}")));
    }
    let text =
        String::from_utf8(bytes).map_err(|_| usage_error(format!("it is not UTF-8 text; {EXPECTED_FORMATS}")))?;
    Answers::parse(&text).map_err(usage_error)
}

/// Opens the file without blocking. A pipe without a writer counts as empty.
fn open(file: &Path) -> io::Result<File> {
    if file.is_dir() {
        return Err(io::Error::other("it is a folder"));
    }
    let opened = OpenOptions::new().read(true).custom_flags(OFlags::NONBLOCK.bits() as i32).open(file)?;
    // From here on reading blocks, so that a writer may take as long as it needs.
    let flags = fcntl_getfl(&opened)?;
    fcntl_setfl(&opened, flags - OFlags::NONBLOCK)?;
    Ok(opened)
}

/// Returns whether a question of the session waits for these answers. Called before anything runs.
///
/// # Errors
/// Fails if the answers do not match the question, or if no question waits and there is no prompt.
pub(super) fn check_answers(answers: &Answers, session: &Session, prompt: &str) -> Result<bool, UsageError> {
    if *answers == Answers::default() {
        return Ok(false);
    }
    match session.state.waiting_call() {
        Some(WaitingCall::Answer { call, questions, .. }) => {
            let matched = answers.clone().match_exactly(&call.id, questions);
            matched.map(|_| true).map_err(|reason| UsageError(mismatch_error(&reason)))
        }
        Some(WaitingCall::Approval { .. }) | None if prompt.trim().is_empty() => {
            Err(UsageError(format!("--answers: session {} has no waiting question", session.id)))
        }
        Some(WaitingCall::Approval { .. }) | None => Ok(false),
    }
}

/// Answers the waiting question before the screen is shown.
pub(super) fn apply_answers(answers: &mut Answers, session: &mut Session) -> Result<(), UsageError> {
    check_answers(answers, session, "")?;
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
    format!("--answers: {reason}\nThe question was not answered and still waits.")
}
