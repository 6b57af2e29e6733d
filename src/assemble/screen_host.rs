//! Serves the screen's requests: sessions, models, files, and what is kept between runs.

use super::connected_model::ConnectedModel;
use super::connector::Connector;
use super::session::Session;
use super::session_builder::SessionBuilder;
use super::{file_names, link_probe, rehearsal, run_facts, sandbox_setup, session_search};
use crate::agent::{ApplyRequest, Effect};
use crate::chat::{ForkMode, SessionId, UnsentText};
use crate::runtime::{Runtime, Unsaved};
use crate::store::draft::Owner;
use crate::store::{self, DraftWriter, History, Listed};
use crate::tui::host::{
    AgentLink, Host, HostReply, HostRequest, InspectionReason, ModelRequest, Opened, RehearsalRequest, RuleRequest,
    SessionFile, SessionRequest, SessionRow, TrustRequest,
};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::mpsc::Sender;

/// Delay before an unwritten draft is tried again.
const RETRY_DELAY: Duration = Duration::from_secs(2);

/// State behind the screen's requests.
pub(super) struct ScreenHost {
    pub(super) wiring: SessionBuilder,
    /// Folder of real sessions; the tour has its own.
    pub(super) project_folder: PathBuf,
    pub(super) model: ConnectedModel,
    /// Providers that could be switched to, each with a number, until the screen confirms the switch.
    pub(super) pending_switches: Vec<(u64, ConnectedModel)>,
    /// Number of switches so far.
    pub(super) switch_count: u64,
    pub(super) connecting: Connector,
    /// The open session.
    pub(super) session: SessionId,
    /// True if the open session has entries.
    pub(super) has_entries: bool,
    pub(super) runtime: Arc<Mutex<Runtime>>,
    drafts: DraftWriter,
    /// True if the last write of a draft failed; shared with the threads that write.
    failing: Arc<AtomicBool>,
    /// Latest request for the project's file names.
    latest_file_list: file_names::LatestRequest,
    /// Latest search through sessions.
    latest_search: file_names::LatestRequest,
    pub(super) replies: Sender<HostReply>,
}

/// Connects the screen to a session's runtime. The host keeps the runtime too, to change the model.
pub(super) fn runtime_link(runtime: &Arc<Mutex<Runtime>>, events: crate::runtime::Events) -> AgentLink {
    let (runtime, shared) = (runtime.clone(), runtime.clone());
    let run = move |effects: Vec<Effect>| runtime.lock().unwrap_or_else(PoisonError::into_inner).execute(effects);
    AgentLink { file: Box::new(RuntimeFile(shared)), run: Box::new(run), events }
}

/// Saves the session through its runtime, which writes its file.
struct RuntimeFile(Arc<Mutex<Runtime>>);

impl RuntimeFile {
    fn runtime(&self) -> std::sync::MutexGuard<'_, Runtime> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl SessionFile for RuntimeFile {
    fn save(&mut self) -> Option<Unsaved> {
        self.runtime().save_unsaved()
    }

    fn save_to(&mut self, file: &std::path::Path) -> std::io::Result<()> {
        self.runtime().save_to(file)
    }
}

impl ScreenHost {
    pub(super) fn new(
        wiring: SessionBuilder,
        project_folder: PathBuf,
        model: ConnectedModel,
        connecting: Connector,
        (session, has_entries): (SessionId, bool),
        runtime: Arc<Mutex<Runtime>>,
        replies: Sender<HostReply>,
    ) -> Self {
        let drafts = DraftWriter::new(&wiring.places);
        let (pending_switches, switch_count) = (Vec::new(), 0);
        Self {
            wiring,
            project_folder,
            model,
            pending_switches,
            switch_count,
            connecting,
            session,
            has_entries,
            runtime,
            drafts,
            failing: Arc::default(),
            latest_file_list: file_names::LatestRequest::default(),
            latest_search: file_names::LatestRequest::default(),
            replies,
        }
    }

    /// Returns the user messages sent in this folder, oldest first.
    pub(super) fn load_history(&self) -> Vec<String> {
        History::new(&self.wiring.places.history(), &self.wiring.folder).load()
    }

    /// Returns the draft of the open session, and notices about reading it.
    pub(super) fn load_draft(&self) -> (UnsentText, Vec<String>) {
        let loaded = self.drafts.load(&self.draft_owner(&self.session));
        (loaded.unsent, loaded.notices)
    }

    /// A session without entries is found again only by its folder.
    fn draft_owner(&self, session: &SessionId) -> Owner {
        match *session == self.session && !self.has_entries {
            true => Owner::New(session.clone(), self.wiring.folder.clone()),
            false => Owner::Session(session.clone()),
        }
    }

    /// Writes waiting drafts on another thread; failed writes are tried again.
    fn write_drafts(&self) {
        let (drafts, failing, replies) = (self.drafts.clone(), self.failing.clone(), self.replies.clone());
        tokio::spawn(async move {
            let mut tries_again = false;
            loop {
                let writes = drafts.clone();
                let Ok(written) = tokio::task::spawn_blocking(move || writes.write()).await else { return };
                let trouble = written.err().map(|error| match error {
                    store::Error::Io { source, .. } => source.kind().to_string(),
                    error => error.to_string(),
                });
                let has_failed = trouble.is_some();
                let has_changed = failing.swap(has_failed, Ordering::Relaxed) != has_failed;
                if has_changed && replies.send(HostReply::UnsentSaved(trouble)).await.is_err() {
                    return;
                }
                // The task that first sees the failure retries.
                tries_again |= has_changed;
                if !has_failed || !tries_again {
                    return;
                }
                tokio::time::sleep(RETRY_DELAY).await;
            }
        });
    }

    /// Runs blocking work on another thread.
    pub(super) fn run_in_background(&self, work: impl FnOnce() -> Option<HostReply> + Send + 'static) {
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
    fn send_in_order(&self, all: Vec<HostReply>) {
        let replies = self.replies.clone();
        tokio::spawn(async move {
            for reply in all {
                if replies.send(reply).await.is_err() {
                    // The screen is closed.
                    return;
                }
            }
        });
    }

    /// Makes a session the open one, and passes it to the screen.
    pub(super) fn open_session(&mut self, opened: anyhow::Result<Session>) {
        self.open_session_with(opened, None);
    }

    /// Like `open_session`, with calls to approve at once.
    fn open_session_with(&mut self, opened: anyhow::Result<Session>, offers: Option<ApplyRequest>) {
        match opened {
            Err(error) => self.send(HostReply::Notice(format!("{error:#}"))),
            Ok(mut session) => {
                let (from, words) = session.keep_copy().unzip();
                let Session { id, state, mut runtime, events, effects, notices, folder, model, copy: _ } = session;
                let trouble = runtime.execute(effects);
                self.has_entries = !state.session.entries().is_empty();
                self.wiring.folder = folder;
                self.model = model;
                self.pending_switches.clear();
                self.session = id.clone();
                self.runtime = Arc::new(Mutex::new(runtime));
                let (unsent, unread) = self.load_draft();
                let opened = Opened {
                    session: id,
                    copied_from: from,
                    agent: state,
                    approvals: offers,
                    link: runtime_link(&self.runtime, events),
                    connection: self.model.shown.clone(),
                    unsent,
                    folder: self.wiring.folder.clone(),
                    history: self.load_history(),
                    location: run_facts::folder_and_branch(&self.wiring.folder),
                };
                // Notices follow the session, because opening it replaces the earlier notices.
                let said = notices.into_iter().chain(unread).chain(trouble).map(HostReply::Notice);
                let opened = [HostReply::Opened(Box::new(opened))];
                self.send_in_order(
                    opened.into_iter().chain(words.flatten().map(HostReply::Done)).chain(said).collect(),
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
    fn start_request(&mut self, wish: HostRequest) {
        match wish {
            HostRequest::Session(SessionRequest::List) => {
                let (sessions, folder) = (self.wiring.stored_sessions(), self.wiring.folder.clone());
                let replies = self.replies.clone();
                self.run_in_background(move || {
                    Some(match sessions.of_project(&folder) {
                        Ok(listed) => HostReply::Sessions(listed.into_iter().map(session_row).collect()),
                        Err(error) => {
                            // Ends the list; the screen may be closed.
                            let _ = replies.blocking_send(HostReply::Sessions(Vec::new()));
                            HostReply::Notice(format!("Cannot list the sessions: {error}."))
                        }
                    })
                });
            }
            HostRequest::Session(SessionRequest::Search(words)) => {
                let (sessions, folder) = (self.wiring.stored_sessions(), self.wiring.folder.clone());
                let (wanted, number, replies) =
                    (self.latest_search.clone(), self.latest_search.start_request(), self.replies.clone());
                if !words.is_empty() {
                    tokio::task::spawn_blocking(move || {
                        session_search::search_sessions(&sessions, &folder, &words, &wanted, number, &replies);
                    });
                }
            }
            HostRequest::Session(SessionRequest::Open(id)) if id == self.session => {
                self.send(HostReply::Notice("This session is already open.".to_owned()));
            }
            HostRequest::Session(SessionRequest::Open(id)) => {
                let mut session = self.wiring.continue_session(&id, &self.model, &self.connecting);
                if let Ok(session) = &mut session
                    && session.state.is_dry_run()
                    && !self.connecting.dry_run
                {
                    session.warn_still_dry_run();
                }
                self.open_session(session);
            }
            HostRequest::Session(SessionRequest::Fork(id, becomes)) => {
                // The copy starts with the current draft. If it cannot be written, the footer shows it.
                let _ = self.drafts.write();
                // A copy uses the model of its session, whatever was given at the start.
                let wiring = SessionBuilder { model_flag: None, ..self.wiring.clone() };
                let session = wiring.fork_session(&id, becomes, &self.model, &self.connecting);
                self.open_session(session);
            }
            HostRequest::Rehearsal(RehearsalRequest::Load(id)) => {
                let wiring = self.wiring.clone();
                self.run_in_background(move || Some(HostReply::Rehearsal(rehearsal::screen_rehearsal(&wiring, &id))));
            }
            HostRequest::Rehearsal(RehearsalRequest::Apply(id, offered)) => {
                let _ = self.drafts.write();
                let wiring = SessionBuilder { model_flag: None, ..self.wiring.clone() };
                let session = wiring.fork_session(&id, ForkMode::Live, &self.model, &self.connecting);
                self.open_session_with(session, Some(offered));
            }
            HostRequest::Rehearsal(RehearsalRequest::Discard(id)) => {
                let (places, own) = (self.wiring.places.clone(), self.session.clone());
                self.run_in_background(move || {
                    Some(match rehearsal::discard(&places, &id, Some(&own)) {
                        Ok(()) => HostReply::Done("rehearsal discarded".to_owned()),
                        Err(error) => HostReply::Notice(format!("Cannot discard the rehearsal: {error:#}.")),
                    })
                });
            }
            HostRequest::Session(SessionRequest::New) => {
                let session = self.wiring.start_session(&self.model, self.connecting.dry_run);
                self.open_session(session);
            }
            HostRequest::Model(ModelRequest::List) => self.list_models(),
            HostRequest::Model(ModelRequest::Use(name)) => self.switch_model(name),
            HostRequest::Model(ModelRequest::UseProfile { profile, model }) => self.switch_profile(&profile, &model),
            HostRequest::Model(ModelRequest::SwitchConnection(number)) => self.confirm_switch(number),
            HostRequest::Model(ModelRequest::Save { profile, address, model }) => {
                self.save_model(profile, &address, model)
            }
            HostRequest::Session(SessionRequest::ReadEntryTimes(id)) => {
                let sessions = self.wiring.stored_sessions();
                self.run_in_background(move || {
                    // A session that is not on disk has no times.
                    let read = sessions.read(&id).ok()?;
                    Some(HostReply::EntryTimes(id, read.times.into_iter().map(run_facts::format_entry_time).collect()))
                });
            }
            HostRequest::ListFiles => {
                let (wiring, id, replies) = (self.wiring.clone(), self.session.clone(), self.replies.clone());
                let (wanted, number) = (self.latest_file_list.clone(), self.latest_file_list.start_request());
                tokio::task::spawn_blocking(move || {
                    file_names::collect_files(wiring.project_of_session(&id), &wanted, number, &replies);
                });
            }
            HostRequest::CheckLinks(targets) => {
                let wiring = self.wiring.clone();
                self.run_in_background(move || {
                    let disk = sandbox_setup::open_project(&wiring.places, &wiring.folder).ok()?;
                    let there = |target| {
                        let is = link_probe::probe_link(&disk, &target);
                        (target, is)
                    };
                    Some(HostReply::LinkStatuses(targets.into_iter().map(there).collect()))
                });
            }
            HostRequest::SaveTheme(name) => {
                let file = self.wiring.places.settings();
                self.run_in_background(move || {
                    let kept = crate::config::write_setting(&file, &["screen", "theme"], name);
                    kept.err().map(|error| HostReply::Notice(format!("Cannot save the theme: {error}.")))
                });
            }
            HostRequest::Session(SessionRequest::SaveUnsent(session, unsent)) => {
                self.drafts.save(self.draft_owner(&session), *unsent);
                self.write_drafts();
            }
            HostRequest::AddToHistory(text) => {
                if !self.has_entries {
                    // From here on the draft belongs to the session.
                    self.drafts.rename_new(self.session.clone(), self.wiring.folder.clone());
                    self.write_drafts();
                    self.has_entries = true;
                }
                let history = History::new(&self.wiring.places.history(), &self.wiring.folder);
                self.run_in_background(move || {
                    let kept = history.add_message(&text);
                    kept.err().map(|error| HostReply::Notice(format!("Cannot add this to the history: {error}.")))
                });
            }
            HostRequest::Rule(RuleRequest::Save { call, grant, by }) => self.save_rule(call, grant, by),
            HostRequest::Rule(RuleRequest::Revoke { rule, by }) => self.remove_rule(*rule, by),
            HostRequest::Rule(RuleRequest::Reload) => self.reload_rules(),
            HostRequest::Rule(RuleRequest::List) => self.send_rules(),
            HostRequest::Trust(TrustRequest::Inspect { asked }) => self.load_project_files(if asked {
                InspectionReason::UserRequest
            } else {
                InspectionReason::SessionStarted
            }),
            HostRequest::Trust(TrustRequest::Trust { folder, seen }) => self.trust_files(folder, seen),
            HostRequest::Trust(TrustRequest::Revoke(folder)) => self.remove_trust(folder),
            HostRequest::Model(ModelRequest::FindLocalServers) => self.find_local_servers(),
            HostRequest::Model(ModelRequest::UseLocalServer(server)) => self.switch_to_local(&server),
            HostRequest::Model(ModelRequest::SaveKey(key)) => self.save_key(&key),
        }
    }
}

fn session_row(listed: Listed) -> SessionRow {
    let title = match (listed.broken, listed.title) {
        (Some(why), _) => format!("cannot be read: {why}"),
        (None, Some(title)) => title,
        (None, None) => "empty session".to_owned(),
    };
    SessionRow {
        id: listed.id,
        title,
        last_used: run_facts::format_time(listed.modified),
        is_dry_run: listed.dry_run,
        is_copy: listed.from.is_some(),
        has_open_question: listed.waits,
    }
}
