//! The browser of a session: started by the first call that needs it, with one page that stays open between calls.

use super::executable::BrowserProgram;
use super::page::{LoadStage, Page, PageError};
use super::page_state::display_url;
use super::process::BrowserProcess;
use super::proxy::{FailedRequest, Proxy};
use super::snapshot::{References, Snapshot, render_snapshot};
use super::step::{ActionKind, Step};
use crate::text::clean::clean_line;
use crate::web::page_text::UNTRUSTED_MARK;
use crate::web::target::{PrivateHosts, Target, parse_target};
use reqwest::Url;
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::time::{error::Elapsed, timeout};

/// Time limit of a call, without the start of the browser.
const CALL_TIME: Duration = Duration::from_secs(45);
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
}

/// The page as the last call left it.
#[derive(Debug, Clone)]
struct KnownPage {
    target: Target,
    /// Name of the document.
    document: String,
    references: Arc<References>,
    /// Addresses that `back` and `forward` lead to.
    history: [Option<String>; 2],
}

/// What a call on the page was planned for. It is compared with the page before anything is done.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlannedPage {
    pub host: String,
    /// Name of the document and path of its address, for an action with a target or a key.
    pub document: Option<(String, String)>,
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
        let has_ended = running.as_ref().is_some_and(|browser| browser.page.has_ended());
        if has_ended {
            *running = None;
        }
        let browser = match &mut *running {
            Some(browser) => browser,
            none => none.insert(self.start().await?),
        };
        browser.page.begin_call(vec![target.host.clone()], &target.url);
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

/// Error of a call that needs a page.
pub const NO_PAGE: &str = "No page is open. Call browser_navigate first.";

impl KnownPage {
    fn plan_call(&self, step: Option<&Step>) -> Result<PlannedPage, String> {
        let mut planned = PlannedPage { host: self.target.host.clone(), ..PlannedPage::default() };
        let Some(step) = step else { return Ok(planned) };
        planned.document = step.is_for_document().then(|| (self.document.clone(), self.target.url.path().to_owned()));
        planned.element = self.references.find(&step.target).transpose()?.map(|element| element.description.clone());
        let [back, forward] = &self.history;
        let address = match step.action {
            ActionKind::Back => back,
            ActionKind::Forward => forward,
            ActionKind::Click
            | ActionKind::Dblclick
            | ActionKind::Fill
            | ActionKind::Type
            | ActionKind::Scroll
            | ActionKind::Hover
            | ActionKind::Press
            | ActionKind::Check
            | ActionKind::Uncheck
            | ActionKind::Select
            | ActionKind::Wait
            | ActionKind::Reload => return Ok(planned),
        };
        planned.address = Some(address.clone().ok_or("The history has no page there.")?);
        Ok(planned)
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
            self.page.leave().await?;
            return Err(PageError::Failed(failed.reason.clone()));
        }
        opened?;
        self.page.check_shown_page().await?;
        self.report(failures).await
    }

    async fn act(&mut self, step: &Step, planned: &PlannedPage) -> Result<(String, KnownPage), PageError> {
        self.begin_planned_call(planned)?;
        self.proxy.take_failures();
        if let Some(expected) = &planned.element {
            self.take_snapshot().await?;
            self.references.check(&step.target, expected).map_err(PageError::Failed)?;
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
        self.begin_planned_call(planned)?;
        self.take_snapshot().await?;
        let picture = self.page.capture(is_annotated.then_some(&self.references)).await?;
        let page = self.describe_page().await?;
        Ok(((picture, display_url(&page.target.url)), page))
    }

    /// Begins a call on the page that it was planned for.
    fn begin_planned_call(&self, planned: &PlannedPage) -> Result<(), PageError> {
        if self.page.has_ended() {
            return Err(PageError::Lost);
        }
        let state = self.page.state();
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
        let tree = self.page.send("Accessibility.getFullAXTree", json!({})).await?;
        let state = self.page.state();
        let host = state.target().map(|target| target.host).unwrap_or_default();
        Ok(render_snapshot(&tree, &state.document, &host, &mut self.references))
    }

    /// Describes the page for the model, and for the next plans.
    async fn report(&mut self, failures: Vec<FailedRequest>) -> Result<(String, KnownPage), PageError> {
        let snapshot = self.take_snapshot().await?;
        let page = self.describe_page().await?;
        let state = self.page.state();
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
        let state = self.page.state();
        let target = state.target().ok_or_else(|| PageError::failed(NO_PAGE))?;
        let references = Arc::new(self.references.for_document(&state.document));
        Ok(KnownPage { target, document: state.document, references, history })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_with_a_target_or_a_key_is_planned_for_one_document() {
        let target = parse_target("https://a.example/pay?to=b#c", &PrivateHosts::default()).unwrap();
        let history = [Some("https://a.example/".to_owned()), None];
        let known = KnownPage { target, document: "D".into(), references: Arc::default(), history };
        for action in ActionKind::ALL {
            let (has_target, has_value) = action.arguments();
            let text = |given: bool| given.then(|| "a".to_owned());
            let step = Step::from_arguments(action, text(has_target), text(has_value), None).unwrap();
            let planned = known.plan_call(Some(&step));
            let expected_address = match action {
                ActionKind::Back => Some("https://a.example/".to_owned()),
                ActionKind::Forward => {
                    assert_eq!(planned, Err("The history has no page there.".to_owned()));
                    continue;
                }
                _ => None,
            };
            let planned = planned.unwrap();
            let document = Some(("D".to_owned(), "/pay".to_owned())).filter(|_| has_target || has_value);
            assert_eq!((planned.document, planned.address), (document, expected_address), "{action:?}");
        }
        let step = Step::from_arguments(ActionKind::Click, Some("e1".into()), None, None).unwrap();
        assert_eq!(known.plan_call(Some(&step)), Err("e1 is not on the page as it is now.".to_owned()));
        assert_eq!(known.plan_call(None).unwrap().document, None);
    }
}
