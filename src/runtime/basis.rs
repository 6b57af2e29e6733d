//! Checks the preconditions of a plan just before it runs, so that what was shown is what runs.

use super::Means;
use crate::chat::{Plan, Work};
use crate::project;
use crate::tools::{Error, named};
use std::path::PathBuf;

/// Adds the environment variables of a command to its plan; only this floor knows them.
pub(super) fn complete(means: &Means, plan: &mut Plan) {
    if let (Work::Command(_), Some(shell)) = (&plan.work, &means.shell) {
        plan.basis.environment = shell.names();
    }
}

/// Returns whether the plan has preconditions that are checked here.
pub(super) fn matters(plan: &Plan) -> bool {
    matches!(plan.work, Work::Command(_)) || plan.basis.files.iter().any(|seen| seen.becomes.is_none())
}

/// Returns an error if a precondition is not as it was shown. A file that the plan itself changes is compared by its
/// writer, in the same step. Blocks while files are read.
pub(super) fn holds(means: &Means, plan: &Plan) -> Result<(), Error> {
    let changed = |what: String| {
        Err(Error::Failed(format!(
            "{what} since the user was shown this call, so it did not run. Read it again before you retry."
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
        // The same command line may name other files now: a link has another target, or a file was created.
        if let Some(other) = other(plan, &line.command, means) {
            return changed(format!("The files that the command names have changed ({})", other.display()));
        }
        let moved = line.folder.canonicalize().is_ok_and(|real| real != line.folder);
        if moved {
            return changed(format!("{} points to another folder", line.folder.display()));
        }
        if means.shell.as_ref().is_some_and(|shell| shell.names() != plan.basis.environment) {
            return changed("The environment of commands has changed".to_owned());
        }
    }
    Ok(())
}

/// Returns the first file that the command names now but did not when it was shown. New files that only grow, such as
/// logs, are ignored.
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
