//! Parses one rule and checks the examples in it.

pub(super) mod bound;

use super::read::Wrong;
use crate::chat::{Access, Basis, CommandLine, Held, Preview, Script, Scripts, Seen};
use crate::config::problem::nearest;
use crate::policy::{About, At, Holds, Rule, Says, Subject, too_wide};
use std::path::{Component, Path, PathBuf};
use toml_edit::{Item, TableLike, Value};

/// Keys of a rule.
pub(super) const KEYS: &[&str] = &[
    "says", "tool", "command", "words", "path", "host", "project", "scripts", "matches", "not", "created",
    "expires", "key",
];
/// Keys for the subject of a rule.
const ABOUT: &[&str] = &["command", "words", "path", "host"];
/// Maximum characters of an invalid value that are shown.
const SHOWN: usize = 60;

/// State while parsing one rule.
struct Reading<'a> {
    table: &'a dyn TableLike,
    wrong: Vec<Wrong>,
    /// True if the rule may ask or deny, so that losing it would be unsafe.
    matters: bool,
}

/// Parses a rule. Returns the rule if it is valid, and its errors.
pub(super) fn read(table: &dyn TableLike, tools: &[String], holds: &Holds) -> (Option<Rule>, Vec<Wrong>) {
    let mut reading = Reading { table, wrong: Vec::new(), matters: true };
    let says = match reading.text("says").as_deref() {
        Some("allow") => Some(Says::Allow),
        Some("ask") => Some(Says::Ask),
        Some("deny") => Some(Says::Deny),
        Some(other) => {
            reading.wrong(
                "says",
                format!("says is {:?}; expected \"allow\", \"ask\" or \"deny\"", short(other)),
            );
            None
        }
        None if table.contains_key("says") => None,
        None => {
            reading.wrong("", "the rule has no action: set says to \"allow\", \"ask\" or \"deny\"");
            None
        }
    };
    reading.matters = says != Some(Says::Allow);
    reading.names();
    let tool = reading.text("tool");
    if let Some(tool) = &tool
        && !tools.contains(tool)
    {
        let near =
            nearest(tool, tools.iter().map(String::as_str)).map(|near| format!("; did you mean {near:?}?"));
        let known = near.unwrap_or_else(|| format!("; available: {}", tools.join(", ")));
        reading.wrong("tool", format!("tool {:?} does not exist{known}", short(tool)));
    }
    let about = reading.about(says, tool.is_some());
    let holds = reading.holds(holds);
    let (created, expires) = (reading.day("created"), reading.day("expires"));
    let key = reading.text("key").unwrap_or_default();
    let scripts = reading.scripts(says, about.as_ref());
    let rule = says.zip(about).map(|(says, about)| Rule {
        says,
        tool,
        about,
        holds,
        created,
        expires,
        scripts,
        key,
        at: At::default(),
    });
    if let Some(rule) = &rule
        && reading.wrong.is_empty()
    {
        reading.examples(rule);
        // A rule that asks or denies stays in effect even if an example fails.
        return (rule.clone().into_option(reading.wrong.is_empty() || reading.matters), reading.wrong);
    }
    let right = reading.wrong.is_empty();
    (rule.filter(|_| right), reading.wrong)
}

impl Rule {
    fn into_option(self, holds: bool) -> Option<Self> {
        holds.then_some(self)
    }
}

impl Reading<'_> {
    fn wrong(&mut self, key: &str, words: impl Into<String>) {
        let byte = self.table.get_key_value(key).and_then(|(key, _)| key.span()).map(|span| span.start);
        self.wrong.push(Wrong { byte, words: words.into(), matters: self.matters });
    }

    /// Checks that every key is known: a misspelt key might have narrowed or widened the rule.
    fn names(&mut self) {
        let names: Vec<String> = self.table.iter().map(|(name, _)| name.to_owned()).collect();
        for name in names.iter().filter(|name| !KEYS.contains(&name.as_str())) {
            let near = nearest(name, KEYS.iter().copied()).map(|near| format!("; did you mean {near}?"));
            let known = near.unwrap_or_else(|| format!("; available: {}", KEYS.join(", ")));
            self.wrong(name, format!("{} is not a key of a rule{known}", short(name)));
        }
    }

    fn text(&mut self, key: &str) -> Option<String> {
        let value = self.table.get(key)?;
        match value.as_str() {
            Some(text) if !text.trim().is_empty() => Some(text.to_owned()),
            Some(_) => {
                self.wrong(key, format!("{key} is empty"));
                None
            }
            None => {
                self.wrong(key, format!("{key} must be a quoted string"));
                None
            }
        }
    }

    /// Reads a list of strings. A single string is a list of one.
    fn texts(&mut self, key: &str) -> Option<Vec<String>> {
        let value = self.table.get(key)?;
        let texts = match value {
            Item::Value(Value::Array(array)) => {
                array.iter().map(|value| value.as_str().map(str::to_owned)).collect::<Option<Vec<String>>>()
            }
            item => item.as_str().map(|text| vec![text.to_owned()]),
        };
        if texts.is_none() {
            self.wrong(key, format!("{key} must be a quoted string or a list of them"));
        }
        texts
    }

    /// Reads a date such as `2026-11-22`.
    fn day(&mut self, key: &str) -> String {
        let Some(item) = self.table.get(key) else { return String::new() };
        let day = match item {
            Item::Value(Value::Datetime(date)) => {
                date.value().date.filter(|_| date.value().time.is_none()).map(|date| date.to_string())
            }
            item => item.as_str().filter(|text| is_day(text)).map(str::to_owned),
        };
        if day.is_none() {
            self.wrong(key, format!("{key} must be a date such as 2026-11-22"));
        }
        day.unwrap_or_default()
    }

    fn about(&mut self, says: Option<Says>, has_tool: bool) -> Option<About> {
        let given: Vec<&str> = ABOUT.iter().copied().filter(|key| self.table.contains_key(key)).collect();
        let allows = says == Some(Says::Allow);
        match given.as_slice() {
            [] if has_tool => Some(About::Anything),
            [] => {
                self.wrong("", format!("the rule has no subject: add {} or tool", ABOUT.join(", ")));
                None
            }
            ["command"] => self.text("command").map(About::Command),
            ["words"] => self.words(allows),
            ["path"] => self.path(allows),
            ["host"] => self.host(allows),
            [_, second, ..] => {
                let (second, all) = (*second, given.join(" and "));
                self.wrong(second, format!("the rule has {all}; only one of them is allowed"));
                None
            }
            [_] => None,
        }
    }

    fn words(&mut self, allows: bool) -> Option<About> {
        let words = match self.table.get("words").and_then(Item::as_str) {
            Some(text) => text.split_whitespace().map(str::to_owned).collect(),
            None => self.texts("words")?,
        };
        let is_odd =
            |word: &String| word.is_empty() || word.contains(|c: char| "|&;<>()$`\"'\\*?\n".contains(c));
        if words.is_empty() || words.iter().any(is_odd) {
            let says =
                "words must be plain words such as \"cargo test\"; use command for a line with shell syntax";
            self.wrong("words", says);
            return None;
        }
        if let Some(why) = too_wide(&words).filter(|_| allows) {
            self.wrong("words", format!("{:?} is too broad to allow: {why}", short(&words.join(" "))));
            return None;
        }
        Some(About::Words(words))
    }

    fn path(&mut self, allows: bool) -> Option<About> {
        let pattern = self.text("path")?;
        let path = Path::new(&pattern);
        let climbs = path.components().any(|part| matches!(part, Component::ParentDir));
        let what = if pattern.starts_with('~') {
            "write the full path; ~ is not expanded in a rule"
        } else if climbs {
            "a path must not contain .."
        } else if allows && path.is_absolute() && pattern.contains(['*', '?']) {
            "outside the project a rule can only allow reading one file, given by its full path without * and ?; inside the project the path is relative"
        } else {
            return Some(About::Path(pattern));
        };
        self.wrong("path", format!("path is {:?}; {what}", short(&pattern)));
        None
    }

    fn host(&mut self, allows: bool) -> Option<About> {
        let host = self.text("host")?;
        let plain = |letter: char| letter.is_alphanumeric() || ".-_*".contains(letter);
        if !host.chars().all(plain) {
            self.wrong(
                "host",
                format!("host is {:?}; expected a name such as \"*.example.com\"", short(&host)),
            );
            return None;
        }
        if allows {
            let why = "no tool connects to a host by itself, and a command that names one host may connect to another";
            self.wrong("host", format!("a host cannot be allowed: {why}; use host with \"ask\" or \"deny\""));
            return None;
        }
        Some(About::Host(host))
    }

    fn holds(&mut self, holds: &Holds) -> Holds {
        let Some(project) = self.text("project") else { return holds.clone() };
        if *holds != Holds::Everywhere {
            self.wrong("project", "a project's own rules apply only in that project; remove the key project");
        } else if !project.starts_with('/') {
            self.wrong(
                "project",
                format!("project is {:?}; expected an absolute directory path", short(&project)),
            );
        }
        Holds::Project(PathBuf::from(project))
    }

    /// Checks the examples in the rule.
    fn examples(&mut self, rule: &Rule) {
        for (key, expected) in [("matches", true), ("not", false)] {
            for example in self.texts(key).unwrap_or_default() {
                if speaks(rule, &example) != expected {
                    let what = if expected { "does not match" } else { "matches" };
                    let words = format!("the rule {what} {:?}, its example under {key}", short(&example));
                    self.wrong(key, words);
                }
            }
        }
    }
}

/// Returns whether the rule matches an example: a path for a rule about paths, otherwise a command line.
fn speaks(rule: &Rule, example: &str) -> bool {
    let access = match &rule.about {
        // Outside the project a rule can only allow reading.
        About::Path(_) if rule.says == Says::Allow && Path::new(example).is_absolute() => {
            Access::ReadSensitive(PathBuf::from(example))
        }
        About::Path(_) => Access::Write(PathBuf::from(example)),
        About::Anything | About::Command(_) | About::Words(_) | About::Host(_) => Access::Run(
            CommandLine {
                command: example.to_owned(),
                folder: PathBuf::from("/"),
                seconds: 0,
                ..CommandLine::default()
            }
            .into(),
        ),
    };
    let tool = rule.tool.as_deref().unwrap_or_default();
    let preview = Preview::Text(String::new());
    // The scripts are assumed to be as the rule lists them.
    let held = |script: &Script| match &script.sha256 {
        Some(sha256) => Held::Read { bytes: 0, sha256: sha256.clone() },
        None => Held::Nothing,
    };
    let seen =
        |script: &Script| Seen { path: script.path.clone(), held: held(script), becomes: None, grows: false };
    let scripts = if rule.scripts.is_empty() { Scripts::None } else { Scripts::Seen };
    let basis = Basis { files: rule.scripts.iter().map(seen).collect(), scripts, ..Basis::default() };
    rule.speaks(&Subject::new(tool, &access, &preview, false, &basis))
}

fn is_day(text: &str) -> bool {
    let shape: String =
        text.chars().map(|letter| if letter.is_ascii_digit() { '0' } else { letter }).collect();
    shape == "0000-00-00"
}

/// Truncates a value from the file for display.
pub(super) fn short(text: &str) -> String {
    let mut short: String = text.chars().take(SHOWN).collect();
    if short.len() < text.len() {
        short.push('…');
    }
    short
}
