//! Truncation: the middle or the end of a text, the rest of a list, the home folder in a path.

use std::borrow::Cow;
use std::ops::Range;
use std::path::Path;

/// Truncates a text of more than `max_bytes` to about `max_bytes` of its beginning and end, with a mark between them.
/// The mark is not counted, but the result is never longer than the text.
pub fn truncate_middle(text: &str, max_bytes: usize) -> Cow<'_, str> {
    match truncate_middle_with_range(text, max_bytes) {
        Some((truncated, _)) => Cow::Owned(truncated),
        None => Cow::Borrowed(text),
    }
}

/// Truncates like [`truncate_middle`] and also returns the bytes of the text that are omitted; `None` if none are.
pub fn truncate_middle_with_range(text: &str, max_bytes: usize) -> Option<(String, Range<usize>)> {
    if text.len() <= max_bytes {
        return None;
    }
    let head_end = text.floor_char_boundary(max_bytes - max_bytes / 3);
    let tail_start = text.ceil_char_boundary(text.len() - max_bytes / 3);
    let truncated_count = text[head_end..tail_start].chars().count();
    let truncated =
        format!("{}\n[… {truncated_count} characters truncated …]\n{}", &text[..head_end], &text[tail_start..]);
    (truncated.len() < text.len()).then_some((truncated, head_end..tail_start))
}

/// Truncates a text to at most `max_bytes`, after the last complete line if there is one.
pub fn truncate_at_line(text: &str, max_bytes: usize) -> &str {
    let end = text.floor_char_boundary(max_bytes);
    match text[..end].rfind('\n') {
        Some(line_end) if end < text.len() => &text[..line_end + 1],
        Some(_) | None => &text[..end],
    }
}

/// Truncates a text to its first `max_chars` characters; `…` marks truncation.
pub fn truncate_end(text: &str, max_chars: usize) -> String {
    match text.char_indices().nth(max_chars) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// Returns the first `max_chars` characters of a text with control characters, quotes and backslashes escaped.
pub fn escape_beginning(text: &str, max_chars: usize) -> String {
    text.chars().take(max_chars).collect::<String>().escape_debug().to_string()
}

/// Formats a path with `~` for the user's home folder.
pub fn abbreviate_home(path: &Path, home: Option<&Path>) -> String {
    match home.and_then(|home| path.strip_prefix(home).ok()) {
        Some(rest) if rest.as_os_str().is_empty() => "~".to_owned(),
        Some(rest) => format!("~/{}", rest.display()),
        None => path.display().to_string(),
    }
}

/// Joins the items as in a sentence: `a, b and c`. If there are more than `max_items`, the rest is counted:
/// `a, b and 4 more`.
pub fn join_items<T: AsRef<str>>(items: &[T], max_items: usize) -> String {
    let shown_count = if items.len() > max_items { max_items.saturating_sub(1).max(1) } else { items.len() };
    let mut parts: Vec<String> = items.iter().take(shown_count).map(|item| item.as_ref().to_owned()).collect();
    if shown_count < items.len() {
        parts.push(format!("{} more", items.len() - shown_count));
    }
    match parts.split_last() {
        Some((last, first_items)) if !first_items.is_empty() => format!("{} and {last}", first_items.join(", ")),
        Some(_) | None => parts.concat(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rest_of_a_long_list_is_counted() {
        let join = |items: &[&str]| super::join_items(items, 3);
        assert_eq!(join(&[]), "");
        assert_eq!(join(&["a"]), "a");
        assert_eq!(join(&["a", "b", "c"]), "a, b and c");
        assert_eq!(join(&["a", "b", "c", "d"]), "a, b and 2 more");
    }

    #[test]
    fn the_end_of_a_long_text_is_a_mark() {
        assert_eq!(truncate_end("äöü", 3), "äöü");
        assert_eq!(truncate_end("äöüß", 3), "äöü…");
        assert_eq!(escape_beginning("ä\n\"x", 3), "ä\\n\\\"");
    }

    #[test]
    fn the_middle_of_a_long_text_is_replaced_by_a_mark_with_its_length() {
        let text = format!("{}{}", "é".repeat(400), "z".repeat(400));
        let truncated = truncate_middle(&text, 90);
        assert!(truncated.starts_with("éé") && truncated.ends_with("zz"), "{truncated}");
        assert!(truncated.contains("[… 740 characters truncated …]"), "{truncated}");
        assert_eq!(truncate_middle("a short one", 11), "a short one");
        // The mark has fewer than 60 bytes.
        for max_bytes in 0..200 {
            assert!(truncate_middle(&text, max_bytes).len() <= max_bytes + 60);
        }
        assert_eq!(truncate_middle("barely too long", 14), "barely too long", "a mark would make it longer");
    }
}
