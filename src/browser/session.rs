//! The browser of a session: started by the first call that needs it, with one page that stays open between calls.

use super::driver::Driver;
use super::executable::BrowserProgram;
#[cfg(target_os = "linux")]
use super::executable::is_firefox;
#[cfg(target_os = "linux")]
use super::firefox::{
    page::FirefoxPage,
    process::{receive_sockets, start_firefox},
};
use super::frame::Frame;
use super::known_page::{KnownPage, PlannedPage};
use super::page::Page;
use super::page_state::display_url;
use super::page_watch::{LoadStage, PageError};
use super::process::BrowserProcess;
use super::proxy::{FailedRequest, Proxy};
use super::snapshot::{References, Snapshot, render_snapshot};
use super::step::{ActionKind, Step};
use crate::text::clean::clean_line;
use crate::web::page_text::UNTRUSTED_MARK;
use crate::web::target::{PrivateHosts, Target, parse_target};
use reqwest::Url;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::time::{error::Elapsed, timeout};

/// Time limit of a call, without the start of the browser.
const CALL_TIME: Duration = Duration::from_secs(45);
/// Time in which Firefox must be ready for commands, and in which it must answer the first ones.
#[cfg(target_os = "linux")]
const START_TIME: Duration = Duration::from_secs(30);
/// Maximum number of reported refusals of a page's requests.
const MAX_REFUSALS: usize = 5;
/// Time in which the browser describes its page after a call that failed.
const DESCRIBE_TIME: Duration = Duration::from_secs(2);

/// The browser of a session. Dropping it ends the browser.
pub struct BrowserSession {
    program: BrowserProgram,
    private_hosts: PrivateHosts,
    running: tokio::sync::Mutex<Option<Running>>,
    /// The page after the last call, for plans.
    known_page: Mutex<Option<KnownPage>>,
    /// True if an earlier browser of the session had pages, until the model is told.
    has_lost_pages: AtomicBool,
}

/// Error of a call that needs a page.
pub const NO_PAGE: &str = "No page is open. Call browser_navigate first.";

/// The same after the session was resumed.
const LOST_PAGE: &str = "No page is open. The session was resumed, and pages and logins of its earlier browser are gone. Call \
                         browser_navigate first.";

struct Running {
    page: Box<dyn Driver>,
    process: BrowserProcess,
    proxy: Proxy,
    references: References,
    /// Frames of the last snapshot.
    frames: Vec<Arc<Frame>>,
}

impl BrowserSession {
    /// Nothing is started.
    pub fn new(program: BrowserProgram, private_hosts: PrivateHosts) -> Self {
        let (running, known_page) = (tokio::sync::Mutex::new(None), Mutex::new(None));
        Self { program, private_hosts, running, known_page, has_lost_pages: AtomicBool::new(false) }
    }

    /// Returns the browser of another session, which is not started.
    #[must_use]
    pub fn for_other_session(&self) -> Self {
        Self::new(self.program.clone(), self.private_hosts.clone())
    }

    /// Records that an earlier browser of the session had pages, which ended with it.
    pub fn note_lost_pages(&self) {
        self.has_lost_pages.store(true, Ordering::SeqCst);
    }

    pub fn private_hosts(&self) -> &PrivateHosts {
        &self.private_hosts
    }

    /// Returns what a call is planned for, which only looks at the page if it has no step, and the address of the open page.
    /// In a dry run no page was really opened.
    ///
    /// # Errors
    /// One sentence for the model.
    pub fn page_for_plan(
        &self,
        step: Option<&Step>,
        is_rehearsal: bool,
    ) -> Result<(PlannedPage, Option<Target>), String> {
        match &*self.lock_known_page() {
            Some(known) => Ok((known.plan_call(step)?, Some(known.target.clone()))),
            None if is_rehearsal => Ok((PlannedPage { host: "browser".to_owned(), ..PlannedPage::default() }, None)),
            None if self.has_lost_pages.load(Ordering::SeqCst) => Err(LOST_PAGE.to_owned()),
            None => Err(NO_PAGE.to_owned()),
        }
    }

    fn lock_known_page(&self) -> MutexGuard<'_, Option<KnownPage>> {
        self.known_page.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Opens an address, and returns the page as text. Starts the browser if it does not run.
    ///
    /// # Errors
    /// A text for the model.
    pub async fn navigate(&self, url: &Url, target: &Target, stage: LoadStage) -> Result<String, String> {
        let mut running = self.running.lock().await;
        let has_ended = running.as_ref().is_some_and(|browser| browser.page.watch().has_ended());
        if has_ended {
            *running = None;
        }
        let browser = match &mut *running {
            Some(browser) => browser,
            none => none.insert(self.start().await?),
        };
        browser.page.begin_call(vec![target.host.clone()], &target.url);
        if has_ended {
            browser
                .page
                .watch()
                .add_note("The browser had ended and was started again. Its pages and logins are gone.");
        }
        if self.has_lost_pages.swap(false, Ordering::SeqCst) {
            browser
                .page
                .watch()
                .add_note("The browser is new, because the session was resumed. Earlier pages and logins are gone.");
        }
        let done = timeout(CALL_TIME, browser.navigate(url, target, stage)).await;
        self.finish(&mut running, done).await
    }

    /// Acts on the page, and returns it as text.
    ///
    /// # Errors
    /// A text for the model.
    pub async fn act(&self, step: &Step, planned: &PlannedPage) -> Result<String, String> {
        let mut running = self.running.lock().await;
        let Some(browser) = &mut *running else { return Err(NO_PAGE.to_owned()) };
        let done = timeout(CALL_TIME, browser.act(step, planned)).await;
        self.finish(&mut running, done).await
    }

    /// Returns a picture of the visible part of the page, as PNG, and the address of the page.
    ///
    /// # Errors
    /// A text for the model.
    pub async fn capture(&self, is_annotated: bool, planned: &PlannedPage) -> Result<(Vec<u8>, String), String> {
        let mut running = self.running.lock().await;
        let Some(browser) = &mut *running else { return Err(NO_PAGE.to_owned()) };
        let done = timeout(CALL_TIME, browser.capture(is_annotated, planned)).await;
        self.finish(&mut running, done).await
    }

    async fn start(&self) -> Result<Running, String> {
        let fail =
            |reason: &str| format!("The browser could not be started: {}.", clean_line(reason.trim_end_matches('.')));
        #[cfg(target_os = "linux")]
        if is_firefox(&self.program.path) {
            return self.start_firefox().await.map_err(|error| fail(&error));
        }
        let proxy = Proxy::start(self.private_hosts.clone()).await.map_err(|error| fail(&error.to_string()))?;
        let started = BrowserProcess::start_chromium(&self.program, proxy.port);
        let (process, socket) = started.map_err(|error| fail(&error))?;
        let attached = Page::attach(socket, self.private_hosts.clone()).await;
        Running::new(attached, process, proxy).await.map_err(|error| fail(&error))
    }

    #[cfg(target_os = "linux")]
    async fn start_firefox(&self) -> Result<Running, String> {
        let (program, launcher) = start_firefox(&self.program)?;
        let mut process = BrowserProcess(program);
        let sockets = timeout(START_TIME, receive_sockets(&launcher)).await;
        let (listener, connection) = match sockets.map_err(|_| "it did not answer".to_owned())? {
            Ok(sockets) => sockets,
            Err(error) => return Err(process.explain_end().await.unwrap_or_else(|| error.to_string())),
        };
        let proxy = Proxy::start_on(listener, self.private_hosts.clone()).map_err(|error| error.to_string())?;
        let attached = timeout(START_TIME, FirefoxPage::attach(connection, self.private_hosts.clone())).await;
        let attached = attached.unwrap_or_else(|_| Err(PageError::failed("it did not answer")));
        Running::new(attached, process, proxy).await
    }

    /// Remembers the page after a call, and explains a failure.
    async fn finish<T>(
        &self,
        running: &mut Option<Running>,
        done: Result<Result<(T, KnownPage), PageError>, Elapsed>,
    ) -> Result<T, String> {
        let error = match done {
            Ok(Ok((result, page))) => {
                *self.lock_known_page() = Some(page);
                return Ok(result);
            }
            Ok(Err(error)) => error,
            Err(_) => {
                let hangs = match &*running {
                    Some(browser) => browser.page.hangs().await,
                    None => false,
                };
                running.iter().for_each(|browser| browser.page.stop_loading());
                let text = format!("The browser did not finish within {} s.", CALL_TIME.as_secs());
                if hangs { PageError::Lost } else { PageError::Failed(text) }
            }
        };
        let has_ended = running.as_ref().is_some_and(|browser| browser.page.watch().has_ended());
        let error = if has_ended { PageError::Lost } else { error };
        let page = match running.as_ref().filter(|_| error != PageError::Lost) {
            Some(browser) => timeout(DESCRIBE_TIME, browser.describe_page()).await.ok().and_then(Result::ok),
            None => None,
        };
        *self.lock_known_page() = page;
        let PageError::Failed(text) = error else {
            let end = match running.take() {
                Some(mut browser) => browser.process.explain_end().await,
                None => None,
            };
            let reason = end.unwrap_or_else(|| "its page crashed or does not answer".to_owned());
            return Err(format!(
                "The browser ended: {}. Its pages and logins are gone; browser_navigate starts it again.",
                clean_line(&reason)
            ));
        };
        Err(text)
    }
}

impl Running {
    /// Puts a started browser together, or returns why its page cannot be used, as part of a sentence.
    async fn new(
        attached: Result<impl Driver + 'static, PageError>,
        mut process: BrowserProcess,
        proxy: Proxy,
    ) -> Result<Self, String> {
        match attached {
            Ok(page) => {
                let page = Box::new(page);
                Ok(Self { page, process, proxy, references: References::default(), frames: Vec::new() })
            }
            Err(PageError::Failed(reason)) => Err(reason),
            Err(PageError::Lost) => {
                Err(process.explain_end().await.unwrap_or_else(|| "it closed the connection".to_owned()))
            }
        }
    }

    async fn navigate(
        &mut self,
        url: &Url,
        target: &Target,
        stage: LoadStage,
    ) -> Result<(String, KnownPage), PageError> {
        self.proxy.take_failures();
        let opened = self.page.open(url, target, stage).await;
        let failures = self.proxy.take_failures();
        // The browser shows the proxy's answer as a page, or an error without its reason.
        let is_of_page =
            |failed: &&FailedRequest| failed.host == target.host && failed.port == target.url.port_or_known_default();
        if let Some(failed) = failures.iter().find(is_of_page).filter(|_| opened != Err(PageError::Lost)) {
            self.page.leave().await?;
            return Err(PageError::Failed(failed.reason.clone()));
        }
        opened?;
        self.page.check_shown_page().await?;
        self.report(failures).await
    }

    async fn act(&mut self, step: &Step, planned: &PlannedPage) -> Result<(String, KnownPage), PageError> {
        self.begin_planned_call(planned).await?;
        self.proxy.take_failures();
        if let Some(expected) = &planned.element {
            self.take_snapshot().await?;
            self.references.check(&step.target, expected).map_err(PageError::Failed)?;
        }
        if step.action == ActionKind::Press {
            let frames = self.page.read_frames().await?;
            if self.page.find_focused_host(&frames).await? != planned.frame_host {
                let text = "The focus has moved to another frame since the call was planned. Nothing was done.";
                return Err(PageError::failed(text));
            }
        }
        self.page.act(step, planned.address.as_deref(), &self.references).await?;
        self.page.check_shown_page().await?;
        let failures = self.proxy.take_failures();
        self.report(failures).await
    }

    async fn capture(
        &mut self,
        is_annotated: bool,
        planned: &PlannedPage,
    ) -> Result<((Vec<u8>, String), KnownPage), PageError> {
        self.begin_planned_call(planned).await?;
        self.take_snapshot().await?;
        let picture = self.page.capture(is_annotated.then_some(&self.references)).await?;
        let page = self.describe_page().await?;
        Ok(((picture, display_url(&page.target.url)), page))
    }

    /// Begins a call on the page that it was planned for.
    async fn begin_planned_call(&self, planned: &PlannedPage) -> Result<(), PageError> {
        if self.page.watch().has_ended() {
            return Err(PageError::Lost);
        }
        self.page.refresh().await?;
        let state = self.page.watch().state();
        let is_planned = |target: &Target| {
            let document = planned.document.as_ref();
            let is_document = |(name, path): &(String, String)| *name == state.document && path == target.url.path();
            target.host == planned.host && document.is_none_or(is_document)
        };
        let Some(target) = state.target().filter(is_planned) else {
            return Err(PageError::failed("The page has changed since the call was planned. Nothing was done."));
        };
        let address = planned.address.as_ref().and_then(|address| parse_target(address, &state.private_hosts).ok());
        let hosts = [Some(&target), address.as_ref()].into_iter().flatten().map(|target| target.host.clone());
        self.page.begin_call(hosts.collect(), &address.as_ref().unwrap_or(&target).url);
        Ok(())
    }

    /// Takes a snapshot of the page, to which its references belong from now on.
    async fn take_snapshot(&mut self) -> Result<Snapshot, PageError> {
        self.frames = self.page.read_frames().await?;
        let contents = self.page.read_contents(&self.frames).await?;
        Ok(render_snapshot(&contents, &mut self.references))
    }

    /// Describes the page for the model, and for the next plans.
    async fn report(&mut self, failures: Vec<FailedRequest>) -> Result<(String, KnownPage), PageError> {
        let snapshot = self.take_snapshot().await?;
        let page = self.describe_page().await?;
        let state = self.page.watch().state();
        let mut lines = vec![display_url(&page.target.url), UNTRUSTED_MARK.to_owned()];
        lines.extend((!snapshot.title.is_empty()).then(|| format!("title: {}", snapshot.title)));
        lines.extend(state.refused.into_iter().chain(state.notes));
        let refused = failures.into_iter().filter(|failed| failed.is_refused);
        let mut reasons: Vec<String> = refused.map(|failed| failed.reason).collect();
        reasons.sort();
        reasons.dedup();
        lines.extend(reasons.into_iter().take(MAX_REFUSALS).map(|reason| format!("A request of the page: {reason}")));
        lines.push(snapshot.text);
        Ok((lines.join("\n"), page))
    }

    /// Describes the page for the next plans. Fails if it is empty.
    async fn describe_page(&self) -> Result<KnownPage, PageError> {
        let history = self.page.read_history().await?.map(|entry| entry.map(|entry| entry.url));
        let state = self.page.watch().state();
        let target = state.target().ok_or_else(|| PageError::failed(NO_PAGE))?;
        let references = Arc::new(self.references.for_document(&state.document));
        let focused_host = self.page.find_focused_host(&self.frames).await?;
        Ok(KnownPage { target, document: state.document, references, focused_host, history })
    }
}
