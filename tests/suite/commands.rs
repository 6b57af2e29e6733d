//! Commands as the real program runs them: their results, and that none of their processes is left behind.

use crate::support::folder::Folder;
use crate::support::keyboard::PATIENCE;
use crate::support::processes::read_process_files;
use crate::support::time_limits::is_within_limit;
use aye::chat::CommandLine;
use aye::project::output::CommandProgress;
use aye::project::shell::{CommandOutcome, OUTPUT_LIMIT, Shell};
use std::collections::BTreeSet;
use std::io::{Read, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const AYE: &str = env!("CARGO_BIN_EXE_aye");

fn make_line(command: &str, seconds: u64) -> CommandLine {
    CommandLine { command: command.to_owned(), folder: std::env::temp_dir(), seconds, ..CommandLine::default() }
}

async fn run(command: &str) -> CommandOutcome {
    Shell::new(AYE.into()).run_command(&make_line(command, 20), &|_| {}).await.expect("the command starts")
}

/// A string that occurs only in the command lines and environments of one test's processes.
fn make_mark(name: &str) -> String {
    format!("aye-mark-{}-{name}", std::process::id())
}

/// Counts the processes with the mark in their environment or command line. The guard has it too.
fn count_marked(mark: &str) -> usize {
    let contains_mark = |bytes: &[u8]| bytes.windows(mark.len()).any(|part| part == mark.as_bytes());
    let files = ["environ", "cmdline"].into_iter().flat_map(read_process_files);
    let marked: BTreeSet<i32> = files.filter(|(_, bytes)| contains_mark(bytes)).map(|(pid, _)| pid).collect();
    marked.iter().filter(|pid| pid.unsigned_abs() != std::process::id()).count()
}

async fn wait_until_none_marked(mark: &str, within: Duration) {
    let start = Instant::now();
    while count_marked(mark) > 0 {
        assert!(is_within_limit(within, start.elapsed()), "{} processes still run", count_marked(mark));
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

async fn wait_for_file(path: &Path) {
    let start = Instant::now();
    while !path.exists() {
        assert!(start.elapsed() < PATIENCE, "{} never came", path.display());
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

/// Waits until at least 6 processes carry the mark: `make_stragglers` starts 6 kinds of them.
async fn wait_for_marked(mark: &str) {
    let start = Instant::now();
    while count_marked(mark) < 6 {
        assert!(start.elapsed() < PATIENCE, "{} processes run", count_marked(mark));
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

/// A command line that starts one process of each kind that tends to stay behind, and then creates the file `ready`.
fn make_stragglers(mark: &str, ready: &Path, then: &str) -> String {
    format!(
        "export MARK={mark}; sleep 300 & nohup sleep 301 >/dev/null 2>&1 & setsid sleep 302 & \
         (setsid bash -c 'sleep 303 & disown; sleep 304' &) ; \
         bash -c 'trap \"\" TERM INT HUP; while :; do sleep 0.2; done' & \
         setsid bash -c 'trap \"\" TERM HUP; while :; do sleep 0.2; done' & \
         sleep 0.3; touch {}; {then}",
        ready.display()
    )
}

#[tokio::test]
async fn reports_the_exit_status_of_the_command() {
    for (command, exit, signal) in [
        ("true", Some(0), None),
        ("exit 3", Some(3), None),
        ("exit 137", Some(137), None),
        ("no-such-program-here", Some(127), None),
        ("kill -9 $$", None, Some(9)),
        ("kill -TERM $$", None, Some(15)),
    ] {
        let outcome = run(command).await;
        assert_eq!((outcome.exit, outcome.signal, outcome.timed_out), (exit, signal, false), "{command}");
    }
}

#[tokio::test]
async fn keeps_the_order_of_both_outputs() {
    let outcome = run("echo one; echo two >&2; echo three; echo four >&2").await;
    assert_eq!(outcome.output, "one\ntwo\nthree\nfour\n");
    assert_eq!(outcome.omitted, 0);
}

#[tokio::test]
async fn runs_in_the_given_folder_and_keeps_quoting() {
    let folder = Folder::new();
    let command = "pwd -P; printf '%s|' \"a  b\" '$HOME' -- \"quo'te\"";
    let line =
        CommandLine { command: command.into(), folder: folder.path().into(), seconds: 20, ..CommandLine::default() };
    let outcome = Shell::new(AYE.into()).run_command(&line, &|_| {}).await.unwrap();
    let real = folder.path().canonicalize().unwrap();
    assert_eq!(outcome.output, format!("{}\na  b|$HOME|--|quo'te|", real.display()));
    let nowhere = CommandLine { folder: folder.path().join("gone"), ..line };
    let error = Shell::new(AYE.into()).run_command(&nowhere, &|_| {}).await.unwrap_err();
    assert!(error.to_string().starts_with("there is no folder"), "{error}");
}

#[tokio::test]
async fn r21_commands_have_no_stdin_and_no_terminal() {
    let outcome = run("cat; (: </dev/tty) 2>/dev/null && echo terminal || echo none; echo $TERM $PAGER").await;
    assert_eq!(outcome.output, "none\ndumb cat\n");
}

/// Runs one test of this suite again in a process with this environment variable.
fn run_test_again(test: &str, name: &str, value: &str) {
    let suite = std::env::current_exe().expect("the suite is a program");
    let output = Command::new(suite)
        .args(["--exact", &format!("commands::{test}")])
        .env("AYE_TEST_AGAIN", "1")
        .env(name, value)
        .output()
        .expect("the suite runs again");
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && text.contains("1 passed"), "{text}");
}

#[tokio::test]
async fn r21_secrets_are_not_in_the_environment() {
    if std::env::var_os("AYE_TEST_AGAIN").is_none() {
        return run_test_again("r21_secrets_are_not_in_the_environment", "MY_API_KEY", "hunter2");
    }
    // The environment of the guard is readable by its children, so it must not contain secrets either.
    let outcome = run("env; tr '\\0' '\\n' </proc/$PPID/environ").await;
    assert!(!outcome.output.contains("hunter2"));
    assert!(outcome.output.contains("PATH=") && outcome.output.contains("PAGER=cat"), "{}", outcome.output);
}

#[tokio::test]
async fn r22_commands_have_a_separate_session_and_process_group() {
    let outcome = run("cat /proc/$$/stat; tty").await;
    let fields = |stat: &str| -> Vec<i32> {
        let remaining = stat.rsplit(')').next().unwrap().lines().next().unwrap();
        remaining.split_whitespace().skip(1).take(4).map(|field| field.parse().unwrap()).collect()
    };
    let own = fields(&std::fs::read_to_string("/proc/self/stat").unwrap());
    let [_, group, session, terminal] = fields(&outcome.output)[..] else { panic!("{}", outcome.output) };
    assert!(group != own[1] && session != own[2] && terminal == 0, "{} and {own:?}", outcome.output);
    assert!(outcome.output.contains("not a tty"), "{}", outcome.output);
}

#[tokio::test]
async fn r22_a_timeout_ends_the_command_and_all_its_processes() {
    let (mark, folder) = (make_mark("time"), Folder::new());
    let command = make_stragglers(&mark, &folder.path().join("ready"), "echo before; sleep 305");
    // A busy machine may need a longer time limit to get to `echo before`.
    for seconds in [1, 5, 25] {
        let start = Instant::now();
        let outcome = Shell::new(AYE.into()).run_command(&make_line(&command, seconds), &|_| {}).await.unwrap();
        assert!(outcome.timed_out);
        assert!(outcome.exit.is_some() || outcome.signal.is_some());
        assert!(is_within_limit(Duration::from_secs(seconds + 3), start.elapsed()), "{:?}", start.elapsed());
        assert_eq!(count_marked(&mark), 0);
        if seconds == 25 || outcome.output.contains("before") {
            assert_eq!(outcome.output, "before\n");
            break;
        }
    }
}

#[tokio::test]
async fn r22_a_command_may_handle_the_term_signal() {
    let command = "trap 'sleep 0.5; echo goodbye; exit 7' TERM; echo on; while :; do sleep 0.1; done";
    // A busy machine may need a longer time limit until the trap is set.
    for seconds in [1, 5, 25] {
        let outcome = Shell::new(AYE.into()).run_command(&make_line(command, seconds), &|_| {}).await.unwrap();
        if seconds == 25 || outcome.output.starts_with("on") {
            assert_eq!((outcome.exit, outcome.timed_out), (Some(7), true));
            assert!(outcome.output.ends_with("goodbye\n"), "{}", outcome.output);
            break;
        }
    }
}

#[tokio::test]
async fn r22_background_processes_end_with_the_command() {
    let (mark, folder) = (make_mark("background"), Folder::new());
    let outcome = run(&make_stragglers(&mark, &folder.path().join("ready"), "echo done; exit 4")).await;
    assert_eq!((outcome.exit, outcome.timed_out), (Some(4), false));
    assert!(outcome.output.contains("done"));
    assert!(is_within_limit(Duration::from_secs(3), outcome.duration), "{:?}", outcome.duration);
    assert_eq!(count_marked(&mark), 0);
}

#[tokio::test]
async fn r22_dropping_the_command_ends_all_its_processes() {
    let (mark, folder) = (make_mark("drop"), Folder::new());
    let ready = folder.path().join("ready");
    drop_when_ready(make_stragglers(&mark, &ready, "wait"), &mark, &ready).await;
    wait_until_none_marked(&mark, Duration::from_secs(3)).await;
}

/// Starts the command, and drops it once it has created the file `ready` and all its processes run.
async fn drop_when_ready(command: String, mark: &str, ready: &Path) {
    let task =
        tokio::spawn(async move { Shell::new(AYE.into()).run_command(&make_line(&command, 100), &|_| {}).await });
    wait_for_file(ready).await;
    wait_for_marked(mark).await;
    task.abort();
}

/// Starts a shell that starts a guard and holds its lifeline, the pipe to the guard's stdin. Only the end of this shell
/// closes the pipe.
fn start_parent(command: &str) -> std::process::Child {
    let coprocess = "coproc guard { exec \"$0\" guard -- bash -c \"$1\" 2>/dev/null; }; wait";
    Command::new("bash").args(["-c", coprocess, AYE, command]).spawn().unwrap()
}

#[tokio::test]
async fn r22_killing_the_parent_ends_all_processes() {
    let (mark, folder) = (make_mark("parent"), Folder::new());
    let ready = folder.path().join("ready");
    let mut parent = start_parent(&make_stragglers(&mark, &ready, "wait"));
    wait_for_file(&ready).await;
    wait_for_marked(&mark).await;
    parent.kill().unwrap();
    parent.wait().unwrap();
    wait_until_none_marked(&mark, Duration::from_secs(3)).await;
}

#[tokio::test]
async fn r22_a_command_that_kills_its_guard_still_ends() {
    let mark = make_mark("patricide");
    let start = Instant::now();
    let outcome = run(&format!("export MARK={mark}; sleep 300 & kill -9 $PPID; sleep 301")).await;
    assert_eq!(outcome.exit, None);
    assert!(is_within_limit(Duration::from_secs(3), start.elapsed()), "{:?}", start.elapsed());
    wait_until_none_marked(&mark, Duration::from_secs(1)).await;
}

#[tokio::test]
async fn r22_a_command_that_stops_its_guard_still_ends() {
    let (mark, folder) = (make_mark("sleepy"), Folder::new());
    let ready = folder.path().join("ready");
    let command = make_stragglers(&mark, &ready, "kill -STOP $PPID; sleep 300");
    let run = make_line(&command, 1);
    let task = tokio::spawn(async move { Shell::new(AYE.into()).run_command(&run, &|_| {}).await.unwrap() });
    let outcome = task.await.unwrap();
    assert!(outcome.timed_out && is_within_limit(Duration::from_secs(4), outcome.duration), "{:?}", outcome.duration);
    assert_eq!(count_marked(&mark), 0);
}

/// Stops the guard first, and then creates the file `ready`.
const STOP_ONCE: &str = "kill -STOP $PPID; touch $READY; wait";
/// Also stops the guard each time it was resumed.
const STOP_REPEATEDLY: &str =
    "trap '' TERM; kill -STOP $PPID; touch $READY; while :; do sleep 0.01; kill -STOP $PPID; done";

#[tokio::test]
async fn r22_dropping_a_command_that_stops_its_guard_ends_all_its_processes() {
    for (name, stop) in [("once", STOP_ONCE), ("repeatedly", STOP_REPEATEDLY)] {
        let (mark, folder) = (make_mark(name), Folder::new());
        let ready = folder.path().join("ready");
        let then = format!("READY={}; {stop}", ready.display());
        drop_when_ready(make_stragglers(&mark, &folder.path().join("started"), &then), &mark, &ready).await;
        wait_until_none_marked(&mark, Duration::from_secs(10)).await;
    }
}

#[tokio::test]
async fn r22_killing_the_parent_of_a_stopped_guard_ends_all_processes() {
    let (mark, folder) = (make_mark("bereft"), Folder::new());
    let ready = folder.path().join("ready");
    let then = format!("READY={}; {STOP_ONCE}", ready.display());
    let mut parent = start_parent(&make_stragglers(&mark, &folder.path().join("started"), &then));
    wait_for_file(&ready).await;
    wait_for_marked(&mark).await;
    parent.kill().unwrap();
    parent.wait().unwrap();
    wait_until_none_marked(&mark, Duration::from_secs(10)).await;
}

#[tokio::test]
async fn refuses_a_command_that_the_system_would_not_accept() {
    let shell = Shell::new(AYE.into());
    assert_eq!(run(&format!("true {}", "x".repeat(131_000))).await.exit, Some(0));
    for command in ["x".repeat(131_072), "a\0b".to_owned()] {
        let error = shell.run_command(&make_line(&command, 5), &|_| {}).await.unwrap_err().to_string();
        assert!(error.starts_with("the command cannot be run: "), "{error}");
    }
}

#[tokio::test]
async fn r23_truncates_and_counts_long_output() {
    let outcome = run("yes | head -c 200000000").await;
    assert_eq!(outcome.exit, Some(0));
    assert!(outcome.output.len() < 70_000, "{}", outcome.output.len());
    assert!(outcome.omitted > 199_900_000);
    assert!(outcome.output.contains(&format!("[{} bytes omitted]", outcome.omitted)));
}

#[tokio::test]
async fn r23_ends_a_command_with_endless_output() {
    let outcome = Shell::new(AYE.into()).run_command(&make_line("cat /dev/zero", 120), &|_| {}).await.unwrap();
    assert!(outcome.exceeded_output && !outcome.timed_out && outcome.exit.is_none());
    assert!(outcome.omitted >= OUTPUT_LIMIT - 70_000);
    assert!(outcome.output.len() < 70_000);
}

#[tokio::test]
async fn r23_truncates_an_endless_binary_line() {
    let outcome = run("printf 'start'; head -c 3000000 /dev/zero; printf '\\xff\\xfe\\xc3end'").await;
    assert!(outcome.output.starts_with("start\0"));
    assert!(outcome.output.ends_with("\u{fffd}\u{fffd}\u{fffd}end"));
    assert!(outcome.output.len() < 70_000);
}

#[tokio::test]
async fn reports_the_latest_output_at_a_limited_rate() {
    let (seen, folder) = (std::sync::Mutex::new(Vec::new()), Folder::new());
    let last = folder.path().join("last");
    let more = std::sync::Mutex::new(String::new());
    let record = |progress: CommandProgress<'_>| {
        let text = progress.latest;
        more.lock().unwrap().push_str(progress.new_output);
        seen.lock().unwrap().push(text.to_owned());
        if text.ends_with("line 60\n") {
            std::fs::write(&last, "").unwrap();
        }
    };
    // The command runs until its last line was seen.
    let command = format!(
        "for n in $(seq 1 60); do echo line $n; sleep 0.01; done; until test -e {}; do sleep 0.05; done",
        last.display()
    );
    let started = Instant::now();
    let outcome = Shell::new(AYE.into()).run_command(&make_line(&command, 60), &record).await.unwrap();
    assert!(!outcome.timed_out, "the last line was never reported");
    let (seen, max_count) = (seen.into_inner().unwrap(), started.elapsed().as_millis() / 99 + 1);
    assert!(seen.len() >= 3 && seen.len() as u128 <= max_count, "{} in {:?}", seen.len(), started.elapsed());
    // At most 2048 bytes; a character that is cut at the end is replaced by U+FFFD, which has 3 bytes.
    assert!(seen.iter().all(|text| text.len() <= 2048 + 3));
    let more = more.into_inner().unwrap();
    assert!(outcome.output.starts_with(&more) && more.ends_with("line 60\n"), "{more}");
}

#[test]
fn guard_ends_at_once_if_its_lifeline_closes() {
    let mut guard = Command::new(AYE)
        .args(["guard", "--", "sh", "-c", "echo up; sleep 300"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut out = guard.stdout.take().unwrap();
    let mut up = [0; 3];
    out.read_exact(&mut up).unwrap();
    let mut lifeline = guard.stdin.take().unwrap();
    lifeline.flush().unwrap();
    drop(lifeline);
    let start = Instant::now();
    guard.wait().unwrap();
    assert!(is_within_limit(Duration::from_secs(1), start.elapsed()), "{:?}", start.elapsed());
}
