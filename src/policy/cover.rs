//! Matching of calls by grants and rules. Grants and `allow` are matched narrowly, `ask` and `deny` widely.

use super::rule::{About, Rule};
use super::shell::{Named, Reading, Simple, Word, base};
use super::subject::Subject;
use super::{Rules, glob, offers, riders, targets};
use crate::chat::escaped_path::escape;
use crate::chat::{Access, Grant, HardLinks, Reach, Scope, Script, Standing, Walls, script};
use std::path::{Component, Path, PathBuf};

/// Returns whether a grant covers the call. Calls that are sensitive or destroy something are never covered.
pub fn covers(grant: &Grant, of: &Subject<'_>) -> bool {
    if grant.tool != of.tool || !may_be_kept(of) {
        return false;
    }
    match (&grant.scope, of.access) {
        (Scope::Command { command, folder, network }, Access::Run(line)) => {
            *command == line.command
                && *folder == line.folder
                && *network == line.network.is_some()
                && is_bound(&grant.scripts, of)
        }
        // A session log may be older than the list of programs that are too wide, or edited by hand.
        (Scope::Words { words, folder }, Access::Run(line)) => {
            *folder == line.folder && offers::too_wide(words).is_none() && begins(words, of)
        }
        (Scope::File(file), Access::Write(path)) => file == path,
        (Scope::Under(folder), Access::Write(path)) => is_plain(path) && path.starts_with(folder),
        (
            Scope::Command { .. } | Scope::Words { .. } | Scope::File(_) | Scope::Under(_),
            Access::Nothing
            | Access::Read(_)
            | Access::ReadSensitive(_)
            | Access::Write(_)
            | Access::WriteOutside(_)
            | Access::Own(_)
            | Access::Run(_),
        ) => false,
    }
}

/// Returns whether the files the command runs have the same content as when the grant was given.
pub(super) fn is_bound(scripts: &[Script], of: &Subject<'_>) -> bool {
    of.basis.bound().is_ok_and(|now| now == scripts)
}

/// Returns why a grant bound to these files does not cover the call now; `None` if the files are unchanged.
pub(super) fn why_unbound(scripts: &[Script], of: &Subject<'_>) -> Option<String> {
    match of.basis.bound() {
        Ok(now) if now == scripts => None,
        Ok(now) => Some(script::changed(scripts, &now).join(", ")),
        Err(why) => Some(why),
    }
}

/// Explains why a grant or rule for exactly this command no longer applies because one of its files changed.
pub(super) fn outdated(granted: &[Standing], rules: &Rules, of: &Subject<'_>) -> Option<String> {
    let line = of.line?;
    let here = granted.iter().filter(|standing| match &standing.grant.scope {
        Scope::Command { command, folder, network } => {
            standing.grant.tool == of.tool
                && *command == line.command
                && *folder == line.folder
                && *network == line.network.is_some()
        }
        Scope::Words { .. } | Scope::File(_) | Scope::Under(_) => false,
    });
    let here = here.filter_map(|standing| {
        let why = why_unbound(&standing.grant.scripts, of)?;
        Some(format!("{why} since you allowed it on call {} of this session", standing.number))
    });
    let kept = rules.list.iter().filter(|rule| rule.is_for(line, of.tool));
    let kept = kept.filter_map(|rule| {
        let why = why_unbound(&rule.scripts, of)?;
        Some(format!("{why} since you allowed it by a rule ({})", rule.stands()))
    });
    here.chain(kept).next()
}

/// Returns whether any grant or rule may cover the call.
pub(super) fn may_be_kept(of: &Subject<'_>) -> bool {
    !of.destroys
        && of.basis.hard_links.is_none()
        && of.basis.beyond.as_ref().is_none_or(|beyond| !beyond.sensitive)
}

/// Describes a file with several hard links.
pub(super) fn several_names(links: &HardLinks) -> String {
    format!("hard link: {} ({} names)", escape(&links.path), links.names)
}

/// Returns whether a pattern names exactly this path: no wildcard and no parent folder.
pub(super) fn names_exactly(pattern: &str, path: &Path) -> bool {
    !pattern.contains(['*', '?']) && path.to_str() == Some(pattern)
}

/// Returns the rules that allow reading each of the secret files a command names, if these files are all that keeps the
/// command from running without approval in the read-only sandbox.
pub(super) fn reads_named<'a>(rules: &'a Rules, of: &Subject<'_>) -> Option<Vec<&'a Rule>> {
    let Access::Run(run) = of.access else { return None };
    let is_confined = matches!(run.walls, Walls::Raised(_)) && run.network.is_none();
    if run.named_secrets.is_empty() || run.reach != Reach::Runs || !is_confined {
        return None;
    }
    if of.destroys || of.basis.hard_links.is_some() {
        return None;
    }
    let rule_for = |path: &PathBuf| rules.list.iter().find(|rule| rule.names_secret(path, of.tool));
    run.named_secrets.iter().map(rule_for).collect()
}

/// Returns whether a path consists of names only.
pub(super) fn is_plain(path: &Path) -> bool {
    path.components().all(|part| matches!(part, Component::Normal(_)))
}

/// Returns whether the call is a single plain command that begins with these words: no other command before, after,
/// around or inside it, and nothing that it would run or reach outside the project.
pub(super) fn begins(words: &[String], of: &Subject<'_>) -> bool {
    let Some(simple) = of.reading().and_then(plain) else { return false };
    // `!` inverts the exit status.
    let turned = of.line.is_some_and(|line| line.command.trim_start().starts_with('!'));
    let all = simple.words.len() >= words.len()
        && words.iter().zip(&simple.words).all(|(a, b)| b.known() == Some(a));
    // Later words must not change what it runs.
    let tame = || riders::widening(&simple.words, words).is_none();
    // A request for network access needs approval.
    let offline = of.line.is_none_or(|line| line.network.is_none());
    offline
        && !words.is_empty()
        && !turned
        && all
        && targets::added(words, &simple.words).is_none()
        && tame()
        && may_be_kept(of)
        && of.basis.beyond.is_none()
        && !of.basis.partial
}

/// Returns the only command of a line, if the line is nothing else and all its words are known.
pub fn plain(reading: &Reading) -> Option<&Simple> {
    let [simple] = reading.commands.as_slice() else { return None };
    let alone = reading.unclear.is_none()
        && simple.within.is_empty()
        && simple.pipes.len() <= 1
        && !simple.background
        && simple.prefix.is_empty()
        && simple.wrappers.is_empty()
        && simple.redirects.is_empty()
        && simple.inline.is_none()
        && simple.script.is_none();
    let known = simple.words.iter().all(|word| word.known().is_some());
    (alone && known && !simple.words.is_empty()).then_some(simple)
}

/// Returns whether these words occur in any part of the command line that could be parsed: the first as a program or as
/// an argument run by another program, the others after it in order with only options between them.
pub(super) fn holds_words(words: &[String], of: &Subject<'_>) -> bool {
    let Some(reading) = of.reading() else { return false };
    let Some((program, rest)) = words.split_first() else { return false };
    let stands_in = |texts: &[&str], anywhere: bool| {
        let mut starts = texts.iter().enumerate().take(if anywhere { texts.len() } else { 1 });
        starts.any(|(at, text)| base(text) == base(program) && follow(rest, &texts[at + 1..]))
    };
    let parts = reading.commands.iter();
    let read = parts.flat_map(|simple| simple.wrappers.iter().chain([&simple.words])).any(|words| {
        let texts: Vec<&str> = words.iter().map(Word::shown).collect();
        // A single word occurs in many arguments that do not run it.
        let anywhere =
            !rest.is_empty() || texts.first().is_some_and(|first| offers::runs_what_it_is_given(base(first)));
        stands_in(&texts, anywhere)
    });
    // A part that was not followed may run all the same.
    read || reading.unclear.is_some() && {
        let texts: Vec<&str> = reading.named.iter().map(|named| named.text.as_str()).collect();
        stands_in(&texts, true)
    }
}

/// Returns whether the texts begin with these words. Options with one value each may be between them.
fn follow(wanted: &[String], texts: &[&str]) -> bool {
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
pub(super) fn holds_path(pattern: &str, of: &Subject<'_>) -> bool {
    let fits = |path: &Path| fits_name(pattern, path);
    reaches(pattern, of.access)
        || of.line.is_some_and(|line| {
            let named = of.reading().map(|reading| reading.named.as_slice()).unwrap_or_default();
            let seen = of.basis.files.iter().any(|seen| fits(&seen.path));
            let beyond = of.basis.beyond.as_ref().is_some_and(|beyond| fits(&beyond.path));
            seen || beyond || named.iter().any(|named| names(named, pattern, &line.folder))
        })
}

/// Returns whether a path of this access matches the pattern.
pub(super) fn reaches(pattern: &str, access: &Access) -> bool {
    match access {
        Access::Nothing | Access::Run(_) => false,
        Access::Read(paths) => paths.iter().any(|path| fits_name(pattern, path)),
        Access::ReadSensitive(path)
        | Access::Write(path)
        | Access::WriteOutside(path)
        | Access::Own(path) => fits_name(pattern, path),
    }
}

fn fits_name(pattern: &str, path: &Path) -> bool {
    path.to_str().is_some_and(|path| fits_path(pattern, path))
}

fn fits_path(pattern: &str, path: &str) -> bool {
    // An absolute pattern matches absolute paths only.
    pattern.starts_with('/') == path.starts_with('/') && glob::path(pattern, path)
}

/// Returns whether a word, or its part after `=`, names a file that matches.
fn names(named: &Named, pattern: &str, folder: &Path) -> bool {
    let value = named.text.split_once('=').map(|(_, value)| value);
    [Some(named.text.as_str()), value].into_iter().flatten().any(|word| {
        let path = straightened(Path::new(word));
        let inside = path.strip_prefix(folder).map(Path::to_owned).ok();
        [Some(path), inside].into_iter().flatten().any(|path| fits_path(pattern, &path.to_string_lossy()))
    })
}

/// Removes `.` and `..` from a path without looking at the file system.
fn straightened(path: &Path) -> PathBuf {
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
pub(super) fn holds_host(pattern: &str, of: &Subject<'_>) -> bool {
    let named = of.reading().map(|reading| reading.named.as_slice()).unwrap_or_default();
    named.iter().any(|named| hosts(&named.text).any(|host| glob::host(pattern, host)))
}

/// Returns the parts of a word that may be a host.
fn hosts(word: &str) -> impl Iterator<Item = &str> {
    let pieces = word.split(|letter: char| !(letter.is_alphanumeric() || ".-_".contains(letter)));
    // Only a resolver could tell; a word without a dot counts as well.
    pieces.filter(|piece| !piece.is_empty() && !piece.starts_with('-'))
}

/// Explains why a rule that allows commands does not cover a call that begins with its first word, or equals it.
pub(super) fn why_not(rule: &Rule, of: &Subject<'_>) -> Option<String> {
    if of.line.is_some_and(|line| rule.is_for(line, of.tool)) {
        return why_unbound(&rule.scripts, of).or_else(|| kept_from(of));
    }
    let About::Words(words) = &rule.about else { return None };
    if rule.tool.as_ref().is_some_and(|tool| tool != of.tool) || !holds_words(&words[..1], of) {
        return None;
    }
    let reading = of.reading()?;
    let owned = |words: &str| Some(words.to_owned());
    if let Some(unclear) = &reading.unclear {
        return Some(unclear.0.clone());
    }
    let [simple] = reading.commands.as_slice() else {
        return Some(format!(
            "{} commands in the line; the rule covers a single one",
            reading.commands.len()
        ));
    };
    if !simple.prefix.is_empty() {
        return owned("variable set before the command");
    }
    if !simple.redirects.is_empty() {
        return owned("redirection");
    }
    let Some(simple) = plain(reading) else {
        return owned("not a plain command: unknown word, or part of another command");
    };
    if let Some((wanted, found)) = words.iter().enumerate().find_map(|(at, word)| {
        let found = simple.words.get(at).map_or("", Word::shown);
        (found != word).then_some((word, found))
    }) {
        return Some(format!("{found:?} instead of {wanted:?}"));
    }
    if of.destroys {
        return kept_from(of);
    }
    if let Some(beyond) = &of.basis.beyond {
        return Some(format!("path outside the project: {}", beyond.path.display()));
    }
    if let Some(target) = targets::added(words, &simple.words) {
        return Some(format!("other target {target:?}; the rule covers more options, not more targets"));
    }
    riders::widening(&simple.words, words).map(|word| format!("{word} can run or write something else"))
}

/// Returns why no grant or rule can cover a command.
fn kept_from(of: &Subject<'_>) -> Option<String> {
    if of.destroys {
        return Some("destructive command".to_owned());
    }
    if let Some(links) = &of.basis.hard_links {
        return Some(several_names(links));
    }
    let beyond = of.basis.beyond.as_ref().filter(|beyond| beyond.sensitive)?;
    Some(format!("secrets or configuration of other programs: {}", beyond.path.display()))
}
