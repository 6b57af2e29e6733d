//! The live item: everything that is not an entry yet, such as the streaming reply, pending calls and queued messages.

use super::call_row::{build_row, format_line_counts};
use super::item_layout::ItemLayout;
use super::layout_context::LayoutContext;
use super::output_tail::lay_out_running_tail;
use super::reply_pieces::ReplyPieces;
use super::{entry_layout, sub_agent_layout, user_command_layout};
use crate::agent::{CallStage, PendingCall, Phase, QueuePreview, StreamingReply, Trial, WaitingCall};
use crate::chat::{Ending, Entry, Plan, Preview, TurnId};
use crate::text::byte_size::format_bytes;
use crate::text::width;
use crate::tui::keys::{Action, Scope};
use crate::tui::parts::call_action::{PlannedCall, name_pending_action};
use crate::tui::parts::call_summary::summarize_arguments;
use crate::tui::parts::quantities::{format_duration, format_seconds};
use crate::tui::parts::reply_timing::Wait;
use crate::tui::parts::spinner::spinner_frame;
use crate::tui::text::{Page, wrap};
use ratatui::text::Line;
use std::borrow::Cow;
use std::sync::Arc;

/// Maximum cells laid out of the text of a call or question.
const SUBJECT_CELLS: usize = 400;
/// Identity of a reply: turn, number of entries before it, and number of times its text was reclassified as reasoning.
type ReplyId = (TurnId, usize, u32);

/// Layout of the streaming reply. Closed blocks, which more text cannot change, keep their layouts.
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
    pub fn lay_out_live(&mut self, context: &LayoutContext<'_>) -> ItemLayout {
        let mut layout = match &context.agent.phase {
            Phase::Idle => self.lay_out_without_reply(lay_out_retry_hint(context)),
            Phase::Replying(draft) => self.lay_out_reply(context, draft),
            Phase::RunningCalls { calls, .. } => self.lay_out_without_reply(lay_out_calls(context, calls)),
            Phase::RunningUserCommand(running) => {
                self.lay_out_without_reply(user_command_layout::lay_out_running(context, running))
            }
        };
        push_page(&mut layout, lay_out_queue(context));
        layout
    }

    /// Takes the layout of a finished reply with this text.
    pub fn take_finished(&mut self, text: &str) -> Option<ReplyPieces> {
        self.finished.take_if(|pieces| pieces.is_start_of(text))
    }

    /// Ends the layout of the reply, and returns a layout of this page.
    fn lay_out_without_reply(&mut self, page: Page) -> ItemLayout {
        self.switch_reply(None);
        let mut layout = ItemLayout::default();
        push_page(&mut layout, page);
        layout
    }

    /// Starts the layout of the next reply, if any. Keeps the pieces of the previous reply for its entry.
    fn switch_reply(&mut self, next: Option<ReplyId>) {
        let pieces = std::mem::take(&mut self.pieces);
        if pieces.final_bytes() > 0 {
            self.finished = Some(pieces);
        }
        self.reply = next;
    }

    fn lay_out_reply(&mut self, context: &LayoutContext<'_>, draft: &StreamingReply) -> ItemLayout {
        if draft.is_summary() {
            return self.lay_out_without_reply(lay_out_activity(context, draft));
        }
        let reply = Some((draft.turn, context.agent.session.entries().len(), draft.reclassified));
        // A shorter text belongs to a different reply.
        if self.reply != reply || draft.text.len() < self.pieces.final_bytes() {
            self.switch_reply(reply);
        }
        self.pieces.lay_out_closed_blocks(context, &draft.text);
        let mut layout = ItemLayout::default();
        let mut head = Page::default();
        let has_text = !draft.text.trim().is_empty();
        if !draft.reasoning.trim().is_empty() {
            if !(has_text && entry_layout::ends_in_row(context, context.agent.session.entries())) {
                head.lines.push(Line::default());
            }
            head.append_page(lay_out_thinking(context, draft, has_text));
        }
        if has_text {
            head.lines.push(Line::default());
        }
        push_page(&mut layout, head);
        self.pieces.append_to(&mut layout);
        if let Some(open_page) = self.pieces.lay_out_open_block(context, &draft.text) {
            layout.push_page(open_page);
        }
        push_page(&mut layout, lay_out_activity(context, draft));
        layout
    }
}

fn push_page(layout: &mut ItemLayout, page: Page) {
    if !page.lines.is_empty() {
        layout.push_page(Arc::new(page));
    }
}

fn lay_out_thinking(context: &LayoutContext<'_>, draft: &StreamingReply, has_text: bool) -> Page {
    if has_text {
        let duration = draft.thinking_time.map(entry_layout::format_thinking_time).unwrap_or_default();
        // The reasoning is closed while the text streams, so its own text is not needed.
        let is_open = false;
        return entry_layout::lay_out_reasoning(context, "", duration, is_open);
    }
    // Only the last 3 lines, laid out from the last 2000 characters. The finished entry can be opened for the rest.
    let tail: String = draft.reasoning.chars().rev().take(2000).collect::<Vec<_>>().into_iter().rev().collect();
    let lines = wrap::wrap_plain(&tail, context.theme.dim, context.width.saturating_sub(4).max(1));
    let lines = lines.into_iter().rev().take(3).rev().collect();
    Page { lines, ..Page::default() }.indent_lines(4)
}

/// Lays out the activity of the model if its text does not show it.
fn lay_out_activity(context: &LayoutContext<'_>, draft: &StreamingReply) -> Page {
    if let Some(wait) = context.timing.current_wait(context.agent, context.now) {
        return lay_out_wait(context, wait);
    }
    let elapsed = format_duration(context.now.saturating_sub(context.activity_start));
    let activity = if draft.is_summary() {
        format!("summarizing earlier turns… · {elapsed}")
    } else if let Some((name, count)) = &draft.call_in_progress {
        format!("writing call: {name} · {}", format_bytes(*count as u64))
    } else if !draft.text.is_empty() {
        return Page::default();
    } else if !draft.reasoning.is_empty() {
        format!("thinking · {elapsed}")
    } else {
        let model = match &draft.model {
            Some(model) => model,
            None if context.agent.model.name.is_empty() => "the provider",
            None => &context.agent.model.name,
        };
        format!("waiting for {model} · {elapsed}")
    };
    context.lay_out_note(&activity, &format!("  {} ", spinner_frame(context.now))).below_blank_line()
}

/// Lays out the reason of a wait and the keys that end it.
fn lay_out_wait(context: &LayoutContext<'_>, wait: Wait<'_>) -> Page {
    let theme = context.theme;
    let stop_key = context.keys.first_chord(Scope::Anywhere, Action::Stop);
    let stop_hint = if stop_key.is_empty() { String::new() } else { format!(" · {stop_key} stop") };
    let page = match wait {
        Wait::Countdown { retry, seconds_left } => {
            let retry_key = context.keys.first_chord(Scope::FailedRequest, Action::RetryNow);
            let retry_hint = if retry_key.is_empty() { String::new() } else { format!(" · {retry_key} retry now") };
            let attempt_text =
                format!("try {} of {} in {}", retry.attempt, retry.max_attempts, format_seconds(seconds_left));
            let mut page = context.lay_out_plain(&retry.reason, theme.warning, "  ↻ ");
            let hints = format!("{attempt_text}{retry_hint}{stop_hint}");
            page.append_page(context.lay_out_plain(&hints, theme.text, "    "));
            page
        }
        Wait::Retrying(retry) => {
            let elapsed = format_duration(context.now.saturating_sub(context.activity_start));
            let text = format!("retrying, try {} of {} · {elapsed}{stop_hint}", retry.attempt, retry.max_attempts);
            let mut page = context.lay_out_note(&retry.reason, "  ↻ ");
            page.append_page(context.lay_out_note(&text, &format!("  {} ", spinner_frame(context.now))));
            page
        }
        Wait::Silence { elapsed, limit } => {
            let (elapsed, limit) = (format_seconds(elapsed), format_seconds(limit));
            let text = format!("no data for {elapsed} · timeout at {limit}{stop_hint}");
            context.lay_out_plain(&text, theme.warning, "  … ")
        }
    };
    page.below_blank_line()
}

/// Lays out the keys that continue after a failed or stopped turn.
fn lay_out_retry_hint(context: &LayoutContext<'_>) -> Page {
    let key = context.keys.first_chord(Scope::FailedRequest, Action::RetryNow);
    if key.is_empty() || !context.agent.can_retry_turn() {
        return Page::default();
    }
    // After a failure, also offer another model, provider or API key.
    let key_for = |action| context.keys.first_chord(Scope::Anywhere, action);
    let other_actions = [(key_for(Action::Models), "change model"), (key_for(Action::Connect), "connect provider")];
    let last_ending = context.agent.session.entries().iter().rev().find_map(|entry| match entry {
        Entry::Ended { ending } => Some(ending),
        _ => None,
    });
    let mut hints = format!("{key} retry");
    if let Some(Ending::Failed(_)) = last_ending {
        for (key, label) in other_actions.iter().filter(|(key, _)| !key.is_empty()) {
            hints.push_str(&format!(" · {key} {label}"));
        }
    }
    context.lay_out_note(&hints, "  ↻ ").below_blank_line()
}

fn lay_out_calls(context: &LayoutContext<'_>, calls: &[PendingCall]) -> Page {
    let theme = context.theme;
    let mut page = Page::default();
    // The question that waits first has no row, because a prompt or a chip above the composer shows it.
    let prompted_call = match context.agent.waiting_call() {
        Some(WaitingCall::Answer { call, .. }) => Some(&call.id),
        Some(WaitingCall::Approval { .. }) | None => None,
    };
    for pending in calls {
        let elapsed = || format_duration(context.now.saturating_sub(context.activity_start));
        let queued_subject = || describe_subject(pending).into_owned();
        let is_approved = pending.preapproval.is_approved();
        let (mark, style, subject, right) = match &pending.stage {
            CallStage::AwaitingTurn => {
                ("·", theme.dim, queued_subject(), if is_approved { "approved, queued" } else { "queued" }.to_owned())
            }
            CallStage::Planning => (spinner_frame(context.now), theme.accent, queued_subject(), "planning".to_owned()),
            CallStage::UnderReview(review) => {
                let right = format!("asking {}… · {}", review.reviewer.display_name(), elapsed());
                (spinner_frame(context.now), theme.accent, describe_plan(&review.plan), right)
            }
            CallStage::AwaitingApproval(plan, _) => ("?", theme.prompt, describe_plan(plan), String::new()),
            CallStage::Running(plan) | CallStage::OnTrial(plan, _) => {
                let right = format!("{}{}", elapsed(), describe_keys(context, pending, plan));
                (spinner_frame(context.now), theme.accent, describe_plan(plan), right)
            }
            CallStage::AwaitingAnswer(_) if prompted_call == Some(&pending.call.id) => continue,
            CallStage::AwaitingAnswer(questions) => {
                let text = questions.list.first().map_or("", |question| question.text.as_str());
                ("?", theme.prompt, text.to_owned(), "waiting for your answer".to_owned())
            }
            CallStage::Delegated(sub_agent) => {
                page.lines.extend(sub_agent_layout::lay_out_running(context, pending, sub_agent));
                continue;
            }
            CallStage::Settled => continue,
        };
        let subject = width::cut_to_width(&subject, SUBJECT_CELLS);
        let mut row = build_row(context, (mark, style), &name_pending_action(pending), subject, &right);
        if context.selected_call == Some(&pending.call.id) {
            row.spans.iter_mut().for_each(|span| span.style = span.style.patch(theme.selected));
            row.style = theme.selected;
        }
        page.lines.push(row);
        let output = match (&pending.stage, &pending.trial) {
            (CallStage::OnTrial(..), Trial::Running { output, .. }) => output,
            _ => &pending.latest_output,
        };
        page.lines.extend(lay_out_running_tail(context, output));
    }
    if !page.lines.is_empty() && !entry_layout::ends_in_row(context, context.agent.session.entries()) {
        page.lines.insert(0, Line::default());
    }
    page
}

/// Returns the subject of a plan, with the counts of lines if it edits a file: `src/a.rs +3 −1`.
fn describe_plan(plan: &Plan) -> String {
    let subject = PlannedCall::from(plan).subject();
    match &plan.preview {
        Preview::Edit(diff) => format!("{subject}{}", format_line_counts(diff)),
        Preview::Text(_) | Preview::Command(_) | Preview::Batch(_) => subject.to_owned(),
    }
}

/// Minimum columns for the keys that move a command to the background, while it is not selected.
const WIDE_COLUMNS: usize = 100;

/// Returns ` · esc stops` for a running command, with the key that stops the turn, and the key that moves it to the
/// background if it is selected or there is room. Empty for other calls, which are short, and while a prompt is open, to
/// which the key belongs first.
fn describe_keys(context: &LayoutContext<'_>, pending: &PendingCall, plan: &Plan) -> String {
    let stop_key = context.keys.first_chord(Scope::Anywhere, Action::Stop);
    let select_key = context.keys.first_chord(Scope::Anywhere, Action::SelectPrevious);
    let move_key = context.keys.first_chord(Scope::Transcript, Action::MoveToBackground);
    if !matches!(plan.preview, Preview::Command(_)) || context.agent.waiting_call().is_some() {
        return String::new();
    }
    let can_move = !move_key.is_empty() && context.agent.explain_not_movable(&pending.call.id).is_none();
    if context.selected_call == Some(&pending.call.id) {
        // While a call is selected, the key that stops the turn ends the selection.
        return if can_move { format!(" · {move_key} to background") } else { String::new() };
    }
    let stop_hint = if stop_key.is_empty() { String::new() } else { format!(" · {stop_key} stops") };
    match can_move && !select_key.is_empty() && context.width >= WIDE_COLUMNS {
        true => format!("{stop_hint} · {select_key} {move_key} to background"),
        false => stop_hint,
    }
}

/// Returns the subject of a call that has no plan yet, as far as known.
fn describe_subject(pending: &PendingCall) -> Cow<'_, str> {
    match (pending.preapproval.approved_plan(), &pending.preapproval.preview) {
        (Some(plan), _) => PlannedCall::from(plan).subject().into(),
        (None, Some(QueuePreview::Plan { summary, .. })) => summary.as_str().into(),
        (None, Some(QueuePreview::Question(text))) => text.as_str().into(),
        (None, Some(QueuePreview::Error(_)) | None) => summarize_arguments(&pending.call.arguments).subject.into(),
    }
}

/// Lays out messages that the user queued while the turn ran.
fn lay_out_queue(context: &LayoutContext<'_>) -> Page {
    let mut page = Page::default();
    for text in &context.agent.queued_messages {
        page.lines.push(Line::default());
        page.append_page(entry_layout::lay_out_user_message(context, text));
    }
    if !page.lines.is_empty() {
        let key_for = |action| context.keys.first_chord(Scope::Composer, action);
        let mut note = match (context.agent.is_idle(), key_for(Action::Send)) {
            (false, _) => "queued for the next request".to_owned(),
            (true, send_key) if send_key.is_empty() => "not sent".to_owned(),
            (true, send_key) => format!("not sent · {send_key} send"),
        };
        let edit_key = key_for(Action::EditQueued);
        if !edit_key.is_empty() {
            note.push_str(&format!(" · {edit_key} edit"));
        }
        page.append_page(context.lay_out_note(&note, "  "));
    }
    page
}
