//! The frontend for editors: a server of the Agent Client Protocol. It runs sessions, streams what they do, and asks the
//! client for decisions and answers. Its caller reads and writes the lines, and opens the sessions.
//!
//! Everything that the client receives about a call is derived from the entries and plans of the agent, and each decision
//! of the client is bound to the plan that it was asked about.

mod approval_request;
mod call_facts;
mod call_updates;
mod client_link;
mod editor_session;
mod outgoing_text;
mod prompt_content;
mod question_request;
mod server;
mod session_notices;

use crate::agent::{Effect, State};
use crate::chat::SessionId;
use crate::chat::attachments::Attachment;
use crate::runtime::{Events, Runtime};
use futures::future::BoxFuture;
pub use server::AcpServer;
use std::path::PathBuf;

/// Opens sessions for the server.
pub trait SessionOpener {
    /// Opens a new session in a folder, which is absolute and exists, or the stored session with this ID, which must
    /// belong to the folder. The error is one sentence for the user.
    fn open_session(
        &self,
        folder: PathBuf,
        stored: Option<SessionId>,
    ) -> BoxFuture<'static, Result<OpenedSession, String>>;
}

/// Reads the files that a message names, at most this many bytes.
pub type FileReader = Box<dyn Fn(&str, usize) -> Vec<Attachment> + Send>;

/// A session, and what drives it.
pub struct OpenedSession {
    pub id: SessionId,
    /// The folder it works in, as the client names it; absolute.
    pub folder: PathBuf,
    pub state: State,
    pub runtime: Runtime,
    pub events: Events,
    /// Effects that are left from opening the session.
    pub effects: Vec<Effect>,
    /// Notices for the user, one sentence each.
    pub notices: Vec<String>,
    pub read_files: FileReader,
    /// Abbreviated in paths as `~`.
    pub home: Option<PathBuf>,
}
