//! The word under the cursor, if it can be completed.

use std::ops::Range;

/// Kind of a completed name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// `@` and a file of the project.
    File,
    /// `/` and a command, only at the beginning of the text.
    Command,
    /// A page of the manual, after `/help `.
    Topic,
}

/// Command whose argument is a topic.
const TOPIC_COMMAND: &str = "/help ";

impl Kind {
    /// Returns the character before a name of this kind, if any.
    pub fn sign(self) -> &'static str {
        match self {
            Self::File => "@",
            Self::Command => "/",
            Self::Topic => "",
        }
    }
}

/// A word that can be completed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Word {
    pub kind: Kind,
    /// Text before the cursor, without the sign.
    pub typed: String,
    /// Byte range of the whole word with its sign, including any text after the cursor.
    pub range: Range<usize>,
}

impl Word {
    /// Returns the word at `cursor`, a byte offset in `text`; `None` if it cannot be completed.
    pub fn at_cursor(text: &str, cursor: usize) -> Option<Self> {
        let text_before = text.get(..cursor)?;
        let is_blank = |c: char| c.is_whitespace();
        let start = text_before
            .rfind(is_blank)
            .map_or(0, |index| index + text_before[index..].chars().next().map_or(1, char::len_utf8));
        let end = cursor + text[cursor..].find(is_blank).unwrap_or(text.len() - cursor);
        if text_before[..start] == *TOPIC_COMMAND {
            return Some(Self { kind: Kind::Topic, typed: text_before[start..].to_owned(), range: start..end });
        }
        // A name may be in brackets or quotes: `(@src/main.rs`.
        let opening_length = text_before[start..].find(|c| !"([{\"'`".contains(c)).unwrap_or(0);
        let sign_start = start + opening_length;
        let kind = match text_before[sign_start..].chars().next()? {
            '@' => Kind::File,
            '/' if sign_start == 0 => Kind::Command,
            _ => return None,
        };
        Some(Self { kind, typed: text_before[sign_start + 1..].to_owned(), range: sign_start..end })
    }

    /// Returns what names are filtered by.
    pub fn query(&self) -> &str {
        &self.typed
    }

    /// Returns whether the whole word is this name already.
    pub fn is_complete(&self, name: &str) -> bool {
        self.typed == name && self.range.len() == name.len() + self.kind.sign().len()
    }

    /// Returns the sign, the name, and a blank before the next word.
    pub fn completed_text(&self, name: &str) -> String {
        format!("{}{name} ", self.kind.sign())
    }
}
