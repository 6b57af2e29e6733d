//! Reads the terminal on a separate thread and sends input events.

pub mod parse;
mod paste_detector;
mod sequence;
pub mod startup;

use super::event::Event;
use parse::Parser;
use paste_detector::PasteDetector;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::io::{self, PipeReader, PipeWriter};
use std::os::fd::{AsFd, BorrowedFd};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use tokio::sync::mpsc::UnboundedSender;

/// Maximum wait for the rest of an escape sequence. If nothing follows, the key was Esc.
const SEQUENCE_TIMEOUT: Duration = Duration::from_millis(30);
/// Maximum wait for the rest of a paste; after it, the end marker counts as lost.
const PASTE_TIMEOUT: Duration = Duration::from_millis(1500);
/// Maximum gap within a paste. A few bytes after a longer gap are typed keys: the end marker was lost.
const PASTE_GAP: Duration = Duration::from_millis(150);
/// Maximum bytes of one key.
const MAX_KEY_BYTES: usize = 8;
/// Time for which an Enter is held back if it follows a character faster than a user types. It may be part of a paste.
const ENTER_DELAY: Duration = Duration::from_millis(5);

/// The thread that reads the terminal. It ends when this is dropped, so that an editor can use the terminal.
pub struct Input {
    /// Dropped to end the thread.
    stop_sender: Option<PipeWriter>,
    thread: Option<JoinHandle<()>>,
}

impl Input {
    /// Starts to read standard input; `parser` holds what was read before. The channel needs no bound: users type few
    /// events, and pastes arrive in bounded pieces.
    pub fn start(events: UnboundedSender<Event>, parser: Parser) -> io::Result<Self> {
        let (stop_receiver, stop_sender) = io::pipe()?;
        let thread = std::thread::Builder::new()
            .name("keyboard".into())
            .spawn(move || run_reader(&stop_receiver, &events, parser))?;
        Ok(Self { stop_sender: Some(stop_sender), thread: Some(thread) })
    }
}

impl Drop for Input {
    fn drop(&mut self) {
        self.stop_sender = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// Result of waiting for the terminal.
#[derive(Debug, PartialEq)]
enum WaitResult {
    Input,
    NoInput,
    Stop,
    TerminalLost,
}

fn run_reader(stop_receiver: &PipeReader, event_sender: &UnboundedSender<Event>, mut parser: Parser) {
    let mut detector = PasteDetector::default();
    let mut last_input = Instant::now();
    loop {
        let max_wait = match () {
            () if detector.is_waiting() => Some(ENTER_DELAY),
            () if parser.is_pasting() || parser.is_receiving_clipboard() => Some(PASTE_TIMEOUT),
            () if parser.is_waiting() => Some(SEQUENCE_TIMEOUT),
            () => None,
        };
        let mut new_events = match wait_for_input(io::stdin().as_fd(), stop_receiver, max_wait) {
            WaitResult::Stop => return,
            WaitResult::TerminalLost => vec![Event::TerminalLost],
            WaitResult::NoInput if detector.is_waiting() => detector.end_wait(),
            WaitResult::NoInput => detector.handle_input(parser.end_wait(), Instant::now()),
            WaitResult::Input => match read_stdin() {
                Ok(bytes) if bytes.is_empty() => vec![Event::TerminalLost],
                Ok(bytes) => {
                    let is_paste_end_lost =
                        parser.is_pasting() && bytes.len() <= MAX_KEY_BYTES && last_input.elapsed() >= PASTE_GAP;
                    let mut inputs = if is_paste_end_lost { parser.end_wait() } else { Vec::new() };
                    inputs.extend(parser.parse_bytes(&bytes));
                    last_input = Instant::now();
                    detector.handle_input(inputs, last_input)
                }
                Err(rustix::io::Errno::INTR | rustix::io::Errno::AGAIN) => continue,
                Err(_) => vec![Event::TerminalLost],
            },
        };
        new_events.extend(parser.take_clipboard().map(Event::TerminalClipboard));
        for event in new_events {
            let is_terminal_lost = matches!(event, Event::TerminalLost);
            if event_sender.send(event).is_err() || is_terminal_lost {
                return;
            }
        }
    }
}

/// Waits for input, a stop, the loss of the terminal, or the end of `max_wait`. Reads no input.
fn wait_for_input(input: BorrowedFd<'_>, stop_receiver: &PipeReader, max_wait: Option<Duration>) -> WaitResult {
    let mut fds = [PollFd::from_borrowed_fd(input, PollFlags::IN), PollFd::new(stop_receiver, PollFlags::IN)];
    match poll_until(&mut fds, max_wait.map(|max_wait| Instant::now() + max_wait)) {
        Err(_) => WaitResult::TerminalLost,
        Ok(0) => WaitResult::NoInput,
        Ok(_) if !fds[1].revents().is_empty() => WaitResult::Stop,
        Ok(_) if fds[0].revents().intersects(PollFlags::HUP | PollFlags::ERR | PollFlags::NVAL) => {
            WaitResult::TerminalLost
        }
        Ok(_) => WaitResult::Input,
    }
}

/// Polls until a file is ready or the deadline has passed, if any. Returns the number of ready files. A signal does not
/// end the wait.
fn poll_until(fds: &mut [PollFd<'_>], deadline: Option<Instant>) -> rustix::io::Result<usize> {
    loop {
        let remaining = deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
        let timeout = remaining.and_then(|remaining| Timespec::try_from(remaining).ok());
        match poll(fds, timeout.as_ref()) {
            Err(rustix::io::Errno::INTR) => {}
            result => return result,
        }
    }
}

fn read_stdin() -> Result<Vec<u8>, rustix::io::Errno> {
    let mut bytes = vec![0; 64 * 1024];
    let length = rustix::io::read(io::stdin().as_fd(), &mut bytes)?;
    bytes.truncate(length);
    Ok(bytes)
}

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests {
    use super::*;
    use rustix::process::{Signal, kill_process};
    use std::io::Write;
    use tokio::signal::unix::{SignalKind, signal};

    /// Waits for input on a thread that receives a signal every few milliseconds. Writes input after `input_after`.
    /// Returns the result and the duration of the wait.
    fn wait_under_signals(max_wait: Duration, input_after: Duration) -> (WaitResult, Duration) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let _guard = runtime.enter();
        // With a handler the signal interrupts system calls of its thread; without one it would be ignored.
        let _handler = signal(SignalKind::window_change()).unwrap();
        let ((input, mut input_writer), (stop_receiver, _stop_sender)) = (io::pipe().unwrap(), io::pipe().unwrap());
        let (thread_sender, threads) = std::sync::mpsc::channel();
        let waiting = std::thread::spawn(move || {
            // Linux delivers a signal to the thread whose id it was sent to, if that thread does not block it.
            thread_sender.send(rustix::thread::gettid()).unwrap();
            let start = Instant::now();
            (wait_for_input(input.as_fd(), &stop_receiver, Some(max_wait)), start.elapsed())
        });
        let (thread, start, mut has_input) = (threads.recv().unwrap(), Instant::now(), false);
        while !waiting.is_finished() && start.elapsed() < Duration::from_secs(60) {
            if !has_input && start.elapsed() >= input_after {
                input_writer.write_all(b"x").unwrap();
                has_input = true;
            }
            let _ = kill_process(thread, Signal::WINCH);
            std::thread::sleep(Duration::from_millis(5));
        }
        waiting.join().unwrap()
    }

    #[test]
    fn signals_neither_end_nor_prolong_a_wait() {
        let (result, waited) = wait_under_signals(Duration::from_secs(50), Duration::from_millis(100));
        assert_eq!(result, WaitResult::Input, "ended after {waited:?}");
        assert!(waited >= Duration::from_millis(90), "{waited:?}");
        let max_wait = Duration::from_millis(100);
        let (result, waited) = wait_under_signals(max_wait, Duration::from_secs(40));
        assert_eq!(result, WaitResult::NoInput);
        assert!((max_wait..Duration::from_secs(30)).contains(&waited), "{waited:?}");
    }
}
