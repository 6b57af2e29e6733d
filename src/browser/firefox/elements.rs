//! Elements of the page in Firefox: finds them, calls functions on them, and sends input to them.

use super::keys::{key_source, pointer_source};
use super::page::{FirefoxPage, lock};
use crate::browser::driver::LOST_FOCUS;
use crate::browser::frame::{Element, Frame};
use crate::browser::keystroke::Keystroke;
use crate::browser::page_watch::PageError;
use serde_json::{Value, json};

/// Calls a function on an element.
const CALL: &str = "
    const element = store.elements.get(args[0]);
    if (!element?.isConnected) return 'gone';
    const called = (FUNCTION).apply(element, JSON.parse(args[1]));
    return JSON.stringify([called ?? null]);";

/// Finds the first element that a CSS selector matches.
const FIND: &str = "
    const found = document.querySelector(args[0]);
    return found ? numberOf(found) : 0;";

const INSERT_TEXT: &str = "function(text) {
    return document.execCommand('insertText', false, text) ? 'ok' : 'error:the field does not take this text';
}";

impl FirefoxPage {
    /// Finds the first element of the page itself that a CSS selector matches.
    pub async fn find_by_selector(&self, selector: &str) -> Result<Element, PageError> {
        self.refresh().await?;
        let frame = self.main_frame();
        let found = self.run_in(&frame, FIND, &[json!(selector)]).await.map_err(|error| match error {
            PageError::Lost => PageError::Lost,
            PageError::Failed(_) => {
                PageError::failed("The target is neither a reference such as e1 nor a CSS selector.")
            }
        })?;
        match found["value"].as_i64().unwrap_or(0) {
            0 => Err(PageError::failed("No element of the page matches the target.")),
            node => Ok(Element { frame, node }),
        }
    }

    /// Returns the element of the whole document of the page.
    pub async fn find_root(&self) -> Result<Element, PageError> {
        self.find_by_selector(":root").await
    }

    /// Calls a function on an element and returns its result. A text after `error:` is an error.
    pub async fn call_function(
        &self,
        element: &Element,
        function: &str,
        arguments: &[Value],
    ) -> Result<Value, PageError> {
        let gone = || PageError::failed("The element is no longer on the page.");
        let body = CALL.replace("FUNCTION", function);
        let arguments = json!(arguments).to_string();
        let called = self.run_in(&element.frame, &body, &[json!(element.node), json!(arguments)]).await;
        let called = called.map_err(|error| match error {
            PageError::Failed(text) if text.starts_with("The browser refused") => gone(),
            error => error,
        })?;
        let text = called["value"].as_str().unwrap_or_default();
        let Ok([value]) = serde_json::from_str::<[Value; 1]>(text) else { return Err(gone()) };
        match value.as_str().and_then(|text| text.strip_prefix("error:")) {
            Some(error) => Err(PageError::Failed(format!("This is not possible: {error}."))),
            None => Ok(value),
        }
    }

    /// Scrolls an element into view, moves the pointer to its middle and presses the left button there `clicks` times.
    pub async fn click(&self, element: &Element, clicks: u32) -> Result<(), PageError> {
        let middle = self.find_middle(element).await?;
        self.perform(&element.frame, &pointer_source(middle, clicks)).await
    }

    /// Checks that keys go to the document of the element.
    pub async fn check_focus(&self, element: &Element) -> Result<(), PageError> {
        let frames = lock(&self.frames).clone();
        match self.find_focused_frame(&frames).await? {
            Some(frame) if frame.document == element.frame.document => Ok(()),
            Some(_) | None => Err(PageError::failed(LOST_FOCUS)),
        }
    }

    /// Presses and releases a key in the frame of an element, or in the one that has the focus.
    pub async fn press(&self, key: &Keystroke, focused: Option<&Element>) -> Result<(), PageError> {
        let source = key_source(key).ok_or_else(|| PageError::failed("Firefox cannot press this key."))?;
        let frame = match focused {
            Some(element) => element.frame.clone(),
            None => {
                let frames = lock(&self.frames).clone();
                let unknown = || PageError::failed("The frame that has the focus does not answer.");
                self.find_focused_frame(&frames).await?.ok_or_else(unknown)?
            }
        };
        self.perform(&frame, &source).await
    }

    /// Enters a text in the element, which has the focus, in place of what is selected.
    pub async fn insert_text(&self, element: &Element, text: &str) -> Result<(), PageError> {
        self.call_function(element, INSERT_TEXT, &[json!(text)]).await.map(drop)
    }

    async fn perform(&self, frame: &Frame, source: &Value) -> Result<(), PageError> {
        self.send("input.performActions", json!({ "context": frame.id, "actions": [source] })).await.map(drop)
    }

    /// Returns a picture of the visible part of the page, in Base64.
    pub async fn take_picture(&self) -> Result<String, PageError> {
        let captured = self.send_to_page("browsingContext.captureScreenshot", json!({ "origin": "viewport" })).await?;
        Ok(captured["data"].as_str().unwrap_or_default().to_owned())
    }
}
