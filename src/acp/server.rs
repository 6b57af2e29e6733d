//! Handles the messages of the client.

use super::client_link::ClientLink;
use super::editor_session::EditorSession;
use super::prompt_content::read_prompt;
use super::{OpenedSession, SessionOpener};
use crate::agent::Event;
use crate::chat::SessionId;
use crate::mcp::serving::bounded_lines::Line;
use crate::mcp::serving::message::{
    INTERNAL_ERROR, INVALID_PARAMETERS, INVALID_REQUEST, Incoming, RequestId, UNKNOWN_METHOD, parse_message,
};
use crate::text::hidden_chars::mark_hidden;
use crate::text::truncation::truncate_end;
use agent_client_protocol_schema::ProtocolVersion;
use agent_client_protocol_schema::v1::{
    AgentCapabilities, CancelNotification, CloseSessionRequest, CloseSessionResponse, Implementation,
    InitializeRequest, InitializeResponse, LoadSessionRequest, LoadSessionResponse, McpServer, NewSessionRequest,
    NewSessionResponse, PromptCapabilities, PromptRequest, SessionCapabilities, SessionCloseCapabilities,
};
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::future::poll_fn;
use std::path::PathBuf;
use std::task::Poll;
use tokio::task::JoinSet;

/// Maximum number of open sessions.
const MAX_SESSIONS: usize = 32;

/// Maximum characters of the reason why parameters cannot be read.
const MAX_REASON_CHARS: usize = 200;

/// Error of a request: its code and message.
type RequestError = (i32, String);

/// Serves one client.
pub struct AcpServer {
    link: ClientLink,
    is_initialized: bool,
    opener: Box<dyn SessionOpener>,
    /// Sessions that are being opened.
    openings: JoinSet<Opening>,
    sessions: Vec<EditorSession>,
    /// Index of the session whose events are looked for first, so that none waits for the others.
    first: usize,
}

/// A session that was opened, or could not be.
struct Opening {
    request: RequestId,
    /// True if it was stored: the client receives its history before the response.
    is_stored: bool,
    /// Notices about the request, one sentence each.
    notices: Vec<String>,
    result: Result<OpenedSession, String>,
}

/// Something that the server has to handle. The caller waits for it, and passes it on.
pub struct Happening(HappeningKind);

enum HappeningKind {
    Opened(Box<Opening>),
    /// Event of the session with this index.
    Session(usize, Box<Event>),
}

impl AcpServer {
    pub fn new(opener: Box<dyn SessionOpener>) -> Self {
        Self {
            link: ClientLink::default(),
            is_initialized: false,
            opener,
            openings: JoinSet::new(),
            sessions: Vec::new(),
            first: 0,
        }
    }

    /// Waits until something happens. Can be dropped at any time.
    pub async fn next_happening(&mut self) -> Happening {
        poll_fn(|context| {
            if let Poll::Ready(Some(Ok(opening))) = self.openings.poll_join_next(context) {
                return Poll::Ready(Happening(HappeningKind::Opened(Box::new(opening))));
            }
            let count = self.sessions.len();
            for index in (self.first..self.first + count).map(|index| index % count) {
                if let Poll::Ready(Some(event)) = self.sessions[index].events.poll_recv(context) {
                    self.first = (index + 1) % count;
                    return Poll::Ready(Happening(HappeningKind::Session(index, Box::new(event))));
                }
            }
            Poll::Pending
        })
        .await
    }

    /// Handles what has happened.
    pub fn handle_happening(&mut self, happening: Happening) {
        match happening.0 {
            HappeningKind::Session(index, event) => {
                if let Some(session) = self.sessions.get_mut(index) {
                    session.handle_event(*event, &mut self.link);
                }
            }
            HappeningKind::Opened(opening) => {
                let Opening { request, is_stored, notices, result } = *opening;
                match result {
                    Ok(mut opened) => {
                        opened.notices.extend(notices);
                        let id = opened.id.0.clone();
                        let mut session = EditorSession::new(opened);
                        if is_stored {
                            session.show_history(&mut self.link);
                            self.link.respond(&request, LoadSessionResponse::new());
                        } else {
                            self.link.respond(&request, NewSessionResponse::new(id));
                        }
                        session.run_first_effects(&mut self.link);
                        self.sessions.push(session);
                    }
                    Err(reason) => self.link.fail(Some(&request), INTERNAL_ERROR, &reason),
                }
            }
        }
    }

    /// Handles a line of the client, which has at most `max_bytes`.
    pub fn handle_line(&mut self, line: Line, max_bytes: usize) {
        let text = match line {
            Line::Text(text) if text.trim_ascii().is_empty() => return,
            Line::Text(text) => text,
            Line::TooLong => {
                let reason = format!("The message has more than {max_bytes} bytes");
                return self.link.fail(None, INVALID_REQUEST, &reason);
            }
        };
        match parse_message(&text) {
            Ok(Incoming::Request { id, method, parameters }) => {
                if let Err((code, reason)) = self.handle_request(&id, &method, parameters) {
                    self.link.fail(Some(&id), code, &reason);
                }
            }
            Ok(Incoming::Notification { method, parameters }) => {
                if method == "session/cancel"
                    && let Ok(cancelled) = serde_json::from_value::<CancelNotification>(parameters)
                    && let Ok(session) = find_session(&mut self.sessions, &cancelled.session_id.0)
                {
                    session.cancel(&mut self.link);
                }
            }
            Ok(Incoming::Response { id, result }) => {
                let has_asked = |session: &&mut EditorSession| {
                    session.asked_number().map(RequestId::from_number).as_ref() == Some(&id)
                };
                if let Some(session) = self.sessions.iter_mut().find(has_asked) {
                    session.receive_response(result, &mut self.link);
                }
            }
            Err(response) => self.link.send(response),
        }
    }

    fn handle_request(&mut self, id: &RequestId, method: &str, parameters: Value) -> Result<(), RequestError> {
        match method {
            "initialize" => self.initialize(id, parameters),
            _ if !self.is_initialized => Err((INVALID_REQUEST, "The first request must be initialize".to_owned())),
            "session/new" => {
                let request: NewSessionRequest = parse_parameters(parameters)?;
                let has_more_folders = !request.additional_directories.is_empty();
                self.open_session(id, None, request.cwd, (&request.mcp_servers, has_more_folders))
            }
            "session/load" => {
                let request: LoadSessionRequest = parse_parameters(parameters)?;
                let has_more_folders = !request.additional_directories.is_empty();
                let stored = SessionId(request.session_id.0.to_string());
                self.open_session(id, Some(stored), request.cwd, (&request.mcp_servers, has_more_folders))
            }
            "session/prompt" => self.start_prompt(id, parameters),
            "session/close" => {
                let request: CloseSessionRequest = parse_parameters(parameters)?;
                find_session(&mut self.sessions, &request.session_id.0)?.close(&mut self.link);
                self.sessions.retain(|session| session.id.0 != *request.session_id.0);
                self.first = 0;
                self.link.respond(id, CloseSessionResponse::new());
                Ok(())
            }
            _ => Err((UNKNOWN_METHOD, "Unknown method".to_owned())),
        }
    }

    fn initialize(&mut self, id: &RequestId, parameters: Value) -> Result<(), RequestError> {
        let _: InitializeRequest = parse_parameters(parameters)?;
        self.is_initialized = true;
        let sessions = SessionCapabilities::new().close(SessionCloseCapabilities::new());
        let capabilities = AgentCapabilities::new()
            .load_session(true)
            .prompt_capabilities(PromptCapabilities::new().embedded_context(true))
            .session_capabilities(sessions);
        // The only version that this program speaks; a client that does not speak it disconnects.
        let response = InitializeResponse::new(ProtocolVersion::V1)
            .agent_capabilities(capabilities)
            .agent_info(Implementation::new("aye", env!("CARGO_PKG_VERSION")));
        self.link.respond(id, response);
        Ok(())
    }

    fn open_session(
        &mut self,
        id: &RequestId,
        stored: Option<SessionId>,
        folder: PathBuf,
        (servers, has_more_folders): (&[McpServer], bool),
    ) -> Result<(), RequestError> {
        if self.sessions.len() + self.openings.len() >= MAX_SESSIONS {
            return Err((INTERNAL_ERROR, format!("{MAX_SESSIONS} sessions are open. Close some of them")));
        }
        let invalid = |reason: &str| (INVALID_PARAMETERS, reason.to_owned());
        if stored.as_ref().is_some_and(|stored| self.sessions.iter().any(|session| session.id == *stored)) {
            return Err((INVALID_REQUEST, "The session is already open".to_owned()));
        }
        if !folder.is_absolute() {
            return Err(invalid("The field cwd must be an absolute path"));
        }
        if !folder.is_dir() {
            return Err(invalid("The field cwd must name an existing folder"));
        }
        let mut notices = Vec::new();
        if !servers.is_empty() {
            notices.push("the MCP servers of the editor are not used. Add those you want with aye mcp add".to_owned());
        }
        if has_more_folders {
            notices.push("the additional folders of the editor are not part of the project".to_owned());
        }
        let (is_stored, request) = (stored.is_some(), id.clone());
        let opening = self.opener.open_session(folder, stored);
        self.openings.spawn(async move { Opening { request, is_stored, notices, result: opening.await } });
        Ok(())
    }

    fn start_prompt(&mut self, id: &RequestId, parameters: Value) -> Result<(), RequestError> {
        let request: PromptRequest = parse_parameters(parameters)?;
        let session = find_session(&mut self.sessions, &request.session_id.0)?;
        if session.is_running() {
            return Err((INVALID_REQUEST, "A turn runs in this session. Cancel it, or wait for its end".to_owned()));
        }
        let prompt = read_prompt(request.prompt, &session.folder, session.secrets())
            .map_err(|reason| (INVALID_PARAMETERS, reason))?;
        session.start_prompt(id.clone(), &prompt, &mut self.link);
        Ok(())
    }

    /// Takes the messages to send.
    pub fn take_messages(&mut self) -> Vec<Value> {
        self.link.take_messages()
    }

    /// Stops all turns, and saves the sessions. Returns a sentence for each that cannot be saved.
    pub fn stop(&mut self) -> Vec<String> {
        let link = &mut self.link;
        let describe = |session: &mut EditorSession| {
            let reason = session.close(link)?;
            Some(format!("session {} is not saved: {reason}", session.id))
        };
        self.sessions.iter_mut().filter_map(describe).collect()
    }
}

fn find_session<'a>(sessions: &'a mut [EditorSession], id: &str) -> Result<&'a mut EditorSession, RequestError> {
    let unknown = || (INVALID_PARAMETERS, "The field sessionId names no open session".to_owned());
    sessions.iter_mut().find(|session| session.id.0 == id).ok_or_else(unknown)
}

fn parse_parameters<T: DeserializeOwned>(parameters: Value) -> Result<T, RequestError> {
    serde_json::from_value(parameters).map_err(|error| {
        let reason = truncate_end(&mark_hidden(&error.to_string()), MAX_REASON_CHARS);
        (INVALID_PARAMETERS, format!("The parameters cannot be read: {reason}"))
    })
}
