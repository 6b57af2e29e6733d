//! Last check before the terminal: replaces control characters in cells; and resolves link addresses.

use super::LinkedCells;
use crate::config::LinkScheme;
use crate::text::link::LinkTarget;
use crate::tui::state::Settings;
use crate::tui::text::PlacedLink;
use ratatui::buffer::Buffer;

/// Replaces every control character.
pub fn replace_controls(buffer: &mut Buffer) {
    for cell in &mut buffer.content {
        let symbol = cell.symbol();
        // Fast path: nearly every cell is one ASCII character.
        if symbol.len() == 1 && !symbol.as_bytes()[0].is_ascii_control() {
            continue;
        }
        if symbol.chars().any(char::is_control) {
            cell.set_symbol("\u{fffd}");
        }
    }
}

/// Resolves the addresses of links, apart from those of pictures. Cells with the same address belong to one link, wherever they are.
pub fn resolve_links(links: &[PlacedLink], settings: &Settings) -> Vec<LinkedCells> {
    let resolve =
        |link: &PlacedLink| Some(LinkedCells { area: link.area, address: link_address(&link.target, settings)? });
    links.iter().filter(|link| link.picture.is_none()).filter_map(resolve).collect()
}

/// Returns the target as an address a terminal can open, without characters that could end the escape sequence.
fn link_address(target: &LinkTarget, settings: &Settings) -> Option<String> {
    match target {
        LinkTarget::Web(address) => Some(percent_encode(address, "")),
        LinkTarget::Workspace(_) => None,
        // The terminal does not know which user's home directory is meant.
        LinkTarget::File { path, .. } if path.starts_with('~') => None,
        LinkTarget::File { path, line, column, .. } => {
            let path = settings.folder.join(path);
            let path = percent_encode(path.to_str()?, "%#?;&+");
            let scheme = if settings.is_remote { LinkScheme::File } else { settings.link_scheme };
            Some(file_address(scheme, &settings.host_name, &path, line.map(|line| (line, column.unwrap_or(1)))))
        }
    }
}

/// Returns the address of a file, of which `path` is percent-encoded, and of a line and column in it.
fn file_address(scheme: LinkScheme, host_name: &str, path: &str, position: Option<(usize, usize)>) -> String {
    let after_path = position.map(|(line, column)| format!(":{line}:{column}")).unwrap_or_default();
    let as_query = position.map(|(line, column)| format!("&line={line}&column={column}")).unwrap_or_default();
    match scheme {
        LinkScheme::File => {
            let line = position.map(|(line, _)| format!("#L{line}")).unwrap_or_default();
            format!("file://{}{path}{line}", percent_encode(host_name, ""))
        }
        LinkScheme::Vscode => format!("vscode://file{path}{after_path}"),
        LinkScheme::VscodeInsiders => format!("vscode-insiders://file{path}{after_path}"),
        LinkScheme::Vscodium => format!("vscodium://file{path}{after_path}"),
        LinkScheme::Cursor => format!("cursor://file{path}{after_path}"),
        LinkScheme::Zed => format!("zed://file{path}{after_path}"),
        LinkScheme::Idea => format!("idea://open?file={path}{as_query}"),
        LinkScheme::Textmate => format!("txmt://open?url=file://{path}{as_query}"),
    }
}

/// Percent-encodes all bytes that are not allowed in an address, and those in `reserved`.
fn percent_encode(text: &str, reserved: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for byte in text.bytes() {
        let c = char::from(byte);
        if byte.is_ascii_graphic() && !reserved.contains(c) && !"<>\"`{}|\\^".contains(c) {
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
    fn r32_replaces_control_characters_in_every_cell() {
        let mut buffer = Buffer::empty(Rect::new(0, 0, 4, 1));
        buffer[(0, 0)].set_symbol("\x1b[2J");
        buffer[(1, 0)].set_symbol("\u{9b}");
        buffer[(2, 0)].set_symbol("a");
        replace_controls(&mut buffer);
        let text: String = buffer.content.iter().map(ratatui::buffer::Cell::symbol).collect();
        assert_eq!(text, "\u{fffd}\u{fffd}a ");
    }

    #[test]
    fn r36_address_cannot_end_its_escape_sequence() {
        let target = Arc::new(LinkTarget::Web("https://e.x/\x1b]0;t\x07".into()));
        let settings = crate::tui::view::tests::settings();
        let links = resolve_links(&[PlacedLink { area: Rect::new(0, 0, 2, 1), target, picture: None }], &settings);
        assert_eq!(links[0].address, "https://e.x/%1B]0;t%07");
    }

    #[test]
    fn file_address_contains_the_host_name() {
        let settings = crate::tui::view::tests::settings();
        let file = LinkTarget::File { path: "a b#.rs".into(), line: Some(3), end: None, column: None };
        assert_eq!(link_address(&file, &settings).as_deref(), Some("file://here/project/a%20b%23.rs#L3"));
    }

    #[test]
    fn the_scheme_decides_the_program_except_in_a_remote_session() {
        let settings =
            |link_scheme, is_remote| Settings { link_scheme, is_remote, ..crate::tui::view::tests::settings() };
        let file = |line, column| LinkTarget::File { path: "a&b.rs".into(), line, end: None, column };
        for (scheme, without_line, with_line) in [
            (LinkScheme::File, "file://here/project/a%26b.rs", "file://here/project/a%26b.rs#L3"),
            (LinkScheme::Vscode, "vscode://file/project/a%26b.rs", "vscode://file/project/a%26b.rs:3:7"),
            (LinkScheme::Zed, "zed://file/project/a%26b.rs", "zed://file/project/a%26b.rs:3:7"),
            (
                LinkScheme::Idea,
                "idea://open?file=/project/a%26b.rs",
                "idea://open?file=/project/a%26b.rs&line=3&column=7",
            ),
        ] {
            let address = |target: &LinkTarget, is_remote| link_address(target, &settings(scheme, is_remote)).unwrap();
            assert_eq!(address(&file(None, None), false), without_line);
            assert_eq!(address(&file(Some(3), Some(7)), false), with_line);
            assert_eq!(
                address(&file(Some(3), None), true),
                "file://here/project/a%26b.rs#L3",
                "the path is not on that machine"
            );
        }
    }
}
