//! Switching between sessions, themes and models on the screen, also during a turn.

use crate::overlay_sandbox_escapes::has_overlay_sandbox;
use crate::support::folder::Folder;
use crate::support::keyboard::PATIENCE;
use crate::support::program::Setup;
use crate::support::service::{Answer, Service, Step};
use crate::support::stored_files::{NO_TITLES, write_settings};
use crate::support::terminal_session::{submit_message, text_answer};
use std::sync::Arc;
use tokio::runtime::Runtime;

fn start_service(answers: Vec<Answer>) -> (Runtime, Service) {
    let runtime = Runtime::new().unwrap();
    let service = runtime.block_on(Service::start(answers));
    (runtime, service)
}

fn list_session_files(place: &Arc<Folder>) -> Vec<std::path::PathBuf> {
    let files = std::fs::read_dir(place.path().join("home/aye/data/sessions")).unwrap();
    let files = files.map(|file| file.unwrap().path());
    files.filter(|file| file.extension().is_some_and(|extension| extension == "jsonl")).collect()
}

#[test]
fn resume_without_an_id_opens_the_session_list() {
    let (_runtime, service) = start_service(vec![text_answer("First reply."), text_answer("Second reply.")]);
    let arguments = ["--base-url", &service.base_url, "--model", "m"];
    let setup = Setup::new(&arguments);
    // The session must be listed by its first message, not by a title that is still on its way.
    write_settings(&setup, NO_TITLES);
    let mut program = setup.start();
    program.until("Messages go to");
    submit_message(&mut program, "about clocks");
    program.until_idle("First reply.");
    program.press_keys("\x04");
    program.wait_for_exit();
    let root = program.root.clone();
    let mut program = Setup::with_home(&root, &[&arguments[..], &["--resume"]].concat()).start();
    let screen = program.until("about clocks");
    assert!(screen.contains("Sessions"), "{screen}");
    program.press_keys("\r");
    program.until("First reply.");
    submit_message(&mut program, "and more");
    program.until("Second reply.");
}

#[test]
fn switches_sessions_during_a_reply_without_losing_it() {
    let stalls = Answer::stream().text("Half a reply").with_step(Step::Stall);
    let (runtime, service) = start_service(vec![stalls, text_answer("Elsewhere.")]);
    let mut program = Setup::new(&["--base-url", &service.base_url, "--model", "m"]).start();
    program.until("Messages go to");
    submit_message(&mut program, "the first");
    program.until("Half a reply");
    submit_message(&mut program, "/new");
    program.until("Messages go to");
    assert!(runtime.block_on(service.closed_early(PATIENCE)).is_some(), "the old connection is still open");
    program.type_text("unsent here");
    program.press_keys("\x1bs");
    program.until("❯ the first");
    program.press_keys("\r");
    let screen = program.until("Half a reply");
    assert!(!screen.contains("unsent here"), "{screen}");
    submit_message(&mut program, "/new");
    program.until("Messages go to");
    program.until("unsent here");
}

#[test]
fn saves_a_session_whose_file_was_deleted() {
    let (_runtime, service) = start_service(vec![text_answer("First reply."), text_answer("Second reply.")]);
    let mut program = Setup::new(&["--base-url", &service.base_url, "--model", "m"]).start();
    program.until("Messages go to");
    submit_message(&mut program, "the first");
    program.until_idle("First reply.");
    let files = list_session_files(&program.root);
    assert_eq!(files.len(), 1, "{files:?}");
    std::fs::remove_file(&files[0]).unwrap();
    submit_message(&mut program, "the second");
    program.until("Second reply.");
    program.until_condition("the whole session is saved", |_| {
        let text = std::fs::read_to_string(&files[0]).unwrap_or_default();
        ["First reply.", "the second", "Second reply."].iter().all(|part| text.contains(part))
    });
}

#[test]
fn reports_models_that_cannot_be_listed() {
    let (_runtime, service) = start_service(vec![Answer::body(500, "text/html", &[], "<html>oh no</html>")]);
    let mut program = Setup::new(&["--base-url", &service.base_url, "--model", "m"]).size(100, 24).start();
    program.until("Messages go to");
    submit_message(&mut program, "/model");
    let screen = program.until("Cannot list");
    assert!(!screen.contains("<html>"), "{screen}");
    program.press_keys("\x1b");
    program.until_gone("Cannot list");
    program.type_text("still here");
    program.until("still here");
}

#[test]
fn restores_the_theme_after_a_preview() {
    let (_runtime, service) = start_service(vec![text_answer("x")]);
    let mut program = Setup::new(&["--base-url", &service.base_url, "--model", "m"]).start();
    program.until("? help");
    if has_overlay_sandbox() {
        // Found out after the first frame.
        program.until("Recommended here: /mode auto");
    }
    let before = program.cell_styles();
    program.press_keys("\x1bt");
    program.until("Themes");
    for _ in 0..2 {
        let styles = program.cell_styles();
        program.press_keys("\x1b[B");
        program.until_condition("another theme is previewed", |program| program.cell_styles() != styles);
    }
    program.press_keys("\x1b");
    program.until_condition("the theme is restored", |program| program.cell_styles() == before);
}
