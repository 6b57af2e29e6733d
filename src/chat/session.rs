//! A session, computed from its entries.

mod background_commands;
mod call_state;
mod messages;
mod sub_agents;

pub use call_state::{CallState, LoggedPlan, LoggedTrial};

use super::dry_run_summary::live_ask_reason;
use super::todo_list::TodoList;
use super::{
    BackgroundCommand, CallId, Conclusion, Decision, Entry, GrantSpan, Outcome, ResultOrigin, SessionGrant,
    TitleSource, ToolCall, Usage, message_tokens, summary,
};
use crate::text::tokens;
use std::collections::HashMap;

/// State of a session. It changes only by `apply`, so a live session and one read back from disk are equal.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Session {
    entries: Vec<Entry>,
    calls: HashMap<CallId, CallState>,
    /// Calls in the order they were made, including those of sub-agents.
    call_order: Vec<CallId>,
    /// Number of calls that are not settled, without those of sub-agents.
    open_count: usize,
    /// Indexes of the entries of each sub-agent, by the call that started it.
    sub_agents: HashMap<CallId, Vec<usize>>,
    grants: Vec<SessionGrant>,
    /// Background commands, in the order they were moved.
    background: Vec<BackgroundCommand>,
    /// Names of the deferred tools, as last recorded.
    deferred_tools: Vec<String>,
    title: Option<String>,
    /// Title while there is no message: the first command of the user.
    command_title: Option<String>,
    /// Source of the title: the model does not change a title of the user.
    title_source: Option<TitleSource>,
    /// Index of the last summary's entry.
    summary_index: Option<usize>,
    model: Option<String>,
    /// The todo list of the model, as last written.
    todos: TodoList,
    /// How the model ended its work, until the user sends another message.
    conclusion: Option<Conclusion>,
    usage: Usage,
    /// Estimated tokens of the conversation up to and including each entry. The values never decrease, so the tokens of
    /// any range of entries are one subtraction.
    cumulative_tokens: Vec<u64>,
    /// Estimated tokens of the current summary.
    summary_tokens: u64,
    token_count: Option<TokenCount>,
    /// Number of calls with a rehearsed outcome, without withheld ones.
    rehearsed_count: usize,
    /// Number of calls of this dry run that would have asked the user in a live session.
    would_ask_count: usize,
}

/// Token count last reported by the provider, with this program's estimate of the same messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TokenCount {
    /// Tokens of the request, as reported.
    pub input: u64,
    /// Estimate for the conversation in that request.
    pub input_estimate: u64,
    /// Tokens of that request and of its reply, as the next request contains them: without reasoning.
    pub with_reply: u64,
    /// Estimate for the conversation including that reply.
    pub with_reply_estimate: u64,
    /// True if the conversation was compacted since: then only the ratio of report and estimate is still valid.
    pub is_outdated: bool,
}

impl Session {
    /// Builds a session from its entries.
    pub fn replay(entries: impl IntoIterator<Item = Entry>) -> Self {
        let mut session = Self::default();
        for entry in entries {
            session.apply(entry);
        }
        session
    }

    /// Applies an entry and returns it as stored, with its tool result made readable. This is the only way a session
    /// changes. An entry about an unknown call is stored and has no other effect.
    pub fn apply(&mut self, entry: Entry) -> &Entry {
        let entry = self.make_readable(entry);
        let index = self.entries.len();
        let conversation_tokens = self.token_estimate();
        self.cumulative_tokens.push(self.tokens_before(index) + message_tokens::estimate_entry(&entry));
        let inner = if let Entry::SubAgent { entry, .. } = &entry { entry } else { &entry };
        self.usage += inner.usage().unwrap_or_default();
        match &entry {
            Entry::UserMessage { text } => {
                self.conclusion = None;
                if self.title.is_none() {
                    self.title = title_from(text);
                }
            }
            Entry::Replied { text, calls, usage, .. } => {
                self.add_calls(calls, None);
                if let Some(usage) = usage.filter(|usage| usage.input > 0) {
                    // The provider's count of a reply includes its reasoning, which is not sent again. A count above
                    // twice the estimate, plus 64 for short replies, means reasoning: then the estimate is used.
                    let reply_estimate = tokens::estimate_text(text) + message_tokens::estimate_calls(calls);
                    let has_no_reasoning = usage.output <= 2 * reply_estimate + 64;
                    let reply_tokens = if has_no_reasoning { usage.output } else { reply_estimate };
                    self.token_count = Some(TokenCount {
                        input: usage.input,
                        input_estimate: conversation_tokens,
                        with_reply: usage.input + reply_tokens,
                        with_reply_estimate: conversation_tokens + message_tokens::estimate_entry(&entry),
                        is_outdated: false,
                    });
                }
            }
            Entry::Planned { .. }
            | Entry::Asked { .. }
            | Entry::Decided { .. }
            | Entry::Tried { .. }
            | Entry::Settled { .. } => {
                self.update_call(index, &entry);
            }
            Entry::BackgroundStarted { call, number } => self.add_background_command(call, *number),
            Entry::BackgroundEnded(end) => self.end_background_command(end, index),
            Entry::ToolsDeferred { tools, .. } => self.deferred_tools.clone_from(tools),
            Entry::SubAgent { call, entry } => self.apply_sub_agent_entry(index, call, entry),
            Entry::Revoked { granting_call: Some(call), replacement: None, .. } => {
                self.grants.retain(|grant| grant.call != *call);
            }
            Entry::Revoked { granting_call: Some(call), replacement: Some(new_grant), by, .. } => {
                for grant in self.grants.iter_mut().filter(|grant| grant.call == *call) {
                    (grant.grant, grant.entry_index, grant.by) = ((**new_grant).clone(), index, by.clone());
                }
            }
            Entry::Revoked { granting_call: None, .. } => {}
            Entry::Titled { title, by, .. } => {
                if *by == TitleSource::User || self.title_source != Some(TitleSource::User) {
                    self.title = Some(title.clone());
                    self.title_source = Some(*by);
                }
            }
            Entry::Compacted { summary, pinned, .. } => {
                self.summary_index = Some(index);
                self.summary_tokens =
                    message_tokens::MESSAGE_OVERHEAD + tokens::estimate_text(&summary::format_summary(summary, pinned));
                if let Some(token_count) = &mut self.token_count {
                    token_count.is_outdated = true;
                }
            }
            Entry::Concluded(conclusion) => self.conclusion = Some(conclusion.clone()),
            Entry::Switched { model, .. } => {
                self.model = Some(model.clone());
                // Another model counts differently.
                self.token_count = None;
            }
            // The count of calls that would have asked starts again from here.
            Entry::DryRunChanged { .. } => self.reset_would_ask(),
            Entry::Reviewed { .. }
            | Entry::Answered { .. }
            | Entry::Ended { .. }
            | Entry::FellBack { .. }
            | Entry::UnacceptedTools(_)
            | Entry::Sampling(_) => {}
            Entry::UserCommand(command) => {
                let title = || title_from(if command.is_shared { &command.command } else { "command" });
                let sign = command.sign();
                self.command_title = self.command_title.take().or_else(|| Some(format!("{sign} {}", title()?)));
            }
        }
        self.entries.push(entry);
        &self.entries[index]
    }

    fn add_calls(&mut self, calls: &[ToolCall], parent_call: Option<&CallId>) {
        for call in calls {
            if self.calls.contains_key(&call.id) {
                continue;
            }
            self.call_order.push(call.id.clone());
            self.open_count += usize::from(parent_call.is_none());
            let call = CallState {
                call: call.clone(),
                plan: None,
                questions: None,
                edited_arguments: None,
                is_started: false,
                trial: None,
                is_kept: false,
                settled_at: None,
                decided_at: None,
                parent_call: parent_call.cloned(),
            };
            self.calls.insert(call.call.id.clone(), call);
        }
    }

    /// Updates the state of the call that an entry is about.
    fn update_call(&mut self, index: usize, entry: &Entry) {
        let Some(call) = entry.call().and_then(|id| self.calls.get_mut(id)) else { return };
        if let Entry::Planned { title, summary, access, preview, verdict, reason, hooks_not_run, .. } = entry {
            call.is_started |= verdict == "allow" || verdict == "rehearse";
            // An earlier approval does not apply to a call that is asked about again.
            call.is_started &= verdict != "ask";
            let was_counted = call.plan.as_ref().is_some_and(|plan| plan.asks_live);
            let asks_live = live_ask_reason(verdict, reason).is_some();
            self.would_ask_count = self.would_ask_count - usize::from(was_counted) + usize::from(asks_live);
            call.trial = None;
            call.plan = Some(LoggedPlan {
                title: title.clone(),
                summary: summary.clone(),
                access: access.clone(),
                preview: (**preview).clone(),
                verdict: verdict.clone(),
                asks_live,
                hooks_not_run: hooks_not_run.clone(),
            });
        } else if let Entry::Tried { changes, paths, .. } = entry {
            call.trial = Some(LoggedTrial { changes: *changes, paths: paths.clone() });
        } else if let Entry::Asked { questions, .. } = entry {
            call.questions = Some(questions.clone());
        } else if let Entry::Decided { call: id, decision, by, .. } = entry {
            call.decided_at = Some(index);
            call.is_kept = matches!(decision, Decision::Kept(_));
            call.is_started |= decision.is_approval();
            if let Decision::Edited(arguments) = decision {
                call.edited_arguments = Some(arguments.clone());
            }
            if let Decision::Always(grant) = decision
                && grant.span == GrantSpan::Session
            {
                let call_number = self.call_order.iter().position(|call| call == id).map_or(0, |at| at + 1);
                let (grant, call, by) = (grant.clone(), id.clone(), by.clone());
                self.grants.push(SessionGrant { grant, entry_index: index, call_number, call, by });
            }
        } else if let Entry::Settled { outcome, staged, .. } = entry
            && call.settled_at.is_none()
        {
            call.settled_at = Some(index);
            self.open_count -= usize::from(call.parent_call.is_none());
            if matches!(outcome, Outcome::Done(_) | Outcome::Rehearsed(_))
                && call.parent_call.is_none()
                && let Some(todos) = call.written_todos()
            {
                self.todos = todos;
            }
            let is_withheld = staged.as_ref().is_some_and(ResultOrigin::is_withheld);
            self.rehearsed_count += usize::from(matches!(outcome, Outcome::Rehearsed(_)) && !is_withheld);
        }
    }

    /// Returns the number of entries without those of sub-agents.
    pub fn own_entry_count(&self) -> usize {
        self.entries.len() - self.sub_agents.values().map(Vec::len).sum::<usize>()
    }

    /// Returns every entry, oldest first. Stored entries never change.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// Returns the state of a call; `None` if no reply made it.
    pub fn find_call(&self, id: &CallId) -> Option<&CallState> {
        self.calls.get(id)
    }

    /// Returns the calls that are not settled, in the order they were made, without those of sub-agents.
    pub fn open_calls(&self) -> Vec<CallId> {
        if self.open_count == 0 {
            return Vec::new();
        }
        let is_open = |id: &&CallId| {
            self.calls.get(id).is_some_and(|call| call.settled_at.is_none() && call.parent_call.is_none())
        };
        self.call_order.iter().filter(is_open).cloned().collect()
    }

    /// Returns the grants of this session that were not revoked, oldest first.
    pub fn grants(&self) -> &[SessionGrant] {
        &self.grants
    }

    /// Returns the title by the user, else by the model, else the beginning of the first message, else of the first command
    /// of the user. A command that is kept from the model is not named.
    pub fn title(&self) -> Option<&str> {
        self.title.as_deref().or(self.command_title.as_deref())
    }

    /// Returns who chose the title; `None` if it is the beginning of the first message or command.
    pub fn title_source(&self) -> Option<TitleSource> {
        self.title_source
    }

    /// Returns the model the user switched to, if any.
    pub fn model(&self) -> Option<&str> {
        self.model.as_deref()
    }

    /// Returns what the model noted when it handed the session to the user; `None` if it did not, or if the user has sent
    /// another message.
    pub fn parked_note(&self) -> Option<&str> {
        match self.conclusion.as_ref()? {
            Conclusion::Parked { note, .. } => Some(note),
            Conclusion::Finished { .. } => None,
        }
    }

    /// Returns the todo list of the model; empty if it has none.
    pub fn todos(&self) -> &TodoList {
        &self.todos
    }

    /// Returns the token usage of the whole session.
    pub fn usage(&self) -> Usage {
        self.usage
    }

    /// Returns the names of the tools that were deferred last; empty if none is.
    pub fn deferred_tools(&self) -> &[String] {
        &self.deferred_tools
    }

    /// Returns the provider's last token count; `None` if it never reported one, or another model answers since.
    pub fn token_count(&self) -> Option<TokenCount> {
        self.token_count
    }

    /// Returns the estimated tokens of the conversation as it is sent. Cheap: entries are counted when they are
    /// applied.
    pub fn token_estimate(&self) -> u64 {
        self.summary_tokens + self.token_estimate_between(self.first_sent_entry(), self.entries.len())
    }

    /// Returns the estimated tokens of the entries `start..end`.
    pub fn token_estimate_between(&self, start: usize, end: usize) -> u64 {
        self.tokens_before(end).saturating_sub(self.tokens_before(start))
    }

    /// Returns the estimated tokens of the entries before this index.
    fn tokens_before(&self, index: usize) -> u64 {
        index.min(self.cumulative_tokens.len()).checked_sub(1).map_or(0, |last| self.cumulative_tokens[last])
    }

    /// Returns the index of the first entry that is still sent; earlier ones are covered by the summary.
    pub fn first_sent_entry(&self) -> usize {
        match self.summary_index.and_then(|index| self.entries.get(index)) {
            Some(Entry::Compacted { upto, .. }) => (*upto).min(self.entries.len()),
            Some(_) | None => 0,
        }
    }

    /// Returns the current summary.
    pub fn summary(&self) -> Option<&str> {
        match self.summary_index.and_then(|index| self.entries.get(index)) {
            Some(Entry::Compacted { summary, .. }) => Some(summary),
            Some(_) | None => None,
        }
    }

    /// Returns every call, in the order they were made, including those of sub-agents.
    pub fn calls(&self) -> impl Iterator<Item = &CallState> {
        self.call_order.iter().filter_map(|id| self.calls.get(id))
    }

    /// Returns the origin of a rehearsed call's result, if known.
    pub fn result_origin(&self, id: &CallId) -> Option<&ResultOrigin> {
        match self.entries.get(self.find_call(id)?.settled_at?)?.unwrap_sub_agent() {
            Entry::Settled { staged, .. } => staged.as_ref(),
            _ => None,
        }
    }

    pub fn rehearsed_count(&self) -> usize {
        self.rehearsed_count
    }
}

/// Makes a title of the first line that is not empty: at most 60 characters and `…`.
fn title_from(text: &str) -> Option<String> {
    let line = text.lines().map(str::trim).find(|line| !line.is_empty())?;
    let mut title: String = line.chars().filter(|c| !c.is_control()).take(60).collect();
    if line.chars().count() > 60 {
        title.truncate(title.rfind(' ').filter(|&at| at > 30).unwrap_or(title.len()));
        title.push('…');
    }
    Some(title)
}

#[cfg(test)]
mod tests;
