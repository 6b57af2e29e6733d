//! Finds what a command plainly destroys: files that it deletes or overwrites, and uncommitted work. It knows common
//! programs by name; a command without findings is not necessarily safe.

mod command_files;
mod git;
mod overwrites;
#[cfg(test)]
mod tests;

use crate::policy::command_line::{self, ParsedLine, Redirect, SimpleCommand, Word, WordPosition, program_base_name};
use crate::policy::effects::working_directories;
use crate::policy::grammar::program_named;
use crate::policy::runs_its_arguments;
use crate::project::Reader;
use command_files::{CommandFiles, FileLookups, TargetKind, format_names, parse_program_arguments};
use std::cell::Cell;

/// Programs whose arguments name no program to run: they print their arguments or search for them, or they have a
/// subcommand `rm`.
const PROGRAMS_WITHOUT_INNER_COMMAND: &[&str] =
    &["echo", "printf", "grep", "egrep", "fgrep", "rg", "git", "npm", "man", "which", "type", "apt"];
/// Maximum nesting depth of command lines in arguments: `ssh a "ssh b 'rm -r x'"`.
const MAX_DEPTH: usize = 3;
/// Maximum number of paths looked up per command line. Any further path counts as an existing file.
const MAX_LOOKUPS: usize = 2_000;
/// Maximum number of losses listed per command line; the rest are counted.
const MAX_LISTED: usize = 3;

/// Describes what the command destroys, for the approval prompt. `files` is used to check whether a target exists.
pub fn find_losses(command: &str, files: &dyn Reader) -> Option<String> {
    let mut lost = Vec::new();
    let lookups = FileLookups { files, remaining: Cell::new(MAX_LOOKUPS) };
    collect_losses(&command_line::parse_command_line(command), Some(&lookups), MAX_DEPTH, &mut lost);
    match lost.len() {
        0 => None,
        count if count <= MAX_LISTED => Some(lost.join("; ")),
        count => Some(format!("{}; and {} more", lost[..MAX_LISTED].join("; "), count - MAX_LISTED)),
    }
}

fn collect_losses(
    parsed_line: &ParsedLine,
    files: Option<&FileLookups<'_>>,
    remaining_depth: usize,
    lost: &mut Vec<String>,
) {
    let mut found_any = false;
    for (simple, folders) in parsed_line.commands.iter().zip(working_directories(parsed_line)) {
        let command_files = CommandFiles { files, folders: &folders };
        add_redirect_losses(simple, &command_files, lost);
        let command_losses = losses_of_command(simple, &command_files, remaining_depth);
        found_any |= !command_losses.is_empty();
        command_losses.into_iter().for_each(|loss| push_unique(lost, loss));
    }
    // If the command line could not be parsed to its end, only its words are known.
    let file_words = parsed_line.file_words.iter().filter(|_| parsed_line.unclear.is_some());
    let mut parts: Vec<Vec<&str>> = vec![Vec::new()];
    for word in file_words {
        if word.position == WordPosition::Program {
            parts.push(Vec::new());
        }
        let pieces = word.text.split(|c: char| c.is_whitespace() || ";|&(){}`".contains(c));
        if let Some(part) = parts.last_mut() {
            part.extend(pieces.filter(|piece| !piece.is_empty()));
        }
    }
    let command_files = CommandFiles { files: None, folders: &[] };
    let anywhere = true;
    // Skipped if a loss was found: this would describe it again.
    if let Some(loss) =
        parts.iter().filter(|_| !found_any).find_map(|words| find_loss_in_words(words, anywhere, &command_files))
    {
        push_unique(lost, loss);
    }
}

fn push_unique(lost: &mut Vec<String>, loss: String) {
    if !lost.contains(&loss) {
        lost.push(loss);
    }
}

/// Adds the files that output redirections overwrite.
fn add_redirect_losses(simple: &SimpleCommand, command_files: &CommandFiles<'_>, lost: &mut Vec<String>) {
    for redirect in &simple.redirects {
        let (name, is_overwrite) = match redirect {
            Redirect::Write(word) => (word, true),
            Redirect::Append(word) => (word, false),
            Redirect::Read(_) | Redirect::Descriptor | Redirect::Text(_) => continue,
        };
        // The file that a pattern or a variable names is unknown before the command runs.
        let is_known = matches!(name, Word::Known(_) | Word::Home(_));
        if is_storage_device(name.display_text()) {
            push_unique(lost, format!("overwrites a device ({})", format_names(&[name.display_text()])));
        } else if is_overwrite && is_known && command_files.has_content_at(name.display_text()) {
            push_unique(lost, format!("overwrites {}", format_names(&[name.display_text()])));
        }
    }
}

/// Returns what one command destroys, judged by its arguments.
fn losses_of_command(simple: &SimpleCommand, command_files: &CommandFiles<'_>, remaining_depth: usize) -> Vec<String> {
    let words: Vec<&str> = simple.words.iter().map(Word::display_text).collect();
    let program = simple.program().unwrap_or_default();
    // The commands that `find` executes were parsed already.
    let anywhere = !PROGRAMS_WITHOUT_INNER_COMMAND.contains(&program) && program != "find";
    let loss = overwrites::find_overwrites(&words, command_files)
        .or_else(|| find_loss_in_words(&words, anywhere, command_files));
    let mut lost: Vec<String> = loss.into_iter().collect();
    // An argument of such a program may be a command line: `ssh host 'rm -r x'`. Command lines in the arguments of a
    // shell were parsed already.
    if runs_its_arguments(program) && remaining_depth > 0 && lost.is_empty() {
        let local_files = command_files.files.filter(|_| !matches!(program, "ssh" | "mosh"));
        for line in words.iter().filter(|word| word.contains(char::is_whitespace)) {
            collect_losses(&command_line::parse_command_line(line), local_files, remaining_depth - 1, &mut lost);
        }
    }
    lost
}

/// Returns what these words destroy. `anywhere` is true if a program name may follow the first word.
fn find_loss_in_words(words: &[&str], anywhere: bool, command_files: &CommandFiles<'_>) -> Option<String> {
    let candidates = words.iter().enumerate().take(if anywhere { words.len() } else { 1 });
    candidates.into_iter().find_map(|(index, word)| {
        let arguments = &words[index + 1..];
        let previous_word = index.checked_sub(1).map(|previous| words[previous]);
        // After the first word, this is a program only if the words before it can run one.
        let is_program =
            index == 0 || runs_its_arguments(program_base_name(words[0])) || words[..index].contains(&"exec");
        let name = program_base_name(word);
        let is_delete_program = matches!(name, "rm" | "unlink" | "rmdir" | "shred" | "truncate");
        let grammar = program_named(name).filter(|_| is_delete_program);
        let parsed = grammar.map(|program| parse_program_arguments(program, arguments)).unwrap_or_default();
        let has_option = |option: &str| parsed.has_option(&[option]);
        let operands = || parsed.operands.iter().map(Word::display_text).collect::<Vec<&str>>();
        match name {
            "rm" if matches!(previous_word, Some("docker" | "podman")) => None,
            "rm" if has_option("--recursive") => {
                // What cannot be looked up may be a folder, and a program that runs `rm` may run it on another machine.
                let (files, folders): (Vec<&str>, Vec<&str>) =
                    operands().into_iter().partition(|name| index == 0 && command_files.is_known_file(name));
                let pronoun = if folders.len() > 1 { "them" } else { "it" };
                let content = format!("{} and everything in {pronoun}", format_names(&folders));
                Some(match (files.is_empty(), folders.is_empty()) {
                    (false, true) => format!("deletes {} (rm -r)", format_names(&files)),
                    (false, false) => format!("deletes {content}, and {} (rm -r)", format_names(&files)),
                    (true, _) => format!("deletes {content} (rm -r)"),
                })
            }
            "rm" if has_option("--force") => Some(format!("deletes {} (rm -f)", format_names(&operands()))),
            "rm" | "unlink" if is_program && !is_help_request(arguments) => {
                Some(format!("deletes {}", format_names(&operands())))
            }
            "rmdir" if is_program && !is_help_request(arguments) => {
                Some(format!("deletes {} if empty (rmdir)", format_names(&operands())))
            }
            "find" if arguments.contains(&"-delete") => Some("deletes the files it finds (find -delete)".to_owned()),
            "git" => git::find_git_loss(arguments, command_files),
            "dd" => {
                let target = arguments.iter().find_map(|word| word.strip_prefix("of="))?;
                let is_new_file = !target.starts_with("/dev/") && command_files.kind_at(target) == TargetKind::Nothing;
                (!is_new_file && target != "/dev/null")
                    .then(|| format!("overwrites {} (dd of=)", format_names(&[target])))
            }
            "shred" => Some(format!("overwrites {} permanently (shred)", format_names(&operands()))),
            "truncate" => {
                let names = operands();
                let lost: Vec<&str> =
                    names.into_iter().filter(|name| command_files.kind_at(name) != TargetKind::Nothing).collect();
                (!lost.is_empty()).then(|| format!("truncates {} (truncate)", format_names(&lost)))
            }
            name if name == "mkfs" || name.starts_with("mkfs.") => Some("erases a disk (mkfs)".to_owned()),
            _ => None,
        }
    })
}

fn is_help_request(words: &[&str]) -> bool {
    matches!(words, ["--help" | "--version"])
}

/// Returns whether the path is a device that stores what is written to it. Files in a folder of shared memory are
/// ordinary files.
fn is_storage_device(target: &str) -> bool {
    let harmless_devices = ["null", "stdout", "stderr", "tty", "zero", "full", "random", "urandom"];
    let harmless_folders = ["fd/", "pts/", "shm/", "mqueue/", "tcp/", "udp/"];
    let name = target.strip_prefix("/dev/");
    name.is_some_and(|name| {
        !harmless_devices.contains(&name) && !harmless_folders.iter().any(|folder| name.starts_with(folder))
    })
}
