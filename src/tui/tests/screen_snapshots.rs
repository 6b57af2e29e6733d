//! Snapshots of the whole screen.

use super::*;

#[test]
fn key_descriptions_wrap_next_to_their_key_on_a_narrow_screen() {
    let mut screen = Screen::new();
    screen.resize_screen(60, 15);
    let text = screen.screen_text();
    assert!(text.contains("\n enter    Send message; only reads run without your\n          approval\n"), "{text}");
}

#[test]
fn the_welcome_screen() {
    let mut screen = Screen::new();
    insta::assert_snapshot!(screen.screen_text(), @r"
     aye                                              gpt-5-mini · ~/project ⎇ main
    ────────────────────────────────────────────────────────────────────────────────



       aye  the terminal copilot that asks first

       Messages go to gpt-5-mini, from your settings.
       ask mode: reads run without approval, everything else asks

       enter    Send message; only reads run without your approval
       ctrl-p   Command palette
       alt-s    Continue another session
       alt-c    Switch provider
       f1       Key help






    ────────────────────────────────────────────────────────────────────────────────
     ❯ Write a message, / for commands, @ for files
     ask mode                                                                ? help
    ");
}

#[test]
fn a_conversation_with_calls() {
    let mut screen = Screen::new();
    screen.send_text("why does it flake?");
    screen.receive_chunk(Chunk::Text("Let me look.".into()));
    screen.receive_call("a", "read_file", read_intent("tests/retry.rs:1-80"));
    screen.finish_call("a", Outcome::Done("1\tlet x = 1;\n2\tlet y = [2]\n[lines 1-2 of 90]\n".into()));
    screen.receive_reply("It **waits** on the real clock.\n\n- `sleep(50)`\n- jitter");
    screen.advance_ms(10_000);
    insta::assert_snapshot!(screen.screen_text(), @r"
     aye · why does it flake?                         gpt-5-mini · ~/project ⎇ main
    ────────────────────────────────────────────────────────────────────────────────
     ▌ why does it flake?

     Let me look.

       ✓ Read tests/retry.rs:1-80                          lines 1–2 of 90 · 12 ms

     It waits on the real clock.

     • sleep(50)
     • jitter









    ────────────────────────────────────────────────────────────────────────────────
     ❯ Write a message, / for commands, @ for files
     ask mode · first token 0 ms · took 0 ms                                 ? help
    ");
}

#[test]
fn an_approval_in_a_small_terminal() {
    let mut screen = Screen::new();
    screen.resize_screen(60, 15);
    screen.send_text("go");
    screen.receive_call("a", "bash_exec", command_intent("cargo test retry"));
    screen.advance_ms(10_000);
    insta::assert_snapshot!(screen.screen_text(), @r"
     aye · go                     gpt-5-mini · ~/project ⎇ main
    ────────────────────────────────────────────────────────────
     ▌ go

       ? Run cargo test retry

    ╭─ Run a command? ─────────────────────────────────────────╮
    │ $ cargo test retry                                       │
    │                                                          │
    │ in /project · timeout 30 s                               │
    │ reason: command                                          │
    ╰─ y approve · e edit · n deny · m message · d details ────╯


     waiting for you · ask mode                         f1 help
    ");
}

#[test]
fn a_dry_run_is_marked_on_every_screen() {
    let mut screen = Screen::dry_run();
    screen.send_text("go");
    screen.receive_call("a", "bash_exec", command_intent("rm -r build"));
    screen.finish_call("a", Outcome::Rehearsed("It would have run.".into()));
    screen.receive_chunk(Chunk::Text("Done that".into()));
    screen.advance_ms(10_000);
    insta::assert_snapshot!(screen.screen_text(), @r"
     aye · [dry run] go                               gpt-5-mini · ~/project ⎇ main
    ────────────────────────────────────────────────────────────────────────────────
     ▌ go

       ◇ Run rm -r build · rehearsed, nothing changed                        12 ms

     Done that














    ────────────────────────────────────────────────────────────────────────────────
     ❯ Write a message, / for commands, @ for files
     DRY RUN · would have asked: 1 · ⠋ replying · 10 s · ask mode            ? help
    ");
}

#[test]
fn a_failure_shows_the_partial_reply() {
    let mut screen = Screen::with_turn();
    screen.receive_chunk(Chunk::Text("Half a".into()));
    let turn = screen.state.agent.current_turn().expect("a turn runs");
    screen.handle_event(Event::Agent(agent::Event::RequestFailed {
        turn,
        reason: "the connection was lost".into(),
        too_long: false,
    }));
    screen.advance_ms(10_000);
    let text = screen.screen_text();
    assert!(text.contains("Half a") && text.contains("… cut short: the connection was lost"), "{text}");
    assert!(text.contains("Partial results are kept"), "{text}");
}

#[test]
fn a_failure_before_any_text_mentions_no_partial_reply() {
    let mut screen = Screen::new();
    screen.send_text("before");
    screen.receive_reply("An answer of the turn before.");
    screen.send_text("go");
    let turn = screen.state.agent.current_turn().expect("a turn runs");
    let reason = "the service refused the key".into();
    screen.handle_event(Event::Agent(agent::Event::RequestFailed { turn, reason, too_long: false }));
    screen.advance_ms(10_000);
    let text = screen.screen_text();
    assert!(text.contains("No reply received. Your message is kept"), "{text}");
    assert!(!text.contains("Partial results"), "{text}");
}

#[test]
fn new_text_does_not_scroll_while_reading_back() {
    let mut screen = Screen::with_entries((0..50).map(|n| reply_entry(&format!("answer {n}"))).chain([turn_end()]));
    screen.send_text("go");
    screen.press_key("page-up");
    screen.advance_ms(10_000);
    let lines_before: Vec<String> = screen.screen_text().lines().skip(2).take(12).map(str::to_owned).collect();
    for n in 0..30 {
        screen.receive_chunk(Chunk::Text(format!("new {n}\n\n")));
        screen.draw_frame();
    }
    screen.receive_chunk(Chunk::Done(FinishReason::Stop));
    let lines_after: Vec<String> = screen.screen_text().lines().skip(2).take(12).map(str::to_owned).collect();
    assert_eq!(lines_before, lines_after);
    assert!(screen.screen_text().contains("new lines ↓"), "{}", screen.screen_text());
    screen.press_key("ctrl-end");
    assert!(screen.screen_text().contains("new 29"));
}

#[test]
fn a_search_shows_its_match() {
    let mut screen = Screen::with_entries((0..500).map(|n| reply_entry(&format!("answer {n}"))).chain([turn_end()]));
    screen.press_key("ctrl-f");
    screen.type_text("answer 123");
    assert!(screen.screen_text().contains("answer 123"), "{}", screen.screen_text());
    screen.press_key("esc");
    assert!(screen.screen_text().contains("answer 123"));
}

#[test]
fn a_selected_call_opens_in_place() {
    let mut screen = Screen::with_turn();
    screen.receive_call("a", "read_file", read_intent("src/a.rs"));
    screen.finish_call("a", Outcome::Done("the whole\nof it".into()));
    screen.receive_reply("Done.");
    assert!(!screen.screen_text().contains("the whole"));
    screen.press_key("alt-up");
    screen.press_key("enter");
    assert!(screen.screen_text().contains("the whole"), "{}", screen.screen_text());
    screen.press_key("enter");
    assert!(!screen.screen_text().contains("the whole"));
}
