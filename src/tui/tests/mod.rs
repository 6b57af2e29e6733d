//! Tests of the whole screen without a terminal: typing, key presses, time, and what is drawn.

mod ascii;
mod audit;
mod bar;
mod beneath;
mod big;
mod cards;
mod connect;
mod hands;
mod hostile;
mod keeping;
mod laws;
mod leaving;
mod looks;
mod models;
mod modes;
mod notices;
mod outputs;
mod pictures;
mod questions;
mod rehearsed;
mod sessions;
mod speed;
mod sure;
mod trust;
mod unheard;
mod unseen;
mod unsent;
mod waiting;
mod waits;
mod writing;

use super::effect::Effect;
use super::event::Event;
use super::host::Connection;
use super::keys::Keymap;
use super::parts::transcript::cache::Cache;
use super::state::State;
use super::theme::{Theme, Themes};
use super::{update, view};
use crate::agent;
use crate::chat::*;
use crate::policy::{Mode, Policy};
use crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use std::sync::OnceLock;
use std::time::Duration;

/// Loaded once, because every test needs them.
static THEMES: OnceLock<Themes> = OnceLock::new();

/// A screen of 80 by 24 and the effects it has requested.
pub struct Screen {
    pub state: State,
    pub cache: Cache,
    pub effects: Vec<Effect>,
}

impl Screen {
    pub fn new() -> Self {
        Self::of(agent::State::new(Policy::default(), "gpt-5-mini".into(), String::new(), vec![]))
    }

    pub fn dry() -> Self {
        let policy = Policy { mode: Mode::Ask, dry_run: true, ..Policy::default() };
        Self::of(agent::State::new(policy, "gpt-5-mini".into(), String::new(), vec![]))
    }

    /// A session with these entries.
    pub fn with(entries: impl IntoIterator<Item = Entry>) -> Self {
        let blank = agent::State::new(Policy::default(), "gpt-5-mini".into(), String::new(), vec![]);
        Self::of(agent::resume(Session::replay(entries), blank).0)
    }

    fn of(agent: agent::State) -> Self {
        let connection = Connection {
            model: "gpt-5-mini".into(),
            source: "from your settings".into(),
            ..Connection::default()
        };
        let (state, effects) = State::new(
            agent,
            SessionId("01J".into()),
            connection,
            THEMES.get_or_init(Themes::bundled).clone(),
            Theme::plain(),
            Keymap::default(),
            view::tests::settings(),
            (Unsent::default(), Vec::new(), Vec::new()),
        );
        let mut screen = Self { state, cache: Cache::default(), effects };
        screen.frame();
        screen
    }

    pub fn happens(&mut self, event: Event) {
        let effects = update::update(&mut self.state, &mut self.cache, event);
        self.effects.extend(effects);
    }

    /// Advances the clock and draws a frame.
    pub fn waits(&mut self, ms: u64) {
        let now = self.state.now + Duration::from_millis(ms);
        self.happens(Event::Tick(now));
        self.frame();
    }

    pub fn presses(&mut self, chord: &str) {
        self.happens(Event::Key(key(chord)));
        self.comes_to_rest();
        self.frame();
    }

    /// Handles a held-back key as if no other followed.
    fn comes_to_rest(&mut self) {
        if let Some(until) = self.state.held_until() {
            self.happens(Event::Tick(until));
            self.happens(Event::Quiet);
        }
    }

    /// Types text at the speed of a user.
    pub fn types(&mut self, text: &str) {
        for letter in text.chars() {
            self.waits(100);
            self.happens(Event::Key(KeyEvent::new(KeyCode::Char(letter), KeyModifiers::NONE)));
            self.comes_to_rest();
            self.frame();
        }
    }

    pub fn says(&mut self, text: &str) {
        self.types(text);
        self.presses("enter");
        // The terminal reports that Enter was released.
        self.happens(Event::Key(KeyEvent { kind: KeyEventKind::Release, ..key("enter") }));
    }

    pub fn chunk(&mut self, chunk: Chunk) {
        let turn = self.state.agent.turn().expect("a turn runs");
        let after = Duration::from_secs(3);
        self.happens(Event::Agent(agent::Event::Chunk { turn, chunk, after }));
    }

    pub fn replies(&mut self, text: &str) {
        self.chunk(Chunk::Text(text.into()));
        self.chunk(Chunk::Done(Finish::Stop));
        self.frame();
    }

    /// Lets the model call a tool, which has planned the call.
    pub fn calls(&mut self, id: &str, name: &str, intent: Intent) {
        let arguments = format!(r#"{{"of":"{id}"}}"#);
        self.chunk(Chunk::Call(ToolCall { id: id.into(), name: name.into(), arguments }));
        self.chunk(Chunk::Done(Finish::Stop));
        self.planned(id, intent);
    }

    pub fn planned(&mut self, id: &str, intent: Intent) {
        let turn = self.state.agent.turn().expect("a turn runs");
        self.happens(Event::Agent(agent::Event::Planned { turn, call: id.into(), intent: Ok(intent) }));
        self.frame();
    }

    pub fn finished(&mut self, id: &str, outcome: Outcome) {
        let turn = self.state.agent.turn().expect("a turn runs");
        let took = Duration::from_millis(12);
        self.happens(Event::Agent(agent::Event::Finished {
            turn,
            call: id.into(),
            outcome,
            staged: None,
            took,
        }));
        self.frame();
    }

    /// Draws a frame as the event loop does.
    pub fn frame(&mut self) -> Buffer {
        let (width, height) = self.state.size;
        let mut buffer = Buffer::empty(Rect::new(0, 0, width, height));
        let shown = view::view(&self.state, &mut self.cache, &mut buffer);
        let now = self.state.now;
        update::shown(&mut self.state, now, shown.card);
        buffer
    }

    /// Returns the screen as text, without trailing blanks.
    pub fn shows(&mut self) -> String {
        text(&self.frame())
    }

    pub fn resized(&mut self, width: u16, height: u16) {
        self.happens(Event::Resized(width, height));
        self.frame();
    }

    /// Counts the decisions and answers in the log.
    pub fn decided(&self) -> usize {
        let counts = |entry: &&Entry| matches!(entry, Entry::Decided { .. } | Entry::Answered { .. });
        self.state.agent.session.entries().iter().filter(counts).count()
    }
}

/// Number of cases for an expensive test: `thorough` if `AYE_TEST_THOROUGH` is set, as in CI, otherwise `quick`.
pub fn often(thorough: usize, quick: usize) -> usize {
    if std::env::var_os("AYE_TEST_THOROUGH").is_some() { thorough } else { quick }
}

/// All items if `AYE_TEST_THOROUGH` is set, otherwise every `each`th, starting at `from`.
pub fn part_of<T>(all: &[T], each: usize, from: usize) -> impl Iterator<Item = &T> {
    all.iter().skip(often(0, from)).step_by(often(1, each))
}

/// Returns a rendered buffer as text; the second cell of a wide character is skipped.
pub fn text(buffer: &Buffer) -> String {
    let mut lines = Vec::new();
    for row in buffer.content.chunks(usize::from(buffer.area.width.max(1))) {
        let (mut line, mut skip) = (String::new(), 0);
        for cell in row {
            if skip > 0 {
                skip -= 1;
                continue;
            }
            line.push_str(cell.symbol());
            skip = crate::tui::text::width::width(cell.symbol()).saturating_sub(1);
        }
        lines.push(line.trim_end().to_owned());
    }
    lines.join("\n")
}

pub fn key(chord: &str) -> KeyEvent {
    let mut rest = chord;
    let mut modifiers = KeyModifiers::NONE;
    for (word, held) in
        [("ctrl-", KeyModifiers::CONTROL), ("alt-", KeyModifiers::ALT), ("shift-", KeyModifiers::SHIFT)]
    {
        if let Some(after) = rest.strip_prefix(word) {
            (rest, modifiers) = (after, modifiers | held);
        }
    }
    let code = match rest {
        "enter" => KeyCode::Enter,
        "esc" => KeyCode::Esc,
        "tab" => KeyCode::Tab,
        "up" => KeyCode::Up,
        "down" => KeyCode::Down,
        "page-up" => KeyCode::PageUp,
        "page-down" => KeyCode::PageDown,
        "home" => KeyCode::Home,
        "end" => KeyCode::End,
        "backspace" => KeyCode::Backspace,
        "f1" => KeyCode::F(1),
        letter => KeyCode::Char(letter.chars().next().expect("a chord has a key")),
    };
    KeyEvent::new(code, modifiers)
}

pub fn said(text: &str) -> Entry {
    Entry::Said { text: text.into() }
}

pub fn replied(text: &str) -> Entry {
    Entry::Replied {
        text: text.into(),
        reasoning: String::new(),
        calls: vec![],
        incomplete: None,
        model: "m".into(),
        usage: Some(Usage { input: 14_000, cached: 0, output: 200 }),
        thought_ms: 0,
        echo: None,
    }
}

pub fn ended() -> Entry {
    Entry::Ended { ending: Ending::Finished }
}

pub fn command(line: &str) -> Intent {
    let line = CommandLine {
        command: line.into(),
        folder: "/project".into(),
        seconds: 30,
        ..CommandLine::default()
    };
    Intent::Act(Box::new(Plan {
        title: "run a command?".into(),
        summary: line.command.clone(),
        access: Access::Run(line.clone().into()),
        preview: Preview::Command(line.clone()),
        always: None,
        destroys: None,
        basis: Basis::default(),
        work: Work::Command(line),
    }))
}

pub fn read(path: &str) -> Intent {
    Intent::Act(Box::new(Plan {
        title: "read a file?".into(),
        summary: path.into(),
        access: Access::Read(vec![path.into()]),
        preview: Preview::Text(path.into()),
        always: None,
        destroys: None,
        basis: Basis::default(),
        work: Work::Arguments(serde_json::Value::Null),
    }))
}

/// A session file in memory only.
pub struct NoFile;

impl crate::tui::host::SessionFile for NoFile {
    fn save(&mut self) -> Option<crate::runtime::Unsaved> {
        None
    }

    fn save_to(&mut self, _: &std::path::Path) -> std::io::Result<()> {
        Ok(())
    }
}

pub fn question() -> Intent {
    let choice =
        |label: &str, description: &str| Choice { description: description.into(), ..Choice::new(label) };
    Intent::Ask(Questions {
        list: vec![Question {
            keyword: "clock".into(),
            text: "Which clock should the test use?".into(),
            options: vec![
                choice("tokio", "virtual time"),
                choice("a trait", "more code"),
                choice("real", ""),
            ],
            multi: false,
            allow_text: true,
            recommended: Some(0),
        }],
        dropped: Dropped::default(),
    })
}
