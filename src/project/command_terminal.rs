//! The pseudo-terminal of a user's command, and the forwarding of its bytes to the user's own terminal.
//! On other systems than Linux a process that is started at the same moment may inherit the pseudo-terminal.

use super::output::Output;
use super::process_set::ProcessSet;
use super::terminal_filter::TerminalFilter;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::Pid;
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{
    InputModes, LocalModes, OptionalActions, Winsize, tcgetattr, tcgetsid, tcgetwinsize, tcsetattr, tcsetwinsize,
};
use std::collections::VecDeque;
use std::io::{self, PipeReader, PipeWriter, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::Notify;

/// Time between two looks at the terminal's modes and at its size.
const LOOK_INTERVAL: Duration = Duration::from_millis(50);
/// Time for which a program must wait for keys before it gets the terminal: some programs only ask the terminal
/// something.
const NEED_DELAY: Duration = Duration::from_millis(60);
/// Columns of the user's terminal that are not available to output in the transcript: its indentation and the scroll bar.
/// A program that has the terminal has all columns.
const SHOWN_MARGIN: u16 = 6;
/// Size of a terminal that does not know its own.
const DEFAULT_SIZE: Winsize = Winsize { ws_row: 24, ws_col: 80, ws_xpixel: 0, ws_ypixel: 0 };
/// Bytes of recent output that are written when the terminal is handed over, so that the user sees what is asked.
const REPLAY_BYTES: usize = 4 << 10;
/// The same for a program on the alternate screen: everything that it drew.
const ALTERNATE_REPLAY_BYTES: usize = 256 << 10;
/// Maximum bytes typed ahead of a program that does not read them. More are dropped.
const MAX_TYPED: usize = 1 << 20;
/// The key that takes the terminal back: ctrl-\, also as programs that request unambiguous keys receive it.
const DETACH_KEYS: [&[u8]; 2] = [b"\x1c", b"\x1b[92;5u"];
/// Switches to the alternate screen and clears it.
const ENTER_ALTERNATE: &[u8] = b"\x1b[?1049h\x1b[2J";
/// Leaves the alternate screen. A terminal on its normal screen would move the cursor.
const LEAVE_ALTERNATE: &[u8] = b"\x1b[?1049l";

/// The place where the running command of a session keeps its terminal. Empty while no command runs.
#[derive(Default)]
pub struct CommandTerminal {
    running: Mutex<Option<Arc<RunningTerminal>>>,
}

/// Reason why forwarding ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ForwardEnd {
    /// The command ended, or none ran.
    Ended,
    /// The user pressed the key that takes the terminal back.
    Detached,
    /// The user's terminal is gone.
    TerminalLost,
    /// The caller stopped it.
    Stopped,
}

/// The terminal of a running command.
pub(super) struct RunningTerminal {
    master: OwnedFd,
    content: Mutex<Content>,
    /// Notified of new output, of a need for keys, and when nothing more can be read.
    pub(super) changed: Notify,
    /// Set when the reader must end.
    is_closed: AtomicBool,
    /// Ready when the command has ended.
    end: PipeReader,
}

/// Output of the command, and whether the user's terminal shows it.
#[derive(Default)]
pub(super) struct Content {
    pub(super) output: Output,
    filter: TerminalFilter,
    /// Recent bytes as the program wrote them.
    recent: Vec<u8>,
    is_attached: bool,
    /// True if `recent` lacks something that the program drew on the alternate screen, so that it must draw again.
    has_gap: bool,
    /// The session whose terminal it is, once known: it is forgotten when the session's first process ends.
    session: Option<Pid>,
    /// True once the program waits for keys.
    pub(super) needs_keys: bool,
    /// True once nothing more can be read.
    pub(super) is_drained: bool,
}

impl CommandTerminal {
    /// Forwards the bytes of the running command and of this terminal to each other until one of them ends, the user
    /// takes the terminal back, or `is_stopped` returns true. Blocks. The caller has put the terminal into raw mode.
    pub fn forward(&self, input: impl AsFd, mut is_stopped: impl FnMut() -> bool) -> ForwardEnd {
        let Some(running) = self.lock().clone() else { return ForwardEnd::Ended };
        if running.attach(&input).is_err() {
            running.detach();
            return ForwardEnd::TerminalLost;
        }
        let mut typed = VecDeque::new();
        let end = loop {
            if is_stopped() {
                break ForwardEnd::Stopped;
            }
            match running.forward_once(&input, &mut typed) {
                Ok(None) => {}
                Ok(Some(end)) => break end,
                Err(_) => break ForwardEnd::TerminalLost,
            }
        };
        running.detach();
        end
    }

    /// Sets the terminal of the command that starts; `None` when it has ended.
    pub(super) fn set_running(&self, running: Option<Arc<RunningTerminal>>) {
        *self.lock() = running;
    }

    fn lock(&self) -> MutexGuard<'_, Option<Arc<RunningTerminal>>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl RunningTerminal {
    /// Opens a pseudo-terminal with the rows of the user's terminal and the columns in which output is shown there.
    /// Returns it with the end that the command gets, and a pipe that is dropped when the command has ended.
    pub(super) fn open() -> io::Result<(Arc<Self>, OwnedFd, PipeWriter)> {
        let mut flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY;
        #[cfg(target_os = "linux")]
        flags.insert(OpenptFlags::CLOEXEC);
        let master = openpt(flags)?;
        rustix::io::fcntl_setfd(&master, rustix::io::FdFlags::CLOEXEC)?;
        grantpt(&master)?;
        unlockpt(&master)?;
        let name = ptsname(&master, Vec::new())?;
        let slave_flags = rustix::fs::OFlags::RDWR | rustix::fs::OFlags::NOCTTY | rustix::fs::OFlags::CLOEXEC;
        let slave = rustix::fs::open(name.as_c_str(), slave_flags, rustix::fs::Mode::empty())?;
        let mut modes = tcgetattr(&slave)?;
        modes.input_modes.insert(InputModes::IUTF8);
        tcsetattr(&slave, OptionalActions::Now, &modes)?;
        let size = terminal_size(io::stdin());
        let ws_col = size.ws_col.saturating_sub(SHOWN_MARGIN).max(1);
        tcsetwinsize(&master, Winsize { ws_col, ..size })?;
        // A program that does not read must not block the forwarding.
        rustix::fs::fcntl_setfl(&master, rustix::fs::fcntl_getfl(&master)? | rustix::fs::OFlags::NONBLOCK)?;
        let (end, end_writer) = io::pipe()?;
        let (content, changed, is_closed) = (Mutex::default(), Notify::new(), AtomicBool::new(false));
        let running = Arc::new(Self { master, content, changed, is_closed, end });
        Ok((running, slave, end_writer))
    }

    /// Starts to read the output on a separate thread.
    pub(super) fn start_reader(self: &Arc<Self>) -> io::Result<()> {
        let running = self.clone();
        std::thread::Builder::new().name("command terminal".into()).spawn(move || running.read_output())?;
        Ok(())
    }

    /// Kills every process whose terminal this is. For a command whose guard was killed.
    pub(super) fn kill_session(&self) {
        let session = self.content().session;
        if let Some(session) = session {
            ProcessSet::InSession(session).kill_all();
        }
    }

    /// Makes the reader end soon.
    pub(super) fn close(&self) {
        self.is_closed.store(true, Ordering::Relaxed);
    }

    pub(super) fn content(&self) -> MutexGuard<'_, Content> {
        self.content.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reads until the terminal is closed at the command's end.
    fn read_output(&self) {
        let mut buffer = vec![0; 64 << 10];
        let mut waiting_since = None;
        while !self.is_closed.load(Ordering::Relaxed) {
            let mut fds = [PollFd::new(&self.master, PollFlags::IN)];
            let has_output = match poll(&mut fds, Timespec::try_from(LOOK_INTERVAL).ok().as_ref()) {
                Ok(count) => count > 0,
                Err(Errno::INTR) => continue,
                Err(_) => break,
            };
            if has_output {
                match rustix::io::read(&self.master, &mut buffer[..]) {
                    Ok(0) => break,
                    Ok(count) => self.add_output(&buffer[..count]),
                    Err(Errno::INTR | Errno::AGAIN) => {}
                    // The command's end is closed.
                    Err(_) => break,
                }
            }
            self.look_for_need(&mut waiting_since);
        }
        self.content().is_drained = true;
        self.changed.notify_one();
    }

    fn add_output(&self, bytes: &[u8]) {
        let mut content = self.content();
        content.add_output(bytes);
        if content.is_attached {
            // While this lock is held, nothing else writes to the terminal. Without a terminal the forwarding ends.
            let _ = write_to_terminal(bytes);
        }
        drop(content);
        self.changed.notify_one();
    }

    /// Finds out whose terminal it is, and whether the program waits for keys.
    fn look_for_need(&self, waiting_since: &mut Option<Instant>) {
        let mut content = self.content();
        content.session = content.session.or_else(|| tcgetsid(&self.master).ok());
        if content.needs_keys {
            return;
        }
        // The modes at the command's end, which it sets.
        let modes = tcgetattr(&self.master).map(|modes| modes.local_modes);
        let reads_keys = modes.is_ok_and(|modes| !modes.contains(LocalModes::ICANON | LocalModes::ECHO));
        let since = reads_keys.then(|| *waiting_since.get_or_insert_with(Instant::now));
        *waiting_since = since;
        if content.filter.is_alternate || since.is_some_and(|since| since.elapsed() >= NEED_DELAY) {
            content.needs_keys = true;
            self.changed.notify_one();
        }
    }

    /// Shows the program in the user's terminal, with its recent output.
    fn attach(&self, input: &impl AsFd) -> io::Result<()> {
        let size = terminal_size(input);
        let mut content = self.content();
        content.is_attached = true;
        let must_redraw = content.filter.is_alternate && content.has_gap;
        write_to_terminal(if must_redraw { ENTER_ALTERNATE } else { &content.recent })?;
        drop(content);
        if must_redraw {
            tcsetwinsize(&self.master, Winsize { ws_row: size.ws_row.saturating_sub(1).max(1), ..size })?;
            // The program looks at the size when it handles the signal.
            std::thread::sleep(LOOK_INTERVAL);
        }
        tcsetwinsize(&self.master, size)?;
        Ok(())
    }

    /// Hides the program. The user's terminal is on its normal screen afterwards.
    fn detach(&self) {
        let mut content = self.content();
        content.is_attached = false;
        if content.filter.is_alternate {
            // What it draws from now on is not shown.
            content.has_gap = true;
            let _ = write_to_terminal(LEAVE_ALTERNATE);
        }
    }

    /// Waits for input or the end, at most until the next look at the size, and forwards what was typed.
    fn forward_once(&self, input: &impl AsFd, typed: &mut VecDeque<u8>) -> io::Result<Option<ForwardEnd>> {
        let master_flags = if typed.is_empty() { PollFlags::empty() } else { PollFlags::OUT };
        let mut fds = [
            PollFd::new(input, PollFlags::IN),
            PollFd::new(&self.end, PollFlags::IN),
            PollFd::new(&self.master, master_flags),
        ];
        match poll(&mut fds, Timespec::try_from(LOOK_INTERVAL).ok().as_ref()) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        let (input_events, has_ended) = (fds[0].revents(), !fds[1].revents().is_empty());
        if has_ended {
            return Ok(Some(ForwardEnd::Ended));
        }
        if input_events.intersects(PollFlags::HUP | PollFlags::ERR | PollFlags::NVAL) {
            return Ok(Some(ForwardEnd::TerminalLost));
        }
        let size = terminal_size(input);
        if tcgetwinsize(&self.master).is_ok_and(|current| !is_same_size(current, size)) {
            tcsetwinsize(&self.master, size)?;
        }
        let mut is_detaching = false;
        if input_events.contains(PollFlags::IN) {
            let mut buffer = [0; 16 << 10];
            let count = match rustix::io::read(input, &mut buffer[..]) {
                Ok(0) => return Ok(Some(ForwardEnd::TerminalLost)),
                Ok(count) => count,
                Err(Errno::INTR | Errno::AGAIN) => 0,
                Err(error) => return Err(error.into()),
            };
            let bytes = &buffer[..count];
            let detach_at = DETACH_KEYS.iter().filter_map(|key| memchr::memmem::find(bytes, key)).min();
            is_detaching = detach_at.is_some();
            let bytes = &bytes[..detach_at.unwrap_or(count)];
            typed.extend(&bytes[..bytes.len().min(MAX_TYPED.saturating_sub(typed.len()))]);
        }
        while !typed.is_empty() {
            match rustix::io::write(&self.master, typed.as_slices().0) {
                Ok(count) => drop(typed.drain(..count)),
                // The program does not read, or has closed its end and is about to exit.
                Err(_) => break,
            }
        }
        Ok(is_detaching.then_some(ForwardEnd::Detached))
    }
}

impl Content {
    fn add_output(&mut self, bytes: &[u8]) {
        let was_alternate = self.filter.is_alternate;
        let text = self.filter.filter(bytes);
        self.output.push(&text);
        if was_alternate && !self.filter.is_alternate {
            self.recent.clear();
            self.has_gap = false;
        }
        self.recent.extend(bytes);
        let max = if self.filter.is_alternate { ALTERNATE_REPLAY_BYTES } else { REPLAY_BYTES };
        if self.recent.len() > 2 * max {
            self.has_gap = self.filter.is_alternate;
            self.recent.drain(..self.recent.len() - max);
            // Starts with a whole line, which is not in the middle of a sequence.
            let line_start = memchr::memchr(b'\n', &self.recent).map_or(0, |end| end + 1);
            self.recent.drain(..line_start);
        }
    }
}

fn is_same_size(one: Winsize, other: Winsize) -> bool {
    (one.ws_row, one.ws_col) == (other.ws_row, other.ws_col)
}

/// Returns the size of a terminal.
fn terminal_size(terminal: impl AsFd) -> Winsize {
    let size = tcgetwinsize(terminal).unwrap_or(DEFAULT_SIZE);
    if size.ws_row == 0 || size.ws_col == 0 { DEFAULT_SIZE } else { size }
}

fn write_to_terminal(bytes: &[u8]) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    stdout.write_all(bytes)?;
    stdout.flush()
}
