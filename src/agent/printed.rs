//! Output of running calls, saved in case the program exits before the call ends.

use super::state::Step;
use super::{Desk, Effect};
use crate::chat::{self, CallId, shorten};

/// Most bytes of output in the outcome of an interrupted call.
const LONGEST: usize = 64 << 10;
/// Most bytes of output in one record.
const AT_ONCE: usize = 16 << 10;

/// Output of a running call, bounded.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Printed {
    text: String,
    /// End of the text that is in no record yet.
    unkept: String,
}

impl Printed {
    pub(super) fn add(&mut self, more: &str) {
        self.text.push_str(more);
        if self.text.len() > 2 * LONGEST {
            self.text = shorten::middle(&self.text, LONGEST).into_owned();
        }
        self.unkept.push_str(more);
        if self.unkept.len() > 2 * AT_ONCE {
            self.unkept = shorten::middle(&self.unkept, AT_ONCE).into_owned();
        }
    }

    /// Returns the output since the last call of this function, if any.
    pub(super) fn take_unkept(&mut self) -> Option<String> {
        let unkept = std::mem::take(&mut self.unkept);
        (!unkept.is_empty()).then(|| shorten::middle(&unkept, AT_ONCE).into_owned())
    }

    /// Returns the outcome of an interrupted call: the reason and its output.
    pub(super) fn outcome(&self, why: &str) -> String {
        outcome(why, &self.text)
    }
}

/// Returns the outcome of an interrupted call: the reason and its output.
pub(super) fn outcome(why: &str, printed: &str) -> String {
    if printed.trim().is_empty() {
        return why.to_owned();
    }
    format!("{why} Output until then:\n{}", shorten::middle(printed, LONGEST))
}

/// Handles the progress of a running call.
pub(super) fn progressed(ctx: &mut Desk<'_>, id: &CallId, output: String, more: &str) {
    if let Some(pending) = ctx.state.pending_mut(id)
        && matches!(pending.step, Step::Running(_))
    {
        pending.output = output;
        pending.printed.add(more);
    }
}

/// Saves the output of a running call.
pub(super) fn keep_output(ctx: &mut Desk<'_>, id: &CallId) {
    let Some(pending) = ctx.state.pending_mut(id) else { return };
    if let Some(text) = pending.printed.take_unkept() {
        ctx.effects.push(Effect::KeepPrinted(chat::Printed { call: id.clone(), text }));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn returns_output_once_and_bounds_it() {
        let mut printed = Printed::default();
        assert_eq!((printed.take_unkept(), printed.outcome("Stopped.")), (None, "Stopped.".to_owned()));
        printed.add("one\n");
        printed.add("two\n");
        assert_eq!(printed.take_unkept().as_deref(), Some("one\ntwo\n"));
        assert_eq!(printed.take_unkept(), None);
        assert_eq!(printed.outcome("Stopped."), "Stopped. Output until then:\none\ntwo\n");
        for number in 0..100_000 {
            printed.add(&format!("line {number}\n"));
        }
        let (kept, outcome) = (printed.take_unkept().unwrap(), printed.outcome("Stopped."));
        assert!(kept.len() < 2 * AT_ONCE && outcome.len() < 2 * LONGEST, "{} {}", kept.len(), outcome.len());
        assert!(kept.ends_with("line 99999\n") && outcome.ends_with("line 99999\n"));
        assert!(outcome.contains("one\ntwo\n"));
    }
}
