//! What a tool file may say, and the problems of one that says something else.

use super::*;
use crate::tools::tool_file::HttpDefinition;
use proptest::prelude::*;
use serde_json::json;
use std::time::Duration;

const BOOKING: &str = r#"name = "Book Appointment!"
type = "http_api"
method = "get"
url = "https://h.example/{{day}}"
[[parameters]]
name = "day"
type = "string"
description = "Day"
[[parameters]]
name = "count"
type = "number"
description = "Count"
required = false
[[parameters]]
name = "details"
type = "object"
description = "Details"
[[parameters]]
name = "tags"
type = "array"
description = "Tags"
[[preset_parameters]]
name = "customer_id"
type = "number"
value_template = "7"
"#;

fn http_tool(lines: &str) -> String {
    format!("name = \"find\"\ntype = \"http_api\"\nmethod = \"POST\"\nurl = \"https://h.example/x\"\n{lines}")
}

/// Returns the problems as `line: message`.
fn problems(text: &str) -> Vec<String> {
    let parsed = parse_tool("t.toml", text);
    parsed.problems.iter().map(|problem| format!("{}: {}", problem.line, problem.message)).collect()
}

fn http(text: &str) -> HttpDefinition {
    let parsed = parse_tool("t.toml", text);
    match parsed.definition.map(|definition| definition.kind) {
        Some(ToolKind::Http(http)) => *http,
        _ => panic!("{:?}", parsed.problems),
    }
}

#[test]
fn the_model_sees_the_parameters_and_no_preset() {
    let definition = parse_tool("t.toml", BOOKING).definition.unwrap();
    let spec = definition.head.tool_spec();
    assert_eq!((spec.name.as_str(), spec.description.as_str()), ("book_appointment", "Execute Book Appointment! tool"));
    let schema = spec.parameters.to_value();
    let names: Vec<&String> = schema["properties"].as_object().unwrap().keys().collect();
    assert_eq!(names, ["day", "count", "details", "tags"]);
    assert_eq!(schema["required"], json!(["day", "details", "tags"]));
    assert_eq!((definition.kind_name(), definition.effect_name()), ("http_api", "read"));
}

#[test]
fn function_names_are_made_of_names() {
    for (name, expected) in [
        ("Book Appointment!", "book_appointment"),
        ("__a--B__", "a_b"),
        ("Wetter für heute", "wetter_f_r_heute"),
        ("!", ""),
    ] {
        assert_eq!(to_function_name(name), expected);
    }
}

#[test]
fn problems_name_their_lines() {
    for (lines, expected) in [
        ("timeout_ms = 0", "5: timeout_ms is 0. Use 1 to 120000 ms"),
        ("timeout_ms = 120001", "5: timeout_ms is 120001. Use 1 to 120000 ms"),
        ("\n\nurll = \"x\"", "7: urll is not a key of a tool of type http_api. Did you mean url?"),
        ("argv = [\"x\"]", "5: argv is not a key of a tool of type http_api"),
        ("category = \"mcp\"", "5: category must match type"),
        ("effect = \"read\"", "5: effect cannot be \"read\" for POST: it can only be raised"),
        ("effect = \"none\"", "5: effect is \"none\". Use \"read\" or \"external\""),
        ("[headers]\nA = \"b\"\nX = \"a\\nb\"", "7: header \"X\" has an invalid name or value"),
        ("[headers]\n\"a b\" = \"b\"", "6: header \"a b\" has an invalid name or value"),
        ("[headers]\nHost = \"b\"", "6: header Host is set by aye"),
        ("[headers]\nAb = \"b\"\naB = \"c\"", "7: header aB is given twice"),
        ("[query]\nq = \"{{a\"", "6: query.q: “{{” is not closed by “}}”"),
        ("[body_template]\na = \"{{a}\"", "5: body_template: “{{” is not closed by “}}”"),
        ("query_array = \"x\"", "5: unknown variant `x`, expected one of `json`, `repeat`, `csv`"),
        ("[[parameters]]\nname = \"a\"\ntype = \"text\"", "7: unknown variant `text`"),
        (
            "[[parameters]]\nname = \"a b\"\ntype = \"string\"",
            "5: the name \"a b\" may have letters, digits, _, - and . only",
        ),
        ("credential = \"\"", "5: credential is empty"),
    ] {
        let found = problems(&http_tool(lines));
        assert!(found.iter().any(|problem| problem.starts_with(expected)), "{lines}: {found:?}");
        assert!(parse_tool("t.toml", &http_tool(lines)).definition.is_none(), "{lines}");
    }
    let twice = http_tool(
        "[[parameters]]\nname = \"a\"\ntype = \"string\"\n[[preset_parameters]]\nname = \"a\"\ntype = \"string\"\nvalue_template = \"x\"",
    );
    assert_eq!(problems(&twice), ["8: two parameters have the name a"]);
}

#[test]
fn methods_and_types_are_checked() {
    let method_error = "3: method must be one of GET, POST, PUT, PATCH, DELETE";
    for method in ["5", "\"HEAD\"", "\"TRACE\"", "true"] {
        let text = http_tool("").replace("\"POST\"", method);
        assert_eq!(problems(&text), [method_error], "{method}");
    }
    assert_eq!(http(&http_tool("").replace("POST", "delete")).method.as_str(), "DELETE");
    for (kind, part) in [("mcp", "not supported"), ("calculator", "built in"), ("", "type is missing")] {
        let found = problems(&http_tool("").replace("http_api", kind));
        assert!(found[0].contains(part), "{kind}: {found:?}");
    }
    assert_eq!(problems("name = "), ["1: this is not TOML (string values must be quoted, expected literal string)"]);
    assert_eq!(problems(&http_tool("").replace("\"find\"", "\" \"")), ["1: name is missing"]);
    let digits = problems(&http_tool("").replace("\"find\"", "\"1st\""));
    assert!(digits[0].contains("does not begin with a letter"), "{digits:?}");
    let long = problems(&http_tool("").replace("\"find\"", &format!("\"{}\"", "a".repeat(65))));
    assert!(long[0].contains("longer than 64"), "{long:?}");
    let body = problems(&http_tool("[body_template]\na = 1").replace("POST", "GET"));
    assert_eq!(body, ["5: body_template is for POST, PUT and PATCH only"]);
}

#[test]
fn warnings_leave_the_tool_usable() {
    let text = http_tool("customMessage = \"Hello\"\n[headers]\nAuthorization = \"Bearer abc\"\nX-Other = \"a\"");
    let parsed = parse_tool("t.toml", &text.replace("/x", "/{{missing}}?api_key=abc"));
    assert!(parsed.definition.is_some() && parsed.errors().next().is_none());
    let warnings: Vec<String> = parsed.problems.iter().map(ToString::to_string).collect();
    assert_eq!(
        warnings,
        [
            "t.toml:4: missing is neither a parameter nor a preset",
            "t.toml:4: url contains the value of api_key, which is shown in prompts and sessions",
            "t.toml:5: customMessage has no effect: aye does not speak",
            "t.toml:7: header Authorization is written in the file; a secret belongs into a credential",
        ]
    );
}

#[test]
fn defaults_and_effects_are_strict() {
    let post = http(&http_tool(""));
    assert_eq!((post.timeout, post.allow_private, post.is_external), (Duration::from_secs(5), false, true));
    let get = http_tool("").replace("POST", "GET");
    assert!(!http(&get).is_external);
    assert!(http(&format!("{get}effect = \"external\"\n")).is_external);
    let description = parse_tool("t.toml", &http_tool("credential = \"github\"\nallow_private = true"));
    let effects = description.definition.unwrap().describe_effects();
    assert_eq!(
        effects,
        [
            "tool find for the model: Execute find tool",
            "sends POST https://h.example/x",
            "warning: sends the credential github",
            "warning: its server may be in a private network",
            "arguments set by the model: none",
        ]
    );
}

#[test]
fn tools_that_end_the_turn_are_checked() {
    let end = |lines: &str| format!("name = \"q\"\ntype = \"end_conversation\"\n{lines}\n");
    let transfer = |lines: &str| format!("name = \"q\"\ntype = \"transfer\"\n{lines}\n");
    let audio = "has no effect: aye does not speak";
    for (text, expected) in [
        (end("messageType = \"loud\""), "3: messageType is \"loud\". Use \"none\", \"custom\" or \"audio\"".to_owned()),
        (end("messageType = \"custom\""), "3: customMessage is missing".to_owned()),
        (end("messageType = \"audio\""), format!("3: messageType \"audio\" {audio}")),
        (end("audioRecordingId = \"r1\""), format!("3: audioRecordingId {audio}")),
        (end("customMessage = \"Bye\""), "3: customMessage has no effect unless".to_owned()),
        (end("endCallReasonDescription = \"Why\""), "3: endCallReasonDescription has no effect".to_owned()),
        (end("parameters = []"), "3: parameters is not a key of a tool of type end_conversation".to_owned()),
        (transfer(""), "1: destination is missing. Use \"human\" or \"profile:NAME\"".to_owned()),
        (transfer("destination = \"+491234567\""), "3: destination \"+491234567\" is not supported".to_owned()),
        (
            transfer("\ndestination = \"agent:x\""),
            "4: destination \"agent:x\": this version of aye has no agents".to_owned(),
        ),
        (transfer("destination = \"profile:\""), "3: destination names no profile".to_owned()),
        (transfer("destination = \"human\"\ntimeout = 4"), "4: timeout must be 5 to 120 seconds".to_owned()),
        (transfer("destination = \"human\"\ntimeout = 121"), "4: timeout must be 5 to 120 seconds".to_owned()),
        (transfer("destination = \"human\"\ntimeout = 30"), format!("4: timeout {audio}")),
        (transfer("destination = 5"), "3: invalid type".to_owned()),
    ] {
        let found = problems(&text);
        assert!(found.iter().any(|problem| problem.starts_with(&expected)), "{expected}: {found:?}");
    }
    let kind = |text: &str| parse_tool("t.toml", text).definition.map(|definition| definition.kind_name());
    assert_eq!(kind(&end("messageType = \"audio\"")), Some("end_conversation"), "the tool works without speech");
    assert_eq!(kind(&transfer("destination = \"profile:local\"")), Some("transfer"));
    let with_reason = parse_tool("t.toml", &end("endCallReason = true\nendCallReasonDescription = \"In one word\""));
    let spec = with_reason.definition.unwrap().head.tool_spec();
    assert_eq!(spec.parameters.to_value()["required"], json!(["reason"]));
    assert_eq!(spec.parameters.to_value()["properties"]["reason"]["description"], "In one word");
}

#[test]
fn commands_are_checked() {
    let command = |lines: &str| format!("name = \"q\"\ntype = \"command\"\n{lines}\n");
    let valid = command(
        "argv = [\"psql\", \"-c\", \"{{sql}}\\\\n\"]\nfolder = \"db/dev\"\ntimeout_ms = 1500\n[[parameters]]\nname = \"sql\"\ntype = \"string\"",
    );
    let definition = parse_tool("t.toml", &valid).definition.unwrap();
    let ToolKind::Command(parsed) = definition.kind else { panic!("a command") };
    assert_eq!((parsed.seconds, parsed.argv[2].to_string().as_str()), (Some(2), "{{sql}}\\n"));
    for (lines, expected) in [
        ("", "1: argv is missing. Use a program and its arguments"),
        ("argv = []", "3: argv is missing. Use a program and its arguments"),
        ("argv = [\"{{a}}\"]", "3: the program in argv has a placeholder"),
        ("argv = [\"eval\", \"x\"]", "3: eval is a command of the shell; argv runs a program"),
        ("argv = [\"a\"]\nfolder = \"../x\"", "4: folder must be a folder of the project, without . and .."),
        ("argv = [\"a\"]\nfolder = \"/x\"", "4: folder must be a folder of the project, without . and .."),
        ("argv = [\"a\"]\nnetwork = \" \"", "4: network must be the reason why the network is needed"),
        ("argv = [\"a\"]\nurl = \"https://h.example\"", "4: url is not a key of a tool of type command"),
    ] {
        let found = problems(&command(lines));
        assert!(found.iter().any(|problem| problem == expected), "{lines}: {found:?}");
    }
}

proptest! {
    #[test]
    fn no_text_makes_the_parser_panic(text in "([a-z_]{1,9} = (\"[^\"]{0,9}\"|[0-9]{1,20}|\\[\\]|\\{\\})\n|\\[\\[?[a-z_]{1,9}\\]\\]?\n|\\PC{0,20}\n){0,8}") {
        let parsed = parse_tool("t.toml", &text);
        prop_assert!(parsed.definition.is_some() || !parsed.problems.is_empty());
        let _ = parse_tool("t.toml", &http_tool(&text));
    }
}
