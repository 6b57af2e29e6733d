//! Repeated profile sections in one settings file. TOML forbids them; aye uses the first and the rest of the file.

use toml::{Table, Value};

/// A repeated profile section.
#[derive(Debug, PartialEq, Eq)]
pub struct RepeatedProfile {
    /// Name of the profile.
    pub name: String,
    /// Line of the first section, starting at 1.
    pub first: usize,
    /// Line of the repeated section.
    pub repeated: usize,
    /// Text with the repeated section blanked out; line numbers stay the same.
    pub remaining_text: String,
}

/// Finds the first repeated profile section. Use only on text that is not valid TOML: headings inside multi-line
/// strings are taken for headings.
pub fn find_repeated_profile(text: &str) -> Option<RepeatedProfile> {
    let mut seen: Vec<(String, usize)> = Vec::new();
    let headings: Vec<Option<Vec<String>>> = text.lines().map(parse_heading).collect();
    for (at, path) in headings.iter().enumerate() {
        let Some([section, name]) = path.as_deref() else { continue };
        if section != "profiles" {
            continue;
        }
        if let Some((_, first)) = seen.iter().find(|(known, _)| known == name) {
            let inside = |path: &Vec<String>| path.starts_with(&[section.clone(), name.clone()]) && path.len() > 2;
            let rest = headings[at + 1..].iter();
            let lines = 1 + rest.take_while(|path| path.as_ref().is_none_or(inside)).count();
            let kept = |(line, text): (usize, &str)| match (at..at + lines).contains(&line) {
                true => "\n".to_owned(),
                false => text.to_owned(),
            };
            let without = text.split_inclusive('\n').enumerate().map(kept).collect();
            return Some(RepeatedProfile {
                name: name.clone(),
                first: *first,
                repeated: at + 1,
                remaining_text: without,
            });
        }
        seen.push((name.clone(), at + 1));
    }
    None
}

/// Returns the key path of a heading such as `[a.b]`, or `None` for any other line.
fn parse_heading(line: &str) -> Option<Vec<String>> {
    let line = line.trim();
    if !line.starts_with('[') || line.starts_with("[[") || line.len() > 1000 {
        return None;
    }
    let mut path = Vec::new();
    let mut table: Table = line.parse().ok()?;
    while let Some((name, Value::Table(below))) = table.into_iter().next() {
        path.push(name);
        table = below;
    }
    (!path.is_empty()).then_some(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_repeated_section_is_blanked_and_line_numbers_stay() {
        let text = "[profiles.a]\nmodel = \"1\"\n[ profiles . \"a\" ] # again\nmodel = \"2\"\n[profiles.a.parameters]\nx = 1\n[screen]\nmouse = true\n";
        let twice = find_repeated_profile(text).unwrap();
        assert_eq!((twice.name.as_str(), twice.first, twice.repeated), ("a", 1, 3));
        assert_eq!(twice.remaining_text, "[profiles.a]\nmodel = \"1\"\n\n\n\n\n[screen]\nmouse = true\n");
        assert_eq!(find_repeated_profile(&twice.remaining_text), None);
    }

    #[test]
    fn sections_without_repetition_are_not_found() {
        for text in [
            "",
            "[profiles.a]\n[profiles.b]",
            "[a]\n[a]",
            "[[profiles.a]]\n[[profiles.a]]",
            "[x.profiles.a]\n[x.profiles.a]",
        ] {
            assert_eq!(find_repeated_profile(text), None, "{text}");
        }
    }
}
