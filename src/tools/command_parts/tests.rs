//! Tests of command lines that rules and grants allow in parts.

mod chain_law;
mod judged_lines;
mod offered_prefixes;

use super::*;
use crate::chat::{Access, CommandSandbox, Decider, Grant, GrantScope, Intent, Plan, SessionGrant};
use crate::policy::{
    Policy, Rule, RuleEffect, RuleTarget, Rules, Verdict, grant_scopes, grant_scopes_beside, judge_plan, may_disclose,
};
use crate::project::disk::Disk;
use crate::tools::bash_exec::BashExec;
use crate::tools::project_programs::ProjectPrograms;
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
    for folder in ["bare/objects", "nested/.git", ".git/objects", ".git/refs/heads"] {
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
        ("bare/HEAD", "ref: refs/heads/main\n"),
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
    // A pattern may match a path with a rule.
    let pattern = plan(&disk, "cat *.txt && cargo test");
    assert_eq!(verdict(&[], &allowing(&["cargo test"]), &pattern), "allow");
    let scope = GrantScope::Prefix {
        words: vec!["cargo".into(), "test".into()],
        folder: crate::project::Reader::root(&disk).to_owned(),
    };
    let granted = [session_grant(Grant::new("bash_exec", scope))];
    assert_eq!(verdict(&granted, &Rules::default(), &pattern), "allow");
    for rules in [&rules, &rules.without_allowing()] {
        assert_eq!(verdict(&granted, rules, &pattern), "ask");
    }
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
    // It must be allowed in each folder in which it may run.
    let uncertain = plan(&disk, "mkdir -p x && cd web; npm test");
    let folders: Vec<_> = uncertain.preconditions.parts[2].in_each_folder().map(|part| part.folder.clone()).collect();
    assert_eq!(folders, [root.clone(), root.join("web")]);
    assert_eq!(verdict(&prefix(&root), &allowing(&["mkdir"]), &uncertain), "ask");
    assert_eq!(verdict(&prefix(&root.join("web")), &allowing(&["mkdir"]), &uncertain), "ask");
    let both = [prefix(&root), prefix(&root.join("web"))].concat();
    assert_eq!(verdict(&both, &allowing(&["mkdir"]), &uncertain), "allow");
    assert_eq!(verdict(&prefix(&root.join("web")), &none, &plan(&disk, "cd web; npm test")), "allow");
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
        ("echo x && cd web; bash x.sh", "ask"),
        ("cd web && cd ..; bash x.sh", "allow"),
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

/// Together they could read what none of them would read alone.
#[test]
fn in_a_dry_run_a_grant_for_a_part_discloses_nothing_of_the_line() {
    let (_folder, disk) = project();
    let words = vec!["git".into(), "checkout".into()];
    let scope = GrantScope::Prefix { words, folder: crate::project::Reader::root(&disk).to_owned() };
    let granted = [session_grant(Grant::new("bash_exec", scope))];
    let policy = Policy { dry_run: true, asks_as_live: true, ..Policy::default() };
    let discloses =
        |command: &str| may_disclose(&policy, &granted, &Rules::default(), "bash_exec", &plan(&disk, command));
    assert!(discloses("git checkout x"));
    assert!(!discloses("git checkout x && cat a.txt"));
    assert_eq!(verdict(&granted, &Rules::default(), &plan(&disk, "git checkout x && cat a.txt")), "allow");
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

/// Commands that need a rule and read the output of another one.
const LINES_WITH_INPUT: &[&str] = &[
    "cat a.txt | cargo test",
    "echo x | mytool a",
    "cd web && cat b.txt | npm test 2>&1 | tail -n 5",
    "seq 3 | grep 1 | mytool a; echo $?",
    "mkdir x && cat web/b.txt | cargo test",
];

#[test]
fn a_part_reads_the_output_of_another_only_if_its_rule_includes_that() {
    let (_folder, disk) = project();
    let with_input = |prefixes: &[&str]| {
        let mut rules = allowing(prefixes);
        rules.list.iter_mut().for_each(|rule| rule.takes_input = true);
        rules
    };
    for line in LINES_WITH_INPUT {
        let plan = plan(&disk, line);
        assert_eq!(verdict(&[], &allowing(PREFIXES), &plan), "ask", "{line}");
        assert_eq!(verdict(&[], &with_input(PREFIXES), &plan), "allow", "{line}");
        let mut denied = with_input(PREFIXES);
        denied.list.push(Rule::new(RuleEffect::Deny, RuleTarget::Prefix(vec!["echo".into()])));
        let names_echo = line.contains("echo");
        assert_eq!(verdict(&[], &denied, &plan) == "allow", !names_echo, "{line}");
    }
    for (line, expected) in [
        ("cargo test", "allow"),
        ("cargo test | tail", "allow"),
        ("cat .env | cargo test", "ask"),
        ("cat a.txt | python3", "ask"),
        ("cat a.txt | rm a.txt", "ask"),
        ("curl x.org | cargo test", "ask"),
        // The first may change what the last one uses while both run.
        ("cargo test | mytool a", "ask"),
        ("mytool | cargo test", "allow"),
    ] {
        assert_eq!(verdict(&[], &with_input(&["cargo test", "mytool"]), &plan(&disk, line)), expected, "{line}");
    }
}

/// The reason names the part that a rule of the user does not cover, and what keeps it from that.
#[test]
fn the_reason_says_why_a_rule_does_not_cover_a_part() {
    let (_folder, disk) = project();
    let reason = |takes_input, command: &str| {
        let mut rules = allowing(&["cargo test"]);
        rules.list[0].takes_input = takes_input;
        match judge_plan(&Policy::default(), &[], &rules, "bash_exec", &plan(&disk, command)) {
            Verdict::Ask(reason) => reason,
            other => panic!("{command}: {other:?}"),
        }
    };
    let input = "it reads the output of another part, which may decide what it does";
    assert_eq!(reason(false, "cat a.txt | cargo test"), format!("“cargo test”: {input}"));
    assert_eq!(reason(false, "cat a.txt | cargo test; cargo test"), format!("“cargo test”: {input}"));
    let alone = "it only reads, but needs a rule next to a command that does more";
    assert_eq!(reason(true, "git log | cargo test"), format!("“git log”: {alone}"));
    assert_eq!(reason(true, "cargo test; make"), "make runs project code");
}

#[test]
fn without_a_sandbox_only_readers_of_no_file_are_neutral() {
    let (_folder, disk) = project();
    let unavailable = || ToolSettings { sandbox: CommandSandbox::Unavailable("off".into()), ..ToolSettings::default() };
    let rules = allowing(&["cargo test"]);
    for (command, expected) in [
        ("cargo test 2>&1 | tail -n 20", "allow"),
        ("cd web && cargo test | grep x | wc -l", "allow"),
        ("cargo test | column -t | rev", "allow"),
        ("cargo test | sed 5q", "ask"),
        ("cargo test | jq .", "ask"),
        ("cd web; cargo test", "allow"),
        ("cd web && cd .. && cargo test | tail", "allow"),
        ("cd web; cd ..; cargo test", "ask"),
        ("cd up; cargo test", "ask"),
        ("cat a.txt && cargo test", "ask"),
        ("ls web && cargo test", "ask"),
        ("ls && cargo test", "allow"),
    ] {
        assert_eq!(verdict(&[], &rules, &plan_in(&disk, command, unavailable())), expected, "{command}");
    }
}

/// If `PATH` has a folder of the project, a name means a program of the system only if it comes first.
#[test]
fn programs_of_the_project_need_a_rule() {
    let (folder, disk) = project();
    let system = folder.path().join("system");
    fs::create_dir(&system).unwrap();
    std::os::unix::fs::symlink("/bin/sh", system.join("tail")).unwrap();
    std::os::unix::fs::symlink("/bin/sh", system.join("timeout")).unwrap();
    let root = crate::project::Reader::root(&disk);
    let in_path = |folders: &[&std::path::Path]| {
        let path = std::env::join_paths(folders).unwrap();
        ToolSettings { project_programs: ProjectPrograms::new(root, Some(&path)), ..ToolSettings::default() }
    };
    let bin = root.join("bin");
    let settings = [in_path(&[&system]), in_path(&[&system, &bin]), in_path(&[&bin, &system])];
    let rules = allowing(&["cargo test"]);
    for (command, expected) in [
        ("cargo test | tail", ["allow", "allow", "ask"]),
        ("cargo test | grep x", ["allow", "ask", "ask"]),
        ("cargo test | timeout 5 tail", ["allow", "allow", "ask"]),
        ("timeout 5 cargo test | tail", ["allow", "allow", "ask"]),
        ("nice cargo test | tail", ["allow", "ask", "ask"]),
        ("cargo test; echo $?", ["allow", "allow", "allow"]),
        ("cargo test; timeout 5 echo x", ["allow", "ask", "ask"]),
        ("cargo test", ["allow", "allow", "allow"]),
        ("timeout 5 cargo test", ["allow", "allow", "ask"]),
        ("nice cargo test", ["allow", "ask", "ask"]),
    ] {
        let verdicts =
            settings.each_ref().map(|settings| verdict(&[], &rules, &plan_in(&disk, command, settings.clone())));
        assert_eq!(verdicts, expected, "{command}");
    }
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
    let line = CommandLine {
        command: command.into(),
        folder: crate::project::Reader::root(&disk).to_owned(),
        ..CommandLine::default()
    };
    let are_same = |checked| are_judged_as_before(&line, &disk, &BlockedCommands::default(), &before, checked);
    assert!(are_same(0..2) && are_same(1..2));
    let root = crate::project::Reader::root(&disk).to_owned();
    fs::remove_file(root.join("a.txt")).unwrap();
    std::os::unix::fs::symlink(".env", root.join("a.txt")).unwrap();
    assert!(!are_same(0..2) && !are_same(0..1) && are_same(1..2));
}

/// What an earlier step may change: a repository, a script, and the target of a link.
#[test]
fn a_step_is_judged_with_what_earlier_ones_changed() {
    for (command, change) in [
        ("cd web && git add b.txt", "mkdir web/.git"),
        ("touch new && bash x.sh", "echo evil > x.sh"),
        ("touch new && make -f x.sh", "echo evil > x.sh"),
        ("touch new && mytool a.txt", "ln -sf ../secret a.txt"),
        ("touch new && cat a.txt", "ln -sf web/b.txt a.txt"),
        ("touch new && cat web/b.txt", "mv web moved; ln -s moved web"),
    ] {
        let (_folder, disk) = project();
        let root = crate::project::Reader::root(&disk).to_owned();
        let before = plan(&disk, command).preconditions.parts;
        let line = CommandLine { command: command.into(), folder: root.clone(), ..CommandLine::default() };
        let is_same = || are_judged_as_before(&line, &disk, &BlockedCommands::default(), &before, 1..2);
        assert!(before.len() == 2 && is_same(), "{command}");
        let status = std::process::Command::new("sh").args(["-c", change]).current_dir(root).status().unwrap();
        assert!(status.success() && !is_same(), "{command}: {change}");
    }
}

#[test]
fn an_exact_rule_runs_no_script_that_an_earlier_part_may_change() {
    let (_folder, disk) = project();
    for command in ["bash x.sh", "make -f x.sh"] {
        let mut exact = Rule::new(RuleEffect::Allow, RuleTarget::Command(command.into()));
        exact.scripts = plan(&disk, command).grant.unwrap().scripts;
        assert!(!exact.scripts.is_empty(), "{command}");
        let mut rules = allowing(&["git checkout"]);
        rules.list.push(exact);
        assert_eq!(verdict(&[], &rules, &plan(&disk, &format!("{command}; echo done"))), "allow", "{command}");
        assert_eq!(verdict(&[], &rules, &plan(&disk, &format!("git checkout x && {command}"))), "ask", "{command}");
    }
}

#[test]
fn parts_survive_the_log() {
    let (_folder, disk) = project();
    let preconditions = plan(&disk, "cd web && bash x.sh | tail -n 1").preconditions;
    assert_eq!(preconditions.parts.len(), 3);
    let json = serde_json::to_string(&preconditions).unwrap();
    assert_eq!(serde_json::from_str::<crate::chat::Preconditions>(&json).unwrap(), preconditions);
}
