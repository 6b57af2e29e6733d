//! The list of MCP servers and the prompt for their changed tools.

use super::*;
use crate::tui::host::{HostReply, HostRequest};

fn report(lines: Vec<String>) -> ServerReport {
    ServerReport {
        name: "files".into(),
        place: "npx -y files".into(),
        status: "2 tools · connected".into(),
        tools: vec!["tool read".into()],
        changed_count: 1,
        change: Some(ToolsChange { digest: Digest::of_bytes(b"x"), tool_count: 1, lines }),
        note: String::new(),
    }
}

/// A screen with the difference of these lines.
fn screen_with_change(lines: Vec<String>) -> Screen {
    let mut screen = Screen::new();
    screen.send_text("/mcp");
    screen.handle_event(Event::Host(HostReply::Servers(vec![report(lines)])));
    screen.advance_ms(600);
    screen.press_key("enter");
    screen
}

fn has_accepted(screen: &Screen) -> bool {
    let is_acceptance = |effect: &Effect| match effect {
        Effect::Request(HostRequest::AcceptServerTools { server, digest }) => {
            (server.as_str(), digest) == ("files", &Digest::of_bytes(b"x"))
        }
        _ => false,
    };
    screen.effects.iter().any(is_acceptance)
}

#[test]
fn only_a_difference_that_was_on_the_screen_line_by_line_is_accepted() {
    let lines: Vec<String> = (0..60).map(|number| format!("  + description: line {number}")).collect();
    let mut screen = screen_with_change(lines);
    let text = screen.screen_text();
    assert!(text.contains("Accept these changes of tools?"), "{text}");
    assert!(text.contains("page-down read every line, then y accept · n keep out"), "{text}");
    screen.advance_ms(2000);
    screen.press_key("y");
    assert!(!has_accepted(&screen) && screen.screen_text().contains("Read every line before y"));
    screen.press_key("end");
    screen.advance_ms(2000);
    assert!(screen.screen_text().contains("line 59"), "{}", screen.screen_text());
    screen.press_key("y");
    assert!(!has_accepted(&screen), "the lines between were not on the screen");
    screen.press_key("home");
    while !screen.screen_text().contains("╰─ y accept · n keep out") {
        assert!(!screen.screen_text().contains("line 59"), "the frame with the last line offers to accept");
        screen.press_key("page-down");
    }
    screen.advance_ms(2000);
    screen.press_key("y");
    assert!(has_accepted(&screen), "{}", screen.screen_text());
}

#[test]
fn a_key_typed_ahead_and_enter_accept_nothing() {
    let mut screen = screen_with_change(vec!["  + description: short".into()]);
    screen.press_key("y");
    screen.advance_ms(2000);
    screen.press_key("enter");
    assert!(!has_accepted(&screen) && screen.screen_text().contains("Enter does not answer"));
    screen.advance_ms(2000);
    screen.press_key("n");
    assert!(!has_accepted(&screen) && screen.screen_text().contains("MCP servers"), "{}", screen.screen_text());
}

#[test]
fn a_dry_run_asks_for_the_list_without_connecting() {
    for (mut screen, expected) in [(Screen::new(), true), (Screen::dry_run(), false)] {
        screen.send_text("/mcp");
        let request = Effect::Request(HostRequest::ListServers { connects: expected });
        assert!(screen.effects.contains(&request), "{:?}", screen.effects);
    }
}
