//! Checks the preconditions of a plan just before it runs, so that what was shown is what runs.

use super::EffectContext;
use crate::chat::{Plan, Work};
use crate::project;
use crate::tools::{Error, command_preconditions};
use std::path::PathBuf;

/// Adds the environment variables of a command to its plan; only this floor knows them.
pub(super) fn add_environment(means: &EffectContext, plan: &mut Plan) {
    if let (Work::Command(_), Some(shell)) = (&plan.work, &means.shell) {
        plan.preconditions.environment = shell.variable_names();
    }
}

/// Returns whether the plan has preconditions that are checked here.
pub(super) fn has_preconditions(plan: &Plan) -> bool {
    matches!(plan.work, Work::Command(_)) || plan.preconditions.files.iter().any(|seen| seen.new_sha256.is_none())
}

/// Returns an error if a precondition is not as it was shown. A file that the plan itself changes is compared by its
/// writer, in the same step. Blocks while files are read.
pub(super) fn check_preconditions(means: &EffectContext, plan: &Plan) -> Result<(), Error> {
    let changed = |what: String| {
        Err(Error::Failed(format!(
            "{what} since the user was shown this call, so it did not run. Read it again before you retry."
        )))
    };
    for seen in plan.preconditions.files.iter().filter(|seen| seen.new_sha256.is_none()) {
        let at = seen.path.to_str().map(|path| means.project.locate(path));
        let now = match at {
            Some(Ok(at)) if at.display_path == seen.path => means.project.read(&at),
            Some(_) | None => Err(project::Error::Changed(seen.path.clone())),
        };
        if !seen.matches_content(now.as_deref().ok()) {
            return changed(format!("{} has changed", seen.path.display()));
        }
    }
    if let Work::Command(line) = &plan.work {
        // The same command line may name other files now: a link has another target, or a file was created.
        if let Some(other) = find_other_file(plan, &line.command, means) {
            return changed(format!("The files that the command names have changed ({})", other.display()));
        }
        let moved = line.folder.canonicalize().is_ok_and(|real| real != line.folder);
        if moved {
            return changed(format!("{} points to another folder", line.folder.display()));
        }
        if means.shell.as_ref().is_some_and(|shell| shell.variable_names() != plan.preconditions.environment) {
            return changed("The environment of commands has changed".to_owned());
        }
    }
    Ok(())
}

/// Returns the first file that the command names now but did not when it was shown. New files that only grow, such as
/// logs, are ignored.
fn find_other_file(plan: &Plan, command: &str, means: &EffectContext) -> Option<PathBuf> {
    let shown = &plan.preconditions.files;
    let basis = command_preconditions(command, means.project.as_ref());
    if basis.hard_links != plan.preconditions.hard_links {
        let links = basis.hard_links.or_else(|| plan.preconditions.hard_links.clone());
        return links.map(|links| links.path);
    }
    let mut now = basis.files;
    now.retain(|file| !file.may_grow || shown.iter().any(|seen| seen.path == file.path));
    let pairs = now.iter().map(Some).chain([None]).zip(shown.iter().map(Some).chain([None]));
    let mut other = pairs.filter(|(now, shown)| now.map(|file| &file.path) != shown.map(|file| &file.path));
    let (now, shown) = other.next()?;
    now.or(shown).map(|file| file.path.clone())
}
