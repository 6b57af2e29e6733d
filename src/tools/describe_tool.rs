//! Tool that describes one deferred tool.

use super::arguments::{object_spec, parse_arguments};
use super::{Error, LiveContext, RehearsalContext, RehearsalOutcome, Tool, parse_plan_data, summary_line};
use crate::chat::deferred_tools::{DESCRIBE_TOOL, FIND_TOOL};
use crate::chat::{Access, CallWords, Intent, Plan, Preview, ToolSpec, Work};
use crate::project::Reader;
use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::borrow::Cow;

/// Words for the rows of its calls.
pub(super) const WORDS: CallWords = CallWords::new(DESCRIBE_TOOL, "Describe");

/// Describes these tools.
pub struct DescribeTool(pub Vec<ToolSpec>);

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Arguments {
    name: String,
}

impl DescribeTool {
    /// Describes the tool of the plan. It may have been removed since.
    fn describe(&self, plan: &Plan) -> Result<String, Error> {
        let Arguments { name } = parse_plan_data(plan)?;
        let ToolSpec { name, description, parameters, .. } = self.find(&name)?;
        Ok(json!({ "name": name, "description": description, "parameters": parameters }).to_string())
    }

    fn find(&self, name: &str) -> Result<&ToolSpec, Error> {
        self.0.iter().find(|spec| spec.name == name).ok_or_else(|| {
            let name = summary_line::first_line(name, 64);
            Error::Arguments(format!("There is no tool “{name}” to describe. {FIND_TOOL} searches the names."))
        })
    }
}

#[async_trait]
impl Tool for DescribeTool {
    fn name(&self) -> Cow<'_, str> {
        WORDS.tool.into()
    }

    fn tool_spec(&self) -> ToolSpec {
        object_spec(
            DESCRIBE_TOOL,
            "Get the parameters of a tool from find_tool.",
            json!({ "name": { "type": "string", "description": "Tool" } }),
            &["name"],
        )
    }

    fn plan_call(&self, arguments: &Value, _: &dyn Reader) -> Result<Intent, Error> {
        let arguments: Arguments = parse_arguments(&self.tool_spec(), arguments)?;
        let name = &self.find(&arguments.name)?.name;
        Ok(Intent::Act(Box::new(Plan::new(
            "Describe a tool?",
            name.clone(),
            Access::Nothing,
            Preview::Text(name.clone()),
            Work::Arguments(json!(arguments)),
        ))))
    }

    async fn run(&self, plan: &Plan, _: &LiveContext) -> Result<String, Error> {
        self.describe(plan)
    }

    async fn rehearse(&self, plan: &Plan, _: &RehearsalContext) -> Result<RehearsalOutcome, Error> {
        self.describe(plan).map(RehearsalOutcome::Ran)
    }
}
