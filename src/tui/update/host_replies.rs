//! Replies of the host, the part of the program around the screen.

use super::{
    agent_events, audit_list, grant_list, model_list, overlay_stack, prompt_keys, provider_list, rehearsal_list,
    session_list, trust_decision,
};
use crate::tui::effect::Effect;
use crate::tui::host::{HostReply, ListState};
use crate::tui::parts::completion::Candidate;
use crate::tui::parts::reply_timing::ReplyTiming;
use crate::tui::parts::toast;
use crate::tui::parts::transcript::{Transcript, layout_cache::LayoutCache};
use crate::tui::session_saving::Saving;
use crate::tui::state::State;

/// Applies the reply to a wish. A reply for a list that has been closed is dropped.
pub fn handle_host_reply(state: &mut State, cache: &mut LayoutCache, reply: HostReply) -> Vec<Effect> {
    match reply {
        HostReply::Sessions(rows) => session_list::set_sessions(state, rows),
        HostReply::SearchResults { words, lines, whole } => {
            session_list::set_search_results(state, &words, lines, whole)
        }
        HostReply::Models(models) => model_list::show_models(state, models),
        HostReply::Connected(reached) => return model_list::apply_provider_switch(state, *reached),
        HostReply::Done(words) => state.show_notice(&words, toast::Kind::Info),
        HostReply::SettingSaved(text) => state.show_notice(&text, toast::Kind::Setting),
        HostReply::Opened(opened) => {
            let mode = state.agent.policy.mode;
            state.agent = opened.agent;
            if opened.copied_from.as_ref() == Some(&state.session.id) {
                // A fork keeps the mode of the session it was copied from.
                state.agent.policy.mode = mode;
            }
            if state.session.id != opened.session {
                state.notices.toasts.remove_session_toasts(state.timing.now);
            }
            state.session.id = opened.session;
            state.session.connection = opened.connection;
            state.settings.location = opened.location;
            if state.settings.folder != opened.folder {
                state.settings.folder = opened.folder;
                state.input.composer.set_history(opened.history);
                // The files of the previous folder are not valid in this one.
                state.input.completion.set_files(Vec::new(), ListState::Complete);
                state.input.has_requested_files = false;
            }
            state.viewport.transcript = Transcript::default();
            state.session.entry_times.clear();
            state.viewport.overlays.clear();
            state.prompts.current = None;
            state.prompts.parked_questions.clear();
            state.session.saving = Saving::default();
            state.restore_unsent(opened.unsent);
            state.input.held_key = None;
            state.input.recent_keys.record_other_press(state.timing.now);
            state.timing.activity_start = state.timing.now;
            state.timing.pace = ReplyTiming::default();
            (state.session.trust.pending, state.session.trust.unused_files) = (None, Vec::new());
            cache.clear();
            let offered = opened.approvals.map(crate::agent::Event::ApplyRequested);
            let mut effects =
                offered.map(|offered| agent_events::handle_agent_event(state, offered)).unwrap_or_default();
            let says = std::mem::take(&mut state.session.trust.first_message);
            effects.extend(trust_decision::check_project_files(state, says));
            return effects;
        }
        HostReply::EntryTimes(session, times) => {
            audit_list::set_entry_times(state, &session, times);
            grant_list::refresh_times(state);
        }
        HostReply::AgentEvent(event) => {
            let effects = agent_events::handle_agent_event(state, event);
            grant_list::refresh_grants(state);
            return effects;
        }
        HostReply::RuleSaved { call, grant, by, failed } => {
            return prompt_keys::handle_rule_stored(state, call, grant, by, failed);
        }
        HostReply::RuleRevoked { what, by } => return grant_list::record_rule_revoked(state, what, by),
        HostReply::Rehearsal(rehearsed) => return rehearsal_list::show_rehearsal(state, rehearsed),
        HostReply::Rules(text) => overlay_stack::open_reader(state, "rules", &text, false),
        HostReply::ProjectFiles { brought, why } => {
            return trust_decision::handle_project_files(state, *brought, why);
        }
        HostReply::TrustChanged { folder, instructions, rules } => {
            return trust_decision::apply_trust_change(state, &folder, instructions, rules);
        }
        HostReply::TrustFailed(words) => return trust_decision::report_trust_failure(state, &words),
        HostReply::Files { names, gathered } => {
            let files = names.iter().map(|file| Candidate::new(file, "")).collect();
            state.input.completion.set_files(files, gathered);
        }
        HostReply::LinkStatuses(found) => cache.store_lookups(found),
        HostReply::LocalServers(servers) => provider_list::set_local_servers(state, servers),
        HostReply::UnsentSaved(trouble) => state.handle_unsent_saved(trouble),
        HostReply::Notice(words) => state.show_notice(&words, toast::Kind::Warning),
    }
    Vec::new()
}
