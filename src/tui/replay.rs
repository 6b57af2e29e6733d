//! Replays a recording in the terminal. Its frames are drawn cell by cell; no byte of the recording reaches the terminal.

mod frame_search;
mod playback;
mod replay_view;

use super::canvas::Canvas;
use super::event::Event;
use super::exit_watchdog::ExitWatchdog;
use super::input::Input;
use super::input::parse::Parser;
use super::signals::{HANGUP, Signals};
use super::terminal::{self, Terminal};
use super::theme::Theme;
use crate::recording::cast_reader::RecordingTheme;
use crate::recording::frames::Frames;
use playback::{Playback, ReplayAction};
use replay_view::ReplayView;
use rustix::process::{Signal as ProcessSignal, kill_current_process_group};
use std::io;
use std::time::Instant;
use tokio::sync::mpsc;

/// What is replayed, and how.
pub struct Replay<'a> {
    pub frames: Frames,
    /// Colours of the recording.
    pub colours: &'a RecordingTheme,
    /// Theme of the bar.
    pub theme: Theme,
    /// Title or file name, shown while no chapter has begun.
    pub title: &'a str,
}

/// Why the loop woke up.
enum WakeReason {
    Input(Box<Event>),
    Changed,
    Resized,
    Suspend,
    Ended(i32),
}

/// Replays a recording until the user quits. Returns the signal that ended it, if one did. The terminal is restored when this
/// returns, also on an error. Needs a tokio runtime.
///
/// # Errors
/// If the terminal cannot be taken over.
pub async fn run_replay(replay: Replay<'_>) -> io::Result<Option<i32>> {
    let mut signals = Signals::new()?;
    let terminal = Terminal::take_over(false, || false)?;
    let _watchdog = ExitWatchdog::start_watching()?;
    ReplayScreen::open(replay, terminal)?.run_loop(&mut signals).await
}

/// The terminal with a replay.
struct ReplayScreen {
    playback: Playback,
    view: ReplayView,
    canvas: Canvas,
    terminal: Terminal,
    /// Reader of the keys; `None` while the program is suspended.
    input: Option<Input>,
    events: mpsc::UnboundedReceiver<Event>,
    sender: mpsc::UnboundedSender<Event>,
    /// When the playback was moved on last.
    last_advance: Instant,
}

impl ReplayScreen {
    fn open(replay: Replay<'_>, terminal: Terminal) -> io::Result<Self> {
        let (sender, events) = mpsc::unbounded_channel();
        Ok(Self {
            playback: Playback::new(replay.frames),
            view: ReplayView::new(replay.colours, replay.theme, replay.title),
            canvas: Canvas::new(terminal::erase_uses_background()),
            terminal,
            input: Some(Input::start(sender.clone(), Parser::default())?),
            events,
            sender,
            last_advance: Instant::now(),
        })
    }

    async fn run_loop(mut self, signals: &mut Signals) -> io::Result<Option<i32>> {
        loop {
            if self.draw().is_err() {
                return Ok(Some(HANGUP));
            }
            let reason = self.wait_for_wake(signals).await;
            self.advance();
            let action = match reason {
                WakeReason::Changed => None,
                WakeReason::Input(event) => match *event {
                    Event::Key(key) => self.playback.handle_key(key),
                    Event::Pasted(text) | Event::TypedEarly(text) => {
                        self.playback.paste(&text);
                        None
                    }
                    Event::TerminalLost => return Ok(Some(HANGUP)),
                    _ => None,
                },
                WakeReason::Resized => Some(ReplayAction::Redraw),
                WakeReason::Suspend => Some(ReplayAction::Suspend),
                WakeReason::Ended(signal) => return Ok(Some(signal)),
            };
            match action {
                Some(ReplayAction::Quit) => return Ok(None),
                Some(ReplayAction::Redraw) => self.canvas.invalidate(),
                Some(ReplayAction::Suspend) => self.suspend(signals).await?,
                None => {}
            }
        }
    }

    /// Moves the playback on by the time since the last call.
    fn advance(&mut self) {
        let now = Instant::now();
        self.playback.advance(now - self.last_advance);
        self.last_advance = now;
    }

    async fn wait_for_wake(&mut self, signals: &mut Signals) -> WakeReason {
        let next_change = self.playback.next_change();
        let timer = async move {
            match next_change {
                Some(time) => tokio::time::sleep(time).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            biased;
            signal = signals.ending.recv() => WakeReason::Ended(signal),
            event = self.events.recv() => WakeReason::Input(Box::new(event.unwrap_or(Event::TerminalLost))),
            _ = signals.suspend.recv() => WakeReason::Suspend,
            _ = signals.resized.recv() => WakeReason::Resized,
            () = timer => WakeReason::Changed,
        }
    }

    fn draw(&mut self) -> io::Result<()> {
        // Some terminals report 0 if they do not know their size.
        let (width, height) = match crossterm::terminal::size() {
            Ok((width, height)) if width > 0 && height > 0 => (width, height),
            Ok(_) | Err(_) => (80, 24),
        };
        let mut buffer = self.canvas.empty_buffer(width, height);
        let cursor = self.view.draw(&self.playback, &mut buffer);
        let bytes = self.canvas.encode_frame(buffer, &[], cursor);
        if bytes.is_empty() { Ok(()) } else { terminal::write_bytes(bytes) }
    }

    /// Suspends the program as the terminal's suspend key does, and goes on when the shell resumes it. Meanwhile the replay stands.
    async fn suspend(&mut self, signals: &mut Signals) -> io::Result<()> {
        self.input = None;
        self.terminal.release();
        kill_current_process_group(ProcessSignal::STOP)?;
        signals.resume.recv().await;
        self.terminal.retake()?;
        self.input = Some(Input::start(self.sender.clone(), Parser::default())?);
        self.canvas.invalidate();
        self.last_advance = Instant::now();
        Ok(())
    }
}
