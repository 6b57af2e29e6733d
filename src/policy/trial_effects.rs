//! The mode `auto` judges a command by what it did on trial instead of by its words.
//!
//! A trial is kept without a prompt only if everything it changed is known to be harmless: build output that git
//! ignores, ordinary files of the project, and commits. Anything else asks, with the result of the trial on the prompt.

use super::{Mode, Policy};
use crate::chat::batch::Group;
use crate::chat::{Access, ChangeKind, DiffLine, Plan, Reach, TrialChange, TrialReport, pluralize};
use crate::text::escaped_path::escape_path;
use std::ffi::OsStr;
use std::path::Path;

/// Files without a leading dot that services read when they build or test a project, in lowercase. One `*` at the end
/// matches anything. Files and folders with a leading dot never need to be listed.
const SERVICE_FILES: [&str; 14] = [
    "jenkinsfile*",
    "azure-pipelines*",
    "bitbucket-pipelines*",
    "appveyor*",
    "cloudbuild*",
    "codefresh*",
    "wercker*",
    "buildspec*",
    "lefthook*",
    "pre-commit*",
    "skaffold*",
    "vercel*",
    "netlify*",
    "fly*",
];
/// Parts of `.git` that a commit changes, relative to it. Those that end with `/` are folders.
const COMMIT_PARTS: [&str; 5] = ["index", "objects/", "refs/heads/", "logs/", "COMMIT_EDITMSG"];

/// Returns whether a call that would ask is tried first, so that its effects are judged: a command in mode `auto` that
/// needs no network and can disclose no secrets, and that would run in a sandbox live too.
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
        return Err(format!("it changed {}, outside the project", escape_path(path)));
    }
    if report.temporary_files > 0 {
        return Err(format!("it left {} in the temporary folder", pluralize(report.temporary_files, "file")));
    }
    if let Some((path, reason)) = report.unkeepable.first() {
        return Err(format!("it changed {}: {reason}", escape_path(path)));
    }
    let ignored_only = report.changes.iter().all(|change| change.change.group == Group::Ignored);
    if let Some(destruction) = plan.destroys.as_ref().filter(|_| !ignored_only) {
        return Err(format!("it {destruction}"));
    }
    report.changes.iter().try_for_each(|change| judge_change(change, &report.changes))
}

/// Judges one of `all_changes` of a trial.
fn judge_change(change: &TrialChange, all_changes: &[TrialChange]) -> Result<(), String> {
    let explain = |why: &str| Err(format!("{}: {why}", change.display_path()));
    if change.is_sensitive {
        return explain("it may hold secrets or configure other programs");
    }
    if change.loses_unsaved {
        return explain("work is lost that is stored nowhere else");
    }
    match (change.change.group, change.change.kind) {
        (Group::Ignored, _) => Ok(()),
        (Group::GitSettings, _) => explain("git obeys it"),
        (Group::Repository | Group::Source, ChangeKind::Deleted) => explain("it was deleted"),
        (Group::Repository, ChangeKind::Created | ChangeKind::Modified) => match is_commit_part(&change.change.path) {
            true if !is_history_lost(change, all_changes) => Ok(()),
            true => explain("it may lose commits or their log"),
            false => explain("more than a commit"),
        },
        (Group::Source, ChangeKind::Created | ChangeKind::Modified) => match is_obeyed(&change.change.path) {
            true => explain("other programs obey it"),
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

/// Returns whether a changed branch may point to something else than a commit of this trial, or a changed log may have
/// lost lines. Branches that are moved back stay in the log only.
fn is_history_lost(change: &TrialChange, all_changes: &[TrialChange]) -> bool {
    let path = &change.change.path;
    let is_below = |folder: &str| path.starts_with(Path::new(".git").join(folder));
    if change.change.kind != ChangeKind::Modified || !is_below("refs") && !is_below("logs") {
        return false;
    }
    let Some(diff) = &change.change.diff else { return true };
    if is_below("logs") {
        return diff.removed > 0;
    }
    let added = diff.hunks.iter().flat_map(|hunk| &hunk.lines).find_map(|line| match line {
        DiffLine::Added(text) => Some(text.trim()),
        DiffLine::Same(_) | DiffLine::Removed(_) => None,
    });
    let Some((folder, file)) = added.and_then(|commit| commit.split_at_checked(2)) else { return true };
    let object = Path::new(".git/objects").join(folder).join(file);
    !all_changes.iter().any(|other| other.change.kind == ChangeKind::Created && other.change.path == object)
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
