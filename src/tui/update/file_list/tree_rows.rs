//! Rows of a tree of files: folders, and below each its files and then its folders.

use crate::chat::pluralize;
use crate::text::byte_size::format_bytes;
use crate::tui::parts::picker::Row;
use crate::tui::workspace_data::ListedFile;
use std::collections::{HashMap, HashSet};

/// Files in a folder and in all folders in it, and the folders directly in it.
#[derive(Default)]
struct FolderContents<'a> {
    file_count: usize,
    bytes: u64,
    has_own_files: bool,
    folders: HashSet<&'a str>,
}

impl FolderContents<'_> {
    /// Returns whether the folder has a row. One that only contains another folder is part of that one's name.
    fn has_row(&self) -> bool {
        self.has_own_files || self.folders.len() > 1
    }
}

/// Returns the rows of the files, and the file of each row; `None` for the row of a folder.
pub(super) fn tree_rows(files: &[ListedFile]) -> (Vec<Row>, Vec<Option<usize>>) {
    let folder_of = |index: usize| files[index].path.rsplit_once('/').map_or("", |(folder, _)| folder);
    let contents = count_contents(files);
    let mut order: Vec<usize> = (0..files.len()).collect();
    order.sort_by_cached_key(|index| (folder_of(*index).split('/').collect::<Vec<_>>(), &files[*index].path));
    let (mut rows, mut indexes) = (Vec::new(), Vec::new());
    // Folders with a row that contain the current file, outermost first.
    let mut open_folders: Vec<&str> = Vec::new();
    for index in order {
        let folder = folder_of(index);
        while open_folders.last().is_some_and(|open| *open != folder && !is_inside(folder, open)) {
            open_folders.pop();
        }
        for path in ancestors(folder).filter(|path| contents.get(path).is_some_and(FolderContents::has_row)) {
            let parent = open_folders.last().copied().unwrap_or_default();
            if path == parent || is_inside(parent, path) {
                continue;
            }
            let name = path.strip_prefix(parent).unwrap_or(path).trim_start_matches('/');
            let (count, bytes) = (contents[path].file_count, contents[path].bytes);
            let row = Row::folder(&format!("{path}/"), open_folders.len(), &format!("{name}/"));
            rows.push(row.with_hidden_contents(&format!("{} · {}", pluralize(count, "file"), format_bytes(bytes))));
            indexes.push(None);
            open_folders.push(path);
        }
        let file = &files[index];
        let version = if file.version > 1 { format!(" · version {}", file.version) } else { String::new() };
        let row = Row::new(&file.path).with_secondary(&format!("{}{version}", format_bytes(file.size)));
        let row = row.searched_by_text().with_detail(&file.time).with_key(file.id.as_str());
        let name = file.path.rsplit('/').next().unwrap_or(&file.path);
        rows.push(row.in_tree(open_folders.len(), name));
        indexes.push(Some(index));
    }
    (rows, indexes)
}

fn count_contents(files: &[ListedFile]) -> HashMap<&str, FolderContents<'_>> {
    let mut contents: HashMap<&str, FolderContents<'_>> = HashMap::new();
    for file in files {
        let Some((own_folder, _)) = file.path.rsplit_once('/') else { continue };
        let mut outer: Option<&str> = None;
        for path in ancestors(own_folder) {
            if let Some(outer) = outer.replace(path) {
                contents.entry(outer).or_default().folders.insert(path);
            }
            let folder = contents.entry(path).or_default();
            folder.file_count += 1;
            folder.bytes = folder.bytes.saturating_add(file.size);
            folder.has_own_files |= path == own_folder;
        }
    }
    contents
}

/// Returns the paths of the folders that contain a folder, outermost first, and its own.
fn ancestors(folder: &str) -> impl Iterator<Item = &str> {
    let ends = folder.match_indices('/').map(|(end, _)| end).chain([folder.len()]);
    ends.map(|end| &folder[..end]).filter(|path| !path.is_empty())
}

fn is_inside(path: &str, folder: &str) -> bool {
    path.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn file(path: &str) -> ListedFile {
        ListedFile { id: format!("id of {path}"), path: path.into(), version: 1, size: 1, time: String::new() }
    }

    fn shown_rows(paths: &[&str]) -> Vec<String> {
        let files: Vec<ListedFile> = paths.iter().map(|path| file(path)).collect();
        tree_rows(&files).0.iter().map(|row| row.tree_text(false)).collect()
    }

    #[test]
    fn folders_are_below_the_files_next_to_them() {
        let rows = shown_rows(&["zebra.txt", "reports/q1.md", "reports/2026/data.csv", "b/c/d/deep.txt", "reports.md"]);
        let expected =
            ["reports.md", "zebra.txt", "▾ b/c/d/", "  deep.txt", "▾ reports/", "  q1.md", "  ▾ 2026/", "    data.csv"];
        assert_eq!(rows, expected);
    }

    #[test]
    fn a_folder_without_files_of_its_own_has_a_row_if_it_has_several_folders() {
        let rows = shown_rows(&["a/b/x", "a/c/d/y", "ab/z"]);
        assert_eq!(rows, ["▾ a/", "  ▾ b/", "    x", "  ▾ c/d/", "    y", "▾ ab/", "  z"]);
    }

    proptest! {
        #[test]
        fn each_file_has_one_row_inside_the_rows_of_its_folders(paths in prop::collection::hash_set("[ab](/[ab]){0,4}", 0..20)) {
            let files: Vec<ListedFile> = paths.iter().map(|path| file(path)).collect();
            let (rows, indexes) = tree_rows(&files);
            let mut listed: Vec<usize> = indexes.iter().flatten().copied().collect();
            listed.sort_unstable();
            prop_assert_eq!(listed, (0..files.len()).collect::<Vec<_>>());
            let mut open: Vec<String> = Vec::new();
            for (row, index) in rows.iter().zip(indexes) {
                let text = row.tree_text(false);
                let name = text.trim_start();
                open.truncate((text.len() - name.len()) / 2);
                match (name.strip_prefix("▾ "), index) {
                    (Some(folder), None) => open.push(folder.to_owned()),
                    (None, Some(index)) => prop_assert_eq!(format!("{}{name}", open.concat()), files[index].path.clone()),
                    other => prop_assert!(false, "{other:?}"),
                }
            }
        }
    }
}
