//! Checks the preconditions of a plan just before it runs, so that exactly the shown plan runs.

use super::EffectContext;
use crate::chat::{FileContent, Plan, Work};
use crate::project;
use crate::tools::{Error, command_preconditions};
use std::path::PathBuf;

/// Adds the names of the environment variables of commands to a plan; tools do not know them.
pub(super) fn add_environment(context: &EffectContext, plan: &mut Plan) {
    if let (Work::Command(_), Some(shell)) = (&plan.work, &context.shell) {
        plan.preconditions.environment = shell.variable_names();
    }
}

/// Returns whether the plan has preconditions that are checked here.
pub(super) fn has_preconditions(plan: &Plan) -> bool {
    matches!(plan.work, Work::Command(_))
        || plan.preconditions.files.iter().any(|snapshot| snapshot.new_sha256.is_none())
}

/// Returns an error if a precondition is not as it was shown. A file that the plan itself changes is not checked
/// here: its writer compares it immediately before writing. Blocks while files are read.
pub(super) fn check_preconditions(context: &EffectContext, plan: &Plan) -> Result<(), Error> {
    let changed_error = |subject: String| {
        Err(Error::Failed(format!(
            "{subject} since the user was shown this call, so the call did not run. Check it before you retry."
        )))
    };
    for snapshot in plan.preconditions.files.iter().filter(|snapshot| snapshot.new_sha256.is_none()) {
        let location = snapshot.path.to_str().map(|path| context.project.locate(path));
        let content = match location {
            Some(Ok(location)) if location.display_path == snapshot.path => context.project.read(&location),
            Some(_) | None => Err(project::Error::Changed(snapshot.path.clone())),
        };
        let is_same = match &content {
            Ok(content) => snapshot.matches_content(Some(content)),
            Err(project::Error::Missing(_)) => snapshot.matches_content(None),
            // Any other error proves nothing about a file that was missing when it was shown.
            Err(_) => snapshot.content == FileContent::TooLarge,
        };
        if !is_same {
            return changed_error(format!("{} has changed", snapshot.path.display()));
        }
    }
    if let Work::Command(line) = &plan.work {
        // The same command line may name other files now: a link has another target, or a file was created.
        if let Some(changed_file) = find_differing_file(plan, &line.command, context) {
            let file = changed_file.display();
            return changed_error(format!("The files that the command names have changed ({file})"));
        }
        if line.folder.canonicalize().is_ok_and(|canonical| canonical != line.folder) {
            return changed_error(format!("{} points to another folder", line.folder.display()));
        }
        if context.shell.as_ref().is_some_and(|shell| shell.variable_names() != plan.preconditions.environment) {
            return changed_error("The environment of commands has changed".to_owned());
        }
    }
    Ok(())
}

/// Compares the files that the command names now with those shown to the user, and returns the path of the first
/// difference. Files that were not shown and may grow, such as logs, are ignored.
fn find_differing_file(plan: &Plan, command: &str, context: &EffectContext) -> Option<PathBuf> {
    let shown_files = &plan.preconditions.files;
    let current_preconditions = command_preconditions(command, context.project.as_ref());
    if current_preconditions.hard_links != plan.preconditions.hard_links {
        let links = current_preconditions.hard_links.or_else(|| plan.preconditions.hard_links.clone());
        return links.map(|links| links.path);
    }
    let mut current_files = current_preconditions.files;
    current_files.retain(|file| !file.may_grow || shown_files.iter().any(|snapshot| snapshot.path == file.path));
    let pairs = current_files.iter().map(Some).chain([None]).zip(shown_files.iter().map(Some).chain([None]));
    let mut differing = pairs
        .filter(|(current_file, shown_file)| current_file.map(|file| &file.path) != shown_file.map(|file| &file.path));
    let (current_file, shown_file) = differing.next()?;
    current_file.or(shown_file).map(|file| file.path.clone())
}
