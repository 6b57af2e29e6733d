//! Rules of the rules files, and the calls they match.

use super::subject::Subject;
use super::{cover, glob};
use crate::chat::{Access, CommandLine, Scope, Script, script};
use std::fmt;
use std::path::{Path, PathBuf};

/// All rules in force, those of the narrower scope first.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Rules {
    /// Rules in the order in which they are listed to the user.
    pub list: Vec<Rule>,
    /// Rules that ask or deny, repeated for the other names of their paths; with the index in `list` of the rule as
    /// written. Never listed to the user.
    pub also: Vec<(usize, Rule)>,
    /// Set if a file with rules that deny or ask cannot be read completely: then every call with effects asks. With the
    /// file and the line.
    pub broken: Option<String>,
}

/// One rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rule {
    pub says: Says,
    /// Tool it is limited to; `None` for every tool.
    pub tool: Option<String>,
    pub about: About,
    /// Projects in which it is valid.
    pub holds: Holds,
    /// Creation date, as `2026-11-22`; may be empty.
    pub created: String,
    /// Last day on which it is valid; empty if unlimited.
    pub expires: String,
    /// Files that the allowed command depends on, with their digests; sorted.
    pub scripts: Vec<Script>,
    /// Key with which it was saved from a prompt, such as `a`.
    pub key: String,
    pub at: At,
}

/// Effect of a rule. Deny takes precedence over ask, and ask over allow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Says {
    /// Run without approval.
    Allow,
    /// Ask, whatever else would allow the call.
    Ask,
    Deny,
}

/// Target of a rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum About {
    /// Every call of the tool.
    Anything,
    /// This command line, byte for byte.
    Command(String),
    /// Commands that begin with these words.
    Words(Vec<String>),
    /// Files that match this pattern, relative to the project.
    Path(String),
    /// Addresses at hosts that match this pattern.
    Host(String),
}

/// Projects in which a rule is valid.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Holds {
    Everywhere,
    /// This project, from the user's rules file.
    Project(PathBuf),
    /// This project, from the project's rules file, which the user trusts in its current form.
    Trusted,
}

/// Location of a rule.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct At {
    /// Displayed path of the file.
    pub file: String,
    /// Line number, starting from 1.
    pub line: usize,
}

impl fmt::Display for At {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.file, self.line)
    }
}

impl Says {
    /// Returns the name used in rules files.
    pub fn word(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Ask => "ask",
            Self::Deny => "deny",
        }
    }
}

impl Rule {
    /// Returns whether the rule matches the call. `allow` matches only what it names explicitly; `ask` and `deny` also
    /// match calls that merely contain it.
    pub fn speaks(&self, of: &Subject<'_>) -> bool {
        if self.tool.as_ref().is_some_and(|tool| tool != of.tool) {
            return false;
        }
        match self.says {
            Says::Allow => self.allows(of),
            Says::Ask | Says::Deny => self.touches(of),
        }
    }

    /// Returns whether the rule allows exactly this command line, regardless of the content of the scripts it runs.
    pub(super) fn is_for(&self, line: &CommandLine, tool: &str) -> bool {
        let of_tool = self.tool.as_ref().is_none_or(|of| of == tool);
        let exact = matches!(&self.about, About::Command(command) if *command == line.command);
        self.says == Says::Allow && of_tool && exact && line.network.is_none()
    }

    /// Returns whether the rule names exactly this file, which may hold secrets, and allows the tool to read it.
    pub(super) fn names_secret(&self, path: &Path, tool: &str) -> bool {
        let of_tool = self.tool.as_ref().is_none_or(|of| of == tool);
        let is_named = matches!(&self.about, About::Path(pattern) if cover::names_exactly(pattern, path));
        self.says == Says::Allow && of_tool && is_named
    }

    fn allows(&self, of: &Subject<'_>) -> bool {
        match (&self.about, of.access) {
            (About::Command(command), Access::Run(line)) => {
                *command == line.command
                    && line.network.is_none()
                    && cover::may_be_kept(of)
                    && cover::is_bound(&self.scripts, of)
            }
            (About::Words(words), _) => cover::begins(words, of),
            (About::Path(pattern), Access::Write(path)) => {
                cover::may_be_kept(of)
                    && cover::is_plain(path)
                    && path.to_str().is_some_and(|path| glob::path(pattern, path))
            }
            // A file with secrets must be named exactly.
            (About::Path(pattern), Access::ReadSensitive(path)) => cover::names_exactly(pattern, path),
            // A rule for a tool without a target allows writes only: a command could do anything.
            (About::Anything, Access::Write(_)) => cover::may_be_kept(of),
            // No tool connects to a host itself, and a command that names one may connect to another.
            (About::Host(_) | About::Command(_) | About::Path(_) | About::Anything, _) => false,
        }
    }

    fn touches(&self, of: &Subject<'_>) -> bool {
        match &self.about {
            About::Anything => !matches!(of.access, Access::Nothing),
            About::Command(command) => of.line.is_some_and(|line| line.command.trim() == command.trim()),
            About::Words(words) => cover::holds_words(words, of),
            About::Path(pattern) => cover::holds_path(pattern, of),
            About::Host(pattern) => cover::holds_host(pattern, of),
        }
    }

    /// Describes effect and target, as `allow cargo test …`.
    pub fn words(&self) -> String {
        let tool = self.tool.as_ref().map(|tool| format!("{tool} ")).unwrap_or_default();
        let about = match &self.about {
            About::Anything => "every call".to_owned(),
            About::Command(command) => format!("exactly: {command}"),
            About::Words(words) => format!("{} …", words.join(" ")),
            About::Path(pattern) => format!("{pattern}"),
            About::Host(host) => format!("to {host}"),
        };
        let bound = match self.scripts.is_empty() {
            true => String::new(),
            false => format!(" ({} unchanged)", script::named(&self.scripts)),
        };
        format!("{} {tool}{about}{bound}", self.says.word())
    }

    /// Describes the rule with its location and dates.
    pub fn told(&self) -> String {
        format!("{} ({})", self.words(), self.stands())
    }

    /// Describes the location and the dates.
    pub fn stands(&self) -> String {
        let key = if self.key.is_empty() { String::new() } else { format!(" with {}", self.key) };
        let since =
            if self.created.is_empty() { String::new() } else { format!(", saved {}{key}", self.created) };
        let until = if self.expires.is_empty() { String::new() } else { format!(", until {}", self.expires) };
        format!("{}{since}{until}", self.at)
    }

    /// Returns the rule target for the scope of a grant.
    pub fn about(scope: &Scope) -> About {
        match scope {
            Scope::Command { command, .. } => About::Command(command.clone()),
            Scope::Words { words, .. } => About::Words(words.clone()),
            Scope::File(path) => About::Path(path.to_string_lossy().into_owned()),
            Scope::Under(folder) if folder == Path::new("") => About::Path("**".to_owned()),
            Scope::Under(folder) => About::Path(format!("{}/**", folder.to_string_lossy())),
        }
    }
}

impl Rules {
    /// Returns whether a grant may allow the call: no rule asks or denies.
    pub fn lets_grants(&self, of: &Subject<'_>) -> bool {
        self.broken.is_none() && self.first(Says::Ask, of).is_none() && self.first(Says::Deny, of).is_none()
    }

    /// Returns the first rule with this effect that matches the call, as written.
    pub fn first(&self, says: Says, of: &Subject<'_>) -> Option<&Rule> {
        self.speaking(says, of).into_iter().next()
    }

    /// Returns all rules with this effect that match the call, as written.
    pub(super) fn speaking(&self, says: Says, of: &Subject<'_>) -> Vec<&Rule> {
        let speaks = |rule: &Rule| rule.says == says && rule.speaks(of);
        let also = self.also.iter().filter(|(_, rule)| speaks(rule)).map(|(at, _)| *at);
        let own = self.list.iter().enumerate().filter(|(_, rule)| speaks(rule)).map(|(at, _)| at);
        let found: std::collections::BTreeSet<usize> = own.chain(also).collect();
        found.into_iter().filter_map(|at| self.list.get(at)).collect()
    }
}
