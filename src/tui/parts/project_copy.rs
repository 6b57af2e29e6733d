//! Field in which the user names the file of the project that a file of the workspace is copied to.

use super::frame::Frame;
use super::text_field::{TextField, width_after_label};
use crate::text::workspace_address::AddressTarget;
use crate::tui::keys::{Action, Keymap, Scope};
use crate::tui::text::wrap;
use crate::tui::theme::Theme;
use crate::tui::workspace_data::ListedFile;
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};

/// Maximum width in cells, including the frame.
const MAX_WIDTH: u16 = 80;
/// Maximum rows of the path; a longer path scrolls.
const MAX_PATH_ROWS: usize = 4;
/// Label of the field.
const LABEL: &str = "to ";

/// The file that is copied, and its path in the project.
#[derive(Debug, Clone)]
pub struct ProjectCopy {
    /// The copied version.
    pub target: AddressTarget,
    pub field: TextField,
    title: String,
}

impl ProjectCopy {
    /// Starts with the name of the file.
    pub fn new(file: &ListedFile, target: AddressTarget) -> Self {
        let name = file.path.rsplit('/').next().unwrap_or(&file.path);
        let version = match target {
            AddressTarget::Id(_, Some(version)) => format!(" · version {version}"),
            AddressTarget::Id(_, None) | AddressTarget::Path(_) => String::new(),
        };
        Self { target, field: TextField::new(name), title: format!("Copy {}{version} to the project", file.path) }
    }

    /// Draws the field over the middle of `area`. Returns the area it takes and the position of the cursor.
    pub fn draw(&self, keys: &Keymap, area: Rect, buffer: &mut Buffer, theme: &Theme) -> (Rect, Option<Position>) {
        let key = |action| keys.first_chord(Scope::TextField, action);
        let hints = [format!("{} show the difference · {} back", key(Action::Accept), key(Action::Close))];
        let width = area.width.min(MAX_WIDTH);
        let columns = width.saturating_sub(4).max(1);
        let note = "The path is relative to the project. Nothing is written before you approve the difference.";
        let lines = wrap::wrap_plain(note, theme.dim, usize::from(columns));
        let rows = self.field.wrap_rows(width_after_label(LABEL, columns).max(1)).0.len().min(MAX_PATH_ROWS);
        // The frame takes two rows, the blank row after the path one more.
        let height = area.height.min(u16::try_from(lines.len() + rows + 3).unwrap_or(u16::MAX));
        let (x, y) = (area.x + (area.width - width) / 2, area.y + (area.height - height) / 3);
        let area = Rect { x, y, width, height };
        let frame = Frame { title: &self.title, hints: &hints, is_listening: true, ..Frame::default() };
        let inside = frame.draw(area, buffer, theme);
        if inside.is_empty() {
            return (area, None);
        }
        let path_area = Rect { height: (rows as u16).min(inside.height), ..inside };
        let cursor = self.field.draw_rows_with_label(LABEL, path_area, buffer, theme);
        for (row, line) in inside.rows().skip(rows + 1).zip(&lines) {
            buffer.set_line(row.x, row.y, line, row.width);
        }
        (area, Some(cursor))
    }
}
