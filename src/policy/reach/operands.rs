//! What a command line touches by the grammar of its program: operands and values of options that name files.

use super::programs::{Touched, plain};
use super::{How, unknown};
use crate::policy::grammar::{self, Given, GivenOption, Holds, Problem, Program, Role, Value};
use crate::policy::shell::Word;

/// Reads words by the grammar of a program. Fails with the reason if one of them may do more than read.
pub(super) fn read(called: &str, program: &'static Program, words: &[Word]) -> Result<Given, String> {
    let given = read_known(called, program, words)?;
    // A pattern stands for any number of names, so which operand is the one that is written is not known.
    let is_harmful =
        |kind: &Holds| matches!(kind, Holds::Write | Holds::Delete | Holds::Place | Holds::Program);
    let operands = &program.operands;
    if operands.first.iter().chain(&operands.last).any(is_harmful)
        && let Some(word) = given.operands.iter().find(|word| matches!(word, Word::Pattern(_)))
    {
        return Err(unknown(word));
    }
    match given.options.iter().find(|given| !given.only_reads()) {
        Some(option) => Err(may_do_more(called, &option.word)),
        None => Ok(given),
    }
}

/// The same, whatever the options do: fails only if it is not certain what the words mean.
pub(super) fn read_known(called: &str, program: &'static Program, words: &[Word]) -> Result<Given, String> {
    let given = grammar::read(program, words);
    match given.problems.first() {
        Some(Problem::Unknown(text)) => Err(may_do_more(called, text)),
        Some(Problem::Abbreviated(text)) => {
            Err(format!("{called} with {}, which is not spelled whole, may do more than read", shorten(text)))
        }
        Some(Problem::Missing(text)) => Err(format!("{called} lacks a value after {}", shorten(text))),
        Some(Problem::Unexpanded(word)) => Err(unknown(word)),
        None => Ok(given),
    }
}

fn may_do_more(called: &str, option: &str) -> String {
    format!("{called} with {} may do more than read", shorten(option))
}

fn shorten(text: &str) -> String {
    text.chars().take(40).collect::<String>().escape_debug().to_string()
}

/// What is done with something of this kind; `None` if it names no file.
fn how(holds: Holds) -> Option<How> {
    match holds {
        Holds::Names | Holds::Revision => Some(How::Names),
        Holds::Read | Holds::List => Some(How::Contents),
        Holds::Below => Some(How::Below { hidden: true, without: Vec::new(), links: true }),
        Holds::Delete => Some(How::Delete),
        Holds::Write => Some(How::Write),
        Holds::Word
        | Holds::Number
        | Holds::Pattern
        | Holds::Script
        | Holds::Place
        | Holds::Program
        | Holds::Range => None,
    }
}

/// What its options touch, apart from its operands.
pub(super) fn of_options(program: &Program, given: &Given) -> Vec<(Word, How)> {
    let of_value = |option: &GivenOption| match option.option.value {
        Value::None | Value::OptionalNumber { .. } => None,
        Value::Required(holds) | Value::Optional(holds) => Some((option.value.clone()?, how(holds)?)),
    };
    let mut touched: Vec<(Word, How)> = given.options.iter().filter_map(of_value).collect();
    // To an implementation that ends the options with the first operand these are operands too.
    if let Some(how) = program.operands.rest.and_then(how) {
        touched.extend(given.late.iter().map(|word| (word.clone(), how.clone())));
    }
    touched.extend(given.unmatched.iter().map(|word| (word.clone(), How::Unmatched)));
    touched.retain(|(word, _)| word.known() != Some("-"));
    touched
}

/// Takes the pattern or the script from the operands, unless an option holds it. Fails if none is given.
pub(super) fn take_script(
    called: &str,
    program: &Program,
    given: &mut Given,
) -> Result<Option<String>, String> {
    let is_script = program.operands.first.first() == Some(&Holds::Script);
    let what = if is_script { "script" } else { "pattern" };
    if given.has_role(Role::Replaces) {
        return Ok(None);
    }
    match given.operands.first() {
        Some(Word::Known(script)) => {
            let script = script.clone();
            given.operands.remove(0);
            given.before_end = given.before_end.map(|before| before.saturating_sub(1));
            Ok(Some(script))
        }
        Some(word) => Err(unknown(word)),
        None => Err(format!("{called} is given no {what}")),
    }
}

/// What the operands touch, each of them in one way.
pub(super) fn each(operands: &[Word], how: &How) -> Vec<(Word, How)> {
    let named = operands.iter().filter(|word| word.known() != Some("-") || *how == How::Names);
    named.map(|word| (word.clone(), how.clone())).collect()
}

/// What a program touches that does nothing but what its grammar says.
pub(super) fn touched(called: &str, program: &'static Program, words: &[Word]) -> Touched {
    let given = read(called, program, words)?;
    let mut touched = of_options(program, &given);
    let operands = &program.operands;
    if given.operands.is_empty()
        && let (Some(default), Some(how)) = (operands.default, operands.rest.and_then(how))
    {
        touched.push((Word::Known(default.to_owned()), how));
    }
    for (at, word) in given.operands.iter().enumerate() {
        let word = std::slice::from_ref(word);
        match operands.first.get(at).copied().or(operands.rest) {
            Some(Holds::Write) => return Err(format!("{called} writes to a second file")),
            Some(holds) => match how(holds) {
                Some(how) => touched.extend(each(word, &how)),
                None => touched.extend(plain(word)?),
            },
            None => return Err(format!("{called} with words behind it may do more than read")),
        }
    }
    Ok(touched)
}
