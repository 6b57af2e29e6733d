//! Times at which a prompt accepts answers.

use super::*;
use KeyReceiver::{Draft, Prompt, TextField};

fn ms(n: u64) -> Duration {
    Duration::from_millis(n)
}

fn chord(text: &str) -> Chord {
    text.parse().unwrap()
}

/// Checks what a prompt accepts at `now` if it was first drawn at `first_drawn` and another key was pressed at
/// `pressed`. Times are in milliseconds.
#[track_caller]
fn check_listening(
    first_drawn: Option<u64>,
    pressed: Option<u64>,
    receiver: KeyReceiver,
    now: u64,
    expected: Listening,
) {
    let mut presses = Presses::default();
    if let Some(pressed) = pressed {
        presses.record_other_press(ms(pressed));
    }
    assert_eq!(presses.listening_state(first_drawn.map(ms), receiver, ms(now)), expected);
}

#[test]
fn r03_a_prompt_accepts_answers_after_a_quiet_time_on_screen() {
    use Listening::{Ready, Unseen, Unsent, Until};
    check_listening(None, None, Prompt, 9_000, Unseen);
    check_listening(Some(1_000), None, Prompt, 1_000, Until(ms(1_500)));
    check_listening(Some(1_000), None, Prompt, 1_499, Until(ms(1_500)));
    check_listening(Some(1_000), None, Prompt, 1_500, Ready);
    check_listening(Some(1_000), Some(1_400), Prompt, 1_500, Until(ms(1_900)));
    check_listening(Some(1_000), Some(60_000), Prompt, 60_499, Until(ms(60_500)));
    check_listening(Some(1_000), Some(60_000), Prompt, 60_500, Ready);
    check_listening(Some(1_000), Some(100), Prompt, 1_499, Until(ms(1_500)));
    check_listening(Some(1_000), None, Draft, 9_000, Unsent);
}

#[test]
fn r05_fast_input_is_text_in_a_field_and_delays_a_prompt() {
    let mut presses = Presses::default();
    presses.record_fast_input(ms(2_000));
    let listening_at = |receiver, now| presses.listening_state(Some(ms(0)), receiver, ms(now));
    assert_eq!(listening_at(Prompt, 2_499), Listening::Until(ms(2_500)));
    assert_eq!(listening_at(Prompt, 2_500), Listening::Ready);
    assert_eq!(listening_at(TextField, 2_149), Listening::AfterFastInput(ms(2_150)));
    assert_eq!(listening_at(TextField, 2_150), Listening::Ready);
    let mut presses = presses.clone();
    presses.record_other_press(ms(2_100));
    let listening_at = |now| presses.listening_state(Some(ms(0)), TextField, ms(now));
    assert_eq!(
        (listening_at(2_599), listening_at(2_600)),
        (Listening::Until(ms(2_600)), Listening::Ready),
        "a click delays a text field as well"
    );
}

/// Deterministic pseudo-random numbers.
struct RandomNumbers(u64);

impl RandomNumbers {
    fn next_in_range(&mut self, from: u64, to: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        from + (self.0 >> 33) % (to - from)
    }
}

#[test]
fn r03_typing_ahead_never_answers_and_loses_no_character_in_200_trials() {
    let mut random = RandomNumbers(3);
    for trial in 0..200 {
        let first_drawn = ms(random.next_in_range(0, 3_000));
        let (mut now, mut composer, mut typed) = (ms(0), Vec::new(), Vec::new());
        let mut presses = Presses::default();
        while now < ms(5_000) {
            let key = chord(["y", "enter", "1", "space"][random.next_in_range(0, 4) as usize]);
            typed.push(key);
            let seen = (now >= first_drawn).then_some(first_drawn);
            if !presses.is_repeat_of_answer(key, now) && !presses.listening_state(seen, Prompt, now).is_listening() {
                presses.record_other_press(now);
                composer.push(key);
            }
            now += ms(random.next_in_range(30, 200));
        }
        assert_eq!(composer, typed, "trial {trial}");
    }
}

#[test]
fn r04_a_double_press_answers_one_prompt_in_200_trials() {
    let mut random = RandomNumbers(4);
    for trial in 0..200 {
        let mut presses = Presses::default();
        let first_press = ms(1_000);
        presses.record_answer(chord("y"), first_press);
        let second_press = first_press + ms(random.next_in_range(1, 500));
        assert!(presses.is_repeat_of_answer(chord("y"), second_press), "trial {trial}");
    }
}

#[test]
fn r04_a_key_held_for_three_seconds_answers_one_prompt() {
    let (mut presses, mut first_drawn, mut answers) = (Presses::default(), Some(ms(0)), 0);
    for now in (600..3_600).step_by(33).map(ms) {
        if presses.is_repeat_of_answer(chord("y"), now) {
            continue;
        }
        if presses.listening_state(first_drawn, Prompt, now).is_listening() {
            answers += 1;
            presses.record_answer(chord("y"), now);
            first_drawn = Some(now);
        }
    }
    assert_eq!(answers, 1);
}

#[test]
fn r04_a_gap_or_another_key_makes_the_same_key_a_new_press() {
    let mut presses = Presses::default();
    presses.record_answer(chord("y"), ms(0));
    assert!(!presses.clone().is_repeat_of_answer(chord("y"), ms(500)));
    assert!(!presses.is_repeat_of_answer(chord("x"), ms(100)));
    assert!(!presses.is_repeat_of_answer(chord("y"), ms(200)));
}

#[test]
fn r06_focusing_the_window_counts_as_a_press() {
    let mut presses = Presses::default();
    // `update` records the focus of the window in this way.
    presses.record_other_press(ms(9_000));
    assert_eq!(presses.listening_state(Some(ms(0)), Prompt, ms(9_100)), Listening::Until(ms(9_500)));
}
