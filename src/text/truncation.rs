//! Truncation: the middle or the end of a text, the rest of a list, the home folder in a path.

use std::borrow::Cow;
use std::path::Path;

/// Truncates a text of more than `most` bytes to its beginning and end, with a mark between them. The result is never
/// longer than the text.
pub fn truncate_middle(text: &str, most: usize) -> Cow<'_, str> {
    if text.len() <= most {
        return Cow::Borrowed(text);
    }
    let head = text.floor_char_boundary(most - most / 3);
    let tail = text.ceil_char_boundary(text.len() - most / 3);
    let left = text[head..tail].chars().count();
    let short = format!("{}\n[… {left} characters truncated …]\n{}", &text[..head], &text[tail..]);
    if short.len() < text.len() { Cow::Owned(short) } else { Cow::Borrowed(text) }
}

/// Truncates a text to its first `most` characters; `…` marks truncation.
pub fn truncate_end(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// Returns the first `most` characters of a text with control characters, quotes and backslashes escaped.
pub fn escape_beginning(text: &str, most: usize) -> String {
    text.chars().take(most).collect::<String>().escape_debug().to_string()
}

/// Formats a path with `~` for the user's home folder.
pub fn abbreviate_home(path: &Path, home: Option<&Path>) -> String {
    match home.and_then(|home| path.strip_prefix(home).ok()) {
        Some(rest) if rest.as_os_str().is_empty() => "~".to_owned(),
        Some(rest) => format!("~/{}", rest.display()),
        None => path.display().to_string(),
    }
}

/// Joins the items as in a sentence: `a, b and c`. If there are more than `most`, the rest is counted: `a, b and 4
/// more`.
pub fn join_items<T: AsRef<str>>(items: &[T], most: usize) -> String {
    let told = if items.len() > most { most.saturating_sub(1).max(1) } else { items.len() };
    let mut parts: Vec<String> = items.iter().take(told).map(|item| item.as_ref().to_owned()).collect();
    if told < items.len() {
        parts.push(format!("{} more", items.len() - told));
    }
    match parts.split_last() {
        Some((last, before)) if !before.is_empty() => format!("{} and {last}", before.join(", ")),
        Some(_) | None => parts.concat(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rest_of_a_long_list_is_counted() {
        let listed = |items: &[&str]| super::join_items(items, 3);
        assert_eq!(listed(&[]), "");
        assert_eq!(listed(&["a"]), "a");
        assert_eq!(listed(&["a", "b", "c"]), "a, b and c");
        assert_eq!(listed(&["a", "b", "c", "d"]), "a, b and 2 more");
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
        let short = truncate_middle(&text, 90);
        assert!(short.starts_with("éé") && short.ends_with("zz"), "{short}");
        assert!(short.contains("[… 740 characters truncated …]"), "{short}");
        assert_eq!(truncate_middle("a short one", 11), "a short one");
        for most in 0..200 {
            assert!(truncate_middle(&text, most).len() <= most + 60);
        }
        assert_eq!(truncate_middle("barely too long", 14), "barely too long", "a mark would make it longer");
    }
}
