//! Removes secrets from a frame, cell by cell: those that the program has loaded, and those of known forms. A secret may be wrapped
//! over several rows, and its beginning may be outside the screen.

use crate::text::known_secrets::KnownSecrets;
use crate::text::redaction::find_secret_ranges;
use ratatui::buffer::Buffer;
use std::collections::{BTreeMap, HashSet};
use std::ops::Range;

/// Characters of a secret that are enough to mask them. A shorter secret is masked as a whole.
const PIECE_CHARS: usize = 8;
/// Length of a run of letters and digits that is masked if it looks random: a part of a key whose beginning is not on the screen. A
/// digest in hexadecimal has no capital letters.
const RANDOM_CHARS: usize = 32;
/// Minimum number of capital letters, of small letters and of digits in it.
const RANDOM_KINDS: usize = 3;
/// What a masked cell shows.
const MASK: &str = "*";

/// Masks frames.
#[derive(Debug, Default)]
pub struct FrameMasker {
    known: KnownSecrets,
    /// Pieces of the known secrets, whose number is `known_count`, and of those that were found by their form.
    pieces: HashSet<Vec<char>>,
    known_count: usize,
    /// Lengths of the pieces.
    lengths: Vec<usize>,
}

/// Text of cells, with the index of the cell of each character.
#[derive(Debug, Default)]
struct CellText {
    text: String,
    /// Byte offset and cell of each character; no cell for a line break.
    places: Vec<(usize, Option<usize>)>,
}

impl CellText {
    fn push(&mut self, symbol: &str, cell: Option<usize>) {
        for (offset, _) in symbol.char_indices() {
            self.places.push((self.text.len() + offset, cell));
        }
        self.text.push_str(symbol);
    }
}

impl FrameMasker {
    /// Masks these secrets, also those that are added to them later.
    pub fn new(known: KnownSecrets) -> Self {
        Self { known, ..Self::default() }
    }

    /// Finds the secrets of a text that may be shown later, perhaps without the beginning that gives them away.
    pub fn learn(&mut self, text: &str) {
        for range in find_secret_ranges(text) {
            text[range].lines().for_each(|line| self.add_pieces(line.trim()));
        }
    }

    /// Returns a text without secrets.
    pub fn mask_text(&mut self, text: &str) -> String {
        self.update_known();
        let mut cells = CellText::default();
        text.char_indices().for_each(|(offset, c)| cells.push(c.encode_utf8(&mut [0; 4]), Some(offset)));
        let masked = self.find_masked(&cells);
        text.char_indices().map(|(offset, c)| if masked.contains(&offset) { '*' } else { c }).collect()
    }

    /// Masks the secrets of a frame.
    pub fn mask_frame(&mut self, buffer: &mut Buffer) {
        self.update_known();
        let mut masked = HashSet::new();
        for (lines, joined) in read_columns(buffer) {
            for text in [lines, joined] {
                masked.extend(self.find_masked(&text));
            }
        }
        for cell in masked {
            buffer.content[cell].set_symbol(MASK);
        }
    }

    fn update_known(&mut self) {
        let secrets = self.known.to_vec();
        if secrets.len() != self.known_count {
            self.known_count = secrets.len();
            secrets.iter().for_each(|secret| self.add_pieces(secret));
        }
    }

    fn add_pieces(&mut self, secret: &str) {
        let chars: Vec<char> = secret.chars().filter(|c| !c.is_whitespace()).collect();
        let length = chars.len().min(PIECE_CHARS);
        if length == 0 {
            return;
        }
        self.pieces.extend(chars.windows(length).map(<[char]>::to_vec));
        if !self.lengths.contains(&length) {
            self.lengths.push(length);
        }
    }

    /// Returns the cells of the secrets in a text, and learns those that are found by their form.
    fn find_masked(&mut self, text: &CellText) -> HashSet<usize> {
        let mut masked = HashSet::new();
        for range in find_secret_ranges(&text.text) {
            self.add_pieces(&text.text[range.clone()]);
            masked
                .extend(text.places.iter().filter(|(offset, _)| range.contains(offset)).filter_map(|(_, cell)| *cell));
        }
        for range in find_random_runs(&text.text) {
            masked
                .extend(text.places.iter().filter(|(offset, _)| range.contains(offset)).filter_map(|(_, cell)| *cell));
        }
        let chars: Vec<(char, Option<usize>)> = text
            .text
            .chars()
            .zip(&text.places)
            .map(|(c, (_, cell))| (c, *cell))
            .filter(|(c, _)| !c.is_whitespace())
            .collect();
        let mut piece = Vec::with_capacity(PIECE_CHARS);
        for length in &self.lengths {
            for window in chars.windows(*length) {
                piece.clear();
                piece.extend(window.iter().map(|(c, _)| *c));
                if self.pieces.contains(&piece) {
                    masked.extend(window.iter().filter_map(|(_, cell)| *cell));
                }
            }
        }
        masked
    }
}

/// Finds the runs of letters and digits that look random.
fn find_random_runs(text: &str) -> Vec<Range<usize>> {
    let mut runs = Vec::new();
    let mut start = 0;
    for run in text.split(|c: char| !c.is_ascii_alphanumeric() && !matches!(c, '+' | '_')) {
        let count = |is_kind: fn(&u8) -> bool| run.bytes().filter(is_kind).count();
        let kinds = [u8::is_ascii_uppercase, u8::is_ascii_lowercase, u8::is_ascii_digit].map(count);
        if run.len() >= RANDOM_CHARS && kinds.iter().all(|kind| *kind >= RANDOM_KINDS) {
            runs.push(start..start + run.len());
        }
        start += run.len() + text[start + run.len()..].chars().next().map_or(0, char::len_utf8);
    }
    runs
}

/// Reads the text between the borders, one column after the other: with its line breaks, and as if each row went on in the next one.
fn read_columns(buffer: &Buffer) -> Vec<(CellText, CellText)> {
    let mut columns: BTreeMap<usize, (CellText, CellText)> = BTreeMap::new();
    let width = usize::from(buffer.area.width);
    for (y, row) in buffer.content.chunks(width.max(1)).enumerate() {
        let mut start = 0;
        for segment in row.split_inclusive(|cell| is_border(cell.symbol())) {
            let (lines, joined) = columns.entry(start).or_default();
            let first_cell = y * width + start;
            start += segment.len();
            let is_text = |symbol: &str| symbol != " " && !is_border(symbol);
            let Some(first) = segment.iter().position(|cell| is_text(cell.symbol())) else { continue };
            let last = segment.iter().rposition(|cell| is_text(cell.symbol())).unwrap_or(first);
            for (index, cell) in segment.iter().enumerate().take(last + 1).skip(first) {
                lines.push(cell.symbol(), Some(first_cell + index));
                joined.push(cell.symbol(), Some(first_cell + index));
            }
            lines.push("\n", None);
        }
    }
    columns.into_values().collect()
}

/// Returns whether a cell is a line, a bar or a block.
fn is_border(symbol: &str) -> bool {
    symbol.chars().next().is_some_and(|c| ('\u{2500}'..='\u{259f}').contains(&c))
}

#[cfg(test)]
mod tests;
