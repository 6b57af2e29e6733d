//! Saves and removes rules for the screen.

use super::rule_loading;
use super::screen_host::ScreenHost;
use crate::agent::Event;
use crate::chat::{CallId, Decider, Grant};
use crate::config::rules::{LoadedRules, PROJECT_RULES_FILE, RulesSource, rules_editor};
use crate::config::trust;
use crate::policy::{Rule, RuleScope};
use crate::tui::host::HostReply;
use std::sync::Arc;

impl ScreenHost {
    pub(super) fn rule_book(&self) -> RulesSource {
        rule_loading::rule_book(&self.wiring.places, &self.wiring.folder, &self.wiring.tools)
    }

    /// Writes the rule for a grant.
    pub(super) fn save_rule(&self, call: CallId, grant: Grant, by: Decider) {
        let book = self.rule_book();
        self.run_in_background(move || {
            let key = match &by {
                Decider::User { key, .. } => key.as_str(),
                Decider::File | Decider::Headless => "",
            };
            let mut rule = rules_editor::rule_from_grant(&grant, &book.folder, key);
            (rule.created, rule.expires) = (rule_loading::today_date(), rule_loading::expiry_date());
            let failed =
                rules_editor::append_rule(&book.rules_file, &rule, &book.tools).err().map(|error| error.to_string());
            Some(HostReply::RuleSaved { call, grant, by, failed })
        });
    }

    /// Removes a rule from its file. For a rule of the project's file, all trust in that file is removed.
    pub(super) fn remove_rule(&self, rule: Rule, by: Decider) {
        let book = self.rule_book();
        self.run_in_background(move || {
            let what = rule.describe();
            let (done, what) = match rule.scope {
                RuleScope::TrustedProject => {
                    let what = format!("trust in {PROJECT_RULES_FILE} of this project");
                    (trust::revoke_trust(&book.trust_file, &book.folder, Some(PROJECT_RULES_FILE)).map(|()| true), what)
                }
                RuleScope::EveryProject | RuleScope::Project(_) => {
                    (rules_editor::remove_rule(&book.rules_file, &rule, &book.tools), what)
                }
            };
            Some(match done {
                Ok(true) => HostReply::RuleRevoked { what, by },
                Ok(false) => HostReply::Notice(format!("The rule is no longer in {}: {what}.", rule.location.file)),
                Err(error) => HostReply::Notice(format!("Cannot remove the rule: {error}. It still applies.")),
            })
        });
    }

    /// Sends the current rules to the agent. Problems with them are reported before the next call is judged.
    pub(super) fn reload_rules(&self) {
        let book = self.rule_book();
        self.run_in_background(move || {
            let rules = Arc::new(book.load(&rule_loading::today_date()).rules);
            Some(HostReply::AgentEvent(Event::RulesLoaded { rules, notices: Vec::new() }))
        });
    }

    /// Sends the list of all rules that apply.
    pub(super) fn send_rules(&self) {
        let book = self.rule_book();
        self.run_in_background(move || {
            let loaded = book.load(&rule_loading::today_date());
            Some(HostReply::Rules(list_rules(&loaded, &book)))
        });
    }
}

/// Lists everything that applies, one per line.
fn list_rules(loaded: &LoadedRules, book: &RulesSource) -> String {
    let mut lines: Vec<String> = loaded.rules.list.iter().map(Rule::describe_with_location).collect();
    lines.extend(loaded.expired.iter().map(|rule| format!("expired: {}", rule.describe_with_location())));
    if lines.is_empty() {
        lines.push("no rules".to_owned());
    }
    lines.extend(loaded.notices().iter().map(|notice| format!("warning: {notice}")));
    lines.push(String::new());
    lines.push(format!("your rules are in {}", book.rules_file.display()));
    lines.join("\n")
}
