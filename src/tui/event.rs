//! Events the screen handles.

use super::host::HostReply;
use super::terminal_clipboard::TerminalClipboard;
use crate::agent;
use crate::runtime::Unsaved;
use crossterm::event::{KeyEvent, MouseEvent};
use std::time::Duration;

/// An event.
pub enum Event {
    /// Current time, counted from the start. Comes before each batch of other events.
    Tick(Duration),
    /// A key was pressed, repeats, or was released. Of releases only that of Enter arrives.
    Key(KeyEvent),
    /// Text was pasted: marked by the terminal, or detected because it came faster than a user types.
    Pasted(String),
    /// Text typed before the first frame, for the composer, with Enter as a line break.
    TypedEarly(String),
    /// The next keys came faster than a user presses them: none of them may answer a prompt.
    TooFast,
    /// No more input is waiting: a key held back as the possible start of a paste was a single key press.
    InputIdle,
    /// Mouse input.
    Mouse(MouseEvent),
    /// The terminal gained (`true`) or lost the focus.
    Focused(bool),
    /// New size in columns and rows.
    Resized(u16, u16),
    /// An event of the agent.
    Agent(agent::Event),
    /// A reply of the host.
    Host(HostReply),
    /// The editor was closed with this text, which replaces the text that was edited.
    Edited(String),
    /// Result of saving the session: what is still unsaved, if anything.
    Saved(Option<Unsaved>),
    /// An error or hint from outside the screen: one sentence.
    Notice(String),
    /// What is on the terminal's clipboard, which was asked for, or why it cannot be read, worded to follow a colon.
    TerminalClipboard(Result<TerminalClipboard, String>),
    /// The terminal is gone, or the system asks the program to end.
    TerminalLost,
}
