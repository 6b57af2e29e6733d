//! Lifetime and rendering of toasts.

use super::*;
use crate::tui::tests::buffer_text;
use insta::assert_snapshot;

impl Toasts {
    pub(in crate::tui) fn is_empty(&self) -> bool {
        self.list.is_empty()
    }
}

fn seconds_after_start(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

/// Returns an area of this size as text, without trailing blanks.
fn screen_text(toasts: &Toasts, width: u16, height: u16) -> String {
    let area = Rect::new(0, 0, width, height);
    let mut buffer = Buffer::empty(area);
    toasts.draw(area, &mut buffer, &Theme::without_colours());
    buffer_text(&buffer)
}

#[test]
fn the_newest_toast_is_first_and_long_text_wraps() {
    let mut toasts = Toasts::default();
    toasts.push(Kind::Info, "copied 12 lines", seconds_after_start(0));
    toasts.push(
        Kind::Error,
        "the session could not be saved: the disk is full. Nothing was lost",
        seconds_after_start(1),
    );
    assert_snapshot!(screen_text(&toasts, 40, 5), @r"
    ▌ the session could not be saved: the
    ▌ disk is full. Nothing was lost
    ▌ copied 12 lines
    ");
    assert_snapshot!(screen_text(&toasts, 80, 4), @r"
    ▌ the session could not be saved: the disk is full. Nothing was lost
    ▌ copied 12 lines
    ");
    // `fit_rows` returns the number of drawn toasts and their height.
    assert_eq!((toasts.fit_rows(40, 9), toasts.fit_rows(80, 9)), ((2, 3), (2, 2)));
    // An older toast is not cut, and the newest one only if it has no room.
    assert_eq!((toasts.fit_rows(40, 2), toasts.fit_rows(40, 1), toasts.fit_rows(40, 0)), ((1, 2), (1, 1), (0, 0)));
}

#[test]
fn text_without_room_ends_with_an_ellipsis() {
    let mut toasts = Toasts::default();
    toasts.push(Kind::Warning, "one two three four five six", seconds_after_start(0));
    assert_snapshot!(screen_text(&toasts, 12, 2), @r"
    ▌ one two
    ▌ three …
    ");
}

#[test]
fn longer_text_stays_longer_up_to_a_limit() {
    let visible_time = |text: &str| {
        let mut toasts = Toasts::default();
        toasts.push(Kind::Info, text, seconds_after_start(10));
        toasts.next_expiry().unwrap() - seconds_after_start(10)
    };
    assert!(visible_time("copied") < visible_time("copied the whole of the last reply"));
    assert!(visible_time("x") >= MIN_TIME && visible_time(&"x".repeat(5000)) == MAX_TIME);
}

#[test]
fn toasts_time_out_and_errors_wait_for_a_key() {
    let mut toasts = Toasts::default();
    toasts.push(Kind::Info, "copied", seconds_after_start(0));
    toasts.push(Kind::Error, "the disk is full", seconds_after_start(0));
    assert!(toasts.remove_expired(seconds_after_start(30)));
    assert_eq!((toasts.list.len(), toasts.next_expiry()), (1, None));
    assert!(!toasts.remove_expired(seconds_after_start(3000)));
    assert!(toasts.dismiss_read_errors(Rect::new(0, 0, 80, 9), seconds_after_start(3001)) && toasts.is_empty());
}

#[test]
fn a_key_pressed_too_early_does_not_dismiss_an_error() {
    let mut toasts = Toasts::default();
    toasts.push(Kind::Error, "the disk is full", seconds_after_start(10));
    assert!(!toasts.dismiss_read_errors(Rect::new(0, 0, 80, 9), seconds_after_start(11)) && !toasts.is_empty());
    assert!(toasts.dismiss_read_errors(Rect::new(0, 0, 80, 9), seconds_after_start(12)));
}

#[test]
fn two_toasts_are_shown_and_every_error_is_read() {
    let mut toasts = Toasts::default();
    for number in 1..=3 {
        toasts.push(Kind::Error, &format!("danger {number}"), seconds_after_start(0));
    }
    toasts.push(Kind::Info, "copied", seconds_after_start(0));
    assert_eq!(screen_text(&toasts, 20, 5).matches('▌').count(), 2);
    // Only “danger 3” was visible so far: the other two become visible now.
    toasts.remove_expired(seconds_after_start(30));
    toasts.dismiss_read_errors(Rect::new(0, 0, 80, 9), seconds_after_start(30));
    assert!(screen_text(&toasts, 20, 5).contains("danger 1"));
    assert!(!toasts.dismiss_read_errors(Rect::new(0, 0, 80, 9), seconds_after_start(31)));
    assert!(toasts.dismiss_read_errors(Rect::new(0, 0, 80, 9), seconds_after_start(32)) && toasts.is_empty());
}

#[test]
fn a_repeated_text_moves_to_the_front() {
    let mut toasts = Toasts::default();
    toasts.push(Kind::Info, "copied", seconds_after_start(0));
    toasts.push(Kind::Info, "saved", seconds_after_start(1));
    toasts.push(Kind::Info, "copied", seconds_after_start(2));
    assert_eq!(toasts.list.iter().map(|toast| toast.text.as_str()).collect::<Vec<_>>(), ["copied", "saved"]);
}

#[test]
fn r32_r34_outside_text_is_sanitized_at_every_size() {
    let mut toasts = Toasts::default();
    toasts.push(Kind::Warning, "漢字\x1b[2J 👩\u{200d}👧 \u{202e}\nkept", seconds_after_start(0));
    for (width, height) in (1..30).flat_map(|width| (1..5).map(move |height| (width, height))) {
        assert!(!screen_text(&toasts, width, height).contains(['\x1b', '\u{202e}']));
    }
    assert!(screen_text(&toasts, 40, 3).contains("kept"));
}

#[test]
fn only_errors_and_saved_settings_outlive_a_session() {
    let texts = |toasts: &Toasts| -> Vec<String> { toasts.list.iter().map(|toast| toast.text.clone()).collect() };
    let mut toasts = Toasts::default();
    toasts.push(Kind::Info, "copied", seconds_after_start(0));
    toasts.push(Kind::Setting, "kept: the model", seconds_after_start(1));
    toasts.remove_session_toasts(seconds_after_start(2));
    assert_eq!(texts(&toasts), ["kept: the model"]);
    toasts.push(Kind::Error, "not saved", seconds_after_start(3));
    toasts.remove_session_toasts(seconds_after_start(4));
    assert_eq!(texts(&toasts), ["not saved", "kept: the model"]);
    assert!(toasts.remove_expired(seconds_after_start(30_000)));
    assert_eq!(texts(&toasts), ["not saved"]);
}

#[test]
fn text_is_cut_between_words_unless_the_first_word_is_too_long() {
    for (text, cells, expected) in [
        ("begins with make test", 21, "begins with make test"),
        ("begins with make test", 20, "begins with make"),
        ("begins with make test", 17, "begins with make"),
        ("begins with make test", 16, "begins with make"),
        ("begins with make test", 15, "begins with"),
        ("begins", 4, "begi"),
        ("漢字 漢字", 8, "漢字"),
        ("漢字", 3, "漢"),
        ("", 3, ""),
        ("a b", 0, ""),
    ] {
        assert_eq!(cut_between_words(text, cells), expected, "{text:?}, {cells}");
    }
}
