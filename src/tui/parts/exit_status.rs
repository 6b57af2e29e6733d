//! The exit status of a command, as rows and prompts show it.

use crate::chat::Outcome;
use crate::chat::Preview;
use crate::chat::session::CallState;
use crate::chat::tool::parse_failure_status;
use crate::policy::command_line::parse_command_line;
use crate::text::truncation::escape_beginning;

/// Maximum characters of the name of a program.
const MAX_PROGRAM_CHARS: usize = 20;

/// Returns the last line of a command's outcome if the command ran and failed.
pub fn failed_exit_line<'a>(call: &CallState, outcome: &'a Outcome) -> Option<&'a str> {
    let (Outcome::Done(text) | Outcome::Rehearsed(text)) = outcome else { return None };
    if call.is_command() { parse_failure_status(text) } else { None }
}

/// Returns the program at the end of a pipeline, whose exit status that of the command is. What the other programs of the
/// pipeline returned is not known.
pub fn piped_status_program(preview: &Preview) -> Option<String> {
    let Preview::Command(line) = preview else { return None };
    let parsed_line = parse_command_line(&line.command);
    parsed_line.piped_status_program().map(|program| escape_beginning(program, MAX_PROGRAM_CHARS))
}
