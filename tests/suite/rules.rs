//! Rules in the real program: stored from a prompt, found again and revoked; rules of a project apply only after the
//! user trusts them.

use crate::support::pick_count;
use crate::support::program::{Program, Setup};
use crate::support::stored_files::read_session;
use crate::support::terminal_session::{calls_answer_after, command_answer, submit_message, text_answer};
use crate::support::user::User;
use aye::chat::Entry;
use std::time::Duration;

const RIGHT: &str = "\x1b[C";
const DOWN: &str = "\x1b[B";

/// The text of the user's rules; empty if there is no file.
fn rules_text(user: &User) -> String {
    std::fs::read_to_string(user.rules()).unwrap_or_default()
}

/// The verdicts of the calls and their reasons.
fn verdicts_in(user: &User) -> Vec<(String, String)> {
    let planned = |entry: Entry| match entry {
        Entry::Planned { verdict, reason: why, .. } => Some((verdict, why)),
        _ => None,
    };
    read_session(&user.setup(&[])).into_iter().filter_map(planned).collect()
}

/// Opens the choice of grants for `touch …` in this project.
fn open_grant_choice(program: &mut Program) {
    program.press_until("a", "Allow without asking");
    program.press_until(RIGHT, "› 3  touch …");
    program.press_until(DOWN, "verdict = \"allow\"");
}

#[test]
fn r11_rule_stored_from_a_prompt_survives_a_restart_and_can_be_revoked() {
    let user = User::new(vec![
        command_answer("touch one"),
        text_answer("One."),
        command_answer("touch two"),
        text_answer("Two."),
        command_answer("touch three"),
        text_answer("Three."),
    ]);
    let mut program = user.start(&[]);
    program.until("Messages go to");
    submit_message(&mut program, "go");
    program.until_prompt("touch one");
    open_grant_choice(&mut program);
    let screen = program.until("matches no earlier call");
    for part in [
        "prefix = [\"touch\"]",
        "tool = \"bash_exec\"",
        "stored in your rules.toml for 90 days",
        "never: a variable, a substitution, > FILE, a path outside the project",
    ] {
        assert!(screen.contains(part), "{part}: {screen}");
    }
    assert_eq!(rules_text(&user), "", "nothing is written before the approval");
    program.press_until("\r", "One.");
    assert!(program.file("one").is_some());
    let text = rules_text(&user);
    assert!(
        text.contains("prefix = [\"touch\"]") && text.contains("expires = ") && text.contains("key = \"enter\""),
        "{text}"
    );
    drop(program);

    let mut program = user.start(&["--continue"]);
    program.until("One.");
    submit_message(&mut program, "again");
    program.until_idle("Two.");
    assert!(program.file("two").is_some(), "the command did not run without a prompt");
    let verdicts = verdicts_in(&user);
    let (verdict, why) = &verdicts[1];
    assert_eq!(verdict, "allow");
    assert!(why.contains("your rule: allow bash_exec touch … (") && why.contains("rules.toml:"), "{why}");
    let (audit, _, _) = user.run_headless(&["audit"]);
    assert!(audit.replace(['\n', ' '], "").contains("savedtoday,~/aye/config/rules.toml:4)"), "{audit}");

    submit_message(&mut program, "/grants");
    let screen = program.until("1 call here: touch two");
    for part in [
        "allow bash_exec touch …",
        "this project · saved today · until ",
        "Calls and how they were decided",
        "x revoke",
    ] {
        assert!(screen.contains(part), "{part}: {screen}");
    }
    program.press_until("x", "Revoke this");
    program.press_until("y", "Revoked: allow bash_exec touch …");
    assert!(!rules_text(&user).contains("touch"), "{}", rules_text(&user));
    program.until("In force: none");
    program.press_keys("\x1b");
    submit_message(&mut program, "once more");
    program.until_prompt("touch three");
    assert_eq!(program.file("three"), None);
    let revoked = |entry: &Entry| matches!(entry, Entry::Revoked { granting_call: None, .. });
    assert!(read_session(&Setup::with_home(&user.root, &[])).iter().any(revoked), "the revocation is in the session");
}

#[test]
fn r24_unwritable_rule_keeps_the_prompt_and_the_old_file_and_states_why() {
    use std::os::unix::fs::PermissionsExt;
    let answers =
        vec![command_answer("touch one"), text_answer("One."), command_answer("touch two"), text_answer("Two.")];
    let user = User::new(answers).with_rules("# mine alone\n");
    std::fs::set_permissions(user.rules(), std::fs::Permissions::from_mode(0o400)).unwrap();
    let mut program = user.start(&[]);
    program.until("Messages go to");
    submit_message(&mut program, "go");
    program.until_prompt("touch one");
    open_grant_choice(&mut program);
    program.press_until("\r", "Cannot store the rule");
    program.until("was not run");
    program.until("› 3  touch …");
    assert_eq!((rules_text(&user), program.file("one")), ("# mine alone\n".to_owned(), None));
    // The call can still be approved once or for the session.
    program.press_until("\x1b", "y approve");
    program.press_until("y", "One.");
    assert!(program.file("one").is_some());
    submit_message(&mut program, "again");
    program.until_prompt("touch two");
    assert_eq!(rules_text(&user), "# mine alone\n");
}

#[test]
fn r14_project_rules_apply_once_trusted_and_until_they_change() {
    let own_rules = "[[rule]]\nverdict = \"allow\"\nprefix = \"touch\"\n";
    let test_user = User::new(vec![
        command_answer("touch one"),
        text_answer("One."),
        command_answer("touch two"),
        text_answer("Two."),
        command_answer("touch three"),
        text_answer("Three."),
    ])
    .with_project_file(".aye/rules.toml", own_rules);
    let mut program = test_user.start(&[]);
    program.until_prompt("rules for tool calls in this project: 1 allow");
    program.press_until("n", "Not used: .aye/rules.toml");
    submit_message(&mut program, "go");
    program.until_prompt("touch one");
    program.press_until("n", "One.");
    // Only a user at a terminal can trust them.
    let (shown, why, code) = test_user.run_headless(&["rules", "trust"]);
    assert!(
        shown.contains("prefix = \"touch\"") && why.contains("Cannot ask for trust: not a terminal"),
        "{shown}{why}"
    );
    assert_eq!(code, 2);
    // Clears a key press that was repeated into the composer.
    program.press_keys("\x15");
    submit_message(&mut program, "/trust");
    program.until_prompt("allow touch … (.aye/rules.toml:1)");
    program.press_until("y", "Trusted: ");
    submit_message(&mut program, "again");
    program.until_idle("Two.");
    assert!(program.file("two").is_some());
    std::fs::write(program.project().join(".aye/rules.toml"), format!("{own_rules}# more\n")).unwrap();
    submit_message(&mut program, "once more");
    // A notice is narrow and wraps over several lines.
    program.until_condition("the notice about the change", |program| {
        let text: String = program.screen().replace(['▌', '│'], " ");
        text.split_whitespace().collect::<Vec<_>>().join(" ").contains("since you trusted it, so none")
    });
    program.until_prompt("touch three");
}

#[test]
fn r12_broken_rule_asks_for_everything_and_reports_its_line() {
    let user = User::new(vec![command_answer("ls"), text_answer("Done.")])
        .with_rules("[[rule]]\nverdict = \"dney\"\nprefix = \"git push\"\n");
    let mut program = user.start(&["--mode", "auto"]);
    program.until("rules.toml:2");
    submit_message(&mut program, "go");
    program.until_prompt("rules not fully readable");
    let (output, _, code) = user.run_headless(&["rules", "check"]);
    assert!(output.contains("rules.toml:2: verdict is \"dney\". Use \"allow\", \"ask\" or \"deny\""), "{output}");
    assert_eq!(code, 2);
}

#[test]
fn r12_deny_rule_follows_a_link_that_changes_while_the_program_runs() {
    let reads = |path: &str| calls_answer_after(Duration::ZERO, &[("read_file", serde_json::json!({ "path": path }))]);
    let user = User::new(vec![reads("releases/3/a.txt"), reads("releases/4/a.txt"), text_answer("As you like.")])
        .with_rules("[[rule]]\nverdict = \"deny\"\npath = \"current/**\"\n");
    for release in ["3", "4"] {
        let folder = user.project().join("releases").join(release);
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join("a.txt"), "secret").unwrap();
    }
    let link = user.project().join("current");
    std::os::unix::fs::symlink("releases/3", &link).unwrap();
    let (output, _, code) = user.run_headless(&["rules", "check"]);
    assert_eq!((output.trim(), code), ("1 rule, no problems", 0));
    let (listed, _, _) = user.run_headless(&["rules", "list", "--json"]);
    assert_eq!(listed.lines().count(), 1, "{listed}");
    let mut program = user.start(&["--mode", "ask"]);
    program.until("Messages go to");
    std::fs::remove_file(&link).unwrap();
    std::os::unix::fs::symlink("releases/4", &link).unwrap();
    submit_message(&mut program, "go");
    program.until("As you like.");
    let verdicts: Vec<String> = verdicts_in(&user).into_iter().map(|(verdict, _)| verdict).collect();
    assert_eq!(verdicts, ["allow", "refuse"]);
}

#[test]
fn r12_search_skips_denied_and_asking_paths_live_and_in_a_dry_run() {
    let search = |arguments| calls_answer_after(Duration::ZERO, &[("search_text", arguments)]);
    for mode in [&["--mode", "full"][..], &["--dry-run"]] {
        let test_user = User::new(vec![
            search(serde_json::json!({ "pattern": "hunter" })),
            search(serde_json::json!({ "pattern": "hunter", "path": "keys" })),
            text_answer("As you like."),
        ])
        .with_rules(
            "[[rule]]\nverdict = \"deny\"\npath = \"keys/**\"\n[[rule]]\nverdict = \"ask\"\npath = \"**/*.cert\"\n",
        );
        test_user.write_file("keys/a", "hunter2");
        test_user.write_file("deep/er/b.cert", "hunter3");
        test_user.write_file("plain", "hunter4");
        // Links to such files, with other names.
        for (to, link) in [("../keys/a", "project/deep/link"), ("keys/a", "project/a")] {
            std::os::unix::fs::symlink(to, test_user.path(link)).unwrap();
        }
        let address = ["--base-url", &test_user.service.base_url, "--model", "scripted-7b", "-p", "go"];
        let arguments: Vec<&str> = address.iter().chain(mode).copied().collect();
        let (output, err, _) = test_user.run_headless(&arguments);
        assert!(output.starts_with("As you like."), "{output}{err}");
        let settled = read_session(&test_user.setup(&[])).into_iter().filter_map(|entry| match entry {
            Entry::Settled { outcome, .. } => Some(outcome.text().to_owned()),
            _ => None,
        });
        let [first, second] = &settled.collect::<Vec<_>>()[..] else { panic!("two calls") };
        assert!(
            first.starts_with("plain:1: hunter4\n") && first.contains("[skipped by rules of the user: 4]"),
            "{first}"
        );
        assert!(!first.contains("hunter2") && !first.contains("hunter3"), "{first}");
        assert!(second.contains("Refused by a rule of the user: deny keys/**"), "{second}");
    }
}

#[test]
fn r12_headless_denied_command_is_refused_with_its_rule() {
    let user = User::new(vec![command_answer("true && git -C . push"), text_answer("As you like.")])
        .with_rules("[[rule]]\nverdict = \"deny\"\nprefix = \"git push\"\n");
    let address = ["--base-url", &user.service.base_url, "--model", "scripted-7b", "-p", "go"];
    let (output, _, code) = user.run_headless(&address);
    assert_eq!((output.trim(), code), ("As you like.", 0));
    let (verdict, why) = &verdicts_in(&user)[0];
    assert!(verdict == "refuse" && why.contains("deny git push … (") && why.contains("rules.toml:1"), "{why}");
}

#[test]
fn old_names_of_keys_are_notes_of_rules_check() {
    let user = User::new(Vec::new()).with_rules("[[rule]]\nsays = \"deny\"\nwords = \"git push\"\n");
    let (output, _, code) = user.run_headless(&["rules", "check"]);
    assert_eq!(code, 0, "{output}");
    for part in ["1 rule, no problems", "rules.toml:2: `says` is now `verdict`; the old name works in this release"] {
        assert!(output.contains(part), "{part}: {output}");
    }
    let (output, _, code) = user.run_headless(&["rules", "check", "--json"]);
    assert_eq!((output.lines().count(), code), (2, 0), "{output}");
    assert!(output.lines().all(|line| line.starts_with("{\"notice\":")), "{output}");
    let (output, _, _) = user.run_headless(&["rules", "explain", "--json", "git push -f"]);
    let last: serde_json::Value = serde_json::from_str(output.lines().last().unwrap()).unwrap();
    assert_eq!((&last["policy_verdict"], &last["verdict"]), (&"deny".into(), &"refuse".into()), "{output}");
}

#[test]
fn untrusted_rules_of_a_project_are_a_notice_of_rules_check() {
    let user = User::new(Vec::new());
    user.write_file(".aye/rules.toml", "[[rule]]\nverdict = \"allow\"\nprefix = \"touch\"\n");
    let (output, _, code) = user.run_headless(&["rules", "check"]);
    assert!(output.starts_with("no rules, no problems\nnote: .aye/rules.toml of this project"), "{output}");
    assert_eq!(code, 0);
    let (output, _, code) = user.run_headless(&["rules", "check", "--json"]);
    assert!(output.starts_with("{\"notice\":") && output.lines().count() == 1, "{output}");
    assert_eq!(code, 0);
}

#[test]
fn json_of_a_rule_has_new_and_old_field_names() {
    let rules = "[[rule]]\nverdict = \"deny\"\nprefix = \"git push\"\n[[rule]]\nverdict = \"ask\"\nprefix = \"make\"\nexpires = 2001-02-03\n";
    let (output, _, _) = User::new(Vec::new()).with_rules(rules).run_headless(&["rules", "list", "--json"]);
    let rules: Vec<serde_json::Value> = output.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    for rule in &rules {
        for (new, old) in [("verdict", "says"), ("description", "what"), ("scope", "holds")] {
            assert!(rule[new].is_string() && rule[new] == rule[old], "{new}: {rule}");
        }
    }
    let states: Vec<_> = rules.iter().map(|rule| (&rule["verdict"], &rule["status"], &rule["state"])).collect();
    let [deny, ask, active, holds, expired] =
        ["deny", "ask", "active", "holds", "expired"].map(serde_json::Value::from);
    assert_eq!(states, [(&deny, &active, &holds), (&ask, &expired, &expired)]);
}

#[test]
fn explain_prints_every_step_to_a_verdict() {
    let user = User::new(Vec::new()).with_rules("[[rule]]\nverdict = \"allow\"\nprefix = \"cargo test\"\n");
    let (output, _, code) = user.run_headless(&["rules", "explain", "cargo test x"]);
    assert_eq!(code, 0);
    for part in ["parsed command", "[cargo] [test] [x]", "ask: reads run", "matches: allow cargo test …", "\nallow\n"]
    {
        assert!(output.contains(part), "{part}: {output}");
    }
    let (output, _, _) = user.run_headless(&["rules", "explain", "--json", "cargo test x; make"]);
    let last: serde_json::Value = serde_json::from_str(output.lines().last().unwrap()).unwrap();
    assert_eq!(last["verdict"], "ask", "{output}");
    assert!(output.contains("make: asks: no rule or grant allows it"), "{output}");
    let (output, _, _) = user.run_headless(&["rules", "explain", "cargo test x & make"]);
    assert!(output.contains("2 commands in the line") && output.contains("\nask\n"), "{output}");
    let (output, _, code) = user.run_headless(&["rules"]);
    assert!(output.contains("allow cargo test … (") && output.contains("everywhere"), "{output}");
    assert_eq!(code, 0);
    let (_, why, code) = user.run_headless(&["rules", "explain", "a", "b"]);
    assert!(code == 2 && why.contains("takes one command"), "{why}");
}

#[test]
fn r14_explain_agrees_with_the_verdict_for_own_files() {
    let user = User::new(Vec::new());
    let own = user.project().join("own");
    std::fs::create_dir_all(own.join("config")).unwrap();
    std::fs::write(own.join("config/notes.txt"), "x").unwrap();
    // The rules file may be a link into a project.
    user.write_file("dotfiles/rules.toml", "");
    std::os::unix::fs::symlink(user.project().join("dotfiles/rules.toml"), own.join("config/rules.toml")).unwrap();
    for (command, verdict, is_tried) in [
        ("cat own/config/notes.txt", "ask", false),
        ("echo x >> dotfiles/rules.toml", "refuse", false),
        ("echo x >> dotfiles/other", "ask", true),
        ("cat dotfiles/other", "allow", false),
    ] {
        let arguments = ["rules", "explain", "--json", "--mode", "auto", command];
        let setup = Setup::with_home(&user.root, &arguments).env("AYE_HOME", own.to_str().unwrap());
        let (output, err, code) = setup.run_piped("");
        assert_eq!(code, 0, "{err}");
        let last: serde_json::Value = serde_json::from_str(output.lines().last().unwrap()).unwrap();
        assert_eq!(last["verdict"], verdict, "{command}: {output}");
        assert_eq!(output.contains("runs first in an overlay sandbox"), is_tried, "{command}: {output}");
    }
}

/// Deny rules apply at any length. A line too long to be parsed asks in every mode, and its end must be seen before
/// approval.
#[test]
fn r12_very_long_commands_ask_in_every_mode_and_deny_rules_reach_their_end() {
    let sixty = format!("{}echo end", "true; ".repeat(60));
    let long = format!("echo {}the_end", "x ".repeat(pick_count(49_000, 6_000)));
    let hidden = format!("{}git push", "true; ".repeat(pick_count(16_000, 2_000)));
    let deny = "[[rule]]\nverdict = \"deny\"\nprefix = \"git push\"\n";
    let answers = vec![
        command_answer(&sixty),
        text_answer("One."),
        command_answer(&long),
        text_answer("Two."),
        command_answer(&hidden),
        text_answer("Three."),
    ];
    let user = User::new(answers).with_rules(deny);
    let mut program = user.start(&["--mode", "full"]);
    program.until("Messages go to");
    submit_message(&mut program, "go");
    program.until_prompt("more than 50 commands");
    program.press_until("n", "One.");
    submit_message(&mut program, "again");
    program.until_prompt("Run a command?");
    // Approval needs the end to have been shown.
    program.press_until("y", "The end has not been shown yet");
    program.press_until("\x1b[F", "longer than 10000 characters");
    program.press_until("n", "Two.");
    submit_message(&mut program, "once more");
    program.until("Three.");
    let verdicts = verdicts_in(&user);
    let names: Vec<&str> = verdicts.iter().map(|(verdict, _)| verdict.as_str()).collect();
    assert_eq!(names, ["ask", "ask", "refuse"], "{:?}", verdicts.last());
    assert!(verdicts[2].1.contains("deny git push"), "{:?}", verdicts[2]);
}
