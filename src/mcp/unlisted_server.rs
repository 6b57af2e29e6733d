//! A server that is not configured: the model was given its address. It is connected for one call and learns nothing
//! about the user: no credential, no folder, no questions.

use super::connection::{CallError, Connection};
use super::definition::Definition;
use super::result_text::{ResultText, mark_untrusted};
use crate::chat::pluralize;
use crate::text::truncation::truncate_end;
use crate::web::client::build_client_for;
use crate::web::target::Target;
use serde_json::{Map, Value, json};
use std::sync::Arc;
use std::time::Duration;

/// Time limit for connecting, and for each request.
pub const REQUEST_LIMIT: Duration = Duration::from_secs(60);
/// Maximum bytes of the list of tools that the model receives.
const MAX_LIST_BYTES: usize = 32 << 10;

/// A server at an address.
pub struct UnlistedServer<'a> {
    /// Only public addresses are reached, and the private hosts that the user allows.
    pub target: &'a Target,
}

impl UnlistedServer<'_> {
    /// Returns the names, descriptions and schemas of its tools for the model, as JSON.
    ///
    /// # Errors
    /// One sentence for the model.
    pub async fn list_tools(&self) -> Result<String, String> {
        let connection = self.connect().await?;
        let listed = tokio::time::timeout(REQUEST_LIMIT, connection.list_definitions()).await;
        let definitions = listed.map_err(|_| self.explain("it did not list its tools in time"))?;
        let definitions = definitions.map_err(|error| self.explain(&error))?;
        let usable = definitions.iter().filter(|definition| definition.explain_unusable().is_none());
        let (mut lines, mut bytes, mut omitted) = (Vec::new(), 0, 0);
        for line in usable.map(|definition| describe_tool(definition).to_string()) {
            if bytes + line.len() > MAX_LIST_BYTES {
                omitted += 1;
                continue;
            }
            bytes += line.len();
            lines.push(line);
        }
        let mut text = format!("[\n{}\n]", lines.join(",\n"));
        if omitted > 0 {
            text.push_str(&format!("\n[truncated: {} not shown]", pluralize(omitted, "other tool")));
        }
        Ok(mark_untrusted(&self.target.host, &text))
    }

    /// Calls one of its tools and returns the result for the model.
    ///
    /// # Errors
    /// One sentence for the model, or the error that the tool returned.
    pub async fn call(&self, tool: &str, arguments: Map<String, Value>) -> Result<ResultText, String> {
        let connection = self.connect().await?;
        match connection.call(tool, arguments, REQUEST_LIMIT, Arc::new(|_| ())).await {
            Ok(text) => Ok(text.mark_untrusted(&self.target.host)),
            Err(CallError::Failed(text) | CallError::NotSent(text)) => Err(mark_untrusted(&self.target.host, &text)),
            Err(CallError::NeedsLogin | CallError::MissingScopes(_)) => Err(self.explain_login()),
            Err(CallError::Lost) => Err(self.explain("the connection was lost")),
        }
    }

    async fn connect(&self) -> Result<Connection, String> {
        let client = build_client_for(self.target).await?;
        let opening = Connection::open_unlisted(self.target.url.as_str(), client);
        let opened = tokio::time::timeout(REQUEST_LIMIT, opening).await;
        match opened.map_err(|_| self.explain("it did not answer in time"))? {
            Ok(connection) => Ok(connection),
            Err(CallError::NeedsLogin | CallError::MissingScopes(_)) => Err(self.explain_login()),
            Err(CallError::Failed(error) | CallError::NotSent(error)) => Err(self.explain(&error)),
            Err(CallError::Lost) => Err(self.explain("it closed the connection")),
        }
    }

    fn explain(&self, error: &str) -> String {
        format!("The server at {}: {error}.", truncate_end(&self.target.host, 200))
    }

    fn explain_login(&self) -> String {
        let url = &self.target.url;
        self.explain(&format!(
            "it requires a login, which only the user can give: aye mcp add NAME {url}, then aye mcp login NAME"
        ))
    }
}

fn describe_tool(definition: &Definition) -> Value {
    let spec = definition.to_spec("");
    json!({ "name": definition.name, "description": spec.description, "input_schema": spec.parameters })
}
