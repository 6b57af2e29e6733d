//! Editing what a rule allows, from the list of grants.

use super::prompt_keys::user_decider;
use super::{agent_events, popup_stack};
use crate::agent::Event;
use crate::chat::Decider;
use crate::policy::Rule;
use crate::tui::host::HostRequest;
use crate::tui::keys::Chord;
use crate::tui::parts::rule_edit::RuleEdit;
use crate::tui::parts::text_field::KeyResult;
use crate::tui::popup::Popup;
use crate::tui::state::State;
use crossterm::event::{KeyEvent, KeyEventKind};

/// Opens the field for a rule over the list, or says why the rule cannot be edited there.
pub fn open_rule_edit(state: &mut State, rule: &Rule) {
    match RuleEdit::new(rule) {
        Ok(edit) => state.viewport.popups.push(Popup::RuleEdit(Box::new(edit))),
        Err(reason) => state.show_info(&reason),
    }
}

/// Handles a key while the field is open.
pub fn handle_rule_edit_key(state: &mut State, key: &KeyEvent) {
    let Some(Popup::RuleEdit(edit)) = state.viewport.popups.last_mut() else { return };
    match edit.field.handle_key(key, &state.keys) {
        KeyResult::Cancelled => popup_stack::close_popup(state),
        // The repeats of a held Enter accept nothing.
        KeyResult::Accepted if key.kind == KeyEventKind::Press => {
            let (rule, text) = (edit.rule.clone(), edit.field.text().to_owned());
            if rule.with_text(&text) == rule {
                return popup_stack::close_popup(state);
            }
            let by = user_decider(state, Chord::from(key).to_string(), None);
            state.send_request(HostRequest::ReplaceRule { rule: Box::new(rule), text, by });
        }
        KeyResult::Changed => edit.problem.clear(),
        KeyResult::Accepted | KeyResult::PassedOn | KeyResult::Handled => {}
    }
}

/// Closes the field once the rule is saved, or shows there why it is not. The change is recorded in the session as the
/// end of the old rule.
pub fn handle_rule_replaced(state: &mut State, rule: &Rule, new_rule: &Rule, by: Decider, error: Option<String>) {
    let edited = state.viewport.popups.iter_mut().find_map(|popup| match popup {
        Popup::RuleEdit(edit) if edit.rule == *rule => Some(edit),
        _ => None,
    });
    if let Some(reason) = error {
        match edited {
            Some(edit) => edit.problem = reason,
            None => state.show_warning(&format!("Cannot change the rule: {reason}")),
        }
        return;
    }
    if edited.is_some() {
        state.viewport.popups.retain(|popup| !matches!(popup, Popup::RuleEdit(edit) if edit.rule == *rule));
    }
    let description = format!("{}, replaced by: {}", rule.describe(), new_rule.describe());
    state.show_info(&format!("Changed to: {}", new_rule.describe()));
    let event = Event::GrantRevoked { granting_call: None, description, replacement: None, by };
    agent_events::handle_agent_event(state, event);
    state.send_request(HostRequest::ReloadRules);
}
