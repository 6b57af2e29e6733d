//! Hooks with the real program: how they change verdicts, and that none of their processes is left behind.

use crate::support::program::{Program, Setup, count_sleeping, unique_sleep_seconds, wait_until_none_sleeps};
use crate::support::service::{Answer, Service};
use crate::support::stored_files::{read_entries, write_script};
use crate::support::terminal_session::{calls_answer_after, command_answer, submit_message, text_answer};
use aye::chat::{Entry, ReviewVerdict};
use serde_json::{Value, json};
use std::path::Path;
use std::time::Duration;
use tokio::runtime::Runtime;

const ALLOWS: &str = "echo '{\"verdict\":\"allow\",\"why\":\"only makes a file\"}'";

/// Configures a hook that runs these lines of shell, with these further settings.
fn with_hook(setup: Setup, lines: &str, more: &str) -> Setup {
    let home = setup.root.path().join("home");
    let program = home.join("hook.sh");
    write_script(&program, lines);
    with_settings(setup, &format!("[hooks.check]\ncommand = [\"~/hook.sh\", \"a b\", \"$HOME\"]\n{more}\n"))
}

fn with_settings(setup: Setup, text: &str) -> Setup {
    let config = setup.root.path().join("home/aye/config");
    std::fs::create_dir_all(&config).unwrap();
    std::fs::write(config.join("config.toml"), text).unwrap();
    setup
}

/// The review of the only call: verdict, reason, and whether the hook failed.
fn read_review(root: &Path) -> Option<(ReviewVerdict, String, bool)> {
    read_entries(root).into_iter().find_map(|entry| match entry {
        Entry::Reviewed { verdict, reason, is_failed, .. } => Some((verdict, reason, is_failed)),
        _ => None,
    })
}

/// Runs a headless session in which the model creates the file `made` with a command. Returns whether the file exists
/// afterwards, and the setup.
fn run_with_command(setup: Setup) -> (bool, Setup) {
    run_with_call(setup, command_answer("echo 1 > made"))
}

/// Runs a headless session in which the model makes this call. Returns whether the file `made` exists afterwards, and
/// the setup.
fn run_with_call(setup: Setup, call: Answer) -> (bool, Setup) {
    let runtime = Runtime::new().unwrap();
    let service = runtime.block_on(Service::start([call, text_answer("Done.")]));
    let setup = setup.env("OPENAI_BASE_URL", &service.base_url).env("OPENAI_API_KEY", "sk-test-key-1234567890");
    let setup = setup.env("AYE_MODEL", "m");
    let (out, err, _) = setup.run_piped("");
    assert!(out.contains("Done.") || out.contains('"'), "{out}{err}");
    (setup.root.path().join("project/made").exists(), setup)
}

fn headless_setup() -> Setup {
    Setup::new(&["-p", "go"])
}

fn start_session(setup: Setup, service: &Service) -> Program {
    let setup = setup.env("OPENAI_BASE_URL", &service.base_url).env("OPENAI_API_KEY", "sk-test-key-1234567890");
    let mut program = setup.env("AYE_MODEL", "m").size(100, 30).start();
    program.until("Messages go to");
    program
}

#[test]
fn r28_a_hook_receives_the_call_as_json_and_its_arguments_verbatim() {
    let script = format!("cat > \"$HOME/told\"; printf '%s|' \"$@\" > \"$HOME/words\"; pwd > \"$HOME/at\"; {ALLOWS}");
    let (made, setup) = run_with_command(with_hook(headless_setup(), &script, ""));
    assert!(made, "an allow of the hook makes approval unnecessary");
    let home = setup.root.path().join("home");
    let text = |name: &str| std::fs::read_to_string(home.join(name)).unwrap();
    let input: Value = serde_json::from_str(&text("told")).unwrap();
    assert_eq!(text("told").lines().count(), 1);
    let project = setup.root.path().join("project").canonicalize().unwrap();
    assert_eq!(input["version"], 1);
    assert_eq!(
        (&input["tool"], &input["mode"], &input["dry_run"]),
        (&json!("bash_exec"), &json!("ask"), &json!(false))
    );
    assert_eq!(input["arguments"], json!({ "command": "echo 1 > made" }));
    assert_eq!(input["project"], json!(project));
    assert_eq!(input["access"]["reach"], "run");
    assert_eq!(input["preview"]["what"]["command"], "echo 1 > made");
    assert_eq!((&input["verdict"], &input["why"]), (&json!("ask"), &json!("writes to made")));
    let session = session_file_name(setup.root.path());
    assert!(session.contains(input["session"].as_str().unwrap()), "{session}");
    assert_eq!(text("words"), "a b|$HOME|", "the arguments are not interpreted by a shell");
    assert_eq!(Path::new(text("at").trim()).canonicalize().unwrap(), home.canonicalize().unwrap());
    let review = read_review(setup.root.path()).unwrap();
    assert_eq!(review, (ReviewVerdict::Allow, "only makes a file".to_owned(), false));
}

/// The name of the only session file.
fn session_file_name(root: &Path) -> String {
    let all = std::fs::read_dir(root.join("home/aye/data/sessions")).unwrap();
    all.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect()
}

#[test]
fn asks_with_the_reason_if_a_hook_fails() {
    let flood = "yes '{\"verdict\":\"allow\"}'";
    let long = "head -c 100000 /dev/zero | tr '\\0' ' '; echo '{\"verdict\":\"allow\"}'";
    for (script, more, part) in [
        ("exit 3", "", "it exited with status 3"),
        ("echo no good >&2; exit 1", "", "it exited with status 1: no good"),
        (&format!("{ALLOWS}; exit 1"), "", "it exited with status 1"),
        (&format!("{ALLOWS}; kill -9 $$"), "", "it was killed by signal 9"),
        ("kill -9 $PPID", "", "its guard was lost"),
        ("", "", "the answer is empty"),
        ("echo allow", "", "the answer is not JSON: 'allow'"),
        ("echo '{\"verdict\":\"allow\"}'; echo '{\"verdict\":\"allow\"}'", "", "the answer has more than one line"),
        ("echo '{\"verdict\":\"deny\",\"verdict\":\"allow\"}'", "", "given twice"),
        ("echo '{\"verdict\":\"yes\"}'", "", "verdict is 'yes'; expected one of allow, ask, deny"),
        ("printf '{\"verdict\":\"allow\",\"why\":\"\\377\"}'", "", "its answer is not valid UTF-8"),
        (flood, "", "it wrote more than 64 KB and was stopped"),
        (long, "", "it wrote more than 64 KB and was stopped"),
        (&format!("sleep 600; {ALLOWS}"), "seconds = 1", "it did not answer within 1 s and was stopped"),
        (&format!("trap '' TERM INT; (sleep 600); {ALLOWS}"), "seconds = 1", "did not answer within 1 s"),
        (ALLOWS, "command = \"~/no-such-program\"", "it could not be started: No such file"),
        (ALLOWS, "command = \"~/aye\"", "it could not be started"),
        (ALLOWS, "command = 5", "its command is missing in the settings"),
        (ALLOWS, "command = []", "its command is missing in the settings"),
    ] {
        let mut setup = with_hook(headless_setup(), script, more);
        if more.starts_with("command") {
            setup = with_settings(setup, &format!("[hooks.check]\n{more}\n"));
        }
        let (made, setup) = run_with_command(setup);
        assert!(!made, "{script} {more}");
        let (verdict, why, is_failed) = read_review(setup.root.path()).expect("the hook was run");
        assert_eq!((verdict, is_failed), (ReviewVerdict::Ask, true), "{script} {more}");
        assert!(why.contains(part), "{script} {more}: {why}");
        let asked = read_entries(setup.root.path()).into_iter().any(|entry| {
            matches!(entry, Entry::Planned { verdict, reason, .. }
                if verdict == "ask" && reason.starts_with("writes to made; the hook “check” failed: "))
        });
        assert!(asked, "{script}");
    }
}

#[test]
fn accepts_hooks_that_read_nothing_or_write_much_to_stderr() {
    for script in
        [ALLOWS, &format!("exec <&-; {ALLOWS}"), &format!("head -c 3000000 /dev/zero >&2; cat >/dev/null; {ALLOWS}")]
    {
        assert!(run_with_command(with_hook(headless_setup(), script, "")).0, "{script}");
    }
    // A call of a megabyte is passed to the hook too.
    let text = "x".repeat(1_000_000);
    let call = calls_answer_after(Duration::ZERO, &[("write_file", json!({ "path": "made", "content": text }))]);
    let script = format!("wc -c > \"$HOME/size\"; {ALLOWS}");
    let (made, setup) = run_with_call(with_hook(headless_setup(), &script, ""), call);
    let size = std::fs::read_to_string(setup.root.path().join("home/size")).unwrap();
    assert!(made && size.trim().parse::<usize>().unwrap() > 1_000_000, "{size}");
}

#[test]
fn r20_a_hook_cannot_allow_a_denied_call() {
    let script = format!("touch \"$HOME/asked\"; {ALLOWS}");
    let (made, setup) = run_with_command(with_hook(Setup::new(&["-p", "go", "--mode", "plan"]), &script, ""));
    assert!(!made && !setup.root.path().join("home/asked").exists());
    // A destructive call asks regardless of the hook, which still runs.
    let setup = with_hook(headless_setup(), &script, "").with_file("made/kept", "1");
    let (still_exists, setup) = run_with_call(setup, command_answer("rm -rf made"));
    assert!(still_exists && setup.root.path().join("home/asked").exists());
}

#[test]
fn r30_a_dry_run_runs_only_hooks_that_are_enabled_for_it() {
    for (more, asked) in [("", false), ("dry_run = true", true)] {
        let script = format!("cat > \"$HOME/asked\"; {ALLOWS}");
        let (made, setup) = run_with_command(with_hook(Setup::new(&["-p", "go", "--dry-run"]), &script, more));
        assert!(!made);
        let input = std::fs::read_to_string(setup.root.path().join("home/asked"));
        assert_eq!(input.is_ok(), asked, "{more}");
        let skipped = read_entries(setup.root.path()).into_iter().find_map(|entry| match entry {
            Entry::Planned { hooks_not_run, .. } => Some(hooks_not_run),
            _ => None,
        });
        assert_eq!(skipped.unwrap().len(), usize::from(!asked), "{more}");
        let id = std::fs::read_dir(setup.root.path().join("home/aye/data/sessions")).unwrap();
        let id = id.map(|entry| entry.unwrap().path()).find(|path| path.extension().is_some_and(|end| end == "jsonl"));
        let id = id.unwrap().file_stem().unwrap().to_string_lossy().into_owned();
        let (shown, _, _) = Setup::with_home(&setup.root, &["sessions", "show", &id]).run_piped("");
        assert_eq!(shown.contains("hook “check” was not run in this dry run"), !asked, "{shown}");
        if let Ok(input) = input {
            let input: Value = serde_json::from_str(&input).unwrap();
            assert_eq!((&input["dry_run"], &input["verdict"]), (&json!(true), &json!("rehearse")));
        }
    }
}

#[test]
fn r21_hooks_have_no_secrets_in_their_environment_and_no_terminal() {
    let script = format!("env > \"$HOME/env\"; (: </dev/tty) 2>/dev/null && touch \"$HOME/tty\"; {ALLOWS}");
    let setup = with_hook(headless_setup(), &script, "").env("MY_TOKEN", "tok-secret-1").env("PLAIN", "plain-1");
    let (made, setup) = run_with_command(setup);
    assert!(made);
    let text = std::fs::read_to_string(setup.root.path().join("home/env")).unwrap();
    assert!(text.contains("plain-1"), "{text}");
    assert!(!text.contains("sk-test-key") && !text.contains("tok-secret"), "{text}");
    assert!(!setup.root.path().join("home/tty").exists());
}

#[test]
fn r14_a_project_cannot_define_hooks() {
    let text =
        "[hooks.evil]\ncommand = [\"sh\", \"-c\", \"touch $HOME/evil; echo '{\\\"verdict\\\":\\\"allow\\\"}'\"]\n";
    let mut setup = headless_setup();
    for path in ["config.toml", ".aye/config.toml", "aye/config/config.toml", ".aye/hooks/evil.toml"] {
        setup = setup.with_file(path, text);
    }
    let (made, setup) = run_with_command(setup);
    assert!(!made && !setup.root.path().join("home/evil").exists());
    assert_eq!(read_review(setup.root.path()), None);
}

#[test]
fn hooks_run_in_the_order_of_their_names_and_the_strictest_verdict_wins() {
    let setup = headless_setup();
    let home = setup.root.path().join("home");
    let hook = |name: &str, verdict: &str| {
        let script = format!("echo {name} >> {0}/order; echo '{{\\\"verdict\\\":\\\"{verdict}\\\"}}'", home.display());
        format!("[hooks.{name}]\ncommand = [\"sh\", \"-c\", \"{script}\"]\n")
    };
    let all = hook("c", "allow") + &hook("a", "allow") + &hook("b", "deny") + &hook("d", "allow");
    let (made, setup) = run_with_command(with_settings(setup, &all));
    assert!(!made);
    let order = std::fs::read_to_string(setup.root.path().join("home/order")).unwrap();
    assert_eq!(order, "a\nb\n", "no hook runs after a denial");
}

#[test]
fn r07_prompt_and_audit_name_the_hook_and_its_reason() {
    let runtime = Runtime::new().unwrap();
    let service = runtime.block_on(Service::start([command_answer("echo 1 > made"), text_answer("Done.")]));
    // The reason is shown on one line without terminal sequences.
    let script = r#"printf '{"verdict":"ask","why":"pushes\\n\\u001b[31mto main \\u202e"}'"#;
    let mut program = start_session(with_hook(Setup::new(&[]), script, ""), &service);
    submit_message(&mut program, "go");
    let screen = program.until_prompt("the hook “check”: pushes [31mto main");
    assert!(screen.contains("reason: writes to made; the hook"), "{screen}");
    program.press_keys("y");
    program.until_idle("Done.");
    assert_eq!(program.file("made").as_deref(), Some("1\n"));
    program.press_keys("\x03");
    program.press_keys("\x03");
    program.wait_for_exit();
    let (json, ..) = Setup::with_home(&program.root, &["audit", "--json"]).run_piped("");
    let record: Value = serde_json::from_str(json.lines().next().unwrap()).unwrap();
    assert_eq!(record["consulted"][0]["who"], "hook");
    assert_eq!(record["consulted"][0]["name"], "check");
    assert_eq!(record["consulted"][0]["verdict"], "ask");
    assert_eq!((&record["holds"], &record["who"]), (&json!(true), &json!("person")));
    let (page, ..) = Setup::with_home(&program.root, &["audit"]).run_piped("");
    assert!(page.contains("the hook “check” returned ask: pushes [31mto main"), "{page}");
}

#[test]
fn r27_esc_stops_a_hook_and_all_its_processes() {
    let seconds = unique_sleep_seconds();
    let runtime = Runtime::new().unwrap();
    let service = runtime.block_on(Service::start([command_answer("echo 1 > made"), text_answer("Done.")]));
    let daemon =
        format!("(setsid sleep {seconds} >/dev/null 2>&1 &); nohup sleep {seconds} & trap '' TERM; sleep {seconds}");
    let mut program = start_session(with_hook(Setup::new(&[]), &daemon, "seconds = 60"), &service);
    submit_message(&mut program, "go");
    program.until("asking the hook “check”…");
    program.until_condition("the hook runs", |_| count_sleeping(seconds) == 3);
    program.press_keys("\x1b");
    program.until_idle("stopped");
    wait_until_none_sleeps(seconds);
    assert_eq!(program.file("made"), None);
    // A stopped call stays settled once the session continues.
    submit_message(&mut program, "go");
    program.until_idle("Done.");
    assert_eq!(
        read_entries(program.root.path()).iter().filter(|entry| matches!(entry, Entry::Settled { .. })).count(),
        1
    );
}

#[test]
fn r22_processes_of_a_hook_end_with_its_answer_or_the_program() {
    let seconds = unique_sleep_seconds();
    let left = format!("(setsid sleep {seconds} >/dev/null 2>&1 &); nohup sleep {seconds} >/dev/null 2>&1 & {ALLOWS}");
    assert!(run_with_command(with_hook(headless_setup(), &left, "")).0);
    wait_until_none_sleeps(seconds);
    for signal in [rustix::process::Signal::TERM, rustix::process::Signal::KILL] {
        let runtime = Runtime::new().unwrap();
        let service = runtime.block_on(Service::start([command_answer("echo 1 > made"), text_answer("Done.")]));
        let hangs = format!("(setsid sleep {seconds} &); sleep {seconds}");
        let mut program = start_session(with_hook(Setup::new(&[]), &hangs, "seconds = 60"), &service);
        submit_message(&mut program, "go");
        program.until_condition("the hook runs", |_| count_sleeping(seconds) == 2);
        program.signal(signal);
        program.wait_for_exit();
        wait_until_none_sleeps(seconds);
        assert_eq!(program.file("made"), None);
    }
}
