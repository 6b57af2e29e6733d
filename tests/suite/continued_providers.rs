//! The provider of a continued session: its own, never another one without notice, and never the script of the tour.

use crate::support::folder::Folder;
use crate::support::program::Setup;
use crate::support::service::Service;
use crate::support::stored_files::{NO_TITLES, read_entries, write_settings};
use crate::support::terminal_session::{calls_answer_after, submit_message, text_answer};
use aye::chat::Entry;
use serde_json::json;
use std::sync::Arc;
use std::time::Duration;
use tokio::runtime::Runtime;

const KEY: &str = "sk-other-1234567890";

fn start_service(runtime: &Runtime, text: &str) -> Service {
    runtime.block_on(Service::start([text_answer(text)]))
}

/// Begins a session with an address that no profile has.
fn begin_session(service: &Service) -> Arc<Folder> {
    let setup = Setup::new(&["-p", "--base-url", &service.base_url, "--model", "scripted-1", "first"]);
    write_settings(&setup, NO_TITLES);
    assert_eq!(setup.run_piped("").2, 0);
    setup.root
}

/// Returns the setup of a run in this home; its environment names another provider and that provider's key.
fn setup_other(root: &Arc<Folder>, other: &Service, arguments: &[&str]) -> Setup {
    Setup::with_home(root, arguments).env("OPENAI_BASE_URL", &other.base_url).env("OPENAI_API_KEY", KEY)
}

/// Model and key of each request.
fn list_requests(service: &Service) -> Vec<(String, Option<String>)> {
    let received = service.received().into_iter();
    received
        .map(|request| {
            let model = request.body["model"].as_str().unwrap_or_default().to_owned();
            (model, request.header("authorization").map(str::to_owned))
        })
        .collect()
}

#[test]
fn headless_run_asks_which_provider_continues_a_session() {
    let runtime = Runtime::new().unwrap();
    let (own, other) = (start_service(&runtime, "Own."), start_service(&runtime, "Other."));
    let root = begin_session(&own);
    for arguments in [&["-p", "--continue", "second"][..], &["-p", "--continue", "--fork", "second"]] {
        let (out, err, code) = setup_other(&root, &other, arguments).run_piped("");
        assert_eq!((out.as_str(), code), ("", 2), "{err}");
        let other_host = other.base_url.trim_start_matches("http://").trim_end_matches("/v1");
        for part in [
            format!("it began with scripted-1 at {}, but gpt-5-mini at {other_host}", own.base_url),
            format!("Nothing was sent. Choose one: --base-url {} or --profile openai", own.base_url),
        ] {
            assert!(err.contains(&part), "{part}: {err}");
        }
        assert_eq!((own.received().len(), other.received().len()), (1, 0), "nothing was sent");
    }
    // Each flag that the error names decides.
    let (out, err, code) = setup_other(&root, &other, &["-p", "--continue", "--profile", "openai", "x"]).run_piped("");
    assert_eq!((out.as_str(), code), ("Other.\n", 0), "{err}");
    let by_address = ["-p", "--continue", "--base-url", &own.base_url, "third"];
    let (out, err, code) = setup_other(&root, &other, &by_address).run_piped("");
    assert_eq!((out.as_str(), code), ("Own.\n", 0), "{err}");
    assert_eq!(list_requests(&own)[1].0, "scripted-1", "the session keeps its model");
}

#[test]
fn session_returns_to_its_address_without_a_key_of_another() {
    let runtime = Runtime::new().unwrap();
    let (own, other) = (start_service(&runtime, "Own."), start_service(&runtime, "Other."));
    let root = begin_session(&own);
    // Headless, no other provider is configured.
    let (out, err, code) = Setup::with_home(&root, &["-p", "--continue", "second"]).run_piped("");
    assert_eq!((out.as_str(), err.as_str(), code), ("Own.\n", "", 0));
    // On the screen, with another provider in the environment, a notice names the session's own provider.
    let mut program = setup_other(&root, &other, &["--continue"]).size(100, 30).start();
    program.until("This session began with scripted-1");
    submit_message(&mut program, "third");
    program.until_condition("the message is answered", |_| own.received().len() == 3);
    let expected = ("scripted-1".to_owned(), None);
    assert_eq!(list_requests(&own), [expected.clone(), expected.clone(), expected]);
    assert_eq!(other.received().len(), 0);
}

#[test]
fn session_of_an_unknown_provider_is_not_sent_headless_to_another_model() {
    let runtime = Runtime::new().unwrap();
    let (own, other) = (start_service(&runtime, "Own."), start_service(&runtime, "Other."));
    let root = begin_session(&own);
    // A session of an older version has no address.
    let folder = root.path().join("home/aye/data/sessions");
    let file = std::fs::read_dir(folder).unwrap().next().unwrap().unwrap().path();
    let text = std::fs::read_to_string(&file).unwrap();
    let field = format!(",\"base_url\":\"{}\"", own.base_url);
    assert!(text.contains(&field), "{text}");
    std::fs::write(&file, text.replace(&field, "")).unwrap();
    let (out, err, code) = setup_other(&root, &other, &["-p", "--continue", "second"]).run_piped("");
    assert_eq!((out.as_str(), code), ("", 2), "{err}");
    assert!(err.contains("it began with scripted-1 at a provider that is not recorded"), "{err}");
    let named = setup_other(&root, &other, &["-p", "--continue", "second"]).env("AYE_MODEL", "scripted-1");
    assert_eq!(named.run_piped("").0, "Other.\n", "the same model continues");
}

#[test]
fn session_opens_without_a_provider_and_nothing_is_invented() {
    let runtime = Runtime::new().unwrap();
    let service = start_service(&runtime, "Real reply.");
    let setup = Setup::new(&["-p", "about clocks"]).env("MY_KEY", "sk-1234567890");
    let settings = "[model]\ntitles = false\nprofile = \"p\"\n[profiles.p]\nmodel = \"m\"\nkey_env = \"MY_KEY\"\n";
    write_settings(&setup, &format!("{settings}base_url = \"{}\"\n", service.base_url));
    assert_eq!(setup.run_piped("").2, 0);
    let root = setup.root.clone();
    write_settings(&setup, NO_TITLES);
    // Headless, an error is reported: the program does not fall back to the tour, whose script would answer in a folder
    // of its own.
    let (out, err, code) = Setup::with_home(&root, &["-p", "--continue", "more"]).run_piped("");
    assert_eq!((out.as_str(), code), ("", 2), "{err}");
    assert!(err.contains("no model is configured"), "{err}");
    let count = read_entries(root.path()).len();
    for arguments in [&["--continue"][..], &["--resume"]] {
        let mut program = Setup::with_home(&root, arguments).size(100, 30).start();
        if arguments == ["--resume"] {
            program.until("❯ about clocks");
            program.press_keys("\r");
        }
        program.until_all(&["Real reply.", "no provider", "No provider is configured"]);
        submit_message(&mut program, "more");
        program.until("Cannot send the message: no provider is configured");
        program.press_keys("\x1bc");
        program.until("Enter an API key");
        program.press_keys("\x1b");
        program.until_gone("Enter an API key");
        program.press_keys("\x04");
        program.wait_for_exit();
    }
    let entries = read_entries(root.path());
    let invented = |entry: &Entry| matches!(entry, Entry::Replied { .. } | Entry::Asked { .. } | Entry::Planned { .. });
    assert!(entries.len() > count && !entries[count..].iter().any(invented), "{entries:#?}");
    // The script of the tour does not continue a real session, even if it is requested.
    let id = read_session_id(&root);
    let (_, err, code) = Setup::with_home(&root, &["-p", "--tour", "--resume", &id, "more"]).run_piped("");
    assert!(code == 2 && err.contains("no model is configured"), "{err}");
}

#[test]
fn rehearsal_is_applied_without_a_provider_and_without_the_script_of_the_tour() {
    let runtime = Runtime::new().unwrap();
    let call = calls_answer_after(Duration::ZERO, &[("write_file", json!({ "path": "a.txt", "content": "a\n" }))]);
    let service = runtime.block_on(Service::start([call, text_answer("Done.")]));
    let setup = Setup::new(&["-p", "--dry-run", "go"]).env("MY_KEY", "sk-1234567890");
    let settings = "[model]\ntitles = false\nprofile = \"p\"\n[profiles.p]\nmodel = \"m\"\nkey_env = \"MY_KEY\"\n";
    write_settings(&setup, &format!("{settings}base_url = \"{}\"\n", service.base_url));
    let (out, err, code) = setup.run_piped("");
    assert_eq!(code, 0, "{out}{err}");
    write_settings(&setup, NO_TITLES);
    let mut program = Setup::with_home(&setup.root, &["rehearsal", "apply"]).size(100, 30).start();
    let screen = program.until_all(&["a.txt", "no provider"]);
    assert!(!screen.contains("tour"), "{screen}");
}

fn read_session_id(root: &Arc<Folder>) -> String {
    let folder = root.path().join("home/aye/data/sessions");
    let name = std::fs::read_dir(folder).unwrap().next().unwrap().unwrap().file_name();
    name.to_string_lossy().trim_end_matches(".jsonl").to_owned()
}
