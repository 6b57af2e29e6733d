//! Firefox as a driver.

use super::page::FirefoxPage;
use crate::browser::driver::Driver;
use crate::browser::frame::{Element, Frame, FrameContent};
use crate::browser::keystroke::Keystroke;
use crate::browser::page_watch::{HistoryEntry, LoadStage, PageError, PageWatch};
use crate::browser::snapshot::References;
use crate::web::target::Target;
use async_trait::async_trait;
use reqwest::Url;
use serde_json::{Value, json};
use std::sync::Arc;

#[async_trait]
impl Driver for FirefoxPage {
    fn watch(&self) -> &PageWatch {
        &self.watch
    }

    async fn refresh(&self) -> Result<(), PageError> {
        self.refresh().await
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
        self.send_to_page("browsingContext.reload", json!({ "wait": "none" })).await.map(drop)
    }

    async fn read_history(&self) -> Result<[Option<HistoryEntry>; 2], PageError> {
        Ok(self.read_history())
    }

    async fn open_history_entry(&self, entry: &HistoryEntry) -> Result<(), PageError> {
        self.open_history_entry(entry).await
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
        Ok(self.find_rectangle(element).await?.is_some())
    }

    async fn scroll_into_view(&self, element: &Element) -> Result<(), PageError> {
        self.scroll_into_view(element).await
    }

    async fn click(&self, element: &Element, clicks: u32) -> Result<(), PageError> {
        self.click(element, clicks).await
    }

    async fn check_focus(&self, element: &Element) -> Result<(), PageError> {
        self.check_focus(element).await
    }

    async fn press(&self, key: &Keystroke, focused: Option<&Element>) -> Result<(), PageError> {
        self.press(key, focused).await
    }

    async fn insert_text(&self, element: &Element, text: &str) -> Result<(), PageError> {
        self.insert_text(element, text).await
    }

    async fn take_picture(&self) -> Result<String, PageError> {
        self.take_picture().await
    }

    async fn find_labels(&self, references: &References) -> Result<Vec<Value>, PageError> {
        self.find_labels(references).await
    }
}
