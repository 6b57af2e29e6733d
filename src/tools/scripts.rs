//! Finds the project files that a command line names. Their content when the prompt is shown is what may run. Files
//! named by a pattern or a variable are not found.

use super::reach;
use crate::chat::{Basis, Beyond, Held, Scripts, Seen};
use crate::policy::reach::scripts::{Part, Runs, scripts};
use crate::policy::shell::{self, Place, Reading};
use crate::project::{self, Located, Reader};

/// Files compared per command line.
const FILES: usize = 24;
/// Words examined per command line.
const WORDS: usize = 2000;
/// Folders of system programs; nothing that runs while a prompt is shown writes there.
const SYSTEM: [&str; 6] = ["/usr", "/bin", "/sbin", "/lib", "/nix/store", "/snap"];
/// `cd` targets followed per command line.
const FOLDERS: usize = 8;

/// Programs that run their arguments or input. If one is named, every file must stay identical to the byte; otherwise
/// the log of a running program may grow.
#[rustfmt::skip]
const RUN: &[&str] = &[
    "sh", "bash", "dash", "zsh", "ksh", "fish", "source", ".", "eval", "exec", "env", "xargs", "parallel", "sudo",
    "python", "python2", "python3", "pypy", "pypy3", "node", "nodejs", "deno", "bun", "ruby", "perl", "php", "lua",
    "awk", "gawk", "sed", "make", "tclsh", "Rscript", "java", "psql", "sqlite3", "mysql", "git", "patch", "kubectl",
];

/// Returns the preconditions of a command: the files that it names, with their current content.
pub fn named(command: &str, files: &dyn Reader) -> Basis {
    let reading = shell::read(command);
    let mut basis = words(&reading, files);
    basis.scripts = bound(&reading, &mut basis, files);
    basis.hard_links = reach::hard_links(&reading, files);
    basis
}

/// Returns how much is known about the scripts that run. Adds those that are not among the files yet.
fn bound(reading: &Reading, basis: &mut Basis, files: &dyn Reader) -> Scripts {
    let parts = match scripts(reading) {
        Runs::Nothing => return Scripts::None,
        Runs::Unknown(why) => return Scripts::Unseen(why),
        Runs::Files(parts) => parts,
    };
    for part in &parts {
        match script(part, files) {
            Ok(Some(seen)) if basis.files.iter().all(|other| other.path != seen.path) => {
                if basis.files.len() == FILES {
                    basis.partial = true;
                    break;
                }
                basis.files.push(seen);
            }
            Ok(Some(_) | None) => {}
            Err(why) => return Scripts::Unseen(why),
        }
    }
    // None of them may grow: each is run, or read by a program that runs.
    for seen in &mut basis.files {
        seen.grows = false;
    }
    Scripts::Seen
}

/// Reads a file that may be run. `None` if it belongs to the system, or if it is a folder that is merely named.
fn script(part: &Part, files: &dyn Reader) -> Result<Option<Seen>, String> {
    let at = files.locate(&part.name).map_err(|error| error.to_string())?;
    let path = at.shown.display();
    if !at.inside {
        let ours = SYSTEM.iter().any(|folder| at.real.starts_with(folder));
        return if ours {
            Ok(None)
        } else {
            Err(format!("{path}, which it runs or reads, is outside the project"))
        };
    }
    let held = match files.read(&at) {
        Ok(bytes) => Held::of(Some(&bytes)),
        Err(project::Error::Missing(_)) => Held::Nothing,
        Err(project::Error::NotAFile { kind: "a folder", .. }) if !part.plainly => return Ok(None),
        Err(error) => return Err(error.to_string()),
    };
    Ok(Some(Seen { path: at.shown.clone(), held, becomes: None, grows: false }))
}

/// Collects the files that the words name.
fn words(reading: &Reading, files: &dyn Reader) -> Basis {
    let words = &reading.named;
    let mut basis = Basis { partial: words.len() > WORDS, ..Basis::default() };
    let runs = words.iter().any(|word| RUN.contains(&word.text.rsplit('/').next().unwrap_or_default()));
    let mut folders = vec![String::new()];
    let mut goes = false;
    for word in words.iter().take(WORDS) {
        if goes && folders.len() < FOLDERS {
            folders.push(below(folders.last().map_or("", String::as_str), &word.text));
        }
        goes = word.place == Place::First && word.text == "cd";
        if basis.beyond.as_ref().is_none_or(|beyond| !beyond.sensitive) && word.place != Place::First {
            let found = spellings(&word.text)
                .into_iter()
                .flat_map(|name| folders.iter().map(move |folder| below(folder, name)));
            let found: Vec<Beyond> = found.filter_map(|name| beyond(&name, files)).collect();
            let worst = found.into_iter().max_by_key(|beyond| beyond.sensitive);
            if let Some(worst) = worst.filter(|worst| worst.sensitive || basis.beyond.is_none()) {
                basis.beyond = Some(worst);
            }
        }
        if word.place == Place::Written {
            continue;
        }
        for name in spellings(&word.text) {
            for folder in &folders {
                let Some(mut seen) = look(&below(folder, name), files) else { continue };
                if basis.files.iter().any(|other| other.path == seen.path) {
                    continue;
                }
                let is_log = seen.path.extension().is_some_and(|ending| ending == "log");
                seen.grows = is_log && !runs && word.place == Place::Later;
                if basis.files.len() == FILES {
                    basis.partial = true;
                    return basis;
                }
                basis.files.push(seen);
            }
        }
    }
    basis
}

/// Returns the path if it is outside the project or one that no rule covers.
fn beyond(path: &str, files: &dyn Reader) -> Option<Beyond> {
    let at = files.locate(path).ok().filter(|at| !at.inside || at.sensitive)?;
    Some(Beyond { path: at.shown, sensitive: at.sensitive })
}

/// Reads the file if it is one of the project's.
fn look(path: &str, files: &dyn Reader) -> Option<Seen> {
    let at: Located = files.locate(path).ok().filter(|at| at.inside)?;
    let held = match files.read(&at) {
        Ok(bytes) => Held::of(Some(&bytes)),
        Err(project::Error::TooLarge { .. }) => Held::TooMuch,
        Err(_) => return None,
    };
    Some(Seen { path: at.shown, held, becomes: None, grows: false })
}

fn below(folder: &str, name: &str) -> String {
    if folder.is_empty() || name.starts_with(['/', '~']) {
        return name.to_owned();
    }
    format!("{folder}/{name}")
}

/// Returns the ways in which a word may name a file for any program: as it is, after an option or a variable, or after
/// the `@` of an upload.
pub(super) fn spellings(word: &str) -> Vec<&str> {
    let mut names = vec![word];
    names.extend(word.split_once('=').map(|(_, value)| value));
    names.extend(word.strip_prefix('@'));
    if word.starts_with('-') && !word.starts_with("--") {
        names.extend(word.get(2..));
    }
    for name in &mut names {
        for own in ["$PWD/", "${PWD}/", "$(pwd)/"] {
            *name = name.strip_prefix(own).unwrap_or(name);
        }
    }
    names.retain(|name| !name.is_empty());
    names
}

#[cfg(test)]
mod tests;
