//! Checks the rules, the hooks and the model reviewer.

use super::finding::Finding;
use super::tools_check::{check_skills, check_tools};
use crate::assemble::connector::Connector;
use crate::assemble::tool_files;
use crate::chat::pluralize;
use crate::cli::resolve_folder;
use crate::config::Hook;
use crate::config::rules::rules_parser::count_effects;
use crate::config::rules::{LoadedRules, PROJECT_RULES_FILE, ProjectRules, read_rules_text, today_date};
use crate::policy::{Rule, RuleScope};
use crate::store::Places;
use crate::tools::Toolbox;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// Checks the rules of the folder, and the tool files, which rules may name.
pub(super) fn check_rules(requested: Option<&Path>, places: &Places) -> Vec<Finding> {
    let area = "rules";
    // A missing folder is reported by the check of the project.
    let Ok(folder) = resolve_folder(requested) else { return Vec::new() };
    let tools = Toolbox::with_builtin_tools(crate::tools::toolbox::ToolSettings::default());
    let no_instructions = 0;
    let names = tool_files::rule_names(places, &tools);
    let source = tool_files::open_source(places, &folder, names, no_instructions);
    let loaded = source.load(&today_date());
    let mut findings = Vec::new();
    let is_user_rule = |rule: &&Rule| rule.scope != RuleScope::TrustedProject;
    let file = source.rules_file.display();
    findings.push(match read_rules_text(&source.rules_file) {
        Ok(None) => Finding::ok(area, format!("{file} does not exist: only the mode decides")),
        Ok(Some(_)) => {
            let counted = count_rules(loaded.rules.list.iter().filter(is_user_rule));
            Finding::ok(area, format!("{file}: {counted}"))
        }
        // The reason is among the problems.
        Err(_) => Finding::note(area, format!("{file} is not readable"), "see below"),
    });
    findings.extend(check_project_rules(&loaded));
    let is_unreadable = loaded.rules.read_error.is_some();
    findings.extend(loaded.problems.iter().map(|problem| {
        let advice = if is_unreadable { "correct that line; until then every call asks" } else { "correct that line" };
        Finding::problem(area, problem.to_string(), advice)
    }));
    findings.extend(loaded.old_names.iter().map(|notice| Finding::note(area, notice.to_string(), "use the new name")));
    findings.extend(loaded.expired.iter().map(|rule| {
        let message = format!("expired: {}", rule.describe_with_location());
        Finding::note(area, message, "remove it from the file, or set a later date for expires")
    }));
    findings.extend(check_trust_file(&source.trust_file));
    findings.extend(check_tools(places));
    findings.extend(check_skills(places));
    findings
}

fn count_rules<'a>(rules: impl Iterator<Item = &'a Rule> + Clone) -> String {
    match rules.clone().count() {
        0 => "no rule applies here".to_owned(),
        1 => format!("1 rule applies here ({})", count_effects(rules)),
        count => format!("{count} rules apply here ({})", count_effects(rules)),
    }
}

/// Checks the project's own rules.
fn check_project_rules(loaded: &LoadedRules) -> Option<Finding> {
    let area = "rules";
    match &loaded.project_rules {
        ProjectRules::None => None,
        ProjectRules::Trusted => {
            let project_rules = loaded.rules.list.iter().filter(|rule| rule.scope == RuleScope::TrustedProject);
            Some(Finding::ok(
                area,
                format!("{PROJECT_RULES_FILE} of this project, trusted: {}", count_rules(project_rules)),
            ))
        }
        ProjectRules::Untrusted { parsed, has_changed, .. } => {
            let state = if *has_changed { "has changed since it was trusted" } else { "is not trusted" };
            let message = format!(
                "{PROJECT_RULES_FILE} of this project ({}) {state}: its rules do not apply",
                parsed.count_by_kind()
            );
            Some(Finding::note(area, message, "review and trust it with aye rules trust"))
        }
    }
}

/// Checks that the file of trusted projects is readable; otherwise no project is trusted.
fn check_trust_file(file: &Path) -> Option<Finding> {
    let reason = match read_rules_text(file) {
        Ok(None) => return None,
        Ok(Some(text)) => text.parse::<toml_edit::DocumentMut>().err().map(|_| "this is not TOML".to_owned())?,
        Err(reason) => reason,
    };
    let message = format!("{}: {reason}; no project's own rules apply", file.display());
    Some(Finding::problem("rules", message, "correct it, or move it away and trust the projects again"))
}

/// Checks the reviewers of calls.
pub(super) fn check_reviewers(is_tour: bool, connector: &Connector) -> Vec<Finding> {
    let hooks = &connector.settings.config.hooks;
    let mut findings: Vec<Finding> = hooks.iter().map(|(name, hook)| check_hook(name, hook)).collect();
    if hooks.is_empty() {
        findings.push(Finding::ok("hooks", "off: no program reviews calls"));
    }
    let reviewer = &connector.settings.config.model_reviewer;
    let area = "reviewer";
    findings.push(match &reviewer.profile {
        None => Finding::ok(area, "off: no model reviews calls"),
        Some(_) if is_tour => Finding::ok(area, "not used in the tour"),
        Some(profile) => match connector.side_connection(profile, reviewer.model.as_deref()) {
            Ok(connection) => {
                Finding::ok(area, format!("{}, time limit {} s", connection.describe(), reviewer.seconds))
            }
            Err(error) => {
                let message = format!("the model reviewer is not available, so every call asks: {error:#}");
                Finding::problem(area, message, "correct or remove [model_reviewer] in the settings")
            }
        },
    });
    findings
}

/// Checks a hook. Its arguments may hold secrets and are not shown.
fn check_hook(name: &str, hook: &Hook) -> Finding {
    let area = "hooks";
    let Some(program) = hook.command.first().filter(|program| !program.is_empty()) else {
        let message = format!("{name} has no program, so aye asks about every call it should review");
        return Finding::problem(area, message, "set its command, or remove it");
    };
    let arguments = match hook.command.len() - 1 {
        0 => String::new(),
        count => format!(" with {}", pluralize(count, "argument")),
    };
    let calls = match &hook.tools {
        Some(tools) => format!("calls of {}", tools.join(", ")),
        None => "every call that does more than read inside the project".to_owned(),
    };
    let dry_run_text = if hook.dry_run { ", in a dry run too" } else { "" };
    match check_executable(program) {
        Ok(()) => {
            let message =
                format!("{name} ({program}{arguments}) reviews {calls}, time limit {} s{dry_run_text}", hook.seconds);
            Finding::ok(area, message)
        }
        Err(reason) => Finding::problem(
            area,
            format!("{name} is not available, so aye asks about {calls}: {program} {reason}"),
            "install the program, or correct the command",
        ),
    }
}

/// Checks that a program can be started from the home folder.
fn check_executable(program: &str) -> Result<(), &'static str> {
    let home = std::env::var_os("HOME").map(PathBuf::from).unwrap_or_default();
    let candidates: Vec<PathBuf> = match (program.strip_prefix("~/"), program.contains('/')) {
        (Some(relative), _) => vec![home.join(relative)],
        (None, true) => vec![home.join(program)],
        (None, false) => {
            let path = std::env::var_os("PATH").unwrap_or_default();
            std::env::split_paths(&path).map(|folder| folder.join(program)).collect()
        }
    };
    let existing: Vec<_> = candidates.iter().filter_map(|candidate| candidate.metadata().ok()).collect();
    match existing.iter().any(|metadata| metadata.is_file() && metadata.permissions().mode() & 0o111 != 0) {
        true => Ok(()),
        false if existing.is_empty() => Err("does not exist"),
        false => Err("is not executable"),
    }
}
