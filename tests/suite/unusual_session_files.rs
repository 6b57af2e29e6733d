//! Unusual files in place of session files, and unusual export targets: nothing blocks, nothing outside is changed, and
//! every other session works.

use crate::sessions::{Home, ONE, model_reply, user_message};
use crate::support::pick_count;
use crate::support::program::{Setup, program};
use crate::support::service::Service;
use crate::support::terminal_session::text_answer;
use rustix::fs::{CWD, FileType, makedev, mknodat};
use std::fs::{self, Permissions};
use std::io::{Seek, SeekFrom, Write};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::{Command, Stdio};

fn create_home() -> Home {
    let home = Home::new();
    let is_in_project = true;
    home.add_session(ONE, is_in_project, &[user_message("why does the clock flake?"), model_reply("Because of time.")]);
    home
}

/// Creates what is not a session in place of session files and returns their names.
fn create_non_sessions(home: &Home, outside: &Path) -> Vec<&'static str> {
    let session_file = |name: &str| home.sessions().join(format!("{name}.jsonl"));
    symlink(outside, session_file("02LINK")).unwrap();
    symlink("/dev/zero", session_file("02ZERO")).unwrap();
    symlink("nowhere", session_file("02NOWHERE")).unwrap();
    symlink(session_file("02LOOP"), session_file("02LOOP")).unwrap();
    symlink(session_file("02PIPE"), session_file("02TOPIPE")).unwrap();
    mknodat(CWD, session_file("02PIPE"), FileType::Fifo, 0o600.into(), 0).unwrap();
    fs::create_dir(session_file("02FOLDER")).unwrap();
    drop(std::os::unix::net::UnixListener::bind(session_file("02SOCKET")).unwrap());
    let mut names = vec!["02LINK", "02ZERO", "02NOWHERE", "02LOOP", "02TOPIPE", "02PIPE", "02FOLDER", "02SOCKET"];
    // Creating a device needs privileges.
    if mknodat(CWD, session_file("02DEVICE"), FileType::CharacterDevice, 0o600.into(), makedev(1, 5)).is_ok() {
        names.push("02DEVICE");
    }
    names
}

#[test]
fn r52_non_files_in_place_of_sessions_are_reported_without_following_or_blocking() {
    let home = create_home();
    let outside = home.0.root.path().join("outside");
    fs::write(&outside, "{\"aye\":1}\nmine\n").unwrap();
    fs::set_permissions(&outside, Permissions::from_mode(0o644)).unwrap();
    let names = create_non_sessions(&home, &outside);
    let (out, err, code) = home.run(&["list", "--all"]);
    assert_eq!((out.lines().count(), code), (names.len() + 1, 0), "{out}{err}");
    assert_eq!(out.matches("  cannot be read: it is ").count(), names.len(), "{out}");
    assert!(out.contains("why does the clock flake?"), "{out}");
    let (out, err, code) = home.run(&["search", "clock"]);
    assert!(out.contains(ONE) && code == 0, "{out}{err}");
    assert_eq!(err.matches("Cannot search all of ").count(), names.len(), "{err}");
    for name in names {
        let commands: [&[&str]; 5] =
            [&["show", name], &["export", name], &["fork", name], &["rename", name, "x"], &["rm", "--yes", name]];
        for command in commands {
            let (out, err, code) = home.run(command);
            assert!(out.is_empty() && [1, 2].contains(&code), "{command:?}: {code} {out}{err}");
            let why = ["it is not a file", "it is a symbolic link, which is not followed"];
            assert!(why.iter().any(|why| err.contains(why)), "{command:?}: {err}");
        }
    }
    assert_eq!(fs::read_to_string(&outside).unwrap(), "{\"aye\":1}\nmine\n");
    assert_eq!(
        outside.metadata().unwrap().permissions().mode() & 0o777,
        0o644,
        "the mode of a file outside was changed"
    );
    let (out, _, code) = home.run(&["show"]);
    assert!(code == 0 && out.contains("Because of time."), "{out}");
}

#[test]
fn r52_r65_endless_line_takes_no_memory_and_hides_no_session() {
    let home = create_home();
    let is_in_project = true;
    let long = home.add_session("02LONG", is_in_project, &[user_message("before it")]);
    let mut file = fs::File::options().write(true).open(&long).unwrap();
    // A sparse file: NUL bytes without a line break.
    let bytes = pick_count(1 << 30, 65 << 20) as u64;
    let end = file.seek(SeekFrom::End(0)).unwrap() + bytes;
    file.set_len(end).unwrap();
    file.seek(SeekFrom::End(0)).unwrap();
    let last = serde_json::json!({ "seq": 2, "at": 1, "entry": user_message("last it") });
    file.write_all(format!("\n{last}\n").as_bytes()).unwrap();
    for (arguments, expected) in [
        (&["show", "02long"][..], "last it"),
        (&["list"], "before it"),
        (&["export", "02long"], "last it"),
        (&["search", "clock"], ONE),
        (&["rename", "02long", "a long one"], "renamed"),
    ]
    .into_iter()
    .take(pick_count(5, 2))
    {
        // Enough memory for the longest accepted line and for the program itself.
        let limited = Command::new("sh")
            .args(["-c", "ulimit -v 1500000; exec \"$0\" sessions \"$@\""])
            .arg(program())
            .args(arguments)
            .env_clear()
            .env("AYE_HOME", home.0.root.path().join("home/aye"))
            .current_dir(home.0.root.path().join("project"))
            .output()
            .unwrap();
        let (out, err) = (String::from_utf8_lossy(&limited.stdout), String::from_utf8_lossy(&limited.stderr));
        assert!(limited.status.success() && out.contains(expected), "{arguments:?}: {out}{err}");
        if arguments[0] == "show" {
            assert!(out.contains("line 3 is too long to be an entry and was skipped"), "{out}{err}");
        }
    }
}

#[test]
fn search_takes_text_of_any_length_literally() {
    let home = create_home();
    let long = "long ".repeat(20_000);
    let is_in_project = true;
    home.add_session("02LONG", is_in_project, &[user_message(&format!("{long}end\nof \"it\" \\ \u{1b}[31mred. a.c"))]);
    let found = |text: &[&str]| {
        let (out, err, code) = home.run(&[&["search"], text].concat());
        assert!(code == 0 || code == 1 && err.starts_with("aye: no session contains"), "{code} {err}");
        out.contains("02LONG")
    };
    assert!(found(&[&long[..100_000]]) && found(&[&format!("{}END", &long[..50_000])]));
    assert!(!found(&[&format!("{}x", &long[..90_000])]));
    assert!(found(&["\"it\""]) && found(&["\\"]) && found(&["\u{1b}[31m"]) && found(&["end\nof"]));
    assert!(found(&["a.c"]) && !found(&["a.d"]) && !found(&["(("]) && !found(&["[a-z]+"]));
    for empty in ["", " ", "\n\t", "\u{3000}"] {
        home.check_refused(&["search", empty], "no words to search for");
    }
}

/// Exports in a shell with these redirections or options.
fn export_with(home: &Home, options: &str) -> (String, i32) {
    let line = format!("\"$0\" sessions export 01ja {options}");
    let output = Command::new("sh")
        .args(["-c", &line])
        .arg(program())
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .env("AYE_HOME", home.0.root.path().join("home/aye"))
        .current_dir(home.0.root.path().join("project"))
        .stdin(Stdio::null())
        .output()
        .unwrap();
    (String::from_utf8_lossy(&output.stderr).into_owned(), output.status.code().unwrap_or(-1))
}

#[test]
fn r53_failed_export_is_reported_and_leaves_no_file() {
    let home = create_home();
    let project = home.0.root.path().join("project");
    let (err, code) = export_with(&home, "> /dev/full");
    assert!(code == 1 && err.contains("No space left"), "{code} {err}");
    let (err, code) = export_with(&home, "| true");
    assert_eq!((err.as_str(), code), ("", 0), "a closed pipe is no error");
    let (err, code) = export_with(&home, ">&-");
    assert!(code != 101, "{err}");
    mknodat(CWD, project.join("pipe"), FileType::Fifo, 0o600.into(), 0).unwrap();
    symlink("/dev/full", project.join("link")).unwrap();
    for at in ["pipe", "link", "/dev/full", "/dev/stdout", "."] {
        let (err, code) = export_with(&home, &format!("--force --output {at}"));
        assert!(code == 2 && err.contains("is not a regular file"), "{at}: {code} {err}");
    }
    let (err, code) = export_with(&home, "--output pipe/x");
    assert!(code == 2 && err.contains("Not a directory"), "{code} {err}");
    let remaining: Vec<_> = fs::read_dir(&project).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(remaining.len(), 2, "{remaining:?}");
}

#[test]
fn hostile_title_is_one_harmless_line_everywhere() {
    let home = create_home();
    let hostile = ["a\u{202e}b", "a\nb", "a\u{1b}]0;x\u{7}b", "a\u{200b}\u{feff}b", "--yes", "a\u{9b}31mb", "<script>"];
    let titles: Vec<&str> = hostile.into_iter().step_by(pick_count(1, 3)).collect();
    for &title in &titles {
        let (out, err, code) = home.run(&["rename", "01ja", "--", title]);
        assert!(code == 0 && out.lines().count() == 1, "{title:?}: {out}{err}");
        for arguments in [&["list"][..], &["show"], &["export"], &["export", "--format", "html"], &["search", "clock"]]
        {
            let (out, _, code) = home.run(arguments);
            let bad = |c: char| c != '\n' && c.is_control() || "\u{202e}\u{200b}\u{feff}".contains(c);
            assert!(code == 0 && !out.contains(bad), "{title:?} {arguments:?}: {out:?}");
            assert!(!out.contains("<script>") || arguments != ["export", "--format", "html"], "{out}");
        }
    }
    // The last title applies, and the file is not damaged.
    assert!(home.run(&["list"]).0.contains("<script>"));
    assert_eq!(
        aye::store::read(&home.sessions().join(format!("{ONE}.jsonl"))).unwrap().entries.len(),
        2 + titles.len()
    );
}

#[test]
fn r52_continue_never_skips_an_unreadable_session() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let service = runtime.block_on(Service::start(vec![text_answer("First reply."), text_answer("More.")]));
    let flags = ["--base-url", &service.base_url, "--model", "m"];
    let setup = Setup::new(&[&["-p"], &flags[..], &["about clocks"]].concat());
    let root = setup.root.clone();
    assert_eq!(setup.run_piped("").2, 0);
    let sessions = root.path().join("home/aye/data/sessions");
    std::fs::write(sessions.join("01ZZ.jsonl"), [0; 100]).unwrap();
    let setup_again = |extra_arguments: &[&str]| Setup::with_home(&root, &[extra_arguments, &flags[..]].concat());
    let (_, error, code) = setup_again(&["-p", "--continue", "go on"]).run_piped("");
    assert_eq!(code, 2, "{error}");
    for part in [
        "Cannot choose the session to continue: session 01ZZ cannot be read: the first line of the session is damaged",
        "To continue that one: aye --resume ",
    ] {
        assert!(error.contains(part), "{error}");
    }
    assert_eq!(service.received().len(), 1, "nothing was sent");
    // The list reports it too, and `show` says that its session is not the newest.
    let (listed, _, _) = Setup::with_home(&root, &["sessions"]).run_piped("");
    assert!(listed.contains("cannot be read: the first line of the session is damaged"), "{listed}");
    let (shown, error, code) = Setup::with_home(&root, &["sessions", "show"]).run_piped("");
    assert!(shown.contains("First reply.") && error.contains("session 01ZZ cannot be read") && code == 0, "{error}");
    // On the screen the user chooses.
    let mut program = setup_again(&["--continue"]).start();
    let screen = program.until("about clocks");
    assert!(screen.contains("cannot be read"), "{screen}");
    program.press_keys("about\r");
    program.until("First reply.");
}
