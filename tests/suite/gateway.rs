//! The real program behind a gateway that somebody else wrote, where `AYE_TEST_GATEWAY` names one by its base address
//! and `AYE_TEST_GATEWAY_KEY` its key. It offers what `tests/servers/gateway.yaml` says.

use crate::support::between::between;
use crate::support::hand::PATIENCE;
use crate::support::kept::{session, settings, until_ended};
use crate::support::leave_out;
use crate::support::program::{Program, Setup};
use crate::support::promise::{self, thrice};
use crate::support::service::{Answer, Service, Step};
use crate::support::talking::{runs, say, says};
use aye::chat::{Ending, Entry, Outcome};
use serde_json::{Value, json};
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};
use tokio::runtime::Runtime;

/// What ended is on disk.
const USABLE: Duration = Duration::from_millis(500);
/// The connection is closed.
const CLOSED: Duration = Duration::from_secs(1);
const SAYS: &str = "The gateway says: good day.";

/// Address and key.
fn gateway() -> Option<(String, String)> {
    let gateway = std::env::var("AYE_TEST_GATEWAY").ok();
    if gateway.is_none() {
        leave_out("AYE_TEST_GATEWAY is not set");
    }
    Some((gateway?, std::env::var("AYE_TEST_GATEWAY_KEY").expect("a gateway has a key")))
}

/// The program with a profile for the gateway at this address, these parameters in every request.
fn knows(base: &str, key: &str, arguments: &[&str], parameters: &Value) -> Setup {
    let setup = Setup::new(&[&["--profile", "gateway"], arguments].concat()).size(100, 30).env("GATEWAY", key);
    let parameters: toml::Table = serde_json::from_value(parameters.clone()).unwrap();
    let profile = format!(
        "[profiles.gateway]\nbase_url = \"{base}\"\nkey_env = \"GATEWAY\"\nmodel = \"plain\"\n[profiles.gateway.parameters]\n{parameters}"
    );
    settings(&setup, &profile);
    setup
}

/// The same in the same home, later.
fn again(setup: &Setup, arguments: &[&str]) -> Setup {
    Setup::again(&setup.place, &[&["--profile", "gateway"], arguments].concat()).size(100, 30)
}

/// What `-p` prints, its errors and its exit code.
fn prints(key: &str, model: &str, parameters: &Value) -> (String, String, i32) {
    let (base, _) = gateway().expect("the caller has one");
    knows(&base, key, &["-p", "--model", model, "hi"], parameters).print("")
}

fn open(setup: Setup) -> Program {
    let mut program = setup.start();
    program.until("ask mode");
    program
}

#[test]
fn a_talk_through_a_gateway_is_counted_and_gone_on_with() {
    let Some((base, key)) = gateway() else { return };
    let setup = knows(&base, &key, &[], &json!({}));
    let later = again(&setup, &["--continue"]).env("GATEWAY", &key);
    let mut program = open(setup);
    for turn in 1..=4 {
        say(&mut program, &format!("word {turn}"));
        until_ended(&mut program, &later, turn);
    }
    program.until(SAYS);
    program.keys("\u{4}");
    assert_eq!(program.ends(), 0);
    let before = session(&later);
    let counts: Vec<_> = before
        .iter()
        .filter_map(|entry| match entry {
            Entry::Replied { text, usage, .. } => {
                assert_eq!(text, SAYS);
                Some(usage.expect("every reply is counted").input)
            }
            _ => None,
        })
        .collect();
    assert_eq!(counts.len(), 4);
    assert!(counts.is_sorted() && counts[0] < counts[3], "each request carries what was said: {counts:?}");
    let place = later.place.clone();
    let mut program = open(later);
    program.until("word 4");
    say(&mut program, "and on");
    let kept = Setup::again(&place, &[]);
    until_ended(&mut program, &kept, 5);
    assert!(session(&kept).starts_with(&before));
}

#[test]
fn r48_each_error_of_a_gateway_is_a_sentence() {
    let Some((_, key)) = gateway() else { return };
    let check = |model: &'static str, expected: &'static str| {
        let key = key.clone();
        std::thread::spawn(move || {
            // A busy gateway closes a connection that was quiet for five seconds just as the last attempt begins on it.
            let closed = |err: &str| err.lines().last().is_some_and(|last| last.contains("connection closed before"));
            let mut tries = (0..3).map(|_| prints(&key, model, &json!({})));
            let (out, err, code) = tries.find(|(_, err, _)| !closed(err)).expect("an answer of three");
            assert_eq!((out.as_str(), code), ("", 1), "{model}: {err}");
            let last = err.lines().last().unwrap_or_default();
            assert!(last.starts_with(&format!("aye: {expected}")), "{model}: {last}");
            err.lines().count()
        })
    };
    // The model, what is told last, and whether it is tried again before.
    let cases = [
        ("limited", "The provider asks to wait (429, throttling_error): litellm.RateLimitError: this is a mock", true),
        ("broken", "The provider failed (500, internal_server_error): litellm.InternalServerError: this is", true),
        ("overloaded", "The provider failed (529): litellm.APIError", true),
        ("slow", "The provider timed out (408, invalid_request_error): litellm.Timeout", true),
        (
            "full",
            "The session exceeds the model's context window and cannot be shortened further: The provider rejected the request (400, invalid_request_error): litellm.ContextWindow",
            false,
        ),
        ("filtered", "The provider rejected the request (400, invalid_request_error): litellm.BadRequest", false),
        ("nobody", "The provider rejected the request (400, invalid_request_error): /chat/completions: Invalid", false),
    ];
    let running: Vec<_> = cases.map(|(model, expected, again)| (check(model, expected), model, again)).into();
    for (case, model, again) in running {
        assert_eq!(case.join().unwrap() > 1, again, "{model}: one line for each attempt");
    }
}

#[test]
fn a_wrong_key_is_said_to_be_one_and_shown_nowhere() {
    let Some((_, _)) = gateway() else { return };
    for key in ["sk-wrong-1234567890", "wrong-1234567890"] {
        let (out, err, code) = prints(key, "plain", &json!({}));
        assert_eq!((out.as_str(), code), ("", 1));
        assert!(err.starts_with("aye: The provider rejected the key or requires one (4"), "{err}");
        assert!(!err.contains("1234567890"), "{err}");
        assert_eq!(err.lines().count(), 1, "and it is not tried again: {err}");
    }
}

#[test]
fn after_an_error_of_a_gateway_the_talk_goes_on_with_another_model() {
    let Some((base, key)) = gateway() else { return };
    let setup = knows(&base, &key, &["--model", "full"], &json!({}));
    let kept = again(&setup, &[]);
    let mut program = open(setup);
    say(&mut program, "much");
    program.until("ContextWindowExceededError");
    until_ended(&mut program, &kept, 1);
    // The models are listed, and one of them is chosen.
    say(&mut program, "/model");
    let listed = program.until("overloaded");
    assert!(listed.contains("plain") && listed.contains("claude"), "{listed}");
    program.types("plain");
    program.keys("\r");
    program.until("switched to plain");
    say(&mut program, "less");
    program.until(SAYS);
    until_ended(&mut program, &kept, 2);
    let entries = session(&kept);
    let failed = |entry: &Entry| matches!(entry, Entry::Ended { ending: Ending::Failed(why) } if why.contains("400"));
    assert!(entries.iter().any(failed), "{entries:?}");
    assert!(matches!(entries.last(), Some(Entry::Ended { ending: Ending::Finished })), "{entries:?}");
}

#[test]
fn r62_esc_ends_what_a_gateway_keeps_waiting() {
    let Some((base, key)) = gateway() else { return };
    for (model, shown) in [("silent", "waiting for silent"), ("broken", " of 5 in ")] {
        thrice(model, || {
            let (address, hung_up) = between(&base);
            let setup = knows(&address, &key, &["--model", model], &json!({}));
            let kept = again(&setup, &[]);
            let mut program = open(setup);
            say(&mut program, "hi");
            program.until(shown);
            let pressed = Instant::now();
            program.keys("\x1b");
            until_ended(&mut program, &kept, 1);
            let ended = pressed.elapsed();
            if model == "silent" {
                program.until_that("the connection is closed", |_| hung_up.load(Ordering::SeqCst));
            }
            let closed = pressed.elapsed();
            program.types("still here");
            program.until("still here");
            match promise::kept(USABLE, ended) && promise::kept(CLOSED, closed) {
                true => Ok(()),
                false => Err(format!("ended after {ended:?}, closed after {closed:?}")),
            }
        });
    }
}

/// The program, a gateway, and a service of ours behind it, asked as this model.
fn behind(model: &str, below: &str, answers: Vec<Answer>) -> Option<(Runtime, Service, Program, Setup)> {
    let (base, key) = gateway()?;
    let runtime = Runtime::new().unwrap();
    let service = runtime.block_on(Service::start(answers));
    let address = format!("{}{below}", service.base_url.trim_end_matches("/v1"));
    let setup = knows(&base, &key, &["--model", model], &json!({ "api_base": address }));
    let kept = again(&setup, &[]);
    Some((runtime, service, open(setup), kept))
}

/// What became of the calls.
fn outcomes(setup: &Setup) -> Vec<String> {
    let outcome = |entry: &Entry| match entry {
        Entry::Settled { outcome: Outcome::Done(text), .. } => Some(text.clone()),
        _ => None,
    };
    session(setup).iter().filter_map(outcome).collect()
}

#[test]
fn a_call_that_a_gateway_hands_on_is_asked_about_and_its_outcome_goes_back() {
    let answers = vec![runs("touch t; echo through-the-gateway"), says("I see it.")];
    let Some((_runtime, service, mut program, kept)) = behind("behind", "/v1", answers) else { return };
    say(&mut program, "run it");
    program.until_asked("$ touch t; echo through-the-gateway");
    assert_eq!(outcomes(&kept), Vec::<String>::new(), "nothing runs before a yes");
    program.keys("y");
    program.until("I see it.");
    until_ended(&mut program, &kept, 1);
    assert!(outcomes(&kept)[0].contains("through-the-gateway"));
    let asked = service.received();
    let told = asked[1].body["messages"].as_array().unwrap().last().unwrap();
    assert_eq!((&told["role"], &told["tool_call_id"]), (&json!("tool"), &json!("c0")));
    assert!(told["content"].as_str().unwrap().contains("through-the-gateway"), "{told}");
}

/// A reply with a call in the words of the other large way of talking.
fn as_claude(events: &[Value]) -> Answer {
    events.iter().fold(Answer::stream(), |answer, event| {
        answer.raw(format!("event: {}\ndata: {event}\n\n", event["type"].as_str().unwrap()))
    })
}

#[test]
fn a_call_that_a_gateway_translates_is_asked_about_and_its_outcome_goes_back() {
    let start = json!({ "type": "message_start", "message": { "id": "msg_1", "type": "message", "role": "assistant",
        "content": [], "model": "claude", "usage": { "input_tokens": 7, "output_tokens": 1 } } });
    let block = |at: u8, block: Value| json!({ "type": "content_block_start", "index": at, "content_block": block });
    let delta = |at: u8, delta: Value| json!({ "type": "content_block_delta", "index": at, "delta": delta });
    let stop = |at: u8| json!({ "type": "content_block_stop", "index": at });
    let end = |why: &str| json!({ "type": "message_delta", "delta": { "stop_reason": why }, "usage": { "output_tokens": 9 } });
    let over = json!({ "type": "message_stop" });
    let arguments = |text: &str| json!({ "type": "input_json_delta", "partial_json": text });
    let calls = as_claude(&[
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
    let text = as_claude(&[
        start,
        block(0, json!({ "type": "text", "text": "" })),
        delta(0, json!({ "type": "text_delta", "text": "It ran." })),
        stop(0),
        end("end_turn"),
        over,
    ]);
    let Some((_runtime, service, mut program, kept)) = behind("claude", "", vec![calls, text]) else {
        return;
    };
    say(&mut program, "run it");
    program.until_asked("$ touch t; echo translated");
    program.keys("y");
    program.until("It ran.");
    until_ended(&mut program, &kept, 1);
    assert!(outcomes(&kept)[0].contains("translated"));
    let asked = service.received();
    assert!(asked[0].line.starts_with("POST /v1/messages"), "{}", asked[0].line);
    let told = asked[1].body["messages"].as_array().unwrap().last().unwrap();
    assert_eq!(told["content"][0]["tool_use_id"], json!("toolu_01"), "{told}");
    // What the title costs, which is asked for in the same way of talking, counts beside the replies.
    let counted = |entry: &Entry| match entry {
        Entry::Replied { usage, .. } => usage.map(|usage| usage.output),
        _ => None,
    };
    assert_eq!(session(&kept).iter().filter_map(counted).collect::<Vec<_>>(), [9, 9]);
}

#[test]
fn a_reply_that_breaks_off_behind_a_gateway_keeps_what_came() {
    // A connection that only breaks behind it is told as a good end by this gateway; nobody before it can know.
    let error = json!({ "error": { "message": "the card burnt", "code": 500 } });
    let answer = Answer::stream().says("Half of it").event(error);
    let Some((_runtime, _service, mut program, kept)) = behind("behind", "/v1", vec![answer]) else { return };
    say(&mut program, "tell");
    until_ended(&mut program, &kept, 1);
    let entries = session(&kept);
    let half =
        |entry: &Entry| matches!(entry, Entry::Replied { text, incomplete: Some(_), .. } if text == "Half of it");
    assert!(entries.iter().any(half), "{entries:?}");
    let Some(Entry::Ended { ending: Ending::Failed(why) }) = entries.last() else { panic!("{entries:?}") };
    assert!(why.contains("in the middle of the reply") && why.contains("the card burnt"), "{why}");
    program.until("Half of it");
    program.types("and now");
    program.until("and now");
}

#[test]
fn r62_esc_in_a_reply_through_a_gateway_is_heard_behind_it() {
    let slow = (0..200).fold(Answer::stream(), |answer, at| {
        answer.says(&format!("word{at} ")).then(Step::Pause(Duration::from_millis(50)))
    });
    let Some((runtime, service, mut program, kept)) = behind("behind", "/v1", vec![slow]) else { return };
    say(&mut program, "tell");
    program.until("word3");
    program.keys("\x1b");
    until_ended(&mut program, &kept, 1);
    let closed = runtime.block_on(service.closed_early(PATIENCE));
    assert!(closed.is_some(), "the gateway heard it, and hung up behind itself");
    program.until("word3");
    program.types("and now");
    program.until("and now");
}
