//! Startup of the terminal: queries its colours and its support of pictures, and keeps everything typed before the first frame.

use super::{paste_detector, poll_until, read_stdin};
use crate::tui::event::Event;
use crate::tui::graphics::answers::{self, PictureSupport};
use crate::tui::terminal;
use crate::tui::theme::terminal_background::is_light;
use crossterm::event::{Event as TerminalInput, KeyCode};
use crossterm::terminal::{disable_raw_mode, enable_raw_mode};
use memchr::memmem;
use rustix::event::{PollFd, PollFlags};
use std::io;
use std::os::fd::AsFd;
use std::time::{Duration, Instant};

/// Queries the text colour, the background colour, and the device attributes. Every terminal answers the last query, so
/// an answer to that query alone means that the terminal does not report its colours. A terminal ends its answer with
/// the terminator of the query; BEL is used because all terminals support it.
const COLOUR_QUERY: &[u8] = b"\x1b]10;?\x07\x1b]11;?\x07\x1b[c";

/// Maximum number of buffered bytes read at startup, more than a user types. The reading thread reads the rest.
const MAX_BUFFERED: usize = 64 * 1024;

/// Result of querying the terminal.
#[derive(Debug, Default)]
pub struct StartupInput {
    /// True for a light terminal; `None` if it does not report its colours.
    pub is_light: Option<bool>,
    /// The protocol in which it draws pictures.
    pub picture_support: PictureSupport,
    /// All bytes received meanwhile, including what the user typed.
    pub(in crate::tui) bytes: Vec<u8>,
    /// Raw mode, on since the query: until the screen starts, the terminal must not edit lines.
    pub(in crate::tui) raw_mode: Option<RawMode>,
}

/// Raw mode of the terminal. Dropping it restores the normal mode.
#[derive(Debug)]
pub(in crate::tui) struct RawMode;

impl Drop for RawMode {
    fn drop(&mut self) {
        // Errors are ignored: the terminal may be gone.
        let _ = disable_raw_mode();
    }
}

/// Queries the terminal's colours, and its support of pictures if `asks_pictures`, and waits for the answer for at most
/// `max_wait`. `term` is the value of `$TERM`.
pub fn query_terminal(max_wait: Duration, term: Option<&str>, asks_pictures: bool) -> StartupInput {
    let mut startup_input = StartupInput::default();
    if !term.is_some_and(answers_queries) || enable_raw_mode().is_err() {
        return startup_input;
    }
    startup_input.raw_mode = Some(RawMode);
    let picture_query = if asks_pictures { answers::QUERY } else { &[] };
    if terminal::write_bytes(&[picture_query, COLOUR_QUERY].concat()).is_ok() {
        let deadline = Instant::now() + max_wait;
        while !has_answered(&startup_input.bytes) && has_input(deadline.saturating_duration_since(Instant::now())) {
            match read_stdin() {
                Ok(bytes) if bytes.is_empty() => break,
                Ok(bytes) => startup_input.bytes.extend(bytes),
                Err(rustix::io::Errno::INTR | rustix::io::Errno::AGAIN) => {}
                Err(_) => break,
            }
        }
    }
    startup_input.is_light = reported_light(&startup_input.bytes);
    if asks_pictures {
        startup_input.picture_support = PictureSupport::from_answers(&startup_input.bytes);
    }
    startup_input
}

/// Returns the bytes that the terminal has buffered.
pub fn read_buffered() -> Vec<u8> {
    let mut buffered = Vec::new();
    while buffered.len() < MAX_BUFFERED && has_input(Duration::ZERO) {
        match read_stdin() {
            Ok(bytes) if !bytes.is_empty() => buffered.extend(bytes),
            // The next reader gets the same error and reports it.
            Ok(_) | Err(_) => break,
        }
    }
    buffered
}

/// Returns the events of input before the first frame. Characters are text for the composer and Enter is a line break,
/// so that none of them sends a message or answers a prompt the user has not seen. Other keys stay keys.
pub fn to_events(inputs: Vec<TerminalInput>) -> Vec<Event> {
    let (mut events, mut text) = (Vec::new(), String::new());
    for input in inputs {
        if let TerminalInput::Key(key) = &input
            && key.code != KeyCode::Tab
            && let Some(character) = paste_detector::key_character(key)
        {
            text.push(character);
            continue;
        }
        events.extend([Event::TypedEarly(std::mem::take(&mut text)), Event::from(input)]);
    }
    events.push(Event::TypedEarly(text));
    events.retain(|event| !matches!(event, Event::TypedEarly(text) if text.is_empty()));
    events
}

/// Returns whether a terminal of this name answers reliably: `screen` passes on the colour query, but answers the last
/// query itself and too early.
fn answers_queries(term: &str) -> bool {
    !matches!(term, "" | "dumb" | "Eterm" | "screen") && !term.starts_with("screen.")
}

/// Returns whether the answer to the last query has arrived.
fn has_answered(bytes: &[u8]) -> bool {
    answers::find_attributes(bytes).is_some()
}

/// Returns whether the reported colours are light; `None` if the terminal did not report its background.
fn reported_light(bytes: &[u8]) -> Option<bool> {
    let colour_after = |mark: &[u8]| {
        let start = memmem::find(bytes, mark)? + mark.len();
        let length = bytes[start..].iter().position(|byte| matches!(byte, 0x07 | 0x1b))?;
        std::str::from_utf8(&bytes[start..start + length]).ok()
    };
    is_light(colour_after(b"\x1b]11;")?, colour_after(b"\x1b]10;"))
}

/// Waits up to this time for input and returns whether there is some.
fn has_input(max_wait: Duration) -> bool {
    let stdin = io::stdin();
    let mut fds = [PollFd::from_borrowed_fd(stdin.as_fd(), PollFlags::IN)];
    let ready_count = poll_until(&mut fds, Some(Instant::now() + max_wait)).unwrap_or(0);
    ready_count > 0 && fds[0].revents() == PollFlags::IN
}

#[cfg(test)]
mod tests {
    use super::super::parse::Parser;
    use super::*;

    fn describe_events(bytes: &str) -> Vec<String> {
        let describe = |event| match event {
            Event::TypedEarly(text) => format!("{text:?}"),
            Event::Key(key) => key.code.to_string(),
            Event::Pasted(text) => format!("paste {text:?}"),
            _ => "other".to_owned(),
        };
        to_events(Parser::default().parse_bytes(bytes.as_bytes())).into_iter().map(describe).collect()
    }

    #[test]
    fn r03_no_character_before_the_first_frame_is_a_key() {
        assert_eq!(describe_events("y"), [r#""y""#]);
        assert_eq!(describe_events("\r"), [r#""\n""#]);
        assert_eq!(describe_events("fix it\rand é\n"), [r#""fix it\nand é\n""#]);
        assert_eq!(
            describe_events("ab\x7fc\x1b[200~p\rq\x1b[201~\td"),
            [r#""ab""#, "Backspace", r#""c""#, r#"paste "p\nq""#, "Tab", r#""d""#]
        );
    }

    #[test]
    fn answers_of_the_terminal_are_not_text() {
        let answer = "he\x1b]10;rgb:d0d0/d0d0/d0d0\x1b\\l\x1b]11;rgb:1616/1818/1c1c\x07lo\x1b[?62;22c!";
        assert_eq!(describe_events(answer), [r#""hello!""#]);
        assert_eq!(reported_light(answer.as_bytes()), Some(false));
        assert!(has_answered(answer.as_bytes()) && !has_answered(b"c\x1b[?62;2") && !has_answered(b"\x1b[A?c"));
    }

    #[test]
    fn background_decides_light_or_dark_and_text_colour_if_ambiguous() {
        let reported = |answer: &str| reported_light(answer.as_bytes());
        assert_eq!(reported("\x1b]11;rgb:ffff/fafa/f0f0\x07\x1b[?1c"), Some(true));
        assert_eq!(reported("\x1b]10;rgb:a/a/a\x07\x1b]11;rgb:8/8/8\x07"), Some(false));
        assert_eq!(reported("\x1b]10;rgb:00/00/00\x07\x1b]11;rgb:70/70/70\x07"), Some(true));
        assert_eq!(reported("\x1b]11;rgba:ffff/ffff/ffff/8000\x1b\\"), Some(true));
        for nothing in ["", "\x1b[?62c", "\x1b]11;?\x07", "\x1b]11;rgb:ffff/ff", "\x1b]11;rgb:x/y/z\x07"] {
            assert_eq!(reported(nothing), None, "{nothing:?}");
        }
    }

    #[test]
    fn does_not_query_terminals_that_answer_in_another_order() {
        assert!(answers_queries("xterm-256color") && answers_queries("screenlike") && answers_queries("tmux-256color"));
        assert!(!["", "dumb", "screen", "screen.xterm-256color", "Eterm"].into_iter().any(answers_queries));
    }
}
