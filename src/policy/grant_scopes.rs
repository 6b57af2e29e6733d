//! Scopes in which an approval can be kept as a grant or a rule, narrowest first.

use super::chain_coverage::{Approvals, PartVerdict, completes_coverage, judge_chain};
use super::command_line::{SimpleCommand, parse_command_line};
use super::coverage::{self, can_be_granted};
use super::rule::Rules;
use super::subject::Subject;
use super::wide_prefixes::explain_too_wide;
use crate::chat::{Access, CommandLine, FILE_TOOLS, Grant, GrantScope, Plan, Preconditions, Preview, SessionGrant};
use std::path::{Path, PathBuf};

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
        Access::Run(_) => {
            if let Some(GrantableCommand { words, folder, has_input }) = grantable_command(approvals, &subject) {
                let words_before_options = words.iter().take_while(|word| !word.starts_with('-')).count();
                // More than three words are hardly wider than the command itself.
                let counts = (1..=words_before_options.min(3)).rev();
                for words in counts.map(|count| &words[..count]).filter(|words| explain_too_wide(words).is_none()) {
                    let scope = GrantScope::Prefix { words: words.to_vec(), folder: folder.clone() };
                    scopes.push(Grant::new(tool, scope).with_input(has_input));
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

/// A plain command for whose first words a grant may be given.
struct GrantableCommand {
    words: Vec<String>,
    folder: PathBuf,
    /// True if it reads the output of another command.
    has_input: bool,
}

/// Returns the first part that no grant or rule allows yet. A single plain command is its own part.
fn grantable_command(approvals: Approvals<'_>, subject: &Subject<'_>) -> Option<GrantableCommand> {
    let line = subject.command_line?;
    let known_words = |simple: &SimpleCommand| {
        simple.words.iter().filter_map(|word| word.known_text().map(str::to_owned)).collect::<Vec<_>>()
    };
    if let Some(simple) = subject.parsed_line().and_then(coverage::single_plain_command) {
        return Some(GrantableCommand { words: known_words(simple), folder: line.folder.clone(), has_input: false });
    }
    let verdicts = judge_chain(approvals, subject);
    let index = verdicts.iter().position(|verdict| matches!(verdict, PartVerdict::Asks(_)))?;
    let part = subject.preconditions.parts.get(index)?;
    let parsed_line = parse_command_line(&part.command);
    let simple = coverage::single_plain_command(&parsed_line)?;
    Some(GrantableCommand { words: known_words(simple), folder: part.folder.clone(), has_input: part.has_input })
}

/// What stands before a command that reads the output of another one, in examples and names of scopes.
pub const WITH_INPUT: &str = "… | ";
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
    let input = if grant.takes_input { WITH_INPUT } else { "" };
    examples.into_iter().find(is_covered).map(|example| format!("{input}{example}"))
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
