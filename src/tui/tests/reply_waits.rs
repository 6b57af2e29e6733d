//! The screen while a reply is awaited: countdowns, silence, failures and the keys that work.

use super::*;

/// A screen of this size with a running request.
fn screen_with_request(width: u16, height: u16) -> Screen {
    let mut screen = Screen::new();
    screen.resize_screen(width, height);
    screen.send_text("why does it flake?");
    screen
}

/// Receives the report that the request failed and that attempt number `attempt` of 5 starts after `seconds`.
fn receive_retry(screen: &mut Screen, attempt: u32, seconds: u64) {
    let reason = "the service failed (503): overloaded".into();
    screen.receive_chunk(Chunk::Retrying {
        attempt,
        max_attempts: 5,
        wait: Duration::from_secs(seconds),
        reason,
        kind: String::new(),
    });
    screen.draw_frame();
}

fn fail_turn(screen: &mut Screen, reason: &str) {
    let turn = screen.state.agent.current_turn().expect("a turn runs");
    screen.handle_event(Event::Agent(agent::Event::RequestFailed { turn, reason: reason.into(), too_long: false }));
    screen.draw_frame();
}

/// Returns and removes the effects of the agent; other effects are dropped.
fn take_agent_effects(screen: &mut Screen) -> Vec<agent::Effect> {
    let agent_effects = |effect| if let Effect::Agent(effects) = effect { effects } else { Vec::new() };
    std::mem::take(&mut screen.effects).into_iter().flat_map(agent_effects).collect()
}

#[test]
fn r49_a_countdown_shows_the_reason_and_the_keys() {
    let mut screen = screen_with_request(60, 15);
    receive_retry(&mut screen, 3, 12);
    insta::assert_snapshot!(screen.screen_text(), @r"
     aye · why does it flake?     gpt-5-mini · ~/project ⎇ main
    ────────────────────────────────────────────────────────────
     ▌ why does it flake?

       ↻ the service failed (503): overloaded
         try 3 of 5 in 12 s · alt-r retry now · esc stop







     ❯ Write a message, / for commands, @ for files
     try 3 of 5 in 12 s · alt-r now · esc stops          ? help
    ");
    screen.advance_ms(11_500);
    assert!(
        screen.screen_text().contains("try 3 of 5 in 1 s · alt-r retry now · esc stop"),
        "{}",
        screen.screen_text()
    );
    screen.advance_ms(500);
    assert!(screen.screen_text().contains("retrying, try 3 of 5"), "{}", screen.screen_text());
    screen.receive_chunk(Chunk::Text("Now.".into()));
    assert!(!screen.screen_text().contains("overloaded"), "{}", screen.screen_text());
}

#[test]
fn r49_a_countdown_wakes_the_screen_once_a_second() {
    let mut screen = screen_with_request(80, 24);
    screen.advance_ms(137);
    receive_retry(&mut screen, 2, 40);
    screen.advance_ms(6000);
    let (mut wakeup_count, end) = (0, screen.state.timing.now + Duration::from_secs(20));
    while let Some(next_change) = screen.state.next_change().filter(|at| *at < end) {
        assert!(next_change > screen.state.timing.now, "the loop would never end");
        screen.handle_event(Event::Tick(next_change));
        let now = screen.state.timing.now;
        screen.draw_frame();
        assert_eq!(now, screen.state.timing.now);
        wakeup_count += 1;
    }
    assert!((19..=21).contains(&wakeup_count), "{wakeup_count} times in twenty seconds");
}

#[test]
fn r49_alt_r_retries_now_and_esc_stops() {
    let mut screen = screen_with_request(80, 24);
    take_agent_effects(&mut screen);
    screen.press_key("alt-r");
    assert_eq!(take_agent_effects(&mut screen), [], "nothing failed yet");
    receive_retry(&mut screen, 2, 3000);
    assert!(screen.screen_text().contains("try 2 of 5 in 50 min 0 s"), "{}", screen.screen_text());
    screen.press_key("alt-r");
    assert_eq!(take_agent_effects(&mut screen), [agent::Effect::RetryNow]);
    assert!(screen.screen_text().contains("retrying"), "{}", screen.screen_text());
    screen.press_key("alt-r");
    assert_eq!(take_agent_effects(&mut screen), [], "the request is running already");
    receive_retry(&mut screen, 3, 3000);
    assert!(screen.screen_text().contains("try 3 of 5 in 50 min 0 s"), "{}", screen.screen_text());
    screen.press_key("esc");
    assert!(matches!(take_agent_effects(&mut screen)[0], agent::Effect::CancelTurn { .. }));
    assert!(!screen.screen_text().contains("try 3"), "{}", screen.screen_text());
}

#[test]
fn help_lists_the_retry_key_only_while_it_works() {
    let mut screen = screen_with_request(80, 60);
    let help_lists_retry = |screen: &mut Screen| {
        screen.press_key("f1");
        let text = screen.screen_text();
        screen.press_key("esc");
        text.contains("Retry now")
    };
    assert!(!help_lists_retry(&mut screen));
    receive_retry(&mut screen, 2, 12);
    assert!(help_lists_retry(&mut screen));
    fail_turn(&mut screen, "down");
    assert!(help_lists_retry(&mut screen));
    screen.send_text("more");
    assert!(!help_lists_retry(&mut screen));
}

#[test]
fn a_changed_key_binding_is_shown() {
    let mut screen = screen_with_request(80, 24);
    let overrides = [("retry_now".to_owned(), vec!["f9".to_owned()]), ("stop".to_owned(), vec![])].into();
    screen.state.keys = Keymap::with_overrides(&overrides).0;
    receive_retry(&mut screen, 2, 12);
    let text = screen.screen_text();
    assert!(text.contains("in 12 s · f9 now") && !text.contains("stops"), "{text}");
}

#[test]
fn a_long_silence_is_shown_with_its_limit() {
    let mut screen = screen_with_request(60, 15);
    screen.advance_ms(45_000);
    screen.receive_chunk(Chunk::Silent { silence: Duration::from_secs(45), limit: Duration::from_secs(90) });
    screen.advance_ms(2000);
    insta::assert_snapshot!(screen.screen_text(), @r"
     aye · why does it flake?     gpt-5-mini · ~/project ⎇ main
    ────────────────────────────────────────────────────────────
     ▌ why does it flake?

       … no data for 47 s · timeout at 90 s · esc stop








     ❯ Write a message, / for commands, @ for files
     no data for 47 s · esc stops · ask mode             ? help
    ");
    screen.receive_chunk(Chunk::Silent { silence: Duration::ZERO, limit: Duration::from_secs(90) });
    assert!(screen.screen_text().contains("waiting for gpt-5-mini"), "{}", screen.screen_text());
}

#[test]
fn silence_within_a_reply_is_shown_below_its_text() {
    let mut screen = screen_with_request(80, 24);
    screen.receive_chunk(Chunk::Text("Half a reply".into()));
    screen.receive_chunk(Chunk::Silent { silence: Duration::from_secs(45), limit: Duration::from_secs(90) });
    let text = screen.screen_text();
    let (reply_start, notice_start) = (text.find("Half a reply").unwrap(), text.find("no data for 45 s").unwrap());
    assert!(reply_start < notice_start, "{text}");
    fail_turn(&mut screen, "the service sent nothing for 90 s");
    let text = screen.screen_text();
    assert!(text.contains("Half a reply") && text.contains("… cut short: the service sent nothing"), "{text}");
}

#[test]
fn a_failure_offers_a_retry() {
    let mut screen = screen_with_request(60, 15);
    fail_turn(&mut screen, "the service failed (503): overloaded");
    insta::assert_snapshot!(screen.screen_text(), @r"
     aye · why does it flake?     gpt-5-mini · ~/project ⎇ main
    ────────────────────────────────────────────────────────────
     ▌ why does it flake?

     ✗ the service failed (503): overloaded. No reply received.
       Your message is kept.

       ↻ alt-r retry · alt-m change model · alt-c connect
         provider




     ❯ Write a message, / for commands, @ for files
     ask mode                                            ? help
    ");
    screen.type_text("but wait");
    take_agent_effects(&mut screen);
    screen.press_key("alt-r");
    assert!(
        matches!(&take_agent_effects(&mut screen)[..], [agent::Effect::RequestReply { .. }]),
        "sent without a new message"
    );
    let text = screen.screen_text();
    assert!(text.contains("but wait") && !text.contains("alt-r retry"), "the draft stays: {text}");
    screen.receive_reply("Here.");
    assert!(!screen.screen_text().contains("alt-r retry"));
}

#[test]
fn the_retry_command_sends_the_request_again() {
    let mut screen = screen_with_request(80, 24);
    fail_turn(&mut screen, "down");
    take_agent_effects(&mut screen);
    screen.send_text("/retry");
    assert!(matches!(&take_agent_effects(&mut screen)[..], [agent::Effect::RequestReply { .. }]));
    screen.receive_reply("Here.");
    take_agent_effects(&mut screen);
    screen.send_text("/again");
    assert_eq!(take_agent_effects(&mut screen), []);
    assert!(screen.screen_text().contains("No failed request"), "{}", screen.screen_text());
}

#[test]
fn a_fallback_model_is_announced_and_shown_while_it_answers() {
    let mut screen = screen_with_request(60, 15);
    let fallback_reason = Some("the service failed (503): overloaded".to_owned());
    screen.receive_chunk(Chunk::ModelChosen { model: "llama-3.3-70b".into(), reason: fallback_reason });
    screen.advance_ms(1000);
    screen.receive_chunk(Chunk::Text("Two places:".into()));
    insta::assert_snapshot!(screen.screen_text(), @r"
     aye · why does it flake?  llama-3.3-70b · ~/project ⎇ main
    ────────────────────────────────────────────────────────────
     ▌ why does it flake?

     ↪ the service failed (503): overloaded; fell back to
       llama-3.3-70b

     Two places:





     ❯ Write a message, / for commands, @ for files
     ⠙ llama-3.3-70b replying · 1 s · ask mode           ? help
    ");
    screen.receive_chunk(Chunk::Done(FinishReason::Stop));
    let header = screen.screen_text().lines().next().unwrap().to_owned();
    assert!(header.contains("gpt-5-mini"), "the next turn tries the first model again: {header}");
    screen.send_text("more");
    assert!(screen.screen_text().contains("waiting for gpt-5-mini"), "{}", screen.screen_text());
}

#[test]
fn the_footer_shows_reply_timing_and_drops_the_least_important() {
    let mut screen = screen_with_request(100, 24);
    screen.state.agent.model.context_window = Some(128_000);
    screen.state.session.connection.price = Some((1.0, 1.0, 1.0));
    screen.advance_ms(800);
    screen.receive_chunk(Chunk::Text("a".repeat(80)));
    screen.advance_ms(1000);
    screen.receive_chunk(Chunk::Text("a".repeat(160)));
    let footer = screen.footer_text();
    assert!(footer.contains("replying · 1 s") && footer.contains("first token 0.8 s · ~60 tok/s"), "{footer}");
    screen.advance_ms(1000);
    screen.receive_chunk(Chunk::Usage(Usage { input: 14_000, cached: 0, output: 60 }));
    screen.receive_chunk(Chunk::Done(FinishReason::Stop));
    let footer_at = |width: u16, screen: &mut Screen| {
        screen.resize_screen(width, 24);
        screen.footer_text().split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let expected = "ask mode · ctx 10% · 14.1k tok · $0.01 · first token 0.8 s · 60 tok/s · took 2.8 s ? help";
    assert_eq!(footer_at(100, &mut screen), expected);
    assert_eq!(
        footer_at(80, &mut screen),
        "ask mode · ctx 10% · 14.1k tok · $0.01 · first token 0.8 s · 60 tok/s ? help"
    );
    assert_eq!(footer_at(60, &mut screen), "ask mode · ctx 10% · 14.1k tok · $0.01 · 60 tok/s ? help");
    screen.advance_ms(60_000);
    assert!(screen.footer_text().contains("60 tok/s"), "the figures stay");
    assert_eq!(screen.state.next_change(), None, "and nothing moves");
    screen.send_text("more");
    assert!(!screen.footer_text().contains("tok/s"));
}

#[test]
fn a_hostile_reason_draws_no_control_characters() {
    let mut screen = screen_with_request(60, 15);
    let reason = format!("\u{1b}[2J\u{202e}evil\n\n{}", "x".repeat(300));
    screen.receive_chunk(Chunk::Retrying {
        attempt: 2,
        max_attempts: 5,
        wait: Duration::from_secs(9),
        reason: reason.clone(),
        kind: String::new(),
    });
    assert!(screen.screen_text().contains("try 2 of 5 in 9 s"), "{}", screen.screen_text());
    screen.receive_chunk(Chunk::ModelChosen { model: "m\u{1b}[31m\u{202e}".into(), reason: Some(reason) });
    let text = screen.screen_text();
    assert!(!text.contains(['\u{1b}', '\u{202e}']), "{text}");
}

#[test]
fn stopping_a_countdown_keeps_the_reason_on_screen() {
    let mut screen = screen_with_request(80, 24);
    screen.receive_chunk(Chunk::Retrying {
        attempt: 2,
        max_attempts: 5,
        wait: Duration::from_secs(20),
        reason: "the service asks to wait 20 s (429)".into(),
        kind: String::new(),
    });
    screen.advance_ms(1_000);
    screen.press_key("esc");
    let text = screen.screen_text();
    let expected_parts = ["Stopped while waiting to retry: the service asks to", "wait 20 s (429)"];
    assert!(expected_parts.iter().all(|part| text.contains(part)), "{text}");
}

#[test]
fn zero_and_endless_waits_are_drawn() {
    let mut screen = screen_with_request(60, 15);
    for wait in [Duration::ZERO, Duration::MAX] {
        let reason = String::new();
        screen.receive_chunk(Chunk::Retrying { attempt: 2, max_attempts: 5, wait, reason, kind: String::new() });
        screen.advance_ms(10);
        screen.receive_chunk(Chunk::Silent { silence: wait, limit: wait });
        screen.advance_ms(10);
        assert!(screen.state.next_change().is_some());
        screen.receive_chunk(Chunk::Silent { silence: Duration::ZERO, limit: wait });
    }
    for size in [(1, 1), (8, 3), (20, 6)] {
        screen.resize_screen(size.0, size.1);
        screen.receive_chunk(Chunk::Retrying {
            attempt: 2,
            max_attempts: 5,
            wait: Duration::from_secs(9),
            reason: "w".repeat(99),
            kind: String::new(),
        });
        screen.draw_frame();
    }
}
