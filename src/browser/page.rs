//! The page of Chromium: sends commands, opens addresses and waits until documents are loaded.

use super::frame::Frame;
use super::page_state::{PageState, attach_frames};
use super::page_watch::{HistoryEntry, LoadStage, PageError, PageWatch, VISIBLE_SIZE};
use super::pipe::{BrowserEvent, Connection, Outbox};
use crate::web::target::{PrivateHosts, Target};
use reqwest::Url;
use serde_json::{Value, json};
use std::time::Duration;
use tokio::net::UnixStream;
use tokio::time::timeout;

/// Time in which a started browser must answer and attach its page.
const START_TIME: Duration = Duration::from_secs(20);
/// Time in which a browser that ends closes its connection.
const END_TIME: Duration = Duration::from_millis(500);
/// The same after an aborted request, which is what most browsers that are killed report. On a busy machine they need long.
const ABORT_TIME: Duration = Duration::from_secs(2);
/// Time in which a page answers, unless a script of it never ends.
const HANG_TIME: Duration = Duration::from_secs(3);
/// The page of a browser.
pub struct Page {
    connection: Connection,
    pub(super) watch: PageWatch,
    session: String,
}

impl Page {
    /// Attaches the page of a browser that was just started.
    pub async fn attach(socket: UnixStream, private_hosts: PrivateHosts) -> Result<Self, PageError> {
        let watch = PageWatch::new(private_hosts);
        let (events, end) = (watch.clone(), watch.clone());
        let on_event = move |event: &BrowserEvent, outbox: &Outbox| {
            for answer in events.modify(|state| state.handle_event(event)) {
                outbox.post(answer.method, answer.params, &answer.session);
            }
        };
        let connection = Connection::new(socket, on_event, move || end.modify(|state| state.is_gone = true));
        let mut page = Self { connection, watch, session: String::new() };
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
        self.watch.wait_until(|state| !state.session.is_empty()).await?;
        self.session = self.state().session;
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
        self.watch.state()
    }

    /// Returns whether the page does not answer, as one whose script never ends.
    pub async fn hangs(&self) -> bool {
        let answer = self.send("Runtime.evaluate", json!({ "expression": "1" }));
        timeout(HANG_TIME, answer).await.is_err()
    }

    pub fn stop_loading(&self) {
        self.connection.post("Page.stopLoading", json!({}), &self.session);
    }

    /// Opens an address and waits until the page has reached the stage.
    pub async fn open(&self, url: &Url, target: &Target, stage: LoadStage) -> Result<(), PageError> {
        let before = self.state().document;
        let answer = self.send("Page.navigate", json!({ "url": url.as_str() })).await?;
        if let Some(error) = answer["errorText"].as_str() {
            // A browser that ends answers first.
            let is_abort = error == "net::ERR_ABORTED" && answer["isDownload"] != true;
            let end_time = if is_abort { ABORT_TIME } else { END_TIME };
            if let Ok(Err(lost)) = timeout(end_time, self.watch.wait_until(|_| false)).await {
                return Err(lost);
            }
            let state = self.state();
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
            self.watch.wait_until(|state| state.document != before && is_shown(state)).await?;
            self.watch.wait_for_stage(stage).await?;
        }
        Ok(())
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
