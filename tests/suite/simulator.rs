//! Simulated results of commands that a dry run does not run, in the real program over a real socket.

use crate::support::folder::Folder;
use crate::support::pick_count;
use crate::support::program::{Program, Setup};
use crate::support::service::{Answer, Service, Step};
use crate::support::stored_files::{read_session, write_settings};
use crate::support::terminal_session::{calls_answer_after, command_answer, submit_message, text_answer};
use aye::chat::{Entry, ResultOrigin, SimulatedResult, SimulationSource};
use serde_json::{Value, json};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use tokio::runtime::Runtime;

/// A provider for the session and one for the simulator, and a home whose settings name both.
struct DryRun {
    runtime: Runtime,
    simulator: Service,
    root: Arc<Folder>,
}

impl DryRun {
    /// With these answers of the simulator, and with `more` as further settings of the section `[dry_run]`.
    fn new(answers: impl IntoIterator<Item = Answer>, more: &str) -> Self {
        let runtime = Runtime::new().unwrap();
        let simulator = runtime.block_on(Service::start_strict(answers));
        let setup = Setup::new(&[]);
        let url = &simulator.base_url;
        write_settings(
            &setup,
            &format!(
                "[model]\ntitles = false\n[dry_run]\noverlay_sandbox = \"off\"\n{more}\n[profiles.other]\nbase_url = \"{url}\"\nkey_env = \"OTHER_KEY\""
            ),
        );
        Self { runtime, simulator, root: setup.root }
    }

    /// With a simulator that has this many seconds for an answer.
    fn with_simulator(answers: impl IntoIterator<Item = Answer>, seconds: u32) -> Self {
        let setting = "simulator = \"other\"\nsimulator_model = \"sim-7b\"\nsimulator_seconds";
        Self::new(answers, &format!("{setting} = {seconds}"))
    }

    fn start_provider(&self, answers: impl IntoIterator<Item = Answer>) -> Service {
        self.runtime.block_on(Service::start(answers))
    }

    fn setup(&self, provider: &Service, arguments: &[&str]) -> Setup {
        let base = ["--base-url", &provider.base_url, "--model", "m"];
        let arguments: Vec<&str> = base.iter().chain(arguments).copied().collect();
        Setup::with_home(&self.root, &arguments)
            .env("OTHER_KEY", "sk-other-1234567890")
            .env("OPENAI_API_KEY", "sk-first-1234567890")
    }

    /// Runs headless and returns the output.
    fn run_print(&self, provider: &Service, arguments: &[&str]) -> String {
        let (out, err, code) = self.setup(provider, &[&["-p"], arguments].concat()).run_piped("");
        assert_eq!(code, 0, "{out}\n{err}");
        out
    }

    fn start(&self, provider: &Service, arguments: &[&str], (columns, rows): (u16, u16)) -> Program {
        let mut program = self.setup(provider, arguments).size(columns, rows).start();
        program.until("Messages go to");
        program
    }
}

/// The simulated result of every call, with its source.
fn results(entries: &[Entry]) -> Vec<(String, SimulatedResult)> {
    let result = |entry: &Entry| match entry {
        Entry::Settled { outcome, staged: Some(ResultOrigin::Simulated(how)), .. } => {
            Some((outcome.text().to_owned(), (**how).clone()))
        }
        _ => None,
    };
    entries.iter().filter_map(result).collect()
}

/// The same, from the output of `--json`.
fn printed(out: &str) -> Vec<(String, SimulatedResult)> {
    let lines = out.lines().filter_map(|line| serde_json::from_str::<Entry>(line).ok());
    results(&lines.collect::<Vec<_>>())
}

fn simulated_answer(output: &str) -> Answer {
    text_answer(&json!({ "output": output, "exit": 0 }).to_string())
}

fn is_empty_folder(project: &Path) -> bool {
    std::fs::read_dir(project).unwrap().next().is_none()
}

#[test]
fn r30_simulated_results_name_their_model_and_are_reused() {
    let answers = ["3 tests \u{1b}[31mpassed\u{1b}[0m\u{1b}]0;evil\u{7}", "4 tests passed"].map(simulated_answer);
    let dry_run = DryRun::with_simulator(answers, 100);
    let provider =
        dry_run.start_provider([command_answer("make test"), command_answer("make test"), text_answer("Done.")]);
    let mut program = dry_run.start(&provider, &["--dry-run"], (100, 24));
    let first = program.until("Commands do not");
    assert!(first.contains("simulated by sim-7b."), "{first}");
    submit_message(&mut program, "try it with my words");
    let screen = program.until("changed on disk");
    assert!(screen.contains("◌ Run make test · simulated by sim-7b  "), "{screen}");
    assert!(screen.contains("◌ Run make test · simulated by sim-7b, reused"), "{screen}");
    assert!(screen.contains("2 calls rehearsed (none in the overlay sandbox); nothing changed on disk"), "{screen}");
    assert_eq!(dry_run.simulator.received().len(), 1);
    program.press_keys("/quit\r");
    program.wait_for_exit();
    let farewell = program.screen();
    assert!(farewell.contains("2 calls rehearsed. To review them:\naye rehearsal show 01"), "{farewell}");

    let model_request = &dry_run.simulator.received()[0];
    assert_eq!(model_request.header("authorization"), Some("Bearer sk-other-1234567890"));
    assert_eq!((model_request.body["model"].as_str(), model_request.body.get("tools")), (Some("sim-7b"), None));
    let request = model_request.body.to_string();
    assert!(request.contains("make test") && request.contains("bash_exec"), "{request}");
    assert!(
        !request.contains("with my words") && !request.contains("sk-first"),
        "the simulator received messages or keys of the session: {request}"
    );
    let setup = Setup::with_home(&dry_run.root, &[]);
    let made = results(&read_session(&setup));
    assert_eq!(made.len(), 2);
    assert_eq!(made[0].0, made[1].0);
    assert!(made[0].0.ends_with("Simulated result:\n3 tests passed<U+001B>]0;evil<U+0007>\nexit 0"), "{}", made[0].0);
    assert!(made[1].1.is_reused && !made[0].1.is_reused);
    // The model of the session receives the same result without its source.
    for request in provider.received() {
        assert!(!request.body.to_string().contains("sim-7b"), "{}", request.body);
    }

    // Resumed and forked sessions reuse results until a file in the overlay changes.
    let write = calls_answer_after(Duration::ZERO, &[("write_file", json!({ "path": "a.txt", "content": "x\n" }))]);
    let provider =
        dry_run.start_provider([command_answer("make test"), write, command_answer("make test"), text_answer("Done.")]);
    let copied = printed(&dry_run.run_print(&provider, &["--json", "--continue", "--fork", "again"]));
    assert_eq!((copied[0].0.as_str(), copied[0].1.is_reused), (made[0].0.as_str(), true));
    assert!(copied[1].0.ends_with("\n4 tests passed\nexit 0") && !copied[1].1.is_reused, "{copied:?}");
    assert_eq!(dry_run.simulator.received().len(), 2, "a changed overlay is another call");
    let provider = dry_run.start_provider([command_answer("make test"), text_answer("Done.")]);
    let resumed = printed(&dry_run.run_print(&provider, &["--json", "--continue", "once more"]));
    assert_eq!((resumed[0].0.as_str(), resumed[0].1.is_reused), (copied[1].0.as_str(), true));
    assert_eq!(dry_run.simulator.received().len(), 2);
    assert!(is_empty_folder(&dry_run.root.path().join("project")));
}

#[test]
fn r30_without_a_simulator_results_are_local_and_repeatable() {
    let dry_run = DryRun::new([text_answer("{}")], "");
    let mut collected = Vec::new();
    for _ in 0..2 {
        let provider =
            dry_run.start_provider([command_answer("touch made"), command_answer("make"), text_answer("Done.")]);
        let out = dry_run.run_print(&provider, &["--json", "--dry-run", "go"]);
        let made = printed(&out);
        assert_eq!((made[0].1.source, made[1].1.source), (SimulationSource::Fixture, SimulationSource::Sample));
        let plan: Value = serde_json::from_str(out.lines().last().unwrap()).unwrap();
        assert_eq!(
            (plan["calls"][0]["staged"].as_str(), plan["calls"][1]["staged"].as_str()),
            (Some("example"), Some("sampled"))
        );
        assert_eq!(plan["calls"][1]["simulated"]["instead"], Value::Null);
        collected.push(made.into_iter().map(|(text, _)| text).collect::<Vec<_>>());
    }
    assert_eq!(collected[0], collected[1]);
    assert_eq!(dry_run.simulator.received().len(), 0);
    assert!(is_empty_folder(&dry_run.root.path().join("project")));
}

#[test]
fn r30_failing_simulator_is_replaced_by_a_sample_with_a_notice() {
    let long = json!({ "output": "x".repeat(1 << 20), "exit": 0 }).to_string();
    let rubbish = "\u{1b}[2J\u{1b}]52;c;AAAA\u{7}I would rather not \u{202e}say";
    let mut cases = vec![
        (Answer::stream().with_step(Step::Stall), "it did not answer within 1 s"),
        (text_answer(&long), "its answer is longer than 16 KB"),
        (text_answer(rubbish), "its answer is not JSON"),
    ];
    if pick_count(1, 0) > 0 {
        cases.extend([
            (text_answer(r#"{"output":"ok"}"#), "missing field"),
            (text_answer(r#"{"output":"ok","exit":0}"#.repeat(2).as_str()), "text after the JSON"),
            (
                Answer::stream().text(r#"{"output":"ok","exit":0}"#).finish("content_filter").done(),
                "withheld the answer",
            ),
            (Answer::body(401, "application/json", &[], r#"{"error":{"message":"no such \u001b[31mkey"}}"#), "no such"),
            (Answer::body(500, "application/json", &[], r#"{"error":{"message":"out of order"}}"#), "out of order"),
            (Answer::default().with_step(Step::Reset), "the simulator failed: "),
            (command_answer("make"), "it called a tool, and has none"),
        ]);
    }
    for (answer, part) in cases {
        let dry_run = DryRun::with_simulator([answer], if part.ends_with("within 1 s") { 1 } else { 100 });
        let provider = dry_run.start_provider([command_answer("make"), text_answer("Done.")]);
        let out = dry_run.run_print(&provider, &["--dry-run", "go"]);
        let flat = out.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(flat.contains("sample, not run; the simulator failed: "), "{out}");
        assert!(flat.contains(part), "{part}: {out}");
        assert!(!out.contains('\u{1b}') && !out.contains('\u{202e}'), "{out:?}");
        assert_eq!(dry_run.simulator.received().len(), 1, "{part}: it receives one request");
        let last_message =
            provider.received().last().unwrap().body["messages"].as_array().unwrap().last().unwrap().clone();
        assert!(last_message["content"].as_str().unwrap().ends_with("Simulated result:\nexit 0"), "{last_message}");
    }
}

#[test]
fn r27_esc_stops_the_simulator_and_leaves_no_result() {
    let dry_run = DryRun::new(
        [Answer::stream().with_step(Step::Stall)],
        "simulator = \"other\"\nsimulator_model = \"sim-7b\"\nsimulator_seconds = 120",
    );
    let provider = dry_run.start_provider([command_answer("make"), text_answer("Done.")]);
    let mut program = dry_run.start(&provider, &["--dry-run"], (100, 24));
    submit_message(&mut program, "go");
    program.until("asking sim-7b for a simulated result");
    let simulator = &dry_run.simulator;
    program.until_condition("the simulator receives a request", |_| simulator.received().len() == 1);
    program.press_keys("\x1b");
    program.until("0 calls rehearsed");
    program.until_condition("the connection is closed", |_| simulator.received()[0].closed_early.is_some());
    assert_eq!(results(&read_session(&Setup::with_home(&dry_run.root, &[]))).len(), 0);
}

#[test]
fn r30_prompt_record_and_doctor_name_the_source_of_a_result() {
    let dry_run = DryRun::new(
        [simulated_answer("built")],
        "ask = \"as live\"\ntell_model = \"never\"\nsimulator = \"other\"\nsimulator_model = \"sim-7b\"",
    );
    let provider = dry_run.start_provider([command_answer("make"), text_answer("Done.")]);
    let mut program = dry_run.start(&provider, &["--dry-run"], (100, 30));
    submit_message(&mut program, "go");
    let prompt = program.until_prompt("Not run in this dry run; its result is an");
    assert!(prompt.contains("simulated by sim-7b"), "{prompt}");
    assert_eq!(dry_run.simulator.received().len(), 0, "no request is sent before approval");
    program.press_keys("y");
    program.until("changed on disk");
    program.press_keys("/quit\r");
    program.wait_for_exit();
    // If the model must not learn of the dry run, it receives nothing but a result.
    let last_message = provider.received().last().unwrap().body["messages"].as_array().unwrap().last().unwrap().clone();
    assert_eq!(last_message["content"], "built\nexit 0");

    let aye = |arguments: &[&str]| {
        let setup = Setup::with_home(&dry_run.root, arguments).env("OTHER_KEY", "sk-other-1234567890");
        let (out, err, code) = setup.run_piped("");
        assert_eq!(code, 0, "{arguments:?}: {out}\n{err}");
        out
    };
    let record: Value = serde_json::from_str(aye(&["audit", "--json"]).lines().next().unwrap()).unwrap();
    assert_eq!((record["staged"].as_str(), record["simulated"]["by"].as_str()), (Some("imagined"), Some("sim-7b")));
    assert!(aye(&["rehearsal"]).contains("simulated by sim-7b"));
    assert!(aye(&["sessions", "export"]).contains("simulated by sim-7b"));
    let doctor = aye(&["doctor"]);
    assert!(doctor.contains("simulator   results are simulated by sim-7b"), "{doctor}");
    let flat = doctor.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(flat.contains("their results are simulated, see simulator"), "{doctor}");
}

#[test]
fn misconfigured_simulator_is_reported_and_receives_no_request() {
    for (set, part) in [
        ("simulator = \"opneai\"", "does not exist"),
        ("simulator = 5", "its settings are invalid"),
        ("simulator = \"openrouter\"", "has no key"),
    ] {
        let dry_run = DryRun::new([text_answer("{}")], set);
        let provider = dry_run.start_provider([command_answer("make"), text_answer("Done.")]);
        let out = dry_run.run_print(&provider, &["--json", "--dry-run", "go"]);
        let made = printed(&out);
        assert_eq!(made[0].1.source, SimulationSource::Sample, "{set}");
        assert!(made[0].1.failure.contains(part), "{set}: {:?}", made[0].1);
        assert_eq!(dry_run.simulator.received().len(), 0);
    }
}
