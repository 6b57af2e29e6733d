//! The prompt for a credential that a tool needs: first whether to connect it, then its secret, which is never drawn.

use super::credential_entry::{describe_recipients, explain_storage};
use crate::config::Key;
use crate::text::reveal::reveal_to_string;
use crate::tui::effect::Effect;
use crate::tui::host::{CredentialRequest, HostRequest};
use crate::tui::keys::{Action, Keymap, Scope};
use crate::tui::parts::frame::{Frame, PromptContext};
use crate::tui::parts::secret_field::{FIELD_ROWS, SecretField};
use crate::tui::parts::text_field;
use crate::tui::prompts::prompt::{
    DrawnPrompt, KeyResult, Prompt, PromptCommand, PromptFacts, PromptSubject, ignored_enter,
};
use crate::tui::prompts::read_state::{ReadState, framed_height, text_columns};
use crate::tui::prompts::scrolled_body::draw_scrolled_body;
use crate::tui::text::wrap;
use crate::tui::theme::Theme;
use crossterm::event::{KeyEvent, KeyEventKind};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::Line;
use std::sync::Arc;
use std::time::Duration;

/// Prompt for a credential.
#[derive(Debug)]
pub struct CredentialPrompt {
    request: Arc<CredentialRequest>,
    /// The secret, once the user chose to enter it.
    field: Option<SecretField>,
    reading: ReadState,
}

impl CredentialPrompt {
    pub fn new(request: Arc<CredentialRequest>) -> Self {
        Self { request, field: None, reading: ReadState::default() }
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
        let mut lines = wrap::wrap_plain(&describe_recipients(name, origins), theme.text, columns);
        // On one line, so that no line of it can pass for one of the program.
        let reason = reason.split_whitespace().collect::<Vec<_>>().join(" ");
        lines.extend(wrap::wrap_plain(&format!("Reason: {}", reveal_to_string(&reason)), theme.text, columns));
        let key = |scope, action| keys.first_chord(scope, action);
        let (back, deny) = (key(Scope::TextField, Action::Close), key(Scope::Request, Action::Deny));
        let leave_keys = if self.field.is_some() { format!("{back} and {deny}") } else { deny };
        lines.extend(wrap::wrap_plain(&explain_storage(&leave_keys), theme.dim, columns));
        lines
    }

    fn hints(&self, keys: &Keymap) -> Vec<String> {
        if self.field.is_some() {
            return SecretField::hints(keys);
        }
        let key = |action| keys.first_chord(Scope::Request, action);
        let (yes, no) = (key(Action::ApproveOnce), key(Action::Deny));
        vec![format!("{yes} enter the secret · {no} deny"), format!("{yes} enter · {no} deny")]
    }

    fn handle_field_key(&mut self, key: &KeyEvent, facts: &PromptFacts<'_>) -> KeyResult {
        let Some(field) = &mut self.field else { return KeyResult::PassedOn };
        match field.handle_key(key, facts.context.keys) {
            text_field::KeyResult::Cancelled => {
                self.field = None;
                KeyResult::Run(vec![PromptCommand::IgnoreRepeats])
            }
            text_field::KeyResult::Accepted => {
                if let Some(ignored) = ignored_enter(key, facts.context.listening) {
                    return ignored;
                }
                match field.parse_secret() {
                    Ok(secret) => self.answer(Some(secret)),
                    Err(problem) => KeyResult::Explained(format!("{problem} · enter it again")),
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
        Scope::Request
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
            let Some((position, rest)) = field.draw_dots(inner, buffer, theme) else { return DrawnPrompt::default() };
            (cursor, inner) = (Some(position), rest);
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
        let Some(action) = keys.lookup(Scope::Request, key) else { return KeyResult::PassedOn };
        if !listening.is_listening() {
            return KeyResult::PassedOn;
        }
        match action {
            // A repeat belongs to an earlier press of a held key.
            Action::ApproveOnce | Action::Deny if key.kind != KeyEventKind::Press => KeyResult::Handled,
            Action::ApproveOnce => {
                self.field = Some(SecretField::default());
                KeyResult::Run(vec![PromptCommand::IgnoreRepeats])
            }
            Action::Deny => self.answer(None),
            _ => KeyResult::PassedOn,
        }
    }

    fn explain_enter(&self, facts: &PromptFacts<'_>) -> Option<String> {
        let key = |action| facts.context.keys.first_chord(Scope::Request, action);
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
        self.field.as_mut().map(|field| field.insert_paste(text)).is_some()
    }

    fn scroll_content(&mut self, lines: isize) -> bool {
        self.reading.scroll_lines(lines);
        true
    }
}
