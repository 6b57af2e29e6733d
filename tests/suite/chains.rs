//! Command lines of several parts in the real program: they run without a prompt if each part is allowed.

use crate::support::stored_files::read_session;
use crate::support::terminal_session::{command_answer, submit_message, text_answer};
use crate::support::user::User;
use aye::chat::{Entry, Outcome};

/// Rules that allow commands with these prefixes.
fn allow_prefixes(prefixes: &[&str]) -> String {
    let rule = |prefix| format!("[[rule]]\nverdict = \"allow\"\ntool = \"bash_exec\"\nprefix = \"{prefix}\"\n\n");
    prefixes.iter().map(rule).collect()
}

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
        .with_rules(&allow_prefixes(&["touch", "git checkout"]))
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
            .with_rules(&allow_prefixes(&["touch", "git checkout"]))
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

/// What a rule allows is no reason to ask, also if the line asks because of another part.
#[test]
fn the_reason_is_about_the_parts_that_ask() {
    for (command, expected) in [
        ("touch two && mkdir three && chmod +x two", "mkdir and chmod change files"),
        ("mkdir two && mkdir three", "mkdir changes files"),
    ] {
        let user =
            User::new(vec![command_answer(command), text_answer("Done.")]).with_rules(&allow_prefixes(&["touch"]));
        let mut program = user.start(&[]);
        program.until("Messages go to");
        submit_message(&mut program, "go");
        program.until_prompt(&format!("reason: {expected}"));
        assert_eq!(last_verdict(&user), ("ask".to_owned(), expected.to_owned()));
    }
}

/// Prefixes of commands that change files, the index and the branch, and of one that only prints.
const PREFIXES: &[&str] = &["touch", "git checkout", "git add", "git mv", "seq"];

fn git(folder: &std::path::Path, arguments: &[&str]) {
    let identity = ["-c", "user.name=a", "-c", "user.email=a@b"];
    let status = std::process::Command::new("git").args(identity).args(arguments).current_dir(folder).output().unwrap();
    assert!(status.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&status.stderr));
}

/// Runs one command without a prompt, and returns its outcome.
fn run_allowed(user: &User, command: &str) -> String {
    let mut program = user.start(&[]);
    program.until("Messages go to");
    submit_message(&mut program, "go");
    program.until_idle("Done.");
    let (verdict, reason) = last_verdict(user);
    assert_eq!(verdict, "allow", "{command}: {reason}");
    let outcome = |entry: Entry| match entry {
        Entry::Settled { outcome: Outcome::Done(text) | Outcome::Failed(text), .. } => Some(text),
        _ => None,
    };
    read_session(&user.setup(&[])).into_iter().filter_map(outcome).next_back().expect("a call has ended")
}

#[test]
fn r11_rule_covers_a_limit_of_time_and_the_looks_of_output() {
    let command = "NO_COLOR=1 timeout 60 touch two 2>&1 | LC_ALL=C tail -n 1 && timeout 5 cat sub/one";
    let user = User::new(vec![command_answer(command), text_answer("Done.")])
        .with_rules(&allow_prefixes(PREFIXES))
        .with_project_file("sub/one", "content\n");
    let result = run_allowed(&user, command);
    assert!(user.project().join("two").exists() && result.contains("content\nexit 0"), "{result}");
}

#[test]
fn r11_part_runs_in_the_folder_that_results() {
    for (command, file) in [
        ("cd sub; touch two", "sub/two"),
        ("cd sub && cd .. && touch two", "two"),
        ("cd sub && seq x; cd .. || echo no; touch two", "two"),
        ("seq 1 && cd sub; touch two", "sub/two"),
        ("seq x && cd sub; touch two", "two"),
        ("seq x || cd sub; touch two", "sub/two"),
    ] {
        let user = User::new(vec![command_answer(command), text_answer("Done.")])
            .with_rules(&allow_prefixes(PREFIXES))
            .with_project_file("sub/one", "");
        let result = run_allowed(&user, command);
        let found: Vec<&str> =
            ["two", "sub/two"].into_iter().filter(|file| user.project().join(file).exists()).collect();
        assert_eq!(found, [file], "{command}: {result}");
    }
}

/// A folder that an earlier part replaced is not entered.
#[test]
fn r11_output_is_filtered_by_a_script() {
    let command = "seq 9 | sed -n '/4/,5p' | tac | paste -sd, - && seq 2 | sed 's/1/one/'";
    let user = User::new(vec![command_answer(command), text_answer("Done.")]).with_rules(&allow_prefixes(PREFIXES));
    assert_eq!(run_allowed(&user, command).trim(), "5,4\none\n2\nexit 0");
}

#[test]
fn r11_pattern_shows_no_secret() {
    let rules = allow_prefixes(PREFIXES);
    let command = "cat *.txt && cat sub/* && touch two";
    let user = |command: &str| {
        User::new(vec![command_answer(command), text_answer("Done.")])
            .with_rules(&rules)
            .with_project_file("a.txt", "first\n")
            .with_project_file("sub/b", "second\n")
            .with_project_file(".env", "KEY=hidden-value\n")
    };
    let allowed = user(command);
    assert_eq!(run_allowed(&allowed, command).trim(), "first\nsecond\nexit 0");
    let linked = user("cat *.txt && touch two");
    std::os::unix::fs::symlink(".env", linked.project().join("b.txt")).unwrap();
    let mut program = linked.start(&[]);
    program.until("Messages go to");
    submit_message(&mut program, "go");
    program.until_prompt("cat *.txt && touch two");
    assert!(program.file("two").is_none());
}

#[test]
fn r11_replaced_folder_is_not_entered() {
    for command in
        ["git checkout -q away; cd sub; touch two", "cd sub; cd ..; git checkout -q away && cd sub; touch two"]
    {
        let user = User::new(vec![command_answer(command), text_answer("Done.")])
            .with_rules(&allow_prefixes(PREFIXES))
            .with_project_file("sub/one", "");
        let (project, outside) = (user.project(), user.path("outside"));
        std::fs::create_dir(&outside).unwrap();
        git(&project, &["init", "-q"]);
        git(&project, &["add", "."]);
        git(&project, &["commit", "-q", "-m", "first"]);
        git(&project, &["checkout", "-q", "-b", "away"]);
        std::fs::remove_dir_all(project.join("sub")).unwrap();
        std::os::unix::fs::symlink(&outside, project.join("sub")).unwrap();
        git(&project, &["add", "-A"]);
        git(&project, &["commit", "-q", "-m", "away"]);
        git(&project, &["checkout", "-q", "-"]);
        let result = run_allowed(&user, command);
        assert!(result.contains("was not run: "), "{command}: {result}");
        assert!(!outside.join("two").exists() && !project.join("two").exists(), "{command}");
    }
}

#[test]
fn r11_words_after_a_redirection_belong_to_their_command() {
    let command = "touch 2>/dev/null two three && seq 2>&1 2 | tail >/dev/null -n 1; seq 2>/dev/null 4 5";
    let user = User::new(vec![command_answer(command), text_answer("Done.")]).with_rules(&allow_prefixes(PREFIXES));
    assert_eq!(run_allowed(&user, command).trim(), "4\n5\nexit 0");
    assert!(user.project().join("two").exists() && user.project().join("three").exists());
}

#[test]
fn r11_printed_exit_status_is_that_of_the_step_before() {
    let command = "seq x 2>/dev/null; echo \"exit: $?\"; cat no-such 2>/dev/null || printf 'failed: %d\\n' $?; echo $?";
    let user = User::new(vec![command_answer(command), text_answer("Done.")]).with_rules(&allow_prefixes(PREFIXES));
    assert_eq!(run_allowed(&user, command).trim(), "exit: 1\nfailed: 1\n0\nexit 0");
}

#[test]
fn r11_part_that_only_reads_runs_in_the_read_only_sandbox() {
    // Alone, neither the program of the user's settings would run, nor a program of the project.
    let command = "git diff && touch two; git status --short && seq 3 | tail -n 1";
    let user = User::new(vec![command_answer(command), text_answer("Done.")])
        .with_rules(&allow_prefixes(PREFIXES))
        .with_project_file("one", "1\n");
    let project = user.project();
    git(&project, &["init", "-q"]);
    git(&project, &["add", "one"]);
    git(&project, &["commit", "-q", "-m", "first"]);
    std::fs::write(project.join("one"), "2\n").unwrap();
    let settings = format!("[diff]\n\texternal = \"touch {}/ran; true\"\n", project.display());
    std::fs::write(user.path("home/.gitconfig"), settings).unwrap();
    let result = run_allowed(&user, command);
    assert!(project.join("two").exists(), "{result}");
    assert!(!project.join("ran").exists(), "the user's diff program ran");
    for part in ["-1", "+2", "?? two", "3", "exit 0"] {
        assert!(result.contains(part), "{part}: {result}");
    }
}

#[test]
fn r11_part_is_checked_again_after_an_earlier_one() {
    for (command, secret_branch) in [
        ("git checkout -q linked && cat one", true),
        ("git checkout -q linked; seq 1 && head -n 1 one", true),
        ("git checkout -q linked && touch one", true),
        ("git add -A && git diff --cached", false),
    ] {
        let user = User::new(vec![command_answer(command), text_answer("Done.")])
            .with_rules(&allow_prefixes(PREFIXES))
            .with_project_file("one", "first\n");
        let project = user.project();
        git(&project, &["init", "-q"]);
        git(&project, &["add", "one"]);
        git(&project, &["commit", "-q", "-m", "first"]);
        if secret_branch {
            git(&project, &["checkout", "-q", "-b", "linked"]);
            std::fs::remove_file(project.join("one")).unwrap();
            std::os::unix::fs::symlink(".env", project.join("one")).unwrap();
            git(&project, &["commit", "-q", "-a", "-m", "linked"]);
            git(&project, &["checkout", "-q", "-"]);
        }
        std::fs::write(project.join(".env"), "KEY=hidden-value\n").unwrap();
        let before = std::fs::metadata(project.join(".env")).unwrap().modified().unwrap();
        let result = run_allowed(&user, command);
        assert!(!result.contains("hidden-value"), "{command}: {result}");
        assert!(result.contains("was not run: now "), "{command}: {result}");
        assert_eq!(std::fs::metadata(project.join(".env")).unwrap().modified().unwrap(), before, "{command}");
    }
}

/// A rule for a path holds for what a part reads when it runs, also through a new link.
#[test]
fn r11_path_rule_holds_after_an_earlier_part() {
    let denied = "[[rule]]\nverdict = \"deny\"\npath = \"private.txt\"\n";
    let rules = allow_prefixes(PREFIXES) + denied;
    for (command, is_allowed) in [
        ("git checkout -q linked && cat one", true),
        ("touch two && cat private.txt", false),
        ("touch two && cat privat?.txt", false),
        ("cat privat?.txt && touch two", false),
        ("cat sub/?.txt && touch two", false),
    ] {
        let user = User::new(vec![command_answer(command), text_answer("Done.")])
            .with_rules(&rules)
            .with_project_file("one", "first\n")
            .with_project_file("private.txt", "hidden-value\n");
        let project = user.project();
        git(&project, &["init", "-q"]);
        git(&project, &["add", "one"]);
        git(&project, &["commit", "-q", "-m", "first"]);
        git(&project, &["checkout", "-q", "-b", "linked"]);
        std::fs::remove_file(project.join("one")).unwrap();
        std::os::unix::fs::symlink("private.txt", project.join("one")).unwrap();
        git(&project, &["commit", "-q", "-a", "-m", "linked"]);
        git(&project, &["checkout", "-q", "-"]);
        if is_allowed {
            let result = run_allowed(&user, command);
            assert!(!result.contains("hidden-value") && result.contains("was not run: "), "{command}: {result}");
            continue;
        }
        let mut program = user.start(&[]);
        program.until("Messages go to");
        submit_message(&mut program, "go");
        program.until_condition("the call is judged", |_| {
            read_session(&user.setup(&[])).iter().any(|entry| matches!(entry, Entry::Planned { .. }))
        });
        assert_ne!(last_verdict(&user).0, "allow", "{command}");
    }
}

/// Files that an earlier part brought into a folder, or out of the project, are not read by a later one.
#[test]
fn r11_secret_or_outside_file_that_moved_is_not_used() {
    for command in ["git mv sec sub/sec && grep -r KEY sub", "git checkout -q away && seq 1 && touch one"] {
        let user = User::new(vec![command_answer(command), text_answer("Done.")])
            .with_rules(&allow_prefixes(PREFIXES))
            .with_project_file("one", "first\n")
            .with_project_file("sec/x", "x\n")
            .with_project_file("sub/y", "y\n");
        let project = user.project();
        let outside = user.path("outside.txt");
        std::fs::write(&outside, "outside\n").unwrap();
        let before = std::fs::metadata(&outside).unwrap().modified().unwrap();
        git(&project, &["init", "-q"]);
        git(&project, &["add", "."]);
        git(&project, &["commit", "-q", "-m", "first"]);
        git(&project, &["checkout", "-q", "-b", "away"]);
        std::fs::remove_file(project.join("one")).unwrap();
        std::os::unix::fs::symlink(&outside, project.join("one")).unwrap();
        git(&project, &["commit", "-q", "-a", "-m", "away"]);
        git(&project, &["checkout", "-q", "-"]);
        std::fs::write(project.join("sec/.env"), "KEY=hidden-value\n").unwrap();
        let result = run_allowed(&user, command);
        assert!(!result.contains("hidden-value") && result.contains("was not run: "), "{command}: {result}");
        assert_eq!(std::fs::metadata(&outside).unwrap().modified().unwrap(), before, "{command}");
    }
}
