//! Replies: no line is too wide, nothing controls the terminal, and a layout in parts equals the layout of the whole.

use super::split_first_byte;
use aye::text::link::Existence;
use aye::text::width;
use aye::tui::text::markdown::{NoPictures, complete_rows_length, defines_reference, lay_out_markdown, stable_prefix};
use aye::tui::text::{Page, code};
use aye::tui::theme::{Theme, Themes};
use std::sync::LazyLock;

static THEME: LazyLock<Theme> = LazyLock::new(|| Themes::bundled().choose_theme("dark", None));

/// Checks a layout. The first byte is the width, the rest is Markdown.
pub fn check(bytes: &[u8]) {
    let (first, source) = split_first_byte(bytes);
    let columns = usize::from(first % 100) + 1;
    let whole = page(&source, columns);
    for line in &whole.lines {
        let line: String = line.spans.iter().map(|span| span.content.as_ref()).collect();
        assert!(width::text_width(&line) <= columns, "{line:?} is wider than {columns}");
        assert!(line.chars().all(|c| !c.is_control()), "{line:?} controls the terminal");
    }
    for link in &whole.links {
        let within = link.start < link.end && usize::from(link.end) <= columns;
        assert!(within && link.line < whole.lines.len(), "{link:?} is outside the text");
    }
    assert!(source.is_char_boundary(complete_rows_length(&source)));
    check_stable_prefix(&source, columns, &whole);
    for language in ["rust", "python", "sh", "json", "html", "diff"] {
        code::lay_out_highlighted(language, &source, columns, &THEME);
    }
}

fn page(source: &str, columns: usize) -> Page {
    lay_out_markdown(source, columns, &THEME, &|_| Existence::Exists, &NoPictures)
}

/// Checks that the stable prefix of the first half needs no new layout when the rest arrives.
fn check_stable_prefix(source: &str, columns: usize, whole: &Page) {
    let half = (source.len() / 2..).find(|at| source.is_char_boundary(*at)).unwrap_or_default();
    let stable = stable_prefix(&source[..half]);
    let (before, after) = source.split_at(stable);
    if stable == 0 || defines_reference(before) || defines_reference(after) {
        return;
    }
    let (mut parts, after) = (page(before, columns), page(after, columns));
    if !parts.lines.is_empty() && !after.lines.is_empty() {
        parts.lines.push(Default::default());
    }
    parts.append_page(after);
    assert_eq!(&parts, whole, "split at {stable} the page differs");
}
