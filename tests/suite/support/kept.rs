//! What a run of the program finds in its home, and what it leaves there.

use super::program::{Program, Setup};
use aye::chat::Entry;
use aye::store::read;

/// Writes the settings that the next start reads.
pub fn settings(setup: &Setup, text: &str) {
    let folder = setup.place.path().join("home/aye/config");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("config.toml"), text).unwrap();
}

/// Settings with which nothing is asked of a service beside the talk, where `--base-url` says which it is.
pub const ALONE: &str = "[model]\ntitles = false\n[profiles.openai]\ncontext_window = 100000000\n";

/// The one session on disk, whole.
pub fn session(setup: &Setup) -> Vec<Entry> {
    let folder = setup.place.path().join("home/aye/data/sessions");
    let Some(Ok(file)) = std::fs::read_dir(folder).ok().and_then(|mut files| files.next()) else {
        return Vec::new();
    };
    let read = read(&file.path()).unwrap();
    assert!(read.notices.is_empty(), "{:?}", read.notices);
    read.entries
}

/// How many turns have ended.
pub fn ended(entries: &[Entry]) -> usize {
    entries.iter().filter(|entry| matches!(entry, Entry::Ended { .. })).count()
}

/// Waits until so many turns have ended on disk.
pub fn until_ended(program: &mut Program, setup: &Setup, turns: usize) {
    for _ in 0..600 {
        if ended(&session(setup)) >= turns {
            return;
        }
        program.lets_pass(50);
    }
    panic!("turn {turns} did not end:\n{}", program.screen());
}
