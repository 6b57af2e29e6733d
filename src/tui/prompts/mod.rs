//! The prompt on the screen: derived from the agent's state after each update, measured and drawn.

pub mod approval;
pub mod prompt;
pub mod question;
pub mod queue_list;
pub mod trust_prompt;

use super::keys::{Action, Scope};
use super::overlay::Overlay;
use super::parts::frame::PromptContext;
use super::parts::listening::{self, Listening};
use super::state::State;
use crate::agent::WaitingCall;
use crate::chat::{CallId, Questions};
use approval::{Approval, ApprovalContent};
use prompt::{DrawnPrompt, Prompt, PromptKind};
use queue_list::QueueList;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use std::sync::Arc;
use trust_prompt::{TrustContext, TrustPrompt};

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
        let has_draft = !self.input.composer.is_empty();
        let first_drawn = self.prompts.open_queue.as_ref().map_or(prompt.first_drawn(), QueueList::first_drawn);
        let is_typing = self.is_typing_in_prompt();
        Some(listening::listening_state(
            first_drawn,
            &self.input.recent_keys,
            has_draft,
            prompt.has_keyboard,
            is_typing,
            self.timing.now,
        ))
    }

    /// Returns whether the confirmation prompt in front accepts answers; `None` if there is none.
    pub fn confirmation_listening(&self) -> Option<Listening> {
        let Some(Overlay::Confirmation(confirmation, _)) = self.viewport.overlays.last() else { return None };
        Some(listening::listening_state(
            confirmation.first_drawn(),
            &self.input.recent_keys,
            false,
            false,
            false,
            self.timing.now,
        ))
    }

    /// Creates the prompt of the waiting call, and removes a prompt whose call no longer waits.
    pub(super) fn sync_prompt(&mut self) {
        if self.session.trust.pending.is_some() {
            return self.ask_for_trust();
        }
        let Some(waiting_call) = self.agent.waiting_call() else {
            self.prompts.open_queue = None;
            self.park_prompt(None);
            return;
        };
        let (WaitingCall::Approval { call, .. } | WaitingCall::Answer { call, .. }) = waiting_call;
        if self.prompts.current.as_ref().is_some_and(|prompt| prompt.call() == Some(&call.id)) {
            return;
        }
        // Another call waits: its prompt has to be seen first.
        self.prompts.open_queue = None;
        let call_id = call.id.clone();
        self.park_prompt(Some(&call_id));
        let Some(waiting_call) = self.agent.waiting_call() else { return };
        let kind = match waiting_call {
            WaitingCall::Approval { call, .. } => PromptKind::Approval(Approval::new(call.id.clone())),
            WaitingCall::Answer { call, questions, .. } => {
                let parked_index = self.prompts.parked_questions.iter().position(|parked| *parked.call() == call.id);
                let mut question_prompt = match parked_index {
                    Some(index) => self.prompts.parked_questions.swap_remove(index),
                    None => self.input.draft_saving.restore_question(&call.id, questions),
                };
                if parked_index.is_some() {
                    question_prompt.restore();
                }
                PromptKind::Question(question_prompt)
            }
        };
        self.prompts.current = Some(Prompt { has_keyboard: false, key_message: String::new(), kind });
    }

    /// Creates the trust prompt. It comes before the prompts of calls.
    fn ask_for_trust(&mut self) {
        let Some((files, reason)) = self.session.trust.pending.clone() else { return };
        let is_open = |prompt: &Prompt| matches!(&prompt.kind, PromptKind::Trust(trust_prompt) if Arc::ptr_eq(trust_prompt.files(), &files));
        if self.prompts.current.as_ref().is_some_and(is_open) {
            return;
        }
        self.prompts.open_queue = None;
        self.park_prompt(None);
        let kind = PromptKind::Trust(TrustPrompt::new(files, reason));
        self.prompts.current = Some(Prompt { has_keyboard: false, key_message: String::new(), kind });
    }

    /// Removes the prompt before the `next` one is shown. A question prompt that still waits is kept with its answers.
    fn park_prompt(&mut self, next: Option<&CallId>) {
        let previous = self.prompts.current.take();
        let waiting_questions = self.agent.waiting_calls().filter_map(|waiting_call| match waiting_call {
            WaitingCall::Answer { call, questions, .. } => Some((&call.id, questions)),
            WaitingCall::Approval { .. } => None,
        });
        let waiting_questions: Vec<(&CallId, &Questions)> = waiting_questions.collect();
        if let Some(Prompt { kind: PromptKind::Question(question_prompt), .. }) = previous {
            self.prompts.parked_questions.push(question_prompt);
        }
        self.prompts.parked_questions.retain(|parked| waiting_questions.iter().any(|(call, _)| *call == parked.call()));
        // Saved answers may belong to a question that is not the next one.
        for (call, questions) in waiting_questions.into_iter().filter(|(call, _)| Some(*call) != next) {
            let question_prompt = self.input.draft_saving.restore_question(call, questions);
            if !question_prompt.to_saved_json().is_empty()
                && self.prompts.parked_questions.iter().all(|parked| parked.call() != call)
            {
                self.prompts.parked_questions.push(question_prompt);
            }
        }
    }

    /// Returns the rows the open prompt needs; 0 if none is open.
    pub fn prompt_height(&self, width: u16) -> u16 {
        if let Some(queue) = &self.prompts.open_queue {
            return queue.preferred_height(queue_list::queue_rows(&self.agent).len());
        }
        match (self.open_prompt().map(|prompt| &prompt.kind), self.agent.waiting_call()) {
            (Some(PromptKind::Trust(trust_prompt)), _) => {
                trust_prompt.preferred_height(self.trust_facts(), width, &self.theme)
            }
            (Some(PromptKind::Approval(approval)), Some(waiting_call)) => self
                .approval_content(waiting_call)
                .map_or(0, |content| approval.preferred_height(&content, width, &self.theme)),
            (Some(PromptKind::Question(question_prompt)), Some(WaitingCall::Answer { questions, .. })) => {
                question_prompt.preferred_height(questions, width, &self.theme)
            }
            (Some(PromptKind::Question(_)), Some(WaitingCall::Approval { .. })) | (None, _) | (_, None) => 0,
        }
    }

    /// Draws the open prompt. Returns the part of it that was visible.
    pub fn draw_prompt(&self, area: Rect, buffer: &mut Buffer) -> Option<DrawnPrompt> {
        let listening = self.prompt_listening()?;
        let prompt = self.open_prompt()?;
        let hint = match listening == Listening::Unsent && !self.is_typing_in_prompt() {
            true => self.draft_hint(),
            false => String::new(),
        };
        let message = if prompt.key_message.is_empty() { &hint } else { &prompt.key_message };
        let context = PromptContext { listening, keys: &self.keys, theme: &self.theme, message };
        if let PromptKind::Trust(trust_prompt) = &prompt.kind {
            return Some(DrawnPrompt::Trust(trust_prompt.draw(self.trust_facts(), &context, area, buffer)));
        }
        let waiting_call = self.agent.waiting_call()?;
        if let Some(queue) = &self.prompts.open_queue {
            let rows = queue_list::queue_rows(&self.agent);
            return Some(DrawnPrompt::Queue(queue.draw(&rows, &context, area, buffer)));
        }
        match (&prompt.kind, waiting_call) {
            (PromptKind::Approval(approval), waiting_call) => {
                let content = self.approval_content(waiting_call)?;
                let drawn = approval.draw(&content, &context, area, buffer);
                Some(DrawnPrompt::Approval(drawn))
            }
            (PromptKind::Question(question_prompt), WaitingCall::Answer { questions, sub_agent: by, .. }) => {
                let drawn = question_prompt.draw(questions, by, &context, area, buffer);
                Some(DrawnPrompt::Question(drawn))
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
        let focus_key = self.keys.first_chord(Scope::Composer, Action::SwitchFocus);
        match focus_key.as_str() {
            "" => "keys go to the composer".to_owned(),
            key => format!("keys go to the composer · {key} to answer"),
        }
    }

    /// Returns whether text is being typed in the open prompt or in the queue over it.
    pub fn is_typing_in_prompt(&self) -> bool {
        match &self.prompts.open_queue {
            Some(queue) => queue.is_writing(),
            None => self.open_prompt().is_some_and(Prompt::is_writing),
        }
    }

    /// Returns the contents of an approval prompt.
    fn approval_content<'a>(&'a self, waiting_call: WaitingCall<'a>) -> Option<ApprovalContent<'a>> {
        match waiting_call {
            WaitingCall::Approval { call, plan, reason, sub_agent: by } => Some(ApprovalContent {
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
