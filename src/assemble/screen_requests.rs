//! Requests to the user on the screen, each with a number, that wait for an answer.

use crate::tui::host::HostReply;
use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use tokio::sync::{mpsc, oneshot};

/// The open requests of one kind.
pub(super) struct ScreenRequests<A> {
    screen: OnceLock<mpsc::Sender<HostReply>>,
    open: Mutex<HashMap<u64, oneshot::Sender<A>>>,
    last_id: AtomicU64,
    /// Replies that wait until the screen has room for them.
    late: Arc<Mutex<VecDeque<HostReply>>>,
    /// Held while the user is asked, so that one request after the other is on the screen.
    turn: tokio::sync::Mutex<()>,
    /// Returns the reply that closes the prompt with this number.
    withdraw: fn(u64) -> HostReply,
}

impl<A> ScreenRequests<A> {
    pub(super) fn new(withdraw: fn(u64) -> HostReply) -> Self {
        let (screen, open, turn) = (OnceLock::new(), Mutex::default(), tokio::sync::Mutex::default());
        Self { screen, open, last_id: AtomicU64::new(0), late: Arc::default(), turn, withdraw }
    }

    /// Shows the requests on this screen from now on.
    pub(super) fn set_screen(&self, replies: mpsc::Sender<HostReply>) {
        let _ = self.screen.set(replies);
    }

    /// Waits until no other request is handled. Dropping the guard lets the next one continue.
    pub(super) async fn take_turn(&self) -> tokio::sync::MutexGuard<'_, ()> {
        self.turn.lock().await
    }

    /// Passes on an answer. An answer to a request that was withdrawn is dropped.
    pub(super) fn answer(&self, id: u64, answer: A) {
        if let Some(waiting) = self.open().remove(&id) {
            let _ = waiting.send(answer);
        }
    }

    fn open(&self) -> MutexGuard<'_, HashMap<u64, oneshot::Sender<A>>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sends a reply to the screen, if there is one.
    pub(super) async fn send(&self, reply: HostReply) -> Option<()> {
        self.screen.get()?.send(reply).await.ok()
    }

    /// Shows a notice of one sentence, if there is a screen.
    pub(super) async fn warn(&self, notice: String) {
        self.send(HostReply::Notice(notice)).await.unwrap_or_default();
    }

    /// Sends a reply to the screen, if there is one, without waiting: the screen may be busy. Such replies keep their order.
    pub(super) fn send_later(&self, reply: HostReply) {
        let Some(screen) = self.screen.get().cloned() else { return };
        let late = self.late.clone();
        late.lock().unwrap_or_else(PoisonError::into_inner).push_back(reply);
        tokio::spawn(async move {
            let permit = screen.reserve().await;
            let mut late = late.lock().unwrap_or_else(PoisonError::into_inner);
            if let (Some(reply), Ok(permit)) = (late.pop_front(), permit) {
                permit.send(reply);
            }
        });
    }

    /// Shows the request of this number and waits for the answer; `None` if there is no screen. Dropping the future closes
    /// the prompt.
    pub(super) async fn ask(&self, show: impl FnOnce(u64) -> HostReply) -> Option<A> {
        let screen = self.screen.get()?;
        let id = self.last_id.fetch_add(1, Ordering::Relaxed);
        let (sender, answer) = oneshot::channel();
        self.open().insert(id, sender);
        let _withdrawal = Withdrawal { requests: self, id };
        screen.send(show(id)).await.ok()?;
        answer.await.ok()
    }
}

/// Withdraws a request that is still open when it is dropped.
struct Withdrawal<'a, A> {
    requests: &'a ScreenRequests<A>,
    id: u64,
}

impl<A> Drop for Withdrawal<'_, A> {
    fn drop(&mut self) {
        if self.requests.open().remove(&self.id).is_some() {
            self.requests.send_later((self.requests.withdraw)(self.id));
        }
    }
}
