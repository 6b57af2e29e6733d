//! Feeds (Atom, RSS, JSON Feed) as Markdown: title, then each entry with its date, address and text.

use super::html::convert_parts;
use feed_rs::model::{Entry, Feed, Link, Text};
use std::fmt::Write;

/// Why a document is not read.
pub const NO_FEED: &str = "it is no feed";

/// Returns a feed as Markdown.
///
/// # Errors
/// If the document is no feed.
pub(super) fn convert_feed(document: Vec<u8>) -> Result<Vec<u8>, String> {
    let text = String::from_utf8(document).map_err(|_| NO_FEED)?;
    Ok(read_feed(&text, &convert_parts()).ok_or(NO_FEED)?.into_bytes())
}

/// Returns a feed as Markdown; `None` if the document is no feed. `convert_html` makes Markdown of HTML.
fn read_feed(text: &str, convert_html: &dyn Fn(String) -> String) -> Option<String> {
    // The parser invents ids for entries without one; they are not shown.
    let Feed { title, description, links, entries, .. } = feed_rs::parser::parse(text.as_bytes()).ok()?;
    let read = |text: &Text| match text.content_type.subty().as_str() {
        "html" | "xhtml" => convert_html(text.content.clone()),
        _ => text.content.clone(),
    };
    let one_line = |text: &Text| read(text).split_whitespace().collect::<Vec<_>>().join(" ");
    let mut feed = String::new();
    let title = title.as_ref().map(one_line).filter(|title| !title.is_empty());
    let _ = writeln!(feed, "# {}", title.as_deref().unwrap_or("Feed without a title"));
    if let Some(address) = main_link(&links) {
        let _ = writeln!(feed, "{address}");
    }
    if let Some(description) = description.as_ref().map(one_line).filter(|text| !text.is_empty()) {
        let _ = writeln!(feed, "{description}");
    }
    let count = entries.len();
    let _ = writeln!(feed, "{count} {}", if count == 1 { "entry" } else { "entries" });
    for entry in &entries {
        let Entry { title, published, updated, links, summary, content, .. } = entry;
        let title = title.as_ref().map(one_line).filter(|title| !title.is_empty());
        let _ = writeln!(feed, "\n## {}", title.as_deref().unwrap_or("Entry without a title"));
        let date = published.or(*updated).map(|date| date.format("%Y-%m-%d %H:%M UTC").to_string());
        let facts: Vec<String> = date.into_iter().chain(main_link(links).map(str::to_owned)).collect();
        if !facts.is_empty() {
            let _ = writeln!(feed, "{}", facts.join(" · "));
        }
        let body = content.as_ref().and_then(|content| {
            let is_html = matches!(content.content_type.subty().as_str(), "html" | "xhtml");
            content.body.clone().map(|body| if is_html { convert_html(body) } else { body })
        });
        let body = body.filter(|body| !body.trim().is_empty()).or_else(|| summary.as_ref().map(read));
        if let Some(body) = body.filter(|body| !body.trim().is_empty()) {
            let _ = writeln!(feed, "{}", body.trim());
        }
    }
    Some(feed)
}

/// Returns the address of the page that a feed or an entry is about.
fn main_link(links: &[Link]) -> Option<&str> {
    let is_page = |link: &&Link| link.rel.as_deref().is_none_or(|rel| rel == "alternate");
    links.iter().find(is_page).or(links.first()).map(|link| link.href.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const ATOM: &str = r#"<?xml version="1.0"?><feed xmlns="http://www.w3.org/2005/Atom"><title>News &amp; more</title>
        <link rel="self" href="https://a.example/feed"/><link href="https://a.example/"/>
        <entry><title type="html">&lt;b&gt;First&lt;/b&gt; release</title><link href="https://a.example/1"/>
        <updated>2026-11-02T03:04:05Z</updated><content type="html">&lt;p&gt;It is &lt;i&gt;out&lt;/i&gt;.&lt;/p&gt;</content></entry>
        <entry><summary>No title here</summary></entry></feed>"#;
    const RSS: &str = r#"<rss version="2.0"><channel><title>Blog</title><link>https://b.example</link><description>About things</description>
        <item><title>One</title><link>https://b.example/one</link><pubDate>Mon, 02 Nov 2026 03:04:05 GMT</pubDate>
        <description>&lt;p&gt;Text of one&lt;/p&gt;</description></item></channel></rss>"#;

    fn mark_html(html: String) -> String {
        format!("html({html})")
    }

    #[test]
    fn feeds_become_markdown() {
        let atom = read_feed(ATOM, &mark_html).unwrap();
        assert_eq!(
            atom,
            "# News & more\nhttps://a.example/\n2 entries\n\n## html(<b>First</b> release)\n\
             2026-11-02 03:04 UTC · https://a.example/1\nhtml(<p>It is <i>out</i>.</p>)\n\n\
             ## Entry without a title\nNo title here\n"
        );
        let rss = read_feed(RSS, &mark_html).unwrap();
        for part in [
            "# Blog\nhttps://b.example",
            "About things",
            "1 entry\n\n## One\n2026-11-02 03:04 UTC · https://b.example/one\n",
        ] {
            assert!(rss.contains(part), "{part}: {rss}");
        }
        assert!(rss.contains("Text of one"), "{rss}");
        let json =
            r#"{"version":"https://jsonfeed.org/version/1.1","title":"J","items":[{"id":"1","content_text":"plain"}]}"#;
        assert!(read_feed(json, &mark_html).unwrap().ends_with("## Entry without a title\nplain\n"));
    }

    #[test]
    fn another_document_is_no_feed() {
        for text in ["<svg/>", ""] {
            assert_eq!(read_feed(text, &mark_html), None);
        }
        assert_eq!(convert_feed(vec![0xff]), Err(NO_FEED.to_owned()));
    }

    proptest! {
        #[test]
        fn damaged_feeds_do_no_harm(at in 0..ATOM.len(), length in 0..60_usize, noise in "[<>&;/\"a-z\\x00-\\x7f]{0,12}") {
            let at = ATOM.floor_char_boundary(at);
            let end = ATOM.floor_char_boundary((at + length).min(ATOM.len()));
            let _ = read_feed(&format!("{}{noise}{}", &ATOM[..at], &ATOM[end..]), &mark_html);
        }
    }
}
