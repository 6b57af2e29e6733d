//! Calls that apply a dry run: a prompt for each group of changes, and the commands to run again.

use super::{APPLY, Altered, Did, ForReal, Played, Staging};
use crate::chat::Staged;
use crate::chat::batch::{APPLY_GROUP, Group, repository_of};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Options of applying a dry run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Wanted {
    /// A prompt for each hunk of each file instead of one for each group.
    pub hunks: bool,
    /// Also apply files that git ignores.
    pub ignored: bool,
    /// Also run the commands again that ran in the overlay sandbox; their changes are applied without that.
    pub commands: bool,
}

impl Wanted {
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

impl Played {
    /// Returns whether the sandbox could not do what the command does live: it did not run, or it wanted the network
    /// and failed.
    pub fn must_run_again(&self) -> bool {
        let Some(command) = &self.command else { return false };
        let ran = self.staged.as_ref().is_some_and(Staged::is_ran);
        !self.done && !self.is_withheld() && (!ran || command.network.is_some() && self.bad_end().is_some())
    }
}

impl Played {
    /// Returns whether the call was withheld. Such a call is not offered: applying must not read what the dry run did
    /// not.
    pub fn is_withheld(&self) -> bool {
        self.staged.as_ref().is_some_and(Staged::is_withheld)
    }
}

impl Staging {
    /// Returns the calls that apply the dry run: first the changes, then the commands that were not run live yet.
    pub fn offers(&self, wanted: Wanted) -> Vec<ForReal> {
        let mut calls = if wanted.hunks { self.one_by_one() } else { self.grouped(wanted) };
        calls.extend(self.outside.offers());
        let all = wanted.hunks || wanted.commands;
        let commands = self.steps.iter().filter(|step| {
            step.command.is_some() && !step.done && !step.is_withheld() && (all || step.must_run_again())
        });
        calls.extend(commands.map(|step| {
            let arguments = serde_json::from_str(&step.arguments).unwrap_or_default();
            ForReal { tool: step.tool.clone(), arguments, changed: step.changed.clone() }
        }));
        calls
    }

    /// Returns a call for each group, and for each of several repositories.
    fn grouped(&self, wanted: Wanted) -> Vec<ForReal> {
        let mut calls = Vec::new();
        let mut offer =
            |arguments| calls.push(ForReal { tool: APPLY_GROUP.to_owned(), arguments, changed: Vec::new() });
        for group in Group::ALL.into_iter().filter(|group| wanted.ignored || *group != Group::Ignored) {
            let mut of = self.altered.iter().filter(|altered| altered.group == group);
            if group == Group::Repository {
                let repositories: BTreeSet<PathBuf> =
                    of.filter_map(|altered| repository_of(&altered.path)).collect();
                for git in repositories {
                    offer(json!({ "group": group.word(), "repository": git.to_string_lossy() }));
                }
            } else if of.next().is_some() {
                offer(json!({ "group": group.word() }));
            }
        }
        calls
    }

    /// Returns a call for each change, deletions first, and for each hunk of a file with several.
    fn one_by_one(&self) -> Vec<ForReal> {
        let mut calls = Vec::new();
        let mut offer = |altered: &Altered, line: Option<usize>| {
            let mut arguments = json!({ "path": altered.path.to_string_lossy() });
            if let Some(line) = line {
                arguments["line"] = json!(line);
            }
            calls.push(ForReal { tool: APPLY.to_owned(), arguments, changed: Vec::new() });
        };
        let within = |path: &Path, altered: &Altered| {
            altered.did == Did::Deleted
                && altered.folder
                && path != altered.path
                && path.starts_with(&altered.path)
        };
        for altered in self.altered.iter().rev().filter(|altered| altered.did == Did::Deleted) {
            // Deleting a folder deletes its content.
            if !self.altered.iter().any(|above| within(&altered.path, above)) {
                offer(altered, None);
            }
        }
        for altered in self.altered.iter().filter(|altered| altered.did != Did::Deleted) {
            match &altered.diff {
                Some(diff) if altered.did == Did::Changed && diff.hunks.len() > 1 => {
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
            let is_own = |altered: &&Altered| altered.group == group && !altered.folder;
            let files = self.altered.iter().filter(is_own).count();
            let folders = self.altered.iter().filter(|altered| altered.group == group).count();
            if files > 0 { files } else { folders }
        };
        Group::ALL.into_iter().map(|group| (group, count(group))).filter(|(_, count)| *count > 0).collect()
    }

    /// Describes what applying would ask, one line per prompt or group; empty if nothing can be applied.
    pub fn plan_lines(&self) -> Vec<String> {
        let paths = |count: usize| if count == 1 { "1 path".to_owned() } else { format!("{count} paths") };
        let mut lines: Vec<String> = Vec::new();
        for (group, count) in self.groups() {
            let left_out = if group == Group::Ignored { ", skipped without --ignored" } else { "" };
            lines.push(format!("{}: {}{left_out}", group.label(), paths(count)));
        }
        lines.extend(self.outside.plan_lines());
        for step in self.steps.iter().filter(|step| step.must_run_again()) {
            lines.push(format!("run again: {}", step.summary));
        }
        let ran = |step: &&Played| {
            step.command.is_some() && !step.done && !step.is_withheld() && !step.must_run_again()
        };
        let ran = self.steps.iter().filter(ran).count();
        if ran > 0 && !lines.is_empty() {
            let commands = if ran == 1 { "1 command".to_owned() } else { format!("{ran} commands") };
            lines.push(format!("{commands} ran in the overlay sandbox, skipped without --commands"));
        }
        lines
    }

    /// Returns the groups as JSON.
    pub(super) fn groups_json(&self) -> Value {
        let group = |(group, paths): (Group, usize)| json!({ "group": group.word(), "paths": paths, "left_out": group == Group::Ignored });
        self.groups().into_iter().map(group).collect()
    }
}
