//! Texts with and without links.

use super::*;

/// Checks that a text has the expected links, separated by ` | `. Every candidate counts as existing.
#[track_caller]
fn check_links(text: &str, expected: &str) {
    let links = find_links(text, &|_| Existence::Exists);
    for link in &links {
        assert!(text.is_char_boundary(link.range.start) && text.is_char_boundary(link.range.end));
    }
    let link_texts: Vec<String> = links.iter().map(|link| text[link.range.clone()].to_owned()).collect();
    assert_eq!(link_texts.join(" | "), expected, "{text:?}");
}

#[test]
fn paths_are_found_wherever_prose_puts_them() {
    check_links("see src/main.rs", "src/main.rs");
    check_links("see src/main.rs.", "src/main.rs");
    check_links("(src/main.rs)", "src/main.rs");
    check_links("https://a.example/b.[^1] and https://a.example/c(", "https://a.example/b | https://a.example/c");
    check_links("`src/main.rs`", "src/main.rs");
    check_links("\"src/main.rs\", 'src/lib.rs'", "src/main.rs | src/lib.rs");
    check_links("in **src/main.rs**:", "src/main.rs");
    check_links("Is it src/main.rs?", "src/main.rs");
    check_links("main.rs and Cargo.toml", "main.rs | Cargo.toml");
    check_links("src/", "src/");
    check_links("./a", "./a");
    check_links("../b/c", "../b/c");
    check_links("~/x", "~/x");
    check_links("/etc/hosts", "/etc/hosts");
    check_links(".gitignore", ".gitignore");
    check_links("the Makefile", "Makefile");
    check_links("@tests/retry.rs", "tests/retry.rs");
    check_links("--config=conf/a.toml", "conf/a.toml");
    check_links("read(src/a.rs)", "read(src/a.rs)");
    check_links("app/(auth)/page.tsx", "app/(auth)/page.tsx");
    check_links("app/[id]/page.tsx:3", "app/[id]/page.tsx:3");
    check_links("C:\\src\\a.rs:10", "C:\\src\\a.rs:10");
    check_links("请看src。然后 src/主.rs，好", "src/主.rs");
    check_links("（src/a.rs）", "src/a.rs");
    check_links("see src/a.rs…", "src/a.rs");
}

#[test]
fn positions_in_files_are_part_of_the_link() {
    check_links("foo.rs:10", "foo.rs:10");
    check_links("foo.rs:10-20", "foo.rs:10-20");
    check_links("foo.rs:10–20.", "foo.rs:10–20");
    check_links("foo.rs:10:5", "foo.rs:10:5");
    check_links("foo.rs:10:5: error", "foo.rs:10:5");
    check_links("src/a.rs:7:use std;", "src/a.rs:7");
    check_links("(foo.rs:10)", "foo.rs:10");
    check_links("foo.rs:10,", "foo.rs:10");
    check_links("foo.rs#L3-L9", "foo.rs#L3-L9");
    check_links("foo.rs: 10", "foo.rs");
    check_links("Makefile:3", "Makefile:3");
}

#[test]
fn addresses_end_before_the_rest_of_the_sentence() {
    check_links("https://a.example", "https://a.example");
    check_links("https://a.example/x.", "https://a.example/x");
    check_links("(https://a.example/x)", "https://a.example/x");
    check_links("https://a.example/x_(y)", "https://a.example/x_(y)");
    check_links("<https://a.example/x>", "https://a.example/x");
    check_links("https://a.example/x?a=1&b=2#c, then", "https://a.example/x?a=1&b=2#c");
    check_links("**https://a.example**", "https://a.example");
    check_links("请看https://a.example然后", "https://a.example");
    check_links("https://a.example/路径。", "https://a.example/路径");
    check_links("HTTP://A.EXAMPLE/", "HTTP://A.EXAMPLE/");
    check_links("http://localhost:8080/src/a.rs", "http://localhost:8080/src/a.rs");
    check_links("workspace://out/report.csv!", "workspace://out/report.csv");
    check_links("workspace://报告.csv", "workspace://报告.csv");
    check_links("https:// nothing", "");
    check_links("ftp://a.example/x.rs", "");
    check_links("xhttps://a.example", "");
}

#[test]
fn text_that_only_resembles_a_link_is_not_found() {
    for text in [
        "e.g. this",
        "i.e.",
        "1.2.3",
        "v1.2.3",
        "3.14",
        "24/7",
        "1/2",
        "2026/11/20",
        "a.b@example.com",
        "std::fmt::Display",
        "10:30",
        "note: this",
        "...",
        "..",
        "/",
        "//",
        "--flag",
        "x",
        "",
        "a:1",
        "100%",
        "C:",
        "key: value",
        "don't",
        "@name",
        "foo()",
        "::1",
    ] {
        check_links(text, "");
    }
}

#[test]
fn the_caller_can_reject_a_candidate() {
    assert_eq!(find_links("and/or https://a.example", &|_| Existence::Unknown), []);
    check_links("and/or", "and/or");
}

#[test]
fn a_path_inside_brackets_is_found_if_the_whole_word_is_not_a_path() {
    let exists = |target: &LinkTarget| match target.to_string().as_str() {
        "src/a.rs:3" => Existence::Exists,
        _ => Existence::Unknown,
    };
    let links = find_links("open(src/a.rs:3) [x]", &exists);
    assert_eq!((links.len(), links[0].range.clone()), (1, 5..15));
}

#[test]
fn a_missing_file_is_a_missing_link_and_an_unknown_word_none() {
    for (text, existing, missing, expected) in [
        ("see a/b.rs:3.", "", "a/b.rs:3", Some(("a/b.rs:3", true))),
        // The file still exists, but is shorter now.
        ("see a/b.rs:3.", "a/b.rs", "a/b.rs:3", Some(("a/b.rs", false))),
        ("see a/b.rs:3.", "", "a/b.rs", Some(("a/b.rs", true))),
        ("see a/b.rs:3.", "", "", None),
        ("see workspace:///a.md.", "", "workspace:///a.md", Some(("workspace:///a.md", true))),
    ] {
        let check = |target: &LinkTarget| match target.to_string() {
            target if target == existing => Existence::Exists,
            target if target == missing => Existence::Missing,
            _ => Existence::Unknown,
        };
        let links = find_links(text, &check);
        let found = links.first().map(|link| (&text[link.range.clone()], link.is_missing));
        assert_eq!(found, expected, "{text}: {existing} exists, {missing} is missing");
    }
}

#[test]
fn parses_a_target_and_formats_it_unchanged() {
    let file = |path: &str, line, end, column| LinkTarget::File { path: path.into(), line, end, column };
    let table = [
        ("a.rs:10-20", Some(file("a.rs", Some(10), Some(20), None))),
        ("a.rs:10:5", Some(file("a.rs", Some(10), None, Some(5)))),
        ("a.rs", Some(file("a.rs", None, None, None))),
        ("https://a.example/x y", None),
        ("https://a.example/x", Some(LinkTarget::Web("https://a.example/x".into()))),
        ("workspace://x", Some(LinkTarget::Workspace("workspace://x".into()))),
        ("file:///etc/hosts", Some(file("/etc/hosts", None, None, None))),
        ("javascript:alert(1)", None),
        ("javascript:a/b.js", None),
        ("mailto:a@b.example", None),
        ("#section", None),
        ("", None),
    ];
    for (word, expected) in table {
        assert_eq!(parse_link(word), expected, "{word}");
        if let Some(target) = expected.filter(|_| !word.starts_with("file")) {
            assert_eq!(target.to_string(), word);
        }
    }
}

/// Finds the links of a text by looking at each of its words.
fn find_links_in_all_words(text: &str, check: CheckTarget<'_>) -> Vec<FoundLink> {
    let is_separator = |c: char| c.is_whitespace() || "\"'`<>|,;*=“”‘’…".contains(c) || is_wide_punctuation(c);
    let find_in_words = |range: Range<usize>| {
        let words = split_ranges(text, range, &is_separator).into_iter();
        words.flat_map(|word| match find_path(text, word.clone(), check) {
            Some(link) => vec![link],
            None if !text[word.clone()].contains(['(', ')', '[', ']', '{', '}']) => Vec::new(),
            None => {
                let parts = split_ranges(text, word, &|c| "()[]{}".contains(c));
                parts.into_iter().filter_map(|part| find_path(text, part, check)).collect()
            }
        })
    };
    let (mut links, mut position) = (Vec::new(), 0);
    for (range, target) in find_addresses(text) {
        links.extend(find_in_words(position..range.start));
        position = range.end;
        if check(&target) == Existence::Exists {
            links.push(FoundLink { range, target, is_missing: false });
        }
    }
    links.extend(find_in_words(position..text.len()));
    links
}

#[test]
fn each_known_name_has_a_part_that_is_searched_for() {
    for name in KNOWN_NAMES {
        assert!(NAME_PARTS.iter().any(|part| part.find(name.as_bytes()).is_some()), "{name}");
        check_links(&format!("some {name}, and {name}"), &format!("{name} | {name}"));
    }
}

proptest::proptest! {
    #[test]
    fn skipping_words_without_the_bytes_of_a_path_loses_no_link(
        text in "(\\PC|[ .:#/\\\\()\\[\\]@L_*,~a1é漢，…-]|https://|://|[a-z]{1,3}\\.[a-z]{1,3}|a/b|:1|#L2|README|Makefile|CHANGELOG|LICENSE|file|\n){0,30}",
        rejected in 0..3_usize,
    ) {
        // All targets exist, or only those of one parity, so that a part of a rejected word is tried.
        let check = |target: &LinkTarget| match rejected == 2 || target.to_string().len() % 2 == rejected {
            true => Existence::Exists,
            false => Existence::Unknown,
        };
        proptest::prop_assert_eq!(find_links(&text, &check), find_links_in_all_words(&text, &check));
    }

    #[test]
    fn links_are_in_order_and_do_not_overlap(text in "(\\PC|https://|workspace://|a/b|:1|[ .:#()\\[\\]@L-]){0,40}") {
        let mut position = 0;
        for link in find_links(&text, &|_| Existence::Exists) {
            proptest::prop_assert!(link.range.start >= position && link.range.end > link.range.start);
            proptest::prop_assert!(text.get(link.range.clone()).is_some());
            position = link.range.end;
        }
    }
}
