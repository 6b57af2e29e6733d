//! The prompt on the screen: derived from the agent's state after each update, measured and drawn.

use super::keys::{Action, Scope};
use super::overlay::Overlay;
use super::parts::approval::{Approval, ApprovalContent};
use super::parts::frame::PromptContext;
use super::parts::listening::{self, Listening};
use super::parts::queue_list::{self, QueueList};
use super::parts::trust_prompt::{TrustContext, TrustPrompt};
use super::prompt::{DrawnPrompt, Prompt, PromptKind};
use super::state::State;
use crate::agent::WaitingCall;
use crate::chat::{CallId, Questions};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use std::sync::Arc;

impl State {
    /// Returns the open prompt, if any.
    pub fn open_prompt(&self) -> Option<&Prompt> {
        self.prompts.current.as_ref().filter(|prompt| !prompt.is_parked())
    }

    /// Returns whether the open prompt accepts a key as an answer now; it does not while the keyboard is elsewhere.
    pub fn prompt_listening(&self) -> Option<Listening> {
        let prompt = self.open_prompt()?;
        if !self.viewport.overlays.is_empty()
            || self.viewport.transcript.search.is_some()
            || self.viewport.transcript.selected().is_some()
        {
            // The keyboard is elsewhere, or the prompt is covered.
            return Some(Listening::Unseen);
        }
        let unsent = !self.input.composer.is_empty();
        let seen = self.prompts.open_queue.as_ref().map_or(prompt.first_drawn(), QueueList::first_drawn);
        let line = self.is_typing_in_prompt();
        Some(listening::listening(seen, &self.input.recent_keys, unsent, prompt.has_keyboard, line, self.timing.now))
    }

    /// Returns whether the confirmation prompt in front accepts answers; `None` if there is none.
    pub fn confirmation_listening(&self) -> Option<Listening> {
        let Some(Overlay::Confirmation(card, _)) = self.viewport.overlays.last() else { return None };
        Some(listening::listening(card.first_drawn(), &self.input.recent_keys, false, false, false, self.timing.now))
    }

    /// Creates the prompt of the waiting call, and removes a prompt whose call no longer waits.
    pub(super) fn sync_prompt(&mut self) {
        if self.session.trust.pending.is_some() {
            return self.ask_for_trust();
        }
        let Some(waiting) = self.agent.waiting_call() else {
            self.prompts.open_queue = None;
            self.park_prompt(None);
            return;
        };
        let (WaitingCall::Approval { call, .. } | WaitingCall::Answer { call, .. }) = waiting;
        if self.prompts.current.as_ref().is_some_and(|prompt| prompt.call() == Some(&call.id)) {
            return;
        }
        // Another call waits: its prompt has to be seen first.
        self.prompts.open_queue = None;
        let next = call.id.clone();
        self.park_prompt(Some(&next));
        let Some(waiting) = self.agent.waiting_call() else { return };
        let card = match waiting {
            WaitingCall::Approval { call, .. } => PromptKind::Approval(Approval::new(call.id.clone())),
            WaitingCall::Answer { call, questions, .. } => {
                let aside = self.prompts.parked_questions.iter().position(|card| *card.call() == call.id);
                let mut card = match aside {
                    Some(at) => self.prompts.parked_questions.swap_remove(at),
                    None => self.input.draft_saving.restore_question(&call.id, questions),
                };
                if aside.is_some() {
                    card.restore();
                }
                PromptKind::Question(card)
            }
        };
        self.prompts.current = Some(Prompt { has_keyboard: false, key_message: String::new(), kind: card });
    }

    /// Creates the trust prompt. It comes before the prompts of calls.
    fn ask_for_trust(&mut self) {
        let Some((brought, why)) = self.session.trust.pending.clone() else { return };
        let is_it =
            |prompt: &Prompt| matches!(&prompt.kind, PromptKind::Trust(card) if Arc::ptr_eq(card.files(), &brought));
        if self.prompts.current.as_ref().is_some_and(is_it) {
            return;
        }
        self.prompts.open_queue = None;
        self.park_prompt(None);
        let card = PromptKind::Trust(TrustPrompt::new(brought, why));
        self.prompts.current = Some(Prompt { has_keyboard: false, key_message: String::new(), kind: card });
    }

    /// Removes the prompt before the `next` one is shown. A question prompt that still waits is kept with its answers.
    fn park_prompt(&mut self, next: Option<&CallId>) {
        let before = self.prompts.current.take();
        let asked = self.agent.waiting_calls().filter_map(|waiting| match waiting {
            WaitingCall::Answer { call, questions, .. } => Some((&call.id, questions)),
            WaitingCall::Approval { .. } => None,
        });
        let asked: Vec<(&CallId, &Questions)> = asked.collect();
        if let Some(Prompt { kind: PromptKind::Question(card), .. }) = before {
            self.prompts.parked_questions.push(card);
        }
        self.prompts.parked_questions.retain(|card| asked.iter().any(|(call, _)| *call == card.call()));
        // Saved answers may belong to a question that is not the next.
        for (call, questions) in asked.into_iter().filter(|(call, _)| Some(*call) != next) {
            let card = self.input.draft_saving.restore_question(call, questions);
            if !card.to_saved_json().is_empty()
                && self.prompts.parked_questions.iter().all(|aside| aside.call() != call)
            {
                self.prompts.parked_questions.push(card);
            }
        }
    }

    /// Returns the rows the open prompt needs; 0 if none is open.
    pub fn prompt_height(&self, width: u16) -> u16 {
        if let Some(list) = &self.prompts.open_queue {
            return list.preferred_height(queue_list::queue_rows(&self.agent).len());
        }
        match (self.open_prompt().map(|prompt| &prompt.kind), self.agent.waiting_call()) {
            (Some(PromptKind::Trust(card)), _) => card.preferred_height(self.trust_facts(), width, &self.theme),
            (Some(PromptKind::Approval(card)), Some(waiting)) => {
                self.approval_content(waiting).map_or(0, |shown| card.preferred_height(&shown, width, &self.theme))
            }
            (Some(PromptKind::Question(card)), Some(WaitingCall::Answer { questions, .. })) => {
                card.preferred_height(questions, width, &self.theme)
            }
            (Some(PromptKind::Question(_)), Some(WaitingCall::Approval { .. })) | (None, _) | (_, None) => 0,
        }
    }

    /// Draws the open prompt. Returns the part of it that was visible.
    pub fn draw_prompt(&self, area: Rect, buffer: &mut Buffer) -> Option<DrawnPrompt> {
        let listening = self.prompt_listening()?;
        let prompt = self.open_prompt()?;
        let unsent = match listening == Listening::Unsent && !self.is_typing_in_prompt() {
            true => self.draft_hint(),
            false => String::new(),
        };
        let says = if prompt.key_message.is_empty() { &unsent } else { &prompt.key_message };
        let sight = PromptContext { listening, keys: &self.keys, theme: &self.theme, message: says };
        if let PromptKind::Trust(card) = &prompt.kind {
            return Some(DrawnPrompt::Trust(card.draw(self.trust_facts(), &sight, area, buffer)));
        }
        let waiting = self.agent.waiting_call()?;
        if let Some(list) = &self.prompts.open_queue {
            let rows = queue_list::queue_rows(&self.agent);
            return Some(DrawnPrompt::Queue(list.draw(&rows, &sight, area, buffer)));
        }
        match (&prompt.kind, waiting) {
            (PromptKind::Approval(card), waiting) => {
                let shown = self.approval_content(waiting)?;
                let seen = card.draw(&shown, &sight, area, buffer);
                Some(DrawnPrompt::Approval(seen))
            }
            (PromptKind::Question(card), WaitingCall::Answer { questions, by, .. }) => {
                let seen = card.draw(questions, by, &sight, area, buffer);
                Some(DrawnPrompt::Question(seen))
            }
            (PromptKind::Question(_), WaitingCall::Approval { .. }) | (PromptKind::Trust(_), _) => None,
        }
    }

    /// Returns the facts shown in the trust prompt.
    fn trust_facts(&self) -> TrustContext<'_> {
        TrustContext { home: self.settings.home.as_deref(), context_window: self.agent.context_usage().context_window }
    }

    /// Returns the hint of a prompt while the keyboard is in the draft.
    fn draft_hint(&self) -> String {
        let tab = self.keys.first_chord(Scope::Composer, Action::SwitchFocus);
        match tab.as_str() {
            "" => "keys go to the composer".to_owned(),
            tab => format!("keys go to the composer · {tab} to answer"),
        }
    }

    /// Returns whether text is being typed in the open prompt or in the queue over it.
    pub fn is_typing_in_prompt(&self) -> bool {
        match &self.prompts.open_queue {
            Some(list) => list.is_writing(),
            None => self.open_prompt().is_some_and(Prompt::is_writing),
        }
    }

    /// Returns the contents of an approval prompt.
    fn approval_content<'a>(&'a self, waiting: WaitingCall<'a>) -> Option<ApprovalContent<'a>> {
        match waiting {
            WaitingCall::Approval { call, plan, reason, by } => Some(ApprovalContent {
                plan,
                sub_agent: by,
                call,
                reason,
                sandbox_note: &self.settings.sandbox_note,
                position: self.agent.waiting_position(),
                home: self.settings.home.as_deref(),
            }),
            WaitingCall::Answer { .. } => None,
        }
    }
}
