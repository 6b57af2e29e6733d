//! Tool that calls a deferred tool. The agent replaces its valid calls by the call inside, so only invalid ones are planned.

use super::arguments::{object_spec, parse_arguments};
use super::{Error, Tool};
use crate::chat::deferred_tools::{DESCRIBE_TOOL, RUN_TOOL};
use crate::chat::{Intent, ToolSpec};
use crate::project::Reader;
use serde::Deserialize;
use serde_json::{Value, json};
use std::borrow::Cow;

/// Calls a deferred tool.
pub struct RunTool;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Arguments {
    #[serde(rename = "name")]
    _name: String,
    #[serde(default, rename = "arguments")]
    _arguments: Value,
}

#[async_trait::async_trait]
impl Tool for RunTool {
    fn name(&self) -> Cow<'_, str> {
        RUN_TOOL.into()
    }

    fn tool_spec(&self) -> ToolSpec {
        object_spec(
            RUN_TOOL,
            "Call a tool from find_tool.",
            json!({
                "name": { "type": "string", "description": "Tool" },
                "arguments": { "type": "object", "description": "As describe_tool says" },
            }),
            &["name", "arguments"],
        )
    }

    fn plan_call(&self, arguments: &Value, _: &dyn Reader) -> Result<Intent, Error> {
        let Arguments { .. } = parse_arguments(&self.tool_spec(), arguments)?;
        Err(Error::Arguments(format!(
            "{RUN_TOOL} cannot call this. Give the name of another tool, and its arguments as {DESCRIBE_TOOL} says."
        )))
    }
}
