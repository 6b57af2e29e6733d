//! Benchmark of `@` in a project of 200,000 files: the filter of one key, and the index of the files.

use aye::tui::file_index::{FileIndex, FileMatches, IndexBuilder};
use criterion::{Criterion, criterion_group, criterion_main};
use std::hint::black_box;
use std::time::SystemTime;

const FILES: usize = 200_000;
const TOP_FOLDERS: [&str; 8] = ["src", "crates", "packages", "tests", "docs", "third_party", "services", "tools"];
const FOLDERS: [&str; 16] = [
    "core",
    "api",
    "client",
    "server",
    "storage",
    "network",
    "render",
    "layout",
    "parser",
    "runtime",
    "config",
    "auth",
    "session",
    "widgets",
    "migrations",
    "components",
];
const NAMES: [&str; 12] = [
    "handler",
    "main",
    "mod",
    "utils",
    "types",
    "error",
    "request",
    "user_profile",
    "retry_policy",
    "connection",
    "controller",
    "test_fixtures",
];
const ENDINGS: [&str; 6] = ["rs", "ts", "tsx", "py", "md", "json"];

/// Returns paths of two to five folders and about 40 bytes, the same in every run.
fn paths() -> Vec<String> {
    let mut seed = 1_u64;
    let mut pick = move |count: usize| {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        usize::try_from(seed >> 8).unwrap_or_default() % count
    };
    let path = |number: usize| {
        let mut path = TOP_FOLDERS[pick(TOP_FOLDERS.len())].to_owned();
        for _ in 0..=pick(4) {
            path.push('/');
            path.push_str(FOLDERS[pick(FOLDERS.len())]);
        }
        format!("{path}/{}_{}.{}", NAMES[pick(NAMES.len())], number % 977, ENDINGS[pick(ENDINGS.len())])
    };
    (0..FILES).map(path).collect()
}

fn build(paths: &[String]) -> FileIndex {
    let mut builder = IndexBuilder::new(Vec::new(), SystemTime::UNIX_EPOCH);
    for path in paths {
        builder.add(path, Some(1_000), None);
    }
    builder.index()
}

fn measure(criterion: &mut Criterion) {
    let paths = paths();
    let index = build(&paths);
    let mut group = criterion.benchmark_group("picker of 200,000 files");
    group.sample_size(20);
    group.bench_function("build the index", |bencher| bencher.iter(|| build(black_box(&paths)).len()));
    // Each key narrows the matches of the keys before it.
    for text in ["retry", "mainrs", "sessionhandler", "zq"] {
        for (end, _) in text.char_indices() {
            let typed = &text[..=end];
            let previous: Option<FileMatches> = (end > 0).then(|| index.filter(&text[..end], None));
            group.bench_function(format!("key {typed}"), |bencher| {
                bencher.iter(|| index.filter(black_box(typed), previous.as_ref()).total);
            });
        }
    }
    // A text that is pasted or whose beginning was changed.
    for typed in ["src/core/main.rs", "storageconfig", "Handler"] {
        group.bench_function(format!("text {typed}"), |bencher| {
            bencher.iter(|| index.filter(black_box(typed), None).total);
        });
    }
    group.finish();
}

criterion_group!(benches, measure);
criterion_main!(benches);
