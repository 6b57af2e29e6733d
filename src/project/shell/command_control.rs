//! Control of a running command from outside its call: its time limit, its end, and its output since the last read.

use crate::project::output::Output;
use tokio::sync::watch;

/// Control of one command. It outlives the command, whose last output can still be read.
#[derive(Debug, Default)]
pub struct CommandControl {
    state: watch::Sender<ControlState>,
}

#[derive(Debug, Default)]
struct ControlState {
    is_detached: bool,
    is_stop_requested: bool,
    /// Output that readers have not taken yet, bounded like that of any command.
    output: Output,
    /// How the command ended: `exit 0`.
    end_status: Option<String>,
}

/// Output that was not read before, and the state of the command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewOutput {
    /// The output, after `…` if it exceeds the limit.
    pub text: String,
    /// How the command ended; `None` while it runs.
    pub end_status: Option<String>,
}

impl CommandControl {
    /// Lifts the time limit. `seen_bytes` is the output so far that the reader has seen; reads start after it.
    pub fn detach(&self, seen_bytes: u64) {
        self.state.send_modify(|state| {
            state.is_detached = true;
            state.output.skip_to(seen_bytes);
        });
    }

    /// Returns whether the command runs without a time limit.
    pub fn is_detached(&self) -> bool {
        self.state.borrow().is_detached
    }

    /// Requests the end of the command.
    pub fn request_stop(&self) {
        self.state.send_modify(|state| state.is_stop_requested = true);
    }

    /// Waits until the end of the command is requested.
    pub(super) async fn wait_for_stop_request(&self) {
        // The sender is in `self`, so the channel stays open.
        let _ = self.state.subscribe().wait_for(|state| state.is_stop_requested).await;
    }

    /// Adds output of the command.
    pub fn push_output(&self, text: &str) {
        self.state.send_modify(|state| state.output.push(text.as_bytes()));
    }

    /// Records how the command ended.
    pub fn record_end(&self, status: String) {
        self.state.send_modify(|state| state.end_status = Some(status));
    }

    /// Returns how the command ended; `None` while it runs.
    pub fn end_status(&self) -> Option<String> {
        self.state.borrow().end_status.clone()
    }

    /// Waits for new output or the end of the command.
    pub async fn wait_for_output(&self) {
        let is_due = |state: &ControlState| state.output.has_new() || state.end_status.is_some();
        let _ = self.state.subscribe().wait_for(is_due).await;
    }

    /// Waits for the end of the command.
    pub async fn wait_for_end(&self) {
        let _ = self.state.subscribe().wait_for(|state| state.end_status.is_some()).await;
    }

    /// Returns the output since the last call.
    pub fn take_output(&self) -> NewOutput {
        let mut output = NewOutput { text: String::new(), end_status: None };
        // Readers need no notice of a read.
        self.state.send_if_modified(|state| {
            output = NewOutput { text: state.output.take_new(), end_status: state.end_status.clone() };
            false
        });
        output
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_start_after_the_output_that_was_seen_and_return_it_once() {
        let control = CommandControl::default();
        control.push_output("one\n");
        control.push_output("two\n");
        control.detach(4);
        assert_eq!(control.take_output(), NewOutput { text: "two\n".into(), end_status: None });
        control.push_output("three\n");
        control.record_end("exit 1".into());
        let end_status = Some("exit 1".to_owned());
        assert_eq!(control.take_output(), NewOutput { text: "three\n".into(), end_status: end_status.clone() });
        assert_eq!(control.take_output(), NewOutput { text: String::new(), end_status });
    }

    #[test]
    fn a_count_beyond_the_output_skips_all_of_it() {
        let control = CommandControl::default();
        control.push_output("one\n");
        control.detach(1_000);
        control.push_output("two\n");
        assert_eq!(control.take_output().text, "two\n");
    }

    #[test]
    fn a_flood_is_bounded() {
        let control = CommandControl::default();
        control.detach(0);
        for _ in 0..10_000 {
            control.push_output(&"x".repeat(1_000));
        }
        let text = control.take_output().text;
        assert!(text.starts_with('…') && text.len() < 64 << 10, "{} bytes", text.len());
    }

    #[tokio::test]
    async fn waits_end_with_output_and_with_the_end() {
        let control = std::sync::Arc::new(CommandControl::default());
        let writer = control.clone();
        let task = tokio::spawn(async move {
            tokio::task::yield_now().await;
            writer.push_output("x");
            tokio::task::yield_now().await;
            writer.request_stop();
            writer.record_end("exit 0".into());
        });
        control.wait_for_output().await;
        assert_eq!(control.take_output().text, "x");
        control.wait_for_stop_request().await;
        control.wait_for_end().await;
        assert_eq!(control.end_status().as_deref(), Some("exit 0"));
        task.await.unwrap();
    }
}
