//! Folded pastes: each is one private-use character in the draft, drawn as a label and sent in full.

use crate::text::escape_sequences;
use std::ops::Range;
use std::sync::Arc;

/// Pastes with more lines are folded.
const MAX_INLINE_LINES: usize = 8;
/// Pastes with more characters are folded.
const MAX_INLINE_CHARS: usize = 1000;
/// Characters that represent pastes: Unicode's last private-use plane, which real text does not use.
const FOLDED_CHARS: Range<u32> = 0x10_0000..0x10_FFFE;

/// Folded pastes, in the order of their characters.
#[derive(Default)]
pub(super) struct Pastes(Vec<Arc<str>>);

impl Pastes {
    /// Returns the paste that a character represents.
    pub fn paste_text(&self, c: char) -> Option<&str> {
        self.get(c).map(|paste| &**paste)
    }

    /// Returns the paste that a character represents, as a shared pointer.
    pub fn get(&self, c: char) -> Option<&Arc<str>> {
        let index = u32::from(c).checked_sub(FOLDED_CHARS.start)?;
        self.0.get(index as usize)
    }

    /// Folds a long paste into a character. Returns a short paste unchanged as `Err`.
    pub fn fold_if_long(&mut self, paste: String) -> Result<char, String> {
        let is_long = paste.lines().count() > MAX_INLINE_LINES || paste.chars().count() > MAX_INLINE_CHARS;
        if is_long { self.fold(paste) } else { Err(paste) }
    }

    /// Folds a paste. Returns it unchanged as `Err` if all characters are used.
    pub fn fold(&mut self, paste: String) -> Result<char, String> {
        let number = u32::try_from(self.0.len()).unwrap_or(u32::MAX);
        let code_point = FOLDED_CHARS.start.checked_add(number).filter(|code_point| FOLDED_CHARS.contains(code_point));
        match code_point.and_then(char::from_u32) {
            Some(c) => {
                self.0.push(paste.into());
                Ok(c)
            }
            None => Err(paste),
        }
    }

    /// Folds characters of the private-use plane in a text, so that they cannot be taken for a paste.
    pub fn fold_private_chars(&mut self, text: &str) -> String {
        if !text.chars().any(|c| FOLDED_CHARS.contains(&u32::from(c))) {
            return text.to_owned();
        }
        let fold_private = |c: char| match FOLDED_CHARS.contains(&u32::from(c)) {
            true => self.fold(c.to_string()).unwrap_or(c),
            false => c,
        };
        text.chars().map(fold_private).collect()
    }

    /// Replaces each folded character with its paste.
    pub fn unfold(&self, text: &str) -> String {
        let mut unfolded = String::with_capacity(text.len());
        for c in text.chars() {
            match self.paste_text(c) {
                Some(paste) => unfolded.push_str(paste),
                None => unfolded.push(c),
            }
        }
        unfolded
    }
}

/// Returns the label of a folded paste.
pub(super) fn paste_label(paste: &str) -> String {
    match (paste.lines().count(), paste.chars().count()) {
        (0 | 1, 1) => "[pasted 1 character]".to_owned(),
        (0 | 1, characters) => format!("[pasted {characters} characters]"),
        (lines, _) => format!("[pasted {lines} lines]"),
    }
}

/// Removes escape sequences and control characters from pasted text, except tabs and newlines. Normalizes line ends.
pub(super) fn clean_paste(text: &str) -> String {
    let text = text.replace("\r\n", "\n").replace('\r', "\n");
    let is_allowed = |c: char| c == '\n' || c == '\t' || !c.is_control();
    if text.chars().all(is_allowed) {
        return text;
    }
    escape_sequences::strip_controls(&text)
}
