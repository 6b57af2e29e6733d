//! Checks the keys of tools that end the turn: the end of the conversation, and transfers.

use super::definition::{Destination, EndDefinition, ToolHead, TransferDefinition};
use super::definition_fields::{KeyLines, ToolFields};
use super::file_problems::Problems;
use super::parameters::{Parameter, ValueType};
use crate::text::clean::clean_text;
use std::ops::RangeInclusive;

/// Description of the parameter for the reason, unless the file has its own.
const REASON_DESCRIPTION: &str = "Why the conversation ends, shown to the user";
/// Description of the parameter for the note of a transfer.
const NOTE_DESCRIPTION: &str = "What is done and what is left to do, shown to the user";
/// Allowed `timeout` of a transfer in seconds. The key is from exports of other programs and has no effect.
const TRANSFER_SECONDS: RangeInclusive<i64> = 5..=120;
/// Maximum bytes of a message.
const MAX_MESSAGE_BYTES: usize = 4 << 10;

/// Builds the end of a conversation. Adds the parameter for the reason.
pub(super) fn build_end(
    fields: &ToolFields,
    lines: &KeyLines<'_>,
    problems: &mut Problems<'_>,
    head: &mut ToolHead,
) -> EndDefinition {
    let message = build_message(fields, lines, problems);
    if fields.asks_reason {
        head.parameters.push(text_parameter("reason", fields.reason_description.as_deref(), REASON_DESCRIPTION));
    } else if fields.reason_description.is_some() {
        let line = lines.line_of_key("endCallReasonDescription");
        problems.warn(line, "endCallReasonDescription has no effect unless endCallReason is true");
    }
    EndDefinition { message, asks_reason: fields.asks_reason }
}

/// Builds a transfer. Adds the parameter for the note.
pub(super) fn build_transfer(
    fields: &ToolFields,
    lines: &KeyLines<'_>,
    problems: &mut Problems<'_>,
    head: &mut ToolHead,
) -> Option<TransferDefinition> {
    let message = build_message(fields, lines, problems);
    if fields.timeout.is_some_and(|timeout| !TRANSFER_SECONDS.contains(&timeout)) {
        problems.report(lines.line_of_key("timeout"), "timeout must be 5 to 120 seconds");
    }
    head.parameters.push(text_parameter("note", None, NOTE_DESCRIPTION));
    let line = lines.line_of_key("destination");
    match parse_destination(fields.destination.as_deref().unwrap_or_default().trim()) {
        Ok(destination) => Some(TransferDefinition { destination, message, line }),
        Err(message) => {
            problems.report(line, message);
            None
        }
    }
}

fn parse_destination(text: &str) -> Result<Destination, String> {
    let expected = "Use \"human\" or \"profile:NAME\"";
    match text.split_once(':').map(|(kind, name)| (kind.trim(), name.trim())) {
        _ if text.is_empty() => Err(format!("destination is missing. {expected}")),
        None if text == "human" => Ok(Destination::User),
        Some(("profile", "")) => Err("destination names no profile. Use \"profile:NAME\"".to_owned()),
        Some(("profile", name)) => Ok(Destination::Profile(name.to_owned())),
        Some(("agent", _)) => Err(format!("destination {text:?}: this version of aye has no agents. {expected}")),
        Some(_) | None => Err(format!("destination {text:?} is not supported. {expected}")),
    }
}

/// Returns the message that the user gets; empty if there is none.
fn build_message(fields: &ToolFields, lines: &KeyLines<'_>, problems: &mut Problems<'_>) -> String {
    let line = lines.line_of_key("messageType");
    let message = fields.custom_message.as_deref().map(clean_text).unwrap_or_default();
    let message = message.trim();
    if message.len() > MAX_MESSAGE_BYTES {
        let too_long = format!("customMessage is longer than {MAX_MESSAGE_BYTES} bytes");
        problems.report(lines.line_of_key("customMessage"), too_long);
    }
    match fields.message_type.as_deref() {
        Some("custom") if message.is_empty() => problems.report(line, "customMessage is missing"),
        Some("custom") => return message.to_owned(),
        Some("audio") => problems.warn(line, "messageType \"audio\" has no effect: aye does not speak"),
        None | Some("none") if !message.is_empty() => {
            let unused = "customMessage has no effect unless messageType is \"custom\"";
            problems.warn(lines.line_of_key("customMessage"), unused);
        }
        None | Some("none") => {}
        Some(other) => {
            problems.report(line, format!("messageType is {other:?}. Use \"none\", \"custom\" or \"audio\""));
        }
    }
    String::new()
}

fn text_parameter(name: &str, description: Option<&str>, default: &str) -> Parameter {
    let description = description.map(|text| clean_text(text.trim()).into_owned()).filter(|text| !text.is_empty());
    let description = description.unwrap_or_else(|| default.to_owned());
    Parameter {
        name: name.to_owned(),
        value_type: ValueType::String,
        description,
        is_required: true,
        file_references: None,
    }
}
