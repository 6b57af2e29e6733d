//! A line that rules allow in parts does in the real sandboxes what a shell does with it, and shows no secret.

use crate::support::folder::Folder;
use crate::support::program::program;
use crate::support::{Dice, pick_count};
use aye::chat::{CommandSandbox, Intent, Plan, SandboxAccess};
use aye::policy::{
    ExcludedPaths, Policy, Rule, RuleEffect, RuleTarget, Rules, Subject, Verdict, is_allowed_in_parts, judge_plan,
};
use aye::project::Reader;
use aye::project::checkpoints::CallRecorder;
use aye::project::disk::Disk;
use aye::project::shell::Shell;
use aye::tools::bash_exec::BashExec;
use aye::tools::{LiveContext, Tool, ToolSettings};
use serde_json::json;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;

const PARTS: &[&str] = &[
    "seq 3",
    "seq x",
    "seq 2>&1 2",
    "cat 2>/dev/null a.txt no-such",
    "git 2>/dev/null add >/dev/null a.txt",
    "touch new",
    "touch web/a.txt",
    "git add -A",
    "git add a.txt",
    "git checkout -q other",
    "git checkout -q linked",
    "git checkout -q linked",
    "git status --short",
    "git diff --stat",
    "git diff --cached",
    "git log --format=%s",
    "cat a.txt",
    "cat a.txt",
    "cat b.txt",
    "cat web/b.txt",
    "cat ?.txt",
    "wc -l *.txt | tail -n 1",
    "head -n 1 a.txt",
    "grep -c o a.txt",
    "ls",
    "cd web",
    "cd .",
    "cd ..",
    "pwd",
    "echo done",
    "echo $?",
    "echo \"exit: $?\" | cat",
    "printf 'exit %d\\n' $?",
    "false",
    "seq 4 | tail -n 2",
    "git log --format=%s | head -n 1",
    "seq 3 | cat - a.txt",
    "seq 9 | sed -n '2,4p;7q'",
    "git log --format=%s | sed 's/o/0/g' | rev",
    "seq 3 | column -t | tac",
    "seq x |& grep -c seq",
    "cat a.txt | seq 2",
    "echo x | git add a.txt",
    "cat a.txt | wc -l | touch new",
];
const ALLOWED: &[&str] = &["seq", "touch", "git add", "git checkout"];
const SECRET: &str = "KEY=hidden-value";

fn random_line(dice: &mut Dice) -> String {
    let mut line = String::new();
    for index in 0..2 + dice.below(4) {
        if index > 0 {
            line.push_str([" && ", " && ", "; ", " || ", "\n"][dice.below(5) as usize]);
        }
        line.push_str(PARTS[dice.below(PARTS.len() as u64) as usize]);
        line.push_str(["", "", " 2>&1", " 2>/dev/null"][dice.below(4) as usize]);
    }
    line
}

fn shell(folder: &Path, command: &str) -> (String, Option<i32>) {
    let joined = format!("exec 2>&1\n{command}");
    let output = Command::new("bash").args(["-c", &joined]).current_dir(folder).output().unwrap();
    (String::from_utf8(output.stdout).unwrap(), output.status.code())
}

/// A repository with a branch in which `a.txt` differs, and one in which it is a link to a file with secrets.
fn make_project(folder: &Path) -> std::path::PathBuf {
    let project = folder.join("project");
    std::fs::create_dir_all(project.join("web")).unwrap();
    let script = format!(
        "git init -q -b main; git config user.name a; git config user.email a@b
         printf 'one\\ntwo\\n' > a.txt; printf 'b\\n' > web/b.txt; cp web/b.txt b.txt
         git add -A; git commit -qm first
         git checkout -q -b linked; ln -sf .env a.txt; git commit -qam linked
         git checkout -q -b other main; echo other > a.txt; git commit -qam other
         git checkout -q main; echo '{SECRET}' > .env; echo changed >> b.txt"
    );
    assert_eq!(shell(&project, &script).1, Some(0));
    project.canonicalize().unwrap()
}

fn rules() -> Rules {
    let rule = |prefix: &&str| Rule {
        takes_input: true,
        ..Rule::new(RuleEffect::Allow, RuleTarget::Prefix(prefix.split(' ').map(str::to_owned).collect()))
    };
    Rules { list: ALLOWED.iter().map(rule).collect(), ..Rules::default() }
}

/// Returns the plan of a line if rules allow it in parts.
fn plan_allowed(tool: &BashExec, disk: &Disk, line: &str) -> Option<Plan> {
    let Ok(Intent::Act(plan)) = tool.plan_call(&json!({ "command": line }), disk) else { panic!("{line}") };
    let is_allowed = matches!(judge_plan(&Policy::default(), &[], &rules(), "bash_exec", &plan), Verdict::Allow(_));
    (is_allowed && is_allowed_in_parts(&[], &rules(), &Subject::from_plan("bash_exec", &plan))).then_some(*plan)
}

fn list_files(project: &Path) -> String {
    shell(project, "find . -path ./.git -prune -o -printf '%P|%y|%l\\n' | sort; git ls-files -s; git branch").0
}

#[tokio::test]
async fn r11_steps_do_what_a_shell_does_and_show_no_secret() {
    let seed = std::env::var("AYE_TEST_SEED").ok().and_then(|seed| seed.parse().ok());
    let seeds = seed.map_or(1..1 + pick_count(150, 60) as u64, |seed| seed..seed + 1);
    let (mut run_count, mut stopped_count) = (0, 0);
    let (one, other) = (Folder::new(), Folder::new());
    let (original, scratch) = (make_project(one.path()), other.path().join("project"));
    for seed in seeds {
        let line = random_line(&mut Dice(seed.wrapping_mul(7919)));
        let reset = |folder: &Path| {
            let _ = std::fs::remove_dir_all(folder);
            assert!(Command::new("cp").arg("-a").arg(&original).arg(folder).status().unwrap().success());
        };
        reset(&scratch);
        let sandbox = CommandSandbox::enforced(SandboxAccess::default());
        let tool = BashExec::new(ToolSettings { sandbox, ..ToolSettings::default() });
        let disk = Arc::new(Disk::new(&scratch).unwrap());
        let Some(plan) = plan_allowed(&tool, &disk, &line) else { continue };
        let context = LiveContext {
            project: disk.clone(),
            shell: Arc::new(Shell::new(program())),
            excluded: ExcludedPaths::default(),
            runs_in_parts: true,
            recorder: Arc::new(CallRecorder::disabled()),
            results: aye::tools::ResultFiles::default(),
            progress: Arc::new(|_| {}),
        };
        let result = tool.run(&plan, &context).await;
        let text = result.as_ref().map_or_else(ToString::to_string, Clone::clone);
        assert!(!text.contains(SECRET), "AYE_TEST_SEED={seed}\n{line}\n{text}");
        if text.contains("was not run: ") {
            assert!(line.contains("git checkout") || line.contains("git add"), "AYE_TEST_SEED={seed}\n{line}\n{text}");
            stopped_count += 1;
            continue;
        }
        let files = list_files(disk.root());
        reset(&scratch);
        let (expected, exit) = shell(&scratch, &line);
        let expected = format!("{}\nexit {}", expected.trim_end_matches('\n'), exit.unwrap_or(-1));
        // A line of its own says what the read-only sandbox may have caused.
        let text: Vec<&str> = text.lines().filter(|row| !row.contains("read-only sandbox")).collect();
        assert_eq!(text.join("\n").trim_start(), expected.trim_start(), "AYE_TEST_SEED={seed}\n{line}");
        assert_eq!(files, list_files(&scratch), "AYE_TEST_SEED={seed}\n{line}");
        run_count += 1;
    }
    println!("{run_count} lines ran like in a shell, {stopped_count} stopped");
    assert!(seed.is_some() || run_count > 9 && stopped_count > 0, "{run_count} ran, {stopped_count} stopped");
}
