//! Answers as the model receives them and as the log stores them.

use super::*;

fn clock_question() -> Questions {
    let question = Question {
        keyword: "clock".into(),
        text: "Which clock?".into(),
        options: ["paused", "a trait", "real"].map(QuestionOption::new).to_vec(),
        is_multiple: false,
        allow_text: true,
        text_description: String::new(),
        recommended: None,
    };
    Questions { list: vec![question], dropped: Dropped::default() }
}

/// Returns the result that the model receives for this answer.
fn result_of(answer_value: AnswerValue) -> Value {
    let question_answer = QuestionAnswer::new("clock", answer_value);
    let answer = Answer { answers: vec![question_answer], ..Answer::from_status(AnswerStatus::Answered) };
    serde_json::from_str(&answer.to_result(&clock_question())).unwrap_or_default()
}

#[test]
fn r52_reads_the_number_of_dropped_options_in_early_sessions() {
    let parse_dropped = |text: &str| serde_json::from_str::<Dropped>(text).ok();
    assert_eq!(parse_dropped("3"), Some(Dropped { options: 3, ..Dropped::default() }));
    let dropped = Dropped { questions: 1, options: 2, shortened: 3 };
    assert_eq!(serde_json::to_string(&dropped).ok().and_then(|text| parse_dropped(&text)), Some(dropped));
    assert_eq!(parse_dropped("{}"), Some(Dropped::default()));
}

#[test]
fn the_result_tells_selected_written_and_skipped_answers_apart() {
    let selected = &result_of(AnswerValue::Selected(vec![1]))["answers"][0];
    assert_eq!(
        (&selected["answer"], &selected["source"], &selected["option_index"]),
        (&json!("a trait"), &json!("picked"), &json!(1))
    );
    let written = &result_of(AnswerValue::Text("none".into()))["answers"][0];
    assert_eq!((&written["answer"], &written["source"]), (&json!("none"), &json!("written")));
    let skipped = &result_of(AnswerValue::Skipped)["answers"][0];
    assert_eq!((&skipped["answer"], &skipped["source"]), (&Value::Null, &json!("skipped")));
}

#[test]
fn several_selected_options_are_given_by_label_and_by_index() {
    let mut questions = clock_question();
    questions.list[0].is_multiple = true;
    let first_answer = |selected: &[usize]| {
        let answer_value = AnswerValue::Selected(selected.to_vec());
        let question_answer = QuestionAnswer::new("clock", answer_value);
        let answer = Answer { answers: vec![question_answer], ..Answer::from_status(AnswerStatus::Answered) };
        let result: Value = serde_json::from_str(&answer.to_result(&questions)).unwrap_or_default();
        result["answers"][0].clone()
    };
    assert_eq!(first_answer(&[0, 2])["answer"], json!(["paused", "real"]));
    assert_eq!(first_answer(&[0, 2])["option_indexes"], json!([0, 2]));
    assert_eq!(first_answer(&[1])["option_indexes"], json!([1]));
}

#[test]
fn the_result_mentions_dropped_questions() {
    let questions = Questions { dropped: Dropped { questions: 2, options: 1, shortened: 0 }, ..clock_question() };
    assert_eq!(
        Answer::from_status(AnswerStatus::Declined).to_result(&questions),
        r#"{"type":"question_answers","status":"declined","answers":[],"dropped":"2 questions omitted, 1 option omitted: too many or too long"}"#
    );
}

#[test]
fn the_log_records_that_an_answer_came_from_a_file() {
    let by_user = Answer::from_status(AnswerStatus::Declined);
    let from_file = Answer { origin: AnswerOrigin::File, ..by_user.clone() };
    let to_json = |answer: &Answer| serde_json::to_string(answer).unwrap_or_default();
    assert_eq!(to_json(&by_user), r#"{"status":"declined"}"#);
    assert_eq!(to_json(&from_file), r#"{"status":"declined","giver":"file"}"#);
    assert_eq!(serde_json::from_str::<Answer>(&to_json(&from_file)).ok(), Some(from_file));
}

#[test]
fn the_result_gives_each_note_with_its_option() {
    let mut question_answer = QuestionAnswer::new("clock", AnswerValue::Selected(vec![1]));
    let note = |option, text: &str| OptionNote { option, text: text.into() };
    question_answer.notes = vec![note(0, "too clever"), note(1, "but small"), note(9, "of nothing")];
    let answer = Answer { answers: vec![question_answer.clone()], ..Answer::from_status(AnswerStatus::Answered) };
    let result: Value = serde_json::from_str(&answer.to_result(&clock_question())).unwrap_or_default();
    let expected = json!([
        { "option_index": 0, "option": "paused", "note": "too clever" },
        { "option_index": 1, "option": "a trait", "note": "but small" },
    ]);
    assert_eq!(result["answers"][0]["notes"], expected);
    assert_eq!(result["answers"][0]["note"], Value::Null);
    let json = serde_json::to_string(&question_answer).unwrap_or_default();
    assert_eq!(serde_json::from_str::<QuestionAnswer>(&json).ok(), Some(question_answer));
}

#[test]
fn r52_reads_the_single_note_of_answers_in_early_sessions() {
    let text = r#"{"keyword":"clock","source":{"source":"picked","value":[1]},"note":"but small"}"#;
    let question_answer = serde_json::from_str::<QuestionAnswer>(text).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!((question_answer.note.as_str(), question_answer.notes.len()), ("but small", 0));
}
