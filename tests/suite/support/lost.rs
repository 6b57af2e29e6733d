//! A terminal that goes away, and one that goes dead.

use super::program::Program;
use rustix::fs::{Mode, OFlags};
use rustix::termios::{OptionalActions, SpecialCodeIndex, tcgetattr, tcsetattr};

impl Program {
    /// Takes the terminal away, as a dropped connection does.
    pub fn lose_terminal(&mut self) {
        self.output.0.lock().unwrap().lost = true;
        // What is drawn anew wakes the reader, which holds the terminal too.
        self.resize(70, 20);
        self.presses_nothing_at_the_end();
        self.writer = None;
        self.master = None;
    }

    /// What writes to the terminal presses Enter and the terminal's own key for the end of a file as it is let go,
    /// which is Ctrl-D, and quits. A connection that is dropped presses nothing: there is no such key then.
    fn presses_nothing_at_the_end(&self) {
        let name = self.master.as_ref().and_then(|master| master.tty_name()).expect("the terminal has a name");
        let flags = OFlags::RDWR | OFlags::NOCTTY | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let terminal = rustix::fs::open(name, flags, Mode::empty()).unwrap();
        let mut modes = tcgetattr(&terminal).unwrap();
        modes.special_codes[SpecialCodeIndex::VEOF] = 0;
        tcsetattr(&terminal, OptionalActions::Now, &modes).unwrap();
    }

    /// Reads nothing any more of what the program writes, as a line that went dead.
    pub fn stops_reading(&mut self) {
        self.output.0.lock().unwrap().stuck = true;
    }
}
