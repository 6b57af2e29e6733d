//! ASCII mode: no part of the screen draws characters outside ASCII, except those of messages and replies.

use super::*;

fn check_ascii(screen: &mut Screen, part: &str) {
    screen.state.settings.is_ascii = true;
    screen.state.settings.location = "~/project ⎇ main".into();
    for (width, height) in [(80, 24), (140, 50), (60, 15), (30, 8), (7, 5), (2, 2)] {
        screen.resize_screen(width, height);
        let buffer = screen.draw_frame();
        let non_ascii: Vec<&str> =
            buffer.content.iter().map(|cell| cell.symbol()).filter(|symbol| !symbol.is_ascii()).collect();
        assert!(non_ascii.is_empty(), "{part} at {width}x{height}: {non_ascii:?}\n{}", buffer_text(&buffer));
    }
    screen.resize_screen(80, 24);
}

fn screen_with_prompt(intent: Intent) -> Screen {
    let mut screen = Screen::dry_run();
    // A dry run is checked, because it draws more marks. But only a live session opens approval prompts, so the session
    // is live until the prompt is open.
    screen.state.agent.policy.dry_run = false;
    screen.send_text("go");
    screen.receive_call("a", "bash_exec", intent);
    screen.state.agent.policy.dry_run = true;
    screen.advance_ms(2000);
    assert!(screen.state.agent.waiting_call().is_some());
    screen
}

#[test]
fn the_welcome_screen_and_popups_are_ascii() {
    check_ascii(&mut Screen::new(), "the welcome screen");
    for key in ["f1", "ctrl-p", "alt-s", "alt-t", "alt-m", "ctrl-r", "alt-y", "ctrl-o"] {
        let mut screen =
            Screen::with_entries([user_message("see src/a.rs"), reply_entry("- b\n\n```\nlet x;\n```"), turn_end()]);
        screen.press_key(key);
        check_ascii(&mut screen, key);
    }
    let mut screen = Screen::new();
    screen.type_text("/");
    check_ascii(&mut screen, "completion");
    screen.press_key("esc");
    screen.handle_event(Event::Pasted("line\n".repeat(200)));
    check_ascii(&mut screen, "a paste");
}

#[test]
fn replies_with_all_markdown_elements_are_ascii() {
    let text = "# Head\n\n- one\n  - two\n\n1. x\n\n- [ ] task\n- [x] done\n\n> quote\n\n---\n\n| a | b |\n|:-:|--:|\n\
        | 1 | 2 |\n\n```rust\nfn main() {}\n```\n\n[a](https://a.example/a/very/long/address/that/is/shortened/because/it\
        /is/long) ~~x~~ $x^2$ [^1]\n\n[^1]: note\n\n<b>html</b>\n";
    let endings = [Ending::Failed("no".into()), Ending::Interrupted, Ending::Finished];
    for ending in endings {
        let mut screen = Screen::with_entries([user_message("go"), reply_entry(text), Entry::Ended { ending }]);
        check_ascii(&mut screen, "a reply");
        screen.press_key("ctrl-home");
        check_ascii(&mut screen, "read back");
        screen.press_key("ctrl-f");
        screen.type_text("zz");
        check_ascii(&mut screen, "a search");
    }
}

#[test]
fn calls_with_every_outcome_are_ascii() {
    let outcomes: [fn(String) -> Outcome; 5] =
        [Outcome::Done, Outcome::Failed, Outcome::Refused, Outcome::Rehearsed, Outcome::Interrupted];
    for build_outcome in outcomes {
        let mut screen = Screen::with_turn();
        screen.receive_call("a", "read_file", read_intent("a.rs"));
        screen.finish_call("a", build_outcome("line\n".repeat(300)));
        check_ascii(&mut screen, "a call");
        screen.press_key("alt-up");
        screen.press_key("enter");
        screen.press_key("ctrl-home");
        check_ascii(&mut screen, "an open call");
    }
}

#[test]
fn every_prompt_is_ascii() {
    let long = "echo a very long command ".repeat(60);
    for intent in [command_intent("rm -rf build"), command_intent(&long), question_intent()] {
        for keys in [&[][..], &["a"], &["e"], &["d"], &["m"], &["1"], &["tab"], &["4"], &["esc"]] {
            let mut screen = screen_with_prompt(intent.clone());
            for key in keys {
                screen.press_key(key);
            }
            check_ascii(&mut screen, &format!("a prompt after {keys:?}"));
        }
    }
}

#[test]
fn spinners_and_waits_are_ascii() {
    let mut screen = Screen::with_turn();
    for _ in 0..10 {
        screen.advance_ms(250);
        check_ascii(&mut screen, "the spinner");
    }
    screen.receive_chunk(Chunk::Reasoning("hm".into()));
    check_ascii(&mut screen, "thinking");
    screen.receive_chunk(Chunk::Retrying {
        attempt: 1,
        max_attempts: 3,
        reason: "busy".into(),
        wait: Duration::from_secs(5),
        kind: String::new(),
    });
    check_ascii(&mut screen, "a retry");
    screen.type_text("more");
    screen.press_key("enter");
    check_ascii(&mut screen, "a queued message");
}

#[test]
fn text_in_every_script_is_kept() {
    let mut screen =
        Screen::with_entries([user_message("größe 漢字 שלום"), reply_entry("e\u{301} 👩\u{200d}👧"), turn_end()]);
    screen.state.settings.is_ascii = true;
    let text = screen.screen_text();
    for word in ["größe 漢字 שלום", "e\u{301} 👩\u{200d}👧"] {
        assert!(text.contains(word), "{text}");
    }
}
