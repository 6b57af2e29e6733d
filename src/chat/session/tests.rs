//! Sessions and their messages.

use super::super::{Access, Digest, Ending, Message, Preview};
use super::*;
use proptest::prelude::*;

fn said(text: &str) -> Entry {
    Entry::UserMessage { text: text.into() }
}

fn replied(text: &str, calls: &[&str]) -> Entry {
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

fn settled(call: &str) -> Entry {
    Entry::Settled {
        call: call.into(),
        outcome: Outcome::Done(format!("did {call}")),
        took_ms: 1,
        sha256: Digest::default(),
        staged: None,
    }
}

fn shape(session: &Session) -> Vec<String> {
    let word = |message: Message| match message {
        Message::System(_) => "system".to_owned(),
        Message::User(text) => format!("person {text}"),
        Message::Model { text, calls, .. } => format!("model {text}{}", calls.len()),
        Message::Tool { call, text } => format!("{call}: {text}"),
    };
    session.messages().into_iter().map(word).collect()
}

#[test]
fn every_call_is_followed_by_an_outcome_even_if_none_was_recorded() {
    let session = Session::replay([said("go"), replied("", &["a", "b"]), settled("b"), said("hello")]);
    assert_eq!(
        shape(&session),
        [
            "person go",
            "model 0".replace('0', "2").as_str(),
            "a: No outcome was recorded for this call.",
            "b: did b",
            "person hello"
        ]
    );
    assert_eq!(session.open_calls(), [CallId::from("a")]);
}

#[test]
fn a_user_message_between_calls_follows_their_outcomes() {
    let session = Session::replay([said("go"), replied("", &["a"]), said("also"), settled("a")]);
    assert_eq!(shape(&session), ["person go", "model 1", "a: did a", "person also"]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]
    #[test]
    fn results_are_sent_in_the_order_of_the_calls_whichever_finished_first(
        order in Just(vec!["a", "b", "c", "d", "e"]).prop_shuffle(),
        settles in 0_usize..=5,
        says in 0_usize..=5,
    ) {
        let mut entries = vec![said("go"), replied("", &["a", "b", "c", "d", "e"])];
        entries.extend(order[..settles].iter().map(|call| settled(call)));
        // Sent after all outcomes, whether it was entered between the calls or at their end.
        entries.insert(2 + says.min(settles), said("also"));
        entries.push(replied("Done.", &[]));
        let result = |call: &&str| match order[..settles].contains(call) {
            true => format!("{call}: did {call}"),
            false => format!("{call}: No outcome was recorded for this call."),
        };
        let mut expected = vec!["person go".to_owned(), "model 5".to_owned()];
        expected.extend(["a", "b", "c", "d", "e"].iter().map(result));
        expected.extend(["person also".to_owned(), "model Done.0".to_owned()]);
        prop_assert_eq!(shape(&Session::replay(entries)), expected);
    }
}

#[test]
fn a_call_is_settled_once() {
    let mut session = Session::replay([replied("", &["a"]), settled("a"), settled("a")]);
    assert!(session.open_calls().is_empty());
    session.apply(settled("never called"));
    assert!(session.open_calls().is_empty());
    assert_eq!(session.messages().len(), 2);
}

#[test]
fn the_model_is_told_that_a_reply_was_cut_short() {
    let mut cut = replied("Half", &[]);
    if let Entry::Replied { incomplete, .. } = &mut cut {
        *incomplete = Some("connection lost".into());
    }
    assert_eq!(shape(&Session::replay([cut])), ["model Half\n[the reply was cut short here]0"]);
}

#[test]
fn usage_adds_up() {
    let session = Session::replay([replied("a", &[]), replied("b", &[])]);
    assert_eq!((session.usage().input, session.usage().output), (20, 10));
}

#[test]
fn the_first_message_is_the_title_until_the_user_sets_one() {
    let mut session = Session::replay([said("  \n fix the test\nplease"), said("other")]);
    assert_eq!(session.title(), Some("fix the test"));
    session.apply(Entry::Titled { title: "mine".into(), by: TitleSource::User, usage: None });
    assert_eq!(session.title(), Some("mine"));
    session.apply(Entry::Titled { title: "the model's".into(), by: TitleSource::Model, usage: None });
    assert_eq!(session.title(), Some("mine"));
}

#[test]
fn an_entry_read_back_is_the_entry_that_was_written() {
    for entry in [said("x"), replied("y", &["a"]), settled("a"), Entry::Ended { ending: Ending::Failed("why".into()) }]
    {
        let line = serde_json::to_string(&entry).unwrap_or_default();
        assert_eq!(serde_json::from_str::<Entry>(&line).ok(), Some(entry), "{line}");
    }
}

#[test]
fn a_result_is_stored_readable_for_the_user_and_the_model_also_in_a_sub_agent() {
    let raw = "\u{1b}[32m10%\r100%\u{1b}[0m\r\nevil\u{1b}[2J\u{e0041}";
    let settle = |call: &str| Entry::Settled {
        call: call.into(),
        outcome: Outcome::Done(raw.into()),
        took_ms: 1,
        sha256: Digest::default(),
        staged: None,
    };
    let plan = |call: &str, preview| Entry::Planned {
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
    let beneath = |entry| Entry::SubAgent { call: "b".into(), entry: Box::new(entry) };
    let command = || Preview::Command(crate::chat::CommandLine::default());
    let mut session = Session::replay([
        replied("", &["a", "b"]),
        plan("a", command()),
        plan("b", Preview::Text(String::new())),
        settle("a"),
        beneath(replied("", &["c"])),
        beneath(plan("c", command())),
        beneath(settle("c")),
    ]);
    let last = session.apply(settle("b")).clone();
    let of_file = "<U+001B>[32m10%<U+000D>100%<U+001B>[0m\nevil<U+001B>[2J<U+E0041>";
    let of_command = "\u{1b}[32m100%\u{1b}[0m\nevil<U+001B>[2J<U+E0041>";
    let results: Vec<&str> = session
        .entries()
        .iter()
        .filter_map(|entry| match entry.unwrap_sub_agent() {
            Entry::Settled { outcome, .. } => Some(outcome.text()),
            _ => None,
        })
        .collect();
    assert_eq!(results, [of_command, of_command, of_file]);
    assert_eq!(session.entries().last(), Some(&last), "the log gets the stored entry");
    let told = shape(&session);
    assert_eq!(told[1..], ["a: 100%\nevil<U+001B>[2J<U+E0041>".to_owned(), format!("b: {of_file}")]);
    assert_eq!(Session::replay(session.entries().to_vec()), session, "applying it again changes nothing");
}

#[test]
fn marks_do_not_make_a_result_longer_than_tools_return() {
    let settled = |text: String| Entry::Settled {
        call: "a".into(),
        outcome: Outcome::Done(text),
        took_ms: 1,
        sha256: Digest::default(),
        staged: None,
    };
    let mut session = Session::replay([replied("", &["a"])]);
    let kept = session.apply(settled("\0\u{1}".repeat(30_000) + "\nexit 0")).clone();
    let Entry::Settled { outcome, .. } = &kept else { panic!("{kept:?}") };
    let text = outcome.text();
    assert!(
        text.len() < 66_000 && text.contains("characters truncated") && text.ends_with("\nexit 0"),
        "{}",
        text.len()
    );
    assert_eq!(Session::replay([kept]).entries(), &session.entries()[1..], "applying it again changes nothing");
    let long = "x".repeat(200_000);
    assert_eq!(session.apply(settled(long.clone())), &settled(long), "a result without marks is unchanged");
}
