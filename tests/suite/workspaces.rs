//! Workspaces of sessions in the real program: `aye files`, kills, several programs and full disks.

use crate::support::program::{Setup, program};
use crate::support::stored_files::list_all_files;
use crate::support::{pick_count, requested_trials};
use aye::chat::{Digest, Entry, SessionId};
use aye::store::{Header, Log, Places, SessionLog};
use aye::text::workspace_address::{AddressTarget, PathPrefix, ScopedPath, WorkspacePath};
use aye::workspace::{Limits, NewFile, Origin, Replaces, StoredFile, Workspace};
use serde_json::Value;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::process::{Command, Stdio};
use std::time::Duration;

pub const SESSION: &str = "01JDXA0000000000000000000Z";

/// A home with one session of the project.
fn setup_with_session() -> Setup {
    let setup = Setup::new(&[]);
    add_session(&setup);
    setup
}

/// Adds a session of the project.
pub fn add_session(setup: &Setup) {
    let places = Places::within(&setup.root.path().join("home/aye"));
    places.prepare().unwrap();
    let header = Header::new(SessionId(SESSION.into()), &setup.root.path().join("project"), "m", false);
    let mut log = SessionLog::new(&places.sessions(), &header);
    log.append(&Entry::UserMessage { text: "x".into() }).unwrap();
}

pub fn open_workspace(setup: &Setup) -> Workspace {
    let places = Places::within(&setup.root.path().join("home/aye"));
    Workspace::new(&places, SessionId(SESSION.into()), Limits::default())
}

pub fn target(path: &str) -> AddressTarget {
    AddressTarget::Path(ScopedPath::parse(path).unwrap())
}

fn list(workspace: &Workspace) -> Vec<StoredFile> {
    workspace.list(&PathPrefix::parse("").unwrap()).unwrap()
}

/// Runs `aye files` with these arguments.
fn run(setup: &Setup, arguments: &[&str], input: &str) -> (String, String, i32) {
    Setup::with_home(&setup.root, &[&["files"], arguments].concat()).run_piped(input)
}

#[test]
fn files_are_stored_listed_copied_deleted_and_restored() {
    let setup = setup_with_session().with_file("data.csv", "a,b\n");
    let succeed = |arguments: &[&str], input: &str| {
        let (out, err, code) = run(&setup, arguments, input);
        assert_eq!(code, 0, "{arguments:?}: {out}{err}");
        out
    };
    assert_eq!(succeed(&[], ""), "no files in the workspace of this session\n");
    let stored = succeed(&["put", "data.csv", "reports/data.csv"], "");
    let id = stored.split_whitespace().next().unwrap().to_owned();
    assert!(stored.contains("reports/data.csv  4 bytes · text/csv"), "{stored}");
    succeed(&["put", "-", "note"], "from standard input");
    let (_, err, code) = run(&setup, &["put", "-", "note"], "other");
    assert_eq!((code, err.contains("it exists. Replace it with --overwrite.")), (2, true), "{err}");
    succeed(&["put", "-", "note", "--overwrite"], "other");
    assert_eq!(succeed(&["cat", "note"], ""), "other");
    assert_eq!(succeed(&["cat", &format!("workspace://{id}")], ""), "a,b\n");
    let listed = succeed(&["ls", "--json", "--session", &SESSION[..10]], "");
    let rows: Vec<Value> = listed.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!((rows[0]["path"].as_str(), rows[0]["version"].as_u64()), (Some("note"), Some(2)), "{listed}");
    assert_eq!((rows[1]["id"].as_str(), rows[1]["tool"].as_str()), (Some(id.as_str()), Some("aye files")), "{listed}");
    assert!(succeed(&["ls", "reports"], "").starts_with("1 file, 4 bytes\n"));
    succeed(&["get", "note", "copy"], "");
    assert_eq!(std::fs::read_to_string(setup.root.path().join("project/copy")).unwrap(), "other");
    assert_eq!(run(&setup, &["get", "note", "copy"], "").2, 2, "a file of the user is not replaced");
    succeed(&["rm", "note", &id], "");
    assert_eq!(succeed(&["ls"], ""), "no files in the workspace of this session\n");
    let (_, err, code) = run(&setup, &["cat", "note"], "");
    assert_eq!(code, 2);
    assert!(err.contains("There is no file /note in the workspace. List the files with `aye files`"), "{err}");
    let history = succeed(&["history", "note"], "");
    let note = history.split('@').next().unwrap().to_owned();
    assert_eq!(history.lines().count(), 2, "{history}");
    succeed(&["restore", &format!("{note}@1")], "");
    assert_eq!(succeed(&["cat", "note"], ""), "from standard input");
    succeed(&["restore", "reports/data.csv"], "");
    assert_eq!(succeed(&["cat", &id], ""), "a,b\n");
    for (arguments, part) in [
        (&["cat", "../x"][..], "“.” and “..” are not names of files"),
        (&["rm", &format!("{id}@1")], "a file is deleted as a whole"),
        (&["cat", &format!("{id}@9")], "has no version 9: its latest is version 3"),
        (&["ls", "--session", "01Z"], "Cannot find the session"),
        (&["put", "missing"], "Cannot read missing"),
    ] {
        let (_, err, code) = run(&setup, arguments, "");
        assert!(code == 2 && err.contains(part), "{arguments:?}: {err}");
    }
    assert_eq!(run(&setup, &["prune"], "").2, 2, "without a terminal it asks for --yes");
    assert_eq!(succeed(&["prune", "--yes"], ""), "removed 3 versions, 5 bytes\n");
    let history = succeed(&["history", "note"], "");
    assert_eq!((history.matches("no longer kept").count(), history.lines().count()), (2, 3), "{history}");
    let (_, err, code) = run(&setup, &["restore", &format!("{note}@1")], "");
    assert!(code == 2 && err.contains("is no longer kept"), "{err}");
    assert_eq!(succeed(&["cat", "note"], ""), "from standard input");
    let copied = Setup::with_home(&setup.root, &["sessions", "fork", SESSION]).run_piped("").0;
    let copy = copied.split_whitespace().find(|word| word.len() == SESSION.len()).unwrap().to_owned();
    assert_eq!(succeed(&["cat", &id, "--session", &copy], ""), "a,b\n");
    succeed(&["rm", &id, "--session", &copy], "");
    assert_eq!(succeed(&["cat", &id, "--session", SESSION], ""), "a,b\n", "the original is unchanged");
    Setup::with_home(&setup.root, &["sessions", "rm", "--yes", SESSION]).run_piped("");
    let left = list_all_files(&setup.root.path().join("home/aye/data/workspace"));
    assert!(!left.is_empty() && !left.iter().any(|file| file.to_string_lossy().contains(SESSION)), "{left:?}");
}

/// Runs `aye files` with these arguments, which changes the workspace, and kills it after a random time. Returns its exit
/// code, or `None` if it was killed.
fn change_and_kill(setup: &Setup, arguments: &[&str], input: String, max_ms: u64) -> Option<i32> {
    let mut child = Command::new(program())
        .arg("files")
        .args(arguments)
        .env("AYE_HOME", setup.root.path().join("home/aye"))
        .current_dir(setup.root.path().join("project"))
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let writer = std::thread::spawn(move || drop(std::io::Write::write_all(&mut stdin, input.as_bytes())));
    std::thread::sleep(Duration::from_micros(random() % (max_ms * 1000)));
    let _ = child.kill();
    let code = child.wait().unwrap().code();
    writer.join().unwrap();
    code
}

fn random() -> u64 {
    RandomState::new().build_hasher().finish()
}

/// Writes and deletions, each killed at a random moment. Whatever was in the workspace before is in it afterwards: every
/// version with its content, and a change that was reported as done.
#[test]
fn a_kill_at_any_moment_loses_no_stored_version() {
    let setup = setup_with_session();
    let kills = requested_trials().unwrap_or_else(|| pick_count(120, 16));
    let started = std::time::Instant::now();
    assert!(run(&setup, &["put", "-", "first"], "x").2 == 0);
    let mut max_ms = u64::try_from(started.elapsed().as_millis()).unwrap() * 2;
    let (mut stored, mut deleted, mut killed) = (0, 0, 0);
    let mut known: Vec<StoredFile> = Vec::new();
    while killed < kills || stored == 0 {
        assert!(killed < kills * 20 + 100, "{stored} stored, {deleted} deleted, {killed} killed");
        assert!(stored + deleted < kills * 20 + 100, "{stored} stored, {deleted} deleted, {killed} killed");
        let exists = open_workspace(&setup).find(&target("file")).is_ok();
        let is_deletion = exists && random().is_multiple_of(3);
        let content = format!("{} ", random()).repeat(2000);
        let code = match is_deletion {
            true => change_and_kill(&setup, &["rm", "file"], String::new(), max_ms),
            false => change_and_kill(&setup, &["put", "-", "file", "--overwrite"], content.clone(), max_ms),
        };
        let workspace = open_workspace(&setup);
        let latest = workspace.find(&target("file")).ok();
        let latest_content = latest.as_ref().map(|file| workspace.read(file).unwrap());
        match code {
            Some(code) => {
                assert_eq!(code, 0, "a change after a kill succeeds");
                let expected = (!is_deletion).then(|| content.clone().into_bytes());
                assert!(latest_content == expected, "a change that was done is lost: {latest:?}");
                if is_deletion { deleted += 1 } else { stored += 1 }
            }
            None => killed += 1,
        }
        // About half of the changes are killed, also if the machine becomes slower or faster.
        max_ms = if code.is_some() { max_ms * 9 / 10 + 1 } else { max_ms * 11 / 10 + 1 };
        let versions: Vec<StoredFile> = match workspace.list_versions(&target("file")) {
            Ok(versions) => versions.into_iter().map(|(version, _)| version).collect(),
            Err(_) => Vec::new(),
        };
        assert!(versions.len() <= known.len() + 1, "one change adds at most one version");
        for (before, now) in known.iter().zip(&versions) {
            assert_eq!((&before.id, before.version, &before.sha256), (&now.id, now.version, &now.sha256));
        }
        assert!(versions.len() >= known.len(), "of {} versions {} are left", known.len(), versions.len());
        assert_eq!(list(&workspace).len(), 1 + usize::from(latest.is_some()), "the other file is unchanged");
        known = versions;
    }
    let seconds = started.elapsed().as_secs();
    eprintln!("{killed} killed, {stored} stored, {deleted} deleted, {} versions in {seconds} s", known.len());
    assert_eq!(run(&setup, &["put", "-", "last"], "x").2, 0);
    let workspace = open_workspace(&setup);
    let folder = setup.root.path().join("home/aye/data/workspace").join(SESSION);
    let files = ["index.jsonl", "index.copy.jsonl"].map(|name| std::fs::read(folder.join(name)).unwrap());
    assert!(files[0] == files[1], "the last change repaired the index");
    let versions = workspace.list_versions(&target("file")).unwrap();
    assert!(versions.iter().filter(|(_, is_kept)| *is_kept).count() >= versions.len().min(20));
    for (file, is_kept) in versions {
        assert!(!is_kept || workspace.read(&file).is_ok(), "{}", file.version);
    }
}

#[test]
fn programs_that_write_the_same_path_lose_no_version() {
    let setup = setup_with_session();
    let started = std::time::Instant::now();
    let (programs, writes) = (2, requested_trials().unwrap_or_else(|| pick_count(20, 8)));
    std::thread::scope(|scope| {
        for number in 0..programs {
            let setup = &setup;
            scope.spawn(move || {
                for write in 0..writes {
                    let (out, err, code) =
                        run(setup, &["put", "-", "shared", "--overwrite"], &format!("{number} {write}"));
                    assert_eq!(code, 0, "{out}{err}");
                }
            });
        }
    });
    eprintln!("{programs} times {writes} writes in {} s", started.elapsed().as_secs());
    let versions = open_workspace(&setup).list_versions(&target("shared")).unwrap();
    let numbers: Vec<u64> = versions.iter().map(|(file, _)| file.version).collect();
    assert!(numbers.iter().copied().eq(1..=(programs * writes) as u64), "{numbers:?}");
    assert!(versions.iter().all(|(file, _)| file.id == versions[0].0.id), "the file keeps its id");
    let contents: std::collections::HashSet<&Digest> = versions.iter().map(|(file, _)| &file.sha256).collect();
    assert_eq!(contents.len(), programs * writes);
    let kept = versions.iter().filter(|(_, is_kept)| *is_kept).count();
    assert_eq!(kept, (programs * writes).min(21), "the latest version and at most 20 earlier ones");
}

#[test]
#[cfg(target_os = "linux")]
fn a_full_disk_is_reported_and_loses_nothing() {
    use crate::support::mounts::{continue_with_mounts, mount_small_disk};
    if !continue_with_mounts("workspaces::a_full_disk_is_reported_and_loses_nothing") {
        return;
    }
    let setup = setup_with_session();
    mount_small_disk(&setup.root.path().join("home/aye/data/workspace"), "size=256k");
    let workspace = open_workspace(&setup);
    let write = |number: u8, size: usize| {
        let path = WorkspacePath::parse(&format!("{number}")).unwrap();
        let bytes = vec![number; size];
        workspace.write(&NewFile {
            path: &path,
            bytes: &bytes,
            origin: Origin::default(),
            replaces: Replaces::Nothing,
            media_type: None,
        })
    };
    let mut stored = 0;
    let error = loop {
        match write(stored, 20_000) {
            Ok(_) => stored += 1,
            Err(error) => break error.to_string(),
        }
    };
    assert!(stored > 3, "{stored}");
    assert!(error.contains("Cannot use the workspace") && error.contains("No space left on device"), "{error}");
    // Fills the rest, also the last page of the index.
    (100..200).for_each(|number| drop(write(number, 1)));
    for workspace in [&workspace, &open_workspace(&setup)] {
        let files = list(workspace);
        assert!(files.len() >= usize::from(stored), "{}", files.len());
        for file in files {
            let number: u8 = file.path.as_str().parse().unwrap();
            assert!(workspace.read(&file).unwrap().iter().all(|byte| *byte == number));
        }
    }
}
