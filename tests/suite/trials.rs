//! Trials of commands in the real overlay sandbox: what they list, what keeping them changes, and what a kill leaves.

use crate::overlay_sandbox_escapes::has_overlay_sandbox;
use crate::sandbox_escapes::has_sandbox;
use crate::support::folder::Folder;
use crate::support::keyboard::PATIENCE;
use crate::support::mounts::{continue_with_mounts, mount_small_disk};
use crate::support::overlay_project::command_line;
use crate::support::own_process::own_process;
use crate::support::program::program;
use crate::support::stored_files::write_script;
use aye::chat::trial::MAX_COMPARED_CHANGES;
use aye::chat::{ChangeKind, CommandLine, CommandSandbox, Group, SandboxAccess, TrialChange};
use aye::project::checkpoints::CallRecorder;
use aye::project::disk::Disk;
use aye::project::overlay_sandbox::{DisclosedPaths, View};
use aye::project::shell::Shell;
use aye::project::trial::{KeepError, Trial, TrialRunner, finish_interrupted_trials, test_sandbox_as_trial};
use std::collections::BTreeSet;
use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

/// A project, and a runner of trials over it.
pub struct TrialProject {
    _folder: Folder,
    pub project: PathBuf,
    trials: PathBuf,
    runner: Arc<TrialRunner>,
}

impl TrialProject {
    /// Creates a project with these files; `None` if there is no overlay sandbox here.
    pub fn with_files(files: &[(&str, &str)]) -> Option<Self> {
        if !has_overlay_sandbox() {
            return None;
        }
        let folder = Folder::new();
        let base = folder.path().canonicalize().unwrap();
        let (project, trials) = (base.join("project"), base.join("data/trials"));
        fs::create_dir(&project).unwrap();
        for (path, text) in files {
            let path = project.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        let disk = Arc::new(Disk::new(&project).unwrap());
        let shell = Arc::new(Shell::new(program()));
        let runner = TrialRunner::new(disk, shell, DisclosedPaths::default(), program(), trials.clone());
        Some(Self { _folder: folder, project, trials, runner: Arc::new(runner) })
    }

    pub async fn try_command(&self, command: &str) -> Trial {
        let line = command_line(command, &self.project);
        self.runner.run_trial(&line, View::Repository, &|_| {}).await.unwrap()
    }

    pub fn file(&self, path: &str) -> Option<String> {
        fs::read_to_string(self.project.join(path)).ok()
    }

    /// Runs git in the project itself.
    fn run_git(&self, arguments: &[&str]) {
        let mut git = std::process::Command::new("git");
        git.args(["-c", "user.name=a", "-c", "user.email=a@a"]).args(arguments).current_dir(&self.project);
        assert!(git.output().unwrap().status.success(), "{arguments:?}");
    }
}

/// Lists the changes of a trial in short form, with a mark for what destroys something.
pub fn list_changes(trial: &Trial) -> Vec<String> {
    let describe = |change: &TrialChange| {
        let destroys = if change.destroys() { " destroys" } else { "" };
        let sensitive = if change.is_sensitive { " sensitive" } else { "" };
        format!("{} {}{destroys}{sensitive}", change.change.kind.name(), change.display_path())
    };
    trial.effects.changes.iter().map(describe).collect()
}

#[tokio::test]
async fn a_trial_changes_nothing_until_it_is_kept() {
    let files = [("a.txt", "one\n"), ("gone.txt", "x\n"), ("old/deep/b", "b"), ("same", "s")];
    let Some(project) = TrialProject::with_files(&files) else { return };
    let command = "echo two >> a.txt; rm gone.txt; rm -r old; mkdir -p new/in; echo n > new/in/f; ln -s a.txt l; touch same; mkfifo p; echo done; exit 3";
    let trial = project.try_command(command).await;
    assert_eq!((trial.outcome.exit, trial.outcome.output.as_str()), (Some(3), "done\n"));
    let expected =
        ["modified a.txt", "deleted gone.txt destroys", "created l", "created new/in/f", "deleted old/ destroys"];
    assert_eq!(list_changes(&trial), expected);
    let unkeepable: Vec<_> = trial.effects.unkeepable.iter().map(|(path, _)| path.clone()).collect();
    assert_eq!(unkeepable, [Path::new("p")]);
    assert_eq!(trial.effects.changes[0].change.diff.as_ref().unwrap().added, 1);
    assert_eq!(project.file("a.txt").as_deref(), Some("one\n"));
    assert!(
        project.file("old/deep/b").is_some()
            && project.file("gone.txt").is_some()
            && !project.project.join("new").exists()
    );
    let unkept = trial.keep(&CallRecorder::disabled()).unwrap();
    assert!(unkept.conflicts.is_empty(), "{unkept:?}");
    assert_eq!(project.file("a.txt").as_deref(), Some("one\ntwo\n"));
    assert_eq!(project.file("new/in/f").as_deref(), Some("n\n"));
    assert!(!project.project.join("old").exists() && !project.project.join("gone.txt").exists());
    assert!(project.project.join("l").is_symlink() && !project.project.join("p").exists());
    wait_until_empty(&project.trials);
}

/// A trial writes in the copy of the project and in private temporary folders. Everything else is read-only.
#[tokio::test]
async fn a_trial_writes_nothing_outside_the_project() {
    let Some(project) = TrialProject::with_files(&[]) else { return };
    let sibling = project.project.with_file_name("sibling");
    fs::create_dir(&sibling).unwrap();
    fs::write(sibling.join("old"), "old").unwrap();
    let paths =
        ["~/aye-trial", "/var/tmp/aye-trial", "/etc/aye-trial", "/usr/aye-trial", "/aye-trial", "../sibling/new"];
    let command = format!(
        "for f in {}; do (echo x > $f) 2>/dev/null && echo $f; done; (echo x >> ../sibling/old) 2>/dev/null; rm -f ../sibling/old 2>/dev/null; echo end",
        paths.join(" ")
    );
    let trial = project.try_command(&command).await;
    assert_eq!(trial.outcome.output, "end\n");
    assert!(trial.effects.outside.is_empty() && trial.effects.changes.is_empty(), "{:?}", trial.effects);
    trial.keep(&CallRecorder::disabled()).unwrap();
    let names: Vec<_> = fs::read_dir(&sibling).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!((names, fs::read_to_string(sibling.join("old")).unwrap()), (vec!["old".into()], "old".to_owned()));
    assert!(paths[1..5].iter().all(|path| !Path::new(path).exists()));
}

/// The contents of many changes are not compared, and each of these changes says so.
#[tokio::test]
async fn only_the_first_changes_are_compared() {
    let names: Vec<String> = (0..MAX_COMPARED_CHANGES + 10).map(|number| format!("f{number}")).collect();
    let files: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), "old\n")).collect();
    let Some(project) = TrialProject::with_files(&files) else { return };
    let trial = project.try_command("for f in f*; do echo new > $f; done").await;
    let (compared, others): (Vec<_>, Vec<_>) = trial.effects.changes.iter().partition(|change| change.is_compared);
    assert_eq!((compared.len(), others.len()), (MAX_COMPARED_CHANGES, 10));
    assert!(compared.iter().all(|change| change.change.diff.is_some()));
    assert!(others.iter().all(|change| change.change.diff.is_none()));
}

/// A trial that is dropped, or whose command is stopped, leaves nothing.
#[tokio::test]
async fn a_discarded_trial_leaves_nothing() {
    let Some(project) = TrialProject::with_files(&[("a", "a")]) else { return };
    drop(project.try_command("echo b > a").await);
    let line = command_line("echo c > a; sleep 60", &project.project);
    let stopped = project.runner.run_trial(&line, View::WithoutSecrets, &|_| {});
    assert!(tokio::time::timeout(std::time::Duration::from_millis(300), stopped).await.is_err());
    wait_until_empty(&project.trials);
    assert_eq!(project.file("a").as_deref(), Some("a"));
}

/// Folders that live commands may write are there, and what a trial writes in them is discarded.
#[tokio::test]
async fn writes_in_folders_of_the_settings_are_discarded() {
    let Some(project) = TrialProject::with_files(&[("a", "a\n")]) else { return };
    let outside = project.project.with_file_name("cache");
    fs::create_dir(&outside).unwrap();
    fs::write(outside.join("old"), "old\n").unwrap();
    let access = SandboxAccess { write: vec![outside.clone()], ..SandboxAccess::default() };
    let cache = outside.display();
    let command =
        format!("cat {cache}/old >> a && echo new > {cache}/new && echo x > {cache}/old && cat {cache}/new >> a");
    let line = CommandLine { sandbox: CommandSandbox::enforced(access), ..command_line(&command, &project.project) };
    let trial = project.runner.run_trial(&line, View::WithoutSecrets, &|_| {}).await.unwrap();
    assert_eq!((trial.outcome.exit, list_changes(&trial)), (Some(0), vec!["modified a".to_owned()]));
    assert!(trial.keep(&CallRecorder::disabled()).unwrap().conflicts.is_empty());
    assert_eq!(project.file("a").as_deref(), Some("a\nold\nnew\n"));
    assert_eq!(fs::read_to_string(outside.join("old")).unwrap(), "old\n");
    assert!(!outside.join("new").exists());
}

/// Nothing is kept if the project changed at a path of the trial, and other changes do not matter.
#[tokio::test]
async fn a_trial_is_not_kept_over_a_changed_project() {
    let Some(project) = TrialProject::with_files(&[("a", "a"), ("b", "b"), ("d/e", "e")]) else { return };
    let trial = project.try_command("echo 2 > a; echo 2 > b; rm -r d; echo n > new").await;
    fs::write(project.project.join("b"), "mine").unwrap();
    fs::write(project.project.join("d/mine"), "mine").unwrap();
    fs::write(project.project.join("new"), "mine").unwrap();
    let error = trial.keep(&CallRecorder::disabled()).unwrap_err();
    let KeepError::Conflicts(paths) = error else { panic!("{error}") };
    assert_eq!(paths, ["b", "d/mine", "new"].map(PathBuf::from));
    for (path, text) in [("a", "a"), ("b", "mine"), ("d/e", "e"), ("d/mine", "mine"), ("new", "mine")] {
        assert_eq!(project.file(path).as_deref(), Some(text), "{path}");
    }
    let trial = project.try_command("echo 3 > a").await;
    fs::write(project.project.join("other"), "x").unwrap();
    trial.keep(&CallRecorder::disabled()).unwrap();
    assert_eq!(project.file("a").as_deref(), Some("3\n"));
}

/// What git ignores is one change per folder, by the ignore files of the project and not by those of the trial.
#[tokio::test]
async fn ignored_folders_are_one_change_and_a_trial_cannot_choose_them() {
    let files = [(".gitignore", "/target\n*.log\n"), ("src/a.rs", "a\n"), ("target/old", "o"), ("x.log", "l")];
    let Some(project) = TrialProject::with_files(&files) else { return };
    project.run_git(&["init", "-q"]);
    let command = "mkdir -p target/debug/deps; for i in $(seq 50); do echo $i > target/debug/deps/$i; done; rm x.log; rm target/old; \
        mkdir out; for i in 1 2 3; do echo $i > out/$i; done; echo '*' > .gitignore; rm -r src";
    let trial = project.try_command(command).await;
    let expected = [
        "modified .gitignore destroys",
        "created out/1",
        "created out/2",
        "created out/3",
        "deleted src/ destroys",
        "created target/debug/",
        "deleted target/old",
        "deleted x.log destroys",
    ];
    assert_eq!(list_changes(&trial), expected);
    let target = &trial.effects.changes[5];
    assert_eq!((target.files_below, target.change.group), (50, Group::Ignored));
    assert_eq!(target.change.notes, ["new folder with 50 files"]);
    assert_eq!(trial.effects.changes[7].change.kind, ChangeKind::Deleted);
}

/// Content that git has not stored is lost if it is reverted, deleted or mostly removed; rewriting it is no loss.
#[tokio::test]
async fn unsaved_work_is_noticed() {
    let lines = "line\n".repeat(20);
    let files = [("clean", lines.as_str()), ("edited", "old\n"), ("formatted", lines.as_str()), ("cut", "x\n")];
    let Some(project) = TrialProject::with_files(&files) else { return };
    project.run_git(&["init", "-q"]);
    project.run_git(&["add", "-A"]);
    project.run_git(&["commit", "-qm", "one"]);
    fs::write(project.project.join("edited"), "my work\n").unwrap();
    fs::write(project.project.join("formatted"), format!("my work\n{lines}")).unwrap();
    fs::write(project.project.join("cut"), &lines).unwrap();
    let trial = project.try_command("git checkout -q edited; rm clean; sed -i 's/^/  /' formatted; echo > cut").await;
    let changes: Vec<String> = list_changes(&trial).into_iter().filter(|change| !change.contains(".git/")).collect();
    assert_eq!(
        changes,
        ["deleted clean destroys", "modified cut destroys", "modified edited destroys", "modified formatted"]
    );
    let losing: Vec<bool> = trial
        .effects
        .changes
        .iter()
        .filter(|change| change.change.group == Group::Source)
        .map(|change| change.loses_unsaved)
        .collect();
    assert_eq!(losing, [false, true, true, false], "git has stored the deleted file");
}

/// A removed folder loses unsaved work only if git has not stored one of its files.
#[tokio::test]
async fn unsaved_work_in_a_removed_folder_is_noticed() {
    let files = [
        ("clean/a", "1\n"),
        ("clean/in/b", "2\n"),
        ("edited/in/c", "3\n"),
        ("new/d", "4\n"),
        (".gitignore", "data\nbuild\n"),
        ("data/in/e", "5\n"),
        ("build/f", "6\n"),
    ];
    let Some(project) = TrialProject::with_files(&files) else { return };
    project.run_git(&["init", "-q"]);
    project.run_git(&["add", "clean", "edited", ".gitignore"]);
    project.run_git(&["commit", "-qm", "one"]);
    fs::write(project.project.join("edited/in/c"), "my work\n").unwrap();
    let trial = project.try_command("rm -r clean edited new data build").await;
    let changes = list_changes(&trial);
    let expected = [
        "deleted build/",
        "deleted clean/ destroys",
        "deleted data/ destroys",
        "deleted edited/ destroys",
        "deleted new/ destroys",
    ];
    assert_eq!(changes, expected);
    let losing = trial.effects.changes.iter().filter(|change| change.loses_unsaved);
    assert_eq!(losing.map(TrialChange::display_path).collect::<Vec<_>>(), ["edited/", "new/"]);
    let lost: Vec<_> = trial.effects.changes.iter().flat_map(|change| &change.lost_files).collect();
    assert_eq!(lost, [Path::new("data/in/e"), Path::new("edited/in/c"), Path::new("new/d")]);
}

/// What a folder replaces is lost, and what replaces an ignored folder is examined.
#[tokio::test]
async fn replaced_files_and_folders_are_examined() {
    let files = [("a", "1\n"), ("b", "work\n"), (".gitignore", "build\n"), ("build/x", "x"), ("data/.env", "K=1\n")];
    let Some(project) = TrialProject::with_files(&files) else { return };
    project.run_git(&["init", "-q"]);
    project.run_git(&["add", "a", ".gitignore"]);
    let command = "rm -r a b build; mkdir -p a/in b build; touch a/in/f build/y build/.env";
    let trial = project.try_command(command).await;
    assert_eq!(
        list_changes(&trial),
        ["deleted a destroys", "created a/in/f", "deleted b destroys", "modified build/ sensitive"]
    );
    let losing = trial.effects.changes.iter().filter(|change| change.loses_unsaved);
    assert_eq!(losing.map(TrialChange::display_path).collect::<Vec<_>>(), ["b"], "git has stored the other");
    assert!(trial.keep(&CallRecorder::disabled()).unwrap().conflicts.is_empty());
    assert!(project.project.join("a/in/f").is_file() && project.project.join("b").is_dir());
    assert!(project.project.join("build/y").is_file() && !project.project.join("build/x").exists());
}

/// Links to the project and to the installed system are ordinary changes; those to other places are marked.
#[tokio::test]
async fn links_that_lead_outside_are_marked() {
    let Some(project) = TrialProject::with_files(&[("src/a", "1\n")]) else { return };
    let root = project.project.display().to_string();
    let command = format!(
        "ln -s ../a src/inner; ln -s {root}/src absolute; ln -s /usr/bin/env system; ln -s src/../../x up; \
         ln -s /etc/passwd users; ln -s ~/x home; ln -s {root}-other near"
    );
    let trial = project.try_command(&command).await;
    let marked = |is_marked: bool| {
        let changes = trial.effects.changes.iter().filter(|change| change.leads_outside == is_marked);
        changes.map(TrialChange::display_path).collect::<Vec<_>>()
    };
    assert_eq!(marked(true), ["home", "near", "up", "users"]);
    assert_eq!(marked(false), ["absolute", "src/inner", "system"]);
}

/// A commit in a trial is a commit once it is kept.
#[tokio::test]
async fn a_commit_is_kept_whole() {
    let Some(project) = TrialProject::with_files(&[("a", "1\n")]) else { return };
    project.run_git(&["init", "-q"]);
    project.run_git(&["add", "-A"]);
    project.run_git(&["commit", "-qm", "one"]);
    let command = "git config --get core.hooksPath; echo 2 > a; git -c user.name=a -c user.email=a@a commit -qam two && git log --format=%s";
    let trial = project.try_command(command).await;
    assert_eq!(trial.outcome.output, "two\none\n");
    for change in &trial.effects.changes {
        let is_git = change.change.path.starts_with(".git");
        assert_eq!(change.change.group, if is_git { Group::Repository } else { Group::Source }, "{change:?}");
        assert!(!change.is_sensitive && !change.destroys(), "{change:?}");
    }
    trial.keep(&CallRecorder::disabled()).unwrap();
    project.run_git(&["fsck", "--strict"]);
    let log =
        std::process::Command::new("git").args(["log", "--format=%s"]).current_dir(&project.project).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&log.stdout), "two\none\n");
    let status = std::process::Command::new("git")
        .args(["status", "--porcelain"])
        .current_dir(&project.project)
        .output()
        .unwrap();
    assert_eq!(String::from_utf8_lossy(&status.stdout), "");
}

/// Twenty thousand new files are moved as one folder. The time is printed, not asserted.
#[tokio::test]
async fn a_large_new_folder_is_moved_in_one_step() {
    for folder in ["t", "target"] {
        let Some(project) = TrialProject::with_files(&[("a", "1\n"), (".gitignore", "target\n")]) else { return };
        let lines = format!("mkdir -p {folder}/{{1..200}}; for d in {folder}/*; do (cd $d; touch {{1..100}}); done");
        let trial = project.try_command(&lines).await;
        let files: usize = trial.effects.changes.iter().map(|change| change.files_below.max(1)).sum();
        assert_eq!(files, 20_000);
        let last = Path::new(folder).join("200/100");
        let tried = find_inode(&project.trials, &last);
        let start = Instant::now();
        trial.keep(&CallRecorder::disabled()).unwrap();
        println!("keeping 20,000 new files in {folder} took {:?}", start.elapsed());
        assert_eq!(fs::read_dir(project.project.join(folder).join("200")).unwrap().count(), 100);
        assert!(tried.is_some(), "the trial wrote it");
        assert_eq!(find_inode(&project.project, &last), tried, "the files are moved, not copied");
    }
}

/// The inode of the file below this folder whose path ends like this.
fn find_inode(folder: &Path, end: &Path) -> Option<u64> {
    let file = folder.join(end).symlink_metadata();
    let folders = || fs::read_dir(folder).into_iter().flatten().flatten().filter(|entry| entry.path().is_dir());
    file.map_or_else(|_| folders().find_map(|entry| find_inode(&entry.path(), end)), |file| Some(file.ino()))
}

/// A trial reaches no network, and its temporary files are its own.
#[tokio::test]
async fn a_trial_has_no_network_and_private_temporary_files() {
    let Some(project) = TrialProject::with_files(&[("a", "a")]) else { return };
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let name = format!("/tmp/aye-trial-{}", std::process::id());
    let command =
        format!("(echo x > /dev/tcp/127.0.0.1/{port}) 2>/dev/null && echo reached; echo x > {name} && cat {name}");
    let trial = project.try_command(&command).await;
    assert_eq!((trial.outcome.output.as_str(), trial.outcome.exit), ("x\n", Some(0)));
    assert!(!Path::new(&name).exists(), "{name} is real");
    assert_eq!(trial.effects.temporary_files, 1);
}

/// A trial reads the same files as a command in the read-only sandbox, and also the toolchains and `shell.read`. The
/// read-only sandbox opens `.git` only to commands that run git, also settings with passwords: what could print those
/// asks before it runs there. A trial withholds them.
#[tokio::test]
async fn a_trial_reads_what_the_read_only_sandbox_reads() {
    let Some(root) = own_process("trials::a_trial_reads_what_the_read_only_sandbox_reads") else { return };
    if !has_overlay_sandbox() || !has_sandbox() {
        return;
    }
    let in_both = ["project/src/a.rs", "/etc/passwd", "/usr/bin/env"];
    let in_trials = ["home/.cargo/registry/x", "home/library/c"];
    let in_neither = [
        "project/.env",
        "project/keys/server.pem",
        "project/.aws/credentials",
        "home/private/d",
        "home/.ssh/id_rsa",
        "home/.cargo/credentials.toml",
        "elsewhere/data",
        "/etc/shadow",
        "/proc/1/environ",
    ];
    let repository = ["project/.git/HEAD", "project/.git/config", "project/.git/logs/HEAD"];
    let passwords = ["project/.git/config.worktree"];
    let outside_of_git = || in_both.iter().chain(&in_trials).chain(&in_neither);
    let all = || outside_of_git().chain(&repository).chain(&passwords).map(|path| root.join(path));
    for path in all().filter(|path| path.starts_with(&root)) {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, "[remote \"o\"]\n\turl = https://example.com/x\n").unwrap();
    }
    let credentials = "[remote \"o\"]\n\turl = https://me:hunter2@example.com/x\n";
    fs::write(root.join(passwords[0]), credentials).unwrap();
    let paths: Vec<String> = all().map(|path| path.display().to_string()).collect();
    let command = format!("for file in {}; do head -c 1 $file >/dev/null 2>&1 && echo $file; done", paths.join(" "));
    let project = root.join("project");
    let sandbox = CommandSandbox::enforced(SandboxAccess::default());
    let line = CommandLine { sandbox, ..command_line(&command, &project) };
    let shell = Arc::new(Shell::new(program()));
    let disk = Arc::new(Disk::new(&project).unwrap());
    let access = DisclosedPaths { read: vec![root.join("home/library")], is_writable: false };
    let runner = Arc::new(TrialRunner::new(disk, shell.clone(), access, program(), root.join("layers/trials")));
    for (runs_git, view) in [(false, View::WithoutSecrets), (true, View::Repository)] {
        let (read_only, _) = shell.run_read_only(&line, runs_git, &[], &|_| {}).await.unwrap();
        let trial = runner.run_trial(&line, view, &|_| {}).await.unwrap();
        let list = |output: &str| output.lines().map(str::to_owned).collect::<BTreeSet<_>>();
        let resolve = |paths: &[&str]| paths.iter().map(|path| root.join(path).display().to_string()).collect();
        let [both, trials, git, passwords]: [BTreeSet<_>; 4] =
            [&in_both[..], &in_trials, &repository, &passwords].map(resolve);
        let in_sandbox = if runs_git { &(&both | &git) | &passwords } else { both.clone() };
        assert_eq!(list(&read_only.output), in_sandbox, "the read-only sandbox, git: {runs_git}");
        assert_eq!(list(&trial.outcome.output), &(&both | &git) | &trials, "the trial, git: {runs_git}");
    }
}

/// What is kept is moved, and nothing moves between two mounts, even of one file system.
#[test]
fn a_project_on_another_mount_is_not_tried() {
    if !continue_with_mounts("trials::a_project_on_another_mount_is_not_tried") {
        return;
    }
    let folder = Folder::new();
    let path = |name: &str| folder.path().join(name);
    for (name, is_bind) in [("disk", false), ("bound", true)] {
        fs::create_dir_all(path(name)).unwrap();
        match is_bind {
            false => mount_small_disk(&path(name), "size=1m"),
            true => rustix::mount::mount_bind(path(name), path(name)).unwrap(),
        }
        let disk = Arc::new(Disk::new(&path(name)).unwrap());
        let shell = Arc::new(Shell::new(program()));
        let trials = path("data/trials");
        let runner = TrialRunner::new(disk, shell, DisclosedPaths::default(), program(), trials);
        let reason = runner.check_support().unwrap_err();
        let is_known = reason.contains("on different file systems") || reason.starts_with("no overlay sandbox: ");
        assert!(is_known, "{name}: {reason}");
        assert!(reason.contains("on different file systems") || !has_overlay_sandbox(), "{name}: {reason}");
    }
}

/// While the sandbox is tested, other processes leave its folder alone; what a killed test leaves is removed by them.
#[test]
fn a_test_of_the_sandbox_leaves_nothing() {
    let folder = Folder::new();
    let path = |name: &str| folder.path().join(name);
    let (project, trials, script) = (path("project"), path("data/trials"), path("aye"));
    fs::create_dir(&project).unwrap();
    // The program fails as soon as it may, so this needs no sandbox.
    let (runs, may_end) = (path("runs"), path("may-end"));
    let wait = format!("while [ ! -e '{}' ]; do sleep 0.01; done; exit 1", may_end.display());
    write_script(&script, &format!(": > '{}'; {wait}", runs.display()));
    let tested = std::thread::scope(|scope| {
        let test = scope.spawn(|| test_sandbox_as_trial(&script, &project, &trials));
        let start = Instant::now();
        while !runs.exists() {
            assert!(start.elapsed() < PATIENCE);
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
        assert_eq!(finish_interrupted_trials(&trials), []);
        assert_eq!(fs::read_dir(&trials).unwrap().count(), 1, "the folder of a running test was removed");
        fs::write(&may_end, "").unwrap();
        test.join().unwrap()
    });
    assert!(tested.is_err(), "{tested:?}");
    wait_until_empty(&trials);
    // As left by a killed process, with the folder of the kernel that only root can enter.
    let left = trials.join("left");
    fs::create_dir_all(left.join("work/work")).unwrap();
    fs::set_permissions(left.join("work/work"), Permissions::from_mode(0o000)).unwrap();
    fs::write(left.join("owner"), "").unwrap();
    finish_interrupted_trials(&trials);
    assert_eq!(fs::read_dir(&trials).unwrap().count(), 0, "it was not removed");
}

/// Waits until the folder of all trials is empty.
fn wait_until_empty(trials: &Path) {
    let start = Instant::now();
    while fs::read_dir(trials).unwrap().next().is_some() {
        assert!(start.elapsed().as_secs() < 20, "{:?}", fs::read_dir(trials).unwrap().collect::<Vec<_>>());
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    assert_eq!(finish_interrupted_trials(trials), []);
}
