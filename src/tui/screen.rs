//! The loop: waits for a key, for the agent, or for a time; then one update for all that waits, and one frame.

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

/// So many events of the agent are taken before the next frame is considered.
const BATCH: usize = 512;
/// The number the system gives a program whose terminal is gone.
const HANGUP: i32 = 1;

/// The screen at work: the state, and everything impure around it.
pub struct Screen {
    state: State,
    cache: Cache,
    canvas: Canvas,
    terminal: Terminal,
    input: Option<Input>,
    /// What a person does, and what comes back from threads this started.
    events: mpsc::UnboundedReceiver<Event>,
    back: mpsc::UnboundedSender<Event>,
    line: Line,
    host: Box<dyn Host>,
    replies: mpsc::Receiver<Reply>,
    signals: Signals,
    _last_resort: LastResort,
    began: Instant,
    drawn: Option<Instant>,
    /// How much what happened since the last frame matters.
    due: Due,
    ended_by: Option<i32>,
    left: bool,
    /// The file that the session was written to in place of its own.
    saved_to: Option<PathBuf>,
}

/// Whether erasing colours what it erases: only `screen` leaves it in the terminal's own colours.
fn fills() -> bool {
    let is_screen = |term: String| term.starts_with("screen");
    std::env::var_os("TMUX").is_some() || !std::env::var("TERM").is_ok_and(is_screen)
}

/// What the system tells a program.
struct Signals {
    resized: Signal,
    ends: [(Signal, i32); 4],
    stop: Signal,
    goes_on: Signal,
    /// When another program gave the terminal back.
    back: Option<Instant>,
}

/// What woke the loop.
enum Woken {
    By(Box<Event>),
    Resized,
    Stopped,
    Ended(i32),
    Time,
    /// A source that will say no more.
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

    /// Shows the screen until it is left.
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

    /// Waits for whatever comes first; keys before all.
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
            // A frame that is due goes before more of what the agent says.
            () = timer => Woken::Time,
            Some(reply) = self.replies.recv() => Woken::By(Box::new(Event::Host(reply))),
            Some(event) = self.line.events.recv() => Woken::By(Box::new(Event::Agent(event))),
        }
    }

    /// When something has to happen by itself: a frame that was put off, or what the state asked for. Nothing
    /// ticks while nothing moves.
    fn next_time(&self) -> Option<Instant> {
        let frame = self.due.at(self.drawn, self.began);
        let wish = self.state.wakes_at().map(|at| self.began + at);
        frame.into_iter().chain(wish).min()
    }

    /// Takes everything else that waits already, so that a burst costs one frame; a key cuts it short.
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

    /// One event into the state, and what follows from it.
    fn take(&mut self, event: Event) {
        let event = match event {
            Event::Host(Reply::Opened(mut opened)) => {
                // The old runtime stops with its line; what came so far is kept.
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
                    None => Err(io::Error::other("that is too long for the terminal's clipboard")),
                },
                Effect::OpenFile { path, line } => self.open_file(&path, line),
                Effect::OpenWeb(address) => outside::open_web(&address),
                Effect::EditText(text) => self.edit_text(&text),
                Effect::Alert(text) => self.write(&outside::alert(&text)),
                Effect::Title(text) => self.write(&terminal::title(&text)),
                Effect::Suspend => {
                    // The same way as when the shell asks for it.
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

    /// Says something to the person, with the next batch.
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
            // Nobody reads any more.
            self.end(HANGUP);
        }
        Ok(())
    }

    fn resize(&mut self) {
        if let Ok((width, height)) = crossterm::terminal::size() {
            // Some terminals say 0 when they do not know.
            let (width, height) = if width == 0 || height == 0 { (80, 24) } else { (width, height) };
            // It may have been another size for a moment, which cut off what it showed.
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
            // Nobody reads any more.
            self.end(HANGUP);
        }
        if update::shown(&mut self.state, self.began.elapsed(), shown.card) {
            self.due = Due::Soon;
        }
        self.look_things_up();
    }

    /// What the layout did not know the host finds out.
    fn look_things_up(&mut self) {
        let targets = self.cache.take_wanted();
        if !targets.is_empty() {
            self.host.ask(super::host::Wish::Exist(targets));
        }
    }
}
