//! Lifetime and rendering of toasts.

use super::*;
use crate::tui::parts::picture::picture;
use insta::assert_snapshot;

fn at(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

/// Returns an area of this size as text, without trailing blanks.
fn shows(toasts: &Toasts, width: u16, height: u16) -> String {
    let area = Rect::new(0, 0, width, height);
    let mut buffer = Buffer::empty(area);
    toasts.view(area, &mut buffer, &Theme::plain());
    picture(&buffer)
}

#[test]
fn the_newest_toast_is_first_and_long_text_wraps() {
    let mut toasts = Toasts::default();
    toasts.push(Kind::Info, "copied 12 lines", at(0));
    toasts.push(Kind::Danger, "the session could not be saved: the disk is full. Nothing was lost", at(1));
    assert_snapshot!(shows(&toasts, 40, 5), @r"
    ▌ the session could not be saved: the
    ▌ disk is full. Nothing was lost
    ▌ copied 12 lines
    ");
    assert_snapshot!(shows(&toasts, 80, 4), @r"
    ▌ the session could not be saved: the disk is full. Nothing was lost
    ▌ copied 12 lines
    ");
    assert_eq!((toasts.height(40), toasts.height(80)), (3, 2));
}

#[test]
fn text_without_room_ends_with_an_ellipsis() {
    let mut toasts = Toasts::default();
    toasts.push(Kind::Warning, "one two three four five six", at(0));
    assert_snapshot!(shows(&toasts, 12, 2), @r"
    ▌ one two
    ▌ three …
    ");
}

#[test]
fn longer_text_stays_longer_up_to_a_limit() {
    let stays = |words: &str| {
        let mut toasts = Toasts::default();
        toasts.push(Kind::Info, words, at(10));
        toasts.next().unwrap() - at(10)
    };
    assert!(stays("copied") < stays("copied the whole of the last reply"));
    assert!(stays("x") >= LEAST && stays(&"x".repeat(5000)) == LONGEST);
}

#[test]
fn toasts_time_out_and_errors_wait_for_a_key() {
    let mut toasts = Toasts::default();
    toasts.push(Kind::Info, "copied", at(0));
    toasts.push(Kind::Danger, "the disk is full", at(0));
    assert!(toasts.tick(at(30)));
    assert_eq!((toasts.list.len(), toasts.next()), (1, None));
    assert!(!toasts.tick(at(3000)));
    assert!(toasts.key(at(3001)) && toasts.is_empty());
}

#[test]
fn a_key_pressed_too_early_does_not_dismiss_an_error() {
    let mut toasts = Toasts::default();
    toasts.push(Kind::Danger, "the disk is full", at(10));
    assert!(!toasts.key(at(11)) && !toasts.is_empty());
    assert!(toasts.key(at(12)));
}

#[test]
fn two_toasts_are_shown_and_every_error_is_read() {
    let mut toasts = Toasts::default();
    for number in 1..=3 {
        toasts.push(Kind::Danger, &format!("danger {number}"), at(0));
    }
    toasts.push(Kind::Info, "copied", at(0));
    assert_eq!(shows(&toasts, 20, 5).matches('▌').count(), 2);
    toasts.tick(at(30));
    toasts.key(at(30));
    assert!(shows(&toasts, 20, 5).contains("danger 1"));
    assert!(!toasts.key(at(31)));
    assert!(toasts.key(at(32)) && toasts.is_empty());
}

#[test]
fn a_repeated_text_moves_to_the_front() {
    let mut toasts = Toasts::default();
    toasts.push(Kind::Info, "copied", at(0));
    toasts.push(Kind::Info, "saved", at(1));
    toasts.push(Kind::Info, "copied", at(2));
    assert_eq!(toasts.list.iter().map(|toast| toast.words.as_str()).collect::<Vec<_>>(), ["copied", "saved"]);
}

#[test]
fn r32_r34_outside_text_is_sanitized_at_every_size() {
    let mut toasts = Toasts::default();
    toasts.push(Kind::Warning, "漢字\x1b[2J 👩\u{200d}👧 \u{202e}\nkept", at(0));
    for (width, height) in (1..30).flat_map(|width| (1..5).map(move |height| (width, height))) {
        assert!(!shows(&toasts, width, height).contains(['\x1b', '\u{202e}']));
    }
    assert!(shows(&toasts, 40, 3).contains("kept"));
}

#[test]
fn only_errors_and_saved_settings_outlive_a_session() {
    let rows =
        |toasts: &Toasts| -> Vec<String> { toasts.list.iter().map(|toast| toast.words.clone()).collect() };
    let mut toasts = Toasts::default();
    toasts.push(Kind::Info, "copied", at(0));
    toasts.push(Kind::Setting, "kept: the model", at(1));
    toasts.session_changes(at(2));
    assert_eq!(rows(&toasts), ["kept: the model"]);
    toasts.push(Kind::Danger, "not saved", at(3));
    toasts.session_changes(at(4));
    assert_eq!(rows(&toasts), ["not saved", "kept: the model"]);
    assert!(toasts.tick(at(30_000)));
    assert_eq!(rows(&toasts), ["not saved"]);
}
