//! Every quirk of a real server in `tests/wire/`, sent to the real program over a real socket.
//!
//! `AYE_WIRE=name` runs only fixtures whose name contains this.

use super::format_reply;
use crate::support::fixture::{self, Fixture};
use crate::support::pick_count;
use crate::support::program::Setup;
use crate::support::service::{Answer, Service};
use aye::chat::{Message, Request};
use aye::llm::{Llm, OpenAi, Settings};
use futures::StreamExt;
use serde_json::Value;
use similar::TextDiff;
use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Semaphore;

/// Minimum number of fixtures, so that an empty or missing folder fails.
const AT_LEAST: usize = 305;

/// Fixtures in parallel; each mostly waits.
const AT_ONCE: usize = 16;

/// The fixtures to run.
fn choose_fixtures() -> Vec<Fixture> {
    let all = fixture::read_all().unwrap_or_else(|wrong| panic!("{wrong}"));
    assert!(all.len() >= AT_LEAST, "{} fixtures in {}", all.len(), fixture::folder().display());
    let Ok(name) = std::env::var("AYE_WIRE") else { return all };
    let chosen: Vec<Fixture> = all.into_iter().filter(|fixture| fixture.name.contains(&name)).collect();
    assert!(!chosen.is_empty(), "no fixture is named {name}");
    chosen
}

/// Size of the longest answer in bytes.
fn size(fixture: &Fixture) -> usize {
    fixture.answers.iter().map(|answer| answer.bytes().len()).max().unwrap_or(0)
}

/// All fixtures in a thorough run or if they are named, otherwise every nth up to one megabyte. They are sorted by
/// name, so there are some of each kind.
fn sample(step: usize) -> Vec<Fixture> {
    let all = std::env::var_os("AYE_WIRE").is_some();
    let (step, max_bytes) = if all { (1, usize::MAX) } else { (pick_count(1, step), pick_count(usize::MAX, 1 << 20)) };
    let is_small = |fixture: &Fixture| size(fixture) <= max_bytes;
    choose_fixtures().into_iter().step_by(step).filter(is_small).collect()
}

/// Runs the fixtures in parallel and fails with all errors.
async fn run_fixtures<F, R>(fixtures: Vec<Fixture>, run: R)
where
    R: Fn(Fixture) -> F,
    F: Future<Output = Result<(), String>> + Send + 'static,
{
    let room = Arc::new(Semaphore::new(AT_ONCE));
    let running: Vec<_> = fixtures
        .into_iter()
        .map(|fixture| {
            let (name, what) = (fixture.name.clone(), fixture.description.join(" "));
            let (running, room) = (run(fixture), room.clone());
            let task = tokio::spawn(async move {
                let _permit = room.acquire().await;
                running.await
            });
            (name, what, task)
        })
        .collect();
    let count = running.len();
    let mut failures = Vec::new();
    for (name, what, task) in running {
        let outcome = task.await.unwrap_or_else(|error| Err(error.to_string()));
        failures.extend(outcome.err().map(|why| format!("{name} ({what})\n{why}")));
    }
    assert!(failures.is_empty(), "{} of {count} fixtures:\n\n{}", failures.len(), failures.join("\n\n"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r48_every_fixture_passes_in_the_real_program() {
    run_fixtures(sample(9), run_in_program).await;
}

async fn run_in_program(fixture: Fixture) -> Result<(), String> {
    let service = Service::start(fixture.answers.clone()).await;
    let setup = Setup::new(&["-p", "--json", "--profile", "odd", "hi"])
        .env("KEY", "sk-wire-1234567890")
        .with_file("a.txt", "What is in a.\n")
        .with_file("b.txt", "What is in b.\n");
    let config = setup.root.path().join("home/aye/config");
    std::fs::create_dir_all(&config).unwrap();
    let profile = format!(
        "[profiles.odd]\nbase_url = \"{}\"\nkey_env = \"KEY\"\nmodel = \"m\"\nidle_seconds = {}\n",
        service.base_url,
        fixture.idle.unwrap_or(30)
    );
    std::fs::write(config.join("config.toml"), profile).unwrap();
    let (out, err, code) = tokio::task::spawn_blocking(move || setup.run_piped("")).await.unwrap();
    let received = service.received();
    let origin = service.base_url.trim_end_matches("/v1");
    let found = describe_result(&out.replace(origin, "ORIGIN"), &err.replace(origin, "ORIGIN"), code, received.len())?;
    compare(&describe_expected(&fixture), &found)?;
    for (number, is_expected, name) in &fixture.request_fields {
        let request = received.get(number - 1).ok_or_else(|| format!("there was no request {number}"))?;
        if request.body.get(name).is_some() != *is_expected {
            let verb = if *is_expected { "lacks" } else { "has" };
            return Err(format!("request {number} {verb} {name}: {}", request.body));
        }
    }
    Ok(())
}

/// Describes the expected result, one fact per line.
fn describe_expected(fixture: &Fixture) -> String {
    let expected = &fixture.expected;
    let mut lines: Vec<String> = expected.retried_errors.iter().map(|why| format!("again: {why}")).collect();
    lines.push(format!("text: {}", quote_text(&expected.text)));
    lines.push(format!("reasoning: {}", quote_text(&expected.reasoning)));
    lines.extend(expected.calls.iter().map(|(name, arguments)| format!("call: {name} {arguments}")));
    if let Some((input, cached, output)) = expected.usage {
        lines.push(format!("usage: {input}({cached})+{output}"));
    }
    if !expected.calls.is_empty() {
        lines.push("then: Done.".to_owned());
    }
    lines.extend(expected.error.iter().map(|why| format!("fails: {why}")));
    lines.push(format!("exit: {}, requests: {}", expected.exit_code, expected.request_count));
    lines.join("\n")
}

/// Describes the result in the same form. Returns an error if the program broke one of its own rules.
fn describe_result(out: &str, err: &str, code: i32, requests: usize) -> Result<String, String> {
    let entries: Vec<Value> = out
        .lines()
        .map(|line| serde_json::from_str(line).map_err(|error| format!("not JSON ({error}): {line}")))
        .collect::<Result<_, _>>()?;
    let of_kind = |kind: &str| entries.iter().filter(|entry| entry["kind"] == kind).collect::<Vec<_>>();
    let (replies, settled) = (of_kind("replied"), of_kind("settled"));
    let why = of_kind("ended").last().and_then(|entry| entry["ending"]["why"].as_str());
    let mut lines = Vec::new();
    let mut notices = err.lines().map(|line| line.strip_prefix("aye: ").unwrap_or(line)).peekable();
    while let Some((failed, _)) = notices.peek().and_then(|line| line.split_once("; trying again in ")) {
        lines.push(format!("again: {failed}"));
        notices.next();
    }
    if why != notices.next() || notices.next().is_some() {
        return Err(format!("the session says {why:?}, and the output is:\n{err}"));
    }
    let first = replies.first().map_or(&Value::Null, |reply| *reply);
    lines.push(format!("text: {}", quote_text(first["text"].as_str().unwrap_or_default())));
    lines.push(format!("reasoning: {}", quote_text(first["reasoning"].as_str().unwrap_or_default())));
    let calls = first["calls"].as_array().map_or(&[][..], Vec::as_slice);
    for call in calls {
        let field = |name: &str| call[name].as_str().unwrap_or_default();
        lines.push(format!("call: {} {}", field("name"), field("arguments")));
    }
    if let Some(usage) = first["usage"].as_object() {
        lines.push(format!("usage: {}({})+{}", usage["input"], usage["cached"], usage["output"]));
    }
    lines.extend(replies.iter().skip(1).map(|reply| format!("then: {}", reply["text"].as_str().unwrap_or_default())));
    lines.extend(why.map(|why| format!("fails: {why}")));
    lines.push(format!("exit: {code}, requests: {requests}"));

    let ids: HashSet<&str> = calls.iter().filter_map(|call| call["id"].as_str()).collect();
    let settled_ids: HashSet<&str> = settled.iter().filter_map(|entry| entry["call"].as_str()).collect();
    if ids.len() != calls.len() || ids.contains("") || settled.len() != calls.len() || settled_ids != ids {
        return Err(format!("every call must have its own ID and be settled once:\n{out}"));
    }
    let is_incomplete = first["incomplete"].is_string();
    let is_empty = first["text"].as_str().is_none_or(|text| text.trim().is_empty());
    if (why.is_none() && is_incomplete) || (why.is_some() && !is_incomplete && !is_empty) {
        return Err(format!("the end of the turn contradicts the reply:\n{out}"));
    }
    Ok(lines.join("\n"))
}

/// Quotes text so that whitespace, control characters and very long lines are readable.
fn quote_text(text: &str) -> String {
    let length = text.chars().count();
    if length > 2000 {
        let start: String = text.chars().take(40).collect();
        return format!("{start:?}… {length} characters");
    }
    format!("{text:?}")
}

fn compare(expected: &str, found: &str) -> Result<(), String> {
    if expected == found {
        return Ok(());
    }
    let (expected, found) = (format!("{expected}\n"), format!("{found}\n"));
    Err(TextDiff::from_lines(&expected, &found)
        .unified_diff()
        .context_radius(9)
        .header("expected", "found")
        .to_string())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r64_boundaries_of_network_packets_do_not_matter() {
    run_fixtures(sample(16), run_recut).await;
}

async fn run_recut(fixture: Fixture) -> Result<(), String> {
    let longest_answer = size(&fixture);
    // A silence depends on the clock, not on packets.
    if fixture.idle.is_some() {
        return Ok(());
    }
    let full_text = collect_reply(&fixture, &fixture.answers).await;
    // Nearly byte by byte, and in random pieces, seeded by the name.
    let small = longest_answer.div_ceil(pick_count(4000, 50)).max(1);
    let mut chance = fixture.name.bytes().fold(7u64, |sum, byte| sum.wrapping_mul(31).wrapping_add(byte.into()));
    let mut by_chance = || {
        chance = chance.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        1 + (chance >> 33) as usize % (longest_answer / 8).max(9)
    };
    for answers in [
        fixture.answers.iter().map(|answer| answer.split_again(|| small)).collect::<Vec<_>>(),
        fixture.answers.iter().map(|answer| answer.split_again(&mut by_chance)).collect(),
    ] {
        compare(&full_text, &collect_reply(&fixture, &answers).await)?;
    }
    Ok(())
}

/// Returns the reply that the model makes of these answers, with pieces of the same kind joined.
async fn collect_reply(fixture: &Fixture, answers: &[Answer]) -> String {
    let service = Service::start(answers.to_vec()).await;
    let idle = Duration::from_secs(fixture.idle.unwrap_or(30));
    let model = OpenAi::new(Settings { idle_limit: idle, ..Settings::new(&service.base_url) });
    let request = Request {
        model: "m".into(),
        messages: vec![Message::User("hi".into())],
        tools: vec![],
        max_tokens: None,
        images: vec![],
        answer_schema: None,
    };
    let out: Vec<_> = model.stream(request).collect().await;
    let origin = service.base_url.trim_end_matches("/v1");
    format_reply(&out).replace(")(", "").replace(origin, "ORIGIN")
}

#[test]
fn invalid_fixture_is_an_error_with_its_line() {
    let good = "what: w\nsource: own: s\ntext: a\n--- answer\nHTTP/1.1 200 OK\n\ndata: 1\n--- end\n";
    assert!(fixture::parse("good", good).is_ok());
    for (from, to, wrong) in [
        ("what: w\n", "", "7: a fixture needs `what`"),
        ("what: w", "what:", "1: `what` has no value"),
        ("text: a", "txet: a", "3: `txet` is not a key"),
        ("text: a", "text: a\ntext: b", "4: given twice"),
        ("text: a", "text", "3: a line of the head is `key: value`"),
        ("text: a", "usage: 1", "3: `input(cached)+output`"),
        ("text: a", "exit: one", "3: `one` is not a number"),
        ("text: a", "call: f {}\nfails: x", "9: a fixture with `fails` cannot have calls"),
        ("own: s", "nowhere", "2: a source is"),
        ("--- answer", "--- reply", "4: a section is"),
        ("--- answer\n", "", "4: a line of the head"),
        ("HTTP/1.1 200 OK", "200 OK", "5: an answer begins with its status line"),
        ("OK\n\n", "OK\n", "7: the head does not end"),
        ("data: 1", "data: «1»", "7: «1» is not a command"),
        ("data: 1", "data: «cut", "7: « without »"),
        ("data: 1", "«gzip»", "8: an encoding has no «end»"),
        ("data: 1", "«gzip»\n«cut»\n«end»", "8: compressed bytes cannot be cut"),
        ("data: 1", "«end»", "7: `end` without a beginning"),
        ("--- end\n", "", "8: the file ends without `--- end`"),
        ("--- end\n", "--- end\nmore\n", "8: there is text after"),
    ] {
        assert!(good.contains(from), "{from}");
        let error = fixture::parse("wrong", &good.replacen(from, to, 1)).err().unwrap_or_default();
        assert!(error.starts_with(wrong), "{to:?}: {error}");
    }
}

#[test]
fn fixture_notation_produces_the_intended_bytes() {
    let answer = |lines: &str| {
        let text = format!("what: w\nsource: own: s\n--- answer\n{lines}\n--- end\n");
        fixture::parse("bytes", &text).unwrap().answers.remove(0)
    };
    let sent = |lines: &str| answer(lines).bytes();
    assert_eq!(sent("HTTP/1.1 200 OK\n\na\n«cut»\nb«cr»"), b"HTTP/1.1 200 OK\r\n\r\na\nb\r\n");
    assert_eq!(
        sent("HTTP/1.1 200 OK\na: «length»\n\né«join»\n«ff 00»"),
        b"HTTP/1.1 200 OK\r\na: 5\r\n\r\n\xc3\xa9\xff\x00\n"
    );
    assert_eq!(
        sent("HTTP/1.1 100 Go\n\nHTTP/1.1 200 OK\n\n«repeat 2 ab»«join»"),
        b"HTTP/1.1 100 Go\r\n\r\nHTTP/1.1 200 OK\r\n\r\nabab"
    );
    assert_eq!(
        sent("HTTP/1.1 200 OK\n\n«chunked»\na: 1\n\n\nb«cut»c«join»\n«end»\n0«cr»\n«cr»"),
        b"HTTP/1.1 200 OK\r\n\r\n6\r\na: 1\n\n\r\n2\r\n\nb\r\n1\r\nc\r\n0\r\n\r\n"
    );
    let gzip = sent("HTTP/1.1 200 OK\n\n«gzip»\na\n«end»");
    // The head takes the first 19 bytes. These three begin every gzip stream.
    assert_eq!(gzip[19..22], [0x1f, 0x8b, 8]);
}
