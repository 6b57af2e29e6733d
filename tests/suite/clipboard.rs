//! Copying a reply to the clipboard of the terminal, and the notification if it is too long.

use crate::support::pick_count;
use crate::support::program::{Program, Setup};
use crate::support::stored_files::wait_for_turns;
use crate::support::terminal_session::{say, says, start_session};

/// Start of the terminal sequence that sets the clipboard.
const OSC_52: &[u8] = b"\x1b]52;";

fn has_copied(bytes: &[u8]) -> bool {
    bytes.windows(OSC_52.len()).any(|window| window == OSC_52)
}

#[test]
fn reports_a_reply_too_long_for_the_clipboard_and_names_a_way_to_print_it() {
    let reply = format!("The beginning. {}The end of it.", "a word and another ".repeat(pick_count(400_000, 60_000)));
    for size in [(100, 24), (60, 15)] {
        let (_runtime, _service, mut program) = start_session(vec![says(&reply), says("A short one.")], size, &[]);
        let setup = Setup::again(&program.place, &[]);
        say(&mut program, "go");
        wait_for_turns(&mut program, &setup, 1);
        program.keys("\x1by");
        let screen_text =
            |program: &mut Program| program.screen().replace('▌', " ").split_whitespace().collect::<Vec<_>>().join(" ");
        program.until_that("the notification appears", |program| screen_text(program).contains("` prints all of it."));
        let notification = screen_text(&mut program);
        assert!(notification.contains("Not copied: ") && !notification.contains("Copied 1 line"), "{notification}");
        assert!(!has_copied(&program.bytes()));
        // The suggested command prints the whole reply.
        let id = notification.split("sessions show ").nth(1).and_then(|rest| rest.get(..26)).expect("an id").to_owned();
        let (out, err, code) = Setup::again(&program.place, &["sessions", "show", &id]).print("");
        assert_eq!((code, err.as_str()), (0, ""));
        let shown: String = out.split_whitespace().collect::<Vec<_>>().join(" ");
        let whole: String = reply.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(shown.contains(&whole), "{} of {} bytes", shown.len(), whole.len());
        // A short reply is copied.
        say(&mut program, "again");
        wait_for_turns(&mut program, &setup, 2);
        program.keys("\x1by");
        program.until("Copied 1 line");
        program.until_that("the reply is on the clipboard", |program| has_copied(&program.bytes()));
    }
}
