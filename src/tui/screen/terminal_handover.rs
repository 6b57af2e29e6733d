//! Hands the terminal to the user's running command, and takes it back.

use super::{HANGUP, Screen};
use crate::text::{clean, width};
use crate::tui::host::ForwardEnd;
use crate::tui::terminal;
use futures::FutureExt;
use std::io;

/// Maximum columns of the command in the line above its output.
const MAX_COMMAND_COLUMNS: usize = 40;

impl Screen {
    /// Forwards the bytes of the running command and of the terminal to each other until the command ends or the user
    /// takes the terminal back.
    pub(super) fn attach_terminal(&mut self) -> io::Result<()> {
        let Some(running) = self.state.agent.user_command() else { return Ok(()) };
        let command = clean::clean_line(&running.command).into_owned();
        let command = width::fit_start(&command, MAX_COMMAND_COLUMNS);
        let heading = format!("\r\n! {command} · ctrl-\\ returns to aye\r\n");
        self.input = None;
        if self.terminal.lend().is_err() {
            self.end_by_signal(HANGUP);
            return Ok(());
        }
        let [(terminate, sigterm), (hangup, sighup), ..] = &mut self.signals.ending.0;
        let mut exit_signal = None;
        let mut is_stopped = || {
            exit_signal = match (terminate.recv().now_or_never(), hangup.recv().now_or_never()) {
                (Some(_), _) => Some(*sigterm),
                (None, Some(_)) => Some(*sighup),
                (None, None) => None,
            };
            exit_signal.is_some()
        };
        let end = tokio::task::block_in_place(|| match terminal::write_bytes(heading.as_bytes()) {
            Ok(()) => (self.link.forward)(&mut is_stopped),
            Err(_) => ForwardEnd::TerminalLost,
        });
        match end {
            ForwardEnd::TerminalLost => self.end_by_signal(HANGUP),
            ForwardEnd::Stopped => self.end_by_signal(exit_signal.unwrap_or(HANGUP)),
            ForwardEnd::Returned => {
                self.signals.discard_key_signals();
                // The command may have changed the title, so it is set again.
                self.state.viewport.window_title.clear();
                self.retake_terminal()?;
            }
        }
        Ok(())
    }
}
