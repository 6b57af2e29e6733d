//! Script files that a rule for one exact command is bound to: `scripts = { "run.sh" = "<sha256>" }`.

use super::{RuleParser, truncate_for_display};
use crate::chat::{Digest, Script};
use crate::policy::effects::script_files::{ScriptSet, find_scripts};
use crate::policy::{RuleEffect, RuleTarget, command_line};
use std::path::{Component, Path, PathBuf};

/// Value of a script under `scripts`, instead of a digest, if the file did not exist when the rule was saved.
pub(in crate::config::rules) const MISSING: &str = "missing";

impl RuleParser<'_> {
    /// Returns the bound files, sorted. A rule that allows a command with scripts must list them, because their content
    /// may change later.
    pub(super) fn read_scripts(&mut self, effect: Option<RuleEffect>, target: Option<&RuleTarget>) -> Vec<Script> {
        let has_scripts = self.table.contains_key("scripts");
        let command = match target {
            Some(RuleTarget::Command(command)) if effect == Some(RuleEffect::Allow) => Some(command),
            _ => None,
        };
        let Some(command) = command else {
            if has_scripts && target.is_some() && effect.is_some() {
                self.report_error("scripts", "scripts is only valid in a rule that allows a command");
            }
            return Vec::new();
        };
        let scripts = find_scripts(&command_line::parse_command_line(command));
        if let ScriptSet::Unknown(reason) = &scripts {
            let message = format!("this command cannot be allowed permanently: {reason}");
            self.report_error("command", message);
        }
        if has_scripts {
            return self.read_listed_scripts();
        }
        if let ScriptSet::Files(files) = &scripts {
            let name = files.iter().find(|file| file.is_certain).map_or("a file", |file| file.name.as_str());
            let message = format!(
                "the command runs {}, but the rule does not list its digest. Run `aye rules explain` to get the line to add: scripts = {{ … }}",
                truncate_for_display(name)
            );
            self.report_error("command", message);
        }
        Vec::new()
    }

    /// Reads the files listed under `scripts`.
    fn read_listed_scripts(&mut self) -> Vec<Script> {
        let Some(table) = self.table.get("scripts").and_then(|item| item.as_table_like()) else {
            self.report_error(
                "scripts",
                "scripts must be a table of files with their SHA-256: { \"run.sh\" = \"9f86…\" }",
            );
            return Vec::new();
        };
        let mut scripts = Vec::new();
        for (name, item) in table.iter() {
            let sha256 = match (item.as_str(), item.as_str().and_then(Digest::parse)) {
                (Some(MISSING), _) => None,
                (_, Some(digest)) => Some(digest),
                (_, None) => {
                    let message = format!(
                        "{} must be the 64 hex digits of a SHA-256, or {MISSING:?}. Run `aye rules explain` to get it",
                        truncate_for_display(name)
                    );
                    self.report_error("scripts", message);
                    continue;
                }
            };
            let is_dot_component = |part: Component<'_>| matches!(part, Component::ParentDir | Component::CurDir);
            if name.is_empty() || Path::new(name).components().any(is_dot_component) {
                let message = format!(
                    "{:?} is not a file path: a path must not be empty, begin with ./ or contain ..",
                    truncate_for_display(name)
                );
                self.report_error("scripts", message);
            }
            scripts.push(Script { path: PathBuf::from(name), sha256 });
        }
        scripts.sort_by(|a, b| a.path.cmp(&b.path));
        scripts
    }
}
