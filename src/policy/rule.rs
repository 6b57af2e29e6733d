//! Rules: what one entry of a rules file says, and of which calls it speaks.

use super::subject::Subject;
use super::{cover, glob};
use crate::chat::{Access, CommandLine, Scope, Script, script};
use std::fmt;
use std::path::{Path, PathBuf};

/// Every rule that stands, those of the narrower scope first.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Rules {
    /// In the order in which they are told of.
    pub list: Vec<Rule>,
    /// Rules that ask or deny once more, by the other names of what they are about; with the place in the list of the one
    /// that a person wrote. They are never told of.
    pub also: Vec<(usize, Rule)>,
    /// Why nothing but what touches nothing goes ahead unasked: a file that says what is to be denied or asked cannot be
    /// read whole. With the file and the line.
    pub broken: Option<String>,
}

/// One rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rule {
    /// What it says.
    pub says: Says,
    /// The tool it is for; every tool where there is none.
    pub tool: Option<String>,
    /// What it is about.
    pub about: About,
    /// Where it holds.
    pub holds: Holds,
    /// The day it was made, as `2026-11-22`; may be empty.
    pub created: String,
    /// The last day on which it holds; empty where it has no end.
    pub expires: String,
    /// The files that a command it allows is bound to, with what they held; sorted.
    pub scripts: Vec<Script>,
    /// How it came to be, where it was kept from a card: `a`.
    pub key: String,
    /// Where it stands.
    pub at: At,
}

/// What a rule says. A deny beats an ask, and an ask beats an allow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Says {
    /// Go ahead.
    Allow,
    /// Ask, whatever else would allow it.
    Ask,
    /// Never.
    Deny,
}

/// What a rule is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum About {
    /// Every call of its tool.
    Anything,
    /// This command line, byte for byte.
    Command(String),
    /// Commands that begin with these words.
    Words(Vec<String>),
    /// Files that fit this pattern, relative to the project.
    Path(String),
    /// Addresses at hosts that fit this pattern.
    Host(String),
}

/// Where a rule holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Holds {
    /// In every project.
    Everywhere,
    /// In this one: by the person's own file.
    Project(PathBuf),
    /// In this one: by the project's file, which the person trusts as it is.
    Trusted,
}

/// Where a rule stands.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct At {
    /// The file, as it is shown.
    pub file: String,
    /// The line; 1 is the first.
    pub line: usize,
}

impl fmt::Display for At {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.file, self.line)
    }
}

impl Says {
    /// Its one word, as it is written.
    pub fn word(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Ask => "ask",
            Self::Deny => "deny",
        }
    }
}

impl Rule {
    /// Whether it speaks of this call. An allow speaks only of what it plainly names; an ask and a deny also of what
    /// merely holds it.
    pub fn speaks(&self, of: &Subject<'_>) -> bool {
        if self.tool.as_ref().is_some_and(|tool| tool != of.tool) {
            return false;
        }
        match self.says {
            Says::Allow => self.allows(of),
            Says::Ask | Says::Deny => self.touches(of),
        }
    }

    /// Whether it allows exactly this line, whatever the scripts hold that run.
    pub(super) fn is_for(&self, line: &CommandLine, tool: &str) -> bool {
        let of_tool = self.tool.as_ref().is_none_or(|of| of == tool);
        let exact = matches!(&self.about, About::Command(command) if *command == line.command);
        self.says == Says::Allow && of_tool && exact && line.network.is_none()
    }

    /// Whether it allows this tool to read this file, which may hold secrets: it names it exactly.
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
            // What may hold secrets is named in full, or asked about.
            (About::Path(pattern), Access::ReadSensitive(path)) => cover::names_exactly(pattern, path),
            // A tool alone is no narrow thing to allow: a command can be anything.
            (About::Anything, Access::Write(_)) => cover::may_be_kept(of),
            // No tool goes to a host by itself, and a command that names one may go to another.
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

    /// What it says and of what, in words: `allow cargo test …`.
    pub fn words(&self) -> String {
        let tool = self.tool.as_ref().map(|tool| format!("{tool} ")).unwrap_or_default();
        let about = match &self.about {
            About::Anything => "of anything".to_owned(),
            About::Command(command) => format!("of exactly: {command}"),
            About::Words(words) => format!("{} …", words.join(" ")),
            About::Path(pattern) => format!("of {pattern}"),
            About::Host(host) => format!("to {host}"),
        };
        let bound = match self.scripts.is_empty() {
            true => String::new(),
            false => format!(" ({} unchanged)", script::named(&self.scripts)),
        };
        format!("{} {tool}{about}{bound}", self.says.word())
    }

    /// What it says, where it stands, and since and until when.
    pub fn told(&self) -> String {
        format!("{} ({})", self.words(), self.stands())
    }

    /// Where it stands, and since and until when.
    pub fn stands(&self) -> String {
        let key = if self.key.is_empty() { String::new() } else { format!(" with {}", self.key) };
        let since =
            if self.created.is_empty() { String::new() } else { format!(", kept {}{key}", self.created) };
        let until = if self.expires.is_empty() { String::new() } else { format!(", until {}", self.expires) };
        format!("{}{since}{until}", self.at)
    }

    /// The rule that keeps a grant of this scope.
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
    /// Whether a yes of the session may let the call go ahead: no rule asks or denies.
    pub fn lets_grants(&self, of: &Subject<'_>) -> bool {
        self.broken.is_none() && self.first(Says::Ask, of).is_none() && self.first(Says::Deny, of).is_none()
    }

    /// The first rule that says this of the call, as it was written.
    pub fn first(&self, says: Says, of: &Subject<'_>) -> Option<&Rule> {
        self.speaking(says, of).into_iter().next()
    }

    /// Every rule that says this of the call, as it was written.
    pub(super) fn speaking(&self, says: Says, of: &Subject<'_>) -> Vec<&Rule> {
        let speaks = |rule: &Rule| rule.says == says && rule.speaks(of);
        let also = self.also.iter().filter(|(_, rule)| speaks(rule)).map(|(at, _)| *at);
        let own = self.list.iter().enumerate().filter(|(_, rule)| speaks(rule)).map(|(at, _)| at);
        let found: std::collections::BTreeSet<usize> = own.chain(also).collect();
        found.into_iter().filter_map(|at| self.list.get(at)).collect()
    }
}
