//! Tests of command lines that rules and grants allow in parts.

mod chain_law;
mod offered_prefixes;

use super::*;
use crate::chat::{Access, CommandSandbox, Decider, Grant, GrantScope, Intent, Plan, SessionGrant};
use crate::policy::{
    Policy, Rule, RuleEffect, RuleLocation, RuleScope, RuleTarget, Rules, grant_scopes, grant_scopes_beside, judge_plan,
};
use crate::project::disk::Disk;
use crate::tools::bash_exec::BashExec;
use crate::tools::{Tool, ToolSettings};
use serde_json::json;
use std::fs;
use tempfile::TempDir;

/// A project with a folder `web`, links out of it, and files that must not be disclosed.
fn project() -> (TempDir, Disk) {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap().join("p");
    fs::create_dir_all(root.join("web")).unwrap();
    fs::create_dir_all(root.join("it's")).unwrap();
    for folder in ["bare/objects", ".git/objects", ".git/refs/heads"] {
        fs::create_dir_all(root.join(folder)).unwrap();
    }
    for (path, text) in [
        ("a.txt", "a\n"),
        (".env", "KEY=1\n"),
        ("x.sh", "echo x\n"),
        ("web/x.sh", "echo web\n"),
        ("web/b.txt", "b\n"),
        ("names", ".env\0"),
        (".git/HEAD", "ref: refs/heads/main\n"),
        (".git/config", "[core]\n\tbare = false\n"),
    ] {
        fs::write(root.join(path), text).unwrap();
    }
    fs::write(folder.path().join("secret"), "s").unwrap();
    std::os::unix::fs::symlink("..", root.join("up")).unwrap();
    std::os::unix::fs::symlink(".env", root.join("linked")).unwrap();
    std::os::unix::fs::symlink("web", root.join("site")).unwrap();
    let disk = Disk::new(&root).unwrap();
    (folder, disk)
}

fn plan_in(disk: &Disk, command: &str, settings: ToolSettings) -> Plan {
    match BashExec::new(settings).plan_call(&json!({ "command": command }), disk) {
        Ok(Intent::Act(plan)) => *plan,
        other => panic!("{command}: {other:?}"),
    }
}

fn plan(disk: &Disk, command: &str) -> Plan {
    plan_in(disk, command, ToolSettings::default())
}

fn allowing(prefixes: &[&str]) -> Rules {
    let target = |prefix: &&str| RuleTarget::Prefix(prefix.split(' ').map(str::to_owned).collect());
    let list = prefixes.iter().map(|prefix| Rule::new(RuleEffect::Allow, target(prefix))).collect();
    Rules { list, ..Rules::default() }
}

fn session_grant(grant: Grant) -> SessionGrant {
    SessionGrant { grant, entry_index: 0, call_number: 1, call: "c".into(), by: Decider::Headless }
}

fn verdict(grants: &[SessionGrant], rules: &Rules, plan: &Plan) -> &'static str {
    judge_plan(&Policy::default(), grants, rules, "bash_exec", plan).as_str()
}

const PREFIXES: &[&str] = &[
    "cargo test",
    "cargo build",
    "git add",
    "git commit",
    "git checkout",
    "npm test",
    "mytool",
    "declare",
    "touch",
    "mkdir",
];

#[test]
fn allows_a_line_if_each_part_is_allowed() {
    let (_folder, disk) = project();
    let root = crate::project::Reader::root(&disk).display().to_string();
    let rules = allowing(PREFIXES);
    for command in [
        "cargo test 2>&1",
        "cargo test 2>&1 | tail -n 20",
        "cargo test 2>&1 | grep -n FAILED | head -5",
        "cargo test >/dev/null 2>&1 && echo done",
        "cargo build && cargo test",
        "cargo build; cargo test",
        "cargo build || cargo test",
        "cargo build\ncargo test",
        "cargo test | sort | uniq -c | sort -rn | wc -l",
        "cat a.txt && cargo test",
        "ls -la && cargo test 2>&1 | tail -3",
        "git add -A && git commit -m 'two words; not two commands'",
        "git add a.txt && git commit -q -m x",
        "git add -A && git commit -m x && git status --short",
        "git diff --stat && git add -A",
        "cd web && npm test",
        "cd ./web && npm test 2>&1 | tail",
        "cd site && npm test",
        "cd . && cargo test",
        "cd . ; cargo test",
        "cd web && cat b.txt && npm test",
        "cd web && npm test; echo done",
        "cd web && npm test || echo failed",
        // What reads needs no rule.
        "git add -A && git diff --stat",
        "sed -n 1p a.txt && mytool",
        "git status && cargo test",
        "cargo build && git status --short && git diff --name-only",
        "cargo test && cat a.txt && ls web",
        "cargo test; sed -n 1p a.txt",
        "cargo test && cd web && npm test",
        "git add -A && git status && cargo test",
        "cargo test | grep -f a.txt",
        "touch new && mkdir -p x && touch x/y && cat a.txt",
        &format!("cd {root} && cargo test"),
        &format!("cd {root}; cargo test"),
        &format!("cd '{root}/web' && npm test | tail -n 3"),
    ] {
        assert_eq!(verdict(&[], &rules, &plan(&disk, command)), "allow", "{command}");
        assert_eq!(verdict(&[], &Rules::default(), &plan(&disk, command)), "ask", "{command}");
    }
}

#[test]
fn asks_for_a_line_with_any_other_part_or_syntax() {
    let (_folder, disk) = project();
    let rules = allowing(PREFIXES);
    for command in [
        // A part that is not allowed.
        "cargo test && curl x.example",
        "cargo test | tee log",
        "cargo test | sort -o a.txt",
        "cargo test | sh",
        "cargo test | xargs rm",
        "cargo test | xargs cat",
        "cargo test; rm a.txt",
        "cargo test && rm -rf web",
        "cargo test && git reset --hard",
        "cargo build && cargo publish",
        // Files that may hold secrets.
        "cargo test && cat .env",
        "cat .env && cargo test",
        "cat linked && cargo test",
        "cargo test | grep -f .env x",
        "sort --files0-from=names && cargo test",
        "cargo test | wc --files0-from=-",
        "cat /etc/shadow && cargo test",
        // git obeys the user's settings, which may name programs and decrypt content.
        "git status && mytool",
        "git status && touch new",
        "git diff && git add -A",
        "git log && git add -A",
        "cargo test && git diff",
        "git log -p && cargo test",
        "cargo test && git blame a.txt",
        "mytool && git status",
        "mytool; git branch --show-current",
        "git add -A && git diff --cached",
        "git add -A && git status -v",
        "git add -A && git commit -m x && git show",
        "git add -A && git grep --cached x",
        // Variables and programs of the project.
        "echo $HOME && cargo test",
        "cat ~/x && cargo test",
        "sed -n p $X && cargo test",
        "./tail a.txt && cargo test",
        // Folders that are not certain, or not in the project.
        "cd web; npm test",
        "cd web || npm test",
        "cd web && npm test; cargo test",
        "cd web && npm test || cargo test",
        "cd up && cargo test",
        "cd .. && cargo test",
        "cd web/../up && cargo test",
        "cd / && cargo test",
        "cd && cargo test",
        "cd - && cargo test",
        "cd ~ && cargo test",
        "cd $X && cargo test",
        "cd missing && cargo test",
        "cd a.txt && cargo test",
        "cd -P web && cargo test",
        "cd web | cargo test",
        "pushd web && cargo test",
        "cd \"it's\" && cargo test",
        // A folder may be a repository with settings of its own.
        "cd bare && git add x",
        // The input of a part may decide what it does.
        "cat a.txt | cargo test",
        "echo x | mytool a",
        // Files that an earlier part may replace.
        "touch new && git checkout x && cat a.txt",
        "git checkout x && cat a.txt",
        "git checkout x && mytool a.txt",
        "git checkout x && cd web && npm test",
        "git checkout x && git commit -F linked",
        "git checkout x && ls web",
        "mytool | grep -f a.txt",
        "mytool && cat a.txt",
        "git checkout x && cargo test && cat a.txt",
        "git checkout x && cargo test && git diff",
        "cargo test && git diff && cat .env",
        "cargo publish && git diff",
        // Changes of the shell for the other parts.
        "declare -x PATH=. && cargo test",
        "PATH=. ; cargo test",
        "export PATH=. && cargo test",
        "alias cargo=rm; cargo test",
        "cargo() { rm x; }; cargo test",
        "set -a && cargo test",
        "hash -p ./x.sh cargo && cargo test",
        "exec cargo test && cargo test",
        // Other syntax.
        "cargo test & cargo build",
        "cargo build && cargo test &",
        "(cd web && npm test)",
        "{ cargo test; } && cargo build",
        "! cargo build && cargo test",
        "cargo test $(id) && cargo build",
        "cargo test `id` | tail",
        "cargo test <(id) | tail",
        "cargo test $X | tail",
        "cargo test > log | tail",
        "cargo test < a.txt | tail",
        "cargo test <<< x | tail",
        "cargo test 2>&1 --target-dir=/x | tail",
        "for i in 1; do cargo test; done",
        "if cargo build; then cargo test; fi",
        "cargo test | tail -n 5 > out",
        "cargo test | tail -f a.txt",
        "cargo test \\\n| tail ' ",
        "cargo test --config=x && cargo build",
    ] {
        assert_eq!(verdict(&[], &rules, &plan(&disk, command)), "ask", "{command}");
    }
}

#[test]
fn rules_that_ask_or_deny_apply_to_each_part() {
    let (_folder, disk) = project();
    for (effect, expected) in [(RuleEffect::Ask, "ask"), (RuleEffect::Deny, "ask")] {
        let mut rules = allowing(&["cargo test", "cargo build"]);
        rules.list.push(Rule::new(effect, RuleTarget::Command("cargo build".into())));
        assert_eq!(verdict(&[], &rules, &plan(&disk, "cargo build && cargo test")), expected);
        assert_eq!(verdict(&[], &rules, &plan(&disk, "cargo test && cargo test")), "allow");
    }
    let mut rules = allowing(&["cargo test"]);
    rules.list.push(Rule::new(RuleEffect::Ask, RuleTarget::Path("web/b.txt".into())));
    assert_eq!(verdict(&[], &rules, &plan(&disk, "cd web && cat b.txt && cargo test")), "ask");
    let mut exact = allowing(&["cargo test"]);
    exact.list.push(Rule::new(RuleEffect::Ask, RuleTarget::Command("cat a.txt".into())));
    assert_eq!(verdict(&[], &exact, &plan(&disk, "cat a.txt && cargo test")), "ask");
    rules.read_error = Some("rules.toml:1".into());
    assert_eq!(verdict(&[], &rules, &plan(&disk, "cargo test | tail")), "ask");
}

#[test]
fn grants_apply_in_their_folder_and_to_unchanged_scripts() {
    let (_folder, disk) = project();
    let root = crate::project::Reader::root(&disk).to_owned();
    let prefix = |folder: &std::path::Path| {
        let scope = GrantScope::Prefix { words: vec!["npm".into(), "test".into()], folder: folder.to_owned() };
        [session_grant(Grant::new("bash_exec", scope))]
    };
    let none = Rules::default();
    assert_eq!(verdict(&prefix(&root), &none, &plan(&disk, "npm test | tail")), "allow");
    assert_eq!(verdict(&prefix(&root), &none, &plan(&disk, "cd web && npm test")), "ask");
    assert_eq!(verdict(&prefix(&root.join("web")), &none, &plan(&disk, "cd web && npm test")), "allow");
    assert_eq!(verdict(&prefix(&root.join("web")), &none, &plan(&disk, "npm test | tail")), "ask");
    let other_tool = [SessionGrant {
        grant: Grant { tool: "other".into(), ..prefix(&root)[0].grant.clone() },
        ..prefix(&root)[0].clone()
    }];
    assert_eq!(verdict(&other_tool, &none, &plan(&disk, "npm test | tail")), "ask");

    // An exact command is bound to its script, and to the folder of the project.
    let exact = plan(&disk, "bash x.sh").grant.unwrap();
    assert_eq!(exact.scripts.len(), 1);
    let mut exact_rule = Rule::new(RuleEffect::Allow, RuleTarget::Command("bash x.sh".into()));
    exact_rule.scripts = exact.scripts.clone();
    let mut rules = allowing(&["git checkout"]);
    rules.list.push(exact_rule);
    let granted = [session_grant(exact)];
    for (command, expected) in [
        ("bash x.sh 2>&1 | tail -n 3", "allow"),
        ("bash x.sh && echo ok", "allow"),
        ("cd web && bash x.sh", "ask"),
        ("cd web && bash x.sh | tail", "ask"),
        ("git checkout y && bash x.sh", "ask"),
        ("cat a.txt | bash x.sh", "ask"),
        ("bash x.sh now | tail", "ask"),
    ] {
        assert_eq!(verdict(&[], &rules, &plan(&disk, command)), expected, "rule: {command}");
        assert_eq!(verdict(&granted, &none, &plan(&disk, command)), expected, "grant: {command}");
    }
    fs::write(root.join("x.sh"), "evil\n").unwrap();
    assert_eq!(verdict(&[], &rules, &plan(&disk, "bash x.sh | tail")), "ask");
    assert_eq!(verdict(&granted, &none, &plan(&disk, "bash x.sh | tail")), "ask");
}

#[test]
fn a_grant_with_the_network_covers_no_part() {
    let (_folder, disk) = project();
    let scope = GrantScope::Command {
        command: "cargo build".into(),
        folder: crate::project::Reader::root(&disk).to_owned(),
        network: true,
    };
    let granted = [session_grant(Grant::new("bash_exec", scope))];
    assert_eq!(verdict(&granted, &Rules::default(), &plan(&disk, "cargo build | tail")), "ask");
    let arguments = json!({ "command": "cargo build | tail", "network": "to download crates" });
    let Ok(Intent::Act(online)) = BashExec::new(ToolSettings::default()).plan_call(&arguments, &disk) else { panic!() };
    assert_eq!(verdict(&granted, &allowing(&["cargo build"]), &online), "ask");
}

#[test]
fn without_a_sandbox_only_readers_of_no_file_are_neutral() {
    let (_folder, disk) = project();
    let unavailable = || ToolSettings { sandbox: CommandSandbox::Unavailable("off".into()), ..ToolSettings::default() };
    let rules = allowing(&["cargo test"]);
    for (command, expected) in [
        ("cargo test 2>&1 | tail -n 20", "allow"),
        ("cd web && cargo test | grep x | wc -l", "allow"),
        ("cat a.txt && cargo test", "ask"),
        ("ls web && cargo test", "ask"),
        ("ls && cargo test", "allow"),
    ] {
        assert_eq!(verdict(&[], &rules, &plan_in(&disk, command, unavailable())), expected, "{command}");
    }
    // `tail` may be a program of the project.
    let settings = ToolSettings { has_project_programs: true, ..ToolSettings::default() };
    assert_eq!(verdict(&[], &rules, &plan_in(&disk, "cargo test | tail", settings)), "ask");
}

#[test]
fn a_line_that_only_reads_keeps_the_read_only_sandbox() {
    let (_folder, disk) = project();
    for command in ["cat a.txt | head -n 1", "cd web && cat b.txt | wc -l", "ls; pwd && echo x 2>&1"] {
        let plan = plan(&disk, command);
        assert!(matches!(plan.access, Access::Read(_)), "{command}: {:?}", plan.access);
        assert!(plan.preconditions.parts.is_empty(), "{command}");
    }
    // No rule makes a line run live if no part of it needs that rule.
    let uncertain = plan(&disk, "cd web; cat a.txt > /dev/null; sed -n 1p a.txt");
    assert_ne!(verdict(&[], &allowing(PREFIXES), &uncertain), "refuse");
}

#[test]
fn parts_are_judged_again_before_a_line_runs() {
    let (_folder, disk) = project();
    let command = "cat a.txt && cargo test";
    let judge = || plan(&disk, command).preconditions.parts;
    let before = judge();
    assert!(have_same_effects(&before, &judge()));
    let root = crate::project::Reader::root(&disk).to_owned();
    fs::remove_file(root.join("a.txt")).unwrap();
    std::os::unix::fs::symlink(".env", root.join("a.txt")).unwrap();
    assert!(!have_same_effects(&before, &judge()));
}

#[test]
fn parts_survive_the_log() {
    let (_folder, disk) = project();
    let preconditions = plan(&disk, "cd web && bash x.sh | tail -n 1").preconditions;
    assert_eq!(preconditions.parts.len(), 3);
    let json = serde_json::to_string(&preconditions).unwrap();
    assert_eq!(serde_json::from_str::<crate::chat::Preconditions>(&json).unwrap(), preconditions);
}
