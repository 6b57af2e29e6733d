//! Layout of sub-agents: the row of a running one with its latest calls, and the transcript of a finished one.

use super::call_row::{CallEnd, build_row, call_row, denial_message, find_denial_message, lay_out_call_row};
use super::entry_layout::describe_new_grant;
use super::layout_context::LayoutContext;
use super::sub_agent_figures::format_figures;
use crate::agent::{CallStage, PendingCall, Phase, StreamingReply, SubAgent};
use crate::chat::session::CallState;
use crate::chat::{Decision, Ending, Entry, Outcome, Preview};
use crate::text::truncation::truncate_at_line;
use crate::text::width;
use crate::tui::parts::call_action::{PlannedCall, name_pending_action};
use crate::tui::parts::quantities::format_duration;
use crate::tui::parts::spinner::spinner_frame;
use crate::tui::text::Page;
use ratatui::style::Style;
use ratatui::text::Line;

/// Rows for latest calls, shared by all running sub-agents.
const LATEST_CALL_ROWS: usize = 4;
/// Maximum lines of one message in a sub-agent's transcript.
const MAX_MESSAGE_LINES: usize = 6;
/// Maximum bytes of one message that are laid out, so that a long one costs little.
const MAX_MESSAGE_BYTES: usize = 8 << 10;
/// Maximum lines of a sub-agent's transcript; `/audit` lists every call.
const MAX_TRANSCRIPT_LINES: usize = 200;

/// Lays out a running sub-agent: its activity and its latest calls.
pub fn lay_out_running(context: &LayoutContext<'_>, pending: &PendingCall, sub_agent: &SubAgent) -> Vec<Line<'static>> {
    let theme = context.theme;
    let is_waiting = sub_agent.state.waiting_call().is_some();
    let (mark, style) = match (is_waiting, sub_agent.has_started()) {
        (true, _) => ("?", theme.prompt),
        (false, true) => (spinner_frame(context.now), theme.accent),
        (false, false) => ("·", theme.dim),
    };
    let session = &sub_agent.state.session;
    let start = context.sub_agent_starts.iter().find(|(id, _)| *id == pending.call.id);
    let time = start.map(|(_, start)| format_duration(context.now.saturating_sub(*start)));
    let right = format_figures(context, session.calls().count(), session.usage(), time);
    let text = format!("{} · {}", sub_agent.name, describe_activity(sub_agent));
    let mut lines = vec![build_row(context, (mark, style), &name_pending_action(pending), &text, &right)];
    let running_count = context.agent.pending().iter().filter(|pending| pending.sub_agent().is_some()).count();
    let max_rows = (LATEST_CALL_ROWS / running_count.max(1)).max(1);
    let call_rows = session.entries().iter().enumerate().rev().filter_map(|(index, entry)| {
        let Entry::Settled { call, outcome, staged, took_ms, .. } = entry else { return None };
        let end = CallEnd { outcome, origin: staged.as_ref(), took_ms: *took_ms };
        let call = session.find_call(call)?;
        let denial = session.entries()[..index].iter().rev().find_map(|entry| denial_message(entry, &call.call.id));
        // Only one row of each call, because the rows are few.
        let lay_out_row = |context: &LayoutContext<'_>| Page {
            lines: vec![call_row(context, call, &end, denial).0],
            ..Page::default()
        };
        Some(indent_rows(context, lay_out_row).lines)
    });
    let mut call_rows: Vec<Vec<Line<'static>>> = call_rows.take(max_rows).collect();
    call_rows.reverse();
    lines.extend(call_rows.into_iter().flatten());
    lines
}

/// Describes the current activity of a sub-agent; empty if it does nothing at the moment.
fn describe_activity(sub_agent: &SubAgent) -> String {
    match &sub_agent.state.phase {
        Phase::Idle if !sub_agent.has_started() => "queued".to_owned(),
        Phase::Idle | Phase::RunningUserCommand(_) => String::new(),
        Phase::Replying(draft) => describe_reply(draft),
        Phase::RunningCalls { calls, .. } => {
            let describe_step = |pending: &PendingCall| match &pending.stage {
                CallStage::AwaitingApproval(plan, _) => Some(format!("needs approval: {}", plan.summary)),
                CallStage::AwaitingAnswer(_) => Some("waiting for your answer".to_owned()),
                CallStage::Running(plan) | CallStage::OnTrial(plan, _) => {
                    Some(format!("{} {}", name_pending_action(pending), PlannedCall::from(&**plan).subject()))
                }
                CallStage::Planning => Some(format!("{}: planning", name_pending_action(pending))),
                CallStage::UnderReview(review) => {
                    Some(format!("{}: asking {}", name_pending_action(pending), review.reviewer.display_name()))
                }
                CallStage::AwaitingTurn | CallStage::Delegated(_) | CallStage::Settled => None,
            };
            calls.iter().find_map(describe_step).unwrap_or_default()
        }
    }
}

fn describe_reply(draft: &StreamingReply) -> String {
    if let Some(retry) = &draft.pending_retry {
        return format!("retrying, try {} of {}: {}", retry.attempt, retry.max_attempts, retry.reason);
    }
    let activity = if draft.is_summary() {
        "summarizing"
    } else if draft.call_in_progress.is_some() || !draft.calls.is_empty() {
        "writing a call"
    } else if !draft.text.is_empty() {
        "writing"
    } else {
        "thinking"
    };
    activity.to_owned()
}

/// Lays out the transcript of a finished sub-agent. Its last reply is shown as the outcome of the call.
pub fn lay_out_transcript(context: &LayoutContext<'_>, call: &CallState, outcome: &Outcome) -> Page {
    let theme = context.theme;
    let session = &context.agent.session;
    let message = |text: &str, style: Style, mark: &str| lay_out_message(context, text, style, mark);
    let mut page = match call.plan.as_ref().map(|plan| &plan.preview) {
        Some(Preview::Text(task)) => message(task, theme.user, "    ▌ "),
        _ => Page::default(),
    };
    let entries: Vec<(usize, &Entry)> = session.sub_agent_entries(&call.call.id).collect();
    let last_reply = entries.iter().rposition(|(_, entry)| matches!(entry, Entry::Replied { .. }));
    for (position, (index, entry)) in entries.iter().enumerate() {
        page.append_page(match entry {
            // The text of the last reply is the outcome, which is laid out below.
            Entry::Replied { .. } if Some(position) == last_reply && matches!(outcome, Outcome::Done(_)) => continue,
            Entry::Replied { text, .. } => message(text, theme.text, "    "),
            Entry::Settled { call, outcome, staged, took_ms, .. } => {
                let end = CallEnd { outcome, origin: staged.as_ref(), took_ms: *took_ms };
                // The `Answered` entry shows questions.
                let call = session.find_call(call).filter(|call| call.questions.is_none());
                let Some(call) = call else { continue };
                let denial = find_denial_message(context, *index, &call.call.id);
                indent_rows(context, |context| lay_out_call_row(context, call, &end, denial))
            }
            Entry::Answered { call, answer, .. } => {
                let mut answers = Page::default();
                let questions = session.find_call(call).and_then(|call| call.questions.as_ref());
                for question in questions.into_iter().flat_map(|questions| &questions.list) {
                    let given_answer = answer.find_answer(question);
                    let answer_text = given_answer.map(|given_answer| given_answer.answer_text(question));
                    let (mark, answer_text) = match answer_text.filter(|text| !text.is_empty()) {
                        Some(text) => ("    ✓ ", text),
                        None => ("    · ", "no answer".to_owned()),
                    };
                    answers.append_page(message(&format!("{} → {answer_text}", question.text), theme.dim, mark));
                }
                answers
            }
            Entry::Decided { decision: Decision::Always(grant), .. } => {
                message(&describe_new_grant(grant), theme.dim, "      ")
            }
            Entry::Decided { decision: Decision::Edited(_), .. } => {
                message("you edited the arguments", theme.dim, "      ")
            }
            Entry::Compacted { .. } => message("earlier turns summarized", theme.dim, "      "),
            Entry::FellBack { model, .. } => message(&format!("fell back to {model}"), theme.dim, "    ↪ "),
            Entry::Ended { ending: Ending::Failed(reason) } => message(reason, theme.danger, "    ✗ "),
            Entry::Ended { ending: Ending::Interrupted } => message("stopped", theme.dim, "    "),
            _ => continue,
        });
    }
    if page.lines.len() > MAX_TRANSCRIPT_LINES {
        let hidden_lines = page.lines.len() - MAX_TRANSCRIPT_LINES;
        page.truncate_lines(MAX_TRANSCRIPT_LINES);
        page.append_page(context.lay_out_note(&format!("{hidden_lines} more lines; /audit lists every call"), "    "));
    }
    if matches!(outcome, Outcome::Done(_)) {
        page.lines.push(Line::default());
        let indent = if context.width > 16 { 4 } else { 0 };
        let width = context.width - indent;
        page.append_page(LayoutContext { width, ..*context }.lay_out_markdown(outcome.text()).indent_lines(indent));
    }
    page
}

/// Lays out the first lines of a text after a mark, and the number of hidden lines.
fn lay_out_message(context: &LayoutContext<'_>, text: &str, style: Style, mark: &str) -> Page {
    if text.trim().is_empty() {
        return Page::default();
    }
    let mut message = context.lay_out_plain(truncate_at_line(text.trim(), MAX_MESSAGE_BYTES), style, mark);
    let hidden_lines = message.lines.len().saturating_sub(MAX_MESSAGE_LINES);
    message.truncate_lines(MAX_MESSAGE_LINES);
    if hidden_lines > 0 {
        let indent = " ".repeat(width::text_width(mark));
        message.append_page(context.lay_out_note(&format!("… {hidden_lines} more lines"), &indent));
    }
    message
}

/// Indents the rows of a nested call, if the width allows.
fn indent_rows(context: &LayoutContext<'_>, lay_out_rows: impl Fn(&LayoutContext<'_>) -> Page) -> Page {
    let indent = if context.width > 8 { 2 } else { 0 };
    lay_out_rows(&LayoutContext { width: context.width - indent, ..*context }).indent_lines(indent)
}
