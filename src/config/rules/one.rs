//! Reads one rule, and tries the examples it carries.

pub(super) mod bound;

use super::read::Wrong;
use crate::chat::{Access, Basis, CommandLine, Held, Preview, Script, Scripts, Seen};
use crate::config::problem::nearest;
use crate::policy::{About, At, Holds, Rule, Says, Subject, too_wide};
use std::path::{Component, Path, PathBuf};
use toml_edit::{Item, TableLike, Value};

/// What may stand in a rule.
pub(super) const KEYS: &[&str] = &[
    "says", "tool", "command", "words", "path", "host", "project", "scripts", "matches", "not", "created",
    "expires", "key",
];
/// What a rule may be about.
const ABOUT: &[&str] = &["command", "words", "path", "host"];
/// Characters of what was found that are shown.
const SHOWN: usize = 60;

/// A rule under way.
struct Reading<'a> {
    table: &'a dyn TableLike,
    wrong: Vec<Wrong>,
    /// Whether it would be a loss if it did not hold.
    matters: bool,
}

/// The rule, where it is right, and what is wrong with it.
pub(super) fn read(table: &dyn TableLike, tools: &[String], holds: &Holds) -> (Option<Rule>, Vec<Wrong>) {
    let mut reading = Reading { table, wrong: Vec::new(), matters: true };
    let says = match reading.text("says").as_deref() {
        Some("allow") => Some(Says::Allow),
        Some("ask") => Some(Says::Ask),
        Some("deny") => Some(Says::Deny),
        Some(other) => {
            reading.wrong(
                "says",
                format!("says is {:?}; it takes \"allow\", \"ask\" or \"deny\"", short(other)),
            );
            None
        }
        None if table.contains_key("says") => None,
        None => {
            reading.wrong("", "the rule does not say what it does: says = \"allow\", \"ask\" or \"deny\"");
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
        let known = near.unwrap_or_else(|| format!("; there are {}", tools.join(", ")));
        reading.wrong("tool", format!("no tool is called {:?}{known}", short(tool)));
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
        // What a rule that asks or denies does find stays found.
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

    /// Every name in it is a known one: a misspelt one might have made it narrower, or wider.
    fn names(&mut self) {
        let names: Vec<String> = self.table.iter().map(|(name, _)| name.to_owned()).collect();
        for name in names.iter().filter(|name| !KEYS.contains(&name.as_str())) {
            let near = nearest(name, KEYS.iter().copied()).map(|near| format!("; did you mean {near}?"));
            let known = near.unwrap_or_else(|| format!("; it has {}", KEYS.join(", ")));
            self.wrong(name, format!("{} is nothing a rule has{known}", short(name)));
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
                self.wrong(key, format!("{key} takes a text in quotes"));
                None
            }
        }
    }

    /// A list of texts; a single one is a list of one.
    fn texts(&mut self, key: &str) -> Option<Vec<String>> {
        let value = self.table.get(key)?;
        let texts = match value {
            Item::Value(Value::Array(array)) => {
                array.iter().map(|value| value.as_str().map(str::to_owned)).collect::<Option<Vec<String>>>()
            }
            item => item.as_str().map(|text| vec![text.to_owned()]),
        };
        if texts.is_none() {
            self.wrong(key, format!("{key} takes a text in quotes, or a list of them"));
        }
        texts
    }

    /// A day, as `2026-11-22`.
    fn day(&mut self, key: &str) -> String {
        let Some(item) = self.table.get(key) else { return String::new() };
        let day = match item {
            Item::Value(Value::Datetime(date)) => {
                date.value().date.filter(|_| date.value().time.is_none()).map(|date| date.to_string())
            }
            item => item.as_str().filter(|text| is_day(text)).map(str::to_owned),
        };
        if day.is_none() {
            self.wrong(key, format!("{key} takes a day, such as 2026-11-22"));
        }
        day.unwrap_or_default()
    }

    fn about(&mut self, says: Option<Says>, has_tool: bool) -> Option<About> {
        let given: Vec<&str> = ABOUT.iter().copied().filter(|key| self.table.contains_key(key)).collect();
        let allows = says == Some(Says::Allow);
        match given.as_slice() {
            [] if has_tool => Some(About::Anything),
            [] => {
                self.wrong(
                    "",
                    format!("the rule does not say what it is about: {}, or a tool", ABOUT.join(", ")),
                );
                None
            }
            ["command"] => self.text("command").map(About::Command),
            ["words"] => self.words(allows),
            ["path"] => self.path(allows),
            ["host"] => self.host(allows),
            [_, second, ..] => {
                let (second, all) = (*second, given.join(" and "));
                self.wrong(second, format!("the rule is about {all}; it takes one of them"));
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
            let says = "words takes plain words such as \"cargo test\"; a whole line with its signs goes into command";
            self.wrong("words", says);
            return None;
        }
        if let Some(why) = too_wide(&words).filter(|_| allows) {
            self.wrong(
                "words",
                format!("{:?} is too wide to be allowed, because {why}", short(&words.join(" "))),
            );
            return None;
        }
        Some(About::Words(words))
    }

    fn path(&mut self, allows: bool) -> Option<About> {
        let pattern = self.text("path")?;
        let path = Path::new(&pattern);
        let climbs = path.components().any(|part| matches!(part, Component::ParentDir));
        let what = if pattern.starts_with('~') {
            "write the path in full, ~ is not replaced in a rule"
        } else if climbs {
            "a path with .. in it is not followed"
        } else if allows && path.is_absolute() && pattern.contains(['*', '?']) {
            "outside the project a rule allows one file, named in full without * and ?, and only to read it; inside it the path is relative"
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
                format!("host is {:?}; it takes a name such as \"*.example.com\"", short(&host)),
            );
            return None;
        }
        if allows {
            let why = "no tool goes to a host by itself, and a command that names one may go to another";
            self.wrong("host", format!("a host cannot be allowed: {why}; \"ask\" and \"deny\" can have one"));
            return None;
        }
        Some(About::Host(host))
    }

    fn holds(&mut self, holds: &Holds) -> Holds {
        let Some(project) = self.text("project") else { return holds.clone() };
        if *holds != Holds::Everywhere {
            self.wrong("project", "a project's own rules hold in it and nowhere else; leave project out");
        } else if !project.starts_with('/') {
            self.wrong(
                "project",
                format!("project is {:?}; it takes a folder's whole path", short(&project)),
            );
        }
        Holds::Project(PathBuf::from(project))
    }

    /// Tries the examples.
    fn examples(&mut self, rule: &Rule) {
        for (key, expected) in [("matches", true), ("not", false)] {
            for example in self.texts(key).unwrap_or_default() {
                if speaks(rule, &example) != expected {
                    let what = if expected { "does not speak of" } else { "speaks of" };
                    let words = format!("the rule {what} its own example {:?}", short(&example));
                    self.wrong(key, words);
                }
            }
        }
    }
}

/// Whether the rule speaks of an example: a path for a rule about paths, else a command line.
fn speaks(rule: &Rule, example: &str) -> bool {
    let access = match &rule.about {
        // Outside the project a rule allows nothing but reading.
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
    // Tried with the scripts as the rule has them.
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

/// What was found, on one line.
pub(super) fn short(text: &str) -> String {
    let mut short: String = text.chars().take(SHOWN).collect();
    if short.len() < text.len() {
        short.push('…');
    }
    short
}
