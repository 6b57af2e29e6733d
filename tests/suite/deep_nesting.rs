//! Nesting of 20,000 levels in every kind of input: no stack overflow, and the session continues.

use crate::support::pick_count;
use crate::support::program::Setup;
use crate::support::service::{Answer, Service};
use crate::support::stored_files::{NO_TITLES, wait_for_turns, write_settings};
use crate::support::terminal_session::{say, says};
use serde_json::json;
use tokio::runtime::Runtime;

const LEVELS: usize = 20_000;

fn nest(open: &str, close: &str) -> String {
    format!("{}1{}", open.repeat(LEVELS), close.repeat(LEVELS))
}

/// A call with these arguments, verbatim.
fn call_reply(name: &str, arguments: &str) -> Answer {
    let function = json!({ "name": name, "arguments": arguments });
    let delta = json!({ "tool_calls": [{ "index": 0, "id": "c1", "function": function }] });
    Answer::stream().event(json!({ "choices": [{ "index": 0, "delta": delta }] })).finish("tool_calls").done()
}

#[test]
fn r64_survives_20000_levels_of_nesting_in_replies() {
    let runtime = Runtime::new().unwrap();
    let (lists, objects) = (nest("[", "]"), nest("{\"a\":", "}"));
    let event = |data: &str| Answer::stream().says("Half. ").raw(format!("data: {data}\n\n")).says("On.");
    let whole = |data: &str| event(data).finish("stop").done();
    let choices = format!("{{\"choices\":[{{\"index\":0,\"delta\":{{\"content\":{lists}}}}}]}}");
    // Each reply ends its turn with success or failure; after a call one more request follows.
    let turns: Vec<Vec<Answer>> = vec![
        vec![whole(&lists)],
        vec![whole(&objects)],
        vec![whole(&choices)],
        vec![Answer::body(200, "application/json", &[], &objects)],
        vec![Answer::body(400, "application/json", &[], &format!("{{\"error\":{objects}}}"))],
        vec![call_reply("read_file", &objects), says("I see.")],
        vec![call_reply("read_file", &format!("{{\"path\":{lists}}}")), says("I see.")],
        vec![call_reply("read_file", &"[".repeat(LEVELS)), says("I see.")],
        vec![call_reply("ask_question", &format!("{{\"questions\":{objects}}}")), says("I see.")],
        vec![says(&format!("{} a", "> ".repeat(LEVELS)))],
        vec![says(&format!("{} a", "- ".repeat(LEVELS)))],
        vec![says(&nest("[", "](x)"))],
        vec![says(&format!("{}a{}", "*".repeat(LEVELS), "*".repeat(LEVELS)))],
        vec![says(&nest("<a>", "</a>"))],
        vec![says(&format!("```json\n{lists}\n```\n\n```rust\n{}\n```", nest("(", ")")))],
        vec![says("Still here.")],
    ];
    // A quick run takes some of the kinds, and always the last.
    let step = pick_count(1, 5);
    let turns: Vec<_> = turns.into_iter().step_by(step).collect();
    let count = turns.len();
    let service = runtime.block_on(Service::start(turns.into_iter().flatten().collect::<Vec<_>>()));
    let setup = Setup::new(&["--base-url", &service.base_url, "--model", "m"]).size(100, 30);
    write_settings(&setup, NO_TITLES);
    let (again, place) = (Setup::again(&setup.place, &[]), setup.place.clone());
    let mut program = setup.start();
    program.until("Connected to");
    for turn in 1..=count {
        // The text is pasted, and Enter is pressed once it is drawn: no real user types between the two.
        program.keys(&format!("\x1b[200~turn {turn}.\x1b[201~"));
        program.until(&format!("turn {turn}."));
        program.keys("\r");
        wait_for_turns(&mut program, &again, turn);
    }
    program.until("Still here.");
    program.keys("\x04");
    assert_eq!(program.wait_for_exit(), 0);
    // The session can be resumed, shown, searched and exported.
    let base = service.base_url.clone();
    let mut program = Setup::again(&place, &["--continue", "--base-url", &base, "--model", "m"]).start();
    program.until("Still here.");
    program.keys("\x04");
    assert_eq!(program.wait_for_exit(), 0);
    for command in
        [&["show"][..], &["search", "still"], &["export", "--format", "html"], &["export", "--format", "json"]]
    {
        let (out, err, code) = Setup::again(&place, &[&["sessions"], command].concat()).print("");
        assert!(code == 0 && out.contains("Still here."), "{command:?}: {err}");
    }
}

#[test]
fn r64_prompts_for_a_change_with_20000_levels_of_nesting() {
    let runtime = Runtime::new().unwrap();
    let deep = |middle: &str| {
        let line = |at: usize| format!("{}{{\n", " ".repeat(at % 90));
        let open: String = (0..LEVELS).map(line).collect();
        format!("{open}{middle}\n{}", "}\n".repeat(LEVELS))
    };
    let write = json!({ "path": "deep.json", "content": deep("new") }).to_string();
    let service = runtime.block_on(Service::start([call_reply("write_file", &write), says("Left as it was.")]));
    let setup = Setup::new(&["--base-url", &service.base_url, "--model", "m"]).size(100, 30);
    write_settings(&setup, NO_TITLES);
    let mut program = setup.has("deep.json", &deep("old")).start();
    program.until("Connected to");
    say(&mut program, "go");
    program.until_asked("+ new");
    program.keys("n");
    program.until("Left as it was.");
    assert_eq!(program.file("deep.json"), Some(deep("old")));
    program.keys("\x04");
    assert_eq!(program.wait_for_exit(), 0);
}
