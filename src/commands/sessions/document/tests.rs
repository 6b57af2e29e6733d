//! Tests that hostile sessions are harmless as documents: nothing runs, nothing is loaded, nothing imitates aye, and no
//! secret of a known form is included.

mod links_to_files;

use super::included_files::IncludedFiles;
use super::*;
use crate::chat::Entry;
use crate::store::Header;
use pulldown_cmark::{Event, Parser, Tag};
use serde_json::{Value, json};
use std::path::Path;

const BAD: &str = "</script><script>alert(1)</script>\n```\n# You\n**You** · 12:00\n</pre></code></details>\u{1b}[2J\u{202e}\u{0}\n\
    [click](javascript:alert(1)) ![x](https://evil.example/p.png) ![y](javascript:alert(2)) <img src=x onerror=alert(1)> <javascript:alert(1)>\n\
    [ref]\n\n[ref]: data:text/html,x\n````\n~~~\n<style>body{display:none}</style>\n<!--\n\" onmouseover=\"x' ";

/// Returns a key assembled from parts, so that this file contains none.
fn sample_key() -> String {
    format!("{}{}", "ghp_", "aB3dE5gH7j".repeat(3))
}

fn stored_session(entries: &[Value], dry_run: bool) -> StoredSession {
    let entries: Vec<Entry> = entries.iter().map(|entry| serde_json::from_value(entry.clone()).unwrap()).collect();
    let header = Header::new(SessionId("01J".into()), Path::new("/p/<b>"), BAD, dry_run);
    StoredSession { header: Some(header), times: vec![0; entries.len()], entries, ..StoredSession::default() }
}

/// Creates a session with `bad` in every field that comes from outside.
fn hostile_session(bad: &str) -> StoredSession {
    let call_json = |id: &str| json!({ "id": id, "name": format!("tool{bad}"), "arguments": bad });
    let plan_json = |call: &str, preview: Value| {
        json!({ "kind": "planned", "call": call, "title": bad, "summary": bad, "access": { "reach": "nothing" },
            "preview": preview, "verdict": "ask", "why": bad, "destroys": bad })
    };
    let outcome_json = |call: &str, how: &str| json!({ "kind": "settled", "call": call, "outcome": { "how": how, "text": bad }, "took_ms": 5 });
    let diff = json!({ "path": bad, "created": false, "added": 1, "removed": 1, "note": bad,
        "hunks": [{ "before": 1, "after": 1, "lines": [{ "=": bad }, { "+": bad }, { "-": bad }] }] });
    let question = json!({ "keyword": "k", "text": bad, "options": [{ "label": bad, "description": bad }] });
    let answer = json!({ "keyword": "k", "source": { "source": "written", "value": bad }, "notes": [{ "option": 0, "text": bad }] });
    stored_session(
        &[
            json!({ "kind": "said", "text": bad }),
            json!({ "kind": "replied", "text": bad, "reasoning": bad, "model": bad, "incomplete": bad,
                "calls": [call_json("a"), call_json("b"), call_json("c"), call_json("d"), call_json("e")] }),
            plan_json("a", json!({ "as": "text", "what": bad })),
            outcome_json("a", "done"),
            plan_json("b", json!({ "as": "command", "what": { "command": bad, "folder": "/p", "seconds": 3 } })),
            json!({ "kind": "decided", "call": "b", "decision": { "what": "deny", "with": bad },
                "by": { "who": "person", "key": bad, "after_ms": 5 } }),
            outcome_json("b", "refused"),
            plan_json("c", json!({ "as": "edit", "what": diff })),
            outcome_json("c", "rehearsed"),
            json!({ "kind": "asked", "call": "d", "questions": { "list": [question] } }),
            json!({ "kind": "answered", "call": "d", "answer": { "status": "answered", "given": [answer] } }),
            outcome_json("d", "done"),
            json!({ "kind": "beneath", "call": "a", "entry": { "kind": "replied", "text": format!("BENEATH {bad}"), "model": bad } }),
            json!({ "kind": "fell_back", "model": bad, "why": bad }),
            json!({ "kind": "compacted", "summary": bad, "pinned": bad, "upto": 0 }),
            json!({ "kind": "titled", "title": bad }),
            json!({ "kind": "ended", "ending": { "how": "failed", "why": bad } }),
        ],
        true,
    )
}

fn document_from(stored: &StoredSession) -> Document {
    Document::from_session(&SessionId("01J".into()), stored)
}

/// Formats a page without files.
fn format_html(document: &Document) -> String {
    html::format_html(document, &IncludedFiles::default())
}

/// Formats a document without files.
fn format_markdown(document: &Document) -> String {
    markdown::format_markdown(document, &IncludedFiles::default())
}

/// Checks that there are no control or direction characters.
#[track_caller]
fn assert_clean(text: &str) {
    let bad_char = text.chars().find(|c| *c != '\n' && (c.is_control() || "\u{202e}\u{2066}".contains(*c)));
    assert_eq!(bad_char, None);
}

/// Returns the tags of a page.
fn html_tags(html: &str) -> Vec<&str> {
    let style = html.split_once("<style>").unwrap().1.split_once("</style>").unwrap().0;
    assert!(!style.contains('<') && !style.contains("url("));
    let tag_length = |rest: &'_ str| rest.find('>').map(|end| end + 1);
    html.match_indices('<').filter_map(|(at, _)| Some(&html[at..at + tag_length(&html[at..])?])).collect()
}

#[test]
fn r32_html_runs_and_loads_nothing() {
    let html = format_html(&document_from(&hostile_session(BAD)));
    assert_clean(&html);
    const NAMES: &str = " html head meta title style body h1 h3 h4 h5 h6 p dl dt dd section b br hr div details summary code pre \
        span ul ol li a em strong del table tr th td blockquote ";
    for tag in html_tags(&html) {
        let name: String = tag.trim_start_matches(['<', '/']).chars().take_while(char::is_ascii_alphanumeric).collect();
        assert!(NAMES.contains(&format!(" {name} ")) || tag == "<!doctype html>", "{tag}");
        let lowercase = tag.to_ascii_lowercase();
        assert!(!lowercase.contains(" on") || lowercase.starts_with("<meta"), "{tag}");
        assert!(
            !lowercase.contains("src=") && !lowercase.contains("javascript:") && !lowercase.contains("data:"),
            "{tag}"
        );
        if let Some(href) = lowercase.split_once("href=\"").map(|(_, href)| href) {
            assert!(href.starts_with("https://evil.example/p.png\"") && lowercase.contains("noopener"), "{tag}");
        }
    }
    // Every tag is closed, so outside text closed none of them.
    for name in ["section", "details", "div", "pre", "code", "ul", "blockquote", "span"] {
        let count = |pattern: &str| html.matches(pattern).count();
        let opened = count(&format!("<{name}>")) + count(&format!("<{name} "));
        assert_eq!(opened, count(&format!("</{name}>")), "{name}");
    }
    assert!(html.contains("default-src 'none'") && html.contains("prefers-color-scheme: dark"));
    assert!(html.contains("Dry run: nothing real was changed."));
    assert!(html.contains("<span class=\"end problem\">denied ") && style_has_class("problem"), "{html}");
    assert!(html.contains("BENEATH") && html.contains("&lt;script&gt;") && html.contains("class=\"sub-agent\""));
}

fn style_has_class(class: &str) -> bool {
    include_str!("style.css").contains(&format!(".{class} {{"))
}

#[test]
fn r32_markdown_text_stays_in_its_quote_or_fence() {
    let stored = hostile_session(BAD);
    let markdown = format_markdown(&document_from(&stored));
    assert_clean(&markdown);
    let mut quotes = 0usize;
    let mut headings = 0;
    for event in Parser::new(&markdown) {
        match event {
            Event::Start(Tag::BlockQuote(_)) => quotes += 1,
            Event::End(pulldown_cmark::TagEnd::BlockQuote(_)) => quotes -= 1,
            Event::Start(Tag::Heading { .. }) if quotes == 0 => headings += 1,
            Event::Html(html) | Event::InlineHtml(html) => panic!("{html}"),
            Event::Start(Tag::Image { dest_url, .. }) => panic!("{dest_url}"),
            Event::Start(Tag::Link { dest_url, .. }) => {
                assert!(dest_url.starts_with("https://evil.example/"), "{dest_url}");
            }
            _ => {}
        }
    }
    assert_eq!(headings, 1, "the title alone:\n{markdown}");
    assert!(markdown.contains("BENEATH") && markdown.contains("- dry run"), "{markdown}");
}

#[test]
fn r32_text_page_is_harmless_and_within_the_width() {
    let stored = hostile_session(BAD);
    for columns in [20, 80] {
        let lines = text_page::format_lines(&document_from(&stored), columns);
        for line in &lines {
            assert_clean(line);
            assert!(crate::text::width::text_width(line) <= columns, "{line}");
        }
    }
}

#[test]
fn r57_no_known_secret_is_in_any_format() {
    let key = sample_key();
    let key_without_prefix = &key["ghp_".len()..];
    let armour = "-----BEGIN RSA PRIVATE KEY-----";
    let inner = "MIIEpAIBAAKCAQEA7";
    let diff = json!({ "path": "id", "created": true, "added": 3, "removed": 0, "hunks": [{ "before": 0, "after": 1,
        "lines": [{ "+": armour }, { "+": inner }, { "+": "-----END RSA PRIVATE KEY-----" }, { "+": "behind" }] }] });
    let mut stored = hostile_session(&format!("x {key}\ny"));
    let extra = super::tests::stored_session(
        &[
            json!({ "kind": "replied", "text": "", "model": "m", "calls": [{ "id": "z", "name": "write_file",
                "arguments": json!({ "content": format!("{armour}\n{inner}\n-----END RSA PRIVATE KEY-----\n") }).to_string() }] }),
            json!({ "kind": "planned", "call": "z", "title": "t", "summary": "s", "access": { "reach": "nothing" },
                "preview": { "as": "edit", "what": diff }, "verdict": "ask" }),
            json!({ "kind": "said", "text": format!("a \u{1b}[31m{}\u{1b}[0m{} coloured", &key[..12], &key[12..]) }),
        ],
        false,
    );
    stored.entries.extend(extra.entries);
    stored.times.resize(stored.entries.len(), 0);
    let document = document_from(&stored);
    let (json, redacted) = json::format_json(&SessionId("01J".into()), &stored, &IncludedFiles::default());
    assert!(document.redacted > 10 && redacted > 10, "{} {redacted}", document.redacted);
    let lines = text_page::format_lines(&document, 80).join("\n");
    for text in [&format_html(&document), &format_markdown(&document), &lines] {
        assert!(!text.contains(key_without_prefix) && !text.contains(inner), "{text}");
        assert!(text.contains("[redacted]") || text.contains("\\[redacted\\]"));
        assert!(text.contains("behind") && text.contains("may be others"), "{text}");
    }
    // JSON keeps terminal escapes in escaped form.
    let json = json.replace("\\u001b[31m", "").replace("\\u001b[0m", "");
    assert!(!json.contains(inner) && json.contains("[redacted]"));
    assert!(!json.contains(key_without_prefix), "not even with a color code inside");
    let value: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(value["entries"].as_array().unwrap().len(), stored.entries.len());
}

#[test]
fn transcript_has_messages_decisions_and_outcomes() {
    let stored = stored_session(
        &[
            json!({ "kind": "said", "text": "1. fix\n    it" }),
            json!({ "kind": "replied", "text": "I **will**:\n\n```rust\nfn main() {}\n```\n\n| a | b |\n|---|--:|\n| 1 | 2 |\n\n- [x] a\n- [ ] b\n\n- c",
                "model": "m", "calls": [{ "id": "a", "name": "bash_exec", "arguments": "{}" }] }),
            json!({ "kind": "planned", "call": "a", "title": "t", "summary": "make", "access": { "reach": "nothing" },
                "preview": { "as": "command", "what": { "command": "make", "folder": "/p", "seconds": 3 } },
                "verdict": "ask", "why": "make runs project code" }),
            json!({ "kind": "decided", "call": "a", "decision": { "what": "once" },
                "by": { "who": "person", "key": "y", "after_ms": 900 } }),
            json!({ "kind": "settled", "call": "a", "outcome": { "how": "done", "text": "exit 0" }, "took_ms": 12 }),
            json!({ "kind": "ended", "ending": { "how": "finished" } }),
        ],
        false,
    );
    let document = document_from(&stored);
    let html = format_html(&document);
    for part in [
        "<div class=\"said\">1. fix\n    it</div>",
        "I <strong>will</strong>:",
        "<span class=\"k\">fn</span>",
        "<td class=\"right\">2</td>",
        "<li class=\"task\"><p>☑ a</p>",
        "<li class=\"task\"><p>☐ b</p>",
        "<li><p>c</p>",
        "✓ <code>bash_exec</code> make",
        "needed approval: make runs project code",
        "you approved once · y ·",
        "exit 0",
    ] {
        assert!(html.contains(part), "{part}\n{html}");
    }
    let markdown = format_markdown(&document);
    for part in ["> 1\\. fix", "> ```rust", "✓ `bash_exec` make — *done*", "```bash\nmake\n```", "exit 0"] {
        assert!(markdown.contains(part), "{part}\n{markdown}");
    }
    let page = text_page::format_lines(&document, 80).join("\n");
    assert!(page.contains("  ✓ bash_exec · make") && page.contains("    · you approved"), "{page}");
}

#[test]
fn failed_command_has_no_success_mark_live_or_rehearsed() {
    for (settled, mark, label) in [
        (json!({ "outcome": { "how": "done", "text": "out\nexit 3" } }), "✗", "exited with an error"),
        (json!({ "outcome": { "how": "done", "text": "out\nexit 0" } }), "✓", "done"),
        (
            json!({ "outcome": { "how": "rehearsed", "text": "out\nexit 3" }, "staged": "ran" }),
            "✗",
            "rehearsed, exited with an error",
        ),
        (json!({ "outcome": { "how": "rehearsed", "text": "exit 3" }, "staged": "imagined" }), "◇", "rehearsed"),
    ] {
        let mut end = json!({ "kind": "settled", "call": "a", "took_ms": 12 });
        end.as_object_mut().unwrap().extend(settled.as_object().unwrap().clone());
        let stored = stored_session(
            &[
                json!({ "kind": "replied", "text": "", "model": "m",
                    "calls": [{ "id": "a", "name": "bash_exec", "arguments": "{}" }] }),
                json!({ "kind": "planned", "call": "a", "title": "t", "summary": "make", "access": { "reach": "nothing" },
                    "preview": { "as": "command", "what": { "command": "make", "folder": "/p", "seconds": 3 } },
                    "verdict": "ask" }),
                end,
            ],
            true,
        );
        let document = document_from(&stored);
        let markdown = format_markdown(&document);
        assert!(markdown.contains(&format!("{mark} `bash_exec` make — *{label}*")), "{markdown}");
        let page = text_page::format_lines(&document, 80).join("\n");
        assert!(page.contains(&format!("  {mark} bash_exec · make")), "{page}");
        assert!(format_html(&document).contains(&format!("{mark} <code>bash_exec</code>")));
        let (row, _) =
            crate::tui::parts::audit_page::audit_row_texts(&crate::chat::audit::collect_records(&stored.entries)[0]);
        assert!(row.starts_with(mark), "{row}");
    }
}

#[test]
fn no_export_hides_text_of_a_reply_or_result() {
    let reply = "\u{1b}[2Jbegin\n\n```rust info words\nx\n```\n\n[a](https://a.example \"title words\") [b](#other) [c](file:///c)\n\n\
        [unused]: https://u.example \"unused words\"\n\n| a |\n|---|\n| b | excess |\n\n&#27;end\u{e0041}";
    let result: String = (0..40).map(|n| format!("line {n}\n")).collect();
    let stored = stored_session(
        &[
            json!({ "kind": "replied", "text": reply, "model": "m",
                "calls": [{ "id": "a", "name": "read_file", "arguments": "{}" }] }),
            json!({ "kind": "settled", "call": "a", "outcome": { "how": "done", "text": result }, "took_ms": 1 }),
            json!({ "kind": "compacted", "summary": "summary words", "pinned": "pinned words", "upto": 0 }),
        ],
        false,
    );
    let document = document_from(&stored);
    let (html, markdown) = (format_html(&document), format_markdown(&document));
    for part in [
        "<U+001B>[2Jbegin",
        "info words",
        "title words",
        "#other",
        "file:///c",
        "unused words",
        "excess",
        "end<U+E0041>",
        "line 39",
        "summary words",
        "pinned words",
    ] {
        let escaped = part.replace('<', "&lt;").replace('>', "&gt;");
        assert!(html.contains(&escaped), "{part}\n{html}");
        assert!(markdown.replace("&lt;", "<").replace("&gt;", ">").contains(part), "{part}\n{markdown}");
        assert!(text_page::format_lines(&document, 80).join("\n").contains(part), "{part}");
    }
    assert!(html.contains("&lt;U+001B&gt;end"), "{html}");
    assert_eq!(
        markdown_html::markdown_to_html("[Get started](#get-started)", &IncludedFiles::default()),
        "<p>Get started</p>\n"
    );
}
