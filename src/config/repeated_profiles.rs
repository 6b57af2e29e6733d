//! Repeated profile sections in one settings file. TOML forbids them; aye uses the first and the rest of the file.

use toml::{Table, Value};

/// A repeated profile section.
#[derive(Debug, PartialEq, Eq)]
pub struct RepeatedProfile {
    /// Name of the profile.
    pub name: String,
    /// Line of the first section, starting at 1.
    pub first_line: usize,
    /// Line of the repeated section.
    pub repeated_line: usize,
    /// Text with the repeated section blanked out; line numbers stay the same.
    pub remaining_text: String,
}

/// Finds the first repeated profile section. Use only on text that is not valid TOML: a line of a multi-line string
/// that looks like a heading is taken for one.
pub fn find_repeated_profile(text: &str) -> Option<RepeatedProfile> {
    let mut seen_profiles: Vec<(String, usize)> = Vec::new();
    let headings: Vec<Option<Vec<String>>> = text.lines().map(parse_heading).collect();
    for (index, path) in headings.iter().enumerate() {
        let Some([section, name]) = path.as_deref() else { continue };
        if section != "profiles" {
            continue;
        }
        if let Some((_, first_line)) = seen_profiles.iter().find(|(seen_name, _)| seen_name == name) {
            let is_subsection =
                |path: &Vec<String>| path.starts_with(&[section.clone(), name.clone()]) && path.len() > 2;
            let following = headings[index + 1..].iter();
            let line_count = 1 + following.take_while(|path| path.as_ref().is_none_or(is_subsection)).count();
            let blank_section = |(line, text): (usize, &str)| match (index..index + line_count).contains(&line) {
                true => "\n".to_owned(),
                false => text.to_owned(),
            };
            let remaining_text = text.split_inclusive('\n').enumerate().map(blank_section).collect();
            return Some(RepeatedProfile {
                name: name.clone(),
                first_line: *first_line,
                repeated_line: index + 1,
                remaining_text,
            });
        }
        seen_profiles.push((name.clone(), index + 1));
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
    while let Some((name, Value::Table(subtable))) = table.into_iter().next() {
        path.push(name);
        table = subtable;
    }
    (!path.is_empty()).then_some(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_repeated_section_is_blanked_and_line_numbers_stay() {
        let text = "[profiles.a]\nmodel = \"1\"\n[ profiles . \"a\" ] # again\nmodel = \"2\"\n[profiles.a.parameters]\nx = 1\n[screen]\nmouse = true\n";
        let repeated = find_repeated_profile(text).unwrap();
        assert_eq!((repeated.name.as_str(), repeated.first_line, repeated.repeated_line), ("a", 1, 3));
        assert_eq!(repeated.remaining_text, "[profiles.a]\nmodel = \"1\"\n\n\n\n\n[screen]\nmouse = true\n");
        assert_eq!(find_repeated_profile(&repeated.remaining_text), None);
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
