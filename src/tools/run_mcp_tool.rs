//! Tool that uses an MCP server which is not configured, at an address that the model was given.

use super::arguments::{object_spec, parse_arguments};
use super::built_in_tool::BuiltInTool;
use super::{Error, LiveContext, Tool, parse_plan_data, summary_line};
use crate::chat::{
    Access, CallWords, ExternalAccess, Grant, GrantScope, Intent, Plan, Preview, ReferenceUse, ToolSpec, Work,
};
use crate::mcp::unlisted_server::UnlistedServer;
use crate::project::Reader;
use crate::text::hidden_chars::mark_hidden;
use crate::web::client::{ALLOWED_BY_SETTING, describe_network};
use crate::web::target::{PrivateHosts, parse_target};
use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

/// Name of the tool.
const NAME: &str = "run_mcp_tool";

/// The tool and its words.
pub(super) const TOOL: BuiltInTool = BuiltInTool {
    words: CallWords::new(NAME, "Call"),
    make: |settings| {
        let hosts = || settings.web.private_hosts().clone();
        settings.has_requests.then(|| Arc::new(RunMcpTool(hosts())) as Arc<dyn Tool>)
    },
};
/// Maximum characters of a tool's name.
const MAX_NAME_CHARS: usize = 200;
/// Time limit of a call: it connects, lists or calls, and disconnects.
const TIME_LIMIT: Duration = Duration::from_secs(130);

/// Lists or calls the tools of a server at an address. In a dry run the call is simulated.
pub struct RunMcpTool(pub PrivateHosts);

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Arguments {
    server_url: String,
    tool_name: Option<String>,
    tool_arguments: Option<Map<String, Value>>,
}

/// The request of a plan.
#[derive(Serialize, Deserialize)]
struct ServerRequest {
    url: String,
    /// `None` to list the tools.
    tool: Option<String>,
    arguments: Map<String, Value>,
}

#[async_trait]
impl Tool for RunMcpTool {
    fn name(&self) -> Cow<'_, str> {
        TOOL.words.tool.into()
    }

    fn tool_spec(&self) -> ToolSpec {
        object_spec(
            NAME,
            "Use an MCP server at a URL. Without tool_name, list its tools.",
            json!({
                "server_url": { "type": "string", "description": "http or https" },
                "tool_name": { "type": "string", "description": "Tool" },
                "tool_arguments": { "type": "object", "description": "Its arguments" },
            }),
            &["server_url"],
        )
        .with_file_references(&[("tool_arguments", ReferenceUse::Data)])
    }

    fn time_limit(&self) -> Option<Duration> {
        Some(TIME_LIMIT)
    }

    fn plan_call(&self, arguments: &Value, _: &dyn Reader) -> Result<Intent, Error> {
        let Arguments { server_url, tool_name, tool_arguments } = parse_arguments(&self.tool_spec(), arguments)?;
        let target = parse_target(&server_url, &self.0).map_err(Error::Arguments)?;
        if target.url.query().is_some() || server_url.contains('#') {
            return Err(Error::Arguments("The address of a server has no “?” and no “#”.".to_owned()));
        }
        let tool = tool_name.map(|name| name.trim().to_owned()).filter(|name| !name.is_empty());
        if tool.as_ref().is_some_and(|name| name.chars().count() > MAX_NAME_CHARS) {
            return Err(Error::Arguments(format!("tool_name is longer than {MAX_NAME_CHARS} characters.")));
        }
        if tool.is_none() && tool_arguments.as_ref().is_some_and(|arguments| !arguments.is_empty()) {
            return Err(Error::Arguments("tool_arguments need a tool_name.".to_owned()));
        }
        let arguments = tool_arguments.unwrap_or_default();
        let mut preview = format!("server  {}", target.url);
        match &tool {
            Some(tool) => {
                let readable = serde_json::to_string_pretty(&arguments).unwrap_or_default();
                preview.push_str(&format!("\ntool    {}\n{readable}", mark_hidden(&tool.replace('\n', " "))));
            }
            None => preview.push_str("\nlist its tools"),
        }
        preview.push_str("\nThis server is not configured. It receives nothing but this call.");
        if let Some(network) = describe_network(&target, ALLOWED_BY_SETTING) {
            preview.push_str(&format!("\n{network}"));
        }
        let summary = match &tool {
            Some(tool) => format!("{}: {tool} {}", target.host, Value::Object(arguments.clone())),
            None => format!("{}: list tools", target.host),
        };
        let request = format!("MCP {} {}", target.url, tool.as_deref().unwrap_or("list tools"));
        let access = ExternalAccess { request, service: target.host.clone(), page_host: None };
        let request = ServerRequest { url: target.url.to_string(), tool, arguments };
        let mut plan = Plan::new(
            "Use an MCP server?",
            summary_line::first_line(&summary, 120),
            Access::External(Box::new(access)),
            Preview::Text(preview),
            Work::Arguments(json!(request)),
        );
        plan.grant = Some(Grant::new(NAME, GrantScope::Service(target.host)));
        Ok(Intent::Act(Box::new(plan)))
    }

    async fn run(&self, plan: &Plan, context: &LiveContext) -> Result<String, Error> {
        let ServerRequest { url, tool, arguments } = parse_plan_data(plan)?;
        let target = parse_target(&url, &self.0).map_err(Error::Failed)?;
        let server = UnlistedServer { target: &target };
        let Some(tool) = tool else { return server.list_tools().await.map_err(Error::Failed) };
        let result = server.call(&tool, arguments).await.map_err(Error::Failed)?;
        Ok(context.results.attach_server_text(&target.host, result).await)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tools::memory_project::MemoryProject;
    use crate::tools::tests::plan_call;

    #[test]
    fn the_prompt_names_the_server_the_tool_and_what_it_receives() {
        let (tool, files) = (RunMcpTool(PrivateHosts::default()), MemoryProject::with_files(&[]));
        let plan = |arguments: Value| plan_call(&tool, arguments, &files);
        let call = plan(json!({
            "server_url": "https://mcp.example/mcp", "tool_name": "add", "tool_arguments": {"a": 1}
        }))
        .unwrap();
        let Preview::Text(preview) = &call.preview else { panic!() };
        for part in ["https://mcp.example/mcp", "tool    add", "\"a\": 1", "not configured"] {
            assert!(preview.contains(part), "{preview}");
        }
        assert_eq!(call.grant.unwrap().scope, GrantScope::Service("mcp.example".into()));
        let list = plan(json!({"server_url": "https://mcp.example/mcp"})).unwrap();
        assert_eq!(list.summary, "mcp.example: list tools");
        for (arguments, part) in [
            (json!({"server_url": "http://127.0.0.1:9/mcp"}), "Refused: 127.0.0.1"),
            (json!({"server_url": "http://[::ffff:169.254.169.254]/mcp"}), "Refused:"),
            (json!({"server_url": "https://user:pass@mcp.example/"}), "user name or password"),
            (json!({"server_url": "https://mcp.example/mcp?key=1"}), "no “?”"),
            (json!({"server_url": "https://mcp.example/mcp#x"}), "no “#”"),
            (json!({"server_url": "file:///etc/passwd"}), "not supported"),
            (json!({"server_url": "https://mcp.example/", "tool_arguments": {"a": 1}}), "need a tool_name"),
            (json!({"server_url": "https://mcp.example/", "tool_name": "x".repeat(201)}), "longer than 200"),
        ] {
            let error = plan(arguments.clone()).unwrap_err().to_string();
            assert!(error.contains(part), "{arguments}: {error}");
        }
    }
}
