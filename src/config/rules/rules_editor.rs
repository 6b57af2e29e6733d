//! Adds rules to the user's rules file and removes them, leaving the rest of the file unchanged.

use super::rule_parser::script_digests::MISSING;
use super::rules_file::lock_file;
use super::{read_rules_text, rules_parser};
use crate::chat::{Digest, Grant, GrantScope, GrantSpan};
use crate::config::settings_file;
use crate::policy::{Rule, RuleEffect, RuleLocation, RuleScope, RuleTarget};
use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use toml_edit::{Array, ArrayOfTables, DocumentMut, InlineTable, Item, Table, Value, value};

/// Header of a new rules file.
const FILE_HEADER: &str = "# Rules: which calls run, which ask and which are denied. `aye rules check` checks this file;\n# rules.example.toml in the repository shows every key.\n\n";

/// Appends the rule to the file and creates the file if necessary.
///
/// # Errors
/// Fails and leaves the file unchanged if it cannot be read or written, or if it is read-only.
pub fn append_rule(path: &Path, rule: &Rule, tools: &[String]) -> io::Result<()> {
    let _lock = lock_file(path)?;
    let (old_text, mut document) = open_document(path)?;
    let tables = document.entry("rule").or_insert_with(|| Item::ArrayOfTables(ArrayOfTables::new()));
    let tables = tables
        .as_array_of_tables_mut()
        .ok_or_else(|| io::Error::other("its rules are not [[rule]] sections; add the rule by hand"))?;
    let mut table = build_rule_table(rule)?;
    let (prefix, header) = if old_text.trim().is_empty() { ("", FILE_HEADER) } else { ("\n", "") };
    table.decor_mut().set_prefix(prefix);
    tables.push(table);
    let text = format!("{header}{document}");
    // The file must contain the rule that was shown, so the new text is parsed before it is written.
    let parsed = rules_parser::parse_rules(&text, "", tools, &RuleScope::EveryProject);
    let is_unchanged = parsed.rules.last().is_some_and(|last_rule| is_same_rule(last_rule, rule));
    if !is_unchanged {
        let reason = parsed.problems.last().map(|problem| problem.message.clone()).unwrap_or_default();
        return Err(io::Error::other(format!("the rule could not be read back: {reason}")));
    }
    settings_file::replace_file(path, &text)
}

/// Removes the rule. Returns whether it was in the file.
pub fn remove_rule(path: &Path, rule: &Rule, tools: &[String]) -> io::Result<bool> {
    let _lock = lock_file(path)?;
    let (_, mut document) = open_document(path)?;
    let Some(index) = find_rule(&document, rule, tools) else { return Ok(false) };
    let Some(tables) = document.get_mut("rule").and_then(Item::as_array_of_tables_mut) else { return Ok(false) };
    let comment = tables.get(index).and_then(|table| table.decor().prefix()).and_then(|text| text.as_str());
    // A comment at the head of the file belongs to the whole file, so it is kept.
    let header = comment.filter(|_| index == 0).map(str::to_owned).unwrap_or_default();
    tables.remove(index);
    match tables.get_mut(0).filter(|_| index == 0) {
        Some(next) => {
            let next_comment = next.decor().prefix().and_then(|text| text.as_str()).unwrap_or_default().to_owned();
            next.decor_mut().set_prefix(format!("{}\n{}", header.trim_end(), next_comment.trim_start_matches('\n')));
        }
        None if index == 0 => {
            document.remove("rule");
            let trailing = document.trailing().as_str().unwrap_or_default().to_owned();
            document.set_trailing(format!("{header}{trailing}"));
        }
        None => {}
    }
    settings_file::replace_file(path, &document.to_string())?;
    Ok(true)
}

/// Replaces the target of a rule: its command, prefix or path. Returns whether the rule was in the file.
///
/// # Errors
/// As for [`append_rule`]; also if the new rule is not valid, with the reason.
pub fn replace_rule(path: &Path, rule: &Rule, new_rule: &Rule, tools: &[String]) -> io::Result<bool> {
    let _lock = lock_file(path)?;
    let (_, mut document) = open_document(path)?;
    let Some(index) = find_rule(&document, rule, tools) else { return Ok(false) };
    let tables = document.get_mut("rule").and_then(Item::as_array_of_tables_mut);
    let Some(table) = tables.and_then(|tables| tables.get_mut(index)) else { return Ok(false) };
    let new_table = build_rule_table(new_rule)?;
    // The key `words` is that of version 0.1.
    let keys = [("command", "command"), ("prefix", "prefix"), ("words", "prefix"), ("path", "path"), ("host", "host")];
    for (key, new_key) in keys {
        let new_value = new_table.get(new_key).and_then(Item::as_value);
        if let (Some(value), Some(new_value)) = (table.get_mut(key).and_then(Item::as_value_mut), new_value) {
            // A comment after the value stays.
            let decor = value.decor().clone();
            *value = new_value.clone();
            *value.decor_mut() = decor;
        }
    }
    let text = document.to_string();
    let parsed = rules_parser::parse_rules(&text, "", tools, &RuleScope::EveryProject);
    if !parsed.rules.iter().any(|other| is_same_rule(other, new_rule)) {
        let reason = parsed.problems.last().map(|problem| problem.message.clone());
        return Err(io::Error::other(reason.unwrap_or_else(|| "the rule could not be read back".to_owned())));
    }
    settings_file::replace_file(path, &text)?;
    Ok(true)
}

/// Returns the index of the section with this rule.
fn find_rule(document: &DocumentMut, rule: &Rule, tools: &[String]) -> Option<usize> {
    let sections = document.get("rule").and_then(Item::as_array_of_tables)?;
    // Each section is parsed on its own, because invalid sections are missing from a list of rules: the indices differ.
    sections.iter().position(|section| {
        let mut only_section = ArrayOfTables::new();
        only_section.push(section.clone());
        let mut document = DocumentMut::new();
        document.insert("rule", Item::ArrayOfTables(only_section));
        let parsed_alone = rules_parser::parse_rules(&document.to_string(), "", tools, &RuleScope::EveryProject);
        parsed_alone.rules.first().is_some_and(|only_rule| is_same_rule(only_rule, rule))
    })
}

/// Returns whether two rules are the same apart from their location.
fn is_same_rule(a: &Rule, b: &Rule) -> bool {
    Rule { location: b.location.clone(), ..a.clone() } == *b
}

/// Returns the text of the file and an editable document of it.
fn open_document(path: &Path) -> io::Result<(String, DocumentMut)> {
    if let Ok(metadata) = fs::metadata(path)
        && metadata.permissions().mode() & 0o200 == 0
    {
        return Err(io::Error::new(io::ErrorKind::PermissionDenied, "the file is read-only"));
    }
    let content = read_rules_text(path).map_err(io::Error::other)?.unwrap_or_default();
    let text = content.strip_prefix('\u{feff}').unwrap_or(&content).to_owned();
    let document = text.parse().map_err(|_| io::Error::other("the file is not valid TOML; nothing was changed"))?;
    Ok((text, document))
}

/// Returns the rule that makes a grant permanent, limited to the project unless the grant applies everywhere. `key` is
/// the key that the user pressed in the prompt, such as `a`.
pub fn rule_from_grant(grant: &Grant, folder: &Path, key: &str) -> Rule {
    let scope = match grant.span {
        GrantSpan::Session | GrantSpan::Project => RuleScope::Project(folder.to_owned()),
        GrantSpan::Everywhere => RuleScope::EveryProject,
    };
    Rule {
        effect: RuleEffect::Allow,
        // An allow for a path covers only changes of files, by whatever tool.
        tool: (grant.scope != GrantScope::FileChanges).then(|| grant.tool.clone()),
        target: Rule::target_of_scope(&grant.scope),
        scope,
        created: String::new(),
        expires: String::new(),
        scripts: grant.scripts.clone(),
        takes_input: grant.takes_input,
        saved_with_key: key.to_owned(),
        location: RuleLocation::default(),
    }
}

/// Formats the rule as it is written to the file, for the approval prompt. Empty if it cannot be written.
pub fn format_rule(rule: &Rule) -> String {
    build_rule_table(rule).map(|table| format!("[[rule]]\n{table}")).unwrap_or_default()
}

fn build_rule_table(rule: &Rule) -> io::Result<Table> {
    let mut table = Table::new();
    table.insert("verdict", value(rule.effect.as_str()));
    if let Some(tool) = &rule.tool {
        table.insert("tool", value(tool));
    }
    match &rule.target {
        RuleTarget::EveryCall => {}
        RuleTarget::Command(command) => drop(table.insert("command", value(command))),
        RuleTarget::Prefix(words) => {
            let words: Array = words.iter().map(String::as_str).collect();
            table.insert("prefix", value(words));
        }
        RuleTarget::Path(path) => drop(table.insert("path", value(path))),
        RuleTarget::Host(host) => drop(table.insert("host", value(host))),
    }
    if rule.takes_input {
        table.insert("input", value(true));
    }
    if !rule.scripts.is_empty() {
        let mut scripts = InlineTable::new();
        for script in &rule.scripts {
            let name = script
                .path
                .to_str()
                .ok_or_else(|| io::Error::other("the script's path is not valid UTF-8, so no rule can name it"))?;
            scripts.insert(name, script.sha256.as_ref().map_or(MISSING, Digest::as_str).into());
        }
        table.insert("scripts", value(scripts));
    }
    if let RuleScope::Project(project) = &rule.scope {
        let project = project
            .to_str()
            .ok_or_else(|| io::Error::other("the project's path is not valid UTF-8, so no rule can name it"))?;
        table.insert("project", value(project));
    }
    for (key, date) in [("created", &rule.created), ("expires", &rule.expires)] {
        if !date.is_empty() {
            let date = date
                .parse()
                .map_or_else(|_| Value::from(date.as_str()), |datetime: toml_edit::Datetime| datetime.into());
            table.insert(key, value(date));
        }
    }
    if !rule.saved_with_key.is_empty() {
        table.insert("key", value(&rule.saved_with_key));
    }
    Ok(table)
}
