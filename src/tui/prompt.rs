//! The card of the call that waits: derived from the agent after each update, never opened and never closed.

use super::parts::listening::{self, Listening};
use super::parts::{approval, approval::Approval, question, question::QuestionCard, waits, waits::Waits};
use super::state::State;
use crate::agent::Waiting;
use crate::chat::CallId;
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use std::time::Duration;

/// The card's own little state.
#[derive(Debug, Clone)]
pub struct Prompt {
    /// Whether the person moved the keyboard to it, past unsent words.
    pub moved: bool,
    /// What it asks.
    pub card: Card,
}

/// The two kinds of card.
#[derive(Debug, Clone)]
pub enum Card {
    /// Yes or no.
    Approval(Approval),
    /// Questions.
    Question(QuestionCard),
}

/// What a frame really showed of a card.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Seen {
    /// Of an approval.
    Approval(approval::Seen),
    /// Of questions.
    Question(question::Seen),
    /// Of the list of what waits, in place of a card.
    Waits(waits::Seen),
}

impl Seen {
    /// Where the cursor belongs, where a line is being written in the card.
    pub fn cursor(&self) -> Option<Position> {
        match self {
            Self::Approval(seen) => seen.cursor,
            Self::Question(seen) => seen.cursor,
            Self::Waits(_) => None,
        }
    }
}

impl Prompt {
    /// Whose card it is.
    pub fn call(&self) -> &CallId {
        match &self.card {
            Card::Approval(card) => card.call(),
            Card::Question(card) => card.call(),
        }
    }

    /// When it was first drawn.
    pub fn seen(&self) -> Option<Duration> {
        match &self.card {
            Card::Approval(card) => card.seen(),
            Card::Question(card) => card.seen(),
        }
    }

    /// Whether the person put it off.
    pub fn is_parked(&self) -> bool {
        match &self.card {
            Card::Approval(_) => false,
            Card::Question(card) => card.is_parked(),
        }
    }

    /// Whether a line is being written in it.
    pub fn is_writing(&self) -> bool {
        match &self.card {
            Card::Approval(card) => card.is_writing(),
            Card::Question(card) => card.is_writing(),
        }
    }

    /// A frame is on the screen. Whether that is the first the person sees of it.
    pub fn drawn(&mut self, now: Duration, seen: Seen) -> bool {
        let before = self.seen();
        match (&mut self.card, seen) {
            (Card::Approval(card), Seen::Approval(seen)) => card.drawn(now, seen),
            (Card::Question(card), Seen::Question(seen)) => card.drawn(now, seen),
            (Card::Approval(_), Seen::Question(_) | Seen::Waits(_))
            | (Card::Question(_), Seen::Approval(_) | Seen::Waits(_)) => {}
        }
        before.is_none() && self.seen().is_some()
    }
}

impl State {
    /// The card that is open, if one is.
    pub fn open_card(&self) -> Option<&Prompt> {
        self.prompt.as_ref().filter(|prompt| !prompt.is_parked())
    }

    /// Whether the card that is open takes a key as an answer now; not while the keyboard is elsewhere.
    pub fn listening(&self) -> Option<Listening> {
        let prompt = self.open_card()?;
        if !self.overlays.is_empty()
            || self.transcript.search.is_some()
            || self.transcript.selected().is_some()
        {
            // The keyboard is elsewhere, or the card is covered.
            return Some(Listening::Unseen);
        }
        let unsent = !self.composer.is_empty();
        let seen = self.waits.as_ref().map_or(prompt.seen(), Waits::seen);
        Some(listening::listening(seen, &self.presses, unsent, prompt.moved, self.now))
    }

    /// Makes the prompt of the call that waits now, and drops one whose call does not.
    pub(super) fn sync_prompt(&mut self) {
        let Some(waiting) = self.agent.waiting() else {
            (self.prompt, self.waits) = (None, None);
            return;
        };
        let (Waiting::Approval { call, .. } | Waiting::Answer { call, .. }) = waiting;
        if self.prompt.as_ref().is_some_and(|prompt| *prompt.call() == call.id) {
            return;
        }
        // Another call waits: its card has to be seen before anything else.
        self.waits = None;
        let card = match waiting {
            Waiting::Approval { call, .. } => Card::Approval(Approval::new(call.id.clone())),
            Waiting::Answer { call, questions, .. } => {
                Card::Question(QuestionCard::kept_as(call.id.clone(), questions, self.keeping.text()))
            }
        };
        self.prompt = Some(Prompt { moved: false, card });
    }

    /// The rows the open card would like; 0 where none is.
    pub fn card_height(&self, width: u16) -> u16 {
        if let Some(list) = &self.waits {
            return list.height(waits::rows(&self.agent).len());
        }
        match (self.open_card().map(|prompt| &prompt.card), self.agent.waiting()) {
            (Some(Card::Approval(card)), Some(waiting)) => {
                self.approval(waiting).map_or(0, |shown| card.height(&shown, width, &self.theme))
            }
            (Some(Card::Question(card)), Some(Waiting::Answer { questions, .. })) => {
                card.height(questions, width, &self.theme)
            }
            (Some(Card::Question(_)), Some(Waiting::Approval { .. })) | (None, _) | (_, None) => 0,
        }
    }

    /// Draws the open card. Tells what of it was really shown.
    pub fn draw_card(&self, area: Rect, buffer: &mut Buffer) -> Option<Seen> {
        let listening = self.listening()?;
        let waiting = self.agent.waiting()?;
        if let Some(list) = &self.waits {
            let rows = waits::rows(&self.agent);
            let seen = list.view(&rows, listening, &self.keys, area, buffer, &self.theme);
            return Some(Seen::Waits(seen));
        }
        match (&self.open_card()?.card, waiting) {
            (Card::Approval(card), waiting) => {
                let shown = self.approval(waiting)?;
                let seen = card.view(&shown, listening, &self.keys, area, buffer, &self.theme);
                Some(Seen::Approval(seen))
            }
            (Card::Question(card), Waiting::Answer { questions, by, .. }) => {
                let sight = question::Sight { listening, keys: &self.keys, theme: &self.theme, by };
                let seen = card.view(questions, &sight, area, buffer);
                Some(Seen::Question(seen))
            }
            (Card::Question(_), Waiting::Approval { .. }) => None,
        }
    }

    /// What the card of an approval shows.
    fn approval<'a>(&'a self, waiting: Waiting<'a>) -> Option<approval::Card<'a>> {
        match waiting {
            Waiting::Approval { call, plan, reason, by } => Some(approval::Card {
                plan,
                by,
                call,
                reason,
                may: &self.settings.may,
                place: self.agent.place(),
                home: self.settings.home.as_deref(),
            }),
            Waiting::Answer { .. } => None,
        }
    }
}
