//! Input of the user: the draft, its completion and recent keys.

use super::parts::completion::Completion;
use super::parts::composer::Composer;
use super::parts::key_caps::KeyCaps;
use super::parts::listening::Presses;
use crate::chat::custom_command::CommandFiles;
use crate::chat::{ServerOffer, SessionId, UnsentText};
use crossterm::event::KeyEvent;
use std::time::Duration;

/// A clipboard.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Clipboard {
    /// That of the system on which the program runs.
    System,
    /// That of the terminal, which may be on another machine and may ask its user first.
    Terminal,
}

/// Commands that files define, as they were read last.
#[derive(Debug, Clone, Default)]
pub struct CustomCommands {
    pub files: CommandFiles,
    /// True while they are read.
    pub is_loading: bool,
    /// Draft that is sent once they are read, unless it was changed.
    pub waiting_draft: Option<String>,
    /// True if they were read for the draft that is being sent.
    pub was_read_for_draft: bool,
}

/// Input of the user.
pub struct UserInput {
    /// The draft.
    pub composer: Composer,
    /// Completion of the word at the cursor.
    pub completion: Completion,
    /// True if the project's files were requested for the word at the cursor.
    pub has_requested_files: bool,
    /// Names of the MCP servers, each with its resources and prompts.
    pub server_offers: Vec<(String, ServerOffer)>,
    /// True if these were requested for the word at the cursor.
    pub has_requested_offers: bool,
    /// Commands that files define.
    pub custom_commands: CustomCommands,
    /// The message whose resources are being read; it is still the draft.
    pub message_to_attach: Option<String>,
    /// The last paste that may be paths of files.
    pub pasted_paths: Option<PastedPaths>,
    /// The clipboard that is being read, for the session of this ID.
    pub awaited_clipboard: Option<(Clipboard, SessionId)>,
    /// Time at which text of a server was inserted into the draft.
    pub inserted_at: Option<Duration>,
    /// Saved state of the unsent text.
    pub draft_saving: DraftSaving,
    /// Recent key presses.
    pub recent_keys: Presses,
    /// Key for the prompt that is held back until it is known whether more keys follow, as in a paste; and the time it
    /// was pressed.
    pub held_key: Option<(KeyEvent, Duration)>,
    /// Key presses that are shown to viewers.
    pub key_caps: KeyCaps,
    /// Time of the last Esc on an open prompt.
    pub last_stop: Option<Duration>,
    /// Time of the last Ctrl-C.
    pub last_quit: Option<Duration>,
}

impl UserInput {
    /// Returns the arguments of the custom command that the composer contains, until the first one is typed; else an empty text.
    pub fn argument_hint(&self) -> &str {
        if self.composer.line_count() > 1 {
            return "";
        }
        let (text, _) = self.composer.folded_text();
        let name = text.strip_prefix('/').and_then(|text| text.strip_suffix(' ')).map(str::trim_end);
        let commands = &self.custom_commands.files.commands;
        let command = name.and_then(|name| commands.iter().find(|command| command.name == name));
        command.map_or("", |command| &command.argument_hint)
    }

    /// Creates the input before the first key.
    pub fn new(composer: Composer, completion: Completion) -> Self {
        Self {
            composer,
            completion,
            has_requested_files: false,
            server_offers: Vec::new(),
            has_requested_offers: false,
            custom_commands: CustomCommands::default(),
            message_to_attach: None,
            pasted_paths: None,
            awaited_clipboard: None,
            inserted_at: None,
            draft_saving: DraftSaving::default(),
            recent_keys: Presses::default(),
            held_key: None,
            key_caps: KeyCaps::default(),
            last_stop: None,
            last_quit: None,
        }
    }
}

/// A paste that may be paths, until the host has looked for them. It is in the draft as text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PastedPaths {
    /// Start in the folded text of the draft.
    pub start: usize,
    /// The folded text of the paste.
    pub text: String,
    /// Lists of paths that it may be.
    pub readings: Vec<Vec<String>>,
}

/// The unsent text as last saved, and the time of the first change since.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DraftSaving {
    pub(super) saved: UnsentText,
    pub(super) changed_at: Option<Duration>,
    /// Time of the last save.
    pub(super) saved_at: Option<Duration>,
    /// Error of the last write, if it failed.
    pub(super) last_error: Option<String>,
}

impl DraftSaving {
    /// Returns true while the last write has failed.
    pub fn has_failed(&self) -> bool {
        self.last_error.is_some()
    }
}
