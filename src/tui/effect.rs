//! Everything the screen can want done outside.

use super::host::Wish;
use crate::agent;
use std::path::PathBuf;

/// Something wanted done outside, in order.
#[derive(Debug, Clone, PartialEq)]
pub enum Effect {
    /// Of the agent's runtime.
    Agent(Vec<agent::Effect>),
    /// Of the program around the screen.
    Ask(Wish),
    /// Put this on the clipboard.
    Copy(String),
    /// Open a file in the person's editor, at a line.
    OpenFile {
        /// As it was written: relative to the project, absolute, or from `~`.
        path: String,
        /// 1 is the first.
        line: Option<usize>,
    },
    /// Open an `http` or `https` address with the system's opener.
    OpenWeb(String),
    /// Let the person write this text in their editor; comes back as `Event::Edited`.
    EditText(String),
    /// Something waits for the person and the terminal is not in front: tell them.
    Alert(String),
    /// Name the terminal's window.
    Title(String),
    /// Stop the program as the shell does with ctrl-z, and go on when it is continued.
    Suspend,
    /// Draw everything anew.
    Redraw,
    /// Try to save the session.
    Save,
    /// Write the whole session to this file, and leave if that works.
    SaveTo(PathBuf),
    /// Leave.
    Quit,
}
