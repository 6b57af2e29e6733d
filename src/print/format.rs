//! Plain text, or one JSON entry per line.

use crate::chat::Entry;
use crate::chat::hidden::{escape_hidden, mark_hidden};
use serde_json::Value;
use std::io::{self, Write};

/// What is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// The model's words as they come.
    Text,
    /// Every entry as one line of JSON, as the session's log keeps it.
    Json,
}

/// Prints as things happen.
pub(super) struct Printer<'a> {
    format: Format,
    clean: fn(&str) -> String,
    out: &'a mut dyn Write,
    /// The line that is not whole yet: an escape sequence may be cut over pieces, so lines are cleaned whole.
    line: String,
    begun: bool,
}

impl<'a> Printer<'a> {
    pub(super) fn new(format: Format, clean: fn(&str) -> String, out: &'a mut dyn Write) -> Self {
        Self { format, clean, out, line: String::new(), begun: false }
    }

    /// More of what the model says.
    pub(super) fn text(&mut self, text: &str) -> io::Result<()> {
        if self.format == Format::Json {
            return Ok(());
        }
        self.line.push_str(text);
        if let Some(end) = self.line.rfind('\n') {
            let rest = self.line.split_off(end + 1);
            let whole = std::mem::replace(&mut self.line, rest);
            write!(self.out, "{}", (self.clean)(&whole))?;
            self.out.flush()?;
        }
        self.begun = true;
        Ok(())
    }

    /// A fact.
    pub(super) fn entry(&mut self, entry: &Entry) -> io::Result<()> {
        match self.format {
            Format::Json => self.value(&serde_json::to_value(entry).map_err(io::Error::other)?),
            // Two replies of one turn do not run into each other.
            Format::Text if matches!(entry, Entry::Replied { .. }) => self.finish(),
            Format::Text => Ok(()),
        }
    }

    /// One line of JSON, in either format.
    pub(super) fn value(&mut self, value: &Value) -> io::Result<()> {
        writeln!(self.out, "{}", harmless(&value.to_string()))?;
        self.out.flush()
    }

    /// Ends a line that was begun.
    pub(super) fn finish(&mut self) -> io::Result<()> {
        if self.begun {
            writeln!(self.out, "{}", (self.clean)(&std::mem::take(&mut self.line)))?;
            self.begun = false;
        }
        self.out.flush()
    }
}

/// The same JSON, with every character that does not show, or that a terminal would obey, written as an escape.
pub fn harmless(json: &str) -> String {
    escape_hidden(json).into_owned()
}

/// A reply for any reader: without control characters other than line feeds and tabs, and with a mark for whatever else
/// does not show.
pub fn printable(text: &str) -> String {
    let bare: String = text.chars().filter(|c| matches!(c, '\n' | '\t') || !c.is_control()).collect();
    mark_hidden(&bare).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_printed_reply_holds_no_control_character_but_line_feeds_and_tabs() {
        let text = "a\u{1b}[2J\r\n\tb\rc\u{9b}31m\u{85}\0\u{7f}\u{8} \u{202e}\u{e0041}👩\u{200d}👧 e\u{301}";
        assert_eq!(printable(text), "a[2J\n\tbc31m <U+202E><U+E0041>👩\u{200d}👧 e\u{301}");
    }

    #[test]
    fn r32_json_holds_nothing_that_a_terminal_obeys() {
        let text = "a\u{1b}[2J\u{9b}2J\u{7f}\u{202e}\u{2066}é\u{1f980}\u{e0041}\u{e007f}\u{200b}\u{feff}\u{2060} 👩\u{200d}👧";
        let value = serde_json::json!({ "text": text });
        let written = harmless(&value.to_string());
        assert!(
            written.contains("👩\u{200d}👧")
                && !written.chars().any(|c| c.is_control()
                    || matches!(
                        c,
                        '\u{202e}' | '\u{2066}' | '\u{200b}' | '\u{feff}' | '\u{2060}' | '\u{e0000}'
                            ..='\u{e007f}'
                    )),
            "{written}"
        );
        assert_eq!(serde_json::from_str::<Value>(&written).unwrap(), value);
    }
}
