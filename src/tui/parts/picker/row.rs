//! A row of a list.

use crate::text::{clean, width};
use std::borrow::Cow;

/// Sign for a line break in the text of a row.
const LINE_BREAK_SIGN: &str = " ⏎ ";

/// A row of a list.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Row {
    /// Identity of the row when rows are replaced.
    pub(super) key: String,
    /// Main text.
    pub(super) text: String,
    /// Text of the second column.
    pub(super) secondary: String,
    /// Text at the right edge.
    pub(super) detail: String,
    /// True if the row stays in the list whatever the filter is.
    pub(super) is_pinned: bool,
    /// Text the filter matches.
    pub(super) search_text: String,
    /// Names of a row of a tree.
    pub(super) tree_names: Option<TreeNames>,
    /// True for the heading of the rows below it, which cannot be selected.
    pub(super) is_heading: bool,
    /// True if a sign at the start of the row (`+`, `−` or `~`) and the counts in its detail are coloured.
    pub(super) has_sign: bool,
    /// True if the main text leaves up to half of the row to the second column.
    pub(super) is_halved: bool,
    /// Main text with its line breaks, if it has any; in the row each of them is a sign.
    pub(super) lines: Option<Box<str>>,
    /// What Enter does with the row, such as `enter edit`, and keys that are letters, which work only without a filter.
    pub(super) hints: Option<Box<(String, String)>>,
    /// First byte of a path at the end of the main text, which is shortened in its middle.
    pub(super) path_start: Option<usize>,
}

/// Main texts of a row of a tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct TreeNames {
    /// Name shown below its parent.
    pub(super) name: String,
    /// Levels of its indentation.
    pub(super) depth: usize,
    /// Text of the second column while the row is a collapsed folder; `None` if it is no folder.
    pub(super) hidden_contents: Option<String>,
    /// Name shown while filtering, when the parent may be hidden.
    pub(super) full: String,
}

/// Place of the filter text in a matching row, best first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum MatchRank {
    /// It is the main text.
    WholeText,
    /// The main text starts with it.
    TextStart,
    /// Each of its words starts a word of the row.
    WordStarts,
    Anywhere,
}

impl Row {
    /// Creates a row with this main text. All texts of a row are sanitized.
    pub fn new(text: &str) -> Self {
        let text = clean::clean_line(text).into_owned();
        Self { key: text.clone(), search_text: text.clone(), text, ..Self::default() }
    }

    /// Creates a row with a main text that may have several lines, which are shown below the list; see
    /// [`super::Picker::with_selected_text`].
    pub fn with_lines(text: &str) -> Self {
        let lines = clean::clean_text(text.trim_end());
        let row = Self::new(&lines.replace('\n', LINE_BREAK_SIGN));
        Self { lines: lines.contains('\n').then(|| lines.into()), ..row }
    }

    /// Sets the key hint for what Enter does with the row, and the one for keys that are letters, which is shown only without
    /// a filter. Either may be empty.
    pub fn with_hints(self, enter: &str, letters: &str) -> Self {
        Self { hints: Some(Box::new((enter.to_owned(), letters.to_owned()))), ..self }
    }

    /// Lets the filter match only the main text.
    pub fn searched_by_text(self) -> Self {
        Self { search_text: self.text.clone(), ..self }
    }

    /// Returns the texts of the row in full, with their line breaks.
    pub(super) fn full_text(&self) -> String {
        let texts = [self.lines.as_deref().unwrap_or(&self.text), &self.secondary];
        let separator = if self.lines.is_some() { "\n" } else { " · " };
        texts.into_iter().filter(|text| !text.is_empty()).collect::<Vec<_>>().join(separator)
    }

    /// Sets the key by which the cursor finds its row again when rows are replaced. It is not shown, and needed only if
    /// several rows can have the same text.
    pub fn with_key(self, key: impl Into<String>) -> Self {
        Self { key: key.into(), ..self }
    }

    /// Creates the heading of the rows below it. It cannot be selected, and a filter hides it.
    pub fn heading(text: &str) -> Self {
        Self { search_text: String::new(), is_heading: true, ..Self::new(text) }
    }

    /// Sets the second column, which is dim and also matched by the filter.
    pub fn with_secondary(self, secondary: &str) -> Self {
        let secondary = clean::clean_line(secondary).into_owned();
        let search_text = if secondary.is_empty() { self.text.clone() } else { format!("{} {secondary}", self.text) };
        Self { secondary, search_text, ..self }
    }

    /// Makes the row part of a tree: unless filtered, it is indented by `depth` levels and shows only this name.
    pub fn in_tree(self, depth: usize, name: &str) -> Self {
        let (name, full) = (clean::clean_line(name).into_owned(), self.text.clone());
        Self { tree_names: Some(TreeNames { name, depth, hidden_contents: None, full }), ..self }
    }

    /// Creates the row of a folder with this path, which collapses and expands. A filter hides it.
    pub fn folder(path: &str, depth: usize, name: &str) -> Self {
        Self { search_text: String::new(), key: path.to_owned(), ..Self::new(path).in_tree(depth, name) }
            .with_hidden_contents("")
    }

    /// Sets the second column of a folder while it is collapsed.
    pub fn with_hidden_contents(mut self, text: &str) -> Self {
        if let Some(names) = &mut self.tree_names {
            names.hidden_contents = Some(text.to_owned());
        }
        self
    }

    pub(super) fn is_folder(&self) -> bool {
        self.tree_names.as_ref().is_some_and(|names| names.hidden_contents.is_some())
    }

    /// Returns the levels of the row's indentation.
    pub(super) fn depth(&self) -> usize {
        self.tree_names.as_ref().map_or(0, |names| names.depth)
    }

    /// Returns the main text in a tree: indented, and a folder with a sign for its state.
    pub fn tree_text(&self, is_collapsed: bool) -> String {
        let Some(names) = &self.tree_names else { return self.text.clone() };
        let sign = match (self.is_folder(), is_collapsed) {
            (false, _) => "",
            (true, true) => "▸ ",
            (true, false) => "▾ ",
        };
        format!("{}{sign}{}", "  ".repeat(names.depth), names.name)
    }

    /// Sets the texts of a row of a tree after its folder or the filter changed.
    pub(super) fn update_tree_text(&mut self, is_filtering: bool, is_collapsed: bool) {
        let Some(names) = &self.tree_names else { return };
        let hidden_contents =
            names.hidden_contents.as_ref().map(|text| if is_collapsed { text.clone() } else { String::new() });
        self.text = if is_filtering { names.full.clone() } else { self.tree_text(is_collapsed) };
        if let Some(text) = hidden_contents {
            self.secondary = text;
        }
    }

    /// Colours the sign at the start of the row and the counts in its detail as added, removed or changed.
    pub fn with_sign(self) -> Self {
        Self { has_sign: true, ..self }
    }

    /// Keeps the row in the list whatever the filter is, because a search found it by text that is not in the row. Its
    /// second column, which quotes that text, gets most of the width.
    pub fn pinned(self) -> Self {
        Self { is_pinned: true, ..self }
    }

    /// Leaves up to half of the row to the second column, of which the start matters as much as the main text.
    pub fn halved(self) -> Self {
        Self { is_halved: true, ..self }
    }

    /// Adds a path at the end of the main text, which is shortened in its middle.
    pub fn with_path(self, path: &str) -> Self {
        let text = format!("{} {}", self.text, clean::clean_line(path));
        let path_start = Some(self.text.len() + 1);
        Self { path_start, search_text: text.clone(), text, ..self }
    }

    /// Returns the main text, shortened to this many cells if needed.
    pub(super) fn fit_text(&self, cells: usize) -> Cow<'_, str> {
        // While filtering, a row of a tree is the whole path, of which the name matters most.
        if self.tree_names.as_ref().is_some_and(|names| names.full == self.text && self.text.contains('/')) {
            return width::fit_path(&self.text, cells);
        }
        let path_cells = |start: &usize| cells.checked_sub(width::text_width(&self.text[..*start]));
        match self.path_start.and_then(|start| Some((start, path_cells(&start)?))) {
            Some((start, path_cells)) if width::text_width(&self.text) > cells => {
                format!("{}{}", &self.text[..start], width::fit_path(&self.text[start..], path_cells)).into()
            }
            _ => width::fit_start(&self.text, cells),
        }
    }

    /// Returns the rank of a row that matches the filter `typed`, which is in lower case.
    pub(super) fn rank_match(&self, typed: &str) -> MatchRank {
        let text = self.text.to_lowercase();
        if text == typed {
            return MatchRank::WholeText;
        }
        if text.starts_with(typed) {
            return MatchRank::TextStart;
        }
        let search_text = self.search_text.to_lowercase();
        let mut typed_words = typed.split_whitespace();
        let starts_word = |typed_word: &str| {
            search_text.split(|character: char| !character.is_alphanumeric()).any(|word| word.starts_with(typed_word))
        };
        if typed_words.all(starts_word) { MatchRank::WordStarts } else { MatchRank::Anywhere }
    }

    /// Sets the text at the right edge, such as a time or a size. Not matched by the filter.
    pub fn with_detail(self, detail: &str) -> Self {
        Self { detail: clean::clean_line(detail).into_owned(), ..self }
    }
}
