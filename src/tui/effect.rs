//! Effects the screen requests.

use super::host::HostRequest;
use crate::agent;
use std::path::PathBuf;

/// An effect. Effects run in order.
#[derive(Debug, Clone, PartialEq)]
pub enum Effect {
    /// Run these effects of the agent.
    Agent(Vec<agent::Effect>),
    /// Send a request to the host.
    Request(HostRequest),
    /// Copy this text to the clipboard.
    CopyText(String),
    /// Ask the terminal for its clipboard; the content arrives as `Event::TerminalClipboard`.
    ReadTerminalClipboard,
    /// Open a file in the user's editor, at a line.
    OpenFile {
        /// The path as written: relative to the project, absolute, or starting with `~`.
        path: String,
        /// Line number, from 1.
        line: Option<usize>,
    },
    /// Open an `http` or `https` address with the system's opener.
    OpenWeb(String),
    /// Open this text in the user's editor; the result arrives as `Event::Edited`.
    EditText(String),
    /// Hand the terminal to the user's running command.
    AttachTerminal,
    /// Notify the user with this text that a prompt waits. Requested only while the terminal does not have the focus.
    Notify(String),
    /// Set the title of the terminal window.
    SetTitle(String),
    /// Record the screen to this file, as the user wrote its path, or stop recording if it is empty.
    Record(String),
    /// Suspend the program, as ctrl-z does in a shell, until it is continued.
    Suspend,
    /// Redraw the whole screen.
    Redraw,
    /// Try to save the session.
    Save,
    /// Write the whole session to this file, and quit if that succeeds.
    SaveTo(PathBuf),
    /// Quit.
    Quit,
}
