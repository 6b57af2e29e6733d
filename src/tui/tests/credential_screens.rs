//! The prompt for a credential and the popup for a chosen one: typing ahead does not answer a prompt, and the secret is never
//! drawn or saved.

use super::*;
use crate::config::Key;
use crate::tui::host::{CredentialRequest, HostReply, HostRequest, ListedCredential, ListedState};
use std::sync::Arc;

const SECRET: &str = "ghp_s3cret";

fn receive_request(screen: &mut Screen, id: u64, reason: &str) {
    let request = CredentialRequest {
        id,
        name: "github".into(),
        origins: vec!["https://api.github.com".into()],
        reason: reason.to_owned(),
    };
    screen.handle_event(Event::Host(HostReply::CredentialRequested(Arc::new(request))));
    screen.draw_frame();
}

/// A screen with a running turn on which the prompt has just appeared.
pub(super) fn screen_with_prompt() -> Screen {
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
fn key_help_lists_only_the_keys_that_work_in_the_prompt() {
    super::sampling_screens::assert_request_keys(&mut screen_with_prompt());
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

/// Opens the list, in which a credential for these origins is missing, and chooses it.
fn choose_credential(screen: &mut Screen, origins: &[String]) {
    screen.press_key("alt-c");
    let listed = ListedCredential { name: "github".into(), origins: origins.to_vec(), state: ListedState::Missing };
    screen.handle_event(Event::Host(HostReply::Credentials(vec![listed])));
    for chord in ["down", "enter"] {
        screen.press_key(chord);
    }
}

/// Types characters that arrive before the next frame.
fn type_at_once(screen: &mut Screen, text: &str) {
    for character in text.chars() {
        screen.handle_event(Event::Key(KeyEvent::new(KeyCode::Char(character), KeyModifiers::NONE)));
    }
}

fn github_origin() -> Vec<String> {
    vec!["https://api.github.com".into()]
}

/// The secrets that were sent to be stored, with the name and the origins of their credential.
fn stored_secrets(screen: &Screen) -> Vec<(String, Vec<String>, Key)> {
    let stored = |effect: &Effect| match effect {
        Effect::Request(HostRequest::ConnectCredential { name, origins, secret }) => {
            Some((name.clone(), origins.clone(), secret.clone()))
        }
        _ => None,
    };
    screen.effects.iter().filter_map(stored).collect()
}

/// Checks that the secret is in no place but the field.
#[track_caller]
fn assert_not_shown(screen: &mut Screen) {
    let text = screen.screen_text();
    assert!(!text.contains("s3cret") && screen.state.input.composer.is_empty(), "{text}");
    let debug_output =
        format!("{:?}{:?}{:?}", screen.state.viewport.popups, screen.effects, screen.state.input.draft_saving.saved);
    assert!(!debug_output.contains("s3cret"), "{debug_output}");
}

#[test]
fn r57_a_chosen_credential_takes_its_secret_at_once() {
    let mut call_waits = Screen::with_turn();
    call_waits.receive_call("c1", "bash_exec", command_intent("make"));
    for (mut screen, behind) in [
        (Screen::new(), "Write a message"),
        (screen_with_prompt(), "Connect a credential?"),
        (call_waits, "Run a command?"),
    ] {
        screen.advance_ms(600);
        assert!(unwrapped_text(&mut screen).contains(behind));
        choose_credential(&mut screen, &github_origin());
        type_at_once(&mut screen, SECRET);
        let text = unwrapped_text(&mut screen);
        for part in [
            "Enter the secret",
            &"•".repeat(SECRET.len()),
            "github, sent only to https://api.github.com",
            "Sent as a bearer token and stored only for your user",
            "For an API key or a password press esc, then run `aye credentials add`.",
            "enter save and connect · esc back",
        ] {
            assert!(text.contains(part), "{behind}: {part}: {text}");
        }
        assert_not_shown(&mut screen);
        screen.press_key("enter");
        assert_eq!(stored_secrets(&screen), [("github".to_owned(), github_origin(), Key::new(SECRET))], "{behind}");
        assert_not_shown(&mut screen);
        // The prompt that becomes visible is not answered by a key that is still held.
        for chord in ["enter", "y"] {
            screen.press_key(chord);
        }
        assert!(answers(&screen).is_empty() && screen.count_decisions() == 0 && stored_secrets(&screen).len() == 1);
    }
}

#[test]
fn a_chosen_credential_explains_why_a_secret_is_rejected() {
    for (width, height) in [(80, 24), (60, 15), (40, 12)] {
        let mut screen = Screen::new();
        screen.resize_screen(width, height);
        choose_credential(&mut screen, &github_origin());
        let rows = |screen: &mut Screen| screen.screen_text().matches('│').count();
        let rows_before = rows(&mut screen);
        screen.press_key("enter");
        let text = unwrapped_text(&mut screen);
        assert!(text.contains("Enter the secret") && text.contains("Cannot use this secret: it is empty"), "{text}");
        assert!(rows(&mut screen) > rows_before, "without a problem no row is left for it: {text}");
        screen.handle_event(Event::Pasted("ghp\ns3cret\n".to_owned()));
        assert!(!unwrapped_text(&mut screen).contains("it is empty"), "{text}");
        screen.press_key("enter");
        let text = unwrapped_text(&mut screen);
        assert!(text.contains("Cannot use this secret: it contains a space, a line break or"), "{text}");
        assert_not_shown(&mut screen);
        screen.press_key("ctrl-u");
        screen.handle_event(Event::Pasted(format!("{SECRET}\n")));
        screen.press_key("enter");
        assert_eq!(stored_secrets(&screen).len(), 1);
    }
}

#[test]
fn r57_no_part_of_a_pasted_secret_leaves_the_field() {
    let mut screen = Screen::new();
    choose_credential(&mut screen, &github_origin());
    // The pieces of a paste that the terminal does not mark, over a slow connection.
    for piece in ["ghp_", "s3cret"] {
        screen.handle_event(Event::TooFast);
        type_at_once(&mut screen, piece);
        screen.press_key("enter");
        let text = unwrapped_text(&mut screen);
        assert!(text.contains("Enter the secret") && text.contains("Too fast after a paste, not counted"), "{text}");
        screen.advance_ms(30);
    }
    assert_not_shown(&mut screen);
    screen.advance_ms(600);
    screen.press_key("enter");
    assert_eq!(stored_secrets(&screen), [("github".to_owned(), github_origin(), Key::new(SECRET))]);
}

#[test]
fn a_chosen_credential_is_cancelled_and_its_secret_forgotten() {
    let mut screen = Screen::with_turn();
    choose_credential(&mut screen, &github_origin());
    screen.type_text(SECRET);
    screen.press_key("esc");
    // Repeats of the held key do not stop the turn.
    for _ in 0..3 {
        screen.advance_ms(30);
        screen.press_key("esc");
    }
    assert!(!screen.state.agent.is_idle() && stored_secrets(&screen).is_empty());
    assert_not_shown(&mut screen);
    screen.advance_ms(600);
    choose_credential(&mut screen, &github_origin());
    assert!(!unwrapped_text(&mut screen).contains('•'), "the cancelled secret is gone");
}

#[test]
fn a_connected_credential_is_reported_once() {
    let mut screen = Screen::new();
    screen.handle_event(Event::Host(HostReply::CredentialConnected("github".into())));
    screen.press_key("alt-c");
    let listed = ListedCredential { name: "github".into(), origins: github_origin(), state: ListedState::Connected };
    screen.handle_event(Event::Host(HostReply::Credentials(vec![listed])));
    for chord in ["down", "enter"] {
        screen.press_key(chord);
    }
    let text = screen.screen_text();
    assert_eq!(text.matches("github is connected").count(), 1, "{text}");
}

#[test]
fn r57_no_late_reply_takes_the_keys_of_a_secret() {
    for chord in ["down", "up"] {
        let mut screen = Screen::new();
        screen.send_text("/connect");
        let listed = ListedCredential { name: "github".into(), origins: github_origin(), state: ListedState::Missing };
        screen.handle_event(Event::Host(HostReply::Credentials(vec![listed])));
        screen.press_key(chord);
        screen.press_key("enter");
        screen.type_text("ghp_");
        for reply in [
            HostReply::Opened(Box::new(fast_typing::opened_session(None))),
            HostReply::TextPage("Tools of the model", "a tool".into()),
            HostReply::TextPage("Rules in effect", "a rule".into()),
        ] {
            screen.handle_event(Event::Host(reply));
        }
        screen.type_text("s3cret");
        assert!(unwrapped_text(&mut screen).contains(&"•".repeat(SECRET.len())));
        assert_not_shown(&mut screen);
        screen.press_key("esc");
        let text = screen.screen_text();
        assert!(text.contains("Rules in effect") && text.contains("a rule"), "{text}");
    }
}

#[test]
fn all_origins_of_a_chosen_credential_can_be_read() {
    let origins: Vec<String> = (1..=40).map(|number| format!("https://service-{number}.example")).collect();
    for size in [(80, 24), (60, 15)] {
        let mut screen = Screen::new();
        screen.resize_screen(size.0, size.1);
        choose_credential(&mut screen, &origins);
        let mut seen = unwrapped_text(&mut screen);
        assert!(seen.contains("lines below") && !seen.contains("service-40"), "{size:?}: {seen}");
        for _ in 0..9 {
            screen.press_key("page-down");
            seen += &unwrapped_text(&mut screen);
        }
        for origin in &origins {
            assert!(seen.contains(origin), "{size:?}: {origin}: {seen}");
        }
        assert!(unwrapped_text(&mut screen).contains("aye credentials add"));
    }
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
        let mut screen = Screen::new();
        screen.resize_screen(width, height);
        choose_credential(&mut screen, &[format!("https://\u{1b}[2J\u{202e}{}", "long ".repeat(99))]);
        screen.type_text(SECRET);
        let text = screen.screen_text();
        assert!(!text.contains('\u{1b}') && !text.contains('\u{202e}'), "{text}");
        assert_not_shown(&mut screen);
    }
}
