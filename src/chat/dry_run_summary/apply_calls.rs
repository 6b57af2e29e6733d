//! Calls that apply a dry run: a prompt for each group of changes, and the commands to run again.

use super::{APPLY_CHANGE, DryRunChange, DryRunSummary, LiveCall, RehearsedCall};
use crate::chat::batch::{APPLY_GROUP, Group, find_repository};
use crate::chat::{ChangeKind, ResultOrigin, pluralize};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Options of applying a dry run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ApplyOptions {
    /// A prompt for each hunk of each file instead of one for each group. Includes the files that git ignores and all
    /// commands, as if `ignored` and `commands` were set, because each has its own prompt.
    pub hunks: bool,
    /// Also apply files that git ignores.
    pub ignored: bool,
    /// Also run again, live, the commands that ran in the overlay sandbox. Their changes to the project are applied
    /// even without this.
    pub commands: bool,
}

impl ApplyOptions {
    /// Parses `apply` and the options after it; `None` for any other text.
    pub fn parse(text: &str) -> Option<Self> {
        let mut words = text.split_whitespace();
        let mut options = (words.next() == Some("apply")).then(Self::default)?;
        for word in words {
            match word {
                "hunks" => options.hunks = true,
                "ignored" => options.ignored = true,
                "commands" => options.commands = true,
                _ => return None,
            }
        }
        Some(options)
    }
}

impl RehearsedCall {
    /// Returns whether the command must run live to have its effect: in the dry run it did not run, or it wanted the
    /// network and failed. False if it was withheld or has been run live since.
    pub fn must_run_again(&self) -> bool {
        let has_run = self.origin.as_ref().is_some_and(ResultOrigin::has_run);
        let wants_network = self.command.as_ref().is_some_and(|command| command.network.is_some());
        self.can_run_live() && (!has_run || wants_network && self.failure_status().is_some())
    }

    /// Returns whether it is a command that was not run live yet and can be. A withheld one cannot, because applying
    /// must not read what the dry run did not read.
    fn can_run_live(&self) -> bool {
        self.command.is_some() && !self.is_run_live && !self.is_withheld()
    }

    pub fn is_withheld(&self) -> bool {
        self.origin.as_ref().is_some_and(ResultOrigin::is_withheld)
    }
}

impl DryRunSummary {
    /// Returns the calls that apply the dry run: first the changes, then the commands that were not run live yet.
    pub fn apply_calls(&self, options: ApplyOptions) -> Vec<LiveCall> {
        let mut calls = if options.hunks { self.hunk_calls() } else { self.group_calls(options) };
        calls.extend(self.outside.apply_calls());
        let all_commands = options.hunks || options.commands;
        let is_selected = |call: &&RehearsedCall| call.can_run_live() && (all_commands || call.must_run_again());
        let commands = self.calls.iter().filter(is_selected);
        calls.extend(commands.map(|call| {
            let arguments = serde_json::from_str(&call.arguments).unwrap_or_default();
            LiveCall { tool: call.tool.clone(), arguments, changed_paths: call.changed_paths.clone() }
        }));
        calls
    }

    /// Returns a call for each group with changes. The changes of each repository get their own call.
    fn group_calls(&self, options: ApplyOptions) -> Vec<LiveCall> {
        let mut calls = Vec::new();
        let mut push_call =
            |arguments| calls.push(LiveCall { tool: APPLY_GROUP.to_owned(), arguments, changed_paths: Vec::new() });
        for group in Group::ALL.into_iter().filter(|group| options.ignored || *group != Group::Ignored) {
            let mut group_changes = self.changes.iter().filter(|change| change.group == group);
            if group == Group::Repository {
                let repositories: BTreeSet<PathBuf> =
                    group_changes.filter_map(|change| find_repository(&change.path)).collect();
                for repository in repositories {
                    push_call(json!({ "group": group.as_str(), "repository": repository.to_string_lossy() }));
                }
            } else if group_changes.next().is_some() {
                push_call(json!({ "group": group.as_str() }));
            }
        }
        calls
    }

    /// Returns a call for each change, deletions first. A file with several hunks gets a call for each hunk.
    fn hunk_calls(&self) -> Vec<LiveCall> {
        let mut calls = Vec::new();
        let mut push_call = |change: &DryRunChange, line: Option<usize>| {
            let mut arguments = json!({ "path": change.path.to_string_lossy() });
            if let Some(line) = line {
                arguments["line"] = json!(line);
            }
            calls.push(LiveCall { tool: APPLY_CHANGE.to_owned(), arguments, changed_paths: Vec::new() });
        };
        let is_deleted_with = |path: &Path, folder: &DryRunChange| {
            folder.kind == ChangeKind::Deleted
                && folder.is_folder
                && path != folder.path
                && path.starts_with(&folder.path)
        };
        for change in self.changes.iter().rev().filter(|change| change.kind == ChangeKind::Deleted) {
            // Deleting a folder deletes its content.
            if !self.changes.iter().any(|other| is_deleted_with(&change.path, other)) {
                push_call(change, None);
            }
        }
        for change in self.changes.iter().filter(|change| change.kind != ChangeKind::Deleted) {
            match &change.diff {
                Some(diff) if change.kind == ChangeKind::Modified && diff.hunks.len() > 1 => {
                    diff.hunks.iter().for_each(|hunk| push_call(change, Some(hunk.after)));
                }
                Some(_) | None => push_call(change, None),
            }
        }
        calls
    }

    /// Returns the number of files in each group, in the order of applying. Folders are counted only in a group without
    /// files.
    pub fn groups(&self) -> Vec<(Group, usize)> {
        let count_paths = |group| {
            let is_file_of_group = |change: &&DryRunChange| change.group == group && !change.is_folder;
            let files = self.changes.iter().filter(is_file_of_group).count();
            let all_paths = self.changes.iter().filter(|change| change.group == group).count();
            if files > 0 { files } else { all_paths }
        };
        Group::ALL.into_iter().map(|group| (group, count_paths(group))).filter(|(_, count)| *count > 0).collect()
    }

    /// Describes what applying would ask, one line per prompt or group; empty if nothing can be applied.
    pub fn describe_prompts(&self) -> Vec<String> {
        let mut lines: Vec<String> = Vec::new();
        for (group, count) in self.groups() {
            let skip_note = if group == Group::Ignored { ", skipped without --ignored" } else { "" };
            lines.push(format!("{}: {}{skip_note}", group.label(), pluralize(count, "path")));
        }
        lines.extend(self.outside.describe_prompts());
        for call in self.calls.iter().filter(|call| call.must_run_again()) {
            lines.push(format!("run again: {}", call.summary));
        }
        let runs_only_on_request = |call: &&RehearsedCall| call.can_run_live() && !call.must_run_again();
        let skipped_commands = self.calls.iter().filter(runs_only_on_request).count();
        if skipped_commands > 0 && !lines.is_empty() {
            let commands = pluralize(skipped_commands, "command");
            lines.push(format!("{commands} ran in the overlay sandbox, skipped without --commands"));
        }
        lines
    }

    pub(super) fn groups_json(&self) -> Value {
        let group_json = |(group, paths): (Group, usize)| {
            let is_excluded = group == Group::Ignored;
            // `left_out` is the old name of `is_excluded`.
            json!({ "group": group.as_str(), "paths": paths, "is_excluded": is_excluded, "left_out": is_excluded })
        };
        self.groups().into_iter().map(group_json).collect()
    }
}
