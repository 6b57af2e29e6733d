//! Import of tools that another program (Dograh) has exported as JSON.

use super::definition_fields::FileKind;
use super::definition_parser::to_function_name;
use serde_json::{Map, Value};

/// A tool file made of an exported tool.
#[derive(Debug, PartialEq, Eq)]
pub struct ImportedTool {
    /// Name of the file without its ending.
    pub file_stem: String,
    pub text: String,
    /// What the user must know, one sentence each.
    pub notes: Vec<String>,
}

/// Exported kinds, and the kinds of file that they become.
const IMPORTED_KINDS: [(&str, FileKind); 3] =
    [("http_api", FileKind::Http), ("end_call", FileKind::EndConversation), ("transfer_call", FileKind::Transfer)];

/// Converts an export: a tool, a list of tools, or an object with the list `tools`.
///
/// # Errors
/// What is wrong with the export.
pub fn import_tools(json: &str) -> Result<Vec<ImportedTool>, String> {
    let value: Value = serde_json::from_str(json).map_err(|error| format!("it is not JSON: {error}"))?;
    let records = match value {
        Value::Array(records) => records,
        Value::Object(mut object) => match object.remove("tools") {
            Some(Value::Array(records)) => records,
            Some(_) => return Err("tools is not a list".to_owned()),
            None => vec![Value::Object(object)],
        },
        _ => return Err("it is neither a tool nor a list of tools".to_owned()),
    };
    records.into_iter().map(import_tool).collect()
}

fn import_tool(record: Value) -> Result<ImportedTool, String> {
    let Value::Object(mut record) = record else { return Err("a tool is not an object".to_owned()) };
    let name = record.get("name").and_then(Value::as_str).unwrap_or_default().to_owned();
    let file_stem = to_function_name(&name);
    if file_stem.is_empty() {
        return Err(format!("the tool {name:?} has no name for a file"));
    }
    let Some(Value::Object(mut definition)) = record.remove("definition") else {
        return Err(format!("the tool {name} has no definition"));
    };
    let kind = definition.get("type").and_then(Value::as_str).unwrap_or_default().to_owned();
    let Some((_, file_kind)) = IMPORTED_KINDS.iter().find(|(exported, _)| *exported == kind) else {
        let known = IMPORTED_KINDS.map(|(exported, _)| exported).join(", ");
        return Err(format!("the tool {name} has the type {kind:?}; only these can be imported: {known}"));
    };
    let category = record.get("category").and_then(Value::as_str);
    if category.is_some_and(|category| category != kind) {
        return Err(format!("the tool {name} has another category than type: category must match definition.type"));
    }
    let mut fields = Map::new();
    let mut notes = Vec::new();
    for key in ["name", "description", "icon", "icon_color"] {
        fields.extend(record.remove(key).map(|value| (key.to_owned(), value)));
    }
    fields.extend([("type".to_owned(), Value::String(file_kind.name().to_owned()))]);
    fields.extend(definition.remove("schema_version").map(|value| ("schema_version".to_owned(), value)));
    let Some(Value::Object(config)) = definition.remove("config") else {
        return Err(format!("the tool {name} has no definition.config"));
    };
    for (key, value) in config {
        if value.is_null() {
            continue;
        }
        let key = if key == "credential_uuid" {
            notes.push(format!("{name} needs the credential {value}: add it under this name, or change the name."));
            "credential".to_owned()
        } else {
            key
        };
        fields.insert(key, value);
    }
    let mut value = Value::Object(fields);
    if *file_kind == FileKind::Transfer {
        let exported = std::mem::replace(&mut value["destination"], Value::String("human".to_owned()));
        notes.push(format!("{name} hands the session to you: aye cannot transfer it to {exported}."));
    }
    remove_nulls(&mut value);
    let text =
        toml::to_string_pretty(&value).map_err(|error| format!("the tool {name} has no form in TOML: {error}"))?;
    Ok(ImportedTool { file_stem, text, notes })
}

/// Removes null values, which TOML does not have.
fn remove_nulls(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            fields.retain(|_, value| !value.is_null());
            fields.values_mut().for_each(remove_nulls);
        }
        Value::Array(items) => items.iter_mut().for_each(remove_nulls),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tools::tool_file::{ToolKind, parse_tool};

    const EXPORT: &str = r##"{
      "name": "Book Appointment!", "description": null, "category": "http_api", "icon": "globe", "icon_color": "#3B82F6",
      "definition": { "schema_version": 1, "type": "http_api", "config": {
        "method": "post", "url": "https://h.example/{{day}}", "headers": { "X-A": "b" }, "credential_uuid": "0b1c",
        "parameters": [{ "name": "day", "type": "string", "description": "Day" },
          { "name": "more", "type": "object", "description": "", "required": false }],
        "preset_parameters": [{ "name": "id", "type": "number", "value_template": "{{initial_context.id | 3}}", "required": true }],
        "body_template": { "day": "{{day}}", "list": [1, { "a": "{{more}}" }] },
        "timeout_ms": null, "customMessage": "One moment", "customMessageType": "text", "customMessageRecordingId": null } } }"##;

    #[test]
    fn an_export_becomes_a_tool_file() {
        let [tool] = &import_tools(EXPORT).unwrap()[..] else { panic!("one tool") };
        assert_eq!(tool.file_stem, "book_appointment");
        assert!(tool.notes[0].contains("credential \"0b1c\""), "{:?}", tool.notes);
        let parsed = parse_tool("t.toml", &tool.text);
        let definition = parsed.definition.unwrap_or_else(|| panic!("{:?} {}", parsed.problems, tool.text));
        assert_eq!(definition.head.parameters.len(), 2);
        let ToolKind::Http(http) = definition.kind else { panic!("a request") };
        assert!(http.body.is_some() && http.credential.as_deref() == Some("0b1c"));
        let warnings: Vec<String> = parsed.problems.iter().map(|problem| problem.message.clone()).collect();
        assert_eq!(warnings, ["customMessage, customMessageType has no effect: aye does not speak"]);
        for list in [format!("[{EXPORT},{EXPORT}]"), format!("{{\"tools\":[{EXPORT},{EXPORT}]}}")] {
            assert_eq!(import_tools(&list).unwrap().len(), 2);
        }
    }

    #[test]
    fn the_end_of_a_call_and_a_transfer_are_imported() {
        let export = |kind: &str, config: &str| {
            let json = format!(
                r#"{{"name": "Goodbye", "category": "{kind}", "definition": {{"type": "{kind}", "config": {config}}}}}"#
            );
            let [tool] = &import_tools(&json).unwrap()[..] else { panic!("one tool") };
            let parsed = parse_tool("t.toml", &tool.text);
            let definition = parsed.definition.unwrap_or_else(|| panic!("{:?} {}", parsed.problems, tool.text));
            (definition, tool.notes.join(" "))
        };
        let (end, notes) = export(
            "end_call",
            r#"{"messageType": "custom", "customMessage": "Bye", "audioRecordingId": null, "endCallReason": true,
                "endCallReasonDescription": "Why"}"#,
        );
        assert!(matches!(&end.kind, ToolKind::EndConversation(end) if end.message == "Bye"), "{end:?}");
        assert_eq!(end.head.tool_spec().parameters.to_value()["required"], serde_json::json!(["reason"]));
        assert_eq!(notes, "");
        let (transfer, notes) =
            export("transfer_call", r#"{"destination": "+1234567890", "messageType": "none", "timeout": 30}"#);
        assert!(matches!(transfer.kind, ToolKind::Transfer(_)), "{transfer:?}");
        assert!(notes.contains("cannot transfer it to \"+1234567890\""), "{notes}");
    }

    #[test]
    fn other_exports_are_errors() {
        for (old, new, part) in [
            ("\"type\": \"http_api\"", "\"type\": \"native\"", "only these can be imported: http_api, end_call"),
            ("\"category\": \"http_api\"", "\"category\": \"mcp\"", "must match definition.type"),
            ("\"definition\"", "\"other\"", "has no definition"),
            ("Book Appointment!", "!", "no name for a file"),
        ] {
            let error = import_tools(&EXPORT.replace(old, new)).unwrap_err();
            assert!(error.contains(part), "{error}");
        }
        assert!(import_tools("{").is_err() && import_tools("3").is_err());
    }
}
