//! The page of the browser: sends commands, opens addresses and waits until documents are loaded.

use super::frame::Frame;
use super::page_state::{PageState, attach_frames};
use super::pipe::{BrowserEvent, CommandError, Connection, Outbox};
use crate::web::target::{PrivateHosts, Target};
use reqwest::Url;
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;
use tokio::net::UnixStream;
use tokio::sync::watch;
use tokio::time::timeout;

/// Width and height of the visible part of the page, in pixels.
pub const VISIBLE_SIZE: (u32, u32) = (1280, 800);

/// Time in which a started browser must answer and attach its page.
const START_TIME: Duration = Duration::from_secs(20);
/// Time for which a loaded page is waited for until its network is idle.
const IDLE_TIME: Duration = Duration::from_secs(10);
/// Time in which a browser that ends closes its connection.
const END_TIME: Duration = Duration::from_millis(500);
/// The same after an aborted request, which is what most browsers that are killed report. On a busy machine they need long.
const ABORT_TIME: Duration = Duration::from_secs(2);
/// Time in which a page answers, unless a script of it never ends.
const HANG_TIME: Duration = Duration::from_secs(3);
/// Time after an action in which a navigation that it causes begins, and time for which its end is waited for.
const SETTLE_TIME: Duration = Duration::from_millis(250);
const LOAD_TIME: Duration = Duration::from_secs(10);

/// Why something could not be done with the page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PageError {
    /// The browser or its page has ended.
    Lost,
    /// For the model, as a sentence.
    Failed(String),
}

/// Stage of loading that is waited for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LoadStage {
    /// No request for half a second.
    #[default]
    NetworkIdle,
    Load,
    DomContentLoaded,
}

/// A page of the history.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HistoryEntry {
    /// Number by which the browser knows it.
    pub id: i64,
    pub url: String,
}

/// The page of a browser.
pub struct Page {
    connection: Connection,
    state: Arc<watch::Sender<PageState>>,
    session: String,
}

impl From<CommandError> for PageError {
    fn from(error: CommandError) -> Self {
        match error {
            CommandError::Lost => Self::Lost,
            CommandError::Refused(reason) => Self::Failed(format!("The browser refused: {reason}.")),
        }
    }
}

impl PageError {
    pub fn failed(text: &str) -> Self {
        Self::Failed(text.to_owned())
    }
}

impl Page {
    /// Attaches the page of a browser that was just started.
    pub async fn attach(socket: UnixStream, private_hosts: PrivateHosts) -> Result<Self, PageError> {
        let state = Arc::new(watch::Sender::new(PageState::new(private_hosts)));
        let (events, end) = (state.clone(), state.clone());
        let on_event = move |event: &BrowserEvent, outbox: &Outbox| {
            let mut answers = Vec::new();
            events.send_modify(|state| answers = state.handle_event(event));
            for answer in answers {
                outbox.post(answer.method, answer.params, &answer.session);
            }
        };
        let connection = Connection::new(socket, on_event, move || end.send_modify(|state| state.is_gone = true));
        let mut page = Self { connection, state, session: String::new() };
        let prepared = timeout(START_TIME, page.prepare()).await;
        prepared.unwrap_or_else(|_| Err(PageError::Failed("The browser did not answer.".to_owned())))?;
        Ok(page)
    }

    async fn prepare(&mut self) -> Result<(), PageError> {
        self.send("Browser.setDownloadBehavior", json!({ "behavior": "deny" })).await?;
        let pages_only = json!([{ "type": "page" }]);
        let attach =
            json!({ "autoAttach": true, "waitForDebuggerOnStart": true, "flatten": true, "filter": pages_only });
        self.send("Target.setAutoAttach", attach).await?;
        let targets = self.send("Target.getTargets", json!({ "filter": pages_only })).await?;
        if targets["targetInfos"].as_array().is_none_or(Vec::is_empty) {
            self.send("Target.createTarget", json!({ "url": "about:blank" })).await?;
        }
        self.wait_until(|state| !state.session.is_empty()).await?;
        self.session = self.state.borrow().session.clone();
        // The window of the browser has other parts too.
        let (width, height) = VISIBLE_SIZE;
        let metrics = json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": false });
        for (method, params) in [
            ("Inspector.enable", json!({})),
            ("Page.enable", json!({})),
            ("Page.setLifecycleEventsEnabled", json!({ "enabled": true })),
            ("Page.setInterceptFileChooserDialog", json!({ "enabled": true })),
            ("Fetch.enable", json!({ "patterns": [{ "urlPattern": "*", "resourceType": "Document" }] })),
            ("DOM.enable", json!({})),
            ("Accessibility.enable", json!({})),
            ("Emulation.setDeviceMetricsOverride", metrics),
            ("Target.setAutoAttach", attach_frames()),
            ("Runtime.runIfWaitingForDebugger", json!({})),
        ] {
            self.send(method, params).await?;
        }
        Ok(())
    }

    /// Sends a command and waits for its result.
    pub async fn send(&self, method: &str, params: Value) -> Result<Value, PageError> {
        self.send_in(&self.session, method, params).await
    }

    /// Sends a command to the process of a frame, and waits for its result.
    pub async fn send_to(&self, frame: &Frame, method: &str, params: Value) -> Result<Value, PageError> {
        self.send_in(&frame.session, method, params).await
    }

    /// Sends a command to a protocol session, and waits for its result.
    pub async fn send_in(&self, session: &str, method: &str, params: Value) -> Result<Value, PageError> {
        Ok(self.connection.call(method, params, session).await?)
    }

    /// Returns the state of the page now.
    pub fn state(&self) -> PageState {
        self.state.borrow().clone()
    }

    /// Adds a note to the result of the call.
    pub fn add_note(&self, note: &str) {
        self.state.send_modify(|state| state.add_note(note));
    }

    /// Returns whether the browser or its page has ended.
    pub fn has_ended(&self) -> bool {
        self.state.borrow().is_gone
    }

    /// Returns whether the page does not answer, as one whose script never ends.
    pub async fn hangs(&self) -> bool {
        let answer = self.send("Runtime.evaluate", json!({ "expression": "1" }));
        timeout(HANG_TIME, answer).await.is_err()
    }

    /// Begins a call as `PageState::begin_call`.
    pub fn begin_call(&self, allowed_hosts: Vec<String>, address: &Url) {
        self.state.send_modify(|state| state.begin_call(allowed_hosts, address));
        if self.state.borrow().is_loading {
            // An earlier call was stopped.
            self.stop_loading();
        }
    }

    pub fn stop_loading(&self) {
        self.connection.post("Page.stopLoading", json!({}), &self.session);
    }

    async fn wait_until(&self, condition: impl Fn(&PageState) -> bool) -> Result<(), PageError> {
        match self.state.subscribe().wait_for(|state| state.is_gone || condition(state)).await {
            Ok(state) if !state.is_gone => Ok(()),
            Ok(_) | Err(_) => Err(PageError::Lost),
        }
    }

    /// Opens an address and waits until the page has reached the stage.
    pub async fn open(&self, url: &Url, target: &Target, stage: LoadStage) -> Result<(), PageError> {
        let before = self.state.borrow().document.clone();
        let answer = self.send("Page.navigate", json!({ "url": url.as_str() })).await?;
        if let Some(error) = answer["errorText"].as_str() {
            // A browser that ends answers first.
            let is_abort = error == "net::ERR_ABORTED" && answer["isDownload"] != true;
            let end_time = if is_abort { ABORT_TIME } else { END_TIME };
            if let Ok(Err(lost)) = timeout(end_time, self.wait_until(|_| false)).await {
                return Err(lost);
            }
            let state = self.state.borrow();
            let text = match &state.refused {
                Some(reason) => reason.clone(),
                None if answer["isDownload"] == true => format!("{} sent a download, which was refused.", target.host),
                None => format!("Cannot open a page of {}: {error}.", target.host),
            };
            return Err(PageError::Failed(text));
        }
        // Without it, only the part of the document after `#` changes.
        if answer["loaderId"].is_string() {
            // A navigation that is refused while the document loads ends its loading without the stages.
            let is_shown = |state: &PageState| state.has_reached("DOMContentLoaded") || !state.is_loading;
            self.wait_until(|state| state.document != before && is_shown(state)).await?;
            self.wait_for_stage(stage).await?;
        }
        Ok(())
    }

    /// Waits until the document has reached the stage. A page that is never idle is waited for at most `IDLE_TIME`.
    pub async fn wait_for_stage(&self, stage: LoadStage) -> Result<(), PageError> {
        if stage == LoadStage::DomContentLoaded {
            return Ok(());
        }
        self.wait_until(|state| state.has_reached("load") || !state.is_loading).await?;
        if stage == LoadStage::NetworkIdle {
            match timeout(IDLE_TIME, self.wait_until(|state| state.has_reached("networkIdle"))).await {
                Ok(reached) => reached?,
                Err(_) => self.add_note(&format!("The page was still loading after {} s.", IDLE_TIME.as_secs())),
            }
        }
        Ok(())
    }

    /// Waits for what an action causes: a navigation, if one begins, and the changes of the page.
    pub async fn settle(&self) -> Result<(), PageError> {
        for _ in 0..3 {
            tokio::time::sleep(SETTLE_TIME).await;
            if self.has_ended() {
                return Err(PageError::Lost);
            }
            if !self.state.borrow().is_loading {
                return Ok(());
            }
            match timeout(LOAD_TIME, self.wait_until(|state| !state.is_loading)).await {
                Ok(stopped) => stopped?,
                Err(_) => {
                    self.add_note(&format!("The page was still loading after {} s.", LOAD_TIME.as_secs()));
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    /// Checks that the page is one that may be shown. Leaves any other.
    pub async fn check_shown_page(&self) -> Result<(), PageError> {
        let state = self.state();
        if state.url.starts_with("chrome-error:") {
            let reason = state.refused.unwrap_or_else(|| "The page could not be loaded.".to_owned());
            return Err(PageError::Failed(reason));
        }
        if state.target().is_some_and(|target| state.allowed_hosts.contains(&target.host)) {
            return Ok(());
        }
        self.leave().await?;
        Err(PageError::failed("The page led to an address that is not allowed. It was left."))
    }

    /// Leaves the page: opens an empty one.
    pub async fn leave(&self) -> Result<(), PageError> {
        self.send("Page.navigate", json!({ "url": "about:blank" })).await.map(drop)
    }

    /// Returns the pages before and after this one in the history.
    pub async fn read_history(&self) -> Result<[Option<HistoryEntry>; 2], PageError> {
        let history = self.send("Page.getNavigationHistory", json!({})).await?;
        let current = history["currentIndex"].as_i64().unwrap_or(0);
        Ok([current - 1, current + 1].map(|index| {
            let entry = &history["entries"][usize::try_from(index).ok()?];
            let entry = HistoryEntry { id: entry["id"].as_i64()?, url: entry["url"].as_str()?.to_owned() };
            // The first entry is the empty page of the start.
            Some(entry).filter(|entry| entry.url.starts_with("http"))
        }))
    }
}
