//! The real program in a terminal against a model server that somebody else wrote, where `AYE_TEST_SERVER` names one
//! by its base address. Its model may say anything, control characters too.

use crate::support::program::{Program, Setup};
use aye::chat::{Entry, Session};
use aye::store::read;
use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

const TURNS: usize = 20;

/// A profile for the server with this many tokens a reply, whatever its model thinks of stopping.
fn profile(setup: &Setup, base: &str, tokens: u32) {
    let config = setup.place.path().join("home/aye/config");
    std::fs::create_dir_all(&config).unwrap();
    let profile = format!(
        "[profiles.true]\nbase_url = \"{base}\"\nmodel = \"m\"\n[profiles.true.parameters]\nmax_tokens = {tokens}\nignore_eos = true\n"
    );
    std::fs::write(config.join("config.toml"), profile).unwrap();
}

/// The session as it is on disk.
fn session(setup: &Setup) -> Vec<Entry> {
    let folder = setup.place.path().join("home/aye/data/sessions");
    let Some(Ok(file)) = std::fs::read_dir(folder).unwrap().next() else { return Vec::new() };
    let read = read(&file.path()).unwrap();
    assert!(read.notices.is_empty(), "{:?}", read.notices);
    read.entries
}

fn ended(entries: &[Entry]) -> usize {
    entries.iter().filter(|entry| matches!(entry, Entry::Ended { .. })).count()
}

/// Waits until so many turns have ended.
fn until_ended(program: &mut Program, setup: &Setup, turns: usize) {
    for _ in 0..600 {
        if ended(&session(setup)) >= turns {
            return;
        }
        program.lets_pass(50);
    }
    panic!("turn {turns} did not end:\n{}", program.screen());
}

/// What a terminal obeys that the program never writes: anything but plain CSI sequences, its own titles and links.
fn stray(bytes: &[u8]) -> Vec<String> {
    let text = String::from_utf8_lossy(bytes);
    let own = |rest: &str| {
        ["[", "]0;", "]2;", "]8;", "]9;", "]10;", "]11;", "]22;", "P", "\\", "=", ">", "7", "8", "(B", "c"]
            .iter()
            .any(|start| rest.starts_with(start))
    };
    let escapes = text.match_indices('\u{1b}').filter(|(at, _)| !own(&text[at + 1..]));
    let mut stray: Vec<String> = escapes.map(|(at, _)| text[at..].chars().take(12).collect()).collect();
    let unruly = |c: &char| {
        matches!(c, '\u{1}'..='\u{6}' | '\u{b}' | '\u{c}' | '\u{e}'..='\u{1a}' | '\u{1c}'..='\u{1f}')
            || matches!(c, '\u{7f}'..='\u{9f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    stray.extend(text.chars().filter(unruly).map(|c| c.escape_unicode().to_string()));
    stray
}

#[allow(clippy::print_stdout, reason = "a test that did nothing says so")]
fn server() -> Option<String> {
    let server = std::env::var("AYE_TEST_SERVER").ok();
    if server.is_none() {
        println!("skipped: AYE_TEST_SERVER is not set");
    }
    server
}

#[test]
fn r32_twenty_turns_of_noise_end_are_counted_and_are_there_the_next_time() {
    let Some(base) = server() else { return };
    let setup = Setup::new(&["--profile", "true"]).size(100, 30);
    profile(&setup, &base, 40);
    let kept = Setup::again(&setup.place, &["--profile", "true", "--continue"]);
    let mut program = setup.start();
    program.until("ask mode");
    for turn in 1..=TURNS {
        program.types(&format!("turn {turn}"));
        program.keys("\r");
        until_ended(&mut program, &kept, turn);
    }
    program.lets_pass(200);
    assert_eq!(stray(&program.bytes()), Vec::<String>::new());
    let entries = session(&kept);
    let replies = entries.iter().filter_map(|entry| match entry {
        Entry::Replied { usage, .. } => Some(usage.expect("every reply is counted")),
        _ => None,
    });
    let tokens: Vec<u64> = replies.map(|usage| usage.output).collect();
    assert_eq!(tokens.len(), TURNS);
    assert!(tokens.iter().all(|&count| count > 0 && count <= 40), "{tokens:?}");
    assert_eq!(Session::replay(entries.clone()).usage().output, tokens.iter().sum::<u64>());
    program.keys("\u{4}");
    assert_eq!(program.ends(), 0);
    let again = Setup::again(&kept.place, &["--profile", "true", "--continue"]).size(100, 30);
    let mut program = again.start();
    program.until("ask mode");
    program.types("once more");
    program.keys("\r");
    until_ended(&mut program, &kept, TURNS + 1);
    assert!(session(&kept).starts_with(&entries), "nothing of before changed");
}

/// Stands between the program and the server, to see who hangs up.
fn between(base: &str) -> (String, Arc<AtomicBool>) {
    let server = base.trim_start_matches("http://").trim_end_matches("/v1").to_owned();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}/v1", listener.local_addr().unwrap());
    let hung_up = Arc::new(AtomicBool::new(false));
    let seen = hung_up.clone();
    std::thread::spawn(move || {
        for near in listener.incoming() {
            let (mut near, Ok(mut far)) = (near.unwrap(), TcpStream::connect(&server)) else { return };
            let (mut from_far, mut to_near) = (far.try_clone().unwrap(), near.try_clone().unwrap());
            std::thread::spawn(move || std::io::copy(&mut from_far, &mut to_near));
            let mut buffer = [0; 65536];
            while let Ok(count) = near.read(&mut buffer) {
                if count == 0 {
                    seen.store(true, Ordering::SeqCst);
                    let _ = far.shutdown(std::net::Shutdown::Both);
                    break;
                }
                far.write_all(&buffer[..count]).unwrap();
            }
        }
    });
    (address, hung_up)
}

#[test]
fn r62_esc_in_the_middle_hangs_up_and_the_next_turn_comes() {
    let Some(base) = server() else { return };
    let (address, hung_up) = between(&base);
    let setup = Setup::new(&["--profile", "true"]).size(100, 30);
    profile(&setup, &address, 3000);
    let kept = Setup::again(&setup.place, &[]);
    let mut program = setup.start();
    program.until("ask mode");
    for turn in 1..=3 {
        hung_up.store(false, Ordering::SeqCst);
        program.types("say much");
        program.keys("\r");
        program.until("replies");
        program.lets_pass(900);
        assert_eq!(ended(&session(&kept)), turn - 1, "it still speaks");
        program.keys("\x1b");
        for _ in 0..50 {
            if hung_up.load(Ordering::SeqCst) {
                break;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        assert!(hung_up.load(Ordering::SeqCst), "the connection is closed within a second");
        until_ended(&mut program, &kept, turn);
        let entries = session(&kept);
        let reply = entries.iter().rev().find(|entry| matches!(entry, Entry::Replied { .. }));
        // Where the server had said nothing yet, there is nothing to keep.
        let cut = |entry: &Entry| matches!(entry, Entry::Replied { text, incomplete: Some(_), .. } if !text.is_empty());
        assert!(reply.is_none_or(cut), "{reply:?}");
    }
    assert_eq!(stray(&program.bytes()), Vec::<String>::new());
}
