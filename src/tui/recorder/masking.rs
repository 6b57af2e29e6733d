//! Removes secrets from a frame, cell by cell: those that the program has loaded, and those of known forms. A secret may be wrapped
//! over several rows, and its beginning may be outside the screen.

use crate::text::known_secrets::KnownSecrets;
use crate::text::redaction::{find_secret_beginnings, find_secret_ranges};
use ratatui::buffer::{Buffer, Cell, CellWidth};
use std::collections::{BTreeMap, HashSet};
use std::ops::Range;

/// Length of the parts of a secret that are masked wherever they are. A shorter secret is masked only as a whole.
const PIECE_CHARS: usize = 8;
/// Length of a run of letters and digits that is masked if it looks random: a part of a key whose beginning is not on the screen. A
/// digest in hexadecimal has no capital letters.
const RANDOM_CHARS: usize = 32;
/// Minimum number of capital letters, of small letters and of digits in it.
const RANDOM_KINDS: usize = 3;
/// The same for a run with slashes, which a path has too.
const RANDOM_CHARS_WITH_SLASHES: usize = 48;
const RANDOM_KINDS_WITH_SLASHES: usize = 6;
/// Mark before a row that goes on with the one above.
const CONTINUATION: &str = "↪";
/// Columns at the end of a full row: a blank, the border, and one for a wide glyph that did not fit.
const MAX_MARGIN: usize = 3;
/// What a masked cell shows.
const MASK: &str = "*";

/// Masks frames.
#[derive(Debug, Default)]
pub struct FrameMasker {
    known: KnownSecrets,
    /// Parts of `PIECE_CHARS` characters of all secrets, known or found by their form.
    pieces: HashSet<Vec<char>>,
    /// Number of known secrets whose parts are in `pieces`.
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
            text[range].lines().for_each(|line| self.remember(line.trim()));
        }
    }

    /// Masks a secret from now on, also without the context that gave it away. A secret shorter than `PIECE_CHARS` is ignored: it may
    /// be a part of ordinary words, or the beginning of one that is being typed.
    pub fn remember(&mut self, secret: &str) {
        if secret.chars().filter(|c| !c.is_whitespace()).count() >= PIECE_CHARS {
            self.add_pieces(secret);
        }
    }

    /// Returns a text without secrets.
    pub fn mask_text(&mut self, text: &str) -> String {
        self.update_known();
        let mut cells = CellText::default();
        text.char_indices().for_each(|(offset, c)| cells.push(c.encode_utf8(&mut [0; 4]), Some(offset)));
        let masked = self.find_masked(&cells, false);
        text.char_indices().map(|(offset, c)| if masked.contains(&offset) { '*' } else { c }).collect()
    }

    /// Masks the secrets of a frame.
    pub fn mask_frame(&mut self, buffer: &mut Buffer) {
        self.update_known();
        let mut masked = HashSet::new();
        for (lines, joined) in read_columns(buffer) {
            masked.extend(self.find_masked(&lines, true));
            // Rows that do not belong together may make a secret of ordinary words.
            masked.extend(self.find_masked(&joined, false));
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

    /// Returns the cells of the secrets in a text, and remembers those that are found by their form if `learns`.
    fn find_masked(&mut self, text: &CellText, learns: bool) -> HashSet<usize> {
        let secrets = find_secret_ranges(&text.text);
        if learns {
            secrets.iter().for_each(|range| self.remember(&text.text[range.clone()]));
        }
        let mut masked = HashSet::new();
        for range in secrets.into_iter().chain(find_secret_beginnings(&text.text)).chain(find_random_runs(&text.text)) {
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
    let is_in_run = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '_');
    let mut runs = find_runs(text, is_in_run, RANDOM_CHARS, RANDOM_KINDS);
    let with_slashes = |c: char| is_in_run(c) || c == '/';
    runs.extend(find_runs(text, with_slashes, RANDOM_CHARS_WITH_SLASHES, RANDOM_KINDS_WITH_SLASHES));
    runs
}

/// Finds runs of these characters with this length and number of capital letters, small letters and digits.
fn find_runs(text: &str, is_in_run: impl Fn(char) -> bool, min_chars: usize, min_kinds: usize) -> Vec<Range<usize>> {
    let mut runs = Vec::new();
    let mut start = 0;
    for run in text.split(|c: char| !is_in_run(c)) {
        let count = |is_kind: fn(&u8) -> bool| run.bytes().filter(is_kind).count();
        let kinds = [u8::is_ascii_uppercase, u8::is_ascii_lowercase, u8::is_ascii_digit].map(count);
        if run.len() >= min_chars && kinds.iter().all(|kind| *kind >= min_kinds) {
            runs.push(start..start + run.len());
        }
        start += run.len() + text[start + run.len()..].chars().next().map_or(0, char::len_utf8);
    }
    runs
}

/// Reads the text between the borders, one column after the other: with its line breaks, and as if each row went on in the next one.
fn read_columns(buffer: &Buffer) -> Vec<(CellText, CellText)> {
    let mut columns: BTreeMap<usize, (CellText, CellText)> = BTreeMap::new();
    // Where the text of the row before begins in each column.
    let mut indents: BTreeMap<usize, usize> = BTreeMap::new();
    let width = usize::from(buffer.area.width);
    for (y, row) in buffer.content.chunks(width.max(1)).enumerate() {
        let mut start = 0;
        for segment in row.split_inclusive(|cell| is_border(cell.symbol())) {
            let (lines, joined) = columns.entry(start).or_default();
            let first_cell = y * width + start;
            start += segment.len();
            let is_text = |symbol: &str| symbol != " " && symbol != CONTINUATION && !is_border(symbol);
            let column = first_cell - y * width;
            let Some(first) = segment.iter().position(|cell| is_text(cell.symbol())) else { continue };
            let last = segment.iter().rposition(|cell| is_text(cell.symbol())).unwrap_or(first);
            let first = first + line_number_length(&segment[first..=last]);
            if indents.insert(column, first).is_some_and(|before| first > before) {
                joined.push(" ", None);
            }
            let mut covered = 0;
            for (index, cell) in segment.iter().enumerate().take(last + 1).skip(first) {
                if covered > 0 {
                    covered -= 1;
                    continue;
                }
                covered = cell.symbol().cell_width().saturating_sub(1);
                lines.push(cell.symbol(), Some(first_cell + index));
                joined.push(cell.symbol(), Some(first_cell + index));
            }
            lines.push("\n", None);
            if last + MAX_MARGIN < segment.len() {
                joined.push(" ", None);
            }
        }
    }
    columns.into_values().collect()
}

/// Returns the number of cells of a line number and the blank after it.
fn line_number_length(cells: &[Cell]) -> usize {
    let digits = cells.iter().take_while(|cell| cell.symbol().bytes().all(|byte| byte.is_ascii_digit())).count();
    let is_number = digits > 0 && cells.get(digits).is_some_and(|cell| cell.symbol() == " ");
    if is_number { digits + 1 } else { 0 }
}

/// Returns whether a cell is a line, a bar or a block.
fn is_border(symbol: &str) -> bool {
    symbol.chars().next().is_some_and(|c| ('\u{2500}'..='\u{259f}').contains(&c))
}

#[cfg(test)]
mod tests;
