//! A user, the real program, a real socket, and a provider that sends what the test wants.

use crate::support::program::{Program, Setup, count_sleeping, unique_sleep_seconds, wait_until_none_sleeps};
use crate::support::service::{Answer, Service, Step};
use crate::support::stored_files::read_entries;
use crate::support::terminal_session::{calls_answer_after, submit_message, text_answer};
use aye::chat::Entry;
use rustix::process::Signal;
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;

fn call_answer(name: &str, arguments: &Value) -> Answer {
    let function = json!({ "name": name, "arguments": arguments.to_string() });
    let delta = json!({ "tool_calls": [{ "index": 0, "id": "c1", "type": "function", "function": function }] });
    Answer::stream().event(json!({ "choices": [{ "index": 0, "delta": delta }] })).finish("tool_calls").done()
}

/// Plays a user of the program while the provider answers.
async fn with_program(
    answers: Vec<Answer>,
    arguments: &[&str],
    user: impl FnOnce(&mut Program, &Service) + Send + 'static,
) {
    let service = Service::start(answers).await;
    let mut flags = vec!["--base-url", service.base_url.as_str(), "--model", "scripted-7b"];
    flags.extend(arguments);
    let mut program = Setup::new(&flags).with_file("a.txt", "one\ntwo\nthree\n").size(100, 30).start();
    tokio::task::spawn_blocking(move || {
        program.until("scripted-7b");
        user(&mut program, &service);
    })
    .await
    .unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn results_are_sent_in_the_order_of_the_calls_although_the_second_finished_first() {
    let calls = [("search_text", json!({ "pattern": "needle$" })), ("read_file", json!({ "path": "a.txt" }))];
    // On a busy machine only a longer search ends after the read.
    for lines in [600_000, 2_400_000, 9_600_000] {
        let service = Service::start([calls_answer_after(Duration::ZERO, &calls), text_answer("Done.")]).await;
        let setup = Setup::new(&["-p", "--base-url", &service.base_url, "--model", "scripted-7b", "go"])
            .with_file("a.txt", "one\n")
            .with_file("large.txt", &"hay needle hay\n".repeat(lines));
        let root = setup.root.clone();
        let (out, err, code) = tokio::task::spawn_blocking(move || setup.run_piped("")).await.unwrap();
        assert_eq!((out.as_str(), code), ("Done.\n", 0), "{err}");
        let request = service.received().pop().unwrap();
        let results = request.body["messages"].as_array().unwrap().iter().filter(|message| message["role"] == "tool");
        let sent: Vec<String> = results.map(|result| result["tool_call_id"].as_str().unwrap().to_owned()).collect();
        assert_eq!(sent, ["c0", "c1"]);
        let finished = read_entries(root.path()).into_iter().filter_map(|entry| match entry {
            Entry::Settled { call, .. } => Some(call.to_string()),
            _ => None,
        });
        if finished.eq(["c1", "c0"]) {
            return;
        }
    }
    panic!("the search never took longer than the read");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn message_gets_a_rendered_reply() {
    let table = "# Heading\n\nSome **bold** words and `code`.\n\n| a | b |\n|---|---|\n| 漢字 | 🦀 |\n";
    with_program(vec![text_answer(table), text_answer("Second.")], &[], |program, service| {
        submit_message(program, "hello");
        let screen = program.until("漢字");
        assert!(screen.contains("Heading") && !screen.contains("**"), "{screen}");
        submit_message(program, "more");
        program.until("Second.");
        assert_eq!(service.received().len(), 2);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r01_command_runs_only_after_approval() {
    with_program(
        vec![call_answer("bash_exec", &json!({ "command": "touch made" })), text_answer("Done.")],
        &[],
        |program, _| {
            submit_message(program, "make it");
            program.until_prompt("$ touch made");
            assert_eq!(program.file("made"), None);
            program.press_keys("\r");
            program.wait_ms(200);
            assert_eq!(program.file("made"), None, "enter alone never approves");
            program.until_prompt("$ touch made");
            program.press_keys("y");
            program.until("Done.");
            assert!(program.file("made").is_some());
        },
    )
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r03_keys_typed_when_the_prompt_appears_stay_in_the_composer() {
    let late = Answer::stream().with_step(Step::Pause(Duration::from_millis(500)));
    let function = json!({ "name": "bash_exec", "arguments": json!({ "command": "touch made" }).to_string() });
    let delta = json!({ "tool_calls": [{ "index": 0, "id": "c1", "function": function }] });
    let late = late.event(json!({ "choices": [{ "index": 0, "delta": delta }] })).finish("tool_calls").done();
    with_program(vec![late, text_answer("I see.")], &[], |program, _| {
        submit_message(program, "make it");
        for _ in 0..30 {
            program.press_keys("y");
            program.wait_ms(30);
        }
        program.until("$ touch made");
        program.until(&"y".repeat(30));
        program.wait_ms(700);
        program.press_keys("y");
        program.until(&"y".repeat(31));
        assert_eq!(program.file("made"), None, "the prompt takes no keys while there is a draft");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn denial_with_a_message_reaches_the_model() {
    with_program(
        vec![call_answer("bash_exec", &json!({ "command": "touch made" })), text_answer("As you like.")],
        &[],
        |program, service| {
            submit_message(program, "make it");
            program.until_prompt("$ touch made");
            program.press_keys("m");
            program.until("enter deny");
            program.type_text("use the other folder");
            // Keys that arrive together count as pasted, and an Enter right after them sends nothing.
            program.press_until("\r", "As you like.");
            assert_eq!(program.file("made"), None);
            assert!(service.received()[1].body.to_string().contains("use the other folder"));
        },
    )
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn edit_is_shown_before_it_is_applied() {
    let edit = json!({ "path": "a.txt", "old_text": "two", "new_text": "zwei" });
    with_program(vec![call_answer("edit_file", &edit), text_answer("Edited.")], &[], |program, _| {
        submit_message(program, "translate");
        let screen = program.until("zwei");
        assert!(screen.contains("a.txt"), "{screen}");
        assert_eq!(program.file("a.txt").as_deref(), Some("one\ntwo\nthree\n"));
        program.until_prompt("zwei");
        program.press_keys("y");
        program.until("Edited.");
        assert_eq!(program.file("a.txt").as_deref(), Some("one\nzwei\nthree\n"));
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn digit_picks_an_option() {
    let ask = json!({ "question": "Which clock?", "keyword": "clock", "options": ["paused", "a trait", "real"] });
    with_program(vec![call_answer("ask_question", &ask), text_answer("Good.")], &[], |program, service| {
        submit_message(program, "go");
        program.until_prompt("Which clock?");
        program.press_keys("2");
        program.until("✓ a trait");
        program.press_keys("\r");
        program.until("Good.");
        let body = service.received()[1].body.to_string();
        assert!(body.contains("a trait") && body.contains("option_index"), "{body}");
        let screen = program.screen();
        assert!(screen.contains("Which clock?") && screen.contains("a trait"), "{screen}");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r62_esc_stops_the_reply_and_closes_the_connection() {
    let stalled = Answer::stream().text("Some words").with_step(Step::Stall);
    with_program(vec![stalled, text_answer("Again.")], &[], |program, service| {
        submit_message(program, "go");
        program.until("Some words");
        program.press_keys("\x1b");
        program.until_condition("the connection is closed", |_| service.received()[0].closed_early.is_some());
        assert!(program.screen().contains("Some words"), "the partial reply is kept");
        submit_message(program, "again");
        program.until("Again.");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r32_control_sequences_never_reach_the_terminal() {
    let hostile =
        "\u{1b}]0;pwned\u{7}\u{1b}[2J\u{1b}[31mred\u{1b}[0m\u{9b}31m \u{202e}back \u{1b}]52;c;cHduZWQ=\u{7}the-end";
    with_program(vec![text_answer(hostile), text_answer("Calm.")], &[], |program, _| {
        submit_message(program, "go");
        program.until_idle("the-end");
        let screen = program.screen();
        assert!(screen.contains("<U+001B>]0;pwned<U+0007>"), "control characters are shown as visible marks: {screen}");
        let bytes = String::from_utf8_lossy(&program.bytes()).into_owned();
        for never in ["\u{1b}]0;pwned", "\u{1b}]52;", "\u{1b}[2J\u{1b}[31m", "\u{202e}", "\u{9b}"] {
            assert!(!bytes.contains(never), "{never:?}");
        }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r33_control_sequence_split_over_two_chunks_is_not_completed() {
    let pieces =
        ["a\u{1b}", "[31mred \u{1b}]52;c;", "cHduZWQ=\u{7}b \u{1b}[2", "J\u{1b}", "]0;pwned", "\u{7}c", "\n\nend"];
    let cut = pieces.iter().fold(Answer::stream(), |answer, piece| {
        // Long enough for each chunk to be drawn before the next.
        answer.text(piece).with_step(Step::Pause(Duration::from_millis(120)))
    });
    with_program(vec![cut.finish("stop").done()], &[], |program, _| {
        submit_message(program, "go");
        program.until_idle("end");
        let bytes = String::from_utf8_lossy(&program.bytes()).into_owned();
        for never in ["\u{1b}]0;pwned", "\u{1b}[31mred", "\u{1b}]52;"] {
            assert!(!bytes.contains(never), "{never:?}");
        }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r30_dry_run_is_always_marked_and_changes_nothing() {
    let write = json!({ "path": "b.txt", "content": "x\n" });
    with_program(
        vec![
            call_answer("write_file", &write),
            call_answer("bash_exec", &json!({ "command": "touch made" })),
            text_answer("Would do."),
        ],
        &["--dry-run"],
        |program, _| {
            program.until("DRY RUN");
            submit_message(program, "go");
            let screen = program.until("Would do.");
            assert!(screen.contains("DRY RUN") && screen.contains("2 rehearsed"), "{screen}");
            assert_eq!((program.file("b.txt"), program.file("made")), (None, None));
        },
    )
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r51_session_killed_during_a_reply_is_complete_when_resumed() {
    let stalled = Answer::stream().text("Half a reply").with_step(Step::Stall);
    let service = Arc::new(Service::start([text_answer("First reply."), stalled, text_answer("Third.")]).await);
    let base = service.base_url.clone();
    tokio::task::spawn_blocking(move || {
        let mut program = Setup::new(&["--base-url", &base, "--model", "m"]).start();
        program.until("Messages go to");
        submit_message(&mut program, "first question");
        program.until_idle("First reply.");
        submit_message(&mut program, "second question");
        program.until("Half a reply");
        let root = program.root.clone();
        program.signal(Signal::KILL);
        program.wait_for_exit();
        let mut program = Setup::with_home(&root, &["--continue", "--base-url", &base, "--model", "m"]).start();
        let screen = program.until("second question");
        assert!(screen.contains("first question") && screen.contains("First reply."), "{screen}");
        submit_message(&mut program, "third question");
        program.until("Third.");
    })
    .await
    .unwrap();
    let messages = service.received()[2].body["messages"].to_string();
    assert!(messages.contains("first question") && messages.contains("second question"), "{messages}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r51_open_question_is_shown_again_after_a_kill() {
    let ask =
        call_answer("ask_question", &json!({ "question": "Which clock?", "options": ["paused", "a trait", "real"] }));
    let service = Service::start([ask, text_answer("Good.")]).await;
    let base = service.base_url.clone();
    tokio::task::spawn_blocking(move || {
        let mut program = Setup::new(&["--base-url", &base, "--model", "m"]).start();
        program.until("Messages go to");
        submit_message(&mut program, "go");
        program.until_prompt("Which clock?");
        let root = program.root.clone();
        program.signal(Signal::KILL);
        program.wait_for_exit();
        let mut program = Setup::with_home(&root, &["-c", "--base-url", &base, "--model", "m"]).start();
        program.until_prompt("Which clock?");
        program.press_keys("3");
        program.until("✓ real");
        program.press_keys("\r");
        program.until("Good.");
    })
    .await
    .unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r22_no_child_outlives_the_program() {
    let seconds = unique_sleep_seconds();
    let command = format!("setsid sleep {seconds} & sleep {seconds}");
    with_program(vec![call_answer("bash_exec", &json!({ "command": command }))], &[], move |program, _| {
        submit_message(program, "go");
        program.until_prompt("$ setsid");
        program.press_keys("y");
        program.until_condition("both sleep", |_| count_sleeping(seconds) == 2);
        program.signal(Signal::KILL);
        program.wait_for_exit();
        wait_until_none_sleeps(seconds);
    })
    .await;
}
