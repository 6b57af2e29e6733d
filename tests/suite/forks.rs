//! A session is gone on with in a copy, and stays as it was.

use crate::support::folder::Folder;
use crate::support::program::Setup;
use crate::support::service::{Answer, Service};
use crate::support::talking::{calls_after, say, says, talks};
use serde_json::json;
use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

/// The files of this folder of the program's data, by name.
fn files(place: &Path, folder: &str) -> BTreeMap<String, String> {
    let files = std::fs::read_dir(place.join("home/aye/data").join(folder)).unwrap();
    let file = |path: std::path::PathBuf| {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        Some((name, std::fs::read_to_string(path).ok()?))
    };
    files.filter_map(|entry| file(entry.unwrap().path())).collect()
}

/// The one session there is, and its file.
fn only(place: &Path) -> (String, String) {
    let all = files(place, "sessions");
    assert_eq!(all.len(), 1, "{:?}", all.keys());
    let (name, text) = all.into_iter().next().unwrap();
    (name.trim_end_matches(".jsonl").to_owned(), text)
}

#[test]
fn r51_a_fork_brings_the_half_answered_card_and_answers_nothing_in_the_old_session() {
    let ask = json!({ "questions": [
        { "question": "Which clock?", "keyword": "clock", "options": ["paused", "a trait", "real"] },
        { "question": "Where?", "keyword": "os", "options": ["Linux", "macOS"], "multi": true },
    ]});
    let (_runtime, service, mut program) =
        talks(vec![calls_after(Duration::ZERO, &[("ask_question", ask)]), says("Good.")], (80, 24), &[]);
    say(&mut program, "go");
    program.until_asked("Which clock?");
    program.keys("2");
    program.until("2 of 2 · 1 answered");
    program.keys("1");
    program.until("[x] Linux");
    program.keys("\x1b");
    program.until("2 questions wait");
    let place = program.place.clone();
    let (old, before) = only(place.path());
    say(&mut program, "/fork");
    program.until("this is a copy");
    program.until("2 questions wait");
    let card = |id: &str| files(place.path(), "drafts").get(&format!("{id}.json")).cloned();
    let half = card(&old).expect("what was chosen is kept with the old session");
    let copy = files(place.path(), "sessions").into_keys().find(|name| !name.starts_with(&old)).unwrap();
    let copy = copy.trim_end_matches(".jsonl");
    assert_eq!(card(copy), Some(half.clone()));
    program.keys("\x11");
    program.until_asked("[x] Linux");
    program.keys("\r");
    program.until("your answers");
    program.insists("\r", "Good.");
    let told = service.received()[1].body.to_string();
    assert!(told.contains("a trait") && told.contains("Linux"), "{told}");
    program.until_that("the answered card is forgotten", |_| card(copy).is_none());
    assert_eq!(card(&old), Some(half));
    assert_eq!(files(place.path(), "sessions")[&format!("{old}.jsonl")], before);

    // From the shell too, while the copy is still open here.
    let again = ["--resume", &old, "--fork", "--base-url", &service.base_url, "--model", "scripted-7b"];
    let mut third = Setup::again(&place, &again).start();
    third.until("2 questions wait");
    third.keys("\x11");
    third.until("[x] Linux");
    assert_eq!(files(place.path(), "sessions").len(), 3);
    assert_eq!(files(place.path(), "sessions")[&format!("{old}.jsonl")], before);
}

/// Runs `aye -p` with these arguments in this home, against this service.
fn prints(place: &std::sync::Arc<Folder>, service: &Service, arguments: &[&str]) -> (String, String, i32) {
    let base = ["-p", "--base-url", &service.base_url, "--model", "m"];
    let arguments: Vec<&str> = base.iter().chain(arguments).copied().collect();
    Setup::again(place, &arguments).print("")
}

fn service(answers: Vec<Answer>) -> (tokio::runtime::Runtime, Service) {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let service = runtime.block_on(Service::start(answers));
    (runtime, service)
}

#[test]
fn a_copy_is_gone_on_with_without_a_screen() {
    let (_runtime, service) = service(vec![says("One."), says("Two."), says("Three.")]);
    let place = Setup::new(&[]).place;
    prints(&place, &service, &["first"]);
    let (old, before) = only(place.path());
    let (out, err, code) = prints(&place, &service, &["--continue", "--fork", "second"]);
    assert_eq!((out.as_str(), code), ("Two.\n", 0), "{err}");
    assert!(err.contains(&format!("is a copy of {old}, which is unchanged")), "{err}");
    let all = files(place.path(), "sessions");
    assert_eq!((all.len(), &all[&format!("{old}.jsonl")]), (2, &before));
    let told = service.received()[1].body.to_string();
    assert!(told.contains("first") && told.contains("One.") && told.contains("second"), "{told}");
    // The copy was used last, so it is what goes on.
    prints(&place, &service, &["--continue", "third"]);
    assert!(service.received()[2].body.to_string().contains("second"));
}

#[test]
fn what_cannot_be_copied_is_said_and_leaves_nothing() {
    let (_runtime, service) = service(vec![says("One.")]);
    let place = Setup::new(&[]).place;
    prints(&place, &service, &["first"]);
    let (old, before) = only(place.path());
    std::fs::write(place.path().join("project/answers.json"), r#"{"clock": "real"}"#).unwrap();
    for (arguments, says) in [
        (&["--fork", "x"][..], "--fork needs a session to copy"),
        (&["--fork", "--resume", "01NONE", "x"], "no session matches 01NONE"),
        (&["--fork", "--continue", "--answers", "answers.json"], "has no waiting question"),
        (&["--live", "--continue", "x"], "--fork"),
        (&["--fork", "--continue", "--dry-run", "--live", "x"], "cannot be used with"),
    ] {
        let (out, err, code) = prints(&place, &service, arguments);
        assert!(err.contains(says), "{arguments:?}: {err}");
        assert_eq!((out.as_str(), code), ("", 2), "{arguments:?}");
        assert_eq!(only(place.path()), (old.clone(), before.clone()), "{arguments:?}");
    }
    // Where drafts belong is a file, as on a disk that cannot be written.
    let drafts = place.path().join("home/aye/data/drafts");
    std::fs::remove_dir_all(&drafts).unwrap();
    std::fs::write(&drafts, "").unwrap();
    let (_, err, code) = prints(&place, &service, &["--fork", "--resume", &old, "x"]);
    assert!(err.contains(&format!("Cannot copy session {old}")), "{err}");
    assert_eq!(err.matches("os error").count(), 1, "the cause is told once: {err}");
    assert_eq!(code, 1, "{err}");
    assert_eq!(only(place.path()), (old, before));
}

#[test]
fn r30_a_dry_run_in_which_a_command_left_folders_too_deep_for_a_path_is_copied_and_removed() {
    use rustix::fs::{CWD, Mode, OFlags, mkdirat, openat};
    let write = json!({ "path": "a.txt", "content": "new\n" });
    let (_runtime, service) = service(vec![calls_after(Duration::ZERO, &[("write_file", write)]), says("Would do.")]);
    let place = Setup::new(&[]).place;
    prints(&place, &service, &["--dry-run", "go"]);
    let (old, _) = only(place.path());
    let layers = place.path().join("home/aye/data/rehearsal");
    let how = OFlags::DIRECTORY | OFlags::CLOEXEC;
    let mut at = openat(CWD, layers.join(&old).join("upper"), how, Mode::empty()).unwrap();
    for _ in 0..60 {
        let name = "d".repeat(200);
        mkdirat(&at, &*name, Mode::RWXU).unwrap();
        at = openat(&at, &*name, how, Mode::empty()).unwrap();
    }
    let sessions = |arguments: &[&str]| {
        let (out, err, code) = Setup::again(&place, &[&["sessions"], arguments].concat()).print("");
        assert_eq!((code, err.as_str()), (0, ""), "{out}");
        out
    };
    let told = sessions(&["fork", &old]);
    let copy = told.split_whitespace().next().unwrap();
    assert_eq!(std::fs::read_to_string(layers.join(copy).join("upper/a.txt")).unwrap(), "new\n");
    let told = sessions(&["rm", "--yes", &old, copy]);
    assert_eq!(told, "2 sessions were removed.\n");
    assert_eq!(std::fs::read_dir(&layers).unwrap().count(), 0);
}
