//! Tests of saving and restoring a question prompt.

use super::*;

fn save_and_restore(prompt: &QuestionPrompt, questions: &Questions) -> QuestionPrompt {
    QuestionPrompt::from_saved_json("1".into(), questions, &prompt.to_saved_json())
}

#[test]
fn a_partly_answered_prompt_is_restored_exactly() {
    let sample_questions = || questions(vec![question("a", false), question("b", true), question("c", false)]);
    // In these keys `>` is Tab, `<` Shift-Tab, `v` Down, `!` Enter, `^` Alt-Enter and `_` Esc.
    for key_string in [
        "",
        "v",
        "2",
        "2>",
        "2>>",
        "2>3 v ",
        "24half",
        "4whole!",
        "4whole!<4x_",
        "nwhy!",
        "nwhy!nmore_",
        "nfirst!vnsecond!v3nhalf_",
        "4one^two^",
        "nwhy",
        "2>1!3<<",
        "2_",
        "2>2!1!",
    ] {
        let question_set = sample_questions();
        let mut prompt = QuestionPrompt::new("1".into(), &question_set);
        press_keys(&mut prompt, &question_set, key_string);
        let saved = prompt.to_saved_json();
        assert_eq!(saved.is_empty(), key_string.is_empty(), "{key_string}: {saved}");
        let mut restored = save_and_restore(&prompt, &question_set);
        // A restored field must be seen again before it takes keys.
        assert_eq!(restored.is_field_untouched, restored.open_field.is_some(), "{key_string}");
        restored.is_field_untouched = prompt.is_field_untouched;
        assert_eq!(restored, prompt, "{key_string}");
        assert_eq!(
            draw_prompt(&mut restored, &question_set, (80, 20)),
            draw_prompt(&mut prompt, &question_set, (80, 20)),
            "{key_string}"
        );
    }
}

#[test]
fn a_draft_of_another_call_or_invalid_text_is_not_restored() {
    let current_questions = questions(vec![question("a", false)]);
    let new = QuestionPrompt::new("1".into(), &current_questions);
    let mut other_prompt = QuestionPrompt::new("2".into(), &current_questions);
    press_keys(&mut other_prompt, &current_questions, "2");
    let several_questions = questions(vec![question("a", false), question("b", false)]);
    let mut longer = QuestionPrompt::new("1".into(), &several_questions);
    press_keys(&mut longer, &several_questions, "2");
    for text in [
        other_prompt.to_saved_json(),
        longer.to_saved_json(),
        String::new(),
        "{".into(),
        "[]".into(),
        "{\"call\":\"1\"}".into(),
    ] {
        assert_eq!(QuestionPrompt::from_saved_json("1".into(), &current_questions, &text), new, "{text}");
    }
}

#[test]
fn r16_a_restored_draft_never_picks_an_option_that_does_not_exist() {
    let single_question = questions(vec![Question { allow_text: false, ..question("a", false) }]);
    let text = r#"{"call":"1","at":9,"pages":[{"cursor":99,"picks":[7,2,2,1],"own":"x","taken":true}],"writing":["own_words",{"text":"a\u001b[2Jb","at":99}]}"#;
    let mut prompt = QuestionPrompt::from_saved_json("1".into(), &single_question, text);
    assert!(!prompt.is_writing());
    draw_prompt(&mut prompt, &single_question, (60, 12));
    // The cursor moves to the last option. Of the picks that exist, a question with one answer keeps the first.
    assert_eq!((prompt.pages[0].cursor, prompt.pages[0].picks.as_slice(), prompt.page), (2, &[1][..], 0));
    let open_question = questions(vec![question("a", false)]);
    let mut prompt = QuestionPrompt::from_saved_json("1".into(), &open_question, text);
    assert!(prompt.is_writing() && !prompt.pages[0].is_text_selected);
    let screen = draw_prompt(&mut prompt, &open_question, (60, 12));
    assert!(screen.contains("│ ❯ ab") && !screen.contains('\u{1b}'), "{screen}");
}

#[test]
fn text_closed_without_enter_is_kept_and_is_no_answer() {
    let single_question = questions(vec![question("a", false)]);
    let mut prompt = QuestionPrompt::new("1".into(), &single_question);
    press_keys(&mut prompt, &single_question, "4half a word_");
    assert!(draw_prompt(&mut prompt, &single_question, (80, 12)).contains("Your own answer: half a word"));
    assert_eq!(prompt.pages[0].answer_value(), AnswerValue::Skipped);
    press_keys(&mut prompt, &single_question, "1");
    assert_eq!(prompt.pages[0].answer_value(), AnswerValue::Selected(vec![0]));
    let Some(answer) = press_for_answer(&mut prompt, &single_question, "4!") else { panic!("not sent") };
    assert_eq!(answer.answers[0].value, AnswerValue::Text("half a word".into()));
    let mut prompt = QuestionPrompt::new("1".into(), &single_question);
    press_keys(&mut prompt, &single_question, "nhalf a note_");
    assert!(draw_prompt(&mut prompt, &single_question, (80, 14)).contains("unsaved note: half a note"));
    let Some(answer) = press_for_answer(&mut prompt, &single_question, "1!") else { panic!("not sent") };
    assert!(answer.answers[0].note.is_empty() && answer.answers[0].notes.is_empty());
}

#[test]
fn a_text_answer_edited_without_enter_is_not_sent() {
    let several_questions = questions(vec![question("a", false), question("b", false)]);
    let mut prompt = QuestionPrompt::new("1".into(), &several_questions);
    press_keys(&mut prompt, &several_questions, "4yes!<4 no_");
    assert_eq!(
        (prompt.pages[0].answer_value(), prompt.pages[0].text_answer.as_str()),
        (AnswerValue::Skipped, "yes no")
    );
}

#[test]
fn text_of_a_question_that_is_left_is_its_answer() {
    let open_question = |keyword: &str| Question { options: Vec::new(), ..question(keyword, false) };
    let question_set = questions(vec![open_question("a"), question("b", false), open_question("c")]);
    let text = |text: &str| AnswerValue::Text(text.into());
    // In these keys `>` is Tab, `<` Shift-Tab, `!` Enter and `_` Esc.
    for (key_string, expected) in [
        ("one>4two>three>!", [text("one"), text("two"), text("three")]),
        ("<<three<4two<one<!", [text("one"), text("two"), text("three")]),
        // Text left with Esc is only used if no option is picked instead.
        ("one_>4two_>three_>!", [text("one"), text("two"), text("three")]),
        ("one_>4two_1>three_>!", [text("one"), AnswerValue::Selected(vec![0]), text("three")]),
        // Without text, Tab skips the question.
        ("one>4>>!", [text("one"), AnswerValue::Skipped, AnswerValue::Skipped]),
    ] {
        assert_answer(&question_set, key_string, Some(&expected));
    }
    let mut prompt = QuestionPrompt::new("1".into(), &question_set);
    press_keys(&mut prompt, &question_set, "one>");
    let screen = draw_prompt(&mut prompt, &question_set, (80, 12));
    assert!(screen.contains("a ✓ │ ❯ b │ c │ review") && screen.contains("2 of 3 · 1 answered"), "{screen}");
    press_keys(&mut prompt, &question_set, ">three>");
    let screen = draw_prompt(&mut prompt, &question_set, (80, 12));
    assert!(screen.contains("2 of 3 answered") && screen.contains("│   three "), "{screen}");
}

#[test]
fn text_in_a_draft_of_an_earlier_version_is_no_skipped_answer() {
    let question_set = questions(vec![question("a", false), question("b", false)]);
    let saved = r#"{"call":"1","at":2,"pages":[{"own":"half"},{"picks":[1],"own":"other"}]}"#;
    let mut prompt = QuestionPrompt::from_saved_json("1".into(), &question_set, saved);
    let Some(answer) = press_for_answer(&mut prompt, &question_set, "!") else { panic!("not sent") };
    let values: Vec<_> = answer.answers.into_iter().map(|answer| answer.value).collect();
    assert_eq!(values, [AnswerValue::Text("half".into()), AnswerValue::Selected(vec![1])]);
}

#[test]
fn the_hints_of_a_text_field_name_the_keys_that_work() {
    let open_question = Question { options: Vec::new(), ..question("a", false) };
    let hints = |question_set: &Questions, keys: &str, width| {
        let mut prompt = QuestionPrompt::new("1".into(), question_set);
        press_keys(&mut prompt, question_set, keys);
        draw_prompt(&mut prompt, question_set, (width, 12)).lines().last().unwrap_or_default().to_owned()
    };
    let single_question = questions(vec![open_question.clone()]);
    let hint_row = hints(&single_question, "", 90);
    assert!(hint_row.contains("─ enter send · alt-enter new line · esc back ─"), "{hint_row}");
    let several_questions = questions(vec![open_question, question("b", false)]);
    let hint_row = hints(&several_questions, "x", 90);
    let expected = "─ enter confirm · tab next question · alt-enter new line · esc back, keep text ─";
    assert!(hint_row.contains(expected), "{hint_row}");
    assert!(hints(&several_questions, "x", 60).contains("enter confirm · tab next · esc back, keep text"));
    // Tab does nothing in a note.
    assert!(hints(&several_questions, ">n", 90).contains("─ enter save note · esc back ─"));
}

/// With no options, nothing but the text can be confirmed.
#[test]
fn enter_sends_the_text_of_a_question_without_options_after_esc() {
    let open_question = Question { options: Vec::new(), ..question("a", false) };
    let single_question = questions(vec![open_question.clone()]);
    let mut prompt = QuestionPrompt::new("1".into(), &single_question);
    press_keys(&mut prompt, &single_question, "half_");
    let screen = draw_prompt(&mut prompt, &single_question, (80, 12));
    assert!(screen.contains("╰─ enter send · 1 edit · esc later · x decline ─"), "{screen}");
    let explained = KeyResult::Explained("A question without options takes no note".into());
    assert_eq!(press_keys(&mut prompt, &single_question, "n"), explained);
    assert_answer(&single_question, "half_!", Some(&[AnswerValue::Text("half".into())]));
    assert_answer(&single_question, "half_1 done!", Some(&[AnswerValue::Text("half done".into())]));
    assert_answer(&single_question, "_!", None);
    let several_questions = questions(vec![open_question, question("b", false)]);
    let expected = [AnswerValue::Text("half".into()), AnswerValue::Selected(vec![1])];
    assert_answer(&several_questions, "half_!2!!", Some(&expected));
    // With options, Enter on the row of the text opens it.
    let mut prompt = QuestionPrompt::new("1".into(), &several_questions);
    press_keys(&mut prompt, &several_questions, ">4half_");
    let screen = draw_prompt(&mut prompt, &several_questions, (90, 12));
    assert!(screen.contains("enter edit") && !screen.contains("n note"), "{screen}");
}
