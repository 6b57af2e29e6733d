//! The events of Firefox: what they change about the page, and what is answered. Every request waits for an answer.

use crate::browser::page_state::{EventAnswer, PageState, display_url};
use crate::browser::pipe::BrowserEvent;
use reqwest::Url;
use serde_json::{Value, json};
use std::collections::{HashMap, HashSet};
use std::time::Instant;

/// Maximum number of frames and requests that are remembered. A request of a frame that is not remembered fails.
const MAX_REMEMBERED: usize = 10_000;
/// Maximum number of frames inside each other.
const MAX_DEPTH: usize = 100;

/// Why an entry of the history was not opened.
pub const OTHER_ENTRY: &str = "The history has changed since the call was planned. Nothing was done.";

/// What is remembered of events.
#[derive(Debug, Default)]
pub struct EventLog {
    /// Frame of the page.
    pub page: String,
    /// All frames with the one around each, which the page has not.
    frames: HashMap<String, Option<String>>,
    /// The navigation whose document is shown, and the one after it that has not ended; empty if there is none.
    pub shown: String,
    pending: String,
    /// Requests without an end, and when that last changed.
    requests: HashSet<String>,
    last_request: Option<Instant>,
    /// Address of the history that is being opened, and whether another one was refused.
    pub expected_address: Option<String>,
    pub has_refused_entry: bool,
    /// Name of the file if the last navigation was a download.
    pub download: Option<String>,
}

/// Returns whether two addresses are of one document.
pub fn is_same_document(one: &str, other: &str) -> bool {
    let without_fragment = |address: &str| address.split('#').next().unwrap_or_default().to_owned();
    without_fragment(one) == without_fragment(other)
}

impl EventLog {
    pub fn new(page: &str) -> Self {
        let frames = HashMap::from([(page.to_owned(), None)]);
        Self { page: page.to_owned(), frames, ..Self::default() }
    }

    /// Returns since when no request is open; `None` if one is.
    pub fn idle_since(&self) -> Option<Instant> {
        self.last_request.filter(|_| self.requests.is_empty())
    }

    /// Returns the navigation whose response has ended, if its document is not shown.
    pub fn ended_navigation(&self, event: &BrowserEvent) -> Option<String> {
        let is_end = event.method == "network.responseCompleted" && self.is_pending(&event.params);
        is_end.then(|| self.pending.clone())
    }

    /// Ends a navigation whose document is never shown, which is how a download ends.
    pub fn give_up_navigation(&mut self, navigation: &str, state: &mut PageState) {
        if self.pending == navigation && !navigation.is_empty() {
            self.pending.clear();
            state.is_loading = !state.has_reached("load");
        }
    }

    fn is_pending(&self, params: &Value) -> bool {
        params["context"] == *self.page && params["navigation"] == *self.pending
    }

    fn is_shown(&self, params: &Value) -> bool {
        params["context"] == *self.page && params["navigation"] == *self.shown
    }

    /// Returns whether a frame is the page or inside it.
    fn is_inside_page(&self, frame: &str) -> bool {
        let mut around = Some(frame.to_owned());
        for _ in 0..MAX_DEPTH {
            match around {
                Some(frame) if frame == self.page => return true,
                Some(frame) => around = self.frames.get(&frame).cloned().flatten(),
                None => return false,
            }
        }
        false
    }

    /// Applies an event, and returns the commands that answer it.
    pub fn handle_event(&mut self, event: &BrowserEvent, state: &mut PageState) -> Vec<EventAnswer> {
        let params = &event.params;
        let text = |name: &str| params[name].as_str().unwrap_or_default();
        let answer = |method, params| vec![EventAnswer { method, params, session: String::new() }];
        let is_page = text("context") == self.page;
        match event.method.as_str() {
            "browsingContext.contextCreated" => {
                let parent = params["parent"].as_str().map(str::to_owned);
                if parent.is_none() && !is_page {
                    return answer("browsingContext.close", json!({ "context": text("context") }));
                }
                if self.frames.len() < MAX_REMEMBERED {
                    self.frames.insert(text("context").to_owned(), parent);
                }
            }
            "browsingContext.contextDestroyed" if is_page => state.is_gone = true,
            "browsingContext.contextDestroyed" => drop(self.frames.remove(text("context"))),
            "browsingContext.navigationStarted" if is_page => {
                text("navigation").clone_into(&mut self.pending);
                self.download = None;
                state.is_loading = true;
            }
            "browsingContext.navigationStarted" if !self.is_inside_page(text("context")) => {
                let note = format!("The page tried to open a window, which needs browser_navigate: {}", text("url"));
                state.add_note(&note);
            }
            "browsingContext.navigationCommitted" if is_page => {
                text("navigation").clone_into(&mut self.shown);
                if self.pending == self.shown {
                    self.pending.clear();
                }
                state.is_loading = true;
                text("url").clone_into(&mut state.url);
                state.begin_document(text("navigation"));
            }
            "browsingContext.domContentLoaded" if self.is_shown(params) => state.add_stage("DOMContentLoaded"),
            "browsingContext.load" if self.is_shown(params) => {
                state.add_stage("load");
                state.is_loading = !self.pending.is_empty();
            }
            "browsingContext.navigationFailed" if is_page => self.give_up_navigation(text("navigation"), state),
            "browsingContext.fragmentNavigated" if is_page => {
                text("url").clone_into(&mut state.url);
                self.give_up_navigation(text("navigation"), state);
            }
            "browsingContext.userPromptOpened" => {
                // Only a page that asks before it is left would hold up the next call if it were dismissed.
                let is_leaving = text("type") == "beforeunload";
                if !is_leaving {
                    state.add_note(&format!("The page showed a dialog, which was dismissed: {}", text("message")));
                }
                let accept = json!({ "context": text("context"), "accept": is_leaving });
                return answer("browsingContext.handleUserPrompt", accept);
            }
            "browsingContext.downloadWillBegin" => self.note_download(text("suggestedFilename"), state),
            "network.beforeRequestSent" => {
                let request = params["request"]["request"].as_str().unwrap_or_default();
                if self.requests.len() < MAX_REMEMBERED {
                    self.requests.insert(request.to_owned());
                }
                self.last_request = Some(Instant::now());
                if params["isBlocked"] != true {
                    return Vec::new();
                }
                let checked = self.check_request(params, state);
                let is_allowed = checked.is_ok();
                state.refused = checked.err().or(state.refused.take());
                let method = if is_allowed { "network.continueRequest" } else { "network.failRequest" };
                return answer(method, json!({ "request": request }));
            }
            "network.responseStarted" if self.is_pending(params) => {
                if let Some(name) = download_name(params) {
                    self.note_download(&name, state);
                    self.download = Some(name);
                }
            }
            "network.responseCompleted" | "network.fetchError" => {
                self.requests.remove(params["request"]["request"].as_str().unwrap_or_default());
                self.last_request = Some(Instant::now());
                if event.method == "network.fetchError" && is_page {
                    self.give_up_navigation(text("navigation"), state);
                    state.is_loading &= !self.is_shown(params);
                }
            }
            _ => {}
        }
        Vec::new()
    }

    /// Checks a request: none of another window, and of documents of the page only those that it may become.
    fn check_request(&mut self, params: &Value, state: &mut PageState) -> Result<(), String> {
        // A worker has no frame.
        let Some(frame) = params["context"].as_str() else { return Ok(()) };
        if !self.is_inside_page(frame) {
            return Err(state.refused.take().unwrap_or_else(|| "The page tried to open a window.".to_owned()));
        }
        if frame != self.page || params["navigation"].is_null() {
            return Ok(());
        }
        let url = params["request"]["url"].as_str().unwrap_or_default();
        let is_redirect = params["redirectCount"].as_u64() > Some(0);
        if let Some(expected) = self.expected_address.as_ref().filter(|_| !is_redirect)
            && !is_same_document(expected, url)
        {
            self.has_refused_entry = true;
            return Err(OTHER_ENTRY.to_owned());
        }
        state.check_request(url, is_redirect)
    }

    fn note_download(&self, name: &str, state: &mut PageState) {
        state.add_note(&format!("The page started a download, which was refused: {name}"));
    }
}

/// Returns the name of the file if a response is one to save; `None` if it is a page.
fn download_name(params: &Value) -> Option<String> {
    let response = &params["response"];
    let header = |wanted: &str| {
        let headers = response["headers"].as_array().into_iter().flatten();
        let mut named =
            headers.filter(|header| header["name"].as_str().is_some_and(|name| name.eq_ignore_ascii_case(wanted)));
        named.next().and_then(|header| header["value"]["value"].as_str()).unwrap_or_default().to_ascii_lowercase()
    };
    let is_redirect = (300..400).contains(&response["status"].as_u64().unwrap_or(0));
    let kind = header("content-type");
    let kind = kind.split(';').next().unwrap_or_default().trim();
    let is_shown = ["", "application/xml", "application/json", "application/javascript"].contains(&kind)
        || ["text/", "image/", "audio/", "video/", "multipart/x-mixed-replace"]
            .iter()
            .any(|start| kind.starts_with(start))
        || kind.ends_with("+xml")
        || kind.ends_with("+json");
    if is_redirect || is_shown && !header("content-disposition").trim_start().starts_with("attachment") {
        return None;
    }
    let url = Url::parse(response["url"].as_str()?).ok()?;
    let name = url.path_segments().and_then(|mut segments| segments.next_back().map(str::to_owned));
    Some(name.filter(|name| !name.is_empty()).unwrap_or_else(|| display_url(&url)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::web::target::PrivateHosts;

    fn page() -> (EventLog, PageState) {
        let mut state = PageState::new(PrivateHosts::default());
        state.begin_call(vec!["a.example".into()], &Url::parse("http://a.example/").unwrap());
        let mut log = EventLog::new("P");
        apply(&mut log, &mut state, "browsingContext.contextCreated", json!({ "context": "F", "parent": "P" }));
        apply(&mut log, &mut state, "browsingContext.contextCreated", json!({ "context": "G", "parent": "F" }));
        (log, state)
    }

    fn apply(log: &mut EventLog, state: &mut PageState, method: &str, params: Value) -> Vec<EventAnswer> {
        log.handle_event(&BrowserEvent { method: method.into(), params, session: String::new() }, state)
    }

    fn request(log: &mut EventLog, state: &mut PageState, frame: &str, navigation: &str, url: &str) -> &'static str {
        let navigation = Some(navigation).filter(|navigation| !navigation.is_empty());
        let params = json!({
            "context": frame, "navigation": navigation, "isBlocked": true, "redirectCount": 0,
            "request": { "request": "1", "url": url },
        });
        let answers = apply(log, state, "network.beforeRequestSent", params);
        assert_eq!((answers.len(), &answers[0].params), (1, &json!({ "request": "1" })));
        answers[0].method
    }

    #[test]
    fn only_documents_of_allowed_hosts_become_the_page() {
        let (mut log, mut state) = page();
        for (frame, navigation, url, is_allowed) in [
            ("P", "1", "http://a.example/", true),
            ("P", "1", "http://b.example/", false),
            ("P", "1", "data:text/html,x", false),
            ("P", "1", "blob:http://a.example/1", false),
            // Parts of the page, and frames inside it.
            ("P", "", "http://b.example/", true),
            ("F", "1", "http://b.example/", true),
            ("G", "1", "http://b.example/", true),
            // Another window, of which nothing else is known.
            ("W", "1", "http://a.example/", false),
            ("W", "", "http://a.example/", false),
        ] {
            let expected = if is_allowed { "network.continueRequest" } else { "network.failRequest" };
            assert_eq!(request(&mut log, &mut state, frame, navigation, url), expected, "{frame} {url}");
        }
        assert!(state.refused.is_some());
        log.expected_address = Some("http://a.example/1#x".into());
        assert_eq!(request(&mut log, &mut state, "P", "2", "http://a.example/1"), "network.continueRequest");
        assert_eq!(request(&mut log, &mut state, "P", "2", "http://a.example/2"), "network.failRequest");
        assert!(log.has_refused_entry);
    }

    #[test]
    fn windows_dialogs_and_downloads_are_refused_and_noted() {
        let (mut log, mut state) = page();
        let closed = apply(&mut log, &mut state, "browsingContext.contextCreated", json!({ "context": "W" }));
        assert_eq!((closed[0].method, &closed[0].params["context"]), ("browsingContext.close", &json!("W")));
        let opens = json!({ "context": "W", "navigation": "9", "url": "http://b.example/" });
        apply(&mut log, &mut state, "browsingContext.navigationStarted", opens);
        assert!(!state.is_loading);
        for (kind, accepts) in [("confirm", false), ("beforeunload", true)] {
            let opened = json!({ "context": "F", "type": kind, "message": "Really?" });
            let answers = apply(&mut log, &mut state, "browsingContext.userPromptOpened", opened);
            assert_eq!(answers[0].params, json!({ "context": "F", "accept": accepts }));
        }
        let navigation = json!({ "context": "P", "navigation": "2", "url": "http://a.example/x.bin" });
        apply(&mut log, &mut state, "browsingContext.navigationStarted", navigation);
        for (name, value, is_download) in [
            ("Content-Type", "text/html; charset=utf-8", false),
            ("content-type", "image/svg+xml", false),
            ("Content-Type", "application/octet-stream", true),
            ("Content-Disposition", "Attachment; filename=x", true),
        ] {
            let headers = json!([{ "name": name, "value": { "type": "string", "value": value } }]);
            let response = json!({ "status": 200, "url": "http://a.example/x.bin", "headers": headers });
            log.download = None;
            let started = json!({ "context": "P", "navigation": "2", "request": {}, "response": response });
            apply(&mut log, &mut state, "network.responseStarted", started);
            assert_eq!(log.download.is_some(), is_download, "{value}");
        }
        let notes = ["open a window", "dialog, which was dismissed: Really?", "download, which was refused: x.bin"];
        assert_eq!(state.notes.len(), notes.len(), "{:?}", state.notes);
        assert!(state.notes.iter().zip(notes).all(|(note, part)| note.contains(part)), "{:?}", state.notes);
    }

    #[test]
    fn follows_navigations_and_survives_odd_events() {
        let (mut log, mut state) = page();
        let mut send = |log: &mut EventLog, method: &str, navigation: &str| {
            let params = json!({ "context": "P", "navigation": navigation, "url": "http://a.example/" });
            apply(log, &mut state, method, params);
            (state.is_loading, state.has_reached("load"), state.is_gone)
        };
        assert_eq!(send(&mut log, "browsingContext.navigationStarted", "1"), (true, false, false));
        assert_eq!(send(&mut log, "browsingContext.navigationCommitted", "1"), (true, false, false));
        assert_eq!(send(&mut log, "browsingContext.load", "0"), (true, false, false), "of an earlier document");
        assert_eq!(send(&mut log, "browsingContext.load", "1"), (false, true, false));
        assert_eq!(send(&mut log, "browsingContext.navigationStarted", "2"), (true, true, false));
        assert_eq!(send(&mut log, "network.fetchError", "2"), (false, true, false));
        assert_eq!(send(&mut log, "browsingContext.unknown", "2"), (false, true, false));
        assert_eq!(send(&mut log, "browsingContext.contextDestroyed", "2"), (false, true, true));
        let (mut log, mut state) = page();
        for method in ["network.beforeRequestSent", "browsingContext.navigationStarted", "network.responseStarted", ""]
        {
            for params in [json!(null), json!([]), json!({ "context": 1, "request": "x", "response": [] })] {
                assert_eq!(apply(&mut log, &mut state, method, params), []);
            }
        }
        // Frames around each other in a circle.
        for (frame, parent) in [("A", "B"), ("B", "A")] {
            let created = json!({ "context": frame, "parent": parent });
            apply(&mut log, &mut state, "browsingContext.contextCreated", created);
        }
        assert_eq!(request(&mut log, &mut state, "A", "", "http://a.example/"), "network.failRequest");
        for number in 0..2 * MAX_REMEMBERED {
            let created = json!({ "context": number.to_string(), "parent": "P" });
            apply(&mut log, &mut state, "browsingContext.contextCreated", created);
        }
        assert!(log.frames.len() <= MAX_REMEMBERED);
    }
}
