//! Changes of a dry run outside the project. Those by file tools can be applied, those by commands cannot.

use super::{APPLY, Altered, ForReal, Staging, plural};
use serde_json::{Value, json};

/// Text after a change that is not applied.
pub const BY_COMMAND: &str = "by a command: not applied, run the command live";

/// All changes of a dry run outside the project.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Outside {
    /// The listed changes, sorted by path.
    pub changes: Vec<OutsideAltered>,
    /// Number of files that commands changed in folders for temporary files; these are not listed.
    pub temporary: usize,
}

/// A change outside the project.
#[derive(Debug, Clone, PartialEq)]
pub struct OutsideAltered {
    /// The change; its path is absolute.
    pub altered: Altered,
    /// True if `write_file` or `edit_file` wrote exactly this content. Only then can it be applied.
    pub is_by_tool: bool,
}

impl OutsideAltered {
    /// Describes the change in a list.
    pub fn brief(&self) -> String {
        let own = self.altered.brief();
        match (self.is_by_tool, own.is_empty()) {
            (true, _) => own,
            (false, true) => BY_COMMAND.to_owned(),
            (false, false) => format!("{own} · {BY_COMMAND}"),
        }
    }
}

impl Outside {
    pub fn is_empty(&self) -> bool {
        self.changes.is_empty() && self.temporary == 0
    }

    /// Returns the line for the files that are not listed; `None` if there are none.
    pub fn temporary_words(&self) -> Option<String> {
        let files = plural(self.temporary, "temporary file");
        (self.temporary > 0).then(|| format!("{files} in folders such as /tmp, {BY_COMMAND}"))
    }

    /// Returns the calls that apply these changes, each with its own prompt.
    pub(super) fn offers(&self) -> impl Iterator<Item = ForReal> {
        self.by_tools().map(|one| ForReal {
            tool: APPLY.to_owned(),
            arguments: json!({ "path": one.altered.path.to_string_lossy() }),
            changed: Vec::new(),
        })
    }

    fn by_tools(&self) -> impl Iterator<Item = &OutsideAltered> {
        self.changes.iter().filter(|one| one.is_by_tool)
    }

    /// Describes what applying would ask, one line per prompt.
    pub(super) fn plan_lines(&self) -> impl Iterator<Item = String> {
        self.by_tools().map(|one| format!("outside the project: {}", one.altered.path.display()))
    }

    /// Returns `2 changes outside the project`; `None` if there are none.
    pub(super) fn words(&self) -> Option<String> {
        let changes = plural(self.changes.len() + self.temporary, "change");
        (!self.is_empty()).then(|| format!("{changes} outside the project"))
    }

    pub(super) fn json(&self) -> Value {
        let change = |one: &OutsideAltered| {
            let mut object = one.altered.json();
            object["is_applied"] = json!(one.is_by_tool);
            if let Some(object) = object.as_object_mut() {
                object.remove("group");
            }
            object
        };
        json!({ "changes": self.changes.iter().map(change).collect::<Vec<Value>>(), "temporary": self.temporary })
    }
}

impl Staging {
    /// Sets the changes outside the project.
    #[must_use]
    pub fn with_outside(self, outside: Outside) -> Self {
        Self { outside, ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chat::batch::Group;
    use crate::chat::{Did, Wanted};

    fn changed(path: &str, is_by_tool: bool) -> OutsideAltered {
        let altered = Altered {
            path: path.into(),
            did: Did::Made,
            folder: false,
            diff: None,
            notes: vec!["an empty file".to_owned()],
            conflict: false,
            group: Group::default(),
        };
        OutsideAltered { altered, is_by_tool }
    }

    #[test]
    fn outside_changes_can_be_applied_only_if_a_file_tool_wrote_them() {
        let changes = vec![changed("/a/tool", true), changed("/b/command", false)];
        let staging = Staging::default().with_outside(Outside { changes, temporary: 3 });
        assert!(!staging.is_empty());
        assert!(staging.words().ends_with(", 5 changes outside the project"), "{}", staging.words());
        for hunks in [false, true] {
            let offers = staging.offers(Wanted { hunks, ..Wanted::default() });
            let paths: Vec<&Value> = offers.iter().map(|offer| &offer.arguments["path"]).collect();
            assert_eq!(paths, [&json!("/a/tool")]);
        }
        assert_eq!(staging.plan_lines(), ["outside the project: /a/tool"]);
        assert_eq!(staging.outside.changes[0].brief(), "an empty file");
        assert_eq!(staging.outside.changes[1].brief(), format!("an empty file · {BY_COMMAND}"));
        let words = staging.outside.temporary_words().unwrap();
        assert_eq!(words, format!("3 temporary files in folders such as /tmp, {BY_COMMAND}"));
        let json = &staging.json()["outside_project"];
        assert_eq!((&json["temporary"], &json["changes"][1]["is_applied"]), (&json!(3), &json!(false)));
        assert!(Staging::default().is_empty() && Outside::default().temporary_words().is_none());
    }
}
