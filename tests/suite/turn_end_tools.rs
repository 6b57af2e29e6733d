//! Tools of files that end the conversation, or hand the session to the user or to another profile.

use crate::support::program::Setup;
use crate::support::service::{Answer, Service};
use crate::support::stored_files::read_entries;
use crate::support::terminal_session::{calls_answer_after, submit_message, text_answer};
use crate::support::tool_service::{call, outcomes, run, user_with_tool, write_user_tool};
use crate::support::user::User;
use aye::chat::{Conclusion, Entry, Outcome};
use aye::tools::tool_file::FileKind;
use serde_json::{Value, json};
use std::time::Duration;
use tokio::runtime::Runtime;

const END: &str = "name = \"Finish\"\ntype = \"end_conversation\"\nmessageType = \"custom\"\ncustomMessage = \"Goodbye from the file.\"\nendCallReason = true\n";
const PARK: &str = "name = \"Ask owner\"\ntype = \"transfer\"\ndestination = \"human\"\n";
const SWITCH: &str = "name = \"Escalate\"\ntype = \"transfer\"\ndestination = \"profile:two\"\n";

fn entries(user: &User) -> Vec<Entry> {
    read_entries(user.root.path())
}

fn conclusions(user: &User) -> Vec<Conclusion> {
    let conclusion = |entry| if let Entry::Concluded(conclusion) = entry { Some(conclusion) } else { None };
    entries(user).into_iter().filter_map(conclusion).collect()
}

#[test]
fn the_conversation_ends_and_the_user_can_continue_it() {
    let answers = vec![call("finish", json!({ "reason": "All tests pass\u{1b}[2J\u{202e}" })), text_answer("Again.")];
    let user = user_with_tool(answers, "finish.toml", END);
    let mut program = user.start(&[]);
    program.until("Messages go to");
    submit_message(&mut program, "go");
    let screen = program.until_idle("Conversation ended: All tests pass");
    assert!(screen.contains("Goodbye from the file."), "{screen}");
    assert!(screen.contains("✓ End the conversation All tests pass"), "{screen}");
    assert!(!screen.contains('\u{202e}'), "{screen}");
    assert_eq!(user.service.received().len(), 1, "the model was asked again");
    // The end stays where it was, and the session goes on.
    submit_message(&mut program, "more");
    let screen = program.until_idle("Again.");
    assert!(screen.contains("Conversation ended"), "{screen}");
    let messages = user.service.received()[1].body["messages"].clone();
    assert_eq!(messages[messages.as_array().unwrap().len() - 2]["role"], "tool", "{messages}");
    drop(program);
    let mut program = user.start(&["--continue"]);
    program.until_all(&["Conversation ended: All tests pass", "Again."]);
}

#[test]
fn a_headless_run_ends_with_the_message_of_the_file() {
    let user =
        user_with_tool(vec![call("finish", json!({ "reason": "done" })), text_answer("never")], "finish.toml", END);
    let (out, error, code) = user.setup(&["-p", "go"]).run_piped("");
    assert_eq!((out.as_str(), code), ("Goodbye from the file.\n", 0), "{error}");
    assert!(error.contains("aye: Conversation ended: done"), "{error}");
    assert_eq!(user.service.received().len(), 1);
    let expected = Conclusion::Finished { message: "Goodbye from the file.".into(), reason: "done".into() };
    assert_eq!(conclusions(&user), [expected]);
    let user = user_with_tool(vec![call("finish", json!({ "reason": "done" }))], "finish.toml", END);
    let (out, _, code) = user.setup(&["-p", "go", "--json"]).run_piped("");
    let kinds: Vec<Value> =
        out.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()["kind"].clone()).collect();
    assert!(code == 0 && kinds.contains(&json!("concluded")), "{out}");
}

#[test]
fn the_conversation_does_not_end_while_something_waits() {
    let calls = [("list_files", json!({})), ("finish", json!({ "reason": "done" }))];
    let answers = vec![
        calls_answer_after(Duration::ZERO, &calls),
        calls_answer_after(Duration::from_secs(2), &calls[1..]),
        text_answer("Read."),
    ];
    let user = user_with_tool(answers, "finish.toml", END);
    let mut program = user.start(&[]);
    program.until("Messages go to");
    submit_message(&mut program, "go");
    program.until_condition("the second request", |_| user.service.received().len() == 2);
    submit_message(&mut program, "wait for this");
    program.until_idle("Read.");
    let outcomes = outcomes(&user);
    let refusals: Vec<&str> =
        outcomes.iter().filter(|outcome| matches!(outcome, Outcome::Refused(_))).map(Outcome::text).collect();
    let [unseen, queued] = refusals[..] else { panic!("{outcomes:?}") };
    assert!(unseen.contains("list_files"), "{unseen}");
    assert!(queued.contains("1 message of the user will be sent"), "{queued}");
    assert_eq!(conclusions(&user), []);
}

#[test]
fn a_parked_session_is_listed_and_resumed_with_its_note() {
    let note = json!({ "note": "Choose a licence\nand a name" });
    let user = user_with_tool(vec![call("ask_owner", note), text_answer("Thanks.")], "park.toml", PARK);
    let (_, error, code) = user.setup(&["-p", "go"]).run_piped("");
    assert!(code == 3 && error.contains("Handed to you: Choose a licence"), "{code} {error}");
    let (out, _, _) = run(&user, &["sessions"]);
    assert!(out.contains("handed to you: Choose a licence"), "{out}");
    let (out, _, _) = run(&user, &["sessions", "--json"]);
    assert!(out.contains("\"parked_note\":\"Choose a licence\\nand a name\""), "{out}");
    let (out, _, _) = run(&user, &["sessions", "show"]);
    assert!(out.contains("Handed to you: Choose a licence"), "{out}");
    let mut program = user.start(&["--continue"]);
    program.until_all(&["This session was handed to you", "Handed to you: Choose a licence"]);
    submit_message(&mut program, "/resume");
    program.until("handed to you: Choose a licence");
    program.press_keys("\u{1b}");
    program.until_gone("esc back");
    submit_message(&mut program, "MIT");
    program.until_idle("Thanks.");
    drop(program);
    let (out, _, _) = run(&user, &["sessions"]);
    assert!(!out.contains("handed to you"), "{out}");
}

/// A user with two profiles, each with a service of its own.
fn user_with_profiles(one: Vec<Answer>, two: Vec<Answer>) -> (User, Runtime, Service) {
    let user = user_with_tool(one, "escalate.toml", SWITCH);
    let runtime = Runtime::new().unwrap();
    let other = runtime.block_on(Service::start(two));
    let settings = format!(
        "[model]\ntitles = false\nprofile = \"one\"\n[profiles.one]\nbase_url = \"{}\"\nmodel = \"a1\"\n[profiles.two]\nbase_url = \"{}\"\nmodel = \"b1\"\n",
        user.service.base_url, other.base_url
    );
    std::fs::write(user.path("home/aye/config/config.toml"), settings).unwrap();
    (user, runtime, other)
}

fn escalate() -> Answer {
    call("escalate", json!({ "note": "too hard for me" }))
}

#[test]
fn an_approved_transfer_switches_the_profile_for_the_next_message() {
    let (user, _runtime, other) = user_with_profiles(vec![escalate()], vec![text_answer("From two.")]);
    let mut program = Setup::with_home(&user.root, &[]).size(110, 36).start();
    program.until("Messages go to");
    submit_message(&mut program, "go");
    let screen = program.until_prompt("Switch to another model?");
    for part in ["profile two: b1 at 127.0.0.1", "whole conversation is sent there", "too hard for me"] {
        assert!(screen.contains(part), "{part}: {screen}");
    }
    program.press_keys("y");
    let screen = program.until_idle("switched to b1 (profile two)");
    assert!(screen.contains("✓ Switch to another model to two (b1)"), "{screen}");
    assert_eq!(
        (user.service.received().len(), other.received().len()),
        (1, 0),
        "nothing is sent before the next message"
    );
    submit_message(&mut program, "more");
    program.until_idle("From two.");
    assert_eq!((user.service.received().len(), other.received().len()), (1, 1));
    assert!(other.received()[0].body["messages"].to_string().contains("go"));
}

#[test]
fn a_denied_transfer_changes_nothing() {
    let (user, _runtime, other) =
        user_with_profiles(vec![escalate(), text_answer("Then I stay.")], vec![text_answer("never")]);
    let mut program = Setup::with_home(&user.root, &[]).size(110, 36).start();
    program.until("Messages go to");
    submit_message(&mut program, "go");
    program.until_prompt("Switch to another model?");
    program.press_until("n", "Then I stay.");
    program.until_idle("Then I stay.");
    drop(program);
    assert!(!entries(&user).iter().any(|entry| matches!(entry, Entry::Switched { .. })));
    assert_eq!(other.received().len(), 0);
}

#[test]
fn a_headless_run_transfers_only_if_a_rule_allows_it() {
    let rule = "[[rule]]\nverdict = \"allow\"\ntool = \"escalate\"\nhost = \"127.0.0.1\"\n";
    for (rules, switches) in [("", false), (rule, true)] {
        let (user, _runtime, other) =
            user_with_profiles(vec![escalate(), text_answer("Stay.")], vec![text_answer("From two.")]);
        let user = user.with_rules(rules);
        let (out, error, _) = run(&user, &["-p", "go"]);
        assert_eq!(out.contains("Stay."), !switches, "{out} {error}");
        assert_eq!(entries(&user).iter().any(|entry| matches!(entry, Entry::Switched { .. })), switches);
        let (out, error, _) = run(&user, &["--continue", "-p", "more"]);
        assert_eq!(out.contains("From two."), switches, "{out} {error}");
        assert_eq!(other.received().len(), usize::from(switches));
    }
}

#[test]
fn a_transfer_that_leads_nowhere_is_an_error_of_the_file() {
    let user = user_with_tool(vec![], "a.toml", &SWITCH.replace("profile:two", "profile:opneai"));
    write_user_tool(&user, "b.toml", &SWITCH.replace("profile:two", "agent:writer").replace("Escalate", "Other"));
    let (out, _, code) = run(&user, &["tools", "check"]);
    assert_eq!(code, 2);
    assert!(out.contains("a.toml:3: destination: profile \"opneai\" does not exist. Did you mean openai?"), "{out}");
    assert!(out.contains("b.toml:3: destination \"agent:writer\": this version of aye has no agents"), "{out}");
}

#[test]
fn new_files_of_every_kind_are_valid_and_can_be_shown_and_tested() {
    let user = User::new(vec![]);
    for kind in FileKind::ALL.map(FileKind::name) {
        let (_, error, code) = run(&user, &["tools", "new", &format!("my {kind}"), "--kind", kind]);
        assert_eq!(code, 0, "{error}");
        let (out, _, _) = run(&user, &["tools", "show", &format!("my_{kind}")]);
        assert!(out.contains(" · on · ") && out.contains("the model sees:"), "{out}");
    }
    let (out, _, code) = run(&user, &["tools", "check"]);
    assert!(code == 0 && out.contains("no problems"), "{out}");
    let (out, _, _) = run(&user, &["tools"]);
    assert!(out.contains("on · end_conversation · ends turn") && out.contains("on · transfer · ends turn"), "{out}");
    let (out, _, code) = run(&user, &["tools", "test", "my_transfer", "note=hello"]);
    assert!(code == 0 && out.contains("Handed to you: hello") && out.contains("Nothing was done"), "{out}");
    let (_, error, code) = run(&user, &["tools", "new", "x", "--kind", "phone"]);
    assert!(
        code != 0
            && error.contains("Cannot write a tool of kind \"phone\": there is no such kind. Use one of \"http_api\""),
        "{error}"
    );
}
