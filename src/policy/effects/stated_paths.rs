//! Paths touched by a command line according to the grammar of its program: operands and option values that name files.

use super::path_access::{PathAccess, ProgramPaths, describe_unknown_word};
use super::version_queries::is_plain_variable;
use crate::policy::command_line::Word;
use crate::policy::grammar::{
    self, ArgumentProblem, OptionValue, ParsedArguments, ParsedOption, Program, Role, ValueKind,
};
use crate::text::truncation::escape_beginning;

/// Maximum characters shown of an option.
pub(super) const MAX_OPTION_CHARS: usize = 40;

/// Parses arguments by the grammar of a program. Fails with the reason if one of them may do more than read.
pub(super) fn parse_read_only(
    command_name: &str,
    program: &'static Program,
    words: &[Word],
) -> Result<ParsedArguments, String> {
    let arguments = parse_certain(command_name, program, words)?;
    // A pattern expands to any number of names, so it is not known which operand is written or run.
    let changes_or_runs = |kind: &ValueKind| {
        matches!(kind, ValueKind::Write | ValueKind::Delete | ValueKind::Folder | ValueKind::Program)
    };
    let operands = arguments.operand_kinds;
    if operands.first.iter().chain(&operands.last).any(changes_or_runs)
        && let Some(word) = arguments.operands.iter().find(|word| matches!(word, Word::Pattern(_)))
    {
        return Err(describe_unknown_word(word));
    }
    match arguments.options.iter().find(|option| !option.only_reads()) {
        Some(option) => Err(beyond_reading_reason(command_name, &option.word)),
        None => Ok(arguments),
    }
}

/// Parses arguments by the grammar of a program, including options that do more than read. Fails with the reason if the
/// meaning of an argument is not certain.
pub(super) fn parse_certain(
    command_name: &str,
    program: &'static Program,
    words: &[Word],
) -> Result<ParsedArguments, String> {
    require_certain(command_name, grammar::parse_arguments(program, words))
}

/// Returns the arguments if the meaning of all of them is certain.
pub(super) fn require_certain(command_name: &str, arguments: ParsedArguments) -> Result<ParsedArguments, String> {
    let Some(problem) = arguments.problems.first() else { return Ok(arguments) };
    let displayed = escape_beginning(problem.word(), MAX_OPTION_CHARS);
    Err(match problem {
        ArgumentProblem::Unknown(text) => beyond_reading_reason(command_name, text),
        ArgumentProblem::Abbreviated(_) => format!("abbreviated option {displayed} of {command_name}"),
        ArgumentProblem::Missing(_) => format!("missing value after {displayed} of {command_name}"),
        ArgumentProblem::Unexpanded(word) => describe_unknown_word(word),
    })
}

pub(super) fn beyond_reading_reason(command_name: &str, option: &str) -> String {
    format!("{command_name} {} does more than read", escape_beginning(option, MAX_OPTION_CHARS))
}

/// Returns the access to a value of this kind; `None` if it names no file or is judged elsewhere.
fn access_for_kind(kind: ValueKind) -> Option<PathAccess> {
    match kind {
        ValueKind::Names | ValueKind::Revision => Some(PathAccess::Names),
        ValueKind::Read | ValueKind::List | ValueKind::ScriptFile => Some(PathAccess::Contents),
        ValueKind::Recursive => {
            Some(PathAccess::Recursive { include_hidden: true, skipped_folders: Vec::new(), follow_links: true })
        }
        ValueKind::Delete => Some(PathAccess::Delete),
        ValueKind::Write => Some(PathAccess::Write),
        ValueKind::Word
        | ValueKind::Number
        | ValueKind::Pattern
        | ValueKind::Script
        | ValueKind::Folder
        | ValueKind::Program
        | ValueKind::Command
        | ValueKind::Range => None,
    }
}

/// Returns the paths touched by options, apart from operands.
pub(super) fn option_paths(arguments: &ParsedArguments) -> Vec<(Word, PathAccess)> {
    let value_path = |option: &ParsedOption| match option.option.value {
        OptionValue::None | OptionValue::OptionalNumber { .. } => None,
        OptionValue::Required(kind) | OptionValue::Optional(kind) => {
            Some((option.value.clone()?, access_for_kind(kind)?))
        }
    };
    let mut touched: Vec<(Word, PathAccess)> = arguments.options.iter().filter_map(value_path).collect();
    // Some implementations stop parsing options at the first operand and read the values of later options as files.
    if let Some(access) = arguments.operand_kinds.rest.and_then(access_for_kind) {
        touched.extend(arguments.late_values.iter().map(|word| (word.clone(), access.clone())));
    }
    // The shell passes a pattern such as `--include=*.rs` on unchanged only if it matches no file.
    touched.extend(arguments.unmatched_patterns.iter().map(|word| (word.clone(), PathAccess::MustNotMatch)));
    touched.retain(|(word, _)| word.known_text() != Some("-"));
    touched
}

/// Removes the pattern or the script from the operands and returns it; `None` if an option holds it. Fails with the
/// reason if there is none.
pub(super) fn take_script(command_name: &str, arguments: &mut ParsedArguments) -> Result<Option<String>, String> {
    let is_script = arguments.operand_kinds.first.first() == Some(&ValueKind::Script);
    let noun = if is_script { "script" } else { "pattern" };
    if arguments.has_role(Role::HoldsScript) {
        return Ok(None);
    }
    match arguments.operands.first().cloned() {
        Some(Word::Known(script)) => {
            arguments.operands.remove(0);
            arguments.operands_before_end = arguments.operands_before_end.map(|count| count.saturating_sub(1));
            Ok(Some(script))
        }
        Some(word) => Err(describe_unknown_word(&word)),
        None => Err(format!("missing {noun} of {command_name}")),
    }
}

/// Returns the paths touched by the options and, with one kind of access, by the operands.
pub(super) fn argument_paths(arguments: &ParsedArguments, access: &PathAccess) -> Vec<(Word, PathAccess)> {
    let mut touched = option_paths(arguments);
    touched.extend(operand_paths(&arguments.operands, access));
    touched
}

/// Returns the operands with one kind of access. `-` is omitted as standard input, except if only names are read.
fn operand_paths(operands: &[Word], access: &PathAccess) -> Vec<(Word, PathAccess)> {
    let file_operands = operands.iter().filter(|word| word.known_text() != Some("-") || *access == PathAccess::Names);
    file_operands.map(|word| (word.clone(), access.clone())).collect()
}

/// Returns the paths touched by a program that does only what its grammar states.
pub(super) fn stated_paths(command_name: &str, program: &'static Program, words: &[Word]) -> ProgramPaths {
    let arguments = parse_read_only(command_name, program, words)?;
    let mut touched = option_paths(&arguments);
    let operands = arguments.operand_kinds;
    if arguments.operands.is_empty()
        && let (Some(default), Some(access)) = (operands.default, operands.rest.and_then(access_for_kind))
    {
        touched.push((Word::Known(default.to_owned()), access));
    }
    for (index, word) in arguments.operands.iter().enumerate() {
        let word = std::slice::from_ref(word);
        match operands.first.get(index).copied().or(operands.rest) {
            Some(ValueKind::Write) => return Err(format!("{command_name} writes its second file")),
            Some(kind) => match access_for_kind(kind) {
                Some(access) => touched.extend(operand_paths(word, &access)),
                None => touched.extend(judge_plain_words(word)?),
            },
            None => return Err(format!("{command_name} with arguments does more than read")),
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

/// Returns the grammar of a program, or, if it has none, the reason for asking.
pub(super) fn grammar_of(name: &str) -> Result<&'static Program, String> {
    grammar::program_named(name).ok_or_else(|| format!("unknown options of {name}"))
}
