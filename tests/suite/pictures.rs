//! Pictures drawn by the real program.

use crate::support::png::striped_png;
use crate::support::program::{Program, Setup};
use crate::support::service::Service;
use crate::support::terminal_session::{start_session, submit_message, text_answer};
use crate::support::time_limits::try_three_times;
use std::time::Duration;
use tokio::runtime::Runtime;

#[test]
fn a_picture_of_the_project_is_drawn_and_a_damaged_one_is_not() {
    let reply = "![the shot](shot.png)\n\n![cut](cut.png)\n\n![out](../out.png)";
    let (_runtime, _service, mut program) = start_session(vec![text_answer(reply)], (100, 40), &[]);
    let png = striped_png(64, 64);
    std::fs::write(program.project().join("shot.png"), &png).unwrap();
    std::fs::write(program.project().join("cut.png"), &png[..png.len() - 30]).unwrap();
    std::fs::write(program.project().join("../out.png"), &png).unwrap();
    submit_message(&mut program, "look at @shot.png please");
    let rows = |program: &mut Program| program.screen().lines().filter(|line| line.contains("▀▀▀▀▀▀▀▀")).count();
    // Below the message and below the reply.
    program.until_condition("both pictures are drawn", |program| rows(program) == 8);
    program.wait_ms(300);
    assert_eq!(rows(&mut program), 8, "{}", program.screen());
}

#[test]
fn pictures_are_not_drawn_in_ascii_mode_or_without_24_bit_colours() {
    for environment in [[("COLORTERM", "")], [("LC_ALL", "C")], [("NO_COLOR", "1")]] {
        let reply = text_answer("![the shot](shot.png)");
        let (_runtime, _service, mut program) = start_session(vec![reply], (100, 40), &environment);
        std::fs::write(program.project().join("shot.png"), striped_png(64, 64)).unwrap();
        submit_message(&mut program, "go");
        program.until("ctrl-o open or copy");
        program.wait_ms(200);
        assert!(!program.screen().contains('▀'), "{}", program.screen());
    }
}

/// The question whether the terminal stores pictures.
const QUERY: &[u8] = b"\x1b_Gi=31,s=1,v=1,a=q";

fn has_sent(program: &Program, bytes: &[u8]) -> bool {
    program.bytes().windows(bytes.len()).any(|window| window == bytes)
}

#[test]
fn a_terminal_that_stores_pictures_gets_them_and_placeholders() {
    // On a busy machine the answer may come too late.
    try_three_times("pictures stored in the terminal", || {
        let runtime = Runtime::new().unwrap();
        let service = runtime.block_on(Service::start([text_answer("![the shot](shot.png)")]));
        let mut program =
            Setup::new(&["--base-url", &service.base_url, "--model", "scripted-7b"]).size(100, 40).start();
        while !has_sent(&program, b"\x1b[c") {
            std::thread::sleep(Duration::from_millis(1));
        }
        assert!(has_sent(&program, QUERY));
        program.send_bytes("\x1b_Gi=31;OK\x1b\\\x1bP>|kitty(0.36.4)\x1b\\\x1b[?62;c");
        program.until("Messages go to");
        std::fs::write(program.project().join("shot.png"), striped_png(64, 64)).unwrap();
        submit_message(&mut program, "go");
        let placeholder = "\u{10EEEE}\u{305}\u{30d}".as_bytes();
        program.until_condition("the picture is drawn", |program| {
            has_sent(program, placeholder) || program.screen().contains("▀▀")
        });
        if !has_sent(&program, placeholder) {
            return Err(program.screen());
        }
        assert!(has_sent(&program, b"\x1b_Ga=T,U=1,q=2,f=100,t=d,i="));
        assert!(!program.screen().contains('▀') && !program.screen().contains("kitty"), "{}", program.screen());
        program.press_keys("\x04");
        assert_eq!(program.wait_for_exit(), 0);
        assert!(has_sent(&program, b"\x1b_Ga=d,d=I,q=2,i="), "the terminal does not keep the picture");
        Ok(())
    });
}

#[test]
fn the_terminal_is_not_asked_for_pictures_in_vain() {
    for (variable, value, setting) in
        [("TMUX", "/tmp/tmux,1,0", "auto"), ("A", "b", "blocks"), ("COLORTERM", "", "auto")]
    {
        let setup = Setup::new(&[]).env(variable, value);
        crate::support::stored_files::write_settings(&setup, &format!("[screen]\npictures = \"{setting}\"\n"));
        let mut program = setup.start();
        program.until("Connected to the tour");
        assert!(has_sent(&program, b"\x1b[c") && !has_sent(&program, QUERY), "{variable} {setting}");
    }
}
