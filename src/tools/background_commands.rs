//! The background commands of a session, as the tools that read and stop them see them.

use super::Error;
use crate::project::shell::command_control::CommandControl;
use crate::text::escape_sequences::{readable_output, strip_colors};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The background commands of a session that were moved since this program opened it, by number.
#[derive(Default)]
pub struct BackgroundCommands {
    commands: Mutex<BTreeMap<u32, BackgroundCommand>>,
}

/// A background command, which may have ended.
#[derive(Clone)]
pub struct BackgroundCommand {
    /// The command line.
    pub command: String,
    pub control: Arc<CommandControl>,
}

impl BackgroundCommands {
    /// Adds a command.
    pub fn insert(&self, number: u32, command: BackgroundCommand) {
        self.commands().insert(number, command);
    }

    /// Returns whether any command was moved, so that its tools are of use.
    pub fn has_commands(&self) -> bool {
        !self.commands().is_empty()
    }

    /// Requests the end of a command.
    pub fn request_stop(&self, number: u32) {
        if let Some(command) = self.commands().get(&number) {
            command.control.request_stop();
        }
    }

    /// Returns a command, or an error for the model that names those there are.
    pub(super) fn find_command(&self, number: u64) -> Result<BackgroundCommand, Error> {
        let commands = self.commands();
        let command = u32::try_from(number).ok().and_then(|number| commands.get(&number));
        command.cloned().ok_or_else(|| {
            let numbers: Vec<String> = commands.keys().map(u32::to_string).collect();
            Error::Arguments(format!("There is no background command {number}. Known: {}.", numbers.join(", ")))
        })
    }

    fn commands(&self) -> MutexGuard<'_, BTreeMap<u32, BackgroundCommand>> {
        self.commands.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl BackgroundCommand {
    /// Returns the output since the last read, with its status as the last line.
    pub(super) fn read_output(&self) -> String {
        let output = self.control.take_output();
        let text = strip_colors(&readable_output(&output.text)).into_owned();
        let text = if text.trim().is_empty() { "[no new output]".to_owned() } else { text.trim_end().to_owned() };
        let status = output.end_status.map_or("running".to_owned(), |status| format!("ended: {status}"));
        format!("{text}\n[{status}]")
    }
}
