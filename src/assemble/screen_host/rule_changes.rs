//! Saves and removes rules for the screen.

use super::ScreenHost;
use crate::agent::Event;
use crate::chat::{CallId, Decider, Grant, SessionId};
use crate::config::rules::{ProjectSource, expiry_date, rules_editor, today_date};
use crate::policy::{Rule, RuleScope};
use crate::store::local_time;
use crate::store::rule_uses::{RuleUses, UsedRule};
use crate::tui::host::HostReply;
use std::sync::Arc;

impl ScreenHost {
    pub(super) fn project_source(&self) -> ProjectSource {
        self.session_builder.project_source(&self.session_builder.folder)
    }

    /// Counts the calls that rules allowed in other sessions than this.
    pub(super) fn count_rule_uses(&self, rules: Vec<Rule>, except: SessionId) {
        let (sessions, folder) = (self.session_builder.stored_sessions(), self.session_builder.folder.clone());
        self.run_in_background(move || {
            let used_rule = |rule: &Rule| UsedRule {
                reason_start: rule.reason_start(),
                is_everywhere: rule.scope == RuleScope::EveryProject,
            };
            let rules: Vec<UsedRule> = rules.iter().map(used_rule).collect();
            let uses = sessions.count_rule_uses(&folder, &rules, &except).ok()?;
            let format = |uses: RuleUses| (uses.count, local_time::format_entry_time(uses.last_ms));
            let starts = rules.into_iter().map(|rule| rule.reason_start);
            Some(HostReply::RuleUses(starts.zip(uses.into_iter().map(format)).collect()))
        });
    }

    /// Writes the rule for a grant.
    pub(super) fn save_rule(&self, call: CallId, grant: Grant, by: Decider) {
        let source = self.project_source();
        self.run_in_background(move || {
            let key = match &by {
                Decider::User { key, .. } => key.as_str(),
                Decider::File | Decider::Client | Decider::AutoMode | Decider::Headless => "",
            };
            let mut rule = rules_editor::rule_from_grant(&grant, &source.folder, key);
            (rule.created, rule.expires) = (today_date(), expiry_date());
            let error = rules_editor::append_rule(&source.rules_file, &rule, &source.tools)
                .err()
                .map(|error| error.to_string());
            Some(HostReply::RuleSaved { call, grant, by, error })
        });
    }

    /// Removes a rule from its file. For a rule of the project's file, all trust in that file is removed.
    pub(super) fn remove_rule(&self, rule: Rule, by: Decider) {
        let source = self.project_source();
        self.run_in_background(move || {
            let (result, description) = source.remove_rule(&rule);
            Some(match result {
                Ok(true) => HostReply::RuleRevoked { description, by },
                Ok(false) => {
                    HostReply::Notice(format!("The rule is no longer in {}: {description}.", rule.location.file))
                }
                Err(error) => HostReply::Notice(format!("Cannot remove the rule: {error}. It still applies.")),
            })
        });
    }

    /// Replaces the target of a rule in its file.
    pub(super) fn replace_rule(&self, rule: Box<Rule>, text: String, by: Decider) {
        let source = self.project_source();
        self.run_in_background(move || {
            let new_rule = rule.with_text(&text);
            let error = match source.replace_rule(&rule, &new_rule) {
                Ok(true) => None,
                Ok(false) => Some(format!("the rule is no longer in {}", rule.location.file)),
                Err(error) => Some(error.to_string()),
            };
            Some(HostReply::RuleReplaced { rule, new_rule: Box::new(new_rule), by, error })
        });
    }

    /// Sends the current rules to the agent. Problems with them are reported before the next call is judged.
    pub(super) fn reload_rules(&self) {
        let source = self.project_source();
        self.run_in_background(move || {
            let rules = Arc::new(source.load(&today_date()).rules);
            Some(HostReply::AgentEvent(Event::RulesLoaded { rules, notices: Vec::new() }))
        });
    }

    /// Sends the list of all rules that apply.
    pub(super) fn send_rules(&self) {
        let source = self.project_source();
        self.run_in_background(move || {
            let loaded = source.load(&today_date());
            Some(HostReply::TextPage("Rules in effect", loaded.describe(&source.rules_file)))
        });
    }
}
