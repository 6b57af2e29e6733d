//! The queue list: every call of the reply that has not started. Calls can be denied in it, but approved only in their
//! prompts.

mod queue_layout;
mod queue_prompt;

use crate::agent::{CallStage, PendingCall, QueuePreview, State};
use crate::chat::{Access, CallId, Decision};
use crate::text::width;
use crate::tui::keys::{Action, Keymap, Scope};
use crate::tui::parts::call_summary::{parsed_prefix, summarize_arguments};
use crate::tui::parts::frame::scroll_position;
use crate::tui::parts::listening::Listening;
use crate::tui::parts::sub_agent_name::quote_name;
use crate::tui::parts::text_field::{self, TextField};
use crate::tui::prompts::prompt::{KeyResult, PromptCommand, ignored_enter};
use crossterm::event::{KeyEvent, KeyEventKind};
use std::collections::BTreeSet;
use std::time::Duration;

/// Text in the access column of a question.
const QUESTION_ACCESS: &str = "question";
/// Text in the access column of a call that needs no approval.
const NO_APPROVAL_ACCESS: &str = "needs no approval";
/// Maximum cells of a call's summary.
const SUMMARY_CELLS: usize = 400;

/// State of the queue list.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct QueueList {
    /// Row of the cursor. It may be beyond the last row if calls have started.
    cursor: usize,
    /// Calls selected for a denial.
    selected: BTreeSet<CallId>,
    /// Calls to deny and the message of the denial, while it is being written.
    denial_message: Option<(Vec<CallId>, TextField)>,
    first_drawn: Option<Duration>,
    /// Rows that a page key scrolls.
    page_rows: usize,
}

/// A call in the list, derived from the agent's state for every frame.
#[derive(Debug, Clone, PartialEq)]
pub struct QueueRow {
    pub call: CallId,
    /// Number of the call in the reply, from 1.
    pub number: usize,
    /// Name of the tool as the model wrote it.
    pub tool: String,
    /// Short description from the tool, or from the arguments.
    pub summary: String,
    /// Beginning of the arguments as the model wrote them.
    pub arguments: String,
    /// Access of the call, or the reason it cannot be decided now.
    pub access: String,
    /// True if the access is shown as a warning.
    pub is_sensitive: bool,
    pub is_destructive: bool,
    /// True if the prompt of the call can be opened.
    pub can_open: bool,
    /// True if the call can be denied.
    pub can_deny: bool,
    /// True if the call is approved and waits for its turn.
    pub is_approved: bool,
}

/// Returns the calls that have not started, in the model's order. Calls of a sub-agent are prefixed with its name.
pub fn queue_rows(agent: &State) -> Vec<QueueRow> {
    let calls = (1..).zip(agent.undelegated_calls());
    calls
        .filter_map(|(number, (sub_agent, pending))| Some(queue_row(number, pending)?.with_sub_agent(sub_agent)))
        .collect()
}

/// Returns the row of a call; `None` if the call has started.
fn queue_row(number: usize, pending: &PendingCall) -> Option<QueueRow> {
    let call = &pending.call;
    let row = QueueRow {
        call: call.id.clone(),
        number,
        tool: call.name.clone(),
        summary: String::new(),
        arguments: parsed_prefix(&call.arguments).to_owned(),
        access: String::new(),
        is_sensitive: false,
        is_destructive: false,
        can_open: true,
        can_deny: true,
        is_approved: pending.preapproval.is_approved(),
    };
    Some(match &pending.stage {
        CallStage::Settled
        | CallStage::Running(_)
        | CallStage::OnTrial(..)
        | CallStage::Delegated(_)
        | CallStage::Planning
        | CallStage::UnderReview(_) => return None,
        CallStage::AwaitingApproval(plan, _) => row.describe_plan(&plan.summary, &plan.access, plan.destroys.is_some()),
        // The user opened the question from the queue and then parked it.
        CallStage::AwaitingAnswer(questions) => {
            let text = questions.list.first().map_or("", |question| question.text.as_str());
            row.describe_question(text)
        }
        CallStage::AwaitingTurn if let Some(plan) = pending.preapproval.approved_plan() => {
            let row = row.describe_plan(&plan.summary, &plan.access, plan.destroys.is_some());
            QueueRow { access: "approved".to_owned(), can_open: false, ..row }
        }
        CallStage::AwaitingTurn => match &pending.preapproval.preview {
            None => QueueRow { access: "not planned yet".to_owned(), ..row.describe_unplanned() },
            Some(QueuePreview::Plan { summary, access, destruction, needs_approval: true }) => {
                row.describe_plan(summary, access, destruction.is_some())
            }
            Some(QueuePreview::Plan { summary, needs_approval: false, .. }) => {
                // Only the summary is used; the access is replaced below.
                let row = row.describe_plan(summary, &Access::Nothing, false);
                QueueRow { access: NO_APPROVAL_ACCESS.to_owned(), can_open: false, ..row }
            }
            Some(QueuePreview::Question(text)) => row.describe_question(text),
            Some(QueuePreview::Error(_)) => {
                QueueRow { access: "cannot run yet".to_owned(), can_open: false, ..row.describe_unplanned() }
            }
        },
    })
}

impl QueueRow {
    /// Adds the name of the sub-agent that makes the call.
    fn with_sub_agent(self, sub_agent: Option<&str>) -> Self {
        match sub_agent {
            Some(name) => QueueRow { summary: format!("{} · {}", quote_name(name), self.summary), ..self },
            None => self,
        }
    }

    /// Describes a call that its tool has not planned yet.
    fn describe_unplanned(self) -> Self {
        let summary = width::cut_to_width(&summarize_arguments(&self.arguments).subject, SUMMARY_CELLS).to_owned();
        QueueRow { summary, ..self }
    }

    /// Describes a call by its plan: the summary, and the access in one to three words.
    fn describe_plan(self, summary: &str, access: &Access, is_destructive: bool) -> Self {
        let (access_text, is_sensitive) = match access {
            _ if is_destructive => ("destroys", true),
            Access::Nothing => ("no access", false),
            Access::Read(_) => ("reads", false),
            Access::ReadSensitive(_) => ("reads sensitive", true),
            Access::Write(_) => ("writes", false),
            Access::WriteOutside(_) => ("writes sensitive", true),
            Access::AyeFiles(_) => ("aye's own files", true),
            Access::Background(_) => ("stops", false),
            Access::Workspace(access) if !access.changes => ("reads workspace", false),
            Access::Workspace(access) => ("writes workspace", access.session.is_some()),
            Access::Run(_) => ("runs", false),
            Access::Fetch(_) => ("network", false),
            Access::External(_) => ("external", false),
        };
        let summary = width::cut_to_width(summary, SUMMARY_CELLS).to_owned();
        QueueRow { summary, access: access_text.to_owned(), is_sensitive, is_destructive, ..self }
    }

    /// Describes a question, which can only be answered or declined in its prompt.
    fn describe_question(self, text: &str) -> Self {
        let summary = width::cut_to_width(text, SUMMARY_CELLS).to_owned();
        QueueRow { summary, access: QUESTION_ACCESS.to_owned(), can_deny: false, ..self }
    }
}

impl QueueList {
    /// Handles a key for a list of these rows.
    fn handle_key(&mut self, key: &KeyEvent, keys: &Keymap, rows: &[QueueRow], listening: Listening) -> KeyResult {
        if self.denial_message.is_some() {
            return self.handle_message_key(key, keys, rows, listening);
        }
        let action = keys.lookup(Scope::Queue, key);
        // The unsent draft in the composer receives the keys.
        if listening == Listening::Unsent {
            return KeyResult::PassedOn;
        }
        let last_row = rows.len().saturating_sub(1);
        let cursor_row = self.cursor.min(last_row);
        if let Some(row) = action.and_then(|action| scroll_position(action, cursor_row, self.page_rows)) {
            self.cursor = row.min(last_row);
            return KeyResult::Handled;
        }
        if action == Some(Action::Close) && key.kind == KeyEventKind::Press {
            return KeyResult::answered(PromptCommand::CloseQueue);
        }
        if !listening.is_listening() {
            return KeyResult::PassedOn;
        }
        let is_approval_key = matches!(
            keys.lookup(Scope::Approval, key),
            Some(
                Action::ApproveOnce
                    | Action::ApproveDestructive
                    | Action::ApproveAlways
                    | Action::EditCall
                    | Action::Details
            )
        );
        let Some(row) = rows.get(cursor_row) else { return KeyResult::PassedOn };
        match action {
            _ if key.kind != KeyEventKind::Press => KeyResult::Handled,
            Some(Action::Select) if row.can_deny => {
                if !self.selected.remove(&row.call) {
                    self.selected.insert(row.call.clone());
                }
                self.cursor = (cursor_row + 1).min(last_row);
                KeyResult::Handled
            }
            Some(Action::SelectAll) => {
                // Not the approved calls, because the user has decided them. They can be selected one by one.
                let undecided = rows.iter().filter(|row| row.can_deny && !row.is_approved);
                let undecided: BTreeSet<CallId> = undecided.map(|row| row.call.clone()).collect();
                self.selected = if undecided.is_subset(&self.selected) { BTreeSet::new() } else { undecided };
                KeyResult::Handled
            }
            Some(Action::Accept) if row.can_open => KeyResult::answered(PromptCommand::OpenPrompt(row.call.clone())),
            Some(Action::Select | Action::Accept) => row.explain_unavailable(),
            Some(denial @ (Action::Deny | Action::DenyWithMessage)) => {
                let selected = rows.iter().filter(|row| row.can_deny && self.selected.contains(&row.call));
                let mut denied: Vec<CallId> = selected.map(|row| row.call.clone()).collect();
                if denied.is_empty() {
                    if !row.can_deny {
                        return row.explain_unavailable();
                    }
                    denied.push(row.call.clone());
                }
                if denial == Action::DenyWithMessage {
                    self.denial_message = Some((denied, TextField::default()));
                    return KeyResult::Handled;
                }
                self.deny(denied, String::new())
            }
            None if is_approval_key => {
                KeyResult::Explained("Approve in the call's own prompt · enter to open it".to_owned())
            }
            Some(_) | None => KeyResult::PassedOn,
        }
    }

    /// Handles a key while the message of a denial is being written.
    fn handle_message_key(
        &mut self,
        key: &KeyEvent,
        keys: &Keymap,
        rows: &[QueueRow],
        listening: Listening,
    ) -> KeyResult {
        let Some((calls, field)) = &mut self.denial_message else { return KeyResult::Handled };
        match field.handle_key(key, keys) {
            text_field::KeyResult::Accepted => {
                if let Some(result) = ignored_enter(key, listening) {
                    return result;
                }
                let message = field.text().trim().to_owned();
                // One of the calls may have started in the meantime.
                calls.retain(|call| rows.iter().any(|row| row.can_deny && row.call == *call));
                let calls = std::mem::take(calls);
                self.denial_message = None;
                self.deny(calls, message)
            }
            text_field::KeyResult::Cancelled => {
                self.denial_message = None;
                KeyResult::Handled
            }
            text_field::KeyResult::PassedOn => KeyResult::PassedOn,
            text_field::KeyResult::Handled | text_field::KeyResult::Changed => KeyResult::Handled,
        }
    }

    /// Denies these calls with a message, which may be empty.
    fn deny(&mut self, calls: Vec<CallId>, message: String) -> KeyResult {
        self.selected.clear();
        let decision = Decision::Deny(message);
        // The last call is denied first, so that no call is planned again just before it is denied.
        let denials = calls.into_iter().rev().map(|call| PromptCommand::Decide(call, decision.clone()));
        KeyResult::Run([PromptCommand::IgnoreRepeats].into_iter().chain(denials).collect())
    }
}

impl QueueRow {
    /// Explains why the call cannot be opened or denied now.
    fn explain_unavailable(&self) -> KeyResult {
        let reason = match self.access.as_str() {
            _ if self.is_approved => "Approved: it runs when its turn comes",
            NO_APPROVAL_ACCESS => "This call needs no approval",
            QUESTION_ACCESS => "Answer or decline it in its prompt · enter to open it",
            _ => "This call has no prompt before its turn",
        };
        KeyResult::Explained(reason.to_owned())
    }
}

#[cfg(test)]
mod tests;
