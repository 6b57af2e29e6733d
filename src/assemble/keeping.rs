//! Keeps rules for the person and takes them back: what the screen wants done with their files.

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

    /// Writes the rule that keeps a grant.
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

    /// Takes a rule out of its file; with a project's own all of them.
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
                Ok(false) => Reply::Notice(format!("The rule is not in {} any more: {what}.", rule.at.file)),
                Err(error) => {
                    Reply::Notice(format!("The rule could not be taken back: {error}; it still holds."))
                }
            })
        });
    }

    /// Tells the agent the rules as they stand now. What is wrong with them is said before a call is looked at.
    pub(super) fn learn_rules(&self) {
        let book = self.book();
        self.aside(move || {
            let rules = Arc::new(book.load(&rules::today()).rules);
            Some(Reply::Learnt(Event::RulesRead { rules, notices: Vec::new() }))
        });
    }

    /// Tells every rule that holds.
    pub(super) fn tell_rules(&self) {
        let book = self.book();
        self.aside(move || {
            let loaded = book.load(&rules::today());
            Some(Reply::Rules(told(&loaded, &book)))
        });
    }
}

/// Everything that holds, a line each.
fn told(loaded: &Loaded, book: &Book) -> String {
    let mut lines: Vec<String> = loaded.rules.list.iter().map(Rule::told).collect();
    lines.extend(loaded.expired.iter().map(|rule| format!("expired: {}", rule.told())));
    if lines.is_empty() {
        lines.push("there are no rules".to_owned());
    }
    lines.extend(loaded.notices().iter().map(|notice| format!("careful: {notice}")));
    lines.push(String::new());
    lines.push(format!("your rules stand in {}", book.file.display()));
    lines.join("\n")
}
