//! Results of tools and of the rest of the program, at their times in a demo.

use super::Player;
use crate::agent;
use crate::chat::Outcome;
use crate::demo::script::Action;
use crate::tui::event::Event;

impl Player {
    /// Handles what the program sent, at its time in the script.
    pub(super) fn take_result(&mut self, event: Event) {
        let Event::Agent(event) = event else { return self.handle_event(event) };
        self.check_result(&event);
        match event {
            // Its time depends on the speed of the machine, and the outcome holds all of it.
            agent::Event::CallProgressed { .. }
            | agent::Event::UserCommandProgressed { .. }
            | agent::Event::ReplySaveDue { .. }
            | agent::Event::OutputSaveDue { .. } => {}
            agent::Event::CallFinished { turn, call, outcome, result_source, .. } => {
                let duration = self.script.find_call(&call.0).map_or(self.script.pace.call, |call| call.duration);
                let event = agent::Event::CallFinished { turn, call, outcome, result_source, duration };
                self.schedule.add(self.now + duration, event);
            }
            agent::Event::UserCommandFinished { turn, output, status, .. } => {
                let duration = self.script.pace.call;
                let event = agent::Event::UserCommandFinished { turn, output, status, duration };
                self.schedule.add(self.now + duration, event);
            }
            event => self.handle_event(Event::Agent(event)),
        }
    }

    /// Notes the first call of the script that failed although the script does not say so.
    fn check_result(&mut self, event: &agent::Event) {
        let (call, problem) = match event {
            agent::Event::CallPlanned { call, intent: Err(problem), .. } => (call, problem),
            agent::Event::CallFinished { call, outcome: Outcome::Failed(problem), .. } => (call, problem),
            _ => return,
        };
        let Some(scripted) = self.script.find_call(&call.0) else { return };
        if !scripted.may_fail && scripted.outcome.is_none() {
            let line = self.script.steps.iter().find_map(|step| match &step.action {
                Action::Reply(reply) => reply.calls.contains(scripted).then_some(step.line),
                Action::User(_) => None,
            });
            let message = format!("the call of {} failed: {}", scripted.tool, problem.trim_end_matches('.'));
            self.mismatch.get_or_insert((line.unwrap_or(1), message));
        }
    }
}
