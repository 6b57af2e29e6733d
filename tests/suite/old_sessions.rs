//! A session file of version 0.1 with every kind of entry, in every command that reads sessions.

use crate::support::program::Setup;
use serde_json::{Value, json};
use std::collections::BTreeSet;

const ID: &str = "01M83N5VKMMNYF8C661VCJN903";
const FILE: &str = include_str!("../sessions/version-0.1.jsonl");

/// Runs aye with the old session among its sessions. Fails on any notice, such as one about unreadable lines.
fn run_program(arguments: &[&str]) -> String {
    let setup = Setup::new(arguments);
    let sessions = setup.root.path().join("home/aye/data/sessions");
    std::fs::create_dir_all(&sessions).unwrap();
    let file = sessions.join(format!("{ID}.jsonl"));
    std::fs::write(&file, FILE).unwrap();
    let (out, err, code) = setup.run_piped("");
    assert_eq!((err.as_str(), code), ("", 0), "{out}");
    assert!(std::fs::read_to_string(file).unwrap() == FILE, "reading changes nothing");
    out
}

/// Runs aye and parses each line of its output.
fn run_json(arguments: &[&str]) -> Vec<Value> {
    run_program(arguments).lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn the_old_session_has_every_kind_of_entry() {
    let kinds: BTreeSet<String> = FILE
        .lines()
        .skip(1)
        .map(|line| serde_json::from_str::<Value>(line).unwrap()["entry"]["kind"].as_str().unwrap().to_owned())
        .collect();
    // The error lists every kind of entry: unknown variant ``, expected one of `said`, `replied` and so on.
    let error = serde_json::from_value::<aye::chat::Entry>(json!({ "kind": "" })).unwrap_err().to_string();
    let known: BTreeSet<String> = error.split('`').skip(3).step_by(2).map(str::to_owned).collect();
    // Lines with a part of a reply or of a command's output, which are not entries.
    let parts = ["grown", "printed"].map(str::to_owned).into();
    assert!(known.len() >= 15, "{error}");
    assert_eq!(kinds, &known | &parts);
}

#[test]
fn an_old_session_is_shown_and_exported() {
    for arguments in [&["sessions", "show", ID][..], &["sessions", "export", ID]] {
        let text = run_program(arguments);
        for part in [
            "Make the retry test stop flaking.",
            "cargo test retry",
            "virtual time",
            "It is MIT.",
            "big-70b",
            "Handed to you: Choose",
            "MCP server hub has 1 new or changed tool (search)",
            "You approved the answer for MCP server hub",
        ] {
            assert!(text.contains(part), "{part}: {text}");
        }
    }
    let exported: Value = serde_json::from_str(&run_program(&["sessions", "export", "--format", "json", ID])).unwrap();
    // Partial output is replaced by the complete entry.
    let lines = FILE.lines().skip(1).map(|line| serde_json::from_str::<Value>(line).unwrap()["entry"].take());
    let stored: Vec<Value> = lines.filter(|entry| entry["kind"] != "grown" && entry["kind"] != "printed").collect();
    let entries = exported["entries"].as_array().unwrap();
    assert_eq!(entries.len(), stored.len());
    for (entry, stored) in entries.iter().zip(&stored) {
        // An export adds the time and the mark of a dry run, and nothing is lost.
        let missing: Vec<_> =
            stored.as_object().unwrap().iter().filter(|(field, value)| entry[*field] != **value).collect();
        assert!(missing.is_empty(), "{missing:?}: {entry}");
    }
    for (new, old) in [("notices", "left_out"), ("redacted", "masked")] {
        assert!(!exported[new].is_null() && exported[new] == exported[old], "{new}");
    }
}

#[test]
fn an_old_session_is_audited_with_new_and_old_field_names() {
    assert!(run_program(&["audit", ID]).contains("\n15 calls\n"));
    let mut calls = run_json(&["audit", "--json", ID]);
    let commands: Vec<Value> = calls.extract_if(.., |item| item.get("user_command").is_some()).collect();
    assert_eq!((commands.len(), &commands[0]["status"]), (1, &json!("exit 0")));
    assert!(run_program(&["audit", ID]).contains("your command · cargo test retry"));
    let samplings: Vec<Value> = calls.extract_if(.., |item| item.get("sampling").is_some()).collect();
    assert_eq!(
        (samplings.len(), &samplings[0]["is_intact"], &samplings[0]["is_open"]),
        (1, &json!(true), &json!(false))
    );
    let call = |id: &str| calls.iter().find(|call| call["call"] == id).unwrap_or_else(|| panic!("{id}"));
    for call in &calls {
        for (new, old) in [("is_intact", "holds"), ("mismatch", "wrong"), ("message", "words")] {
            assert_eq!(call[new], call[old], "{new}: {call}");
        }
        assert!(call["is_intact"] != false, "{call}");
        assert_eq!(call["reviews"].as_array().unwrap().len(), call["consulted"].as_array().unwrap().len());
    }
    assert_eq!(calls.iter().filter(|call| call["is_intact"] == true).count(), 14, "l7 has no plan");
    for (id, field, new, old_field, old) in [
        ("r1", "origin", "ran", "staged", "ran"),
        ("r3", "origin", "fixture", "staged", "example"),
        ("r4", "origin", "model", "staged", "imagined"),
        ("r5", "origin", "sample", "staged", "sampled"),
        ("r6", "origin", "withheld", "staged", "withheld"),
        ("r1", "policy_verdict", "rehearse", "verdict", "rehearse"),
        ("l5", "policy_verdict", "deny", "verdict", "refuse"),
        ("l1", "decided_by", "user", "who", "person"),
        ("l3", "decided_by", "file", "who", "file"),
        ("l4", "decided_by", "headless", "who", "nobody"),
        ("l5", "decided_by", "policy", "who", "policy"),
        ("l2", "message", "push nothing yet", "words", "push nothing yet"),
    ] {
        assert_eq!((&call(id)[field], &call(id)[old_field]), (&json!(new), &json!(old)), "{id} {field}");
    }
    let (new, old) = (&call("r4")["simulation"], &call("r4")["simulated"]);
    assert_eq!((&new["model"], &new["is_reused"], &new["failure"]), (&json!("sim-7b"), &json!(true), &Value::Null));
    assert_eq!((&old["by"], &old["again"], &old["instead"]), (&new["model"], &new["is_reused"], &new["failure"]));
    let (new, old) = (&call("l4")["reviews"][0], &call("l4")["consulted"][0]);
    assert_eq!((&new["reviewer"], &old["who"]), (&json!("model"), &json!("second_reader")));
    assert_eq!((&new["earlier_verdict"], &old["before"]), (&json!("allow"), &json!("allow")));
    assert_eq!((&new["is_failed"], &old["failed"]), (&json!(true), &json!(true)));
    assert_eq!((&call("l1")["reviews"][0]["reviewer"], &call("b1")["sub_agent"]), (&json!("hook"), &json!("licence")));
    let steps: Vec<[&str; 2]> = call("l4")["steps"]
        .as_array()
        .unwrap()
        .iter()
        .map(|step| ["kind", "step"].map(|field| step[field].as_str().unwrap()))
        .collect();
    let expected = [["review", "consulted"], ["verdict", "judged"], ["decision", "decided"], ["outcome", "ended"]];
    assert_eq!(steps, expected);
}

#[test]
fn an_old_session_is_listed_and_found_with_new_and_old_field_names() {
    let listed = &run_json(&["sessions", "list", "--all", "--json"])[0];
    assert_eq!((&listed["session"], &listed["title"]), (&json!(ID), &json!("Retry clock")));
    for (new, old) in [("copied_from", "from"), ("is_waiting", "waits"), ("is_open", "open"), ("error", "broken")] {
        assert!(listed.get(new).is_some() && listed[new] == listed[old], "{new}: {listed}");
    }
    assert_eq!(listed["copied_from"], "01M83N5VC8Y4QAFW251DT92V0S");
    let found = &run_json(&["sessions", "search", "--json", "flaking"])[0];
    assert_eq!((&found["hits"][0]["source"], &found["found"][0]["who"]), (&json!("user"), &json!("you")), "{found}");
    assert_eq!(found["hits"][0]["line"], found["found"][0]["line"]);
    assert_eq!((&found["has_more"], &found["more"]), (&json!(false), &json!(false)), "{found}");
}
