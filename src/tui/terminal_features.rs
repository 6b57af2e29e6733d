//! Features of the terminal that only environment variables show. `variable` returns the value of a variable.

/// Returns whether the terminal is known to lack box-drawing characters: it is not UTF-8, or it is the Linux console.
/// Without a locale UTF-8 is assumed.
pub fn needs_ascii(variable: &dyn Fn(&str) -> Option<String>) -> bool {
    let set_value = |name: &&str| variable(name).filter(|value| !value.is_empty());
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"].iter().find_map(set_value).map(|locale| locale.to_ascii_lowercase());
    let is_utf8 = locale.is_none_or(|locale| locale.contains("utf-8") || locale.contains("utf8"));
    !is_utf8 || variable("TERM").is_some_and(|term| term == "linux")
}

/// Returns whether the terminal is known to reorder right-to-left text by itself.
pub fn reorders_text(variable: &dyn Fn(&str) -> Option<String>) -> bool {
    let is_apple = variable("TERM_PROGRAM").is_some_and(|program| program == "Apple_Terminal");
    is_apple || ["KONSOLE_VERSION", "MLTERM"].iter().any(|name| variable(name).is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uses_ascii_if_the_terminal_is_not_utf8() {
        for (variables, expected) in [
            (&[("LANG", "en_US.UTF-8")][..], false),
            (&[("LC_ALL", "C"), ("LANG", "en_US.UTF-8")], true),
            (&[("LC_ALL", ""), ("LC_CTYPE", "C.utf8")], false),
            (&[("LANG", "de_DE.ISO-8859-1")], true),
            (&[("LANG", "en_US.UTF-8"), ("TERM", "linux")], true),
            (&[], false),
        ] {
            let variable =
                |name: &str| variables.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned());
            assert_eq!(needs_ascii(&variable), expected, "{variables:?}");
        }
    }
}
