//! Tests of prompts with more content than the screen.

use super::*;

const SIZES: [(u16, u16); 4] = [(120, 26), (60, 11), (40, 8), (20, 4)];

/// Ten questions with twenty-five options of two hundred wide characters.
fn huge_questions() -> Questions {
    let choice = |n: usize| QuestionOption {
        description: format!("{n} {}", "説明".repeat(400)),
        ..QuestionOption::new(&format!("{n} {}", "漢字".repeat(99)))
    };
    let numbered_question = |n: usize| Question {
        text: format!("{n}? {} end {n}", "質問 ".repeat(300)),
        options: (0..25).map(choice).collect(),
        ..question(&n.to_string(), n.is_multiple_of(2))
    };
    questions((0..10).map(numbered_question).collect())
}

fn assert_framed(screen: &str) {
    let rows: Vec<&str> = screen.lines().collect();
    for row in &rows[1..rows.len() - 1] {
        assert!(row.starts_with('│') && (row.ends_with('│') || row.ends_with('┃')), "{screen}");
    }
}

#[test]
fn the_focused_row_of_a_huge_prompt_is_always_visible() {
    let question_set = huge_questions();
    // Every size if `AYE_TEST_THOROUGH` is set, otherwise every second one from the second on.
    for &size in crate::tui::tests::select_cases(&SIZES, 2, 1) {
        let mut prompt = QuestionPrompt::new("1".into(), &question_set);
        // All options of the first question, and the first three of the second.
        for (page, rows) in [25, 3].into_iter().enumerate() {
            for row in 0..rows {
                let screen = draw_prompt(&mut prompt, &question_set, size);
                assert_framed(&screen);
                assert!(screen.contains('❯') && screen.contains(&format!(" {row}")), "{size:?} {page} {row}: {screen}");
                press_keys(&mut prompt, &question_set, "v");
            }
            press_keys(&mut prompt, &question_set, ">");
        }
    }
}

#[test]
fn a_long_question_and_a_long_option_scroll_to_their_ends() {
    let mut question_set = huge_questions();
    question_set.list.truncate(1);
    question_set.list[0].options.truncate(3);
    question_set.list[0].text = format!("{} end 0", "質問 ".repeat(80));
    question_set.list[0].options[0].description = format!("{} fin", "説明".repeat(60));
    for size in [(80, 17), (40, 8), (20, 4)] {
        let mut prompt = QuestionPrompt::new("1".into(), &question_set);
        let (mut is_question_end_shown, mut is_option_end_shown) = (false, false);
        let mut previous_scroll = None;
        while previous_scroll != Some(prompt.scroll) {
            previous_scroll = Some(prompt.scroll);
            let screen = draw_prompt(&mut prompt, &question_set, size);
            is_question_end_shown |= screen.contains("end 0");
            is_option_end_shown |= screen.contains("fin");
            press_keys(&mut prompt, &question_set, "]");
            draw_prompt(&mut prompt, &question_set, size);
        }
        assert!(
            is_question_end_shown && is_option_end_shown,
            "{size:?}: {is_question_end_shown} {is_option_end_shown}"
        );
        let end = prompt.scroll;
        press_keys(&mut prompt, &question_set, "[");
        draw_prompt(&mut prompt, &question_set, size);
        assert_eq!(prompt.scroll, end - 1, "the scroll offset stops at the end");
    }
}

fn questions_with_previews() -> Questions {
    let mut sample = question("clock", false);
    sample.options[0].preview = "```rust\ntokio::time::pause();\n```\n\nNo *real* time passes.".into();
    sample.options[1].preview = (0..40).map(|n| format!("- line {n}\n")).collect();
    questions(vec![sample])
}

#[test]
fn a_preview_is_next_to_the_picker_or_below_it() {
    let question_set = questions_with_previews();
    let mut prompt = QuestionPrompt::new("1".into(), &question_set);
    insta::assert_snapshot!(draw_prompt(&mut prompt, &question_set, (100, 12)), @r#"
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
    insta::assert_snapshot!(draw_prompt(&mut prompt, &question_set, (56, 18)), @r#"
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
    press_keys(&mut prompt, &question_set, "v]]]]]");
    insta::assert_snapshot!(draw_prompt(&mut prompt, &question_set, (100, 12)), @r#"
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
    press_keys(&mut prompt, &question_set, "v");
    let without_preview = draw_prompt(&mut prompt, &question_set, (100, 12));
    assert!(without_preview.contains("│ no preview") && without_preview.contains("a Clock trait"), "{without_preview}");
}

/// Moving between options with a long, a short and no preview, and with long and short descriptions.
#[test]
fn rows_and_preview_stay_in_place_when_the_focus_moves() {
    let mut sample = question("clock", false);
    sample.options[0].description = "virtual time, which needs no waiting at all. ".repeat(8);
    sample.options[0].preview = "line\n\n".repeat(7);
    sample.options[1].preview = "one line".into();
    let question_set = questions(vec![sample]);
    let mut sizes = vec![(100, 24), (80, 20), (60, 26)];
    sizes.extend([(60, 12), (70, 14)]);
    for (width, height) in sizes {
        let mut prompt = QuestionPrompt::new("1".into(), &question_set);
        let mut wanted_heights = Vec::new();
        let mut places = Vec::new();
        for _ in 0..4 {
            wanted_heights.push(prompt.preferred_height(&question_set, width, &Theme::without_colours()));
            let screen = draw_prompt(&mut prompt, &question_set, (width, height));
            // The divider, on which the thumb of a scrollbar may be, and the heading of the preview.
            let row: Vec<char> = screen.lines().nth(3).unwrap_or_default().chars().collect();
            let column = (1..row.len() - 1).find(|cell| matches!(row[*cell], '│' | '┃'));
            let heading = screen.lines().position(|row| row.contains("── preview"));
            places.push((column, heading));
            press_keys(&mut prompt, &question_set, "v");
        }
        wanted_heights.dedup();
        assert_eq!(wanted_heights.len(), 1, "{width}: {wanted_heights:?}");
        places.dedup();
        assert_eq!(places.len(), 1, "{width}×{height}: {places:?}");
    }
}

#[test]
fn a_long_preview_scrolls_to_its_end_in_both_places() {
    let question_set = questions_with_previews();
    for size in [(120, 20), (80, 14), (60, 14), (40, 12)] {
        let mut prompt = QuestionPrompt::new("1".into(), &question_set);
        press_keys(&mut prompt, &question_set, "v");
        let mut is_end_shown = false;
        for _ in 0..45 {
            is_end_shown |= draw_prompt(&mut prompt, &question_set, size).contains("line 39");
            press_keys(&mut prompt, &question_set, "]");
        }
        assert!(is_end_shown, "{size:?}");
    }
}

#[test]
fn r09_a_hostile_option_stays_inside_the_prompt() {
    let hostile = "\x1b[2J\x1b]0;x\x07\u{202e}\u{2066}\u{200b}╰──╯\r\n\t❯ 9 yes\u{9b}31m".repeat(70);
    let mut sample = question("a", true);
    sample.text.clone_from(&hostile);
    for option in &mut sample.options {
        *option = QuestionOption { label: hostile.clone(), description: hostile.clone(), preview: hostile.clone() };
    }
    let question_set = Questions { list: vec![sample], dropped: Dropped { questions: 1, options: 2, shortened: 3 } };
    for size in SIZES {
        let mut prompt = QuestionPrompt::new("1".into(), &question_set);
        for keys in ["", "]]]", "v", "nnote\x1b[2J!", "]", "vv!"] {
            press_keys(&mut prompt, &question_set, keys);
            let screen = draw_prompt(&mut prompt, &question_set, size);
            assert_framed(&screen);
            assert!(!screen.contains(['\x1b', '\u{202e}', '\u{2066}', '\u{9b}', '\x07', '\t']), "{screen}");
        }
    }
}

#[test]
fn the_prompt_shows_how_much_was_truncated() {
    let mut question_set = questions_with_previews();
    question_set.dropped = Dropped { questions: 2, options: 0, shortened: 1 };
    let mut prompt = QuestionPrompt::new("1".into(), &question_set);
    let screen = draw_prompt(&mut prompt, &question_set, (80, 14));
    assert!(screen.contains("truncated: 2 questions omitted, 1 text truncated"), "{screen}");
}

#[test]
fn the_review_page_shows_every_answer_and_opens_questions() {
    let several_questions = questions(vec![question("a", false), question("b", false), question("c", true)]);
    let mut prompt = QuestionPrompt::new("1".into(), &several_questions);
    // Picks the second option of question `a`, writes the note `so` in `b`, and goes past `c` to the review page.
    press_keys(&mut prompt, &several_questions, "2!nso!>>");
    let screen = draw_prompt(&mut prompt, &several_questions, (80, 12));
    assert_eq!(prompt.page, 3);
    assert!(screen.contains("1 of 3 answered") && screen.contains("a Clock trait"), "{screen}");
    assert!(screen.contains("no answer: sent as skipped"), "{screen}");
    press_keys(&mut prompt, &several_questions, "3");
    assert_eq!(prompt.page, 2);
}

#[test]
fn enter_ticks_a_multiple_choice_option_before_it_sends() {
    let multiple_choice = questions(vec![question("a", true)]);
    let mut prompt = QuestionPrompt::new("1".into(), &multiple_choice);
    assert_eq!(press_keys(&mut prompt, &multiple_choice, "v!"), KeyResult::Run(vec![PromptCommand::IgnoreRepeats]));
    assert!(draw_prompt(&mut prompt, &multiple_choice, (80, 12)).contains("[x] a Clock trait"));
    let Some(answer) = press_for_answer(&mut prompt, &multiple_choice, "!") else { panic!("not sent") };
    assert_eq!(answer.answers[0].value, AnswerValue::Selected(vec![1]));
}

#[test]
fn every_option_and_preview_is_readable_at_60_by_15() {
    let mut sample = question("clock", false);
    sample.options.push(QuestionOption {
        description: "count the attempts, and look at no clock at all".into(),
        ..QuestionOption::new("none")
    });
    sample.options[2].description = "widen the window to 200 ms and hope that the machine is not too busy then".into();
    for option in &mut sample.options {
        option.preview = format!("This is how it looks with {}.", option.label);
    }
    let question_set = questions(vec![sample.clone()]);
    let mut prompt = QuestionPrompt::new("1".into(), &question_set);
    // Rows available to the prompt on a screen of 15 rows.
    let size = (60, 12);
    let screen = draw_prompt(&mut prompt, &question_set, size);
    insta::assert_snapshot!(screen, @r#"
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
    for (index, option) in sample.options.iter().enumerate() {
        let screen = draw_prompt(&mut prompt, &question_set, size);
        let joined: String = screen.lines().map(|row| row.trim_matches(['│', '┃', ' '])).collect::<Vec<_>>().join(" ");
        let joined = joined.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(joined.contains(&option.label) && joined.contains(&option.description), "{index}: {screen}");
        press_keys(&mut prompt, &question_set, "]");
        let screen = draw_prompt(&mut prompt, &question_set, size);
        assert!(screen.contains(&format!("how it looks with {}", option.label)), "{screen}");
        press_keys(&mut prompt, &question_set, "[");
        assert!(!draw_prompt(&mut prompt, &question_set, size).contains("how it looks"), "back to the picker");
        press_keys(&mut prompt, &question_set, "v");
    }
    press_keys(&mut prompt, &question_set, "]4");
    assert!(press_for_answer(&mut prompt, &question_set, "!").is_some());
}

#[test]
fn recommended_is_shown_once_per_option() {
    let mut sample = question("clock", false);
    for (label, description) in [("paused (recommended)", ""), ("paused", "Recommended: takes no time"), ("paused", "")]
    {
        sample.options[0] = QuestionOption { description: description.into(), ..QuestionOption::new(label) };
        let question_set = questions(vec![sample.clone()]);
        for size in [(60, 15), (110, 20)] {
            let screen =
                draw_prompt(&mut QuestionPrompt::new("1".into(), &question_set), &question_set, size).to_lowercase();
            assert_eq!(screen.matches("recommended").count(), 1, "{screen}");
        }
    }
}

#[test]
fn a_truncated_question_shows_the_remaining_lines_and_the_key() {
    let mut sample = question("licence", false);
    sample.text = "Which licence should the new crate carry? ".repeat(6) + "It ends here.";
    let question_set = questions(vec![sample]);
    let mut prompt = QuestionPrompt::new("1".into(), &question_set);
    let screen = draw_prompt(&mut prompt, &question_set, (60, 11));
    assert!(screen.contains("more lines · shift-down"), "{screen}");
    for _ in 0..9 {
        press_key(&mut prompt, &question_set, KeyEvent::new(KeyCode::Down, KeyModifiers::SHIFT));
        draw_prompt(&mut prompt, &question_set, (60, 11));
    }
    let screen = draw_prompt(&mut prompt, &question_set, (60, 11));
    assert!(screen.contains("It ends here.") && !screen.contains("more lines"), "{screen}");
}

#[test]
fn a_preview_off_screen_is_announced_with_its_key() {
    let mut sample = question("layout", false);
    sample.options[0].preview = "line\n\n".repeat(20);
    let question_set = questions(vec![sample]);
    for size in [(60, 10), (60, 12)] {
        let mut prompt = QuestionPrompt::new("1".into(), &question_set);
        let screen = draw_prompt(&mut prompt, &question_set, size);
        assert!(screen.contains("shift-down preview"), "{screen}");
        assert_eq!(screen.contains("── preview · shift-down ──"), size.1 == 12, "{screen}");
        press_key(&mut prompt, &question_set, KeyEvent::new(KeyCode::Down, KeyModifiers::SHIFT));
        let screen = draw_prompt(&mut prompt, &question_set, size);
        assert!(screen.contains("── preview ──") && screen.contains("│ line "), "{screen}");
    }
}

#[test]
fn recommended_never_reads_as_part_of_a_description() {
    let question_set = questions(vec![question("clock", false)]);
    for width in 40..130 {
        let mut prompt = QuestionPrompt::new("1".into(), &question_set);
        let screen = draw_prompt(&mut prompt, &question_set, (width, 20));
        let row = screen.lines().find(|row| row.contains("recommended")).unwrap_or_default();
        let is_after_text = row.contains("pause  recommended") || row.contains("all  recommended");
        // In a narrow column it is below the label, never below the description.
        let first_column = |text: &str| {
            let mut columns = screen.lines().filter_map(|row| row.find(text).map(|byte| row[..byte].chars().count()));
            columns.next()
        };
        let is_below_label = row.trim_matches(['│', ' ']).starts_with("recommended")
            && first_column("recommended") == first_column("tokio");
        assert!(is_after_text || is_below_label, "{width}: {screen}");
    }
}
