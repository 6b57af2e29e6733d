//! The clipboard of the terminal, by the protocol of kitty (OSC 5522). It is also that of a terminal on another machine.

use crate::chat::image::MAX_SOURCE_BYTES;
use crate::text::byte_size::format_bytes;
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;

/// Beginning of a packet of an answer.
pub(in crate::tui) const PACKET_START: &[u8] = b"\x1b]5522;";
/// Maximum bytes of a packet: 4096 bytes as Base64, and what describes them.
pub(in crate::tui) const MAX_PACKET: usize = 8 * 1024;
const PNG: &str = "image/png";
const TEXT: &str = "text/plain";
const DAMAGED: &str = "the answer of the terminal is damaged";

/// Content of the terminal's clipboard.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TerminalClipboard {
    /// A picture, as the terminal sent it: probably a PNG.
    Picture(Vec<u8>),
    Text(String),
}

/// An answer while it arrives.
#[derive(Debug, Default)]
pub(in crate::tui) struct ClipboardAnswer {
    picture: Vec<u8>,
    text: Vec<u8>,
    /// Why the answer cannot be used.
    error: Option<String>,
}

/// Returns the bytes that ask for the picture or the text of the clipboard.
pub fn request_bytes() -> Vec<u8> {
    let types = BASE64_STANDARD.encode(format!("{PNG} {TEXT}"));
    [PACKET_START, b"type=read;", types.as_bytes(), b"\x1b\\"].concat()
}

/// Returns whether a byte may follow in a packet after its beginning.
pub(in crate::tui) fn is_packet_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"+/=:;-_.".contains(&byte)
}

impl ClipboardAnswer {
    /// Notes that a packet was lost: the answer cannot be used.
    pub fn mark_damaged(&mut self) {
        self.error = Some(DAMAGED.to_owned());
    }

    /// Takes a packet, and returns the answer if it is the last one. The error is worded to follow a colon.
    pub fn take_packet(&mut self, packet: &[u8]) -> Option<Result<TerminalClipboard, String>> {
        let body = packet.strip_prefix(PACKET_START)?;
        let body = body.strip_suffix(b"\x1b\\").or_else(|| body.strip_suffix(b"\x07"))?;
        let mut parts = std::str::from_utf8(body).ok()?.splitn(2, ';');
        let fields: Vec<(&str, &str)> = parts.next()?.split(':').filter_map(|field| field.split_once('=')).collect();
        let field = |name: &str| fields.iter().find(|(key, _)| *key == name).map(|(_, value)| *value);
        if field("type") != Some("read") {
            return None;
        }
        match field("status")? {
            "OK" => *self = Self::default(),
            "DATA" => self.take_data(field("mime")?, parts.next().unwrap_or_default()),
            "DONE" => return Some(std::mem::take(self).finish()),
            status => {
                *self = Self::default();
                return Some(Err(match status {
                    "EPERM" => "the terminal does not allow it".to_owned(),
                    "EBUSY" => "the terminal is answering another program".to_owned(),
                    "ENOSYS" => "the terminal cannot read it".to_owned(),
                    status => format!("the terminal reports {status}"),
                }));
            }
        }
        None
    }

    fn take_data(&mut self, media_type: &str, data: &str) {
        let media_type = BASE64_STANDARD.decode(media_type).unwrap_or_default();
        let content = match media_type.as_slice() {
            media_type if media_type == PNG.as_bytes() => &mut self.picture,
            media_type if media_type == TEXT.as_bytes() => &mut self.text,
            _ => return,
        };
        match BASE64_STANDARD.decode(data) {
            Ok(bytes) if (content.len() + bytes.len()) as u64 <= MAX_SOURCE_BYTES => content.extend(bytes),
            Ok(_) => {
                content.clear();
                self.error = Some(format!("it is larger than {}", format_bytes(MAX_SOURCE_BYTES)));
            }
            Err(_) => self.mark_damaged(),
        }
    }

    fn finish(self) -> Result<TerminalClipboard, String> {
        if let Some(error) = self.error {
            return Err(error);
        }
        if !self.picture.is_empty() {
            return Ok(TerminalClipboard::Picture(self.picture));
        }
        match self.text.is_empty() {
            true => Err("there is no picture and no text on it".to_owned()),
            false => Ok(TerminalClipboard::Text(String::from_utf8_lossy(&self.text).replace("\r\n", "\n"))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packet(fields: &str, data: &str) -> Vec<u8> {
        let payload = if data.is_empty() { String::new() } else { format!(";{data}") };
        format!("\x1b]5522;type=read:{fields}{payload}\x1b\\").into_bytes()
    }

    fn data(media_type: &str, bytes: &[u8]) -> Vec<u8> {
        packet(&format!("status=DATA:mime={}", BASE64_STANDARD.encode(media_type)), &BASE64_STANDARD.encode(bytes))
    }

    fn answer(packets: &[Vec<u8>]) -> Result<TerminalClipboard, String> {
        let mut answer = ClipboardAnswer::default();
        let mut answers: Vec<_> = packets.iter().filter_map(|packet| answer.take_packet(packet)).collect();
        assert_eq!(answers.len(), 1);
        answers.remove(0)
    }

    #[test]
    fn the_request_names_both_types() {
        assert_eq!(request_bytes(), b"\x1b]5522;type=read;aW1hZ2UvcG5nIHRleHQvcGxhaW4=\x1b\\");
    }

    #[test]
    fn a_picture_comes_before_text_and_parts_are_joined() {
        let (start, end) = (packet("status=OK", ""), packet("status=DONE", ""));
        let (first, second, text) = (data(PNG, b"\x89P"), data(PNG, b"NG"), data(TEXT, "a\r\nä".as_bytes()));
        let picture = [start.clone(), text.clone(), first.clone(), second, end.clone()];
        assert_eq!(answer(&picture), Ok(TerminalClipboard::Picture(b"\x89PNG".to_vec())));
        // A new answer discards the incomplete one.
        let restarted = [first, start.clone(), text, data("text/html", b"<b>"), end.clone()];
        assert_eq!(answer(&restarted), Ok(TerminalClipboard::Text("a\nä".to_owned())));
        assert_eq!(answer(&[start, end]).unwrap_err(), "there is no picture and no text on it");
    }

    #[test]
    fn errors_are_reported_and_too_much_data_is_not_kept() {
        for (status, reason) in [
            ("EPERM", "the terminal does not allow it"),
            ("ENOSYS", "the terminal cannot read it"),
            ("EIO", "the terminal reports EIO"),
        ] {
            assert_eq!(answer(&[packet(&format!("status={status}"), "")]).unwrap_err(), reason);
        }
        let done = packet("status=DONE", "");
        let damaged = packet(&format!("status=DATA:mime={}", BASE64_STANDARD.encode(PNG)), "%%%");
        assert!(answer(&[damaged, done.clone()]).unwrap_err().contains("damaged"));
        let mut large: Vec<Vec<u8>> = (0..9).map(|_| data(PNG, &vec![0; 4_000_000])).collect();
        large.push(done);
        assert_eq!(answer(&large).unwrap_err(), "it is larger than 32.0 MB");
        for ignored in [&b"\x1b]5522;type=write:status=DONE\x1b\\"[..], b"\x1b]5522;x\x07", b"\x1b]5522;\xff\x07"] {
            assert_eq!(ClipboardAnswer::default().take_packet(ignored), None);
        }
    }
}
