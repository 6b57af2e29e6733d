//! Rules of the rules files, and the calls they match.

use super::grant_edit::join_prefix;
use super::subject::Subject;
use super::{coverage, glob};
use crate::chat::{Access, CommandLine, GrantScope, Script, script};
use jiff::civil::Date;
use std::fmt;
use std::path::{Path, PathBuf};

/// The tool that reads a file of the project.
const READ_FILE: &str = "read_file";

/// All rules in force, those of the narrower scope first.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Rules {
    /// Rules in the order in which they are listed to the user.
    pub list: Vec<Rule>,
    /// Copies of the rules that ask or deny, one for each other name of their paths, with the index in `list` of the
    /// original rule. Never listed to the user.
    pub aliases: Vec<(usize, Rule)>,
    /// Rules that are not in force because they have an error, in file order. Never matched against calls.
    pub disabled: Vec<DisabledRule>,
    /// File, line and reason if a file that may hold rules that deny or ask cannot be read completely. Every call that
    /// reads, writes or runs anything then asks.
    pub read_error: Option<String>,
    /// Date at which they were loaded, as `2026-11-22`; empty if unknown.
    pub today: String,
}

/// A rule that is not in force because it has an error.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DisabledRule {
    /// The rule as far as it can be read, such as `allow npx tsc`.
    pub description: String,
    /// What is wrong, and what follows from it.
    pub reason: String,
    pub location: RuleLocation,
}

/// One rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rule {
    pub effect: RuleEffect,
    /// Tool it is limited to; `None` for every tool.
    pub tool: Option<String>,
    pub target: RuleTarget,
    /// Projects in which it is valid.
    pub scope: RuleScope,
    /// Creation date, as `2026-11-22`; may be empty.
    pub created: String,
    /// Last day on which it is valid; empty if unlimited.
    pub expires: String,
    /// Files that the allowed command depends on, with their digests; sorted.
    pub scripts: Vec<Script>,
    /// True if an allowed command may read the output of other commands, which may decide what it does.
    pub takes_input: bool,
    /// Key with which it was saved from a prompt, such as `a`; empty if none.
    pub saved_with_key: String,
    pub location: RuleLocation,
}

/// Effect of a rule. Deny takes precedence over ask, and ask over allow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum RuleEffect {
    /// Run without approval.
    Allow,
    /// Ask, whatever else would allow the call.
    Ask,
    Deny,
}

/// Target of a rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RuleTarget {
    /// Every call of the tool.
    EveryCall,
    /// This command line, byte for byte.
    Command(String),
    /// Commands that begin with these words.
    Prefix(Vec<String>),
    /// Files that match this pattern, relative to the project or absolute.
    Path(String),
    /// Addresses at hosts that match this pattern.
    Host(String),
}

/// Projects in which a rule is valid.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RuleScope {
    EveryProject,
    /// This project, from the user's rules file.
    Project(PathBuf),
    /// This project, from the project's rules file, which the user trusts in its current form.
    TrustedProject,
}

/// Location of a rule.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RuleLocation {
    /// Displayed path of the file.
    pub file: String,
    /// Line number, starting from 1.
    pub line: usize,
}

impl fmt::Display for RuleLocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.file, self.line)
    }
}

impl RuleEffect {
    /// Returns the name used in rules files.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Ask => "ask",
            Self::Deny => "deny",
        }
    }
}

impl Rule {
    /// Creates a rule for every tool and project, without dates and without a place in a file.
    pub fn new(effect: RuleEffect, target: RuleTarget) -> Self {
        Self {
            effect,
            tool: None,
            target,
            scope: RuleScope::EveryProject,
            created: String::new(),
            expires: String::new(),
            scripts: Vec::new(),
            takes_input: false,
            saved_with_key: String::new(),
            location: RuleLocation::default(),
        }
    }

    /// Returns whether the rule matches the call. `allow` matches only what it names explicitly; `ask` and `deny` also
    /// match calls that merely contain it.
    pub fn matches(&self, subject: &Subject<'_>) -> bool {
        match self.effect {
            RuleEffect::Allow => self.is_for_tool(subject.tool) && self.matches_allow(subject),
            RuleEffect::Ask | RuleEffect::Deny => {
                self.is_for_tool(subject.tool) && self.matches_restriction(subject) || self.restricts_reference(subject)
            }
        }
    }

    /// Returns whether a rule for reads restricts a file whose content the arguments of the call contain.
    fn restricts_reference(&self, subject: &Subject<'_>) -> bool {
        self.restricts_reads()
            && match &self.target {
                RuleTarget::Path(pattern) => coverage::references_path(pattern, subject),
                RuleTarget::EveryCall => !subject.preconditions.references.is_empty(),
                RuleTarget::Command(_) | RuleTarget::Prefix(_) | RuleTarget::Host(_) => false,
            }
    }

    /// Returns whether the rule may match reads of files.
    pub(super) fn restricts_reads(&self) -> bool {
        self.is_for_tool(READ_FILE) && matches!(self.target, RuleTarget::Path(_) | RuleTarget::EveryCall)
    }

    /// Returns whether the rule is for every tool or for this one.
    pub(super) fn is_for_tool(&self, tool: &str) -> bool {
        self.tool.as_ref().is_none_or(|rule_tool| rule_tool == tool)
    }

    /// Returns whether the rule allows exactly this command line, regardless of the content of the scripts it runs.
    pub(super) fn allows_exact_command(&self, line: &CommandLine, tool: &str) -> bool {
        let is_exact = matches!(&self.target, RuleTarget::Command(command) if *command == line.command);
        self.effect == RuleEffect::Allow && self.is_for_tool(tool) && is_exact && line.network.is_none()
    }

    /// Returns whether the rule names exactly this file, which may hold secrets, and allows the tool to read it.
    pub(super) fn allows_exact_read(&self, path: &Path, tool: &str) -> bool {
        let is_named = matches!(&self.target, RuleTarget::Path(pattern) if coverage::matches_exact_path(pattern, path));
        self.effect == RuleEffect::Allow && self.is_for_tool(tool) && is_named
    }

    /// Returns whether it covers a command with or without input, which is the output of another command.
    pub(super) fn covers_input(&self, has_input: bool) -> bool {
        self.takes_input || !has_input
    }

    fn matches_allow(&self, subject: &Subject<'_>) -> bool {
        match (&self.target, subject.access) {
            (RuleTarget::Command(command), Access::Run(line)) => {
                *command == line.command
                    && line.network.is_none()
                    && coverage::can_be_granted(subject)
                    && coverage::has_bound_scripts(&self.scripts, subject)
            }
            (RuleTarget::Prefix(words), _) => coverage::matches_prefix(words, subject),
            (RuleTarget::Path(pattern), Access::Write(path)) => {
                coverage::can_be_granted(subject)
                    && coverage::is_plain(path)
                    && path.to_str().is_some_and(|path| glob::matches_path(pattern, path))
            }
            // A file with secrets must be named exactly.
            (RuleTarget::Path(pattern), Access::ReadSensitive(path)) => coverage::matches_exact_path(pattern, path),
            // A rule without a target allows writes only: a command could do anything.
            (RuleTarget::EveryCall, Access::Write(_)) => coverage::can_be_granted(subject),
            (RuleTarget::EveryCall, Access::Workspace(access)) => {
                self.tool.is_some() && access.session.is_none() && coverage::can_be_granted(subject)
            }
            (RuleTarget::Host(pattern), Access::Fetch(fetch)) => {
                // Scripts may send requests of their own, so the rule must name the tool.
                (self.tool.is_some() || !fetch.runs_scripts)
                    && coverage::can_be_granted(subject)
                    && glob::matches_host(pattern, &fetch.host)
            }
            // What a tool does at a host may be irreversible, so the rule must name the tool.
            (RuleTarget::Host(pattern), Access::External(external)) => {
                self.tool.is_some()
                    && coverage::can_be_granted(subject)
                    && glob::matches_host(pattern, &external.service)
                    && external.page_host.as_ref().is_none_or(|host| glob::matches_host(pattern, host))
            }
            // A command that names a host may connect to another.
            (RuleTarget::Host(_) | RuleTarget::Command(_) | RuleTarget::Path(_) | RuleTarget::EveryCall, _) => false,
        }
    }

    fn matches_restriction(&self, subject: &Subject<'_>) -> bool {
        match &self.target {
            RuleTarget::EveryCall => !matches!(subject.access, Access::Nothing),
            RuleTarget::Command(command) => coverage::is_same_command(command, subject),
            RuleTarget::Prefix(words) => coverage::contains_words(words, subject),
            RuleTarget::Path(pattern) => coverage::touches_path(pattern, subject),
            RuleTarget::Host(pattern) => coverage::names_host(pattern, subject),
        }
    }

    /// Describes effect and target, as `allow cargo test …`.
    pub fn describe(&self) -> String {
        let tool = self.tool.as_ref().map(|tool| format!("{tool} ")).unwrap_or_default();
        let target = match &self.target {
            RuleTarget::EveryCall => "every call".to_owned(),
            RuleTarget::Command(command) => format!("exactly: {command}"),
            RuleTarget::Prefix(words) => format!("{} …", words.join(" ")),
            RuleTarget::Path(pattern) => pattern.to_string(),
            RuleTarget::Host(host) => format!("to {host}"),
        };
        let bound = match self.scripts.is_empty() {
            true => String::new(),
            false => format!(" ({} unchanged)", script::join_names(&self.scripts)),
        };
        let input = if self.takes_input { " (also with input of other commands)" } else { "" };
        format!("{} {tool}{target}{bound}{input}", self.effect.as_str())
    }

    /// Describes the rule with its location and dates.
    pub fn describe_with_location(&self) -> String {
        format!("{} ({})", self.describe(), self.describe_location())
    }

    /// Describes the location and the dates.
    pub fn describe_location(&self) -> String {
        let key = if self.saved_with_key.is_empty() { String::new() } else { format!(" with {}", self.saved_with_key) };
        let since = if self.created.is_empty() { String::new() } else { format!(", saved {}{key}", self.created) };
        let until = if self.expires.is_empty() { String::new() } else { format!(", until {}", self.expires) };
        format!("{}{since}{until}", self.location)
    }

    /// Returns the beginning of [`Self::reason`], which stays the same from day to day.
    pub fn reason_start(&self) -> String {
        format!("your rule: {} ({}", self.describe(), self.describe_scope())
    }

    /// Returns the reason with which it allows a call: the rule, where it is valid, its age and its location.
    pub fn reason(&self, today: &str) -> String {
        let age = self.describe_age(today).map(|age| format!(", saved {age}")).unwrap_or_default();
        format!("{}{age}, {})", self.reason_start(), self.location)
    }

    /// Describes the projects in which the rule is valid.
    pub fn describe_scope(&self) -> &'static str {
        match self.scope {
            RuleScope::EveryProject => "every project",
            RuleScope::Project(_) => "this project",
            RuleScope::TrustedProject => "file of this project",
        }
    }

    /// Describes how long ago the rule was saved, as `2 days ago`. Returns `None` if one of the dates is unknown.
    pub fn describe_age(&self, today: &str) -> Option<String> {
        let (created, today): (Date, Date) = (self.created.parse().ok()?, today.parse().ok()?);
        Some(match today.since(created).ok()?.get_days() {
            ..=0 => "today".to_owned(),
            1 => "yesterday".to_owned(),
            days => format!("{days} days ago"),
        })
    }

    /// Returns the text of its target, for editing.
    ///
    /// # Errors
    /// The reason why the target is not one text that can be changed on its own.
    pub fn editable_text(&self) -> Result<String, String> {
        match &self.target {
            RuleTarget::Command(command) => Ok(command.clone()),
            RuleTarget::Prefix(words) => join_prefix(words),
            RuleTarget::Path(pattern) | RuleTarget::Host(pattern) => Ok(pattern.clone()),
            RuleTarget::EveryCall => Err("It is for every call, and there is no text to edit".to_owned()),
        }
    }

    /// Returns the rule with this text as its target. The result may be invalid: reading it back from a file tells.
    #[must_use]
    pub fn with_text(&self, text: &str) -> Self {
        let target = match &self.target {
            RuleTarget::Prefix(_) => RuleTarget::Prefix(text.split_whitespace().map(str::to_owned).collect()),
            RuleTarget::Path(_) => RuleTarget::Path(text.trim().to_owned()),
            RuleTarget::Host(_) => RuleTarget::Host(text.trim().to_owned()),
            _ => RuleTarget::Command(text.trim().to_owned()),
        };
        Self { target, ..self.clone() }
    }

    /// Returns the rule target for the scope of a grant.
    pub fn target_of_scope(scope: &GrantScope) -> RuleTarget {
        match scope {
            GrantScope::Command { command, .. } => RuleTarget::Command(command.clone()),
            GrantScope::Prefix { words, .. } => RuleTarget::Prefix(words.clone()),
            GrantScope::File(path) => RuleTarget::Path(path.to_string_lossy().into_owned()),
            GrantScope::FileChanges => RuleTarget::Path("**".to_owned()),
            GrantScope::Host(host) | GrantScope::Service(host) => RuleTarget::Host(host.clone()),
            GrantScope::Workspace => RuleTarget::EveryCall,
            GrantScope::Folder(folder) if folder == Path::new("") => RuleTarget::Path("**".to_owned()),
            GrantScope::Folder(folder) => RuleTarget::Path(format!("{}/**", folder.to_string_lossy())),
        }
    }
}

impl Rules {
    /// Returns whether a grant may allow the call: the rules are fully readable, and none of them asks or denies.
    pub fn permits_grants(&self, subject: &Subject<'_>) -> bool {
        self.read_error.is_none()
            && self.first_matching(RuleEffect::Ask, subject).is_none()
            && self.first_matching(RuleEffect::Deny, subject).is_none()
    }

    /// Returns whether a rule for paths asks for or denies calls of a tool.
    pub(super) fn restrict_paths(&self, tool: &str) -> bool {
        let is_restriction = |rule: &Rule| {
            rule.effect != RuleEffect::Allow && rule.is_for_tool(tool) && matches!(rule.target, RuleTarget::Path(_))
        };
        self.list.iter().any(is_restriction)
    }

    /// Returns the rules that ask or deny, without those that allow.
    #[must_use]
    pub fn without_allowing(&self) -> Self {
        let kept: Vec<usize> =
            (0..self.list.len()).filter(|index| self.list[*index].effect != RuleEffect::Allow).collect();
        let new_index = |(index, rule): &(usize, Rule)| Some((kept.binary_search(index).ok()?, rule.clone()));
        let aliases = self.aliases.iter().filter_map(new_index).collect();
        let list = kept.iter().map(|index| self.list[*index].clone()).collect();
        Self { list, aliases, ..self.clone() }
    }

    /// Returns the first rule with this effect that matches the call. If an alias matches, this is its original rule.
    pub fn first_matching(&self, effect: RuleEffect, subject: &Subject<'_>) -> Option<&Rule> {
        self.all_matching(effect, subject).into_iter().next()
    }

    /// Returns all rules with this effect that match the call. If an alias matches, this is its original rule.
    pub(super) fn all_matching(&self, effect: RuleEffect, subject: &Subject<'_>) -> Vec<&Rule> {
        let is_match = |rule: &Rule| rule.effect == effect && rule.matches(subject);
        let from_aliases = self.aliases.iter().filter(|(_, rule)| is_match(rule)).map(|(index, _)| *index);
        let from_list = self.list.iter().enumerate().filter(|(_, rule)| is_match(rule)).map(|(index, _)| index);
        let indices: std::collections::BTreeSet<usize> = from_list.chain(from_aliases).collect();
        indices.into_iter().filter_map(|index| self.list.get(index)).collect()
    }
}

/// Returns why the user is asked even if a grant, a rule or the mode would allow the call.
pub(super) fn asking_reason(rules: &Rules, subject: &Subject<'_>) -> Option<String> {
    let rule = rules.first_matching(RuleEffect::Ask, subject);
    let reason = rule.map(|rule| format!("your rule: {}", rule.describe_with_location()));
    reason.or_else(|| rules.read_error.as_ref().map(|why| format!("rules not fully readable: {why}")))
}
