//! Tool that evaluates arithmetic exactly.

mod expression;

use super::arguments::{object_spec, parse_arguments};
use super::built_in_tool::BuiltInTool;
use super::{Error, LiveContext, Tool, parse_plan_data, summary_line};
use crate::chat::{Access, CallWords, Intent, Plan, Preview, ToolSpec, Work};
use crate::project::Reader;
use async_trait::async_trait;
use expression::{evaluate, format_number};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::borrow::Cow;
use std::sync::Arc;

/// The tool and its words.
pub(super) const TOOL: BuiltInTool =
    BuiltInTool { words: CallWords::new("calculator", "Calculate"), make: |_| Some(Arc::new(Calculator)) };

/// Evaluates arithmetic on fractions of any size up to a limit, without rounding.
pub struct Calculator;

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Arguments {
    expression: String,
}

#[async_trait]
impl Tool for Calculator {
    fn name(&self) -> Cow<'_, str> {
        TOOL.words.tool.into()
    }

    fn tool_spec(&self) -> ToolSpec {
        object_spec(
            "calculator",
            "Evaluate arithmetic exactly.",
            json!({
                "expression": { "type": "string", "description": "Numbers + - * / % ** ( )" },
            }),
            &["expression"],
        )
    }

    fn plan_call(&self, arguments: &Value, _: &dyn Reader) -> Result<Intent, Error> {
        let arguments: Arguments = parse_arguments(&self.tool_spec(), arguments)?;
        let summary = summary_line::first_line(&arguments.expression, 80);
        let preview = Preview::Text(arguments.expression.clone());
        Ok(Intent::Act(Box::new(Plan::new(
            "Calculate?",
            summary,
            Access::Nothing,
            preview,
            Work::Arguments(json!(arguments)),
        ))))
    }

    async fn run(&self, plan: &Plan, _: &LiveContext) -> Result<String, Error> {
        calculate(plan)
    }

    async fn rehearse(&self, plan: &Plan, _: &super::RehearsalContext) -> Result<super::RehearsalOutcome, Error> {
        calculate(plan).map(super::RehearsalOutcome::Ran)
    }
}

fn calculate(plan: &Plan) -> Result<String, Error> {
    let Arguments { expression } = parse_plan_data(plan)?;
    evaluate(&expression).map(|number| format_number(&number)).map_err(|error| Error::Failed(error.to_string()))
}
