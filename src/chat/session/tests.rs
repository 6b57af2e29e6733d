//! A session and its talk.

use super::super::{Digest, Ending, Message};
use super::*;
use proptest::prelude::*;

fn said(text: &str) -> Entry {
    Entry::Said { text: text.into() }
}

fn replied(text: &str, calls: &[&str]) -> Entry {
    let call =
        |id: &&str| ToolCall { id: CallId::from(*id), name: "read_file".into(), arguments: "{}".into() };
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
        Message::Person(text) => format!("person {text}"),
        Message::Model { text, calls, .. } => format!("model {text}{}", calls.len()),
        Message::Tool { call, text } => format!("{call}: {text}"),
    };
    session.messages().into_iter().map(word).collect()
}

#[test]
fn every_call_is_followed_by_its_outcome_even_where_none_was_recorded() {
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
fn what_is_said_between_calls_goes_behind_their_outcomes() {
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
        // Within the calls this comes after all of them, and so it does at their end.
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
fn a_reply_cut_short_says_so_to_the_model() {
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
fn the_first_words_name_a_session_until_a_person_does() {
    let mut session = Session::replay([said("  \n fix the test\nplease"), said("other")]);
    assert_eq!(session.title(), Some("fix the test"));
    session.apply(Entry::Titled { title: "mine".into(), by: Namer::Person, usage: None });
    assert_eq!(session.title(), Some("mine"));
    session.apply(Entry::Titled { title: "the model's".into(), by: Namer::Model, usage: None });
    assert_eq!(session.title(), Some("mine"));
}

#[test]
fn an_entry_read_back_is_the_entry_that_was_written() {
    for entry in
        [said("x"), replied("y", &["a"]), settled("a"), Entry::Ended { ending: Ending::Failed("why".into()) }]
    {
        let line = serde_json::to_string(&entry).unwrap_or_default();
        assert_eq!(serde_json::from_str::<Entry>(&line).ok(), Some(entry), "{line}");
    }
}
