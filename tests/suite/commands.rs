//! Commands as they really run, by the real program: what they give back, and that nothing of them stays.

use crate::support::folder::Folder;
use crate::support::hand::PATIENCE;
use crate::support::promise::kept;
use aye::chat::CommandLine;
use aye::project::output::CommandProgress;
use aye::project::shell::{CommandOutcome, OUTPUT_LIMIT, Shell};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const AYE: &str = env!("CARGO_BIN_EXE_aye");

fn line(command: &str, seconds: u64) -> CommandLine {
    CommandLine { command: command.to_owned(), folder: std::env::temp_dir(), seconds, ..CommandLine::default() }
}

async fn ran(command: &str) -> CommandOutcome {
    Shell::new(AYE.into()).run_command(&line(command, 20), &|_| {}).await.expect("the command starts")
}

/// A word that only the processes of one test have in their command line or environment.
fn mark(name: &str) -> String {
    format!("aye-mark-{}-{name}", std::process::id())
}

/// How many processes carry the mark in their environment. The guard carries it too.
fn marked(mark: &str) -> usize {
    let carries = |path: PathBuf| {
        std::fs::read(path).is_ok_and(|bytes| bytes.windows(mark.len()).any(|part| part == mark.as_bytes()))
    };
    let own = std::process::id().to_string();
    std::fs::read_dir("/proc")
        .expect("there is a /proc")
        .flatten()
        .filter(|entry| entry.file_name().to_string_lossy() != own.as_str())
        .filter(|entry| carries(entry.path().join("environ")) || carries(entry.path().join("cmdline")))
        .count()
}

async fn none_left(mark: &str, within: Duration) {
    let start = Instant::now();
    while marked(mark) > 0 {
        assert!(kept(within, start.elapsed()), "{} processes still run", marked(mark));
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

async fn until_there(path: &Path) {
    let start = Instant::now();
    while !path.exists() {
        assert!(start.elapsed() < PATIENCE, "{} never came", path.display());
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

async fn until_marked(mark: &str) {
    let start = Instant::now();
    while marked(mark) < 6 {
        assert!(start.elapsed() < PATIENCE, "{} processes run", marked(mark));
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

/// Starts one process of each kind that likes to stay behind, then says so by making the file `ready`.
fn stragglers(mark: &str, ready: &Path, then: &str) -> String {
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
async fn the_exit_status_is_the_commands_own() {
    for (command, exit, signal) in [
        ("true", Some(0), None),
        ("exit 3", Some(3), None),
        ("exit 137", Some(137), None),
        ("no-such-program-here", Some(127), None),
        ("kill -9 $$", None, Some(9)),
        ("kill -TERM $$", None, Some(15)),
    ] {
        let ran = ran(command).await;
        assert_eq!((ran.exit, ran.signal, ran.timed_out), (exit, signal, false), "{command}");
    }
}

#[tokio::test]
async fn both_outputs_come_in_the_order_they_were_written() {
    let ran = ran("echo one; echo two >&2; echo three; echo four >&2").await;
    assert_eq!(ran.output, "one\ntwo\nthree\nfour\n");
    assert_eq!(ran.omitted, 0);
}

#[tokio::test]
async fn it_runs_in_its_folder_and_gets_the_command_as_it_is() {
    let folder = Folder::new();
    let command = "pwd -P; printf '%s|' \"a  b\" '$HOME' -- \"quo'te\"";
    let line =
        CommandLine { command: command.into(), folder: folder.path().into(), seconds: 20, ..CommandLine::default() };
    let ran = Shell::new(AYE.into()).run_command(&line, &|_| {}).await.unwrap();
    let real = folder.path().canonicalize().unwrap();
    assert_eq!(ran.output, format!("{}\na  b|$HOME|--|quo'te|", real.display()));
    let nowhere = CommandLine { folder: folder.path().join("gone"), ..line };
    let error = Shell::new(AYE.into()).run_command(&nowhere, &|_| {}).await.unwrap_err();
    assert!(error.to_string().starts_with("there is no folder"), "{error}");
}

#[tokio::test]
async fn r21_there_is_no_keyboard_and_no_terminal() {
    let ran = ran("cat; (: </dev/tty) 2>/dev/null && echo terminal || echo none; echo $TERM $PAGER").await;
    assert_eq!(ran.output, "none\ndumb cat\n");
}

/// Runs one test of this suite again, as a program of its own, with something in its environment.
fn again(test: &str, name: &str, value: &str) {
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
        return again("r21_secrets_are_not_in_the_environment", "MY_API_KEY", "hunter2");
    }
    // The guard's own environment is open to its children, so it must not hold them either.
    let ran = ran("env; tr '\\0' '\\n' </proc/$PPID/environ").await;
    assert!(!ran.output.contains("hunter2"));
    assert!(ran.output.contains("PATH=") && ran.output.contains("PAGER=cat"), "{}", ran.output);
}

#[tokio::test]
async fn r22_a_command_has_a_session_and_a_group_of_its_own_and_no_terminal() {
    let ran = ran("cat /proc/$$/stat; tty").await;
    let fields = |stat: &str| -> Vec<i32> {
        let behind = stat.rsplit(')').next().unwrap().lines().next().unwrap();
        behind.split_whitespace().skip(1).take(4).map(|field| field.parse().unwrap()).collect()
    };
    let own = fields(&std::fs::read_to_string("/proc/self/stat").unwrap());
    let [_, group, session, terminal] = fields(&ran.output)[..] else { panic!("{}", ran.output) };
    assert!(group != own[1] && session != own[2] && terminal == 0, "{} and {own:?}", ran.output);
    assert!(ran.output.contains("not a tty"), "{}", ran.output);
}

#[tokio::test]
async fn r22_a_command_whose_time_is_up_is_ended_with_all_it_started() {
    let (mark, folder) = (mark("time"), Folder::new());
    let command = stragglers(&mark, &folder.path().join("ready"), "echo before; sleep 305");
    // A busy machine may need longer to come to the point.
    for seconds in [1, 5, 25] {
        let start = Instant::now();
        let ran = Shell::new(AYE.into()).run_command(&line(&command, seconds), &|_| {}).await.unwrap();
        assert!(ran.timed_out);
        assert!(ran.exit.is_some() || ran.signal.is_some());
        assert!(kept(Duration::from_secs(seconds + 3), start.elapsed()), "{:?}", start.elapsed());
        assert_eq!(marked(&mark), 0);
        if seconds == 25 || ran.output.contains("before") {
            assert_eq!(ran.output, "before\n");
            break;
        }
    }
}

#[tokio::test]
async fn r22_what_listens_to_term_may_still_say_goodbye() {
    let command = "trap 'sleep 0.5; echo goodbye; exit 7' TERM; echo on; while :; do sleep 0.1; done";
    // A busy machine may need longer until it listens.
    for seconds in [1, 5, 25] {
        let ran = Shell::new(AYE.into()).run_command(&line(command, seconds), &|_| {}).await.unwrap();
        if seconds == 25 || ran.output.starts_with("on") {
            assert_eq!((ran.exit, ran.timed_out), (Some(7), true));
            assert!(ran.output.ends_with("goodbye\n"), "{}", ran.output);
            break;
        }
    }
}

#[tokio::test]
async fn r22_what_a_command_leaves_in_the_background_ends_with_it() {
    let (mark, folder) = (mark("background"), Folder::new());
    let ran = ran(&stragglers(&mark, &folder.path().join("ready"), "echo done; exit 4")).await;
    assert_eq!((ran.exit, ran.timed_out), (Some(4), false));
    assert!(ran.output.contains("done"));
    assert!(kept(Duration::from_secs(3), ran.duration), "{:?}", ran.duration);
    assert_eq!(marked(&mark), 0);
}

#[tokio::test]
async fn r22_dropping_the_command_leaves_nothing() {
    let (mark, folder) = (mark("drop"), Folder::new());
    let ready = folder.path().join("ready");
    let command = stragglers(&mark, &ready, "wait");
    let task = tokio::spawn(async move { Shell::new(AYE.into()).run_command(&line(&command, 100), &|_| {}).await });
    until_there(&ready).await;
    until_marked(&mark).await;
    task.abort();
    none_left(&mark, Duration::from_secs(3)).await;
}

#[tokio::test]
async fn r22_killing_the_parent_leaves_nothing() {
    let (mark, folder) = (mark("parent"), Folder::new());
    let ready = folder.path().join("ready");
    // A parent that holds the lifeline and does nothing else, so that only its death can cut it.
    let mut parent = Command::new("bash")
        .args(["-c", "coproc guard { exec \"$0\" guard -- bash -c \"$1\" 2>/dev/null; }; wait", AYE])
        .arg(stragglers(&mark, &ready, "wait"))
        .spawn()
        .unwrap();
    until_there(&ready).await;
    until_marked(&mark).await;
    parent.kill().unwrap();
    parent.wait().unwrap();
    none_left(&mark, Duration::from_secs(3)).await;
}

#[tokio::test]
async fn r22_a_command_that_kills_its_guard_is_ended_all_the_same() {
    let mark = mark("patricide");
    let start = Instant::now();
    let ran = ran(&format!("export MARK={mark}; sleep 300 & kill -9 $PPID; sleep 301")).await;
    assert_eq!(ran.exit, None);
    assert!(kept(Duration::from_secs(3), start.elapsed()), "{:?}", start.elapsed());
    none_left(&mark, Duration::from_secs(1)).await;
}

#[tokio::test]
async fn r22_a_command_that_puts_its_guard_to_sleep_is_ended_all_the_same() {
    let (mark, folder) = (mark("sleepy"), Folder::new());
    let ready = folder.path().join("ready");
    let command = stragglers(&mark, &ready, "kill -STOP $PPID; sleep 300");
    let run = line(&command, 1);
    let task = tokio::spawn(async move { Shell::new(AYE.into()).run_command(&run, &|_| {}).await.unwrap() });
    let ran = task.await.unwrap();
    assert!(ran.timed_out && kept(Duration::from_secs(4), ran.duration), "{:?}", ran.duration);
    assert_eq!(marked(&mark), 0);
    std::fs::remove_file(&ready).unwrap();
    let task = tokio::spawn(async move { Shell::new(AYE.into()).run_command(&line(&command, 100), &|_| {}).await });
    until_there(&ready).await;
    until_marked(&mark).await;
    task.abort();
    none_left(&mark, Duration::from_secs(3)).await;
}

#[tokio::test]
async fn a_command_no_system_would_take_is_refused_in_words() {
    let shell = Shell::new(AYE.into());
    assert_eq!(ran(&format!("true {}", "x".repeat(131_000))).await.exit, Some(0));
    for command in ["x".repeat(131_072), "a\0b".to_owned()] {
        let error = shell.run_command(&line(&command, 5), &|_| {}).await.unwrap_err().to_string();
        assert!(error.starts_with("the command cannot be run: "), "{error}");
    }
}

#[tokio::test]
async fn r23_a_flood_is_bounded_and_counted() {
    let ran = ran("yes | head -c 200000000").await;
    assert_eq!(ran.exit, Some(0));
    assert!(ran.output.len() < 70_000, "{}", ran.output.len());
    assert!(ran.omitted > 199_900_000);
    assert!(ran.output.contains(&format!("[{} bytes omitted]", ran.omitted)));
}

#[tokio::test]
async fn r23_a_flood_without_end_is_ended() {
    let ran = Shell::new(AYE.into()).run_command(&line("cat /dev/zero", 120), &|_| {}).await.unwrap();
    assert!(ran.exceeded_output && !ran.timed_out && ran.exit.is_none());
    assert!(ran.omitted >= OUTPUT_LIMIT - 70_000);
    assert!(ran.output.len() < 70_000);
}

#[tokio::test]
async fn r23_one_endless_line_of_no_text_is_bounded_too() {
    let ran = ran("printf 'start'; head -c 3000000 /dev/zero; printf '\\xff\\xfe\\xc3end'").await;
    assert!(ran.output.starts_with("start\0"));
    assert!(ran.output.ends_with("\u{fffd}\u{fffd}\u{fffd}end"));
    assert!(ran.output.len() < 70_000);
}

#[tokio::test]
async fn progress_is_the_latest_and_never_too_often() {
    let (seen, folder) = (std::sync::Mutex::new(Vec::new()), Folder::new());
    let last = folder.path().join("last");
    let more = std::sync::Mutex::new(String::new());
    let note = |shown: CommandProgress<'_>| {
        let text = shown.latest;
        more.lock().unwrap().push_str(shown.new_output);
        seen.lock().unwrap().push(text.to_owned());
        if text.ends_with("line 60\n") {
            std::fs::write(&last, "").unwrap();
        }
    };
    // It goes on until its last line was seen.
    let command = format!(
        "for n in $(seq 1 60); do echo line $n; sleep 0.01; done; until test -e {}; do sleep 0.05; done",
        last.display()
    );
    let began = Instant::now();
    let ran = Shell::new(AYE.into()).run_command(&line(&command, 60), &note).await.unwrap();
    assert!(!ran.timed_out, "the last line was never told");
    let (seen, most) = (seen.into_inner().unwrap(), began.elapsed().as_millis() / 99 + 1);
    assert!(seen.len() >= 3 && seen.len() as u128 <= most, "{} in {:?}", seen.len(), began.elapsed());
    assert!(seen.iter().all(|text| text.len() <= 2048 + 3));
    let more = more.into_inner().unwrap();
    assert!(ran.output.starts_with(&more) && more.ends_with("line 60\n"), "{more}");
}

#[test]
fn a_guard_with_nobody_at_the_lifeline_ends_at_once() {
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
    assert!(kept(Duration::from_secs(1), start.elapsed()), "{:?}", start.elapsed());
}
