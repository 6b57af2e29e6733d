//! Programs that the person's settings name, asked about calls by the real program: what they change, and that nothing of
//! them stays.

use crate::support::kept::{entries, script};
use crate::support::program::{Program, Setup, asleep, nobody_elses_sleep, none_sleeps};
use crate::support::service::{Answer, Service};
use crate::support::talking::{calls_after, runs, say, says};
use aye::chat::{Entry, ReviewVerdict};
use serde_json::{Value, json};
use std::path::Path;
use std::time::Duration;
use tokio::runtime::Runtime;

const ALLOWS: &str = "echo '{\"verdict\":\"allow\",\"why\":\"only makes a file\"}'";

/// The program with a hook made of these lines of shell, and with these settings of it.
fn with_hook(setup: Setup, lines: &str, more: &str) -> Setup {
    let home = setup.place.path().join("home");
    let program = home.join("hook.sh");
    script(&program, lines);
    with_settings(setup, &format!("[hooks.check]\ncommand = [\"~/hook.sh\", \"a b\", \"$HOME\"]\n{more}\n"))
}

fn with_settings(setup: Setup, text: &str) -> Setup {
    let config = setup.place.path().join("home/aye/config");
    std::fs::create_dir_all(&config).unwrap();
    std::fs::write(config.join("config.toml"), text).unwrap();
    setup
}

/// What was said of the only call: the advice, why, and whether it failed.
fn advice(place: &Path) -> Option<(ReviewVerdict, String, bool)> {
    entries(place).into_iter().find_map(|entry| match entry {
        Entry::Reviewed { verdict: advice, reason: why, is_failed: failed, .. } => Some((advice, why, failed)),
        _ => None,
    })
}

/// Lets the model create a file by a command, with nobody there; whether it was made.
fn makes(setup: Setup) -> (bool, Setup) {
    makes_by(setup, runs("echo 1 > made"))
}

fn makes_by(setup: Setup, call: Answer) -> (bool, Setup) {
    let runtime = Runtime::new().unwrap();
    let service = runtime.block_on(Service::start([call, says("Done.")]));
    let setup = setup.env("OPENAI_BASE_URL", &service.base_url).env("OPENAI_API_KEY", "sk-test-key-1234567890");
    let setup = setup.env("AYE_MODEL", "m");
    let (out, err, _) = setup.print("");
    assert!(out.contains("Done.") || out.contains('"'), "{out}{err}");
    (setup.place.path().join("project/made").exists(), setup)
}

fn printing() -> Setup {
    Setup::new(&["-p", "go"])
}

fn starts(setup: Setup, service: &Service) -> Program {
    let setup = setup.env("OPENAI_BASE_URL", &service.base_url).env("OPENAI_API_KEY", "sk-test-key-1234567890");
    let mut program = setup.env("AYE_MODEL", "m").size(100, 30).start();
    program.until("Connected to");
    program
}

#[test]
fn r28_a_hook_is_told_the_call_as_json_and_gets_its_words_as_they_are() {
    let script = format!("cat > \"$HOME/told\"; printf '%s|' \"$@\" > \"$HOME/words\"; pwd > \"$HOME/at\"; {ALLOWS}");
    let (made, setup) = makes(with_hook(printing(), &script, ""));
    assert!(made, "an allow spares the ask");
    let home = setup.place.path().join("home");
    let text = |name: &str| std::fs::read_to_string(home.join(name)).unwrap();
    let told: Value = serde_json::from_str(&text("told")).unwrap();
    assert_eq!(text("told").lines().count(), 1);
    let project = setup.place.path().join("project").canonicalize().unwrap();
    assert_eq!(told["version"], 1);
    assert_eq!((&told["tool"], &told["mode"], &told["dry_run"]), (&json!("bash_exec"), &json!("ask"), &json!(false)));
    assert_eq!(told["arguments"], json!({ "command": "echo 1 > made" }));
    assert_eq!(told["project"], json!(project));
    assert_eq!(told["access"]["reach"], "run");
    assert_eq!(told["preview"]["what"]["command"], "echo 1 > made");
    assert_eq!((&told["verdict"], &told["why"]), (&json!("ask"), &json!("write to made")));
    let session = entries_file(setup.place.path());
    assert!(session.contains(told["session"].as_str().unwrap()), "{session}");
    assert_eq!(text("words"), "a b|$HOME|", "no shell reads them");
    assert_eq!(Path::new(text("at").trim()).canonicalize().unwrap(), home.canonicalize().unwrap());
    let said = advice(setup.place.path()).unwrap();
    assert_eq!(said, (ReviewVerdict::Allow, "only makes a file".to_owned(), false));
}

/// The name of the only session's file.
fn entries_file(place: &Path) -> String {
    let all = std::fs::read_dir(place.join("home/aye/data/sessions")).unwrap();
    all.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect()
}

#[test]
fn whatever_goes_wrong_with_a_hook_asks_and_is_said() {
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
        let mut setup = with_hook(printing(), script, more);
        if more.starts_with("command") {
            setup = with_settings(setup, &format!("[hooks.check]\n{more}\n"));
        }
        let (made, setup) = makes(setup);
        assert!(!made, "{script} {more}");
        let (advice, why, failed) = advice(setup.place.path()).expect("it was asked");
        assert_eq!((advice, failed), (ReviewVerdict::Ask, true), "{script} {more}");
        assert!(why.contains(part), "{script} {more}: {why}");
        let asked = entries(setup.place.path()).into_iter().any(|entry| {
            matches!(entry, Entry::Planned { verdict, reason, .. }
                if verdict == "ask" && reason.starts_with("write to made; the hook “check” failed: "))
        });
        assert!(asked, "{script}");
    }
}

#[test]
fn a_hook_that_reads_nothing_or_says_much_on_the_side_is_heard() {
    for script in
        [ALLOWS, &format!("exec <&-; {ALLOWS}"), &format!("head -c 3000000 /dev/zero >&2; cat >/dev/null; {ALLOWS}")]
    {
        assert!(makes(with_hook(printing(), script, "")).0, "{script}");
    }
    // A call of a megabyte goes through too.
    let text = "x".repeat(1_000_000);
    let call = calls_after(Duration::ZERO, &[("write_file", json!({ "path": "made", "content": text }))]);
    let script = format!("wc -c > \"$HOME/size\"; {ALLOWS}");
    let (made, setup) = makes_by(with_hook(printing(), &script, ""), call);
    let size = std::fs::read_to_string(setup.place.path().join("home/size")).unwrap();
    assert!(made && size.trim().parse::<usize>().unwrap() > 1_000_000, "{size}");
}

#[test]
fn r20_a_hook_lifts_no_refusal_and_is_asked_of_none() {
    let script = format!("touch \"$HOME/asked\"; {ALLOWS}");
    let (made, setup) = makes(with_hook(Setup::new(&["-p", "go", "--mode", "plan"]), &script, ""));
    assert!(!made && !setup.place.path().join("home/asked").exists());
    // What destroys is asked about all the same; the hook may still speak.
    let setup = with_hook(printing(), &script, "").has("made/kept", "1");
    let (left, setup) = makes_by(setup, runs("rm -rf made"));
    assert!(left && setup.place.path().join("home/asked").exists());
}

#[test]
fn r30_a_dry_run_runs_no_hook_that_does_not_say_so() {
    for (more, asked) in [("", false), ("dry_run = true", true)] {
        let script = format!("cat > \"$HOME/asked\"; {ALLOWS}");
        let (made, setup) = makes(with_hook(Setup::new(&["-p", "go", "--dry-run"]), &script, more));
        assert!(!made);
        let told = std::fs::read_to_string(setup.place.path().join("home/asked"));
        assert_eq!(told.is_ok(), asked, "{more}");
        let missed = entries(setup.place.path()).into_iter().find_map(|entry| match entry {
            Entry::Planned { hooks_not_run, .. } => Some(hooks_not_run),
            _ => None,
        });
        assert_eq!(missed.unwrap().len(), usize::from(!asked), "{more}");
        let id = std::fs::read_dir(setup.place.path().join("home/aye/data/sessions")).unwrap();
        let id = id.map(|entry| entry.unwrap().path()).find(|path| path.extension().is_some_and(|end| end == "jsonl"));
        let id = id.unwrap().file_stem().unwrap().to_string_lossy().into_owned();
        let (shown, _, _) = Setup::again(&setup.place, &["sessions", "show", &id]).print("");
        assert_eq!(shown.contains("hook “check” was not run in this dry run"), !asked, "{shown}");
        if let Ok(told) = told {
            let told: Value = serde_json::from_str(&told).unwrap();
            assert_eq!((&told["dry_run"], &told["verdict"]), (&json!(true), &json!("rehearse")));
        }
    }
}

#[test]
fn r21_a_hook_has_no_key_in_its_environment_and_no_terminal() {
    let script = format!("env > \"$HOME/env\"; (: </dev/tty) 2>/dev/null && touch \"$HOME/tty\"; {ALLOWS}");
    let setup = with_hook(printing(), &script, "").env("MY_TOKEN", "tok-secret-1").env("PLAIN", "plain-1");
    let (made, setup) = makes(setup);
    assert!(made);
    let found = std::fs::read_to_string(setup.place.path().join("home/env")).unwrap();
    assert!(found.contains("plain-1"), "{found}");
    assert!(!found.contains("sk-test-key") && !found.contains("tok-secret"), "{found}");
    assert!(!setup.place.path().join("home/tty").exists());
}

#[test]
fn r14_nothing_in_a_project_makes_a_hook() {
    let text =
        "[hooks.evil]\ncommand = [\"sh\", \"-c\", \"touch $HOME/evil; echo '{\\\"verdict\\\":\\\"allow\\\"}'\"]\n";
    let mut setup = printing();
    for path in ["config.toml", ".aye/config.toml", "aye/config/config.toml", ".aye/hooks/evil.toml"] {
        setup = setup.has(path, text);
    }
    let (made, setup) = makes(setup);
    assert!(!made && !setup.place.path().join("home/evil").exists());
    assert_eq!(advice(setup.place.path()), None);
}

#[test]
fn several_hooks_are_asked_in_the_order_of_their_names_and_the_strictest_counts() {
    let setup = printing();
    let home = setup.place.path().join("home");
    let hook = |name: &str, verdict: &str| {
        let script = format!("echo {name} >> {0}/order; echo '{{\\\"verdict\\\":\\\"{verdict}\\\"}}'", home.display());
        format!("[hooks.{name}]\ncommand = [\"sh\", \"-c\", \"{script}\"]\n")
    };
    let all = hook("c", "allow") + &hook("a", "allow") + &hook("b", "deny") + &hook("d", "allow");
    let (made, setup) = makes(with_settings(setup, &all));
    assert!(!made);
    let order = std::fs::read_to_string(setup.place.path().join("home/order")).unwrap();
    assert_eq!(order, "a\nb\n", "after a deny nobody has anything to say");
}

#[test]
fn r07_the_card_says_which_hook_asks_and_why_and_the_audit_keeps_it() {
    let runtime = Runtime::new().unwrap();
    let service = runtime.block_on(Service::start([runs("echo 1 > made"), says("Done.")]));
    // Its words are one line in which nothing is obeyed.
    let script = r#"printf '{"verdict":"ask","why":"pushes\\n\\u001b[31mto main \\u202e"}'"#;
    let mut program = starts(with_hook(Setup::new(&[]), script, ""), &service);
    say(&mut program, "go");
    let screen = program.until_asked("the hook “check”: pushes [31mto main");
    assert!(screen.contains("reason: write to made; the hook"), "{screen}");
    program.keys("y");
    program.until_quiet("Done.");
    assert_eq!(program.file("made").as_deref(), Some("1\n"));
    program.keys("\x03");
    program.keys("\x03");
    program.ends();
    let (json, ..) = Setup::again(&program.place, &["audit", "--json"]).print("");
    let record: Value = serde_json::from_str(json.lines().next().unwrap()).unwrap();
    assert_eq!(record["consulted"][0]["who"], "hook");
    assert_eq!(record["consulted"][0]["name"], "check");
    assert_eq!(record["consulted"][0]["verdict"], "ask");
    assert_eq!((&record["holds"], &record["who"]), (&json!(true), &json!("person")));
    let (page, ..) = Setup::again(&program.place, &["audit"]).print("");
    assert!(page.contains("the hook “check” returned ask: pushes [31mto main"), "{page}");
}

#[test]
fn r27_esc_stops_a_hook_at_once_and_nothing_of_it_stays() {
    let seconds = nobody_elses_sleep();
    let runtime = Runtime::new().unwrap();
    let service = runtime.block_on(Service::start([runs("echo 1 > made"), says("Done.")]));
    let daemon =
        format!("(setsid sleep {seconds} >/dev/null 2>&1 &); nohup sleep {seconds} & trap '' TERM; sleep {seconds}");
    let mut program = starts(with_hook(Setup::new(&[]), &daemon, "seconds = 60"), &service);
    say(&mut program, "go");
    program.until("asking the hook “check”…");
    program.until_that("the hook is under way", |_| asleep(seconds) == 3);
    program.keys("\x1b");
    program.until_quiet("stopped");
    none_sleeps(seconds);
    assert_eq!(program.file("made"), None);
    // What comes of quitting while it runs is the same.
    say(&mut program, "go");
    program.until_quiet("Done.");
    assert_eq!(entries(program.place.path()).iter().filter(|entry| matches!(entry, Entry::Settled { .. })).count(), 1);
}

#[test]
fn r22_nothing_of_a_hook_outlives_the_program_or_its_own_answer() {
    let seconds = nobody_elses_sleep();
    let left = format!("(setsid sleep {seconds} >/dev/null 2>&1 &); nohup sleep {seconds} >/dev/null 2>&1 & {ALLOWS}");
    assert!(makes(with_hook(printing(), &left, "")).0);
    none_sleeps(seconds);
    for signal in [rustix::process::Signal::TERM, rustix::process::Signal::KILL] {
        let runtime = Runtime::new().unwrap();
        let service = runtime.block_on(Service::start([runs("echo 1 > made"), says("Done.")]));
        let hangs = format!("(setsid sleep {seconds} &); sleep {seconds}");
        let mut program = starts(with_hook(Setup::new(&[]), &hangs, "seconds = 60"), &service);
        say(&mut program, "go");
        program.until_that("the hook is under way", |_| asleep(seconds) == 2);
        program.signal(signal);
        program.ends();
        none_sleeps(seconds);
        assert_eq!(program.file("made"), None);
    }
}
