//! Replaces borders, symbols and arrows by ASCII characters of the same width, for fonts that lack them.
//!
//! Applied to the finished frame, so that it covers all parts. Letters of any script are kept.

use ratatui::buffer::{Buffer, Cell};

/// Replaces all symbols by ASCII.
pub fn replace_symbols(buffer: &mut Buffer) {
    let width = usize::from(buffer.area.width.max(1));
    for row in buffer.content.chunks_mut(width) {
        for x in 0..row.len() {
            // Fast path: nearly every cell is one ASCII character.
            if row[x].symbol().is_ascii() {
                continue;
            }
            let mut chars = row[x].symbol().chars();
            let (Some(symbol), None) = (chars.next(), chars.next()) else { continue };
            match symbol {
                '…' | '⋯' => replace_ellipsis(row, x),
                symbol => {
                    if let Some(replacement) = ascii_for(symbol) {
                        row[x].set_char(replacement);
                    }
                }
            }
        }
    }
}

/// Replaces an ellipsis: by three dots if there is space after it or in a border, by one dot before a blank, otherwise
/// by `>`, because a dot would read as part of a path.
fn replace_ellipsis(row: &mut [Cell], x: usize) {
    let is_blank = |row: &[Cell], column: usize| row.get(column).is_none_or(|cell| cell.symbol() == " ");
    let has_room = x + 2 < row.len() && (x + 1..x + 4).all(|column| is_blank(row, column)) || make_space(row, x);
    match (has_room, x + 1 < row.len() && is_blank(row, x + 1)) {
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

/// Makes space in a border by moving the text after `x` two cells to the right, over the line that follows it. Returns
/// false if no line follows that is long enough.
fn make_space(row: &mut [Cell], x: usize) -> bool {
    let is_border = |cell: &Cell| matches!(cell.symbol(), "─" | "━");
    let Some(border_offset) = row.windows(3).skip(x + 1).position(|cells| cells.iter().all(is_border)) else {
        return false;
    };
    row[x + 1..x + 1 + border_offset + 2].rotate_right(2);
    true
}

/// Returns the ASCII character for a symbol.
fn ascii_for(symbol: char) -> Option<char> {
    Some(match symbol {
        '─' | '━' | '═' | '╌' | '┄' | '┈' | '−' | '–' | '—' | '·' => '-',
        '│' | '┃' | '║' | '╎' | '┆' | '┊' | '▌' | '▐' | '▏' | '▎' | '▕' => '|',
        '╭' | '╮' | '╰' | '╯' | '\u{250c}'..='\u{254b}' | '\u{2550}'..='\u{256c}' => '+',
        '⏎' => '$',
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
        // The spinner still rotates.
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

    fn to_ascii(row: &str) -> String {
        let mut buffer = Buffer::with_lines([row]);
        replace_symbols(&mut buffer);
        buffer.content.iter().map(Cell::symbol).collect()
    }

    #[test]
    fn replaces_symbols_and_keeps_letters() {
        assert_eq!(to_ascii("╭─ a · b ─┬╮│ ✓ • ❯ ⠋"), "+- a - b -++| v * > |");
        assert_eq!(to_ascii("größe ñ e\u{301}"), "größe ñ e\u{301}");
    }

    #[test]
    fn replaces_ellipsis_by_as_many_dots_as_fit() {
        assert_eq!(to_ascii("writing…     "), "writing...   ");
        assert_eq!(to_ascii("always… · no"), "always. - no");
        assert_eq!(to_ascii("─ a always… · n no ─────╯"), "- a always... - n no ---+");
        assert_eq!(to_ascii("─ m because… · a always… ─────╯"), "- m because... - a always... -+");
        assert_eq!(to_ascii("…/main.rs"), ">/main.rs");
        assert_eq!(to_ascii("too lon…"), "too lon>");
    }
}
