//! Finds files that a program overwrites: `cp a b` if there is a `b`.

use super::{Ground, There, given, told};
use crate::policy::grammar::{Given, Program, Role, options_in, program_named};
use crate::policy::shell::{Word, base};

/// Describes what a program overwrites with these arguments.
pub(super) fn by(words: &[&str], ground: &Ground<'_>) -> Option<String> {
    let (program, rest) = words.split_first()?;
    let program = base(program);
    let grammar = program_named(program)?;
    let given = given(grammar, rest);
    let lost: Vec<String> = match program {
        "cp" | "mv" | "install" | "ln" => copied(grammar, &given, ground),
        "tee" | "sponge" if !given.has(&["--append"]) => {
            held(given.operands.iter().map(Word::shown).collect(), ground)
        }
        "curl" | "sort" => held(given.texts(&["--output"]).collect(), ground),
        "wget" => held(given.texts(&["--output-document"]).collect(), ground),
        "unzip" if rest.iter().any(|word| overwrites(grammar, word)) => {
            return Some("overwrites existing files (unzip -o)".to_owned());
        }
        "rsync" if given.has_role(Role::Forces) => {
            return Some("deletes files missing from the source (rsync --delete)".to_owned());
        }
        _ => return None,
    };
    let names: Vec<&str> = lost.iter().map(String::as_str).collect();
    (!names.is_empty()).then(|| format!("overwrites {} ({program})", told(&names)))
}

/// Returns whether this word contains an option to overwrite.
fn overwrites(grammar: &'static Program, word: &str) -> bool {
    options_in(grammar, word).iter().any(|(option, _)| option.role == Role::Forces)
}

fn held(names: Vec<&str>, ground: &Ground<'_>) -> Vec<String> {
    names.into_iter().filter(|name| ground.holds(name)).map(str::to_owned).collect()
}

/// Returns the files that `cp` and similar programs overwrite.
fn copied(program: &'static Program, given: &Given, ground: &Ground<'_>) -> Vec<String> {
    // A later option may revert an earlier one.
    let goes_on = given.has_role(Role::Forces);
    let backs_up = given.has(&["-b", "--backup"])
        && !given.texts(&["--backup"]).any(|kind| matches!(kind, "none" | "off"));
    // These options keep existing files, or back them up.
    let keeps = backs_up
        || given.texts(&["--update"]).any(|kind| kind == "none")
        || given.has_role(Role::Lists)
        || match program.name() {
            "install" => given.has(&["--directory"]),
            "ln" => !given.has(&["--force"]),
            _ => given.has_role(Role::Keeps) && !goes_on,
        };
    if keeps {
        return Vec::new();
    }
    let mut sources: Vec<&str> = given.operands.iter().map(Word::shown).collect();
    let into = given.texts(&["--target-directory"]).next();
    let Some(target) = into.or_else(|| if sources.len() > 1 { sources.pop() } else { None }) else {
        return Vec::new();
    };
    match ground.there(target) {
        There::Nothing | There::Unknown => Vec::new(),
        There::File => vec![target.to_owned()],
        There::Folder => {
            let inside = |source: &&str| {
                let name = source.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
                format!("{}/{name}", target.trim_end_matches('/'))
            };
            let lost = |name: &String| match ground.there(name) {
                There::File => true,
                // `cp` copies a folder into a folder of the same name.
                There::Folder => program.name() == "cp",
                There::Nothing | There::Unknown => false,
            };
            sources.iter().map(inside).filter(lost).collect()
        }
    }
}
