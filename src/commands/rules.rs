//! `aye rules`: lists and checks the rules of this folder, and explains the verdict of a command. No model is needed.

use super::folder::open_places;
use super::output::print_lines;
use crate::assemble::sandbox_setup::{self, project_with_overlay};
use crate::assemble::tool_files;
use crate::chat::{CommandSandbox, Intent, Session, SessionGrant, SessionId, ToolCall, pluralize};
use crate::cli::commands::{ExplainCommand, RulesCommand};
use crate::cli::{FolderOptions, UsageError, bail_usage};
use crate::config::rules::{LoadedRules, ProjectRules, ProjectSource, today_date};
use crate::config::settings::parse_mode;
use crate::config::{self, Overrides};
use crate::policy::{ExplainedCheck, Policy, Rule, RuleScope, Verdict, explain_verdict};
use crate::print::json_line;
use crate::project::Reader;
use crate::store::{Places, Sessions};
use crate::text::clean::clean_line;
use crate::tools::Toolbox;
use anyhow::Result;
use serde_json::{Value, json};
use std::path::Path;
use std::process::ExitCode;

/// Runs the subcommand.
pub(super) fn run(command: &RulesCommand) -> Result<ExitCode> {
    match command {
        RulesCommand::List(options) => {
            let checked = CheckedRules::load(&options.place, None)?;
            print_lines(list_rules(&checked.loaded, options.json))
        }
        RulesCommand::Check(options) => check_rules(&CheckedRules::load(&options.place, None)?.loaded, options.json),
        RulesCommand::Explain(arguments) => {
            let checked = CheckedRules::load(&arguments.report.place, arguments.mode.as_deref())?;
            print_lines(explain_command(&checked, arguments)?)
        }
        RulesCommand::Trust(place) => super::trust::ask_for_trust(place),
        RulesCommand::Untrust(place) => super::trust::revoke(place),
    }
}

/// The rules of a folder, and what is needed to check and explain them.
pub(super) struct CheckedRules {
    places: Places,
    settings: config::Settings,
    tools: Toolbox,
    pub(super) source: ProjectSource,
    loaded: LoadedRules,
}

impl CheckedRules {
    pub(super) fn load(place: &FolderOptions, mode: Option<&str>) -> Result<Self> {
        let (places, folder) = open_places(place)?;
        let flags = Overrides { mode: mode.map(parse_mode).transpose().map_err(UsageError)?, ..Overrides::default() };
        let settings = config::Settings::load(&places.settings(), &|name| std::env::var(name).ok(), &flags);
        // No call runs, so no sandbox is set up.
        let tool_settings = tool_files::tool_settings(&settings.config, CommandSandbox::default(), &folder);
        let tools = Toolbox::with_builtin_tools(tool_settings);
        let names = tool_files::rule_names(&places, &tools);
        let source = tool_files::open_source(&places, &folder, names, settings.config.project.instructions_kib << 10);
        let loaded = source.load(&today_date());
        Ok(Self { places, settings, tools, source, loaded })
    }
}

/// Lists every rule that applies here, expired rules, and problems.
fn list_rules(loaded: &LoadedRules, as_json: bool) -> Vec<String> {
    let expired = loaded.expired.iter().map(|rule| (rule, "expired"));
    let rows = loaded.rules.list.iter().map(|rule| (rule, "active")).chain(expired);
    let untrusted: Vec<Rule> = match &loaded.project_rules {
        ProjectRules::None | ProjectRules::Trusted => Vec::new(),
        ProjectRules::Untrusted { parsed, .. } => parsed.rules.clone(),
    };
    let rows: Vec<(&Rule, &str)> = rows.chain(untrusted.iter().map(|rule| (rule, "untrusted"))).collect();
    if as_json {
        let mut lines: Vec<String> = rows.iter().map(|(rule, state)| rule_json(rule, state)).collect();
        lines.extend(loaded.notices().iter().map(|notice| json_line(&json!({ "notice": notice }))));
        return lines;
    }
    let format_row = |(rule, state): &(&Rule, &str)| {
        let state = if *state == "active" { String::new() } else { format!("{state}: ") };
        clean_line(&format!("{state}{} · {}", rule.describe_with_location(), describe_scope(&rule.scope))).into_owned()
    };
    let mut lines: Vec<String> = rows.iter().map(format_row).collect();
    if lines.is_empty() {
        lines.push("no rules: reading inside the project needs no approval, everything else asks".to_owned());
    }
    lines.extend(loaded.notices().iter().map(|notice| format!("warning: {}", clean_line(notice))));
    lines
}

fn describe_scope(scope: &RuleScope) -> &'static str {
    match scope {
        RuleScope::EveryProject => "everywhere",
        RuleScope::Project(_) => "in this project",
        RuleScope::TrustedProject => "in this project, by its own file",
    }
}

/// Returns a rule as a JSON object.
fn rule_json(rule: &Rule, status: &str) -> String {
    let (description, scope) = (rule.describe(), describe_scope(&rule.scope));
    let state_of_version_0_1 = match status {
        "active" => "holds",
        "untrusted" => "not trusted",
        other => other,
    };
    json_line(&json!({
        "verdict": rule.effect.as_str(), "description": description, "tool": rule.tool, "scope": scope, "status": status,
        "file": rule.location.file, "line": rule.location.line, "created": rule.created, "expires": rule.expires,
        "key": rule.saved_with_key, "input": rule.takes_input,
        // The names of version 0.1, kept for one release.
        "says": rule.effect.as_str(), "what": description, "holds": scope, "state": state_of_version_0_1,
    }))
}

/// Lists problems, then as notices project rules that are not trusted and old names of keys. The exit code is 2 if there
/// are problems.
fn check_rules(loaded: &LoadedRules, as_json: bool) -> Result<ExitCode> {
    let problems: Vec<String> = loaded.problems.iter().map(ToString::to_string).collect();
    let mut lines: Vec<String> = match (as_json, problems.is_empty()) {
        (true, _) => problems.iter().map(|problem| json_line(&json!({ "problem": problem }))).collect(),
        (false, true) => vec![match loaded.rules.list.len() {
            0 => "no rules, no problems".to_owned(),
            count => format!("{}, no problems", pluralize(count, "rule")),
        }],
        (false, false) => problems.iter().map(|problem| clean_line(problem).into_owned()).collect(),
    };
    let notices = loaded.untrusted_notice().into_iter().chain(loaded.old_names.iter().map(ToString::to_string));
    lines.extend(notices.map(|notice| match as_json {
        true => json_line(&json!({ "notice": notice })),
        false => format!("note: {}", clean_line(&notice)),
    }));
    print_lines(lines)?;
    Ok(ExitCode::from(if loaded.problems.is_empty() { 0 } else { 2 }))
}

/// A session whose grants apply.
struct SessionGrants {
    id: SessionId,
    grants: Vec<SessionGrant>,
    dry_run: bool,
}

/// Reads the session that the command line names, if any.
fn read_session(arguments: &ExplainCommand, places: &Places, folder: &Path) -> Result<Option<SessionGrants>> {
    let sessions = Sessions::new(places.sessions());
    let id = match (arguments.resume.as_deref(), arguments.continue_last) {
        (Some(name), _) => sessions.find_id(name).map_err(UsageError::from_error)?,
        (None, true) => sessions.find_continued(folder).map_err(UsageError::from_error)?,
        (None, false) => return Ok(None),
    };
    let stored = sessions.read(&id).map_err(UsageError::from_error)?;
    let dry_run = stored.header.as_ref().is_some_and(|header| header.dry_run);
    let grants = Session::replay(stored.entries).grants().to_vec();
    Ok(Some(SessionGrants { id, grants, dry_run }))
}

/// Explains the verdict of a command, step by step.
fn explain_command(checked: &CheckedRules, options: &ExplainCommand) -> Result<Vec<String>> {
    let CheckedRules { places, settings, tools, source, loaded } = checked;
    let session = read_session(options, places, &source.folder)?;
    let policy = Policy {
        mode: settings.config.approval.mode,
        dry_run: options.dry_run || session.as_ref().is_some_and(|session| session.dry_run),
        asks_as_live: settings.config.dry_run.ask == config::AskHandling::AsLive,
    };
    let project: Box<dyn Reader> = match &session {
        Some(session) => project_with_overlay(places, &source.folder, &session.id)?,
        None => Box::new(sandbox_setup::open_project(places, &source.folder)?),
    };
    let arguments = json!({ "command": options.command }).to_string();
    let call = ToolCall { id: "explained".into(), name: "bash_exec".to_owned(), arguments };
    let is_apply_call = false;
    let plan = match tools.plan_call(&call, &*project, is_apply_call) {
        Ok(Intent::Act(plan)) => plan,
        Ok(Intent::Ask(_)) => bail_usage!("Cannot explain this: it is not a command. Name one in quotes."),
        Err(error) => return Err(UsageError::from_error(error).into()),
    };
    let grants = session.as_ref().map(|session| session.grants.as_slice()).unwrap_or_default();
    let (mut steps, verdict) = explain_verdict(&policy, grants, &loaded.rules, &call.name, &plan);
    if let Some(session) = &session {
        let session_text = match session.grants.len() {
            0 => format!("{}, which has no grants", session.id),
            _ => session.id.to_string(),
        };
        steps.insert(0, ExplainedCheck { name: "the session", results: vec![session_text] });
    }
    if options.report.json {
        let step_json = |step: &ExplainedCheck| json!({ "step": step.name, "found": step.results });
        let mut lines: Vec<Value> = steps.iter().map(step_json).collect();
        lines.push(
            json!({ "policy_verdict": verdict_name(&verdict), "verdict": verdict.as_str(), "why": verdict.reason() }),
        );
        return Ok(lines.iter().map(json_line).collect());
    }
    let mut lines = Vec::new();
    for step in &steps {
        lines.push(step.name.to_owned());
        lines.extend(step.results.iter().map(|result| format!("   {}", clean_line(result))));
    }
    lines.push(verdict_name(&verdict).to_owned());
    lines.push(format!("   {}", clean_line(verdict.reason())));
    lines.extend(loaded.notices().iter().map(|notice| format!("warning: {}", clean_line(notice))));
    Ok(lines)
}

/// Returns the name of a verdict; the log has `refuse` for `deny`.
fn verdict_name(verdict: &Verdict) -> &'static str {
    match verdict {
        Verdict::Deny(_) => "deny",
        verdict => verdict.as_str(),
    }
}
