//! The prompt for a credential that a tool needs: first whether to connect it, then its secret, which is never drawn.

use crate::config::Key;
use crate::text::reveal::reveal_to_string;
use crate::text::width;
use crate::tui::effect::Effect;
use crate::tui::host::{CredentialRequest, HostRequest};
use crate::tui::keys::{Action, Keymap, Scope};
use crate::tui::parts::frame::{Frame, PromptContext};
use crate::tui::parts::text_field::{self, TextField};
use crate::tui::prompts::prompt::{
    DrawnPrompt, KeyResult, Prompt, PromptCommand, PromptFacts, PromptSubject, ignored_enter,
};
use crate::tui::prompts::read_state::{ReadState, framed_height, text_columns};
use crate::tui::prompts::scrolled_body::draw_scrolled_body;
use crate::tui::text::wrap;
use crate::tui::theme::Theme;
use crossterm::event::{KeyEvent, KeyEventKind};
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::text::Line;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// Rows of the field and of the blank row after it.
const FIELD_ROWS: u16 = 2;

/// Prompt for a credential.
pub struct CredentialPrompt {
    request: Arc<CredentialRequest>,
    /// The secret, once the user chose to enter it.
    field: Option<TextField>,
    reading: ReadState,
}

/// Without the secret.
impl fmt::Debug for CredentialPrompt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CredentialPrompt").field("request", &self.request).finish_non_exhaustive()
    }
}

impl CredentialPrompt {
    /// A credential that the user chose is not asked for again: its field takes the keys at once, so that no part of a
    /// secret that is typed quickly gets into the composer.
    pub fn new(request: Arc<CredentialRequest>) -> Self {
        let field = request.reason.is_none().then(TextField::default);
        Self { request, field, reading: ReadState::default() }
    }

    fn answer(&self, secret: Option<Key>) -> KeyResult {
        let request = HostRequest::AnswerCredential { id: self.request.id, secret };
        KeyResult::Run(vec![
            PromptCommand::IgnoreRepeats,
            PromptCommand::CloseCredential(self.request.id),
            PromptCommand::Effect(Effect::Request(request)),
        ])
    }

    fn lines(&self, keys: &Keymap, theme: &Theme, columns: usize) -> Vec<Line<'static>> {
        let CredentialRequest { name, origins, reason, .. } = &*self.request;
        let mut lines = wrap::wrap_plain(&format!("{name}, sent only to {}", origins.join(", ")), theme.text, columns);
        // On one line, so that no line of it can pass for one of the program.
        if let Some(reason) = reason {
            let reason = reason.split_whitespace().collect::<Vec<_>>().join(" ");
            lines.extend(wrap::wrap_plain(&format!("Reason: {}", reveal_to_string(&reason)), theme.text, columns));
        }
        let key = |scope, action| keys.first_chord(scope, action);
        let (back, deny) = (key(Scope::TextField, Action::Close), key(Scope::Approval, Action::Deny));
        let leave_keys = match (&self.field, reason) {
            (None, _) => deny,
            (Some(_), None) => back,
            (Some(_), Some(_)) => format!("{back} and {deny}"),
        };
        let note = format!(
            "Kept where only you can read it, as a bearer token; the model does not see it. For an API key or a password \
            press {leave_keys}, then run `aye credentials add`."
        );
        lines.extend(wrap::wrap_plain(&note, theme.dim, columns));
        lines
    }

    fn hints(&self, keys: &Keymap) -> Vec<String> {
        let key = |scope, action| keys.first_chord(scope, action);
        if self.field.is_some() {
            let (save, back) = (key(Scope::TextField, Action::Accept), key(Scope::TextField, Action::Close));
            return vec![format!("{save} save and connect · {back} back"), format!("{save} save · {back} back")];
        }
        let (yes, no) = (key(Scope::Approval, Action::ApproveOnce), key(Scope::Approval, Action::Deny));
        vec![format!("{yes} enter the secret · {no} deny"), format!("{yes} enter · {no} deny")]
    }

    fn handle_field_key(&mut self, key: &KeyEvent, facts: &PromptFacts<'_>) -> KeyResult {
        let Some(field) = &mut self.field else { return KeyResult::PassedOn };
        match field.handle_key(key, facts.context.keys) {
            text_field::KeyResult::Cancelled if self.request.reason.is_none() => self.answer(None),
            text_field::KeyResult::Cancelled => {
                self.field = None;
                KeyResult::Run(vec![PromptCommand::IgnoreRepeats])
            }
            text_field::KeyResult::Accepted => {
                if let Some(ignored) = ignored_enter(key, facts.context.listening) {
                    return ignored;
                }
                match Key::parse_entered(field.text()) {
                    Ok(secret) => self.answer(Some(secret)),
                    Err(reason) => KeyResult::Explained(format!("Cannot use this secret: {reason} · enter it again")),
                }
            }
            // No key may reach the composer, where it would be shown.
            text_field::KeyResult::Changed | text_field::KeyResult::Handled | text_field::KeyResult::PassedOn => {
                KeyResult::Handled
            }
        }
    }
}

impl Prompt for CredentialPrompt {
    fn is_about(&self, subject: PromptSubject<'_>) -> bool {
        matches!(subject, PromptSubject::Credential(request) if request.id == self.request.id)
    }

    fn scope(&self) -> Scope {
        Scope::Approval
    }

    fn notification(&self) -> &'static str {
        "aye asks for a credential"
    }

    fn prompt_height(&self, facts: &PromptFacts<'_>, width: u16) -> u16 {
        let lines = self.lines(facts.context.keys, facts.context.theme, text_columns(width));
        framed_height(lines.len()).saturating_add(if self.field.is_some() { FIELD_ROWS } else { 0 })
    }

    fn draw_prompt(&self, facts: &PromptFacts<'_>, area: Rect, buffer: &mut Buffer) -> DrawnPrompt {
        let PromptContext { listening, keys, theme, message } = facts.context;
        let title = if self.field.is_some() { "Enter the secret" } else { "Connect a credential?" };
        let is_listening = listening.is_listening() || self.field.is_some();
        let frame = Frame { title, hints: &self.hints(keys), message, is_listening, ..Frame::default() };
        let mut inner = frame.draw(area, buffer, theme);
        let mut cursor = None;
        if let Some(field) = &self.field {
            let Some(row) = inner.rows().next() else { return DrawnPrompt::default() };
            cursor = Some(draw_dots(field, row, buffer, theme));
            let rows = FIELD_ROWS.min(inner.height);
            inner = Rect { y: inner.y + rows, height: inner.height - rows, ..inner };
        }
        let lines = self.lines(keys, theme, usize::from(inner.width).max(1));
        let body = (lines.len(), self.reading.scroll);
        let drawn = draw_scrolled_body(body, area, inner, buffer, theme, |index, row, buffer| {
            buffer.set_line(row.x, row.y, &lines[index], row.width);
        });
        DrawnPrompt { cursor, is_readable: drawn.is_readable || self.field.is_some(), ..drawn }
    }

    fn record_frame(&mut self, now: Duration, drawn: DrawnPrompt) {
        self.reading.record_frame(now, &drawn);
    }

    fn first_drawn(&self) -> Option<Duration> {
        self.reading.first_drawn
    }

    fn handle_prompt_key(&mut self, key: &KeyEvent, facts: &PromptFacts<'_>) -> KeyResult {
        if self.field.is_some() {
            return self.handle_field_key(key, facts);
        }
        let PromptContext { keys, listening, .. } = facts.context;
        let Some(action) = keys.lookup(Scope::Approval, key) else { return KeyResult::PassedOn };
        if !listening.is_listening() {
            return KeyResult::PassedOn;
        }
        match action {
            // A repeat belongs to an earlier press of a held key.
            Action::ApproveOnce | Action::Deny if key.kind != KeyEventKind::Press => KeyResult::Handled,
            Action::ApproveOnce => {
                self.field = Some(TextField::default());
                KeyResult::Run(vec![PromptCommand::IgnoreRepeats])
            }
            Action::Deny => self.answer(None),
            _ => KeyResult::PassedOn,
        }
    }

    fn explain_enter(&self, facts: &PromptFacts<'_>) -> Option<String> {
        let key = |action| facts.context.keys.first_chord(Scope::Approval, action);
        Some(format!(
            "Enter does not answer · {} enter the secret, {} deny",
            key(Action::ApproveOnce),
            key(Action::Deny)
        ))
    }

    fn is_writing(&self) -> bool {
        self.field.is_some()
    }

    fn insert_paste(&mut self, text: &str) -> bool {
        self.field.as_mut().map(|field| field.insert(text.trim())).is_some()
    }

    fn scroll_content(&mut self, lines: isize) -> bool {
        self.reading.scroll_lines(lines);
        true
    }
}

/// Draws a dot for each character. Returns the position after them.
fn draw_dots(field: &TextField, row: Rect, buffer: &mut Buffer, theme: &Theme) -> Position {
    let dots = "•".repeat(field.text().chars().count());
    // `❯ ` takes two columns, and the cursor after the dots takes one.
    let visible_dots = width::fit_end(&dots, usize::from(row.width).saturating_sub(3));
    let (x, _) = buffer.set_stringn(row.x, row.y, "❯ ", usize::from(row.width), theme.accent);
    let (x, _) = buffer.set_stringn(x, row.y, visible_dots, usize::from(row.right().saturating_sub(x)), theme.text);
    Position { x: x.min(row.right().saturating_sub(1)), y: row.y }
}
