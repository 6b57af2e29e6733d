//! `aye replay`: recordings played in a terminal, whatever is in them.

use crate::support::program::{Program, Setup};
use rustix::process::Signal;
use serde_json::json;

/// Sequences that would change the terminal if they reached it.
const HOSTILE: &str = "\u{1b}]0;stolen title\u{7}\u{1b}]52;c;c3RvbGVu\u{7}\u{1b}[6n\u{1b}P+q544e\u{1b}\\\u{1b}[?1049l\u{1b}c\u{1b}]8;;http://evil.example/\u{7}link\u{1b}]8;;\u{7}\u{1b}[8;5;5t\u{1b}[21t\u{1b}[5i";

/// A recording whose frames name their times.
fn demo(columns: u16, rows: u16) -> String {
    let header = json!({ "version": 2, "width": columns, "height": rows, "title": "My demo" });
    let events = [
        json!([0, "o", format!("{HOSTILE}\u{1b}[?25lframe zero")]),
        json!([60, "m", "Middle"]),
        json!([60, "o", "\r\nframe sixty"]),
        json!([100, "o", format!("\u{1b}[{rows};1H\u{1b}[?25hthe last row")]),
    ];
    format!("{header}\n{}\n", events.map(|event| event.to_string()).join("\n"))
}

fn start(text: &str, size: (u16, u16)) -> Program {
    Setup::new(&["replay", "demo.cast"]).with_file("demo.cast", text).size(size.0, size.1).start()
}

#[test]
fn keys_move_search_and_quit() {
    let mut program = start(&demo(70, 8), (110, 24));
    program.until("frame zero");
    program.until("playing 0:00 / 1:40");
    program.until("My demo");
    program.press_keys(" ");
    program.until("paused");
    program.press_keys("]");
    program.until("1:00 / 1:40");
    program.until("1/1 Middle");
    program.until("frame sixty");
    program.press_keys("0");
    program.until("paused 0:00");
    assert!(!program.screen().contains("sixty"));
    program.press_keys("/");
    program.until("search: ");
    program.press_keys("LAST row");
    program.until("search: LAST row");
    program.press_keys("\r");
    program.until("1:40 / 1:40");
    assert!(program.screen().contains("the last row"));
    program.press_keys("+");
    program.until("1.5×");
    program.press_keys("q");
    assert_eq!(program.wait_for_exit(), 0);
    assert!(program.is_restored() && program.is_echoing());
}

#[test]
fn sequences_of_a_recording_do_not_reach_the_terminal() {
    let mut program = start(&demo(70, 8), (110, 24));
    program.until("frame zero");
    program.press_keys("9");
    program.until("frame sixty");
    program.press_keys("q");
    assert_eq!(program.wait_for_exit(), 0);
    let bytes = String::from_utf8_lossy(&program.bytes()).into_owned();
    for sequence in [
        "stolen",
        "c3RvbGVu",
        "\u{1b}[6n",
        "\u{1b}P",
        "\u{1b}c",
        "evil.example",
        "\u{1b}[8;5;5t",
        "\u{1b}[21t",
        "\u{1b}[5i",
    ] {
        assert!(!bytes.contains(sequence), "{sequence:?} in {bytes:?}");
    }
    assert!(bytes.contains("link"));
}

#[test]
fn a_smaller_terminal_shows_the_part_with_the_cursor_and_follows_its_size() {
    let mut program = start(&demo(70, 40), (60, 15));
    program.until("frame zero");
    program.until("part of 70x40");
    program.press_keys(" 9");
    program.until("1:30");
    program.press_keys(".");
    program.until("the last row");
    assert!(!program.screen().contains("frame zero"));
    program.resize(90, 45);
    program.until("frame zero");
    program.until("the last row");
    assert!(!program.screen().contains("part of"));
    for (columns, rows) in [(1, 1), (3, 2), (20, 4)] {
        program.resize(columns, rows);
    }
    program.until("last row");
    program.press_keys("\u{3}");
    assert_eq!(program.wait_for_exit(), 0);
}

#[test]
fn signals_and_a_lost_terminal_end_it_and_restore_the_terminal() {
    for (signal, code) in [(Signal::TERM, 143), (Signal::HUP, 129), (Signal::INT, 130)] {
        let mut program = start(&demo(70, 8), (80, 24));
        program.until("frame zero");
        program.signal(signal);
        assert_eq!(program.wait_for_exit(), code);
        assert!(program.is_restored() && program.is_echoing(), "{signal:?}");
    }
}

#[test]
fn without_a_terminal_or_a_recording_it_says_so() {
    let setup = Setup::new(&["replay", "demo.cast"]).with_file("demo.cast", &demo(70, 8));
    let (output, errors, code) = setup.run_piped("");
    assert_eq!((output.as_str(), code), ("", 2));
    assert!(errors.contains("Cannot replay demo.cast: standard input and output are not a terminal."), "{errors}");
    for (text, reason) in [
        ("no recording", "Cannot read demo.cast: line 1 is not the header of an asciicast"),
        ("{\"version\":2,\"width\":0,\"height\":5}\n", "expected 1 to 1000 columns and rows, got 0x5"),
    ] {
        let mut program = start(text, (100, 24));
        assert_eq!(program.wait_for_exit(), 2);
        let screen = program.screen().replace('\n', " ");
        assert!(screen.contains(reason), "{screen}");
        assert!(program.is_restored());
    }
}
