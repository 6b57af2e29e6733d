//! Data that requests to the host and its replies carry.

use crate::chat::sampling::{SamplingRequest, SamplingStep};
use crate::chat::{Decider, DryRunSummary, ServerForm, SessionId, image};

/// Result of a dry run.
#[derive(Debug, Clone, PartialEq)]
pub struct Rehearsal {
    /// Session of the dry run.
    pub session: SessionId,
    /// Changed files and rehearsed calls.
    pub summary: DryRunSummary,
}

/// Reason why forwarding ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ForwardEnd {
    /// The command ended, or the user took the terminal back.
    Returned,
    /// The terminal is gone.
    TerminalLost,
    /// The caller stopped it.
    Stopped,
}

/// A credential that a tool needs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CredentialRequest {
    /// Number of the request in this run.
    pub id: u64,
    pub name: String,
    /// The only origins it will be sent to.
    pub origins: Vec<String>,
    /// Reason in the model's words.
    pub reason: String,
}

/// A credential that tools name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedCredential {
    pub name: String,
    /// The only origins it is sent to.
    pub origins: Vec<String>,
    pub state: ListedState,
}

/// State of a credential.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ListedState {
    Connected,
    Missing,
    /// It is stored but cannot be used, for this reason.
    Unusable(String),
}

/// A form of an MCP server that a running call waits for.
#[derive(Debug, Clone, PartialEq)]
pub struct FormRequest {
    /// Number of the request in this run.
    pub id: u64,
    pub form: ServerForm,
}

/// A request of an MCP server for an answer of the model that waits for the user.
#[derive(Debug, Clone, PartialEq)]
pub struct SamplingReview {
    /// Number of the prompt in this run.
    pub id: u64,
    pub subject: SamplingSubject,
}

/// What the user decides on.
#[derive(Debug, Clone, PartialEq)]
pub enum SamplingSubject {
    /// Whether the request is sent to this model.
    Request { request: SamplingRequest, model: String },
    /// Whether the answer of this model is returned to the server.
    Answer { server: String, model: String, text: String },
}

impl SamplingSubject {
    /// Returns the name of the server.
    pub fn server(&self) -> &str {
        match self {
            Self::Request { request, .. } => &request.server,
            Self::Answer { server, .. } => server,
        }
    }

    /// Returns the step that the decision of the user is.
    pub fn to_step(&self, is_approved: bool, by: Decider) -> SamplingStep {
        match self {
            Self::Request { request, model } => {
                let (request, sha256) = (request.clone(), request.digest());
                SamplingStep::Decided { request, model: model.clone(), is_approved, by, sha256 }
            }
            Self::Answer { server, .. } => SamplingStep::Returned { server: server.clone(), is_approved, by: Some(by) },
        }
    }
}

/// The message of the user before which a copy of a session ends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RewindTarget {
    /// Index of its entry.
    pub entry: usize,
    pub text: String,
}

/// Reason of an inspection of the project.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InspectionReason {
    /// A session started in the project.
    SessionStarted,
    /// The user asked for the inspection.
    UserRequest,
    /// The files changed after the user trusted them.
    FilesChanged,
}

/// What was on the clipboard.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PastedContent {
    /// A picture, which is the file of the workspace with this address.
    Picture(String),
    Text(String),
}

/// Completeness of a list of files.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ListState {
    /// The scan is running and the list will be sent again.
    Scanning,
    /// The list is complete.
    #[default]
    Complete,
    /// The list is truncated.
    Truncated,
}

/// Status of a link target.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LinkStatus {
    /// It does not exist.
    Missing,
    /// It exists.
    Exists,
    /// It is a picture.
    Picture(image::ImageSize),
}

/// A connection that is ready and not used yet.
#[derive(Debug, Clone, PartialEq)]
pub struct PendingConnection {
    /// Session it was requested for; ignored in other sessions.
    pub session: SessionId,
    /// Number that selects this connection in `SwitchConnection`.
    pub number: u64,
    /// Description of the connection.
    pub connection: Connection,
}

/// Available models.
#[derive(Debug, Clone, PartialEq)]
pub struct Models {
    /// Models of the current provider.
    pub listed: ModelList,
    /// Models of other profiles and servers.
    pub other_models: Vec<ModelRow>,
}

/// Models of the current provider.
#[derive(Debug, Clone, PartialEq)]
pub enum ModelList {
    /// The provider has not answered yet.
    Loading,
    /// The models, in the provider's order.
    Models(Vec<ModelRow>),
    /// The provider does not list them; the reason as one sentence.
    Failed(String),
}

/// One available model.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ModelRow {
    /// Name of its profile; empty for the current provider.
    pub profile: String,
    /// Name of the model; empty for the provider's first.
    pub model: String,
    /// Context window in tokens, if known.
    pub context_window: Option<u64>,
    /// Price in dollars per million tokens: input, cached input, output. `None` if unknown.
    pub price: Option<(f64, f64, f64)>,
}

/// One row of the session list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionRow {
    /// Id of the session.
    pub id: SessionId,
    /// Title of the session.
    pub title: String,
    /// Formatted time of last use: `yesterday 14:02`.
    pub last_used: String,
    /// True for a dry run.
    pub is_dry_run: bool,
    /// True if it is a copy of another session.
    pub is_copy: bool,
    /// True if a question in it waits for the user.
    pub has_open_question: bool,
    /// What the model noted when it handed the session to the user, if it did.
    pub parked_note: Option<String>,
}

/// A model server found on this machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LocalServer {
    /// Name of the program: `Ollama`.
    pub name: String,
    /// Address, ending in `/v1`.
    pub address: String,
    /// Models it offers.
    pub models: Vec<String>,
}

/// Model and provider in use, and why they were chosen.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Connection {
    /// Model, as the provider names it.
    pub model: String,
    /// Profile in the settings; empty if an address was given for this run only.
    pub profile: String,
    /// Provider and origin of the choice: `at api.openai.com (key from OPENAI_API_KEY)`.
    pub source: String,
    /// True for the built-in scripted model.
    pub is_tour: bool,
    /// True if there is no provider: the session can be read, and continues once one is connected.
    pub is_unconfigured: bool,
    /// True if the model accepts pictures.
    pub accepts_images: bool,
    /// Context window of the model in tokens, if known.
    pub context_window: Option<u64>,
    /// Estimated tokens of all tools above which those of files and servers are deferred. `None`: never.
    pub tool_limit: Option<u64>,
    /// Price in dollars per million tokens: input, cached input, output. `None` if unknown.
    pub price: Option<(f64, f64, f64)>,
}
