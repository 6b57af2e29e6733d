//! Prompts, one module per kind. This module opens, measures and draws the prompt for the call, project files, credential,
//! form or request of a server that wait for the user.

pub mod approval;
pub mod credential_entry;
pub mod credential_prompt;
pub mod prompt;
pub mod question;
pub mod queue_list;
mod read_state;
pub mod sampling_prompt;
mod scrolled_body;
pub mod trust_prompt;

use super::focus::{Focus, current_focus};
use super::keys::{Action, Scope};
use super::parts::frame::PromptContext;
use super::parts::listening::{KeyReceiver, Listening};
use super::popup::Popup;
use super::state::State;
use crate::agent::WaitingCall;
use crate::chat::{CallId, Questions};
use approval::Approval;
use credential_prompt::CredentialPrompt;
use prompt::{DrawnPrompt, Prompt, PromptFacts, PromptSubject};
use question::QuestionPrompt;
use question::server_form_prompt::ServerFormPrompt;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use sampling_prompt::SamplingPrompt;
use trust_prompt::TrustPrompt;

impl State {
    /// Returns whether the open prompt accepts answers now; `None` if no prompt is open.
    pub fn prompt_listening(&self) -> Option<Listening> {
        let prompt = self.prompts.front()?;
        if !self.viewport.popups.is_empty()
            || self.viewport.transcript.search.is_some()
            || self.viewport.transcript.has_selection()
        {
            // A popup covers the prompt, or keys go to the transcript or its search.
            return Some(Listening::Unseen);
        }
        let receiver = if !self.input.composer.is_empty() && !self.prompts.has_keyboard {
            KeyReceiver::Draft
        } else if prompt.is_writing() {
            KeyReceiver::TextField
        } else {
            KeyReceiver::Prompt
        };
        Some(self.input.recent_keys.listening_state(prompt.first_drawn(), receiver, self.timing.now))
    }

    /// Returns whether the confirmation popup in front accepts answers; `None` if there is none.
    pub fn confirmation_listening(&self) -> Option<Listening> {
        let Some(Popup::Confirmation(confirmation, _)) = self.viewport.popups.last() else { return None };
        let keys = &self.input.recent_keys;
        Some(keys.listening_state(confirmation.first_drawn(), KeyReceiver::Prompt, self.timing.now))
    }

    /// Opens the prompt for the call or project files that wait for the user now, unless it is open already, and removes
    /// the previous prompt.
    pub(super) fn sync_prompt(&mut self) {
        let subject = self.prompt_subject();
        let is_current = |subject| self.prompts.current.as_ref().is_some_and(|prompt| prompt.is_about(subject));
        if subject.is_some_and(is_current) {
            return;
        }
        let next = match subject {
            Some(PromptSubject::Call(waiting)) => Some(waiting.call_id().clone()),
            Some(
                PromptSubject::ProjectFiles(..)
                | PromptSubject::Credential(_)
                | PromptSubject::Form(_)
                | PromptSubject::Sampling(_),
            )
            | None => None,
        };
        // The queue closes, because the user has to see the new prompt first.
        self.prompts.open_queue = None;
        self.remove_prompt(next.as_ref());
        let parked = self.prompts.parked.iter().position(|prompt| next.is_some() && prompt.call() == next.as_ref());
        let prompt = match parked {
            Some(index) => {
                let mut prompt = self.prompts.parked.swap_remove(index);
                prompt.restore();
                Some(prompt)
            }
            None => self.prompt_subject().map(|subject| self.create_prompt(subject)),
        };
        self.prompts.show(prompt);
    }

    /// Returns the subject of the prompt to show now, if any. Project files come before all calls, and these before
    /// credentials, forms and requests of servers, which calls that run wait for.
    fn prompt_subject(&self) -> Option<PromptSubject<'_>> {
        // While a secret is typed no other prompt takes its place: the next keys would go to the composer, which shows them.
        let typed = self.prompts.current.as_ref().filter(|prompt| prompt.is_writing());
        let is_typed = |request: &&_| typed.is_some_and(|prompt| prompt.is_about(PromptSubject::Credential(request)));
        if let Some(request) = self.session.credential_requests.iter().find(is_typed) {
            return Some(PromptSubject::Credential(request));
        }
        // Answers to a form are nowhere else.
        let current = self.prompts.current.as_ref();
        let is_open = |request: &&_| current.is_some_and(|prompt| prompt.is_about(PromptSubject::Form(request)));
        if let Some(request) = self.session.form_requests.iter().find(is_open) {
            return Some(PromptSubject::Form(request));
        }
        match &self.session.trust.pending {
            Some((files, reason)) => Some(PromptSubject::ProjectFiles(files, *reason)),
            None => match self.agent.waiting_call() {
                Some(waiting) => Some(PromptSubject::Call(waiting)),
                None => {
                    let credential = self.session.credential_requests.first().map(PromptSubject::Credential);
                    let form = || self.session.form_requests.first().map(PromptSubject::Form);
                    credential.or_else(form).or(self.session.sampling_reviews.first().map(PromptSubject::Sampling))
                }
            },
        }
    }

    fn create_prompt(&self, subject: PromptSubject<'_>) -> Box<dyn Prompt> {
        match subject {
            PromptSubject::ProjectFiles(files, reason) => Box::new(TrustPrompt::new(files.clone(), reason)),
            PromptSubject::Credential(request) => Box::new(CredentialPrompt::new(request.clone())),
            PromptSubject::Form(request) => Box::new(ServerFormPrompt::new(request.clone())),
            PromptSubject::Sampling(review) => Box::new(SamplingPrompt::new(review.clone())),
            PromptSubject::Call(WaitingCall::Approval { call, .. }) => Box::new(Approval::new(call.id.clone())),
            PromptSubject::Call(WaitingCall::Answer { call, questions, .. }) => {
                Box::new(self.restore_question(&call.id, questions))
            }
        }
    }

    /// Restores the question prompt of a call from its saved draft, or creates a new one.
    fn restore_question(&self, call: &CallId, questions: &Questions) -> QuestionPrompt {
        let saved_drafts = &self.input.draft_saving.saved.questions;
        // A draft of another call gives a prompt without changes, for which `to_saved_json` is empty.
        let mut prompts =
            saved_drafts.iter().map(|json| QuestionPrompt::from_saved_json(call.clone(), questions, json));
        prompts
            .find(|prompt| !prompt.to_saved_json().is_empty())
            .unwrap_or_else(|| QuestionPrompt::new(call.clone(), questions))
    }

    /// Removes the current prompt, because the prompt of the `next` call will be shown. Parks the question prompts of all
    /// other waiting calls with their drafts.
    fn remove_prompt(&mut self, next: Option<&CallId>) {
        let previous = self.prompts.current.take();
        let waiting_questions = self.agent.waiting_calls().filter_map(|waiting_call| match waiting_call {
            WaitingCall::Answer { call, questions, .. } => Some((&call.id, questions)),
            WaitingCall::Approval { .. } => None,
        });
        let waiting_questions: Vec<(&CallId, &Questions)> = waiting_questions.collect();
        let mut parked = std::mem::take(&mut self.prompts.parked);
        parked.extend(previous.filter(|prompt| prompt.is_question()));
        parked.retain(|prompt| waiting_questions.iter().any(|(call, _)| Some(*call) == prompt.call()));
        // A saved draft may belong to a waiting call whose prompt is not shown next: its prompt is restored and parked.
        for (call, questions) in waiting_questions.into_iter().filter(|(call, _)| Some(*call) != next) {
            let question_prompt = self.restore_question(call, questions);
            if !question_prompt.to_saved_json().is_empty() && parked.iter().all(|parked| parked.call() != Some(call)) {
                parked.push(Box::new(question_prompt));
            }
        }
        self.prompts.parked = parked;
    }

    /// Returns the rows the open prompt needs if it can have up to `max_rows`; 0 if none is open.
    pub fn prompt_height(&self, width: u16, max_rows: u16) -> u16 {
        // The height depends neither on whether the prompt listens nor on its message.
        let facts = self.prompt_facts(Listening::Unseen, "");
        let Some(prompt) = self.prompts.front() else { return 0 };
        let rows = prompt.prompt_height(&facts, width);
        if rows <= max_rows { rows } else { prompt.compact_height(&facts, width) }
    }

    /// Draws the open prompt, which shows this hint unless it has a message of its own. Returns the part of it that was
    /// visible.
    pub fn draw_prompt(&self, hint: &str, area: Rect, buffer: &mut Buffer) -> Option<DrawnPrompt> {
        let (prompt, listening) = (self.prompts.front()?, self.prompt_listening()?);
        let mut message = self.prompts.key_message.clone();
        if message.is_empty() {
            message = hint.to_owned();
        }
        if message.is_empty() {
            message = self.focus_hint();
        }
        if message.is_empty() && listening == Listening::Unsent && !prompt.takes_text(listening) {
            message = self.draft_hint();
        }
        Some(prompt.draw_prompt(&self.prompt_facts(listening, &message), area, buffer))
    }

    /// Returns the actions whose keys would do nothing in the open prompt now, for key help.
    pub fn unused_prompt_keys(&self) -> Vec<(Scope, Action)> {
        let Some(prompt) = self.prompts.front() else { return Vec::new() };
        let facts = self.prompt_facts(Listening::Unseen, "");
        let unused = Action::ALL.iter().filter(|action| !prompt.has_use_for(**action, &facts));
        unused.map(|action| (prompt.help_scope(), *action)).collect()
    }

    /// Returns what prompts read from the rest of the screen.
    pub fn prompt_facts<'a>(&'a self, listening: Listening, message: &'a str) -> PromptFacts<'a> {
        PromptFacts {
            agent: &self.agent,
            folder: &self.settings.folder,
            home: self.settings.home.as_deref(),
            sandbox_note: &self.settings.sandbox_note,
            context: PromptContext { listening, keys: &self.keys, theme: &self.theme, message },
            now: self.timing.now,
            lookups: &self.lookups,
        }
    }

    /// Returns the hint that a prompt shows while keys go to the transcript or its search; empty if they do not.
    fn focus_hint(&self) -> String {
        let (receiver, scope) = match current_focus(self) {
            Focus::Transcript => ("transcript", Scope::Transcript),
            Focus::Search => ("search", Scope::TextField),
            Focus::Popup | Focus::Prompt | Focus::Composer => return String::new(),
        };
        match self.keys.first_chord(scope, Action::Close).as_str() {
            "" => format!("keys go to the {receiver}"),
            key => format!("keys go to the {receiver} · {key} to answer"),
        }
    }

    /// Returns the hint that a prompt shows while keys go to the draft in the composer.
    fn draft_hint(&self) -> String {
        let focus_key = self.keys.first_chord(Scope::Composer, Action::SwitchFocus);
        match focus_key.as_str() {
            "" => "keys go to the composer".to_owned(),
            key => format!("keys go to the composer · {key} to answer"),
        }
    }

    /// Returns whether a text field of the open prompt receives the keys.
    pub fn is_typing_in_prompt(&self) -> bool {
        let listening = self.prompt_listening().unwrap_or(Listening::Unseen);
        self.prompts.front().is_some_and(|prompt| prompt.takes_text(listening))
    }
}
