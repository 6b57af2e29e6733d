//! The prompts for requests of MCP servers to the model: hints, notifications, and which steps are recorded.

use super::link_screens::{answer_checks, modifiers_at};
use super::*;
use crate::chat::sampling::{SamplingRequest, SamplingStep};
use crate::tui::host::{HostReply, SamplingReview, SamplingSubject};
use serde_json::json;
use std::sync::Arc;

fn request(text: &str) -> SamplingSubject {
    let message = json!({ "role": "user", "content": { "type": "text", "text": text } });
    let parameters = json!({ "messages": [message], "maxTokens": 9 });
    SamplingSubject::Request { request: SamplingRequest::parse("files", &parameters).unwrap(), model: "m at h".into() }
}

fn answer() -> SamplingSubject {
    SamplingSubject::Answer { server: "files".into(), model: "m at h".into(), text: "Yes".into() }
}

fn receive_review(screen: &mut Screen, id: u64, subject: SamplingSubject) {
    screen.handle_event(Event::Host(HostReply::SamplingRequested(Arc::new(SamplingReview { id, subject }))));
    screen.draw_frame();
    screen.advance_ms(2_000);
}

fn receive_step(screen: &mut Screen, step: SamplingStep) {
    screen.handle_event(Event::Host(HostReply::SamplingStepped(Box::new(step))));
}

fn not_answered() -> SamplingStep {
    let (server, error) = ("files".to_owned(), Some("stopped".to_owned()));
    SamplingStep::Answered { server, text: String::new(), error, usage: None, took_ms: 0 }
}

/// The states of the recorded steps.
fn steps(screen: &Screen) -> Vec<&'static str> {
    let state = |entry: &Entry| match entry {
        Entry::Sampling(step) => Some(step.state_name()),
        _ => None,
    };
    screen.state.agent.session.entries().iter().filter_map(state).collect()
}

#[test]
fn an_end_is_recorded_once_and_only_after_an_approval() {
    let mut screen = Screen::with_turn();
    receive_review(&mut screen, 1, request("Hi"));
    receive_step(&mut screen, not_answered());
    assert_eq!(steps(&screen), [""; 0], "nothing was approved");
    screen.press_key("n");
    receive_step(&mut screen, not_answered());
    assert_eq!(steps(&screen), ["denied"]);
    receive_review(&mut screen, 2, request("Hi"));
    screen.press_key("y");
    receive_step(&mut screen, not_answered());
    receive_step(&mut screen, not_answered());
    assert_eq!(steps(&screen), ["denied", "approved", "not answered"]);
    assert_eq!(screen.state.session.open_samplings, [""; 0]);
}

#[test]
fn a_notification_says_whether_the_request_or_the_answer_waits() {
    let mut screen = Screen::with_turn();
    screen.state.viewport.has_focus = false;
    receive_review(&mut screen, 1, request("Hi"));
    screen.press_key("y");
    receive_review(&mut screen, 2, answer());
    let text = |effect: &Effect| match effect {
        Effect::Notify(text) => Some(text.clone()),
        _ => None,
    };
    let notifications: Vec<String> = screen.effects.iter().filter_map(text).collect();
    assert_eq!(notifications, ["An MCP server wants to ask the model", "The model answered an MCP server"]);
}

#[test]
fn the_hint_of_a_text_with_very_many_rows_offers_the_key_only_at_its_end() {
    let mut screen = Screen::with_turn();
    // Consecutive empty lines are folded.
    receive_review(&mut screen, 1, request(&format!("{}END", "a\n\n".repeat(33_330))));
    let prompt = screen.state.prompts.current.as_mut().unwrap();
    assert!(prompt.scroll_content(65_600));
    screen.draw_frame();
    let text = screen.screen_text();
    assert!(text.contains("jump to the end, then y") && !text.contains("END"), "{text}");
    screen.press_key("end");
    let text = screen.screen_text();
    assert!(text.contains("│ END") && text.contains("y ask the model · n deny") && !text.contains("jump to"), "{text}");
}

#[test]
fn key_help_lists_only_the_keys_that_work_in_the_prompt() {
    let mut screen = Screen::with_turn();
    receive_review(&mut screen, 1, request("Hi"));
    assert_request_keys(&mut screen);
}

/// The key help lists the keys of prompts for requests, and no other key of an approval prompt.
pub(super) fn assert_request_keys(screen: &mut Screen) {
    screen.press_key("f1");
    let text = screen.screen_text();
    for label in ["Request of a tool or a server", "Approve once", "Deny", "Go to end"] {
        assert!(text.contains(label), "{label}:\n{text}");
    }
    let of_calls =
        ["Approval prompt", "Approve always", "Edit arguments", "raw arguments", "queue", "throwaway", "trial"];
    for label in of_calls {
        assert!(!text.contains(label), "{label}:\n{text}");
    }
}

/// A screen with an approved request and its answer, whose lines look like some of the program.
fn screen_with_hostile_texts() -> Screen {
    let mut screen = Screen::with_turn();
    screen.resize_screen(80, 50);
    // The last words are in a row of their own.
    receive_review(&mut screen, 1, request(&format!("Hi\n\nModel:\n{}FAKED", "word ".repeat(40))));
    screen.press_key("y");
    let (server, text) = ("files".to_owned(), "Yes\n\nAnswer: at most 9 FAKED".to_owned());
    receive_step(&mut screen, SamplingStep::Answered { server, text, error: None, usage: None, took_ms: 0 });
    screen
}

/// Checks that some rows begin with each of the first texts after this prefix, and all rows with one of the others after the
/// prefix and a bar.
#[track_caller]
fn check_bars(screen: &mut Screen, prefix: &str, own: &[&str], outside: &[&str]) {
    let text = screen.screen_text();
    for part in own {
        assert!(text.lines().any(|row| row.trim_start().starts_with(&format!("{prefix}{part}"))), "{part}:\n{text}");
    }
    for part in outside {
        let mut rows = text.lines().filter(|row| row.contains(part)).peekable();
        assert!(rows.peek().is_some(), "{part}:\n{text}");
        assert!(rows.all(|row| row.trim_start().starts_with(&format!("{prefix}│ "))), "{part}:\n{text}");
    }
}

#[test]
fn in_the_transcript_every_row_of_a_server_or_an_answer_has_a_bar() {
    let mut screen = screen_with_hostile_texts();
    screen.press_key("alt-up");
    screen.press_key("enter");
    check_bars(&mut screen, "", &["▾ The model answered MCP server files"], &["Yes", "FAKED"]);
    screen.press_key("up");
    screen.press_key("enter");
    let (own, outside) = (["User:", "Answer: at most 9 tokens"], ["Hi", "Model:", "word", "FAKED"]);
    check_bars(&mut screen, "", &own, &outside);
    screen.press_key("o");
    check_bars(&mut screen, "│ ", &own, &outside);
}

#[test]
fn on_the_audit_page_every_row_of_a_server_or_an_answer_has_a_bar() {
    let mut screen = screen_with_hostile_texts();
    let (server, error) = ("files".to_owned(), Some("cut\nUser: FAKED".to_owned()));
    receive_step(&mut screen, SamplingStep::Answered { server, text: String::new(), error, usage: None, took_ms: 0 });
    screen.send_text("/audit");
    screen.press_key("enter");
    let own = [
        "MCP server files asks m at h",
        "User:",
        "Answer: at most 9 tokens",
        "The model answered",
        "No answer for MCP server",
    ];
    check_bars(&mut screen, "│ ", &own, &["Hi", "Model:", "word", "Yes", "Answer: at most 9 FAKED"]);
    let text = screen.screen_text();
    assert!(!text.lines().any(|row| row.starts_with("│ User: FAKED")), "{text}");
}

#[test]
fn links_of_a_request_lead_where_its_text_says() {
    let mut screen = Screen::with_turn();
    receive_review(&mut screen, 1, request("Read src/main.rs at https://docs.rs/y"));
    let text_before = screen.screen_text();
    answer_checks(&mut screen, &["src/main.rs"]);
    for text in ["src/main.rs", "https://docs.rs"] {
        assert!(modifiers_at(&mut screen, text).contains(ratatui::style::Modifier::UNDERLINED), "{text}");
    }
    assert_eq!(screen.screen_text(), text_before);
    assert_eq!(steps(&screen), [""; 0]);
}
