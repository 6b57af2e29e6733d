//! Field in which the user edits what a grant or a rule allows.

use super::frame::Frame;
use super::text_field::{TextField, width_after_label};
use crate::chat::{Grant, GrantScope, GrantSpan, SessionGrant};
use crate::policy::{Rule, RuleTarget, editable_scope};
use crate::tui::keys::{Action, Keymap, Scope};
use crate::tui::text::wrap;
use crate::tui::theme::Theme;
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use std::cell::Cell;

/// Maximum width in cells, including the frame.
const MAX_WIDTH: u16 = 80;
/// Maximum rows of the text; a longer text scrolls.
const MAX_TEXT_ROWS: usize = 8;

/// The grant or rule that is edited and its new text.
#[derive(Debug, Clone)]
pub struct RuleEdit {
    pub edited: EditedApproval,
    pub field: TextField,
    /// Why the text cannot be saved; empty if it was not tried.
    pub problem: String,
    /// Text before the first change.
    original_text: String,
    /// Width in cells of the text in the last frame.
    pub text_width: Cell<usize>,
}

/// A grant or rule that is edited.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EditedApproval {
    /// Grant of this session.
    Session(SessionGrant),
    /// Rule of the user's file.
    Rule(Rule),
}

impl RuleEdit {
    /// Starts editing.
    ///
    /// # Errors
    /// The reason why the grant or rule cannot be edited here.
    pub fn new(edited: EditedApproval) -> Result<Self, String> {
        let text = match &edited {
            EditedApproval::Session(session_grant) => editable_scope(&session_grant.grant)?,
            EditedApproval::Rule(rule) => rule.editable_text()?,
        };
        let has_lines = edited.is_command();
        let field = if has_lines { TextField::multiline(&text) } else { TextField::new(&text) };
        // Enter would save a text that the user has not seen.
        if field.text() != text {
            return Err("It has characters that a text field cannot show".to_owned());
        }
        Ok(Self { edited, field, problem: String::new(), original_text: text, text_width: Cell::new(1) })
    }

    /// Returns whether the user changed the text.
    pub fn is_changed(&self) -> bool {
        self.field.text() != self.original_text
    }

    /// Draws the field over the middle of `area`. Returns the area it takes and the position of the cursor.
    pub fn draw(&self, keys: &Keymap, area: Rect, buffer: &mut Buffer, theme: &Theme) -> (Rect, Option<Position>) {
        let key = |action| keys.first_chord(Scope::TextField, action);
        let hints = [format!("{} save · {} back", key(Action::Accept), key(Action::Close))];
        let width = area.width.min(MAX_WIDTH);
        let columns = usize::from(width.saturating_sub(4)).max(1);
        let label = format!("{} ", self.edited.effect());
        self.text_width.set(width_after_label(&label, columns as u16).max(1));
        let text_rows = self.field.wrap_rows(self.text_width.get()).0.len().min(MAX_TEXT_ROWS);
        let mut lines = wrap::wrap_plain(&self.problem, theme.danger, columns);
        lines.retain(|line| line.width() > 0);
        lines.extend(wrap::wrap_plain(&self.edited.describe_place(), theme.dim, columns));
        // The frame takes two rows, the blank row after the text one more.
        let height = area.height.min(u16::try_from(lines.len() + text_rows + 3).unwrap_or(u16::MAX));
        let (x, y) = (area.x + (area.width - width) / 2, area.y + (area.height - height) / 3);
        let area = Rect { x, y, width, height };
        let frame = Frame { title: self.edited.title(), hints: &hints, is_listening: true, ..Frame::default() };
        let inside = frame.draw(area, buffer, theme);
        if inside.is_empty() {
            return (area, None);
        }
        // In few rows a problem is more important than the rest of the text.
        let text_rows = text_rows.min(usize::from(inside.height).saturating_sub(lines.len() + 1).max(1));
        let text_area = Rect { height: text_rows as u16, ..inside };
        let cursor = self.field.draw_rows_with_label(&label, text_area, buffer, theme);
        for (row, line) in inside.rows().skip(text_rows + 1).zip(&lines) {
            buffer.set_line(row.x, row.y, line, row.width);
        }
        (area, Some(cursor))
    }
}

impl EditedApproval {
    /// Returns whether the text is a whole command, which may have several lines.
    fn is_command(&self) -> bool {
        match self {
            Self::Session(session_grant) => matches!(session_grant.grant.scope, GrantScope::Command { .. }),
            Self::Rule(rule) => matches!(rule.target, RuleTarget::Command(_)),
        }
    }

    fn effect(&self) -> &'static str {
        match self {
            Self::Session(_) => "allow",
            Self::Rule(rule) => rule.effect.as_str(),
        }
    }

    fn title(&self) -> &'static str {
        match self {
            Self::Session(SessionGrant { grant: Grant { scope, .. }, .. }) => match scope {
                GrantScope::Prefix { .. } => "Edit the first words of the commands",
                GrantScope::File(_) => "Edit the file",
                GrantScope::Folder(_) => "Edit the folder; . is the whole project",
                GrantScope::Host(_) => "Edit the host",
                GrantScope::Command { .. }
                | GrantScope::FileChanges
                | GrantScope::Service(_)
                | GrantScope::Workspace => "Edit the command",
            },
            Self::Rule(rule) => match rule.target {
                RuleTarget::Prefix(_) => "Edit the first words of the commands",
                RuleTarget::Path(_) => "Edit the path; * matches a name, ** any folders",
                RuleTarget::Host(_) => "Edit the host; *. matches its subdomains",
                RuleTarget::Command(_) | RuleTarget::EveryCall => "Edit the command",
            },
        }
    }

    /// Describes where the grant or rule is kept, and the files that must not change.
    fn describe_place(&self) -> String {
        let (place, scripts) = match self {
            Self::Session(session_grant) => {
                (GrantSpan::Session.describe_place().to_owned(), &session_grant.grant.scripts)
            }
            Self::Rule(rule) => (rule.describe_location(), &rule.scripts),
        };
        match scripts.is_empty() {
            true => place,
            false => {
                format!(
                    "{place} · allows only commands that run {}, unchanged",
                    crate::chat::script::join_names(scripts)
                )
            }
        }
    }
}
