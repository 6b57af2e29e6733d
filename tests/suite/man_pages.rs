//! Man pages, read by the programs that show them.

use crate::support::program::Setup;
use crate::support::report_skipped;
use std::process::Command;

/// Runs a checker on files; returns what it reports, or `None` if it is not installed.
fn check(checker: &str, arguments: &[&str], setup: &Setup) -> Option<String> {
    let pages = setup.root.path().join("project/pages");
    let mut files: Vec<_> = std::fs::read_dir(pages).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    assert!(files.len() > 60, "{files:?}");
    match Command::new(checker).args(arguments).args(files).env("LC_ALL", "C").output() {
        Ok(done) => Some(String::from_utf8_lossy(&[done.stderr, done.stdout].concat()).into_owned()),
        Err(_) => {
            report_skipped(&format!("{checker} is not installed"));
            None
        }
    }
}

#[test]
fn pages_are_accepted_by_groff_and_mandoc() {
    let setup = Setup::new(&["man", "--dir", "pages"]);
    let (out, err, code) = setup.run_piped("");
    assert_eq!((out.as_str(), code), ("", 0), "{err}");
    assert!(err.contains(" pages to pages"), "{err}");
    assert_eq!(check("groff", &["-man", "-Tutf8", "-ww", "-z"], &setup).unwrap_or_default(), "");
    // Pages have no date, so that each build writes the same.
    let report = check("mandoc", &["-T", "lint", "-W", "warning"], &setup).unwrap_or_default();
    let warnings: Vec<&str> = report.lines().filter(|line| !line.contains("missing date")).collect();
    assert_eq!(warnings, [""; 0]);
}

#[test]
fn the_page_of_the_program_is_printed() {
    let setup = Setup::new(&["man"]);
    let (page, err, code) = setup.run_piped("");
    assert_eq!((err.as_str(), code), ("", 0));
    assert!(page.contains(".TH aye 1 ") && page.contains("\\-\\-dry\\-run"), "{page}");
    let (_, err, code) = Setup::new(&["man", "--dir", "file/x"]).with_file("file", "").run_piped("");
    assert!(code == 1 && err.starts_with("aye: Cannot create the folder file/x: "), "{err}");
}
