//! The picture without signs that a plain font lacks: every frame, mark and arrow as ASCII, in the cell it stands in.
//!
//! It is done to the finished picture, so that no part can forget it. Letters of whatever script are left alone.

use ratatui::buffer::{Buffer, Cell};

/// Puts ASCII in the place of every sign.
pub fn plain(buffer: &mut Buffer) {
    let width = usize::from(buffer.area.width.max(1));
    for row in buffer.content.chunks_mut(width) {
        for x in 0..row.len() {
            // One letter of ASCII is nearly every cell.
            if row[x].symbol().is_ascii() {
                continue;
            }
            let mut chars = row[x].symbol().chars();
            let (Some(sign), None) = (chars.next(), chars.next()) else { continue };
            match sign {
                '…' | '⋯' => dots(row, x),
                sign => {
                    if let Some(letter) = letter(sign) {
                        row[x].set_char(letter);
                    }
                }
            }
        }
    }
}

/// Three dots where there is room behind or in a border, one before a blank, and otherwise a sign that something is left out: a dot
/// would read as part of a path.
fn dots(row: &mut [Cell], x: usize) {
    let blank = |row: &[Cell], at: usize| row.get(at).is_none_or(|cell| cell.symbol() == " ");
    let room = x + 2 < row.len() && (x + 1..x + 4).all(|at| blank(row, at)) || make_room(row, x);
    match (room, x + 1 < row.len() && blank(row, x + 1)) {
        (true, _) => row[x..x + 3].iter_mut().for_each(|cell| {
            cell.set_char('.');
        }),
        (false, true) => {
            row[x].set_char('.');
        }
        (false, false) => {
            row[x].set_char('>');
        }
    }
}

/// In a border the words behind move on by two, over cells of the line that follows them.
fn make_room(row: &mut [Cell], x: usize) -> bool {
    let line = |cell: &Cell| matches!(cell.symbol(), "─" | "━");
    let Some(from) = row.windows(3).skip(x + 1).position(|cells| cells.iter().all(line)) else {
        return false;
    };
    row[x + 1..x + 1 + from + 2].rotate_right(2);
    true
}

/// The letter that stands for a sign.
fn letter(sign: char) -> Option<char> {
    Some(match sign {
        '─' | '━' | '═' | '╌' | '┄' | '┈' | '−' | '–' | '—' | '·' => '-',
        '│' | '┃' | '║' | '╎' | '┆' | '┊' | '▌' | '▐' | '▏' | '▎' | '▕' => '|',
        '╭' | '╮' | '╰' | '╯' | '\u{250c}'..='\u{254b}' | '\u{2550}'..='\u{256c}' => '+',
        '•' | '◦' | '∙' => '*',
        '✓' | '▾' | '↓' => 'v',
        '✗' | '×' => 'x',
        '⊘' => '!',
        '◆' | '◇' | '◌' | '○' => 'o',
        '■' | '█' => '#',
        '▸' | '❯' | '→' | '↪' => '>',
        '←' => '<',
        '↑' => '^',
        '↻' | '⎇' => '@',
        '“' | '”' | '„' | '«' | '»' => '"',
        '‘' | '’' | '‹' | '›' => '\'',
        // The spinner still turns.
        '⠋' | '⠼' | '⠇' => '|',
        '⠙' | '⠴' | '⠏' => '/',
        '⠹' | '⠦' => '-',
        '⠸' | '⠧' => '\\',
        '\u{fffd}' => '?',
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plainly(row: &str) -> String {
        let mut buffer = Buffer::with_lines([row]);
        plain(&mut buffer);
        buffer.content.iter().map(Cell::symbol).collect()
    }

    #[test]
    fn signs_become_letters_and_letters_stay() {
        assert_eq!(plainly("╭─ a · b ─┬╮│ ✓ • ❯ ⠋"), "+- a - b -++| v * > |");
        assert_eq!(plainly("größe ñ e\u{301}"), "größe ñ e\u{301}");
    }

    #[test]
    fn what_is_left_out_is_said_in_the_room_there_is() {
        assert_eq!(plainly("writing…     "), "writing...   ");
        assert_eq!(plainly("always… · no"), "always. - no");
        assert_eq!(plainly("─ a always… · n no ─────╯"), "- a always... - n no ---+");
        assert_eq!(plainly("─ m because… · a always… ─────╯"), "- m because... - a always... -+");
        assert_eq!(plainly("…/main.rs"), ">/main.rs");
        assert_eq!(plainly("too lon…"), "too lon>");
    }
}
