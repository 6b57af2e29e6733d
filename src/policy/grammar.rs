//! Option grammars: what the options and operands of each known program mean, in one place and as data.
//!
//! The read-only set, the rules and the destructive-command check all read command lines by these tables.
//! What a program does beyond its options (a script of `sed`, a filter of `jq`) is judged by its caller.

mod builds;
mod changes;
mod dumps;
mod files;
mod git;
mod reader;
mod revisions;
mod runners;
mod scripts;
mod search;
mod text;

pub use reader::{Given, GivenOption, Problem, options_in, read};

/// One program, or one subcommand of a program.
#[derive(Debug, PartialEq, Eq)]
pub struct Program {
    /// Names under which it is called; the first one is its own.
    pub names: &'static [&'static str],
    /// Implementations the table is true for; other implementations accept the same or fail.
    pub states: &'static str,
    /// How its options are written.
    pub syntax: Syntax,
    /// Options, each with all its names.
    pub options: &'static [Opt],
    /// What is neither an option nor the value of one.
    pub operands: Operands,
    /// Subcommands, named by the first operand. The options above are then those before it.
    pub subcommands: &'static [Program],
    /// Whether the table holds all that may run unasked, so that an option not in it asks. Otherwise it holds only those
    /// options that write, run programs or name a place.
    pub is_complete: bool,
}

/// How the options of a program are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Syntax {
    /// Short options may share a word: `-la`.
    pub bundles: bool,
    /// How the value of a short option may follow in the same word: `-n5`.
    pub attached: Attached,
    /// A long option may be written with one dash too, as `-name` of `find` and `-cols` of `xxd`.
    pub is_single_dash: bool,
    /// The program accepts unambiguous beginnings of long options. They are never accepted without approval.
    pub abbreviates: bool,
    /// The program reads an option after an operand as an option (GNU). Otherwise the first operand ends them.
    pub permutes: bool,
    /// `--` ends the options.
    pub has_end: bool,
    /// `-5` is an option.
    pub has_numbers: bool,
    /// The value of a long option may be the next word, as well as after `=`.
    pub has_separate_long: bool,
}

/// How the value of a short option may follow in the same word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Attached {
    /// It is always the next word.
    Never,
    /// A value that begins with a digit.
    Numbers,
    /// Any value.
    Any,
}

/// `getopt_long` of the GNU C library.
pub const GNU: Syntax = Syntax {
    bundles: true,
    attached: Attached::Any,
    is_single_dash: false,
    abbreviates: true,
    permutes: true,
    has_end: true,
    has_numbers: false,
    has_separate_long: true,
};

/// The same with `-5`.
pub const GNU_NUMBERS: Syntax = Syntax { has_numbers: true, ..GNU };

/// One option.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Opt {
    /// All its names with their dashes, separated by spaces: `-n --lines`.
    pub names: &'static str,
    /// Whether it takes a value.
    pub value: Value,
    /// What it does besides taking a value.
    pub role: Role,
}

/// Whether an option takes a value, and what the value is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Value {
    /// None.
    None,
    /// Required: attached or in the next word.
    Required(Holds),
    /// Optional: only attached (`-w16`, `--width=16`). The next word is not its value.
    Optional(Holds),
    /// Optional number: attached, or the next word if that is a number (`-j 4` of make). Any other next word is not its value.
    OptionalNumber {
        /// Whether `2.5` is a number too.
        has_point: bool,
    },
}

/// What a value or an operand is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Holds {
    /// A number, a word, a format: nothing that names a file.
    Word,
    /// A number, with a sign or a unit at most. Anything else asks.
    Number,
    /// A pattern that is searched for or selects names.
    Pattern,
    /// A script in a language of the program's own, which is judged apart.
    Script,
    /// A file or folder of which only names, sizes and times are read.
    Names,
    /// A file that is read.
    Read,
    /// A folder that is read with everything below, or a file.
    Below,
    /// A file that names other files or options to read.
    List,
    /// A file that is written.
    Write,
    /// A file that is deleted.
    Delete,
    /// A place where the program works or writes.
    Place,
    /// A program or a command line that is run, or a file of settings that says what runs.
    Program,
    /// A revision or a path of git.
    Revision,
    /// A range of lines and a path of git: `1,5:src/main.rs`.
    Range,
}

/// What an option does besides taking a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// Reads no other file, writes nothing, runs nothing.
    Plain,
    /// Does more than read: known, but never without approval.
    Asks,
    /// Reads all files below the folders it is given.
    Recursive,
    /// Takes hidden or ignored files in.
    Hidden,
    /// Selects files by a pattern or a kind, which may take hidden files in.
    Selects,
    /// Leaves folders of this name out.
    Excludes,
    /// Holds the pattern or the script, so that the first operand is a file.
    Replaces,
    /// Lists names only.
    Lists,
    /// Shows the content of files (git).
    Shows,
    /// Overwrites or deletes without a question, or discards what is not saved.
    Forces,
    /// Keeps what it would overwrite.
    Keeps,
    /// Changes what the program keeps, such as the name of a branch.
    Changes,
}

/// What a program's operands are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Operands {
    /// The first ones, one by one. A first [`Holds::Pattern`] or [`Holds::Script`] is no operand if an option that
    /// [`Role::Replaces`] it is given.
    pub first: &'static [Holds],
    /// All others; `None` if there are no others.
    pub rest: Option<Holds>,
    /// The last one, if there is more than one operand: the target of `cp`.
    pub last: Option<Holds>,
    /// What it works on if it is given none: `.`. Otherwise its input.
    pub default: Option<&'static str>,
}

/// No operands.
pub const NO_OPERANDS: Operands = Operands { first: &[], rest: None, last: None, default: None };

/// Any number of operands of one kind.
pub const fn all(rest: Holds) -> Operands {
    Operands { rest: Some(rest), ..NO_OPERANDS }
}

/// The first ones of these kinds, all others of one kind.
pub const fn first(first: &'static [Holds], rest: Option<Holds>) -> Operands {
    Operands { first, rest, ..NO_OPERANDS }
}

/// A complete program with the options of the GNU C library.
pub const fn program(
    names: &'static [&'static str],
    states: &'static str,
    options: &'static [Opt],
    operands: Operands,
) -> Program {
    Program { names, states, syntax: GNU, options, operands, subcommands: &[], is_complete: true }
}

/// An option without a value.
pub const fn flag(names: &'static str) -> Opt {
    Opt { names, value: Value::None, role: Role::Plain }
}

/// An option with a required value that names no file.
pub const fn takes(names: &'static str) -> Opt {
    holds(names, Holds::Word)
}

/// An option with a required value.
pub const fn holds(names: &'static str, value: Holds) -> Opt {
    Opt { names, value: Value::Required(value), role: Role::Plain }
}

/// An option with an optional value that names no file.
pub const fn may(names: &'static str) -> Opt {
    Opt { names, value: Value::Optional(Holds::Word), role: Role::Plain }
}

impl Opt {
    /// The same option with a role.
    pub const fn with(self, role: Role) -> Self {
        Self { role, ..self }
    }

    /// Its names, each with its dashes.
    pub fn all_names(&self) -> impl Iterator<Item = &'static str> {
        self.names.split(' ')
    }
}

impl Program {
    /// Its own name.
    pub fn name(&self) -> &'static str {
        self.names.first().copied().unwrap_or_default()
    }

    /// The option of exactly this name, with its dashes.
    pub fn option(&self, name: &str) -> Option<&'static Opt> {
        self.options.iter().find(|option| option.all_names().any(|known| known == name))
    }

    /// A subcommand by its name.
    pub fn subcommand(&self, name: &str) -> Option<&'static Program> {
        self.subcommands.iter().find(|program| program.names.contains(&name))
    }
}

/// All programs of which a grammar is known.
pub fn programs() -> impl Iterator<Item = &'static Program> {
    [
        files::PROGRAMS,
        text::PROGRAMS,
        dumps::PROGRAMS,
        scripts::PROGRAMS,
        search::PROGRAMS,
        git::PROGRAMS,
        changes::PROGRAMS,
        builds::PROGRAMS,
        runners::PROGRAMS,
    ]
    .into_iter()
    .flatten()
}

/// The grammar of a program by the name it is called by.
pub fn program_named(name: &str) -> Option<&'static Program> {
    programs().find(|program| program.names.contains(&name))
}

/// The grammar of a program of which no option is known.
pub fn unknown_program() -> &'static Program {
    &runners::UNKNOWN
}

/// The options that run something or obey a file, whatever the program is.
pub fn any_runner() -> &'static Program {
    &builds::ANY_RUNNER
}

/// The long options that say where a program works, whatever the program is.
pub fn any_place() -> &'static Program {
    &builds::ANY_PLACE
}

#[cfg(test)]
mod tests;
