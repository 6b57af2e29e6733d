//! Tool that asks the user questions.

mod question_args;

use super::arguments::{object_spec, parse_arguments};
use super::built_in_tool::BuiltInTool;
use super::{Error, Tool};
use crate::chat::{CallWords, Intent, ToolSpec};
use crate::project::Reader;
use async_trait::async_trait;
use serde_json::{Value, json};
use std::borrow::Cow;
use std::sync::Arc;

/// The tool and its words.
pub(super) const TOOL: BuiltInTool =
    BuiltInTool { words: CallWords::new("ask_question", "Ask"), make: |_| Some(Arc::new(AskQuestion)) };

pub struct AskQuestion;

#[async_trait]
impl Tool for AskQuestion {
    fn name(&self) -> Cow<'_, str> {
        TOOL.words.tool.into()
    }

    fn tool_spec(&self) -> ToolSpec {
        object_spec(
            "ask_question",
            include_str!("words/ask_question.md"),
            json!({ "questions": {
                "type": "array",
                "description": "1 to 10",
                "items": { "type": "object", "properties": {
                    "question": { "type": "string", "description": "Text" },
                    "options": {
                        "type": "array",
                        "description": "Up to 25",
                        "items": { "type": "object", "properties": {
                            "label": { "type": "string", "description": "A few words" },
                            "description": { "type": "string", "description": "Meaning" },
                            "preview": { "type": "string", "description": "Markdown" },
                        }, "required": ["label"] },
                    },
                    "keyword": { "type": "string", "description": "Your ID for it" },
                    "multi": { "type": "boolean", "description": "Several choices" },
                    "allow_text": { "type": "boolean", "description": "Free text, default true" },
                    "recommended": { "type": "integer", "description": "Recommended option, from 0" },
                }, "required": ["question"] },
            } }),
            &["questions"],
        )
    }

    fn plan_call(&self, arguments: &Value, _files: &dyn Reader) -> Result<Intent, Error> {
        // Fails only for a call without arguments.
        let arguments: Value = parse_arguments(&self.tool_spec(), arguments)?;
        let questions = question_args::parse_questions(&arguments);
        questions.map(Intent::Ask).map_err(|why| Error::Arguments(format!("ask_question requires {why}.")))
    }
}

#[cfg(test)]
mod tests;
