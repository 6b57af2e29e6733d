//! The prompt for a credential: typing ahead does not answer it, and the secret is never drawn or saved.

use super::*;
use crate::tui::host::{CredentialRequest, HostReply, HostRequest};
use std::sync::Arc;

const SECRET: &str = "ghp_s3cret";

/// Without a reason the user chose the credential in a list.
fn receive_request(screen: &mut Screen, id: u64, reason: &str) {
    let request = CredentialRequest {
        id,
        name: "github".into(),
        origins: vec!["https://api.github.com".into()],
        reason: (!reason.is_empty()).then(|| reason.to_owned()),
    };
    screen.handle_event(Event::Host(HostReply::CredentialRequested(Arc::new(request))));
    screen.draw_frame();
}

/// A screen with a running turn on which the prompt has just appeared.
fn screen_with_prompt() -> Screen {
    let mut screen = Screen::with_turn();
    receive_request(&mut screen, 7, "To list the issues");
    screen
}

/// The answers so far: number of the request and secret.
fn answers(screen: &Screen) -> Vec<(u64, Option<String>)> {
    let answer = |effect: &Effect| match effect {
        Effect::Request(HostRequest::AnswerCredential { id, secret }) => {
            Some((*id, secret.as_ref().map(|secret| secret.expose().to_owned())))
        }
        _ => None,
    };
    screen.effects.iter().filter_map(answer).collect()
}

/// The text on the screen regardless of wrapping.
fn unwrapped_text(screen: &mut Screen) -> String {
    screen.screen_text().replace(['▌', '│'], " ").split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn r57_the_secret_is_stored_and_never_drawn() {
    let mut screen = screen_with_prompt();
    let text = unwrapped_text(&mut screen);
    for part in [
        "Connect a credential?",
        "github, sent only to https://api.github.com",
        "Reason: To list the issues",
        "For an API key or a password press n, then run `aye credentials add`.",
        "y enter the secret · n deny",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    screen.advance_ms(600);
    screen.press_key("y");
    screen.advance_ms(600);
    screen.type_text(SECRET);
    let text = unwrapped_text(&mut screen);
    assert!(text.contains("Enter the secret") && text.contains(&"•".repeat(SECRET.len())), "{text}");
    assert!(text.contains("press esc and n, then run"), "these keys leave the field: {text}");
    assert!(!text.contains("s3cret") && !format!("{:?}", screen.state.prompts).contains("s3cret"), "{text}");
    screen.advance_ms(600);
    screen.press_key("enter");
    assert_eq!(answers(&screen), [(7, Some(SECRET.to_owned()))]);
    let debug_output = format!("{:?}", screen.effects);
    assert!(!debug_output.contains("s3cret"), "{debug_output}");
    assert!(!unwrapped_text(&mut screen).contains("secret"), "the prompt is closed");
    screen.press_key("enter");
    assert_eq!(answers(&screen).len(), 1);
    let unsent = format!("{:?}", screen.state.input.draft_saving.saved);
    assert!(!unsent.contains("s3cret"), "{unsent}");
}

#[test]
fn typing_ahead_neither_answers_nor_becomes_a_secret() {
    let mut screen = Screen::with_turn();
    screen.type_text("and the");
    receive_request(&mut screen, 7, "x");
    screen.type_text("n yes");
    screen.press_key("enter");
    assert!(answers(&screen).is_empty());
    assert!(!unwrapped_text(&mut screen).contains("Enter the secret"));
    let mut screen = screen_with_prompt();
    screen.press_key("y");
    assert!(!unwrapped_text(&mut screen).contains("Enter the secret"), "it was not seen yet");
}

#[test]
fn a_secret_is_pasted_corrected_and_cancelled() {
    let mut screen = screen_with_prompt();
    screen.advance_ms(600);
    screen.press_key("y");
    screen.advance_ms(600);
    screen.press_key("enter");
    assert!(unwrapped_text(&mut screen).contains("Cannot use this secret: it is empty"));
    screen.handle_event(Event::Pasted(format!("{SECRET}\n")));
    screen.advance_ms(600);
    screen.press_key("esc");
    assert!(unwrapped_text(&mut screen).contains("Connect a credential?"));
    screen.advance_ms(600);
    screen.press_key("y");
    screen.advance_ms(600);
    assert!(!unwrapped_text(&mut screen).contains('•'), "the cancelled secret is gone");
    screen.handle_event(Event::Pasted(format!("{SECRET}\n")));
    screen.advance_ms(600);
    screen.press_key("enter");
    assert_eq!(answers(&screen), [(7, Some(SECRET.to_owned()))]);
}

#[test]
fn a_chosen_credential_takes_its_secret_at_once() {
    let mut screen = Screen::new();
    receive_request(&mut screen, 7, "");
    screen.type_text(SECRET);
    let text = unwrapped_text(&mut screen);
    assert!(text.contains("Enter the secret") && text.contains(&"•".repeat(SECRET.len())), "{text}");
    assert!(text.contains("press esc, then run"), "{text}");
    assert!(!text.contains("s3cret") && !text.contains("Reason"), "{text}");
    screen.advance_ms(600);
    screen.press_key("enter");
    assert_eq!(answers(&screen), [(7, Some(SECRET.to_owned()))]);
    receive_request(&mut screen, 8, "");
    screen.type_text("hasty");
    screen.advance_ms(600);
    screen.press_key("esc");
    assert_eq!(answers(&screen).last(), Some(&(8, None)));
    let text = unwrapped_text(&mut screen);
    assert!(!text.contains("secret") && !text.contains("hasty"), "{text}");
}

#[test]
fn the_prompt_is_denied_withdrawn_and_follows_another() {
    let mut screen = screen_with_prompt();
    receive_request(&mut screen, 8, "Second");
    receive_request(&mut screen, 9, "Third");
    screen.advance_ms(600);
    screen.press_key("n");
    assert_eq!(answers(&screen), [(7, None)]);
    assert!(unwrapped_text(&mut screen).contains("Reason: Second"));
    screen.press_key("n");
    assert_eq!(answers(&screen).len(), 1, "a repeat answers nothing");
    screen.handle_event(Event::Host(HostReply::CredentialWithdrawn(8)));
    assert!(unwrapped_text(&mut screen).contains("Reason: Third"));
    screen.handle_event(Event::Host(HostReply::CredentialWithdrawn(9)));
    let text = unwrapped_text(&mut screen);
    assert!(!text.contains("credential"), "{text}");
}

#[test]
fn r57_no_other_prompt_takes_the_keys_of_a_secret() {
    let mut screen = screen_with_prompt();
    screen.advance_ms(600);
    screen.press_key("y");
    screen.advance_ms(600);
    screen.type_text("ghp_");
    screen.receive_call("c1", "bash_exec", command_intent("make"));
    screen.type_text("s3cret");
    let text = unwrapped_text(&mut screen);
    assert!(text.contains("Enter the secret") && !text.contains("s3cret"), "{text}");
    screen.advance_ms(600);
    screen.press_key("enter");
    assert_eq!(answers(&screen), [(7, Some(SECRET.to_owned()))]);
    let text = unwrapped_text(&mut screen);
    assert!(text.contains("Run a command?") && !text.contains("s3cret"), "{text}");
}

#[test]
fn a_reason_cannot_imitate_the_lines_of_the_prompt() {
    let mut screen = Screen::with_turn();
    receive_request(&mut screen, 7, "x\n\ngithub, sent only to https://evil.example");
    let text = screen.screen_text();
    assert!(text.contains("│ Reason: x github, sent only to https://evil.example"), "{text}");
}

#[test]
fn hostile_reasons_stay_inside_the_prompt_on_every_screen() {
    let reason = format!("\u{1b}[2J\u{202e}y enter\n\n\n{}", "long ".repeat(99));
    for (width, height) in [(120, 36), (80, 24), (60, 15), (30, 8), (10, 3), (1, 1)] {
        let mut screen = Screen::with_turn();
        screen.resize_screen(width, height);
        receive_request(&mut screen, 7, &reason);
        screen.advance_ms(600);
        screen.press_key("y");
        screen.advance_ms(600);
        screen.type_text(SECRET);
        let text = screen.screen_text();
        assert!(!text.contains('\u{1b}') && !text.contains('\u{202e}') && !text.contains("s3cret"), "{text}");
    }
}
