//! Arguments parsed by the grammar of a program: options, operands, and everything that is not certain.

use super::program::{Operands, OptionSpec, OptionValue, Role, ValueKind};
use crate::policy::command_line::Word;

/// Parsed arguments of a program.
#[derive(Debug, Default)]
pub struct ParsedArguments {
    /// Options in order.
    pub options: Vec<ParsedOption>,
    /// Words that are neither options nor values of options, without the first `--`.
    pub operands: Vec<Word>,
    /// Number of operands before `--`; `None` without `--`.
    pub operands_before_end: Option<usize>,
    /// Words like `--include=*.rs`, which the shell replaces if files of such names exist.
    pub unmatched_patterns: Vec<Word>,
    /// Values of options after an operand, if the value is a word of its own: `5` in `grep x f -m 5`. Implementations
    /// that read no options after the first operand read this value as a file. Names of excluded folders are not
    /// included. Empty for programs with a single implementation.
    pub late_values: Vec<Word>,
    /// Kinds of the operands, from the grammar.
    pub operand_kinds: Operands,
    /// Everything that is not certain.
    pub problems: Vec<ArgumentProblem>,
}

/// An option that is given.
#[derive(Debug)]
pub struct ParsedOption {
    pub option: OptionSpec,
    /// Word that contains it.
    pub word: String,
    /// Value, if any.
    pub value: Option<Word>,
    /// Words of a [`ValueKind::Command`].
    pub command: Vec<Word>,
}

/// Reason why the meaning of a word is not certain.
#[derive(Debug, PartialEq, Eq)]
pub enum ArgumentProblem {
    /// The grammar has no such option, or not in this spelling.
    Unknown(String),
    /// A long option is abbreviated.
    Abbreviated(String),
    /// The value of this option is missing.
    Missing(String),
    /// The shell's expansion of this word is unknown before it runs.
    Unexpanded(Word),
}

impl ArgumentProblem {
    /// Returns the word that is not certain.
    pub fn word(&self) -> &str {
        match self {
            Self::Unknown(text) | Self::Abbreviated(text) | Self::Missing(text) => text,
            Self::Unexpanded(word) => word.display_text(),
        }
    }
}

impl ParsedArguments {
    /// Returns whether an option with one of these names is given, in any spelling.
    pub fn has_option(&self, names: &[&str]) -> bool {
        self.option_values(names).next().is_some()
    }

    /// Returns the values of the options with one of these names.
    pub fn option_values<'a>(&'a self, names: &'a [&str]) -> impl Iterator<Item = Option<&'a Word>> {
        let is_named = |option: &&ParsedOption| option.option.all_names().any(|name| names.contains(&name));
        self.options.iter().filter(is_named).map(|option| option.value.as_ref())
    }

    /// Returns the texts of the values of the options with one of these names.
    pub fn option_texts<'a>(&'a self, names: &'a [&str]) -> impl Iterator<Item = &'a str> {
        self.option_values(names).flatten().map(Word::display_text)
    }

    /// Returns the problems that leave open which words are options and which are operands.
    pub fn option_problems(&self) -> impl Iterator<Item = &ArgumentProblem> {
        let is_operand = |problem: &ArgumentProblem| matches!(problem, ArgumentProblem::Unexpanded(word) if self.operands.contains(word));
        self.problems.iter().filter(move |problem| !is_operand(problem))
    }

    /// Returns whether an option with this role is given.
    pub fn has_role(&self, role: Role) -> bool {
        self.options.iter().any(|option| option.option.role == role)
    }

    /// Adds an option. If its value must be a number without a point and is not, that is a problem.
    pub(super) fn push_option(&mut self, option: OptionSpec, word: &str, value: Option<Word>) {
        let is_not_number = |value: &Word| value.known_text().is_some_and(|text| !is_number(text));
        let has_point = matches!(option.value, OptionValue::OptionalNumber { has_point: true });
        if option.value.is_kind(&[ValueKind::Number]) && !has_point && value.as_ref().is_some_and(is_not_number) {
            self.problems.push(ArgumentProblem::Unknown(word.to_owned()));
        }
        self.options.push(ParsedOption { option, word: word.to_owned(), value, command: Vec::new() });
    }
}

impl ParsedOption {
    /// Returns whether this is the option of this name, in any spelling.
    pub fn is_named(&self, name: &str) -> bool {
        self.option.all_names().any(|known| known == name)
    }

    /// Returns whether the option neither writes, runs nor works elsewhere, and reads no additional files.
    pub fn only_reads(&self) -> bool {
        use Role::{Excludes, HoldsScript, IncludesHidden, Lists, Plain, Recursive, Selects, ShowsContent};
        let reading_roles = [Plain, Recursive, IncludesHidden, Selects, Excludes, HoldsScript, Lists, ShowsContent];
        reading_roles.contains(&self.option.role) && !self.option.value.is_kind(&WIDER_KINDS)
    }
}

/// Returns whether a text is an optional sign, digits and an optional unit: `5`, `+5`, `-5`, `5k`.
fn is_number(text: &str) -> bool {
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    let unit = digits.trim_start_matches(|c: char| c.is_ascii_digit());
    unit.len() < digits.len() && unit.bytes().all(|byte| byte.is_ascii_alphabetic())
}

/// Kinds of values with which an option does more than read.
const WIDER_KINDS: [ValueKind; 7] = [
    ValueKind::List,
    ValueKind::Write,
    ValueKind::Delete,
    ValueKind::Folder,
    ValueKind::Program,
    ValueKind::ScriptFile,
    ValueKind::Command,
];

impl OptionValue {
    /// Returns whether there may be a value of one of these kinds.
    pub fn is_kind(self, kinds: &[ValueKind]) -> bool {
        match self {
            Self::None => false,
            Self::Required(kind) | Self::Optional(kind) => kinds.contains(&kind),
            Self::OptionalNumber { .. } => kinds.contains(&ValueKind::Number),
        }
    }
}
