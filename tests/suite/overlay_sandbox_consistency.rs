//! Whatever commands and file tools do in a dry run, the next command, the file tools and the applied result all agree.
//! Changes that the overlay sandbox cannot make are reported.

use crate::overlay_sandbox_escapes::has_overlay_sandbox;
use crate::support::folder::Folder;
use crate::support::program::program;
use crate::support::scene::Scene;
use crate::support::scripted::{calls, says};
use crate::support::stored_files::share_program;
use crate::support::{Dice, pick_count};
use crate::support::{print_uncaptured, report_skipped};
use aye::chat::{ApplyOptions, CommandLine, DryRunSummary, Intent, LiveCall, Outcome};
use aye::policy::ExcludedPaths;
use aye::project::checkpoints::CallRecorder;
use aye::project::disk::Disk;
use aye::project::overlay_sandbox::{CommandRehearsal, OverlayShell, View};
use aye::project::rehearsal::Rehearsal;
use aye::project::shell::Shell;
use aye::project::{Reader, Writer, change_summary};
use aye::tools::apply_change::ApplyChange;
use aye::tools::apply_group::ApplyGroup;
use aye::tools::{LiveContext, Tool};
use serde_json::json;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

/// Lists everything in a folder with kind, mode, link target and content digest.
const LIST_FILES: &str =
    "find . -mindepth 1 -printf '%P|%y|%m|%l\\n' | sort; find . -type f -exec sha256sum {} + | sort -k 2";

/// A path of one to three components out of three names.
fn random_path(dice: &mut Dice) -> String {
    let names: Vec<&str> = (0..=dice.below(3)).map(|_| ["a", "b", "c"][dice.below(3) as usize]).collect();
    names.join("/")
}

/// A random command that changes something or fails.
fn random_command(dice: &mut Dice) -> String {
    let (one, other, number) = (random_path(dice), random_path(dice), dice.below(1000));
    match dice.below(14) {
        0 | 1 => format!("echo {number} > {one}"),
        2 => format!("mkdir -p {one}"),
        3 => format!("rm -rf {one}"),
        4 => format!("rm -rf {one}; mkdir -p {one}; echo {number} > {one}/c"),
        5 => format!("mv -T {one} {other}"),
        6 => format!("mv {one} {other}"),
        7 => format!("ln -sfn {other} {one}"),
        8 => format!("ln -f {one} {other}"),
        9 => format!("chmod {} {one}", ["000", "600", "755", "711", "1777"][dice.below(5) as usize]),
        10 => format!("cp -rT {one} {other}"),
        11 => format!("printf '%b' 'x\\r\\n\\0377' >> {one}"),
        12 => format!("rmdir {one}"),
        _ => format!("mkdir -p n/{one}; echo {number} > n/{one}/x; mv n/{one} {other}"),
    }
}

#[tokio::test]
async fn r30_sandbox_file_tools_and_applied_result_agree_after_random_changes() {
    if !has_overlay_sandbox() {
        return;
    }
    let seed = std::env::var("AYE_TEST_SEED").ok().and_then(|seed| seed.parse().ok());
    let seeds = seed.map_or(1..1 + pick_count(40, 2) as u64, |seed| seed..seed + 1);
    for seed in seeds {
        check_seed(seed).await;
    }
}

async fn check_seed(seed: u64) {
    let mut dice = Dice(seed.wrapping_mul(7919));
    let root = Folder::new();
    let project = root.path().join("project");
    for folder in ["a/b/c", "b/a", "c"] {
        std::fs::create_dir_all(project.join(folder)).unwrap();
    }
    for file in ["a/a", "a/b/a", "a/b/c/c", "b/b", "b/a/a"] {
        std::fs::write(project.join(file), file).unwrap();
    }
    std::os::unix::fs::symlink("../a", project.join("c/a")).unwrap();
    let project = project.canonicalize().unwrap();
    let disk = Arc::new(Disk::new(&project).unwrap());
    let rehearsal = Arc::new(Rehearsal::new(disk.clone(), root.path().join("layer")));
    let shell = Arc::new(Shell::new(program()));
    let overlay_shell = OverlayShell::new(shell.clone(), rehearsal.clone());
    let before = list_files(&project);
    let mut history = format!("AYE_TEST_SEED={seed}\n");
    let run = async |command: &str| {
        let line =
            CommandLine { command: command.into(), folder: project.clone(), seconds: 60, ..CommandLine::default() };
        overlay_shell.run_in_overlay(&line, View::WithoutSecrets, &|_| {}).await.unwrap().output
    };
    for _ in 0..3 {
        let script: Vec<String> = (0..10).map(|_| random_command(&mut dice)).collect();
        history.push_str(&format!("{}\n", script.join("\n")));
        run(&format!("{{ {}; }} 2>/dev/null", script.join("\n"))).await;
        for _ in 0..3 {
            let name = random_path(&mut dice);
            // A link may form a loop by now.
            let Ok(location) = rehearsal.locate(&name) else { continue };
            let old = rehearsal.read(&location).ok();
            let written = rehearsal.write(&location, old.as_deref(), name.as_bytes());
            history.push_str(&format!("# written: {name}: {}\n", written.is_ok()));
        }
    }
    let listing = run(LIST_FILES).await;
    assert_eq!(list_files(&project), before, "{history}");
    check_file_tools(&rehearsal, &listing, &history);

    let all = change_summary::list_changes(&rehearsal).unwrap();
    assert!(all.iter().all(|one| !one.has_conflict), "{history}{all:#?}");
    // Odd seeds apply the changes by groups, even ones one by one and by hunks.
    let hunks = seed.is_multiple_of(2);
    let tool: Box<dyn Tool> = match hunks {
        true => Box::new(ApplyChange(rehearsal.clone())),
        false => Box::new(ApplyGroup(rehearsal.clone())),
    };
    let wanted = ApplyOptions { hunks, ignored: true, commands: false };
    history.push_str(&format!("# {wanted:?}\n"));
    for LiveCall { arguments, .. } in DryRunSummary::new(all, &[]).apply_calls(wanted) {
        let plan = match tool.plan_call(&arguments, &*disk) {
            Ok(Intent::Act(plan)) => plan,
            Ok(Intent::Ask(_)) => panic!("it asks nothing"),
            Err(error) => panic!("{history}{arguments}: {error}"),
        };
        let context = LiveContext {
            project: disk.clone(),
            shell: shell.clone(),
            excluded: ExcludedPaths::default(),
            runs_in_parts: false,
            recorder: Arc::new(CallRecorder::disabled()),
            results: aye::tools::ResultFiles::default(),
            progress: Arc::new(|_| {}),
        };
        tool.run(&plan, &context).await.unwrap_or_else(|error| panic!("{history}{arguments}: {error}"));
    }
    assert_eq!(list_files(&project), listing, "{history}");
    assert_eq!(change_summary::list_changes(&rehearsal).unwrap(), [], "{history}");
}

fn list_files(project: &Path) -> String {
    let output = Command::new("sh").args(["-c", LIST_FILES]).current_dir(project).output().unwrap();
    String::from_utf8(output.stdout).unwrap()
}

/// Checks that the file tools list the same names and read the same content.
fn check_file_tools(rehearsal: &Rehearsal, listing: &str, history: &str) {
    let rows: Vec<Vec<&str>> =
        listing.lines().filter(|line| line.contains('|')).map(|line| line.split('|').collect()).collect();
    let folders = rows.iter().filter(|row| row[1] == "d").map(|row| row[0]).chain(["."]);
    for folder in folders {
        let inside = |path: &&str| Path::new(path).parent() == Some(Path::new(folder.trim_start_matches('.')));
        let mut names: Vec<&str> = rows.iter().map(|row| row[0]).filter(inside).collect();
        names.iter_mut().for_each(|name| *name = name.rsplit('/').next().unwrap());
        names.sort_unstable();
        let seen = rehearsal.list_names(&rehearsal.locate(folder).unwrap());
        assert_eq!(seen.unwrap_or_else(|error| panic!("{history}{folder}: {error}")), names, "{history}{folder}");
    }
    for line in listing.lines().filter(|line| !line.contains('|')) {
        let (hash, path) = line.split_once("  ./").unwrap();
        let bytes =
            rehearsal.read(&rehearsal.locate(path).unwrap()).unwrap_or_else(|error| panic!("{history}{path}: {error}"));
        assert_eq!(serde_json::to_value(aye::chat::Digest::of_bytes(&bytes)).unwrap(), hash, "{history}{path}");
    }
}

/// Runs in a process that the next test starts. Its user is in two groups, of which a user namespace maps one.
#[tokio::test]
async fn child_in_two_groups() {
    let Some(group) = std::env::var("AYE_TEST_GROUP").ok().and_then(|group| group.parse().ok()) else {
        return;
    };
    let run = |command: &str| calls("bash_exec", json!({ "command": command }));
    let mut scene = Scene::dry_run([
        run("echo more >> theirs"),
        run("cat theirs; echo mine > new; rm theirs; ls"),
        calls("write_file", json!({ "path": "theirs", "content": "two\n" })),
        run("echo more >> theirs; cat theirs"),
        run("echo more >> other"),
        calls("edit_file", json!({ "path": "other", "old_text": "one", "new_text": "two" })),
        run("echo more >> other; cat other"),
        says("Would do."),
    ])
    .with_file("theirs", "one\n")
    .with_file("other", "one\n");
    for name in ["theirs", "other"] {
        std::os::unix::fs::chown(scene.project().join(name), None, Some(group)).unwrap();
    }
    let overlay = scene.project().parent().unwrap().join("layer");
    let rehearsal = Arc::new(Rehearsal::new(Arc::new(Disk::new(&scene.project()).unwrap()), overlay));
    scene.runtime.set_rehearsal(CommandRehearsal::Sandboxed(Arc::new(OverlayShell::new(
        Arc::new(Shell::new(program())),
        rehearsal,
    ))));
    scene.say("go").await;
    let outcomes = scene.outcomes();
    let text = |index: usize| outcomes[index].text();
    // The user namespace does not map the file's group, so the kernel refuses to copy the file into the overlay.
    for at in [0, 4] {
        assert!(matches!(&outcomes[at], Outcome::Rehearsed(_)), "{outcomes:?}");
        assert!(text(at).contains("Value too large for defined data type\n"), "{outcomes:?}");
        assert!(text(at).ends_with("\nexit 1"), "{outcomes:?}");
        assert!(text(at).contains("cannot change files of another user or group"), "{outcomes:?}");
    }
    assert_eq!(text(1), "one\nnew\nother\nexit 0");
    assert_eq!(text(3), "two\nmore\nexit 0");
    // A file tool copies the file up, after which commands can change it too.
    assert_eq!(text(6), "two\nmore\nexit 0");
    assert_eq!((scene.file("theirs").unwrap(), scene.file("other").unwrap()), ("one\n".into(), "one\n".into()));
    print_uncaptured("reported: a file of another group");
}

#[test]
fn r30_file_of_another_group_is_reported_and_file_tools_can_change_it() {
    let (user, group) = (65534, 4242);
    let setpriv = |arguments: &[&str]| {
        let mut command = Command::new("setpriv");
        command.args(["--reuid=65534", "--regid=65534", "--groups=65534,4242", "--"]).args(arguments);
        command
    };
    if !rustix::process::geteuid().is_root()
        || !setpriv(&["unshare", "-Ur", "true"]).output().is_ok_and(|tried| tried.status.success())
    {
        return report_skipped("no process can be made here that is in two groups and may make namespaces");
    }
    let root = Folder::new();
    let path_of = |path: &str| root.path().join(path);
    let open = |folder: &Path| {
        use std::os::unix::fs::PermissionsExt;
        std::fs::set_permissions(folder, std::fs::Permissions::from_mode(0o755)).unwrap();
    };
    open(root.path());
    std::fs::create_dir(path_of("tmp")).unwrap();
    std::os::unix::fs::chown(path_of("tmp"), Some(user), Some(user)).unwrap();
    // The build folder of this suite may be closed to other users.
    let programs: [PathBuf; 2] = [program(), std::env::current_exe().unwrap()];
    for (program, name) in programs.iter().zip(["aye", "suite"]) {
        share_program(program, &path_of(name));
    }
    let suite = path_of("suite");
    let mut command = setpriv(&[
        suite.to_str().unwrap(),
        "--exact",
        "overlay_sandbox_consistency::child_in_two_groups",
        "--nocapture",
    ]);
    command.current_dir(path_of("tmp")).env("TMPDIR", path_of("tmp")).env("HOME", path_of("tmp")).process_group(0);
    command.env("AYE_TEST_PROGRAM", path_of("aye")).env("AYE_TEST_GROUP", group.to_string());
    let result = command.output().unwrap();
    let output = String::from_utf8_lossy(&result.stdout);
    assert!(result.status.success(), "{output}\n{}", String::from_utf8_lossy(&result.stderr));
    assert!(output.contains("reported: a file of another group"), "{output}");
}
