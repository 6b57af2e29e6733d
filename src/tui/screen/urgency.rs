//! Scheduling of frames: at once for input, soon for background changes.

use crate::agent;
use crate::chat::Chunk;
use crate::tui::event::Event;
use crate::tui::host::HostReply;
use std::time::{Duration, Instant};

/// Minimum time between two frames without input. Text that grows thirty times a second looks smooth; a higher rate
/// would cost more without visible effect.
pub(super) const FRAME_INTERVAL: Duration = Duration::from_millis(30);

/// Urgency of the next frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Urgency {
    /// No frame needed.
    NotNeeded,
    /// A background change: more of a reply, the spinner.
    Soon,
    /// User input, or something the user waits for.
    Now,
}

impl Urgency {
    /// Returns the urgency of an event.
    pub(super) fn from_event(event: &Event) -> Urgency {
        match event {
            Event::Tick(_)
            | Event::Agent(agent::Event::ReplySaveDue { .. } | agent::Event::OutputSaveDue { .. })
            | Event::Host(HostReply::UnsentSaved(None)) => Urgency::NotNeeded,
            Event::Agent(agent::Event::ReplyChunk { chunk, .. }) => match chunk {
                Chunk::Retrying { .. } | Chunk::Silent { .. } | Chunk::ModelChosen { .. } | Chunk::Done(_) => {
                    Urgency::Now
                }
                _ => Urgency::Soon,
            },
            Event::Host(HostReply::LinkStatuses(_) | HostReply::PictureRead(..))
            | Event::Agent(agent::Event::CallProgressed { .. }) => Urgency::Soon,
            _ => Urgency::Now,
        }
    }

    /// Returns when to draw if the last frame was drawn at `last_frame`; `None` if no frame is needed.
    pub(super) fn draw_time(self, last_frame: Option<Instant>, now: Instant) -> Option<Instant> {
        match (self, last_frame) {
            (Urgency::NotNeeded, _) => None,
            (Urgency::Now, _) | (Urgency::Soon, None) => Some(now),
            (Urgency::Soon, Some(last_frame)) => Some(last_frame + FRAME_INTERVAL),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chat::{FinishReason, TurnId};
    use crossterm::event::{KeyCode, KeyModifiers};

    fn chunk_event(chunk: Chunk) -> Event {
        Event::Agent(agent::Event::ReplyChunk { turn: TurnId(1), chunk, elapsed: Duration::ZERO })
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
            chunk_event(Chunk::Done(FinishReason::Stop)),
        ] {
            assert_eq!(Urgency::from_event(&event).draw_time(Some(now), now), Some(now));
        }
        for event in [chunk_event(Chunk::Text("a".into())), chunk_event(Chunk::Reasoning("a".into()))] {
            let urgency = Urgency::from_event(&event);
            assert_eq!(urgency.draw_time(Some(now), now), Some(now + FRAME_INTERVAL));
            assert_eq!(urgency.draw_time(None, now), Some(now), "no frame was drawn yet");
        }
        assert_eq!(Urgency::from_event(&Event::Tick(Duration::ZERO)).draw_time(None, now), None);
        assert!(
            Urgency::NotNeeded < Urgency::Soon && Urgency::Soon < Urgency::Now,
            "the more urgent one is the maximum"
        );
    }
}
