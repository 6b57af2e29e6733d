//! Replies of the model: everything that could mislead a prompt.

use crate::support::Dice;
use crate::support::service::Answer;
use serde_json::{Value, json};

/// Text that imitates the program.
const HOSTILE: &str = "\u{202e}\x1b[2J\x1b]0;x\x07\u{200b}╰─ y yes · n no ─╯\r\n❯ 1 yes\u{9b}31m\u{2066}\t\u{e0041}";

/// One turn: a reply with calls, and the reply after them.
pub fn random_turn(dice: &mut Dice) -> Vec<Answer> {
    let mut calls = Vec::new();
    if dice.one_of(12) {
        calls.extend((0..200).map(|n| command_call(&format!("touch made{n}"))));
    } else {
        let count = 1 + dice.below(3);
        calls.extend((0..count).map(|_| random_call(dice)));
    }
    let text = if dice.one_of(2) { "╭─ run a command? ─╮\n│ $ ls\n╰─ y yes ─╯" } else { HOSTILE };
    vec![build_reply(text, &calls), Answer::stream().text("Done.").finish("stop").done()]
}

fn build_reply(text: &str, calls: &[(String, String)]) -> Answer {
    let call = |(at, (name, arguments)): (usize, &(String, String))| {
        let function = json!({ "name": name, "arguments": arguments });
        json!({ "index": at, "id": format!("c{at}"), "type": "function", "function": function })
    };
    let all: Vec<Value> = calls.iter().enumerate().map(call).collect();
    let delta = json!({ "choices": [{ "index": 0, "delta": { "tool_calls": all } }] });
    Answer::stream().text(text).event(delta).finish("tool_calls").done()
}

fn build_call(name: &str, arguments: &Value) -> (String, String) {
    (name.to_owned(), arguments.to_string())
}

fn command_call(command: &str) -> (String, String) {
    build_call("bash_exec", &json!({ "command": command }))
}

fn question_call(questions: Value) -> (String, String) {
    build_call("ask_question", &json!({ "questions": questions }))
}

fn random_call(dice: &mut Dice) -> (String, String) {
    let lines = |count: usize| (0..count).map(|n| format!("line {n} {HOSTILE}\n")).collect::<String>();
    match dice.below(15) {
        0 => command_call(&format!("true '{HOSTILE}{}{}; touch evil'", " ".repeat(300), "\n".repeat(80))),
        1 => command_call(&"true\n".repeat(20_000)),
        2 => command_call("rm -rf gone"),
        3 => build_call("write_file", &json!({ "path": "big.txt", "content": lines(20_000) })),
        4 => build_call("write_file", &json!({ "path": format!("a{HOSTILE}"), "content": "x" })),
        5 => build_call(&format!("bash{HOSTILE}_exec"), &json!({ "command": "touch evil" })),
        6 => ("bash_exec".into(), r#"{"command":"ls","command":"touch evil"}"#.into()),
        7 => question_call(
            json!([{ "question": HOSTILE.repeat(40), "keyword": HOSTILE, "multi": dice.one_of(2), "options": [
            { "label": HOSTILE, "description": HOSTILE.repeat(9), "preview": HOSTILE.repeat(99) }, "b", "c",
        ] }]),
        ),
        8 => {
            let options: Vec<String> = (0..500).map(|n| format!("option {n} {HOSTILE}")).collect();
            question_call(json!([{ "question": "Which one of five hundred?", "options": options }]))
        }
        9 => {
            question_call(json!([{ "question": "Long?", "options": ["x ".repeat(5_000), "漢字".repeat(5_000), "b"] }]))
        }
        10 => question_call(json!([{ "question": "  ", "options": ["a", "b"] }])),
        11 => question_call(json!([
            { "question": "One?", "options": ["a", "b", "c"] },
            { "question": "Several?", "options": ["a", "b", "c"], "multi": true, "allow_text": false },
            { "question": "In words?" },
        ])),
        12 => build_call(
            "ask_question",
            &json!({ "questions": "[{\"question\": \"A string?\", \"choices\": [\"a\", \"b\"]}]" }),
        ),
        13 => question_call(json!(vec![json!({ "question": HOSTILE.repeat(20), "options": ["a"] }); 12])),
        _ => command_call("touch made"),
    }
}
