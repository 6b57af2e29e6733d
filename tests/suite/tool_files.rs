//! Tools that files define, in the real program: what a prompt shows is what a server receives, and nothing else.

use crate::overlay_sandbox_escapes::has_overlay_sandbox;
use crate::support::terminal_session::{submit_message, text_answer};
use crate::support::tool_service::{
    add_settings, call, json_response, offered_tools, outcomes, response, run, user_with_tool, write_user_tool,
};
use crate::support::user::User;
use crate::support::web_server::WebServer;
use aye::chat::Outcome;
use rustix::process::Signal;
use serde_json::{Value, json};

/// A tool that creates a ticket: two arguments of the model, one of the file.
fn ticket_tool(url: &str) -> String {
    format!(
        r#"name = "Create ticket"
description = "Create a ticket."
type = "http_api"
method = "POST"
url = "{url}/{{{{queue}}}}"
allow_private = true
headers = {{ X-Origin = "aye" }}
[[parameters]]
name = "queue"
type = "string"
description = "Queue"
[[parameters]]
name = "title"
type = "string"
description = "Title"
[[preset_parameters]]
name = "customer_id"
type = "number"
value_template = "7"
"#
    )
}

/// A tool that reads, with further lines for its file.
fn status_tool(url: &str, lines: &str) -> String {
    format!(
        "name = \"status\"\ntype = \"http_api\"\nmethod = \"GET\"\nurl = \"{url}\"\nallow_private = true\n{lines}\n"
    )
}

#[test]
fn a_server_receives_what_the_prompt_shows() {
    let server = WebServer::with_responses(&[&json_response("201 Created", "{\"number\":12}")]);
    let answers = vec![
        call("create_ticket", json!({ "queue": "a/b?", "title": "It \"breaks\"" })),
        call("create_ticket", json!({ "queue": "a", "title": "t", "customer_id": 8 })),
        call("create_ticket", json!({ "queue": "..", "title": "t" })),
        call("create_ticket", json!({ "queue": "a" })),
        text_answer("Done."),
    ];
    let user = user_with_tool(answers, "ticket.toml", &ticket_tool(&server.url("/queues")));
    let mut program = user.start(&[]);
    program.until("Messages go to");
    submit_message(&mut program, "go");
    let screen = program.until_prompt("Call a service?");
    for part in [
        &format!("POST {}", server.url("/queues/a%2Fb%3F")),
        "x-origin: aye",
        "\"customer_id\": 7",
        "It \\\"breaks\\\"",
        "private network",
    ] {
        assert!(screen.contains(part), "{part}: {screen}");
    }
    assert_eq!(server.connection_count(), 0, "nothing is sent before the approval");
    program.press_keys("y");
    program.until_idle("Done.");
    let requests = server.requests();
    assert_eq!(requests.len(), 1, "{requests:?}");
    let (head, body) = requests[0].split_once("\r\n\r\n").unwrap();
    assert!(head.starts_with("POST /queues/a%2Fb%3F HTTP/1.1\r\n") && head.contains("x-origin: aye"), "{head}");
    let body: Value = serde_json::from_str(body).unwrap();
    assert_eq!(body, json!({ "queue": "a/b?", "title": "It \"breaks\"", "customer_id": 7 }));
    let outcomes = outcomes(&user);
    let [Outcome::Done(done), Outcome::Failed(undeclared), Outcome::Failed(dots), Outcome::Failed(missing)] =
        outcomes.as_slice()
    else {
        panic!("{outcomes:?}")
    };
    assert!(
        done.contains("201 Created") && done.contains("Untrusted text") && done.contains("\"number\": 12"),
        "{done}"
    );
    assert!(undeclared.contains("no argument “customer_id”"), "{undeclared}");
    assert!(dots.contains("URL template rendering failed"), "{dots}");
    assert!(missing.contains("needs the argument “title”"), "{missing}");
    let tools = &offered_tools(&user)[0];
    assert!(tools.contains(&"create_ticket".to_owned()), "{tools:?}");
    let sent = user.service.received()[0].body["tools"].to_string();
    assert!(sent.contains("queue") && !sent.contains("customer_id"), "a preset is no parameter: {sent}");
}

#[test]
fn an_undo_names_what_a_call_did_at_a_service() {
    let server = WebServer::with_responses(&[&json_response("201 Created", "{}")]);
    let answers = vec![call("create_ticket", json!({ "queue": "a", "title": "t" })), text_answer("Done.")];
    let user = user_with_tool(answers, "ticket.toml", &ticket_tool(&server.url("/q")));
    let mut program = user.start(&[]);
    program.until("Messages go to");
    submit_message(&mut program, "go");
    program.until_prompt("Call a service?");
    program.press_keys("y");
    program.until_idle("Done.");
    submit_message(&mut program, "/undo");
    program.until("Not restored: effects of create_ticket at 127.0.0.1");
    let (listed, ..) = user.run_headless(&["checkpoints"]);
    assert!(listed.contains("effects of create_ticket at 127.0.0.1"), "{listed}");
}

#[test]
fn the_row_of_a_call_says_what_it_does_and_its_details_name_the_tool() {
    let server = WebServer::with_responses(&[&json_response("200 OK", "{}"), &json_response("201 Created", "{}")]);
    let answers = vec![
        call("status", json!({})),
        call("create_ticket", json!({ "queue": "a", "title": "t" })),
        call("invented_tool", json!({ "x": 1 })),
        text_answer("Done."),
    ];
    let user = user_with_tool(answers, "status.toml", &status_tool(&server.url("/s"), ""));
    write_user_tool(&user, "ticket.toml", &ticket_tool(&server.url("/q")));
    let mut program = user.start(&[]);
    program.until("Messages go to");
    submit_message(&mut program, "go");
    let screen = program.until_prompt("Read from the web?");
    assert!(screen.contains(&format!("? Get {}", server.url("/s"))), "{screen}");
    program.press_keys("y");
    program.until_prompt("Call a service?");
    program.press_until("n", "Done.");
    let screen = program.until_idle("Done.");
    let (get, post) = (format!("✓ Get {}", server.url("/s")), format!("⊘ Post {}", server.url("/q/a")));
    for row in [&get, &post, "✗ invented_tool Unknown tool"] {
        assert!(screen.contains(row), "{row}: {screen}");
    }
    assert!(!screen.contains("create_ticket"), "{screen}");
    drop(program);
    let mut program = user.start(&["--continue"]);
    program.until_all(&[&get, &post, "✗ invented_tool"]);
    program.press_keys("\x1b[1;3A\x1b[1;3A");
    program.press_until("\r", "tool create_ticket");
}

#[test]
fn errors_of_a_server_are_errors_of_the_call() {
    let canary = WebServer::with_responses(&[&response("200 OK", "", "reached")]);
    let moved = response("302 Found", &format!("Location: {}\r\n", canary.url("/x")), "");
    for (responses, lines, expected, connections) in [
        (vec![json_response("404 Not Found", "{\"error\":\"no\"}")], "", "answered 404 Not Found", 1),
        (vec![String::new()], "timeout_ms = 300", "did not answer within 0.3 s", 1),
        (vec![moved.clone()], "", "redirects. Refused: 127.0.0.1", 1),
        (vec![moved], "# to an allowed host", "which this tool may not call", 1),
        (
            vec![
                response("503 Busy", "", ""),
                response("502 Bad", "Retry-After: 0\r\n", ""),
                response("200 OK", "", "fine"),
            ],
            "",
            "",
            3,
        ),
        (vec![response("503 Busy", "Retry-After: 900\r\n", "")], "", "503", 1),
        (vec![response("200 OK", "", "")], "credential = \"token\"", "credential “token” is missing", 0),
    ] {
        let texts: Vec<&str> = responses.iter().map(String::as_str).collect();
        let server = WebServer::with_responses(&texts);
        let answers = vec![call("status", json!({})), text_answer("Done.")];
        let user = user_with_tool(answers, "status.toml", &status_tool(&server.url("/s"), lines));
        if lines.contains("allowed host") {
            add_settings(&user, "[web]\nprivate_hosts = [\"127.0.0.1\"]\n");
        }
        let mut program = user.start(&[]);
        program.until("Messages go to");
        submit_message(&mut program, "go");
        program.until_prompt("Read from the web?");
        program.press_keys("y");
        program.until_idle("Done.");
        match &outcomes(&user)[0] {
            Outcome::Failed(text) => assert!(!expected.is_empty() && text.contains(expected), "{expected}: {text}"),
            outcome => assert!(expected.is_empty(), "{expected}: {outcome:?}"),
        }
        assert_eq!(server.connection_count(), connections, "{expected}");
    }
    assert_eq!(canary.connection_count(), 0, "a redirect to another origin was followed");
}

#[test]
fn a_post_is_neither_redirected_nor_repeated() {
    let moved = response("307 Again", "Location: /elsewhere\r\n", "");
    for (first, expected) in [(moved, "not followed to /elsewhere"), (response("503 Busy", "", "busy"), "answered 503")]
    {
        let server = WebServer::with_responses(&[&first, &response("200 OK", "", "again")]);
        let answers = vec![call("create_ticket", json!({ "queue": "a", "title": "t" })), text_answer("Done.")];
        let user = user_with_tool(answers, "ticket.toml", &ticket_tool(&server.url("/q")));
        let mut program = user.start(&[]);
        program.until("Messages go to");
        submit_message(&mut program, "go");
        program.until_prompt("Call a service?");
        program.press_keys("y");
        program.until_idle("Done.");
        let outcomes = outcomes(&user);
        assert!(matches!(&outcomes[0], Outcome::Failed(text) if text.contains(expected)), "{outcomes:?}");
        assert_eq!(server.connection_count(), 1);
    }
}

#[test]
fn private_networks_need_permission_of_the_tool() {
    let server = WebServer::with_responses(&[&response("200 OK", "", "reached")]);
    let answers = vec![call("status", json!({})), text_answer("Done.")];
    let text = status_tool(&server.url("/s"), "").replace("allow_private = true", "");
    let user = user_with_tool(answers, "status.toml", &text);
    let mut program = user.start(&[]);
    program.until("Messages go to");
    submit_message(&mut program, "go");
    program.until_idle("Done.");
    let outcomes = outcomes(&user);
    assert!(matches!(&outcomes[0], Outcome::Failed(text) if text.contains("Refused: 127.0.0.1")), "{outcomes:?}");
    assert_eq!(server.connection_count(), 0);
}

#[test]
fn a_dry_run_sends_nothing_and_returns_the_example() {
    let server = WebServer::with_responses(&[&response("200 OK", "", "sent")]);
    let answers = vec![call("status", json!({})), text_answer("Done.")];
    let text = status_tool(&server.url("/s"), "example = '{\"state\": \"green\"}'");
    let user = user_with_tool(answers, "status.toml", &text);
    let mut program = user.start(&["--dry-run"]);
    program.until("Messages go to");
    submit_message(&mut program, "go");
    program.until("Done.");
    program.until_condition("the outcome is saved", |_| !outcomes(&user).is_empty());
    let outcomes = outcomes(&user);
    assert!(matches!(&outcomes[0], Outcome::Rehearsed(text) if text.contains("\"green\"")), "{outcomes:?}");
    assert_eq!(server.connection_count(), 0);
}

#[test]
fn a_dry_run_of_a_command_leaves_the_project_unchanged() {
    for (lines, has_example) in [("example = 'all green'", true), ("", false)] {
        let text = format!("name = \"Mark\"\ntype = \"command\"\nargv = [\"touch\", \"made\"]\n{lines}\n");
        let answers = vec![call("mark", json!({})), call("list_files", json!({})), text_answer("Done.")];
        let user = user_with_tool(answers, "mark.toml", &text).with_project_file("old", "");
        let (out, err, _) = user.setup(&["--dry-run", "-p", "go"]).run_piped("");
        assert!(out.contains("Done."), "{out}{err}");
        let outcomes = outcomes(&user);
        let [Outcome::Rehearsed(mark), Outcome::Done(list)] = outcomes.as_slice() else { panic!("{outcomes:?}") };
        assert_eq!(mark.contains("all green"), has_example, "{mark}");
        let is_rehearsed = !has_example && has_overlay_sandbox();
        assert_eq!(list.contains("made"), is_rehearsed, "only the overlay has the file: {mark} {list}");
        assert!(list.contains("old") && !user.project().join("made").exists(), "{list}");
    }
}

#[test]
fn a_dry_run_sends_nothing_that_would_change_something() {
    let server = WebServer::with_responses(&[&json_response("201 Created", "{}")]);
    let answers = vec![call("create_ticket", json!({ "queue": "a", "title": "t" })), text_answer("Done.")];
    let rule = "[[rule]]\nverdict = \"allow\"\ntool = \"create_ticket\"\nhost = \"127.0.0.1\"\n";
    let user = user_with_tool(answers, "ticket.toml", &ticket_tool(&server.url("/q"))).with_rules(rule);
    let mut program = user.start(&["--dry-run"]);
    program.until("Messages go to");
    submit_message(&mut program, "go");
    program.until("Done.");
    program.until_condition("the outcome is saved", |_| !outcomes(&user).is_empty());
    assert!(matches!(&outcomes(&user)[0], Outcome::Rehearsed(_)), "{:?}", outcomes(&user));
    assert_eq!(server.connection_count(), 0);
}

#[test]
fn a_headless_run_calls_a_service_only_if_a_rule_names_tool_and_host() {
    let allow = |lines: &str| format!("[[rule]]\nverdict = \"allow\"\n{lines}\n");
    for (rule, connections) in [
        (String::new(), 0),
        (allow("host = \"127.0.0.1\""), 0),
        (allow("tool = \"create_ticket\"\nhost = \"127.0.0.2\""), 0),
        (allow("tool = \"create_ticket\"\nhost = \"127.0.0.1\""), 1),
    ] {
        let server = WebServer::with_responses(&[&json_response("201 Created", "{}")]);
        let answers = vec![call("create_ticket", json!({ "queue": "a", "title": "t" })), text_answer("Done.")];
        let user = user_with_tool(answers, "ticket.toml", &ticket_tool(&server.url("/q"))).with_rules(&rule);
        let (out, _, _) = user.setup(&["-p", "go"]).run_piped("");
        assert!(out.contains("Done."), "{out}");
        assert_eq!(server.connection_count(), connections, "{rule}");
    }
}

#[test]
fn an_invalid_file_disables_only_its_tool() {
    let user = user_with_tool(vec![text_answer("Done.")], "good.toml", &status_tool("https://h.example/", ""));
    write_user_tool(&user, "bad.toml", "name = \"bad\"\ntype = \"http_api\"\nmethod = \"SEND\"\nurl = \"x\"\n");
    write_user_tool(&user, "read.toml", &status_tool("https://h.example/", "").replace("status", "read_file"));
    write_user_tool(&user, "same.toml", &status_tool("https://h.example/", "").replace("status", "Status!"));
    write_user_tool(&user, "off.toml", &status_tool("https://h.example/", "").replace("status", "off"));
    add_settings(&user, "[tools]\ndisabled = [\"off\"]\n");
    // A rule for an unknown tool would make every call ask.
    let user = user.with_rules(
        "[[rule]]\nverdict = \"deny\"\ntool = \"off\"\n\n[[rule]]\nverdict = \"deny\"\ntool = \"status\"\n",
    );
    let (out, _, code) = run(&user, &["rules", "check"]);
    assert_eq!(code, 0, "{out}");
    let mut program = user.start(&[]);
    program.until("Tool not used: tools/bad.toml:3: method must be one of");
    program.until("another tool has the name read_file");
    program.until("another tool has the name status");
    submit_message(&mut program, "go");
    program.until_idle("Done.");
    let tools = &offered_tools(&user)[0];
    assert!(
        tools.contains(&"status".to_owned()) && !tools.iter().any(|name| name == "bad" || name == "off"),
        "{tools:?}"
    );
    assert_eq!(tools.iter().filter(|name| *name == "read_file").count(), 1, "{tools:?}");
}

#[test]
fn r68_tools_of_a_project_need_trust_in_their_current_version() {
    let server = WebServer::with_responses(&[&response("200 OK", "Content-Type: text/plain\r\n", "green")]);
    let answers = vec![
        text_answer("One."),
        call("status", json!({})),
        text_answer("Two."),
        call("status", json!({})),
        text_answer("None."),
        text_answer("Three."),
    ];
    let user = User::new(answers);
    user.write_file(".aye/tools/status.toml", &status_tool(&server.url("/s"), "credential = \"deploy\""));
    let mut program = user.start(&[]);
    let screen = program.until_prompt("Trust the files of this project?");
    assert!(screen.contains(&format!("sends GET {}", server.url("/s"))), "{screen}");
    assert!(screen.contains("warning: sends the credential deploy"), "{screen}");
    assert!(screen.contains("warning: its server may be in a private network"), "{screen}");
    program.press_until("n", "Not used: .aye/tools/status.toml");
    submit_message(&mut program, "go");
    program.until_idle("One.");
    // The prompt is opened again and the tool is there from the next request on.
    user.write_file(".aye/tools/status.toml", &status_tool(&server.url("/s"), ""));
    submit_message(&mut program, "/trust");
    program.until_prompt("Trust the files of this project?");
    program.press_until("\x1b[F", "allow_private = true");
    program.press_until("y", "Trusted: ");
    submit_message(&mut program, "more");
    program.until_prompt("Read from the web?");
    program.press_keys("y");
    program.until_idle("Two.");
    assert_eq!(server.connection_count(), 1);
    // Without the trust it is gone with the next request, and a call by its name fails.
    submit_message(&mut program, "/trust");
    program.until_prompt("Files trusted in this project");
    program.press_until("n", "No longer trusted");
    submit_message(&mut program, "without it");
    program.until_idle("None.");
    assert!(matches!(outcomes(&user).last(), Some(Outcome::Failed(text)) if text.contains("Unknown tool")));
    submit_message(&mut program, "/trust");
    program.until_prompt("Trust the files of this project?");
    program.press_until("\x1b[F", "allow_private = true");
    // An earlier message says “Trusted” too.
    let is_stored = || {
        let stored = std::fs::read_to_string(user.path("home/aye/config/trusted.toml")).unwrap_or_default();
        stored.contains("status.toml")
    };
    assert!(!is_stored());
    program.press_keys("y");
    program.until_condition("the trust is stored", |_| is_stored());
    drop(program);
    user.write_file(".aye/tools/status.toml", &status_tool(&server.url("/other"), ""));
    let mut program = user.start(&["--continue"]);
    program.until_prompt("Trust the changed files of this project?");
    program.until("/other");
    program.press_until("n", "Not used: .aye/tools/status.toml");
    submit_message(&mut program, "and more");
    program.until_idle("Three.");
    let has_tool: Vec<bool> = offered_tools(&user).iter().map(|tools| tools.contains(&"status".to_owned())).collect();
    assert_eq!(has_tool, [false, true, true, false, false, false]);
}

#[test]
fn a_grant_covers_one_tool_at_one_host() {
    let server = WebServer::with_responses(&[&json_response("201 Created", "{}")]);
    let ticket = || call("create_ticket", json!({ "queue": "a", "title": "t" }));
    let answers = vec![
        ticket(),
        text_answer("One."),
        ticket(),
        text_answer("Two."),
        call("other", json!({})),
        text_answer("Three."),
    ];
    let user = user_with_tool(answers, "ticket.toml", &ticket_tool(&server.url("/q")));
    let other = status_tool(&server.url("/s"), "effect = \"external\"").replace("status", "other");
    write_user_tool(&user, "other.toml", &other);
    let mut program = user.start(&[]);
    program.until("Messages go to");
    submit_message(&mut program, "go");
    program.until_prompt("Call a service?");
    program.press_until("a", "any call of this tool to 127.0.0.1");
    program.press_until("\r", "One.");
    submit_message(&mut program, "again");
    program.until_idle("Two.");
    submit_message(&mut program, "other");
    program.until_prompt("Call a service?");
    program.press_until("n", "Three.");
    assert_eq!(server.connection_count(), 2);
}

#[test]
fn text_of_a_service_cannot_act_on_the_terminal() {
    let hostile = response("200 OK", "Content-Type: text/plain\r\n", "\u{1b}]0;owned\u{7}\u{1b}[2Jgone\u{202e}");
    let server = WebServer::with_responses(&[&hostile]);
    let answers = vec![call("status", json!({})), text_answer("Done.")];
    let lines = "description = \"\\u001B]0;owned\\u0007 Status\"";
    let user = user_with_tool(answers, "status.toml", &status_tool(&server.url("/s"), lines));
    let mut program = user.start(&[]);
    program.until("Messages go to");
    submit_message(&mut program, "go");
    program.until_prompt("Read from the web?");
    program.press_keys("y");
    program.until_idle("Done.");
    assert!(!String::from_utf8_lossy(&program.bytes()).contains("\u{1b}]0;owned"), "the title was set");
    let (out, _, _) = run(&user, &["tools", "show", "status"]);
    assert!(out.contains("Status") && !out.contains('\u{1b}'), "{out:?}");
}

#[test]
fn r51_a_call_that_was_killed_is_settled() {
    let server = WebServer::with_responses(&[""]);
    let answers = vec![call("create_ticket", json!({ "queue": "a", "title": "t" })), text_answer("Done.")];
    let user = user_with_tool(answers, "ticket.toml", &ticket_tool(&server.url("/q")));
    let mut program = user.start(&[]);
    program.until("Messages go to");
    submit_message(&mut program, "go");
    program.until_prompt("Call a service?");
    program.press_keys("y");
    program.until_condition("the request is sent", |_| !server.requests().is_empty());
    program.signal(Signal::KILL);
    program.wait_for_exit();
    let mut program = user.start(&["--continue"]);
    program.until("aye exited while it ran");
    program.until_condition("the call is settled", |_| outcomes(&user).len() == 1);
    let outcomes = outcomes(&user);
    assert!(matches!(&outcomes[0], Outcome::Interrupted(_)), "{outcomes:?}");
    assert_eq!(server.connection_count(), 1, "it was sent again");
}

#[test]
fn a_command_of_a_file_is_judged_and_run_as_any_other() {
    let text = r#"name = "Write note"
type = "command"
argv = ["sh", "-c", "printf %s \"$1\" > note", "note", "{{text}}"]
[[parameters]]
name = "text"
type = "string"
description = "Text"
"#;
    let answers = vec![call("write_note", json!({ "text": "a' $(touch owned); b" })), text_answer("Done.")];
    let user = user_with_tool(answers, "note.toml", text);
    let mut program = user.start(&[]);
    program.until("Messages go to");
    submit_message(&mut program, "go");
    let screen = program.until_prompt("Run a command?");
    assert!(screen.contains("$(touch owned)"), "{screen}");
    program.press_keys("y");
    program.until_idle("Done.");
    assert_eq!(program.file("note").as_deref(), Some("a' $(touch owned); b"));
    assert!(program.file("owned").is_none());
}

#[test]
fn tools_are_listed_checked_and_turned_off_by_commands() {
    let user = user_with_tool(vec![], "good.toml", &status_tool("https://h.example/", ""));
    let (out, _, code) = run(&user, &["tools"]);
    assert!(code == 0 && out.contains("status") && out.contains("on · http_api · read"), "{out}");
    assert_eq!(run(&user, &["tools", "check"]).2, 0);
    write_user_tool(&user, "bad.toml", "name = \"bad\"\ntype = \"http_api\"\nmethod = \"SEND\"\nurl = \"x\"\n");
    user.write_file(".aye/tools/own.toml", &status_tool("https://h.example/", "").replace("status", "own"));
    let (out, _, code) = run(&user, &["tools", "check"]);
    assert!(code == 2 && out.contains("bad.toml:3: method must be one of"), "{out}");
    let states: Vec<(String, String)> = run(&user, &["tools", "--json"])
        .0
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap())
        .filter(|row| row["kind"] != "built-in" && row["name"] != "web_search")
        .map(|row| (row["name"].as_str().unwrap().to_owned(), row["state"].as_str().unwrap().to_owned()))
        .collect();
    let expected = [("bad", "invalid"), ("status", "on"), ("own", "not trusted")];
    assert_eq!(states, expected.map(|(name, state)| (name.to_owned(), state.to_owned())));
    let (_, error, code) = run(&user, &["tools", "test", "own", "--yes"]);
    assert!(code != 0 && error.contains("not trusted"), "{error}");
    assert_eq!(run(&user, &["tools", "disable", "status"]).2, 0);
    let is_off =
        || run(&user, &["tools"]).0.lines().any(|line| line.starts_with("status ") && line.contains(" off · "));
    assert!(is_off());
    assert_eq!(run(&user, &["tools", "enable", "status"]).2, 0);
    assert!(!is_off());
    assert!(run(&user, &["tools", "disable", "read_file"]).1.contains("built in"));
    let (out, _, _) = run(&user, &["doctor"]);
    assert!(out.contains("bad.toml:3: method must be one of"), "{out}");
}

#[test]
fn a_tool_is_tested_after_approval_only() {
    let server = WebServer::with_responses(&[&json_response("200 OK", "{\"state\":\"green\"}")]);
    let user = user_with_tool(vec![], "ticket.toml", &ticket_tool(&server.url("/q")));
    let arguments = ["tools", "test", "create_ticket", "queue=a b", "title=t"];
    let (out, error, code) = run(&user, &arguments);
    assert!(code != 0 && out.contains("/q/a%20b") && error.contains("--yes"), "{out} {error}");
    assert_eq!(server.connection_count(), 0, "sent without approval");
    let (_, error, _) = run(&user, &["tools", "test", "create_ticket", "queue=a", "title=t", "customer_id=8", "--yes"]);
    assert!(error.contains("no argument “customer_id”"), "{error}");
    let mut program = crate::support::program::Setup::with_home(&user.root, &arguments).size(100, 30).start();
    let screen = program.until("type yes:");
    assert!(screen.contains("\"customer_id\": 7"), "{screen}");
    assert_eq!(server.connection_count(), 0);
    program.press_keys("yes\r");
    program.until("\"state\": \"green\"");
    assert_eq!(program.wait_for_exit(), 0);
    assert_eq!(server.connection_count(), 1);
}

#[test]
fn exported_tools_are_imported_and_new_ones_written_without_replacing_any() {
    let user = User::new(vec![]);
    let export = json!({
        "name": "Book!", "category": "http_api",
        "definition": { "type": "http_api", "schema_version": 1, "config": {
            "method": "POST", "url": "https://h.example/x", "timeout_ms": null, "customMessage": "One moment",
            "parameters": [{ "name": "day", "type": "string", "description": "Day", "required": true }],
        } },
    });
    user.write_file("export.json", &export.to_string());
    let (out, error, code) = run(&user, &["tools", "import", "export.json"]);
    assert!(code == 0 && out.contains("book.toml") && out.contains("customMessage has no effect"), "{out} {error}");
    assert!(run(&user, &["tools", "show", "book"]).0.contains("sends POST https://h.example/x"));
    assert!(run(&user, &["tools", "import", "export.json"]).1.contains("exists already"));
    assert_eq!(run(&user, &["tools", "new", "My weather"]).2, 0);
    assert!(run(&user, &["tools", "new", "my weather"]).1.contains("exists already"));
    assert_eq!(run(&user, &["tools", "check"]).2, 0);
    assert!(run(&user, &["tools"]).0.contains("my_weather"));
}
