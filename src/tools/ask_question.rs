//! Lets the person choose.

mod reading;

use super::arguments::checked;
use super::{Error, Tool};
use crate::chat::{Intent, ToolSpec};
use crate::project::Reader;
use async_trait::async_trait;
use serde_json::{Value, json};

/// Asks the person.
pub struct AskQuestion;

#[async_trait]
impl Tool for AskQuestion {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: "ask_question".to_owned(),
            description: include_str!("words/ask_question.md").trim().to_owned(),
            parameters: json!({
                "type": "object",
                "properties": { "questions": {
                    "type": "array",
                    "description": "1 to 10",
                    "items": { "type": "object", "properties": {
                        "question": { "type": "string", "description": "What is asked" },
                        "options": {
                            "type": "array",
                            "description": "Up to 25",
                            "items": { "type": "object", "properties": {
                                "label": { "type": "string", "description": "A few words" },
                                "description": { "type": "string", "description": "What it means" },
                                "preview": { "type": "string", "description": "How it would look, in markdown" },
                            }, "required": ["label"] },
                        },
                        "keyword": { "type": "string", "description": "Your name for it" },
                        "multi": { "type": "boolean", "description": "Several may be picked" },
                        "allow_text": { "type": "boolean", "description": "Own words taken, default true" },
                        "recommended": { "type": "integer", "description": "Option you advise, from 0" },
                    }, "required": ["question"] },
                } },
                "required": ["questions"],
                "additionalProperties": false,
            }),
        }
    }

    fn plan(&self, arguments: &Value, _files: &dyn Reader) -> Result<Intent, Error> {
        // Says what is to be said of a call without arguments.
        let arguments: Value = checked(&self.spec(), arguments)?;
        let read = reading::questions(&arguments);
        read.map(Intent::Ask).map_err(|why| Error::Arguments(format!("ask_question requires {why}.")))
    }
}

#[cfg(test)]
mod tests;
