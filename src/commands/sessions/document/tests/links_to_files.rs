//! Tests of links to files that an export includes: only their addresses become links, and nothing escapes.

use super::*;
use crate::chat::Digest;
use crate::commands::sessions::document::included_files::IncludedFile;
use crate::text::workspace_address::WorkspacePath;
use crate::workspace::{Origin, StoredFile};
use proptest::prelude::*;
use pulldown_cmark::Options;

const SESSION: &str = "01JDXA0000000000000000000Z";
const ID: &str = "01JDXA0000000000000000000A";
const PICTURE: &str = "01JDXA0000000000000000000B";

fn included_files() -> IncludedFiles {
    let file = |id: &str, path: &str, version, is_latest, media_type: &str| StoredFile {
        id: id.to_owned(),
        path: WorkspacePath::parse(path).unwrap(),
        version,
        size: 3,
        sha256: Digest::of_bytes(b"one"),
        media_type: media_type.to_owned(),
        time: 0,
        origin: Origin::default(),
        is_latest,
    };
    let files = vec![
        file(ID, "my_notes_q1.md", 2, true, "text/markdown"),
        file(PICTURE, "p.png", 1, true, "image/png"),
        file(ID, "my_notes_q1.md", 1, false, "text/markdown"),
    ];
    IncludedFiles::new(&SessionId(SESSION.into()), files)
}

#[test]
fn an_address_is_a_link_in_markdown_and_in_a_page() {
    let files = included_files();
    for (text, markdown, html) in [
        (
            "a workspace://ID.",
            "a [workspace://ID](files/my_notes_q1.md).",
            "<p>a <a href=\"#file-ID-2\">workspace://ID</a>.</p>\n",
        ),
        // The parser splits this path at its underscores.
        (
            "workspace:///my_notes_q1.md",
            "[workspace:///my\\_notes\\_q1.md](files/my_notes_q1.md)",
            "<p><a href=\"#file-ID-2\">workspace:///my_notes_q1.md</a></p>\n",
        ),
        (
            "[n *i*](<workspace://ID@1#text/csv> \"t\")",
            "[n *i*](<versions/1/my_notes_q1.md> \"t\")",
            "<p><a href=\"#file-ID-1\">n <em>i</em></a> “t”</p>\n",
        ),
        ("[](workspace://ID)", "[](files/my_notes_q1.md)", "<p><a href=\"#file-ID-2\"></a></p>\n"),
        (
            "[workspace://ID](workspace://ID)",
            "[workspace://ID](files/my_notes_q1.md)",
            "<p><a href=\"#file-ID-2\">workspace://ID</a></p>\n",
        ),
        (
            "[x](workspace:///my\\_notes_q1.md)",
            "\\[x](workspace:///my\\_notes_q1.md)",
            "<p><a href=\"#file-ID-2\">x</a></p>\n",
        ),
        (
            "`workspace://ID`",
            "[`workspace://ID`](files/my_notes_q1.md)",
            "<p><code><a href=\"#file-ID-2\">workspace://ID</a></code></p>\n",
        ),
        (
            "<workspace://ID>",
            "[workspace://ID](files/my_notes_q1.md)",
            "<p><a href=\"#file-ID-2\">workspace://ID</a></p>\n",
        ),
        ("![p](workspace://PIC)", "![p](files/p.png)", "<p>picture: <a href=\"#file-PIC-1\">p</a></p>\n"),
        ("![p](workspace://ID)", "\\![p](files/my_notes_q1.md)", "<p>picture: <a href=\"#file-ID-2\">p</a></p>\n"),
        (
            "workspace:///sessions/OWN/p.png",
            "[workspace:///sessions/OWN/p.png](files/p.png)",
            "<p><a href=\"#file-PIC-1\">workspace:///sessions/OWN/p.png</a></p>\n",
        ),
        // After these characters a link would be a picture or text.
        (
            "!workspace://ID !`workspace://ID`",
            "!workspace://ID !`workspace://ID`",
            "<p>!<a href=\"#file-ID-2\">workspace://ID</a> !<code><a href=\"#file-ID-2\">workspace://ID</a></code></p>\n",
        ),
        ("!<workspace://PIC>", "!&lt;workspace://PIC>", "<p>!<a href=\"#file-PIC-1\">workspace://PIC</a></p>\n"),
        (
            "1 < 2 <javascript:x<workspace://ID>>",
            "1 < 2 &lt;javascript:x[workspace://ID](files/my_notes_q1.md)>",
            "<p>1 &lt; 2 &lt;javascript:x<a href=\"#file-ID-2\">workspace://ID</a>&gt;</p>\n",
        ),
        ("(<!a \\<!a\nb", "(&lt;!a \\<!a\nb", "<p>(&lt;!a &lt;!a\nb</p>\n"),
        ("\\workspace://ID", "\\workspace://ID", "<p>\\<a href=\"#file-ID-2\">workspace://ID</a></p>\n"),
        // None of these is included.
        ("[a](workspace://ID@3)", "\\[a](workspace://ID@3)", "<p>a (workspace://ID@3)</p>\n"),
        ("workspace://PIC@2", "workspace://PIC@2", "<p>workspace://PIC@2</p>\n"),
        ("workspace:///sessions/ID/p.png", "workspace:///sessions/ID/p.png", "<p>workspace:///sessions/ID/p.png</p>\n"),
        (
            "[workspace://ID](javascript:x)",
            "\\[workspace://ID](javascript:x)",
            "<p><a href=\"#file-ID-2\">workspace://ID</a> (javascript:x)</p>\n",
        ),
        (
            "[workspace://ID](https://a.example)",
            "[workspace://ID](https://a.example)",
            "<p><a href=\"https://a.example\" rel=\"noopener noreferrer nofollow\">workspace://ID</a></p>\n",
        ),
        (
            "```\nworkspace://ID\n```",
            "```\nworkspace://ID\n```",
            "<pre><code><a href=\"#file-ID-2\">workspace://ID</a>\n</code></pre>\n",
        ),
    ] {
        let with_ids = |text: &str| text.replace("OWN", SESSION).replace("ID", ID).replace("PIC", PICTURE);
        assert_eq!(neutral_markdown::neutralize(&with_ids(text), &files), with_ids(markdown), "{text}");
        assert_eq!(markdown_html::markdown_to_html(&with_ids(text), &files), with_ids(html), "{text}");
    }
}

#[test]
fn hostile_sessions_are_as_harmless_with_files() {
    let bad =
        format!("{BAD} workspace://{ID} [a](workspace://{ID}) ![b](workspace://{PICTURE}) [c](workspace://{ID}@7)");
    let (document, files) = (document_from(&hostile_session(&bad)), included_files());
    let html = html::format_html(&document, &files);
    assert_clean(&html);
    for tag in html_tags(&html) {
        if let Some((_, href)) = tag.split_once("href=\"") {
            let is_saved =
                tag.starts_with("<a download=\"") && href.starts_with("data:application/octet-stream;base64,");
            assert!(
                href.starts_with("https://evil.example/p.png\"") || href.starts_with("#file-") || is_saved,
                "{tag}"
            );
        }
        if let Some((_, source)) = tag.split_once(" src=") {
            assert!(tag.starts_with("<img alt=\"p.png\"") && source.starts_with("\"data:image/png;base64,"), "{tag}");
        }
    }
    let markdown = markdown::format_markdown(&document, &files);
    assert_clean(&markdown);
    check_links(&markdown);
    assert!(markdown.matches("](files/my_notes_q1.md)").count() > 10, "{markdown}");
}

/// Checks that the document has no raw HTML, and only links to the web and to included files.
#[track_caller]
fn check_links(markdown: &str) {
    let options = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS;
    let locations: Vec<String> = included_files().iter().map(IncludedFile::relative_url).collect();
    for event in Parser::new_ext(markdown, options) {
        match event {
            Event::Html(html) | Event::InlineHtml(html) => panic!("{html}\n{markdown}"),
            Event::Start(Tag::Image { dest_url, .. }) => assert_eq!(&*dest_url, "files/p.png", "{markdown}"),
            Event::Start(Tag::Link { dest_url, .. }) => {
                let is_known = escaping::is_web(&dest_url) || locations.iter().any(|known| **known == *dest_url);
                assert!(is_known, "{dest_url}\n{markdown}");
            }
            _ => {}
        }
    }
}

fn markdown_parts() -> impl Strategy<Value = String> {
    let parts = prop_oneof![
        Just(format!("workspace://{ID}")),
        Just(format!("workspace://{PICTURE}@1")),
        Just("workspace:///my_notes_q1.md".to_owned()),
        Just("workspace:///my\\_notes_q1.md".to_owned()),
        Just("javascript:x".to_owned()),
        "[\\[\\]()<>!`*_|\\\\&#:@ \n~\"-]{1,3}",
        "[a-z]{1,3}",
    ];
    proptest::collection::vec(parts, 1..14).prop_map(|parts| parts.concat())
}

proptest! {
    #[test]
    fn any_markdown_keeps_only_links_to_files_and_the_web(text in markdown_parts()) {
        let files = included_files();
        let html = markdown_html::markdown_to_html(&text, &files);
        prop_assert_eq!(html.matches("<a ").count(), html.matches("</a>").count(), "{}", html);
        for (at, _) in html.match_indices("href=\"") {
            prop_assert!(html[at..].starts_with("href=\"#file-") || html[at..].contains("rel=\"noopener"), "{}", html);
        }
        let quoted: String = neutral_markdown::neutralize(&text, &files).lines().map(|line| format!("> {line}\n")).collect();
        check_links(&quoted);
    }
}
