//! Events of the agent at times of the script.

use crate::agent;
use crate::chat::{Chunk, FinishReason, TurnId};
use crate::demo::conversation::NextReply;
use std::collections::BTreeMap;
use std::time::Duration;
use unicode_segmentation::UnicodeSegmentation;

/// Number of graphemes in a piece of a reply.
const PIECE_GRAPHEMES: usize = 4;

/// Events in the order of their times.
#[derive(Debug, Default)]
pub(super) struct Schedule {
    events: BTreeMap<(Duration, u64), agent::Event>,
    count: u64,
}

impl Schedule {
    /// Adds an event after those of the same time.
    pub(super) fn add(&mut self, time: Duration, event: agent::Event) {
        self.count += 1;
        self.events.insert((time, self.count), event);
    }

    /// Adds a reply that is requested now.
    pub(super) fn add_reply(&mut self, now: Duration, turn: TurnId, reply: NextReply) {
        let mut elapsed = reply.delay;
        let add = |schedule: &mut Self, chunk: Chunk, elapsed: Duration| {
            schedule.add(now + elapsed, agent::Event::ReplyChunk { turn, chunk, elapsed });
        };
        for (text, to_chunk) in
            [(&reply.reasoning, Chunk::Reasoning as fn(String) -> Chunk), (&reply.text, Chunk::Text)]
        {
            let graphemes: Vec<&str> = text.graphemes(true).collect();
            // At most thirty pieces a second, as many as there are frames.
            let size = PIECE_GRAPHEMES.max(reply.speed as usize / 30);
            for piece in graphemes.chunks(size) {
                add(self, to_chunk(piece.concat()), elapsed);
                elapsed += Duration::from_secs(piece.len() as u64) / reply.speed.max(1);
            }
        }
        for call in reply.calls {
            add(self, Chunk::Call(call), elapsed);
        }
        match reply.error {
            None => add(self, Chunk::Done(FinishReason::Stop), elapsed),
            Some(reason) => {
                self.add(now + elapsed, agent::Event::RequestFailed { turn, reason, too_long: false });
            }
        }
    }

    /// Returns the time of the next event.
    pub(super) fn next_time(&self) -> Option<Duration> {
        self.events.first_key_value().map(|((time, _), _)| *time)
    }

    /// Takes the next event that is due.
    pub(super) fn take_due(&mut self, now: Duration) -> Option<agent::Event> {
        let entry = self.events.first_entry()?;
        (entry.key().0 <= now).then(|| entry.remove())
    }

    /// Drops the events of a turn that was cancelled.
    pub(super) fn drop_turn(&mut self, cancelled: TurnId) {
        self.events.retain(|_, event| match event {
            agent::Event::ReplyChunk { turn, .. }
            | agent::Event::RequestFailed { turn, .. }
            | agent::Event::UserCommandFinished { turn, .. } => *turn != cancelled,
            // The outcome of a call that was cancelled is still recorded.
            _ => true,
        });
    }

    pub(super) fn clear(&mut self) {
        self.events.clear();
    }
}
