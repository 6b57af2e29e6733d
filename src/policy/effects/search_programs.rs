//! Programs that search for files and in files.

use super::path_access::{PathAccess, ProgramPaths};
use super::stated_paths::{
    beyond_reading_reason, grammar_of, operand_paths, option_paths, parse_read_only, require_certain, take_script,
};
use crate::policy::command_line::Word;
use crate::policy::grammar::{ParsedOption, Role, parse_arguments};

fn current_folder() -> Word {
    Word::Known(".".to_owned())
}

/// Judges `grep`. `-R` needs approval because it follows links.
pub(super) fn judge_grep(name: &str, words: &[Word]) -> ProgramPaths {
    let program = grammar_of("grep")?;
    let mut arguments = parse_read_only(name, program, words)?;
    take_script(name, program, &mut arguments)?;
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
    if is_recursive && arguments.operands.is_empty() {
        arguments.operands.push(current_folder());
    }
    let access = if is_recursive {
        PathAccess::Recursive { include_hidden: true, skipped_folders, follow_links: false }
    } else {
        PathAccess::Contents
    };
    let mut touched = option_paths(program, &arguments);
    touched.extend(operand_paths(&arguments.operands, &access));
    Ok(touched)
}

/// Judges `rg` without options that start another program or follow links.
pub(super) fn judge_rg(words: &[Word]) -> ProgramPaths {
    let program = grammar_of("rg")?;
    let mut arguments = parse_read_only("rg", program, words)?;
    let lists_files = arguments.has_role(Role::Lists);
    if !lists_files {
        take_script("rg", program, &mut arguments)?;
    }
    // A file that matches a glob or a type is read even if it is hidden.
    let globs: Vec<&str> =
        arguments.option_texts(&["--glob", "--iglob"]).filter(|glob| !glob.starts_with('!')).collect();
    let has_filter = !globs.is_empty() || arguments.has_option(&["--type"]);
    let includes_hidden = arguments.has_role(Role::IncludesHidden);
    // A type does not match folder names, so `.git` stays excluded.
    let is_extension_glob = |glob: &&str| {
        let extension = glob.strip_prefix("*.").unwrap_or_default();
        !extension.is_empty() && extension != "git" && extension.bytes().all(|byte| byte.is_ascii_alphanumeric())
    };
    let skipped_folders = if has_filter && !includes_hidden && globs.iter().all(is_extension_glob) {
        vec![".git".to_owned()]
    } else {
        Vec::new()
    };
    let include_hidden = has_filter || includes_hidden;
    if arguments.operands.is_empty() {
        arguments.operands.push(current_folder());
    }
    let access = if lists_files {
        PathAccess::Names
    } else {
        PathAccess::Recursive { include_hidden, skipped_folders, follow_links: false }
    };
    let mut touched = option_paths(program, &arguments);
    touched.extend(operand_paths(&arguments.operands, &access));
    Ok(touched)
}

/// Judges `fd` without options that run something for each file.
pub(super) fn judge_fd(words: &[Word]) -> ProgramPaths {
    let program = grammar_of("fd")?;
    let mut arguments = parse_read_only("fd", program, words)?;
    if !arguments.operands.is_empty() {
        take_script("fd", program, &mut arguments)?;
    }
    if arguments.operands.is_empty() {
        arguments.operands.push(current_folder());
    }
    let mut touched = option_paths(program, &arguments);
    touched.extend(operand_paths(&arguments.operands, &PathAccess::Names));
    Ok(touched)
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
    if arguments.operands.is_empty() {
        arguments.operands.push(current_folder());
    }
    let mut touched = option_paths(program, &arguments);
    touched.extend(operand_paths(&arguments.operands, &PathAccess::Names));
    if arguments.has_option(&["-exec"]) {
        for (_, access) in &mut touched {
            *access = PathAccess::Recursive { include_hidden: true, skipped_folders: Vec::new(), follow_links: true };
        }
    }
    Ok(touched)
}
