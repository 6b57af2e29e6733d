//! Nesting of twenty thousand levels in everything that comes from outside: no stack ends there, and the talk goes on.

use crate::support::kept::{ALONE, settings, until_ended};
use crate::support::often;
use crate::support::program::Setup;
use crate::support::service::{Answer, Service};
use crate::support::talking::{say, says};
use serde_json::json;
use tokio::runtime::Runtime;

const LEVELS: usize = 20_000;

fn nested(open: &str, close: &str) -> String {
    format!("{}1{}", open.repeat(LEVELS), close.repeat(LEVELS))
}

/// A call with these arguments, as they are.
fn calls(name: &str, arguments: &str) -> Answer {
    let function = json!({ "name": name, "arguments": arguments });
    let delta = json!({ "tool_calls": [{ "index": 0, "id": "c1", "function": function }] });
    Answer::stream().event(json!({ "choices": [{ "index": 0, "delta": delta }] })).finish("tool_calls").done()
}

#[test]
fn r64_twenty_thousand_levels_in_what_a_service_sends_end_no_program() {
    let runtime = Runtime::new().unwrap();
    let (lists, objects) = (nested("[", "]"), nested("{\"a\":", "}"));
    let event = |data: &str| Answer::stream().says("Half. ").raw(format!("data: {data}\n\n")).says("On.");
    let whole = |data: &str| event(data).finish("stop").done();
    let choices = format!("{{\"choices\":[{{\"index\":0,\"delta\":{{\"content\":{lists}}}}}]}}");
    // Each ends its turn, well or not; after a call the model is asked once more.
    let turns: Vec<Vec<Answer>> = vec![
        vec![whole(&lists)],
        vec![whole(&objects)],
        vec![whole(&choices)],
        vec![Answer::body(200, "application/json", &[], &objects)],
        vec![Answer::body(400, "application/json", &[], &format!("{{\"error\":{objects}}}"))],
        vec![calls("read_file", &objects), says("I see.")],
        vec![calls("read_file", &format!("{{\"path\":{lists}}}")), says("I see.")],
        vec![calls("read_file", &"[".repeat(LEVELS)), says("I see.")],
        vec![calls("ask_question", &format!("{{\"questions\":{objects}}}")), says("I see.")],
        vec![says(&format!("{} a", "> ".repeat(LEVELS)))],
        vec![says(&format!("{} a", "- ".repeat(LEVELS)))],
        vec![says(&nested("[", "](x)"))],
        vec![says(&format!("{}a{}", "*".repeat(LEVELS), "*".repeat(LEVELS)))],
        vec![says(&nested("<a>", "</a>"))],
        vec![says(&format!("```json\n{lists}\n```\n\n```rust\n{}\n```", nested("(", ")")))],
        vec![says("Still here.")],
    ];
    // While a person waits for the tests a few kinds of them, and always the last.
    let step = often(1, 5);
    let turns: Vec<_> = turns.into_iter().step_by(step).collect();
    let count = turns.len();
    let service = runtime.block_on(Service::start(turns.into_iter().flatten().collect::<Vec<_>>()));
    let setup = Setup::new(&["--base-url", &service.base_url, "--model", "m"]).size(100, 30);
    settings(&setup, ALONE);
    let (again, place) = (Setup::again(&setup.place, &[]), setup.place.clone());
    let mut program = setup.start();
    program.until("Connected to");
    for turn in 1..=count {
        // Pasted, and Enter when that is drawn: nobody types between them.
        program.keys(&format!("\x1b[200~turn {turn}.\x1b[201~"));
        program.until(&format!("turn {turn}."));
        program.keys("\r");
        until_ended(&mut program, &again, turn);
    }
    program.until("Still here.");
    program.keys("\x04");
    assert_eq!(program.ends(), 0);
    // All of it is read back, shown, searched and exported.
    let base = service.base_url.clone();
    let mut program = Setup::again(&place, &["--continue", "--base-url", &base, "--model", "m"]).start();
    program.until("Still here.");
    program.keys("\x04");
    assert_eq!(program.ends(), 0);
    for does in [&["show"][..], &["search", "still"], &["export", "--format", "html"], &["export", "--format", "json"]]
    {
        let (out, err, code) = Setup::again(&place, &[&["sessions"], does].concat()).print("");
        assert!(code == 0 && out.contains("Still here."), "{does:?}: {err}");
    }
}

#[test]
fn r64_a_change_of_twenty_thousand_levels_is_shown_and_decided() {
    let runtime = Runtime::new().unwrap();
    let deep = |middle: &str| {
        let line = |at: usize| format!("{}{{\n", " ".repeat(at % 90));
        let open: String = (0..LEVELS).map(line).collect();
        format!("{open}{middle}\n{}", "}\n".repeat(LEVELS))
    };
    let write = json!({ "path": "deep.json", "content": deep("new") }).to_string();
    let service = runtime.block_on(Service::start([calls("write_file", &write), says("Left as it was.")]));
    let setup = Setup::new(&["--base-url", &service.base_url, "--model", "m"]).size(100, 30);
    settings(&setup, ALONE);
    let mut program = setup.has("deep.json", &deep("old")).start();
    program.until("Connected to");
    say(&mut program, "go");
    program.until_asked("+ new");
    program.keys("n");
    program.until("Left as it was.");
    assert_eq!(program.file("deep.json"), Some(deep("old")));
    program.keys("\x04");
    assert_eq!(program.ends(), 0);
}
