//! Saves and removes rules for the screen.

use super::host::Around;
use super::rules;
use crate::agent::Event;
use crate::chat::{By, CallId, Grant};
use crate::config::rules::{Book, Loaded, OF_PROJECT, keep};
use crate::config::trust;
use crate::policy::{Holds, Rule};
use crate::tui::host::Reply;
use std::sync::Arc;

impl Around {
    pub(super) fn book(&self) -> Book {
        rules::book(&self.wiring.places, &self.wiring.folder, &self.wiring.tools)
    }

    /// Writes the rule for a grant.
    pub(super) fn keep_rule(&self, call: CallId, grant: Grant, by: By) {
        let book = self.book();
        self.aside(move || {
            let key = match &by {
                By::Person { key, .. } => key.as_str(),
                By::File | By::Nobody => "",
            };
            let mut rule = keep::rule(&grant, &book.folder, key);
            (rule.created, rule.expires) = (rules::today(), rules::expiry());
            let failed = keep::add(&book.file, &rule, &book.tools).err().map(|error| error.to_string());
            Some(Reply::RuleKept { call, grant, by, failed })
        });
    }

    /// Removes a rule from its file. For a rule of the project's file, all trust in that file is removed.
    pub(super) fn take_rule_back(&self, rule: Rule, by: By) {
        let book = self.book();
        self.aside(move || {
            let what = rule.words();
            let (done, what) = match rule.holds {
                Holds::Trusted => {
                    let what = format!("trust in {OF_PROJECT} of this project");
                    (trust::forget(&book.trusted, &book.folder, Some(OF_PROJECT)).map(|()| true), what)
                }
                Holds::Everywhere | Holds::Project(_) => (keep::remove(&book.file, &rule, &book.tools), what),
            };
            Some(match done {
                Ok(true) => Reply::TookBack { what, by },
                Ok(false) => Reply::Notice(format!("The rule is no longer in {}: {what}.", rule.at.file)),
                Err(error) => Reply::Notice(format!("Cannot remove the rule: {error}. It still applies.")),
            })
        });
    }

    /// Sends the current rules to the agent. Problems with them are reported before the next call is judged.
    pub(super) fn learn_rules(&self) {
        let book = self.book();
        self.aside(move || {
            let rules = Arc::new(book.load(&rules::today()).rules);
            Some(Reply::Learnt(Event::RulesRead { rules, notices: Vec::new() }))
        });
    }

    /// Sends the list of all rules that apply.
    pub(super) fn tell_rules(&self) {
        let book = self.book();
        self.aside(move || {
            let loaded = book.load(&rules::today());
            Some(Reply::Rules(told(&loaded, &book)))
        });
    }
}

/// Lists everything that applies, one per line.
fn told(loaded: &Loaded, book: &Book) -> String {
    let mut lines: Vec<String> = loaded.rules.list.iter().map(Rule::told).collect();
    lines.extend(loaded.expired.iter().map(|rule| format!("expired: {}", rule.told())));
    if lines.is_empty() {
        lines.push("no rules".to_owned());
    }
    lines.extend(loaded.notices().iter().map(|notice| format!("warning: {notice}")));
    lines.push(String::new());
    lines.push(format!("your rules are in {}", book.file.display()));
    lines.join("\n")
}
