//! Programs that search for files and in files.

use super::path_access::{PathAccess, ProgramPaths, current_folder};
use super::stated_paths::{
    argument_paths, beyond_reading_reason, grammar_of, parse_read_only, require_certain, take_script,
};
use crate::policy::command_line::Word;
use crate::policy::grammar::{ParsedArguments, ParsedOption, Role, parse_arguments};

/// Adds the working directory as an operand if there is none.
fn add_default_operand(arguments: &mut ParsedArguments) {
    if arguments.operands.is_empty() {
        arguments.operands.push(current_folder());
    }
}

/// Judges `grep`. `-R` needs approval because it follows links.
pub(super) fn judge_grep(name: &str, words: &[Word]) -> ProgramPaths {
    let mut arguments = parse_read_only(name, grammar_of("grep")?, words)?;
    take_script(name, &mut arguments)?;
    // grep accepts abbreviations, so every other value may mean `recurse`.
    let may_recurse = |value: &str| !matches!(value, "skip" | "read");
    let is_recursive =
        arguments.has_role(Role::Recursive) || arguments.option_texts(&["--directories"]).any(may_recurse);
    // grep treats the name as a pattern: one with wildcards may mean another folder.
    let has_no_wildcard = |name: &&str| !name.contains(['*', '?', '[', '\\']);
    let skipped_folders: Vec<String> = arguments
        .option_texts(&["--exclude-dir"])
        .filter(has_no_wildcard)
        .map(|name| name.trim_end_matches('/').to_owned())
        .collect();
    if !is_recursive {
        return Ok(argument_paths(&arguments, &PathAccess::Contents));
    }
    add_default_operand(&mut arguments);
    let access = PathAccess::Recursive { include_hidden: true, skipped_folders, follow_links: false };
    Ok(argument_paths(&arguments, &access))
}

/// Judges `rg` without options that start another program or follow links.
pub(super) fn judge_rg(words: &[Word]) -> ProgramPaths {
    let mut arguments = parse_read_only("rg", grammar_of("rg")?, words)?;
    let lists_files = arguments.has_role(Role::Lists);
    if !lists_files {
        take_script("rg", &mut arguments)?;
    }
    // A file that matches a glob or a type is read even if it is hidden.
    let globs: Vec<&str> =
        arguments.option_texts(&["--glob", "--iglob"]).filter(|glob| !glob.starts_with('!')).collect();
    let has_filter = !globs.is_empty() || arguments.has_option(&["--type"]);
    let includes_hidden = arguments.has_role(Role::IncludesHidden);
    // Types and globs such as `*.rs` do not match the folder name `.git`, so the folder stays excluded. `*.git` does.
    let is_extension_glob = |glob: &&str| {
        let extension = glob.strip_prefix("*.").unwrap_or_default();
        !extension.is_empty() && extension != "git" && extension.bytes().all(|byte| byte.is_ascii_alphanumeric())
    };
    let excludes_git = has_filter && !includes_hidden && globs.iter().all(is_extension_glob);
    let skipped_folders = if excludes_git { vec![".git".to_owned()] } else { Vec::new() };
    let include_hidden = has_filter || includes_hidden;
    add_default_operand(&mut arguments);
    let access = if lists_files {
        PathAccess::Names
    } else {
        PathAccess::Recursive { include_hidden, skipped_folders, follow_links: false }
    };
    Ok(argument_paths(&arguments, &access))
}

/// Judges `fd` without options that run something for each file.
pub(super) fn judge_fd(words: &[Word]) -> ProgramPaths {
    let mut arguments = parse_read_only("fd", grammar_of("fd")?, words)?;
    if !arguments.operands.is_empty() {
        take_script("fd", &mut arguments)?;
    }
    add_default_operand(&mut arguments);
    Ok(argument_paths(&arguments, &PathAccess::Names))
}

/// Judges `find` without actions that delete or write. The commands that it runs are judged separately, with the names
/// found.
pub(super) fn judge_find(words: &[Word]) -> ProgramPaths {
    let program = grammar_of("find")?;
    let arguments = parse_arguments(program, words);
    let is_beyond_reading = |option: &&ParsedOption| !option.only_reads() && !option.is_named("-exec");
    if let Some(option) = arguments.options.iter().find(is_beyond_reading) {
        return Err(beyond_reading_reason("find", &option.word));
    }
    let mut arguments = require_certain("find", arguments)?;
    add_default_operand(&mut arguments);
    let mut touched = argument_paths(&arguments, &PathAccess::Names);
    if arguments.has_option(&["-exec"]) {
        for (_, access) in &mut touched {
            *access = PathAccess::Recursive { include_hidden: true, skipped_folders: Vec::new(), follow_links: true };
        }
    }
    Ok(touched)
}
