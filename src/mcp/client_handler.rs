//! Answers to requests and notifications of a server.

// Roots and log messages are to be replaced in the protocol, but servers use them.
#![allow(deprecated)]

use super::calls_in_progress::CallsInProgress;
use super::connection::ConnectionContext;
use super::form_prompts::{FormPrompts, answer_request};
use super::sampling_prompts::SamplingRequests;
use super::server_config::ServerConfig;
use crate::store::Journal;
use crate::text::hidden_chars::remove_hidden;
use crate::text::truncation::truncate_end;
use rmcp::ClientHandler;
use rmcp::model::{
    ClientCapabilities, ClientConfig, CreateMessageRequestParams, CreateMessageResult, CustomRequest, CustomResult,
    ElicitRequestParams, ElicitResult, ElicitationCapability, ErrorCode, ErrorData, FormElicitationCapability,
    Implementation, ListRootsResult, LoggingMessageNotificationParam, ProgressNotificationParam, ProgressToken,
    ProtocolVersion, Root, RootsCapabilities, SamplingCapability,
};
use rmcp::service::{NotificationContext, RequestContext, RoleClient};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::Notify;

/// Maximum characters of a progress message.
const MAX_PROGRESS_CHARS: usize = 200;

/// Receives the progress of a call, as one line.
pub type OnProgress = Arc<dyn Fn(&str) + Send + Sync>;

/// Receivers of progress by the token of their call.
#[derive(Clone, Default)]
pub(super) struct ProgressReceivers(Arc<Mutex<HashMap<ProgressToken, OnProgress>>>);

impl ProgressReceivers {
    pub(super) fn insert(&self, token: ProgressToken, receiver: OnProgress) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(token, receiver);
    }

    pub(super) fn remove(&self, token: &ProgressToken) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(token);
    }

    fn find(&self, token: &ProgressToken) -> Option<OnProgress> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(token).cloned()
    }
}

/// aye as its servers see it. It offers the project as root, on a screen its user, and its model if the settings allow it.
#[derive(Clone)]
pub(super) struct Client {
    /// Name of the server.
    server: String,
    /// Address of the project's folder, if the server may know it.
    root: Option<String>,
    pub(super) progress: ProgressReceivers,
    /// Notified when the server says that its tools, resources or prompts changed.
    pub(super) tools_changed: Arc<Notify>,
    pub(super) calls: CallsInProgress,
    /// `None` without a screen.
    form_prompts: Option<Arc<dyn FormPrompts>>,
    samplings: SamplingRequests,
    journal: Journal,
}

impl Client {
    pub(super) fn new(config: &ServerConfig, context: &ConnectionContext) -> Self {
        let root = reqwest::Url::from_directory_path(&context.project);
        let sampler = match &context.sampler {
            _ if !config.allows_sampling => Err("the settings of the user do not allow it for this server"),
            None => Err("no user can be asked"),
            Some(sampler) => Ok(sampler.clone()),
        };
        Self {
            server: config.name.clone(),
            samplings: SamplingRequests::new(&config.name, sampler),
            root: Some(root.map_or_else(|()| "file:///".to_owned(), String::from)),
            form_prompts: context.form_prompts.clone(),
            journal: context.journal.clone(),
            ..Self::without_offers()
        }
    }

    /// aye as a server sees it that is not configured: it offers nothing.
    pub(super) fn without_offers() -> Self {
        Self {
            server: String::new(),
            root: None,
            progress: ProgressReceivers::default(),
            tools_changed: Arc::default(),
            calls: CallsInProgress::new(),
            form_prompts: None,
            samplings: SamplingRequests::new("", Err("this server is not configured")),
            journal: Journal::default(),
        }
    }

    /// Answers a request for input with these parameters, as the protocol's result.
    pub(super) async fn answer_form(&self, parameters: &Value) -> Value {
        answer_request(&self.server, parameters, &self.calls, self.form_prompts.as_ref()).await
    }

    /// Answers a request for the model with these parameters, as the protocol's result.
    pub(super) async fn answer_sampling(&self, parameters: &Value) -> Result<Value, ErrorData> {
        self.samplings.answer(parameters, &self.calls).await
    }

    /// Returns the folders that the server may know, as the protocol's result.
    pub(super) fn roots_value(&self) -> Value {
        serde_json::to_value(self.roots()).unwrap_or_default()
    }

    fn roots(&self) -> ListRootsResult {
        ListRootsResult::new(self.root.iter().map(|root| Root::new(root.clone())).collect())
    }

    async fn ask_user(&self, parameters: &Value, context: &RequestContext<RoleClient>) -> Value {
        let cancelled = json!({ "action": "cancel" });
        tokio::select! {
            answer = self.answer_form(parameters) => answer,
            () = context.ct.cancelled() => cancelled,
        }
    }

    async fn ask_model(&self, parameters: &Value, context: &RequestContext<RoleClient>) -> Result<Value, ErrorData> {
        tokio::select! {
            answer = self.answer_sampling(parameters) => answer,
            () = context.ct.cancelled() => Err(ErrorData::internal_error("The request was cancelled.", None)),
        }
    }
}

impl ClientHandler for Client {
    fn get_info(&self) -> ClientConfig {
        let mut capabilities = ClientCapabilities::default();
        capabilities.roots = self.root.as_ref().map(|_| RootsCapabilities::default());
        let form = || ElicitationCapability::new().with_form(FormElicitationCapability::new());
        capabilities.elicitation = self.form_prompts.as_ref().map(|_| form());
        capabilities.sampling = self.samplings.are_possible().then(SamplingCapability::default);
        let config = ClientConfig::new(capabilities, Implementation::new("aye", env!("CARGO_PKG_VERSION")));
        // Later versions have no handshake.
        config.with_protocol_version(ProtocolVersion::LATEST_WITH_INITIALIZE)
    }

    async fn list_roots(&self, _: RequestContext<RoleClient>) -> Result<ListRootsResult, ErrorData> {
        Ok(self.roots())
    }

    async fn create_elicitation(
        &self,
        request: ElicitRequestParams,
        context: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        let answer = self.ask_user(&form_parameters(&request), &context).await;
        serde_json::from_value(answer).map_err(|error| ErrorData::internal_error(error.to_string(), None))
    }

    async fn create_message(
        &self,
        request: CreateMessageRequestParams,
        context: RequestContext<RoleClient>,
    ) -> Result<CreateMessageResult, ErrorData> {
        let parameters = serde_json::to_value(&request).unwrap_or_default();
        let answer = self.ask_model(&parameters, &context).await?;
        serde_json::from_value(answer).map_err(|error| ErrorData::internal_error(error.to_string(), None))
    }

    /// Also receives requests for input with a schema that the protocol does not know, such as one for a password, and
    /// other requests with unknown fields.
    async fn on_custom_request(
        &self,
        request: CustomRequest,
        context: RequestContext<RoleClient>,
    ) -> Result<CustomResult, ErrorData> {
        let parameters = request.params.unwrap_or_default();
        let result = match request.method.as_str() {
            "elicitation/create" => self.ask_user(&parameters, &context).await,
            "sampling/createMessage" => self.ask_model(&parameters, &context).await?,
            _ => return Err(ErrorData::new(ErrorCode::METHOD_NOT_FOUND, request.method, None)),
        };
        Ok(CustomResult::new(result))
    }

    async fn on_progress(&self, progress: ProgressNotificationParam, _: NotificationContext<RoleClient>) {
        if let Some(receiver) = self.progress.find(&progress.progress_token) {
            receiver(&describe_progress(&progress));
        }
    }

    async fn on_tool_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.tools_changed.notify_one();
    }

    async fn on_resource_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.tools_changed.notify_one();
    }

    async fn on_prompt_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.tools_changed.notify_one();
    }

    async fn on_logging_message(&self, message: LoggingMessageNotificationParam, _: NotificationContext<RoleClient>) {
        self.journal.note("an MCP server logged a message");
        self.journal.content("mcp", || message.data.to_string());
    }
}

/// Returns the parameters of a request for input as JSON, with the fields in the order of the server.
pub(super) fn form_parameters(request: &ElicitRequestParams) -> Value {
    let mut parameters = serde_json::to_value(request).unwrap_or_default();
    if let ElicitRequestParams::FormElicitationParams { requested_schema, .. } = request
        && let Some(order) = &requested_schema.property_order
        && let Some(properties) = parameters["requestedSchema"]["properties"].as_object_mut()
    {
        let ordered = order.iter().filter_map(|name| properties.remove_entry(name)).collect::<Vec<_>>();
        properties.extend(ordered);
    }
    parameters
}

/// Describes progress in one line: `3 of 10: reading`.
fn describe_progress(progress: &ProgressNotificationParam) -> String {
    let mut text = progress.progress.to_string();
    if let Some(total) = progress.total {
        text.push_str(&format!(" of {total}"));
    }
    if let Some(message) = progress.message.as_deref().filter(|message| !message.trim().is_empty()) {
        text.push_str(&format!(": {}", remove_hidden(message).split_whitespace().collect::<Vec<_>>().join(" ")));
    }
    truncate_end(&text, MAX_PROGRESS_CHARS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn progress_is_one_clean_line() {
        let describe = |value: Value| describe_progress(&serde_json::from_value(value).unwrap());
        assert_eq!(describe(json!({"progressToken": 1, "progress": 3, "total": 10})), "3 of 10");
        let hostile = json!({"progressToken": 1, "progress": 0.5, "message": "a\n\u{1B}[2J\u{202E}b"});
        assert_eq!(describe(hostile), "0.5: a [2Jb");
        let long = describe(json!({"progressToken": 1, "progress": 1, "message": "x".repeat(100_000)}));
        assert_eq!(long.chars().count(), MAX_PROGRESS_CHARS + 1, "with the mark of truncation");
    }
}
