//! The program that reads documents, beside aye or missing.

use crate::support::program::program;
use crate::support::stored_files::{copy_program, share_program};
use serde_json::Value;
use std::path::Path;
use std::process::Command;

/// Runs the doctor of a program and returns its finding about the reader: state and text.
fn check_reader(aye: &Path, home: &Path) -> (String, String) {
    let output = Command::new(aye)
        .args(["doctor", "--json", "--tour"])
        .env_clear()
        .env("AYE_HOME", home)
        .current_dir(home)
        .output()
        .unwrap();
    let output = String::from_utf8(output.stdout).unwrap();
    let findings = output.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let finding = findings.into_iter().find(|finding| finding["area"] == "reader").unwrap();
    let text = |field: &str| finding[field].as_str().unwrap().to_owned();
    (text("state"), text("words"))
}

#[test]
fn doctor_reports_a_missing_reader() {
    let root = tempfile::tempdir().unwrap();
    let (bin, home) = (root.path().join("bin"), root.path().join("home"));
    for folder in [&bin, &home] {
        std::fs::create_dir(folder).unwrap();
    }
    let (aye, reader) = (bin.join("aye"), bin.join("aye-reader"));
    share_program(&program(), &aye);
    let (state, text) = check_reader(&aye, &home);
    assert!(state != "ok" && text.contains("the program aye-reader is missing in"), "{state}: {text}");

    // Another name for the same file would be a change of it for the programs of other tests.
    copy_program(&program().with_file_name("aye-reader"), &reader);
    let (state, text) = check_reader(&aye, &home);
    assert!(state == "ok" && text.contains("aye-reader can be started"), "{state}: {text}");
}

#[test]
fn the_reader_serves_its_own_version_only_and_says_what_it_is_for() {
    let reader = program().with_file_name("aye-reader");
    let other = Command::new(&reader).args(["0.0.1", "check"]).output().unwrap();
    assert_eq!((other.status.code(), other.stdout.len()), (Some(4), 0));
    let output = Command::new(&reader).output().unwrap();
    let text = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{text}");
    assert!(text.starts_with("aye-reader ") && text.contains("reads documents for aye"), "{text}");
}
