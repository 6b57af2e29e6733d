//! Drafts in the real program: one per program, an error if it cannot be saved, and restored after a kill.

use crate::support::program::{Program, Setup};
use crate::support::service::{Answer, Service, Step};
use crate::support::stored_files::{NO_TITLES, write_settings};
use crate::support::terminal_session::{runs, say};
use rustix::process::Signal;
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;
use tokio::runtime::Runtime;

fn start_provider(answers: Vec<Answer>) -> (Runtime, Service) {
    let runtime = Runtime::new().unwrap();
    let service = runtime.block_on(Service::start(answers));
    (runtime, service)
}

fn stalled_reply() -> Vec<Answer> {
    vec![Answer::stream().says("Half a reply").then(Step::Stall)]
}

fn drafts(program: &Program) -> PathBuf {
    program.place.path().join("home/aye/data/drafts")
}

/// The content of all draft files.
fn read_drafts(program: &Program) -> String {
    let files = std::fs::read_dir(drafts(program)).into_iter().flatten().flatten();
    files.map(|file| std::fs::read_to_string(file.path()).unwrap_or_default()).collect()
}

fn kill(program: &mut Program) {
    program.signal(Signal::KILL);
    program.wait_for_exit();
}

#[test]
fn two_programs_in_one_folder_keep_a_draft_each_and_get_it_back_after_a_kill() {
    let (_runtime, service) = start_provider(stalled_reply());
    let flags = ["--base-url", &service.base_url, "--model", "m"];
    let mut one = Setup::new(&flags).start();
    let place = one.place.clone();
    one.until("Connected to");
    one.types("the first draft");
    let mut two = Setup::again(&place, &flags).start();
    two.until("Connected to");
    one.until_that("the first draft is saved", |program| read_drafts(program).contains("the first draft"));
    assert!(!two.screen().contains("the first draft"), "it belongs to the other program");
    two.types("the second draft");
    two.until_that("both drafts are saved", |program| {
        let text = read_drafts(program);
        text.contains("the first draft") && text.contains("the second draft")
    });
    for file in std::fs::read_dir(drafts(&one)).unwrap() {
        assert_eq!(file.unwrap().metadata().unwrap().mode() & 0o777, 0o600);
    }
    kill(&mut one);
    kill(&mut two);
    let mut one = Setup::again(&place, &flags).start();
    one.until("the second draft");
    let mut two = Setup::again(&place, &flags).start();
    two.until("the first draft");
    assert!(!two.screen().contains("the second draft") && !one.screen().contains("the first draft"));
}

#[test]
fn unsaved_draft_is_reported_once_and_saved_later() {
    let (_runtime, service) = start_provider(stalled_reply());
    let mut program = Setup::new(&["--base-url", &service.base_url, "--model", "m"]).size(110, 30).start();
    program.until("Connected to");
    say(&mut program, "go");
    program.until("Half a reply");
    let (drafts, away) = (drafts(&program), program.place.path().join("away"));
    std::fs::rename(&drafts, &away).unwrap();
    std::fs::write(&drafts, "").unwrap();
    program.types("half a");
    let screen = program.until("draft not saved");
    assert!(screen.contains("Cannot save unsent text: not a directory."), "{screen}");
    // Typing still works, and the error is shown once.
    program.types(" thought");
    program.until("half a thought");
    program.until_gone("Cannot save");
    program.types(", more");
    program.wait_ms(3000);
    let screen = program.screen();
    assert!(screen.contains("draft not saved") && !screen.contains("Cannot save"), "{screen}");
    std::fs::remove_file(&drafts).unwrap();
    std::fs::rename(&away, &drafts).unwrap();
    program.until_gone("draft not saved");
    assert!(read_drafts(&program).contains("half a thought, more"));
}

#[test]
fn damaged_draft_is_reported_and_the_session_continues_without_it() {
    let (_runtime, service) = start_provider(stalled_reply());
    let flags = ["--base-url", &service.base_url, "--model", "m"];
    let mut program = Setup::new(&flags).start();
    let place = program.place.clone();
    program.until("Connected to");
    say(&mut program, "go");
    program.until("Half a reply");
    program.types("more");
    program.until_that("the draft is saved", |program| read_drafts(program).contains("more"));
    kill(&mut program);
    let file = std::fs::read_dir(drafts(&program)).unwrap().next().unwrap().unwrap().path();
    std::fs::write(&file, "{\"draft\": [{\"typed").unwrap();
    let mut program = Setup::again(&place, &[&flags[..], &["--continue"]].concat()).size(110, 30).start();
    let screen = program.until("Cannot read the unsent draft");
    assert!(screen.contains("▌ go"), "{screen}");
    program.types("again");
    program.until_that("the draft is saved", |program| read_drafts(program).contains("again"));
    let aside = std::fs::read_to_string(file.with_extension("damaged")).unwrap();
    assert!(aside.contains("typed"));
}

#[test]
fn output_of_a_command_killed_with_the_program_is_kept() {
    let (_runtime, service) = start_provider(vec![runs("printf 'one\\n\\033[31mtwo\\033[0m\\n'; sleep 100")]);
    let flags = ["--base-url", &service.base_url, "--model", "m"];
    let setup = Setup::new(&flags).size(110, 30);
    write_settings(&setup, NO_TITLES);
    let mut program = setup.start();
    let place = program.place.clone();
    program.until("Connected to");
    say(&mut program, "go");
    program.until_asked("sleep 100");
    program.keys("y");
    program.until_gone("Run a command?");
    program.until("two");
    let sessions = place.path().join("home/aye/data/sessions");
    program.until_that("the output is saved", |_| {
        let files = std::fs::read_dir(&sessions).unwrap().flatten();
        files.into_iter().any(|file| std::fs::read_to_string(file.path()).unwrap().contains("\"printed\""))
    });
    kill(&mut program);
    let again = [&flags[..], &["--continue"]].concat();
    let mut program = Setup::again(&place, &again).size(110, 30).start();
    program.until("ask mode");
    // The expanded call shows the whole outcome.
    program.keys("\x1b[1;3A");
    program.press_until("\r", "Output until then:");
    let screen = program.screen();
    assert!(screen.contains("outcome is unknown") && screen.contains("one") && screen.contains("two"), "{screen}");
}
