//! Toasts have rows of their own and cover no line, prompt, list or draft.

use super::*;
use crate::tui::host::HostReply;
use crate::tui::parts::toast::Kind;

const SIZES: [(u16, u16); 6] = [(120, 36), (80, 24), (60, 15), (60, 12), (40, 10), (30, 8)];
const NOTICES: [&str; 2] =
    ["this project brings nothing along that would change what aye does", "the second notice, which is newer"];

/// Returns the rows of the screen from the bottom up.
fn rows_from_bottom(screen: &mut Screen) -> Vec<String> {
    screen.screen_text().lines().rev().map(str::to_owned).collect()
}

fn show_toasts(screen: &mut Screen, kind: Kind) {
    NOTICES.iter().for_each(|notice| screen.state.show_notice(notice, kind));
    screen.draw_frame();
}

#[test]
fn a_toast_covers_neither_the_footer_nor_the_draft() {
    for (width, height) in SIZES {
        let mut screen =
            Screen::with_entries([user_message("go"), reply_entry(&"a line of the reply\n\n".repeat(60)), turn_end()]);
        screen.resize_screen(width, height);
        screen.type_text("unsent words that go to the end of the composer");
        let rows_before = rows_from_bottom(&mut screen);
        // Number of rows from the separator above the composer to the footer.
        let rows_below = usize::from(
            height - screen.state.viewport.size.1.min(view::layout::compute_areas(&screen.state).separator.y),
        );
        show_toasts(&mut screen, Kind::Info);
        let rows_after = rows_from_bottom(&mut screen);
        assert_eq!(rows_after[..rows_below], rows_before[..rows_below], "{width}x{height}");
        assert!(rows_after[rows_below].contains('▌'), "{width}x{height}: {rows_after:?}");
        assert!(rows_after[..rows_below].iter().all(|row| !row.contains("notice")), "{width}x{height}");
    }
}

#[test]
fn a_list_or_page_ends_above_the_toasts() {
    for (width, height) in SIZES {
        for chord in ["alt-m", "f1", "alt-t", "ctrl-p"] {
            let mut screen = Screen::with_entries([reply_entry("Yes."), turn_end()]);
            screen.resize_screen(width, height);
            screen.press_key(chord);
            show_toasts(&mut screen, Kind::Warning);
            let text = screen.screen_text();
            let row_with = |c| text.lines().position(|row| row.contains(c));
            let (border, notice) = (row_with('╰'), row_with('▌'));
            assert!(text.contains("▌ the second notice"), "{width}x{height} {chord}: {text}");
            assert!(notice.is_some() && border < notice, "{width}x{height} {chord}: {text}");
            let row = text.lines().nth(notice.unwrap_or(0)).unwrap_or_default();
            assert!(!row.contains(['│', '─', '❯']), "{width}x{height} {chord}: {text}");
            assert!(border.is_none_or(|index| text.lines().nth(index).is_some_and(|row| row.contains('╯'))));
        }
    }
}

#[test]
fn a_toast_neither_covers_nor_moves_a_prompt() {
    for (width, height) in [(120, 36), (80, 24)] {
        let mut screen = Screen::new();
        screen.resize_screen(width, height);
        screen.send_text("go");
        screen.receive_call("a", "bash_exec", command_intent("make"));
        screen.advance_ms(2000);
        let prompt_lines = |screen: &mut Screen| {
            let text = screen.screen_text();
            let rows = text.lines().enumerate().skip_while(|(_, row)| !row.contains('╭'));
            let end = text.lines().position(|row| row.contains('╰')).unwrap_or_default();
            rows.take_while(|(index, _)| *index <= end).map(|(index, row)| format!("{index} {row}")).collect::<Vec<_>>()
        };
        let lines_before = prompt_lines(&mut screen);
        show_toasts(&mut screen, Kind::Info);
        assert_eq!(prompt_lines(&mut screen), lines_before);
        assert!(screen.screen_text().contains("the second notice"), "{}", screen.screen_text());
    }
}

#[test]
fn opening_a_session_removes_the_toasts_of_the_previous_one() {
    let mut screen = Screen::new();
    show_toasts(&mut screen, Kind::Warning);
    screen.state.show_notice("the disk is full", Kind::Error);
    screen.handle_event(Event::Host(HostReply::Opened(Box::new(fast_typing::opened_session(None)))));
    let text = screen.screen_text();
    assert!(!text.contains("notice") && !text.contains("this project brings"), "{text}");
    assert!(text.contains("the disk is full"), "errors stay until they were read: {text}");
}

/// Returns the rows of the screen that show toasts.
fn toast_rows(screen: &mut Screen) -> Vec<String> {
    screen.screen_text().lines().filter(|row| row.contains('▌')).map(str::to_owned).collect()
}

#[test]
fn toasts_leave_a_low_screen_to_the_transcript() {
    let mut screen = Screen::with_entries([reply_entry(&"a line of the reply\n\n".repeat(60)), turn_end()]);
    screen.resize_screen(60, 15);
    let long_text = |start: &str| format!("{start} {}", "cannot save the session because the disk is full. ".repeat(4));
    screen.state.show_notice(&long_text("older"), Kind::Error);
    screen.state.show_notice(&long_text("newer"), Kind::Warning);
    let rows = toast_rows(&mut screen);
    assert!(rows.len() == 3 && rows[0].contains("newer") && rows[2].contains('…'), "{rows:?}");
    // The older one has no room yet, so a key does not dismiss it.
    screen.advance_ms(5_000);
    screen.press_key("up");
    screen.advance_ms(20_000);
    let rows = toast_rows(&mut screen);
    assert!(rows.len() == 3 && rows[0].contains("older"), "{rows:?}");
    screen.press_key("up");
    assert!(toast_rows(&mut screen).is_empty(), "{}", screen.screen_text());
}

#[test]
fn opening_a_session_ends_the_preview_of_a_theme() {
    let mut screen = Screen::new();
    let theme = screen.state.theme.clone();
    screen.send_text("/theme");
    screen.press_key("down");
    assert_ne!(screen.state.theme, theme);
    screen.handle_event(Event::Host(HostReply::Opened(Box::new(fast_typing::opened_session(None)))));
    assert!(screen.state.viewport.popups.is_empty());
    assert_eq!(screen.state.theme, theme);
}

#[test]
fn the_hint_at_a_second_press_goes_when_that_would_do_nothing() {
    let mut screen = Screen::with_entries([user_message("go"), reply_entry("Done."), turn_end()]);
    screen.press_key("esc");
    assert!(screen.screen_text().contains("Press esc again to rewind"));
    screen.advance_ms(900);
    assert!(screen.screen_text().contains("Press esc again to rewind"));
    screen.advance_ms(100);
    assert!(!screen.screen_text().contains("Press esc again"), "{}", screen.screen_text());
    screen.press_key("esc");
    assert!(screen.screen_text().contains("Press esc again to rewind"));
    screen.press_key("esc");
    assert!(screen.screen_text().contains("Rewind to before"), "{}", screen.screen_text());
    screen.press_key("esc");
    screen.press_key("ctrl-c");
    screen.advance_ms(900);
    assert!(screen.screen_text().contains("Press ctrl-c again to quit"), "{}", screen.screen_text());
    screen.advance_ms(100);
    assert!(!screen.screen_text().contains("again to quit"), "{}", screen.screen_text());
    screen.press_key("ctrl-c");
    assert!(!screen.effects.contains(&Effect::Quit));
}

#[test]
fn the_hint_at_a_second_press_goes_when_something_else_happened() {
    let mut screen = Screen::with_entries([user_message("go"), reply_entry("Done."), turn_end()]);
    screen.press_key("esc");
    assert!(screen.screen_text().contains("Press esc again to rewind"));
    screen.type_text("more");
    assert!(!screen.screen_text().contains("esc again"), "{}", screen.screen_text());
    // A key that quits after any other key is still named.
    screen.press_key("ctrl-c");
    screen.type_text(" words");
    assert!(screen.screen_text().contains("Press ctrl-c again to quit"), "{}", screen.screen_text());
    // The consequence that was named must still be true.
    let mut screen = Screen::with_turn();
    screen.receive_call("q", "ask_question", question_intent());
    screen.advance_ms(2000);
    screen.press_key("ctrl-c");
    assert!(screen.screen_text().contains("the question keeps waiting"), "{}", screen.screen_text());
    screen.press_key("1");
    screen.advance_ms(600);
    screen.press_key("enter");
    assert!(!screen.screen_text().contains("keeps waiting"), "{}", screen.screen_text());
}

/// A toast above a prompt takes the last rows of the transcript before its text is cut.
#[test]
fn a_toast_is_shown_whole_above_a_prompt_if_there_are_rows() {
    let notice = "Stored: every plain command that begins with make test, in this project. Revoke it with /grants";
    let mut shown_whole = 0;
    for lines in 1..12 {
        let mut screen =
            Screen::with_entries([user_message("go"), reply_entry(&"a line of the reply\n\n".repeat(60)), turn_end()]);
        screen.resize_screen(60, 15);
        screen.send_text("go on");
        let command: Vec<String> = (0..lines).map(|line| format!("make part-{line}")).collect();
        screen.receive_call("a", "bash_exec", command_intent(&command.join("\n")));
        screen.advance_ms(2000);
        let rows = view::layout::compute_areas(&screen.state).transcript.height;
        screen.state.show_notice(notice, Kind::Info);
        let text = screen.screen_text();
        let is_whole = text.contains("begins with make test,") && text.contains("Revoke it with /grants");
        assert_eq!(is_whole, rows >= 2, "{lines}: {text}");
        shown_whole += usize::from(is_whole);
        assert_eq!(text.contains("Stored: every plain command that begins with make …"), rows == 1, "{lines}: {text}");
    }
    assert!(shown_whole > 1);
}
