//! Tests of the index: ranking, updates and hostile queries.

use super::*;
use proptest::prelude::*;
use std::time::Duration;

const PAGES: [(&str, &str); 5] = [
    (
        "docs/proxy.md",
        "# Proxies\n\nSet `HTTPS_PROXY`.\n\n## Certificates\n\nName a file of certificates for the company.\n",
    ),
    ("docs/keys.md", "# Keys\n\nEach key binding can be changed. A proxy has none.\n"),
    ("docs/zh.md", "# 手册\n\n配置文件在主目录中。\n"),
    ("docs/ja.md", "# 設定\n\nプロキシの設定方法を説明します。\n"),
    ("README", "A program for terminals.\n"),
];

fn version(path: &str, seconds: u64) -> DocVersion {
    DocVersion { path: path.to_owned(), stamp: Some((1, SystemTime::UNIX_EPOCH + Duration::from_secs(seconds))) }
}

fn text(text: &str) -> ReadOutcome {
    ReadOutcome::Text(DocText { text: text.to_owned(), markup: Markup::Markdown, fallback_title: "File".to_owned() })
}

fn index_of(pages: &[(&str, &str)]) -> DocIndex {
    let mut index = DocIndex::default();
    let versions: Vec<DocVersion> = pages.iter().map(|(path, _)| version(path, 0)).collect();
    index.update(&versions, &mut |number| text(pages[number].1)).unwrap();
    index
}

fn search(index: &DocIndex, query: &str) -> Vec<Hit> {
    SearchWords::parse(query).map_or_else(Vec::new, |words| index.search(&words, 5, &|_| 1.0).unwrap().best)
}

fn paths(index: &DocIndex, query: &str) -> Vec<String> {
    search(index, query).into_iter().map(|hit| hit.path).collect()
}

#[test]
fn the_best_passage_of_each_document_is_found() {
    let index = index_of(&PAGES);
    assert_eq!(paths(&index, "How do I configure a proxy?"), ["docs/proxy.md", "docs/keys.md"]);
    // The stem of a word is compared, and the order of words does not matter.
    assert_eq!(paths(&index, "changing keys"), ["docs/keys.md"]);
    let hit = &search(&index, "certificate of a company")[0];
    let expected = ("Proxies", "Certificates", 7, "Name a file of certificates for the company.");
    assert_eq!((hit.title.as_str(), hit.heading.as_str(), hit.line, hit.snippet.as_str()), expected);
    let hit = &search(&index, "terminal")[0];
    assert_eq!((hit.title.as_str(), hit.heading.as_str(), hit.line), ("File", "", 1));
    assert!(search(&index, "nowhere").is_empty());
}

#[test]
fn text_without_spaces_between_words_is_found() {
    let index = index_of(&PAGES);
    for (query, path) in [
        ("配置文件", "docs/zh.md"),
        ("怎么配置", "docs/zh.md"),
        ("目", "docs/zh.md"),
        ("プロキシ", "docs/ja.md"),
        ("ﾌﾟﾛｷｼ", "docs/ja.md"),
        ("設定", "docs/ja.md"),
    ] {
        assert_eq!(paths(&index, query), [path], "{query}");
    }
    // Two characters that are not neighbours are no match.
    assert_eq!(paths(&index, "目件"), [""; 0]);
    assert_eq!(search(&index, "主目录")[0].snippet, "配置文件在主目录中。");
}

#[test]
fn only_new_and_changed_documents_are_read() {
    let mut index = DocIndex::default();
    let update = |index: &mut DocIndex, versions: &[DocVersion], texts: &[&str]| {
        let mut read = Vec::new();
        let result = index.update(versions, &mut |number| {
            read.push(versions[number].path.clone());
            text(texts[number])
        });
        result.unwrap();
        read
    };
    assert_eq!(update(&mut index, &[version("a", 1), version("b", 1)], &["apple", "berry"]), ["a", "b"]);
    assert_eq!(update(&mut index, &[version("a", 1), version("b", 2)], &["", "cherry"]), ["b"]);
    assert_eq!(
        (paths(&index, "apple"), paths(&index, "berry"), paths(&index, "cherry")),
        (vec!["a".to_owned()], vec![], vec!["b".to_owned()])
    );
    // Without a stamp the document is read each time.
    let uncertain = DocVersion { path: "a".to_owned(), stamp: None };
    for _ in 0..2 {
        assert_eq!(update(&mut index, std::slice::from_ref(&uncertain), &["date"]), ["a"]);
    }
    assert_eq!(paths(&index, "apple cherry date"), ["a"]);
    assert!(index.contains("a") && !index.contains("b"));
    // A document that is no longer allowed is gone.
    assert_eq!(update(&mut index, &[], &[]), [""; 0]);
    assert_eq!(paths(&index, "date"), [""; 0]);
}

#[test]
fn an_update_can_skip_documents_and_stop() {
    let mut index = DocIndex::default();
    let versions: Vec<DocVersion> = ["a", "b", "c", "d"].iter().map(|path| version(path, 0)).collect();
    let result = index.update(&versions, &mut |number| match number {
        1 => ReadOutcome::Skip,
        3 => ReadOutcome::Stop,
        _ => text("word"),
    });
    result.unwrap();
    assert_eq!(paths(&index, "word"), ["a", "c"]);
}

#[test]
fn at_most_the_requested_documents_are_returned_and_all_are_counted() {
    let pages: Vec<(String, String)> =
        (0..30).map(|number| (format!("p{number}"), "word\n\n# x\nword".to_owned())).collect();
    let pages: Vec<(&str, &str)> = pages.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    let hits = index_of(&pages).search(&SearchWords::parse("word").unwrap(), 5, &|_| 1.0).unwrap();
    assert_eq!((hits.best.len(), hits.total), (5, 30));
}

#[test]
fn a_weight_moves_documents_back() {
    let index = index_of(&[("a", "word word word"), ("b", "word and other text that is longer")]);
    let words = SearchWords::parse("word").unwrap();
    let best = |weight: f64| {
        let weigh = |path: &str| if path == "a" { weight } else { 1.0 };
        index.search(&words, 1, &weigh).unwrap().best[0].path.clone()
    };
    assert_eq!([best(1.0), best(0.1)], ["a", "b"]);
}

proptest! {
    /// FTS5 has a syntax, and no query is an error in it.
    #[test]
    fn no_query_is_a_syntax_error(
        query in "\\PC{0,200}|[\"'*:()^+{}, -]{0,60}|((NEAR\\(|AND|OR|NOT|title:|\"|[a-c漢กい\u{0}\u{301}\u{e33} ]){0,80})",
        long in any::<bool>(),
    ) {
        let index = index_of(&PAGES);
        let query = if long { query.repeat(200) } else { query };
        if let Some(words) = SearchWords::parse(&query) {
            let hits = index.search(&words, 5, &|_| 1.0);
            prop_assert!(hits.is_ok_and(|hits| hits.best.len() <= 5), "{:?}", words);
        }
    }

    #[test]
    fn any_text_is_indexed_and_its_words_are_found(body in "(\\PC|\n|# |\0){0,300}") {
        let page = format!("{body}\n\nzebra\n");
        let index = index_of(&[("x", &page)]);
        let hits = search(&index, "zebra");
        prop_assert_eq!(hits.len(), 1);
        prop_assert!(hits[0].line <= page.split('\n').count());
        prop_assert!(hits[0].snippet.chars().count() <= MAX_SNIPPET_CHARS);
    }
}
