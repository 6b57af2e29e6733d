//! Rules: the user's `rules.toml`, next to their settings, and a project's `.aye/rules.toml` once they trust it.
//!
//! Errors fail closed. An invalid rule that allows is disabled. An invalid rule that asks or denies, or a user's file
//! that cannot be read, makes every call ask until it is corrected: a typing error must not let a denied call run. A
//! project's rules apply only while the user trusts exactly this version of the file.

mod path_aliases;
mod rule_parser;
pub mod rule_watcher;
pub mod rules_editor;
pub(super) mod rules_file;
pub mod rules_parser;

pub use rules_file::{PROJECT_RULES_FILE, read_rules_text};

use super::definition_files::DescribeTool;
use super::{Problem, project_text, trust};
use crate::policy::{Rule, RuleScope, Rules};
use crate::store::{Places, clock};
use crate::text::truncation::abbreviate_home;
use rules_parser::ParsedRules;
use std::io;
use std::path::{Path, PathBuf};

/// Location of the rules and of the project files, and the data needed to read them.
#[derive(Debug, Clone)]
pub struct ProjectSource {
    /// The user's rules. The file need not exist.
    pub rules_file: PathBuf,
    /// File that records which project files the user trusts.
    pub trust_file: PathBuf,
    /// The user's own instructions for every project. The file need not exist.
    pub user_instructions: PathBuf,
    /// Project directory with symlinks resolved.
    pub folder: PathBuf,
    /// Names of the available tools. A rule for any other tool is invalid.
    pub tools: Vec<String>,
    /// The user's home directory, displayed as `~`.
    pub home: Option<PathBuf>,
    /// Maximum bytes of instructions that are sent. 0: no instruction file is read.
    pub max_instruction_bytes: usize,
    /// Instruction files of folders below the project that were found when a file there was read.
    pub folder_files: Vec<String>,
    /// Describes a tool file of the project.
    pub describe_tool: DescribeTool,
}

/// Result of reading the rules.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LoadedRules {
    /// Rules that apply.
    pub rules: Rules,
    /// Project paths of the user's asking and denying rules for other directories. Such a path may become a symlink to
    /// this directory later.
    pub other_projects: Vec<PathBuf>,
    /// The user's expired rules.
    pub expired: Vec<Rule>,
    /// Errors in file order.
    pub problems: Vec<Problem>,
    /// Notices about old names of keys in the files. Rules with old names apply too.
    pub old_names: Vec<Problem>,
    /// State of the project's own rules.
    pub project_rules: ProjectRules,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum ProjectRules {
    /// The project has none.
    #[default]
    None,
    /// The user trusts this version; its rules are included.
    Trusted,
    /// The user does not trust this version.
    Untrusted {
        /// The rules in the file, as far as it can be read.
        parsed: Box<ParsedRules>,
        /// True if an earlier version was trusted.
        has_changed: bool,
    },
}

/// Days until a rule saved from a prompt expires.
const RULE_DAYS: i64 = 90;

fn today() -> jiff::civil::Date {
    clock::now().to_zoned(jiff::tz::TimeZone::system()).date()
}

/// Returns the local date as `2026-11-22`.
pub fn today_date() -> String {
    today().to_string()
}

/// Returns the last day of a rule that is saved today.
pub fn expiry_date() -> String {
    let today = today();
    today.checked_add(jiff::ToSpan::days(RULE_DAYS)).unwrap_or(today).to_string()
}

impl ProjectSource {
    /// Returns a source for tests: the project in the folder `app`, and the files of the user beside it.
    #[cfg(test)]
    pub(super) fn within(root: &Path) -> Self {
        Self {
            rules_file: root.join("rules.toml"),
            trust_file: root.join("trusted.toml"),
            user_instructions: root.join("config/AGENTS.md"),
            folder: root.join("app"),
            tools: Vec::new(),
            home: None,
            max_instruction_bytes: 1_000,
            folder_files: Vec::new(),
            describe_tool: |_, _| Ok(Vec::new()),
        }
    }

    /// Returns the files with the rules for work in this folder.
    pub fn new(
        places: &Places,
        folder: &Path,
        tools: Vec<String>,
        max_instruction_bytes: usize,
        describe_tool: DescribeTool,
    ) -> Self {
        Self {
            rules_file: places.rules(),
            trust_file: places.trusted(),
            user_instructions: places.instructions(),
            folder: folder.to_owned(),
            tools,
            home: std::env::var_os("HOME").map(PathBuf::from),
            max_instruction_bytes,
            folder_files: Vec::new(),
            describe_tool,
        }
    }

    /// Removes a rule from the user's file. For a rule of the project's file, revokes the trust in that file instead.
    /// Returns whether the user's file had the rule (`true` for the project's file), and what is removed as text.
    pub fn remove_rule(&self, rule: &Rule) -> (io::Result<bool>, String) {
        match rule.scope {
            RuleScope::TrustedProject => {
                let result = trust::revoke_trust(&self.trust_file, &self.folder, Some(PROJECT_RULES_FILE));
                (result.map(|()| true), format!("trust in {PROJECT_RULES_FILE} of this project"))
            }
            RuleScope::EveryProject | RuleScope::Project(_) => {
                (rules_editor::remove_rule(&self.rules_file, rule, &self.tools), rule.describe())
            }
        }
    }

    /// Replaces the target of a rule in the user's file. Returns whether the file had the rule.
    ///
    /// # Errors
    /// Those of [`rules_editor::replace_rule`].
    pub fn replace_rule(&self, rule: &Rule, new_rule: &Rule) -> io::Result<bool> {
        rules_editor::replace_rule(&self.rules_file, rule, new_rule, &self.tools)
    }

    /// Reads all rules. `today` is a date such as `2026-11-22`.
    pub fn load(&self, today: &str) -> LoadedRules {
        let mut loaded = LoadedRules::default();
        let mut rules = Vec::new();
        let rules_file = abbreviate_home(&self.rules_file, self.home.as_deref());
        match read_rules_text(&self.rules_file) {
            Ok(None) => {}
            Ok(Some(text)) => {
                let parsed = rules_parser::parse_rules(&text, &rules_file, &self.tools, &RuleScope::EveryProject);
                self.add_rules(&mut loaded, &mut rules, parsed, today);
            }
            Err(reason) => {
                loaded.rules.read_error = Some(format!("{rules_file}:1: {reason}"));
                let message = format!("{reason}. Correct it: until then none of its rules apply and every call asks");
                loaded.problems.push(Problem::in_file(&rules_file, 1, message));
            }
        }
        match project_text::read_project_text(&self.folder, PROJECT_RULES_FILE) {
            Ok(None) => {}
            Ok(Some(text)) => {
                let parsed =
                    rules_parser::parse_rules(&text, PROJECT_RULES_FILE, &self.tools, &RuleScope::TrustedProject);
                let trusted = trust::TrustedProject::find_project(&self.trust_file, &self.folder);
                match trusted.trust_state(PROJECT_RULES_FILE, &text) {
                    trust::TrustState::Trusted => {
                        loaded.project_rules = ProjectRules::Trusted;
                        self.add_rules(&mut loaded, &mut rules, parsed, today);
                    }
                    trust_state => {
                        let (parsed, has_changed) = (Box::new(parsed), trust_state == trust::TrustState::Changed);
                        loaded.project_rules = ProjectRules::Untrusted { parsed, has_changed };
                    }
                }
            }
            // The trust is bound to the content. If that cannot be read, none of the file's rules apply, as if the file
            // were not trusted, so calls do not have to ask.
            Err(reason) => {
                let message = format!("{reason}; none of its rules apply");
                loaded.problems.push(Problem::in_file(PROJECT_RULES_FILE, 1, message));
            }
        }
        // Rules with a narrower scope are listed first.
        rules.sort_by_key(|rule: &Rule| match rule.scope {
            RuleScope::Project(_) => 0,
            RuleScope::TrustedProject => 1,
            RuleScope::EveryProject => 2,
        });
        loaded.rules.aliases = self.derive_all_aliases(&rules);
        loaded.rules.list = rules;
        today.clone_into(&mut loaded.rules.today);
        loaded
    }

    /// Returns whether the symlinks named by rules still have the targets they had at loading. Does not read the files
    /// again.
    pub fn has_same_targets(&self, loaded: &LoadedRules) -> bool {
        let is_this_project = |project: &PathBuf| project.canonicalize().is_ok_and(|real| real == self.folder);
        !loaded.other_projects.iter().any(is_this_project)
            && self.derive_all_aliases(&loaded.rules.list) == loaded.rules.aliases
    }

    /// Returns the aliases of all rules, each with the index of the rule it is derived from.
    fn derive_all_aliases(&self, rules: &[Rule]) -> Vec<(usize, Rule)> {
        let aliases_of = |(index, rule)| {
            path_aliases::derive_aliases(rule, &self.folder).into_iter().map(move |alias| (index, alias))
        };
        rules.iter().enumerate().flat_map(aliases_of).collect()
    }

    /// Adds a file's problems to `loaded` and its rules that apply here to `rules`.
    fn add_rules(&self, loaded: &mut LoadedRules, rules: &mut Vec<Rule>, parsed: ParsedRules, today: &str) {
        loaded.problems.extend(parsed.problems);
        loaded.rules.disabled.extend(parsed.disabled);
        loaded.old_names.extend(parsed.old_names);
        if let Some(reason) = parsed.unsafe_problem {
            loaded.rules.read_error.get_or_insert(reason);
        }
        for rule in parsed.rules {
            let is_expired = !rule.expires.is_empty() && rule.expires.as_str() < today;
            match (path_aliases::applies_in(&rule, &self.folder), is_expired) {
                (false, true) => {}
                (false, false) => loaded.other_projects.extend(path_aliases::restricted_project(rule)),
                (true, true) => loaded.expired.push(rule),
                (true, false) => rules.push(rule),
            }
        }
    }
}

impl LoadedRules {
    /// Lists the rules that apply, the expired rules and the notices, one per line, then the path of the user's file.
    pub fn describe(&self, rules_file: &Path) -> String {
        let mut lines: Vec<String> = self.rules.list.iter().map(Rule::describe_with_location).collect();
        lines.extend(self.expired.iter().map(|rule| format!("expired: {}", rule.describe_with_location())));
        if lines.is_empty() {
            lines.push("no rules".to_owned());
        }
        lines.extend(self.notices().iter().map(|notice| format!("warning: {notice}")));
        lines.push(format!("\nyour rules are in {}", rules_file.display()));
        lines.join("\n")
    }

    /// Returns one sentence for each problem the user should know about.
    pub fn notices(&self) -> Vec<String> {
        self.problems.iter().map(ToString::to_string).chain(self.untrusted_notice()).collect()
    }

    /// Returns a notice if the project has rules that are not trusted in their current version.
    pub fn untrusted_notice(&self) -> Option<String> {
        let ProjectRules::Untrusted { parsed, has_changed, .. } = &self.project_rules else { return None };
        let state = if *has_changed { "has changed since you trusted it" } else { "is not trusted" };
        let counts = parsed.count_by_kind();
        Some(format!("{PROJECT_RULES_FILE} of this project ({counts}) {state}, so none of its rules apply: see /trust"))
    }
}

#[cfg(test)]
mod symlink_tests;
#[cfg(test)]
mod tests;
