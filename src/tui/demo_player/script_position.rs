//! Where a script is played: which of its steps is next, and when.

use super::TEXT_TIMEOUT;
use crate::demo::Script;
use crate::demo::script::{Action, Step, UserAct, UserStep};
use crate::tui::keys::Chord;
use std::collections::BTreeSet;
use std::time::Duration;

/// Time between the keys of one step.
const KEY_INTERVAL: Duration = Duration::from_millis(300);

/// A line, and what is wrong with its step: one sentence without a full stop.
type Problem = (usize, String);

/// The next step.
#[derive(Debug)]
pub(super) struct ScriptPosition {
    step: usize,
    /// Number of keys of the step that were pressed.
    part: usize,
    /// Time of the user's last act.
    last_act: Duration,
    /// Time at which this step came up: that of the request for the reply before it, if it follows one.
    step_since: Duration,
    /// Replies that the model was asked for.
    played: BTreeSet<usize>,
}

impl ScriptPosition {
    /// Starts before the first step, and checks the names of the keys.
    pub(super) fn new(script: &Script) -> Result<Self, Problem> {
        for step in &script.steps {
            if let Action::User(UserStep { act: UserAct::Press(keys), .. }) = &step.action
                && let Some(error) = keys.iter().find_map(|key| key.parse::<Chord>().err())
            {
                return Err((step.line, error.to_string()));
            }
        }
        Ok(Self { step: 0, part: 0, last_act: Duration::ZERO, step_since: Duration::ZERO, played: BTreeSet::new() })
    }

    /// Notes that the model was asked for the reply of this step.
    pub(super) fn note_reply(&mut self, step: usize) {
        self.played.insert(step);
    }

    /// Returns the last reply that was an error, which leaves no message in the conversation.
    pub(super) fn last_error(&self, script: &Script) -> Option<usize> {
        self.played.last().copied().filter(|step| match &script.steps[*step].action {
            Action::Reply(reply) => reply.error.is_some(),
            Action::User(_) => false,
        })
    }

    /// Moves over the steps that are done: replies that were played or are left out, and texts that are on the screen.
    pub(super) fn advance(
        &mut self,
        script: &Script,
        is_at_rest: bool,
        screen: &str,
        now: Duration,
    ) -> Result<(), Problem> {
        while let Some(step) = script.steps.get(self.step) {
            let is_done = match &step.action {
                Action::Reply(reply) => {
                    let is_passed = self.played.range(self.step..).next().is_some();
                    let may_be_left_out = !reply.conditions.is_empty() || reply.repeats;
                    if !is_passed && !may_be_left_out && is_at_rest {
                        return Err((step.line, "the model was not asked for this reply".to_owned()));
                    }
                    is_passed || is_at_rest
                }
                Action::User(user) => {
                    let waits_for_text = matches!(user.act, UserAct::WaitFor(_) | UserAct::WaitGone(_));
                    if is_at_rest
                        && !user.is_early
                        && !waits_for_text
                        && self.played.range(self.step..).next().is_some()
                    {
                        let message = "the model went on before this step: nothing waited for the user";
                        return Err((step.line, message.to_owned()));
                    }
                    let is_shown = |text: &str| contains_text(screen, text);
                    let is_seen = match &user.act {
                        UserAct::WaitFor(text) => is_shown(text),
                        UserAct::WaitGone(text) => !is_shown(text),
                        _ => false,
                    };
                    if is_seen && now >= self.last_act + user.pause {
                        self.last_act = now;
                    }
                    is_seen && now >= self.last_act
                }
            };
            if !is_done {
                return Ok(());
            }
            self.step += 1;
            self.part = 0;
            self.step_since = now;
        }
        Ok(())
    }

    /// Returns when a wait for a text fails. Earlier replies do not count against it.
    fn text_deadline(&self, pause: Duration) -> Duration {
        self.last_act.max(self.step_since) + pause + TEXT_TIMEOUT
    }

    /// Returns when the user acts next; `None` while the step waits for something else.
    pub(super) fn due_time(&self, script: &Script, rest_since: Option<Duration>) -> Option<Duration> {
        let Step { action: Action::User(user), .. } = script.steps.get(self.step)? else { return None };
        match &user.act {
            // The wait ends by the text, or by this time.
            UserAct::WaitFor(_) | UserAct::WaitGone(_) => Some(self.text_deadline(user.pause)),
            UserAct::Type(_, speed) if self.part > 0 => Some(self.last_act + Duration::from_secs(1) / *speed),
            UserAct::Press(_) if self.part > 0 => Some(self.last_act + KEY_INTERVAL),
            _ if user.is_early => Some(self.last_act + user.pause),
            _ => rest_since.map(|rest_since| rest_since.max(self.last_act) + user.pause),
        }
    }

    /// Returns whether the next act is the first of its step.
    pub(super) fn begins_step(&self) -> bool {
        self.part == 0
    }

    /// Takes the next act of the user, with the number of the character or key.
    pub(super) fn take_part(&mut self, script: &Script, now: Duration) -> Option<(UserAct, usize)> {
        let Step { action: Action::User(user), .. } = script.steps.get(self.step)? else { return None };
        let (act, part) = (user.act.clone(), self.part);
        let parts = match &act {
            UserAct::Type(text, _) => text.chars().count(),
            UserAct::Press(keys) => keys.len(),
            UserAct::WaitFor(_) | UserAct::WaitGone(_) => return None,
            _ => 1,
        };
        self.last_act = now;
        self.part += 1;
        if self.part >= parts {
            (self.step, self.part) = (self.step + 1, 0);
        }
        Some((act, part))
    }

    pub(super) fn is_over(&self, script: &Script) -> bool {
        self.step >= script.steps.len()
    }

    pub(super) fn last_act(&self) -> Duration {
        self.last_act
    }

    /// Returns whether the step waits for a text, and its time is over.
    pub(super) fn is_overdue(&self, script: &Script, now: Duration) -> bool {
        match script.steps.get(self.step).map(|step| &step.action) {
            Some(Action::User(user)) if matches!(user.act, UserAct::WaitFor(_) | UserAct::WaitGone(_)) => {
                now >= self.text_deadline(user.pause)
            }
            Some(_) | None => false,
        }
    }

    /// Returns the line of the next step, and what it waits for.
    pub(super) fn describe_wait(&self, script: &Script) -> Problem {
        let Some(step) = script.steps.get(self.step).or(script.steps.last()) else {
            return (1, "the script has no steps".to_owned());
        };
        let message = match &step.action {
            Action::User(UserStep { act: UserAct::WaitFor(text), .. }) => {
                format!("the screen does not show {text:?} within {} seconds", TEXT_TIMEOUT.as_secs())
            }
            Action::User(UserStep { act: UserAct::WaitGone(text), .. }) => {
                format!("the screen still shows {text:?} after {} seconds", TEXT_TIMEOUT.as_secs())
            }
            Action::User(_) => "the program does not wait for the user here".to_owned(),
            Action::Reply(_) => "the model was not asked for this reply".to_owned(),
        };
        (step.line, message)
    }

    /// Returns the first step that was not played although it has no condition.
    pub(super) fn find_unplayed(&self, script: &Script) -> Option<Problem> {
        let unplayed = script
            .replies()
            .find(|(index, reply)| reply.conditions.is_empty() && !reply.repeats && !self.played.contains(index));
        if let Some((index, _)) = unplayed {
            return Some((script.steps[index].line, "the model was never asked for this reply".to_owned()));
        }
        let step = script.steps.get(self.step)?;
        Some((step.line, "the program ended before this step".to_owned()))
    }
}

/// Returns whether a screen shows a text. Spaces of any number are equal, so that a text may be broken into lines.
fn contains_text(screen: &str, text: &str) -> bool {
    let normalize = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    screen.contains(text) || normalize(screen).contains(&normalize(text))
}
