//! Finds the files with secrets that a command names plainly, if they are the only reason that it needs approval.

use super::access_with_excused;
use crate::chat::sensitive_paths::is_sensitive;
use crate::chat::{Access, CommandAccess, CommandLine, Reach};
use crate::policy::command_line::{self, Word};
use crate::policy::effects::{PathAccess, TouchedPath, analyze_effects};
use crate::project::{FileKind, Location, Reader};
use std::path::PathBuf;

/// Maximum number of such files per command.
const MAX_FILES: usize = 16;

/// Returns the access of the command. Its `named_secrets` are the files with secrets that the command names plainly.
pub(in crate::tools) fn command_access(line: CommandLine, files: &dyn Reader) -> Access {
    match access_with_excused(line, files, &[]) {
        Access::Run(run) if run.reach == Reach::Runs && run.may_disclose => {
            let named_secrets = find_named_secrets(&run.line, files).unwrap_or_default();
            Access::Run(CommandAccess { named_secrets, ..run })
        }
        access => access,
    }
}

/// Returns the files if every path that the command uses is a plain word, none is searched or belongs to git, and the
/// command would run without approval if these files held no secrets.
fn find_named_secrets(line: &CommandLine, files: &dyn Reader) -> Option<Vec<PathBuf>> {
    let parsed_line = command_line::parse_command_line(&line.command);
    if parsed_line.unclear.is_some() {
        return None;
    }
    let touches = analyze_effects(&parsed_line).touches;
    let mut secrets: Vec<Location> = Vec::new();
    for touch in &touches {
        let name = plain_name(touch)?;
        let location = files.locate(name).ok()?;
        if !location.is_sensitive {
            continue;
        }
        if !is_only_path(name, &location, files) {
            return None;
        }
        if !secrets.contains(&location) {
            secrets.push(location);
        }
    }
    let real_paths: Vec<PathBuf> = secrets.iter().map(|location| location.real.clone()).collect();
    let are_only_reason = !real_paths.is_empty()
        && real_paths.len() <= MAX_FILES
        && matches!(access_with_excused(line.clone(), files, &real_paths), Access::Read(_));
    are_only_reason.then(|| secrets.into_iter().map(|location| location.display_path).collect())
}

/// Returns the path, relative to the project, of a file that is only read or examined.
fn plain_name(touch: &TouchedPath) -> Option<&str> {
    let is_in_project_folder = touch.folders.iter().all(String::is_empty);
    match (&touch.access, &touch.word) {
        (PathAccess::Contents | PathAccess::Names, Word::Known(name)) if is_in_project_folder => Some(name),
        _ => None,
    }
}

/// Returns whether this is the only path of the file: it is not a link, it has one name, and no parent folder is
/// sensitive.
fn is_only_path(name: &str, location: &Location, files: &dyn Reader) -> bool {
    location.is_inside
        && location.own_file.is_none()
        && location.display_path.to_str() == Some(name)
        && location.real == files.root().join(&location.display_path)
        && matches!(files.file_kind(location), Some(FileKind::File(_)))
        && files.link_count(location) == 1
        && !location.display_path.parent().is_some_and(is_sensitive)
}
