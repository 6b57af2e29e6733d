//! Popups the user opens over the screen: lists, pages, key help.

mod reader;

use super::host::{HostRequest, ListedCredential, LocalServer, ModelRow, SessionRow};
use super::parts::confirmation::Confirmation;
use super::parts::help_page::Help;
use super::parts::link_hints::LinkHints;
use super::parts::picker::Picker;
use super::parts::project_copy::ProjectCopy;
use super::parts::rule_edit::RuleEdit;
use super::parts::secret_field::SecretField;
use super::prompts::credential_entry::CredentialEntry;
use super::session_saving::UnsavedChoice;
use super::theme::Theme;
use super::workspace_data::{ListedFile, ListedVersion};
use crate::agent::LastingApproval;
use crate::chat::audit::AuditKey;
use crate::chat::{
    ApplyOptions, CallId, CheckpointSpan, Digest, DryRunSummary, ForkMode, RewindPoint, ServerReport, SessionId,
};
use crate::policy::{DisabledRule, Mode};
pub use reader::{Reader, ReaderBody, RehearsalPart};
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

/// A popup. It has the keyboard.
#[derive(Debug, Clone)]
pub enum Popup {
    /// Key help.
    Help(Help),
    /// Rows to pick from.
    List(Picker, List),
    /// Input of an API key; never displayed.
    ApiKey(SecretField),
    /// Input of the secret of a credential; never displayed.
    Credential(CredentialEntry),
    /// Field for the text of a rule.
    RuleEdit(Box<RuleEdit>),
    /// Field for the path in the project that a file of the workspace is copied to.
    ProjectCopy(Box<ProjectCopy>),
    /// Asks the user to confirm an action.
    Confirmation(Confirmation, ConfirmedAction),
    /// A text to read.
    Reader(Reader),
    /// A letter on each link.
    Links(LinkHints),
}

/// Contents of a list.
#[derive(Debug, Clone)]
pub enum List {
    /// Sessions of this project, and the action for the selected one.
    Sessions(SessionSearch, PickedAction),
    /// Themes, with the theme to restore if none is chosen.
    Themes(Box<Theme>),
    /// Commands.
    Commands,
    /// Available models.
    Models(Vec<ModelRow>),
    /// Available providers.
    Connect(Vec<ProviderChoice>),
    /// Texts that can be copied.
    CopyTexts(Vec<String>),
    /// All calls of the session and commands of the user.
    Audit(Vec<AuditKey>),
    /// The rehearsal.
    Rehearsal(RehearsalView),
    /// Grants and rules.
    Grants(GrantList),
    /// Permission modes, and whether each can be chosen without confirmation.
    Modes(Vec<(Mode, bool)>),
    /// Background commands, in the order of the session.
    Background,
    /// Files of the session's workspace.
    Files(FileList),
    /// Versions of a file of the workspace, newest first.
    FileVersions(FileVersions),
    /// MCP servers.
    Servers(Vec<ServerReport>),
    /// Messages of the user to go back to, oldest first.
    Rewind(Vec<RewindPoint>),
    /// What to restore when going back to before a message: the changes since then, and the choice of each row.
    RewindScope(Box<RewindPoint>, Vec<CheckpointSpan>, Vec<RewindScope>),
    /// Choices on leaving a session that is not saved.
    UnsavedSession(Vec<UnsavedChoice>),
}

/// What a rewind restores.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RewindScope {
    /// The conversation in a copy, and the files.
    Both,
    /// The conversation in a copy.
    Conversation,
    /// The files, in a copy of the whole session.
    Files,
}

/// Action that runs once the user confirmed it.
#[derive(Debug, Clone)]
pub enum ConfirmedAction {
    /// Discards the rehearsal of this session.
    DiscardRehearsal(SessionId),
    /// Revokes this grant or rule.
    RevokeGrant(Box<LastingApproval>),
    /// Stops the background command with this number.
    StopBackground(u32),
    /// Accepts the changed tools of the MCP server with this name.
    AcceptServerTools(String, Digest),
    /// Leaves for the session that the request opens.
    LeaveSession(Box<HostRequest>),
    /// Quits.
    Quit,
}

/// Rows of the list of grants: a heading and the grants and rules in force, a heading and the disabled rules if there are
/// any, a heading and the calls with a verdict.
#[derive(Debug, Clone)]
pub struct GrantList {
    /// Grants and rules.
    pub approvals: Vec<LastingApproval>,
    /// Rules that are not in force because they have an error.
    pub disabled: Vec<DisabledRule>,
    /// Calls with a verdict, newest first.
    pub calls: Vec<CallId>,
    /// Calls that rules allowed in other sessions, once they are counted; see [`super::host::HostReply::RuleUses`].
    pub earlier_uses: HashMap<String, (usize, String)>,
}

/// Content of a row of the list of grants.
#[derive(Debug, Clone, Copy)]
pub enum GrantRow<'a> {
    Approval(&'a LastingApproval),
    Disabled(&'a DisabledRule),
    Call(&'a CallId),
}

impl GrantList {
    /// Returns the content of a row; `None` for a heading.
    pub fn row(&self, index: usize) -> Option<GrantRow<'_>> {
        let index = index.checked_sub(1)?;
        if let Some(approval) = self.approvals.get(index) {
            return Some(GrantRow::Approval(approval));
        }
        let index = index.checked_sub(self.approvals.len() + 1)?;
        if let Some(rule) = self.disabled.get(index) {
            return Some(GrantRow::Disabled(rule));
        }
        let disabled_rows = if self.disabled.is_empty() { 0 } else { self.disabled.len() + 1 };
        self.calls.get(index.checked_sub(disabled_rows)?).map(GrantRow::Call)
    }
}

/// A rehearsal and the actions of its list.
#[derive(Debug, Clone, Default)]
pub struct RehearsalView {
    /// Session of the dry run.
    pub session: SessionId,
    /// Result of the dry run.
    pub summary: Arc<DryRunSummary>,
    /// Action of each row.
    pub actions: Vec<RowAction>,
    /// Action to run once the rehearsal is loaded; `None` to show it.
    pub pending_action: Option<RowAction>,
}

/// Files of the session's workspace as the list shows them.
#[derive(Debug, Clone, Default)]
pub struct FileList {
    /// Files, most recently changed first.
    pub files: Vec<ListedFile>,
    /// Index of the file in each row; `None` for a folder.
    pub rows: Vec<Option<usize>>,
    /// Length of the index when the files were listed; `None` before.
    pub index_length: Option<u64>,
    /// When to look for changes again.
    pub next_check: Duration,
}

/// Versions of a file of the workspace.
#[derive(Debug, Clone)]
pub struct FileVersions {
    pub file: ListedFile,
    /// Versions, newest first; empty until they are loaded.
    pub versions: Vec<ListedVersion>,
}

/// Sessions of a list and the results of a search in them.
#[derive(Debug, Clone, Default)]
pub struct SessionSearch {
    /// Sessions in the order of the list.
    pub rows: Vec<SessionRow>,
    /// Text searched for in the messages; empty without a search.
    pub query: String,
    /// Matches: session and matching line.
    pub matches: Vec<(SessionId, String)>,
}

/// Action for the session selected in the list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PickedAction {
    /// Continue it.
    Open,
    /// Continue a copy of it.
    Fork(ForkMode),
}

/// An available provider.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ProviderChoice {
    /// A model server found on this machine, with the one model to use.
    Server(LocalServer),
    /// A provider that needs a key.
    EnterKey,
    /// A credential that tools name.
    Credential(ListedCredential),
    /// Keep the current provider.
    KeepCurrent,
}

/// Action of a row in the list of a rehearsal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RowAction {
    /// Show this part.
    Read(RehearsalPart),
    /// Apply the changes with these options, with an approval prompt per group.
    Apply(ApplyOptions),
    /// Discard everything, after a confirmation.
    Discard,
}
