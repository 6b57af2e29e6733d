//! What a command line says, read as a shell would read it. Where it is not plain what the shell will do with it, that is
//! said too, and nothing is guessed.

mod heredoc;
mod joined;
mod named;
mod redirect;
mod tree;
mod word;
mod wrapper;

pub use named::{Named, Place};
pub use word::Word;
pub(super) use wrapper::{FOUND, is_interpreter, is_launcher, is_shell};

/// Characters of a command line; a longer one is [`Unclear`], though what is found in it is still told.
pub const LONGEST: usize = 10_000;
/// Simple commands of a command line.
pub const MOST: usize = 50;
/// How deep one command may lie in others: subshells, substitutions, `bash -c "bash -c …"`.
pub const DEPTH: usize = 24;

/// What a command line says.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Reading {
    /// Every simple command in it, in the order in which the shell comes to them: those of a substitution stand before
    /// the command whose words hold it, those that a `bash -c` starts behind it. Where the line is unclear these are what could
    /// be made out: enough to refuse by, never to allow by.
    pub commands: Vec<Simple>,
    /// The first reason why it is not plain what the shell will do, in words that follow “because”.
    pub unclear: Option<Unclear>,
    /// Every word that may name a file, wherever it stands.
    pub named: Vec<Named>,
    /// How many pipelines there are.
    pipelines: usize,
}

/// Why a command line is not followed, in words that follow “because”.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unclear(pub String);

/// One program with its words, or an assignment alone.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Simple {
    /// What stands between the command before and this one.
    pub joint: Joint,
    /// What it lies in, the outermost first.
    pub within: Vec<Within>,
    /// For every pipeline that it is part of, the outermost first: which one, and the how-manyeth part of it.
    pub pipes: Vec<(usize, usize)>,
    /// Whether it goes on while what follows already runs.
    pub background: bool,
    /// Variables that are set before it: `A=b cmd`.
    pub prefix: Vec<(String, Word)>,
    /// The wrappers taken off in front of it, the outermost first, each with its own words: `env A=b`, `timeout 5`.
    pub wrappers: Vec<Vec<Word>>,
    /// The program and what it is given. Empty where there are only assignments or redirections.
    pub words: Vec<Word>,
    /// Where it reads from and writes to.
    pub redirects: Vec<Redirect>,
    /// What it lets an interpreter run that stands in the line itself: `-c 'print(1)'`.
    pub inline: Option<Word>,
    /// The file that an interpreter is to run, or that is run itself: `bash x.sh`, `./x.sh`.
    pub script: Option<Word>,
}

/// What stands between one command and the next.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Joint {
    /// Nothing: it is the first where it stands.
    #[default]
    First,
    /// `;` or a new line.
    Then,
    /// `&`
    Beside,
    /// `&&`
    And,
    /// `||`
    Or,
    /// `|`
    Pipe,
    /// `|&`
    PipeBoth,
}

/// What a command lies in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Within {
    /// `( … )`
    Subshell,
    /// `{ …; }`
    Group,
    /// `$( … )` or backticks.
    Substitution,
    /// `<( … )` or `>( … )`.
    Process,
    /// A loop, a condition, a function: what is not followed.
    Other,
    /// The words of this program: `bash -c '…'`, `find -exec …`, `xargs …`.
    Words(String),
}

/// Where a command reads from or writes to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Redirect {
    /// `< file`
    Read(Word),
    /// `> file`, `>| file`, `&> file`; `<> file` too.
    Write(Word),
    /// `>> file`, `&>> file`
    Append(Word),
    /// `2>&1`, `>&-`: onto what is open already.
    Onto,
    /// `<<END`: the text, where the shell changes nothing in it.
    Text(Word),
}

impl Reading {
    /// Marks it as unclear; the first reason stays.
    fn unclear(&mut self, why: impl Into<String>) {
        self.unclear.get_or_insert_with(|| Unclear(why.into()));
    }
}

impl Simple {
    /// The program by the last part of its name, where it is known: `/usr/bin/env` is `env`.
    pub fn program(&self) -> Option<&str> {
        self.words.first().and_then(Word::known).map(base)
    }

    /// What the program is given.
    pub fn arguments(&self) -> &[Word] {
        self.words.get(1..).unwrap_or_default()
    }
}

/// The last part of a program's name.
pub fn base(name: &str) -> &str {
    name.rsplit('/').next().unwrap_or(name)
}

/// Reads a command line as bash does after `-c`. It never fails: what it cannot follow is `unclear`.
pub fn read(command: &str) -> Reading {
    let mut reading = Reading::default();
    if command.chars().count() > LONGEST {
        reading.unclear(format!("it is longer than {LONGEST} characters"));
    }
    tree::read(command, 0, &mut reading);
    if reading.commands.len() > MOST {
        reading.unclear(format!("it is made of more than {MOST} commands"));
    }
    reading
}

#[cfg(test)]
mod tests;
