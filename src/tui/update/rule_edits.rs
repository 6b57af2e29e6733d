//! Editing what a grant or a rule allows, from the list of grants.

use super::grant_list::{self, name_grant};
use super::prompt_keys::user_decider;
use super::{agent_events, popup_stack};
use crate::agent::Event;
use crate::chat::{Decider, Grant, SessionGrant};
use crate::policy::{Rule, RuleLocation, RuleScope, edit_scope};
use crate::tui::effect::Effect;
use crate::tui::host::HostRequest;
use crate::tui::keys::{Action, Chord, Scope};
use crate::tui::parts::rule_edit::{EditedApproval, RuleEdit};
use crate::tui::parts::text_field::KeyResult;
use crate::tui::popup::Popup;
use crate::tui::state::State;
use crossterm::event::{KeyEvent, KeyEventKind};

/// Opens the field for a rule over the list, or the file of a project's rule in the user's editor.
pub fn open_rule_edit(state: &mut State, rule: Rule) {
    if rule.scope == RuleScope::TrustedProject {
        // The trust is bound to the content of the file, so the user decides on the whole new content.
        let RuleLocation { file, line } = rule.location;
        state.show_info(&format!("A rule of the project: edit {file}, then trust its new content with /trust"));
        return state.push_effect(Effect::OpenFile { path: file, line: Some(line) });
    }
    open_edit(state, EditedApproval::Rule(rule));
}

/// Opens the field for a grant of this session over the list.
pub fn open_grant_edit(state: &mut State, grant: SessionGrant) {
    open_edit(state, EditedApproval::Session(grant));
}

/// Opens the field, or says why there is nothing to edit.
fn open_edit(state: &mut State, edited: EditedApproval) {
    let other_way = match &edited {
        EditedApproval::Session(_) => String::new(),
        EditedApproval::Rule(rule) => format!(", {} has it", rule.location),
    };
    match RuleEdit::new(edited) {
        Ok(edit) => state.viewport.popups.push(Popup::RuleEdit(Box::new(edit))),
        Err(reason) => {
            let key = state.keys.first_chord(Scope::Grants, Action::Revoke);
            state.show_info(&format!("{reason} · {key} revokes it{other_way}"));
        }
    }
}

/// Handles a key while the field is open.
pub fn handle_rule_edit_key(state: &mut State, key: &KeyEvent) {
    let Some(Popup::RuleEdit(edit)) = state.viewport.popups.last_mut() else { return };
    if let Some(direction @ (Action::Up | Action::Down)) = state.keys.lookup(Scope::List, key) {
        return edit.field.move_rows(edit.text_width.get(), if direction == Action::Up { -1 } else { 1 });
    }
    match edit.field.handle_key(key, &state.keys) {
        KeyResult::Cancelled => popup_stack::close_popup(state),
        // The repeats of a held Enter accept nothing.
        KeyResult::Accepted if key.kind == KeyEventKind::Press => accept_edit(state, key),
        KeyResult::Changed => edit.problem.clear(),
        KeyResult::Accepted | KeyResult::PassedOn | KeyResult::Handled => {}
    }
}

/// Saves the text of the field. An unchanged text only closes it.
fn accept_edit(state: &mut State, key: &KeyEvent) {
    let by = user_decider(state, Chord::from(key).to_string(), None);
    let Some(Popup::RuleEdit(edit)) = state.viewport.popups.last_mut() else { return };
    if !edit.is_changed() {
        return popup_stack::close_popup(state);
    }
    let text = edit.field.text().to_owned();
    match edit.edited.clone() {
        EditedApproval::Rule(rule) => state.send_request(HostRequest::ReplaceRule { rule: Box::new(rule), text, by }),
        EditedApproval::Session(old) => match edit_scope(&old.grant, &text) {
            Ok(new_grant) => {
                popup_stack::close_popup(state);
                replace_grant(state, &old, new_grant, by);
            }
            Err(reason) => edit.problem = reason,
        },
    }
}

/// Replaces a grant of this session.
fn replace_grant(state: &mut State, old: &SessionGrant, new_grant: Grant, by: Decider) {
    let (old_name, new_name) = (name_grant(&old.grant), name_grant(&new_grant));
    let description = format!("{old_name}, replaced by: {new_name}");
    state.show_info(&format!("Changed to: {new_name}"));
    let (granting_call, replacement) = (Some(old.call.clone()), Some(Box::new(new_grant)));
    agent_events::handle_agent_event(state, Event::GrantRevoked { granting_call, description, replacement, by });
    grant_list::refresh_grants(state);
}

/// Closes the field once the rule is saved, or shows there why it is not. The change is recorded in the session as the
/// end of the old rule.
pub fn handle_rule_replaced(state: &mut State, rule: &Rule, new_rule: &Rule, by: Decider, error: Option<String>) {
    let edited = state.viewport.popups.iter_mut().find_map(|popup| match popup {
        Popup::RuleEdit(edit) if edit.edited == EditedApproval::Rule(rule.clone()) => Some(edit),
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
        let edited = EditedApproval::Rule(rule.clone());
        state.viewport.popups.retain(|popup| !matches!(popup, Popup::RuleEdit(edit) if edit.edited == edited));
    }
    let description = format!("{}, replaced by: {}", rule.describe(), new_rule.describe());
    state.show_info(&format!("Changed to: {}", new_rule.describe()));
    let event = Event::GrantRevoked { granting_call: None, description, replacement: None, by };
    agent_events::handle_agent_event(state, event);
    state.send_request(HostRequest::ReloadRules);
}
