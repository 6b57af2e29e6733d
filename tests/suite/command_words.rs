//! Commands, mistyped commands and prompts that begin with a command's name; the manual in the terminal.

use crate::support::program::Setup;
use crate::support::service::{Answer, Service};

/// Returns the last message of the first request that the program sends for these words.
async fn sent_to_model(words: &[&str]) -> String {
    let service = Service::start([Answer::stream().text("Hello.").finish("stop").done()]).await;
    let setup = Setup::new(&[&["--base-url", &service.base_url, "--model", "m"], words].concat());
    let mut program = setup.env("OPENAI_API_KEY", "sk-test-key-1234567890").start();
    tokio::task::spawn_blocking(move || drop(program.until("Hello."))).await.unwrap();
    let messages = service.received()[0].body["messages"].as_array().unwrap().clone();
    messages.last().unwrap()["content"].as_str().unwrap().to_owned()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn words_that_begin_with_a_command_reach_the_model() {
    for line in [
        "help me",
        "audit the code",
        "models are fun",
        "rules of hooks in this project",
        "doctor the makefile",
        "-- doctor",
    ] {
        let words: Vec<&str> = line.split(' ').collect();
        assert_eq!(sent_to_model(&words).await, line.trim_start_matches("-- "));
    }
}

#[test]
fn a_mistyped_command_is_an_error_that_names_what_was_meant() {
    for (line, meant) in [
        ("sesions", "Did you mean `aye sessions`? "),
        ("sessions lst", "Did you mean `aye sessions list`? "),
        ("sessions delete 01J9", "aye sessions takes one of: list, show"),
        ("rules explan ls", "Did you mean `aye rules explain ls`? "),
        ("docter", "Did you mean `aye doctor`? "),
        ("trust everything", "aye trust takes one of: list. "),
        ("help sandbx", "Did you mean `aye help sandbox`? Topics: getting-started"),
        ("help sesions", "Did you mean `aye help sessions`? "),
    ] {
        let words: Vec<&str> = line.split(' ').collect();
        let (out, err, code) = Setup::new(&words).run_piped("");
        assert_eq!((out.as_str(), code), ("", 2), "{line}: {err}");
        assert!(err.contains(meant) && err.contains("To send this to the model"), "{line}: {err}");
    }
}

#[test]
fn help_prints_a_page_of_the_manual_as_markdown_into_a_pipe() {
    let (out, err, code) = Setup::new(&["help", "network"]).env("PAGER", "false").run_piped("");
    assert_eq!((err.as_str(), code), ("", 0));
    assert_eq!(out, aye::manual::find_topic("sandbox").unwrap().text);
}

#[test]
fn help_shows_a_long_page_in_the_pager_of_a_terminal() {
    let page = |pager: &str| {
        let mut program = Setup::new(&["help", "permissions"]).env("PAGER", pager).start();
        assert_eq!(program.wait_for_exit(), 0, "{pager}");
        String::from_utf8(program.bytes()).unwrap()
    };
    let paged = page("sed 's/^/paged: /'");
    assert!(paged.starts_with("paged: Permissions and rules"), "{paged}");
    assert!(!paged.contains('\x1b') && !paged.contains("| --- |"), "{paged}");
    for without in ["", "no-such-pager-4711"] {
        let plain = page(without);
        assert!(plain.contains("\x1b[1;4mPermissions and rules\x1b[0m") && !plain.contains("paged"), "{plain}");
    }
}

#[test]
fn the_screen_shows_a_page_of_the_manual() {
    let mut program = Setup::new(&["--tour"]).start();
    program.until("Write a message");
    program.type_text("/help perm");
    program.until("Permissions and rules");
    program.press_keys("\t");
    program.until("/help permissions");
    program.press_keys("\r");
    program.until_all(&["Permissions and rules", "esc back"]);
    program.press_keys("\x1b");
    program.until_gone("esc back");
    program.type_text("/help nonsense");
    program.press_keys("\r");
    program.until_all(&["Cannot show help for “nonsense”", "getting-started"]);
}
