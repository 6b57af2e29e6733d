//! Paths that a word of a command may name besides itself.

/// Returns the parts of a word that may be paths: what follows each `=`, `:` or `)`, as in `--file=x`, git's `HEAD:x` and
/// `:(top)x`, and the `x` of git's `:/x`, which begins at the top of the repository.
pub fn named_parts(text: &str) -> impl Iterator<Item = &str> {
    let later_parts = text.match_indices(['=', ':', ')']).map(|(index, separator)| &text[index + separator.len()..]);
    later_parts.chain(text.strip_prefix(":/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_part_that_may_be_a_path_is_named() {
        for (text, expected) in [
            ("plain", &[][..]),
            ("--file=a=b", &["a=b", "b"]),
            ("HEAD:a/b", &["a/b"]),
            (":(top)a", &["(top)a", "a"]),
            (":/a", &["/a", "a"]),
        ] {
            assert_eq!(named_parts(text).collect::<Vec<_>>(), expected, "{text}");
        }
    }
}
