//! The key that sent a message, usually Enter. While it is held down, it must not answer the prompt that follows.
//!
//! A keyboard starts to repeat a key after a pause, so a repeat can be the first event a prompt receives after half a
//! second of quiet. Most terminals do not report when a key is released, and report a repeat like any press.

use super::QUIET_TIME;
use crate::tui::keys::Chord;
use std::time::Duration;

/// A prompt that appears within this time after a send may receive repeats of a key that is still held.
const SUSPECT_TIME: Duration = Duration::from_secs(2);
/// A held key repeats at equal intervals. Presses whose intervals differ by at most this, or by a fifth, may be
/// repeats.
const INTERVAL_TOLERANCE: Duration = Duration::from_millis(60);

/// Number of presses at equal intervals that are ignored. After them, a user may press at equal intervals.
const IGNORED_PRESSES: usize = 3;

/// Classification of a key press for a prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Press {
    /// An answer, as far as can be determined.
    Deliberate,
    /// Not an answer, but the next press is.
    Arms,
    /// Possibly a repeat of the held key.
    Held,
}

/// State of the key that sent the last message.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HeldKey {
    /// Last key and the time it was pressed.
    last_press: Option<(Chord, Duration)>,
    /// Time between the last two presses, if they were of the same key.
    interval: Option<Duration>,
    sent: Option<SentMessage>,
}

/// A message that a key sent.
#[derive(Debug, Clone, PartialEq, Eq)]
struct SentMessage {
    chord: Chord,
    time: Duration,
    /// True if the terminal reported that the key was released.
    is_released: bool,
    /// True after a press was classified as [`Press::Arms`]: the next deliberate press answers.
    is_armed: bool,
    /// Presses at equal intervals since it was armed.
    even_presses: usize,
}

impl HeldKey {
    /// Records that the last key sent a message.
    pub fn record_send(&mut self, now: Duration) {
        self.sent = self.last_press.as_ref().map(|(chord, _)| SentMessage {
            chord: *chord,
            time: now,
            is_released: false,
            is_armed: false,
            even_presses: 0,
        });
    }

    /// Records that the terminal reported a release of this key.
    pub fn record_release(&mut self, chord: Chord) {
        if let Some(sent) = self.sent.as_mut().filter(|sent| sent.chord == chord) {
            sent.is_released = true;
        }
    }

    /// Records a press and classifies it for a prompt that was first drawn at `first_drawn`. Pass `None` if no prompt
    /// would receive the press.
    pub fn classify_press(&mut self, chord: Chord, first_drawn: Option<Duration>, now: Duration) -> Press {
        let interval =
            self.last_press.filter(|(previous, _)| *previous == chord).map(|(_, time)| now.saturating_sub(time));
        let previous_interval = std::mem::replace(&mut self.interval, interval);
        self.last_press = Some((chord, now));
        if let Some(sent) = self.sent.as_mut().filter(|sent| sent.chord != chord) {
            // A keyboard repeats only the key that went down last.
            sent.is_released = true;
        }
        let (Some(first_drawn), Some(sent)) = (first_drawn, &mut self.sent) else { return Press::Deliberate };
        let is_soon = first_drawn <= sent.time.saturating_add(SUSPECT_TIME);
        if sent.is_released || !is_soon {
            return Press::Deliberate;
        }
        if interval.is_some_and(|interval| interval < QUIET_TIME) {
            return Press::Held;
        }
        let is_even = |(a, b): (Duration, Duration)| a.abs_diff(b) <= INTERVAL_TOLERANCE.max(a.max(b) / 5);
        if sent.is_armed && sent.even_presses < IGNORED_PRESSES && interval.zip(previous_interval).is_some_and(is_even)
        {
            sent.even_presses += 1;
            return Press::Held;
        }
        if std::mem::replace(&mut sent.is_armed, true) { Press::Deliberate } else { Press::Arms }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(n: u64) -> Duration {
        Duration::from_millis(n)
    }

    fn enter_chord() -> Chord {
        "enter".parse().unwrap()
    }

    /// A state in which Enter sent a message at 10 s.
    fn sent_with_enter() -> HeldKey {
        let mut key = HeldKey::default();
        assert_eq!(key.classify_press(enter_chord(), None, ms(10_000)), Press::Deliberate);
        key.record_send(ms(10_000));
        key
    }

    #[test]
    fn r03_a_key_held_since_sending_never_answers_at_any_repeat_rate() {
        for pause in (200..=1_500).step_by(50) {
            for interval in [15, 33, 100, 250, 470, 550, 600, 1_000, 1_500].into_iter().chain([pause]) {
                for drawn_after in [50, 300, 900, 1_900] {
                    let mut key = sent_with_enter();
                    let mut press_time = 10_000 + pause;
                    // Four slow repeats, or many quick ones.
                    for n in 0..if interval < 500 { 200 } else { 4 } {
                        // A busy machine reads keys a little early or late.
                        let now = ms(press_time + n % 3 * 10);
                        let first_drawn = Some(ms(10_000 + drawn_after)).filter(|time| *time <= now);
                        let press = key.classify_press(enter_chord(), first_drawn, now);
                        // The interval before the second press is compared with the pause. If they differ, the press
                        // passes for a deliberate one.
                        let is_allowed = first_drawn.is_some() && n == 1 && interval >= 500 && interval != pause;
                        assert!(
                            press != Press::Deliberate || first_drawn.is_none() || is_allowed,
                            "{pause} {interval} {n}"
                        );
                        press_time += interval;
                    }
                }
            }
        }
    }

    #[test]
    fn r03_the_second_deliberate_press_answers() {
        let mut key = sent_with_enter();
        let first_drawn = Some(ms(10_100));
        assert_eq!(key.classify_press(enter_chord(), first_drawn, ms(13_000)), Press::Arms);
        assert_eq!(key.classify_press(enter_chord(), first_drawn, ms(13_300)), Press::Held);
        assert_eq!(key.classify_press(enter_chord(), first_drawn, ms(14_500)), Press::Deliberate);
        // The next prompt of the same turn needs no further press.
        assert_eq!(key.classify_press(enter_chord(), Some(ms(15_000)), ms(18_000)), Press::Deliberate);
    }

    #[test]
    fn r03_other_keys_later_prompts_and_released_keys_answer_at_once() {
        let first_drawn = Some(ms(10_100));
        assert_eq!(sent_with_enter().classify_press("1".parse().unwrap(), first_drawn, ms(11_000)), Press::Deliberate);
        assert_eq!(sent_with_enter().classify_press(enter_chord(), Some(ms(12_001)), ms(13_000)), Press::Deliberate);
        assert_eq!(HeldKey::default().classify_press(enter_chord(), first_drawn, ms(11_000)), Press::Deliberate);
        let mut key = sent_with_enter();
        key.record_release(enter_chord());
        assert_eq!(key.classify_press(enter_chord(), first_drawn, ms(11_000)), Press::Deliberate);
        let mut key = sent_with_enter();
        assert_eq!(key.classify_press("x".parse().unwrap(), None, ms(10_500)), Press::Deliberate);
        assert_eq!(key.classify_press(enter_chord(), first_drawn, ms(11_500)), Press::Deliberate);
        let mut key = sent_with_enter();
        key.record_release("tab".parse().unwrap());
        assert_eq!(key.classify_press(enter_chord(), first_drawn, ms(11_000)), Press::Arms);
    }
}
