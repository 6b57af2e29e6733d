//! What is kept of a command's output: the beginning and the end, in bounded memory.

use std::collections::VecDeque;

/// Bytes kept of the beginning.
pub const HEAD: usize = 24 * 1024;
/// Bytes kept of the end.
pub const TAIL: usize = 40 * 1024;

/// Output as it comes in.
#[derive(Debug, Default)]
pub struct Output {
    head: Vec<u8>,
    tail: VecDeque<u8>,
    seen: u64,
    /// Bytes that [`Output::fresh`] has returned or skipped.
    told: u64,
}

/// What a running call shows.
#[derive(Debug, Clone, Copy)]
pub struct Shown<'a> {
    /// The end of its output so far, or how far it is, in one line.
    pub latest: &'a str,
    /// The output since this was shown last.
    pub more: &'a str,
}

impl<'a> Shown<'a> {
    /// How far a call is that prints nothing.
    pub fn status(text: &'a str) -> Self {
        Self { latest: text, more: "" }
    }
}

impl Output {
    /// Takes the next bytes.
    pub fn push(&mut self, bytes: &[u8]) {
        self.seen += bytes.len() as u64;
        let (head, rest) = bytes.split_at(bytes.len().min(HEAD - self.head.len()));
        self.head.extend_from_slice(head);
        let rest = &rest[rest.len().saturating_sub(TAIL)..];
        let over = (self.tail.len() + rest.len()).saturating_sub(TAIL);
        self.tail.drain(..over);
        self.tail.extend(rest);
    }

    /// Bytes that came in all.
    pub fn seen(&self) -> u64 {
        self.seen
    }

    /// The end of what came so far, at most so many bytes, from the beginning of a character.
    pub fn latest(&self, bytes: usize) -> String {
        let kept = self.head.len() + self.tail.len();
        let last: Vec<u8> =
            self.head.iter().chain(&self.tail).skip(kept.saturating_sub(bytes)).copied().collect();
        let cut = if kept > bytes { continuation(&last) } else { 0 };
        String::from_utf8_lossy(&last[cut..]).into_owned()
    }

    /// What came since this was called last, from the beginning to the end of a character; if it is more than is kept of
    /// the end, the last of it.
    pub fn fresh(&mut self) -> String {
        let new = usize::try_from(self.seen - self.told).unwrap_or(usize::MAX);
        let kept = self.head.len() + self.tail.len();
        let skip = kept.saturating_sub(new.min(TAIL));
        let last: Vec<u8> = self.head.iter().chain(&self.tail).skip(skip).copied().collect();
        let end = last.len() - unfinished(&last);
        self.told = self.seen - (last.len() - end) as u64;
        let (start, gap) = if new > TAIL { (continuation(&last).min(end), "…") } else { (0, "") };
        format!("{gap}{}", String::from_utf8_lossy(&last[start..end]))
    }

    /// The text, and how many bytes it leaves out. Where it leaves some out, a line of its own says how many.
    pub fn finish(self) -> (String, u64) {
        let Self { mut head, tail, seen, told: _ } = self;
        let tail = Vec::from(tail);
        if seen == (head.len() + tail.len()) as u64 {
            head.extend(tail);
            return (String::from_utf8_lossy(&head).into_owned(), 0);
        }
        let tail = &tail[continuation(&tail)..];
        head.truncate(head.len() - unfinished(&head));
        let omitted = seen - (head.len() + tail.len()) as u64;
        let (head, tail) = (String::from_utf8_lossy(&head), String::from_utf8_lossy(tail));
        (format!("{head}\n[{omitted} bytes omitted]\n{tail}"), omitted)
    }
}

/// How many bytes at the start belong to a character that began before.
fn continuation(bytes: &[u8]) -> usize {
    bytes.iter().take(3).take_while(|byte| **byte & 0b1100_0000 == 0b1000_0000).count()
}

/// How many bytes at the end belong to a character that goes on after.
fn unfinished(bytes: &[u8]) -> usize {
    let last = &bytes[bytes.len().saturating_sub(4)..];
    match std::str::from_utf8(&last[continuation(last)..]) {
        Err(error) if error.error_len().is_none() => last.len() - continuation(last) - error.valid_up_to(),
        Ok(_) | Err(_) => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept(pieces: impl IntoIterator<Item = Vec<u8>>) -> (String, u64) {
        let mut output = Output::default();
        for piece in pieces {
            output.push(&piece);
        }
        output.finish()
    }

    #[test]
    fn what_fits_is_kept_whole_however_it_comes() {
        let text: Vec<u8> = (0..HEAD + TAIL).map(|n| b'a' + (n % 26) as u8).collect();
        let whole = String::from_utf8(text.clone()).unwrap();
        assert_eq!(kept([text.clone()]), (whole.clone(), 0));
        assert_eq!(kept(text.chunks(7001).map(<[u8]>::to_vec)), (whole, 0));
    }

    #[test]
    fn of_more_the_beginning_and_the_end_stay_and_the_rest_is_counted() {
        let (text, omitted) = kept([b"start".to_vec(), vec![b'.'; 1_000_000], b"end".to_vec()]);
        assert_eq!(omitted, 1_000_008 - (HEAD + TAIL) as u64);
        assert!(text.starts_with("start.") && text.ends_with(".end"));
        assert!(text.contains(&format!("\n[{omitted} bytes omitted]\n")));
    }

    #[test]
    fn a_character_is_never_cut_in_two() {
        for shift in 0..4 {
            let (text, omitted) = kept([vec![b'x'; shift], "🙂".repeat(50_000).into_bytes()]);
            assert!(!text.contains('\u{fffd}'), "shift {shift}");
            assert_eq!(
                omitted + text.len() as u64,
                (shift + 200_000 + format!("\n[{omitted} bytes omitted]\n").len()) as u64
            );
        }
    }

    #[test]
    fn bytes_that_are_no_text_are_replaced_not_lost() {
        assert_eq!(kept([b"a\xffb\xc3".to_vec()]).0, "a\u{fffd}b\u{fffd}");
        assert_eq!(kept([vec![0xff; 200_000]]).1, 200_000 - (HEAD + TAIL) as u64);
    }

    #[test]
    fn what_is_fresh_adds_up_to_the_whole_and_a_gap_is_marked() {
        let text = "aé🙂\n".repeat(3000);
        let mut output = Output::default();
        let mut whole = String::new();
        for piece in text.as_bytes().chunks(7) {
            output.push(piece);
            whole.push_str(&output.fresh());
        }
        assert!(whole == text);
        assert_eq!(output.fresh(), "");
        output.push(&vec![b'x'; 10 * TAIL]);
        output.push(b"end\xf0");
        let fresh = output.fresh();
        assert!(fresh.starts_with("…x") && fresh.ends_with("xend") && fresh.len() <= TAIL + 3);
    }

    #[test]
    fn the_latest_is_the_end_and_starts_with_a_whole_character() {
        let mut output = Output::default();
        output.push("äöü".as_bytes());
        assert_eq!(output.latest(100), "äöü");
        assert_eq!(output.latest(3), "ü");
        output.push(&vec![b'z'; HEAD + TAIL]);
        assert_eq!(output.latest(2), "zz");
    }
}
