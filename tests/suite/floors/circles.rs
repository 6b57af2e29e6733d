//! No more than three files import each other.

use std::collections::BTreeSet;

use super::file_graph::{FileGraph, build_graph};
use super::{is_test, read_sources};

/// Maximum files that may import each other.
const MAX_FILES: usize = 3;

/// Known larger circles: the first file by name, and the number of files. This list may only shrink.
const CIRCLES: &[(&str, usize)] = &[];

/// Finds the groups of files in which each file leads to each other one.
pub fn find_circles(graph: &FileGraph) -> Vec<Vec<String>> {
    let reached: Vec<(&String, BTreeSet<&String>)> = graph.keys().map(|file| (file, reach(graph, file))).collect();
    let mut circles = BTreeSet::new();
    for (file, targets) in &reached {
        let is_mutual = |other: &&(&String, BTreeSet<&String>)| targets.contains(other.0) && other.1.contains(file);
        let circle: Vec<String> = reached.iter().filter(is_mutual).map(|(file, _)| (*file).clone()).collect();
        if circle.len() > 1 {
            circles.insert(circle);
        }
    }
    circles.into_iter().collect()
}

/// Lists the files that `start` leads to, itself only if it is on a circle.
fn reach<'g>(graph: &'g FileGraph, start: &'g String) -> BTreeSet<&'g String> {
    let mut reached_files = BTreeSet::new();
    let mut open = vec![start];
    while let Some(file) = open.pop() {
        open.extend(
            graph.get(file).into_iter().flat_map(|arrows| arrows.keys()).filter(|next| reached_files.insert(*next)),
        );
    }
    reached_files
}

/// Describes the circle as `file -> file: names`, one line per arrow.
pub fn describe_circle(graph: &FileGraph, circle: &[String]) -> String {
    let mut lines = vec![format!("{} files that import each other:", circle.len())];
    for file in circle {
        for (target, names) in graph[file].iter().filter(|(target, _)| circle.contains(target)) {
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            lines.push(format!("  {file} -> {target}: {}", names.join(", ")));
        }
    }
    lines.join("\n")
}

/// Lists what is wrong: circles that are new or have grown, and entries of `known` that are out of date.
fn compare_circles(graph: &FileGraph, known: &[(&str, usize)]) -> Vec<String> {
    let circles = find_circles(graph);
    let mut failures = Vec::new();
    for circle in circles.iter().filter(|circle| circle.len() > MAX_FILES) {
        let listed = known.iter().find(|(first, _)| *first == circle[0]).map_or(MAX_FILES, |(_, files)| *files);
        if circle.len() > listed {
            failures.push(describe_circle(graph, circle));
        }
    }
    for (first, files) in known {
        let now = circles.iter().find(|circle| circle[0] == *first).map_or(0, Vec::len);
        if now < *files {
            failures.push(format!("the circle of {first} has {now} files, {files} are listed: shorten the list"));
        }
    }
    failures
}

#[test]
fn at_most_three_files_import_each_other() {
    let sources: Vec<_> = read_sources().into_iter().filter(|(file, _)| !is_test(file)).collect();
    let failures = compare_circles(&build_graph(&sources), CIRCLES);
    assert!(failures.is_empty(), "{}", failures.join("\n\n"));
}

fn graph_of(files: &[(&str, &str)]) -> FileGraph {
    build_graph(&files.iter().map(|(file, text)| ((*file).to_owned(), (*text).to_owned())).collect::<Vec<_>>())
}

/// Asserts the arrows of the graph, as `from -> to: names`.
fn assert_arrows(files: &[(&str, &str)], expected: &[&str]) {
    let mut arrows = Vec::new();
    for (file, targets) in graph_of(files) {
        for (target, names) in targets {
            arrows.push(format!("{file} -> {target}: {}", names.into_iter().collect::<Vec<_>>().join(", ")));
        }
    }
    assert_eq!(arrows, expected);
}

#[test]
fn imports_and_paths_lead_to_the_deepest_file() {
    assert_arrows(
        &[
            ("lib.rs", "pub mod a; pub mod b;"),
            ("a.rs", "mod deep; use crate::b::{self, c::{D, E as F}}; fn f() { b::g(); deep::h::<D>(super::b::c::i) }"),
            ("a/deep.rs", "use super::f;\npub fn h() { self::k(); crate::b::c::D::new() }"),
            ("b.rs", "pub mod c; pub fn g() {}"),
            ("b/c.rs", "pub struct D; pub struct E; pub fn i() {}"),
        ],
        &[
            "a.rs -> a/deep.rs: h",
            "a.rs -> b.rs: g",
            "a.rs -> b/c.rs: D, E, i",
            "a/deep.rs -> a.rs: f",
            "a/deep.rs -> b/c.rs: D",
        ],
    );
}

#[test]
fn a_re_exported_name_leads_to_the_file_that_defines_it() {
    assert_arrows(
        &[
            ("a/mod.rs", "mod state; mod turn; mod all; pub use state::State; pub use all::*; pub fn update() {}"),
            ("a/state.rs", "pub struct State;"),
            ("a/all.rs", "pub const LIMIT: u8 = 1;"),
            ("a/turn.rs", "use super::{State, LIMIT, update};"),
        ],
        &[
            "a/mod.rs -> a/all.rs: *",
            "a/turn.rs -> a/all.rs: LIMIT",
            "a/turn.rs -> a/mod.rs: update",
            "a/turn.rs -> a/state.rs: State",
        ],
    );
}

#[test]
fn comments_strings_tests_and_other_crates_are_no_imports() {
    assert_arrows(
        &[
            (
                "a.rs",
                "//! See crate::b::X.\n/* crate::b::X */\nuse std::fs; use ::b::X;\nconst S: &'static str = \"crate::b::X\";\n\
                 const R: &str = r#\"\" crate::b::X\"#; const C: char = '\"';\n#[cfg(test)]\nuse crate::b::{X};\n\
                 #[cfg(test)]\nmod tests { use crate::b::X; fn f() { super::b::X; } }\nmod inner { use super::Y; }\n\
                 fn last() { super::b::Z }",
            ),
            ("b.rs", "pub struct X;"),
        ],
        &["a.rs -> b.rs: Z"],
    );
}

#[test]
fn circles_are_listed_with_their_size_and_may_only_shrink() {
    let graph = graph_of(&[
        ("a.rs", "use crate::b::B;"),
        ("b.rs", "use crate::c::C;"),
        ("c.rs", "use crate::d::D;"),
        ("d.rs", "use crate::a::A; use crate::e::E;"),
        ("e.rs", "use crate::f::F;"),
        ("f.rs", "use crate::e::E;"),
    ]);
    assert_eq!(find_circles(&graph), [vec!["a.rs", "b.rs", "c.rs", "d.rs"], vec!["e.rs", "f.rs"]]);
    let count = |known: &[(&str, usize)]| compare_circles(&graph, known).len();
    assert_eq!(count(&[("a.rs", 4)]), 0);
    assert_eq!(count(&[]), 1, "a circle of four must be listed");
    assert_eq!(count(&[("a.rs", 5)]), 1, "a smaller circle must be listed as smaller");
    assert_eq!(count(&[("a.rs", 4), ("g.rs", 4)]), 1, "a dissolved circle must be taken off the list");
}
