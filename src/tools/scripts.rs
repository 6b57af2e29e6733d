//! Finds the project files that a command line names. Their content is recorded with the plan and compared before the
//! command runs. Files named by a pattern or a variable are not found.

use super::command_access::{self, path_spellings};
use crate::chat::{FileContent, FileSnapshot, Preconditions, RestrictedPath, Scripts};
use crate::policy::command_line::{self, ParsedLine, WordPosition};
use crate::policy::effects::join_path;
use crate::policy::effects::script_files::{ScriptFile, ScriptSet, find_scripts};
use crate::project::{self, Location, Reader};

/// Maximum number of files compared per command line.
const MAX_FILES: usize = 24;
/// Maximum number of words examined per command line.
const MAX_WORDS: usize = 2000;
/// Folders of system programs; nothing that runs while a prompt is shown writes there.
const SYSTEM_FOLDERS: [&str; 6] = ["/usr", "/bin", "/sbin", "/lib", "/nix/store", "/snap"];
/// Maximum number of `cd` targets followed per command line.
const MAX_FOLDERS: usize = 8;

/// Programs that run their arguments or input. If one is named, every file must stay identical to the byte; otherwise
/// the log of a running program may grow.
#[rustfmt::skip]
const INTERPRETERS: &[&str] = &[
    "sh", "bash", "dash", "zsh", "ksh", "fish", "source", ".", "eval", "exec", "env", "xargs", "parallel", "sudo",
    "python", "python2", "python3", "pypy", "pypy3", "node", "nodejs", "deno", "bun", "ruby", "perl", "php", "lua",
    "awk", "gawk", "sed", "make", "tclsh", "Rscript", "java", "psql", "sqlite3", "mysql", "git", "patch", "kubectl",
];

/// Returns the preconditions of a command: the files that it names, with their current content.
pub fn command_preconditions(command: &str, files: &dyn Reader) -> Preconditions {
    let parsed_line = command_line::parse_command_line(command);
    let mut preconditions = files_in_words(&parsed_line, files);
    preconditions.scripts = add_scripts(&parsed_line, &mut preconditions, files);
    preconditions.hard_links = command_access::written_hard_links(&parsed_line, files);
    preconditions
}

/// Adds the scripts that run to the files of the preconditions, and returns whether all of them are known.
fn add_scripts(parsed_line: &ParsedLine, preconditions: &mut Preconditions, files: &dyn Reader) -> Scripts {
    let script_files = match find_scripts(parsed_line) {
        ScriptSet::None => return Scripts::None,
        ScriptSet::Unknown(why) => return Scripts::Unknown(why),
        ScriptSet::Files(script_files) => script_files,
    };
    for script_file in &script_files {
        match read_script(script_file, files) {
            Ok(Some(snapshot)) if preconditions.files.iter().all(|known| known.path != snapshot.path) => {
                if preconditions.files.len() == MAX_FILES {
                    preconditions.is_partial = true;
                    break;
                }
                preconditions.files.push(snapshot);
            }
            Ok(Some(_) | None) => {}
            Err(why) => return Scripts::Unknown(why),
        }
    }
    // None of them may grow: each is run, or read by a program that runs.
    for snapshot in &mut preconditions.files {
        snapshot.may_grow = false;
    }
    Scripts::Known
}

/// Reads a file that may be run. `None` if it belongs to the system, or if it is a folder that is merely named.
fn read_script(script_file: &ScriptFile, files: &dyn Reader) -> Result<Option<FileSnapshot>, String> {
    let location = files.locate(&script_file.name).map_err(|error| error.to_string())?;
    let path = location.display_path.display();
    if !location.is_inside {
        let is_system_file = SYSTEM_FOLDERS.iter().any(|folder| location.real.starts_with(folder));
        return if is_system_file {
            Ok(None)
        } else {
            Err(format!("{path}, which it runs or reads, is outside the project"))
        };
    }
    let content = match files.read(&location) {
        Ok(bytes) => FileContent::from_bytes(Some(&bytes)),
        Err(project::Error::Missing(_)) => FileContent::Missing,
        Err(project::Error::NotAFile { kind: "a folder", .. }) if !script_file.is_certain => return Ok(None),
        Err(error) => return Err(error.to_string()),
    };
    Ok(Some(FileSnapshot { path: location.display_path.clone(), content, new_sha256: None, may_grow: false }))
}

/// Collects the files that the words name.
fn files_in_words(parsed_line: &ParsedLine, files: &dyn Reader) -> Preconditions {
    let words = &parsed_line.file_words;
    let mut preconditions = Preconditions { is_partial: words.len() > MAX_WORDS, ..Preconditions::default() };
    let has_interpreter =
        words.iter().any(|word| INTERPRETERS.contains(&word.text.rsplit('/').next().unwrap_or_default()));
    let mut folders = vec![String::new()];
    let mut is_after_cd = false;
    for word in words.iter().take(MAX_WORDS) {
        if is_after_cd && folders.len() < MAX_FOLDERS {
            folders.push(join_path(folders.last().map_or("", String::as_str), &word.text));
        }
        is_after_cd = word.position == WordPosition::Program && word.text == "cd";
        if preconditions.sensitive_path().is_none() && word.position != WordPosition::Program {
            let spellings = path_spellings(&word.text)
                .into_iter()
                .flat_map(|name| folders.iter().map(move |folder| join_path(folder, name)));
            let restricted_paths: Vec<RestrictedPath> =
                spellings.filter_map(|name| to_restricted_path(&name, files)).collect();
            let most_sensitive = restricted_paths.into_iter().max_by_key(|restricted| restricted.is_sensitive);
            if let Some(most_sensitive) =
                most_sensitive.filter(|restricted| restricted.is_sensitive || preconditions.restricted_path.is_none())
            {
                preconditions.restricted_path = Some(most_sensitive);
            }
        }
        if word.position == WordPosition::OutputTarget {
            continue;
        }
        for name in path_spellings(&word.text) {
            for folder in &folders {
                let Some(mut snapshot) = read_project_file(&join_path(folder, name), files) else { continue };
                if preconditions.files.iter().any(|known| known.path == snapshot.path) {
                    continue;
                }
                let is_log = snapshot.path.extension().is_some_and(|ending| ending == "log");
                snapshot.may_grow = is_log && !has_interpreter && word.position == WordPosition::Argument;
                if preconditions.files.len() == MAX_FILES {
                    preconditions.is_partial = true;
                    return preconditions;
                }
                preconditions.files.push(snapshot);
            }
        }
    }
    preconditions
}

/// Returns the path if it is outside the project or sensitive, so that fewer rules and grants cover the command.
fn to_restricted_path(path: &str, files: &dyn Reader) -> Option<RestrictedPath> {
    let location = files.locate(path).ok().filter(|location| !location.is_inside || location.is_sensitive)?;
    Some(RestrictedPath { path: location.display_path, is_sensitive: location.is_sensitive, is_project_program: false })
}

/// Reads the file if it is one of the project's.
fn read_project_file(path: &str, files: &dyn Reader) -> Option<FileSnapshot> {
    let location: Location = files.locate(path).ok().filter(|location| location.is_inside)?;
    let content = match files.read(&location) {
        Ok(bytes) => FileContent::from_bytes(Some(&bytes)),
        Err(project::Error::TooLarge { .. }) => FileContent::TooLarge,
        Err(_) => return None,
    };
    Some(FileSnapshot { path: location.display_path, content, new_sha256: None, may_grow: false })
}

#[cfg(test)]
mod tests;
