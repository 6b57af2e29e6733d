//! Matching of calls by grants and rules. Grants and `allow` are matched narrowly, `ask` and `deny` widely.

use super::command_line::{FileWord, ParsedLine, SimpleCommand, Word, program_base_name};
use super::subject::Subject;
use super::{exec_options, glob, targets, wide_prefixes};
use crate::chat::{Access, Grant, GrantScope, HardLinks, Script};
use crate::text::escaped_path::escape_path;
use std::path::{Component, Path, PathBuf};

/// Returns whether a grant covers the call. Calls that are sensitive or destroy something are never covered.
pub fn grant_covers(grant: &Grant, of: &Subject<'_>) -> bool {
    if grant.tool != of.tool || !can_be_granted(of) {
        return false;
    }
    match (&grant.scope, of.access) {
        (GrantScope::Command { command, folder, network }, Access::Run(line)) => {
            *command == line.command
                && *folder == line.folder
                && *network == line.network.is_some()
                && has_bound_scripts(&grant.scripts, of)
        }
        // A session log may be older than the list of programs that are too wide, or edited by hand.
        (GrantScope::Prefix { words, folder }, Access::Run(line)) => {
            *folder == line.folder && wide_prefixes::explain_too_wide(words).is_none() && matches_prefix(words, of)
        }
        (GrantScope::File(file), Access::Write(path)) => file == path,
        (GrantScope::Folder(folder), Access::Write(path)) => is_plain(path) && path.starts_with(folder),
        (
            GrantScope::Command { .. } | GrantScope::Prefix { .. } | GrantScope::File(_) | GrantScope::Folder(_),
            Access::Nothing
            | Access::Read(_)
            | Access::ReadSensitive(_)
            | Access::Write(_)
            | Access::WriteOutside(_)
            | Access::AyeFiles(_)
            | Access::Run(_),
        ) => false,
    }
}

/// Returns whether the files the command runs have the same content as when the grant was given.
pub(super) fn has_bound_scripts(scripts: &[Script], of: &Subject<'_>) -> bool {
    of.preconditions.scripts_to_bind().is_ok_and(|now| now == scripts)
}

/// Returns whether any grant or rule may cover the call.
pub(super) fn can_be_granted(of: &Subject<'_>) -> bool {
    !of.destroys
        && of.preconditions.hard_links.is_none()
        && of.preconditions.restricted_path.as_ref().is_none_or(|beyond| !beyond.is_sensitive)
}

/// Describes a file with several hard links.
pub(super) fn describe_hard_links(links: &HardLinks) -> String {
    format!("hard link: {} ({} names)", escape_path(&links.path), links.names)
}

/// Returns whether a pattern names exactly this path: no wildcard and no parent folder.
pub(super) fn matches_exact_path(pattern: &str, path: &Path) -> bool {
    !pattern.contains(['*', '?']) && path.to_str() == Some(pattern)
}

/// Returns whether a path consists of names only.
pub(super) fn is_plain(path: &Path) -> bool {
    path.components().all(|part| matches!(part, Component::Normal(_)))
}

/// Returns whether the call is a single plain command that begins with these words: no other command before, after,
/// around or inside it, and nothing that it would run or reach outside the project.
pub(super) fn matches_prefix(words: &[String], of: &Subject<'_>) -> bool {
    let Some(simple) = of.parsed_line().and_then(single_plain_command) else { return false };
    // `!` inverts the exit status.
    let turned = of.command_line.is_some_and(|line| line.command.trim_start().starts_with('!'));
    let all =
        simple.words.len() >= words.len() && words.iter().zip(&simple.words).all(|(a, b)| b.known_text() == Some(a));
    // Later words must not change what it runs.
    let tame = || exec_options::find_widening_argument(&simple.words, words).is_none();
    // A request for network access needs approval.
    let offline = of.command_line.is_none_or(|line| line.network.is_none());
    offline
        && !words.is_empty()
        && !turned
        && all
        && targets::find_added_target(words, &simple.words).is_none()
        && tame()
        && can_be_granted(of)
        && of.preconditions.restricted_path.is_none()
        && !of.preconditions.is_partial
}

/// Returns the only command of a line, if the line is nothing else and all its words are known.
pub fn single_plain_command(reading: &ParsedLine) -> Option<&SimpleCommand> {
    let [simple] = reading.commands.as_slice() else { return None };
    let alone = reading.unclear.is_none()
        && simple.nesting.is_empty()
        && simple.pipes.len() <= 1
        && !simple.is_background
        && simple.assignments.is_empty()
        && simple.wrappers.is_empty()
        && simple.redirects.is_empty()
        && simple.inline_code.is_none()
        && simple.script.is_none();
    let known = simple.words.iter().all(|word| word.known_text().is_some());
    (alone && known && !simple.words.is_empty()).then_some(simple)
}

/// Returns whether these words occur in any part of the command line that could be parsed: the first as a program or as
/// an argument run by another program, the others after it in order with only options between them.
pub(super) fn contains_words(words: &[String], of: &Subject<'_>) -> bool {
    let Some(reading) = of.parsed_line() else { return false };
    let Some((program, rest)) = words.split_first() else { return false };
    let stands_in = |texts: &[&str], anywhere: bool| {
        let mut starts = texts.iter().enumerate().take(if anywhere { texts.len() } else { 1 });
        starts.any(|(at, text)| {
            program_base_name(text) == program_base_name(program) && matches_with_options(rest, &texts[at + 1..])
        })
    };
    let parts = reading.commands.iter();
    let read = parts.flat_map(|simple| simple.wrappers.iter().chain([&simple.words])).any(|words| {
        let texts: Vec<&str> = words.iter().map(Word::display_text).collect();
        // A single word occurs in many arguments that do not run it.
        let anywhere = !rest.is_empty()
            || texts.first().is_some_and(|first| wide_prefixes::runs_its_arguments(program_base_name(first)));
        stands_in(&texts, anywhere)
    });
    // A part that was not followed may run all the same.
    read || reading.unclear.is_some() && {
        let texts: Vec<&str> = reading.file_words.iter().map(|named| named.text.as_str()).collect();
        stands_in(&texts, true)
    }
}

/// Returns whether the texts begin with these words. Options with one value each may be between them.
fn matches_with_options(wanted: &[String], texts: &[&str]) -> bool {
    let is_option = |text: &str| text.starts_with(['-', '+']);
    let mut rest = texts;
    wanted.iter().all(|word| {
        let at = rest.iter().position(|text| text == word);
        let Some(at) = at else { return false };
        let between = &rest[..at];
        rest = &rest[at + 1..];
        between.iter().enumerate().all(|(index, text)| {
            is_option(text) || index.checked_sub(1).is_some_and(|before| is_option(between[before]))
        })
    })
}

/// Returns whether the call reads, changes or names a file that matches the pattern.
pub(super) fn touches_path(pattern: &str, of: &Subject<'_>) -> bool {
    let fits = |path: &Path| path_matches(pattern, path);
    access_matches(pattern, of.access)
        || of.command_line.is_some_and(|line| {
            let named = of.parsed_line().map(|reading| reading.file_words.as_slice()).unwrap_or_default();
            let seen = of.preconditions.files.iter().any(|seen| fits(&seen.path));
            let beyond = of.preconditions.restricted_path.as_ref().is_some_and(|beyond| fits(&beyond.path));
            seen || beyond || named.iter().any(|named| word_names_path(named, pattern, &line.folder))
        })
}

/// Returns whether a path of this access matches the pattern.
pub(super) fn access_matches(pattern: &str, access: &Access) -> bool {
    match access {
        Access::Nothing | Access::Run(_) => false,
        Access::Read(paths) => paths.iter().any(|path| path_matches(pattern, path)),
        Access::ReadSensitive(path) | Access::Write(path) | Access::WriteOutside(path) | Access::AyeFiles(path) => {
            path_matches(pattern, path)
        }
    }
}

fn path_matches(pattern: &str, path: &Path) -> bool {
    path.to_str().is_some_and(|path| text_matches(pattern, path))
}

fn text_matches(pattern: &str, path: &str) -> bool {
    // An absolute pattern matches absolute paths only.
    pattern.starts_with('/') == path.starts_with('/') && glob::matches_path(pattern, path)
}

/// Returns whether a word, or its part after `=`, names a file that matches.
fn word_names_path(named: &FileWord, pattern: &str, folder: &Path) -> bool {
    let value = named.text.split_once('=').map(|(_, value)| value);
    [Some(named.text.as_str()), value].into_iter().flatten().any(|word| {
        let path = normalize_path(Path::new(word));
        let inside = path.strip_prefix(folder).map(Path::to_owned).ok();
        [Some(path), inside].into_iter().flatten().any(|path| text_matches(pattern, &path.to_string_lossy()))
    })
}

/// Removes `.` and `..` from a path without looking at the file system.
fn normalize_path(path: &Path) -> PathBuf {
    let mut straight = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => drop(straight.pop()),
            Component::RootDir | Component::Prefix(_) | Component::Normal(_) => straight.push(part),
        }
    }
    straight
}

/// Returns whether the command line names a matching host: `https://host/…`, `user@host:…`, or the host alone.
pub(super) fn names_host(pattern: &str, of: &Subject<'_>) -> bool {
    let named = of.parsed_line().map(|reading| reading.file_words.as_slice()).unwrap_or_default();
    named.iter().any(|named| host_candidates(&named.text).any(|host| glob::matches_host(pattern, host)))
}

/// Returns the parts of a word that may be a host.
fn host_candidates(word: &str) -> impl Iterator<Item = &str> {
    let pieces = word.split(|letter: char| !(letter.is_alphanumeric() || ".-_".contains(letter)));
    // Only a resolver could tell; a word without a dot counts as well.
    pieces.filter(|piece| !piece.is_empty() && !piece.starts_with('-'))
}
