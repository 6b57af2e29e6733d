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
    pub(super) fn rules_source(&self) -> RulesSource {
        rule_loading::rules_source(
            &self.session_builder.places,
            &self.session_builder.folder,
            &self.session_builder.tools,
        )
    }

    /// Writes the rule for a grant.
    pub(super) fn save_rule(&self, call: CallId, grant: Grant, by: Decider) {
        let source = self.rules_source();
        self.run_in_background(move || {
            let key = match &by {
                Decider::User { key, .. } => key.as_str(),
                Decider::File | Decider::Headless => "",
            };
            let mut rule = rules_editor::rule_from_grant(&grant, &source.folder, key);
            (rule.created, rule.expires) = (rule_loading::today_date(), rule_loading::expiry_date());
            let error = rules_editor::append_rule(&source.rules_file, &rule, &source.tools)
                .err()
                .map(|error| error.to_string());
            Some(HostReply::RuleSaved { call, grant, by, error })
        });
    }

    /// Removes a rule from its file. For a rule of the project's file, all trust in that file is removed.
    pub(super) fn remove_rule(&self, rule: Rule, by: Decider) {
        let source = self.rules_source();
        self.run_in_background(move || {
            let description = rule.describe();
            let (result, description) = match rule.scope {
                RuleScope::TrustedProject => {
                    let description = format!("trust in {PROJECT_RULES_FILE} of this project");
                    (
                        trust::revoke_trust(&source.trust_file, &source.folder, Some(PROJECT_RULES_FILE))
                            .map(|()| true),
                        description,
                    )
                }
                RuleScope::EveryProject | RuleScope::Project(_) => {
                    (rules_editor::remove_rule(&source.rules_file, &rule, &source.tools), description)
                }
            };
            Some(match result {
                Ok(true) => HostReply::RuleRevoked { description, by },
                Ok(false) => {
                    HostReply::Notice(format!("The rule is no longer in {}: {description}.", rule.location.file))
                }
                Err(error) => HostReply::Notice(format!("Cannot remove the rule: {error}. It still applies.")),
            })
        });
    }

    /// Sends the current rules to the agent. Problems with them are reported before the next call is judged.
    pub(super) fn reload_rules(&self) {
        let source = self.rules_source();
        self.run_in_background(move || {
            let rules = Arc::new(source.load(&rule_loading::today_date()).rules);
            Some(HostReply::AgentEvent(Event::RulesLoaded { rules, notices: Vec::new() }))
        });
    }

    /// Sends the list of all rules that apply.
    pub(super) fn send_rules(&self) {
        let source = self.rules_source();
        self.run_in_background(move || {
            let loaded = source.load(&rule_loading::today_date());
            Some(HostReply::Rules(list_rules(&loaded, &source)))
        });
    }
}

/// Lists everything that applies, one per line.
fn list_rules(loaded: &LoadedRules, source: &RulesSource) -> String {
    let mut lines: Vec<String> = loaded.rules.list.iter().map(Rule::describe_with_location).collect();
    lines.extend(loaded.expired.iter().map(|rule| format!("expired: {}", rule.describe_with_location())));
    if lines.is_empty() {
        lines.push("no rules".to_owned());
    }
    lines.extend(loaded.notices().iter().map(|notice| format!("warning: {notice}")));
    lines.push(String::new());
    lines.push(format!("your rules are in {}", source.rules_file.display()));
    lines.join("\n")
}
