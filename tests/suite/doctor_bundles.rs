//! `aye doctor --bundle` writes what a bug report needs into one file, without private data.

use crate::journal::{CONTENT, HEADER, KEY, run_session, token};
use crate::support::program::Setup;
use crate::support::service::{Answer, Service};
use crate::support::stored_files::write_settings;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// The names of the files in a folder, sorted.
fn list_files(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

/// The text with line breaks and runs of blanks replaced by single blanks.
fn join_lines(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn r57_bundle_describes_a_session_without_keys_and_content() {
    let (runtime, _service, mut program) = run_session(&["--debug-content"]);
    // The provider echoes the key in its error.
    let refusal = format!("{{\"error\":{{\"message\":\"bad {KEY}\"}}}}");
    let refusal = Answer::body(401, "application/json", &[], &refusal);
    let service = runtime.block_on(Service::start_strict([refusal]));
    program.press_keys("\x04");
    assert_eq!(program.wait_for_exit(), 0);
    let root = program.root.clone();
    let project = root.path().join("project");
    let arguments = ["doctor", "--profile", "mine", "--base-url", &service.base_url, "--bundle"];
    let (out, err, code) = Setup::with_home(&root, &arguments).env("MY_MODEL", KEY).run_piped("");
    assert_eq!((err.as_str(), code), ("", 0), "{out}");
    let created: Vec<String> =
        list_files(&project).into_iter().filter(|name| name.starts_with("aye-doctor-")).collect();
    let [name] = &created[..] else { panic!("{created:?}") };
    assert!(out.contains(name) && out.contains("Nothing was sent."), "{out}");
    assert!(join_lines(&out).contains("Does not contain: any text of sessions, file contents"), "{out}");
    let file = project.join(name);
    assert_eq!(file.metadata().unwrap().mode() & 0o777, 0o600);
    let text = std::fs::read_to_string(&file).unwrap();
    let home = root.path().join("home");
    for never in CONTENT.into_iter().chain([KEY, HEADER, &token(), home.to_str().unwrap()]) {
        assert!(!text.contains(never), "{never} is in it:\n{text}");
    }
    for expected in [
        "aye 0.1.0 · ",
        "401",
        "profiles.mine.key_env = \"MY_MODEL\" from ~/aye/config/config.toml:4",
        "profiles.mine.headers = (not shown)",
        "hooks.check.command = (not shown)",
        "hooks.check.tools = [\"bash_exec\"]",
        "screen.mouse = true from the default",
        "turn 1: status 503 after",
        "a hook says ask after",
        "turn 1: bash_exec: done after",
        "lines of content omitted",
        "aye ends",
        "calls read_file bash_exec an unknown tool",
        "reviewed · bash_exec: a hook: ask after",
        "decided · bash_exec: approved, the user after",
        "settled · bash_exec: done",
        "ended · failed",
    ] {
        assert!(text.contains(expected), "{expected:?} is missing:\n{text}");
    }
}

#[test]
fn writes_a_bundle_even_if_nothing_else_works() {
    let setup = Setup::new(&["doctor", "--bundle", "new.txt"]).env("TERM", "x\u{1b}[2J\u{202e}\n== fake");
    let home = setup.root.path().join("home/aye");
    let make_bundle = || {
        let file = setup.root.path().join("project/new.txt");
        let _ = std::fs::remove_file(&file);
        let (out, err, code) = setup.run_piped("");
        assert_eq!((err.as_str(), code), ("", 0), "{out}");
        std::fs::read_to_string(file).unwrap()
    };
    // Nothing exists yet, and nothing but the bundle is created.
    let text = make_bundle();
    assert!(text.contains("config.toml (does not exist)") && text.contains("\nnone\n"), "{text}");
    assert!(!text.contains(['\u{1b}', '\u{202e}']) && !text.contains("\n== fake"), "{text}");
    assert!(!home.exists());
    // Unreadable settings, with a token in the wrong place.
    write_settings(&setup, &format!("[model\nprofile = \"{}\"\n", token()));
    let text = make_bundle();
    assert!(text.contains("config.toml:1: ") && !text.contains(&token()), "{text}");
    write_settings(&setup, &format!("[model]\nprofile = \"{}\"\n[approval]\nmode = \"{}\"\n", token(), token()));
    let text = make_bundle();
    assert!(text.contains("model.profile = \"ghp_[redacted]\"") && !text.contains(&token()), "{text}");
    // A session that is mostly damaged, and a file in place of the journal folder.
    let sessions = home.join("data/sessions");
    std::fs::create_dir_all(&sessions).unwrap();
    let lines = "no header xyzzy\n{\"seq\":1,\"at\":1,\"entry\":{\"kind\":\"xyzzy\",\"text\":\"xyzzy\"}}\n\
        {\"seq\":2,\"at\":2,\"entry\":{\"kind\":\"said\",\"text\":\"xyzzy\"}}\n{\"seq\":3,\"entry\":{\"kind\":\"sa";
    std::fs::write(sessions.join("01JAAAAAAAAAAAAAAAAAAAAAAA.jsonl"), lines).unwrap();
    std::fs::write(home.join("data/journal"), "xyzzy").unwrap();
    let text = make_bundle();
    for expected in [
        "01JAAAAAAAAAAAAAAAAAAAAAAA · ",
        "its first line is damaged",
        "written by a newer aye, skipped",
        "line 4 was being written when aye ended",
        "user message 1 (",
        "cannot list it: ",
    ] {
        assert!(text.contains(expected), "{expected:?} is missing:\n{text}");
    }
    assert!(!text.contains("xyzzy"), "{text}");
    for (id, expected) in
        [("01ja", "its first line is damaged"), ("02", "Cannot find the session \"02\": no ID begins with it")]
    {
        let (out, err, code) =
            Setup::with_home(&setup.root, &["doctor", "--resume", id, "--bundle", "inside"]).run_piped("");
        assert_eq!((err.as_str(), code), ("", 0), "{out}");
        let file = setup.root.path().join("project/inside");
        let text = std::fs::read_to_string(&file).unwrap();
        assert!(text.contains(expected), "{expected:?} is missing:\n{text}");
        std::fs::remove_file(file).unwrap();
    }
    // A file in place of the sessions folder.
    std::fs::remove_dir_all(&sessions).unwrap();
    std::fs::write(&sessions, "xyzzy").unwrap();
    let text = make_bundle();
    assert!(text.contains("cannot list them: ") && !text.contains("xyzzy"), "{text}");
}

#[test]
fn bundle_never_replaces_a_file() {
    let setup = Setup::new(&[]).with_file("there.txt", "mine").with_file("inside/x", "");
    let project = setup.root.path().join("project");
    std::os::unix::fs::symlink("nowhere", project.join("link")).unwrap();
    let before = list_files(&project);
    for (arguments, expected) in [
        (&["doctor", "--bundle", "there.txt"][..], "there.txt: it already exists. Name another"),
        (&["doctor", "--bundle", "link"], "Cannot write link: it exists and is not a regular file"),
        (&["doctor", "--bundle", "no/such/x.txt"], "Cannot write no/such/x.txt: its parent folder does not exist"),
        (&["doctor", "--bundle", "there.txt/x"], "there.txt/x: Not a directory"),
        (&["--bundle"], "Cannot use --bundle here: it is an option of another command. Use it with: aye doctor"),
        (&["doctor", "--bundle", "--json"], "cannot be used with"),
    ] {
        let (out, err, code) = Setup::with_home(&setup.root, arguments).run_piped("");
        assert!(err.contains(expected) && out.is_empty() && code > 0, "{arguments:?}: {out}{err}");
        assert_eq!(list_files(&project), before, "{arguments:?}");
    }
    assert_eq!(std::fs::read_to_string(project.join("there.txt")).unwrap(), "mine");
    let (out, _, code) = Setup::with_home(&setup.root, &["doctor", "--bundle", "inside"]).run_piped("");
    let created = list_files(&project.join("inside"));
    assert!(code == 0 && created.len() == 2 && out.contains(&format!("inside/{}", created[0])), "{out}{created:?}");
}
