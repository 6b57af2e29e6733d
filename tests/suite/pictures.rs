//! Pictures drawn by the real program.

use crate::support::png::striped_png;
use crate::support::terminal_session::{start_session, submit_message, text_answer};

#[test]
fn a_picture_of_the_project_is_drawn_and_a_damaged_one_is_not() {
    let reply = "![the shot](shot.png)\n\n![cut](cut.png)\n\n![out](../out.png)";
    let (_runtime, _service, mut program) = start_session(vec![text_answer(reply)], (100, 40), &[]);
    let png = striped_png(64, 64);
    std::fs::write(program.project().join("shot.png"), &png).unwrap();
    std::fs::write(program.project().join("cut.png"), &png[..png.len() - 30]).unwrap();
    std::fs::write(program.project().join("../out.png"), &png).unwrap();
    submit_message(&mut program, "look at @shot.png please");
    let rows = |program: &mut crate::support::program::Program| {
        program.screen().lines().filter(|line| line.contains("▀▀▀▀▀▀▀▀")).count()
    };
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
