//! Source of a setting's value.

use std::fmt;

/// Source of a setting's value. `Display` gives the text shown to the user.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Origin {
    /// Built-in default.
    #[default]
    Default,
    /// A settings file.
    File {
        /// File name as displayed.
        file: String,
        /// Line number, starting at 1.
        line: usize,
    },
    /// An environment variable.
    Environment(String),
    /// A flag with its dashes.
    Flag(&'static str),
    /// A key entered in the program.
    Entered,
    /// A command that prints the key, by its program name.
    Command(String),
}

impl Origin {
    /// Returns the line in the settings file, or 0 for any other source.
    pub fn line(&self) -> usize {
        if let Self::File { line, .. } = self { *line } else { 0 }
    }
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
