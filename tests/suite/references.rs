//! References to files in the arguments of calls, in the real program: what a prompt shows is what runs.

use crate::mcp_servers;
use crate::support::mcp_server::McpServer;
use crate::support::service::Answer;
use crate::support::stored_files::{read_session, write_script};
use crate::support::terminal_session::{calls_answer_after, submit_message, text_answer};
use crate::support::tool_service::{add_settings, call, json_response, outcomes, run, user_with_tool};
use crate::support::user::User;
use crate::support::web_server::WebServer;
use aye::chat::{Digest, Entry, Outcome};
use serde_json::{Value, json};
use std::fs;
use std::time::Duration;

/// A tool that sends a note and data to a server.
fn report_tool(url: &str) -> String {
    format!(
        r#"name = "Report"
type = "http_api"
method = "POST"
url = "{url}"
allow_private = true
[[parameters]]
name = "note"
type = "string"
file_references = "text"
[[parameters]]
name = "rows"
type = "array"
required = false
file_references = "data"
[[parameters]]
name = "raw"
type = "string"
required = false
"#
    )
}

fn write_call(path: &str, content: &str) -> Answer {
    calls_answer_after(Duration::ZERO, &[("write_file", json!({ "path": path, "content": content }))])
}

fn body_of(request: &str) -> Value {
    serde_json::from_str(request.split_once("\r\n\r\n").unwrap().1).unwrap()
}

#[test]
fn what_the_prompt_shows_is_sent_even_if_the_file_changes() {
    let server = WebServer::with_responses(&[&json_response("200 OK", "{}")]);
    let arguments =
        json!({ "note": "see @@file:notes.txt[2].", "rows": "@@file:table.csv", "raw": "@@file:notes.txt" });
    let answers = vec![call("report", arguments), text_answer("Done.")];
    let user = user_with_tool(answers, "report.toml", &report_tool(&server.url("/r")))
        .with_project_file("notes.txt", "one\ntwo\n")
        .with_project_file("table.csv", "id,name\n007,Zoë\n");
    let mut program = user.start(&[]);
    program.until("Messages go to");
    submit_message(&mut program, "go");
    let screen = program.until_prompt("Call a service?");
    let digest = Digest::of_bytes(b"two\n");
    let contains = format!("contains notes.txt[2] · 4 bytes · sha256 {}", digest.short_hex());
    for part in ["see two", "\"007\"", &contains, "contains table.csv · 17 bytes"] {
        assert!(screen.contains(part), "{part}: {screen}");
    }
    user.write_file("notes.txt", "one\nchanged\n");
    program.press_keys("y");
    program.until_idle("Done.");
    let sent = body_of(&server.requests()[0]);
    let expected = json!({ "note": "see two\n.", "rows": [["id", "name"], ["007", "Zoë"]], "raw": "@@file:notes.txt" });
    assert_eq!(sent, expected);
    // The log has the reference and the digest, not the text.
    let entries = read_session(&user.setup(&[]));
    let Some(Entry::Planned { preconditions, .. }) =
        entries.iter().find(|entry| matches!(entry, Entry::Planned { .. }))
    else {
        panic!("{entries:?}")
    };
    assert_eq!(preconditions.references[0].sha256, digest);
    let (audit, _, _) = user.run_headless(&["audit", "--json"]);
    assert!(audit.contains(digest.as_str()) && audit.contains("see @@file:notes.txt[2]."), "{audit}");
}

#[test]
fn a_call_that_asked_early_asks_again_if_a_file_changed() {
    let calls = [
        ("bash_exec", json!({ "command": "echo changed > notes.txt" })),
        ("write_file", json!({ "path": "copy.txt", "content": "@@file:notes.txt" })),
    ];
    let user = User::new(vec![calls_answer_after(Duration::ZERO, &calls), text_answer("Done.")])
        .with_project_file("notes.txt", "first\n");
    let mut program = user.start(&[]);
    program.until("Messages go to");
    submit_message(&mut program, "go");
    program.until_prompt("Run a command?");
    program.press_keys("Y");
    let screen = program.until_prompt("Create a file?");
    assert!(screen.contains("changed") && !screen.contains("first"), "{screen}");
    program.press_keys("y");
    program.until_idle("Done.");
    assert_eq!(fs::read_to_string(user.project().join("copy.txt")).unwrap(), "changed\n");
}

#[test]
fn a_long_text_is_shown_as_an_excerpt_and_written_whole() {
    let server = WebServer::with_responses(&[&json_response("200 OK", "{}")]);
    let text: String = (1..=3_000).map(|number| format!("line {number}\n")).collect();
    let answers = vec![call("report", json!({ "note": "@@file:long.txt" })), text_answer("Done.")];
    let user =
        user_with_tool(answers, "report.toml", &report_tool(&server.url("/r"))).with_project_file("long.txt", &text);
    let mut program = user.start(&[]);
    program.until("Messages go to");
    submit_message(&mut program, "go");
    let screen = program.until_prompt("Call a service?");
    assert!(screen.contains("2980 more lines") && screen.contains("contains long.txt · "), "{screen}");
    assert!(screen.contains("only its beginning is shown"), "{screen}");
    program.press_keys("y");
    program.until_idle("Done.");
    assert_eq!(body_of(&server.requests()[0])["note"], json!(text));
    // The log does not contain the text.
    let sizes: u64 = crate::support::stored_files::list_all_files(&user.path("home/aye/data/sessions"))
        .iter()
        .map(|file| fs::metadata(file).unwrap().len())
        .sum();
    assert!(sizes < 20_000, "{sizes}");
}

#[test]
fn an_invalid_reference_runs_nothing() {
    let user = User::new(vec![
        write_call("a.txt", "@@file:none.txt"),
        write_call("b.txt", "@@file:.env"),
        write_call("c.txt", "@@file:/etc/hostname"),
        write_call("d.txt", "@@file:link"),
        write_call("e.txt", "@@file:notes.txt[2-9]"),
        write_call("f.txt", "@@@file:notes.txt"),
        text_answer("Done."),
    ])
    .with_project_file(".env", "TOKEN=secret-value")
    .with_project_file("notes.txt", "one\n");
    std::os::unix::fs::symlink("/etc/hostname", user.project().join("link")).unwrap();
    let mut program = user.start(&["--mode", "auto"]);
    program.until("Messages go to");
    submit_message(&mut program, "go");
    program.until("took");
    let outcomes = outcomes(&user);
    let parts = ["no file none.txt", "may hold secrets", "outside the project", "outside the project", "has 1 line"];
    for (outcome, part) in outcomes.iter().zip(parts) {
        assert!(matches!(outcome, Outcome::Failed(text) if text.contains(part)), "{part}: {outcome:?}");
    }
    assert!(matches!(&outcomes[5], Outcome::Done(_)), "{outcomes:?}");
    assert_eq!(fs::read_to_string(user.project().join("f.txt")).unwrap(), "@@file:notes.txt");
    assert!(!user.project().join("a.txt").exists() && !user.project().join("b.txt").exists());
}

#[test]
fn rules_for_reads_hold_for_references() {
    let rules = "[[rule]]\nverdict = \"deny\"\ntool = \"read_file\"\npath = \"private/**\"\n[[rule]]\nverdict = \"ask\"\npath = \"drafts/**\"\n";
    let user = User::new(vec![
        write_call("a.txt", "@@file:private/plan.txt"),
        write_call("b.txt", "@@file:drafts/plan.txt"),
        text_answer("Done."),
    ])
    .with_rules(rules)
    .with_project_file("private/plan.txt", "one\n")
    .with_project_file("drafts/plan.txt", "two\n");
    let mut program = user.start(&["--mode", "auto"]);
    program.until("Messages go to");
    submit_message(&mut program, "go");
    let screen = program.until_prompt("Create a file?");
    assert!(screen.contains("contains drafts/plan.txt") && screen.contains("drafts/**"), "{screen}");
    program.press_keys("y");
    program.until("took");
    let outcomes = outcomes(&user);
    assert!(matches!(&outcomes[0], Outcome::Refused(text) if text.contains("private/**")), "{outcomes:?}");
    assert_eq!(fs::read_to_string(user.project().join("b.txt")).unwrap(), "two\n");
}

/// Without approval, a hook or a rule is all that stands between a file and the server.
#[test]
fn a_hook_receives_all_content_of_the_files() {
    let server = WebServer::with_responses(&[&json_response("200 OK", "{}")]);
    let text: String = (1..=3_000).map(|number| format!("line {number}\n")).collect();
    let answers = vec![call("report", json!({ "note": "@@file:long.txt" })), text_answer("Done.")];
    let user =
        user_with_tool(answers, "report.toml", &report_tool(&server.url("/r"))).with_project_file("long.txt", &text);
    write_script(&user.path("home/hook.sh"), "cat > \"$HOME/received\"; echo '{\"verdict\":\"ask\"}'");
    add_settings(&user, "[hooks.check]\ncommand = [\"~/hook.sh\"]\n");
    let mut program = user.start(&[]);
    program.until("Messages go to");
    submit_message(&mut program, "go");
    program.until_prompt("2980 more lines");
    let received: Value = serde_json::from_str(&fs::read_to_string(user.path("home/received")).unwrap()).unwrap();
    assert_eq!(received["arguments"]["note"], "@@file:long.txt");
    let preview = received["preview"]["what"].as_str().unwrap();
    assert!(preview.contains("line 1500") && preview.contains("line 3000"), "{preview}");
    assert_eq!(received["references"][0]["name"], "long.txt");
    assert_eq!(received["references"][0]["sha256"], Digest::of_bytes(text.as_bytes()).as_str());
}

#[test]
fn a_rule_for_every_read_holds_for_references() {
    let user = User::new(vec![write_call("a.txt", "@@file:notes.txt"), text_answer("Done.")])
        .with_rules("[[rule]]\nverdict = \"deny\"\ntool = \"read_file\"\n")
        .with_project_file("notes.txt", "one\n");
    let mut program = user.start(&["--mode", "auto"]);
    program.until("Messages go to");
    submit_message(&mut program, "go");
    program.until("took");
    let outcomes = outcomes(&user);
    assert!(matches!(&outcomes[0], Outcome::Refused(text) if text.contains("read_file")), "{outcomes:?}");
    assert!(!user.project().join("a.txt").exists());
    // In a dry run, what a rule asks about is not read for a call that is rehearsed.
    let user = User::new(vec![write_call("a.txt", "@@file:notes.txt"), text_answer("Done.")])
        .with_rules("[[rule]]\nverdict = \"ask\"\ntool = \"read_file\"\n")
        .with_project_file("notes.txt", "one\n");
    let (out, err, _) = user.setup(&["--dry-run", "-p", "go"]).run_piped("");
    assert!(out.contains("Done."), "{out} {err}");
    let outcomes = crate::support::tool_service::outcomes(&user);
    assert!(
        matches!(&outcomes[0], Outcome::Rehearsed(text) if text.starts_with("Withheld in this dry run: your rule")),
        "{outcomes:?}"
    );
}

#[test]
fn a_trial_of_a_tool_expands_references() {
    let server = WebServer::with_responses(&[&json_response("200 OK", "{}")]);
    let user = user_with_tool(vec![], "report.toml", &report_tool(&server.url("/r")))
        .with_project_file("notes.txt", "one\ntwo\n");
    let (out, err, code) = run(&user, &["tools", "test", "report", "note=@@file:notes.txt[2]", "--yes"]);
    assert_eq!(code, 0, "{out}{err}");
    assert!(out.contains("contains notes.txt[2] · 4 bytes"), "{out}");
    assert_eq!(body_of(&server.requests()[0])["note"], "two\n");
    let (out, err, code) = run(&user, &["tools", "test", "report", "note=@@file:/etc/hostname", "--yes"]);
    assert_ne!(code, 0, "{out}");
    assert!(format!("{out}{err}").contains("outside the project"), "{out}{err}");
    assert_eq!(server.connection_count(), 1);
}

#[test]
fn files_of_the_workspace_are_referenced_in_a_dry_run_too() {
    let user = User::new(vec![
        calls_answer_after(
            Duration::ZERO,
            &[("write_workspace_file", json!({ "path": "report.md", "content": "# Report\n" }))],
        ),
        write_call("copy.md", "@@file:workspace:///report.md\nend"),
        write_call("other.md", "@@file:workspace:///none.md"),
        text_answer("Done."),
    ]);
    let (out, err, _) = user.setup(&["--dry-run", "-p", "go"]).run_piped("");
    assert!(out.contains("Done."), "{out} {err}");
    let outcomes = outcomes(&user);
    assert!(matches!(&outcomes[1], Outcome::Rehearsed(_)), "{outcomes:?}");
    assert!(matches!(&outcomes[2], Outcome::Failed(text) if text.contains("list_workspace_files")), "{outcomes:?}");
    assert!(!user.project().join("copy.md").exists());
}

#[test]
fn a_tool_of_an_mcp_server_receives_the_text_of_the_file() {
    let server = McpServer::new(&[]);
    let text = json!({ "type": "string", "x-file-refs": "text" });
    let schema = json!({ "type": "object", "properties": { "text": text, "raw": { "type": "string" } } });
    server.set_tools(&json!([{ "name": "echo", "description": "Repeats text", "inputSchema": schema }]));
    let arguments = json!({ "text": "see @@file:notes.txt[2].", "raw": "@@file:notes.txt" });
    let user = mcp_servers::user_with(
        vec![call("mcp__test__echo", arguments), text_answer("Done.")],
        &server.stdio_settings("test"),
    )
    .with_project_file("notes.txt", "one\ntwo\n");
    let mut program = mcp_servers::start_session(&user, &server);
    submit_message(&mut program, "go");
    let screen = program.until_prompt("Call an MCP tool?");
    assert!(screen.contains("contains notes.txt[2] · 4 bytes"), "{screen}");
    user.write_file("notes.txt", "one\nchanged\n");
    program.press_keys("y");
    program.until_idle("Done.");
    let sent = server.wait_for("tools/call")["params"]["arguments"].clone();
    assert_eq!(sent, json!({ "text": "see two\n.", "raw": "@@file:notes.txt" }));
}

#[test]
fn a_command_tool_has_no_references() {
    let tool = "name = \"show\"\ntype = \"command\"\nargv = [\"cat\", \"{{file}}\"]\n[[parameters]]\nname = \"file\"\ntype = \"string\"\nfile_references = \"text\"\n";
    let user = user_with_tool(vec![text_answer("Done.")], "show.toml", tool);
    let (out, err, code) = run(&user, &["tools", "check"]);
    assert_ne!(code, 0, "{out}");
    assert!(format!("{out}{err}").contains("file_references is not allowed for commands"), "{out}{err}");
}

#[test]
fn a_hostile_spreadsheet_is_an_error_within_its_limits() {
    let sheet = "<row r=\"1048576\"><c r=\"A1\"><v>1</v></c><c r=\"XFD1048576\"><v>1</v></c></row>";
    let server = WebServer::with_responses(&[&json_response("200 OK", "{}")]);
    let answers = vec![
        call("report", json!({ "note": "a", "rows": "@@file:good.xlsx" })),
        call("report", json!({ "note": "b", "rows": "@@file:bomb.xlsx" })),
        text_answer("Done."),
    ];
    let user = user_with_tool(answers, "report.toml", &report_tool(&server.url("/r")));
    fs::write(user.project().join("good.xlsx"), make_spreadsheet("<row r=\"1\"><c r=\"A1\" t=\"str\"><v>a</v></c><c r=\"B1\" t=\"str\"><v>b</v></c></row><row r=\"2\"><c r=\"A2\"><v>1</v></c></row>")).unwrap();
    fs::write(user.project().join("bomb.xlsx"), make_spreadsheet(sheet)).unwrap();
    let mut program = user.start(&[]);
    program.until("Messages go to");
    submit_message(&mut program, "go");
    program.until_prompt("Call a service?");
    program.press_keys("y");
    program.until_idle("Done.");
    assert_eq!(body_of(&server.requests()[0])["rows"], json!([["a", "b"], [1, null]]));
    let outcomes = outcomes(&user);
    assert!(matches!(&outcomes[1], Outcome::Failed(text) if text.contains("cannot be used as data")), "{outcomes:?}");
    assert_eq!(server.connection_count(), 1);
}

/// Makes an XLSX file with one sheet of these rows of XML.
fn make_spreadsheet(rows: &str) -> Vec<u8> {
    let main = "http://schemas.openxmlformats.org/spreadsheetml/2006/main";
    let relations = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
    let package = "http://schemas.openxmlformats.org/package/2006/relationships";
    let mut file = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for (name, text) in [
        (
            "_rels/.rels",
            format!(
                "<Relationships xmlns=\"{package}\"><Relationship Id=\"r1\" Type=\"{relations}/officeDocument\" Target=\"xl/workbook.xml\"/></Relationships>"
            ),
        ),
        (
            "xl/workbook.xml",
            format!(
                "<workbook xmlns=\"{main}\" xmlns:r=\"{relations}\"><sheets><sheet name=\"One\" sheetId=\"1\" r:id=\"r1\"/></sheets></workbook>"
            ),
        ),
        (
            "xl/_rels/workbook.xml.rels",
            format!(
                "<Relationships xmlns=\"{package}\"><Relationship Id=\"r1\" Type=\"{relations}/worksheet\" Target=\"worksheets/sheet1.xml\"/></Relationships>"
            ),
        ),
        ("xl/worksheets/sheet1.xml", format!("<worksheet xmlns=\"{main}\"><sheetData>{rows}</sheetData></worksheet>")),
    ] {
        file.start_file(name, zip::write::SimpleFileOptions::default()).unwrap();
        std::io::Write::write_all(&mut file, text.as_bytes()).unwrap();
    }
    file.finish().unwrap().into_inner()
}
