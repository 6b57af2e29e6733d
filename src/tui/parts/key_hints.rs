//! Rows of key hints for the border of a frame: as many keys as fit, the most important first, each with its action.

/// A key and its action.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hint {
    /// Priority of removal: the highest is removed first.
    priority: u8,
    /// Texts from the longest to the shortest, each starting with the key.
    variants: Vec<String>,
}

/// Creates a hint with these descriptions of its action. Returns `None` if the key is unbound.
pub fn key_hint(goes: u8, key: &str, words: &[&str]) -> Option<Hint> {
    let said = |words: &&str| format!("{key} {words}");
    (!key.is_empty()).then(|| Hint { priority: goes, variants: words.iter().map(said).collect() })
}

/// Returns rows of these hints in this order, fullest first. Descriptions become short before hints are removed, the
/// least important first in both cases.
pub fn hint_rows(hints: impl IntoIterator<Item = Option<Hint>>) -> Vec<String> {
    let hints: Vec<Hint> = hints.into_iter().flatten().collect();
    let mut needed: Vec<usize> = (0..hints.len()).collect();
    needed.sort_by_key(|at| hints[*at].priority);
    let mut rows: Vec<String> = Vec::new();
    for kept in (1..=hints.len()).rev() {
        for long in (0..=kept).rev() {
            let said = hints.iter().enumerate().filter_map(|(at, hint)| {
                let place = needed.iter().position(|needed| *needed == at).filter(|place| *place < kept)?;
                let words = if place < long { hint.variants.first() } else { hint.variants.last() };
                words.map(String::as_str)
            });
            let row = said.collect::<Vec<_>>().join(" · ");
            if rows.last() != Some(&row) {
                rows.push(row);
            }
        }
    }
    rows
}

/// Returns rows for a prompt whose end was not seen yet: first the key that jumps to the end, then the key that answers
/// and its action if there is room.
pub fn hint_rows_with_end_first(end: &str, answer: &str, does: &str, rest: &[Option<Hint>]) -> Vec<String> {
    let then = |words: String| [key_hint(0, end, &[&words])].into_iter().chain(rest.iter().cloned());
    let mut all = hint_rows(then(format!("jump to the end, then {answer} {does}")));
    all.extend(hint_rows(then(format!("end, then {answer}"))));
    all
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
