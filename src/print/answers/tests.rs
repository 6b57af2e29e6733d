//! Valid and invalid files of answers.

use super::*;
use crate::chat::{AnswerValue, Dropped, OptionNote, Question, QuestionAnswer, QuestionOption};
use serde_json::json;

fn question(keyword: &str, labels: &[&str]) -> Question {
    Question {
        keyword: keyword.into(),
        text: format!("{keyword}?"),
        options: labels.iter().map(|label| QuestionOption::new(label)).collect(),
        is_multiple: false,
        allow_text: true,
        text_description: String::new(),
        recommended: None,
    }
}

/// `clock` with free text, `os` with several selectable options and nothing else, `why` without options.
fn sample_questions() -> Questions {
    let os = Question { is_multiple: true, allow_text: false, ..question("os", &["Linux", "macOS", "1"]) };
    let list = vec![question("clock", &["paused", "a trait", "real"]), os, question("why", &[])];
    Questions { list, dropped: Dropped::default() }
}

/// Parses a file of answers and matches it with the questions of the call `c1`.
fn match_file(file: &Value, questions: &Questions) -> Result<Answer, String> {
    Answers::parse(&file.to_string())?.match_exactly(&"c1".into(), questions)
}

/// Checks one question with one answer.
#[track_caller]
fn check_answer(keyword: &str, answer: Value, expected: AnswerValue) {
    let mut questions = sample_questions();
    questions.list.retain(|question| question.keyword == keyword);
    let answer = match_file(&json!({ keyword: answer }), &questions).unwrap_or_else(|why| panic!("{why}"));
    assert_eq!((answer.status, answer.origin), (AnswerStatus::Answered, AnswerOrigin::File));
    assert_eq!(answer.answers, [QuestionAnswer::new(keyword, expected)]);
}

#[track_caller]
fn check_rejected(keyword: &str, answer: Value, part: &str) {
    let mut questions = sample_questions();
    questions.list.retain(|question| question.keyword == keyword);
    let answer_text = answer.to_string();
    let why = match_file(&json!({ keyword: answer }), &questions)
        .map(|accepted| panic!("{answer_text}: {accepted:?}"))
        .unwrap_err();
    assert!(why.contains(part) && why.contains(". Use "), "{answer_text}: {why}");
}

#[test]
fn an_answer_is_an_option_or_free_text() {
    check_answer("clock", json!("a trait"), AnswerValue::Selected(vec![1]));
    check_answer("clock", json!(" A Trait "), AnswerValue::Selected(vec![1]));
    check_answer("clock", json!(2), AnswerValue::Selected(vec![2]));
    check_answer("clock", json!(["real"]), AnswerValue::Selected(vec![2]));
    check_answer("clock", json!("none of these"), AnswerValue::Text("none of these".into()));
    check_answer("clock", json!({"option": "real"}), AnswerValue::Selected(vec![2]));
    check_answer("clock", json!({"option_index": 0}), AnswerValue::Selected(vec![0]));
    check_answer("clock", json!({"text": "real"}), AnswerValue::Text("real".into()));
    check_answer("clock", json!({"answer": "real", "source": "written"}), AnswerValue::Text("real".into()));
    check_answer(
        "clock",
        json!({"answer": "real", "source": "picked", "option_index": 2}),
        AnswerValue::Selected(vec![2]),
    );
    check_answer("clock", json!({"skipped": true}), AnswerValue::Skipped);
    check_answer("os", json!(["macOS", "Linux", "linux"]), AnswerValue::Selected(vec![0, 1]));
    check_answer("os", json!({"options": ["1", 0]}), AnswerValue::Selected(vec![0, 2]));
    check_answer("os", json!({"option_indexes": [1, 2]}), AnswerValue::Selected(vec![1, 2]));
    check_answer("os", json!("1"), AnswerValue::Selected(vec![2]));
    check_answer("why", json!("because"), AnswerValue::Text("because".into()));
    check_answer("why", json!(7), AnswerValue::Text("7".into()));
}

#[test]
fn answers_may_be_filled_in_under_the_key_waiting_or_its_old_name_waits() {
    let questions = Questions { list: vec![question("clock", &[]), question("os", &[])], dropped: Dropped::default() };
    let calls = |clock: Value, os: Value| {
        let questions = json!([{ "keyword": "clock", "answer": clock }, { "keyword": "os", "answer": os }]);
        json!([{ "kind": "question", "call": "c1", "questions": questions }])
    };
    let (null, a, b) = (|| Value::Null, || json!("a"), || json!("b"));
    for (waiting, waits) in [
        (calls(a(), b()), calls(null(), null())),
        (calls(null(), null()), calls(a(), b())),
        (calls(a(), null()), calls(null(), b())),
        (calls(a(), b()), calls(a(), b())),
    ] {
        let answer = match_file(&json!({ "kind": "waits", "waiting": waiting, "waits": waits }), &questions).unwrap();
        assert_eq!(answer.answers.len(), 2, "{waiting} {waits}");
    }
    let file = json!({ "waiting": calls(a(), b()), "waits": calls(b(), b()) });
    assert_eq!(match_file(&file, &questions).unwrap_err(), "it answers \"clock\" twice");
    let line = format!("Text of the model.\n{}\n", json!({ "state": "waiting", "waiting": calls(a(), b()) }));
    assert!(Answers::parse(&line).is_ok());
}

#[test]
fn a_wrong_answer_is_reported_with_what_was_expected() {
    check_rejected("clock", json!(3), "\"3\" is none of the options");
    check_rejected("clock", json!(-1), "none of the options");
    check_rejected("clock", json!({"option": "Realer"}), "\"Realer\" is none of the options");
    check_rejected("clock", json!({"option_index": 9}), "no option with the index 9");
    check_rejected("clock", json!({"option_index": "a"}), "no option with the index");
    check_rejected("clock", json!(["paused", "real"]), "2 options are selected, but only one is allowed");
    check_rejected("clock", json!([]), "no option is selected");
    check_rejected("clock", json!("  "), "none of the options");
    check_rejected("clock", json!({}), "the answer is empty");
    check_rejected("clock", json!({"answer": {"answer": "real"}}), "an object within an object");
    check_rejected("clock", json!({"colour": "real"}), "unknown field \"colour\"");
    check_rejected("clock", json!({"option": "real", "note": 7}), "note is not a string");
    check_rejected("os", json!("Windows"), "\"Windows\" is none of the options");
    check_rejected("os", json!({"text": "Linux"}), "free text is not allowed");
    check_rejected("os", json!(1), "1 is ambiguous: it is the label of one option and the index of another");
    check_rejected("why", json!({"option_index": 0}), "no option with the index 0");
}

#[test]
fn accepts_the_printed_json_with_answers_filled_in() {
    let expected = [AnswerValue::Selected(vec![1]), AnswerValue::Selected(vec![0, 1]), AnswerValue::Text("so".into())];
    let questions = json!([
        {"keyword": "clock", "text": "clock?", "options": [{"label": "paused"}], "answer": "a trait", "note": "slowly"},
        {"keyword": "os", "text": "os?", "answer": ["Linux", "macOS"]},
        {"keyword": "why", "text": "why?", "options": [], "answer": "so"},
    ]);
    let waiting_call = json!({"kind": "question", "call": "c1", "questions": questions});
    let output = json!({"kind": "waits", "session": "01J", "waits": [
        {"kind": "approval", "call": "c0", "tool": "bash_exec"}, waiting_call,
    ]});
    let list = json!([
        {"keyword": "clock", "answer": "a trait", "note": "slowly", "source": "picked", "option_index": 1, "question": "clock?"},
        {"keyword": "os", "option_indexes": [0, 1]},
        {"keyword": "why", "text": "so"},
    ]);
    let map = json!({"clock": {"option": 1, "note": "slowly"}, "os": ["Linux", "macOS"], "why": "so"});
    let result = json!({"type": "question_answers", "status": "answered", "answers": list});
    for file in [output.clone(), waiting_call, list, json!({"answers": map}), map, result] {
        let answer = match_file(&file, &sample_questions()).unwrap_or_else(|why| panic!("{file}: {why}"));
        let values: Vec<AnswerValue> = answer.answers.iter().map(|given_answer| given_answer.value.clone()).collect();
        assert_eq!((values.as_slice(), answer.answers[0].note.as_str()), (&expected[..], "slowly"), "{file}");
    }
    let full_output = format!("Some words first.\n{{\"kind\":\"said\"}}\n{output}\n");
    let mut answers = Answers::parse(&full_output).unwrap();
    assert!(answers.match_exactly(&"c1".into(), &sample_questions()).is_ok());
    let declined = json!({"waits": [{"call": "c1", "status": "declined", "questions": []}]});
    for file in [declined, json!({"status": "declined"})] {
        assert_eq!(match_file(&file, &sample_questions()).unwrap().status, AnswerStatus::Declined);
    }
}

#[test]
fn r16_a_question_without_an_answer_in_the_file_stays_open() {
    let unanswered = json!({"waits": [{"call": "c1", "questions": [{"keyword": "clock", "answer": null}]}]});
    for (file, part) in [
        (json!({"clock": "real"}), "no answer to \"os\", \"why\""),
        (unanswered, "no answer to \"clock\", \"os\", \"why\""),
        (json!({"clock": null, "os": 0, "why": "x"}), "no answer to \"clock\""),
        (json!({"clok": "real"}), "no question has the keyword \"clok\"; waiting: \"clock\", \"os\", \"why\""),
        (json!([{"keyword": "why", "text": "x"}, {"keyword": "why", "text": "y"}]), "answers \"why\" twice"),
        (json!([{"answer": "x"}]), "no \"keyword\""),
        (json!({"waits": [{"questions": [{"answer": "x"}]}]}), "no \"keyword\""),
        (json!({"waits": []}), "holds no answers"),
        (json!({}), "holds no answers"),
        (json!("clock"), "holds no answers"),
    ] {
        let why = match_file(&file, &sample_questions()).unwrap_err();
        assert!(why.contains(part), "{file}: {why}");
    }
    for (text, part) in [
        ("", "it is empty"),
        ("\u{feff} \n", "it is empty"),
        ("{\"clock\":\n  real}", "line 2 column 3"),
        ("{\"clock\": \"real\"", "line 1 column 16"),
        ("clock: real", "not JSON"),
    ] {
        let why = Answers::parse(text).unwrap_err();
        assert!(why.contains(part), "{text}: {why}");
    }
}

#[test]
fn r08_a_duplicate_key_is_rejected() {
    let waits = r#"{"kind": "waits", "waits": [], "waits": []}"#;
    for text in [
        "{\"clock\": \"real\",\n \"clock\": \"paused\"}".to_owned(),
        r#"{"clock": {"option": "real", "option": "paused"}}"#.to_owned(),
        r#"[{"keyword": "why", "keyword": "os", "text": "x"}]"#.to_owned(),
        format!("Some words first.\n{waits}"),
    ] {
        let why = Answers::parse(&text).unwrap_err();
        assert!(why.starts_with("it is invalid") && why.contains("twice at line"), "{text}: {why}");
    }
}

#[test]
fn notes_name_options_by_label_or_index() {
    let notes = json!({ "2": "slow", "a trait": "small" });
    let list = json!([{ "option_index": 1, "note": "small" }, { "option": "real", "note": "slow" }]);
    let expected = [OptionNote { option: 1, text: "small".into() }, OptionNote { option: 2, text: "slow".into() }];
    for notes in [notes, list] {
        let file = json!({ "clock": { "answer": "real", "notes": notes, "note": "all" }, "os": 0, "why": "x" });
        let answer = match_file(&file, &sample_questions()).unwrap_or_else(|why| panic!("{file}: {why}"));
        assert_eq!((answer.answers[0].notes.as_slice(), answer.answers[0].note.as_str()), (&expected[..], "all"));
    }
    for notes in [json!("x"), json!({ "nothing": "x" }), json!({ "real": 1 })] {
        check_rejected("clock", json!({ "answer": "real", "notes": notes }), "");
    }
}

#[test]
fn note_with_an_option_index_ignores_labels() {
    let mut questions = sample_questions();
    questions.list = vec![question("count", &["2", "1", "0"])];
    let notes = json!([{ "option_index": 0, "note": "first" }, { "option_index": 2, "note": "last" }]);
    let file = json!({ "count": { "option_index": 0, "notes": notes } });
    let answer = match_file(&file, &questions).unwrap_or_else(|why| panic!("{why}"));
    let expected = [OptionNote { option: 0, text: "first".into() }, OptionNote { option: 2, text: "last".into() }];
    assert_eq!(answer.answers[0].notes, expected);
    let file = json!({ "count": { "option_index": 0, "notes": [{ "option_index": 3, "note": "none" }] } });
    assert!(match_file(&file, &questions).unwrap_err().contains("there is no option with the index 3"));
}

#[test]
fn answers_for_another_call_are_not_used() {
    let file = json!({"waits": [{"call": "c9", "questions": [{"keyword": "why", "answer": "x"}]}]});
    let mut answers = Answers::parse(&file.to_string()).unwrap();
    let mut questions = sample_questions();
    questions.list.retain(|question| question.keyword == "why");
    assert_eq!(answers.match_questions(&"c1".into(), &questions), AnswerMatch::Missing(vec!["why".into()]));
    assert_eq!(answers.unused_keywords(), ["why"]);
    assert!(matches!(answers.match_questions(&"c9".into(), &questions), AnswerMatch::Answered(_)));
    assert!(answers.unused_keywords().is_empty());
}

#[test]
fn an_answer_left_empty_is_missing_but_not_unused() {
    let mut answers = Answers::parse(r#"{"clock": null, "os": 0, "why": "x"}"#).unwrap();
    assert_eq!(answers.match_questions(&"c1".into(), &sample_questions()), AnswerMatch::Missing(vec!["clock".into()]));
    assert_eq!(answers.unused_keywords(), [""; 0]);
}
