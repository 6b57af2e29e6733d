//! Reads the terminal on a thread of its own, and hands on what a person did.

mod burst;
pub mod early;
pub mod parse;
mod sequence;

use super::event::Event;
use burst::Bursts;
use parse::Parser;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::io::{self, PipeReader, PipeWriter};
use std::os::fd::AsFd;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use tokio::sync::mpsc::UnboundedSender;

/// So long the rest of an escape sequence may take; then it was the Esc key.
const SEQUENCE: Duration = Duration::from_millis(30);
/// So long the rest of a paste may take; then its end was lost.
const PASTE: Duration = Duration::from_millis(1500);
/// Within a paste the rest comes sooner than this; a few bytes that come later were typed, and its end was lost.
const PAUSE: Duration = Duration::from_millis(150);
/// More than the bytes of one key.
const FEW: usize = 8;
/// An Enter that came faster behind a letter than a hand can press it waits so long for the letters of a paste.
const NEXT_LETTER: Duration = Duration::from_millis(5);

/// The thread that reads. It ends when this goes, so that an editor can have the terminal.
pub struct Input {
    /// Closed to end the thread.
    wake: Option<PipeWriter>,
    thread: Option<JoinHandle<()>>,
}

impl Input {
    /// Begins to read standard input, where `parser` has read to. Its events are few: a person types them, and pastes come
    /// in bounded pieces.
    pub fn start(events: UnboundedSender<Event>, parser: Parser) -> io::Result<Self> {
        let (woken, wake) = io::pipe()?;
        let thread = std::thread::Builder::new()
            .name("keyboard".into())
            .spawn(move || watch(&woken, &events, parser))?;
        Ok(Self { wake: Some(wake), thread: Some(thread) })
    }
}

impl Drop for Input {
    fn drop(&mut self) {
        self.wake = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// What came of waiting for the terminal.
enum Waited {
    Input,
    Nothing,
    Stop,
    Gone,
}

fn watch(woken: &PipeReader, events: &UnboundedSender<Event>, mut parser: Parser) {
    let mut bursts = Bursts::default();
    let mut last = Instant::now();
    loop {
        let patience = match () {
            () if bursts.is_waiting() => Some(NEXT_LETTER),
            () if parser.is_pasting() => Some(PASTE),
            () if parser.is_waiting() => Some(SEQUENCE),
            () => None,
        };
        let happened = match wait(woken, patience) {
            Waited::Stop => return,
            Waited::Gone => vec![Event::Lost],
            Waited::Nothing if bursts.is_waiting() => bursts.settle(),
            Waited::Nothing => bursts.take(parser.settle(), Instant::now()),
            Waited::Input => match read() {
                Ok(bytes) if bytes.is_empty() => vec![Event::Lost],
                Ok(bytes) => {
                    let typed = parser.is_pasting() && bytes.len() <= FEW && last.elapsed() >= PAUSE;
                    let mut sent = if typed { parser.settle() } else { Vec::new() };
                    sent.extend(parser.feed(&bytes));
                    last = Instant::now();
                    bursts.take(sent, last)
                }
                Err(rustix::io::Errno::INTR | rustix::io::Errno::AGAIN) => continue,
                Err(_) => vec![Event::Lost],
            },
        };
        for event in happened {
            let lost = matches!(event, Event::Lost);
            if events.send(event).is_err() || lost {
                return;
            }
        }
    }
}

/// Waits for the terminal. It is read only when it has something: reading one that is gone would never end.
fn wait(woken: &PipeReader, patience: Option<Duration>) -> Waited {
    let stdin = io::stdin();
    let mut fds = [PollFd::from_borrowed_fd(stdin.as_fd(), PollFlags::IN), PollFd::new(woken, PollFlags::IN)];
    let timeout = patience.and_then(|patience| Timespec::try_from(patience).ok());
    match poll(&mut fds, timeout.as_ref()) {
        Err(rustix::io::Errno::INTR) => Waited::Nothing,
        Err(_) => Waited::Gone,
        Ok(0) => Waited::Nothing,
        Ok(_) if !fds[1].revents().is_empty() => Waited::Stop,
        Ok(_) if fds[0].revents().intersects(PollFlags::HUP | PollFlags::ERR | PollFlags::NVAL) => {
            Waited::Gone
        }
        Ok(_) => Waited::Input,
    }
}

fn read() -> Result<Vec<u8>, rustix::io::Errno> {
    let mut bytes = vec![0; 64 * 1024];
    let length = rustix::io::read(io::stdin().as_fd(), &mut bytes)?;
    bytes.truncate(length);
    Ok(bytes)
}
