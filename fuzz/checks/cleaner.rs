//! Text that is shown: nothing in it controls the terminal, on the screen or on a card, and nothing hides on a card.

use aye::tui::text::{clean, output, reveal, width};
use aye::tui::theme::Themes;

/// Bytes as text.
pub fn check(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let once = clean::clean(&text);
    is_calm(&once);
    assert_eq!(clean::clean(&once), once, "cleaned twice it is another text");
    let line = clean::one_line(&text);
    is_calm(&line);
    assert!(!line.contains('\n'), "more than a line");

    let words = reveal::words(&text);
    is_calm(&words);
    let seen = |text: &str| text.chars().filter(|c| !" \t\n".contains(*c)).count();
    assert!(words.chars().count() >= seen(&text), "a letter is lost on a card");
    let line = reveal::one_line(&text);
    is_calm(&line);
    assert!(!line.contains('\n'), "more than a line on a card");
    is_calm(&reveal::unhidden(&text).replace('\t', " "));

    for cells in [0, 1, 2, 7, 80] {
        assert!(width::width(width::cut(&line, cells)) <= cells);
        assert!(width::width(&width::fit(&line, cells)) <= cells);
        assert!(width::width(&width::fit_end(&line, cells)) <= cells);
    }

    let theme = Themes::bundled().choose("dark", None);
    let shown = output::shown(&text, theme.text, &theme);
    is_calm(&shown.text);
    for (end, _) in &shown.looks {
        assert!(shown.text.is_char_boundary(*end), "a look ends inside of a letter");
    }
    for columns in [1, 2, 40] {
        for line in output::lines(&text, theme.text, &theme, columns) {
            let line: String = line.spans.iter().map(|span| span.content.as_ref()).collect();
            is_calm(&line);
            assert!(width::width(&line) <= columns, "{line:?} is wider than {columns}");
        }
    }
}

fn is_calm(text: &str) {
    let controls = text.chars().find(|c| *c != '\n' && c.is_control());
    assert_eq!(controls, None, "it controls the terminal: {text:?}");
}
