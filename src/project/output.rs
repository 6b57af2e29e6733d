//! Output of a command in bounded memory: the beginning and the end are kept.

use crate::chat::output_omission::{HEAD, TAIL, format_omission};
use std::collections::VecDeque;
use std::ops::Range;

/// Maximum bytes kept of a long output.
pub const MAX_LONG_OUTPUT_BYTES: usize = 10_000_000;

/// Output that is still being received.
#[derive(Debug, Default)]
pub struct Output {
    head: Vec<u8>,
    tail: VecDeque<u8>,
    /// Total number of bytes received.
    pub received: u64,
    /// Bytes that `Output::take_new` has returned or skipped.
    reported: u64,
    /// The bytes after `head` that are no longer in `tail`, at most [`MAX_LONG_OUTPUT_BYTES`]; `None` if they are not kept.
    middle: Option<Vec<u8>>,
}

/// An output of which only the beginning and the end are in the text of its command.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LongOutput {
    pub bytes: Vec<u8>,
    /// False if the end is missing.
    pub is_complete: bool,
}

impl LongOutput {
    /// Returns the output as text, and the bytes of that text which the text of the command omits.
    pub fn into_text(self) -> (String, Range<usize>) {
        let Self { bytes, is_complete } = self;
        let head = &bytes[..bytes.len().min(HEAD)];
        let head = &head[..head.len() - trailing_incomplete(head)];
        let tail = if is_complete { &bytes[bytes.len().saturating_sub(TAIL)..] } else { &[] };
        let tail = &tail[leading_continuation(tail)..];
        let [head, tail] = [head, tail].map(|part| String::from_utf8_lossy(part).len());
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let end = text.floor_char_boundary(text.len().saturating_sub(tail));
        let start = text.floor_char_boundary(head).min(end);
        (text, start..end)
    }
}

/// Progress of a running call.
#[derive(Debug, Clone, Copy)]
pub struct CommandProgress<'a> {
    /// The end of its output so far, or its status, in one line.
    pub latest: &'a str,
    /// Output since the last progress report.
    pub new_output: &'a str,
}

/// Receives the progress of a call.
pub type OnProgress<'a> = &'a (dyn Fn(CommandProgress<'_>) + Send + Sync);

impl<'a> CommandProgress<'a> {
    /// Returns the progress of a call that prints nothing.
    pub fn from_status(text: &'a str) -> Self {
        Self { latest: text, new_output: "" }
    }
}

impl Output {
    /// Creates an output that also keeps the middle, for [`Self::long_output`].
    pub fn keeping_middle() -> Self {
        Self { middle: Some(Vec::new()), ..Self::default() }
    }

    /// Returns the beginning of the output up to [`MAX_LONG_OUTPUT_BYTES`], if the text omits a part and the middle is kept.
    pub fn long_output(&self) -> Option<LongOutput> {
        let middle = self.middle.as_ref().filter(|middle| !middle.is_empty())?;
        let is_complete = self.received == (self.head.len() + middle.len() + self.tail.len()) as u64;
        let bytes = match is_complete {
            true => self.kept_bytes(),
            false => self.head.iter().chain(middle).copied().collect(),
        };
        Some(LongOutput { bytes, is_complete })
    }

    /// Returns the bytes that are kept.
    pub fn kept_bytes(&self) -> Vec<u8> {
        let middle = self.middle.iter().flatten();
        self.head.iter().chain(middle).chain(&self.tail).copied().collect()
    }

    /// Appends the next bytes.
    pub fn push(&mut self, bytes: &[u8]) {
        self.received += bytes.len() as u64;
        let (head, remaining) = bytes.split_at(bytes.len().min(HEAD - self.head.len()));
        self.head.extend_from_slice(head);
        let (skipped, remaining) = remaining.split_at(remaining.len().saturating_sub(TAIL));
        let excess = (self.tail.len() + remaining.len()).saturating_sub(TAIL);
        let leaving = self.tail.drain(..excess).chain(skipped.iter().copied());
        if let Some(middle) = &mut self.middle {
            let room = (MAX_LONG_OUTPUT_BYTES - HEAD).saturating_sub(middle.len());
            middle.extend(leaving.take(room));
        } else {
            drop(leaving);
        }
        self.tail.extend(remaining);
    }

    /// Returns the last part of the output, at most `bytes` bytes, starting at a character boundary.
    pub fn latest_output(&self, bytes: usize) -> String {
        let kept_bytes = self.head.len() + self.tail.len();
        let last: Vec<u8> =
            self.head.iter().chain(&self.tail).skip(kept_bytes.saturating_sub(bytes)).copied().collect();
        let cut = if kept_bytes > bytes { leading_continuation(&last) } else { 0 };
        String::from_utf8_lossy(&last[cut..]).into_owned()
    }

    /// Returns the output since the last call, starting and ending at character boundaries. If it exceeds `TAIL` bytes,
    /// returns only its last part, after `…`.
    pub fn take_new(&mut self) -> String {
        let new_bytes = usize::try_from(self.received - self.reported).unwrap_or(usize::MAX);
        let kept_bytes = self.head.len() + self.tail.len();
        let skip = kept_bytes.saturating_sub(new_bytes.min(TAIL));
        let last: Vec<u8> = self.head.iter().chain(&self.tail).skip(skip).copied().collect();
        let end = last.len() - trailing_incomplete(&last);
        self.reported = self.received - (last.len() - end) as u64;
        let (start, gap) = if new_bytes > TAIL { (leading_continuation(&last).min(end), "…") } else { (0, "") };
        format!("{gap}{}", String::from_utf8_lossy(&last[start..end]))
    }

    /// Returns whether there is output since the last [`Output::take_new`].
    pub fn has_new(&self) -> bool {
        self.received > self.reported
    }

    /// Skips the new output up to this number of received bytes.
    pub fn skip_to(&mut self, received: u64) {
        self.reported = self.reported.max(received.min(self.received));
    }

    /// Returns the text and the number of omitted bytes. A separate line in the text reports them, if any.
    pub fn into_text(self) -> (String, u64) {
        let Self { mut head, tail, received, reported: _, middle: _ } = self;
        let tail = Vec::from(tail);
        if received == (head.len() + tail.len()) as u64 {
            head.extend(tail);
            return (String::from_utf8_lossy(&head).into_owned(), 0);
        }
        let tail = &tail[leading_continuation(&tail)..];
        head.truncate(head.len() - trailing_incomplete(&head));
        let omitted = received - (head.len() + tail.len()) as u64;
        let (head, tail) = (String::from_utf8_lossy(&head), String::from_utf8_lossy(tail));
        (format!("{head}\n{}\n{tail}", format_omission(omitted)), omitted)
    }
}

/// Returns how many leading bytes continue a character that starts before them.
fn leading_continuation(bytes: &[u8]) -> usize {
    bytes.iter().take(3).take_while(|byte| **byte & 0b1100_0000 == 0b1000_0000).count()
}

/// Returns how many trailing bytes belong to an incomplete character.
fn trailing_incomplete(bytes: &[u8]) -> usize {
    let last = &bytes[bytes.len().saturating_sub(4)..];
    match std::str::from_utf8(&last[leading_continuation(last)..]) {
        Err(error) if error.error_len().is_none() => last.len() - leading_continuation(last) - error.valid_up_to(),
        Ok(_) | Err(_) => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn collect_output(pieces: impl IntoIterator<Item = Vec<u8>>) -> (String, u64) {
        let mut output = Output::default();
        for piece in pieces {
            output.push(&piece);
        }
        output.into_text()
    }

    #[test]
    fn output_within_the_limit_is_kept_whole_in_any_pieces() {
        let text: Vec<u8> = (0..HEAD + TAIL).map(|n| b'a' + (n % 26) as u8).collect();
        let whole = String::from_utf8(text.clone()).unwrap();
        assert_eq!(collect_output([text.clone()]), (whole.clone(), 0));
        assert_eq!(collect_output(text.chunks(7001).map(<[u8]>::to_vec)), (whole, 0));
    }

    #[test]
    fn longer_output_keeps_both_ends_and_counts_the_omitted_bytes() {
        let (text, omitted) = collect_output([b"start".to_vec(), vec![b'.'; 1_000_000], b"end".to_vec()]);
        assert_eq!(omitted, 1_000_008 - (HEAD + TAIL) as u64);
        assert!(text.starts_with("start.") && text.ends_with(".end"));
        assert!(text.contains(&format!("\n[{omitted} bytes omitted]\n")));
    }

    #[test]
    fn the_middle_is_kept_up_to_a_limit() {
        let text: Vec<u8> = (0..MAX_LONG_OUTPUT_BYTES + 50_000).map(|n| b'a' + (n % 23) as u8).collect();
        for piece in [7001, 300_000] {
            for (length, is_complete) in
                [(HEAD + TAIL + 1, true), (MAX_LONG_OUTPUT_BYTES, true), (MAX_LONG_OUTPUT_BYTES + 50_000, false)]
            {
                let mut output = Output::keeping_middle();
                text[..length].chunks(piece).for_each(|piece| output.push(piece));
                let long_output = output.long_output().unwrap();
                assert_eq!(long_output.is_complete, is_complete, "{length}");
                assert!(
                    long_output.bytes == text[..length.min(MAX_LONG_OUTPUT_BYTES)],
                    "{length} in pieces of {piece}"
                );
                let omitted = HEAD..if is_complete { length - TAIL } else { MAX_LONG_OUTPUT_BYTES };
                assert_eq!(long_output.into_text().1, omitted);
            }
        }
        let mut output = Output::keeping_middle();
        output.push(&text[..HEAD + TAIL]);
        assert_eq!(output.long_output(), None, "the text has all of it");
        let mut output = Output::default();
        output.push(&text);
        assert_eq!(output.long_output(), None);
    }

    #[test]
    fn characters_are_never_split() {
        for shift in 0..4 {
            let (text, omitted) = collect_output([vec![b'x'; shift], "🙂".repeat(50_000).into_bytes()]);
            assert!(!text.contains('\u{fffd}'), "shift {shift}");
            assert_eq!(
                omitted + text.len() as u64,
                (shift + 200_000 + format!("\n[{omitted} bytes omitted]\n").len()) as u64
            );
        }
    }

    #[test]
    fn invalid_utf8_is_replaced_not_dropped() {
        assert_eq!(collect_output([b"a\xffb\xc3".to_vec()]).0, "a\u{fffd}b\u{fffd}");
        assert_eq!(collect_output([vec![0xff; 200_000]]).1, 200_000 - (HEAD + TAIL) as u64);
    }

    #[test]
    fn new_output_adds_up_to_the_whole_and_marks_gaps() {
        let text = "aé🙂\n".repeat(3000);
        let mut output = Output::default();
        let mut whole = String::new();
        for piece in text.as_bytes().chunks(7) {
            output.push(piece);
            whole.push_str(&output.take_new());
        }
        assert!(whole == text);
        assert_eq!(output.take_new(), "");
        output.push(&vec![b'x'; 10 * TAIL]);
        output.push(b"end\xf0");
        let new_output = output.take_new();
        assert!(new_output.starts_with("…x") && new_output.ends_with("xend"));
        assert!(new_output.len() <= "…".len() + TAIL);
    }

    #[test]
    fn latest_output_starts_at_a_character_boundary() {
        let mut output = Output::default();
        output.push("äöü".as_bytes());
        assert_eq!(output.latest_output(100), "äöü");
        assert_eq!(output.latest_output(3), "ü");
        output.push(&vec![b'z'; HEAD + TAIL]);
        assert_eq!(output.latest_output(2), "zz");
    }
}
