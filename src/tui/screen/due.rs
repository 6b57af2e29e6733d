//! Scheduling of frames: at once for input, soon for background changes.

use crate::agent;
use crate::chat::Chunk;
use crate::tui::event::Event;
use crate::tui::host::Reply;
use std::time::{Duration, Instant};

/// Minimum time between two frames without input. Text that grows thirty times a second looks smooth; a higher rate
/// would cost more without visible effect.
pub(super) const FRAME: Duration = Duration::from_millis(30);

/// Urgency of the next frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Due {
    /// No frame needed.
    No,
    /// A background change: more of a reply, the spinner.
    Soon,
    /// User input, or something the user waits for.
    Now,
}

impl Due {
    /// Returns the urgency of an event.
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

    /// Returns when to draw if the last frame was drawn at `drawn`; `None` if no frame is needed.
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
    fn draws_keys_and_the_end_of_a_reply_at_once_and_chunks_later() {
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
            assert_eq!(due.at(None, now), Some(now), "no frame was drawn yet");
        }
        assert_eq!(Due::of(&Event::Tick(Duration::ZERO)).at(None, now), None);
        assert!(Due::No < Due::Soon && Due::Soon < Due::Now, "the more urgent one is the maximum");
    }
}
