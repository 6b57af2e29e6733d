//! The last wall before the terminal: no cell holds a control character, whatever happened before; then links.

use super::Linked;
use super::visible::Placed;
use crate::chat::link::Target;
use crate::tui::state::Settings;
use ratatui::buffer::Buffer;

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

/// The links as a terminal is told them. Cells that name one address are one link, wherever they stand.
pub fn links(links: &[Placed], settings: &Settings) -> Vec<Linked> {
    let told = |link: &Placed| Some(Linked { area: link.area, address: address(&link.target, settings)? });
    links.iter().filter_map(told).collect()
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
    use std::sync::Arc;

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
    fn r36_an_address_holds_nothing_that_could_end_it() {
        let target = Arc::new(Target::Web("https://e.x/\x1b]0;t\x07".into()));
        let settings = crate::tui::view::tests::settings();
        let told = links(&[Placed { area: Rect::new(0, 0, 2, 1), target }], &settings);
        assert_eq!(told[0].address, "https://e.x/%1B]0;t%07");
    }

    #[test]
    fn a_file_is_told_with_its_machine() {
        let settings = crate::tui::view::tests::settings();
        let file = Target::File { path: "a b#.rs".into(), line: Some(3), end: None, column: None };
        assert_eq!(address(&file, &settings).as_deref(), Some("file://here/project/a%20b%23.rs#L3"));
    }
}
