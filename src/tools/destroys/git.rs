//! What git throws away: work that was not committed, and history.

use super::{Ground, There, flag, operands, told};

/// Options of git itself that take a word behind them.
const TAKING: &[&str] = &["-C", "-c", "--git-dir", "--work-tree", "--exec-path", "--namespace"];

/// What is lost by the words behind `git`.
pub(super) fn by(words: &[&str], ground: &Ground<'_>) -> Option<String> {
    let mut words = words.iter();
    let mut elsewhere = false;
    let name = loop {
        let word = *words.next()?;
        if TAKING.contains(&word) {
            elsewhere |= word != "-c";
            words.next();
        } else if !word.starts_with('-') {
            break word;
        }
    };
    let rest = words.as_slice();
    let flag = |long: &str, short: char| flag(rest, long, short);
    let has = |wanted: &str| rest.iter().any(|word| word.split('=').next() == Some(wanted));
    let first = rest.iter().find(|word| !word.starts_with('-')).copied();
    let named = |words: &[&str]| told(&operands(words, &[]));
    match name {
        "push" => pushed(rest).map(str::to_owned),
        "checkout" => {
            let files = rest.iter().position(|word| *word == "--").map(|at| &rest[at + 1..]);
            if let Some(files) = files.filter(|files| !files.is_empty()) {
                return Some(format!("throws away what is not committed in {} (git checkout)", named(files)));
            }
            let is_file = |word: &&&str| {
                **word == "." || (!elsewhere && matches!(ground.there(word), There::File | There::Folder))
            };
            let files: Vec<&str> =
                rest.iter().filter(|word| !word.starts_with('-')).filter(is_file).copied().collect();
            if !files.is_empty() && !rest.iter().any(|word| matches!(*word, "-b" | "-B" | "--orphan")) {
                return Some(format!("throws away what is not committed in {} (git checkout)", told(&files)));
            }
            flag("--force", 'f').then(|| "throws away what is not committed (git checkout -f)".to_owned())
        }
        "restore" if !flag("--staged", 'S') || flag("--worktree", 'W') => {
            let files = operands(rest, &["-s", "--source"]);
            Some(format!("throws away what is not committed in {} (git restore)", told(&files)))
        }
        "switch" if flag("--force", 'f') || has("--discard-changes") => {
            Some("throws away what is not committed (git switch -f)".to_owned())
        }
        "reset" if has("--hard") => Some("throws away changes not committed (git reset --hard)".to_owned()),
        "clean" if flag("--force", 'f') && !flag("--dry-run", 'n') => {
            Some("deletes files git does not know (git clean -f)".to_owned())
        }
        "stash" if matches!(first, Some("drop" | "clear")) => {
            Some(format!("throws away what was put aside (git stash {})", first.unwrap_or_default()))
        }
        "branch" if flag("-D", 'D') || (flag("--delete", 'd') && flag("--force", 'f')) => {
            Some(format!("deletes the branch {}, merged or not (git branch -D)", named(rest)))
        }
        "rm" if flag("--force", 'f') && !has("--cached") => {
            Some(format!("deletes {} with what is not committed (git rm -f)", named(rest)))
        }
        "worktree" if first == Some("remove") && flag("--force", 'f') => {
            Some("deletes a worktree with what is not committed in it (git worktree remove -f)".to_owned())
        }
        "reflog" if matches!(first, Some("expire" | "delete")) => {
            Some("throws away the way back to earlier commits (git reflog)".to_owned())
        }
        _ => None,
    }
}

/// What a push takes from the repository elsewhere.
fn pushed(rest: &[&str]) -> Option<&'static str> {
    let has = |wanted: &str| rest.iter().any(|word| word.split('=').next() == Some(wanted));
    let starts = |sign: char| {
        operands(rest, &["-o", "--push-option", "--repo"]).iter().any(|word| word.starts_with(sign))
    };
    if flag(rest, "--force", 'f') || has("--force-with-lease") {
        return Some("replaces the history on the remote (git push --force)");
    }
    let replaces = flag(rest, "--delete", 'd') || ["--mirror", "--prune"].into_iter().any(has);
    (replaces || starts('+') || starts(':'))
        .then_some("replaces or deletes branches on the remote (git push)")
}
