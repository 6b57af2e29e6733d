//! Text that is shown: nothing in it controls the terminal, on the screen or on a card, and nothing hides on a card.

use aye::tui::text::{clean, output, reveal, width};
use aye::tui::theme::{Theme, Themes};
use std::sync::LazyLock;

static THEME: LazyLock<Theme> = LazyLock::new(|| Themes::bundled().choose_theme("dark", None));

/// Bytes as text.
pub fn check(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let once = clean::clean_text(&text);
    is_calm(&once);
    assert_eq!(clean::clean_text(&once), once, "cleaned twice it is another text");
    let line = clean::clean_line(&text);
    is_calm(&line);
    assert!(!line.contains('\n'), "more than a line");

    let words = reveal::reveal_to_string(&text);
    is_calm(&words);
    let seen = |text: &str| text.chars().filter(|c| !" \t\n".contains(*c)).count();
    assert!(words.chars().count() >= seen(&text), "a letter is lost on a card");
    let line = reveal::reveal_line(&text);
    is_calm(&line);
    assert!(!line.contains('\n'), "more than a line on a card");
    is_calm(&reveal::mark_invisible(&text).replace('\t', " "));

    for cells in [0, 1, 2, 7, 80] {
        assert!(width::text_width(width::cut_to_width(&line, cells)) <= cells);
        assert!(width::text_width(&width::fit_start(&line, cells)) <= cells);
        assert!(width::text_width(&width::fit_end(&line, cells)) <= cells);
    }

    let theme = &*THEME;
    let shown = output::parse_output(&text, theme.text, theme);
    is_calm(&shown.text);
    for (end, _) in &shown.style_ends {
        assert!(shown.text.is_char_boundary(*end), "a look ends inside of a letter");
    }
    for columns in [1, 2, 40] {
        for line in output::lay_out_output(&text, theme.text, theme, columns) {
            let line: String = line.spans.iter().map(|span| span.content.as_ref()).collect();
            is_calm(&line);
            assert!(width::text_width(&line) <= columns, "{line:?} is wider than {columns}");
        }
    }
}

fn is_calm(text: &str) {
    let controls = text.chars().find(|c| *c != '\n' && c.is_control());
    assert_eq!(controls, None, "it controls the terminal: {text:?}");
}
