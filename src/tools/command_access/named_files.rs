//! Files that a command line names, whatever its programs do with them: aye's own, and hard links.

use crate::chat::HardLinks;
use crate::policy::command_line::{ParsedLine, Redirect, Word, WordPosition};
use crate::policy::effects::{PathAccess, analyze_effects, join_path, working_directories};
use crate::project::sensitive_files::is_in_package_folder;
use crate::project::{FileKind, Location, OwnFile, Reader};

/// Maximum number of words that are also looked up relative to the folders that `cd` changes to.
const MAX_RELATIVE_WORDS: usize = 200;

/// Returns every path that a word of the line may name, for any program.
pub(super) fn named_paths(parsed_line: &ParsedLine) -> Vec<(String, WordPosition)> {
    let mut folders: Vec<String> =
        working_directories(parsed_line).into_iter().flatten().filter(|folder| !folder.is_empty()).collect();
    folders.sort();
    folders.dedup();
    let mut names = Vec::new();
    for (index, word) in parsed_line.file_words.iter().enumerate() {
        for name in path_spellings(&word.text) {
            names.push((name.to_owned(), word.position));
            let relative_folders = folders.iter().filter(|_| index < MAX_RELATIVE_WORDS);
            names.extend(relative_folders.map(|folder| (join_path(folder, name), word.position)));
        }
    }
    names
}

/// Returns the words that redirections write to and that occur nowhere else in the line, so that no program can read
/// these files.
pub(super) fn only_written<'a>(parsed_line: &'a ParsedLine, command: &str) -> Vec<&'a Word> {
    // `<>` opens the file for reading too.
    if parsed_line.unclear.is_some() || command.contains("<>") {
        return Vec::new();
    }
    let target = |redirect: &'a Redirect| match redirect {
        Redirect::Write(word @ (Word::Known(_) | Word::Home(_)))
        | Redirect::Append(word @ (Word::Known(_) | Word::Home(_))) => Some(word),
        _ => None,
    };
    let targets = parsed_line.commands.iter().flat_map(|simple| &simple.redirects).filter_map(target);
    targets.filter(|word| command.matches(word.display_text()).count() == 1).collect()
}

/// Returns why a line that names this path is never run: it names aye's keys, or writes aye's own settings.
pub(super) fn refuse_own_file(name: &str, position: WordPosition, files: &dyn Reader) -> Option<String> {
    let location = files.locate(name).ok()?;
    let is_refused = match location.own_file? {
        OwnFile::Credentials => true,
        OwnFile::Settings => position == WordPosition::OutputTarget,
    };
    is_refused.then(|| own_file_reason(&location))
}

pub(super) fn own_file_reason(location: &Location) -> String {
    format!("{} belongs to aye's own settings, sessions and keys", crate::tools::planned_path::display_path(location))
}

/// Returns why a file with several hard links needs approval: another of its names may be that of a secret. `None` for
/// any other file, and in folders that package managers and build tools fill with hard links.
pub(super) fn hard_link_reason(files: &dyn Reader, location: &Location) -> Option<String> {
    let link_count = files.link_count(location);
    let is_file = matches!(files.file_kind(location), Some(FileKind::File(_)));
    (link_count > 1 && is_file && !is_in_package_folder(&location.real)).then(|| {
        let displayed = location.display_path.display().to_string();
        format!("it reads {}, a file with {link_count} hard links, which may hold secrets", displayed.escape_debug())
    })
}

/// Returns the first file with several hard links that the line writes by a redirection, or by a program that is known
/// to write it.
pub(in crate::tools) fn written_hard_links(parsed_line: &ParsedLine, files: &dyn Reader) -> Option<HardLinks> {
    let redirect_targets = parsed_line
        .file_words
        .iter()
        .filter(|word| word.position == WordPosition::OutputTarget)
        .map(|word| word.text.clone());
    let mut names: Vec<String> = redirect_targets.collect();
    for touch in analyze_effects(parsed_line)
        .touches
        .iter()
        .filter(|touch| matches!(touch.access, PathAccess::Write | PathAccess::Append))
    {
        if let Word::Known(name) | Word::Home(name) = &touch.word {
            names.extend(touch.folders.iter().map(|folder| join_path(folder, name)));
        }
    }
    // These programs write only their last argument, or, if that is a folder, the files in it with the names of the
    // other arguments.
    for simple in &parsed_line.commands {
        if let (Some("cp" | "mv" | "install" | "ln"), [sources @ .., target]) = (simple.program(), simple.arguments()) {
            names.retain(|name| sources.iter().all(|source| source.display_text() != name));
            let file_name =
                |source: &Word| source.display_text().trim_end_matches('/').rsplit('/').next().map(str::to_owned);
            let target_names = sources.iter().filter_map(file_name);
            names.extend(target_names.map(|name| format!("{}/{name}", target.display_text().trim_end_matches('/'))));
        }
    }
    names.iter().find_map(|name| {
        let location = files.locate(name).ok()?;
        let is_file = matches!(files.file_kind(&location), Some(FileKind::File(_)));
        let link_count = files.link_count(&location);
        (is_file && link_count > 1).then_some(HardLinks { path: location.display_path, names: link_count })
    })
}

/// Returns the ways in which a word may name a file for any program: as it is, after an option or a variable, or after
/// the `@` of an upload.
pub(in crate::tools) fn path_spellings(word: &str) -> Vec<&str> {
    let mut names = vec![word];
    names.extend(word.split_once('=').map(|(_, value)| value));
    names.extend(word.strip_prefix('@'));
    if word.starts_with('-') && !word.starts_with("--") {
        names.extend(word.get(2..));
    }
    for name in &mut names {
        for prefix in ["$PWD/", "${PWD}/", "$(pwd)/"] {
            *name = name.strip_prefix(prefix).unwrap_or(name);
        }
    }
    names.retain(|name| !name.is_empty());
    names
}
