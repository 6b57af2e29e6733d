//! The list of what waits: every call of the reply that has not begun. One can be told no from it; a yes is said on its
//! card alone.

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

/// How far a question reaches.
const ASKS: &str = "asks you";
/// So much of a call is read for its row.
const SUMMARY: usize = 400;

/// The list and where the person is in it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Waits {
    at: usize,
    ticked: BTreeSet<CallId>,
    /// Words to the model that go with a no, and to which calls.
    because: Option<(Vec<CallId>, Line)>,
    seen: Option<Duration>,
    page: usize,
}

/// One call of the list, read anew for every frame.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// Whose row it is.
    pub call: CallId,
    /// Which call of the reply, from 1.
    pub number: usize,
    /// The tool's name as the model wrote it.
    pub tool: String,
    /// The call in a few words, as the model or its tool has them.
    pub summary: String,
    /// Its arguments as the model wrote them, or their beginning.
    pub arguments: String,
    /// How far it reaches, or why nothing is asked about it.
    pub reach: String,
    /// Whether that needs care.
    pub careful: bool,
    /// Whether it destroys something.
    pub destroys: bool,
    /// Whether its card can be brought.
    pub opens: bool,
    /// Whether it can be told no.
    pub refusable: bool,
    /// Whether it has its yes, and only waits for its turn.
    pub has_yes: bool,
}

/// What a key did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reply {
    /// Something within the list, or nothing at all.
    Nothing,
    /// It was not for the list.
    Passed,
    /// Back to the card.
    Closed,
    /// The card of this call is wanted.
    Brought(CallId),
    /// These are told no, with these words; there may be none.
    Refused(Vec<CallId>, String),
    /// Nothing was done; why, and what would work.
    Says(&'static str),
}

/// What a frame really showed. Hand it to [`Waits::drawn`] once the frame is on the screen.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Seen {
    /// Where the terminal's cursor belongs, where a line is being written.
    pub cursor: Option<Position>,
    rows: usize,
    readable: bool,
}

/// The calls that have not begun, in the model's order; those of a sub-agent say whose they are.
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
        // It was brought before its turn and put back.
        Step::ForAnswer(questions) => {
            let text = questions.list.first().map_or("", |question| question.text.as_str());
            row.asks(text)
        }
        Step::Waiting if let Some(plan) = pending.ahead.yes() => {
            let row = row.would(&plan.summary, &plan.access, plan.destroys.is_some());
            Row { reach: "has your yes".to_owned(), opens: false, ..row }
        }
        Step::Waiting => match &pending.ahead.look {
            None => Row { reach: "not seen yet".to_owned(), ..row.unseen() },
            Some(Look::Would { summary, access, destroys, asks: true }) => {
                row.would(summary, access, destroys.is_some())
            }
            Some(Look::Would { summary, asks: false, .. }) => {
                let row = row.would(summary, &Access::Nothing, false);
                Row { reach: "needs no yes".to_owned(), opens: false, ..row }
            }
            Some(Look::Question(text)) => row.asks(text),
            Some(Look::Fails(_)) => {
                Row { reach: "not possible yet".to_owned(), opens: false, ..row.unseen() }
            }
        },
    })
}

impl Row {
    /// The same for a call of this sub-agent.
    fn of(self, by: Option<&str>) -> Self {
        match by {
            Some(name) => Row { summary: format!("{} · {}", named(name), self.summary), ..self },
            None => self,
        }
    }

    /// No tool has said what it is.
    fn unseen(self) -> Self {
        let summary = width::cut(&gist(&self.arguments).about, SUMMARY).to_owned();
        Row { summary, ..self }
    }

    fn would(self, summary: &str, access: &Access, destroys: bool) -> Self {
        let (reach, careful) = match access {
            _ if destroys => ("destroys", true),
            Access::Nothing => ("reaches nothing", false),
            Access::Read(_) => ("reads", false),
            Access::ReadSensitive(_) => ("reads, careful", true),
            Access::Write(_) => ("writes", false),
            Access::WriteOutside(_) => ("writes, careful", true),
            Access::Own(_) => ("aye's own files", true),
            Access::Run(_) => ("runs", false),
        };
        let summary = width::cut(summary, SUMMARY).to_owned();
        Row { summary, reach: reach.to_owned(), careful, destroys, ..self }
    }

    /// The row of a question: it is answered or declined on its card.
    fn asks(self, text: &str) -> Self {
        let summary = width::cut(text, SUMMARY).to_owned();
        Row { summary, reach: ASKS.to_owned(), refusable: false, ..self }
    }
}

impl Waits {
    /// Whether a line is being written in it: it then wants every key.
    pub fn is_writing(&self) -> bool {
        self.because.is_some()
    }

    /// The words of a denial that are being written.
    pub fn written_denial(&self) -> Option<&str> {
        self.because.as_ref().map(|(_, line)| line.text().trim()).filter(|text| !text.is_empty())
    }

    /// Text was pasted. Whether it went into a line of the list; a paste is never an answer.
    pub fn pasted(&mut self, text: &str) -> bool {
        let Some((_, line)) = &mut self.because else { return false };
        line.insert(text);
        true
    }

    /// When it was first drawn; for [`super::listening::listening`].
    pub fn seen(&self) -> Option<Duration> {
        self.seen
    }

    /// A frame is on the screen.
    pub fn drawn(&mut self, now: Duration, seen: Seen) {
        self.page = seen.rows.max(1);
        if seen.readable {
            self.seen.get_or_insert(now);
        }
    }

    /// A key, already asked of [`super::listening::Presses::goes_on`].
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
                // What has its yes was answered already: it is ticked by hand or not at all.
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
            None if answers => Reply::Says("a yes is said on its card alone · enter brings it"),
            Some(_) | None => Reply::Passed,
        }
    }

    /// A key for the words that go with a no.
    fn write(&mut self, key: &KeyEvent, keys: &Keymap, rows: &[Row], listening: Listening) -> Reply {
        let Some((calls, line)) = &mut self.because else { return Reply::Nothing };
        match line.key(key, keys) {
            // An Enter that came with a paste ends nothing.
            line::Reply::Accepted
                if key.kind == KeyEventKind::Press && !matches!(listening, Listening::Until(_)) =>
            {
                let words = line.text().trim().to_owned();
                // One of them may have begun meanwhile.
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
    /// Why it has no card now.
    fn why(&self) -> &'static str {
        match self.reach.as_str() {
            _ if self.has_yes => "it has your yes, and starts when its turn comes",
            "needs no yes" => "it needs no yes",
            ASKS => "it is answered or declined on its card · enter brings it",
            _ => "it has no card before its turn",
        }
    }
}

#[cfg(test)]
mod tests;
