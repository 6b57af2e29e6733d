//! Rules and grants: matching, precedence, reasons, and that a grant never covers more than intended.

mod build_tools;
mod file_changes;
mod prefix_law;
mod services;
mod wrapped_commands;

use super::*;
use crate::chat::{CommandLine, Decider, Grant, GrantScope, Plan, Preconditions, RestrictedPath, SessionGrant};

fn plan_for(access: Access) -> Plan {
    let destroys = false;
    super::tests::plan(access, destroys)
}

fn command_plan(command: &str) -> Plan {
    plan_for(Access::Run(
        CommandLine { command: command.into(), folder: "/p".into(), seconds: 30, ..CommandLine::default() }.into(),
    ))
}

fn prefix_target(text: &str) -> RuleTarget {
    RuleTarget::Prefix(text.split(' ').map(str::to_owned).collect())
}

pub(super) fn rule(effect: RuleEffect, target: RuleTarget) -> Rule {
    Rule { location: RuleLocation { file: "rules.toml".into(), line: 3 }, ..Rule::new(effect, target) }
}

fn rules_from(list: Vec<Rule>) -> Rules {
    Rules { list, ..Rules::default() }
}

/// Returns the grants of a session with one of this scope.
fn session_grants(scope: GrantScope) -> Vec<SessionGrant> {
    let (grant, call) = (Grant::new("tool", scope), "c".into());
    vec![SessionGrant { grant, entry_index: 0, call_number: 1, call, by: Decider::Headless }]
}

/// Returns the verdict in `ask` mode, without grants.
fn judge(rules: &Rules, plan: &Plan) -> &'static str {
    judge_plan(&Policy::default(), &[], rules, "tool", plan).as_str()
}

#[test]
fn r11_allow_rule_covers_single_plain_commands() {
    let allow = rules_from(vec![
        rule(RuleEffect::Allow, prefix_target("cargo test")),
        rule(RuleEffect::Allow, RuleTarget::Path("docs/**".into())),
        rule(RuleEffect::Allow, RuleTarget::Command("make x | tee y".into())),
    ]);
    for (command, expected) in [
        ("cargo test", "allow"),
        ("cargo  test retry -- --nocapture", "allow"),
        ("'cargo' \"test\"", "allow"),
        ("make x | tee y", "allow"),
        ("cargo", "ask"),
        ("cargo testing", "ask"),
        ("cargo +nightly test", "ask"),
        ("cargo test; rm x", "ask"),
        ("cargo test\nrm x", "ask"),
        ("cargo test & ls", "ask"),
        ("cargo test &", "ask"),
        ("cargo test | tee x", "ask"),
        ("cargo test > x", "ask"),
        ("cargo test 2>&1", "ask"),
        ("cargo test < x", "ask"),
        ("cargo test <<E\nx\nE", "ask"),
        ("cargo test $(id)", "ask"),
        ("cargo test `id`", "ask"),
        ("cargo test <(id)", "ask"),
        ("cargo test $X", "ask"),
        ("cargo test *", "ask"),
        ("cargo test ~/x", "ask"),
        ("cargo test {a,b}", "ask"),
        ("A=b cargo test", "ask"),
        ("env cargo test", "ask"),
        ("(cargo test)", "ask"),
        ("{ cargo test; }", "ask"),
        ("! cargo test", "ask"),
        ("bash -c 'cargo test'", "ask"),
        ("if true; then cargo test; fi", "ask"),
        ("./cargo test", "ask"),
        ("cargo test --config target.x.runner=evil", "ask"),
        ("cargo test --config=x", "ask"),
        ("cargo test --manifest-path ../x/Cargo.toml", "ask"),
        ("make x | tee y ", "ask"),
        ("", "ask"),
    ] {
        assert_eq!(judge(&allow, &command_plan(command)), expected, "{command}");
    }
    for (access, expected) in [
        (Access::Write("docs/a/b.md".into()), "allow"),
        (Access::Write("docs/../src/a".into()), "ask"),
        (Access::Write("src/docs/a".into()), "ask"),
        (Access::WriteOutside("docs/.env".into()), "ask"),
        (Access::ReadSensitive("docs/a".into()), "ask"),
    ] {
        assert_eq!(judge(&allow, &plan_for(access.clone())), expected, "{access:?}");
    }
}

#[test]
fn r26_rules_and_grants_never_cover_sensitive_or_destructive_calls() {
    let allow = rules_from(vec![
        rule(RuleEffect::Allow, prefix_target("cat")),
        rule(RuleEffect::Allow, RuleTarget::Command("cat x".into())),
        rule(RuleEffect::Allow, RuleTarget::Path("**".into())),
        Rule { tool: Some("tool".into()), ..rule(RuleEffect::Allow, RuleTarget::EveryCall) },
    ]);
    let restricted_path =
        |is_sensitive| Some(RestrictedPath { path: "x".into(), is_sensitive, is_project_program: false });
    let command_with_path = |command: &str, restricted| Plan {
        preconditions: Preconditions { restricted_path: restricted, ..Preconditions::default() },
        ..command_plan(command)
    };
    let destructive = |plan: Plan| Plan { destroys: Some("all".into()), ..plan };
    for (plan, expected) in [
        (command_plan("cat x"), "allow"),
        (command_with_path("cat x", restricted_path(false)), "allow"),
        (command_with_path("cat y", restricted_path(false)), "ask"),
        (command_with_path("cat x", restricted_path(true)), "ask"),
        (destructive(command_plan("cat x")), "ask"),
        (destructive(plan_for(Access::Write("a".into()))), "ask"),
        (plan_for(Access::Write("a".into())), "allow"),
        (plan_for(Access::WriteOutside(".git/hooks/x".into())), "ask"),
    ] {
        assert_eq!(judge(&allow, &plan), expected, "{plan:?}");
    }
    // Grants of a session are no wider.
    let exact_grant =
        session_grants(GrantScope::Command { command: "cat x".into(), folder: "/p".into(), network: false });
    let judge_with_grants = |grants: &[SessionGrant], plan: &Plan| {
        judge_plan(&Policy::default(), grants, &Rules::default(), "tool", plan).as_str()
    };
    assert_eq!(judge_with_grants(&exact_grant, &command_with_path("cat x", restricted_path(true))), "ask");
    assert_eq!(judge_with_grants(&exact_grant, &command_with_path("cat x", restricted_path(false))), "allow");
    let folder_grant = session_grants(GrantScope::Folder("docs".into()));
    assert_eq!(judge_with_grants(&folder_grant, &plan_for(Access::Write("docs/a".into()))), "allow");
    assert_eq!(judge_with_grants(&folder_grant, &plan_for(Access::Write("docs/../a".into()))), "ask");
    assert_eq!(judge_with_grants(&folder_grant, &plan_for(Access::WriteOutside("docs/a".into()))), "ask");
}

#[test]
fn r12_deny_rules_apply_at_any_command_length() {
    let deny = rules_from(vec![
        rule(RuleEffect::Deny, prefix_target("git push")),
        rule(RuleEffect::Deny, prefix_target("git remote add")),
        rule(RuleEffect::Deny, RuleTarget::Path("secrets/**".into())),
        rule(RuleEffect::Deny, RuleTarget::Host("*.evil.example".into())),
        rule(RuleEffect::Allow, prefix_target("git")),
        rule(RuleEffect::Allow, RuleTarget::Command("git push".into())),
    ]);
    let long_prefix = "echo a; ".repeat(8_000);
    for command in [
        "git push".to_owned(),
        "git push --force origin main".to_owned(),
        "git -C . push".to_owned(),
        "git -C remote remote add o x".to_owned(),
        "git -C remote remote -v -m add add o x".to_owned(),
        "'git' \"push\"".to_owned(),
        "g\\it pu''sh".to_owned(),
        "/usr/bin/git push".to_owned(),
        "env A=b git push".to_owned(),
        "sudo git push".to_owned(),
        "true && git push".to_owned(),
        "true\ngit push".to_owned(),
        "echo $(git push)".to_owned(),
        "echo `git push`".to_owned(),
        "bash -c 'git push'".to_owned(),
        "xargs git push".to_owned(),
        "if x; then git push; fi".to_owned(),
        "f() { git push; }; f".to_owned(),
        "git push 'unclosed".to_owned(),
        format!("{long_prefix}git push"),
        format!("git push; {long_prefix}"),
        "cat secrets/a".to_owned(),
        "cat ./docs/../secrets/a".to_owned(),
        "cat /p/secrets/a".to_owned(),
        "tar c secrets".to_owned(),
        "x --file=secrets/a".to_owned(),
        "git show HEAD:secrets/a".to_owned(),
        "git show :secrets/a && touch y".to_owned(),
        "git log -L 1,5:secrets/a".to_owned(),
        "git diff ':(top)secrets/a'".to_owned(),
        "git diff :/secrets/a".to_owned(),
        "curl https://a.evil.example/x".to_owned(),
        "ssh me@evil.example".to_owned(),
        "git clone git@a.evil.example:x/y".to_owned(),
    ] {
        assert_eq!(judge(&deny, &command_plan(&command)), "refuse", "{}", &command[..command.len().min(80)]);
    }
    for command in [
        "git log",
        "git stash push",
        "git commit -m x push",
        "git -C remote a remote add",
        "echo push",
        "cat secret",
        "curl https://good.example",
    ] {
        assert_ne!(judge(&deny, &command_plan(command)), "refuse", "{command}");
    }
    for access in [Access::Read(vec!["a".into(), "secrets/b".into()]), Access::Write("secrets/x".into())] {
        assert_eq!(judge(&deny, &plan_for(access.clone())), "refuse", "{access:?}");
    }
}

#[test]
fn r12_deny_precedes_ask_and_ask_precedes_allow() {
    let (allow, ask, deny) = [RuleEffect::Allow, RuleEffect::Ask, RuleEffect::Deny]
        .map(|effect| rule(effect, prefix_target("cargo test")))
        .into();
    let session_grant = SessionGrant {
        grant: Grant::new(
            "tool",
            GrantScope::Command { command: "cargo test".into(), folder: "/p".into(), network: false },
        ),
        entry_index: 0,
        call_number: 1,
        call: "c".into(),
        by: Decider::Headless,
    };
    let judge_rules = |list: &[&Rule], dry_run| {
        let rules = rules_from(list.iter().map(|rule| (*rule).clone()).collect());
        let policy = Policy { dry_run, ..Policy::default() };
        judge_plan(&policy, std::slice::from_ref(&session_grant), &rules, "tool", &command_plan("cargo test")).as_str()
    };
    for (list, expected) in [
        (&[&allow, &ask, &deny][..], "refuse"),
        (&[&deny, &ask, &allow], "refuse"),
        (&[&allow, &ask], "ask"),
        (&[&ask, &allow], "ask"),
        (&[&allow], "allow"),
        // The grant allows the call.
        (&[], "allow"),
    ] {
        assert_eq!(judge_rules(list, false), expected, "{list:?}");
    }
    assert_eq!(judge_rules(&[&deny], true), "refuse");
    assert_eq!(judge_rules(&[&allow], true), "rehearse", "no rule makes a dry run live");
    let plan_mode = Policy { mode: Mode::Plan, ..Policy::default() };
    assert_eq!(
        judge_plan(&plan_mode, &[], &rules_from(vec![allow.clone()]), "tool", &command_plan("cargo test")).as_str(),
        "refuse"
    );
    // A rule may ask about reads, and an unreadable rules file makes every call with effects ask.
    let read = plan_for(Access::Read(vec!["a".into()]));
    assert_eq!(judge(&rules_from(vec![rule(RuleEffect::Ask, RuleTarget::Path("a".into()))]), &read), "ask");
    let unreadable = Rules { read_error: Some("rules.toml:1: x".into()), ..rules_from(vec![allow.clone()]) };
    for (plan, expected) in [(command_plan("cargo test"), "ask"), (read, "ask"), (plan_for(Access::Nothing), "allow")] {
        assert_eq!(judge(&unreadable, &plan), expected, "{plan:?}");
    }
}

#[test]
fn verdict_names_its_rule_or_grant() {
    let saved_rule = Rule {
        created: "2026-11-22".into(),
        expires: "2027-02-20".into(),
        takes_input: false,
        saved_with_key: "a".into(),
        ..rule(RuleEffect::Allow, prefix_target("cargo test"))
    };
    for (today, age) in [
        ("2026-11-22", ", saved today"),
        ("2026-11-23", ", saved yesterday"),
        ("2027-01-22", ", saved 61 days ago"),
        ("2026-11-01", ", saved today"),
        ("", ""),
        ("later", ""),
    ] {
        let rules = Rules { today: today.into(), ..rules_from(vec![saved_rule.clone()]) };
        let verdict = judge_plan(&Policy::default(), &[], &rules, "tool", &command_plan("cargo test"));
        assert_eq!(verdict.reason(), format!("your rule: allow cargo test … (every project{age}, rules.toml:3)"));
    }
    // The name of the tool is `tool`.
    let by = Decider::User { key: "enter".into(), after_ms: 900 };
    let grant = Grant::new("tool", GrantScope::File("a".into()));
    let session_grant = SessionGrant { grant, entry_index: 4, call_number: 2, call: "c".into(), by };
    let verdict = judge_plan(
        &Policy::default(),
        &[session_grant],
        &Rules::default(),
        "tool",
        &plan_for(Access::Write("a".into())),
    );
    assert_eq!(
        verdict.reason(),
        "allowed before with enter, on call 2 of this session: every tool of a, for this session"
    );
}

#[test]
fn r11_offers_only_meaningful_prefixes() {
    let offered_prefixes = |command: &str| -> Vec<String> {
        let scope = GrantScope::Command { command: command.into(), folder: "/p".into(), network: false };
        let plan = Plan { grant: Some(Grant::new("tool", scope)), ..command_plan(command) };
        let prefixes = grant_scopes("tool", &plan).into_iter().filter_map(|grant| match grant.scope {
            GrantScope::Prefix { words, .. } => Some(words.join(" ")),
            GrantScope::Command { .. }
            | GrantScope::File(_)
            | GrantScope::Folder(_)
            | GrantScope::FileChanges
            | GrantScope::Host(_)
            | GrantScope::Service(_)
            | GrantScope::Workspace => None,
        });
        prefixes.collect()
    };
    for (command, expected) in [
        ("cargo test", &["cargo test", "cargo"][..]),
        ("cargo test retry -- --nocapture", &["cargo test retry", "cargo test", "cargo"]),
        ("cargo +nightly test", &["cargo +nightly test", "cargo +nightly"]),
        ("cargo install x", &[]),
        ("git log --oneline", &["git log"]),
        ("pytest tests/a.py", &["pytest tests/a.py", "pytest"]),
        ("npm run build", &["npm run build", "npm run", "npm"]),
        ("make", &["make"]),
        ("git status x", &["git status x", "git status"]),
        ("git -c core.pager=x log", &[]),
        ("git --git-dir x log", &[]),
        ("git", &[]),
        ("git config alias.x '!id'", &[]),
        ("bash -c 'cargo test'", &[]),
        ("bash x.sh", &[]),
        ("python3 x.py", &[]),
        ("python3.12 -m x", &[]),
        ("node x.js", &[]),
        ("env cargo test", &[]),
        ("sudo ls", &[]),
        ("timeout 5 env ls", &[]),
        ("timeout 5 cargo test x", &["cargo test x", "cargo test", "cargo"]),
        ("NO_COLOR=1 cargo test", &["cargo test", "cargo"]),
        ("xargs ls", &[]),
        ("find . -name x", &[]),
        ("ssh host ls", &[]),
        ("docker run x", &[]),
        ("npx x", &[]),
        ("rm x", &[]),
        ("curl https://x", &[]),
        ("./x.sh", &[]),
        ("cargo test && ls", &[]),
        ("cargo test > x", &[]),
        ("A=b cargo test", &[]),
        ("cargo test $X", &[]),
        ("cargo test --config x=y", &[]),
    ] {
        assert_eq!(offered_prefixes(command), expected, "{command}");
    }
    let scope = GrantScope::File("docs/a/b.md".into());
    let plan = Plan { grant: Some(Grant::new("tool", scope)), ..plan_for(Access::Write("docs/a/b.md".into())) };
    // The name of the tool is `tool`.
    let coverages: Vec<String> = grant_scopes("tool", &plan).iter().map(Grant::describe_coverage).collect();
    assert_eq!(
        coverages,
        [
            "every tool of docs/a/b.md",
            "every tool of a file below docs/a/",
            "every tool of a file below docs/",
            "every tool of a file of the project"
        ]
    );
}

#[test]
fn explains_every_check() {
    let allow = rules_from(vec![
        rule(RuleEffect::Allow, prefix_target("cargo test")),
        rule(RuleEffect::Deny, prefix_target("git push")),
    ]);
    let explain = |command: &str| {
        let (checks, verdict) = explain_verdict(&Policy::default(), &[], &allow, "tool", &command_plan(command));
        let lines: Vec<String> =
            checks.iter().map(|check| format!("{}: {}", check.name, check.results.join(" | "))).collect();
        format!("{}\n{}", lines.join("\n"), verdict.as_str())
    };
    insta::assert_snapshot!(explain("A=1 cargo test > x && git push"), @r"
    parsed command: [cargo] [test] · variable A=1 · writes x | && [git] [push]
    effects: tool
    mode: ask: reads run without approval, everything else asks
    rules that deny: matches: deny git push … (rules.toml:3)
    rules that ask: none
    rules that allow: does not match: allow cargo test … (rules.toml:3): 2 commands in the line; the rule covers a single one
    refuse
    ");
}

/// Blanks divide the words of an edited prefix, so a word with a blank would become two.
#[test]
fn a_prefix_with_a_blank_in_a_word_is_not_edited_as_text() {
    let target = |words: &[&str]| RuleTarget::Prefix(words.iter().map(|word| (*word).to_owned()).collect());
    let plain = rule(RuleEffect::Allow, target(&["cargo", "test"]));
    assert_eq!(plain.editable_text().as_deref(), Ok("cargo test"));
    let quoted = rule(RuleEffect::Allow, target(&["git", "commit", "-m x"]));
    assert_eq!(quoted.editable_text(), Err("One of its words needs quotes".to_owned()));
}
