//! Parses a rules file into rules with their lines and errors for the rest.

use super::rule_parser;
use crate::config::Problem;
use crate::config::problem::line_at;
use crate::policy::{DisabledRule, Rule, RuleEffect, RuleLocation, RuleScope};
use toml_edit::{Document, Item, TableLike};

/// Content of a rules file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ParsedRules {
    /// Rules in file order, expired ones included.
    pub rules: Vec<Rule>,
    pub problems: Vec<Problem>,
    /// Rules that are not in force because they have an error; `problems` has each of the errors.
    pub disabled: Vec<DisabledRule>,
    /// Notices about old names of keys, each at its first line. Rules with old names apply too.
    pub old_names: Vec<Problem>,
    /// First problem that may have disabled an asking or denying rule, if any. Every call asks because of it.
    pub unsafe_problem: Option<String>,
}

impl ParsedRules {
    /// Returns the number of rules of each kind: `2 allow, 1 deny`. Without valid rules, says so.
    pub fn count_by_kind(&self) -> String {
        match (self.rules.is_empty(), self.problems.is_empty()) {
            (true, true) => "no rules".to_owned(),
            (true, false) => "cannot be read".to_owned(),
            (false, _) => count_effects(self.rules.iter()),
        }
    }
}

/// Counts the rules of each kind: `2 allow, 1 deny`.
pub fn count_effects<'a>(rules: impl Iterator<Item = &'a Rule> + Clone) -> String {
    let counted = [RuleEffect::Allow, RuleEffect::Ask, RuleEffect::Deny].map(|effect| {
        let count = rules.clone().filter(|rule| rule.effect == effect).count();
        (count > 0).then(|| format!("{count} {}", effect.as_str()))
    });
    counted.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

/// Parses the text of a rules file. `file` is its name as displayed, `tools` the available tools, and
/// `default_scope` the scope of rules that name no project. Only the user's own file may name a project in a rule.
pub fn parse_rules(text: &str, file: &str, tools: &[String], default_scope: &RuleScope) -> ParsedRules {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut parsed = ParsedRules::default();
    // An error outside a rule may hide a rule that asks or denies.
    let fails_closed = true;
    let document = match Document::parse(text) {
        Ok(document) => document,
        Err(error) => {
            let message = error.message().lines().next().unwrap_or("syntax error").to_owned();
            let message = format!("this is not TOML ({message})");
            let offset = error.span().map_or(0, |span| span.start);
            parsed.report_error(file, line_at(text.as_bytes(), offset), &message, fails_closed);
            return parsed;
        }
    };
    // `next_line` returns the line of an offset. It counts on from the offset of the previous call, because a file may
    // hold thousands of rules.
    let (mut counted_bytes, mut lines) = (0, 1);
    let mut next_line = |offset: Option<usize>| {
        let offset = offset.unwrap_or(0).min(text.len());
        if offset < counted_bytes {
            (counted_bytes, lines) = (0, 1);
        }
        lines += text.as_bytes()[counted_bytes..offset].iter().filter(|&&byte| byte == b'\n').count();
        counted_bytes = offset;
        lines
    };
    // Old and new name of each renamed key in the file, with its first line and the number of rules that have it.
    let mut old_keys: Vec<(&str, &str, usize, usize)> = Vec::new();
    for (name, item) in document.as_table() {
        if name != "rule" {
            let span = document.as_table().get_key_value(name).and_then(|(key, _)| key.span());
            let message = format!(
                "{} is not a key of a rules file; every rule begins with [[rule]]",
                rule_parser::truncate_for_display(name)
            );
            parsed.report_error(file, next_line(span.map(|span| span.start)), &message, fails_closed);
            continue;
        }
        let Some(tables) = rule_tables(item) else {
            let offset = item.span().map(|span| span.start);
            let message = "rule is not a list; every rule begins with [[rule]]";
            parsed.report_error(file, next_line(offset), message, fails_closed);
            continue;
        };
        for (offset, table) in tables {
            let (rule, errors) = rule_parser::parse_rule(table, tools, default_scope);
            let rule_line = next_line(offset);
            for (old, new, key_offset) in rule_parser::find_old_keys(table) {
                match old_keys.iter_mut().find(|(known_old, ..)| *known_old == old) {
                    Some((.., count)) => *count += 1,
                    None => old_keys.push((old, new, next_line(key_offset), 1)),
                }
            }
            if rule.is_none() {
                let reasons = errors.iter().map(|error| describe_error(&error.message, error.fails_closed));
                let reason = reasons.collect::<Vec<_>>().join(" ");
                let location = RuleLocation { file: file.to_owned(), line: rule_line };
                let description = rule_parser::describe_table(table);
                parsed.disabled.push(DisabledRule { description, reason, location });
            }
            for error in errors {
                let line = error.offset.map_or(rule_line, |error_offset| next_line(Some(error_offset)));
                parsed.report_error(file, line, &error.message, error.fails_closed);
            }
            if let Some(mut rule) = rule {
                (rule.location.file, rule.location.line) = (file.to_owned(), rule_line);
                parsed.rules.push(rule);
            }
        }
    }
    for (old, new, line, count) in old_keys {
        let rule_count = match count {
            1 => String::new(),
            count => format!(" ({count} rules)"),
        };
        let message = format!("`{old}` is now `{new}`; the old name works in this release{rule_count}");
        parsed.old_names.push(Problem::in_file(file, line, message));
    }
    parsed
}

/// Returns the rules in a list with their byte offsets; `None` if the item is not a list of tables.
fn rule_tables(item: &Item) -> Option<Vec<(Option<usize>, &dyn TableLike)>> {
    match item {
        Item::ArrayOfTables(tables) => {
            Some(tables.iter().map(|table| (table.span().map(|span| span.start), table as &dyn TableLike)).collect())
        }
        Item::Value(toml_edit::Value::Array(array)) => array
            .iter()
            .map(|value| {
                let table = value.as_inline_table()?;
                Some((value.span().map(|span| span.start), table as &dyn TableLike))
            })
            .collect(),
        Item::None | Item::Value(_) | Item::Table(_) => None,
    }
}

/// Returns the full stop of a sentence, unless it is a question.
fn end_of(sentence: &str) -> &'static str {
    if sentence.ends_with('?') { "" } else { "." }
}

impl ParsedRules {
    fn report_error(&mut self, file: &str, line: usize, message: &str, fails_closed: bool) {
        if fails_closed {
            self.unsafe_problem.get_or_insert(format!("{file}:{line}: {message}"));
        }
        self.problems.push(Problem::in_file(file, line, describe_error(message, fails_closed)));
    }
}

/// Returns what is wrong, and what follows from it.
fn describe_error(message: &str, fails_closed: bool) -> String {
    let consequence = match fails_closed {
        true => "Correct it: until then every call asks",
        false => "Correct it: until then the rule is disabled",
    };
    format!("{message}{} {consequence}", end_of(message))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rule_that_is_not_in_force_is_kept_as_disabled_with_its_reason() {
        let text = "[[rule]]\nverdict = \"allow\"\nprefix = [\"npx\", \"tsc\"]\n\n[[rule]]\nverdict = \"allow\"\nprefix = \"cargo test\"\n\n\
            [[rule]]\npath = \".env\"\n";
        let parsed = parse_rules(text, "rules.toml", &[], &RuleScope::EveryProject);
        let found: Vec<_> =
            parsed.disabled.iter().map(|rule| (rule.description.as_str(), rule.location.line)).collect();
        assert_eq!((found, parsed.rules.len()), (vec![("allow npx tsc", 1), (".env", 9)], 1));
        let reason = &parsed.disabled[0].reason;
        assert!(reason.contains("too broad") && reason.ends_with("until then the rule is disabled"), "{reason}");
        let reason = &parsed.disabled[1].reason;
        assert!(reason.contains("no verdict") && reason.ends_with("until then every call asks"), "{reason}");
    }
}
