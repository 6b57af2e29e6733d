//! The word under the cursor, if it can be completed.

use crate::chat::mention::needs_quotes;
use crate::text::word_edges::{is_opening_sign, is_word_start};
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
    /// Text before the cursor, without the sign and the quote after it.
    pub typed: String,
    /// Byte range of the whole word with its sign, including any text after the cursor.
    pub range: Range<usize>,
}

impl Word {
    /// Returns the word at `cursor`, a byte offset in `text`; `None` if it cannot be completed.
    pub fn at_cursor(text: &str, cursor: usize) -> Option<Self> {
        let text_before = text.get(..cursor)?;
        if let Some(word) = Self::quoted_at_cursor(text, cursor) {
            return Some(word);
        }
        let is_blank = |c: char| c.is_whitespace();
        let start = text_before
            .rfind(is_blank)
            .map_or(0, |index| index + text_before[index..].chars().next().map_or(1, char::len_utf8));
        let end = cursor + text[cursor..].find(is_blank).unwrap_or(text.len() - cursor);
        if text_before[..start] == *TOPIC_COMMAND {
            return Some(Self { kind: Kind::Topic, typed: text_before[start..].to_owned(), range: start..end });
        }
        // A name may be in brackets or quotes: `(@src/main.rs`.
        let sign_start = cursor - text_before[start..].trim_start_matches(is_opening_sign).len();
        let kind = match text_before[sign_start..].chars().next()? {
            '@' => Kind::File,
            '/' if sign_start == 0 => Kind::Command,
            _ => return None,
        };
        Some(Self { kind, typed: text_before[sign_start + 1..].to_owned(), range: sign_start..end })
    }

    /// Returns the word at `cursor` if it is a name in quotes: `@"a name with blanks"`.
    fn quoted_at_cursor(text: &str, cursor: usize) -> Option<Self> {
        let line_start = text[..cursor].rfind('\n').map_or(0, |end| end + 1);
        let sign_start = line_start + text[line_start..cursor].rfind("@\"")?;
        let typed = &text[sign_start + 2..cursor];
        if !is_word_start(text, sign_start) || typed.contains('"') {
            return None;
        }
        let after = text[cursor..].lines().next().unwrap_or_default();
        let end = cursor
            + after.find('"').map_or_else(|| after.find(char::is_whitespace).unwrap_or(after.len()), |end| end + 1);
        Some(Self { kind: Kind::File, typed: typed.to_owned(), range: sign_start..end })
    }

    /// Returns what names are filtered by: the typed text without lines.
    pub fn query(&self) -> &str {
        &self.typed[..self.typed.len() - self.lines().len()]
    }

    /// Returns the lines typed after the name of a file, such as `:12` or `:12-30`; otherwise an empty text.
    fn lines(&self) -> &str {
        let is_lines = |text: &str| {
            let (first, last) = text.split_once('-').unwrap_or((text, ""));
            first.starts_with(|c: char| c.is_ascii_digit())
                && (first.to_owned() + last).bytes().all(|c| c.is_ascii_digit())
        };
        match self.typed.rfind(':') {
            Some(start) if self.kind == Kind::File && is_lines(&self.typed[start + 1..]) => &self.typed[start..],
            _ => "",
        }
    }

    /// Returns whether the whole word is this name already.
    pub fn is_complete(&self, name: &str) -> bool {
        self.query() == name && self.range.len() == self.written(name).len()
    }

    /// Returns the sign, the name with the typed lines, and a blank before the next word.
    pub fn completed_text(&self, name: &str) -> String {
        format!("{} ", self.written(name))
    }

    /// Returns the text that lists what is in a folder, whose name ends in a slash.
    pub fn folder_text(&self, name: &str) -> String {
        format!("{}{}{name}", self.kind.sign(), self.quote(name))
    }

    fn written(&self, name: &str) -> String {
        let quote = self.quote(name);
        format!("{}{quote}{name}{}{quote}", self.kind.sign(), self.lines())
    }

    /// Returns the quote around a name, if it needs one.
    fn quote(&self, name: &str) -> &'static str {
        if self.kind == Kind::File && needs_quotes(name) { "\"" } else { "" }
    }
}
