//! The live item: everything that is not an entry yet. The streaming reply, pending calls and queued messages.

use super::call_row::build_row;
use super::item_layout::ItemLayout;
use super::layout_context::LayoutContext;
use super::link_lookups::LinkLookups;
use super::plain_layout::lay_out_plain;
use super::reply_pieces::ReplyPieces;
use super::{entry_layout, sub_agent_layout};
use crate::agent::{CallStage, PendingCall, Phase, QueuePreview, StreamingReply, WaitingCall};
use crate::chat::{Ending, Entry, TurnId};
use crate::text::{escape_sequences, width};
use crate::tui::keys::{Action, Scope};
use crate::tui::parts::call_summary::summarize_arguments;
use crate::tui::parts::quantities::{format_bytes, format_duration, format_seconds};
use crate::tui::parts::reply_timing::Wait;
use crate::tui::parts::spinner::spinner_frame;
use crate::tui::text::{Page, output, wrap};
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use std::sync::Arc;

/// Maximum lines shown of a running call's output.
const MAX_OUTPUT_LINES: usize = 4;
/// Maximum bytes of a queued call's description used for its row.
const QUEUED_TEXT_BYTES: usize = 400;
/// Identity of a reply: turn, number of entries before it, and number of times its text was reclassified as reasoning.
type ReplyId = (TurnId, usize, u32);

/// Layout of the streaming reply, with final layouts of closed blocks.
#[derive(Default)]
pub struct LiveLayout {
    /// Identity of the reply.
    reply: Option<ReplyId>,
    pieces: ReplyPieces,
    /// Pieces of the previous reply, until its entry takes them over.
    finished: Option<ReplyPieces>,
}

impl LiveLayout {
    /// Lays out the live item. Reuses the layouts of closed blocks of the reply.
    pub fn lay_out_live(&mut self, ground: &LayoutContext<'_>, outside: &LinkLookups) -> ItemLayout {
        let mut laid = match &ground.agent.phase {
            Phase::Idle => {
                let mut laid = self.start_without_reply();
                push_page(&mut laid, lay_out_retry_hint(ground));
                laid
            }
            Phase::Replying(draft) => self.lay_out_reply(ground, draft, outside),
            Phase::RunningCalls { calls, .. } => {
                let mut laid = self.start_without_reply();
                push_page(&mut laid, lay_out_calls(ground, calls));
                laid
            }
        };
        push_page(&mut laid, lay_out_queue(ground, outside));
        laid
    }

    /// Takes the layout of a finished reply with this text.
    pub fn take_finished(&mut self, text: &str) -> Option<ReplyPieces> {
        self.finished.take_if(|pieces| pieces.is_start_of(text))
    }

    fn start_without_reply(&mut self) -> ItemLayout {
        self.switch_reply(None);
        ItemLayout::default()
    }

    fn switch_reply(&mut self, next: Option<ReplyId>) {
        let pieces = std::mem::take(&mut self.pieces);
        if pieces.final_bytes() > 0 {
            self.finished = Some(pieces);
        }
        self.reply = next;
    }

    fn lay_out_reply(
        &mut self,
        ground: &LayoutContext<'_>,
        draft: &StreamingReply,
        outside: &LinkLookups,
    ) -> ItemLayout {
        if draft.is_summary() {
            let mut laid = self.start_without_reply();
            push_page(&mut laid, lay_out_activity(ground, draft));
            return laid;
        }
        let reply = Some((draft.turn, ground.agent.session.entries().len(), draft.reclassified));
        // A shorter text belongs to a different reply.
        if self.reply != reply || draft.text.len() < self.pieces.final_bytes() {
            self.switch_reply(reply);
        }
        self.pieces.lay_out_closed_blocks(ground, &draft.text, outside);
        let mut laid = ItemLayout::default();
        let mut head = Page::default();
        let has_text = !draft.text.trim().is_empty();
        if !draft.reasoning.trim().is_empty() {
            if !(has_text && entry_layout::ends_in_row(ground, ground.agent.session.entries())) {
                head.lines.push(Line::default());
            }
            head.append_page(lay_out_thinking(ground, draft, has_text));
        }
        if has_text {
            head.lines.push(Line::default());
        }
        push_page(&mut laid, head);
        self.pieces.append_to(&mut laid);
        if let Some(open) = self.pieces.lay_out_open_block(ground, &draft.text, outside) {
            laid.push_page(open);
        }
        push_page(&mut laid, lay_out_activity(ground, draft));
        laid
    }
}

fn push_page(laid: &mut ItemLayout, page: Page) {
    if !page.lines.is_empty() {
        laid.push_page(Arc::new(page));
    }
}

fn lay_out_thinking(ground: &LayoutContext<'_>, draft: &StreamingReply, has_text: bool) -> Page {
    if has_text {
        let took = draft.thinking_time.map(entry_layout::format_thinking_time).unwrap_or_default();
        return entry_layout::lay_out_reasoning(ground, "", took, false);
    }
    // Only the last lines. The finished entry can be opened for the rest.
    let tail: String = draft.reasoning.chars().rev().take(2000).collect::<Vec<_>>().into_iter().rev().collect();
    let lines = wrap::wrap_plain(&tail, ground.theme.dim, ground.width.saturating_sub(4).max(1));
    let mut page = Page::default();
    for mut line in lines.into_iter().rev().take(3).rev() {
        line.spans.insert(0, Span::raw("    "));
        page.lines.push(line);
    }
    page
}

/// Lays out the activity of the model if its text does not show it.
fn lay_out_activity(ground: &LayoutContext<'_>, draft: &StreamingReply) -> Page {
    if let Some(wait) = ground.pace.current_wait(ground.agent, ground.now) {
        return lay_out_wait(ground, wait);
    }
    let elapsed = format_duration(ground.now.saturating_sub(ground.activity_start));
    let words = if draft.is_summary() {
        format!("summarizing earlier turns… · {elapsed}")
    } else if let Some((name, count)) = &draft.call_in_progress {
        format!("writing call: {name} · {}", format_bytes(*count))
    } else if !draft.text.is_empty() {
        return Page::default();
    } else if !draft.reasoning.is_empty() {
        format!("thinking · {elapsed}")
    } else {
        let model = match &draft.model {
            Some(model) => model,
            None if ground.agent.model.is_empty() => "the provider",
            None => &ground.agent.model,
        };
        format!("waiting for {model} · {elapsed}")
    };
    let mut page = Page { lines: vec![Line::default()], ..Page::default() };
    page.append_page(lay_out_plain(
        &words,
        ground.theme.dim,
        ground.width,
        &format!("  {} ", spinner_frame(ground.now)),
    ));
    page
}

/// Lays out the reason of a wait and the keys that end it.
fn lay_out_wait(ground: &LayoutContext<'_>, wait: Wait<'_>) -> Page {
    let theme = ground.theme;
    let line = |words: &str, style, first| lay_out_plain(words, style, ground.width, first);
    let mut page = Page { lines: vec![Line::default()], ..Page::default() };
    let stop = ground.keys.first_chord(Scope::Anywhere, Action::Stop);
    let stop = if stop.is_empty() { String::new() } else { format!(" · {stop} stop") };
    match wait {
        Wait::Countdown { why, left } => {
            page.append_page(line(&why.reason, theme.warning, "  ↻ "));
            let now = ground.keys.first_chord(Scope::FailedRequest, Action::RetryNow);
            let now = if now.is_empty() { String::new() } else { format!(" · {now} retry now") };
            let try_in = format!("try {} of {} in {}", why.attempt, why.max_attempts, format_seconds(left));
            page.append_page(line(&format!("{try_in}{now}{stop}"), theme.text, "    "));
        }
        Wait::Retrying(why) => {
            let elapsed = format_duration(ground.now.saturating_sub(ground.activity_start));
            page.append_page(line(&why.reason, theme.dim, "  ↻ "));
            let mark = format!("  {} ", spinner_frame(ground.now));
            let words = format!("retrying, try {} of {} · {elapsed}{stop}", why.attempt, why.max_attempts);
            page.append_page(line(&words, theme.dim, &mark));
        }
        Wait::Silence { since, limit } => {
            let (since, limit) = (format_seconds(since), format_seconds(limit));
            let words = format!("no data for {since} · timeout at {limit}{stop}");
            page.append_page(line(&words, theme.warning, "  … "));
        }
    }
    page
}

/// Lays out the keys that continue after a failed or stopped turn.
fn lay_out_retry_hint(ground: &LayoutContext<'_>) -> Page {
    let key = ground.keys.first_chord(Scope::FailedRequest, Action::RetryNow);
    if key.is_empty() || !ground.agent.can_retry_turn() {
        return Page::default();
    }
    let mut page = Page { lines: vec![Line::default()], ..Page::default() };
    // After a failure also offer another model, provider or API key.
    let hint = |action| ground.keys.first_chord(Scope::Anywhere, action);
    let others = [(hint(Action::Models), "change model"), (hint(Action::Connect), "connect provider")];
    let failed = |ending: &Ending| matches!(ending, Ending::Failed(_));
    let endings = ground.agent.session.entries().iter().rev().find_map(|entry| match entry {
        Entry::Ended { ending } => Some(ending),
        _ => None,
    });
    let mut other = String::new();
    for (key, words) in others.iter().filter(|(key, _)| endings.is_some_and(failed) && !key.is_empty()) {
        other.push_str(&format!(" · {key} {words}"));
    }
    page.append_page(lay_out_plain(&format!("{key} retry{other}"), ground.theme.dim, ground.width, "  ↻ "));
    page
}

fn lay_out_calls(ground: &LayoutContext<'_>, calls: &[PendingCall]) -> Page {
    let theme = ground.theme;
    let mut page = Page::default();
    // The current question has a prompt or a chip. A question queued after another prompt gets a row.
    let asked = match ground.agent.waiting_call() {
        Some(WaitingCall::Answer { call, .. }) => Some(&call.id),
        Some(WaitingCall::Approval { .. }) | None => None,
    };
    let shown = |pending: &&PendingCall| match &pending.step {
        CallStage::Settled => false,
        CallStage::AwaitingAnswer(_) => asked != Some(&pending.call.id),
        CallStage::Waiting
        | CallStage::Planning
        | CallStage::UnderReview(_)
        | CallStage::AwaitingApproval(..)
        | CallStage::Running(_)
        | CallStage::Delegated(_) => true,
    };
    let open = calls.iter().filter(shown);
    for pending in open {
        if let Some(sub_agent) = pending.sub_agent() {
            page.lines.extend(sub_agent_layout::lay_out_running(ground, pending, sub_agent));
            continue;
        }
        let (mark, style, words) = match &pending.step {
            CallStage::Waiting => ("·", theme.dim, describe_queued_call(pending)),
            CallStage::Planning => (spinner_frame(ground.now), theme.accent, "planning".to_owned()),
            CallStage::UnderReview(asked) => {
                let words = format!("asking {}… · {}", asked.reviewer.display_name(), asked.plan.summary);
                (spinner_frame(ground.now), theme.accent, words)
            }
            CallStage::AwaitingApproval(plan, _) => ("?", theme.prompt, plan.summary.clone()),
            CallStage::Running(plan) => (spinner_frame(ground.now), theme.accent, plan.summary.clone()),
            CallStage::AwaitingAnswer(questions) => {
                let text = questions.list.first().map_or("", |question| question.text.as_str());
                (
                    "?",
                    theme.prompt,
                    format!("waiting for your answer: {}", width::cut_to_width(text, QUEUED_TEXT_BYTES)),
                )
            }
            CallStage::Delegated(_) | CallStage::Settled => continue,
        };
        let right = match &pending.step {
            CallStage::Running(_) | CallStage::UnderReview(_) => {
                format_duration(ground.now.saturating_sub(ground.activity_start))
            }
            CallStage::Waiting
            | CallStage::Planning
            | CallStage::AwaitingApproval(..)
            | CallStage::AwaitingAnswer(_)
            | CallStage::Delegated(_)
            | CallStage::Settled => String::new(),
        };
        let name = &pending.call.name;
        page.lines.push(build_row(ground.width, (mark, style), name, &words, &right, (theme.text, theme.dim)));
        let shown = output::parse_output(escape_sequences::trim_unfinished(&pending.latest_output), theme.dim, theme);
        page.lines.extend(shown.last_lines(MAX_OUTPUT_LINES).iter().map(|line| fit_output_line(line, ground.width)));
    }
    if !page.lines.is_empty() && !entry_layout::ends_in_row(ground, ground.agent.session.entries()) {
        page.lines.insert(0, Line::default());
    }
    page
}

/// Returns the row text of a queued call, with its summary as far as known.
fn describe_queued_call(pending: &PendingCall) -> String {
    let what = match (pending.preapproval.approved_plan(), &pending.preapproval.preview) {
        (Some(plan), _) => plan.summary.as_str(),
        (None, Some(QueuePreview::Plan { summary, .. })) => summary.as_str(),
        (None, Some(QueuePreview::Question(text))) => text.as_str(),
        (None, Some(QueuePreview::Error(_)) | None) => &summarize_arguments(&pending.call.arguments).subject,
    };
    let what = width::cut_to_width(what, QUEUED_TEXT_BYTES);
    match pending.preapproval.is_approved() {
        true => format!("approved, queued: {what}"),
        false => format!("queued: {what}"),
    }
}

/// Returns a line of output, truncated to the width.
fn fit_output_line(line: &[(&str, Style)], cells: usize) -> Line<'static> {
    let mut spans = vec![Span::raw("    ")];
    let mut room = cells.saturating_sub(4);
    for (part, look) in line {
        let words = width::fit_start(part, room).into_owned();
        room -= width::text_width(&words).min(room);
        spans.push(Span::styled(words, *look));
        if room == 0 {
            break;
        }
    }
    Line::from(spans)
}

/// Lays out messages that the user queued while the turn ran.
fn lay_out_queue(ground: &LayoutContext<'_>, outside: &LinkLookups) -> Page {
    let mut page = Page::default();
    for text in &ground.agent.queued_messages {
        page.lines.push(Line::default());
        page.append_page(entry_layout::lay_out_user_message(ground, text, outside));
    }
    if !page.lines.is_empty() {
        let hint = |action| ground.keys.first_chord(Scope::Composer, action);
        let mut words = match (ground.agent.is_idle(), hint(Action::Send)) {
            (false, _) => "queued for the next request".to_owned(),
            (true, enter) if enter.is_empty() => "not sent".to_owned(),
            (true, enter) => format!("not sent · {enter} send"),
        };
        let back = hint(Action::EditQueued);
        if !back.is_empty() {
            words.push_str(&format!(" · {back} edit"));
        }
        page.append_page(lay_out_plain(&words, ground.theme.dim, ground.width, "  "));
    }
    page
}
