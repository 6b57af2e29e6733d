//! Job control: suspends the program and takes the terminal again.

use super::Screen;
use super::due::Due;
use crate::tui::event::Event;
use crate::tui::input::Input;
use crate::tui::input::parse::Parser;
use std::io;

impl Screen {
    /// Suspends the program as the shell does, and continues when it is resumed.
    pub(super) async fn suspend(&mut self) -> io::Result<()> {
        self.input = None;
        self.terminal.leave();
        // SIGSTOP cannot be ignored; the whole process group stops, as with the terminal's own key.
        rustix::process::kill_current_process_group(rustix::process::Signal::STOP)?;
        // The stop may happen shortly after the call; only SIGCONT shows that it is over.
        self.signals.goes_on.recv().await;
        self.take_again()
    }

    pub(super) fn take_again(&mut self) -> io::Result<()> {
        self.terminal.enter()?;
        // A key meant for another program must not answer a prompt.
        self.take(Event::Tick(self.began.elapsed()));
        self.take(Event::Focused(true));
        self.input = Some(Input::start(self.back.clone(), Parser::default())?);
        self.canvas.forget();
        self.resize();
        self.due = Due::Now;
        self.drawn = None;
        Ok(())
    }
}
