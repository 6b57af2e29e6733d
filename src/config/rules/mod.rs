//! Rules: the user's `rules.toml`, next to their settings, and a project's `.aye/rules.toml` once they trust it.
//!
//! Errors fail closed. An invalid rule that allows is disabled. An invalid rule that asks or denies, or a file that
//! cannot be read, makes every call ask until it is corrected: a typing error must not let a denied call run. A
//! project's rules apply only while the user trusts exactly this version of the file.

pub mod keep;
mod one;
pub mod read;
mod wide;

use super::{Origin, Problem, brought, file, trust};
use crate::policy::{Holds, Rule, Rules};
use read::Sheet;
use std::path::{Path, PathBuf};

/// Maximum size of a rules file in bytes. A longer file is not read.
pub const LONGEST: u64 = 4 << 20;

/// Path of a project's own rules in its directory.
pub const OF_PROJECT: &str = ".aye/rules.toml";

/// Location of the rules files and the data needed to read them.
#[derive(Debug, Clone)]
pub struct Book {
    /// The user's rules. The file need not exist.
    pub file: PathBuf,
    /// File that records which project files the user trusts.
    pub trusted: PathBuf,
    /// Project directory with symlinks resolved.
    pub folder: PathBuf,
    /// Names of the available tools. A rule for any other tool is invalid.
    pub tools: Vec<String>,
    /// The user's home directory, displayed as `~`.
    pub home: Option<PathBuf>,
}

/// Result of reading the rules.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Loaded {
    /// Rules that apply.
    pub rules: Rules,
    /// Project paths of the user's asking and denying rules for other directories. Such a path may become a symlink to
    /// this directory later.
    pub elsewhere: Vec<PathBuf>,
    /// The user's expired rules.
    pub expired: Vec<Rule>,
    /// Errors in file order.
    pub problems: Vec<Problem>,
    /// State of the project's own rules.
    pub own: Own,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Own {
    /// The project has none.
    #[default]
    None,
    /// The user trusts this version; its rules are included.
    Trusted,
    /// The user does not trust this version.
    Untrusted {
        /// The rules in the file, as far as it can be read.
        sheet: Box<Sheet>,
        /// True if an earlier version was trusted.
        changed: bool,
    },
}

impl Book {
    /// Reads all rules. `today` is a date such as `2026-11-22`.
    pub fn load(&self, today: &str) -> Loaded {
        let mut loaded = Loaded::default();
        let mut list = Vec::new();
        match text(&self.file) {
            Ok(None) => {}
            Ok(Some(text)) => {
                let sheet = read::read(&text, &self.shown(&self.file), &self.tools, &Holds::Everywhere);
                self.take(&mut loaded, &mut list, sheet, today);
            }
            Err(why) => loaded.broken(&self.shown(&self.file), 1, &why),
        }
        match brought::text(&self.folder, OF_PROJECT) {
            Ok(None) => {}
            Ok(Some(text)) => {
                let sheet = read::read(&text, OF_PROJECT, &self.tools, &Holds::Trusted);
                match trust::Known::of(&self.trusted, &self.folder).look(OF_PROJECT, &text) {
                    trust::Look::Trusted => {
                        loaded.own = Own::Trusted;
                        self.take(&mut loaded, &mut list, sheet, today);
                    }
                    look => {
                        let (sheet, changed) = (Box::new(sheet), look == trust::Look::Changed);
                        loaded.own = Own::Untrusted { sheet, changed };
                    }
                }
            }
            // A project's file never denies on its own: without trust none of its rules apply, so nothing has to ask.
            Err(why) => loaded.problems.push(Problem {
                at: Origin::File { file: OF_PROJECT.to_owned(), line: 1 },
                words: format!("{why}; none of its rules apply"),
            }),
        }
        // Rules with a narrower scope are listed first.
        list.sort_by_key(|rule: &Rule| match rule.holds {
            Holds::Project(_) => 0,
            Holds::Trusted => 1,
            Holds::Everywhere => 2,
        });
        loaded.rules.also = self.also(&list);
        loaded.rules.list = list;
        loaded
    }

    /// Returns whether the symlinks named by rules still have the targets they had at loading. Does not read the files
    /// again.
    pub fn leads_alike(&self, loaded: &Loaded) -> bool {
        let here = |project: &PathBuf| project.canonicalize().is_ok_and(|real| real == self.folder);
        !loaded.elsewhere.iter().any(here) && self.also(&loaded.rules.list) == loaded.rules.also
    }

    fn also(&self, list: &[Rule]) -> Vec<(usize, Rule)> {
        let names = |(at, rule)| wide::also(rule, &self.folder).into_iter().map(move |also| (at, also));
        list.iter().enumerate().flat_map(names).collect()
    }

    fn take(&self, loaded: &mut Loaded, list: &mut Vec<Rule>, sheet: Sheet, today: &str) {
        loaded.problems.extend(sheet.problems);
        if let Some(why) = sheet.broken {
            loaded.rules.broken.get_or_insert(why);
        }
        for rule in sheet.rules {
            let over = !rule.expires.is_empty() && rule.expires.as_str() < today;
            match (wide::holds_in(&rule, &self.folder), over) {
                (false, true) => {}
                (false, false) => loaded.elsewhere.extend(wide::elsewhere(rule)),
                (true, true) => loaded.expired.push(rule),
                (true, false) => list.push(rule),
            }
        }
    }

    /// Formats a file path with `~` for the user's home directory.
    fn shown(&self, file: &Path) -> String {
        match self.home.as_deref().map(|home| file.strip_prefix(home)) {
            Some(Ok(inside)) => format!("~/{}", inside.display()),
            Some(Err(_)) | None => file.display().to_string(),
        }
    }
}

impl Loaded {
    fn broken(&mut self, file: &str, line: usize, why: &str) {
        let problem = Problem {
            at: Origin::File { file: file.to_owned(), line },
            words: format!("{why}; none of its rules apply and every call asks until this is corrected"),
        };
        self.rules.broken.get_or_insert(format!("{file}:{line}: {why}"));
        self.problems.push(problem);
    }

    /// Returns one sentence for each problem the user should know about.
    pub fn notices(&self) -> Vec<String> {
        self.problems.iter().map(ToString::to_string).chain(self.untrusted()).collect()
    }

    /// Returns a notice if the project has rules that are not trusted in their current version.
    pub fn untrusted(&self) -> Option<String> {
        let Own::Untrusted { sheet, changed, .. } = &self.own else { return None };
        let what = if *changed {
            "has changed since you trusted it, so none of its rules apply"
        } else {
            "is not trusted, so none of its rules apply"
        };
        Some(format!("{OF_PROJECT} of this project ({}) {what}: see /trust", sheet.counted()))
    }
}

/// Reads a rules file. Returns `None` if it does not exist, and an error text if it cannot be read or is not a regular
/// file.
pub fn text(path: &Path) -> Result<Option<String>, String> {
    file::text(path, LONGEST)
}

#[cfg(test)]
mod links_tests;
#[cfg(test)]
mod tests;
