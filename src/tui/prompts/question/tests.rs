//! Tests of keys and drawing of the question prompt.

mod drafts;
mod long_content;
mod notes;
mod previews;

use super::question_layout::QuestionContext;
use super::*;
use crate::chat::{AnswerValue, Dropped, OptionNote, Question, QuestionOption};
use crate::tui::parts::frame::PromptContext;
use crate::tui::parts::link_lookups::LinkLookups;
use crate::tui::prompts::prompt::Prompt;
use crate::tui::tests::buffer_text;
use crate::tui::theme::Theme;
use crossterm::event::{KeyCode, KeyModifiers};
use proptest::prelude::*;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

/// A question with three options and a text answer; the first option is recommended.
fn question(keyword: &str, is_multiple: bool) -> Question {
    let choice = |(label, description): (&str, &str)| QuestionOption {
        description: description.into(),
        ..QuestionOption::new(label)
    };
    let options = [
        ("tokio::time::pause", "virtual time; the test takes no time at all"),
        ("a Clock trait", "more code, but the library gets testable"),
        ("the real clock", "widen the window to 200 ms"),
    ];
    Question {
        keyword: keyword.into(),
        text: "Which clock should the test use?".into(),
        options: options.into_iter().map(choice).collect(),
        is_multiple,
        allow_text: true,
        text_description: String::new(),
        recommended: Some(0),
    }
}

fn questions(list: Vec<Question>) -> Questions {
    Questions { list, dropped: Dropped::default() }
}

/// Draws the prompt and records the frame as the event loop does. Returns the screen as text.
fn draw_prompt(prompt: &mut QuestionPrompt, questions: &Questions, (width, height): (u16, u16)) -> String {
    let area = Rect::new(0, 0, width, height);
    let mut buffer = Buffer::empty(area);
    let (keys, theme) = (Keymap::default(), Theme::without_colours());
    let context = PromptContext { listening: Listening::Ready, keys: &keys, theme: &theme, message: "" };
    let context = QuestionContext { prompt: context, lookups: &LinkLookups::default() };
    let drawn = prompt.draw(questions, None, &context, area, &mut buffer);
    prompt.record_frame(Duration::ZERO, drawn);
    buffer_text(&buffer)
}

/// Presses keys written as characters; `>` is Tab, `<` Shift-Tab, `v` Down, `!` Enter, `^` Alt-Enter, `_` Esc. Returns
/// the result of the last one.
fn press_keys(prompt: &mut QuestionPrompt, questions: &Questions, key_string: &str) -> KeyResult {
    let mut result = KeyResult::Handled;
    for symbol in key_string.chars() {
        let code = match symbol {
            '>' => KeyCode::Tab,
            '<' => KeyCode::BackTab,
            'v' => KeyCode::Down,
            '!' | '^' => KeyCode::Enter,
            '_' => KeyCode::Esc,
            symbol => KeyCode::Char(symbol),
        };
        let modifiers = if symbol == '^' { KeyModifiers::ALT } else { KeyModifiers::NONE };
        let key = KeyEvent::new(code, modifiers);
        result = press_key(prompt, questions, key);
    }
    result
}

fn press_key(prompt: &mut QuestionPrompt, questions: &Questions, key: KeyEvent) -> KeyResult {
    let keys = Keymap::default();
    prompt
        .handle_declining_key(&key, &keys, Duration::ZERO)
        .unwrap_or_else(|| prompt.handle_key(&key, &keys, questions, Listening::Ready))
}

/// Presses keys as [`press_keys`] does. Returns the answer that the last one sent, if any.
fn press_for_answer(prompt: &mut QuestionPrompt, questions: &Questions, key_string: &str) -> Option<Answer> {
    let KeyResult::Run(commands) = press_keys(prompt, questions, key_string) else { return None };
    commands.into_iter().find_map(|command| match command {
        PromptCommand::Answer(_, answer) => Some(answer),
        _ => None,
    })
}

/// Compares the values of the answer that the keys send; `None` if they send no answer.
#[track_caller]
fn assert_answer(questions: &Questions, key_string: &str, expected: Option<&[AnswerValue]>) {
    let mut prompt = QuestionPrompt::new("1".into(), questions);
    let answer = press_for_answer(&mut prompt, questions, key_string);
    let values: Option<Vec<_>> =
        answer.map(|answer| answer.answers.into_iter().map(|question_answer| question_answer.value).collect());
    assert_eq!(values.as_deref(), expected, "{key_string}");
}

#[test]
fn the_prompt_shows_question_options_and_keys() {
    let question_set = questions(vec![question("clock", false), question("other", true)]);
    let mut prompt = QuestionPrompt::new("1".into(), &question_set);
    insta::assert_snapshot!(draw_prompt(&mut prompt, &question_set, (90, 8)), @r#"
╭─ Question · clock ──────────────────────────────────────────────────────────── 1 of 2 ─╮
│ ❯ clock │ other │ review                                                               │
│ Which clock should the test use?                                                       │
│ ❯ 1   tokio::time::pause   virtual time; the test takes no time at all  recommended    │
│   2   a Clock trait        more code, but the library gets testable                    │
│   3   the real clock       widen the window to 200 ms                                  │
│   4   Write an answer…                                                                 │
╰─ ↑↓ move · 1-4 pick · n note · tab next · enter confirm · esc later · x decline ───────╯
"#);
    insta::assert_snapshot!(draw_prompt(&mut prompt, &question_set, (60, 11)), @r#"
╭─ Question · clock ────────────────────────────── 1 of 2 ─╮
│ ❯ clock │ other │ review                                 │
│ Which clock should the test use?                         │
│ ❯ 1   tokio::time::pause  recommended                    │
│       virtual time; the test takes no time at all        │
│   2   a Clock trait                                      │
│       more code, but the library gets testable           │
│   3   the real clock                                     │
│       widen the window to 200 ms                         │
│   4   Write an answer…                                   │
╰─ 1-4 pick · tab next · enter confirm · esc later ────────╯
"#);
    press_keys(&mut prompt, &question_set, "2!>");
    insta::assert_snapshot!(draw_prompt(&mut prompt, &question_set, (40, 13)), @r#"
╭─ Your answers ───── 1 of 2 answered ─╮
│ clock ✓ │ other │ ❯ review           │
│ 1 Which clock should the test use?   │
│   a Clock trait                      │
│ 2 Which clock should the test use?   │
│   no answer: sent as skipped         │
│                                      │
│                                      │
│                                      │
│                                      │
│                                      │
│                                      │
╰─ enter send · 1-2 change ────────────╯
"#);
}

#[test]
fn the_selected_answers_are_sent() {
    let single_question = questions(vec![question("clock", false)]);
    assert_answer(&single_question, "!", Some(&[AnswerValue::Selected(vec![0])]));
    assert_answer(&single_question, "vv!", Some(&[AnswerValue::Selected(vec![2])]));
    assert_answer(&single_question, "2", None);
    assert_answer(&single_question, "2!", Some(&[AnswerValue::Selected(vec![1])]));
    assert_answer(&single_question, "4none!", Some(&[AnswerValue::Text("none".into())]));
    assert_answer(&single_question, "4none_", None);
    let multiple_choice = questions(vec![question("clock", true)]);
    assert_answer(&multiple_choice, "31!", Some(&[AnswerValue::Selected(vec![0, 2])]));
    assert_answer(&multiple_choice, "311!", Some(&[AnswerValue::Selected(vec![2])]));
}

#[test]
fn r16_nothing_is_picked_or_sent_without_a_key() {
    let several_questions = questions(vec![question("a", false), question("b", false)]);
    assert_answer(&several_questions, ">>!", None);
    assert_answer(&several_questions, "2>>", None);
    assert_answer(&several_questions, "2!3!", None);
    let both = [AnswerValue::Selected(vec![1]), AnswerValue::Selected(vec![2])];
    // A digit selects, Enter confirms: as often as with a single question, and once more on the review page.
    assert_answer(&several_questions, "2!3!!", Some(&both));
    assert_answer(&several_questions, "12!13!!", Some(&both));
    assert_answer(&several_questions, "2!>!", Some(&[AnswerValue::Selected(vec![1]), AnswerValue::Skipped]));
    // Two presses of `x` decline: an answer without values. Any other key keeps the questions.
    assert_answer(&several_questions, "x", None);
    assert_answer(&several_questions, "xx", None);
    assert_answer(&several_questions, "x1x!", None);
    assert_answer(&several_questions, "xxx2!3!!", Some(&both));
    assert_answer(&several_questions, "xx!", Some(&[]));
}

#[test]
fn a_question_without_options_opens_its_text_field() {
    let open_question = Question { options: Vec::new(), ..question("name", false) };
    let single_question = questions(vec![open_question.clone()]);
    assert_answer(&single_question, "retry!", Some(&[AnswerValue::Text("retry".into())]));
    assert_answer(&single_question, "!", None);
    let mut prompt = QuestionPrompt::new("1".into(), &single_question);
    assert!(prompt.is_writing() && prompt.to_saved_json().is_empty());
    // What is typed before the field could be seen stays in the composer, and so does the rest of a message.
    for listening in [Listening::Unseen, Listening::Until(Duration::MAX), Listening::Unsent] {
        let result = prompt.handle_key(&KeyCode::Char('a').into(), &Keymap::default(), &single_question, listening);
        assert_eq!(result, KeyResult::PassedOn, "{listening:?}");
    }
    // Among several questions, Tab confirms the text and turns the page. The field is open again when it turns back.
    let several_questions = questions(vec![question("a", false), open_question, question("c", false)]);
    let mut prompt = QuestionPrompt::new("1".into(), &several_questions);
    press_keys(&mut prompt, &several_questions, "1!half>");
    assert!(prompt.page == 2 && !prompt.is_writing());
    press_keys(&mut prompt, &several_questions, "<");
    let height = prompt.preferred_height(&several_questions, 80, &Theme::without_colours());
    let screen = draw_prompt(&mut prompt, &several_questions, (80, height));
    assert!(screen.contains("a ✓ │ ❯ name ✓ │ c │ review") && screen.contains("❯ half"), "{screen}");
    assert!(prompt.is_writing() && draw_prompt(&mut prompt, &several_questions, (80, 12)).contains("❯ half"));
    let answer = press_for_answer(&mut prompt, &several_questions, " done!2!!").unwrap();
    assert_eq!(answer.answers[1].value, AnswerValue::Text("half done".into()));
}

#[test]
fn the_tabs_stay_above_a_question_with_few_rows() {
    let open_question = Question { options: Vec::new(), ..question("name", false) };
    let several_questions = questions(vec![open_question, question("b", false)]);
    let mut prompt = QuestionPrompt::new("1".into(), &several_questions);
    for key in ["", "_"] {
        press_keys(&mut prompt, &several_questions, key);
        let height = prompt.preferred_height(&several_questions, 60, &Theme::without_colours());
        let screen = draw_prompt(&mut prompt, &several_questions, (60, height));
        assert!(screen.contains("❯ name │ b │ review"), "{key}: {screen}");
    }
}

#[test]
fn a_question_without_a_keyword_has_its_number_as_tab() {
    let without_keyword = |index| question(&Question::generate_keyword(index), false);
    let question_set = questions(vec![without_keyword(0), question("os", false), without_keyword(2)]);
    let mut prompt = QuestionPrompt::new("1".into(), &question_set);
    press_keys(&mut prompt, &question_set, "1!");
    let screen = draw_prompt(&mut prompt, &question_set, (80, 12));
    assert!(screen.contains("│ 1 ✓ │ ❯ os │ 3 │ review ") && !screen.contains("question-"), "{screen}");
}

#[test]
fn the_text_answer_has_one_row_with_the_description_of_the_model() {
    let text_description = "anything that stops the clock".to_owned();
    let question_set = questions(vec![Question { text_description, ..question("clock", false) }]);
    let mut prompt = QuestionPrompt::new("1".into(), &question_set);
    let screen = draw_prompt(&mut prompt, &question_set, (90, 9));
    assert!(screen.contains("  4   Write an answer…     anything that stops the clock"), "{screen}");
    let screen = draw_prompt(&mut prompt, &question_set, (50, 14));
    assert!(screen.contains("  4   Write an answer…") && screen.contains("      anything that stops"), "{screen}");
    press_keys(&mut prompt, &question_set, "4none_");
    let screen = draw_prompt(&mut prompt, &question_set, (90, 9));
    assert!(screen.contains("Your own answer: none") && !screen.contains("anything that"), "{screen}");
}

/// On the row of the text answer, Enter opens the field and sends nothing.
#[test]
fn the_hint_of_enter_says_that_it_opens_the_text_field() {
    let hints = |prompt: &mut QuestionPrompt, question_set: &Questions| {
        draw_prompt(prompt, question_set, (90, 9)).lines().last().unwrap_or_default().to_owned()
    };
    let open_question = questions(vec![Question { options: Vec::new(), ..question("name", false) }]);
    let mut prompt = QuestionPrompt::new("1".into(), &open_question);
    assert!(hints(&mut prompt, &open_question).contains("enter send"));
    press_keys(&mut prompt, &open_question, "_");
    let row = hints(&mut prompt, &open_question);
    assert!(row.contains("╰─ enter write · esc later"), "{row}");
    let with_options = questions(vec![question("clock", false)]);
    let mut prompt = QuestionPrompt::new("1".into(), &with_options);
    assert!(hints(&mut prompt, &with_options).contains("enter send"));
    press_keys(&mut prompt, &with_options, "vvv");
    assert!(hints(&mut prompt, &with_options).contains("1-4 pick · n note · enter write"));
}

#[test]
fn declined_questions_can_be_brought_back_for_some_seconds() {
    let single_question = questions(vec![question("clock", false)]);
    let mut prompt = QuestionPrompt::new("1".into(), &single_question);
    press_keys(&mut prompt, &single_question, "2x");
    assert!(
        draw_prompt(&mut prompt, &single_question, (80, 12))
            .contains("x again to decline · any other key keeps the question ─")
    );
    press_keys(&mut prompt, &single_question, "x");
    let (keys, theme) = (Keymap::default(), Theme::without_colours());
    let draw_at = |ms: u64, width| {
        let area = Rect::new(0, 0, width, 5);
        let mut buffer = Buffer::empty(area);
        prompt.draw_declined((&keys, &theme, Duration::from_millis(ms)), area, &mut buffer);
        buffer_text(&buffer)
    };
    let screen = draw_at(0, 80);
    assert!(screen.contains("─ Declining in 5 s ─") && draw_at(4100, 30).contains("in 1 s"), "{screen}");
    assert!(screen.contains("│ Press x to return to the question with what you answered. "), "{screen}");
    assert!(screen.contains("─ x return · enter decline now ─"), "{screen}");
    let next_change = |ms| prompt.next_declining_change(Duration::from_millis(ms));
    assert_eq!((next_change(0), next_change(100)), (Some(Duration::from_secs(1)), Some(Duration::from_secs(1))));
    assert_eq!(next_change(4000), Some(Duration::from_secs(5)));
    assert_eq!(prompt.take_due_decline(Duration::from_millis(4999)), None);
    let declined = PromptCommand::Answer("1".into(), Answer::from_status(AnswerStatus::Declined));
    assert_eq!(prompt.take_due_decline(Duration::from_secs(5)), Some(declined));
    // Brought back, it has its answers and never declines by itself.
    press_keys(&mut prompt, &single_question, "x");
    assert_eq!((prompt.take_due_decline(Duration::MAX), prompt.pages[0].picks.as_slice()), (None, &[1][..]));
}

/// The first of two presses of `x` may have come before the prompt accepted keys: Enter, meant to send the decline, must
/// not send an answer.
#[test]
fn enter_after_one_press_of_decline_answers_nothing() {
    let single_question = questions(vec![question("clock", false)]);
    assert_answer(&single_question, "2x!", None);
    assert_answer(&single_question, "x!", None);
    let mut prompt = QuestionPrompt::new("1".into(), &single_question);
    assert!(press_for_answer(&mut prompt, &single_question, "x!!").is_some(), "the next one does what it always does");
}

#[test]
fn r16_a_prompt_that_does_not_listen_passes_every_key_on() {
    let single_question = questions(vec![question("clock", false)]);
    for listening in [Listening::Unseen, Listening::Unsent, Listening::Until(Duration::MAX)] {
        for code in [KeyCode::Enter, KeyCode::Char('1'), KeyCode::Char('x'), KeyCode::Esc] {
            let key = KeyEvent::from(code);
            let mut prompt = QuestionPrompt::new("1".into(), &single_question);
            let result = prompt.handle_key(&key, &Keymap::default(), &single_question, listening);
            assert_eq!(result, KeyResult::PassedOn);
        }
    }
}

#[test]
fn esc_parks_the_prompt_with_its_draft() {
    let single_question = questions(vec![question("clock", false)]);
    let mut prompt = QuestionPrompt::new("1".into(), &single_question);
    draw_prompt(&mut prompt, &single_question, (60, 15));
    press_keys(&mut prompt, &single_question, "2nbecause!");
    assert_eq!(press_keys(&mut prompt, &single_question, "_"), KeyResult::Run(vec![PromptCommand::ReturnParked]));
    assert_eq!(prompt.chip_text(&Keymap::default()), "1 question waiting · ctrl-q answer · alt-x decline");
    assert_eq!(press_keys(&mut prompt, &single_question, "!"), KeyResult::PassedOn);
    prompt.restore();
    assert_eq!(prompt.first_drawn(), None);
    let Some(answer) = press_for_answer(&mut prompt, &single_question, "!") else { panic!("not sent") };
    assert_eq!(
        (&answer.answers[0].value, &answer.answers[0].notes[0]),
        (&AnswerValue::Selected(vec![1]), &OptionNote { option: 1, text: "because".into() })
    );
}

#[test]
fn r09_model_text_stays_inside_the_prompt() {
    let mut hostile = question("a\n\x1b[2J", false);
    hostile.text = "x\x1b[2J\u{202e}╰──╯".into();
    let question_set = questions(vec![hostile]);
    let screen = draw_prompt(&mut QuestionPrompt::new("1".into(), &question_set), &question_set, (60, 15));
    assert!(!screen.contains(['\x1b', '\u{202e}']));
    assert!(screen.lines().skip(1).take(13).all(|row| row.starts_with('│') && row.ends_with('│')), "{screen}");
}

#[test]
fn the_focused_row_is_always_visible() {
    let mut long_question = question("clock", false);
    long_question.options = (0..25).map(|n| QuestionOption::new(&format!("option {n}"))).collect();
    let question_set = questions(vec![long_question]);
    let mut prompt = QuestionPrompt::new("1".into(), &question_set);
    for n in 0..25 {
        let screen = draw_prompt(&mut prompt, &question_set, (60, 6));
        assert!(screen.contains("❯") && screen.contains(&format!("option {n} ")), "{screen}");
        press_keys(&mut prompt, &question_set, "v");
    }
}

proptest! {
    #[test]
    fn r34_no_size_and_no_key_causes_a_panic(width in 0u16..70, height in 0u16..20, letters in "[1-9vxn!_<> a]{0,12}", text in "\\PC{0,80}") {
        let mut strange = question("a", true);
        strange.text.clone_from(&text);
        strange.options[0].label = text;
        let mut empty = question("b", false);
        empty.options.clear();
        let question_set = questions(vec![strange, empty]);
        let mut prompt = QuestionPrompt::new("1".into(), &question_set);
        for letter in letters.chars() {
            draw_prompt(&mut prompt, &question_set, (width, height));
            press_keys(&mut prompt, &question_set, &letter.to_string());
        }
        draw_prompt(&mut prompt, &question_set, (width, height));
    }
}
