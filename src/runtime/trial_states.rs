//! The trials of a session: which ones run, and which have finished and can be kept.

use crate::chat::CallId;
use crate::project::trial::{Trial, TrialRunner};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::task::AbortHandle;

/// The trials of a session.
#[derive(Default)]
pub struct Trials {
    /// `None` in a dry run, which has no trials.
    pub runner: Option<Arc<TrialRunner>>,
    states: Mutex<HashMap<CallId, TrialState>>,
}

/// State of the trial of one call.
enum TrialState {
    Running(u64, AbortHandle),
    Finished(u64, Box<Trial>),
}

impl Trials {
    /// Creates the trials of a live session.
    pub fn new(runner: Arc<TrialRunner>) -> Self {
        Self { runner: Some(runner), states: Mutex::default() }
    }

    /// Starts the task of a trial. It cannot end before it is recorded.
    pub(super) fn start_task(&self, call: CallId, number: u64, spawn: impl FnOnce() -> AbortHandle) {
        let mut states = self.states();
        states.insert(call, TrialState::Running(number, spawn()));
    }

    /// Stops the trial of a call and removes what it did.
    pub(super) fn drop_trial(&self, call: &CallId) {
        if let Some(TrialState::Running(_, task)) = self.states().remove(call) {
            task.abort();
        }
    }

    /// Stores a finished trial. Returns whether it is still wanted.
    pub(super) fn store_finished(&self, call: &CallId, number: u64, trial: Box<Trial>) -> bool {
        let mut states = self.states();
        match states.get(call) {
            Some(TrialState::Running(current, _)) if *current == number => {
                states.insert(call.clone(), TrialState::Finished(number, trial));
                true
            }
            Some(_) | None => false,
        }
    }

    /// Removes and returns a finished trial.
    pub(super) fn take_finished(&self, call: &CallId, number: u64) -> Option<Box<Trial>> {
        match self.states().remove(call) {
            Some(TrialState::Finished(current, trial)) if current == number => Some(trial),
            Some(_) | None => None,
        }
    }

    fn states(&self) -> MutexGuard<'_, HashMap<CallId, TrialState>> {
        self.states.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
