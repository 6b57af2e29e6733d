//! Lines of a file with their numbers, some of them marked.

use super::code::{self, MAX_LINE_LENGTH, MAX_LINES};
use super::wrap::{CONTINUATION_MARK, Shape, wrap_code};
use super::{Piece, pad_line};
use crate::text::clean::clean_text;
use crate::tui::theme::Theme;
use crate::tui::workspace_data::NumberedLines;
use ratatui::text::Line;

/// Lays out the lines, highlighted if the language of the file is known and they are not too many. Also returns the index of the
/// first marked line, if any.
pub fn lay_out_numbered(lines: &NumberedLines, width: usize, theme: &Theme) -> (Vec<Line<'static>>, Option<usize>) {
    let text = clean_text(&lines.text);
    let texts: Vec<&str> = text.strip_suffix('\n').unwrap_or(&text).split('\n').collect();
    let fits = texts.len() <= MAX_LINES && texts.iter().all(|line| line.len() <= MAX_LINE_LENGTH);
    let highlighting = (fits && code::knows_language(&lines.name)).then(|| code::highlight(&lines.name, &text));
    let digits = (lines.first + texts.len().saturating_sub(1)).to_string().len();
    let continuation_mark = Piece::new(CONTINUATION_MARK, theme.code_block.patch(theme.dim));
    let (mut laid_out, mut first_marked) = (Vec::new(), None);
    for (index, line) in texts.into_iter().enumerate() {
        let number = lines.first + index;
        let is_marked = lines.marked.contains(&number);
        let style = theme.code_block;
        let (mark, number_style) = match is_marked {
            true => ("▌", theme.accent),
            false => (" ", theme.dim),
        };
        let prefix = |text: &str| vec![Piece::new(format!("{mark}{text:>digits$} "), style.patch(number_style))];
        let (first_prefix, next_prefix) = (prefix(&number.to_string()), prefix(""));
        let shape = Shape { width, first_prefix, next_prefix, verbatim: true, ..Shape::default() };
        let roles = highlighting.as_ref().and_then(|found| found.lines.get(index)).map_or(&[][..], Vec::as_slice);
        if is_marked && first_marked.is_none() {
            first_marked = Some(laid_out.len());
        }
        laid_out.extend(wrap_code(&code::code_pieces(line, roles, style, theme), &shape, &continuation_mark).lines);
    }
    laid_out.iter_mut().for_each(|line| pad_line(line, width, theme.code_block));
    (laid_out, first_marked)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tui::theme::Themes;

    fn lay_out(
        text: &str,
        first: usize,
        marked: std::ops::RangeInclusive<usize>,
        width: usize,
    ) -> (Vec<String>, Option<usize>) {
        let theme = Themes::bundled().choose_theme("dark", None);
        let lines = NumberedLines { name: "a.rs".into(), text: text.into(), first, marked };
        let (lines, marked) = lay_out_numbered(&lines, width, &theme);
        (lines.iter().map(|line| line.to_string().trim_end().to_owned()).collect(), marked)
    }

    #[test]
    fn lines_have_their_numbers_and_the_marked_ones_a_bar() {
        let (lines, marked) = lay_out("let a = 1;\nlet b = 2;\n\nend\n", 8, 9..=10, 40);
        assert_eq!(lines, ["  8 let a = 1;", "▌ 9 let b = 2;", "▌10", " 11 end"]);
        assert_eq!(marked, Some(1));
    }

    #[test]
    fn a_long_line_goes_on_below_with_its_mark_and_no_control_reaches_the_screen() {
        let (lines, marked) = lay_out(&format!("{}\n\u{1b}]0;x\u{7}b\n", "word ".repeat(6)), 1, 2..=2, 20);
        assert!(lines[1].starts_with(" ↪") && lines.len() > 2, "{lines:?}");
        assert_eq!(marked, Some(2));
        assert!(lines[2..].iter().all(|line| line.starts_with('▌')), "{lines:?}");
        assert!(!lines.concat().contains(char::is_control), "{lines:?}");
        assert_eq!(lay_out("", 1, 3..=3, 20), (vec![" 1".to_owned()], None));
    }
}
