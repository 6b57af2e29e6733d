//! Rules: the person's `rules.toml`, beside their settings, and a project's `.aye/rules.toml` once they trust it.
//!
//! What a file says is taken only as far as that is safe. A wrong rule that allows is off. A wrong rule that asks or
//! denies, or a file of which nothing can be read, makes everything ask until it is mended: what was to be denied must
//! not go ahead because of a typing error. Nothing of a project's file holds before a person trusts it, word for word.

pub mod keep;
mod one;
pub mod read;
mod wide;

use super::{Origin, Problem, brought, file, trust};
use crate::policy::{Holds, Rule, Rules};
use read::Sheet;
use std::path::{Path, PathBuf};

/// Bytes of a rules file; a longer one is not read.
pub const LONGEST: u64 = 4 << 20;

/// Where a project's own rules stand in its folder.
pub const OF_PROJECT: &str = ".aye/rules.toml";

/// Where rules are read from, and what has to be known to read them.
#[derive(Debug, Clone)]
pub struct Book {
    /// The person's rules; the file need not exist.
    pub file: PathBuf,
    /// Which files of which projects the person trusts.
    pub trusted: PathBuf,
    /// The project's folder, its links resolved.
    pub folder: PathBuf,
    /// The tools there are: a rule for another one is a mistake.
    pub tools: Vec<String>,
    /// The person's home, which is written `~`.
    pub home: Option<PathBuf>,
}

/// What was read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Loaded {
    /// What holds.
    pub rules: Rules,
    /// Projects of the person's rules that ask or deny in another folder than this, by the names that are written: such a
    /// name may be a link that leads here one day.
    pub elsewhere: Vec<PathBuf>,
    /// The person's rules whose time is over.
    pub expired: Vec<Rule>,
    /// What is wrong, in the order of the files.
    pub problems: Vec<Problem>,
    /// The project's own.
    pub own: Own,
}

/// A project's own rules.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Own {
    /// It has none.
    #[default]
    None,
    /// The person trusts them as they are; they are among the rules.
    Trusted,
    /// Nobody trusted them yet, or they were changed since.
    Untrusted {
        /// What it says, as far as it can be read.
        sheet: Box<Sheet>,
        /// Whether an earlier text of it was trusted.
        changed: bool,
    },
}

impl Book {
    /// Reads everything. `today` is a day such as `2026-11-22`.
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
            // Nothing of it holds, so nothing is lost but what somebody trusted, and then it is not the same any more.
            Err(why) => loaded.problems.push(Problem {
                at: Origin::File { file: OF_PROJECT.to_owned(), line: 1 },
                words: format!("{why}; nothing in it holds"),
            }),
        }
        // The narrower scope is told of first.
        list.sort_by_key(|rule: &Rule| match rule.holds {
            Holds::Project(_) => 0,
            Holds::Trusted => 1,
            Holds::Everywhere => 2,
        });
        loaded.rules.also = self.also(&list);
        loaded.rules.list = list;
        loaded
    }

    /// Whether the links that rules name still lead where they led when this was read. What the files say is not looked at.
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

    /// A file's name with `~` for the person's home.
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
            words: format!("{why}; until it is mended nothing in it holds and everything asks"),
        };
        self.rules.broken.get_or_insert(format!("{file}:{line}: {why}"));
        self.problems.push(problem);
    }

    /// What the person should know: one sentence each.
    pub fn notices(&self) -> Vec<String> {
        self.problems.iter().map(ToString::to_string).chain(self.untrusted()).collect()
    }

    /// That the project has rules that are not trusted as they are, where it has.
    pub fn untrusted(&self) -> Option<String> {
        let Own::Untrusted { sheet, changed, .. } = &self.own else { return None };
        let what = if *changed {
            "has changed since you trusted it, so nothing in it holds"
        } else {
            "is not trusted, so nothing in it holds"
        };
        Some(format!("{OF_PROJECT} of this project ({}) {what}: see /trust", sheet.counted()))
    }
}

/// A rules file's text; nothing where there is none. Fails, in words, where it cannot be read or is no plain file.
pub fn text(path: &Path) -> Result<Option<String>, String> {
    file::text(path, LONGEST)
}

#[cfg(test)]
mod links_tests;
#[cfg(test)]
mod tests;
