//! Output as plain text or as one JSON entry per line.

use crate::chat::Entry;
use crate::text::hidden_chars::{escape_hidden, mark_hidden};
use serde_json::Value;
use std::io::{self, Write};

/// Output format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OutputFormat {
    /// Text of the reply as it arrives.
    Text,
    /// One line of JSON per entry, as in the session's log.
    Json,
}

/// Prints output as it arrives.
pub(super) struct Printer<'a> {
    format: OutputFormat,
    clean: fn(&str) -> String,
    out: &'a mut dyn Write,
    /// The unfinished line. Lines are cleaned as a whole, because an escape sequence may be split between parts.
    line: String,
}

impl<'a> Printer<'a> {
    pub(super) fn new(format: OutputFormat, clean: fn(&str) -> String, out: &'a mut dyn Write) -> Self {
        Self { format, clean, out, line: String::new() }
    }

    /// Prints more text of the reply.
    pub(super) fn print_text(&mut self, text: &str) -> io::Result<()> {
        if self.format == OutputFormat::Json {
            return Ok(());
        }
        self.line.push_str(text);
        if let Some(end) = self.line.rfind('\n') {
            let unfinished = self.line.split_off(end + 1);
            let complete_lines = std::mem::replace(&mut self.line, unfinished);
            write!(self.out, "{}", (self.clean)(&complete_lines))?;
            self.out.flush()?;
        }
        Ok(())
    }

    /// Prints a whole text on lines of its own, unless it is empty.
    pub(super) fn print_message(&mut self, text: &str) -> io::Result<()> {
        self.finish_line()?;
        self.print_text(text)?;
        self.finish_line()
    }

    pub(super) fn print_entry(&mut self, entry: &Entry) -> io::Result<()> {
        match self.format {
            OutputFormat::Json => self.print_json(&serde_json::to_value(entry).map_err(io::Error::other)?),
            // Two replies of one turn are on separate lines.
            OutputFormat::Text if matches!(entry, Entry::Replied { .. }) => self.finish_line(),
            OutputFormat::Text => Ok(()),
        }
    }

    /// Prints one line of JSON, in either format.
    pub(super) fn print_json(&mut self, value: &Value) -> io::Result<()> {
        writeln!(self.out, "{}", json_line(value))?;
        self.out.flush()
    }

    /// Ends an unfinished line.
    pub(super) fn finish_line(&mut self) -> io::Result<()> {
        if !self.line.is_empty() {
            writeln!(self.out, "{}", (self.clean)(&std::mem::take(&mut self.line)))?;
        }
        self.out.flush()
    }
}

/// Returns a value as one line of JSON that is safe to print.
pub fn json_line(value: &Value) -> String {
    escape_json(&value.to_string())
}

/// Escapes every character in JSON that is invisible or that a terminal would execute.
pub fn escape_json(json: &str) -> String {
    escape_hidden(json).into_owned()
}

/// Makes a reply safe to print: removes control characters except line feeds and tabs, and marks other invisible
/// characters.
pub fn to_printable(text: &str) -> String {
    let visible: String = text.chars().filter(|c| matches!(c, '\n' | '\t') || !c.is_control()).collect();
    mark_hidden(&visible).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_printed_reply_has_no_control_characters_except_line_feeds_and_tabs() {
        let text = "a\u{1b}[2J\r\n\tb\rc\u{9b}31m\u{85}\0\u{7f}\u{8} \u{202e}\u{e0041}👩\u{200d}👧 e\u{301}";
        assert_eq!(to_printable(text), "a[2J\n\tbc31m <U+202E><U+E0041>👩\u{200d}👧 e\u{301}");
    }

    #[test]
    fn a_reply_that_ends_with_a_line_feed_gets_no_empty_line() {
        let print_replies = |replies: &[&str]| {
            let mut out = Vec::new();
            let mut printer = Printer::new(OutputFormat::Text, to_printable, &mut out);
            for reply in replies {
                printer.print_text(reply).unwrap();
                printer.finish_line().unwrap();
            }
            String::from_utf8(out).unwrap()
        };
        assert_eq!(print_replies(&["a\n", "b"]), "a\nb\n");
        assert_eq!(print_replies(&["a\nb", "", "\n"]), "a\nb\n\n");
    }

    #[test]
    fn r32_json_has_no_characters_that_a_terminal_executes() {
        let text =
            "a\u{1b}[2J\u{9b}2J\u{7f}\u{202e}\u{2066}é\u{1f980}\u{e0041}\u{e007f}\u{200b}\u{feff}\u{2060} 👩\u{200d}👧";
        let value = serde_json::json!({ "text": text });
        let escaped = escape_json(&value.to_string());
        assert!(
            escaped.contains("👩\u{200d}👧")
                && !escaped.chars().any(|c| c.is_control()
                    || matches!(
                        c,
                        '\u{202e}' | '\u{2066}' | '\u{200b}' | '\u{feff}' | '\u{2060}' | '\u{e0000}'..='\u{e007f}'
                    )),
            "{escaped}"
        );
        assert_eq!(serde_json::from_str::<Value>(&escaped).unwrap(), value);
    }
}
