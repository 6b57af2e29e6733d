//! Width of text in terminal columns, as ratatui counts it.

use std::borrow::Cow;
use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

/// Returns the width of a text on one line.
pub fn text_width(text: &str) -> usize {
    if text.is_ascii() {
        return text.bytes().filter(|byte| !byte.is_ascii_control()).count();
    }
    text.graphemes(true).map(grapheme_width).sum()
}

/// Returns the width of one grapheme. One with a control character is not drawn and has width 0.
pub fn grapheme_width(grapheme: &str) -> usize {
    match grapheme.len() {
        1 => usize::from(!grapheme.as_bytes()[0].is_ascii_control()),
        _ if grapheme.contains(char::is_control) => 0,
        _ => grapheme.width(),
    }
}

/// Returns the longest prefix that fits into `max_columns`, cut between graphemes.
pub fn cut_to_width(text: &str, max_columns: usize) -> &str {
    let mut columns = 0;
    for (index, grapheme) in text.grapheme_indices(true) {
        columns += grapheme_width(grapheme);
        if columns > max_columns {
            return &text[..index];
        }
    }
    text
}

/// Returns the text, truncated to `max_columns` with `…` at the end if needed.
pub fn fit_start(text: &str, max_columns: usize) -> Cow<'_, str> {
    if text_width(text) <= max_columns {
        return Cow::Borrowed(text);
    }
    match max_columns.checked_sub(1) {
        Some(columns) => Cow::Owned(format!("{}…", cut_to_width(text, columns))),
        None => Cow::Borrowed(""),
    }
}

/// Returns a path, shortened to `max_columns` in the middle if needed: its first folder and its end stay. With too few
/// columns for both, only its end does.
pub fn fit_path(path: &str, max_columns: usize) -> Cow<'_, str> {
    if text_width(path) <= max_columns {
        return Cow::Borrowed(path);
    }
    let first_folder = path.match_indices('/').find(|(index, _)| *index > 0).map_or("", |(index, _)| &path[..=index]);
    let columns_left = max_columns.saturating_sub(text_width(first_folder));
    let name = path.rsplit('/').next().unwrap_or(path);
    match columns_left > text_width(name) {
        true => Cow::Owned(format!("{first_folder}{}", fit_end(path, columns_left))),
        false => fit_end(path, max_columns),
    }
}

/// Returns the text, truncated to `max_columns` with `…` at the start if needed.
pub fn fit_end(text: &str, max_columns: usize) -> Cow<'_, str> {
    if text_width(text) <= max_columns {
        return Cow::Borrowed(text);
    }
    if max_columns == 0 {
        return Cow::Borrowed("");
    }
    // `…` takes one column.
    let (mut columns, mut start) = (1, text.len());
    for (index, grapheme) in text.grapheme_indices(true).rev() {
        columns += grapheme_width(grapheme);
        if columns > max_columns {
            break;
        }
        start = index;
    }
    Cow::Owned(format!("…{}", &text[start..]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use ratatui::buffer::Buffer;
    use ratatui::layout::Rect;
    use ratatui::style::Style;

    #[test]
    fn a_path_is_shortened_in_the_middle() {
        let path = "src/tui/prompts/approval/approval_layout.rs";
        for columns in 0..50 {
            let fitted = fit_path(path, columns);
            assert!(text_width(&fitted) <= columns && (columns < 3 || fitted.ends_with("rs")), "{columns}: {fitted}");
        }
        assert_eq!(fit_path(path, 43), path);
        assert_eq!(fit_path(path, 42), "src/…i/prompts/approval/approval_layout.rs");
        assert_eq!(fit_path(path, 23), "src/…approval_layout.rs");
        assert_eq!(fit_path(path, 22), "…al/approval_layout.rs");
        assert_eq!(fit_path("/etc/ssl/certs/ca.pem", 13), "/etc/…/ca.pem");
        assert_eq!(fit_path("a_long_name_without_folder.rs", 10), "…folder.rs");
    }

    #[test]
    fn r34_width_equals_the_drawn_width() {
        let texts = [
            "plain",
            "漢字",
            "e\u{301}",
            "👩\u{200d}👩\u{200d}👧",
            "🇩🇪",
            "❤\u{fe0f}",
            "\u{fdfd}",
            "한국어",
            "a\tb",
            "ก็",
            "नमस्ते",
            "1\u{fe0f}\u{20e3}",
            "\u{1F1E9}",
            "ｱｲｳ",
            "",
        ];
        for text in texts {
            let mut buffer = Buffer::empty(Rect::new(0, 0, 40, 1));
            let (end_column, _) = buffer.set_stringn(0, 0, text, 40, Style::new());
            assert_eq!(text_width(text), usize::from(end_column), "{text:?}");
        }
    }

    #[test]
    fn truncates_between_graphemes() {
        assert_eq!(cut_to_width("a漢b", 2), "a");
        assert_eq!(cut_to_width("👩\u{200d}👧x", 2), "👩\u{200d}👧");
        assert_eq!(
            (fit_start("abcdef", 4), fit_start("abc", 3), fit_start("abc", 0)),
            ("abc…".into(), "abc".into(), "".into())
        );
        assert_eq!((fit_end("src/main.rs", 8), fit_end("漢字", 2)), ("…main.rs".into(), "…".into()));
    }
}
