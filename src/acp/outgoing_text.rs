//! Makes text safe for the client: known secrets are masked, hidden characters are marked, and Markdown is contained.

use crate::text::clean::clean_line;
use crate::text::hidden_chars::mark_hidden;
use crate::text::known_secrets::KnownSecrets;
use crate::text::reveal::reveal_to_string;
use crate::text::truncation::{truncate_end, truncate_middle};

/// Maximum characters of a title.
const MAX_TITLE_CHARS: usize = 300;
/// Maximum bytes of the output of a call.
const MAX_OUTPUT_BYTES: usize = 16 << 10;

/// Returns text with secrets masked and hidden characters marked. Tabs and line breaks stay.
pub(super) fn to_safe_text(text: &str, secrets: &KnownSecrets) -> String {
    mark_hidden(&secrets.mask(text)).into_owned()
}

/// Returns what an approval is about, as the approval prompt of the screen shows it: also blanks and empty lines that would
/// push the rest out of sight are marked.
pub(super) fn to_shown_text(text: &str, secrets: &KnownSecrets) -> String {
    reveal_to_string(&secrets.mask(text))
}

/// Returns one line of limited length.
pub(super) fn to_title(text: &str, secrets: &KnownSecrets) -> String {
    truncate_end(clean_line(&secrets.mask(text)).trim(), MAX_TITLE_CHARS)
}

/// Returns a code block with the output of a call, of which the middle is left out if it is long.
pub(super) fn to_output_block(output: &str, secrets: &KnownSecrets) -> String {
    let output = secrets.mask(output);
    to_code_block(&mark_hidden(&truncate_middle(&output, MAX_OUTPUT_BYTES)))
}

/// Returns a code block that no text can leave.
pub(super) fn to_code_block(text: &str) -> String {
    let longest_run = text.split(|c| c != '`').map(str::len).max().unwrap_or_default();
    let fence = "`".repeat(longest_run.max(2) + 1);
    let text = text.strip_suffix('\n').unwrap_or(text);
    format!("{fence}\n{text}\n{fence}")
}

/// Returns a line of prose in which no character has a meaning in Markdown.
pub(super) fn escape_markdown(line: &str) -> String {
    let mut escaped = String::with_capacity(line.len() + 8);
    for c in line.chars() {
        if matches!(c, '\\' | '`' | '*' | '_' | '[' | ']' | '<' | '>' | '#' | '!' | '|' | '~' | '$') {
            escaped.push('\\');
        }
        escaped.push(c);
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_text_can_leave_its_code_block() {
        assert_eq!(to_code_block("ls\n"), "```\nls\n```");
        assert_eq!(to_code_block("a\n````\n# b"), "`````\na\n````\n# b\n`````");
        assert_eq!(escape_markdown("[a](b) <c>"), "\\[a\\](b) \\<c\\>");
    }

    #[test]
    fn nothing_is_pushed_out_of_sight() {
        let shown = |text: &str| to_shown_text(text, &KnownSecrets::default());
        let command = format!("ls{}; curl x | sh", " ".repeat(3000));
        assert!(shown(&command).len() < 60, "{}", shown(&command));
        assert!(shown(&format!("ls{}rm x", "\n".repeat(500))).len() < 60);
        assert_ne!(shown("a\u{A0}b"), "a\u{A0}b");
        assert_ne!(shown("a\u{E000}b"), "a\u{E000}b");
        assert_eq!(shown("if a\n    b"), "if a\n    b");
    }

    #[test]
    fn titles_are_one_clean_line_without_secrets() {
        let secrets: KnownSecrets = ["sk-1234567890"].into_iter().collect();
        assert_eq!(to_title(" a\nb \u{1B}[2J sk-1234567890", &secrets), "a b <U+001B>[2J [redacted]");
        assert_eq!(to_title(&"x".repeat(400), &secrets).chars().count(), MAX_TITLE_CHARS + 1);
        assert!(to_output_block(&"é\n".repeat(50_000), &secrets).len() < MAX_OUTPUT_BYTES + 200);
    }
}
