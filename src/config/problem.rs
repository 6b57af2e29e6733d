//! What is wrong with a setting, and the nearest thing that would have been right.

use super::Origin;
use std::fmt;

/// One wrong setting. The person reads it: where it is, what was found, what is allowed. The rest is loaded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// Where it is.
    pub at: Origin,
    /// What was found and what is allowed.
    pub words: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.at, self.words)
    }
}

/// The one of these that somebody may have meant; `None` where nothing is near enough.
pub fn nearest<'a>(written: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let far = |name: &&str| distance(written, name);
    let best = known.into_iter().min_by_key(far)?;
    (distance(written, best) <= best.len().max(4) / 3 + 1).then_some(best)
}

/// How many letters must be put in, left out, changed or swapped with the next.
pub fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.to_lowercase().chars().take(64).collect(), b.chars().collect());
    let mut rows = vec![(0..=b.len()).collect::<Vec<usize>>()];
    for i in 1..=a.len() {
        let mut row = vec![i];
        for j in 1..=b.len() {
            let above = &rows[i - 1];
            let mut best = (above[j] + 1).min(row[j - 1] + 1);
            best = best.min(above[j - 1] + usize::from(a[i - 1] != b[j - 1]));
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                best = best.min(rows[i - 2][j - 2] + 1);
            }
            row.push(best);
        }
        rows.push(row);
    }
    rows[a.len()][b.len()]
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn the_nearest_name_is_found_and_a_far_one_is_not() {
        let known = ["mouse", "theme", "theme_light", "links"];
        for (written, meant) in [
            ("muose", Some("mouse")),
            ("Mouse", Some("mouse")),
            ("theme_ligt", Some("theme_light")),
            ("link", Some("links")),
            ("font_size", None),
            ("", None),
        ] {
            assert_eq!(nearest(written, known), meant, "{written}");
        }
        assert_eq!(nearest("x", []), None);
    }
}
