//! The [`Prompt`] trait: state, drawing, keys, pastes and mouse of a prompt. Each kind of prompt implements it.

use crate::agent::{self, WaitingCall};
use crate::chat::{Answer, CallId, Decision, Grant};
use crate::config::ProjectFiles;
use crate::tui::effect::Effect;
use crate::tui::host::{CredentialRequest, FormRequest, InspectionReason, SamplingReview};
use crate::tui::keys::{Action, Keymap, Scope};
use crate::tui::parts::frame::PromptContext;
use crate::tui::parts::link_lookups::LinkLookups;
use crate::tui::parts::listening::{Listening, TOO_SOON_AFTER_PASTE};
use crate::tui::text::PlacedLink;
use crossterm::event::{KeyEvent, KeyEventKind};
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use std::fmt::Debug;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// A prompt: asks the user for a decision in place of the composer.
pub trait Prompt: Debug {
    /// Returns whether the prompt asks about this subject.
    fn is_about(&self, subject: PromptSubject<'_>) -> bool {
        matches!(subject, PromptSubject::Call(waiting) if self.call() == Some(waiting.call_id()))
    }

    /// Returns the call that the prompt asks about; `None` if the prompt belongs to no call.
    fn call(&self) -> Option<&CallId> {
        None
    }

    /// Returns the scope of the prompt's keys.
    fn scope(&self) -> Scope;

    /// Returns whether the prompt asks a question. It is kept with its draft when another takes its place or the program
    /// ends, and digits without a key binding select a row.
    fn is_question(&self) -> bool {
        self.scope() == Scope::Question
    }

    /// Returns the scope whose keys are shown in key help.
    fn help_scope(&self) -> Scope {
        self.scope()
    }

    /// Returns whether the key of this action does something in the prompt now, so that key help lists it.
    fn has_use_for(&self, _action: Action, _facts: &PromptFacts<'_>) -> bool {
        true
    }

    /// Returns the text of the desktop notification for a new prompt; empty for none.
    fn notification(&self) -> &'static str {
        ""
    }

    /// Returns the rows the prompt needs at this width. With fewer rows it scrolls.
    fn prompt_height(&self, facts: &PromptFacts<'_>, width: u16) -> u16;

    /// Returns the rows the prompt needs if it cannot have [`Self::prompt_height`] rows.
    fn compact_height(&self, facts: &PromptFacts<'_>, width: u16) -> u16 {
        self.prompt_height(facts, width)
    }

    /// Draws the prompt. Returns the part of it that is visible.
    fn draw_prompt(&self, facts: &PromptFacts<'_>, area: Rect, buffer: &mut Buffer) -> DrawnPrompt;

    /// Records which part of the prompt is now on the screen.
    fn record_frame(&mut self, now: Duration, drawn: DrawnPrompt);

    /// Returns the time of the first readable frame since the prompt was opened or restored.
    fn first_drawn(&self) -> Option<Duration>;

    /// Handles a key that [`crate::tui::parts::listening::Presses::is_repeat_of_answer`] did not reject.
    fn handle_prompt_key(&mut self, key: &KeyEvent, facts: &PromptFacts<'_>) -> KeyResult;

    /// Explains that Enter does not answer the prompt; `None` if it answers.
    fn explain_enter(&self, _facts: &PromptFacts<'_>) -> Option<String> {
        None
    }

    /// Returns whether a text field is being edited.
    fn is_writing(&self) -> bool {
        false
    }

    /// Returns whether a text field is being edited and receives the keys now.
    fn takes_text(&self, _listening: Listening) -> bool {
        self.is_writing()
    }

    /// Inserts pasted text into the text field being edited. Returns false if none is being edited.
    fn insert_paste(&mut self, _text: &str) -> bool {
        false
    }

    /// Replaces the edited text by that of the external editor. Returns false if the prompt opened no editor.
    fn apply_editor_text(&mut self, _text: &str) -> bool {
        false
    }

    /// Scrolls by lines of the mouse wheel. Returns false if the caller should scroll the transcript instead.
    fn scroll_content(&mut self, _lines: isize) -> bool {
        false
    }

    /// Returns the unsent text of the prompt as a message to the model, or `None` if nothing was written. It is saved in
    /// case the program ends before the call is decided.
    fn written_reply(&self, _agent: &agent::State) -> Option<String> {
        None
    }

    /// Handles the end of writing the rule of a call to disk. Returns whether the prompt waited for that rule.
    fn finish_saving_rule(&mut self, _call: &CallId, _has_failed: bool, _now: Duration) -> bool {
        false
    }

    /// Returns the draft as JSON; empty if the user changed nothing.
    fn to_saved_json(&self) -> String {
        String::new()
    }

    /// Returns when the prompt changes by itself next; `None` if it does not.
    fn next_change(&self, _now: Duration) -> Option<Duration> {
        None
    }

    /// Returns the command that is due by now, if any.
    fn take_due_command(&mut self, _now: Duration) -> Option<PromptCommand> {
        None
    }

    /// Asks the user to confirm declining to answer.
    fn start_declining(&mut self) {}

    /// Parks the prompt with its draft: it becomes a chip above the composer. Returns false if it was already parked or
    /// cannot be parked.
    fn park(&mut self) -> bool {
        false
    }

    /// Restores a parked prompt with its draft.
    fn restore(&mut self) {}

    /// Returns whether the prompt is parked.
    fn is_parked(&self) -> bool {
        false
    }

    /// Returns the text of the chip.
    fn chip_text(&self, _keys: &Keymap) -> String {
        String::new()
    }
}

/// Something a prompt asks about.
#[derive(Debug, Clone, Copy)]
pub enum PromptSubject<'a> {
    /// A call that waits for the user.
    Call(WaitingCall<'a>),
    /// Files of the project, and the reason they were inspected.
    ProjectFiles(&'a Arc<ProjectFiles>, InspectionReason),
    /// A credential that a running call waits for.
    Credential(&'a Arc<CredentialRequest>),
    /// A form of an MCP server that a running call waits for.
    Form(&'a Arc<FormRequest>),
    /// A request of an MCP server for the model, or its answer, that a running call waits for.
    Sampling(&'a Arc<SamplingReview>),
}

/// What prompts read from the rest of the screen.
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
    /// Lookups of the links in prompts.
    pub lookups: &'a LinkLookups,
}

/// Part of a prompt that a frame showed. Pass it to [`Prompt::record_frame`] once the frame is on the screen.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DrawnPrompt {
    /// Position of the terminal's cursor if a text field is being edited.
    pub cursor: Option<Position>,
    /// First visible row of the content.
    pub scroll: usize,
    /// Rows of the text above a list that do not fit. `scroll` moves that text by up to this many rows, then the list.
    pub head_scroll: usize,
    pub visible_rows: usize,
    /// Changes whenever the content must be seen again before an answer; 0 if it never does.
    pub content_version: u64,
    /// Width in cells of the text field being edited.
    pub field_width: usize,
    /// True if there was enough space to read the prompt.
    pub is_readable: bool,
    /// True if the last row was visible.
    pub is_at_end: bool,
    /// Links in the visible rows.
    pub links: Vec<PlacedLink>,
}

/// Result of a key press in a prompt.
#[derive(Debug, Clone, PartialEq)]
pub enum KeyResult {
    /// The prompt handled the key, or ignored it; nothing is left to do.
    Handled,
    /// The key had no effect. The text gives the reason and the key that works, separated by ` · `.
    Explained(String),
    /// The key is not for the prompt. It goes to the composer and delays the time from which the prompt accepts answers.
    PassedOn,
    /// The prompt handled the key; the caller runs these commands in order.
    Run(Vec<PromptCommand>),
}

impl KeyResult {
    /// Returns the result of a key that answered the prompt or changed what it shows, so that its repeats are ignored.
    pub fn answered(command: PromptCommand) -> Self {
        Self::Run(vec![PromptCommand::IgnoreRepeats, command])
    }
}

/// Returns the result of an Enter that does not complete a text field, because it repeats while held or arrives with a
/// paste; `None` if it completes the field.
pub fn ignored_enter(key: &KeyEvent, listening: Listening) -> Option<KeyResult> {
    match listening {
        _ if key.kind != KeyEventKind::Press => Some(KeyResult::Handled),
        Listening::Until(_) | Listening::AfterFastInput(_) => {
            Some(KeyResult::Explained(TOO_SOON_AFTER_PASTE.to_owned()))
        }
        Listening::Ready | Listening::Unseen | Listening::Unsent => None,
    }
}

/// Command for the caller after a prompt handled a key.
#[derive(Debug, Clone, PartialEq)]
pub enum PromptCommand {
    /// Show a notification.
    Notify(String),
    /// Ignore repeats of the key, because it answered the prompt or changed what it shows.
    IgnoreRepeats,
    /// Decide the call as the user, with the key and its time.
    Decide(CallId, Decision),
    /// Try the call before it is decided.
    TryCall(CallId),
    /// Stop the trial of the call.
    StopTrial(CallId),
    /// Answer the questions of the call as the user, with the key and its time.
    Answer(CallId, Answer),
    /// Store the grant as a rule, and then approve the call with it.
    SaveRule(CallId, Grant),
    /// Open the prompt of this call before its turn.
    OpenPrompt(CallId),
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
    /// Close the request for a credential with this number, which was answered.
    CloseCredential(u64),
    /// Close the form of a server with this number, which was answered.
    CloseForm(u64),
    /// Approve or deny the request of a server for the model with this number, as the user.
    DecideSampling(u64, bool),
}

/// The prompt on the screen, and the parked prompts.
#[derive(Debug, Default)]
pub struct Prompts {
    /// Prompt of the waiting call, or the trust prompt.
    pub current: Option<Box<dyn Prompt>>,
    /// Parked prompts of calls that come later, with their drafts.
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

    /// Returns the same prompt as [`Self::front`].
    pub fn front_mut(&mut self) -> Option<&mut Box<dyn Prompt>> {
        self.open_queue.as_mut().or_else(|| self.current.as_mut().filter(|prompt| !prompt.is_parked()))
    }

    /// Replaces the current prompt by one that the user has not seen.
    pub fn show(&mut self, prompt: Option<Box<dyn Prompt>>) {
        (self.current, self.has_keyboard) = (prompt, false);
        self.key_message.clear();
    }
}
