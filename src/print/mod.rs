//! The frontend without a screen: one prompt in, one reply out.

pub mod answers;
mod format;
mod stand_in;

pub use answers::{Answers, FORMS};
pub use format::{Format, harmless, printable};

use crate::agent::{self, Effect, Event, State};
use crate::chat::entry_count::count_in_words;
use crate::chat::{Chunk, Ending, Entry, SessionId};
use crate::runtime::{Events, Runtime, Unsaved};
use format::Printer;
use stand_in::StandIn;
use std::io::Write;

/// How a run without a screen ended. The number is the program's exit code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// The reply is whole.
    Done,
    /// The model's service failed, or the reply is not whole.
    Failed,
    /// Something waits for a person, or was denied because nobody was there.
    Waits,
    /// The person stopped it with ctrl-c; what came is kept.
    Stopped,
    /// The file of answers does not fit what is asked; the question waits.
    Mistaken,
}

impl Exit {
    /// The exit code.
    pub fn code(self) -> u8 {
        match self {
            Self::Done => 0,
            Self::Failed => 1,
            Self::Mistaken => 2,
            Self::Waits => 3,
            Self::Stopped => 130,
        }
    }
}

/// What one run needs.
pub struct Run<'a> {
    /// The agent, idle or with a question open.
    pub state: State,
    /// Does its effects.
    pub runtime: Runtime,
    /// Where its events come out.
    pub events: Events,
    /// What opening the session left to be kept.
    pub effects: Vec<Effect>,
    /// Named in what is printed when something waits.
    pub session: SessionId,
    /// What the person says. Empty goes on where the session stands.
    pub prompt: String,
    /// What the person answers, known before; empty where they said nothing.
    pub answers: Answers,
    /// Text or JSON lines.
    pub format: Format,
    /// Makes a reply harmless to any terminal; the identity if the user wants it as it is.
    pub clean: fn(&str) -> String,
    /// The same for what goes to `err`, which may be a terminal where `out` is none.
    pub tidy: fn(&str) -> String,
    /// The reply goes here.
    pub out: &'a mut dyn Write,
    /// Everything else goes here.
    pub err: &'a mut dyn Write,
}

/// Explains what is lost of a session that could not be saved.
fn explain_unsaved(unsaved: &Unsaved, state: &State) -> String {
    let entries = state.session.entries();
    let lost = &entries[entries.len().saturating_sub(unsaved.entries)..];
    let what = count_in_words(lost);
    format!("{}. Not kept: {what}", unsaved.reason)
}

/// Says the prompt and prints what comes. A call that needs a yes is denied; a question is answered by the answers
/// that were known before or not at all: then the run ends and the question waits in the session.
///
/// # Errors
/// Only where the output cannot be written.
pub async fn run(run: Run<'_>) -> std::io::Result<Exit> {
    let Run { mut state, mut runtime, mut events, effects, session, prompt, answers, format, .. } = run;
    let (tidy, err) = (run.tidy, run.err);
    let mut printer = Printer::new(format, run.clean, run.out);
    let mut stand_in = StandIn::new(answers);
    let mut exit = Exit::Done;
    let mut effects = effects;
    let mut told = None;
    let mut stopped = std::pin::pin!(tokio::signal::ctrl_c());
    if !prompt.trim().is_empty() {
        effects.extend(agent::update(&mut state, Event::Said(prompt)));
    }
    loop {
        for effect in &effects {
            if let Effect::Append(entry) = effect {
                printer.entry(entry)?;
                if let Entry::Compacted { tokens: (before, after), .. } = entry {
                    writeln!(err, "aye: what was said before is summarised · {before} → {after} tokens")?;
                }
                if let Entry::FellBack { model, why } = entry {
                    let why = why.trim_end_matches('.');
                    writeln!(err, "aye: {}", tidy(&format!("{why}; {model} answers this time")))?;
                }
                if let Entry::Ended { ending: Ending::Failed(why) } = entry {
                    exit = Exit::Failed;
                    writeln!(err, "aye: {}", tidy(why))?;
                }
            }
        }
        if let Some(trouble) = runtime.run(effects)
            && told.as_ref() != Some(&trouble)
        {
            writeln!(err, "aye: {}", tidy(&trouble))?;
            told = Some(trouble);
        }
        if let Some(event) = stand_in.answer(&state) {
            effects = agent::update(&mut state, event);
            continue;
        }
        // Beneath the turn others may go on while one waits.
        if state.is_idle() || state.waiting().is_some() && !state.is_busy() {
            break;
        }
        let event = tokio::select! {
            event = events.recv() => event,
            _ = &mut stopped, if exit != Exit::Stopped => {
                exit = Exit::Stopped;
                Some(Event::Interrupted)
            }
        };
        let Some(event) = event else { break };
        if let Event::Chunk { chunk: Chunk::Text(text), turn, .. } = &event
            && state.turn() == Some(*turn)
            && !state.is_summarising()
        {
            printer.text(text)?;
        }
        if let Event::Chunk { chunk: Chunk::WasReasoning, turn, .. } = &event
            && state.turn() == Some(*turn)
        {
            // What is printed stays; the reply begins on a line of its own.
            printer.finish()?;
        }
        if let Event::Chunk { chunk: Chunk::Retrying { wait, why, .. }, turn, .. } = &event
            && state.turn() == Some(*turn)
        {
            writeln!(err, "aye: {}; trying again in {} s", tidy(why), wait.as_secs_f64().ceil())?;
        }
        effects = agent::update(&mut state, event);
    }
    printer.finish()?;
    let unsaved = runtime.save();
    if let Some(unsaved) = &unsaved {
        exit = if exit == Exit::Done { Exit::Failed } else { exit };
        let words = format!("session {session} is not saved: {}", explain_unsaved(unsaved, &state));
        writeln!(err, "aye: {}", tidy(&words))?;
    }
    for why in stand_in.troubles(&state) {
        writeln!(err, "aye: {}", tidy(&why))?;
    }
    if stand_in.is_wrong() {
        exit = Exit::Mistaken;
    }
    let Some(told) = stand_in.told(&state, &session).filter(|_| exit != Exit::Stopped) else {
        return Ok(exit);
    };
    printer.value(&told)?;
    // What waits in a session that is not saved cannot be answered later.
    Ok(if exit == Exit::Mistaken || unsaved.is_some() { exit } else { Exit::Waits })
}
