//! Shows a demo on the terminal, at its speed, and reads the keys of the one who watches.

use crate::tui::canvas::Canvas;
use crate::tui::event::Event;
use crate::tui::input::Input;
use crate::tui::input::parse::Parser;
use crate::tui::terminal::{self, Terminal};
use crossterm::event::{KeyCode, KeyEventKind, KeyModifiers};
use ratatui::buffer::Buffer;
use ratatui::layout::Position;
use std::io;
use std::time::{Duration, Instant};
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::mpsc;

/// How a demo is shown.
#[derive(Debug, Clone, Copy)]
pub struct ViewerOptions {
    /// Factor of its speed.
    pub speed: f64,
    /// Waits for a key before each step of the user.
    pub is_stepped: bool,
    /// Returns whether a panic of the current thread is caught.
    pub is_panic_caught: fn() -> bool,
}

/// What the viewer does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Viewed {
    /// The demo goes on.
    Goes,
    /// The viewer leaves.
    Left,
}

/// The terminal of the viewer.
pub(super) struct Viewer {
    options: ViewerOptions,
    canvas: Canvas,
    /// Restores the terminal when it is dropped.
    _terminal: Terminal,
    _input: Input,
    keys: mpsc::UnboundedReceiver<Event>,
    terminate: Signal,
    hangup: Signal,
    is_paused: bool,
    /// True if a key for the next step was pressed before it.
    has_stepped: bool,
}

/// What a key of the viewer means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Command {
    Leave,
    Pause,
    Step,
    None,
}

impl Viewer {
    /// Takes the terminal.
    pub(super) fn open(options: ViewerOptions, size: (u16, u16)) -> io::Result<Self> {
        check_terminal(size)?;
        let terminal = Terminal::take_over(false, options.is_panic_caught)?;
        let (sender, keys) = mpsc::unbounded_channel();
        let input = Input::start(sender, Parser::default())?;
        let mut canvas = Canvas::new(true);
        canvas.invalidate();
        Ok(Self {
            options,
            canvas,
            _terminal: terminal,
            _input: input,
            keys,
            terminate: signal(SignalKind::terminate())?,
            hangup: signal(SignalKind::hangup())?,
            is_paused: false,
            has_stepped: false,
        })
    }

    /// Checks that the terminal has this many columns and rows.
    pub(super) fn check_size(&mut self, size: (u16, u16)) -> io::Result<()> {
        self.canvas.invalidate();
        check_terminal(size)
    }

    pub(super) fn show(&mut self, frame: &Buffer, cursor: Option<Position>) -> io::Result<()> {
        let mut copy = self.canvas.empty_buffer(frame.area.width, frame.area.height);
        copy.content.clone_from(&frame.content);
        let bytes = self.canvas.encode_frame(copy, &[], cursor);
        if bytes.is_empty() { Ok(()) } else { terminal::write_bytes(bytes) }
    }

    /// Waits for this time of the demo, and longer while the viewer pauses it.
    pub(super) async fn wait(&mut self, pause: Duration) -> io::Result<Viewed> {
        let mut remaining = pause.div_f64(self.options.speed);
        loop {
            let started = Instant::now();
            let is_paused = self.is_paused;
            let timer = async move {
                match is_paused {
                    true => std::future::pending().await,
                    false => tokio::time::sleep(remaining).await,
                }
            };
            let command = tokio::select! {
                event = self.keys.recv() => read_command(event.as_ref()),
                _ = self.terminate.recv() => Command::Leave,
                _ = self.hangup.recv() => Command::Leave,
                () = timer => return Ok(Viewed::Goes),
            };
            if !is_paused {
                remaining = remaining.saturating_sub(started.elapsed());
            }
            match command {
                Command::Leave => return Ok(Viewed::Left),
                Command::Pause => self.is_paused = !self.is_paused,
                Command::Step if self.options.is_stepped => {
                    (self.has_stepped, self.is_paused) = (true, false);
                    return Ok(Viewed::Goes);
                }
                Command::Step | Command::None => {}
            }
        }
    }

    /// Waits until the viewer leaves, while a tool runs.
    pub(super) async fn wait_for_leave(&mut self) {
        loop {
            let command = tokio::select! {
                event = self.keys.recv() => read_command(event.as_ref()),
                _ = self.terminate.recv() => Command::Leave,
                _ = self.hangup.recv() => Command::Leave,
            };
            match command {
                Command::Leave => return,
                Command::Pause => self.is_paused = !self.is_paused,
                Command::Step | Command::None => {}
            }
        }
    }

    /// Waits for a key if the demo is stepped.
    pub(super) async fn wait_for_step(&mut self) -> io::Result<Viewed> {
        if std::mem::take(&mut self.has_stepped) {
            return Ok(Viewed::Goes);
        }
        while self.options.is_stepped {
            let command = tokio::select! {
                event = self.keys.recv() => read_command(event.as_ref()),
                _ = self.terminate.recv() => Command::Leave,
                _ = self.hangup.recv() => Command::Leave,
            };
            match command {
                Command::Leave => return Ok(Viewed::Left),
                Command::Pause | Command::Step => break,
                Command::None => {}
            }
        }
        Ok(Viewed::Goes)
    }
}

/// Checks the size of the terminal before a demo is drawn on it.
fn check_terminal((columns, rows): (u16, u16)) -> io::Result<()> {
    let (width, height) = crossterm::terminal::size()?;
    // Some terminals report 0 if they do not know their size.
    if width != 0 && height != 0 && (width < columns || height < rows) {
        return Err(io::Error::other(format!(
            "the demo needs {columns}x{rows} and the terminal has {width}x{height}. Enlarge the window, or choose a size: \
             --size {width}x{height}"
        )));
    }
    Ok(())
}

fn read_command(event: Option<&Event>) -> Command {
    match event {
        None | Some(Event::TerminalLost) => Command::Leave,
        Some(Event::Key(key)) if key.kind == KeyEventKind::Press => match (key.code, key.modifiers) {
            (KeyCode::Char('q') | KeyCode::Esc, KeyModifiers::NONE) => Command::Leave,
            (KeyCode::Char('c'), KeyModifiers::CONTROL) => Command::Leave,
            (KeyCode::Char(' '), KeyModifiers::NONE) => Command::Pause,
            _ => Command::Step,
        },
        Some(_) => Command::None,
    }
}
