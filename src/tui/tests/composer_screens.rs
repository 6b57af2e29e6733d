//! Typing, sending, and toasts next to the composer.

use super::*;
use crate::chat::custom_command::CommandFiles;
use crate::tui::host::{HostReply, HostRequest};
use crate::tui::parts::toast::Kind;
use crate::tui::popup::{Popup, Reader, ReaderBody};

#[test]
fn an_error_that_was_read_disappears_with_the_next_key() {
    let mut screen = Screen::new();
    screen.state.show_notice("The disk is full.", Kind::Error);
    screen.advance_ms(500);
    screen.press_key("a");
    assert!(!screen.state.notices.toasts.is_empty(), "half a second is too short to have read it");
    screen.advance_ms(60_000);
    assert!(!screen.state.notices.toasts.is_empty(), "it waits for a key");
    screen.press_key("b");
    assert!(screen.state.notices.toasts.is_empty());
    assert_eq!(screen.state.input.composer.text(), "ab", "the keys are written as well");
}

#[test]
fn an_unknown_command_stays_in_the_composer_and_a_blank_sends_it() {
    let mut screen = Screen::new();
    let no_files = || Event::Host(HostReply::Offers(Vec::new(), CommandFiles::default()));
    screen.send_text("/nosuch thing");
    screen.handle_event(no_files());
    assert!(screen.state.agent.is_idle(), "nothing was sent");
    assert_eq!(screen.state.input.composer.text(), "/nosuch thing");
    assert!(screen.screen_text().contains("Unknown command /nosuch"), "{}", screen.screen_text());
    screen.press_key("ctrl-u");
    screen.send_text("/titel x");
    screen.handle_event(no_files());
    assert!(screen.screen_text().contains("did you mean /title?"), "{}", screen.screen_text());
    screen.press_key("ctrl-u");
    screen.send_text(" /nosuch thing");
    assert!(!screen.state.agent.is_idle(), "it was sent");
    assert!(screen.state.input.composer.is_empty());
    screen.receive_reply("I see.");
    screen.send_text("/usr/bin/env is a path");
    assert!(!screen.state.agent.is_idle(), "a path is no command");
}

#[test]
fn r03_text_typed_before_the_first_frame_goes_to_the_composer() {
    let mut screen = Screen::new();
    screen.handle_event(Event::TypedEarly("\n".into()));
    assert!(screen.state.input.composer.is_empty() && screen.state.notices.toasts.is_empty());
    screen.handle_event(Event::TypedEarly("\nfix it\nall\x1b[2J of it\n".into()));
    assert_eq!(screen.state.input.composer.text(), "fix it\nall of it\n");
    assert!(screen.screen_text().contains("enter to send"), "{}", screen.screen_text());
    screen.handle_event(Event::TypedEarly("y\n".into()));
    assert!(screen.state.agent.is_idle() && screen.count_decisions() == 0);
    let mut screen = Screen::new();
    screen.handle_event(Event::TypedEarly("/he".into()));
    assert!(screen.state.input.completion.is_open() && screen.state.notices.toasts.is_empty());
    // A key in between splits the text into pieces, one of which may be only a blank.
    let mut screen = Screen::new();
    screen.handle_event(Event::TypedEarly("ab".into()));
    screen.handle_event(Event::Key(crossterm::event::KeyCode::Left.into()));
    screen.handle_event(Event::TypedEarly(" ".into()));
    assert_eq!(screen.state.input.composer.text(), "a b");
    assert!(screen.state.notices.toasts.is_empty());
    screen.handle_event(Event::TypedEarly("\n".into()));
    assert_eq!(screen.state.input.composer.text(), "a \nb");
    assert!(screen.screen_text().contains("enter to send"), "{}", screen.screen_text());
}

#[test]
fn messages_queued_in_a_stopped_turn_can_be_sent_or_edited() {
    let stopped_screen = || {
        let mut screen = Screen::with_turn();
        screen.send_text("and quickly");
        assert!(screen.screen_text().contains("queued for the next request · alt-q edit"));
        screen.press_key("esc");
        let screen_text = screen.screen_text();
        assert!(screen_text.contains("not sent · enter send · alt-q edit"), "{screen_text}");
        screen
    };
    let count_sent = |screen: &Screen| {
        let is_sent = |entry: &Entry| matches!(entry, Entry::UserMessage { text } if text == "and quickly");
        screen.state.agent.session.entries().iter().filter(|entry| is_sent(entry)).count()
    };
    let mut screen = stopped_screen();
    screen.press_key("enter");
    assert_eq!((count_sent(&screen), screen.state.agent.is_idle()), (1, false));
    assert!(!screen.screen_text().contains("not sent"));
    let mut screen = stopped_screen();
    screen.press_key("alt-q");
    assert_eq!((count_sent(&screen), screen.state.input.composer.text().as_str()), (0, "and quickly"));
    screen.press_key("ctrl-u");
    screen.press_key("enter");
    assert!(screen.state.agent.is_idle(), "there is nothing to send");
    let mut screen = stopped_screen();
    screen.type_text("more");
    let effects = update::prepare_exit(&mut screen.state);
    let saved = effects.iter().find_map(|effect| match effect {
        Effect::Request(HostRequest::SaveUnsent(_, unsent)) => Some((unsent.queue.join("|"), unsent.text())),
        _ => None,
    });
    assert_eq!(saved, Some(("and quickly".into(), "more".into())), "quitting loses nothing");
}

#[test]
fn toasts_do_not_cover_the_reply() {
    for (width, height) in [(120, 36), (80, 24), (60, 15), (80, 12)] {
        let mut screen = Screen::new();
        screen.resize_screen(width, height);
        screen.send_text("go");
        // Each line takes one row: number and blank have 4 columns, and 4 columns stay free.
        let lines: Vec<String> =
            (1..80).map(|number| format!("{number:03} {}", "x".repeat(usize::from(width) - 8))).collect();
        screen.receive_reply(&lines.join("  \n"));
        screen.state.show_notice("one notice of some length, so that it takes room", Kind::Warning);
        screen.state.show_notice("another", Kind::Info);
        let screen_text = screen.screen_text();
        assert!(screen_text.contains("one notice") && screen_text.contains("another"), "{screen_text}");
        let is_complete_line = |line: &&str| line.trim_start().starts_with('0') && !line.contains('▌');
        let complete_lines = screen_text
            .lines()
            .filter(is_complete_line)
            .filter(|line| line.matches('x').count() + 8 == usize::from(width));
        let line_count = screen_text.lines().filter(|line| line.trim_start().starts_with('0')).count();
        assert_eq!(complete_lines.count(), line_count, "{screen_text}");
        assert!(screen_text.contains("079 x"), "the end of the reply is seen: {screen_text}");
        // The same above an open page.
        screen.state.viewport.popups.push(Popup::Reader(Reader {
            title: "a page".into(),
            text: lines.join("\n").into(),
            body: ReaderBody::Plain,
            whole_text: None,
            search: None,
            top: Default::default(),
            layout: Default::default(),
        }));
        let screen_text = screen.screen_text();
        let is_cut = |line: &&str| line.contains('x') && line.contains('▌');
        assert!(screen_text.contains("another") && !screen_text.lines().any(|line| is_cut(&line)), "{screen_text}");
    }
}

#[test]
fn toasts_are_aligned_in_one_column() {
    let mut screen = Screen::new();
    screen.state.show_notice("a short one", Kind::Info);
    screen.state.show_notice(&"words that are many ".repeat(8), Kind::Warning);
    let text = screen.screen_text();
    let columns: std::collections::BTreeSet<usize> =
        text.lines().filter_map(|line| line.chars().position(|c| c == '▌')).collect();
    assert_eq!(columns.len(), 1, "{text}");
}

#[test]
fn warnings_can_be_read_again() {
    let mut screen = Screen::new();
    screen.state.show_notice("config.toml:2: mouse is true or false", Kind::Warning);
    screen.state.show_notice("copied", Kind::Info);
    screen.advance_ms(60_000);
    assert!(screen.state.notices.toasts.is_empty());
    assert!(screen.screen_text().contains("! config.toml:2: mouse is true or false"), "{}", screen.screen_text());
    screen.send_text("go");
    screen.receive_reply("Done.");
    assert!(!screen.screen_text().contains("config.toml"));
    screen.send_text("/notices");
    let text = screen.screen_text();
    assert!(text.contains("config.toml:2") && !text.contains("copied"), "{text}");
}

#[test]
fn enter_in_the_history_search_takes_the_match_without_completing() {
    let mut screen = Screen::new();
    screen.send_text("look at @src/main.rs");
    screen.receive_reply("Seen.");
    screen.press_key("ctrl-r");
    screen.type_text("look");
    screen.press_key("enter");
    assert_eq!(screen.state.input.composer.text(), "look at @src/main.rs");
}

#[test]
fn the_completion_list_covers_no_row_of_a_prompt() {
    let mut screen = Screen::with_turn();
    screen.type_text("/");
    screen.receive_call("a", "bash_exec", command_intent("cargo test"));
    let screen_text = screen.screen_text();
    assert!(screen.state.input.completion.is_open(), "{screen_text}");
    let prompt_rows = |text: &str| -> Vec<String> {
        text.lines().filter(|row| row.starts_with(['╭', '│', '╰'])).map(str::to_owned).collect()
    };
    screen.press_key("backspace");
    screen.type_text("x");
    assert_eq!(prompt_rows(&screen_text), prompt_rows(&screen.screen_text()));
}
