//! Tests of folded pastes.

use super::*;
use rustix::time::{ClockId, clock_gettime};

#[test]
fn long_pastes_fold_and_are_sent_in_full() {
    let mut composer = composer_with("see | please");
    composer.paste(&numbered_lines(120));
    assert_eq!(text_with_cursor(&composer), "see [pasted 120 lines]| please");
    assert_eq!(composer.text(), format!("see {} please", numbered_lines(120)));
    composer.paste(&"x".repeat(1001));
    assert_eq!(text_with_cursor(&composer), "see [pasted 120 lines][pasted 1001 characters]| please");
    assert_eq!(composer.take_text(), format!("see {}{} please", numbered_lines(120), "x".repeat(1001)));
    let mut composer = composer_with("|");
    composer.paste(&numbered_lines(8));
    assert_eq!(text_with_cursor(&composer), format!("{}|", numbered_lines(8)));
}

#[test]
fn a_folded_paste_is_deleted_and_restored_as_one_character() {
    let mut composer = composer_with("a|b");
    composer.paste(&numbered_lines(120));
    press_keys(&mut composer, "backspace");
    assert_eq!(text_with_cursor(&composer), "a|b");
    press_keys(&mut composer, "ctrl-_");
    assert_eq!(composer.text(), format!("a{}b", numbered_lines(120)));
    press_keys(&mut composer, "left ctrl-k");
    assert_eq!(composer.take_text(), "a");
    press_keys(&mut composer, "ctrl-y");
    assert_eq!(composer.text(), format!("{}b", numbered_lines(120)));
}

#[test]
fn a_folded_paste_opens_in_place() {
    let mut composer = composer_with("a|b");
    composer.paste(&numbered_lines(9));
    press_keys(&mut composer, "ctrl-a");
    assert_eq!(press_keys(&mut composer, "alt-v"), KeyResult::Handled);
    assert_eq!(text_with_cursor(&composer), format!("a{}|b", numbered_lines(9)));
    assert_eq!(press_keys(&mut composer, "alt-v"), KeyResult::PassedOn);
}

#[test]
fn r32_a_paste_loses_only_control_characters() {
    let mut composer = composer_with("|");
    composer.paste("\tfn a() {\r\n\t\t1\r}\x1b[31m\x07 \x1b]0;title\x07x\u{200b}y\u{9b}2Jz\0");
    assert_eq!(composer.text(), "\tfn a() {\n\t\t1\n} x\u{200b}yz");
    let mut composer = composer_with("|");
    composer.paste("a\u{200b}b\u{202e}c");
    assert_eq!(composer.text(), "a\u{200b}b\u{202e}c");
    assert_snapshot!(screen_text(&composer, 40, 5), @r"
    ❯ a<U+200B>b<U+202E>c█
    ");
}

#[test]
fn no_character_is_mistaken_for_a_folded_paste() {
    let mut composer = composer_with("|");
    composer.paste(&numbered_lines(9));
    composer.paste("\u{100000}\u{100001}");
    composer.insert("\u{100000}");
    assert_eq!(composer.text(), format!("{}\u{100000}\u{100001}\u{100000}", numbered_lines(9)));
    let text = composer.take_text();
    composer.set(&text);
    assert_eq!(composer.text(), text);
}

#[test]
fn a_large_unfolded_paste_can_still_be_edited() {
    let mut composer = composer_with("|");
    composer.paste(&"some words of a long line ".repeat(4000));
    press_keys(&mut composer, "alt-v");
    let cpu_time = || clock_gettime(ClockId::ThreadCPUTime);
    let start = cpu_time();
    press_keys(&mut composer, "x up y");
    screen_text(&composer, 80, 10);
    assert!((cpu_time() - start).tv_sec < 10, "{:?}", cpu_time() - start);
    assert!(composer.text().ends_with("x") && composer.text().contains('y'));
}
