//! Nesting of 20,000 levels in every kind of input: no stack overflow, and the session continues.

use crate::support::pick_count;
use crate::support::program::Setup;
use crate::support::service::{Answer, Service};
use crate::support::stored_files::{NO_TITLES, wait_for_turns, write_settings};
use crate::support::terminal_session::{submit_message, text_answer};
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
    let event = |data: &str| Answer::stream().text("Half. ").raw(format!("data: {data}\n\n")).text("On.");
    let whole = |data: &str| event(data).finish("stop").done();
    let choices = format!("{{\"choices\":[{{\"index\":0,\"delta\":{{\"content\":{lists}}}}}]}}");
    // Each reply ends its turn with success or failure; after a call one more request follows.
    let turns: Vec<Vec<Answer>> = vec![
        vec![whole(&lists)],
        vec![whole(&objects)],
        vec![whole(&choices)],
        vec![Answer::body(200, "application/json", &[], &objects)],
        vec![Answer::body(400, "application/json", &[], &format!("{{\"error\":{objects}}}"))],
        vec![call_reply("read_file", &objects), text_answer("I see.")],
        vec![call_reply("read_file", &format!("{{\"path\":{lists}}}")), text_answer("I see.")],
        vec![call_reply("read_file", &"[".repeat(LEVELS)), text_answer("I see.")],
        vec![call_reply("ask_question", &format!("{{\"questions\":{objects}}}")), text_answer("I see.")],
        vec![text_answer(&format!("{} a", "> ".repeat(LEVELS)))],
        vec![text_answer(&format!("{} a", "- ".repeat(LEVELS)))],
        vec![text_answer(&nest("[", "](x)"))],
        vec![text_answer(&format!("{}a{}", "*".repeat(LEVELS), "*".repeat(LEVELS)))],
        vec![text_answer(&nest("<a>", "</a>"))],
        vec![text_answer(&format!("```json\n{lists}\n```\n\n```rust\n{}\n```", nest("(", ")")))],
        vec![text_answer("Still here.")],
    ];
    // A quick run takes every fifth kind. The last one, the sixteenth, is among them.
    let step = pick_count(1, 5);
    let turns: Vec<_> = turns.into_iter().step_by(step).collect();
    let count = turns.len();
    let service = runtime.block_on(Service::start(turns.into_iter().flatten().collect::<Vec<_>>()));
    let setup = Setup::new(&["--base-url", &service.base_url, "--model", "m"]).size(100, 30);
    write_settings(&setup, NO_TITLES);
    let (again, root) = (Setup::with_home(&setup.root, &[]), setup.root.clone());
    let mut program = setup.start();
    program.until("Messages go to");
    for turn in 1..=count {
        // The text is pasted, and Enter is pressed once it is drawn: no real user types between the two.
        program.press_keys(&format!("\x1b[200~turn {turn}.\x1b[201~"));
        program.until(&format!("turn {turn}."));
        program.press_keys("\r");
        wait_for_turns(&mut program, &again, turn);
    }
    program.until("Still here.");
    program.press_keys("\x04");
    assert_eq!(program.wait_for_exit(), 0);
    // The session can be resumed, shown, searched and exported.
    let base = service.base_url.clone();
    let mut program = Setup::with_home(&root, &["--continue", "--base-url", &base, "--model", "m"]).start();
    program.until("Still here.");
    program.press_keys("\x04");
    assert_eq!(program.wait_for_exit(), 0);
    for command in
        [&["show"][..], &["search", "still"], &["export", "--format", "html"], &["export", "--format", "json"]]
    {
        let (out, err, code) = Setup::with_home(&root, &[&["sessions"], command].concat()).run_piped("");
        assert!(code == 0 && out.contains("Still here."), "{command:?}: {err}");
    }
}

#[test]
fn r64_prompts_for_a_change_with_20000_levels_of_nesting() {
    let runtime = Runtime::new().unwrap();
    let deep = |middle: &str| {
        let line = |depth: usize| format!("{}{{\n", " ".repeat(depth % 90));
        let open: String = (0..LEVELS).map(line).collect();
        format!("{open}{middle}\n{}", "}\n".repeat(LEVELS))
    };
    let write = json!({ "path": "deep.json", "content": deep("new") }).to_string();
    let service = runtime.block_on(Service::start([call_reply("write_file", &write), text_answer("Left as it was.")]));
    let setup = Setup::new(&["--base-url", &service.base_url, "--model", "m"]).size(100, 30);
    write_settings(&setup, NO_TITLES);
    let mut program = setup.with_file("deep.json", &deep("old")).start();
    program.until("Messages go to");
    submit_message(&mut program, "go");
    program.until_prompt("+ new");
    program.press_keys("n");
    program.until("Left as it was.");
    assert_eq!(program.file("deep.json"), Some(deep("old")));
    program.press_keys("\x04");
    assert_eq!(program.wait_for_exit(), 0);
}
