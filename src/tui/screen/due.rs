//! When the next frame is due: at once for what a person does, soon for what comes by itself.

use crate::agent;
use crate::chat::Chunk;
use crate::tui::event::Event;
use crate::tui::host::Reply;
use std::time::{Duration, Instant};

/// Between two frames that nobody asked for lies at least so long. Text that grows thirty times a second flows for
/// every eye; twice as often would cost twice as much and show nothing more.
pub(super) const FRAME: Duration = Duration::from_millis(30);

/// Whether the picture is behind what happened, and how much that matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Due {
    /// It is not behind.
    No,
    /// Something came by itself: more of a reply, the spinner.
    Soon,
    /// The person did something, or something they wait for is there.
    Now,
}

impl Due {
    /// What follows from an event for the picture.
    pub(super) fn of(event: &Event) -> Due {
        match event {
            Event::Tick(_)
            | Event::Agent(agent::Event::Grew { .. } | agent::Event::OutputDue { .. })
            | Event::Host(Reply::Kept(None)) => Due::No,
            Event::Host(Reply::Exist(_)) => Due::Soon,
            Event::Agent(agent::Event::Progressed { .. }) => Due::Soon,
            Event::Agent(agent::Event::Chunk { chunk, .. }) => match chunk {
                Chunk::Text(_)
                | Chunk::Reasoning(_)
                | Chunk::WasReasoning
                | Chunk::Writing { .. }
                | Chunk::Call(_)
                | Chunk::Usage(_)
                | Chunk::Echo(_) => Due::Soon,
                Chunk::Retrying { .. } | Chunk::Quiet { .. } | Chunk::Answering { .. } | Chunk::Done(_) => {
                    Due::Now
                }
            },
            Event::Key(_)
            | Event::Pasted(_)
            | Event::Early(_)
            | Event::Hurried
            | Event::Quiet
            | Event::Mouse(_)
            | Event::Focused(_)
            | Event::Resized(..)
            | Event::Agent(_)
            | Event::Host(_)
            | Event::Edited(_)
            | Event::Saved(_)
            | Event::Notice(_)
            | Event::Lost => Due::Now,
        }
    }

    /// When to draw, where the last frame was drawn at `drawn`; `None` where there is nothing to draw.
    pub(super) fn at(self, drawn: Option<Instant>, now: Instant) -> Option<Instant> {
        match (self, drawn) {
            (Due::No, _) => None,
            (Due::Now, _) | (Due::Soon, None) => Some(now),
            (Due::Soon, Some(drawn)) => Some(drawn + FRAME),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chat::{Finish, TurnId};
    use crossterm::event::{KeyCode, KeyModifiers};

    fn chunk(chunk: Chunk) -> Event {
        Event::Agent(agent::Event::Chunk { turn: TurnId(1), chunk, after: Duration::ZERO })
    }

    #[test]
    fn a_key_and_the_end_of_a_reply_are_drawn_at_once_and_more_of_it_is_not() {
        let key = Event::Key(crossterm::event::KeyEvent::new(KeyCode::Char('a'), KeyModifiers::NONE));
        let now = Instant::now();
        for event in [
            key,
            Event::Pasted("a".into()),
            Event::Resized(80, 24),
            Event::Focused(true),
            chunk(Chunk::Done(Finish::Stop)),
        ] {
            assert_eq!(Due::of(&event).at(Some(now), now), Some(now));
        }
        for event in [chunk(Chunk::Text("a".into())), chunk(Chunk::Reasoning("a".into()))] {
            let due = Due::of(&event);
            assert_eq!(due.at(Some(now), now), Some(now + FRAME));
            assert_eq!(due.at(None, now), Some(now), "nothing is on the screen yet");
        }
        assert_eq!(Due::of(&Event::Tick(Duration::ZERO)).at(None, now), None);
        assert!(Due::No < Due::Soon && Due::Soon < Due::Now, "the more urgent of two counts");
    }
}
