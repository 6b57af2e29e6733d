//! Layout: fixed columns, blank rows, and a single style for the row of the cursor.

use super::*;
use ratatui::style::Color;

/// Returns the line of the screen that contains `needle`.
fn find_line(text: &str, needle: &str) -> String {
    text.lines().find(|line| line.contains(needle)).unwrap_or_else(|| panic!("{needle}: {text}")).to_owned()
}

#[test]
fn picking_an_option_does_not_move_its_label() {
    let mut screen = Screen::with_turn();
    screen.receive_call("a", "ask_question", question_intent());
    screen.advance_ms(2000);
    let unpicked = find_line(&screen.screen_text(), "virtual time");
    screen.press_key("1");
    let picked = find_line(&screen.screen_text(), "virtual time");
    assert!(picked.contains("✓ tokio"), "{picked}");
    assert_eq!(unpicked.replace("  tokio", "✓ tokio"), picked);
}

#[test]
fn an_open_question_is_shown_only_in_its_prompt() {
    let mut screen = Screen::with_turn();
    screen.receive_call("a", "ask_question", question_intent());
    screen.advance_ms(2000);
    assert!(!screen.screen_text().contains("ask_question"), "{}", screen.screen_text());
}

#[test]
fn the_row_of_the_cursor_has_one_style_in_every_theme() {
    for theme in Themes::bundled().all() {
        let mut screen = Screen::new();
        screen.state.theme = theme;
        screen.send_text("go");
        screen.receive_call("a", "ask_question", question_intent());
        screen.advance_ms(2000);
        let row_styles = |screen: &mut Screen, needle: &str| {
            let buffer = screen.draw_frame();
            let width = usize::from(buffer.area.width);
            let row = buffer_text(&buffer).lines().position(|line| line.contains(needle)).expect("it is drawn");
            let cells = &buffer.content[row * width..(row + 1) * width];
            let is_visible = |cell: &&ratatui::buffer::Cell| !"│ ".contains(cell.symbol());
            cells.iter().filter(is_visible).map(|cell| (cell.fg, cell.bg)).collect::<Vec<(Color, Color)>>()
        };
        let mut styles = row_styles(&mut screen, "virtual time");
        styles.dedup();
        assert_eq!(styles.len(), 1, "{}: {styles:?}", screen.state.theme.name);
    }
}

fn reply_with_reasoning(reasoning: &str, text: &str, ms: u64) -> Entry {
    match reply_entry(text) {
        Entry::Replied { calls, incomplete, model, usage, .. } => Entry::Replied {
            text: text.into(),
            reasoning: reasoning.into(),
            calls,
            incomplete,
            model,
            usage,
            thought_ms: ms,
            echo: None,
        },
        other => other,
    }
}

#[test]
fn reasoning_is_separate_and_shows_its_time_only_if_long() {
    let mut screen = Screen::with_entries([user_message("go"), reply_with_reasoning("hm", "Short.", 580), turn_end()]);
    let text = screen.screen_text();
    assert!(text.contains(" ▌ go\n\n   ▸ thought\n\n Short."), "{text}");
    let mut screen = Screen::with_entries([user_message("go"), reply_with_reasoning("hm", "Long.", 3100), turn_end()]);
    assert!(screen.screen_text().contains("   ▸ thought for 3.1 s\n\n Long."), "{}", screen.screen_text());
}

#[test]
fn reasoning_after_calls_is_grouped_with_them_live_and_later() {
    let mut screen = Screen::with_turn();
    screen.receive_call("a", "read_file", read_intent("src/a.rs"));
    screen.finish_call("a", Outcome::Done("text".into()));
    screen.receive_chunk(Chunk::Reasoning("hm".into()));
    screen.receive_chunk(Chunk::Text("Found it.".into()));
    screen.advance_ms(10_000);
    let live_text = screen.screen_text();
    screen.receive_chunk(Chunk::Done(FinishReason::Stop));
    let final_text = screen.screen_text();
    for text in [live_text, final_text] {
        let row = find_line(&text, "Read src/a.rs");
        assert!(text.contains(&format!("{row}\n   ▸ thought for 3 s\n\n Found it.")), "{text}");
    }
}

#[test]
fn a_long_title_is_cut_not_removed() {
    let mut screen = Screen::with_entries([user_message("go"), reply_entry("Yes."), turn_end()]);
    let title = "why the retry test flakes on a machine that is busy with other things";
    screen.handle_event(Event::Agent(agent::Event::SessionTitled(title.into())));
    let header = |screen: &mut Screen| screen.screen_text().lines().next().unwrap_or_default().to_owned();
    screen.resize_screen(60, 15);
    assert_eq!(header(&mut screen), " aye · why the retry test f…  gpt-5-mini · ~/project ⎇ main");
    screen.resize_screen(80, 24);
    let text = header(&mut screen);
    assert!(text.starts_with(" aye · why the retry test flakes on a") && text.ends_with("⎇ main"), "{text}");
    screen.resize_screen(120, 24);
    assert!(header(&mut screen).contains(title));
}

#[test]
fn a_toast_is_readable_while_a_list_is_open() {
    let mut screen = Screen::new();
    screen.press_key("alt-m");
    screen.handle_event(Event::Host(crate::tui::host::HostReply::Notice("The models could not be listed.".into())));
    assert!(screen.screen_text().contains("The models could not be listed."), "{}", screen.screen_text());
}

#[test]
fn a_small_screen_has_no_line_above_the_composer() {
    let mut screen = Screen::new();
    screen.resize_screen(60, 15);
    let text = screen.screen_text();
    // The rule has 60 columns, which is three times the text searched for.
    assert_eq!(text.matches("────────────────────").count(), 3, "only the rule below the header: {text}");
}

#[test]
fn a_denied_call_shows_the_users_message() {
    for (message, expected) in [("", " denied by you"), ("not now", " denied by you: not now")] {
        let mut screen = Screen::with_turn();
        screen.receive_call("a", "bash_exec", command_intent("rm -r build"));
        screen.advance_ms(2000);
        screen.press_key(if message.is_empty() { "n" } else { "m" });
        screen.type_text(message);
        if !message.is_empty() {
            screen.press_key("enter");
        }
        assert!(find_line(&screen.screen_text(), "Run rm").ends_with(expected), "{}", screen.screen_text());
    }
}

#[test]
fn an_incomplete_reply_shows_the_reason_once() {
    let mut screen = Screen::with_turn();
    screen.receive_chunk(Chunk::Text("Half a".into()));
    let turn = screen.state.agent.current_turn().expect("a turn runs");
    screen.handle_event(Event::Agent(agent::Event::RequestFailed {
        turn,
        reason: "the connection was lost".into(),
        too_long: false,
    }));
    screen.advance_ms(10_000);
    assert_eq!(screen.screen_text().matches("the connection was lost").count(), 1, "{}", screen.screen_text());
}

#[test]
fn search_text_can_be_pasted() {
    let mut screen = Screen::with_entries((0..500).map(|n| reply_entry(&format!("answer {n}"))).chain([turn_end()]));
    screen.press_key("ctrl-f");
    screen.handle_event(Event::Pasted("answer 123".into()));
    assert!(screen.screen_text().contains(" answer 123\n"), "{}", screen.screen_text());
}

#[test]
fn the_frame_that_shows_the_end_of_a_prompt_offers_approval() {
    let mut screen = Screen::new();
    screen.resize_screen(60, 15);
    screen.send_text("go");
    screen.receive_call("a", "bash_exec", command_intent(&vec!["cargo test"; 30].join("\n")));
    screen.advance_ms(2000);
    assert!(screen.screen_text().contains("end jump to the end, then y approve"), "{}", screen.screen_text());
    // One frame only, as the event loop draws it.
    screen.handle_event(Event::Key(key("end")));
    let text = screen.screen_text();
    assert!(text.contains("╰─ y approve"), "{text}");
}

#[test]
fn the_footer_shows_the_keys_of_a_selected_call() {
    for (width, height) in [(80, 24), (60, 15), (40, 12)] {
        let mut screen = Screen::new();
        screen.resize_screen(width, height);
        screen.send_text("go");
        screen.receive_call("a", "read_file", read_intent("src/main.rs"));
        screen.finish_call("a", Outcome::Done("fn main() {}".into()));
        screen.receive_reply("Done.");
        let footer = |screen: &mut Screen| screen.screen_text().lines().next_back().unwrap_or_default().to_owned();
        assert!(footer(&mut screen).contains("? help"));
        screen.press_key("alt-up");
        let text = footer(&mut screen);
        assert!(text.contains("enter open") && text.contains("esc back"), "{width}: {text}");
        assert!(!text.contains("help"), "{width}: {text}");
        screen.press_key("esc");
        assert!(footer(&mut screen).contains("? help"));
        // A question mark does nothing in a popup, which covers the footer of a tiny screen.
        screen.send_text("/theme");
        let text = footer(&mut screen);
        assert!(text.contains("f1 help") || height == 12, "{width}: {text}");
    }
}

#[test]
fn the_outcome_of_a_call_with_a_long_command_is_visible() {
    let long = "rm -rf src docs && git push --force origin feature && echo all of it is gone now, is it";
    let cases: [(Mode, &[&str], &str); 3] = [
        (Mode::Ask, &["n"], "denied by you"),
        (Mode::Ask, &["esc", "esc"], "stopped by you"),
        (Mode::Plan, &[], "denied: plan mode"),
    ];
    for (width, height) in [(120, 36), (80, 24), (60, 15)] {
        for (mode, keys, outcome) in cases {
            let mut screen = Screen::new();
            screen.resize_screen(width, height);
            screen.state.agent.policy.mode = mode;
            screen.send_text("go");
            screen.receive_call("a", "bash_exec", command_intent(long));
            screen.advance_ms(2000);
            keys.iter().for_each(|key| screen.press_key(key));
            let text = screen.screen_text();
            let row = text.lines().find(|row| row.contains("Run rm")).unwrap_or_default();
            assert!(row.contains(outcome) && row.contains(&long[..10]), "{width}: {text}");
        }
    }
}

#[test]
fn warnings_on_a_low_screen_leave_room_for_the_first_step() {
    let mut screen = Screen::new();
    screen.resize_screen(60, 15);
    screen.state.session.connection.is_tour = true;
    for number in 1..=4 {
        let text = format!("~/.config/aye/config.toml:{number}: screne is not a section. Did you mean screen?");
        screen.state.show_notice(&text, crate::tui::parts::toast::Kind::Warning);
    }
    screen.advance_ms(60_000);
    let text = screen.screen_text();
    assert!(text.contains("Type “say hello” and press enter to start."), "{text}");
    assert!(text.contains("config.toml:1: screne") && text.contains("more · /notices lists all"), "{text}");
}

#[test]
fn a_low_screen_says_how_many_warnings_it_does_not_show() {
    let mut screen = Screen::new();
    screen.state.session.connection.source = "a long description of the provider. ".repeat(12);
    for number in 1..=2 {
        let text =
            format!("~/.config/aye/config.toml:{number}: screne is not a section. {}", "Correct it. ".repeat(20));
        screen.state.show_notice(&text, crate::tui::parts::toast::Kind::Warning);
    }
    screen.advance_ms(60_000);
    for (size, note) in [((60, 15), "! 2 warnings · /notices lists all"), ((120, 36), "config.toml:2: screne")] {
        screen.resize_screen(size.0, size.1);
        let text = screen.screen_text();
        assert!(text.contains("a long description") && text.contains(note), "{text}");
    }
}
