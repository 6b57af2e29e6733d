//! Forms of every kind of question, and replies that fit and that do not.

use super::*;
use crate::chat::{Dropped, ServerForm};

fn question(keyword: &str, options: &[&str]) -> Question {
    Question {
        keyword: keyword.to_owned(),
        text: format!("Which {keyword}?"),
        options: options.iter().map(|label| QuestionOption::new(label)).collect(),
        is_multiple: false,
        allow_text: true,
        text_description: String::new(),
        recommended: None,
    }
}

fn form(list: Vec<Question>, uses_lists: bool) -> QuestionForm {
    QuestionForm::new(Questions { list, dropped: Dropped::default() }, uses_lists)
}

/// The answers to a reply that was accepted.
fn values(form: &QuestionForm, content: Value) -> Result<Vec<AnswerValue>, String> {
    let answer = form.read_reply(&json!({ "action": "accept", "content": content }))?;
    assert_eq!((answer.status, answer.origin), (AnswerStatus::Answered, AnswerOrigin::Client));
    Ok(answer.answers.into_iter().map(|answer| answer.value).collect())
}

#[test]
fn one_question_is_the_message_and_its_options_are_an_enum() {
    let mut clock = question("clock", &["trait", "fake"]);
    clock.options[0].description = "Passed around".to_owned();
    clock.recommended = Some(0);
    clock.allow_text = false;
    let parameters = form(vec![clock], false).to_parameters();
    assert_eq!(
        parameters,
        json!({ "message": "Which clock?", "requestedSchema": { "type": "object", "properties": { "question_1": {
            "type": "string", "title": "Which clock?", "enum": ["trait", "fake"],
            "description": "trait: Passed around\nRecommended: trait",
        } } } })
    );
}

#[test]
fn answers_are_options_texts_notes_or_skipped() {
    let mut systems = question("os", &["Linux", "macOS", "BSD"]);
    systems.is_multiple = true;
    let list = vec![question("clock", &["trait", "fake"]), question("why", &[]), systems];
    for uses_lists in [true, false] {
        let form = form(list.clone(), uses_lists);
        let systems = match uses_lists {
            true => json!({ "question_3": ["BSD", "Linux", "BSD"] }),
            false => json!({ "question_3_option_1": true, "question_3_option_2": false, "question_3_option_3": true }),
        };
        assert_eq!(
            values(&form, systems).unwrap(),
            [AnswerValue::Skipped, AnswerValue::Skipped, AnswerValue::Selected(vec![0, 2])]
        );
        let typed = json!({ "question_1_text": " neither ", "question_2": "it flakes", "question_3_text": "" });
        assert_eq!(
            values(&form, typed).unwrap(),
            [AnswerValue::Text("neither".into()), AnswerValue::Text("it flakes".into()), AnswerValue::Skipped]
        );
        let noted = json!({ "action": "accept", "content": { "question_1": "fake", "question_1_text": "for now" } });
        let answer = form.read_reply(&noted).unwrap().answers[0].clone();
        assert_eq!((answer.value, answer.note.as_str()), (AnswerValue::Selected(vec![1]), "for now"));
        assert_eq!(values(&form, Value::Null).unwrap(), vec![AnswerValue::Skipped; 3]);
    }
}

#[test]
fn a_reply_that_does_not_fit_is_an_error() {
    let mut systems = question("os", &["Linux"]);
    systems.is_multiple = true;
    let mut strict = question("size", &["S", "L"]);
    strict.allow_text = false;
    let form = form(vec![question("clock", &["trait"]), systems, strict], true);
    for content in [
        json!({ "question_1": "sundial" }),
        json!({ "question_1": 1 }),
        json!({ "question_1_text": ["x"] }),
        json!({ "question_1_text": "x".repeat(MAX_ANSWER_CHARS + 1) }),
        json!({ "question_2": "Linux" }),
        json!({ "question_2": ["Linux", 7] }),
        json!({ "question_3_text": "XL" }),
    ] {
        assert!(values(&form, content.clone()).is_err(), "{content}");
    }
    for result in [json!({}), json!({ "action": "yes" }), json!([]), Value::Null] {
        assert!(form.read_reply(&result).is_err(), "{result}");
    }
    let status = |action: &str| form.read_reply(&json!({ "action": action })).unwrap().status;
    assert_eq!((status("decline"), status("cancel")), (AnswerStatus::Declined, AnswerStatus::Deferred));
}

/// aye itself can be the client.
#[test]
fn the_client_of_aye_can_show_the_forms() {
    let mut systems = question("os", &["Linux", "macOS"]);
    systems.is_multiple = true;
    for uses_lists in [true, false] {
        let parameters =
            form(vec![question("clock", &["trait", "fake"]), question("why", &[]), systems.clone()], uses_lists)
                .to_parameters();
        let shown = ServerForm::parse("aye", "", &parameters["requestedSchema"]).unwrap();
        assert_eq!(shown.questions.list[0].options.len(), 2);
    }
}
