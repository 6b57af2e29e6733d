//! Prompts of the real program in a terminal of 60 by 15: changes first, counted lines, and whole words in the key line.

use crate::overlay_sandbox_escapes::has_overlay_sandbox;
use crate::support::program::Program;
use crate::support::terminal_session::{calls_answer_after, command_answer, submit_message, text_answer};
use crate::support::user::User;
use serde_json::json;
use std::time::Duration;

fn start(user: &User) -> Program {
    let mut program = user.setup(&[]).size(60, 15).start();
    program.until("Messages go to");
    program
}

/// The rows inside the frame of the prompt, without its borders.
fn prompt_rows(screen: &str) -> Vec<&str> {
    let rows = screen.lines().filter(|line| line.starts_with(['│', '┃']));
    rows.map(|row| row.trim_matches(['│', '┃', ' '])).collect()
}

/// The keys in the border of the prompt; empty if it has none.
fn key_line(screen: &str) -> &str {
    // Between two reads there may be half a frame.
    let line = screen.lines().rev().find(|line| line.starts_with(['╰', '┗'])).unwrap_or_default();
    line.trim_matches(['╰', '╯', '─', '┗', '┛', '━', ' '])
}

#[test]
fn a_diff_begins_with_its_changes_and_counts_the_lines_above_and_below() {
    let text: String = (1..=80).map(|number| format!("line {number}\n")).collect();
    let changed = ["20", "60", "70"]
        .iter()
        .fold(text.clone(), |text, number| text.replace(&format!("line {number}\n"), &format!("row {number}\n")));
    let arguments = json!({ "path": "a.txt", "old_text": text, "new_text": changed });
    let answers = vec![calls_answer_after(Duration::ZERO, &[("edit_file", arguments)]), text_answer("Done.")];
    let user = User::new(answers).with_project_file("a.txt", &text);
    let mut program = start(&user);
    submit_message(&mut program, "go");
    let screen = program.until_prompt("a.txt · +3 −3");
    let first_rows = [
        "a.txt · +3 −3",
        "19   line 19",
        "20 − line 20",
        "20 + row 20",
        "21   line 21",
        "⋯",
        "59   line 59",
        "60 − line 60",
        "60 + row 60",
        "8 lines below",
    ];
    assert_eq!(prompt_rows(&screen), first_rows, "{screen}");
    assert_eq!(key_line(&screen), "end jump to the end, then y approve · n deny");
    program.press_keys("\x1b[B");
    program.until_all(&["2 lines above", "7 lines below"]);
    program.press_keys("\x1b[F");
    let screen = program.until("reason: file change in the project");
    let last_rows = [
        "8 lines above",
        "60 + row 60",
        "61   line 61",
        "⋯",
        "69   line 69",
        "70 − line 70",
        "70 + row 70",
        "71   line 71",
        "",
        "reason: file change in the project",
    ];
    assert_eq!(prompt_rows(&screen), last_rows, "{screen}");
    assert_eq!(key_line(&screen), "y approve · a always… · e edit · n deny · m message");
}

/// Hints that do not fit are shortened or left out whole.
#[test]
fn no_word_of_a_key_line_is_broken() {
    let option = |label: &str| json!({ "label": label, "description": "one of two" });
    let question = |text: &str| json!({ "question": text, "keyword": text, "options": [option("one"), option("two")] });
    let questions = json!({ "questions": [question("Which?"), question("And?")] });
    let answers = vec![
        command_answer("touch made"),
        command_answer("rm a.txt"),
        calls_answer_after(Duration::ZERO, &[("ask_question", questions)]),
        text_answer("Done."),
    ];
    let user = User::new(answers).with_project_file("a.txt", "one\n");
    let mut program = start(&user);
    submit_message(&mut program, "go");
    let has_trials = has_overlay_sandbox();
    let expect_keys = |program: &mut Program, keys: &str| {
        program.until_condition(keys, |program| key_line(&program.screen()) == keys);
    };
    program.until_prompt("touch made");
    expect_keys(
        &mut program,
        match has_trials {
            true => "y approve · t try · a always · n deny · m message",
            false => "y approve · a always… · e edit · n deny · m message",
        },
    );
    program.press_keys("a");
    expect_keys(&mut program, "enter grant · 1–3 ←→ scope · ↑↓ where · esc back");
    program.press_keys("\x1b");
    program.until_gone("Allow without asking");
    program.until_prompt("touch made");
    program.press_keys("d");
    expect_keys(&mut program, "d back to prompt · n deny");
    program.press_keys("d");
    program.until_gone("d back");
    program.until_prompt("touch made");
    if has_trials {
        program.press_keys("t");
        program.until_prompt("Keep what the trial did?");
        expect_keys(&mut program, "k keep · y run live · n deny · m message · o diff");
        program.press_keys("k");
    } else {
        program.press_keys("y");
    }
    program.until_prompt("rm a.txt");
    expect_keys(
        &mut program,
        match has_trials {
            true => "Y approve · t try · e edit · n deny · m message",
            false => "Y approve · e edit · n deny · m message · d details",
        },
    );
    program.press_keys("n");
    program.until_prompt("Which?");
    expect_keys(&mut program, "1-3 pick · tab next · enter confirm · esc later");
}
