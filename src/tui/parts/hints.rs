//! Rows of key hints for the border of a frame: as many keys as fit, the most important first, each with its action.

/// A key and its action.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hint {
    /// Priority of removal: the highest is removed first.
    goes: u8,
    /// Texts from the longest to the shortest, each starting with the key.
    words: Vec<String>,
}

/// Creates a hint with these descriptions of its action. Returns `None` if the key is unbound.
pub fn hint(goes: u8, key: &str, words: &[&str]) -> Option<Hint> {
    let said = |words: &&str| format!("{key} {words}");
    (!key.is_empty()).then(|| Hint { goes, words: words.iter().map(said).collect() })
}

/// Returns rows of these hints in this order, fullest first. Descriptions become short before hints are removed, the
/// least important first in both cases.
pub fn rows(hints: impl IntoIterator<Item = Option<Hint>>) -> Vec<String> {
    let hints: Vec<Hint> = hints.into_iter().flatten().collect();
    let mut needed: Vec<usize> = (0..hints.len()).collect();
    needed.sort_by_key(|at| hints[*at].goes);
    let mut rows: Vec<String> = Vec::new();
    for kept in (1..=hints.len()).rev() {
        for long in (0..=kept).rev() {
            let said = hints.iter().enumerate().filter_map(|(at, hint)| {
                let place = needed.iter().position(|needed| *needed == at).filter(|place| *place < kept)?;
                let words = if place < long { hint.words.first() } else { hint.words.last() };
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
pub fn end_first(end: &str, answer: &str, does: &str, rest: &[Option<Hint>]) -> Vec<String> {
    let then = |words: String| [hint(0, end, &[&words])].into_iter().chain(rest.iter().cloned());
    let mut all = rows(then(format!("jump to the end, then {answer} {does}")));
    all.extend(rows(then(format!("end, then {answer}"))));
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn descriptions_become_short_before_a_hint_is_removed() {
        let hints = [
            hint(0, "y", &["yes"]),
            hint(2, "a", &["always…", "always"]),
            hint(1, "n", &["deny it", "no"]),
            hint(9, "", &["unbound"]),
        ];
        assert_eq!(
            rows(hints),
            [
                "y yes · a always… · n deny it",
                "y yes · a always · n deny it",
                "y yes · a always · n no",
                "y yes · n deny it",
                "y yes · n no",
                "y yes"
            ]
        );
        assert!(rows([]).is_empty());
    }
}
