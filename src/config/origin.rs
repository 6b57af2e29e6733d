//! Where a value came from.

use std::fmt;

/// Where a value came from; in words for the first screen.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Origin {
    /// It comes with the program.
    #[default]
    Default,
    /// It stands in a file of settings.
    File {
        /// The file, as it is shown.
        file: String,
        /// The line; 1 is the first.
        line: usize,
    },
    /// A variable of the environment.
    Environment(String),
    /// A flag, with its dashes.
    Flag(&'static str),
    /// A key that was entered in the program.
    Entered,
    /// A command that prints the key; its program.
    Command(String),
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => f.write_str("the default"),
            Self::File { file, line } => write!(f, "{file}:{line}"),
            Self::Environment(name) => f.write_str(name),
            Self::Flag(flag) => f.write_str(flag),
            Self::Entered => f.write_str("the key you entered"),
            Self::Command(program) => write!(f, "the command {program}"),
        }
    }
}
