//! Arguments after the words of a prefix rule that would widen it: they make the program run another one, run code,
//! read another settings file or work elsewhere.

use super::command_line::Word;
use super::grammar::{self, OptionSpec, Program, Role, ValueKind, any_runner, possible_options};

/// Programs for which a word with `=` sets what they run, and any word may reach a shell.
const OBEY_ASSIGNMENTS: &[&str] = &["make", "gmake", "just", "rake", "task"];

/// Characters with a meaning to a shell.
const SHELL_CHARACTERS: &[char] =
    &['=', ';', '|', '&', '<', '>', '$', '`', '(', ')', '\\', '"', '\'', '#', '!', '{', '}'];

/// Returns the first word after those of a rule that makes the program run others, write a file or work elsewhere, or
/// that is an unknown option of a program whose options are all known.
pub(super) fn find_widening_argument<'a>(command: &'a [Word], rule: &[String]) -> Option<&'a str> {
    let (program, words) = command.split_first()?;
    let name = program.display_text();
    let grammar = arguments_grammar(name, words);
    let more = command.get(rule.len()..).unwrap_or_default();
    if let Some((grammar, skipped)) = grammar.filter(|(grammar, _)| grammar.is_complete) {
        return find_wider_option(grammar, words.get(skipped..).unwrap_or_default());
    }
    let grammar = grammar.map(|(grammar, _)| grammar);
    let runs = |word: &str| contains_code(name, word) || word.starts_with('-') && is_widening_option(grammar, word);
    more.iter().find(|word| word.known_text().is_none_or(runs)).map(Word::display_text)
}

/// Returns the grammar for the arguments of a program, and the number of arguments before those it describes.
fn arguments_grammar(program: &str, words: &[Word]) -> Option<(&'static Program, usize)> {
    let grammar = grammar::program_named(program)?;
    if grammar.subcommands.is_empty() {
        return Some((grammar, 0));
    }
    // An unknown subcommand is checked only for options that run something, as for `commit`.
    let named = words.first().and_then(Word::known_text);
    let of = named.and_then(|name| grammar.subcommand(name)).or_else(|| grammar.subcommand("commit"))?;
    Some((of, 1))
}

/// Returns a word that makes a program do more than a rule may cover by its grammar.
fn find_wider_option<'a>(grammar: &'static Program, words: &'a [Word]) -> Option<&'a str> {
    let given = grammar::parse_arguments(grammar, words);
    let wider = [ValueKind::Program, ValueKind::Folder, ValueKind::List, ValueKind::Write];
    let odd = given
        .options
        .iter()
        .find(|given| given.option.role == Role::NeedsApproval || given.option.value.is_kind(&wider));
    let written = grammar.operands.first.iter().position(|holds| *holds == ValueKind::Write);
    let written = written.and_then(|at| given.operands.get(at)).map(Word::display_text);
    let odd = odd.map(|given| given.word.as_str()).or(written);
    let is_odd = |word: &&Word| odd == Some(word.display_text());
    if !given.problems.is_empty() {
        return words
            .iter()
            .find(|word| word.display_text().starts_with('-'))
            .or(words.first())
            .map(Word::display_text);
    }
    words.iter().find(is_odd).map(Word::display_text)
}

fn contains_code(program: &str, word: &str) -> bool {
    if OBEY_ASSIGNMENTS.contains(&program) {
        // They strip blanks around the name and pass the rest to a shell.
        return word.contains(char::is_whitespace)
            || word.contains(char::is_control)
            || word.contains(SHELL_CHARACTERS);
    }
    let name = word.split_once('=').map(|(name, _)| name.trim());
    let assigns =
        name.is_some_and(|name| name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-.:+?!".contains(&byte)));
    word.contains("$(")
        || word.contains('`')
        || ((assigns || word.starts_with('-')) && word.contains([' ', '\t', '\n', ';', '|', '&', '<', '>']))
        // A remote host, which tar reaches through another program.
        || (program == "tar" && word.contains(':'))
}

fn is_widening_option(own: Option<&'static Program>, word: &str) -> bool {
    let runs = |option: &OptionSpec| {
        option.role == Role::NeedsApproval
            || option.value.is_kind(&[ValueKind::Program, ValueKind::Folder, ValueKind::List])
    };
    // `-C` with a number is a count of lines or columns.
    let elsewhere =
        word.strip_prefix("-C").is_some_and(|rest| rest.is_empty() || !rest.bytes().all(|byte| byte.is_ascii_digit()));
    elsewhere
        || !possible_options(any_runner(), word).is_empty()
        || own.is_some_and(|own| possible_options(own, word).iter().any(|(option, _)| runs(option)))
}
