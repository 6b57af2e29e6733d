//! Tools of files that ask a model outside the conversation.

use crate::support::service::{Answer, Service};
use crate::support::stored_files::read_entries;
use crate::support::terminal_session::{submit_message, text_answer};
use crate::support::tool_service::{call, outcomes, run, user_with_tool};
use crate::support::user::User;
use aye::chat::{Entry, Outcome, Session};
use serde_json::{Value, json};
use tokio::runtime::Runtime;

const RATE: &str = r#"name = "Rate"
type = "prompt"
system = "You rate texts."
template = "Rate this:\n{{text}}"
PROFILE
[answer_schema]
type = "object"
required = ["rating"]
properties = { rating = { type = "integer", minimum = 1 } }
[[parameters]]
name = "text"
type = "string"
"#;

fn rate_tool(profile: &str) -> String {
    RATE.replace("PROFILE", profile)
}

fn rate() -> Answer {
    call("rate", json!({ "text": "a {{b}} text" }))
}

/// An answer with the usage that the service reports.
fn counted_answer(text: &str) -> Answer {
    let usage =
        json!({ "choices": [], "usage": { "prompt_tokens": 100, "completion_tokens": 7, "total_tokens": 107 } });
    Answer::stream().text(text).finish("stop").event(usage).done()
}

fn user_with_other(one: Vec<Answer>, two: Vec<Answer>) -> (User, Runtime, Service) {
    let user = user_with_tool(one, "rate.toml", &rate_tool("profile = \"two\""));
    let runtime = Runtime::new().unwrap();
    let other = runtime.block_on(Service::start(two));
    let settings = format!(
        "[model]\ntitles = false\n[profiles.openai]\ncontext_window = 100000000\n[profiles.two]\nbase_url = \"{}\"\nmodel = \"b1\"\n",
        other.base_url
    );
    std::fs::write(user.path("home/aye/config/config.toml"), settings).unwrap();
    (user, runtime, other)
}

fn texts(body: &Value) -> Vec<String> {
    body["messages"]
        .as_array()
        .unwrap()
        .iter()
        .map(|message| message["content"].as_str().unwrap_or_default().to_owned())
        .collect()
}

#[test]
fn the_provider_of_the_session_answers_without_approval_and_its_tokens_count() {
    let answers = vec![
        rate(),
        counted_answer("{\"rating\": 0}"),
        counted_answer("```json\n{\"rating\": 4}\n```"),
        text_answer("Done."),
    ];
    let user = user_with_tool(answers, "rate.toml", &rate_tool(""));
    let mut program = user.start(&[]);
    program.until("Messages go to");
    submit_message(&mut program, "secret conversation");
    let screen = program.until_idle("Done.");
    assert!(screen.contains("✓ Ask a model Rate this:"), "{screen}");
    let received = user.service.received();
    assert_eq!(received.len(), 4);
    let prompt = &received[1].body;
    assert_eq!(texts(prompt), ["You rate texts.", "Rate this:\na {{b}} text"], "nothing else of the conversation");
    assert_eq!(prompt["response_format"]["json_schema"]["schema"]["required"], json!(["rating"]));
    assert_eq!((&prompt["model"], &prompt["max_completion_tokens"]), (&json!("scripted-7b"), &json!(4_000)));
    assert!(prompt["tools"].is_null(), "{prompt}");
    assert!(texts(&received[2].body)[1].contains("the answer.rating is less than 1"));
    let outcomes = outcomes(&user);
    assert!(matches!(&outcomes[0], Outcome::Done(text) if text == "{\"rating\":4}"), "{outcomes:?}");
    program.until_condition("the usage is saved", |_| {
        let entries = read_entries(user.root.path());
        let usage = entries.iter().find_map(|entry| match entry {
            Entry::Settled { usage, .. } => *usage,
            _ => None,
        });
        let usage = usage.expect("the call has its usage");
        assert_eq!((usage.input, usage.output), (200, 14));
        Session::replay(entries).usage().total() >= 214
    });
}

#[test]
fn another_provider_is_asked_only_after_approval() {
    let (user, _runtime, other) =
        user_with_other(vec![rate(), text_answer("Done.")], vec![text_answer("{\"rating\": 2}")]);
    let mut program = user.start(&[]);
    program.until("Messages go to");
    submit_message(&mut program, "go");
    let screen = program.until_prompt("Ask a model?");
    for part in ["to b1 at 127.0.0.1 (profile two)", "You rate texts.", "a {{b}} text", "\"rating\""] {
        assert!(screen.contains(part), "{part}: {screen}");
    }
    assert_eq!(other.received().len(), 0, "nothing is sent before the approval");
    program.press_keys("y");
    program.until_idle("Done.");
    assert_eq!(texts(&other.received()[0].body), ["You rate texts.", "Rate this:\na {{b}} text"]);
    let (user, _runtime, other) =
        user_with_other(vec![rate(), text_answer("Done.")], vec![text_answer("{\"rating\": 2}")]);
    let (out, _, _) = user.setup(&["-p", "go"]).run_piped("");
    assert!(out.contains("Done.") && other.received().is_empty(), "a headless run asks nobody: {out}");
    assert!(matches!(&outcomes(&user)[0], Outcome::Refused(_)));
}

#[test]
fn a_provider_without_schemas_is_asked_without_one() {
    let rejection = json!({ "error": { "message": "'response_format.type' must be 'text'" } }).to_string();
    let answers = vec![
        rate(),
        Answer::body(400, "application/json", &[], &rejection),
        text_answer("{\"rating\": 3}"),
        text_answer("Done."),
    ];
    let user = user_with_tool(answers, "rate.toml", &rate_tool(""));
    let (out, error, _) = user.setup(&["-p", "go"]).run_piped("");
    assert!(out.contains("Done."), "{out} {error}");
    let received = user.service.received();
    let has_schema: Vec<bool> = received.iter().map(|request| !request.body["response_format"].is_null()).collect();
    assert_eq!(has_schema, [false, true, false, false]);
    assert!(matches!(&outcomes(&user)[0], Outcome::Done(text) if text == "{\"rating\":3}"), "{:?}", outcomes(&user));
}

#[test]
fn answers_that_are_no_answer_are_errors() {
    let long = "x".repeat(20_000);
    for (answers, expected) in [
        (
            vec![text_answer("no"), text_answer("{\"rating\": \"high\"}")],
            "its second answer does not match the schema either",
        ),
        (vec![text_answer(&long)], "longer than 16 KB"),
        (vec![Answer::body(500, "text/plain", &[], "broken")], "gave no answer"),
        (vec![call("bash_exec", json!({ "command": "touch owned" }))], "it called a tool, and has none"),
    ] {
        let answers = [vec![rate()], answers, vec![text_answer("Done.")]].concat();
        let user = user_with_tool(answers, "rate.toml", &rate_tool(""));
        let (out, error, _) = user.setup(&["-p", "go"]).run_piped("");
        assert!(out.contains("Done."), "{expected}: {out} {error}");
        let outcomes = outcomes(&user);
        assert!(matches!(&outcomes[0], Outcome::Failed(text) if text.contains(expected)), "{expected}: {outcomes:?}");
        assert!(!user.project().join("owned").exists());
    }
}

#[test]
fn a_dry_run_asks_no_model() {
    let (user, _runtime, other) = user_with_other(vec![rate(), text_answer("Done.")], vec![text_answer("never")]);
    let (out, _, _) = user.setup(&["--dry-run", "-p", "go"]).run_piped("");
    assert!(out.contains("Done.") && other.received().is_empty(), "{out}");
    let outcomes = outcomes(&user);
    assert!(matches!(&outcomes[0], Outcome::Rehearsed(text) if text.contains("{\"rating\":1}")), "{outcomes:?}");
}

#[test]
fn a_prompt_is_checked_shown_and_tested() {
    let (user, _runtime, other) = user_with_other(vec![], vec![text_answer("{\"rating\": 5}")]);
    let (out, _, _) = run(&user, &["tools", "show", "rate"]);
    assert!(
        out.contains("warning: sends its prompt to the profile two") && out.contains("prompt: Rate this:"),
        "{out}"
    );
    let (out, error, code) = run(&user, &["tools", "test", "rate", "text=abc", "--yes"]);
    assert!(code == 0 && out.contains("{\"rating\":5}"), "{out} {error}");
    assert_eq!(other.received().len(), 1);
    let bad = rate_tool("profile = \"opneai\"").replace("minimum", "pattern");
    user.write_file("bad.toml", &bad);
    let (out, _, code) = run(&user, &["tools", "check", "bad.toml"]);
    assert!(code == 2 && out.contains("bad.toml:6: answer_schema.properties.rating.pattern is not supported"), "{out}");
    std::fs::write(
        user.path("home/aye/config/tools/bad.toml"),
        rate_tool("profile = \"opneai\"").replace("Rate\"", "Bad\""),
    )
    .unwrap();
    let (out, _, _) = run(&user, &["tools", "check"]);
    assert!(out.contains("bad.toml:5: profile: profile \"opneai\" does not exist. Did you mean openai?"), "{out}");
}
