//! Results of a search: their places in a response, and their form for the model.

use serde_json::Value;
use std::fmt::Write as _;

/// Maximum number of results.
const MAX_RESULTS: usize = 20;
/// Maximum characters of a title.
const MAX_TITLE_CHARS: usize = 200;
/// Maximum bytes of an address; a result with a longer one is dropped.
const MAX_URL_BYTES: usize = 2_000;
/// Maximum characters of an excerpt.
const MAX_SNIPPET_CHARS: usize = 600;
/// Marks of found words, which services put into excerpts.
const MARKS: [&str; 8] = ["<strong>", "</strong>", "<b>", "</b>", "<em>", "</em>", "<mark>", "</mark>"];
const ENTITIES: [(&str, &str); 6] =
    [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&#39;", "'"), ("&#x27;", "'"), ("&amp;", "&")];

/// Places of the results in a JSON response. Each is a path of names joined by dots.
#[derive(Debug, Clone, PartialEq, Eq, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ResultPaths {
    /// The list.
    pub list: String,
    /// In each result: its title.
    pub title: String,
    /// Its address.
    pub url: String,
    /// Its excerpt; empty if there is none.
    #[serde(default)]
    pub snippet: String,
}

/// Formats the results of a response; also returns their number. `None` if there is no list at its place.
pub fn format_results(paths: &ResultPaths, body: &[u8]) -> Option<(usize, String)> {
    let response: Value = serde_json::from_slice(body).ok()?;
    let list = find_value(&response, &paths.list)?.as_array()?;
    let (mut text, mut count) = (String::new(), 0);
    for result in list {
        let text_at = |path: &str| find_value(result, path).and_then(Value::as_str).unwrap_or_default().trim();
        let url = text_at(&paths.url);
        let is_address = url.starts_with("https://") || url.starts_with("http://");
        if !is_address || url.len() > MAX_URL_BYTES || url.contains(char::is_whitespace) || count == MAX_RESULTS {
            continue;
        }
        count += 1;
        let title = to_line(text_at(&paths.title), MAX_TITLE_CHARS);
        let _ = write!(text, "{count}. {}\n   {url}\n", if title.is_empty() { url } else { &title });
        let snippet = to_line(text_at(&paths.snippet), MAX_SNIPPET_CHARS);
        if !snippet.is_empty() {
            let _ = writeln!(text, "   {snippet}");
        }
    }
    Some((count, text.trim_end().to_owned()))
}

fn find_value<'a>(value: &'a Value, path: &str) -> Option<&'a Value> {
    if path.is_empty() {
        return None;
    }
    path.split('.').try_fold(value, |value, name| value.get(name))
}

/// Returns a text as one line without marks of found words.
fn to_line(text: &str, max_chars: usize) -> String {
    let without_marks = MARKS.iter().fold(text.to_owned(), |text, mark| text.replace(mark, ""));
    let plain = ENTITIES.iter().fold(without_marks, |text, (entity, character)| text.replace(entity, character));
    let line = plain.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(max_chars) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn paths() -> ResultPaths {
        let [list, title, url, snippet] = ["web.results", "title", "url", "text"].map(str::to_owned);
        ResultPaths { list, title, url, snippet }
    }

    fn format_list(results: &Value) -> Option<(usize, String)> {
        format_results(&paths(), json!({ "web": { "results": results } }).to_string().as_bytes())
    }

    #[test]
    fn results_are_numbered_lines() {
        let results = json!([
            { "title": "A &amp; <strong>B</strong>", "url": "https://a.example/x", "text": "one\n  two &lt;T&gt; &amp;lt;" },
            { "title": "", "url": "http://b.example/", "text": null },
        ]);
        let expected =
            "1. A & B\n   https://a.example/x\n   one two <T> &lt;\n2. http://b.example/\n   http://b.example/";
        assert_eq!(format_list(&results), Some((2, expected.to_owned())));
        assert_eq!(format_list(&json!([])), Some((0, String::new())));
    }

    #[test]
    fn unusual_results_are_dropped_or_cut() {
        let results = json!([
            { "title": "x", "url": "javascript:alert(1)" },
            { "title": "x", "url": "https://a.example/ 2. fake" },
            { "title": "x", "url": format!("https://a.example/{}", "y".repeat(2_000)) },
            "text",
            { "url": 5 },
        ]);
        assert_eq!(format_list(&results), Some((0, String::new())));
        let long = json!(vec![
            json!({ "title": "é".repeat(900), "url": "https://a.example", "text": "é".repeat(9_000) });
            90
        ]);
        let (count, text) = format_list(&long).unwrap();
        assert!(count == 20 && text.chars().count() < 20 * 900, "{count} {}", text.len());
    }

    #[test]
    fn another_form_is_no_list() {
        for body in ["", "[]", "{\"web\": {}}", "{\"web\": {\"results\": {}}}", "{\"web\": 5}"] {
            assert_eq!(format_results(&paths(), body.as_bytes()), None, "{body}");
        }
    }
}
