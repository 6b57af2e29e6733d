//! Reads the terminal on a separate thread and sends input events.

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

/// Maximum wait for the rest of an escape sequence; after it, the key was Esc.
const SEQUENCE: Duration = Duration::from_millis(30);
/// Maximum wait for the rest of a paste; after it, its end was lost.
const PASTE: Duration = Duration::from_millis(1500);
/// Maximum gap within a paste; a few bytes after a longer gap were typed, and the end of the paste was lost.
const PAUSE: Duration = Duration::from_millis(150);
/// Maximum bytes of one key.
const FEW: usize = 8;
/// Time an Enter that follows a character faster than a user types is held back for the rest of a paste.
const NEXT_LETTER: Duration = Duration::from_millis(5);

/// The reading thread. It ends when this is dropped, so that an editor can use the terminal.
pub struct Input {
    /// Dropped to end the thread.
    wake: Option<PipeWriter>,
    thread: Option<JoinHandle<()>>,
}

impl Input {
    /// Starts to read standard input; `parser` holds what was read before. The channel needs no bound: users type few
    /// events, and pastes arrive in bounded pieces.
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

/// Result of waiting for the terminal.
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

/// Waits for input. Reads only when there is some: reading a closed terminal would loop forever.
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
