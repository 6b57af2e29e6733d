//! Sub-agents in the real program: whose prompt it is, how many run, and what stops them.

use crate::overlay_sandbox_escapes::has_overlay_sandbox;
use crate::support::program::{Program, Setup, unique_sleep_seconds, wait_until_none_sleeps};
use crate::support::service::{Answer, Service, Step};
use crate::support::stored_files::read_session;
use crate::support::terminal_session::{calls_answer_after, command_answer, submit_message, text_answer};
use aye::chat::{Decision, Entry, Outcome};
use serde_json::{Value, json};
use std::time::{Duration, Instant};
use tokio::runtime::Runtime;

/// A reply that delegates a task to a sub-agent of each name; the task is `do` and the name.
fn delegate_to(names: &[&str]) -> Answer {
    let task = |name: &&str| ("sub_agent", json!({ "name": name, "task": format!("do {name}") }));
    calls_answer_after(Duration::ZERO, &names.iter().map(task).collect::<Vec<_>>())
}

/// The replies of each conversation, by its first message.
type Conversations = Vec<(&'static str, Vec<Answer>)>;

fn start_provider(conversations: Conversations) -> (Runtime, Service) {
    let runtime = Runtime::new().unwrap();
    let service = runtime.block_on(Service::start_parallel(conversations));
    (runtime, service)
}

fn setup_with_service(service: &Service, extra_arguments: &[&str]) -> Setup {
    let mut arguments = vec!["--base-url", &service.base_url, "--model", "scripted-7b"];
    arguments.extend(extra_arguments);
    Setup::new(&arguments)
}

fn start_program(
    conversations: Conversations,
    (columns, rows): (u16, u16),
    extra_arguments: &[&str],
) -> (Runtime, Service, Program) {
    let (runtime, service) = start_provider(conversations);
    let mut program = setup_with_service(&service, extra_arguments).size(columns, rows).start();
    program.until("Messages go to");
    (runtime, service, program)
}

fn read_session_entries(program: &Program) -> Vec<Entry> {
    read_session(&Setup::with_home(&program.root, &[]))
}

/// The entries of sub-agents.
fn sub_agent_entries(entries: &[Entry]) -> Vec<&Entry> {
    let nested = entries.iter().filter(|entry| matches!(entry, Entry::SubAgent { .. }));
    nested.map(Entry::unwrap_sub_agent).collect()
}

/// Returns the tool results in the last request of the conversation with this first message.
fn tool_results(service: &Service, first: &str) -> Vec<String> {
    let is_ours = |body: &Value| body["messages"][1]["content"] == first;
    let last = service.received().into_iter().rfind(|request| is_ours(&request.body)).expect("a request was sent");
    let messages = last.body["messages"].as_array().unwrap().clone();
    let outcomes = messages.iter().filter(|message| message["role"] == "tool");
    outcomes.map(|message| message["content"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn r17_calls_of_a_sub_agent_need_approval_and_the_prompt_names_it() {
    let write = calls_answer_after(Duration::ZERO, &[("write_file", json!({ "path": "a.txt", "content": "new\n" }))]);
    let (_runtime, service, mut program) = start_program(
        vec![
            ("do notes", vec![write, text_answer("a.txt is written.")]),
            ("go", vec![delegate_to(&["notes"]), text_answer("All is done.")]),
        ],
        (80, 24),
        &[],
    );
    submit_message(&mut program, "go");
    let screen = program.until_prompt("asked by sub-agent “notes”");
    assert!(screen.contains("Create a file?") && screen.contains("1 + new"), "{screen}");
    assert!(screen.contains("? Sub-agent notes · needs approval: a.txt"), "{screen}");
    assert_eq!(program.file("a.txt"), None, "nothing happens before approval");
    program.press_until("d", "arguments {");
    let screen = program.until("asked by sub-agent “notes”");
    assert!(screen.contains("reason: "), "{screen}");
    program.press_until("d", "1 + new");
    program.press_until("y", "All is done.");
    assert_eq!(program.file("a.txt").as_deref(), Some("new\n"));
    assert_eq!(tool_results(&service, "go"), ["a.txt is written."], "only the reply reaches the parent");
    let first = service.received().into_iter().nth(1).expect("the sub-agent sent a request").body;
    let tools: Vec<&str> =
        first["tools"].as_array().unwrap().iter().filter_map(|tool| tool["function"]["name"].as_str()).collect();
    assert!(tools.contains(&"ask_question") && !tools.contains(&"sub_agent"), "{tools:?}");
    assert_eq!(first["messages"].as_array().map(Vec::len), Some(2), "it receives nothing but its task");
    let entries = read_session_entries(&program);
    let decided = sub_agent_entries(&entries)
        .into_iter()
        .any(|entry| matches!(entry, Entry::Decided { decision: Decision::Once, .. }));
    assert!(decided, "the decision is in the record");
    // The record names the sub-agent, on the screen and in headless output. A repeated `y` may have reached the
    // composer.
    program.press_keys("\x15");
    submit_message(&mut program, "/audit");
    program.until("approved, done · sub-agent “notes");
    let (out, err, code) = Setup::with_home(&program.root, &["audit", "--json"]).run_piped("");
    assert_eq!(code, 0, "{err}");
    let records: Vec<Value> = out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let fields_of = |index: usize| (&records[index]["tool"], &records[index]["sub_agent"], &records[index]["holds"]);
    assert_eq!(fields_of(0), (&json!("sub_agent"), &Value::Null, &json!(true)));
    assert_eq!(fields_of(1), (&json!("write_file"), &json!("notes"), &json!(true)));
    assert_eq!(records[1]["key"], "y");
    let (out, _, _) = Setup::with_home(&program.root, &["audit"]).run_piped("");
    assert!(out.contains("sub-agent “notes” called write_file"), "{out}");
}

#[test]
fn a_command_of_a_sub_agent_is_tried_and_kept() {
    if !has_overlay_sandbox() {
        return;
    }
    let (_runtime, service, mut program) = start_program(
        vec![
            ("do notes", vec![command_answer("echo new > made.txt; echo ran"), text_answer("made.txt is written.")]),
            ("go", vec![delegate_to(&["notes"]), text_answer("All is done.")]),
        ],
        (100, 30),
        &[],
    );
    submit_message(&mut program, "go");
    program.until_all(&["asked by sub-agent “notes”", "t try"]);
    program.until_prompt("Run a command?");
    program.press_keys("t");
    let screen = program.until_prompt("Keep what the trial did?");
    for part in ["asked by sub-agent “notes”", "│ ran", "+ made.txt"] {
        assert!(screen.contains(part), "{part}: {screen}");
    }
    assert_eq!(program.file("made.txt"), None, "nothing is real yet");
    program.press_keys("k");
    program.until_idle("All is done.");
    assert_eq!(program.file("made.txt").as_deref(), Some("new\n"));
    assert_eq!(tool_results(&service, "do notes"), ["ran\nexit 0"]);
    let entries = read_session_entries(&program);
    let entries = sub_agent_entries(&entries);
    assert!(entries.iter().any(|entry| matches!(entry, Entry::Tried { .. })), "{entries:?}");
    let is_kept = |entry: &&Entry| matches!(entry, Entry::Decided { decision: Decision::Kept(_), .. });
    assert!(entries.iter().any(is_kept), "{entries:?}");
}

#[test]
fn r17_question_of_a_sub_agent_names_it_and_is_answered_to_it() {
    let question = calls_answer_after(
        Duration::ZERO,
        &[("ask_question", json!({ "question": "Which?", "options": ["MIT", "Apache"], "keyword": "licence" }))],
    );
    let (_runtime, service, mut program) = start_program(
        vec![
            ("do licence", vec![question, text_answer("They want MIT.")]),
            ("go", vec![delegate_to(&["licence"]), text_answer("All is done.")]),
        ],
        (60, 15),
        &[],
    );
    submit_message(&mut program, "go");
    let screen = program.until_prompt("❯ 1   MIT");
    assert!(screen.contains("asked by sub-agent “licence” · Question"), "{screen}");
    program.press_until("\r", "All is done.");
    assert_eq!(tool_results(&service, "go"), ["They want MIT."]);
    assert!(tool_results(&service, "do licence")[0].contains("MIT"));
}

#[test]
fn r04_held_key_answers_only_one_of_several_prompts() {
    let conversation = |name: &str| vec![command_answer(&format!("touch {name}")), text_answer("It ran.")];
    let (_runtime, _service, mut program) = start_program(
        vec![
            ("do one", conversation("one")),
            ("do two", conversation("two")),
            ("do three", conversation("three")),
            ("go", vec![delegate_to(&["one", "two", "three"]), text_answer("All is done.")]),
        ],
        (80, 24),
        &[],
    );
    let created = |program: &Program| ["one", "two", "three"].map(|name| program.file(name).is_some());
    let count = |program: &Program| created(program).into_iter().filter(|created| *created).count();
    // On a busy machine presses may arrive together and count as typing; the text is deleted, and the loop continues.
    let clear_typed_text = |program: &mut Program| {
        let typed = program.screen().contains("❯ y");
        if typed {
            program.press_keys("\x15");
            program.press_keys("\x7f");
        }
        typed
    };
    submit_message(&mut program, "go");
    program.until("of 3");
    // The key is held down, and must answer the first prompt only. A pause of a busy machine ends a hold.
    let mut pauses = 0;
    program.until_condition("the first command ran", |program| {
        if !clear_typed_text(program) && program.has_active_prompt() {
            let mut last_press = Instant::now();
            for _ in 0..60 {
                program.press_keys("y");
                pauses += usize::from(last_press.elapsed() > Duration::from_millis(300));
                last_press = Instant::now();
                program.wait_ms(20);
            }
        }
        program.wait_ms(200);
        count(program) > 0
    });
    assert!(count(&program) <= 1 + pauses, "{:?}", created(&program));
    // Each of the others needs its own press.
    program.until_condition("all of them ran", |program| {
        if !clear_typed_text(program) {
            program.press_keys("y");
        }
        program.wait_ms(600);
        program.screen().contains("All is done.")
    });
    assert_eq!(count(&program), 3);
}

#[test]
fn r17_depth_and_count_are_bounded() {
    // Each waits for approval, so that none of them ends early.
    let waiting = |prompt_text: &'static str| (prompt_text, vec![command_answer("sleep 0"), text_answer("It ran.")]);
    let nested = calls_answer_after(Duration::ZERO, &[("sub_agent", json!({ "name": "deeper", "task": "do deeper" }))]);
    let (_runtime, service, mut program) = start_program(
        vec![
            ("do a1", vec![nested, command_answer("sleep 0"), text_answer("It ran.")]),
            waiting("do a2"),
            waiting("do a3"),
            waiting("do a4"),
            waiting("do a5"),
            ("go", vec![delegate_to(&["a1", "a2", "a3", "a4", "a5"]), text_answer("All is done.")]),
        ],
        (80, 24),
        &[],
    );
    submit_message(&mut program, "go");
    program.until("of 4");
    program.until("a5 · queued");
    program.until_condition("four of them wait", |program| {
        program.screen().matches("needs approval: sleep 0").count() == 4
    });
    let count_requests = |task: &str| {
        let is_ours = |body: &Value| body["messages"][1]["content"] == task;
        service.received().iter().filter(|request| is_ours(&request.body)).count()
    };
    assert_eq!((count_requests("do a1"), count_requests("do a5"), count_requests("do deeper")), (2, 0, 0));
    assert!(tool_results(&service, "do a1")[0].contains("cannot start sub-agents"));
    // A denial ends one of them, and the fifth starts.
    program.until_prompt("$ sleep 0");
    program.press_until("n", "a5 · needs approval: sleep 0");
    assert_eq!(count_requests("do a5"), 1);
}

#[test]
fn r17_esc_stops_all() {
    let long = unique_sleep_seconds();
    let sleeping = |task: &'static str, seconds: u32| {
        (task, vec![command_answer(&format!("sleep {seconds}")), text_answer("It slept.")])
    };
    let stalled = Answer::stream().text("I think").with_step(Step::Stall);
    let (_runtime, service, mut program) = start_program(
        vec![
            sleeping("do one", long),
            ("do two", vec![stalled]),
            (
                "do three",
                vec![calls_answer_after(Duration::from_millis(300), &[("bash_exec", json!({ "command": "sleep 0" }))])],
            ),
            ("go", vec![delegate_to(&["one", "two", "three"]), text_answer("Now I am alone.")]),
        ],
        (80, 24),
        &[],
    );
    submit_message(&mut program, "go");
    program.until_prompt(&format!("$ sleep {long}"));
    program.press_until("y", &format!("one · Run sleep {long}"));
    program.until_prompt("$ sleep 0");
    // In a prompt the first Esc asks for a second one, which must come soon.
    program.press_until("\x1b", "stopped");
    let screen = program.screen();
    assert!(!screen.contains("needs approval"), "{screen}");
    wait_until_none_sleeps(long);
    let entries = read_session_entries(&program);
    let open =
        aye::chat::audit::collect_records(&entries).into_iter().filter(|record| record.outcome().is_none()).count();
    assert_eq!(open, 0);
    let stopped =
        entries.iter().filter(|entry| matches!(entry, Entry::Settled { outcome: Outcome::Interrupted(_), .. }));
    assert_eq!(stopped.count(), 3, "one for each task");
    let is_ours = |request: &Value| request["messages"][1]["content"] == "do two";
    program.until_condition("the connection of the sub-agent is closed", |_| {
        service.received().iter().any(|request| is_ours(&request.body) && request.closed_early.is_some())
    });
    // The session continues, and no sub-agent sends another request.
    let count = service.received().len();
    submit_message(&mut program, "go on");
    program.until("Now I am alone.");
    assert_eq!(service.received().len(), count + 1);
}

#[test]
fn calls_of_a_sub_agent_can_be_expanded_in_place() {
    let read = calls_answer_after(Duration::ZERO, &[("read_file", json!({ "path": "a.txt" }))]);
    let (_runtime, _service, mut program) = {
        let (runtime, service) = start_provider(vec![
            ("do look", vec![read, text_answer("It holds **one** line.")]),
            ("go", vec![delegate_to(&["look"]), text_answer("All is done.")]),
        ]);
        let mut program = setup_with_service(&service, &[]).size(80, 24).with_file("a.txt", "one\n").start();
        program.until("Messages go to");
        (runtime, service, program)
    };
    submit_message(&mut program, "go");
    let screen = program.until("All is done.");
    assert!(screen.contains("✓ Sub-agent look") && screen.contains("1 call"), "{screen}");
    assert!(!screen.contains("It holds"), "{screen}");
    // Alt-Up selects the previous row of the transcript; Enter expands it.
    program.press_keys("\x1b[1;3A\x1b[1;3A");
    program.wait_ms(50);
    program.press_keys("\r");
    let screen = program.until("It holds one line.");
    assert!(screen.contains("▌ do look") && screen.contains("✓ Read a.txt"), "{screen}");
}

#[test]
fn r17_headless_question_of_a_sub_agent_is_answered_in_a_later_run() {
    let question = calls_answer_after(
        Duration::ZERO,
        &[("ask_question", json!({ "question": "Which?", "options": ["MIT", "Apache"], "keyword": "licence" }))],
    );
    let (_runtime, service) = start_provider(vec![
        ("do licence", vec![question, text_answer("They want MIT.")]),
        ("do run", vec![command_answer("touch ran"), text_answer("I could not.")]),
        ("go", vec![delegate_to(&["licence", "run"]), text_answer("All is done.")]),
    ]);
    let first = setup_with_service(&service, &["-p", "go"]);
    let (out, err, code) = first.run_piped("");
    assert_eq!(code, 3, "{out}\n{err}");
    let report: Value = serde_json::from_str(out.lines().last().unwrap()).unwrap();
    assert_eq!((&report["kind"], &report["waits"][0]["sub_agent"]), (&json!("waits"), &json!("licence")));
    let denied = &report["denied"][0];
    let call = (&denied["sub_agent"], &denied["what"]);
    assert_eq!(call, (&json!("run"), &json!("touch ran")), "the other sub-agent runs until only the question is open");
    assert!(tool_results(&service, "do run")[0].starts_with("Denied: no interactive user"));
    let id = report["session"].as_str().unwrap();
    let again = ["--base-url", &service.base_url, "--model", "scripted-7b", "-p", "--resume", id, "--answers", "-"];
    let (out, err, code) = Setup::with_home(&first.root, &again).run_piped(r#"{ "licence": "MIT" }"#);
    assert_eq!(code, 0, "{out}\n{err}");
    assert!(out.contains("All is done."), "{out}");
    assert!(
        tool_results(&service, "go").iter().any(|outcome| outcome == "They want MIT."),
        "{:?}",
        tool_results(&service, "go")
    );
}

#[test]
fn a_sub_agent_and_its_session_share_the_files_of_the_workspace() {
    let call = |name: &str, arguments: Value| calls_answer_after(Duration::ZERO, &[(name, arguments)]);
    let write = call("write_workspace_file", json!({ "path": "report.md", "content": "from the sub-agent" }));
    let read = call("read_workspace_file", json!({ "path": "report.md" }));
    let (_runtime, service, mut program) = start_program(
        vec![
            ("do notes", vec![write, text_answer("report.md is written.")]),
            ("go", vec![delegate_to(&["notes"]), read, text_answer("All is done.")]),
        ],
        (100, 30),
        &["--mode", "auto"],
    );
    submit_message(&mut program, "go");
    program.until("All is done.");
    let results = tool_results(&service, "go");
    assert!(results.len() == 2 && results[1].contains("from the sub-agent"), "{results:?}");
    let (files, _, code) = Setup::with_home(&program.root, &["files"]).run_piped("");
    assert!(code == 0 && files.contains("report.md"), "{files}");
}
