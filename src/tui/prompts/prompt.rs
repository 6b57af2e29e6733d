//! The [`Prompt`] trait: state, drawing, keys, pastes and mouse of a prompt. Each kind of prompt implements it.

use crate::agent::{self, WaitingCall};
use crate::chat::{CallId, Decider};
use crate::config::ProjectFiles;
use crate::tui::effect::Effect;
use crate::tui::keys::{Keymap, Scope};
use crate::tui::parts::frame::PromptContext;
use crossterm::event::KeyEvent;
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use std::fmt::Debug;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// A prompt: asks the user for a decision in place of the composer.
pub trait Prompt: Debug {
    /// Returns whether the prompt asks about this.
    fn is_about(&self, subject: PromptSubject<'_>) -> bool {
        matches!(subject, PromptSubject::Call(waiting) if self.call() == Some(waiting.call_id()))
    }

    /// Returns the call that the prompt asks about; `None` if the prompt belongs to no call.
    fn call(&self) -> Option<&CallId> {
        None
    }

    /// Returns the scope of the prompt's keys.
    fn scope(&self) -> Scope;

    /// Returns the scope whose keys are shown in key help.
    fn help_scope(&self) -> Scope {
        self.scope()
    }

    /// Returns the text of the desktop notification for a new prompt.
    fn notification(&self) -> &'static str {
        ""
    }

    /// Returns the rows the prompt needs at this width. It scrolls in fewer.
    fn prompt_height(&self, facts: &PromptFacts<'_>, width: u16) -> u16;

    /// Draws the prompt. Returns the part of it that is visible.
    fn draw_prompt(&self, facts: &PromptFacts<'_>, area: Rect, buffer: &mut Buffer) -> DrawnPrompt;

    /// Records which part of the prompt is now on the screen.
    fn record_frame(&mut self, now: Duration, drawn: DrawnPrompt);

    /// Returns the time of the first readable frame since the prompt was opened or restored, for
    /// [`crate::tui::parts::listening::listening_state`].
    fn first_drawn(&self) -> Option<Duration>;

    /// Handles a key that [`crate::tui::parts::listening::Presses::is_repeat_of_answer`] did not reject. Returns
    /// commands for the caller, or `None` if the key is not for the prompt: it then goes to the composer and delays the
    /// prompt.
    fn handle_prompt_key(&mut self, key: &KeyEvent, facts: &PromptFacts<'_>) -> Option<Vec<PromptCommand>>;

    /// Returns whether the digits without a key binding select a row.
    fn takes_digits(&self) -> bool {
        false
    }

    /// Explains that Enter does not answer; `None` if it does.
    fn explain_enter(&self, _facts: &PromptFacts<'_>) -> Option<String> {
        None
    }

    /// Returns whether a line is being edited. The prompt then receives every key.
    fn is_writing(&self) -> bool {
        false
    }

    /// Inserts pasted text into the line being edited. Returns false if there is none: a paste never answers.
    fn insert_paste(&mut self, _text: &str) -> bool {
        false
    }

    /// Takes the text that the external editor returned. Returns whether the prompt asked for it.
    fn apply_editor_text(&mut self, _text: &str) -> bool {
        false
    }

    /// Scrolls by lines of the mouse wheel. Returns false if the wheel scrolls the transcript instead.
    fn scroll_content(&mut self, _lines: isize) -> bool {
        false
    }

    /// Returns the text being written as a message to the model. It is saved, because it would be lost if the program
    /// ended before the call is decided. `None` if nothing was written.
    fn written_reply(&self, _agent: &agent::State) -> Option<String> {
        None
    }

    /// Handles the end of writing the rule of this call. Returns whether the prompt waited for it.
    fn finish_saving_rule(&mut self, _call: &CallId, _has_failed: bool, _now: Duration) -> bool {
        false
    }

    /// Returns whether the prompt is kept with its draft when another takes its place or the program ends.
    fn keeps_draft(&self) -> bool {
        false
    }

    /// Returns the draft as JSON; empty if the user changed nothing.
    fn to_saved_json(&self) -> String {
        String::new()
    }

    /// Parks the prompt with its draft. Returns false if it was already parked or cannot be parked.
    fn park(&mut self) -> bool {
        false
    }

    /// Restores a parked prompt with its draft.
    fn restore(&mut self) {}

    /// Returns whether the prompt is parked as a chip above the composer.
    fn is_parked(&self) -> bool {
        false
    }

    /// Returns the text of the chip.
    fn chip_text(&self, _keys: &Keymap) -> String {
        String::new()
    }

    /// Returns the event that declines to answer, for the key on the chip.
    fn decline(&self, _by: Decider) -> Option<agent::Event> {
        None
    }
}

/// Something a prompt asks about.
#[derive(Debug, Clone, Copy)]
pub enum PromptSubject<'a> {
    /// A call that waits for the user.
    Call(WaitingCall<'a>),
    /// Files of the project.
    ProjectFiles(&'a Arc<ProjectFiles>),
}

/// Values from the rest of the screen that prompts read.
#[derive(Debug, Clone, Copy)]
pub struct PromptFacts<'a> {
    pub agent: &'a agent::State,
    /// Project folder; absolute.
    pub folder: &'a Path,
    /// Home directory of the user, shown as `~`.
    pub home: Option<&'a Path>,
    /// Sandbox summary for a command whose plan has none; may be empty.
    pub sandbox_note: &'a str,
    pub context: PromptContext<'a>,
    pub now: Duration,
}

/// Part of a prompt that a frame showed. Pass it to [`Prompt::record_frame`] once the frame is on the screen.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct DrawnPrompt {
    /// Position of the terminal's cursor if a line is being edited.
    pub cursor: Option<Position>,
    /// First visible row of the content.
    pub scroll: usize,
    /// Part of `scroll` that scrolls the text above a list.
    pub head_scroll: usize,
    pub visible_rows: usize,
    /// Width in cells of the line being edited.
    pub line_width: usize,
    /// True if there was space enough to read the prompt.
    pub is_readable: bool,
    /// True if the last row was visible.
    pub is_at_end: bool,
}

/// Command for the caller after a prompt handled a key.
#[derive(Debug, Clone, PartialEq)]
pub enum PromptCommand {
    /// Show in the prompt why the key had no effect and which key works, separated by ` · `.
    Explain(String),
    /// Show a notification.
    Notify(String),
    /// Ignore repeats of the key, because it answered something.
    IgnoreRepeats,
    /// Pass an event to the agent.
    Agent(agent::Event),
    /// Run an effect.
    Effect(Effect),
    /// Open the queue over the prompt.
    OpenQueue,
    /// Return from the queue to the prompt, which must be seen again before it accepts answers.
    CloseQueue,
    /// Return the prompt, which is parked now, to its place in the queue.
    ReturnParked,
    /// Continue without the project files that the prompt asks about.
    SkipProjectFiles,
}

/// The prompt on the screen, and those that wait.
#[derive(Debug, Default)]
pub struct Prompts {
    /// Prompt of the waiting call, or the trust prompt.
    pub current: Option<Box<dyn Prompt>>,
    /// Prompts that were opened before their turn and parked, with the answers chosen so far.
    pub parked: Vec<Box<dyn Prompt>>,
    /// The queue, if it is open over the prompt.
    pub open_queue: Option<Box<dyn Prompt>>,
    /// True if the user moved the keyboard to the prompt while the composer holds a draft.
    pub has_keyboard: bool,
    /// Reason the last key had no effect on the front prompt; empty if it had one.
    pub key_message: String,
}

impl Prompts {
    /// Returns the prompt that is drawn and receives keys, if any.
    pub fn front(&self) -> Option<&dyn Prompt> {
        self.open_queue.as_deref().or_else(|| self.current.as_deref().filter(|prompt| !prompt.is_parked()))
    }

    /// Returns the prompt that is drawn and receives keys, if any.
    pub fn front_mut(&mut self) -> Option<&mut Box<dyn Prompt>> {
        self.open_queue.as_mut().or_else(|| self.current.as_mut().filter(|prompt| !prompt.is_parked()))
    }

    /// Replaces the current prompt by one that the user has not seen.
    pub fn show(&mut self, prompt: Option<Box<dyn Prompt>>) {
        (self.current, self.has_keyboard) = (prompt, false);
        self.key_message.clear();
    }
}
