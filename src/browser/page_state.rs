//! What is known about the page of the browser, and what is answered to the browser's events: which documents may become
//! the page, and that dialogs, windows and downloads are refused.

use super::pipe::BrowserEvent;
use crate::text::clean::clean_line;
use crate::text::truncation::truncate_end;
use crate::web::target::{PrivateHosts, Target, parse_target};
use reqwest::Url;
use serde_json::{Value, json};

/// Maximum number of notes, and their maximum length in characters.
const MAX_NOTES: usize = 8;
const MAX_NOTE_CHARS: usize = 300;

/// Maximum characters of an address in a text for the model.
const MAX_URL_CHARS: usize = 2_000;

/// Maximum number of frames with a process of their own.
const MAX_FRAME_SESSIONS: usize = 64;

/// Maximum number of stages of a document.
const MAX_STAGES: usize = 32;

/// State of the page.
#[derive(Debug, Clone, Default)]
pub struct PageState {
    pub private_hosts: PrivateHosts,
    /// Protocol session of the page; empty until the browser has attached it.
    pub session: String,
    /// Main frame of the page, which has the name of its target.
    pub frame: String,
    /// Protocol sessions of the frames that have a process of their own.
    pub frame_sessions: Vec<String>,
    /// Hosts whose documents may become the page.
    pub allowed_hosts: Vec<String>,
    /// True once the call may not open a document without encryption.
    requires_encryption: bool,
    /// Address of the document.
    pub url: String,
    /// Name of the document.
    pub document: String,
    /// Stages that the document has reached, such as `load`.
    stages: Vec<String>,
    /// True from the beginning of a navigation until its document is loaded or it has failed.
    pub is_loading: bool,
    /// Why a document was refused since the call began, as a sentence for the model.
    pub refused: Option<String>,
    /// What happened since the call began, each as a clean sentence for the model.
    pub notes: Vec<String>,
    /// True once the page has crashed or was closed, or the browser has ended.
    pub is_gone: bool,
}

/// A command that answers an event.
#[derive(Debug, PartialEq)]
pub struct EventAnswer {
    pub method: &'static str,
    pub params: Value,
    pub session: String,
}

impl PageState {
    pub fn new(private_hosts: PrivateHosts) -> Self {
        Self { private_hosts, ..Self::default() }
    }

    /// Begins a call that may open documents of these hosts, those without encryption only if `address` has none: what the
    /// call opens, or the page it acts on. Forgets what happened in earlier calls.
    pub fn begin_call(&mut self, allowed_hosts: Vec<String>, address: &Url) {
        self.allowed_hosts = allowed_hosts;
        self.requires_encryption = address.scheme() == "https";
        self.refused = None;
        self.notes.clear();
    }

    /// Returns whether the document has reached this stage.
    pub fn has_reached(&self, stage: &str) -> bool {
        self.stages.iter().any(|reached| reached == stage)
    }

    /// Returns the address of the page, checked; `None` for an empty page and one that could not be loaded.
    pub fn target(&self) -> Option<Target> {
        parse_target(&self.url, &self.private_hosts).ok()
    }

    /// Returns whether the browser shows an error of its own instead of the page.
    pub fn is_error_page(&self) -> bool {
        // Firefox has one for each kind of error.
        self.url.starts_with("chrome-error:") || self.url.starts_with("about:") && self.url.contains("error?")
    }

    /// Adds a note with text of the page.
    pub fn add_note(&mut self, note: &str) {
        let note = truncate_end(&clean_line(note), MAX_NOTE_CHARS);
        if self.notes.len() < MAX_NOTES && !self.notes.contains(&note) {
            self.notes.push(note);
        }
    }

    /// Applies an event, and returns the commands that answer it.
    pub fn handle_event(&mut self, event: &BrowserEvent) -> Vec<EventAnswer> {
        let params = &event.params;
        let text = |name: &str| params[name].as_str().unwrap_or_default();
        let answer = |method, params| vec![EventAnswer { method, params, session: event.session.clone() }];
        let is_main = text("frameId") == self.frame;
        match event.method.as_str() {
            "Target.attachedToTarget" if params["targetInfo"]["type"] == "page" => {
                let target = params["targetInfo"]["targetId"].as_str().unwrap_or_default();
                if !self.session.is_empty() {
                    // Another window, which waits before it requests anything. It may hold up the page until it goes on.
                    let mut answers = answer("Target.closeTarget", json!({ "targetId": target }));
                    let (method, session) = ("Runtime.runIfWaitingForDebugger", text("sessionId").to_owned());
                    answers.push(EventAnswer { method, params: json!({}), session });
                    return answers;
                }
                (self.session, self.frame) = (text("sessionId").to_owned(), target.to_owned());
            }
            "Target.attachedToTarget" if params["targetInfo"]["type"] == "iframe" => {
                let session = text("sessionId").to_owned();
                if self.frame_sessions.len() < MAX_FRAME_SESSIONS && !self.frame_sessions.contains(&session) {
                    self.frame_sessions.push(session.clone());
                }
                let commands = [
                    ("Page.enable", json!({})),
                    ("Page.setInterceptFileChooserDialog", json!({ "enabled": true })),
                    ("Target.setAutoAttach", attach_frames()),
                ];
                return commands
                    .map(|(method, params)| EventAnswer { method, params, session: session.clone() })
                    .into();
            }
            "Target.detachedFromTarget" if text("sessionId") == self.session => self.is_gone = true,
            "Target.detachedFromTarget" => self.frame_sessions.retain(|session| session != text("sessionId")),
            "Inspector.targetCrashed" if event.session == self.session => self.is_gone = true,
            "Fetch.requestPaused" => {
                let request = json!({ "requestId": text("requestId") });
                let url = params["request"]["url"].as_str().unwrap_or_default();
                let is_redirect = !params["redirectedRequestId"].is_null();
                if let Err(reason) = if is_main { self.check_request(url, is_redirect) } else { Ok(()) } {
                    self.refused = Some(reason);
                    // The page stays as it is, unlike for other reasons.
                    return answer(
                        "Fetch.failRequest",
                        json!({ "requestId": text("requestId"), "errorReason": "Aborted" }),
                    );
                }
                return answer("Fetch.continueRequest", request);
            }
            "Page.frameNavigated" if params["frame"]["id"] == *self.frame => {
                params["frame"]["url"].as_str().unwrap_or_default().clone_into(&mut self.url);
                self.begin_document(params["frame"]["loaderId"].as_str().unwrap_or_default());
            }
            "Page.navigatedWithinDocument" if is_main => text("url").clone_into(&mut self.url),
            "Page.lifecycleEvent" if is_main && text("name") == "init" => self.begin_document(text("loaderId")),
            // Those of an earlier document may arrive late.
            "Page.lifecycleEvent" if is_main && text("loaderId") == self.document => {
                self.add_stage(text("name"));
            }
            "Page.frameStartedNavigating" | "Page.frameStartedLoading" if is_main => self.is_loading = true,
            "Page.frameStoppedLoading" if is_main => self.is_loading = false,
            "Page.javascriptDialogOpening" => {
                // Only a page that asks before it is left would hold up the next call if it were dismissed.
                let is_leaving = text("type") == "beforeunload";
                if !is_leaving {
                    self.add_note(&format!("The page showed a dialog, which was dismissed: {}", text("message")));
                }
                return answer("Page.handleJavaScriptDialog", json!({ "accept": is_leaving }));
            }
            "Page.windowOpen" => {
                self.add_note(&format!(
                    "The page tried to open a window, which needs browser_navigate: {}",
                    text("url")
                ));
            }
            "Page.downloadWillBegin" => {
                self.add_note(&format!(
                    "The page started a download, which was refused: {}",
                    text("suggestedFilename")
                ));
            }
            _ => {}
        }
        Vec::new()
    }

    /// Records that the document has reached a stage.
    pub fn add_stage(&mut self, stage: &str) {
        if self.stages.len() < MAX_STAGES && !self.has_reached(stage) {
            self.stages.push(stage.to_owned());
        }
    }

    /// Begins a document if it is another one.
    pub fn begin_document(&mut self, document: &str) {
        if self.document != document {
            document.clone_into(&mut self.document);
            self.stages.clear();
        }
    }

    /// Checks whether the requested document may become the page: of an allowed host, and never from `https` to `http`.
    pub fn check_request(&mut self, url: &str, is_redirect: bool) -> Result<(), String> {
        let target = parse_target(url, &self.private_hosts)?;
        let verb = if is_redirect { "redirects" } else { "leads" };
        let needs_call = |what: &str| {
            let url = display_url(&target.url);
            Err(format!("The page {verb} to {what}, which needs a call of browser_navigate: {url}"))
        };
        if !self.allowed_hosts.contains(&target.host) {
            return needs_call("another host");
        }
        match target.url.scheme() {
            "https" => self.requires_encryption = true,
            _ if self.requires_encryption => return needs_call("an address without encryption"),
            _ => {}
        }
        Ok(())
    }
}

/// Returns the parameters that attach the frames of a page or frame which have a process of their own.
pub fn attach_frames() -> Value {
    json!({
        "autoAttach": true, "waitForDebuggerOnStart": false, "flatten": true, "filter": [{ "type": "iframe" }],
    })
}

/// Returns an address as texts for the model have it.
pub fn display_url(url: &Url) -> String {
    truncate_end(&clean_line(url.as_str()), MAX_URL_CHARS)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(method: &str, params: Value) -> BrowserEvent {
        BrowserEvent { method: method.into(), params, session: "S".into() }
    }

    fn attach(state: &mut PageState, target: &str, session: &str) -> Vec<EventAnswer> {
        let info = json!({ "targetId": target, "type": "page", "url": "" });
        state.handle_event(&event("Target.attachedToTarget", json!({ "sessionId": session, "targetInfo": info })))
    }

    fn page() -> PageState {
        let mut state = PageState::new(PrivateHosts(vec!["127.0.0.1:8000".into()]));
        assert_eq!(attach(&mut state, "F", "S"), []);
        begin_call(&mut state, "http://a.example/");
        state
    }

    fn begin_call(state: &mut PageState, url: &str) {
        state.begin_call(vec!["a.example".into(), "127.0.0.1".into()], &Url::parse(url).unwrap());
    }

    fn request(state: &mut PageState, frame: &str, url: &str, redirects: bool) -> (&'static str, Option<String>) {
        state.refused = None;
        let mut params = json!({ "requestId": "1", "frameId": frame, "request": { "url": url } });
        if redirects {
            params["redirectedRequestId"] = "0".into();
        }
        let answers = state.handle_event(&event("Fetch.requestPaused", params));
        assert_eq!((answers.len(), answers[0].session.as_str()), (1, "S"));
        (answers[0].method, state.refused.clone())
    }

    #[test]
    fn only_documents_of_allowed_hosts_become_the_page() {
        let mut state = page();
        for (url, redirects, refusal) in [
            ("http://127.0.0.1:8000/", false, None),
            ("http://a.example/x", true, None),
            ("https://a.example/y", true, None),
            ("http://a.example/y", true, Some("redirects to an address without encryption")),
            ("http://a.example/y", false, Some("leads to an address without encryption")),
            ("http://127.0.0.1:8000/", false, Some("without encryption")),
            ("https://A.EXAMPLE./y", false, None),
            ("http://127.0.0.1:8001/", false, Some("Refused: ")),
            (
                "https://b.example/",
                false,
                Some("leads to another host, which needs a call of browser_navigate: https://b.example/"),
            ),
            ("https://b.example/", true, Some("redirects to another host")),
            ("https://a.example.b.example/", false, Some("another host")),
            ("https://a.example@b.example/", false, Some("user name")),
            ("file:///etc/passwd", false, Some("“file:” is not supported")),
            ("chrome://settings", false, Some("not supported")),
            ("data:text/html,x", false, Some("not supported")),
            ("blob:https://a.example/1", false, Some("not supported")),
        ] {
            let (method, refused) = request(&mut state, "F", url, redirects);
            let expected = if refusal.is_some() { "Fetch.failRequest" } else { "Fetch.continueRequest" };
            assert_eq!(method, expected, "{url}: {refused:?}");
            assert!(refused.unwrap_or_default().contains(refusal.unwrap_or_default()), "{url}");
        }
        // The proxy judges the requests of frames inside the page.
        assert_eq!(request(&mut state, "G", "https://b.example/", false), ("Fetch.continueRequest", None));
    }

    #[test]
    fn an_encrypted_page_leads_to_no_other_without_a_call() {
        let mut state = page();
        for (address, expected) in [
            ("https://a.example/", "Fetch.failRequest"),
            // Approved as it is.
            ("http://a.example/", "Fetch.continueRequest"),
        ] {
            begin_call(&mut state, address);
            assert_eq!(request(&mut state, "F", "http://a.example/pay", false).0, expected, "{address}");
        }
    }

    #[test]
    fn windows_dialogs_and_downloads_are_refused_and_noted() {
        let mut state = page();
        let closed = attach(&mut state, "P", "S2");
        assert_eq!((closed[0].method, &closed[0].params["targetId"]), ("Target.closeTarget", &json!("P")));
        assert_eq!((closed[1].method, closed[1].session.as_str()), ("Runtime.runIfWaitingForDebugger", "S2"));
        assert_eq!(state.session, "S");
        let dialog =
            |kind: &str| event("Page.javascriptDialogOpening", json!({ "type": kind, "message": "a\u{202e}\nb" }));
        assert_eq!(state.handle_event(&dialog("confirm"))[0].params, json!({ "accept": false }));
        assert_eq!(state.handle_event(&dialog("beforeunload"))[0].params, json!({ "accept": true }));
        state.handle_event(&event("Page.windowOpen", json!({ "url": "https://b.example/" })));
        state.handle_event(&event("Page.downloadWillBegin", json!({ "suggestedFilename": "x".repeat(10_000) })));
        assert_eq!(state.notes.len(), 3, "{:?}", state.notes);
        assert!(!state.notes.concat().contains(['\n', '\u{202e}']) && state.notes.concat().len() < 2_000);
        for number in 0..100 {
            state.add_note(&number.to_string());
        }
        assert_eq!(state.notes.len(), MAX_NOTES);
    }

    #[test]
    fn frames_with_a_process_of_their_own_are_attached_and_forgotten() {
        let mut state = page();
        let attach = |number: usize| {
            let info = json!({ "targetId": "G", "type": "iframe", "url": "" });
            let params = json!({ "sessionId": format!("S{number}"), "targetInfo": info });
            event("Target.attachedToTarget", params)
        };
        let answers = state.handle_event(&attach(2));
        assert!(answers.iter().all(|answer| answer.session == "S2"), "{answers:?}");
        assert!(answers.iter().any(|answer| answer.method == "Target.setAutoAttach"), "frames inside the frame");
        assert_eq!((state.session.as_str(), state.frame_sessions.clone()), ("S", vec!["S2".to_owned()]));
        state.handle_event(&event("Target.detachedFromTarget", json!({ "sessionId": "S2" })));
        assert!(state.frame_sessions.is_empty() && !state.is_gone);
        (0..1_000).for_each(|number| drop(state.handle_event(&attach(number))));
        assert_eq!(state.frame_sessions.len(), MAX_FRAME_SESSIONS);
    }

    #[test]
    fn follows_the_stages_of_documents() {
        let mut state = page();
        let stage = |name: &str, document: &str, frame: &str| {
            event("Page.lifecycleEvent", json!({ "frameId": frame, "loaderId": document, "name": name }))
        };
        state.handle_event(&stage("init", "1", "F"));
        state.handle_event(&stage("load", "1", "F"));
        state.handle_event(&stage("init", "9", "other"));
        assert!(state.document == "1" && state.has_reached("load"));
        let frame = json!({ "id": "F", "url": "https://a.example/", "loaderId": "2" });
        state.handle_event(&event("Page.frameNavigated", json!({ "frame": frame })));
        state.handle_event(&stage("load", "1", "F"));
        assert!(state.document == "2" && !state.has_reached("load"), "an earlier document has no effect");
        assert_eq!(state.target().map(|target| target.host).as_deref(), Some("a.example"));
        state.handle_event(&event("Page.frameStartedLoading", json!({ "frameId": "F" })));
        assert!(state.is_loading);
        state.handle_event(&event("Page.frameStoppedLoading", json!({ "frameId": "F" })));
        assert!(!state.is_loading && !state.is_gone);
        state.handle_event(&event("Inspector.targetCrashed", json!({})));
        assert!(state.is_gone);
    }
}
