//! Which modules name what only Linux has, and that such calls are compiled on Linux only.

use super::{code_without_tests, is_test, read_sources};
use std::collections::BTreeSet;

/// Modules that distinguish Linux from other systems, each for one concern. The comment at the top of each file says what
/// happens on other systems.
const MODULES: &[&str] = &[
    "browser",
    "documents/reader_program",
    "llm/client",
    "llm/timeouts",
    "main",
    "project/apply/live_change",
    "project/change_times",
    "project/command_terminal",
    "project/guard",
    "project/network_namespace",
    "project/overlay_sandbox",
    "project/parent_exit",
    "project/patch/git_names",
    "project/path_handle",
    "project/process_set",
    "project/rehearsal",
    "project/sandbox",
    "project/sensitive_files",
    "project/trial",
    "store/overlay_copy",
    "store/private_files/temporary_folder",
];

/// Files that name a path of Linux as text of a command line, and do not open it.
const TEXTS: &[&str] = &["policy/effects/refusals.rs"];

/// Names that rustix and other crates have on Linux, but not on Apple systems.
const CALLS: &[&str] = &[
    "rustix::mount",
    "rustix::thread",
    "rustix::net",
    "std::os::linux",
    "landlock::",
    "seccompiler",
    "libc::",
    "tokio_websockets",
    "pidfd",
    "memfd",
    "signalfd",
    "eventfd",
    "epoll::",
    "inotify::",
    "parent_process_death_signal",
    "child_subreaper",
    "dumpable_behavior",
    "pivot_root",
    "Boottime",
    "OFlags::PATH",
    "OFlags::TMPFILE",
    "OFlags::NOATIME",
    "openat2",
    "ResolveFlags",
    "statx",
    "StatxFlags",
    "syncfs",
    "mknodat",
    "mkfifoat",
    "sysinfo",
    "netlink",
    "SocketFlags",
    "socket_with",
    "accept_with",
    "pipe_with",
    "dup3",
    "CMSG_CLOEXEC",
    "fdatasync",
    "copy_file_range",
    "sendfile",
    "fallocate",
    "RawDir",
    "UnshareFlags",
    "CapabilitySet",
    "gettid",
    "set_thread_",
    "RDHUP",
    "OpenptFlags::CLOEXEC",
    "tcp_user_timeout",
];

/// Other names of what only Linux has.
const NAMES: &[&str] = &["target_os = \"linux\"", "target_os = \"android\"", "\"/proc", "\"/sys"];

const LINUX: &[&str] =
    &["#[cfg(target_os = \"linux\")]", "#[cfg(any(target_os = \"linux\", target_os = \"android\"))]"];

/// Removes the items and statements that have one of these attributes.
fn remove_items(code: &str, attributes: &[&str]) -> String {
    let mut code = code.to_owned();
    while let Some((start, attribute)) =
        attributes.iter().filter_map(|attribute| Some((code.find(attribute)?, attribute))).min()
    {
        let after = start + attribute.len();
        let end = after + find_item_end(&code.as_bytes()[after..]);
        code.replace_range(start..end, "");
    }
    code
}

/// Returns the length of the item, statement or argument at the start: up to its closing brace, its semicolon or comma, or
/// the end of the block that it is in.
fn find_item_end(code: &[u8]) -> usize {
    let start = code.trim_ascii_start();
    let is_statement = start.starts_with(b"let ") || start.starts_with(b"return ");
    let is_argument = !is_statement
        && !["fn", "pub", "async", "unsafe", "use", "mod", "impl", "const", "static", "struct", "enum", "#"]
            .iter()
            .any(|word| start.starts_with(word.as_bytes()));
    let mut depth = 0;
    let mut at = 0;
    while at < code.len() {
        match code[at] {
            b'"' => {
                at += 1;
                while at < code.len() && code[at] != b'"' {
                    at += if code[at] == b'\\' { 2 } else { 1 };
                }
            }
            // A character, not a lifetime.
            b'\'' if code.get(at + 1) == Some(&b'\\') => at += 3,
            b'\'' if code.get(at + 2) == Some(&b'\'') => at += 2,
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' if depth == 0 => return at,
            byte @ (b')' | b']' | b'}') => {
                depth -= 1;
                if depth == 0 && byte == b'}' && !is_statement {
                    return at + 1;
                }
            }
            b';' if depth == 0 => return at + 1,
            b',' if depth == 0 && is_argument => return at + 1,
            _ => {}
        }
        at += 1;
    }
    code.len()
}

/// Returns the modules, as paths without an ending, that are declared for Linux only.
fn list_linux_modules(sources: &[(String, String)]) -> BTreeSet<String> {
    let mut modules = BTreeSet::new();
    for (file, text) in sources {
        let parent = match file.strip_suffix(".rs").unwrap_or(file) {
            "lib" | "main" => String::new(),
            parent => format!("{parent}/"),
        };
        for attribute in LINUX {
            for (at, _) in text.match_indices(attribute) {
                let item = text[at + attribute.len()..].trim_start();
                let declaration = item.lines().next().unwrap_or_default();
                if let Some((_, name)) = declaration.strip_suffix(';').and_then(|text| text.split_once("mod ")) {
                    modules.insert(format!("{parent}{name}"));
                }
            }
        }
    }
    assert!(modules.len() > 10, "the modules for Linux were not found: {modules:?}");
    modules
}

fn is_within(file: &str, module: &str) -> bool {
    file.strip_prefix(module).is_some_and(|rest| rest == ".rs" || rest.starts_with('/'))
}

#[test]
fn what_only_linux_has_is_compiled_on_linux_only() {
    let sources = read_sources();
    let modules = list_linux_modules(&sources);
    let mut failures = Vec::new();
    for (file, text) in &sources {
        if is_test(file) || modules.iter().any(|module| is_within(file, module)) {
            continue;
        }
        let code = remove_items(&code_without_tests(text), &[LINUX, &["#[cfg(test)]"]].concat());
        failures.extend(CALLS.iter().filter(|name| code.contains(**name)).map(|name| format!("{file} names {name}")));
    }
    assert!(failures.is_empty(), "not within #[cfg(target_os = \"linux\")]: {failures:#?}");
}

#[test]
fn linux_is_named_only_by_modules_that_say_what_other_systems_do() {
    let sources = read_sources();
    let mut failures = Vec::new();
    let mut unused: BTreeSet<&str> = MODULES.iter().chain(TEXTS).copied().collect();
    for (file, text) in &sources {
        if is_test(file) {
            continue;
        }
        let mut code = remove_items(&code_without_tests(text), &["#[cfg(test)]"]);
        // The declaration of a module for Linux names nothing of it.
        for attribute in LINUX {
            for visibility in ["", "pub ", "pub(super) ", "pub(crate) "] {
                code = code.replace(&format!("{attribute}\n{visibility}mod "), "mod ");
            }
        }
        let names: Vec<&&str> = CALLS.iter().chain(NAMES).filter(|name| code.contains(**name)).collect();
        if names.is_empty() {
            continue;
        }
        match MODULES.iter().find(|module| is_within(file, module)) {
            Some(module) => _ = unused.remove(module),
            None if TEXTS.contains(&file.as_str()) => _ = unused.remove(file.as_str()),
            None => failures.push(format!("{file} names {names:?}")),
        }
    }
    failures.extend(unused.into_iter().map(|module| format!("{module} names nothing of Linux: take it off the list")));
    for module in MODULES {
        let (_, text) = sources.iter().find(|(file, _)| *file == format!("{module}.rs")).expect(module);
        let comment: Vec<&str> = text.lines().map_while(|line| line.strip_prefix("//!")).map(str::trim).collect();
        if !comment.join(" ").to_lowercase().contains("other systems") {
            failures.push(format!("{module}.rs does not say what happens on other systems"));
        }
    }
    assert!(failures.is_empty(), "{failures:#?}");
}

#[test]
fn items_for_linux_are_removed_up_to_their_end() {
    for (code, expected) in [
        ("a;\n#[cfg(target_os = \"linux\")]\nfn f(x: &'static str) -> [u8; 2] { g('}', \"}\\\"\"); }\nb", "a;\n\nb"),
        ("{ #[cfg(target_os = \"linux\")]\n let x = [1, 2];\n let y = 3; }", "{ \n let y = 3; }"),
        ("#[cfg(target_os = \"linux\")]\nfn f() -> R<(), E> { g }\nb", "\nb"),
        ("{ #[cfg(target_os = \"linux\")]\n let x = if a { b } else { c };\n d }", "{ \n d }"),
        ("f(#[cfg(target_os = \"linux\")] A, B)", "f( B)"),
        ("{ #[cfg(target_os = \"linux\")] x }", "{ }"),
        ("#[cfg(not(target_os = \"linux\"))]\nx;", "#[cfg(not(target_os = \"linux\"))]\nx;"),
        ("#[cfg(target_os = \"linux\")]\n{ a; { b } }\nc", "\nc"),
    ] {
        assert_eq!(remove_items(code, LINUX), expected);
    }
}
