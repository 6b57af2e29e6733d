//! Secrets that are recognised while they are typed, or while a reply streams.

use super::*;

/// Returns the longest beginning of the secret that a text shows while it is typed, if nothing was known before.
fn shown_while_typed(text: &str, secret: &str) -> usize {
    let ends = text.char_indices().map(|(offset, c)| offset + c.len_utf8());
    let shown = ends.map(|end| {
        let typed = &text[..end];
        let found = find_secret_ranges(typed).into_iter().chain(find_secret_beginnings(typed));
        let found: Vec<_> = found.collect();
        let visible: String = typed
            .char_indices()
            .map(|(offset, c)| if found.iter().any(|range| range.contains(&offset)) { '*' } else { c })
            .collect();
        (0..=secret.len()).rev().find(|length| visible.contains(&secret[..*length])).unwrap_or(0)
    });
    shown.max().unwrap_or(0)
}

#[test]
fn r57_a_secret_is_found_while_it_is_typed() {
    for form in all_forms() {
        // Nothing gives away the lines of a key without its beginning, until its end.
        if form.text.trim_start_matches('+').starts_with('§') && form.prefix.is_empty() {
            continue;
        }
        let secret = form.secret();
        let text = form.with_secret(&secret);
        // Shorter values are found only if their name is that of a secret without doubt.
        let shown = shown_while_typed(&text, &secret).saturating_sub(form.prefix.len());
        assert!(shown < 10, "{shown} characters of {text:?}");
    }
    for typed in [
        "http://localhost:8080",
        "see https://a.example:8443/b and http://[::1]:80",
        "login <user> <password>",
        "<token> is a word",
    ] {
        assert_eq!(find_secret_beginnings(typed), [0..0; 0], "{typed}");
    }
}
