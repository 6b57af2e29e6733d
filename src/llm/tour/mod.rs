//! The tour: a scripted model for the first run, without a key or a network. It plays against the real tools, in a
//! folder made for it, and says plainly that it is a script.

mod files;
mod result;
mod scene;
mod words;

pub use files::FILES;

use super::{Error, Llm};
use crate::chat::{Chunk, Request};
use futures::stream::BoxStream;

/// How fast it speaks, in letters a second.
const SPEED: u32 = 150;

/// The scripted model. It keeps nothing between requests: what comes next follows from the talk alone, so a session
/// that was stopped or resumed goes on where it was.
#[derive(Debug, Clone)]
pub struct Tour {
    speed: Option<u32>,
}

impl Tour {
    /// Speaks at a pace that can be read.
    pub fn new() -> Self {
        Self { speed: Some(SPEED) }
    }

    /// Says everything at once, for where nobody watches.
    pub fn at_once() -> Self {
        Self { speed: None }
    }
}

impl Default for Tour {
    fn default() -> Self {
        Self::new()
    }
}

impl Llm for Tour {
    fn stream(&self, request: Request) -> BoxStream<'static, Result<Chunk, Error>> {
        scene::next(&request.messages).play(self.speed)
    }
}

#[cfg(test)]
mod tests;
