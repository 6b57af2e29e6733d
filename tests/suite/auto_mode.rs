//! The mode `auto` in the real program: which commands it keeps after their trial without a prompt, and that it asks
//! about every other one before anything is real.

use crate::overlay_sandbox_escapes::has_overlay_sandbox;
use crate::support::program::{Program, Setup};
use crate::support::service::Service;
use crate::support::stored_files::read_session;
use crate::support::terminal_session::{command_answer, submit_message, text_answer};
use aye::chat::{Decider, Decision, Entry};
use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;
use tokio::runtime::Runtime;

/// Commands whose effects are harmless. Each continues in the project that the one before left.
const KEPT: [&str; 8] = [
    "echo x > new.txt",
    "mkdir -p src/deep && echo 'fn f() {}' > src/deep/f.rs",
    "echo more >> notes.txt",
    "mkdir -p build && seq 100 > build/numbers && seq 5 > build/few",
    "rm -rf build",
    "git add new.txt && git -c user.name=a -c user.email=a@b commit -qm second",
    "for number in 1 2 3; do echo $number > file$number.txt; done",
    "git -c user.name=a -c user.email=a@b commit -q --allow-empty -m third && git branch new",
];

/// Commands that change something that git cannot restore, that other programs obey, or that is outside the project, or
/// that do not end or work in a sandbox. `OUTSIDE` is a folder next to the project.
const ASKED: [&str; 40] = [
    "rm a.txt",
    "mv a.txt moved.txt",
    "echo gone > unsaved.txt",
    ": > unsaved.txt",
    "truncate -s 0 unsaved.txt",
    "sed -i d unsaved.txt",
    "dd if=/dev/null of=unsaved.txt status=none",
    "head -c 14 /dev/urandom > unsaved.txt",
    "perl -e 'unlink \"unsaved.txt\"; mkdir \"unsaved.txt\"'",
    "perl -e 'unlink \"a.txt\"; mkdir \"a.txt\"; open F, \">\", \"a.txt/b\"'",
    "git update-index --add --cacheinfo 100644,$(git hash-object unsaved.txt),unsaved.txt; perl -e 'truncate \"unsaved.txt\", 0'",
    "perl -e '$o = (glob \".git/objects/??/*\")[0]; chmod 0644, $o; truncate $o, 0'",
    "no-such-program --version",
    "rm -rf src",
    "find . -name a.txt -delete",
    "echo 'touch pwned' > .git/hooks/pre-commit",
    "mkdir -p .git/hooks && printf '#!/bin/sh\\n' > .git/hooks/post-checkout && chmod +x .git/hooks/post-checkout",
    "git config core.fsmonitor ./pwned",
    "printf '[core]\\n\\tfsmonitor = ./pwned\\n' >> .git/config",
    "echo '*.txt filter=pwned' > .git/info/attributes",
    "echo '*.txt filter=pwned' > .gitattributes",
    "git update-ref -d HEAD",
    "git update-ref refs/heads/main HEAD~1",
    "git update-ref refs/heads/loose HEAD~1",
    "git reset -q --hard HEAD~1",
    "git stash -q",
    "git branch -q -D other",
    "rm -rf .git",
    "mkdir -p .github/workflows && echo 'on: push' > .github/workflows/ci.yml",
    "echo x > Jenkinsfile",
    "echo 'export PATH=.' > .envrc",
    "mkdir -p .vscode && echo '{}' > .vscode/tasks.json",
    "echo KEY=1 > .env",
    "echo x > OUTSIDE/file",
    "ln -s OUTSIDE link && echo x > link/file",
    "ln -s /etc/passwd users",
    "perl -e 'symlink \"/etc/passwd\", \"users\"'",
    "mkdir -p scripts/hooks && echo 'touch pwned' > scripts/hooks/post-checkout",
    "mkfifo pipe",
    "cp /bin/true raised && chmod u+s raised",
];

fn git(folder: &Path, arguments: &[&str]) {
    let mut git = Command::new("git");
    git.args(["-c", "user.name=a", "-c", "user.email=a@b", "-c", "init.defaultBranch=main"]);
    assert!(git.args(arguments).current_dir(folder).status().unwrap().success(), "{arguments:?}");
}

/// Starts the program in mode `auto` in a repository with two commits, and with work that git has not stored. The model
/// runs these commands, one in each turn.
fn start_in_repository(commands: &[String], root: Setup) -> (Runtime, Service, Program) {
    let runtime = Runtime::new().unwrap();
    let answers = commands.iter().zip(1..).flat_map(|(command, turn): (_, usize)| {
        [command_answer(command), text_answer(&format!("That was turn {turn}."))]
    });
    let service = runtime.block_on(Service::start(answers.collect::<Vec<_>>()));
    let mut setup =
        Setup::with_home(&root.root, &["--base-url", &service.base_url, "--model", "scripted-7b", "--mode", "auto"])
            .size(100, 30);
    for (path, text) in
        [(".gitignore", "build\n"), ("a.txt", "one\n"), ("notes.txt", "first\n"), ("src/main.rs", "fn main() {}\n")]
    {
        setup = setup.with_file(path, text);
    }
    let project = root.root.path().join("project");
    git(&project, &["init", "-q"]);
    git(&project, &["add", "-A"]);
    git(&project, &["commit", "-qm", "zero"]);
    git(&project, &["commit", "-q", "--allow-empty", "-m", "first"]);
    git(&project, &["branch", "other"]);
    // As after a clone or a cleanup by git, branches are in one file.
    git(&project, &["pack-refs", "--all"]);
    git(&project, &["branch", "loose"]);
    setup = setup.with_file("unsaved.txt", "a day of work\n").with_file("notes.txt", "first\nsecond\n");
    let mut program = setup.start();
    program.until("Messages go to");
    (runtime, service, program)
}

/// Sends the message of a turn and denies what is asked about. Returns whether anything was.
fn play_turn(program: &mut Program, turn: usize) -> bool {
    submit_message(program, &format!("turn {turn}"));
    let end = format!("That was turn {turn}.");
    let mut is_asked = false;
    program.until_condition(&end, |program| {
        // A second key would be typed into the next message.
        if !is_asked && program.has_active_prompt() {
            is_asked = true;
            program.press_keys("n");
        }
        program.screen().contains(&end)
    });
    is_asked
}

/// Returns the paths below a folder with their types, permissions and contents.
fn read_tree(folder: &Path) -> BTreeMap<String, String> {
    let mut tree = BTreeMap::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(current) = folders.pop() {
        for entry in std::fs::read_dir(&current).unwrap() {
            let path = entry.unwrap().path();
            let facts = path.symlink_metadata().unwrap();
            let text = if facts.is_file() { std::fs::read(&path).unwrap_or_default() } else { Vec::new() };
            tree.insert(path.to_string_lossy().into_owned(), format!("{:?} {text:?}", facts.permissions()));
            if facts.is_dir() {
                folders.push(path);
            }
        }
    }
    tree
}

#[test]
fn harmless_effects_are_kept_without_a_prompt() {
    if !has_overlay_sandbox() {
        return;
    }
    let commands: Vec<String> = KEPT.map(str::to_owned).to_vec();
    let (_runtime, _service, mut program) = start_in_repository(&commands, Setup::new(&[]));
    for (command, turn) in commands.iter().zip(1..) {
        assert!(!play_turn(&mut program, turn), "{command}: {}", program.screen());
    }
    for (path, text) in [
        ("new.txt", Some("x\n")),
        ("src/deep/f.rs", Some("fn f() {}\n")),
        ("notes.txt", Some("first\nsecond\nmore\n")),
        ("build/few", None),
        ("file3.txt", Some("3\n")),
    ] {
        assert_eq!(program.file(path).as_deref(), text, "{path}");
    }
    let log = Command::new("git").args(["log", "--format=%s", "-1"]).current_dir(program.project()).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&log.stdout), "third\n");
    let entries = read_session(&Setup::with_home(&program.root, &[]));
    let is_kept =
        |entry: &&Entry| matches!(entry, Entry::Decided { decision: Decision::Kept(_), by: Decider::AutoMode, .. });
    assert_eq!(entries.iter().filter(is_kept).count(), KEPT.len(), "{entries:#?}");
}

/// Files that git ignores may be created, changed and deleted. The row of each call says what changed.
#[test]
fn changes_of_ignored_files_are_kept_and_named_in_the_row_of_the_call() {
    if !has_overlay_sandbox() {
        return;
    }
    let commands = [
        ("mkdir build && seq 5 > build/few && echo x > new.txt", "kept: 2 created", Some("1\n2\n3\n4\n5\n")),
        ("echo other > build/few", "kept: 1 changed", Some("other\n")),
        ("echo more >> build/few && echo more >> new.txt", "kept: 2 changed", Some("other\nmore\n")),
        ("rm build/few", "kept: 1 deleted", None),
    ];
    let lines = commands.map(|(command, ..)| command.to_owned());
    let (_runtime, _service, mut program) = start_in_repository(&lines, Setup::new(&[]));
    for ((command, changes, text), turn) in commands.into_iter().zip(1..) {
        assert!(!play_turn(&mut program, turn), "{command}: {}", program.screen());
        let screen = program.screen();
        let row = screen.lines().rfind(|line| line.contains(command));
        assert!(row.is_some_and(|row| row.contains(changes)), "{command}: {screen}");
        assert_eq!(program.file("build/few").as_deref(), text, "{command}");
    }
}

#[test]
fn a_prompt_after_a_trial_of_the_mode_shows_its_result() {
    if !has_overlay_sandbox() {
        return;
    }
    let command = "for f in a; do rm $f.txt; echo y > new.txt; echo printed; done";
    let (_runtime, _service, mut program) = start_in_repository(&[command.to_owned()], Setup::new(&[]));
    submit_message(&mut program, "turn 1");
    let screen = program.until_prompt("Warning: Keep what the trial did?");
    for part in [
        "exit 0 in ",
        "1 created, 1 deleted",
        "│ printed",
        "− a.txt",
        "+ new.txt",
        "reason: ",
        "keeping destroys a.txt",
        "K keep these changes",
    ] {
        assert!(screen.contains(part), "{part}: {screen}");
    }
    assert_eq!((program.file("a.txt").as_deref(), program.file("new.txt")), (Some("one\n"), None));
    program.press_keys("n");
    program.until("That was turn 1.");
    assert_eq!((program.file("a.txt").as_deref(), program.file("new.txt")), (Some("one\n"), None));
}

/// The first screen recommends the mode where commands can be tried, and only there.
#[test]
fn the_first_screen_recommends_the_mode() {
    let runtime = Runtime::new().unwrap();
    let service = runtime.block_on(Service::start(Vec::new()));
    let arguments = ["--base-url", &service.base_url, "--model", "scripted-7b"];
    let mut program = Setup::new(&arguments).size(100, 30).start();
    let screen = program.until("Messages go to");
    assert!(screen.contains("ask mode"), "the default stays: {screen}");
    if has_overlay_sandbox() {
        program.until("Recommended here: /mode auto");
        return;
    }
    program.wait_ms(500);
    assert!(!program.screen().contains("/mode auto"), "{}", program.screen());
}

#[test]
fn other_effects_are_asked_about_before_they_are_real() {
    if !has_overlay_sandbox() {
        return;
    }
    let root = Setup::new(&[]);
    let outside = root.root.path().join("outside");
    std::fs::create_dir(&outside).unwrap();
    let commands = ASKED.map(|command| command.replace("OUTSIDE", &outside.to_string_lossy())).to_vec();
    let (_runtime, _service, mut program) = start_in_repository(&commands, root);
    let folders: [&Path; 2] = [&program.project(), &outside];
    let mut before = folders.map(read_tree);
    let mut unasked = Vec::new();
    for (command, turn) in commands.iter().zip(1..) {
        let is_asked = play_turn(&mut program, turn);
        let after = folders.map(read_tree);
        if !is_asked || after != before {
            unasked.push(command);
        }
        before = after;
    }
    assert!(unasked.is_empty(), "{unasked:#?}");
}

/// A command that would not end by itself is not waited for.
#[test]
fn a_command_that_never_ends_asks_at_once() {
    if !has_overlay_sandbox() {
        return;
    }
    let commands = ["touch made; tail -f a.txt".to_owned()];
    let (_runtime, _service, mut program) = start_in_repository(&commands, Setup::new(&[]));
    submit_message(&mut program, "go");
    program.until_prompt("Run a command?");
    // The sandbox of trials is tested when the first command waits.
    program.until("y approve · t try it first");
    let entries = read_session(&Setup::with_home(&program.root, &[]));
    assert!(!entries.iter().any(|entry| matches!(entry, Entry::Tried { .. })), "{entries:#?}");
    assert_eq!(program.file("made"), None);
}
