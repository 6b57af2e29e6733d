//! The prompt of the waiting call. It is derived from the agent's state after each update.

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

/// A prompt and its local state.
#[derive(Debug, Clone)]
pub struct Prompt {
    /// True if the user moved the keyboard to the prompt while the composer holds a draft.
    pub moved: bool,
    /// Reason the last key had no effect on the prompt or the queue over it; empty if it had one.
    pub says: String,
    /// The kind of prompt.
    pub card: Card,
}

/// Kinds of prompt.
#[derive(Debug, Clone)]
pub enum Card {
    /// Approval prompt.
    Approval(Approval),
    /// Question prompt.
    Question(QuestionCard),
    /// Trust prompt of the project; it belongs to no call.
    Trust(TrustCard),
}

/// Part of a prompt that a frame showed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Seen {
    /// Of an approval prompt.
    Approval(approval::Seen),
    /// Of a question prompt.
    Question(question::Seen),
    /// Of the trust prompt.
    Trust(trust::Seen),
    /// Of the queue, in place of a prompt.
    Waits(waits::Seen),
}

impl Seen {
    /// Returns the position of the cursor if text is being typed in the prompt.
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
    /// Returns the call of the prompt; `None` for the trust prompt.
    pub fn call(&self) -> Option<&CallId> {
        match &self.card {
            Card::Approval(card) => Some(card.call()),
            Card::Question(card) => Some(card.call()),
            Card::Trust(_) => None,
        }
    }

    /// Returns when the prompt was first drawn.
    pub fn seen(&self) -> Option<Duration> {
        match &self.card {
            Card::Approval(card) => card.seen(),
            Card::Question(card) => card.seen(),
            Card::Trust(card) => card.seen(),
        }
    }

    /// Returns whether the user parked the prompt.
    pub fn is_parked(&self) -> bool {
        match &self.card {
            Card::Approval(_) | Card::Trust(_) => false,
            Card::Question(card) => card.is_parked(),
        }
    }

    /// Returns whether text is being typed in the prompt.
    pub fn is_writing(&self) -> bool {
        match &self.card {
            Card::Approval(card) => card.is_writing(),
            Card::Question(card) => card.is_writing(),
            Card::Trust(_) => false,
        }
    }

    /// Records what a frame showed. Returns true if this is the first frame that showed the prompt.
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
    /// Returns the open prompt, if any.
    pub fn open_card(&self) -> Option<&Prompt> {
        self.prompt.as_ref().filter(|prompt| !prompt.is_parked())
    }

    /// Returns whether the open prompt accepts a key as an answer now; it does not while the keyboard is elsewhere.
    pub fn listening(&self) -> Option<Listening> {
        let prompt = self.open_card()?;
        if !self.overlays.is_empty()
            || self.transcript.search.is_some()
            || self.transcript.selected().is_some()
        {
            // The keyboard is elsewhere, or the prompt is covered.
            return Some(Listening::Unseen);
        }
        let unsent = !self.composer.is_empty();
        let seen = self.waits.as_ref().map_or(prompt.seen(), Waits::seen);
        let line = self.writes_in_card();
        Some(listening::listening(seen, &self.presses, unsent, prompt.moved, line, self.now))
    }

    /// Creates the prompt of the waiting call, and removes a prompt whose call no longer waits.
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
        // Another call waits: its prompt has to be seen first.
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

    /// Creates the trust prompt. It comes before the prompts of calls.
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

    /// Removes the prompt before the `next` one is shown. A question prompt that still waits is kept with its answers.
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
        // Saved answers may belong to a question that is not the next.
        for (call, questions) in asked.into_iter().filter(|(call, _)| Some(*call) != next) {
            let card = self.keeping.question(call, questions);
            if !card.kept().is_empty() && self.aside.iter().all(|aside| aside.call() != call) {
                self.aside.push(card);
            }
        }
    }

    /// Returns the rows the open prompt needs; 0 if none is open.
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

    /// Draws the open prompt. Returns the part of it that was visible.
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

    /// Returns the facts shown in the trust prompt.
    fn about(&self) -> trust::About<'_> {
        trust::About { home: self.settings.home.as_deref(), window: self.agent.gauge().window }
    }

    /// Returns the hint of a prompt while the keyboard is in the draft.
    fn unsent(&self) -> String {
        let tab = self.keys.hint(Scope::Composer, Action::SwitchKeyboard);
        match tab.as_str() {
            "" => "keys go to the composer".to_owned(),
            tab => format!("keys go to the composer · {tab} to answer"),
        }
    }

    /// Returns whether text is being typed in the open prompt or in the queue over it.
    pub fn writes_in_card(&self) -> bool {
        match &self.waits {
            Some(list) => list.is_writing(),
            None => self.open_card().is_some_and(Prompt::is_writing),
        }
    }

    /// Returns the contents of an approval prompt.
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
