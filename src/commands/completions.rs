//! `aye completions`: scripts for shells, and the answers that they ask this program for while the user types.
//!
//! A script calls the program with [`VARIABLE`] and the words up to the cursor. The answer is a line that says whether
//! the shell adds files, folders or nothing, and a line for each candidate. The scripts are not
//! those of clap_complete: its script for PowerShell evaluates the typed line, the one for bash inserts names without
//! quotes, the one for nushell refuses options without their optional values and hides `--help`, and its parser finds
//! commands inside prompts.

mod bash_line;
mod known_names;

use self::bash_line::BashLine;
use crate::cli::completions::{CompletionShell, Completions};
use crate::cli::line_completion::{Candidate, Completion, Values, complete_words};
use crate::text::clean::clean_line;
use crate::text::redaction::redact;
use crate::text::width::fit_start;
use anyhow::Result;
use clap::ValueEnum;
use std::ffi::OsStr;
use std::io::{self, Write};
use std::process::ExitCode;

/// Environment variable with which a script asks for completions. Its value is the name of the shell.
pub const VARIABLE: &str = "AYE_COMPLETE";

/// Maximum columns of a description.
const MAX_DESCRIPTION_COLUMNS: usize = 70;

/// Prints the script of a shell.
pub(super) fn run(arguments: &Completions) -> Result<ExitCode> {
    let mut out = io::stdout().lock();
    out.write_all(find_script(arguments.shell).as_bytes())?;
    out.flush()?;
    Ok(ExitCode::SUCCESS)
}

/// Returns the script of a shell.
fn find_script(shell: CompletionShell) -> &'static str {
    match shell {
        CompletionShell::Bash => include_str!("completions/aye.bash"),
        CompletionShell::Zsh => include_str!("completions/aye.zsh"),
        CompletionShell::Fish => include_str!("completions/aye.fish"),
        CompletionShell::PowerShell => include_str!("completions/aye.ps1"),
        CompletionShell::Elvish => include_str!("completions/aye.elv"),
        CompletionShell::Nushell => include_str!("completions/aye.nu"),
    }
}

/// Answers the script of a shell that is named by [`VARIABLE`]; the other arguments are those of the script. Returns
/// `None` if the value names no shell. Writes nothing but the answer, contacts nothing, and ignores
/// all errors.
pub fn answer_script(shell: &OsStr) -> Option<ExitCode> {
    let shell = CompletionShell::from_str(shell.to_str()?, false).ok()?;
    let arguments = std::env::args_os().skip(1).map(|argument| argument.to_string_lossy().into_owned());
    let answer = format_answer(shell, arguments.collect()).unwrap_or_default();
    let mut out = io::stdout().lock();
    let _ = out.write_all(answer.as_bytes()).and_then(|()| out.flush());
    Some(ExitCode::SUCCESS)
}

/// Returns the answer for the arguments of a script; `None` if they are not those of a script.
fn format_answer(shell: CompletionShell, arguments: Vec<String>) -> Option<String> {
    if shell == CompletionShell::Bash {
        return format_bash_answer(&BashLine::parse(&arguments)?);
    }
    let (before, mut current) = split_words(arguments)?;
    if shell == CompletionShell::PowerShell {
        current = current.strip_prefix('+')?.to_owned();
    }
    let (added, candidates) = find_candidates(&before, &current);
    let mut answer = format!("{added}\n");
    for Candidate { value, description } in &candidates {
        answer.push_str(&format!("{value}\t{description}\n"));
    }
    Some(answer)
}

/// Formats the answer for bash: quoted, and without the part that bash does not replace.
fn format_bash_answer(line: &BashLine) -> Option<String> {
    let (before, current) = split_words(line.words.clone())?;
    if line.is_quoted {
        return Some("files\n".to_owned());
    }
    let (added, candidates) = find_candidates(&before, &current);
    let mut answer = format!("{added}\n");
    // Bash inserts nothing while it lists more than one.
    let is_list = line.is_listing && candidates.len() > 1;
    for Candidate { value, description } in &candidates {
        let Some(replacement) = value.get(line.replaced_from..) else { continue };
        let row = match description.as_str() {
            "" => value.clone(),
            description => format!("{value}  ({description})"),
        };
        answer.push_str(&match is_list {
            true => fit_start(&row, line.columns.saturating_sub(2)).into_owned(),
            false => bash_line::quote(replacement),
        });
        answer.push('\n');
    }
    Some(answer)
}

/// Splits a command line into the words before the cursor and the one at it; `None` if there is no program in it.
fn split_words(mut words: Vec<String>) -> Option<(Vec<String>, String)> {
    let current = words.pop()?;
    let is_assignment = |word: &String| {
        let is_name = |name: &str| name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        word.split_once('=').is_some_and(|(name, _)| is_name(name))
    };
    let program = words.iter().position(|word| !is_assignment(word))?;
    Some((words.split_off(program + 1), current))
}

/// Returns what the shell adds itself, and the candidates as whole words, one line each.
fn find_candidates(before: &[String], current: &str) -> (&'static str, Vec<Candidate>) {
    let completion = complete_words(before, current);
    let names = known_names::list_names(&completion);
    let Completion { prefix, typed, mut candidates, values, .. } = completion;
    candidates.extend(names.into_iter().filter(|name| name.value.starts_with(&typed) && is_usable(&name.value)));
    for candidate in &mut candidates {
        candidate.value.insert_str(0, &prefix);
        let (description, _) = redact(&candidate.description);
        candidate.description = fit_start(&clean_line(&description), MAX_DESCRIPTION_COLUMNS).into_owned();
    }
    // The name of a command is more likely than that of a file.
    let added = match values {
        Values::Files if candidates.is_empty() => "files",
        Values::Folders => "folders",
        _ => "none",
    };
    (added, candidates)
}

/// Returns whether a name can be typed as an argument: visible characters on one line that are not read as an option.
fn is_usable(name: &str) -> bool {
    !name.is_empty() && !name.starts_with('-') && clean_line(name) == name
}

#[cfg(test)]
mod tests;
