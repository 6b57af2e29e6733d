//! The real program behind a third-party gateway, if `AYE_TEST_GATEWAY` is its base URL and `AYE_TEST_GATEWAY_KEY` its
//! key. `AYE_TEST_GATEWAY_LOG` may name its log. The gateway must offer the models in `tests/servers/gateway.yaml`.

use crate::support::keyboard::PATIENCE;
use crate::support::program::{Program, Setup};
use crate::support::proxy::start_proxy;
use crate::support::report_skipped;
use crate::support::service::{Answer, Service, Step};
use crate::support::stored_files::{read_session, wait_for_turns, write_settings};
use crate::support::terminal_session::{command_answer, submit_message, text_answer};
use crate::support::time_limits::{self, try_three_times};
use aye::chat::{Ending, Entry, Outcome};
use serde_json::{Value, json};
use std::panic::RefUnwindSafe;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};
use tokio::runtime::Runtime;

/// Time limit until the end of the turn is on disk.
const TURN_END_LIMIT: Duration = Duration::from_millis(500);
/// Time limit until the connection is closed.
const CLOSE_LIMIT: Duration = Duration::from_secs(1);
/// Written to the log of the gateway when it has ended, before it is started again.
const GATEWAY_ENDED: &str = "The gateway ended with status";
const REPLY: &str = "The gateway says: good day.";

/// Runs a test with base URL and key of the gateway. If the gateway ended meanwhile, which its log says, the test is
/// repeated with the one that was started again.
fn with_gateway(test: impl Fn(&str, &str) + RefUnwindSafe) {
    let Some((base, key)) = gateway() else { return };
    let log = std::env::var("AYE_TEST_GATEWAY_LOG").ok();
    // An ordinary user may not read it.
    let read_log = || log.as_ref().and_then(|log| std::fs::read_to_string(log).ok()).unwrap_or_default();
    let count_ends = || read_log().matches(GATEWAY_ENDED).count();
    for _ in 0..3 {
        let ends = count_ends();
        let Err(panic) = std::panic::catch_unwind(|| test(&base, &key)) else { return };
        if count_ends() == ends {
            std::panic::resume_unwind(panic);
        }
        wait_until_ready(&base);
    }
    panic!("the gateway ended in each of three runs of the test");
}

/// Base URL and key of the gateway.
fn gateway() -> Option<(String, String)> {
    let gateway = std::env::var("AYE_TEST_GATEWAY").ok();
    if gateway.is_none() {
        report_skipped("AYE_TEST_GATEWAY is not set");
    }
    let gateway = gateway?;
    wait_until_ready(&gateway);
    Some((gateway, std::env::var("AYE_TEST_GATEWAY_KEY").expect("a gateway has a key")))
}

/// Waits until the gateway accepts connections: it may have been started again.
fn wait_until_ready(gateway: &str) {
    let address = gateway.strip_prefix("http://").and_then(|rest| rest.split('/').next()).expect("http://HOST:PORT/v1");
    let deadline = Instant::now() + PATIENCE;
    while std::net::TcpStream::connect(address).is_err() {
        assert!(Instant::now() < deadline, "the gateway at {address} does not accept connections");
        std::thread::sleep(Duration::from_millis(100));
    }
}

/// Sets up a profile for the gateway at this base URL, with these parameters in every request.
fn setup_profile(base: &str, key: &str, arguments: &[&str], parameters: &Value) -> Setup {
    let setup = Setup::new(&[&["--profile", "gateway"], arguments].concat()).size(100, 30).env("GATEWAY", key);
    let parameters: toml::Table = serde_json::from_value(parameters.clone()).unwrap();
    let profile = format!(
        "[profiles.gateway]\nbase_url = \"{base}\"\nkey_env = \"GATEWAY\"\nmodel = \"plain\"\n[profiles.gateway.parameters]\n{parameters}"
    );
    write_settings(&setup, &profile);
    setup
}

/// The same home, started again with other arguments.
fn setup_again(setup: &Setup, arguments: &[&str]) -> Setup {
    Setup::with_home(&setup.root, &[&["--profile", "gateway"], arguments].concat()).size(100, 30)
}

/// Runs `-p` through the gateway; returns output, errors and exit code.
fn run_headless((base, key): (&str, &str), model: &str, parameters: &Value) -> (String, String, i32) {
    setup_profile(base, key, &["-p", "--model", model, "hi"], parameters).run_piped("")
}

fn start_session(setup: Setup) -> Program {
    let mut program = setup.start();
    program.until("ask mode");
    program
}

#[test]
fn counts_tokens_and_resumes_a_session_through_a_gateway() {
    with_gateway(|base, key| {
        // A busy gateway may send the count of a reply later than aye waits for it.
        let (later, before, counts) =
            (0..3).find_map(|_| play_four_turns(base, key)).expect("every reply is counted in one of three sessions");
        assert_eq!(counts.len(), 4);
        assert!(counts.is_sorted() && counts[0] < counts[3], "each request contains the earlier turns: {counts:?}");
        let root = later.root.clone();
        let mut program = start_session(later);
        program.until("word 4");
        submit_message(&mut program, "and on");
        let next_setup = Setup::with_home(&root, &[]);
        wait_for_turns(&mut program, &next_setup, 5);
        assert!(read_session(&next_setup).starts_with(&before));
    });
}

/// Plays four turns. Returns the setup that continues the session, its entries, and the input tokens of each reply; `None` if
/// one was not counted.
fn play_four_turns(base: &str, key: &str) -> Option<(Setup, Vec<Entry>, Vec<u64>)> {
    let setup = setup_profile(base, key, &[], &json!({}));
    let later = setup_again(&setup, &["--continue"]).env("GATEWAY", key);
    let mut program = start_session(setup);
    for turn in 1..=4 {
        submit_message(&mut program, &format!("word {turn}"));
        wait_for_turns(&mut program, &later, turn);
    }
    program.until(REPLY);
    program.press_keys("\u{4}");
    assert_eq!(program.wait_for_exit(), 0);
    let before = read_session(&later);
    let count = |entry: &Entry| match entry {
        Entry::Replied { text, usage, .. } => {
            assert_eq!(text, REPLY);
            Some(usage.as_ref().map(|usage| usage.input))
        }
        _ => None,
    };
    let counts = before.iter().filter_map(count).collect::<Option<Vec<u64>>>()?;
    Some((later, before, counts))
}

#[test]
fn r48_each_gateway_error_is_one_line() {
    with_gateway(|base, key| {
        // Runs `-p` with this model on a thread, and checks the last error. The thread returns the number of error lines.
        let check = |model: &'static str, expected: &'static str| {
            let (base, key) = (base.to_owned(), key.to_owned());
            std::thread::spawn(move || {
                // A busy gateway may close an idle connection just as the last attempt uses it.
                let closed =
                    |err: &str| err.lines().last().is_some_and(|last| last.contains("closed the connection before"));
                let mut tries = (0..3).map(|_| run_headless((&base, &key), model, &json!({})));
                let (out, err, code) = tries.find(|(_, err, _)| !closed(err)).expect("an answer of three");
                assert_eq!((out.as_str(), code), ("", 1), "{model}: {err}");
                let last = err.lines().last().unwrap_or_default();
                assert!(last.starts_with(&format!("aye: {expected}")), "{model}: {last}");
                err.lines().count()
            })
        };
        // The model, the last error, and whether the request is retried.
        let cases = [
            (
                "limited",
                "The provider asks to wait (429, throttling_error): litellm.RateLimitError: this is a mock",
                true,
            ),
            ("broken", "The provider failed (500, internal_server_error): litellm.InternalServerError: this is", true),
            ("overloaded", "The provider failed (529): litellm.APIError", true),
            ("slow", "The provider timed out (408, invalid_request_error): litellm.Timeout", true),
            (
                "full",
                "The session exceeds the model's context window and cannot be shortened further: The provider rejected the request (400, invalid_request_error): litellm.ContextWindow",
                false,
            ),
            ("filtered", "The provider rejected the request (400, invalid_request_error): litellm.BadRequest", false),
            (
                "nobody",
                "The provider rejected the request (400, invalid_request_error): /chat/completions: Invalid",
                false,
            ),
        ];
        let running: Vec<_> =
            cases.map(|(model, expected, is_retried)| (check(model, expected), model, is_retried)).into();
        for (case, model, is_retried) in running {
            assert_eq!(case.join().unwrap() > 1, is_retried, "{model}: one line for each attempt");
        }
    });
}

#[test]
fn reports_a_wrong_key_without_showing_it() {
    with_gateway(|base, _| {
        for key in ["sk-wrong-1234567890", "wrong-1234567890"] {
            let (out, err, code) = run_headless((base, key), "plain", &json!({}));
            assert_eq!((out.as_str(), code), ("", 1));
            assert!(err.starts_with("aye: The provider rejected the key or requires one (4"), "{err}");
            assert!(!err.contains("1234567890"), "{err}");
            assert_eq!(err.lines().count(), 1, "the request is not retried: {err}");
        }
    });
}

#[test]
fn continues_with_another_model_after_a_gateway_error() {
    with_gateway(|base, key| {
        let setup = setup_profile(base, key, &["--model", "full"], &json!({}));
        let next_setup = setup_again(&setup, &[]);
        let mut program = start_session(setup);
        submit_message(&mut program, "much");
        program.until("ContextWindowExceededError");
        wait_for_turns(&mut program, &next_setup, 1);
        // The models are listed, and one of them is selected.
        submit_message(&mut program, "/model");
        let listed = program.until("overloaded");
        assert!(listed.contains("plain") && listed.contains("claude"), "{listed}");
        program.type_text("plain");
        program.press_keys("\r");
        program.until("switched to plain");
        submit_message(&mut program, "less");
        program.until(REPLY);
        wait_for_turns(&mut program, &next_setup, 2);
        let entries = read_session(&next_setup);
        let failed =
            |entry: &Entry| matches!(entry, Entry::Ended { ending: Ending::Failed(why) } if why.contains("400"));
        assert!(entries.iter().any(failed), "{entries:?}");
        // The title may follow.
        let ended = entries.iter().rev().find(|entry| matches!(entry, Entry::Ended { .. }));
        assert!(matches!(ended, Some(Entry::Ended { ending: Ending::Finished })), "{entries:?}");
    });
}

#[test]
fn r62_esc_ends_a_request_that_a_gateway_delays() {
    with_gateway(|base, key| {
        for (model, shown) in [("silent", "waiting for silent"), ("broken", " of 5 in ")] {
            try_three_times(model, || {
                let (address, hung_up) = start_proxy(base);
                let setup = setup_profile(&address, key, &["--model", model], &json!({}));
                let next_setup = setup_again(&setup, &[]);
                let mut program = start_session(setup);
                submit_message(&mut program, "hi");
                program.until(shown);
                let pressed = Instant::now();
                program.press_keys("\x1b");
                wait_for_turns(&mut program, &next_setup, 1);
                let ended = pressed.elapsed();
                if model == "silent" {
                    program.until_condition("the connection is closed", |_| hung_up.load(Ordering::SeqCst));
                }
                let closed = pressed.elapsed();
                program.type_text("still here");
                program.until("still here");
                match time_limits::is_within_limit(TURN_END_LIMIT, ended)
                    && time_limits::is_within_limit(CLOSE_LIMIT, closed)
                {
                    true => Ok(()),
                    false => Err(format!("ended after {ended:?}, closed after {closed:?}")),
                }
            });
        }
    });
}

/// Starts the program with a gateway that forwards this model to a scripted service at this path. Returns also a setup
/// that reads the program's session. Returns `None` without a gateway.
fn start_behind_gateway(
    (base, key): (&str, &str),
    model: &str,
    path: &str,
    answers: Vec<Answer>,
) -> (Runtime, Service, Program, Setup) {
    let runtime = Runtime::new().unwrap();
    let service = runtime.block_on(Service::start(answers));
    let address = format!("{}{path}", service.base_url.trim_end_matches("/v1"));
    let setup = setup_profile(base, key, &["--model", model], &json!({ "api_base": address }));
    let next_setup = setup_again(&setup, &[]);
    (runtime, service, start_session(setup), next_setup)
}

/// The results of the calls that ran.
fn read_results(setup: &Setup) -> Vec<String> {
    let outcome = |entry: &Entry| match entry {
        Entry::Settled { outcome: Outcome::Done(text), .. } => Some(text.clone()),
        _ => None,
    };
    read_session(setup).iter().filter_map(outcome).collect()
}

#[test]
fn runs_tool_calls_through_a_gateway() {
    with_gateway(|base, key| {
        let answers = vec![command_answer("touch t; echo through-the-gateway"), text_answer("I see it.")];
        let (_runtime, service, mut program, kept) = start_behind_gateway((base, key), "behind", "/v1", answers);
        submit_message(&mut program, "run it");
        program.until_prompt("$ touch t; echo through-the-gateway");
        assert_eq!(read_results(&kept), Vec::<String>::new(), "nothing runs before the approval");
        program.press_keys("y");
        program.until("I see it.");
        wait_for_turns(&mut program, &kept, 1);
        assert!(read_results(&kept)[0].contains("through-the-gateway"));
        let requests = service.received();
        let result = requests[1].body["messages"].as_array().unwrap().last().unwrap();
        assert_eq!((&result["role"], &result["tool_call_id"]), (&json!("tool"), &json!("c0")));
        assert!(result["content"].as_str().unwrap().contains("through-the-gateway"), "{result}");
    });
}

/// A stream in Anthropic's format.
fn anthropic_stream(events: &[Value]) -> Answer {
    events.iter().fold(Answer::stream(), |answer, event| {
        answer.raw(format!("event: {}\ndata: {event}\n\n", event["type"].as_str().unwrap()))
    })
}

#[test]
fn runs_tool_calls_that_a_gateway_translates() {
    with_gateway(|base, key| {
        let start = json!({ "type": "message_start", "message": { "id": "msg_1", "type": "message", "role": "assistant",
        "content": [], "model": "claude", "usage": { "input_tokens": 7, "output_tokens": 1 } } });
        let block =
            |at: u8, block: Value| json!({ "type": "content_block_start", "index": at, "content_block": block });
        let delta = |at: u8, delta: Value| json!({ "type": "content_block_delta", "index": at, "delta": delta });
        let stop = |at: u8| json!({ "type": "content_block_stop", "index": at });
        let end = |reason: &str| json!({ "type": "message_delta", "delta": { "stop_reason": reason }, "usage": { "output_tokens": 9 } });
        let over = json!({ "type": "message_stop" });
        let arguments = |text: &str| json!({ "type": "input_json_delta", "partial_json": text });
        let calls = anthropic_stream(&[
            start.clone(),
            block(0, json!({ "type": "text", "text": "" })),
            delta(0, json!({ "type": "text_delta", "text": "I will run it." })),
            stop(0),
            block(1, json!({ "type": "tool_use", "id": "toolu_01", "name": "bash_exec", "input": {} })),
            delta(1, arguments("{\"command\": \"touch t; echo ")),
            delta(1, arguments("translated\"}")),
            stop(1),
            end("tool_use"),
            over.clone(),
        ]);
        let text = anthropic_stream(&[
            start,
            block(0, json!({ "type": "text", "text": "" })),
            delta(0, json!({ "type": "text_delta", "text": "It ran." })),
            stop(0),
            end("end_turn"),
            over,
        ]);
        let (_runtime, service, mut program, kept) = start_behind_gateway((base, key), "claude", "", vec![calls, text]);
        submit_message(&mut program, "run it");
        program.until_prompt("$ touch t; echo translated");
        program.press_keys("y");
        program.until("It ran.");
        wait_for_turns(&mut program, &kept, 1);
        assert!(read_results(&kept)[0].contains("translated"));
        let requests = service.received();
        assert!(requests[0].line.starts_with("POST /v1/messages"), "{}", requests[0].line);
        let result = requests[1].body["messages"].as_array().unwrap().last().unwrap();
        assert_eq!(result["content"][0]["tool_use_id"], json!("toolu_01"), "{result}");
        // The title is requested in the same format, and its tokens count too.
        let counted = |entry: &Entry| match entry {
            Entry::Replied { usage, .. } => usage.map(|usage| usage.output),
            _ => None,
        };
        assert_eq!(read_session(&kept).iter().filter_map(counted).collect::<Vec<_>>(), [9, 9]);
    });
}

#[test]
fn keeps_a_partial_reply_through_a_gateway() {
    with_gateway(|base, key| {
        // This gateway reports a broken connection as a regular end, which no client can detect. It does pass on an error
        // event, so the reply ends with one here.
        let error = json!({ "error": { "message": "the card burnt", "code": 500 } });
        let answer = Answer::stream().text("Half of it").event(error);
        let (_runtime, _service, mut program, kept) = start_behind_gateway((base, key), "behind", "/v1", vec![answer]);
        submit_message(&mut program, "tell");
        wait_for_turns(&mut program, &kept, 1);
        let entries = read_session(&kept);
        let half =
            |entry: &Entry| matches!(entry, Entry::Replied { text, incomplete: Some(_), .. } if text == "Half of it");
        assert!(entries.iter().any(half), "{entries:?}");
        let Some(Entry::Ended { ending: Ending::Failed(why) }) = entries.last() else { panic!("{entries:?}") };
        assert!(why.contains("during the reply") && why.contains("the card burnt"), "{why}");
        program.until("Half of it");
        program.type_text("and now");
        program.until("and now");
    });
}

#[test]
fn r62_esc_closes_the_connection_behind_a_gateway() {
    with_gateway(|base, key| {
        let slow = (0..200).fold(Answer::stream(), |answer, at| {
            answer.text(&format!("word{at} ")).with_step(Step::Pause(Duration::from_millis(50)))
        });
        let (runtime, service, mut program, kept) = start_behind_gateway((base, key), "behind", "/v1", vec![slow]);
        submit_message(&mut program, "tell");
        program.until("word3");
        program.press_keys("\x1b");
        wait_for_turns(&mut program, &kept, 1);
        let closed = runtime.block_on(service.closed_early(PATIENCE));
        assert!(closed.is_some(), "the gateway did not close its own connection");
        program.until("word3");
        program.type_text("and now");
        program.until("and now");
    });
}
