//! The last wall before the terminal: no cell holds a control character, whatever happened before; then links.

use super::visible::Placed;
use crate::chat::link::Target;
use crate::tui::state::Settings;
use ratatui::buffer::{Buffer, CellDiffOption};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::num::NonZeroU16;
use std::sync::Arc;
use unicode_width::UnicodeWidthStr;

/// Replaces whatever a terminal could take as an order.
pub fn guard(buffer: &mut Buffer) {
    for cell in &mut buffer.content {
        let symbol = cell.symbol();
        // One letter of ASCII is nearly every cell.
        if symbol.len() == 1 && !symbol.as_bytes()[0].is_ascii_control() {
            continue;
        }
        if symbol.chars().any(char::is_control) {
            cell.set_symbol("\u{fffd}");
        }
    }
}

/// Makes the cells of links links for the terminal too. Every cell opens and closes its own, so that a frame that
/// sends only some of them cannot leave one open; their number joins them.
pub fn links(buffer: &mut Buffer, links: &[Placed], settings: &Settings) {
    for link in links {
        let Some(address) = address(&link.target, settings) else { continue };
        let mut hasher = DefaultHasher::new();
        (address.as_str(), Arc::as_ptr(&link.target) as usize == 0).hash(&mut hasher);
        let id = hasher.finish() as u32;
        let area = link.area.intersection(buffer.area);
        for y in area.top()..area.bottom() {
            let mut x = area.left();
            while x < area.right() {
                let cell = &mut buffer[(x, y)];
                let symbol = cell.symbol().to_owned();
                let cells = u16::try_from(symbol.width()).unwrap_or(1).max(1);
                cell.set_symbol(&format!("\x1b]8;id={id:x};{address}\x1b\\{symbol}\x1b]8;;\x1b\\"));
                cell.set_diff_option(CellDiffOption::ForcedWidth(
                    NonZeroU16::new(cells).unwrap_or(NonZeroU16::MIN),
                ));
                x += cells;
            }
        }
    }
}

/// Where a link leads, as an address a terminal can open. Holds no character that could end the sequence.
fn address(target: &Target, settings: &Settings) -> Option<String> {
    match target {
        Target::Web(address) => Some(escaped(address, "")),
        Target::Workspace(_) => None,
        // The terminal does not know whose home is meant.
        Target::File { path, .. } if path.starts_with('~') => None,
        Target::File { path, line, .. } => {
            let path = settings.folder.join(path);
            let line = line.map(|line| format!("#L{line}")).unwrap_or_default();
            Some(format!("file://{}{}{line}", escaped(&settings.machine, ""), escaped(path.to_str()?, "%#?")))
        }
    }
}

/// Only what may stand in an address; the rest as percent codes.
fn escaped(text: &str, also: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for byte in text.bytes() {
        let c = char::from(byte);
        if byte.is_ascii_graphic() && !also.contains(c) && !"<>\"`{}|\\^;".contains(c)
            || c == ';' && also.is_empty()
        {
            escaped.push(c);
        } else {
            escaped.push_str(&format!("%{byte:02X}"));
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;
    use ratatui::layout::Rect;
    use ratatui::style::Style;

    #[test]
    fn r32_no_cell_holds_a_control_character() {
        let mut buffer = Buffer::empty(Rect::new(0, 0, 4, 1));
        buffer[(0, 0)].set_symbol("\x1b[2J");
        buffer[(1, 0)].set_symbol("\u{9b}");
        buffer[(2, 0)].set_symbol("a");
        guard(&mut buffer);
        let text: String = buffer.content.iter().map(ratatui::buffer::Cell::symbol).collect();
        assert_eq!(text, "\u{fffd}\u{fffd}a ");
    }

    #[test]
    fn a_link_opens_and_closes_in_every_cell() {
        let mut buffer = Buffer::empty(Rect::new(0, 0, 3, 1));
        buffer.set_string(0, 0, "ab", Style::new());
        let target = Arc::new(Target::Web("https://e.x/\x1b]0;t\x07".into()));
        let settings = crate::tui::view::tests::settings();
        links(&mut buffer, &[Placed { area: Rect::new(0, 0, 2, 1), target }], &settings);
        for x in 0..2 {
            let symbol = buffer[(x, 0)].symbol();
            assert_eq!(symbol.matches('\x1b').count(), 4, "{symbol:?}");
            assert!(symbol.contains(";https://e.x/%1B]0;t%07\x1b\\"), "{symbol:?}");
        }
        assert_eq!(buffer[(2, 0)].symbol(), " ");
    }

    #[test]
    fn a_file_is_told_with_its_machine() {
        let settings = crate::tui::view::tests::settings();
        let file = Target::File { path: "a b#.rs".into(), line: Some(3), end: None, column: None };
        assert_eq!(address(&file, &settings).as_deref(), Some("file://here/project/a%20b%23.rs#L3"));
    }
}
