//! Script files that a rule for one exact command is bound to: `scripts = { "run.sh" = "<sha256>" }`.

use super::{Reading, short};
use crate::chat::{Digest, Script};
use crate::policy::reach::scripts::{Runs, scripts};
use crate::policy::{About, Says, shell};
use std::path::{Component, Path, PathBuf};

/// Written in place of a digest if the file did not exist.
pub(in crate::config::rules) const MISSING: &str = "missing";

impl Reading<'_> {
    /// Returns the bound files, sorted. A rule that allows a command with scripts must list them, because their content
    /// may change later.
    pub(super) fn scripts(&mut self, says: Option<Says>, about: Option<&About>) -> Vec<Script> {
        let given = self.table.contains_key("scripts");
        let command = match about {
            Some(About::Command(command)) if says == Some(Says::Allow) => Some(command),
            Some(About::Command(_) | About::Anything | About::Words(_) | About::Path(_) | About::Host(_))
            | None => None,
        };
        let Some(command) = command else {
            if given && about.is_some() && says.is_some() {
                self.wrong("scripts", "scripts is only valid in a rule that allows a command");
            }
            return Vec::new();
        };
        let runs = scripts(&shell::read(command));
        if let Runs::Unknown(why) = &runs {
            let words = format!("this command cannot be allowed permanently: {why}");
            self.wrong("command", words);
        }
        if given {
            return self.listed();
        }
        if let Runs::Files(parts) = &runs {
            let name = parts.iter().find(|part| part.plainly).map_or("a file", |part| part.name.as_str());
            let words = format!(
                "the command runs {}, but the rule does not list its digest. Run `aye rules explain` to get the line to add: scripts = {{ … }}",
                short(name)
            );
            self.wrong("command", words);
        }
        Vec::new()
    }

    /// Reads the files listed under `scripts`.
    fn listed(&mut self) -> Vec<Script> {
        let Some(table) = self.table.get("scripts").and_then(|item| item.as_table_like()) else {
            self.wrong(
                "scripts",
                "scripts must be a table of files with their SHA-256: { \"run.sh\" = \"9f86…\" }",
            );
            return Vec::new();
        };
        let listed: Vec<(String, Option<String>)> =
            table.iter().map(|(name, item)| (name.to_owned(), item.as_str().map(str::to_owned))).collect();
        let mut scripts = Vec::new();
        for (name, held) in listed {
            let sha256 = match (held.as_deref(), held.as_deref().and_then(Digest::read)) {
                (Some(MISSING), _) => None,
                (_, Some(digest)) => Some(digest),
                (_, None) => {
                    let words = format!(
                        "{} must be the 64 hex digits of a SHA-256, or {MISSING:?}. Run `aye rules explain` to get it",
                        short(&name)
                    );
                    self.wrong("scripts", words);
                    continue;
                }
            };
            let odd = |part: Component<'_>| matches!(part, Component::ParentDir | Component::CurDir);
            if name.is_empty() || Path::new(&name).components().any(odd) {
                let words =
                    format!("{:?} is not a file path relative to the project directory", short(&name));
                self.wrong("scripts", words);
            }
            scripts.push(Script { path: PathBuf::from(name), sha256 });
        }
        scripts.sort_by(|a, b| a.path.cmp(&b.path));
        scripts
    }
}
