//! The page of Firefox: sends commands, opens addresses and waits until documents are loaded.

use super::events::{EventLog, OTHER_ENTRY, is_same_document};
use super::history::History;
use super::profile::DEBUGGING_PORT;
use super::websocket;
use crate::browser::frame::Frame;
use crate::browser::page_watch::{HistoryEntry, LoadStage, PageError, PageWatch, VISIBLE_SIZE};
use crate::browser::pipe::{BrowserEvent, Connection, Outbox};
use crate::web::target::{PrivateHosts, Target};
use reqwest::Url;
use serde_json::{Value, json};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::net::TcpStream;
use tokio::time::{Instant, sleep, timeout};

/// Oldest version that was tested.
const MIN_VERSION: u32 = 140;
/// Name of the world in which functions run.
const WORLD: &str = "aye";
/// Time without requests after which the network is idle, and for which that is waited for.
const IDLE_TIME: Duration = Duration::from_millis(500);
const MAX_IDLE_WAIT: Duration = Duration::from_secs(10);
const IDLE_INTERVAL: Duration = Duration::from_millis(50);
/// Time after the end of a response in which its document is shown, unless it is a download.
const COMMIT_TIME: Duration = Duration::from_secs(1);
/// Time in which a browser that ends closes its connection.
const END_TIME: Duration = Duration::from_millis(500);
/// Time in which a page answers, unless a script of it never ends.
const HANG_TIME: Duration = Duration::from_secs(3);

/// The page of a running Firefox.
pub struct FirefoxPage {
    connection: Connection,
    pub(super) watch: PageWatch,
    log: Arc<Mutex<EventLog>>,
    history: Mutex<History>,
    /// Frames of the last look.
    pub(super) frames: Mutex<Vec<Arc<Frame>>>,
}

pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl FirefoxPage {
    /// Takes up the page of a Firefox that was just started.
    pub async fn attach(stream: TcpStream, private_hosts: PrivateHosts) -> Result<Self, PageError> {
        let watch = PageWatch::new(private_hosts);
        let log = Arc::new(Mutex::new(EventLog::default()));
        let (event_log, events, end) = (log.clone(), watch.clone(), watch.clone());
        let on_event = move |event: &BrowserEvent, outbox: &Outbox| {
            let (answers, ended) = {
                let mut log = lock(&event_log);
                let answers = events.modify(|state| log.handle_event(event, state));
                (answers, log.ended_navigation(event))
            };
            for answer in answers {
                outbox.post(answer.method, answer.params, &answer.session);
            }
            if let Some(navigation) = ended {
                let (log, events) = (event_log.clone(), events.clone());
                tokio::spawn(async move {
                    sleep(COMMIT_TIME).await;
                    let mut log = lock(&log);
                    events.modify(|state| log.give_up_navigation(&navigation, state));
                });
            }
        };
        let connection = websocket::connect(stream, DEBUGGING_PORT, on_event, move || {
            end.modify(|state| state.is_gone = true);
        });
        let connection = connection.await.map_err(PageError::Failed)?;
        let (history, frames) = (Mutex::default(), Mutex::default());
        let page = Self { connection, watch, log, history, frames };
        page.prepare().await?;
        Ok(page)
    }

    async fn prepare(&self) -> Result<(), PageError> {
        let prompts = json!({ "alwaysMatch": { "unhandledPromptBehavior": { "default": "ignore" } } });
        let session = self.send("session.new", json!({ "capabilities": prompts })).await?;
        check_version(session["capabilities"]["browserVersion"].as_str().unwrap_or_default())?;
        let tree = self.send("browsingContext.getTree", json!({ "maxDepth": 0 })).await?;
        let page = tree["contexts"][0]["context"].as_str().ok_or_else(|| PageError::failed("It has no page."))?;
        *lock(&self.log) = EventLog::new(page);
        self.watch.modify(|state| page.clone_into(&mut state.frame));
        self.send("session.subscribe", json!({ "events": ["browsingContext", "network"] })).await?;
        self.send("network.addIntercept", json!({ "phases": ["beforeRequestSent"] })).await?;
        let (width, height) = VISIBLE_SIZE;
        let viewport = json!({ "context": page, "viewport": { "width": width, "height": height } });
        self.send("browsingContext.setViewport", viewport).await?;
        // Older ones do not know it. Their profile has no folder for files.
        let denied = json!({ "downloadBehavior": { "type": "denied" } });
        match self.send("browser.setDownloadBehavior", denied).await {
            Err(PageError::Lost) => Err(PageError::Lost),
            Ok(_) | Err(PageError::Failed(_)) => Ok(()),
        }
    }

    /// Sends a command and waits for its result.
    pub async fn send(&self, method: &str, params: Value) -> Result<Value, PageError> {
        Ok(self.connection.call(method, params, "").await?)
    }

    /// Sends a command about the page, whose name is added.
    pub async fn send_to_page(&self, method: &str, mut params: Value) -> Result<Value, PageError> {
        params["context"] = lock(&self.log).page.as_str().into();
        self.send(method, params).await
    }

    /// Calls a function in the world of aye in a realm of it, or in a frame if it is not known yet. Returns its result and the
    /// realm.
    pub async fn run(&self, target: Value, function: &str, arguments: &[Value]) -> Result<(Value, String), PageError> {
        let arguments: Vec<Value> = arguments.iter().map(to_local_value).collect();
        let call = json!({
            "functionDeclaration": function, "arguments": arguments, "target": target, "awaitPromise": false,
            "userActivation": true, "resultOwnership": "none",
        });
        let mut called = self.send("script.callFunction", call).await?;
        if called["type"] != "success" {
            return Err(PageError::failed("The page does not allow this with the element."));
        }
        Ok((called["result"].take(), called["realm"].as_str().unwrap_or_default().to_owned()))
    }

    /// Reads the document of the page and its address.
    pub async fn refresh(&self) -> Result<(), PageError> {
        self.refresh_after(0).await
    }

    async fn refresh_after(&self, step: i64) -> Result<(), PageError> {
        let page = lock(&self.log).page.clone();
        let look = "() => JSON.stringify([document.URL, history.length])";
        let (text, realm) = self.run(in_world(&page), look, &[]).await?;
        let seen: (String, usize) =
            serde_json::from_str(text["value"].as_str().unwrap_or_default()).unwrap_or_default();
        lock(&self.history).record(&seen.0, seen.1, step);
        self.watch.modify(|state| {
            state.url = seen.0;
            state.session.clone_from(&realm);
            state.document = realm;
        });
        Ok(())
    }

    pub fn stop_loading(&self) {
        let target = in_world(&lock(&self.log).page);
        let stop = json!({ "expression": "stop()", "target": target, "awaitPromise": false });
        self.connection.post("script.evaluate", stop, "");
        self.watch.modify(|state| state.is_loading = false);
    }

    /// Returns whether the page does not answer, as one whose script never ends.
    pub async fn hangs(&self) -> bool {
        timeout(HANG_TIME, self.refresh()).await.is_err()
    }

    /// Opens an address and waits until the page has reached the stage.
    pub async fn open(&self, url: &Url, target: &Target, stage: LoadStage) -> Result<(), PageError> {
        let before = lock(&self.log).shown.clone();
        let opened =
            self.send_to_page("browsingContext.navigate", json!({ "url": url.as_str(), "wait": "interactive" }));
        match opened.await {
            Ok(_) => {}
            Err(PageError::Lost) => return Err(PageError::Lost),
            Err(PageError::Failed(error)) => {
                // A browser that ends answers first.
                if let Ok(Err(lost)) = timeout(END_TIME, self.watch.wait_until(|_| false)).await {
                    return Err(lost);
                }
                self.refresh().await?;
                // A script of the new document that leads elsewhere ends the command too.
                let is_shown = lock(&self.log).shown != before && self.watch.read(|state| state.target().is_some());
                if is_shown {
                    return self.watch.settle().await;
                }
                let is_download = lock(&self.log).download.is_some();
                let text = match self.watch.state().refused {
                    Some(reason) => reason,
                    None if is_download => format!("{} sent a download, which was refused.", target.host),
                    None => format!("Cannot open a page of {}: {}.", target.host, explain_error(&error)),
                };
                return Err(PageError::Failed(text));
            }
        }
        let first = if stage == LoadStage::NetworkIdle { LoadStage::Load } else { stage };
        self.watch.wait_for_stage(first).await?;
        if stage == LoadStage::NetworkIdle {
            self.wait_until_idle().await?;
        }
        self.refresh().await
    }

    async fn wait_until_idle(&self) -> Result<(), PageError> {
        let end = Instant::now() + MAX_IDLE_WAIT;
        loop {
            if self.watch.has_ended() {
                return Err(PageError::Lost);
            }
            let idle_since = lock(&self.log).idle_since();
            if idle_since.is_some_and(|since| since.elapsed() >= IDLE_TIME) {
                return Ok(());
            }
            if Instant::now() >= end {
                self.watch.add_note(&format!("The page was still loading after {} s.", MAX_IDLE_WAIT.as_secs()));
                return Ok(());
            }
            sleep(IDLE_INTERVAL).await;
        }
    }

    /// Leaves the page: opens an empty one.
    pub async fn leave(&self) -> Result<(), PageError> {
        let empty = json!({ "url": "about:blank", "wait": "complete" });
        self.send_to_page("browsingContext.navigate", empty).await?;
        self.refresh().await
    }

    /// Returns the pages before and after this one in the history, as far as they are known.
    pub fn read_history(&self) -> [Option<HistoryEntry>; 2] {
        lock(&self.history).neighbors()
    }

    /// Opens a page of the history. A request for another address fails.
    pub async fn open_history_entry(&self, entry: &HistoryEntry) -> Result<(), PageError> {
        {
            let mut log = lock(&self.log);
            log.expected_address = Some(entry.url.clone());
            log.has_refused_entry = false;
        }
        let gone = self.send_to_page("browsingContext.traverseHistory", json!({ "delta": entry.id })).await;
        let settled = if gone == Err(PageError::Lost) { Err(PageError::Lost) } else { self.watch.settle().await };
        let has_refused = {
            let mut log = lock(&self.log);
            log.expected_address = None;
            std::mem::take(&mut log.has_refused_entry)
        };
        settled?;
        if has_refused {
            self.refresh().await?;
            return Err(PageError::failed(OTHER_ENTRY));
        }
        gone?;
        self.refresh_after(entry.id).await?;
        let has_redirected = self.watch.read(|state| state.refused.is_some());
        if !has_redirected && !is_same_document(&self.watch.state().url, &entry.url) {
            self.watch.add_note("The page of the history led to another address.");
        }
        Ok(())
    }
}

/// Checks that a Firefox sends all events that are needed.
fn check_version(version: &str) -> Result<(), PageError> {
    match version.split('.').next().and_then(|major| major.parse::<u32>().ok()) {
        Some(major) if major < MIN_VERSION => {
            Err(PageError::Failed(format!("Firefox {version} is too old; {MIN_VERSION} or newer is needed.")))
        }
        Some(_) | None => Ok(()),
    }
}

/// Returns the target of scripts in the world of aye in a frame.
pub(super) fn in_world(frame: &str) -> Value {
    json!({ "context": frame, "sandbox": WORLD })
}

/// Returns an argument as BiDi has it. Whatever is no number is sent as text.
fn to_local_value(value: &Value) -> Value {
    match value {
        Value::Number(number) => json!({ "type": "number", "value": number }),
        Value::String(text) => json!({ "type": "string", "value": text }),
        other => json!({ "type": "string", "value": other.to_string() }),
    }
}

/// Returns the reason in an error of a navigation, such as `connectionFailure`.
fn explain_error(error: &str) -> &str {
    let reason = error.trim_start_matches("The browser refused: ").trim_end_matches('.');
    reason.trim_start_matches("Error: ")
}

#[cfg(test)]
mod tests;
