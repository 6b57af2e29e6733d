//! The list of grants and rules in force, of disabled rules, and of all judged calls (those with a verdict). Rules are
//! edited and revoked there.

use super::{agent_events, popup_stack, rule_edits};
use crate::agent::{ApprovalSource, Event, LastingApproval, list_lasting_approvals};
use crate::chat::audit::{Record, collect_records};
use crate::chat::{Decider, Entry, Grant, GrantScope, pluralize, script};
use crate::policy::{RuleEffect, RuleScope, Rules, editable_scope};
use crate::tui::host::HostRequest;
use crate::tui::keys::{Action, Scope};
use crate::tui::open_session::OpenSession;
use crate::tui::parts::call_action::{PlannedCall, name_action, names_path};
use crate::tui::parts::confirmation::{AnswerLabels, Confirmation};
use crate::tui::parts::decision_label::{describe_verdict, label_decision};
use crate::tui::parts::picker::{Picker, Row};
use crate::tui::parts::scope_choice::scope_row::label_scope;
use crate::tui::popup::{ConfirmedAction, GrantList, GrantRow, List, Popup, ReaderBody};
use crate::tui::state::State;
use std::collections::HashMap;

/// Opens the list at once; its times follow when the host has loaded them.
pub fn open_grants(state: &mut State) {
    let approvals = list_lasting_approvals(&state.agent);
    let judged = judged_calls(state.agent.session.entries());
    let calls = judged.iter().map(|record| record.call.id.clone()).collect();
    let rules = &state.agent.rules;
    let revoke_key = state.keys.first_chord(Scope::Grants, Action::Revoke);
    let text_key = state.keys.first_chord(Scope::Grants, Action::OpenFull);
    let rows = list_rows(&approvals, rules, &judged, &state.session, &HashMap::new(), &revoke_key);
    let mut picker = Picker::new("Grants and rules", "", rows)
        .with_selected_text()
        .with_text_key(text_key)
        .with_action_hint(String::new());
    describe_list(&mut picker, &approvals, rules, judged.len());
    let disabled = rules.disabled.clone();
    let allowing = approvals.iter().filter_map(|approval| match &approval.source {
        ApprovalSource::Rule(rule) if rule.effect == RuleEffect::Allow => Some((**rule).clone()),
        ApprovalSource::Rule(_) | ApprovalSource::Session(_) => None,
    });
    let count_request = HostRequest::CountRuleUses(allowing.collect(), state.session.id.clone());
    let grants = GrantList { approvals, disabled, calls, earlier_uses: HashMap::new() };
    state.viewport.popups.push(Popup::List(picker, List::Grants(grants)));
    state.send_request(count_request);
    state.send_request(HostRequest::ReloadRules);
    state.send_request(HostRequest::ReadEntryTimes(state.session.id.clone()));
}

/// Sets what the list counts, and the note on rules that cannot be read.
fn describe_list(picker: &mut Picker, approvals: &[LastingApproval], rules: &Rules, call_count: usize) {
    let disabled = match rules.disabled.len() {
        0 => String::new(),
        count => format!(" · {count} disabled"),
    };
    picker.set_count_text(format!("{} in force{disabled} · {}", approvals.len(), pluralize(call_count, "call")));
    let read_error =
        rules.read_error.as_ref().map(|reason| format!("Every call asks until this is corrected: {reason}"));
    picker.set_note(&read_error.unwrap_or_default());
}

/// Returns every call that was planned and received a verdict, newest first.
fn judged_calls(entries: &[Entry]) -> Vec<Record<'_>> {
    collect_records(entries).into_iter().rev().filter(|record| record.last_plan().is_some()).collect()
}

/// Refreshes the list after the rules or the known times of the session's entries may have changed.
pub fn refresh_grants(state: &mut State) {
    let revoke_key = state.keys.first_chord(Scope::Grants, Action::Revoke);
    let judged = judged_calls(state.agent.session.entries());
    for popup in &mut state.viewport.popups {
        if let Popup::List(picker, List::Grants(GrantList { approvals, disabled, calls, earlier_uses })) = popup {
            let rules = &state.agent.rules;
            *approvals = list_lasting_approvals(&state.agent);
            disabled.clone_from(&rules.disabled);
            // A call made after the list was opened appears when it is opened again.
            let listed: Vec<Record<'_>> =
                judged.iter().filter(|record| calls.contains(&record.call.id)).cloned().collect();
            picker.set_rows(list_rows(approvals, rules, &listed, &state.session, earlier_uses, &revoke_key));
            describe_list(picker, approvals, rules, listed.len());
        }
    }
}

/// Shows how often rules were used in other sessions.
pub fn set_earlier_uses(state: &mut State, uses: HashMap<String, (usize, String)>) {
    for popup in &mut state.viewport.popups {
        if let Popup::List(_, List::Grants(GrantList { earlier_uses, .. })) = popup {
            earlier_uses.clone_from(&uses);
        }
    }
    refresh_grants(state);
}

/// Returns the rows of the list, in the order of [`GrantList::row`].
fn list_rows(
    approvals: &[LastingApproval],
    rules: &Rules,
    judged: &[Record<'_>],
    session: &OpenSession,
    earlier_uses: &HashMap<String, (usize, String)>,
    revoke_key: &str,
) -> Vec<Row> {
    let revoke_hint = if revoke_key.is_empty() { String::new() } else { format!("{revoke_key} revoke") };
    let times = session.entry_times.as_slice();
    let heading = match approvals.is_empty() {
        true => "In force: none",
        false => "In force",
    };
    let history = if judged.is_empty() { "Calls: none yet" } else { "Calls and how they were decided" };
    let approval_rows = approvals.iter().enumerate().map(|(number, approval)| {
        let time = approval.grant_entry().and_then(|entry| times.get(entry)).map_or("", String::as_str);
        let facts = [describe_uses(approval, times, earlier_uses), describe_origin(approval, &rules.today)];
        let secondary = facts.into_iter().filter(|fact| !fact.is_empty()).collect::<Vec<_>>().join(" · ");
        let row = Row::with_lines(&name_approval(approval)).with_secondary(&secondary).searched_by_text();
        row.with_detail(time).with_key(number.to_string()).with_hints(enter_hint(approval), &revoke_hint)
    });
    let disabled_rows = rules.disabled.iter().enumerate().map(|(number, rule)| {
        let secondary = format!("{} · {}", rule.reason, rule.location);
        let row = Row::with_lines(&format!("disabled: {}", rule.description)).with_secondary(&secondary);
        row.searched_by_text().with_key(format!("disabled {number}")).with_hints("enter show reason", "")
    });
    let disabled_heading = (!rules.disabled.is_empty()).then(|| Row::heading("Disabled until corrected"));
    let call_rows = judged.iter().map(|record| {
        let Some(Entry::Planned { title, summary, access, verdict, reason, preview, .. }) = record.last_plan() else {
            return Row::new("");
        };
        let decision = match label_decision(record) {
            Some(decision) if reason.is_empty() => decision,
            Some(decision) => format!("{decision} · {reason}"),
            None => describe_verdict(verdict, reason),
        };
        let time = times.get(record.reply_index).map_or("", String::as_str);
        let plan = PlannedCall { title, summary, access, preview };
        let action = name_action(&record.call.name, Some(plan));
        let row = match names_path(&record.call.name) {
            true => Row::new(&action).with_path(plan.subject()),
            false => Row::new(format!("{action} {}", plan.subject()).trim_end()),
        };
        row.with_secondary(&decision)
            .with_detail(time)
            .with_key(record.call.id.0.as_str())
            .halved()
            .with_hints("enter open", "")
    });
    let headings = |text: &str| std::iter::once(Row::heading(text));
    let approval_rows = headings(heading).chain(approval_rows).chain(disabled_heading).chain(disabled_rows);
    approval_rows.chain(headings(history)).chain(call_rows).collect()
}

/// Returns the key hint for what Enter does with a grant or rule; empty if its text cannot be edited.
fn enter_hint(approval: &LastingApproval) -> &'static str {
    let is_editable = match &approval.source {
        ApprovalSource::Session(session_grant) => editable_scope(&session_grant.grant).is_ok(),
        ApprovalSource::Rule(rule) if rule.scope == RuleScope::TrustedProject => return "enter open file",
        ApprovalSource::Rule(rule) => rule.editable_text().is_ok(),
    };
    if is_editable { "enter edit" } else { "" }
}

/// Names a grant or rule: its command, prefix or path, and the verdict of a rule.
fn name_approval(approval: &LastingApproval) -> String {
    match &approval.source {
        ApprovalSource::Session(session_grant) => name_grant(&session_grant.grant),
        ApprovalSource::Rule(rule) => rule.describe(),
    }
}

/// Names what a grant of this session allows.
pub fn name_grant(grant: &Grant) -> String {
    match &grant.scope {
        GrantScope::Command { command, network, .. } => {
            let network_note = if *network { " (with network access)" } else { "" };
            let script_note = match grant.scripts.is_empty() {
                true => String::new(),
                false => format!(" ({} unchanged)", script::join_names(&grant.scripts)),
            };
            format!("{command}{network_note}{script_note}")
        }
        _ => label_scope(grant),
    }
}

/// Describes the origin of a grant or rule and its duration.
fn describe_origin(approval: &LastingApproval, today: &str) -> String {
    match &approval.source {
        ApprovalSource::Session(grant) => match &grant.by {
            Decider::User { key, .. } => format!("granted with {key} on call {}", grant.call_number),
            Decider::File | Decider::Client | Decider::AutoMode | Decider::Headless => {
                format!("granted on call {}", grant.call_number)
            }
        },
        ApprovalSource::Rule(rule) => {
            let age = rule.describe_age(today).map(|age| format!(" · saved {age}")).unwrap_or_default();
            let until = if rule.expires.is_empty() { String::new() } else { format!(" · until {}", rule.expires) };
            format!("{}{age}{until} · {}", rule.describe_scope(), rule.location)
        }
    }
}

/// Describes the calls that the grant or rule allowed, in this session and in others. Empty for a rule that asks or denies,
/// whose calls are not counted.
fn describe_uses(
    approval: &LastingApproval,
    times: &[String],
    earlier_uses: &HashMap<String, (usize, String)>,
) -> String {
    if matches!(&approval.source, ApprovalSource::Rule(rule) if rule.effect != RuleEffect::Allow) {
        return String::new();
    }
    let here = describe_covered_calls(approval, times);
    let earlier = match &approval.source {
        ApprovalSource::Rule(rule) => earlier_uses.get(&rule.reason_start()),
        ApprovalSource::Session(_) => None,
    };
    match earlier {
        None | Some((0, _)) => here,
        Some((count, last)) if approval.allowed_calls.is_empty() => {
            format!("{} before, last {last}", pluralize(*count, "call"))
        }
        Some((count, _)) => format!("{here} · {} before", pluralize(*count, "call")),
    }
}

/// Describes the calls of this session that the grant or rule covered.
fn describe_covered_calls(approval: &LastingApproval, times: &[String]) -> String {
    let time_suffix =
        |entry: &usize| times.get(*entry).filter(|time| !time.is_empty()).map(|time| format!(" ({time})"));
    match approval.allowed_calls.as_slice() {
        [] => "no calls here yet".to_owned(),
        [(entry, call)] => format!("1 call here: {call}{}", time_suffix(entry).unwrap_or_default()),
        [.., (entry, last)] => {
            format!(
                "{} calls here, last: {last}{}",
                approval.allowed_calls.len(),
                time_suffix(entry).unwrap_or_default()
            )
        }
    }
}

/// Opens the call in a row, or the field for the rule in it. The list stays open below.
pub fn open_grant_row(state: &mut State, picker: Picker, grants: GrantList, row: usize) {
    // The list is below what is opened.
    state.viewport.popups.push(Popup::List(picker, List::Grants(grants.clone())));
    match grants.row(row) {
        Some(GrantRow::Approval(approval)) => match approval.source.clone() {
            ApprovalSource::Rule(rule) => rule_edits::open_rule_edit(state, *rule),
            ApprovalSource::Session(grant) => rule_edits::open_grant_edit(state, grant),
        },
        Some(GrantRow::Disabled(rule)) => {
            let text = format!("{}\n\n{}.\n\nIt is in {}.", rule.description, rule.reason, rule.location);
            popup_stack::open_reader(state, "Disabled rule", &text, false);
        }
        Some(GrantRow::Call(call)) => super::audit_list::open_audit_page(state, call),
        None => {}
    }
}

/// Opens the whole text of the selected row in the pager.
pub fn open_selected_text(state: &mut State) {
    let Some(Popup::List(picker, List::Grants(_))) = state.viewport.popups.last() else { return };
    if let Some(text) = picker.selected_text() {
        popup_stack::push_reader(state, "Grants and rules", text.into(), ReaderBody::Commands);
    }
}

/// Asks for confirmation to revoke the grant or rule in the selected row.
pub fn revoke_selected(state: &mut State) {
    let Some(Popup::List(picker, List::Grants(grants))) = state.viewport.popups.last() else { return };
    let earlier_uses = grants.earlier_uses.clone();
    let approval = match picker.selected_row().and_then(|row| grants.row(row)) {
        Some(GrantRow::Approval(approval)) => approval.clone(),
        Some(GrantRow::Disabled(rule)) => {
            let text = format!("It is not in force: correct or remove it in {}", rule.location);
            return state.show_info(&text);
        }
        Some(GrantRow::Call(_)) | None => return state.show_info("Only a grant or a rule can be revoked"),
    };
    let loss = match &approval.source {
        ApprovalSource::Rule(rule) if rule.effect == RuleEffect::Deny => "such calls are then no longer denied",
        ApprovalSource::Rule(rule) if rule.effect == RuleEffect::Ask => "such calls may then run without asking",
        ApprovalSource::Rule(_) | ApprovalSource::Session(_) => "",
    };
    let facts = [
        name_approval(&approval),
        loss.to_owned(),
        describe_origin(&approval, &state.agent.rules.today),
        describe_uses(&approval, &state.session.entry_times, &earlier_uses),
    ];
    let facts = facts.into_iter().filter(|fact| !fact.is_empty()).collect();
    let labels = AnswerLabels { confirm: "revoke", cancel: "keep" };
    let title = match &approval.source {
        ApprovalSource::Session(_) => "Revoke this grant?",
        ApprovalSource::Rule(_) => "Revoke this rule?",
    };
    let confirmation = Confirmation::new(title, labels, facts);
    state.viewport.popups.push(Popup::Confirmation(confirmation, ConfirmedAction::RevokeGrant(Box::new(approval))));
}

/// Revokes a grant or rule with the user's confirmation.
pub fn revoke_grant(state: &mut State, approval: LastingApproval, by: Decider) {
    let description = approval.describe();
    match approval.source {
        ApprovalSource::Session(grant) => {
            state.show_info(&format!("Revoked: {description}"));
            agent_events::handle_agent_event(
                state,
                Event::GrantRevoked { granting_call: Some(grant.call), description, replacement: None, by },
            );
            refresh_grants(state);
        }
        ApprovalSource::Rule(rule) => state.send_request(HostRequest::RevokeRule { rule, by }),
    }
}

/// Records that a rule was removed from its file.
pub fn record_rule_revoked(state: &mut State, description: String, by: Decider) {
    state.show_info(&format!("Revoked: {description}"));
    let event = Event::GrantRevoked { granting_call: None, description, replacement: None, by };
    agent_events::handle_agent_event(state, event);
    // The list is refreshed with the reply.
    state.send_request(HostRequest::ReloadRules);
}

#[cfg(test)]
mod tests;
