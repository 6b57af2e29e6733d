//! The list of grants and rules in force, and of all judged calls (those with a verdict). Rules are edited and revoked
//! there.

use super::{agent_events, rule_edits};
use crate::agent::{ApprovalSource, Event, LastingApproval, list_lasting_approvals};
use crate::chat::audit::{Record, collect_records};
use crate::chat::{Decider, Entry, GrantScope, pluralize, script};
use crate::text::clean::clean_line;
use crate::text::width;
use crate::tui::host::HostRequest;
use crate::tui::keys::{Action, Keymap, Scope};
use crate::tui::open_session::OpenSession;
use crate::tui::parts::call_action::{PlannedCall, name_action, names_path};
use crate::tui::parts::confirmation::{AnswerLabels, Confirmation};
use crate::tui::parts::decision_label::{describe_verdict, label_decision};
use crate::tui::parts::picker::{Picker, Row};
use crate::tui::parts::scope_choice::scope_row::label_scope;
use crate::tui::popup::{ConfirmedAction, GrantList, GrantRow, List, Popup};
use crate::tui::state::State;
use std::collections::HashMap;

/// Columns for the action and the summary of a call.
const CALL_COLUMNS: usize = 24;

/// Opens the list at once; its times follow when the host has loaded them.
pub fn open_grants(state: &mut State) {
    let approvals = list_lasting_approvals(&state.agent);
    let judged = judged_calls(state.agent.session.entries());
    let calls = judged.iter().map(|record| record.call.id.clone()).collect();
    let rows = list_rows(&approvals, &judged, &state.session, &state.agent.rules.today, &HashMap::new());
    let mut picker = Picker::new("Grants and rules", "", rows);
    describe_list(&mut picker, &approvals, judged.len(), &state.keys);
    let rules = approvals.iter().filter_map(|approval| match &approval.source {
        ApprovalSource::Rule(rule) => Some((**rule).clone()),
        ApprovalSource::Session(_) => None,
    });
    let count_request = HostRequest::CountRuleUses(rules.collect(), state.session.id.clone());
    let grants = GrantList { approvals, calls, earlier_uses: HashMap::new() };
    state.viewport.popups.push(Popup::List(picker, List::Grants(grants)));
    state.send_request(count_request);
    state.send_request(HostRequest::ReloadRules);
    state.send_request(HostRequest::ReadEntryTimes(state.session.id.clone()));
}

/// Sets what the list counts, and the keys that do something in it.
fn describe_list(picker: &mut Picker, approvals: &[LastingApproval], call_count: usize, keys: &Keymap) {
    let revoke_key = keys.first_chord(Scope::Grants, Action::Revoke);
    picker.set_count_text(format!("{} in force · {}", approvals.len(), pluralize(call_count, "call")));
    picker.set_action_hint(match (approvals.is_empty(), revoke_key.as_str()) {
        (true, _) => "enter open".to_owned(),
        (false, "") => "enter edit or open".to_owned(),
        (false, key) => format!("enter edit or open · {key} revoke"),
    });
}

/// Returns every call that was planned and received a verdict, newest first.
fn judged_calls(entries: &[Entry]) -> Vec<Record<'_>> {
    collect_records(entries).into_iter().rev().filter(|record| record.last_plan().is_some()).collect()
}

/// Refreshes the list after the rules or the known times of the session's entries may have changed.
pub fn refresh_grants(state: &mut State) {
    let judged = judged_calls(state.agent.session.entries());
    for popup in &mut state.viewport.popups {
        if let Popup::List(picker, List::Grants(GrantList { approvals, calls, earlier_uses })) = popup {
            *approvals = list_lasting_approvals(&state.agent);
            // A call made after the list was opened appears when it is opened again.
            let listed: Vec<Record<'_>> =
                judged.iter().filter(|record| calls.contains(&record.call.id)).cloned().collect();
            let today = &state.agent.rules.today;
            picker.set_rows(list_rows(approvals, &listed, &state.session, today, earlier_uses));
            describe_list(picker, approvals, listed.len(), &state.keys);
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
    judged: &[Record<'_>],
    session: &OpenSession,
    today: &str,
    earlier_uses: &HashMap<String, (usize, String)>,
) -> Vec<Row> {
    let times = session.entry_times.as_slice();
    let heading = match approvals.is_empty() {
        true => "In force: none",
        false => "In force",
    };
    let history = if judged.is_empty() { "Calls: none yet" } else { "Calls and how they were decided" };
    let approval_rows = approvals.iter().enumerate().map(|(number, approval)| {
        let time = approval.grant_entry().and_then(|entry| times.get(entry)).map_or("", String::as_str);
        let secondary =
            format!("{} · {}", describe_uses(approval, times, earlier_uses), describe_origin(approval, today));
        Row::new(&name_approval(approval)).with_secondary(&secondary).with_detail(time).with_key(number.to_string())
    });
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
        let mut summary = clean_line(record.summary()).into_owned();
        if names_path(&record.call.name) {
            let columns = CALL_COLUMNS.saturating_sub(width::text_width(&action) + 1);
            summary = width::fit_path(&summary, columns).into_owned();
        }
        let call = format!("{action} {summary}");
        // The reason is what the user looks for here, so it comes early enough for a narrow terminal.
        let text = format!("{} · {decision}", width::fit_start(call.trim_end(), CALL_COLUMNS));
        Row::new(&text).with_detail(time).with_key(record.call.id.0.as_str())
    });
    let headings = |text: &str| std::iter::once(Row::heading(text));
    headings(heading).chain(approval_rows).chain(headings(history)).chain(call_rows).collect()
}

/// Names what a grant or rule allows: its command, prefix or path.
fn name_approval(approval: &LastingApproval) -> String {
    match &approval.source {
        ApprovalSource::Session(session_grant) => match &session_grant.grant.scope {
            GrantScope::Command { command, network, .. } => {
                let network_note = if *network { " (with network access)" } else { "" };
                let scripts = &session_grant.grant.scripts;
                let script_note = match scripts.is_empty() {
                    true => String::new(),
                    false => format!(" ({} unchanged)", script::join_names(scripts)),
                };
                format!("{command}{network_note}{script_note}")
            }
            _ => label_scope(&session_grant.grant),
        },
        ApprovalSource::Rule(rule) => rule.describe(),
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

/// Describes the calls that the grant or rule allowed, in this session and in others.
fn describe_uses(
    approval: &LastingApproval,
    times: &[String],
    earlier_uses: &HashMap<String, (usize, String)>,
) -> String {
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
    let row = grants.row(row);
    let (approval, call) = match row {
        Some(GrantRow::Approval(approval)) => (Some(approval.clone()), None),
        Some(GrantRow::Call(call)) => (None, Some(call.clone())),
        None => (None, None),
    };
    state.viewport.popups.push(Popup::List(picker, List::Grants(grants)));
    if let Some(call) = call {
        super::audit_list::open_audit_page(state, &call);
    }
    match approval.map(|approval| approval.source) {
        Some(ApprovalSource::Rule(rule)) => rule_edits::open_rule_edit(state, &rule),
        Some(ApprovalSource::Session(_)) => {
            let key = state.keys.first_chord(Scope::Grants, Action::Revoke);
            state.show_info(&format!("A grant of this session cannot be edited · {key} revokes it"));
        }
        None => {}
    }
}

/// Asks for confirmation to revoke the grant or rule in the selected row.
pub fn revoke_selected(state: &mut State) {
    let Some(Popup::List(picker, List::Grants(grants))) = state.viewport.popups.last() else { return };
    let earlier_uses = grants.earlier_uses.clone();
    let Some(GrantRow::Approval(approval)) = picker.selected_row().and_then(|row| grants.row(row)) else {
        return state.show_info("Only a grant or a rule can be revoked");
    };
    let approval = approval.clone();
    let facts = vec![
        name_approval(&approval),
        describe_origin(&approval, &state.agent.rules.today),
        describe_uses(&approval, &state.session.entry_times, &earlier_uses),
    ];
    let labels = AnswerLabels { confirm: "revoke", cancel: "keep" };
    let confirmation = Confirmation::new("Revoke it?", labels, facts);
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
