//! The index of files and its filter.

use super::*;
use std::time::{Duration, SystemTime};

fn index_of(names: &[&str]) -> FileIndex {
    let mut builder = IndexBuilder::new(Vec::new(), SystemTime::UNIX_EPOCH);
    for name in names {
        builder.add(name, (!name.ends_with('/')).then_some(1), None);
    }
    builder.index()
}

fn names<'a>(index: &'a FileIndex, matches: &FileMatches) -> Vec<&'a str> {
    matches.best.iter().map(|(_, row)| index.name(*row as usize)).collect()
}

#[track_caller]
fn check_filter(typed: &str, files: &[&str], expected: &[&str]) {
    let index = index_of(files);
    assert_eq!(names(&index, &index.filter(typed, None)), expected, "{typed}");
}

#[test]
fn the_best_match_is_first_and_case_and_accents_count_only_if_typed() {
    check_filter("", &["b", "a"], &["b", "a"]);
    check_filter("main", &["src/domain.rs", "src/main.rs", "README"], &["src/main.rs", "src/domain.rs"]);
    check_filter("read", &["README", "thread"], &["README", "thread"]);
    check_filter("READ", &["README", "thread"], &["README"]);
    check_filter("cafe", &["café.md", "cafe.md"], &["café.md", "cafe.md"]);
    check_filter("café", &["café.md", "cafe.md"], &["café.md"]);
    check_filter("漢", &["a/漢字", "b"], &["a/漢字"]);
    check_filter("zz", &["z"], &[]);
    check_filter("a", &["b/aa", "a", "c/a"], &["a", "b/aa", "c/a"]);
}

#[test]
fn a_longer_text_is_looked_for_among_the_earlier_matches_with_the_same_result() {
    let files: Vec<String> = (0..3000).map(|n| format!("src/part{}/file{n}.rs", n % 50)).collect();
    let files: Vec<&str> = files.iter().map(String::as_str).collect();
    let index = index_of(&files);
    let mut previous = index.filter("", None);
    for typed in ["f", "fi", "fi2", "fi29", "fi29x"] {
        let narrowed = index.filter(typed, Some(&previous));
        let fresh = index.filter(typed, None);
        assert_eq!(narrowed, fresh, "{typed}");
        previous = narrowed;
    }
    // A deleted character matches more again.
    assert_eq!(index.filter("f", Some(&previous)), index.filter("f", None));
    assert_eq!(index.filter("f", None).best.len(), MAX_ROWS);
    assert_eq!(index.filter("f", None).total, 3000);
}

#[test]
fn threads_find_the_same_as_one() {
    let files: Vec<String> = (0..MIN_PARALLEL + 7).map(|n| format!("src/part{}/file{n}.rs", n % 50)).collect();
    let index = index_of(&files.iter().map(String::as_str).collect::<Vec<_>>());
    let matches = index.filter("file1999", None);
    let expected = files.iter().filter(|name| {
        let mut typed = "file1999".chars().peekable();
        name.chars().for_each(|c| _ = typed.next_if_eq(&c));
        typed.peek().is_none()
    });
    assert_eq!(matches.total, expected.count());
    assert_eq!(names(&index, &matches)[0], "src/part49/file1999.rs");
}

#[test]
fn a_filter_that_is_no_longer_wanted_stops() {
    let index = Arc::new(index_of(&["a", "b"]));
    let request = FilterRequest { index, typed: "a".into(), previous: None };
    assert_eq!(request.run(&|| false), None);
    assert_eq!(request.run(&|| true).unwrap().total, 1);
}

#[test]
fn a_folder_typed_in_full_lists_what_is_directly_in_it() {
    let files = ["a/", "a/b/", "a/b/c", "a/d", "ab/", "ab/d", "e"];
    check_filter("a/", &files, &["a/", "a/b/", "a/d"]);
    check_filter("a/b/", &files, &["a/b/", "a/b/c"]);
    check_filter("c/", &files, &[]);
    let index = index_of(&files);
    let folder = index.filter("a/", None);
    assert_eq!(names(&index, &index.filter("a/c", Some(&folder))), ["a/b/c"], "not only what is directly in it");
}

#[test]
fn files_of_the_session_and_recently_modified_ones_are_first() {
    let now = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000);
    let ago = |seconds: u64| Some(now - Duration::from_secs(seconds));
    let mut builder = IndexBuilder::new(vec!["d".into(), "workspace:///w".into(), "gone".into(), "b".into()], now);
    for (name, seconds) in [("a", 200_000), ("b", 200_000), ("c", 60), ("d", 200_000), ("e", 30), ("f", 90)] {
        builder.add(name, Some(1), ago(seconds));
    }
    builder.add("g/", None, ago(1));
    builder.add_last("workspace:///w", 5);
    assert_eq!(builder.len(), 8);
    let index = builder.index();
    assert_eq!(names(&index, &index.filter("", None)), ["d", "workspace:///w", "b", "e", "c", "f", "a", "g/"]);
    // The same score, but one of them is recent.
    let mut builder = IndexBuilder::new(vec!["src/b.rs".into()], now);
    ["src/a.rs", "src/b.rs"].iter().for_each(|name| builder.add(name, Some(1), None));
    let index = builder.index();
    assert_eq!(names(&index, &index.filter("rs", None)), ["src/b.rs", "src/a.rs"]);
    assert_eq!(names(&index, &index.filter("src/b.rs", None)), ["src/b.rs"]);
}

#[test]
fn files_written_all_at_once_are_not_recent() {
    let now = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000);
    let mut builder = IndexBuilder::new(Vec::new(), now);
    for number in (0..60).rev() {
        builder.add(&format!("f{number}"), Some(1), Some(now - Duration::from_millis(number)));
    }
    let index = builder.index();
    assert_eq!(names(&index, &index.filter("", None))[0], "f59");
    builder.add("edited", Some(1), Some(now));
    assert_eq!(builder.index().recent, [] as [u32; 0], "it may belong to them");
    let mut builder = IndexBuilder::new(Vec::new(), now);
    for number in 0..60 {
        builder.add(&format!("f{number}"), Some(1), Some(now - Duration::from_secs(60)));
    }
    builder.add("edited", Some(1), Some(now));
    assert_eq!(builder.index().recent, [60]);
}

#[test]
fn rows_have_a_size_and_text_has_an_estimate_of_its_tokens() {
    let mut builder = IndexBuilder::new(Vec::new(), SystemTime::UNIX_EPOCH);
    for (name, size) in
        [("a.rs", Some(10)), ("b.md", Some(48_300)), ("c.PNG", Some(2_000)), ("d.pdf", Some(0)), ("e/", None)]
    {
        builder.add(name, size, None);
    }
    let index = builder.index();
    let described: Vec<_> = (0..6).map(|row| index.describe(row)).collect();
    assert_eq!(described, ["10 bytes · ~3 tokens", "48.3 kB · ~13k tokens", "2.0 kB", "0 bytes", "", ""]);
}

#[test]
fn r34_names_are_sanitized() {
    let index = index_of(&["a\x1b[2J\u{202e}b"]);
    assert!(!index.name(0).contains(['\x1b', '\u{202e}']), "{}", index.name(0));
    assert_eq!((index.name(1), index.describe(7)), ("", String::new()));
}
