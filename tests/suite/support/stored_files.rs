//! The files that a run of the program reads from its home and leaves there.

use super::program::{Program, Setup};
use aye::chat::Entry;
use aye::store::read;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// Writes the settings for the next start.
pub fn write_settings(setup: &Setup, text: &str) {
    let folder = setup.root.path().join("home/aye/config");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("config.toml"), text).unwrap();
}

/// Writes an executable shell script. Another process writes it: while this process, which has many threads, has the
/// file open for writing, a child that a thread starts holds it open too for a moment, and then the script cannot be
/// executed.
pub fn write_script(file: &Path, text: &str) {
    let write = "umask 022; printf '#!/bin/sh\\n%s\\n' \"$1\" > \"$0\" && chmod 755 \"$0\"";
    run_to_success(Command::new("sh").args(["-c", write]).arg(file).arg(text));
}

/// Runs a command of the test itself, and fails with its error output if it fails.
fn run_to_success(command: &mut Command) {
    let output = command.output().unwrap();
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
}

/// Copies a program and makes it executable for everyone. Another process copies it, for the reason given at
/// [`write_script`].
pub fn copy_program(program: &Path, target: &Path) {
    run_to_success(Command::new("cp").arg("--").args([program, target]));
    std::fs::set_permissions(target, std::fs::Permissions::from_mode(0o755)).unwrap();
}

/// Makes a program executable for everyone at this path, as a hard link if possible. The file at this path must not be
/// written afterwards, because it may be the program itself.
pub fn share_program(program: &Path, target: &Path) {
    let is_public = program.metadata().unwrap().permissions().mode() & 0o005 == 0o005;
    if !is_public || std::fs::hard_link(program, target).is_err() {
        copy_program(program, target);
    }
}

/// Settings with which the program requests only replies from the service of `--base-url`: no titles, and no context
/// window, because it is set.
pub const NO_TITLES: &str = "[model]\ntitles = false\n[profiles.openai]\ncontext_window = 100000000\n";

/// Reads the only session on disk. Waits until no line is half written.
pub fn read_session(setup: &Setup) -> Vec<Entry> {
    read_entries(setup.root.path())
}

/// Reads the only session of the home in this folder, or nothing if there is none. Other files (partial replies, locks)
/// are ignored. Waits until no line is half written.
pub fn read_entries(root: &Path) -> Vec<Entry> {
    let Ok(files) = std::fs::read_dir(root.join("home/aye/data/sessions")) else { return Vec::new() };
    let mut files = files.map(|file| file.unwrap().path());
    let Some(file) = files.find(|file| file.extension().is_some_and(|extension| extension == "jsonl")) else {
        return Vec::new();
    };
    let mut tries = 0;
    loop {
        let stored = read(&file).unwrap();
        if stored.notices.is_empty() {
            return stored.entries;
        }
        tries += 1;
        assert!(tries < 100, "{:?}", stored.notices);
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Counts the turns that have ended.
pub fn count_ended_turns(entries: &[Entry]) -> usize {
    entries.iter().filter(|entry| matches!(entry, Entry::Ended { .. })).count()
}

/// Waits until this many turns have ended on disk.
pub fn wait_for_turns(program: &mut Program, setup: &Setup, turns: usize) {
    program.until_condition(&format!("the end of turn {turns}"), |_| count_ended_turns(&read_session(setup)) >= turns);
}

/// Finds every file in this folder that contains the text, as [`list_all_files`] does. Files are read here, because a search
/// program would have the text on its command line, where tests that inspect all processes would find it.
pub fn find_files_with(folder: &Path, text: &str) -> Vec<PathBuf> {
    let contains_text = |file: &PathBuf| match std::fs::read(file) {
        Ok(bytes) => String::from_utf8_lossy(&bytes).contains(text),
        Err(error) if error.kind() == io::ErrorKind::NotFound => false,
        Err(error) => panic!("{}: {error}", file.display()),
    };
    list_all_files(folder).into_iter().filter(contains_text).collect()
}

/// Returns whether this is a folder without any rights: the kernel prepares the files of an overlay in such a folder, which
/// an ordinary user cannot enter.
pub fn is_closed_folder(metadata: &std::fs::Metadata) -> bool {
    metadata.is_dir() && metadata.permissions().mode() & 0o777 == 0
}

/// Lists every file in this folder and below it. Skips what is removed meanwhile, and [closed folders](is_closed_folder).
pub fn list_all_files(folder: &Path) -> Vec<PathBuf> {
    let is_closed = |entry: &ignore::DirEntry| entry.metadata().is_ok_and(|metadata| is_closed_folder(&metadata));
    let mut walk = ignore::WalkBuilder::new(folder);
    walk.standard_filters(false).filter_entry(move |entry| !is_closed(entry));
    let mut files = Vec::new();
    for entry in walk.build() {
        match entry {
            Ok(entry) if entry.file_type().is_some_and(|kind| kind.is_file()) => files.push(entry.into_path()),
            Ok(_) => {}
            Err(error) if error.io_error().is_some_and(|error| error.kind() == io::ErrorKind::NotFound) => {}
            Err(error) => panic!("{error}"),
        }
    }
    files
}
