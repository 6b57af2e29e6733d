//! What the client is told about the calls of a session, from their entries.

use super::approval_request::{SessionFacts, preview_content};
use super::call_facts::{kind_of_call, locate_files};
use super::outgoing_text::{to_output_block, to_safe_text, to_title};
use crate::chat::attachments::own_text;
use crate::chat::todo_list::{TodoList, TodoStatus};
use crate::chat::{CallId, Entry, Outcome, Plan, Preview, ToolCall};
use agent_client_protocol_schema::v1::{
    ContentChunk, Plan as TodoView, PlanEntry, PlanEntryPriority, PlanEntryStatus, SessionUpdate, ToolCall as CallView,
    ToolCallContent, ToolCallStatus, ToolCallUpdate, ToolCallUpdateFields,
};
use std::collections::HashMap;
use std::time::{Duration, Instant};

/// Minimum time between two updates with the output of a running call.
const PROGRESS_INTERVAL: Duration = Duration::from_millis(250);

/// The calls of a session that are shown and have not ended.
#[derive(Default)]
pub(super) struct CallUpdates {
    open: HashMap<CallId, OpenCall>,
}

/// A call that has not ended.
struct OpenCall {
    tool: String,
    /// The diff of an edit, which the result must not replace.
    diff: Vec<ToolCallContent>,
    last_progress: Option<Instant>,
}

impl CallUpdates {
    /// Returns the updates for an entry.
    pub(super) fn show_entry(&mut self, entry: &Entry, facts: SessionFacts<'_>) -> Vec<SessionUpdate> {
        match entry {
            Entry::SubAgent { entry, .. } => self.show_entry(entry, facts),
            Entry::Replied { calls, .. } => calls.iter().map(|call| self.show_call(call, facts)).collect(),
            Entry::Planned { call, title, summary, access, preview, .. } => {
                let tool = self.open.get(call).map_or("", |open| open.tool.as_str());
                let fields = ToolCallUpdateFields::new()
                    .title(facts.title_call(title, summary))
                    .kind(kind_of_call(tool, access))
                    .locations(locate_files(access, preview, facts.folder));
                vec![update_call(call, fields)]
            }
            Entry::Asked { call, questions, .. } => {
                let question = questions.list.first().map_or("", |question| question.text.as_str());
                vec![update_call(call, ToolCallUpdateFields::new().title(facts.title_call("Question", question)))]
            }
            Entry::Settled { call, outcome, .. } => vec![self.settle_call(call, outcome, facts)],
            _ => Vec::new(),
        }
    }

    /// Returns the updates for an entry of a stored session: also the messages, which a running turn streams.
    pub(super) fn replay_entry(&mut self, entry: &Entry, facts: SessionFacts<'_>) -> Vec<SessionUpdate> {
        let chunk =
            |text: &str| (!text.is_empty()).then(|| ContentChunk::new(to_safe_text(text, facts.secrets).into()));
        let mut updates = Vec::new();
        if let Entry::UserMessage { text } = entry {
            updates.extend(chunk(own_text(text)).map(SessionUpdate::UserMessageChunk));
        }
        if let Entry::Replied { text, reasoning, .. } = entry {
            updates.extend(chunk(reasoning).map(SessionUpdate::AgentThoughtChunk));
            updates.extend(chunk(text).map(SessionUpdate::AgentMessageChunk));
        }
        updates.extend(self.show_entry(entry, facts));
        updates
    }

    fn show_call(&mut self, call: &ToolCall, facts: SessionFacts<'_>) -> SessionUpdate {
        let open = OpenCall { tool: call.name.clone(), diff: Vec::new(), last_progress: None };
        self.open.insert(call.id.clone(), open);
        let title = facts.title_call(&call.name, "");
        SessionUpdate::ToolCall(CallView::new(call.id.0.clone(), title).status(ToolCallStatus::Pending))
    }

    /// Returns the update for a call that starts to run.
    pub(super) fn start_call(&mut self, call: &ToolCall, plan: &Plan, facts: SessionFacts<'_>) -> SessionUpdate {
        let mut fields = ToolCallUpdateFields::new().status(ToolCallStatus::InProgress);
        if matches!(plan.preview, Preview::Edit(_)) {
            let diff = preview_content(plan, facts);
            fields = fields.content(diff.clone());
            if let Some(open) = self.open.get_mut(&call.id) {
                open.diff = diff;
            }
        }
        update_call(&call.id, fields)
    }

    /// Returns the update for output of a running call, or `None` if the last one was sent just before.
    pub(super) fn show_output(
        &mut self,
        call: &CallId,
        output: &str,
        facts: SessionFacts<'_>,
    ) -> Option<SessionUpdate> {
        let open = self.open.get_mut(call)?;
        let is_due = open.last_progress.is_none_or(|last| last.elapsed() >= PROGRESS_INTERVAL);
        if !is_due || output.is_empty() || !open.diff.is_empty() {
            return None;
        }
        open.last_progress = Some(Instant::now());
        let content = vec![to_output_block(output, facts.secrets).into()];
        Some(update_call(call, ToolCallUpdateFields::new().content(content)))
    }

    fn settle_call(&mut self, call: &CallId, outcome: &Outcome, facts: SessionFacts<'_>) -> SessionUpdate {
        let mut content = self.open.remove(call).map(|open| open.diff).unwrap_or_default();
        let is_done = matches!(outcome, Outcome::Done(_) | Outcome::Rehearsed(_));
        let status = if is_done { ToolCallStatus::Completed } else { ToolCallStatus::Failed };
        // The result of an edit only repeats its diff.
        if content.is_empty() || !matches!(outcome, Outcome::Done(_)) {
            content.push(to_output_block(outcome.text(), facts.secrets).into());
        }
        update_call(call, ToolCallUpdateFields::new().status(status).content(content))
    }
}

fn update_call(call: &CallId, fields: ToolCallUpdateFields) -> SessionUpdate {
    SessionUpdate::ToolCallUpdate(ToolCallUpdate::new(call.0.clone(), fields))
}

/// Returns the plan for the client, from the todo list.
pub(super) fn show_todos(todos: &TodoList, facts: SessionFacts<'_>) -> SessionUpdate {
    let entries = todos.todos.iter().map(|todo| {
        let status = match todo.status {
            TodoStatus::Pending => PlanEntryStatus::Pending,
            TodoStatus::InProgress => PlanEntryStatus::InProgress,
            TodoStatus::Completed => PlanEntryStatus::Completed,
        };
        PlanEntry::new(to_title(&todo.content, facts.secrets), PlanEntryPriority::Medium, status)
    });
    SessionUpdate::Plan(TodoView::new(entries.collect()))
}
