//! Time limits for a provider, and waits that the user can end early.

use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;
use tokio::time::Instant;

/// Longest wait requested by a provider that is accepted if running headless.
pub const ALONE: Duration = Duration::from_secs(60);
/// Longest wait requested by a provider that is accepted if a user sees it and can end it.
pub const WATCHED: Duration = Duration::from_secs(3600);

/// Time limits of all requests to one provider. Clones share the same waits.
#[derive(Debug, Clone)]
pub struct Patience {
    /// Maximum time without data before and during a reply.
    pub idle: Duration,
    /// Longest wait that a provider may request.
    pub longest: Duration,
    hurry: Arc<watch::Sender<u64>>,
    clock: fn() -> Duration,
}

impl Patience {
    /// Creates time limits.
    pub fn new(idle: Duration, longest: Duration) -> Self {
        Self { idle, longest, hurry: Arc::default(), clock: since_boot }
    }

    /// Replaces the clock, which need not agree with the timers.
    #[cfg(test)]
    pub fn by(self, clock: fn() -> Duration) -> Self {
        Self { clock, ..self }
    }

    /// Returns whether a user sees the waits.
    pub fn is_watched(&self) -> bool {
        self.longest > ALONE
    }

    /// Ends all current waits.
    pub fn hurry(&self) {
        self.hurry.send_modify(|count| *count += 1);
    }

    /// Starts a wait.
    pub fn wait(&self, length: Duration) -> Wait {
        Wait {
            length,
            began: Instant::now(),
            clock: self.clock,
            clock_began: (self.clock)(),
            asleep: Duration::ZERO,
            hurry: self.hurry.subscribe(),
        }
    }
}

/// A wait in progress.
#[derive(Debug)]
pub struct Wait {
    length: Duration,
    began: Instant,
    clock: fn() -> Duration,
    clock_began: Duration,
    /// Time the machine has slept, as far as it was reported.
    asleep: Duration,
    hurry: watch::Receiver<u64>,
}

/// Interval for checking the clock, because timers stop while the machine sleeps.
const LOOK: Duration = Duration::from_secs(1);
/// Differences between timers and clock up to this are not counted as sleep.
const NAP: Duration = Duration::from_secs(2);

impl Wait {
    /// Waits until the end, or until the user ends the wait. If the machine slept meanwhile, returns the remaining time
    /// so that it can be displayed; the next call continues the wait.
    pub async fn sit_out(&mut self) -> Option<Duration> {
        loop {
            let timers = self.began.elapsed();
            let clock = (self.clock)().saturating_sub(self.clock_began);
            let left = self.length.saturating_sub(timers.max(clock));
            if left.is_zero() {
                return None;
            }
            let asleep = clock.saturating_sub(timers);
            if asleep > self.asleep + NAP {
                self.asleep = asleep;
                return Some(left);
            }
            tokio::select! {
                () = tokio::time::sleep(left.min(LOOK)) => {}
                hurried = self.hurry.changed() => match hurried {
                    Ok(()) => return None,
                    // The sender is gone, so the wait cannot be ended early.
                    Err(_) => tokio::time::sleep(left.min(LOOK)).await,
                },
            }
        }
    }
}

/// Returns the time of a clock that continues while the machine sleeps. Its epoch does not matter.
fn since_boot() -> Duration {
    // On Apple systems the monotonic clock includes sleep; on the others it does not.
    #[cfg(any(target_os = "linux", target_os = "android"))]
    let id = rustix::time::ClockId::Boottime;
    #[cfg(not(any(target_os = "linux", target_os = "android")))]
    let id = rustix::time::ClockId::Monotonic;
    let time = rustix::time::clock_gettime(id);
    let seconds = u64::try_from(time.tv_sec).unwrap_or_default();
    Duration::new(seconds, u32::try_from(time.tv_nsec).unwrap_or_default())
}

/// Time at which a provider last sent anything, including keep-alive data.
#[derive(Debug, Clone)]
pub struct Pulse(Arc<watch::Sender<Instant>>);

impl Pulse {
    /// Creates a pulse with a beat now.
    pub(super) fn heard() -> Self {
        Self(Arc::new(watch::Sender::new(Instant::now())))
    }

    /// Records that data arrived.
    pub fn beats(&self) {
        self.0.send_replace(Instant::now());
    }

    /// Waits until the provider was silent for half of `limit` and returns the length of the silence. If `was_said`,
    /// waits for data instead and returns zero.
    pub async fn falters(&self, limit: Duration, was_said: bool) -> Duration {
        let mut beats = self.0.subscribe();
        loop {
            let last = *beats.borrow_and_update();
            let due = async {
                match was_said {
                    true => std::future::pending().await,
                    false => tokio::time::sleep_until(last + limit / 2).await,
                }
            };
            tokio::select! {
                () = due => return last.elapsed(),
                // The sender is `self`, so it still exists.
                _ = beats.changed() => if was_said { return Duration::ZERO },
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU64, Ordering};

    static SLEPT: AtomicU64 = AtomicU64::new(0);

    /// Timer clock plus the time the machine slept.
    fn woken() -> Duration {
        Duration::from_secs(SLEPT.load(Ordering::SeqCst))
    }

    #[tokio::test(start_paused = true)]
    async fn r49_a_wait_includes_time_asleep() {
        let patience = Patience::new(Duration::from_secs(90), WATCHED).by(woken);
        let began = Instant::now();
        let mut wait = patience.wait(Duration::from_secs(3000));
        let slept = async {
            tokio::time::sleep(Duration::from_millis(100_500)).await;
            SLEPT.store(2000, Ordering::SeqCst);
        };
        let (left, ()) = tokio::join!(wait.sit_out(), slept);
        let left = left.expect("the remaining wait is reported");
        assert_eq!((left.as_secs(), began.elapsed().as_secs()), (1000, 101));
        SLEPT.store(3000, Ordering::SeqCst);
        assert_eq!(wait.sit_out().await, None, "the machine slept until the wait was over");
        assert_eq!(began.elapsed().as_secs(), 101);
    }

    #[tokio::test(start_paused = true)]
    async fn r49_hurry_ends_only_waits_that_were_already_created() {
        let patience = Patience::new(Duration::from_secs(90), WATCHED);
        patience.hurry();
        let began = Instant::now();
        let mut first = patience.wait(Duration::from_secs(10));
        assert_eq!((first.sit_out().await, began.elapsed().as_secs()), (None, 10));
        let mut second = patience.wait(Duration::from_secs(10));
        patience.clone().hurry();
        assert_eq!((second.sit_out().await, began.elapsed().as_secs()), (None, 10));
    }

    #[test]
    fn the_clock_advances() {
        let before = since_boot();
        assert!(before > Duration::ZERO && since_boot() >= before);
    }

    #[tokio::test(start_paused = true)]
    async fn silence_is_reported_at_half_its_limit_and_when_it_ends() {
        let pulse = Pulse::heard();
        let limit = Duration::from_secs(90);
        let signs = async {
            tokio::time::sleep(Duration::from_secs(30)).await;
            pulse.beats();
            tokio::time::sleep(Duration::from_secs(60)).await;
            pulse.beats();
        };
        let told = async {
            let began = Instant::now();
            let since = pulse.falters(limit, false).await;
            assert_eq!((since.as_secs(), began.elapsed().as_secs()), (45, 75));
            let since = pulse.falters(limit, true).await;
            assert_eq!((since.as_secs(), began.elapsed().as_secs()), (0, 90));
        };
        tokio::join!(signs, told);
    }
}
