//! Rows of comma- or tab-separated values (RFC 4180).

/// Rows of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DelimitedRows {
    /// Rows as long as they are in the source.
    pub rows: Vec<Vec<String>>,
    /// Bytes of the source that the rows have.
    pub length: usize,
}

/// Limits of the rows that are parsed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RowLimits {
    pub rows: usize,
    /// A text with more columns than this is not read as a table.
    pub columns: usize,
    /// Cells of the table, in which each row counts as long as the longest.
    pub cells: usize,
}

/// Parses rows up to a limit. `is_cut` is true if the source is only the beginning of a text, whose last row may then be
/// incomplete and is left out. Returns `None` if the text is no table: fewer than two columns, too many of them, or a quote
/// that is never closed.
pub fn parse_rows(source: &str, delimiter: char, limits: RowLimits, is_cut: bool) -> Option<DelimitedRows> {
    let start = source.len() - source.strip_prefix('\u{feff}').unwrap_or(source).len();
    let (mut table, mut columns) = (DelimitedRows { rows: Vec::new(), length: start }, 0);
    // Adds a row that ends at this byte, if it fits. Returns whether another one may fit.
    let mut push_row = |row: Vec<String>, end: usize| {
        // An empty line is no row.
        if row.len() > 1 || !row[0].is_empty() {
            columns = columns.max(row.len());
            if !table.rows.is_empty() && columns * (table.rows.len() + 1) > limits.cells {
                return false;
            }
            table.rows.push(row);
        }
        table.length = end;
        table.rows.len() < limits.rows
    };
    let (mut row, mut cell) = (Vec::new(), String::new());
    let (mut is_quoted, mut has_room) = (false, true);
    let mut chars = source[start..].char_indices().peekable();
    while has_room && let Some((position, character)) = chars.next() {
        match character {
            '"' if is_quoted && chars.next_if(|(_, next)| *next == '"').is_some() => cell.push('"'),
            '"' if is_quoted || cell.is_empty() => is_quoted = !is_quoted,
            '\r' if !is_quoted && chars.peek().is_some_and(|(_, next)| *next == '\n') => {}
            '\n' if !is_quoted => {
                row.push(std::mem::take(&mut cell));
                has_room = push_row(std::mem::take(&mut row), start + position + 1);
            }
            character if character == delimiter && !is_quoted => row.push(std::mem::take(&mut cell)),
            character => cell.push(character),
        }
        // `cell` is one more.
        if row.len() >= limits.columns {
            return None;
        }
    }
    if has_room && !is_cut {
        if is_quoted {
            return None;
        }
        row.push(cell);
        push_row(row, source.len());
    }
    table.rows.iter().any(|row| row.len() > 1).then_some(table)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const MAX_COLUMNS: usize = 200;
    const LIMITS: RowLimits = RowLimits { rows: 100, columns: MAX_COLUMNS, cells: 1000 };

    fn parse(source: &str) -> Option<Vec<Vec<String>>> {
        parse_rows(source, ',', LIMITS, false).map(|table| table.rows)
    }

    #[test]
    fn quotes_protect_delimiters_and_line_breaks() {
        let rows = parse("\u{feff}name,note\r\n\"a, b\",\"say \"\"hi\"\"\nagain\"\n\nc\n").unwrap();
        assert_eq!(rows, [&["name", "note"][..], &["a, b", "say \"hi\"\nagain"], &["c"]]);
        assert_eq!(parse("a,b\n1,5\" disk").unwrap()[1], ["1", "5\" disk"]);
        assert_eq!(parse("a,b\n1,").unwrap()[1], ["1", ""]);
    }

    #[test]
    fn other_texts_are_no_tables() {
        for text in ["", "one column\nonly\n", "a,\"never closed\n", &",".repeat(MAX_COLUMNS)] {
            assert_eq!(parse(text), None, "{text}");
        }
        assert_eq!(parse(&",".repeat(MAX_COLUMNS - 1)).unwrap()[0].len(), MAX_COLUMNS);
    }

    #[test]
    fn long_and_cut_texts_end_with_a_whole_row() {
        let source = "a,b\n1,2\n3,4\n";
        let parsed = parse_rows(source, ',', RowLimits { rows: 2, ..LIMITS }, false).unwrap();
        assert_eq!((parsed.rows.len(), &source[parsed.length..]), (2, "3,4\n"));
        let parsed = parse_rows("a,b\n1,2\n3", ',', LIMITS, true).unwrap();
        assert_eq!((parsed.rows.len(), parsed.length), (2, 8));
    }

    #[test]
    fn a_wide_table_has_fewer_rows() {
        let headings = vec!["heading"; MAX_COLUMNS].join(",");
        let source = format!("{headings}\n{}", "1,2\n".repeat(999));
        let table = parse_rows(&source, ',', LIMITS, false).unwrap();
        assert_eq!((table.rows.len(), table.rows[1].len()), (5, 2));
        assert_eq!(source[table.length..].lines().count(), 995);
        // A wide row after many short ones, and a row without a line break.
        let source = format!("{}{headings}\n1,2", "1,2\n".repeat(9));
        let table = parse_rows(&source, ',', LIMITS, false).unwrap();
        assert_eq!((table.rows.len(), &source[table.length..]), (9, format!("{headings}\n1,2").as_str()));
        let table = parse_rows("a,b\n1,2\n3", ',', RowLimits { cells: 4, ..LIMITS }, false).unwrap();
        assert_eq!((table.rows.len(), table.length), (2, 8));
    }

    proptest! {
        #[test]
        fn written_cells_are_read_back(rows in proptest::collection::vec(proptest::collection::vec("[a\",\n\ré]{0,4}", 2), 1..5)) {
            let quote = |cell: &String| format!("\"{}\"", cell.replace('"', "\"\""));
            let lines: Vec<String> = rows.iter().map(|row| row.iter().map(quote).collect::<Vec<_>>().join(",")).collect();
            prop_assert_eq!(parse(&lines.join("\r\n")), Some(rows));
        }

        #[test]
        fn any_text_is_parsed_within_its_length(source in "[a\",\n\r;é]{0,24}", rows in 1..4_usize, cells in 1..9_usize, is_cut: bool) {
            if let Some(parsed) = parse_rows(&source, ',', RowLimits { rows, cells, ..LIMITS }, is_cut) {
                prop_assert!(source.is_char_boundary(parsed.length) && parsed.rows.len() <= rows);
                let columns = parsed.rows.iter().map(Vec::len).max().unwrap();
                prop_assert!(parsed.rows.len() == 1 || columns * parsed.rows.len() <= cells);
            }
        }
    }
}
