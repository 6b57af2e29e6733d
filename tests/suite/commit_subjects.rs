//! The check of commit subjects accepts `area: summary` and refuses everything else.

use crate::support::folder::Folder;
use std::path::Path;
use std::process::Command;

fn run_git(folder: &Path, args: &[&str]) {
    let mut command = Command::new("git");
    command.current_dir(folder).args(args);
    for name in ["GIT_AUTHOR_NAME", "GIT_COMMITTER_NAME", "GIT_AUTHOR_EMAIL", "GIT_COMMITTER_EMAIL"] {
        command.env(name, "test@example.com");
    }
    command.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_SYSTEM", "/dev/null");
    let output = command.output().unwrap();
    assert!(output.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&output.stderr));
}

/// Runs the check in a repository whose commits after the first have these subjects; returns whether it passed and
/// what it printed.
fn check(subjects: &[&str]) -> (bool, String) {
    let folder = Folder::new();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join(".ci/subjects");
    run_git(folder.path(), &["init", "-q"]);
    std::fs::create_dir(folder.path().join(".ci")).unwrap();
    std::fs::copy(&script, folder.path().join(".ci/subjects")).unwrap();
    run_git(folder.path(), &["add", "."]);
    run_git(folder.path(), &["commit", "-q", "-m", "Begin without a rule"]);
    for subject in subjects {
        run_git(folder.path(), &["commit", "-q", "--allow-empty", "-m", subject]);
    }
    let output = Command::new("bash").arg(script).current_dir(folder.path()).output().unwrap();
    (output.status.success(), String::from_utf8_lossy(&output.stdout).into_owned())
}

#[test]
fn a_subject_names_an_area_and_the_change() {
    let fine = [
        "policy: ask about links that leave the project",
        "tui, agent: name the queue in the foot",
        "config.example.toml: shorten comments",
        "read-only sandbox: allow statx",
    ];
    let (passed, output) = check(&fine);
    assert!(passed && output.contains("subjects of 4 commits: fine"), "{output}");
    let long = format!("policy: {}", "x".repeat(65));
    for subject in [
        "Take up what else changed",
        "no area here",
        "Policy: capital area",
        "policy:no space",
        "policy: update",
        "policy: various fixes",
        "tests: take up what else changed",
        "docs: more changes",
        "wip: wip",
        long.as_str(),
    ] {
        let (passed, output) = check(&["policy: ask about links", subject]);
        assert!(!passed, "{subject} passed: {output}");
        assert!(output.contains(subject), "{subject}: {output}");
        assert!(output.contains("1 faults in the subjects of 2 commits"), "{subject}: {output}");
    }
}
