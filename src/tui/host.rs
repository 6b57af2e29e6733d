//! Requests from the screen to the rest of the program (sessions, models, files, settings), and the replies.

pub use super::agent_link::{AgentLink, Forward, SessionFile};
pub use super::host_data::{
    Connection, CredentialRequest, FormRequest, ForwardEnd, InspectionReason, LinkStatus, ListState, ListedCredential,
    ListedState, LocalServer, ModelList, ModelRow, Models, PastedContent, PendingConnection, Rehearsal, RewindTarget,
    SamplingReview, SamplingSubject, SessionRow,
};

use super::file_index::{FileIndex, FileMatches, FilterRequest};
use super::parts::pictures::{PictureData, PictureForm};
use super::text::PictureKey;
use super::workspace_data::FilePreview;
pub use super::workspace_data::{WorkspaceReply, WorkspaceRequest};

use crate::agent;
use crate::chat::custom_command::CommandFiles;
use crate::chat::sampling::SamplingStep;
use crate::chat::{
    CallId, Decider, Digest, ForkMode, FormReply, Grant, Instructions, RewindPoint, ServerOffer, ServerReport,
    SessionId, UnsentText,
};
use crate::config::{Key, ProjectFiles};
use crate::policy::Rule;
use crate::text::link::LinkTarget;
use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;

/// The program around the screen.
pub trait Host: Send {
    /// Starts a request and returns at once. Work that takes time runs elsewhere and its result arrives as a
    /// `HostReply` on the channel that was given to the screen.
    fn start_request(&mut self, request: HostRequest);
}

/// Request of the screen to the rest of the program.
#[derive(Debug, Clone, PartialEq)]
pub enum HostRequest {
    /// List the sessions of this project, newest first. Reply: `Sessions`.
    ListSessions,
    /// Search the messages of this project's sessions. Reply: `SearchResults`, repeated while the search runs. Replaces
    /// a search that still runs; empty text ends it.
    SearchSessions(String),
    /// Continue another session. Reply: `Opened`.
    OpenSession(SessionId),
    /// Continue in a copy of this session, which is not changed. Reply: `Opened`.
    ForkSession(SessionId, ForkMode),
    /// Start a new session. Reply: `Opened`.
    StartSession,
    /// Read when each entry of this session was written. Reply: `EntryTimes`.
    ReadEntryTimes(SessionId),
    /// Count the calls that these rules allowed in all sessions but this one. Reply: `RuleUses`.
    CountRuleUses(Vec<Rule>, SessionId),
    /// Save the unsent text of this session in place of the text saved before. Reply: `UnsentSaved` when saving
    /// starts to fail or works again.
    SaveUnsent(SessionId, Box<UnsentText>),
    /// List the available models. Reply: `Models`, repeated as more become known.
    ListModels,
    /// Use this model from the next request on. The screen, not the host, records the change in the session.
    UseModel(String),
    /// List the credentials that tools name. Reply: `Credentials`.
    ListCredentials,
    /// Store the secret of a credential, bound to these origins. Replies: `Credentials`, then `CredentialConnected` or
    /// `Notice`.
    ConnectCredential { name: String, origins: Vec<String>, secret: Key },
    /// Find model servers on this machine. Reply: `LocalServers`.
    FindLocalServers,
    /// Use this model server from now on. Reply: `Connected`; if the session is empty or the tour, `Opened` with a
    /// new session.
    UseLocalServer(LocalServer),
    /// Use a profile of the settings from now on. Reply as for `UseLocalServer`.
    UseProfile {
        /// Name of the profile.
        profile: String,
        /// Model to use; empty for the profile's own.
        model: String,
    },
    /// Save this key for the current provider and connect to it. Reply as for `UseLocalServer`.
    SaveKey(String),
    /// Answer a request for a credential.
    AnswerCredential {
        /// Number of the request.
        id: u64,
        /// The secret; `None` if the user declined.
        secret: Option<Key>,
    },
    /// Answer a form of an MCP server.
    AnswerForm {
        /// Number of the request.
        id: u64,
        /// The user's reply.
        reply: FormReply,
    },
    /// Decide on a request of an MCP server for the model. The screen has recorded the decision.
    AnswerSampling { id: u64, is_approved: bool },
    /// Use the connection with this number from the next request on. The screen, not the host, records the change in
    /// the session.
    SwitchConnection(u64),
    /// Save the model to start with.
    SaveModel {
        /// Name of the profile; empty for the current one.
        profile: String,
        /// Address of a server on this machine that has no profile; otherwise empty.
        address: String,
        /// Model to use; empty for the profile's own.
        model: String,
    },
    /// Write the rule for this grant to the user's rules file. Reply: `RuleSaved`.
    SaveRule {
        /// The call whose prompt the grant was given in. It is decided when the reply arrives.
        call: CallId,
        /// The grant to save.
        grant: Grant,
        /// Source of the grant, such as the user and the key that was pressed.
        by: Decider,
    },
    /// Delete this rule from its file. Reply: `RuleRevoked`.
    RevokeRule {
        /// The rule.
        rule: Box<Rule>,
        /// Origin of the request, and how it was made.
        by: Decider,
    },
    /// Replace the target of this rule in the user's file. Reply: `RuleReplaced`.
    ReplaceRule {
        /// The rule as it is in the file.
        rule: Box<Rule>,
        /// Its new command, prefix or path.
        text: String,
        /// Origin of the request, and how it was made.
        by: Decider,
    },
    /// Read the rules again. Reply: `AgentEvent`.
    ReloadRules,
    /// List all rules in effect. Reply: `TextPage`.
    ListRules,
    /// List the tools of the model. Reply: `TextPage`.
    ListTools,
    /// List the skills. Reply: `TextPage`.
    ListSkills,
    /// List the MCP servers. Reply: `Servers`, repeated once servers with changed tools have answered.
    ListServers {
        /// True if such servers may be connected to.
        connects: bool,
    },
    /// Accept the changed tools of an MCP server, which the user has read. Reply: `Servers`.
    AcceptServerTools {
        /// Name of the server.
        server: String,
        /// Digest of the difference that the user has read.
        digest: Digest,
    },
    /// Load the rehearsal of this session, or of the dry run it is a copy of. Reply: `Rehearsal`.
    LoadRehearsal(SessionId),
    /// Continue live in a copy of this dry run, with an approval prompt for each rehearsed step. Reply: `Opened`.
    ApplyRehearsal(SessionId, agent::ApplyRequest),
    /// Find what undoes the last turn of this session. Reply: `UndoPrepared`.
    PrepareUndo(SessionId),
    /// List the messages of the user with the changes of their turns. Reply: `RewindPoints`.
    ListRewindPoints(SessionId),
    /// Continue in a copy of this session, with calls to approve at once, if any. With a target the copy ends before this
    /// message, whose text becomes the draft. Reply: `Opened`.
    Rewind(SessionId, Option<RewindTarget>, Option<agent::ApplyRequest>),
    /// Discard the rehearsal of this session.
    DiscardRehearsal(SessionId),
    /// Inspect the project files that would change what aye does. Reply: `ProjectFiles`, in every case and within a few
    /// seconds.
    InspectProject(InspectionReason),
    /// Trust these files of the project in this folder: the user has seen them. Reply: `TrustChanged`, or
    /// `ProjectFiles` if they have changed since.
    TrustProject {
        /// The project's folder.
        folder: PathBuf,
        /// The files as the user saw them: [`ProjectFiles::signature`](crate::config::project_files::ProjectFiles::signature).
        files: Vec<(String, Digest)>,
    },
    /// Revoke all trust in the project in this folder. Reply: `TrustChanged`.
    RevokeTrust(PathBuf),
    /// List the files of the project and of the session's workspace. Reply: `Files`, repeated while the scan runs.
    ListFiles {
        /// Files that the session used, the last used one first.
        used: Vec<String>,
    },
    /// Filter files. Replaces a filter that still runs. Reply: `FilesFiltered`.
    FilterFiles(FilterRequest),
    /// Find the first of these lists of pasted paths whose files all exist. Reply: `PastedFilesFound`.
    FindPastedFiles(Vec<Vec<String>>),
    /// List the resources and prompts of MCP servers, and the custom commands. Reply: `Offers`.
    ListOffers,
    /// Read the files that a message names, and these resources of MCP servers, each given by server and address, and attach
    /// them to it. Reply: `MessageAttached`.
    AttachToMessage {
        message: String,
        resources: Vec<(String, String)>,
        /// Maximum bytes of all files.
        max_bytes: usize,
    },
    /// Get the text of a prompt of an MCP server. Reply: `PromptReceived`.
    GetServerPrompt {
        /// The command as typed.
        draft: String,
        server: String,
        prompt: String,
        /// Names and values.
        arguments: Vec<(String, String)>,
    },
    /// Check whether the targets of these links exist. Reply: `LinkStatuses`.
    CheckLinks(Vec<LinkTarget>),
    /// List or read files of the session's workspace. Reply: `Workspace`.
    Workspace(WorkspaceRequest),
    /// Store the picture of the system's clipboard, or this one, in the session's workspace. Reply: `ClipboardRead`.
    PasteClipboard(Option<Vec<u8>>),
    /// Read a picture at the size at which it is drawn. Reply: `PictureRead`.
    ReadPicture(Arc<PictureKey>, PictureForm),
    /// Read the file that a link names, around its line. Reply: `LinkPreviewed`.
    PreviewLink(LinkTarget),
    /// Save the theme the user chose.
    SaveTheme(String),
    /// Add a message of the user to the history of the composer.
    AddToHistory(String),
}

/// Result of a `HostRequest`.
pub enum HostReply {
    /// Sessions of this project, newest first.
    Sessions(Vec<SessionRow>),
    /// Sessions with messages that match a search.
    SearchResults {
        /// The text searched for.
        query: String,
        /// All matches so far: session and matching line.
        matches: Vec<(SessionId, String)>,
        /// True if the search is complete.
        is_complete: bool,
    },
    /// A session was opened.
    Opened(Box<Opened>),
    /// Available models.
    Models(Models),
    /// Formatted time of each entry of this session that is on disk.
    EntryTimes(SessionId, Vec<String>),
    /// For each rule, by [`Rule::reason_start`]: the number of calls that it allowed in other sessions, and the
    /// formatted time of the last one.
    RuleUses(HashMap<String, (usize, String)>),
    /// Files of the project.
    Files {
        /// All files found so far.
        index: Arc<FileIndex>,
        /// Completeness of the list.
        completeness: ListState,
    },
    /// Result of a filter.
    FilesFiltered(FilterRequest, FileMatches),
    /// Result of a search for pasted paths: the lists that were given, and how a message names the files.
    PastedFilesFound(Vec<Vec<String>>, Option<Vec<String>>),
    /// Names of the MCP servers, each with its resources and prompts; and the custom commands.
    Offers(Vec<(String, ServerOffer)>, CommandFiles),
    /// A message with its attachments, or why one could not be read.
    MessageAttached {
        /// The message as it was requested.
        message: String,
        result: Result<String, String>,
    },
    /// Text of a prompt of an MCP server, or why there is none.
    PromptReceived {
        /// The command as typed.
        draft: String,
        server: String,
        result: Result<String, String>,
    },
    /// Status of each link target.
    LinkStatuses(Vec<(LinkTarget, LinkStatus)>),
    /// What was on the clipboard, or why it cannot be read: one sentence.
    ClipboardRead(SessionId, Result<PastedContent, String>),
    /// A picture, or why it cannot be read.
    PictureRead(Result<PictureData, String>),
    /// What a link names, or why it cannot be shown: one sentence.
    LinkPreviewed(LinkTarget, Result<FilePreview, String>),
    /// Files of the session's workspace.
    Workspace(WorkspaceReply),
    /// Model servers that answered.
    LocalServers(Vec<LocalServer>),
    /// Another provider is ready; `SwitchConnection` starts to use it.
    Connected(Box<PendingConnection>),
    /// The credentials that tools name.
    Credentials(Vec<ListedCredential>),
    /// The user connected the credential with this name.
    CredentialConnected(String),
    /// A tool needs a credential. Answer: `AnswerCredential`.
    CredentialRequested(Arc<CredentialRequest>),
    /// The request for a credential with this number needs no answer any more.
    CredentialWithdrawn(u64),
    /// An MCP server asks the user. Answer: `AnswerForm`.
    FormRequested(Arc<FormRequest>),
    /// The form with this number needs no answer any more.
    FormWithdrawn(u64),
    /// An MCP server wants an answer of the model, or one is there. Answer: `AnswerSampling`.
    SamplingRequested(Arc<SamplingReview>),
    /// The prompt with this number needs no decision any more.
    SamplingWithdrawn(u64),
    /// A step of an approved request to record.
    SamplingStepped(Box<SamplingStep>),
    /// An event for the agent.
    AgentEvent(agent::Event),
    /// Result of saving a rule.
    RuleSaved {
        /// The call that waits for the rule.
        call: CallId,
        /// The grant of the rule.
        grant: Grant,
        /// Origin of the grant.
        by: Decider,
        /// Error if the rule was not saved.
        error: Option<String>,
    },
    /// A rule was deleted from its file.
    RuleRevoked {
        /// Description of the rule.
        description: String,
        /// Origin of the request.
        by: Decider,
    },
    /// The target of a rule was replaced in its file, or could not be.
    RuleReplaced {
        /// The rule as it was.
        rule: Box<Rule>,
        /// The rule as it is now.
        new_rule: Box<Rule>,
        /// Origin of the request.
        by: Decider,
        /// Why the file was left unchanged; `None` if it was changed.
        error: Option<String>,
    },
    /// A list as text, after its title.
    TextPage(&'static str, String),
    /// The MCP servers.
    Servers(Vec<ServerReport>),
    /// Project files that would change what aye does.
    ProjectFiles {
        /// The files.
        files: Box<ProjectFiles>,
        /// Reason of the inspection.
        reason: InspectionReason,
    },
    /// Rehearsal of a session, or the reason it cannot be shown.
    Rehearsal(Result<Rehearsal, String>),
    /// The call that undoes the last turn, or why there is none.
    UndoPrepared(Result<agent::ApplyRequest, String>),
    /// Messages of the user, oldest first.
    RewindPoints(Vec<RewindPoint>),
    /// Trust in the project has changed.
    TrustChanged {
        /// The project's folder.
        folder: PathBuf,
        /// Trusted instructions of the project to the model.
        instructions: Arc<Vec<Instructions>>,
        /// Rules in effect now.
        rules_event: agent::Event,
        /// Tools of the project that are offered now.
        tools_event: agent::Event,
    },
    /// Error of a change of trust, as one sentence.
    TrustFailed(String),
    /// Error of saving unsent text; `None` once it works again.
    UnsentSaved(Option<String>),
    /// An error or hint: one sentence for the user.
    Notice(String),
    /// Confirmation that something was done: one sentence for the user.
    Done(String),
    /// A setting was saved: one sentence for the user. It stays on the screen when another session is shown.
    SettingSaved(String),
}

/// A session opened or created by the host.
pub struct Opened {
    /// Id of the session.
    pub session: SessionId,
    /// Session of which it is a new copy, if any.
    pub copied_from: Option<SessionId>,
    /// The agent with the session loaded.
    pub agent: agent::State,
    /// Connection to the runtime of the session. The effects of resuming have already run.
    pub link: AgentLink,
    /// Rehearsed steps to show as approval prompts at once.
    pub approvals: Option<agent::ApplyRequest>,
    /// Model and provider of the session.
    pub connection: Connection,
    /// Unsent text of the session.
    pub unsent: UnsentText,
    /// Working directory of the session; absolute.
    pub folder: PathBuf,
    /// Message history of that folder, oldest first.
    pub history: Vec<String>,
    /// Folder and branch as shown in the header: `~/src/app ⎇ main`.
    pub location: String,
}
