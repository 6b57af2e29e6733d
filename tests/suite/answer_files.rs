//! Invalid answer files: each is refused with what was expected, and the question keeps waiting.

use crate::support::program::Setup;
use crate::support::service::{Answer, Service};
use crate::support::terminal_session::{calls_answer_after, text_answer};
use serde_json::json;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

fn question_reply() -> Answer {
    let questions =
        json!([{ "question": "Which clock?", "keyword": "clock", "options": ["paused", "real"], "allow_text": false }]);
    calls_answer_after(Duration::ZERO, &[("ask_question", json!({ "questions": questions }))])
}

async fn run_headless(service: &Service, setup: Setup) -> (String, String, i32) {
    let setup = setup
        .env("OPENAI_BASE_URL", &service.base_url)
        .env("OPENAI_API_KEY", "sk-test-key-1234567890")
        .env("AYE_MODEL", "m");
    tokio::task::spawn_blocking(move || setup.run_piped("")).await.unwrap()
}

/// Reads the file of the only session.
fn read_session_file(root: &Path) -> Vec<u8> {
    let files = std::fs::read_dir(root.join("home/aye/data/sessions")).unwrap();
    let mut files = files.map(|file| file.unwrap().path());
    let file = files.find(|path| path.extension().is_some_and(|ending| ending == "jsonl"));
    std::fs::read(file.expect("a session is kept")).unwrap()
}

/// Writes invalid answer files and returns their names, each with the expected error.
fn write_invalid_files(project: &Path) -> Vec<(&'static str, &'static str)> {
    let write = |name: &str, bytes: &[u8]| std::fs::write(project.join(name), bytes).unwrap();
    let mut files = Vec::new();
    let mut add = |name: &'static str, bytes: &[u8], expected_text: &'static str| {
        write(name, bytes);
        files.push((name, expected_text));
    };
    add("empty", b"", "it is empty. Use the JSON that -p printed");
    add("blank", b" \n\t\n", "it is empty. Use");
    add("number", b"5", "it holds no answers. Use");
    add("text", b"\"clock\"", "it holds no answers. Use");
    add("null", b"null", "it holds no answers. Use");
    add("nothing", b"{}", "it holds no answers. Use");
    add("list", b"[1, 2]", "an answer in it has no \"keyword\". Use");
    add("deep", "[".repeat(100_000).as_bytes(), "it is invalid: nested more than 32 deep");
    add("twice", br#"{"clock": "paused", "clock": "real"}"#, "it is invalid: the key “clock” is given twice");
    add(
        "listed twice",
        br#"[{"keyword":"clock","answer":0},{"keyword":"clock","answer":1}]"#,
        "it answers \"clock\" twice",
    );
    add("behind", br#"{"clock": "real"} {"clock": "paused"}"#, "it is not JSON: trailing characters");
    add("half", br#"{"clock": "re"#, "it is not JSON: EOF while parsing a string");
    add("nul", b"{\"clock\": \"real\0\"}", "it is not JSON: control character");
    add("nuls", &[0; 4096], "it is not JSON");
    add("latin", b"{\"clock\": \"r\xe9al\"}", "it is not UTF-8 text. Use");
    add("sixteen", b"\xff\xfe{\0}\0", "it is not UTF-8 text. Use");
    add("large", &vec![b' '; 50_000_000], "it has more than 1024 KiB, which is the limit");
    add("shape", br#"{"clock": {"pick": {"deep": []}}}"#, "clock: ");
    add("many", br#"{"clock": ["paused", "real"]}"#, "clock: 2 options are selected, but only one is allowed");
    add("far", br#"{"clock": 7}"#, "clock: ");
    add("other", br#"{"os": "Linux"}"#, "no question has the keyword \"os\"; waiting: \"clock\"");
    add("hostile", "{\"clock\": \"\u{202e}\\u001b[2J\"}".as_bytes(), "clock: ");
    std::fs::create_dir(project.join("folder")).unwrap();
    files.push(("folder", "it is a folder. Use"));
    assert!(Command::new("mkfifo").arg(project.join("pipe")).status().unwrap().success());
    files.push(("pipe", "it is empty. Use"));
    files.push(("nowhere", "No such file or directory (os error 2). Use"));
    write("closed", b"{}");
    assert!(Command::new("chmod").arg("000").arg(project.join("closed")).status().unwrap().success());
    // Root can read every file.
    if std::fs::read(project.join("closed")).is_err() {
        files.push(("closed", "Permission denied (os error 13). Use"));
    }
    files
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r16_refuses_an_invalid_answer_file_and_keeps_the_question_waiting() {
    let service = Service::start([question_reply(), text_answer("Good.")]).await;
    let setup = Setup::new(&["-p", "go"]);
    let root = setup.root.clone();
    assert_eq!(run_headless(&service, setup).await.2, 3);
    let before = read_session_file(root.path());
    let harmless = |text: &str| text.chars().all(|c| c == '\n' || !(c.is_control() || c == '\u{202e}'));
    for (file, expected_error) in write_invalid_files(&root.path().join("project")) {
        let (out, err, code) = run_headless(&service, Setup::with_home(&root, &["-p", "-c", "--answers", file])).await;
        assert!(code == 2 && out.is_empty(), "{file}: {code} {out} {err}");
        assert!(err.contains(expected_error) && harmless(&err), "{file}: {err:?}");
        assert!(err.len() < 2_000, "{file}: an error of {} bytes", err.len());
        assert!(read_session_file(root.path()) == before, "{file} changed the session");
    }
    // A byte order mark is accepted.
    let setup = Setup::with_home(&root, &["-p", "-c", "--answers", "marked"]);
    let (out, err, code) = run_headless(&service, setup.with_file("marked", "\u{feff}{\"clock\": \"real\"}")).await;
    assert_eq!((out.as_str(), code), ("Good.\n", 0), "{err}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r16_refuses_invalid_answers_before_sending_a_request() {
    let service = Service::start([]).await;
    let setup = Setup::new(&["-p", "go"]);
    let root = setup.root.clone();
    for (file, expected_error) in write_invalid_files(&root.path().join("project")) {
        // An error about the question itself is only found once the question is asked.
        if expected_error.starts_with("clock") || expected_error.starts_with("no question has") {
            continue;
        }
        let (out, err, code) = run_headless(&service, Setup::with_home(&root, &["-p", "go", "--answers", file])).await;
        assert!(code == 2 && out.is_empty() && err.contains(expected_error), "{file}: {code} {out} {err}");
    }
    assert_eq!(service.received().len(), 0, "no request was sent");
    let started = std::fs::read_dir(root.path().join("home/aye/data/sessions")).map_or(0, |folder| folder.count());
    assert_eq!(started, 0, "no session was started");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn reads_answers_from_a_slow_pipe() {
    let service = Service::start([question_reply(), text_answer("Good.")]).await;
    let setup = Setup::new(&["-p", "go"]);
    let root = setup.root.clone();
    assert_eq!(run_headless(&service, setup).await.2, 3);
    // As a shell does for `<(…)`: both ends are open before the program starts, and the text arrives later.
    let script = "exec 3<>\"$0\"; (sleep 0.3; printf '{\"clock\": \"real\"}' >&3) & exec 4<\"$0\" 3>&-; \"$@\" 3>&-";
    let project = root.path().join("project");
    let pipe = project.join("slow");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let base = service.base_url.clone();
    let home = root.path().join("home/aye");
    let output = tokio::task::spawn_blocking(move || {
        Command::new("sh")
            .args(["-c", script])
            .arg(&pipe)
            .arg(crate::support::program::program())
            .args(["-p", "-c", "--answers", "slow"])
            .env_clear()
            .env("PATH", "/usr/bin:/bin")
            .env("AYE_HOME", home)
            .env("OPENAI_BASE_URL", base)
            .env("OPENAI_API_KEY", "k")
            .env("AYE_MODEL", "m")
            .current_dir(project)
            .stdin(std::process::Stdio::null())
            .output()
            .unwrap()
    })
    .await
    .unwrap();
    let err = String::from_utf8_lossy(&output.stderr);
    assert_eq!((String::from_utf8_lossy(&output.stdout).as_ref(), output.status.code()), ("Good.\n", Some(0)), "{err}");
}
