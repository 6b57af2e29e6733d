//! Escapes text for HTML and markdown.

/// Escapes text for HTML content and attributes.
pub(super) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            c => out.push(c),
        }
    }
    out
}

/// Escapes text for a line, so that nothing in it is markup.
pub(super) fn escape_inline(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if matches!(c, '\\' | '`' | '*' | '_' | '[' | ']' | '<' | '>' | '#' | '!' | '|' | '&' | '~' | '$') {
            out.push('\\');
        }
        out.push(c);
    }
    out
}

/// Returns the length of the longest run of backticks.
pub(super) fn longest_run(text: &str) -> usize {
    text.split(|c| c != '`').map(str::len).max().unwrap_or(0)
}

pub(super) fn code_span(text: &str) -> String {
    let backticks = "`".repeat(longest_run(text) + 1);
    let padding = if text.starts_with('`') || text.ends_with('`') { " " } else { "" };
    format!("{backticks}{padding}{text}{padding}{backticks}")
}

/// Returns whether a link leads to the web.
pub(super) fn is_web(address: &str) -> bool {
    let lowercase = address.trim().to_ascii_lowercase();
    lowercase.starts_with("https://") || lowercase.starts_with("http://") || lowercase.starts_with("mailto:")
}
