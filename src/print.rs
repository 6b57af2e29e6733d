//! The headless frontend: one prompt in, one reply out.

pub mod answers;
mod headless_responder;
mod output_format;

pub use answers::{Answers, EXPECTED_FORMATS};
pub use output_format::{OutputFormat, escape_json, json_line, to_printable};

use crate::agent::{self, Effect, Event, State};
use crate::chat::deferred_tools::describe_change;
use crate::chat::entry_counts::describe_entries;
use crate::chat::{Chunk, Conclusion, Ending, Entry, SessionId};
use crate::runtime::{Events, Runtime, Unsaved};
use crate::text::clean::clean_text;
use headless_responder::HeadlessResponder;
use output_format::Printer;
use std::io::Write;

/// Result of a headless run, which determines the exit code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// The reply is complete.
    Done,
    /// The provider failed, or the reply is incomplete.
    Failed,
    /// A question is waiting for the user, a call was denied because no user was available, or the model handed the
    /// session to the user.
    Waiting,
    /// The user stopped the run with ctrl-c; what was received is saved.
    Stopped,
    /// The file of answers does not match the question, which is still waiting.
    Mismatch,
}

impl Exit {
    /// Returns the exit code.
    pub fn code(self) -> u8 {
        match self {
            Self::Done => 0,
            Self::Failed => 1,
            Self::Mismatch => 2,
            Self::Waiting => 3,
            Self::Stopped => 130,
        }
    }
}

/// Input of a headless run.
pub struct HeadlessRun<'a> {
    /// The agent, idle or with an open question.
    pub state: State,
    /// Executes the effects of the agent.
    pub runtime: Runtime,
    /// Receives the events of the runtime.
    pub events: Events,
    /// Effects that are left from opening the session.
    pub effects: Vec<Effect>,
    /// Session ID, printed in messages and in the report.
    pub session: SessionId,
    /// Message of the user. If empty, the session is continued without one.
    pub prompt: String,
    /// Answers from a file; empty if none was given.
    pub answers: Answers,
    pub format: OutputFormat,
    /// Makes a reply safe to print; the identity if the user wants raw output.
    pub clean: fn(&str) -> String,
    /// Receives the reply.
    pub out: &'a mut dyn Write,
    /// Receives everything else.
    pub err: &'a mut dyn Write,
}

/// Returns the reason why entries could not be saved, and a description of these entries.
fn explain_unsaved(unsaved: &Unsaved, state: &State) -> String {
    let entries = state.session.entries();
    let unsaved_entries = &entries[entries.len().saturating_sub(unsaved.entries)..];
    let description = describe_entries(unsaved_entries);
    format!("{}. Not kept: {description}", unsaved.reason)
}

/// Returns the event that records a switch to another profile, if the effect requests one.
fn profile_switch(effect: &Effect) -> Option<Event> {
    let Effect::SwitchProfile { profile, model } = effect else { return None };
    Some(Event::ModelSwitched { model: model.clone(), profile: Some(profile.clone()) })
}

/// Sends the prompt and prints the reply. Calls that need approval are denied. A question is answered from the file of
/// answers; without an answer the run ends, and the question waits in the session.
///
/// # Errors
/// If the output cannot be written.
pub async fn run_headless(run: HeadlessRun<'_>) -> std::io::Result<Exit> {
    let HeadlessRun { mut state, mut runtime, mut events, effects, session, prompt, answers, format, .. } = run;
    let err = run.err;
    let mut printer = Printer::new(format, run.clean, run.out);
    let mut responder = HeadlessResponder::new(answers);
    let mut exit = Exit::Done;
    let mut effects = effects;
    let mut last_notice = None;
    let mut interrupt = std::pin::pin!(tokio::signal::ctrl_c());
    if !prompt.trim().is_empty() {
        effects.extend(agent::update(&mut state, Event::UserMessage(prompt)));
    }
    loop {
        for effect in &effects {
            if let Effect::AppendEntry(entry) = effect {
                printer.print_entry(entry)?;
                if let Entry::Compacted { tokens: (tokens_before, tokens_after), .. } = entry {
                    writeln!(err, "aye: earlier messages were summarised · {tokens_before} → {tokens_after} tokens")?;
                }
                if let Entry::ToolsDeferred { tools, tokens, limit } = entry {
                    writeln!(err, "aye: {}", clean_text(&describe_change(tools, *tokens, *limit)))?;
                }
                if let Entry::UnacceptedTools(unaccepted) = entry {
                    writeln!(err, "aye: {}", clean_text(&unaccepted.describe_headless()))?;
                }
                if let Entry::FellBack { model, reason: why } = entry {
                    let why = why.trim_end_matches('.');
                    writeln!(err, "aye: {}", clean_text(&format!("{why}; fell back to {model}")))?;
                }
                if let Entry::Concluded(conclusion) = entry {
                    printer.print_message(conclusion.message())?;
                    writeln!(err, "aye: {}", clean_text(&conclusion.describe()))?;
                    if let Conclusion::Parked { .. } = conclusion {
                        exit = Exit::Waiting;
                    }
                }
                if let Entry::Ended { ending: Ending::Failed(why) } = entry {
                    exit = Exit::Failed;
                    writeln!(err, "aye: {}", clean_text(why))?;
                }
            }
        }
        let switch = effects.iter().find_map(profile_switch);
        if let Some(notice) = runtime.execute(effects)
            && last_notice.as_ref() != Some(&notice)
        {
            writeln!(err, "aye: {}", clean_text(&notice))?;
            last_notice = Some(notice);
        }
        if let Some(event) = switch {
            // This run ends; the session is continued with the profile.
            effects = agent::update(&mut state, event);
            continue;
        }
        if let Some(event) = responder.respond(&state) {
            effects = agent::update(&mut state, event);
            continue;
        }
        // Other sub-agents may continue while one is waiting.
        if state.is_idle() || state.waiting_call().is_some() && !state.is_busy() {
            break;
        }
        let event = tokio::select! {
            event = events.recv() => event,
            _ = &mut interrupt, if exit != Exit::Stopped => {
                exit = Exit::Stopped;
                Some(Event::TurnInterrupted)
            }
        };
        let Some(event) = event else { break };
        if let Event::FolderInstructionsFound { found, .. } = &event {
            for notice in found.untrusted_notices().filter(|notice| last_notice.as_ref() != Some(notice)) {
                writeln!(err, "aye: {}", clean_text(&notice))?;
            }
            last_notice = found.untrusted_notices().last().or(last_notice);
        }
        if let Event::ToolsChanged { notices, .. } = &event {
            notices.iter().try_for_each(|notice| writeln!(err, "aye: {}", clean_text(notice)))?;
        }
        if let Event::ReplyChunk { chunk, turn, .. } = &event
            && state.current_turn() == Some(*turn)
        {
            if let Chunk::Text(text) = chunk
                && !state.is_summarizing()
            {
                printer.print_text(text)?;
            } else if *chunk == Chunk::WasReasoning {
                // The text printed so far was reasoning. It stays, and a blank line separates it from the reply.
                printer.finish_line()?;
                printer.print_text("\n")?;
            } else if let Chunk::Retrying { wait, reason: why, .. } = chunk {
                writeln!(err, "aye: {}; trying again in {} s", clean_text(why), wait.as_secs_f64().ceil())?;
            }
        }
        effects = agent::update(&mut state, event);
    }
    printer.finish_line()?;
    if let Some(unsaved) = &runtime.save_unsaved() {
        exit = if matches!(exit, Exit::Done | Exit::Waiting) { Exit::Failed } else { exit };
        let message = format!("session {session} is not saved: {}", explain_unsaved(unsaved, &state));
        writeln!(err, "aye: {}", clean_text(&message))?;
    }
    for problem in responder.describe_problems(&state) {
        writeln!(err, "aye: {}", clean_text(&problem))?;
    }
    if responder.has_mismatch() {
        exit = Exit::Mismatch;
    }
    let Some(report) = responder.into_json(&state, &session).filter(|_| exit != Exit::Stopped) else {
        return Ok(exit);
    };
    printer.print_json(&report)?;
    // `Waiting` means that the user's answer is enough to continue. After a failure it is not: the turn did not
    // continue, or the session is not saved.
    Ok(if exit == Exit::Done { Exit::Waiting } else { exit })
}
