//! Parses a rules file into rules with their lines and errors for the rest.

use super::rule_parser;
use crate::config::{Origin, Problem};
use crate::policy::{Rule, RuleEffect, RuleScope};
use toml_edit::{Document, Item, TableLike};

/// Content of a rules file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ParsedRules {
    /// Rules in file order, expired ones included.
    pub rules: Vec<Rule>,
    pub problems: Vec<Problem>,
    /// Old names of keys, each at its first line. The rules apply.
    pub old_names: Vec<Problem>,
    /// First problem that may have disabled an asking or denying rule, if any. Every call asks because of it.
    pub broken: Option<String>,
}

impl ParsedRules {
    /// Returns the number of rules of each kind: `2 allow, 1 deny`.
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

/// Parses the text of a rules file. `file` is its name as displayed, `tools` the available tools, and `holds` the
/// default scope of its rules. Only the user's own file may name a project in a rule.
pub fn parse_rules(text: &str, file: &str, tools: &[String], holds: &RuleScope) -> ParsedRules {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut sheet = ParsedRules::default();
    let line = |byte: Option<usize>| {
        let before = &text.as_bytes()[..byte.unwrap_or(0).min(text.len())];
        before.iter().filter(|&&byte| byte == b'\n').count() + 1
    };
    let document = match Document::parse(text) {
        Ok(document) => document,
        Err(error) => {
            let message = error.message().lines().next().unwrap_or("syntax error").to_owned();
            let words = format!("this is not TOML ({message})");
            sheet.report_error(file, line(error.span().map(|span| span.start)), &words, true);
            return sheet;
        }
    };
    // Lines are counted incrementally because a file may hold thousands of rules.
    let (mut counted, mut lines) = (0, 1);
    let mut line_of = |byte: Option<usize>| {
        let byte = byte.unwrap_or(0).min(text.len());
        if byte < counted {
            (counted, lines) = (0, 1);
        }
        lines += text.as_bytes()[counted..byte].iter().filter(|&&byte| byte == b'\n').count();
        counted = byte;
        lines
    };
    // Old and new name of each renamed key in the file, with its first line and the number of rules that have it.
    let mut old_keys: Vec<(&str, &str, usize, usize)> = Vec::new();
    for (name, item) in document.as_table() {
        if name != "rule" {
            let at = document.as_table().get_key_value(name).and_then(|(key, _)| key.span());
            let words = format!(
                "{} is not a key of a rules file; every rule begins with [[rule]]",
                rule_parser::truncate_for_display(name)
            );
            sheet.report_error(file, line_of(at.map(|span| span.start)), &words, true);
            continue;
        }
        let Some(tables) = rule_tables(item) else {
            let at = item.span().map(|span| span.start);
            sheet.report_error(file, line_of(at), "rule is not a list; every rule begins with [[rule]]", true);
            continue;
        };
        for (at, table) in tables {
            let (read, wrong) = rule_parser::parse_rule(table, tools, holds);
            let mut own = line_of(at);
            for (old, new, byte) in rule_parser::find_old_keys(table) {
                match old_keys.iter_mut().find(|(known, ..)| *known == old) {
                    Some((.., count)) => *count += 1,
                    None => old_keys.push((old, new, line_of(byte), 1)),
                }
            }
            for wrong in wrong {
                let line = wrong.offset.map_or(own, |byte| line_of(Some(byte)));
                sheet.report_error(file, line, &wrong.message, wrong.fails_closed);
            }
            if let Some(mut rule) = read {
                own = line_of(at);
                (rule.location.file, rule.location.line) = (file.to_owned(), own);
                sheet.rules.push(rule);
            }
        }
    }
    for (old, new, line, count) in old_keys {
        let others = match count {
            1 => String::new(),
            count => format!(" ({count} rules)"),
        };
        let message = format!("`{old}` is now `{new}`; the old name works in this release{others}");
        sheet.old_names.push(Problem { origin: Origin::File { file: file.to_owned(), line }, message });
    }
    sheet
}

/// Returns the rules in a list with their byte offsets.
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

impl ParsedRules {
    fn report_error(&mut self, file: &str, line: usize, words: &str, matters: bool) {
        let end = match matters {
            true => "every call asks until this is corrected",
            false => "the rule is disabled",
        };
        if matters {
            self.broken.get_or_insert(format!("{file}:{line}: {words}"));
        }
        let at = Origin::File { file: file.to_owned(), line };
        self.problems.push(Problem { origin: at, message: format!("{words}; {end}") });
    }
}
