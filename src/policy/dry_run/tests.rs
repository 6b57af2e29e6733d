//! Verdicts of a dry run by access, mode, setting, rules and grants.

use super::*;
use crate::chat::{CommandAccess, CommandLine, CommandSandbox, Decider, Grant, GrantScope, Preconditions, Reach};
use crate::policy::rule_tests::rule;
use crate::policy::tests::plan;
use crate::policy::{Mode, judge_plan};

fn runs(command: &str, reach: Reach, sensitive: bool) -> Access {
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
        is_sensitive: sensitive,
        may_disclose: sensitive,
        named_secrets: Vec::new(),
    })
}

fn rules(list: Vec<Rule>) -> Rules {
    Rules { list, ..Rules::default() }
}

fn allows(about: RuleTarget) -> Rules {
    rules(vec![rule(RuleEffect::Allow, about)])
}

fn asks(about: RuleTarget) -> Rules {
    rules(vec![rule(RuleEffect::Ask, about)])
}

fn words(text: &str) -> RuleTarget {
    RuleTarget::Prefix(text.split(' ').map(str::to_owned).collect())
}

/// Returns the verdicts with `ask = "report"` and with `"as live"`, in each mode.
fn table(access: &Access, rules: &Rules, granted: &[SessionGrant]) -> [[&'static str; 4]; 2] {
    [false, true].map(|as_live| {
        Mode::ALL.map(|mode| {
            let policy = Policy { mode, dry_run: true, asks_as_live: as_live };
            judge_plan(&policy, granted, rules, "bash_exec", &plan(access.clone(), false)).as_str()
        })
    })
}

#[test]
fn r30_reports_or_asks_the_live_verdict() {
    let report = Policy { dry_run: true, ..Policy::default() };
    let live = Policy { asks_as_live: true, ..report };
    let full = Policy { mode: Mode::Full, ..report };
    let says = |policy: &Policy, access: Access| {
        let verdict = judge_plan(policy, &[], &Rules::default(), "tool", &plan(access, false));
        (verdict.as_str(), verdict.reason().to_owned())
    };
    let (word, why) = says(&report, Access::Write("a".into()));
    assert_eq!(word, "rehearse");
    assert!(why.ends_with("live, you would have been asked: file change in the project"), "{why}");
    assert_eq!(says(&live, Access::Write("a".into())), ("ask", "file change in the project".to_owned()));
    let (word, why) = says(&full, Access::Write("a".into()));
    assert_eq!(word, "rehearse");
    assert!(why.ends_with("live it would run: full mode"), "{why}");
    for policy in [report, live, full] {
        let own = says(&policy, Access::WriteOutside("/home/a/.config/aye/rules.toml".into()));
        assert_eq!(
            says(&Policy { dry_run: false, ..policy }, Access::WriteOutside("/home/a/.config/aye/rules.toml".into())).0
                == "refuse",
            own.0 == "refuse"
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
        runs("cat .env", Reach::Runs, true),
        runs("cat .env > b", Reach::Writes, true),
        runs("x", Reach::Outside, true),
        runs("x", Reach::Unclear, true),
    ] {
        assert_eq!(table(&access, &Rules::default(), &[]), WITHHELD, "{access:?}");
        // A wider rule does not change that.
        for wider in [RuleTarget::Path(".env*".into()), RuleTarget::Path("**".into()), RuleTarget::EveryCall] {
            assert_eq!(table(&access, &allows(wider), &[]), WITHHELD, "{access:?}");
        }
    }
    // Changes, and commands that read no secrets, are rehearsed.
    for access in [
        Access::Write("a".into()),
        Access::WriteOutside("/a".into()),
        runs("make", Reach::Runs, false),
        runs("x", Reach::Unclear, false),
    ] {
        assert_eq!(table(&access, &Rules::default(), &[])[0], ["refuse", "rehearse", "rehearse", "rehearse"]);
    }
    // A system file holds no secrets: it is readable if it is readable live.
    let system = Access::ReadSensitive("/usr/include/a.h".into());
    assert_eq!(
        table(&system, &Rules::default(), &[]),
        [["refuse", "withhold", "withhold", "rehearse"], ["refuse", "ask", "ask", "rehearse"]]
    );
}

#[test]
fn r30_exact_rules_and_grants_apply_in_dry_runs() {
    let env = Access::ReadSensitive(".env".into());
    let grep = runs("grep -r x .", Reach::Runs, true);
    let runs_it = [["refuse", "rehearse", "rehearse", "rehearse"]; 2];
    assert_eq!(table(&env, &allows(RuleTarget::Path(".env".into())), &[]), runs_it);
    assert_eq!(table(&grep, &allows(RuleTarget::Command("grep -r x .".into())), &[]), runs_it);
    let scope = GrantScope::Command { command: "grep -r x .".into(), folder: "/p".into(), network: false };
    let standing = |scope| SessionGrant {
        grant: Grant::new("bash_exec", scope),
        entry_index: 0,
        call_number: 1,
        call: "c".into(),
        by: Decider::Headless,
    };
    assert_eq!(table(&grep, &Rules::default(), &[standing(scope.clone())]), runs_it);
    // A rule for the first word allows it live, but does not cover secrets.
    let first = allows(words("grep"));
    let live = Policy::default();
    assert_eq!(judge_plan(&live, &[], &first, "bash_exec", &plan(grep.clone(), false)).as_str(), "allow");
    assert_eq!(
        table(&grep, &first, &[]),
        [["refuse", "withhold", "withhold", "withhold"], ["refuse", "ask", "ask", "ask"]]
    );
    // A rule that asks takes precedence over every grant.
    let asked = asks(words("grep"));
    assert_eq!(table(&grep, &asked, &[standing(scope)])[0][1], "withhold");
}

#[test]
fn r30_reads_that_a_path_rule_asks_about_are_withheld() {
    let notes = asks(RuleTarget::Path("notes/**".into()));
    let read = Access::Read(vec!["notes/a".into()]);
    assert_eq!(table(&read, &notes, &[])[0], ["withhold"; 4]);
    assert_eq!(table(&read, &notes, &[])[1], ["ask"; 4]);
    assert_eq!(table(&Access::Read(vec!["src/a".into()]), &notes, &[]), [["allow"; 4]; 2]);
    // A rule that asks about a program does not ask about what it reads.
    let make = asks(words("make"));
    assert_eq!(table(&runs("make", Reach::Runs, false), &make, &[])[0][1], "rehearse");
    // An unreadable rule may be about anything.
    let broken = Rules { read_error: Some("rules.toml:3".into()), ..Rules::default() };
    assert_eq!(table(&read, &broken, &[])[0][1], "withhold");
    assert_eq!(table(&runs("make", Reach::Runs, false), &broken, &[])[0][1], "withhold");
    assert_eq!(table(&Access::Write("a".into()), &broken, &[])[0][1], "rehearse");
}

#[test]
fn r30_withheld_text_names_reads_and_live_verdict() {
    let told = |access: Access, rules: &Rules| {
        let policy = Policy { dry_run: true, ..Policy::default() };
        match judge_plan(&policy, &[], rules, "bash_exec", &plan(access, false)) {
            Verdict::Withhold(withheld) => (withheld.outcome_text(), withheld.reason),
            other => panic!("{other:?}"),
        }
    };
    let (words_of, why) = told(Access::ReadSensitive(".env".into()), &Rules::default());
    assert_eq!(
        words_of,
        "Withheld in this dry run: read of .env (may hold secrets). Live, the user would be asked first."
    );
    assert_eq!(
        crate::chat::dry_run_summary::live_ask_reason("withhold", &why),
        Some("read of .env (may hold secrets)")
    );
    let (outside, _) = told(Access::ReadSensitive("/etc/hosts".into()), &Rules::default());
    assert!(outside.contains("read of /etc/hosts (outside the project). Live, the user"), "{outside}");
    let (key, _) = told(Access::ReadSensitive("/home/x/.ssh/id_rsa".into()), &Rules::default());
    assert!(key.contains("(outside the project, may hold secrets)"), "{key}");
    let (command, _) = told(runs("x", Reach::Runs, true), &Rules::default());
    assert!(command.contains("of this; possible read of secrets or files outside the project. Live"), "{command}");
    let (by_rule, why) = told(runs("grep -r x .", Reach::Runs, true), &allows(words("grep")));
    assert_eq!(by_rule, "Withheld in this dry run: possible read of secrets. Live, it would run without asking.");
    assert_eq!(crate::chat::dry_run_summary::live_ask_reason("withhold", &why), None);
    assert!(why.contains("your rule: "), "{why}");
}

#[test]
fn r30_only_exact_approvals_disclose() {
    let may = |access: &Access, mode, rules: &Rules| {
        let policy = Policy { mode, dry_run: true, asks_as_live: false };
        may_disclose(&policy, &[], rules, "bash_exec", &plan(access.clone(), false))
    };
    let make = runs("make", Reach::Runs, false);
    assert!(!may(&make, Mode::Full, &Rules::default()), "no mode is an approval");
    assert!(!may(&make, Mode::Full, &allows(words("make"))), "nor is a rule for its first word");
    assert!(may(&make, Mode::Ask, &allows(RuleTarget::Command("make".into()))));
    let both = rules(vec![
        rule(RuleEffect::Allow, RuleTarget::Command("make".into())),
        rule(RuleEffect::Ask, RuleTarget::Command("make".into())),
    ]);
    assert!(!may(&make, Mode::Ask, &both));
    let links = crate::chat::HardLinks { path: "a".into(), names: 2 };
    let linked = Plan {
        preconditions: Preconditions { hard_links: Some(links), ..Preconditions::default() },
        ..plan(make, false)
    };
    let exact = allows(RuleTarget::Command("make".into()));
    assert!(!may_disclose(&Policy::default(), &[], &exact, "bash_exec", &linked));
}

/// Returns a command whose only reason to ask is that it names these files.
fn names(paths: &[&str]) -> Access {
    let Access::Run(run) = runs("cat", Reach::Runs, true) else { panic!("it runs") };
    let line = CommandLine { command: format!("cat {}", paths.join(" ")), ..*run.line };
    let named_secrets = paths.iter().map(std::path::PathBuf::from).collect();
    Access::Run(CommandAccess { line: Box::new(line), named_secrets, ..run })
}

#[test]
fn r13_exact_rules_for_every_file_allow_reading_secrets() {
    let path = |says, text: &str| rule(says, RuleTarget::Path(text.into()));
    let allow = |text: &str| path(RuleEffect::Allow, text);
    let of_tool = |tool: &str| Rule { tool: Some(tool.into()), ..allow(".env") };
    let one = names(&[".env"]);
    let two = names(&[".env", ".env.local"]);
    let Access::Run(run) = one.clone() else { panic!("it runs") };
    let on_line = |line: CommandLine| Access::Run(CommandAccess { line: Box::new(line), ..run.clone() });
    let absent = on_line(CommandLine { sandbox: CommandSandbox::Unavailable("it is off".into()), ..*run.line.clone() });
    let network = on_line(CommandLine { network: Some("why".into()), ..*run.line.clone() });
    let unnamed = Access::Run(CommandAccess { named_secrets: Vec::new(), ..run.clone() });
    let outside = Access::Run(CommandAccess { reach: Reach::Outside, ..run.clone() });
    for (access, list, expected) in [
        (&one, vec![allow(".env")], "allow"),
        (&one, vec![of_tool("bash_exec")], "allow"),
        (&one, vec![of_tool("read_file")], "ask"),
        (&one, vec![], "ask"),
        (&one, vec![allow(".env*")], "ask"),
        (&one, vec![allow("**")], "ask"),
        (&one, vec![allow(".en?")], "ask"),
        (&one, vec![allow("./.env")], "ask"),
        (&one, vec![allow("/p/.env")], "ask"),
        (&one, vec![allow(".env"), path(RuleEffect::Ask, ".env*")], "ask"),
        (&one, vec![allow(".env"), path(RuleEffect::Deny, ".env")], "refuse"),
        (&one, vec![allow(".env"), rule(RuleEffect::Ask, words("cat"))], "ask"),
        (&one, vec![rule(RuleEffect::Allow, words("cat .env"))], "allow"),
        (&two, vec![allow(".env")], "ask"),
        (&two, vec![allow(".env.local")], "ask"),
        (&two, vec![allow(".env"), allow(".env.local")], "allow"),
        (&two, vec![allow(".env"), allow(".env.local"), path(RuleEffect::Deny, "*.local")], "refuse"),
        (&absent, vec![allow(".env")], "ask"),
        (&network, vec![allow(".env")], "ask"),
        (&unnamed, vec![allow(".env")], "ask"),
        (&outside, vec![allow(".env")], "ask"),
    ] {
        let list = rules(list);
        let told = format!("{access:?} {list:?}");
        for mode in [Mode::Ask, Mode::Auto, Mode::Full] {
            let policy = Policy { mode, ..Policy::default() };
            let found = judge_plan(&policy, &[], &list, "bash_exec", &plan(access.clone(), false)).as_str();
            assert_eq!(found, expected, "{mode:?} {told}");
            let destroys = judge_plan(&policy, &[], &list, "bash_exec", &plan(access.clone(), true)).as_str();
            assert_ne!(destroys, "allow", "{mode:?} {told}");
        }
        let policy = Policy { mode: Mode::Plan, ..Policy::default() };
        assert_eq!(judge_plan(&policy, &[], &list, "bash_exec", &plan(access.clone(), false)).as_str(), "refuse");
        // A prefix rule allows a command live and discloses nothing in a dry run.
        let by_words = list.list.iter().any(|rule| matches!(rule.target, RuleTarget::Prefix(_)));
        let dry = match expected {
            "allow" if !by_words => ["rehearse", "rehearse"],
            "refuse" => ["refuse", "refuse"],
            _ => ["withhold", "ask"],
        };
        assert_eq!(table(access, &list, &[]).map(|row| row[1]), dry, "{told}");
        assert_eq!(table(access, &list, &[]).map(|row| row[0]), ["refuse"; 2], "{told}");
    }
    let broken = Rules { read_error: Some("it is cut off".into()), ..allows(RuleTarget::Path(".env".into())) };
    let verdict = judge_plan(&Policy::default(), &[], &broken, "bash_exec", &plan(one.clone(), false));
    assert_eq!(verdict.as_str(), "ask");
    let links = crate::chat::HardLinks { path: ".env".into(), names: 2 };
    let plain = plan(one, false);
    let linked =
        Plan { preconditions: Preconditions { hard_links: Some(links), ..Preconditions::default() }, ..plain.clone() };
    let named = allows(RuleTarget::Path(".env".into()));
    assert_eq!(judge_plan(&Policy::default(), &[], &named, "bash_exec", &linked).as_str(), "ask");
    let is_told = |plan: &Plan| {
        let (steps, _) = crate::policy::explain_verdict(&Policy::default(), &[], &named, "bash_exec", plan);
        steps.iter().any(|step| step.results.concat().contains("matches a file that it reads: allow .env"))
    };
    assert!(is_told(&plain) && !is_told(&linked));
}
