//! Finds files that a program overwrites: `cp a b` if there is a `b`.

use super::{CommandFiles, TargetKind, format_names, parse_operands};
use crate::policy::command_line::{Word, program_base_name};
use crate::policy::grammar::{ParsedArguments, Program, Role, possible_options, program_named};

/// Describes what a program overwrites with these arguments.
pub(super) fn find_overwrites(words: &[&str], ground: &CommandFiles<'_>) -> Option<String> {
    let (program, rest) = words.split_first()?;
    let program = program_base_name(program);
    let grammar = program_named(program)?;
    let given = parse_operands(grammar, rest);
    let lost: Vec<String> = match program {
        "cp" | "mv" | "install" | "ln" => files_under_copies(grammar, &given, ground),
        "tee" | "sponge" if !given.has_option(&["--append"]) => {
            existing_files(given.operands.iter().map(Word::display_text).collect(), ground)
        }
        "curl" | "sort" => existing_files(given.option_texts(&["--output"]).collect(), ground),
        "wget" => existing_files(given.option_texts(&["--output-document"]).collect(), ground),
        "unzip" if rest.iter().any(|word| has_overwrite_option(grammar, word)) => {
            return Some("overwrites existing files (unzip -o)".to_owned());
        }
        "rsync" if given.has_role(Role::Forces) => {
            return Some("deletes files missing from the source (rsync --delete)".to_owned());
        }
        _ => return None,
    };
    let names: Vec<&str> = lost.iter().map(String::as_str).collect();
    (!names.is_empty()).then(|| format!("overwrites {} ({program})", format_names(&names)))
}

/// Returns whether this word contains an option to overwrite.
fn has_overwrite_option(grammar: &'static Program, word: &str) -> bool {
    possible_options(grammar, word).iter().any(|(option, _)| option.role == Role::Forces)
}

fn existing_files(names: Vec<&str>, ground: &CommandFiles<'_>) -> Vec<String> {
    names.into_iter().filter(|name| ground.has_content_at(name)).map(str::to_owned).collect()
}

/// Returns the files that `cp` and similar programs overwrite.
fn files_under_copies(program: &'static Program, given: &ParsedArguments, ground: &CommandFiles<'_>) -> Vec<String> {
    // A later option may revert an earlier one.
    let goes_on = given.has_role(Role::Forces);
    let backs_up = given.has_option(&["-b", "--backup"])
        && !given.option_texts(&["--backup"]).any(|kind| matches!(kind, "none" | "off"));
    // These options keep existing files, or back them up.
    let keeps = backs_up
        || given.option_texts(&["--update"]).any(|kind| kind == "none")
        || given.has_role(Role::Lists)
        || match program.name() {
            "install" => given.has_option(&["--directory"]),
            "ln" => !given.has_option(&["--force"]),
            _ => given.has_role(Role::Keeps) && !goes_on,
        };
    if keeps {
        return Vec::new();
    }
    let mut sources: Vec<&str> = given.operands.iter().map(Word::display_text).collect();
    let into = given.option_texts(&["--target-directory"]).next();
    let Some(target) = into.or_else(|| if sources.len() > 1 { sources.pop() } else { None }) else {
        return Vec::new();
    };
    match ground.kind_at(target) {
        TargetKind::Nothing | TargetKind::Unknown => Vec::new(),
        TargetKind::File => vec![target.to_owned()],
        TargetKind::Folder => {
            let inside = |source: &&str| {
                let name = source.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
                format!("{}/{name}", target.trim_end_matches('/'))
            };
            let lost = |name: &String| match ground.kind_at(name) {
                TargetKind::File => true,
                // `cp` copies a folder into a folder of the same name.
                TargetKind::Folder => program.name() == "cp",
                TargetKind::Nothing | TargetKind::Unknown => false,
            };
            sources.iter().map(inside).filter(lost).collect()
        }
    }
}
