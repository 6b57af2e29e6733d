//! Pasting what is on the system's clipboard.

use super::*;
use crate::tui::host::{HostReply, HostRequest, PastedContent};
use crate::tui::terminal_clipboard::TerminalClipboard;

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
    assert_eq!(screen.effects, [Effect::Request(HostRequest::PasteClipboard(None))]);
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
    assert!(screen.effects.contains(&Effect::Request(HostRequest::PasteClipboard(None))));
}

#[test]
fn a_picture_that_arrives_in_another_session_is_dropped() {
    let mut screen = Screen::new();
    screen.press_key("ctrl-v");
    receive(&mut screen, "01K", picture());
    assert_eq!(screen.state.input.composer.text(), "");
}

fn answer_of_terminal(screen: &mut Screen, content: Result<TerminalClipboard, &str>) {
    screen.effects.clear();
    screen.handle_event(Event::TerminalClipboard(content.map_err(str::to_owned)));
    screen.draw_frame();
}

#[test]
fn the_clipboard_of_a_terminal_on_another_machine_is_pasted() {
    let mut screen = Screen::new();
    (screen.state.settings.reads_terminal_clipboard, screen.state.settings.is_remote) = (true, true);
    // What was not asked for is dropped.
    answer_of_terminal(&mut screen, Ok(TerminalClipboard::Text("unasked".into())));
    assert_eq!(screen.state.input.composer.text(), "");
    screen.effects.clear();
    screen.press_key("ctrl-v");
    assert_eq!(screen.effects, [Effect::ReadTerminalClipboard]);
    assert!(screen.screen_text().contains("may ask you to allow"));
    let png = b"PNG".to_vec();
    answer_of_terminal(&mut screen, Ok(TerminalClipboard::Picture(png.clone())));
    assert_eq!(screen.effects, [Effect::Request(HostRequest::PasteClipboard(Some(png)))]);
    receive(&mut screen, "01J", picture());
    assert_eq!(screen.state.input.composer.text(), "@workspace:///pasted-1.png ");
    // A terminal that did not answer is asked again.
    screen.press_key("ctrl-v");
    screen.effects.clear();
    screen.press_key("ctrl-v");
    assert_eq!(screen.effects, [Effect::ReadTerminalClipboard]);
    answer_of_terminal(&mut screen, Ok(TerminalClipboard::Text("some text".into())));
    assert!(screen.state.input.composer.text().ends_with(".png some text"));
    screen.press_key("ctrl-v");
    answer_of_terminal(&mut screen, Err("the terminal does not allow it"));
    assert!(screen.screen_text().contains("the terminal does not allow it. Paste text"), "{}", screen.screen_text());
}

#[test]
fn a_terminal_here_is_asked_only_if_the_system_has_no_clipboard() {
    let mut screen = Screen::new();
    screen.state.settings.reads_terminal_clipboard = true;
    screen.draw_frame();
    screen.effects.clear();
    screen.press_key("ctrl-v");
    assert!(screen.effects.contains(&Effect::Request(HostRequest::PasteClipboard(None))));
    screen.effects.clear();
    receive(&mut screen, "01J", Err("Cannot read the clipboard: there is none here.".into()));
    assert_eq!(screen.effects, [Effect::ReadTerminalClipboard]);
    answer_of_terminal(&mut screen, Ok(TerminalClipboard::Picture(b"x".to_vec())));
    // Its picture cannot be stored: it is not asked again.
    screen.effects.clear();
    receive(&mut screen, "01J", Err("Cannot read the clipboard: what the terminal sent is no PNG.".into()));
    assert_eq!(screen.effects, []);
    assert!(screen.screen_text().contains("no PNG"));
}
