//! What a command of a dry run closed with a mode, and what a mode kept closed before: nothing of it is hidden, nothing is
//! read past it, and what may be written for real may be written in the rehearsal, by an ordinary person too.

use crate::stage_escapes::is_there;
use crate::support::folder::Folder;
use crate::support::ordinary::is_ordinary;
use crate::support::person::Person;
use crate::support::staged::{Empty, changed, line, staged};
use crate::support::talking::{runs, says};
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

fn mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

fn mode_of(path: &Path) -> u32 {
    path.symlink_metadata().unwrap().mode() & 0o7777
}

/// A project of an ordinary person with a stage over it.
struct Play {
    _root: Folder,
    project: PathBuf,
    play: Arc<Rehearsal>,
    shell: Arc<OverlayShell>,
}

impl Play {
    fn new() -> Self {
        let Empty { root, project, play, shell } = Empty::new();
        fs::create_dir(project.join("src")).unwrap();
        for file in ["f", "src/a"] {
            fs::write(project.join(file), "one").unwrap();
        }
        Self { _root: root, project, play, shell }
    }

    async fn runs(&self, command: &str) {
        let ran = self.shell.run_in_overlay(&line(command, &self.project), View::Hidden, &|_| {}).await.unwrap();
        assert_eq!(ran.output, "", "{command}");
    }

    /// What is read of a file; the system's words where it may not be.
    fn read(&self, path: &str) -> String {
        match self.play.read(&self.play.locate(path).unwrap()) {
            Ok(bytes) => String::from_utf8(bytes).unwrap(),
            Err(Error::Io { source, .. }) => source.kind().to_string(),
            Err(error) => error.to_string(),
        }
    }

    fn writes(&self, path: &str) -> bool {
        let at = self.play.locate(path).unwrap();
        let before = self.play.read(&at).ok();
        self.play.write(&at, before.as_deref(), b"three").is_ok()
    }

    /// Every path that a walk meets.
    fn walked(&self) -> Vec<String> {
        let mut met = Vec::new();
        let walked = self.play.walk(&self.play.locate(".").unwrap(), true, &mut |found| {
            met.push(found.location.display_path.display().to_string());
            ControlFlow::Continue(())
        });
        walked.unwrap();
        met
    }

    /// What is said of the one change that is told.
    fn told(&self) -> String {
        let all = change_summary::list_changes(&self.play).unwrap();
        assert_eq!(all.len(), 1, "{all:?}");
        format!("{} {}", all[0].path.display(), all[0].notes.join("; "))
    }
}

const DENIED: &str = "permission denied";

#[tokio::test]
async fn r30_what_a_command_closed_is_told_and_is_not_what_the_project_holds() {
    let name = "closed_layers::r30_what_a_command_closed_is_told_and_is_not_what_the_project_holds";
    if !is_ordinary(name) || !is_there() {
        return;
    }
    // The project's own folder.
    let scene = Play::new();
    let mode = scene.project.metadata().unwrap().permissions().mode();
    scene.runs("echo two > f; echo three > new; chmod 000 .").await;
    assert_eq!([scene.read("f"), scene.read("src/a"), scene.read("new")], [DENIED; 3]);
    assert_eq!((scene.walked(), scene.writes("f")), (vec![], false));
    assert!(scene.play.list_names(&scene.play.locate(".").unwrap()).is_err());
    assert!(scene.told().starts_with(". a folder becomes an unreadable folder ("), "{}", scene.told());
    let closed = scene.play.state_digest();
    let change = scene.play.change_at(Path::new(".")).unwrap().unwrap();
    assert!(scene.play.apply_change(&change).is_err());
    scene.runs(&format!("chmod {:o} {}", mode & 0o7777, scene.project.display())).await;
    assert_eq!([scene.read("f"), scene.read("src/a"), scene.read("new")], ["two\n", "one", "three\n"]);
    assert_eq!(changed(&scene.play), ["f", "new"]);
    assert_ne!(scene.play.state_digest(), closed);
    // One below it.
    let scene = Play::new();
    scene.runs("echo two > src/a; chmod 000 src").await;
    assert_eq!((scene.read("src/a").as_str(), scene.read("f").as_str()), (DENIED, "one"));
    assert_eq!((scene.walked(), scene.writes("src/a")), (vec!["f".to_owned(), "src".to_owned()], false));
    assert!(scene.told().starts_with("src a folder becomes an unreadable folder ("), "{}", scene.told());
    let closed = scene.play.state_digest();
    scene.runs("chmod 755 src; echo three > src/a; chmod 000 src").await;
    assert_ne!(scene.play.state_digest(), closed, "what is closed is another by now");
}

#[tokio::test]
async fn r30_a_folder_that_hides_what_the_project_holds_does_so_also_where_it_may_not_be_read() {
    let name = "closed_layers::r30_a_folder_that_hides_what_the_project_holds_does_so_also_where_it_may_not_be_read";
    if !is_ordinary(name) || !is_there() {
        return;
    }
    let scene = Play::new();
    // Another folder of this name, which may be entered and not read.
    scene.runs("rm -r src; mkdir src; echo new > src/b; chmod 311 src").await;
    assert_eq!([scene.read("src/a"), scene.read("src/b")], [DENIED, "new\n"]);
    assert!(!scene.walked().contains(&"src/a".to_owned()));
    scene.runs("chmod 755 src").await;
    assert_eq!([scene.read("src/a"), scene.read("src/b")], ["there is no file src/a", "new\n"]);
    // One that may be read and not entered: its names are known, and nothing of what they stand for.
    scene.runs("chmod 444 src").await;
    assert_eq!([scene.read("src/a"), scene.read("src/b")], [DENIED; 2]);
    let changes = scene.play.list_changes().unwrap();
    let b = changes.iter().find(|change| change.path == Path::new("src/b")).unwrap();
    assert!(matches!(&b.after, FileNode::Other(words) if words.contains("unreadable")), "{b:?}");
}

/// A project with folders that are read-only, one in the other.
fn read_only(root: &Path) -> PathBuf {
    let project = root.join("project");
    for folder in ["ro/sub", "ro/deep/ro/sub", "src"] {
        fs::create_dir_all(project.join(folder)).unwrap();
    }
    for file in ["ro/file", "ro/sub/file", "src/shut"] {
        fs::write(project.join(file), "one").unwrap();
    }
    mode(&project.join("src/shut"), 0o444);
    for folder in ["ro/deep/ro", "ro", ""] {
        mode(&project.join(folder), 0o555);
    }
    project
}

#[test]
fn r30_below_a_read_only_folder_a_write_is_rehearsed_where_it_would_be_done() {
    let name = "closed_layers::r30_below_a_read_only_folder_a_write_is_rehearsed_where_it_would_be_done";
    if !is_ordinary(name) {
        return;
    }
    let (one, other) = (Folder::new(), Folder::new());
    let disk = Disk::new(&read_only(one.path())).unwrap();
    let project = read_only(other.path());
    let under = Arc::new(Disk::new(&project).unwrap());
    let play = Rehearsal::new(under.clone(), other.path().join("layer"));
    let writes = |to: &dyn Writer, path: &str| {
        let at = to.locate(path).unwrap();
        let before = to.read(&at).ok();
        let done = to.write(&at, before.as_deref(), path.as_bytes());
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
        ("ro/new", false),
        ("new", false),
        ("src/shut", false),
        ("src/new", true),
        ("ro/sub/new", true),
    ];
    for (path, may) in all {
        let (real, rehearsed) = (writes(&disk, path), writes(&play, path));
        assert_eq!(rehearsed.is_ok(), may, "{path}: {rehearsed:?}");
        assert_eq!(rehearsed, real, "{path}");
    }
    let made = ["ro/deep/new", "ro/deep/new/er", "ro/deep/ro/sub/new", "ro/sub/file", "ro/sub/new", "src/new"];
    assert_eq!(changed(&play), made, "no mode of a folder is another");
    let upper = other.path().join("layer/upper");
    for folder in ["", "ro", "ro/deep/ro", "ro/sub"] {
        assert_eq!(mode_of(&upper.join(folder)), mode_of(&project.join(folder)), "{folder}");
    }
    assert!(!other.path().join("layer/unfinished").exists());
    for change in play.list_changes().unwrap() {
        play.apply_change(&change).unwrap();
    }
    assert_eq!((changed(&play), fs::read(project.join("ro/sub/new")).unwrap()), (vec![], b"ro/sub/new".to_vec()));
    // So that they can be taken away.
    for root in [one.path(), other.path()] {
        for folder in
            ["project", "project/ro", "project/ro/deep/ro", "layer/upper", "layer/upper/ro", "layer/upper/ro/deep/ro"]
        {
            let _ = fs::set_permissions(root.join(folder), fs::Permissions::from_mode(0o755));
        }
    }
}

#[tokio::test]
async fn a_command_finds_the_projects_own_folder_as_it_is_also_after_a_file_tool() {
    if !is_there() {
        return;
    }
    let root = Folder::new();
    let project = root.path().join("project");
    fs::create_dir(&project).unwrap();
    mode(&project, 0o750);
    for first in [true, false] {
        let (play, shell) = staged(&project, root.path().join(format!("layers/{first}")));
        if first {
            play.write(&play.locate("a").unwrap(), None, b"a").unwrap();
        }
        let ran =
            shell.run_in_overlay(&line("stat -c %a .; chmod 711 .", &project), View::Hidden, &|_| {}).await.unwrap();
        assert_eq!(ran.output, "750\n");
        assert_eq!(changed(&play)[0], ".");
    }
}

#[test]
fn r30_the_mode_of_the_projects_own_folder_is_shown_and_put_on_a_card() {
    if !is_there() {
        return;
    }
    let person = Person::new(vec![runs("echo x > a; chmod 711 ."), says("Would do.")]);
    mode(&person.project(), 0o755);
    let (out, err, code) = person.setup(&["-p", "--dry-run", "go"]).print("");
    assert_eq!(code, 0, "{out}{err}");
    assert!(out.contains("1 file changed, +1 −0, 1 folder, 1 command"), "{out}");
    assert!(out.contains("~ ./  mode 755 → 711"), "{out}");
    let (json, _, _) = person.told(&["rehearsal", "show", "--json"]);
    let told: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!((&told["changes"][0]["path"], &told["changes"][0]["folder"]), (&".".into(), &true.into()));
    let mut program = person.start(&["rehearsal", "apply", "--hunks"]);
    let screen = program.until_asked("apply: change a folder?");
    assert!(screen.contains("mode 755 → 711"), "{screen}");
    program.keys("y");
    program.until_asked("apply: create a?");
    assert_eq!(mode_of(&person.project()), 0o711);
    program.keys("y");
    program.until_asked("$ echo x > a");
    assert_eq!(fs::read(person.project().join("a")).unwrap(), b"x\n");
}
