//! Tests of the composer's keys.

mod drawing;
mod folding;
mod history;

use super::*;
use crate::tui::tests::{buffer_text, key};
use crate::tui::theme::Theme;
use insta::assert_snapshot;
use proptest::prelude::*;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

/// Creates a composer with this text and the cursor at the `|`.
fn composer_with(text: &str) -> Composer {
    let mut composer = Composer::new("write a message");
    composer.width.set(40);
    let (before, after) = text.split_once('|').unwrap();
    composer.set(before);
    composer.insert(after);
    for _ in after.chars() {
        let cursor = composer.folded_text().1;
        if cursor > before.len() {
            composer.draft.move_left();
        }
    }
    composer
}

/// Returns the text with a `|` at the cursor and the labels of folded pastes.
fn text_with_cursor(composer: &Composer) -> String {
    let (mut text, cursor) = composer.folded_text();
    text.insert(cursor, '|');
    let label_or_char = |c| composer.draft.get_paste(c).map_or(String::from(c), pastes::paste_label);
    text.chars().map(label_or_char).collect()
}

/// Presses keys given as chords, as in the settings, separated by blanks. Returns the result of the last one.
fn press_keys(composer: &mut Composer, chords: &str) -> KeyResult {
    let keys = Keymap::default();
    chords.split(' ').fold(KeyResult::PassedOn, |_, chord| composer.handle_key(&key(chord), &keys))
}

#[track_caller]
fn assert_keys(before: &str, chords: &str, after: &str) {
    let mut composer = composer_with(before);
    assert_eq!(text_with_cursor(&composer), before, "the text before");
    press_keys(&mut composer, chords);
    assert_eq!(text_with_cursor(&composer), after, "{before} {chords}");
}

/// Draws a composer with the focus. Returns the buffer and the position of the cursor.
fn draw_composer(composer: &Composer, width: u16, height: u16) -> (Buffer, Option<ratatui::layout::Position>) {
    let area = Rect::new(0, 0, width, height);
    let mut buffer = Buffer::empty(area);
    let cursor = composer.draw(area, &mut buffer, &Theme::without_colours(), true, "");
    (buffer, cursor)
}

/// Returns the composer as text at this width and with at most `max_rows` rows, with `█` at the cursor.
fn screen_text(composer: &Composer, width: u16, max_rows: u16) -> String {
    let height = composer.preferred_height(width, max_rows);
    let (mut buffer, cursor) = draw_composer(composer, width, height);
    if let Some(cursor) = cursor {
        buffer[cursor].set_symbol("█");
    }
    buffer_text(&buffer)
}

#[test]
fn characters_are_inserted_at_the_cursor() {
    assert_keys("|", "h i", "hi|");
    assert_keys("a|c", "b", "ab|c");
    assert_keys("|", "A ? / @ 漢", "A?/@漢|");
    assert_keys("a|", "shift-b", "aB|");
    assert_keys("e|", "\u{301}", "e\u{301}|");
}

#[test]
fn alt_d_deletes_to_the_end_of_the_next_word_and_at_the_end_of_a_line_to_the_next() {
    for (before, after) in [
        ("one| two", "one|"),
        ("one|\ntwo", "one|two"),
        ("one|..\ntwo", "one|two"),
        ("one |  \n two", "one | two"),
        ("one|e\u{301}, two", "one|, two"),
        ("one|..", "one|"),
        ("one|", "one|"),
    ] {
        assert_keys(before, "alt-d", after);
        for restore in ["ctrl-_", "ctrl-y"] {
            let mut composer = composer_with(before);
            press_keys(&mut composer, &format!("alt-d {restore}"));
            assert_eq!(composer.folded_text().0, before.replace('|', ""), "{before:?} {restore}");
        }
    }
}

#[test]
fn the_blank_after_a_completed_name_gives_way_to_punctuation_that_is_typed_next() {
    for (typed, expected) in [
        (": 2 - 5", "see @a.rs:2-5|"),
        (".", "see @a.rs.|"),
        (", space o k", "see @a.rs, ok|"),
        ("x", "see @a.rs x|"),
        ("\"", "see @a.rs \"|"),
        ("x :", "see @a.rs x:|"),
        ("backspace space :", "see @a.rs :|"),
        ("left right :", "see @a.rs :|"),
    ] {
        let mut composer = composer_with("see @a|");
        composer.replace(4..6, "@a.rs ");
        press_keys(&mut composer, typed);
        assert_eq!(text_with_cursor(&composer), expected, "{typed}");
    }
    // What is typed very fast arrives like a paste.
    let mut composer = composer_with("see @a|");
    composer.replace(4..6, "@a.rs ");
    composer.paste(":2-5");
    assert_eq!(text_with_cursor(&composer), "see @a.rs:2-5|");
}

#[test]
fn a_chord_with_the_super_key_is_not_text() {
    let mut composer = composer_with("a|");
    let super_v = KeyEvent::new(KeyCode::Char('v'), KeyModifiers::SUPER);
    assert_eq!(composer.handle_key(&super_v, &Keymap::default()), KeyResult::PassedOn);
    let alt_gr = KeyEvent::new(KeyCode::Char('€'), KeyModifiers::CONTROL | KeyModifiers::ALT);
    assert_eq!(composer.handle_key(&alt_gr, &Keymap::default()), KeyResult::Handled);
    assert_eq!(text_with_cursor(&composer), "a€|");
}

#[test]
fn keys_without_text_insert_nothing() {
    for chord in ["alt-j", "ctrl-x", "esc", "ctrl-g", "shift-tab"] {
        let mut composer = composer_with("a|");
        assert_eq!(press_keys(&mut composer, chord), KeyResult::PassedOn, "{chord}");
        assert_eq!(text_with_cursor(&composer), "a|");
    }
}

#[test]
fn the_readline_keys_keep_their_meaning() {
    assert_keys("one two|", "ctrl-a", "|one two");
    assert_keys("|one two", "ctrl-e", "one two|");
    assert_keys("one| two", "ctrl-k", "one|");
    assert_keys("one| two", "ctrl-u", "| two");
    assert_keys("one two|", "ctrl-w", "one |");
    assert_keys("one two|", "ctrl-w ctrl-y ctrl-y", "one twotwo|");
    assert_keys("one two|", "ctrl-w x backspace ctrl-y", "one two|");
    assert_keys("one two|", "alt-b", "one |two");
    assert_keys("|one two", "alt-f", "one| two");
    assert_keys("one| two", "alt-d", "one|");
    assert_keys("one| two", "alt-d ctrl-y", "one two|");
    assert_keys("one two|", "ctrl-left ctrl-left", "|one two");
    assert_keys("|one two", "ctrl-right ctrl-right", "one two|");
    assert_keys("ab|", "ctrl-b", "a|b");
    assert_keys("a|b", "ctrl-d", "a|");
    assert_keys("ab|", "ctrl-h", "a|");
    assert_keys("teh|", "ctrl-t", "the|");
    assert_keys("a\n|b", "ctrl-u", "a|b");
}

#[test]
fn r34_editing_keys_work_on_whole_graphemes() {
    let family = "👩\u{200d}👩\u{200d}👧";
    assert_keys(&format!("a{family}|"), "backspace", "a|");
    assert_keys(&format!("a{family}|b"), "left", &format!("a|{family}b"));
    assert_keys(&format!("a|{family}b"), "right", &format!("a{family}|b"));
    assert_keys(&format!("a|{family}b"), "delete", "a|b");
    assert_keys("cafe\u{301}|", "backspace", "caf|");
    assert_keys("🇩🇪🇫🇷|", "backspace", "🇩🇪|");
    assert_keys("漢字|", "left backspace", "|字");
    assert_keys("e\u{301}x|", "ctrl-t", "xe\u{301}|");
}

#[test]
fn three_keys_break_a_line_and_deletion_joins_it() {
    assert_keys("a|b", "shift-enter", "a\n|b");
    assert_keys("a|b", "alt-enter", "a\n|b");
    assert_keys("a|b", "ctrl-j", "a\n|b");
    assert_keys("a\n|b", "backspace", "a|b");
    assert_keys("a|\nb", "delete", "a|b");
    assert_keys("a\n|b", "left", "a|\nb");
}

#[test]
fn undo_and_redo_restore_the_text() {
    assert_keys("|", "a b ctrl-_", "a|");
    assert_keys("|", "a b ctrl-_ ctrl-_ alt-z", "a|");
    assert_keys("👩\u{200d}👧|", "backspace ctrl-_", "👩\u{200d}👧|");
    assert_keys("one two|", "ctrl-w ctrl-_", "one two|");
    assert_keys("a|", "b delete ctrl-_", "a|");
    assert_keys("a|", "b alt-d ctrl-k ctrl-_", "a|");
}

#[test]
fn a_replacement_in_one_step_is_undone_and_redone_at_once() {
    let mut composer = composer_with("see |");
    composer.paste("/a/b\n/c");
    press_keys(&mut composer, "x");
    composer.replace_in_one_step(4..11, "@b @c");
    assert_eq!(text_with_cursor(&composer), "see @b @cx|");
    press_keys(&mut composer, "ctrl-_");
    assert_eq!(composer.text(), "see /a/b\n/cx");
    press_keys(&mut composer, "alt-z");
    assert_eq!(composer.text(), "see @b @cx");
    press_keys(&mut composer, "ctrl-_ ctrl-_ ctrl-_");
    assert_eq!(composer.text(), "see ");
}

#[test]
fn up_and_down_move_by_screen_rows() {
    let text = "twelve words that are long enough to be wrapped to rows";
    let mut composer = composer_with(&format!("{text}|"));
    assert_eq!(composer.preferred_height(40, 10), 2);
    press_keys(&mut composer, "up");
    let (_, cursor) = composer.folded_text();
    assert!(cursor < 36, "not in the first row: {cursor}");
    press_keys(&mut composer, "down");
    assert_eq!(text_with_cursor(&composer), format!("{text}|"));
    assert_keys("abc\nd\nef|g", "up up", "ab|c\nd\nefg");
    assert_keys("ab|c", "up", "|abc");
    assert_keys("ab|c", "down", "abc|");
}

#[test]
fn enter_sends_text_but_never_blanks() {
    assert_eq!(press_keys(&mut composer_with("hi|"), "enter"), KeyResult::Send);
    assert_eq!(press_keys(&mut composer_with(" \n |"), "enter"), KeyResult::PassedOn);
    assert_eq!(press_keys(&mut composer_with("|"), "enter"), KeyResult::PassedOn);
    let mut composer = composer_with("a\nb|");
    assert_eq!(composer.take_text(), "a\nb");
    assert!(composer.is_empty() && composer.text().is_empty());
}

#[test]
fn an_empty_composer_passes_keys_on() {
    for chord in ["?", "ctrl-d", "down", "up"] {
        assert_eq!(press_keys(&mut composer_with("|"), chord), KeyResult::PassedOn, "{chord}");
    }
    assert_eq!(press_keys(&mut composer_with("a|"), "?"), KeyResult::Handled);
    assert_eq!(press_keys(&mut composer_with("a|"), "ctrl-d"), KeyResult::Handled);
}

fn numbered_lines(count: usize) -> String {
    (1..=count).map(|line| format!("line {line}")).collect::<Vec<_>>().join("\n")
}

#[test]
fn a_range_is_replaced_in_place() {
    let mut composer = composer_with("one\nsee @ma|x y");
    composer.replace(8..12, "@src/main.rs ");
    assert_eq!(text_with_cursor(&composer), "one\nsee @src/main.rs | y");
    composer.replace(500..600, "z");
    assert_eq!(text_with_cursor(&composer), "one\nsee @src/main.rs | y");
}

use history::composer_with_history;

const EDITS: &str = "left|right|home|end|backspace|delete|ctrl-w|ctrl-k|ctrl-u|ctrl-y|ctrl-t|alt-d|ctrl-j|alt-v";

const CHORDS: &str = "up|down|left|right|home|end|backspace|delete|space|ctrl-w|ctrl-k|ctrl-u|ctrl-y|ctrl-t\
    |alt-b|alt-f|alt-d|ctrl-_|alt-z|ctrl-j|ctrl-r|esc|enter|alt-v|[a-z漢é]";

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn r34_no_key_paste_or_size_causes_a_panic(
        steps in prop::collection::vec((CHORDS, "((\\PC|[\n\t\u{200d}\u{301}👩\u{1b}]){1,5})?", 1u16..50, 1u16..6), 0..40),
        long in prop::bool::weighted(0.2),
    ) {
        let mut composer = composer_with_history("|");
        for (chord, pasted, width, height) in &steps {
            press_keys(&mut composer, chord);
            composer.paste(pasted);
            if long {
                composer.paste(&numbered_lines(9));
            }
            composer.preferred_height(*width, *height);
            let (buffer, cursor) = draw_composer(&composer, *width, *height);
            prop_assert!(buffer.area.contains(cursor.unwrap()));
            let (text, offset) = composer.folded_text();
            prop_assert!(text.is_char_boundary(offset));
        }
    }

    #[test]
    fn everything_can_be_undone_and_redone(
        steps in prop::collection::vec((EDITS, "[a-c \n漢]{0,3}"), 0..30),
        long in prop::bool::weighted(0.2),
    ) {
        let mut composer = composer_with("|");
        for (chord, pasted) in &steps {
            composer.paste(pasted);
            if long {
                composer.paste(&numbered_lines(9));
            }
            press_keys(&mut composer, chord);
        }
        let whole = composer.text();
        // More presses than needed: no element of `steps` adds more than five undo steps.
        let press_count = steps.len() * 5 + 1;
        press_keys(&mut composer, &vec!["ctrl-_"; press_count].join(" "));
        prop_assert_eq!(composer.text(), "");
        press_keys(&mut composer, &vec!["alt-z"; press_count].join(" "));
        prop_assert_eq!(composer.text(), whole);
    }

    #[test]
    fn r03_typed_text_is_sent_unchanged(
        typed in "([!-~]|[äé漢字]|\u{301}|👩|\u{200d}|\u{100000}){0,40}",
        width in 1u16..30,
    ) {
        let mut composer = composer_with("x|");
        let keys = Keymap::default();
        for character in typed.chars() {
            prop_assert_eq!(
                composer.handle_key(&KeyEvent::from(KeyCode::Char(character)), &keys),
                KeyResult::Handled
            );
            draw_composer(&composer, width, 2);
        }
        prop_assert_eq!(composer.take_text(), format!("x{typed}"));
    }

    #[test]
    fn r03_pasted_text_is_sent_unchanged(
        pieces in prop::collection::vec("[ -~\t\n漢é👩\u{200d}\u{202e}\u{100001}]{0,60}", 0..6),
        extra_lines in 0usize..20,
    ) {
        let mut composer = composer_with("|");
        let mut whole = String::new();
        for piece in &pieces {
            let piece = format!("{piece}{}", "\nline".repeat(extra_lines));
            composer.paste(&piece);
            whole.push_str(&piece);
        }
        prop_assert_eq!(composer.text(), whole);
    }
}
