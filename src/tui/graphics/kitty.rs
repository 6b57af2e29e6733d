//! Pictures in the graphics protocol of kitty. The terminal stores a picture under a number and draws it wherever cells hold
//! placeholders in the colour of that number, so pictures scroll, move and are covered like text.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use std::sync::LazyLock;

/// Bytes of Base64 in one sequence, the limit of the protocol.
const CHUNK_BYTES: usize = 4096;
/// The character that a cell of a picture holds. Marks on it are the row and the column.
const PLACEHOLDER: char = '\u{10EEEE}';
/// Ranges of the marks, in the order of the numbers that they stand for: first character and count of each.
const MARK_RANGES: [(u32, u32); 55] = [
    (0x305, 1),
    (0x30d, 2),
    (0x310, 1),
    (0x312, 1),
    (0x33d, 3),
    (0x346, 1),
    (0x34a, 3),
    (0x350, 3),
    (0x357, 1),
    (0x35b, 1),
    (0x363, 13),
    (0x483, 5),
    (0x592, 4),
    (0x597, 3),
    (0x59c, 6),
    (0x5a8, 2),
    (0x5ab, 2),
    (0x5af, 1),
    (0x5c4, 1),
    (0x610, 8),
    (0x657, 5),
    (0x65d, 2),
    (0x6d6, 7),
    (0x6df, 4),
    (0x6e4, 1),
    (0x6e7, 2),
    (0x6eb, 2),
    (0x730, 1),
    (0x732, 2),
    (0x735, 2),
    (0x73a, 1),
    (0x73d, 1),
    (0x73f, 3),
    (0x743, 1),
    (0x745, 1),
    (0x747, 1),
    (0x749, 2),
    (0x7eb, 7),
    (0x7f3, 1),
    (0x816, 4),
    (0x81b, 9),
    (0x825, 3),
    (0x829, 5),
    (0x951, 1),
    (0x953, 2),
    (0xf82, 2),
    (0xf86, 2),
    (0x135d, 3),
    (0x17dd, 1),
    (0x193a, 1),
    (0x1a17, 1),
    (0x1a75, 8),
    (0x1b6b, 1),
    (0x1b6d, 7),
    (0x1cd0, 3),
];

/// The mark of each number. A frame needs two for each cell of a picture.
static MARKS: LazyLock<Vec<char>> = LazyLock::new(|| {
    MARK_RANGES.iter().flat_map(|(first, count)| (*first..first + count).filter_map(char::from_u32)).collect()
});

/// Returns the bytes that store a PNG in the terminal under this number, to be drawn on these columns and rows.
pub fn store(id: u32, png: &[u8], (columns, rows): (u16, u16)) -> Vec<u8> {
    let data = BASE64_STANDARD.encode(png).into_bytes();
    let mut bytes = Vec::with_capacity(data.len() + data.len() / CHUNK_BYTES * 20 + 100);
    let mut chunks = data.chunks(CHUNK_BYTES).peekable();
    let mut keys = format!("a=T,U=1,q=2,f=100,t=d,i={id},c={columns},r={rows},");
    while let Some(chunk) = chunks.next() {
        let more = u8::from(chunks.peek().is_some());
        bytes.extend_from_slice(format!("\x1b_G{keys}m={more};").as_bytes());
        bytes.extend_from_slice(chunk);
        bytes.extend_from_slice(b"\x1b\\");
        "q=2,".clone_into(&mut keys);
    }
    bytes
}

/// Returns the bytes that remove a stored picture.
pub fn remove(id: u32) -> Vec<u8> {
    format!("\x1b_Ga=d,d=I,q=2,i={id}\x1b\\").into_bytes()
}

/// Writes the content of the cell that shows this row and column of a picture, which has the colour of the picture's
/// number, over `symbol`. Returns false, without a content, beyond the rows and columns that have a mark.
pub fn write_cell_symbol(row: u16, column: u16, symbol: &mut String) -> bool {
    symbol.clear();
    let [Some(row_mark), Some(column_mark)] = [row, column].map(|number| MARKS.get(usize::from(number))) else {
        return false;
    };
    symbol.extend([PLACEHOLDER, *row_mark, *column_mark]);
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tui::parts::pictures::PAGE_CELLS;
    use ratatui::buffer::CellWidth;

    #[test]
    fn a_picture_is_stored_in_chunks_and_removed() {
        let short = store(7, b"PNG", (8, 4));
        assert_eq!(short, b"\x1b_Ga=T,U=1,q=2,f=100,t=d,i=7,c=8,r=4,m=0;UE5H\x1b\\");
        let long = String::from_utf8(store(7, &[0; 7000], (8, 4))).unwrap();
        let sequences: Vec<&str> = long.split_inclusive("\x1b\\").collect();
        let starts: Vec<&str> = sequences.iter().map(|sequence| sequence.split(';').next().unwrap()).collect();
        assert_eq!(starts, ["\x1b_Ga=T,U=1,q=2,f=100,t=d,i=7,c=8,r=4,m=1", "\x1b_Gq=2,m=1", "\x1b_Gq=2,m=0"]);
        let data: String = sequences.iter().map(|sequence| sequence.split(';').nth(1).unwrap()).collect();
        assert_eq!(BASE64_STANDARD.decode(data.replace("\x1b\\", "")).unwrap(), [0; 7000]);
        assert_eq!(remove(7), b"\x1b_Ga=d,d=I,q=2,i=7\x1b\\");
    }

    #[test]
    fn every_cell_of_a_page_has_a_symbol_of_one_column_of_its_own() {
        let cell_symbol = |row, column| {
            let mut symbol = "before".to_owned();
            write_cell_symbol(row, column, &mut symbol).then_some(symbol)
        };
        assert_eq!(cell_symbol(0, 1).as_deref(), Some("\u{10EEEE}\u{305}\u{30d}"));
        assert_eq!(cell_symbol(2, 0).as_deref(), Some("\u{10EEEE}\u{30e}\u{305}"));
        let symbols: Vec<String> = (0..PAGE_CELLS.0).filter_map(|column| cell_symbol(0, column)).collect();
        assert_eq!(symbols.len(), usize::from(PAGE_CELLS.0));
        assert!(symbols.iter().all(|symbol| symbol.cell_width() == 1), "{symbols:?}");
        assert!(symbols.windows(2).all(|pair| pair[0] < pair[1]), "they differ");
        assert_eq!(cell_symbol(0, 1000), None);
        assert_eq!(cell_symbol(1000, 0), None);
    }
}
