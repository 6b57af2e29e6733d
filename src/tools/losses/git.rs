//! Finds what git commands destroy: uncommitted work, and history.

use super::{CommandFiles, TargetKind, format_names, parse_operands};
use crate::policy::command_line::Word;
use crate::policy::grammar::{ParsedArguments, Role, program_named};

/// Describes what is lost by the arguments of `git`.
pub(super) fn find_git_loss(words: &[&str], ground: &CommandFiles<'_>) -> Option<String> {
    let git = program_named("git")?;
    let outer = parse_operands(git, words);
    let settings = || outer.option_texts(&["-c"]).map(str::to_lowercase);
    let unforced = settings().any(|setting| setting.starts_with("clean.requireforce"));
    let elsewhere = outer.has_option(&["-C", "--git-dir", "--work-tree"]);
    let (name, rest) = outer.operands.split_first()?;
    let name = name.display_text();
    let rest: Vec<&str> = rest.iter().map(Word::display_text).collect();
    let given = parse_operands(git.subcommand(name)?, &rest);
    let has = |option: &str| given.has_option(&[option]);
    let operands: Vec<&str> = given.operands.iter().map(Word::display_text).collect();
    let first = operands.first().copied();
    let work = "discards uncommitted changes";
    match name {
        "push" => push_loss(&given, &operands).map(str::to_owned),
        "checkout" => {
            let named = given.operands_before_end.map(|before| &operands[before..]).filter(|files| !files.is_empty());
            if let Some(files) = named {
                return Some(format!("{work} in {} (git checkout)", format_names(files)));
            }
            let is_file = |word: &&&str| {
                **word == "." || (!elsewhere && matches!(ground.kind_at(word), TargetKind::File | TargetKind::Folder))
            };
            let files: Vec<&str> = operands.iter().filter(is_file).copied().collect();
            if !files.is_empty() && !given.has_role(Role::Keeps) {
                return Some(format!("{work} in {} (git checkout)", format_names(&files)));
            }
            has("--force").then(|| format!("{work} (git checkout -f)"))
        }
        // A later option may revert an earlier one: `--staged --no-staged`.
        "restore" if !has("--staged") || has("--no-staged") || has("--worktree") => {
            Some(format!("{work} in {} (git restore)", format_names(&operands)))
        }
        "switch" if has("--force") => Some(format!("{work} (git switch -f)")),
        "reset" if has("--hard") => Some("discards uncommitted changes (git reset --hard)".to_owned()),
        "clean" if (unforced || has("--force")) && (!has("--dry-run") || has("--no-dry-run")) => {
            Some("deletes untracked files (git clean -f)".to_owned())
        }
        "stash" if matches!(first, Some("drop" | "clear")) => {
            Some(format!("discards stashed changes (git stash {})", first.unwrap_or_default()))
        }
        "branch" if has("-D") || (has("--delete") && has("--force")) => {
            Some(format!("deletes the branch {}, merged or not (git branch -D)", format_names(&operands)))
        }
        "rm" if has("--force") && (!has("--cached") || has("--no-cached")) => {
            Some(format!("deletes {} with uncommitted changes (git rm -f)", format_names(&operands)))
        }
        "worktree" if first == Some("remove") && has("--force") => {
            Some("deletes a worktree with uncommitted changes (git worktree remove -f)".to_owned())
        }
        "reflog" if matches!(first, Some("expire" | "delete")) => {
            Some("deletes references to earlier commits (git reflog)".to_owned())
        }
        _ => None,
    }
}

/// Describes what a push deletes or replaces on the remote.
fn push_loss(given: &ParsedArguments, operands: &[&str]) -> Option<&'static str> {
    if given.has_option(&["--force", "--force-with-lease"]) {
        return Some("replaces the history on the remote (git push --force)");
    }
    let replaces = given.has_role(Role::Forces) || operands.iter().any(|word| word.starts_with(['+', ':']));
    replaces.then_some("replaces or deletes branches on the remote (git push)")
}
