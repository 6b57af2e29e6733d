//! Parsing of arguments by the grammar of a program. Nothing is guessed: anything uncertain is a [`ArgumentProblem`].

use super::parsed_arguments::{ArgumentProblem, ParsedArguments, ParsedOption};
use super::program::{AttachedValue, OptionSpec, OptionValue, Program, Role, ValueKind};
use crate::policy::command_line::Word;

/// `-5`, for programs that accept it.
const NUMBER: OptionSpec = OptionSpec { names: "-NUM", value: OptionValue::None, role: Role::Plain };

/// Complete option names, without dashes, that are not abbreviations of longer ones: `--rm` of docker is not
/// `--rmt-command` of tar.
const COMPLETE_NAMES: &[&str] = &["rm", "global", "diff"];

/// Returns all options that a word may give on its own, with the value in that word. For programs of which not all
/// options are known: a word counts for each option that it may abbreviate, with one dash or two.
pub fn possible_options<'a>(program: &'static Program, word: &'a str) -> Vec<(OptionSpec, Option<&'a str>)> {
    let (name, value) = word.split_once('=').map_or((word, None), |(name, value)| (name, Some(value)));
    let bare_name = name.trim_start_matches('-');
    let mut options = Vec::new();
    // Only dashes, or no dash at all.
    if bare_name.is_empty() || bare_name.len() == name.len() {
        return options;
    }
    let has_two_dashes = name.starts_with("--");
    // After one dash, fewer than four letters are short options and not an abbreviation.
    let min_abbreviation = if has_two_dashes { 1 } else { 4 };
    let may_abbreviate = bare_name.len() >= min_abbreviation && !COMPLETE_NAMES.contains(&bare_name);
    let is_match = |known: &str| {
        let long_name = known.strip_prefix("--").or_else(|| known.strip_prefix('-').filter(|rest| rest.len() > 1));
        long_name.is_some_and(|long| long == bare_name || (may_abbreviate && long.starts_with(bare_name)))
    };
    if has_two_dashes || program.syntax.is_single_dash {
        let matching = program.all_options().filter(|option| option.all_names().any(is_match));
        options.extend(matching.map(|option| (option, value)));
    }
    let short_names = if has_two_dashes { "" } else { &word[1..] };
    for (index, short_name) in short_names.char_indices() {
        let Some(option) = program.option(&format!("-{short_name}")) else { continue };
        let attached = &short_names[index + short_name.len_utf8()..];
        if option.value == OptionValue::None {
            options.push((option, None));
        } else {
            options.push((option, Some(attached).filter(|rest| !rest.is_empty())));
            break;
        }
    }
    options
}

/// Parses the arguments of a program. A subcommand and the words after it are operands.
pub fn parse_arguments(program: &'static Program, words: &[Word]) -> ParsedArguments {
    let arguments = ParsedArguments { operand_kinds: program.operands, ..ParsedArguments::default() };
    let mut parser = ArgumentParser { program, words: words.iter(), arguments, is_past_options: false };
    if let Some(leading_options) = program.syntax.before_expression {
        parser.read_operands(leading_options);
        parser.read_expression();
        return parser.arguments;
    }
    let first_word = words.first().and_then(Word::known_text).filter(|_| program.syntax.has_bare_options);
    if let Some(short_names) = first_word.filter(|text| !text.starts_with('-')) {
        parser.words.next();
        parser.read_short(short_names, short_names, AttachedValue::Later);
    }
    while let Some(word) = parser.words.next() {
        parser.read_word(word);
    }
    parser.arguments
}

struct ArgumentParser<'a> {
    program: &'static Program,
    words: std::slice::Iter<'a, Word>,
    arguments: ParsedArguments,
    /// True if all further words are operands.
    is_past_options: bool,
}

impl ArgumentParser<'_> {
    fn read_word(&mut self, word: &Word) {
        let syntax = &self.program.syntax;
        let text = match word {
            Word::Known(text) => text,
            Word::Pattern(text) if text.starts_with('-') && !self.is_past_options => {
                return self.read_pattern(word, text);
            }
            Word::Pattern(_) | Word::Home(_) => return self.add_operand(word),
            Word::Unknown(_) => {
                self.add_unexpanded(word);
                return self.add_operand(word);
            }
        };
        if let Some(short_names) = text.strip_prefix('+').filter(|_| syntax.has_plus && !self.is_past_options) {
            return self.read_plus(text, short_names);
        }
        let Some(option_text) = text.strip_prefix('-').filter(|rest| !self.is_past_options && !rest.is_empty()) else {
            return self.add_operand(word);
        };
        if option_text == "-" {
            if syntax.has_end {
                self.is_past_options = true;
                self.arguments.operands_before_end = Some(self.arguments.operands.len());
            } else {
                self.add_problem(ArgumentProblem::Unknown, text);
            }
        } else if option_text.starts_with('-')
            || (syntax.is_single_dash && option_text.len() > 1 && self.program.option(text).is_some())
        {
            self.read_long(text);
        } else if syntax.has_numbers && option_text.bytes().all(|byte| byte.is_ascii_digit()) {
            self.arguments.push_option(NUMBER, text, Some(Word::Known(option_text.to_owned())));
        } else {
            self.read_short(text, option_text, syntax.attached);
        }
    }

    /// Reads the options before the operands, and the operands.
    fn read_operands(&mut self, leading_options: &[&str]) {
        while let Some(word) = self.words.as_slice().first() {
            let text = word.known_text().unwrap_or_default();
            let is_leading = self.arguments.operands.is_empty()
                && leading_options.iter().any(|option| text.starts_with(option) && text.is_ascii());
            if !is_leading && text.starts_with(['-', '(', ')', '!', ',']) {
                return;
            }
            self.words.next();
            if is_leading {
                self.read_short(text, &text[1..], self.program.syntax.attached);
                continue;
            }
            if matches!(word, Word::Unknown(_)) || word.display_text().starts_with('-') {
                self.add_unexpanded(word);
            }
            self.arguments.operands.push(word.clone());
        }
    }

    /// Reads an expression, of which every word is an option or the value of one.
    fn read_expression(&mut self) {
        while let Some(word) = self.words.next() {
            let Some(text) = word.known_text() else {
                self.add_unexpanded(word);
                continue;
            };
            let Some(option) = self.program.option(text) else {
                self.add_problem(ArgumentProblem::Unknown, text);
                continue;
            };
            match option.value {
                OptionValue::Required(ValueKind::Command) => {
                    let is_end = |word: &Word| matches!(word.known_text(), Some(";" | "+"));
                    let command = self.words.by_ref().take_while(|word| !is_end(word)).cloned().collect();
                    self.arguments.options.push(ParsedOption { option, word: text.to_owned(), value: None, command });
                }
                OptionValue::Required(kind) => {
                    let value = self.next_value(text, option, kind);
                    self.arguments.push_option(option, text, value);
                }
                OptionValue::None | OptionValue::Optional(_) | OptionValue::OptionalNumber { .. } => {
                    self.arguments.push_option(option, text, None);
                }
            }
        }
    }

    /// Reads `+x`, which turns off the short option `x`. The option's value still follows and is skipped.
    fn read_plus(&mut self, text: &str, short_names: &str) {
        for short_name in short_names.chars() {
            let option = self.program.option(&format!("-{short_name}"));
            if let Some((option, OptionValue::Required(kind))) = option.map(|option| (option, option.value)) {
                self.next_value(text, option, kind);
            }
        }
    }

    fn add_problem(&mut self, problem: fn(String) -> ArgumentProblem, text: &str) {
        self.arguments.problems.push(problem(text.to_owned()));
    }

    fn add_unexpanded(&mut self, word: &Word) {
        self.arguments.problems.push(ArgumentProblem::Unexpanded(word.clone()));
    }

    fn add_operand(&mut self, word: &Word) {
        self.arguments.operands.push(word.clone());
        self.is_past_options |= !self.program.syntax.permutes;
    }

    /// Reads a pattern that begins with a dash. `--include=*.rs` is an option if no file of such a name exists; others
    /// are problems.
    fn read_pattern(&mut self, word: &Word, text: &str) {
        let (name, value) = text.split_once('=').unwrap_or((text, ""));
        match self.program.option(name).map(|option| (option, option.value)) {
            Some((option, OptionValue::Required(ValueKind::Pattern))) if name.starts_with("--") => {
                self.arguments.unmatched_patterns.push(word.clone());
                self.arguments.push_option(option, text, Some(Word::Known(value.to_owned())));
            }
            _ => self.add_unexpanded(word),
        }
    }

    fn read_long(&mut self, text: &str) {
        let (name, value) = match text.split_once('=') {
            Some((name, value)) => (name, Some(Word::Known(value.to_owned()))),
            None => (text, None),
        };
        let option = match self.program.option(name) {
            Some(option) => option,
            None => {
                let is_abbreviated = |option: &OptionSpec| {
                    name.len() > 2 && option.all_names().any(|known| known.len() > 2 && known.starts_with(name))
                };
                let mut candidates = self.program.all_options().filter(is_abbreviated);
                match (candidates.next(), candidates.next()) {
                    (Some(option), None) if self.program.syntax.abbreviates => {
                        self.add_problem(ArgumentProblem::Abbreviated, text);
                        option
                    }
                    _ => return self.add_problem(ArgumentProblem::Unknown, text),
                }
            }
        };
        let value = match option.value {
            OptionValue::None if value.is_some() => {
                return self.add_problem(ArgumentProblem::Unknown, text);
            }
            OptionValue::Required(kind) if value.is_none() && self.program.syntax.has_separate_long => {
                self.next_value(text, option, kind)
            }
            OptionValue::Required(_) if value.is_none() => {
                self.add_problem(ArgumentProblem::Missing, text);
                None
            }
            OptionValue::OptionalNumber { has_point } => value.or_else(|| self.next_number(has_point)),
            OptionValue::None | OptionValue::Required(_) | OptionValue::Optional(_) => value,
        };
        self.arguments.push_option(option, text, value);
    }

    /// Reads one or more short options in one word: `text` is the whole word, `short_names` the part after the dash.
    fn read_short(&mut self, text: &str, short_names: &str, attached_value: AttachedValue) {
        let syntax = &self.program.syntax;
        for (index, short_name) in short_names.char_indices() {
            let name = format!("-{short_name}");
            let attached = &short_names[index + short_name.len_utf8()..];
            let Some(option) = self.program.option(&name) else {
                self.add_problem(ArgumentProblem::Unknown, text);
                continue;
            };
            if option.value == OptionValue::None {
                self.arguments.push_option(option, text, None);
                if !syntax.bundles && !attached.is_empty() {
                    return self.add_problem(ArgumentProblem::Unknown, text);
                }
                continue;
            }
            if attached_value == AttachedValue::Later {
                let value = match option.value {
                    OptionValue::Required(kind) => self.next_value(text, option, kind),
                    OptionValue::OptionalNumber { .. } | OptionValue::None | OptionValue::Optional(_) => None,
                };
                self.arguments.push_option(option, text, value);
                continue;
            }
            let can_be_attached = match attached_value {
                AttachedValue::Never => attached.is_empty(),
                AttachedValue::Numbers => attached.is_empty() || attached.starts_with(|c: char| c.is_ascii_digit()),
                AttachedValue::Any | AttachedValue::Later => true,
            };
            if !can_be_attached {
                self.add_problem(ArgumentProblem::Unknown, text);
            }
            let value = match option.value {
                _ if !attached.is_empty() => Some(Word::Known(attached.to_owned())),
                OptionValue::Required(kind) => self.next_value(text, option, kind),
                OptionValue::OptionalNumber { has_point } => self.next_number(has_point),
                OptionValue::None | OptionValue::Optional(_) => None,
            };
            return self.arguments.push_option(option, text, value);
        }
    }

    /// Takes the next word if it is a number.
    fn next_number(&mut self, has_point: bool) -> Option<Word> {
        let next = self.words.as_slice().first()?;
        let digits = next.known_text()?;
        let digits = if has_point { digits.replacen('.', "", 1) } else { digits.to_owned() };
        let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
        is_number.then(|| self.words.next().cloned()).flatten()
    }

    /// Takes the next word as the value of an option; `text` is the word that contains the option.
    fn next_value(&mut self, text: &str, option: OptionSpec, kind: ValueKind) -> Option<Word> {
        let Some(word) = self.words.next() else {
            self.add_problem(ArgumentProblem::Missing, text);
            return None;
        };
        let names_file = matches!(
            kind,
            ValueKind::Names | ValueKind::Read | ValueKind::Recursive | ValueKind::Write | ValueKind::Folder
        );
        match word {
            Word::Known(_) => {}
            Word::Home(_) if names_file => {}
            Word::Home(_) | Word::Pattern(_) | Word::Unknown(_) => {
                self.add_unexpanded(word);
            }
        }
        // Programs with `abbreviates` have several implementations, and some of those read no options after an operand:
        // see `ParsedArguments::late_values`.
        let may_be_operand = self.program.syntax.abbreviates && option.role != Role::Excludes;
        if may_be_operand && !self.arguments.operands.is_empty() {
            self.arguments.late_values.push(word.clone());
        }
        Some(word.clone())
    }
}
