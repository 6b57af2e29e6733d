//! Rows of the todo list above the composer.

use crate::chat::todo_list::{TodoList, TodoStatus};
use crate::text::clean::clean_line;
use crate::text::width::{fit_start, text_width};
use crate::tui::theme::Theme;
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use std::ops::Range;

/// Minimum columns of a todo next to the progress.
const MIN_TEXT: usize = 12;

/// What the rows show.
#[derive(Debug, Clone, Copy)]
pub struct TodoRows<'a> {
    pub list: &'a TodoList,
    /// False if no turn runs: then no todo is shown as being worked on.
    pub is_running: bool,
}

/// Lays out the todos in at most `max_rows` rows of `width` columns, the current one always among them. The first row ends
/// with the progress and the number of todos that have no row.
pub fn lay_out_todos(
    TodoRows { list, is_running }: TodoRows<'_>,
    width: usize,
    max_rows: usize,
    theme: &Theme,
) -> Vec<Line<'static>> {
    let shown = shown_range(list, max_rows);
    let progress = match list.todos.len() - shown.len() {
        0 => format!("  {}", list.progress()),
        hidden => format!("  {} · {hidden} more", list.progress()),
    };
    let rows = list.todos.iter().skip(shown.start).take(shown.len()).enumerate();
    rows.map(|(row, todo)| {
        let (mark, style) = match todo.status {
            TodoStatus::Completed => ("✓ ", theme.dim),
            TodoStatus::InProgress if is_running => ("▸ ", theme.accent),
            TodoStatus::InProgress | TodoStatus::Pending => ("○ ", theme.text),
        };
        let mark_style = if todo.status == TodoStatus::Completed { theme.success } else { style };
        let progress = if row == 0 && width >= text_width(&progress) + MIN_TEXT { progress.as_str() } else { "" };
        let room = width.saturating_sub(text_width(mark) + text_width(progress));
        let text = if is_running { todo.text() } else { &todo.content };
        let text = fit_start(clean_line(text).trim(), room).into_owned();
        let blanks = " ".repeat(room.saturating_sub(text_width(&text)));
        Line::from(vec![
            Span::styled(mark, mark_style),
            Span::styled(text, style),
            Span::styled(blanks, Style::default()),
            Span::styled(progress.to_owned(), theme.dim),
        ])
    })
    .collect()
}

/// Returns which todos are shown: one that is done before the current one, and what follows.
fn shown_range(list: &TodoList, max_rows: usize) -> Range<usize> {
    let count = list.todos.len().min(max_rows);
    let lead = usize::from(max_rows > 2);
    let start = list.current_index().unwrap_or(0).saturating_sub(lead).min(list.todos.len() - count);
    start..start + count
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chat::todo_list::Todo;

    fn rows(done: usize, count: usize, width: usize, max_rows: usize) -> Vec<String> {
        let todo = |index: usize| Todo {
            content: format!("Do {index}"),
            active_form: format!("Doing {index}"),
            status: match index {
                _ if index < done => TodoStatus::Completed,
                _ if index == done => TodoStatus::InProgress,
                _ => TodoStatus::Pending,
            },
        };
        let list = TodoList { todos: (0..count).map(todo).collect() };
        let todos = TodoRows { list: &list, is_running: true };
        lay_out_todos(todos, width, max_rows, &Theme::default()).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn all_todos_are_shown_if_they_fit() {
        let rows = rows(1, 3, 26, 4);
        let trimmed: Vec<&str> = rows.iter().map(|row| row.trim_end()).collect();
        assert_eq!(trimmed, ["✓ Do 0         1 of 3 done", "▸ Doing 1", "○ Do 2"]);
    }

    #[test]
    fn the_current_todo_is_always_shown() {
        for max_rows in 1..8 {
            for done in 0..12 {
                let rows = rows(done, 12, 40, max_rows);
                assert_eq!(rows.len(), max_rows);
                assert!(rows.iter().any(|row| row.contains(&format!("Doing {done} "))), "{done} {max_rows} {rows:?}");
                assert!(rows[0].ends_with(&format!("{done} of 12 done · {} more", 12 - max_rows)), "{rows:?}");
            }
        }
    }

    #[test]
    fn rows_are_never_wider_than_the_screen_and_hold_no_control_characters() {
        for text in ["本".repeat(60), "a\nb\u{1b}[31m\u{7}c".to_owned(), "e\u{301}".repeat(90), "\u{202e}x".to_owned()]
        {
            let todo = Todo { content: text.clone(), active_form: text.clone(), status: TodoStatus::InProgress };
            let list = TodoList { todos: vec![todo] };
            for width in 0..80 {
                for row in lay_out_todos(TodoRows { list: &list, is_running: true }, width, 3, &Theme::default()) {
                    let row = row.to_string();
                    assert!(text_width(&row) <= width.max(2), "{width} {row:?}");
                    assert!(!row.contains(char::is_control), "{row:?}");
                }
            }
        }
    }
}
