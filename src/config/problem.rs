//! An invalid setting, and the nearest valid name.

use super::Origin;
use std::fmt;

/// An invalid setting, for display. The other settings are still loaded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    pub origin: Origin,
    /// Value found and values accepted.
    pub message: String,
}

impl Problem {
    /// Creates a problem in this line of a settings or rules file, counted from 1.
    pub fn in_file(file: &str, line: usize, message: String) -> Self {
        Self { origin: Origin::File { file: file.to_owned(), line }, message }
    }
}

/// Returns the line, counted from 1, of a byte offset in a text.
pub(super) fn line_at(text: &[u8], offset: usize) -> usize {
    text[..offset.min(text.len())].iter().filter(|byte| **byte == b'\n').count() + 1
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.origin, self.message)
    }
}

/// Returns the known name closest to what was written, or `None` if none is close enough.
pub fn find_nearest<'a>(written: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let distance = |name: &&str| edit_distance(written, name);
    let best = known.into_iter().min_by_key(distance)?;
    (edit_distance(written, best) <= best.len().max(4) / 3 + 1).then_some(best)
}

/// Returns the number of characters to insert, delete, replace or swap to turn one text into the other, ignoring the
/// case of the first.
pub fn edit_distance(a: &str, b: &str) -> usize {
    // Only the start of a long text is compared.
    let a: String = a.to_lowercase().chars().take(64).collect();
    strsim::osa_distance(&a, b)
}

#[cfg(test)]
mod tests {
    use super::find_nearest;

    #[test]
    fn only_a_close_name_is_suggested() {
        let known = ["mouse", "theme", "theme_light", "links"];
        for (written, expected) in [
            ("muose", Some("mouse")),
            ("Mouse", Some("mouse")),
            ("theme_ligt", Some("theme_light")),
            ("link", Some("links")),
            ("font_size", None),
            ("", None),
        ] {
            assert_eq!(find_nearest(written, known), expected, "{written}");
        }
        assert_eq!(find_nearest("x", []), None);
    }
}
