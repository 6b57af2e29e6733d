//! `aye tokens` in the real program.

use crate::support::folder::Folder;
use crate::support::tool_service::user_with_tool;
use crate::support::user::User;
use serde_json::Value;

/// A tool of the user.
const TIDES: &str = r#"name = "tides"
description = "Report the tides of a harbour."
type = "command"
argv = ["tides", "{{place}}"]
[[parameters]]
name = "place"
type = "string"
description = "Harbour"
"#;

fn rows(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// The objects that the program prints for these arguments.
fn json_output(user: &User, arguments: &[&str]) -> Vec<Value> {
    let (out, errors, code) = user.run_headless(arguments);
    assert_eq!((errors.as_str(), code), ("", 0), "{out}");
    rows(&out)
}

fn find<'a>(rows: &'a [Value], name: &str) -> &'a Value {
    rows.iter().find(|row| row["name"] == name).unwrap_or_else(|| panic!("{name} is missing"))
}

#[test]
fn the_report_has_measured_and_estimated_parts_and_their_sum() {
    let user = user_with_tool(Vec::new(), "tides.toml", TIDES);
    user.write_file("AGENTS.md", "Use tabs.\n");
    let report = json_output(&user, &["tokens", "--json"]);
    let read_file = find(&report, "read_file");
    assert!(read_file["cl100k"].as_u64() > Some(20) && read_file["sent"] == true, "{read_file}");
    assert!(find(&report, "session")["o200k"].as_u64() > Some(200));
    let tides = find(&report, "tides");
    assert!(tides["cl100k"].is_null() && tides["estimate"].as_u64() > Some(20) && tides["sent"] == true, "{tides}");
    let background = find(&report, "kill");
    assert_eq!(background["not_sent_because"], "until a command runs in the background");
    assert!(report.iter().all(|row| row["part"] != "instructions"), "not trusted");
    assert!(find(&report, "bash_exec")["cl100k"].is_u64(), "the default settings were measured");
    let tokens = |row: &Value| row["o200k"].as_u64().or(row["estimate"].as_u64()).unwrap();
    let sum: u64 = report.iter().filter(|row| row["sent"] == true).map(tokens).sum();
    let together = report.last().unwrap();
    assert_eq!((together["part"].as_str(), tokens(together)), (Some("together"), sum));
    assert_eq!(together["is_estimated"], true);

    let (out, _, _) = user.run_headless(&["tokens"]);
    for expected in
        ["tools: core", "~", "not sent, because not trusted (aye trust): AGENTS.md", "No provider was contacted"]
    {
        assert!(out.contains(expected), "{expected}: {out}");
    }
    assert!(user.service.received().is_empty());
    let widest =
        out.lines().filter(|line| line.contains("core") || line.contains("tides")).map(|line| line.chars().count());
    assert!(widest.max() < Some(100), "{out}");

    let (_, _, code) = user.run_headless(&["trust"]);
    assert_eq!(code, 2, "trust needs a terminal");
}

#[test]
fn tools_above_the_limit_are_reported_as_deferred() {
    let user = user_with_tool(Vec::new(), "tides.toml", TIDES);
    let settings =
        "[model]\nprofile = \"local\"\n[profiles.local]\nbase_url = \"http://127.0.0.1:9/v1\"\ntool_tokens = 0\n";
    std::fs::write(user.path("home/aye/config/config.toml"), settings).unwrap();
    let report = json_output(&user, &["tokens", "--json"]);
    assert_eq!(find(&report, "tides")["not_sent_because"], "deferred", "{report:?}");
    assert_eq!(find(&report, "find_tool")["sent"], true);
}

/// A folder without a repository or a project.
#[test]
fn the_report_works_in_an_empty_folder() {
    let user = User::new(Vec::new());
    let empty = Folder::new();
    let (out, errors, code) = user.run_headless(&["tokens", "-C", empty.path().to_str().unwrap()]);
    assert_eq!((errors.as_str(), code), ("", 0));
    assert!(out.contains("system prompt"), "{out}");
}
