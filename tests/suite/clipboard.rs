//! Copying a reply to the clipboard of the terminal, and the notification if it is too long.

use crate::support::pick_count;
use crate::support::program::{Program, Setup};
#[cfg(feature = "clipboard")]
use crate::support::report_skipped;
use crate::support::stored_files::wait_for_turns;
use crate::support::terminal_session::{start_session, submit_message, text_answer};
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;

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

/// A display without a screen, with a clipboard that holds data of this type.
#[cfg(feature = "clipboard")]
struct Display {
    name: String,
    server: std::process::Child,
}

#[cfg(feature = "clipboard")]
impl Display {
    /// Starts a display; `None`, which is reported, if the programs for that are not installed.
    fn start(media_type: &str, data: &[u8]) -> Option<Self> {
        use std::io::{BufRead, BufReader, Write};
        use std::process::{Command, Stdio};
        let mut server = Command::new("Xvfb");
        server.args(["-displayfd", "1", "-screen", "0", "640x480x24", "-nolisten", "tcp"]);
        let Ok(mut server) = server.stdout(Stdio::piped()).stderr(Stdio::null()).spawn() else {
            report_skipped("Xvfb is not installed, so no clipboard is read");
            return None;
        };
        let mut number = String::new();
        let _ = BufReader::new(server.stdout.take()?).read_line(&mut number);
        let display = Self { name: format!(":{}", number.trim()), server };
        // It answers on, in the background, until the display is gone.
        let mut xclip = Command::new("xclip");
        xclip.args(["-selection", "clipboard", "-t", media_type, "-i"]).env("DISPLAY", &display.name);
        let Ok(mut xclip) = xclip.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).spawn() else {
            report_skipped("xclip is not installed, so no clipboard is read");
            return None;
        };
        xclip.stdin.take()?.write_all(data).ok()?;
        let is_set = xclip.wait().is_ok_and(|status| status.success());
        assert!(is_set && !number.trim().is_empty(), "display {number:?}");
        Some(display)
    }
}

#[cfg(feature = "clipboard")]
impl Drop for Display {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

#[cfg(feature = "clipboard")]
#[test]
fn a_picture_on_the_clipboard_becomes_a_file_of_the_workspace() {
    let png = crate::support::png::striped_png(64, 32);
    let Some(display) = Display::start("image/png", &png) else { return };
    let environment = [("DISPLAY", display.name.as_str()), ("WAYLAND_DISPLAY", "")];
    let (_runtime, service, mut program) = start_session(vec![text_answer("I see.")], (100, 30), &environment);
    program.type_text("what is");
    program.press_keys("\x16");
    program.until("what is @workspace:///pasted-1.png");
    program.press_keys("\x16");
    program.until("@workspace:///pasted-2.png");
    program.press_keys("\r");
    program.until("I see.");
    let text = service.received()[0].body["messages"][1]["content"].to_string();
    assert!(text.contains("@workspace:///pasted-1.png @workspace:///pasted-2.png"), "{text}");
    // Below the message, drawn from the workspace.
    program.until("64 × 32");
    program.until("▀▀▀▀▀▀▀▀");
}

#[cfg(feature = "clipboard")]
#[test]
fn text_on_the_clipboard_is_pasted() {
    let Some(display) = Display::start("UTF8_STRING", "from the clipboard, é".as_bytes()) else { return };
    let environment = [("DISPLAY", display.name.as_str()), ("WAYLAND_DISPLAY", "")];
    let (_runtime, _service, mut program) = start_session(Vec::new(), (100, 30), &environment);
    program.press_keys("\x16");
    program.until("❯ from the clipboard, é");
}

#[cfg(feature = "clipboard")]
#[test]
fn without_a_clipboard_the_user_learns_how_to_paste_text() {
    let environment = [("DISPLAY", ""), ("WAYLAND_DISPLAY", "")];
    let (_runtime, _service, mut program) = start_session(Vec::new(), (100, 30), &environment);
    program.press_keys("\x16");
    program.until("Cannot read the clipboard");
    program.until("terminal's own key");
}

/// kitty over SSH: the clipboard is that of the terminal, which answers in parts, in pieces of any size.
#[test]
fn a_picture_of_a_terminal_on_another_machine_is_pasted() {
    let png = crate::support::png::striped_png(64, 32);
    let environment = [("TERM", "xterm-kitty"), ("SSH_TTY", "/dev/pts/1")];
    let (_runtime, service, mut program) = start_session(vec![text_answer("I see.")], (100, 30), &environment);
    program.type_text("what is");
    program.press_keys("\x16");
    let request = b"\x1b]5522;type=read;aW1hZ2UvcG5nIHRleHQvcGxhaW4=\x1b\\";
    program.until_condition("the terminal is asked", |program| {
        program.bytes().windows(request.len()).any(|window| window == request)
    });
    let packet = |rest: &str| format!("\x1b]5522;type=read:status={rest}\x1b\\");
    let mut answer = packet("OK");
    for chunk in png.chunks(100) {
        answer.push_str(&packet(&format!("DATA:mime=aW1hZ2UvcG5n;{}", BASE64_STANDARD.encode(chunk))));
    }
    answer.push_str(&packet("DONE"));
    for piece in answer.as_bytes().chunks(77) {
        program.send_bytes(std::str::from_utf8(piece).unwrap());
        program.wait_ms(2);
    }
    program.until("what is @workspace:///pasted-1.png");
    program.press_keys("\r");
    program.until("I see.");
    let text = service.received()[0].body["messages"][1]["content"].to_string();
    assert!(text.contains("@workspace:///pasted-1.png"), "{text}");
}
