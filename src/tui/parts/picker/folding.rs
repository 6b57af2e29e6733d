//! Folders of a list that is a tree: collapsing and expanding them. A filter searches in all folders.

use super::Picker;
use crate::tui::keys::{Action, Keymap, Scope};
use std::collections::HashSet;

/// Collapsed folders, and the names of the keys of a tree for the key hints; empty if a key is not bound.
#[derive(Debug, Clone, Default)]
pub(super) struct Folds {
    /// Keys of the rows of collapsed folders. They stay collapsed when the rows are replaced.
    collapsed: HashSet<String>,
    expand: String,
    collapse: String,
    expand_all: String,
}

impl Picker {
    /// Shows the keys of a tree in the key hints.
    pub fn with_fold_keys(self, keys: &Keymap) -> Self {
        let name = |action| match keys.first_chord(Scope::Tree, action).as_str() {
            "left" => "←".to_owned(),
            "right" => "→".to_owned(),
            other => other.to_owned(),
        };
        let (expand, collapse) = (name(Action::Expand), name(Action::Collapse));
        let expand_all = name(Action::ExpandAll);
        let folds = Folds { collapsed: HashSet::new(), expand, collapse, expand_all };
        Self { folds: Box::new(folds), ..self }
    }

    /// Returns whether the list shows folders now, which it does not while it is filtered.
    pub fn shows_folders(&self) -> bool {
        self.filter_text().is_empty() && self.rows.iter().any(|row| row.is_folder())
    }

    /// Runs the action of a key of a tree.
    pub fn run_fold_action(&mut self, action: Action) {
        let Some(row) = self.selected_row().filter(|_| self.shows_folders()) else { return };
        let (is_folder, is_collapsed) = (self.rows[row].is_folder(), self.is_collapsed(row));
        match action {
            Action::Expand if is_collapsed => self.toggle_folder(row),
            // The first row in the folder; none is empty.
            Action::Expand if is_folder => self.select(row + 1),
            Action::Collapse if is_folder && !is_collapsed => self.toggle_folder(row),
            Action::Collapse => {
                if let Some(folder) = self.folder_around(row) {
                    self.select(folder);
                }
            }
            Action::ExpandAll => self.toggle_all_folders(row),
            _ => {}
        }
    }

    /// Collapses or expands the folder of a row.
    pub fn toggle_folder(&mut self, row: usize) {
        let Some(folder) = self.rows.get(row).filter(|row| row.is_folder()) else { return };
        if !self.folds.collapsed.remove(&folder.key) {
            self.folds.collapsed.insert(folder.key.clone());
        }
        self.update_matches();
        self.select(row);
    }

    /// Expands all folders, or collapses all if all are expanded. The cursor stays on its row or on the folder around it.
    fn toggle_all_folders(&mut self, row: usize) {
        if self.has_collapsed() {
            self.folds.collapsed.clear();
        } else {
            self.folds.collapsed = self.rows.iter().filter(|row| row.is_folder()).map(|row| row.key.clone()).collect();
        }
        self.update_matches();
        let outermost = std::iter::successors(Some(row), |row| self.folder_around(*row));
        let shown = outermost.into_iter().find(|row| self.matches.binary_search(row).is_ok());
        self.select(shown.unwrap_or(row));
    }

    fn has_collapsed(&self) -> bool {
        self.rows.iter().any(|row| row.is_folder() && self.folds.collapsed.contains(&row.key))
    }

    pub(super) fn is_collapsed(&self, row: usize) -> bool {
        self.rows[row].is_folder() && self.folds.collapsed.contains(&self.rows[row].key)
    }

    /// Returns the row of the folder that contains a row.
    fn folder_around(&self, row: usize) -> Option<usize> {
        let depth = self.rows[row].depth().checked_sub(1)?;
        self.rows[..row].iter().rposition(|other| other.is_folder() && other.depth() == depth)
    }

    /// Returns the rows that are in no collapsed folder.
    pub(super) fn expanded_rows(&self) -> Vec<usize> {
        let mut collapsed_depth = None;
        let is_shown = |row: &usize| {
            let depth = self.rows[*row].depth();
            if collapsed_depth.is_some_and(|collapsed| depth > collapsed) {
                return false;
            }
            collapsed_depth = self.is_collapsed(*row).then_some(depth);
            true
        };
        (0..self.rows.len()).filter(is_shown).collect()
    }

    /// Returns the key hints for a row of a tree; `None` for other rows.
    pub(super) fn fold_hint(&self, row: usize) -> Option<String> {
        let Folds { expand, collapse, expand_all, .. } = &*self.folds;
        let join_hints = |parts: &[String]| parts.join(" · ");
        if self.rows[row].is_folder() {
            let (key, verb) = if self.is_collapsed(row) { (expand, "expand") } else { (collapse, "collapse") };
            let key = if key.is_empty() { String::new() } else { format!("/{key}") };
            let all = if self.has_collapsed() { "expand all" } else { "collapse all" };
            let all = (!expand_all.is_empty()).then(|| format!("{expand_all} {all}"));
            return Some(join_hints(&[vec![format!("enter{key} {verb}")], all.into_iter().collect()].concat()));
        }
        let is_in_folder = self.rows[row].depth() > 0 && !collapse.is_empty() && self.shows_folders();
        is_in_folder.then(|| join_hints(&[self.action_hint.to_string(), format!("{collapse} go to folder")]))
    }
}
