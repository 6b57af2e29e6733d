//! Calls of the client that run one after the other, as turns of one session.

use super::client_link::ClientLink;
use super::served_tools::ServedTool;
use crate::agent::{self, Event, ServedCall, WaitingCall};
use crate::assemble::Start;
use crate::assemble::session::Session;
use crate::chat::{Access, Answer, AnswerStatus, CallId, Decider, Decision, Entry, Outcome};
use crate::commands::output::{print_notice, print_notices};
use crate::mcp::serving::message::{INTERNAL_ERROR, RequestId, error_response, result_response};
use crate::mcp::serving::question_form::QuestionForm;
use crate::text::truncation::truncate_end;
use anyhow::Result;
use serde_json::{Value, json};
use std::collections::VecDeque;
use std::future::pending;

/// Maximum number of calls that wait.
const MAX_WAITING: usize = 32;
/// Maximum number of calls of a session, so that its memory is bounded. Later calls begin another one.
const MAX_SESSION_CALLS: usize = 500;
/// Maximum characters of the reason for asking.
const MAX_REASON_CHARS: usize = 500;

/// A queue of calls with its session.
pub(super) struct CallQueue<'a> {
    start: &'a Start,
    /// Content of the queue, for the title of its sessions: `Calls`.
    contents: &'static str,
    /// The session of the last call. It is opened by the first one.
    session: Option<Session>,
    waiting: VecDeque<(RequestId, ServedCall)>,
    running: Option<RunningCall>,
    /// The last notice about the session, so that none is repeated.
    last_notice: Option<String>,
}

/// The call that runs.
struct RunningCall {
    request: RequestId,
    id: CallId,
    /// Question that the client shows, with the ID of the request to it.
    question: Option<(u64, QuestionForm)>,
    /// Added to the outcome for the client.
    note: Option<String>,
}

impl<'a> CallQueue<'a> {
    pub(super) fn new(start: &'a Start, contents: &'static str) -> Self {
        Self { start, contents, session: None, waiting: VecDeque::new(), running: None, last_notice: None }
    }

    /// Adds a call. Returns false if too many wait.
    pub(super) fn push(&mut self, request: RequestId, call: ServedCall) -> bool {
        let has_space = self.waiting.len() < MAX_WAITING;
        if has_space {
            self.waiting.push_back((request, call));
        }
        has_space
    }

    pub(super) fn contains(&self, request: &RequestId) -> bool {
        self.waiting.iter().any(|(waiting, _)| waiting == request)
            || self.running.as_ref().is_some_and(|running| running.request == *request)
    }

    /// Returns whether no call runs or waits.
    pub(super) fn is_idle(&self) -> bool {
        self.running.is_none() && self.waiting.is_empty()
    }

    /// Cancels the call with this ID, if any. It gets no response.
    pub(super) fn cancel(&mut self, request: &RequestId, link: &mut ClientLink) {
        self.waiting.retain(|(waiting, _)| waiting != request);
        if let Some(running) = self.running.take_if(|running| running.request == *request) {
            self.handle_event(Event::TurnInterrupted);
            if let Some((question, _)) = running.question {
                link.withdraw_request(question);
            }
        }
    }

    /// Handles the response to a question; `None` if the client can no longer answer. Ignored unless the question of this
    /// ID is pending.
    pub(super) fn receive_answer(&mut self, id: &RequestId, result: Option<Result<Value, String>>) {
        let Some(running) = &mut self.running else { return };
        let is_pending = |(number, _): &mut (u64, QuestionForm)| RequestId::from_number(*number) == *id;
        let Some((_, form)) = running.question.take_if(is_pending) else { return };
        let answer = match result {
            Some(Ok(result)) => form.read_reply(&result).map_err(|reason| format!("the reply does not fit: {reason}")),
            Some(Err(reason)) => Err(format!("the client could not ask: {reason}")),
            None => Err("the client has closed the input".to_owned()),
        };
        let (answer, by) = match answer {
            Ok(answer) => (answer, Decider::Client),
            Err(reason) => {
                running.note = Some(format!("Not answered: {reason}."));
                (Answer::from_status(AnswerStatus::Deferred), Decider::Headless)
            }
        };
        let call = running.id.clone();
        self.handle_event(Event::QuestionsAnswered { call, answer, by });
    }

    /// Gives up the question that is pending, because the client has closed the input.
    pub(super) fn abandon_question(&mut self) {
        let question = self.running.as_ref().and_then(|running| running.question.as_ref());
        if let Some(id) = question.map(|(number, _)| RequestId::from_number(*number)) {
            self.receive_answer(&id, None);
        }
    }

    /// Waits for the next event of the session.
    pub(super) async fn next_event(&mut self) -> Event {
        if let Some(session) = &mut self.session
            && let Some(event) = session.events.recv().await
        {
            return event;
        }
        pending().await
    }

    /// Applies an event.
    pub(super) fn handle_event(&mut self, event: Event) {
        let Some(session) = &mut self.session else { return };
        if let Event::RulesLoaded { notices, .. } | Event::ToolsChanged { notices, .. } = &event {
            let _ = print_notices(notices);
        }
        if let Event::ToolsChanged { unaccepted: Some(unaccepted), .. } = &event {
            let _ = print_notice(&unaccepted.describe_headless());
        }
        let effects = agent::update(&mut session.state, event);
        let notice = session.runtime.execute(effects);
        if notice.is_some() && notice != self.last_notice {
            let _ = notice.iter().try_for_each(|notice| print_notice(notice));
            self.last_notice = notice;
        }
    }

    /// Answers what waits for a user, sends the outcome of a call that has ended, and starts the next one.
    pub(super) fn advance(&mut self, link: &mut ClientLink) {
        loop {
            if self.running.is_some() {
                match self.respond_to_waiting(link) {
                    Some(event) => self.handle_event(event),
                    None if self.session.as_ref().is_some_and(|session| session.state.is_idle()) => {
                        self.send_outcome(link);
                    }
                    None => return,
                }
            } else if let Some((request, call)) = self.waiting.pop_front() {
                self.start_call(request, call, link);
            } else {
                return;
            }
        }
    }

    /// Returns the response to the call that waits for a user: an approval is denied, as in every headless session, because
    /// a client could answer for its user. A question is shown by the client. `None` if nothing waits, or the client is asked.
    fn respond_to_waiting(&mut self, link: &mut ClientLink) -> Option<Event> {
        let (session, running) = (self.session.as_ref()?, self.running.as_mut()?);
        match session.state.waiting_call()? {
            WaitingCall::Approval { call, plan, reason, .. } => {
                let mut remedies = Vec::new();
                if matches!(plan.access, Access::ReadSensitive(_)) && call.name == ServedTool::ReadFile.name() {
                    remedies.push("a rule that names exactly this file".to_owned());
                } else if plan.grant.is_some() && plan.destroys.is_none() {
                    remedies.push("a rule that allows it".to_owned());
                }
                let mode = session.state.mode_allowing(&call.name, plan);
                remedies.extend(mode.map(|mode| format!("the mode {} in the settings", mode.as_str())));
                remedies.push("the user, in a session of aye".to_owned());
                let reason = truncate_end(reason, MAX_REASON_CHARS);
                running.note =
                    Some(format!("Approval needed: {reason}. It can be given by {}.", remedies.join(" or ")));
                let decision = Decision::Deny(String::new());
                Some(Event::CallDecided { call: call.id.clone(), decision, by: Decider::Headless })
            }
            WaitingCall::Answer { .. } if running.question.is_some() => None,
            WaitingCall::Answer { call, questions, .. } => match link.explain_no_forms() {
                None => {
                    let uses_lists = link.facts.as_ref().is_some_and(|facts| facts.accepts_lists);
                    let form = QuestionForm::new(questions.clone(), uses_lists);
                    running.question = Some((link.request_answers(&form), form));
                    None
                }
                Some(reason) => {
                    running.note = Some(format!("Not answered: {reason}."));
                    let answer = Answer::from_status(AnswerStatus::Deferred);
                    Some(Event::QuestionsAnswered { call: call.id.clone(), answer, by: Decider::Headless })
                }
            },
        }
    }

    /// Sends the outcome of the call that has ended.
    fn send_outcome(&mut self, link: &mut ClientLink) {
        let (Some(session), Some(running)) = (&self.session, self.running.take()) else { return };
        let settled_at = session.state.session.find_call(&running.id).and_then(|call| call.settled_at);
        let entry = settled_at.and_then(|index| session.state.session.entries().get(index));
        let Some(Entry::Settled { outcome, .. }) = entry else {
            return link.send(error_response(Some(&running.request), INTERNAL_ERROR, "The call has no outcome"));
        };
        let is_done = matches!(outcome, Outcome::Done(_)) && running.note.is_none();
        let mut text = outcome.text().to_owned();
        if let Some(note) = &running.note {
            text = format!("{text}\n{note}");
        }
        // A key of aye in a file of the project is of no use to another program.
        let text = session.runtime.context.secrets.mask(&text);
        let result = json!({ "content": [{ "type": "text", "text": text }], "isError": !is_done });
        link.send(result_response(&running.request, result));
    }

    fn start_call(&mut self, request: RequestId, call: ServedCall, link: &mut ClientLink) {
        if let Err(error) = self.prepare_session(link) {
            let reason = format!("The call cannot run: {error:#}");
            return link.send(error_response(Some(&request), INTERNAL_ERROR, &reason));
        }
        let earlier_call = self.last_call();
        self.handle_event(Event::CallServed(call));
        match self.last_call().filter(|id| Some(id) != earlier_call.as_ref()) {
            Some(id) => self.running = Some(RunningCall { request, id, question: None, note: None }),
            None => link.send(error_response(Some(&request), INTERNAL_ERROR, "The call was not started")),
        }
    }

    fn last_call(&self) -> Option<CallId> {
        self.session.as_ref()?.state.session.calls().last().map(|call| call.call.id.clone())
    }

    /// Opens a session for the first call, and another one when the last is full.
    fn prepare_session(&mut self, link: &ClientLink) -> Result<()> {
        let is_full = |session: &Session| session.state.session.calls().count() >= MAX_SESSION_CALLS;
        if self.session.as_ref().is_some_and(|session| !is_full(session)) {
            return Ok(());
        }
        self.save();
        let mut session = self.start.open_session()?;
        let _ = print_notices(&session.notices);
        let effects = std::mem::take(&mut session.effects);
        self.last_notice = session.runtime.execute(effects);
        self.session = Some(session);
        let client = link.facts.as_ref().map_or("another program", |facts| &facts.name);
        self.handle_event(Event::SessionTitled(format!("{} of {client} (aye serve)", self.contents)));
        Ok(())
    }

    /// Stops the running call, and saves the session.
    pub(super) fn stop(&mut self) {
        self.waiting.clear();
        if self.running.take().is_some() {
            self.handle_event(Event::TurnInterrupted);
        }
        self.save();
    }

    fn save(&mut self) {
        let unsaved = self.session.as_mut().and_then(|session| Some((session.runtime.save_unsaved()?, &session.id)));
        if let Some((unsaved, id)) = unsaved {
            let _ = print_notice(&format!("session {id} is not saved: {}", unsaved.reason));
        }
    }
}
