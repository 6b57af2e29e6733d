//! Field in which the user edits what a rule allows.

use super::frame::Frame;
use super::text_field::TextField;
use crate::policy::Rule;
use crate::tui::keys::{Action, Keymap, Scope};
use crate::tui::text::wrap;
use crate::tui::theme::Theme;
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};

/// Maximum width in cells, including the frame.
const MAX_WIDTH: u16 = 80;

/// The rule that is edited and its new text.
#[derive(Debug, Clone)]
pub struct RuleEdit {
    pub rule: Rule,
    pub field: TextField,
    /// Why the text cannot be saved; empty if it was not tried.
    pub problem: String,
}

impl RuleEdit {
    /// Starts editing a rule.
    ///
    /// # Errors
    /// The reason why the rule cannot be edited here.
    pub fn new(rule: &Rule) -> Result<Self, String> {
        let text = rule.editable_text()?;
        Ok(Self { rule: rule.clone(), field: TextField::new(&text), problem: String::new() })
    }

    /// Draws the field over the middle of `area`. Returns the area it takes and the position of the cursor.
    pub fn draw(&self, keys: &Keymap, area: Rect, buffer: &mut Buffer, theme: &Theme) -> (Rect, Option<Position>) {
        let key = |action| keys.first_chord(Scope::TextField, action);
        let hints = [format!("{} save · {} back", key(Action::Accept), key(Action::Close))];
        let width = area.width.min(MAX_WIDTH);
        let columns = usize::from(width.saturating_sub(4)).max(1);
        let mut lines = wrap::wrap_plain(&self.rule.describe_location(), theme.dim, columns);
        lines.extend(wrap::wrap_plain(&self.problem, theme.danger, columns));
        // The frame takes two rows, the field and the blank row after it two more.
        let height = area.height.min(u16::try_from(lines.len()).unwrap_or(u16::MAX).saturating_add(4));
        let (x, y) = (area.x + (area.width - width) / 2, area.y + (area.height - height) / 3);
        let area = Rect { x, y, width, height };
        let frame = Frame { title: self.title(), hints: &hints, is_listening: true, ..Frame::default() };
        let inside = frame.draw(area, buffer, theme);
        let Some(row) = inside.rows().next() else { return (area, None) };
        let cursor = self.field.draw_with_label(&format!("{} ", self.rule.effect.as_str()), row, buffer, theme);
        for (row, line) in inside.rows().skip(2).zip(&lines) {
            buffer.set_line(row.x, row.y, line, row.width);
        }
        (area, Some(cursor))
    }

    fn title(&self) -> &'static str {
        match self.rule.target {
            crate::policy::RuleTarget::Prefix(_) => "Edit the first words of the commands",
            crate::policy::RuleTarget::Path(_) => "Edit the path; * matches a name, ** any folders",
            _ => "Edit the command",
        }
    }
}
