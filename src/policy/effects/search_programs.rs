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

/// Judges `grep`. With `-R` it follows links, so that asks.
pub(super) fn judge_grep(name: &str, words: &[Word]) -> ProgramPaths {
    let program = grammar_of("grep")?;
    let mut given = parse_read_only(name, program, words)?;
    take_script(name, program, &mut given)?;
    // grep accepts an abbreviation of the word.
    let may_recurse = |how: &str| !matches!(how, "skip" | "read");
    let recursive = given.has_role(Role::Recursive) || given.option_texts(&["--directories"]).any(may_recurse);
    // grep treats the name as a pattern: one with wildcards may mean another folder.
    let plain = |name: &&str| !name.contains(['*', '?', '[', '\\']);
    let without: Vec<String> = given
        .option_texts(&["--exclude-dir"])
        .filter(plain)
        .map(|name| name.trim_end_matches('/').to_owned())
        .collect();
    if recursive && given.operands.is_empty() {
        given.operands.push(current_folder());
    }
    let how =
        if recursive { PathAccess::Recursive { hidden: true, without, links: false } } else { PathAccess::Contents };
    let mut touched = option_paths(program, &given);
    touched.extend(operand_paths(&given.operands, &how));
    Ok(touched)
}

/// Judges `rg` without options that start another program or follow links.
pub(super) fn judge_rg(words: &[Word]) -> ProgramPaths {
    let program = grammar_of("rg")?;
    let mut given = parse_read_only("rg", program, words)?;
    let lists = given.has_role(Role::Lists);
    if !lists {
        take_script("rg", program, &mut given)?;
    }
    // A file that matches a glob or a type is read even if it is hidden.
    let globs: Vec<&str> = given.option_texts(&["--glob", "--iglob"]).filter(|glob| !glob.starts_with('!')).collect();
    let named = !globs.is_empty() || given.has_option(&["--type"]);
    let asked = given.has_role(Role::IncludesHidden);
    // A type does not match folder names, so `.git` stays excluded.
    let ending = |glob: &&str| {
        let ending = glob.strip_prefix("*.").unwrap_or_default();
        !ending.is_empty() && ending != "git" && ending.bytes().all(|byte| byte.is_ascii_alphanumeric())
    };
    let without = if named && !asked && globs.iter().all(ending) { vec![".git".to_owned()] } else { Vec::new() };
    let hidden = named || asked;
    if given.operands.is_empty() {
        given.operands.push(current_folder());
    }
    let how = if lists { PathAccess::Names } else { PathAccess::Recursive { hidden, without, links: false } };
    let mut touched = option_paths(program, &given);
    touched.extend(operand_paths(&given.operands, &how));
    Ok(touched)
}

/// Judges `fd` without options that run something for each file.
pub(super) fn judge_fd(words: &[Word]) -> ProgramPaths {
    let program = grammar_of("fd")?;
    let mut given = parse_read_only("fd", program, words)?;
    if !given.operands.is_empty() {
        take_script("fd", program, &mut given)?;
    }
    if given.operands.is_empty() {
        given.operands.push(current_folder());
    }
    let mut touched = option_paths(program, &given);
    touched.extend(operand_paths(&given.operands, &PathAccess::Names));
    Ok(touched)
}

/// Judges `find` without actions that run, delete or write.
pub(super) fn judge_find(words: &[Word]) -> ProgramPaths {
    let program = grammar_of("find")?;
    let mut places = Vec::new();
    let mut words = words.iter().skip_while(|word| matches!(word.known_text(), Some("-H" | "-P"))).peekable();
    while let Some(word) =
        words.next_if(|word| !word.known_text().is_some_and(|text| text.starts_with(['-', '(', ')', '!', ','])))
    {
        match word {
            Word::Unknown(_) => return Err(describe_unknown_word(word)),
            Word::Known(_) | Word::Home(_) | Word::Pattern(_) => places.push((word.clone(), PathAccess::Names)),
        }
    }
    let mut runs = false;
    while let Some(word) = words.next() {
        let Some(text) = word.known_text() else { return Err(describe_unknown_word(word)) };
        if text == "-exec" {
            // The command that runs is judged separately, with the names found.
            runs = true;
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
                places.extend(words.next().map(|word| (word.clone(), PathAccess::Names)));
            }
            Some(OptionValue::Required(_) | OptionValue::Optional(_) | OptionValue::OptionalNumber { .. }) | None => {
                return Err(beyond_reading_reason("find", text));
            }
        }
    }
    if places.is_empty() {
        places.push((current_folder(), PathAccess::Names));
    }
    if runs {
        for (_, how) in &mut places {
            *how = PathAccess::Recursive { hidden: true, without: Vec::new(), links: true };
        }
    }
    match places.iter().find(|(word, _)| matches!(word, Word::Unknown(_))) {
        Some((word, _)) => Err(describe_unknown_word(word)),
        None => Ok(places),
    }
}
