//! Verdicts of a dry run by access, mode, setting, rules and grants.

use super::*;
use crate::chat::{CommandAccess, CommandLine, CommandSandbox, Decider, Grant, GrantScope, Preconditions, Reach};
use crate::policy::rule_tests::rule;
// The second argument of `plan` is true for a call that destroys something.
use crate::policy::tests::plan;
use crate::policy::{Mode, judge_plan};

/// Returns the access of a command in an enforced sandbox. With `is_sensitive` the command may read secrets.
fn command_access(command: &str, reach: Reach, is_sensitive: bool) -> Access {
    let line = CommandLine {
        command: command.into(),
        folder: "/p".into(),
        seconds: 30,
        sandbox: CommandSandbox::enforced(crate::chat::SandboxAccess::default()),
        ..CommandLine::default()
    };
    Access::Run(CommandAccess {
        line: Box::new(line),
        reach,
        reason: "of this".into(),
        is_sensitive,
        may_disclose: is_sensitive,
        named_secrets: Vec::new(),
    })
}

fn rules_from(list: Vec<Rule>) -> Rules {
    Rules { list, ..Rules::default() }
}

fn allow_rules(target: RuleTarget) -> Rules {
    rules_from(vec![rule(RuleEffect::Allow, target)])
}

fn ask_rules(target: RuleTarget) -> Rules {
    rules_from(vec![rule(RuleEffect::Ask, target)])
}

fn prefix_target(text: &str) -> RuleTarget {
    RuleTarget::Prefix(text.split(' ').map(str::to_owned).collect())
}

/// Returns two rows of verdicts of a dry run, with `ask = "report"` and with `ask = "as live"`. Each row has the
/// verdicts in the modes `plan`, `ask`, `auto` and `full`.
fn verdict_table(access: &Access, rules: &Rules, grants: &[SessionGrant]) -> [[&'static str; 4]; 2] {
    [false, true].map(|as_live| {
        Mode::ALL.map(|mode| {
            let policy = Policy { mode, dry_run: true, asks_as_live: as_live };
            judge_plan(&policy, grants, rules, "bash_exec", &plan(access.clone(), false)).as_str()
        })
    })
}

#[test]
fn r30_reports_or_asks_the_live_verdict() {
    let report = Policy { dry_run: true, ..Policy::default() };
    let ask_live = Policy { asks_as_live: true, ..report };
    let full = Policy { mode: Mode::Full, ..report };
    let judge = |policy: &Policy, access: Access| {
        let verdict = judge_plan(policy, &[], &Rules::default(), "tool", &plan(access, false));
        (verdict.as_str(), verdict.reason().to_owned())
    };
    let (verdict, why) = judge(&report, Access::Write("a".into()));
    assert_eq!(verdict, "rehearse");
    assert!(why.ends_with("live, you would have been asked: file change in the project"), "{why}");
    assert_eq!(judge(&ask_live, Access::Write("a".into())), ("ask", "file change in the project".to_owned()));
    let (verdict, why) = judge(&full, Access::Write("a".into()));
    assert_eq!(verdict, "rehearse");
    assert!(why.ends_with("live it would run: full mode"), "{why}");
    // A dry run refuses a write to aye's own settings exactly if a live session does.
    for policy in [report, ask_live, full] {
        let own_file = judge(&policy, Access::WriteOutside("/home/a/.config/aye/rules.toml".into()));
        assert_eq!(
            judge(&Policy { dry_run: false, ..policy }, Access::WriteOutside("/home/a/.config/aye/rules.toml".into()))
                .0
                == "refuse",
            own_file.0 == "refuse"
        );
    }
}

#[test]
fn r30_reads_of_secrets_are_withheld_or_ask() {
    const WITHHELD: [[&str; 4]; 2] = [["refuse", "withhold", "withhold", "withhold"], ["refuse", "ask", "ask", "ask"]];
    for access in [
        Access::ReadSensitive(".env".into()),
        Access::ReadSensitive("/etc/shadow".into()),
        Access::ReadSensitive("/home/x/.ssh/id_rsa".into()),
        command_access("cat .env", Reach::Runs, true),
        command_access("cat .env > b", Reach::Writes, true),
        command_access("x", Reach::Outside, true),
        command_access("x", Reach::Unclear, true),
    ] {
        assert_eq!(verdict_table(&access, &Rules::default(), &[]), WITHHELD, "{access:?}");
        // A wider rule does not change that.
        for wide_target in [RuleTarget::Path(".env*".into()), RuleTarget::Path("**".into()), RuleTarget::EveryCall] {
            assert_eq!(verdict_table(&access, &allow_rules(wide_target), &[]), WITHHELD, "{access:?}");
        }
    }
    // Changes, and commands that read no secrets, are rehearsed.
    for access in [
        Access::Write("a".into()),
        Access::WriteOutside("/a".into()),
        command_access("make", Reach::Runs, false),
        command_access("x", Reach::Unclear, false),
    ] {
        assert_eq!(verdict_table(&access, &Rules::default(), &[])[0], ["refuse", "rehearse", "rehearse", "rehearse"]);
    }
    // A system file holds no secrets: a dry run may read it in the modes that allow it live.
    let system = Access::ReadSensitive("/usr/include/a.h".into());
    assert_eq!(
        verdict_table(&system, &Rules::default(), &[]),
        [["refuse", "withhold", "withhold", "rehearse"], ["refuse", "ask", "ask", "rehearse"]]
    );
}

#[test]
fn r30_exact_rules_and_grants_apply_in_dry_runs() {
    let env = Access::ReadSensitive(".env".into());
    let grep = command_access("grep -r x .", Reach::Runs, true);
    let rehearsed = [["refuse", "rehearse", "rehearse", "rehearse"]; 2];
    assert_eq!(verdict_table(&env, &allow_rules(RuleTarget::Path(".env".into())), &[]), rehearsed);
    assert_eq!(verdict_table(&grep, &allow_rules(RuleTarget::Command("grep -r x .".into())), &[]), rehearsed);
    let scope = GrantScope::Command { command: "grep -r x .".into(), folder: "/p".into(), network: false };
    let session_grant = |scope| SessionGrant {
        grant: Grant::new("bash_exec", scope),
        entry_index: 0,
        call_number: 1,
        call: "c".into(),
        by: Decider::Headless,
    };
    assert_eq!(verdict_table(&grep, &Rules::default(), &[session_grant(scope.clone())]), rehearsed);
    // A rule for the first word allows the command live, but does not let a dry run read secrets.
    let prefix_rule = allow_rules(prefix_target("grep"));
    let live_policy = Policy::default();
    assert_eq!(judge_plan(&live_policy, &[], &prefix_rule, "bash_exec", &plan(grep.clone(), false)).as_str(), "allow");
    assert_eq!(
        verdict_table(&grep, &prefix_rule, &[]),
        [["refuse", "withhold", "withhold", "withhold"], ["refuse", "ask", "ask", "ask"]]
    );
    // A rule that asks takes precedence over every grant.
    let ask_rule = ask_rules(prefix_target("grep"));
    assert_eq!(verdict_table(&grep, &ask_rule, &[session_grant(scope)])[0][1], "withhold");
}

#[test]
fn r30_reads_that_a_path_rule_asks_about_are_withheld() {
    let notes_rule = ask_rules(RuleTarget::Path("notes/**".into()));
    let read = Access::Read(vec!["notes/a".into()]);
    assert_eq!(verdict_table(&read, &notes_rule, &[])[0], ["withhold"; 4]);
    assert_eq!(verdict_table(&read, &notes_rule, &[])[1], ["ask"; 4]);
    assert_eq!(verdict_table(&Access::Read(vec!["src/a".into()]), &notes_rule, &[]), [["allow"; 4]; 2]);
    // A rule that asks about a program does not ask about what it reads.
    let make_rule = ask_rules(prefix_target("make"));
    assert_eq!(verdict_table(&command_access("make", Reach::Runs, false), &make_rule, &[])[0][1], "rehearse");
    // An unreadable rule may be about anything.
    let unreadable = Rules { read_error: Some("rules.toml:3".into()), ..Rules::default() };
    assert_eq!(verdict_table(&read, &unreadable, &[])[0][1], "withhold");
    assert_eq!(verdict_table(&command_access("make", Reach::Runs, false), &unreadable, &[])[0][1], "withhold");
    assert_eq!(verdict_table(&Access::Write("a".into()), &unreadable, &[])[0][1], "rehearse");
}

#[test]
fn r30_withheld_text_names_reads_and_live_verdict() {
    let withheld_text = |access: Access, rules: &Rules| {
        let policy = Policy { dry_run: true, ..Policy::default() };
        match judge_plan(&policy, &[], rules, "bash_exec", &plan(access, false)) {
            Verdict::Withhold(withheld) => (withheld.outcome_text(), withheld.reason),
            verdict => panic!("{verdict:?}"),
        }
    };
    let (text, why) = withheld_text(Access::ReadSensitive(".env".into()), &Rules::default());
    assert_eq!(text, "Withheld in this dry run: read of .env (may hold secrets). Live, the user would be asked first.");
    assert_eq!(
        crate::chat::dry_run_summary::live_ask_reason("withhold", &why),
        Some("read of .env (may hold secrets)")
    );
    let (outside, _) = withheld_text(Access::ReadSensitive("/etc/hosts".into()), &Rules::default());
    assert!(outside.contains("read of /etc/hosts (outside the project). Live, the user"), "{outside}");
    let (key, _) = withheld_text(Access::ReadSensitive("/home/x/.ssh/id_rsa".into()), &Rules::default());
    assert!(key.contains("(outside the project, may hold secrets)"), "{key}");
    let (command, _) = withheld_text(command_access("x", Reach::Runs, true), &Rules::default());
    assert!(command.contains("of this; possible read of secrets or files outside the project. Live"), "{command}");
    let (by_rule, why) =
        withheld_text(command_access("grep -r x .", Reach::Runs, true), &allow_rules(prefix_target("grep")));
    assert_eq!(by_rule, "Withheld in this dry run: possible read of secrets. Live, it would run without asking.");
    assert_eq!(crate::chat::dry_run_summary::live_ask_reason("withhold", &why), None);
    assert!(why.contains("your rule: "), "{why}");
}

#[test]
fn r30_only_exact_approvals_disclose() {
    let can_disclose = |access: &Access, mode, rules: &Rules| {
        let policy = Policy { mode, dry_run: true, asks_as_live: false };
        may_disclose(&policy, &[], rules, "bash_exec", &plan(access.clone(), false))
    };
    let make = command_access("make", Reach::Runs, false);
    assert!(!can_disclose(&make, Mode::Full, &Rules::default()), "no mode is an approval");
    assert!(!can_disclose(&make, Mode::Full, &allow_rules(prefix_target("make"))), "nor is a rule for its first word");
    assert!(can_disclose(&make, Mode::Ask, &allow_rules(RuleTarget::Command("make".into()))));
    let both_rules = rules_from(vec![
        rule(RuleEffect::Allow, RuleTarget::Command("make".into())),
        rule(RuleEffect::Ask, RuleTarget::Command("make".into())),
    ]);
    assert!(!can_disclose(&make, Mode::Ask, &both_rules));
    let links = crate::chat::HardLinks { path: "a".into(), names: 2 };
    let linked = Plan {
        preconditions: Preconditions { hard_links: Some(links), ..Preconditions::default() },
        ..plan(make, false)
    };
    let exact_rule = allow_rules(RuleTarget::Command("make".into()));
    assert!(!may_disclose(&Policy::default(), &[], &exact_rule, "bash_exec", &linked));
}

/// Returns a command whose only reason to ask is that it names these files.
fn command_naming(paths: &[&str]) -> Access {
    let Access::Run(run) = command_access("cat", Reach::Runs, true) else { panic!("it runs") };
    let line = CommandLine { command: format!("cat {}", paths.join(" ")), ..*run.line };
    let named_secrets = paths.iter().map(std::path::PathBuf::from).collect();
    Access::Run(CommandAccess { line: Box::new(line), named_secrets, ..run })
}

#[test]
fn r13_exact_rules_for_every_file_allow_reading_secrets() {
    let path_rule = |effect, text: &str| rule(effect, RuleTarget::Path(text.into()));
    let allow_path = |text: &str| path_rule(RuleEffect::Allow, text);
    let allow_env_for_tool = |tool: &str| Rule { tool: Some(tool.into()), ..allow_path(".env") };
    let one_secret = command_naming(&[".env"]);
    let two_secrets = command_naming(&[".env", ".env.local"]);
    let Access::Run(run) = one_secret.clone() else { panic!("it runs") };
    let with_line = |line: CommandLine| Access::Run(CommandAccess { line: Box::new(line), ..run.clone() });
    let unsandboxed =
        with_line(CommandLine { sandbox: CommandSandbox::Unavailable("it is off".into()), ..*run.line.clone() });
    let networked = with_line(CommandLine { network: Some("why".into()), ..*run.line.clone() });
    let unnamed = Access::Run(CommandAccess { named_secrets: Vec::new(), ..run.clone() });
    let outside = Access::Run(CommandAccess { reach: Reach::Outside, ..run.clone() });
    for (access, list, expected) in [
        (&one_secret, vec![allow_path(".env")], "allow"),
        (&one_secret, vec![allow_env_for_tool("bash_exec")], "allow"),
        (&one_secret, vec![allow_env_for_tool("read_file")], "ask"),
        (&one_secret, vec![], "ask"),
        (&one_secret, vec![allow_path(".env*")], "ask"),
        (&one_secret, vec![allow_path("**")], "ask"),
        (&one_secret, vec![allow_path(".en?")], "ask"),
        (&one_secret, vec![allow_path("./.env")], "ask"),
        (&one_secret, vec![allow_path("/p/.env")], "ask"),
        (&one_secret, vec![allow_path(".env"), path_rule(RuleEffect::Ask, ".env*")], "ask"),
        (&one_secret, vec![allow_path(".env"), path_rule(RuleEffect::Deny, ".env")], "refuse"),
        (&one_secret, vec![allow_path(".env"), rule(RuleEffect::Ask, prefix_target("cat"))], "ask"),
        (&one_secret, vec![rule(RuleEffect::Allow, prefix_target("cat .env"))], "allow"),
        (&two_secrets, vec![allow_path(".env")], "ask"),
        (&two_secrets, vec![allow_path(".env.local")], "ask"),
        (&two_secrets, vec![allow_path(".env"), allow_path(".env.local")], "allow"),
        (
            &two_secrets,
            vec![allow_path(".env"), allow_path(".env.local"), path_rule(RuleEffect::Deny, "*.local")],
            "refuse",
        ),
        (&unsandboxed, vec![allow_path(".env")], "ask"),
        (&networked, vec![allow_path(".env")], "ask"),
        (&unnamed, vec![allow_path(".env")], "ask"),
        (&outside, vec![allow_path(".env")], "ask"),
    ] {
        let rule_set = rules_from(list);
        let label = format!("{access:?} {rule_set:?}");
        for mode in [Mode::Ask, Mode::Auto, Mode::Full] {
            let policy = Policy { mode, ..Policy::default() };
            let verdict = judge_plan(&policy, &[], &rule_set, "bash_exec", &plan(access.clone(), false)).as_str();
            assert_eq!(verdict, expected, "{mode:?} {label}");
            let destructive_verdict =
                judge_plan(&policy, &[], &rule_set, "bash_exec", &plan(access.clone(), true)).as_str();
            assert_ne!(destructive_verdict, "allow", "{mode:?} {label}");
        }
        let policy = Policy { mode: Mode::Plan, ..Policy::default() };
        assert_eq!(judge_plan(&policy, &[], &rule_set, "bash_exec", &plan(access.clone(), false)).as_str(), "refuse");
        // A prefix rule allows a command live and discloses nothing in a dry run.
        let is_by_prefix = rule_set.list.iter().any(|rule| matches!(rule.target, RuleTarget::Prefix(_)));
        let expected_dry = match expected {
            "allow" if !is_by_prefix => ["rehearse", "rehearse"],
            "refuse" => ["refuse", "refuse"],
            _ => ["withhold", "ask"],
        };
        let (plan_mode, ask_mode) = (0, 1);
        assert_eq!(verdict_table(access, &rule_set, &[]).map(|row| row[ask_mode]), expected_dry, "{label}");
        assert_eq!(verdict_table(access, &rule_set, &[]).map(|row| row[plan_mode]), ["refuse"; 2], "{label}");
    }
    let unreadable = Rules { read_error: Some("it is cut off".into()), ..allow_rules(RuleTarget::Path(".env".into())) };
    let verdict = judge_plan(&Policy::default(), &[], &unreadable, "bash_exec", &plan(one_secret.clone(), false));
    assert_eq!(verdict.as_str(), "ask");
    let links = crate::chat::HardLinks { path: ".env".into(), names: 2 };
    let unlinked = plan(one_secret, false);
    let linked = Plan {
        preconditions: Preconditions { hard_links: Some(links), ..Preconditions::default() },
        ..unlinked.clone()
    };
    let named_rule = allow_rules(RuleTarget::Path(".env".into()));
    assert_eq!(judge_plan(&Policy::default(), &[], &named_rule, "bash_exec", &linked).as_str(), "ask");
    let mentions_secret_rule = |plan: &Plan| {
        let (checks, _) = crate::policy::explain_verdict(&Policy::default(), &[], &named_rule, "bash_exec", plan);
        checks.iter().any(|check| check.results.concat().contains("matches a file that it reads: allow .env"))
    };
    assert!(mentions_secret_rule(&unlinked) && !mentions_secret_rule(&linked));
}
