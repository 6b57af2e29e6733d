//! Files that a command line names, whatever its programs do with them: aye's own, and hard links.

use crate::chat::HardLinks;
use crate::policy::reach::{How, below, places, reaches};
use crate::policy::shell::{Place, Reading, Redirect, Word};
use crate::project::sensitive_files::is_packaged;
use crate::project::{Kind, Located, Own, Reader};
use crate::tools::scripts;

/// Words that are also looked up relative to the folders that `cd` changes to.
const FROM_FOLDERS: usize = 200;

/// Returns every path that a word of the line may name, for any program.
pub(super) fn named_places(reading: &Reading) -> Vec<(String, Place)> {
    let mut folders: Vec<String> =
        places(reading).into_iter().flatten().filter(|at| !at.is_empty()).collect();
    folders.sort();
    folders.dedup();
    let mut names = Vec::new();
    for (at, word) in reading.named.iter().enumerate() {
        for name in scripts::spellings(&word.text) {
            names.push((name.to_owned(), word.place));
            let from = folders.iter().filter(|_| at < FROM_FOLDERS);
            names.extend(from.map(|folder| (below(folder, name), word.place)));
        }
    }
    names
}

/// Returns the words that redirections write to and that occur nowhere else in the line, so that no program can read
/// these files.
pub(super) fn only_written<'a>(reading: &'a Reading, command: &str) -> Vec<&'a Word> {
    // `<>` opens the file for reading too.
    if reading.unclear.is_some() || command.contains("<>") {
        return Vec::new();
    }
    let target = |redirect: &'a Redirect| match redirect {
        Redirect::Write(word @ (Word::Known(_) | Word::Home(_)))
        | Redirect::Append(word @ (Word::Known(_) | Word::Home(_))) => Some(word),
        _ => None,
    };
    let targets = reading.commands.iter().flat_map(|simple| &simple.redirects).filter_map(target);
    targets.filter(|word| command.matches(word.shown()).count() == 1).collect()
}

/// Returns why a line that names this path is never run: it names aye's keys, or writes aye's own settings.
pub(super) fn own_file(name: &str, place: Place, files: &dyn Reader) -> Option<String> {
    let at = files.locate(name).ok()?;
    let is_refused = match at.own? {
        Own::Credentials => true,
        Own::Settings => place == Place::Written,
    };
    is_refused.then(|| belongs_to_aye(&at))
}

pub(super) fn belongs_to_aye(at: &Located) -> String {
    format!("{} belongs to aye's own settings, sessions and keys", crate::tools::place::shown(at))
}

/// Returns why a file with several hard links needs approval: another of its names may be that of a secret. Package
/// managers and build tools make many such files; these need none.
pub(super) fn other_names(files: &dyn Reader, at: &Located) -> Option<String> {
    let names = files.link_count(at);
    let is_file = matches!(files.kind(at), Some(Kind::File(_)));
    (names > 1 && is_file && !is_packaged(&at.real)).then(|| {
        let shown = at.shown.display().to_string();
        format!("it reads {}, a file with {names} hard links, which may hold secrets", shown.escape_debug())
    })
}

/// Returns the first file with several hard links that the line writes by a redirection, or by a program that is known
/// to write it.
pub(in crate::tools) fn hard_links(reading: &Reading, files: &dyn Reader) -> Option<HardLinks> {
    let redirected =
        reading.named.iter().filter(|word| word.place == Place::Written).map(|word| word.text.clone());
    let mut names: Vec<String> = redirected.collect();
    for touch in reaches(reading).touches.iter().filter(|touch| matches!(touch.how, How::Write | How::Append))
    {
        if let Word::Known(name) | Word::Home(name) = &touch.word {
            names.extend(touch.folders.iter().map(|folder| below(folder, name)));
        }
    }
    // These write only their last argument; if that is a folder, the file in it with the name of another argument.
    for simple in &reading.commands {
        if let (Some("cp" | "mv" | "install" | "ln"), [sources @ .., target]) =
            (simple.program(), simple.arguments())
        {
            names.retain(|name| sources.iter().all(|source| source.shown() != name));
            let called =
                |source: &Word| source.shown().trim_end_matches('/').rsplit('/').next().map(str::to_owned);
            let inside = sources.iter().filter_map(called);
            names.extend(inside.map(|name| format!("{}/{name}", target.shown().trim_end_matches('/'))));
        }
    }
    names.iter().find_map(|name| {
        let at = files.locate(name).ok()?;
        let is_file = matches!(files.kind(&at), Some(Kind::File(_)));
        let names = files.link_count(&at);
        (is_file && names > 1).then_some(HardLinks { path: at.shown, names })
    })
}
