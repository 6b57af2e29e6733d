//! Sub-agents in the real program: whose card it is, how many there are, and what stops them.

use crate::support::program::{Program, Setup, unique_sleep_seconds, wait_until_none_sleeps};
use crate::support::service::{Answer, Service, Step};
use crate::support::stored_files::read_session;
use crate::support::terminal_session::{calls_after, runs, say, says};
use aye::chat::{Decision, Entry, Outcome};
use serde_json::{Value, json};
use std::time::Duration;
use tokio::runtime::Runtime;

/// A reply that hands a task to a sub-agent of each of these names; the task is `do` and the name.
fn hands(names: &[&str]) -> Answer {
    let task = |name: &&str| ("sub_agent", json!({ "name": name, "task": format!("do {name}") }));
    calls_after(Duration::ZERO, &names.iter().map(task).collect::<Vec<_>>())
}

type Talks = Vec<(&'static str, Vec<Answer>)>;

fn service(talks: Talks) -> (Runtime, Service) {
    let runtime = Runtime::new().unwrap();
    let service = runtime.block_on(Service::start_parallel(talks));
    (runtime, service)
}

fn setup(service: &Service, more: &[&str]) -> Setup {
    let mut arguments = vec!["--base-url", &service.base_url, "--model", "scripted-7b"];
    arguments.extend(more);
    Setup::new(&arguments)
}

fn talks(talks: Talks, (columns, rows): (u16, u16), more: &[&str]) -> (Runtime, Service, Program) {
    let (runtime, service) = service(talks);
    let mut program = setup(&service, more).size(columns, rows).start();
    program.until("Connected to");
    (runtime, service, program)
}

fn entries(program: &Program) -> Vec<Entry> {
    read_session(&Setup::again(&program.place, &[]))
}

/// The facts of sub-agents.
fn beneath(entries: &[Entry]) -> Vec<&Entry> {
    let below = entries.iter().filter(|entry| matches!(entry, Entry::SubAgent { .. }));
    below.map(Entry::unwrap_sub_agent).collect()
}

/// What a request of the turn told the model of its calls.
fn told(service: &Service, first: &str) -> Vec<String> {
    let of = |body: &Value| body["messages"][1]["content"] == first;
    let last = service.received().into_iter().rfind(|request| of(&request.body)).expect("it was asked");
    let messages = last.body["messages"].as_array().unwrap().clone();
    let outcomes = messages.iter().filter(|message| message["role"] == "tool");
    outcomes.map(|message| message["content"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn r17_the_calls_of_a_sub_agent_pass_the_same_gate_and_its_card_names_it() {
    let writes = calls_after(Duration::ZERO, &[("write_file", json!({ "path": "a.txt", "content": "new\n" }))]);
    let (_runtime, service, mut program) = talks(
        vec![
            ("do notes", vec![writes, says("a.txt is written.")]),
            ("go", vec![hands(&["notes"]), says("All is done.")]),
        ],
        (80, 24),
        &[],
    );
    say(&mut program, "go");
    let screen = program.until_asked("asked by sub-agent “notes”");
    assert!(screen.contains("create a file?") && screen.contains("1 + new"), "{screen}");
    assert!(screen.contains("? sub_agent    notes · needs approval: a.txt"), "{screen}");
    assert_eq!(program.file("a.txt"), None, "nothing happens before the yes");
    program.press_until("d", "arguments {");
    let screen = program.until("asked by sub-agent “notes”");
    assert!(screen.contains("reason: "), "{screen}");
    program.press_until("d", "1 + new");
    program.press_until("y", "All is done.");
    assert_eq!(program.file("a.txt").as_deref(), Some("new\n"));
    assert_eq!(told(&service, "go"), ["a.txt is written."], "and nothing else of what it did");
    let first = service.received().into_iter().nth(1).expect("the sub-agent asks").body;
    let tools: Vec<&str> =
        first["tools"].as_array().unwrap().iter().filter_map(|tool| tool["function"]["name"].as_str()).collect();
    assert!(tools.contains(&"ask_question") && !tools.contains(&"sub_agent"), "{tools:?}");
    assert_eq!(first["messages"].as_array().map(Vec::len), Some(2), "it is told its task and nothing else");
    let entries = entries(&program);
    let decided =
        beneath(&entries).into_iter().any(|entry| matches!(entry, Entry::Decided { decision: Decision::Once, .. }));
    assert!(decided, "the record has it");
    // The record says whose call it was, on the screen and without one. A yes too many is no word of it.
    program.keys("\x15");
    say(&mut program, "/audit");
    program.until("approved, done · sub-agent “notes");
    let (out, err, code) = Setup::again(&program.place, &["audit", "--json"]).print("");
    assert_eq!(code, 0, "{err}");
    let records: Vec<Value> = out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let told = |at: usize| (&records[at]["tool"], &records[at]["sub_agent"], &records[at]["holds"]);
    assert_eq!(told(0), (&json!("sub_agent"), &Value::Null, &json!(true)));
    assert_eq!(told(1), (&json!("write_file"), &json!("notes"), &json!(true)));
    assert_eq!(records[1]["key"], "y");
    let (out, _, _) = Setup::again(&program.place, &["audit"]).print("");
    assert!(out.contains("sub-agent “notes” called write_file"), "{out}");
}

#[test]
fn r17_a_question_of_a_sub_agent_says_who_asks_and_stays_its_own() {
    let asks = calls_after(
        Duration::ZERO,
        &[("ask_question", json!({ "question": "Which?", "options": ["MIT", "Apache"], "keyword": "licence" }))],
    );
    let (_runtime, service, mut program) = talks(
        vec![
            ("do licence", vec![asks, says("They want MIT.")]),
            ("go", vec![hands(&["licence"]), says("All is done.")]),
        ],
        (60, 15),
        &[],
    );
    say(&mut program, "go");
    let screen = program.until_asked("❯ 1   MIT");
    assert!(screen.contains("asked by sub-agent “licence” · question"), "{screen}");
    program.press_until("\r", "All is done.");
    assert_eq!(told(&service, "go"), ["They want MIT."]);
    assert!(told(&service, "do licence")[0].contains("MIT"));
}

#[test]
fn r04_the_next_card_of_another_sub_agent_is_a_new_card() {
    let of = |name: &str| vec![runs(&format!("touch {name}")), says("It ran.")];
    let (_runtime, _service, mut program) = talks(
        vec![
            ("do one", of("one")),
            ("do two", of("two")),
            ("do three", of("three")),
            ("go", vec![hands(&["one", "two", "three"]), says("All is done.")]),
        ],
        (80, 24),
        &[],
    );
    let made = |program: &Program| ["one", "two", "three"].map(|name| program.file(name).is_some());
    let count = |program: &Program| made(program).into_iter().filter(|made| *made).count();
    // A busy machine may read presses together, which are words then: they are taken back, and it begins again.
    let clears = |program: &mut Program| {
        let typed = program.screen().contains("❯ y");
        if typed {
            program.keys("\x15");
            program.keys("\x7f");
        }
        typed
    };
    say(&mut program, "go");
    program.until("of 3");
    // The key is held down: what comes behind the first card is not answered by it.
    program.until_that("the first ran", |program| {
        if !clears(program) && program.is_asked() {
            for _ in 0..60 {
                program.keys("y");
                program.wait_ms(20);
            }
        }
        program.wait_ms(200);
        count(program) > 0
    });
    assert_eq!(count(&program), 1, "{:?}", made(&program));
    // Each of the others takes a press of its own.
    program.until_that("all of them ran", |program| {
        if !clears(program) {
            program.keys("y");
        }
        program.wait_ms(600);
        program.screen().contains("All is done.")
    });
    assert_eq!(count(&program), 3);
}

#[test]
fn r17_depth_and_count_are_bounded() {
    // Each waits with a card, so that none of them ends by itself.
    let waits = |words: &'static str| (words, vec![runs("sleep 0"), says("It ran.")]);
    let again = calls_after(Duration::ZERO, &[("sub_agent", json!({ "name": "deeper", "task": "do deeper" }))]);
    let (_runtime, service, mut program) = talks(
        vec![
            ("do a1", vec![again, runs("sleep 0"), says("It ran.")]),
            waits("do a2"),
            waits("do a3"),
            waits("do a4"),
            waits("do a5"),
            ("go", vec![hands(&["a1", "a2", "a3", "a4", "a5"]), says("All is done.")]),
        ],
        (80, 24),
        &[],
    );
    say(&mut program, "go");
    program.until("of 4");
    program.until("a5 · queued");
    program.until_that("four of them wait", |program| program.screen().matches("needs approval: sleep 0").count() == 4);
    let asked = |words: &str| {
        let of = |body: &Value| body["messages"][1]["content"] == words;
        service.received().iter().filter(|request| of(&request.body)).count()
    };
    assert_eq!((asked("do a1"), asked("do a5"), asked("do deeper")), (2, 0, 0));
    assert!(told(&service, "do a1")[0].contains("cannot start sub-agents"));
    // A no ends one of them, and the fifth begins.
    program.until_asked("$ sleep 0");
    program.press_until("n", "a5 · needs approval: sleep 0");
    assert_eq!(asked("do a5"), 1);
}

#[test]
fn r17_esc_stops_all() {
    let long = unique_sleep_seconds();
    let sleeps =
        |words: &'static str, seconds: u32| (words, vec![runs(&format!("sleep {seconds}")), says("It slept.")]);
    let stalls = Answer::stream().says("I think").then(Step::Stall);
    let (_runtime, service, mut program) = talks(
        vec![
            sleeps("do one", long),
            ("do two", vec![stalls]),
            (
                "do three",
                vec![calls_after(Duration::from_millis(300), &[("bash_exec", json!({ "command": "sleep 0" }))])],
            ),
            ("go", vec![hands(&["one", "two", "three"]), says("Now I am alone.")]),
        ],
        (80, 24),
        &[],
    );
    say(&mut program, "go");
    program.until_asked(&format!("$ sleep {long}"));
    program.press_until("y", &format!("one · bash_exec sleep {long}"));
    program.until_asked("$ sleep 0");
    // On a card the first Esc says what the second does, which must come soon.
    program.keys("\x1b");
    program.until("Press esc again to stop the turn");
    program.press_until("\x1b", "stopped");
    let screen = program.screen();
    assert!(!screen.contains("needs approval"), "{screen}");
    wait_until_none_sleeps(long);
    let entries = entries(&program);
    let open =
        aye::chat::audit::collect_records(&entries).into_iter().filter(|record| record.outcome().is_none()).count();
    assert_eq!(open, 0);
    let stopped =
        entries.iter().filter(|entry| matches!(entry, Entry::Settled { outcome: Outcome::Interrupted(_), .. }));
    assert_eq!(stopped.count(), 3, "each of the tasks");
    let of = |request: &Value| request["messages"][1]["content"] == "do two";
    program.until_that("its reply is not read any further", |_| {
        service.received().iter().any(|request| of(&request.body) && request.closed_early.is_some())
    });
    // The talk goes on as any other, and nobody beneath it has asked again.
    let count = service.received().len();
    say(&mut program, "go on");
    program.until("Now I am alone.");
    assert_eq!(service.received().len(), count + 1);
}

#[test]
fn what_a_sub_agent_did_is_opened_in_place() {
    let reads = calls_after(Duration::ZERO, &[("read_file", json!({ "path": "a.txt" }))]);
    let (_runtime, _service, mut program) = {
        let (runtime, service) = service(vec![
            ("do look", vec![reads, says("It holds **one** line.")]),
            ("go", vec![hands(&["look"]), says("All is done.")]),
        ]);
        let mut program = setup(&service, &[]).size(80, 24).has("a.txt", "one\n").start();
        program.until("Connected to");
        (runtime, service, program)
    };
    say(&mut program, "go");
    let screen = program.until("All is done.");
    assert!(screen.contains("✓ sub_agent    look") && screen.contains("1 call"), "{screen}");
    assert!(!screen.contains("It holds"), "{screen}");
    program.keys("\x1b[1;3A\x1b[1;3A");
    program.wait_ms(50);
    program.keys("\r");
    let screen = program.until("It holds one line.");
    assert!(screen.contains("▌ do look") && screen.contains("✓ read_file    a.txt"), "{screen}");
}

#[test]
fn r17_without_a_screen_a_sub_agents_question_waits_and_is_answered_later() {
    let asks = calls_after(
        Duration::ZERO,
        &[("ask_question", json!({ "question": "Which?", "options": ["MIT", "Apache"], "keyword": "licence" }))],
    );
    let (_runtime, service) = service(vec![
        ("do licence", vec![asks, says("They want MIT.")]),
        ("do run", vec![runs("touch ran"), says("I could not.")]),
        ("go", vec![hands(&["licence", "run"]), says("All is done.")]),
    ]);
    let first = setup(&service, &["-p", "go"]);
    let (out, err, code) = first.print("");
    assert_eq!(code, 3, "{out}\n{err}");
    let waits: Value = serde_json::from_str(out.lines().last().unwrap()).unwrap();
    assert_eq!((&waits["kind"], &waits["waits"][0]["sub_agent"]), (&json!("waits"), &json!("licence")));
    let denied = &waits["denied"][0];
    let whose = (&denied["sub_agent"], &denied["what"]);
    assert_eq!(
        whose,
        (&json!("run"), &json!("touch ran")),
        "the other one goes on until nothing but the question waits"
    );
    assert!(told(&service, "do run")[0].starts_with("Denied: no interactive user"));
    let id = waits["session"].as_str().unwrap();
    let again = ["--base-url", &service.base_url, "--model", "scripted-7b", "-p", "--resume", id, "--answers", "-"];
    let (out, err, code) = Setup::again(&first.place, &again).print(r#"{ "licence": "MIT" }"#);
    assert_eq!(code, 0, "{out}\n{err}");
    assert!(out.contains("All is done."), "{out}");
    assert!(told(&service, "go").iter().any(|outcome| outcome == "They want MIT."), "{:?}", told(&service, "go"));
}
