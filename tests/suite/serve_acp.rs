//! `aye serve --acp`: turns, approvals, questions, cancellation, hostile messages and exits, over real pipes.

use crate::mcp_servers::user_with;
use crate::overlay_sandbox_escapes::has_overlay_sandbox;
use crate::support::acp_client::{AcpClient, reply_text, updates_of_kind};
use crate::support::mcp_client::McpClient;
use crate::support::program::{Setup, count_sleeping, unique_sleep_seconds, wait_until_none_sleeps};
use crate::support::service::{Answer, Service, Step};
use crate::support::stored_files::{read_entries, write_settings};
use crate::support::terminal_session::{calls_answer_after, command_answer, text_answer};
use crate::support::user::User;
use aye::chat::{Decider, Decision, Entry, Outcome};
use serde_json::{Value, json};
use std::fs;
use std::path::Path;
use std::time::Duration;

fn call_answer(tool: &str, arguments: Value) -> Answer {
    calls_answer_after(Duration::ZERO, &[(tool, arguments)])
}

/// A user whose model writes `new.txt` and ends the turn.
fn writing_user() -> User {
    let write = call_answer("write_file", json!({ "path": "new.txt", "content": "one\ntwo\n" }));
    user_with(vec![write, text_answer("Done.")], "")
}

/// The decisions in a session, with their deciders.
fn decisions(user: &User) -> Vec<(Decision, Decider)> {
    let decision = |entry: Entry| match entry {
        Entry::Decided { decision, by, .. } => Some((decision, by)),
        _ => None,
    };
    read_entries(user.root.path()).into_iter().filter_map(decision).collect()
}

fn outcomes(user: &User) -> Vec<Outcome> {
    let outcome = |entry: Entry| if let Entry::Settled { outcome, .. } = entry { Some(outcome) } else { None };
    read_entries(user.root.path()).into_iter().filter_map(outcome).collect()
}

#[test]
fn the_handshake_names_the_program_and_what_it_accepts() {
    let user = user_with(vec![text_answer("Hi")], "");
    let mut client = AcpClient::start(&user, &[]);
    let response = client.request("initialize", json!({ "protocolVersion": 7 }));
    let result = &response["result"];
    assert_eq!((&result["protocolVersion"], &result["agentInfo"]["name"]), (&json!(1), &json!("aye")), "{response}");
    assert_eq!(result["agentInfo"]["version"], env!("CARGO_PKG_VERSION"));
    let capabilities = &result["agentCapabilities"];
    assert_eq!(capabilities["promptCapabilities"]["embeddedContext"], true);
    assert_eq!(capabilities["promptCapabilities"]["image"], false);
    assert_eq!(capabilities["loadSession"], true);
    assert_eq!(result["authMethods"], json!([]));
    client.close_input();
    assert_eq!(client.wait_for_exit(), 0);
}

#[test]
fn a_reply_is_streamed_and_the_session_is_stored() {
    let reasoning = json!({ "choices": [{ "index": 0, "delta": { "reasoning_content": "Hmm." } }] });
    let streamed = Answer::stream().event(reasoning).text("Hello ").text("there\u{1B}[2J.").finish("stop").done();
    let user = user_with(vec![streamed, text_answer("Again.")], "");
    let mut client = AcpClient::start(&user, &[]);
    let session = client.open_session(&user);
    let prompt = client.send_prompt(&session, "say hello");
    assert_eq!(client.stop_reason(prompt), "end_turn");
    let updates = client.updates(&session);
    assert_eq!(reply_text(&updates), "Hello there<U+001B>[2J.");
    assert_eq!(updates_of_kind(&updates, "agent_thought_chunk")[0]["content"]["text"], "Hmm.");
    let prompt = client.send_prompt(&session, "and again");
    assert_eq!(client.stop_reason(prompt), "end_turn");
    assert_eq!(reply_text(&client.updates(&session)), "Again.");
    let request = &user.service.received()[1].body["messages"];
    assert!(request.to_string().contains("say hello") && request.to_string().contains("and again"), "{request}");
    client.close_input();
    assert_eq!(client.wait_for_exit(), 0);
    let (list, _, _) = user.run_headless(&["sessions", "list", "-C", user.project().to_str().unwrap()]);
    assert!(list.contains("say hello"), "{list}");
}

#[test]
fn an_approved_edit_is_shown_as_a_diff_and_written() {
    let edit = call_answer("edit_file", json!({ "path": "a.txt", "old_text": "two", "new_text": "2" }));
    let user = user_with(vec![edit, text_answer("Done.")], "").with_project_file("a.txt", "one\ntwo\n");
    let mut client = AcpClient::start(&user, &[]);
    let session = client.open_session(&user);
    let prompt = client.send_prompt(&session, "edit");
    let asked = client.asked();
    assert_eq!(asked.option_ids(), ["allow_once", "allow_session", "deny"]);
    let call = serde_json::to_value(&asked.request.tool_call).unwrap();
    let file = user.project().join("a.txt");
    assert_eq!((&call["kind"], &call["locations"][0]["path"]), (&json!("edit"), &json!(file)), "{call}");
    let diff = &call["content"][0];
    assert_eq!(diff["type"], "diff");
    assert_eq!((&diff["oldText"], &diff["newText"]), (&json!("one\ntwo\n"), &json!("one\n2\n")));
    assert!(asked.title().ends_with(": a.txt"), "{}", asked.title());
    assert_eq!(fs::read_to_string(&file).unwrap(), "one\ntwo\n", "nothing is written before the approval");
    client.select(&asked, "allow_once");
    assert_eq!(client.stop_reason(prompt), "end_turn");
    assert_eq!(fs::read_to_string(&file).unwrap(), "one\n2\n");
    let updates = client.updates(&session);
    let id = &call["toolCallId"];
    assert_eq!(updates_of_kind(&updates, "tool_call")[0]["toolCallId"], *id);
    let changes = updates_of_kind(&updates, "tool_call_update");
    let statuses: Vec<&Value> =
        changes.iter().map(|change| &change["status"]).filter(|status| !status.is_null()).collect();
    assert_eq!(statuses, ["in_progress", "completed"]);
    assert_eq!(changes.last().unwrap()["content"][0], *diff, "the result keeps the diff");
    assert_eq!(decisions(&user), [(Decision::Once, Decider::Client)]);
}

#[test]
fn an_approval_does_not_run_once_the_file_has_changed() {
    let edit = call_answer("edit_file", json!({ "path": "a.txt", "old_text": "two", "new_text": "2" }));
    let user = user_with(vec![edit, text_answer("Done.")], "").with_project_file("a.txt", "one\ntwo\n");
    let mut client = AcpClient::start(&user, &[]);
    let session = client.open_session(&user);
    let prompt = client.send_prompt(&session, "edit");
    let asked = client.asked();
    user.write_file("a.txt", "two and more\n");
    client.select(&asked, "allow_once");
    assert_eq!(client.stop_reason(prompt), "end_turn");
    assert_eq!(fs::read_to_string(user.project().join("a.txt")).unwrap(), "two and more\n");
    assert!(matches!(&outcomes(&user)[..], [Outcome::Failed(_)]), "{:?}", outcomes(&user));
}

#[test]
fn everything_but_an_offered_approval_is_a_denial() {
    let select = |option: &str| json!({ "outcome": { "outcome": "selected", "optionId": option } });
    for (answer, decider) in [
        (Some(select("deny")), Decider::Client),
        (Some(select("allow_everything")), Decider::Headless),
        (Some(select("")), Decider::Headless),
        (Some(json!({ "outcome": { "outcome": "cancelled" } })), Decider::Headless),
        (Some(json!({ "outcome": { "outcome": "approved", "optionId": "allow_once" } })), Decider::Headless),
        (Some(json!("allow_once")), Decider::Headless),
        (None, Decider::Headless),
    ] {
        let user = writing_user();
        let mut client = AcpClient::start(&user, &[]);
        let session = client.open_session(&user);
        let prompt = client.send_prompt(&session, "write");
        let asked = client.asked();
        match &answer {
            Some(result) => client.answer(&asked, result.clone()),
            None => client.answer_with_error(&asked),
        }
        assert_eq!(client.stop_reason(prompt), "end_turn", "the model is told, and ends the turn");
        // A second answer comes too late.
        client.select(&asked, "allow_once");
        assert_eq!(client.request("session/x", json!({}))["error"]["code"], -32601);
        assert!(!user.project().join("new.txt").exists(), "{answer:?}");
        assert_eq!(decisions(&user), [(Decision::Deny(String::new()), decider)], "{answer:?}");
        let changes = updates_of_kind(&client.updates(&session), "tool_call_update");
        assert_eq!(changes.last().unwrap()["status"], "failed");
    }
}

#[test]
fn an_approval_for_the_session_covers_the_next_equal_call_only_in_that_session() {
    let command = "touch marker-$(date +%N)";
    let replies = vec![
        command_answer(command),
        command_answer(command),
        text_answer("Done."),
        command_answer(command),
        text_answer("Done."),
    ];
    let user = user_with(replies, "");
    let mut client = AcpClient::start(&user, &[]);
    let session = client.open_session(&user);
    let prompt = client.send_prompt(&session, "run it twice");
    let asked = client.asked();
    assert_eq!(asked.option_ids(), ["allow_once", "allow_session", "deny"]);
    client.select(&asked, "allow_session");
    assert_eq!(client.stop_reason(prompt), "end_turn");
    assert_eq!(fs::read_dir(user.project()).unwrap().count(), 2, "the second call was not asked about");
    let other = client.open_session(&user);
    let prompt = client.send_prompt(&other, "run it");
    let asked = client.asked();
    assert_eq!(*asked.request.session_id.0, *other);
    client.select(&asked, "deny");
    assert_eq!(client.stop_reason(prompt), "end_turn");
    assert_eq!(fs::read_dir(user.project()).unwrap().count(), 2);
}

#[test]
fn no_approval_for_the_session_is_offered_where_a_rule_asks() {
    let command = "touch marker";
    let user = user_with(vec![command_answer(command), text_answer("Done.")], "");
    fs::write(user.path("home/aye/config/rules.toml"), "[[rule]]\nverdict = \"ask\"\nprefix = \"touch\"\n").unwrap();
    let mut client = AcpClient::start(&user, &[]);
    let session = client.open_session(&user);
    let prompt = client.send_prompt(&session, "run it");
    let asked = client.asked();
    assert_eq!(asked.option_ids(), ["allow_once", "deny"]);
    client.select(&asked, "allow_session");
    assert_eq!(client.stop_reason(prompt), "end_turn");
    assert!(!user.project().join("marker").exists());
}

#[test]
fn a_finished_trial_is_described_and_names_what_it_destroys() {
    if !has_overlay_sandbox() {
        return;
    }
    let answers = vec![command_answer("sh work.sh"), text_answer("Done.")];
    let user = user_with(answers, "")
        .with_project_file("precious.txt", "only here\n")
        .with_project_file("work.sh", "echo new > kept.txt; rm precious.txt\n");
    let mut client = AcpClient::start(&user, &["--mode", "auto"]);
    let session = client.open_session(&user);
    let prompt = client.send_prompt(&session, "go");
    let asked = client.asked();
    assert_eq!(asked.option_ids(), ["allow_once", "deny"], "no grant for what destroys");
    let content = asked.content();
    for part in ["Tried without effect: exit 0", "kept.txt", "Warning: destroys precious.txt"] {
        assert!(content.contains(part), "{part}: {content}");
    }
    assert!(user.project().join("precious.txt").exists(), "nothing is real before the approval");
    client.select(&asked, "allow_once");
    assert_eq!(client.stop_reason(prompt), "end_turn");
    assert!(!user.project().join("precious.txt").exists() && user.project().join("kept.txt").exists());
}

#[test]
fn the_request_for_a_command_has_all_that_the_approval_prompt_shows() {
    let command = "rm -r build # ```\u{202E}\u{1B}]0;x\u{7}";
    let user = user_with(vec![command_answer(command), text_answer("Done.")], "").with_project_file("build/x", "");
    let mut client = AcpClient::start(&user, &[]);
    let session = client.open_session(&user);
    let prompt = client.send_prompt(&session, "clean");
    let asked = client.asked();
    let content = asked.content();
    for part in [
        "````",
        "rm -r build",
        "<U+202E><U+001B>]0;x<U+0007>",
        "Warning: deletes",
        "Effect:",
        "timeout",
        "network",
        "Reason:",
    ] {
        assert!(content.contains(part), "{part}: {content}");
    }
    assert!(asked.title().starts_with("Run a command: rm -r build"), "{}", asked.title());
    for text in [asked.title(), content, serde_json::to_string(&asked.request.options).unwrap()] {
        assert!(!text.chars().any(|c| c == '\u{202E}' || c == '\u{1B}') && !text.contains("\\u001b"), "{text}");
    }
    assert_eq!(asked.option_ids(), ["allow_once", "deny"], "what destroys is never allowed for a session");
    assert!(asked.request.options[0].name.contains("(deletes "), "{:?}", asked.request.options);
    client.select(&asked, "allow_session");
    assert_eq!(client.stop_reason(prompt), "end_turn");
    assert!(user.project().join("build/x").exists());
    let updates = serde_json::to_string(&client.updates(&session)).unwrap();
    assert!(!updates.contains('\u{202E}') && !updates.contains("\\u001b"), "{updates}");
}

#[test]
fn cancelling_settles_the_request_for_a_permission_and_runs_nothing() {
    let user = writing_user();
    let mut client = AcpClient::start(&user, &[]);
    let session = client.open_session(&user);
    let prompt = client.send_prompt(&session, "write");
    let asked = client.asked();
    client.cancel(&session);
    assert_eq!(client.stop_reason(prompt), "cancelled");
    client.select(&asked, "allow_once");
    let prompt = client.send_prompt(&session, "what now?");
    assert_eq!(client.stop_reason(prompt), "end_turn", "the session goes on");
    assert!(!user.project().join("new.txt").exists());
    assert!(matches!(&outcomes(&user)[..], [Outcome::Interrupted(_)]), "{:?}", outcomes(&user));
}

#[test]
fn cancelling_stops_a_reply_and_a_running_command() {
    let seconds = unique_sleep_seconds();
    let stalled = Answer::stream().text("I begin").with_step(Step::Stall);
    let user = user_with(vec![stalled, command_answer(&format!("sleep {seconds}")), text_answer("Done.")], "");
    let mut client = AcpClient::start(&user, &[]);
    let session = client.open_session(&user);
    let prompt = client.send_prompt(&session, "go");
    client.find(|message| message["params"]["update"]["content"]["text"] == "I begin");
    client.cancel(&session);
    assert_eq!(client.stop_reason(prompt), "cancelled");
    let prompt = client.send_prompt(&session, "run it");
    let asked = client.asked();
    client.select(&asked, "allow_once");
    while count_sleeping(seconds) == 0 {
        std::thread::sleep(Duration::from_millis(10));
    }
    client.cancel(&session);
    assert_eq!(client.stop_reason(prompt), "cancelled");
    wait_until_none_sleeps(seconds);
}

#[test]
fn an_editor_that_disconnects_runs_nothing_and_ends_the_program() {
    let seconds = unique_sleep_seconds();
    let user = writing_user();
    let mut client = AcpClient::start(&user, &[]);
    let session = client.open_session(&user);
    client.send_prompt(&session, "write");
    client.asked();
    client.close_input();
    assert_eq!(client.wait_for_exit(), 0);
    assert!(!user.project().join("new.txt").exists());
    assert!(matches!(&outcomes(&user)[..], [Outcome::Interrupted(_)]), "{:?}", outcomes(&user));
    // The same while a command runs.
    let user = user_with(vec![command_answer(&format!("sleep {seconds}"))], "");
    let mut client = AcpClient::start(&user, &[]);
    let session = client.open_session(&user);
    client.send_prompt(&session, "run");
    let asked = client.asked();
    client.select(&asked, "allow_once");
    while count_sleeping(seconds) == 0 {
        std::thread::sleep(Duration::from_millis(10));
    }
    client.close_input();
    assert_eq!(client.wait_for_exit(), 0);
    wait_until_none_sleeps(seconds);
}

#[test]
fn messages_that_cannot_be_handled_get_errors_and_the_session_goes_on() {
    let user = user_with(vec![text_answer("Fine.")], "");
    let arguments = ["serve", "--acp", "--base-url", &user.service.base_url, "--model", "scripted-7b"];
    let mut early = McpClient::start(&Setup::with_home(&user.root, &arguments));
    let new = json!({ "cwd": user.project(), "mcpServers": [] });
    assert_eq!(early.request("session/new", new.clone())["error"]["code"], -32600, "before the handshake");
    assert_eq!(early.request("initialize", json!({ "protocolVersion": "x" }))["error"]["code"], -32602);
    drop(early);

    let mut client = AcpClient::start(&user, &[]);
    let session = client.open_session(&user);
    for line in ["{", "[]", "\u{1}", r#"{"jsonrpc":"2.0","id":1,"id":2,"method":"session/new"}"#, &"x".repeat(9 << 20)]
    {
        client.send_line(line);
        assert!([-32700, -32600].contains(&client.error_code()), "{:.20}", line);
    }
    client.send_line(&json!({ "jsonrpc": "2.0", "id": 99_999, "result": {} }).to_string());
    client.send_line(
        &json!({ "jsonrpc": "2.0", "method": "session/cancel", "params": { "sessionId": "x" } }).to_string(),
    );
    let text = json!([{ "type": "text", "text": "go" }]);
    let image = json!([{ "type": "image", "data": "AAAA", "mimeType": "image/png" }]);
    for (method, parameters, code, reason) in [
        ("session/fork", json!({}), -32601, "method"),
        ("session/new", json!({ "cwd": "src", "mcpServers": [] }), -32602, "absolute"),
        ("session/new", json!({ "cwd": "/absent/folder", "mcpServers": [] }), -32602, "existing"),
        ("session/new", json!({ "cwd": 1 }), -32602, "cannot be read"),
        ("session/prompt", json!({ "sessionId": "x", "prompt": text }), -32602, "no open session"),
        ("session/prompt", json!({ "sessionId": session, "prompt": [] }), -32602, "no text"),
        ("session/prompt", json!({ "sessionId": session, "prompt": image }), -32602, "image"),
        ("session/close", json!({ "sessionId": "x" }), -32602, "no open session"),
    ] {
        let error = client.request(method, parameters)["error"].clone();
        assert_eq!(error["code"], code, "{method}: {error}");
        assert!(error["message"].as_str().unwrap().contains(reason), "{method}: {error}");
    }
    let prompt = client.send_prompt(&session, "go");
    assert_eq!(client.stop_reason(prompt), "end_turn");
    let response = client.request("session/close", json!({ "sessionId": session }));
    assert_eq!(response["result"], json!({}));
    let error = client.request("session/prompt", json!({ "sessionId": session, "prompt": text }))["error"].clone();
    assert_eq!(error["code"], -32602, "the session is closed: {error}");
}

#[test]
fn a_failure_of_the_provider_is_an_error_and_the_session_stays_usable() {
    let refused = Answer::body(401, "application/json", &[], r#"{"error":{"message":"bad key"}}"#);
    let cut = Answer::stream().text("half").finish("length").done();
    let user = user_with(vec![refused, text_answer("Fine."), cut], "");
    let mut client = AcpClient::start(&user, &[]);
    let session = client.open_session(&user);
    let prompt = client.send_prompt(&session, "go");
    let error = client.response(prompt)["error"].clone();
    assert!(error["message"].as_str().unwrap().contains("bad key"), "{error}");
    let prompt = client.send_prompt(&session, "again");
    assert_eq!(client.stop_reason(prompt), "end_turn");
    let prompt = client.send_prompt(&session, "long");
    assert_eq!(client.stop_reason(prompt), "max_tokens");
}

#[test]
fn sessions_run_in_parallel_and_each_has_one_turn_at_a_time() {
    let mut user = user_with(vec![], "");
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let write = |name: &str| call_answer("write_file", json!({ "path": name, "content": "x\n" }));
    user.service = runtime.block_on(Service::start_parallel([
        ("first", vec![write("1.txt"), text_answer("First done.")]),
        ("second", vec![write("2.txt"), text_answer("Second done.")]),
    ]));
    let mut client = AcpClient::start(&user, &[]);
    let (first, second) = (client.open_session(&user), client.open_session(&user));
    assert_ne!(first, second);
    let first_prompt = client.send_prompt(&first, "first");
    let first_asked = client.asked();
    let second_prompt = client.send_prompt(&second, "second");
    let second_asked = client.asked();
    let busy = client.send_prompt(&first, "more");
    let error = client.response(busy)["error"].clone();
    assert_eq!(error["code"], -32600, "{error}");
    assert_eq!((&*first_asked.request.session_id.0, &*second_asked.request.session_id.0), (&*first, &*second));
    client.select(&second_asked, "allow_once");
    assert_eq!(client.stop_reason(second_prompt), "end_turn");
    assert!(!user.project().join("1.txt").exists() && user.project().join("2.txt").exists());
    client.select(&first_asked, "deny");
    assert_eq!(client.stop_reason(first_prompt), "end_turn");
    assert_eq!(reply_text(&client.updates(&first)), "First done.");
    assert_eq!(reply_text(&client.updates(&second)), "Second done.");
    assert!(!user.project().join("1.txt").exists());
}

#[test]
fn a_dry_run_leaves_the_project_untouched_and_says_so() {
    let user = writing_user();
    let mut client = AcpClient::start(&user, &["--dry-run"]);
    let session = client.open_session(&user);
    let prompt = client.send_prompt(&session, "write");
    assert_eq!(client.stop_reason(prompt), "end_turn");
    let updates = client.updates(&session);
    for kind in ["tool_call", "tool_call_update"] {
        for update in updates_of_kind(&updates, kind).iter().filter(|update| !update["title"].is_null()) {
            assert!(update["title"].as_str().unwrap().starts_with("[dry run] "), "{update}");
        }
    }
    assert_eq!(updates_of_kind(&updates, "tool_call_update").last().unwrap()["status"], "completed");
    assert!(matches!(&outcomes(&user)[..], [Outcome::Rehearsed(_)]), "{:?}", outcomes(&user));
    assert!(!user.project().join("new.txt").exists());
}

#[test]
fn a_question_with_a_choice_is_a_request_and_any_other_is_answered_by_the_next_prompt() {
    let questions = json!({ "questions": [
        { "question": "Which clock?", "keyword": "clock", "options": [{ "label": "trait" }, { "label": "fake" }] },
        { "question": "Which name?", "keyword": "name" },
    ] });
    let user = user_with(vec![call_answer("ask_question", questions), text_answer("Thanks.")], "");
    let mut client = AcpClient::start(&user, &[]);
    let session = client.open_session(&user);
    let prompt = client.send_prompt(&session, "ask me");
    let asked = client.asked();
    assert_eq!(asked.title(), "Question: Which clock?");
    assert_eq!(asked.option_ids(), ["option-0", "option-1", "own_words", "skip"]);
    client.select(&asked, "option-1");
    assert_eq!(client.stop_reason(prompt), "end_turn", "the second question waits for the next prompt");
    assert!(reply_text(&client.updates(&session)).contains("Which name?"));
    assert_eq!(user.service.received().len(), 1);
    let prompt = client.send_prompt(&session, "Ada");
    assert_eq!(client.stop_reason(prompt), "end_turn");
    assert_eq!(reply_text(&client.updates(&session)), "Thanks.");
    let [Outcome::Done(result)] = &outcomes(&user)[..] else { panic!() };
    let result: Value = serde_json::from_str(result).unwrap();
    assert_eq!((&result["answers"][0]["answer"], &result["answers"][1]["answer"]), (&json!("fake"), &json!("Ada")));
}

#[test]
fn a_question_that_is_not_answered_is_reported_as_such() {
    let questions = json!({ "questions": [
        { "question": "Which clock?", "keyword": "clock", "options": [{ "label": "trait" }, { "label": "fake" }] },
    ] });
    let user = user_with(vec![call_answer("ask_question", questions), text_answer("Well.")], "");
    let mut client = AcpClient::start(&user, &[]);
    let session = client.open_session(&user);
    let prompt = client.send_prompt(&session, "ask me");
    let asked = client.asked();
    client.answer_with_error(&asked);
    assert_eq!(client.stop_reason(prompt), "end_turn");
    let [Outcome::Done(result)] = &outcomes(&user)[..] else { panic!() };
    assert!(result.contains("\"status\":\"deferred\""), "{result}");
}

#[test]
fn files_of_a_prompt_are_read_under_the_rules_and_secrets_are_masked() {
    let user = user_with(vec![call_answer("read_file", json!({ "path": "a.rs" })), text_answer("Seen.")], "")
        .with_project_file("a.rs", "fn a() {} // sk-secret-123456\n")
        .with_project_file(".env", "KEY=hidden\n");
    let address = ["serve", "--acp", "--base-url", &user.service.base_url, "--model", "scripted-7b"];
    let setup = Setup::with_home(&user.root, &address).env("OPENAI_API_KEY", "sk-secret-123456");
    let mut client = McpClient::start(&setup);
    client.request("initialize", AcpClient::introduction());
    let new =
        json!({ "cwd": user.project(), "mcpServers": [{ "name": "x", "command": "/bin/x", "args": [], "env": [] }] });
    let session = client.request("session/new", new)["result"]["sessionId"].clone();
    let link = |name: &str| json!({ "type": "resource_link", "name": name, "uri": format!("file://{}/{name}", user.project().display()) });
    let resource = json!({ "uri": "file:///elsewhere/b.rs", "text": "fn b() {} // sk-secret-123456" });
    let hidden = json!({ "uri": format!("file://{}/.env", user.project().display()), "text": "KEY=hidden" });
    let prompt = json!([
        { "type": "text", "text": "compare" }, link("a.rs"), link(".env"), { "type": "resource", "resource": resource },
        { "type": "resource", "resource": hidden },
    ]);
    let response = client.request("session/prompt", json!({ "sessionId": session, "prompt": prompt }));
    assert_eq!(response["result"]["stopReason"], "end_turn", "{response}");
    let message = user.service.received()[0].body["messages"].to_string();
    for part in [
        "compare @a.rs @.env /elsewhere/b.rs .env",
        "[Attached file a.rs",
        "fn a() {}",
        "[Attached file /elsewhere/b.rs",
        "fn b() {}",
        "[Not attached .env",
    ] {
        assert!(message.contains(part), "{part}: {message}");
    }
    assert!(!message.contains("KEY=hidden") && !message.contains("sk-secret"), "{message}");
    let received = serde_json::to_string(client.unread_messages()).unwrap();
    assert!(received.contains("fn a() {}") && !received.contains("sk-secret"), "{received}");
    assert!(received.contains("MCP servers of the editor are not used"), "{received}");
}

#[test]
fn an_untrusted_project_is_ignored_and_the_user_is_told() {
    let user = user_with(vec![text_answer("Hi.")], "").with_project_file("AGENTS.md", "Always say moo.\n");
    let mut client = AcpClient::start(&user, &[]);
    let session = client.open_session(&user);
    let prompt = client.send_prompt(&session, "hello");
    assert_eq!(client.stop_reason(prompt), "end_turn");
    let reply = reply_text(&client.updates(&session));
    assert!(reply.contains("AGENTS.md") && reply.contains("not trusted"), "{reply}");
    assert!(!user.service.received()[0].body.to_string().contains("moo"));
}

#[test]
fn a_session_needs_a_model_and_the_command_line_names_one_protocol() {
    let setup = Setup::new(&["serve", "--acp"]);
    write_settings(&setup, "");
    let mut client = McpClient::start(&setup);
    client.request("initialize", AcpClient::introduction());
    let new = json!({ "cwd": setup.root.path().join("project"), "mcpServers": [] });
    let error = client.request("session/new", new)["error"].clone();
    assert!(error["message"].as_str().unwrap().contains("no model is configured"), "{error}");
    for arguments in [
        &["serve"][..],
        &["serve", "--mcp", "--acp"],
        &["serve", "--mcp", "--dry-run"],
        &["serve", "--mcp", "--model", "x"],
        &["serve", "--acp", "-C", "/"],
    ] {
        let (out, err, code) = Setup::with_home(&setup.root, arguments).run_piped("");
        assert_eq!((out.as_str(), code), ("", 2), "{arguments:?}: {err}");
    }
}

#[test]
fn a_stored_session_is_loaded_with_its_history_and_goes_on() {
    let user = writing_user();
    let mut client = AcpClient::start(&user, &[]);
    let session = client.open_session(&user);
    let prompt = client.send_prompt(&session, "write a file");
    let asked = client.asked();
    client.select(&asked, "allow_once");
    assert_eq!(client.stop_reason(prompt), "end_turn");
    client.close_input();
    assert_eq!(client.wait_for_exit(), 0);
    let user = user.with_answers(vec![text_answer("Still here.")]);
    let mut client = AcpClient::start(&user, &[]);
    let load = |session: &str, folder: &Path| json!({ "sessionId": session, "cwd": folder, "mcpServers": [] });
    for (id, folder) in [("01ABSENT", user.project()), (&session[..20], user.project()), (&session, user.path("home"))]
    {
        let error = client.request("session/load", load(id, &folder))["error"].clone();
        assert!(error["message"].as_str().is_some(), "{id}: {error}");
    }
    let response = client.request("session/load", load(&session, &user.project()));
    assert_eq!(response["result"], json!({}), "{response}");
    let updates = client.updates(&session);
    assert_eq!(updates_of_kind(&updates, "user_message_chunk")[0]["content"]["text"], "write a file");
    assert_eq!(updates_of_kind(&updates, "tool_call").len(), 1);
    assert_eq!(updates_of_kind(&updates, "tool_call_update").last().unwrap()["status"], "completed");
    assert_eq!(reply_text(&updates), "Done.");
    assert_eq!(client.request("session/load", load(&session, &user.project()))["error"]["code"], -32600);
    let prompt = client.send_prompt(&session, "are you there?");
    assert_eq!(client.stop_reason(prompt), "end_turn");
    assert_eq!(reply_text(&client.updates(&session)), "Still here.");
    let request = user.service.received()[0].body["messages"].to_string();
    assert!(request.contains("write a file") && request.contains("are you there?"), "{request}");
}

#[test]
fn calls_of_a_sub_agent_are_shown_and_asked_about() {
    let mut user = user_with(vec![], "");
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let task = json!({ "name": "writer", "task": "subtask: write it" });
    let write = json!({ "path": "new.txt", "content": "x\n" });
    user.service = runtime.block_on(Service::start_parallel([
        ("subtask", vec![call_answer("write_file", write), text_answer("Written.")]),
        ("delegate", vec![call_answer("sub_agent", task), text_answer("All done.")]),
    ]));
    let mut client = AcpClient::start(&user, &[]);
    let session = client.open_session(&user);
    let prompt = client.send_prompt(&session, "delegate");
    let asked = client.asked();
    assert!(asked.content().contains("sub-agent writer"), "{}", asked.content());
    client.select(&asked, "allow_once");
    assert_eq!(client.stop_reason(prompt), "end_turn");
    assert!(user.project().join("new.txt").exists());
    let updates = client.updates(&session);
    assert_eq!(updates_of_kind(&updates, "tool_call").len(), 2);
    assert_eq!(reply_text(&updates), "All done.", "the reply of the sub-agent is the result of its call");
}

#[test]
fn the_todo_list_is_the_plan_of_the_editor() {
    let todos = json!({ "todos": [
        { "content": "Read", "activeForm": "Reading", "status": "completed" },
        { "content": "Write", "activeForm": "Writing", "status": "in_progress" },
    ] });
    let user = user_with(vec![call_answer("todo_write", todos), text_answer("Done.")], "");
    let mut client = AcpClient::start(&user, &[]);
    let session = client.open_session(&user);
    let prompt = client.send_prompt(&session, "plan");
    assert_eq!(client.stop_reason(prompt), "end_turn");
    let plans = updates_of_kind(&client.updates(&session), "plan");
    let entries = plans[0]["entries"].as_array().unwrap();
    let entries: Vec<(&Value, &Value)> = entries.iter().map(|entry| (&entry["content"], &entry["status"])).collect();
    assert_eq!(entries, [(&json!("Read"), &json!("completed")), (&json!("Write"), &json!("in_progress"))]);
}
