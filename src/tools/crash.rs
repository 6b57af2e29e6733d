//! Catches panics of a tool call, so that only that call fails.

use std::cell::Cell;
use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::task::Poll;

thread_local! {
    static CONTAINED: Cell<bool> = const { Cell::new(false) };
}

/// Returns whether a panic of the current thread would be caught and reported to the model. The panic hook ignores such
/// a panic, because the program and its screen continue.
pub fn is_contained() -> bool {
    CONTAINED.get()
}

/// Runs `work`; `None` if it panics.
pub fn contain<T>(work: impl FnOnce() -> T) -> Option<T> {
    let before = CONTAINED.replace(true);
    let done = catch_unwind(AssertUnwindSafe(work));
    CONTAINED.set(before);
    done.ok()
}

/// Like `catch_panic`, for a future. Dropping it drops the work.
pub async fn contain_async<T>(work: impl Future<Output = T>) -> Option<T> {
    let mut work = pin!(work);
    poll_fn(|context| match contain(|| work.as_mut().poll(context)) {
        None => Poll::Ready(None),
        Some(Poll::Ready(done)) => Poll::Ready(Some(done)),
        Some(Poll::Pending) => Poll::Pending,
    })
    .await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn catches_panics_of_sync_and_async_work() {
        assert_eq!(contain(is_contained), Some(true));
        assert!(!is_contained());
        assert_eq!(contain(|| -> u8 { panic!("caught") }), None);
        assert!(!is_contained());
        let slow = async {
            tokio::task::yield_now().await;
            assert!(!is_contained(), "never true");
        };
        assert_eq!(contain_async(slow).await, None, "a panic after a pause is caught too");
        assert_eq!(contain_async(async { 7 }).await, Some(7));
    }
}
