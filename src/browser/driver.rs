//! What the browsers do differently: everything that is sent to one.

use super::frame::{Element, Frame, FrameContent};
use super::keystroke::Keystroke;
use super::page_watch::{HistoryEntry, LoadStage, PageError, PageWatch};
use super::snapshot::References;
use crate::web::target::Target;
use async_trait::async_trait;
use reqwest::Url;
use serde_json::Value;
use std::sync::Arc;

/// Error if keys would go elsewhere than to the field.
pub const LOST_FOCUS: &str = "This is not possible: the field has lost the focus.";

/// The page of a running browser. Dropping it ends the connection.
#[async_trait]
pub trait Driver: Send + Sync {
    fn watch(&self) -> &PageWatch;

    /// Reads what no event tells about the page, before a call is compared with it.
    async fn refresh(&self) -> Result<(), PageError>;

    fn stop_loading(&self);

    /// Returns whether the page does not answer, as one whose script never ends.
    async fn hangs(&self) -> bool;

    /// Opens an address and waits until the page has reached the stage.
    async fn open(&self, url: &Url, target: &Target, stage: LoadStage) -> Result<(), PageError>;

    /// Leaves the page: opens an empty one.
    async fn leave(&self) -> Result<(), PageError>;

    async fn reload(&self) -> Result<(), PageError>;

    /// Returns the pages before and after this one in the history.
    async fn read_history(&self) -> Result<[Option<HistoryEntry>; 2], PageError>;

    async fn open_history_entry(&self, entry: &HistoryEntry) -> Result<(), PageError>;

    /// Returns all frames that answer, the page first and each after its parent.
    async fn read_frames(&self) -> Result<Vec<Arc<Frame>>, PageError>;

    /// Reads the content of frames, the first of which is the page. Others that do not answer are left out.
    async fn read_contents(&self, frames: &[Arc<Frame>]) -> Result<Vec<FrameContent>, PageError>;

    /// Returns the host of the frame that receives keys, if it is another one than that of the page.
    async fn find_focused_host(&self, frames: &[Arc<Frame>]) -> Result<Option<String>, PageError>;

    /// Finds the first element of the page itself that a CSS selector matches.
    async fn find_by_selector(&self, selector: &str) -> Result<Element, PageError>;

    /// Returns the element of the whole document of the page.
    async fn find_root(&self) -> Result<Element, PageError>;

    /// Calls a function on an element and returns its result, in a world of its own, in which scripts of the page can change
    /// nothing. A text after `error:` is an error.
    async fn call_function(&self, element: &Element, function: &str, arguments: &[Value]) -> Result<Value, PageError>;

    /// Returns whether the element is laid out with a size.
    async fn is_visible(&self, element: &Element) -> Result<bool, PageError>;

    async fn scroll_into_view(&self, element: &Element) -> Result<(), PageError>;

    /// Scrolls an element into view, moves the pointer to its middle and presses the left button there `clicks` times. Fails if
    /// the pointer would hit something else.
    async fn click(&self, element: &Element, clicks: u32) -> Result<(), PageError>;

    /// Checks that keys go to the document of the element.
    async fn check_focus(&self, element: &Element) -> Result<(), PageError>;

    /// Presses and releases a key, in the frame that has the focus or in that of the element that was focused.
    async fn press(&self, key: &Keystroke, focused: Option<&Element>) -> Result<(), PageError>;

    /// Enters a text in the element, which has the focus, in place of what is selected.
    async fn insert_text(&self, element: &Element, text: &str) -> Result<(), PageError>;

    /// Returns a picture of the visible part of the page, in Base64.
    async fn take_picture(&self) -> Result<String, PageError>;

    /// Returns the labels of visible elements: each the reference and its rectangle on the page.
    async fn find_labels(&self, references: &References) -> Result<Vec<Value>, PageError>;
}

impl dyn Driver {
    /// Begins a call as `PageState::begin_call`.
    pub fn begin_call(&self, allowed_hosts: Vec<String>, address: &Url) {
        let is_loading = self.watch().modify(|state| {
            state.begin_call(allowed_hosts, address);
            state.is_loading
        });
        if is_loading {
            // An earlier call was stopped.
            self.stop_loading();
        }
    }

    /// Finds the element of a reference or of a CSS selector, which finds those of the page itself only.
    pub async fn find_element(&self, target: &str, references: &References) -> Result<Element, PageError> {
        match references.find(target) {
            Some(found) => found.map(|element| element.element.clone()).map_err(PageError::Failed),
            None => self.find_by_selector(target).await,
        }
    }

    /// Checks that the page is one that may be shown. Leaves any other.
    pub async fn check_shown_page(&self) -> Result<(), PageError> {
        self.refresh().await?;
        let state = self.watch().state();
        if state.is_error_page() {
            let reason = state.refused.unwrap_or_else(|| "The page could not be loaded.".to_owned());
            return Err(PageError::Failed(reason));
        }
        if state.target().is_some_and(|target| state.allowed_hosts.contains(&target.host)) {
            return Ok(());
        }
        self.leave().await?;
        Err(PageError::failed("The page led to an address that is not allowed. It was left."))
    }
}
