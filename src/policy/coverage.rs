//! Matching of calls by grants and rules. Grants and `allow` are matched narrowly, `ask` and `deny` widely.

use super::command_line::{self, FileWord, ParsedLine, SimpleCommand, Word, program_base_name};
use super::named_paths::named_parts;
use super::neutral_wrappers::has_neutral_wrapping;
use super::subject::Subject;
use super::{exec_options, glob, targets, wide_prefixes};
use crate::chat::{Access, CommandLine, CommandSandbox, Grant, GrantScope, HardLinks, Script};
use crate::text::escaped_path::escape_path;
use std::path::{Component, Path, PathBuf};

/// Returns whether a grant covers the call as a whole. Calls that are sensitive or destroy something are never covered.
pub(super) fn grant_covers_whole(grant: &Grant, subject: &Subject<'_>) -> bool {
    if !grant.is_for_tool(subject.tool) || !can_be_granted(subject) {
        return false;
    }
    match (&grant.scope, subject.access) {
        (scope @ GrantScope::Command { .. }, Access::Run(run)) => {
            is_exact_command(scope, &run.line) && has_bound_scripts(&grant.scripts, subject)
        }
        // A session log may be older than the list of programs that are too wide, or edited by hand.
        (GrantScope::Prefix { words, folder }, Access::Run(run)) => {
            *folder == run.line.folder
                && wide_prefixes::explain_too_wide(words).is_none()
                && matches_prefix(words, subject)
        }
        (GrantScope::File(file), Access::Write(path)) => file == path,
        (GrantScope::Folder(folder), Access::Write(path)) => is_plain(path) && path.starts_with(folder),
        (GrantScope::FileChanges, Access::Write(path)) => is_plain(path),
        (GrantScope::Host(host), Access::Fetch(fetch)) => *host == fetch.host,
        (GrantScope::Service(service), Access::External(external)) => {
            *service == external.service && external.page_host.is_none()
        }
        (GrantScope::Workspace, Access::Workspace(access)) => access.session.is_none(),
        _ => false,
    }
}

/// Returns whether a grant is for exactly this command, regardless of the content of the scripts it runs.
pub(super) fn is_exact_command(scope: &GrantScope, line: &CommandLine) -> bool {
    matches!(scope, GrantScope::Command { command, folder, network }
        if *command == line.command && *folder == line.folder && *network == line.network.is_some())
}

/// Returns whether the files the command runs have the same content as when the grant was given.
pub(super) fn has_bound_scripts(scripts: &[Script], subject: &Subject<'_>) -> bool {
    subject.preconditions.scripts_to_bind().is_ok_and(|current| current == scripts)
}

/// Returns whether any grant or rule may cover the call.
pub(super) fn can_be_granted(subject: &Subject<'_>) -> bool {
    !subject.destroys && subject.preconditions.hard_links.is_none() && subject.preconditions.sensitive_path().is_none()
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
pub(super) fn matches_prefix(words: &[String], subject: &Subject<'_>) -> bool {
    let Some(simple) = subject.parsed_line().and_then(single_plain_command) else { return false };
    let has_prefix =
        simple.words.len() >= words.len() && words.iter().zip(&simple.words).all(|(a, b)| b.known_text() == Some(a));
    if !has_prefix || words.is_empty() {
        return false;
    }
    if !wide_prefixes::is_build_tool(words) {
        return covers_simple_command(words, simple, subject);
    }
    let longer_prefix: Vec<String> = simple.words.iter().take(2).map(|word| word.display_text().to_owned()).collect();
    is_confined(subject)
        && wide_prefixes::explain_other_subcommand(&longer_prefix).is_none()
        && covers_simple_command(&longer_prefix, simple, subject)
}

/// Returns whether the sandbox of a command keeps it off the network and out of other programs' sockets. A command that
/// is only judged, as when rules are checked, has no sandbox and counts as confined.
pub(super) fn is_confined(subject: &Subject<'_>) -> bool {
    match subject.access {
        Access::Run(run) => run.sandbox == CommandSandbox::Unspecified || run.sandbox.is_offline(),
        _ => false,
    }
}

/// Returns whether nothing after the prefix makes the only command of a line do more than the prefix says.
fn covers_simple_command(words: &[String], simple: &SimpleCommand, subject: &Subject<'_>) -> bool {
    // `!` inverts the exit status.
    let is_negated = subject.command_line.is_some_and(|line| line.command.trim_start().starts_with('!'));
    // Later words must not change what it runs.
    let has_no_widening_argument = || exec_options::find_widening_argument(&simple.words, words).is_none();
    // A request for network access needs approval.
    let is_offline = subject.command_line.is_none_or(|line| line.network.is_none());
    is_offline
        && !is_negated
        && targets::find_added_target(words, &simple.words).is_none()
        && has_no_widening_argument()
        && can_be_granted(subject)
        && subject.preconditions.restricted_path.is_none()
        && !subject.preconditions.is_partial
}

/// Returns the only command of a line, if the line is nothing else, apart from neutral wrappers and variables, and all
/// its words are known.
pub fn single_plain_command(parsed_line: &ParsedLine) -> Option<&SimpleCommand> {
    let [simple] = parsed_line.commands.as_slice() else { return None };
    let has_no_constructs = parsed_line.unclear.is_none()
        && simple.nesting.is_empty()
        // Every command is in one pipeline; a second one would surround it.
        && simple.pipelines.len() <= 1
        && !simple.is_background
        && has_neutral_wrapping(simple)
        && simple.redirects.is_empty()
        && simple.inline_code.is_none()
        && simple.script.is_none();
    let has_known_words = simple.words.iter().all(|word| word.known_text().is_some());
    (has_no_constructs && has_known_words && !simple.words.is_empty()).then_some(simple)
}

/// Returns whether the call is this command, with neutral wrappers and variables at most, and however it is quoted.
pub(super) fn is_same_command(command: &str, subject: &Subject<'_>) -> bool {
    let is_same_text = subject.command_line.is_some_and(|line| line.command.trim() == command.trim());
    let parsed_command = command_line::parse_command_line(command);
    let words_of = |parsed_line| single_plain_command(parsed_line).map(|simple| &simple.words);
    is_same_text
        || words_of(&parsed_command).is_some_and(|words| subject.parsed_line().and_then(words_of) == Some(words))
}

/// Returns whether these words occur in any part of the command line that could be parsed: the first as a program or as
/// an argument run by another program, the others after it in order with only options between them.
pub(super) fn contains_words(words: &[String], subject: &Subject<'_>) -> bool {
    let Some(parsed_line) = subject.parsed_line() else { return false };
    let Some((program, later_words)) = words.split_first() else { return false };
    let occurs_in = |texts: &[&str], anywhere: bool| {
        let mut candidates = texts.iter().enumerate().take(if anywhere { texts.len() } else { 1 });
        candidates.any(|(index, text)| {
            program_base_name(text) == program_base_name(program)
                && matches_with_options(later_words, &texts[index + 1..])
        })
    };
    let commands = parsed_line.commands.iter();
    let is_in_commands = commands.flat_map(|simple| simple.wrappers.iter().chain([&simple.words])).any(|words| {
        let texts: Vec<&str> = words.iter().map(Word::display_text).collect();
        // A single word occurs in many arguments that do not run it.
        let anywhere = !later_words.is_empty()
            || texts.first().is_some_and(|first| wide_prefixes::runs_its_arguments(program_base_name(first)));
        occurs_in(&texts, anywhere)
    });
    // A part that could not be parsed may still run.
    is_in_commands
        || parsed_line.unclear.is_some() && {
            let texts: Vec<&str> = parsed_line.file_words.iter().map(|file_word| file_word.text.as_str()).collect();
            occurs_in(&texts, true)
        }
}

/// Returns whether the texts begin with these words. Options with one value each may be between them, and a value may
/// equal the next word.
fn matches_with_options(words: &[String], texts: &[&str]) -> bool {
    let is_option = |index: usize| texts[index].starts_with(['-', '+']);
    // Positions at which the next word may be looked for.
    let mut starts = vec![0];
    for word in words {
        let mut next_starts = Vec::new();
        // End of the texts that were searched. A start before it would find nothing more.
        let mut searched_end = 0;
        for start in starts {
            if start < searched_end {
                continue;
            }
            for (index, text) in texts.iter().enumerate().skip(start) {
                searched_end = index + 1;
                if text == word {
                    next_starts.push(index + 1);
                }
                if !is_option(index) && (index == start || !is_option(index - 1)) {
                    break;
                }
            }
        }
        starts = next_starts;
    }
    !starts.is_empty()
}

/// Returns whether the call reads, changes or names a file that matches the pattern.
pub(super) fn touches_path(pattern: &str, subject: &Subject<'_>) -> bool {
    let is_match = |path: &Path| path_matches(pattern, path);
    access_matches(pattern, subject.access)
        || references_path(pattern, subject)
        || subject.command_line.is_some_and(|line| {
            let file_words =
                subject.parsed_line().map(|parsed_line| parsed_line.file_words.as_slice()).unwrap_or_default();
            let matches_checked_file = subject.preconditions.files.iter().any(|file| is_match(&file.path));
            let matches_restricted_path =
                subject.preconditions.restricted_path.as_ref().is_some_and(|restricted| is_match(&restricted.path));
            matches_checked_file
                || matches_restricted_path
                || file_words.iter().any(|file_word| word_names_path(file_word, pattern, &line.folder))
        })
}

/// Returns whether the arguments of the call contain the content of a file that matches the pattern.
pub(super) fn references_path(pattern: &str, subject: &Subject<'_>) -> bool {
    let mut paths = subject.preconditions.references.iter().filter_map(|file| file.path.as_deref());
    paths.any(|path| path_matches(pattern, path))
}

/// Returns whether a path of this access matches the pattern.
pub(super) fn access_matches(pattern: &str, access: &Access) -> bool {
    match access {
        Access::Nothing | Access::Background(_) | Access::Run(_) | Access::Fetch(_) | Access::External(_) => false,
        Access::Workspace(access) => access.copied_file.as_ref().is_some_and(|path| path_matches(pattern, path)),
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

/// Returns whether a word, or a part of it, names a file that matches.
fn word_names_path(file_word: &FileWord, pattern: &str, folder: &Path) -> bool {
    let text = file_word.text.as_str();
    std::iter::once(text).chain(named_parts(text)).any(|word| {
        let path = normalize_path(Path::new(word));
        let relative = path.strip_prefix(folder).map(Path::to_owned).ok();
        [Some(path), relative].into_iter().flatten().any(|path| text_matches(pattern, &path.to_string_lossy()))
    })
}

/// Removes `.` and `..` from a path without looking at the file system.
fn normalize_path(path: &Path) -> PathBuf {
    let mut normalized = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => drop(normalized.pop()),
            Component::RootDir | Component::Prefix(_) | Component::Normal(_) => normalized.push(part),
        }
    }
    normalized
}

/// Returns whether the call requests a matching host, or its command line names one: `https://host/…`, `user@host:…`, or
/// the host alone.
pub(super) fn names_host(pattern: &str, subject: &Subject<'_>) -> bool {
    match subject.access {
        Access::Fetch(fetch) => return glob::matches_host(pattern, &fetch.host),
        Access::External(external) => {
            return std::iter::once(&external.service)
                .chain(&external.page_host)
                .any(|host| glob::matches_host(pattern, host));
        }
        Access::Nothing
        | Access::Read(_)
        | Access::ReadSensitive(_)
        | Access::Write(_)
        | Access::WriteOutside(_)
        | Access::AyeFiles(_)
        | Access::Background(_)
        | Access::Workspace(_)
        | Access::Run(_) => {}
    }
    let file_words = subject.parsed_line().map(|parsed_line| parsed_line.file_words.as_slice()).unwrap_or_default();
    file_words.iter().any(|file_word| host_candidates(&file_word.text).any(|host| glob::matches_host(pattern, host)))
}

/// Returns the parts of a word that may be a host.
fn host_candidates(word: &str) -> impl Iterator<Item = &str> {
    let pieces = word.split(|c: char| !(c.is_alphanumeric() || ".-_".contains(c)));
    // Only name resolution could show which pieces are hosts, so a piece without a dot counts too.
    pieces.filter(|piece| !piece.is_empty() && !piece.starts_with('-'))
}
