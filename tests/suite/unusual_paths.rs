//! Sessions in unusual places: folders that cannot be written, names that are not UTF-8, files that are not sessions,
//! and two programs in one session.

use crate::support::folder::Folder;
use crate::support::program::Setup;
use crate::support::tls_service::{read_request, serve_connections, stream_reply};
use aye::chat::{Entry, SessionId};
use aye::store::session_header::session_path;
use aye::store::{Header, Log, SessionLog, read};
use rustix::fs::{CWD, FileType, mknodat};
use std::ffi::OsStr;
use std::fs;
use std::io::Write;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

const TOUR: [&str; 2] = ["-p", "--tour"];

fn setup_tour(arguments: &[&str]) -> Setup {
    Setup::new(&[&TOUR[..], arguments].concat())
}

fn setup_again(place: &Arc<Folder>, arguments: &[&str]) -> Setup {
    Setup::with_home(place, &[&TOUR[..], arguments].concat())
}

fn sessions_folder(setup: &Setup) -> PathBuf {
    let folder = setup.root.path().join("home/aye/data/sessions");
    fs::create_dir_all(&folder).unwrap();
    folder
}

/// Creates a live session in the home. It stays open until the returned log is dropped.
fn create_session(setup: &Setup, id: &str) -> SessionLog {
    let folder = setup.root.path().join("project").canonicalize().unwrap();
    let dry_run = false;
    let header = Header::new(SessionId(id.into()), &folder, "m", dry_run);
    let mut log = SessionLog::new(&sessions_folder(setup), &header);
    log.append(&Entry::UserMessage { text: "first".into() }).unwrap();
    log
}

fn check_error(setup: &Setup, code: i32, message: &str) {
    let (out, err, found) = setup.run_piped("");
    assert_eq!((out.as_str(), err.as_str(), found), ("", format!("aye: {message}\n").as_str(), code));
}

#[test]
fn unopenable_session_is_reported_with_exit_code_two() {
    let setup = setup_tour(&["--resume", "01A", "hi"]);
    let open = create_session(&setup, "01ABC");
    check_error(&setup, 2, "Cannot open session 01ABC: it is open in another aye. Close it there first.");
    drop(create_session(&setup, "01ABD"));
    check_error(
        &setup,
        2,
        "Cannot find the session \"01A\": several IDs begin with it: 01ABD, 01ABC. Type more characters.",
    );
    check_error(
        &setup_again(&setup.root, &["--resume", "../01ABC", "hi"]),
        2,
        "Cannot find the session \"../01ABC\": no ID begins with it. List the IDs with `aye sessions --all`.",
    );
    drop(open);
    let resumes_live_session = setup_again(&setup.root, &["--dry-run", "--resume", "01ABC", "hi"]);
    let message = "Cannot rehearse in session 01ABC: it is live, and --dry-run cannot change that. Omit --dry-run, rehearse in a copy with --resume 01ABC --fork --dry-run, or start a new session.";
    check_error(&resumes_live_session, 2, message);
    let missing = setup.root.path().join("gone");
    fs::create_dir(&missing).unwrap();
    let real_gone = missing.canonicalize().unwrap();
    let header = Header::new(SessionId("01GONE".into()), &real_gone, "m", false);
    SessionLog::new(&sessions_folder(&setup), &header).append(&Entry::UserMessage { text: "x".into() }).unwrap();
    fs::remove_dir(&missing).unwrap();
    let message = format!(
        "Cannot continue session 01GONE: its folder {} no longer exists. Restore the folder.",
        real_gone.display()
    );
    check_error(&setup_again(&setup.root, &["--resume", "01gone", "hi"]), 2, &message);
}

#[test]
fn r52_pipe_in_place_of_a_session_never_blocks() {
    let setup = setup_tour(&["--resume", "01PIPE", "hi"]);
    let pipe = sessions_folder(&setup).join("01PIPE.jsonl");
    mknodat(CWD, &pipe, FileType::Fifo, 0o600.into(), 0).unwrap();
    check_error(&setup, 2, &format!("{}: it is not a file", pipe.display()));
}

#[test]
fn resumed_dry_run_stays_one_with_and_without_the_flag() {
    for flags in [&["--resume", "01DRY", "hi"][..], &["--dry-run", "--resume", "01DRY", "hi"]] {
        let setup = setup_tour(flags);
        // The tour continues only its own sessions.
        let folder = setup.root.path().join("home/aye/tour");
        fs::create_dir_all(&folder).unwrap();
        let header = Header::new(SessionId("01DRY".into()), &folder.canonicalize().unwrap(), "tour", true);
        SessionLog::new(&sessions_folder(&setup), &header)
            .append(&Entry::UserMessage { text: "first".into() })
            .unwrap();
        let (_, err, code) = setup.run_piped("");
        let has_notice = err.contains("This session is a dry run and stays one: nothing real is changed.");
        let has_flag = flags.contains(&"--dry-run");
        assert_eq!((has_notice, code), (!has_flag, 3), "the tour asks something: {err}");
        let read = read(&session_path(&sessions_folder(&setup), &SessionId("01DRY".into()))).unwrap();
        assert!(read.header.is_some_and(|header| header.dry_run));
        assert!(!read.entries.iter().any(|entry| matches!(entry, Entry::Decided { .. })), "a call asked for approval");
    }
}

#[test]
fn r52_session_without_header_resumes_as_dry_run_with_one_notice() {
    let port = serve_connections(|mut socket| {
        read_request(&mut socket);
        let _ = socket.write_all(&stream_reply("hello"));
    });
    let base = format!("http://127.0.0.1:{port}/v1");
    for (text, notices) in [("", 1), ("garbage\n", 1), ("garbage\n{\"seq\":1,\"at\":", 2)] {
        let setup = Setup::new(&["-p", "--base-url", &base, "--model", "m", "--resume", "01HEAD", "hi"]);
        fs::write(session_path(&sessions_folder(&setup), &SessionId("01HEAD".into())), text).unwrap();
        let (_, err, code) = setup.run_piped("");
        assert_eq!((code, err.lines().count()), (0, notices), "{text:?}: {err}");
        let notice = "The session's first line is missing or damaged, so it continues as a dry run in this folder.";
        assert!(err.contains(notice), "{err}");
    }
}

#[test]
fn r53_unwritable_home_is_reported_in_one_line() {
    let setup = Setup::new(&["-p", "--profile", "tiny", "hi"]);
    let file = setup.root.path().join("home/file");
    fs::write(&file, "x").unwrap();
    let setup = setup.env("AYE_HOME", &file.to_string_lossy());
    let (_, err, code) = setup.run_piped("");
    // The error about the missing profile is the only one.
    assert_eq!((code, err.lines().count()), (2, 1), "{err}");
    let (_, err, code) = setup_tour(&["hi"]).env("AYE_HOME", &file.to_string_lossy()).run_piped("");
    assert!(code == 1 && err.starts_with("aye: Cannot write the project of the script: "), "{err}");
    assert_eq!(err.lines().count(), 1, "{err}");
}

/// Runs `aye -p` in a folder of any name.
fn run_in_folder(folder: &Path, home: &Path, service: &str, arguments: &[&str]) -> (String, i32) {
    let output = std::process::Command::new(env!("CARGO_BIN_EXE_aye"))
        .args(["-p", "--base-url", service, "--model", "m"])
        .args(arguments)
        .current_dir(folder)
        .env_clear()
        .env("AYE_HOME", home)
        .env("NO_PROXY", "127.0.0.1")
        .stdin(std::process::Stdio::null())
        .output()
        .unwrap();
    let all = [output.stdout, output.stderr].concat();
    (String::from_utf8_lossy(&all).into_owned(), output.status.code().unwrap_or(-1))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn project_name_that_is_not_unicode_works() {
    use crate::support::service::{Answer, Service};
    use serde_json::json;
    let call = |name: &str, arguments: serde_json::Value| {
        let function = json!({ "name": name, "arguments": arguments.to_string() });
        let delta = json!({ "tool_calls": [{ "index": 0, "id": "c1", "function": function }] });
        Answer::stream().event(json!({ "choices": [{ "index": 0, "delta": delta }] })).finish("tool_calls")
    };
    let last_reply = Answer::stream().text("Done.").finish("stop").done();
    let service = Service::start([
        call("read_file", json!({ "path": "a.txt" })),
        call("bash_exec", json!({ "command": "ls; sleep 0" })),
        last_reply,
    ])
    .await;
    let root = Folder::new();
    let folder = root.path().join(OsStr::from_bytes(b"na\xffme"));
    fs::create_dir(&folder).unwrap();
    fs::write(folder.join("a.txt"), "inside\n").unwrap();
    let home = root.path().join("home");
    let base = service.base_url.clone();
    let home_copy = home.clone();
    tokio::task::spawn_blocking(move || {
        let (output, code) = run_in_folder(&folder, &home, &base, &["first"]);
        assert!(code == 3 && output.contains("Done.") && !output.contains("saved"), "{output}");
        let (output, code) = run_in_folder(&folder, &home, &base, &["--continue", "second"]);
        assert_eq!((output.as_str(), code), ("Done.\n", 0));
    })
    .await
    .unwrap();
    let read_back = service.received()[1].body["messages"].to_string();
    assert!(read_back.contains("inside"), "{read_back}");
    let file = fs::read_dir(home_copy.join("data/sessions")).unwrap().next().unwrap().unwrap().path();
    let read = read(&file).unwrap();
    assert!(read.notices.is_empty());
    let planned = read.entries.iter().filter(|entry| matches!(entry, Entry::Planned { .. }));
    assert_eq!(planned.count(), 2, "calls in a project with such a name are logged");
}

#[test]
fn r53_deleted_sessions_folder_is_created_again_without_loss() {
    use crate::support::service::Service;
    use crate::support::stored_files::{NO_TITLES, read_session, wait_for_turns, write_settings};
    use crate::support::terminal_session::{submit_message, text_answer};
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let service = runtime.block_on(Service::start(["One.", "Two.", "Three."].map(text_answer)));
    let setup = Setup::new(&["--base-url", &service.base_url, "--model", "m"]).size(100, 30);
    write_settings(&setup, NO_TITLES);
    let (folder, next_setup) = (sessions_folder(&setup), Setup::with_home(&setup.root, &[]));
    let mut program = setup.start();
    program.until("Messages go to");
    submit_message(&mut program, "first");
    wait_for_turns(&mut program, &next_setup, 1);
    fs::remove_dir_all(&folder).unwrap();
    submit_message(&mut program, "second");
    wait_for_turns(&mut program, &next_setup, 2);
    assert!(folder.exists());
    submit_message(&mut program, "third");
    wait_for_turns(&mut program, &next_setup, 3);
    program.press_keys("\x04");
    assert_eq!(program.wait_for_exit(), 0);
    let entries = read_session(&next_setup);
    for word in ["first", "One.", "second", "Two.", "third", "Three."] {
        let has_word =
            |entry: &&Entry| matches!(entry, Entry::UserMessage { text } | Entry::Replied { text, .. } if text == word);
        assert_eq!(entries.iter().filter(has_word).count(), 1, "{word}: {entries:?}");
    }
}
