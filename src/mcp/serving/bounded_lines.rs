//! Reads lines of limited length.

use std::io::{self, BufRead};

/// A line of the input, without its end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Line {
    Text(Vec<u8>),
    /// Longer than the limit. Its text was skipped.
    TooLong,
}

/// Reads the next line of at most `limit` bytes. Returns `None` at the end of the input.
pub fn read_bounded_line(input: &mut impl BufRead, limit: usize) -> io::Result<Option<Line>> {
    let mut line = Some(Vec::new());
    let mut has_bytes = false;
    loop {
        let available = match input.fill_buf() {
            Ok(available) => available,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        if available.is_empty() {
            return Ok(has_bytes.then(|| line.map_or(Line::TooLong, Line::Text)));
        }
        has_bytes = true;
        let end = memchr::memchr(b'\n', available);
        let part = &available[..end.unwrap_or(available.len())];
        line = line.filter(|text| text.len() + part.len() <= limit);
        if let Some(text) = &mut line {
            text.extend_from_slice(part);
        }
        let consumed = part.len() + usize::from(end.is_some());
        input.consume(consumed);
        if end.is_some() {
            return Ok(Some(line.map_or(Line::TooLong, Line::Text)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::BufReader;

    fn read_all(bytes: &[u8], limit: usize) -> Vec<Line> {
        // Lines are split between reads.
        let mut input = BufReader::with_capacity(3, bytes);
        std::iter::from_fn(|| read_bounded_line(&mut input, limit).unwrap()).collect()
    }

    #[test]
    fn lines_up_to_the_limit_are_read_and_longer_ones_skipped() {
        let text = |text: &str| Line::Text(text.into());
        assert_eq!(read_all(b"", 4), []);
        assert_eq!(read_all(b"\n", 4), [text("")]);
        assert_eq!(read_all(b"abcd\nabcde\nab\nc", 4), [text("abcd"), Line::TooLong, text("ab"), text("c")]);
        assert_eq!(read_all(b"abcdefghij", 4), [Line::TooLong]);
    }
}
