//! The state of the page as its driver keeps it, and waiting for changes of it.

use super::page_state::PageState;
use super::pipe::CommandError;
use crate::web::target::PrivateHosts;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;
use tokio::time::timeout;

/// Width and height of the visible part of the page, in pixels.
pub const VISIBLE_SIZE: (u32, u32) = (1280, 800);

/// Time for which a loaded page is waited for until its network is idle.
const IDLE_TIME: Duration = Duration::from_secs(10);
/// Time after an action in which a navigation that it causes begins, and time for which its end is waited for.
const SETTLE_TIME: Duration = Duration::from_millis(250);
const LOAD_TIME: Duration = Duration::from_secs(10);

/// Why something could not be done with the page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PageError {
    /// The browser or its page has ended.
    Lost,
    /// For the model, as a sentence.
    Failed(String),
}

/// Stage of loading that is waited for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LoadStage {
    /// No request for half a second.
    #[default]
    NetworkIdle,
    Load,
    DomContentLoaded,
}

/// A page of the history.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HistoryEntry {
    /// Number by which the browser knows it.
    pub id: i64,
    pub url: String,
}

/// The state of a page, which the events of the browser change.
#[derive(Clone)]
pub struct PageWatch(Arc<watch::Sender<PageState>>);

impl From<CommandError> for PageError {
    fn from(error: CommandError) -> Self {
        match error {
            CommandError::Lost => Self::Lost,
            CommandError::Refused(reason) => Self::Failed(format!("The browser refused: {reason}.")),
        }
    }
}

impl PageError {
    pub fn failed(text: &str) -> Self {
        Self::Failed(text.to_owned())
    }
}

impl PageWatch {
    pub fn new(private_hosts: PrivateHosts) -> Self {
        Self(Arc::new(watch::Sender::new(PageState::new(private_hosts))))
    }

    /// Returns the state of the page now.
    pub fn state(&self) -> PageState {
        self.0.borrow().clone()
    }

    /// Returns what `read` returns for the state of the page now.
    pub fn read<T>(&self, read: impl FnOnce(&PageState) -> T) -> T {
        read(&self.0.borrow())
    }

    /// Changes the state, and returns what `change` returns.
    pub fn modify<T>(&self, change: impl FnOnce(&mut PageState) -> T) -> T {
        let mut returned = None;
        self.0.send_modify(|state| returned = Some(change(state)));
        // `send_modify` calls its argument exactly once.
        returned.expect("the state was changed")
    }

    /// Adds a note to the result of the call.
    pub fn add_note(&self, note: &str) {
        self.modify(|state| state.add_note(note));
    }

    /// Returns whether the browser or its page has ended.
    pub fn has_ended(&self) -> bool {
        self.read(|state| state.is_gone)
    }

    /// Waits until the state meets the condition.
    pub async fn wait_until(&self, condition: impl Fn(&PageState) -> bool) -> Result<(), PageError> {
        match self.0.subscribe().wait_for(|state| state.is_gone || condition(state)).await {
            Ok(state) if !state.is_gone => Ok(()),
            Ok(_) | Err(_) => Err(PageError::Lost),
        }
    }

    /// Waits until the document has reached the stage. A page that is never idle is waited for at most `IDLE_TIME`.
    pub async fn wait_for_stage(&self, stage: LoadStage) -> Result<(), PageError> {
        if stage == LoadStage::DomContentLoaded {
            return Ok(());
        }
        self.wait_until(|state| state.has_reached("load") || !state.is_loading).await?;
        if stage == LoadStage::NetworkIdle {
            match timeout(IDLE_TIME, self.wait_until(|state| state.has_reached("networkIdle"))).await {
                Ok(reached) => reached?,
                Err(_) => self.add_note(&format!("The page was still loading after {} s.", IDLE_TIME.as_secs())),
            }
        }
        Ok(())
    }

    /// Waits for what an action causes: a navigation, if one begins, and the changes of the page.
    pub async fn settle(&self) -> Result<(), PageError> {
        for _ in 0..3 {
            tokio::time::sleep(SETTLE_TIME).await;
            if self.has_ended() {
                return Err(PageError::Lost);
            }
            if !self.read(|state| state.is_loading) {
                return Ok(());
            }
            match timeout(LOAD_TIME, self.wait_until(|state| !state.is_loading)).await {
                Ok(stopped) => stopped?,
                Err(_) => {
                    self.add_note(&format!("The page was still loading after {} s.", LOAD_TIME.as_secs()));
                    return Ok(());
                }
            }
        }
        Ok(())
    }
}
