//! Command lines of several parts in the real program: they run without a prompt if each part is allowed.

use crate::support::stored_files::read_session;
use crate::support::terminal_session::{command_answer, submit_message, text_answer};
use crate::support::user::User;
use aye::chat::Entry;

const RULES: &str = r#"
[[rule]]
verdict = "allow"
tool = "bash_exec"
prefix = "touch"

[[rule]]
verdict = "allow"
tool = "bash_exec"
prefix = "git checkout"
"#;

/// The verdict of the last call, with its reason.
fn last_verdict(user: &User) -> (String, String) {
    let planned = |entry: Entry| match entry {
        Entry::Planned { verdict, reason, .. } => Some((verdict, reason)),
        _ => None,
    };
    read_session(&user.setup(&[])).into_iter().filter_map(planned).next_back().expect("a call was planned")
}

#[test]
fn r11_line_of_allowed_parts_runs_without_a_prompt() {
    let command = "cd sub && touch two 2>&1 | tail -n 1 && echo ran";
    let user = User::new(vec![command_answer(command), text_answer("Done.")])
        .with_rules(RULES)
        .with_project_file("sub/one", "");
    let mut program = user.start(&[]);
    program.until("Messages go to");
    submit_message(&mut program, "go");
    program.until_idle("Done.");
    assert!(program.file("sub/two").is_some(), "it runs in the folder");
    let (verdict, reason) = last_verdict(&user);
    assert_eq!(verdict, "allow");
    assert!(reason.contains("allow bash_exec touch …") && reason.ends_with("the other parts only read"), "{reason}");
    submit_message(&mut program, "/grants");
    program.until("1 call here: cd sub && touch two");
    let (output, ..) = user.run_headless(&["rules", "explain", command]);
    for part in ["parts of the line", "cd sub: stays inside the project", "tail -n 1: only reads", "matches a part"] {
        assert!(output.contains(part), "{part}: {output}");
    }
}

#[test]
fn r11_line_with_one_part_that_is_not_allowed_asks() {
    for (command, why) in [
        ("touch two && cat .env", "which may hold secrets"),
        ("touch two && rm sub/one", "deletes sub/one"),
        ("touch x && cd ..; touch two", "it uses “..”, or its folder is not known"),
        ("touch two | sh", "sh runs its input as commands"),
        ("git checkout x | cat sub/one", "asks: an earlier part may change what it uses"),
    ] {
        let user = User::new(vec![command_answer(command), text_answer("Done.")])
            .with_rules(RULES)
            .with_project_file("sub/one", "1")
            .with_project_file(".env", "KEY=1");
        let mut program = user.start(&[]);
        program.until("Messages go to");
        submit_message(&mut program, "go");
        program.until_prompt(command);
        assert_eq!(last_verdict(&user).0, "ask", "{command}");
        assert!(program.file("two").is_none() && program.file("sub/two").is_none(), "{command}");
        let (output, ..) = user.run_headless(&["rules", "explain", command]);
        assert!(output.contains(why), "{command}: {output}");
    }
}
