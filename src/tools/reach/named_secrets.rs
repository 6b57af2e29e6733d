//! Finds files with secrets that a command names plainly, if they alone keep it from running without approval.

use super::access_without;
use crate::chat::sensitive::sensitive;
use crate::chat::{Access, CommandLine, Reach, Run};
use crate::policy::reach::{How, Touch, reaches};
use crate::policy::shell::{self, Word};
use crate::project::{Kind, Located, Reader};
use std::path::PathBuf;

/// Files per command.
const MOST: usize = 16;

/// Returns the access of the command, and the files with secrets that it names plainly.
pub(in crate::tools) fn access(line: CommandLine, files: &dyn Reader) -> Access {
    match access_without(line, files, &[]) {
        Access::Run(run) if run.reach == Reach::Runs && run.discloses => {
            let named_secrets = find(&run.line, files).unwrap_or_default();
            Access::Run(Run { named_secrets, ..run })
        }
        access => access,
    }
}

/// Returns the files if every path that the command uses is a plain word, none is searched or belongs to git, and the
/// command would run without approval if these files held no secrets.
fn find(line: &CommandLine, files: &dyn Reader) -> Option<Vec<PathBuf>> {
    let reading = shell::read(&line.command);
    if reading.unclear.is_some() {
        return None;
    }
    let touches = reaches(&reading).touches;
    let mut found: Vec<Located> = Vec::new();
    for touch in &touches {
        let name = plain_name(touch)?;
        let at = files.locate(name).ok()?;
        if !at.sensitive {
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
        && real.len() <= MOST
        && matches!(access_without(line.clone(), files, &real), Access::Read(_));
    is_all.then(|| found.into_iter().map(|at| at.shown).collect())
}

/// Returns the path, relative to the project, of a file that is only read or examined.
fn plain_name(touch: &Touch) -> Option<&str> {
    let is_here = touch.folders.iter().all(String::is_empty);
    match (&touch.how, &touch.word) {
        (How::Contents | How::Names, Word::Known(name)) if is_here => Some(name),
        _ => None,
    }
}

/// Returns whether this is the only path of the file: it is not a link, it has one name, and no parent folder is
/// sensitive.
fn is_exactly(name: &str, at: &Located, files: &dyn Reader) -> bool {
    at.inside
        && at.own.is_none()
        && at.shown.to_str() == Some(name)
        && at.real == files.root().join(&at.shown)
        && matches!(files.kind(at), Some(Kind::File(_)))
        && files.link_count(at) == 1
        && !at.shown.parent().is_some_and(sensitive)
}
