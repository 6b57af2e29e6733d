//! What the permissive modes still ask about and refuse, in the real program without an interactive user.

use crate::support::folder::Folder;
use crate::support::program::Setup;
use crate::support::service::Service;
use crate::support::terminal_session::{calls_answer_after, text_answer};
use aye::chat::{Entry, Outcome};
use aye::project::sandbox::{SandboxSupport, kernel_support};
use serde_json::{Value, json};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

const KEY: &str = "sk-kept-by-aye-1234567890";

/// One call, its verdict and what the model received.
#[derive(Debug)]
struct Judged {
    verdict: String,
    why: String,
    outcome: Outcome,
}

impl Judged {
    fn text(&self) -> &str {
        match &self.outcome {
            Outcome::Done(text) | Outcome::Failed(text) | Outcome::Refused(text) => text,
            other => panic!("{other:?}"),
        }
    }
}

/// A project with these files, and a home.
fn create_project(files: &[(&str, &str)]) -> Arc<Folder> {
    let setup = files.iter().fold(Setup::new(&[]), |setup, (path, text)| setup.with_file(path, text));
    setup.root
}

/// Returns the verdict and outcome of every call that the model makes in this mode, and everything sent to the model.
fn judge(place: &Arc<Folder>, home: Option<&Path>, mode: &str, calls: &[(&str, Value)]) -> (Vec<Judged>, String) {
    judge_with(place, home, &["--mode", mode], calls)
}

/// The same with these arguments on the command line.
fn judge_with(
    place: &Arc<Folder>,
    home: Option<&Path>,
    arguments: &[&str],
    calls: &[(&str, Value)],
) -> (Vec<Judged>, String) {
    let home = home.map(|home| ("AYE_HOME", home));
    judge_in(place, home.as_slice(), arguments, calls)
}

/// The same with these variables.
fn judge_in(
    place: &Arc<Folder>,
    variables: &[(&str, &Path)],
    arguments: &[&str],
    calls: &[(&str, Value)],
) -> (Vec<Judged>, String) {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let mut answers: Vec<_> =
        calls.iter().map(|call| calls_answer_after(Duration::ZERO, std::slice::from_ref(call))).collect();
    answers.push(text_answer("Done."));
    let service = runtime.block_on(Service::start(answers));
    let flags = ["-p", "go", "--base-url", &service.base_url, "--model", "m"];
    let flags = [&flags[..], arguments].concat();
    let mut setup = Setup::with_home(place, &flags);
    for (name, path) in variables {
        setup = setup.env(name, path.to_str().unwrap());
    }
    let (out, err, _) = setup.run_piped("");
    let log = find_session_file(place.path()).unwrap_or_else(|| panic!("no session: {out}{err}"));
    let entries = aye::store::read(&log).unwrap().entries;
    std::fs::remove_file(log).unwrap();
    let outcomes = entries.iter().filter_map(|entry| match entry {
        Entry::Settled { outcome, .. } => Some(outcome.clone()),
        _ => None,
    });
    let verdicts = entries.iter().filter_map(|entry| match entry {
        Entry::Planned { verdict, reason: why, .. } => Some((verdict.clone(), why.clone())),
        _ => None,
    });
    let judged = verdicts.zip(outcomes).map(|((verdict, why), outcome)| Judged { verdict, why, outcome });
    let judged: Vec<Judged> = judged.collect();
    assert_eq!(judged.len(), calls.len(), "{out}{err}{entries:#?}");
    let sent: Vec<String> = service.received().iter().map(|request| request.body.to_string()).collect();
    (judged, sent.concat())
}

/// Checks the verdict on each of these calls.
fn check(judged: &[Judged], expected: &str, mode: &str, calls: &[(&str, Value)]) {
    let failures: Vec<String> = judged
        .iter()
        .zip(calls)
        .filter(|(judged, _)| judged.verdict != expected)
        .map(|(judged, (tool, arguments))| format!("{mode}: {tool} {arguments}: {judged:?}"))
        .collect();
    assert!(failures.is_empty(), "not {expected}: {failures:#?}");
}

/// The only session below the folder.
fn find_session_file(folder: &Path) -> Option<PathBuf> {
    let mut open = vec![folder.to_owned()];
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
            let (path, kind) = (entry.path(), entry.file_type().unwrap());
            let is_log = path.extension().is_some_and(|end| end == "jsonl");
            if kind.is_dir() {
                open.push(path);
            } else if is_log && folder.ends_with("sessions") {
                return Some(path);
            }
        }
    }
    None
}

fn read_call(path: &Path) -> (&'static str, Value) {
    ("read_file", json!({ "path": path }))
}

fn bash_call(command: &str) -> (&'static str, Value) {
    ("bash_exec", json!({ "command": command }))
}

/// Stores a key in this folder of settings.
fn store_key(config: &Path) {
    std::fs::create_dir_all(config).unwrap();
    let text = format!("\"https://api.example.com\" = \"{KEY}\"\n");
    let file = config.join("credentials.toml");
    std::fs::write(&file, text).unwrap();
    std::fs::set_permissions(&file, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
}

#[test]
fn r14_no_mode_discloses_own_keys_wherever_the_folder_is() {
    for mode in ["plan", "ask", "auto", "full"] {
        let root = create_project(&[]);
        let base = root.path().canonicalize().unwrap();
        // The folder of settings is a symbolic link. The name of its target does not show that it holds settings.
        let real = base.join("dotfiles/settings");
        store_key(&real);
        let home = base.join("moved");
        std::fs::create_dir_all(&home).unwrap();
        symlink(&real, home.join("config")).unwrap();
        symlink(&real, base.join("project/linked")).unwrap();
        std::fs::hard_link(real.join("credentials.toml"), base.join("project/notes.txt")).unwrap();
        let file = real.join("credentials.toml");
        let calls = [
            read_call(&file),
            read_call(&home.join("config/credentials.toml")),
            read_call(Path::new("linked/credentials.toml")),
            read_call(Path::new("../dotfiles/./settings//credentials.toml")),
            read_call(Path::new("/proc/self/cwd/linked/credentials.toml")),
            read_call(Path::new("notes.txt")),
            bash_call(&format!("cat {}", file.display())),
            bash_call(&format!("base64 < {}", file.display())),
            bash_call("tac notes.txt"),
            ("search_text", json!({ "pattern": "sk-", "path": "linked/credentials.toml" })),
        ];
        let (judged, sent) = judge(&root, Some(&home), mode, &calls);
        check(&judged, "refuse", mode, &calls);
        assert!(!sent.contains(KEY), "{mode}");
    }
}

#[test]
fn r14_no_mode_writes_own_settings_wherever_the_folder_is() {
    let root = create_project(&[("a.txt", "x\n")]);
    let base = root.path().canonicalize().unwrap();
    let home = base.join("moved");
    std::fs::create_dir_all(home.join("config")).unwrap();
    symlink(home.join("config"), base.join("project/linked")).unwrap();
    let file = home.join("config/config.toml").display().to_string();
    let wide = "[approval]\nmode = \"full\"\n";
    let calls = [
        ("write_file", json!({ "path": file, "content": wide })),
        ("write_file", json!({ "path": "linked/config.toml", "content": wide })),
        bash_call(&format!("echo x > {file}")),
        bash_call("cat a.txt >> linked/config.toml"),
        bash_call("no-such-program > linked/rules.toml"),
        bash_call(&format!("tee {file} < a.txt")),
        bash_call("cp a.txt linked/config.toml"),
        bash_call("sort a.txt -o linked/config.toml"),
    ];
    let (judged, _) = judge(&root, Some(&home), "full", &calls);
    check(&judged, "refuse", "full", &calls);
    assert!(!home.join("config/config.toml").exists() && !home.join("config/rules.toml").exists());
}

#[test]
fn r14_folders_without_aye_home_are_protected_by_their_real_path() {
    for mode in ["auto", "full"] {
        let root = create_project(&[("a.txt", "x\n")]);
        let base = root.path().canonicalize().unwrap();
        // Without AYE_HOME the XDG variables decide where the folders are. The folder of settings is a symbolic link.
        // The name of its target does not show that it holds settings.
        let real = base.join("dotfiles/settings");
        store_key(&real);
        std::fs::create_dir(base.join("moved")).unwrap();
        symlink(&real, base.join("moved/aye")).unwrap();
        symlink(&real, base.join("project/linked")).unwrap();
        let variables = [
            ("AYE_HOME", Path::new("")),
            ("XDG_CONFIG_HOME", &base.join("moved")),
            ("XDG_DATA_HOME", &base.join("stored")),
        ];
        let file = real.join("config.toml");
        let calls = [
            read_call(&real.join("credentials.toml")),
            read_call(&base.join("moved/aye/credentials.toml")),
            read_call(Path::new("linked/credentials.toml")),
            bash_call("tac linked/credentials.toml"),
            ("write_file", json!({ "path": file, "content": "x" })),
            ("write_file", json!({ "path": "linked/config.toml", "content": "x" })),
            bash_call(&format!("echo x > {}", file.display())),
            bash_call("cp a.txt linked/config.toml"),
            bash_call(&format!("no-such-program >> {}", base.join("stored/aye/sessions/x").display())),
        ];
        let (judged, sent) = judge_in(&root, &variables, &["--mode", mode], &calls);
        check(&judged, "refuse", mode, &calls);
        assert!(!sent.contains(KEY) && !file.exists(), "{mode}");
    }
}

#[test]
fn r12_reading_commands_run_in_the_read_only_sandbox_in_every_mode() {
    if !crate::sandbox_escapes::has_sandbox() {
        return;
    }
    for mode in ["plan", "ask", "auto", "full"] {
        // The policy judges the names in the command; the sandbox also withholds the targets of links.
        let root = create_project(&[("notes", "KEY=hunter2\n")]);
        symlink("notes", root.path().join("project/.env")).unwrap();
        let calls = [bash_call("cat notes")];
        let (judged, sent) = judge(&root, None, mode, &calls);
        check(&judged, "allow", mode, &calls);
        assert!(judged[0].text().contains("Withheld by the read-only sandbox: notes"), "{mode}: {judged:?}");
        assert!(!sent.contains("hunter2"), "{mode}");
    }
}

#[test]
fn r13_full_mode_asks_before_reading_sensitive_files() {
    let calls = [
        bash_call("cat .env"),
        read_call(Path::new(".env")),
        read_call(Path::new("linked")),
        bash_call("no-such-program .env"),
        bash_call("no-such-program < .env"),
        bash_call("no-such-program < \"$SOMEWHERE\""),
        ("list_files", json!({ "path": ".git" })),
        read_call(Path::new("/etc/shadow")),
        bash_call("cat /etc/shadow"),
    ];
    for mode in ["auto", "full"] {
        let root = create_project(&[(".env", "KEY=hunter2\n"), (".git/config", "")]);
        symlink(".env", root.path().join("project/linked")).unwrap();
        let (judged, sent) = judge(&root, None, mode, &calls);
        check(&judged, "ask", mode, &calls);
        assert!(!sent.contains("hunter2"), "{mode}");
    }
}

#[test]
fn r13_rule_for_exactly_one_sensitive_file_allows_reading_it() {
    let rule = "[[rule]]\nverdict = \"allow\"\ntool = \"read_file\"\npath = \"";
    for (path, expected) in [(".env", "allow"), (".env*", "ask"), ("**", "ask"), ("docs/.env", "ask")] {
        let root = create_project(&[(".env", "KEY=hunter2\n")]);
        let config = root.path().join("home/aye/config");
        std::fs::create_dir_all(&config).unwrap();
        std::fs::write(config.join("rules.toml"), format!("{rule}{path}\"\n")).unwrap();
        let (judged, sent) = judge(&root, None, "ask", &[read_call(Path::new(".env"))]);
        assert_eq!(judged[0].verdict, expected, "{path}: {judged:?}");
        assert_eq!(sent.contains("hunter2"), expected == "allow", "{path}");
    }
}

/// A project with secrets of many kinds, and a rules file with one rule for each of these paths that allows every tool.
fn project_with_rules(paths: &[&str]) -> Arc<Folder> {
    let root = create_project(&[
        (".env", "KEY=hunter2\n"),
        (".env.local", "KEY=hunter3\n"),
        ("two.env", "KEY=hunter4\n"),
        ("a.txt", "plain\n"),
    ]);
    let config = root.path().join("home/aye/config");
    std::fs::create_dir_all(&config).unwrap();
    let rules: Vec<String> =
        paths.iter().map(|path| format!("[[rule]]\nverdict = \"allow\"\npath = \"{path}\"\n")).collect();
    std::fs::write(config.join("rules.toml"), rules.concat()).unwrap();
    let project = root.path().join("project");
    symlink(".env", project.join("link")).unwrap();
    std::fs::hard_link(project.join("two.env"), project.join("hard")).unwrap();
    root
}

#[test]
fn r13_rule_for_exactly_one_sensitive_file_allows_commands_to_read_it() {
    if !crate::sandbox_escapes::has_sandbox() {
        return;
    }
    let allowed = [bash_call("cat .env"), bash_call("grep -n KEY .env a.txt"), bash_call("head -c 20 < .env | wc -c")];
    let asked = [
        bash_call("cat .env .env.local"),
        bash_call("cat .e*"),
        bash_call("cat ./.env"),
        bash_call("cat link"),
        bash_call("grep -r KEY ."),
        bash_call("sort -o .env .env"),
        bash_call("cat .env > copy"),
        bash_call("cat two.env"),
        bash_call("cat hard"),
        bash_call("git show HEAD:.env"),
        bash_call("no-such-program .env"),
    ];
    for mode in ["ask", "auto", "full"] {
        let root = project_with_rules(&[".env", "two.env"]);
        let (judged, sent) = judge(&root, None, mode, &allowed);
        check(&judged, "allow", mode, &allowed);
        let texts: Vec<&str> = judged.iter().map(Judged::text).collect();
        assert_eq!(texts, ["KEY=hunter2\nexit 0", ".env:1:KEY=hunter2\nexit 0", "12\nexit 0"]);
        assert!(sent.contains("hunter2") && judged[0].why.contains("your rules for the files it reads"));
        let (judged, sent) = judge(&root, None, mode, &asked);
        check(&judged, "ask", mode, &asked);
        assert!(!sent.contains("hunter"), "{mode}: {sent}");
        let (judged, sent) = judge(&root, None, "plan", &allowed);
        check(&judged, "refuse", "plan", &allowed);
        assert!(!sent.contains("hunter"), "{sent}");
        let root = project_with_rules(&[".env*", "**"]);
        let (judged, _) = judge(&root, None, mode, &allowed);
        check(&judged, "ask", mode, &allowed);
    }
}

#[test]
fn r13_dry_run_applies_rules_for_sensitive_files_as_live() {
    if !crate::sandbox_escapes::has_sandbox() || !crate::overlay_sandbox_escapes::has_overlay_sandbox() {
        return;
    }
    let root = project_with_rules(&[".env", "two.env"]);
    let calls = [
        bash_call("cat .env"),
        bash_call("cat .env .env.local"),
        bash_call("cat .e*"),
        bash_call("cat link"),
        bash_call("cat two.env"),
    ];
    let (judged, sent) = judge_with(&root, None, &["--dry-run"], &calls);
    let verdicts: Vec<&str> = judged.iter().map(|judged| judged.verdict.as_str()).collect();
    assert_eq!(verdicts, ["rehearse", "withhold", "withhold", "withhold", "withhold"], "{judged:?}");
    assert!(sent.contains("KEY=hunter2"), "{judged:?}");
    assert!(!sent.contains("hunter3") && !sent.contains("hunter4"), "{judged:?}");
}

#[test]
fn r20_full_mode_asks_before_writes_to_files_that_other_programs_execute() {
    let calls = [
        bash_call("no-such-program > .git/hooks/pre-commit"),
        bash_call("no-such-program 2>> .git/config"),
        bash_call("cargo build &> .envrc"),
        bash_call("cargo build 2> ~/.bashrc"),
        bash_call("no-such-program > \"$SOMEWHERE\""),
        bash_call("git config core.hooksPath hooks"),
        ("write_file", json!({ "path": ".git/hooks/pre-commit", "content": "x" })),
        ("edit_file", json!({ "path": ".envrc", "old_text": "a", "new_text": "b" })),
    ];
    for mode in ["auto", "full"] {
        let root = create_project(&[(".envrc", "a\n")]);
        let (judged, _) = judge(&root, None, mode, &calls);
        check(&judged, "ask", mode, &calls);
    }
}

#[test]
fn r20_full_mode_asks_before_a_command_changes_the_system() {
    let calls = [
        "date -s 12:00",
        "hostname other",
        "git config --global user.name x",
        "pip install x",
        "apt update",
        "brew install x",
        "npm install -g x",
        "systemctl restart x",
        "service x stop",
    ]
    .map(bash_call);
    let (judged, _) = judge(&create_project(&[]), None, "full", &calls);
    check(&judged, "ask", "full", &calls);
}

#[test]
fn r20_full_mode_runs_unlisted_programs_only_without_network() {
    let calls = [bash_call("bash tools/x.sh"), bash_call("touch made")];
    let is_supported = matches!(kernel_support(), SandboxSupport::Supported { .. });
    for (shell, expected) in [
        ("", if is_supported { "allow" } else { "ask" }),
        ("network = \"on\"", "ask"),
        ("sandbox = false", "ask"),
        ("sockets = true", "ask"),
    ] {
        let root = create_project(&[("tools/x.sh", "echo ran\n")]);
        let config = root.path().join("home/aye/config");
        std::fs::create_dir_all(&config).unwrap();
        std::fs::write(config.join("config.toml"), format!("[shell]\n{shell}\n")).unwrap();
        let (judged, _) = judge(&root, None, "full", &calls);
        assert_eq!(judged[0].verdict, expected, "{shell}: {judged:?}");
        assert!(expected == "allow" || judged[0].why.contains("network access"), "{judged:?}");
        assert_eq!(judged[1].verdict, "allow", "{shell}: {judged:?}");
    }
}

#[test]
fn r24_a_file_with_several_names_is_written_only_with_a_prompt_that_says_so() {
    let calls = [
        ("write_file", json!({ "path": "one.txt", "content": "new\n" })),
        ("edit_file", json!({ "path": "one.txt", "old_text": "old", "new_text": "new" })),
        bash_call("echo new >> one.txt"),
        bash_call("no-such-program > one.txt"),
        bash_call("tee one.txt < a.txt"),
        bash_call("cp a.txt one.txt"),
    ];
    for mode in ["auto", "full"] {
        let root = create_project(&[("one.txt", "old\n"), ("a.txt", "x\n")]);
        let base = root.path();
        std::fs::hard_link(base.join("project/one.txt"), base.join("home/elsewhere.txt")).unwrap();
        let (judged, _) = judge(&root, None, mode, &calls);
        check(&judged, "ask", mode, &calls);
        for (judged, (_, arguments)) in judged.iter().zip(&calls) {
            let is_named = judged.why.contains("hard link: one.txt (2 names)");
            assert!(is_named, "{mode} {arguments}: {}", judged.why);
        }
    }
}

#[test]
fn r23_lines_of_a_file_of_any_size_are_read() {
    let line = "x".repeat(92);
    let text: String = (1..=420_000).map(|at| format!("{at:>6} {line}\n")).collect();
    assert!(text.len() > 40_000_000);
    let root = create_project(&[("big.log", &text)]);
    let calls = [
        ("read_file", json!({ "path": "big.log", "start_line": 5, "end_line": 10 })),
        ("read_file", json!({ "path": "big.log", "start_line": 419_999, "end_line": 500_000 })),
    ];
    let (judged, _) = judge(&root, None, "ask", &calls);
    assert!(judged[0].text().starts_with("5\t     5 xx"), "{judged:?}");
    assert!(judged[0].text().contains("\n10\t    10 xx"), "{judged:?}");
    assert!(judged[0].text().contains("[lines 5-10 of 420000; continue with start_line 11]"), "{judged:?}");
    assert!(judged[1].text().contains("420000\t420000 xx") && judged[1].text().len() < 1_000, "{judged:?}");
}

#[test]
fn r32_a_name_with_a_line_break_and_an_escape_is_read_and_shown_escaped() {
    let name = "a\nb\u{1b}[31m.txt";
    let calls = [
        read_call(Path::new(name)),
        read_call(Path::new("a\\nb\\u{1b}[31m.txt")),
        ("write_file", json!({ "path": name, "content": "two\n" })),
    ];
    let (judged, _) = judge(&create_project(&[(name, "one\n")]), None, "full", &calls);
    assert_eq!(judged[0].text(), "1\tone\n");
    assert_eq!(judged[1].text(), "1\tone\n", "the escaped name works too");
    assert_eq!(judged[2].text(), "a\\nb\\u{1b}[31m.txt: +1 −1");
}

#[test]
fn r20_full_mode_runs_what_it_documents() {
    let calls = [
        bash_call("cat a.txt"),
        bash_call("echo x > new.txt"),
        ("write_file", json!({ "path": "a.txt", "content": "two\n" })),
        ("list_files", json!({ "path": "/usr/share" })),
    ];
    let (judged, _) = judge(&create_project(&[("a.txt", "one\n")]), None, "full", &calls);
    check(&judged, "allow", "full", &calls);
}
