//! What holds for the schema of every built-in tool, and that the code refuses what the schema excludes.

use super::*;
use crate::browser::executable::BrowserProgram;
use crate::project::shell::command_control::CommandControl;
use crate::tools::background_commands::BackgroundCommand;

/// Maximum characters of a tool's description.
const MAX_DESCRIPTION_CHARS: usize = 300;

/// All built-in tools, with a browser that is not started, a workspace, and the background command 1.
fn complete_toolbox() -> Toolbox {
    let browser =
        BrowserProgram { path: "/nonexistent".into(), aye_path: "/nonexistent".into(), environment: Vec::new() };
    let settings = ToolSettings { browser: Some(browser), doc_folders: Some(Vec::new()), ..ToolSettings::default() };
    let places = crate::store::Places::within(std::path::Path::new("/nonexistent"));
    let workspace = Workspace::new(&places, crate::chat::SessionId("01A".into()), crate::workspace::Limits::default());
    let commands = BackgroundCommands::default();
    commands.insert(1, BackgroundCommand { command: "serve".into(), control: Arc::<CommandControl>::default() });
    let tools = Toolbox::with_builtin_tools(settings).with_background_commands(&Arc::new(commands));
    let skill = crate::chat::skill::Skill {
        name: "forms".into(),
        description: "Fill forms".into(),
        folder: "/nonexistent".into(),
        shown_folder: "/nonexistent".into(),
        trusted: None,
    };
    let skills: Arc<dyn Tool> = Arc::new(crate::tools::load_skill::LoadSkill(vec![skill]));
    tools.with_workspace(Arc::new(workspace)).with_project_tools(vec![skills])
}

fn all_group_specs() -> Vec<ToolSpec> {
    Toolbox::spec_groups().into_iter().flat_map(|(_, specs)| specs).collect()
}

#[test]
fn groups_contain_every_built_in_tool_once() {
    let tools = complete_toolbox();
    let sorted = |mut names: Vec<String>| {
        names.sort();
        names
    };
    let search = tools.search_tools().map(|tool| tool.name().into_owned());
    let offered = sorted(tools.tool_names().into_iter().chain(search).collect());
    assert_eq!(sorted(all_group_specs().into_iter().map(|spec| spec.name).collect()), offered);
    let budgets = crate::chat::token_budgets::Budgets::built_in();
    let unmeasured: Vec<String> = tools
        .tool_specs()
        .iter()
        .filter(|spec| budgets.measured_tool(spec).is_none())
        .map(|spec| spec.name.clone())
        .collect();
    assert_eq!(unmeasured, [""; 0], "a session sends the measured texts");
}

/// Checks that every property has a type and a description, and that the required fields exist.
fn check_properties(place: &str, schema: &Value) {
    let Some(properties) = schema["properties"].as_object() else { return };
    for (name, property) in properties {
        let place = format!("{place}.{name}");
        assert!(property["type"].is_string(), "{place}");
        assert!(property["description"].as_str().is_some_and(|text| !text.trim().is_empty()), "{place}");
        check_properties(&place, property);
        check_properties(&place, &property["items"]);
    }
    for field in schema["required"].as_array().into_iter().flatten() {
        assert!(properties.contains_key(field.as_str().unwrap()), "{place}: {field}");
    }
}

#[test]
fn every_schema_is_complete() {
    for spec in all_group_specs() {
        let chars = spec.description.chars().count();
        assert!((1..=MAX_DESCRIPTION_CHARS).contains(&chars), "{} has {chars} characters", spec.name);
        assert_eq!(spec.parameters.to_value()["type"], "object");
        assert_eq!(spec.parameters.to_value()["additionalProperties"], false);
        check_properties(&spec.name, &spec.parameters.to_value());
    }
}

fn todo() -> Value {
    json!({"content": "Run the tests", "activeForm": "Running the tests", "status": "pending"})
}

/// Arguments that a tool accepts. Those that need a page, a file of a workspace or a host fail later.
fn valid_arguments(tool: &str) -> Value {
    match tool {
        "ask_question" => json!({"questions": [{"question": "Which?", "options": [{"label": "a"}, {"label": "b"}]}]}),
        "read_file" | "list_files" => json!({"path": "x"}),
        "search_text" => json!({"pattern": "x"}),
        "edit_file" => json!({"path": "x", "old_text": "old", "new_text": "new"}),
        "write_file" => json!({"path": "y", "content": "z"}),
        "bash_exec" => json!({"command": "true"}),
        "sub_agent" => json!({"name": "n", "task": "t"}),
        "calculator" => json!({"expression": "1 + 1"}),
        "todo_write" => json!({"todos": [todo()]}),
        "web_fetch" | "browser_navigate" => json!({"url": "https://example.com/"}),
        "run_mcp_tool" => json!({"server_url": "https://example.com/", "tool_name": "t"}),
        "browser_act" => json!({"action": "click", "target": "e1"}),
        "browser_screenshot" | "list_workspace_files" => json!({}),
        "read_workspace_file" | "delete_workspace_file" => json!({"path": "a.md"}),
        "write_workspace_file" => json!({"filename": "a.md", "content": "z"}),
        "read_output" | "kill" => json!({"id": 1}),
        "find_tool" => json!({"words": "w"}),
        "describe_tool" => json!({"name": "n"}),
        "load_skill" => json!({"name": "forms"}),
        "search_docs" => json!({"query": "w"}),
        "get_doc_page" => json!({"path": "aye/mcp"}),
        "run_tool" => json!({"name": "n", "arguments": {}}),
        other => panic!("state valid arguments of {other}"),
    }
}

/// Plans a call with these arguments. `Err` only if the arguments are refused.
fn plan(tools: &Toolbox, tool: &str, arguments: &Value) -> Result<Option<Intent>, String> {
    let files = MemoryProject::with_files(&[("x", "old\n")]);
    match tools.find_tool(tool).unwrap().plan_call(arguments, &files) {
        Ok(intent) => Ok(Some(intent)),
        Err(Error::Arguments(reason)) => Err(reason),
        Err(_) => Ok(None),
    }
}

/// A value that a keyword of the schema excludes.
fn excluded_value(keyword: &str, value: &Value) -> Option<Value> {
    let number = value.as_i64();
    let text = |length: i64| json!("x".repeat(usize::try_from(length).unwrap()));
    let list = |length: i64| json!(vec!["x"; usize::try_from(length).unwrap()]);
    match keyword {
        "minimum" => number.map(|limit| json!(limit - 1)),
        "maximum" => number.map(|limit| json!(limit + 1)),
        "maxLength" => number.map(|limit| text(limit + 1)),
        "minLength" => number.map(|limit| text(limit - 1)),
        "maxItems" => number.map(|limit| list(limit + 1)),
        "minItems" => number.map(|limit| list(limit - 1)),
        "enum" => Some(json!("none of these")),
        "type" => Some(match value.as_str() {
            Some("string") => json!({"no": "string"}),
            Some("object") => json!(1),
            Some(_) => json!({"no": "such type"}),
            None => panic!("{value}"),
        }),
        "description" => None,
        other => panic!("state which value {other} excludes"),
    }
}

#[test]
fn what_a_keyword_of_a_schema_excludes_is_refused() {
    let tools = complete_toolbox();
    let mut checked = 0;
    for spec in all_group_specs() {
        let valid = valid_arguments(&spec.name);
        // No tool is deferred, so there is none to describe or run.
        if !["describe_tool", "run_tool"].contains(&spec.name.as_str()) {
            assert!(plan(&tools, &spec.name, &valid).is_ok(), "{}: {:?}", spec.name, plan(&tools, &spec.name, &valid));
        }
        let mut refuse = |arguments: Value| {
            assert!(plan(&tools, &spec.name, &arguments).is_err(), "{} accepts {arguments}", spec.name);
            checked += 1;
        };
        for (name, property) in spec.parameters.to_value()["properties"].as_object().unwrap() {
            for (keyword, value) in property.as_object().unwrap() {
                // The questions of a model are accepted in many shapes.
                let is_checked = keyword != "items" && spec.name != "ask_question";
                if let Some(excluded) = Some(()).filter(|()| is_checked).and_then(|()| excluded_value(keyword, value)) {
                    let mut arguments = valid.clone();
                    arguments[name] = excluded;
                    refuse(arguments);
                }
            }
        }
        for field in spec.parameters.to_value()["required"].as_array().into_iter().flatten() {
            let mut arguments = valid.clone();
            arguments.as_object_mut().unwrap().remove(field.as_str().unwrap());
            refuse(arguments);
        }
        if spec.name != "ask_question" {
            let mut arguments = valid.clone();
            arguments["no_such_parameter"] = json!(1);
            refuse(arguments);
        }
    }
    assert!(checked > 100, "{checked}");
}

/// How the code treats a number beyond a limit in a description.
enum BeyondLimit {
    /// The call is refused.
    Refused,
    /// The limit is used in its place, as the description says.
    Capped,
    /// What exceeds it is dropped, and the model is told how much.
    Dropped,
    /// It limits the result; the tests of the tool check that.
    Result,
}

/// Limits that descriptions state: tool, place, the words, and what exceeds the limit by one.
fn stated_limits() -> Vec<(&'static str, &'static str, &'static str, Value, BeyondLimit)> {
    let questions = |count: usize| json!({"questions": vec![json!({"question": "Which?"}); count]});
    let options: Vec<Value> = (0..26).map(|number| json!({"label": format!("option {number}")})).collect();
    vec![
        ("ask_question", "questions", "1 to 10", questions(11), BeyondLimit::Dropped),
        ("ask_question", "questions", "1 to 10", questions(0), BeyondLimit::Refused),
        (
            "ask_question",
            "questions[].options",
            "Up to 25",
            json!({"questions": [{"question": "Which?", "options": options}]}),
            BeyondLimit::Dropped,
        ),
        ("read_file", "", "at most 2000", Value::Null, BeyondLimit::Result),
        ("bash_exec", "timeout", "capped at 600", json!({"command": "true", "timeout": 601}), BeyondLimit::Capped),
        ("sub_agent", "name", "2 to 4", Value::Null, BeyondLimit::Result),
        ("todo_write", "todos", "At most 50", json!({"todos": vec![todo(); 51]}), BeyondLimit::Refused),
        ("list_workspace_files", "limit", "1-100", json!({"limit": 101}), BeyondLimit::Refused),
        ("list_workspace_files", "limit", "1-100", json!({"limit": 0}), BeyondLimit::Refused),
        ("read_output", "wait", "capped at 60", json!({"id": 1, "wait": 61}), BeyondLimit::Capped),
    ]
}

/// Finds words of a description that state a limit: `at most 5`, `up to 5`, `capped at 5`, `1 to 5`, `1-5`.
fn find_limit_words(text: &str) -> Vec<String> {
    let words: Vec<&str> =
        text.split_whitespace().map(|word| word.trim_matches([',', '.', ';', ':', '(', ')'])).collect();
    let is_number = |word: &str| !word.is_empty() && word.chars().all(|c| c.is_ascii_digit());
    let mut found = Vec::new();
    for (index, word) in words.iter().enumerate() {
        let range = word.split_once(['-', '–']).is_some_and(|(first, last)| is_number(first) && is_number(last));
        if range {
            found.push((*word).to_owned());
        }
        let [first, second] = [index.checked_sub(2), index.checked_sub(1)].map(|at| at.map_or("", |at| words[at]));
        let before = format!("{first} {second}").to_lowercase();
        let is_limit = ["at most", "up to", "capped at", "at least", "limited to", "no more"]
            .contains(&before.as_str())
            || second == "to" && is_number(first);
        if is_number(word) && is_limit {
            found.push(format!("{first} {second} {word}"));
        }
    }
    found
}

#[test]
fn every_limit_in_a_description_is_enforced() {
    let tools = complete_toolbox();
    let stated = stated_limits();
    let mut found = Vec::new();
    for spec in all_group_specs() {
        let fields = crate::chat::schema_diff::list_fields(&spec.parameters.to_value());
        let texts = std::iter::once((String::new(), spec.description.clone()));
        for (place, text) in texts.chain(fields.into_iter().map(|field| (field.path, field.description))) {
            found.extend(find_limit_words(&text).into_iter().map(|words| (spec.name.clone(), place.clone(), words)));
        }
    }
    for (tool, place, words) in &found {
        let is_tried =
            |limit: &&(&str, &str, &str, Value, BeyondLimit)| (limit.0, limit.1, limit.2) == (tool, place, words);
        assert!(stated.iter().any(|limit| is_tried(&limit)), "no test exceeds “{words}” of {tool} {place}");
    }
    for (tool, place, words, arguments, beyond) in stated {
        let is_found =
            found.iter().any(|known| (known.0.as_str(), known.1.as_str(), known.2.as_str()) == (tool, place, words));
        assert!(is_found, "{tool} {place} no longer says “{words}”");
        let planned = plan(&tools, tool, &arguments);
        match beyond {
            BeyondLimit::Result => {}
            BeyondLimit::Refused => assert!(planned.is_err(), "{tool} accepts {arguments}"),
            BeyondLimit::Dropped => match planned.unwrap().unwrap() {
                Intent::Ask(questions) => {
                    assert_eq!(questions.dropped.questions + questions.dropped.options, 1, "{arguments}");
                }
                Intent::Act(plan) => panic!("{plan:?}"),
            },
            BeyondLimit::Capped => {
                let (mut at_limit, parameter) = (arguments.clone(), place);
                at_limit[parameter] = json!(arguments[parameter].as_i64().unwrap() - 1);
                let work = |arguments: &Value| match plan(&tools, tool, arguments).unwrap().unwrap() {
                    Intent::Act(plan) => format!("{:?}", plan.work),
                    Intent::Ask(questions) => panic!("{questions:?}"),
                };
                assert_eq!(work(&arguments), work(&at_limit));
                at_limit[parameter] = json!(arguments[parameter].as_i64().unwrap() - 2);
                assert_ne!(work(&arguments), work(&at_limit), "the limit is lower than stated");
            }
        }
    }
}
