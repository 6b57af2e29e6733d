//! Matches names with what was typed.

use memchr::{memchr, memchr2};
use nucleo_matcher::{Config, Matcher, Utf32Str};

/// Bit of names with non-ASCII characters: a typed `e` also matches `é`.
const OTHER_CHARACTERS: u64 = 1 << 63;

/// Matches one text. Lower case matches upper case too.
pub struct NameMatcher {
    matcher: Matcher,
    typed: String,
    typed_chars: Vec<char>,
    /// Each typed byte in both cases, or twice as it is if case counts.
    bytes: Vec<(u8, u8)>,
    mask: u64,
    buffer: Vec<char>,
}

/// How a name contains the typed characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NameMatch {
    /// Next to each other, with a rank by where they begin: from 1 (inside a word) to 4 (at the start of the file name).
    Together(u32),
    /// In this order, within this many bytes.
    InOrder(u32),
}

impl NameMatcher {
    pub fn new(typed: &str) -> Self {
        let mut config = Config::DEFAULT.match_paths();
        config.ignore_case = !typed.chars().any(char::is_uppercase);
        config.normalize = typed.is_ascii();
        let both_cases = |byte: u8| (byte, if config.ignore_case { byte.to_ascii_uppercase() } else { byte });
        Self {
            typed: typed.to_owned(),
            typed_chars: typed.chars().collect(),
            bytes: typed.bytes().map(both_cases).collect(),
            mask: character_mask(typed),
            buffer: Vec::new(),
            matcher: Matcher::new(config),
        }
    }

    /// Returns how a name contains the typed characters; `None` if it does not match. `name_mask` is the mask of the name,
    /// and `file_name` where the name of the file begins in it. Only there they are looked for next to each other, unless
    /// `is_thorough` is set.
    pub fn find(&mut self, name: &str, name_mask: u64, file_name: usize, is_thorough: bool) -> Option<NameMatch> {
        if name_mask & OTHER_CHARACTERS != 0 || self.mask & OTHER_CHARACTERS != 0 {
            return self.estimate_score(name).map(|_| NameMatch::InOrder(0));
        }
        if name_mask & self.mask != self.mask {
            return None;
        }
        let name = name.as_bytes();
        let (mut start, mut position) = (None, 0);
        for byte in &self.bytes {
            position += find_byte(*byte, &name[position..])? + 1;
            start = start.or(Some(position));
        }
        if name.get(file_name..).is_some_and(|name| self.is_beginning(name)) {
            return Some(NameMatch::Together(4));
        }
        let rank = if is_thorough { self.find_together(name) } else { None };
        let span = u32::try_from(position - start.unwrap_or(position)).unwrap_or(u32::MAX);
        Some(rank.map_or(NameMatch::InOrder(span), NameMatch::Together))
    }

    /// Returns the highest rank of [`NameMatch::Together`] in a name; `None` if the typed bytes are adjacent nowhere in it.
    fn find_together(&self, name: &[u8]) -> Option<u32> {
        let first = self.bytes.first()?;
        let (mut start, mut best) = (0, None);
        while let Some(found) = find_byte(*first, &name[start..]) {
            let position = start + found;
            start = position + 1;
            if self.is_beginning(&name[position..]) {
                let rank = match position.checked_sub(1).map(|before| name[before]) {
                    None | Some(b'/') => return Some(3),
                    Some(b'_' | b'-' | b'.' | b' ') => 2,
                    Some(_) => 1,
                };
                best = best.max(Some(rank));
            }
        }
        best
    }

    fn is_beginning(&self, text: &[u8]) -> bool {
        let is_same = |(byte, either): (&u8, &(u8, u8))| *byte == either.0 || *byte == either.1;
        text.len() >= self.bytes.len() && text.iter().zip(&self.bytes).all(is_same)
    }

    /// Returns the score of a name; `None` if it does not match. The name itself has the highest score.
    pub fn score(&mut self, name: &str) -> Option<u32> {
        if name == self.typed {
            return Some(u32::MAX);
        }
        let name = Utf32Str::new(name, &mut self.buffer);
        let typed = typed_str(&self.typed, &self.typed_chars);
        self.matcher.fuzzy_match(name, typed).map(u32::from)
    }

    /// Returns a score that may be too low, in a fraction of the time.
    pub fn estimate_score(&mut self, name: &str) -> Option<u32> {
        let name = Utf32Str::new(name, &mut self.buffer);
        let typed = typed_str(&self.typed, &self.typed_chars);
        self.matcher.fuzzy_match_greedy(name, typed).map(u32::from)
    }
}

fn typed_str<'a>(typed: &'a str, chars: &'a [char]) -> Utf32Str<'a> {
    if typed.is_ascii() { Utf32Str::Ascii(typed.as_bytes()) } else { Utf32Str::Unicode(chars) }
}

fn find_byte((lower, upper): (u8, u8), text: &[u8]) -> Option<usize> {
    if lower == upper { memchr(lower, text) } else { memchr2(lower, upper, text) }
}

/// Returns a bit for each letter (of either case), digit and common separator that occurs in a text.
pub fn character_mask(text: &str) -> u64 {
    let bit = |byte: u8| match byte.to_ascii_lowercase() {
        letter @ b'a'..=b'z' => letter - b'a',
        digit @ b'0'..=b'9' => 26 + digit - b'0',
        b'/' => 36,
        b'.' => 37,
        b'_' => 38,
        b'-' => 39,
        0..128 => 40,
        128.. => 63,
    };
    text.bytes().fold(0, |mask, byte| mask | 1 << bit(byte))
}
