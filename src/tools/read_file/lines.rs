//! Reads the lines of a file of any size as a stream, with at most one chunk in memory.

use crate::tools::summary_line;
use std::io::{BufRead, BufReader, Read};
use std::time::{Duration, Instant};

/// Characters shown of a line.
pub(super) const MAX_LINE_CHARS: usize = 2_000;
/// Bytes read at a time.
pub(super) const CHUNK_BYTES: usize = 64 * 1024;
/// Time limit of reading a file.
pub(super) const TIME_LIMIT: Duration = Duration::from_secs(10);

/// The lines of a file, read one by one.
pub(super) struct Lines<R> {
    reader: BufReader<R>,
    chunk: Vec<u8>,
    /// Lines read so far.
    pub(super) line_count: u64,
    /// Bytes read so far.
    pub(super) byte_count: u64,
    pub(super) started: Instant,
}

/// The beginning of a line, and its length in characters.
pub(super) struct Line {
    first_bytes: Vec<u8>,
    characters: usize,
}

/// Result of reading the next line.
pub(super) enum NextLine {
    Line(Line),
    End,
    /// The time limit was exceeded.
    TimedOut,
}

impl<R: Read> Lines<R> {
    pub(super) fn new(file: R) -> Self {
        let reader = BufReader::with_capacity(CHUNK_BYTES, file);
        Self { reader, chunk: Vec::new(), line_count: 0, byte_count: 0, started: Instant::now() }
    }

    /// Returns the first bytes of the file. Must be called before any line is read.
    pub(super) fn first_bytes(&mut self) -> std::io::Result<&[u8]> {
        self.reader.fill_buf()
    }

    /// Reads a line and keeps at least its first `kept_chars` characters. With 0, nothing is kept and its characters
    /// are not counted.
    pub(super) fn read_line(&mut self, kept_chars: usize) -> std::io::Result<NextLine> {
        // A character has at most four bytes. One character more than shown is kept.
        let max_bytes = if kept_chars == 0 { 0 } else { kept_chars * 4 + 4 };
        let mut line = Line { first_bytes: Vec::new(), characters: 0 };
        let (mut has_ended, mut bytes_read, mut last_byte) = (false, 0, 0);
        while !has_ended {
            self.chunk.clear();
            let count = (&mut self.reader).take(CHUNK_BYTES as u64).read_until(b'\n', &mut self.chunk)?;
            if count == 0 {
                break;
            }
            (bytes_read, self.byte_count) = (bytes_read + count, self.byte_count + count as u64);
            let mut text = self.chunk.as_slice();
            if let Some(line_bytes) = text.strip_suffix(b"\n") {
                has_ended = true;
                let previous_byte = line_bytes.last().copied().unwrap_or(last_byte);
                // A carriage return at the end of the previous chunk belongs to the line ending.
                if previous_byte == b'\r' && line_bytes.is_empty() {
                    line.characters = line.characters.saturating_sub(1);
                    if line.first_bytes.ends_with(b"\r") {
                        line.first_bytes.pop();
                    }
                }
                text = line_bytes.strip_suffix(b"\r").unwrap_or(line_bytes);
            }
            if kept_chars > 0 {
                // Continuation bytes of a character are not counted.
                line.characters += text.iter().filter(|byte| (**byte & 0xc0) != 0x80).count();
                let added_length = max_bytes.saturating_sub(line.first_bytes.len()).min(text.len());
                line.first_bytes.extend_from_slice(&text[..added_length]);
            }
            last_byte = self.chunk.last().copied().unwrap_or_default();
            // To save time, the clock is read only in long lines and every 1024 lines.
            let is_due = bytes_read > CHUNK_BYTES || self.line_count.is_multiple_of(1_024);
            if is_due && self.started.elapsed() > TIME_LIMIT {
                return Ok(NextLine::TimedOut);
            }
        }
        if bytes_read == 0 {
            return Ok(NextLine::End);
        }
        self.line_count += 1;
        Ok(NextLine::Line(line))
    }
}

impl Line {
    /// Returns the text to show, and whether some of its bytes are not UTF-8.
    pub(super) fn display_text(&self) -> (String, bool) {
        let is_complete = self.characters <= MAX_LINE_CHARS;
        // The last character kept may be incomplete.
        let is_invalid =
            std::str::from_utf8(&self.first_bytes).is_err_and(|error| is_complete || error.error_len().is_some());
        let text = String::from_utf8_lossy(&self.first_bytes);
        let (truncated, _) = summary_line::truncate_chars(&text, MAX_LINE_CHARS);
        let truncation_note = match is_complete {
            true => String::new(),
            false => format!(" … [truncated: the line has {} characters]", self.characters),
        };
        (format!("{truncated}{truncation_note}"), is_invalid)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Compares with `str::lines` at every chunk boundary.
    #[test]
    fn r23_lines_are_the_same_as_those_of_str_lines() {
        for length in [0, 1, CHUNK_BYTES - 2, CHUNK_BYTES - 1, CHUNK_BYTES, CHUNK_BYTES + 1, 2 * CHUNK_BYTES] {
            for line_end in ["", "\n", "\r\n", "\r", "\n\n", "\r\nx\n"] {
                let text = format!("{}{line_end}", "é".repeat(length / 2) + &"x".repeat(length % 2));
                let mut lines = Lines::new(text.as_bytes());
                let mut lines_read = Vec::new();
                while let NextLine::Line(line) = lines.read_line(MAX_LINE_CHARS).unwrap() {
                    lines_read.push((line.characters, line.first_bytes.first().copied()));
                }
                let expected: Vec<_> = text.lines().map(|line| (line.chars().count(), line.bytes().next())).collect();
                assert_eq!(lines_read, expected, "{length} {line_end:?}");
            }
        }
    }

    #[test]
    fn r23_endless_line_times_out_without_using_memory() {
        let mut lines = Lines::new(std::io::repeat(b'x'));
        lines.started = Instant::now().checked_sub(TIME_LIMIT).unwrap();
        assert!(matches!(lines.read_line(MAX_LINE_CHARS).unwrap(), NextLine::TimedOut));
        assert!(lines.chunk.capacity() <= 2 * CHUNK_BYTES);
    }
}
