//! Before the first picture: what the terminal says of its colours, and what was typed already, of which nothing is lost.

use super::parse::Sent;
use super::{burst, read};
use crate::tui::event::Event;
use crate::tui::terminal;
use crate::tui::theme::told::is_light;
use crossterm::event::KeyCode;
use crossterm::terminal::{disable_raw_mode, enable_raw_mode};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::io;
use std::os::fd::AsFd;
use std::time::{Duration, Instant};

/// Asks for the colour of letters, that of the ground, and what every terminal answers: where only that comes, the
/// colours are not told. A terminal ends its answer as the question ends, and all know this end.
const QUESTION: &[u8] = b"\x1b]10;?\x07\x1b]11;?\x07\x1b[c";

/// More than a hand types and a terminal holds: whoever sends this much goes on sending, and is read by the thread.
const HELD: usize = 64 * 1024;

/// What came of asking the terminal.
#[derive(Debug, Default)]
pub struct Early {
    /// Whether it is light; nothing where it does not say.
    pub light: Option<bool>,
    /// All that came meanwhile, what the person typed among it, as it came.
    pub(in crate::tui) bytes: Vec<u8>,
    /// From the question on the terminal hands over every key as it is: it must not edit lines in between.
    pub(in crate::tui) raw: Raw,
}

/// Whether the terminal's lines are off; they come back when this goes.
#[derive(Debug, Default)]
pub(in crate::tui) struct Raw(bool);

impl Raw {
    /// Somebody else sees to that now.
    pub(in crate::tui) fn handed_on(&mut self) {
        self.0 = false;
    }
}

impl Drop for Raw {
    fn drop(&mut self) {
        if self.0 {
            // What goes wrong here is nobody's: the terminal may be gone.
            let _ = disable_raw_mode();
        }
    }
}

/// Asks the terminal for its colours and waits for the answer, no longer than `patience`. `term` is what `$TERM` says.
pub fn ask(patience: Duration, term: Option<&str>) -> Early {
    let mut early = Early::default();
    if !term.is_some_and(answers) || enable_raw_mode().is_err() {
        return early;
    }
    early.raw = Raw(true);
    if terminal::write(QUESTION).is_ok() {
        let end = Instant::now() + patience;
        while !has_answered(&early.bytes) && has_input(end.saturating_duration_since(Instant::now())) {
            match read() {
                Ok(bytes) if bytes.is_empty() => break,
                Ok(bytes) => early.bytes.extend(bytes),
                Err(rustix::io::Errno::INTR | rustix::io::Errno::AGAIN) => {}
                Err(_) => break,
            }
        }
    }
    early.light = told(&early.bytes);
    early
}

/// What the terminal holds that nobody has read yet.
pub fn held() -> Vec<u8> {
    let mut held = Vec::new();
    while held.len() < HELD && has_input(Duration::ZERO) {
        match read() {
            Ok(bytes) if !bytes.is_empty() => held.extend(bytes),
            // Whoever reads next finds the same, and tells it.
            Ok(_) | Err(_) => break,
        }
    }
    held
}

/// What was done before the first picture: letters are words for the composer, with an Enter as the end of a line, so that
/// none of them sends or answers what nobody has seen. Every other key is itself.
pub fn events(sent: Vec<Sent>) -> Vec<Event> {
    let (mut events, mut words) = (Vec::new(), String::new());
    for one in sent {
        if let Sent::Key(key) = &one
            && key.code != KeyCode::Tab
            && let Some(letter) = burst::letter(key)
        {
            words.push(letter);
            continue;
        }
        if !words.is_empty() {
            events.push(Event::Early(std::mem::take(&mut words)));
        }
        events.push(Event::from(one));
    }
    if !words.is_empty() {
        events.push(Event::Early(words));
    }
    events
}

/// Whether a terminal of this name answers: `screen` passes the question on and answers the rest before it.
fn answers(term: &str) -> bool {
    !matches!(term, "" | "dumb" | "Eterm" | "screen") && !term.starts_with("screen.")
}

/// Whether the answer that comes last is there.
fn has_answered(bytes: &[u8]) -> bool {
    let last = |from: &[u8]| {
        from.strip_prefix(b"\x1b[?").is_some_and(|rest| {
            let inner = rest.iter().take_while(|byte| byte.is_ascii_digit() || **byte == b';').count();
            rest.get(inner) == Some(&b'c')
        })
    };
    (0..bytes.len()).any(|at| last(&bytes[at..]))
}

/// Whether the terminal says that it is light.
fn told(bytes: &[u8]) -> Option<bool> {
    let colour = |mark: &[u8]| {
        let at = bytes.windows(mark.len()).position(|window| window == mark)? + mark.len();
        let length = bytes[at..].iter().position(|byte| matches!(byte, 0x07 | 0x1b))?;
        std::str::from_utf8(&bytes[at..at + length]).ok()
    };
    is_light(colour(b"\x1b]11;")?, colour(b"\x1b]10;"))
}

/// Whether there is something to read within this time.
fn has_input(patience: Duration) -> bool {
    let end = Instant::now() + patience;
    loop {
        let stdin = io::stdin();
        let mut fds = [PollFd::from_borrowed_fd(stdin.as_fd(), PollFlags::IN)];
        let left = end.saturating_duration_since(Instant::now());
        match poll(&mut fds, Timespec::try_from(left).ok().as_ref()) {
            Err(rustix::io::Errno::INTR) => {}
            Ok(count) => return count > 0 && fds[0].revents() == PollFlags::IN,
            Err(_) => return false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::parse::Parser;
    use super::*;

    fn words(bytes: &str) -> Vec<String> {
        let word = |event| match event {
            Event::Early(text) => format!("{text:?}"),
            Event::Key(key) => key.code.to_string(),
            Event::Pasted(text) => format!("paste {text:?}"),
            _ => "other".to_owned(),
        };
        events(Parser::default().feed(bytes.as_bytes())).into_iter().map(word).collect()
    }

    #[test]
    fn r03_no_letter_of_what_came_before_the_picture_is_a_key() {
        assert_eq!(words("y"), [r#""y""#]);
        assert_eq!(words("\r"), [r#""\n""#]);
        assert_eq!(words("fix it\rand é\n"), [r#""fix it\nand é\n""#]);
        assert_eq!(
            words("ab\x7fc\x1b[200~p\rq\x1b[201~\td"),
            [r#""ab""#, "Backspace", r#""c""#, r#"paste "p\nq""#, "Tab", r#""d""#]
        );
    }

    #[test]
    fn answers_are_no_words_wherever_they_stand() {
        let answer = "he\x1b]10;rgb:d0d0/d0d0/d0d0\x1b\\l\x1b]11;rgb:1616/1818/1c1c\x07lo\x1b[?62;22c!";
        assert_eq!(words(answer), [r#""hello!""#]);
        assert_eq!(told(answer.as_bytes()), Some(false));
        assert!(
            has_answered(answer.as_bytes()) && !has_answered(b"c\x1b[?62;2") && !has_answered(b"\x1b[A?c")
        );
    }

    #[test]
    fn light_or_dark_is_told_by_the_ground_and_in_doubt_by_the_letters() {
        let told = |answer: &str| told(answer.as_bytes());
        assert_eq!(told("\x1b]11;rgb:ffff/fafa/f0f0\x07\x1b[?1c"), Some(true));
        assert_eq!(told("\x1b]10;rgb:a/a/a\x07\x1b]11;rgb:8/8/8\x07"), Some(false));
        assert_eq!(told("\x1b]10;rgb:00/00/00\x07\x1b]11;rgb:70/70/70\x07"), Some(true));
        assert_eq!(told("\x1b]11;rgba:ffff/ffff/ffff/8000\x1b\\"), Some(true));
        for nothing in ["", "\x1b[?62c", "\x1b]11;?\x07", "\x1b]11;rgb:ffff/ff", "\x1b]11;rgb:x/y/z\x07"] {
            assert_eq!(told(nothing), None, "{nothing:?}");
        }
    }

    #[test]
    fn a_terminal_that_would_answer_in_another_order_is_not_asked() {
        assert!(answers("xterm-256color") && answers("screenlike") && answers("tmux-256color"));
        assert!(!["", "dumb", "screen", "screen.xterm-256color", "Eterm"].into_iter().any(answers));
    }
}
