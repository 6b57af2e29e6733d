//! Files that permissions close in a dry run: a command of the dry run closed them, or the project had them closed
//! before. What a command closed is reported and cannot be read. What is writable live is writable in the dry run, for
//! an ordinary user too.

use crate::overlay_sandbox_escapes::has_overlay_sandbox;
use crate::support::folder::Folder;
use crate::support::ordinary_user::continue_as_ordinary_user;
use crate::support::overlay_project::{EmptyProject, command_line, list_changed_paths, open_overlay};
use crate::support::terminal_session::{command_answer, text_answer};
use crate::support::user::User;
use aye::project::checkpoints::CallRecorder;
use aye::project::disk::Disk;
use aye::project::overlay_sandbox::OverlayShell;
use aye::project::overlay_sandbox::View;
use aye::project::rehearsal::{FileNode, Rehearsal};
use aye::project::{Error, Reader, Writer, change_summary};
use std::fs;
use std::ops::ControlFlow;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

fn read_mode(path: &Path) -> u32 {
    path.symlink_metadata().unwrap().mode() & 0o7777
}

/// A project with an overlay and some files.
struct DryRun {
    _root: Folder,
    project: PathBuf,
    rehearsal: Arc<Rehearsal>,
    shell: Arc<OverlayShell>,
}

impl DryRun {
    fn new() -> Self {
        let EmptyProject { root, project, rehearsal, shell } = EmptyProject::new();
        fs::create_dir(project.join("src")).unwrap();
        for file in ["f", "src/a"] {
            fs::write(project.join(file), "one").unwrap();
        }
        Self { _root: root, project, rehearsal, shell }
    }

    async fn run_command(&self, command: &str) {
        let ran = self
            .shell
            .run_in_overlay(&command_line(command, &self.project), View::WithoutSecrets, &|_| {})
            .await
            .unwrap();
        assert_eq!(ran.output, "", "{command}");
    }

    /// The content of a file, or the error if it cannot be read.
    fn read(&self, path: &str) -> String {
        match self.rehearsal.read(&self.rehearsal.locate(path).unwrap()) {
            Ok(bytes) => String::from_utf8(bytes).unwrap(),
            Err(Error::Io { source, .. }) => source.kind().to_string(),
            Err(error) => error.to_string(),
        }
    }

    /// Writes the file and returns whether that succeeded.
    fn can_write(&self, path: &str) -> bool {
        let location = self.rehearsal.locate(path).unwrap();
        let before = self.rehearsal.read(&location).ok();
        self.rehearsal.write(&location, before.as_deref(), b"three").is_ok()
    }

    /// Every path that a walk visits.
    fn list_walked_paths(&self) -> Vec<String> {
        let (mut visited, hidden) = (Vec::new(), true);
        let walked = self.rehearsal.walk(&self.rehearsal.locate(".").unwrap(), hidden, &mut |found| {
            visited.push(found.location.display_path.display().to_string());
            ControlFlow::Continue(())
        });
        walked.unwrap();
        visited
    }

    /// The path and the notes of the only change.
    fn describe_only_change(&self) -> String {
        let all = change_summary::list_changes(&self.rehearsal).unwrap();
        assert_eq!(all.len(), 1, "{all:?}");
        format!("{} {}", all[0].path.display(), all[0].notes.join("; "))
    }
}

const DENIED: &str = "permission denied";

#[tokio::test]
async fn r30_reports_what_a_command_closed_and_does_not_read_the_project_instead() {
    let name = "closed_overlay_files::r30_reports_what_a_command_closed_and_does_not_read_the_project_instead";
    if !continue_as_ordinary_user(name) || !has_overlay_sandbox() {
        return;
    }
    // The project folder itself is closed.
    let scene = DryRun::new();
    let mode = scene.project.metadata().unwrap().permissions().mode();
    scene.run_command("echo two > f; echo three > new; chmod 000 .").await;
    assert_eq!([scene.read("f"), scene.read("src/a"), scene.read("new")], [DENIED; 3]);
    assert_eq!((scene.list_walked_paths(), scene.can_write("f")), (vec![], false));
    assert!(scene.rehearsal.list_names(&scene.rehearsal.locate(".").unwrap()).is_err());
    assert!(
        scene.describe_only_change().starts_with(". a folder becomes an unreadable folder ("),
        "{}",
        scene.describe_only_change()
    );
    let closed = scene.rehearsal.state_digest();
    let change = scene.rehearsal.change_at(Path::new(".")).unwrap().unwrap();
    assert!(scene.rehearsal.apply_change(&change, &CallRecorder::disabled()).is_err());
    scene.run_command(&format!("chmod {:o} {}", mode & 0o7777, scene.project.display())).await;
    assert_eq!([scene.read("f"), scene.read("src/a"), scene.read("new")], ["two\n", "one", "three\n"]);
    assert_eq!(list_changed_paths(&scene.rehearsal), ["f", "new"]);
    assert_ne!(scene.rehearsal.state_digest(), closed);
    // A folder inside it is closed.
    let scene = DryRun::new();
    scene.run_command("echo two > src/a; chmod 000 src").await;
    assert_eq!((scene.read("src/a").as_str(), scene.read("f").as_str()), (DENIED, "one"));
    assert_eq!((scene.list_walked_paths(), scene.can_write("src/a")), (vec!["f".to_owned(), "src".to_owned()], false));
    assert!(
        scene.describe_only_change().starts_with("src a folder becomes an unreadable folder ("),
        "{}",
        scene.describe_only_change()
    );
    let closed = scene.rehearsal.state_digest();
    scene.run_command("chmod 755 src; echo three > src/a; chmod 000 src").await;
    assert_ne!(scene.rehearsal.state_digest(), closed, "the content of the closed folder changed");
}

#[tokio::test]
async fn r30_an_unreadable_folder_still_hides_the_one_in_the_project() {
    let name = "closed_overlay_files::r30_an_unreadable_folder_still_hides_the_one_in_the_project";
    if !continue_as_ordinary_user(name) || !has_overlay_sandbox() {
        return;
    }
    let scene = DryRun::new();
    // A new folder of the same name, which can be entered but not listed.
    scene.run_command("rm -r src; mkdir src; echo new > src/b; chmod 311 src").await;
    assert_eq!([scene.read("src/a"), scene.read("src/b")], [DENIED, "new\n"]);
    assert!(!scene.list_walked_paths().contains(&"src/a".to_owned()));
    scene.run_command("chmod 755 src").await;
    assert_eq!([scene.read("src/a"), scene.read("src/b")], ["there is no file src/a", "new\n"]);
    // A folder that can be listed but not entered: names are known, contents are not.
    scene.run_command("chmod 444 src").await;
    assert_eq!([scene.read("src/a"), scene.read("src/b")], [DENIED; 2]);
    let changes = scene.rehearsal.list_changes().unwrap();
    let b = changes.iter().find(|change| change.path == Path::new("src/b")).unwrap();
    assert!(matches!(&b.after, FileNode::Other(words) if words.contains("unreadable")), "{b:?}");
}

/// A project with nested read-only folders.
fn make_read_only_project(root: &Path) -> PathBuf {
    let project = root.join("project");
    for folder in ["ro/sub", "ro/deep/ro/sub", "src"] {
        fs::create_dir_all(project.join(folder)).unwrap();
    }
    for file in ["ro/file", "ro/sub/file", "src/shut"] {
        fs::write(project.join(file), "one").unwrap();
    }
    set_mode(&project.join("src/shut"), 0o444);
    for folder in ["ro/deep/ro", "ro", ""] {
        set_mode(&project.join(folder), 0o555);
    }
    project
}

#[test]
fn r30_writes_in_read_only_folders_succeed_exactly_if_they_would_live() {
    let name = "closed_overlay_files::r30_writes_in_read_only_folders_succeed_exactly_if_they_would_live";
    if !continue_as_ordinary_user(name) {
        return;
    }
    let (one, other) = (Folder::new(), Folder::new());
    let disk = Disk::new(&make_read_only_project(one.path())).unwrap();
    let project = make_read_only_project(other.path());
    let rehearsal = Rehearsal::new(Arc::new(Disk::new(&project).unwrap()), other.path().join("layer"));
    let write_path_as_content = |to: &dyn Writer, path: &str| {
        let location = to.locate(path).unwrap();
        let before = to.read(&location).ok();
        let done = to.write(&location, before.as_deref(), path.as_bytes());
        done.map_err(|error| error.to_string())
    };
    let all = [
        ("ro/new", false),
        ("ro/sub/new", true),
        ("ro/file", false),
        ("ro/sub/file", true),
        ("ro/new/er", false),
        ("ro/deep/ro/sub/new", true),
        ("ro/deep/ro/new", false),
        ("ro/deep/new/er", true),
        // The writes before this one did not make the folder writable.
        ("ro/new", false),
        ("new", false),
        ("src/shut", false),
        ("src/new", true),
        ("ro/sub/new", true),
    ];
    for (path, is_allowed) in all {
        let (real, rehearsed) = (write_path_as_content(&disk, path), write_path_as_content(&rehearsal, path));
        assert_eq!(rehearsed.is_ok(), is_allowed, "{path}: {rehearsed:?}");
        assert_eq!(rehearsed, real, "{path}");
    }
    let made = ["ro/deep/new", "ro/deep/new/er", "ro/deep/ro/sub/new", "ro/sub/file", "ro/sub/new", "src/new"];
    assert_eq!(list_changed_paths(&rehearsal), made, "no mode of a folder changed");
    let upper = other.path().join("layer/upper");
    for folder in ["", "ro", "ro/deep/ro", "ro/sub"] {
        assert_eq!(read_mode(&upper.join(folder)), read_mode(&project.join(folder)), "{folder}");
    }
    assert!(!other.path().join("layer/unfinished").exists());
    for change in rehearsal.list_changes().unwrap() {
        rehearsal.apply_change(&change, &CallRecorder::disabled()).unwrap();
    }
    assert_eq!(
        (list_changed_paths(&rehearsal), fs::read(project.join("ro/sub/new")).unwrap()),
        (vec![], b"ro/sub/new".to_vec())
    );
    // Makes the folders removable.
    for root in [one.path(), other.path()] {
        for folder in
            ["project", "project/ro", "project/ro/deep/ro", "layer/upper", "layer/upper/ro", "layer/upper/ro/deep/ro"]
        {
            let _ = fs::set_permissions(root.join(folder), fs::Permissions::from_mode(0o755));
        }
    }
}

#[tokio::test]
async fn project_folder_keeps_its_mode_after_a_file_tool() {
    if !has_overlay_sandbox() {
        return;
    }
    let root = Folder::new();
    let project = root.path().join("project");
    fs::create_dir(&project).unwrap();
    set_mode(&project, 0o750);
    for writes_file in [true, false] {
        let (rehearsal, shell) = open_overlay(&project, root.path().join(format!("layers/{writes_file}")));
        if writes_file {
            rehearsal.write(&rehearsal.locate("a").unwrap(), None, b"a").unwrap();
        }
        let outcome = shell
            .run_in_overlay(&command_line("stat -c %a .; chmod 711 .", &project), View::WithoutSecrets, &|_| {})
            .await
            .unwrap();
        assert_eq!(outcome.output, "750\n");
        assert_eq!(list_changed_paths(&rehearsal)[0], ".");
    }
}

#[test]
fn r30_shows_a_mode_change_of_the_project_folder_and_prompts_for_it() {
    if !has_overlay_sandbox() {
        return;
    }
    let user = User::new(vec![command_answer("echo x > a; chmod 711 ."), text_answer("Would do.")]);
    set_mode(&user.project(), 0o755);
    let (out, err, code) = user.setup(&["-p", "--dry-run", "go"]).run_piped("");
    assert_eq!(code, 0, "{out}{err}");
    assert!(out.contains("1 file changed, +1 −0, 1 folder, 1 command"), "{out}");
    assert!(out.contains("~ ./  mode 755 → 711"), "{out}");
    let (json, _, _) = user.run_headless(&["rehearsal", "show", "--json"]);
    let object: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!((&object["changes"][0]["path"], &object["changes"][0]["folder"]), (&".".into(), &true.into()));
    let mut program = user.start(&["rehearsal", "apply", "--hunks"]);
    let screen = program.until_prompt("Apply: change a folder?");
    assert!(screen.contains("mode 755 → 711"), "{screen}");
    program.press_keys("y");
    program.until_prompt("Apply: create a?");
    assert_eq!(read_mode(&user.project()), 0o711);
    program.press_keys("y");
    program.until_prompt("$ echo x > a");
    assert_eq!(fs::read(user.project().join("a")).unwrap(), b"x\n");
}
