//! Paths touched by a command line according to the grammar of its program: operands and option values that name files.

use super::programs::{Touched, plain};
use super::{How, unknown};
use crate::policy::grammar::{self, Given, GivenOption, Holds, Problem, Program, Role, Value};
use crate::policy::shell::Word;

/// Parses arguments by the grammar of a program. Fails with the reason if one of them may do more than read.
pub(super) fn read(called: &str, program: &'static Program, words: &[Word]) -> Result<Given, String> {
    let given = read_known(called, program, words)?;
    // A pattern expands to any number of names, so it is not known which operand is written.
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

/// Parses arguments like [`read`] whatever the options do. Fails only if the meaning of an argument is not certain.
pub(super) fn read_known(called: &str, program: &'static Program, words: &[Word]) -> Result<Given, String> {
    let given = grammar::read(program, words);
    match given.problems.first() {
        Some(Problem::Unknown(text)) => Err(may_do_more(called, text)),
        Some(Problem::Abbreviated(text)) => Err(format!("abbreviated option {} of {called}", shorten(text))),
        Some(Problem::Missing(text)) => Err(format!("missing value after {} of {called}", shorten(text))),
        Some(Problem::Unexpanded(word)) => Err(unknown(word)),
        None => Ok(given),
    }
}

fn may_do_more(called: &str, option: &str) -> String {
    format!("effects beyond reading: {called} {}", shorten(option))
}

fn shorten(text: &str) -> String {
    text.chars().take(40).collect::<String>().escape_debug().to_string()
}

/// Returns the access to a value of this kind; `None` if it names no file.
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

/// Returns the paths touched by options, apart from operands.
pub(super) fn of_options(program: &Program, given: &Given) -> Vec<(Word, How)> {
    let of_value = |option: &GivenOption| match option.option.value {
        Value::None | Value::OptionalNumber { .. } => None,
        Value::Required(holds) | Value::Optional(holds) => Some((option.value.clone()?, how(holds)?)),
    };
    let mut touched: Vec<(Word, How)> = given.options.iter().filter_map(of_value).collect();
    // For implementations that end the options with the first operand these are operands too.
    if let Some(how) = program.operands.rest.and_then(how) {
        touched.extend(given.late.iter().map(|word| (word.clone(), how.clone())));
    }
    touched.extend(given.unmatched.iter().map(|word| (word.clone(), How::Unmatched)));
    touched.retain(|(word, _)| word.known() != Some("-"));
    touched
}

/// Takes the pattern or the script from the operands, unless an option holds it. Fails if there is none.
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
        None => Err(format!("missing {what} of {called}")),
    }
}

/// Returns the operands with one kind of access.
pub(super) fn each(operands: &[Word], how: &How) -> Vec<(Word, How)> {
    let named = operands.iter().filter(|word| word.known() != Some("-") || *how == How::Names);
    named.map(|word| (word.clone(), how.clone())).collect()
}

/// Returns the paths touched by a program that does only what its grammar states.
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
            Some(Holds::Write) => return Err(format!("second file written by {called}")),
            Some(holds) => match how(holds) {
                Some(how) => touched.extend(each(word, &how)),
                None => touched.extend(plain(word)?),
            },
            None => return Err(format!("effects beyond reading: {called} with arguments")),
        }
    }
    Ok(touched)
}
