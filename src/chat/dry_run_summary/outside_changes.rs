//! Changes of a dry run outside the project. Those by file tools can be applied, those by commands cannot.

use super::{APPLY_CHANGE, DryRunChange, LiveCall};
use crate::chat::pluralize;
use serde_json::{Value, json};

/// Text after a change that is not applied.
pub const BY_COMMAND_NOTE: &str = "by a command: not applied, run the command live";

/// All changes of a dry run outside the project.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct OutsideChanges {
    /// The listed changes, sorted by path.
    pub changes: Vec<OutsideChange>,
    /// Number of files that commands changed in folders for temporary files; these are not listed.
    pub temporary_files: usize,
}

/// A change outside the project.
#[derive(Debug, Clone, PartialEq)]
pub struct OutsideChange {
    /// The change; its path is absolute.
    pub change: DryRunChange,
    /// True if `write_file` or `edit_file` wrote exactly this content. Only then can it be applied.
    pub is_by_tool: bool,
}

impl OutsideChange {
    /// Describes the change in a list.
    pub fn summarize(&self) -> String {
        let summary = self.change.summarize();
        match (self.is_by_tool, summary.is_empty()) {
            (true, _) => summary,
            (false, true) => BY_COMMAND_NOTE.to_owned(),
            (false, false) => format!("{summary} · {BY_COMMAND_NOTE}"),
        }
    }
}

impl OutsideChanges {
    pub fn is_empty(&self) -> bool {
        self.changes.is_empty() && self.temporary_files == 0
    }

    /// Returns the line for the files that are not listed; `None` if there are none.
    pub fn describe_temporary(&self) -> Option<String> {
        let files = pluralize(self.temporary_files, "temporary file");
        (self.temporary_files > 0).then(|| format!("{files} in folders such as /tmp, {BY_COMMAND_NOTE}"))
    }

    /// Returns the calls that apply these changes, each with its own prompt.
    pub(super) fn apply_calls(&self) -> impl Iterator<Item = LiveCall> {
        self.tool_changes().map(|outside_change| LiveCall {
            tool: APPLY_CHANGE.to_owned(),
            arguments: json!({ "path": outside_change.change.path.to_string_lossy() }),
            changed_paths: Vec::new(),
        })
    }

    fn tool_changes(&self) -> impl Iterator<Item = &OutsideChange> {
        self.changes.iter().filter(|outside_change| outside_change.is_by_tool)
    }

    /// Describes what applying would ask, one line per prompt.
    pub(super) fn describe_prompts(&self) -> impl Iterator<Item = String> {
        self.tool_changes()
            .map(|outside_change| format!("outside the project: {}", outside_change.change.path.display()))
    }

    /// Returns `2 changes outside the project`; `None` if there are none.
    pub(super) fn describe_count(&self) -> Option<String> {
        let changes = pluralize(self.changes.len() + self.temporary_files, "change");
        (!self.is_empty()).then(|| format!("{changes} outside the project"))
    }

    pub(super) fn to_json(&self) -> Value {
        let change_json = |outside_change: &OutsideChange| {
            let mut object = outside_change.change.to_json();
            object["is_applied"] = json!(outside_change.is_by_tool);
            if let Some(object) = object.as_object_mut() {
                object.remove("group");
            }
            object
        };
        json!({ "changes": self.changes.iter().map(change_json).collect::<Vec<Value>>(), "temporary": self.temporary_files })
    }
}

#[cfg(test)]
mod tests {
    use super::super::DryRunSummary;
    use super::*;
    use crate::chat::batch::Group;
    use crate::chat::{ApplyOptions, ChangeKind};

    fn outside_change(path: &str, is_by_tool: bool) -> OutsideChange {
        let change = DryRunChange {
            path: path.into(),
            kind: ChangeKind::Created,
            is_folder: false,
            diff: None,
            notes: vec!["an empty file".to_owned()],
            has_conflict: false,
            group: Group::default(),
        };
        OutsideChange { change, is_by_tool }
    }

    #[test]
    fn outside_changes_can_be_applied_only_if_a_file_tool_wrote_them() {
        let changes = vec![outside_change("/a/tool", true), outside_change("/b/command", false)];
        let outside = OutsideChanges { changes, temporary_files: 3 };
        let summary = DryRunSummary { outside, ..DryRunSummary::default() };
        assert!(!summary.is_empty());
        assert!(
            summary.describe_counts().ends_with(", 5 changes outside the project"),
            "{}",
            summary.describe_counts()
        );
        for hunks in [false, true] {
            let calls = summary.apply_calls(ApplyOptions { hunks, ..ApplyOptions::default() });
            let paths: Vec<&Value> = calls.iter().map(|call| &call.arguments["path"]).collect();
            assert_eq!(paths, [&json!("/a/tool")]);
        }
        assert_eq!(summary.describe_prompts(), ["outside the project: /a/tool"]);
        assert_eq!(summary.outside.changes[0].summarize(), "an empty file");
        assert_eq!(summary.outside.changes[1].summarize(), format!("an empty file · {BY_COMMAND_NOTE}"));
        let text = summary.outside.describe_temporary().unwrap();
        assert_eq!(text, format!("3 temporary files in folders such as /tmp, {BY_COMMAND_NOTE}"));
        let json = &summary.to_json()["outside_project"];
        assert_eq!((&json["temporary"], &json["changes"][1]["is_applied"]), (&json!(3), &json!(false)));
        assert!(DryRunSummary::default().is_empty() && OutsideChanges::default().describe_temporary().is_none());
    }
}
