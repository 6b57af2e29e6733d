//! The page of `/context`.

use super::*;
use crate::agent::ContextKind;
use crate::tui::popup::{Popup, ReaderBody};
use serde_json::json;

/// A session in which the model read a file, with the usage that the provider reported for both requests.
fn screen_with_usage() -> Screen {
    let reply = |text: &str, calls: Vec<ToolCall>, input, cached| Entry::Replied {
        text: text.into(),
        reasoning: String::new(),
        calls,
        incomplete: None,
        model: "gpt-5-mini".into(),
        usage: Some(Usage { input, cached, output: 20 }),
        thought_ms: 0,
        echo: None,
    };
    let call = ToolCall { id: "1".into(), name: "read_file".into(), arguments: json!({"path": "a.rs"}).to_string() };
    let settled = Entry::Settled {
        call: "1".into(),
        outcome: Outcome::Done("1\tfn main() {}\n".repeat(100)),
        took_ms: 0,
        sha256: Digest::default(),
        usage: None,
        staged: None,
    };
    let mut screen = Screen::with_entries([
        Entry::UserMessage { text: "why does it\nfail?".into() },
        reply("", vec![call], 500, 0),
        settled,
        reply("Because.", Vec::new(), 1_500, 480),
        Entry::Ended { ending: Ending::Finished },
    ]);
    screen.state.agent.model.context_window = Some(8_000);
    screen.state.session.connection.price = Some((1.0, 0.1, 10.0));
    screen
}

#[test]
fn the_page_shows_the_window_by_part_and_the_cost_of_each_turn() {
    let mut screen = screen_with_usage();
    screen.send_text("/context");
    screen.resize_screen(80, 40);
    let text = screen.screen_text();
    for expected in
        ["of 8.0k tokens", "History", "Free", "2.0k tokens sent, 24 % of it from the cache", "1  why does it", "24 %"]
    {
        assert!(text.contains(expected), "{expected}: {text}");
    }
    screen.press_key("esc");
    assert!(screen.state.viewport.popups.is_empty());
    for name in ["/usage", "/cost", "/tokens"] {
        screen.send_text(name);
        let is_page =
            |popup: &Popup| matches!(popup, Popup::Reader(reader) if matches!(reader.body, ReaderBody::Context(_)));
        assert!(screen.state.viewport.popups.last().is_some_and(is_page), "{name}");
        screen.press_key("esc");
    }
}

#[test]
fn the_parts_add_up_to_the_figure_of_the_footer() {
    let screen = screen_with_usage();
    let (parts, usage) = (screen.state.agent.context_parts(), screen.state.agent.context_usage());
    assert_eq!(parts.iter().map(|part| part.tokens).sum::<u64>(), usage.tokens);
    assert_eq!((usage.tokens, usage.is_estimated), (1_520, false), "{parts:?}");
    // A call that was not planned has no known file.
    assert!(parts.iter().all(|part| part.kind != ContextKind::Files));
    let largest = parts.iter().max_by_key(|part| part.tokens).unwrap();
    assert_eq!((largest.kind, largest.name.as_str()), (ContextKind::History, "results of calls"));
}
