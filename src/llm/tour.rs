//! The tour: a scripted model for the first run, without a key or a network. It runs the real tools in a directory
//! created for it, and tells the user that it is a script.

mod call_result;
mod files;
mod scene;
mod texts;

pub use files::write_files;

use super::{Llm, ReplyStream};
use crate::chat::Request;

/// Speed of the replies in characters per second.
const SPEED: u32 = 150;

/// The scripted model. It has no state: the next reply depends only on the conversation, so a stopped or resumed
/// session continues at the same point.
#[derive(Debug, Clone)]
pub struct Tour {
    speed: Option<u32>,
}

impl Tour {
    /// Creates a tour that streams at reading speed.
    pub fn new() -> Self {
        Self { speed: Some(SPEED) }
    }

    /// Creates a tour that replies at once, for headless runs.
    pub fn without_pacing() -> Self {
        Self { speed: None }
    }
}

impl Default for Tour {
    fn default() -> Self {
        Self::new()
    }
}

impl Llm for Tour {
    fn stream(&self, request: Request) -> ReplyStream {
        scene::next_reply(&request.messages).play_reply(self.speed)
    }
}

#[cfg(test)]
mod tests;
