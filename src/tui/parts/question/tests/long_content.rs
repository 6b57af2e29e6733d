//! Tests of prompts with more content than the screen.

use super::*;

const SIZES: [(u16, u16); 4] = [(120, 26), (60, 11), (40, 8), (20, 4)];

/// Ten questions with twenty-five options of two hundred wide characters.
fn huge_questions() -> Questions {
    let choice = |n: usize| QuestionOption {
        description: format!("{n} {}", "説明".repeat(400)),
        ..QuestionOption::new(&format!("{n} {}", "漢字".repeat(99)))
    };
    let one = |n: usize| Question {
        text: format!("{n}? {} end {n}", "質問 ".repeat(300)),
        options: (0..25).map(choice).collect(),
        ..question(&n.to_string(), n.is_multiple_of(2))
    };
    questions((0..10).map(one).collect())
}

fn assert_framed(shown: &str) {
    let rows: Vec<&str> = shown.lines().collect();
    for row in &rows[1..rows.len() - 1] {
        assert!(row.starts_with('│') && (row.ends_with('│') || row.ends_with('┃')), "{shown}");
    }
}

#[test]
fn the_focused_row_of_a_huge_prompt_is_always_visible() {
    let asked = huge_questions();
    for &size in crate::tui::tests::select_cases(&SIZES, 2, 1) {
        let mut card = QuestionPrompt::new("1".into(), &asked);
        for (page, rows) in [25, 3].into_iter().enumerate() {
            for row in 0..rows {
                let shown = draw(&mut card, &asked, size);
                assert_framed(&shown);
                assert!(shown.contains('❯') && shown.contains(&format!(" {row}")), "{size:?} {page} {row}: {shown}");
                press(&mut card, &asked, "v");
            }
            press(&mut card, &asked, ">");
        }
    }
}

#[test]
fn a_long_question_and_a_long_option_scroll_to_their_ends() {
    let mut asked = huge_questions();
    asked.list.truncate(1);
    asked.list[0].options.truncate(3);
    asked.list[0].text = format!("{} end 0", "質問 ".repeat(80));
    asked.list[0].options[0].description = format!("{} fin", "説明".repeat(60));
    for size in [(80, 17), (40, 8), (20, 4)] {
        let mut card = QuestionPrompt::new("1".into(), &asked);
        let (mut question, mut row) = (false, false);
        let mut before = None;
        while before != Some(card.scroll) {
            before = Some(card.scroll);
            let shown = draw(&mut card, &asked, size);
            question |= shown.contains("end 0");
            row |= shown.contains("fin");
            press(&mut card, &asked, "]");
            draw(&mut card, &asked, size);
        }
        assert!(question && row, "{size:?}: {question} {row}");
        let end = card.scroll;
        press(&mut card, &asked, "[");
        draw(&mut card, &asked, size);
        assert_eq!(card.scroll, end - 1, "the scroll offset stops at the end");
    }
}

fn questions_with_previews() -> Questions {
    let mut one = question("clock", false);
    one.options[0].preview = "```rust\ntokio::time::pause();\n```\n\nNo *real* time passes.".into();
    one.options[1].preview = (0..40).map(|n| format!("- line {n}\n")).collect();
    questions(vec![one])
}

#[test]
fn a_preview_is_next_to_the_picker_or_below_it() {
    let asked = questions_with_previews();
    let mut card = QuestionPrompt::new("1".into(), &asked);
    insta::assert_snapshot!(draw(&mut card, &asked, (100, 12)), @r#"
╭─ Question · clock ───────────────────────────────────────────────────────────────────────────────╮
│ Which clock should the test use?                                                                 │
│ ❯ 1   tokio::time::pause  recommended       │  tokio::time::pause();                             │
│       virtual time; the test takes no time  │                                                    │
│       at all                                │ No real time passes.                               │
│   2   a Clock trait                         │                                                    │
│       more code, but the library gets       │                                                    │
│       testable                              │                                                    │
│   3   the real clock                        │                                                    │
│       widen the window to 200 ms            │                                                    │
│   4   Write an answer…                      │                                                    │
╰─ ↑↓ move · 1-4 pick · n note · enter send · esc later · x decline ───────────────────────────────╯
"#);
    insta::assert_snapshot!(draw(&mut card, &asked, (56, 18)), @r#"
╭─ Question · clock ───────────────────────────────────╮
│ Which clock should the test use?                     │
│                                                      │
│ ❯ 1   tokio::time::pause  recommended                │
│       virtual time; the test takes no time at all    │
│   2   a Clock trait                                  │
│       more code, but the library gets testable       │
│   3   the real clock                                 │
│       widen the window to 200 ms                     │
│   4   Write an answer…                               │
│ ── preview ───────────────────────────────────────── │
│  tokio::time::pause();                               │
│                                                      │
│ No real time passes.                                 │
│                                                      │
│                                                      │
│                                                      │
╰─ 1-4 pick · enter send · esc later · x decline ──────╯
"#);
    press(&mut card, &asked, "v]]]]]");
    insta::assert_snapshot!(draw(&mut card, &asked, (100, 12)), @r#"
╭─ Question · clock ───────────────────────────────────────────────────────────────────────────────╮
│ Which clock should the test use?                                                                 │
│   1   tokio::time::pause  recommended       │ • line 5                                           │
│       virtual time; the test takes no time  │ • line 6                                           │
│       at all                                │ • line 7                                           ┃
│ ❯ 2   a Clock trait                         │ • line 8                                           ┃
│       more code, but the library gets       │ • line 9                                           │
│       testable                              │ • line 10                                          │
│   3   the real clock                        │ • line 11                                          │
│       widen the window to 200 ms            │ • line 12                                          │
│   4   Write an answer…                      │ • line 13                                          │
╰─ ↑↓ move · 1-4 pick · n note · shift-down scroll · enter send · esc later · x decline ───────────╯
"#);
    press(&mut card, &asked, "v");
    assert!(draw(&mut card, &asked, (100, 12)).contains("no preview"));
}

#[test]
fn a_long_preview_scrolls_to_its_end_in_both_places() {
    let asked = questions_with_previews();
    for size in [(120, 20), (80, 14), (60, 14), (40, 12)] {
        let mut card = QuestionPrompt::new("1".into(), &asked);
        press(&mut card, &asked, "v");
        let mut seen = false;
        for _ in 0..45 {
            seen |= draw(&mut card, &asked, size).contains("line 39");
            press(&mut card, &asked, "]");
        }
        assert!(seen, "{size:?}");
    }
}

#[test]
fn r09_a_hostile_option_stays_inside_the_prompt() {
    let hostile = "\x1b[2J\x1b]0;x\x07\u{202e}\u{2066}\u{200b}╰──╯\r\n\t❯ 9 yes\u{9b}31m".repeat(70);
    let mut one = question("a", true);
    one.text.clone_from(&hostile);
    for option in &mut one.options {
        *option = QuestionOption { label: hostile.clone(), description: hostile.clone(), preview: hostile.clone() };
    }
    let asked = Questions { list: vec![one], dropped: Dropped { questions: 1, options: 2, shortened: 3 } };
    for size in SIZES {
        let mut card = QuestionPrompt::new("1".into(), &asked);
        for keys in ["", "]]]", "v", "nnote\x1b[2J!", "]", "vv!"] {
            press(&mut card, &asked, keys);
            let shown = draw(&mut card, &asked, size);
            assert_framed(&shown);
            assert!(!shown.contains(['\x1b', '\u{202e}', '\u{2066}', '\u{9b}', '\x07', '\t']), "{shown}");
        }
    }
}

#[test]
fn the_prompt_shows_what_limits_truncated() {
    let mut asked = questions_with_previews();
    asked.dropped = Dropped { questions: 2, options: 0, shortened: 1 };
    let mut card = QuestionPrompt::new("1".into(), &asked);
    let shown = draw(&mut card, &asked, (80, 14));
    assert!(shown.contains("truncated: 2 questions omitted, 1 text truncated"), "{shown}");
}

#[test]
fn the_review_page_shows_every_answer_and_opens_questions() {
    let two = questions(vec![question("a", false), question("b", false), question("c", true)]);
    let mut card = QuestionPrompt::new("1".into(), &two);
    press(&mut card, &two, "2nso!>>");
    let shown = draw(&mut card, &two, (80, 12));
    assert_eq!(card.page(), 3);
    assert!(shown.contains("1 of 3 answered") && shown.contains("a Clock trait"), "{shown}");
    assert!(shown.contains("no answer: sent as skipped"), "{shown}");
    press(&mut card, &two, "3");
    assert_eq!(card.page(), 2);
}

#[test]
fn enter_ticks_a_multiple_choice_option_before_it_sends() {
    let several = questions(vec![question("a", true)]);
    let mut card = QuestionPrompt::new("1".into(), &several);
    assert_eq!(press(&mut card, &several, "v!"), KeyResult::Selected);
    assert!(draw(&mut card, &several, (80, 12)).contains("[x] a Clock trait"));
    let KeyResult::Answered(answer) = press(&mut card, &several, "!") else { panic!("not sent") };
    assert_eq!(answer.answers[0].value, AnswerValue::Selected(vec![1]));
}

#[test]
fn every_option_and_preview_is_readable_at_60_by_15() {
    let mut one = question("clock", false);
    one.options.push(QuestionOption {
        description: "count the attempts, and look at no clock at all".into(),
        ..QuestionOption::new("none")
    });
    one.options[2].description = "widen the window to 200 ms and hope that the machine is not too busy then".into();
    for option in &mut one.options {
        option.preview = format!("This is how it looks with {}.", option.label);
    }
    let asked = questions(vec![one.clone()]);
    let mut card = QuestionPrompt::new("1".into(), &asked);
    // Rows available to the prompt on a screen of 15 rows.
    let size = (60, 12);
    let shown = draw(&mut card, &asked, size);
    insta::assert_snapshot!(shown, @r#"
╭─ Question · clock ───────────────────────────────────────╮
│ Which clock should the test use?                         │
│ ❯ 1   tokio::time::pause  recommended                    │
│       virtual time; the test takes no time at all        │
│   2   a Clock trait                                      │
│       more code, but the library gets testable           │
│   3   the real clock                                     │
│       widen the window to 200 ms and hope that the …     │
│   4   none                                               │
│       count the attempts, and look at no clock at all    │
│   5   Write an answer…                                   │
╰─ 1-5 pick · shift-down preview · enter send · esc later ─╯
"#);
    for (at, option) in one.options.iter().enumerate() {
        let shown = draw(&mut card, &asked, size);
        let words: String = shown.lines().map(|row| row.trim_matches(['│', '┃', ' '])).collect::<Vec<_>>().join(" ");
        let words = words.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(words.contains(&option.label) && words.contains(&option.description), "{at}: {shown}");
        press(&mut card, &asked, "]");
        let shown = draw(&mut card, &asked, size);
        assert!(shown.contains(&format!("how it looks with {}", option.label)), "{shown}");
        press(&mut card, &asked, "[");
        assert!(!draw(&mut card, &asked, size).contains("how it looks"), "back to the picker");
        press(&mut card, &asked, "v");
    }
    press(&mut card, &asked, "]4");
    assert!(matches!(press(&mut card, &asked, "!"), KeyResult::Answered(_)));
}

#[test]
fn recommended_is_shown_once_per_option() {
    let mut one = question("clock", false);
    for (label, means) in [("paused (recommended)", ""), ("paused", "Recommended: takes no time"), ("paused", "")] {
        one.options[0] = QuestionOption { description: means.into(), ..QuestionOption::new(label) };
        let asked = questions(vec![one.clone()]);
        for size in [(60, 15), (110, 20)] {
            let shown = draw(&mut QuestionPrompt::new("1".into(), &asked), &asked, size).to_lowercase();
            assert_eq!(shown.matches("recommended").count(), 1, "{shown}");
        }
    }
}

#[test]
fn a_truncated_question_shows_the_remaining_lines_and_the_key() {
    let mut one = question("licence", false);
    one.text = "Which licence should the new crate carry? ".repeat(6) + "It ends here.";
    let asked = questions(vec![one]);
    let mut card = QuestionPrompt::new("1".into(), &asked);
    let shown = draw(&mut card, &asked, (60, 11));
    assert!(shown.contains("more lines · shift-down"), "{shown}");
    for _ in 0..9 {
        card.handle_key(
            &KeyEvent::new(KeyCode::Down, KeyModifiers::SHIFT),
            &Keymap::default(),
            &asked,
            Listening::Ready,
        );
        draw(&mut card, &asked, (60, 11));
    }
    let shown = draw(&mut card, &asked, (60, 11));
    assert!(shown.contains("It ends here.") && !shown.contains("more lines"), "{shown}");
}

#[test]
fn a_preview_off_screen_is_announced_with_its_key() {
    let mut one = question("layout", false);
    one.options[0].preview = "line\n\n".repeat(20);
    let asked = questions(vec![one]);
    for size in [(60, 10), (60, 12)] {
        let mut card = QuestionPrompt::new("1".into(), &asked);
        let shown = draw(&mut card, &asked, size);
        assert!(shown.contains("shift-down preview"), "{shown}");
        assert_eq!(shown.contains("── preview ↓ shift-down ──"), size.1 == 12, "{shown}");
        card.handle_key(
            &KeyEvent::new(KeyCode::Down, KeyModifiers::SHIFT),
            &Keymap::default(),
            &asked,
            Listening::Ready,
        );
        let shown = draw(&mut card, &asked, size);
        assert!(shown.contains("── preview ──") && shown.contains("│ line "), "{shown}");
    }
}

#[test]
fn recommended_never_reads_as_part_of_a_description() {
    let asked = questions(vec![question("clock", false)]);
    for width in 40..130 {
        let mut card = QuestionPrompt::new("1".into(), &asked);
        let shown = draw(&mut card, &asked, (width, 20));
        let row = shown.lines().find(|row| row.contains("recommended")).unwrap_or_default();
        let label = row.contains("pause  recommended") || row.contains("all  recommended");
        // In a narrow column it is below the label, never below the description.
        let from = |words: &str| {
            let mut at = shown.lines().filter_map(|row| row.find(words).map(|at| row[..at].chars().count()));
            at.next()
        };
        let below = row.trim_matches(['│', ' ']).starts_with("recommended") && from("recommended") == from("tokio");
        assert!(label || below, "{width}: {shown}");
    }
}
