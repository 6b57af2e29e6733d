//! The card of the call that waits: derived from the agent after each update, never opened and never closed.

use super::keys::{Action, Scope};
use super::parts::frame::Sight;
use super::parts::listening::{self, Listening};
use super::parts::trust::{self, TrustCard};
use super::parts::{approval, approval::Approval, question, question::QuestionCard, waits, waits::Waits};
use super::state::State;
use crate::agent::Waiting;
use crate::chat::{CallId, Questions};
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use std::sync::Arc;
use std::time::Duration;

/// The card's own little state.
#[derive(Debug, Clone)]
pub struct Prompt {
    /// Whether the person moved the keyboard to it, past unsent words.
    pub moved: bool,
    /// Why the last key did nothing on it, or on the list over it; empty where it did something.
    pub says: String,
    /// What it asks.
    pub card: Card,
}

/// The kinds of card.
#[derive(Debug, Clone)]
pub enum Card {
    /// Yes or no.
    Approval(Approval),
    /// Questions.
    Question(QuestionCard),
    /// Whether the project is trusted; of no call.
    Trust(TrustCard),
}

/// What a frame really showed of a card.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Seen {
    /// Of an approval.
    Approval(approval::Seen),
    /// Of questions.
    Question(question::Seen),
    /// Of what the project brings along.
    Trust(trust::Seen),
    /// Of the list of what waits, in place of a card.
    Waits(waits::Seen),
}

impl Seen {
    /// Where the cursor belongs, where a line is being written in the card.
    pub fn cursor(&self) -> Option<Position> {
        match self {
            Self::Approval(seen) => seen.cursor,
            Self::Question(seen) => seen.cursor,
            Self::Waits(seen) => seen.cursor,
            Self::Trust(_) => None,
        }
    }
}

impl Prompt {
    /// Whose card it is; `None` where it is that of the project.
    pub fn call(&self) -> Option<&CallId> {
        match &self.card {
            Card::Approval(card) => Some(card.call()),
            Card::Question(card) => Some(card.call()),
            Card::Trust(_) => None,
        }
    }

    /// When it was first drawn.
    pub fn seen(&self) -> Option<Duration> {
        match &self.card {
            Card::Approval(card) => card.seen(),
            Card::Question(card) => card.seen(),
            Card::Trust(card) => card.seen(),
        }
    }

    /// Whether the person put it off.
    pub fn is_parked(&self) -> bool {
        match &self.card {
            Card::Approval(_) | Card::Trust(_) => false,
            Card::Question(card) => card.is_parked(),
        }
    }

    /// Whether a line is being written in it.
    pub fn is_writing(&self) -> bool {
        match &self.card {
            Card::Approval(card) => card.is_writing(),
            Card::Question(card) => card.is_writing(),
            Card::Trust(_) => false,
        }
    }

    /// A frame is on the screen. Whether that is the first the person sees of it.
    pub fn drawn(&mut self, now: Duration, seen: Seen) -> bool {
        let before = self.seen();
        match (&mut self.card, seen) {
            (Card::Approval(card), Seen::Approval(seen)) => card.drawn(now, seen),
            (Card::Question(card), Seen::Question(seen)) => card.drawn(now, seen),
            (Card::Trust(card), Seen::Trust(seen)) => card.drawn(now, seen),
            (Card::Approval(_), Seen::Question(_) | Seen::Waits(_) | Seen::Trust(_))
            | (Card::Question(_), Seen::Approval(_) | Seen::Waits(_) | Seen::Trust(_))
            | (Card::Trust(_), Seen::Approval(_) | Seen::Question(_) | Seen::Waits(_)) => {}
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
        let line = self.writes_in_card();
        Some(listening::listening(seen, &self.presses, unsent, prompt.moved, line, self.now))
    }

    /// Makes the prompt of the call that waits now, and drops one whose call does not.
    pub(super) fn sync_prompt(&mut self) {
        if self.trusting.asks.is_some() {
            return self.ask_for_trust();
        }
        let Some(waiting) = self.agent.waiting() else {
            self.waits = None;
            self.put_aside(None);
            return;
        };
        let (Waiting::Approval { call, .. } | Waiting::Answer { call, .. }) = waiting;
        if self.prompt.as_ref().is_some_and(|prompt| prompt.call() == Some(&call.id)) {
            return;
        }
        // Another call waits: its card has to be seen before anything else.
        self.waits = None;
        let next = call.id.clone();
        self.put_aside(Some(&next));
        let Some(waiting) = self.agent.waiting() else { return };
        let card = match waiting {
            Waiting::Approval { call, .. } => Card::Approval(Approval::new(call.id.clone())),
            Waiting::Answer { call, questions, .. } => {
                let aside = self.aside.iter().position(|card| *card.call() == call.id);
                let mut card = match aside {
                    Some(at) => self.aside.swap_remove(at),
                    None => self.keeping.question(&call.id, questions),
                };
                if aside.is_some() {
                    card.bring_back();
                }
                Card::Question(card)
            }
        };
        self.prompt = Some(Prompt { moved: false, says: String::new(), card });
    }

    /// Makes the prompt of what the project brings along: it comes before every call.
    fn ask_for_trust(&mut self) {
        let Some((brought, why)) = self.trusting.asks.clone() else { return };
        let is_it = |prompt: &Prompt| matches!(&prompt.card, Card::Trust(card) if Arc::ptr_eq(card.brought(), &brought));
        if self.prompt.as_ref().is_some_and(is_it) {
            return;
        }
        self.waits = None;
        self.put_aside(None);
        let card = Card::Trust(TrustCard::new(brought, why));
        self.prompt = Some(Prompt { moved: false, says: String::new(), card });
    }

    /// Takes the card away before the `next` one comes. One of a question that waits on is kept with what was chosen
    /// on it.
    fn put_aside(&mut self, next: Option<&CallId>) {
        let before = self.prompt.take();
        let asked = self.agent.all_waiting().filter_map(|waiting| match waiting {
            Waiting::Answer { call, questions, .. } => Some((&call.id, questions)),
            Waiting::Approval { .. } => None,
        });
        let asked: Vec<(&CallId, &Questions)> = asked.collect();
        if let Some(Prompt { card: Card::Question(card), .. }) = before {
            self.aside.push(card);
        }
        self.aside.retain(|card| asked.iter().any(|(call, _)| *call == card.call()));
        // What was kept outside may be of a question that is not the next.
        for (call, questions) in asked.into_iter().filter(|(call, _)| Some(*call) != next) {
            let card = self.keeping.question(call, questions);
            if !card.kept().is_empty() && self.aside.iter().all(|aside| aside.call() != call) {
                self.aside.push(card);
            }
        }
    }

    /// The rows the open card would like; 0 where none is.
    pub fn card_height(&self, width: u16) -> u16 {
        if let Some(list) = &self.waits {
            return list.height(waits::rows(&self.agent).len());
        }
        match (self.open_card().map(|prompt| &prompt.card), self.agent.waiting()) {
            (Some(Card::Trust(card)), _) => card.height(self.about(), width, &self.theme),
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
        let prompt = self.open_card()?;
        let unsent = match listening == Listening::Unsent && !self.writes_in_card() {
            true => self.unsent(),
            false => String::new(),
        };
        let says = if prompt.says.is_empty() { &unsent } else { &prompt.says };
        let sight = Sight { listening, keys: &self.keys, theme: &self.theme, says };
        if let Card::Trust(card) = &prompt.card {
            return Some(Seen::Trust(card.view(self.about(), &sight, area, buffer)));
        }
        let waiting = self.agent.waiting()?;
        if let Some(list) = &self.waits {
            let rows = waits::rows(&self.agent);
            return Some(Seen::Waits(list.view(&rows, &sight, area, buffer)));
        }
        match (&prompt.card, waiting) {
            (Card::Approval(card), waiting) => {
                let shown = self.approval(waiting)?;
                let seen = card.view(&shown, &sight, area, buffer);
                Some(Seen::Approval(seen))
            }
            (Card::Question(card), Waiting::Answer { questions, by, .. }) => {
                let seen = card.view(questions, by, &sight, area, buffer);
                Some(Seen::Question(seen))
            }
            (Card::Question(_), Waiting::Approval { .. }) | (Card::Trust(_), _) => None,
        }
    }

    /// What the card of the project has to know.
    fn about(&self) -> trust::About<'_> {
        trust::About { home: self.settings.home.as_deref(), window: self.agent.gauge().window }
    }

    /// What a card says while the keyboard is in unsent words.
    fn unsent(&self) -> String {
        let tab = self.keys.hint(Scope::Composer, Action::SwitchKeyboard);
        match tab.as_str() {
            "" => "keys go to your words below".to_owned(),
            tab => format!("keys go to your words below · {tab} to answer"),
        }
    }

    /// Whether a line is being written in the open card, or in the list over it.
    pub fn writes_in_card(&self) -> bool {
        match &self.waits {
            Some(list) => list.is_writing(),
            None => self.open_card().is_some_and(Prompt::is_writing),
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
