//! What a run of the program finds in its home, and what it leaves there.

use super::program::{Program, Setup};
use aye::chat::Entry;
use aye::store::read;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// Writes the settings that the next start reads.
pub fn settings(setup: &Setup, text: &str) {
    let folder = setup.place.path().join("home/aye/config");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("config.toml"), text).unwrap();
}

/// Puts a script of the shell there that can be run. Another process writes it: while this one, which has many threads,
/// holds it open for writing, each process that a thread begins holds it too for a moment, and then nobody can run it.
pub fn script(file: &Path, text: &str) {
    let write = "umask 022; printf '#!/bin/sh\\n%s\\n' \"$1\" > \"$0\" && chmod 755 \"$0\"";
    let status = Command::new("sh").args(["-c", write]).arg(file).arg(text).status().unwrap();
    assert!(status.success());
}

/// Copies a program there for everybody, by another process for the same reason.
pub fn copied(program: &Path, to: &Path) {
    let status = Command::new("cp").arg("--").args([program, to]).status().unwrap();
    assert!(status.success());
    std::fs::set_permissions(to, std::fs::Permissions::from_mode(0o755)).unwrap();
}

/// Puts a program there for everybody, which nobody is to write: another name of the same file where that can be.
pub fn shared(program: &Path, to: &Path) {
    let for_all = program.metadata().unwrap().permissions().mode() & 0o005 == 0o005;
    if !for_all || std::fs::hard_link(program, to).is_err() {
        copied(program, to);
    }
}

/// Settings with which nothing is asked of a service beside the talk, where `--base-url` says which it is.
pub const ALONE: &str = "[model]\ntitles = false\n[profiles.openai]\ncontext_window = 100000000\n";

/// The one session on disk, whole. A line that is being written may be there in part for a moment.
pub fn session(setup: &Setup) -> Vec<Entry> {
    entries(setup.place.path())
}

/// The one session on disk, whole, of what was set up in this place. Nothing where there is none yet; what lies beside it
/// (partial replies, locks) is no session.
pub fn entries(place: &Path) -> Vec<Entry> {
    let Ok(files) = std::fs::read_dir(place.join("home/aye/data/sessions")) else { return Vec::new() };
    let mut files = files.map(|file| file.unwrap().path());
    let Some(file) = files.find(|file| file.extension().is_some_and(|end| end == "jsonl")) else {
        return Vec::new();
    };
    let mut tries = 0;
    loop {
        let read = read(&file).unwrap();
        if read.notices.is_empty() {
            return read.entries;
        }
        tries += 1;
        assert!(tries < 100, "{:?}", read.notices);
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// How many turns have ended.
pub fn ended(entries: &[Entry]) -> usize {
    entries.iter().filter(|entry| matches!(entry, Entry::Ended { .. })).count()
}

/// Waits until so many turns have ended on disk.
pub fn until_ended(program: &mut Program, setup: &Setup, turns: usize) {
    program.until_that(&format!("the end of turn {turns}"), |_| ended(&session(setup)) >= turns);
}

/// Every file below this place that holds this text. It is read here: what a program is given to look for stands on its
/// command line, where trials that watch all of those would find it.
pub fn holders(place: &Path, text: &str) -> Vec<PathBuf> {
    let all = ignore::WalkBuilder::new(place).standard_filters(false).build().map(|entry| entry.unwrap());
    let files = all.filter(|entry| entry.file_type().is_some_and(|kind| kind.is_file()));
    let holds = |file: &PathBuf| String::from_utf8_lossy(&std::fs::read(file).unwrap()).contains(text);
    files.map(ignore::DirEntry::into_path).filter(holds).collect()
}
