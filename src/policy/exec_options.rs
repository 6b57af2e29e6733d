//! Arguments after the words of a prefix rule that would widen it: they make the program run another one, run code,
//! read another settings file or work elsewhere.

use super::command_line::Word;
use super::grammar::{self, ANY_RUNNER, OptionSpec, ParsedOption, Program, Role, ValueKind, possible_options};

/// Programs for which a word with `=` sets what they run, and any word may reach a shell.
const ASSIGNMENT_PROGRAMS: &[&str] = &["make", "gmake", "just", "rake", "task"];

/// Characters with a meaning to a shell, and `=`, which assigns a variable.
const SHELL_CHARACTERS: &[char] =
    &['=', ';', '|', '&', '<', '>', '$', '`', '(', ')', '\\', '"', '\'', '#', '!', '{', '}'];

/// Kinds of values with which a program runs others or works elsewhere.
const RUNNING_KINDS: [ValueKind; 5] =
    [ValueKind::Program, ValueKind::ScriptFile, ValueKind::Command, ValueKind::Folder, ValueKind::List];

/// Returns the first word after those of a rule that makes the program run others, write a file or work elsewhere. For
/// a program whose options are all known, an unknown option counts too, and the words of the rule are also checked.
pub(super) fn find_widening_argument<'a>(command: &'a [Word], rule: &[String]) -> Option<&'a str> {
    let (program, words) = command.split_first()?;
    let name = program.display_text();
    let grammar = arguments_grammar(name, words);
    let added_words = command.get(rule.len()..).unwrap_or_default();
    if let Some((grammar, skipped)) = grammar.filter(|(grammar, _)| grammar.is_complete) {
        return find_wider_option(grammar, words.get(skipped..).unwrap_or_default());
    }
    let grammar = grammar.map(|(grammar, _)| grammar);
    let is_widening =
        |word: &str| contains_code(name, word) || word.starts_with('-') && is_widening_option(grammar, word);
    added_words.iter().find(|word| word.known_text().is_none_or(is_widening)).map(Word::display_text)
}

/// Returns the grammar for the arguments of a program, and the number of arguments before those it describes.
fn arguments_grammar(program: &str, words: &[Word]) -> Option<(&'static Program, usize)> {
    let grammar = grammar::program_named(program)?;
    if grammar.subcommands.is_empty() {
        return Some((grammar, 0));
    }
    // An unknown subcommand of git gets the incomplete grammar of `commit`: only options known to widen a rule count.
    let subcommand_name = words.first().and_then(Word::known_text);
    let subcommand =
        subcommand_name.and_then(|name| grammar.subcommand(name)).or_else(|| grammar.subcommand("commit"))?;
    Some((subcommand, 1))
}

/// Returns a word that, by the grammar of the program, makes it do more than a rule may cover.
fn find_wider_option<'a>(grammar: &'static Program, words: &'a [Word]) -> Option<&'a str> {
    let arguments = grammar::parse_arguments(grammar, words);
    let wider_kinds = [&RUNNING_KINDS[..], &[ValueKind::Write]].concat();
    if !arguments.problems.is_empty() {
        // Some argument has an uncertain meaning. The first option, or else the first word, is returned for it.
        let option = words.iter().find(|word| word.display_text().starts_with('-'));
        return option.or(words.first()).map(Word::display_text);
    }
    let is_wider =
        |option: &&ParsedOption| option.option.role == Role::NeedsApproval || option.option.value.is_kind(&wider_kinds);
    let wider_option = arguments.options.iter().find(is_wider).map(|option| option.word.as_str());
    let write_index = grammar.operands.first.iter().position(|kind| *kind == ValueKind::Write);
    let written_file = write_index.and_then(|index| arguments.operands.get(index)).map(Word::display_text);
    let found = wider_option.or(written_file)?;
    words.iter().map(Word::display_text).find(|text| *text == found)
}

/// Returns whether a word may hold something that the program or a shell runs.
fn contains_code(program: &str, word: &str) -> bool {
    if ASSIGNMENT_PROGRAMS.contains(&program) {
        // These programs strip blanks around the name before `=` and pass the rest to a shell.
        return word.contains(char::is_whitespace)
            || word.contains(char::is_control)
            || word.contains(SHELL_CHARACTERS);
    }
    let name = word.split_once('=').map(|(name, _)| name.trim());
    let is_assignment =
        name.is_some_and(|name| name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-.:+?!".contains(&byte)));
    word.contains("$(")
        || word.contains('`')
        || ((is_assignment || word.starts_with('-')) && word.contains([' ', '\t', '\n', ';', '|', '&', '<', '>']))
        // A remote host, which tar reaches through another program.
        || (program == "tar" && word.contains(':'))
}

fn is_widening_option(grammar: Option<&'static Program>, word: &str) -> bool {
    let is_wider = |option: &OptionSpec| option.role == Role::NeedsApproval || option.value.is_kind(&RUNNING_KINDS);
    // `-C` with a number is a count of lines or columns.
    let sets_folder =
        word.strip_prefix("-C").is_some_and(|rest| rest.is_empty() || !rest.bytes().all(|byte| byte.is_ascii_digit()));
    sets_folder
        || !possible_options(&ANY_RUNNER, word).is_empty()
        || grammar.is_some_and(|grammar| possible_options(grammar, word).iter().any(|(option, _)| is_wider(option)))
}
