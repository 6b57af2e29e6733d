//! Pastes that are folded: each is one letter in the draft, drawn as words and sent whole.

use crate::chat::escape;
use std::ops::Range;
use std::sync::Arc;

/// A paste of more lines is folded.
const LINES: usize = 8;
/// A paste of more characters is folded.
const CHARACTERS: usize = 1000;
/// The letters that stand for pastes: the last private plane of Unicode, which no font and no text uses.
const FOLDED: Range<u32> = 0x10_0000..0x10_FFFE;

/// What the folded letters stand for, in their order.
#[derive(Default)]
pub(super) struct Pastes(Vec<Arc<str>>);

impl Pastes {
    /// What a folded letter stands for.
    pub fn of(&self, letter: char) -> Option<&str> {
        self.get(letter).map(|paste| &**paste)
    }

    /// The same, shared.
    pub fn get(&self, letter: char) -> Option<&Arc<str>> {
        let at = u32::from(letter).checked_sub(FOLDED.start)?;
        self.0.get(at as usize)
    }

    /// The letter for a long paste; a short one comes back as it is.
    pub fn folded(&mut self, paste: String) -> Result<char, String> {
        let long = paste.lines().count() > LINES || paste.chars().count() > CHARACTERS;
        if long { self.fold(paste) } else { Err(paste) }
    }

    /// Folds a paste. Gives it back if no letter is left.
    pub fn fold(&mut self, paste: String) -> Result<char, String> {
        let number = u32::try_from(self.0.len()).unwrap_or(u32::MAX);
        let letter = FOLDED.start.checked_add(number).filter(|letter| FOLDED.contains(letter));
        match letter.and_then(char::from_u32) {
            Some(letter) => {
                self.0.push(paste.into());
                Ok(letter)
            }
            None => Err(paste),
        }
    }

    /// The text with its own letters of the private plane folded: they would stand for a paste that they are not.
    pub fn guarded(&mut self, text: &str) -> String {
        if !text.chars().any(|c| FOLDED.contains(&u32::from(c))) {
            return text.to_owned();
        }
        let guard = |c: char| match FOLDED.contains(&u32::from(c)) {
            true => self.fold(c.to_string()).unwrap_or(c),
            false => c,
        };
        text.chars().map(guard).collect()
    }

    /// The text with what each folded letter stands for in its place.
    pub fn unfolded(&self, text: &str) -> String {
        let mut whole = String::with_capacity(text.len());
        for c in text.chars() {
            match self.of(c) {
                Some(paste) => whole.push_str(paste),
                None => whole.push(c),
            }
        }
        whole
    }
}

/// The words that stand for a paste.
pub(super) fn label(paste: &str) -> String {
    match (paste.lines().count(), paste.chars().count()) {
        (0 | 1, 1) => "[pasted 1 character]".to_owned(),
        (0 | 1, characters) => format!("[pasted {characters} characters]"),
        (lines, _) => format!("[pasted {lines} lines]"),
    }
}

/// Pasted text without escape sequences and control characters; its tabs and line ends stay, and so does everything
/// else.
pub(super) fn harmless(text: &str) -> String {
    let text = text.replace("\r\n", "\n").replace('\r', "\n");
    let kept = |c: char| c == '\n' || c == '\t' || !c.is_control();
    if text.chars().all(kept) {
        return text;
    }
    escape::strip(&text)
}
