//! What is shown is what runs: right before a plan is done, what it rests on is compared with what it was made from.

use super::Means;
use crate::chat::{Plan, Work};
use crate::project;
use crate::tools::{Error, named};
use std::path::PathBuf;

/// Adds to a plan what only this floor knows: the variables that its command will find.
pub(super) fn complete(means: &Means, plan: &mut Plan) {
    if let (Work::Command(_), Some(shell)) = (&plan.work, &means.shell) {
        plan.basis.environment = shell.names();
    }
}

/// Whether there is anything to compare.
pub(super) fn matters(plan: &Plan) -> bool {
    matches!(plan.work, Work::Command(_)) || plan.basis.files.iter().any(|seen| seen.becomes.is_none())
}

/// Refuses a plan that rests on something which is not as it was shown. A file that the plan itself changes is compared
/// by whoever writes it, in the same step. Blocks while files are read.
pub(super) fn holds(means: &Means, plan: &Plan) -> Result<(), Error> {
    let changed = |what: String| {
        Err(Error::Failed(format!(
            "{what} since the person was shown this call, so nothing was run. Look at it again before you call again."
        )))
    };
    for seen in plan.basis.files.iter().filter(|seen| seen.becomes.is_none()) {
        let at = seen.path.to_str().map(|path| means.project.locate(path));
        let now = match at {
            Some(Ok(at)) if at.shown == seen.path => means.project.read(&at),
            Some(_) | None => Err(project::Error::Changed(seen.path.clone())),
        };
        if !seen.still_holds(now.as_deref().ok()) {
            return changed(format!("{} has changed", seen.path.display()));
        }
    }
    if let Work::Command(line) = &plan.work {
        // The same words may name other files by now: a link leads elsewhere, or there is one where none was.
        if let Some(other) = other(plan, &line.command, means) {
            return changed(format!("The files that the command names have changed ({})", other.display()));
        }
        let moved = line.folder.canonicalize().is_ok_and(|real| real != line.folder);
        if moved {
            return changed(format!("{} leads elsewhere", line.folder.display()));
        }
        if means.shell.as_ref().is_some_and(|shell| shell.names() != plan.basis.environment) {
            return changed("The environment of commands has changed".to_owned());
        }
    }
    Ok(())
}

/// The first file that a command names now and did not when it was shown. A log that nothing runs may begin.
fn other(plan: &Plan, command: &str, means: &Means) -> Option<PathBuf> {
    let shown = &plan.basis.files;
    let basis = named(command, means.project.as_ref());
    if basis.hard_links != plan.basis.hard_links {
        let links = basis.hard_links.or_else(|| plan.basis.hard_links.clone());
        return links.map(|links| links.path);
    }
    let mut now = basis.files;
    now.retain(|file| !file.grows || shown.iter().any(|seen| seen.path == file.path));
    let pairs = now.iter().map(Some).chain([None]).zip(shown.iter().map(Some).chain([None]));
    let mut other = pairs.filter(|(now, shown)| now.map(|file| &file.path) != shown.map(|file| &file.path));
    let (now, shown) = other.next()?;
    now.or(shown).map(|file| file.path.clone())
}
