//! What models send, and what is asked of the person.

use super::*;
use crate::tools::memory::Memory;

fn ask(arguments: Value) -> Result<Questions, String> {
    match AskQuestion.plan(&arguments, &Memory::with(&[])) {
        Ok(Intent::Ask(questions)) => Ok(questions),
        Ok(Intent::Act(plan)) => panic!("{plan:?}"),
        Err(error) => Err(error.to_string()),
    }
}

/// Keyword, text and labels of each question.
fn check(arguments: Value, expected: &[(&str, &str, &[&str])]) {
    let asked = ask(arguments).unwrap();
    let found: Vec<(&str, &str, Vec<&str>)> = (asked.list.iter())
        .map(|q| (q.keyword.as_str(), q.text.as_str(), q.options.iter().map(|o| o.label.as_str()).collect()))
        .collect();
    let expected: Vec<_> = expected.iter().map(|(k, t, o)| (*k, *t, o.to_vec())).collect();
    assert_eq!(found, expected);
}

#[test]
fn the_shapes_that_models_send_are_understood() {
    check(
        json!({"questions": [{"question": " Where to? ", "options": ["Email", "Slack", "SMS"], "keyword": "channel"}]}),
        &[("channel", "Where to?", &["Email", "Slack", "SMS"])],
    );
    check(
        json!({"question": "Why?", "choices": [{"label": "a", "description": "d"}, "b"]}),
        &[("question-0", "Why?", &["a", "b"])],
    );
    check(
        json!({"questions": "[{\"question\":\"Why?\",\"options\":\"[\\\"a\\\"]\"}]"}),
        &[("question-0", "Why?", &["a"])],
    );
    check(
        json!({"questions": [{"question": "q", "options": ["0", "", null, "No", " No "]}]}),
        &[("question-0", "q", &["0", "No"])],
    );
    check(
        json!({"questions": ["text", {"question": "  "}, {"question": "ok?"}]}),
        &[("question-0", "ok?", &[])],
    );
    check(
        json!({"questions": [{"question": "a", "keyword": "k"}, {"question": "b", "keyword": "k"}, {"question": "c", "keyword": null}]}),
        &[("k", "a", &[]), ("k-1", "b", &[]), ("question-2", "c", &[])],
    );
}

#[test]
fn what_can_not_be_asked_says_what_would_be_right() {
    for (arguments, part) in [
        (json!({}), "probably cut off"),
        (json!({"questions": []}), "requires a non-empty 'questions' array"),
        (json!({"questions": "what?"}), "requires a non-empty 'questions' array"),
        (json!({"questions": ["x", {}]}), "at least one valid question"),
        (json!({"question": "a", "questions": [{"question": "b"}]}), "not both"),
        (json!({"question": "a", "options": "b, c"}), "'options' to be an array"),
        (json!({"question": "a", "multi": "yes"}), "at “multi”"),
        (json!({"question": "a", "colour": 1}), "unknown field `colour`"),
    ] {
        let error = ask(arguments).unwrap_err();
        assert!(error.contains(part), "{error}");
    }
}

#[test]
fn limits_cut_and_count() {
    let options: Vec<String> = (0..30).map(|n| format!("{n}{}", "é".repeat(300))).collect();
    let question = json!({"question": "q", "options": options});
    let asked = ask(json!({"questions": vec![question; 12]})).unwrap();
    assert_eq!((asked.list.len(), asked.list[9].options.len()), (10, 25));
    assert_eq!(asked.list[0].options[0].label.chars().count(), 200);
    assert_eq!(asked.dropped, 2 + 10 * 5 + 10 * 25);
}

#[test]
fn an_option_is_recommended_by_place_or_label_and_own_words_stay_possible() {
    let one = |arguments: Value| ask(arguments).unwrap().list.remove(0);
    assert_eq!(
        one(json!({"question": "q", "options": ["", "a", "b"], "recommended": 2})).recommended,
        Some(1)
    );
    assert_eq!(
        one(json!({"question": "q", "options": ["a", "b", "c"], "default": "c"})).recommended,
        Some(2)
    );
    assert_eq!(one(json!({"question": "q", "options": ["a"], "recommended": 9})).recommended, None);
    assert!(one(json!({"question": "q", "allow_text": false})).allow_text);
    assert!(!one(json!({"question": "q", "options": ["a"], "allow_text": false})).allow_text);
}
