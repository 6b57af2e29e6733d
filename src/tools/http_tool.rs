//! Tool of a file that sends a request to a server.

mod rendered_request;
mod response_text;

use super::result_files::LongResult;
use super::tool_file::parameters::check_arguments;
use super::tool_file::{HttpDefinition, ToolHead};
use super::{Error, LiveContext, ResultKind, Tool, parse_plan_data, summary_line};
use crate::chat::{Access, ExternalAccess, FetchAccess, Grant, GrantScope, Intent, Plan, Preview, ToolSpec, Work};
use crate::project::Reader;
use crate::project::output::CommandProgress;
use crate::web::client::{Fetched, WebClient, WebResponse, describe_network};
use crate::web::request::{RequestError, WebRequest};
use crate::web::request_credentials::{NamedCredential, RequestCredentials};
use crate::web::target::{PrivateHosts, Target, parse_target};
use async_trait::async_trait;
use rendered_request::{RenderedRequest, render_request};
use reqwest::header::{HeaderName, HeaderValue, RETRY_AFTER};
use reqwest::{Method, StatusCode};
use response_text::describe_response;
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;

/// Maximum number of retries.
const MAX_RETRIES: u32 = 2;
/// Longest time that the server may ask to wait before a retry.
const MAX_WAIT: Duration = Duration::from_secs(20);

/// Sends a request that a file defines.
pub struct HttpTool {
    head: ToolHead,
    http: HttpDefinition,
    client: Arc<WebClient>,
    credentials: Arc<dyn RequestCredentials>,
}

impl HttpTool {
    /// Creates the tool. `client` is used unless the tool may reach private networks.
    pub fn new(
        head: ToolHead,
        http: HttpDefinition,
        client: &Arc<WebClient>,
        credentials: Arc<dyn RequestCredentials>,
    ) -> Self {
        let client = match http.allow_private {
            true => Arc::new(WebClient::new(own_private_host(&http, client.private_hosts()))),
            false => client.clone(),
        };
        Self { head, http, client, credentials }
    }

    /// Returns the access of a request. Its grant covers the host.
    fn describe_access(&self, request: &RenderedRequest, target: &Target) -> (Access, GrantScope) {
        let host = target.host.clone();
        if self.http.is_external {
            let access = ExternalAccess { request: request.line(), service: host.clone(), page_host: None };
            return (Access::External(Box::new(access)), GrantScope::Service(host));
        }
        let access = FetchAccess { url: request.url.clone(), host: host.clone(), runs_scripts: false };
        (Access::Fetch(Box::new(access)), GrantScope::Host(host))
    }

    /// Describes the request for the prompt: its line, its headers without secrets, and its body.
    fn preview_request(&self, request: &RenderedRequest, target: &Target) -> String {
        let mut lines = vec![request.line()];
        lines.extend(request.headers.iter().map(|header| {
            let value = if header.is_secret { "[redacted]" } else { &header.value };
            format!("{}: {value}", header.name)
        }));
        lines.extend(self.http.credential.iter().map(|name| format!("added by aye: the credential “{name}”")));
        lines.extend(describe_network(target, "which the file of this tool allows"));
        if let Some(body) = &request.body {
            lines.extend([String::new(), body.clone()]);
        }
        lines.join("\n")
    }

    /// Returns the header of the credential, if the tool has one.
    async fn load_credential(&self, target: &Target) -> Result<Option<(HeaderName, HeaderValue)>, Error> {
        let Some(name) = self.http.credential.clone() else { return Ok(None) };
        let (credentials, url) = (self.credentials.clone(), target.url.clone());
        let loaded = tokio::task::spawn_blocking(move || credentials.header(&name, &url)).await;
        let loaded = loaded.map_err(|error| Error::Internal(error.to_string()))?;
        loaded.map(Some).map_err(Error::Failed)
    }

    /// Returns another header if the server rejected the credential and it can be renewed.
    async fn renew_credential(
        &self,
        target: &Target,
        credential: Option<&(HeaderName, HeaderValue)>,
        sent: &Result<Fetched, RequestError>,
    ) -> Result<Option<(HeaderName, HeaderValue)>, Error> {
        let is_rejected =
            matches!(sent, Ok(Fetched::Response(response)) if response.status == StatusCode::UNAUTHORIZED);
        let rejected = credential.filter(|_| is_rejected).map(|(_, value)| value.clone());
        let (Some(name), Some(rejected)) = (self.http.credential.clone(), rejected) else { return Ok(None) };
        let (credentials, url) = (self.credentials.clone(), target.url.clone());
        let renewed = tokio::task::spawn_blocking(move || credentials.renew_header(&name, &url, &rejected));
        let renewed = renewed.await.map_err(|error| Error::Internal(error.to_string()))?.map_err(Error::Failed)?;
        Ok(renewed.map(|(name, mut value)| {
            value.set_sensitive(true);
            (name, value)
        }))
    }

    /// Sends the request, and again if its method is idempotent and the server is not available.
    async fn send(&self, request: &WebRequest, context: &LiveContext) -> Result<Fetched, RequestError> {
        let is_idempotent = matches!(request.method, Method::GET | Method::PUT | Method::DELETE);
        let mut retries = 0;
        loop {
            let result = self.client.send(request.clone()).await;
            let wait = retry_wait(&result, retries).filter(|_| is_idempotent && retries < MAX_RETRIES);
            let Some(wait) = wait else { return result };
            retries += 1;
            let status = format!("{} is not available, retry {retries} of {MAX_RETRIES}…", request.target.host);
            (context.progress)(CommandProgress::from_status(&status));
            tokio::time::sleep(wait).await;
        }
    }
}

#[async_trait]
impl Tool for HttpTool {
    fn tool_spec(&self) -> ToolSpec {
        self.head.tool_spec()
    }

    fn named_credential(&self) -> Option<NamedCredential> {
        let origin = self.http.url.sample().origin().ascii_serialization();
        self.http.credential.clone().map(|name| NamedCredential { name, origins: vec![origin] })
    }

    fn plan_call(&self, arguments: &Value, files: &dyn Reader) -> Result<Intent, Error> {
        let name = &self.head.function_name;
        let arguments = check_arguments(&self.tool_spec(), &self.head.parameters, arguments)?;
        let request = render_request(&self.head, &self.http, arguments, files.root())?;
        let target = parse_target(&request.url, self.client.private_hosts()).map_err(Error::Failed)?;
        let (access, scope) = self.describe_access(&request, &target);
        let mut plan = Plan::new(
            match &self.http {
                http if http.is_external => "Call a service?",
                http if http.results.is_some() => "Search the web?",
                _ => "Read from the web?",
            },
            summary_line::first_line(&request.line(), 120),
            access,
            Preview::Text(self.preview_request(&request, &target)),
            Work::Arguments(json!(request)),
        );
        plan.grant = Some(Grant::new(name, scope));
        Ok(Intent::Act(Box::new(plan)))
    }

    async fn run(&self, plan: &Plan, context: &LiveContext) -> Result<String, Error> {
        let rendered: RenderedRequest = parse_plan_data(plan)?;
        let target = parse_target(&rendered.url, self.client.private_hosts()).map_err(Error::Failed)?;
        let mut credential = self.load_credential(&target).await?;
        let mut request = rendered.to_web_request(target.clone(), self.http.timeout)?;
        if let Some((name, value)) = &credential {
            let mut value = value.clone();
            value.set_sensitive(true);
            request.headers.insert(name, value);
        }
        let mut sent = self.send(&request, context).await;
        if let Some((name, value)) = self.renew_credential(&target, credential.as_ref(), &sent).await? {
            request.headers.insert(name.clone(), value.clone());
            credential = Some((name, value));
            sent = self.send(&request, context).await;
        }
        let secret = credential.and_then(|(_, value)| value.to_str().ok().map(str::to_owned));
        match sent.map_err(|error| Error::Failed(error.message))? {
            Fetched::RedirectedTo(next) => Err(Error::Failed(format!(
                "{} redirects to {}, which this tool may not call. Nothing was sent there.",
                target.host,
                next.url.origin().ascii_serialization()
            ))),
            Fetched::Response(response) => {
                let results = self.http.results.clone();
                let is_complete = !response.is_cut_off;
                let describe = move || describe_response(&response, secret.as_deref(), results.as_ref());
                let described = tokio::task::spawn_blocking(describe).await;
                let mut described = described.map_err(|error| Error::Internal(error.to_string()))?;
                if let Some(text) = described.whole.take() {
                    let result = LongResult {
                        label: &self.head.function_name,
                        omitted: described.shown.len()..text.len(),
                        text,
                        is_complete,
                        untrusted_source: Some(format!("a result of {}", target.host)),
                    };
                    if let Some(note) = context.results.store(result).await {
                        described.facts.push_str(&format!(" · {}", note.sentence));
                        // Its lines are from the response.
                        described.shown.push_str(&format!("\n{}", note.outline));
                    }
                }
                described.into_result().map_err(Error::Failed)
            }
        }
    }

    fn result_kind(&self, _: &Plan) -> ResultKind {
        match &self.head.example {
            Some(example) => ResultKind::Example(example.clone()),
            None => ResultKind::Text,
        }
    }
}

/// Returns the hosts of private networks that a tool with `allow_private` may reach: its own, and those of the settings.
fn own_private_host(http: &HttpDefinition, allowed: &PrivateHosts) -> PrivateHosts {
    let url = http.url.sample();
    let host = url.host_str().unwrap_or_default().trim_start_matches('[').trim_end_matches([']', '.']);
    let port = url.port_or_known_default().unwrap_or_default();
    PrivateHosts(allowed.0.iter().cloned().chain([format!("{host}:{port}")]).collect())
}

/// Returns how long to wait before a retry; `None` if the result is final.
fn retry_wait(result: &Result<Fetched, RequestError>, retries: u32) -> Option<Duration> {
    let default_wait = Duration::from_millis(500 << retries);
    match result {
        Err(error) => error.is_connect.then_some(default_wait),
        Ok(Fetched::RedirectedTo(_)) => None,
        Ok(Fetched::Response(response)) => {
            let is_unavailable = matches!(response.status.as_u16(), 502..=504);
            is_unavailable.then(|| asked_wait(response).unwrap_or(default_wait)).filter(|wait| *wait <= MAX_WAIT)
        }
    }
}

/// Returns the wait in seconds that the server asks for.
fn asked_wait(response: &WebResponse) -> Option<Duration> {
    let seconds = response.headers.get(RETRY_AFTER)?.to_str().ok()?.trim().parse().ok()?;
    Some(Duration::from_secs(seconds))
}

#[cfg(test)]
mod tests;
