//! The page of a file of the workspace: facts about it, and its beginning laid out by its type.

use super::json_view::{JsonView, lay_out_json};
use super::link_lookups::LinkLookups;
use super::pictures::PAGE_CELLS;
use crate::text::clean::clean_text;
use crate::text::link::{CheckTarget, LinkTarget};
use crate::text::workspace_address::{AddressTarget, WorkspaceAddress};
use crate::tui::keys::{Action, Keymap, Scope};
use crate::tui::parts::key_hints::{Hint, key_hint};
use crate::tui::text::markdown::NoPictures;
use crate::tui::text::numbered_lines::NumberedRows;
use crate::tui::text::wrap::wrap_plain;
use crate::tui::text::{Page, blank_rows, code, markdown, numbered_lines, output};
use crate::tui::theme::Theme;
use crate::tui::workspace_data::{FilePreview, ListedFile, PreviewContent};
use ratatui::text::Line;
use std::sync::Arc;

/// The page of a file.
#[derive(Debug, Clone)]
pub struct FilePage {
    pub file: ListedFile,
    /// The shown version.
    pub target: AddressTarget,
    /// The beginning of the file, or why it cannot be read; `None` until it is loaded.
    pub preview: Option<Arc<Result<FilePreview, String>>>,
    /// View of a JSON file; `None` for other files.
    pub json: Option<JsonView>,
}

impl FilePage {
    /// Creates the page of a file that is not loaded yet.
    pub fn new(file: ListedFile, target: AddressTarget) -> Self {
        Self { file, target, preview: None, json: None }
    }

    /// Shows the preview once it is loaded.
    pub fn set_preview(&mut self, preview: Arc<Result<FilePreview, String>>) {
        self.json = match &*preview {
            Ok(FilePreview { content: PreviewContent::Json(outline), .. }) => Some(JsonView::new(outline.clone())),
            Ok(_) | Err(_) => None,
        };
        self.preview = Some(preview);
    }

    /// Returns the hints for the keys of a file in a list, such as `ctrl-o open`. A key that is not bound is left out.
    pub fn key_hints(keys: &Keymap, has_versions: bool) -> Vec<String> {
        let versions = has_versions.then_some((Action::ListVersions, "versions"));
        let actions = [(Action::OpenFile, "open"), (Action::CopyAddress, "copy address")].into_iter();
        let actions = actions.chain(versions).chain([(Action::CopyToProject, "copy to project")]);
        let hints = actions.map(|(action, label)| (keys.first_chord(Scope::Files, action), label));
        hints.filter(|(key, _)| !key.is_empty()).map(|(key, label)| format!("{key} {label}")).collect()
    }

    /// Returns the hints for the keys of the page. If the page has links, the key that opens the file from a list shows them; the page of
    /// a JSON file has none, and `enter` expands and collapses there.
    pub fn page_key_hints(&self, keys: &Keymap) -> Vec<Option<Hint>> {
        let key = |action| keys.first_chord(Scope::Files, action);
        let mut hints = self.json.as_ref().map(|view| view.key_hints(keys)).unwrap_or_default();
        let open_key = if self.json.is_some() { key(Action::OpenFile) } else { "enter".to_owned() };
        // The numbers are the priorities of removal: the highest is removed first.
        hints.extend([
            key_hint(2, &open_key, &["open"]),
            key_hint(4, &key(Action::CopyAddress), &["copy address"]),
            key_hint(7, &key(Action::ListVersions), &["versions"]),
            key_hint(8, &key(Action::CopyToProject), &["copy to project"]),
        ]);
        hints
    }

    /// Returns the page in this width.
    pub fn lay_out_page(&self, width: usize, theme: &Theme, lookups: &LinkLookups) -> PreviewLayout {
        let address = WorkspaceAddress { target: self.target.clone(), media_type: None }.to_string();
        let layout = lay_out_with(self.preview.as_deref(), self.json.as_ref(), width, theme, lookups);
        add_picture(layout, self.preview.as_deref(), &LinkTarget::Workspace(address), width, lookups)
    }
}

/// A page, and which lines of a file its rows show if they have numbers.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PreviewLayout {
    pub page: Page,
    pub numbered: Option<NumberedRows>,
}

impl From<Page> for PreviewLayout {
    fn from(page: Page) -> Self {
        Self { page, numbered: None }
    }
}

/// Lays out a preview, which is `None` until it is loaded, in this width. Its prose has links; code has none, as in a reply. The
/// facts about the file come first, except before numbered lines, which begin with the first row.
pub fn lay_out_preview(
    preview: Option<&Result<FilePreview, String>>,
    target: &LinkTarget,
    width: usize,
    theme: &Theme,
    lookups: &LinkLookups,
) -> PreviewLayout {
    let layout = lay_out_with(preview, None, width, theme, lookups);
    add_picture(layout, preview, target, width, lookups)
}

/// Adds the picture below its description, if it is one and is drawn.
fn add_picture(
    mut layout: PreviewLayout,
    preview: Option<&Result<FilePreview, String>>,
    target: &LinkTarget,
    width: usize,
    lookups: &LinkLookups,
) -> PreviewLayout {
    if matches!(preview, Some(Ok(FilePreview { content: PreviewContent::NoText(_), .. }))) {
        let columns = u16::try_from(width).unwrap_or(u16::MAX).min(PAGE_CELLS.0);
        if let Some(key) = lookups.find_picture(target, (columns, PAGE_CELLS.1)) {
            layout.page.append_page(blank_rows(&key).below_blank_line());
        }
    }
    layout
}

/// Lays out a preview, of which JSON is shown by its view; without one all of it is shown.
fn lay_out_with(
    preview: Option<&Result<FilePreview, String>>,
    json: Option<&JsonView>,
    width: usize,
    theme: &Theme,
    lookups: &LinkLookups,
) -> PreviewLayout {
    let check: CheckTarget<'_> = &|target| lookups.check_target(target);
    let plain = |text: &str, style| Page::from(wrap_plain(text, style, width));
    let preview = match preview {
        None => return plain("Loading…", theme.dim).into(),
        Some(Err(reason)) => return plain(reason, theme.warning).into(),
        Some(Ok(preview)) => preview,
    };
    let mut layout = PreviewLayout::default();
    if let PreviewContent::Lines(numbered) = &preview.content {
        let (lines, rows) = numbered_lines::lay_out_numbered(numbered, width, theme);
        layout = PreviewLayout { page: lines.into(), numbered: Some(rows) };
    } else {
        layout.page.append_page(plain(&preview.facts.join(" · "), theme.dim));
        layout.page.lines.push(Line::default());
        let content = match json {
            Some(view) => Page::from(view.lay_out(layout.page.lines.len(), width, theme)),
            None => lay_out_content(&preview.content, width, theme, check),
        };
        layout.page.append_page(content);
    }
    if !preview.omission.is_empty() {
        layout.page.lines.push(Line::default());
        layout.page.append_page(plain(&preview.omission, theme.dim));
    }
    layout
}

fn lay_out_content(content: &PreviewContent, width: usize, theme: &Theme, check: CheckTarget<'_>) -> Page {
    match content {
        PreviewContent::Markdown(text) => markdown::lay_out_markdown(text, width, theme, check, &NoPictures),
        PreviewContent::Text { name, text } if code::knows_language(name) => {
            code::lay_out_beginning_highlighted(name, &clean_text(text), width, theme)
        }
        PreviewContent::Text { text, .. } => output::lay_out_linked_output(text, theme.text, theme, width, check),
        PreviewContent::Json(outline) => lay_out_json(outline, None, width, theme).0.into(),
        PreviewContent::Table(rows) => markdown::lay_out_cells(rows, width, theme),
        PreviewContent::Lines(numbered) => numbered_lines::lay_out_numbered(numbered, width, theme).0.into(),
        PreviewContent::NoText(description) => wrap_plain(description, theme.text, width).into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::json_outline::JsonOutline;
    use crate::tui::theme::Themes;
    use proptest::prelude::*;

    fn page_of(content: PreviewContent) -> FilePage {
        let (id, path, time) = ("01A".to_owned(), "a".to_owned(), String::new());
        let file = ListedFile { id: id.clone(), path, version: 1, size: 1, time };
        let facts = vec!["text/plain".to_owned(), "1 byte".to_owned()];
        let preview =
            FilePreview { facts, content, omission: "… Not shown: 1 byte after the first 1 byte.".to_owned() };
        let mut page = FilePage::new(file, AddressTarget::Id(id, None));
        page.set_preview(Arc::new(Ok(preview)));
        page
    }

    proptest! {
        #[test]
        fn no_line_is_wider_than_the_page_and_none_can_draw_outside_it(text in "[a漢\u{1b}\u{202e}\u{7}\t\n,\"|`#{}:\\[-]{0,60}", width in 4..60_usize) {
            let theme = Themes::bundled().choose_theme("dark", None);
            let rows = text.lines().map(|line| line.split(',').map(str::to_owned).collect()).collect();
            for content in [
                PreviewContent::Markdown(text.clone()),
                PreviewContent::Text { name: "a.rs".into(), text: text.clone() },
                PreviewContent::Text { name: "json".into(), text: text.clone() },
                PreviewContent::Json(Arc::new(JsonOutline::read(&text, 100).0)),
                PreviewContent::Text { name: "notes".into(), text: text.clone() },
                PreviewContent::Table(rows),
            ] {
                for line in page_of(content.clone()).lay_out_page(width, &theme, &LinkLookups::default()).page.lines {
                    prop_assert!(line.width() <= width, "{content:?}: {line}");
                    let hidden = |c: char| c.is_control() || c == '\u{202e}';
                    prop_assert!(!line.to_string().contains(hidden), "{content:?}: {line}");
                }
            }
        }
    }

    #[test]
    fn code_beyond_the_limit_of_highlighting_is_shown_without_colours() {
        let theme = Themes::bundled().choose_theme("dark", None);
        let text = "let x = 1;\n".repeat(code::MAX_LINES + 2);
        let page = page_of(PreviewContent::Text { name: "a.rs".into(), text });
        let lines = page.lay_out_page(40, &theme, &LinkLookups::default()).page.lines;
        let code_lines: Vec<&Line<'_>> = lines.iter().filter(|line| line.to_string().contains("let x")).collect();
        assert_eq!(code_lines.len(), code::MAX_LINES + 2);
        let has_colours = |line: &Line<'_>| line.spans.iter().any(|span| span.content == "let");
        assert!(has_colours(code_lines[code::MAX_LINES - 1]) && !has_colours(code_lines[code::MAX_LINES]));
    }
}
