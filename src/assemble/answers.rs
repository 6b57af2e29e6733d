//! Reads the answers file of `--answers` and answers waiting questions with it.

use super::Mistake;
use super::wiring::Session;
use crate::agent::{self, Event, Waiting};
use crate::chat::By;
use crate::cli::Cli;
use crate::print::{Answers, FORMS};
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use std::fs::{File, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

/// Largest answers file, in bytes.
const MOST: u64 = 1024 * 1024;

/// Rejects `--answers` if no question could be answered by it.
pub(super) fn allowed(cli: &Cli) -> Result<(), Mistake> {
    let Some(file) = &cli.answers else { return Ok(()) };
    if cli.print {
        return Ok(());
    }
    let resumes = cli.go_on || cli.resume.as_ref().is_some_and(|name| !name.is_empty());
    if !resumes {
        return Err(Mistake(
            "--answers needs -p, or a session with a waiting question: --resume ID or --continue".to_owned(),
        ));
    }
    if file == Path::new("-") {
        return Err(Mistake(
            "--answers - reads standard input, which the screen needs for the keyboard. Name a file, or add -p".to_owned(),
        ));
    }
    Ok(())
}

/// Reads and parses the file.
pub(super) fn read(file: &Path) -> Result<Answers, Mistake> {
    let name = if file == Path::new("-") { "standard input".to_owned() } else { file.display().to_string() };
    let wrong = |why: String| Mistake(format!("--answers: {name}: {why}"));
    let mut bytes = Vec::new();
    let read = if file == Path::new("-") {
        std::io::stdin().take(MOST + 1).read_to_end(&mut bytes)
    } else {
        open(file).and_then(|open| open.take(MOST + 1).read_to_end(&mut bytes))
    };
    read.map_err(|error| wrong(format!("{error}; {FORMS}")))?;
    if bytes.len() as u64 > MOST {
        return Err(wrong(format!("it has more than {MOST} bytes, which is the limit; {FORMS}")));
    }
    let text = String::from_utf8(bytes).map_err(|_| wrong(format!("it is not UTF-8 text; {FORMS}")))?;
    Answers::read(&text).map_err(wrong)
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
pub(super) fn fits(answers: &Answers, session: &Session, prompt: &str) -> Result<bool, Mistake> {
    if *answers == Answers::default() {
        return Ok(false);
    }
    match session.state.waiting() {
        Some(Waiting::Answer { call, questions, .. }) => {
            let fits = answers.clone().exactly(&call.id, questions);
            fits.map(|_| true).map_err(|why| Mistake(unfit(&why)))
        }
        Some(Waiting::Approval { .. }) | None if prompt.trim().is_empty() => {
            Err(Mistake(format!("--answers: session {} has no waiting question", session.id)))
        }
        Some(Waiting::Approval { .. }) | None => Ok(false),
    }
}

/// Answers the waiting question before the screen is shown.
pub(super) fn give(answers: &mut Answers, session: &mut Session) -> Result<(), Mistake> {
    fits(answers, session, "")?;
    if let Some(Waiting::Answer { call, questions, .. }) = session.state.waiting() {
        let call = call.id.clone();
        let answer = answers.exactly(&call, questions).map_err(|why| Mistake(unfit(&why)))?;
        session
            .effects
            .extend(agent::update(&mut session.state, Event::Answered { call, answer, by: By::File }));
    }
    Ok(())
}

fn unfit(why: &str) -> String {
    format!("--answers: {why}\nThe question was not answered and still waits.")
}
