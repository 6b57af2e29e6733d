//! Drawing of the trust prompt: the effects of the files first, then their contents. A bar at the left marks every line that
//! comes from a file. No text of a file can hide the bar.

use super::{TrustPrompt, describe_effects, describe_size, describe_trust};
use crate::config::project_files::{ProjectFile, ProjectFileKind};
use crate::config::trust::TrustState;
use crate::text::reveal;
use crate::text::truncation::abbreviate_home;
use crate::tui::host::InspectionReason;
use crate::tui::keys::{Action, Keymap, Scope};
use crate::tui::parts::frame::{Frame, PromptContext};
use crate::tui::prompts::prompt::{DrawnPrompt, PromptFacts};
use crate::tui::prompts::scrolled_body::ScrolledBody;
use crate::tui::text::pieces::wrap_revealed;
use crate::tui::text::wrap::{self, Piece, Shape};
use crate::tui::text::{diff, revealed_pieces};
use crate::tui::theme::Theme;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use std::path::Path;
use std::sync::Arc;

/// Prefix of every line that comes from a file.
const FILE_BAR: &str = "│ ";

/// Values from outside the prompt that its layout needs.
#[derive(Debug, Clone, Copy, Default)]
pub struct TrustContext<'a> {
    /// Home directory of the user, shown as `~`.
    pub home: Option<&'a Path>,
    /// Context window of the model in tokens, if known.
    pub context_window: Option<u64>,
}

impl<'a> TrustContext<'a> {
    pub fn from_facts(facts: &PromptFacts<'a>) -> Self {
        Self { home: facts.home, context_window: facts.agent.context_usage().context_window }
    }
}

impl TrustPrompt {
    /// Returns the rows the prompt needs at this width. It scrolls in fewer.
    pub fn preferred_height(&self, trust_context: TrustContext<'_>, width: u16, theme: &Theme) -> u16 {
        let rows = self.wrapped_lines(trust_context, usize::from(width.saturating_sub(4)), theme).len() + 2;
        u16::try_from(rows).unwrap_or(u16::MAX)
    }

    pub fn draw(
        &self,
        trust_context: TrustContext<'_>,
        context: &PromptContext<'_>,
        area: Rect,
        buffer: &mut Buffer,
    ) -> DrawnPrompt {
        let PromptContext { listening, keys, theme, message } = *context;
        // This frame may be the first to show the end, and no later frame is guaranteed to update the hints.
        let needed_rows = usize::from(self.preferred_height(trust_context, area.width, theme));
        let shows_end = self.scroll.saturating_add(usize::from(area.height)) >= needed_rows;
        let frame = Frame {
            title: self.title(),
            hints: &self.hints(keys, shows_end),
            message,
            is_listening: listening.is_listening() && !self.is_storing,
            ..Frame::default()
        };
        let inner = frame.draw(area, buffer, theme);
        if inner.is_empty() {
            return DrawnPrompt::default();
        }
        let lines = self.wrapped_lines(trust_context, usize::from(inner.width), theme);
        let body = ScrolledBody { line_count: lines.len(), scroll: self.scroll };
        body.draw(area, inner, buffer, theme, |index, row, buffer| {
            buffer.set_line(row.x, row.y, &lines[index], row.width);
        })
    }

    /// Returns whether a file has changed since it was trusted.
    fn has_changed(&self) -> bool {
        self.files.untrusted().any(|file| file.trust_state == TrustState::Changed)
    }

    fn title(&self) -> &'static str {
        match (self.is_trusted(), self.has_changed()) {
            (true, _) => "Files trusted in this project",
            (false, true) => "Trust the changed files of this project?",
            (false, false) => "Trust the files of this project?",
        }
    }

    /// Returns the key hints, from the longest to the shortest.
    fn hints(&self, keys: &Keymap, shows_end: bool) -> Vec<String> {
        let key = |action| keys.first_chord(Scope::Trust, action);
        let (trust_key, deny_key) = (key(Action::Trust), key(Action::Deny));
        let (end_key, close_key) = (key(Action::Bottom), key(Action::Close));
        if self.is_storing {
            return vec!["Saving…".to_owned()];
        }
        if self.is_trusted() {
            return vec![
                format!("{deny_key} revoke trust · {close_key} close"),
                format!("{deny_key} revoke · {close_key} close"),
            ];
        }
        if !self.has_reached_end && !shows_end {
            return vec![
                format!("{end_key} jump to the end, then {trust_key} trust · {deny_key} continue without them"),
                format!("{end_key} jump to the end, then {trust_key} trust · {deny_key} skip"),
                format!("{end_key} end, then {trust_key} · {deny_key} skip"),
            ];
        }
        vec![
            format!("{trust_key} trust these versions in this folder · {deny_key} continue without them"),
            format!("{trust_key} trust these versions · {deny_key} continue without them"),
            format!("{trust_key} trust · {deny_key} skip"),
        ]
    }

    /// Returns the wrapped lines of the prompt.
    fn wrapped_lines(&self, trust_context: TrustContext<'_>, width: usize, theme: &Theme) -> Arc<Vec<Line<'static>>> {
        self.line_cache.lines_for(width, trust_context.context_window, theme, || {
            let mut body = PromptLines { lines: Vec::new(), width: width.max(1), theme };
            body.push_prompt(self, trust_context);
            body.lines
        })
    }
}

/// Lines of a prompt while they are collected.
struct PromptLines<'a> {
    lines: Vec<Line<'static>>,
    width: usize,
    theme: &'a Theme,
}

impl PromptLines<'_> {
    fn push_prompt(&mut self, prompt: &TrustPrompt, trust_context: TrustContext<'_>) {
        let theme = self.theme;
        if prompt.reason == InspectionReason::FilesChanged {
            self.push_text(
                "A file changed while you read it, so nothing was trusted. This is the new version.",
                theme.warning,
            );
        }
        let folder = abbreviate_home(&prompt.files.folder, trust_context.home);
        self.push_text(&reveal::reveal_line(&folder), theme.strong);
        let explanation = match (prompt.is_trusted(), prompt.has_changed()) {
            (true, _) => {
                format!("You trusted these files on {}. They may change how aye works here.", prompt.files.trusted_on)
            }
            (false, true) => format!(
                "You trusted files here on {}. Changes since then are not used until you approve them.",
                prompt.files.trusted_on
            ),
            (false, false) => "These files would change how aye works here. They are not used until you approve \
                               them."
                .to_owned(),
        };
        self.push_text(&explanation, theme.text);
        // Trusted files next to changed ones are only named, because the user has read them before.
        let is_trusted = prompt.is_trusted();
        let is_shown = |file: &ProjectFile| is_trusted || file.trust_state != TrustState::Trusted;
        for file in &prompt.files.files {
            self.lines.push(Line::default());
            self.push_file(file, trust_context.context_window, is_shown(file));
        }
        if !prompt.files.other_names.is_empty() {
            self.lines.push(Line::default());
            let names: Vec<String> = prompt.files.other_names.iter().map(|name| reveal::reveal_line(name)).collect();
            self.push_text(&format!(".aye/ also contains {}, which aye does not read", names.join(", ")), theme.dim);
        }
        for file in prompt.files.usable().filter(|file| is_shown(file)) {
            self.lines.push(Line::default());
            self.push_contents(file);
        }
    }

    /// Adds the heading of a file and, if `shows_effects`, its effects.
    fn push_file(&mut self, file: &ProjectFile, context_window: Option<u64>, shows_effects: bool) {
        let theme = self.theme;
        let mut pieces = vec![Piece::new(file.name.clone(), theme.accent)];
        if !matches!(file.kind, ProjectFileKind::Unusable(_)) {
            pieces.push(Piece::new(format!(" · {}", describe_size(file, context_window)), theme.dim));
            let style = if file.trust_state == TrustState::Trusted { theme.dim } else { theme.prompt };
            pieces.push(Piece::new(format!(" · {}", describe_trust(file.trust_state)), style));
        }
        self.lines.extend(wrap::wrap_pieces(&pieces, &Shape::with_width(self.width)).lines);
        for effect in describe_effects(file).into_iter().filter(|_| shows_effects) {
            let is_warning = effect.starts_with("warning") || matches!(file.kind, ProjectFileKind::Unusable(_));
            let style = if is_warning { theme.warning } else { theme.text };
            self.push_prefixed("  ", &effect, style);
        }
    }

    /// Adds the contents of a file, or the changes in it.
    fn push_contents(&mut self, file: &ProjectFile) {
        let theme = self.theme;
        if let ProjectFileKind::Rules { descriptions, .. } = &file.kind {
            self.push_text(&format!("{}, all rules:", file.name), theme.strong);
            for rule in descriptions {
                self.push_prefixed(FILE_BAR, rule, theme.text);
            }
        }
        match (&file.diff, &file.kind) {
            (Some(file_diff), _) => {
                let (added, removed) = (file_diff.added, file_diff.removed);
                self.push_text(&format!("{}, changes: +{added} −{removed}", file.name), theme.strong);
                let lines = diff::lay_out_changes(file_diff, self.width.saturating_sub(2).max(1), theme);
                self.lines.extend(lines.into_iter().map(|mut line| {
                    line.spans.insert(0, Span::styled(FILE_BAR, theme.border_dim));
                    line
                }));
            }
            (None, ProjectFileKind::Instructions(instructions)) => {
                let suffix = if file.trust_state == TrustState::Changed { " (previous version unknown)" } else { "" };
                self.push_text(&format!("{}, text sent to the model{suffix}:", file.name), theme.strong);
                // In prose a tab hides nothing, so it is not marked.
                let text = instructions.text.replace("\r\n", "\n").replace('\t', "    ");
                self.push_prefixed(FILE_BAR, text.trim_end(), theme.text);
            }
            (None, ProjectFileKind::Rules { .. } | ProjectFileKind::Unusable(_)) => {}
        }
    }

    /// Adds text, with invisible characters marked.
    fn push_text(&mut self, text: &str, style: Style) {
        self.lines.extend(wrap_revealed(text, style, self.width, self.theme));
    }

    /// Adds text with a prefix before each of its lines.
    fn push_prefixed(&mut self, prefix: &str, text: &str, style: Style) {
        let pieces = revealed_pieces(text, style, self.theme.mark);
        let shape = Shape::with_prefix(self.width, Piece::new(prefix, self.theme.border_dim));
        self.lines.extend(wrap::wrap_pieces(&pieces, &shape).lines);
    }
}
