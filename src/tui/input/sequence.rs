//! Parses one key: a character, or an escape sequence of the legacy or the kitty protocol.

use crate::tui::terminal_clipboard::PACKET_START;
use crossterm::event::{
    Event as TerminalInput, KeyCode, KeyEvent, KeyEventKind, KeyModifiers, MouseButton, MouseEvent, MouseEventKind,
};

/// Code points of the two Enter keys.
const ENTER: [u32; 2] = [13, 57414];

/// Result of parsing the start of some bytes.
pub enum ParsedInput {
    /// A complete sequence: its length in bytes, and its meaning if any.
    Complete(usize, Option<Meaning>),
    /// The start of an incomplete sequence.
    Incomplete,
}

/// Meaning of a complete sequence.
pub enum Meaning {
    /// Input for the screen.
    Input(TerminalInput),
    /// Start of a bracketed paste.
    PasteStart,
    /// A part of what the terminal answers about its clipboard.
    ClipboardPacket,
}

fn key_input(code: KeyCode, modifiers: KeyModifiers) -> Option<Meaning> {
    Some(Meaning::Input(TerminalInput::Key(KeyEvent::new(code, modifiers))))
}

/// Parses the start of `bytes`, which is not empty.
pub fn parse_input(bytes: &[u8]) -> ParsedInput {
    match bytes[0] {
        0x1b => parse_escape(bytes),
        _ => parse_character(bytes, KeyModifiers::NONE, 0),
    }
}

fn parse_escape(bytes: &[u8]) -> ParsedInput {
    match bytes.get(1) {
        None => ParsedInput::Incomplete,
        Some(b'[') => parse_csi(bytes),
        Some(b'O') => match bytes.get(2) {
            None => ParsedInput::Incomplete,
            Some(&final_byte) => {
                ParsedInput::Complete(3, final_key(final_byte).and_then(|code| key_input(code, KeyModifiers::NONE)))
            }
        },
        // Answers of the terminal to other queries are dropped.
        Some(b']' | b'P' | b'_' | b'^') => parse_string(bytes),
        Some(0x1b) => match bytes.get(2) {
            None => ParsedInput::Incomplete,
            Some(_) => ParsedInput::Complete(1, key_input(KeyCode::Esc, KeyModifiers::NONE)),
        },
        Some(_) => parse_character(&bytes[1..], KeyModifiers::ALT, 1),
    }
}

/// Parses one character after a prefix of `prefix_length` bytes.
fn parse_character(bytes: &[u8], modifiers: KeyModifiers, prefix_length: usize) -> ParsedInput {
    let length = match bytes[0] {
        0..=0x7f => 1,
        0xc2..=0xdf => 2,
        0xe0..=0xef => 3,
        0xf0..=0xf4 => 4,
        _ => return ParsedInput::Complete(prefix_length + 1, None),
    };
    let Some(character) = bytes.get(..length) else { return ParsedInput::Incomplete };
    let Some(c) = std::str::from_utf8(character).ok().and_then(|text| text.chars().next()) else {
        return ParsedInput::Complete(prefix_length + 1, None);
    };
    let (code, implied) = match c {
        '\r' => (KeyCode::Enter, KeyModifiers::NONE),
        '\t' => (KeyCode::Tab, KeyModifiers::NONE),
        '\x7f' => (KeyCode::Backspace, KeyModifiers::NONE),
        '\0' => (KeyCode::Char(' '), KeyModifiers::CONTROL),
        '\x01'..='\x1a' => (KeyCode::Char(char::from(c as u8 + b'a' - 1)), KeyModifiers::CONTROL),
        '\x1c'..='\x1f' => (KeyCode::Char(char::from(c as u8 - 0x1c + b'4')), KeyModifiers::CONTROL),
        _ if c.is_uppercase() => (KeyCode::Char(c), KeyModifiers::SHIFT),
        _ => (KeyCode::Char(c), KeyModifiers::NONE),
    };
    ParsedInput::Complete(prefix_length + length, key_input(code, modifiers | implied))
}

/// Parses a sequence that starts with `ESC [`.
fn parse_csi(bytes: &[u8]) -> ParsedInput {
    // The Linux console sends a second bracket for F1 to F5.
    if bytes.get(2) == Some(&b'[') {
        return match bytes.get(3) {
            None => ParsedInput::Incomplete,
            Some(&byte @ b'A'..=b'E') => {
                ParsedInput::Complete(4, key_input(KeyCode::F(byte - b'A' + 1), KeyModifiers::NONE))
            }
            Some(_) => ParsedInput::Complete(4, None),
        };
    }
    if bytes.get(2) == Some(&b'M') {
        // Legacy mouse reports are never enabled.
        return if bytes.len() < 6 { ParsedInput::Incomplete } else { ParsedInput::Complete(6, None) };
    }
    let Some(length) = bytes[2..].iter().position(|byte| matches!(byte, 0x40..=0x7e)) else {
        return match bytes[2..].iter().position(|byte| !matches!(byte, 0x20..=0x3f)) {
            // Not a valid sequence: parse the invalid byte on its own.
            Some(invalid) => ParsedInput::Complete(2 + invalid, None),
            None => ParsedInput::Incomplete,
        };
    };
    if let Some(invalid) = bytes[2..2 + length].iter().position(|byte| !matches!(byte, 0x20..=0x3f)) {
        return ParsedInput::Complete(2 + invalid, None);
    }
    let parameters = std::str::from_utf8(&bytes[2..2 + length]).unwrap_or_default();
    ParsedInput::Complete(3 + length, parse_meaning(parameters, bytes[2 + length]))
}

/// Parses a string sequence, which ends with BEL or `ESC \`.
fn parse_string(bytes: &[u8]) -> ParsedInput {
    let meaning = || bytes.starts_with(PACKET_START).then_some(Meaning::ClipboardPacket);
    for (index, byte) in bytes.iter().enumerate().skip(2) {
        match byte {
            0x07 => return ParsedInput::Complete(index + 1, meaning()),
            0x1b if bytes.get(index + 1) == Some(&b'\\') => return ParsedInput::Complete(index + 2, meaning()),
            _ => {}
        }
    }
    ParsedInput::Incomplete
}

fn parse_meaning(parameters: &str, final_byte: u8) -> Option<Meaning> {
    if let Some(mouse) = parameters.strip_prefix('<') {
        return mouse_event(mouse, final_byte == b'M').map(|event| Meaning::Input(TerminalInput::Mouse(event)));
    }
    let mut fields = parameters.split(';');
    let first = fields.next().unwrap_or_default();
    let (modifiers, kind) = parse_modifiers(fields.next().unwrap_or_default());
    let number = |text: &str| text.split(':').next().unwrap_or_default().parse::<u32>().ok();
    // Releases are not requested, but some terminals send them. Only that of Enter is used: it shows that the key
    // which sent a message is no longer held.
    if kind == 3 {
        let is_enter = final_byte == b'u' && number(first).is_some_and(|code| ENTER.contains(&code));
        let release = KeyEvent { kind: KeyEventKind::Release, ..KeyEvent::new(KeyCode::Enter, modifiers) };
        return is_enter.then_some(Meaning::Input(TerminalInput::Key(release)));
    }
    match final_byte {
        b'I' if parameters.is_empty() => Some(Meaning::Input(TerminalInput::FocusGained)),
        b'O' if parameters.is_empty() => Some(Meaning::Input(TerminalInput::FocusLost)),
        b'Z' => key_input(KeyCode::BackTab, modifiers | KeyModifiers::SHIFT),
        b'u' => key_from_code(number(first)?, first, modifiers),
        b'~' => match number(first)? {
            200 => Some(Meaning::PasteStart),
            // xterm's modifyOtherKeys.
            27 => key_from_code(fields.next().and_then(number)?, "", modifiers),
            code => key_input(tilde_key(code)?, modifiers),
        },
        _ => key_input(final_key(final_byte)?, modifiers),
    }
}

/// Returns the modifiers, and the kind of event: 1 for a press, 2 for a repeat, 3 for a release.
fn parse_modifiers(field: &str) -> (KeyModifiers, u8) {
    let (mask, kind) = field.split_once(':').unwrap_or((field, "1"));
    let mask = mask.parse::<u16>().unwrap_or(1).saturating_sub(1);
    (modifiers_of_mask(mask), kind.parse().unwrap_or(1))
}

/// Returns the modifiers whose bits are set, in the order of the kitty protocol.
fn modifiers_of_mask(mask: u16) -> KeyModifiers {
    let all = [
        KeyModifiers::SHIFT,
        KeyModifiers::ALT,
        KeyModifiers::CONTROL,
        KeyModifiers::SUPER,
        KeyModifiers::HYPER,
        KeyModifiers::META,
    ];
    all.into_iter().enumerate().filter(|(bit, _)| mask & 1 << bit != 0).map(|(_, modifier)| modifier).collect()
}

/// Returns the key of a code point. `field` is the parameter with the code point, which may contain the shifted
/// character after a colon; empty if not reported.
fn key_from_code(code: u32, field: &str, mut modifiers: KeyModifiers) -> Option<Meaning> {
    let code = match code {
        27 => KeyCode::Esc,
        code if ENTER.contains(&code) => KeyCode::Enter,
        9 if modifiers.contains(KeyModifiers::SHIFT) => KeyCode::BackTab,
        9 => KeyCode::Tab,
        8 | 127 => KeyCode::Backspace,
        // The keypad; 57414 is its Enter.
        57399..=57413 => KeyCode::Char("0123456789./*-+".chars().nth(code as usize - 57399)?),
        57415 => KeyCode::Char('='),
        57417 => KeyCode::Left,
        57418 => KeyCode::Right,
        57419 => KeyCode::Up,
        57420 => KeyCode::Down,
        57421 => KeyCode::PageUp,
        57422 => KeyCode::PageDown,
        57423 => KeyCode::Home,
        57424 => KeyCode::End,
        57425 => KeyCode::Insert,
        57426 => KeyCode::Delete,
        // Modifier, lock and media keys.
        57344..=63743 => return None,
        code => {
            let c = char::from_u32(code).filter(|c| !c.is_control())?;
            // With Shift the terminal may report the shifted character too.
            let shifted = field.split(':').nth(1).and_then(|text| text.parse().ok()).and_then(char::from_u32);
            let c = match modifiers.contains(KeyModifiers::SHIFT) {
                true => shifted.unwrap_or_else(|| c.to_uppercase().next().unwrap_or(c)),
                false => c,
            };
            if c.is_uppercase() {
                modifiers |= KeyModifiers::SHIFT;
            }
            KeyCode::Char(c)
        }
    };
    key_input(code, modifiers)
}

/// Returns the key of a sequence that ends with this byte.
fn final_key(final_byte: u8) -> Option<KeyCode> {
    Some(match final_byte {
        b'A' => KeyCode::Up,
        b'B' => KeyCode::Down,
        b'C' => KeyCode::Right,
        b'D' => KeyCode::Left,
        b'F' => KeyCode::End,
        b'H' => KeyCode::Home,
        b'M' => KeyCode::Enter,
        b'P'..=b'S' => KeyCode::F(final_byte - b'P' + 1),
        _ => return None,
    })
}

/// Returns the key of a sequence `ESC [ code ~`.
fn tilde_key(code: u32) -> Option<KeyCode> {
    Some(match code {
        1 | 7 => KeyCode::Home,
        2 => KeyCode::Insert,
        3 => KeyCode::Delete,
        4 | 8 => KeyCode::End,
        5 => KeyCode::PageUp,
        6 => KeyCode::PageDown,
        11..=15 => KeyCode::F(u8::try_from(code - 10).ok()?),
        17..=21 => KeyCode::F(u8::try_from(code - 11).ok()?),
        23 | 24 => KeyCode::F(u8::try_from(code - 12).ok()?),
        _ => return None,
    })
}

/// Parses a mouse report in the SGR format: `button;column;row`, with a final byte that differs for press and release.
fn mouse_event(parameters: &str, is_press: bool) -> Option<MouseEvent> {
    let mut fields = parameters.split(';').map(str::parse::<u16>);
    let (Some(Ok(bits)), Some(Ok(column)), Some(Ok(row))) = (fields.next(), fields.next(), fields.next()) else {
        return None;
    };
    // Bits 0 and 1 are the button, bits 2 to 4 are Shift, Alt and Ctrl; 32 is added for a movement, 64 for the wheel.
    let button = match bits & 3 {
        0 => MouseButton::Left,
        1 => MouseButton::Middle,
        _ => MouseButton::Right,
    };
    let kind = match bits & !0b1_1100 {
        64 => MouseEventKind::ScrollUp,
        65 => MouseEventKind::ScrollDown,
        66 => MouseEventKind::ScrollLeft,
        67 => MouseEventKind::ScrollRight,
        35 => MouseEventKind::Moved,
        32..=34 => MouseEventKind::Drag(button),
        _ if is_press => MouseEventKind::Down(button),
        _ => MouseEventKind::Up(button),
    };
    let modifiers = modifiers_of_mask(bits >> 2 & 0b111);
    Some(MouseEvent { kind, column: column.saturating_sub(1), row: row.saturating_sub(1), modifiers })
}
