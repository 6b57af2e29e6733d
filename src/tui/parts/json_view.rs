//! The page of a JSON file: a cursor on its lines, and the objects and lists that are collapsed.

use crate::text::clean::clean_line;
use crate::text::json_outline::JsonOutline;
use crate::tui::keys::{Action, Keymap, Scope};
use crate::tui::parts::key_hints::{Hint, key_hint};
use crate::tui::text::code::{self, MAX_LINE_LENGTH, MAX_LINES};
use crate::tui::text::wrap::{CONTINUATION_MARK, Shape, wrap_code};
use crate::tui::text::{Piece, pad_line};
use crate::tui::theme::Theme;
use ratatui::text::Line;
use std::cell::{Cell, RefCell};
use std::ops::Range;
use std::sync::Arc;

/// JSON with collapsed objects and lists. At most [`MAX_LINES`] lines are shown.
#[derive(Debug, Clone)]
pub struct JsonView {
    outline: Arc<JsonOutline>,
    /// For each line of the outline, whether the object or list that begins there is collapsed.
    collapsed: Vec<bool>,
    /// Line of the outline with the cursor. It is never hidden.
    cursor: usize,
    /// Rows of the page that each shown line has in the last layout.
    rows: RefCell<Vec<(usize, Range<usize>)>>,
    /// True if the page has to scroll to the cursor when it is drawn.
    follows_cursor: Cell<bool>,
}

impl JsonView {
    pub fn new(outline: Arc<JsonOutline>) -> Self {
        let collapsed = outline.collapsed_at_first();
        Self { outline, collapsed, cursor: 0, rows: RefCell::default(), follows_cursor: Cell::new(false) }
    }

    fn shown_lines(&self) -> Vec<usize> {
        self.outline.shown_lines(&self.collapsed).take(MAX_LINES).collect()
    }

    /// Moves the cursor by a scroll action. `page_rows` is the height of the page.
    pub fn move_cursor(&mut self, action: Action, page_rows: usize) {
        let shown = self.shown_lines();
        let Some(last) = shown.len().checked_sub(1) else { return };
        let position = shown.partition_point(|line| *line < self.cursor).min(last);
        let position = match action {
            Action::Up => position.saturating_sub(1),
            Action::Down => position.saturating_add(1),
            Action::PageUp => self.position_after_rows(position, page_rows, false),
            Action::PageDown => self.position_after_rows(position, page_rows, true),
            Action::Top => 0,
            Action::Bottom => last,
            _ => return,
        };
        self.cursor = shown[position.min(last)];
        self.follows_cursor.set(true);
    }

    /// Returns the position of the shown line that is this many rows of the last layout below or above another.
    fn position_after_rows(&self, position: usize, page_rows: usize, is_down: bool) -> usize {
        let rows = self.rows.borrow();
        let Some((_, start)) = rows.get(position) else { return position };
        match is_down {
            true => {
                rows.partition_point(|(_, row)| row.start < start.start.saturating_add(page_rows)).max(position + 1)
            }
            false => rows.partition_point(|(_, row)| row.start < start.start.saturating_sub(page_rows)),
        }
    }

    /// Runs the action of a key of JSON values. Returns true if other lines are shown now.
    pub fn run_fold_action(&mut self, action: Action) -> bool {
        let cursor = self.cursor;
        let (is_collapsible, is_collapsed) =
            (cursor < self.collapsed.len() && self.outline.is_collapsible(cursor), self.is_collapsed(cursor));
        self.follows_cursor.set(true);
        match action {
            Action::Toggle if is_collapsible => self.collapsed[cursor] = !is_collapsed,
            Action::Expand if is_collapsed => self.collapsed[cursor] = false,
            Action::Expand if is_collapsible => {
                self.move_cursor(Action::Down, 1);
                return false;
            }
            Action::Collapse if is_collapsible && !is_collapsed => self.collapsed[cursor] = true,
            Action::Collapse if cursor < self.collapsed.len() => {
                self.cursor = self.outline.parent(cursor).unwrap_or(cursor);
                return false;
            }
            Action::ExpandAll => self.toggle_all(),
            _ => return false,
        }
        true
    }

    /// Expands everything, or collapses everything in the outermost value if all is expanded.
    fn toggle_all(&mut self) {
        if self.collapsed.contains(&true) {
            self.collapsed.fill(false);
            // The lines before the cursor may be too many now.
            let shown = self.shown_lines();
            self.cursor = self.cursor.min(shown.last().copied().unwrap_or(0));
            return;
        }
        for line in 0..self.collapsed.len() {
            self.collapsed[line] = self.outline.is_collapsible(line) && self.outline.parent(line).is_some();
        }
        let outer = std::iter::successors(Some(self.cursor), |line| self.outline.parent(*line));
        // The child of the outermost value, or that value itself.
        let shown = self.shown_lines();
        self.cursor = outer.into_iter().find(|line| shown.contains(line)).unwrap_or(0);
    }

    fn is_collapsed(&self, line: usize) -> bool {
        self.collapsed.get(line) == Some(&true)
    }

    /// Returns the hints for the keys on the line of the cursor.
    pub fn key_hints(&self, keys: &Keymap) -> Vec<Option<Hint>> {
        let key = |action| match keys.first_chord(Scope::Json, action) {
            key if key == "left" => "←".to_owned(),
            key if key == "right" => "→".to_owned(),
            key => key,
        };
        let is_collapsible = self.cursor < self.collapsed.len() && self.outline.is_collapsible(self.cursor);
        let (action, verb) = match self.is_collapsed(self.cursor) {
            true => (Action::Expand, "expand"),
            false => (Action::Collapse, "collapse"),
        };
        let fold_keys = [key(Action::Toggle), key(action)].into_iter().filter(|key| is_collapsible && !key.is_empty());
        let all = if self.collapsed.contains(&true) { "expand all" } else { "collapse all" };
        // The numbers are the priorities of removal: the highest is removed first.
        vec![
            key_hint(2, &fold_keys.collect::<Vec<_>>().join("/"), &[verb]),
            key_hint(3, &key(Action::ExpandAll), &[all]),
        ]
    }

    /// Lays out the shown lines below `first_row` rows of the page.
    pub fn lay_out(&self, first_row: usize, width: usize, theme: &Theme) -> Vec<Line<'static>> {
        let (lines, rows) = lay_out_json(&self.outline, Some(&self.collapsed), width, theme);
        let to_page = |(line, rows): (usize, Range<usize>)| (line, rows.start + first_row..rows.end + first_row);
        *self.rows.borrow_mut() = rows.into_iter().map(to_page).collect();
        lines
    }

    /// Returns the rows of the page with the line of the cursor.
    pub fn cursor_rows(&self) -> Range<usize> {
        let rows = self.rows.borrow();
        let found = rows.binary_search_by_key(&self.cursor, |(line, _)| *line);
        found.map_or(0..0, |index| rows[index].1.clone())
    }

    /// Returns the first row to draw, so that the cursor is in view if it has moved since the page was drawn. `row_count` and
    /// `page_rows` are the heights of the text and of the page.
    pub fn scroll_to_cursor(&self, top: usize, row_count: usize, page_rows: usize) -> usize {
        if !self.follows_cursor.take() {
            return top;
        }
        let (cursor, rows) = (self.cursor_rows(), self.rows.borrow());
        // The first and the last line are shown with what is above and below them.
        if rows.first().is_some_and(|(_, first)| *first == cursor) && cursor.end <= page_rows {
            return 0;
        }
        if rows.last().is_some_and(|(_, last)| *last == cursor) {
            return row_count.saturating_sub(page_rows);
        }
        top.min(cursor.start).max(cursor.end.saturating_sub(page_rows).min(cursor.start))
    }
}

/// Lays out at most [`MAX_LINES`] lines, highlighted. With `collapsed`, objects and lists have a sign for their state. Also
/// returns the rows of each shown line.
pub fn lay_out_json(
    outline: &JsonOutline,
    collapsed: Option<&[bool]>,
    width: usize,
    theme: &Theme,
) -> (Vec<Line<'static>>, Vec<(usize, Range<usize>)>) {
    let is_collapsed = |line: usize| collapsed.is_some_and(|collapsed| collapsed.get(line) == Some(&true));
    let shown: Vec<usize> = outline.shown_lines(collapsed.unwrap_or_default()).take(MAX_LINES + 1).collect();
    let is_cut = shown.len() > MAX_LINES;
    let shown = &shown[..shown.len().min(MAX_LINES)];
    let text = |line: &usize| match is_collapsed(*line) {
        true => outline.collapsed_line(*line),
        false => outline.line(*line).to_owned(),
    };
    let texts: Vec<String> = shown.iter().map(|line| clean_line(&text(line)).into_owned()).collect();
    let fits = texts.iter().all(|text| text.len() <= MAX_LINE_LENGTH);
    let highlighting = fits.then(|| code::highlight("json", &texts.join("\n")));
    let style = theme.code_block;
    let continuation_mark = Piece::new(CONTINUATION_MARK, style.patch(theme.dim));
    let (mut lines, mut rows) = (Vec::new(), Vec::new());
    for (index, (line, text)) in shown.iter().zip(&texts).enumerate() {
        let sign = match (collapsed.is_some() && outline.is_collapsible(*line), is_collapsed(*line)) {
            (true, true) => " ▸ ",
            (true, false) => " ▾ ",
            (false, _) if collapsed.is_some() => "   ",
            (false, _) => " ",
        };
        let next_prefix = vec![Piece::new(" ".repeat(sign.chars().count()), style)];
        let first_prefix = vec![Piece::new(sign, style.patch(theme.dim))];
        let shape = Shape { width, first_prefix, next_prefix, verbatim: true, ..Shape::default() };
        let roles = highlighting.as_ref().and_then(|found| found.lines.get(index)).map_or(&[][..], Vec::as_slice);
        let start = lines.len();
        lines.extend(wrap_code(&code::code_pieces(text, roles, style, theme), &shape, &continuation_mark).lines);
        rows.push((*line, start..lines.len()));
    }
    lines.iter_mut().for_each(|line| pad_line(line, width, style));
    if is_cut {
        let text = format!("… More than {MAX_LINES} lines. Collapse some, or open the file to see all of it.");
        lines.push(Line::default());
        lines.extend(crate::tui::text::wrap::wrap_plain(&text, theme.dim, width));
    }
    (lines, rows)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tui::parts::key_hints::hint_rows;
    use crate::tui::theme::Themes;
    use proptest::prelude::*;

    fn view_of(source: &str) -> JsonView {
        JsonView::new(Arc::new(JsonOutline::read(source, 20_000).0))
    }

    fn lay_out(view: &JsonView, width: usize) -> Vec<String> {
        let lines = view.lay_out(2, width, &Themes::bundled().choose_theme("dark", None));
        lines.iter().map(|line| line.to_string().trim_end().to_owned()).collect()
    }

    fn hints(view: &JsonView) -> String {
        hint_rows(view.key_hints(&Keymap::default())).swap_remove(0)
    }

    #[test]
    fn the_value_under_the_cursor_collapses_and_expands() {
        let mut view = view_of(r#"{"a":[[],[1]],"b":{"c":[[]],"d":null}}"#);
        view.move_cursor(Action::Down, 10);
        assert!(view.run_fold_action(Action::Collapse));
        let collapsed = [" ▾ {", " ▸   \"a\": [ … 2 items ],", " ▾   \"b\": {", " ▾     \"c\": [", "         []"];
        assert_eq!(lay_out(&view, 40)[..5], collapsed);
        assert_eq!(view.cursor_rows(), 3..4);
        assert_eq!(hints(&view), "enter/→ expand · alt-u expand all");
        assert!(!view.run_fold_action(Action::Collapse));
        lay_out(&view, 40);
        assert_eq!(view.cursor_rows(), 2..3);
        assert!(view.run_fold_action(Action::ExpandAll));
        assert_eq!(lay_out(&view, 40)[1..3], [" ▾   \"a\": [", "       [],"]);
        view.move_cursor(Action::Bottom, 10);
        assert!(view.run_fold_action(Action::ExpandAll));
        assert_eq!(lay_out(&view, 40), [" ▾ {", collapsed[1], " ▸   \"b\": { … 2 keys }", "   }"]);
        assert_eq!(hints(&view), "alt-u expand all");
    }

    #[test]
    fn the_page_follows_the_cursor() {
        let numbers: Vec<String> = (0..100).map(|number| number.to_string()).collect();
        let mut view = view_of(&format!("[{}]", numbers.join(",")));
        let row_count = lay_out(&view, 40).len() + 2;
        assert_eq!(view.scroll_to_cursor(7, row_count, 10), 7);
        let mut top = 0;
        for (action, expected_top, cursor) in [
            (Action::Down, 0, 3..4),
            (Action::PageDown, 4, 13..14),
            (Action::PageUp, 3, 3..4),
            (Action::Up, 0, 2..3),
            (Action::Bottom, row_count - 10, row_count - 1..row_count),
            (Action::Up, row_count - 10, row_count - 2..row_count - 1),
            (Action::Top, 0, 2..3),
        ] {
            view.move_cursor(action, 10);
            lay_out(&view, 40);
            top = view.scroll_to_cursor(top, row_count, 10);
            assert_eq!((top, view.cursor_rows()), (expected_top, cursor), "{action:?}");
        }
    }

    #[test]
    fn only_a_number_of_lines_is_laid_out() {
        let mut view = view_of(&format!("[{}]", vec!["[[]]"; 5000].join(",")));
        view.run_fold_action(Action::ExpandAll);
        view.run_fold_action(Action::ExpandAll);
        view.move_cursor(Action::Bottom, 10);
        let lines = lay_out(&view, 80);
        assert_eq!(lines.len(), MAX_LINES + 2);
        assert!(lines.last().unwrap().starts_with("… More than 2000 lines."), "{lines:?}");
        assert_eq!(view.cursor_rows(), MAX_LINES + 1..MAX_LINES + 2);
    }

    proptest! {
        #[test]
        fn the_cursor_is_always_on_a_shown_line(source in "[\\[\\]{},:\" 1a]{0,60}", keys in prop::collection::vec(0..10_usize, 0..30)) {
            let mut view = view_of(&source);
            for key in keys {
                lay_out(&view, 20);
                let moves = [Action::Up, Action::Down, Action::PageUp, Action::PageDown, Action::Top, Action::Bottom];
                let folds = [Action::Toggle, Action::Expand, Action::Collapse, Action::ExpandAll];
                match moves.get(key) {
                    Some(action) => view.move_cursor(*action, 5),
                    None => {
                        view.run_fold_action(folds[key - moves.len()]);
                    }
                }
                prop_assert!(view.shown_lines().contains(&view.cursor), "{view:?}");
            }
        }
    }
}
