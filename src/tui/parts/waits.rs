//! The queue list: every call of the reply that has not started. Calls can be denied from it; approving needs the
//! prompt of the call.

mod looks;

use super::line::{self, Line};
use super::listening::{AT_ONCE, Listening};
use crate::agent::{Look, Pending, State, Step};
use crate::chat::{Access, CallId};
use crate::tui::keys::{Action, Keymap, Scope};
use crate::tui::parts::gist::{beginning, gist};
use crate::tui::parts::transcript::sub_agent::named;
use crate::tui::text::width;
use crossterm::event::{KeyEvent, KeyEventKind};
use ratatui::layout::Position;
use std::collections::BTreeSet;
use std::time::Duration;

/// Reach of a question, as shown in its row.
const ASKS: &str = "question";
/// Maximum bytes of a call's summary.
const SUMMARY: usize = 400;

/// State of the queue list.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Waits {
    at: usize,
    ticked: BTreeSet<CallId>,
    /// Message for the model and the calls it denies, while it is being written.
    because: Option<(Vec<CallId>, Line)>,
    seen: Option<Duration>,
    page: usize,
}

/// A call in the list, derived from the agent's state for every frame.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    pub call: CallId,
    /// Number of the call in the reply, from 1.
    pub number: usize,
    /// Name of the tool as the model wrote it.
    pub tool: String,
    /// Short description from the tool, or from the arguments.
    pub summary: String,
    /// Arguments as the model wrote them, or their beginning.
    pub arguments: String,
    /// Access of the call, or the reason it needs no decision.
    pub reach: String,
    /// True if the access needs care.
    pub careful: bool,
    /// True if the call destroys something.
    pub destroys: bool,
    /// True if the prompt of the call can be opened.
    pub opens: bool,
    /// True if the call can be denied.
    pub refusable: bool,
    /// True if the call is approved and only waits for its turn.
    pub has_yes: bool,
}

/// Effect of a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reply {
    /// The key was used within the list, or ignored.
    Nothing,
    /// The key was not for the list.
    Passed,
    /// Return to the prompt.
    Closed,
    /// Open the prompt of this call.
    Brought(CallId),
    /// Deny these calls with this message, which may be empty.
    Refused(Vec<CallId>, String),
    /// Nothing was done. Holds the reason and what would work.
    Says(&'static str),
}

/// Part of the list that a frame showed. Pass it to `QueueList::record_frame` once the frame is on the screen.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Seen {
    /// Position of the terminal's cursor while a message is being written.
    pub cursor: Option<Position>,
    rows: usize,
    readable: bool,
}

/// Returns the calls that have not started, in the model's order. Calls of a sub-agent are prefixed with its name.
pub fn rows(agent: &State) -> Vec<Row> {
    let counted = agent.counted().enumerate();
    counted.filter_map(|(at, (by, pending))| Some(row(at + 1, pending)?.of(by))).collect()
}

fn row(number: usize, pending: &Pending) -> Option<Row> {
    let call = &pending.call;
    let row = Row {
        call: call.id.clone(),
        number,
        tool: call.name.clone(),
        summary: String::new(),
        arguments: beginning(&call.arguments).to_owned(),
        reach: String::new(),
        careful: false,
        destroys: false,
        opens: true,
        refusable: true,
        has_yes: pending.ahead.has_yes(),
    };
    Some(match &pending.step {
        Step::Settled | Step::Running(_) | Step::Delegated(_) | Step::Planning | Step::Consulting(_) => {
            return None;
        }
        Step::ForApproval(plan, _) => row.would(&plan.summary, &plan.access, plan.destroys.is_some()),
        // The question was opened before its turn and parked.
        Step::ForAnswer(questions) => {
            let text = questions.list.first().map_or("", |question| question.text.as_str());
            row.asks(text)
        }
        Step::Waiting if let Some(plan) = pending.ahead.yes() => {
            let row = row.would(&plan.summary, &plan.access, plan.destroys.is_some());
            Row { reach: "approved".to_owned(), opens: false, ..row }
        }
        Step::Waiting => match &pending.ahead.look {
            None => Row { reach: "not planned yet".to_owned(), ..row.unseen() },
            Some(Look::Would { summary, access, destroys, asks: true }) => {
                row.would(summary, access, destroys.is_some())
            }
            Some(Look::Would { summary, asks: false, .. }) => {
                let row = row.would(summary, &Access::Nothing, false);
                Row { reach: "needs no approval".to_owned(), opens: false, ..row }
            }
            Some(Look::Question(text)) => row.asks(text),
            Some(Look::Fails(_)) => Row { reach: "cannot run yet".to_owned(), opens: false, ..row.unseen() },
        },
    })
}

impl Row {
    /// Adds the name of the sub-agent that makes the call.
    fn of(self, by: Option<&str>) -> Self {
        match by {
            Some(name) => Row { summary: format!("{} · {}", named(name), self.summary), ..self },
            None => self,
        }
    }

    /// Describes a call that its tool has not planned yet.
    fn unseen(self) -> Self {
        let summary = width::cut(&gist(&self.arguments).about, SUMMARY).to_owned();
        Row { summary, ..self }
    }

    fn would(self, summary: &str, access: &Access, destroys: bool) -> Self {
        let (reach, careful) = match access {
            _ if destroys => ("destroys", true),
            Access::Nothing => ("no access", false),
            Access::Read(_) => ("reads", false),
            Access::ReadSensitive(_) => ("reads sensitive", true),
            Access::Write(_) => ("writes", false),
            Access::WriteOutside(_) => ("writes sensitive", true),
            Access::Own(_) => ("aye's own files", true),
            Access::Run(_) => ("runs", false),
        };
        let summary = width::cut(summary, SUMMARY).to_owned();
        Row { summary, reach: reach.to_owned(), careful, destroys, ..self }
    }

    /// Describes a question, which can only be answered or declined in its prompt.
    fn asks(self, text: &str) -> Self {
        let summary = width::cut(text, SUMMARY).to_owned();
        Row { summary, reach: ASKS.to_owned(), refusable: false, ..self }
    }
}

impl Waits {
    /// True if a message is being written; it then receives every key.
    pub fn is_writing(&self) -> bool {
        self.because.is_some()
    }

    /// Returns the message of a denial that is being written.
    pub fn written_denial(&self) -> Option<&str> {
        self.because.as_ref().map(|(_, line)| line.text().trim()).filter(|text| !text.is_empty())
    }

    /// Inserts pasted text into the message. Returns whether one is being written. A paste is never an answer.
    pub fn pasted(&mut self, text: &str) -> bool {
        let Some((_, line)) = &mut self.because else { return false };
        line.insert(text);
        true
    }

    /// Time at which the list was first drawn, for [`super::listening::listening`].
    pub fn seen(&self) -> Option<Duration> {
        self.seen
    }

    /// Records that a frame is on the screen.
    pub fn drawn(&mut self, now: Duration, seen: Seen) {
        self.page = seen.rows.max(1);
        if seen.readable {
            self.seen.get_or_insert(now);
        }
    }

    /// Handles a key that [`super::listening::Presses::goes_on`] has let through.
    pub fn key(&mut self, key: &KeyEvent, keys: &Keymap, rows: &[Row], listening: Listening) -> Reply {
        if self.because.is_some() {
            return self.write(key, keys, rows, listening);
        }
        let action = keys.lookup(Scope::Waits, key);
        if listening == Listening::Unsent {
            return Reply::Passed;
        }
        let last = rows.len().saturating_sub(1);
        let at = self.at.min(last);
        match action {
            Some(Action::Up) => return self.move_to(at.saturating_sub(1)),
            Some(Action::Down) => return self.move_to((at + 1).min(last)),
            Some(Action::PageUp) => return self.move_to(at.saturating_sub(self.page)),
            Some(Action::PageDown) => return self.move_to((at + self.page).min(last)),
            Some(Action::Top) => return self.move_to(0),
            Some(Action::Bottom) => return self.move_to(last),
            Some(Action::Close) if key.kind == KeyEventKind::Press => return Reply::Closed,
            _ => {}
        }
        if !listening.now() {
            return Reply::Passed;
        }
        let answers = matches!(
            keys.lookup(Scope::Approval, key),
            Some(
                Action::ApproveOnce
                    | Action::ApproveDestroying
                    | Action::ApproveAlways
                    | Action::EditCall
                    | Action::Details
            )
        );
        let Some(row) = rows.get(at) else { return Reply::Passed };
        match action {
            _ if key.kind != KeyEventKind::Press => Reply::Nothing,
            Some(Action::Tick) if row.refusable => {
                if !self.ticked.remove(&row.call) {
                    self.ticked.insert(row.call.clone());
                }
                self.move_to((at + 1).min(last))
            }
            Some(Action::TickAll) => {
                // Approved calls are not included, because the user has already decided them. They can be ticked one by
                // one.
                let all = rows.iter().filter(|row| row.refusable && !row.has_yes);
                let all: BTreeSet<CallId> = all.map(|row| row.call.clone()).collect();
                self.ticked = if all.is_subset(&self.ticked) { BTreeSet::new() } else { all };
                Reply::Nothing
            }
            Some(Action::Accept) if row.opens => Reply::Brought(row.call.clone()),
            Some(Action::Tick | Action::Accept) => Reply::Says(row.why()),
            Some(way @ (Action::Refuse | Action::RefuseBecause)) => {
                let ticked = rows.iter().filter(|row| row.refusable && self.ticked.contains(&row.call));
                let mut refused: Vec<CallId> = ticked.map(|row| row.call.clone()).collect();
                if refused.is_empty() {
                    if !row.refusable {
                        return Reply::Says(row.why());
                    }
                    refused.push(row.call.clone());
                }
                if way == Action::RefuseBecause {
                    self.because = Some((refused, Line::default()));
                    return Reply::Nothing;
                }
                self.ticked.clear();
                Reply::Refused(refused, String::new())
            }
            None if answers => Reply::Says("Approve in the call's own prompt · enter to open it"),
            Some(_) | None => Reply::Passed,
        }
    }

    /// Handles a key for the message of a denial.
    fn write(&mut self, key: &KeyEvent, keys: &Keymap, rows: &[Row], listening: Listening) -> Reply {
        let Some((calls, line)) = &mut self.because else { return Reply::Nothing };
        match line.key(key, keys) {
            // An Enter within a paste does not end the message.
            line::Reply::Accepted
                if key.kind == KeyEventKind::Press && !matches!(listening, Listening::Until(_)) =>
            {
                let words = line.text().trim().to_owned();
                // One of the calls may have started in the meantime.
                calls.retain(|call| rows.iter().any(|row| row.refusable && row.call == *call));
                let calls = std::mem::take(calls);
                self.because = None;
                self.ticked.clear();
                Reply::Refused(calls, words)
            }
            line::Reply::Accepted if key.kind == KeyEventKind::Press => Reply::Says(AT_ONCE),
            line::Reply::Closed => {
                self.because = None;
                Reply::Nothing
            }
            line::Reply::Passed => Reply::Passed,
            line::Reply::Moved | line::Reply::Changed | line::Reply::Accepted => Reply::Nothing,
        }
    }

    fn move_to(&mut self, row: usize) -> Reply {
        self.at = row;
        Reply::Nothing
    }
}

impl Row {
    /// Explains why the call cannot be opened or denied now.
    fn why(&self) -> &'static str {
        match self.reach.as_str() {
            _ if self.has_yes => "Approved: it runs when its turn comes",
            "needs no approval" => "This call needs no approval",
            ASKS => "Answer or decline it in its prompt · enter to open it",
            _ => "This call has no prompt before its turn",
        }
    }
}

#[cfg(test)]
mod tests;
