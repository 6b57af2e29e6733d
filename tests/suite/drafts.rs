//! Drafts in the real program: one per program, an error if it cannot be saved, and restored after a kill.

use crate::support::program::{Program, Setup};
use crate::support::service::{Answer, Service, Step};
use crate::support::stored_files::{NO_TITLES, write_settings};
use crate::support::terminal_session::{command_answer, submit_message};
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
    vec![Answer::stream().text("Half a reply").with_step(Step::Stall)]
}

fn drafts(program: &Program) -> PathBuf {
    program.root.path().join("home/aye/data/drafts")
}

/// The draft files, without the temporary ones that a kill can leave behind.
fn draft_files(program: &Program) -> Vec<PathBuf> {
    let files = std::fs::read_dir(drafts(program)).into_iter().flatten().flatten();
    files.filter(|file| !file.file_name().as_encoded_bytes().starts_with(b".")).map(|file| file.path()).collect()
}

/// The content of all draft files.
fn read_drafts(program: &Program) -> String {
    draft_files(program).iter().map(|file| std::fs::read_to_string(file).unwrap_or_default()).collect()
}

fn kill(program: &mut Program) {
    program.signal(Signal::KILL);
    program.wait_for_exit();
}

#[test]
fn two_programs_in_one_folder_keep_a_draft_each_and_get_it_back_after_a_kill() {
    let (_runtime, service) = start_provider(stalled_reply());
    let flags = ["--base-url", &service.base_url, "--model", "m"];
    let mut first_program = Setup::new(&flags).start();
    let root = first_program.root.clone();
    first_program.until("Messages go to");
    first_program.type_text("the first draft");
    let mut second_program = Setup::with_home(&root, &flags).start();
    second_program.until("Messages go to");
    first_program
        .until_condition("the first draft is saved", |program| read_drafts(program).contains("the first draft"));
    assert!(!second_program.screen().contains("the first draft"), "it belongs to the other program");
    second_program.type_text("the second draft");
    second_program.until_condition("both drafts are saved", |program| {
        let text = read_drafts(program);
        text.contains("the first draft") && text.contains("the second draft")
    });
    for file in draft_files(&first_program) {
        assert_eq!(file.metadata().unwrap().mode() & 0o777, 0o600);
    }
    kill(&mut first_program);
    kill(&mut second_program);
    // The newest draft is restored first.
    let mut first_program = Setup::with_home(&root, &flags).start();
    first_program.until("the second draft");
    let mut second_program = Setup::with_home(&root, &flags).start();
    second_program.until("the first draft");
    assert!(
        !second_program.screen().contains("the second draft") && !first_program.screen().contains("the first draft")
    );
}

#[test]
fn unsaved_draft_is_reported_once_and_saved_later() {
    let (_runtime, service) = start_provider(stalled_reply());
    let mut program = Setup::new(&["--base-url", &service.base_url, "--model", "m"]).size(110, 30).start();
    program.until("Messages go to");
    submit_message(&mut program, "go");
    program.until("Half a reply");
    let (drafts, away) = (drafts(&program), program.root.path().join("away"));
    std::fs::rename(&drafts, &away).unwrap();
    std::fs::write(&drafts, "").unwrap();
    program.type_text("half a");
    let screen = program.until("draft not saved");
    assert!(screen.contains("Cannot save unsent text: not a directory."), "{screen}");
    // Typing still works, and the error is shown once.
    program.type_text(" thought");
    program.until("half a thought");
    program.until_gone("Cannot save");
    program.type_text(", more");
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
    let root = program.root.clone();
    program.until("Messages go to");
    submit_message(&mut program, "go");
    program.until("Half a reply");
    program.type_text("more");
    program.until_condition("the draft is saved", |program| read_drafts(program).contains("more"));
    kill(&mut program);
    let file = draft_files(&program).remove(0);
    std::fs::write(&file, "{\"draft\": [{\"typed").unwrap();
    let mut program = Setup::with_home(&root, &[&flags[..], &["--continue"]].concat()).size(110, 30).start();
    let screen = program.until("Cannot read the unsent draft");
    assert!(screen.contains("▌ go"), "{screen}");
    program.type_text("again");
    program.until_condition("the draft is saved", |program| read_drafts(program).contains("again"));
    let aside = std::fs::read_to_string(file.with_extension("damaged")).unwrap();
    assert!(aside.contains("typed"));
}

#[test]
fn output_of_a_command_killed_with_the_program_is_kept() {
    let (_runtime, service) = start_provider(vec![command_answer("printf 'one\\n\\033[31mtwo\\033[0m\\n'; sleep 100")]);
    let flags = ["--base-url", &service.base_url, "--model", "m"];
    let setup = Setup::new(&flags).size(110, 30);
    write_settings(&setup, NO_TITLES);
    let mut program = setup.start();
    let root = program.root.clone();
    program.until("Messages go to");
    submit_message(&mut program, "go");
    program.until_prompt("sleep 100");
    program.press_keys("y");
    program.until_gone("Run a command?");
    program.until("two");
    let sessions = root.path().join("home/aye/data/sessions");
    program.until_condition("the output is saved", |_| {
        let files = std::fs::read_dir(&sessions).unwrap().flatten();
        files.into_iter().any(|file| std::fs::read_to_string(file.path()).unwrap().contains("\"printed\""))
    });
    kill(&mut program);
    let again = [&flags[..], &["--continue"]].concat();
    let mut program = Setup::with_home(&root, &again).size(110, 30).start();
    program.until("ask mode");
    // The expanded call shows the whole outcome.
    program.press_keys("\x1b[1;3A");
    program.press_until("\r", "Output until then:");
    let screen = program.screen();
    assert!(screen.contains("outcome is unknown") && screen.contains("one") && screen.contains("two"), "{screen}");
}
