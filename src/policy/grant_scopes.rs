//! Scopes in which an approval can be kept as a grant or a rule, narrowest first.

use super::chain_coverage::{Approvals, completes_coverage, grantable_words};
use super::coverage::{self, can_be_granted};
use super::rule::Rules;
use super::subject::Subject;
use super::wide_prefixes::explain_too_wide;
use crate::chat::{Access, CommandLine, FILE_TOOLS, Grant, GrantScope, Plan, Preconditions, Preview, SessionGrant};
use std::path::Path;

/// Returns the grants that can keep an approval of this call, narrowest scope first; empty if there are none.
pub fn grant_scopes(tool: &str, plan: &Plan) -> Vec<Grant> {
    grant_scopes_beside(&[], &Rules::default(), tool, plan)
}

/// Returns the grants of [`grant_scopes`] and, for a command line of several parts, those with which the given grants
/// and rules cover every part.
pub fn grant_scopes_beside(grants: &[SessionGrant], rules: &Rules, tool: &str, plan: &Plan) -> Vec<Grant> {
    let approvals = Approvals { grants, rules };
    let subject = Subject::from_plan(tool, plan);
    let Some(narrowest) = plan.grant.clone().filter(|_| can_be_granted(&subject)) else { return Vec::new() };
    let mut scopes = vec![narrowest];
    match &plan.access {
        Access::Run(line) => {
            let (words, folder) =
                grantable_words(approvals, &subject).unwrap_or_else(|| (Vec::new(), line.folder.clone()));
            let words_before_options = words.iter().take_while(|word| !word.starts_with('-')).count();
            // More than three words are hardly wider than the command itself.
            for count in (1..=words_before_options.min(3)).rev() {
                let scope = GrantScope::Prefix { words: words[..count].to_vec(), folder: folder.clone() };
                let grant = Grant::new(tool, scope);
                if explain_too_wide(&words[..count]).is_none() {
                    scopes.push(grant);
                }
            }
        }
        Access::Write(path) => {
            let mut folder = path.parent();
            while let Some(parent) = folder {
                scopes.push(Grant::new(tool, GrantScope::Folder(parent.to_owned())));
                folder = parent.parent();
            }
            if FILE_TOOLS.contains(&tool) {
                scopes.push(Grant::new(tool, GrantScope::FileChanges));
            }
        }
        _ => {}
    }
    scopes.retain(|grant| completes_coverage(approvals, grant, &subject));
    scopes
}

/// Words after a prefix in examples. The first one that the grant covers is shown.
const EXAMPLE_SUBCOMMANDS: [&str; 4] = ["build", "test", "check", "run"];
const EXAMPLE_ARGUMENTS: [&str; 4] = ["--verbose", "-v", "--help", "src"];

/// Returns another call than the one of the plan that the grant covers: a command, or a path. `None` if it covers no
/// other, or no example is known.
pub fn example_call(grant: &Grant, plan: &Plan) -> Option<String> {
    let (words, folder) = match (&grant.scope, &plan.access) {
        (GrantScope::Prefix { words, folder }, Access::Run(_)) => (words, folder),
        (GrantScope::Folder(folder), Access::Write(path)) => {
            let name = format!("other.{}", path.extension()?.to_str()?);
            return Some(folder.join(name).display().to_string());
        }
        (GrantScope::FileChanges, Access::Write(path)) => {
            return Some(path.with_file_name("another.txt").display().to_string());
        }
        _ => return None,
    };
    let Access::Run(run) = &plan.access else { return None };
    let last_words = if words.len() == 1 { EXAMPLE_SUBCOMMANDS } else { EXAMPLE_ARGUMENTS };
    let examples = last_words.iter().map(|word| format!("{} {word}", words.join(" ")));
    let is_covered = |example: &String| {
        let line = CommandLine { command: example.clone(), folder: folder.clone(), ..(*run.line).clone() };
        let (access, preview) = (Access::Run(line.into()), Preview::Text(String::new()));
        let preconditions = Preconditions::default();
        *example != run.line.command
            && coverage::grant_covers_whole(grant, &Subject::new(&grant.tool, &access, &preview, false, &preconditions))
    };
    examples.into_iter().find(is_covered)
}

/// Returns why no grant is offered for a call; `None` if one is, or if its tool always asks.
pub fn explain_no_scopes(tool: &str, plan: &Plan) -> Option<String> {
    let subject = Subject::from_plan(tool, plan);
    if let Some(path) = plan.preconditions.sensitive_path() {
        return Some(format!("secrets or configuration of other programs: {}", path.display()));
    }
    if let Some(destroys) = &plan.destroys {
        return Some(format!("destructive call: {destroys}"));
    }
    if let Some(links) = &plan.preconditions.hard_links {
        return Some(coverage::describe_hard_links(links));
    }
    subject.command_line.and_then(|_| subject.preconditions.scripts_to_bind().err())
}

/// Returns whether a grant can be written as an equivalent rule. A grant cannot if it includes network access, or if a
/// path in it is not UTF-8 or contains wildcards.
pub fn can_be_rule(grant: &Grant) -> bool {
    let has_utf8_paths = grant.scripts.iter().all(|script| script.path.to_str().is_some());
    let is_literal = |path: &Path| path.to_str().is_some_and(|path| !path.contains(['*', '?']));
    match &grant.scope {
        GrantScope::Command { network, .. } => !network && has_utf8_paths,
        GrantScope::Prefix { .. }
        | GrantScope::FileChanges
        | GrantScope::Host(_)
        | GrantScope::Service(_)
        | GrantScope::Workspace => true,
        GrantScope::File(path) | GrantScope::Folder(path) => is_literal(path),
    }
}
