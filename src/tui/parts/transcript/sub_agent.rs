//! Layout of sub-agents: the row of a running one with its latest calls, and the transcript of a finished one.

use super::cache::Outsides;
use super::entry::plain;
use super::live::spinner;
use super::{Ground, call, how_long};
use crate::agent::{Draft, Pending, Phase, Step, SubAgent};
use crate::chat::session::Call;
use crate::chat::{CallId, Decision, Ending, Entry, Outcome, Preview, Usage};
use crate::tui::parts::status::tokens;
use crate::tui::text::{Page, clean, width};
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use std::time::Duration;

/// Rows for latest calls, shared by all running sub-agents.
const ROWS: usize = 4;
/// Maximum lines of one message, before it is truncated.
const LINES: usize = 6;
/// Maximum lines of a sub-agent's transcript; `/audit` lists every call.
const ALL: usize = 200;

/// Minimum width in cells for showing all figures of a sub-agent.
const NARROW: usize = 72;

/// Returns the line that names the asking sub-agent in a prompt. The name is cleaned and quoted.
pub fn asked_by(name: &str) -> String {
    format!("asked by {}", named(name))
}

/// Returns a sub-agent's cleaned and quoted name on one line.
pub fn named(name: &str) -> String {
    format!("sub-agent “{}”", clean::one_line(name))
}

/// Lays out a running sub-agent: its activity and its latest calls.
pub fn at_work(ground: &Ground<'_>, pending: &Pending, sub_agent: &SubAgent) -> Vec<Line<'static>> {
    let theme = ground.theme;
    let asks = sub_agent.state.waiting().is_some();
    let (mark, style) = match (asks, sub_agent.has_begun()) {
        (true, _) => ("?", theme.prompt),
        (false, true) => (spinner(ground.now), theme.accent),
        (false, false) => ("·", theme.dim),
    };
    let session = &sub_agent.state.session;
    let since = ground.begun.iter().find(|(id, _)| *id == pending.call.id);
    let time = since.map(|(_, since)| how_long(ground.now.saturating_sub(*since)));
    let right = figures(ground, session.calls().count(), session.usage(), time);
    let words = format!("{} · {}", sub_agent.name, does(sub_agent));
    let look = (theme.text, theme.dim);
    let mut lines = vec![call::row(ground.width, (mark, style), &pending.call.name, &words, &right, look)];
    let at_work = ground.agent.pending().iter().filter(|pending| pending.sub_agent().is_some()).count();
    let most = (ROWS / at_work.max(1)).max(1);
    let did = session.entries().iter().enumerate().rev().filter_map(|(index, entry)| {
        let Entry::Settled { call, outcome, staged, took_ms, .. } = entry else { return None };
        let end = call::End { outcome, staged: staged.as_ref(), took_ms: *took_ms };
        let call = session.call(call)?;
        let no =
            session.entries()[..index].iter().rev().find_map(|entry| call::refusal(entry, &call.call.id));
        Some(below(ground, |ground| call::line(ground, call, &end, no)))
    });
    let mut did: Vec<Line<'static>> = did.take(most).collect();
    did.reverse();
    lines.extend(did);
    lines
}

/// Describes the current activity of a sub-agent.
fn does(sub_agent: &SubAgent) -> String {
    match &sub_agent.state.phase {
        Phase::Idle if !sub_agent.has_begun() => "queued".to_owned(),
        Phase::Idle => String::new(),
        Phase::Thinking(draft) => thinks(draft),
        Phase::Acting { calls, .. } => {
            let words = |pending: &Pending| match &pending.step {
                Step::ForApproval(plan, _) => Some(format!("needs approval: {}", plan.summary)),
                Step::ForAnswer(_) => Some("waiting for your answer".to_owned()),
                Step::Running(plan) => Some(format!("{} {}", pending.call.name, plan.summary)),
                Step::Planning => Some(format!("{}: planning", pending.call.name)),
                Step::Consulting(consulting) => {
                    Some(format!("{}: asking {}", pending.call.name, consulting.adviser.words()))
                }
                Step::Waiting | Step::Delegated(_) | Step::Settled => None,
            };
            calls.iter().find_map(words).unwrap_or_default()
        }
    }
}

fn thinks(draft: &Draft) -> String {
    if let Some(again) = &draft.retrying {
        return format!("retrying, try {} of {}: {}", again.attempt, again.of, again.why);
    }
    match () {
        () if draft.is_summary() => "summarizing".to_owned(),
        () if draft.writing.is_some() || !draft.calls.is_empty() => "writing a call".to_owned(),
        () if !draft.text.is_empty() => "writing".to_owned(),
        () => "thinking".to_owned(),
    }
}

/// Formats figures as `3 calls · 12k tok · 8 s`. Omits zero values; in a narrow terminal only the first one remains.
fn figures(ground: &Ground<'_>, calls: usize, usage: Usage, time: Option<String>) -> String {
    let calls = match calls {
        0 => None,
        1 => Some("1 call".to_owned()),
        calls => Some(format!("{calls} calls")),
    };
    let paid = (usage.total() > 0).then(|| format!("{} tok", tokens(usage.total())));
    let all: Vec<String> = [calls, paid, time].into_iter().flatten().collect();
    let most = if ground.width < NARROW { 1 } else { all.len() };
    all[..most.min(all.len())].join(" · ")
}

/// Returns the figures of a finished sub-agent.
pub fn summed_up(ground: &Ground<'_>, id: &CallId, took_ms: u64) -> String {
    let mut calls = 0;
    let mut usage = Usage::default();
    for (_, entry) in ground.agent.session.beneath(id) {
        match entry {
            Entry::Replied { calls: made, usage: counted, .. } => {
                calls += made.len();
                usage += counted.unwrap_or_default();
            }
            Entry::Compacted { usage: counted, .. } => usage += counted.unwrap_or_default(),
            _ => {}
        }
    }
    let time = (took_ms > 0).then(|| how_long(Duration::from_millis(took_ms)));
    figures(ground, calls, usage, time)
}

/// Lays out a sub-agent's transcript in order. Its last reply is shown as the outcome.
pub fn talk(ground: &Ground<'_>, call: &Call, outcome: &Outcome, outside: &Outsides) -> Page {
    let theme = ground.theme;
    let session = &ground.agent.session;
    let mut page = Page::default();
    if let Some(Preview::Text(task)) = call.shown.as_ref().map(|shown| &shown.preview) {
        said(&mut page, ground, task, theme.person, "    ▌ ");
    }
    let entries: Vec<(usize, &Entry)> = session.beneath(&call.call.id).collect();
    let last = entries.iter().rposition(|(_, entry)| matches!(entry, Entry::Replied { .. }));
    for (at, (index, entry)) in entries.iter().enumerate() {
        match entry {
            // The outcome contains the whole text.
            Entry::Replied { .. } if Some(at) == last && matches!(outcome, Outcome::Done(_)) => {}
            Entry::Replied { text, .. } => said(&mut page, ground, text, theme.text, "    "),
            Entry::Settled { call, outcome, staged, took_ms, .. } => {
                let end = call::End { outcome, staged: staged.as_ref(), took_ms: *took_ms };
                // The `Answered` entry shows questions.
                if let Some(call) = session.call(call).filter(|call| call.questions.is_none()) {
                    let no = call::refused(ground, *index, &call.call.id);
                    page.lines.push(below(ground, |ground| call::line(ground, call, &end, no)));
                }
            }
            Entry::Answered { call, answer, .. } => {
                let questions = session.call(call).and_then(|call| call.questions.as_ref());
                for question in questions.into_iter().flat_map(|questions| &questions.list) {
                    let given = answer.given.iter().find(|given| given.keyword == question.keyword);
                    let given = given.map_or_else(|| "no answer".to_owned(), |given| given.words(question));
                    let words = format!("{} → {given}", question.text);
                    said(&mut page, ground, &words, theme.dim, "    ? ");
                }
            }
            Entry::Decided { decision: Decision::Always(grant), .. } => {
                let words = format!("allowed from now on: {} ({})", grant.tool, grant.words());
                said(&mut page, ground, &words, theme.dim, "      ");
            }
            Entry::Decided { decision: Decision::Edited(_), .. } => {
                said(&mut page, ground, "you edited the arguments", theme.dim, "      ");
            }
            Entry::Compacted { .. } => {
                said(&mut page, ground, "earlier turns summarized", theme.dim, "      ");
            }
            Entry::FellBack { model, .. } => {
                said(&mut page, ground, &format!("fell back to {model}"), theme.dim, "    ↪ ");
            }
            Entry::Ended { ending: Ending::Failed(why) } => {
                said(&mut page, ground, why, theme.danger, "    ✗ ");
            }
            Entry::Ended { ending: Ending::Interrupted } => {
                said(&mut page, ground, "stopped", theme.dim, "    ");
            }
            Entry::Said { .. }
            | Entry::Planned { .. }
            | Entry::Consulted { .. }
            | Entry::Asked { .. }
            | Entry::Decided { .. }
            | Entry::Ended { ending: Ending::Finished }
            | Entry::TakenBack { .. }
            | Entry::Titled { .. }
            | Entry::Switched { .. }
            | Entry::Became { .. }
            | Entry::Beneath { .. } => {}
        }
    }
    if page.lines.len() > ALL {
        let more = page.lines.len() - ALL;
        page.truncate(ALL);
        page.append(plain(
            &format!("{more} more lines; /audit lists every call"),
            theme.dim,
            ground.width,
            "    ",
        ));
    }
    if matches!(outcome, Outcome::Done(_)) {
        page.lines.push(Line::default());
        let by = if ground.width > 16 { 4 } else { 0 };
        let width = ground.width - usize::from(by);
        page.append(outside.markdown(&Ground { width, ..*ground }, width, outcome.text()).indented(by));
    }
    page
}

/// Adds the first lines of a text.
fn said(page: &mut Page, ground: &Ground<'_>, text: &str, style: Style, mark: &str) {
    if text.trim().is_empty() {
        return;
    }
    let mut shown = plain(super::entry::beginning(text.trim(), 8 << 10), style, ground.width, mark);
    let more = shown.lines.len().saturating_sub(LINES);
    shown.truncate(LINES);
    page.append(shown);
    if more > 0 {
        let blank = " ".repeat(width::width(mark));
        page.append(plain(&format!("… {more} more lines"), ground.theme.dim, ground.width, &blank));
    }
}

/// Indents the row of a nested call, if the width allows.
fn below(ground: &Ground<'_>, row: impl Fn(&Ground<'_>) -> Line<'static>) -> Line<'static> {
    let by = if ground.width > 8 { 2 } else { 0 };
    let mut line = row(&Ground { width: ground.width - by, ..*ground });
    line.spans.insert(0, Span::raw(" ".repeat(by)));
    line
}
