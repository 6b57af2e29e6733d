//! Pictures drawn by the real program.

use crate::for_each_browser;
use crate::support::browser;
use crate::support::png::striped_png;
use crate::support::program::{Program, Setup};
use crate::support::service::Service;
use crate::support::terminal_session::{start_session, submit_message, text_answer};
use crate::support::time_limits::try_three_times;
use crate::support::tool_service::call;
use crate::support::web_server::WebServer;
use serde_json::json;
use std::path::Path;
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

for_each_browser!(a_screenshot_is_drawn_below_its_call);

fn a_screenshot_is_drawn_below_its_call(browser: &Path) {
    let page = b"<body style='margin:0;height:100vh;background:linear-gradient(red,blue)'>";
    let server = WebServer::start().with_page("/", "200 OK\r\nContent-Type: text/html", page);
    let answers = vec![browser::open(&server.url("/")), call("browser_screenshot", json!({})), text_answer("Done.")];
    let user = browser::user_with(answers, &server, browser).with_rules(browser::OPEN_RULE);
    let mut program = browser::start(&user, &[]);
    browser::approve(&mut program, "Save a picture of the web page?", "screenshot.png");
    program.until_idle("Done.");
    program.until_condition("the picture is drawn", |program| program.screen().contains("▀▀▀▀▀▀▀▀"));
    let screen = program.screen();
    let rows: Vec<&str> = screen.lines().collect();
    let caption = rows.iter().position(|row| row.contains("screenshot.png · 1280 × 800")).unwrap();
    assert!(rows[caption + 1].contains("▀▀▀▀▀▀▀▀"), "{screen}");
    let styles = program.cell_styles();
    for color in ["Rgb(25", ", 0, 25"] {
        assert!(styles.iter().any(|style| style.starts_with('▀') && style.contains(color)), "{color}: {screen}");
    }
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

/// Starts the program in a terminal with cells of this size in pixels, which answers its queries with these bytes, and lets a
/// reply show a picture of 8 columns and 4 rows. Returns the program once it has sent `drawn` or drawn half blocks; the latter
/// happens if the answer comes too late on a busy machine.
fn draw_in_terminal(answers: &str, (width, height): (u16, u16), drawn: &[u8]) -> Result<Program, String> {
    let runtime = Runtime::new().unwrap();
    let service = runtime.block_on(Service::start([text_answer("![the shot](shot.png)")]));
    let setup = Setup::new(&["--base-url", &service.base_url, "--model", "scripted-7b"]).size(100, 40);
    let mut program = setup.cell_pixels(width, height).start();
    while !has_sent(&program, b"\x1b[c") {
        std::thread::sleep(Duration::from_millis(1));
    }
    assert!(has_sent(&program, QUERY));
    program.send_bytes(answers);
    program.until("Messages go to");
    std::fs::write(program.project().join("shot.png"), striped_png(64, 64)).unwrap();
    submit_message(&mut program, "go");
    program
        .until_condition("the picture is drawn", |program| has_sent(program, drawn) || program.screen().contains("▀▀"));
    if has_sent(&program, drawn) { Ok(program) } else { Err(program.screen()) }
}

#[test]
fn a_terminal_that_stores_pictures_gets_them_and_placeholders() {
    try_three_times("pictures stored in the terminal", || {
        let placeholder = "\u{10EEEE}\u{305}\u{30d}".as_bytes();
        let answers = "\x1b_Gi=31;OK\x1b\\\x1bP>|kitty(0.36.4)\x1b\\\x1b[?62;c";
        let mut program = draw_in_terminal(answers, (0, 0), placeholder)?;
        assert!(has_sent(&program, b"\x1b_Ga=T,U=1,q=2,f=100,t=d,i="));
        assert!(!program.screen().contains('▀') && !program.screen().contains("kitty"), "{}", program.screen());
        program.press_keys("\x04");
        assert_eq!(program.wait_for_exit(), 0);
        assert!(has_sent(&program, b"\x1b_Ga=d,d=I,q=2,i="), "the terminal does not keep the picture");
        Ok(())
    });
}

/// Returns the rows of the screen on which a text was sent right after the cursor was moved there.
fn rows_of(program: &Program, text: &[u8]) -> Vec<u16> {
    let bytes = program.bytes();
    let starts = (0..bytes.len()).filter(|at| bytes[*at..].starts_with(text));
    let row = |at: usize| {
        let move_start = bytes[..at].windows(2).rposition(|window| window == b"\x1b[")?;
        let position = std::str::from_utf8(&bytes[move_start + 2..at]).ok()?.strip_suffix('H')?;
        position.split(';').next()?.parse().ok()
    };
    starts.filter_map(row).collect()
}

#[test]
fn a_terminal_with_sixel_graphics_gets_a_strip_for_each_row() {
    try_three_times("sixel graphics", || {
        let answers = "\x1bP>|foot(1.16.2)\x1b\\\x1b[?62;4;22c";
        // White and black stripes of 8 pixels: two in each strip of 16 pixels.
        let stripes = "#1!64~-#0!64{$#1!64B-#0!64N";
        let strip = format!("\x1bP0;1;0q\"1;1;64;16#0;2;0;0;0#1;2;100;100;100{stripes}\x1b\\");
        let mut program = draw_in_terminal(answers, (8, 16), strip.as_bytes())?;
        program.until_condition("all strips", |program| rows_of(program, strip.as_bytes()).len() >= 4);
        let rows = rows_of(&program, strip.as_bytes());
        assert!(rows.windows(4).any(|four| four.windows(2).all(|pair| pair[1] == pair[0] + 1)), "{rows:?}");
        assert!(!program.screen().contains('▀') && !program.screen().contains("foot"), "{}", program.screen());
        Ok(())
    });
    try_three_times("sixel graphics without the size of a cell", || {
        let mut program = draw_in_terminal("\x1b[?62;4;22c", (0, 0), "▀▀".as_bytes())?;
        assert!(program.screen().contains("▀▀▀▀▀▀▀▀"));
        assert!(!has_sent(&program, b"\x1bP0;1;0q"));
        Ok(())
    });
}

#[test]
fn a_terminal_with_the_protocol_of_iterm_gets_a_png_for_each_row() {
    try_three_times("iTerm2's protocol", || {
        let answers = "\x1bP>|WezTerm 20240203-110809-5046fc22\x1b\\\x1b[?65;4;6;18;22c";
        let start = b"\x1b]1337;File=inline=1;size=";
        let mut program = draw_in_terminal(answers, (8, 16), start)?;
        program.until_condition("all strips", |program| rows_of(program, start).len() >= 4);
        let rows = rows_of(&program, start);
        assert!(rows.windows(4).any(|four| four.windows(2).all(|pair| pair[1] == pair[0] + 1)), "{rows:?}");
        assert!(has_sent(&program, b";width=8;height=1;preserveAspectRatio=0;doNotMoveCursor=1:iVBORw0KGgo"));
        assert!(!program.screen().contains('▀') && !has_sent(&program, b"\x1bP0;1;0q"), "{}", program.screen());
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
