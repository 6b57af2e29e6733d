//! Sessions and their messages.

use super::super::{Access, Digest, Ending, Message, Preview};
use super::*;
use proptest::prelude::*;

fn user_message(text: &str) -> Entry {
    Entry::UserMessage { text: text.into() }
}

fn reply_entry(text: &str, calls: &[&str]) -> Entry {
    let call = |id: &&str| ToolCall { id: CallId::from(*id), name: "read_file".into(), arguments: "{}".into() };
    Entry::Replied {
        text: text.into(),
        reasoning: String::new(),
        calls: calls.iter().map(call).collect(),
        incomplete: None,
        model: String::new(),
        usage: Some(Usage { input: 10, cached: 0, output: 5 }),
        thought_ms: 0,
        echo: None,
    }
}

fn settle_entry(call: &str) -> Entry {
    Entry::Settled {
        call: call.into(),
        outcome: Outcome::Done(format!("did {call}")),
        took_ms: 1,
        sha256: Digest::default(),
        staged: None,
        usage: None,
    }
}

/// Returns one text for each message. The text of a reply ends with the number of its calls.
fn format_messages(session: &Session) -> Vec<String> {
    let format_message = |message: Message| match message {
        Message::System(_) => "system".to_owned(),
        Message::User(text) => format!("user {text}"),
        Message::Model { text, calls, .. } => format!("model {text}{}", calls.len()),
        Message::Tool { call, text } => format!("{call}: {text}"),
    };
    session.messages(0, usize::MAX).into_iter().map(format_message).collect()
}

#[test]
fn every_call_is_followed_by_an_outcome_even_if_none_was_recorded() {
    let session =
        Session::replay([user_message("go"), reply_entry("", &["a", "b"]), settle_entry("b"), user_message("hello")]);
    assert_eq!(
        format_messages(&session),
        ["user go", "model 2", "a: No outcome was recorded for this call.", "b: did b", "user hello"]
    );
    assert_eq!(session.open_calls(), [CallId::from("a")]);
}

#[test]
fn a_user_message_between_calls_follows_their_outcomes() {
    let session =
        Session::replay([user_message("go"), reply_entry("", &["a"]), user_message("also"), settle_entry("a")]);
    assert_eq!(format_messages(&session), ["user go", "model 1", "a: did a", "user also"]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]
    #[test]
    fn results_are_sent_in_the_order_of_the_calls_whichever_finished_first(
        order in Just(vec!["a", "b", "c", "d", "e"]).prop_shuffle(),
        settled_count in 0_usize..=5,
        message_position in 0_usize..=5,
    ) {
        let mut entries = vec![user_message("go"), reply_entry("", &["a", "b", "c", "d", "e"])];
        entries.extend(order[..settled_count].iter().map(|call| settle_entry(call)));
        // A user message among the outcomes is sent after all of them.
        entries.insert(2 + message_position.min(settled_count), user_message("also"));
        entries.push(reply_entry("Done.", &[]));
        let result = |call: &&str| match order[..settled_count].contains(call) {
            true => format!("{call}: did {call}"),
            false => format!("{call}: No outcome was recorded for this call."),
        };
        let mut expected = vec!["user go".to_owned(), "model 5".to_owned()];
        expected.extend(["a", "b", "c", "d", "e"].iter().map(result));
        expected.extend(["user also".to_owned(), "model Done.0".to_owned()]);
        prop_assert_eq!(format_messages(&Session::replay(entries)), expected);
    }
}

#[test]
fn a_call_is_settled_once() {
    let mut session = Session::replay([reply_entry("", &["a"]), settle_entry("a"), settle_entry("a")]);
    assert!(session.open_calls().is_empty());
    session.apply(settle_entry("never called"));
    assert!(session.open_calls().is_empty());
    assert_eq!(session.messages(0, usize::MAX).len(), 2);
}

#[test]
fn the_model_is_told_that_a_reply_was_cut_short() {
    let mut reply = reply_entry("Half", &[]);
    if let Entry::Replied { incomplete, .. } = &mut reply {
        *incomplete = Some("connection lost".into());
    }
    assert_eq!(format_messages(&Session::replay([reply])), ["model Half\n[the reply was cut short here]0"]);
}

#[test]
fn usage_adds_up() {
    let session = Session::replay([reply_entry("a", &[]), reply_entry("b", &[])]);
    assert_eq!((session.usage().input, session.usage().output), (20, 10));
}

#[test]
fn the_first_message_is_the_title_until_the_user_sets_one() {
    let mut session = Session::replay([user_message("  \n fix the test\nplease"), user_message("other")]);
    assert_eq!(session.title(), Some("fix the test"));
    session.apply(Entry::Titled { title: "mine".into(), by: TitleSource::User, usage: None });
    assert_eq!(session.title(), Some("mine"));
    session.apply(Entry::Titled { title: "the model's".into(), by: TitleSource::Model, usage: None });
    assert_eq!(session.title(), Some("mine"));
}

#[test]
fn an_entry_read_back_is_the_entry_that_was_written() {
    for entry in [
        user_message("x"),
        reply_entry("y", &["a"]),
        settle_entry("a"),
        Entry::Ended { ending: Ending::Failed("why".into()) },
    ] {
        let line = serde_json::to_string(&entry).unwrap_or_default();
        assert_eq!(serde_json::from_str::<Entry>(&line).ok(), Some(entry), "{line}");
    }
}

#[test]
fn a_result_is_stored_readable_for_the_user_and_the_model_also_in_a_sub_agent() {
    let output = "\u{1b}[32m10%\r100%\u{1b}[0m\r\nevil\u{1b}[2J\u{e0041}";
    let settle_with_output = |call: &str| Entry::Settled {
        call: call.into(),
        outcome: Outcome::Done(output.into()),
        took_ms: 1,
        sha256: Digest::default(),
        staged: None,
        usage: None,
    };
    let plan_entry = |call: &str, preview| Entry::Planned {
        call: call.into(),
        title: String::new(),
        summary: String::new(),
        access: Access::Nothing,
        preview: Box::new(preview),
        destroys: None,
        preconditions: Box::default(),
        verdict: "allow".into(),
        reason: String::new(),
        hooks_not_run: Vec::new(),
        sha256: Digest::default(),
    };
    let in_sub_agent = |entry| Entry::SubAgent { call: "b".into(), entry: Box::new(entry) };
    let command_preview = || Preview::Command(crate::chat::CommandLine::default());
    let mut session = Session::replay([
        reply_entry("", &["a", "b"]),
        plan_entry("a", command_preview()),
        plan_entry("b", Preview::Text(String::new())),
        settle_with_output("a"),
        in_sub_agent(reply_entry("", &["c"])),
        in_sub_agent(plan_entry("c", command_preview())),
        in_sub_agent(settle_with_output("c")),
    ]);
    let last_entry = session.apply(settle_with_output("b")).clone();
    let file_result = "<U+001B>[32m10%<U+000D>100%<U+001B>[0m\nevil<U+001B>[2J<U+E0041>";
    let command_result = "\u{1b}[32m100%\u{1b}[0m\nevil<U+001B>[2J<U+E0041>";
    let results: Vec<&str> = session
        .entries()
        .iter()
        .filter_map(|entry| match entry.unwrap_sub_agent() {
            Entry::Settled { outcome, .. } => Some(outcome.text()),
            _ => None,
        })
        .collect();
    assert_eq!(results, [command_result, command_result, file_result]);
    assert_eq!(session.entries().last(), Some(&last_entry), "the log gets the stored entry");
    let messages = format_messages(&session);
    assert_eq!(messages[1..], ["a: 100%\nevil<U+001B>[2J<U+E0041>".to_owned(), format!("b: {file_result}")]);
    assert_eq!(Session::replay(session.entries().to_vec()), session, "applying it again changes nothing");
}

#[test]
fn marked_characters_do_not_make_a_result_longer_than_tools_return() {
    let settle_with_text = |text: String| Entry::Settled {
        call: "a".into(),
        outcome: Outcome::Done(text),
        took_ms: 1,
        sha256: Digest::default(),
        staged: None,
        usage: None,
    };
    let mut session = Session::replay([reply_entry("", &["a"])]);
    let stored = session.apply(settle_with_text("\0\u{1}".repeat(30_000) + "\nexit 0")).clone();
    let Entry::Settled { outcome, .. } = &stored else { panic!("{stored:?}") };
    let text = outcome.text();
    assert!(
        text.len() < 66_000 && text.contains("characters truncated") && text.ends_with("\nexit 0"),
        "{}",
        text.len()
    );
    assert_eq!(Session::replay([stored]).entries(), &session.entries()[1..], "applying it again changes nothing");
    let long = "x".repeat(200_000);
    assert_eq!(
        session.apply(settle_with_text(long.clone())),
        &settle_with_text(long),
        "a result without marks is unchanged"
    );
}

#[test]
fn a_session_of_commands_is_named_after_the_first_until_there_is_a_message() {
    let command = |command: &str, is_shared| {
        Entry::UserCommand(Box::new(super::super::UserCommand {
            command: command.into(),
            output: String::new(),
            status: "exit 0".into(),
            is_shared,
            is_rehearsed: false,
            took_ms: 1,
        }))
    };
    let title = |entries: &[Entry]| Session::replay(entries.to_vec()).title().map(str::to_owned);
    let entries = [command("cargo test", true), command("ls", true), user_message("Fix it")];
    assert_eq!(title(&entries[..2]).as_deref(), Some("! cargo test"));
    assert_eq!(title(&entries).as_deref(), Some("Fix it"));
    assert_eq!(title(&[command("cat secret", false)]).as_deref(), Some("!! command"));
}
