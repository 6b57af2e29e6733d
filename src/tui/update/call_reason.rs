//! The page that says why the selected call ran, and shows the rule or grant behind it.

use super::{popup_stack, transcript_change};
use crate::agent::{ApprovalSource, LastingApproval, list_lasting_approvals};
use crate::chat::{BackgroundEnd, CallId, Entry, Outcome};
use crate::config::rules::rules_editor;
use crate::text::reveal::reveal_to_string;
use crate::tui::parts::authority::find_authority;
use crate::tui::parts::transcript::layout_cache::LayoutCache;
use crate::tui::state::State;

/// Opens the page for the selected call. A run of reads has one reason for all of its calls.
pub fn explain_selected_call(state: &mut State, cache: &mut LayoutCache) {
    if let Some((title, _)) = transcript_change::selected_run_texts(state, cache) {
        let text = format!("{title}: read-only\n\nReads inside the project run without approval.");
        return popup_stack::open_reader(state, "Why it ran", &text, false);
    }
    if let Some(call) = state.viewport.transcript.selected_call() {
        let text = explain_call(state, call);
        return popup_stack::open_reader(state, "Why it ran", &text, false);
    }
    let selected = state.viewport.transcript.selected();
    match selected.and_then(|index| state.agent.session.entries().get(index)) {
        Some(Entry::Settled { call, outcome, .. }) => {
            let title = if matches!(outcome, Outcome::Refused(_)) { "Why it did not run" } else { "Why it ran" };
            let text = explain_call(state, call);
            popup_stack::open_reader(state, title, &text, false);
        }
        Some(Entry::BackgroundEnded(BackgroundEnd { call, .. })) => {
            let text = explain_call(state, call);
            popup_stack::open_reader(state, "Why it ran", &text, false);
        }
        _ => state.show_info("Only a call has a reason why it ran"),
    }
}

/// Says why a call ran, with the rule or grant that allowed it, if one did and is still in force.
fn explain_call(state: &State, id: &CallId) -> String {
    let authority = find_authority(state.agent.session.entries(), id);
    let plan = state.agent.session.find_call(id).and_then(|call| call.plan.as_ref());
    let summary = plan.map_or("", |plan| plan.summary.as_str());
    let reason = authority.describe().unwrap_or_else(|| "no decision is recorded".to_owned());
    let mut text = format!("{}\n{}\n", reveal_to_string(summary), reveal_to_string(&reason));
    let index = authority.verdict_index();
    let allowed_this = |approval: &&LastingApproval| {
        authority.is_without_decision() && approval.allowed_calls.iter().any(|(entry, _)| Some(*entry) == index)
    };
    if let Some(approval) = list_lasting_approvals(&state.agent).iter().find(allowed_this) {
        text.push_str(&describe_source(approval));
    }
    text
}

fn describe_source(approval: &LastingApproval) -> String {
    let calls = match approval.allowed_calls.len() {
        1 => "1 call".to_owned(),
        count => format!("{count} calls"),
    };
    let source = match &approval.source {
        ApprovalSource::Rule(rule) => {
            format!("The rule, in {}:\n\n{}", rule.describe_location(), rules_editor::format_rule(rule).trim_end())
        }
        ApprovalSource::Session(grant) => format!("The grant: {}", grant.grant.describe_grant()),
    };
    format!("\n{}\n\nIt allowed {calls} of this session. /grants revokes it.", reveal_to_string(&source))
}
