//! Main loop of the screen: waits for input, the agent or a timer, updates the state, draws a frame.

mod away;
mod due;
mod last_resort;
mod session_file;
mod suspension;

use super::canvas::Canvas;
use super::effect::Effect;
use super::event::Event;
use super::host::{Host, Line, Reply};
use super::input::parse::Parser;
use super::input::{self, Input};
use super::parts::transcript::cache::Cache;
use super::state::State;
use super::terminal::{self, Terminal};
use super::{Exit, Start, outside, update, view};
use due::Due;
use last_resort::LastResort;
use std::io;
use std::path::PathBuf;
use std::time::Instant;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::mpsc;

/// Maximum number of agent events handled before the next frame.
const BATCH: usize = 512;
/// SIGHUP, sent to a program whose terminal is gone.
const HANGUP: i32 = 1;

/// The running screen: the state and everything with side effects.
pub struct Screen {
    state: State,
    cache: Cache,
    canvas: Canvas,
    terminal: Terminal,
    input: Option<Input>,
    /// Input of the user, and results of threads started here.
    events: mpsc::UnboundedReceiver<Event>,
    back: mpsc::UnboundedSender<Event>,
    line: Line,
    host: Box<dyn Host>,
    replies: mpsc::Receiver<Reply>,
    signals: Signals,
    _last_resort: LastResort,
    began: Instant,
    drawn: Option<Instant>,
    /// Urgency of the next frame.
    due: Due,
    ended_by: Option<i32>,
    left: bool,
    /// File the session was written to instead of its own.
    saved_to: Option<PathBuf>,
}

/// Returns whether erasing uses the current background colour; only `screen` uses the terminal's default.
fn fills() -> bool {
    let is_screen = |term: String| term.starts_with("screen");
    std::env::var_os("TMUX").is_some() || !std::env::var("TERM").is_ok_and(is_screen)
}

/// Signal streams.
struct Signals {
    resized: Signal,
    ends: [(Signal, i32); 4],
    stop: Signal,
    goes_on: Signal,
    /// Time at which another program released the terminal.
    back: Option<Instant>,
}

/// Reason the loop woke up.
enum Woken {
    By(Box<Event>),
    Resized,
    Stopped,
    Ended(i32),
    Time,
    /// A channel was closed.
    Dry,
}

impl Signals {
    fn new() -> io::Result<Self> {
        let end = |kind: SignalKind| Ok::<_, io::Error>((signal(kind)?, kind.as_raw_value()));
        let tstp = SignalKind::from_raw(rustix::process::Signal::TSTP.as_raw());
        let cont = SignalKind::from_raw(rustix::process::Signal::CONT.as_raw());
        Ok(Self {
            resized: signal(SignalKind::window_change())?,
            ends: [
                end(SignalKind::terminate())?,
                end(SignalKind::hangup())?,
                end(SignalKind::interrupt())?,
                end(SignalKind::quit())?,
            ],
            stop: signal(tstp)?,
            goes_on: signal(cont)?,
            back: None,
        })
    }
}

impl Screen {
    /// Takes the terminal and draws the first frame.
    pub fn open(start: Start) -> anyhow::Result<Self> {
        let signals = Signals::new()?;
        let terminal = Terminal::take(start.settings.mouse)?;
        let mut early = start.early;
        early.raw.handed_on();
        let (back, events) = mpsc::unbounded_channel();
        let (line, host, replies) = (start.line, start.host, start.replies);
        let (state, first) = State::new(
            start.agent,
            start.session,
            start.connection,
            start.themes,
            start.theme,
            start.keys,
            start.settings,
            (start.unsent, start.history, start.notices),
        );
        let mut screen = Self {
            state,
            cache: Cache::default(),
            canvas: Canvas::new(fills()),
            terminal,
            input: None,
            events,
            back,
            line,
            host,
            replies,
            signals,
            _last_resort: LastResort::watch()?,
            began: Instant::now(),
            drawn: None,
            due: Due::Now,
            ended_by: None,
            left: false,
            saved_to: None,
        };
        screen.canvas.forget();
        screen.resize();
        screen.draw();
        let mut parser = Parser::default();
        let before = [early.bytes, input::early::held()].concat();
        for event in input::early::events(parser.feed(&before)) {
            screen.take(event);
        }
        screen.input = Some(Input::start(screen.back.clone(), parser)?);
        screen.carry_out(first);
        let effects = update::begin(&mut screen.state, start.says, start.offers, start.picks);
        screen.carry_out(effects);
        screen.due = Due::Now;
        Ok(screen)
    }

    /// Runs the screen until the user leaves it.
    pub async fn show(mut self) -> anyhow::Result<Exit> {
        while !self.left {
            let woken = self.wait().await;
            self.take(Event::Tick(self.began.elapsed()));
            match woken {
                Woken::By(event) => self.take(*event),
                Woken::Resized => self.resize(),
                Woken::Stopped => self.suspend().await?,
                Woken::Ended(signal) if self.signals.is_late(signal) => {}
                Woken::Ended(signal) => self.end(signal),
                Woken::Time | Woken::Dry => {}
            }
            self.drain();
            if self.state.held_until().is_some() && self.events.is_empty() {
                self.take(Event::Quiet);
            }
            let now = Instant::now();
            if self.due.at(self.drawn, now).is_some_and(|at| at <= now) {
                self.draw();
            }
        }
        let agent = &self.state.agent;
        let title = agent
            .session
            .title()
            .map(|title| crate::chat::staged::titled(title, agent.is_dry_run()).into_owned());
        let said = !self.state.agent.session.entries().is_empty();
        Ok(Exit {
            session: self.state.session.clone(),
            title: title.filter(|_| said),
            ended_by: self.ended_by,
            lost: self.loss(),
            saved_to: self.saved_to,
        })
    }

    /// Waits for the first event; input has priority.
    async fn wait(&mut self) -> Woken {
        let until = self.next_time();
        let timer = async move {
            match until {
                Some(at) => tokio::time::sleep_until(at.into()).await,
                None => std::future::pending().await,
            }
        };
        let [(terminate, t), (hangup, h), (interrupt, i), (quit, q)] = &mut self.signals.ends;
        tokio::select! {
            biased;
            event = self.events.recv() => event.map_or(Woken::Dry, |event| Woken::By(Box::new(event))),
            _ = terminate.recv() => Woken::Ended(*t),
            _ = hangup.recv() => Woken::Ended(*h),
            _ = interrupt.recv() => Woken::Ended(*i),
            _ = quit.recv() => Woken::Ended(*q),
            _ = self.signals.stop.recv() => Woken::Stopped,
            _ = self.signals.resized.recv() => Woken::Resized,
            // A frame that is due comes before more events of the agent.
            () = timer => Woken::Time,
            Some(reply) = self.replies.recv() => Woken::By(Box::new(Event::Host(reply))),
            Some(event) = self.line.events.recv() => Woken::By(Box::new(Event::Agent(event))),
        }
    }

    /// Returns when to wake up without an event: for a delayed frame, or for the state. `None` while nothing moves.
    fn next_time(&self) -> Option<Instant> {
        let frame = self.due.at(self.drawn, self.began);
        let wish = self.state.wakes_at().map(|at| self.began + at);
        frame.into_iter().chain(wish).min()
    }

    /// Handles all events that are already waiting, so that a burst costs one frame. Stops at a key.
    fn drain(&mut self) {
        for _ in 0..BATCH {
            if self.left {
                return;
            }
            if let Ok(event) = self.events.try_recv() {
                self.take(event);
                continue;
            }
            let next = self.replies.try_recv().map(Event::Host);
            let Ok(event) = next.or_else(|_| self.line.events.try_recv().map(Event::Agent)) else { return };
            self.take(event);
        }
    }

    /// Applies one event to the state and runs its effects.
    fn take(&mut self, event: Event) {
        let event = match event {
            Event::Host(Reply::Opened(mut opened)) => {
                // The old runtime stops when its connection is dropped; what arrived so far is kept.
                for effect in update::left(&mut self.state) {
                    if let Effect::Agent(effects) = effect {
                        let _ = (self.line.run)(effects);
                    }
                }
                std::mem::swap(&mut self.line, &mut opened.line);
                Event::Host(Reply::Opened(opened))
            }
            Event::Lost => return self.end(HANGUP),
            event => event,
        };
        let due = Due::of(&event);
        let effects = update::update(&mut self.state, &mut self.cache, event);
        let moved = if self.state.take_moved() { Due::Soon } else { Due::No };
        self.due = self.due.max(due).max(moved);
        self.carry_out(effects);
    }

    fn carry_out(&mut self, effects: Vec<Effect>) {
        for effect in effects {
            let done = match effect {
                Effect::Agent(effects) => {
                    if let Some(trouble) = (self.line.run)(effects) {
                        if self.state.saving.unsaved().is_none() {
                            self.notice(trouble);
                        }
                        self.save();
                    }
                    Ok(())
                }
                Effect::Ask(wish) => {
                    self.host.ask(wish);
                    Ok(())
                }
                Effect::Copy(text) => match outside::copy(&text) {
                    Some(bytes) => self.write(&bytes),
                    None => Err(io::Error::other(
                        "Cannot copy: the text is too long for the terminal's clipboard (100 kB)",
                    )),
                },
                Effect::OpenFile { path, line } => self.open_file(&path, line),
                Effect::OpenWeb(address) => outside::open_web(&address),
                Effect::EditText(text) => self.edit_text(&text),
                Effect::Alert(text) => self.write(&outside::alert(&text)),
                Effect::Title(text) => self.write(&terminal::title(&text)),
                Effect::Suspend => {
                    // The same signal the shell uses.
                    rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::TSTP)
                        .map_err(io::Error::from)
                }
                Effect::Redraw => {
                    self.canvas.forget();
                    Ok(())
                }
                Effect::Save => {
                    self.save();
                    Ok(())
                }
                Effect::SaveTo(file) => self.save_to(file),
                Effect::Quit => {
                    self.left = true;
                    Ok(())
                }
            };
            if let Err(error) = done {
                self.notice(error.to_string());
            }
        }
    }

    /// Shows a notification with the next batch of events.
    fn notice(&self, text: String) {
        let _ = self.back.send(Event::Notice(text));
    }

    fn end(&mut self, signal: i32) {
        self.ended_by = Some(signal);
        self.left = true;
        let effects = update::farewell(&mut self.state);
        for effect in effects {
            match effect {
                Effect::Agent(effects) => drop((self.line.run)(effects)),
                Effect::Ask(wish) => self.host.ask(wish),
                _ => {}
            }
        }
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        if terminal::write(bytes).is_err() {
            // The terminal is closed.
            self.end(HANGUP);
        }
        Ok(())
    }

    fn resize(&mut self) {
        if let Ok((width, height)) = crossterm::terminal::size() {
            // Some terminals report 0 if they do not know their size.
            let (width, height) = if width == 0 || height == 0 { (80, 24) } else { (width, height) };
            // The size may have changed for a moment, which truncated the contents.
            self.canvas.forget();
            self.take(Event::Resized(width, height));
        }
    }

    fn draw(&mut self) {
        let (width, height) = self.state.size;
        let mut buffer = self.canvas.blank(width, height);
        let shown = view::view(&self.state, &mut self.cache, &mut buffer);
        self.due = Due::No;
        self.drawn = Some(Instant::now());
        let bytes = self.canvas.frame(buffer, &shown.links, shown.cursor);
        if !bytes.is_empty() && terminal::write(bytes).is_err() {
            // The terminal is closed.
            self.end(HANGUP);
        }
        if update::shown(&mut self.state, self.began.elapsed(), shown.card) {
            self.due = Due::Soon;
        }
        self.look_things_up();
    }

    /// Asks the host for the link targets the layout did not know.
    fn look_things_up(&mut self) {
        let targets = self.cache.take_wanted();
        if !targets.is_empty() {
            self.host.ask(super::host::Wish::Exist(targets));
        }
    }
}
