//! Chromium as a driver.

use super::driver::{Driver, LOST_FOCUS};
use super::frame::{Element, Frame, FrameContent};
use super::keystroke::Keystroke;
use super::page::Page;
use super::page_watch::{HistoryEntry, LoadStage, PageError, PageWatch};
use super::snapshot::References;
use crate::web::target::Target;
use async_trait::async_trait;
use reqwest::Url;
use serde_json::{Value, json};
use std::sync::Arc;

const HAS_FOCUS: &str = "function() { return document.hasFocus(); }";

#[async_trait]
impl Driver for Page {
    fn watch(&self) -> &PageWatch {
        &self.watch
    }

    async fn refresh(&self) -> Result<(), PageError> {
        // Events tell everything.
        Ok(())
    }

    fn stop_loading(&self) {
        self.stop_loading();
    }

    async fn hangs(&self) -> bool {
        self.hangs().await
    }

    async fn open(&self, url: &Url, target: &Target, stage: LoadStage) -> Result<(), PageError> {
        self.open(url, target, stage).await
    }

    async fn leave(&self) -> Result<(), PageError> {
        self.leave().await
    }

    async fn reload(&self) -> Result<(), PageError> {
        self.send("Page.reload", json!({})).await.map(drop)
    }

    async fn read_history(&self) -> Result<[Option<HistoryEntry>; 2], PageError> {
        self.read_history().await
    }

    async fn open_history_entry(&self, entry: &HistoryEntry) -> Result<(), PageError> {
        self.send("Page.navigateToHistoryEntry", json!({ "entryId": entry.id })).await.map(drop)
    }

    async fn read_frames(&self) -> Result<Vec<Arc<Frame>>, PageError> {
        self.read_frames().await
    }

    async fn read_contents(&self, frames: &[Arc<Frame>]) -> Result<Vec<FrameContent>, PageError> {
        self.read_contents(frames).await
    }

    async fn find_focused_host(&self, frames: &[Arc<Frame>]) -> Result<Option<String>, PageError> {
        self.find_focused_host(frames).await
    }

    async fn find_by_selector(&self, selector: &str) -> Result<Element, PageError> {
        self.find_by_selector(selector).await
    }

    async fn find_root(&self) -> Result<Element, PageError> {
        self.find_root().await
    }

    async fn call_function(&self, element: &Element, function: &str, arguments: &[Value]) -> Result<Value, PageError> {
        self.call_function(element, function, arguments).await
    }

    async fn is_visible(&self, element: &Element) -> Result<bool, PageError> {
        let quads = self.send_about(element, "DOM.getContentQuads").await?;
        Ok(quads["quads"].as_array().is_some_and(|quads| !quads.is_empty()))
    }

    async fn scroll_into_view(&self, element: &Element) -> Result<(), PageError> {
        self.send_about(element, "DOM.scrollIntoViewIfNeeded").await.map(drop)
    }

    async fn click(&self, element: &Element, clicks: u32) -> Result<(), PageError> {
        self.click_at(self.find_middle(element).await?, clicks).await
    }

    async fn check_focus(&self, element: &Element) -> Result<(), PageError> {
        let has_focus = self.call_function(element, HAS_FOCUS, &[]).await? == true;
        if has_focus { Ok(()) } else { Err(PageError::failed(LOST_FOCUS)) }
    }

    async fn press(&self, key: &Keystroke, _focused: Option<&Element>) -> Result<(), PageError> {
        for event in key.to_events() {
            self.send("Input.dispatchKeyEvent", event).await?;
        }
        Ok(())
    }

    async fn insert_text(&self, _element: &Element, text: &str) -> Result<(), PageError> {
        self.send("Input.insertText", json!({ "text": text })).await.map(drop)
    }

    async fn take_picture(&self) -> Result<String, PageError> {
        self.take_picture().await
    }

    async fn find_labels(&self, references: &References) -> Result<Vec<Value>, PageError> {
        self.find_labels(references).await
    }
}
