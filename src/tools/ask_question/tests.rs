//! Tests of the argument shapes that models send.

use super::*;
use crate::chat::{Dropped, Question, Questions};
use crate::tools::memory_project::MemoryProject;

fn parse_call(arguments: Value) -> Result<Questions, String> {
    match AskQuestion.plan_call(&arguments, &MemoryProject::with_files(&[])) {
        Ok(Intent::Ask(questions)) => Ok(questions),
        Ok(Intent::Act(plan)) => panic!("{plan:?}"),
        Err(error) => Err(error.to_string()),
    }
}

fn first_question(arguments: Value) -> Question {
    parse_call(arguments).unwrap().list.remove(0)
}

/// Compares the questions as one line: `keyword: text [label | label]`, separated by `; `.
#[track_caller]
fn check_questions(arguments: Value, expected: &str) {
    let formatted = match parse_call(arguments.clone()) {
        Err(error) => panic!("{arguments}: {error}"),
        Ok(questions) => questions
            .list
            .iter()
            .map(|question| {
                let labels: Vec<&str> = question.options.iter().map(|option| option.label.as_str()).collect();
                format!("{}: {} [{}]", question.keyword, question.text, labels.join(" | "))
            })
            .collect::<Vec<_>>()
            .join("; "),
    };
    assert_eq!(formatted, expected, "{arguments}");
}

#[track_caller]
fn check_error(arguments: Value, part: &str) {
    let error =
        parse_call(arguments.clone()).map(|questions| panic!("{arguments} is taken: {questions:?}")).unwrap_err();
    assert!(error.contains(part), "{arguments}: {error}");
}

#[test]
fn accepts_one_question_or_a_list() {
    check_questions(json!({"question": "Which?", "options": ["a", "b"], "keyword": "k"}), "k: Which? [a | b]");
    check_questions(json!({"question": "Why?"}), "question-0: Why? []");
    check_questions(
        json!({"questions": [{"question": "A?"}, {"question": "B?"}]}),
        "question-0: A? []; question-1: B? []",
    );
    check_questions(
        json!({"questions": [{"question": "Where to?", "options": ["Email", "Slack"], "keyword": "channel"}]}),
        "channel: Where to? [Email | Slack]",
    );
    check_questions(
        json!({"questions": [{"question": "a", "keyword": "k"}, {"question": "b", "keyword": "k"}, {"question": "c", "keyword": null}]}),
        "k: a []; k-1: b []; question-2: c []",
    );
    check_questions(json!({"questions": ["text", {"question": "  "}, {"question": "ok?"}]}), "question-0: ok? []");
    check_questions(json!({"questions": ["Who?", "When?"]}), "question-0: Who? []; question-1: When? []");
    check_questions(json!({"questions": [], "question": "Why?"}), "question-0: Why? []");
    check_questions(json!({"questions": null, "question": "Why?"}), "question-0: Why? []");
    check_questions(json!({"questions": "", "question": "Why?"}), "question-0: Why? []");
    check_questions(json!({"questions": {"question": "Why?", "options": ["a"]}}), "question-0: Why? [a]");
    check_questions(
        json!({"question": [{"question": "A?"}, {"question": "B?"}]}),
        "question-0: A? []; question-1: B? []",
    );
    check_questions(json!({"question": {"question": "A?", "options": ["x"]}}), "question-0: A? [x]");
    check_questions(
        json!({"questions": {"0": {"question": "A?"}, "10": {"question": "C?"}, "2": {"question": "B?"}}}),
        "question-0: A? []; question-1: B? []; question-2: C? []",
    );
    check_questions(
        json!({"questions": {"db": {"question": "Which?"}, "os": {"text": "And?"}}}),
        "db: Which? []; os: And? []",
    );
}

#[test]
fn accepts_json_in_strings_anywhere() {
    check_questions(
        json!({"questions": "[{\"question\":\"Why?\",\"options\":\"[\\\"a\\\"]\"}]"}),
        "question-0: Why? [a]",
    );
    check_questions(json!({"questions": "{\"question\":\"Why?\"}"}), "question-0: Why? []");
    check_questions(json!({"questions": "```json\n[{\"question\":\"Why?\"}]\n```"}), "question-0: Why? []");
    check_questions(json!({"questions": "\"[{\\\"question\\\":\\\"Why?\\\"}]\""}), "question-0: Why? []");
    check_questions(json!({"question": "[{\"question\":\"Why?\"}]"}), "question-0: Why? []");
    check_questions(json!({"arguments": {"question": "Why?"}}), "question-0: Why? []");
    check_questions(json!({"input": "{\"questions\":[{\"question\":\"Why?\"}]}"}), "question-0: Why? []");
    check_questions(json!({"parameters": [{"question": "Why?"}]}), "question-0: Why? []");
    check_questions(json!({"question": "q", "options": "[\"a\", \"b\"]"}), "question-0: q [a | b]");
    check_questions(json!({"question": "q", "options": "{\"label\": \"a\"}"}), "question-0: q [a]");
    check_questions(
        json!({"question": "q", "options": ["{\"label\": \"a\", \"description\": \"x\"}"]}),
        "question-0: q [a]",
    );
    let text = r#""{\"questions\":[{\"question\":\"Why?\"}]}""#;
    check_questions(super::super::arguments::parse_call_arguments(text).unwrap(), "question-0: Why? []");
}

#[test]
fn accepts_many_field_names_for_a_question() {
    for name in ["question", "text", "prompt", "message", "title", "label", "header"] {
        check_questions(json!({ name: "Why?" }), "question-0: Why? []");
        check_questions(json!({ "questions": [{ name: "Why?" }] }), "question-0: Why? []");
    }
    for name in ["keyword", "key", "id", "name", "header"] {
        check_questions(json!({ "question": "Why?", name: "k" }), "k: Why? []");
    }
    check_questions(json!({"question": "Why?", "id": 7}), "7: Why? []");
    check_questions(json!({"header": "Mode", "question": "", "options": ["a"]}), "question-0: Mode [a]");
    check_questions(json!({"question": "Why?", "description": "It matters."}), "question-0: Why?\n\nIt matters. []");
    check_questions(json!({"question": "Why?", "type": "single", "required": true}), "question-0: Why? []");
    for name in ["options", "choices", "answers", "suggestions", "follow_up"] {
        check_questions(json!({ "question": "q", name: ["a"] }), "question-0: q [a]");
    }
}

#[test]
fn accepts_many_shapes_of_options() {
    let check_options = |options: Value, expected: &str| {
        check_questions(json!({"question": "q", "options": options}), &format!("question-0: q [{expected}]"));
    };
    check_options(json!(["0", "", null, "No", " No "]), "0 | No");
    check_options(json!([1, 2.5, true, false]), "1 | 2.5 | true | false");
    check_options(json!([{"label": "a"}, "b", 3]), "a | b | 3");
    for name in ["label", "title", "name", "option", "choice", "answer", "text", "value", "header", "key", "id"] {
        check_options(json!([{ name: "a" }, { name: 2 }]), "a | 2");
    }
    check_options(json!([{"value": "x", "label": "An x"}]), "An x");
    check_options(json!([{}, {"label": ""}, "a"]), "a");
    check_options(json!(null), "");
    check_options(json!([]), "");
    check_options(json!({"label": "a", "description": "the only one"}), "a");
    check_options(json!({"text": "Yes", "mode": null}), "Yes");
    check_options(json!({"0": {"text": "Keep"}, "1": {"text": "Remove"}}), "Keep | Remove");
    check_options(json!({"1": "Keep", "2": "Remove"}), "Keep | Remove");
    check_options(json!({"tokio": "virtual time", "real": "slow"}), "tokio | real");
    check_options(json!({"a": {"description": "x"}}), "a");
    check_options(json!("a, b, c d"), "a | b | c d");
    check_options(json!("red,green,blue"), "red | green | blue");
    check_options(json!("one\ntwo, or so\n"), "one | two, or so");
    check_options(json!("- one\n- two\n\n* three"), "one | two | three");
    check_options(json!("1. one\n2) two\n30. three"), "one | two | three");
    let with_description = first_question(json!({"question": "q", "options": {"tokio": "virtual time"}}));
    assert_eq!(with_description.options[0].description, "virtual time");
    let with_title = first_question(json!({"question": "q", "options": [{"title": "a", "text": "what it means"}]}));
    assert_eq!(with_title.options[0].description, "what it means");
    let with_preview =
        first_question(json!({"question": "q", "options": [{"label": "a", "preview": "```rs\nfn a() {}\n```"}]}));
    assert_eq!(with_preview.options[0].preview, "```rs\nfn a() {}\n```");
    let drawing =
        first_question(json!({"question": "q", "options": [{"label": "a", "preview": "\n \n  /\\ \n /__\\ \n\n"}]}));
    assert_eq!(drawing.options[0].preview, "  /\\ \n /__\\");
}

#[test]
fn accepts_many_shapes_of_booleans() {
    for name in ["multi", "multiple", "multiSelect", "multi_select", "multiselect", "allow_multiple"] {
        for truthy in [json!(true), json!("true"), json!("Yes"), json!(1)] {
            assert!(first_question(json!({"question": "q", "options": ["a"], name: truthy})).is_multiple, "{name}");
        }
        assert!(!first_question(json!({"question": "q", "options": ["a"], name: "false"})).is_multiple, "{name}");
    }
    assert!(first_question(json!({"question": "q", "options": ["a"], "type": "checkbox"})).is_multiple);
    assert!(!first_question(json!({"question": "q", "options": ["a"], "allow_text": false})).allow_text);
    assert!(!first_question(json!({"question": "q", "options": ["a"], "custom": "no"})).allow_text);
    assert!(first_question(json!({"question": "q", "allow_text": false})).allow_text);
}

#[test]
fn error_names_the_expected_shape() {
    check_error(json!({}), "probably cut off");
    for arguments in [
        json!({"questions": []}),
        json!({"questions": "what?"}),
        json!({"questions": 7}),
        json!({"questions": {}}),
        json!({"questions": {"a": "b"}}),
        json!({"question": "  "}),
        json!({"questions": "[{\"question\": \"cut o"}),
        json!({"colour": "red"}),
        json!({"arguments": "x"}),
    ] {
        check_error(arguments, "requires a non-empty 'questions' array");
    }
    check_error(json!({"questions": [7, {}]}), "at least one valid question");
    check_error(json!({"questions": [{"question": ""}, {"question": null}]}), "at least one valid question");
    check_error(json!({"question": "a", "questions": [{"question": "b"}]}), "not both");
    for options in [
        json!("whatever you like"),
        json!("a, b, or c"),
        json!("1,000"),
        json!("Yes, I think so."),
        json!("use a (fast, small), use b"),
        json!(7),
        json!({}),
        json!({"a": ["b"]}),
    ] {
        check_error(json!({"question": "a", "options": options}), "'options' to be an array");
    }
    check_questions(json!({"question": "a", "options": ""}), "question-0: a []");
    check_error(json!({"question": "a", "options": [["b", "c"]]}), "each option to be a string or an object");
    check_error(json!({"question": "a", "options": [{"colour": "red"}]}), "each option to have a 'label'");
    check_error(json!({"question": "a", "options": [{"label": ["x"]}]}), "an option's 'label' to be a string");
    check_error(json!({"question": "a", "multi": "perhaps"}), "'multi' to be true or false");
    check_error(json!({"question": "a", "colour": 1}), "unknown field `colour`");
}

#[test]
fn truncates_at_limits_and_counts_the_rest() {
    let options: Vec<String> = (0..30).map(|n| format!("{n}{}", "é".repeat(300))).collect();
    let question = json!({"question": "q", "options": options});
    let questions = parse_call(json!({"questions": vec![question; 12]})).unwrap();
    assert_eq!((questions.list.len(), questions.list[9].options.len()), (10, 25));
    assert_eq!(questions.list[0].options[0].label.chars().count(), 200);
    assert_eq!(questions.dropped, Dropped { questions: 2, options: 10 * 5, shortened: 10 * 25 });
    let long = first_question(json!({"question": "q", "options": [{"label": "a", "preview": "x".repeat(20_000)}]}));
    assert_eq!(long.options[0].preview.len(), 10_000);
    let many = parse_call(json!({"questions": vec![json!({"question": "q"}); 600]})).unwrap();
    assert_eq!((many.list.len(), many.dropped.questions), (10, 590));
}

#[test]
fn r65_limits_and_reports_very_many_or_long_options() {
    let many: Vec<String> = (0..500).map(|n| format!("option {n}")).collect();
    let questions = parse_call(json!({"question": "Which?", "options": many})).unwrap();
    assert_eq!((questions.list[0].options.len(), questions.dropped.options), (25, 475));
    let longer_list: Vec<String> = (0..700).map(|n| format!("option {n}")).collect();
    assert_eq!(parse_call(json!({"question": "Which?", "options": longer_list})).unwrap().dropped.options, 675);
    let long = parse_call(json!({"question": "Which?", "options": ["漢".repeat(10_000), "b"]})).unwrap();
    assert_eq!((long.list[0].options[0].label.chars().count(), long.dropped.shortened), (200, 1));
    let result = crate::chat::Answer::from_status(crate::chat::AnswerStatus::Declined).to_result(&long);
    assert!(result.contains("1 text truncated"), "{result}");
    check_error(json!({"question": "", "options": ["a", "b"]}), "non-empty 'questions' array");
}

#[test]
fn labels_that_look_like_json_are_labels() {
    check_questions(
        json!({"questions": [{"question": "Default?", "options": ["[]", "{}", "null", "0"]}]}),
        "question-0: Default? [[] | {} | null | 0]",
    );
    check_error(json!({"questions": [{"question": {"text": "Which?"}}]}), "'question' to be a string");
}

#[test]
fn finds_recommended_option_by_index_label_or_flag() {
    let recommended = |arguments: Value| first_question(arguments).recommended;
    assert_eq!(recommended(json!({"question": "q", "options": ["", "a", "b"], "recommended": 2})), Some(1));
    assert_eq!(recommended(json!({"question": "q", "options": ["a", "b", "c"], "default": "c"})), Some(2));
    assert_eq!(recommended(json!({"question": "q", "options": ["a", {"label": "b", "recommended": true}]})), Some(1));
    assert_eq!(recommended(json!({"question": "q", "options": ["a"], "recommended": 9})), None);
}

#[test]
fn a_last_option_that_only_offers_to_write_becomes_the_text_answer() {
    let parse = |options: Value| first_question(json!({"question": "q", "options": options}));
    for label in [
        "Other",
        "other…",
        "Other (please specify)",
        "Other: specify",
        "Something else",
        "In my own words",
        "Something else, I'll explain",
        "Type your own answer",
    ] {
        let question = parse(json!(["a", "b", {"label": label, "description": "Tell me which"}]));
        let labels: Vec<&str> = question.options.iter().map(|option| option.label.as_str()).collect();
        assert_eq!(
            (labels.as_slice(), question.text_description.as_str()),
            (&["a", "b"][..], "Tell me which"),
            "{label}"
        );
        assert!(question.allow_text, "{label}");
    }
    // It names an answer, has a preview, or is not the last one.
    for options in [
        json!(["a", "b", "Other (Debian)"]),
        json!(["a", "b", "Another database"]),
        json!(["a", "b", {"label": "Other", "preview": "x"}]),
        json!(["a", "Other", "b"]),
    ] {
        let question = parse(options.clone());
        assert_eq!((question.options.len(), question.text_description.as_str()), (3, ""), "{options}");
    }
    // Without free text, the option is the only way to say so.
    let strict = first_question(json!({"question": "q", "options": ["a", "Other"], "allow_text": false}));
    assert_eq!((strict.options.len(), strict.allow_text), (2, false));
    let recommended = first_question(json!({"question": "q", "options": ["a", "Other"], "recommended": 1}));
    assert_eq!((recommended.options.len(), recommended.recommended), (1, None));
    check_questions(json!({"question": "q", "options": ["Other"]}), "question-0: q []");
}
