//! What was said before, told by a summary from here on: when, and what follows from how it goes.

use super::draft::{Draft, Purpose};
use super::{Desk, Effect, Phase, State, summary, thinking};
use crate::chat::{Ending, Entry, TurnId, Usage, summary::told, tokens};

/// Summaries that one turn may ask for.
const TRIES: u32 = 4;
/// Of the window this much, in percent, is kept for the newest turns, which stay as they were said.
const KEPT: u64 = 30;
/// The most that is taken of a summary, in bytes: some services know no limit.
const LONGEST: usize = 24 << 10;

/// What one turn has already tried to make room.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Tries {
    /// Summaries that were asked for.
    summaries: u32,
    /// Whether a request that was refused as too long was sent again.
    again: bool,
    /// Tokens that a summary's request may take, where more proved too many.
    smaller: Option<u64>,
}

/// Where the talk is cut: what a summary is to cover.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cut {
    /// The first entry that stays as it is; always the beginning of a turn, or the end of the talk.
    pub(super) upto: usize,
    /// Whether a turn waits for the room, rather than the person for the summary.
    goes_on: bool,
    /// Tokens of the next request before.
    before: u64,
    /// Tokens of the summary's own request.
    asked: u64,
}

impl State {
    /// Whether there is anything that a summary could take the place of.
    pub fn has_something_to_summarise(&self) -> bool {
        let entries = self.session.entries().get(self.session.sent_from()..).unwrap_or_default();
        entries.iter().any(|entry| matches!(entry, Entry::Replied { .. }))
    }

    /// The beginnings of the turns that are still sent, oldest first.
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

/// The person wants a summary now.
pub(super) fn wanted(desk: &mut Desk<'_>) {
    if !desk.state.is_idle() || !desk.state.has_something_to_summarise() {
        return;
    }
    desk.state.turns += 1;
    desk.state.tries = Tries::default();
    let turn = TurnId(desk.state.turns);
    let mut cuts: Vec<usize> = desk.state.turns_sent().into_iter().skip(1).collect();
    cuts.push(desk.state.session.entries().len());
    if !begin(desk, turn, &cuts, false) {
        desk.end(Ending::Failed(
            "What was said before is too long to be summarised at once, so nothing was changed".to_owned(),
        ));
    }
}

/// Makes room for the next request of a turn where it would not fit. Whether a summary was asked for, which the turn
/// waits for now.
pub(super) fn makes_room(desk: &mut Desk<'_>, turn: TurnId) -> bool {
    if desk.state.fits(desk.state.tokens()) {
        return false;
    }
    let asked = {
        let kept = desk.state.known_window().unwrap_or(u64::MAX).saturating_mul(KEPT) / 100;
        let (state, end) = (&*desk.state, desk.state.session.entries().len());
        let turns = state.turns_sent();
        let first = turns.first().copied().unwrap_or(0);
        let stays = |cut: &usize| state.corrected(state.session.weight_of(*cut, end)) <= kept;
        // The turn that runs stays as it is, however long it has become.
        let cut = turns.iter().copied().find(stays).or(turns.last().copied()).unwrap_or(0);
        let cuts: Vec<usize> = turns.into_iter().filter(|&other| other > first && other <= cut).collect();
        begin(desk, turn, &cuts, true)
    };
    if !asked {
        desk.state.shorten();
    }
    asked
}

/// Asks for a summary up to the last of these places for which the request fits. Whether it was asked for.
fn begin(desk: &mut Desk<'_>, turn: TurnId, cuts: &[usize], goes_on: bool) -> bool {
    if desk.state.tries.summaries >= TRIES {
        return false;
    }
    let (before, smaller) = (desk.state.tokens(), desk.state.tries.smaller);
    let request = |upto: usize, lengths| summary::request(desk.state, upto, smaller, lengths);
    // Rather two summaries of which each knows enough than one that knows next to nothing.
    let found = summary::LENGTHS.into_iter().find_map(|lengths| {
        let fitting = cuts.partition_point(|&upto| request(upto, lengths).is_some());
        let upto = *cuts.get(fitting.checked_sub(1)?)?;
        request(upto, lengths).map(|request| (upto, request))
    });
    let Some((upto, (request, ours, asked))) = found else { return false };
    desk.state.tries.summaries += 1;
    desk.state.sends(ours, asked);
    let purpose = Purpose::Summary(Cut { upto, goes_on, before, asked });
    desk.state.phase = Phase::Thinking(Box::new(Draft::new(turn, purpose)));
    desk.effects.push(Effect::Stream { turn, request: Box::new(request) });
    true
}

/// More of a summary came. One that does not end is taken as it is.
pub(super) fn grown(desk: &mut Desk<'_>) {
    let turn = match &desk.state.phase {
        Phase::Thinking(draft) if draft.is_summary() && draft.text.len() > LONGEST => draft.turn,
        Phase::Thinking(_) | Phase::Idle | Phase::Acting { .. } => return,
    };
    desk.effects.push(Effect::Cancel { turn });
    done(desk);
}

/// The summary is there, as far as it came.
pub(super) fn done(desk: &mut Desk<'_>) {
    let Some(Draft { text, usage, purpose: Purpose::Summary(cut), .. }) = desk.state.take_draft() else {
        return;
    };
    let endless = text.len() > LONGEST;
    let summary = text.get(..text.floor_char_boundary(LONGEST)).unwrap_or_default().trim().to_owned();
    if summary.is_empty() {
        return desk.end(Ending::Failed("The model gave no summary of what was said before".to_owned()));
    }
    let pinned = summary::pinned(desk.state, cut.upto);
    let after = after(desk.state, cut.upto, &told(&summary, &pinned));
    if after >= cut.before {
        if cut.goes_on {
            // A summary of too little may be no shorter than that was; of more it may be, unless the model has no end.
            let turns = desk.state.turns_sent();
            let later: Vec<usize> = turns.into_iter().filter(|&other| other > cut.upto).collect();
            desk.state.turns += 1;
            let turn = TurnId(desk.state.turns);
            if !endless && begin(desk, turn, &later, true) {
                return;
            }
            // It may fit without room to spare; another summary would be no better.
            desk.state.tries.summaries = TRIES;
            return thinking::ask(desk, turn);
        }
        return desk.end(Ending::Failed(
            "The summary of what was said before is no shorter than that was, so it was not taken".to_owned(),
        ));
    }
    keep(desk, summary, pinned, cut, after, usage);
    if cut.goes_on {
        // What is still on its way from the summary belongs to a turn that is over.
        desk.state.turns += 1;
        thinking::ask(desk, TurnId(desk.state.turns));
    } else if !desk.state.queue.is_empty() {
        thinking::begin(desk);
    }
}

fn keep(desk: &mut Desk<'_>, summary: String, pinned: String, cut: Cut, after: u64, usage: Option<Usage>) {
    let tokens = (cut.before, after);
    desk.keep(Entry::Compacted { summary, pinned, upto: cut.upto, tokens, usage });
    desk.state.measure.summarised();
}

/// Tokens of the next request once this is told in place of what is before the cut.
fn after(state: &State, upto: usize, told: &str) -> u64 {
    let stays = state.session.weight_of(upto, state.session.entries().len());
    state.corrected(state.measure.fixed() + tokens::FRAME + tokens::estimate(told) + stays)
}

/// The summary failed.
pub(super) fn failed(desk: &mut Desk<'_>, why: &str, too_long: bool) {
    let Some(Draft { purpose: Purpose::Summary(cut), .. }) = desk.state.take_draft() else { return };
    if too_long {
        // The window is smaller than was believed. Where nobody says how much, half of what was sent fits sooner.
        let said = desk.state.measure.did_not_fit(why);
        desk.state.tries.smaller = if said { None } else { Some(cut.asked / 2) };
        let mut cuts: Vec<usize> = desk.state.turns_sent().into_iter().skip(1).collect();
        cuts.retain(|&other| other < cut.upto);
        cuts.push(cut.upto);
        desk.state.turns += 1;
        let turn = TurnId(desk.state.turns);
        if begin(desk, turn, &cuts, cut.goes_on) {
            return;
        }
    }
    let why = why.trim_end_matches('.');
    desk.end(Ending::Failed(format!("What was said before could not be summarised: {why}")));
}

/// A request was refused as too long: room is made and it is sent once more in this turn. Whether it is.
pub(super) fn sends_again(desk: &mut Desk<'_>, why: &str) -> bool {
    if std::mem::replace(&mut desk.state.tries.again, true) {
        return false;
    }
    desk.state.measure.did_not_fit(why);
    desk.state.take_draft();
    desk.state.turns += 1;
    let turn = TurnId(desk.state.turns);
    let before = desk.state.ours();
    if makes_room(desk, turn) {
        return true;
    }
    if desk.state.ours() < before {
        thinking::send(desk, turn);
        return true;
    }
    false
}
