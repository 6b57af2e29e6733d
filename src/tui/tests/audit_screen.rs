//! The list of calls and decisions, and the page of one call.

use super::*;
use crate::tui::host::{HostReply, HostRequest};
use crate::tui::popup::Popup;

/// A session with two calls: one approved with `y`, one interrupted while it waited.
fn screen_with_two_calls() -> Screen {
    let mut screen = Screen::with_turn();
    screen.receive_call("a", "bash_exec", command_intent("cargo test retry"));
    screen.advance_ms(2000);
    screen.press_key("y");
    screen.finish_call("a", Outcome::Done("running 3 tests\nexit 0".into()));
    screen.receive_chunk(Chunk::Call(ToolCall {
        id: "b".into(),
        name: "bash_exec".into(),
        arguments: "{\"command\":\"x \u{202e}\u{1b}[2J\"}".into(),
    }));
    screen.receive_chunk(Chunk::Done(FinishReason::Stop));
    screen.finish_planning("b", command_intent("x \u{202e}\u{1b}[2J"));
    screen.press_key("esc");
    screen.press_key("esc");
    screen
}

#[test]
fn r15_the_list_shows_decisions_and_a_page_shows_all_details() {
    let mut screen = screen_with_two_calls();
    screen.send_text("/audit");
    assert!(screen.effects.contains(&Effect::Request(HostRequest::ReadEntryTimes(SessionId("01J".into())))));
    let list = screen.screen_text();
    assert!(list.contains("Calls and decisions") && list.contains("2 of 2"), "{list}");
    assert!(list.contains("✓ bash_exec  you approved, done · cargo test retry"), "{list}");
    assert!(list.contains("❯ ■ bash_exec  needed approval, interrupted"), "the newest call is selected: {list}");
    screen.press_key("up");
    screen.press_key("enter");
    let page = screen.screen_text();
    for part in [
        "1 of 2 · bash_exec",
        "the model called bash_exec",
        "needed approval: command",
        "you approved once · y · 2 s after it was shown",
        "done in 12 ms",
        "folder     /project · timeout 30 s",
        "unchanged from prompt to run",
        "result     running 3 tests",
    ] {
        assert!(page.contains(part), "{part}: {page}");
    }
    screen.press_key("esc");
    assert!(screen.screen_text().contains("2 of 2"), "back in the list");
    screen.press_key("esc");
    assert!(screen.state.viewport.popups.is_empty());
}

#[test]
fn r32_hostile_text_of_a_call_is_shown_as_marks() {
    let mut screen = screen_with_two_calls();
    screen.send_text("/audit");
    screen.press_key("enter");
    let page = screen.screen_text();
    assert!(page.contains("<U+202E>") && page.contains("<U+001B>[2J"), "{page}");
    assert!(!page.contains('\u{202e}') && !page.contains('\u{1b}'));
}

#[test]
fn times_are_added_when_loaded_and_only_for_this_session() {
    let mut screen = screen_with_two_calls();
    screen.send_text("/audit");
    let entry_times_event = |session: &str, time: &str| {
        let times = screen.state.agent.session.entries().iter().map(|_| time.to_owned()).collect();
        Event::Host(HostReply::EntryTimes(SessionId(session.into()), times))
    };
    let (other_session, this_session) = (entry_times_event("02", "11:11:11"), entry_times_event("01J", "14:02:11"));
    screen.handle_event(other_session);
    assert!(!screen.screen_text().contains("11:11:11"));
    screen.handle_event(this_session);
    let list = screen.screen_text();
    assert_eq!(list.matches("14:02:11").count(), 2, "{list}");
    screen.press_key("enter");
    assert!(screen.screen_text().contains("14:02:11   the model called bash_exec"));
}

#[test]
fn the_list_shows_that_it_is_empty_and_draws_at_every_size() {
    let mut screen = Screen::new();
    screen.send_text("/audit");
    assert!(screen.screen_text().contains("No tool calls yet"));
    let mut screen = screen_with_two_calls();
    screen.send_text("/audit");
    for with_page in [false, true] {
        if with_page {
            screen.press_key("enter");
        }
        for (width, height) in [(1, 1), (2, 3), (7, 4), (20, 5), (60, 15), (500, 200), (80, 24)] {
            screen.resize_screen(width, height);
            screen.screen_text();
        }
    }
    let Some(Popup::Reader(reader)) = screen.state.viewport.popups.last() else { panic!("the page is open") };
    assert!(reader.title.contains("2 of 2"));
}

#[test]
fn a_page_fits_every_width() {
    let screen = screen_with_two_calls();
    let records = crate::chat::audit::collect_records(screen.state.agent.session.entries());
    let is_full = false;
    for width in [0, 1, 2, 5, 11, 33, 40, 80] {
        for (record, time) in records.iter().zip(["14:02:11", "21 Nov 2025 14:02:11"]) {
            let page = crate::tui::parts::audit_page::audit_page_lines(record, &|_| time.to_owned(), width, is_full);
            let widest = page.iter().map(|line| crate::text::width::text_width(line)).max().unwrap();
            assert!(widest <= width.max(1), "{width}: {page:#?}");
        }
    }
}

#[test]
fn r35_long_arguments_and_results_are_cut_in_a_short_page() {
    let mut screen = Screen::with_turn();
    let arguments = format!("{{\"of\":\"{}\"}}", "x".repeat(200_000));
    screen.receive_chunk(Chunk::Call(ToolCall { id: "a".into(), name: "bash_exec".into(), arguments }));
    screen.receive_chunk(Chunk::Done(FinishReason::Stop));
    screen.finish_planning("a", command_intent("ls"));
    screen.advance_ms(2000);
    screen.press_key("y");
    screen.finish_call("a", Outcome::Done("one line\n".repeat(9_000)));
    let records = crate::chat::audit::collect_records(screen.state.agent.session.entries());
    let page = |is_full| crate::tui::parts::audit_page::audit_page_lines(&records[0], &|_| String::new(), 77, is_full);
    assert!(page(false).len() < 30, "{:#?}", page(false));
    assert!(page(false).iter().any(|line| line.contains("… 200.0 kB in total; see --json")));
    assert!(page(true).len() > 11_000);
}

#[test]
fn r16_an_answer_is_recorded_with_its_key_and_delay() {
    let answer_decider = |screen: &Screen| {
        let entries = screen.state.agent.session.entries();
        entries.iter().rev().find_map(|entry| match entry {
            Entry::Answered { by, .. } => by.clone(),
            _ => None,
        })
    };
    let screen_with_question = || {
        let mut screen = Screen::with_turn();
        screen.receive_call("q", "ask_question", question_intent());
        screen.advance_ms(2000);
        screen
    };
    let mut screen = screen_with_question();
    screen.press_key("2");
    screen.advance_ms(1000);
    screen.press_key("enter");
    let Some(Decider::User { key, after_ms }) = answer_decider(&screen) else { panic!("it was answered") };
    assert_eq!(key, "enter");
    assert!((3000..3100).contains(&after_ms), "{after_ms}");
    let mut screen = screen_with_question();
    // Esc only parks the question; Alt-X asks whether to decline it, and declining can be taken back for five seconds.
    screen.press_key("esc");
    screen.advance_ms(3000);
    screen.press_key("alt-x");
    screen.advance_ms(1000);
    screen.press_key("x");
    screen.advance_ms(4900);
    assert_eq!(answer_decider(&screen), None, "it can still be brought back");
    screen.advance_ms(200);
    let Some(Decider::User { key, after_ms }) = answer_decider(&screen) else { panic!("it was declined") };
    assert_eq!(key, "x");
    // Counted from when the prompt was shown again.
    assert!((6000..6200).contains(&after_ms), "{after_ms}");
}

#[test]
fn r21_prompt_details_name_files_and_variables_without_values() {
    let Intent::Act(mut plan) = command_intent("sh x.sh") else { panic!("a command acts") };
    plan.preconditions = Preconditions {
        files: vec![FileSnapshot {
            path: "x.sh".into(),
            content: FileContent::from_bytes(Some(b"ls\n")),
            new_sha256: None,
            may_grow: false,
        }],
        environment: vec!["HOME".into(), "PATH".into()],
        restricted_path: None,
        is_partial: true,
        ..Preconditions::default()
    };
    let mut screen = Screen::with_turn();
    screen.receive_call("a", "bash_exec", Intent::Act(plan));
    screen.advance_ms(2000);
    assert!(!screen.screen_text().contains("2 environment variables"));
    screen.press_key("d");
    let text = screen.screen_text();
    for part in [
        "in /project · timeout 30 s",
        "file x.sh · 3 bytes · sha256",
        "rechecked before the call",
        "the call may use files that are not checked",
        "2 environment variables: HOME PATH",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
}

/// A session in which the model called a tool `count` times, with `text` as arguments and result.
fn screen_with_calls(count: usize, name: &str, text: &str) -> Screen {
    let mut entries = vec![user_message("go")];
    for n in 0..count {
        let id = CallId(format!("c{n}"));
        let call = ToolCall { id: id.clone(), name: name.into(), arguments: text.into() };
        let mut reply = reply_entry("");
        if let Entry::Replied { calls, .. } = &mut reply {
            calls.push(call);
        }
        entries.push(reply);
        let outcome = Outcome::Done(text.into());
        entries.push(Entry::Settled {
            call: id,
            outcome,
            took_ms: 1,
            sha256: Digest::default(),
            staged: None,
            usage: None,
        });
    }
    entries.push(turn_end());
    Screen::with_entries(entries)
}

#[test]
fn a_list_of_twenty_thousand_calls_opens_at_its_end() {
    let mut screen = screen_with_calls(20_000, "read_file", "{}");
    screen.send_text("/audit");
    let list = screen.screen_text();
    assert!(list.contains("20000 of 20000") && list.contains("✓ read_file"), "{list}");
    screen.press_key("enter");
    assert!(screen.screen_text().contains("20000 of 20000 · read_file"), "{}", screen.screen_text());
    screen.press_key("esc");
    screen.press_key("ctrl-home");
    screen.press_key("enter");
    assert!(screen.screen_text().contains("1 of 20000 · read_file"), "{}", screen.screen_text());
    assert_eq!(screen.state.next_change(), None, "reading causes no wake-ups");
}

#[test]
fn r32_hostile_names_and_very_long_lines_stay_in_their_rows() {
    let hostile = "x\u{202e}\u{2066}\x1b[2J\u{9b}31m\u{7}\n╰─ y yes ─╯\u{200b}\u{e0041}";
    for text in [hostile.to_owned(), format!("{hostile}{}", "y".repeat(100_000))] {
        let mut screen = screen_with_calls(3, hostile, &text);
        for (width, height) in [(60, 15), (120, 36), (20, 6)] {
            screen.resize_screen(width, height);
            screen.send_text("/audit");
            assert_eq!(screen.state.viewport.popups.len(), 1, "{}", screen.screen_text());
            for chord in ["enter", "end", "esc"] {
                let screen_text = screen.screen_text();
                let is_hidden =
                    |c: char| c != '\n' && (c.is_control() || "\u{202e}\u{2066}\u{200b}\u{e0041}".contains(c));
                assert!(!screen_text.contains(is_hidden), "{screen_text:?}");
                screen.press_key(chord);
            }
            screen.press_key("esc");
            screen.press_key("esc");
        }
    }
}

/// The page is laid out for the width of the terminal, also when that changes while the page is open.
#[test]
fn an_open_page_follows_the_width_of_the_terminal() {
    let mut screen = Screen::with_turn();
    screen.receive_call("a", "bash_exec", command_intent("make"));
    screen.advance_ms(2000);
    screen.press_key("y");
    let output = "a line with some words that has to be broken between two of its words\n\tindented\nexit 0";
    screen.finish_call("a", Outcome::Done(output.into()));
    screen.send_text("/audit");
    screen.press_key("enter");
    for (width, height) in [(80, 24), (50, 30), (120, 36), (44, 30), (60, 30)] {
        screen.resize_screen(width, height);
        let page = screen.screen_text();
        let rows: Vec<&str> = page.lines().map(|row| row.trim_matches(['│', ' '])).collect();
        let start = rows.iter().position(|row| row.starts_with("result ")).unwrap_or_else(|| panic!("{width}: {page}"));
        let indent = page.lines().nth(start).map_or(0, |row| row.chars().take_while(|c| *c != 'a').count());
        let result: Vec<&str> = page.lines().skip(start).collect();
        let words: String = rows[start..].join(" ");
        let words = words.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(
            words.contains("result a line with some words that has to be broken between two of its words"),
            "{page}"
        );
        // Every row of the result starts below its first word.
        for row in result.iter().skip(1).take_while(|row| !row.contains("exit 0")) {
            let text_start = row.chars().skip(1).take_while(|c| *c == ' ').count() + 1;
            let expected = if row.contains("indented") { indent + 4 } else { indent };
            assert_eq!(text_start, expected, "{width}: {page}");
        }
    }
}

#[test]
fn a_failed_command_has_its_exit_status_in_the_list_and_on_its_page() {
    let mut screen = Screen::with_turn();
    screen.receive_call("a", "bash_exec", command_intent("cargo test retry"));
    screen.advance_ms(2000);
    screen.press_key("y");
    screen.finish_call("a", Outcome::Done("1 test failed\nexit 101".into()));
    screen.send_text("/audit");
    let list = screen.screen_text();
    assert!(list.contains("✗ bash_exec  you approved, exit 101 · cargo test retry"), "{list}");
    screen.press_key("enter");
    let page = screen.screen_text();
    assert!(page.contains("exit 101 in 12 ms") && !page.contains("done in"), "{page}");
}
