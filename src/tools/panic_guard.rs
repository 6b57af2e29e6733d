//! Catches panics of a tool call, so that only that call fails.

use std::cell::Cell;
use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::task::Poll;

thread_local! {
    static IS_CAUGHT: Cell<bool> = const { Cell::new(false) };
}

/// Returns whether a panic of the current thread would be caught and reported to the model. The panic hook ignores such
/// a panic, because the program and its screen continue.
pub fn is_panic_caught() -> bool {
    IS_CAUGHT.get()
}

/// Runs `work`; `None` if it panics.
pub fn catch_panic<T>(work: impl FnOnce() -> T) -> Option<T> {
    let was_caught = IS_CAUGHT.replace(true);
    let result = catch_unwind(AssertUnwindSafe(work));
    IS_CAUGHT.set(was_caught);
    result.ok()
}

/// Like `catch_panic`, for a future. Dropping the returned future drops `work`.
pub async fn catch_panic_async<T>(work: impl Future<Output = T>) -> Option<T> {
    let mut work = pin!(work);
    poll_fn(|context| match catch_panic(|| work.as_mut().poll(context)) {
        None => Poll::Ready(None),
        Some(Poll::Ready(output)) => Poll::Ready(Some(output)),
        Some(Poll::Pending) => Poll::Pending,
    })
    .await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn catches_panics_of_sync_and_async_work() {
        assert_eq!(catch_panic(is_panic_caught), Some(true));
        assert!(!is_panic_caught());
        assert_eq!(catch_panic(|| -> u8 { panic!("caught") }), None);
        assert!(!is_panic_caught());
        let pausing = async {
            tokio::task::yield_now().await;
            // The flag is set again after the pause, so this assertion always panics.
            assert!(!is_panic_caught());
        };
        assert_eq!(catch_panic_async(pausing).await, None, "a panic after a pause is caught too");
        assert_eq!(catch_panic_async(async { 7 }).await, Some(7));
    }
}
