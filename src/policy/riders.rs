//! What may not ride along behind the words of a rule: a word that makes the program run another one or what stands in it,
//! obey another file, or work elsewhere.

use super::grammar::{self, Holds, Opt, Program, Role, any_runner, options_in};
use super::shell::Word;

/// To these a word with `=` in it says what they run, and any word may come before a shell.
const OBEY_ASSIGNMENTS: &[&str] = &["make", "gmake", "just", "rake", "task"];

/// What a shell would not take for a letter of a plain word.
const SIGNS: &[char] =
    &['=', ';', '|', '&', '<', '>', '$', '`', '(', ')', '\\', '"', '\'', '#', '!', '{', '}'];

/// What follows the words of a rule in a command line, and makes the program run others, write a file or work elsewhere; or is
/// no option of a program whose options are all known.
pub(super) fn widening<'a>(command: &'a [Word], rule: &[String]) -> Option<&'a str> {
    let (program, words) = command.split_first()?;
    let name = program.shown();
    let grammar = grammar_of(name, words);
    let more = command.get(rule.len()..).unwrap_or_default();
    if let Some((grammar, skipped)) = grammar.filter(|(grammar, _)| grammar.is_complete) {
        return does_more(grammar, words.get(skipped..).unwrap_or_default());
    }
    let grammar = grammar.map(|(grammar, _)| grammar);
    let runs = |word: &str| holds_code(name, word) || word.starts_with('-') && is_such_option(grammar, word);
    more.iter().find(|word| word.known().is_none_or(runs)).map(Word::shown)
}

/// The grammar by which the words behind a program are read, and how many of them stand before those.
fn grammar_of(program: &str, words: &[Word]) -> Option<(&'static Program, usize)> {
    let grammar = grammar::program_named(program)?;
    if grammar.subcommands.is_empty() {
        return Some((grammar, 0));
    }
    // Of a subcommand that is not known only what runs others is looked for, as of those that commit.
    let named = words.first().and_then(Word::known);
    let of = named.and_then(|name| grammar.subcommand(name)).or_else(|| grammar.subcommand("commit"))?;
    Some((of, 1))
}

/// A word by which a program does more than its grammar allows a rule to cover.
fn does_more<'a>(grammar: &'static Program, words: &'a [Word]) -> Option<&'a str> {
    let given = grammar::read(grammar, words);
    let wider = [Holds::Program, Holds::Place, Holds::List, Holds::Write];
    let odd =
        given.options.iter().find(|given| given.option.role == Role::Asks || given.option.value.is(&wider));
    let written = grammar.operands.first.iter().position(|holds| *holds == Holds::Write);
    let written = written.and_then(|at| given.operands.get(at)).map(Word::shown);
    let odd = odd.map(|given| given.word.as_str()).or(written);
    let is_odd = |word: &&Word| odd == Some(word.shown());
    if !given.problems.is_empty() {
        return words.iter().find(|word| word.shown().starts_with('-')).or(words.first()).map(Word::shown);
    }
    words.iter().find(is_odd).map(Word::shown)
}

fn holds_code(program: &str, word: &str) -> bool {
    if OBEY_ASSIGNMENTS.contains(&program) {
        // They take the blanks around a name away, and hand on what is left to a shell.
        return word.contains(char::is_whitespace) || word.contains(char::is_control) || word.contains(SIGNS);
    }
    let name = word.split_once('=').map(|(name, _)| name.trim());
    let assigns = name.is_some_and(|name| {
        name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-.:+?!".contains(&byte))
    });
    word.contains("$(")
        || word.contains('`')
        || ((assigns || word.starts_with('-')) && word.contains([' ', '\t', '\n', ';', '|', '&', '<', '>']))
        // A host, which it reaches by a program of its own.
        || (program == "tar" && word.contains(':'))
}

fn is_such_option(own: Option<&'static Program>, word: &str) -> bool {
    let runs = |option: &Opt| {
        option.role == Role::Asks || option.value.is(&[Holds::Program, Holds::Place, Holds::List])
    };
    // A number behind it is one of lines or columns.
    let elsewhere = word
        .strip_prefix("-C")
        .is_some_and(|rest| rest.is_empty() || !rest.bytes().all(|byte| byte.is_ascii_digit()));
    elsewhere
        || !options_in(any_runner(), word).is_empty()
        || own.is_some_and(|own| options_in(own, word).iter().any(|(option, _)| runs(option)))
}
