//! Popups the user opens over the screen: lists, pages, key help.

use super::host::{HostRequest, ListedCredential, LocalServer, ModelRow, SessionRow};
use super::parts::audit_page::AuditPage;
use super::parts::confirmation::Confirmation;
use super::parts::file_page::FilePage;
use super::parts::help_page::Help;
use super::parts::line_cache::LineCache;
use super::parts::link_hints::LinkHints;
use super::parts::link_lookups::LinkLookups;
use super::parts::link_page::LinkPage;
use super::parts::picker::Picker;
use super::parts::project_copy::ProjectCopy;
use super::parts::rehearsal_lines;
use super::parts::rule_edit::RuleEdit;
use super::parts::secret_field::SecretField;
use super::prompts::credential_entry::CredentialEntry;
use super::session_saving::UnsavedChoice;
use super::text::markdown::lay_out_markdown;
use super::text::pieces::{split_links, wrap_barred};
use super::text::{Page, output, wrap};
use super::theme::Theme;
use super::workspace_data::{ListedFile, ListedVersion};
use crate::agent::LastingApproval;
use crate::chat::audit::AuditKey;
use crate::chat::{
    ApplyOptions, CallId, CheckpointSpan, Digest, DryRunSummary, ForkMode, RewindPoint, ServerReport, SessionId,
};
use crate::policy::{DisabledRule, Mode};
use crate::text::clean::clean_text;
use crate::text::link::{CheckTarget, Existence, LinkTarget};
use ratatui::text::Line;
use std::cell::Cell;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

/// Maximum columns of the page of a call.
const MAX_AUDIT_COLUMNS: usize = 100;

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
    /// Index of the file in each row; `None` for the heading of a folder.
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

/// A text to read, such as a full output.
#[derive(Debug, Clone)]
pub struct Reader {
    /// Title of the page.
    pub title: String,
    /// The original text; cleaned when drawn.
    pub text: Arc<str>,
    /// Kind of the text.
    pub body: ReaderBody,
    /// First visible line. A value past the end is corrected when the page is drawn.
    pub top: Cell<usize>,
    /// Cached layout.
    pub layout: LineCache<(), Page>,
}

/// Kind of text in a reader.
#[derive(Debug, Clone)]
pub enum ReaderBody {
    /// Plain text.
    Plain,
    /// Text with commands, whose rows are marked if they go on with a line.
    Commands,
    /// Plain text with a bar before the lines from outside.
    Barred,
    /// Terminal output of a command.
    Terminal,
    /// Markdown, such as a page of the manual.
    Markdown,
    /// Output so far of the background command with this number.
    Background(u32),
    /// A part of the rehearsal; the text is empty.
    Rehearsal(Arc<DryRunSummary>, RehearsalPart),
    /// Everything known about a call; the text is empty.
    Audit(Arc<AuditPage>),
    /// Preview of a file of the workspace; the text is empty.
    File(Arc<FilePage>),
    /// Preview of what a link names; the text is empty.
    Link(Arc<LinkPage>),
}

/// A part of the rehearsal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RehearsalPart {
    /// Everything.
    All,
    /// These changes, by index.
    Changes(Range<usize>),
    /// This change outside the project, by index.
    Outside(usize),
    /// This call, by index.
    Step(usize),
}

impl RehearsalPart {
    fn lay_out_part(&self, summary: &DryRunSummary, width: usize, theme: &Theme) -> Vec<Line<'static>> {
        let all_outside = 0..summary.outside.changes.len();
        let (changes, outside, steps) = match self {
            Self::All => (0..summary.changes.len(), all_outside, 0..summary.calls.len()),
            Self::Changes(range) => (range.clone(), 0..0, 0..0),
            Self::Outside(index) => (0..0, *index..index + 1, 0..0),
            Self::Step(index) => (0..0, 0..0, *index..index + 1),
        };
        let changes = summary.changes.get(changes).unwrap_or_default();
        let steps = summary.calls.get(steps).unwrap_or_default();
        let changes = changes.iter().map(|change| rehearsal_lines::change_lines(change, width, theme));
        let is_full = true;
        let steps = steps.iter().map(|step| rehearsal_lines::call_lines(step, is_full, width, theme));
        let outside = summary.outside.changes.get(outside).unwrap_or_default();
        let outside = outside.iter().map(|change| rehearsal_lines::outside_change_lines(change, width, theme));
        let parts: Vec<_> = changes.chain(outside).chain(steps).collect();
        parts.join(&Line::default())
    }
}

impl Reader {
    /// Replaces the text.
    pub fn set_text(&mut self, text: Arc<str>) {
        (self.text, self.layout) = (text, LineCache::default());
    }

    /// Returns the text in this width, with its links.
    pub fn lay_out_text(&self, width: usize, theme: &Theme, lookups: &LinkLookups) -> Arc<Page> {
        let check: CheckTarget<'_> = &|target| lookups.check_target(target);
        let split = || split_links(&clean_text(&self.text), theme.text, theme.link, check);
        self.layout.linked_lines_for(width, (), theme, lookups, || match &self.body {
            ReaderBody::Terminal | ReaderBody::Background(_) => {
                output::lay_out_linked_output(&self.text, theme.text, theme, width, check)
            }
            ReaderBody::Plain => wrap::wrap_pieces(&split(), &wrap::Shape::with_width(width)),
            ReaderBody::Commands => wrap::wrap_command_pieces(&split(), theme.dim, width),
            ReaderBody::Barred => wrap_barred(&self.text, [theme.text, theme.border_dim, theme.link], "", width, check),
            // A page of the manual names files of examples, not of the project.
            ReaderBody::Markdown => lay_out_markdown(&self.text, width, theme, &check_web_address, &|_| None),
            ReaderBody::Rehearsal(summary, part) => {
                Page { lines: part.lay_out_part(summary, width, theme), ..Page::default() }
            }
            ReaderBody::Audit(page) => page.lay_out_page(width.min(MAX_AUDIT_COLUMNS), [theme.text, theme.link], check),
            ReaderBody::File(page) => page.lay_out_page(width, theme, check),
            ReaderBody::Link(page) => page.lay_out(width, theme, check).0,
        })
    }

    /// Returns whether the page as it was last laid out has links.
    pub fn has_links(&self) -> bool {
        self.layout.last_lines().is_some_and(|page| !page.links.is_empty())
    }

    /// Returns whether the page is one of a file, with its keys.
    pub fn has_file_keys(&self) -> bool {
        matches!(self.body, ReaderBody::File(_) | ReaderBody::Link(_))
    }

    /// Returns the page of a file of the workspace, if this is one.
    pub fn file_page(&self) -> Option<&Arc<FilePage>> {
        match &self.body {
            ReaderBody::File(page) => Some(page),
            ReaderBody::Plain
            | ReaderBody::Commands
            | ReaderBody::Barred
            | ReaderBody::Terminal
            | ReaderBody::Markdown
            | ReaderBody::Background(_)
            | ReaderBody::Rehearsal(..)
            | ReaderBody::Link(_)
            | ReaderBody::Audit(_) => None,
        }
    }
}

/// Makes only web addresses links.
fn check_web_address(target: &LinkTarget) -> Existence {
    match target {
        LinkTarget::Web(_) => Existence::Exists,
        LinkTarget::File { .. } | LinkTarget::Workspace(_) => Existence::Unknown,
    }
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
