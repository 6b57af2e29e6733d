//! Tool with which the model writes its todo list. The session keeps the list, and the screen shows it above the composer.

use super::arguments::{object_spec, parse_arguments};
use super::built_in_tool::BuiltInTool;
use super::{Error, LiveContext, RehearsalContext, RehearsalOutcome, Tool, parse_plan_data, summary_line};
use crate::chat::todo_list::{TODO_WRITE, TodoList};
use crate::chat::{Access, CallWords, Intent, Plan, Preview, ToolSpec, Work};
use crate::project::Reader;
use async_trait::async_trait;
use serde_json::{Value, json};
use std::borrow::Cow;
use std::sync::Arc;

/// The tool and its words.
pub(super) const TOOL: BuiltInTool =
    BuiltInTool { words: CallWords::new(TODO_WRITE, "Todo list"), make: |_| Some(Arc::new(TodoWrite)) };

/// Replaces the todo list of the session. It touches nothing else, so a dry run does the same.
pub struct TodoWrite;

#[async_trait]
impl Tool for TodoWrite {
    fn name(&self) -> Cow<'_, str> {
        TOOL.words.tool.into()
    }

    fn tool_spec(&self) -> ToolSpec {
        object_spec(
            TODO_WRITE,
            include_str!("words/todo_write.md"),
            json!({ "todos": {
                "type": "array",
                "description": "At most 50",
                "items": { "type": "object", "properties": {
                    "content": { "type": "string", "description": "Run the tests" },
                    "activeForm": { "type": "string", "description": "Running the tests" },
                    "status": {
                        "type": "string",
                        "description": "At most one in_progress",
                        "enum": ["pending", "in_progress", "completed"],
                    },
                }, "required": ["content", "activeForm", "status"] },
            } }),
            &["todos"],
        )
    }

    fn plan_call(&self, arguments: &Value, _: &dyn Reader) -> Result<Intent, Error> {
        let list: TodoList = parse_arguments(&self.tool_spec(), arguments)?;
        list.check().map_err(|problem| Error::Arguments(format!("Invalid arguments for {TODO_WRITE}: {problem}.")))?;
        let current = list.current_index().and_then(|index| list.todos.get(index));
        let summary = match current {
            Some(todo) => format!("{}: {}", list.progress(), summary_line::first_line(todo.text(), 80)),
            None => list.progress(),
        };
        let preview = Preview::Text(list.to_text());
        Ok(Intent::Act(Box::new(Plan::new(
            "Update the todo list?",
            summary,
            Access::Nothing,
            preview,
            Work::Arguments(json!(list)),
        ))))
    }

    async fn run(&self, plan: &Plan, _: &LiveContext) -> Result<String, Error> {
        report(plan)
    }

    async fn rehearse(&self, plan: &Plan, _: &RehearsalContext) -> Result<RehearsalOutcome, Error> {
        report(plan).map(RehearsalOutcome::Ran)
    }

    /// A sub-agent has no place on the screen.
    fn is_for_sub_agents(&self) -> bool {
        false
    }
}

fn report(plan: &Plan) -> Result<String, Error> {
    let list: TodoList = parse_plan_data(plan)?;
    Ok(format!("Todo list: {}.", list.progress()))
}
