//! Time limits for a provider, and waits that the user can end early. Time in which the machine sleeps counts on
//! Linux and on the systems of Apple, and does not count on other systems.

use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;
use tokio::time::Instant;

/// Longest wait requested by a provider that is accepted if running headless.
pub const HEADLESS_MAX_WAIT: Duration = Duration::from_secs(60);
/// Longest wait requested by a provider that is accepted if a user sees it and can end it.
pub const INTERACTIVE_MAX_WAIT: Duration = Duration::from_secs(3600);

/// Time limits of all requests to one provider. Clones share the same waits.
#[derive(Debug, Clone)]
pub struct Timeouts {
    /// Maximum time without data before and during a reply.
    pub idle_limit: Duration,
    /// Longest wait that a provider may request.
    pub longest_wait: Duration,
    end_waits: Arc<watch::Sender<u64>>,
    clock: fn() -> Duration,
}

impl Timeouts {
    /// Creates time limits.
    pub fn new(idle_limit: Duration, longest_wait: Duration) -> Self {
        Self { idle_limit, longest_wait, end_waits: Arc::default(), clock: boot_time }
    }

    /// Replaces the clock, which need not agree with the timers.
    #[cfg(test)]
    pub fn with_clock(self, clock: fn() -> Duration) -> Self {
        Self { clock, ..self }
    }

    /// Returns whether a user sees the waits.
    pub fn is_interactive(&self) -> bool {
        self.longest_wait > HEADLESS_MAX_WAIT
    }

    /// Ends all current waits.
    pub fn end_waits(&self) {
        self.end_waits.send_modify(|count| *count += 1);
    }

    /// Starts a wait.
    pub fn start_wait(&self, length: Duration) -> Wait {
        Wait {
            length,
            start: Instant::now(),
            clock: self.clock,
            clock_start: (self.clock)(),
            reported_sleep: Duration::ZERO,
            end_waits: self.end_waits.subscribe(),
        }
    }
}

/// A wait in progress.
#[derive(Debug)]
pub struct Wait {
    length: Duration,
    start: Instant,
    clock: fn() -> Duration,
    clock_start: Duration,
    /// Time the machine has slept, as far as it was reported.
    reported_sleep: Duration,
    end_waits: watch::Receiver<u64>,
}

/// Interval for checking the clock, because timers stop while the machine sleeps.
const CLOCK_INTERVAL: Duration = Duration::from_secs(1);
/// Differences between timers and clock up to this are not counted as sleep.
const MIN_SLEEP: Duration = Duration::from_secs(2);

impl Wait {
    /// Waits until the end, or until the user ends the wait. If the machine slept meanwhile, returns the remaining time
    /// so that it can be displayed; the next call continues the wait.
    pub async fn wait_to_end(&mut self) -> Option<Duration> {
        loop {
            let timer_elapsed = self.start.elapsed();
            let clock_elapsed = (self.clock)().saturating_sub(self.clock_start);
            let remaining = self.length.saturating_sub(timer_elapsed.max(clock_elapsed));
            if remaining.is_zero() {
                return None;
            }
            let time_asleep = clock_elapsed.saturating_sub(timer_elapsed);
            if time_asleep > self.reported_sleep + MIN_SLEEP {
                self.reported_sleep = time_asleep;
                return Some(remaining);
            }
            tokio::select! {
                () = tokio::time::sleep(remaining.min(CLOCK_INTERVAL)) => {}
                ended_early = self.end_waits.changed() => match ended_early {
                    Ok(()) => return None,
                    // The sender is gone, so the wait cannot be ended early.
                    Err(_) => tokio::time::sleep(remaining.min(CLOCK_INTERVAL)).await,
                },
            }
        }
    }
}

/// Returns the time of a clock that continues while the machine sleeps. Its epoch does not matter.
fn boot_time() -> Duration {
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
    pub(super) fn start_now() -> Self {
        Self(Arc::new(watch::Sender::new(Instant::now())))
    }

    /// Records that data arrived.
    pub fn record_beat(&self) {
        self.0.send_replace(Instant::now());
    }

    /// Waits until the provider was silent for half of `limit` and returns the length of the silence. If that
    /// silence was announced already (`is_announced`), waits for data instead and returns zero.
    pub async fn wait_for_silence(&self, limit: Duration, is_announced: bool) -> Duration {
        let mut beats = self.0.subscribe();
        loop {
            let last = *beats.borrow_and_update();
            let silence_due = async {
                match is_announced {
                    true => std::future::pending().await,
                    false => tokio::time::sleep_until(last + limit / 2).await,
                }
            };
            tokio::select! {
                () = silence_due => return last.elapsed(),
                // The sender is `self`, so it still exists.
                _ = beats.changed() => if is_announced { return Duration::ZERO },
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU64, Ordering};

    static SLEPT: AtomicU64 = AtomicU64::new(0);

    /// Clock that advances only by the time the machine slept.
    fn clock_with_sleep() -> Duration {
        Duration::from_secs(SLEPT.load(Ordering::SeqCst))
    }

    #[tokio::test(start_paused = true)]
    async fn r49_a_wait_includes_time_asleep() {
        let timeouts = Timeouts::new(Duration::from_secs(90), INTERACTIVE_MAX_WAIT).with_clock(clock_with_sleep);
        let start = Instant::now();
        let mut wait = timeouts.start_wait(Duration::from_secs(3000));
        let sleep_machine = async {
            tokio::time::sleep(Duration::from_millis(100_500)).await;
            SLEPT.store(2000, Ordering::SeqCst);
        };
        let (remaining, ()) = tokio::join!(wait.wait_to_end(), sleep_machine);
        let remaining = remaining.expect("the remaining wait is reported");
        assert_eq!((remaining.as_secs(), start.elapsed().as_secs()), (1000, 101));
        SLEPT.store(3000, Ordering::SeqCst);
        assert_eq!(wait.wait_to_end().await, None, "the machine slept until the wait was over");
        assert_eq!(start.elapsed().as_secs(), 101);
    }

    #[tokio::test(start_paused = true)]
    async fn r49_ending_waits_ends_only_those_already_created() {
        let timeouts = Timeouts::new(Duration::from_secs(90), INTERACTIVE_MAX_WAIT);
        timeouts.end_waits();
        let start = Instant::now();
        let mut first = timeouts.start_wait(Duration::from_secs(10));
        assert_eq!((first.wait_to_end().await, start.elapsed().as_secs()), (None, 10));
        let mut second = timeouts.start_wait(Duration::from_secs(10));
        timeouts.clone().end_waits();
        assert_eq!((second.wait_to_end().await, start.elapsed().as_secs()), (None, 10));
    }

    #[test]
    fn the_clock_advances() {
        let earlier = boot_time();
        assert!(earlier > Duration::ZERO && boot_time() >= earlier);
    }

    #[tokio::test(start_paused = true)]
    async fn silence_is_reported_at_half_its_limit_and_when_it_ends() {
        let pulse = Pulse::start_now();
        let limit = Duration::from_secs(90);
        let send_beats = async {
            tokio::time::sleep(Duration::from_secs(30)).await;
            pulse.record_beat();
            tokio::time::sleep(Duration::from_secs(60)).await;
            pulse.record_beat();
        };
        let check_silence = async {
            let start = Instant::now();
            let silence = pulse.wait_for_silence(limit, false).await;
            assert_eq!((silence.as_secs(), start.elapsed().as_secs()), (45, 75));
            let silence = pulse.wait_for_silence(limit, true).await;
            assert_eq!((silence.as_secs(), start.elapsed().as_secs()), (0, 90));
        };
        tokio::join!(send_beats, check_silence);
    }
}
