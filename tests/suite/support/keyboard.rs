//! Key presses of a user, and waiting for the screen.

use super::program::Program;
use rustix::fs::{Mode, OFlags};
use std::io::Write;
use std::time::{Duration, Instant};

/// How long anything may take on a busy machine.
pub const PATIENCE: Duration = Duration::from_secs(120);
/// Minimum time between keys; keys that come faster count as a paste.
const NEXT_KEY: Duration = Duration::from_millis(15);
/// Time before and after Enter. In a paste, Enter would be a line break, and a busy machine may read earlier keys some
/// milliseconds late.
const AROUND_ENTER: Duration = Duration::from_millis(40);
/// A key that follows Esc sooner is read as one escape sequence with it.
const AFTER_ESC: Duration = Duration::from_millis(70);

impl Program {
    /// Presses a key, or sends a sequence that a terminal sends at once, as a user does: after the previous keys were
    /// read, with a pause.
    pub fn keys(&mut self, keys: &str) {
        if let Some((_, gap)) = &mut self.typed
            && keys.starts_with('\r')
        {
            *gap = AROUND_ENTER.max(*gap);
        }
        self.wait_until_read();
        self.send_bytes(keys);
        let gap = match keys.chars().last() {
            Some('\x1b') => AFTER_ESC,
            Some('\r') => AROUND_ENTER,
            _ => NEXT_KEY,
        };
        self.typed = Some((Instant::now(), gap));
    }

    /// Types text as a user does, with a pause between keys.
    pub fn types(&mut self, text: &str) {
        for key in text.chars() {
            self.keys(key.encode_utf8(&mut [0; 4]));
        }
    }

    /// Sends these bytes at once, without waiting.
    pub fn send_bytes(&mut self, bytes: &str) {
        if let Some(writer) = &mut self.writer {
            // A terminal whose program has ended accepts no keys.
            let _ = writer.write_all(bytes.as_bytes());
            let _ = writer.flush();
        }
    }

    /// Waits until the program has read the previous keys, and for the pause after them. Gives up after some seconds.
    fn wait_until_read(&mut self) {
        let Some((mut at, gap)) = self.typed.take() else { return };
        let end = at + Duration::from_secs(5);
        while self.unread() > 0 && Instant::now() < end {
            std::thread::sleep(Duration::from_millis(1));
            at = Instant::now();
        }
        std::thread::sleep((at + gap).saturating_duration_since(Instant::now()));
    }

    /// The number of bytes in the terminal that the program has not read.
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

    /// Waits until all of these texts are on the screen together.
    pub fn until_all(&mut self, texts: &[&str]) -> String {
        self.wait(&texts.join(" and "), |_, screen| texts.iter().all(|text| screen.contains(text)))
    }

    /// Waits until the text is on the screen and the open prompt takes an answer.
    pub fn until_asked(&mut self, text: &str) -> String {
        self.wait(&format!("an active prompt and {text}"), |cells, screen| {
            screen.contains(text) && is_prompt_active(cells)
        })
    }

    /// Waits until the text is on the screen and the program is idle, which the mode at the start of the status line
    /// shows.
    pub fn until_quiet(&mut self, text: &str) -> String {
        self.wait(&format!("the end of the turn and {text}"), |_, screen| {
            screen.contains(text) && screen.lines().last().is_some_and(|foot| foot.trim().starts_with("ask mode"))
        })
    }

    /// Waits until the text is on the screen as a link, because its target was found.
    pub fn until_linked(&mut self, text: &str) -> String {
        let is_linked = |cells: &vt100::Screen, screen: &str| {
            screen.lines().zip(0..).any(|(line, row)| {
                let from = line.find(text).map(|at| line[..at].chars().count());
                from.is_some_and(|from| cells.cell(row, from as u16).is_some_and(vt100::Cell::underline))
            })
        };
        self.wait(&format!("{text} as a link"), is_linked)
    }

    /// Presses a key repeatedly until the text is on the screen. Nothing on the screen shows when the key is accepted
    /// again.
    pub fn press_until(&mut self, key: &str, text: &str) {
        self.until_that(&format!("{key:?} makes {text}"), |program| {
            if !program.screen().contains(text) {
                program.keys(key);
                program.wait_ms(600);
            }
            program.screen().contains(text)
        });
    }

    /// Waits until the text is no longer on the screen.
    pub fn until_gone(&mut self, text: &str) -> String {
        self.wait(&format!("the end of {text}"), |_, screen| !screen.contains(text))
    }

    /// Waits until the program is stopped and the terminal is restored.
    pub fn until_suspended(&mut self) {
        let stat = format!("/proc/{}/stat", self.pid());
        self.until_that("the program is stopped", |program| {
            std::fs::read_to_string(&stat).unwrap().contains(") T ") && program.is_restored()
        });
    }

    /// Returns whether the open prompt takes an answer now.
    pub fn is_asked(&mut self) -> bool {
        self.take_in();
        is_prompt_active(self.parser.screen())
    }

    /// Waits until this condition holds for the program or its files.
    pub fn until_that(&mut self, what: &str, mut holds: impl FnMut(&mut Self) -> bool) {
        let end = Instant::now() + PATIENCE;
        // A terminal shows a synchronized frame at once.
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
            // A terminal shows a synchronized frame at once.
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

    /// Returns whether the last synchronized frame is incomplete.
    fn is_in_a_frame(&self) -> bool {
        let output = self.output.0.lock().unwrap();
        let seen = &output.bytes[self.read.saturating_sub(1 << 18)..self.read];
        let last = |mark: &[u8]| seen.windows(mark.len()).rposition(|window| window == mark);
        !output.ended && last(b"\x1b[?2026h") > last(b"\x1b[?2026l")
    }
}

/// Returns whether the prompt on the screen takes an answer: its border is then brighter than the line below the head.
fn is_prompt_active(screen: &vt100::Screen) -> bool {
    let first = |row: u16| screen.cell(row, 0).expect("a screen has cells");
    let color = |row: u16| (first(row).fgcolor(), first(row).dim());
    let top = (0..screen.size().0.get()).rev().find(|row| ["╭", "┏"].contains(&first(*row).contents()));
    top.is_some_and(|top| {
        assert_eq!(first(1).contents(), "─", "there is no rule to compare the border with");
        color(top) != color(1)
    })
}
