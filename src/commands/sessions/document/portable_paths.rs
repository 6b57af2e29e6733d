//! Paths of exported files that every file system accepts, so that a folder can be copied anywhere.

use crate::text::hidden_chars::is_hidden;
use crate::text::workspace_address::WorkspacePath;
use std::collections::{HashMap, HashSet};

/// Maximum bytes of a name.
const MAX_NAME_BYTES: usize = 255;
/// Names of devices on Windows, with or without an extension.
const DEVICES: [&str; 4] = ["con", "prn", "aux", "nul"];
/// Names of numbered devices on Windows, followed by a digit.
const NUMBERED_DEVICES: [&str; 2] = ["com", "lpt"];
/// Folder from which git runs programs.
const GIT_FOLDER: &str = ".git";

/// Chooses paths that differ from each other also if case is ignored, and of which none is the folder of another.
#[derive(Default)]
pub(super) struct PortablePaths {
    /// The chosen path of each folder, by its path in the workspace.
    folders: HashMap<String, String>,
    /// All chosen paths, in lower case.
    taken: HashSet<String>,
}

impl PortablePaths {
    /// Returns the path of a file below a folder, which is used as it is.
    pub(super) fn choose(&mut self, base: &str, path: &WorkspacePath) -> String {
        let mut source = base.to_owned();
        let mut chosen = base.to_owned();
        let names: Vec<&str> = path.as_str().split('/').collect();
        for (index, name) in names.iter().enumerate() {
            source = format!("{source}/{name}");
            let is_folder = index + 1 < names.len();
            chosen = match self.folders.get(&source).filter(|_| is_folder) {
                Some(folder) => folder.clone(),
                None => self.choose_name(&chosen, &portable_name(name)),
            };
            self.taken.insert(chosen.to_lowercase());
            if is_folder {
                self.folders.insert(source.clone(), chosen.clone());
            }
        }
        chosen
    }

    /// Returns a path in the folder that is not taken: with the name, or with `~2` and so on before its extension.
    fn choose_name(&self, folder: &str, name: &str) -> String {
        let is_free = |path: &String| !self.taken.contains(&path.to_lowercase());
        let (stem, extension) = match name.rfind('.').filter(|at| *at > 0) {
            Some(at) => name.split_at(at),
            None => (name, ""),
        };
        let numbered = (2_u64..).map(|number| {
            let end = format!("~{number}{extension}");
            format!("{folder}/{}{end}", truncate(stem, MAX_NAME_BYTES.saturating_sub(end.len())))
        });
        let plain = format!("{folder}/{name}");
        [plain.clone()].into_iter().chain(numbered).find(is_free).unwrap_or(plain)
    }
}

/// Replaces what a file system may not accept, or takes for something else.
fn portable_name(name: &str) -> String {
    let is_bad = |c: char| c.is_control() || is_hidden(c) || "/\\<>:\"|?*".contains(c);
    let mut portable: String = name.chars().map(|c| if is_bad(c) { '_' } else { c }).collect();
    if portable.ends_with(['.', ' ']) {
        portable.pop();
        portable.push('_');
    }
    let lower = portable.to_lowercase();
    let stem = lower.split('.').next().unwrap_or_default().trim_end();
    let is_numbered =
        |device: &str| stem.strip_prefix(device).is_some_and(|number| matches!(number.as_bytes(), [b'0'..=b'9']));
    if lower == GIT_FOLDER || DEVICES.contains(&stem) || NUMBERED_DEVICES.iter().any(|device| is_numbered(device)) {
        portable = format!("_{}", truncate(&portable, MAX_NAME_BYTES - 1));
    }
    portable
}

/// Returns the beginning of a text with at most this many bytes.
fn truncate(text: &str, max_bytes: usize) -> &str {
    &text[..text.floor_char_boundary(max_bytes)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::path::{Component, Path};

    fn choose_all(paths: &[&str]) -> Vec<String> {
        let mut chosen = PortablePaths::default();
        paths.iter().map(|path| chosen.choose("files", &WorkspacePath::parse(path).unwrap())).collect()
    }

    #[test]
    fn names_that_clash_or_are_reserved_are_changed() {
        for (paths, expected) in [
            (&["a/b.md", "a/c.md"][..], &["files/a/b.md", "files/a/c.md"][..]),
            (&["A.md", "a.md", "a~2.md"], &["files/A.md", "files/a~2.md", "files/a~2~2.md"]),
            (&["É/x", "é/x", "é/y"], &["files/É/x", "files/é~2/x", "files/é~2/y"]),
            (&["a", "a/b", "a/c"], &["files/a", "files/a~2/b", "files/a~2/c"]),
            (&["a/b", "a"], &["files/a/b", "files/a~2"]),
            (
                &["con", "Nul.txt", "com1.md", "com10", "icon"],
                &["files/_con", "files/_Nul.txt", "files/_com1.md", "files/com10", "files/icon"],
            ),
            (&[".git/config", ".gitignore"], &["files/_.git/config", "files/.gitignore"]),
            (
                &["...", "a.", "b ", "c:d", "e\u{202e}f"],
                &["files/.._", "files/a_", "files/b_", "files/c_d", "files/e_f"],
            ),
            (&["a:b", "a?b"], &["files/a_b", "files/a_b~2"]),
        ] {
            assert_eq!(choose_all(paths), expected);
        }
        let long = ["x".repeat(255), "X".repeat(255), format!("{}é", "y".repeat(253)), format!("{}É", "Y".repeat(253))];
        let chosen = choose_all(&long.each_ref().map(String::as_str));
        assert!(chosen.iter().all(|path| path.len() <= "files/".len() + MAX_NAME_BYTES), "{chosen:?}");
        assert!(chosen[1].ends_with("X~2") && chosen[3].ends_with("Y~2"), "{chosen:?}");
    }

    proptest! {
        #[test]
        fn no_path_leaves_the_folder_or_is_taken_twice(texts in proptest::collection::vec("([aA./:~2 ]|\\PC|\\.\\./|con|\\.git){1,8}", 1..12)) {
            let mut paths: Vec<WorkspacePath> = texts.iter().filter_map(|text| WorkspacePath::parse(text).ok()).collect();
            paths.sort();
            paths.dedup();
            let mut portable = PortablePaths::default();
            let chosen: Vec<String> = paths.iter().map(|path| portable.choose("files", path)).collect();
            for path in &chosen {
                let names: Vec<Component<'_>> = Path::new(path).components().collect();
                prop_assert!(names.len() > 1 && names.iter().all(|name| matches!(name, Component::Normal(_))), "{path}");
                prop_assert_eq!(names[0].as_os_str(), "files");
                let in_folder = format!("{}/", path.to_lowercase());
                let clash = |other: &&String| format!("{}/", other.to_lowercase()).starts_with(&in_folder);
                prop_assert_eq!(chosen.iter().filter(clash).count(), 1, "{} in {:?}", path, chosen);
            }
        }
    }
}
