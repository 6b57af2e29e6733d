//! Two profiles of one name in one file, which no TOML may have: the first counts, and the rest of the file too.

use toml::{Table, Value};

/// A profile that stands in a file a second time.
#[derive(Debug, PartialEq, Eq)]
pub struct Twice {
    /// Its name.
    pub name: String,
    /// The line it stands on first; 1 is the first of the file.
    pub first: usize,
    /// The line it stands on again.
    pub again: usize,
    /// The text with the second one made blank, line for line.
    pub without: String,
}

/// The first profile that stands twice; `None` where none does. Only for a text that is no TOML as it is: headings
/// within a text of several lines are taken for headings.
pub fn find(text: &str) -> Option<Twice> {
    let mut seen: Vec<(String, usize)> = Vec::new();
    let headings: Vec<Option<Vec<String>>> = text.lines().map(heading).collect();
    for (at, path) in headings.iter().enumerate() {
        let Some([section, name]) = path.as_deref() else { continue };
        if section != "profiles" {
            continue;
        }
        if let Some((_, first)) = seen.iter().find(|(known, _)| known == name) {
            let inside =
                |path: &Vec<String>| path.starts_with(&[section.clone(), name.clone()]) && path.len() > 2;
            let rest = headings[at + 1..].iter();
            let lines = 1 + rest.take_while(|path| path.as_ref().is_none_or(inside)).count();
            let kept = |(line, text): (usize, &str)| match (at..at + lines).contains(&line) {
                true => "\n".to_owned(),
                false => text.to_owned(),
            };
            let without = text.split_inclusive('\n').enumerate().map(kept).collect();
            return Some(Twice { name: name.clone(), first: *first, again: at + 1, without });
        }
        seen.push((name.clone(), at + 1));
    }
    None
}

/// The names of a heading, `[a.b]`; `None` for any other line.
fn heading(line: &str) -> Option<Vec<String>> {
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
    fn the_second_is_made_blank_and_all_lines_stay_where_they_are() {
        let text = "[profiles.a]\nmodel = \"1\"\n[ profiles . \"a\" ] # again\nmodel = \"2\"\n[profiles.a.parameters]\nx = 1\n[screen]\nmouse = true\n";
        let twice = find(text).unwrap();
        assert_eq!((twice.name.as_str(), twice.first, twice.again), ("a", 1, 3));
        assert_eq!(twice.without, "[profiles.a]\nmodel = \"1\"\n\n\n\n\n[screen]\nmouse = true\n");
        assert_eq!(find(&twice.without), None);
    }

    #[test]
    fn what_stands_once_is_left_alone() {
        for text in [
            "",
            "[profiles.a]\n[profiles.b]",
            "[a]\n[a]",
            "[[profiles.a]]\n[[profiles.a]]",
            "[x.profiles.a]\n[x.profiles.a]",
        ] {
            assert_eq!(find(text), None, "{text}");
        }
    }
}
