//! The lines of a file of any size: read as a stream, of which no more than one piece is held.

use crate::tools::brief;
use std::io::{BufRead, BufReader, Read};
use std::time::{Duration, Instant};

/// Characters that are shown of a line.
pub(super) const WIDTH: usize = 2_000;
/// Bytes read at once.
pub(super) const PIECE: usize = 64 * 1024;
/// Reading is given up after this.
pub(super) const PATIENCE: Duration = Duration::from_secs(10);

/// The lines of a file, read one after the other and never held as a whole.
pub(super) struct Lines<R> {
    reader: BufReader<R>,
    piece: Vec<u8>,
    /// Lines read so far.
    pub(super) lines: u64,
    /// Bytes read so far.
    pub(super) bytes: u64,
    pub(super) started: Instant,
}

/// One line: its beginning, and how many characters it has.
pub(super) struct Line {
    start: Vec<u8>,
    characters: usize,
}

/// What a file had to give.
pub(super) enum Next {
    Line(Line),
    End,
    /// It took too long.
    GivenUp,
}

impl<R: Read> Lines<R> {
    pub(super) fn new(file: R) -> Self {
        let reader = BufReader::with_capacity(PIECE, file);
        Self { reader, piece: Vec::new(), lines: 0, bytes: 0, started: Instant::now() }
    }

    /// The first bytes of the file, before anything is read.
    pub(super) fn first_bytes(&mut self) -> std::io::Result<&[u8]> {
        self.reader.fill_buf()
    }

    /// Reads a line and keeps `width` characters of it, and some bytes more.
    pub(super) fn read_line(&mut self, width: usize) -> std::io::Result<Next> {
        // A character has four bytes at most.
        let room = if width == 0 { 0 } else { width * 4 + 4 };
        let mut line = Line { start: Vec::new(), characters: 0 };
        let (mut ended, mut read, mut last) = (false, 0, 0);
        while !ended {
            self.piece.clear();
            let count = (&mut self.reader).take(PIECE as u64).read_until(b'\n', &mut self.piece)?;
            if count == 0 {
                break;
            }
            (read, self.bytes) = (read + count, self.bytes + count as u64);
            let mut text = self.piece.as_slice();
            if let Some(bare) = text.strip_suffix(b"\n") {
                ended = true;
                let before = bare.last().copied().unwrap_or(last);
                // A carriage return belongs to the end of the line.
                if before == b'\r' && bare.is_empty() {
                    line.characters = line.characters.saturating_sub(1);
                    if line.start.ends_with(b"\r") {
                        line.start.pop();
                    }
                }
                text = bare.strip_suffix(b"\r").unwrap_or(bare);
            }
            if width > 0 {
                // Bytes that go on with a character are not counted.
                line.characters += text.iter().filter(|byte| (**byte & 0xc0) != 0x80).count();
                let left = room.saturating_sub(line.start.len()).min(text.len());
                line.start.extend_from_slice(&text[..left]);
            }
            last = self.piece.last().copied().unwrap_or_default();
            let is_due = read > PIECE || self.lines.is_multiple_of(1_024);
            if is_due && self.started.elapsed() > PATIENCE {
                return Ok(Next::GivenUp);
            }
        }
        if read == 0 {
            return Ok(Next::End);
        }
        self.lines += 1;
        Ok(Next::Line(line))
    }
}

impl Line {
    /// Returns what is shown of it, and whether some of its bytes are not UTF-8.
    pub(super) fn text(&self) -> (String, bool) {
        let is_whole = self.characters <= WIDTH;
        let odd = match std::str::from_utf8(&self.start) {
            Ok(_) => false,
            // The last character of what was kept may be cut in two.
            Err(error) => is_whole || error.error_len().is_some(),
        };
        let text = String::from_utf8_lossy(&self.start);
        let (kept, _) = brief::cut(&text, WIDTH);
        let mark = match is_whole {
            true => String::new(),
            false => format!(" … [cut: the line has {} characters]", self.characters),
        };
        (format!("{kept}{mark}"), odd)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// However the lines are cut into pieces, they are what `str::lines` says.
    #[test]
    fn r23_lines_are_those_of_the_text_whatever_their_length_and_ends() {
        for length in [0, 1, PIECE - 2, PIECE - 1, PIECE, PIECE + 1, 2 * PIECE] {
            for end in ["", "\n", "\r\n", "\r", "\n\n", "\r\nx\n"] {
                let text = format!("{}{end}", "é".repeat(length / 2) + &"x".repeat(length % 2));
                let mut lines = Lines::new(text.as_bytes());
                let mut found = Vec::new();
                while let Next::Line(line) = lines.read_line(WIDTH).unwrap() {
                    found.push((line.characters, line.start.first().copied()));
                }
                let expected: Vec<_> =
                    text.lines().map(|line| (line.chars().count(), line.bytes().next())).collect();
                assert_eq!(found, expected, "{length} {end:?}");
            }
        }
    }

    #[test]
    fn r23_an_endless_line_is_given_up_and_takes_no_memory() {
        let mut lines = Lines::new(std::io::repeat(b'x'));
        lines.started = Instant::now().checked_sub(PATIENCE).unwrap();
        assert!(matches!(lines.read_line(WIDTH).unwrap(), Next::GivenUp));
        assert!(lines.piece.capacity() <= 2 * PIECE);
    }
}
