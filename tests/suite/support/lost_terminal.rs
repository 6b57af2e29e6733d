//! A terminal that disconnects, and one that stops reading.

use super::program::Program;
use rustix::fs::{Mode, OFlags};
use rustix::termios::{OptionalActions, SpecialCodeIndex, tcgetattr, tcsetattr};

impl Program {
    /// Disconnects the terminal, as a dropped connection does.
    pub fn lose_terminal(&mut self) {
        self.output.0.lock().unwrap().is_disconnecting = true;
        // Drawing again wakes the reader thread, which holds the terminal too.
        self.resize(70, 20);
        self.disable_eof_key();
        self.writer = None;
        self.master = None;
    }

    /// Disables the end-of-file key of the terminal. When the writer is dropped it sends Enter and that key, usually
    /// Ctrl-D, which would quit the program; a dropped connection sends nothing.
    fn disable_eof_key(&self) {
        let name = self.master.as_ref().and_then(|master| master.tty_name()).expect("the terminal has a name");
        let flags = OFlags::RDWR | OFlags::NOCTTY | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let terminal = rustix::fs::open(name, flags, Mode::empty()).unwrap();
        let mut modes = tcgetattr(&terminal).unwrap();
        modes.special_codes[SpecialCodeIndex::VEOF] = 0;
        tcsetattr(&terminal, OptionalActions::Now, &modes).unwrap();
    }

    /// Stops reading the program's output, as a dead connection does.
    pub fn stop_reading(&mut self) {
        self.output.0.lock().unwrap().is_paused = true;
    }
}
