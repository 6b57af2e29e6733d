//! Programs that search for files and in files.

use super::How;
use super::operands::{each, of_options, read, take_script};
use super::programs::{Touched, grammar_of};
use super::unknown;
use crate::policy::grammar::{Holds, Role, Value};
use crate::policy::shell::Word;

fn here() -> Word {
    Word::Known(".".to_owned())
}

/// Judges `grep`. With `-R` it follows links, so that asks.
pub(super) fn grep(name: &str, words: &[Word]) -> Touched {
    let program = grammar_of("grep")?;
    let mut given = read(name, program, words)?;
    take_script(name, program, &mut given)?;
    // grep accepts an abbreviation of the word.
    let may_recurse = |how: &str| !matches!(how, "skip" | "read");
    let recursive = given.has_role(Role::Recursive) || given.texts(&["--directories"]).any(may_recurse);
    // grep treats the name as a pattern: one with wildcards may mean another folder.
    let plain = |name: &&str| !name.contains(['*', '?', '[', '\\']);
    let without: Vec<String> = given
        .texts(&["--exclude-dir"])
        .filter(plain)
        .map(|name| name.trim_end_matches('/').to_owned())
        .collect();
    if recursive && given.operands.is_empty() {
        given.operands.push(here());
    }
    let how = if recursive { How::Below { hidden: true, without, links: false } } else { How::Contents };
    let mut touched = of_options(program, &given);
    touched.extend(each(&given.operands, &how));
    Ok(touched)
}

/// Judges `rg` without options that start another program or follow links.
pub(super) fn rg(words: &[Word]) -> Touched {
    let program = grammar_of("rg")?;
    let mut given = read("rg", program, words)?;
    let lists = given.has_role(Role::Lists);
    if !lists {
        take_script("rg", program, &mut given)?;
    }
    // A file that matches a glob or a type is read even if it is hidden.
    let globs: Vec<&str> =
        given.texts(&["--glob", "--iglob"]).filter(|glob| !glob.starts_with('!')).collect();
    let named = !globs.is_empty() || given.has(&["--type"]);
    let asked = given.has_role(Role::Hidden);
    // A type does not match folder names, so `.git` stays excluded.
    let ending = |glob: &&str| {
        let ending = glob.strip_prefix("*.").unwrap_or_default();
        !ending.is_empty() && ending != "git" && ending.bytes().all(|byte| byte.is_ascii_alphanumeric())
    };
    let without =
        if named && !asked && globs.iter().all(ending) { vec![".git".to_owned()] } else { Vec::new() };
    let hidden = named || asked;
    if given.operands.is_empty() {
        given.operands.push(here());
    }
    let how = if lists { How::Names } else { How::Below { hidden, without, links: false } };
    let mut touched = of_options(program, &given);
    touched.extend(each(&given.operands, &how));
    Ok(touched)
}

/// Judges `fd` without options that run something for each file.
pub(super) fn fd(words: &[Word]) -> Touched {
    let program = grammar_of("fd")?;
    let mut given = read("fd", program, words)?;
    if !given.operands.is_empty() {
        take_script("fd", program, &mut given)?;
    }
    if given.operands.is_empty() {
        given.operands.push(here());
    }
    let mut touched = of_options(program, &given);
    touched.extend(each(&given.operands, &How::Names));
    Ok(touched)
}

/// Judges `find` without actions that run, delete or write.
pub(super) fn find(words: &[Word]) -> Touched {
    let program = grammar_of("find")?;
    let mut places = Vec::new();
    let mut words = words.iter().skip_while(|word| matches!(word.known(), Some("-H" | "-P"))).peekable();
    while let Some(word) =
        words.next_if(|word| !word.known().is_some_and(|text| text.starts_with(['-', '(', ')', '!', ','])))
    {
        match word {
            Word::Unknown(_) => return Err(unknown(word)),
            Word::Known(_) | Word::Home(_) | Word::Pattern(_) => places.push((word.clone(), How::Names)),
        }
    }
    let mut runs = false;
    while let Some(word) = words.next() {
        let Some(text) = word.known() else { return Err(unknown(word)) };
        if text == "-exec" {
            // The command that runs is judged separately, with the names found.
            runs = true;
            words.by_ref().find(|word| matches!(word.known(), Some(";" | "+")));
            continue;
        }
        let option = program.option(text).filter(|option| option.role == Role::Plain);
        match option.map(|option| option.value) {
            Some(Value::None) => {}
            Some(Value::Required(Holds::Word | Holds::Number | Holds::Pattern)) => match words.next() {
                Some(Word::Known(_)) => {}
                Some(word) => return Err(unknown(word)),
                None => return Err(format!("missing value after {text} of find")),
            },
            Some(Value::Required(Holds::Names)) => {
                places.extend(words.next().map(|word| (word.clone(), How::Names)));
            }
            Some(Value::Required(_) | Value::Optional(_) | Value::OptionalNumber { .. }) | None => {
                let shown: String = text.chars().take(40).collect();
                return Err(format!("effects beyond reading: find {}", shown.escape_debug()));
            }
        }
    }
    if places.is_empty() {
        places.push((here(), How::Names));
    }
    if runs {
        for (_, how) in &mut places {
            *how = How::Below { hidden: true, without: Vec::new(), links: true };
        }
    }
    match places.iter().find(|(word, _)| matches!(word, Word::Unknown(_))) {
        Some((word, _)) => Err(unknown(word)),
        None => Ok(places),
    }
}
