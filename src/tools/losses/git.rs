//! Finds what git commands destroy: uncommitted work, and history.

use super::{CommandFiles, TargetKind, format_names, parse_program_arguments};
use crate::policy::command_line::Word;
use crate::policy::grammar::{ParsedArguments, Role, program_named};

/// Describes what is lost by the arguments of `git`.
pub(super) fn find_git_loss(words: &[&str], command_files: &CommandFiles<'_>) -> Option<String> {
    let git = program_named("git")?;
    let global_arguments = parse_program_arguments(git, words);
    let settings = || global_arguments.option_texts(&["-c"]).map(str::to_lowercase);
    let is_force_optional = settings().any(|setting| setting.starts_with("clean.requireforce"));
    let is_other_repository = global_arguments.has_option(&["-C", "--git-dir", "--work-tree"]);
    let (name, rest) = global_arguments.operands.split_first()?;
    let name = name.display_text();
    let subcommand_words: Vec<&str> = rest.iter().map(Word::display_text).collect();
    let arguments = parse_program_arguments(git.subcommand(name)?, &subcommand_words);
    let has_option = |option: &str| arguments.has_option(&[option]);
    let operands: Vec<&str> = arguments.operands.iter().map(Word::display_text).collect();
    let first_operand = operands.first().copied();
    let loss = "discards uncommitted changes";
    match name {
        "push" => push_loss(&arguments, &operands).map(str::to_owned),
        "checkout" => {
            // Operands after `--` are files.
            let named_files =
                arguments.operands_before_end.map(|count| &operands[count..]).filter(|files| !files.is_empty());
            if let Some(files) = named_files {
                return Some(format!("{loss} in {} (git checkout)", format_names(files)));
            }
            let is_file = |word: &&&str| {
                **word == "."
                    || (!is_other_repository
                        && matches!(command_files.kind_at(word), TargetKind::File | TargetKind::Folder))
            };
            let files: Vec<&str> = operands.iter().filter(is_file).copied().collect();
            if !files.is_empty() && !arguments.has_role(Role::Keeps) {
                return Some(format!("{loss} in {} (git checkout)", format_names(&files)));
            }
            let moved = arguments.option_texts(&["-B"]).next().map(|branch| moved_branch(branch, "checkout -B"));
            has_option("--force").then(|| format!("{loss} (git checkout -f)")).or(moved)
        }
        // A later option may revert an earlier one: `--staged --no-staged`.
        "restore" if !has_option("--staged") || has_option("--no-staged") || has_option("--worktree") => {
            Some(format!("{loss} in {} (git restore)", format_names(&operands)))
        }
        "switch" if has_option("--force") => Some(format!("{loss} (git switch -f)")),
        "switch" => arguments.option_texts(&["-C"]).next().map(|branch| moved_branch(branch, "switch -C")),
        "reset" if has_option("--hard") => Some("discards uncommitted changes (git reset --hard)".to_owned()),
        "reset" if has_option("--merge") => Some("discards staged changes (git reset --merge)".to_owned()),
        "clean"
            if (is_force_optional || has_option("--force"))
                && (!has_option("--dry-run") || has_option("--no-dry-run")) =>
        {
            Some("deletes untracked files (git clean -f)".to_owned())
        }
        "stash" if matches!(first_operand, Some("drop" | "clear")) => {
            Some(format!("discards stashed changes (git stash {})", first_operand.unwrap_or_default()))
        }
        "branch" if has_option("-D") || (has_option("--delete") && has_option("--force")) => {
            Some(format!("deletes the branch {}, merged or not (git branch -D)", format_names(&operands)))
        }
        "branch" if !has_option("--delete") => {
            let is_forced = has_option("--force");
            let overwrites = |forced, option| has_option(forced) || is_forced && has_option(option);
            // The last name is the new one, which may exist already.
            match operands.last() {
                Some(branch) if overwrites("-M", "--move") => Some(moved_branch(branch, "branch -M")),
                Some(branch) if overwrites("-C", "--copy") => Some(moved_branch(branch, "branch -C")),
                _ => first_operand.filter(|_| is_forced).map(|branch| moved_branch(branch, "branch -f")),
            }
        }
        "rm" if has_option("--force") && (!has_option("--cached") || has_option("--no-cached")) => {
            Some(format!("deletes {} with uncommitted changes (git rm -f)", format_names(&operands)))
        }
        "worktree" if first_operand == Some("remove") && has_option("--force") => {
            Some("deletes a worktree with uncommitted changes (git worktree remove -f)".to_owned())
        }
        "reflog" if matches!(first_operand, Some("expire" | "delete")) => {
            Some("deletes references to earlier commits (git reflog)".to_owned())
        }
        _ => None,
    }
}

/// Describes what is lost if the branch exists: the reference to its commits.
fn moved_branch(branch: &str, command: &str) -> String {
    format!("moves the branch {} away from its commits if it exists (git {command})", format_names(&[branch]))
}

/// Describes what a push deletes or replaces on the remote.
fn push_loss(arguments: &ParsedArguments, operands: &[&str]) -> Option<&'static str> {
    if arguments.has_option(&["--force", "--force-with-lease"]) {
        return Some("replaces the history on the remote (git push --force)");
    }
    let forces = arguments.has_role(Role::Forces) || operands.iter().any(|word| word.starts_with(['+', ':']));
    forces.then_some("replaces or deletes branches on the remote (git push)")
}
