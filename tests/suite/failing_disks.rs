//! Disks that refuse writes: an exceeded quota, and a read-only file system.

use crate::support::folder::remove_patiently;
use crate::support::mounts::{continue_with_mounts, mount_small_disk};
use crate::support::preload;
use crate::support::program::Setup;
use crate::support::report_skipped;
use crate::support::service::Service;
use crate::support::stored_files::{NO_TITLES, read_entries, write_settings};
use crate::support::terminal_session::{calls_answer_after, submit_message, text_answer};
use rustix::mount::{MountFlags, mount_remount};
use serde_json::json;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use std::time::Duration;

/// Fails every write to a file in a folder with EDQUOT, because few machines have a file system with quotas. If
/// `AYE_TEST_BROKEN` names a file, writes fail with EROFS while that file exists: a system makes a damaged disk
/// read-only while files are open, and a test cannot.
const QUOTA: &str = r#"
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

ssize_t write(int file, const void *bytes, size_t count) {
    char link[64], path[4096];
    const char *below = getenv("AYE_TEST_QUOTA"), *broken = getenv("AYE_TEST_BROKEN");
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (below && length > 0 && strncmp(path, below, strlen(below)) == 0 && (!broken || access(broken, F_OK) == 0)) {
        errno = broken ? EROFS : EDQUOT;
        return -1;
    }
    return syscall(SYS_write, file, bytes, count);
}
"#;

/// The program in full mode, and a model that calls `write_file` for `a.txt` and then ends its turn.
fn setup_write_call() -> (tokio::runtime::Runtime, Service, Setup) {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let call = ("write_file", json!({ "path": "a.txt", "content": "new\n" }));
    let service = runtime.block_on(Service::start([calls_answer_after(Duration::ZERO, &[call]), text_answer("Done.")]));
    let setup = Setup::new(&["-p", "--base-url", &service.base_url, "--model", "m", "go"]);
    write_settings(&setup, "[approval]\nmode = \"full\"\n");
    (runtime, service, setup)
}

fn real_path(path: &Path) -> PathBuf {
    path.canonicalize().unwrap()
}

/// The result of the call that was sent to the model.
fn read_result(service: &Service) -> String {
    let received = service.received();
    let body = &received.last().expect("a request was sent").body;
    let messages = body["messages"].as_array().expect("a request has messages");
    messages.last().unwrap()["content"].as_str().unwrap_or_default().to_owned()
}

/// Makes writes below this folder fail, as [`QUOTA`] describes. Returns `None`, and reports the test as skipped, if the
/// library for it cannot be built.
fn with_quota(setup: Setup, below: &Path) -> Option<Setup> {
    static LIBRARY: LazyLock<Option<PathBuf>> = LazyLock::new(|| preload::build_library("quota", QUOTA));
    let Some(library) = LIBRARY.as_deref() else {
        report_skipped("no C compiler builds a library here");
        return None;
    };
    let text = |path: &Path| path.to_string_lossy().into_owned();
    Some(setup.env("LD_PRELOAD", &text(library)).env("AYE_TEST_QUOTA", &text(&real_path(below))))
}

#[test]
fn r24_an_exceeded_quota_keeps_the_old_file() {
    let (_runtime, service, setup) = setup_write_call();
    let setup = setup.with_file("a.txt", "old\n");
    let project = setup.root.path().join("project");
    let Some(setup) = with_quota(setup, &project) else { return };
    let (_, err, code) = setup.run_piped("");
    assert!(read_result(&service).contains("the disk is full"), "{}\n{err}", read_result(&service));
    assert_eq!(std::fs::read_to_string(project.join("a.txt")).unwrap(), "old\n");
    assert_eq!(std::fs::read_dir(&project).unwrap().count(), 1, "a temporary file remains");
    assert_eq!(code, 0, "{err}");
}

#[test]
fn r53_reports_an_exceeded_quota_and_prints_the_whole_reply() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let service = runtime.block_on(Service::start([text_answer("The whole reply.")]));
    let setup = Setup::new(&["-p", "--base-url", &service.base_url, "--model", "m", "go"]);
    let data = setup.root.path().join("home/aye/data");
    std::fs::create_dir_all(&data).unwrap();
    let Some(setup) = with_quota(setup, &data) else { return };
    let (out, err, code) = setup.run_piped("");
    assert!(err.contains("The session could not be saved"), "{err}");
    assert_eq!((out.trim_end(), code), ("The whole reply.", 1));
    assert!(err.contains(" is not saved: ") && err.contains("Not kept: 1 message, 1 reply"), "{err}");
}

#[test]
fn r24_r53_reports_a_read_only_disk_and_changes_nothing() {
    if !continue_with_mounts("failing_disks::r24_r53_reports_a_read_only_disk_and_changes_nothing") {
        return;
    }
    let (_runtime, service, setup) = setup_write_call();
    let project = setup.root.path().join("project");
    let data = setup.root.path().join("home/aye/data");
    for folder in [&project, &data] {
        mount_small_disk(folder, "size=512k");
    }
    let setup = setup.with_file("a.txt", "old\n");
    for folder in [&project, &data] {
        mount_remount(folder, MountFlags::RDONLY, c"").unwrap();
    }
    let (out, err, code) = setup.run_piped("");
    assert!(read_result(&service).contains("Read-only file system"), "{}\n{err}", read_result(&service));
    assert_eq!(std::fs::read_to_string(project.join("a.txt")).unwrap(), "old\n");
    assert!(err.contains("The session could not be saved"), "{err}");
    assert!(out.contains("Done.") && code == 1, "{code} {out}");
    assert!(err.contains("Not kept: 1 message, 2 replies, 1 tool outcome"), "{err}");
}

#[test]
fn r53_shows_a_disk_that_became_read_only_and_asks_before_quitting() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let service =
        runtime.block_on(Service::start([text_answer("First."), text_answer("Second."), text_answer("Third.")]));
    let flags = ["--base-url", &service.base_url, "--model", "m"];
    let setup = Setup::new(&flags);
    write_settings(&setup, NO_TITLES);
    let data = setup.root.path().join("home/aye/data");
    std::fs::create_dir_all(&data).unwrap();
    let broken = setup.root.path().join("broken");
    let Some(setup) = with_quota(setup, &data) else { return };
    let mut program = setup.env("AYE_TEST_BROKEN", broken.to_str().unwrap()).start();
    program.until("Messages go to");
    submit_message(&mut program, "one");
    program.until_idle("First.");
    std::fs::write(&broken, "").unwrap();
    submit_message(&mut program, "two");
    program.until("NOT SAVED");
    program.until("Second.");
    program.wait_ms(200);
    program.press_keys("\x04");
    let screen = program.until("Quit without saving");
    assert!(screen.contains("Read-only file system") && screen.contains("loses 1 message, 1 reply"), "{screen}");
    // The session is saved to another folder, complete.
    let project = program.project();
    program.press_until("\x1b[B", &format!("❯ Save to {}/aye-", project.display()));
    program.press_keys("\r");
    assert_eq!(program.wait_for_exit(), 1);
    let copies: Vec<PathBuf> = std::fs::read_dir(&project).unwrap().map(|entry| entry.unwrap().path()).collect();
    let copy = copies.iter().find(|path| path.extension().is_some_and(|end| end == "jsonl")).unwrap();
    let read = aye::store::read(copy).unwrap();
    let texts = format!("{:?}", read.entries);
    assert!(["one", "First.", "two", "Second."].iter().all(|text| texts.contains(text)), "{texts}");
    let id = read.header.unwrap().id.0;
    let screen = program.screen();
    assert!(screen.contains(&format!("aye --resume {id}")), "{screen}");
    // The copy can be moved back and resumed.
    std::fs::rename(copy, data.join(format!("sessions/{id}.jsonl"))).unwrap();
    let mut program = Setup::with_home(&program.root, &[&flags[..], &["--continue"]].concat()).start();
    program.until("Second.");
}

#[test]
fn r53_a_data_folder_removed_under_a_running_session_is_made_again() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let service = runtime.block_on(Service::start([text_answer("First."), text_answer("Second.")]));
    let setup = Setup::new(&["--base-url", &service.base_url, "--model", "m"]);
    write_settings(&setup, NO_TITLES);
    let root = setup.root.clone();
    let data = root.path().join("home/aye/data");
    let mut program = setup.start();
    program.until("Messages go to");
    submit_message(&mut program, "one");
    program.until_idle("First.");
    let has_texts = |texts: &[&str]| {
        let saved = format!("{:?}", read_entries(root.path()));
        texts.iter().all(|text| saved.contains(text))
    };
    remove_patiently(&data).unwrap();
    submit_message(&mut program, "two");
    program.until_idle("Second.");
    program.until_condition("the session is saved whole", |_| has_texts(&["one", "First.", "two", "Second."]));
    program.type_text("unsent words");
    let folder_contains = |folder: &str, text: &str| {
        let files = std::fs::read_dir(data.join(folder)).into_iter().flatten().flatten();
        files.into_iter().any(|file| std::fs::read_to_string(file.path()).is_ok_and(|all| all.contains(text)))
    };
    program.until_condition("the draft is saved", |_| folder_contains("drafts", "unsent words"));
    program.until_condition("the message is in the history", |_| folder_contains("history", "two"));
    assert!(!program.screen().contains("not saved"), "{}", program.screen());
    // Removed again, and nothing is sent before the end.
    remove_patiently(&data).unwrap();
    program.type_text("!");
    program.press_keys("\x04");
    program.press_until("\x03\x03", "aye --resume");
    assert_eq!(program.wait_for_exit(), 0);
    assert!(has_texts(&["one", "First.", "two", "Second."]), "the session is lost");
    assert!(folder_contains("drafts", "unsent words!"), "the draft is lost");
}

#[test]
fn r53_saves_the_session_as_soon_as_the_disk_has_room() {
    if !continue_with_mounts("failing_disks::r53_saves_the_session_as_soon_as_the_disk_has_room") {
        return;
    }
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let service = runtime.block_on(Service::start([text_answer("First."), text_answer("Second.")]));
    let setup = Setup::new(&["--base-url", &service.base_url, "--model", "m"]);
    write_settings(&setup, NO_TITLES);
    let data = setup.root.path().join("home/aye/data");
    mount_small_disk(&data, "size=1m");
    let mut program = setup.start();
    program.until("Messages go to");
    submit_message(&mut program, "one");
    program.until_idle("First.");
    let filler = data.join("filler");
    // Writes until the disk is full.
    let mut file = std::fs::File::create(&filler).unwrap();
    while std::io::Write::write_all(&mut file, &[0; 4096]).is_ok() {}
    while std::io::Write::write_all(&mut file, &[0]).is_ok() {}
    drop(file);
    program.press_keys(&format!("\x1b[200~{}\x1b[201~", "two ".repeat(2_000)));
    program.until("[pasted");
    program.wait_ms(600);
    program.press_keys("\r");
    program.until("NOT SAVED");
    program.until("Second.");
    program.wait_ms(200);
    program.press_keys("\x04");
    program.until("Quit without saving");
    program.press_keys("\r");
    std::fs::remove_file(&filler).unwrap();
    assert_eq!(program.wait_for_exit(), 0, "the program did not exit by itself");
    let file = std::fs::read_dir(data.join("sessions")).unwrap().next().unwrap().unwrap().path();
    let read = aye::store::read(&file).unwrap();
    assert!(read.notices.is_empty() && format!("{:?}", read.entries).contains("Second."));
}
