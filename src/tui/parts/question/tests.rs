//! Tests of keys and drawing of the question prompt.

mod drafts;
mod large;
mod words;

use super::*;
use crate::chat::{Choice, Dropped, Note, Question, Source};
use crate::tui::parts::frame::Sight;
use crate::tui::theme::Theme;
use crossterm::event::{KeyCode, KeyModifiers};
use proptest::prelude::*;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

fn question(keyword: &str, multi: bool) -> Question {
    let choice =
        |(label, description): (&str, &str)| Choice { description: description.into(), ..Choice::new(label) };
    let options = [
        ("tokio::time::pause", "virtual time; the test takes no time at all"),
        ("a Clock trait", "more code, but the library gets testable"),
        ("the real clock", "widen the window to 200 ms"),
    ];
    Question {
        keyword: keyword.into(),
        text: "Which clock should the test use?".into(),
        options: options.into_iter().map(choice).collect(),
        multi,
        allow_text: true,
        recommended: Some(0),
    }
}

fn asked(list: Vec<Question>) -> Questions {
    Questions { list, dropped: Dropped::default() }
}

fn draw(card: &mut QuestionCard, asked: &Questions, (width, height): (u16, u16)) -> String {
    let area = Rect::new(0, 0, width, height);
    let mut buffer = Buffer::empty(area);
    let (keys, theme) = (Keymap::default(), Theme::plain());
    let sight = Sight { listening: Listening::Yes, keys: &keys, theme: &theme, says: "" };
    let seen = card.view(asked, None, &sight, area, &mut buffer);
    card.drawn(Duration::ZERO, seen);
    let rows = buffer.content.chunks(usize::from(width.max(1)));
    rows.map(|row| row.iter().map(|cell| cell.symbol()).collect::<String>()).collect::<Vec<_>>().join("\n")
}

/// Presses keys written as characters; `>` is Tab, `<` Shift-Tab, `v` Down, `!` Enter, `^` Alt-Enter, `_` Esc.
fn press(card: &mut QuestionCard, asked: &Questions, letters: &str) -> Reply {
    let mut last = Reply::Nothing;
    for letter in letters.chars() {
        let code = match letter {
            '>' => KeyCode::Tab,
            '<' => KeyCode::BackTab,
            'v' => KeyCode::Down,
            '!' | '^' => KeyCode::Enter,
            '_' => KeyCode::Esc,
            letter => KeyCode::Char(letter),
        };
        let held = if letter == '^' { KeyModifiers::ALT } else { KeyModifiers::NONE };
        let key = KeyEvent::new(code, held);
        last = card.key(&key, &Keymap::default(), asked, Listening::Yes);
    }
    last
}

#[track_caller]
fn check(asked: &Questions, letters: &str, expected: Option<&[Source]>) {
    let mut card = QuestionCard::new("1".into(), asked);
    let sources = match press(&mut card, asked, letters) {
        Reply::Answered(answer) => {
            Some(answer.given.into_iter().map(|given| given.source).collect::<Vec<_>>())
        }
        Reply::Nothing | Reply::Says(_) | Reply::Took | Reply::Passed | Reply::Parked => None,
    };
    assert_eq!(sources.as_deref(), expected, "{letters}");
}

#[test]
fn the_prompt_shows_question_options_and_keys() {
    let asked = asked(vec![question("clock", false), question("other", true)]);
    let mut card = QuestionCard::new("1".into(), &asked);
    insta::assert_snapshot!(draw(&mut card, &asked, (90, 8)), @r#"
╭─ question · clock ──────────────────────────────────────────────────────────── 1 of 2 ─╮
│ Which clock should the test use?                                                       │
│                                                                                        │
│ ❯ 1   tokio::time::pause   virtual time; the test takes no time at all  recommended    │
│   2   a Clock trait        more code, but the library gets testable                    │
│   3   the real clock       widen the window to 200 ms                                  │
│   4   in my own words…                                                                 │
╰─ ↑↓ move · 1-4 pick · n note · tab next · enter confirm · esc later · x decline ───────╯
"#);
    insta::assert_snapshot!(draw(&mut card, &asked, (60, 11)), @r#"
╭─ question · clock ────────────────────────────── 1 of 2 ─╮
│ Which clock should the test use?                         │
│                                                          │
│ ❯ 1   tokio::time::pause  recommended                    │
│       virtual time; the test takes no time at all        │
│   2   a Clock trait                                      │
│       more code, but the library gets testable           │
│   3   the real clock                                     │
│       widen the window to 200 ms                         │
│   4   in my own words…                                   │
╰─ 1-4 pick · tab next · enter confirm · esc later ────────╯
"#);
    press(&mut card, &asked, "2>");
    insta::assert_snapshot!(draw(&mut card, &asked, (40, 13)), @r#"
╭─ your answers ───── 1 of 2 answered ─╮
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
│                                      │
╰─ enter send · 1-2 change ────────────╯
"#);
}

#[test]
fn the_selected_answers_are_sent() {
    let one = asked(vec![question("clock", false)]);
    check(&one, "!", Some(&[Source::Picked(vec![0])]));
    check(&one, "vv!", Some(&[Source::Picked(vec![2])]));
    check(&one, "2", None);
    check(&one, "2!", Some(&[Source::Picked(vec![1])]));
    check(&one, "4none!", Some(&[Source::Written("none".into())]));
    check(&one, "4none_", None);
    let several = asked(vec![question("clock", true)]);
    check(&several, "31!", Some(&[Source::Picked(vec![0, 2])]));
    check(&several, "311!", Some(&[Source::Picked(vec![2])]));
}

#[test]
fn r16_nothing_is_picked_or_sent_without_a_key() {
    let two = asked(vec![question("a", false), question("b", false)]);
    check(&two, ">>!", None);
    check(&two, "2>>", None);
    check(&two, "23", None);
    check(&two, "23!", Some(&[Source::Picked(vec![1]), Source::Picked(vec![2])]));
    check(&two, "2>!", Some(&[Source::Picked(vec![1]), Source::Skipped]));
    check(&two, "x", Some(&[]));
}

#[test]
fn r16_a_prompt_that_does_not_listen_passes_every_key_on() {
    let one = asked(vec![question("clock", false)]);
    for listening in [Listening::Unseen, Listening::Unsent, Listening::Until(Duration::MAX)] {
        for code in [KeyCode::Enter, KeyCode::Char('1'), KeyCode::Char('x'), KeyCode::Esc] {
            let key = KeyEvent::new(code, KeyModifiers::NONE);
            let reply = QuestionCard::new("1".into(), &one).key(&key, &Keymap::default(), &one, listening);
            assert_eq!(reply, Reply::Passed);
        }
    }
}

#[test]
fn esc_parks_the_prompt_with_its_draft() {
    let one = asked(vec![question("clock", false)]);
    let mut card = QuestionCard::new("1".into(), &one);
    draw(&mut card, &one, (60, 15));
    press(&mut card, &one, "2nbecause!");
    assert_eq!(press(&mut card, &one, "_"), Reply::Parked);
    assert_eq!(card.chip(&Keymap::default()), "1 question waiting · ctrl-q · alt-x decline");
    assert_eq!(press(&mut card, &one, "!"), Reply::Passed);
    card.bring_back();
    assert_eq!(card.seen(), None);
    let Reply::Answered(answer) = press(&mut card, &one, "!") else { panic!("not sent") };
    assert_eq!(
        (&answer.given[0].source, &answer.given[0].notes[0]),
        (&Source::Picked(vec![1]), &Note { option: 1, text: "because".into() })
    );
}

#[test]
fn r09_model_text_stays_inside_the_prompt() {
    let mut hostile = question("a\n\x1b[2J", false);
    hostile.text = "x\x1b[2J\u{202e}╰──╯".into();
    let asked = asked(vec![hostile]);
    let shown = draw(&mut QuestionCard::new("1".into(), &asked), &asked, (60, 15));
    assert!(!shown.contains(['\x1b', '\u{202e}']));
    assert!(shown.lines().skip(1).take(13).all(|row| row.starts_with('│') && row.ends_with('│')), "{shown}");
}

#[test]
fn the_focused_row_is_always_visible() {
    let mut many = question("clock", false);
    many.options = (0..25).map(|n| Choice::new(&format!("option {n}"))).collect();
    let asked = asked(vec![many]);
    let mut card = QuestionCard::new("1".into(), &asked);
    for n in 0..25 {
        let shown = draw(&mut card, &asked, (60, 6));
        assert!(shown.contains("❯") && shown.contains(&format!("option {n} ")), "{shown}");
        press(&mut card, &asked, "v");
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
        let asked = asked(vec![strange, empty]);
        let mut card = QuestionCard::new("1".into(), &asked);
        for letter in letters.chars() {
            draw(&mut card, &asked, (width, height));
            press(&mut card, &asked, &letter.to_string());
        }
        draw(&mut card, &asked, (width, height));
    }
}
