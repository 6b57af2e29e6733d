//! `aye sessions`: list, show, search, rename, rm, fork and export, and the errors for bad input.

use crate::support::program::Setup;
use crate::support::report_skipped;
use crate::support::service::{Answer, Service, Step};
use crate::support::terminal_session::{submit_message, text_answer};
use serde_json::{Value, json};
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;

/// Value of `here`: the session belongs to the project.
pub const HERE: bool = true;
/// Value of `here`: the session belongs to another folder.
const ELSEWHERE: bool = false;

/// A home whose sessions are created by writing their files.
pub struct Home(pub Setup);

impl Home {
    pub fn new() -> Self {
        Self(Setup::new(&[]))
    }

    pub fn sessions(&self) -> PathBuf {
        self.0.root.path().join("home/aye/data/sessions")
    }

    /// Creates a session with these entries, in the project or in another folder.
    pub fn add_session(&self, id: &str, here: bool, entries: &[Value]) -> PathBuf {
        let project = self.0.root.path().join("project").canonicalize().unwrap();
        let folder = if here { project } else { "/elsewhere".into() };
        let header = json!({ "aye": 1, "id": id, "folder": folder, "time": "2026-01-01T00:00:00Z", "model": "m", "dry_run": false });
        let mut text = format!("{header}\n");
        for (index, entry) in entries.iter().enumerate() {
            // The clock goes backwards with every line.
            let line = json!({ "seq": index + 1, "at": 1_767_225_600_000_u64 - 1000 * index as u64, "entry": entry });
            text.push_str(&format!("{line}\n"));
        }
        std::fs::create_dir_all(self.sessions()).unwrap();
        let file = self.sessions().join(format!("{id}.jsonl"));
        std::fs::write(&file, text).unwrap();
        file
    }

    /// Runs `aye sessions` with these arguments; returns the output, the errors and the exit code.
    pub fn run(&self, arguments: &[&str]) -> (String, String, i32) {
        let arguments = [&["sessions"], arguments].concat();
        Setup::with_home(&self.0.root, &arguments).run_piped("")
    }

    /// Checks that the command fails with a usage error that contains this text.
    #[track_caller]
    pub fn check_refused(&self, arguments: &[&str], message: &str) {
        let (out, err, code) = self.run(arguments);
        assert_eq!((out.as_str(), code), ("", 2), "{arguments:?}: {err}");
        assert!(err.starts_with("aye: ") || err.starts_with("error: "), "{err}");
        assert!(err.contains(message), "{arguments:?}: {err}");
    }

    /// Returns the number of files in the folder of sessions.
    fn files(&self) -> usize {
        std::fs::read_dir(self.sessions()).map_or(0, Iterator::count)
    }
}

pub const ONE: &str = "01JAAAAAAAAAAAAAAAAAAAAAAA";
const TWO: &str = "01JBBBBBBBBBBBBBBBBBBBBBBB";
const THREE: &str = "01KCCCCCCCCCCCCCCCCCCCCCCC";

pub fn user_message(text: &str) -> Value {
    json!({ "kind": "said", "text": text })
}

pub fn model_reply(text: &str) -> Value {
    json!({ "kind": "replied", "text": text, "model": "m" })
}

fn create_home() -> Home {
    let home = Home::new();
    home.add_session(
        ONE,
        HERE,
        &[user_message("why does the clock flake?"), model_reply("Because of **time**.\n\nAn apple a day.")],
    );
    home.add_session(TWO, HERE, &[user_message("plant an orchard"), model_reply("Which trees?")]);
    home.add_session(THREE, ELSEWHERE, &[user_message("elsewhere we talked of apples")]);
    home
}

#[test]
fn list_shows_sessions_of_the_project_of_all_folders_and_as_json() {
    let home = Home::new();
    assert_eq!(home.run(&["list"]), (String::new(), "aye: no sessions yet\n".into(), 0));
    let home = self::create_home();
    let (out, err, code) = home.run(&[]);
    assert_eq!((out.lines().count(), code), (2, 0), "{out}");
    assert!(out.contains(ONE) && out.contains("why does the clock flake?") && !out.contains(THREE), "{out}");
    assert_eq!(err, "aye: 1 more in another folder, listed with --all\n");
    let (out, err, _) = home.run(&["list", "--all"]);
    assert!(out.lines().count() == 3 && out.contains("/elsewhere") && err.is_empty(), "{out}{err}");
    let (out, _, _) = home.run(&["list", "--all", "--json"]);
    let all: Vec<Value> = out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let one = all.iter().find(|session| session["session"] == ONE).unwrap();
    assert_eq!(
        (&one["title"], &one["open"], &one["model"]),
        (&json!("why does the clock flake?"), &json!(false), &json!("m"))
    );
}

#[test]
fn show_accepts_a_prefix_of_the_id() {
    let home = create_home();
    let (out, err, code) = home.run(&["show", "01ja"]);
    assert_eq!((err.as_str(), code), ("", 0));
    assert!(out.starts_with("why does the clock flake?\nsession: 01JA"), "{out}");
    assert!(out.contains("You ·") && out.contains("  Because of **time**.\n\n  An apple a day."), "{out}");
    let (last, _, code) = home.run(&["show"]);
    assert!(code == 0 && last.contains("session: "), "{last}");
}

#[test]
fn search_finds_messages_in_all_sessions_with_their_line() {
    let home = create_home();
    let (out, _, code) = home.run(&["search", "apple"]);
    assert_eq!(code, 0);
    assert!(
        out.contains("   model     An apple a day.") && out.contains("   you       elsewhere we talked of apples"),
        "{out}"
    );
    assert!(!out.contains(TWO) && out.contains("/elsewhere"), "{out}");
    let (here_output, _, _) = home.run(&["search", "APPLE", "day", "--here"]);
    assert!(here_output.contains(ONE) && !here_output.contains(THREE), "{here_output}");
    let (json, _, _) = home.run(&["search", "orchard", "--json"]);
    let object: Value = serde_json::from_str(json.trim()).unwrap();
    assert_eq!((&object["session"], &object["found"][0]["line"]), (&json!(TWO), &json!("plant an orchard")));
    let (out, err, code) = home.run(&["search", "no such word"]);
    assert_eq!((out.as_str(), err.as_str(), code), ("", "aye: no session contains “no such word”\n", 1));
    let quiet = home.run(&["search", "kind"]);
    assert_eq!(quiet.2, 1, "the file format is not searched: {}", quiet.0);
}

#[test]
fn session_list_searches_messages_and_opens_the_session() {
    let home = create_home();
    let flags = ["--base-url", "http://127.0.0.1:9/v1", "--model", "m"];
    let mut program = Setup::with_home(&home.0.root, &flags).start();
    program.until("Messages go to");
    program.press_keys("\x1bs");
    program.until("plant an orchard");
    program.type_text("apple day");
    program.until("model: An apple a day");
    program.until_gone("plant an orchard");
    program.press_keys("\r");
    program.until("Because of time.");
}

#[test]
fn r52_damaged_files_are_listed_and_hide_no_other() {
    let home = create_home();
    std::fs::write(home.sessions().join("01DAMAGED.jsonl"), [0; 5000]).unwrap();
    std::fs::write(home.sessions().join("01EMPTY.jsonl"), "").unwrap();
    std::fs::create_dir(home.sessions().join("01FOLDER.jsonl")).unwrap();
    let (out, _, code) = home.run(&["list", "--all"]);
    assert_eq!((out.lines().count(), code), (6, 0), "{out}");
    assert!(out.contains("cannot be read: it is empty") && out.contains("plant an orchard"), "{out}");
    let (out, err, code) = home.run(&["search", "apple"]);
    assert!(out.contains(ONE) && out.contains(THREE) && code == 0, "{out}");
    assert!(err.contains("Cannot search all of 01FOLDER"), "{err}");
    let (out, err, code) = home.run(&["show", "01DAMAGED"]);
    assert!(out.contains("warning: the first line of the session is damaged") && code == 0, "{out}{err}");
}

#[test]
fn rename_sets_the_title_of_a_session() {
    let home = create_home();
    let (out, err, code) = home.run(&["rename", "01jb", "the", "orchard\u{1b}[2J", "plan"]);
    assert_eq!((out.as_str(), err.as_str(), code), (format!("renamed {TWO} to “the orchard plan”\n").as_str(), "", 0));
    let (out, _, _) = home.run(&["list"]);
    assert!(out.contains("the orchard plan"), "{out}");
    home.check_refused(&["rename", TWO], "takes a session ID and a new title");
    home.check_refused(&["rename", TWO, "\u{1b}[2J \u{200b}"], "has no visible characters");
    home.check_refused(&["rename", TWO, &"x".repeat(300)], "200 characters");
}

#[test]
fn bad_arguments_are_refused_with_the_expected_ones() {
    let home = create_home();
    home.check_refused(&["show", "09"], "Cannot find the session \"09\": no ID begins with it");
    home.check_refused(&["show", "01J"], "Cannot find the session \"01J\": several IDs begin with it: ");
    home.check_refused(&["export", "01j"], ONE);
    home.check_refused(&["show", ""], "no ID begins with it");
    home.check_refused(&["show", "../../etc/passwd"], "no ID begins with it");
    home.check_refused(&["show", ONE, TWO], "aye sessions show takes one session");
    home.check_refused(&["rm"], "aye sessions rm takes one or more session IDs");
    home.check_refused(&["fork"], "aye sessions fork takes one session");
    home.check_refused(&["search"], "words to search for");
    home.check_refused(&["search", " "], "no words to search for");
    home.check_refused(&["list", "x"], "takes no arguments");
    home.check_refused(
        &["list", "--force", "--output", "x"],
        "Cannot use --force here: it is an option of another command. Use it with: aye sessions export",
    );
    home.check_refused(
        &["show", "--yes"],
        "Cannot use --yes here: it is an option of another command. Use it with: aye sessions rm",
    );
    home.check_refused(
        &["show", "--json"],
        "Cannot use --json here: it is an option of another command. Use it with: aye sessions list",
    );
    home.check_refused(&["list", "--all", "--here"], "cannot be used with");
    home.check_refused(&["export", "--force", ONE], "--output");
    home.check_refused(&["export", "--format", "pdf"], "Use one of: markdown, html, json");
    let (_, err, code) = Setup::with_home(&home.0.root, &["doctor", "--yes"]).run_piped("");
    assert!(
        code == 2
            && err.contains("Cannot use --yes here: it is an option of another command. Use it with: aye sessions rm"),
        "{err}"
    );
    assert_eq!(home.files(), 3);
}

#[test]
fn rm_removes_a_session_with_all_its_files_after_confirmation() {
    let home = create_home();
    home.check_refused(&["rm", ONE], "Cannot ask before removing: not a terminal");
    home.check_refused(&["rm", "--yes", ONE, "09"], "Cannot find the session \"09\": no ID begins with it");
    assert_eq!(home.files(), 3);
    let data = home.0.root.path().join("home/aye/data");
    std::fs::create_dir_all(data.join("drafts")).unwrap();
    std::fs::write(data.join("drafts").join(format!("{ONE}-card.txt")), "x").unwrap();
    std::fs::create_dir_all(data.join("rehearsal").join(ONE).join("upper/a")).unwrap();
    let mut program = Setup::with_home(&home.0.root, &["sessions", "rm", "01ja"]).start();
    let screen = program.until("type yes:");
    assert!(screen.contains("why does the clock flake?"), "{screen}");
    program.send_bytes("y\n");
    assert_eq!(program.wait_for_exit(), 0);
    assert!(program.screen().contains("Nothing was removed."), "{}", program.screen());
    assert_eq!(home.files(), 3);
    let mut program = Setup::with_home(&home.0.root, &["sessions", "rm", "01ja"]).start();
    program.until("type yes:");
    program.send_bytes("yes\n");
    assert_eq!(program.wait_for_exit(), 0);
    assert!(program.screen().contains("1 session was removed."), "{}", program.screen());
    assert!(!data.join("drafts").join(format!("{ONE}-card.txt")).exists());
    assert!(!data.join("rehearsal").join(ONE).exists());
    let (out, _, code) = home.run(&["rm", "--yes", "01JB", "01jb", "01k"]);
    assert_eq!((out.as_str(), code, home.files()), ("2 sessions were removed.\n", 0, 0));
}

#[test]
fn fork_leaves_the_session_unchanged() {
    let home = create_home();
    let before = std::fs::read(home.sessions().join(format!("{ONE}.jsonl"))).unwrap();
    let (out, _, code) = home.run(&["fork", "01ja"]);
    assert_eq!((code, home.files()), (0, 4), "{out}");
    let copy = out.split(' ').next().unwrap().to_owned();
    assert!(out.contains(&format!("is a copy of {ONE}")) && out.contains(&format!("aye --resume {copy}")), "{out}");
    assert!(home.run(&["show", &copy]).0.contains("An apple a day."));
    assert_eq!(std::fs::read(home.sessions().join(format!("{ONE}.jsonl"))).unwrap(), before);
}

#[test]
fn r56_export_is_private_and_overwrites_nothing() {
    let home = create_home();
    let file = home.0.root.path().join("project/out.html");
    let (out, err, code) = home.run(&["export", "01ja", "--format", "html", "--output", "out.html"]);
    assert_eq!((out.as_str(), code), ("", 0), "{err}");
    assert!(err.contains("to out.html"), "{err}");
    let html = std::fs::read_to_string(&file).unwrap();
    assert!(html.starts_with("<!doctype html>") && html.contains("<strong>time</strong>"), "{html}");
    assert_eq!(file.metadata().unwrap().mode() & 0o777, 0o600);
    home.check_refused(
        &["export", "01ja", "--output", "out.html"],
        "out.html: it already exists. Use --force to overwrite it.",
    );
    home.check_refused(&["export", "01ja", "--output", "."], "is not a regular file");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), html);
    let (_, err, code) = home.run(&["export", "01ja", "--output", "out.html", "--force"]);
    assert_eq!(code, 0, "{err}");
    let markdown = std::fs::read_to_string(&file).unwrap();
    assert!(markdown.starts_with("# why does the clock flake?\n"), "{markdown}");
    let (_, err, code) = home.run(&["export", "01ja", "--output", "no/such/folder/x"]);
    assert!(code == 1 && err.contains("Cannot write"), "{err}");
    let (markdown_again, _, _) = home.run(&["export", "01ja"]);
    assert_eq!(markdown_again, markdown);
}

#[test]
fn r57_export_reports_the_number_of_redacted_secrets() {
    let home = Home::new();
    let key = format!("{}{}", "ghp_", "aB3dE5gH7j".repeat(3));
    home.add_session(ONE, HERE, &[user_message(&format!("use {key}")), model_reply(&format!("`{key}`"))]);
    for format in ["markdown", "html", "json"] {
        let (out, err, code) = home.run(&["export", "--format", format]);
        assert_eq!(code, 0, "{err}");
        assert!(!out.contains(&key) && out.contains("redacted"), "{out}");
        // The title repeats the first words.
        assert_eq!(err, "aye: 3 secrets of known forms were redacted; there may be others\n", "{format}");
    }
    let (json, _, _) = home.run(&["export", "--format", "json"]);
    let value: Value = serde_json::from_str(&json).unwrap();
    assert_eq!((&value["redacted"], value["entries"].as_array().unwrap().len()), (&json!(3), 2));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r54_open_session_can_be_read_and_forked_only() {
    let stalls = Answer::stream().text("Half a reply").with_step(Step::Stall);
    let service = Service::start([stalls, text_answer("Elsewhere.")]).await;
    let flags = ["--base-url".to_owned(), service.base_url.clone(), "--model".to_owned(), "m".to_owned()];
    tokio::task::spawn_blocking(move || {
        let flags: Vec<&str> = flags.iter().map(String::as_str).collect();
        let mut program = Setup::new(&flags).start();
        program.until("Messages go to");
        submit_message(&mut program, "the first");
        program.until("Half a reply");
        let home = Home(Setup::with_home(&program.root, &[]));
        let (listed, _, _) = home.run(&["list", "--json"]);
        let session: Value = serde_json::from_str(listed.trim()).unwrap();
        assert_eq!(session["open"], true);
        let id = session["session"].as_str().unwrap();
        home.check_refused(&["rm", "--yes", id], "is open in another aye. Close it there first.");
        home.check_refused(&["rename", id, "x"], "is open in another aye");
        let (_, err, code) =
            Setup::with_home(&program.root, &[&flags[..], &["-p", "--resume", id, "x"]].concat()).run_piped("");
        assert!(code == 2 && err.contains("is open in another aye"), "{err}");
        // Other processes can read the partial reply.
        program.until_condition("the partial reply is in the file", |_| {
            home.run(&["show", id]).0.contains("Half a reply")
        });
        assert!(home.run(&["search", "half"]).0.contains("Half a reply"));
        let (out, _, code) = home.run(&["fork", id]);
        assert_eq!(code, 0, "{out}");
        assert_eq!(home.files(), 2);
        program.press_keys("\x1b");
        program.until("stopped");
    })
    .await
    .unwrap();
}

#[test]
fn r55_clock_changes_do_not_reorder_entries() {
    let home = Home::new();
    let messages: Vec<Value> = (0..5).map(|n| user_message(&format!("word number {n}"))).collect();
    let file = home.add_session(ONE, HERE, &messages);
    let text = std::fs::read_to_string(&file).unwrap();
    // One line has a time in the far future, one the time 0.
    let text = text.replace("1767225598000", "33300000000000000").replace("1767225597000", "0");
    std::fs::write(&file, text).unwrap();
    let later = std::time::SystemTime::now() + std::time::Duration::from_secs(10 * 365 * 86_400);
    std::fs::File::options().append(true).open(&file).unwrap().set_modified(later).unwrap();
    let (out, err, code) = home.run(&["show"]);
    assert_eq!((err.as_str(), code), ("", 0));
    let found: Vec<&str> = out.lines().filter(|line| line.starts_with("  word number")).collect();
    assert_eq!(found, (0..5).map(|n| format!("  word number {n}")).collect::<Vec<_>>(), "{out}");
    assert_eq!(home.run(&["list"]).0.lines().count(), 1);
    assert_eq!(home.run(&["export", "--format", "html"]).2, 0);
}

#[test]
fn r53_full_disk_is_reported_and_the_reply_is_complete() {
    let probe = std::process::Command::new("unshare")
        .args(["--user", "--map-root-user", "--mount", "mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", "/mnt"])
        .output();
    if !probe.is_ok_and(|done| done.status.success()) {
        // Other tests cover failing writes without such a disk.
        return report_skipped("no small disk can be mounted here");
    }
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let long = "word ".repeat(40_000);
    let service = runtime.block_on(Service::start([text_answer(&long), text_answer("And more.")]));
    let setup = Setup::new(&[]);
    let home = setup.root.path().join("home/aye");
    std::fs::create_dir_all(&home).unwrap();
    let script = "mount -t tmpfs -o size=64k,mode=0700 tmpfs \"$AYE_HOME\" && \
        \"$0\" -p --base-url \"$1\" --model m go; echo \"code $?\" >&2; cp \"$AYE_HOME\"/data/sessions/*.jsonl \"$2\"";
    let output = std::process::Command::new("unshare")
        .args(["--user", "--map-root-user", "--mount", "sh", "-c", script])
        .arg(crate::support::program::program())
        .arg(&service.base_url)
        .arg(setup.root.path().join("kept.jsonl"))
        .env("AYE_HOME", &home)
        .env("NO_PROXY", "127.0.0.1")
        .current_dir(setup.root.path().join("project"))
        .stdin(std::process::Stdio::null())
        .output()
        .unwrap();
    let err = String::from_utf8_lossy(&output.stderr);
    assert!(err.contains("The session could not be saved") && err.contains("code 1"), "{err}");
    assert!(err.contains("Not kept: 1 reply"), "{err}");
    assert!(String::from_utf8_lossy(&output.stdout).trim_end() == long.trim_end(), "the reply is incomplete");
    let read = aye::store::read(&setup.root.path().join("kept.jsonl")).unwrap();
    assert_eq!(read.entries[0], aye::chat::Entry::UserMessage { text: "go".into() }, "an earlier entry is lost");
}
