//! The browser of a session: started by the first call that needs it, with one page that stays open between calls.

use super::executable::BrowserProgram;
use super::page::{LoadStage, Page, PageError};
use super::process::BrowserProcess;
use super::proxy::{FailedRequest, Proxy};
use super::snapshot::{PageElement, References, Snapshot, parse_reference, render_snapshot};
use super::step::{ActionKind, Step};
use crate::text::clean::clean_line;
use crate::text::truncation::truncate_end;
use crate::web::page_text::UNTRUSTED_MARK;
use crate::web::target::{PrivateHosts, Target, parse_target};
use reqwest::Url;
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::time::{error::Elapsed, timeout};

/// Time limit of a call, without the start of the browser.
const CALL_TIME: Duration = Duration::from_secs(45);
/// Maximum number of reported refusals of a page's requests.
const MAX_REFUSALS: usize = 5;
/// Maximum characters of an address in a result.
const MAX_URL_CHARS: usize = 2_000;

/// The browser of a session. Dropping it ends the browser.
pub struct BrowserSession {
    program: BrowserProgram,
    private_hosts: PrivateHosts,
    running: tokio::sync::Mutex<Option<Running>>,
    /// The page after the last call, for plans.
    known_page: Mutex<Option<KnownPage>>,
}

/// The page as the last call left it.
#[derive(Debug, Clone)]
pub struct KnownPage {
    pub target: Target,
    elements: Arc<HashMap<u32, PageElement>>,
    /// Addresses that `back` and `forward` lead to.
    history: [Option<String>; 2],
}

/// What a call on the page was planned for. It is compared with the page before anything is done.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlannedPage {
    pub host: String,
    /// Description of the element of a reference.
    pub element: Option<String>,
    /// Address in the history.
    pub address: Option<String>,
}

struct Running {
    page: Page,
    process: BrowserProcess,
    proxy: Proxy,
    references: References,
}

impl BrowserSession {
    /// Nothing is started.
    pub fn new(program: BrowserProgram, private_hosts: PrivateHosts) -> Self {
        Self { program, private_hosts, running: tokio::sync::Mutex::new(None), known_page: Mutex::new(None) }
    }

    /// Returns the browser of another session, which is not started.
    #[must_use]
    pub fn for_other_session(&self) -> Self {
        Self::new(self.program.clone(), self.private_hosts.clone())
    }

    pub fn private_hosts(&self) -> &PrivateHosts {
        &self.private_hosts
    }

    /// Returns the open page, if any.
    pub fn known_page(&self) -> Option<KnownPage> {
        self.lock_known_page().clone()
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
        let has_ended = running.as_ref().is_some_and(|browser| browser.page.has_ended());
        if has_ended {
            *running = None;
        }
        let browser = match &mut *running {
            Some(browser) => browser,
            none => none.insert(self.start().await?),
        };
        browser.page.begin_call(vec![target.host.clone()]);
        if has_ended {
            browser.page.add_note("The browser had ended and was started again. Its pages and logins are gone.");
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
        let proxy = Proxy::start(self.private_hosts.clone()).await.map_err(|error| fail(&error.to_string()))?;
        let (mut process, socket) = BrowserProcess::start(&self.program, proxy.port).map_err(|error| fail(&error))?;
        match Page::attach(socket, self.private_hosts.clone()).await {
            Ok(page) => Ok(Running { page, process, proxy, references: References::default() }),
            Err(PageError::Failed(reason)) => Err(fail(&reason)),
            Err(PageError::Lost) => {
                let end = process.explain_end().await;
                Err(fail(&end.unwrap_or_else(|| "it closed the connection".to_owned())))
            }
        }
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
        let has_ended = running.as_ref().is_some_and(|browser| browser.page.has_ended());
        let error = if has_ended { PageError::Lost } else { error };
        let browser = running.as_ref().filter(|_| error != PageError::Lost);
        *self.lock_known_page() = browser.and_then(Running::describe_page);
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

/// Error of a call that needs a page.
pub const NO_PAGE: &str = "No page is open. Call browser_navigate first.";

impl KnownPage {
    /// Returns what a step is planned for.
    ///
    /// # Errors
    /// One sentence for the model.
    pub fn plan_step(&self, step: &Step) -> Result<PlannedPage, String> {
        let mut planned = PlannedPage { host: self.target.host.clone(), ..PlannedPage::default() };
        if let Some(number) = parse_reference(&step.target) {
            let element = self.elements.get(&number);
            let element = element.ok_or_else(|| format!("{} is not on the page as it is now.", step.target))?;
            planned.element = Some(element.description.clone());
        }
        let [back, forward] = &self.history;
        let address = match step.action {
            ActionKind::Back => back,
            ActionKind::Forward => forward,
            _ => return Ok(planned),
        };
        let address = address.clone().ok_or("The history has no page there.")?;
        Ok(PlannedPage { address: Some(address), ..planned })
    }

    /// Returns what a call that only looks at the page is planned for.
    pub fn plan_look(&self) -> PlannedPage {
        PlannedPage { host: self.target.host.clone(), ..PlannedPage::default() }
    }
}

impl Running {
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
            self.page.send("Page.navigate", json!({ "url": "about:blank" })).await?;
            return Err(PageError::Failed(failed.reason.clone()));
        }
        opened?;
        self.page.check_document().await?;
        self.report(failures).await
    }

    async fn act(&mut self, step: &Step, planned: &PlannedPage) -> Result<(String, KnownPage), PageError> {
        let hosts = self.allowed_hosts(planned)?;
        self.page.begin_call(hosts);
        self.proxy.take_failures();
        if let Some(expected) = &planned.element {
            self.take_snapshot().await?;
            self.page.check_unchanged(&step.target, expected, &self.references).await?;
        }
        if let Some(address) = &planned.address {
            let ahead = if step.action == ActionKind::Back { -1 } else { 1 };
            let entry = self.page.find_history_entry(ahead).await?;
            if entry.is_none_or(|(_, url)| url != *address) {
                return Err(PageError::failed("The history has changed since the call was planned. Nothing was done."));
            }
        }
        self.page.act(step, &self.references).await?;
        self.page.check_document().await?;
        let failures = self.proxy.take_failures();
        self.report(failures).await
    }

    async fn capture(
        &mut self,
        is_annotated: bool,
        planned: &PlannedPage,
    ) -> Result<((Vec<u8>, String), KnownPage), PageError> {
        let hosts = self.allowed_hosts(planned)?;
        self.page.begin_call(hosts);
        self.take_snapshot().await?;
        let picture = self.page.capture(is_annotated.then_some(&self.references)).await?;
        let page = self.describe_whole_page().await?;
        Ok(((picture, display_url(&page.target)), page))
    }

    /// Returns the hosts whose documents may become the page in a planned call.
    fn allowed_hosts(&self, planned: &PlannedPage) -> Result<Vec<String>, PageError> {
        if self.page.has_ended() {
            return Err(PageError::Lost);
        }
        let host = self.page.state().target().map(|target| target.host);
        if host.as_ref() != Some(&planned.host) {
            return Err(PageError::failed("The page has changed since the call was planned. Nothing was done."));
        }
        let address = planned.address.as_ref();
        let address = address.and_then(|address| parse_target(address, &self.page.state().private_hosts).ok());
        Ok(host.into_iter().chain(address.map(|target| target.host)).collect())
    }

    /// Takes a snapshot of the page, to which its references belong from now on.
    async fn take_snapshot(&mut self) -> Result<Snapshot, PageError> {
        let tree = self.page.send("Accessibility.getFullAXTree", json!({})).await?;
        let state = self.page.state();
        let host = state.target().map(|target| target.host).unwrap_or_default();
        Ok(render_snapshot(&tree, &state.document, &host, &mut self.references))
    }

    /// Describes the page for the model, and for the next plans.
    async fn report(&mut self, failures: Vec<FailedRequest>) -> Result<(String, KnownPage), PageError> {
        let snapshot = self.take_snapshot().await?;
        let page = self.describe_whole_page().await?;
        let state = self.page.state();
        let mut lines = vec![display_url(&page.target), UNTRUSTED_MARK.to_owned()];
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

    /// Describes the page with its history for the next plans.
    async fn describe_whole_page(&self) -> Result<KnownPage, PageError> {
        let history = [self.page.find_history_entry(-1).await?, self.page.find_history_entry(1).await?];
        let history = history.map(|entry| entry.map(|(_, url)| url).filter(|url| url.starts_with("http")));
        let page = self.describe_page().ok_or_else(|| PageError::failed(NO_PAGE))?;
        Ok(KnownPage { history, ..page })
    }

    /// Describes the page for the next plans; `None` if it is empty.
    fn describe_page(&self) -> Option<KnownPage> {
        let target = self.page.state().target()?;
        Some(KnownPage { target, elements: Arc::new(self.references.elements().clone()), history: [None, None] })
    }
}

fn display_url(target: &Target) -> String {
    truncate_end(&clean_line(target.url.as_str()), MAX_URL_CHARS)
}
