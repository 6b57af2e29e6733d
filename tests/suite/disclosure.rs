//! A dry run sends the model nothing that a live session would ask about. A session reads every kind of secret in many
//! ways, and the server that plays the model receives none of them.

use crate::overlay_sandbox_escapes::has_overlay_sandbox;
use crate::support::folder::Folder;
use crate::support::ordinary_user::continue_as_ordinary_user;
use crate::support::print_uncaptured;
use crate::support::program::Setup;
use crate::support::service::Service;
use crate::support::stored_files::write_settings;
use crate::support::terminal_session::{calls_answer_after, text_answer};
use serde_json::{Value, json};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

/// A secret file.
struct Secret {
    kind: &'static str,
    /// Path as the calls name it: `P` is the project, `H` the home, `T` the folder for temporary files and `S` a folder
    /// next to the project.
    file: &'static str,
    /// The secret text in it.
    holds: &'static str,
}

const SECRETS: [Secret; 10] = [
    Secret { kind: "settings of the project", file: "P/.env", holds: "SENTINELenvfile01" },
    Secret { kind: "key of the project", file: "P/keys/server.pem", holds: "SENTINELpemfile02" },
    Secret { kind: "key of the user", file: "H/.ssh/id_rsa", holds: "SENTINELsshkey03" },
    Secret { kind: "password file", file: "H/.netrc", holds: "SENTINELnetrc04" },
    Secret { kind: "credentials of a cloud", file: "H/.aws/credentials", holds: "SENTINELaws05" },
    Secret { kind: "history of a shell", file: "H/.bash_history", holds: "SENTINELhistory06" },
    Secret { kind: "any file of the home", file: "H/letters/today.txt", holds: "SENTINELhome07" },
    Secret { kind: "another project", file: "S/notes.txt", holds: "SENTINELsibling08" },
    Secret { kind: "temporary file of another program", file: "T/session.txt", holds: "SENTINELtemporary09" },
    Secret { kind: "aye's own keys", file: "H/aye/config/credentials.toml", holds: "SENTINELown10" },
];
/// Content of the committed `.env`, which differs from the file.
const COMMITTED: &str = "SENTINELcommitted11";
/// A secret in the arguments of a process.
const ARGUMENT: &str = "SENTINELargument12";
/// A secret in the environment of that process.
const PROCESS_VARIABLE: &str = "SENTINELprocess13";
/// A secret in an environment variable of aye whose name does not suggest one.
const VARIABLE: &str = "SENTINELvariable14";

/// A process that ends with the test.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn resolve_path(root: &Path, name: &str) -> String {
    let (start, remaining) = name.split_once('/').unwrap();
    let folder = match start {
        "P" => "project",
        "H" => "home",
        "T" => "tmp",
        _ => "sibling",
    };
    root.join(folder).join(remaining).display().to_string()
}

/// Sets up a project, a home and folders around them with a secret of every kind.
fn create_scene(root: &Path) -> Running {
    for secret in &SECRETS {
        let file = resolve_path(root, secret.file);
        std::fs::create_dir_all(Path::new(&file).parent().unwrap()).unwrap();
        let comment = if file.ends_with(".toml") { "# " } else { "" };
        std::fs::write(&file, format!("{comment}{}\n", secret.holds)).unwrap();
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o600)).unwrap();
    }
    let project = root.join("project");
    std::fs::write(project.join("README.md"), "plain\n").unwrap();
    std::fs::write(project.join("show.sh"), "for file; do cat \"$file\"; done\n").unwrap();
    std::fs::hard_link(project.join(".env"), project.join("linked.txt")).unwrap();
    std::os::unix::fs::symlink(".env", project.join("link.txt")).unwrap();
    std::os::unix::fs::symlink(root.join("home"), project.join("home")).unwrap();
    let env_content = std::fs::read(project.join(".env")).unwrap();
    let git = |words: &[&str]| {
        let who = ["-c", "user.name=a", "-c", "user.email=a@b", "-c", "init.defaultBranch=main"];
        let output = Command::new("git")
            .args(who)
            .args(words)
            .current_dir(&project)
            .env("HOME", root.join("home"))
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .output()
            .unwrap();
        assert!(output.status.success(), "{words:?}: {output:?}");
    };
    git(&["init", "-q"]);
    // Written in place, so that the hard link keeps the same file.
    std::fs::write(project.join(".env"), format!("{COMMITTED}\n")).unwrap();
    git(&["add", "-f", ".env", "README.md"]);
    git(&["commit", "-qm", "first"]);
    std::fs::write(project.join(".env"), env_content).unwrap();
    let process =
        Command::new("sleep").arg0(ARGUMENT).arg("600").env("HARMLESS", PROCESS_VARIABLE).stdin(Stdio::null()).spawn();
    Running(process.unwrap())
}

/// Command lines that print secrets, each with a secret that it prints.
fn list_commands(root: &Path) -> Vec<(String, &'static str)> {
    let mut collected = Vec::new();
    for secret in &SECRETS {
        let file = resolve_path(root, secret.file);
        for line in [
            format!("cat {file}"),
            format!("sh show.sh {file}"),
            format!("cp {file} copy.txt && cat copy.txt"),
            format!("ln -s {file} way.txt; cat way.txt"),
            format!("bash -c \"cat {}*\"", &file[..file.len() - 1]),
            format!("while read -r line; do echo $line; done < {file}"),
            format!("tar -cf - -C / {} | cat", file.trim_start_matches('/')),
        ] {
            collected.push((line, secret.holds));
        }
    }
    let mut add = |line: &str, holds| collected.push((line.to_owned(), holds));
    let [env, key] = [SECRETS[0].holds, SECRETS[2].holds];
    for line in [
        "cat linked.txt",
        "cat link.txt",
        "mv .env moved.txt && cat moved.txt",
        "ln .env again.txt && cat again.txt",
        "chmod 644 .env && cat .env",
        "cp -r . /tmp/all && cat /tmp/all/.env",
        "git diff .env",
        "git add -f .env && git show :.env",
        "git stash -q && git show 'stash@{0}:.env'",
        "grep -r SENTINEL .",
        "find . -name '.e*' -exec cat {} +",
        "echo 'all: ; cat .env' > new.mk && make -f new.mk",
        "awk 1 .env",
        "sed -n p .e*",
        "python3 -c \"print(open('.env').read())\"",
        "perl -pe 1 .env",
    ] {
        add(line, env);
    }
    for line in ["cat home/.ssh/id_rsa", "cat ~/.ssh/id_rsa", "cat $HOME/.ssh/*", "cd; cat .ssh/id_rsa"] {
        add(line, key);
    }
    for line in [
        "git show HEAD:.env",
        "git log -p",
        "git diff HEAD",
        "git cat-file -p HEAD:.env",
        "sh -c 'git show HEAD:.env'",
        "git checkout -q HEAD -- .env && cat .env",
        "git archive HEAD | cat",
        "git clone -q . /tmp/clone && cat /tmp/clone/.env",
        "python3 -c \"import glob, zlib; [print(zlib.decompress(open(f, 'rb').read())) for f in glob.glob('.git/objects/??/*')]\"",
    ] {
        add(line, COMMITTED);
    }
    for line in ["cat /proc/*/cmdline", "ps axww", "sh -c 'ps axww'"] {
        add(line, ARGUMENT);
    }
    for line in ["cat /proc/*/environ", "sh show.sh /proc/*/environ", "ps axeww"] {
        add(line, PROCESS_VARIABLE);
    }
    for line in ["env", "printenv HARMLESS_NAME", "echo $HARMLESS_NAME", "export -p", "sh -c 'set'"] {
        add(line, VARIABLE);
    }
    collected
}

/// File tool calls that read the same secrets.
fn list_file_calls(root: &Path) -> Vec<(&'static str, Value)> {
    let mut collected = Vec::new();
    for secret in &SECRETS {
        let file = resolve_path(root, secret.file);
        let folder = Path::new(&file).parent().unwrap().display().to_string();
        collected.push(("read_file", json!({ "path": file })));
        collected.push(("search_text", json!({ "pattern": "SENTINEL", "path": folder })));
    }
    for path in ["linked.txt", "link.txt", "home/.ssh/id_rsa", "~/.netrc", "/proc/self/environ", "./keys/../.env"] {
        collected.push(("read_file", json!({ "path": path })));
    }
    collected.push(("search_text", json!({ "pattern": "SENTINEL" })));
    // A link in the overlay must not give access to files outside of it.
    collected.push((
        "bash_exec",
        json!({ "command": "ln -s .env inside.txt; ln -s /proc/self/environ self.txt; ln -s ~ there" }),
    ));
    for path in ["inside.txt", "self.txt", "there/.ssh/id_rsa", "way.txt"] {
        collected.push(("read_file", json!({ "path": path })));
        collected.push(("search_text", json!({ "pattern": "SENTINEL", "path": path })));
    }
    collected
}

/// Runs a session with all calls; returns everything that was sent to the model, and the number of calls.
fn run_session(place: &Arc<Folder>, extra_arguments: &[&str], settings_text: &str) -> (String, usize) {
    let lines = list_commands(place.path());
    let all = lines.iter().map(|(line, _)| ("bash_exec", json!({ "command": line })));
    let all: Vec<(&str, Value)> = all.chain(list_file_calls(place.path())).collect();
    let mut answers: Vec<_> = all.chunks(12).map(|calls| calls_answer_after(Duration::ZERO, calls)).collect();
    answers.push(text_answer("Done."));
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let service = runtime.block_on(Service::start(answers));
    let arguments = ["-p", "go", "--dry-run", "--base-url", &service.base_url, "--model", "m"];
    let setup = Setup::with_home(place, &[&arguments[..], extra_arguments].concat()).env("HARMLESS_NAME", VARIABLE);
    write_settings(&setup, settings_text);
    let (out, err, code) = setup.run_piped("");
    let bodies: Vec<String> = service.received().iter().map(|request| request.body.to_string()).collect();
    let sent = bodies.concat();
    assert!(sent.contains("Done.") || out.contains("Done."), "exit {code}: {out}{err}");
    (sent, all.len())
}

/// Lists the secrets that were sent.
fn list_disclosed(sent: &str) -> Vec<String> {
    let from_files = SECRETS.iter().map(|secret| (secret.kind, secret.holds));
    let others = [
        ("git object", COMMITTED),
        ("arguments of a process", ARGUMENT),
        ("environment of a process", PROCESS_VARIABLE),
        ("variable", VARIABLE),
    ];
    let all = from_files.chain(others).filter(|(_, holds)| sent.contains(holds));
    all.map(|(kind, holds)| {
        let offset = sent.find(holds).unwrap();
        let start = (0..=offset.saturating_sub(300)).rev().find(|at| sent.is_char_boundary(*at)).unwrap();
        format!("{kind}: …{}", &sent[start..offset + holds.len()])
    })
    .collect()
}

/// Checks that, outside of a dry run, most command lines do print their secret; otherwise the test would prove nothing.
fn check_commands(root: &Path) {
    let lines = list_commands(root);
    let copy = Folder::new();
    let mut printed_count = 0;
    for (line, holds) in &lines {
        // Each command runs in a fresh copy, because some of them move files.
        let folder = copy.path().join("project");
        let result = Command::new("cp").arg("-a").arg(root.join("project")).arg(&folder).status().unwrap();
        assert!(result.success());
        let scratch = copy.path().display();
        let line_in_copy = line
            .replace(&format!("{}/project/", root.display()), &format!("{}/", folder.display()))
            .replace("/tmp/all", &format!("{scratch}/all"))
            .replace("/tmp/clone", &format!("{scratch}/clone"));
        let result = Command::new("bash")
            .args(["-c", &line_in_copy])
            .current_dir(&folder)
            .env("HOME", root.join("home"))
            .env("HARMLESS_NAME", VARIABLE)
            .output()
            .unwrap();
        let output = String::from_utf8_lossy(&result.stdout).into_owned();
        if output.contains(holds) {
            printed_count += 1;
        } else {
            print_uncaptured(&format!("disclosure: prints nothing here, LEFT OUT: {line}"));
        }
        for one in std::fs::read_dir(copy.path()).unwrap() {
            let _ = std::fs::remove_dir_all(one.unwrap().path());
        }
    }
    assert!(printed_count * 10 > lines.len() * 8, "only {printed_count} of {} lines print their secret", lines.len());
}

/// Checks that a session with these arguments and settings discloses no secret.
fn check(extra_arguments: &[&str], settings_text: &str) {
    let setup = Setup::new(&[]);
    let _process = create_scene(setup.root.path());
    let (sent, calls) = run_session(&setup.root, extra_arguments, settings_text);
    let disclosed = list_disclosed(&sent);
    assert!(disclosed.is_empty(), "{} kinds of {calls} calls:\n{}", disclosed.len(), disclosed.join("\n"));
}

#[test]
fn r30_a_dry_run_discloses_no_kind_of_secret() {
    if !has_overlay_sandbox() {
        return;
    }
    let root = Folder::new();
    let process = create_scene(root.path());
    check_commands(root.path());
    drop(process);
    check(&[], "");
}

#[test]
fn r30_a_dry_run_in_full_mode_discloses_no_kind_of_secret() {
    if has_overlay_sandbox() {
        check(&["--mode", "full"], "");
    }
}

#[test]
fn r30_a_dry_run_with_an_overlay_of_the_home_discloses_no_kind_of_secret() {
    if has_overlay_sandbox() {
        check(&[], "[dry_run]\noutside = \"overlay\"\n");
    }
}

#[test]
fn r30_a_dry_run_without_an_overlay_sandbox_discloses_no_kind_of_secret() {
    check(&[], "[dry_run]\noverlay_sandbox = \"off\"\n");
}

/// No user is there to answer prompts, so nothing that asks is read.
#[test]
fn r30_a_dry_run_that_asks_as_live_discloses_nothing_without_approval() {
    if has_overlay_sandbox() {
        check(&[], "[dry_run]\nask = \"as live\"\n");
    }
}

#[test]
fn r30_a_dry_run_of_an_ordinary_user_discloses_no_kind_of_secret() {
    let test = "disclosure::r30_a_dry_run_of_an_ordinary_user_discloses_no_kind_of_secret";
    if continue_as_ordinary_user(test) && has_overlay_sandbox() {
        check(&[], "");
    }
}
