//! Tests of the composer's keys.

mod folding;
mod history;
mod looks;

use super::*;
use crate::tui::parts::picture::picture;
use crate::tui::theme::Theme;
use insta::assert_snapshot;
use proptest::prelude::*;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

/// Creates a composer with this text and the cursor at the `|`.
fn holding(text: &str) -> Composer {
    let mut composer = Composer::new("write a message");
    composer.width.set(40);
    let (before, after) = text.split_once('|').unwrap();
    composer.set(before);
    composer.insert(after);
    for _ in after.chars() {
        let at = composer.written().1;
        if at > before.len() {
            composer.draft.left();
        }
    }
    composer
}

/// Returns the text with a `|` at the cursor and the labels of folded pastes.
fn held(composer: &Composer) -> String {
    let (mut text, at) = composer.written();
    text.insert(at, '|');
    let shown = |c| composer.draft.paste_of(c).map_or(String::from(c), pastes::label);
    text.chars().map(shown).collect()
}

/// Presses keys given as chords, as in the settings, separated by blanks.
fn press(composer: &mut Composer, pressed: &str) -> Pressed {
    let keys = Keymap::default();
    pressed.split(' ').fold(Pressed::Passed, |_, chord| composer.key(&key(chord), &keys))
}

fn key(chord: &str) -> KeyEvent {
    let mut held = KeyModifiers::NONE;
    let mut name = chord;
    for (word, modifier) in
        [("ctrl-", KeyModifiers::CONTROL), ("alt-", KeyModifiers::ALT), ("shift-", KeyModifiers::SHIFT)]
    {
        if let Some(rest) = name.strip_prefix(word) {
            (held, name) = (held | modifier, rest);
        }
    }
    let code = match name {
        "enter" => KeyCode::Enter,
        "esc" => KeyCode::Esc,
        "up" => KeyCode::Up,
        "down" => KeyCode::Down,
        "left" => KeyCode::Left,
        "right" => KeyCode::Right,
        "home" => KeyCode::Home,
        "end" => KeyCode::End,
        "backspace" => KeyCode::Backspace,
        "delete" => KeyCode::Delete,
        "space" => KeyCode::Char(' '),
        letter => KeyCode::Char(letter.chars().next().unwrap()),
    };
    KeyEvent::new(code, held)
}

#[track_caller]
fn check(before: &str, pressed: &str, after: &str) {
    let mut composer = holding(before);
    assert_eq!(held(&composer), before, "the text before");
    press(&mut composer, pressed);
    assert_eq!(held(&composer), after, "{before} {pressed}");
}

fn drawn(composer: &Composer, width: u16, height: u16) -> (Buffer, Option<ratatui::layout::Position>) {
    let area = Rect::new(0, 0, width, height);
    let mut buffer = Buffer::empty(area);
    let cursor = composer.view(area, &mut buffer, &Theme::plain(), true);
    (buffer, cursor)
}

/// Draws the composer at this width, with `█` at the cursor.
fn shows(composer: &Composer, width: u16, max: u16) -> String {
    let height = composer.height(width, max);
    let (mut buffer, cursor) = drawn(composer, width, height);
    if let Some(cursor) = cursor {
        buffer[cursor].set_symbol("█");
    }
    picture(&buffer)
}

#[test]
fn characters_are_inserted_at_the_cursor() {
    check("|", "h i", "hi|");
    check("a|c", "b", "ab|c");
    check("|", "A ? / @ 漢", "A?/@漢|");
    check("a|", "shift-b", "aB|");
    check("e|", "\u{301}", "e\u{301}|");
}

#[test]
fn a_chord_with_the_super_key_is_not_text() {
    let mut composer = holding("a|");
    let pressed = KeyEvent::new(KeyCode::Char('v'), KeyModifiers::SUPER);
    assert_eq!(composer.key(&pressed, &Keymap::default()), Pressed::Passed);
    let alt_gr = KeyEvent::new(KeyCode::Char('€'), KeyModifiers::CONTROL | KeyModifiers::ALT);
    assert_eq!(composer.key(&alt_gr, &Keymap::default()), Pressed::Used);
    assert_eq!(held(&composer), "a€|");
}

#[test]
fn keys_without_text_insert_nothing() {
    for pressed in ["alt-j", "ctrl-x", "esc", "ctrl-g", "shift-tab"] {
        let mut composer = holding("a|");
        if pressed != "shift-tab" {
            assert_eq!(press(&mut composer, pressed), Pressed::Passed, "{pressed}");
        }
        assert_eq!(held(&composer), "a|");
    }
}

#[test]
fn the_readline_keys_keep_their_meaning() {
    check("one two|", "ctrl-a", "|one two");
    check("|one two", "ctrl-e", "one two|");
    check("one| two", "ctrl-k", "one|");
    check("one| two", "ctrl-u", "| two");
    check("one two|", "ctrl-w", "one |");
    check("one two|", "ctrl-w ctrl-y ctrl-y", "one twotwo|");
    check("one two|", "ctrl-w x backspace ctrl-y", "one two|");
    check("one two|", "alt-b", "one |two");
    check("|one two", "alt-f", "one| two");
    check("one| two", "alt-d", "one|");
    check("one| two", "alt-d ctrl-y", "one two|");
    check("one two|", "ctrl-left ctrl-left", "|one two");
    check("|one two", "ctrl-right ctrl-right", "one two|");
    check("ab|", "ctrl-b", "a|b");
    check("a|b", "ctrl-d", "a|");
    check("ab|", "ctrl-h", "a|");
    check("teh|", "ctrl-t", "the|");
    check("a\n|b", "ctrl-u", "a|b");
}

#[test]
fn r34_editing_keys_work_on_whole_graphemes() {
    let family = "👩\u{200d}👩\u{200d}👧";
    check(&format!("a{family}|"), "backspace", "a|");
    check(&format!("a{family}|b"), "left", &format!("a|{family}b"));
    check(&format!("a|{family}b"), "right", &format!("a{family}|b"));
    check(&format!("a|{family}b"), "delete", "a|b");
    check("cafe\u{301}|", "backspace", "caf|");
    check("🇩🇪🇫🇷|", "backspace", "🇩🇪|");
    check("漢字|", "left backspace", "|字");
    check("e\u{301}x|", "ctrl-t", "xe\u{301}|");
}

#[test]
fn three_keys_break_a_line_and_deletion_joins_it() {
    check("a|b", "shift-enter", "a\n|b");
    check("a|b", "alt-enter", "a\n|b");
    check("a|b", "ctrl-j", "a\n|b");
    check("a\n|b", "backspace", "a|b");
    check("a|\nb", "delete", "a|b");
    check("a\n|b", "left", "a|\nb");
}

#[test]
fn undo_and_redo_restore_the_text() {
    check("|", "a b ctrl-_", "a|");
    check("|", "a b ctrl-_ ctrl-_ alt-z", "a|");
    check("👩\u{200d}👧|", "backspace ctrl-_", "👩\u{200d}👧|");
    check("one two|", "ctrl-w ctrl-_", "one two|");
    check("a|", "b delete ctrl-_", "a|");
    check("a|", "b alt-d ctrl-k ctrl-_", "a|");
}

#[test]
fn up_and_down_move_by_screen_rows() {
    let text = "twelve words that are long enough to be wrapped to rows";
    let mut composer = holding(&format!("{text}|"));
    assert_eq!(composer.height(40, 10), 2);
    press(&mut composer, "up");
    let (_, at) = composer.written();
    assert!(at < 36, "{at}");
    press(&mut composer, "down");
    assert_eq!(held(&composer), format!("{text}|"));
    check("abc\nd\nef|g", "up up", "ab|c\nd\nefg");
    check("ab|c", "up", "|abc");
    check("ab|c", "down", "abc|");
}

#[test]
fn enter_sends_text_but_never_blanks() {
    assert_eq!(press(&mut holding("hi|"), "enter"), Pressed::Send);
    assert_eq!(press(&mut holding(" \n |"), "enter"), Pressed::Passed);
    assert_eq!(press(&mut holding("|"), "enter"), Pressed::Passed);
    let mut composer = holding("a\nb|");
    assert_eq!(composer.take(), "a\nb");
    assert!(composer.is_empty() && composer.text().is_empty());
}

#[test]
fn an_empty_composer_passes_keys_on() {
    for pressed in ["?", "ctrl-d", "down", "up"] {
        assert_eq!(press(&mut holding("|"), pressed), Pressed::Passed, "{pressed}");
    }
    assert_eq!(press(&mut holding("a|"), "?"), Pressed::Used);
    assert_eq!(press(&mut holding("a|"), "ctrl-d"), Pressed::Used);
}

fn lines(count: usize) -> String {
    (1..=count).map(|line| format!("line {line}")).collect::<Vec<_>>().join("\n")
}

#[test]
fn a_range_is_replaced_in_place() {
    let mut composer = holding("one\nsee @ma|x y");
    composer.replace(8..12, "@src/main.rs ");
    assert_eq!(held(&composer), "one\nsee @src/main.rs | y");
    composer.replace(500..600, "z");
    assert_eq!(held(&composer), "one\nsee @src/main.rs | y");
}

use history::with_history;

const EDITS: &str =
    "left|right|home|end|backspace|delete|ctrl-w|ctrl-k|ctrl-u|ctrl-y|ctrl-t|alt-d|ctrl-j|alt-v";

const CHORDS: &str = "up|down|left|right|home|end|backspace|delete|space|ctrl-w|ctrl-k|ctrl-u|ctrl-y|ctrl-t\
    |alt-b|alt-f|alt-d|ctrl-_|alt-z|ctrl-j|ctrl-r|esc|enter|alt-v|[a-z漢é]";

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn r34_no_key_paste_or_size_causes_a_panic(
        steps in prop::collection::vec((CHORDS, "((\\PC|[\n\t\u{200d}\u{301}👩\u{1b}]){1,5})?", 1u16..50, 1u16..6), 0..40),
        long in prop::bool::weighted(0.2),
    ) {
        let mut composer = with_history("|");
        for (chord, pasted, width, height) in &steps {
            press(&mut composer, chord);
            composer.paste(pasted);
            if long {
                composer.paste(&lines(9));
            }
            composer.height(*width, *height);
            let (buffer, cursor) = drawn(&composer, *width, *height);
            prop_assert!(buffer.area.contains(cursor.unwrap()));
            composer.click(buffer.area, width / 2, height / 2);
            let (text, at) = composer.written();
            prop_assert!(text.is_char_boundary(at));
        }
    }

    #[test]
    fn everything_can_be_undone_and_redone(
        steps in prop::collection::vec((EDITS, "[a-c \n漢]{0,3}"), 0..30),
        long in prop::bool::weighted(0.2),
    ) {
        let mut composer = holding("|");
        for (chord, pasted) in &steps {
            composer.paste(pasted);
            if long {
                composer.paste(&lines(9));
            }
            press(&mut composer, chord);
        }
        let (whole, many) = (composer.text(), steps.len() * 5 + 1);
        press(&mut composer, &vec!["ctrl-_"; many].join(" "));
        prop_assert_eq!(composer.text(), "");
        press(&mut composer, &vec!["alt-z"; many].join(" "));
        prop_assert_eq!(composer.text(), whole);
    }

    #[test]
    fn r03_typed_text_is_sent_unchanged(
        typed in "([!-~]|[äé漢字]|\u{301}|👩|\u{200d}|\u{100000}){0,40}",
        width in 1u16..30,
    ) {
        let mut composer = holding("x|");
        let keys = Keymap::default();
        for letter in typed.chars() {
            prop_assert_eq!(
                composer.key(&KeyEvent::new(KeyCode::Char(letter), KeyModifiers::NONE), &keys),
                Pressed::Used
            );
            drawn(&composer, width, 2);
        }
        prop_assert_eq!(composer.take(), format!("x{typed}"));
    }

    #[test]
    fn r03_pasted_text_is_sent_unchanged(
        pieces in prop::collection::vec("[ -~\t\n漢é👩\u{200d}\u{202e}\u{100001}]{0,60}", 0..6),
        long in 0usize..20,
    ) {
        let mut composer = holding("|");
        let mut whole = String::new();
        for piece in &pieces {
            let piece = format!("{piece}{}", "\nline".repeat(long));
            composer.paste(&piece);
            whole.push_str(&piece);
        }
        prop_assert_eq!(composer.text(), whole);
    }
}
