//! Compaction: replaces earlier entries by a summary in requests, on command or if the next request would not fit.

use super::draft::{Draft, Purpose};
use super::{Desk, Effect, Phase, State, summary, thinking};
use crate::chat::{Ending, Entry, TurnId, Usage, summary::told, tokens};

/// Most summaries that one turn may request.
const TRIES: u32 = 4;
/// Percentage of the context window kept for the newest turns, which are not summarized.
const KEPT: u64 = 30;
/// Most bytes taken of a summary; some providers enforce no limit.
const LONGEST: usize = 24 << 10;

/// Attempts of one turn to fit into the context window.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Tries {
    summaries: u32,
    /// True if a request that was rejected as too long was sent again.
    again: bool,
    /// Limit in tokens for the summary's own request, if a larger one was rejected.
    smaller: Option<u64>,
}

/// Range of entries that a summary replaces.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cut {
    /// First entry that is kept. Always the start of a turn, or the end of the session.
    pub(super) upto: usize,
    /// True if a turn continues after the summary; false if the user asked for it.
    goes_on: bool,
    /// Tokens of the next request before the summary.
    before: u64,
    /// Tokens of the summary's own request.
    asked: u64,
}

impl State {
    /// Returns whether there is anything to summarize.
    pub fn has_something_to_summarise(&self) -> bool {
        let entries = self.session.entries().get(self.session.sent_from()..).unwrap_or_default();
        entries.iter().any(|entry| matches!(entry, Entry::Replied { .. }))
    }

    /// Returns the first entries of the turns that are still sent, oldest first.
    fn turns_sent(&self) -> Vec<usize> {
        let entries = self.session.entries();
        let mut over = true;
        let mut begun = Vec::new();
        for (index, entry) in entries.iter().enumerate().skip(self.session.sent_from()) {
            match entry {
                Entry::Said { .. } if over => {
                    begun.push(index);
                    over = false;
                }
                Entry::Ended { .. } => over = true,
                Entry::Titled { .. }
                | Entry::TakenBack { .. }
                | Entry::Switched { .. }
                | Entry::Became { .. }
                | Entry::Compacted { .. }
                | Entry::Consulted { .. }
                | Entry::FellBack { .. }
                | Entry::Beneath { .. } => {}
                Entry::Said { .. }
                | Entry::Replied { .. }
                | Entry::Planned { .. }
                | Entry::Asked { .. }
                | Entry::Decided { .. }
                | Entry::Answered { .. }
                | Entry::Settled { .. } => over = false,
            }
        }
        begun
    }
}

/// Starts a summary at the user's request.
pub(super) fn wanted(ctx: &mut Desk<'_>) {
    if !ctx.state.is_idle() || !ctx.state.has_something_to_summarise() {
        return;
    }
    ctx.state.turns += 1;
    ctx.state.tries = Tries::default();
    let turn = TurnId(ctx.state.turns);
    let mut cuts: Vec<usize> = ctx.state.turns_sent().into_iter().skip(1).collect();
    cuts.push(ctx.state.session.entries().len());
    if !begin(ctx, turn, &cuts, false) {
        ctx.end(Ending::Failed(
            "Cannot summarize the session: it is too long for one request. Nothing was changed".to_owned(),
        ));
    }
}

/// Makes room for the next request of a turn if it would not fit. Returns whether a summary was requested, for which
/// the turn now waits.
pub(super) fn makes_room(ctx: &mut Desk<'_>, turn: TurnId) -> bool {
    if ctx.state.fits(ctx.state.tokens()) {
        return false;
    }
    let asked = {
        let kept = ctx.state.known_window().unwrap_or(u64::MAX).saturating_mul(KEPT) / 100;
        let (state, end) = (&*ctx.state, ctx.state.session.entries().len());
        let turns = state.turns_sent();
        let first = turns.first().copied().unwrap_or(0);
        let stays = |cut: &usize| state.corrected(state.session.weight_of(*cut, end)) <= kept;
        // The running turn is never summarized, however long it is.
        let cut = turns.iter().copied().find(stays).or(turns.last().copied()).unwrap_or(0);
        let cuts: Vec<usize> = turns.into_iter().filter(|&other| other > first && other <= cut).collect();
        begin(ctx, turn, &cuts, true)
    };
    if !asked {
        ctx.state.shorten();
    }
    asked
}

/// Requests a summary up to the last of these entries for which the request fits. Returns whether it was requested.
fn begin(ctx: &mut Desk<'_>, turn: TurnId, cuts: &[usize], goes_on: bool) -> bool {
    if ctx.state.tries.summaries >= TRIES {
        return false;
    }
    let (before, smaller) = (ctx.state.tokens(), ctx.state.tries.smaller);
    let request = |upto: usize, lengths| summary::request(ctx.state, upto, smaller, lengths);
    // Two detailed summaries are better than one without details.
    let found = summary::LENGTHS.into_iter().find_map(|lengths| {
        let fitting = cuts.partition_point(|&upto| request(upto, lengths).is_some());
        let upto = *cuts.get(fitting.checked_sub(1)?)?;
        request(upto, lengths).map(|request| (upto, request))
    });
    let Some((upto, (request, ours, asked))) = found else { return false };
    ctx.state.tries.summaries += 1;
    ctx.state.sends(ours, asked);
    let purpose = Purpose::Summary(Cut { upto, goes_on, before, asked });
    ctx.state.phase = Phase::Thinking(Box::new(Draft::new(turn, purpose)));
    ctx.effects.push(Effect::Stream { turn, request: Box::new(request) });
    true
}

/// Checks a summary that is growing. One without end is used as far as it is.
pub(super) fn grown(ctx: &mut Desk<'_>) {
    let turn = match &ctx.state.phase {
        Phase::Thinking(draft) if draft.is_summary() && draft.text.len() > LONGEST => draft.turn,
        Phase::Thinking(_) | Phase::Idle | Phase::Acting { .. } => return,
    };
    ctx.effects.push(Effect::Cancel { turn });
    done(ctx);
}

/// Uses the summary as far as it was received.
pub(super) fn done(ctx: &mut Desk<'_>) {
    let Some(Draft { text, usage, purpose: Purpose::Summary(cut), .. }) = ctx.state.take_draft() else {
        return;
    };
    let endless = text.len() > LONGEST;
    let summary = text.get(..text.floor_char_boundary(LONGEST)).unwrap_or_default().trim().to_owned();
    if summary.is_empty() {
        return ctx
            .end(Ending::Failed("Cannot summarize the session: the model returned no summary".to_owned()));
    }
    let pinned = summary::pinned(ctx.state, cut.upto);
    let after = after(ctx.state, cut.upto, &told(&summary, &pinned));
    if after >= cut.before {
        if cut.goes_on {
            // A summary of few entries may not be shorter than they are. Of more entries it may be, unless the model
            // never stops.
            let turns = ctx.state.turns_sent();
            let later: Vec<usize> = turns.into_iter().filter(|&other| other > cut.upto).collect();
            ctx.state.turns += 1;
            let turn = TurnId(ctx.state.turns);
            if !endless && begin(ctx, turn, &later, true) {
                return;
            }
            // The request may fit without spare room; another summary would not help.
            ctx.state.tries.summaries = TRIES;
            return thinking::ask(ctx, turn);
        }
        return ctx.end(Ending::Failed(
            "Summary discarded: it is not shorter than the entries it replaces".to_owned(),
        ));
    }
    keep(ctx, summary, pinned, cut, after, usage);
    if cut.goes_on {
        // Late events of the summary belong to a turn that has ended.
        ctx.state.turns += 1;
        thinking::ask(ctx, TurnId(ctx.state.turns));
    } else if !ctx.state.queue.is_empty() {
        thinking::begin(ctx);
    }
}

fn keep(ctx: &mut Desk<'_>, summary: String, pinned: String, cut: Cut, after: u64, usage: Option<Usage>) {
    let tokens = (cut.before, after);
    ctx.keep(Entry::Compacted { summary, pinned, upto: cut.upto, tokens, usage });
    ctx.state.measure.summarised();
}

/// Returns the tokens of the next request with this summary in place of the entries before `upto`.
fn after(state: &State, upto: usize, told: &str) -> u64 {
    let stays = state.session.weight_of(upto, state.session.entries().len());
    state.corrected(state.measure.fixed() + tokens::FRAME + tokens::estimate(told) + stays)
}

/// Handles a failed summary.
pub(super) fn failed(ctx: &mut Desk<'_>, why: &str, too_long: bool) {
    let Some(Draft { purpose: Purpose::Summary(cut), .. }) = ctx.state.take_draft() else { return };
    if too_long {
        // The window is smaller than assumed. Without a figure from the provider, half of what was sent is more likely
        // to fit.
        let said = ctx.state.measure.did_not_fit(why);
        ctx.state.tries.smaller = if said { None } else { Some(cut.asked / 2) };
        let mut cuts: Vec<usize> = ctx.state.turns_sent().into_iter().skip(1).collect();
        cuts.retain(|&other| other < cut.upto);
        cuts.push(cut.upto);
        ctx.state.turns += 1;
        let turn = TurnId(ctx.state.turns);
        if begin(ctx, turn, &cuts, cut.goes_on) {
            return;
        }
    }
    let why = why.trim_end_matches('.');
    ctx.end(Ending::Failed(format!("Cannot summarize the session: {why}")));
}

/// Retries a request that was rejected as too long, once per turn and after making room. Returns whether it is retried.
pub(super) fn sends_again(ctx: &mut Desk<'_>, why: &str) -> bool {
    if std::mem::replace(&mut ctx.state.tries.again, true) {
        return false;
    }
    ctx.state.measure.did_not_fit(why);
    ctx.state.take_draft();
    ctx.state.turns += 1;
    let turn = TurnId(ctx.state.turns);
    let before = ctx.state.ours();
    if makes_room(ctx, turn) {
        return true;
    }
    if ctx.state.ours() < before {
        thinking::send(ctx, turn);
        return true;
    }
    false
}
