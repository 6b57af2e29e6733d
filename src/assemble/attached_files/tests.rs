//! Tests of the files that a message names.

use super::*;
use crate::project::disk::Disk;
use crate::store::Places;
use crate::text::workspace_address::WorkspacePath;
use crate::workspace::{Limits, NewFile, Origin, Replaces};
use std::path::Path;

const SECRET: &str = "sk-known-secret";

struct Setup {
    home: tempfile::TempDir,
    project: tempfile::TempDir,
}

impl Setup {
    fn new() -> Self {
        Self { home: tempfile::tempdir().unwrap(), project: tempfile::tempdir().unwrap() }
    }

    fn write(&self, name: &str, bytes: &[u8]) {
        let path = self.project.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, bytes).unwrap();
    }

    fn workspace(&self) -> Workspace {
        Workspace::new(&Places::within(self.home.path()), SessionId("01A".into()), Limits::default())
    }

    /// Returns for each attachment: the source, its facts or the reason, and its text.
    fn read(&self, message: &str, max_bytes: usize) -> Vec<(String, String, String)> {
        let disk = Disk::new(self.project.path()).unwrap();
        let secrets = KnownSecrets::from_iter([SECRET]);
        let attachments = read_mentioned_files(&disk, &self.workspace(), &secrets, message, max_bytes);
        let describe = |Attachment { source, content }| match content {
            Content::File { text, facts, .. } => (source, facts, text),
            Content::Missing(reason) => (source, reason, String::new()),
            Content::Resource(text) => (source, String::new(), text),
        };
        attachments.into_iter().map(describe).collect()
    }
}

fn row(source: &str, facts: &str, text: &str) -> (String, String, String) {
    (source.into(), facts.into(), text.into())
}

#[test]
fn attaches_files_and_exactly_the_named_lines() {
    let setup = Setup::new();
    setup.write("src/a.rs", b"one\ntwo\nthree\nfour");
    setup.write("odd:2", b"a name with a number\n");
    setup.write("empty", b"");
    let read = |message: &str| setup.read(message, MAX_BYTES);
    assert_eq!(read("see @src/a.rs"), [row("src/a.rs", "4 lines, 18 bytes", "one\ntwo\nthree\nfour")]);
    assert_eq!(read("@src/a.rs:2-3"), [row("src/a.rs:2-3", "lines 2-3 of 4, 10 bytes", "two\nthree")]);
    assert_eq!(read("@src/a.rs:4"), [row("src/a.rs:4", "line 4 of 4, 4 bytes", "four")]);
    assert_eq!(read("@src/a.rs:3-99"), [row("src/a.rs:3-99", "lines 3-4 of 4, 10 bytes", "three\nfour")]);
    assert_eq!(read("@src/a.rs:9"), [row("src/a.rs:9", "the file has only 4 lines", "")]);
    assert_eq!(read("@odd:2"), [row("odd:2", "1 line, 21 bytes", "a name with a number")]);
    assert_eq!(read("@empty"), [row("empty", "0 lines, 0 bytes", "")]);
    assert_eq!(read("@nobody and me@src/a.rs and @missing.rs:3"), []);
}

#[test]
fn says_how_much_of_a_large_text_is_attached() {
    let setup = Setup::new();
    setup.write("long.txt", "0123456789\n".repeat(10).as_bytes());
    setup.write("line.txt", "é".repeat(100).as_bytes());
    let rest = ", read the rest with a tool";
    let text = "0123456789\n".repeat(3).trim_end().to_owned();
    let facts = format!("lines 1-3 of 10, only 33 bytes of 110 bytes fit{rest}");
    assert_eq!(setup.read("@long.txt", 40), [row("long.txt", &facts, &text)]);
    let facts = format!("line 1 of 1, only 10 bytes of 200 bytes fit{rest}");
    assert_eq!(setup.read("@line.txt", 11), [row("line.txt", &facts, "ééééé")]);
    let rows = setup.read("@long.txt @line.txt @long.txt:1", 110);
    assert_eq!(rows[1], row("line.txt", "the files before it reach the limit of the message", ""));
    assert!(rows[2].1.contains("the limit of the message"), "{rows:?}");
    setup.write("big", &vec![b'x'; project::READ_LIMIT as usize + 1]);
    assert_eq!(setup.read("@big", 10)[0].1, "it has 10.5 MB; the limit is 10.5 MB");
}

#[test]
fn a_secret_is_masked_before_the_text_is_cut() {
    let setup = Setup::new();
    setup.write("log", format!("token {SECRET} is used").as_bytes());
    for max_bytes in 1..40 {
        let [(_, _, text)] = &setup.read("@log", max_bytes)[..] else { panic!() };
        assert!(!text.contains("sk"), "{text}");
    }
}

#[test]
fn further_files_are_not_attached() {
    let setup = Setup::new();
    setup.write(".env", b"KEY=1");
    let mut message = String::new();
    for number in 0..50 {
        setup.write(&format!("f{number}"), b"text\n");
        message.push_str(&format!("@f{number} "));
    }
    let rows = setup.read(&format!("@.env {message}"), MAX_BYTES);
    let attached = rows.iter().filter(|(_, _, text)| text == "text").count();
    assert_eq!((rows.len(), attached), (MAX_ATTACHMENTS, MAX_FILES));
    assert_eq!(rows[21].1, "at most 20 files are attached to a message");
    assert!(rows[39].1.contains("names too many files"), "{rows:?}");
}

#[test]
fn refuses_files_outside_secrets_and_data() {
    let setup = Setup::new();
    setup.write(".env", b"KEY=1");
    setup.write("data.bin", b"a\0b");
    setup.write("shot.png", b"\x89PNG");
    let outside = setup.home.path().join("notes.txt");
    std::fs::write(&outside, "private").unwrap();
    std::fs::hard_link(setup.project.path().join(".env"), setup.project.path().join("linked")).unwrap();
    let rows = setup.read(&format!("@.env @data.bin @shot.png @{} @linked", outside.display()), MAX_BYTES);
    let reasons: Vec<_> = rows.iter().map(|(_, reason, text)| (reason.as_str(), text.as_str())).collect();
    let secrets = "it may hold secrets. Read it with a tool, which asks the user";
    assert_eq!(
        reasons,
        [
            (secrets, ""),
            ("it is not text (3 bytes)", ""),
            ("it is outside the project. Read it with a tool, which asks the user", ""),
            (secrets, ""),
        ]
    );
}

#[test]
fn lists_a_folder_up_to_a_limit() {
    let setup = Setup::new();
    setup.write("src/a.rs", b"");
    setup.write("src/sub/b.rs", b"");
    setup.write("src/.hidden", b"");
    let listing = "src/a.rs\nsrc/sub/\nsrc/sub/b.rs";
    assert_eq!(setup.read("@src/", MAX_BYTES), [row("src/", "listing of a folder, 3 lines, 30 bytes", listing)]);
    assert_eq!(setup.read("@src/:2-5", MAX_BYTES), [row("src/:2-5", "it is a folder, which has no lines", "")]);
    assert_eq!(setup.read("@src:2", MAX_BYTES), [row("src:2", "it is a folder, which has no lines", "")]);
    setup.write("shot.png", b"\x89PNG");
    assert_eq!(setup.read("@shot.png:2", MAX_BYTES), [row("shot.png:2", "it is a picture, which has no lines", "")]);
    assert_eq!(setup.read("@none.png:2", MAX_BYTES), []);
    for number in 0..MAX_LISTED {
        setup.write(&format!("many/f{number:03}"), b"");
    }
    setup.write("many/z", b"");
    let (_, facts, text) = setup.read("@many", MAX_BYTES).remove(0);
    assert!(facts.starts_with("listing of a folder, 401 lines, "), "{facts}");
    assert!(text.ends_with("many/f399\n[1 files and folders are not listed]"), "{text}");
}

#[test]
fn attaches_files_of_the_workspace_with_their_source() {
    let setup = Setup::new();
    let path = WorkspacePath::parse("page.md").unwrap();
    let origin = Origin { untrusted_source: Some("a page of docs.rs".into()), ..Origin::default() };
    setup
        .workspace()
        .write(&NewFile { path: &path, bytes: b"one\ntwo\n", origin, replaces: Replaces::Nothing, media_type: None })
        .unwrap();
    let disk = Disk::new(Path::new(setup.project.path())).unwrap();
    let secrets = KnownSecrets::default();
    let read = |message: &str| read_mentioned_files(&disk, &setup.workspace(), &secrets, message, MAX_BYTES);
    let [Attachment { source, content }] = &read("@workspace:///page.md:2 @workspace:///none.md")[..] else { panic!() };
    assert_eq!(source, "workspace:///page.md:2");
    assert_eq!(
        *content,
        Content::File {
            text: "two".into(),
            facts: "line 2 of 2, 4 bytes".into(),
            untrusted_source: Some("a page of docs.rs".into())
        }
    );
    let other = read("@workspace:///sessions/01JDXA0000000000000000000Z/a.md");
    assert!(matches!(&other[0].content, Content::Missing(reason) if reason.contains("another session")));
}
