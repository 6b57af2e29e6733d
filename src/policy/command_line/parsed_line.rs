//! A parsed command line: its simple commands, with their operators and enclosing constructs.

use super::file_words::FileWord;
use super::word::Word;
use std::ops::Range;

/// Maximum number of characters of a command line. A longer line is marked unclear, but its commands are still listed.
pub const MAX_CHARACTERS: usize = 10_000;

/// Maximum number of simple commands of a command line.
pub const MAX_COMMANDS: usize = 50;

/// Maximum nesting depth: subshells, substitutions, `bash -c "bash -c …"`.
pub const MAX_NESTING: usize = 24;

/// A parsed command line.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ParsedLine {
    /// Every simple command, in the order in which the shell runs them. Those of a substitution come before the command
    /// that contains it, those started by `bash -c` after it. If the line is unclear these are the commands that could
    /// be found: they may be a reason to refuse the line, but never to allow it.
    pub commands: Vec<SimpleCommand>,
    /// First reason why bash may parse the line differently; `None` if the parse is certain.
    pub unclear: Option<String>,
    /// Every word that may name a file, wherever it occurs.
    pub file_words: Vec<FileWord>,
    /// Number of pipelines found so far; the last one has this number.
    pub(super) pipeline_count: usize,
    /// Number of subshells found so far; the last one has this number.
    pub(super) shell_count: usize,
}

impl ParsedLine {
    /// Returns the program whose exit status the line has although others write into it: the last one of a pipeline.
    /// `None` if the line ends otherwise, if `pipefail` may be set, or if the line is unclear.
    pub fn piped_status_program(&self) -> Option<&str> {
        let names_pipefail =
            |simple: &SimpleCommand| simple.words.iter().any(|word| word.display_text().contains("pipefail"));
        if self.unclear.is_some() || self.commands.iter().any(names_pipefail) {
            return None;
        }
        let last = self.commands.iter().rfind(|simple| simple.nesting.is_empty())?;
        matches!(last.connector, Connector::Pipe | Connector::PipeWithStderr).then(|| last.program()).flatten()
    }
}

/// A program with its arguments, or assignments alone.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SimpleCommand {
    /// Operator between the previous command and this one.
    pub connector: Connector,
    /// Enclosing constructs, outermost first.
    pub nesting: Vec<Nesting>,
    /// Enclosing pipelines, outermost first: number of the pipeline, and stage of the command in it, from 0.
    pub pipelines: Vec<(usize, usize)>,
    /// Numbers of the subshells that it runs in, outermost first: of `( … )`, substitutions, stages of pipelines and the
    /// like. A number stands for one subshell in the line.
    pub shells: Vec<usize>,
    /// True if later commands start while it runs.
    pub is_background: bool,
    /// True if a later command after `&&` may run although this one was skipped or failed: it follows `||` or `!`, or
    /// is in a group that does.
    pub is_skippable: bool,
    /// True if `!` before it, or before a construct around it, inverts its exit status.
    pub is_negated: bool,
    /// Text of the program with its arguments and assignments, as written; redirections after it are not included, but the
    /// arguments after them are.
    pub text: String,
    /// Bytes of the command in its line, with the redirections after it. In the text of a `bash -c` they are those in that
    /// text.
    pub span: Range<usize>,
    /// Variables assigned before it: `A=b cmd`.
    pub assignments: Vec<(String, Word)>,
    /// Wrappers removed in front of it, outermost first, each with its own arguments: `env A=b`, `timeout 5`.
    pub wrappers: Vec<Vec<Word>>,
    /// The program and its arguments. Empty for assignments or redirections alone.
    pub words: Vec<Word>,
    pub redirects: Vec<Redirect>,
    /// Code for an interpreter in the line itself: `-c 'print(1)'`.
    pub inline_code: Option<Word>,
    /// File that an interpreter runs, or that is run itself: `bash x.sh`, `./x.sh`.
    pub script: Option<Word>,
}

/// Operator between two commands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Connector {
    /// None: first command of its construct.
    #[default]
    First,
    /// `;` or a newline.
    Semicolon,
    /// `&`
    Ampersand,
    /// `&&`
    And,
    /// `||`
    Or,
    /// `|`
    Pipe,
    /// `|&`
    PipeWithStderr,
}

/// Construct that contains a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Nesting {
    /// `( … )`
    Subshell,
    /// `{ …; }`
    Group,
    /// `$( … )` or backticks.
    Substitution,
    /// `<( … )` or `>( … )`.
    ProcessSubstitution,
    /// Unsupported syntax, such as a loop, a condition or a function. Commands inside it are listed, but the line is
    /// unclear.
    Other,
    /// The arguments of this program: `bash -c '…'`, `find -exec …`, `xargs …`.
    Arguments(String),
}

/// A redirection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Redirect {
    /// `< file`
    Read(Word),
    /// `> file`, `>| file`, `&> file`; `<> file` too.
    Write(Word),
    /// `>> file`, `&>> file`
    Append(Word),
    /// `2>&1`, `>&-`: duplicates or closes a file descriptor and names no file.
    Descriptor,
    /// The text of a here-document or a here-string.
    Text(Word),
}

impl ParsedLine {
    /// Returns these subshells with a new one inside.
    pub(super) fn enter_shell(&mut self, shells: &[usize]) -> Vec<usize> {
        self.shell_count += 1;
        [shells, &[self.shell_count]].concat()
    }

    /// Marks the line as unclear; the first reason is kept.
    pub(super) fn mark_unclear(&mut self, why: impl Into<String>) {
        self.unclear.get_or_insert_with(|| why.into());
    }
}

impl SimpleCommand {
    /// Returns the last component of the program's name if known: `env` for `/usr/bin/env`.
    pub fn program(&self) -> Option<&str> {
        self.words.first().and_then(Word::known_text).map(program_base_name)
    }

    /// Returns the arguments of the program.
    pub fn arguments(&self) -> &[Word] {
        self.words.get(1..).unwrap_or_default()
    }
}

/// Returns the last component of a program's name.
pub fn program_base_name(name: &str) -> &str {
    name.rsplit('/').next().unwrap_or(name)
}
