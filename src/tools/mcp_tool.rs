//! A tool of an MCP server.

use super::arguments::check_not_empty;
use super::{Error, LiveContext, Tool, parse_plan_data, summary_line};
use crate::chat::mcp_names::service_name;
use crate::chat::{Access, ExternalAccess, Grant, GrantScope, Intent, Plan, Preview, ToolSpec, Work};
use crate::mcp::client_handler::OnProgress;
use crate::mcp::server_config::Endpoint;
use crate::mcp::server_pool::OfferedTool;
use crate::project::Reader;
use crate::project::output::CommandProgress;
use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use std::sync::Arc;
use std::time::Duration;

/// Calls a tool of an MCP server. In a dry run the call is simulated, and the server is not contacted.
pub struct McpTool(pub OfferedTool);

/// The call of a plan.
#[derive(Serialize, Deserialize)]
struct ServerCall {
    /// Digest of the definition for which the call was planned.
    definition: String,
    arguments: Map<String, Value>,
}

#[async_trait]
impl Tool for McpTool {
    fn tool_spec(&self) -> ToolSpec {
        self.0.spec().clone()
    }

    fn time_limit(&self) -> Option<Duration> {
        Some(self.0.call_limit())
    }

    fn plan_call(&self, arguments: &Value, _: &dyn Reader) -> Result<Intent, Error> {
        let (tool, spec) = (&self.0, self.0.spec());
        check_not_empty(spec, arguments)?;
        // Everything else is checked by the server.
        let Value::Object(arguments) = arguments else {
            return Err(Error::Arguments("The arguments are no JSON object.".to_owned()));
        };
        let (server, name) = (tool.server_name(), tool.display_name());
        let place = match tool.endpoint() {
            Endpoint::Program { .. } => "a program on this machine",
            Endpoint::Address { url, .. } => &host_of(url),
        };
        let mut preview = format!("server  {server} ({place})\ntool    {name}");
        if tool.is_read_only() {
            preview.push_str("\nOnly reads, according to the server");
        }
        let readable = serde_json::to_string_pretty(arguments).unwrap_or_default();
        preview.push_str(&format!("\n{readable}"));
        let compact = Value::Object(arguments.clone()).to_string();
        let service = service_name(server);
        let access = ExternalAccess { request: spec.name.clone(), service: service.clone(), page_host: None };
        let call = ServerCall { definition: tool.digest().to_string(), arguments: arguments.clone() };
        let mut plan = Plan::new(
            "Call an MCP tool?",
            summary_line::first_line(&format!("{server}: {name} {compact}"), 120),
            Access::External(Box::new(access)),
            Preview::Text(preview),
            Work::Arguments(json!(call)),
        );
        plan.grant = Some(Grant::new(&spec.name, GrantScope::Service(service)));
        Ok(Intent::Act(Box::new(plan)))
    }

    async fn run(&self, plan: &Plan, context: &LiveContext) -> Result<String, Error> {
        let ServerCall { definition, arguments } = parse_plan_data(plan)?;
        if definition != self.0.digest().as_str() {
            return Err(Error::Failed(
                "The tool changed after the call was planned. The call was not made.".to_owned(),
            ));
        }
        let progress = context.progress.clone();
        let on_progress: OnProgress = Arc::new(move |text| progress(CommandProgress::from_status(text)));
        let result = self.0.call(arguments, on_progress).await.map_err(Error::Failed)?;
        let service = service_name(self.0.server_name());
        Ok(context.results.attach_server_text(&service, result).await)
    }
}

/// Returns the host of an address, with its port if any. The rest may hold a key.
fn host_of(url: &str) -> String {
    let url = reqwest::Url::parse(url).ok();
    let host = url.as_ref().and_then(|url| Some((url.host_str()?, url.port())));
    match host {
        Some((host, Some(port))) => format!("{host}:{port}"),
        Some((host, None)) => host.to_owned(),
        None => "an address".to_owned(),
    }
}
