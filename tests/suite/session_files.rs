//! Session files with two processes, any umask, and a kill at any moment.

use crate::support::folder::Folder;
use aye::chat::{Entry, SessionId, UnsentText};
use aye::store::private_files::replace;
use aye::store::session_header::session_path;
use aye::store::{Drafts, Error, Header, History, Log, Places, SessionLog, Sessions, draft::Owner, read};
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Instant;

/// Environment variable with the folder that a child process works in.
const FOLDER: &str = "AYE_TEST_FOLDER";

fn user_message(text: &str) -> Entry {
    Entry::UserMessage { text: text.into() }
}

fn session_id() -> SessionId {
    SessionId("01J".into())
}

fn header() -> Header {
    let dry_run = false;
    Header::new(session_id(), Path::new("/project"), "m", dry_run)
}

/// Runs one of the ignored tests below in its own process with this umask.
fn start_child(test: &str, umask: &str, folder: &Path) -> io::Result<Child> {
    let program = std::env::current_exe()?;
    Command::new("sh")
        .args(["-c", "umask \"$0\"; exec \"$@\"", umask])
        .arg(program)
        .args(["--ignored", "--exact", &format!("session_files::{test}")])
        .env(FOLDER, folder)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
}

fn shared_folder() -> PathBuf {
    std::env::var_os(FOLDER).map(PathBuf::from).expect("set by the parent process")
}

#[test]
#[ignore = "the other process of the tests below"]
fn child_that_appends_until_it_is_killed() {
    let mut log = match SessionLog::open(&shared_folder(), &session_id()) {
        Ok((log, _)) => log,
        Err(_) => SessionLog::new(&shared_folder(), &header()),
    };
    for n in 0.. {
        log.append(&user_message(&format!("{n} {}", "x".repeat(n % 3000)))).unwrap();
    }
}

#[test]
#[ignore = "the other process of the tests below"]
fn child_that_appends_when_it_can() {
    append_while_contended("child", &shared_folder());
}

/// Lines that each of the two processes appends.
const EACH: usize = 500;

/// Appends its lines, some at a time, whenever it can open the session. Returns how many times the session was busy.
fn append_while_contended(writer_name: &str, folder: &Path) -> usize {
    let (mut added, mut refused) = (0, 0);
    while added < EACH {
        match SessionLog::open(folder, &session_id()) {
            Ok((mut log, _)) => {
                for _ in 0..(1 + added % 40).min(EACH - added) {
                    log.append(&user_message(&format!("{writer_name} {added}"))).unwrap();
                    added += 1;
                }
            }
            Err(Error::Busy(_)) => refused += 1,
            Err(error) => panic!("{error}"),
        }
    }
    refused
}

#[test]
#[ignore = "the other process of the tests below"]
fn child_that_makes_every_kind_of_file() {
    let places = Places::within(&shared_folder());
    places.prepare().unwrap();
    let sessions = Sessions::new(places.sessions());
    sessions.begin_session(&header()).append(&user_message("x")).unwrap();
    History::new(&places.history(), Path::new("/project")).add_message("x").unwrap();
    Drafts::new(&places).save(&Owner::Session(session_id()), &UnsentText::from_text("x")).unwrap();
    replace(&places.themes().join("mine.toml"), b"x").unwrap();
    aye::config::write_setting(&places.settings(), &["screen", "theme"], "dark").unwrap();
    let mut credentials = aye::config::Credentials::load(&places.credentials()).unwrap();
    credentials.save("p", "https://a/v1", aye::config::Key::new("k")).unwrap();
}

#[test]
#[ignore = "the other process of the tests below"]
fn child_that_forks_until_it_is_killed() {
    let places = Places::within(&shared_folder());
    loop {
        let delete_folder = aye::project::rehearsal::remove_folder;
        let mode = aye::chat::ForkMode::Unchanged;
        aye::store::fork_session(&places, &session_id(), Path::new("/project"), mode.into(), delete_folder)
            .unwrap()
            .keep();
    }
}

fn every_path(folder: &Path, paths: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            every_path(&path, paths)?;
        }
        paths.push(path);
    }
    Ok(())
}

#[test]
fn r56_files_and_folders_are_private_with_any_umask() {
    for umask in ["000", "022", "077"] {
        let home = Folder::new();
        let status = start_child("child_that_makes_every_kind_of_file", umask, home.path()).unwrap().wait().unwrap();
        assert!(status.success(), "umask {umask}");
        let mut paths = Vec::new();
        every_path(home.path(), &mut paths).unwrap();
        assert_eq!(paths.iter().filter(|path| path.is_file()).count(), 6, "{paths:?}");
        for path in paths {
            let mode = path.metadata().unwrap().mode() & 0o777;
            let wanted = if path.is_dir() { 0o700 } else { 0o600 };
            assert_eq!(mode, wanted, "umask {umask}: {} is {mode:o}", path.display());
        }
    }
}

#[test]
fn r51_kill_at_any_moment_leaves_a_complete_fork_or_none() {
    let home = Folder::new();
    let places = Places::within(home.path());
    places.prepare().unwrap();
    let sessions = Sessions::new(places.sessions());
    let mut log = sessions.begin_session(&header());
    for n in 0..20 {
        log.append(&user_message(&format!("{n} {}", "x".repeat(5000)))).unwrap();
    }
    let unsent = UnsentText::from_text("half an answer");
    Drafts::new(&places).save(&Owner::Session(session_id()), &unsent).unwrap();
    let old = fs::read(log.path()).unwrap();
    let entries = sessions.read(&session_id()).unwrap().entries;
    // Only names are counted; reading each file would let the other process create thousands meanwhile.
    let count = || {
        let files = fs::read_dir(places.sessions()).unwrap();
        files.filter(|file| file.as_ref().unwrap().path().extension().is_some()).count()
    };
    for round in 0..6 {
        let before = count();
        let mut process = start_child("child_that_forks_until_it_is_killed", "077", home.path()).unwrap();
        let limit = Instant::now() + crate::support::keyboard::PATIENCE;
        while count() <= before + round {
            assert!(Instant::now() < limit, "the other process created no fork");
        }
        process.kill().unwrap();
        process.wait().unwrap();
    }
    let forks: Vec<_> = sessions.list_all().unwrap().into_iter().filter(|listed| listed.id != session_id()).collect();
    assert!(forks.len() >= 6, "{}", forks.len());
    for copy in forks {
        let read = sessions.read(&copy.id).unwrap();
        assert_eq!((read.entries == entries, read.notices), (true, vec![]), "{}", copy.id);
        assert_eq!(copy.from, Some(session_id()));
        assert_eq!(Drafts::new(&places).load(&Owner::Session(copy.id)).unsent, unsent);
    }
    assert!(fs::read(log.path()).unwrap() == old, "the original session changed");
}

#[test]
fn r51_kill_at_any_moment_loses_at_most_the_line_being_written() {
    let home = Folder::new();
    let file = session_path(home.path(), &session_id());
    let mut entry_count = 0;
    for round in 0..12 {
        let mut process = start_child("child_that_appends_until_it_is_killed", "077", home.path()).unwrap();
        let before = fs::metadata(&file).map_or(0, |data| data.len());
        let limit = Instant::now() + crate::support::keyboard::PATIENCE;
        while fs::metadata(&file).map_or(0, |data| data.len()) <= before + round * 10_000 {
            assert!(Instant::now() < limit, "the other process wrote nothing");
            std::thread::yield_now();
        }
        process.kill().unwrap();
        process.wait().unwrap();
        let (log, read) = SessionLog::open(home.path(), &session_id()).unwrap();
        assert!(read.entries.len() > entry_count, "round {round}");
        assert_eq!(read.last_seq, read.entries.len() as u64, "round {round}: {:?}", read.notices);
        assert!(read.notices.len() as u64 <= round + 1, "round {round}: {:?}", read.notices);
        entry_count = read.entries.len();
        drop(log);
    }
}

#[test]
fn r54_two_processes_share_a_session_without_loss() {
    let home = Folder::new();
    SessionLog::new(home.path(), &header()).append(&user_message("first")).unwrap();
    let mut process = start_child("child_that_appends_when_it_can", "077", home.path()).unwrap();
    let refused = append_while_contended("parent", home.path());
    assert!(process.wait().unwrap().success());
    let read = read(&session_path(home.path(), &session_id())).unwrap();
    for process in ["parent", "child"] {
        let own = |entry: &&Entry| matches!(entry, Entry::UserMessage { text } if text.starts_with(process));
        let added: Vec<Entry> = read.entries.iter().filter(own).cloned().collect();
        let wanted: Vec<Entry> = (0..EACH).map(|n| user_message(&format!("{process} {n}"))).collect();
        assert!(added == wanted, "{process}: {} of {EACH}; refused {refused} times", added.len());
    }
    assert_eq!((read.entries.len(), read.last_seq, read.notices), (2 * EACH + 1, 2 * EACH as u64 + 1, vec![]));
    let text = fs::read_to_string(session_path(home.path(), &session_id())).unwrap();
    let numbers = text.lines().skip(1).map(|line| line["{\"seq\":".len()..].split(',').next().unwrap().to_owned());
    assert!(numbers.eq((1..=2 * EACH + 1).map(|n| n.to_string())), "lines in the file are out of order");
}

#[test]
fn r50_r52_reading_and_resuming_change_no_old_byte() {
    let home = Folder::new();
    let file = session_path(home.path(), &session_id());
    let mut log = SessionLog::new(home.path(), &header());
    for text in ["one", "two", "three"] {
        log.append(&user_message(text)).unwrap();
    }
    drop(log);
    let mut damaged = fs::read(&file).unwrap();
    let middle = damaged.iter().position(|&byte| byte == b'\n').unwrap() + 5;
    damaged[middle..middle + 20].fill(0);
    damaged.extend_from_slice(b"{\"seq\":4,\"at\":0,\"ent");
    fs::write(&file, &damaged).unwrap();
    let (mut log, read) = SessionLog::open(home.path(), &session_id()).unwrap();
    assert_eq!(read.entries, [user_message("two"), user_message("three")]);
    let notices: Vec<String> = read.notices.iter().map(ToString::to_string).collect();
    assert_eq!(
        notices,
        ["line 2 is damaged; unreadable data was skipped", "line 5 was being written when aye ended, and was skipped"]
    );
    log.append(&user_message("four")).unwrap();
    drop(log);
    assert!(fs::read(&file).unwrap().starts_with(&damaged));
    let (_, again) = SessionLog::open(home.path(), &session_id()).unwrap();
    assert_eq!(again.entries, [user_message("two"), user_message("three"), user_message("four")]);
}
