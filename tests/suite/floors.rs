//! Which floor may import which, which files do no I/O, and the form and length of files.

mod circles;
mod file_graph;
mod platforms;

use std::fs;
use std::path::{Path, PathBuf};

/// The floors that each floor may import. `*` is every floor.
const FLOORS: &[(&str, &[&str])] = &[
    ("text", &[]),
    ("chat", &["text"]),
    ("policy", &["text", "chat"]),
    ("agent", &["text", "chat", "policy"]),
    ("project", &["text", "chat"]),
    ("demo", &["text", "chat", "policy"]),
    ("llm", &["text", "chat", "demo", "web"]),
    ("documents", &["text", "chat", "project"]),
    ("doc_index", &["text"]),
    ("web", &["text", "project", "documents"]),
    ("browser", &["text", "project", "web"]),
    ("mcp", &["text", "chat", "project", "web", "store"]),
    ("store", &["text", "chat"]),
    ("config", &["text", "chat", "policy", "store"]),
    ("workspace", &["text", "chat", "store"]),
    (
        "tools",
        &[
            "text",
            "chat",
            "policy",
            "project",
            "documents",
            "doc_index",
            "web",
            "browser",
            "mcp",
            "workspace",
            "manual",
        ],
    ),
    ("runtime", &["text", "chat", "policy", "agent", "project", "documents", "llm", "store", "workspace", "tools"]),
    ("print", &["text", "chat", "agent", "runtime"]),
    ("acp", &["text", "chat", "agent", "runtime", "mcp"]),
    ("manual", &[]),
    ("recording", &["text"]),
    ("tui", &["text", "chat", "policy", "agent", "runtime", "config", "manual", "recording", "demo"]),
    ("cli", &["chat", "config", "manual", "recording", "demo"]),
    (
        "assemble",
        &[
            "text",
            "chat",
            "policy",
            "agent",
            "project",
            "documents",
            "llm",
            "web",
            "browser",
            "mcp",
            "store",
            "config",
            "workspace",
            "tools",
            "runtime",
            "print",
            "tui",
            "cli",
            "demo",
            "recording",
        ],
    ),
    ("commands", &["*"]),
];

/// Files and folders without I/O, clock and async.
const PURE: &[&str] = &[
    "text/",
    "chat/",
    "policy/",
    "agent/",
    "demo/",
    "tui/state",
    "tui/focus",
    "tui/update",
    "tui/view",
    "tui/parts/",
    "tui/prompts/",
    "tui/text/",
    "tui/keys/",
    "tui/theme.rs",
    "tui/graphics/",
    "tui/terminal_clipboard",
    "tui/workspace_data",
    "tui/demo_player/pending_work",
    "tui/demo_player/schedule",
    "tui/demo_player/script_position",
    "tui/recorder/chapters",
    "tui/recorder/masking",
    "tui/replay/frame_search",
    "tui/replay/playback",
    "recording/cast.rs",
];

/// Names that do not occur in the files of `PURE`.
const IMPURE: &[&str] = &[
    "std::fs",
    "std::net",
    "std::env",
    "Instant::now",
    "SystemTime",
    "tokio::",
    "async fn",
    "std::process",
    "std::thread",
];

/// Files that are longer than they should be. This list may only shrink.
const LONG: &[&str] = &[];

/// Maximum lines of a file.
const MAX_LINES: usize = 400;

/// Returns all files of `src`, sorted: the path below `src`, and the text.
fn read_sources() -> Vec<(String, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    let mut folders: Vec<PathBuf> = vec![root.clone()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|ending| ending == "rs") {
                let name = path.strip_prefix(&root).unwrap().to_string_lossy().into_owned();
                files.push((name, fs::read_to_string(&path).unwrap()));
            }
        }
    }
    assert!(files.len() > 20, "the sources were not found");
    files.sort();
    files
}

/// The code of a file without its tests and comments; tests may depend on any module.
fn code_without_tests(text: &str) -> String {
    let end = text.find("#[cfg(test)]\nmod tests {").unwrap_or(text.len());
    let without_comment = |line: &str| line.split("//").next().unwrap_or_default().to_owned();
    text[..end].lines().map(without_comment).collect::<Vec<_>>().join("\n")
}

/// The top-level modules that this code names as `crate::module`, also within braces.
fn named_modules(code: &str) -> Vec<String> {
    let mut names = Vec::new();
    for (at, _) in code.match_indices("crate::") {
        let remaining = &code[at + "crate::".len()..];
        let word =
            |text: &str| -> String { text.trim().chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect() };
        match remaining.strip_prefix('{') {
            Some(list) => {
                let list = list.split('}').next().unwrap_or_default();
                names.extend(list.split(',').map(word).filter(|name| !name.is_empty()));
            }
            None => names.push(word(remaining)),
        }
    }
    names
}

fn is_test(file: &str) -> bool {
    file.contains("/tests/") || file.ends_with("/tests.rs") || file.contains("_tests")
}

#[test]
fn a_floor_names_only_what_stands_below_it() {
    let mut failures = Vec::new();
    for (file, text) in read_sources() {
        let floor = file.split(['/', '.']).next().unwrap_or_default();
        if is_test(&file) || ["main", "lib", "bin"].contains(&floor) {
            continue;
        }
        let Some((_, allowed)) = FLOORS.iter().find(|(name, _)| *name == floor) else {
            failures.push(format!("{file}: no such floor"));
            continue;
        };
        for name in named_modules(&code_without_tests(&text)) {
            let known = FLOORS.iter().any(|(floor, _)| *floor == name);
            if known && name != floor && !allowed.contains(&name.as_str()) && !allowed.contains(&"*") {
                failures.push(format!("{file} names {name}"));
            }
        }
    }
    assert!(failures.is_empty(), "{failures:#?}");
}

#[test]
fn a_floor_does_not_export_what_belongs_to_another() {
    let mut failures = Vec::new();
    for (file, text) in read_sources() {
        let floor = file.split(['/', '.']).next().unwrap_or_default();
        for line in text.lines().filter(|line| line.trim_start().starts_with("pub use crate::")) {
            if named_modules(line).iter().any(|name| name != floor) {
                failures.push(format!("{file}: {line}"));
            }
        }
    }
    assert!(failures.is_empty(), "{failures:#?}");
}

#[test]
fn pure_files_name_no_input_output_clock_or_async() {
    let mut failures = Vec::new();
    for (file, text) in read_sources() {
        let is_in = |pure: &&str| file.starts_with(*pure) || file.strip_suffix(".rs") == pure.strip_suffix('/');
        if is_test(&file) || !PURE.iter().any(is_in) {
            continue;
        }
        let code = code_without_tests(&text);
        failures.extend(IMPURE.iter().filter(|word| code.contains(**word)).map(|word| format!("{file} names {word}")));
    }
    assert!(failures.is_empty(), "{failures:#?}");
}

#[test]
fn every_file_says_what_it_is_for_and_stays_short() {
    let mut failures = Vec::new();
    for (file, text) in read_sources() {
        if !text.starts_with("//! ") {
            failures.push(format!("{file} does not open with what it is for"));
        }
        let lines = text.lines().count();
        if lines > MAX_LINES && !LONG.contains(&file.as_str()) {
            failures.push(format!("{file} has {lines} lines; {MAX_LINES} is the limit"));
        }
        if lines <= MAX_LINES && LONG.contains(&file.as_str()) {
            failures.push(format!("{file} is short now: take it off the list"));
        }
    }
    assert!(failures.is_empty(), "{failures:#?}");
}

#[test]
fn no_colour_is_named_outside_the_themes() {
    let mut failures = Vec::new();
    for (file, text) in read_sources() {
        // These translate to and from escape sequences, whatever the colour.
        let is_translation = file.starts_with("tui/canvas/cell_style")
            || ["tui/text/output/sgr.rs", "recording/frames.rs"].contains(&file.as_str());
        if file.starts_with("tui/theme/") || is_translation || is_test(&file) {
            continue;
        }
        let code = code_without_tests(&text);
        failures.extend(
            ["Color::", "Colors::", ".red()", ".green()", ".yellow()", ".blue()", ".cyan()", ".magenta()"]
                .iter()
                .filter(|word| code.contains(**word))
                .map(|word| format!("{file} names {word}")),
        );
    }
    assert!(failures.is_empty(), "{failures:#?}");
}

/// The test harness hides what `println!` and `eprintln!` write in a test that passes.
#[test]
fn a_test_that_is_left_out_says_so_where_it_is_seen() {
    let mut failures = Vec::new();
    for (file, text) in read_sources() {
        let reports = text.lines().filter(|line| line.to_lowercase().contains("\"left out"));
        let unseen = reports.filter(|line| !line.contains("\"LEFT OUT: ") || line.contains("println!"));
        failures.extend(unseen.map(|line| format!("{file}: {}", line.trim())));
    }
    assert!(failures.is_empty(), "{failures:#?}");
}

#[test]
fn nothing_is_left_open() {
    let mut failures = Vec::new();
    for (file, text) in read_sources() {
        for word in ["todo!", "unimplemented!", "FIXME", "XXX"] {
            if text.contains(word) {
                failures.push(format!("{file} has {word}"));
            }
        }
    }
    assert!(failures.is_empty(), "{failures:#?}");
}
