//! The clock of the program, and ids that begin with its time. In a demo both are those of the script, so that every play shows the
//! same.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Time at which every demo begins: noon of the first day of 2026, in milliseconds since 1970.
const DEMO_START: u64 = 1_767_268_800_000;

/// The clock of a demo, in this process.
static DEMO: OnceLock<DemoClock> = OnceLock::new();

#[derive(Debug, Default)]
struct DemoClock {
    /// Milliseconds since the demo began.
    elapsed: AtomicU64,
    /// Ids so far.
    ids: AtomicU64,
}

/// Starts the clock of a demo again. From here on this process sees no other time.
pub fn start_demo() {
    let demo = DEMO.get_or_init(DemoClock::default);
    demo.elapsed.store(0, Ordering::Relaxed);
    demo.ids.store(0, Ordering::Relaxed);
}

/// Returns whether a demo runs in this process, which real waits would only delay.
pub fn is_demo() -> bool {
    DEMO.get().is_some()
}

/// Sets the time of a demo since it began. Without a demo this does nothing.
pub fn set_demo_time(elapsed: Duration) {
    if let Some(demo) = DEMO.get() {
        demo.elapsed.store(u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX), Ordering::Relaxed);
    }
}

/// Returns the time in milliseconds since 1970.
pub fn now_ms() -> u64 {
    match DEMO.get() {
        Some(demo) => DEMO_START.saturating_add(demo.elapsed.load(Ordering::Relaxed)),
        None => {
            let elapsed = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
            u64::try_from(elapsed.as_millis()).unwrap_or_default()
        }
    }
}

/// Returns the time.
pub fn now() -> jiff::Timestamp {
    let time = i64::try_from(now_ms()).ok().and_then(|ms| jiff::Timestamp::from_millisecond(ms).ok());
    time.unwrap_or_default()
}

/// Creates an id. Ids sort by the time at which they were created.
pub fn new_ulid() -> ulid::Ulid {
    match DEMO.get() {
        Some(demo) => {
            let number = demo.ids.fetch_add(1, Ordering::Relaxed) + 1;
            // Digits of all ids look alike; those of a counter would not.
            let random = u128::from(number).wrapping_mul(0x9e37_79b9_7f4a_7c15_f39c);
            ulid::Ulid::from_parts(now_ms(), random)
        }
        None => ulid::Ulid::new(),
    }
}
