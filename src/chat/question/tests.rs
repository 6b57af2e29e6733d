//! Answers as the model receives them and as the log stores them.

use super::*;

fn clock() -> Questions {
    let question = Question {
        keyword: "clock".into(),
        text: "Which clock?".into(),
        options: ["paused", "a trait", "real"].map(QuestionOption::new).to_vec(),
        is_multiple: false,
        allow_text: true,
        recommended: None,
    };
    Questions { list: vec![question], dropped: Dropped::default() }
}

fn result(source: AnswerValue) -> Value {
    let given = QuestionAnswer::new("clock", source);
    let answer = Answer { answers: vec![given], ..Answer::from_status(AnswerStatus::Answered) };
    serde_json::from_str(&answer.to_result(&clock())).unwrap_or_default()
}

#[test]
fn r52_reads_the_number_of_dropped_options_in_early_sessions() {
    let read = |text: &str| serde_json::from_str::<Dropped>(text).ok();
    assert_eq!(read("3"), Some(Dropped { options: 3, ..Dropped::default() }));
    let now = Dropped { questions: 1, options: 2, shortened: 3 };
    assert_eq!(serde_json::to_string(&now).ok().and_then(|text| read(&text)), Some(now));
    assert_eq!(read("{}"), Some(Dropped::default()));
}

#[test]
fn the_result_tells_selected_written_and_skipped_answers_apart() {
    let picked = &result(AnswerValue::Selected(vec![1]))["answers"][0];
    assert_eq!(
        (&picked["answer"], &picked["source"], &picked["option_index"]),
        (&json!("a trait"), &json!("picked"), &json!(1))
    );
    let written = &result(AnswerValue::Text("none".into()))["answers"][0];
    assert_eq!((&written["answer"], &written["source"]), (&json!("none"), &json!("written")));
    let skipped = &result(AnswerValue::Skipped)["answers"][0];
    assert_eq!((&skipped["answer"], &skipped["source"]), (&Value::Null, &json!("skipped")));
}

#[test]
fn several_selected_options_are_given_by_label_and_by_index() {
    let mut asked = clock();
    asked.list[0].is_multiple = true;
    let told = |picks: &[usize]| {
        let source = AnswerValue::Selected(picks.to_vec());
        let given = QuestionAnswer::new("clock", source);
        let answer = Answer { answers: vec![given], ..Answer::from_status(AnswerStatus::Answered) };
        let told: Value = serde_json::from_str(&answer.to_result(&asked)).unwrap_or_default();
        told["answers"][0].clone()
    };
    assert_eq!(told(&[0, 2])["answer"], json!(["paused", "real"]));
    assert_eq!(told(&[0, 2])["option_indexes"], json!([0, 2]));
    assert_eq!(told(&[1])["option_indexes"], json!([1]));
}

#[test]
fn the_result_mentions_dropped_questions() {
    let asked = Questions { dropped: Dropped { questions: 2, options: 1, shortened: 0 }, ..clock() };
    assert_eq!(
        Answer::from_status(AnswerStatus::Declined).to_result(&asked),
        r#"{"type":"question_answers","status":"declined","answers":[],"dropped":"2 questions omitted, 1 option omitted: too many or too long"}"#
    );
}

#[test]
fn the_log_records_that_an_answer_came_from_a_file() {
    let person = Answer::from_status(AnswerStatus::Declined);
    let file = Answer { origin: AnswerOrigin::File, ..person.clone() };
    let written = |answer: &Answer| serde_json::to_string(answer).unwrap_or_default();
    assert_eq!(written(&person), r#"{"status":"declined"}"#);
    assert_eq!(written(&file), r#"{"status":"declined","giver":"file"}"#);
    assert_eq!(serde_json::from_str::<Answer>(&written(&file)).ok(), Some(file));
}

#[test]
fn the_result_gives_each_note_with_its_option() {
    let mut given = QuestionAnswer::new("clock", AnswerValue::Selected(vec![1]));
    let note = |option, text: &str| OptionNote { option, text: text.into() };
    given.notes = vec![note(0, "too clever"), note(1, "but small"), note(9, "of nothing")];
    let answer = Answer { answers: vec![given.clone()], ..Answer::from_status(AnswerStatus::Answered) };
    let told: Value = serde_json::from_str(&answer.to_result(&clock())).unwrap_or_default();
    let expected = json!([
        { "option_index": 0, "option": "paused", "note": "too clever" },
        { "option_index": 1, "option": "a trait", "note": "but small" },
    ]);
    assert_eq!(told["answers"][0]["notes"], expected);
    assert_eq!(told["answers"][0]["note"], Value::Null);
    let written = serde_json::to_string(&given).unwrap_or_default();
    assert_eq!(serde_json::from_str::<QuestionAnswer>(&written).ok(), Some(given));
}

#[test]
fn r52_reads_the_single_note_of_answers_in_early_sessions() {
    let text = r#"{"keyword":"clock","source":{"source":"picked","value":[1]},"note":"but small"}"#;
    let given = serde_json::from_str::<QuestionAnswer>(text).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!((given.note.as_str(), given.notes.len()), ("but small", 0));
}
