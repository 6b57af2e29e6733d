//! Dry runs in unusual places: file systems without overlays, a sandbox that fails half-way, a home inside the project
//! and a project inside the home, names that are not UTF-8, deleted folders.

use crate::overlay_sandbox_escapes::has_overlay_sandbox;
use crate::support::folder::Folder;
use crate::support::mounts::{continue_with_mounts, mount_overlay, mount_small_disk, read_mounts};
use crate::support::overlay_project::{EmptyProject, command_line, list_changed_paths, open_overlay};
use crate::support::print_uncaptured;
use crate::support::program::{Setup, program};
use crate::support::scene::Scene;
use crate::support::scripted::{Reply, calls, says};
use crate::support::service::Service;
use crate::support::terminal_session::{calls_answer_after, command_answer, text_answer};
use aye::chat::Outcome;
use aye::project::overlay_sandbox::{CommandRehearsal, View, test_overlay_sandbox};
use serde_json::{Value, json};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

fn command_reply(command: &str) -> Reply {
    calls("bash_exec", json!({ "command": command }))
}

/// Checks the results of a model that runs a command and creates a file in a project without an overlay sandbox.
async fn check_results_without_sandbox(scene: &mut Scene, overlay_folder: PathBuf, reason: &str) {
    let (rehearsal, shell) = open_overlay(&scene.project(), overlay_folder);
    scene.runtime.set_rehearsal(CommandRehearsal::Sandboxed(shell));
    let before = read_mounts();
    scene.say("go").await;
    let outcomes = scene.outcomes();
    assert!(outcomes[0].text().contains(&format!("Commands do not run in this dry run ({reason}")), "{outcomes:?}");
    assert!(matches!(&outcomes[1], Outcome::Rehearsed(_)), "{outcomes:?}");
    assert!(outcomes[2].text().contains("made.txt"), "{outcomes:?}");
    assert_eq!(read_mounts(), before, "no mount is left");
    assert_eq!(list_changed_paths(&rehearsal), [""; 0], "the refused command changed nothing in the overlay");
    assert!(!scene.project().join("ran").exists());
}

fn scene_without_sandbox() -> Scene {
    Scene::dry_run([
        command_reply("touch ran"),
        calls("write_file", json!({ "path": "made.txt", "content": "x\n" })),
        calls("list_files", json!({})),
        says("Would do."),
    ])
}

#[tokio::test]
async fn r30_without_overlay_support_nothing_runs_and_no_mount_is_left() {
    let name = "unusual_overlays::r30_without_overlay_support_nothing_runs_and_no_mount_is_left";
    if !has_overlay_sandbox() || !continue_with_mounts(name) {
        return;
    }
    let mut scene = scene_without_sandbox();
    // The kernel allows at most two overlays over each other.
    let folder = Folder::new();
    mount_small_disk(&folder.path().join("disk"), "size=4m");
    mount_overlay(&scene.project(), &folder.path().join("disk/one"));
    mount_overlay(&scene.project(), &folder.path().join("disk/two"));
    let reason = "cannot mount an overlay on the project's file system";
    let tried = test_overlay_sandbox(&program(), &scene.project(), folder.path()).unwrap_err();
    assert!(tried.starts_with(reason), "{tried}");
    check_results_without_sandbox(&mut scene, folder.path().join("layer"), reason).await;
}

#[tokio::test]
async fn r30_overlay_sandbox_that_fails_half_way_leaves_no_mount() {
    let name = "unusual_overlays::r30_overlay_sandbox_that_fails_half_way_leaves_no_mount";
    if !has_overlay_sandbox() || !continue_with_mounts(name) {
        return;
    }
    let mut scene = scene_without_sandbox();
    let folder = Folder::new();
    // All overlays are mounted when the sandbox finds that a device is missing.
    mount_small_disk(&folder.path().join("dev"), "size=1m");
    let null = folder.path().join("dev/null");
    std::fs::write(&null, "").unwrap();
    let bound = rustix::mount::mount_bind("/dev/null", &null);
    bound.unwrap();
    rustix::mount::mount_bind_recursive(folder.path().join("dev"), "/dev").unwrap();
    check_results_without_sandbox(&mut scene, folder.path().join("layer"), "cannot create its devices").await;
}

#[tokio::test]
async fn overlay_sandbox_on_tmpfs_and_reason_for_a_project_with_a_mount() {
    let name = "unusual_overlays::overlay_sandbox_on_tmpfs_and_reason_for_a_project_with_a_mount";
    if !has_overlay_sandbox() || !continue_with_mounts(name) {
        return;
    }
    let test_folder = Folder::new();
    let path_of = |path: &str| test_folder.path().join(path);
    mount_small_disk(&path_of("memory"), "size=1m");
    std::fs::write(path_of("memory/a"), "a").unwrap();
    let (rehearsal, shell) = open_overlay(&path_of("memory"), path_of("layer"));
    let outcome = shell
        .run_in_overlay(&command_line("cat a; rm a; touch b", &path_of("memory")), View::WithoutSecrets, &|_| {})
        .await
        .unwrap();
    assert_eq!((outcome.output.as_str(), list_changed_paths(&rehearsal)), ("a", vec!["a".to_owned(), "b".to_owned()]));
    mount_small_disk(&path_of("with_mount/disk"), "size=1m");
    let before = read_mounts();
    let with_mount = test_overlay_sandbox(&program(), &path_of("with_mount"), &path_of("other")).unwrap_err();
    assert!(
        with_mount.starts_with("the project is the root of a file system or contains a mount point"),
        "{with_mount}"
    );
    assert_eq!(read_mounts(), before);
}

/// Runs a headless dry run with this environment and returns the result of each call that the model received.
fn results_of_dry_run(setup: Setup, service: &Service) -> Vec<String> {
    let (out, err, code) = setup.run_piped("");
    assert_eq!(code, 0, "{out}{err}");
    let messages = service.received().last().unwrap().body["messages"].as_array().unwrap().clone();
    let results = messages.iter().filter(|message| message["role"] == "tool");
    results.map(|message| message["content"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn r30_overlay_sandbox_works_with_home_and_project_nested() {
    if !has_overlay_sandbox() {
        return;
    }
    let runtime = tokio::runtime::Runtime::new().unwrap();
    // In the first case the home contains the project, and its other files are not visible. In the second case the
    // home is inside the project and visible.
    for (home, is_note_listed, first_result) in [("", false, "exit 1"), ("project/home", true, "seen\nexit 0")] {
        let service = runtime.block_on(Service::start(vec![
            // Scripts, because a command that names a path outside is withheld.
            command_answer("sh first.sh"),
            command_answer("sh second.sh"),
            text_answer("Done."),
        ]));
        let arguments = ["-p", "--dry-run", "--base-url", &service.base_url, "--model", "m", "go"];
        let first = "echo note > ~/note; echo x > here; find ~/aye -type f 2>/dev/null; test -e ~/kept && echo seen\n";
        let setup = Setup::new(&arguments).with_file("first.sh", first).with_file("second.sh", "cat ~/note here\n");
        let root = setup.root.clone();
        let home = root.path().canonicalize().unwrap().join(home);
        std::fs::create_dir_all(&home).unwrap();
        std::fs::write(home.join("kept"), "kept\n").unwrap();
        let aye_folder = home.join("aye");
        std::fs::create_dir_all(aye_folder.join("config")).unwrap();
        std::fs::write(aye_folder.join("config/config.toml"), "[dry_run]\noutside = \"overlay\"\n").unwrap();
        let setup = setup.env("HOME", home.to_str().unwrap()).env("AYE_HOME", aye_folder.to_str().unwrap());
        assert_eq!(results_of_dry_run(setup, &service), [first_result, "note\nx\nexit 0"]);
        assert!(!home.join("note").exists() && !root.path().join("project/here").exists());
        // A change of a home in the project is listed; a change of a home around it is not.
        let show = Setup::with_home(&root, &["rehearsal", "show", "--json"]);
        let (out, err, code) = show.env("AYE_HOME", aye_folder.to_str().unwrap()).run_piped("");
        assert_eq!(code, 0, "{err}");
        let listing: Value = serde_json::from_str(&out).unwrap();
        let paths: Vec<&str> =
            listing["changes"].as_array().unwrap().iter().map(|one| one["path"].as_str().unwrap()).collect();
        assert_eq!(paths, if is_note_listed { vec!["here", "home/note"] } else { vec!["here"] });
    }
}

/// Runs the program in a folder whose name may be any bytes.
fn run_in_folder(folder: &Path, home: &Path, arguments: &[&str]) -> (String, String, i32) {
    let mut command = std::process::Command::new(program());
    command.args(arguments).current_dir(folder).env_clear().env("AYE_HOME", home).env("HOME", home);
    command.env("PATH", std::env::var_os("PATH").unwrap()).env("NO_PROXY", "127.0.0.1");
    let output = command.stdin(std::process::Stdio::null()).output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (text(&output.stdout), text(&output.stderr), output.status.code().unwrap_or(-1))
}

#[test]
fn r30_project_name_that_is_not_utf8_is_rehearsed_listed_and_discarded() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let is_sandboxed = has_overlay_sandbox();
    for name in [&b" two  words"[..], b"line\nend", b"no \xff text", b"--folder"] {
        let service = runtime.block_on(Service::start(vec![
            calls_answer_after(Duration::ZERO, &[("write_file", json!({ "path": "a b.txt", "content": "x\n" }))]),
            command_answer("cat 'a b.txt'; printf y > \"$(printf 'odd\\n\\377')\""),
            text_answer("Done."),
        ]));
        let root = Folder::new();
        let (folder, home) = (root.path().join(OsStr::from_bytes(name)), root.path().join("home"));
        std::fs::create_dir(&folder).unwrap();
        let base = ["-p", "--dry-run", "--base-url", &service.base_url, "--model", "m", "go"];
        let (out, err, code) = run_in_folder(&folder, &home, &base);
        assert_eq!((code, err.as_str()), (0, ""), "{out}");
        assert!(out.contains("+ a b.txt  +1 −0"), "{out}");
        let (out, err, code) = run_in_folder(&folder, &home, &["rehearsal", "show", "--json"]);
        assert_eq!((code, err.as_str()), (0, ""), "{out}");
        let listing: Value = serde_json::from_str(&out).unwrap();
        assert_eq!(listing["changes"][0]["path"], "a b.txt");
        if is_sandboxed {
            assert_eq!(listing["changes"][1]["path_bytes"], json!(b"odd\n\xff".to_vec()));
        }
        let (patch, _, _) = run_in_folder(&folder, &home, &["rehearsal", "diff"]);
        assert!(
            patch.contains("+++ b/a b.txt\t\n") && (!is_sandboxed || patch.contains("\"b/odd\\n\\377\"")),
            "{patch}"
        );
        let (out, err, code) = run_in_folder(&folder, &home, &["rehearsal", "drop", "--yes"]);
        assert!(code == 0 && out.contains("Discarded the rehearsal"), "{out}{err}");
        assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 0);
        assert_eq!(std::fs::read_dir(home.join("data/rehearsal")).unwrap().count(), 0);
    }
}

/// Runs a dry run that writes two files, with a service that then has `more` answers. Returns the service with its
/// runtime, the setup, and the ID of the session.
pub fn dry_run_of_two_files(
    more: Vec<crate::support::service::Answer>,
) -> (tokio::runtime::Runtime, Service, Setup, String) {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let write = |path: &str| ("write_file", json!({ "path": path, "content": "new\n" }));
    let mut all =
        vec![calls_answer_after(Duration::ZERO, &[write("a.txt"), write("deep/b.txt")]), text_answer("Would do.")];
    all.extend(more);
    let service = runtime.block_on(Service::start(all));
    let setup = Setup::new(&["-p", "--dry-run", "--base-url", &service.base_url, "--model", "m", "go"]);
    let (_, err, code) = setup.run_piped("");
    assert_eq!(code, 0, "{err}");
    let layers = setup.root.path().join("home/aye/data/rehearsal");
    let id = std::fs::read_dir(layers).unwrap().next().unwrap().unwrap().file_name().into_string().unwrap();
    (runtime, service, setup, id)
}

#[test]
fn r30_applying_to_a_deleted_folder_creates_nothing_and_reports_it() {
    let (_runtime, service, setup, id) = dry_run_of_two_files(vec![]);
    let root = setup.root.clone();
    let base = ["--base-url", &service.base_url, "--model", "scripted-7b"];
    // The folder is moved while the prompt is open.
    let mut program = Setup::with_home(&root, &[&["rehearsal", "apply"][..], &base].concat()).size(100, 30).start();
    program.until_prompt("a.txt");
    std::fs::rename(root.path().join("project"), root.path().join("moved")).unwrap();
    program.press_keys("y");
    let screen = program.until("a.txt: the project's folder");
    assert!(screen.contains("0 of 2 applied"), "{screen}");
    program.until_idle("ask mode");
    program.press_keys("\x04");
    program.wait_for_exit();
    assert!(!root.path().join("project").exists(), "the folder was created again");
    assert_eq!(std::fs::read_dir(root.path().join("moved")).unwrap().count(), 0);
    // The folder is gone before the program starts.
    std::fs::create_dir_all(root.path().join("project/inner")).unwrap();
    let overlay = root.path().join("home/aye/data/rehearsal").join(&id);
    let session = root.path().join(format!("home/aye/data/sessions/{id}.jsonl"));
    let text = std::fs::read_to_string(&session).unwrap().replacen("/project\"", "/project/gone\"", 1);
    std::fs::write(&session, text).unwrap();
    let mut program =
        Setup::with_home(&root, &[&["rehearsal", "apply", &id][..], &base].concat()).size(100, 30).start();
    program.until("no longer exists");
    assert_eq!(program.wait_for_exit(), 2);
    assert!(overlay.join("upper/a.txt").exists(), "the rehearsed changes are kept");
}

/// Each mount costs time in every command. No other mount of the system is visible.
#[tokio::test]
async fn overlay_sandbox_has_only_mounts_for_overlays_devices_and_empty_folders() {
    if !has_overlay_sandbox() {
        return;
    }
    let EmptyProject { root: _root, project, shell, .. } = EmptyProject::new();
    let outcome = shell
        .run_in_overlay(&command_line("cat /proc/self/mountinfo", &project), View::WithoutSecrets, &|_| {})
        .await
        .unwrap()
        .output;
    // In each line, the type and the source of the file system follow ` - `.
    let count = |kind: &str| outcome.lines().filter(|line| line.contains(kind)).count();
    // The project and, outside it, the existing folders for temporary files, each once.
    assert!((1..=5).contains(&count(" - overlay aye")), "{outcome}");
    assert!(count(" - tmpfs ") <= 8, "a root, a /dev, memory to share and empty folders: {outcome}");
    assert_eq!(count(" - proc "), 1, "{outcome}");
    let roots = outcome.lines().filter(|line| line.split(' ').nth(4) == Some("/"));
    assert!(roots.clone().count() == 1 && roots.into_iter().all(|line| line.contains(" - tmpfs ")), "{outcome}");
    print_uncaptured(&format!("an overlay sandbox: {} mounts", outcome.lines().count()));
    assert!(outcome.lines().count() <= 100, "{outcome}");
}
