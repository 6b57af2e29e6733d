//! Web pages as Markdown, converted by `aye-reader`: what recurses or repeats without a limit must not stop aye.

use super::reader_process::run_reader_process;
use super::reader_task::ReaderTask;
use htmd::HtmlToMarkdown;
use std::time::{Duration, Instant};

/// Stack of the thread that converts a page. Its converter recurses, about 1 KB for each level.
const STACK_BYTES: usize = 64 << 20;
/// Maximum nesting of elements in a page that is converted.
const MAX_NESTING: usize = 4_000;
/// Maximum nesting of elements such as `b`, which a parser repeats in every paragraph below.
const MAX_FORMATTING: usize = 32;
/// Time limit of a conversion.
const TIME_LIMIT: Duration = Duration::from_secs(5);
/// Elements whose content is no text of the page.
const SKIPPED: [&str; 7] = ["script", "style", "noscript", "template", "svg", "iframe", "head"];
/// Elements without content, and those that the next of their kind ends.
const UNNESTED: [&str; 24] = [
    "area", "base", "br", "col", "dd", "dt", "embed", "hr", "img", "input", "li", "link", "meta", "option", "p",
    "param", "source", "td", "th", "tr", "track", "wbr", "tbody", "thead",
];
const FORMATTING: [&str; 14] =
    ["a", "b", "big", "code", "em", "font", "i", "nobr", "s", "small", "strike", "strong", "tt", "u"];

/// First byte of the output of the process before Markdown and before text without tags.
const MARKDOWN: u8 = b'm';
const STRIPPED: u8 = b's';

/// Text of a page.
#[derive(Debug, PartialEq, Eq)]
pub struct HtmlText {
    pub text: String,
    /// True if it is Markdown; false if only the tags were removed.
    pub is_markdown: bool,
    /// Why the page could not be converted, worded to follow a colon. `None` if it was, or is nested too deeply.
    pub failure: Option<String>,
}

/// Converts a page to Markdown, or removes its tags if it is nested too deeply or the conversion fails. Blocks for at most
/// thirty seconds.
pub fn read_html(html: &str) -> HtmlText {
    let stripped = |failure| HtmlText { text: strip_tags(html), is_markdown: false, failure: Some(failure) };
    match run_reader_process(ReaderTask::Html, html.as_bytes()) {
        Ok(output) => parse_output(output).unwrap_or_else(|| stripped("its text is damaged".to_owned())),
        Err(reason) => stripped(reason),
    }
}

fn parse_output(mut output: Vec<u8>) -> Option<HtmlText> {
    let is_markdown = match *output.first()? {
        MARKDOWN => true,
        STRIPPED => false,
        _ => return None,
    };
    let text = String::from_utf8(output.split_off(1)).ok()?;
    Some(HtmlText { text, is_markdown, failure: None })
}

/// Returns the output of the process for a page.
pub(super) fn convert_page(html: Vec<u8>) -> Vec<u8> {
    let html = String::from_utf8(html).unwrap_or_default();
    match convert_html(&html) {
        Some(text) => [vec![MARKDOWN], text.into_bytes()].concat(),
        None => [vec![STRIPPED], strip_tags(&html).into_bytes()].concat(),
    }
}

/// Returns a converter of the parts of a document, which removes the tags alone once the time limit has passed.
pub(super) fn convert_parts() -> impl Fn(String) -> String {
    let started = Instant::now();
    move |html| {
        let converted = if started.elapsed() < TIME_LIMIT { convert_html(&html) } else { None };
        converted.unwrap_or_else(|| strip_tags(&html))
    }
}

/// Converts a page to Markdown. `None` if it is nested too deeply or the conversion takes too long.
fn convert_html(html: &str) -> Option<String> {
    if !is_shallow(html) {
        return None;
    }
    let (sender, receiver) = std::sync::mpsc::channel();
    let page = html.to_owned();
    let convert = move || {
        let converter = HtmlToMarkdown::builder().skip_tags(SKIPPED.to_vec()).build();
        // The receiver is gone if this took too long.
        let _ = sender.send(converter.convert(&page).ok());
    };
    let thread = std::thread::Builder::new().name("page".into()).stack_size(STACK_BYTES).spawn(convert);
    thread.ok().and_then(|_| receiver.recv_timeout(TIME_LIMIT).ok().flatten())
}

/// Returns whether no element can be nested deeper than the limits, counted from the tags alone.
fn is_shallow(html: &str) -> bool {
    let (mut nesting, mut formatting) = (0_usize, 0_usize);
    for piece in html.split('<').skip(1) {
        let is_end = piece.starts_with('/');
        let name = piece.trim_start_matches('/');
        let length = name.find(|c: char| !c.is_ascii_alphanumeric() && c != '-').unwrap_or(name.len());
        let name = name[..length].to_ascii_lowercase();
        if name.is_empty() || UNNESTED.contains(&name.as_str()) {
            continue;
        }
        let is_formatting = FORMATTING.contains(&name.as_str());
        if is_end {
            nesting = nesting.saturating_sub(1);
            formatting = formatting.saturating_sub(usize::from(is_formatting));
        } else {
            nesting += 1;
            formatting += usize::from(is_formatting);
        }
        if nesting > MAX_NESTING || formatting > MAX_FORMATTING {
            return false;
        }
    }
    true
}

/// Returns the text between tags, without that of scripts and styles. Entities stay as they are.
fn strip_tags(html: &str) -> String {
    let mut text = String::new();
    let mut skipped_until: Option<String> = None;
    for (index, piece) in html.split('<').enumerate() {
        if index == 0 {
            text.push_str(piece);
            continue;
        }
        let lower: String = piece.chars().take(16).collect::<String>().to_ascii_lowercase();
        match &skipped_until {
            Some(name) if lower.strip_prefix('/').is_some_and(|rest| rest.starts_with(name.as_str())) => {
                skipped_until = None
            }
            Some(_) => continue,
            None => {
                skipped_until =
                    SKIPPED[..3].iter().find(|name| lower.starts_with(**name)).map(|name| (*name).to_owned());
                if skipped_until.is_some() {
                    continue;
                }
            }
        }
        text.push(' ');
        text.push_str(piece.split_once('>').map_or("", |(_, after)| after));
    }
    let lines = text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "));
    lines.filter(|line| !line.is_empty()).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn convert(html: &str) -> HtmlText {
        parse_output(convert_page(html.into())).unwrap()
    }

    #[test]
    fn a_page_becomes_markdown_without_its_scripts() {
        let page = "<!DOCTYPE html><html><head><title>T</title><style>x{}</style></head><body><h1>One</h1><script>alert(1)</script>\
                    <p>Text with <a href=\"https://example.com/a\">a link</a> and <code>code</code>.</p>\
                    <ul><li>first<li>second</ul><pre><code>let x = 1;\nlet y;</code></pre></body></html>";
        let HtmlText { text, is_markdown, failure } = convert(page);
        assert!(is_markdown && failure.is_none());
        for part in ["# One", "[a link](https://example.com/a)", "`code`", "first", "let x = 1;\nlet y;"] {
            assert!(text.contains(part), "{part}: {text}");
        }
        for part in ["alert", "x{}"] {
            assert!(!text.contains(part), "{part}: {text}");
        }
    }

    /// Each of these ends a converter that recurses or repeats without a limit.
    #[test]
    fn hostile_pages_end_in_time_and_do_not_overflow_the_stack() {
        let repeated = |text: &str, bytes: usize| text.repeat(bytes / text.len());
        for page in [
            repeated("<div>", 1 << 20),
            repeated("<b>", 1 << 20),
            repeated("<p><b>", 1 << 19),
            repeated("<table><tr><td>", 1 << 19),
            repeated("<ul><li>", 1 << 19),
            repeated("<blockquote>", MAX_NESTING * 12),
            repeated("<a><p></a>", 1 << 18),
            repeated("</div>", 1 << 20),
            repeated("<", 1 << 20),
            "<script>".to_owned() + &repeated("x", 1 << 20),
        ] {
            let started = Instant::now();
            let _ = convert(&page);
            assert!(started.elapsed() < 4 * TIME_LIMIT, "{}", &page[..20]);
        }
    }

    #[test]
    fn a_page_nested_too_deeply_keeps_its_text() {
        let page = format!("{}deep &amp; far<script>no</script><b>end</b>", "<div>".repeat(MAX_NESTING + 1));
        let page = convert(&page);
        assert_eq!((page.text.as_str(), page.is_markdown), ("deep &amp; far end", false));
    }

    #[test]
    fn damaged_output_is_no_page() {
        for output in [&b""[..], b"x", b"m\xff"] {
            assert_eq!(parse_output(output.to_vec()), None);
        }
    }
}
