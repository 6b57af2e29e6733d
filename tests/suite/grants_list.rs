//! The list of grants and rules in the real program: what it says, and that a rule is edited and revoked there.

use crate::call_reasons::days_ago;
use crate::support::program::Setup;
use crate::support::stored_files::read_session;
use crate::support::terminal_session::{command_answer, submit_message, text_answer};
use crate::support::user::User;
use aye::chat::Entry;

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

#[test]
fn r11_a_rule_is_edited_in_the_list_and_an_invalid_edit_keeps_it() {
    let rules = "# mine\n[[rule]]\nverdict = \"allow\"\ntool = \"bash_exec\"\nprefix = [\"touch\", \"one\"] # first\n";
    let answers =
        vec![command_answer("touch one"), text_answer("One."), command_answer("touch two"), text_answer("Two.")];
    let user = User::new(answers).with_rules(rules);
    let mut program = user.start(&[]);
    program.until("Messages go to");
    submit_message(&mut program, "go");
    program.until_idle("One.");
    // The call says which rule allowed it, and `w` shows the rule.
    program.press_until("\x1b[1;3A", "w why");
    program.press_until("w", "Why it ran");
    let screen = program.until("It allowed 1 call of this session");
    for part in ["allowed by rule: bash_exec touch one … (every project", "prefix = [\"touch\", \"one\"]"] {
        assert!(screen.contains(part), "{part}: {screen}");
    }
    program.press_keys("\x1b");
    program.until_gone("Why it ran");
    program.press_keys("\x1b");
    submit_message(&mut program, "/grants");
    program.until("1 call here: touch one");
    program.press_until("\r", "Edit the first words of the commands");
    program.press_keys("\x15sudo\r");
    program.until("sudo runs its arguments");
    assert_eq!(rules_text(&user), rules, "an invalid rule is not written");
    program.press_keys("\x15touch\r");
    program.until("Changed to: allow bash_exec touch …");
    assert_eq!(rules_text(&user), rules.replace("[\"touch\", \"one\"]", "[\"touch\"]"), "the rest is unchanged");
    program.until_gone("Edit the first words");
    program.press_keys("\x1b");
    submit_message(&mut program, "again");
    program.until_idle("Two.");
    assert!(program.file("two").is_some());
    let replaced =
        |entry: &Entry| matches!(entry, Entry::Revoked { description, .. } if description.contains("replaced by"));
    assert!(read_session(&Setup::with_home(&user.root, &[])).iter().any(replaced), "the change is in the session");
}

/// Rules are counted over all sessions of the project, grants and other projects are not.
#[test]
fn calls_that_a_rule_allowed_in_earlier_sessions_count() {
    let rules = "[[rule]]\nverdict = \"allow\"\ntool = \"bash_exec\"\nprefix = [\"touch\"]\n";
    let answers = vec![
        command_answer("touch one"),
        command_answer("touch two && pwd"),
        text_answer("One."),
        command_answer("touch three"),
        text_answer("Two."),
    ];
    let user = User::new(answers).with_rules(rules);
    let mut program = user.start(&[]);
    program.until("Messages go to");
    submit_message(&mut program, "go");
    program.until_idle("One.");
    program.press_keys("\x04");
    program.wait_for_exit();
    let mut program = user.start(&[]);
    program.until("Messages go to");
    submit_message(&mut program, "/grants");
    let screen = program.until("2 calls before, last ");
    let last = screen.split("2 calls before, last ").nth(1).unwrap();
    // The day precedes the time if it is not today.
    let time = last.split_whitespace().take(3).find(|word| word.contains(':')).unwrap_or_default();
    let parts: Vec<&str> = time.split(':').collect();
    let is_number = |part: &&str| part.len() == 2 && part.bytes().all(|byte| byte.is_ascii_digit());
    assert!(parts.len() == 3 && parts.iter().all(is_number), "{time:?}: {screen}");
    program.press_keys("\x1b");
    submit_message(&mut program, "go");
    program.until_idle("Two.");
    submit_message(&mut program, "/grants");
    program.until("1 call here: touch three");
    program.until("2 calls before");
}

#[test]
fn r11_revoked_session_grant_stays_revoked_after_a_restart() {
    let calls = || {
        vec![
            command_answer("touch one"),
            text_answer("One."),
            command_answer("touch one"),
            text_answer("Two."),
            command_answer("touch one"),
            text_answer("Three."),
        ]
    };
    let user = User::new(calls());
    let mut program = user.start(&[]);
    program.until("Messages go to");
    submit_message(&mut program, "go");
    program.until_prompt("touch one");
    program.press_until("a", "Allow without asking");
    program.press_until("\r", "One.");
    submit_message(&mut program, "again");
    program.until_idle("Two.");
    assert!(verdicts_in(&user)[1].1.contains("allowed before with enter, on call 1"), "{:?}", verdicts_in(&user));
    submit_message(&mut program, "/grants");
    program.until("1 call here: touch one");
    program.press_until("x", "Revoke this");
    program.press_until("y", "Revoked: exactly this command");
    drop(program);
    let mut program = user.start(&["--continue"]);
    program.until("Two.");
    submit_message(&mut program, "once more");
    program.until_prompt("touch one");
    assert_eq!(rules_text(&user), "", "a session grant is not stored as a rule");
}

/// The edited grant takes the place of the old one, also after a restart.
#[test]
fn r11_a_grant_of_the_session_is_edited_in_the_list() {
    let answers = ["touch one", "touch two", "touch two", "touch one"].map(command_answer);
    let answers = answers.into_iter().zip(["One.", "Two.", "Three.", "Four."]);
    let user = User::new(answers.flat_map(|(call, reply)| [call, text_answer(reply)]).collect());
    let mut program = user.start(&[]);
    program.until("Messages go to");
    submit_message(&mut program, "go");
    program.until_prompt("touch one");
    program.press_until("a", "Allow without asking");
    program.press_until("\r", "One.");
    submit_message(&mut program, "/grants");
    program.until("no calls here yet");
    program.press_until("\r", "Edit the command");
    let screen = program.screen();
    assert!(screen.contains("allow touch one") && screen.contains("kept in this session"), "{screen}");
    program.press_keys("\x15\r");
    program.until("the text is empty; revoke the grant instead");
    program.press_keys("touch two\r");
    program.until("Changed to: touch two");
    program.press_keys("\x1b");
    program.until_gone("Grants and rules");
    submit_message(&mut program, "again");
    program.until_idle("Two.");
    assert_eq!(verdicts_in(&user)[1].0, "allow", "{:?}", verdicts_in(&user));
    drop(program);
    let mut program = user.start(&["--continue"]);
    program.until("Two.");
    submit_message(&mut program, "again");
    program.until_idle("Three.");
    submit_message(&mut program, "once more");
    program.until_prompt("touch one");
    let verdicts: Vec<String> = verdicts_in(&user).into_iter().map(|(verdict, _)| verdict).collect();
    assert_eq!(verdicts, ["ask", "allow", "allow", "ask"]);
    let replaced = |entry: &Entry| matches!(entry, Entry::Revoked { description, .. } if description == "touch one, replaced by: touch two");
    assert!(read_session(&user.setup(&[])).iter().any(replaced), "the change is in the session");
    assert_eq!(rules_text(&user), "", "a session grant is not stored as a rule");
}

/// A command of several lines, one that is bound to a script, and a host.
#[test]
fn r11_every_rule_with_a_text_is_edited_in_the_list() {
    let script = "echo >> ran\n";
    let digest = aye::chat::Digest::of_bytes(script.as_bytes());
    let lines = "[[rule]]\nverdict = \"allow\"\ntool = \"bash_exec\"\ncommand = \"echo one\\necho two\" # lines\n";
    let bound = format!(
        "[[rule]]\nverdict = \"allow\"\ntool = \"bash_exec\"\ncommand = \"bash run.sh\"\nscripts = {{ \"run.sh\" = \"{}\" }}\n",
        digest.as_str()
    );
    let host = "[[rule]]\nverdict = \"allow\"\ntool = \"web_fetch\"\nhost = \"docs.rs\"\n";
    let user = User::new(vec![command_answer("bash run.sh b"), text_answer("Done.")])
        .with_rules(&format!("{lines}{bound}{host}"))
        .with_project_file("run.sh", script);
    let mut program = user.setup(&[]).size(60, 15).start();
    program.until("Messages go to");
    submit_message(&mut program, "/grants");
    program.until("3 in force");
    program.press_until("\r", "Edit the command");
    let screen = program.screen();
    assert!(screen.contains("allow echo one") && screen.contains(" echo two"), "{screen}");
    // The cursor is at the end of the second line, and moves to the first.
    program.press_keys("\x1b[A\x1b[D!\r");
    program.until("Changed to: ");
    let expected = rules_text(&user);
    assert!(
        expected.contains("# lines") && expected.contains("echo on!e") && expected.contains("echo two"),
        "{expected}"
    );
    program.until_gone("Edit the command");
    program.press_keys("\x1b[B");
    program.press_until("\r", "Edit the command");
    let screen = program.screen();
    assert!(screen.contains("run.sh, unchanged"), "{screen}");
    program.press_keys(" b\r");
    program.until("bash run.sh b (run.sh");
    assert!(rules_text(&user).contains("command = \"bash run.sh b\"\nscripts = { \"run.sh\""), "{}", rules_text(&user));
    program.until_gone("Edit the command");
    program.press_keys("\x1b[B");
    program.press_until("\r", "Edit the host");
    program.press_keys("\x15crates.io\r");
    program.until("crates.io");
    program.until_condition("the rule is written", |_| rules_text(&user).contains("host = \"crates.io\""));
    program.until_gone("Edit the host");
    program.press_keys("\x1b");
    program.until_gone("Grants and rules");
    submit_message(&mut program, "go");
    program.until_idle("Done.");
    assert_eq!(verdicts_in(&user)[0].0, "allow", "{:?}", verdicts_in(&user));
}

/// A rule without a text says so; the file of a project's rule opens in the user's editor, because the user trusts its
/// whole content.
#[test]
fn a_rule_that_no_field_can_edit_says_why() {
    let user = User::new(vec![]).with_rules("[[rule]]\nverdict = \"allow\"\ntool = \"write_file\"\n");
    let project_rules = "[[rule]]\nverdict = \"allow\"\ntool = \"bash_exec\"\nprefix = [\"touch\"]\n";
    let user = user.with_project_file(".aye/rules.toml", project_rules);
    let editor = user.path("editor.sh");
    crate::support::stored_files::write_script(&editor, &format!("echo \"$@\" > {}", user.path("edited").display()));
    let mut program = user.setup(&[]).env("VISUAL", editor.to_str().unwrap()).start();
    program.until_prompt("Trust the files of this project?");
    program.press_until("\x1b[F", "allow bash_exec touch … (.aye/rules.toml:1)");
    program.press_until("y", "Trusted: ");
    program.press_keys("\x15");
    submit_message(&mut program, "/grants");
    program.until("2 in force");
    for (filter, text) in
        [("every call", "It is for every call, and there is no text to edit"), ("touch", "then trust its new content")]
    {
        program.type_text(filter);
        program.press_until("\r", text);
        program.press_keys("\x15");
        program.until("2 in force");
    }
    program.until_condition("the editor has run", |_| user.path("edited").exists());
    let edited = std::fs::read_to_string(user.path("edited")).unwrap();
    assert!(edited.contains(".aye/rules.toml"), "{edited}");
    assert!(rules_text(&user).contains("write_file"));
}

#[test]
fn a_list_without_grants_names_its_calls_and_offers_no_revocation() {
    let user = User::new(vec![command_answer("touch one"), text_answer("One.")]);
    let mut program = user.start(&[]);
    program.until("Messages go to");
    submit_message(&mut program, "go");
    program.until_prompt("touch one");
    program.press_until("y", "One.");
    program.until_idle("One.");
    submit_message(&mut program, "/grants");
    let screen = program.until("0 in force · 1 call");
    assert!(screen.contains("Run touch one  you approved · ") && screen.contains("enter open"), "{screen}");
    assert!(!screen.contains("x revoke") && !screen.contains("edit or open"), "{screen}");
}

/// The row of a rule: what it allows, since when, how often it was used, and for what last.
#[test]
fn the_row_of_a_rule_says_since_when_and_how_often_it_was_used() {
    let rules =
        |created: &str| format!("[[rule]]\nverdict = \"allow\"\nprefix = [\"touch\", \"one\"]\ncreated = {created}\n");
    let answers = vec![command_answer("touch one"), command_answer("touch one more"), text_answer("Done.")];
    let user = User::new(answers).with_rules(&rules(&days_ago(3)));
    let mut program = user.start(&[]);
    program.until("Messages go to");
    submit_message(&mut program, "/grants");
    program.until_all(&["touch one …", "no calls", "saved 3 days ago"]);
    program.press_keys("\x1b");
    submit_message(&mut program, "go");
    program.until_idle("Done.");
    submit_message(&mut program, "/grants");
    let screen = program.until_all(&["1 in force", "2 calls", "last: touch one more"]);
    // Not the line below the list, which has the whole text.
    let is_row = |line: &&str| {
        line.contains("❯ allow touch one …") && line.contains("2 calls") && line.contains("saved 3 days ago")
    };
    assert_eq!(screen.lines().filter(is_row).count(), 1, "{screen}");
}
