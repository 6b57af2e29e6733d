//! Tests of the expansion of references.

use super::*;
use crate::tools::memory_project::MemoryProject;
use serde_json::json;
use std::sync::Arc;

fn spec() -> ToolSpec {
    let properties = json!({
        "note": { "type": "string", "description": "Note" },
        "body": { "type": "object" },
        "rows": { "type": "array", "items": { "type": "array" } },
        "any": {},
        "file": { "type": "string", "format": "file" },
        "command": { "type": "string" },
    });
    ToolSpec { name: "send".into(), parameters: json!({ "properties": properties }).into(), ..ToolSpec::default() }
        .with_file_references(&[
            ("note", ReferenceUse::Text),
            ("body", ReferenceUse::Data),
            ("rows", ReferenceUse::Data),
            ("any", ReferenceUse::Data),
            ("file", ReferenceUse::Data),
        ])
}

fn expand_in(files: &Arc<MemoryProject>, arguments: Value) -> Result<ExpandedArguments, String> {
    let sources = Sources { project: files, workspace: None };
    match expand_arguments(&spec(), &arguments, &sources) {
        Ok(expanded) => expanded.ok_or_else(|| "nothing to expand".to_owned()),
        Err(error) => Err(error.to_string()),
    }
}

fn project() -> Arc<MemoryProject> {
    MemoryProject::with_files(&[
        ("notes.txt", "one\ntwo\nthree\n"),
        ("my [old] file.txt", "old"),
        ("data.json", "{\"a\": 1}"),
        ("table.csv", "id,name\n007,Zoë\n"),
        ("bad.json", "{"),
        ("nested.txt", "@@file:notes.txt"),
        (".env", "TOKEN=abc"),
        ("link.txt", "x"),
    ])
}

/// Expands one argument.
fn expand(name: &str, value: Value) -> Result<Value, String> {
    expand_in(&project(), json!({ name: value })).map(|expanded| expanded.arguments[name].clone())
}

#[test]
fn references_stand_for_text() {
    for (text, expected) in [
        ("@@file:notes.txt", "one\ntwo\nthree\n"),
        (" @@agptfile:notes.txt[2] ", " two\n "),
        ("a: @@file:notes.txt[-1]b: @@file:notes.txt[2-]", "a: three\nb: two\nthree\n"),
        ("see @@file:notes.txt[1].", "see one\n."),
        ("see @@file:notes.txt.", "see one\ntwo\nthree\n."),
        ("@@file:\"my [old] file.txt\"!", "old!"),
        // What a reference stands for is not expanded again.
        ("@@file:nested.txt", "@@file:notes.txt"),
        ("@@@file:notes.txt", "@@file:notes.txt"),
        // Data is text for an argument that takes text.
        ("@@file:data.json", "{\"a\": 1}"),
    ] {
        assert_eq!(expand("note", json!(text)), Ok(json!(expected)), "{text}");
    }
}

#[test]
fn references_stand_for_data_if_they_are_all_there_is() {
    for (name, value, expected) in [
        ("body", json!("@@file:data.json"), json!({"a": 1})),
        ("rows", json!("@@file:table.csv"), json!([["id", "name"], ["007", "Zoë"]])),
        ("any", json!("@@file:table.csv"), json!([{"id": "007", "name": "Zoë"}])),
        ("any", json!("x @@file:data.json"), json!("x {\"a\": 1}")),
        ("any", json!("@@file:notes.txt[3]"), json!("three\n")),
        ("any", json!("@@file:bad.json"), json!("{")),
        ("any", json!({"k": ["@@file:data.json", 2]}), json!({"k": [{"a": 1}, 2]})),
        ("file", json!("@@file:workspace://01ABC"), json!("workspace://01ABC")),
    ] {
        assert_eq!(expand(name, value.clone()), Ok(expected), "{value}");
    }
}

#[test]
fn other_parameters_keys_and_texts_stay() {
    for arguments in [
        json!({"command": "cat @@file:notes.txt"}),
        json!({"note": "an ordinary text with an @ and file:"}),
        json!({"any": {"@@file:notes.txt": 1}}),
    ] {
        assert_eq!(expand_in(&project(), arguments).unwrap_err(), "nothing to expand");
    }
    let both = json!({"command": "@@file:notes.txt", "note": "@@file:notes.txt[1]"});
    let expanded = expand_in(&project(), both).unwrap();
    assert_eq!(expanded.arguments, json!({"command": "@@file:notes.txt", "note": "one\n"}));
    let [file] = expanded.files.as_slice() else { panic!() };
    assert_eq!(file.describe(), format!("notes.txt[1] · 4 bytes · sha256 {}", Digest::of_bytes(b"one\n").short_hex()));
    assert_eq!(expanded.shown_arguments, None);
}

#[test]
fn errors_block_the_call_and_say_what_to_do() {
    for (name, text, part) in [
        ("note", "@@file:none.txt", "there is no file none.txt. list_files lists"),
        ("note", "@@file:none.txt", "begin it with “@@@file:”"),
        ("note", "@@file:notes.txt[2-9]", "notes.txt has 3 lines, so the lines [2-9] do not exist"),
        ("note", "@@file:notes.txt[0]", "lines are numbered from 1"),
        ("note", "@@file:", "no path follows"),
        ("note", "@@file:.env", "“.env” may hold secrets, so no reference can name it. Read it with read_file"),
        ("note", "@@file:.env.", "may hold secrets"),
        ("note", "@@file:/etc/passwd", "“/etc/passwd” is outside the project"),
        ("note", "@@file:../x", "outside the project"),
        ("note", "@@file:workspace:///a", "this session has no workspace"),
        ("file", "@@file:notes.txt[2]", "it takes a whole file, so the lines [2] cannot be named"),
        ("body", "@@file:bad.json", "bad.json cannot be used as data: it cannot be read as JSON"),
        ("body", "@@file:notes.txt", ""),
    ] {
        match expand(name, json!(text)) {
            Err(error) => assert!(error.contains(part) && error.contains(&format!("“{name}”")), "{text}: {error}"),
            Ok(value) => assert!(part.is_empty() && value.is_string(), "{text}: {value}"),
        }
    }
}

#[test]
fn long_texts_are_shown_as_excerpts_and_have_limits() {
    let line = "0123456789\n";
    let (long, too_long) = (line.repeat(2_000), line.repeat(20_000));
    let rows = format!("id,name\n{}", "1,x\n".repeat(3_000));
    let files = MemoryProject::with_files(&[("long.txt", &long), ("huge.txt", &too_long), ("rows.csv", &rows)]);
    let expanded = expand_in(&files, json!({"note": "@@file:long.txt"})).unwrap();
    assert_eq!(expanded.arguments["note"], json!(long));
    let shown = expanded.shown_arguments.unwrap();
    assert_eq!(shown["note"], json!(format!("{}[… 1980 more lines, 21.8 kB]\n", line.repeat(20))));
    let expanded = expand_in(&files, json!({"rows": "@@file:rows.csv"})).unwrap();
    assert_eq!(expanded.arguments["rows"].as_array().unwrap().len(), 3_001);
    assert_eq!(expanded.shown_arguments.unwrap()["rows"][10], json!(["… 2991 more"]));
    let error = expand_in(&files, json!({"note": "@@file:huge.txt"})).unwrap_err();
    assert!(error.contains("at most 200.0 kB. Name fewer lines, such as [1-18181]"), "{error}");
    assert!(expand_in(&files, json!({"note": "@@file:huge.txt[1-18181]"})).is_ok());
    let many = "@@file:huge.txt[1-18181]".repeat(6);
    let error = expand_in(&files, json!({"note": many})).unwrap_err();
    assert!(error.contains("stand for more than"), "{error}");
    let error = expand_in(&files, json!({"note": "@@file:long.txt[1]".repeat(101)})).unwrap_err();
    assert!(error.contains("more than 100 references"), "{error}");
}
