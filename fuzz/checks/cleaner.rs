//! Text for the screen: nothing in a control character, and prompts show every character.

use aye::text::{clean, reveal, width};
use aye::tui::text::output;
use aye::tui::theme::{Theme, Themes};
use std::sync::LazyLock;

static THEME: LazyLock<Theme> = LazyLock::new(|| Themes::bundled().choose_theme("dark", None));

/// Checks these bytes as text.
pub fn check(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let once = clean::clean_text(&text);
    assert_no_controls(&once);
    assert_eq!(clean::clean_text(&once), once, "cleaning is not idempotent");
    let line = clean::clean_line(&text);
    assert_no_controls(&line);
    assert!(!line.contains('\n'), "cleaned to more than one line");

    let revealed = reveal::reveal_to_string(&text);
    assert_no_controls(&revealed);
    let count_visible = |text: &str| text.chars().filter(|c| !" \t\n".contains(*c)).count();
    assert!(revealed.chars().count() >= count_visible(&text), "a prompt hides a character");
    let line = reveal::reveal_line(&text);
    assert_no_controls(&line);
    assert!(!line.contains('\n'), "revealed on more than one line");
    assert_no_controls(&reveal::mark_invisible(&text).replace('\t', " "));

    for cells in [0, 1, 2, 7, 80] {
        assert!(width::text_width(width::cut_to_width(&line, cells)) <= cells);
        assert!(width::text_width(&width::fit_start(&line, cells)) <= cells);
        assert!(width::text_width(&width::fit_end(&line, cells)) <= cells);
    }

    let theme = &*THEME;
    let shown = output::parse_output(&text, theme.text, theme);
    assert_no_controls(&shown.text);
    for (end, _) in &shown.style_ends {
        assert!(shown.text.is_char_boundary(*end), "a style ends inside a character");
    }
    for columns in [1, 2, 40] {
        for line in output::lay_out_output(&text, theme.text, theme, columns) {
            let line: String = line.spans.iter().map(|span| span.content.as_ref()).collect();
            assert_no_controls(&line);
            assert!(width::text_width(&line) <= columns, "{line:?} is wider than {columns}");
        }
    }
}

fn assert_no_controls(text: &str) {
    let controls = text.chars().find(|c| *c != '\n' && c.is_control());
    assert_eq!(controls, None, "a control character: {text:?}");
}
