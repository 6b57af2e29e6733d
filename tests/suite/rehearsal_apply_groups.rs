//! Rehearsed changes are applied in groups by the real program: few prompts, rejected and conflicting changes are skipped,
//! and the repository ends as it would have live.

use crate::overlay_sandbox_escapes::has_overlay_sandbox;
use crate::support::folder::Folder;
use crate::support::program::{Program, Setup};
use crate::support::report_skipped;
use crate::support::service::{Answer, Service};
use crate::support::terminal_session::{calls_answer_after, text_answer};
use rustix::process::Signal;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

const END: &str = "\x1b[F";
const HOME: &str = "\x1b[H";
const DOWN: &str = "\x1b[B";

/// A finished dry run session, and the service that the screen connects to afterwards.
struct Scene {
    _runtime: tokio::runtime::Runtime,
    service: Service,
    root: Arc<Folder>,
}

fn run_git(folder: &Path, arguments: &[&str]) -> String {
    let mut git = Command::new("git");
    git.arg("-C").arg(folder).args(["-c", "user.name=me", "-c", "user.email=me@example.org"]);
    git.args(arguments).env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_NOSYSTEM", "1");
    let output = git.output().unwrap();
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// Returns whether git and an overlay sandbox are available; reports the skipped test otherwise.
fn is_supported() -> bool {
    let has_git = Command::new("git").arg("--version").output().is_ok();
    if !has_git {
        report_skipped("no git here");
    }
    has_git && has_overlay_sandbox()
}

impl Scene {
    /// A project under git with these files, in which these calls were rehearsed in the overlay sandbox.
    fn new(files: &[(&str, &str)], calls: &[(&str, Value)]) -> Self {
        let runtime = tokio::runtime::Runtime::new().unwrap();
        let answers: Vec<Answer> = vec![calls_answer_after(Duration::ZERO, calls), text_answer("Would do.")];
        let service = runtime.block_on(Service::start(answers));
        let mut setup =
            Setup::new(&["-p", "--dry-run", "--base-url", &service.base_url, "--model", "scripted-7b", "go"]);
        for (path, text) in files {
            setup = setup.with_file(path, text);
        }
        let root = setup.root.clone();
        let project = root.path().join("project");
        run_git(&project, &["init", "-q", "-b", "main"]);
        run_git(&project, &["add", "-A"]);
        run_git(&project, &["commit", "-qm", "first"]);
        let (out, err, code) = setup.run_piped("");
        assert_eq!(code, 0, "{out}{err}");
        assert!(out.contains("To apply, "), "{out}");
        Self { _runtime: runtime, service, root }
    }

    fn project(&self) -> std::path::PathBuf {
        self.root.path().join("project")
    }

    fn open_apply_screen(&self, extra_arguments: &[&str], (columns, rows): (u16, u16)) -> Program {
        let mut arguments = vec!["rehearsal", "apply", "--base-url", &self.service.base_url, "--model", "scripted-7b"];
        arguments.extend(extra_arguments);
        Setup::with_home(&self.root, &arguments).size(columns, rows).start()
    }

    fn write(&self, path: &str, text: &str) {
        std::fs::write(self.project().join(path), text).unwrap();
    }

    /// The calls of the last session that apply a dry run, from `aye audit --json`. Their IDs begin with `offered_`.
    fn read_decided_calls(&self) -> Vec<Value> {
        let (out, _, _) = Setup::with_home(&self.root, &["audit", "--json"]).run_piped("");
        let all = out.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        all.filter(|call| call["call"].as_str().unwrap().starts_with("offered_")).collect()
    }
}

/// Ends the program once it is idle.
fn end_program(program: &mut Program) {
    program.until_idle("ask mode");
    program.press_keys("\x04");
    assert_eq!(program.wait_for_exit(), 0);
}

fn command_call(command: &str) -> (&'static str, Value) {
    ("bash_exec", json!({ "command": command }))
}

fn write_call(path: &str, content: &str) -> (&'static str, Value) {
    ("write_file", json!({ "path": path, "content": content }))
}

const COMMIT: &str = "git -c user.name=me -c user.email=me@example.org commit -qm 'second, of the dry run'";

/// Every file with its content, except `.git`.
fn read_tree(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut collected = BTreeMap::new();
    let mut waiting = vec![folder.to_owned()];
    while let Some(at) = waiting.pop() {
        for entry in std::fs::read_dir(at).unwrap().flatten() {
            let path = entry.path();
            if entry.file_name() == ".git" {
                continue;
            }
            match entry.file_type().unwrap().is_dir() {
                true => waiting.push(path),
                false => {
                    let name = path.strip_prefix(folder).unwrap().display().to_string();
                    collected.insert(name, std::fs::read(&path).unwrap());
                }
            }
        }
    }
    collected
}

const BUILD: &str = "mkdir -p target/deep && for n in $(seq 300); do echo $n > target/deep/$n; done; echo ok";

#[test]
fn r30_applies_edits_a_build_and_a_commit_with_two_prompts() {
    if !is_supported() {
        return;
    }
    let files = [
        (".gitignore", "/target\n"),
        ("check.sh", BUILD),
        ("src/a.rs", "one\n"),
        ("src/b.rs", "one\n"),
        ("src/c.rs", "one\n"),
    ];
    let calls = [
        write_call("src/a.rs", "two\n"),
        write_call("src/b.rs", "two\n"),
        write_call("src/c.rs", "two\n"),
        command_call("sh check.sh"),
        command_call(&format!("git add -A && {COMMIT}")),
    ];
    let scene = Scene::new(&files, &calls);
    let project = scene.project();
    // The plan lists what will be asked and what is skipped.
    let (out, _, _) = Setup::with_home(&scene.root, &["rehearsal"]).run_piped("");
    for words in [
        "To apply, 2 prompts",
        "source changes: 3 paths",
        "ignored files: 300 paths, skipped without --ignored",
        "repository state: ",
        "2 commands ran in the overlay sandbox, skipped without --commands",
    ] {
        assert!(out.contains(words), "{words}: {out}");
    }
    let (json, _, _) = Setup::with_home(&scene.root, &["rehearsal", "--json"]).run_piped("");
    let json: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["groups"][1], json!({ "group": "ignored", "paths": 300, "is_excluded": true, "left_out": true }));
    let changes: Vec<&Value> = json["changes"].as_array().unwrap().iter().collect();
    assert!(!changes.is_empty());
    for change in changes {
        let pairs = [("created", "made"), ("modified", "changed"), ("deleted", "deleted")];
        assert!(pairs.contains(&(change["change"].as_str().unwrap(), change["did"].as_str().unwrap())), "{change}");
    }
    let mut program = scene.open_apply_screen(&[], (80, 24));
    let screen = program.until_prompt("Apply source changes?");
    assert!(screen.contains("3 of 3 selected · 1 of 2") && screen.contains("src/a.rs"), "{screen}");
    assert!(screen.contains("Not included: 300 files ignored by git (target/)"), "{screen}");
    program.press_keys(END);
    program.press_keys("y");
    let screen = program.until_prompt("Apply the commits?");
    assert!(screen.contains("second, of the dry run") && screen.contains("refs/heads/main: "), "{screen}");
    assert_eq!(run_git(&project, &["log", "--format=%s"]), "first\n");
    program.press_keys(END);
    program.press_keys("y");
    program.until("1 of 1 applied");
    end_program(&mut program);
    let decided = scene.read_decided_calls();
    assert_eq!(decided.len(), 2, "{decided:?}");
    for call in &decided {
        assert_eq!((&call["key"], &call["outcome"], &call["holds"]), (&json!("y"), &json!("done"), &json!(true)));
    }
    // The project is as it would have been live, except for files that git ignores.
    assert_eq!(run_git(&project, &["log", "--format=%s"]), "second, of the dry run\nfirst\n");
    assert_eq!(run_git(&project, &["status", "--porcelain"]), "");
    run_git(&project, &["fsck", "--strict"]);
    let mut expected: BTreeMap<String, Vec<u8>> =
        files.iter().map(|(path, text)| ((*path).to_owned(), text.as_bytes().to_vec())).collect();
    for path in ["src/a.rs", "src/b.rs", "src/c.rs"] {
        expected.insert(path.to_owned(), b"two\n".to_vec());
    }
    assert_eq!(read_tree(&project), expected);
    assert!(!project.join("target").exists());
    // Ignored files are applied if the user asks for them.
    let mut program = scene.open_apply_screen(&["--ignored"], (60, 15));
    program.until_prompt("Apply ignored files?");
    program.press_keys(END);
    program.until_prompt("y apply");
    program.press_keys("y");
    program.until("300 of 300 applied");
    end_program(&mut program);
    for n in 1..=300 {
        expected.insert(format!("target/deep/{n}"), format!("{n}\n").into_bytes());
    }
    assert_eq!(read_tree(&project), expected);
}

/// Forty lines, each made from its number.
fn lines(change: impl Fn(usize) -> String) -> String {
    (1..=40).map(|n| change(n) + "\n").collect()
}

#[test]
fn r30_offers_rejected_files_and_hunks_again() {
    if !is_supported() {
        return;
    }
    let before = lines(|n| n.to_string());
    let after = lines(|n| if n == 5 || n == 30 { format!("changed {n}") } else { n.to_string() });
    let scene = Scene::new(
        &[("a.txt", &before), ("b.txt", "one\n"), ("gone.txt", "x\n")],
        &[write_call("a.txt", &after), write_call("b.txt", "two\n"), command_call("rm gone.txt")],
    );
    let mut program = scene.open_apply_screen(&[], (100, 40));
    let screen = program.until_prompt("Apply source changes?");
    assert!(screen.contains("3 of 3 selected") && screen.contains("warning: this deletes gone.txt"), "{screen}");
    program.press_keys(END);
    program.until("reason: ");
    program.press_keys(HOME);
    program.until_prompt("warning: this deletes gone.txt");
    program.press_keys("y");
    program.until("Destructive: y is not enough");
    // Deselects the second hunk of a.txt, then b.txt, then the deletion of gone.txt.
    program.press_keys(DOWN);
    program.press_keys(DOWN);
    program.press_keys(" ");
    program.until("[-] ~ a.txt");
    program.press_keys(DOWN);
    program.press_keys(" ");
    program.until("[ ] ~ b.txt");
    program.press_keys(DOWN);
    program.press_keys(" ");
    program.until("[ ] − gone.txt");
    program.until("0 of 3 selected, 1 in part");
    // No ticked change is destructive now.
    program.press_keys("y");
    program.until("1 of 3 applied");
    end_program(&mut program);
    let half = lines(|n| if n == 5 { format!("changed {n}") } else { n.to_string() });
    assert_eq!(std::fs::read_to_string(scene.project().join("a.txt")).unwrap(), half);
    assert_eq!(std::fs::read_to_string(scene.project().join("b.txt")).unwrap(), "one\n");
    assert!(scene.project().join("gone.txt").exists());
    let decided = scene.read_decided_calls();
    assert_eq!(decided.len(), 1);
    let to_text = |call: &Value| call.to_string();
    assert!(
        to_text(&decided[0]).contains("selected") && to_text(&decided[0]).contains("\"holds\":true"),
        "{decided:?}"
    );
    // Rejected changes are offered again.
    let mut program = scene.open_apply_screen(&[], (100, 40));
    let screen = program.until_prompt("Apply source changes?");
    assert!(screen.contains("3 of 3 selected") && screen.contains("changed 30"), "{screen}");
    program.press_keys(END);
    program.press_keys("*");
    program.until("0 of 3 selected");
    program.press_keys("y");
    program.until("Nothing is selected");
    program.press_keys("*");
    program.until("3 of 3 selected");
    program.press_keys("Y");
    program.until("3 of 3 applied");
    end_program(&mut program);
    assert_eq!(std::fs::read_to_string(scene.project().join("a.txt")).unwrap(), after);
    assert!(!scene.project().join("gone.txt").exists());
}

#[test]
fn r30_skips_conflicts_and_a_move_in_conflict_keeps_its_source() {
    if !is_supported() {
        return;
    }
    let scene = Scene::new(
        &[("a.txt", "one\n"), ("b.txt", "one\n"), ("old/m.txt", "moved\n"), ("old/k.txt", "kept\n")],
        &[write_call("a.txt", "two\n"), write_call("b.txt", "two\n"), command_call("mv old new")],
    );
    scene.write("a.txt", "mine\n");
    std::fs::create_dir(scene.project().join("new")).unwrap();
    scene.write("new/m.txt", "mine too\n");
    let mut program = scene.open_apply_screen(&[], (100, 40));
    let screen = program.until_prompt("Apply source changes?");
    assert!(screen.contains("CONFLICT: a.txt changed since the dry run"), "{screen}");
    assert!(screen.contains("old/m.txt → new/m.txt") && screen.contains("old/k.txt → new/k.txt"), "{screen}");
    assert!(!screen.contains("warning: this"), "a move destroys nothing: {screen}");
    // One more file changes while the prompt is open.
    scene.write("b.txt", "mine as well\n");
    program.press_keys("y");
    // The summary names what was not applied.
    let screen = program.until("Not applied: 3");
    assert!(screen.contains("1 of 4 applied") && screen.contains("b.txt: CONFLICT"), "{screen}");
    end_program(&mut program);
    let tree = read_tree(&scene.project());
    let content = |path: &str| tree.get(path).map(|bytes| String::from_utf8_lossy(bytes).into_owned());
    assert_eq!((content("a.txt").unwrap(), content("b.txt").unwrap()), ("mine\n".into(), "mine as well\n".into()));
    assert_eq!((content("old/m.txt").unwrap(), content("new/m.txt").unwrap()), ("moved\n".into(), "mine too\n".into()));
    assert_eq!((content("old/k.txt"), content("new/k.txt").unwrap()), (None, "kept\n".into()));
}

#[test]
fn r30_refuses_commits_if_head_moved_but_not_after_git_status() {
    if !is_supported() {
        return;
    }
    let calls = [write_call("a.txt", "two\n"), command_call(&format!("git add -A && {COMMIT}"))];
    let scene = Scene::new(&[("a.txt", "one\n"), ("b.txt", "one\n")], &calls);
    let project = scene.project();
    // The changed time of `b.txt` makes `git status` rewrite the index, although nothing is staged.
    let old = std::fs::FileTimes::new().set_modified(std::time::UNIX_EPOCH);
    std::fs::File::options().write(true).open(project.join("b.txt")).unwrap().set_times(old).unwrap();
    let index = std::fs::read(project.join(".git/index")).unwrap();
    run_git(&project, &["status"]);
    assert_ne!(std::fs::read(project.join(".git/index")).unwrap(), index);
    let mut program = scene.open_apply_screen(&[], (100, 30));
    program.until_prompt("Apply source changes?");
    program.press_keys("n");
    let screen = program.until_prompt("Apply the commits?");
    assert!(screen.contains("Not applied: 1 source change of the dry run"), "{screen}");
    program.press_keys("n");
    end_program(&mut program);
    std::fs::write(project.join("mine"), "mine\n").unwrap();
    run_git(&project, &["add", "mine"]);
    run_git(&project, &["commit", "-qm", "mine"]);
    let mut program = scene.open_apply_screen(&[], (100, 30));
    program.until_prompt("Apply source changes?");
    program.press_keys("y");
    let screen = program.until("Cannot apply the commits: HEAD moved from");
    assert!(screen.contains("Run the git commands of the dry run again"), "{screen}");
    end_program(&mut program);
    assert_eq!(run_git(&project, &["log", "--format=%s"]), "mine\nfirst\n");
    assert_eq!(run_git(&project, &["status", "--porcelain"]), " M a.txt\n");
    run_git(&project, &["fsck", "--strict"]);
}

#[test]
fn r30_git_hooks_and_settings_have_a_separate_prompt_that_needs_a_capital() {
    if !is_supported() {
        return;
    }
    let hook = "printf '#!/bin/sh\\necho x\\n' > .git/hooks/pre-commit && chmod +x .git/hooks/pre-commit";
    // The command names none of these files, so that it is rehearsed and not withheld.
    let script = format!("{hook} && git config core.pager 'sh -c x'\n");
    let calls = [command_call("sh make.sh && echo two > a.txt")];
    let scene = Scene::new(&[("a.txt", "one\n"), ("make.sh", &script)], &calls);
    let project = scene.project();
    let mut program = scene.open_apply_screen(&[], (100, 40));
    program.until_prompt("Apply source changes?");
    program.press_keys("y");
    let screen = program.until_prompt("Apply git settings and hooks?");
    assert!(screen.contains("which git runs or reads") && screen.contains("pager = sh -c x"), "{screen}");
    program.press_keys("y");
    program.until("Destructive: y is not enough");
    assert!(!project.join(".git/hooks/pre-commit").exists());
    program.press_keys("n");
    end_program(&mut program);
    assert!(!project.join(".git/hooks/pre-commit").exists());
    assert!(!std::fs::read_to_string(project.join(".git/config")).unwrap().contains("pager"));
}

#[test]
fn r51_killed_while_applying_a_group_leaves_whole_files_and_can_continue() {
    if !is_supported() {
        return;
    }
    let command = "for n in $(seq 400); do seq $n $((n + 2000)) > f$n; done; mv moved elsewhere";
    let scene = Scene::new(&[("moved", "m\n"), ("x", "x\n")], &[command_call(command)]);
    let project = scene.project();
    let mut program = scene.open_apply_screen(&["--ignored"], (80, 24));
    program.until_prompt("Apply source changes?");
    program.press_keys(END);
    program.until_prompt("y apply");
    program.press_keys("y");
    program.until_condition("some files are applied", |_| project.join("f1").exists());
    program.signal(Signal::KILL);
    program.wait_for_exit();
    let expected = |n: usize| (n..=n + 2000).map(|line| format!("{line}\n")).collect::<String>();
    let count_applied_files = || {
        let mut applied = 0;
        for n in 1..=400 {
            if let Ok(text) = std::fs::read_to_string(project.join(format!("f{n}"))) {
                assert_eq!(text, expected(n), "f{n}");
                applied += 1;
            }
        }
        applied
    };
    assert!(count_applied_files() >= 1);
    assert!(project.join("moved").exists() || project.join("elsewhere").exists());
    let mut program = scene.open_apply_screen(&[], (80, 24));
    program.until_condition("the rest is offered", |program| {
        program.has_active_prompt() || program.screen().contains("Cannot apply session")
    });
    program.press_keys(END);
    program.until_prompt(" apply");
    program.press_keys("y");
    program.until(" applied");
    end_program(&mut program);
    assert_eq!(count_applied_files(), 400);
    assert!(!project.join("moved").exists());
    assert_eq!(std::fs::read_to_string(project.join("elsewhere")).unwrap(), "m\n");
    // The file that was being written may remain under a temporary name until a later write removes it.
    let names = std::fs::read_dir(&project).unwrap().flatten().map(|entry| entry.file_name());
    let remaining = names.filter(|name| name.to_string_lossy().starts_with(".aye"));
    assert!(remaining.count() <= 1);
}
