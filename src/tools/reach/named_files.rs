//! Files that a line names, whatever its programs do with them: aye's own, and those with several names.

use crate::chat::HardLinks;
use crate::policy::reach::{How, below, places, reaches};
use crate::policy::shell::{Place, Reading, Redirect, Word};
use crate::project::sensitive_files::is_packaged;
use crate::project::{Kind, Located, Own, Reader};
use crate::tools::scripts;

/// Words that are also looked up from the folders that a `cd` goes to.
const FROM_FOLDERS: usize = 200;

/// Every name that a word of the line may stand for, whatever the program does with it.
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

/// The words of a line that redirections write to and that stand nowhere else in it, so that no program can read what they name.
pub(super) fn only_written<'a>(reading: &'a Reading, command: &str) -> Vec<&'a Word> {
    // What is opened for both is read.
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

/// Why a line that names this is never run: it names aye's keys, or writes aye's own settings.
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

/// Why a file asks that has several names: any other of them may be that of a secret. Package managers and build tools make
/// many such files, which are not asked about.
pub(super) fn other_names(files: &dyn Reader, at: &Located) -> Option<String> {
    let names = files.link_count(at);
    let is_file = matches!(files.kind(at), Some(Kind::File(_)));
    (names > 1 && is_file && !is_packaged(&at.real)).then(|| {
        let shown = at.shown.display().to_string();
        format!(
            "it reads {}, a file with {names} names (hard links), which may hold secrets",
            shown.escape_debug()
        )
    })
}

/// The first file with several names that a line writes by a redirection or by a program that is known to write it.
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
    // Only the last word of these is written; where it is a folder, the file in it that is called like another word.
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
