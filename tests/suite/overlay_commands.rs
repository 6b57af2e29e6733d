//! Real tools over several commands of one dry run: each command writes in a folder of its own, which is merged after it.

use crate::overlay_sandbox_escapes::has_overlay_sandbox;
use crate::support::folder::Folder;
use crate::support::mounts::{continue_with_mounts, mount_small_disk, read_mounts};
use crate::support::overlay_project::{EmptyProject, command_line, list_changed_paths, open_overlay};
use crate::support::program::{Setup, program};
use crate::support::report_skipped;
use crate::support::scene::Scene;
use crate::support::scripted::{Reply, calls, says};
use crate::support::service::Service;
use crate::support::terminal_session::{command_answer, text_answer};
use aye::project::disk::Disk;
use aye::project::overlay_sandbox::{CommandRehearsal, OverlayShell, View};
use aye::project::rehearsal::Rehearsal;
use aye::project::shell::Shell;
use rustix::process::Signal;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Files that the killed command makes.
const FILES: usize = 3_000;
const GIT: &str = "export GIT_CONFIG_GLOBAL=/dev/null GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@a GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@a; ";

/// Returns whether a program can be run here.
fn has_program(program: &str) -> bool {
    let is_installed = std::process::Command::new(program).arg("--version").output().is_ok();
    if !is_installed {
        report_skipped(&format!("{program} is missing"));
    }
    is_installed
}

/// Runs a command in the overlay sandbox; returns its output and its exit code.
async fn run_command(scene: &EmptyProject, command: &str) -> (String, i32) {
    let outcome = scene
        .shell
        .run_in_overlay(&command_line(command, &scene.project), View::WithoutSecrets, &|_| {})
        .await
        .unwrap();
    (outcome.output, outcome.exit.unwrap_or(-1))
}

/// Runs a command that must succeed; returns its output.
async fn run_ok(scene: &EmptyProject, command: &str) -> String {
    let (output, exit) = run_command(scene, command).await;
    assert_eq!(exit, 0, "{command}: {output}");
    output
}

#[tokio::test]
async fn git_keeps_its_index_and_history_over_several_commands() {
    if !has_overlay_sandbox() || !has_program("git") {
        return;
    }
    let scene = EmptyProject::new();
    let git = async |command: &str| run_ok(&scene, &format!("{GIT}{command}")).await;
    git("git init -q && echo one > a.txt && echo b > b.txt && mkdir -p src/deep && echo lib > src/deep/lib.rs").await;
    git("git add -A").await;
    git("git commit -qm first").await;
    assert_eq!(git("git status --porcelain").await, "");
    git("echo two >> a.txt").await;
    assert_eq!(git("git status --porcelain").await, " M a.txt\n");
    git("git stash -q").await;
    assert_eq!(git("git status --porcelain; cat a.txt").await, "one\n");
    git("git stash pop -q").await;
    assert_eq!(git("git status --porcelain; cat a.txt").await, " M a.txt\none\ntwo\n");
    git("git commit -qam second").await;
    git("git mv b.txt c.txt").await;
    assert_eq!(git("git status --porcelain").await, "R  b.txt -> c.txt\n");
    git("git commit -qm third").await;
    // rename(2) refuses a folder of an earlier command; `mv` copies it.
    let (output, exit) = run_command(&scene, &format!("{GIT}git mv src lib")).await;
    assert!(exit != 0 && output.contains("cross-device link"), "{exit}: {output}");
    assert_eq!(git("git status --porcelain; cat src/deep/lib.rs").await, "lib\n");
    git("mv src lib && git add -A").await;
    assert_eq!(git("git status --porcelain").await, "R  src/deep/lib.rs -> lib/deep/lib.rs\n");
    git("git commit -qm fourth").await;
    git("git gc -q").await;
    assert_eq!(
        git("git fsck --strict --no-dangling 2>&1; git log --format=%s").await,
        "fourth\nthird\nsecond\nfirst\n"
    );
    git("git branch other && git checkout -q other && git reset -q --hard HEAD~2").await;
    assert_eq!(git("git status --porcelain; ls").await, "a.txt\nb.txt\nsrc\n");
    assert!(std::fs::read_dir(&scene.project).unwrap().next().is_none());
}

#[tokio::test]
async fn git_sees_no_changes_between_commands() {
    if !has_overlay_sandbox() || !has_program("git") {
        return;
    }
    let scene = EmptyProject::new();
    let git = async |command: &str| run_ok(&scene, &format!("{GIT}{command}")).await;
    // The files are so old that git compares only their metadata. The merge comes a second after the index is written.
    git("git init -q && echo one > a.txt && echo b > b.txt && touch -d 2000-01-01 a.txt b.txt && git add -A && git commit -qm first && sleep 1.1").await;
    assert_eq!(git("git diff-index --name-only HEAD").await, "");
    git("touch -d 2001-01-01 a.txt").await;
    assert_eq!(git("git diff-index --name-only HEAD").await, "a.txt\n");
    git("git update-index --refresh").await;
    assert_eq!(git("git diff-index --name-only HEAD").await, "");
}

#[tokio::test]
async fn hard_link_is_copied_when_a_later_command_changes_it() {
    if !has_overlay_sandbox() {
        return;
    }
    let scene = EmptyProject::new();
    let one = run_ok(&scene, "echo one > a; ln a b; echo two >> b; cat a; stat -c %h a").await;
    assert_eq!(one, "one\ntwo\n2\n", "in one command both names are one file");
    run_ok(&scene, "echo three >> b").await;
    assert_eq!(run_ok(&scene, "cat a; echo; cat b").await, "one\ntwo\n\none\ntwo\nthree\n");
    run_ok(&scene, "mkdir d; ln a d/c; rm a").await;
    assert_eq!(run_ok(&scene, "cat d/c; ls").await, "one\ntwo\nb\nd\n");
    assert_eq!(list_changed_paths(&scene.rehearsal), ["b", "d", "d/c"]);
}

#[tokio::test]
async fn a_build_over_several_commands_builds_only_what_changed() {
    if !has_overlay_sandbox() || !has_program("make") {
        return;
    }
    let compiler = if has_program("cc") { "cc -c -o $@ $<" } else { "cp $< $@" };
    let scene = EmptyProject::new();
    let rule = format!("all: build/a.o build/b.o\\nbuild/%.o: %.c\\n\\t@mkdir -p build\\n\\t{compiler}\\n");
    run_ok(
        &scene,
        &format!("printf '{}' > Makefile; echo 'int a;' > a.c; echo 'int b;' > b.c", rule.replace('%', "%%")),
    )
    .await;
    let builds = async |goals: &str| run_ok(&scene, &format!("make {goals}")).await;
    let first = builds("").await;
    assert!(first.contains("a.c") && first.contains("b.c"), "{first}");
    for _ in 0..2 {
        assert_eq!(builds("").await, "make: Nothing to be done for 'all'.\n");
    }
    run_ok(&scene, "touch b.c").await;
    let again = builds("").await;
    assert!(again.contains("b.c") && !again.contains("a.c"), "{again}");
    assert_eq!(builds("-q all; echo $?").await, "0\n");
    run_ok(&scene, "rm build/a.o").await;
    let again = builds("").await;
    assert!(again.contains("a.c") && !again.contains("b.c"), "{again}");
}

/// When the program is killed: during the second command of the model, or during the merge of that command.
#[derive(Clone, Copy, Debug)]
enum Moment {
    /// The command has created this many files.
    Written(usize),
    /// This many milliseconds have passed since the first file of the command.
    Later(u64),
    /// The merge has begun.
    Merging,
    /// This many files of the command are merged.
    Merged(usize),
}

impl Moment {
    fn is_now(self, overlay: &Path, since: Duration) -> bool {
        let count = |folder: &str| std::fs::read_dir(overlay.join(folder)).map_or(0, Iterator::count);
        match self {
            // One file in `upper/d` is from the first command. With more, the merge has already begun.
            Self::Written(files) => count("pending/d") >= files || count("upper/d") > 1,
            Self::Later(milliseconds) => since >= Duration::from_millis(milliseconds),
            Self::Merging => overlay.join("merging/d").exists() || overlay.join("upper/end").exists(),
            Self::Merged(files) => count("upper/d") > files,
        }
    }

    /// Returns whether the command has ended at this moment.
    fn is_after(self) -> bool {
        matches!(self, Self::Merging | Self::Merged(_))
    }
}

/// A session in which a command creates many files, killed at a moment that is visible in its overlay.
struct Killed {
    root: Arc<Folder>,
    overlay: PathBuf,
}

impl Killed {
    fn kill_at(base: &str, moment: Moment) -> Self {
        let setup = Setup::new(&["-p", "--dry-run", "--base-url", base, "--model", "m", "go"]);
        let setup = setup.with_file("a.txt", "real\n");
        let root = setup.root.clone();
        let layers = root.path().join("home/aye/data/rehearsal");
        let mut program = setup.start();
        let overlay =
            || std::fs::read_dir(&layers).ok()?.flatten().map(|entry| entry.path()).find(|path| path.is_dir());
        let wait = Instant::now();
        let mut began = None;
        let overlay = loop {
            assert!(wait.elapsed() < crate::support::keyboard::PATIENCE, "{}", program.screen());
            let Some(overlay) = overlay() else { continue };
            if began.is_none()
                && ["pending/d/1", "merging/d/1", "upper/d/1"].iter().any(|path| overlay.join(path).exists())
            {
                began = Some(Instant::now());
            }
            if began.is_some_and(|began| moment.is_now(&overlay, began.elapsed())) {
                break overlay;
            }
        };
        program.signal(Signal::KILL);
        program.wait_for_exit();
        Self { root, overlay }
    }

    fn is_settled(&self) -> bool {
        !["pending", "merging"].iter().any(|name| self.overlay.join(name).exists())
    }

    /// The paths that `aye rehearsal show` lists once the command of the killed program has ended.
    fn listed(&self) -> Vec<String> {
        let id = self.overlay.file_name().unwrap().to_str().unwrap();
        let wait = Instant::now();
        loop {
            let (out, err, code) = Setup::with_home(&self.root, &["rehearsal", "show", id, "--json"]).run_piped("");
            assert_eq!(code, 0, "{out}{err}");
            if self.is_settled() {
                let listing: Value = serde_json::from_str(&out).unwrap();
                let paths = listing["changes"].as_array().unwrap().iter();
                return paths.map(|change| change["path"].as_str().unwrap().to_owned()).collect();
            }
            assert!(wait.elapsed() < crate::support::keyboard::PATIENCE, "it stays pending: {out}");
        }
    }
}

#[test]
fn kill_during_a_command_or_its_merge_leaves_whole_files() {
    if !has_overlay_sandbox() {
        return;
    }
    let runtime = tokio::runtime::Runtime::new().unwrap();
    // The files are merged one by one into a folder that is in the overlay already.
    let command = format!(
        "i=0; while [ $i -lt {FILES} ]; do i=$((i+1)); echo \"whole $i\" > d/$i; done; chmod 750 d; echo end > end"
    );
    let moments = [
        Moment::Written(1),
        Moment::Written(FILES / 2),
        Moment::Later(20),
        Moment::Later(60),
        Moment::Later(150),
        Moment::Merging,
        Moment::Merged(1),
        Moment::Merged(FILES / 2),
    ];
    for moment in moments {
        let has_ended = moment.is_after();
        let service = runtime.block_on(Service::start([
            command_answer("mkdir d; echo 0 > d/0"),
            command_answer(&command),
            text_answer("Done."),
        ]));
        let killed = Killed::kill_at(&service.base_url, moment);
        let listed = killed.listed();
        let files: Vec<usize> = listed
            .iter()
            .filter_map(|path| path.strip_prefix("d/")?.parse().ok())
            .filter(|number| *number > 0)
            .collect();
        let last = files.iter().max().copied().unwrap_or(0);
        assert!(files.len() == last, "{moment:?}: {} of {last}", files.len());
        assert!(!has_ended || (last == FILES && listed.contains(&"end".to_owned())), "{moment:?}: {last}");
        for number in files {
            let text = std::fs::read_to_string(killed.overlay.join(format!("upper/d/{number}"))).unwrap();
            // The file that was being written when the command was ended.
            let is_cut = number == last && !has_ended && text.is_empty();
            assert!(is_cut || text == format!("whole {number}\n"), "{moment:?}: {number}: {text:?}");
        }
        let names: Vec<_> = std::fs::read_dir(killed.root.path().join("project")).unwrap().flatten().collect();
        assert_eq!(names.len(), 1, "{moment:?}: no real file was created");
        let service = runtime.block_on(Service::start([
            command_answer("ls d | wc -l; cat a.txt; echo more > d/more"),
            text_answer("Seen."),
        ]));
        let arguments = ["-p", "--continue", "--base-url", &service.base_url, "--model", "m", "again"];
        let (out, err, code) = Setup::with_home(&killed.root, &arguments).run_piped("");
        assert_eq!(code, 0, "{moment:?}: {out}{err}");
        let received = service.received();
        let result = received.last().unwrap().body["messages"].as_array().unwrap().last().unwrap().to_string();
        assert!(result.contains(&format!("{}\\nreal\\nexit 0", last + 1)), "{moment:?}: {result}");
        assert!(killed.is_settled(), "{moment:?}");
        let new_count = killed.listed().len();
        assert_eq!(new_count, listed.len() + 1, "{moment:?}");
    }
}

/// A program that renames a folder by rename(2) fails; the model receives the reason.
#[tokio::test]
async fn a_folder_that_cannot_be_renamed_in_an_overlay_is_explained() {
    if !has_overlay_sandbox() || !has_program("git") {
        return;
    }
    let git = |command: &str| command_reply(&format!("{GIT}{command}"));
    let mut scene = Scene::dry_run([
        git("git init -q; mkdir src; echo lib > src/lib.rs; git add -A; git commit -qm first"),
        git("git mv src lib"),
        says("Would do."),
    ]);
    let (_, shell) = open_overlay(&scene.project(), scene.project().parent().unwrap().join("layer"));
    scene.runtime.set_rehearsal(CommandRehearsal::Sandboxed(shell));
    scene.say("go").await;
    let outcomes = scene.outcomes();
    let result = outcomes[1].text();
    assert!(result.contains("ross-device link") && result.contains("cannot rename a folder"), "{outcomes:?}");
}

fn command_reply(command: &str) -> Reply {
    calls("bash_exec", json!({ "command": command }))
}

#[tokio::test]
async fn full_disk_during_a_merge_is_reported_and_later_commands_work() {
    const NAME: &str = "overlay_commands::full_disk_during_a_merge_is_reported_and_later_commands_work";
    if !has_overlay_sandbox() || !continue_with_mounts(NAME) {
        return;
    }
    let mut scene = Scene::dry_run([
        command_reply("mkdir -p d/e; echo one > d/e/one; chmod 700 d/e"),
        // Writes files, removes the owner's write permission from their folders, and fills the disk to the last byte.
        command_reply("echo two > d/e/two; mkdir f; echo three > f/three; chmod 500 d/e f; dd if=/dev/zero of=large bs=64k count=1; exec 2>/dev/null; while head -c 4096 /dev/zero >> large; do :; done; exec 2>&1; echo x > g; exit 1"),
        command_reply("cat d/e/one d/e/two f/three; stat -c %a d/e f"),
        // The space is free when this command is merged: `large` lies in a lower layer until then.
        command_reply("rm large"),
        command_reply("echo four > four; cat four"),
        command_reply("cat four d/e/two; stat -c %a d/e f"),
        says("Would do."),
    ])
    .with_file("a.txt", "real\n");
    let overlay = scene.project().parent().unwrap().join("layer");
    mount_small_disk(&overlay, "size=400k");
    let rehearsal = Arc::new(Rehearsal::new(Arc::new(Disk::new(&scene.project()).unwrap()), overlay.clone()));
    let shell = Arc::new(OverlayShell::new(Arc::new(Shell::new(program())), rehearsal.clone()));
    scene.runtime.set_rehearsal(CommandRehearsal::Sandboxed(shell));
    let before = read_mounts();
    scene.say("go").await;
    let outcomes = scene.outcomes();
    let text = |index: usize| outcomes[index].text();
    assert!(text(1).contains("disk that holds") && text(1).contains("full"), "{outcomes:?}");
    assert_eq!(text(2), "one\ntwo\nthree\n500\n500\nexit 0", "{outcomes:?}");
    assert_eq!(text(3), "exit 0", "{outcomes:?}");
    assert_eq!(text(4), "four\nexit 0", "{outcomes:?}");
    assert_eq!(text(5), "four\ntwo\n500\n500\nexit 0", "{outcomes:?}");
    for name in ["pending", "merging"] {
        rehearsal.merge_pending().unwrap();
        assert!(!overlay.join(name).exists(), "{name}");
    }
    // The full disk may or may not have had room for the empty file `g`.
    let all = ["d", "d/e", "d/e/one", "d/e/two", "f", "f/three", "four"];
    let paths: Vec<String> = list_changed_paths(&rehearsal).into_iter().filter(|path| path != "g").collect();
    assert_eq!(paths, all);
    assert_eq!(scene.file("a.txt").as_deref(), Some("real\n"));
    assert_eq!(read_mounts(), before);
}
