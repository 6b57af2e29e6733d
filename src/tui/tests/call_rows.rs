//! Rows of calls: what they start with, what follows below them, and what only their details show.

use super::*;

/// A screen of this size on which a command runs after its approval.
fn screen_with_command(size: (u16, u16), command: &str) -> Screen {
    let mut screen = Screen::with_turn();
    screen.resize_screen(size.0, size.1);
    screen.receive_call("a", "bash_exec", command_intent(command));
    screen.advance_ms(2000);
    screen.press_key("y");
    screen
}

fn numbered_lines(count: usize) -> String {
    (1..=count).map(|number| format!("line {number} of the output\n")).collect()
}

#[test]
fn the_words_of_a_denial_are_shown_whole() {
    let message = "use the script in tools/release instead, it checks the changelog and signs the tag first";
    for (width, height) in [(120, 36), (80, 24), (60, 15), (24, 24)] {
        let mut screen = Screen::with_turn();
        screen.resize_screen(width, height);
        screen.receive_call("a", "bash_exec", command_intent("git tag v1.0.0 && git push --tags origin"));
        screen.advance_ms(2000);
        screen.press_key("m");
        screen.type_text(message);
        screen.press_key("enter");
        let text = screen.screen_text();
        let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(words.contains(message) && words.contains("denied"), "{width}: {text}");
    }
}

#[test]
fn the_reason_of_a_denial_by_the_policy_is_shown_whole() {
    let reason = "the folder is shared with the other checkout, and its lock file is held by a program that runs";
    let mut screen = screen_with_command((60, 15), "make");
    screen.finish_call("a", Outcome::Refused(format!("Denied: {reason}. It was not run. Do something else.")));
    let text = screen.screen_text();
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains(reason) && !words.contains("Do something else"), "{text}");
}

#[test]
fn the_row_of_a_partial_read_says_which_lines_of_how_many_were_read() {
    let row_with = |result: &str| {
        let mut screen = Screen::with_turn();
        screen.run_call("read_file", read_intent("src/a.rs"), result);
        let text = screen.screen_text();
        text.lines().find(|line| line.contains("src/a.rs")).unwrap_or_default().to_owned()
    };
    let row = row_with("1\ta\n2\tb\n[lines 1-2 of 1234; continue with start_line 3]\n");
    assert!(row.contains("lines 1–2 of 1234"), "{row}");
    let with_note = "2\tb\n[lines 2-2 of more than 900]\n[some bytes are not UTF-8 and are shown as \u{fffd}]\n";
    assert!(row_with(with_note).contains("lines 2–2 of more than 900"), "{}", row_with(with_note));
    // A line of the file cannot imitate the note.
    let row = row_with("1\ta\n2\t[lines 1-2 of 9]\n");
    assert!(row.contains("2 lines") && !row.contains(" of 9"), "{row}");
}

#[test]
fn a_failed_command_shows_its_last_five_lines_until_it_is_opened() {
    let mut screen = screen_with_command((80, 30), "make");
    screen.finish_call("a", Outcome::Done(format!("{}exit 2", numbered_lines(9))));
    screen.receive_reply("It failed.");
    let closed = screen.screen_text();
    assert!((5..=9).all(|line| closed.contains(&format!("\n     line {line} of"))), "{closed}");
    assert!(!closed.contains("line 4 of") && closed.matches("exit 2").count() == 1, "{closed}");
    screen.press_key("alt-up");
    screen.press_key("enter");
    let opened = screen.screen_text();
    assert!((1..=9).all(|line| opened.matches(&format!("line {line} of")).count() == 1), "{opened}");
}

#[test]
fn a_command_that_succeeds_or_prints_nothing_shows_no_lines() {
    for outcome in [format!("{}exit 0", numbered_lines(3)), "exit 2".to_owned(), "\n\nexit 2".to_owned()] {
        let mut screen = screen_with_command((80, 24), "make");
        screen.finish_call("a", Outcome::Done(outcome.clone()));
        screen.receive_reply("Done.");
        let text = screen.screen_text();
        assert!(text.contains(" Run make ") && !text.contains("line 3"), "{outcome:?}: {text}");
        let row = text.lines().position(|line| line.contains(" Run make ")).unwrap();
        assert_eq!(text.lines().nth(row + 2), Some(" Done."), "{outcome:?}: {text}");
    }
}

#[test]
fn a_running_command_shows_its_last_three_lines_the_time_and_the_key_that_stops_it() {
    let mut screen = screen_with_command((60, 15), "make all");
    let turn = screen.state.agent.current_turn().unwrap();
    screen.handle_event(Event::Agent(agent::Event::CallProgressed {
        turn,
        call: "a".into(),
        output: numbered_lines(9),
        new_output: String::new(),
    }));
    screen.advance_ms(12_000);
    let text = screen.screen_text();
    assert!(text.contains(" Run make all ") && text.contains("12 s · esc stops\n"), "{text}");
    assert!((7..=9).all(|line| text.contains(&format!("\n     line {line} of"))), "{text}");
    assert!(!text.contains("line 6 of"), "{text}");
    screen.press_key("esc");
    assert!(screen.state.agent.is_idle(), "{}", screen.screen_text());
}

#[test]
fn the_time_of_a_call_keeps_a_column_from_the_scrollbar() {
    for (width, height) in [(120, 36), (80, 24), (60, 15)] {
        let mut screen = screen_with_command((width, height), "make");
        screen.finish_call("a", Outcome::Done("exit 0".into()));
        screen.receive_reply("Done.");
        let text = screen.screen_text();
        let row = text.lines().find(|line| line.contains(" Run make ")).unwrap_or_default();
        assert!(row.ends_with("12 ms"), "{text}");
        // The last column is that of the scrollbar, the one before stays blank.
        assert_eq!(crate::text::width::text_width(row), usize::from(width) - 2, "{text}");
    }
}

#[test]
fn the_name_of_the_tool_is_only_in_the_details() {
    let mut screen = screen_with_command((80, 24), "make");
    screen.finish_call("a", Outcome::Done("exit 0".into()));
    screen.receive_reply("Done.");
    let closed = screen.screen_text();
    assert!(closed.contains("✓ Run make ") && !closed.contains("bash_exec"), "{closed}");
    screen.press_key("alt-up");
    screen.press_key("enter");
    let opened = screen.screen_text();
    assert!(opened.contains("✓ Run make ") && opened.contains("\n     tool bash_exec\n"), "{opened}");
}

#[test]
fn a_row_without_room_for_the_size_of_its_result_shows_the_time() {
    let mut screen = screen_with_command((80, 24), &format!("make {}", "all ".repeat(30)));
    screen.finish_call("a", Outcome::Done(format!("{}exit 0", numbered_lines(120))));
    screen.receive_reply("Done.");
    screen.resize_screen(34, 15);
    let text = screen.screen_text();
    let row = text.lines().find(|line| line.contains(" Run make ")).unwrap_or_default();
    assert!(row.ends_with("… 12 ms"), "{text}");
}

#[test]
fn the_row_of_an_edit_has_its_path_and_line_counts() {
    for (width, height) in [(120, 36), (80, 24), (60, 15)] {
        let mut screen = Screen::with_turn();
        screen.resize_screen(width, height);
        screen.run_call("edit_file", prompt_position::edit_intent(), "Changed src/a.rs.");
        let text = screen.screen_text();
        assert!(text.contains("✓ Edit src/a.rs +1 −1 ") && !text.contains("edit_file"), "{text}");
    }
}

/// A call that no key approved says so; reads do not, since they never ask.
#[test]
fn the_row_of_a_call_that_ran_without_a_prompt_says_what_allowed_it() {
    let row = |mode: Mode, name: &str, intent: Intent| {
        let mut screen = Screen::with_turn();
        screen.resize_screen(60, 15);
        screen.state.agent.policy.mode = mode;
        screen.receive_call("a", name, intent);
        screen.advance_ms(2000);
        if mode == Mode::Ask {
            screen.press_key("y");
        }
        screen.finish_call("a", Outcome::Done("Changed src/a.rs.".into()));
        screen.receive_reply("Done.");
        let text = screen.screen_text();
        text.lines().find(|line| line.contains("✓ ")).unwrap_or_default().to_owned()
    };
    for (mode, word) in [(Mode::Full, " full · 12 ms"), (Mode::Auto, " auto · 12 ms")] {
        let changed = row(mode, "edit_file", prompt_position::edit_intent());
        assert!(changed.ends_with(word), "{changed}");
        let read = row(mode, "read_file", read_intent("src/a.rs"));
        assert!(read.ends_with("12 ms") && !read.contains(word), "{read}");
    }
    let approved = row(Mode::Ask, "edit_file", prompt_position::edit_intent());
    assert!(approved.ends_with("  12 ms"), "{approved}");
}

/// What `cargo test` returned is not known: the status is that of `tail`.
#[test]
fn the_row_of_a_pipeline_names_the_program_that_its_success_is_of() {
    for (command, is_piped) in [("cargo test 2>&1 | tail -n 3", true), ("cargo test", false)] {
        let mut screen = screen_with_command((80, 24), command);
        screen.state.theme = Themes::bundled().choose_theme("dark", None);
        screen.finish_call("a", Outcome::Done("three\nlines\nexit 0".into()));
        screen.receive_reply("Done.");
        let text = screen.screen_text();
        assert_eq!(text.contains("exit 0 (of tail)"), is_piped, "{text}");
        let buffer = screen.draw_frame();
        let mark = buffer.content.iter().find(|cell| cell.symbol() == "✓").expect("the row has a mark");
        assert_eq!(mark.fg != screen.state.theme.success.fg.unwrap(), is_piped, "{command}");
    }
    let mut failed = screen_with_command((80, 24), "cargo test | tail");
    failed.finish_call("a", Outcome::Done("no\nexit 2".into()));
    let text = failed.screen_text();
    assert!(text.contains("exit 2") && !text.contains("exit 0"), "{text}");
}
