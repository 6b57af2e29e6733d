//! Replies of the host, the part of the program around the screen.

use super::{agent, audit, card, connect, grants, models, rehearsal, sessions, trust};
use crate::tui::effect::Effect;
use crate::tui::host::{Gathered, Reply};
use crate::tui::parts::complete::Candidate;
use crate::tui::parts::pace::Pace;
use crate::tui::parts::toast;
use crate::tui::parts::transcript::{Transcript, cache::Cache};
use crate::tui::saving::Saving;
use crate::tui::state::State;

/// Applies the reply to a wish. A reply for a list that has been closed is dropped.
pub fn replied(state: &mut State, cache: &mut Cache, reply: Reply) -> Vec<Effect> {
    match reply {
        Reply::Sessions(rows) => sessions::listed(state, rows),
        Reply::Found { words, lines, whole } => sessions::found(state, &words, lines, whole),
        Reply::Models(models) => models::known(state, models),
        Reply::Reached(reached) => return models::reached(state, *reached),
        Reply::Done(words) => state.notice(&words, toast::Kind::Info),
        Reply::SettingSaved(text) => state.notice(&text, toast::Kind::Setting),
        Reply::Opened(opened) => {
            let mode = state.agent.policy.mode;
            state.agent = opened.agent;
            if opened.from.as_ref() == Some(&state.session) {
                // A fork keeps the mode of the session it was copied from.
                state.agent.policy.mode = mode;
            }
            if state.session != opened.session {
                state.toasts.session_changes(state.now);
            }
            state.session = opened.session;
            state.connection = opened.connection;
            state.settings.place = opened.place;
            if state.settings.folder != opened.folder {
                state.settings.folder = opened.folder;
                state.composer.set_history(opened.history);
                // The files of the previous folder are not valid in this one.
                state.complete.offer_files(Vec::new(), Gathered::Whole);
                state.asked_files = false;
            }
            state.transcript = Transcript::default();
            state.times.clear();
            state.overlays.clear();
            state.prompt = None;
            state.aside.clear();
            state.saving = Saving::default();
            state.restore(opened.unsent);
            state.held = None;
            state.presses.elsewhere(state.now);
            state.since = state.now;
            state.pace = Pace::default();
            (state.trusting.asks, state.trusting.left_out) = (None, Vec::new());
            cache.clear();
            let offered = opened.offers.map(crate::agent::Event::Offered);
            let mut effects = offered.map(|offered| agent::happened(state, offered)).unwrap_or_default();
            let says = std::mem::take(&mut state.trusting.says);
            effects.extend(trust::look(state, says));
            return effects;
        }
        Reply::Times(session, times) => {
            audit::times(state, &session, times);
            grants::times(state);
        }
        Reply::Learnt(event) => {
            let effects = agent::happened(state, event);
            grants::known(state);
            return effects;
        }
        Reply::RuleKept { call, grant, by, failed } => {
            return card::rule_kept(state, call, grant, by, failed);
        }
        Reply::TookBack { what, by } => return grants::took_back(state, what, by),
        Reply::Rehearsal(rehearsed) => return rehearsal::known(state, rehearsed),
        Reply::Rules(text) => super::overlay::open_reader(state, "rules", &text, false),
        Reply::Brought { brought, why } => return trust::brought(state, *brought, why),
        Reply::Trusts { folder, instructions, rules } => {
            return trust::trusts(state, &folder, instructions, rules);
        }
        Reply::TrustFailed(words) => return trust::failed(state, &words),
        Reply::Files { names, gathered } => {
            let files = names.iter().map(|file| Candidate::new(file, "")).collect();
            state.complete.offer_files(files, gathered);
        }
        Reply::Exist(found) => cache.exist(found),
        Reply::Local(servers) => connect::found(state, servers),
        Reply::Kept(trouble) => state.kept(trouble),
        Reply::Notice(words) => state.notice(&words, toast::Kind::Warning),
    }
    Vec::new()
}
