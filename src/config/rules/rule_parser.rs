//! Parses one rule and checks the examples in it.

pub(super) mod script_digests;

use crate::chat::mcp_names;
use crate::chat::{
    Access, CommandLine, FetchAccess, FileContent, FileSnapshot, Preconditions, Preview, Script, Scripts,
};
use crate::config::problem::find_nearest;
use crate::policy::{Rule, RuleEffect, RuleLocation, RuleScope, RuleTarget, Subject, explain_too_wide, needs_shell};
use crate::text::truncation::truncate_end;
use std::path::{Component, Path, PathBuf};
use toml_edit::{Item, TableLike, Value};

/// An error in a rule.
pub(super) struct RuleError {
    /// Byte offset of the key in the file; `None` if the error is about the whole rule.
    pub(super) offset: Option<usize>,
    /// What is wrong, and what was expected.
    pub(super) message: String,
    /// True if the rule asks or denies, or may do so.
    pub(super) fails_closed: bool,
}

/// Keys of a rule.
#[rustfmt::skip]
pub(super) const RULE_KEYS: &[&str] = &[
    "verdict", "tool", "command", "prefix", "path", "host", "project", "scripts", "matches", "not_matches", "created",
    "expires", "key", "input",
];
/// Old and new name of each renamed key. The old names work in this release.
pub(super) const RENAMED_KEYS: &[(&str, &str)] = &[("says", "verdict"), ("words", "prefix"), ("not", "not_matches")];
/// Keys for the subject of a rule.
const SUBJECT_KEYS: &[&str] = &["command", "prefix", "path", "host"];
/// Maximum characters of an invalid value that are shown.
const MAX_SHOWN_CHARS: usize = 60;

/// State while parsing one rule.
struct RuleParser<'a> {
    table: &'a dyn TableLike,
    errors: Vec<RuleError>,
    /// True if the rule may ask or deny, so that losing it would be unsafe.
    fails_closed: bool,
}

/// Parses a rule. Returns the rule if it is valid, and its errors. A rule that asks or denies is returned even if its
/// examples fail.
pub(super) fn parse_rule(
    table: &dyn TableLike,
    tools: &[String],
    default_scope: &RuleScope,
) -> (Option<Rule>, Vec<RuleError>) {
    let mut parser = RuleParser { table, errors: Vec::new(), fails_closed: true };
    parser.check_renamed_keys();
    let verdict = parser.read_string("verdict");
    let effects = [RuleEffect::Allow, RuleEffect::Ask, RuleEffect::Deny];
    let effect = effects.into_iter().find(|effect| verdict.as_deref() == Some(effect.as_str()));
    if let Some(verdict) = verdict.filter(|_| effect.is_none()) {
        let shown = truncate_for_display(&verdict);
        parser.report_error("verdict", format!("verdict is {shown:?}. Use \"allow\", \"ask\" or \"deny\""));
    } else if parser.get_item("verdict").is_none() {
        parser.report_error("", "the rule has no verdict: set verdict to \"allow\", \"ask\" or \"deny\"");
    }
    parser.fails_closed = effect != Some(RuleEffect::Allow);
    parser.check_keys();
    let tool = parser.read_string("tool");
    if let Some(tool) = &tool
        && !tools.contains(tool)
        // The tools of a server are known only once it was connected.
        && !tool.starts_with(mcp_names::PREFIX)
    {
        let nearest = find_nearest(tool, tools.iter().map(String::as_str));
        // A tool of another project is not known here, and allowing an unknown tool allows nothing.
        let is_of_other_project = effect == Some(RuleEffect::Allow) && table.contains_key("project");
        if nearest.is_some() || !is_of_other_project {
            let suggestion = nearest.map(|nearest| format!(". Did you mean {nearest:?}?"));
            let hint = suggestion.unwrap_or_else(|| format!(". Use one of: {}", tools.join(", ")));
            parser.report_error("tool", format!("tool {:?} does not exist{hint}", truncate_for_display(tool)));
        }
    }
    let target = parser.read_subject(effect, tool.is_some());
    let scope = parser.read_scope(default_scope);
    let (created, expires) = (parser.read_date("created"), parser.read_date("expires"));
    let key = parser.read_string("key").unwrap_or_default();
    let scripts = parser.read_scripts(effect, target.as_ref());
    let takes_input = parser.read_input(effect, target.as_ref());
    let rule = effect.zip(target).map(|(effect, target)| Rule {
        effect,
        tool,
        target,
        scope,
        created,
        expires,
        scripts,
        takes_input,
        saved_with_key: key,
        location: RuleLocation::default(),
    });
    let is_valid = parser.errors.is_empty();
    let Some(rule) = rule.filter(|_| is_valid) else { return (None, parser.errors) };
    parser.check_examples(&rule);
    // A rule that asks or denies stays in effect even if an example fails.
    let is_kept = parser.errors.is_empty() || parser.fails_closed;
    (is_kept.then_some(rule), parser.errors)
}

/// Returns the old keys of a rule, their new names and their byte offsets.
pub(super) fn find_old_keys(
    table: &dyn TableLike,
) -> impl Iterator<Item = (&'static str, &'static str, Option<usize>)> {
    RENAMED_KEYS.iter().filter_map(|(old, new)| {
        let (key, _) = table.get_key_value(old)?;
        Some((*old, *new, key.span().map(|span| span.start)))
    })
}

/// Describes a rule that may be invalid by its verdict, tool and target, as far as they can be read: `allow npx tsc`.
pub(super) fn describe_table(table: &dyn TableLike) -> String {
    let text_of = |key: &&str| match table.get(find_written_key(table, key))? {
        Item::Value(Value::Array(words)) => Some(words.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(" ")),
        item => item.as_str().map(str::to_owned),
    };
    let keys = ["verdict", "tool", "command", "prefix", "path", "host"];
    let texts: Vec<String> = keys.iter().filter_map(text_of).filter(|text| !text.is_empty()).collect();
    if texts.is_empty() { "a rule".to_owned() } else { texts.join(" ") }
}

/// Returns the key as it is written in the rule: its old name if the rule has only that.
fn find_written_key<'k>(table: &dyn TableLike, key: &'k str) -> &'k str {
    let old = RENAMED_KEYS.iter().find(|(_, new)| *new == key).map(|(old, _)| *old);
    old.filter(|old| table.contains_key(old) && !table.contains_key(key)).unwrap_or(key)
}

impl<'a> RuleParser<'a> {
    /// Returns the value of a key, which may be written with its old name.
    fn get_item(&self, key: &str) -> Option<&'a Item> {
        self.table.get(find_written_key(self.table, key))
    }

    /// Reports keys that are given with both their old and their new name.
    fn check_renamed_keys(&mut self) {
        for (old, new, _) in find_old_keys(self.table).filter(|(_, new, _)| self.table.contains_key(new)) {
            self.report_error(old, format!("the rule has {new} and its old name {old}; only one of them is allowed"));
        }
    }

    fn report_error(&mut self, key: &str, message: impl Into<String>) {
        let offset = self
            .table
            .get_key_value(find_written_key(self.table, key))
            .and_then(|(key, _)| key.span())
            .map(|span| span.start);
        self.errors.push(RuleError { offset, message: message.into(), fails_closed: self.fails_closed });
    }

    /// Checks that every key is known: a misspelt key might have narrowed or widened the rule.
    fn check_keys(&mut self) {
        let is_known = |name: &str| RULE_KEYS.contains(&name) || RENAMED_KEYS.iter().any(|(old, _)| *old == name);
        for (name, _) in self.table.iter().filter(|(name, _)| !is_known(name)) {
            let suggestion =
                find_nearest(name, RULE_KEYS.iter().copied()).map(|nearest| format!(". Did you mean {nearest}?"));
            let hint = suggestion.unwrap_or_else(|| format!(". Use one of: {}", RULE_KEYS.join(", ")));
            self.report_error(name, format!("{} is not a key of a rule{hint}", truncate_for_display(name)));
        }
    }

    /// Reads a string. Returns `None` if the key is missing; also if its value is invalid, which is reported.
    fn read_string(&mut self, key: &str) -> Option<String> {
        let problem = match self.get_item(key)?.as_str() {
            Some(text) if !text.trim().is_empty() => return Some(text.to_owned()),
            Some(_) => "is empty",
            None => "must be a quoted string",
        };
        self.report_error(key, format!("{key} {problem}"));
        None
    }

    /// Reads a list of strings. A single string is a list of one.
    fn read_strings(&mut self, key: &str) -> Option<Vec<String>> {
        let value = self.get_item(key)?;
        let texts = match value {
            Item::Value(Value::Array(array)) => {
                array.iter().map(|value| value.as_str().map(str::to_owned)).collect::<Option<Vec<String>>>()
            }
            item => item.as_str().map(|text| vec![text.to_owned()]),
        };
        if texts.is_none() {
            self.report_error(key, format!("{key} must be a quoted string or a list of them"));
        }
        texts
    }

    /// Reads a date such as `2026-11-22`. Returns an empty text if there is none or if it is invalid.
    fn read_date(&mut self, key: &str) -> String {
        let Some(item) = self.get_item(key) else { return String::new() };
        let day = match item {
            Item::Value(Value::Datetime(date)) => {
                date.value().date.filter(|_| date.value().time.is_none()).map(|date| date.to_string())
            }
            item => item.as_str().filter(|text| is_date(text)).map(str::to_owned),
        };
        if day.is_none() {
            self.report_error(key, format!("{key} must be a date such as 2026-11-22"));
        }
        day.unwrap_or_default()
    }

    fn read_subject(&mut self, effect: Option<RuleEffect>, has_tool: bool) -> Option<RuleTarget> {
        let given_keys: Vec<&str> = SUBJECT_KEYS.iter().copied().filter(|key| self.get_item(key).is_some()).collect();
        let allows = effect == Some(RuleEffect::Allow);
        let (key, message) = match given_keys.as_slice() {
            ["command"] => return self.read_string("command").map(RuleTarget::Command),
            ["prefix"] => return self.read_prefix(allows),
            ["path"] => return self.read_path(allows),
            [_] => return self.read_host(allows),
            [] if has_tool => return Some(RuleTarget::EveryCall),
            [] => ("", format!("the rule has no subject: add {} or tool", SUBJECT_KEYS.join(", "))),
            [_, second, ..] => {
                (*second, format!("the rule has {}; only one of them is allowed", given_keys.join(" and ")))
            }
        };
        self.report_error(key, message);
        None
    }

    fn read_prefix(&mut self, allows: bool) -> Option<RuleTarget> {
        let words = match self.get_item("prefix").and_then(Item::as_str) {
            Some(text) => text.split_whitespace().map(str::to_owned).collect(),
            None => self.read_strings("prefix")?,
        };
        let error = if words.is_empty() || words.iter().any(|word| needs_shell(word)) {
            "prefix must be plain words such as \"cargo test\"; use command for a line with shell syntax".to_owned()
        } else if let Some(reason) = explain_too_wide(&words).filter(|_| allows) {
            format!("{:?} is too broad to allow: {reason}", truncate_for_display(&words.join(" ")))
        } else {
            return Some(RuleTarget::Prefix(words));
        };
        self.report_error("prefix", error);
        None
    }

    fn read_path(&mut self, allows: bool) -> Option<RuleTarget> {
        let pattern = self.read_string("path")?;
        let path = Path::new(&pattern);
        let has_parent = path.components().any(|part| matches!(part, Component::ParentDir));
        let error = if pattern.starts_with('~') {
            "write the full path; ~ is not expanded in a rule"
        } else if has_parent {
            "a path must not contain .."
        } else if allows && path.is_absolute() && pattern.contains(['*', '?']) {
            "outside the project a rule can only allow reading one file, given by its full path without * and ?; inside the project the path is relative"
        } else {
            return Some(RuleTarget::Path(pattern));
        };
        self.report_error("path", format!("path is {:?}; {error}", truncate_for_display(&pattern)));
        None
    }

    fn read_host(&mut self, allows: bool) -> Option<RuleTarget> {
        let host = self.read_string("host")?;
        let is_name_character = |c: char| c.is_alphanumeric() || ".-_*".contains(c);
        let server = host.strip_prefix("mcp:");
        let is_server = server
            .is_some_and(|server| mcp_names::explain_invalid_server(server).is_none() || (server == "*" && !allows));
        if is_server {
            return Some(RuleTarget::Host(host));
        }
        let error = if !host.chars().all(is_name_character) {
            format!("host is {:?}. Use a name such as \"*.example.com\"", truncate_for_display(&host))
        } else if allows && (!host.contains('.') || host.trim_start_matches("*.").contains('*')) {
            format!(
                "{:?} is too broad to allow. Use a host such as \"docs.rs\" or \"*.example.com\"",
                truncate_for_display(&host)
            )
        } else {
            return Some(RuleTarget::Host(host));
        };
        self.report_error("host", error);
        None
    }

    /// Reads whether an allowed command may read the output of others. Only a rule for a prefix may say so.
    fn read_input(&mut self, effect: Option<RuleEffect>, target: Option<&RuleTarget>) -> bool {
        let Some(item) = self.get_item("input") else { return false };
        let has_use = effect == Some(RuleEffect::Allow) && matches!(target, Some(RuleTarget::Prefix(_)));
        match item.as_bool() {
            Some(takes_input) if has_use || !takes_input => return takes_input,
            Some(_) => self.report_error("input", "input is only for a rule that allows a prefix; remove it"),
            None => self.report_error("input", "input must be true or false"),
        }
        false
    }

    fn read_scope(&mut self, default_scope: &RuleScope) -> RuleScope {
        let Some(project) = self.read_string("project") else { return default_scope.clone() };
        if *default_scope != RuleScope::EveryProject {
            self.report_error("project", "a project's own rules apply only in that project; remove the key project");
        } else if !project.starts_with('/') {
            let shown = truncate_for_display(&project);
            self.report_error("project", format!("project is {shown:?}. Use an absolute directory path"));
        }
        RuleScope::Project(PathBuf::from(project))
    }

    /// Reports each example under `matches` that the rule does not match, and under `not_matches` that it does.
    fn check_examples(&mut self, rule: &Rule) {
        for (key, expected) in [("matches", true), ("not_matches", false)] {
            for example in self.read_strings(key).unwrap_or_default() {
                if matches_example(rule, &example) != expected {
                    let result = if expected { "does not match" } else { "matches" };
                    let shown = truncate_for_display(&example);
                    self.report_error(key, format!("the rule {result} {shown:?}, its example under {key}"));
                }
            }
        }
    }
}

/// Returns whether the rule matches an example. The example is a path for a rule about paths, otherwise a command line.
/// Working directory and timeout of the command do not affect the result.
fn matches_example(rule: &Rule, example: &str) -> bool {
    let access = match &rule.target {
        // Outside the project a rule can only allow reading.
        RuleTarget::Path(_) if rule.effect == RuleEffect::Allow && Path::new(example).is_absolute() => {
            Access::ReadSensitive(PathBuf::from(example))
        }
        RuleTarget::Path(_) => Access::Write(PathBuf::from(example)),
        // A rule that allows a host allows requests to it, never a command that names it.
        RuleTarget::Host(_) if rule.effect == RuleEffect::Allow => {
            Access::Fetch(Box::new(FetchAccess { host: example.to_ascii_lowercase(), ..FetchAccess::default() }))
        }
        _ => {
            let (command, folder) = (example.to_owned(), PathBuf::from("/"));
            Access::Run(CommandLine { command, folder, ..CommandLine::default() }.into())
        }
    };
    let tool = rule.tool.as_deref().unwrap_or_default();
    let preview = Preview::Text(String::new());
    // The scripts are assumed to be as the rule lists them.
    let to_content = |script: &Script| match &script.sha256 {
        Some(sha256) => FileContent::Bytes { bytes: 0, sha256: sha256.clone() },
        None => FileContent::Missing,
    };
    let to_snapshot = |script: &Script| FileSnapshot {
        path: script.path.clone(),
        content: to_content(script),
        new_sha256: None,
        may_grow: false,
    };
    let scripts = if rule.scripts.is_empty() { Scripts::None } else { Scripts::Known };
    let preconditions =
        Preconditions { files: rule.scripts.iter().map(to_snapshot).collect(), scripts, ..Preconditions::default() };
    let destroys = false;
    rule.matches(&Subject::new(tool, &access, &preview, destroys, &preconditions))
}

fn is_date(text: &str) -> bool {
    let shape: String = text.chars().map(|c| if c.is_ascii_digit() { '0' } else { c }).collect();
    shape == "0000-00-00"
}

/// Truncates a value from the file for display.
pub(super) fn truncate_for_display(text: &str) -> String {
    truncate_end(text, MAX_SHOWN_CHARS)
}
