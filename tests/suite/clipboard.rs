//! Copying a reply to the clipboard of the terminal, and the notification if it is too long.

use crate::support::pick_count;
use crate::support::program::{Program, Setup};
use crate::support::stored_files::wait_for_turns;
use crate::support::terminal_session::{start_session, submit_message, text_answer};

/// Start of the terminal sequence that sets the clipboard.
const OSC_52: &[u8] = b"\x1b]52;";

fn has_copied(bytes: &[u8]) -> bool {
    bytes.windows(OSC_52.len()).any(|window| window == OSC_52)
}

#[test]
fn reports_a_reply_too_long_for_the_clipboard_and_names_a_way_to_print_it() {
    let reply = format!("The beginning. {}The end of it.", "a word and another ".repeat(pick_count(400_000, 60_000)));
    for size in [(100, 24), (60, 15)] {
        let (_runtime, _service, mut program) =
            start_session(vec![text_answer(&reply), text_answer("A short one.")], size, &[]);
        let setup = Setup::with_home(&program.root, &[]);
        submit_message(&mut program, "go");
        wait_for_turns(&mut program, &setup, 1);
        program.press_keys("\x1by");
        let screen_text =
            |program: &mut Program| program.screen().replace('▌', " ").split_whitespace().collect::<Vec<_>>().join(" ");
        program.until_condition("the notification appears", |program| {
            screen_text(program).contains("` prints all of it.")
        });
        let notification = screen_text(&mut program);
        assert!(notification.contains("Not copied: ") && !notification.contains("Copied 1 line"), "{notification}");
        assert!(!has_copied(&program.bytes()));
        // The suggested command, which ends in an ID of 26 characters, prints the whole reply.
        let id = notification.split("sessions show ").nth(1).and_then(|rest| rest.get(..26)).expect("an id").to_owned();
        let (out, err, code) = Setup::with_home(&program.root, &["sessions", "show", &id]).run_piped("");
        assert_eq!((code, err.as_str()), (0, ""));
        let text: String = out.split_whitespace().collect::<Vec<_>>().join(" ");
        let full_text: String = reply.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(text.contains(&full_text), "{} of {} bytes", text.len(), full_text.len());
        // A short reply is copied.
        submit_message(&mut program, "again");
        wait_for_turns(&mut program, &setup, 2);
        program.press_keys("\x1by");
        program.until("Copied 1 line");
        program.until_condition("the reply is on the clipboard", |program| has_copied(&program.bytes()));
    }
}
