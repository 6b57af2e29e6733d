//! The frontend without a screen: one prompt in, one reply out.

mod format;
mod stand_in;

pub use format::Format;

use crate::agent::{self, Effect, Event, State};
use crate::chat::{Chunk, Ending, Entry, SessionId};
use crate::runtime::{Events, Runtime};
use format::Printer;
use serde_json::json;
use stand_in::StandIn;
use std::io::Write;

/// How a run without a screen ended. The number is the program's exit code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// The reply is whole.
    Done,
    /// The model's service failed, or the reply is not whole.
    Failed,
    /// Something waits for a person.
    Waits,
    /// The person stopped it with ctrl-c; what came is kept.
    Stopped,
}

impl Exit {
    /// The exit code.
    pub fn code(self) -> u8 {
        match self {
            Self::Done => 0,
            Self::Failed => 1,
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
    /// Text or JSON lines.
    pub format: Format,
    /// Makes model text harmless where it goes to a terminal; the identity elsewhere.
    pub clean: fn(&str) -> String,
    /// The same for what goes to `err`, which may be a terminal where `out` is none.
    pub tidy: fn(&str) -> String,
    /// The reply goes here.
    pub out: &'a mut dyn Write,
    /// Everything else goes here.
    pub err: &'a mut dyn Write,
}

/// Says the prompt and prints what comes. A call that needs a yes is denied; a question is never answered, the run
/// ends and the question waits in the session.
///
/// # Errors
/// Only where the output cannot be written.
pub async fn run(run: Run<'_>) -> std::io::Result<Exit> {
    let Run { mut state, mut runtime, mut events, effects, session, prompt, format, clean, tidy, out, err } =
        run;
    let mut printer = Printer::new(format, clean, out);
    let mut stand_in = StandIn::default();
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
        if state.is_idle() || state.waiting().is_some() {
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
        {
            printer.text(text)?;
        }
        if let Event::Chunk { chunk: Chunk::Retrying { wait, why, .. }, turn, .. } = &event
            && state.turn() == Some(*turn)
        {
            writeln!(err, "aye: {}; trying again in {} s", tidy(why), wait.as_secs_f64().ceil())?;
        }
        effects = agent::update(&mut state, event);
    }
    printer.finish()?;
    let waits = stand_in.waits(&state);
    if waits.is_empty() || exit == Exit::Stopped {
        return Ok(exit);
    }
    let told = json!({ "kind": "waits", "session": session.0, "waits": waits, "resume": format!("aye --resume {session}") });
    printer.value(&told)?;
    Ok(Exit::Waits)
}
