//! Serves the screen's requests: sessions, models, files, and what is kept between runs.

mod clipboard;
mod credential_requests;
mod links;
mod lookups;
mod model_switch;
mod rule_changes;
mod server_requests;
mod trust_prompt;
mod workspace_files;

use super::connected_model::ConnectedModel;
use super::connector::Connector;
use super::rehearsal;
use super::session::{Session, connect_runtime};
use super::session_builder::SessionBuilder;
use super::undo;
use crate::agent::ApplyRequest;
use crate::chat::user_command::escape_message;
use crate::chat::{ForkMode, SessionId, UnsentText};
use crate::project::folder_facts;
use crate::runtime::Runtime;
use crate::store::draft::Owner;
use crate::store::{self, DraftWriter, History};
use crate::tui::host::{Host, HostReply, HostRequest, Opened, RewindTarget};
use crate::web::request_credentials::NamedCredential;
use lookups::LatestRequest;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::sync::mpsc::Sender;

/// Delay before an unwritten draft is tried again.
const RETRY_DELAY: Duration = Duration::from_secs(2);

/// Handles the requests of the screen.
pub(super) struct ScreenHost {
    session_builder: SessionBuilder,
    /// Folder of every session except the tour, which has its own.
    project_folder: PathBuf,
    model: ConnectedModel,
    /// Providers that could be switched to, each with a number, until the screen confirms the switch.
    pending_switches: Vec<(u64, ConnectedModel)>,
    /// Number of switches so far.
    switch_count: u64,
    connector: Connector,
    /// The open session.
    session: SessionId,
    /// True if the open session has entries.
    has_entries: bool,
    runtime: Arc<Mutex<Runtime>>,
    drafts: DraftWriter,
    /// True if the last write of a draft failed; shared with the threads that write.
    draft_write_failed: Arc<AtomicBool>,
    /// Latest request for the project's file names.
    latest_file_list: LatestRequest,
    /// Latest filter of these files.
    latest_filter: LatestRequest,
    /// Latest search through sessions.
    latest_search: LatestRequest,
    replies: Sender<HostReply>,
}

impl ScreenHost {
    pub(super) fn new(
        session_builder: SessionBuilder,
        project_folder: PathBuf,
        model: ConnectedModel,
        connector: Connector,
        (session, has_entries): (SessionId, bool),
        runtime: Arc<Mutex<Runtime>>,
        replies: Sender<HostReply>,
    ) -> Self {
        let drafts = DraftWriter::new(&session_builder.places);
        let (pending_switches, switch_count) = (Vec::new(), 0);
        Self {
            session_builder,
            project_folder,
            model,
            pending_switches,
            switch_count,
            connector,
            session,
            has_entries,
            runtime,
            drafts,
            draft_write_failed: Arc::default(),
            latest_file_list: LatestRequest::default(),
            latest_filter: LatestRequest::default(),
            latest_search: LatestRequest::default(),
            replies,
        }
    }

    /// Returns the user messages sent in this folder, oldest first.
    pub(super) fn load_history(&self) -> Vec<String> {
        History::new(&self.session_builder.places.history(), &self.session_builder.folder).load()
    }

    /// Returns the draft of the open session, and notices about reading it.
    pub(super) fn load_draft(&self) -> (UnsentText, Vec<String>) {
        let loaded = self.drafts.load(&self.draft_owner(&self.session));
        (loaded.unsent, loaded.notices)
    }

    /// Returns the owner of a session's draft. For the open session without entries this includes the folder, because
    /// the draft is found again only by it.
    fn draft_owner(&self, session: &SessionId) -> Owner {
        match *session == self.session && !self.has_entries {
            true => Owner::New(session.clone(), self.session_builder.folder.clone()),
            false => Owner::Session(session.clone()),
        }
    }

    /// Writes waiting drafts on another thread; failed writes are tried again.
    fn write_drafts(&self) {
        let (drafts, draft_write_failed, replies) =
            (self.drafts.clone(), self.draft_write_failed.clone(), self.replies.clone());
        tokio::spawn(async move {
            let mut should_retry = false;
            loop {
                let writer = drafts.clone();
                let Ok(result) = tokio::task::spawn_blocking(move || writer.write()).await else { return };
                let problem = result.err().map(|error| match error {
                    store::Error::Io { source, .. } => source.kind().to_string(),
                    error => error.to_string(),
                });
                let has_failed = problem.is_some();
                let has_changed = draft_write_failed.swap(has_failed, Ordering::Relaxed) != has_failed;
                if has_changed && replies.send(HostReply::UnsentSaved(problem)).await.is_err() {
                    return;
                }
                // The task that first sees the failure retries.
                should_retry |= has_changed;
                if !has_failed || !should_retry {
                    return;
                }
                tokio::time::sleep(RETRY_DELAY).await;
            }
        });
    }

    /// Runs blocking work on another thread.
    fn run_in_background(&self, work: impl FnOnce() -> Option<HostReply> + Send + 'static) {
        let replies = self.replies.clone();
        tokio::task::spawn_blocking(move || {
            if let Some(reply) = work() {
                // The screen may be closed.
                let _ = replies.blocking_send(reply);
            }
        });
    }

    /// Sends a reply without blocking, because the screen may be busy.
    pub(super) fn send(&self, reply: HostReply) {
        self.send_in_order(vec![reply]);
    }

    /// Sends several replies in this order; separate sends may arrive in any order.
    fn send_in_order(&self, ordered: Vec<HostReply>) {
        let replies = self.replies.clone();
        tokio::spawn(async move {
            for reply in ordered {
                if replies.send(reply).await.is_err() {
                    // The screen is closed.
                    return;
                }
            }
        });
    }

    /// Continues in a copy of a session.
    fn fork_session(&mut self, id: &SessionId, fork_mode: ForkMode, apply_request: Option<ApplyRequest>) {
        // The copy starts with the current draft. If it cannot be written, the footer shows it.
        let _ = self.drafts.write();
        // A copy uses the model of its session, whatever was given at the start.
        let session_builder = SessionBuilder { model_flag: None, ..self.session_builder.clone() };
        let session = session_builder.fork_session(id, fork_mode, None, &self.model, &self.connector);
        self.open_session(session, apply_request);
    }

    /// Continues in a copy of a session. With a target the copy ends before this message, which becomes the draft.
    fn rewind_session(&mut self, id: &SessionId, target: Option<&RewindTarget>, apply_request: Option<ApplyRequest>) {
        let _ = self.drafts.write();
        let session_builder = SessionBuilder { model_flag: None, ..self.session_builder.clone() };
        let (mode, entry) = (ForkMode::Unchanged, target.map(|target| target.entry));
        let session = session_builder.fork_session(id, mode, entry, &self.model, &self.connector);
        self.open_with_draft(session, apply_request, target.map(|target| target.text.as_str()));
    }

    /// Makes a session the open one, and passes it to the screen, with calls to approve at once if any.
    fn open_session(&mut self, opened: anyhow::Result<Session>, apply_request: Option<ApplyRequest>) {
        self.open_with_draft(opened, apply_request, None);
    }

    /// Like [`Self::open_session`], with a text that replaces the draft of the session, if any.
    fn open_with_draft(
        &mut self,
        opened: anyhow::Result<Session>,
        apply_request: Option<ApplyRequest>,
        draft: Option<&str>,
    ) {
        match opened {
            Err(error) => self.send(HostReply::Notice(format!("{error:#}"))),
            Ok(mut session) => {
                // A session that is a new copy is deleted again unless it is kept.
                let (copied_from, copy_notice) = session.keep_copy().unzip();
                let Session { id, state, mut runtime, events, effects, notices, folder, model, copy: _ } = session;
                let run_notices = runtime.execute(effects);
                self.has_entries = !state.session.entries().is_empty();
                self.session_builder.folder = folder;
                self.model = model;
                self.pending_switches.clear();
                self.session = id.clone();
                self.runtime = Arc::new(Mutex::new(runtime));
                let (unsent, draft_notices) = match draft {
                    None => self.load_draft(),
                    Some(text) => {
                        let entries = state.session.entries().len();
                        let unsent = UnsentText { entries, ..UnsentText::from_text(&escape_message(text)) };
                        self.drafts.save(self.draft_owner(&id), unsent.clone());
                        self.write_drafts();
                        (unsent, Vec::new())
                    }
                };
                let opened = Opened {
                    session: id,
                    copied_from,
                    agent: state,
                    approvals: apply_request,
                    link: connect_runtime(&self.runtime, events),
                    connection: self.model.connection_info.clone(),
                    unsent,
                    folder: self.session_builder.folder.clone(),
                    history: self.load_history(),
                    location: folder_facts::folder_and_branch(&self.session_builder.folder),
                };
                // Notices follow the session, because opening it replaces the earlier notices.
                let notice_replies = notices.into_iter().chain(draft_notices).chain(run_notices).map(HostReply::Notice);
                let opened = [HostReply::Opened(Box::new(opened))].into_iter();
                self.send_in_order(
                    opened.chain(copy_notice.flatten().map(HostReply::Done)).chain(notice_replies).collect(),
                );
            }
        }
    }
}

impl Drop for ScreenHost {
    fn drop(&mut self) {
        // The last draft may wait for a thread that never starts. There is no screen left for an error.
        let _ = self.drafts.write_and_sync();
    }
}

impl Host for ScreenHost {
    fn start_request(&mut self, request: HostRequest) {
        match request {
            HostRequest::ListSessions => self.list_sessions(),
            HostRequest::SearchSessions(query) => self.search_sessions(query),
            HostRequest::OpenSession(id) if id == self.session => {
                self.send(HostReply::Notice("This session is already open.".to_owned()));
            }
            HostRequest::OpenSession(id) => {
                let mut session = self.session_builder.continue_session(&id, &self.model, &self.connector);
                if let Ok(session) = &mut session
                    && session.state.is_dry_run()
                    && !self.connector.dry_run
                {
                    session.warn_still_dry_run();
                }
                self.open_session(session, None);
            }
            HostRequest::ForkSession(id, fork_mode) => self.fork_session(&id, fork_mode, None),
            HostRequest::LoadRehearsal(id) => {
                let session_builder = self.session_builder.clone();
                self.run_in_background(move || {
                    Some(HostReply::Rehearsal(rehearsal::screen_rehearsal(&session_builder, &id)))
                });
            }
            HostRequest::ApplyRehearsal(id, approvals) => self.fork_session(&id, ForkMode::Live, Some(approvals)),
            HostRequest::PrepareUndo(id) => {
                let session_builder = self.session_builder.clone();
                self.run_in_background(move || {
                    Some(HostReply::UndoPrepared(undo::build_undo_request(session_builder.load_changes(&id))))
                });
            }
            HostRequest::ListRewindPoints(id) => {
                let session_builder = self.session_builder.clone();
                self.run_in_background(move || {
                    let points = session_builder.list_rewind_points(&id);
                    Some(points.map_or_else(
                        |error| HostReply::Notice(describe_failure("Cannot read the session", &error)),
                        HostReply::RewindPoints,
                    ))
                });
            }
            HostRequest::Rewind(id, target, approvals) => self.rewind_session(&id, target.as_ref(), approvals),
            HostRequest::DiscardRehearsal(id) => {
                let (places, open_id) = (self.session_builder.places.clone(), self.session.clone());
                self.run_in_background(move || {
                    Some(match rehearsal::discard(&places, &id, Some(&open_id)) {
                        Ok(()) => HostReply::Done("rehearsal discarded".to_owned()),
                        Err(error) => HostReply::Notice(describe_failure("Cannot discard the rehearsal", &error)),
                    })
                });
            }
            HostRequest::StartSession => {
                let session = self.session_builder.start_session(&self.model, self.connector.dry_run);
                self.open_session(session, None);
            }
            HostRequest::ListModels => self.list_models(),
            HostRequest::UseModel(name) => self.switch_model(name),
            HostRequest::UseProfile { profile, model } => self.switch_profile(&profile, &model),
            HostRequest::SwitchConnection(number) => self.confirm_switch(number),
            HostRequest::SaveModel { profile, address, model } => self.save_model(profile, &address, model),
            HostRequest::ReadEntryTimes(id) => self.read_entry_times(id),
            HostRequest::CountRuleUses(rules, except) => self.count_rule_uses(rules, except),
            HostRequest::ListFiles { used } => self.list_files(used),
            HostRequest::FilterFiles(request) => self.filter_files(request),
            HostRequest::FindPastedFiles(readings) => self.find_pasted_files(readings),
            HostRequest::CheckLinks(targets) => self.check_links(targets),
            HostRequest::PasteClipboard(picture) => self.paste_clipboard(picture),
            HostRequest::ReadPicture(key, form) => self.read_picture(key, form),
            HostRequest::PreviewLink(target) => self.preview_link(target),
            HostRequest::Workspace(request) => self.answer_workspace_request(request),
            HostRequest::SaveTheme(name) => {
                let file = self.session_builder.places.settings();
                self.run_in_background(move || {
                    let result = crate::config::write_setting(&file, &["screen", "theme"], name);
                    result.err().map(|error| {
                        HostReply::Notice(format!("Cannot save the theme: {error}. Correct the settings file."))
                    })
                });
            }
            HostRequest::SaveUnsent(session, unsent) => {
                self.drafts.save(self.draft_owner(&session), *unsent);
                self.write_drafts();
            }
            HostRequest::AddToHistory(text) => {
                if !self.has_entries {
                    // From here on the draft belongs to the session.
                    self.drafts.rename_new(self.session.clone(), self.session_builder.folder.clone());
                    self.write_drafts();
                    self.has_entries = true;
                }
                let history = History::new(&self.session_builder.places.history(), &self.session_builder.folder);
                self.run_in_background(move || {
                    let result = history.add_message(&text);
                    result.err().map(|error| HostReply::Notice(format!("Cannot add this to the history: {error}.")))
                });
            }
            HostRequest::SaveRule { call, grant, by } => self.save_rule(call, grant, by),
            HostRequest::RevokeRule { rule, by } => self.remove_rule(*rule, by),
            HostRequest::ReplaceRule { rule, text, by } => self.replace_rule(rule, text, by),
            HostRequest::ReloadRules => self.reload_rules(),
            HostRequest::ListRules => self.send_rules(),
            HostRequest::ListTools => self.send_tools(),
            HostRequest::ListSkills => self.send_skills(),
            HostRequest::ListServers { connects } => self.list_servers(connects),
            HostRequest::ListOffers => self.send_offers(),
            HostRequest::AttachToMessage { message, resources, max_bytes } => {
                self.attach_to_message(message, resources, max_bytes)
            }
            HostRequest::GetServerPrompt { draft, server, prompt, arguments } => {
                self.get_server_prompt(draft, server, prompt, arguments);
            }
            HostRequest::AcceptServerTools { server, digest } => self.accept_server_tools(server, digest),
            HostRequest::InspectProject(reason) => self.load_project_files(reason),
            HostRequest::TrustProject { folder, files } => self.trust_files(folder, files),
            HostRequest::RevokeTrust(folder) => self.remove_trust(folder),
            HostRequest::ListCredentials => self.list_credentials(),
            HostRequest::ConnectCredential { name, origins, secret } => {
                self.connect_credential(NamedCredential { name, origins }, secret);
            }
            HostRequest::FindLocalServers => self.find_local_servers(),
            HostRequest::UseLocalServer(server) => self.switch_to_local(&server),
            HostRequest::SaveKey(key) => self.save_key(&key),
            HostRequest::AnswerForm { id, reply } => self.session_builder.server_forms.answer(id, reply),
            HostRequest::AnswerSampling { id, is_approved } => {
                self.session_builder.server_samplings.answer(id, is_approved);
            }
            HostRequest::AnswerCredential { id, secret } => self.session_builder.credentials.answer(id, secret),
        }
    }
}

/// Returns what failed with the reason. An error that says what failed itself, and what to do, stays as it is.
fn describe_failure(what_failed: &str, error: &anyhow::Error) -> String {
    let reason = format!("{error:#}");
    match reason.starts_with("Cannot ") {
        true => reason,
        false => format!("{what_failed}: {}.", reason.trim_end_matches('.')),
    }
}
