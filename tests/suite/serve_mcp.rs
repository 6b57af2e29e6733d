//! `aye serve --mcp`: reads, denials, questions, hostile messages and exits, over real pipes.

use crate::mcp_servers::{run_turn, user_with};
use crate::support::folder::Folder;
use crate::support::keyboard::PATIENCE;
use crate::support::mcp_client::{McpClient, elicitation};
use crate::support::processes::count_command_lines_with;
use crate::support::program::{Setup, program};
use crate::support::stored_files::{write_script, write_settings};
use crate::support::terminal_session::{calls_answer_after, text_answer};
use aye::chat::{Decider, Entry, Outcome};
use aye::store::read;
use rustix::process::Signal;
use serde_json::{Value, json};
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

fn setup() -> Setup {
    Setup::new(&["serve", "--mcp"]).with_file("src/main.rs", "fn main() {\n    // needle\n}\n")
}

/// Another run in the same home.
fn run(setup: &Setup, arguments: &[&str]) -> String {
    let (out, err, _) = Setup::with_home(&setup.root, arguments).run_piped("");
    out + &err
}

fn write_rules(setup: &Setup, text: &str) {
    write_settings(setup, "");
    fs::write(setup.root.path().join("home/aye/config/rules.toml"), text).unwrap();
}

/// Every read of a file waits for its hook until the file `go` of the project exists.
fn hold_calls(setup: &Setup) -> PathBuf {
    let go = setup.root.path().join("project/go");
    let script = setup.root.path().join("home/hook.sh");
    let line = format!(
        "cat > /dev/null\nwhile [ ! -e '{}' ]; do sleep 0.02; done\necho '{{\"verdict\":\"allow\"}}'",
        go.display()
    );
    write_script(&script, &line);
    write_settings(setup, "[hooks.hold]\ncommand = [\"~/hook.sh\"]\ntools = [\"read_file\"]\nseconds = 60\n");
    go
}

/// The entries of the sessions on disk, oldest session first.
fn read_sessions(root: &Arc<Folder>) -> Vec<Vec<Entry>> {
    let folder = root.path().join("home/aye/data/sessions");
    let mut files: Vec<PathBuf> = fs::read_dir(folder).into_iter().flatten().map(|file| file.unwrap().path()).collect();
    files.retain(|file| file.extension().is_some_and(|extension| extension == "jsonl"));
    files.sort();
    files.iter().map(|file| read(file).unwrap().entries).collect()
}

fn title(entries: &[Entry]) -> Option<String> {
    match entries.first() {
        Some(Entry::Titled { title, .. }) => Some(title.clone()),
        _ => None,
    }
}

/// The served sessions on disk, oldest first, each with its title.
fn sessions(root: &Arc<Folder>) -> Vec<(String, Vec<Entry>)> {
    read_sessions(root).into_iter().map(|entries| (title(&entries).unwrap(), entries)).collect()
}

fn deciders(entries: &[Entry]) -> Vec<Decider> {
    let decider = |entry: &Entry| match entry {
        Entry::Decided { by, .. } => Some(by.clone()),
        Entry::Answered { by, .. } => by.clone(),
        _ => None,
    };
    entries.iter().filter_map(decider).collect()
}

fn settled(entries: &[Entry]) -> Vec<Outcome> {
    let outcome = |entry: &Entry| if let Entry::Settled { outcome, .. } = entry { Some(outcome.clone()) } else { None };
    entries.iter().filter_map(outcome).collect()
}

fn question() -> Value {
    json!({ "questions": [
        { "question": "Which clock?", "keyword": "clock", "options": [{ "label": "trait" }, { "label": "fake" }] },
    ] })
}

#[test]
fn the_tools_read_the_project_and_no_provider_is_needed() {
    let setup = setup();
    let mut client = McpClient::connect(&setup, json!({}));
    let tools = client.request("tools/list", json!({}));
    let tools = tools["result"]["tools"].as_array().unwrap();
    let names: Vec<&str> = tools.iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["read_file", "list_files", "search_text", "ask_question"]);
    assert!(tools.iter().all(|tool| tool["inputSchema"]["type"] == "object"), "{tools:?}");
    let read = client.call("read_file", json!({ "path": "src/main.rs", "start_line": 2, "end_line": 2 }));
    assert!(read.0.starts_with("2\t    // needle"), "{read:?}");
    assert!(!read.1);
    assert_eq!(client.call("list_files", json!({})), ("src/\nsrc/main.rs\n".to_owned(), false));
    assert_eq!(client.call("search_text", json!({ "pattern": "need.e" })).0, "src/main.rs:2:     // needle\n");
    let (text, is_error) = client.call("read_file", json!({ "path": "src/absent.rs" }));
    assert!(is_error && text.contains("src/absent.rs"), "{text}");
    let (text, is_error) = client.call("read_file", json!({ "file": "src/main.rs" }));
    assert!(is_error && text.contains("path (string, required)"), "{text}");
    client.close_input();
    assert_eq!(client.wait_for_exit(), 0);
}

#[test]
fn what_would_ask_is_denied_and_never_put_to_the_client() {
    let setup = setup().with_file(".env", "KEY=1\n").with_file("notes/a.md", "needle\n").with_file("b.txt", "x\n");
    std::os::unix::fs::symlink("/etc/hostname", setup.root.path().join("project/link")).unwrap();
    fs::write(setup.root.path().join("outside.txt"), "needle outside\n").unwrap();
    write_rules(
        &setup,
        "[[rule]]\nverdict = \"deny\"\npath = \"notes/**\"\n[[rule]]\nverdict = \"ask\"\npath = \"b.txt\"\n",
    );
    // The client could answer forms for its user, so it must not receive any for an approval.
    let mut client = McpClient::connect(&setup, elicitation());
    for path in [".env", "../outside.txt", "link", "/etc/hostname", "b.txt", "~/.ssh/id_ed25519"] {
        let (text, is_error) = client.call("read_file", json!({ "path": path }));
        assert!(is_error && text.contains("no interactive user is available"), "{path}: {text}");
        assert!(text.contains("Approval needed: "), "{path}: {text}");
    }
    let (text, is_error) = client.call("read_file", json!({ "path": "notes/a.md" }));
    assert!(is_error && text.contains("Refused by a rule of the user: deny notes/**"), "{text}");
    let (text, _) = client.call("search_text", json!({ "pattern": "needle|KEY" }));
    assert!(text.contains("src/main.rs:2") && !text.contains("notes/a.md:") && !text.contains("KEY=1"), "{text}");
    let (text, is_error) = client.call("list_files", json!({ "path": ".." }));
    assert!(is_error && text.contains("Approval needed: "), "{text}");
    assert_eq!(client.unread_messages(), [] as [Value; 0], "nothing was put to the client");
    // A rule is read again before each call, and a rule that names a file allows it.
    write_rules(&setup, "[[rule]]\nverdict = \"allow\"\ntool = \"read_file\"\npath = \".env\"\n");
    assert_eq!(client.call("read_file", json!({ "path": ".env" })), ("1\tKEY=1\n".to_owned(), false));
    let [(_, entries)] = &sessions(&setup.root)[..] else { panic!() };
    assert_eq!(deciders(entries), vec![Decider::Headless; 7]);
}

#[test]
fn tools_that_change_something_are_unknown() {
    let setup = setup();
    let mut client = McpClient::connect(&setup, json!({}));
    let tools =
        ["bash_exec", "write_file", "edit_file", "sub_agent", "restore_files", "run_tool", "web_fetch", "", "x"];
    for tool in tools {
        let arguments = json!({ "command": "touch made", "path": "made", "content": "", "name": "write_file" });
        let id = client.send_call(tool, arguments);
        assert_eq!(client.response(id)["error"]["code"], -32602, "{tool}");
    }
    assert!(!setup.root.path().join("project/made").exists());
    assert_eq!(sessions(&setup.root).len(), 0, "nothing reached a session");
}

#[test]
fn a_question_is_answered_by_the_client_for_its_user() {
    let setup = setup();
    let mut client = McpClient::connect(&setup, elicitation());
    let replies = [
        (
            json!({ "result": { "action": "accept", "content": { "question_1": "fake" } } }),
            "\"answer\":\"fake\"",
            false,
        ),
        (json!({ "result": { "action": "decline" } }), "\"status\":\"declined\"", false),
        (json!({ "result": { "action": "accept", "content": { "question_1": "sundial" } } }), "does not fit", true),
        (json!({ "error": { "code": -1, "message": "no window" } }), "could not ask: no window", true),
    ];
    for (reply, expected, is_error) in replies {
        let call = client.send_call("ask_question", question());
        let mut request = client.find_method("elicitation/create");
        assert_eq!(request["params"]["message"], "Which clock?");
        let field = &request["params"]["requestedSchema"]["properties"]["question_1"];
        assert_eq!(field["enum"], json!(["trait", "fake"]));
        // Reads go on meanwhile.
        assert!(!client.call("list_files", json!({})).1);
        let mut response = json!({ "jsonrpc": "2.0", "id": request["id"].take() });
        response.as_object_mut().unwrap().extend(reply.as_object().unwrap().clone());
        client.send(&response);
        let (text, was_error) = client.result(call);
        assert!(text.contains(expected) && was_error == is_error, "{text}");
        // A second response has no effect.
        client.send(&response);
    }
    let stored = sessions(&setup.root);
    let titles: Vec<&str> = stored.iter().map(|(title, _)| title.as_str()).collect();
    assert_eq!(titles, ["Questions of test2J-client (aye serve)", "Calls of test2J-client (aye serve)"]);
    assert_eq!(deciders(&stored[0].1), [Decider::Client, Decider::Client, Decider::Headless, Decider::Headless]);
    assert!(run(&setup, &["audit", &session_id(&setup, 0)]).contains("the client of aye serve answered"));
}

fn session_id(setup: &Setup, index: usize) -> String {
    let list = run(setup, &["sessions", "list", "--json"]);
    let mut ids: Vec<String> = list
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap()["session"].as_str().unwrap().to_owned())
        .collect();
    ids.sort();
    ids.swap_remove(index)
}

#[test]
fn a_client_without_forms_gets_no_question() {
    let setup = setup();
    let mut client = McpClient::connect(&setup, json!({ "elicitation": { "url": {} } }));
    let (text, is_error) = client.call("ask_question", question());
    assert!(is_error && text.contains("\"status\":\"deferred\"") && text.contains("capability elicitation"), "{text}");
    assert_eq!(client.unread_messages(), [] as [Value; 0]);
}

#[test]
fn messages_that_cannot_be_read_get_an_error_and_nothing_stops() {
    let setup = setup();
    let mut client = McpClient::start(&setup);
    assert_eq!(client.request("tools/list", json!({}))["error"]["code"], -32600, "before the handshake");
    assert_eq!(client.request("ping", json!({}))["result"], json!({}));
    client.request("initialize", McpClient::introduction(json!({})));
    assert_eq!(client.request("initialize", json!({}))["error"]["code"], -32600);
    let deep = format!("{{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":{}1{}}}", "[".repeat(100_000), "]".repeat(100_000));
    let long = "x".repeat(3 << 20);
    for (line, code) in [
        ("nonsense", -32700),
        ("{\"jsonrpc\":\"2.0\"", -32700),
        ("\u{1}\u{2}", -32700),
        (deep.as_str(), -32700),
        (long.as_str(), -32600),
        ("[]", -32600),
        ("{\"jsonrpc\":\"2.0\",\"id\":null,\"method\":\"ping\"}", -32600),
        ("{\"jsonrpc\":\"1.0\",\"method\":\"ping\"}", -32600),
    ] {
        client.send_line(line);
        assert_eq!(client.error_code(), code, "{}", &line[..line.len().min(80)]);
    }
    client.send_line("");
    client.send_line("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/unknown\",\"params\":[1]}");
    client.send_line("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":{}}}");
    client.send_line("{\"jsonrpc\":\"2.0\",\"id\":99,\"result\":{\"action\":\"accept\"}}");
    assert_eq!(client.request("resources/list", json!({}))["error"]["code"], -32601);
    let huge = json!({ "name": "read_file", "arguments": { "path": "x".repeat(300 << 10) } });
    assert_eq!(client.request("tools/call", huge)["error"]["code"], -32602);
    for parameters in [json!({ "name": "read_file", "arguments": ["src/main.rs"] }), json!({}), json!("read_file")] {
        assert_eq!(client.request("tools/call", parameters)["error"]["code"], -32602);
    }
    assert!(!client.call("list_files", json!({})).1, "it still serves");
    assert_eq!(client.unread_messages(), [] as [Value; 0]);
}

#[test]
fn a_flood_of_calls_is_bounded_and_a_cancelled_call_gets_no_response() {
    let setup = setup();
    let go = hold_calls(&setup);
    let mut client = McpClient::connect(&setup, json!({}));
    let ids: Vec<u64> = (0..200).map(|_| client.send_call("read_file", json!({ "path": "src/main.rs" }))).collect();
    // One runs and 32 wait. Those beyond get an error at once.
    for id in &ids[33..] {
        assert_eq!(client.response(*id)["error"]["code"], -32000);
    }
    // An ID that is in use is refused, with an error that is not taken for the response of the call.
    client.send(&json!({ "jsonrpc": "2.0", "id": ids[0], "method": "ping" }));
    assert_eq!(client.error_code(), -32600);
    for id in [ids[0], ids[5]] {
        let cancelled = json!({ "requestId": id, "reason": "no longer needed" });
        client.send(&json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": cancelled }));
    }
    assert_eq!(client.request("ping", json!({}))["result"], json!({}), "the cancellations were read");
    fs::write(go, "").unwrap();
    for id in &ids[1..33] {
        if *id != ids[5] {
            assert!(!client.result(*id).1);
        }
    }
    assert_eq!(client.unread_messages(), [] as [Value; 0]);
    let [(_, entries)] = &sessions(&setup.root)[..] else { panic!() };
    let outcomes = settled(entries);
    assert!(matches!(outcomes[0], Outcome::Interrupted(_)), "{:?}", outcomes[0]);
    assert_eq!(outcomes.len(), 32, "the other cancelled call never started");
}

#[test]
fn a_cancelled_question_is_withdrawn() {
    let setup = setup();
    let mut client = McpClient::connect(&setup, elicitation());
    let call = client.send_call("ask_question", question());
    let request = client.find_method("elicitation/create");
    client.send(&json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": call } }));
    let withdrawn = client.find_method("notifications/cancelled");
    assert_eq!(withdrawn["params"]["requestId"], request["id"]);
    // A late answer changes nothing, and the next question has another ID.
    let late = json!({ "jsonrpc": "2.0", "id": request["id"], "result": { "action": "decline" } });
    client.send(&late);
    client.send_call("ask_question", question());
    let next = client.find_method("elicitation/create");
    assert_ne!(next["id"], request["id"]);
    assert_eq!(client.unread_messages(), [] as [Value; 0]);
}

#[test]
fn the_end_of_the_input_ends_it_after_the_calls() {
    let setup = setup();
    let mut client = McpClient::connect(&setup, elicitation());
    let question = client.send_call("ask_question", question());
    client.find_method("elicitation/create");
    let read = client.send_call("read_file", json!({ "path": "src/main.rs" }));
    client.close_input();
    assert!(!client.result(read).1);
    let (text, is_error) = client.result(question);
    assert!(is_error && text.contains("closed the input"), "{text}");
    assert_eq!(client.wait_for_exit(), 0);
    // A program that reads nothing more does not keep it alive.
    let mut client = McpClient::connect(&setup, json!({}));
    client.send_call("list_files", json!({}));
    client.close_input();
    assert_eq!(client.wait_for_exit(), 0);
}

#[test]
fn a_signal_ends_it_and_the_record_says_what_was_interrupted() {
    for (signal, code) in [(Signal::TERM, 143), (Signal::HUP, 129), (Signal::INT, 130), (Signal::KILL, -1)] {
        let setup = setup();
        hold_calls(&setup);
        let mut client = McpClient::connect(&setup, elicitation());
        client.send_call("read_file", json!({ "path": "src/main.rs" }));
        // The question is asked after the call before it has started.
        client.send_call("ask_question", question());
        client.find_method("elicitation/create");
        client.signal(signal);
        assert_eq!(client.wait_for_exit(), code, "{signal:?}");
        let stored = sessions(&setup.root);
        assert_eq!(stored.len(), 2);
        for (title, entries) in stored {
            let interrupted = settled(&entries);
            match signal {
                Signal::KILL => assert_eq!(interrupted, [], "{title}: a later run records the end"),
                _ => assert!(matches!(interrupted[..], [Outcome::Interrupted(_)]), "{title}: {interrupted:?}"),
            }
        }
        assert!(run(&setup, &["sessions"]).contains("Calls of test2J-client"));
    }
}

#[test]
fn a_client_that_does_not_read_neither_fills_memory_nor_prevents_the_end() {
    let setup = setup();
    let mut child = setup.spawn_piped(Stdio::piped());
    let mut input = child.stdin.take().unwrap();
    input.write_all(b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n").unwrap();
    let mut output = BufReader::new(child.stdout.take().unwrap());
    assert_ne!(output.read_line(&mut String::new()).unwrap(), 0, "it has started");
    let line = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"unknown\"}\n";
    let written = Arc::new(AtomicUsize::new(0));
    let count = written.clone();
    // Far more than fits into both pipes.
    let writer = std::thread::spawn(move || {
        while count.fetch_add(1, Ordering::Relaxed) < 200_000 && input.write_all(line.as_bytes()).is_ok() {}
    });
    // Once its output is full, it reads no more, so that the writer waits.
    let (mut last, mut unchanged) = (0, 0);
    while unchanged < 50 {
        std::thread::sleep(Duration::from_millis(10));
        let now = written.load(Ordering::Relaxed);
        unchanged = if now == last && now > 0 { unchanged + 1 } else { 0 };
        last = now;
    }
    assert!(last < 100_000, "{last} messages were read");
    let pid = rustix::process::Pid::from_raw(i32::try_from(child.id()).unwrap()).unwrap();
    rustix::process::kill_process(pid, Signal::TERM).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(143));
    writer.join().unwrap();
}

#[test]
fn served_calls_are_recorded_and_are_not_the_last_session_of_the_user() {
    let setup = setup();
    let mut client = McpClient::connect(&setup, json!({}));
    client.call("read_file", json!({ "path": "src/main.rs" }));
    client.close_input();
    client.wait_for_exit();
    let list = run(&setup, &["sessions"]);
    assert!(list.contains("Calls of test2J-client (aye serve)"), "{list}");
    let id = session_id(&setup, 0);
    let audit = run(&setup, &["audit", &id]);
    assert!(audit.contains("another program called read_file"), "{audit}");
    assert!(audit.contains("allowed: read inside the project"), "{audit}");
    let record: Value = serde_json::from_str(run(&setup, &["audit", &id, "--json"]).lines().next().unwrap()).unwrap();
    assert_eq!((&record["is_served"], &record["is_intact"]), (&json!(true), &json!(true)));
    for arguments in [&["audit"][..], &["undo"], &["-p", "--continue", "go"]] {
        let text = run(&setup, arguments);
        assert!(
            text.contains("Cannot find a session of") || text.contains("Cannot find a live session"),
            "{arguments:?}: {text}"
        );
    }
    let shown = run(&setup, &["sessions", "show", &id]);
    assert!(shown.contains("Call of another program"), "{shown}");
}

#[test]
fn known_keys_are_removed_from_results() {
    let setup = setup().with_file("log.txt", "sent sk-0123456789abcdef\n").env("OPENAI_API_KEY", "sk-0123456789abcdef");
    let mut client = McpClient::connect(&setup, json!({}));
    let (text, _) = client.call("read_file", json!({ "path": "log.txt" }));
    assert!(text.starts_with("1\tsent ") && !text.contains("sk-0123"), "{text}");
}

#[test]
fn files_of_a_project_that_is_not_trusted_change_nothing() {
    let allow = "[[rule]]\nverdict = \"allow\"\ntool = \"read_file\"\npath = \".env\"\n";
    let servers = json!({ "mcpServers": { "evil": { "command": "touch", "args": ["started"] } } });
    let setup = setup()
        .with_file(".env", "KEY=1\n")
        .with_file(".aye/rules.toml", allow)
        .with_file(".mcp.json", &servers.to_string());
    let mut client = McpClient::connect(&setup, json!({}));
    assert!(client.call("read_file", json!({ "path": ".env" })).1);
    assert!(!setup.root.path().join("project/started").exists());
}

#[test]
fn serve_needs_a_protocol() {
    let (out, err, code) = Setup::new(&["serve"]).run_piped("");
    assert_eq!((out.as_str(), code), ("", 2));
    assert!(err.contains("aye serve --mcp"), "{err}");
    let (_, err, code) = Setup::new(&["serve", "--mcp", "-C", "/no/such/folder"]).run_piped("");
    assert!(code == 2 && err.contains("/no/such/folder"), "{err}");
}

/// aye as the client of another aye.
#[test]
fn aye_can_use_it_as_a_server() {
    let text = json!({ "path": "src/main.rs" });
    let answers = vec![calls_answer_after(Duration::ZERO, &[("mcp__self__read_file", text)]), text_answer("Done.")];
    let user = user_with(answers, "");
    let command = ["serve", "--mcp", "-C", user.project().to_str().unwrap()].map(str::to_owned);
    let command: Vec<String> = [program().to_str().unwrap().to_owned()].into_iter().chain(command).collect();
    let settings = fs::read_to_string(user.path("home/aye/config/config.toml")).unwrap();
    let server = format!("{settings}\n[mcp.self]\ncommand = {}\n", json!(command));
    fs::write(user.path("home/aye/config/config.toml"), server).unwrap();
    user.write_file("src/main.rs", "fn main() {}\n");
    let rule = "[[rule]]\nverdict = \"allow\"\ntool = \"mcp__self__read_file\"\nhost = \"mcp:self\"\n";
    let user = user.with_rules(rule);
    run_turn(&user);
    let stored = read_sessions(&user.root);
    let titles: Vec<Option<String>> = stored.iter().map(|entries| title(entries)).collect();
    let own = stored.iter().find(|entries| title(entries).is_none()).unwrap_or_else(|| panic!("{titles:?}"));
    let [Outcome::Done(text)] = &settled(own)[..] else { panic!("{:?}", settled(own)) };
    assert!(text.ends_with("1\tfn main() {}\n"), "{text}");
    assert!(titles.contains(&Some("Calls of aye (aye serve)".to_owned())), "{titles:?}");
    wait_until_none_names(user.project().to_str().unwrap());
}

/// Waits until no process has this text on its command line. A server that still ends would make its folders again.
fn wait_until_none_names(text: &str) {
    let started = Instant::now();
    // Other systems than Linux have no `/proc`.
    while cfg!(target_os = "linux") && count_command_lines_with(text) > 0 {
        assert!(started.elapsed() < PATIENCE, "a process with {text} goes on");
        std::thread::sleep(Duration::from_millis(20));
    }
}
