//! Drawing of the trust prompt: the effects of the files first, then their contents. A bar at the left marks every line that
//! comes from a file. No text of a file can hide the bar.

use super::{TrustPrompt, describe_effects, describe_size, describe_trust, without_byte_order_mark};
use crate::config::project_files::{ProjectFile, ProjectFileKind};
use crate::config::trust::TrustState;
use crate::text::link::{CheckTarget, LinkTarget};
use crate::text::reveal;
use crate::text::truncation::abbreviate_home;
use crate::tui::host::InspectionReason;
use crate::tui::keys::{Action, Keymap, Scope};
use crate::tui::prompts::prompt::PromptFacts;
use crate::tui::text::pieces::{OUTSIDE_BAR, split_revealed_links, wrap_revealed, wrap_revealed_links};
use crate::tui::text::wrap::{self, Piece, Shape};
use crate::tui::text::{Page, diff, prefix_line};
use crate::tui::theme::Theme;
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use std::path::Path;
use std::sync::Arc;

impl TrustPrompt {
    /// Returns whether a file has changed since it was trusted.
    fn has_changed(&self) -> bool {
        self.files.untrusted().any(|file| file.trust_state == TrustState::Changed)
    }

    pub(super) fn title(&self) -> &'static str {
        match (self.is_trusted(), self.has_changed()) {
            (true, _) => "Files trusted in this project",
            (false, true) => "Trust the changed files of this project?",
            (false, false) => "Trust the files of this project?",
        }
    }

    /// Returns the key hints, from the longest to the shortest.
    pub(super) fn hints(&self, keys: &Keymap, shows_end: bool) -> Vec<String> {
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
        if !shows_end {
            return vec![
                format!("{end_key} jump to the end, then {trust_key} trust · {deny_key} continue without them"),
                format!("{end_key} jump to the end, then {trust_key} trust · {deny_key} without them"),
                format!("{end_key} first, then {trust_key} · {deny_key} without them"),
            ];
        }
        vec![
            format!("{trust_key} trust these versions in this folder · {deny_key} continue without them"),
            format!("{trust_key} trust these versions · {deny_key} continue without them"),
            format!("{trust_key} trust · {deny_key} without them"),
        ]
    }

    /// Returns the wrapped text of the prompt.
    pub(super) fn lay_out(&self, facts: &PromptFacts<'_>, width: usize) -> Arc<Page> {
        let (theme, context_window) = (facts.context.theme, facts.agent.context_usage().context_window);
        let check = |target: &LinkTarget| facts.lookups.check_target(target);
        self.line_cache.linked_lines_for(width, context_window, theme, facts.lookups, || {
            let mut body = PromptLines { page: Page::default(), width: width.max(1), theme, check: &check };
            body.push_prompt(self, facts.home, context_window);
            body.page
        })
    }
}

/// Lines of a prompt while they are collected.
struct PromptLines<'a> {
    page: Page,
    width: usize,
    theme: &'a Theme,
    /// Decides which texts are links.
    check: CheckTarget<'a>,
}

impl PromptLines<'_> {
    fn push_prompt(&mut self, prompt: &TrustPrompt, home: Option<&Path>, context_window: Option<u64>) {
        let theme = self.theme;
        if prompt.reason == InspectionReason::FilesChanged {
            self.push_text(
                "A file changed while you read it, so nothing was trusted. This is the new version.",
                theme.warning,
            );
        }
        let folder = abbreviate_home(&prompt.files.folder, home);
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
            self.page.lines.push(Line::default());
            self.push_file(file, context_window, is_shown(file));
        }
        if !prompt.files.other_names.is_empty() {
            self.page.lines.push(Line::default());
            let names: Vec<String> = prompt.files.other_names.iter().map(|name| reveal::reveal_line(name)).collect();
            self.push_text(&format!(".aye/ also contains {}, which aye does not read", names.join(", ")), theme.dim);
        }
        for file in prompt.files.usable().filter(|file| is_shown(file)) {
            self.page.lines.push(Line::default());
            self.push_contents(file);
        }
    }

    /// Adds the heading of a file and, if `shows_effects`, its effects.
    fn push_file(&mut self, file: &ProjectFile, context_window: Option<u64>, shows_effects: bool) {
        let theme = self.theme;
        let mut pieces = split_revealed_links(&file.name, theme.accent, theme.accent, self.check);
        if !matches!(file.kind, ProjectFileKind::Unusable(_)) {
            pieces.push(Piece::new(format!(" · {}", describe_size(file, context_window)), theme.dim));
            let style = if file.trust_state == TrustState::Trusted { theme.dim } else { theme.prompt };
            pieces.push(Piece::new(format!(" · {}", describe_trust(file.trust_state)), style));
        }
        self.page.append_page(wrap::wrap_pieces(&pieces, &Shape::with_width(self.width)));
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
                self.push_prefixed(OUTSIDE_BAR, rule, theme.text);
            }
        }
        if let ProjectFileKind::McpServers { descriptions, .. } = &file.kind {
            self.push_text(&format!("{}, all servers:", file.name), theme.strong);
            for server in descriptions {
                self.push_prefixed(OUTSIDE_BAR, server, theme.text);
            }
        }
        match (&file.diff, &file.kind) {
            (Some(file_diff), _) => {
                let (added, removed) = (file_diff.added, file_diff.removed);
                self.push_text(&format!("{}, changes: +{added} −{removed}", file.name), theme.strong);
                let lines = diff::lay_out_changes(file_diff, self.width.saturating_sub(2).max(1), theme);
                let add_bar = |line| prefix_line(line, Span::styled(OUTSIDE_BAR, theme.border_dim));
                self.page.lines.extend(lines.into_iter().map(add_bar));
            }
            (None, ProjectFileKind::Instructions(instructions)) => {
                let label = if instructions.omitted_bytes() > 0 { "all of its text" } else { "text sent to the model" };
                let suffix = if file.trust_state == TrustState::Changed { " (previous version unknown)" } else { "" };
                self.push_text(&format!("{}, {label}{suffix}:", file.name), theme.strong);
                // What exceeds the limit now may be sent later, when other files are shorter. In prose a tab hides nothing,
                // so it is not marked.
                let text = without_byte_order_mark(&file.text).replace("\r\n", "\n").replace('\t', "    ");
                self.push_prefixed(OUTSIDE_BAR, text.trim_end(), theme.text);
            }
            (None, ProjectFileKind::Tool { .. } | ProjectFileKind::Command { .. } | ProjectFileKind::Skill { .. }) => {
                self.push_text(&format!("{}, all of it:", file.name), theme.strong);
                self.push_prefixed(OUTSIDE_BAR, file.text.replace("\r\n", "\n").trim_end(), theme.text);
            }
            (
                None,
                ProjectFileKind::Rules { .. } | ProjectFileKind::McpServers { .. } | ProjectFileKind::Unusable(_),
            ) => {}
        }
    }

    /// Adds text, with invisible characters marked.
    fn push_text(&mut self, text: &str, style: Style) {
        self.page.lines.extend(wrap_revealed(text, style, self.width, self.theme));
    }

    /// Adds text with a prefix before each of its lines.
    fn push_prefixed(&mut self, prefix: &str, text: &str, style: Style) {
        let shape = Shape::with_prefix(self.width, Piece::new(prefix, self.theme.border_dim));
        self.page.append_page(wrap_revealed_links(text, style, &shape, self.theme, self.check));
    }
}
