//! Reads the answers file of `--answers` and answers waiting questions with it.

use super::session::Session;
use super::usage_error::UsageError;
use crate::agent::{self, Event, WaitingCall};
use crate::chat::Decider;
use crate::cli::ChatOptions;
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
    let resumes = options.continue_last || options.resume.as_ref().is_some_and(|name| !name.is_empty());
    if !resumes {
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
    let wrong = |why: String| UsageError(format!("--answers: {name}: {why}"));
    let mut bytes = Vec::new();
    let read = if file == Path::new("-") {
        std::io::stdin().take(MAX_BYTES + 1).read_to_end(&mut bytes)
    } else {
        open(file).and_then(|open| open.take(MAX_BYTES + 1).read_to_end(&mut bytes))
    };
    read.map_err(|error| wrong(format!("{error}; {EXPECTED_FORMATS}")))?;
    if bytes.len() as u64 > MAX_BYTES {
        return Err(wrong(format!("it has more than {MAX_BYTES} bytes, which is the limit; {EXPECTED_FORMATS}")));
    }
    let text = String::from_utf8(bytes).map_err(|_| wrong(format!("it is not UTF-8 text; {EXPECTED_FORMATS}")))?;
    Answers::parse(&text).map_err(wrong)
}

/// Opens the file without blocking. A pipe without a writer counts as empty.
fn open(file: &Path) -> io::Result<File> {
    if file.is_dir() {
        return Err(io::Error::other("it is a folder"));
    }
    let open = OpenOptions::new().read(true).custom_flags(OFlags::NONBLOCK.bits() as i32).open(file)?;
    // A writer may take as long as it needs.
    let flags = fcntl_getfl(&open)?;
    fcntl_setfl(&open, flags - OFlags::NONBLOCK)?;
    Ok(open)
}

/// Returns whether a question of the session waits for these answers. Answers that do not fit are an error before
/// anything runs.
pub(super) fn check_answers(answers: &Answers, session: &Session, prompt: &str) -> Result<bool, UsageError> {
    if *answers == Answers::default() {
        return Ok(false);
    }
    match session.state.waiting_call() {
        Some(WaitingCall::Answer { call, questions, .. }) => {
            let fits = answers.clone().match_exactly(&call.id, questions);
            fits.map(|_| true).map_err(|why| UsageError(mismatch_error(&why)))
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
        let answer = answers.match_exactly(&call, questions).map_err(|why| UsageError(mismatch_error(&why)))?;
        session
            .effects
            .extend(agent::update(&mut session.state, Event::QuestionsAnswered { call, answer, by: Decider::File }));
    }
    Ok(())
}

fn mismatch_error(why: &str) -> String {
    format!("--answers: {why}\nThe question was not answered and still waits.")
}
