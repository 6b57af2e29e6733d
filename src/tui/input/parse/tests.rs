//! Input of real terminals, whole and in pieces.

use super::*;
use crossterm::event::{KeyEventKind, KeyModifiers as M, MouseEvent};
use proptest::prelude::*;

fn key(code: KeyCode, modifiers: M) -> TerminalInput {
    TerminalInput::Key(KeyEvent::new(code, modifiers))
}

#[track_caller]
fn check_input(bytes: &str, expected: &[TerminalInput]) {
    assert_eq!(Parser::default().parse_bytes(bytes.as_bytes()), expected, "{bytes:?}");
    let mut parser = Parser::default();
    let in_pieces: Vec<TerminalInput> = bytes.bytes().flat_map(|byte| parser.parse_bytes(&[byte])).collect();
    assert_eq!(in_pieces, expected, "{bytes:?} byte by byte");
}

#[test]
fn parses_keys_of_the_legacy_and_the_new_protocol() {
    check_input("y", &[key(KeyCode::Char('y'), M::NONE)]);
    check_input("Y", &[key(KeyCode::Char('Y'), M::SHIFT)]);
    check_input("é漢", &[key(KeyCode::Char('é'), M::NONE), key(KeyCode::Char('漢'), M::NONE)]);
    check_input("\r", &[key(KeyCode::Enter, M::NONE)]);
    check_input("\n", &[key(KeyCode::Char('j'), M::CONTROL)]);
    check_input("\x03", &[key(KeyCode::Char('c'), M::CONTROL)]);
    check_input("\x1by", &[key(KeyCode::Char('y'), M::ALT)]);
    check_input("\x1b\r", &[key(KeyCode::Enter, M::ALT)]);
    check_input("\x1b[A", &[key(KeyCode::Up, M::NONE)]);
    check_input("\x1bOA", &[key(KeyCode::Up, M::NONE)]);
    check_input("\x1b[1;5A", &[key(KeyCode::Up, M::CONTROL)]);
    check_input("\x1b[5~", &[key(KeyCode::PageUp, M::NONE)]);
    check_input("\x1b[1;5H", &[key(KeyCode::Home, M::CONTROL)]);
    check_input("\x1b[Z", &[key(KeyCode::BackTab, M::SHIFT)]);
    check_input("\x1bOP", &[key(KeyCode::F(1), M::NONE)]);
    check_input("\x1b[24~", &[key(KeyCode::F(12), M::NONE)]);
    check_input("\x1b[27u", &[key(KeyCode::Esc, M::NONE)]);
    check_input("\x1b[13;2u", &[key(KeyCode::Enter, M::SHIFT)]);
    check_input("\x1b[27;2;13~", &[key(KeyCode::Enter, M::SHIFT)]);
    check_input("\x1b[99;5u", &[key(KeyCode::Char('c'), M::CONTROL)]);
    // Of all releases of keys, only that of Enter is used.
    check_input("\x1b[121;1:3u", &[]);
    let release_of_enter = KeyEvent { kind: KeyEventKind::Release, ..KeyEvent::new(KeyCode::Enter, M::NONE) };
    check_input("\x1b[13;1:3u", &[TerminalInput::Key(release_of_enter)]);
}

#[test]
fn paste_is_text_whatever_it_contains() {
    check_input(
        "\x1b[200~y\r\n\x1b[A\x1b[201~n",
        &[TerminalInput::Paste("y\n\x1b[A".into()), key(KeyCode::Char('n'), M::NONE)],
    );
}

/// An answer of a terminal about its clipboard, which holds `abc`.
const CLIPBOARD: &str = "\x1b]5522;type=read:status=OK\x1b\\\
    \x1b]5522;type=read:status=DATA:mime=dGV4dC9wbGFpbg==;YWJj\x1b\\\x1b]5522;type=read:status=DONE\x1b\\";

#[test]
fn the_terminals_clipboard_is_no_input() {
    let content = Some(Ok(TerminalClipboard::Text("abc".into())));
    check_input(&format!("x{CLIPBOARD}y"), &[key(KeyCode::Char('x'), M::NONE), key(KeyCode::Char('y'), M::NONE)]);
    let mut parser = Parser::default();
    for byte in CLIPBOARD.bytes() {
        assert_eq!((parser.parse_bytes(&[byte]), parser.take_clipboard()), (Vec::new(), None), "only at its end");
        if byte == b'E' {
            break;
        }
    }
    let mut parser = Parser::default();
    parser.parse_bytes(CLIPBOARD.as_bytes());
    assert_eq!((parser.take_clipboard(), parser.take_clipboard()), (content, None));
    // A packet as large as the protocol allows.
    let large = "QUJD".repeat(4096 / 3);
    let mut parser = Parser::default();
    assert_eq!(parser.parse_bytes(format!("{}{large}\x1b\\", &CLIPBOARD[..80]).as_bytes()), []);
    assert!(!parser.is_waiting());
}

/// Over a slow connection the rest of a part may come after the wait has ended. No byte of it may become a key, which could
/// answer a prompt.
#[test]
fn the_rest_of_a_part_that_came_too_late_is_no_input() {
    for at in 3..CLIPBOARD.find("\x1b\\").unwrap() + 1 {
        let mut parser = Parser::default();
        assert_eq!(parser.parse_bytes(&CLIPBOARD.as_bytes()[..at]), []);
        assert!(parser.is_receiving_clipboard());
        let mut inputs = parser.end_wait();
        for byte in CLIPBOARD[at..].bytes() {
            inputs.extend(parser.parse_bytes(&[byte]));
        }
        assert_eq!(inputs, [], "after {at} bytes");
        // A part of the answer is missing.
        assert_eq!(parser.take_clipboard(), Some(Err("the answer of the terminal is damaged".into())));
    }
    // Esc ends the wait for the rest, and so does each key that no part contains.
    for (bytes, expected) in [("yy\x1b[A", key(KeyCode::Up, M::NONE)), ("y\r", key(KeyCode::Enter, M::NONE))] {
        let mut parser = Parser::default();
        parser.parse_bytes(&CLIPBOARD.as_bytes()[..20]);
        parser.end_wait();
        assert_eq!(parser.parse_bytes(bytes.as_bytes()), [expected]);
        assert_eq!(parser.parse_bytes(b"y"), [key(KeyCode::Char('y'), M::NONE)]);
    }
}

#[test]
fn parses_mouse_and_focus() {
    check_input("\x1b[I\x1b[O", &[TerminalInput::FocusGained, TerminalInput::FocusLost]);
    let wheel = crossterm::event::MouseEventKind::ScrollUp;
    check_input(
        "\x1b[<64;3;4M",
        &[TerminalInput::Mouse(MouseEvent { kind: wheel, column: 2, row: 3, modifiers: M::NONE })],
    );
}

#[test]
fn answers_of_the_terminal_are_not_keys() {
    check_input("\x1b]11;rgb:0000/0000/0000\x1b\\", &[]);
    check_input("\x1b[?62;22c", &[]);
}

#[test]
fn r05_paste_without_end_does_not_block_the_keyboard() {
    let mut parser = Parser::default();
    assert_eq!(parser.parse_bytes(b"\x1b[200~abc"), []);
    assert!(parser.is_waiting());
    assert_eq!(parser.end_wait(), [TerminalInput::Paste("abc".into())]);
    assert_eq!(parser.parse_bytes(b"y"), [key(KeyCode::Char('y'), M::NONE)]);
}

#[test]
fn pieces_of_a_large_paste_cut_neither_a_character_nor_a_line_break() {
    for (unit, pasted_unit) in [("é", "é"), ("漢", "漢"), ("👩", "👩"), ("\r\n", "\n")] {
        for shift in 0..4 {
            let text = format!("{}{}", "x".repeat(shift), unit.repeat(PASTE_CHUNK / unit.len() + 100_000));
            let mut parser = Parser::default();
            // Cut at another offset each time, as reads from a terminal are.
            let bytes = format!("\x1b[200~{text}\x1b[201~").into_bytes();
            let inputs: Vec<TerminalInput> = bytes.chunks(65_537).flat_map(|read| parser.parse_bytes(read)).collect();
            assert!(inputs.len() > 1, "{unit:?} {shift}: {}", inputs.len());
            let pasted: String = inputs
                .into_iter()
                .map(|input| if let TerminalInput::Paste(text) = input { text } else { panic!("{input:?}") })
                .collect();
            assert!(pasted == text.replace(unit, pasted_unit), "{unit:?} {shift}: the paste changed");
        }
    }
}

#[test]
fn escape_without_more_bytes_is_the_esc_key() {
    let mut parser = Parser::default();
    assert_eq!(parser.parse_bytes(b"\x1b"), []);
    assert_eq!(parser.end_wait(), [key(KeyCode::Esc, M::NONE)]);
    assert!(!parser.is_waiting());
}

proptest! {
    #[test]
    fn any_bytes_are_accepted_and_leave_a_working_keyboard(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        let mut parser = Parser::default();
        parser.parse_bytes(&bytes);
        parser.end_wait();
        prop_assert_eq!(parser.parse_bytes(b"q"), [key(KeyCode::Char('q'), M::NONE)]);
    }
}
