//! Tests that apply to every tool.

mod schema_invariants;

use super::*;
use crate::tools::memory_project::MemoryProject;
use crate::tools::tests::{plan_call, run_call};
use proptest::prelude::*;
use serde_json::{Value, json};

fn all_tools() -> Toolbox {
    Toolbox::with_builtin_tools(ToolSettings::default())
}

/// The specs of all tools, those for background commands and deferred tools included.
fn all_specs() -> Vec<ToolSpec> {
    let specs = all_tools().tool_specs().into_iter().chain(Toolbox::background_specs());
    let specs = specs.chain(Toolbox::workspace_specs()).chain(Toolbox::search_specs());
    specs.chain(Toolbox::browser_specs()).chain(Toolbox::doc_specs()).collect()
}

/// Plans a call that a model made.
fn plan_model_call(call: &ToolCall, files: &dyn Reader) -> Result<Intent, Error> {
    let is_apply_call = false;
    all_tools().plan_call(call, files, is_apply_call)
}

#[test]
fn names_for_rules_are_those_of_the_specs() {
    let names = |specs: Vec<ToolSpec>| specs.into_iter().map(|spec| spec.name).collect::<Vec<_>>();
    assert_eq!(names(Toolbox::workspace_specs()), WORKSPACE_TOOLS);
    assert_eq!(names(Toolbox::browser_specs()), BROWSER_TOOLS);
    let rule_names = all_tools().rule_names();
    let absent: Vec<String> =
        names(all_specs()).into_iter().filter(|name| name != RUN_TOOL && !rule_names.contains(name)).collect();
    assert_eq!(absent, [""; 0]);
}

/// A custom tool without parameters.
struct CustomTool(String);

#[async_trait::async_trait]
impl Tool for CustomTool {
    fn tool_spec(&self) -> ToolSpec {
        let (name, parameters) = (self.0.clone(), json!({"type": "object", "properties": {}}).into());
        ToolSpec { name, description: "Reports tides.".into(), parameters, is_custom: true, ..ToolSpec::default() }
    }

    fn plan_call(&self, _: &Value, _: &dyn Reader) -> Result<Intent, Error> {
        Err(Error::Failed("not called".into()))
    }
}

/// Runs a call of a tool that only reads what the toolbox has.
async fn run_search(tools: &Toolbox, name: &str, arguments: Value) -> Result<String, Error> {
    let (tool, files) = (tools.find_tool(name)?, Arc::new(MemoryProject::with_files(&[])));
    let plan = plan_call(&*tool, arguments, &files)?;
    assert_eq!((&plan.access, &plan.grant), (&crate::chat::Access::Nothing, &None));
    run_call(&*tool, &plan, &files).await
}

#[tokio::test]
async fn custom_tools_are_searched_and_described() {
    let tools = all_tools().with_user_tools(vec![Arc::new(CustomTool("tides".into()))], Vec::new());
    assert_eq!(
        tools.tool_names().iter().filter(|name| ["find_tool", "describe_tool", "run_tool"].contains(&&***name)).count(),
        0,
        "{:?}",
        tools.tool_names()
    );
    let found = run_search(&tools, "find_tool", json!({"words": "tide"})).await.unwrap();
    assert!(found.starts_with("tides: Reports tides.\n") && !found.contains("read_file"), "{found}");
    let described = run_search(&tools, "describe_tool", json!({"name": "tides"})).await.unwrap();
    assert!(described.contains(r#""parameters":{"type":"object""#), "{described}");
    let error = run_search(&tools, "describe_tool", json!({"name": "bash_exec"})).await.unwrap_err().to_string();
    assert!(error.contains("find_tool searches"), "{error}");
    let error = run_search(&tools, "run_tool", json!({"name": "run_tool"})).await.unwrap_err().to_string();
    assert!(error.contains("cannot call this"), "{error}");
    assert!(
        tools.rule_names().contains(&"find_tool".to_owned()) && !tools.rule_names().contains(&"run_tool".to_owned())
    );
}

#[test]
fn unknown_tool_error_lists_available_tools() {
    let error = all_tools().find_tool("bash").err().map(|error| error.to_string());
    let names: Vec<String> = all_tools().tool_specs().into_iter().map(|spec| spec.name).collect();
    assert!(names.starts_with(&["ask_question".to_owned(), "read_file".to_owned()]), "{names:?}");
    assert_eq!(error, Some(format!("Unknown tool “bash”. Available tools: {}.", names.join(", "))));
}

#[test]
fn r64_command_parser_accepts_any_unicode() {
    let files = MemoryProject::with_files(&[]);
    let templates =
        ["{X}", "{X..3}", "a{1..X}", "${X", "$X", "<X", "2>&X", "((X", "[[ X", "X=1", "<<X\nX\n", "'X' X", "a X>b"];
    for character in ['é', '漢', '\u{2003}', '\u{fffd}', '😀', '\u{10ffff}'] {
        for line in templates {
            let command = line.replace('X', &character.to_string());
            let arguments = json!({"command": command}).to_string();
            let call = ToolCall { id: "1".into(), name: "bash_exec".into(), arguments };
            let Ok(Intent::Act(plan)) = plan_model_call(&call, &files) else { panic!("{command}") };
            assert!(matches!(plan.access, crate::chat::Access::Run(_)), "{command}: {:?}", plan.access);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn no_arguments_make_planning_panic(text in ".{0,60}", json in r#"\{("(path|content|command|pattern|glob|old_text|new_text|questions|question|options|timeout|depth)":("[^"\\]{0,9}"|[0-9]{1,25}|null|\[\]),?){1,4}\}"#, word in ".{0,20}") {
        let files = MemoryProject::with_files(&[("x", "é\r\nx\n")]);
        let filled = json!({"path": word, "content": word, "command": word, "pattern": word, "old_text": word, "new_text": "x"});
        for spec in all_tools().tool_specs() {
            let mut own_arguments = filled.clone();
            own_arguments.as_object_mut().unwrap().retain(|key, _| spec.parameters.to_value()["properties"].get(key).is_some());
            for arguments in [text.clone(), json.clone(), own_arguments.to_string()] {
                let call = ToolCall { id: "1".into(), name: spec.name.clone(), arguments };
                if let Ok(Intent::Act(plan)) = plan_model_call(&call, &files) {
                    prop_assert!(!plan.summary.contains('\n') && plan.summary.chars().count() <= 200);
                }
            }
        }
    }
}

/// Built-in tools state their names twice.
#[test]
fn the_name_of_a_tool_is_that_of_its_spec() {
    let browser = crate::browser::executable::BrowserProgram {
        path: "/nonexistent".into(),
        aye_path: "/nonexistent".into(),
        environment: Vec::new(),
    };
    let settings = ToolSettings { browser: Some(browser), has_requests: true, ..ToolSettings::default() };
    let places = crate::store::Places::within(std::path::Path::new("/nonexistent"));
    let workspace = Workspace::new(&places, crate::chat::SessionId("01A".into()), crate::workspace::Limits::default());
    let tools = Toolbox::with_builtin_tools(settings).with_background_commands(&Arc::default());
    let tools = tools.with_workspace(Arc::new(workspace));
    let all: Vec<Arc<dyn Tool>> = tools.all_tools().chain(tools.search_tools()).collect();
    assert!(all.len() > 22, "{}", all.len());
    for tool in all {
        assert_eq!(tool.name(), tool.tool_spec().name);
    }
}
