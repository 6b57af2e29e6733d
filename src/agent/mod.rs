//! State machine of a turn: connects the model, the tools and the user. Knows nothing of the screen.

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

/// Applies one event to the state and returns the effects to carry out.
///
/// Never blocks and never fails. An event of a turn that has ended changes nothing.
pub fn update(state: &mut State, event: Event) -> Vec<Effect> {
    let mut ctx = Desk { state, above: None, effects: Vec::new() };
    let lasts = matches!(&event, Event::Decided { decision: Decision::Always(_), .. });
    take(&mut ctx, event);
    if lasts {
        grants::plan_covered(&mut ctx);
    }
    let effects = ctx.effects;
    state.line_up();
    effects
}

/// Applies an event to the turn, or to the sub-agent of the turn that it belongs to.
fn take(ctx: &mut Desk<'_>, event: Event) {
    let Some(event) = sub_agent::hand_down(ctx, event) else { return };
    match event {
        Event::Said(text) => thinking::said(ctx, text),
        Event::Offered(offered) => offered::begin(ctx, offered),
        Event::TakenBack => ctx.state.queue.clear(),
        Event::Chunk { turn, chunk, after } => {
            if ctx.runs(turn) {
                thinking::chunk(ctx, chunk, after);
            }
        }
        Event::Grew { turn } => {
            if ctx.runs(turn) {
                thinking::grew(ctx);
            }
        }
        Event::Failed { turn, why, too_long } => {
            if ctx.runs(turn) {
                thinking::failed(ctx, why, too_long);
            }
        }
        Event::Planned { turn, call, intent } => {
            if ctx.runs(turn) {
                let intent = offered::warned(ctx, &call, intent);
                acting::planned(ctx, &call, intent);
            }
        }
        Event::Consulted { turn, call, round, said } => {
            if ctx.runs(turn) {
                consulting::consulted(ctx, &call, round, said);
            }
        }
        Event::Progressed { turn, call, output, more } => {
            if ctx.runs(turn) {
                printed::progressed(ctx, &call, output, &more);
            }
        }
        Event::OutputDue { turn, call } => {
            if ctx.runs(turn) {
                printed::keep_output(ctx, &call);
            }
        }
        Event::Finished { turn, call, outcome, staged, took } => {
            if ctx.runs(turn) {
                acting::finished(ctx, &call, (outcome, staged), took);
            }
        }
        Event::Listed => ahead::listed(ctx),
        Event::Brought(call) => ahead::brought(ctx, call),
        Event::Decided { .. } if !acting::may_decide(ctx.state, &event) => {}
        Event::Decided { call, decision, by } => acting::decided(ctx, &call, decision, by),
        Event::Answered { call, answer, by } => acting::answered(ctx, &call, answer, by),
        Event::Interrupted => interrupted(ctx),
        Event::Titled(title) => {
            ctx.keep(Entry::Titled { title, by: Namer::Person, usage: None });
        }
        Event::Named { said, usage } => naming::named(ctx, &said, usage),
        Event::CompactionWanted => compacting::wanted(ctx),
        Event::WindowKnown(window) => ctx.state.window = window,
        Event::Hurried => {
            if matches!(&ctx.state.phase, Phase::Thinking(draft) if draft.retrying.is_some()) {
                ctx.effects.push(Effect::Hurry);
            }
        }
        Event::AskedAgain => {
            if ctx.state.can_ask_again() {
                thinking::begin(ctx);
            }
        }
        Event::Switched { model, profile } => {
            ctx.state.model.clone_from(&model);
            ctx.state.window = None;
            ctx.state.measure.forget_window();
            // An empty session has nothing to resume, so the switch is not recorded.
            if !ctx.state.session.entries().is_empty() {
                ctx.keep(Entry::Switched { model, profile });
            }
        }
        Event::Became { of } => {
            let dry_run = ctx.state.is_dry_run();
            ctx.keep(Entry::Became { dry_run, of });
        }
        Event::RulesRead { rules, notices: _ } => ctx.state.rules = rules,
        Event::Instructed(instructions) => ctx.state.instruct(instructions),
        Event::TookBack { given_on, what, by } => {
            let stands = |call: &CallId| ctx.state.granted().iter().any(|standing| standing.call == *call);
            if given_on.as_ref().is_none_or(stands) {
                ctx.keep(Entry::TakenBack { given_on, what, by });
            }
        }
        Event::ModeChanged(mode) => ctx.state.policy.mode = mode,
    }
}

/// The state and the effects of one update. Every entry goes to the session and to the log in the same step.
struct Desk<'a> {
    state: &'a mut State,
    /// Session of the turn, if the state is that of a sub-agent.
    above: Option<&'a Session>,
    effects: Vec<Effect>,
}

impl Desk<'_> {
    fn runs(&self, turn: TurnId) -> bool {
        self.state.turn() == Some(turn)
    }

    /// Returns the grants of the whole session: a grant given to a sub-agent is valid for the turn, and the reverse.
    fn granted(&self) -> &[Standing] {
        self.above.unwrap_or(&self.state.session).granted()
    }

    /// Records an entry in the session and in the log.
    fn keep(&mut self, entry: Entry) {
        let entry = self.state.session.apply(entry);
        self.effects.push(Effect::Append(entry.clone()));
    }

    /// Ends the turn. Queued messages start the next turn, unless this turn failed: then they stay in the queue until
    /// the user sends them.
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

/// Stops the turn at the user's request. Everything happens in one step, so that the screen is correct at once.
fn interrupted(ctx: &mut Desk<'_>) {
    let Some(turn) = ctx.state.turn() else { return };
    ctx.effects.push(Effect::Cancel { turn });
    match ctx.state.phase {
        Phase::Idle => {}
        Phase::Thinking(_) => thinking::keep_what_came(ctx, "stopped"),
        Phase::Acting { .. } => {
            sub_agent::stop(ctx);
            stopping::settle_the_rest(ctx);
        }
    }
    ctx.end(Ending::Interrupted);
}
