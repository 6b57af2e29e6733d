//! Pasting what is on the system's clipboard.

use super::*;
use crate::tui::host::{HostReply, HostRequest, PastedContent};

fn receive(screen: &mut Screen, session: &str, content: Result<PastedContent, String>) {
    screen.handle_event(Event::Host(HostReply::ClipboardRead(SessionId(session.into()), content)));
    screen.draw_frame();
}

fn picture() -> Result<PastedContent, String> {
    Ok(PastedContent::Picture("workspace:///pasted-1.png".into()))
}

#[test]
fn a_picture_of_the_clipboard_is_named_in_the_draft() {
    let mut screen = Screen::new();
    screen.type_text("look at");
    screen.effects.clear();
    screen.press_key("ctrl-v");
    assert_eq!(screen.effects, [Effect::Request(HostRequest::PasteClipboard)]);
    screen.press_key("ctrl-v");
    assert_eq!(screen.effects.len(), 1, "it is read once at a time");
    receive(&mut screen, "01J", picture());
    screen.type_text("please");
    assert_eq!(screen.state.input.composer.text(), "look at @workspace:///pasted-1.png please");
}

#[test]
fn text_of_the_clipboard_is_pasted_and_a_failure_is_reported() {
    let mut screen = Screen::new();
    screen.press_key("ctrl-v");
    receive(&mut screen, "01J", Ok(PastedContent::Text("a\u{1b}[31mb\ncd".into())));
    assert!(!screen.screen_text().contains('\u{1b}'));
    assert!(screen.state.input.composer.text().ends_with("b\ncd"));
    let reason = "Cannot read the clipboard: there is none here. Paste text with the terminal's own key.";
    receive(&mut screen, "01J", Err(reason.into()));
    assert!(screen.screen_text().contains("Cannot read the clipboard"));
}

#[test]
fn text_that_arrives_late_goes_to_the_draft_and_nowhere_else() {
    let mut screen = Screen::new();
    screen.press_key("ctrl-v");
    screen.press_key("alt-m");
    assert!(!screen.state.viewport.popups.is_empty());
    let list = screen.screen_text();
    receive(&mut screen, "01J", Ok(PastedContent::Text("secret".into())));
    assert_eq!(screen.state.input.composer.text(), "secret");
    assert!(screen.screen_text().matches("secret").count() <= 1, "{list}");
    screen.press_key("esc");
    screen.press_key("ctrl-v");
    assert!(screen.effects.contains(&Effect::Request(HostRequest::PasteClipboard)));
}

#[test]
fn a_picture_that_arrives_in_another_session_is_dropped() {
    let mut screen = Screen::new();
    screen.press_key("ctrl-v");
    receive(&mut screen, "01K", picture());
    assert_eq!(screen.state.input.composer.text(), "");
}
