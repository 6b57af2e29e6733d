//! The real program in a terminal against a real model server at the address in `AYE_TEST_SERVER`. The model of that
//! server may produce any text, control characters included.

use crate::support::program::Setup;
use crate::support::proxy::start_proxy;
use crate::support::report_skipped;
use crate::support::stored_files::{count_ended_turns, read_session, wait_for_turns, write_settings};
use aye::chat::{Entry, Outcome, Session};
use std::sync::atomic::Ordering;

const TURNS: usize = 20;

/// First token of a call, in the model of `tests/servers/tiny.py`.
const CALL_TOKEN: u32 = 260;

/// Writes a profile for the server with this many tokens per reply, regardless of stop tokens, and without titles.
fn write_profile(setup: &Setup, base: &str, tokens: u32) {
    write_profile_with(setup, base, tokens, "context_window = 1000000\n");
}

/// The same with `window`, the line that sets the context window; it may be empty.
fn write_profile_with(setup: &Setup, base: &str, tokens: u32, window: &str) {
    write_settings(
        setup,
        &format!(
            "[model]\ntitles = false\n[profiles.true]\nbase_url = \"{base}\"\nmodel = \"m\"\n{window}[profiles.true.parameters]\nmax_tokens = {tokens}\nignore_eos = true\n"
        ),
    );
}

/// Writes a profile for the server of `tests/servers/tiny.py` whose model calls a command.
fn write_calling_profile(setup: &Setup, base: &str) {
    write_settings(
        setup,
        &format!(
            "[profiles.true]\nbase_url = \"{base}\"\nmodel = \"m\"\n[profiles.true.parameters]\nlogit_bias = [[{CALL_TOKEN}, 250]]\nmax_tokens = 200\n"
        ),
    );
}

/// Returns whether the server is the one of `tests/servers/tiny.py`.
fn is_tiny_server() -> bool {
    std::env::var_os("AYE_TEST_SERVER_IS_TINY").is_some()
}

/// Returns the escape sequences and control characters in the output that the program never writes itself.
fn find_stray_sequences(bytes: &[u8]) -> Vec<String> {
    let text = String::from_utf8_lossy(bytes);
    let is_own = |rest: &str| {
        ["[", "]0;", "]2;", "]8;", "]9;", "]10;", "]11;", "]22;", "_Gi=31,", "P", "\\", "=", ">", "7", "8", "(B", "c"]
            .iter()
            .any(|start| rest.starts_with(start))
    };
    let escapes = text.match_indices('\u{1b}').filter(|(at, _)| !is_own(&text[at + 1..]));
    let mut stray: Vec<String> = escapes.map(|(at, _)| text[at..].chars().take(12).collect()).collect();
    let is_stray = |c: &char| {
        matches!(c, '\u{1}'..='\u{6}' | '\u{b}' | '\u{c}' | '\u{e}'..='\u{1a}' | '\u{1c}'..='\u{1f}')
            || matches!(c, '\u{7f}'..='\u{9f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    stray.extend(text.chars().filter(is_stray).map(|c| c.escape_unicode().to_string()));
    stray
}

fn server_url() -> Option<String> {
    let server = std::env::var("AYE_TEST_SERVER").ok();
    if server.is_none() {
        report_skipped("AYE_TEST_SERVER is not set");
    }
    server
}

#[test]
fn r32_twenty_turns_of_random_text_are_counted_and_stored() {
    let Some(base) = server_url() else { return };
    let setup = Setup::new(&["--profile", "true"]).size(100, 30);
    write_profile(&setup, &base, 40);
    let next_setup = Setup::with_home(&setup.root, &["--profile", "true", "--continue"]);
    let mut program = setup.start();
    program.until("ask mode");
    for turn in 1..=TURNS {
        program.type_text(&format!("turn {turn}"));
        program.press_keys("\r");
        wait_for_turns(&mut program, &next_setup, turn);
    }
    program.until_idle("");
    assert_eq!(find_stray_sequences(&program.bytes()), Vec::<String>::new());
    let entries = read_session(&next_setup);
    let replies = entries.iter().filter_map(|entry| match entry {
        Entry::Replied { usage, .. } => Some(usage.unwrap_or_else(|| panic!("a reply has no token count: {entry:?}"))),
        _ => None,
    });
    let tokens: Vec<u64> = replies.map(|usage| usage.output).collect();
    assert_eq!(tokens.len(), TURNS);
    assert!(tokens.iter().all(|&count| count > 0 && count <= 40), "{tokens:?}");
    assert_eq!(Session::replay(entries.clone()).usage().output, tokens.iter().sum::<u64>());
    program.press_keys("\u{4}");
    assert_eq!(program.wait_for_exit(), 0);
    let second_setup = Setup::with_home(&next_setup.root, &["--profile", "true", "--continue"]).size(100, 30);
    let mut program = second_setup.start();
    program.until("ask mode");
    program.type_text("once more");
    program.press_keys("\r");
    wait_for_turns(&mut program, &next_setup, TURNS + 1);
    assert!(read_session(&next_setup).starts_with(&entries), "earlier entries changed");
}

#[test]
fn r62_esc_during_a_reply_closes_the_connection_and_allows_the_next_turn() {
    let Some(base) = server_url() else { return };
    let (address, hung_up) = start_proxy(&base);
    let setup = Setup::new(&["--profile", "true"]).size(100, 30);
    write_profile(&setup, &address, 3000);
    let next_setup = Setup::with_home(&setup.root, &[]);
    let mut program = setup.start();
    program.until("ask mode");
    for turn in 1..=3 {
        hung_up.store(false, Ordering::SeqCst);
        program.type_text("say much");
        program.press_keys("\r");
        program.until("replying");
        program.wait_ms(300);
        assert_eq!(count_ended_turns(&read_session(&next_setup)), turn - 1, "the reply ended before Esc");
        program.press_keys("\x1b");
        program.until_condition("the connection is closed", |_| hung_up.load(Ordering::SeqCst));
        wait_for_turns(&mut program, &next_setup, turn);
        let entries = read_session(&next_setup);
        let reply = entries.iter().rev().find(|entry| matches!(entry, Entry::Replied { .. }));
        // If the server had sent nothing yet, there is nothing to keep.
        let is_partial =
            |entry: &Entry| matches!(entry, Entry::Replied { text, incomplete: Some(_), .. } if !text.is_empty());
        assert!(reply.is_none_or(is_partial), "{reply:?}");
    }
    assert_eq!(find_stray_sequences(&program.bytes()), Vec::<String>::new());
}

#[test]
fn session_larger_than_the_context_window_continues_after_a_summary() {
    let Some(base) = server_url() else { return };
    let setup = Setup::new(&[]);
    write_profile_with(&setup, &base, 40, "");
    let text = "some text of mine ".repeat(28);
    for turn in 1..=12 {
        let message = format!("turn {turn}: {text}");
        let mut arguments = vec!["--profile", "true", "-p", message.as_str()];
        arguments.extend((turn > 1).then_some("--continue"));
        let (_, err, _) = Setup::with_home(&setup.root, &arguments).run_piped("");
        let entries = read_session(&setup);
        assert_eq!(count_ended_turns(&entries), turn, "{err}");
        let summary = entries.iter().rposition(|entry| matches!(entry, Entry::Compacted { .. }));
        let replied = entries.iter().rposition(|entry| matches!(entry, Entry::Replied { .. }));
        if summary.is_some() && replied > summary {
            assert!(err.contains("earlier messages were summarised"), "{err}");
            return;
        }
    }
    panic!("twelve turns fit into the context window, or no reply followed a summary");
}

#[test]
fn call_parsed_by_the_server_asks_and_its_outcome_is_sent_back() {
    let Some(base) = server_url() else { return };
    if !is_tiny_server() {
        return report_skipped("the server of AYE_TEST_SERVER is not tests/servers/tiny.py");
    }
    for answer in ["y", "n"] {
        let setup = Setup::new(&["--profile", "true"]).size(100, 30);
        write_calling_profile(&setup, &base);
        let next_setup = Setup::with_home(&setup.root, &[]);
        let mut program = setup.start();
        program.until("ask mode");
        program.type_text("run something");
        program.press_keys("\r");
        program.until_prompt("$ touch t; echo from-the-server");
        assert!(
            !read_session(&next_setup).iter().any(|entry| matches!(entry, Entry::Settled { .. })),
            "the call was settled before approval"
        );
        program.press_keys(answer);
        // The model of the server answers every outcome with this sentence.
        program.until("The command was told to me.");
        wait_for_turns(&mut program, &next_setup, 1);
        let entries = read_session(&next_setup);
        let outcomes: Vec<&Outcome> = entries
            .iter()
            .filter_map(|entry| if let Entry::Settled { outcome, .. } = entry { Some(outcome) } else { None })
            .collect();
        let fits = match answer {
            "y" => matches!(outcomes[..], [Outcome::Done(text)] if text.contains("from-the-server")),
            _ => matches!(outcomes[..], [Outcome::Refused(_)]),
        };
        assert!(fits, "{outcomes:?}");
        let ids = entries.iter().filter_map(|entry| match entry {
            Entry::Replied { calls, .. } => calls.first().map(|call| call.id.clone()),
            _ => None,
        });
        assert!(ids.into_iter().all(|id| id.0.len() > 8), "the id of the server was not kept");
    }
}

#[test]
fn message_too_long_for_the_server_and_wrong_address_are_reported() {
    let Some(base) = server_url() else { return };
    let setup = Setup::new(&["--profile", "true"]).size(100, 30);
    write_profile(&setup, &base, 8);
    let next_setup = Setup::with_home(&setup.root, &["-p", "--profile", "true"]);
    let (out, err, code) = next_setup.run_piped(&"word ".repeat(60_000));
    assert_eq!((out.as_str(), code), ("", 1));
    assert!(err.contains("(400, exceed_context_size_error)") && err.contains("exceeds"), "{err}");
    assert_eq!(err.lines().count(), 1, "{err}");
    let wrong = Setup::with_home(&setup.root, &["-p", "--base-url", &format!("{base}/nowhere"), "--model", "m", "hi"]);
    let (out, err, code) = wrong.run_piped("");
    assert_eq!((out.as_str(), code), ("", 1));
    assert!(err.contains("does not know this model or address (404"), "{err}");
}

#[test]
fn model_of_the_server_can_be_chosen_from_the_list() {
    let Some(base) = server_url() else { return };
    let setup = Setup::new(&["--profile", "true"]).size(100, 30);
    write_profile(&setup, &base, 8);
    let next_setup = Setup::with_home(&setup.root, &[]);
    let mut program = setup.start();
    program.until("ask mode");
    program.type_text("/model");
    program.press_keys("\r");
    program.until("gguf");
    // The model in use is the first one.
    program.press_keys("\x1b[B");
    program.press_keys("\r");
    program.until_condition("the title row names the model", |program| {
        program.screen().lines().next().is_some_and(|head| head.contains("gguf"))
    });
    program.type_text("hi");
    program.press_keys("\r");
    wait_for_turns(&mut program, &next_setup, 1);
    let named = |entry: &Entry| matches!(entry, Entry::Replied { model, .. } if model.contains("gguf"));
    assert!(read_session(&next_setup).iter().any(named), "{:?}", read_session(&next_setup));
}
