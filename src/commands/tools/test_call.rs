//! `aye tools test`: makes one real call of a tool, after the user has seen and approved it.

use super::inventory::Inventory;
use crate::assemble::found_tool::ToolState;
use crate::assemble::sandbox_setup::open_project;
use crate::chat::{Access, Intent, Plan, Preview, Reach, Work};
use crate::cli::{UsageError, bail_usage};
use crate::commands::output::{confirm, print_lines};
use crate::policy::ExcludedPaths;
use crate::project::checkpoints::CallRecorder;
use crate::project::guard::own_program;
use crate::project::shell::Shell;
use crate::project::{Reader, Writer};
use crate::text::clean::clean_text;
use crate::text::reveal::reveal_to_string;
use crate::tools::LiveContext;
use crate::tools::references::{Sources, plan_with_references};
use crate::tools::tool_file::ToolKind;
use crate::tools::tool_file::parameters::{Parameter, ValueType};
use anyhow::Result;
use serde_json::{Map, Value};
use std::process::ExitCode;
use std::sync::Arc;

/// Calls a tool with arguments such as `NAME=VALUE`. The exit code is 1 if the call fails.
pub(super) async fn run(inventory: &Inventory, name: &str, arguments: &[String], yes: bool) -> Result<ExitCode> {
    let found = inventory.find(name)?;
    if found.state == ToolState::Untrusted {
        bail_usage!("Cannot test {name}: {} is not trusted. Review it with `aye trust`.", found.file);
    }
    let Some(definition) = found.parsed.definition.clone() else {
        bail_usage!("Cannot test {name}: its file has errors. List them with `aye tools check`.");
    };
    let arguments = parse_arguments(&definition.head.parameters, arguments)?;
    let required = definition.head.parameters.iter().filter(|parameter| parameter.is_required);
    let missing: Vec<&str> =
        required.map(|parameter| parameter.name.as_str()).filter(|name| arguments.get(name).is_none()).collect();
    if !missing.is_empty() {
        let missing = missing.join(", ");
        bail_usage!("Cannot test {name}: it has no value for {missing}. Give each as NAME=VALUE.");
    }
    let project: Arc<dyn Writer> = Arc::new(open_project(&inventory.places, &inventory.folder)?);
    if let ToolKind::Prompt(_) = &definition.kind
        && let Some(model) = inventory.connect_model()?
    {
        inventory.factory.set_session_model(&model);
    }
    let tool = inventory.factory.build_tool(definition);
    let planned = {
        let (tool, project) = (tool.clone(), project.clone());
        tokio::task::spawn_blocking(move || {
            let reader: &dyn Reader = &*project;
            plan_with_references(&*tool, &arguments, &Sources { project: reader, workspace: None })
        })
        .await?
    };
    let plan = match planned {
        Ok(Intent::Act(plan)) => plan,
        Ok(Intent::Ask(_)) => bail_usage!("Cannot test {name}: it asks a question. Try it in a session."),
        Err(error) => {
            let reason = error.to_string();
            bail_usage!(
                "Cannot test {name}: {}. Correct the arguments: `aye tools show {name}` lists them.",
                reason.trim_end_matches('.')
            );
        }
    };
    refuse_denied(&plan)?;
    print_lines(describe_plan(&plan).lines().map(|line| clean_text(&reveal_to_string(line)).into_owned()))?;
    if let Work::EndTurn(_) = &plan.work {
        return print_lines(["Nothing was done: only a session has a turn to end.".to_owned()]);
    }
    let question = || Ok("To make this call".to_owned());
    if !yes && !confirm(question, "Cannot ask for approval: not a terminal. Nothing was sent. Approve it with --yes.")?
    {
        return print_lines(["Nothing was sent.".to_owned()]);
    }
    let sandbox = &inventory.sandbox;
    let shell =
        Shell::new(own_program()).with_closed_paths(sandbox.write_protected.clone(), sandbox.read_protected.clone());
    let context = LiveContext {
        project,
        shell: Arc::new(shell),
        excluded: ExcludedPaths::default(),
        runs_in_parts: false,
        recorder: Arc::new(CallRecorder::disabled()),
        results: crate::tools::ResultFiles::default(),
        progress: Arc::new(|_| {}),
    };
    let (text, code) = match tool.run(&plan, &context).await {
        Ok(text) => (text, ExitCode::SUCCESS),
        Err(error) => (error.to_string(), ExitCode::FAILURE),
    };
    print_lines([String::new()].into_iter().chain(text.lines().map(|line| clean_text(line).into_owned())))?;
    Ok(code)
}

/// Fails for a call that is denied whatever the user approves.
fn refuse_denied(plan: &Plan) -> Result<()> {
    let is_denied = match &plan.access {
        Access::AyeFiles(_) => true,
        Access::Run(run) => run.reach == Reach::Denied,
        Access::Nothing
        | Access::Read(_)
        | Access::ReadSensitive(_)
        | Access::Write(_)
        | Access::WriteOutside(_)
        | Access::Background(_)
        | Access::Workspace(_)
        | Access::Fetch(_)
        | Access::External(_) => false,
    };
    match is_denied {
        true => {
            bail_usage!("Cannot make this call: it is denied in every mode: {}. Choose other arguments.", plan.summary)
        }
        false => Ok(()),
    }
}

fn describe_plan(plan: &Plan) -> String {
    let preview = match &plan.preview {
        Preview::Text(text) => text.clone(),
        Preview::Command(line) => line.command.clone(),
        Preview::Edit(_) | Preview::Batch(_) => plan.summary.clone(),
    };
    let references = plan.preconditions.references.iter().map(|file| format!("contains {}", file.describe()));
    std::iter::once(preview).chain(references).collect::<Vec<_>>().join("\n")
}

/// Parses `NAME=VALUE` by the type of the parameter. An unknown one is a string: the tool rejects it.
fn parse_arguments(parameters: &[Parameter], words: &[String]) -> Result<Value> {
    let mut arguments = Map::new();
    for word in words {
        let Some((name, value)) = word.split_once('=') else {
            bail_usage!("Cannot read the argument {word:?}: it has no =. Use NAME=VALUE.");
        };
        let parameter = parameters.iter().find(|parameter| parameter.name == name);
        let value_type = parameter.map_or(ValueType::String, |parameter| parameter.value_type);
        let value = value_type.convert_leniently(Value::String(value.to_owned())).map_err(UsageError)?;
        if arguments.insert(name.to_owned(), value).is_some() {
            bail_usage!("Cannot read the arguments: {name} is given twice. Give it once.");
        }
    }
    Ok(Value::Object(arguments))
}
