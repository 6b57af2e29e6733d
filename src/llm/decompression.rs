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
    is_deflate_declared: bool,
    compression: Option<Compression>,
    input: Bytes,
    /// Error of the decompression. It is returned after the data that was decompressed before it.
    failure: Option<Error>,
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
        if !["", "identity", "gzip", "x-gzip", "deflate"].contains(&encoding.as_str()) {
            let name = super::provider_error::clip(&encoding, 20);
            return Err(Error::InvalidReply(format!("Cannot read the response: unsupported compression ({name})")));
        }
        Ok(Self { is_deflate_declared: encoding == "deflate", compression: None, input: Bytes::new(), failure: None })
    }

    /// Adds received bytes. Call `take_output` until it returns `None` before adding more.
    pub fn push_input(&mut self, bytes: Bytes) {
        self.input = if self.input.is_empty() { bytes } else { [&self.input[..], &bytes].concat().into() };
    }

    /// Returns a small non-empty piece of decompressed data, or `None` if more input is needed.
    ///
    /// # Errors
    /// Fails if decompression fails.
    pub fn take_output(&mut self) -> Result<Option<Bytes>, Error> {
        if self.compression.is_none() {
            let Some(compression) = detect_compression(&self.input, self.is_deflate_declared) else { return Ok(None) };
            self.compression = Some(compression);
        }
        if let (Some(Compression::Plain), false) = (&self.compression, self.input.is_empty()) {
            return Ok(Some(std::mem::take(&mut self.input)));
        }
        while !self.input.is_empty() && self.failure.is_none() {
            let chunk = self.input.split_to(self.input.len().min(INPUT_CHUNK));
            let (result, output) = match &mut self.compression {
                None | Some(Compression::Plain) => (Ok(()), chunk.to_vec()),
                Some(Compression::Gzip(gzip)) => (write_chunk(gzip, &chunk), std::mem::take(gzip.get_mut())),
                Some(Compression::Zlib(zlib)) => (write_chunk(zlib, &chunk), std::mem::take(zlib.get_mut())),
                Some(Compression::Deflate(raw)) => (write_chunk(raw, &chunk), std::mem::take(raw.get_mut())),
            };
            self.failure = result
                .err()
                .map(|error| Error::InvalidReply(format!("Cannot read the response: decompression failed: {error}")));
            if !output.is_empty() {
                return Ok(Some(output.into()));
            }
        }
        self.failure.clone().map_or(Ok(None), Err)
    }

    /// Ends the input and returns the next piece of the remaining data. Call it until it returns `None`.
    ///
    /// # Errors
    /// Fails if the compressed data is incomplete.
    pub fn finish(&mut self) -> Result<Option<Bytes>, Error> {
        // A single byte does not identify a compression, so it is plain data.
        self.compression.get_or_insert(Compression::Plain);
        if let Some(piece) = self.take_output()? {
            return Ok(Some(piece));
        }
        let result = match &mut self.compression {
            None | Some(Compression::Plain) => Ok(()),
            Some(Compression::Gzip(gzip)) => gzip.try_finish(),
            Some(Compression::Zlib(zlib)) => zlib.try_finish(),
            Some(Compression::Deflate(raw)) => raw.try_finish(),
        };
        self.compression = Some(Compression::Plain);
        result.map_err(|_| Error::ConnectionLost("the compressed response is incomplete".to_owned()))?;
        Ok(None)
    }
}

/// Detects the compression by the first bytes. Returns `None` if more bytes are needed.
fn detect_compression(start: &[u8], is_deflate_declared: bool) -> Option<Compression> {
    Some(match start {
        [] | [0x1f] => return None,
        [b'x'] if !is_deflate_declared => return None,
        [_] if is_deflate_declared => return None,
        [0x1f, 0x8b, ..] => Compression::Gzip(MultiGzDecoder::new(Vec::new())),
        [0x78, 0x01 | 0x5e | 0x9c | 0xda, ..] if is_deflate_declared => Compression::Zlib(ZlibDecoder::new(Vec::new())),
        // The fourth zlib header, `78 5e` (`x^`), is excluded because plain text may begin with it.
        [0x78, 0x01 | 0x9c | 0xda, ..] => Compression::Zlib(ZlibDecoder::new(Vec::new())),
        _ if is_deflate_declared => Compression::Deflate(DeflateDecoder::new(Vec::new())),
        _ => Compression::Plain,
    })
}

fn write_chunk(decoder: &mut impl Write, chunk: &[u8]) -> io::Result<()> {
    decoder.write_all(chunk)?;
    decoder.flush()
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::Compression;
    use flate2::write::{DeflateEncoder, GzEncoder, ZlibEncoder};

    const TEXT: &[u8] = b"data: {\"choices\":[]}\n\n";

    fn compress_gzip(text: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(text).unwrap();
        encoder.finish().unwrap()
    }

    /// Decompresses in chunks of this size.
    fn decompress(encoding: &str, bytes: &[u8], size: usize) -> Result<Vec<u8>, Error> {
        let mut decompressor = Decompressor::new(encoding)?;
        let mut output = Vec::new();
        for piece in bytes.chunks(size) {
            decompressor.push_input(Bytes::copy_from_slice(piece));
            while let Some(piece) = decompressor.take_output()? {
                output.extend(piece);
            }
        }
        while let Some(piece) = decompressor.finish()? {
            output.extend(piece);
        }
        Ok(output)
    }

    #[test]
    fn r48_every_compression_is_detected_despite_wrong_headers() {
        let mut encoder = ZlibEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(TEXT).unwrap();
        let zlib = encoder.finish().unwrap();
        let mut encoder = DeflateEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(TEXT).unwrap();
        let deflate = encoder.finish().unwrap();
        let two_members = [compress_gzip(&TEXT[..9]), compress_gzip(&TEXT[9..])].concat();
        for (encoding, bytes) in [
            ("", TEXT.to_vec()),
            ("identity", TEXT.to_vec()),
            ("gzip", TEXT.to_vec()),
            ("gzip", compress_gzip(TEXT)),
            ("GZip ", two_members),
            ("", compress_gzip(TEXT)),
            ("deflate", zlib.clone()),
            ("", zlib),
            ("deflate", deflate),
        ] {
            for size in [1, 2, 7, 1 << 20] {
                assert_eq!(decompress(encoding, &bytes, size).unwrap(), TEXT, "{encoding} in pieces of {size}");
            }
        }
        for short in [&b""[..], b"x", b"x^2"] {
            assert_eq!(decompress("", short, 1).unwrap(), short);
        }
    }

    #[test]
    fn r48_invalid_compressed_data_is_an_error() {
        let compressed = compress_gzip(TEXT);
        for end in 2..compressed.len() {
            assert!(decompress("gzip", &compressed[..end], 5).is_err(), "{end} of {} bytes", compressed.len());
        }
        assert!(decompress("gzip", &[&compressed[..12], b"nonsense"].concat(), 5).is_err());
        assert!(matches!(decompress("br", TEXT, 5), Err(Error::InvalidReply(message)) if message.contains("(br)")));
    }

    #[test]
    fn r65_highly_compressed_data_is_returned_in_small_pieces() {
        let mut decompressor = Decompressor::new("gzip").unwrap();
        decompressor.push_input(compress_gzip(&vec![b'x'; 64 << 20]).into());
        let mut total = 0;
        while let Some(piece) = decompressor.take_output().unwrap() {
            assert!(piece.len() <= 2 << 20, "{}", piece.len());
            total += piece.len();
        }
        assert_eq!(total, 64 << 20);
    }
}
