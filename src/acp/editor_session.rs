//! One session of the client: its turn, and what the client is asked meanwhile.

use super::approval_request::{PendingApproval, SessionFacts, build_approval_request};
use super::call_updates::{CallUpdates, show_todos};
use super::client_link::ClientLink;
use super::outgoing_text::{escape_markdown, to_safe_text};
use super::prompt_content::Prompt;
use super::question_request::{AnswerStep, OpenQuestions};
use super::session_notices::{describe_entry, describe_event};
use super::{FileReader, OpenedSession};
use crate::agent::{self, Effect, Event, State, WaitingCall};
use crate::chat::attachments::{Attachment, Content, attach, max_file_bytes};
use crate::chat::todo_list::TodoList;
use crate::chat::{CallId, Chunk, Decider, Ending, Entry, FinishReason, Questions, SessionId};
use crate::mcp::serving::message::{INTERNAL_ERROR, RequestId};
use crate::runtime::{Events, Runtime};
use crate::text::known_secrets::KnownSecrets;
use agent_client_protocol_schema::v1::{ContentChunk, PromptResponse, SessionUpdate, StopReason};
use serde_json::Value;
use std::path::PathBuf;

/// A session of the client.
pub(super) struct EditorSession {
    pub(super) id: SessionId,
    pub(super) folder: PathBuf,
    state: State,
    runtime: Runtime,
    pub(super) events: Events,
    read_files: FileReader,
    home: Option<PathBuf>,
    /// The prompt whose turn runs.
    prompt: Option<RequestId>,
    /// How the last reply of the turn ended.
    last_finish: FinishReason,
    /// What the client is asked, with the number of the request.
    asked: Option<(u64, Asked)>,
    questions: Option<OpenQuestions>,
    calls: CallUpdates,
    /// The todo list that the client has.
    shown_todos: TodoList,
    /// Notices that are sent with the next turn.
    notices: Vec<String>,
    /// The last notice, so that none is repeated.
    last_notice: Option<String>,
    /// Effects that are left from opening the session.
    first_effects: Vec<Effect>,
}

/// A request to the client that it has not answered.
enum Asked {
    Approval(Box<PendingApproval>),
    /// The current one of `questions`.
    Question,
}

impl EditorSession {
    pub(super) fn new(opened: OpenedSession) -> Self {
        let OpenedSession { id, folder, state, runtime, events, effects, notices, read_files, home } = opened;
        Self {
            id,
            folder,
            shown_todos: state.session.todos().clone(),
            state,
            runtime,
            events,
            read_files,
            home,
            prompt: None,
            last_finish: FinishReason::Stop,
            asked: None,
            questions: None,
            calls: CallUpdates::default(),
            notices,
            last_notice: None,
            first_effects: effects,
        }
    }

    /// Executes the effects that are left from opening the session.
    pub(super) fn run_first_effects(&mut self, link: &mut ClientLink) {
        let effects = std::mem::take(&mut self.first_effects);
        self.run_effects(effects, link);
    }

    /// Sends the history of a stored session.
    pub(super) fn show_history(&mut self, link: &mut ClientLink) {
        let mut calls = CallUpdates::default();
        let mut updates: Vec<SessionUpdate> =
            self.state.session.entries().iter().flat_map(|entry| calls.replay_entry(entry, self.facts())).collect();
        if !self.shown_todos.todos.is_empty() {
            updates.push(show_todos(&self.shown_todos, self.facts()));
        }
        self.calls = calls;
        updates.into_iter().for_each(|update| link.send_update(&self.id, update));
    }

    fn facts(&self) -> SessionFacts<'_> {
        SessionFacts {
            session: &self.id.0,
            folder: &self.folder,
            home: self.home.as_deref(),
            secrets: &self.runtime.context.secrets,
            is_dry_run: self.state.is_dry_run(),
        }
    }

    pub(super) fn secrets(&self) -> &KnownSecrets {
        &self.runtime.context.secrets
    }

    /// Returns whether a turn runs that the client has not stopped.
    pub(super) fn is_running(&self) -> bool {
        self.prompt.is_some()
    }

    /// Starts a turn with this prompt, or answers the question that waits for it.
    pub(super) fn start_prompt(&mut self, request: RequestId, prompt: &Prompt, link: &mut ClientLink) {
        self.prompt = Some(request);
        self.last_finish = FinishReason::Stop;
        for notice in std::mem::take(&mut self.notices) {
            self.send_notice(&notice, link);
        }
        let waits_for_prompt = |questions: &&mut OpenQuestions| questions.awaits_prompt;
        if let Some(questions) = self.questions.as_mut().filter(waits_for_prompt) {
            let step = questions.read_prompt(&prompt.text);
            self.apply_answer(step, link);
        } else {
            let message = self.build_message(prompt, link);
            self.apply_event(Event::UserMessage(message), link);
        }
        self.advance(link);
    }

    /// Returns the user message of a prompt: its text, and the files that it names or contains.
    fn build_message(&mut self, prompt: &Prompt, link: &mut ClientLink) -> String {
        let max_bytes = max_file_bytes(self.state.context_usage().context_window);
        let mut files = (self.read_files)(&prompt.text, max_bytes);
        for Attachment { source, content } in &files {
            if let Content::Missing(reason) = content {
                self.send_notice(&format!("{source} is not attached: {reason}."), link);
            }
        }
        for embedded in &prompt.embedded {
            // The rules for files hold whatever sends their content.
            let mention = embedded.mention.as_deref();
            let refusal = mention.and_then(|mention| (self.read_files)(mention, 1).into_iter().find_map(find_refusal));
            match refusal {
                None => files.push(embedded.attachment.clone()),
                Some(reason) => {
                    let source = embedded.attachment.source.clone();
                    self.send_notice(&format!("{source} is not attached: {reason}."), link);
                    files.push(Attachment { source, content: Content::Missing(reason) });
                }
            }
        }
        attach(&prompt.text, &files)
    }

    /// Handles an event of the runtime.
    pub(super) fn handle_event(&mut self, event: Event, link: &mut ClientLink) {
        self.show_event(&event, link);
        self.apply_event(event, link);
        self.advance(link);
    }

    /// Stops the turn. The client is asked nothing more, and late answers are ignored.
    pub(super) fn cancel(&mut self, link: &mut ClientLink) {
        (self.asked, self.questions) = (None, None);
        if !self.state.is_idle() {
            self.apply_event(Event::TurnInterrupted, link);
        }
        self.advance(link);
    }

    /// Stops everything and saves the session. Returns the reason if it cannot be saved.
    pub(super) fn close(&mut self, link: &mut ClientLink) -> Option<String> {
        self.cancel(link);
        self.apply_event(Event::SessionLeft, link);
        self.runtime.save_unsaved().map(|unsaved| unsaved.reason)
    }

    /// Returns the number of the request that the client has not answered.
    pub(super) fn asked_number(&self) -> Option<u64> {
        self.asked.as_ref().map(|(number, _)| *number)
    }

    /// Handles the response to the request that the client has not answered.
    pub(super) fn receive_response(&mut self, response: Result<Value, String>, link: &mut ClientLink) {
        let Some((_, asked)) = self.asked.take() else { return };
        match asked {
            Asked::Approval(pending) => {
                let waits = self.state.waiting_call().is_some_and(|waiting| match waiting {
                    WaitingCall::Approval { call, plan, trial, .. } => pending.is_about(call, plan, trial),
                    WaitingCall::Answer { .. } => false,
                });
                // Otherwise the plan has changed, and the client is asked again.
                if waits {
                    let (decision, by) = pending.read_decision(response);
                    self.apply_event(Event::CallDecided { call: pending.call.id, decision, by }, link);
                }
            }
            Asked::Question => {
                if let Some(questions) = &mut self.questions {
                    let step = questions.read_response(response);
                    self.apply_answer(step, link);
                }
            }
        }
        self.advance(link);
    }

    fn apply_answer(&mut self, step: AnswerStep, link: &mut ClientLink) {
        let (answer, by) = match step {
            AnswerStep::Continue => return,
            AnswerStep::Answered(answer) => (answer, Decider::Client),
            AnswerStep::Deferred(answer) => (answer, Decider::Headless),
        };
        if let Some(questions) = self.questions.take() {
            self.apply_event(Event::QuestionsAnswered { call: questions.call, answer, by }, link);
        }
    }

    /// Sends what the client sees of an event before the agent handles it.
    fn show_event(&mut self, event: &Event, link: &mut ClientLink) {
        describe_event(event).iter().for_each(|notice| self.send_notice(notice, link));
        match event {
            Event::ReplyChunk { chunk, turn, .. } if self.state.current_turn() == Some(*turn) => {
                self.show_chunk(chunk, link);
            }
            Event::CallProgressed { call, output, .. } => {
                let is_shown = self.state.active_calls().any(|(_, pending)| pending.call.id == *call);
                let mut calls = std::mem::take(&mut self.calls);
                let update = calls.show_output(call, output, self.facts()).filter(|_| is_shown);
                self.calls = calls;
                update.into_iter().for_each(|update| link.send_update(&self.id, update));
            }
            _ => {}
        }
    }

    fn show_chunk(&mut self, chunk: &Chunk, link: &mut ClientLink) {
        let secrets = &self.runtime.context.secrets;
        let content = |text: &str| ContentChunk::new(to_safe_text(text, secrets).into());
        match chunk {
            Chunk::Text(text) if !self.state.is_summarizing() => {
                link.send_update(&self.id, SessionUpdate::AgentMessageChunk(content(text)));
            }
            Chunk::Reasoning(text) if !self.state.is_summarizing() => {
                link.send_update(&self.id, SessionUpdate::AgentThoughtChunk(content(text)));
            }
            // The text so far was reasoning. It stays, and a blank line separates it from the reply.
            Chunk::WasReasoning => link.send_update(&self.id, SessionUpdate::AgentMessageChunk(content("\n\n"))),
            Chunk::Done(finish) => self.last_finish = finish.clone(),
            _ => {}
        }
    }

    /// Sends a notice to the user as a part of the reply: not every client shows notices otherwise.
    fn send_notice(&mut self, notice: &str, link: &mut ClientLink) {
        if self.last_notice.as_deref() == Some(notice) {
            return;
        }
        self.last_notice = Some(notice.to_owned());
        let line = escape_markdown(&to_safe_text(&notice.replace('\n', " "), &self.runtime.context.secrets));
        let chunk = ContentChunk::new(format!("> aye: {line}\n\n").into());
        link.send_update(&self.id, SessionUpdate::AgentMessageChunk(chunk));
    }

    fn apply_event(&mut self, event: Event, link: &mut ClientLink) {
        let effects = agent::update(&mut self.state, event);
        self.run_effects(effects, link);
    }

    /// Shows and executes effects.
    fn run_effects(&mut self, effects: Vec<Effect>, link: &mut ClientLink) {
        let mut calls = std::mem::take(&mut self.calls);
        let mut updates = Vec::new();
        let mut notices = Vec::new();
        for effect in &effects {
            match effect {
                Effect::AppendEntry(entry) => {
                    updates.extend(calls.show_entry(entry, self.facts()));
                    notices.extend(describe_entry(entry));
                }
                Effect::RunCall { call, plan, .. } | Effect::RehearseCall { call, plan, .. } => {
                    updates.push(calls.start_call(call, plan, self.facts()));
                }
                Effect::SwitchProfile { profile, .. } => notices.push(format!(
                    "the model asks to continue with the profile {profile}. Start another session with it: aye serve --acp --profile {profile}"
                )),
                _ => {}
            }
        }
        self.calls = calls;
        if *self.state.session.todos() != self.shown_todos {
            self.shown_todos = self.state.session.todos().clone();
            updates.push(show_todos(&self.shown_todos, self.facts()));
        }
        updates.into_iter().for_each(|update| link.send_update(&self.id, update));
        notices.extend(self.runtime.execute(effects));
        notices.iter().for_each(|notice| self.send_notice(notice, link));
    }

    /// Asks the client what the agent waits for, and answers the prompt once its turn has ended.
    fn advance(&mut self, link: &mut ClientLink) {
        if self.state.is_idle() {
            (self.asked, self.questions) = (None, None);
            return self.finish_prompt(link);
        }
        match self.state.waiting_call() {
            Some(WaitingCall::Approval { call, plan, reason, sub_agent, trial }) => {
                if let Some((_, Asked::Approval(pending))) = &self.asked
                    && pending.is_about(call, plan, trial)
                {
                    return;
                }
                let Some(pending) = PendingApproval::of_waiting_call(&self.state) else { return };
                let request = build_approval_request(&pending, reason, sub_agent, self.facts());
                self.asked = Some((link.request_permission(request), Asked::Approval(Box::new(pending))));
            }
            Some(WaitingCall::Answer { call, questions, .. }) => {
                let (id, questions) = (call.id.clone(), questions.clone());
                self.ask_question(id, questions, link);
            }
            None => self.asked = None,
        }
    }

    fn ask_question(&mut self, call: CallId, questions: Questions, link: &mut ClientLink) {
        let is_same = self.questions.as_ref().is_some_and(|open| open.call == call);
        if is_same && matches!(self.asked, Some((_, Asked::Question))) {
            return;
        }
        let mut open = match self.questions.take().filter(|_| is_same) {
            Some(open) => open,
            None => OpenQuestions::new(call, questions),
        };
        if !open.awaits_prompt
            && let Some(request) = open.build_request(self.facts())
        {
            self.asked = Some((link.request_permission(request), Asked::Question));
        } else if self.prompt.is_some() && !self.state.is_busy() {
            open.awaits_prompt = true;
            let text = format!("{}\n\n{}\n", open.describe_current(self.facts()), open.explain_text_answer());
            link.send_update(&self.id, SessionUpdate::AgentMessageChunk(ContentChunk::new(text.into())));
            self.respond(StopReason::EndTurn, link);
        }
        self.questions = Some(open);
    }

    fn respond(&mut self, reason: StopReason, link: &mut ClientLink) {
        if let Some(request) = self.prompt.take() {
            link.respond(&request, PromptResponse::new(reason));
        }
    }

    /// Answers the prompt whose turn has ended.
    fn finish_prompt(&mut self, link: &mut ClientLink) {
        if self.prompt.is_none() {
            return;
        }
        let endings = self.state.session.entries().iter().rev();
        let ending =
            endings.filter_map(|entry| if let Entry::Ended { ending } = entry { Some(ending) } else { None }).next();
        match (ending.cloned(), self.last_finish.clone()) {
            (Some(Ending::Finished), _) => self.respond(StopReason::EndTurn, link),
            (Some(Ending::Interrupted) | None, _) => self.respond(StopReason::Cancelled, link),
            (Some(Ending::Failed(reason)), FinishReason::Length) => {
                self.send_notice(&reason, link);
                self.respond(StopReason::MaxTokens, link);
            }
            (Some(Ending::Failed(reason)), FinishReason::Filtered(_)) => {
                self.send_notice(&reason, link);
                self.respond(StopReason::Refusal, link);
            }
            (Some(Ending::Failed(reason)), FinishReason::Stop) => {
                let reason = to_safe_text(&reason, &self.runtime.context.secrets);
                if let Some(request) = self.prompt.take() {
                    link.fail(Some(&request), INTERNAL_ERROR, &reason);
                }
            }
        }
    }
}

/// Returns the reason why a file is not attached.
fn find_refusal(attachment: Attachment) -> Option<String> {
    if let Content::Missing(reason) = attachment.content { Some(reason) } else { None }
}
