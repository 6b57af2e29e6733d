//! Frames of the page: which there are, who wrote their content, and which has the focus.
//!
//! A frame of another site has a process of its own, with a protocol session of its own.

use super::page::Page;
use super::page_watch::PageError;
use crate::web::target::{PrivateHosts, parse_target};
use futures::future::join_all;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::timeout;

/// Maximum number of frames that are looked at, with the page.
pub const MAX_FRAMES: usize = 50;
/// Time in which a frame inside the page must answer, since another site may hold it up.
pub const ANSWER_TIME: Duration = Duration::from_secs(3);
/// Time in which a frame tells whether it has the focus.
const FOCUS_TIME: Duration = Duration::from_millis(500);
/// Name of the host of a frame that cannot be known. No host has it.
pub const UNKNOWN_HOST: &str = "an unknown host";

/// A frame. The page itself is one without a parent.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Frame {
    pub id: String,
    /// Protocol session of its process in Chromium, the realm of scripts in Firefox.
    pub session: String,
    /// Name of its document.
    pub document: String,
    /// Host that its content is from, as in [`crate::web::target::Target`]. If it is unknown, the content is not shown.
    pub host: Option<String>,
    pub parent: Option<FrameParent>,
}

impl Frame {
    /// Returns the frame and all around it, the page last.
    pub fn with_frames_around(self: &Arc<Self>) -> Vec<&Arc<Self>> {
        let mut frames = vec![self];
        while let Some(parent) = frames.last().and_then(|frame| frame.parent.as_ref()) {
            frames.push(&parent.frame);
        }
        frames
    }
}

/// Where a frame is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FrameParent {
    pub frame: Arc<Frame>,
    /// Number of the element that shows the frame, in its parent.
    pub owner: i64,
}

/// An element of a frame.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Element {
    pub frame: Arc<Frame>,
    /// Number by which the process of the frame in Chromium, or the realm of its scripts in Firefox, knows it.
    pub node: i64,
}

/// The content of a frame.
#[derive(Debug)]
pub struct FrameContent {
    pub frame: Arc<Frame>,
    /// Its accessibility tree.
    pub tree: Value,
}

impl Page {
    /// Returns the frame of the page itself.
    pub fn main_frame(&self) -> Arc<Frame> {
        let state = self.state();
        let host = state.target().map(|target| target.host);
        Arc::new(Frame { id: state.frame, session: state.session, document: state.document, host, parent: None })
    }

    /// Returns all frames that answer, the page first and each after its parent.
    pub async fn read_frames(&self) -> Result<Vec<Arc<Frame>>, PageError> {
        let state = self.state();
        let sessions = std::iter::once(&state.session).chain(&state.frame_sessions);
        let trees = join_all(sessions.map(|session| self.ask(session, "Page.getFrameTree", json!({}), ANSWER_TIME)));
        let mut unplaced = Vec::new();
        for (session, tree) in std::iter::once(&state.session).chain(&state.frame_sessions).zip(trees.await) {
            let tree = tree?.unwrap_or_default();
            list_frames(&tree["frameTree"], &mut |frame| unplaced.push((session.clone(), frame.clone())));
        }
        unplaced.retain(|(_, frame)| frame["id"] != *state.frame);
        let main = self.main_frame();
        let mut frames = vec![main.clone()];
        let mut by_id = HashMap::from([(main.id.clone(), main)]);
        // The frames of a process may be inside one of a process that comes later.
        while let Some(at) = unplaced.iter().position(|(_, frame)| by_id.contains_key(text(frame, "parentId"))) {
            let (session, frame) = unplaced.swap_remove(at);
            let parent = by_id[text(&frame, "parentId")].clone();
            let id = text(&frame, "id").to_owned();
            let owner = self.ask(&parent.session, "DOM.getFrameOwner", json!({ "frameId": id }), ANSWER_TIME).await?;
            let Some(owner) = owner.unwrap_or_default()["backendNodeId"].as_i64() else { continue };
            let host = find_host(&frame, parent.host.as_deref(), &state.private_hosts);
            let document = text(&frame, "loaderId").to_owned();
            let parent = Some(FrameParent { frame: parent, owner });
            let frame = Arc::new(Frame { id: id.clone(), session, document, host, parent });
            frames.push(frame.clone());
            by_id.insert(id, frame);
            if frames.len() == MAX_FRAMES {
                break;
            }
        }
        Ok(frames)
    }

    /// Reads the content of frames, the first of which is the page. Others that do not answer are left out.
    pub async fn read_contents(&self, frames: &[Arc<Frame>]) -> Result<Vec<FrameContent>, PageError> {
        let tree = self.send("Accessibility.getFullAXTree", json!({})).await?;
        let mut contents = vec![FrameContent { frame: self.main_frame(), tree }];
        let shown: Vec<_> = frames.iter().skip(1).filter(|frame| frame.host.is_some()).collect();
        let trees = join_all(shown.iter().map(|frame| {
            let of_frame = json!({ "frameId": frame.id });
            self.ask(&frame.session, "Accessibility.getFullAXTree", of_frame, ANSWER_TIME)
        }));
        for (frame, tree) in shown.into_iter().zip(trees.await) {
            contents.extend(tree?.map(|tree| FrameContent { frame: frame.clone(), tree }));
        }
        Ok(contents)
    }

    /// Returns the host of the frame that receives keys, if it is another one than that of the page.
    pub async fn find_focused_host(&self, frames: &[Arc<Frame>]) -> Result<Option<String>, PageError> {
        let answers = join_all(frames.iter().skip(1).map(|frame| async move {
            let answer = timeout(FOCUS_TIME, self.evaluate(frame, "document.hasFocus()")).await;
            match answer.unwrap_or(Err(PageError::failed(""))) {
                Ok(has_focus) => Ok(has_focus == true),
                Err(PageError::Lost) => Err(PageError::Lost),
                Err(PageError::Failed(_)) => Ok(false),
            }
        }));
        let mut focused = None;
        // Those around the frame with the focus have it too.
        for (frame, has_focus) in frames.iter().skip(1).zip(answers.await) {
            if has_focus? && is_inside(frame, focused) {
                focused = Some(frame);
            }
        }
        let host = focused.map(|frame| frame.host.clone().unwrap_or_else(|| UNKNOWN_HOST.to_owned()));
        Ok(host.filter(|host| Some(host) != self.main_frame().host.as_ref()))
    }

    /// Returns the value of an expression, in a world of its own in the frame.
    pub async fn evaluate(&self, frame: &Frame, expression: &str) -> Result<Value, PageError> {
        let evaluate = json!({
            "expression": expression, "contextId": self.create_world(frame).await?, "returnByValue": true,
        });
        Ok(self.send_to(frame, "Runtime.evaluate", evaluate).await?["result"]["value"].take())
    }

    /// Sends a command to a protocol session; `None` if it is refused or not answered in time.
    async fn ask(
        &self,
        session: &str,
        method: &str,
        params: Value,
        time: Duration,
    ) -> Result<Option<Value>, PageError> {
        match timeout(time, self.send_in(session, method, params)).await {
            Ok(Ok(answer)) => Ok(Some(answer)),
            Ok(Err(PageError::Lost)) => Err(PageError::Lost),
            Ok(Err(PageError::Failed(_))) | Err(_) => Ok(None),
        }
    }
}

/// Returns whether a frame is the other one's, or no frame was found yet.
fn is_inside(frame: &Frame, other: Option<&Arc<Frame>>) -> bool {
    let Some(other) = other else { return true };
    let mut around = frame.parent.as_ref();
    while let Some(parent) = around {
        if parent.frame.id == other.id {
            return true;
        }
        around = parent.frame.parent.as_ref();
    }
    false
}

fn text<'a>(frame: &'a Value, field: &str) -> &'a str {
    frame[field].as_str().unwrap_or_default()
}

/// Calls `add` with each frame of a frame tree. The JSON parser limits its depth.
fn list_frames(tree: &Value, add: &mut impl FnMut(&Value)) {
    if tree["frame"].is_object() {
        add(&tree["frame"]);
    }
    tree["childFrames"].as_array().into_iter().flatten().for_each(|child| list_frames(child, add));
}

/// Returns the host that the content of a frame is from: the one of its address, or, for a document that another one wrote,
/// the one of the writer.
pub fn find_host(frame: &Value, parent: Option<&str>, private_hosts: &PrivateHosts) -> Option<String> {
    let host_of_address = |address: &str| parse_target(address, private_hosts).ok().map(|target| target.host);
    match text(frame, "url") {
        "about:srcdoc" => parent.map(str::to_owned),
        "" | "about:blank" => host_of_address(text(frame, "securityOrigin")),
        url => host_of_address(url),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_host_of_a_frame_is_that_of_the_writer() {
        let find = |url: &str, origin: &str, parent| {
            find_host(&json!({ "url": url, "securityOrigin": origin }), parent, &PrivateHosts::default())
        };
        let b = Some("b.example".to_owned());
        assert_eq!(find("https://b.example/x#y", "https://b.example", Some("a.example")), b);
        assert_eq!(find("about:srcdoc", "://", Some("b.example")), b);
        assert_eq!(find("about:blank", "https://b.example", Some("a.example")), b);
        for url in ["about:blank", "data:text/html,x", "blob:https://b.example/1", "chrome-error://chromewebdata/", ""]
        {
            assert_eq!(find(url, "://", Some("a.example")), None, "{url}");
        }
        assert_eq!(find("http://127.0.0.1/", "http://127.0.0.1", Some("a.example")), None);
    }

    #[test]
    fn a_frame_is_inside_all_frames_around_it() {
        let frame = |id: &str, parent: Option<&Arc<Frame>>| {
            let parent = parent.map(|frame| FrameParent { frame: frame.clone(), owner: 1 });
            Arc::new(Frame { id: id.to_owned(), parent, ..Frame::default() })
        };
        let page = frame("page", None);
        let (outer, other) = (frame("outer", Some(&page)), frame("other", Some(&page)));
        let inner = frame("inner", Some(&outer));
        assert!(is_inside(&inner, Some(&outer)) && is_inside(&inner, Some(&page)) && is_inside(&other, None));
        assert!(!is_inside(&inner, Some(&other)) && !is_inside(&outer, Some(&inner)));
    }
}
