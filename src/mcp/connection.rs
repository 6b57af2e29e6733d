//! Connection to one server.

mod offered_texts;

use super::calls_in_progress::CallsInProgress;
use super::client_handler::{Client, OnProgress, ProgressReceivers};
use super::definition::Definition;
use super::form_prompts::FormPrompts;
use super::http_transport::{open_transport, plain_transport};
use super::result_text::{ResultText, describe_result};
use super::sampling_prompts::Sampler;
use super::server_config::{Endpoint, ServerConfig};
use crate::project::stdio_program::{ProgramFolder, StdioProgram};
use crate::store::Journal;
use crate::text::hidden_chars::mark_hidden;
use crate::text::truncation::truncate_end;
use crate::web::client::explain_failure;
use crate::web::request_credentials::RequestCredentials;
use rmcp::model::{
    CallToolRequest, CallToolRequestParams, CallToolResult, ClientRequest, PaginatedRequestParams, ServerResult,
};
use rmcp::service::{
    ClientInitializeError, Peer, PeerRequestOptions, RequestHandle, RoleClient, RunningService,
    RunningServiceCancellationToken, ServiceError, serve_client,
};
use rmcp::transport::streamable_http_client::StreamableHttpError;
use serde_json::{Map, Value};
use std::collections::HashSet;
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{Notify, watch};

/// Maximum number of tools of a server.
const MAX_TOOLS: usize = 200;
/// Maximum number of pages of the list of tools.
const MAX_PAGES: usize = 50;
/// Maximum time until a server is told that a call was cancelled.
const CANCEL_TIME: Duration = Duration::from_secs(1);
/// Maximum characters of an error of a server.
const MAX_ERROR_CHARS: usize = 1_000;

/// What every connection of this run needs.
#[derive(Clone)]
pub struct ConnectionContext {
    /// Path of aye, which guards servers that are programs.
    pub aye_path: PathBuf,
    /// Folder of the project, which servers may ask for.
    pub project: PathBuf,
    /// Environment of servers that are programs: no variable holds a secret.
    pub environment: Vec<(OsString, OsString)>,
    pub journal: Journal,
    /// Shows questions of servers; `None` without a screen.
    pub form_prompts: Option<Arc<dyn FormPrompts>>,
    /// Asks the model of the session for servers; `None` without a screen.
    pub sampler: Option<Arc<dyn Sampler>>,
    /// Credentials of servers with an address.
    pub credentials: Arc<dyn RequestCredentials>,
}

/// Why a call has no result.
#[derive(Debug)]
pub(super) enum CallError {
    /// The server refuses requests without a login.
    NeedsLogin,
    /// The server answered with an error, or not in time. For the model.
    Failed(String),
    /// The connection was lost.
    Lost,
}

/// An open connection. Dropping it ends the server's program, if it is one.
pub struct Connection {
    peer: Peer<RoleClient>,
    progress: ProgressReceivers,
    calls: CallsInProgress,
    /// Notified when the server says that its tools, resources or prompts changed.
    pub(super) tools_changed: Arc<Notify>,
    stop: Option<RunningServiceCancellationToken>,
    /// True once the connection has ended.
    has_ended: watch::Receiver<bool>,
    program: tokio::sync::Mutex<Option<StdioProgram>>,
    /// Dropped with the connection, so that nothing waits for an answer any more.
    _owner: watch::Sender<()>,
}

impl Connection {
    /// Connects to a server. Requires a tokio runtime with I/O and time.
    ///
    /// # Errors
    /// One sentence, worded to follow the server's name.
    pub async fn open(config: &ServerConfig, context: &ConnectionContext) -> Result<Self, String> {
        let (client, owner) = (Client::new(config, context), watch::Sender::new(()));
        let (service, program) = match &config.endpoint {
            Endpoint::Program { command_line, variables, folder } => {
                let mut environment = context.environment.clone();
                environment.retain(|(name, _)| name.to_str().is_none_or(|name| !variables.contains_key(name)));
                environment.extend(variables.iter().map(|(name, value)| (name.into(), value.into())));
                let folder = ProgramFolder::Existing(folder);
                let started = StdioProgram::start(&context.aye_path, command_line, folder, &environment);
                let (mut program, socket) = started.map_err(|error| format!("it could not be started: {error}"))?;
                match serve_client(client.clone(), socket.into_split()).await {
                    Ok(service) => (service, Some(program)),
                    Err(error) => {
                        let end = program.explain_end().await;
                        return Err(clean_error(&end.unwrap_or_else(|| explain_start_error(&error, &config.name))));
                    }
                }
            }
            Endpoint::Address { url, headers, credential } => {
                let credential = credential.clone().map(|name| (context.credentials.clone(), name));
                let transport = open_transport(url, headers, credential, owner.subscribe()).await?;
                let service = serve_client(client.clone(), transport).await;
                (service.map_err(|error| clean_error(&explain_start_error(&error, &config.name)))?, None)
            }
        };
        Ok(Self::from_service(service, client, program, owner))
    }

    /// Connects to a server that is not configured, and offers it nothing. `http` decides which addresses it reaches.
    pub(super) async fn open_unlisted(url: &str, http: reqwest::Client) -> Result<Self, CallError> {
        let (client, owner) = (Client::without_offers(), watch::Sender::new(()));
        match serve_client(client.clone(), plain_transport(url, http, owner.subscribe())).await {
            Ok(service) => Ok(Self::from_service(service, client, None, owner)),
            Err(error) if error.is_authorization_required() => Err(CallError::NeedsLogin),
            Err(error) => Err(CallError::Failed(clean_error(&explain_start_error(&error, "")))),
        }
    }

    fn from_service(
        service: RunningService<RoleClient, Client>,
        client: Client,
        program: Option<StdioProgram>,
        owner: watch::Sender<()>,
    ) -> Self {
        let (peer, stop) = (service.peer().clone(), Some(service.cancellation_token()));
        let (end_sender, has_ended) = watch::channel(false);
        tokio::spawn(async move {
            let _ = service.waiting().await;
            end_sender.send_replace(true);
        });
        let Client { progress, tools_changed, calls, .. } = client;
        Self { peer, progress, tools_changed, calls, stop, has_ended, program: program.into(), _owner: owner }
    }

    /// Returns a receiver that becomes true once the connection has ended.
    pub(super) fn end_receiver(&self) -> watch::Receiver<bool> {
        self.has_ended.clone()
    }

    /// Returns whether the connection has ended.
    pub(super) fn has_ended(&self) -> bool {
        *self.has_ended.borrow()
    }

    /// Explains why the connection ended, worded to follow the server's name.
    pub(super) async fn explain_end(&self) -> String {
        let end = match self.program.lock().await.as_mut() {
            Some(program) => program.explain_end().await,
            None => None,
        };
        clean_error(&end.unwrap_or_else(|| "the connection was lost".to_owned()))
    }

    /// Returns the definitions of all tools of the server. Of several tools with the same name the first one counts.
    ///
    /// # Errors
    /// One sentence, worded to follow the server's name.
    pub async fn list_definitions(&self) -> Result<Vec<Definition>, String> {
        if self.peer.peer_info().is_some_and(|info| info.capabilities.tools.is_none()) {
            return Ok(Vec::new());
        }
        let (mut definitions, mut names, mut cursor) = (Vec::new(), HashSet::new(), None);
        for _ in 0..MAX_PAGES {
            let mut parameters = PaginatedRequestParams::default();
            parameters.cursor = cursor;
            let page = self.peer.list_tools(Some(parameters)).await;
            let page = page.map_err(|error| {
                clean_error(&format!("its tools could not be listed: {}", explain_service_error(&error)))
            })?;
            let tools = page.tools.iter().map(Definition::from_tool);
            definitions.extend(tools.filter(|tool| names.insert(tool.name.clone())));
            if definitions.len() > MAX_TOOLS {
                return Err(format!("it has more than {MAX_TOOLS} tools"));
            }
            cursor = page.next_cursor;
            if cursor.is_none() {
                return Ok(definitions);
            }
        }
        Err(format!("its list of tools has more than {MAX_PAGES} pages"))
    }

    /// Calls a tool and returns its result as text. Dropping the future cancels the call at the server.
    pub(super) async fn call(
        &self,
        tool: &str,
        arguments: Map<String, Value>,
        limit: Duration,
        on_progress: OnProgress,
    ) -> Result<ResultText, CallError> {
        let parameters = CallToolRequestParams::new(tool.to_owned()).with_arguments(arguments);
        let request = ClientRequest::CallToolRequest(CallToolRequest::new(parameters));
        let _call = self.calls.begin_call();
        let sent = self.peer.send_cancellable_request(request, PeerRequestOptions::no_options()).await;
        let handle = sent.map_err(CallError::from)?;
        self.progress.insert(handle.progress_token.clone(), on_progress);
        let mut pending = PendingCall { handle: Some(handle), progress: self.progress.clone() };
        let answer = tokio::time::timeout(limit, pending.wait()).await;
        let Ok(answer) = answer else {
            pending.cancel().await;
            let seconds = limit.as_secs();
            return Err(CallError::Failed(format!(
                "The server did not answer within {seconds} s. The call was cancelled."
            )));
        };
        let result = match answer? {
            ServerResult::CallToolResult(result) => result,
            // A result without content.
            ServerResult::EmptyResult(_) => CallToolResult::default(),
            _ => return Err(CallError::Failed("The server gave an answer that is no result of a call.".to_owned())),
        };
        let text = describe_result(&result);
        if result.is_error == Some(true) { Err(CallError::Failed(text.shown)) } else { Ok(text) }
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        if let Some(stop) = self.stop.take() {
            stop.cancel();
        }
    }
}

/// A call that is not answered yet. Dropping it cancels the call at the server.
struct PendingCall {
    /// `None` once it is answered.
    handle: Option<RequestHandle<RoleClient>>,
    progress: ProgressReceivers,
}

impl PendingCall {
    /// Cancels the call, and waits until the server was told, so that the end of the program does not prevent it. A server
    /// that reads nothing is not waited for.
    async fn cancel(&mut self) {
        if let Some(handle) = self.handle.take() {
            self.progress.remove(&handle.progress_token);
            let _ = tokio::time::timeout(CANCEL_TIME, handle.cancel(None)).await;
        }
    }

    async fn wait(&mut self) -> Result<ServerResult, CallError> {
        let Some(handle) = &mut self.handle else { return Err(CallError::Lost) };
        let answer = (&mut handle.rx).await;
        if let Some(handle) = self.handle.take() {
            self.progress.remove(&handle.progress_token);
        }
        answer.map_err(|_| CallError::Lost)?.map_err(CallError::from)
    }
}

impl Drop for PendingCall {
    fn drop(&mut self) {
        let (Some(handle), Ok(runtime)) = (self.handle.take(), tokio::runtime::Handle::try_current()) else { return };
        self.progress.remove(&handle.progress_token);
        runtime.spawn(handle.cancel(None));
    }
}

impl From<ServiceError> for CallError {
    fn from(error: ServiceError) -> Self {
        match error {
            ServiceError::TransportClosed => Self::Lost,
            error if error.is_authorization_required() => Self::NeedsLogin,
            error => Self::Failed(clean_error(&format!("The call failed: {}", explain_service_error(&error)))),
        }
    }
}

/// Explains that a server refuses requests without a login, worded to follow its name.
pub(super) fn explain_needed_login(server: &str) -> String {
    format!("it requires authorization. Login needed: aye mcp login {server}")
}

/// Explains an error without the address, which may hold a key.
fn explain_service_error(error: &ServiceError) -> String {
    match error {
        ServiceError::McpError(error) => format!("the server answered with an error: {}", error.message),
        ServiceError::TransportSend(error) => {
            format!("the server cannot be reached: {}", root_cause(error.error.as_ref()))
        }
        error => error.to_string(),
    }
}

fn explain_start_error(error: &ClientInitializeError, server: &str) -> String {
    if error.is_authorization_required() {
        return explain_needed_login(server);
    }
    match error {
        ClientInitializeError::ConnectionClosed(_) => "it closed the connection".to_owned(),
        ClientInitializeError::TransportError { error, .. } => {
            format!("it cannot be reached: {}", root_cause(error.error.as_ref()))
        }
        ClientInitializeError::JsonRpcError(error) => format!("it answered with an error: {}", error.message),
        error => format!("it does not speak the protocol: {error}"),
    }
}

/// Returns the innermost error, which says what happened, without the address.
fn root_cause(error: &(dyn std::error::Error + Send + Sync + 'static)) -> String {
    // It does not name the error inside as its source, and its text has the address.
    if let Some(StreamableHttpError::Client(error)) = error.downcast_ref::<StreamableHttpError<reqwest::Error>>() {
        return explain_failure(error);
    }
    let mut cause: &dyn std::error::Error = error;
    while let Some(source) = cause.source() {
        cause = source;
    }
    cause.to_string()
}

/// Makes an error with text of a server one clean line.
fn clean_error(text: &str) -> String {
    truncate_end(&mark_hidden(&text.split_whitespace().collect::<Vec<_>>().join(" ")), MAX_ERROR_CHARS)
}
