//! Compaction: replaces earlier entries by a summary in requests, on command or if the next request would not fit.

use super::context_estimate::CompactionAttempts;
use super::streaming_reply::{ReplyPurpose, StreamingReply, SummaryCut};
use super::update_context::{NextStep, UpdateContext};
use super::{Effect, Phase, State, reply_request, summary_request};
use crate::chat::summary::format_summary;
use crate::chat::{Entry, TurnId, message_tokens};
use crate::text::tokens;

/// Maximum number of summaries that one turn may request.
const MAX_SUMMARIES: u32 = 4;
/// Percentage of the context window kept for the newest turns, which are not summarized.
const KEPT_PERCENT: u64 = 30;
/// Maximum bytes of a summary; the rest is dropped, because some providers enforce no limit.
const MAX_SUMMARY_BYTES: usize = 24 << 10;

impl State {
    /// Returns whether there is anything to summarize.
    pub fn has_entries_to_summarize(&self) -> bool {
        let entries = self.session.entries().get(self.session.first_sent_entry()..).unwrap_or_default();
        entries.iter().any(|entry| matches!(entry, Entry::Replied { .. }))
    }

    /// Returns the index of the first entry of each turn that is still sent, oldest first. A turn begins with the shared
    /// commands that the user ran before its message.
    fn sent_turn_starts(&self) -> Vec<usize> {
        self.sent_turns().0
    }

    /// Returns the end of the entries that can be summarized: commands of the user that were not sent yet are kept for
    /// the next message.
    fn summary_end(&self) -> usize {
        self.sent_turns().1.unwrap_or(self.session.entries().len())
    }

    /// Returns the first entry of each turn that is still sent, and the first command of the user that was not sent yet.
    fn sent_turns(&self) -> (Vec<usize>, Option<usize>) {
        let entries = self.session.entries();
        let mut is_turn_over = true;
        let mut turn_starts = Vec::new();
        let mut first_command = None;
        for (index, entry) in entries.iter().enumerate().skip(self.session.first_sent_entry()) {
            if matches!(entry, Entry::UserCommand(command) if command.is_shared) {
                first_command.get_or_insert(index);
            }
            if is_turn_over && matches!(entry, Entry::UserMessage { .. }) {
                turn_starts.push(first_command.take().unwrap_or(index));
            }
            let is_neutral = entry.may_be_outside_turns()
                || matches!(
                    entry,
                    Entry::Reviewed { .. }
                        | Entry::FellBack { .. }
                        | Entry::ToolsDeferred { .. }
                        | Entry::SubAgent { .. }
                );
            if !is_neutral {
                is_turn_over = matches!(entry, Entry::Ended { .. });
            }
        }
        (turn_starts, first_command)
    }
}

/// Starts a summary at the user's request.
pub(super) fn handle_compaction_request(ctx: &mut UpdateContext<'_>) {
    if !ctx.state.is_idle() || !ctx.state.has_entries_to_summarize() {
        return;
    }
    let turn = ctx.state.next_turn_id();
    ctx.state.turn.compaction_attempts = CompactionAttempts::default();
    // Possible ends of the summarized part. One at the first turn would summarize nothing.
    let mut cuts: Vec<usize> = ctx.state.sent_turn_starts().into_iter().skip(1).collect();
    cuts.push(ctx.state.summary_end());
    let continues_turn = false;
    if !request_summary(ctx, turn, &cuts, continues_turn) {
        ctx.fail_turn("Cannot summarize the session: it is too long for one request. Choose a model with a larger context window with /model, or start a new session with /new.");
    }
}

/// Shortens the next request of a turn if it would not fit: requests a summary, or truncates outcomes if that is not
/// possible. Returns whether a summary was requested; the turn then waits for it.
pub(super) fn compact_if_needed(ctx: &mut UpdateContext<'_>, turn: TurnId) -> bool {
    if ctx.state.fits_context_window(ctx.state.next_request_tokens()) {
        return false;
    }
    let kept_tokens = ctx.state.effective_context_window().unwrap_or(u64::MAX).saturating_mul(KEPT_PERCENT) / 100;
    let (state, end) = (&*ctx.state, ctx.state.session.entries().len());
    let turn_starts = state.sent_turn_starts();
    let first_start = turn_starts.first().copied().unwrap_or(0);
    let fits_kept_tokens =
        |start: &usize| state.correct_estimate(state.session.token_estimate_between(*start, end)) <= kept_tokens;
    // The running turn is never summarized, however long it is.
    let last_start = turn_starts.iter().copied().find(fits_kept_tokens).or(turn_starts.last().copied()).unwrap_or(0);
    let cuts: Vec<usize> =
        turn_starts.into_iter().filter(|&start| start > first_start && start <= last_start).collect();
    let continues_turn = true;
    let is_requested = request_summary(ctx, turn, &cuts, continues_turn);
    if !is_requested {
        ctx.state.truncate_outcomes();
    }
    is_requested
}

/// Requests a summary of the entries before the last of these `cuts` for which the request fits. `continues_turn` is
/// whether a turn waits for the summary. Returns whether a summary was requested.
fn request_summary(ctx: &mut UpdateContext<'_>, turn: TurnId, cuts: &[usize], continues_turn: bool) -> bool {
    if ctx.state.turn.compaction_attempts.summaries >= MAX_SUMMARIES {
        return false;
    }
    let (tokens_before, request_limit) =
        (ctx.state.next_request_tokens(), ctx.state.turn.compaction_attempts.request_limit);
    let build_request =
        |upto: usize, limits| summary_request::build_summary_request(ctx.state, upto, request_limit, limits);
    // Tries the detailed limits with fewer entries before the limits without details with more: two detailed summaries
    // are better than one without details.
    let fitting_request = summary_request::TEXT_LIMITS.into_iter().find_map(|limits| {
        let fitting_count = cuts.partition_point(|&upto| build_request(upto, limits).is_some());
        let upto = *cuts.get(fitting_count.checked_sub(1)?)?;
        build_request(upto, limits).map(|request| (upto, request))
    });
    let Some((upto, (request, size))) = fitting_request else { return false };
    ctx.state.turn.compaction_attempts.summaries += 1;
    ctx.state.record_sent_size(size);
    let request_tokens = size.corrected;
    let purpose = ReplyPurpose::Summary(SummaryCut { first_kept: upto, continues_turn, tokens_before, request_tokens });
    ctx.state.phase = Phase::Replying(Box::new(StreamingReply::new(turn, purpose)));
    ctx.effects.push(Effect::RequestReply { turn, request: Box::new(request) });
    true
}

/// Ends a streamed summary that exceeds the limit; the part received so far is used.
pub(super) fn limit_summary(ctx: &mut UpdateContext<'_>) {
    let turn = match &ctx.state.phase {
        Phase::Replying(reply) if reply.is_summary() && reply.text.len() > MAX_SUMMARY_BYTES => reply.turn,
        Phase::Replying(_) | Phase::Idle | Phase::RunningCalls { .. } | Phase::RunningUserCommand(_) => return,
    };
    ctx.effects.push(Effect::CancelTurn { turn });
    finish_summary(ctx);
}

/// Uses the summary as far as it was received.
pub(super) fn finish_summary(ctx: &mut UpdateContext<'_>) {
    let Some(StreamingReply { text, usage, purpose: ReplyPurpose::Summary(cut), .. }) =
        ctx.state.take_streaming_reply()
    else {
        return;
    };
    let is_endless = text.len() > MAX_SUMMARY_BYTES;
    let summary = text.get(..text.floor_char_boundary(MAX_SUMMARY_BYTES)).unwrap_or_default().trim().to_owned();
    if summary.is_empty() {
        return ctx.fail_turn("Cannot summarize the session: the model returned no summary. Try again, or choose another model with /model.");
    }
    let pinned = summary_request::build_verbatim_part(ctx.state, cut.first_kept);
    let tokens_after = tokens_after_summary(ctx.state, cut.first_kept, &format_summary(&summary, &pinned));
    if tokens_after >= cut.tokens_before {
        if cut.continues_turn {
            // A summary of few entries may be longer than the entries. A summary of more entries may still help, unless
            // the model never stops.
            let turn_starts = ctx.state.sent_turn_starts();
            let later_starts: Vec<usize> = turn_starts.into_iter().filter(|&start| start > cut.first_kept).collect();
            let turn = ctx.state.next_turn_id();
            if !is_endless && request_summary(ctx, turn, &later_starts, cut.continues_turn) {
                return;
            }
            // The request may fit without the reserve for the reply; another summary would not help.
            ctx.state.turn.compaction_attempts.summaries = MAX_SUMMARIES;
            return ctx.next_steps.push_back(NextStep::RequestReply(turn));
        }
        return ctx.fail_turn("Summary discarded: it is not shorter than the entries it replaces");
    }
    let tokens = (cut.tokens_before, tokens_after);
    ctx.record_entry(Entry::Compacted { summary, pinned, upto: cut.first_kept, tokens, usage });
    // The summary has replaced the truncated outcomes.
    ctx.state.estimate.truncation = None;
    if cut.continues_turn {
        // A new turn ID, so that late events of the summary are ignored.
        let turn = ctx.state.next_turn_id();
        ctx.next_steps.push_back(NextStep::RequestReply(turn));
    } else if !ctx.state.queued_messages.is_empty() {
        ctx.next_steps.push_back(NextStep::StartTurn);
    }
}

/// Returns the tokens of the next request with this summary in place of the entries before `upto`.
fn tokens_after_summary(state: &State, upto: usize, summary_text: &str) -> u64 {
    let kept_tokens = state.session.token_estimate_between(upto, state.session.entries().len());
    let summary_tokens = message_tokens::MESSAGE_OVERHEAD + tokens::estimate_text(summary_text);
    state.correct_estimate(state.estimate.fixed_tokens + summary_tokens + kept_tokens)
}

/// Handles a failed summary.
pub(super) fn handle_summary_failure(ctx: &mut UpdateContext<'_>, why: &str, too_long: bool) {
    let Some(StreamingReply { purpose: ReplyPurpose::Summary(cut), .. }) = ctx.state.take_streaming_reply() else {
        return;
    };
    if too_long {
        // The window is smaller than assumed. Without a figure from the provider, half of what was sent is more likely
        // to fit.
        let has_figures = ctx.state.estimate.record_rejection(why);
        ctx.state.turn.compaction_attempts.request_limit = (!has_figures).then_some(cut.request_tokens / 2);
        let mut cuts: Vec<usize> = ctx.state.sent_turn_starts().into_iter().skip(1).collect();
        cuts.retain(|&start| start < cut.first_kept);
        cuts.push(cut.first_kept);
        let turn = ctx.state.next_turn_id();
        if request_summary(ctx, turn, &cuts, cut.continues_turn) {
            return;
        }
    }
    let why = why.trim_end_matches('.');
    ctx.fail_turn(format!("Cannot summarize the session: {why}. Try again, or choose another model with /model."));
}

/// Shortens and retries a request that was rejected as too long, once per turn. Returns whether it is retried.
pub(super) fn retry_too_long_request(ctx: &mut UpdateContext<'_>, why: &str) -> bool {
    if std::mem::replace(&mut ctx.state.turn.compaction_attempts.resent_too_long, true) {
        return false;
    }
    ctx.state.estimate.record_rejection(why);
    ctx.state.take_streaming_reply();
    let turn = ctx.state.next_turn_id();
    let estimate_before = ctx.state.estimate_next_request();
    if compact_if_needed(ctx, turn) {
        return true;
    }
    if ctx.state.estimate_next_request() < estimate_before {
        reply_request::send_request(ctx, turn);
        return true;
    }
    false
}
