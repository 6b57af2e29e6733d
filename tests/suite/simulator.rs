//! What stands in for the result of a command that a dry run does not run, in the real program over a real socket.

use crate::support::folder::Folder;
use crate::support::pick_count;
use crate::support::program::{Program, Setup};
use crate::support::service::{Answer, Service, Step};
use crate::support::stored_files::{read_session, write_settings};
use crate::support::terminal_session::{calls_after, runs, say, says};
use aye::chat::{Entry, ResultOrigin, SimulatedResult, SimulationSource};
use serde_json::{Value, json};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use tokio::runtime::Runtime;

/// A service for the talk and one for the simulator, and a home whose settings name both.
struct Play {
    runtime: Runtime,
    simulator: Service,
    place: Arc<Folder>,
}

impl Play {
    fn new(answers: impl IntoIterator<Item = Answer>, more: &str) -> Self {
        let runtime = Runtime::new().unwrap();
        let simulator = runtime.block_on(Service::start_strict(answers));
        let setup = Setup::new(&[]);
        let url = &simulator.base_url;
        write_settings(
            &setup,
            &format!(
                "[model]\ntitles = false\n[dry_run]\nstage = \"off\"\n{more}\n[profiles.other]\nbase_url = \"{url}\"\nkey_env = \"OTHER_KEY\""
            ),
        );
        Self { runtime, simulator, place: setup.place }
    }

    /// With the simulator set, which has so many seconds for an answer.
    fn set(answers: impl IntoIterator<Item = Answer>, seconds: u32) -> Self {
        let set = "simulator = \"other\"\nsimulator_model = \"sim-7b\"\nsimulator_seconds";
        Self::new(answers, &format!("{set} = {seconds}"))
    }

    fn talk(&self, answers: impl IntoIterator<Item = Answer>) -> Service {
        self.runtime.block_on(Service::start(answers))
    }

    fn setup(&self, talk: &Service, arguments: &[&str]) -> Setup {
        let base = ["--base-url", &talk.base_url, "--model", "m"];
        let arguments: Vec<&str> = base.iter().chain(arguments).copied().collect();
        Setup::again(&self.place, &arguments)
            .env("OTHER_KEY", "sk-other-1234567890")
            .env("OPENAI_API_KEY", "sk-first-1234567890")
    }

    /// Runs it without a screen; what it printed.
    fn prints(&self, talk: &Service, arguments: &[&str]) -> String {
        let (out, err, code) = self.setup(talk, &[&["-p"], arguments].concat()).print("");
        assert_eq!(code, 0, "{out}\n{err}");
        out
    }

    fn starts(&self, talk: &Service, arguments: &[&str], (columns, rows): (u16, u16)) -> Program {
        let mut program = self.setup(talk, arguments).size(columns, rows).start();
        program.until("Connected to");
        program
    }
}

/// The results of every call and how they came about.
fn results(entries: &[Entry]) -> Vec<(String, SimulatedResult)> {
    let result = |entry: &Entry| match entry {
        Entry::Settled { outcome, staged: Some(ResultOrigin::Simulated(how)), .. } => {
            Some((outcome.text().to_owned(), (**how).clone()))
        }
        _ => None,
    };
    entries.iter().filter_map(result).collect()
}

/// What `--json` printed of the same.
fn printed(out: &str) -> Vec<(String, SimulatedResult)> {
    let lines = out.lines().filter_map(|line| serde_json::from_str::<Entry>(line).ok());
    results(&lines.collect::<Vec<_>>())
}

fn imagines(output: &str) -> Answer {
    says(&json!({ "output": output, "exit": 0 }).to_string())
}

fn is_restful(project: &Path) -> bool {
    std::fs::read_dir(project).unwrap().next().is_none()
}

#[test]
fn r30_a_person_sees_which_model_imagined_a_result_and_the_same_call_has_it_again_after_all() {
    let answers = ["3 tests \u{1b}[31mpassed\u{1b}[0m\u{1b}]0;evil\u{7}", "4 tests passed"].map(imagines);
    let play = Play::set(answers, 100);
    let talk = play.talk([runs("make test"), runs("make test"), says("Done.")]);
    let mut program = play.starts(&talk, &["--dry-run"], (100, 24));
    let first = program.until("Commands do not");
    assert!(first.contains("simulated by sim-7b."), "{first}");
    say(&mut program, "try it with my words");
    let screen = program.until("changed on disk");
    assert!(screen.contains("◌ bash_exec    make test · simulated by sim-7b  "), "{screen}");
    assert!(screen.contains("◌ bash_exec    make test · simulated by sim-7b, reused"), "{screen}");
    assert!(screen.contains("2 calls rehearsed, 0 ran in the overlay sandbox, nothing changed on disk"), "{screen}");
    assert_eq!(play.simulator.received().len(), 1);
    program.keys("/quit\r");
    program.wait_for_exit();

    let asked = &play.simulator.received()[0];
    assert_eq!(asked.header("authorization"), Some("Bearer sk-other-1234567890"));
    assert_eq!((asked.body["model"].as_str(), asked.body.get("tools")), (Some("sim-7b"), None));
    let words = asked.body.to_string();
    assert!(words.contains("make test") && words.contains("bash_exec"), "{words}");
    assert!(!words.contains("my words") && !words.contains("sk-first"), "nothing that was said: {words}");
    let setup = Setup::again(&play.place, &[]);
    let made = results(&read_session(&setup));
    assert_eq!(made.len(), 2);
    assert_eq!(made[0].0, made[1].0);
    assert!(made[0].0.ends_with("Simulated result:\n3 tests passed<U+001B>]0;evil<U+0007>\nexit 0"), "{}", made[0].0);
    assert!(made[1].1.is_reused && !made[0].1.is_reused);
    // The model that is talked to is told the same, and not how it came about.
    for request in talk.received() {
        assert!(!request.body.to_string().contains("sim-7b"), "{}", request.body);
    }

    // Gone on with, and in a copy, while nothing in the layer changed.
    let write = calls_after(Duration::ZERO, &[("write_file", json!({ "path": "a.txt", "content": "x\n" }))]);
    let talk = play.talk([runs("make test"), write, runs("make test"), says("Done.")]);
    let copied = printed(&play.prints(&talk, &["--json", "--continue", "--fork", "again"]));
    assert_eq!((copied[0].0.as_str(), copied[0].1.is_reused), (made[0].0.as_str(), true));
    assert!(copied[1].0.ends_with("\n4 tests passed\nexit 0") && !copied[1].1.is_reused, "{copied:?}");
    assert_eq!(play.simulator.received().len(), 2, "another stage is another call");
    let talk = play.talk([runs("make test"), says("Done.")]);
    let resumed = printed(&play.prints(&talk, &["--json", "--continue", "once more"]));
    assert_eq!((resumed[0].0.as_str(), resumed[0].1.is_reused), (copied[1].0.as_str(), true));
    assert_eq!(play.simulator.received().len(), 2);
    assert!(is_restful(&play.place.path().join("project")));
}

#[test]
fn r30_without_a_simulator_nothing_goes_anywhere_and_every_run_makes_up_the_same() {
    let play = Play::new([says("{}")], "");
    let mut all = Vec::new();
    for _ in 0..2 {
        let talk = play.talk([runs("touch made"), runs("make"), says("Done.")]);
        let out = play.prints(&talk, &["--json", "--dry-run", "go"]);
        let made = printed(&out);
        assert_eq!((made[0].1.source, made[1].1.source), (SimulationSource::Fixture, SimulationSource::Sample));
        let plan: Value = serde_json::from_str(out.lines().last().unwrap()).unwrap();
        assert_eq!(
            (plan["calls"][0]["staged"].as_str(), plan["calls"][1]["staged"].as_str()),
            (Some("example"), Some("sampled"))
        );
        assert_eq!(plan["calls"][1]["simulated"]["instead"], Value::Null);
        all.push(made.into_iter().map(|(text, _)| text).collect::<Vec<_>>());
    }
    assert_eq!(all[0], all[1]);
    assert_eq!(play.simulator.received().len(), 0);
    assert!(is_restful(&play.place.path().join("project")));
}

#[test]
fn r30_whatever_a_simulator_does_a_sample_stands_in_and_it_is_said() {
    let long = json!({ "output": "x".repeat(1 << 20), "exit": 0 }).to_string();
    let rubbish = "\u{1b}[2J\u{1b}]52;c;AAAA\u{7}I would rather not \u{202e}say";
    let mut cases = vec![
        (Answer::stream().then(Step::Stall), "it did not answer within 1 s"),
        (says(&long), "its answer is longer than 16 KB"),
        (says(rubbish), "its answer is not JSON"),
    ];
    if pick_count(1, 0) > 0 {
        cases.extend([
            (says(r#"{"output":"ok"}"#), "it lacks 'exit'"),
            (says(r#"{"output":"ok","exit":0}"#.repeat(2).as_str()), "text after the JSON"),
            (
                Answer::stream().says(r#"{"output":"ok","exit":0}"#).finish("content_filter").done(),
                "withheld the answer",
            ),
            (Answer::body(401, "application/json", &[], r#"{"error":{"message":"no such \u001b[31mkey"}}"#), "no such"),
            (Answer::body(500, "application/json", &[], r#"{"error":{"message":"out of order"}}"#), "out of order"),
            (Answer::default().then(Step::Reset), "the simulator failed: "),
            (runs("make"), "it called a tool, and has none"),
        ]);
    }
    for (answer, part) in cases {
        let play = Play::set([answer], if part.ends_with("within 1 s") { 1 } else { 100 });
        let talk = play.talk([runs("make"), says("Done.")]);
        let out = play.prints(&talk, &["--dry-run", "go"]);
        let flat = out.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(flat.contains("sample, not run; the simulator failed: "), "{out}");
        assert!(flat.contains(part), "{part}: {out}");
        assert!(!out.contains('\u{1b}') && !out.contains('\u{202e}'), "{out:?}");
        assert_eq!(play.simulator.received().len(), 1, "{part}: it is asked once");
        let told = talk.received().last().unwrap().body["messages"].as_array().unwrap().last().unwrap().clone();
        assert!(told["content"].as_str().unwrap().ends_with("Simulated result:\nexit 0"), "{told}");
    }
}

#[test]
fn r27_esc_stops_the_simulator_at_once_and_nothing_is_made_up() {
    let play = Play::new(
        [Answer::stream().then(Step::Stall)],
        "simulator = \"other\"\nsimulator_model = \"sim-7b\"\nsimulator_seconds = 120",
    );
    let talk = play.talk([runs("make"), says("Done.")]);
    let mut program = play.starts(&talk, &["--dry-run"], (100, 24));
    say(&mut program, "go");
    program.until("asking sim-7b for a simulated result");
    let simulator = &play.simulator;
    program.until_that("it is asked", |_| simulator.received().len() == 1);
    program.keys("\x1b");
    program.until("0 calls rehearsed");
    program.until_that("the connection is closed", |_| simulator.received()[0].closed_early.is_some());
    assert_eq!(results(&read_session(&Setup::again(&play.place, &[]))).len(), 0);
}

#[test]
fn r30_the_card_the_record_and_the_doctor_say_where_a_result_comes_from() {
    let play = Play::new(
        [imagines("built")],
        "ask = \"as live\"\ntell_model = \"never\"\nsimulator = \"other\"\nsimulator_model = \"sim-7b\"",
    );
    let talk = play.talk([runs("make"), says("Done.")]);
    let mut program = play.starts(&talk, &["--dry-run"], (100, 30));
    say(&mut program, "go");
    let card = program.until_asked("Not run in this dry run; its result is an");
    assert!(card.contains("simulated by sim-7b"), "{card}");
    assert_eq!(play.simulator.received().len(), 0, "nobody is asked before the yes");
    program.keys("y");
    program.until("changed on disk");
    program.keys("/quit\r");
    program.wait_for_exit();
    // Where the model is told nothing of the dry run it is told a result and nothing else.
    let told = talk.received().last().unwrap().body["messages"].as_array().unwrap().last().unwrap().clone();
    assert_eq!(told["content"], "built\nexit 0");

    let aye = |words: &[&str]| {
        let setup = Setup::again(&play.place, words).env("OTHER_KEY", "sk-other-1234567890");
        let (out, err, code) = setup.print("");
        assert_eq!(code, 0, "{words:?}: {out}\n{err}");
        out
    };
    let record: Value = serde_json::from_str(aye(&["audit", "--json"]).lines().next().unwrap()).unwrap();
    assert_eq!((record["staged"].as_str(), record["simulated"]["by"].as_str()), (Some("imagined"), Some("sim-7b")));
    assert!(aye(&["rehearsal"]).contains("simulated by sim-7b"));
    assert!(aye(&["sessions", "export"]).contains("simulated by sim-7b"));
    let doctor = aye(&["doctor"]);
    assert!(doctor.contains("simulator   results are simulated by sim-7b"), "{doctor}");
    let words = doctor.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("their results are simulated, see simulator"), "{doctor}");
}

#[test]
fn a_simulator_that_is_set_wrong_is_told_and_nothing_is_asked() {
    for (set, part) in [
        ("simulator = \"opneai\"", "does not exist"),
        ("simulator = 5", "its settings are invalid"),
        ("simulator = \"openrouter\"", "has no key"),
    ] {
        let play = Play::new([says("{}")], set);
        let talk = play.talk([runs("make"), says("Done.")]);
        let out = play.prints(&talk, &["--json", "--dry-run", "go"]);
        let made = printed(&out);
        assert_eq!(made[0].1.source, SimulationSource::Sample, "{set}");
        assert!(made[0].1.failure.contains(part), "{set}: {:?}", made[0].1);
        assert_eq!(play.simulator.received().len(), 0);
    }
}
