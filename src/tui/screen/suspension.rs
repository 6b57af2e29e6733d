//! Job control: suspends the program and takes the terminal again.

use super::Screen;
use super::urgency::Urgency;
use crate::tui::event::Event;
use crate::tui::input::Input;
use crate::tui::input::parse::Parser;
use std::io;

impl Screen {
    /// Suspends the program as the terminal's suspend key does, and continues when the shell resumes it.
    pub(super) async fn suspend_program(&mut self) -> io::Result<()> {
        self.input = None;
        self.terminal.release();
        // SIGSTOP cannot be ignored; the whole process group stops, as with the terminal's own key.
        rustix::process::kill_current_process_group(rustix::process::Signal::STOP)?;
        // The stop may happen shortly after the call; only SIGCONT shows that it is over.
        self.signals.resume.recv().await;
        self.retake_terminal()
    }

    /// Takes the terminal again after another program had it, and requests a complete frame.
    pub(super) fn retake_terminal(&mut self) -> io::Result<()> {
        self.terminal.retake()?;
        // A key meant for another program must not answer a prompt: after `Focused` it accepts no answer for a while.
        self.handle_event(Event::Tick(self.started_at.elapsed()));
        self.handle_event(Event::Focused(true));
        self.input = Some(Input::start(self.event_sender.clone(), Parser::default())?);
        self.state.lookups.pictures.drop_stored();
        self.canvas.invalidate();
        self.update_size();
        self.urgency = Urgency::Now;
        self.last_frame = None;
        Ok(())
    }
}
