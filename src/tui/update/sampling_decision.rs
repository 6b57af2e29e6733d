//! Decisions of the user on requests of MCP servers for the model, and their record.

use super::agent_events;
use crate::agent::Event;
use crate::chat::Decider;
use crate::chat::sampling::SamplingStep;
use crate::tui::host::HostRequest;
use crate::tui::state::State;

/// Records the decision on the review with this number, and then tells the host.
pub fn decide_sampling(state: &mut State, id: u64, is_approved: bool, by: Decider) {
    let reviews = &mut state.session.sampling_reviews;
    let Some(index) = reviews.iter().position(|review| review.id == id) else { return };
    let subject = reviews.remove(index).subject.clone();
    let step = subject.to_step(is_approved, by);
    if matches!(step, SamplingStep::Decided { .. }) {
        state.session.open_samplings.push(subject.server().to_owned());
    }
    record_step(state, step);
    state.send_request(HostRequest::AnswerSampling { id, is_approved });
}

/// Records a step of a request that was approved in this session.
pub fn record_step(state: &mut State, step: SamplingStep) {
    let open = &mut state.session.open_samplings;
    let Some(index) = open.iter().position(|server| server == step.server()) else { return };
    if !step.is_open() {
        open.remove(index);
    }
    agent_events::handle_agent_event(state, Event::SamplingStepped(Box::new(step)));
}
