//! Tests of the words of a query and of an indexed text.

use super::*;
use proptest::prelude::*;

fn expression(query: &str) -> String {
    SearchWords::parse(query).map_or_else(String::new, |words| words.match_expression())
}

#[test]
fn words_are_quoted_and_joined_by_or() {
    for (query, expected) in [
        ("proxy settings", "\"proxy\" OR \"settings\""),
        ("How do I set the Proxy?", "\"set\" OR \"proxy\""),
        ("how to", "\"how\" OR \"to\""),
        ("search_docs", "\"search docs\" OR \"search\" OR \"docs\""),
        (
            "a AND NOT b* NEAR(c, 2) title:x ^y",
            "\"b\" OR \"near c\" OR \"near\" OR \"c\" OR \"2\" OR \"title x\" OR \"title\" OR \"x\" OR \"y\"",
        ),
        ("\"quoted\" 'and' it''s", "\"quoted\" OR \"it s\" OR \"s\""),
        ("proxy Proxy PROXY", "\"proxy\""),
        ("配置文件", "\"配 置\" OR \"置 文\" OR \"文 件\""),
        ("字", "\"字\""),
        ("MCP服务器", "\"服 务\" OR \"务 器\" OR \"mcp\""),
        ("ＭＣＰ ｶﾀ", "\"mcp\" OR \"カ タ\""),
        ("", ""),
        ("  \"\" * : ( ) - ^ + \0 \u{202e}", ""),
    ] {
        assert_eq!(expression(query), expected, "{query:?}");
    }
}

#[test]
fn long_queries_are_bounded() {
    let many: String = (0..5_000).map(|number| format!("w{number} ")).collect();
    let words = SearchWords::parse(&many).unwrap();
    assert!(words.is_truncated && words.terms.len() == MAX_TERMS);
    let words = SearchWords::parse(&"x".repeat(10_000)).unwrap();
    assert!(words.is_truncated && words.terms[0].len() == MAX_TERM_CHARS);
    assert!(!SearchWords::parse("a short query").unwrap().is_truncated);
}

#[test]
fn characters_without_spaces_are_separated() {
    assert_eq!(index_text("plain text"), "plain text");
    assert_eq!(index_text("größe"), "größe");
    assert_eq!(index_text("配置 x文"), " 配  置  x 文 ");
}

#[test]
fn stems_are_beginnings_of_words() {
    let stems = |query: &str| SearchWords::parse(query).unwrap().stems();
    assert_eq!(stems("configuration settings use proxies"), ["configur", "sett", "use", "prox"]);
    assert_eq!(stems("配置 search_docs"), ["配置", "search", "docs"]);
}

proptest! {
    #[test]
    fn any_query_is_bounded_and_has_only_words(query in "\\PC{0,300}|[\"'*:()^+ -]{0,40}|(NEAR|AND|OR|NOT|[\"a-c漢ก ]){0,60}") {
        if let Some(words) = SearchWords::parse(&query) {
            prop_assert!(!words.terms.is_empty() && words.terms.len() <= MAX_TERMS);
            for term in &words.terms {
                prop_assert!(term.chars().all(|c| c.is_alphanumeric() || c == ' ' || !c.is_ascii()), "{:?}", term);
                prop_assert!(term.chars().count() <= (MAX_TERM_CHARS + 3) * MAX_PHRASE_WORDS);
            }
        }
    }
}
