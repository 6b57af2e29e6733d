//! The mode `auto` judges a command by what it did on trial instead of by its words.
//!
//! A trial is kept without a prompt only if everything it changed is known to be harmless: build output that git
//! ignores, ordinary files of the project, and commits. Anything else asks, with the result of the trial on the prompt.

mod endless_commands;

use super::{Mode, Policy};
use crate::chat::batch::Group;
use crate::chat::{Access, ChangeKind, DiffLine, Plan, Reach, TrialChange, TrialReport, pluralize};
use crate::text::escaped_path::escape_path;
use endless_commands::is_endless;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// Files without a leading dot that services read when they build or test a project, or that are hooks of git in whatever
/// folder it finds them, in lowercase. One `*` at the end matches anything. Files and folders with a leading dot never
/// need to be listed.
#[rustfmt::skip]
const SERVICE_FILES: [&str; 29] = [
    "jenkinsfile*", "azure-pipelines*", "bitbucket-pipelines*", "appveyor*", "cloudbuild*", "codefresh*", "wercker*",
    "buildspec*", "lefthook*", "skaffold*", "vercel*", "netlify*", "fly*",
    // Hooks of git
    "applypatch-msg", "pre-applypatch", "post-applypatch", "pre-commit*", "pre-merge-commit", "prepare-commit-msg",
    "commit-msg", "post-commit", "pre-rebase", "post-checkout", "post-merge", "pre-push", "post-rewrite",
    "post-index-change", "reference-transaction",
    // Makes the folder a repository whose settings git obeys
    "head",
];
/// Parts of `.git` that a commit changes, relative to it. Those that end with `/` are folders.
const COMMIT_PARTS: [&str; 5] = ["index", "objects/", "refs/heads/", "logs/", "COMMIT_EDITMSG"];

/// Returns whether a call that would ask is tried first, so that its effects are judged: a command in mode `auto` that
/// needs no network, can disclose no secrets and ends by itself, and that would run in a sandbox live too.
pub fn is_tried_first(policy: &Policy, plan: &Plan) -> bool {
    matches!(&plan.access, Access::Run(run) if run.sandbox.is_offline()) && may_be_tried_first(policy, plan)
}

/// Like [`is_tried_first`], for a plan whose sandbox is not known.
pub(super) fn may_be_tried_first(policy: &Policy, plan: &Plan) -> bool {
    let Access::Run(run) = &plan.access else { return false };
    let reaches_project = match run.reach {
        Reach::Reads | Reach::Writes | Reach::Runs | Reach::Outside | Reach::Unclear => true,
        Reach::Denied => false,
    };
    policy.mode == Mode::Auto
        && !policy.dry_run
        && run.network.is_none()
        && reaches_project
        && !run.is_sensitive
        && !run.may_disclose
        && plan.preconditions.hard_links.is_none()
        && plan.preconditions.sensitive_path().is_none()
        && !is_endless(&run.line.command)
}

/// Judges the effects of a trial that no user has seen.
///
/// # Errors
/// The reason why the user is asked.
pub fn judge_trial(plan: &Plan, report: &TrialReport) -> Result<(), String> {
    if let Some(doubt) = &report.doubt {
        return Err(doubt.clone());
    }
    if let Some(path) = report.outside.first() {
        return Err(format!("the trial changed {}, outside the project", escape_path(path)));
    }
    if report.temporary_files > 0 {
        return Err(format!("the trial left {} in the temporary folder", pluralize(report.temporary_files, "file")));
    }
    if let Some((path, reason)) = report.unkeepable.first() {
        return Err(format!("the trial changed {}: {reason}", escape_path(path)));
    }
    let ignored_only = report.changes.iter().all(|change| change.change.group == Group::Ignored);
    if let Some(destruction) = plan.destroys.as_ref().filter(|_| !ignored_only) {
        return Err(format!("it {destruction}"));
    }
    report.changes.iter().try_for_each(|change| judge_change(change, &report.changes))
}

/// Judges one of `all_changes` of a trial.
fn judge_change(change: &TrialChange, all_changes: &[TrialChange]) -> Result<(), String> {
    let did = match change.change.kind {
        ChangeKind::Created => "created",
        ChangeKind::Modified => "changed",
        ChangeKind::Deleted => "deleted",
    };
    let explain = |why: &str| Err(format!("the trial {did} {}{why}", change.display_path()));
    if change.is_sensitive {
        return explain(", which may hold secrets or configure other programs");
    }
    if change.loses_unsaved {
        return explain(": work is lost that is stored nowhere else");
    }
    match (change.change.group, change.change.kind) {
        (Group::Ignored, _) => Ok(()),
        (Group::GitSettings, _) => explain(", which git obeys"),
        (Group::Repository | Group::Source, ChangeKind::Deleted) => explain(""),
        (Group::Repository, ChangeKind::Created | ChangeKind::Modified) => match is_commit_part(&change.change.path) {
            true if !is_history_lost(change, all_changes) => Ok(()),
            true => explain(": commits or their log may be lost"),
            false => explain(", which is more than a commit"),
        },
        (Group::Source, ChangeKind::Created | ChangeKind::Modified) => match is_obeyed(&change.change.path) {
            true => explain(", which other programs obey"),
            false if change.leads_outside => explain(", which leads outside the project"),
            // Other programs may obey a file in it.
            false if change.files_below > 0 => explain(", whose files are not listed one by one"),
            false => Ok(()),
        },
    }
}

/// Returns whether a commit changes this path of the project's own repository.
fn is_commit_part(path: &Path) -> bool {
    let Ok(inner) = path.strip_prefix(".git") else { return false };
    let stash = ["refs/stash", "logs/refs/stash"].map(Path::new);
    let is_part = |part: &&str| match part.strip_suffix('/') {
        Some(folder) => inner.starts_with(folder),
        None => inner == Path::new(part),
    };
    COMMIT_PARTS.iter().any(is_part) && !stash.contains(&inner)
}

/// Returns whether stored content is replaced, a changed branch may point to something else than a commit of this trial,
/// or a log may have lost lines. Branches that are moved back, or without a note in their log, stay nowhere else.
fn is_history_lost(change: &TrialChange, all_changes: &[TrialChange]) -> bool {
    let path = &change.change.path;
    let is_below = |folder: &str| path.starts_with(Path::new(".git").join(folder));
    // Git writes packs only to store elsewhere what it then removes, or what it received.
    if is_below("objects/pack") {
        return true;
    }
    match change.change.kind {
        ChangeKind::Created => false,
        ChangeKind::Modified if is_below("logs") => change.change.diff.as_ref().is_none_or(|diff| diff.removed > 0),
        ChangeKind::Modified if is_below("refs") => !is_logged_commit(change, all_changes),
        ChangeKind::Modified => is_below("objects"),
        ChangeKind::Deleted => true,
    }
}

/// Returns whether a branch moves to a commit of this trial, and its log says from where.
fn is_logged_commit(branch: &TrialChange, all_changes: &[TrialChange]) -> bool {
    let (Some(old), Some(new)) = (changed_line(branch, false), changed_line(branch, true)) else { return false };
    let is_created = |path: PathBuf| {
        let is_object = |other: &TrialChange| other.change.kind == ChangeKind::Created && other.change.path == path;
        all_changes.iter().any(is_object)
    };
    let Some((folder, file)) = new.split_at_checked(2) else { return false };
    let Ok(name) = branch.change.path.strip_prefix(".git") else { return false };
    let log = Path::new(".git/logs").join(name);
    let has_note = |change: &&TrialChange| changed_line(change, true).is_some_and(|line| line.starts_with(old));
    is_created(Path::new(".git/objects").join(folder).join(file))
        && all_changes.iter().filter(|change| change.change.path == log).any(|change| has_note(&change))
}

/// Returns the first line that a change adds, or removes.
fn changed_line(change: &TrialChange, is_added: bool) -> Option<&str> {
    let lines = change.change.diff.iter().flat_map(|diff| &diff.hunks).flat_map(|hunk| &hunk.lines);
    lines.into_iter().find_map(|line| match line {
        DiffLine::Added(text) if is_added => Some(text.trim()),
        DiffLine::Removed(text) if !is_added => Some(text.trim()),
        DiffLine::Added(_) | DiffLine::Removed(_) | DiffLine::Same(_) => None,
    })
}

/// Returns whether programs other than those the model runs may act on this path: hidden files and folders are settings
/// as a rule, and services look for the listed names.
fn is_obeyed(path: &Path) -> bool {
    let is_hidden = |name: &OsStr| name.as_encoded_bytes().starts_with(b".");
    let name = path.file_name().map(|name| name.to_string_lossy().to_lowercase()).unwrap_or_default();
    let is_service_file = |pattern: &&str| match pattern.strip_suffix('*') {
        Some(prefix) => name.starts_with(prefix),
        None => name == **pattern,
    };
    path.iter().any(is_hidden) || SERVICE_FILES.iter().any(is_service_file)
}

#[cfg(test)]
mod tests;
