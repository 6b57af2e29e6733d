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
    pub fn press_keys(&mut self, keys: &str) {
        if let Some((_, gap)) = &mut self.last_press
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
        self.last_press = Some((Instant::now(), gap));
    }

    /// Types text as a user does, with a pause between keys.
    pub fn type_text(&mut self, text: &str) {
        for key in text.chars() {
            self.press_keys(key.encode_utf8(&mut [0; 4]));
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

    /// Waits until the program has read and handled the previous keys, and for the pause after them. Gives up after some
    /// seconds.
    fn wait_until_read(&mut self) {
        let Some((mut last_read, gap)) = self.last_press.take() else { return };
        let deadline = last_read + Duration::from_secs(5);
        while (self.unread_bytes() > 0 || self.is_reading()) && Instant::now() < deadline {
            std::thread::sleep(Duration::from_millis(1));
            last_read = Instant::now();
        }
        // The program holds a key back until it knows that no paste follows. On a busy machine it may begin to do so late.
        let last_handled = self.wait_until_screen_rests(deadline);
        let next_press = (last_read + gap).max(last_handled + NEXT_KEY);
        std::thread::sleep(next_press.saturating_duration_since(Instant::now()));
        // The pause may be over before the thread that reads keys got a processor to notice the end of its own.
        while self.is_reading() && Instant::now() < deadline {
            std::thread::sleep(Duration::from_millis(1));
        }
        self.wait_until_screen_rests(deadline);
    }

    /// Returns whether the program's thread that reads keys is running. The thread reads the clock only after it has
    /// read a key: if the next key is sent before that, both keys may seem to come at the same time.
    fn is_reading(&self) -> bool {
        let threads = std::fs::read_dir(format!("/proc/{}/task", self.pid())).into_iter().flatten().flatten();
        let is_reader = |thread: &std::path::Path| {
            std::fs::read_to_string(thread.join("comm")).is_ok_and(|name| name == "keyboard\n")
        };
        threads.map(|thread| thread.path()).any(|thread| is_reader(&thread) && is_busy(&thread))
    }

    /// Waits until the program's first thread, which handles events and draws, waits for something.
    fn wait_until_screen_rests(&self, deadline: Instant) -> Instant {
        let thread = format!("/proc/{0}/task/{0}", self.pid());
        while is_busy(thread.as_ref()) && Instant::now() < deadline {
            std::thread::sleep(Duration::from_millis(1));
        }
        Instant::now()
    }

    /// Waits until no thread of the program has anything left to do, at two moments in a row: what one thread has sent
    /// to another has then been handled.
    pub fn until_all_threads_rest(&mut self) {
        let tasks = format!("/proc/{}/task", self.pid());
        let mut rests = 0;
        self.until_condition("all threads rest", |_| {
            let threads = std::fs::read_dir(&tasks).into_iter().flatten().flatten();
            let is_any_busy = threads.map(|thread| thread.path()).any(|thread| is_busy(&thread));
            rests = if is_any_busy { 0 } else { rests + 1 };
            rests == 2
        });
    }

    /// The number of bytes in the terminal that the program has not read.
    fn unread_bytes(&self) -> u64 {
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
    pub fn until_prompt(&mut self, text: &str) -> String {
        self.wait(&format!("an active prompt and {text}"), |cells, screen| {
            screen.contains(text) && is_prompt_active(cells)
        })
    }

    /// Waits until the text is on the screen and the program is idle, which the mode at the start of the status line
    /// shows.
    pub fn until_idle(&mut self, text: &str) -> String {
        self.wait(&format!("the end of the turn and {text}"), |_, screen| {
            screen.contains(text)
                && screen.lines().last().is_some_and(|status_line| status_line.trim().starts_with("ask mode"))
        })
    }

    /// Waits until the text is on the screen as a link, because its target was found.
    pub fn until_linked(&mut self, text: &str) -> String {
        let is_linked = |cells: &vt100::Screen, screen: &str| {
            screen.lines().zip(0..).any(|(line, row)| {
                let column = line.find(text).map(|offset| line[..offset].chars().count());
                column.is_some_and(|column| cells.cell(row, column as u16).is_some_and(vt100::Cell::underline))
            })
        };
        self.wait(&format!("{text} as a link"), is_linked)
    }

    /// Presses a key until the text is on the screen. The key is pressed again only if the program can have ignored it:
    /// once the prompt that was open is gone, it would be typed into the message or answer the next prompt.
    pub fn press_until(&mut self, key: &str, text: &str) {
        let is_letter = matches!(key.as_bytes(), [key] if key.is_ascii_graphic());
        let mut pressed_at = None;
        self.until_condition(&format!("{key:?} makes {text}"), |program| {
            if !program.screen().contains(text) {
                let cells = program.parser.screen();
                let prompt = prompt_row(cells).map(|row| row_text(cells, row));
                let is_ready = match prompt {
                    Some(_) => !is_letter || !has_head(cells) || is_prompt_active(cells),
                    None => !is_letter || cells.hide_cursor(),
                };
                if is_ready && pressed_at.as_ref().is_none_or(|earlier| *earlier == prompt) {
                    program.press_keys(key);
                    program.wait_ms(600);
                    pressed_at = Some(prompt);
                }
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
        self.until_condition("the program is stopped", |program| {
            std::fs::read_to_string(&stat).unwrap().contains(") T ") && program.is_restored()
        });
    }

    /// Returns whether the open prompt takes an answer now.
    pub fn has_active_prompt(&mut self) -> bool {
        self.process_output();
        is_prompt_active(self.parser.screen())
    }

    /// Waits until this condition holds for the program or its files.
    pub fn until_condition(&mut self, description: &str, mut condition: impl FnMut(&mut Self) -> bool) {
        let deadline = Instant::now() + PATIENCE;
        // A terminal shows a synchronized frame at once.
        while self.is_frame_incomplete() || !condition(self) || self.is_frame_incomplete() {
            let screen = self.screen();
            assert!(Instant::now() < deadline, "{description}: that never came:\n{screen}");
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    fn wait(&mut self, description: &str, condition: impl Fn(&vt100::Screen, &str) -> bool) -> String {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let screen = self.screen();
            // A terminal shows a synchronized frame at once.
            if condition(self.parser.screen(), &screen) && !self.is_frame_incomplete() {
                return screen;
            }
            let output = self.output.0.lock().unwrap();
            let (has_ended, has_more) = (output.has_ended, output.bytes.len() > self.read_count);
            if !has_ended && !has_more {
                let _ = self.output.1.wait_timeout(output, Duration::from_millis(50)).unwrap();
            } else {
                drop(output);
            }
            assert!(!has_ended || has_more, "the program ended before {description:?} was on its screen:\n{screen}");
            assert!(Instant::now() < deadline, "{description:?} never was on the screen:\n{screen}");
        }
    }

    /// Returns whether the last synchronized frame is incomplete.
    fn is_frame_incomplete(&self) -> bool {
        let output = self.output.0.lock().unwrap();
        let recent = &output.bytes[self.read_count.saturating_sub(1 << 18)..self.read_count];
        let last_position = |sequence: &[u8]| recent.windows(sequence.len()).rposition(|window| window == sequence);
        !output.has_ended && last_position(b"\x1b[?2026h") > last_position(b"\x1b[?2026l")
    }
}

/// Returns whether a thread runs, waits for a processor or waits for a disk.
fn is_busy(thread: &std::path::Path) -> bool {
    let stat = std::fs::read_to_string(thread.join("stat"));
    stat.is_ok_and(|stat| [") R ", ") D "].iter().any(|state| stat.contains(state)))
}

/// Returns whether the prompt on the screen takes an answer: its border is then brighter than the line below the head.
fn is_prompt_active(screen: &vt100::Screen) -> bool {
    let first_cell = |row: u16| screen.cell(row, 0).expect("a screen has cells");
    let color = |row: u16| (first_cell(row).fgcolor(), first_cell(row).dim());
    prompt_row(screen).is_some_and(|top| {
        assert!(has_head(screen), "there is no line below the head to compare the border with");
        color(top) != color(1)
    })
}

/// Returns whether there is a line below the head. A list that fills a small screen covers it.
fn has_head(screen: &vt100::Screen) -> bool {
    screen.cell(1, 0).is_some_and(|cell| cell.contents() == "─")
}

/// The row with the title of the open prompt.
fn prompt_row(screen: &vt100::Screen) -> Option<u16> {
    let starts_prompt = |row: &u16| screen.cell(*row, 0).is_some_and(|cell| ["╭", "┏"].contains(&cell.contents()));
    (0..screen.size().0.get()).rev().find(starts_prompt)
}

/// The text of a row of the screen.
fn row_text(screen: &vt100::Screen, row: u16) -> String {
    let cells = (0..screen.size().1.get()).filter_map(|column| screen.cell(row, column));
    cells.map(vt100::Cell::contents).collect()
}
