//! The page `/files` in the real program: the list, previews of each kind of file, versions and keys.

use crate::support::program::{Program, Setup};
use crate::support::service::Answer;
use crate::support::stored_files::{read_session, write_script};
use crate::support::terminal_session::{calls_answer_after, submit_message, text_answer};
use crate::support::user::User;
use crate::workspaces::{SESSION, add_session, open_workspace, target};
use aye::chat::Entry;
use aye::text::workspace_address::WorkspacePath;
use aye::workspace::{NewFile, Origin, Replaces};
use serde_json::json;
use std::time::Duration;

/// Start of a PNG picture of 1280 × 720 pixels.
const PNG: &[u8] = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\x05\0\0\0\x02\xd0\x08\x02\0\0\0";

/// A user with a session.
fn user_with_session() -> User {
    let user = User::new(Vec::new());
    add_session(&user.setup(&[]));
    user
}

/// Stores a file in the workspace of the session, as another program does.
fn store(user: &User, path: &str, content: &[u8]) -> String {
    let workspace = open_workspace(&user.setup(&[]));
    let (path, origin) = (WorkspacePath::parse(path).unwrap(), Origin { tool: "a test".into(), ..Origin::default() });
    workspace
        .write(&NewFile { path: &path, bytes: content, origin, replaces: Replaces::Any, media_type: None })
        .unwrap()
        .id
}

/// Starts the program in the session and opens the list.
fn open_files(setup: Setup) -> Program {
    let mut program = setup.start();
    program.until("ask mode");
    submit_message(&mut program, "/files");
    program.until("Files of this session");
    program
}

/// Continues the session.
fn resume(user: &User) -> Setup {
    user.setup(&["--resume", SESSION])
}

#[test]
fn files_are_listed_by_folder_filtered_and_read() {
    let user = user_with_session();
    store(&user, "reports/q1.md", b"# Quarter\n\nAll **good**.\n");
    store(&user, "reports/q1.md", b"# Quarter one\n\nAll **good**.\n");
    store(&user, "reports/2026/data.csv", b"name,count\nalpha,1\nbeta,20\n");
    store(&user, "zebra.txt", b"stripes\n");
    let mut program = open_files(resume(&user));
    let screen = program.until_all(&["zebra.txt", "▾ 2026/", "3 files · "]);
    let position = |text: &str| screen.find(text).unwrap_or_else(|| panic!("{text}: {screen}"));
    let order = ["zebra.txt", "▾ reports/", "q1.md", "▾ 2026/", "data.csv"].map(position);
    assert!(order.is_sorted(), "{screen}");
    assert!(screen.contains("29 bytes · version 2"), "{screen}");
    program.type_text("2026");
    let screen = program.until("1 of 3");
    assert!(screen.contains("reports/2026/data.csv"), "{screen}");
    program.press_keys("\r");
    let screen = program.until_all(&["name  │ count", "beta  │    20"]);
    assert!(screen.contains("text/csv · 27 bytes"), "{screen}");
    program.press_keys("q");
    program.until("1 of 3");
    program.press_keys("\x1b");
    program.until_gone("Files of this session");
}

#[test]
fn each_kind_of_file_has_its_preview() {
    let user = user_with_session();
    let numbers = (0..5000).map(|number| format!("{{\"number\":{number},\"list\":[[{number}]]}}")).collect::<Vec<_>>();
    let log: String = (0..30_000).map(|line| format!("line {line}\n")).collect();
    let table: String = std::iter::once("a,b\n".to_owned()).chain((0..2000).map(|row| format!("{row},x\n"))).collect();
    let mut zip = b"PK\x03\x04".to_vec();
    zip.resize(400_000, 0);
    for (path, content) in [
        ("a.md", &b"# Heading\n\n- **bold** item\n"[..]),
        ("b.rs", b"fn main() {}\n"),
        ("c.csv", table.as_bytes()),
        ("d.tsv", b"x\ty\n1\tz\n"),
        ("e.json", b"{\"a\":[1,2],\"b\":{\"c\":[{}]}}"),
        ("f.json", format!("[{}]", numbers.join(",")).as_bytes()),
        ("g.log", log.as_bytes()),
        ("h.png", PNG),
        ("i.zip", &zip),
        ("j.json", b"{\"never\": closed"),
        ("k.txt", b""),
        ("l.csv", b"a,\"never closed\n"),
    ] {
        store(&user, path, content);
    }
    let mut program = open_files(resume(&user));
    program.until("12 files");
    for (name, shown, hidden) in [
        ("a.md", &["Heading", "• bold item"][..], "**"),
        ("b.rs", &["fn main() {}", "text/plain · 13 bytes"], "omitted"),
        ("c.csv", &["a │ b", "  0 │ x"], "a,b"),
        ("d.tsv", &["x │ y", "1 │ z"], "\t"),
        ("e.json", &["\"a\": [1, 2],", "  \"c\": [", "{}"], "[1,2]"),
        ("f.json", &["\"number\": 0,", "application/json"], "{\"number\""),
        ("g.log", &["line 0", "line 1"], "\u{0}"),
        ("h.png", &["image/png · 1280 × 720 · 29 bytes", "A picture."], "IHDR"),
        ("i.zip", &["application/zip · 400.0 kB", "This file is not text."], "PK<U+0003>"),
        ("j.json", &["{\"never\": closed"], "Cannot"),
        ("k.txt", &["text/plain · 0 bytes"], "Cannot"),
        ("l.csv", &["a,\"never closed"], "│ \"never"),
    ] {
        program.type_text(name);
        program.until("1 of 12");
        program.press_keys("\r");
        let open_hint = if matches!(name, "e.json" | "f.json") { "ctrl-o open" } else { "enter open" };
        let screen = program.until_all(&[&[name], shown, &[open_hint, "alt-y copy"]].concat());
        assert!(!screen.contains(hidden), "{name}: {screen}");
        let end = match name {
            "c.csv" => Some("after the first 1000 rows."),
            "f.json" => Some("after the first 20000 lines."),
            "g.log" => Some("after the first 256.0 kB."),
            _ => None,
        };
        if let Some(end) = end {
            program.press_keys("G");
            program.until(end);
        }
        program.press_keys("q");
        program.until("1 of 12");
        program.press_keys("\x15");
        program.until("12 files");
    }
}

#[test]
fn folders_collapse_and_expand() {
    let user = user_with_session();
    for path in ["reports/q1.md", "reports/2026/data.csv", "zebra.txt"] {
        store(&user, path, b"text");
    }
    let mut program = open_files(resume(&user));
    program.until("3 files · ");
    // From the last file up to the one in the inner folder, to that folder, and to the one around it.
    program.press_keys("\x1b[A");
    program.press_keys("\x1b[D");
    program.until("enter/← collapse · alt-u collapse all");
    program.press_keys("\x1b[D");
    program.press_keys("\x1b[D");
    program.press_keys("\x1b[D");
    let screen = program.until_all(&["▸ reports/", "2 files · 8 bytes", "enter/→ expand · alt-u expand all"]);
    assert!(!screen.contains("q1.md") && !screen.contains("2026/"), "{screen}");
    // A folder stays collapsed when another program adds a file to it.
    store(&user, "reports/q2.md", b"text");
    let screen = program.until_all(&["▸ reports/", "3 files · 12 bytes"]);
    assert!(!screen.contains("q2.md"), "{screen}");
    program.type_text("q1");
    program.until_all(&["reports/q1.md", "1 of 4"]);
    program.press_keys("\x15");
    let screen = program.until("▸ reports/");
    assert!(!screen.contains("q1.md"), "{screen}");
    program.press_keys("\x1bu");
    program.until_all(&["▾ reports/", "q1.md", "▾ 2026/", "data.csv"]);
    program.press_keys("\x1bu");
    program.until("▸ reports/");
    // The cursor went to the first row with the filter.
    program.press_keys("\x1b[B");
    program.press_keys("\r");
    program.until_all(&["▾ reports/", "▸ 2026/"]);
}

#[test]
fn key_help_of_the_files_lists_each_key_once() {
    let user = user_with_session();
    store(&user, "reports/q1.md", b"text");
    let mut program = open_files(resume(&user).size(80, 50));
    program.until("1 file · ");
    program.press_keys("\x1bOP");
    let screen = program.until_all(&["Key bindings", "Expand all, or collapse all", "Stop turn; twice to quit"]);
    for key in ["ctrl-o", "alt-y", "alt-u", "left", "right", "page-up", "ctrl-home"] {
        let count = screen.split_whitespace().filter(|word| *word == key).count();
        assert_eq!(count, 1, "{key}: {screen}");
    }
}

#[test]
fn values_of_json_collapse_and_expand() {
    let user = user_with_session();
    let rows: Vec<serde_json::Value> = (0..2431).map(|id| json!({ "id": id, "tags": [["a"]] })).collect();
    store(&user, "rows.json", json!({ "rows": rows, "total": 2431 }).to_string().as_bytes());
    let mut program = open_files(resume(&user));
    program.until("1 file");
    program.press_keys("\r");
    program.until_all(&["▸   \"rows\": [ … 2431 items ],", "  \"total\": 2431", "alt-u expand all"]);
    program.press_keys("\x1b[B");
    program.until("enter/→ expand");
    program.press_keys("\x1b[C");
    program.until_all(&["▾   \"rows\": [", "\"id\": 0", "▸       \"tags\": [ … 1 item ]", "enter/← collapse"]);
    // Into the list, back to it, and collapsed again.
    program.press_keys("\x1b[C");
    program.press_keys("\x1b[D");
    program.until("▸     { … 2 keys },");
    program.press_keys("\x1b[D");
    program.press_keys("\r");
    program.until("[ … 2431 items ],");
    program.press_keys("\x1bu");
    program.until("alt-u collapse all");
    program.press_keys("G");
    program.until("… More than 2000 lines.");
    program.press_keys("\x1bu");
    program.until_all(&["[ … 2431 items ],", "\"total\": 2431"]);
}

#[test]
fn a_table_with_many_long_headings_is_shown_as_short_lists() {
    let user = user_with_session();
    let headings: Vec<String> = (0..200).map(|column| format!("{column:03}{}", "x".repeat(487))).collect();
    store(&user, "a.csv", format!("{}\n{}", headings.join(","), "1,2\n".repeat(999)).as_bytes());
    let mut program = open_files(resume(&user));
    program.until("1 file");
    program.press_keys("\r");
    program.until_all(&["000xxx", "x…: 1", "001xxx", "x…: 2"]);
    program.press_keys("G");
    // 20,000 cells.
    program.until("after the first 100 rows.");
}

#[test]
fn hostile_names_and_texts_are_shown_as_marks() {
    let user = user_with_session();
    store(&user, "up\u{202e}gpj.md", b"\x1b]0;title\x07# \x1b[31mred\n\n\xe2\x80\xae evil\n");
    store(&user, "table.csv", b"a,b\n\x1b[2J,\xe2\x80\x8bx\n");
    store(&user, "code.rs", b"let a = \"\x1b[2J\xe2\x80\xae\";\n");
    store(&user, "text.txt", b"\x1b[2J\x07 beep \xe2\x80\xae\n");
    let mut program = open_files(resume(&user));
    program.until_all(&["up<U+202E>gpj.md", "4 files"]);
    for (name, shown) in [
        ("gpj", &["<U+001B>]0;title<U+0007>", "<U+202E>"][..]),
        ("table", &["<U+001B>[2J", "<U+200B>x"]),
        ("code", &["<U+001B>[2J<U+202E>"]),
        ("text.", &["<U+0007> beep <U+202E>"]),
    ] {
        program.type_text(name);
        program.until("1 of 4");
        program.press_keys("\r");
        program.until_all(&[&["a test"], shown].concat());
        program.press_keys("q");
        program.until("1 of 4");
        program.press_keys("\x15");
        program.until("4 files");
    }
    let bytes = program.bytes();
    assert!(!bytes.windows(8).any(|window| window == b"\x1b]0;title"), "the title was set");
}

#[test]
fn an_empty_workspace_says_what_it_is_for_and_shows_what_another_program_adds() {
    let user = user_with_session();
    let mut program = open_files(resume(&user).size(60, 15));
    let screen = program.until_all(&["No files yet.", "adds a file of yours."]);
    assert!(!screen.contains('`') && !screen.contains("❯ Type") && !screen.contains("ctrl-o open"), "{screen}");
    // Opening the page has created nothing.
    let folder = user.path("home/aye/data/workspace");
    assert!(!folder.join(SESSION).exists());
    let (out, err, code) =
        Setup::with_home(&user.root, &["files", "put", "-", "new/a.txt", "--session", SESSION]).run_piped("first");
    assert_eq!(code, 0, "{out}{err}");
    program.until_all(&["new/", "a.txt", "1 file · 5 bytes"]);
    let id = store(&user, "new/a.txt", b"second version");
    program.until("14 bytes · version 2");
    program.press_keys("\r");
    program.until_all(&["second version", "esc back"]);
    // Deleted meanwhile.
    open_workspace(&user.setup(&[])).delete(&target("new/a.txt"), Origin::default()).unwrap();
    program.press_keys("q");
    program.until("No files yet.");
    assert!(!id.is_empty());
    program.press_keys("\x1b");
    program.until_gone("No files yet.");
}

#[test]
fn a_file_that_is_gone_or_damaged_is_explained() {
    let user = user_with_session();
    store(&user, "a.txt", b"text of a");
    let mut program = open_files(resume(&user));
    program.until("a.txt");
    let contents = user.path("home/aye/data/workspace").join(SESSION).join("bytes");
    for entry in std::fs::read_dir(&contents).unwrap() {
        std::fs::write(entry.unwrap().path(), "other").unwrap();
    }
    program.press_keys("\r");
    program.until("The content of a.txt is damaged");
    program.press_keys("q");
    program.until("1 file");
    std::fs::remove_dir_all(&contents).unwrap();
    program.press_keys("\r");
    program.until("Cannot use the workspace");
}

#[test]
fn a_list_of_files_that_cannot_be_read_is_explained() {
    let user = user_with_session();
    store(&user, "a.txt", b"text of a");
    let folder = user.path("home/aye/data/workspace").join(SESSION);
    for name in ["index.jsonl", "index.copy.jsonl"] {
        std::fs::rename(folder.join(name), folder.join(format!("{name}.away"))).unwrap();
        std::fs::create_dir(folder.join(name)).unwrap();
    }
    let mut program = open_files(resume(&user));
    program.until_all(&["Cannot use the workspace", "Check the disk", "esc back"]);
    for name in ["index.jsonl", "index.copy.jsonl"] {
        std::fs::remove_dir(folder.join(name)).unwrap();
        std::fs::rename(folder.join(format!("{name}.away")), folder.join(name)).unwrap();
    }
    program.until("1 file · 9 bytes");
}

#[test]
fn versions_are_listed_and_read() {
    let user = user_with_session();
    for text in ["one\n", "two, longer\n", "three\n"] {
        store(&user, "a.txt", text.as_bytes());
    }
    let mut program = open_files(resume(&user));
    program.until("version 3");
    program.press_keys("\x1bv");
    let screen = program.until_all(&["Versions of a.txt", "Version 3", "Version 1", "3 versions"]);
    assert!(screen.contains("6 bytes · by a test · latest"), "{screen}");
    program.press_keys("\x1b[B");
    program.press_keys("\r");
    program.until_all(&["a.txt · version 2", "two, longer", "version 2, not the latest", "@2"]);
    // From the page back to the list below it, which does not pile up.
    program.press_keys("\x1bv");
    program.until("Versions of a.txt");
    program.press_keys("\x1b");
    program.until("Files of this session");
    program.press_keys("\x1b");
    program.until_gone("Files of this session");
}

#[test]
fn a_file_is_opened_in_the_editor_and_its_address_is_copied() {
    let user = user_with_session();
    let id = store(&user, "reports/a.txt", b"text");
    let editor = user.path("editor");
    write_script(&editor, "cp \"$1\" \"$0.tmp\"; echo \"$1\" > \"$0.name\"; mv \"$0.tmp\" \"$0.copy\"");
    let mut program = open_files(resume(&user).env("EDITOR", &editor.to_string_lossy()));
    program.until("a.txt");
    program.press_keys("\x0f");
    let copy = user.path("editor.copy");
    program.until_condition("the editor has the file", |_| copy.exists());
    assert_eq!(std::fs::read(&copy).unwrap(), b"text");
    assert!(std::fs::read_to_string(user.path("editor.name")).unwrap().contains(&id));
    program.until("Files of this session");
    program.press_keys("\x1by");
    program.until("Copied the address");
    program.press_keys("\r");
    program.until("text/plain");
    program.press_keys("\x1by");
    let osc = b"\x1b]52;";
    program.until_condition("the address was copied twice", |program| {
        program.bytes().windows(osc.len()).filter(|window| window == osc).count() == 2
    });
}

#[test]
fn what_the_editor_saves_becomes_a_version() {
    let user = user_with_session();
    let id = store(&user, "reports/a.txt", b"one");
    let editor = user.path("editor");
    write_script(&editor, "printf ' and two' >> \"$1\"; echo \"$1\" > \"$0.name\"");
    let mut program = open_files(resume(&user).env("EDITOR", &editor.to_string_lossy()));
    program.until("a.txt");
    program.press_keys("\x0f");
    program.until("version 2");
    let print_file = || {
        let setup = Setup::with_home(&user.root, &["files", "cat", &id, "--session", SESSION]);
        setup.run_piped("").0
    };
    assert_eq!(print_file(), "one and two");
    // A program that is still open saves later, and the user comes back from it.
    let copy = std::fs::read_to_string(user.path("editor.name")).unwrap();
    std::fs::write(copy.trim(), "three").unwrap();
    program.press_keys("\x1b[O\x1b[I");
    program.until("version 3");
    program.press_keys("\x1b");
    program.until_gone("Files of this session");
    std::fs::write(copy.trim(), "four").unwrap();
    program.press_keys("\x1b[O\x1b[I");
    program.until("Saved: reports/a.txt is now version 4");
    // One that saves after the end of aye is found when the session is continued.
    program.press_keys("\x04");
    program.wait_for_exit();
    std::fs::write(copy.trim(), "after the end").unwrap();
    let mut program = open_files(resume(&user));
    program.until("version 5");
    drop(program);
    std::fs::write(copy.trim(), "five").unwrap();
    assert_eq!(print_file(), "five");
}

#[test]
fn the_page_shows_the_workspace_of_a_dry_run() {
    let write: Answer = calls_answer_after(
        Duration::ZERO,
        &[("write_workspace_file", json!({ "path": "plan.md", "content": "# The plan\n" }))],
    );
    let user = User::new(vec![write, text_answer("Done.")]);
    let mut program = user.start(&["--dry-run"]);
    program.until("Messages go to");
    submit_message(&mut program, "go");
    program.until("Done.");
    submit_message(&mut program, "/files");
    program.until_all(&["plan.md", "1 file · 11 bytes"]);
    program.press_keys("\x1bp");
    program.until("A dry run copies nothing into the project.");
    program.press_keys("\r");
    program.until_all(&["The plan", "text/markdown", "write_workspace_file"]);
}

#[test]
fn a_small_terminal_shows_rows_and_pages() {
    let user = user_with_session();
    for number in 0..30 {
        store(&user, &format!("a folder with a long name/and another one/report number {number}.md"), b"# Title\n");
    }
    for (columns, rows) in [(60, 15), (30, 8), (20, 6), (12, 4)] {
        let mut program = resume(&user).size(80, 24).start();
        program.until("ask mode");
        submit_message(&mut program, "/files");
        program.until("Files of this session");
        program.resize(columns, rows);
        program.until("❯ ");
        program.press_keys("\r");
        if rows > 6 {
            program.until_all(&["Title", "text/markdown"]);
        }
        program.press_keys("q");
        program.press_keys("\x1b");
        program.resize(80, 24);
        program.until("ask mode");
    }
}

/// Chooses a file in the open list and names the file of the project that it is copied to.
fn start_copy(program: &mut Program, name: &str, added_path: &str) {
    program.until("3 files");
    program.type_text(name);
    program.until("1 of 3");
    program.press_keys("\x1bp");
    program.until_all(&["to the project", "enter show the difference"]);
    program.type_text(added_path);
    program.press_keys("\r");
}

#[test]
fn a_file_is_copied_into_the_project_once_its_difference_is_approved() {
    let user = user_with_session().with_project_file("list.txt", "1\n2\n3\n");
    store(&user, "reports/a.md", b"# From the workspace\r\n");
    store(&user, "list.txt", b"1\n2\n3\nfour\n");
    store(&user, "p.png", PNG);
    let mut program = open_files(resume(&user));
    start_copy(&mut program, "a.md", "");
    let screen = program.until_prompt("Create a file?");
    assert!(screen.contains("From the workspace") && program.file("a.md").is_none(), "{screen}");
    program.press_keys("y");
    program.until_idle("Copy to project a.md");
    assert_eq!(program.file("a.md").as_deref(), Some("# From the workspace\r\n"));
    // An existing file: denied, then approved.
    for (key, expected) in [("n", "1\n2\n3\n"), ("y", "1\n2\n3\nfour\n")] {
        submit_message(&mut program, "/files");
        start_copy(&mut program, "list", "");
        let screen = program.until_prompt("Change a file?");
        assert!(screen.contains("four") && screen.contains("list.txt"), "{screen}");
        program.press_keys(key);
        program.until_idle("list.txt");
        program.until_gone("Change a file?");
        program.until_condition("the decision was carried out", |program| {
            program.file("list.txt").as_deref() == Some(expected)
        });
    }
    // A picture is no text; another folder is named by the path.
    submit_message(&mut program, "/files");
    start_copy(&mut program, "p.png", ".txt");
    program.until_idle("it is not text.");
    assert!(program.file("p.png.txt").is_none());
    // The last change can be undone as that of any call.
    submit_message(&mut program, "/undo");
    program.until_prompt("Restore files?");
    program.press_keys("y");
    program.until_condition("the file is restored", |program| program.file("list.txt").as_deref() == Some("1\n2\n3\n"));
    let is_settled = |entry: &Entry| matches!(entry, Entry::Settled { .. });
    program.until_condition("each call has an outcome", |_| {
        read_session(&user.setup(&[])).iter().filter(|entry| is_settled(entry)).count() == 5
    });
}
