//! Tool of a file that ends the conversation. The agent does it: the tool only describes it.

use super::tool_file::parameters::check_arguments;
use super::tool_file::{EndDefinition, ToolHead};
use super::{Error, Tool, summary_line};
use crate::chat::{Access, Conclusion, Intent, Plan, Preview, ToolSpec, TurnEnd, Work};
use crate::project::Reader;
use async_trait::async_trait;
use serde_json::{Map, Value};

/// Maximum characters of a text of the model for the user.
const MAX_TEXT_CHARS: usize = 2_000;

/// Ends the conversation.
pub struct EndConversationTool {
    pub head: ToolHead,
    pub end: EndDefinition,
}

#[async_trait]
impl Tool for EndConversationTool {
    fn tool_spec(&self) -> ToolSpec {
        self.head.tool_spec()
    }

    fn is_for_sub_agents(&self) -> bool {
        false
    }

    fn plan_call(&self, arguments: &Value, _: &dyn Reader) -> Result<Intent, Error> {
        let arguments = check_arguments(&self.tool_spec(), &self.head.parameters, arguments)?;
        let reason = match self.end.asks_reason {
            true => read_text(&arguments, "reason")?,
            false => String::new(),
        };
        let message = self.end.message.clone();
        Ok(plan_conclusion("End the conversation?", Conclusion::Finished { message, reason }))
    }
}

/// Plans the end of the model's work. It has no effect but that the turn ends.
pub(super) fn plan_conclusion(title: &str, conclusion: Conclusion) -> Intent {
    let described = conclusion.describe();
    let preview = [conclusion.message(), &described].join("\n").trim().to_owned();
    let summary = summary_line::first_line(described.split_once(": ").map_or("", |(_, text)| text), 120);
    let work = Work::EndTurn(TurnEnd::Conclude(conclusion));
    Intent::Act(Box::new(Plan::new(title, summary, Access::Nothing, Preview::Text(preview), work)))
}

/// Returns a text of the model for the user.
pub(super) fn read_text(arguments: &Map<String, Value>, name: &str) -> Result<String, Error> {
    let text = arguments.get(name).and_then(Value::as_str).unwrap_or_default().trim();
    if text.is_empty() {
        return Err(Error::Arguments(format!("The argument “{name}” is empty. The user reads it.")));
    }
    match text.chars().count() {
        0..=MAX_TEXT_CHARS => Ok(text.to_owned()),
        _ => Err(Error::Arguments(format!("The argument “{name}” is longer than {MAX_TEXT_CHARS} characters."))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tools::memory_project::MemoryProject;
    use crate::tools::tests::plan_call;
    use crate::tools::tool_file::{ToolKind, parse_tool};
    use serde_json::json;

    fn tool(lines: &str) -> EndConversationTool {
        let parsed = parse_tool("end.toml", &format!("name = \"Done\"\ntype = \"end_conversation\"\n{lines}"));
        let definition = parsed.definition.unwrap_or_else(|| panic!("{:?}", parsed.problems));
        let ToolKind::EndConversation(end) = definition.kind else { panic!("an end") };
        EndConversationTool { head: definition.head, end }
    }

    fn plan(tool: &EndConversationTool, arguments: Value) -> Result<Plan, String> {
        plan_call(tool, arguments, &MemoryProject::with_files(&[])).map_err(|error| error.to_string())
    }

    #[test]
    fn the_plan_has_the_message_of_the_file_and_the_reason_of_the_model() {
        let end = tool("messageType = \"custom\"\ncustomMessage = \"Goodbye.\"\nendCallReason = true\n");
        let planned = plan(&end, json!({ "reason": " all done " })).unwrap();
        let conclusion = Conclusion::Finished { message: "Goodbye.".into(), reason: "all done".into() };
        assert_eq!(planned.work, Work::EndTurn(TurnEnd::Conclude(conclusion)));
        assert_eq!((planned.access, planned.summary.as_str()), (Access::Nothing, "all done"));
        assert_eq!(planned.preview, Preview::Text("Goodbye.\nConversation ended: all done".into()));
        assert!(plan(&end, json!({ "reason": " " })).unwrap_err().contains("is empty"));
        assert!(plan(&end, json!({ "reason": "x".repeat(2_001) })).unwrap_err().contains("longer than"));
        assert!(plan(&end, json!({})).is_err());
    }

    #[test]
    fn without_a_reason_there_are_no_arguments() {
        let end = tool("");
        assert_eq!(end.tool_spec().parameters.to_value()["properties"], json!({}));
        let planned = plan(&end, json!({})).unwrap();
        assert_eq!((planned.summary.as_str(), planned.preview), ("", Preview::Text("Conversation ended".into())));
        assert!(plan(&end, json!({ "reason": "x" })).unwrap_err().contains("no argument “reason”"));
    }
}
