//! ASCII mode: no part of the screen draws characters outside ASCII, except those of messages and replies.

use super::*;

fn plain(screen: &mut Screen, what: &str) {
    screen.state.settings.ascii = true;
    screen.state.settings.place = "~/project ⎇ main".into();
    for (width, height) in [(80, 24), (140, 50), (60, 15), (30, 8), (7, 5), (2, 2)] {
        screen.resized(width, height);
        let buffer = screen.frame();
        let strange: Vec<&str> =
            buffer.content.iter().map(|cell| cell.symbol()).filter(|symbol| !symbol.is_ascii()).collect();
        assert!(strange.is_empty(), "{what} at {width}x{height}: {strange:?}\n{}", text(&buffer));
    }
    screen.resized(80, 24);
}

fn asked(intent: Intent) -> Screen {
    let mut screen = Screen::dry();
    screen.says("go");
    screen.calls("a", "bash_exec", intent);
    screen.waits(2000);
    screen
}

#[test]
fn the_first_screen_and_overlays_are_ascii() {
    plain(&mut Screen::new(), "the first screen");
    for key in ["f1", "ctrl-p", "alt-s", "alt-t", "alt-m", "ctrl-r", "alt-y", "ctrl-o"] {
        let mut screen = Screen::with([said("see src/a.rs"), replied("- b\n\n```\nlet x;\n```"), ended()]);
        screen.presses(key);
        plain(&mut screen, key);
    }
    let mut screen = Screen::new();
    screen.types("/");
    plain(&mut screen, "completion");
    screen.presses("esc");
    screen.happens(Event::Pasted("line\n".repeat(200)));
    plain(&mut screen, "a paste");
}

#[test]
fn replies_with_all_markdown_elements_are_ascii() {
    let text = "# Head\n\n- one\n  - two\n\n1. x\n\n- [ ] task\n- [x] done\n\n> quote\n\n---\n\n| a | b |\n|:-:|--:|\n\
        | 1 | 2 |\n\n```rust\nfn main() {}\n```\n\n[a](https://a.example/a/very/long/address/that/is/shortened/because/it\
        /is/long) ~~x~~ $x^2$ [^1]\n\n[^1]: note\n\n<b>html</b>\n";
    let ends = [Ending::Failed("no".into()), Ending::Interrupted, Ending::Finished];
    for ending in ends {
        let mut screen = Screen::with([said("go"), replied(text), Entry::Ended { ending }]);
        plain(&mut screen, "a reply");
        screen.presses("ctrl-home");
        plain(&mut screen, "read back");
        screen.presses("ctrl-f");
        screen.types("zz");
        plain(&mut screen, "a search");
    }
}

#[test]
fn calls_with_every_outcome_are_ascii() {
    let ends: [fn(String) -> Outcome; 5] =
        [Outcome::Done, Outcome::Failed, Outcome::Refused, Outcome::Rehearsed, Outcome::Interrupted];
    for end in ends {
        let mut screen = Screen::new();
        screen.says("go");
        screen.calls("a", "read_file", read("a.rs"));
        screen.finished("a", end("line\n".repeat(300)));
        plain(&mut screen, "a call");
        screen.presses("alt-up");
        screen.presses("enter");
        screen.presses("ctrl-home");
        plain(&mut screen, "an open call");
    }
}

#[test]
fn every_prompt_is_ascii() {
    let long = "echo a very long command ".repeat(60);
    for intent in [command("rm -rf build"), command(&long), question()] {
        for keys in [&[][..], &["a"], &["e"], &["d"], &["m"], &["1"], &["tab"], &["4"], &["esc"]] {
            let mut screen = asked(intent.clone());
            for key in keys {
                screen.presses(key);
            }
            plain(&mut screen, &format!("a prompt after {keys:?}"));
        }
    }
}

#[test]
fn spinners_and_waits_are_ascii() {
    let mut screen = Screen::new();
    screen.says("go");
    for _ in 0..10 {
        screen.waits(250);
        plain(&mut screen, "the spinner");
    }
    screen.chunk(Chunk::Reasoning("hm".into()));
    plain(&mut screen, "thinking");
    screen.chunk(Chunk::Retrying {
        attempt: 1,
        of: 3,
        why: "busy".into(),
        wait: Duration::from_secs(5),
        kind: String::new(),
    });
    plain(&mut screen, "a retry");
    screen.types("more");
    screen.presses("enter");
    plain(&mut screen, "a queued message");
}

#[test]
fn text_in_every_script_is_kept() {
    let mut screen = Screen::with([said("größe 漢字 שלום"), replied("e\u{301} 👩\u{200d}👧"), ended()]);
    screen.state.settings.ascii = true;
    let shows = screen.shows();
    for word in ["größe 漢字 שלום", "e\u{301} 👩\u{200d}👧"] {
        assert!(shows.contains(word), "{shows}");
    }
}
