//! Replies of the host, the part of the program around the screen.

use super::{
    agent_events, audit_list, composer_input, custom_commands, file_list, grant_list, link_hints, message_attachments,
    model_list, pasted_files, popup_stack, prompt_keys, provider_list, rehearsal_list, rewind_list, rule_edits,
    sampling_decision, server_list, server_texts, session_list, trust_decision,
};
use crate::tui::host::{HostReply, ListState};
use crate::tui::open_session::{OpenSession, ProjectTrust};
use crate::tui::parts::reply_timing::ReplyTiming;
use crate::tui::parts::toast;
use crate::tui::parts::transcript::{Transcript, layout_cache::LayoutCache};
use crate::tui::popup::{Popup, ReaderBody};
use crate::tui::prompts::prompt::Prompts;
use crate::tui::state::State;
use std::mem::take;
use std::sync::Arc;

/// Applies a reply of the host. A reply for a list that has been closed is dropped.
pub fn handle_host_reply(state: &mut State, cache: &mut LayoutCache, reply: HostReply) {
    match reply {
        HostReply::Sessions(rows) => session_list::set_sessions(state, rows),
        HostReply::SearchResults { query, matches, is_complete } => {
            session_list::set_search_results(state, &query, matches, is_complete)
        }
        HostReply::Models(models) => model_list::show_models(state, models),
        HostReply::Connected(pending) => model_list::apply_provider_switch(state, *pending),
        HostReply::Done(text) => state.show_info(&text),
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
            let trust = ProjectTrust { pending: None, unused_files: Vec::new(), ..take(&mut state.session.trust) };
            state.session =
                OpenSession { id: opened.session, connection: opened.connection, trust, ..OpenSession::default() };
            state.settings.location = opened.location;
            if state.settings.folder != opened.folder {
                state.settings.folder = opened.folder;
                state.input.composer.set_history(opened.history);
                // The files of the previous folder are not valid in this one.
                state.input.completion.set_files(Arc::default(), ListState::Complete);
                state.input.has_requested_files = false;
            }
            state.viewport.transcript = Transcript::default();
            // The next keys of a secret must not go to the composer, which shows them.
            let secret_input = state.viewport.popups.pop_if(|popup| is_secret_input(popup));
            while !state.viewport.popups.is_empty() {
                popup_stack::close_popup(state);
            }
            state.viewport.popups.extend(secret_input);
            state.prompts = Prompts::default();
            state.restore_unsent(opened.unsent);
            state.input.held_key = None;
            state.input.recent_keys.record_other_press(state.timing.now);
            state.timing.activity_start = state.timing.now;
            state.timing.pace = ReplyTiming::default();
            state.timing.background_starts.clear();
            state.lookups.clear();
            cache.clear();
            if let Some(request) = opened.approvals {
                agent_events::handle_agent_event(state, crate::agent::Event::ApplyRequested(request));
            }
            let first_message = take(&mut state.session.trust.first_message);
            trust_decision::check_project_files(state, first_message);
        }
        HostReply::CredentialRequested(request) => state.session.credential_requests.push(request),
        HostReply::CredentialWithdrawn(id) => {
            state.session.credential_requests.retain(|request| request.id != id);
        }
        HostReply::FormRequested(request) => state.session.form_requests.push(request),
        HostReply::FormWithdrawn(id) => state.session.form_requests.retain(|request| request.id != id),
        HostReply::SamplingRequested(review) => state.session.sampling_reviews.push(review),
        HostReply::SamplingWithdrawn(id) => state.session.sampling_reviews.retain(|review| review.id != id),
        HostReply::SamplingStepped(step) => sampling_decision::record_step(state, *step),
        HostReply::EntryTimes(session, times) => {
            audit_list::set_entry_times(state, &session, times);
            grant_list::refresh_grants(state);
        }
        HostReply::RuleUses(uses) => grant_list::set_earlier_uses(state, uses),
        HostReply::AgentEvent(event) => {
            agent_events::handle_agent_event(state, event);
            grant_list::refresh_grants(state);
        }
        HostReply::RuleSaved { call, grant, by, error } => {
            prompt_keys::handle_rule_stored(state, call, grant, by, error);
        }
        HostReply::RuleRevoked { description, by } => grant_list::record_rule_revoked(state, description, by),
        HostReply::RuleReplaced { rule, new_rule, by, error } => {
            rule_edits::handle_rule_replaced(state, &rule, &new_rule, by, error)
        }
        HostReply::Rehearsal(result) => rehearsal_list::show_rehearsal(state, result),
        HostReply::UndoPrepared(request) => rewind_list::start_undo(state, request),
        HostReply::RewindPoints(points) => rewind_list::set_rewind_points(state, points),
        HostReply::TextPage(title, text) => popup_stack::push_reader(state, title, text.into(), ReaderBody::List),
        HostReply::Servers(servers) => server_list::set_servers(state, servers),
        HostReply::ProjectFiles { files, reason } => trust_decision::handle_project_files(state, *files, reason),
        HostReply::TrustChanged { folder, instructions, rules_event, tools_event } => {
            trust_decision::apply_trust_change(state, &folder, instructions, [rules_event, tools_event]);
        }
        HostReply::TrustFailed(text) => trust_decision::report_trust_failure(state, &text),
        HostReply::Files { index, completeness } => {
            state.input.completion.set_files(index, completeness);
            composer_input::request_filter(state);
        }
        HostReply::FilesFiltered(request, matches) => state.input.completion.set_file_matches(&request, matches),
        HostReply::PastedFilesFound(readings, mentions) => pasted_files::replace_paste(state, &readings, mentions),
        HostReply::Offers(offers, files) => {
            let is_draft_waiting = custom_commands::set_commands(state, files);
            server_texts::set_offers(state, offers);
            if is_draft_waiting {
                composer_input::send_draft(state, cache);
            }
        }
        HostReply::MessageAttached { message, result } => message_attachments::send_attached(state, &message, result),
        HostReply::PromptReceived { draft, server, result } => {
            server_texts::insert_prompt(state, &draft, &server, result)
        }
        HostReply::LinkStatuses(statuses) => state.lookups.store_results(statuses),
        HostReply::PictureRead(data) => state.lookups.store_picture(data),
        HostReply::ClipboardRead(session, content) => pasted_files::insert_clipboard(state, &session, content),
        HostReply::LinkPreviewed(target, preview) => link_hints::show_preview(state, &target, preview),
        HostReply::Workspace(reply) => file_list::handle_workspace_reply(state, reply),
        HostReply::LocalServers(servers) => provider_list::set_local_servers(state, servers),
        HostReply::Credentials(credentials) => provider_list::set_credentials(state, credentials),
        HostReply::CredentialConnected(name) => provider_list::show_connected(state, &name),
        HostReply::UnsentSaved(error) => state.handle_unsent_saved(error),
        HostReply::Notice(text) => state.show_warning(&text),
    }
    // What a late reply opens must not take the keys of a secret either.
    let popups = &mut state.viewport.popups;
    if let Some(index) = popups.iter().position(is_secret_input) {
        popups[index..].rotate_left(1);
    }
}

fn is_secret_input(popup: &Popup) -> bool {
    matches!(popup, Popup::ApiKey(_) | Popup::Credential(_))
}
