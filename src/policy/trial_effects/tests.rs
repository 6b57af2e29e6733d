//! What is kept without a prompt, and what asks.

use super::*;
use crate::chat::{CommandLine, CommandSandbox, Diff, Hunk, Preview, SandboxAccess, Work};
use proptest::prelude::*;

fn change(kind: ChangeKind, group: Group, path: &str) -> TrialChange {
    TrialChange::sample(kind, group, path)
}

fn report(changes: Vec<TrialChange>) -> TrialReport {
    TrialReport::sample(changes)
}

/// A command in the sandbox of a live session.
fn command_plan(destroys: Option<&str>) -> Plan {
    let sandbox = CommandSandbox::enforced(SandboxAccess::default());
    let line =
        CommandLine { command: "make".into(), folder: "/p".into(), seconds: 30, sandbox, ..CommandLine::default() };
    let (access, preview) = (Access::Run(line.clone().into()), Preview::Command(line.clone()));
    Plan { destroys: destroys.map(str::to_owned), ..Plan::new("", String::new(), access, preview, Work::Command(line)) }
}

const AUTO: Policy = Policy { mode: Mode::Auto, dry_run: false, asks_as_live: false };

#[test]
fn only_confined_commands_of_auto_mode_are_tried_first() {
    assert!(is_tried_first(&AUTO, &command_plan(None)));
    for mode in [Mode::Plan, Mode::Ask, Mode::Full] {
        assert!(!is_tried_first(&Policy { mode, ..AUTO }, &command_plan(None)), "{mode:?}");
    }
    assert!(!is_tried_first(&Policy { dry_run: true, ..AUTO }, &command_plan(None)));
    let with = |change: fn(&mut crate::chat::CommandAccess)| {
        let mut plan = command_plan(None);
        let Access::Run(run) = &mut plan.access else { panic!() };
        change(run);
        is_tried_first(&AUTO, &plan)
    };
    assert!(with(|_| ()));
    assert!(!with(|run| run.line.network = Some("to ask".into())));
    assert!(!with(|run| run.line.sandbox = CommandSandbox::Unavailable("off".into())));
    assert!(!with(|run| {
        run.line.sandbox = CommandSandbox::enforced(SandboxAccess { network: true, ..SandboxAccess::default() });
    }));
    assert!(!with(|run| {
        run.line.sandbox = CommandSandbox::enforced(SandboxAccess { sockets: true, ..SandboxAccess::default() });
    }));
    assert!(!with(|run| run.line.command = "npm start".into()));
    assert!(!with(|run| run.is_sensitive = true));
    assert!(!with(|run| run.may_disclose = true));
    assert!(!with(|run| run.reach = Reach::Denied));
}

#[test]
fn harmless_effects_are_kept_and_all_others_ask() {
    use ChangeKind::{Created, Deleted, Modified};
    use Group::{GitSettings, Ignored, Repository, Source};
    let judge = |change: TrialChange| judge_trial(&command_plan(None), &report(vec![change])).err();
    for kept in [
        change(Created, Ignored, "target"),
        change(Deleted, Ignored, "target/x"),
        change(Modified, Source, "src/a.rs"),
        change(Created, Source, "src/new/b.rs"),
        change(Created, Repository, ".git/objects/ab/cd"),
        change(Modified, Repository, ".git/index"),
        change(Created, Repository, ".git/refs/heads/new"),
        with_lines(change(Modified, Repository, ".git/logs/HEAD"), &[DiffLine::Added("2 commit".into())]),
    ] {
        assert_eq!(judge(kept.clone()), None, "{kept:?}");
    }
    for (asking, why) in [
        (change(Deleted, Source, "a.rs"), "the trial deleted a.rs"),
        (
            change(Created, GitSettings, ".git/hooks/pre-commit"),
            "the trial created .git/hooks/pre-commit, which git obeys",
        ),
        (
            change(Modified, Repository, ".git/logs/HEAD"),
            "the trial changed .git/logs/HEAD: commits or their log may be lost",
        ),
        (
            with_lines(change(Modified, Repository, ".git/logs/HEAD"), &[DiffLine::Removed("1 commit".into())]),
            "the trial changed .git/logs/HEAD: commits or their log may be lost",
        ),
        (change(Modified, Repository, ".git/HEAD"), "the trial changed .git/HEAD, which is more than a commit"),
        (
            change(Created, Repository, ".git/refs/stash"),
            "the trial created .git/refs/stash, which is more than a commit",
        ),
        (
            change(Created, Repository, ".git/refs/tags/v1"),
            "the trial created .git/refs/tags/v1, which is more than a commit",
        ),
        (change(Deleted, Repository, ".git/refs/heads/x"), "the trial deleted .git/refs/heads/x"),
        (
            change(Modified, Repository, "sub/.git/index"),
            "the trial changed sub/.git/index, which is more than a commit",
        ),
        (
            change(Modified, Repository, ".git/objects/ab/cd"),
            "the trial changed .git/objects/ab/cd: commits or their log may be lost",
        ),
        (
            change(Created, Repository, ".git/objects/pack/pack-1.idx"),
            "the trial created .git/objects/pack/pack-1.idx: commits or their log may be lost",
        ),
        (
            TrialChange { files_below: 3, ..change(Created, Source, "new") },
            "the trial created new, whose files are not listed one by one",
        ),
        (
            change(Created, Source, ".github/workflows/ci.yml"),
            "the trial created .github/workflows/ci.yml, which other programs obey",
        ),
        (change(Modified, Source, "sub/.envrc"), "the trial changed sub/.envrc, which other programs obey"),
        (change(Created, Source, "Jenkinsfile"), "the trial created Jenkinsfile, which other programs obey"),
        (
            change(Created, Source, "scripts/hooks/post-checkout"),
            "the trial created scripts/hooks/post-checkout, which other programs obey",
        ),
        (change(Created, Source, "sub/HEAD"), "the trial created sub/HEAD, which other programs obey"),
        (
            TrialChange { leads_outside: true, ..change(Created, Source, "l") },
            "the trial created l, which leads outside the project",
        ),
        (
            TrialChange { is_sensitive: true, ..change(Created, Ignored, ".env") },
            "the trial created .env, which may hold secrets or configure other programs",
        ),
        (
            TrialChange { loses_unsaved: true, ..change(Modified, Source, "a") },
            "the trial changed a: work is lost that is stored nowhere else",
        ),
    ] {
        assert_eq!(judge(asking).as_deref(), Some(why));
    }
}

fn with_lines(mut change: TrialChange, lines: &[DiffLine]) -> TrialChange {
    let removed = lines.iter().filter(|line| matches!(line, DiffLine::Removed(_))).count();
    let hunk = Hunk { before: 1, after: 1, lines: lines.to_vec() };
    let (path, added) = (change.change.path.clone(), lines.len() - removed);
    change.change.diff = Some(Diff { path, created: false, added, removed, hunks: vec![hunk], note: None });
    change
}

#[test]
fn a_branch_moves_only_to_a_commit_of_the_trial_with_a_note_in_its_log() {
    let (old, new) = ("1".repeat(40), "ab".repeat(20));
    let lines = [DiffLine::Removed(old.clone()), DiffLine::Added(new.clone())];
    let branch = || with_lines(change(ChangeKind::Modified, Group::Repository, ".git/refs/heads/main"), &lines);
    let object = |kind, name: &str| change(kind, Group::Repository, &format!(".git/objects/ab/{name}"));
    let log = |path: &str, line: String| {
        with_lines(change(ChangeKind::Modified, Group::Repository, path), &[DiffLine::Added(line)])
    };
    let note = || log(".git/logs/refs/heads/main", format!("{old} {new} a <a@b> 0 +0000\tcommit: x"));
    let commit = || object(ChangeKind::Created, &new[2..]);
    let judge = |changes| judge_trial(&command_plan(None), &report(changes)).err();
    assert_eq!(judge(vec![branch(), commit(), note()]), None);
    let lost = Some("the trial changed .git/refs/heads/main: commits or their log may be lost".to_owned());
    for changes in [
        vec![branch()],
        vec![branch(), note()],
        vec![branch(), object(ChangeKind::Modified, &new[2..]), note()],
        vec![branch(), object(ChangeKind::Created, "cd"), note()],
        vec![branch(), commit()],
        vec![branch(), commit(), log(".git/logs/refs/heads/main", format!("{new} {new} a"))],
        vec![branch(), commit(), log(".git/logs/refs/heads/other", format!("{old} {new} a"))],
    ] {
        assert_eq!(judge(changes), lost);
    }
}

#[test]
fn effects_that_are_not_kept_ask() {
    let judge = |report: TrialReport| judge_trial(&command_plan(None), &report).unwrap_err();
    assert_eq!(judge(TrialReport { doubt: Some("no".into()), ..report(vec![]) }), "no");
    let outside = TrialReport { outside: vec!["/home/a/x".into()], ..report(vec![]) };
    assert_eq!(judge(outside), "the trial changed /home/a/x, outside the project");
    assert_eq!(
        judge(TrialReport { temporary_files: 2, ..report(vec![]) }),
        "the trial left 2 files in the temporary folder"
    );
    let unkeepable = TrialReport { unkeepable: vec![("p".into(), "a pipe".into())], ..report(vec![]) };
    assert_eq!(judge(unkeepable), "the trial changed p: a pipe");
    // A command that is known to destroy something is kept only if git ignores all that it changed.
    let plan = command_plan(Some("deletes target"));
    let (ignored, source) =
        (change(ChangeKind::Deleted, Group::Ignored, "target"), change(ChangeKind::Modified, Group::Source, "a"));
    assert_eq!(judge_trial(&plan, &report(vec![ignored.clone()])), Ok(()));
    assert_eq!(judge_trial(&plan, &report(vec![ignored, source])), Err("it deletes target".to_owned()));
    let local = change(ChangeKind::Deleted, Group::Ignored, "notes.local");
    assert_eq!(judge_trial(&command_plan(Some("deletes notes.local")), &report(vec![local])), Ok(()));
}

proptest! {
    /// More effects never need less approval.
    #[test]
    fn an_effect_that_asks_asks_among_others(
        picks in prop::collection::vec((0usize..3, 0usize..4, 0usize..6, any::<bool>(), any::<bool>()), 1..6),
    ) {
        let kinds = [ChangeKind::Created, ChangeKind::Modified, ChangeKind::Deleted];
        let paths = ["a.rs", ".env", ".git/index", ".git/HEAD", "target/x", "sub/.ci/x"];
        let changes: Vec<TrialChange> = picks
            .into_iter()
            .map(|(kind, group, path, loses_unsaved, is_sensitive)| TrialChange {
                loses_unsaved,
                is_sensitive,
                ..change(kinds[kind], Group::ALL[group], paths[path])
            })
            .collect();
        let plan = command_plan(None);
        let alone = changes.iter().all(|change| judge_trial(&plan, &report(vec![change.clone()])).is_ok());
        prop_assert_eq!(judge_trial(&plan, &report(changes)).is_ok(), alone);
    }
}
