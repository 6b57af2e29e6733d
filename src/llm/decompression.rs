//! Decompresses responses as they arrive. The first bytes determine the compression, because headers may be wrong.

use super::Error;
use bytes::Bytes;
use flate2::write::{DeflateDecoder, MultiGzDecoder, ZlibDecoder};
use std::io::{self, Write};

/// Bytes that are decompressed at once. They can expand at most a thousandfold.
const INPUT_CHUNK: usize = 1024;

/// Decompressor of one response.
pub struct Decompressor {
    /// The header says `deflate`, the only compression that the first bytes do not identify.
    says_deflate: bool,
    way: Option<Compression>,
    waiting: Bytes,
    /// Decompression failed here. Data before that was returned first.
    broken: Option<Error>,
}

enum Compression {
    Plain,
    Gzip(MultiGzDecoder<Vec<u8>>),
    Zlib(ZlibDecoder<Vec<u8>>),
    Deflate(DeflateDecoder<Vec<u8>>),
}

impl Decompressor {
    /// Creates a decompressor for a response with this `content-encoding`.
    ///
    /// # Errors
    /// Fails if the encoding is not supported.
    pub fn new(encoding: &str) -> Result<Self, Error> {
        let encoding = encoding.trim().to_ascii_lowercase();
        match encoding.as_str() {
            "" | "identity" | "gzip" | "x-gzip" | "deflate" => {}
            _ => {
                let way = super::provider_error::clip(&encoding, 20);
                let words = format!("Cannot read the response: unsupported compression ({way})");
                return Err(Error::InvalidReply(words));
            }
        }
        Ok(Self { says_deflate: encoding == "deflate", way: None, waiting: Bytes::new(), broken: None })
    }

    /// Adds received bytes. Call `take_output` until it returns `None` before adding more.
    pub fn push_input(&mut self, bytes: Bytes) {
        self.waiting = if self.waiting.is_empty() { bytes } else { [&self.waiting[..], &bytes].concat().into() };
    }

    /// Returns a small non-empty piece of decompressed data, or `None` if more input is needed.
    ///
    /// # Errors
    /// Fails if decompression fails.
    pub fn take_output(&mut self) -> Result<Option<Bytes>, Error> {
        if self.way.is_none() {
            let Some(way) = detect_compression(&self.waiting, self.says_deflate) else { return Ok(None) };
            self.way = Some(way);
        }
        if let (Some(Compression::Plain), false) = (&self.way, self.waiting.is_empty()) {
            return Ok(Some(std::mem::take(&mut self.waiting)));
        }
        while !self.waiting.is_empty() && self.broken.is_none() {
            let bite = self.waiting.split_to(self.waiting.len().min(INPUT_CHUNK));
            let (done, out) = match &mut self.way {
                None | Some(Compression::Plain) => (Ok(()), bite.to_vec()),
                Some(Compression::Gzip(gzip)) => (write_chunk(gzip, &bite), std::mem::take(gzip.get_mut())),
                Some(Compression::Zlib(zlib)) => (write_chunk(zlib, &bite), std::mem::take(zlib.get_mut())),
                Some(Compression::Deflate(raw)) => (write_chunk(raw, &bite), std::mem::take(raw.get_mut())),
            };
            self.broken = done
                .err()
                .map(|error| Error::InvalidReply(format!("Cannot read the response: decompression failed: {error}")));
            if !out.is_empty() {
                return Ok(Some(out.into()));
            }
        }
        self.broken.clone().map_or(Ok(None), Err)
    }

    /// Ends the input and returns the remaining data.
    ///
    /// # Errors
    /// Fails if the compressed data is incomplete.
    pub fn finish(&mut self) -> Result<Option<Bytes>, Error> {
        // A single byte does not identify a compression, so it is plain data.
        self.way.get_or_insert(Compression::Plain);
        if let Some(piece) = self.take_output()? {
            return Ok(Some(piece));
        }
        let whole = match &mut self.way {
            None | Some(Compression::Plain) => Ok(()),
            Some(Compression::Gzip(gzip)) => gzip.try_finish(),
            Some(Compression::Zlib(zlib)) => zlib.try_finish(),
            Some(Compression::Deflate(raw)) => raw.try_finish(),
        };
        self.way = Some(Compression::Plain);
        whole.map_err(|_| Error::ConnectionLost("the compressed response is incomplete".to_owned()))?;
        Ok(None)
    }
}

/// Detects the compression by the first bytes. Returns `None` if more bytes are needed.
fn detect_compression(start: &[u8], says_deflate: bool) -> Option<Compression> {
    Some(match start {
        [] | [0x1f] => return None,
        [b'x'] if !says_deflate => return None,
        [_] if says_deflate => return None,
        [0x1f, 0x8b, ..] => Compression::Gzip(MultiGzDecoder::new(Vec::new())),
        [0x78, 0x01 | 0x5e | 0x9c | 0xda, ..] if says_deflate => Compression::Zlib(ZlibDecoder::new(Vec::new())),
        // The fourth header, `x^`, is excluded because text may begin with it.
        [0x78, 0x01 | 0x9c | 0xda, ..] => Compression::Zlib(ZlibDecoder::new(Vec::new())),
        _ if says_deflate => Compression::Deflate(DeflateDecoder::new(Vec::new())),
        _ => Compression::Plain,
    })
}

fn write_chunk(into: &mut impl Write, bite: &[u8]) -> io::Result<()> {
    into.write_all(bite)?;
    into.flush()
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::Compression;
    use flate2::write::{DeflateEncoder, GzEncoder, ZlibEncoder};

    const TEXT: &[u8] = b"data: {\"choices\":[]}\n\n";

    fn gzip(text: &[u8]) -> Vec<u8> {
        let mut gzip = GzEncoder::new(Vec::new(), Compression::default());
        gzip.write_all(text).unwrap();
        gzip.finish().unwrap()
    }

    /// Decompresses in chunks of this size.
    fn unpack(encoding: &str, bytes: &[u8], size: usize) -> Result<Vec<u8>, Error> {
        let mut unpack = Decompressor::new(encoding)?;
        let mut out = Vec::new();
        for piece in bytes.chunks(size) {
            unpack.push_input(Bytes::copy_from_slice(piece));
            while let Some(piece) = unpack.take_output()? {
                out.extend(piece);
            }
        }
        while let Some(piece) = unpack.finish()? {
            out.extend(piece);
        }
        Ok(out)
    }

    #[test]
    fn r48_every_compression_is_detected_despite_wrong_headers() {
        let mut zlib = ZlibEncoder::new(Vec::new(), Compression::default());
        zlib.write_all(TEXT).unwrap();
        let zlib = zlib.finish().unwrap();
        let mut raw = DeflateEncoder::new(Vec::new(), Compression::default());
        raw.write_all(TEXT).unwrap();
        let raw = raw.finish().unwrap();
        let twice = [gzip(&TEXT[..9]), gzip(&TEXT[9..])].concat();
        for (encoding, bytes) in [
            ("", TEXT.to_vec()),
            ("identity", TEXT.to_vec()),
            ("gzip", TEXT.to_vec()),
            ("gzip", gzip(TEXT)),
            ("GZip ", twice),
            ("", gzip(TEXT)),
            ("deflate", zlib.clone()),
            ("", zlib),
            ("deflate", raw),
        ] {
            for size in [1, 2, 7, 1 << 20] {
                assert_eq!(unpack(encoding, &bytes, size).unwrap(), TEXT, "{encoding} in pieces of {size}");
            }
        }
        for short in [&b""[..], b"x", b"x^2"] {
            assert_eq!(unpack("", short, 1).unwrap(), short);
        }
    }

    #[test]
    fn r48_invalid_compressed_data_is_an_error() {
        let whole = gzip(TEXT);
        for end in 2..whole.len() {
            assert!(unpack("gzip", &whole[..end], 5).is_err(), "{end} of {} bytes", whole.len());
        }
        assert!(unpack("gzip", &[&whole[..12], b"nonsense"].concat(), 5).is_err());
        assert!(matches!(unpack("br", TEXT, 5), Err(Error::InvalidReply(words)) if words.contains("(br)")));
    }

    #[test]
    fn r65_highly_compressed_data_is_returned_in_small_pieces() {
        let mut unpack = Decompressor::new("gzip").unwrap();
        unpack.push_input(gzip(&vec![b'x'; 64 << 20]).into());
        let mut all = 0;
        while let Some(piece) = unpack.take_output().unwrap() {
            assert!(piece.len() <= 2 << 20, "{}", piece.len());
            all += piece.len();
        }
        assert_eq!(all, 64 << 20);
    }
}
