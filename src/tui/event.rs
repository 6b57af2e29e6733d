//! Everything that can happen to the screen.

use super::host::Reply;
use crate::agent;
use crate::runtime::Unsaved;
use crossterm::event::{KeyEvent, MouseEvent};
use std::time::Duration;

/// Something that happened.
pub enum Event {
    /// It is so late now, counted from the start. Comes before every batch of others.
    Tick(Duration),
    /// A key was pressed or repeats. Releases never come this far.
    Key(KeyEvent),
    /// Text was pasted, with marks around it or as a burst no hand can type.
    Pasted(String),
    /// What was typed before the first picture stood, with an Enter as the end of a line: words for the composer.
    Early(String),
    /// The keys that come now came faster than a hand presses them: none of them is an answer.
    Hurried,
    /// No key waits to be taken: one that was held back, in case more come as a paste would, is what it seemed.
    Quiet,
    /// The mouse.
    Mouse(MouseEvent),
    /// The terminal came to the front (`true`) or went behind.
    Focused(bool),
    /// The terminal has this many columns and rows now.
    Resized(u16, u16),
    /// Something happened to the agent.
    Agent(agent::Event),
    /// The program around the screen has something to say.
    Host(Reply),
    /// The editor was left; what the composer holds now, where it was opened for the composer.
    Edited(Option<String>),
    /// Saving the session was tried: what is not saved, if anything.
    Saved(Option<Unsaved>),
    /// Something outside went wrong, or is worth knowing: one sentence.
    Notice(String),
    /// The terminal is gone, or the system asks the program to end.
    Lost,
}
