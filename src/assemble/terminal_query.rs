//! What the terminal shows and reports: its colours and its support of pictures. It is asked while the program starts.

use crate::config::{DrawnPictures, Screen};
use crate::tui::input::startup::{StartupInput, query_terminal};
use crate::tui::terminal_features::{find_multiplexer, is_remote, needs_ascii};
use crate::tui::theme::depth::ColourDepth;
use std::thread::JoinHandle;
use std::time::Duration;

/// Time limit for the answer. Only remote terminals need long.
const TIME_LIMIT: Duration = Duration::from_millis(400);

/// A query of the terminal, which a thread sends and whose answer it awaits. Dropping it awaits the answer too: otherwise the
/// shell would read it as typed text, and what is printed meanwhile would be printed in raw mode.
#[derive(Default)]
pub(crate) struct TerminalQuery(Option<JoinHandle<StartupInput>>);

impl TerminalQuery {
    /// Sends the query, unless the screen has no colours.
    pub(super) fn begin(screen: &Screen) -> Self {
        let depth = color_depth(screen);
        let asks_pictures = asks_pictures(screen, depth);
        let term = std::env::var("TERM").ok();
        let query = move || query_terminal(TIME_LIMIT, term.as_deref(), asks_pictures);
        Self((depth != ColourDepth::None).then(|| std::thread::spawn(query)))
    }

    /// Awaits the answer, for at most 400 ms since the query was sent.
    pub(super) fn finish(mut self) -> StartupInput {
        self.0.take().and_then(|query| query.join().ok()).unwrap_or_default()
    }
}

impl Drop for TerminalQuery {
    fn drop(&mut self) {
        // This also ends raw mode.
        drop(self.0.take().map(JoinHandle::join));
    }
}

/// Returns the color depth of the terminal.
pub(super) fn color_depth(screen: &Screen) -> ColourDepth {
    if screen.color { ColourDepth::from_environment(&|name| std::env::var(name).ok()) } else { ColourDepth::None }
}

/// Returns whether pictures are drawn.
pub(super) fn draws_pictures(screen: &Screen, depth: ColourDepth) -> bool {
    cfg!(feature = "images") && screen.pictures != DrawnPictures::Off && depth == ColourDepth::True && !is_ascii(screen)
}

/// Returns whether the terminal is asked which protocol of pictures it has. A terminal multiplexer would take the question for a title, and
/// over SSH the pixels of a page would hold up the keys for seconds.
fn asks_pictures(screen: &Screen, depth: ColourDepth) -> bool {
    let variable = |name: &str| std::env::var(name).ok();
    draws_pictures(screen, depth)
        && screen.pictures == DrawnPictures::Auto
        && find_multiplexer(&variable).is_none()
        && !is_remote(&variable)
}

pub(super) fn is_ascii(screen: &Screen) -> bool {
    screen.ascii.unwrap_or_else(|| needs_ascii(&|name| std::env::var(name).ok()))
}
