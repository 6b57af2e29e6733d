//! Finds files that a program overwrites: `cp a b` if there is a `b`.

use super::{CommandFiles, TargetKind, format_names, parse_program_arguments};
use crate::policy::command_line::{Word, program_base_name};
use crate::policy::grammar::{ParsedArguments, Program, Role, possible_options, program_named};

/// Describes what a program overwrites with these arguments.
pub(super) fn find_overwrites(words: &[&str], command_files: &CommandFiles<'_>) -> Option<String> {
    let (program, argument_words) = words.split_first()?;
    let program = program_base_name(program);
    let grammar = program_named(program)?;
    let arguments = parse_program_arguments(grammar, argument_words);
    let overwritten: Vec<String> = match program {
        "cp" | "mv" | "install" | "ln" => files_overwritten_by_copy(grammar, &arguments, command_files),
        "tee" | "sponge" if !arguments.has_option(&["--append"]) => {
            existing_files(arguments.operands.iter().map(Word::display_text).collect(), command_files)
        }
        "curl" | "sort" => existing_files(arguments.option_texts(&["--output"]).collect(), command_files),
        "wget" => existing_files(arguments.option_texts(&["--output-document"]).collect(), command_files),
        "unzip" if argument_words.iter().any(|word| has_overwrite_option(grammar, word)) => {
            return Some("overwrites existing files (unzip -o)".to_owned());
        }
        "rsync" if arguments.has_role(Role::Forces) => {
            return Some("deletes files missing from the source (rsync --delete)".to_owned());
        }
        _ => return None,
    };
    let names: Vec<&str> = overwritten.iter().map(String::as_str).collect();
    (!names.is_empty()).then(|| format!("overwrites {} ({program})", format_names(&names)))
}

/// Returns whether this word contains an option to overwrite.
fn has_overwrite_option(grammar: &'static Program, word: &str) -> bool {
    possible_options(grammar, word).iter().any(|(option, _)| option.role == Role::Forces)
}

/// Returns the names at which a file with content exists.
fn existing_files(names: Vec<&str>, command_files: &CommandFiles<'_>) -> Vec<String> {
    names.into_iter().filter(|name| command_files.has_content_at(name)).map(str::to_owned).collect()
}

/// Returns the files that `cp` and similar programs overwrite.
fn files_overwritten_by_copy(
    program: &'static Program,
    arguments: &ParsedArguments,
    command_files: &CommandFiles<'_>,
) -> Vec<String> {
    // If one option keeps existing files and another overwrites them, the last one counts. Their order is not checked:
    // overwriting is assumed.
    let forces = arguments.has_role(Role::Forces);
    let makes_backup = arguments.has_option(&["-b", "--backup"])
        && !arguments.option_texts(&["--backup"]).any(|kind| matches!(kind, "none" | "off"));
    // These options keep existing files, or back them up.
    let keeps_existing = makes_backup
        || arguments.option_texts(&["--update"]).any(|kind| kind == "none")
        || arguments.has_role(Role::Lists)
        || match program.name() {
            "install" => arguments.has_option(&["--directory"]),
            "ln" => !arguments.has_option(&["--force"]),
            _ => arguments.has_role(Role::Keeps) && !forces,
        };
    if keeps_existing {
        return Vec::new();
    }
    let mut sources: Vec<&str> = arguments.operands.iter().map(Word::display_text).collect();
    let target_directory = arguments.option_texts(&["--target-directory"]).next();
    let Some(target) = target_directory.or_else(|| if sources.len() > 1 { sources.pop() } else { None }) else {
        return Vec::new();
    };
    match command_files.kind_at(target) {
        TargetKind::Nothing | TargetKind::Unknown => Vec::new(),
        TargetKind::File => vec![target.to_owned()],
        TargetKind::Folder => {
            let path_in_target = |source: &&str| {
                let name = source.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
                format!("{}/{name}", target.trim_end_matches('/'))
            };
            let is_overwritten = |name: &String| match command_files.kind_at(name) {
                TargetKind::File => true,
                // `cp` copies a folder into a folder of the same name.
                TargetKind::Folder => program.name() == "cp",
                TargetKind::Nothing | TargetKind::Unknown => false,
            };
            sources.iter().map(path_in_target).filter(is_overwritten).collect()
        }
    }
}
