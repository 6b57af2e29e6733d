//! Rows of key hints for the border of a frame, each key with its action. If not all fit, the least important are
//! removed.

use crate::tui::theme::Theme;
use ratatui::text::Span;

/// Separator between two hints.
pub const SEPARATOR: &str = " · ";

/// A key and its action.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hint {
    /// Priority of removal: the highest is removed first.
    priority: u8,
    /// Texts, longest first, each starting with the key.
    variants: Vec<String>,
}

/// Creates a hint with descriptions of the key's action, longest first; one may be empty. Returns `None` if the key is unbound (empty).
pub fn key_hint(priority: u8, key: &str, descriptions: &[&str]) -> Option<Hint> {
    let with_key = |description: &&str| format!("{key} {description}").trim_end().to_owned();
    (!key.is_empty()).then(|| Hint { priority, variants: descriptions.iter().map(with_key).collect() })
}

/// Returns rows of these hints, of which the first that fits is drawn. From row to row, one more description is short,
/// the least important first. Once all are short, the least important hint is removed and the others are long again.
pub fn hint_rows(hints: impl IntoIterator<Item = Option<Hint>>) -> Vec<String> {
    let hints: Vec<Hint> = hints.into_iter().flatten().collect();
    let mut by_priority: Vec<usize> = (0..hints.len()).collect();
    by_priority.sort_by_key(|index| hints[*index].priority);
    let mut rows: Vec<String> = Vec::new();
    for hint_count in (1..=hints.len()).rev() {
        for long_count in (0..=hint_count).rev() {
            let texts = hints.iter().enumerate().filter_map(|(index, hint)| {
                let rank = by_priority.iter().position(|hint_index| *hint_index == index)?;
                let text = if rank < long_count { hint.variants.first() } else { hint.variants.last() };
                text.filter(|_| rank < hint_count).map(String::as_str)
            });
            let row = texts.collect::<Vec<_>>().join(SEPARATOR);
            if rows.last() != Some(&row) {
                rows.push(row);
            }
        }
    }
    rows
}

/// Returns a row of hints with each key emphasized, for a line that is no border.
pub fn hint_spans(row: &str, theme: &Theme) -> Vec<Span<'static>> {
    let mut spans = Vec::new();
    for (index, hint) in row.split(SEPARATOR).enumerate() {
        if index > 0 {
            spans.push(Span::styled(SEPARATOR, theme.dim));
        }
        let (key, action) = hint.split_at(hint.find(' ').unwrap_or(hint.len()));
        spans.push(Span::styled(key.to_owned(), theme.prompt));
        spans.push(Span::styled(action.to_owned(), theme.text));
    }
    spans
}

/// Returns rows for a prompt whose end was not seen yet. They begin with the key that jumps to the end and the key that
/// answers after that, with its `action` if there is room.
pub fn hint_rows_with_end_first(
    end_key: &str,
    answer_key: &str,
    action: &str,
    other_hints: &[Option<Hint>],
) -> Vec<String> {
    let hints_with_end =
        |description: String| [key_hint(0, end_key, &[&description])].into_iter().chain(other_hints.iter().cloned());
    let mut rows = hint_rows(hints_with_end(format!("jump to the end, then {answer_key} {action}")));
    rows.extend(hint_rows(hints_with_end(format!("first, then {answer_key}"))));
    rows
}

/// Explains why a key does not answer yet: `The end has not been shown yet · press end to see it`.
pub fn explain_unseen_end(end_key: &str) -> String {
    format!("The end has not been shown yet · press {end_key} to see it")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn descriptions_become_short_before_a_hint_is_removed() {
        let hints = [
            key_hint(0, "y", &["yes"]),
            key_hint(2, "a", &["always…", "always"]),
            key_hint(1, "n", &["deny it", "no"]),
            key_hint(9, "", &["unbound"]),
        ];
        assert_eq!(
            hint_rows(hints),
            [
                "y yes · a always… · n deny it",
                "y yes · a always · n deny it",
                "y yes · a always · n no",
                "y yes · n deny it",
                "y yes · n no",
                "y yes"
            ]
        );
        assert!(hint_rows([]).is_empty());
    }
}
