//! Layout of sub-agents: the row of a running one with its latest calls, and the transcript of a finished one.

use super::call_row::{CallEnd, build_row, call_row, denial_message, find_denial_message};
use super::layout_context::LayoutContext;
use super::link_lookups::LinkLookups;
use super::plain_layout::{lay_out_plain, truncate_at_line};
use super::sub_agent_figures::format_figures;
use crate::agent::{CallStage, PendingCall, Phase, StreamingReply, SubAgent};
use crate::chat::session::CallState;
use crate::chat::{Decision, Ending, Entry, Outcome, Preview};
use crate::text::width;
use crate::tui::parts::quantities::format_duration;
use crate::tui::parts::spinner::spinner_frame;
use crate::tui::text::Page;
use ratatui::style::Style;
use ratatui::text::{Line, Span};

/// Rows for latest calls, shared by all running sub-agents.
const LATEST_CALL_ROWS: usize = 4;
/// Maximum lines of one message, before it is truncated.
const MAX_MESSAGE_LINES: usize = 6;
/// Maximum lines of a sub-agent's transcript; `/audit` lists every call.
const MAX_TRANSCRIPT_LINES: usize = 200;

/// Lays out a running sub-agent: its activity and its latest calls.
pub fn lay_out_running(ground: &LayoutContext<'_>, pending: &PendingCall, sub_agent: &SubAgent) -> Vec<Line<'static>> {
    let theme = ground.theme;
    let asks = sub_agent.state.waiting_call().is_some();
    let (mark, style) = match (asks, sub_agent.has_started()) {
        (true, _) => ("?", theme.prompt),
        (false, true) => (spinner_frame(ground.now), theme.accent),
        (false, false) => ("·", theme.dim),
    };
    let session = &sub_agent.state.session;
    let since = ground.sub_agent_starts.iter().find(|(id, _)| *id == pending.call.id);
    let time = since.map(|(_, since)| format_duration(ground.now.saturating_sub(*since)));
    let right = format_figures(ground, session.calls().count(), session.usage(), time);
    let words = format!("{} · {}", sub_agent.name, describe_activity(sub_agent));
    let look = (theme.text, theme.dim);
    let mut lines = vec![build_row(ground.width, (mark, style), &pending.call.name, &words, &right, look)];
    let at_work = ground.agent.pending().iter().filter(|pending| pending.sub_agent().is_some()).count();
    let most = (LATEST_CALL_ROWS / at_work.max(1)).max(1);
    let did = session.entries().iter().enumerate().rev().filter_map(|(index, entry)| {
        let Entry::Settled { call, outcome, staged, took_ms, .. } = entry else { return None };
        let end = CallEnd { outcome, staged: staged.as_ref(), took_ms: *took_ms };
        let call = session.call(call)?;
        let no = session.entries()[..index].iter().rev().find_map(|entry| denial_message(entry, &call.call.id));
        Some(indent_row(ground, |ground| call_row(ground, call, &end, no)))
    });
    let mut did: Vec<Line<'static>> = did.take(most).collect();
    did.reverse();
    lines.extend(did);
    lines
}

/// Describes the current activity of a sub-agent.
fn describe_activity(sub_agent: &SubAgent) -> String {
    match &sub_agent.state.phase {
        Phase::Idle if !sub_agent.has_started() => "queued".to_owned(),
        Phase::Idle => String::new(),
        Phase::Replying(draft) => describe_thinking(draft),
        Phase::RunningCalls { calls, .. } => {
            let words = |pending: &PendingCall| match &pending.step {
                CallStage::AwaitingApproval(plan, _) => Some(format!("needs approval: {}", plan.summary)),
                CallStage::AwaitingAnswer(_) => Some("waiting for your answer".to_owned()),
                CallStage::Running(plan) => Some(format!("{} {}", pending.call.name, plan.summary)),
                CallStage::Planning => Some(format!("{}: planning", pending.call.name)),
                CallStage::UnderReview(consulting) => {
                    Some(format!("{}: asking {}", pending.call.name, consulting.reviewer.display_name()))
                }
                CallStage::Waiting | CallStage::Delegated(_) | CallStage::Settled => None,
            };
            calls.iter().find_map(words).unwrap_or_default()
        }
    }
}

fn describe_thinking(draft: &StreamingReply) -> String {
    if let Some(again) = &draft.pending_retry {
        return format!("retrying, try {} of {}: {}", again.attempt, again.max_attempts, again.reason);
    }
    match () {
        () if draft.is_summary() => "summarizing".to_owned(),
        () if draft.call_in_progress.is_some() || !draft.calls.is_empty() => "writing a call".to_owned(),
        () if !draft.text.is_empty() => "writing".to_owned(),
        () => "thinking".to_owned(),
    }
}

/// Lays out a sub-agent's transcript in order. Its last reply is shown as the outcome.
pub fn lay_out_transcript(
    ground: &LayoutContext<'_>,
    call: &CallState,
    outcome: &Outcome,
    outside: &LinkLookups,
) -> Page {
    let theme = ground.theme;
    let session = &ground.agent.session;
    let mut page = Page::default();
    if let Some(Preview::Text(task)) = call.plan.as_ref().map(|shown| &shown.preview) {
        push_message(&mut page, ground, task, theme.person, "    ▌ ");
    }
    let entries: Vec<(usize, &Entry)> = session.sub_agent_entries(&call.call.id).collect();
    let last = entries.iter().rposition(|(_, entry)| matches!(entry, Entry::Replied { .. }));
    for (at, (index, entry)) in entries.iter().enumerate() {
        match entry {
            // The outcome contains the whole text.
            Entry::Replied { .. } if Some(at) == last && matches!(outcome, Outcome::Done(_)) => {}
            Entry::Replied { text, .. } => push_message(&mut page, ground, text, theme.text, "    "),
            Entry::Settled { call, outcome, staged, took_ms, .. } => {
                let end = CallEnd { outcome, staged: staged.as_ref(), took_ms: *took_ms };
                // The `Answered` entry shows questions.
                if let Some(call) = session.call(call).filter(|call| call.questions.is_none()) {
                    let no = find_denial_message(ground, *index, &call.call.id);
                    page.lines.push(indent_row(ground, |ground| call_row(ground, call, &end, no)));
                }
            }
            Entry::Answered { call, answer, .. } => {
                let questions = session.call(call).and_then(|call| call.questions.as_ref());
                for question in questions.into_iter().flat_map(|questions| &questions.list) {
                    let given = answer.answers.iter().find(|given| given.keyword == question.keyword);
                    let given = given.map_or_else(|| "no answer".to_owned(), |given| given.answer_text(question));
                    let words = format!("{} → {given}", question.text);
                    push_message(&mut page, ground, &words, theme.dim, "    ? ");
                }
            }
            Entry::Decided { decision: Decision::Always(grant), .. } => {
                let words = format!("allowed from now on: {} ({})", grant.tool, grant.describe_grant());
                push_message(&mut page, ground, &words, theme.dim, "      ");
            }
            Entry::Decided { decision: Decision::Edited(_), .. } => {
                push_message(&mut page, ground, "you edited the arguments", theme.dim, "      ");
            }
            Entry::Compacted { .. } => {
                push_message(&mut page, ground, "earlier turns summarized", theme.dim, "      ");
            }
            Entry::FellBack { model, .. } => {
                push_message(&mut page, ground, &format!("fell back to {model}"), theme.dim, "    ↪ ");
            }
            Entry::Ended { ending: Ending::Failed(why) } => {
                push_message(&mut page, ground, why, theme.danger, "    ✗ ");
            }
            Entry::Ended { ending: Ending::Interrupted } => {
                push_message(&mut page, ground, "stopped", theme.dim, "    ");
            }
            Entry::UserMessage { .. }
            | Entry::Planned { .. }
            | Entry::Reviewed { .. }
            | Entry::Asked { .. }
            | Entry::Decided { .. }
            | Entry::Ended { ending: Ending::Finished }
            | Entry::Revoked { .. }
            | Entry::Titled { .. }
            | Entry::Switched { .. }
            | Entry::DryRunChanged { .. }
            | Entry::SubAgent { .. } => {}
        }
    }
    if page.lines.len() > MAX_TRANSCRIPT_LINES {
        let more = page.lines.len() - MAX_TRANSCRIPT_LINES;
        page.truncate_lines(MAX_TRANSCRIPT_LINES);
        page.append_page(lay_out_plain(
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
        page.append_page(
            outside.lay_out_markdown(&LayoutContext { width, ..*ground }, width, outcome.text()).indent_lines(by),
        );
    }
    page
}

/// Adds the first lines of a text.
fn push_message(page: &mut Page, ground: &LayoutContext<'_>, text: &str, style: Style, mark: &str) {
    if text.trim().is_empty() {
        return;
    }
    let mut shown = lay_out_plain(truncate_at_line(text.trim(), 8 << 10), style, ground.width, mark);
    let more = shown.lines.len().saturating_sub(MAX_MESSAGE_LINES);
    shown.truncate_lines(MAX_MESSAGE_LINES);
    page.append_page(shown);
    if more > 0 {
        let blank = " ".repeat(width::text_width(mark));
        page.append_page(lay_out_plain(&format!("… {more} more lines"), ground.theme.dim, ground.width, &blank));
    }
}

/// Indents the row of a nested call, if the width allows.
fn indent_row(ground: &LayoutContext<'_>, row: impl Fn(&LayoutContext<'_>) -> Line<'static>) -> Line<'static> {
    let by = if ground.width > 8 { 2 } else { 0 };
    let mut line = row(&LayoutContext { width: ground.width - by, ..*ground });
    line.spans.insert(0, Span::raw(" ".repeat(by)));
    line
}
