//! Saves unsent text while it is typed, so that an abrupt end of the program loses less than a second of it.

use super::effect::Effect;
use super::host::Wish;
use super::parts::question::QuestionCard;
use super::parts::toast::Kind;
use super::prompt::{Card, Prompt};
use super::state::State;
use crate::chat::{CallId, Piece, Questions, Unsent};
use std::time::Duration;

/// Key presses within this time are saved together.
const TOGETHER: Duration = Duration::from_millis(150);
/// Time between two writes: about one per second.
const PAUSE: Duration = Duration::from_millis(900);
/// Time between two writes while a question is answered: at most half a second of an answer can be lost.
const PAUSE_IN_QUESTION: Duration = Duration::from_millis(400);

/// The unsent text as last saved, and the time of the first change since.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Keeping {
    kept: Unsent,
    behind: Option<Duration>,
    /// Time of the last save.
    handed: Option<Duration>,
    /// Error of the last write, if it failed.
    trouble: Option<String>,
}

impl Keeping {
    /// Returns true while the last write has failed.
    pub fn has_failed(&self) -> bool {
        self.trouble.is_some()
    }

    /// Restores the prompt of this question from the saved text, or creates a new one.
    pub(super) fn question(&self, call: &CallId, asked: &Questions) -> QuestionCard {
        let mut kept =
            self.kept.questions.iter().map(|text| QuestionCard::kept_as(call.clone(), asked, text));
        kept.find(|card| !card.kept().is_empty()).unwrap_or_else(|| QuestionCard::new(call.clone(), asked))
    }
}

impl State {
    /// Restores the unsent text of a session that is opened.
    pub(super) fn restore(&mut self, kept: Unsent) {
        let mut unsent = kept.clone();
        // The ability to write files does not depend on the session.
        self.keeping = Keeping { kept, trouble: self.keeping.trouble.take(), ..Keeping::default() };
        unsent.remove_sent(self.agent.session.entries());
        if !unsent.approval.is_empty() {
            let written = std::mem::take(&mut unsent.approval);
            unsent.add_to_draft(&written);
            let words =
                "The call waiting for approval was not run. Text typed in its prompt is now in the composer.";
            self.notice(words, Kind::Info);
        }
        self.composer.restore(&unsent.draft);
        self.agent.restore_queue(unsent.queue);
    }

    /// Saves changes: at once if a message was sent, answered or queued, otherwise after a moment. `is_touched` means
    /// that this event was input of the user.
    pub(super) fn keep_unsent(&mut self, is_touched: bool) -> Option<Effect> {
        let is_stale = self.is_kept_stale();
        if is_touched && self.may_hold_unsent() || is_stale {
            self.keeping.behind.get_or_insert(self.now);
        }
        match self.keeping_due() {
            Some(due) if is_stale || due <= self.now => self.keep_now(),
            Some(_) | None => None,
        }
    }

    /// Saves changes now.
    pub(super) fn keep_now(&mut self) -> Option<Effect> {
        let unsent = self.gather_unsent();
        self.keeping.behind = None;
        if unsent.is_same(&self.keeping.kept) {
            return None;
        }
        self.keeping.handed = Some(self.now);
        self.keeping.kept = unsent.clone();
        Some(Effect::Ask(Wish::Keep(self.session.clone(), Box::new(unsent))))
    }

    /// Returns the time of the next save; `None` without a change.
    pub(super) fn keeping_due(&self) -> Option<Duration> {
        let pause = match &self.prompt {
            Some(Prompt { card: Card::Question(_), .. }) => PAUSE_IN_QUESTION,
            Some(_) | None => PAUSE,
        };
        let behind = self.keeping.behind?;
        Some(self.keeping.handed.map_or(Duration::ZERO, |handed| handed + pause).max(behind + TOGETHER))
    }

    /// Handles the result of a write. Of several errors in a row the user sees only the first.
    pub(super) fn kept(&mut self, trouble: Option<String>) {
        if let (Some(why), None) = (&trouble, &self.keeping.trouble) {
            let words =
                format!("Cannot save unsent text: {why}. It is kept in memory and saving is retried.");
            self.notice(&words, Kind::Warning);
        }
        self.keeping.trouble = trouble;
    }

    /// Collects all unsent text.
    fn gather_unsent(&self) -> Unsent {
        let mut draft = self.composer.to_pieces();
        if draft.iter().all(|piece| piece.text().trim().is_empty()) {
            draft.clear();
        }
        // A message from the command line waits until the trust prompt is answered.
        let says = &self.trusting.says;
        if !says.trim().is_empty() {
            let between = if draft.is_empty() { "" } else { "\n\n" };
            draft.insert(0, Piece::Typed(format!("{says}{between}").into()));
        }
        let front = self.prompt.as_ref().and_then(|prompt| match &prompt.card {
            Card::Question(card) => Some(card),
            Card::Approval(_) | Card::Trust(_) => None,
        });
        let questions = front.into_iter().chain(&self.aside).map(QuestionCard::kept);
        Unsent {
            draft,
            queue: self.agent.queue.clone(),
            questions: questions.filter(|text| !text.is_empty()).collect(),
            approval: self.written_in_approval().unwrap_or_default(),
            entries: self.agent.session.entries().len(),
        }
    }

    /// Returns the denial message or the arguments being typed in the approval prompt or in the queue over it.
    fn written_in_approval(&self) -> Option<String> {
        if let Some(list) = &self.waits {
            return list.written_denial().map(str::to_owned);
        }
        let Card::Approval(card) = &self.prompt.as_ref()?.card else { return None };
        let waiting = self.agent.all_waiting().find_map(|waiting| waiting.approval(card.call()))?;
        card.written_reply(&waiting.name)
    }

    /// Returns whether a key can have changed unsent text. Scrolling through a transcript sets no timer.
    fn may_hold_unsent(&self) -> bool {
        !self.composer.is_empty() || self.prompt.is_some()
    }

    /// Returns whether saved text was sent or answered since, or a message was queued: that is saved at once.
    fn is_kept_stale(&self) -> bool {
        let Unsent { draft, queue, questions, approval, entries: _ } = &self.keeping.kept;
        // A message from the command line waits until the trust prompt is answered.
        let waits_for_trust = self.trusting.asks.is_some() && !self.trusting.says.trim().is_empty();
        let is_question = |prompt: &Prompt| matches!(prompt.card, Card::Question(_));
        *queue != self.agent.queue
            || draft.is_empty() && waits_for_trust
            || !draft.is_empty() && self.composer.is_empty() && self.trusting.says.is_empty()
            || !questions.is_empty()
                && self.aside.is_empty()
                && !self.prompt.as_ref().is_some_and(is_question)
            || !approval.is_empty() && !self.writes_in_card()
    }
}
