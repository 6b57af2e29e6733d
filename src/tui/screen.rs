//! Main loop of the screen: waits for input, the agent or a timer, updates the state, draws a frame.

mod external_program;
mod recording;
mod session_file;
mod suspension;
mod terminal_handover;
mod urgency;

use super::canvas::Canvas;
use super::effect::Effect;
use super::event::Event;
use super::exit_watchdog::ExitWatchdog;
use super::host::{AgentLink, Host, HostReply};
use super::input::parse::Parser;
use super::input::{self, Input};
use super::parts::toast::Kind;
use super::parts::transcript::layout_cache::LayoutCache;
use super::recorder::{Recorder, RecordingOptions};
use super::signals::{HANGUP, Signals};
use super::state::State;
use super::terminal::{self, Terminal};
use super::{Exit, Start, external, terminal_clipboard, update, view};
use crate::chat::DryRunCounts;
use crate::chat::result_origin::mark_dry_run;
use rustix::process::{getpid, kill_process};
use std::io;
use std::path::PathBuf;
use std::time::Instant;
use tokio::sync::mpsc;
use urgency::Urgency;

/// Maximum number of waiting events handled before the next frame.
const MAX_BATCH: usize = 512;

/// The running screen: the state and everything with side effects.
pub struct Screen {
    state: Box<State>,
    cache: LayoutCache,
    canvas: Canvas,
    terminal: Terminal,
    /// Reader of the terminal's input; `None` while another program has the terminal.
    input: Option<Input>,
    /// Input of the user, and results of threads started here.
    events: mpsc::UnboundedReceiver<Event>,
    event_sender: mpsc::UnboundedSender<Event>,
    link: AgentLink,
    host: Box<dyn Host>,
    replies: mpsc::Receiver<HostReply>,
    signals: Signals,
    _exit_watchdog: ExitWatchdog,
    started_at: Instant,
    last_frame: Option<Instant>,
    /// Urgency of the next frame.
    urgency: Urgency,
    exit_signal: Option<i32>,
    has_quit: bool,
    recorder: Option<Box<Recorder>>,
    recording_options: RecordingOptions,
    /// File the session was written to because its own file cannot be written.
    saved_to: Option<PathBuf>,
}

/// Reason the loop woke up.
enum WakeReason {
    Event(Box<Event>),
    Resized,
    Suspended,
    Signal(i32),
    Timer,
    /// The channel of user input was closed.
    ChannelClosed,
}

impl Screen {
    /// Takes the terminal and draws the first frame.
    pub fn open_screen(start: Start) -> anyhow::Result<Self> {
        let signals = Signals::new()?;
        let terminal = Terminal::take_over(start.state.settings.has_mouse, start.is_panic_caught)?;
        let startup_input = start.startup_input;
        // The terminal restores the normal mode from now on.
        std::mem::forget(startup_input.raw_mode);
        let (event_sender, events) = mpsc::unbounded_channel();
        let (link, host, replies) = (start.link, start.host, start.replies);
        let mut state = start.state;
        let initial_effects = state.take_effects();
        let mut screen = Self {
            state,
            cache: LayoutCache::default(),
            canvas: Canvas::new(terminal::erase_uses_background()),
            terminal,
            input: None,
            events,
            event_sender,
            link,
            host,
            replies,
            signals,
            _exit_watchdog: ExitWatchdog::start_watching()?,
            started_at: Instant::now(),
            last_frame: None,
            urgency: Urgency::Now,
            exit_signal: None,
            has_quit: false,
            recorder: None,
            recording_options: start.recording_options,
            saved_to: None,
        };
        screen.canvas.invalidate();
        screen.update_size();
        if let Some(file) = start.record_to {
            screen.start_recording(&file, screen.started_at.elapsed())?;
        }
        screen.draw_frame();
        let mut parser = Parser::default();
        let early_bytes = [startup_input.bytes, input::startup::read_buffered()].concat();
        for event in input::startup::to_events(parser.parse_bytes(&early_bytes)) {
            screen.handle_event(event);
        }
        screen.input = Some(Input::start(screen.event_sender.clone(), parser)?);
        screen.run_effects(initial_effects);
        let effects =
            update::apply_start_options(&mut screen.state, start.first_message, start.approvals, start.session_picker);
        screen.run_effects(effects);
        screen.urgency = Urgency::Now;
        Ok(screen)
    }

    /// Runs the screen until the user leaves it.
    pub async fn run_loop(mut self) -> anyhow::Result<Exit> {
        while !self.has_quit {
            let reason = self.wait_for_wake().await;
            self.handle_event(Event::Tick(self.started_at.elapsed()));
            match reason {
                WakeReason::Event(event) => self.handle_event(*event),
                WakeReason::Resized => self.update_size(),
                WakeReason::Suspended => self.suspend_program().await?,
                WakeReason::Signal(signal) if self.signals.is_late_signal(signal) => {}
                WakeReason::Signal(signal) => self.end_by_signal(signal),
                WakeReason::Timer | WakeReason::ChannelClosed => {}
            }
            self.handle_waiting();
            if self.state.held_key_deadline().is_some() && self.events.is_empty() {
                self.handle_event(Event::InputIdle);
            }
            let now = Instant::now();
            if self.urgency.draw_time(self.last_frame, now).is_some_and(|draw_time| draw_time <= now) {
                self.draw_frame();
            }
        }
        self.state.lookups.pictures.drop_stored();
        self.send_pictures();
        let agent = &self.state.agent;
        let title = agent.session.title().filter(|_| !agent.session.entries().is_empty());
        let rehearsed =
            if agent.is_dry_run() { DryRunCounts::from_entries(agent.session.entries()).rehearsed } else { 0 };
        Ok(Exit {
            rehearsed,
            session: self.state.session.id.clone(),
            title: title.map(|title| mark_dry_run(title, agent.is_dry_run()).into_owned()),
            exit_signal: self.exit_signal,
            loss: self.save_or_describe_loss(),
            recorded: self.finish_recording(),
            saved_to: self.saved_to,
        })
    }

    /// Waits for the first event; input has priority.
    async fn wait_for_wake(&mut self) -> WakeReason {
        let wake_time = self.next_wake();
        let timer = async move {
            match wake_time {
                Some(time) => tokio::time::sleep_until(time.into()).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            biased;
            event = self.events.recv() => event.map_or(WakeReason::ChannelClosed, |event| WakeReason::Event(Box::new(event))),
            signal = self.signals.ending.recv() => WakeReason::Signal(signal),
            _ = self.signals.suspend.recv() => WakeReason::Suspended,
            _ = self.signals.resized.recv() => WakeReason::Resized,
            // A frame that is due comes before more events of the agent.
            () = timer => WakeReason::Timer,
            Some(reply) = self.replies.recv() => WakeReason::Event(Box::new(Event::Host(reply))),
            Some(event) = self.link.events.recv() => WakeReason::Event(Box::new(Event::Agent(event))),
        }
    }

    /// Returns when to wake up without an event: for a delayed frame, or for the state. `None` while nothing moves.
    fn next_wake(&self) -> Option<Instant> {
        // An urgent frame gets a time in the past, so that the timer fires at once.
        let frame = self.urgency.draw_time(self.last_frame, self.started_at);
        let state_change = self.state.next_change().map(|time| self.started_at + time);
        frame.into_iter().chain(state_change).min()
    }

    /// Handles up to [`MAX_BATCH`] events that are already waiting, so that a burst costs one frame.
    fn handle_waiting(&mut self) {
        for _ in 0..MAX_BATCH {
            if self.has_quit {
                return;
            }
            if let Ok(event) = self.events.try_recv() {
                self.handle_event(event);
                continue;
            }
            let next = self.replies.try_recv().map(Event::Host);
            let Ok(event) = next.or_else(|_| self.link.events.try_recv().map(Event::Agent)) else { return };
            self.handle_event(event);
        }
    }

    /// Applies one event to the state and runs its effects.
    fn handle_event(&mut self, event: Event) {
        let event = match event {
            Event::Host(HostReply::Opened(mut opened)) => {
                // The old runtime stops when its connection is dropped: ending the turn first keeps its partial reply.
                for effect in update::interrupt_turn(&mut self.state) {
                    if let Effect::Agent(effects) = effect {
                        let _ = (self.link.run)(effects);
                    }
                }
                std::mem::swap(&mut self.link, &mut opened.link);
                Event::Host(HostReply::Opened(opened))
            }
            Event::TerminalLost => return self.end_by_signal(HANGUP),
            event => event,
        };
        let event_urgency = Urgency::from_event(&event);
        let effects = update::update(&mut self.state, &mut self.cache, event);
        let is_changed_by_time = std::mem::take(&mut self.state.timing.is_changed_by_time);
        let time_urgency = if is_changed_by_time { Urgency::Soon } else { Urgency::NotNeeded };
        self.urgency = self.urgency.max(event_urgency).max(time_urgency);
        self.run_effects(effects);
        self.request_link_checks();
    }

    fn run_effects(&mut self, effects: Vec<Effect>) {
        for effect in effects {
            if let Err(error) = self.run_effect(effect) {
                self.send_notice(error.to_string());
            }
        }
    }

    fn run_effect(&mut self, effect: Effect) -> io::Result<()> {
        match effect {
            Effect::Agent(effects) => {
                if let Some(error) = (self.link.run)(effects) {
                    if self.state.session.saving.unsaved().is_none() {
                        self.send_notice(error);
                    }
                    self.save_session();
                }
            }
            Effect::Request(request) => self.host.start_request(request),
            Effect::CopyText(text) => {
                let bytes = external::clipboard_bytes(&text).ok_or_else(|| {
                    io::Error::other("Cannot copy: the text is too long for the terminal's clipboard (100 kB)")
                })?;
                self.write_bytes(&bytes);
            }
            Effect::ReadTerminalClipboard => self.write_bytes(&terminal_clipboard::request_bytes()),
            Effect::OpenFile { path, line } => self.open_file(&path, line)?,
            Effect::OpenWeb(address) => external::open_web(&address)?,
            Effect::EditText(text) => self.edit_text(&text)?,
            Effect::AttachTerminal => self.attach_terminal()?,
            Effect::Notify(text) => self.write_bytes(&external::notification_bytes(&text)),
            Effect::Record(file) => {
                if let Err(error) = self.change_recording(&file) {
                    // Unlike a warning, it is not repeated on the welcome screen, which may be recorded next.
                    let now = self.started_at.elapsed();
                    self.state.notices.toasts.push(Kind::Warning, &error.to_string(), now);
                    self.urgency = Urgency::Now;
                }
            }
            Effect::SetTitle(text) => self.write_bytes(&terminal::title_bytes(&text)),
            // The signal that the terminal sends for its suspend key.
            Effect::Suspend => kill_process(getpid(), rustix::process::Signal::TSTP)?,
            Effect::Redraw => {
                self.state.lookups.pictures.drop_stored();
                self.canvas.invalidate();
            }
            Effect::Save => self.save_session(),
            Effect::SaveTo(file) => self.save_session_to(file)?,
            Effect::Quit => self.has_quit = true,
        }
        Ok(())
    }

    /// Shows a notification with the next batch of events.
    fn send_notice(&self, text: String) {
        let _ = self.event_sender.send(Event::Notice(text));
    }

    fn end_by_signal(&mut self, signal: i32) {
        self.exit_signal = Some(signal);
        self.has_quit = true;
        let effects = update::prepare_exit(&mut self.state);
        for effect in effects {
            match effect {
                Effect::Agent(effects) => drop((self.link.run)(effects)),
                Effect::Request(request) => self.host.start_request(request),
                _ => {}
            }
        }
    }

    fn write_bytes(&mut self, bytes: &[u8]) {
        if terminal::write_bytes(bytes).is_err() {
            // The terminal is closed.
            self.end_by_signal(HANGUP);
        }
    }

    fn update_size(&mut self) {
        if let Ok((width, height)) = crossterm::terminal::size() {
            // Some terminals report 0 if they do not know their size.
            let (width, height) = if width == 0 || height == 0 { (80, 24) } else { (width, height) };
            // The terminal may have truncated its contents, even if it was smaller only for a moment.
            self.canvas.invalidate();
            self.state.lookups.pictures.set_cell_pixels(terminal::cell_pixels());
            self.handle_event(Event::Resized(width, height));
        }
    }

    fn draw_frame(&mut self) {
        let (width, height) = self.state.viewport.size;
        let mut buffer = self.canvas.empty_buffer(width, height);
        let frame = view::draw_screen(&self.state, &mut self.cache, &mut buffer);
        self.urgency = Urgency::NotNeeded;
        self.last_frame = Some(Instant::now());
        self.send_pictures();
        self.record_frame(&buffer, frame.cursor);
        self.state.draw_key_caps(&mut buffer);
        self.mark_recording(&mut buffer);
        let bytes = self.canvas.encode_frame_with_strips(buffer, &frame.links, &frame.strips, frame.cursor);
        if !bytes.is_empty() && terminal::write_bytes(bytes).is_err() {
            // The terminal is closed.
            self.end_by_signal(HANGUP);
        }
        if update::record_frame(&mut self.state, self.started_at.elapsed(), frame.prompt) {
            self.urgency = Urgency::Soon;
        }
        self.request_link_checks();
    }

    /// Stores new pictures in the terminal and removes old ones.
    fn send_pictures(&mut self) {
        let bytes = self.state.lookups.pictures.take_unsent();
        if !bytes.is_empty() {
            self.write_bytes(&bytes);
        }
    }

    /// Asks the host for the link targets and the next picture that the layout did not know, and for all targets again after
    /// files may have changed.
    fn request_link_checks(&mut self) {
        if let Some((key, form)) = self.state.lookups.pictures.take_request() {
            self.host.start_request(super::host::HostRequest::ReadPicture(key, form));
        }
        let targets = self.state.lookups.take_pending();
        if !targets.is_empty() {
            self.host.start_request(super::host::HostRequest::CheckLinks(targets));
        }
    }
}
