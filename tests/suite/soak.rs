//! Replies of a thousand pieces per second in a terminal that is resized and scrolled all the time: no row is ever
//! wrong, and closed sessions release their memory.
//!
//! A long trial that is started by hand: `AYE_TEST_SECONDS=3600 cargo test --test suite soak -- --ignored --nocapture`

use crate::support::program::{Program, Setup};
use crate::support::stored_files::{NO_TITLES, write_settings};
use crate::support::{Dice, pick_count};
use std::fmt::Write as _;
use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// Replies per session.
const REPLIES: usize = 4;
/// One of each element of the layout: text in several scripts, lists, code, a table, links.
const PART: &str = "## Part\n\nThe *quick* fox, **bold** and `code`, \u{6f22}\u{5b57}\u{4ed6} and \u{1f469}\u{200d}\u{1f52c} \
    and \u{5e9}\u{5dc}\u{5d5}\u{5dd}, see src/main.rs:3 and [a page](https://example.invalid/a/long/way).\n\n- one\n  - two \
    with words that go on and on until the line is full and goes on in the next\n- [x] three\n\n```rust\nfn main() { \
    println!(\"{}\", 1 + 2); } // done\n```\n\n| a | b |\n|:--|--:|\n| 1 | 2 |\n| \u{8868} | 4 |\n\n> quoted\n\n";

/// Duration of the trial.
fn trial_duration() -> Duration {
    let seconds = std::env::var("AYE_TEST_SECONDS").ok().and_then(|text| text.parse().ok());
    Duration::from_secs(seconds.unwrap_or(pick_count(20, 4) as u64))
}

/// Starts a provider and returns its address. Each reply takes this long, with a piece every millisecond, and ends with
/// `end of n.`
fn start_provider(reply: Duration) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let base = format!("http://{}/v1", listener.local_addr().unwrap());
    static COUNT: AtomicUsize = AtomicUsize::new(0);
    std::thread::spawn(move || {
        for socket in listener.incoming() {
            let socket = socket.unwrap();
            std::thread::spawn(move || {
                // The program may hang up once it has what it needs.
                let _ = send_reply(socket, reply, 1 + COUNT.fetch_add(1, Ordering::SeqCst));
            });
        }
    });
    base
}

fn send_reply(mut socket: TcpStream, reply: Duration, number: usize) -> std::io::Result<()> {
    socket.set_nodelay(true)?;
    let (mut bytes, mut request) = (vec![0; 1 << 16], Vec::new());
    while !request.ends_with(b"}") || !request.windows(4).any(|four| four == b"\r\n\r\n") {
        match socket.read(&mut bytes)? {
            0 => return Ok(()),
            count => request.extend_from_slice(&bytes[..count]),
        }
    }
    socket.write_all(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n")?;
    let delta = |text: &str| {
        let delta = serde_json::json!({ "choices": [{ "index": 0, "delta": { "content": text } }] });
        format!("data: {delta}\n\n")
    };
    let (started, mut sent) = (Instant::now(), 0);
    let mut characters = PART.chars().cycle();
    while started.elapsed() < reply {
        let mut events = String::new();
        // As many as are due, however late this thread wakes.
        while sent < started.elapsed().as_millis() {
            let piece: String = characters.by_ref().take(4).collect();
            let _ = write!(events, "{}", delta(&piece));
            sent += 1;
        }
        socket.write_all(events.as_bytes())?;
        std::thread::sleep(Duration::from_millis(1));
    }
    let end = "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n";
    socket.write_all(format!("{}{end}", delta(&format!("\n\nend of {number}."))).as_bytes())
}

/// Returns the program's private memory in kB.
fn private_memory(program: &Program) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", program.pid())).unwrap();
    let line = status.lines().find(|line| line.starts_with("RssAnon:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

/// Returns the rows that change when the whole screen is redrawn.
fn find_wrong_rows(program: &mut Program) -> Vec<String> {
    let before = program.cell_styles();
    let width = program.screen_width();
    let from = program.bytes().len();
    program.press_keys("\x0c");
    let min_redraw_bytes = 500;
    program.until_condition("the screen is redrawn", |program| program.bytes().len() > from + min_redraw_bytes);
    program.until("end of ");
    let after = program.cell_styles();
    let rows = before.chunks(width).zip(after.chunks(width)).enumerate();
    rows.filter(|(_, (before, after))| before != after)
        .map(|(row, (before, after))| format!("{row}: {before:?}\n   {after:?}"))
        .collect()
}

#[test]
#[ignore = "a long trial; run it by hand on an idle machine"]
#[allow(clippy::print_stdout, reason = "the figures are the result")]
fn r34_endless_replies_with_resizes_leave_no_wrong_row_and_leak_no_memory() {
    let (started, duration) = (Instant::now(), trial_duration());
    let reply = (duration / 8).min(Duration::from_secs(20));
    let base = start_provider(reply);
    let setup = Setup::new(&["--base-url", &base, "--model", "m"]).size(100, 30);
    write_settings(&setup, NO_TITLES);
    let mut program = setup.start();
    program.until("Messages go to");
    let mut dice = Dice(7);
    let (mut replies, mut resizes) = (0, 0);
    let mut memory = Vec::new();
    while started.elapsed() < duration || replies < 2 {
        program.press_keys(&format!("\x1b[200~go on {replies}\x1b[201~"));
        program.until(&format!("go on {replies}"));
        program.press_keys("\r");
        replies += 1;
        let reply_end = Instant::now() + reply;
        while Instant::now() < reply_end {
            program.wait_ms(80 + dice.below(600));
            match dice.below(4) {
                0 => program.send_bytes("\x1b[5~"),
                1 => program.send_bytes("\x1b[6~"),
                _ => {
                    program.resize(20 + dice.below(180) as u16, 6 + dice.below(50) as u16);
                    resizes += 1;
                }
            }
        }
        program.resize(100, 30);
        program.wait_ms(50);
        program.send_bytes("\x1b[1;5F");
        program.until_idle(&format!("end of {replies}."));
        // The first word shows that the resize was read, and the second one that the screen was laid out again.
        for typed in ["settled", " now"] {
            program.type_text(typed);
            program.until(typed);
        }
        program.send_bytes("\x15");
        program.until_gone("settled");
        // The status line shows this key only if the composer is empty.
        program.until("? help");
        let wrong_rows = find_wrong_rows(&mut program);
        assert!(wrong_rows.is_empty(), "after reply {replies}:\n{}", wrong_rows.join("\n"));
        if replies % REPLIES == 0 {
            memory.push(private_memory(&program));
            program.press_keys("\x1b[200~/new\x1b[201~");
            program.until("/new");
            program.press_keys("\r");
            program.until("Messages go to");
        }
    }
    println!(
        "{replies} replies, {resizes} resizes, no wrong row; own memory at the end of each session: {memory:?} kB"
    );
    // The first sessions fill caches that are kept anyway.
    if let [_, _, early, .., last] = memory[..] {
        assert!(last < early + early / 4 + 2048, "{memory:?}");
    }
}
