//! `aye sessions export --with-files`: the files of a session's workspace in a page or a folder.

use crate::sessions::{HERE, Home, ONE, model_reply, user_message};
use crate::support::browser::{dump_page, installed_browser};
use crate::support::program::program;
use crate::support::stored_files::list_all_files;
use aye::chat::SessionId;
use aye::store::Places;
use aye::text::workspace_address::{AddressTarget, ScopedPath, WorkspacePath};
use aye::workspace::{Limits, NewFile, Origin, Replaces, Workspace};
use rustix::process::{Pid, Signal};
use serde_json::Value;
use std::fs;
use std::os::unix::fs::{MetadataExt, symlink};
use std::path::PathBuf;
use std::process::{Command, Stdio};

const PNG: &[u8] = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR</script><script>alert(1)</script>";
const HOSTILE: &str = "</pre></details><script>alert(1)</script><img src=x onerror=alert(1)>\u{202e}\u{1b}[2J";

/// A home whose session may have files.
struct Scene {
    home: Home,
    workspace: Workspace,
}

impl Scene {
    fn new() -> Self {
        let home = Home::new();
        let places = Places::within(&home.0.root.path().join("home/aye"));
        let workspace = Workspace::new(&places, SessionId(ONE.into()), Limits::default());
        Self { home, workspace }
    }

    /// Stores a file; returns its ID.
    fn store(&self, path: &str, bytes: &[u8]) -> String {
        let path = WorkspacePath::parse(path).unwrap();
        let new_file =
            NewFile { path: &path, bytes, origin: Origin::default(), replaces: Replaces::Any, media_type: None };
        self.workspace.write(&new_file).unwrap().id
    }

    fn say(&self, text: &str) {
        self.home.add_session(ONE, HERE, &[user_message(text), model_reply(text)]);
    }

    fn project(&self) -> PathBuf {
        self.home.0.root.path().join("project")
    }

    /// Exports with these options; returns the output and the notices.
    #[track_caller]
    fn export(&self, options: &[&str]) -> (String, String) {
        let (out, err, code) = self.home.run(&[&["export", "01ja", "--with-files"], options].concat());
        assert_eq!(code, 0, "{err}");
        (out, err)
    }

    fn read(&self, path: &str) -> String {
        fs::read_to_string(self.project().join(path)).unwrap()
    }

    /// Paths of the files in a folder of the project.
    fn list(&self, folder: &str) -> Vec<String> {
        let folder = self.project().join(folder);
        let files = list_all_files(&folder);
        let mut paths: Vec<String> =
            files.iter().map(|file| file.strip_prefix(&folder).unwrap().to_str().unwrap().to_owned()).collect();
        paths.sort();
        paths
    }

    /// Names in the project, to see that nothing is left over.
    fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(self.project()).unwrap();
        let mut names: Vec<String> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }
}

#[test]
fn a_folder_has_the_document_and_every_file_in_its_path() {
    let scene = Scene::new();
    let id = scene.store("reports/q1 (a).md", b"first");
    scene.store("reports/q1 (a).md", b"second");
    scene.store("reports/q1 (a).md", b"third");
    let picture = scene.store("chart.png", PNG);
    let other_session = "workspace:///sessions/01JBBBBBBBBBBBBBBBBBBBBBBB/chart.png";
    scene.say(&format!(
        "See workspace://{id}, [the draft](workspace://{id}@1#text/markdown), `workspace://{id}`, ![chart](workspace://{picture}),\n\
         <workspace:///chart.png>, workspace://{id}@9 and {other_session}."
    ));
    let before = scene.home.run(&["export"]).0;
    let (out, err) = scene.export(&["--output", "out"]);
    assert_eq!(out, "");
    assert!(err.contains("with 3 files to out") && err.contains("secrets in them are not redacted"), "{err}");
    let files = ["files/chart.png", "files/reports/q1 (a).md", "session.md", "versions/1/reports/q1 (a).md"];
    assert_eq!(scene.list("out"), files);
    assert_eq!(fs::read(scene.project().join("out/files/chart.png")).unwrap(), PNG);
    assert_eq!(scene.read("out/files/reports/q1 (a).md"), "third");
    assert_eq!(scene.read("out/versions/1/reports/q1 (a).md"), "first");
    for (path, mode) in
        [("out", 0o700), ("out/files/reports", 0o700), ("out/session.md", 0o600), ("out/files/chart.png", 0o600)]
    {
        assert_eq!(scene.project().join(path).metadata().unwrap().mode() & 0o777, mode, "{path}");
    }
    let markdown = scene.read("out/session.md");
    let latest = "files/reports/q1%20%28a%29.md";
    for part in [
        format!(
            "> See [workspace://{id}]({latest}), [the draft](versions/1/reports/q1%20%28a%29.md), [`workspace://{id}`]({latest}), ![chart](files/chart.png)"
        ),
        "[workspace:///chart.png](files/chart.png)".to_owned(),
        format!(", workspace://{id}@9 and {other_session}."),
        format!(
            "- [reports/q1 (a).md, version 1](versions/1/reports/q1%20%28a%29.md) · 5 bytes · text/markdown · `workspace://{id}@1`"
        ),
    ] {
        assert!(markdown.contains(&part), "{part}\n{markdown}");
    }
    // What the user said has links too, and without the files nothing changes.
    assert_eq!(markdown.matches(&format!("[workspace://{id}]({latest})")).count(), 3, "{markdown}");
    assert!(!before.contains("files/") && scene.home.run(&["export"]).0 == before);
    scene.export(&["--output", "data", "--format", "json"]);
    let value: Value = serde_json::from_str(&scene.read("data/session.json")).unwrap();
    let located: Vec<&str> =
        value["files"].as_array().unwrap().iter().map(|file| file["file"].as_str().unwrap()).collect();
    assert_eq!(located, ["files/chart.png", "files/reports/q1 (a).md", "versions/1/reports/q1 (a).md"]);
    assert_eq!((&value["files"][2]["id"], value["files"][2]["latest"].as_bool()), (&Value::from(id), Some(false)));
    assert_eq!(scene.list("data").len(), 4);
}

#[test]
fn a_page_embeds_the_files_and_runs_none_of_them() {
    let scene = Scene::new();
    let script =
        scene.store("a/evil.svg", format!("<svg xmlns=\"http://www.w3.org/2000/svg\">{HOSTILE}</svg>").as_bytes());
    let page = scene.store("\"><script>alert(2)<-script>.html", HOSTILE.as_bytes());
    let picture = scene.store("' onerror='alert(3).png", PNG);
    scene.store("data.bin", b"\0\x01");
    scene.store("plain.txt", HOSTILE.as_bytes());
    scene.say(&format!("[svg](workspace://{script}) workspace://{page} ![p](workspace://{picture}@1)"));
    let (html, err) = scene.export(&["--format", "html"]);
    assert!(err.contains("secrets in them are not redacted"), "{err}");
    assert!(html.contains(
        "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; img-src data:\""
    ));
    let tags: Vec<&str> =
        html.match_indices('<').map(|(at, _)| html[at..].split_inclusive('>').next().unwrap()).collect();
    for tag in &tags {
        let lower = tag.to_ascii_lowercase();
        assert!(!lower.starts_with("<script") && !lower.starts_with("<svg") && !lower.contains("javascript:"), "{tag}");
        if lower.contains("data:") && !lower.starts_with("<meta") {
            let is_picture = lower.starts_with("<img alt=\"") && lower.contains(" src=\"data:image/png;base64,");
            let is_saved = lower.starts_with("<a download=\"")
                && lower.contains("\" href=\"data:application/octet-stream;base64,");
            assert!(is_picture || is_saved, "{tag}");
        }
        // No attribute but those of aye, however the file is called.
        let outside_quotes: String = tag.split('"').step_by(2).collect();
        assert!(!outside_quotes.contains("onerror"), "{tag}");
    }
    assert_eq!(tags.iter().filter(|tag| tag.starts_with("<img ")).count(), 1);
    assert_eq!(tags.iter().filter(|tag| tag.starts_with("<a download=")).count(), 5);
    for id in [&script, &page, &picture] {
        assert!(
            html.contains(&format!("href=\"#file-{id}-1\"")) && html.contains(&format!("id=\"file-{id}-1\"")),
            "{id}"
        );
    }
    assert!(html.contains("&lt;img src=x onerror=alert(1)&gt;"), "text is shown as text");
    assert!(!html.contains(['\u{202e}', '\u{1b}']));
    let (_, err) = scene.export(&["--format", "html", "--output", "out.html"]);
    assert!(err.contains("with 5 files to out.html"), "{err}");
    assert_eq!(scene.read("out.html"), html);
}

#[test]
fn a_link_in_a_page_opens_the_file() {
    let Some(browser) = installed_browser() else { return };
    let scene = Scene::new();
    let ids = ["first", "second", "third"].map(|name| scene.store(name, name.as_bytes()));
    scene.say(&format!("workspace://{}", ids[1]));
    scene.export(&["--format", "html", "--output", "page.html"]);
    let html = scene.read("page.html");
    let address = html.split("href=\"").find_map(|rest| rest.strip_prefix("#")?.split_once('"')).unwrap().0;
    let page = format!("file://{}/page.html", scene.project().display());
    let count_open = |address: &str| {
        let dom = dump_page(&browser, address);
        let opened = dom.matches("<details class=\"call file\" open").count();
        let is_second = dom.contains("<details class=\"call file\" open=\"\"><summary><code>second</code>");
        (opened, is_second)
    };
    assert_eq!(count_open(&page), (0, false));
    assert_eq!(count_open(&format!("{page}#{address}")), (1, true));
}

#[test]
fn a_page_that_would_be_too_large_is_not_written() {
    let scene = Scene::new();
    scene.say("x");
    scene.store("a", &vec![b'a'; 12_000_000]);
    scene.store("b", &vec![b'b'; 9_000_000]);
    let arguments = ["export", "01ja", "--with-files", "--format", "html", "--output", "out.html"];
    scene.home.check_refused(
        &arguments,
        "Cannot embed the files: 21.0 MB exceeds the limit of 20.0 MB. Export a folder: --format markdown --output FOLDER.",
    );
    assert_eq!(scene.names(), [""; 0]);
    scene.export(&["--output", "out"]);
    assert_eq!(scene.list("out"), ["files/a", "files/b", "session.md"]);
}

#[test]
fn an_export_replaces_no_folder_and_leaves_nothing_half_written() {
    let scene = Scene::new();
    scene.say("x");
    scene.store("a", b"one");
    scene
        .home
        .check_refused(&["export", "01ja", "--with-files"], "Name a new folder with --output, or use --format html.");
    fs::create_dir(scene.project().join("folder")).unwrap();
    fs::write(scene.project().join("file"), "mine").unwrap();
    symlink("nowhere", scene.project().join("link")).unwrap();
    for target in ["folder", "file", "link", ".", "folder/"] {
        for force in [&[][..], &["--force"]] {
            let arguments = [&["export", "01ja", "--with-files", "--output", target], force].concat();
            scene.home.check_refused(&arguments, "it already exists. Name a new folder; --force replaces no folder.");
        }
    }
    let (_, err, code) = scene.home.run(&["export", "01ja", "--with-files", "--output", "none/out"]);
    assert!(code == 1 && err.contains("Cannot write the folder none/out: its parent folder does not exist"), "{err}");
    // A content that is damaged is found when the folder is half written.
    let content = scene.home.0.root.path().join("home/aye/data/workspace").join(ONE).join("bytes");
    let content = fs::read_dir(content).unwrap().next().unwrap().unwrap().path();
    fs::write(content, "oNe").unwrap();
    let (_, err, code) = scene.home.run(&["export", "01ja", "--with-files", "--output", "out"]);
    assert!(code == 1 && err.contains("The content of a is damaged"), "{err}");
    assert_eq!(scene.names(), ["file", "folder", "link"]);
    assert_eq!(scene.read("file"), "mine");
}

/// The signal arrives while the folder is written, unless the machine is very fast; then the export is complete.
#[test]
fn r56_a_stopped_or_killed_export_leaves_no_copies() {
    let scene = Scene::new();
    scene.say("x");
    for index in 0..12u8 {
        scene.store(&format!("file{index}"), &vec![index; 8_000_000]);
    }
    for (signal, output) in [(Signal::INT, "interrupted"), (Signal::TERM, "terminated"), (Signal::KILL, "killed")] {
        let mut child = Command::new(program())
            .args(["sessions", "export", "01ja", "--with-files", "--output", output])
            .env("AYE_HOME", scene.home.0.root.path().join("home/aye"))
            .current_dir(scene.project())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        // Some of the files are written, or the export has ended.
        let is_writing = || {
            let folder = scene.names().into_iter().find(|name| name.starts_with(".aye-export-"));
            folder.is_some_and(|folder| scene.project().join(folder).join("files/file10").exists())
        };
        while !is_writing() && child.try_wait().unwrap().is_none() {
            std::thread::yield_now();
        }
        let _ = rustix::process::kill_process(Pid::from_child(&child), signal);
        let result = child.wait_with_output().unwrap();
        let err = String::from_utf8(result.stderr).unwrap();
        let is_complete = scene.project().join(output).exists();
        if signal != Signal::KILL {
            assert!(scene.names().iter().all(|name| !name.starts_with('.')), "{:?}", scene.names());
            assert_eq!(result.status.code(), Some(if is_complete { 0 } else { 1 }), "{err}");
            let stopped =
                format!("Cannot write the folder {output}: the export was stopped by a signal. Nothing was written.");
            assert!(is_complete || err.contains(&stopped), "{err}");
        }
        let _ = fs::remove_dir_all(scene.project().join(output));
    }
    for name in scene.names() {
        let folder = fs::File::open(scene.project().join(name)).unwrap();
        folder.set_modified(std::time::SystemTime::now() - std::time::Duration::from_secs(60)).unwrap();
    }
    scene.export(&["--output", "out"]);
    assert_eq!(scene.names(), ["out"]);
}

#[test]
fn hostile_names_stay_in_the_folder_and_apart_from_each_other() {
    let scene = Scene::new();
    for path in ["Report.md", "report.md", "a", "a/b", ".git/config", "con", "x](y)<b>\u{202e}.md", "…/.. /z"] {
        scene.store(path, path.as_bytes());
    }
    scene.say("workspace:///report.md and workspace:///x](y)<b>");
    let (_, err) = scene.export(&["--output", "out"]);
    assert!(
        err.contains(
            "6 files were renamed: their names are reserved or clash on some systems. The document lists both names."
        ),
        "{err}"
    );
    let files = [
        "files/Report.md",
        "files/_.git/config",
        "files/_con",
        "files/a",
        "files/a~2/b",
        "files/report~2.md",
        "files/x](y)_b__.md",
        "files/…/.._/z",
        "session.md",
    ];
    assert_eq!(scene.list("out"), files);
    assert_eq!(scene.read("out/files/report~2.md"), "report.md");
    assert_eq!(scene.names(), ["out"]);
    let markdown = scene.read("out/session.md");
    assert!(markdown.contains("[workspace:///report.md](files/report~2.md)"), "{markdown}");
    assert!(markdown.contains("[x\\](y)\\<b\\>\\<U+202E\\>.md](files/x%5D%28y%29_b__.md)"), "{markdown}");
}

#[test]
fn a_session_without_files_is_exported_as_without_the_option() {
    let scene = Scene::new();
    scene.say("workspace:///a");
    for format in ["html", "markdown", "json"] {
        let plain = scene.home.run(&["export", "--format", format]).0;
        let (out, err) = scene.export(&["--format", format, "--output", format]);
        assert!(out.is_empty() && err.contains("has no files in its workspace"), "{err}");
        let path = match format {
            "html" => "html",
            "json" => "json/session.json",
            _ => "markdown/session.md",
        };
        assert_eq!(scene.read(path), plain);
    }
}

#[test]
fn an_earlier_version_of_a_deleted_file_is_included_if_it_is_named() {
    let scene = Scene::new();
    let id = scene.store("a", b"one");
    scene.workspace.delete(&AddressTarget::Path(ScopedPath::parse("a").unwrap()), Origin::default()).unwrap();
    scene.say(&format!("It was workspace://{id}@1, now workspace://{id}."));
    scene.export(&["--output", "out"]);
    assert_eq!(scene.list("out"), ["session.md", "versions/1/a"]);
    let markdown = scene.read("out/session.md");
    assert!(markdown.contains(&format!("[workspace://{id}@1](versions/1/a), now workspace://{id}.")), "{markdown}");
}
