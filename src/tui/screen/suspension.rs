//! Stopping with the job of the shell, and taking the terminal again.

use super::Screen;
use super::due::Due;
use crate::tui::event::Event;
use crate::tui::input::Input;
use crate::tui::input::parse::Parser;
use std::io;

impl Screen {
    /// Stops as the shell asks for it, and goes on when it is told to.
    pub(super) async fn suspend(&mut self) -> io::Result<()> {
        self.input = None;
        self.terminal.leave();
        // The one stop nobody can refuse; the whole job stops, as with the terminal's own key.
        rustix::process::kill_current_process_group(rustix::process::Signal::STOP)?;
        // The stop may come a moment after the call; only going on says that it is over.
        self.signals.goes_on.recv().await;
        self.take_again()
    }

    pub(super) fn take_again(&mut self) -> io::Result<()> {
        self.terminal.enter()?;
        // A key that was meant for another program answers nothing here.
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
