//! Shows a demo on the terminal, at its speed, and reads the keys of the viewer.

use super::PlayError;
use crate::text::width::text_width;
use crate::tui::canvas::Canvas;
use crate::tui::event::Event;
use crate::tui::input::Input;
use crate::tui::input::parse::Parser;
use crate::tui::signals::{EndingSignals, HANGUP};
use crate::tui::terminal::{self, Terminal};
use crossterm::event::{KeyCode, KeyEventKind, KeyModifiers};
use ratatui::buffer::Buffer;
use ratatui::layout::Position;
use ratatui::style::{Modifier, Style};
use std::io;
use std::time::{Duration, Instant};
use tokio::sync::mpsc;

/// Notes for the viewer.
const PAUSED: &str = " paused · space continue · q quit ";
const NEXT_STEP: &str = " any key next step · q quit ";
const END: &str = " end of the demo · press any key ";

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

/// The terminal of the viewer.
pub(super) struct Viewer {
    options: ViewerOptions,
    canvas: Canvas,
    /// Restores the terminal when it is dropped.
    _terminal: Terminal,
    _input: Input,
    keys: mpsc::UnboundedReceiver<Event>,
    signals: EndingSignals,
    /// The frame that is shown, and its cursor.
    frame: Option<(Buffer, Option<Position>)>,
    is_paused: bool,
    /// True if a key for the next step was pressed before it.
    has_stepped: bool,
}

/// What a key of the viewer means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Command {
    Pause,
    Step,
}

impl Viewer {
    /// Takes the terminal.
    pub(super) fn open(options: ViewerOptions, size: (u16, u16)) -> io::Result<Self> {
        check_terminal(size)?;
        let terminal = Terminal::take_over(false, options.is_panic_caught)?;
        let (sender, keys) = mpsc::unbounded_channel();
        let input = Input::start(sender, Parser::default())?;
        let mut canvas = Canvas::new(terminal::erase_uses_background());
        canvas.invalidate();
        Ok(Self {
            options,
            canvas,
            _terminal: terminal,
            _input: input,
            keys,
            signals: EndingSignals::new()?,
            frame: None,
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
        self.frame = Some((frame.clone(), cursor));
        self.draw("")
    }

    /// Draws the frame, with a note for the viewer at the right of its last row.
    fn draw(&mut self, note: &str) -> io::Result<()> {
        let Some((frame, cursor)) = &self.frame else { return Ok(()) };
        let area = frame.area;
        let mut copy = self.canvas.empty_buffer(area.width, area.height);
        copy.content.clone_from(&frame.content);
        let width = text_width(note) as u16;
        if width > 0 && width < area.width && area.height > 0 {
            let style = Style::reset().add_modifier(Modifier::REVERSED);
            copy.set_string(area.right() - width, area.bottom() - 1, note, style);
        }
        let bytes = self.canvas.encode_frame(copy, &[], *cursor);
        if bytes.is_empty() { Ok(()) } else { terminal::write_bytes(bytes) }
    }

    fn toggle_pause(&mut self) -> io::Result<()> {
        self.is_paused = !self.is_paused;
        self.draw(if self.is_paused { PAUSED } else { "" })
    }

    /// Waits for this time of the demo, and longer while the viewer pauses it.
    ///
    /// # Errors
    /// [`PlayError::Left`] if the viewer leaves.
    pub(super) async fn wait(&mut self, pause: Duration) -> Result<(), PlayError> {
        let mut remaining = pause.div_f64(self.options.speed);
        loop {
            let (started, is_paused) = (Instant::now(), self.is_paused);
            let timer = async move {
                match is_paused {
                    true => std::future::pending().await,
                    false => tokio::time::sleep(remaining).await,
                }
            };
            let command = tokio::select! {
                command = self.next_command() => command?,
                () = timer => return Ok(()),
            };
            if !is_paused {
                remaining = remaining.saturating_sub(started.elapsed());
            }
            match command {
                Command::Pause => self.toggle_pause()?,
                Command::Step if self.options.is_stepped => {
                    self.has_stepped = true;
                    return Ok(());
                }
                Command::Step => {}
            }
        }
    }

    /// Waits until the viewer leaves, while a tool runs.
    pub(super) async fn wait_for_leave(&mut self) -> PlayError {
        loop {
            match self.next_command().await {
                Err(left) => return left,
                Ok(Command::Pause) => {
                    if let Err(error) = self.toggle_pause() {
                        return error.into();
                    }
                }
                Ok(Command::Step) => {}
            }
        }
    }

    /// Waits for a key if the demo is stepped.
    ///
    /// # Errors
    /// [`PlayError::Left`] if the viewer leaves.
    pub(super) async fn wait_for_step(&mut self) -> Result<(), PlayError> {
        if self.options.is_stepped && !std::mem::take(&mut self.has_stepped) {
            self.draw(NEXT_STEP)?;
            self.next_command().await?;
            self.draw("")?;
        }
        Ok(())
    }

    /// Waits for a key at the end of a demo that is stepped, so that its last frame can be looked at.
    ///
    /// # Errors
    /// [`PlayError::Left`] if the viewer leaves.
    pub(super) async fn wait_for_end(&mut self) -> Result<(), PlayError> {
        if self.options.is_stepped {
            self.draw(END)?;
            self.next_command().await?;
        }
        Ok(())
    }

    /// Waits for the next command. In a demo that is stepped, space steps as any other key does.
    async fn next_command(&mut self) -> Result<Command, PlayError> {
        loop {
            let event = tokio::select! {
                event = self.keys.recv() => event,
                signal = self.signals.recv() => return Err(PlayError::Left(Some(signal))),
            };
            let key = match event {
                Some(Event::Key(key)) if key.kind == KeyEventKind::Press => key,
                None | Some(Event::TerminalLost) => return Err(PlayError::Left(Some(HANGUP))),
                Some(_) => continue,
            };
            return match (key.code, key.modifiers) {
                (KeyCode::Char('q') | KeyCode::Esc, KeyModifiers::NONE) => Err(PlayError::Left(None)),
                (KeyCode::Char('c'), KeyModifiers::CONTROL) => Err(PlayError::Left(None)),
                (KeyCode::Char(' '), KeyModifiers::NONE) if !self.options.is_stepped => Ok(Command::Pause),
                _ => Ok(Command::Step),
            };
        }
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
