//! Losses in keywords and in prose, and what is no loss.

use super::*;
use serde_json::json;

fn tool(description: &str, properties: Value) -> ToolText {
    let parameters = json!({ "type": "object", "properties": properties, "required": ["path"] });
    ToolText { name: "read".into(), description: description.into(), parameters }
}

/// The losses between two descriptions of the tool, each as `place · kind · text`.
fn losses(old: &ToolText, new: &ToolText) -> Vec<String> {
    let names = ["run_command".to_owned(), "find_file".to_owned()];
    let describe = |loss: &Loss| format!("{} · {} · {}", loss.place, loss.kind.as_str(), loss.text);
    find_losses(old, new, &names).iter().map(describe).collect()
}

fn prose_losses(old: &str, new: &str) -> Vec<String> {
    losses(&tool(old, json!({})), &tool(new, json!({})))
}

#[test]
fn keywords_of_a_schema_are_compared() {
    let old = json!({
        "path": { "type": "string", "description": "Path" },
        "count": { "type": "integer", "minimum": 1, "maximum": 100, "default": 20, "description": "Count" },
        "order": { "type": "string", "enum": ["name", "size", "age"], "description": "Order" },
        "filter": { "type": "object", "properties": { "glob": { "type": "string", "description": "Glob" } } },
    });
    let new = json!({
        "path": { "type": "array", "description": "Path" },
        "count": { "type": "integer", "maximum": 50, "description": "Count" },
        "order": { "type": "string", "enum": ["name", "size"], "description": "Order" },
    });
    assert_eq!(
        losses(&tool("", old), &tool("", new)),
        [
            "path · type · type string is now array",
            "count · limit · minimum 1",
            "count · limit · maximum 100 is now 50",
            "count · default · default 20",
            "order · allowed value · age",
            "filter · parameter · the parameter is gone",
        ]
    );
    let (mut old, mut new) = (tool("", json!({ "path": {} })), tool("", json!({ "path": {} })));
    old.parameters["additionalProperties"] = json!(false);
    new.parameters["required"] = json!([]);
    assert_eq!(
        losses(&old, &new),
        [" · keyword · additionalProperties false", "path · required · is no longer required"]
    );
}

#[test]
fn a_fact_that_moved_is_not_lost() {
    let keywords = json!({ "count": { "type": "integer", "default": 20, "maximum": 100, "description": "Count" } });
    let prose = json!({ "count": { "type": "integer", "description": "Count up to 100, default 20" } });
    assert_eq!(losses(&tool("Lists.", keywords.clone()), &tool("Lists.", prose.clone())), [""; 0]);
    assert_eq!(losses(&tool("Lists.", prose), &tool("Lists.", keywords)), [""; 0]);
    let in_tool = tool("Waits at most 30 seconds.", json!({ "wait": { "description": "Wait" } }));
    let in_parameter = tool("Waits.", json!({ "wait": { "description": "Waits up to 30 s" } }));
    assert_eq!(losses(&in_tool, &in_parameter), [""; 0]);
}

#[test]
fn numbers_units_rules_examples_and_names_in_prose_are_compared() {
    assert_eq!(prose_losses("Stops after 1,000 lines.", "Stops after 1000 lines."), [""; 0]);
    assert_eq!(prose_losses("Stops after 30 seconds.", "Stops after 30."), [" · number · 30 s"]);
    assert_eq!(prose_losses("Uses sha256 of v2.", "Uses a hash."), [""; 0], "digits of names are no numbers");
    assert_eq!(
        prose_losses("Deletes a file. Never delete folders.", "Deletes a file."),
        [" · rule · never: “Never delete folders”"]
    );
    assert_eq!(prose_losses("Folders must not be deleted.", "Do not delete folders that must stay."), [""; 0]);
    assert_eq!(
        prose_losses("Sets the order, e.g. 'newest' or oldest.", "Sets the order."),
        [" · example · newest", " · example · oldest"]
    );
    assert_eq!(prose_losses("Reads a file that find_file found.", "Reads a found file."), [" · reference · find_file"]);
    assert_eq!(
        prose_losses("Reads a file. Ideal for quick inspection of large archives.", "Reads a file."),
        [" · sentence · Ideal for quick inspection of large archives"]
    );
    assert_eq!(prose_losses("This tool will read the given file for you.", "Reads a given file."), [""; 0]);
}
