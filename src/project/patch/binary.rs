//! Binary contents in a patch: compressed and in base 85, 52 bytes per line.

use super::object_id::changed_error;
use flate2::Compression;
use flate2::write::ZlibEncoder;
use std::io::{self, Read, Write};

/// Digits of git's base 85.
const DIGITS: &[u8; 85] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;<=>?@^_`{|}~";
/// Bytes per line.
const LINE_BYTES: usize = 52;

/// Writes content of `size` bytes as one literal, including the empty line that ends it. Uses a few hundred kilobytes
/// of memory.
///
/// # Errors
/// If the content does not have exactly this size any more.
pub fn write_literal(content: impl Read, size: u64, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "literal {size}")?;
    let mut encoder = ZlibEncoder::new(Base85Writer { out, incomplete_line: Vec::new() }, Compression::default());
    // Reading one byte more detects that the file grew.
    let copied = io::copy(&mut content.take(size + 1), &mut encoder)?;
    let lines = encoder.finish()?;
    if copied != size {
        return Err(changed_error());
    }
    lines.finish_literal()
}

/// Writer that encodes its input as lines of base 85.
struct Base85Writer<'a> {
    out: &'a mut dyn Write,
    /// Bytes of an incomplete line.
    incomplete_line: Vec<u8>,
}

impl Base85Writer<'_> {
    fn finish_literal(self) -> io::Result<()> {
        if !self.incomplete_line.is_empty() {
            self.out.write_all(&encode_line(&self.incomplete_line))?;
        }
        self.out.write_all(b"\n")
    }
}

impl Write for Base85Writer<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.incomplete_line.extend_from_slice(bytes);
        let complete = self.incomplete_line.len() / LINE_BYTES * LINE_BYTES;
        for part in self.incomplete_line[..complete].chunks(LINE_BYTES) {
            self.out.write_all(&encode_line(part))?;
        }
        self.incomplete_line.drain(..complete);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// Encodes one line: its number of bytes as a letter (A–Z, a–z), and five digits for every four bytes.
fn encode_line(bytes: &[u8]) -> Vec<u8> {
    let count = u8::try_from(bytes.len()).unwrap_or(0);
    let mut line = vec![if count <= 26 { b'A' + count - 1 } else { b'a' + count - 27 }];
    for group in bytes.chunks(4) {
        let mut padded = [0; 4];
        padded[..group.len()].copy_from_slice(group);
        let mut remaining = u32::from_be_bytes(padded);
        let mut digits = [0; 5];
        for digit in digits.iter_mut().rev() {
            *digit = DIGITS[(remaining % 85) as usize];
            remaining /= 85;
        }
        line.extend(digits);
    }
    line.push(b'\n');
    line
}
