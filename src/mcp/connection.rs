//! Connection to one server.

mod input_rounds;
mod offered_texts;
mod opening;

use super::client_handler::{Client, OnProgress, ProgressReceivers};
use super::definition::Definition;
use super::form_prompts::FormPrompts;
use super::login_advice::LoginAdvice;
use super::result_text::{ResultText, describe_result};
use super::sampling_prompts::Sampler;
use crate::project::stdio_program::StdioProgram;
use crate::store::Journal;
use crate::text::hidden_chars::mark_hidden;
use crate::text::truncation::truncate_end;
use crate::web::client::explain_failure;
use crate::web::request_credentials::RequestCredentials;
use input_rounds::{MAX_ROUNDS, Questions, Rounds};
use rmcp::model::{
    CallToolRequest, CallToolRequestParams, CallToolResult, ClientRequest, PaginatedRequestParams, PingRequest,
    ServerResult,
};
use rmcp::service::{
    Peer, PeerRequestOptions, RequestHandle, RoleClient, RunningServiceCancellationToken, ServiceError,
};
use rmcp::transport::streamable_http_client::StreamableHttpError;
use serde_json::{Map, Value};
use std::collections::HashSet;
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::{Notify, watch};

/// Maximum number of tools of a server.
const MAX_TOOLS: usize = 200;
/// Maximum number of pages of the list of tools.
const MAX_PAGES: usize = 50;
/// Maximum time until a server is told that a call was cancelled.
const CANCEL_TIME: Duration = Duration::from_secs(1);
/// Time in which a server answers a ping.
const PING_TIME: Duration = Duration::from_secs(5);
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
    /// The login has too few scopes. Explained by [`LoginAdvice::explain_missing_scopes`].
    MissingScopes(String),
    /// The server answered with an error, or not in time. For the model.
    Failed(String),
    /// The call could not be sent. For the model.
    NotSent(String),
    /// The connection was lost after the call was sent.
    Lost,
}

/// An open connection. Dropping it ends the server's program, if it is one.
pub struct Connection {
    peer: Peer<RoleClient>,
    client: Client,
    stop: Mutex<Option<RunningServiceCancellationToken>>,
    /// True once the connection has ended.
    has_ended: watch::Receiver<bool>,
    program: tokio::sync::Mutex<Option<StdioProgram>>,
    login_advice: LoginAdvice,
    /// Dropped with the connection, so that nothing waits for an answer any more.
    _owner: watch::Sender<()>,
}

impl Connection {
    /// Notified when the server says that its tools, resources or prompts changed.
    pub(super) fn tools_changed(&self) -> Arc<Notify> {
        self.client.tools_changed.clone()
    }

    /// Returns what the user can do if the server refuses requests because of the login.
    pub(super) fn login_advice(&self) -> &LoginAdvice {
        &self.login_advice
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

    /// Ends the connection if the server does not answer a ping. A server that is a program ends its connection when it
    /// ends; that one with an address is gone shows only in a request.
    pub(super) async fn end_if_unreachable(&self) {
        let ping = self.peer.send_request(ClientRequest::PingRequest(PingRequest::default()));
        // Any answer will do.
        if matches!(tokio::time::timeout(PING_TIME, ping).await, Ok(Ok(_) | Err(ServiceError::McpError(_)))) {
            return;
        }
        self.end();
    }

    /// Ends the connection, once.
    fn end(&self) {
        if let Some(stop) = self.stop.lock().unwrap_or_else(PoisonError::into_inner).take() {
            stop.cancel();
        }
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
                let needed_login = error.is_authorization_required().then(|| self.login_advice.explain_needed_login());
                needed_login.or_else(|| self.explain_missing_scopes(&error)).unwrap_or_else(|| {
                    clean_error(&format!("its tools could not be listed: {}", explain_service_error(&error)))
                })
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
        let mut parameters = CallToolRequestParams::new(tool.to_owned()).with_arguments(arguments);
        let _call = self.client.calls.begin_call();
        let mut rounds = Rounds::default();
        for _ in 0..MAX_ROUNDS {
            let answer = self.send_call(parameters.clone(), limit, on_progress.clone()).await?;
            if let Some(asked) = Questions::from_result(&answer) {
                parameters = rounds.prepare_next(&self.client, parameters, asked).await?;
                continue;
            }
            let result = match answer {
                ServerResult::CallToolResult(result) => result,
                // A result without content.
                ServerResult::EmptyResult(_) => CallToolResult::default(),
                _ => {
                    return Err(CallError::Failed("The server gave an answer that is no result of a call.".to_owned()));
                }
            };
            let text = describe_result(&result);
            return if result.is_error == Some(true) { Err(CallError::Failed(text.shown)) } else { Ok(text) };
        }
        Err(CallError::Failed(format!("The server gave no result in {MAX_ROUNDS} rounds. The call was ended.")))
    }

    /// Sends a call and returns the answer. Dropping the future cancels the call at the server.
    async fn send_call(
        &self,
        parameters: CallToolRequestParams,
        limit: Duration,
        on_progress: OnProgress,
    ) -> Result<ServerResult, CallError> {
        let request = ClientRequest::CallToolRequest(CallToolRequest::new(parameters));
        let sent = self.peer.send_cancellable_request(request, PeerRequestOptions::no_options()).await;
        let handle = sent.map_err(|error| self.explain_failed_call(error))?;
        let progress = self.client.progress.clone();
        progress.insert(handle.progress_token.clone(), on_progress);
        let mut pending = PendingCall { handle: Some(handle), progress };
        let answer = tokio::time::timeout(limit, pending.wait()).await;
        let Ok(answer) = answer else {
            pending.cancel().await;
            let seconds = limit.as_secs();
            return Err(CallError::Failed(format!(
                "The server did not answer within {seconds} s. The call was cancelled."
            )));
        };
        let answer = answer.ok_or(CallError::Lost)?;
        answer.map_err(|error| self.explain_failed_call(error))
    }

    fn explain_failed_call(&self, error: ServiceError) -> CallError {
        match error {
            ServiceError::TransportClosed => CallError::Lost,
            error if error.is_authorization_required() => CallError::NeedsLogin,
            error => {
                let failure = || clean_error(&format!("The call failed: {}", explain_service_error(&error)));
                match (self.explain_missing_scopes(&error), &error) {
                    (Some(explanation), _) => CallError::MissingScopes(explanation),
                    (None, ServiceError::TransportSend(_)) => CallError::NotSent(failure()),
                    (None, _) => CallError::Failed(failure()),
                }
            }
        }
    }

    /// Explains an error as [`LoginAdvice::explain_missing_scopes`].
    fn explain_missing_scopes(&self, error: &ServiceError) -> Option<String> {
        self.login_advice.explain_missing_scopes(error.auth_challenge()?)
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.end();
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

    /// Returns the answer; `None` if the connection was lost.
    async fn wait(&mut self) -> Option<Result<ServerResult, ServiceError>> {
        let handle = self.handle.as_mut()?;
        let answer = (&mut handle.rx).await;
        if let Some(handle) = self.handle.take() {
            self.progress.remove(&handle.progress_token);
        }
        answer.ok()
    }
}

impl Drop for PendingCall {
    fn drop(&mut self) {
        let (Some(handle), Ok(runtime)) = (self.handle.take(), tokio::runtime::Handle::try_current()) else { return };
        self.progress.remove(&handle.progress_token);
        runtime.spawn(handle.cancel(None));
    }
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
