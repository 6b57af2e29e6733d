//! Types of a grammar: programs, their options and operands, and short ways to write them.

/// A program or a subcommand.
#[derive(Debug, PartialEq, Eq)]
pub struct Program {
    /// Names of the program. The first one is used to identify it.
    pub names: &'static [&'static str],
    /// Implementations that the table describes. Other implementations accept the same options or fail.
    pub described_versions: &'static str,
    /// Syntax of its options.
    pub syntax: Syntax,
    pub options: &'static [OptionGroup],
    /// Kinds of its operands.
    pub operands: Operands,
    /// Subcommands; the first operand names one. `options` are the options before that name.
    pub subcommands: &'static [Program],
    /// True if the table holds every option that may run without approval, so that any other option asks. Otherwise it
    /// holds only options that write, run programs or name a folder.
    pub is_complete: bool,
}

/// Syntax of the options of a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Syntax {
    /// True if short options may share a word: `-la`.
    pub bundles: bool,
    /// Values of short options in the same word: `-n5`.
    pub attached: AttachedValue,
    /// True if a long option may be written with one dash too, as `-name` of `find` and `-cols` of `xxd`.
    pub is_single_dash: bool,
    /// True if the program accepts unambiguous prefixes of long options. An abbreviated option always needs approval.
    pub abbreviates: bool,
    /// True if options may follow operands (GNU). Otherwise the first operand ends the options.
    pub permutes: bool,
    /// True if `--` ends the options.
    pub has_end: bool,
    /// True if `-5` is an option.
    pub has_numbers: bool,
    /// True if the value of a long option may be the next word as well as after `=`.
    pub has_separate_long: bool,
    /// True if the first word holds short options even without a dash: `xf` of `tar`.
    pub has_bare_options: bool,
    /// True if `+x` turns the option `-x` off. Such a word does not count as an option, but the value of `-x` still
    /// follows it and is skipped: `bash +o posix`.
    pub has_plus: bool,
    /// For programs whose operands precede an expression (`find`): the options before the operands. The expression
    /// begins with the first word that begins with a dash, a parenthesis, `!` or `,`, and all its words are options.
    pub before_expression: Option<&'static [&'static str]>,
}

/// Values in the same word as a short option.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AttachedValue {
    /// Not allowed: the value is the next word.
    Never,
    /// Only a value that begins with a digit.
    Numbers,
    /// Any value.
    Any,
    /// Not allowed: values are the next words, in the order of the options that share the word: `-oc NAME`.
    Later,
}

/// `getopt_long` of the GNU C library.
pub(super) const GNU: Syntax = Syntax {
    bundles: true,
    attached: AttachedValue::Any,
    is_single_dash: false,
    abbreviates: true,
    permutes: true,
    has_end: true,
    has_numbers: false,
    has_separate_long: true,
    has_bare_options: false,
    has_plus: false,
    before_expression: None,
};

/// `GNU` with `-5` as an option.
pub(super) const GNU_NUMBERS: Syntax = Syntax { has_numbers: true, ..GNU };

/// Options of a program that have the same kind of value and the same role.
#[derive(Debug, PartialEq, Eq)]
pub struct OptionGroup {
    /// The names of each option as in [`OptionSpec`]; a comma and a space separate the options: `-n --lines, -q`.
    pub options: &'static str,
    pub value: OptionValue,
    pub role: Role,
}

/// One option.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OptionSpec {
    /// All names with their dashes, separated by spaces: `-n --lines`.
    pub names: &'static str,
    pub value: OptionValue,
    pub role: Role,
}

/// Value of an option.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OptionValue {
    None,
    /// Required: attached or in the next word.
    Required(ValueKind),
    /// Optional: only attached (`-w16`, `--width=16`). The next word is never its value.
    Optional(ValueKind),
    /// Optional number: attached, or the next word if that is a number (`-j 4` of make).
    OptionalNumber {
        /// True if `2.5` is a number too.
        has_point: bool,
    },
}

/// Kind of a value or an operand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ValueKind {
    /// A word or a format that names no file.
    Word,
    /// A number, with a sign or a unit at most. Anything else asks.
    Number,
    /// A pattern that is searched for or selects names.
    Pattern,
    /// A script in a language of the program, which is judged separately.
    Script,
    /// A file or folder of which only names, sizes and times are read.
    Names,
    /// A file that is read.
    Read,
    /// A file, or a folder that is read with everything below.
    Recursive,
    /// A file that lists other files or options to read.
    List,
    /// A file that is written.
    Write,
    /// A file that is deleted.
    Delete,
    /// A folder in which the program works or writes.
    Folder,
    /// A program or a command line that is run, or a settings file that decides what runs.
    Program,
    /// A file or a folder with code that runs: `-f x.awk`.
    ScriptFile,
    /// All words up to `;` or `+`: a command that is run.
    Command,
    /// A git revision or path.
    Revision,
    /// A range of lines and a git path: `1,5:src/main.rs`.
    Range,
}

/// Effect of an option besides taking a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// Reads no other file, writes nothing, runs nothing.
    Plain,
    /// Does more than read: known, but always needs approval.
    NeedsApproval,
    /// Reads all files below the folders it is given.
    Recursive,
    /// Includes hidden or ignored files.
    IncludesHidden,
    /// Selects files by a pattern or a type, which may include hidden files.
    Selects,
    /// Skips folders of this name.
    Excludes,
    /// Holds the pattern or the script, so that the first operand is a file.
    HoldsScript,
    /// Lists names only.
    Lists,
    /// Shows the content of files (git).
    ShowsContent,
    /// Overwrites or deletes without a question, or discards unsaved work.
    Forces,
    /// Keeps files it would overwrite.
    Keeps,
    /// Changes data of the program, such as the name of a branch.
    Changes,
}

/// Operands of a program.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Operands {
    /// Kinds of the first operands. A first [`ValueKind::Pattern`] or [`ValueKind::Script`] is missing if an option
    /// with [`Role::HoldsScript`] is given.
    pub first: &'static [ValueKind],
    /// Kind of all others; `None` if there are no others.
    pub rest: Option<ValueKind>,
    /// Kind of the last one, if there is more than one operand: the target of `cp`.
    pub last: Option<ValueKind>,
    /// Operand used if none is given: `.`. `None` for standard input.
    pub default: Option<&'static str>,
}

/// No operands.
pub const NO_OPERANDS: Operands = Operands { first: &[], rest: None, last: None, default: None };

/// Creates operands of one kind.
pub const fn operands_of(rest: ValueKind) -> Operands {
    Operands { rest: Some(rest), ..NO_OPERANDS }
}

/// Creates first operands of these kinds and all others of one kind; with `None` there are no others.
pub const fn leading_operands(first: &'static [ValueKind], rest: Option<ValueKind>) -> Operands {
    Operands { first, rest, ..NO_OPERANDS }
}

/// Creates a complete program with the option syntax of the GNU C library.
pub(super) const fn program(
    names: &'static [&'static str],
    described_versions: &'static str,
    options: &'static [OptionGroup],
    operands: Operands,
) -> Program {
    Program { names, described_versions, syntax: GNU, options, operands, subcommands: &[], is_complete: true }
}

/// Creates options without a value.
pub(super) const fn flags(options: &'static str) -> OptionGroup {
    OptionGroup { options, value: OptionValue::None, role: Role::Plain }
}

/// Creates options with a required value that names no file.
pub(super) const fn with_word(options: &'static str) -> OptionGroup {
    with_value(options, ValueKind::Word)
}

/// Creates options with a required value.
pub(super) const fn with_value(options: &'static str, value: ValueKind) -> OptionGroup {
    OptionGroup { options, value: OptionValue::Required(value), role: Role::Plain }
}

/// Creates options with an optional value that names no file.
pub(super) const fn with_optional_word(options: &'static str) -> OptionGroup {
    OptionGroup { options, value: OptionValue::Optional(ValueKind::Word), role: Role::Plain }
}

impl OptionGroup {
    /// Returns the options with this role.
    pub const fn role(self, role: Role) -> Self {
        Self { role, ..self }
    }
}

impl OptionSpec {
    /// Returns all names with their dashes.
    pub fn all_names(self) -> impl Iterator<Item = &'static str> {
        self.names.split(' ')
    }
}

impl Program {
    /// Returns the first name, which identifies the program.
    pub fn name(&self) -> &'static str {
        self.names.first().copied().unwrap_or_default()
    }

    /// Returns all options.
    pub fn all_options(&self) -> impl Iterator<Item = OptionSpec> {
        let options_in = |group: &'static OptionGroup| {
            group.options.split(", ").map(|names| OptionSpec { names, value: group.value, role: group.role })
        };
        self.options.iter().flat_map(options_in)
    }

    /// Returns the option with exactly this name, which includes its dashes.
    pub fn option(&self, name: &str) -> Option<OptionSpec> {
        self.all_options().find(|option| option.all_names().any(|known| known == name))
    }

    pub fn subcommand(&self, name: &str) -> Option<&'static Program> {
        self.subcommands.iter().find(|program| program.names.contains(&name))
    }
}
