//! Effects of a demo: the script replies instead of a model, and its results replace those of tools.

use super::Player;
use crate::agent;
use crate::chat::result_origin::ResultOrigin;
use crate::chat::{Access, CallId, Intent, Outcome, Plan, Reach, SimulationSource, TurnId};
use crate::demo::conversation::next_reply_after;
use crate::tui::effect::Effect;
use crate::tui::host::HostRequest;
use crate::tui::update;

impl Player {
    pub(super) fn run_effects(&mut self, effects: Vec<Effect>) {
        for effect in effects {
            match effect {
                Effect::Agent(effects) => self.run_agent_effects(effects),
                // A demo must not depend on the servers of this machine.
                Effect::Request(HostRequest::FindLocalServers) => {}
                Effect::Request(request) => {
                    self.pending.add_request(&request);
                    self.host.start_request(request);
                }
                Effect::OpenFile { .. } | Effect::OpenWeb(_) | Effect::EditText(_) => {
                    self.report("A demo opens no other program");
                }
                Effect::AttachTerminal | Effect::Suspend => self.report("A demo has no terminal of its own"),
                Effect::Record(_) => self.report("Record a demo with aye demo play FILE --record FILE.cast"),
                Effect::Redraw => {
                    self.state.lookups.pictures.drop_stored();
                    self.is_outdated = true;
                }
                Effect::Quit => self.has_quit = true,
                Effect::CopyText(_)
                | Effect::ReadTerminalClipboard
                | Effect::Notify(_)
                | Effect::SetTitle(_)
                | Effect::Save
                | Effect::SaveTo(_) => {}
            }
        }
    }

    /// Notes that the script does not fit, at the next step of the user, unless something did not fit before.
    fn note_mismatch(&mut self, message: String) {
        let (line, _) = self.position.describe_wait(&self.script);
        self.mismatch.get_or_insert((line, message));
    }

    fn report(&mut self, text: &str) {
        self.state.show_warning(text);
        self.is_outdated = true;
    }

    /// Runs effects of the agent in their order, except those that the script answers.
    fn run_agent_effects(&mut self, effects: Vec<agent::Effect>) {
        let mut waiting = Vec::new();
        for effect in effects {
            if let agent::Effect::CancelTurn { turn } = effect {
                self.schedule.drop_turn(turn);
            }
            if self.answer_by_script(&effect) {
                self.last_activity = self.now;
                continue;
            }
            self.pending.add_effect(&effect);
            waiting.push(effect);
        }
        if !waiting.is_empty()
            && let Some(error) = (self.link.run)(waiting)
        {
            self.report(&error);
        }
    }

    /// Schedules what the script has for an effect; returns whether it has something.
    fn answer_by_script(&mut self, effect: &agent::Effect) -> bool {
        match effect {
            agent::Effect::RequestReply { turn, request } => {
                match next_reply_after(&self.script, &request.messages, self.position.last_error(&self.script)) {
                    Some(reply) => {
                        self.position.note_reply(reply.step);
                        self.schedule.add_reply(self.now, *turn, reply);
                    }
                    None => {
                        self.note_mismatch("the model was asked, and the script has no further reply".to_owned());
                    }
                }
                true
            }
            agent::Effect::RequestTitle { .. } => true,
            // Such a command has no sandbox, and no prompt shows it.
            agent::Effect::RunUserCommand { .. } if !self.state.agent.is_dry_run() => {
                self.note_mismatch("a demo runs no command of the user: let the model call bash_exec".to_owned());
                true
            }
            agent::Effect::PlanCall { turn, call, .. } => {
                let Some(plan) = self.script.find_call(&call.id.0).and_then(|call| call.plan.as_deref()) else {
                    return false;
                };
                let intent = Ok(Intent::Act(Box::new(plan.to_plan())));
                let event = agent::Event::CallPlanned { turn: *turn, call: call.id.clone(), intent };
                self.schedule.add(self.now, event);
                true
            }
            agent::Effect::RunCall { turn, call, plan, .. } => {
                let is_answered = self.answer_call(*turn, &call.id, false);
                if !is_answered && reaches_outside(plan) {
                    self.note_mismatch(format!(
                        "the call of {} reaches beyond the project of the demo: give it a `result` in the script",
                        call.name
                    ));
                    return true;
                }
                is_answered
            }
            agent::Effect::RehearseCall { turn, call, .. } => self.answer_call(*turn, &call.id, true),
            _ => false,
        }
    }

    /// Schedules the result that the script has for a call.
    fn answer_call(&mut self, turn: TurnId, call: &CallId, is_rehearsed: bool) -> bool {
        let Some(scripted) = self.script.find_call(&call.0) else { return false };
        let Some(outcome) = scripted.outcome.clone() else { return false };
        let (outcome, result_source) = match (outcome, is_rehearsed) {
            (Outcome::Done(text) | Outcome::Rehearsed(text), true) => {
                (Outcome::Rehearsed(text), Some(ResultOrigin::simulated(SimulationSource::Fixture)))
            }
            (outcome, _) => (outcome, None),
        };
        let duration = scripted.duration;
        let event = agent::Event::CallFinished { turn, call: call.clone(), outcome, result_source, duration };
        self.schedule.add(self.now + duration, event);
        true
    }

    /// Asks the host for the links and pictures that the layout did not know.
    pub(super) fn request_lookups(&mut self) {
        if let Some((key, form)) = self.state.lookups.pictures.take_request() {
            self.run_effects(vec![Effect::Request(HostRequest::ReadPicture(key, form))]);
        }
        let targets = self.state.lookups.take_pending();
        if !targets.is_empty() {
            self.run_effects(vec![Effect::Request(HostRequest::CheckLinks(targets))]);
        }
    }

    /// Ends the session as leaving the screen does.
    pub(super) fn leave(&mut self) {
        for effect in update::prepare_exit(&mut self.state) {
            match effect {
                Effect::Agent(effects) => drop((self.link.run)(effects)),
                Effect::Request(request) => self.host.start_request(request),
                _ => {}
            }
        }
    }
}

/// Returns whether a call may read or change anything beyond the project, or use the network. The keys of a script approve its
/// calls, so a demo makes no such call.
fn reaches_outside(plan: &Plan) -> bool {
    match &plan.access {
        Access::Nothing | Access::Read(_) | Access::Write(_) | Access::Background(_) | Access::Workspace(_) => false,
        Access::ReadSensitive(_)
        | Access::WriteOutside(_)
        | Access::AyeFiles(_)
        | Access::Fetch(_)
        | Access::External(_) => true,
        Access::Run(command) => command.line.network.is_some() || command.reach == Reach::Outside,
    }
}
