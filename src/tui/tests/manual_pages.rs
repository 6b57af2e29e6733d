//! Pages of the manual in the reader, opened by `/help TOPIC`.

use super::*;
use crate::tui::popup::Popup;

#[test]
fn help_with_a_topic_opens_its_page() {
    let mut screen = Screen::new();
    screen.send_text("/help Network");
    let page = screen.screen_text();
    assert!(page.contains("Sandbox") && page.contains("esc back"), "an alias, whatever the case: {page}");
    assert!(!page.contains("# Sandbox"), "it is rendered: {page}");
    screen.press_key("esc");
    screen.send_text("/help");
    assert!(matches!(screen.state.viewport.popups.last(), Some(Popup::Help(_))));
    screen.press_key("esc");
    screen.send_text("/help nonsense");
    let shown = screen.screen_text();
    assert!(screen.state.viewport.popups.is_empty());
    assert!(
        shown.contains("Cannot show help for “nonsense”: there is no such topic. Use one of:")
            && shown.contains("getting-started, installation, providers"),
        "{shown}"
    );
}

#[test]
fn scrolling_up_from_the_end_of_a_page_has_an_effect_at_once() {
    let mut screen = Screen::new();
    screen.send_text("/help providers");
    screen.press_key("end");
    let end = screen.screen_text();
    for past_end in ["end", "down", "page-down"] {
        screen.press_key(past_end);
        assert_eq!(screen.screen_text(), end, "{past_end}");
        screen.press_key("up");
        assert_ne!(screen.screen_text(), end, "{past_end}");
        screen.press_key("down");
        assert_eq!(screen.screen_text(), end, "{past_end}");
    }
}

#[test]
fn every_page_fits_every_width() {
    let mut screen = Screen::new();
    for topic in crate::manual::TOPICS {
        screen.send_text(&format!("/help {}", topic.name));
        let Some(Popup::Reader(reader)) = screen.state.viewport.popups.last() else { panic!("{}", topic.name) };
        for width in [20, 56, 76, 116] {
            let layout = reader.lay_out_text(width, &screen.state.theme, &screen.state.lookups);
            assert!(layout.page.lines.iter().all(|line| line.width() <= width), "{} at {width}", topic.name);
        }
        screen.press_key("esc");
    }
}

#[test]
fn a_page_shows_its_position_and_key_help_returns_to_it() {
    let mut screen = Screen::new();
    screen.resize_screen(60, 15);
    screen.send_text("/help providers");
    let page = screen.screen_text();
    let total = page.split("─ 1–13 of ").nth(1).and_then(|rest| rest.split(' ').next());
    let total = total.unwrap_or_else(|| panic!("{page}"));
    assert!(page.contains("↑↓ scroll · home/end · ") && page.contains("esc back"), "{page}");
    screen.press_key("end");
    let end = screen.screen_text();
    assert!(end.contains(&format!("–{total} of {total} ─")) && !end.contains("─ 1–"), "{end}");
    screen.press_key("f1");
    assert!(matches!(screen.state.viewport.popups.last(), Some(Popup::Help(_))));
    assert!(screen.screen_text().contains("Key bindings"));
    screen.press_key("f1");
    screen.press_key("esc");
    assert_eq!(screen.screen_text(), end);
}

#[test]
fn a_page_that_fits_has_no_position() {
    let mut screen = Screen::new();
    screen.state.show_notice("the disk is full", crate::tui::parts::toast::Kind::Warning);
    screen.send_text("/notices");
    let page = screen.screen_text();
    assert!(
        page.contains("╭─ Warnings so far ──") && page.contains("╰─ esc back ─") && !page.contains(" of "),
        "{page}"
    );
}
