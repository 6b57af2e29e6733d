//! Programs that search for files and in files.

use super::path_access::{PathAccess, ProgramPaths, describe_unknown_word};
use super::stated_paths::{
    beyond_reading_reason, grammar_of, operand_paths, option_paths, parse_read_only, take_script,
};
use crate::policy::command_line::Word;
use crate::policy::grammar::{OptionValue, Role, ValueKind};

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

/// Judges `find` without actions that run, delete or write.
pub(super) fn judge_find(words: &[Word]) -> ProgramPaths {
    let program = grammar_of("find")?;
    let mut searched = Vec::new();
    let mut words = words.iter().skip_while(|word| matches!(word.known_text(), Some("-H" | "-P"))).peekable();
    while let Some(word) =
        words.next_if(|word| !word.known_text().is_some_and(|text| text.starts_with(['-', '(', ')', '!', ','])))
    {
        match word {
            Word::Unknown(_) => return Err(describe_unknown_word(word)),
            Word::Known(_) | Word::Home(_) | Word::Pattern(_) => searched.push((word.clone(), PathAccess::Names)),
        }
    }
    let mut runs_command = false;
    while let Some(word) = words.next() {
        let Some(text) = word.known_text() else { return Err(describe_unknown_word(word)) };
        if text == "-exec" {
            // The command that runs is judged separately, with the names found.
            runs_command = true;
            words.by_ref().find(|word| matches!(word.known_text(), Some(";" | "+")));
            continue;
        }
        let option = program.option(text).filter(|option| option.role == Role::Plain);
        match option.map(|option| option.value) {
            Some(OptionValue::None) => {}
            Some(OptionValue::Required(ValueKind::Word | ValueKind::Number | ValueKind::Pattern)) => {
                match words.next() {
                    Some(Word::Known(_)) => {}
                    Some(word) => return Err(describe_unknown_word(word)),
                    None => return Err(format!("missing value after {text} of find")),
                }
            }
            Some(OptionValue::Required(ValueKind::Names)) => {
                searched.extend(words.next().map(|word| (word.clone(), PathAccess::Names)));
            }
            Some(OptionValue::Required(_) | OptionValue::Optional(_) | OptionValue::OptionalNumber { .. }) | None => {
                return Err(beyond_reading_reason("find", text));
            }
        }
    }
    if searched.is_empty() {
        searched.push((current_folder(), PathAccess::Names));
    }
    if runs_command {
        for (_, access) in &mut searched {
            *access = PathAccess::Recursive { include_hidden: true, skipped_folders: Vec::new(), follow_links: true };
        }
    }
    match searched.iter().find(|(word, _)| matches!(word, Word::Unknown(_))) {
        Some((word, _)) => Err(describe_unknown_word(word)),
        None => Ok(searched),
    }
}
