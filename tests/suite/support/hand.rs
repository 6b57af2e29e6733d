//! What a hand at the keyboard does, and what eyes at the screen wait for.

use super::program::Program;
use rustix::fs::{Mode, OFlags};
use std::io::Write;
use std::time::{Duration, Instant};

/// How long anything may take to appear, on a machine that is busy with much else.
pub const PATIENCE: Duration = Duration::from_secs(120);
/// No hand presses the next key sooner, and what comes sooner is taken for a paste.
const NEXT_KEY: Duration = Duration::from_millis(15);
/// Between an Enter and its neighbours: in a paste it would break the line, and a busy machine may be late by some
/// milliseconds in reading what came before.
const AROUND_ENTER: Duration = Duration::from_millis(40);
/// What comes sooner behind an Esc is taken for the rest of another key.
const AFTER_ESC: Duration = Duration::from_millis(70);

impl Program {
    /// Presses a key, or sends what a terminal sends at once, as a hand does: when what was pressed before has been
    /// read, and not on its heels.
    pub fn keys(&mut self, keys: &str) {
        if let Some((_, gap)) = &mut self.typed
            && keys.starts_with('\r')
        {
            *gap = AROUND_ENTER.max(*gap);
        }
        self.is_heard();
        self.sends(keys);
        let gap = match keys.chars().last() {
            Some('\x1b') => AFTER_ESC,
            Some('\r') => AROUND_ENTER,
            _ => NEXT_KEY,
        };
        self.typed = Some((Instant::now(), gap));
    }

    /// Types the way a person does: one key, a moment, the next.
    pub fn types(&mut self, text: &str) {
        for key in text.chars() {
            self.keys(key.encode_utf8(&mut [0; 4]));
        }
    }

    /// Sends these bytes at once, whatever was sent before.
    pub fn sends(&mut self, bytes: &str) {
        if let Some(writer) = &mut self.writer {
            // A terminal whose program has ended takes no more keys.
            let _ = writer.write_all(bytes.as_bytes());
            let _ = writer.flush();
        }
    }

    /// Waits until the program has read what was typed, and a moment more. One that does not read is not waited for
    /// very long.
    fn is_heard(&mut self) {
        let Some((mut at, gap)) = self.typed.take() else { return };
        let end = at + Duration::from_secs(5);
        while self.unread() > 0 && Instant::now() < end {
            std::thread::sleep(Duration::from_millis(1));
            at = Instant::now();
        }
        std::thread::sleep((at + gap).saturating_duration_since(Instant::now()));
    }

    /// How many bytes wait in the terminal for whoever reads it.
    fn unread(&self) -> u64 {
        let Some(name) = self.master.as_ref().and_then(|master| master.tty_name()) else { return 0 };
        let flags = OFlags::RDONLY | OFlags::NOCTTY | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let opened = rustix::fs::open(name, flags, Mode::empty());
        opened.and_then(rustix::io::ioctl_fionread).unwrap_or(0)
    }

    /// Waits until the text is on the screen.
    pub fn until(&mut self, text: &str) -> String {
        self.wait(text, |_, screen| screen.contains(text))
    }

    /// Waits until all of these are on the screen together.
    pub fn until_all(&mut self, texts: &[&str]) -> String {
        self.wait(&texts.join(" and "), |_, screen| texts.iter().all(|text| screen.contains(text)))
    }

    /// Waits until the text is on the screen and the card there takes a key as an answer.
    pub fn until_asked(&mut self, text: &str) -> String {
        self.wait(&format!("a card that listens, and {text}"), |cells, screen| screen.contains(text) && listens(cells))
    }

    /// Waits until the text is on the screen and nothing runs or waits any more: the foot begins with the mode.
    pub fn until_quiet(&mut self, text: &str) -> String {
        self.wait(&format!("the end of the turn, and {text}"), |_, screen| {
            screen.contains(text) && screen.lines().last().is_some_and(|foot| foot.trim().starts_with("ask mode"))
        })
    }

    /// Waits until the text is on the screen and looks like a link: what it names was found.
    pub fn until_linked(&mut self, text: &str) -> String {
        let is_linked = |cells: &vt100::Screen, screen: &str| {
            screen.lines().zip(0..).any(|(line, row)| {
                let from = line.find(text).map(|at| line[..at].chars().count());
                from.is_some_and(|from| cells.cell(row, from as u16).is_some_and(vt100::Cell::underline))
            })
        };
        self.wait(&format!("{text} as a link"), is_linked)
    }

    /// Presses a key until the text is on the screen: nothing shows when the same key is an answer again.
    pub fn insists(&mut self, key: &str, text: &str) {
        self.until_that(&format!("{key:?} makes {text}"), |program| {
            if !program.screen().contains(text) {
                program.keys(key);
                program.lets_pass(600);
            }
            program.screen().contains(text)
        });
    }

    /// Waits until the text is not on the screen any more.
    pub fn until_gone(&mut self, text: &str) -> String {
        self.wait(&format!("the end of {text}"), |_, screen| !screen.contains(text))
    }

    /// Waits until the program is stopped and has given the terminal back.
    pub fn until_suspended(&mut self) {
        let stat = format!("/proc/{}/stat", self.pid());
        self.until_that("it stops as any program does", |program| {
            std::fs::read_to_string(&stat).unwrap().contains(") T ") && program.is_restored()
        });
    }

    /// Whether the card that is open takes a key as an answer now.
    pub fn is_asked(&mut self) -> bool {
        self.take_in();
        listens(self.parser.screen())
    }

    /// Waits until this holds, of the program or of what it leaves behind.
    pub fn until_that(&mut self, what: &str, mut holds: impl FnMut(&mut Self) -> bool) {
        let end = Instant::now() + PATIENCE;
        // A terminal shows a frame that is marked as one at once.
        while self.is_in_a_frame() || !holds(self) {
            let screen = self.screen();
            assert!(Instant::now() < end, "{what}: that never came:\n{screen}");
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    fn wait(&mut self, what: &str, holds: impl Fn(&vt100::Screen, &str) -> bool) -> String {
        let end = Instant::now() + PATIENCE;
        loop {
            let screen = self.screen();
            // A terminal shows a frame that is marked as one at once.
            if holds(self.parser.screen(), &screen) && !self.is_in_a_frame() {
                return screen;
            }
            let output = self.output.0.lock().unwrap();
            let (ended, more) = (output.ended, output.bytes.len() > self.read);
            if !ended && !more {
                let _ = self.output.1.wait_timeout(output, Duration::from_millis(50)).unwrap();
            } else {
                drop(output);
            }
            assert!(!ended || more, "the program ended before {what:?} was on its screen:\n{screen}");
            assert!(Instant::now() < end, "{what:?} never was on the screen:\n{screen}");
        }
    }

    /// Whether the last frame that was marked as one has not come to its end.
    fn is_in_a_frame(&self) -> bool {
        let output = self.output.0.lock().unwrap();
        let seen = &output.bytes[self.read.saturating_sub(1 << 18)..self.read];
        let last = |mark: &[u8]| seen.windows(mark.len()).rposition(|window| window == mark);
        !output.ended && last(b"\x1b[?2026h") > last(b"\x1b[?2026l")
    }
}

/// Whether the card on the screen takes a key as an answer: its border is not as dim as the rule below the head.
fn listens(screen: &vt100::Screen) -> bool {
    let first = |row: u16| screen.cell(row, 0).expect("a screen has cells");
    let look = |row: u16| (first(row).fgcolor(), first(row).dim());
    let card = (0..screen.size().0.get()).rev().find(|row| ["╭", "┏"].contains(&first(*row).contents()));
    card.is_some_and(|card| {
        assert_eq!(first(1).contents(), "─", "there is no rule to compare the border with");
        look(card) != look(1)
    })
}
