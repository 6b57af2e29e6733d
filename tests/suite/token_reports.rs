//! `aye tokens` and `aye tokens compare` in the real program.

use crate::support::folder::Folder;
use crate::support::tool_service::user_with_tool;
use crate::support::user::User;
use aye::chat::ToolSpec;
use aye::chat::message_tokens::estimate_tools;
use aye::chat::token_budgets::request_text;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;

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

fn repository_file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(name)
}

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
    let total_row = report.last().unwrap();
    assert_eq!((total_row["part"].as_str(), tokens(total_row)), (Some("total"), sum));
    assert_eq!(total_row["is_estimated"], true);

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

#[test]
fn profiles_and_files_of_the_report_are_compared() {
    let user = User::new(Vec::new());
    let (report, _, _) = user.run_headless(&["tokens", "--json"]);
    user.write_file("a.jsonl", &report);
    let shorter = report.replace("at most 2000 lines of ", "");
    user.write_file("b.jsonl", &shorter);
    let compared = json_output(&user, &["tokens", "compare", "a.jsonl", "b.jsonl", "--json"]);
    let lost = &find(&compared, "read_file")["losses"];
    assert!(lost.as_array().unwrap().iter().any(|loss| loss["text"] == "2000 lines"), "{lost}");
    let (out, _, code) = user.run_headless(&["tokens", "compare", "core", "everything"]);
    assert_eq!(code, 0);
    assert!(
        out.contains("tool set core ·") && out.contains("browser_act") && out.contains("no lost words, limits"),
        "{out}"
    );
    let (_, errors, code) = user.run_headless(&["tokens", "compare", "core", "nothing"]);
    assert_eq!(code, 2);
    assert!(errors.contains("neither a file nor a tool set nor a commit"), "{errors}");
}

/// Runs git in a folder, without the settings of the machine.
fn git(folder: &Path, arguments: &[&str]) -> bool {
    let mut command = Command::new("git");
    command.arg("-C").arg(folder).args(["-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false"]);
    command.args(arguments).env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_NOSYSTEM", "1");
    command.output().unwrap().status.success()
}

#[test]
fn commits_are_compared_by_their_file_of_schemas() {
    let user = User::new(Vec::new());
    let folder = user.project();
    let schemas = std::fs::read_to_string(repository_file("docs/tool-schemas.jsonl")).unwrap();
    user.write_file("README.md", "none\n");
    assert!(git(&folder, &["init", "-q"]) && git(&folder, &["add", "."]) && git(&folder, &["commit", "-qm", "zero"]));
    user.write_file("docs/tool-schemas.jsonl", &schemas);
    assert!(git(&folder, &["add", "."]) && git(&folder, &["commit", "-qm", "one"]));
    let changed = schemas.replace("\"minimum\":1,\"description\":\"Levels, default 3\"", "\"description\":\"Levels\"");
    assert_ne!(changed, schemas);
    user.write_file("docs/tool-schemas.jsonl", &changed);
    assert!(git(&folder, &["add", "."]) && git(&folder, &["commit", "-qm", "two"]));
    let compared = json_output(&user, &["tokens", "compare", "HEAD~1", "HEAD", "--json"]);
    let losses = find(&compared, "list_files")["losses"].clone();
    let texts: Vec<&str> = losses.as_array().unwrap().iter().filter_map(|loss| loss["text"].as_str()).collect();
    assert_eq!(texts, ["minimum 1", "3", "default: “Levels, default 3”"]);
    let (_, errors, code) = user.run_headless(&["tokens", "compare", "HEAD~2", "HEAD"]);
    assert_eq!(code, 2);
    assert!(errors.contains("this commit has no file docs/tool-schemas.jsonl"), "{errors}");
    for name in ["--output=x", "HEAD:docs"] {
        let (_, _, code) = user.run_headless(&["tokens", "compare", "--", name, "HEAD"]);
        assert_eq!(code, 2, "{name}");
    }
}

/// A trim of 35 tools by 28 %, with planted losses: the counts per tool are those of a trim that lost meaning unnoticed.
#[test]
fn a_trim_by_28_percent_is_named_with_every_planted_loss() {
    let user = User::new(Vec::new());
    let read = |name: &str| std::fs::read_to_string(repository_file(&format!("tests/schemas/{name}.jsonl"))).unwrap();
    let encoding = tiktoken_rs::cl100k_base().unwrap();
    for name in ["before", "after"] {
        user.write_file(&format!("{name}.jsonl"), &read(name));
        let tools = rows(&read(name));
        assert_eq!(tools.len(), 35);
        for row in &tools {
            let spec = ToolSpec {
                name: row["name"].as_str().unwrap().into(),
                description: row["description"].as_str().unwrap().into(),
                parameters: row["parameters"].clone().into(),
                ..ToolSpec::default()
            };
            let counted = encoding.encode_ordinary(&request_text(&spec)).len() as u64;
            assert_eq!(row["cl100k"].as_u64(), Some(counted), "{}", spec.name);
            assert!(estimate_tools(std::slice::from_ref(&spec)) > 0);
        }
    }
    let compared = json_output(&user, &["tokens", "compare", "before.jsonl", "after.jsonl", "--json"]);
    let total_row = compared.last().unwrap();
    assert_eq!(
        (total_row["percent"]["cl100k"].as_i64(), total_row["percent"]["o200k"].as_i64()),
        (Some(-28), Some(-28))
    );
    assert_eq!(find(&compared, "run_block")["a"]["cl100k"], 246);
    let planted = rows(&read("planted"));
    assert!(planted.len() >= 25);
    let mut unnamed = Vec::new();
    for plant in &planted {
        let losses = find(&compared, plant["name"].as_str().unwrap())["losses"].as_array().unwrap();
        let text = plant["text"].as_str().unwrap();
        let is_named = losses.iter().any(|loss| {
            loss["place"] == plant["place"]
                && loss["kind"] == plant["kind"]
                && loss["text"].as_str().unwrap().contains(text)
        });
        if !is_named {
            unnamed.push(format!("{plant}: {losses:?}"));
        }
    }
    assert!(unnamed.is_empty(), "{unnamed:#?}");
    // Nothing but the planted losses is named, except that one planted text may count as two.
    let places: Vec<(&Value, &Value)> = planted.iter().map(|plant| (&plant["name"], &plant["place"])).collect();
    let other: Vec<String> = compared
        .iter()
        .filter(|row| row["part"] == "tool")
        .flat_map(|row| row["losses"].as_array().unwrap().iter().map(move |loss| (row, loss)))
        .filter(|(row, loss)| !places.contains(&(&row["name"], &loss["place"])))
        .map(|(row, loss)| format!("{}: {loss}", row["name"]))
        .collect();
    assert!(other.is_empty(), "{other:#?}");
    let (out, _, _) = user.run_headless(&["tokens", "compare", "before.jsonl", "after.jsonl"]);
    assert!(
        out.contains("35 tools")
            && out.contains("−28 %")
            && out.contains("LOST default · include_agents · default false"),
        "{out}"
    );
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
