//! The prompt for a request of an MCP server to the model, and for the answer: shows every text, and accepts approval only
//! after its end was on the screen.

use crate::text::link::LinkTarget;
use crate::tui::host::{SamplingReview, SamplingSubject};
use crate::tui::keys::{Action, Keymap, Scope};
use crate::tui::parts::frame::{Frame, PromptContext};
use crate::tui::parts::key_hints::explain_unseen_end;
use crate::tui::parts::line_cache::LineCache;
use crate::tui::parts::listening::Listening;
use crate::tui::prompts::prompt::{DrawnPrompt, KeyResult, Prompt, PromptCommand, PromptFacts, PromptSubject};
use crate::tui::prompts::read_state::{ReadState, framed_height, text_columns};
use crate::tui::text::Page;
use crate::tui::text::pieces::{OUTSIDE_BAR, wrap_revealed, wrap_revealed_links};
use crate::tui::text::wrap::{self, Piece, Shape};
use crossterm::event::{KeyEvent, KeyEventKind};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::Line;
use std::sync::Arc;
use std::time::Duration;

/// Prompt for a request or its answer.
#[derive(Debug)]
pub struct SamplingPrompt {
    review: Arc<SamplingReview>,
    reading: ReadState,
    line_cache: LineCache<(), Page>,
}

impl SamplingPrompt {
    pub fn new(review: Arc<SamplingReview>) -> Self {
        Self { review, reading: ReadState::default(), line_cache: LineCache::default() }
    }

    fn title(&self) -> &'static str {
        match &self.review.subject {
            SamplingSubject::Request { .. } => "Let an MCP server ask the model?",
            SamplingSubject::Answer { .. } => "Send this answer to the MCP server?",
        }
    }

    /// Returns the key hints, from the longest to the shortest.
    fn hints(&self, keys: &Keymap, shows_end: bool) -> Vec<String> {
        let key = |action| keys.first_chord(Scope::Request, action);
        let (yes, no, end) = (key(Action::ApproveOnce), key(Action::Deny), key(Action::Bottom));
        let (send, keep) = match &self.review.subject {
            SamplingSubject::Request { .. } => ("ask the model", "deny"),
            SamplingSubject::Answer { .. } => ("send the answer", "keep it from the server"),
        };
        match shows_end {
            true => vec![format!("{yes} {send} · {no} {keep}"), format!("{yes} send · {no} deny")],
            false => vec![
                format!("{end} jump to the end, then {yes} {send} · {no} {keep}"),
                format!("{end} first, then {yes} · {no} deny"),
            ],
        }
    }

    /// Returns the wrapped text of the prompt.
    fn lay_out(&self, facts: &PromptFacts<'_>, width: usize) -> Arc<Page> {
        let (theme, width) = (facts.context.theme, width.max(1));
        let check = |target: &LinkTarget| facts.lookups.check_target(target);
        self.line_cache.linked_lines_for(width, (), theme, facts.lookups, || {
            let mut page = Page::default();
            let mut push_text = |text: &str, style| page.lines.extend(wrap_revealed(text, style, width, theme));
            let sections = match &self.review.subject {
                SamplingSubject::Request { request, model } => {
                    push_text(&format!("MCP server {} asks {model}", request.server), theme.strong);
                    let limit = request.max_tokens;
                    let note = format!(
                        "The model receives only the text below, without tools and without this conversation. You pay for \
                         that text and for an answer of at most {limit} tokens. You see the answer before the server does."
                    );
                    push_text(&note, theme.text);
                    if !request.ignored.is_empty() {
                        push_text(&format!("Ignored parts of the request: {}", request.ignored.join(", ")), theme.dim);
                    }
                    request.sections()
                }
                SamplingSubject::Answer { server, model, text } => {
                    push_text(&format!("{model} answered MCP server {server}"), theme.strong);
                    push_text("The server receives exactly this text.", theme.text);
                    vec![("Answer", text.as_str())]
                }
            };
            for (heading, text) in sections {
                page.lines.push(Line::default());
                page.lines.extend(wrap::wrap_plain(&format!("{heading}:"), theme.accent, width));
                // In prose a tab hides nothing, so it is not marked.
                let text = text.replace('\t', "    ");
                let shape = Shape::with_prefix(width, Piece::new(OUTSIDE_BAR, theme.border_dim));
                page.append_page(wrap_revealed_links(text.trim_end(), theme.text, &shape, theme, &check));
            }
            page
        })
    }

    fn decide(&self, is_approved: bool) -> KeyResult {
        KeyResult::answered(PromptCommand::DecideSampling(self.review.id, is_approved))
    }
}

impl Prompt for SamplingPrompt {
    fn is_about(&self, subject: PromptSubject<'_>) -> bool {
        matches!(subject, PromptSubject::Sampling(review) if review.id == self.review.id)
    }

    fn scope(&self) -> Scope {
        Scope::Request
    }

    fn notification(&self) -> &'static str {
        match &self.review.subject {
            SamplingSubject::Request { .. } => "An MCP server wants to ask the model",
            SamplingSubject::Answer { .. } => "The model answered an MCP server",
        }
    }

    fn prompt_height(&self, facts: &PromptFacts<'_>, width: u16) -> u16 {
        framed_height(self.lay_out(facts, text_columns(width)).lines.len())
    }

    fn draw_prompt(&self, facts: &PromptFacts<'_>, area: Rect, buffer: &mut Buffer) -> DrawnPrompt {
        let PromptContext { listening, keys, theme, message } = facts.context;
        let line_count = self.lay_out(facts, text_columns(area.width)).lines.len();
        let shows_end = self.reading.shows_end(line_count, area);
        let frame = Frame {
            title: self.title(),
            hints: &self.hints(keys, shows_end),
            message,
            is_listening: listening.is_listening(),
            ..Frame::default()
        };
        self.reading.draw(&frame, |columns| self.lay_out(facts, columns), area, buffer, theme)
    }

    fn record_frame(&mut self, now: Duration, drawn: DrawnPrompt) {
        self.reading.record_frame(now, &drawn);
    }

    fn first_drawn(&self) -> Option<Duration> {
        self.reading.first_drawn
    }

    fn handle_prompt_key(&mut self, key: &KeyEvent, facts: &PromptFacts<'_>) -> KeyResult {
        let PromptContext { keys, listening, .. } = facts.context;
        let Some(action) = keys.lookup(Scope::Request, key) else { return KeyResult::PassedOn };
        if listening == Listening::Unsent {
            return KeyResult::PassedOn;
        }
        if self.reading.scroll_by(action) {
            return KeyResult::Handled;
        }
        match action {
            Action::ApproveOnce | Action::Deny if !listening.is_listening() => KeyResult::PassedOn,
            // A repeat belongs to an earlier press of a held key.
            Action::ApproveOnce | Action::Deny if key.kind != KeyEventKind::Press => KeyResult::Handled,
            Action::ApproveOnce if self.reading.has_reached_end => self.decide(true),
            Action::ApproveOnce => {
                KeyResult::Explained(explain_unseen_end(&keys.first_chord(Scope::Request, Action::Bottom)))
            }
            Action::Deny => self.decide(false),
            _ => KeyResult::PassedOn,
        }
    }

    fn explain_enter(&self, facts: &PromptFacts<'_>) -> Option<String> {
        let key = |action| facts.context.keys.first_chord(Scope::Request, action);
        Some(format!("Enter does not answer · {} approve, {} deny", key(Action::ApproveOnce), key(Action::Deny)))
    }

    fn scroll_content(&mut self, lines: isize) -> bool {
        self.reading.scroll_lines(lines);
        true
    }
}
