//! The list of grants, rules and judged calls (those with a verdict), and revoking a grant or rule.

use super::agent_events;
use crate::agent::{ApprovalSource, Event, LastingApproval, list_lasting_approvals};
use crate::chat::audit::{Record, collect_records};
use crate::chat::{Decider, Entry};
use crate::text::clean::clean_line;
use crate::text::width;
use crate::tui::host::HostRequest;
use crate::tui::parts::audit_page;
use crate::tui::parts::confirmation::{AnswerLabels, Confirmation};
use crate::tui::parts::picker::{Picker, Row};
use crate::tui::popup::{ConfirmedAction, GrantList, List, Popup};
use crate::tui::state::State;

/// Columns for the summary of a call.
const SUMMARY_COLUMNS: usize = 24;
/// Note of the list if there are no grants and no rules.
const NO_GRANTS: &str = "No grants or rules: each approval was for one call";

/// Opens the list at once; its times follow when the host has loaded them.
pub fn open_grants(state: &mut State) {
    show_grants(state, 0);
    state.send_request(HostRequest::ReloadRules);
    state.send_request(HostRequest::ReadEntryTimes(state.session.id.clone()));
}

/// Opens the list with the cursor on this row.
fn show_grants(state: &mut State, row: usize) {
    let approvals = list_lasting_approvals(&state.agent);
    let judged = judged_calls(state.agent.session.entries());
    let calls = judged.iter().map(|record| record.call.id.clone()).collect();
    let rows = grant_and_call_rows(&approvals, &judged, &state.session.entry_times);
    let title = "Grants and judged calls · enter to revoke";
    let mut picker = Picker::new(title, NO_GRANTS, rows);
    picker.select(row);
    update_empty_note(&mut picker, &approvals);
    state.viewport.popups.push(Popup::List(picker, List::Grants(GrantList { approvals, calls })));
}

/// Shows the note above the calls if there is no grant.
fn update_empty_note(picker: &mut Picker, approvals: &[LastingApproval]) {
    picker.set_note(if approvals.is_empty() { NO_GRANTS } else { "" });
}

/// Returns every call that was planned and received a verdict, newest first.
fn judged_calls(entries: &[Entry]) -> Vec<Record<'_>> {
    collect_records(entries).into_iter().rev().filter(|record| record.last_plan().is_some()).collect()
}

/// Refreshes the list after the rules or the known times of the session's entries may have changed.
pub fn refresh_grants(state: &mut State) {
    let judged = judged_calls(state.agent.session.entries());
    for popup in &mut state.viewport.popups {
        if let Popup::List(picker, List::Grants(GrantList { approvals, calls })) = popup {
            *approvals = list_lasting_approvals(&state.agent);
            update_empty_note(picker, approvals);
            // A call made after the list was opened appears when it is opened again.
            let listed: Vec<Record<'_>> =
                judged.iter().filter(|record| calls.contains(&record.call.id)).cloned().collect();
            picker.set_rows(grant_and_call_rows(approvals, &listed, &state.session.entry_times));
        }
    }
}

fn grant_and_call_rows(approvals: &[LastingApproval], judged: &[Record<'_>], times: &[String]) -> Vec<Row> {
    let call_row = |record: &Record<'_>| {
        let Some(Entry::Planned { verdict, reason, .. }) = record.last_plan() else {
            return Row::new("");
        };
        let verdict_text = audit_page::brief_verdict(verdict);
        let decision = if reason.is_empty() { verdict_text.to_owned() } else { format!("{verdict_text}: {reason}") };
        let time = times.get(record.reply_index).map_or("", String::as_str);
        let summary = if record.summary().is_empty() { record.call.name.as_str() } else { record.summary() };
        // The reason is what the user looks for here, so it comes early enough for a narrow terminal.
        let text = format!("{} · {decision}", width::fit_start(&clean_line(summary), SUMMARY_COLUMNS));
        Row::new(&text).with_detail(time).with_key(record.call.id.0.as_str())
    };
    grant_rows(approvals, times).into_iter().chain(judged.iter().map(call_row)).collect()
}

fn grant_rows(approvals: &[LastingApproval], times: &[String]) -> Vec<Row> {
    let build_row = |(number, approval): (usize, &LastingApproval)| {
        let time = approval.grant_entry().and_then(|entry| times.get(entry)).map_or("", String::as_str);
        let secondary = format!("{} · {}", describe_covered_calls(approval, times), describe_origin(approval));
        Row::new(&approval.describe()).with_secondary(&secondary).with_detail(time).with_key(number.to_string())
    };
    approvals.iter().enumerate().map(build_row).collect()
}

/// Describes the origin of a grant or rule and its duration.
fn describe_origin(approval: &LastingApproval) -> String {
    match &approval.source {
        ApprovalSource::Session(grant) => match &grant.by {
            Decider::User { key, .. } => format!("granted with {key} on call {}", grant.call_number),
            Decider::File | Decider::AutoMode | Decider::Headless => format!("granted on call {}", grant.call_number),
        },
        ApprovalSource::Rule(rule) => rule.describe_location(),
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

/// Opens the call in a row, or asks for confirmation to revoke the grant in it.
pub fn pick_grant(state: &mut State, GrantList { approvals, calls }: GrantList, row: usize) {
    let call = row.checked_sub(approvals.len()).and_then(|index| calls.get(index));
    if let Some(call) = call {
        show_grants(state, row);
        super::audit_list::open_audit_page(state, call);
    }
    if let Some(approval) = approvals.into_iter().nth(row) {
        let facts = vec![
            approval.describe(),
            describe_origin(&approval),
            describe_covered_calls(&approval, &state.session.entry_times),
        ];
        let labels = AnswerLabels { confirm: "revoke", cancel: "keep" };
        let confirmation = Confirmation::new("Revoke it?", labels, facts);
        state.viewport.popups.push(Popup::Confirmation(confirmation, ConfirmedAction::RevokeGrant(Box::new(approval))));
    }
}

/// Revokes a grant or rule with the user's confirmation.
pub fn revoke_grant(state: &mut State, approval: LastingApproval, by: Decider) {
    let description = approval.describe();
    match approval.source {
        ApprovalSource::Session(grant) => {
            state.show_info(&format!("Revoked: {description}"));
            agent_events::handle_agent_event(
                state,
                Event::GrantRevoked { granting_call: Some(grant.call), description, by },
            )
        }
        ApprovalSource::Rule(rule) => state.send_request(HostRequest::RevokeRule { rule, by }),
    }
}

/// Records that a rule was removed from its file.
pub fn record_rule_revoked(state: &mut State, description: String, by: Decider) {
    state.show_info(&format!("Revoked: {description}"));
    agent_events::handle_agent_event(state, Event::GrantRevoked { granting_call: None, description, by })
}
