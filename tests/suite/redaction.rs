//! Every form of a secret in the real program: exports and simulator requests contain none of them.

#[path = "../../src/text/redaction/tests/forms.rs"]
mod forms;

use crate::sessions::{HERE, Home, ONE, model_reply, user_message};
use crate::support::program::Setup;
use crate::support::service::Service;
use crate::support::stored_files::write_settings;
use crate::support::terminal_session::{command_answer, text_answer};
use forms::all_forms;
use serde_json::{Value, json};

/// Start of every secret of the forms, in lower and upper case.
const SECRET: [&str; 2] = ["aB3dE5", "AB3DE5"];

/// Every form with its secret.
fn texts() -> Vec<String> {
    all_forms().iter().map(|form| form.with_secret(&form.secret())).collect()
}

#[track_caller]
fn assert_no_secret(text: &str, description: &str) {
    let line = text.lines().find(|line| SECRET.iter().any(|secret| line.contains(secret)));
    assert_eq!(line, None, "{description} has a secret");
}

#[test]
fn r57_no_export_format_contains_a_secret() {
    let home = Home::new();
    let mut entries = Vec::new();
    for (at, text) in texts().iter().enumerate() {
        let (begin, end) = text.split_at(text.find("B3").unwrap_or(0));
        entries.push(user_message(text));
        entries.push(user_message(&format!("{begin}\u{1b}[31m{end}")));
        let call =
            json!({ "id": format!("c{at}"), "name": "bash_exec", "arguments": json!({ "command": text }).to_string() });
        entries.push(json!({ "kind": "replied", "text": text, "reasoning": text, "model": "m", "calls": [call] }));
        let outcome = json!({ "how": "done", "text": text });
        entries.push(json!({ "kind": "settled", "call": format!("c{at}"), "outcome": outcome, "took_ms": 5 }));
    }
    home.add_session(ONE, HERE, &entries);
    for arguments in [&["export"][..], &["export", "--format", "html"], &["export", "--format", "json"], &["show"]] {
        let (out, err, code) = home.run(arguments);
        assert_eq!(code, 0, "{err}");
        assert_no_secret(&out, &arguments.join(" "));
        assert!(out.contains("redacted"), "{arguments:?}");
    }
}

#[test]
fn r57_simulator_receives_no_secret_and_its_answer_is_escaped() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    for chunk in texts().chunks(40) {
        let answer = json!({ "output": "ok\u{202e}x\u{e0041}\u{200b}y\u{1b}[31mz", "exit": 0 }).to_string();
        let simulator = runtime.block_on(Service::start_strict([text_answer(&answer)]));
        let command = format!("make <<'EOF'\n{}\nEOF", chunk.join("\n"));
        let provider = runtime.block_on(Service::start([command_answer(&command), text_answer("Done.")]));
        let arguments = ["--base-url", &provider.base_url, "--model", "m", "-p", "--json", "--dry-run", "go"];
        let setup = Setup::new(&arguments).env("OTHER_KEY", "x-other").env("OPENAI_API_KEY", "x-first");
        let url = &simulator.base_url;
        write_settings(
            &setup,
            &format!(
                "[model]\ntitles = false\n[dry_run]\noverlay_sandbox = \"off\"\nsimulator = \"other\"\nsimulator_model = \"sim-7b\"\n[profiles.other]\nbase_url = \"{url}\"\nkey_env = \"OTHER_KEY\""
            ),
        );
        let (out, err, code) = setup.run_piped("");
        assert_eq!(code, 0, "{out}\n{err}");
        let requests = simulator.received();
        assert_eq!(requests.len(), 1, "{out}");
        let sent = requests[0].body["messages"].to_string();
        assert!(sent.contains("[redacted]") && sent.contains("make <<"), "{sent}");
        assert_no_secret(&sent, "the simulator's request");
        let results = provider.received().last().unwrap().body["messages"].to_string();
        assert!(results.contains("ok<U+202E>x<U+E0041><U+200B>yz"), "{results}");
        let hidden = |c: char| c.is_control() && c != '\n' || matches!(c, '\u{202e}' | '\u{200b}' | '\u{e0041}');
        assert!(!out.contains(hidden), "{out:?}");
    }
}

#[test]
fn r30_every_reply_of_a_dry_run_is_marked_in_every_export() {
    let home = Home::new();
    let nested = json!({ "kind": "beneath", "call": "a", "entry": model_reply("Inner.") });
    let call = json!({ "id": "a", "name": "task", "arguments": "{}" });
    let entries = [
        user_message("go"),
        json!({ "kind": "replied", "text": "First.", "model": "m", "calls": [call] }),
        nested,
        json!({ "kind": "settled", "call": "a", "outcome": { "how": "rehearsed", "text": "x" }, "took_ms": 1 }),
        model_reply("Second."),
        json!({ "kind": "ended", "ending": { "how": "finished" } }),
    ];
    let live = [json!({ "kind": "became", "dry_run": false, "of": "01J" }), model_reply("Third.")];
    // The `dry_run` of the header, the entries, and the number of marked replies. The second session is a live copy of
    // a dry run.
    for (header, entries, marked) in [
        (true, entries.to_vec(), 3),
        (false, [entries.to_vec(), live.to_vec()].concat(), 3),
        (false, vec![model_reply("x")], 0),
    ] {
        let file = home.add_session(ONE, HERE, &entries);
        let text = std::fs::read_to_string(&file).unwrap();
        let head = text.replacen("\"dry_run\":false", &format!("\"dry_run\":{header}"), 1);
        std::fs::write(&file, head).unwrap();
        let export = |format: &str| home.run(&["export", "--format", format]).0;
        let title = if header { 1 } else { 0 };
        assert_eq!(export("markdown").matches("\\[dry run\\]").count(), marked + title, "{}", export("markdown"));
        // The title is also the name of the HTML page.
        assert_eq!(export("html").matches("[dry run]").count(), marked + 2 * title, "{}", export("html"));
        let shown_text = home.run(&["show"]).0;
        assert_eq!(shown_text.matches("[dry run]").count(), marked + title, "{shown_text}");
        let value: Value = serde_json::from_str(&export("json")).unwrap();
        let is_marked = |entry: &Value| {
            let inner = if entry["kind"] == "beneath" { &entry["entry"] } else { entry };
            inner["dry_run"] == true && inner["kind"] == "replied"
        };
        assert_eq!(value["entries"].as_array().unwrap().iter().filter(|entry| is_marked(entry)).count(), marked);
        assert_eq!(value["dry_run"], header);
    }
}

/// Returns whether the letters and digits of a file, without what is between them, contain a secret.
fn find_split_secret(text: &str) -> Option<&'static str> {
    let joined: String = text.chars().filter(char::is_ascii_alphanumeric).collect();
    SECRET.into_iter().find(|secret| joined.contains(secret))
}

/// Removes the tags of SVG and HTML, whose attributes are no text.
fn without_tags(text: &str) -> String {
    let mut is_tag = false;
    text.chars()
        .filter(|c| {
            is_tag |= *c == '<';
            let is_text = !is_tag;
            is_tag &= *c != '>';
            is_text
        })
        .collect()
}

#[test]
fn r57_no_recording_and_no_export_of_it_contains_a_secret() {
    // A secret in a line of its own is not found with the text of its neighbours.
    let texts: Vec<String> = texts().iter().map(|text| text.replace('\n', "  \n")).collect();
    let replies: Vec<String> = texts.chunks(36).map(|chunk| chunk.join("\n\n")).collect();
    let quote = |text: &str| Value::from(text).to_string();
    let mut script = format!(
        "title = {}\nsize = \"100x40\"\n[[file]]\npath = \"notes.txt\"\ntext = {}\n[[step]]\ntype = \"go\"\n[[step]]\npress = \"enter\"\n",
        quote("with password=aB3dE5gH7jK9mN"),
        quote(&texts.join("\n")),
    );
    for (reply, command) in replies.iter().zip(["cat notes.txt", "tail -n 30 notes.txt"].iter().cycle()) {
        script += &format!(
            "[[step]]\nreply = {}\n[[step.call]]\ntool = \"bash_exec\"\narguments = {{ command = {} }}\n",
            quote(reply),
            quote(command)
        );
    }
    script += "[[step]]\nreply = \"The end.\"\n[[step]]\nwait = \"The end.\"\n";
    let setup = Setup::new(&[]).with_file("demo.toml", &script);
    let run = |arguments: &[&str]| {
        let (out, err, code) = Setup::with_home(&setup.root, arguments).run_piped("");
        assert_eq!(code, 0, "{arguments:?}: {out}{err}");
    };
    let read = |name: &str| std::fs::read_to_string(setup.root.path().join("project").join(name)).unwrap();
    run(&["demo", "play", "demo.toml", "--record", "demo.cast"]);
    run(&["export", "cast", "demo.cast", "--version", "2", "--output", "old.cast"]);
    run(&["export", "svg", "demo.cast", "--output", "demo.svg"]);
    run(&["export", "html", "demo.cast", "--output", "demo.html"]);
    for name in ["demo.cast", "old.cast", "demo.svg", "demo.html"] {
        let text = read(name);
        assert_no_secret(&text, name);
        assert!(text.contains("***"), "{name} shows where secrets were");
    }
    // GIF and PNG pictures are drawn from the same frames.
    for name in ["demo.svg", "demo.html"] {
        assert_eq!(find_split_secret(&without_tags(&read(name))), None, "{name}");
    }
    assert!(without_tags(&read("demo.svg")).contains("The end."));
    assert_eq!(find_split_secret("aB</text><text>3 dE5"), None, "tags are no text");
    assert_eq!(find_split_secret(&without_tags("aB</text><text>3 dE5")), Some("aB3dE5"));
}
