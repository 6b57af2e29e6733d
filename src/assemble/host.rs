//! Serves the screen's requests: sessions, models, files, and what is kept between runs.

use super::model::Model;
use super::wiring::{Session, Wiring};
use super::{Connecting, facts, files, rehearsal, said, there, walls};
use crate::agent::{Effect, Offered};
use crate::chat::{Becomes, SessionId, Unsent};
use crate::runtime::{Runtime, Unsaved};
use crate::store::draft::Owner;
use crate::store::{self, History, Keeper, Listed};
use crate::tui::host::{Host, Line, Opened, Reply, SessionFile, SessionRow, Why, Wish};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::mpsc::Sender;

/// Delay before an unwritten draft is tried again.
const TRY_AGAIN: Duration = Duration::from_secs(2);

/// State behind the screen's requests.
pub(super) struct Around {
    pub(super) wiring: Wiring,
    /// Folder of real sessions; the tour has its own.
    pub(super) real_folder: PathBuf,
    pub(super) model: Model,
    /// Providers that could be switched to, each with a number, until the screen confirms the switch.
    pub(super) reached: Vec<(u64, Model)>,
    /// Number of switches so far.
    pub(super) reaches: u64,
    pub(super) connecting: Connecting,
    /// The open session.
    pub(super) session: SessionId,
    /// True if the open session has entries.
    pub(super) begun: bool,
    pub(super) runtime: Arc<Mutex<Runtime>>,
    drafts: Keeper,
    /// True if the last write of a draft failed; shared with the threads that write.
    failing: Arc<AtomicBool>,
    /// Latest request for the project's file names.
    files: files::Wanted,
    /// Latest search through sessions.
    said: files::Wanted,
    pub(super) replies: Sender<Reply>,
}

/// Connects the screen to a session's runtime. The host keeps the runtime too, to change the model.
pub(super) fn line(runtime: &Arc<Mutex<Runtime>>, events: crate::runtime::Events) -> Line {
    let (runtime, shared) = (runtime.clone(), runtime.clone());
    let run = move |effects: Vec<Effect>| runtime.lock().unwrap_or_else(PoisonError::into_inner).run(effects);
    Line { file: Box::new(SavedBy(shared)), run: Box::new(run), events }
}

/// Saves the session through its runtime, which writes its file.
struct SavedBy(Arc<Mutex<Runtime>>);

impl SavedBy {
    fn runtime(&self) -> std::sync::MutexGuard<'_, Runtime> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl SessionFile for SavedBy {
    fn save(&mut self) -> Option<Unsaved> {
        self.runtime().save()
    }

    fn save_to(&mut self, file: &std::path::Path) -> std::io::Result<()> {
        self.runtime().save_to(file)
    }
}

impl Around {
    pub(super) fn new(
        wiring: Wiring,
        real_folder: PathBuf,
        model: Model,
        connecting: Connecting,
        (session, begun): (SessionId, bool),
        runtime: Arc<Mutex<Runtime>>,
        replies: Sender<Reply>,
    ) -> Self {
        let drafts = Keeper::new(&wiring.places);
        let (reached, reaches) = (Vec::new(), 0);
        Self {
            wiring,
            real_folder,
            model,
            reached,
            reaches,
            connecting,
            session,
            begun,
            runtime,
            drafts,
            failing: Arc::default(),
            files: files::Wanted::default(),
            said: files::Wanted::default(),
            replies,
        }
    }

    /// Returns the user messages sent in this folder, oldest first.
    pub(super) fn history(&self) -> Vec<String> {
        History::new(&self.wiring.places.history(), &self.wiring.folder).load()
    }

    /// Returns the draft of the open session, and notices about reading it.
    pub(super) fn unsent(&self) -> (Unsent, Vec<String>) {
        let loaded = self.drafts.load(&self.owner(&self.session));
        (loaded.unsent, loaded.notices)
    }

    /// A session without entries is found again only by its folder.
    fn owner(&self, session: &SessionId) -> Owner {
        match *session == self.session && !self.begun {
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
                if has_changed && replies.send(Reply::Kept(trouble)).await.is_err() {
                    return;
                }
                // The task that first sees the failure retries.
                tries_again |= has_changed;
                if !has_failed || !tries_again {
                    return;
                }
                tokio::time::sleep(TRY_AGAIN).await;
            }
        });
    }

    /// Runs blocking work on another thread.
    pub(super) fn aside(&self, work: impl FnOnce() -> Option<Reply> + Send + 'static) {
        let replies = self.replies.clone();
        tokio::task::spawn_blocking(move || {
            if let Some(reply) = work() {
                // The screen may be closed.
                let _ = replies.blocking_send(reply);
            }
        });
    }

    /// Sends a reply without blocking, because the screen may be busy.
    pub(super) fn tell(&self, reply: Reply) {
        self.tell_in_turn(vec![reply]);
    }

    /// Sends several replies in this order; separate sends may arrive in any order.
    fn tell_in_turn(&self, all: Vec<Reply>) {
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
    pub(super) fn hand_over(&mut self, opened: anyhow::Result<Session>) {
        self.hand_over_with(opened, None);
    }

    /// Like `open_session`, with calls to approve at once.
    fn hand_over_with(&mut self, opened: anyhow::Result<Session>, offers: Option<Offered>) {
        match opened {
            Err(error) => self.tell(Reply::Notice(format!("{error:#}"))),
            Ok(mut session) => {
                let (from, words) = session.settle().unzip();
                let Session { id, state, mut runtime, events, effects, notices, folder, model, copy: _ } =
                    session;
                let trouble = runtime.run(effects);
                self.begun = !state.session.entries().is_empty();
                self.wiring.folder = folder;
                self.model = model;
                self.reached.clear();
                self.session = id.clone();
                self.runtime = Arc::new(Mutex::new(runtime));
                let (unsent, unread) = self.unsent();
                let opened = Opened {
                    session: id,
                    from,
                    agent: state,
                    offers,
                    line: line(&self.runtime, events),
                    connection: self.model.seen.clone(),
                    unsent,
                    folder: self.wiring.folder.clone(),
                    history: self.history(),
                    place: facts::place(&self.wiring.folder),
                };
                // Notices follow the session, because opening it replaces the earlier notices.
                let said = notices.into_iter().chain(unread).chain(trouble).map(Reply::Notice);
                let opened = [Reply::Opened(Box::new(opened))];
                self.tell_in_turn(
                    opened.into_iter().chain(words.flatten().map(Reply::Done)).chain(said).collect(),
                );
            }
        }
    }
}

impl Drop for Around {
    fn drop(&mut self) {
        // The last draft may wait for a thread that never starts. There is no screen left for an error.
        let _ = self.drafts.finish();
    }
}

impl Host for Around {
    fn ask(&mut self, wish: Wish) {
        match wish {
            Wish::Sessions => {
                let (sessions, folder) = (self.wiring.sessions(), self.wiring.folder.clone());
                let replies = self.replies.clone();
                self.aside(move || {
                    Some(match sessions.of(&folder) {
                        Ok(listed) => Reply::Sessions(listed.into_iter().map(row).collect()),
                        Err(error) => {
                            // Ends the list; the screen may be closed.
                            let _ = replies.blocking_send(Reply::Sessions(Vec::new()));
                            Reply::Notice(format!("Cannot list the sessions: {error}."))
                        }
                    })
                });
            }
            Wish::Search(words) => {
                let (sessions, folder) = (self.wiring.sessions(), self.wiring.folder.clone());
                let (wanted, number, replies) = (self.said.clone(), self.said.anew(), self.replies.clone());
                if !words.is_empty() {
                    tokio::task::spawn_blocking(move || {
                        said::find(&sessions, &folder, &words, &wanted, number, &replies);
                    });
                }
            }
            Wish::Open(id) if id == self.session => {
                self.tell(Reply::Notice("This session is already open.".to_owned()));
            }
            Wish::Open(id) => {
                let mut session = self.wiring.go_on(&id, &self.model, &self.connecting);
                if let Ok(session) = &mut session
                    && session.state.is_dry_run()
                    && !self.connecting.dry_run
                {
                    session.says_that_it_stays_dry();
                }
                self.hand_over(session);
            }
            Wish::Fork(id, becomes) => {
                // The copy starts with the current draft. If it cannot be written, the footer shows it.
                let _ = self.drafts.write();
                // A copy uses the model of its session, whatever was given at the start.
                let wiring = Wiring { model_flag: None, ..self.wiring.clone() };
                let session = wiring.fork(&id, becomes, &self.model, &self.connecting);
                self.hand_over(session);
            }
            Wish::Rehearsal(id) => {
                let wiring = self.wiring.clone();
                self.aside(move || Some(Reply::Rehearsal(rehearsal::of_screen(&wiring, &id))));
            }
            Wish::Apply(id, offered) => {
                let _ = self.drafts.write();
                let wiring = Wiring { model_flag: None, ..self.wiring.clone() };
                let session = wiring.fork(&id, Becomes::Live, &self.model, &self.connecting);
                self.hand_over_with(session, Some(offered));
            }
            Wish::Drop(id) => {
                let (places, own) = (self.wiring.places.clone(), self.session.clone());
                self.aside(move || {
                    Some(match rehearsal::throw_away(&places, &id, Some(&own)) {
                        Ok(()) => Reply::Done("rehearsal discarded".to_owned()),
                        Err(error) => Reply::Notice(format!("Cannot discard the rehearsal: {error:#}.")),
                    })
                });
            }
            Wish::New => {
                let session = self.wiring.begin(&self.model, self.connecting.dry_run);
                self.hand_over(session);
            }
            Wish::Models => self.list_models(),
            Wish::UseModel(name) => self.use_model(name),
            Wish::UseProfile { profile, model } => self.use_profile(&profile, &model),
            Wish::TakeUp(number) => self.take_up(number),
            Wish::KeepModel { profile, address, model } => self.keep_model(profile, &address, model),
            Wish::Times(id) => {
                let sessions = self.wiring.sessions();
                self.aside(move || {
                    // A session that is not on disk has no times.
                    let read = sessions.read(&id).ok()?;
                    Some(Reply::Times(id, read.times.into_iter().map(facts::clock).collect()))
                });
            }
            Wish::Files => {
                let (wiring, id, replies) = (self.wiring.clone(), self.session.clone(), self.replies.clone());
                let (wanted, number) = (self.files.clone(), self.files.anew());
                tokio::task::spawn_blocking(move || {
                    files::gather(wiring.seen_in(&id), &wanted, number, &replies);
                });
            }
            Wish::Exist(targets) => {
                let wiring = self.wiring.clone();
                self.aside(move || {
                    let disk = walls::disk(&wiring.places, &wiring.folder).ok()?;
                    let there = |target| {
                        let is = there::look(&disk, &target);
                        (target, is)
                    };
                    Some(Reply::Exist(targets.into_iter().map(there).collect()))
                });
            }
            Wish::KeepTheme(name) => {
                let file = self.wiring.places.settings();
                self.aside(move || {
                    let kept = crate::config::set(&file, &["screen", "theme"], name);
                    kept.err().map(|error| Reply::Notice(format!("Cannot save the theme: {error}.")))
                });
            }
            Wish::Keep(session, unsent) => {
                self.drafts.save(self.owner(&session), *unsent);
                self.write_drafts();
            }
            Wish::Remember(text) => {
                if !self.begun {
                    // From here on the draft belongs to the session.
                    self.drafts.begin(self.session.clone(), self.wiring.folder.clone());
                    self.write_drafts();
                    self.begun = true;
                }
                let history = History::new(&self.wiring.places.history(), &self.wiring.folder);
                self.aside(move || {
                    let kept = history.add(&text);
                    kept.err().map(|error| Reply::Notice(format!("Cannot add this to the history: {error}.")))
                });
            }
            Wish::KeepRule { call, grant, by } => self.keep_rule(call, grant, by),
            Wish::TakeBack { rule, by } => self.take_rule_back(*rule, by),
            Wish::LearnRules => self.learn_rules(),
            Wish::Rules => self.tell_rules(),
            Wish::LookAtProject { asked } => {
                self.look_at_project(if asked { Why::Asked } else { Why::Begun })
            }
            Wish::Trust { folder, seen } => self.trust(folder, seen),
            Wish::TrustNoLonger(folder) => self.trust_no_longer(folder),
            Wish::LookForLocal => self.look_for_local(),
            Wish::UseLocal(server) => self.use_local(&server),
            Wish::KeepKey(key) => self.keep_key(&key),
        }
    }
}

fn row(listed: Listed) -> SessionRow {
    let title = match (listed.broken, listed.title) {
        (Some(why), _) => format!("cannot be read: {why}"),
        (None, Some(title)) => title,
        (None, None) => "empty session".to_owned(),
    };
    SessionRow {
        id: listed.id,
        title,
        when: facts::when(listed.modified),
        dry_run: listed.dry_run,
        copy: listed.from.is_some(),
        waits: listed.waits,
    }
}
