//! Calls that apply a dry run: a prompt for each group of changes, and the commands to run again.

use super::{APPLY_CHANGE, DryRunChange, DryRunSummary, LiveCall, RehearsedCall};
use crate::chat::batch::{APPLY_GROUP, Group, repository_of};
use crate::chat::{ChangeKind, ResultOrigin};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Options of applying a dry run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ApplyOptions {
    /// A prompt for each hunk of each file instead of one for each group.
    pub hunks: bool,
    /// Also apply files that git ignores.
    pub ignored: bool,
    /// Also run the commands again that ran in the overlay sandbox; their changes are applied without that.
    pub commands: bool,
}

impl ApplyOptions {
    /// Parses `apply` and the options after it; `None` for any other text.
    pub fn parse(words: &str) -> Option<Self> {
        let mut words = words.split_whitespace();
        let mut wanted = (words.next() == Some("apply")).then(Self::default)?;
        for word in words {
            match word {
                "hunks" => wanted.hunks = true,
                "ignored" => wanted.ignored = true,
                "commands" => wanted.commands = true,
                _ => return None,
            }
        }
        Some(wanted)
    }
}

impl RehearsedCall {
    /// Returns whether the sandbox could not do what the command does live: it did not run, or it wanted the network
    /// and failed.
    pub fn must_run_again(&self) -> bool {
        let Some(command) = &self.command else { return false };
        let ran = self.origin.as_ref().is_some_and(ResultOrigin::is_ran);
        !self.is_run_live
            && !self.is_withheld()
            && (!ran || command.network.is_some() && self.failure_status().is_some())
    }
}

impl RehearsedCall {
    /// Returns whether the call was withheld. Such a call is not offered: applying must not read what the dry run did
    /// not.
    pub fn is_withheld(&self) -> bool {
        self.origin.as_ref().is_some_and(ResultOrigin::is_withheld)
    }
}

impl DryRunSummary {
    /// Returns the calls that apply the dry run: first the changes, then the commands that were not run live yet.
    pub fn apply_calls(&self, wanted: ApplyOptions) -> Vec<LiveCall> {
        let mut calls = if wanted.hunks { self.hunk_calls() } else { self.group_calls(wanted) };
        calls.extend(self.outside.apply_calls());
        let all = wanted.hunks || wanted.commands;
        let commands = self.calls.iter().filter(|step| {
            step.command.is_some() && !step.is_run_live && !step.is_withheld() && (all || step.must_run_again())
        });
        calls.extend(commands.map(|step| {
            let arguments = serde_json::from_str(&step.arguments).unwrap_or_default();
            LiveCall { tool: step.tool.clone(), arguments, changed_paths: step.changed_paths.clone() }
        }));
        calls
    }

    /// Returns a call for each group, and for each of several repositories.
    fn group_calls(&self, wanted: ApplyOptions) -> Vec<LiveCall> {
        let mut calls = Vec::new();
        let mut offer =
            |arguments| calls.push(LiveCall { tool: APPLY_GROUP.to_owned(), arguments, changed_paths: Vec::new() });
        for group in Group::ALL.into_iter().filter(|group| wanted.ignored || *group != Group::Ignored) {
            let mut of = self.changes.iter().filter(|altered| altered.group == group);
            if group == Group::Repository {
                let repositories: BTreeSet<PathBuf> = of.filter_map(|altered| repository_of(&altered.path)).collect();
                for git in repositories {
                    offer(json!({ "group": group.as_str(), "repository": git.to_string_lossy() }));
                }
            } else if of.next().is_some() {
                offer(json!({ "group": group.as_str() }));
            }
        }
        calls
    }

    /// Returns a call for each change, deletions first, and for each hunk of a file with several.
    fn hunk_calls(&self) -> Vec<LiveCall> {
        let mut calls = Vec::new();
        let mut offer = |altered: &DryRunChange, line: Option<usize>| {
            let mut arguments = json!({ "path": altered.path.to_string_lossy() });
            if let Some(line) = line {
                arguments["line"] = json!(line);
            }
            calls.push(LiveCall { tool: APPLY_CHANGE.to_owned(), arguments, changed_paths: Vec::new() });
        };
        let within = |path: &Path, altered: &DryRunChange| {
            altered.kind == ChangeKind::Deleted
                && altered.is_folder
                && path != altered.path
                && path.starts_with(&altered.path)
        };
        for altered in self.changes.iter().rev().filter(|altered| altered.kind == ChangeKind::Deleted) {
            // Deleting a folder deletes its content.
            if !self.changes.iter().any(|above| within(&altered.path, above)) {
                offer(altered, None);
            }
        }
        for altered in self.changes.iter().filter(|altered| altered.kind != ChangeKind::Deleted) {
            match &altered.diff {
                Some(diff) if altered.kind == ChangeKind::Modified && diff.hunks.len() > 1 => {
                    diff.hunks.iter().for_each(|hunk| offer(altered, Some(hunk.after)));
                }
                Some(_) | None => offer(altered, None),
            }
        }
        calls
    }

    /// Returns the number of paths in each group, in the order of applying. A folder that only contains other changes
    /// is not counted.
    pub fn groups(&self) -> Vec<(Group, usize)> {
        let count = |group| {
            let is_own = |altered: &&DryRunChange| altered.group == group && !altered.is_folder;
            let files = self.changes.iter().filter(is_own).count();
            let folders = self.changes.iter().filter(|altered| altered.group == group).count();
            if files > 0 { files } else { folders }
        };
        Group::ALL.into_iter().map(|group| (group, count(group))).filter(|(_, count)| *count > 0).collect()
    }

    /// Describes what applying would ask, one line per prompt or group; empty if nothing can be applied.
    pub fn describe_prompts(&self) -> Vec<String> {
        let paths = |count: usize| if count == 1 { "1 path".to_owned() } else { format!("{count} paths") };
        let mut lines: Vec<String> = Vec::new();
        for (group, count) in self.groups() {
            let left_out = if group == Group::Ignored { ", skipped without --ignored" } else { "" };
            lines.push(format!("{}: {}{left_out}", group.label(), paths(count)));
        }
        lines.extend(self.outside.describe_prompts());
        for step in self.calls.iter().filter(|step| step.must_run_again()) {
            lines.push(format!("run again: {}", step.summary));
        }
        let ran = |step: &&RehearsedCall| {
            step.command.is_some() && !step.is_run_live && !step.is_withheld() && !step.must_run_again()
        };
        let ran = self.calls.iter().filter(ran).count();
        if ran > 0 && !lines.is_empty() {
            let commands = if ran == 1 { "1 command".to_owned() } else { format!("{ran} commands") };
            lines.push(format!("{commands} ran in the overlay sandbox, skipped without --commands"));
        }
        lines
    }

    /// Returns the groups as JSON.
    pub(super) fn groups_json(&self) -> Value {
        let group = |(group, paths): (Group, usize)| {
            let is_excluded = group == Group::Ignored;
            json!({ "group": group.as_str(), "paths": paths, "is_excluded": is_excluded, "left_out": is_excluded })
        };
        self.groups().into_iter().map(group).collect()
    }
}
