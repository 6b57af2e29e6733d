//! Every form of a secret in the real program: what is exported and what goes to a simulator has none of them.

#[path = "../../src/chat/redaction/forms.rs"]
mod forms;

use crate::sessions::{Home, ONE, replied, said};
use crate::support::program::Setup;
use crate::support::service::Service;
use crate::support::stored_files::write_settings;
use crate::support::terminal_session::{runs, says};
use forms::all_forms;
use serde_json::{Value, json};

/// What every secret of the forms begins with, and the same in capitals.
const SECRET: [&str; 2] = ["aB3dE5", "AB3DE5"];

/// All forms with their secrets, each on lines of its own.
fn texts() -> Vec<String> {
    all_forms().iter().map(|form| form.with_secret(&form.secret())).collect()
}

#[track_caller]
fn has_none(text: &str, what: &str) {
    let line = text.lines().find(|line| SECRET.iter().any(|secret| line.contains(secret)));
    assert_eq!(line, None, "{what} has a secret");
}

#[test]
fn r57_an_export_has_no_form_of_a_secret_in_any_format() {
    let home = Home::new();
    let mut entries = Vec::new();
    for (at, text) in texts().iter().enumerate() {
        let (begin, end) = text.split_at(text.find("B3").unwrap_or(0));
        entries.push(said(text));
        entries.push(said(&format!("{begin}\u{1b}[31m{end}")));
        let call =
            json!({ "id": format!("c{at}"), "name": "bash_exec", "arguments": json!({ "command": text }).to_string() });
        entries.push(json!({ "kind": "replied", "text": text, "reasoning": text, "model": "m", "calls": [call] }));
        let outcome = json!({ "how": "done", "text": text });
        entries.push(json!({ "kind": "settled", "call": format!("c{at}"), "outcome": outcome, "took_ms": 5 }));
    }
    home.holds(ONE, true, &entries);
    for arguments in [&["export"][..], &["export", "--format", "html"], &["export", "--format", "json"], &["show"]] {
        let (out, err, code) = home.does(arguments);
        assert_eq!(code, 0, "{err}");
        has_none(&out, &arguments.join(" "));
        assert!(out.contains("redacted"), "{arguments:?}");
    }
}

#[test]
fn r57_a_simulator_is_sent_no_form_of_a_secret_and_its_answer_is_cleaned() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    for some in texts().chunks(40) {
        let answer = json!({ "output": "ok\u{202e}x\u{e0041}\u{200b}y\u{1b}[31mz", "exit": 0 }).to_string();
        let simulator = runtime.block_on(Service::start_strict([says(&answer)]));
        let command = format!("make <<'EOF'\n{}\nEOF", some.join("\n"));
        let talk = runtime.block_on(Service::start([runs(&command), says("Done.")]));
        let arguments = ["--base-url", &talk.base_url, "--model", "m", "-p", "--json", "--dry-run", "go"];
        let setup = Setup::new(&arguments).env("OTHER_KEY", "x-other").env("OPENAI_API_KEY", "x-first");
        let url = &simulator.base_url;
        write_settings(
            &setup,
            &format!(
                "[model]\ntitles = false\n[dry_run]\nstage = \"off\"\nsimulator = \"other\"\nsimulator_model = \"sim-7b\"\n[profiles.other]\nbase_url = \"{url}\"\nkey_env = \"OTHER_KEY\""
            ),
        );
        let (out, err, code) = setup.print("");
        assert_eq!(code, 0, "{out}\n{err}");
        let asked = simulator.received();
        assert_eq!(asked.len(), 1, "{out}");
        let sent = asked[0].body["messages"].to_string();
        assert!(sent.contains("[redacted]") && sent.contains("make <<"), "{sent}");
        has_none(&sent, "the simulator's request");
        let told = talk.received().last().unwrap().body["messages"].to_string();
        assert!(told.contains("ok<U+202E>x<U+E0041><U+200B>yz"), "{told}");
        let hidden = |c: char| c.is_control() && c != '\n' || matches!(c, '\u{202e}' | '\u{200b}' | '\u{e0041}');
        assert!(!out.contains(hidden), "{out:?}");
    }
}

#[test]
fn r30_every_reply_of_a_dry_run_is_marked_in_every_export() {
    let home = Home::new();
    let beneath = json!({ "kind": "beneath", "call": "a", "entry": replied("Inner.") });
    let call = json!({ "id": "a", "name": "task", "arguments": "{}" });
    let entries = [
        said("go"),
        json!({ "kind": "replied", "text": "First.", "model": "m", "calls": [call] }),
        beneath,
        json!({ "kind": "settled", "call": "a", "outcome": { "how": "rehearsed", "text": "x" }, "took_ms": 1 }),
        replied("Second."),
        json!({ "kind": "ended", "ending": { "how": "finished" } }),
    ];
    let live = [json!({ "kind": "became", "dry_run": false, "of": "01J" }), replied("Third.")];
    for (header, entries, marked) in [
        (true, entries.to_vec(), 3),
        (false, [entries.to_vec(), live.to_vec()].concat(), 3),
        (false, vec![replied("x")], 0),
    ] {
        let file = home.holds(ONE, true, &entries);
        let text = std::fs::read_to_string(&file).unwrap();
        let head = text.replacen("\"dry_run\":false", &format!("\"dry_run\":{header}"), 1);
        std::fs::write(&file, head).unwrap();
        let export = |format: &str| home.does(&["export", "--format", format]).0;
        let title = if header { 1 } else { 0 };
        assert_eq!(export("markdown").matches("\\[dry run\\]").count(), marked + title, "{}", export("markdown"));
        // The title is also the name of the page.
        assert_eq!(export("html").matches("[dry run]").count(), marked + 2 * title, "{}", export("html"));
        let shown = home.does(&["show"]).0;
        assert_eq!(shown.matches("[dry run]").count(), marked + title, "{shown}");
        let value: Value = serde_json::from_str(&export("json")).unwrap();
        let is_marked = |entry: &Value| {
            let inner = if entry["kind"] == "beneath" { &entry["entry"] } else { entry };
            inner["dry_run"] == true && inner["kind"] == "replied"
        };
        assert_eq!(value["entries"].as_array().unwrap().iter().filter(|entry| is_marked(entry)).count(), marked);
        assert_eq!(value["dry_run"], header);
    }
}
