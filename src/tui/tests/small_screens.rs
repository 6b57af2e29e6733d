//! Screens with hardly any room: the selected row, the whole of each key and what a second press does are visible.

use super::*;
use crate::tui::keys::Scope;
use crate::tui::parts::secret_field::SecretField;
use crate::tui::popup::Popup;
use ratatui::style::Modifier;

/// A turn with three calls, whose model then asks for a command of this many lines.
fn screen_with_prompt((width, height): (u16, u16), lines: usize) -> Screen {
    let mut screen = Screen::with_turn();
    screen.resize_screen(width, height);
    for id in ["r1", "r2", "r3"] {
        screen.receive_call(id, "bash_exec", command_intent(&format!("echo {id}")));
        screen.advance_ms(2000);
        screen.press_key("y");
        screen.finish_call(id, Outcome::Done(format!("{id}\nexit 0")));
    }
    let command: Vec<String> = (0..lines).map(|line| format!("make part-{line}")).collect();
    screen.receive_call("p", "bash_exec", command_intent(&command.join("\n")));
    screen.advance_ms(2000);
    screen
}

/// Returns the text of the rows that are drawn as selected.
fn selected_rows(screen: &mut Screen) -> Vec<String> {
    let buffer = screen.draw_frame();
    let is_selected = |row: &Rect| buffer[(row.x + 5, row.y)].modifier.contains(Modifier::REVERSED);
    let row_text = |row: Rect| row.columns().map(|cell| buffer[cell.as_position()].symbol()).collect::<String>();
    buffer.area.rows().filter(is_selected).map(row_text).collect()
}

#[test]
fn the_selected_row_is_visible_whatever_the_prompt_needs() {
    for size in [(80, 24), (60, 15), (60, 12), (40, 9), (40, 7)] {
        for lines in 1..22 {
            let mut screen = screen_with_prompt(size, lines);
            for (chord, name) in [
                ("alt-up", "r3"),
                ("alt-up", "r2"),
                ("alt-up", "r1"),
                ("alt-up", "r1"),
                ("alt-down", "r2"),
                ("alt-down", "r3"),
            ] {
                screen.press_key(chord);
                let rows = selected_rows(&mut screen);
                let is_shown = rows.len() == 1 && rows[0].contains(&format!("Run echo {name}"));
                assert!(is_shown, "{size:?}, {lines} lines, {chord}: {rows:?}\n{}", screen.screen_text());
            }
        }
    }
}

/// A turn with a command that printed 30 lines, followed by a prompt or by the end of the turn.
fn screen_with_long_output((width, height): (u16, u16), has_prompt: bool) -> Screen {
    let mut screen = Screen::with_turn();
    screen.resize_screen(width, height);
    screen.receive_call("r1", "bash_exec", command_intent("echo r1"));
    screen.advance_ms(2000);
    screen.press_key("y");
    let output: String = (1..=30).map(|number| format!("line {number}\n")).collect();
    screen.finish_call("r1", Outcome::Done(format!("{output}exit 2")));
    match has_prompt {
        true => screen.receive_call("p", "bash_exec", command_intent("make")),
        false => screen.receive_reply("Done."),
    }
    screen.advance_ms(2000);
    screen
}

#[test]
fn the_selected_row_stays_visible_when_it_is_opened_and_closed() {
    for (size, has_prompt) in
        [(120, 36), (80, 24), (60, 15), (40, 9)].into_iter().flat_map(|size| [(size, false), (size, true)])
    {
        let mut screen = screen_with_long_output(size, has_prompt);
        screen.press_key("alt-up");
        for is_open in [true, false, true] {
            screen.press_key("enter");
            let rows = selected_rows(&mut screen);
            let text = screen.screen_text();
            assert!(rows.len() == 1 && rows[0].contains("Run echo r1"), "{size:?}, open {is_open}: {text}");
            assert_eq!(text.contains("tool bash_exec"), is_open, "{size:?}: {text}");
            // Closed, it is drawn where it was.
            let is_low = size.1 < 15 || size.1 < 24 && has_prompt;
            assert!(is_open || is_low || !text.contains("more below"), "{size:?}: {text}");
        }
    }
}

#[test]
fn a_clicked_row_stays_visible_when_it_is_opened_and_closed() {
    use crossterm::event::{MouseButton, MouseEvent, MouseEventKind};
    for size in [(80, 24), (60, 15)] {
        let mut screen = screen_with_long_output(size, false);
        let closed_text = screen.screen_text();
        for is_open in [true, false, true] {
            let row = screen.screen_text().lines().position(|line| line.contains("Run echo r1")).unwrap() as u16;
            let kind = MouseEventKind::Down(MouseButton::Left);
            screen.handle_event(Event::Mouse(MouseEvent { kind, column: 6, row, modifiers: KeyModifiers::NONE }));
            let text = screen.screen_text();
            assert!(text.contains("Run echo r1") && text.contains("tool bash_exec") == is_open, "{size:?}: {text}");
            // Closed, it is drawn where it was, and the view follows the end again.
            assert_eq!(screen.state.viewport.transcript.is_following(), !is_open, "{size:?}: {text}");
            assert!(is_open || text == closed_text, "{size:?}: {text}");
        }
    }
}

#[test]
fn the_welcome_screen_drops_keys_one_by_one() {
    for height in 6..=24 {
        let mut screen = Screen::new();
        screen.state.agent.trial_support = agent::TrialSupport::Available;
        screen.resize_screen(60, height);
        let text = screen.screen_text();
        let keys = ["f1 ", "ctrl-p ", "enter ", "alt-s ", "alt-c "];
        let is_shown = |key: &&str| text.lines().any(|line| line.trim_start().starts_with(key));
        let shown: Vec<&str> = keys.into_iter().filter(|key| is_shown(key)).collect();
        assert_eq!(shown, keys[..shown.len()], "{height}: {text}");
        if height == 15 {
            assert_eq!(shown, ["f1 ", "ctrl-p ", "enter ", "alt-s "], "{text}");
            assert!(text.contains("Recommended here: /mode auto"), "{text}");
        }
    }
}

#[test]
fn the_palette_shows_every_command_if_there_are_rows_for_them() {
    let mut screen = Screen::new();
    screen.resize_screen(120, 38);
    screen.press_key("ctrl-p");
    let text = screen.screen_text();
    for command in screen.state.commands {
        assert!(text.contains(&format!(" {} ", command.names[0])), "{}: {text}", command.names[0]);
    }
    assert!(!text.contains(" more "), "{text}");
}

#[test]
fn the_palette_lists_commands_first_that_start_with_what_is_typed() {
    for (typed, names) in [("mod", &["model", "mode", "tools"][..]), ("mode", &["mode"]), ("man", &["help"])] {
        let mut screen = Screen::new();
        screen.press_key("ctrl-p");
        screen.type_text(typed);
        let text = screen.screen_text();
        let mut words = text.lines().filter_map(|line| line.trim_matches(['│', '❯', ' ']).split_whitespace().next());
        assert!(words.any(|word| word == typed), "the filter is above the rows: {text}");
        assert_eq!(words.take(names.len()).collect::<Vec<_>>(), names, "{typed}: {text}");
    }
}

#[test]
fn what_a_second_press_does_is_shown_by_a_prompt_that_fills_the_screen() {
    let mut screen = screen_with_prompt((60, 15), 20);
    let hints = "╰─ end jump to the end, then y approve · n deny ───────────╯";
    assert!(screen.screen_text().contains(hints), "{}", screen.screen_text());
    screen.press_key("esc");
    let text = screen.screen_text();
    assert!(text.contains("╰─ Press esc again to stop the turn ───") && !text.contains("n deny"), "{text}");
    screen.advance_ms(1100);
    assert!(screen.screen_text().contains(hints), "a later press is not the second: {}", screen.screen_text());
    screen.press_key("esc");
    screen.press_key("esc");
    assert!(screen.state.agent.is_idle(), "{}", screen.screen_text());
    // With room above the prompt, its hints stay.
    let mut screen = screen_with_prompt((60, 15), 1);
    screen.press_key("esc");
    let text = screen.screen_text();
    assert!(text.contains("▌ Press esc again to stop the turn") && text.contains("n deny"), "{text}");
}

#[test]
fn the_key_that_quits_is_shown_by_a_question_that_fills_the_screen() {
    let Intent::Ask(mut questions) = question_intent() else { panic!("a question asks") };
    questions.list[0].text = "Which clock should the test use? ".repeat(20);
    let mut screen = Screen::with_turn();
    screen.resize_screen(60, 15);
    screen.receive_call("a", "ask_question", Intent::Ask(questions));
    screen.advance_ms(2000);
    screen.press_key("ctrl-c");
    let text = screen.screen_text();
    assert!(text.contains("Press ctrl-c again to quit; the question keeps waiting"), "{text}");
}

#[test]
fn key_help_shows_every_key_whole_and_most_labels_on_one_row() {
    let mut screen = Screen::new();
    screen.resize_screen(60, 15);
    screen.press_key("?");
    let (mut text, mut pages) = (String::new(), 0);
    while pages < 12 {
        let page = screen.screen_text();
        text.push_str(&page);
        text.push('\n');
        pages += 1;
        if !page.contains("more rows") {
            break;
        }
        screen.press_key("page-down");
    }
    let keymap = Keymap::default();
    let rows: Vec<_> = keymap.help_rows(&[Scope::Anywhere, Scope::Composer]).collect();
    let is_drawn = |part: &str| text.lines().any(|line| line.contains(part));
    let broken_labels: Vec<&str> = rows.iter().map(|row| row.label()).filter(|label| !is_drawn(label)).collect();
    assert_eq!(broken_labels, ["Delete next character, or quit if empty"], "{text}");
    for chord in rows.iter().flat_map(|row| &row.chords) {
        let is_whole = text.lines().any(|line| line.split([' ', '│']).any(|word| word == chord.to_string()));
        assert!(is_whole, "{chord}: {text}");
    }
    assert!(text.lines().all(|line| crate::text::width::text_width(line) <= 60), "{text}");
}

#[test]
fn the_command_that_opens_the_original_session_is_not_broken() {
    let source = SessionId("01KB3XWZ5N2V8QH4T6R9M1C7DF".into());
    for (dry_run, start) in [(true, "— Dry run from here on"), (false, "— Live from here on")] {
        for (width, rows) in [(120, 1), (80, 2), (60, 3 - usize::from(!dry_run))] {
            let mut screen = Screen::with_entries([
                Entry::DryRunChanged { dry_run, copied_from: source.clone() },
                user_message("go"),
            ]);
            screen.resize_screen(width, 20);
            let text = screen.screen_text();
            let row =
                |part: &str| text.lines().position(|line| line.contains(part)).unwrap_or_else(|| panic!("{text}"));
            assert_eq!(row(&format!("aye --resume {source}")) - row(start) + 1, rows, "{width}: {text}");
        }
    }
}

/// The diff of a prompt keeps no background of its own while a popup takes the keys.
#[test]
fn everything_behind_a_popup_is_dimmed() {
    let themes = Themes::bundled().all().into_iter().chain([Theme::without_colours()]);
    for theme in themes {
        let name = theme.name.clone();
        let mut screen = Screen::new();
        screen.state.theme = theme;
        screen.send_text("go");
        screen.receive_call("a", "edit_file", super::prompt_position::edit_intent());
        screen.advance_ms(2000);
        let marked_rows = |screen: &mut Screen| {
            let (plain, buffer) = (screen.state.theme.background.bg.unwrap_or_default(), screen.draw_frame());
            let text = buffer_text(&buffer);
            // Rows of the popup have a second border.
            let is_behind =
                |row: &Rect| text.lines().nth(usize::from(row.y)).is_some_and(|line| line.contains(" let line_"));
            let is_marked = |row: &Rect| {
                row.columns().any(|cell| {
                    let cell = &buffer[cell.as_position()];
                    cell.bg != plain
                        || cell.modifier.intersects(Modifier::REVERSED | Modifier::UNDERLINED | Modifier::BOLD)
                })
            };
            let rows: Vec<Rect> = buffer.area.rows().filter(is_behind).collect();
            (rows.len(), rows.iter().filter(|row| is_marked(row)).count())
        };
        let (_, marked) = marked_rows(&mut screen);
        assert!(marked > 0, "{name}: {}", screen.screen_text());
        screen.state.viewport.popups.push(Popup::ApiKey(SecretField::default()));
        let (rows, marked) = marked_rows(&mut screen);
        assert!(rows > 0 && marked == 0, "{name}: {marked} of {rows}\n{}", screen.screen_text());
    }
}

/// The terminal shrinks and grows while a row in the middle of a long transcript is selected.
#[test]
fn the_selected_row_stays_visible_when_the_terminal_is_resized() {
    let mut screen = Screen::with_turn();
    for number in 0..12 {
        let id = format!("r{number}");
        screen.receive_call(&id, "bash_exec", command_intent(&format!("echo {id}")));
        screen.advance_ms(2000);
        screen.press_key("y");
        screen.finish_call(&id, Outcome::Done(format!("{id} {}\nexit 0", "word ".repeat(40))));
    }
    screen.receive_reply(&"A reply with some words that take several rows in a narrow terminal. ".repeat(6));
    for presses in [1, 4, 9, 12] {
        for _ in 0..presses {
            screen.press_key("alt-up");
        }
        let name = format!("Run echo r{} ", 12 - presses);
        for size in [(60, 15), (40, 9), (120, 36), (30, 8), (80, 24)] {
            screen.resize_screen(size.0, size.1);
            let rows = selected_rows(&mut screen);
            let is_shown = rows.len() == 1 && rows[0].contains(&name);
            assert!(is_shown, "{size:?}, {name}: {rows:?}\n{}", screen.screen_text());
        }
        screen.press_key("esc");
        screen.press_key("ctrl-end");
    }
    // What the user scrolled away from stays where it is.
    screen.resize_screen(60, 15);
    screen.press_key("alt-up");
    for _ in 0..4 {
        screen.press_key("page-up");
    }
    assert!(selected_rows(&mut screen).is_empty(), "{}", screen.screen_text());
    screen.resize_screen(70, 14);
    assert!(selected_rows(&mut screen).is_empty(), "{}", screen.screen_text());
}
