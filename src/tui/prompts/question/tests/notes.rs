//! Tests of notes and of text answers with several lines. In the keys, `v` is Down, `!` Enter and `^` Alt-Enter.

use super::*;
use crate::chat::QuestionAnswer;

#[test]
fn each_option_has_its_note() {
    let single_question = questions(vec![question("clock", true)]);
    let mut prompt = QuestionPrompt::new("1".into(), &single_question);
    press_keys(&mut prompt, &single_question, "1nfast!");
    press_keys(
        &mut prompt,
        &single_question,
        "vvnbut for how long, with two hundred tests that all want it at the same time?!",
    );
    press_keys(&mut prompt, &single_question, "vnask again in spring!");
    insta::assert_snapshot!(draw_prompt(&mut prompt, &single_question, (60, 15)), @r#"
╭─ Question · clock ───────────────────────────────────────╮
│ Which clock should the test use?                         │
│                                                          │
│   1 [x] tokio::time::pause  recommended                  │
│         virtual time; the test takes no time at all      │
│         note: fast                                       │
│   2 [ ] a Clock trait                                    │
│         more code, but the library gets testable         │
│   3 [ ] the real clock                                   │
│         widen the window to 200 ms                       │
│         note: but for how long, with two hundred tests … │
│ ❯ 4 [ ] Write an answer…                                 │
│         note: ask again in spring                        │
│                                                          │
╰─ 1-4 pick · enter write · esc later · x decline ─────────╯
"#);
    let Some(answer) = press_for_answer(&mut prompt, &single_question, "2!") else { panic!("not sent") };
    let notes: Vec<(usize, &str)> =
        answer.answers[0].notes.iter().map(|note| (note.option, note.text.as_str())).collect();
    assert_eq!((notes[0], notes[1].0, notes.len()), ((0, "fast"), 2, 2));
    assert_eq!(
        (answer.answers[0].note.as_str(), &answer.answers[0].value),
        ("ask again in spring", &AnswerValue::Selected(vec![0, 1]))
    );
}

#[test]
fn an_emptied_note_is_removed() {
    let single_question = questions(vec![question("clock", false)]);
    let mut prompt = QuestionPrompt::new("1".into(), &single_question);
    press_keys(&mut prompt, &single_question, "2nab!n");
    for _ in 0..2 {
        press_key(&mut prompt, &single_question, KeyCode::Backspace.into());
    }
    let Some(answer) = press_for_answer(&mut prompt, &single_question, "!!") else { panic!("not sent") };
    assert_eq!(answer.answers[0], QuestionAnswer::new("clock", AnswerValue::Selected(vec![1])));
}

#[test]
fn a_text_answer_has_several_lines_and_scrolls_in_a_small_prompt() {
    let single_question = questions(vec![question("clock", false)]);
    let mut prompt = QuestionPrompt::new("1".into(), &single_question);
    press_keys(
        &mut prompt,
        &single_question,
        "4The first line^^of a longer answer, which is wrapped where the area is too narrow for it^last",
    );
    insta::assert_snapshot!(draw_prompt(&mut prompt, &single_question, (60, 15)), @r#"
╭─ Question · clock ───────────────────────────────────────╮
│ Which clock should the test use?                         │
│   1   tokio::time::pause  recommended                    │
│       virtual time; the test takes no time at all        │
│   2   a Clock trait                                      │
│       more code, but the library gets testable           │
│   3   the real clock                                     │
│       widen the window to 200 ms                         │
│ ❯ 4   Write an answer…                                   │
│ ❯ The first line                                         │
│                                                          │
│   of a longer answer, which is wrapped where the area is │
│   too narrow for it                                      │
│   last                                                   │
╰─ enter send · alt-enter new line · esc back, keep text ──╯
"#);
    insta::assert_snapshot!(draw_prompt(&mut prompt, &single_question, (60, 7)), @r#"
╭─ Question · clock ───────────────────────────────────────╮
│ Which clock should the test use?                         │
│       widen the window to 200 ms                         │
│ ❯ 4   Write an answer…                                   ┃
│ ❯ too narrow for it                                      │
│   last                                                   │
╰─ enter send · alt-enter new line · esc back, keep text ──╯
"#);
    for _ in 0..9 {
        press_key(&mut prompt, &single_question, KeyCode::Up.into());
    }
    press_keys(&mut prompt, &single_question, "So: ");
    assert!(draw_prompt(&mut prompt, &single_question, (60, 7)).contains("So: "));
    let Some(answer) = press_for_answer(&mut prompt, &single_question, "!") else { panic!("not sent") };
    let AnswerValue::Text(text) = &answer.answers[0].value else { panic!("not written") };
    assert_eq!(text.lines().count(), 4, "{text}");
}

#[test]
fn r05_newlines_of_a_paste_break_lines_and_send_nothing() {
    let single_question = questions(vec![question("clock", false)]);
    let mut prompt = QuestionPrompt::new("1".into(), &single_question);
    press_keys(&mut prompt, &single_question, "4one");
    let enter = KeyEvent::from(KeyCode::Enter);
    let until_later = Listening::Until(Duration::from_secs(9));
    assert_eq!(prompt.handle_key(&enter, &Keymap::default(), &single_question, until_later), KeyResult::Handled);
    assert!(prompt.insert_paste("two\nthree"));
    let Some(answer) = press_for_answer(&mut prompt, &single_question, "!") else { panic!("not sent") };
    assert_eq!(answer.answers[0].value, AnswerValue::Text("one\ntwo\nthree".into()));
}

#[test]
fn r10_invisible_characters_are_marked_everywhere() {
    let with_hidden = |name: &str| format!("{name}\u{202e}\x1b[2J\u{200b}{}end", " ".repeat(30));
    let mut sample = question(&with_hidden("keyword"), false);
    sample.text = with_hidden("text");
    sample.options.truncate(1);
    sample.options[0] = QuestionOption {
        label: with_hidden("label\n"),
        description: with_hidden("means"),
        preview: with_hidden("preview"),
    };
    let question_set = questions(vec![sample.clone(), sample]);
    let mut prompt = QuestionPrompt::new("1".into(), &question_set);
    let screen = draw_prompt(&mut prompt, &question_set, (160, 24));
    for name in ["keyword", "text", "label<U+000A>", "means"] {
        assert!(screen.contains(&format!("{name}<U+202E><U+001B>[2J")), "{name}: {screen}");
    }
    assert!(screen.contains("preview<U+202E>"), "{screen}");
    assert!(screen.matches("<30").count() >= 3, "{screen}");
    press_keys(&mut prompt, &question_set, "1!1!");
    let screen = draw_prompt(&mut prompt, &question_set, (160, 24));
    assert!(screen.contains("label<U+000A><U+202E><U+001B>[2J<U+200B><30 blanks>end"), "{screen}");
}
