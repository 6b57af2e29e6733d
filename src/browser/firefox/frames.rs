//! Frames of the page in Firefox: which there are, what they contain, and which has the focus.

use super::page::{FirefoxPage, in_world, lock};
use crate::browser::frame::{ANSWER_TIME, Frame, FrameContent, FrameParent, MAX_FRAMES, UNKNOWN_HOST, find_host};
use crate::browser::page_watch::PageError;
use futures::future::join_all;
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::timeout;

/// What functions in the world of aye share.
pub(super) const ELEMENTS: &str = include_str!("elements.js");
const TREE: &str = include_str!("accessibility_tree.js");

/// Describes the document of a frame, with the windows of the frames inside and the numbers of the elements that show them.
const DESCRIBE_FRAME: &str = "
    const shown = [...allElements(document)].filter(element => ['IFRAME', 'FRAME', 'OBJECT'].includes(element.tagName)
        && element.contentWindow).slice(0, 50);
    const described = { url: document.URL, securityOrigin: self.origin, owners: shown.map(numberOf) };
    return [JSON.stringify(described), ...shown.map(element => element.contentWindow)];";

/// Returns the number of the frame that has the focus, or 0 if none inside the document has it.
const FIND_FOCUSED_FRAME: &str = "
    let active = document.activeElement;
    while (active?.shadowRoot?.activeElement) active = active.shadowRoot.activeElement;
    return active?.contentWindow ? numberOf(active) : 0;";

impl FirefoxPage {
    /// Returns the frame of the page itself.
    pub fn main_frame(&self) -> Arc<Frame> {
        let state = self.watch.state();
        let host = state.target().map(|target| target.host);
        Arc::new(Frame { id: state.frame, session: state.session, document: state.document, host, parent: None })
    }

    /// Calls a function with the text `body` in the document of a frame. Fails if the frame has another one by now.
    pub async fn run_in(&self, frame: &Frame, body: &str, arguments: &[Value]) -> Result<Value, PageError> {
        let function = format!("(...args) => {{ {ELEMENTS}\n{body}\n }}");
        Ok(self.run(json!({ "realm": frame.session }), &function, arguments).await?.0)
    }

    /// Returns all frames that answer, the page first and each after its parent.
    pub async fn read_frames(&self) -> Result<Vec<Arc<Frame>>, PageError> {
        self.refresh().await?;
        let mut frames = vec![self.main_frame()];
        let mut inside = self.list_frames_inside(self.main_frame()).await?;
        while !inside.is_empty() && frames.len() < MAX_FRAMES {
            inside.truncate(MAX_FRAMES - frames.len());
            let described = join_all(inside.into_iter().map(|(parent, id)| self.describe_frame(parent, id))).await;
            inside = Vec::new();
            for described in described {
                let Some((frame, frames_inside)) = described? else { continue };
                frames.push(frame);
                inside.extend(frames_inside);
            }
        }
        lock(&self.frames).clone_from(&frames);
        Ok(frames)
    }

    async fn list_frames_inside(&self, frame: Arc<Frame>) -> Result<Vec<(FrameParent, String)>, PageError> {
        let described = self.run_in(&frame, DESCRIBE_FRAME, &[]).await?;
        Ok(frames_inside(&frame, &described).1)
    }

    /// Describes a frame and lists those inside it; `None` if it does not answer in time.
    async fn describe_frame(
        &self,
        parent: FrameParent,
        id: String,
    ) -> Result<Option<(Arc<Frame>, Vec<(FrameParent, String)>)>, PageError> {
        let function = format!("() => {{ {ELEMENTS}\n{DESCRIBE_FRAME}\n }}");
        let asked = timeout(ANSWER_TIME, self.run(in_world(&id), &function, &[]));
        let Some((described, realm)) = skip_silent(asked.await)? else { return Ok(None) };
        let mut frame = Frame { id, session: realm.clone(), document: realm, host: None, parent: Some(parent) };
        let about = frames_inside(&Arc::default(), &described).0;
        let host_around = frame.parent.as_ref().and_then(|parent| parent.frame.host.clone());
        frame.host = find_host(&about, host_around.as_deref(), &self.watch.state().private_hosts);
        let frame = Arc::new(frame);
        let inside = frames_inside(&frame, &described).1;
        Ok(Some((frame, inside)))
    }

    /// Reads the content of frames, the first of which is the page. Others that do not answer are left out.
    pub async fn read_contents(&self, frames: &[Arc<Frame>]) -> Result<Vec<FrameContent>, PageError> {
        let shown: Vec<_> = frames.iter().filter(|frame| frame.parent.is_none() || frame.host.is_some()).collect();
        let trees = join_all(shown.iter().map(|frame| async move {
            // The call has a time limit of its own.
            let time = if frame.parent.is_none() { Duration::from_secs(3_600) } else { ANSWER_TIME };
            let body = format!("return JSON.stringify((() => {{ {TREE} }})())");
            timeout(time, self.run_in(frame, &body, &[])).await
        }));
        let trees = trees.await;
        let mut contents = Vec::new();
        for (frame, tree) in shown.into_iter().zip(trees) {
            let tree = match (tree, &frame.parent) {
                (Ok(Err(error)), None) => return Err(error),
                (tree, _) => skip_silent(tree)?,
            };
            let tree = tree.and_then(|tree| serde_json::from_str(tree["value"].as_str()?).ok());
            contents.extend(tree.map(|tree| FrameContent { frame: frame.clone(), tree }));
        }
        Ok(contents)
    }

    /// Returns the frame of these that receives keys; `None` if it is one that is not known.
    pub async fn find_focused_frame(&self, frames: &[Arc<Frame>]) -> Result<Option<Arc<Frame>>, PageError> {
        let mut focused = frames.first().cloned().unwrap_or_else(|| self.main_frame());
        for _ in 0..MAX_FRAMES {
            let asked = timeout(ANSWER_TIME, self.run_in(&focused, FIND_FOCUSED_FRAME, &[])).await;
            let Some(owner) = skip_silent(asked)? else { return Ok(None) };
            let owner = owner["value"].as_i64().unwrap_or(0);
            if owner == 0 {
                return Ok(Some(focused));
            }
            let is_inside = |parent: &FrameParent| parent.frame.document == focused.document && parent.owner == owner;
            match frames.iter().find(|frame| frame.parent.as_ref().is_some_and(is_inside)) {
                Some(frame) => focused = frame.clone(),
                None => return Ok(None),
            }
        }
        Ok(None)
    }

    /// Returns the host of the frame that receives keys, if it is another one than that of the page.
    pub async fn find_focused_host(&self, frames: &[Arc<Frame>]) -> Result<Option<String>, PageError> {
        let focused = self.find_focused_frame(frames).await?;
        let host = focused.and_then(|frame| frame.host.clone()).unwrap_or_else(|| UNKNOWN_HOST.to_owned());
        Ok(Some(host).filter(|host| Some(host) != self.main_frame().host.as_ref()))
    }
}

/// Returns what a frame says about itself, and the frames inside it with their names.
fn frames_inside(frame: &Arc<Frame>, described: &Value) -> (Value, Vec<(FrameParent, String)>) {
    let mut values = described["value"].as_array().into_iter().flatten();
    let text = values.next().and_then(|first| first["value"].as_str()).unwrap_or_default();
    let about: Value = serde_json::from_str(text).unwrap_or_default();
    let owners = about["owners"].as_array().map(Vec::as_slice).unwrap_or_default();
    let inside = owners.iter().zip(values).filter_map(|(owner, window)| {
        let parent = FrameParent { frame: frame.clone(), owner: owner.as_i64()? };
        Some((parent, window["value"]["context"].as_str()?.to_owned()))
    });
    let inside = inside.collect();
    (about, inside)
}

/// Returns the answer of a frame; `None` if it refuses or is not in time.
fn skip_silent<T, E>(answer: Result<Result<T, PageError>, E>) -> Result<Option<T>, PageError> {
    match answer {
        Ok(Ok(answer)) => Ok(Some(answer)),
        Ok(Err(PageError::Lost)) => Err(PageError::Lost),
        Ok(Err(PageError::Failed(_))) | Err(_) => Ok(None),
    }
}
