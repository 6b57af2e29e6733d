//! Rows of hints for the border of a frame: as many keys as fit, the most needed first, and none without its word.

/// One key and what it does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hint {
    /// How soon it is left out: the highest goes first.
    goes: u8,
    /// What is said, from the longest to the shortest, the key first.
    words: Vec<String>,
}

/// A hint for a key, said in one of these ways. Without a key it is none.
pub fn hint(goes: u8, key: &str, words: &[&str]) -> Option<Hint> {
    let said = |words: &&str| format!("{key} {words}");
    (!key.is_empty()).then(|| Hint { goes, words: words.iter().map(said).collect() })
}

/// Rows of these hints in this order, the fullest first: first what is said becomes short, that of the least needed before
/// others, and then the least needed is left out.
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

/// The same of a card whose end was not seen yet: the key that shows it comes first, then the one that answers and what that
/// does, where there is room.
pub fn end_first(end: &str, answer: &str, does: &str, rest: &[Option<Hint>]) -> Vec<String> {
    let then = |words: String| [hint(0, end, &[&words])].into_iter().chain(rest.iter().cloned());
    let mut all = rows(then(format!("shows the end, then {answer} {does}")));
    all.extend(rows(then(format!("the end, then {answer}"))));
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_become_short_before_a_key_is_left_out() {
        let hints = [
            hint(0, "y", &["yes"]),
            hint(2, "a", &["always…", "always"]),
            hint(1, "n", &["no to it", "no"]),
            hint(9, "", &["unbound"]),
        ];
        assert_eq!(
            rows(hints),
            [
                "y yes · a always… · n no to it",
                "y yes · a always · n no to it",
                "y yes · a always · n no",
                "y yes · n no to it",
                "y yes · n no",
                "y yes"
            ]
        );
        assert!(rows([]).is_empty());
    }
}
