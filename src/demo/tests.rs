//! Scripts are read with the lines of their problems, and reply by the conversation alone.

use super::conversation::next_reply;
use super::script::{Action, Script, UserAct};
use super::{parse_markdown, parse_script};
use crate::chat::{Message, ToolCall};
use proptest::prelude::*;
use serde_json::json;
use std::time::Duration;

fn parse(text: &str) -> Script {
    parse_script("a", text).unwrap()
}

/// The line and the message of a script that cannot be used.
fn problem(text: &str) -> (usize, String) {
    let error = parse_script("a", text).unwrap_err();
    (error.line, error.message)
}

fn reply_text(script: &Script, messages: &[Message]) -> String {
    next_reply(script, messages).map_or("none".to_owned(), |reply| reply.text)
}

fn model(text: &str, calls: &[&str]) -> Message {
    let calls = calls.iter().map(|id| ToolCall { id: (*id).into(), name: "t".into(), arguments: "{}".into() });
    Message::Model { text: text.into(), calls: calls.collect(), echo: None }
}

fn result(id: &str, text: &str) -> Message {
    Message::Tool { call: id.into(), text: text.into() }
}

fn user(text: &str) -> Message {
    Message::User(text.into())
}

#[test]
fn the_tour_is_a_valid_script() {
    let tour = super::tour();
    assert!(tour.steps.len() > 20 && tour.files.len() == 8, "{}", tour.steps.len());
    assert_eq!(parse_script("tour", super::TOUR), Ok(tour));
}

#[test]
fn steps_keep_their_order_lines_and_standard_values() {
    let script = parse(
        "typing = 20\npause = 0.5\n\n[[step]]\ntype = \"hi\"\n\n[[step]]\npress = [\"enter\"]\npause = 2\n\n\
         [[step]]\nreply = \"ok\"\n[[step.call]]\ntool = \"list_files\"\narguments = { path = \"a\", depth = 2 }\n",
    );
    let lines: Vec<usize> = script.steps.iter().map(|step| step.line).collect();
    assert_eq!(lines, [4, 7, 11]);
    let pauses: Vec<Duration> = script
        .steps
        .iter()
        .filter_map(|step| if let Action::User(user) = &step.action { Some(user.pause) } else { None })
        .collect();
    assert_eq!(pauses, [Duration::from_millis(500), Duration::from_secs(2)]);
    let Action::User(first) = &script.steps[0].action else { panic!() };
    assert_eq!(first.act, UserAct::Type("hi".into(), 20));
    let (_, reply) = script.replies().next().unwrap();
    assert_eq!(reply.calls[0].arguments, json!({ "path": "a", "depth": 2 }));
    assert_eq!(reply.calls[0].id, "3_1");
}

#[test]
fn what_cannot_be_used_is_named_with_its_line() {
    let step = |text: &str| format!("title = \"a\"\n\n[[step]]\n{text}\n");
    for (text, line, part) in [
        ("title = 1".to_owned(), 1, "string"),
        ("titel = \"a\"".to_owned(), 1, "unknown field `titel`"),
        ("size = \"10x3\"".to_owned(), 1, "from 20x6 to 500x200"),
        ("\nmode = \"fast\"".to_owned(), 2, "\"plan\""),
        ("folder = \"../x\"".to_owned(), 1, "name of a folder"),
        ("[[file]]\npath = \"../x\"\ntext = \"\"".to_owned(), 1, "does not stay in the project"),
        ("[[file]]\npath = \"/x\"\ntext = \"\"".to_owned(), 1, "does not stay in the project"),
        (step("pres = \"y\""), 4, "unknown field"),
        (step("reply = \"a\"\ntype = \"b\""), 3, "a step has one of"),
        (step("type = \"\""), 3, "is empty"),
        (step("press = []"), 3, "is empty"),
        (step("type = \"a\\u001bb\""), 3, "control character"),
        (step("type = \"a\"\nwhen = { dry_run = true }"), 3, "belong to a reply"),
        (step("reply = \"a\"\npause = 1"), 3, "`delay`"),
        (step("pause = 1000"), 4, "from 0 to 600"),
        (step("reply = \"a\"\nspeed = 0"), 5, "characters per second"),
        (step("reply = \"{{x.first_line}}\""), 3, "not known"),
        (step("reply = \"a\"\nwhen = { call = \"x\", was = \"run\" }"), 3, "no call before this step has the id x"),
        (step("reply = \"a\"\nwhen = { call = \"x\" }"), 3, "a condition is"),
        (step("[[step.call]]\ntool = \"t\"\nresult = \"a\"\nfailure = \"b\""), 4, "not both"),
        (step("[[step.call]]\ntool = \"t\"\nid = \"a-b\""), 4, "letters, digits"),
        (step("reply = \"a\"\nrepeat = true\n[[step]]\nreply = \"b\""), 6, "never used"),
    ] {
        let (found, message) = problem(&text);
        assert!(found == line && message.contains(part), "{text}: {found}: {message}");
    }
    let twice = "[[file]]\npath = \"a\"\ntext = \"\"\n".repeat(2);
    assert!(problem(&twice).1.contains("given twice"));
}

#[test]
fn markdown_has_the_script_and_files_in_its_blocks() {
    let text = "# A demo\n\n```toml\ntitle = \"a\"\n```\n\ntext `with` marks\n\n````python file=src/a.py\n```\nx\n````\n\n\
                ```sh\nrm -rf /\n```\n\n```toml\n[[step]]\ntype = \"hi\"\n```\n";
    let script = parse_markdown("a", text).unwrap();
    assert_eq!(script.title.as_deref(), Some("a"));
    assert_eq!(script.files, [("src/a.py".to_owned(), "```\nx\n".to_owned())]);
    assert_eq!((script.steps.len(), script.steps[0].line), (1, 19));
    let open = parse_markdown("a", "a\n\n```toml\ntitle = \"a\"\n").unwrap_err();
    assert_eq!((open.line, open.message.as_str()), (3, "this block has no end"));
    assert!(parse_markdown("a", "nothing").unwrap_err().message.contains("```toml"));
}

const BRANCHES: &str = r#"
interrupted = "Again. "
[[step]]
reply = "Look."
[[step.call]]
id = "look"
tool = "t"
[[step]]
when = { call = "look", was = "denied" }
reply = "Denied."
[[step]]
when = { call = "look", was = ["run", "stopped"] }
[[step.text]]
text = "Saw {{look.first_line}}"
[[step.text]]
when = { dry_run = true }
text = ", rehearsed"
[[step]]
reply = "Bye."
[[step]]
reply = "Hint 1"
repeat = true
[[step]]
reply = "Hint 2"
repeat = true
"#;

#[test]
fn the_next_reply_depends_on_the_conversation_alone() {
    let script = parse(BRANCHES);
    let mut messages = vec![Message::System("s".into()), user("hi")];
    assert_eq!(reply_text(&script, &messages), "Look.");
    messages.extend([model("Look.", &["a_look"]), result("a_look", "one\ntwo")]);
    assert_eq!(reply_text(&script, &messages), "Saw one");
    messages[0] = Message::System("This is a dry run.".into());
    assert_eq!(reply_text(&script, &messages), "Saw one, rehearsed");
    *messages.last_mut().unwrap() = result("a_look", "The user denied this call.");
    assert_eq!(reply_text(&script, &messages), "Denied.");
    messages.push(model("Denied.", &[]));
    for expected in ["Bye.", "Hint 1", "Hint 2", "Hint 1"] {
        messages.push(user("more"));
        assert_eq!(reply_text(&script, &messages), expected);
        messages.push(model(expected, &[]));
    }
}

#[test]
fn a_reply_that_was_stopped_is_played_again_and_says_so() {
    let script = parse(BRANCHES);
    let messages = [user("hi"), model("Lo", &[]), user("go on")];
    assert_eq!(reply_text(&script, &messages), "Again. Look.");
    let messages = [user("hi"), model("", &["a_look-2"]), result("a_look-2", "x"), user("go on")];
    assert_eq!(reply_text(&script, &messages), "Again. Saw x", "the session may extend ids");
    let other = [user("hi"), model("", &["a_look2"]), result("a_look2", "x")];
    assert_eq!(reply_text(&script, &other), "Look.", "another call");
    assert_eq!(reply_text(&parse("[[step]]\nreply = \"a\"\n"), &[user("a"), model("a", &[]), user("b")]), "none");
}

proptest! {
    #[test]
    fn any_text_is_a_script_or_an_error_within_it(text in "(\\[\\[(step|file|step\\.call|step\\.text)\\]\\]\n|(type|press|reply|when|path|text|size|pause) = (\"[a-z{}.x0-9]*\"|[0-9.]{1,4}|\\{ call = \"a\" \\})\n|.{0,5}\n){0,12}") {
        match parse_script("a", &text) {
            Ok(script) => prop_assert!(script.steps.windows(2).all(|pair| pair[0].line <= pair[1].line)),
            Err(error) => prop_assert!(error.line >= 1 && error.line <= text.lines().count() + 1, "{}", error.line),
        }
        let _ = parse_markdown("a", &text);
    }
}
