//! Tests of the whole screen without a terminal: typing, key presses, time, and what is drawn.

mod approval_keys;
mod ascii_mode;
mod audit_screen;
mod call_rows;
mod command_output;
mod composer_screens;
mod confirmations;
mod context_screens;
mod credential_screens;
mod custom_command_screens;
mod dry_run_screens;
mod fast_typing;
mod frame_cost;
mod hostile_text;
mod instruction_screens;
mod key_cap_screens;
mod key_rejections;
mod large_prompts;
mod link_screens;
mod manual_pages;
mod message_attachments;
mod mode_change;
mod model_choice;
mod prompt_position;
mod properties;
mod provider_choice;
mod question_keys;
mod queue_screens;
mod read_folding;
mod reply_waits;
mod rewind_choices;
mod rule_storing;
mod sampling_screens;
mod saved_drafts;
mod screen_layout;
mod screen_snapshots;
mod scrollbar_dragging;
mod server_screens;
mod session_search;
mod small_screens;
mod sub_agent_screens;
mod toasts;
mod todo_screens;
mod trial_screens;
mod trust_screens;
mod unplanned_calls;
mod unsaved_exit;
mod user_commands;

pub use super::canvas::buffer_text;
use super::effect::Effect;
use super::host::Connection;
use super::keys::Keymap;
use super::parts::frame::PromptContext;
use super::parts::listening::Listening;
use super::parts::transcript::layout_cache::LayoutCache;
use super::prompts::prompt::PromptFacts;
use super::state::State;
use super::theme::{Theme, Themes};
use super::{Event, update, view};
use crate::agent;
use crate::chat::*;
use crate::policy::{Mode, Policy};
use crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use std::path::Path;
use std::sync::LazyLock;
use std::time::Duration;

/// Loaded once, because every test needs them.
static THEMES: LazyLock<Themes> = LazyLock::new(Themes::bundled);

/// A screen of 80 by 24 and the effects it has requested.
pub struct Screen {
    pub state: State,
    pub cache: LayoutCache,
    pub effects: Vec<Effect>,
}

impl Screen {
    pub fn new() -> Self {
        Self::from_agent(agent::State::new(Policy::default(), "gpt-5-mini".into(), String::new(), vec![]))
    }

    /// A screen on which the user sent a message; the model has not replied yet.
    pub fn with_turn() -> Self {
        let mut screen = Self::new();
        screen.send_text("go");
        screen
    }

    pub fn dry_run() -> Self {
        let policy = Policy { mode: Mode::Ask, dry_run: true, ..Policy::default() };
        Self::from_agent(agent::State::new(policy, "gpt-5-mini".into(), String::new(), vec![]))
    }

    /// A session with these entries.
    pub fn with_entries(entries: impl IntoIterator<Item = Entry>) -> Self {
        let agent = agent::State::new(Policy::default(), "gpt-5-mini".into(), String::new(), vec![]);
        Self::from_agent(agent::resume_session(Session::replay(entries), agent, &Default::default()).0)
    }

    fn from_agent(agent: agent::State) -> Self {
        let connection =
            Connection { model: "gpt-5-mini".into(), source: "from your settings".into(), ..Connection::default() };
        let mut state = State::new(
            agent,
            SessionId("01J".into()),
            connection,
            THEMES.clone(),
            Theme::without_colours(),
            Keymap::default(),
            view::tests::settings(),
            UnsentText::default(),
            Vec::new(),
            Vec::new(),
        );
        let mut screen = Self { effects: state.take_effects(), state, cache: LayoutCache::default() };
        screen.draw_frame();
        screen
    }

    pub fn handle_event(&mut self, event: Event) {
        let effects = update::update(&mut self.state, &mut self.cache, event);
        self.record_effects(effects);
    }

    /// Advances the clock and draws a frame.
    pub fn advance_ms(&mut self, ms: u64) {
        let now = self.state.timing.now + Duration::from_millis(ms);
        self.handle_event(Event::Tick(now));
        self.draw_frame();
    }

    pub fn press_key(&mut self, chord: &str) {
        self.handle_event(Event::Key(key(chord)));
        self.release_held_key();
        self.draw_frame();
    }

    /// Handles a held-back key as if no other followed.
    fn release_held_key(&mut self) {
        if let Some(deadline) = self.state.held_key_deadline() {
            self.handle_event(Event::Tick(deadline));
            self.handle_event(Event::InputIdle);
        }
    }

    /// Types text at the speed of a user.
    pub fn type_text(&mut self, text: &str) {
        for character in text.chars() {
            self.advance_ms(100);
            self.handle_event(Event::Key(KeyEvent::new(KeyCode::Char(character), KeyModifiers::NONE)));
            self.release_held_key();
            self.draw_frame();
        }
    }

    pub fn send_text(&mut self, text: &str) {
        self.type_text(text);
        self.press_key("enter");
        // The terminal reports that Enter was released.
        self.handle_event(Event::Key(KeyEvent { kind: KeyEventKind::Release, ..key("enter") }));
    }

    /// Receives a part of the reply that runs; draws no frame.
    pub fn receive_chunk(&mut self, chunk: Chunk) {
        let turn = self.state.agent.current_turn().expect("a turn runs");
        let elapsed = Duration::from_secs(3);
        self.handle_event(Event::Agent(agent::Event::ReplyChunk { turn, chunk, elapsed }));
    }

    pub fn receive_reply(&mut self, text: &str) {
        self.receive_chunk(Chunk::Text(text.into()));
        self.receive_chunk(Chunk::Done(FinishReason::Stop));
        self.draw_frame();
    }

    /// Receives a call, approves it, ends it with this outcome, and ends the turn.
    pub fn run_call(&mut self, name: &str, intent: Intent, outcome: &str) {
        self.receive_call("a", name, intent);
        self.advance_ms(2000);
        self.press_key("y");
        self.finish_call("a", Outcome::Done(outcome.to_owned()));
        self.receive_reply("Done.");
    }

    /// Receives a tool call of the model, and the tool's plan for it.
    pub fn receive_call(&mut self, id: &str, name: &str, intent: Intent) {
        let arguments = format!(r#"{{"of":"{id}"}}"#);
        self.receive_chunk(Chunk::Call(ToolCall { id: id.into(), name: name.into(), arguments }));
        self.receive_chunk(Chunk::Done(FinishReason::Stop));
        self.finish_planning(id, intent);
    }

    pub fn finish_planning(&mut self, id: &str, intent: Intent) {
        let turn = self.state.agent.current_turn().expect("a turn runs");
        self.handle_event(Event::Agent(agent::Event::CallPlanned { turn, call: id.into(), intent: Ok(intent) }));
        self.draw_frame();
    }

    pub fn finish_call(&mut self, id: &str, outcome: Outcome) {
        let turn = self.state.agent.current_turn().expect("a turn runs");
        let duration = Duration::from_millis(12);
        self.handle_event(Event::Agent(agent::Event::CallFinished {
            turn,
            call: id.into(),
            outcome,
            result_source: None,
            duration,
        }));
        self.draw_frame();
    }

    /// Draws a frame as the event loop does.
    pub fn draw_frame(&mut self) -> Buffer {
        let (width, height) = self.state.viewport.size;
        let mut buffer = Buffer::empty(Rect::new(0, 0, width, height));
        let drawn = view::draw_screen(&self.state, &mut self.cache, &mut buffer);
        let now = self.state.timing.now;
        update::record_frame(&mut self.state, now, drawn.prompt);
        buffer
    }

    /// Returns the screen as text, without trailing blanks.
    pub fn screen_text(&mut self) -> String {
        buffer_text(&self.draw_frame())
    }

    /// Returns the last line of the screen.
    pub fn footer_text(&mut self) -> String {
        self.screen_text().lines().last().unwrap_or_default().to_owned()
    }

    pub fn resize_screen(&mut self, width: u16, height: u16) {
        self.handle_event(Event::Resized(width, height));
        self.draw_frame();
    }

    /// Counts the decisions and answers in the log.
    pub fn count_decisions(&self) -> usize {
        let is_decision = |entry: &&Entry| matches!(entry, Entry::Decided { .. } | Entry::Answered { .. });
        self.state.agent.session.entries().iter().filter(is_decision).count()
    }
}

/// Number of cases for an expensive test: `thorough` if `AYE_TEST_THOROUGH` is set, as in CI, otherwise `quick`.
pub fn case_count(thorough: usize, quick: usize) -> usize {
    if std::env::var_os("AYE_TEST_THOROUGH").is_some() { thorough } else { quick }
}

/// All items if `AYE_TEST_THOROUGH` is set, otherwise every `step`th, starting at `offset`.
pub fn select_cases<T>(all: &[T], step: usize, offset: usize) -> impl Iterator<Item = &T> {
    all.iter().skip(case_count(0, offset)).step_by(case_count(1, step))
}

/// Calls a function with facts for prompts, without a running turn.
pub fn with_prompt_facts<R>(listening: Listening, now: Duration, run: impl FnOnce(&PromptFacts<'_>) -> R) -> R {
    let mut agent = agent::State::new(Default::default(), String::new(), String::new(), vec![]);
    agent.model.context_window = Some(8_000);
    let (keys, theme) = (Keymap::default(), Theme::without_colours());
    let context = PromptContext { listening, keys: &keys, theme: &theme, message: "" };
    let (folder, home) = (Path::new("/home/a/src/app"), Some(Path::new("/home/a")));
    run(&PromptFacts { agent: &agent, folder, home, sandbox_note: "", context, now, lookups: &Default::default() })
}

/// Returns the key press of a chord such as `ctrl-c`, `page-up` or `y`.
pub fn key(chord: &str) -> KeyEvent {
    let mut rest = chord;
    let mut modifiers = KeyModifiers::NONE;
    for (prefix, modifier) in
        [("ctrl-", KeyModifiers::CONTROL), ("alt-", KeyModifiers::ALT), ("shift-", KeyModifiers::SHIFT)]
    {
        if let Some(suffix) = rest.strip_prefix(prefix) {
            (rest, modifiers) = (suffix, modifiers | modifier);
        }
    }
    let code = match rest {
        "enter" => KeyCode::Enter,
        "esc" => KeyCode::Esc,
        "tab" => KeyCode::Tab,
        "space" => KeyCode::Char(' '),
        "up" => KeyCode::Up,
        "down" => KeyCode::Down,
        "page-up" => KeyCode::PageUp,
        "page-down" => KeyCode::PageDown,
        "home" => KeyCode::Home,
        "end" => KeyCode::End,
        "left" => KeyCode::Left,
        "right" => KeyCode::Right,
        "backspace" => KeyCode::Backspace,
        "delete" => KeyCode::Delete,
        "f1" => KeyCode::F(1),
        name => KeyCode::Char(name.chars().next().expect("a chord has a key")),
    };
    KeyEvent::new(code, modifiers)
}

pub fn user_message(text: &str) -> Entry {
    Entry::UserMessage { text: text.into() }
}

pub fn reply_entry(text: &str) -> Entry {
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

pub fn turn_end() -> Entry {
    Entry::Ended { ending: Ending::Finished }
}

pub fn command_intent(command: &str) -> Intent {
    let command_line =
        CommandLine { command: command.into(), folder: "/project".into(), seconds: 30, ..CommandLine::default() };
    Intent::Act(Box::new(Plan {
        title: "Run a command?".into(),
        summary: command_line.command.clone(),
        access: Access::Run(command_line.clone().into()),
        preview: Preview::Command(command_line.clone()),
        full_preview: None,
        grant: None,
        destroys: None,
        preconditions: Preconditions::default(),
        work: Work::Command(command_line),
    }))
}

pub fn read_intent(path: &str) -> Intent {
    let (access, preview) = (Access::Read(vec![path.into()]), Preview::Text(path.into()));
    let work = Work::Arguments(serde_json::Value::Null);
    Intent::Act(Box::new(Plan::new("Read a file?", path.into(), access, preview, work)))
}

/// A session file that stores nothing and never fails.
pub struct NullSessionFile;

impl crate::tui::host::SessionFile for NullSessionFile {
    fn save(&mut self) -> Option<crate::runtime::Unsaved> {
        None
    }

    fn save_to(&mut self, _: &std::path::Path) -> std::io::Result<()> {
        Ok(())
    }
}

pub fn question_intent() -> Intent {
    let option = |label: &str, description: &str| QuestionOption {
        description: description.into(),
        ..QuestionOption::new(label)
    };
    Intent::Ask(Questions {
        list: vec![Question {
            keyword: "clock".into(),
            text: "Which clock should the test use?".into(),
            options: vec![option("tokio", "virtual time"), option("a trait", "more code"), option("real", "")],
            is_multiple: false,
            allow_text: true,
            text_description: String::new(),
            recommended: Some(0),
        }],
        dropped: Dropped::default(),
    })
}

/// Three copies of the question of `question_intent`, with the keywords `a`, `b` and `c`.
pub fn three_questions() -> Intent {
    let Intent::Ask(questions) = question_intent() else { panic!("a question asks") };
    let with_keyword = |keyword: &str| Question { keyword: keyword.into(), ..questions.list[0].clone() };
    Intent::Ask(Questions { list: ["a", "b", "c"].map(with_keyword).to_vec(), dropped: Dropped::default() })
}
