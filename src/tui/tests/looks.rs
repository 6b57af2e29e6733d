//! Layout: fixed columns, blank rows, and a single style for the row of the cursor.

use super::*;
use ratatui::style::Color;

/// Returns the line of the screen that contains `words`.
fn line(shows: &str, words: &str) -> String {
    shows.lines().find(|line| line.contains(words)).unwrap_or_else(|| panic!("{words}: {shows}")).to_owned()
}

#[test]
fn picking_an_option_does_not_move_its_label() {
    let mut screen = Screen::new();
    screen.says("go");
    screen.calls("a", "ask_question", question());
    screen.waits(2000);
    let before = line(&screen.shows(), "virtual time");
    screen.presses("1");
    let after = line(&screen.shows(), "virtual time");
    assert!(after.contains("✓ tokio"), "{after}");
    assert_eq!(before.replace("  tokio", "✓ tokio"), after);
}

#[test]
fn an_open_question_is_shown_only_in_its_prompt() {
    let mut screen = Screen::new();
    screen.says("go");
    screen.calls("a", "ask_question", question());
    screen.waits(2000);
    assert!(!screen.shows().contains("ask_question"), "{}", screen.shows());
}

#[test]
fn the_row_of_the_cursor_has_one_style_in_every_theme() {
    for theme in Themes::bundled().all {
        let mut screen = Screen::new();
        screen.state.theme = theme;
        screen.says("go");
        screen.calls("a", "ask_question", question());
        screen.waits(2000);
        let rows = |screen: &mut Screen, words: &str| {
            let buffer = screen.frame();
            let width = usize::from(buffer.area.width);
            let row = text(&buffer).lines().position(|line| line.contains(words)).expect("it is drawn");
            let cells = &buffer.content[row * width..(row + 1) * width];
            let drawn = |cell: &&ratatui::buffer::Cell| !"│ ".contains(cell.symbol());
            cells.iter().filter(drawn).map(|cell| (cell.fg, cell.bg)).collect::<Vec<(Color, Color)>>()
        };
        let mut same = rows(&mut screen, "virtual time");
        same.dedup();
        assert_eq!(same.len(), 1, "{}: {same:?}", screen.state.theme.name);
    }
}

fn thinks(reasoning: &str, text: &str, ms: u64) -> Entry {
    match replied(text) {
        Entry::Replied { calls, incomplete, model, usage, .. } => Entry::Replied {
            text: text.into(),
            reasoning: reasoning.into(),
            calls,
            incomplete,
            model,
            usage,
            thought_ms: ms,
            echo: None,
        },
        other => other,
    }
}

#[test]
fn reasoning_is_separate_and_shows_its_time_only_if_long() {
    let mut screen = Screen::with([said("go"), thinks("hm", "Short.", 580), ended()]);
    let shows = screen.shows();
    assert!(shows.contains(" ▌ go\n\n   ▸ thought\n\n Short."), "{shows}");
    let mut screen = Screen::with([said("go"), thinks("hm", "Long.", 3100), ended()]);
    assert!(screen.shows().contains("   ▸ thought for 3.1 s\n\n Long."), "{}", screen.shows());
}

#[test]
fn reasoning_after_calls_is_grouped_with_them_live_and_later() {
    let mut screen = Screen::new();
    screen.says("go");
    screen.calls("a", "read_file", read("src/a.rs"));
    screen.finished("a", Outcome::Done("text".into()));
    screen.chunk(Chunk::Reasoning("hm".into()));
    screen.chunk(Chunk::Text("Found it.".into()));
    screen.waits(10_000);
    let live = screen.shows();
    screen.chunk(Chunk::Done(Finish::Stop));
    let later = screen.shows();
    for shows in [live, later] {
        let row = line(&shows, "read_file");
        assert!(shows.contains(&format!("{row}\n   ▸ thought for 3 s\n\n Found it.")), "{shows}");
    }
}

#[test]
fn a_long_title_is_cut_not_removed() {
    let mut screen = Screen::with([said("go"), replied("Yes."), ended()]);
    let title = "why the retry test flakes on a machine that is busy with other things";
    screen.happens(Event::Agent(agent::Event::Titled(title.into())));
    let head = |screen: &mut Screen| screen.shows().lines().next().unwrap_or_default().to_owned();
    screen.resized(60, 15);
    assert_eq!(head(&mut screen), " aye · why the retry test f…  gpt-5-mini · ~/project ⎇ main");
    screen.resized(80, 24);
    let shows = head(&mut screen);
    assert!(
        shows.starts_with(" aye · why the retry test flakes on a") && shows.ends_with("⎇ main"),
        "{shows}"
    );
    screen.resized(120, 24);
    assert!(head(&mut screen).contains(title));
}

#[test]
fn a_toast_is_readable_while_a_list_is_open() {
    let mut screen = Screen::new();
    screen.presses("alt-m");
    screen.happens(Event::Host(crate::tui::host::Reply::Notice("The models could not be listed.".into())));
    assert!(screen.shows().contains("The models could not be listed."), "{}", screen.shows());
}

#[test]
fn a_small_screen_has_no_blank_rows() {
    let mut screen = Screen::new();
    screen.resized(60, 15);
    let shows = screen.shows();
    assert_eq!(shows.matches("────────────────────").count(), 3, "only the rule below the header: {shows}");
}

#[test]
fn a_denied_call_shows_the_users_message() {
    for (words, expected) in [("", " denied by you"), ("not now", " denied by you: not now")] {
        let mut screen = Screen::new();
        screen.says("go");
        screen.calls("a", "bash_exec", command("rm -r build"));
        screen.waits(2000);
        screen.presses(if words.is_empty() { "n" } else { "m" });
        screen.types(words);
        if !words.is_empty() {
            screen.presses("enter");
        }
        assert!(line(&screen.shows(), "bash_exec").ends_with(expected), "{}", screen.shows());
    }
}

#[test]
fn an_incomplete_reply_shows_the_reason_once() {
    let mut screen = Screen::new();
    screen.says("go");
    screen.chunk(Chunk::Text("Half a".into()));
    let turn = screen.state.agent.turn().expect("a turn runs");
    screen.happens(Event::Agent(agent::Event::Failed {
        turn,
        why: "the connection was lost".into(),
        too_long: false,
    }));
    screen.waits(10_000);
    assert_eq!(screen.shows().matches("the connection was lost").count(), 1, "{}", screen.shows());
}

#[test]
fn search_text_can_be_pasted() {
    let mut screen = Screen::with((0..500).map(|n| replied(&format!("answer {n}"))).chain([ended()]));
    screen.presses("ctrl-f");
    screen.happens(Event::Pasted("answer 123".into()));
    assert!(screen.shows().contains(" answer 123\n"), "{}", screen.shows());
}

#[test]
fn the_frame_that_shows_the_end_of_a_prompt_offers_approval() {
    let mut screen = Screen::new();
    screen.resized(60, 15);
    screen.says("go");
    screen.calls("a", "bash_exec", command(&vec!["cargo test"; 30].join("\n")));
    screen.waits(2000);
    assert!(screen.shows().contains("end jump to the end, then y approve"), "{}", screen.shows());
    // One frame only, as the event loop draws it.
    screen.happens(Event::Key(key("end")));
    let shows = screen.shows();
    assert!(shows.contains("╰─ y approve"), "{shows}");
}

#[test]
fn the_footer_shows_the_keys_of_a_selected_call() {
    for (width, height) in [(80, 24), (60, 15), (40, 12)] {
        let mut screen = Screen::new();
        screen.resized(width, height);
        screen.says("go");
        screen.calls("a", "read_file", read("src/main.rs"));
        screen.finished("a", Outcome::Done("fn main() {}".into()));
        screen.replies("Done.");
        let foot = |screen: &mut Screen| screen.shows().lines().next_back().unwrap_or_default().to_owned();
        assert!(foot(&mut screen).contains("? help"));
        screen.presses("alt-up");
        let shows = foot(&mut screen);
        assert!(shows.contains("enter open") && shows.contains("esc back"), "{width}: {shows}");
        assert!(!shows.contains("help"), "{width}: {shows}");
        screen.presses("esc");
        assert!(foot(&mut screen).contains("? help"));
    }
}

#[test]
fn the_outcome_of_a_call_with_a_long_command_is_visible() {
    let long = "rm -rf src docs && git push --force origin feature && echo all of it is gone now, is it";
    let cases: [(Mode, &[&str], &str); 3] = [
        (Mode::Ask, &["n"], "denied by you"),
        (Mode::Ask, &["esc", "esc"], "stopped by you"),
        (Mode::Plan, &[], "refused: plan mode"),
    ];
    for (width, height) in [(120, 36), (80, 24), (60, 15)] {
        for (mode, keys, end) in cases {
            let mut screen = Screen::new();
            screen.resized(width, height);
            screen.state.agent.policy.mode = mode;
            screen.says("go");
            screen.calls("a", "bash_exec", command(long));
            screen.waits(2000);
            keys.iter().for_each(|key| screen.presses(key));
            let shows = screen.shows();
            let row = shows.lines().find(|row| row.contains("bash_exec")).unwrap_or_default();
            assert!(row.contains(end) && row.contains(&long[..10]), "{width}: {shows}");
        }
    }
}
