//! Columns of the rows of a completion: the name, and a description that begins in the same cell of each row.

use super::Kind;
use crate::text::width;

/// Cells of names that are shown whole before descriptions get room.
const MAX_NAME_CELLS: usize = 40;
/// A description of a command or resource with fewer cells would say nothing.
const MIN_DESCRIPTION_CELLS: usize = 3;
/// Blank cells between the columns, and at the right of the descriptions.
const GAPS: usize = 3;
/// Separator between the size and the tokens of a file.
const SEPARATOR: &str = " · ";

/// Cells of the columns of all visible rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Columns {
    /// Cells of the names.
    pub name: usize,
    /// Cells of the descriptions; 0 if there is no room.
    description: usize,
    /// Cells of the sizes of files, which are aligned at their right; `None` if there is no room.
    size: Option<usize>,
    /// True if the tokens of files have room too.
    has_tokens: bool,
}

impl Columns {
    /// Divides `cells` between names of at most `widest_name` cells and the descriptions of rows. `file_descriptions` are
    /// those of the visible files: a size, and possibly tokens, of which each is shown for all files or for none.
    pub fn new(kind: Kind, widest_name: usize, file_descriptions: &[String], cells: usize) -> Self {
        let parts = || file_descriptions.iter().map(|text| text.split_once(SEPARATOR).unwrap_or((text, "")));
        let size = parts().map(|(size, _)| width::text_width(size)).max().unwrap_or(0);
        let tokens = parts().map(|(_, tokens)| width::text_width(tokens)).max().unwrap_or(0);
        let with_tokens = if tokens > 0 { size + width::text_width(SEPARATOR) + tokens } else { size };
        let min_name = widest_name.min(MAX_NAME_CELLS);
        let fits = |wanted: &usize| *wanted > 0 && min_name + GAPS + wanted <= cells;
        let needed = [with_tokens, size].into_iter().find(fits);
        let name = match needed {
            Some(needed) => widest_name.min(cells - GAPS - needed),
            None if kind == Kind::File => widest_name.min(cells),
            None => widest_name.min(cells).min(MAX_NAME_CELLS.max(cells / 2)),
        };
        let description = cells.saturating_sub(name + GAPS);
        let description = if description < MIN_DESCRIPTION_CELLS { 0 } else { description };
        let has_tokens = needed == Some(with_tokens);
        Self { name, description, size: needed.map(|_| size), has_tokens }
    }

    /// Returns the description as it is shown; empty if it has no room.
    pub fn fit_description(&self, description: &str, is_file: bool) -> String {
        if !is_file {
            return width::fit_start(description, self.description).into_owned();
        }
        let Some(size_cells) = self.size.filter(|_| !description.is_empty()) else { return String::new() };
        let (size, tokens) = description.split_once(SEPARATOR).unwrap_or((description, ""));
        let size = format!("{}{size}", " ".repeat(size_cells.saturating_sub(width::text_width(size))));
        match self.has_tokens && !tokens.is_empty() {
            true => format!("{size}{SEPARATOR}{tokens}"),
            false => size,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_line_up_and_are_shown_for_all_files_or_for_none() {
        let descriptions = ["1.2 kB · ~300 tokens".to_owned(), "15 bytes · ~4 tokens".to_owned(), "3 MB".to_owned()];
        let shown = |cells: usize| {
            let columns = Columns::new(Kind::File, 12, &descriptions, cells);
            (columns.name, descriptions.iter().map(|text| columns.fit_description(text, true)).collect::<Vec<_>>())
        };
        let all = ["  1.2 kB · ~300 tokens", "15 bytes · ~4 tokens", "    3 MB"];
        assert_eq!(shown(60), (12, all.map(str::to_owned).to_vec()));
        assert_eq!(shown(37), (12, all.map(str::to_owned).to_vec()));
        assert_eq!(shown(36), (12, ["  1.2 kB", "15 bytes", "    3 MB"].map(str::to_owned).to_vec()));
        assert_eq!(shown(22), (12, vec![String::new(); 3]));
        assert_eq!(shown(8), (8, vec![String::new(); 3]));
    }

    #[test]
    fn a_long_name_is_cut_before_the_sizes_of_all_files_are_left_out() {
        let columns = Columns::new(Kind::File, 90, &["1.2 kB".to_owned()], 70);
        assert_eq!((columns.name, columns.fit_description("1.2 kB", true).as_str()), (61, "1.2 kB"));
        let commands = Columns::new(Kind::Command, 90, &[], 70);
        assert_eq!((commands.name, commands.description), (40, 27));
    }
}
