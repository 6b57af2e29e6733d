//! Generates command lines from the options of programs, and the mutations under which options are commonly misread.

use super::random::Random;
use super::words::{ABSENT, DECOYS, FOLDERS, PATTERNS, PLAIN, REVISIONS, VALUES};
use aye::policy::grammar::{Operands, Role, ValueKind};

/// A program with its options and operands.
pub struct Recipe {
    /// The words that start it, such as `od` or `git diff`.
    pub words: String,
    /// Its options, one entry per name.
    pub options: Vec<Choice>,
    /// Its operands.
    pub operands: Operands,
    /// Scripts, or values of its first operand.
    pub scripts: &'static [&'static str],
    /// Whether the policy may allow it at all.
    pub may_run: bool,
}

impl Recipe {
    /// The option of exactly this name.
    pub fn choice(&self, name: &str) -> Option<&Choice> {
        self.options.iter().find(|choice| choice.name == name)
    }
}

/// One name of an option.
#[derive(Clone, Copy)]
pub struct Choice {
    /// The name with its dashes.
    pub name: &'static str,
    pub takes: Takes,
    /// Kind of its value, if any.
    pub holds: ValueKind,
    /// Values that it accepts as words.
    pub words: &'static [&'static str],
    /// Its other effects.
    pub role: Role,
}

/// Whether an option takes a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Takes {
    Nothing,
    Required,
    Optional,
}

impl Choice {
    /// The character of a short option.
    pub fn short_name(&self) -> Option<char> {
        let mut chars = self.name.strip_prefix('-')?.chars();
        chars.next().filter(|name| *name != '-' && chars.next().is_none())
    }
}

/// A command line as shell words, including operators such as `|`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Line(pub Vec<String>);

impl Line {
    /// The text for the shell.
    pub fn text(&self) -> String {
        self.0.join(" ")
    }
}

/// Generates lines.
pub struct Generator<'a> {
    pub random: Random,
    pub recipes: &'a [Recipe],
    /// What a misread option would reach in the current line.
    pub(super) target: Target,
}

/// What is put where a value is expected, to see whether the program reads it as an operand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Target {
    /// A decoy, which is printed if it is read.
    Decoy,
    /// A plain file. If the program reads it as its first operand, the next operand becomes the second, which some
    /// programs write: a changed file shows that.
    Plain,
    /// Nothing: values are what the option expects.
    None,
}

impl<'a> Generator<'a> {
    pub fn new(seed: u64, recipes: &'a [Recipe]) -> Self {
        Self { random: Random::new(seed), recipes, target: Target::None }
    }

    /// Generates the next line.
    pub fn line(&mut self) -> Line {
        let mut words = self.command();
        match self.random.below(100) {
            0..=2 => words.splice(0..0, self.owned_words(&["cd", "src", "&&"])).for_each(drop),
            3 => words.splice(0..0, self.owned_words(&["cd", "docs", ";"])).for_each(drop),
            4..=5 => {
                let wrapper = self.random.pick(&["LC_ALL=C", "env", "time", "timeout 5", "nice", "command", "env -i"]);
                words.insert(0, wrapper.to_owned());
            }
            6..=8 => words.extend(self.owned_words(&["|", "head", "-5"])),
            9 => {
                words.push("|".to_owned());
                let next = self.command();
                words.extend(next);
            }
            10..=11 => {
                words.push(self.random.pick(&["&&", ";", "||"]).to_owned());
                let next = self.command();
                words.extend(next);
            }
            12..=14 => {
                let file = self.path(50);
                let redirect = self.random.pick(&["<", "2>", ">", ">>", "2>&1", "<", "&>"]);
                words.push(redirect.to_owned());
                if redirect != "2>&1" {
                    words.push(file);
                }
            }
            15 => words.extend(self.owned_words(&[">", "/dev/null"])),
            16 => {
                words.insert(0, "(".to_owned());
                words.push(")".to_owned());
            }
            17 => {
                words.splice(0..0, self.owned_words(&["find", "src", "-type", "f", "-exec"])).for_each(drop);
                words.extend(self.owned_words(&["{}", "+"]));
            }
            18 => {
                words.splice(0..0, self.owned_words(&["printf", "'src/main.rs\\n'", "|", "xargs"])).for_each(drop);
            }
            _ => {}
        }
        Line(words)
    }

    fn owned_words(&self, words: &[&str]) -> Vec<String> {
        words.iter().map(|word| (*word).to_owned()).collect()
    }

    /// A program with options and operands. Programs with many options are more frequent.
    fn command(&mut self) -> Vec<String> {
        let recipes = self.recipes;
        let weight = |recipe: &Recipe| if recipe.may_run { 4 + recipe.options.len().min(60) / 3 } else { 1 };
        let mut at = self.random.below(recipes.iter().map(weight).sum());
        let chosen = recipes.iter().find(|recipe| {
            let here = at < weight(recipe);
            at = at.saturating_sub(weight(recipe));
            here
        });
        let recipe = chosen.unwrap_or(&recipes[0]);
        self.target = match self.random.below(100) {
            0..=44 => Target::Decoy,
            45..=74 => Target::Plain,
            _ => Target::None,
        };
        let mut parts: Vec<Vec<String>> = Vec::new();
        let operands = self.operands(recipe);
        let planned = match self.random.below(100) {
            0..=7 => self.with_optional_value(recipe),
            8..=17 => self.with_exclusions(recipe),
            _ => None,
        };
        let (options, operands) = match planned {
            Some((options, operands)) => {
                parts = options;
                (0, operands)
            }
            None => ([0, 1, 1, 1, 1, 2, 2, 3, 4][self.random.below(9)], operands),
        };
        for _ in 0..options {
            let option = self.option(recipe);
            parts.push(option);
        }
        if self.random.percent(6) && !parts.is_empty() {
            let again = parts[self.random.below(parts.len())].clone();
            parts.push(again);
        }
        if self.random.percent(4) {
            parts.push(vec!["--".to_owned()]);
        }
        // Operands are usually last, but any position is possible.
        let mixed = self.random.percent(30);
        for operand in operands {
            let at = if mixed { self.random.below(parts.len() + 1) } else { parts.len() };
            parts.insert(at, vec![operand]);
        }
        let mut words: Vec<String> = recipe.words.split(' ').map(str::to_owned).collect();
        for word in parts.into_iter().flatten().filter(|word| !word.is_empty()) {
            let word = if self.random.percent(5) { self.quoted(&word) } else { word };
            words.push(word);
        }
        words
    }

    fn operands(&mut self, recipe: &Recipe) -> Vec<String> {
        let Operands { first, rest, last, default: _ } = recipe.operands;
        let mut operands = Vec::new();
        for kind in first {
            // Without its script or pattern a program reads a file as one.
            if self.random.percent(85) {
                operands.push(self.operand(*kind, recipe));
            }
        }
        if first.is_empty() && !recipe.scripts.is_empty() && self.random.percent(50) {
            operands.push(self.operand(ValueKind::Script, recipe));
        }
        let extra_count = [0, 0, 1, 1, 1, 1, 2, 2, 3][self.random.below(9)];
        match rest {
            Some(kind) => (0..extra_count).for_each(|_| operands.push(self.operand(kind, recipe))),
            None if self.random.percent(15) => operands.push(self.path(20)),
            None => {}
        }
        operands.extend(last.map(|kind| self.operand(kind, recipe)));
        operands
    }

    fn operand(&mut self, kind: ValueKind, recipe: &Recipe) -> String {
        // A plainly named operand is usually judged correctly, so it is a decoy only rarely.
        if self.target == Target::Decoy && names_file(kind) && self.random.percent(8) {
            return self.take_decoy();
        }
        self.named(kind, recipe)
    }

    /// A usual value or operand of this kind, not a decoy.
    fn named(&mut self, kind: ValueKind, recipe: &Recipe) -> String {
        match kind {
            ValueKind::Word | ValueKind::Number => self.random.pick(VALUES).to_owned(),
            ValueKind::Pattern => self.random.pick(PATTERNS).to_owned(),
            ValueKind::Script if recipe.scripts.is_empty() => self.random.pick(VALUES).to_owned(),
            ValueKind::Script => self.random.pick(recipe.scripts).to_owned(),
            ValueKind::Names | ValueKind::Recursive | ValueKind::Folder => self.path(60),
            ValueKind::Read if recipe.operands.first.contains(&ValueKind::Pattern) => self.path(60),
            ValueKind::Read | ValueKind::List | ValueKind::ScriptFile | ValueKind::Delete => self.path(20),
            ValueKind::Write => self.random.pick(ABSENT).to_owned(),
            ValueKind::Program => {
                self.random.pick(&["cat", "true", "'cat .env'", "./x.sh", "README.md", "x"]).to_owned()
            }
            ValueKind::Command => {
                self.random.pick(&["cat {} +", "cat {} ';'", "cat", "rm {} +", "cat README.md ';'"]).to_owned()
            }
            ValueKind::Revision if self.random.percent(50) => self.path(15),
            ValueKind::Revision => self.random.pick(REVISIONS).to_owned(),
            ValueKind::Range => {
                self.random.pick(&["1,2:README.md", ":main:src/main.rs", "1,1:.env", "/fn/,+1:src/lib.rs"]).to_owned()
            }
        }
    }

    /// Returns a decoy. No other follows in this command: with a second decoy the policy would ask.
    pub(super) fn take_decoy(&mut self) -> String {
        self.target = Target::None;
        let kind = self.random.below(DECOYS.len());
        self.random.pick(DECOYS[kind]).to_owned()
    }

    /// A path that the policy does not ask about: in about `folder_percent` of 100 cases a folder.
    pub(super) fn path(&mut self, folder_percent: usize) -> String {
        match self.random.below(100) {
            0..=5 => self.random.pick(ABSENT),
            percent if percent < folder_percent => self.random.pick(FOLDERS),
            _ => self.random.pick(PLAIN),
        }
        .to_owned()
    }

    /// The value of an option, or a word that may be misread as its value.
    pub(super) fn value(&mut self, choice: Choice, recipe: &Recipe) -> String {
        if !choice.words.is_empty() && self.random.percent(65) {
            let mut word = self.random.pick(choice.words).to_owned();
            if word.bytes().all(|byte| byte.is_ascii_lowercase()) && self.random.percent(50) {
                word.truncate(1 + self.random.below(word.len()));
            }
            return word;
        }
        match self.target {
            Target::Decoy if self.random.percent(65) => self.take_decoy(),
            Target::Plain if self.random.percent(65) => self.path(20),
            Target::Decoy | Target::Plain | Target::None if self.random.percent(40) => {
                self.random.pick(VALUES).to_owned()
            }
            Target::Decoy | Target::Plain | Target::None => self.named(choice.holds, recipe),
        }
    }

    /// An option, with a value if it may have one and sometimes if it may not.
    fn option(&mut self, recipe: &Recipe) -> Vec<String> {
        let (short, long): (Vec<Choice>, Vec<Choice>) =
            recipe.options.iter().partition(|choice| choice.short_name().is_some());
        if !long.is_empty() && (short.is_empty() || self.random.percent(35)) {
            let choice = long[self.random.below(long.len())];
            return self.long(choice, recipe);
        }
        if short.is_empty() || self.random.percent(2) {
            let none =
                Choice { name: "-", takes: Takes::Nothing, holds: ValueKind::Word, words: &[], role: Role::Plain };
            return vec![format!("-{}", self.random.pick(VALUES)), self.value(none, recipe)];
        }
        let mut short_options = String::from("-");
        let count = [1, 1, 1, 2, 2, 2, 3, 4][self.random.below(8)];
        let mut last = short[0];
        for _ in 0..count {
            let wanted = match self.random.below(100) {
                0..=34 => Takes::Nothing,
                35..=66 => Takes::Required,
                _ => Takes::Optional,
            };
            let fitting: Vec<Choice> = short.iter().copied().filter(|choice| choice.takes == wanted).collect();
            let from = if fitting.is_empty() { &short } else { &fitting };
            last = from[self.random.below(from.len())];
            short_options.extend(last.short_name());
        }
        if self.random.percent(3) {
            short_options.push(char::from(
                b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"[self.random.below(62)],
            ));
        }
        let takes = last.takes != Takes::Nothing;
        let attached = self.random.percent(if takes { 25 } else { 4 });
        let separate = self.random.percent(if takes && !attached { 88 } else { 12 });
        if attached {
            let value = self.value(last, recipe);
            short_options.push_str(&value);
        }
        if self.random.percent(2) {
            short_options.insert(0, '-');
        }
        if separate { vec![short_options, self.value(last, recipe)] } else { vec![short_options] }
    }

    pub(super) fn long(&mut self, choice: Choice, recipe: &Recipe) -> Vec<String> {
        let mut name = choice.name.to_owned();
        if self.random.percent(20) && name.len() > 4 {
            name.truncate(4 + self.random.below(name.len() - 4));
        }
        if self.random.percent(4) && name.starts_with("--") {
            name.remove(0);
        }
        let takes = choice.takes != Takes::Nothing;
        match self.random.below(100) {
            0..=39 if takes => vec![format!("{name}={}", self.value(choice, recipe))],
            0..=5 => vec![format!("{name}={}", self.value(choice, recipe))],
            6..=12 => vec![quoted_sign(&name), self.value(choice, recipe)],
            13..=94 if takes => vec![name, self.value(choice, recipe)],
            _ => vec![quoted_sign(&name)],
        }
    }

    /// The same word in other quotes.
    fn quoted(&mut self, word: &str) -> String {
        if word.contains(['\'', '"', '\\', '*', '?', '~', '$', '[', ' ', '@', '!']) || word.is_empty() {
            return word.to_owned();
        }
        let middle = word.char_indices().nth(word.chars().count() / 2).map_or(0, |(at, _)| at);
        let (start, end) = word.split_at(middle);
        match self.random.below(6) {
            0 => format!("'{word}'"),
            1 => format!("\"{word}\""),
            2 => format!("{start}\"\"{end}"),
            3 => format!("{start}'{end}'"),
            4 => format!("\\{word}"),
            _ => format!("{start}\\{end}"),
        }
    }
}

/// Returns whether such an operand or value is a path.
fn names_file(kind: ValueKind) -> bool {
    match kind {
        ValueKind::Names
        | ValueKind::Read
        | ValueKind::Recursive
        | ValueKind::List
        | ValueKind::ScriptFile
        | ValueKind::Write
        | ValueKind::Delete
        | ValueKind::Folder => true,
        ValueKind::Revision | ValueKind::Range => true,
        ValueKind::Word
        | ValueKind::Number
        | ValueKind::Pattern
        | ValueKind::Script
        | ValueKind::Program
        | ValueKind::Command => false,
    }
}

/// Quotes `(` and `!` of `find`, which the shell would interpret.
fn quoted_sign(name: &str) -> String {
    if matches!(name, "(" | ")" | "!") { format!("'{name}'") } else { name.to_owned() }
}
