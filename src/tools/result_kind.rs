//! Results of calls that a dry run simulates.

use serde::Deserialize;
use serde_json::{Value, json};

/// Kind of result of a call.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum ResultKind {
    /// A text.
    #[default]
    Text,
    /// A text of which the tool has an example.
    Example(String),
    /// A text of a known form. Holds a sample of that form.
    Sample(String),
    /// Output and exit status of a command.
    Command {
        /// True if the command prints nothing on success, so that its result is known without running it.
        is_silent: bool,
    },
}

/// Result of a command as a model writes it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CommandResult {
    output: String,
    /// A model may write `0.0`.
    exit: f64,
}

impl ResultKind {
    /// Returns the JSON schema of a result, for the model that writes one.
    pub fn json_schema(&self) -> Value {
        match self {
            Self::Text | Self::Example(_) | Self::Sample(_) => json!({ "type": "string" }),
            Self::Command { .. } => json!({
                "type": "object",
                "properties": {
                    "output": { "type": "string", "default": "", "description": "stdout and stderr combined" },
                    "exit": { "type": "integer", "minimum": 0, "maximum": 255, "default": 0 },
                },
                "required": ["output", "exit"],
                "additionalProperties": false,
            }),
        }
    }

    /// Returns the result if it is known without running the call, formatted like a live outcome.
    pub fn fixture(&self) -> Option<String> {
        match self {
            Self::Example(example) => Some(example.clone()),
            Self::Command { is_silent: true } => self.sample(),
            Self::Command { is_silent: false } | Self::Text | Self::Sample(_) => None,
        }
    }

    /// Returns a plausible result, formatted like a live outcome; `None` for a text of unknown form.
    pub fn sample(&self) -> Option<String> {
        match self {
            Self::Command { .. } => Some(append_status("", "exit 0")),
            Self::Sample(sample) => Some(sample.clone()),
            Self::Text | Self::Example(_) => None,
        }
    }

    /// Formats a result written by a model in the format of a live outcome. The error is one line that says what does
    /// not match the schema.
    pub fn format_answer(&self, answer: Value) -> Result<String, String> {
        match (self, answer) {
            (Self::Text | Self::Example(_) | Self::Sample(_), Value::String(text)) => Ok(text),
            (Self::Text | Self::Example(_) | Self::Sample(_), _) => Err("it is not of the type string".to_owned()),
            (Self::Command { .. }, answer @ Value::Object(_)) => {
                let result: CommandResult = serde_json::from_value(answer).map_err(|error| error.to_string())?;
                if !(0.0..=255.0).contains(&result.exit) || result.exit.fract() != 0.0 {
                    return Err(format!("`exit` is {}, not an integer from 0 to 255", result.exit));
                }
                Ok(append_status(&result.output, &format!("exit {}", result.exit as u8)))
            }
            (Self::Command { .. }, _) => Err("it is not of the type object".to_owned()),
        }
    }
}

/// Returns the output of a command followed by a line with its exit status.
pub fn append_status(output: &str, status: &str) -> String {
    let line_end = if output.is_empty() || output.ends_with('\n') { "" } else { "\n" };
    format!("{output}{line_end}{status}")
}

#[cfg(test)]
mod tests {
    use super::*;

    const COMMAND: ResultKind = ResultKind::Command { is_silent: false };

    #[test]
    fn r30_only_the_result_of_a_silent_command_is_known() {
        assert_eq!(ResultKind::Command { is_silent: true }.fixture().as_deref(), Some("exit 0"));
        assert_eq!((COMMAND.fixture(), COMMAND.sample().as_deref()), (None, Some("exit 0")));
        assert_eq!((ResultKind::Text.fixture(), ResultKind::Text.sample()), (None, None));
        assert_eq!(ResultKind::Example("{}".into()).fixture().as_deref(), Some("{}"));
    }

    #[test]
    fn r30_an_answer_is_formatted_like_a_live_outcome() {
        let format_result = |kind: ResultKind, answer| kind.format_answer(answer).unwrap();
        assert_eq!(format_result(COMMAND, json!({ "exit": 0, "output": "" })), "exit 0");
        assert_eq!(format_result(COMMAND, json!({ "output": "a\nb", "exit": 2.0 })), "a\nb\nexit 2");
        assert_eq!(format_result(COMMAND, json!({ "output": "", "exit": -0.0 })), "exit 0");
        assert_eq!(format_result(COMMAND, json!({ "output": "a\n", "exit": 255 })), "a\nexit 255");
        assert_eq!(format_result(ResultKind::Text, json!("as\nit is")), "as\nit is");
    }

    #[test]
    fn r30_an_answer_of_another_form_is_an_error() {
        for (answer, part) in [
            (json!("exit 0"), "type object"),
            (json!(["", 0]), "type object"),
            (json!({ "output": "" }), "missing field `exit`"),
            (json!({ "output": null, "exit": 0 }), "expected a string"),
            (json!({ "output": "", "exit": "0" }), "expected f64"),
            (json!({ "output": "", "exit": 1.5 }), "not an integer"),
            (json!({ "output": "", "exit": -1 }), "from 0 to 255"),
            (json!({ "output": "", "exit": 256 }), "from 0 to 255"),
            (json!({ "output": "", "exit": 0, "more": 1 }), "unknown field `more`"),
        ] {
            let why = COMMAND.format_answer(answer.clone()).expect_err(&answer.to_string());
            assert!(why.contains(part), "{answer}: {why}");
        }
        assert!(ResultKind::Text.format_answer(json!({})).is_err());
    }
}
