//! What git throws away: work that was not committed, and history.

use super::options::long;
use super::{Ground, There, flags, operands, told};

/// Options of git itself that take a word behind them.
const TAKING: &[&str] = &["-C", "-c", "--git-dir", "--work-tree", "--exec-path", "--namespace"];

/// Options of one of its commands that do.
fn taking(command: &str) -> &'static [&'static str] {
    match command {
        "clean" => &["-e", "--exclude"],
        "restore" => &["-s", "--source", "-U", "--conflict", "--pathspec-from-file"],
        "checkout" => &["-b", "-B", "-U", "--orphan", "--conflict", "--pathspec-from-file"],
        "switch" => &["-c", "-C", "--orphan", "--conflict"],
        "branch" => &["-u", "--set-upstream-to"],
        "push" => &["-o", "--push-option", "--repo"],
        _ => &[],
    }
}

/// What is lost by the words behind `git`.
pub(super) fn by(words: &[&str], ground: &Ground<'_>) -> Option<String> {
    let mut words = words.iter();
    let (mut elsewhere, mut unforced) = (false, false);
    let name = loop {
        let word = *words.next()?;
        if TAKING.contains(&word) {
            elsewhere |= word != "-c";
            let value = words.next().map(|value| value.to_lowercase()).unwrap_or_default();
            unforced |= value.starts_with("clean.requireforce");
        } else if !word.starts_with('-') {
            break word;
        }
    };
    let rest = words.as_slice();
    let taking = taking(name);
    let flag = |long: &str, short: char| flags(rest, taking, long, short);
    // What is said first may be taken back: `--dry-run --no-dry-run`.
    let stays = |name: &str, short: char| flag(&format!("--{name}"), short) && !undone(rest, name);
    let has = |wanted: &str| long(rest, &[wanted]);
    let first = rest.iter().find(|word| !word.starts_with('-')).copied();
    let named = |words: &[&str]| told(&operands(words, taking));
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
        "restore" if !stays("staged", 'S') || flag("--worktree", 'W') => {
            Some(format!("throws away what is not committed in {} (git restore)", named(rest)))
        }
        "switch" if flag("--force", 'f') || has("--discard-changes") => {
            Some("throws away what is not committed (git switch -f)".to_owned())
        }
        "reset" if has("--hard") => Some("throws away changes not committed (git reset --hard)".to_owned()),
        "clean" if (unforced || flag("--force", 'f')) && !stays("dry-run", 'n') => {
            Some("deletes files git does not know (git clean -f)".to_owned())
        }
        "stash" if matches!(first, Some("drop" | "clear")) => {
            Some(format!("throws away what was put aside (git stash {})", first.unwrap_or_default()))
        }
        "branch" if flag("-D", 'D') || (flag("--delete", 'd') && flag("--force", 'f')) => {
            Some(format!("deletes the branch {}, merged or not (git branch -D)", named(rest)))
        }
        "rm" if flag("--force", 'f') && (!has("--cached") || undone(rest, "cached")) => {
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

/// Whether an option is taken back again, in full or shortened.
fn undone(words: &[&str], name: &str) -> bool {
    let no = format!("--no-{name}");
    (6..=no.len()).any(|end| long(words, &[&no[..end]]))
}

/// What a push takes from the repository elsewhere.
fn pushed(rest: &[&str]) -> Option<&'static str> {
    let taking = taking("push");
    let has = |wanted: &str| long(rest, &[wanted]);
    let starts = |sign: char| operands(rest, taking).iter().any(|word| word.starts_with(sign));
    if flags(rest, taking, "--force", 'f') || has("--force-with-lease") {
        return Some("replaces the history on the remote (git push --force)");
    }
    let replaces = flags(rest, taking, "--delete", 'd') || ["--mirror", "--prune"].into_iter().any(has);
    (replaces || starts('+') || starts(':'))
        .then_some("replaces or deletes branches on the remote (git push)")
}
