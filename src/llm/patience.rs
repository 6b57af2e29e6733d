//! How long a service is waited for, and the person's word that it was long enough.

use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;
use tokio::time::Instant;

/// Where nobody is there, a service that asks for a longer wait than this is not waited for.
pub const ALONE: Duration = Duration::from_secs(60);
/// Where a person sees the wait and can end it, it may be this long.
pub const WATCHED: Duration = Duration::from_secs(3600);

/// How all requests to one service wait. Clones are the same patience: one word hurries them all.
#[derive(Debug, Clone)]
pub struct Patience {
    /// The longest silence before and within a reply.
    pub idle: Duration,
    /// The longest wait that a service may ask for.
    pub longest: Duration,
    hurry: Arc<watch::Sender<u64>>,
    clock: fn() -> Duration,
}

impl Patience {
    /// A patience with these limits.
    pub fn new(idle: Duration, longest: Duration) -> Self {
        Self { idle, longest, hurry: Arc::default(), clock: since_boot }
    }

    /// The same by another clock, which need not agree with the timers.
    #[cfg(test)]
    pub fn by(self, clock: fn() -> Duration) -> Self {
        Self { clock, ..self }
    }

    /// Whether a person sees the waits.
    pub fn is_watched(&self) -> bool {
        self.longest > ALONE
    }

    /// Ends every wait that is under way.
    pub fn hurry(&self) {
        self.hurry.send_modify(|count| *count += 1);
    }

    /// A wait that begins now.
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

/// A wait under way.
#[derive(Debug)]
pub struct Wait {
    length: Duration,
    began: Instant,
    clock: fn() -> Duration,
    clock_began: Duration,
    /// So long the machine slept, as far as it was told.
    asleep: Duration,
    hurry: watch::Receiver<u64>,
}

/// Timers stand still while the machine sleeps, so the clock is looked at this often.
const LOOK: Duration = Duration::from_secs(1);
/// A difference this small between timers and clock is no sleep.
const NAP: Duration = Duration::from_secs(2);

impl Wait {
    /// Waits to the end: never shorter, but where the person hurries it. What comes back is what is left where the
    /// machine slept meanwhile, so that this can be said; the wait then goes on with the next call.
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
                    // Nobody can hurry it any more.
                    Err(_) => tokio::time::sleep(left.min(LOOK)).await,
                },
            }
        }
    }
}

/// A clock that goes on while the machine sleeps. What it counts from does not matter.
fn since_boot() -> Duration {
    // Apple's own monotonic clock counts sleep; the one of the other systems does not.
    #[cfg(any(target_os = "linux", target_os = "android"))]
    let id = rustix::time::ClockId::Boottime;
    #[cfg(not(any(target_os = "linux", target_os = "android")))]
    let id = rustix::time::ClockId::Monotonic;
    let time = rustix::time::clock_gettime(id);
    let seconds = u64::try_from(time.tv_sec).unwrap_or_default();
    Duration::new(seconds, u32::try_from(time.tv_nsec).unwrap_or_default())
}

/// When a service was last heard, be it with a sign of life that is no part of a reply.
#[derive(Debug, Clone)]
pub struct Pulse(Arc<watch::Sender<Instant>>);

impl Pulse {
    /// Heard now.
    pub(super) fn heard() -> Self {
        Self(Arc::new(watch::Sender::new(Instant::now())))
    }

    /// Something came.
    pub fn beats(&self) {
        self.0.send_replace(Instant::now());
    }

    /// Waits until the service was silent for half of this limit: since when. Where that `was_said` already, waits
    /// until it is heard again, and gives zero.
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
                // The sender is `self`: it cannot be gone.
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

    /// The timers' own time, and as much more as the machine slept.
    fn woken() -> Duration {
        Duration::from_secs(SLEPT.load(Ordering::SeqCst))
    }

    #[tokio::test(start_paused = true)]
    async fn r49_a_wait_counts_the_time_that_the_machine_slept() {
        let patience = Patience::new(Duration::from_secs(90), WATCHED).by(woken);
        let began = Instant::now();
        let mut wait = patience.wait(Duration::from_secs(3000));
        let slept = async {
            tokio::time::sleep(Duration::from_millis(100_500)).await;
            SLEPT.store(2000, Ordering::SeqCst);
        };
        let (left, ()) = tokio::join!(wait.sit_out(), slept);
        let left = left.expect("the wait is announced anew");
        assert_eq!((left.as_secs(), began.elapsed().as_secs()), (1000, 101));
        SLEPT.store(3000, Ordering::SeqCst);
        assert_eq!(wait.sit_out().await, None, "the lid was closed until the wait was over");
        assert_eq!(began.elapsed().as_secs(), 101);
    }

    #[tokio::test(start_paused = true)]
    async fn r49_a_word_that_comes_before_the_wait_is_begun_is_not_lost_and_one_for_another_wait_does_not_count()
     {
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
    fn the_clock_goes() {
        let before = since_boot();
        assert!(before > Duration::ZERO && since_boot() >= before);
    }

    #[tokio::test(start_paused = true)]
    async fn silence_is_told_at_half_of_its_limit_and_again_when_it_ends() {
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
