//! Finds the project files that a command line names. Their content when the prompt is shown is what may run. Files
//! named by a pattern or a variable are not found.

use super::command_access::{self, path_spellings};
use crate::chat::{FileContent, FileSnapshot, Preconditions, RestrictedPath, Scripts};
use crate::policy::command_line::{self, ParsedLine, WordPosition};
use crate::policy::effects::script_files::{ScriptFile, ScriptSet, find_scripts};
use crate::project::{self, Location, Reader};

/// Files compared per command line.
const MAX_FILES: usize = 24;
/// Words examined per command line.
const MAX_WORDS: usize = 2000;
/// Folders of system programs; nothing that runs while a prompt is shown writes there.
const SYSTEM_FOLDERS: [&str; 6] = ["/usr", "/bin", "/sbin", "/lib", "/nix/store", "/snap"];
/// `cd` targets followed per command line.
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
    let reading = command_line::parse_command_line(command);
    let mut basis = files_in_words(&reading, files);
    basis.scripts = add_scripts(&reading, &mut basis, files);
    basis.hard_links = command_access::written_hard_links(&reading, files);
    basis
}

/// Returns how much is known about the scripts that run. Adds those that are not among the files yet.
fn add_scripts(reading: &ParsedLine, basis: &mut Preconditions, files: &dyn Reader) -> Scripts {
    let parts = match find_scripts(reading) {
        ScriptSet::None => return Scripts::None,
        ScriptSet::Unknown(why) => return Scripts::Unknown(why),
        ScriptSet::Files(parts) => parts,
    };
    for part in &parts {
        match read_script(part, files) {
            Ok(Some(seen)) if basis.files.iter().all(|other| other.path != seen.path) => {
                if basis.files.len() == MAX_FILES {
                    basis.is_partial = true;
                    break;
                }
                basis.files.push(seen);
            }
            Ok(Some(_) | None) => {}
            Err(why) => return Scripts::Unknown(why),
        }
    }
    // None of them may grow: each is run, or read by a program that runs.
    for seen in &mut basis.files {
        seen.may_grow = false;
    }
    Scripts::Known
}

/// Reads a file that may be run. `None` if it belongs to the system, or if it is a folder that is merely named.
fn read_script(part: &ScriptFile, files: &dyn Reader) -> Result<Option<FileSnapshot>, String> {
    let at = files.locate(&part.name).map_err(|error| error.to_string())?;
    let path = at.display_path.display();
    if !at.is_inside {
        let ours = SYSTEM_FOLDERS.iter().any(|folder| at.real.starts_with(folder));
        return if ours { Ok(None) } else { Err(format!("{path}, which it runs or reads, is outside the project")) };
    }
    let held = match files.read(&at) {
        Ok(bytes) => FileContent::from_bytes(Some(&bytes)),
        Err(project::Error::Missing(_)) => FileContent::Missing,
        Err(project::Error::NotAFile { kind: "a folder", .. }) if !part.is_certain => return Ok(None),
        Err(error) => return Err(error.to_string()),
    };
    Ok(Some(FileSnapshot { path: at.display_path.clone(), content: held, new_sha256: None, may_grow: false }))
}

/// Collects the files that the words name.
fn files_in_words(reading: &ParsedLine, files: &dyn Reader) -> Preconditions {
    let words = &reading.file_words;
    let mut basis = Preconditions { is_partial: words.len() > MAX_WORDS, ..Preconditions::default() };
    let runs = words.iter().any(|word| INTERPRETERS.contains(&word.text.rsplit('/').next().unwrap_or_default()));
    let mut folders = vec![String::new()];
    let mut goes = false;
    for word in words.iter().take(MAX_WORDS) {
        if goes && folders.len() < MAX_FOLDERS {
            folders.push(join_path(folders.last().map_or("", String::as_str), &word.text));
        }
        goes = word.position == WordPosition::Program && word.text == "cd";
        if basis.restricted_path.as_ref().is_none_or(|beyond| !beyond.is_sensitive)
            && word.position != WordPosition::Program
        {
            let found = path_spellings(&word.text)
                .into_iter()
                .flat_map(|name| folders.iter().map(move |folder| join_path(folder, name)));
            let found: Vec<RestrictedPath> = found.filter_map(|name| outside_path(&name, files)).collect();
            let worst = found.into_iter().max_by_key(|beyond| beyond.is_sensitive);
            if let Some(worst) = worst.filter(|worst| worst.is_sensitive || basis.restricted_path.is_none()) {
                basis.restricted_path = Some(worst);
            }
        }
        if word.position == WordPosition::OutputTarget {
            continue;
        }
        for name in path_spellings(&word.text) {
            for folder in &folders {
                let Some(mut seen) = read_project_file(&join_path(folder, name), files) else { continue };
                if basis.files.iter().any(|other| other.path == seen.path) {
                    continue;
                }
                let is_log = seen.path.extension().is_some_and(|ending| ending == "log");
                seen.may_grow = is_log && !runs && word.position == WordPosition::Argument;
                if basis.files.len() == MAX_FILES {
                    basis.is_partial = true;
                    return basis;
                }
                basis.files.push(seen);
            }
        }
    }
    basis
}

/// Returns the path if it is outside the project or one that no rule covers.
fn outside_path(path: &str, files: &dyn Reader) -> Option<RestrictedPath> {
    let at = files.locate(path).ok().filter(|at| !at.is_inside || at.is_sensitive)?;
    Some(RestrictedPath { path: at.display_path, is_sensitive: at.is_sensitive })
}

/// Reads the file if it is one of the project's.
fn read_project_file(path: &str, files: &dyn Reader) -> Option<FileSnapshot> {
    let at: Location = files.locate(path).ok().filter(|at| at.is_inside)?;
    let held = match files.read(&at) {
        Ok(bytes) => FileContent::from_bytes(Some(&bytes)),
        Err(project::Error::TooLarge { .. }) => FileContent::TooLarge,
        Err(_) => return None,
    };
    Some(FileSnapshot { path: at.display_path, content: held, new_sha256: None, may_grow: false })
}

fn join_path(folder: &str, name: &str) -> String {
    if folder.is_empty() || name.starts_with(['/', '~']) {
        return name.to_owned();
    }
    format!("{folder}/{name}")
}

#[cfg(test)]
mod tests;
