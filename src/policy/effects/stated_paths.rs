//! Paths touched by a command line according to the grammar of its program: operands and option values that name files.

use super::path_access::{PathAccess, ProgramPaths, describe_unknown_word};
use super::version_queries::is_plain_variable;
use crate::policy::command_line::Word;
use crate::policy::grammar::{
    self, ArgumentProblem, OptionValue, ParsedArguments, ParsedOption, Program, Role, ValueKind,
};
use crate::text::truncation::escape_beginning;

/// Characters shown of an option.
pub(super) const MAX_OPTION_CHARS: usize = 40;

/// Parses arguments by the grammar of a program. Fails with the reason if one of them may do more than read.
pub(super) fn parse_read_only(
    called: &str,
    program: &'static Program,
    words: &[Word],
) -> Result<ParsedArguments, String> {
    let given = parse_certain(called, program, words)?;
    // A pattern expands to any number of names, so it is not known which operand is written.
    let is_harmful = |kind: &ValueKind| {
        matches!(kind, ValueKind::Write | ValueKind::Delete | ValueKind::Folder | ValueKind::Program)
    };
    let operands = &program.operands;
    if operands.first.iter().chain(&operands.last).any(is_harmful)
        && let Some(word) = given.operands.iter().find(|word| matches!(word, Word::Pattern(_)))
    {
        return Err(describe_unknown_word(word));
    }
    match given.options.iter().find(|given| !given.only_reads()) {
        Some(option) => Err(beyond_reading_reason(called, &option.word)),
        None => Ok(given),
    }
}

/// Parses arguments like [`parse_read_only`] whatever the options do. Fails only if the meaning of an argument is not certain.
pub(super) fn parse_certain(
    called: &str,
    program: &'static Program,
    words: &[Word],
) -> Result<ParsedArguments, String> {
    let given = grammar::parse_arguments(program, words);
    match given.problems.first() {
        Some(ArgumentProblem::Unknown(text)) => Err(beyond_reading_reason(called, text)),
        Some(ArgumentProblem::Abbreviated(text)) => {
            Err(format!("abbreviated option {} of {called}", escape_beginning(text, MAX_OPTION_CHARS)))
        }
        Some(ArgumentProblem::Missing(text)) => {
            Err(format!("missing value after {} of {called}", escape_beginning(text, MAX_OPTION_CHARS)))
        }
        Some(ArgumentProblem::Unexpanded(word)) => Err(describe_unknown_word(word)),
        None => Ok(given),
    }
}

pub(super) fn beyond_reading_reason(called: &str, option: &str) -> String {
    format!("effects beyond reading: {called} {}", escape_beginning(option, MAX_OPTION_CHARS))
}

/// Returns the access to a value of this kind; `None` if it names no file.
fn access_for_kind(holds: ValueKind) -> Option<PathAccess> {
    match holds {
        ValueKind::Names | ValueKind::Revision => Some(PathAccess::Names),
        ValueKind::Read | ValueKind::List => Some(PathAccess::Contents),
        ValueKind::Recursive => Some(PathAccess::Recursive { hidden: true, without: Vec::new(), links: true }),
        ValueKind::Delete => Some(PathAccess::Delete),
        ValueKind::Write => Some(PathAccess::Write),
        ValueKind::Word
        | ValueKind::Number
        | ValueKind::Pattern
        | ValueKind::Script
        | ValueKind::Folder
        | ValueKind::Program
        | ValueKind::Range => None,
    }
}

/// Returns the paths touched by options, apart from operands.
pub(super) fn option_paths(program: &Program, given: &ParsedArguments) -> Vec<(Word, PathAccess)> {
    let of_value = |option: &ParsedOption| match option.option.value {
        OptionValue::None | OptionValue::OptionalNumber { .. } => None,
        OptionValue::Required(holds) | OptionValue::Optional(holds) => {
            Some((option.value.clone()?, access_for_kind(holds)?))
        }
    };
    let mut touched: Vec<(Word, PathAccess)> = given.options.iter().filter_map(of_value).collect();
    // For implementations that end the options with the first operand these are operands too.
    if let Some(how) = program.operands.rest.and_then(access_for_kind) {
        touched.extend(given.late_values.iter().map(|word| (word.clone(), how.clone())));
    }
    touched.extend(given.unmatched_patterns.iter().map(|word| (word.clone(), PathAccess::MustNotMatch)));
    touched.retain(|(word, _)| word.known_text() != Some("-"));
    touched
}

/// Takes the pattern or the script from the operands, unless an option holds it. Fails if there is none.
pub(super) fn take_script(
    called: &str,
    program: &Program,
    given: &mut ParsedArguments,
) -> Result<Option<String>, String> {
    let is_script = program.operands.first.first() == Some(&ValueKind::Script);
    let what = if is_script { "script" } else { "pattern" };
    if given.has_role(Role::HoldsScript) {
        return Ok(None);
    }
    match given.operands.first() {
        Some(Word::Known(script)) => {
            let script = script.clone();
            given.operands.remove(0);
            given.operands_before_end = given.operands_before_end.map(|before| before.saturating_sub(1));
            Ok(Some(script))
        }
        Some(word) => Err(describe_unknown_word(word)),
        None => Err(format!("missing {what} of {called}")),
    }
}

/// Returns the operands with one kind of access.
pub(super) fn operand_paths(operands: &[Word], how: &PathAccess) -> Vec<(Word, PathAccess)> {
    let named = operands.iter().filter(|word| word.known_text() != Some("-") || *how == PathAccess::Names);
    named.map(|word| (word.clone(), how.clone())).collect()
}

/// Returns the paths touched by a program that does only what its grammar states.
pub(super) fn stated_paths(called: &str, program: &'static Program, words: &[Word]) -> ProgramPaths {
    let given = parse_read_only(called, program, words)?;
    let mut touched = option_paths(program, &given);
    let operands = &program.operands;
    if given.operands.is_empty()
        && let (Some(default), Some(how)) = (operands.default, operands.rest.and_then(access_for_kind))
    {
        touched.push((Word::Known(default.to_owned()), how));
    }
    for (at, word) in given.operands.iter().enumerate() {
        let word = std::slice::from_ref(word);
        match operands.first.get(at).copied().or(operands.rest) {
            Some(ValueKind::Write) => return Err(format!("second file written by {called}")),
            Some(holds) => match access_for_kind(holds) {
                Some(how) => touched.extend(operand_paths(word, &how)),
                None => touched.extend(judge_plain_words(word)?),
            },
            None => return Err(format!("effects beyond reading: {called} with arguments")),
        }
    }
    Ok(touched)
}

/// Handles words that name no files. A pattern among them is expanded to names.
pub(super) fn judge_plain_words(words: &[Word]) -> ProgramPaths {
    let mut names = Vec::new();
    for word in words {
        match word {
            Word::Known(_) | Word::Home(_) => {}
            // Files are not opened: only names are shown.
            Word::Pattern(pattern) => {
                let folder = pattern.rsplit_once('/').map_or(".", |(folder, _)| folder);
                let word = if folder.contains(['*', '?', '[']) { word.clone() } else { Word::Known(folder.to_owned()) };
                names.push((word, PathAccess::Names));
            }
            Word::Unknown(text) if is_plain_variable(text) => {}
            Word::Unknown(_) => return Err(describe_unknown_word(word)),
        }
    }
    Ok(names)
}

/// Returns the grammar of a program; a program without one asks.
pub(super) fn grammar_of(name: &str) -> Result<&'static Program, String> {
    grammar::program_named(name).ok_or_else(|| format!("unknown options of {name}"))
}
