//! Background commands: commands that the user moved out of their turn while they ran.

use super::tool::parse_failure_status;
use super::{CallId, Outcome};
use crate::text::escape_sequences::{readable_output, strip_colors};
use crate::text::truncation::truncate_middle;
use serde::{Deserialize, Serialize};

/// Status of a command that the user stopped.
pub const STOPPED_BY_USER: &str = "stopped by the user";
/// Status of a command that the model stopped with the tool `kill`.
pub const STOPPED_BY_MODEL: &str = "stopped by the model";
/// Status of a command whose session was closed, by the user or because aye ended.
pub const ENDED_WITH_SESSION: &str = "ended with its session";
/// Last line of the outcome of a command that was stopped on request, by the user or the model.
pub const STOPPED_ON_REQUEST: &str = "stopped on request";

/// Lines of output in the note for the model about the end of a command.
const NOTE_LINES: usize = 5;
/// Maximum bytes of these lines.
const MAX_NOTE_BYTES: usize = 1_000;

/// End of a background command.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BackgroundEnd {
    /// The call that started the command.
    pub call: CallId,
    /// Number of the background command in its session, from 1.
    pub number: u32,
    /// How it ended: `exit 0`, `stopped by the user`.
    pub status: String,
    /// Its output, truncated in the middle like that of any command; empty if it was lost with the program.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub output: String,
    /// Milliseconds the command ran, also before it was moved; 0 if unknown.
    #[serde(default)]
    pub took_ms: u64,
}

/// A background command of a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BackgroundCommand {
    pub number: u32,
    /// The call that started it.
    pub call: CallId,
    /// Index of the entry about its end; `None` while it runs.
    pub ended_at: Option<usize>,
}

impl BackgroundEnd {
    /// Creates the end of a command from the outcome that its call would have had.
    pub fn from_outcome(call: CallId, number: u32, outcome: &Outcome, took_ms: u64) -> Self {
        let text = outcome.text().trim_end();
        let (output, status) = match outcome {
            Outcome::Done(_) => {
                let status = parse_failure_status(text).unwrap_or("exit 0");
                (text.strip_suffix(status).unwrap_or(text).trim_end(), status)
            }
            Outcome::Failed(_) | Outcome::Refused(_) | Outcome::Rehearsed(_) | Outcome::Interrupted(_) => {
                (text, "failed")
            }
        };
        Self { call, number, status: status.to_owned(), output: output.to_owned(), took_ms }
    }

    /// Returns the end with readable output, as in the outcome of a command.
    pub(super) fn with_readable_output(self) -> Self {
        let output = readable_output(&self.output).into_owned();
        Self { output, ..self }
    }

    /// Returns whether the command succeeded.
    pub fn is_success(&self) -> bool {
        self.status == "exit 0"
    }

    /// Returns whether the command was stopped or closed with its session, and did not end by itself.
    pub fn is_stopped(&self) -> bool {
        [STOPPED_BY_USER, STOPPED_BY_MODEL, ENDED_WITH_SESSION].contains(&self.status.as_str())
    }

    /// Returns the note that precedes the next user message in requests; `None` if the model knows of the end because it
    /// stopped the command.
    pub fn model_note(&self) -> Option<String> {
        if self.status == STOPPED_BY_MODEL {
            return None;
        }
        let output = strip_colors(self.output.trim_end());
        let lines: Vec<&str> = output.lines().collect();
        let last_lines = lines[lines.len().saturating_sub(NOTE_LINES)..].join("\n");
        let start = format!("Background command {} ended: {}.", self.number, self.status);
        Some(match last_lines.is_empty() {
            true => format!("[{start}]"),
            false => format!("[{start} Last lines:\n{}]", truncate_middle(&last_lines, MAX_NOTE_BYTES)),
        })
    }
}

/// Returns the outcome, for the model, of a call that the user moved to the background. `output` is its output so far.
pub fn moved_outcome(number: u32, output: &str) -> Outcome {
    let output = output.trim_end();
    let output = if output.is_empty() { " No output so far.".to_owned() } else { format!(" Output so far:\n{output}") };
    Outcome::Done(format!(
        "The user moved this command to the background, as background command {number}. It keeps running without a time limit.{output}\nread_output with id {number} reads its new output; kill stops it."
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn end_of(outcome: &Outcome) -> BackgroundEnd {
        BackgroundEnd::from_outcome("a".into(), 1, outcome, 7)
    }

    #[test]
    fn status_and_output_are_split() {
        for (outcome, status, output) in [
            (Outcome::Done("x\ny\nexit 3".into()), "exit 3", "x\ny"),
            (Outcome::Done("exit 0".into()), "exit 0", ""),
            (Outcome::Done("x\nexit 0".into()), "exit 0", "x"),
            (Outcome::Done("x\nstopped on request".into()), STOPPED_ON_REQUEST, "x"),
            (Outcome::Failed("there is no folder /x".into()), "failed", "there is no folder /x"),
        ] {
            let end = end_of(&outcome);
            assert_eq!((end.status.as_str(), end.output.as_str()), (status, output));
        }
    }

    #[test]
    fn model_note_is_short_and_has_the_last_lines() {
        let lines: Vec<String> = (1..=100).map(|number| format!("line {number}")).collect();
        let end = end_of(&Outcome::Done(format!("{}\nexit 1", lines.join("\n"))));
        assert_eq!(
            end.model_note().as_deref(),
            Some("[Background command 1 ended: exit 1. Last lines:\nline 96\nline 97\nline 98\nline 99\nline 100]")
        );
        let silent = end_of(&Outcome::Done("exit 0".into()));
        assert_eq!(silent.model_note().as_deref(), Some("[Background command 1 ended: exit 0.]"));
        let long = BackgroundEnd { output: "x".repeat(100_000), ..silent.clone() };
        assert!(long.model_note().is_some_and(|note| note.len() < 1_200));
        assert_eq!(BackgroundEnd { status: STOPPED_BY_MODEL.into(), ..silent }.model_note(), None);
    }

    #[test]
    fn the_outcome_of_a_moved_command_is_no_failure() {
        for output in ["", "exit 1", "serving\n"] {
            let Outcome::Done(text) = moved_outcome(2, output) else { panic!("it is done") };
            assert_eq!(parse_failure_status(&text), None);
            assert!(text.ends_with("read_output with id 2 reads its new output; kill stops it."), "{text}");
        }
    }
}
