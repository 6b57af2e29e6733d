//! Every quirk of a real server that is written down in `tests/wire/`, sent to the real program over a real socket.
//!
//! `AYE_WIRE=name` runs only those whose name has this in it.

use super::told;
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

/// There were so many when this was written; a folder that is empty or was not found is not good.
const AT_LEAST: usize = 305;

/// How many run at once. Most of the time each only waits.
const AT_ONCE: usize = 16;

/// Those to be run.
fn chosen() -> Vec<Fixture> {
    let all = fixture::read_all().unwrap_or_else(|wrong| panic!("{wrong}"));
    assert!(all.len() >= AT_LEAST, "{} fixtures in {}", all.len(), fixture::folder().display());
    let Ok(name) = std::env::var("AYE_WIRE") else { return all };
    let some: Vec<Fixture> = all.into_iter().filter(|fixture| fixture.name.contains(&name)).collect();
    assert!(!some.is_empty(), "no fixture is named {name}");
    some
}

/// The bytes of its longest answer.
fn size(fixture: &Fixture) -> usize {
    fixture.answers.iter().map(|answer| answer.bytes().len()).max().unwrap_or(0)
}

/// All that were chosen where there is time, and those that are named; where a person waits, every so many of them: they
/// lie in the order of their names, so that there are some of each kind. None of more than a megabyte is among them then.
fn sample(step: usize) -> Vec<Fixture> {
    let all = std::env::var_os("AYE_WIRE").is_some();
    let (step, most) = if all { (1, usize::MAX) } else { (pick_count(1, step), pick_count(usize::MAX, 1 << 20)) };
    let is_small = |fixture: &Fixture| size(fixture) <= most;
    chosen().into_iter().step_by(step).filter(is_small).collect()
}

/// Runs all at once, as many as the machine can bear; gives what went wrong.
async fn each<F, R>(fixtures: Vec<Fixture>, run: R)
where
    R: Fn(Fixture) -> F,
    F: Future<Output = Result<(), String>> + Send + 'static,
{
    let room = Arc::new(Semaphore::new(AT_ONCE));
    let running: Vec<_> = fixtures
        .into_iter()
        .map(|fixture| {
            let (name, what) = (fixture.name.clone(), fixture.what.join(" "));
            let (running, room) = (run(fixture), room.clone());
            let task = tokio::spawn(async move {
                let _permit = room.acquire().await;
                running.await
            });
            (name, what, task)
        })
        .collect();
    let count = running.len();
    let mut wrong = Vec::new();
    for (name, what, task) in running {
        let outcome = task.await.unwrap_or_else(|error| Err(error.to_string()));
        wrong.extend(outcome.err().map(|why| format!("{name} ({what})\n{why}")));
    }
    assert!(wrong.is_empty(), "{} of {count} fixtures:\n\n{}", wrong.len(), wrong.join("\n\n"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r48_every_fixture_passes_in_the_real_program() {
    each(sample(9), in_the_program).await;
}

async fn in_the_program(fixture: Fixture) -> Result<(), String> {
    let service = Service::start(fixture.answers.clone()).await;
    let setup = Setup::new(&["-p", "--json", "--profile", "odd", "hi"])
        .has("a.txt", "What is in a.\n")
        .has("b.txt", "What is in b.\n");
    let config = setup.place.path().join("home/aye/config");
    std::fs::create_dir_all(&config).unwrap();
    let profile = format!(
        "[profiles.odd]\nbase_url = \"{}\"\nmodel = \"m\"\nidle_seconds = {}\n",
        service.base_url,
        fixture.idle.unwrap_or(30)
    );
    std::fs::write(config.join("config.toml"), profile).unwrap();
    let (out, err, code) = tokio::task::spawn_blocking(move || setup.print("")).await.unwrap();
    let received = service.received();
    let origin = service.base_url.trim_end_matches("/v1");
    let got = got(&out.replace(origin, "ORIGIN"), &err.replace(origin, "ORIGIN"), code, received.len())?;
    same(&wanted(&fixture), &got)?;
    for (which, has, name) in &fixture.sent {
        let request = received.get(which - 1).ok_or_else(|| format!("there was no request {which}"))?;
        if request.body.get(name).is_some() != *has {
            let says = if *has { "lacks" } else { "has" };
            return Err(format!("request {which} {says} {name}: {}", request.body));
        }
    }
    Ok(())
}

/// What must come, one thing a line.
fn wanted(fixture: &Fixture) -> String {
    let expected = &fixture.expected;
    let mut lines: Vec<String> = expected.again.iter().map(|why| format!("again: {why}")).collect();
    lines.push(format!("text: {}", shown(&expected.text)));
    lines.push(format!("reasoning: {}", shown(&expected.reasoning)));
    lines.extend(expected.calls.iter().map(|(name, arguments)| format!("call: {name} {arguments}")));
    if let Some((input, cached, output)) = expected.usage {
        lines.push(format!("usage: {input}({cached})+{output}"));
    }
    if !expected.calls.is_empty() {
        lines.push("then: Done.".to_owned());
    }
    lines.extend(expected.fails.iter().map(|why| format!("fails: {why}")));
    lines.push(format!("exit: {}, asked: {}", expected.exit, expected.asked));
    lines.join("\n")
}

/// What came, in the same form. An error where the program broke a rule of its own.
fn got(out: &str, err: &str, code: i32, asked: usize) -> Result<String, String> {
    let entries: Vec<Value> = out
        .lines()
        .map(|line| serde_json::from_str(line).map_err(|error| format!("not JSON ({error}): {line}")))
        .collect::<Result<_, _>>()?;
    let of = |kind: &str| entries.iter().filter(|entry| entry["kind"] == kind).collect::<Vec<_>>();
    let (replies, settled) = (of("replied"), of("settled"));
    let why = of("ended").last().and_then(|entry| entry["ending"]["why"].as_str());
    let mut lines = Vec::new();
    let mut told = err.lines().map(|line| line.strip_prefix("aye: ").unwrap_or(line)).peekable();
    while let Some((failed, _)) = told.peek().and_then(|line| line.split_once("; trying again in ")) {
        lines.push(format!("again: {failed}"));
        told.next();
    }
    if why != told.next() || told.next().is_some() {
        return Err(format!("the session says {why:?}, and the person was told:\n{err}"));
    }
    let first = replies.first().map_or(&Value::Null, |reply| *reply);
    lines.push(format!("text: {}", shown(first["text"].as_str().unwrap_or_default())));
    lines.push(format!("reasoning: {}", shown(first["reasoning"].as_str().unwrap_or_default())));
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
    lines.push(format!("exit: {code}, asked: {asked}"));

    let ids: HashSet<&str> = calls.iter().filter_map(|call| call["id"].as_str()).collect();
    let over: HashSet<&str> = settled.iter().filter_map(|entry| entry["call"].as_str()).collect();
    if ids.len() != calls.len() || ids.contains("") || settled.len() != calls.len() || over != ids {
        return Err(format!("every call has an id of its own and is settled once:\n{out}"));
    }
    let half = first["incomplete"].is_string();
    let empty = first["text"].as_str().is_none_or(|text| text.trim().is_empty());
    if (why.is_none() && half) || (why.is_some() && !half && !empty) {
        return Err(format!("whether the reply is whole and how it ended do not fit:\n{out}"));
    }
    Ok(lines.join("\n"))
}

/// Text so that blanks, control characters and very long lines can be read.
fn shown(text: &str) -> String {
    let letters = text.chars().count();
    if letters > 2000 {
        let start: String = text.chars().take(40).collect();
        return format!("{start:?} and so on, {letters} letters");
    }
    format!("{text:?}")
}

fn same(wanted: &str, got: &str) -> Result<(), String> {
    if wanted == got {
        return Ok(());
    }
    let (wanted, got) = (format!("{wanted}\n"), format!("{got}\n"));
    Err(TextDiff::from_lines(&wanted, &got).unified_diff().context_radius(9).header("wanted", "came").to_string())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r64_where_the_network_cuts_an_answer_makes_no_difference() {
    each(sample(16), cut_anywhere).await;
}

async fn cut_anywhere(fixture: Fixture) -> Result<(), String> {
    let most = size(&fixture);
    // What a silence does depends on the clock, not on cuts.
    if fixture.idle.is_some() {
        return Ok(());
    }
    let whole = comes_of(&fixture, &fixture.answers).await;
    // Byte by byte or nearly so; then in pieces by chance, which the name alone decides.
    let small = most.div_ceil(pick_count(4000, 50)).max(1);
    let mut chance = fixture.name.bytes().fold(7u64, |sum, byte| sum.wrapping_mul(31).wrapping_add(byte.into()));
    let mut by_chance = || {
        chance = chance.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        1 + (chance >> 33) as usize % (most / 8).max(9)
    };
    for answers in [
        fixture.answers.iter().map(|answer| answer.recut(|| small)).collect::<Vec<_>>(),
        fixture.answers.iter().map(|answer| answer.recut(&mut by_chance)).collect(),
    ] {
        same(&whole, &comes_of(&fixture, &answers).await)?;
    }
    Ok(())
}

/// What the model makes of an answer, with pieces of the same kind put together.
async fn comes_of(fixture: &Fixture, answers: &[Answer]) -> String {
    let service = Service::start(answers.to_vec()).await;
    let idle = Duration::from_secs(fixture.idle.unwrap_or(30));
    let model = OpenAi::new(Settings { idle_limit: idle, ..Settings::new(&service.base_url) });
    let request = Request {
        model: "m".into(),
        messages: vec![Message::User("hi".into())],
        tools: vec![],
        max_tokens: None,
        pictures: vec![],
    };
    let out: Vec<_> = model.stream(request).collect().await;
    let origin = service.base_url.trim_end_matches("/v1");
    told(&out).replace(")(", "").replace(origin, "ORIGIN")
}

#[test]
fn a_wrong_fixture_is_an_error_with_its_line() {
    let good = "what: w\nsource: own: s\ntext: a\n--- answer\nHTTP/1.1 200 OK\n\ndata: 1\n--- end\n";
    assert!(fixture::parse("good", good).is_ok());
    for (from, to, wrong) in [
        ("what: w\n", "", "7: a fixture says `what`"),
        ("what: w", "what:", "1: `what` says nothing"),
        ("text: a", "txet: a", "3: `txet` is no key"),
        ("text: a", "text: a\ntext: b", "4: stands twice"),
        ("text: a", "text", "3: a line of the head is `key: value`"),
        ("text: a", "usage: 1", "3: `input(cached)+output`"),
        ("text: a", "exit: one", "3: `one` is no number"),
        ("text: a", "call: f {}\nfails: x", "9: what fails runs no calls"),
        ("own: s", "nowhere", "2: a source is"),
        ("--- answer", "--- reply", "4: a section is"),
        ("--- answer\n", "", "4: a line of the head"),
        ("HTTP/1.1 200 OK", "200 OK", "5: an answer begins with its status line"),
        ("OK\n\n", "OK\n", "7: the head does not end"),
        ("data: 1", "data: «1»", "7: «1» is no word"),
        ("data: 1", "data: «cut", "7: « without »"),
        ("data: 1", "«gzip»", "8: something was begun"),
        ("data: 1", "«gzip»\n«cut»\n«end»", "8: what is packed cannot be cut"),
        ("data: 1", "«end»", "7: nothing was begun"),
        ("--- end\n", "", "8: the file ends without `--- end`"),
        ("--- end\n", "--- end\nmore\n", "8: something stands behind"),
    ] {
        assert!(good.contains(from), "{from}");
        let told = fixture::parse("wrong", &good.replacen(from, to, 1)).err().unwrap_or_default();
        assert!(told.starts_with(wrong), "{to:?}: {told}");
    }
}

#[test]
fn the_bytes_of_a_fixture_are_the_ones_that_are_meant() {
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
    assert_eq!(gzip[19..22], [0x1f, 0x8b, 8]);
}
