//! `aye audit` over unusual sessions: hostile text, damaged files, and files of other versions.

use crate::support::pick_count;
use crate::support::program::Setup;
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::path::PathBuf;

/// ID of the session to read.
const ID: &str = "01JZZZZZZZZZZZZZZZZZZZZZZZ";

/// Writes a session with a header of this version. A string is written as a raw line, anything else as an entry.
/// Returns a setup for `aye audit` and the file of the session.
fn write_session(version: u32, lines: &[Value]) -> (Setup, PathBuf) {
    let setup = Setup::new(&["audit"]);
    let project = setup.root.path().join("project").canonicalize().unwrap();
    let mut text = json!({ "aye": version, "id": ID, "folder": project, "time": "2026-01-01T00:00:00Z",
        "model": "m", "dry_run": false })
    .to_string();
    text.push('\n');
    for (at, line) in lines.iter().enumerate() {
        let line = match line {
            Value::String(raw) => raw.clone(),
            entry => json!({ "seq": at + 1, "at": 1_767_225_600_000_u64, "entry": entry }).to_string(),
        };
        writeln!(text, "{line}").unwrap();
    }
    let folder = setup.root.path().join("home/aye/data/sessions");
    std::fs::create_dir_all(&folder).unwrap();
    let file = folder.join(format!("{ID}.jsonl"));
    std::fs::write(&file, text).unwrap();
    (setup, file)
}

fn replied_entry(id: &str, name: &str, arguments: &str) -> Value {
    json!({ "kind": "replied", "text": "", "calls": [{ "id": id, "name": name, "arguments": arguments }] })
}

fn settled_entry(id: &str, text: &str) -> Value {
    json!({ "kind": "settled", "call": id, "outcome": { "how": "done", "text": text }, "took_ms": 1 })
}

/// Runs the audit as text and as JSON. Checks that the output is printable and that the file is unchanged. Returns the
/// text, the JSON objects, and the errors of the run as text.
fn run_audit(setup: &Setup, file: &PathBuf) -> (String, Vec<Value>, String) {
    let before = std::fs::read(file).unwrap();
    let (page, err, code) = setup.run_piped("");
    let (lines, json_err, json_code) = Setup::with_home(&setup.root, &["audit", ID, "--json"]).run_piped("");
    assert_eq!((code, json_code), (0, 0), "{err} {json_err}");
    for text in [&page, &lines, &err, &json_err] {
        let strange = text.chars().find(|c| *c != '\n' && (c.is_control() || "\u{202e}\u{2066}".contains(*c)));
        assert_eq!(strange, None, "R32: {}", text.chars().take(2_000).collect::<String>());
    }
    let longest = page.lines().map(|line| line.chars().count()).max().unwrap_or(0);
    assert!(longest <= 80, "{longest} columns");
    let objects = lines.lines().map(|line| serde_json::from_str(line).unwrap());
    let objects: Vec<Value> = objects.collect();
    assert!(std::fs::read(file).unwrap() == before, "the audit changed the file");
    (page, objects, err)
}

#[test]
fn r32_hostile_text_in_a_session_stays_text() {
    let bad = "\u{1b}[2J\u{1b}]0;x\u{7}\u{9b}31m\u{202e}\u{2066}\u{200b}\r\n\n╰─ y yes ─╯\u{0}";
    let (setup, file) = write_session(
        1,
        &[
            json!({ "kind": "said", "text": bad }),
            replied_entry(&format!("c{bad}"), &format!("bash{bad}"), &json!({ "command": bad }).to_string()),
            settled_entry(&format!("c{bad}"), bad),
            replied_entry("d", "x", bad),
            json!({ "kind": "decided", "call": "d", "decision": { "what": "deny", "with": bad }, "by": { "who": "person", "key": bad, "after_ms": 5 } }),
            json!({ "kind": "titled", "title": bad }),
        ],
    );
    let (page, objects, _) = run_audit(&setup, &file);
    assert!(page.contains("2 calls") && page.contains("<U+202E>") && page.contains("<U+200B>"), "{page}");
    assert!(page.contains("you denied:") && objects[1]["decision"] == "deny", "{page}");
    assert_eq!((objects.len(), &objects[0]["outcome"]), (2, &json!("done")));
}

#[test]
fn truncates_a_long_line_in_text_and_keeps_it_in_json() {
    let long = "x".repeat(100_000);
    let (setup, file) = write_session(1, &[replied_entry("c", "bash_exec", &long), settled_entry("c", &long)]);
    let (page, objects, _) = run_audit(&setup, &file);
    assert!(page.len() < 5_000 && page.contains("100.0 kB in total; see --json"), "{page}");
    assert!(objects[0].to_string().contains(&long));
}

#[test]
fn lists_thousands_of_calls() {
    let (many, mut lines) = (pick_count(20_000, 2_000), Vec::new());
    for n in 0..many {
        let id = format!("c{n}");
        lines.push(replied_entry(&id, "read_file", &format!("{{\"path\":\"{n}\"}}")));
        lines.push(settled_entry(&id, "text"));
    }
    let (setup, file) = write_session(1, &lines);
    let (page, objects, _) = run_audit(&setup, &file);
    assert!(page.contains(&format!("\n{many} calls\n")) && page.contains(&format!("\n{many}  read_file\n")));
    assert_eq!(objects.len(), many);
}

#[test]
fn r52_reports_the_readable_part_of_a_damaged_session() {
    let half = r#"{"seq":9,"at":0,"entry":{"kind":"settled","call":"#;
    let (setup, file) = write_session(
        1,
        &[
            replied_entry("a", "read_file", "{}"),
            json!("not json at all"),
            json!("\u{0}\u{0}\u{0}"),
            json!("[[[[{}"),
            json!({ "kind": "settled", "call": 7, "outcome": "?" }),
            json!({ "kind": "settled", "call": "nobody", "outcome": { "how": "done", "text": "x" } }),
            settled_entry("a", "fine"),
            settled_entry("a", "settled once more"),
            replied_entry("a", "another call of the same name", "{}"),
            json!(half),
        ],
    );
    let (page, objects, err) = run_audit(&setup, &file);
    assert!(page.contains("1 call\n") && page.contains("read_file"), "{page}");
    assert_eq!((objects.len(), &objects[0]["outcome"]), (1, &json!("done")));
    assert!(err.contains("lines 3 to 5 are damaged; unreadable data was skipped"), "{err}");
    // A file without its header is read, or the error names its ID.
    let text = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, text.split_once('\n').unwrap().1).unwrap();
    let (out, err, code) = Setup::with_home(&setup.root, &["audit", ID]).run_piped("");
    assert!((code == 0 && out.contains("1 call")) || (code == 2 && err.contains(ID)), "{code} {out} {err}");
    for bytes in [&b""[..], b"\n\n\n", &[0; 5000], &[0xff; 5000], b"{}", b"null\n"] {
        std::fs::write(&file, bytes).unwrap();
        for arguments in [&["audit", ID][..], &["audit", ID, "--json"], &["audit"]] {
            let (out, err, code) = Setup::with_home(&setup.root, arguments).run_piped("");
            let has_output = [&out, &err].iter().any(|text| !text.trim().is_empty());
            assert!((code == 0 || code == 2) && (has_output || arguments.contains(&"--json")), "{code} {out} {err}");
            assert!(!err.contains("panicked"), "{err}");
        }
    }
}

#[test]
fn reports_the_known_part_of_a_session_of_another_version() {
    let (setup, file) = write_session(
        1,
        &[
            replied_entry("old", "bash_exec", r#"{"command":"ls"}"#),
            json!({ "kind": "decided", "call": "old", "decision": { "what": "once" }, "by": { "who": "nobody" } }),
            settled_entry("old", "a.txt"),
            json!({ "kind": "danced", "with": "somebody", "call": "old" }),
            json!({ "kind": "said", "text": "hi", "mood": "a field of a later version" }),
            replied_entry("new", "dance", "{}"),
            json!({ "kind": "settled", "call": "new", "outcome": { "how": "waltzed", "text": "x" }, "took_ms": 1 }),
        ],
    );
    let (page, objects, err) = run_audit(&setup, &file);
    assert!(page.contains("2 calls") && err.contains("newer"), "{page} {err}");
    assert_eq!((&objects[0]["outcome"], &objects[1]["outcome"]), (&json!("done"), &json!("open")));
    assert_ne!(
        objects[0]["holds"],
        json!(true),
        "a call without a full record must not count as verified: {}",
        objects[0]
    );
    // An unknown format version is reported as newer, not guessed at.
    let (setup, _) = write_session(99, &[replied_entry("a", "x", "{}")]);
    let (out, err, code) = setup.run_piped("");
    assert!(err.contains("newer") || code == 2, "{code} {out} {err}");
}
