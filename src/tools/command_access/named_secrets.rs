//! Finds files with secrets that a command names plainly, if they alone keep it from running without approval.

use super::access_with_excused;
use crate::chat::sensitive_paths::is_sensitive;
use crate::chat::{Access, CommandAccess, CommandLine, Reach};
use crate::policy::command_line::{self, Word};
use crate::policy::effects::{PathAccess, TouchedPath, analyze_effects};
use crate::project::{FileKind, Location, Reader};
use std::path::PathBuf;

/// Files per command.
const MAX_FILES: usize = 16;

/// Returns the access of the command, and the files with secrets that it names plainly.
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
    let reading = command_line::parse_command_line(&line.command);
    if reading.unclear.is_some() {
        return None;
    }
    let touches = analyze_effects(&reading).touches;
    let mut found: Vec<Location> = Vec::new();
    for touch in &touches {
        let name = plain_name(touch)?;
        let at = files.locate(name).ok()?;
        if !at.is_sensitive {
            continue;
        }
        if !is_exactly(name, &at, files) {
            return None;
        }
        if !found.contains(&at) {
            found.push(at);
        }
    }
    let real: Vec<PathBuf> = found.iter().map(|at| at.real.clone()).collect();
    let is_all = !real.is_empty()
        && real.len() <= MAX_FILES
        && matches!(access_with_excused(line.clone(), files, &real), Access::Read(_));
    is_all.then(|| found.into_iter().map(|at| at.display_path).collect())
}

/// Returns the path, relative to the project, of a file that is only read or examined.
fn plain_name(touch: &TouchedPath) -> Option<&str> {
    let is_here = touch.folders.iter().all(String::is_empty);
    match (&touch.access, &touch.word) {
        (PathAccess::Contents | PathAccess::Names, Word::Known(name)) if is_here => Some(name),
        _ => None,
    }
}

/// Returns whether this is the only path of the file: it is not a link, it has one name, and no parent folder is
/// sensitive.
fn is_exactly(name: &str, at: &Location, files: &dyn Reader) -> bool {
    at.is_inside
        && at.own_file.is_none()
        && at.display_path.to_str() == Some(name)
        && at.real == files.root().join(&at.display_path)
        && matches!(files.file_kind(at), Some(FileKind::File(_)))
        && files.link_count(at) == 1
        && !at.display_path.parent().is_some_and(is_sensitive)
}
