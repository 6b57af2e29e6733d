//! The turn machine: knows model, tools and person, and no screen.

mod acting;
mod ahead;
mod compacting;
mod consulting;
mod draft;
mod editing;
mod effect;
mod event;
mod grants;
mod naming;
mod offered;
mod printed;
mod repeats;
mod request;
mod resume;
mod standing;
mod state;
mod stopping;
mod sub_agent;
mod summary;
#[cfg(test)]
mod tests;
mod thinking;
mod waiting;
mod window;

pub use crate::policy::{Mode, why_none as why_not_kept};
pub use ahead::{Ahead, Look};
pub use compacting::Cut;
pub use consulting::{Advisers, Brief, Consulting, Hook};
pub use draft::{Draft, Purpose, Quiet, Retrying};
pub use effect::Effect;
pub use event::Event;
pub use offered::Offered;
pub use request::{DRY_RUN_STAGED, DRY_RUN_TOLD, WAS_REHEARSED, standing_words, words_beneath};
pub use resume::{resume, resume_with};
pub use standing::{Allowed, Kept, Width, kept, why_none, widths};
pub use state::{Pending, Phase, State, Step};
pub use sub_agent::{AT_ONCE, IN_A_TURN, Offer, SubAgent};
pub use waiting::Waiting;
pub use window::Gauge;

pub use crate::policy::{Holds, Rule};

use crate::chat::{CallId, Decision, Ending, Entry, Namer, Session, Standing, TurnId};

/// Takes one thing that happened into the state and tells what is to be done about it. Never waits, never fails; an
/// event of a turn that is over changes nothing.
pub fn update(state: &mut State, event: Event) -> Vec<Effect> {
    let mut desk = Desk { state, above: None, effects: Vec::new() };
    let lasts = matches!(&event, Event::Decided { decision: Decision::Always(_), .. });
    take(&mut desk, event);
    if lasts {
        grants::plan_covered(&mut desk);
    }
    let effects = desk.effects;
    state.line_up();
    effects
}

/// What happened to the turn, or to a sub-agent beneath it.
fn take(desk: &mut Desk<'_>, event: Event) {
    let Some(event) = sub_agent::hand_down(desk, event) else { return };
    match event {
        Event::Said(text) => thinking::said(desk, text),
        Event::Offered(offered) => offered::begin(desk, offered),
        Event::TakenBack => desk.state.queue.clear(),
        Event::Chunk { turn, chunk, after } => {
            if desk.runs(turn) {
                thinking::chunk(desk, chunk, after);
            }
        }
        Event::Grew { turn } => {
            if desk.runs(turn) {
                thinking::grew(desk);
            }
        }
        Event::Failed { turn, why, too_long } => {
            if desk.runs(turn) {
                thinking::failed(desk, why, too_long);
            }
        }
        Event::Planned { turn, call, intent } => {
            if desk.runs(turn) {
                let intent = offered::warned(desk, &call, intent);
                acting::planned(desk, &call, intent);
            }
        }
        Event::Consulted { turn, call, round, said } => {
            if desk.runs(turn) {
                consulting::consulted(desk, &call, round, said);
            }
        }
        Event::Progressed { turn, call, output, more } => {
            if desk.runs(turn) {
                printed::progressed(desk, &call, output, &more);
            }
        }
        Event::OutputDue { turn, call } => {
            if desk.runs(turn) {
                printed::keep_output(desk, &call);
            }
        }
        Event::Finished { turn, call, outcome, staged, took } => {
            if desk.runs(turn) {
                acting::finished(desk, &call, (outcome, staged), took);
            }
        }
        Event::Listed => ahead::listed(desk),
        Event::Brought(call) => ahead::brought(desk, call),
        Event::Decided { .. } if !acting::may_decide(desk.state, &event) => {}
        Event::Decided { call, decision, by } => acting::decided(desk, &call, decision, by),
        Event::Answered { call, answer, by } => acting::answered(desk, &call, answer, by),
        Event::Interrupted => interrupted(desk),
        Event::Titled(title) => {
            desk.keep(Entry::Titled { title, by: Namer::Person, usage: None });
        }
        Event::Named { said, usage } => naming::named(desk, &said, usage),
        Event::CompactionWanted => compacting::wanted(desk),
        Event::WindowKnown(window) => desk.state.window = window,
        Event::Hurried => {
            if matches!(&desk.state.phase, Phase::Thinking(draft) if draft.retrying.is_some()) {
                desk.effects.push(Effect::Hurry);
            }
        }
        Event::AskedAgain => {
            if desk.state.can_ask_again() {
                thinking::begin(desk);
            }
        }
        Event::Switched { model, profile } => {
            desk.state.model.clone_from(&model);
            desk.state.window = None;
            desk.state.measure.forget_window();
            // Before anything was said there is no session yet that would have to remember it.
            if !desk.state.session.entries().is_empty() {
                desk.keep(Entry::Switched { model, profile });
            }
        }
        Event::Became { of } => {
            let dry_run = desk.state.is_dry_run();
            desk.keep(Entry::Became { dry_run, of });
        }
        Event::RulesRead { rules, notices: _ } => desk.state.rules = rules,
        Event::Instructed(instructions) => desk.state.instruct(instructions),
        Event::TookBack { given_on, what, by } => {
            let stands = |call: &CallId| desk.state.granted().iter().any(|standing| standing.call == *call);
            if given_on.as_ref().is_none_or(stands) {
                desk.keep(Entry::TakenBack { given_on, what, by });
            }
        }
        Event::ModeChanged(mode) => desk.state.policy.mode = mode,
    }
}

/// The state at work: what is kept goes to the session and to the log in one step.
struct Desk<'a> {
    state: &'a mut State,
    /// The session of the turn, where this is a sub-agent beneath it.
    above: Option<&'a Session>,
    effects: Vec<Effect>,
}

impl Desk<'_> {
    /// Whether this turn is the one that runs.
    fn runs(&self, turn: TurnId) -> bool {
        self.state.turn() == Some(turn)
    }

    /// Every standing yes: one that was given anywhere in the session holds everywhere in it.
    fn granted(&self) -> &[Standing] {
        self.above.unwrap_or(&self.state.session).granted()
    }

    /// Makes it a fact.
    fn keep(&mut self, entry: Entry) {
        let entry = self.state.session.apply(entry);
        self.effects.push(Effect::Append(entry.clone()));
    }

    /// Ends the turn. What was said meanwhile begins the next one, unless the turn went wrong: then it is the
    /// person's again.
    fn end(&mut self, ending: Ending) {
        let finished = ending == Ending::Finished;
        self.keep(Entry::Ended { ending });
        self.state.phase = Phase::Idle;
        if finished && !self.state.queue.is_empty() {
            thinking::begin(self);
        } else if finished && !self.state.offered {
            naming::turn_finished(self);
        }
    }
}

/// The person stopped the turn: all in one step, so that the screen is right at once.
fn interrupted(desk: &mut Desk<'_>) {
    let Some(turn) = desk.state.turn() else { return };
    desk.effects.push(Effect::Cancel { turn });
    match desk.state.phase {
        Phase::Idle => {}
        Phase::Thinking(_) => thinking::keep_what_came(desk, "stopped"),
        Phase::Acting { .. } => {
            sub_agent::stop(desk);
            stopping::settle_the_rest(desk);
        }
    }
    desk.end(Ending::Interrupted);
}
