//! Where a prompt is drawn: right below a short conversation, otherwise at the bottom of the screen.

use super::*;

/// Returns the rows of the screen, and the indices of the first and last row of the prompt.
fn prompt_rows(screen: &mut Screen) -> (Vec<String>, usize, usize) {
    let text = screen.screen_text();
    let rows: Vec<String> = text.lines().map(str::to_owned).collect();
    let top = rows.iter().position(|row| row.starts_with(['╭', '┏'])).unwrap_or_else(|| panic!("{text}"));
    let bottom = rows.iter().rposition(|row| row.starts_with(['╰', '┗'])).unwrap_or_else(|| panic!("{text}"));
    (rows, top, bottom)
}

const SIZES: [(u16, u16); 4] = [(120, 36), (80, 24), (60, 15), (40, 12)];

#[test]
fn a_prompt_follows_a_short_conversation_after_one_blank_row() {
    for (width, height) in SIZES {
        for intent in [command_intent("make"), question_intent()] {
            let mut screen = Screen::with_turn();
            screen.resize_screen(width, height);
            screen.receive_call("a", "tool", intent);
            screen.advance_ms(2000);
            let (rows, top, _) = prompt_rows(&mut screen);
            let last_text = rows[..top].iter().rposition(|row| !row.trim().is_empty()).unwrap();
            let is_tight = top <= last_text + 2;
            assert!(is_tight, "{width}x{height}: {}", rows.join("\n"));
        }
    }
}

#[test]
fn a_prompt_after_a_long_conversation_ends_above_the_footer() {
    for (width, height) in SIZES {
        let mut screen =
            Screen::with_entries([user_message("go"), reply_entry(&"a line of the reply\n\n".repeat(60)), turn_end()]);
        screen.resize_screen(width, height);
        screen.send_text("go on");
        screen.receive_call("a", "bash_exec", command_intent("make"));
        screen.advance_ms(2000);
        let (rows, _, bottom) = prompt_rows(&mut screen);
        assert_eq!(bottom, usize::from(height) - 2, "{width}x{height}: {}", rows.join("\n"));
    }
}

#[test]
fn a_prompt_keeps_its_place_while_a_draft_is_typed_and_toasts_come_and_go() {
    let mut screen = Screen::with_turn();
    screen.receive_call("a", "bash_exec", command_intent("make"));
    screen.advance_ms(2000);
    let (_, top, bottom) = prompt_rows(&mut screen);
    screen.press_key("q");
    let (rows, typed_top, typed_bottom) = prompt_rows(&mut screen);
    assert_eq!((typed_top, typed_bottom), (top, bottom), "{}", rows.join("\n"));
    screen.state.show_notice("a notice", crate::tui::parts::toast::Kind::Info);
    let (rows, toast_top, toast_bottom) = prompt_rows(&mut screen);
    assert_eq!((toast_top, toast_bottom), (top, bottom), "{}", rows.join("\n"));
    assert!(rows[bottom..].iter().any(|row| row.contains("a notice")), "{}", rows.join("\n"));
    screen.advance_ms(60_000);
    assert_eq!((prompt_rows(&mut screen).1, prompt_rows(&mut screen).2), (top, bottom));
}

#[test]
fn the_commands_of_a_draft_are_listed_in_the_blank_rows() {
    let mut screen = Screen::with_turn();
    screen.receive_call("a", "bash_exec", command_intent("make"));
    screen.advance_ms(2000);
    screen.type_text("/");
    let text = screen.screen_text();
    assert!(text.contains("Run a command?") && text.contains("$ make") && text.matches("  /").count() > 3, "{text}");
}

/// A plan that changes line 50 of a file of 100 lines.
pub fn edit_intent() -> Intent {
    let before: String = (1..=100).map(|line| format!("let line_{line} = {line};\n")).collect();
    let after = before.replace("line_50 = 50", "line_50 = 51");
    let edit = Edit { path: "src/a.rs".into(), before: Some(before), after };
    let Intent::Act(plan) = command_intent("x") else { panic!("a command is an act") };
    let (diff, work) = (edit.diff(), Work::Edit(edit));
    Intent::Act(Box::new(Plan {
        title: "Change a file?".into(),
        summary: "src/a.rs".into(),
        access: Access::Write("src/a.rs".into()),
        preview: Preview::Edit(diff),
        work,
        ..*plan
    }))
}

#[test]
fn a_diff_that_does_not_fit_shows_its_changes_first_with_one_line_around_them() {
    let mut screen = Screen::with_entries([user_message("go"), reply_entry(&"a line\n\n".repeat(60)), turn_end()]);
    screen.resize_screen(60, 12);
    screen.send_text("edit");
    screen.receive_call("a", "edit_file", edit_intent());
    screen.advance_ms(2000);
    let (rows, top, _) = prompt_rows(&mut screen);
    let shown = rows[top + 1..top + 6].iter().map(|row| row.trim_matches(['│', ' '])).collect::<Vec<_>>();
    let expected = [
        "src/a.rs · +1 −1",
        "49   let line_49 = 49;",
        "50 − let line_50 = 50;",
        "50 + let line_50 = 51;",
        "51   let line_51 = 51;",
    ];
    assert_eq!(shown, expected, "{}", rows.join("\n"));
    // With enough rows, the diff is shown with all of its lines.
    screen.resize_screen(60, 24);
    screen.advance_ms(600);
    let text = screen.screen_text();
    assert!(text.contains("47   let line_47") && text.contains("53   let line_53"), "{text}");
}

#[test]
fn a_diff_that_does_not_fit_leaves_no_row_empty() {
    for (width, height) in (9..24).flat_map(|height| [(60, height), (100, height)]) {
        let mut screen = Screen::with_entries([user_message("go"), reply_entry(&"a line\n\n".repeat(60)), turn_end()]);
        screen.resize_screen(width, height);
        screen.send_text("edit");
        screen.receive_call("a", "edit_file", edit_intent());
        screen.advance_ms(2000);
        let (rows, _, bottom) = prompt_rows(&mut screen);
        let last_row = rows[bottom - 1].trim_matches(['│', ' ']);
        assert!(!last_row.is_empty(), "{width}x{height}: {}", rows.join("\n"));
    }
}
