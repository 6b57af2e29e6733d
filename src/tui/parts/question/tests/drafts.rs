//! Tests of saving and restoring a question prompt.

use super::*;

fn save_and_restore(card: &QuestionPrompt, asked: &Questions) -> QuestionPrompt {
    QuestionPrompt::from_saved_json("1".into(), asked, &card.to_saved_json())
}

#[test]
fn a_partly_answered_prompt_is_restored_exactly() {
    let all = || questions(vec![question("a", false), question("b", true), question("c", false)]);
    for letters in [
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
        "213<<x",
        "2_",
        "2>2!1!",
    ] {
        let asked = all();
        let mut card = QuestionPrompt::new("1".into(), &asked);
        press(&mut card, &asked, letters);
        let kept = card.to_saved_json();
        assert_eq!(kept.is_empty(), letters.is_empty(), "{letters}: {kept}");
        let mut again = save_and_restore(&card, &asked);
        assert_eq!(again, card, "{letters}");
        assert_eq!(draw(&mut again, &asked, (80, 20)), draw(&mut card, &asked, (80, 20)), "{letters}");
    }
}

#[test]
fn a_draft_of_another_call_or_invalid_text_is_not_restored() {
    let asked_now = questions(vec![question("a", false)]);
    let new = QuestionPrompt::new("1".into(), &asked_now);
    let mut other = QuestionPrompt::new("2".into(), &asked_now);
    press(&mut other, &asked_now, "2");
    let two = questions(vec![question("a", false), question("b", false)]);
    let mut longer = QuestionPrompt::new("1".into(), &two);
    press(&mut longer, &two, "2");
    for text in [
        other.to_saved_json(),
        longer.to_saved_json(),
        String::new(),
        "{".into(),
        "[]".into(),
        "{\"call\":\"1\"}".into(),
    ] {
        assert_eq!(QuestionPrompt::from_saved_json("1".into(), &asked_now, &text), new, "{text}");
    }
}

#[test]
fn r16_a_restored_draft_never_picks_an_option_that_does_not_exist() {
    let one = questions(vec![Question { allow_text: false, ..question("a", false) }]);
    let text = r#"{"call":"1","at":9,"pages":[{"cursor":99,"picks":[7,2,2,1],"own":"x","taken":true}],"writing":["own_words",{"text":"a\u001b[2Jb","at":99}]}"#;
    let mut card = QuestionPrompt::from_saved_json("1".into(), &one, text);
    assert!(!card.is_writing());
    draw(&mut card, &one, (60, 12));
    assert_eq!((card.pages[0].cursor, card.pages[0].picks.as_slice(), card.page()), (2, &[1][..], 0));
    let open = questions(vec![question("a", false)]);
    let mut card = QuestionPrompt::from_saved_json("1".into(), &open, text);
    assert!(card.is_writing() && !card.pages[0].is_text_selected);
    let shown = draw(&mut card, &open, (60, 12));
    assert!(shown.contains("Your own answer ab") && !shown.contains('\u{1b}'), "{shown}");
}

#[test]
fn text_closed_without_enter_is_kept_and_is_no_answer() {
    let one = questions(vec![question("a", false)]);
    let mut card = QuestionPrompt::new("1".into(), &one);
    press(&mut card, &one, "4half a word_");
    assert!(draw(&mut card, &one, (80, 12)).contains("Your own answer: half a word"));
    assert_eq!(card.pages[0].source(), AnswerValue::Skipped);
    press(&mut card, &one, "1");
    assert_eq!(card.pages[0].source(), AnswerValue::Selected(vec![0]));
    let KeyResult::Answered(answer) = press(&mut card, &one, "4!") else { panic!("not sent") };
    assert_eq!(answer.answers[0].value, AnswerValue::Text("half a word".into()));
    let mut card = QuestionPrompt::new("1".into(), &one);
    press(&mut card, &one, "nhalf a note_");
    assert!(draw(&mut card, &one, (80, 14)).contains("unsaved note: half a note"));
    let KeyResult::Answered(answer) = press(&mut card, &one, "1!") else { panic!("not sent") };
    assert!(answer.answers[0].note.is_empty() && answer.answers[0].notes.is_empty());
}

#[test]
fn a_text_answer_edited_without_enter_is_not_sent() {
    let two = questions(vec![question("a", false), question("b", false)]);
    let mut card = QuestionPrompt::new("1".into(), &two);
    press(&mut card, &two, "4yes!<4 no_");
    assert_eq!((card.pages[0].source(), card.pages[0].text_answer.as_str()), (AnswerValue::Skipped, "yes no"));
}
