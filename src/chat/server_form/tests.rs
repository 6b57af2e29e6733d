//! Tests of forms of servers.

use super::*;
use crate::chat::QuestionAnswer;

fn form(properties: Value, required: &[&str]) -> Result<ServerForm, String> {
    ServerForm::parse(
        "test",
        "Fill this in",
        &json!({ "type": "object", "properties": properties, "required": required }),
    )
}

/// The reply with these answers, one per field.
fn reply(form: &ServerForm, values: &[AnswerValue]) -> Result<FormReply, String> {
    let answers = form.questions.list.iter().zip(values);
    let answers = answers.map(|(question, value)| QuestionAnswer::new(&question.keyword, value.clone())).collect();
    form.to_reply(&Answer { answers, ..Answer::from_status(AnswerStatus::Answered) })
}

fn typed(text: &str) -> AnswerValue {
    AnswerValue::Text(text.to_owned())
}

#[test]
fn each_kind_of_field_becomes_a_question_and_a_value() {
    let form = form(
        json!({
            "name": { "type": "string", "title": "Your name", "description": "As in\nthe register" },
            "age": { "type": "integer", "minimum": 1, "maximum": 150 },
            "ratio": { "type": "number" },
            "is_new": { "type": "boolean", "default": false },
            "size": { "type": "string", "enum": ["s", "m"], "enumNames": ["Small", "Medium"], "default": "m" },
            "colour": { "type": "string", "oneOf": [{ "const": "#f00", "title": "Red" }] },
            "days": { "type": "array", "items": { "type": "string", "enum": ["mo", "tu", "we"] }, "maxItems": 2 },
            "note": { "type": "string" },
        }),
        &["name", "age"],
    )
    .unwrap();
    let texts: Vec<&str> = form.questions.list.iter().map(|question| question.text.as_str()).collect();
    assert_eq!(texts[0], "MCP server test asks: Fill this in\n\nYour name\nAs in the register");
    assert_eq!(texts[2], "ratio\nMay be skipped.");
    assert_eq!((form.questions.list[3].recommended, form.questions.list[4].recommended), (Some(1), Some(1)));
    assert_eq!(form.questions.list[4].options[0].label, "Small");
    assert_eq!(form.questions.list[5].options[0].description, "sends #f00");
    let selected = |picks: &[usize]| AnswerValue::Selected(picks.to_vec());
    let values = [
        typed("Ada"),
        typed("36"),
        typed("0.5"),
        selected(&[0]),
        selected(&[0]),
        selected(&[0]),
        selected(&[0, 2]),
        AnswerValue::Skipped,
    ];
    let expected = json!({
        "name": "Ada", "age": 36, "ratio": 0.5, "is_new": true, "size": "s", "colour": "#f00", "days": ["mo", "we"],
    });
    assert_eq!(reply(&form, &values), Ok(FormReply::Accepted(expected)));
    let wrong = |index: usize, value: AnswerValue| {
        let mut values = values.clone();
        values[index] = value;
        reply(&form, &values).unwrap_err()
    };
    assert_eq!(wrong(0, AnswerValue::Skipped), "“name” is required");
    assert_eq!(wrong(1, typed("0")), "“age” must be a whole number from 1 to 150");
    assert_eq!(wrong(1, typed("1.5")), "“age” must be a whole number from 1 to 150");
    assert_eq!(wrong(2, typed("NaN")), "“ratio” must be a number");
    assert_eq!(wrong(6, selected(&[0, 1, 2])), "“days” must be 0 to 2 of the values");
}

#[test]
fn texts_are_checked_against_length_and_format() {
    let cases = [
        (json!({ "minLength": 2, "maxLength": 3 }), "ab", "abcd"),
        (json!({ "minLength": 2 }), "ab", "a"),
        (json!({ "format": "email" }), "a@b.example", "a@b"),
        (json!({ "format": "uri" }), "https://a.example", "a.example"),
        (json!({ "format": "date" }), "2026-01-31", "31.1.2026"),
        (json!({ "format": "date-time" }), "2026-01-31T12:00:00Z", "2026-01-31"),
        (json!({ "format": "date" }), "2026-01-31", "éééééé"),
    ];
    for (mut schema, valid, invalid) in cases {
        schema["type"] = json!("string");
        let form = form(json!({ "x": schema }), &["x"]).unwrap();
        assert_eq!(reply(&form, &[typed(valid)]), Ok(FormReply::Accepted(json!({ "x": valid }))));
        assert!(reply(&form, &[typed(invalid)]).is_err(), "{schema}");
    }
}

#[test]
fn a_form_for_a_secret_is_refused_with_the_name() {
    for property in [
        json!({ "type": "string", "title": "Password" }),
        json!({ "type": "string", "description": "The API key of your account" }),
        json!({ "type": "string", "format": "password" }),
        json!({ "type": "string", "writeOnly": true }),
        json!({ "type": "integer", "title": "PIN" }),
    ] {
        assert_eq!(form(json!({ "x": property }), &[]).unwrap_err(), "it asks for “x”, which looks like a secret");
    }
    let text = json!({ "type": "object", "properties": { "value": { "type": "string" } } });
    assert!(ServerForm::parse("test", "Enter your password", &text).unwrap_err().contains("its message"));
    let choice =
        json!({ "type": "object", "properties": { "password": { "type": "string", "enum": ["keep", "reset"] } } });
    assert!(ServerForm::parse("test", "What about your password?", &choice).is_ok(), "nothing can be typed");
}

#[test]
fn unusable_forms_are_refused_and_one_without_fields_asks_for_consent() {
    let many: Map<String, Value> = (0..11).map(|n| (format!("f{n}"), json!({ "type": "boolean" }))).collect();
    assert!(form(Value::Object(many), &[]).unwrap_err().contains("more than 10"));
    for property in
        [json!({ "type": "object" }), json!({ "type": "string", "enum": [] }), json!({ "enum": [1] }), json!(1)]
    {
        assert!(form(json!({ "x\u{202E}": property }), &[]).unwrap_err().contains("“x<U+202E>” is unknown"));
    }
    let consent = ServerForm::parse("test", "Delete\nall?", &json!({})).unwrap();
    assert_eq!(consent.questions.list[0].text, "MCP server test asks: Delete all?");
    assert_eq!(reply(&consent, &[AnswerValue::Selected(vec![0])]), Ok(FormReply::Accepted(json!({}))));
    assert_eq!(consent.to_reply(&Answer::from_status(AnswerStatus::Declined)), Ok(FormReply::Declined));
}
