//! Plays a demo script in the screen, with real tools and a clock of its own: time passes only while no work is pending, so two
//! plays show the same frames at the same times, whatever the speed of the machine.

mod effects;
mod pending_work;
mod results;
mod schedule;
mod script_position;
mod user_acts;
mod viewer;

use super::canvas::buffer_text;
use super::event::Event;
use super::host::{AgentLink, Host, HostReply};
use super::parts::transcript::layout_cache::LayoutCache;
use super::recorder::{Recorded, Recorder, RecordingOptions};
use super::state::State;
use super::{update, view};
use crate::demo::Script;
use pending_work::PendingWork;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use schedule::Schedule;
use script_position::ScriptPosition;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc;
use viewer::Viewer;
pub use viewer::ViewerOptions;

/// Longest time to wait for a tool or the rest of the program, in real time: longer than any command may run.
const WORK_TIMEOUT: Duration = Duration::from_secs(660);
/// Longest time for which a script waits for a text, in its own time.
const TEXT_TIMEOUT: Duration = Duration::from_secs(60);

/// Everything needed to play a script.
pub struct PlayStart {
    /// The screen before the first event.
    pub state: Box<State>,
    pub link: AgentLink,
    pub host: Box<dyn Host>,
    pub replies: mpsc::Receiver<HostReply>,
    pub script: Arc<Script>,
    /// Columns and rows.
    pub size: (u16, u16),
    /// Shows the demo on the terminal; `None` only records or checks it.
    pub viewer: Option<ViewerOptions>,
    /// File of the recording.
    pub record_to: Option<PathBuf>,
    pub recording_options: RecordingOptions,
    /// Sets the clock of the rest of the program to this time since the start.
    pub set_time: fn(Duration),
}

/// The end of a demo.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Played {
    /// Its length in its own time.
    pub duration: Duration,
    pub recorded: Option<Recorded>,
    pub end: PlayEnd,
}

/// How a demo ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PlayEnd {
    /// All steps were played.
    Over,
    /// The viewer left, or this signal ended it.
    Left(Option<i32>),
}

/// Why a script does not fit what happened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mismatch {
    /// Line of the step, from 1.
    pub line: usize,
    /// One sentence without a full stop.
    pub message: String,
    /// What was on the screen; empty if there was none.
    pub screen: String,
}

/// Why a demo ended early.
#[derive(Debug)]
pub enum PlayError {
    /// The viewer left, or this signal ended it. Not returned by [`play_script`].
    Left(Option<i32>),
    Mismatch(Mismatch),
    /// The terminal or the recording failed.
    Io(std::io::Error),
}

impl From<std::io::Error> for PlayError {
    fn from(error: std::io::Error) -> Self {
        Self::Io(error)
    }
}

/// Plays a script to its end.
///
/// # Errors
/// [`PlayError::Mismatch`] if the script does not fit what happens.
pub async fn play_script(start: PlayStart) -> Result<Played, PlayError> {
    let mut player = Player::open(start)?;
    let played = player.run().await;
    player.leave();
    let recorded = player.finish_recording();
    let end = match played {
        Ok(()) => PlayEnd::Over,
        Err(PlayError::Left(signal)) => PlayEnd::Left(signal),
        Err(error) => return Err(error),
    };
    Ok(Played { duration: player.now, recorded, end })
}

struct Player {
    state: Box<State>,
    cache: LayoutCache,
    link: AgentLink,
    host: Box<dyn Host>,
    replies: mpsc::Receiver<HostReply>,
    script: Arc<Script>,
    /// Time of the script.
    now: Duration,
    /// Time at which something of the program happened last.
    last_activity: Duration,
    schedule: Schedule,
    pending: PendingWork,
    position: ScriptPosition,
    recorder: Option<Box<Recorder>>,
    viewer: Option<Viewer>,
    /// Text of the last frame.
    screen: String,
    is_outdated: bool,
    has_quit: bool,
    set_time: fn(Duration),
    /// First thing that did not fit the script.
    mismatch: Option<(usize, String)>,
}

impl Player {
    fn open(start: PlayStart) -> Result<Self, PlayError> {
        let mut state = start.state;
        let initial_effects = state.take_effects();
        let position = ScriptPosition::new(&start.script)
            .map_err(|(line, message)| PlayError::Mismatch(Mismatch { line, message, screen: String::new() }))?;
        let viewer = start.viewer.map(|options| Viewer::open(options, start.size)).transpose()?;
        let mut player = Self {
            state,
            cache: LayoutCache::default(),
            link: start.link,
            host: start.host,
            replies: start.replies,
            script: start.script,
            now: Duration::ZERO,
            last_activity: Duration::ZERO,
            schedule: Schedule::default(),
            pending: PendingWork::default(),
            position,
            recorder: None,
            viewer,
            screen: String::new(),
            is_outdated: true,
            has_quit: false,
            set_time: start.set_time,
            mismatch: None,
        };
        player.handle_event(Event::Resized(start.size.0, start.size.1));
        if let Some(file) = start.record_to {
            let recorder = Recorder::start(&file, &start.recording_options, &player.state, Duration::ZERO)?;
            player.recorder = Some(Box::new(recorder));
        }
        player.run_effects(initial_effects);
        let effects = update::apply_start_options(&mut player.state, String::new(), None, None);
        player.run_effects(effects);
        Ok(player)
    }

    async fn run(&mut self) -> Result<(), PlayError> {
        loop {
            self.settle().await?;
            self.draw_frame()?;
            // A frame may ask for links and pictures, and start what a prompt counts.
            if self.is_outdated || !self.pending.is_empty() {
                self.settle().await?;
                self.draw_frame()?;
            }
            if let Some((line, message)) = self.mismatch.take() {
                return Err(self.mismatch_at(line, message));
            }
            if self.has_quit {
                return self.check_end();
            }
            let is_at_rest = self.is_at_rest();
            if let Err((line, message)) = self.position.advance(&self.script, is_at_rest, &self.screen, self.now) {
                return Err(self.mismatch_at(line, message));
            }
            let rest_since = is_at_rest.then_some(self.last_activity);
            if self.position.is_overdue(&self.script, self.now) {
                let (line, message) = self.position.describe_wait(&self.script);
                return Err(self.mismatch_at(line, message));
            }
            let user_time = self.position.due_time(&self.script, rest_since);
            let own_time = self.state.next_change().map(|time| time.max(self.now + Duration::from_millis(1)));
            if self.position.is_over(&self.script)
                && let Some(rest_since) = rest_since
            {
                let end = rest_since.max(self.position.last_act()) + self.script.pace.end;
                // What disappears by itself, such as key caps, does so before the last frame.
                if own_time.is_none_or(|time| time >= end) {
                    return self.end_at(end).await;
                }
            }
            let next = self.schedule.next_time().into_iter().chain(user_time).chain(own_time).min();
            let Some(next) = next else {
                let (line, message) = self.position.describe_wait(&self.script);
                return Err(self.mismatch_at(line, message));
            };
            let is_of_user = user_time == Some(next) && self.schedule.next_time().is_none_or(|time| time > next);
            self.wait_until(next).await?;
            if is_of_user
                && self.position.begins_step()
                && let Some(viewer) = &mut self.viewer
            {
                viewer.wait_for_step().await?;
            }
            self.handle_event(Event::Tick(self.now));
            while let Some(event) = self.schedule.take_due(self.now) {
                self.last_activity = self.now;
                self.handle_event(Event::Agent(event));
            }
            // A key that could be the beginning of a paste is one key press.
            if self.state.held_key_deadline().is_some_and(|deadline| deadline <= self.now) {
                self.handle_event(Event::InputIdle);
            }
            if is_of_user {
                self.act()?;
            }
        }
    }

    /// Returns whether the program waits for the user and nothing is on its way.
    fn is_at_rest(&self) -> bool {
        self.schedule.next_time().is_none() && self.pending.is_empty() && self.state.held_key_deadline().is_none()
    }

    /// Shows the last frame until this time.
    async fn end_at(&mut self, end: Duration) -> Result<(), PlayError> {
        self.wait_until(end).await?;
        if let Some(recorder) = &mut self.recorder {
            recorder.record_end(end)?;
        }
        self.check_end()?;
        match &mut self.viewer {
            Some(viewer) => viewer.wait_for_end().await,
            None => Ok(()),
        }
    }

    /// Lets time pass, for a viewer at the speed of the demo.
    async fn wait_until(&mut self, time: Duration) -> Result<(), PlayError> {
        let pause = time.saturating_sub(self.now);
        self.now = time.max(self.now);
        (self.set_time)(self.now);
        match &mut self.viewer {
            Some(viewer) => viewer.wait(pause).await,
            None => Ok(()),
        }
    }

    fn handle_event(&mut self, event: Event) {
        let event = match event {
            Event::Host(HostReply::Opened(mut opened)) => {
                let effects = update::interrupt_turn(&mut self.state);
                self.run_effects(effects);
                self.pending.forget_session();
                self.schedule.clear();
                std::mem::swap(&mut self.link, &mut opened.link);
                Event::Host(HostReply::Opened(opened))
            }
            event => event,
        };
        self.is_outdated |= !matches!(event, Event::Tick(_));
        let effects = update::update(&mut self.state, &mut self.cache, event);
        self.is_outdated |= std::mem::take(&mut self.state.timing.is_changed_by_time);
        self.run_effects(effects);
        self.request_lookups();
    }

    /// Waits until all pending work is finished, then handles the results in the order in which the work was started.
    async fn settle(&mut self) -> Result<(), PlayError> {
        while !self.pending.is_empty() {
            let mut arrived: Vec<(u64, Event)> = Vec::new();
            while !self.pending.is_empty() {
                let viewer = &mut self.viewer;
                let left = async {
                    match viewer {
                        Some(viewer) => viewer.wait_for_leave().await,
                        None => std::future::pending().await,
                    }
                };
                let received = tokio::time::timeout(WORK_TIMEOUT, async {
                    tokio::select! {
                        left = left => Err(left),
                        Some(event) = self.link.events.recv() => Ok(Some(Event::Agent(event))),
                        Some(reply) = self.replies.recv() => Ok(Some(Event::Host(reply))),
                        else => Ok(None),
                    }
                });
                let Some(event) = received.await.unwrap_or(Ok(None))? else {
                    let (line, _) = self.position.describe_wait(&self.script);
                    return Err(self.mismatch_at(line, format!("{} did not end", self.pending.describe())));
                };
                let order = self.pending.settle_by(&event);
                arrived.push((order, event));
            }
            arrived.sort_by_key(|(order, _)| *order);
            for (_, event) in arrived {
                self.last_activity = self.now;
                self.take_result(event);
            }
        }
        Ok(())
    }

    fn draw_frame(&mut self) -> Result<(), PlayError> {
        if !self.is_outdated {
            return Ok(());
        }
        self.is_outdated = false;
        let (width, height) = self.state.viewport.size;
        let mut buffer = Buffer::empty(Rect::new(0, 0, width, height));
        let frame = view::draw_screen(&self.state, &mut self.cache, &mut buffer);
        self.state.lookups.pictures.take_unsent();
        self.screen = buffer_text(&buffer);
        if let Some(recorder) = &mut self.recorder {
            recorder.record_frame(&self.state, &buffer, frame.cursor, self.now)?;
        }
        if let Some(viewer) = &mut self.viewer {
            self.state.draw_key_caps(&mut buffer);
            viewer.show(&buffer, frame.cursor)?;
        }
        self.is_outdated = update::record_frame(&mut self.state, self.now, frame.prompt);
        self.request_lookups();
        Ok(())
    }

    fn mismatch_at(&self, line: usize, message: String) -> PlayError {
        PlayError::Mismatch(Mismatch { line, message, screen: self.screen.clone() })
    }

    /// Checks at the end that all steps were played.
    fn check_end(&self) -> Result<(), PlayError> {
        match self.position.find_unplayed(&self.script) {
            Some((line, message)) => Err(self.mismatch_at(line, message)),
            None => Ok(()),
        }
    }

    fn finish_recording(&mut self) -> Option<Recorded> {
        let recorder = self.recorder.take()?;
        let file = recorder.path().to_owned();
        Some(Recorded { file, failure: recorder.finish().err().map(|error| error.to_string()) })
    }
}
