//! Parsing of command lines as bash would parse them. A line whose meaning is not certain is marked as unclear; nothing
//! is guessed.

mod bash_tree;
mod file_words;
mod heredoc;
mod operators;
mod parsed_line;
mod redirect;
mod syntax_tree;
mod word;
mod wrapper;

pub use file_words::{FileWord, WordPosition};
pub use parsed_line::{
    Connector, MAX_CHARACTERS, MAX_COMMANDS, MAX_NESTING, Nesting, ParsedLine, Redirect, SimpleCommand,
    program_base_name,
};
pub use word::Word;
pub(super) use wrapper::{FOUND_FILES, is_interpreter, is_launcher, is_shell};

use syntax_tree::WalkContext;

/// Parses a command line as `bash -c` does. Never fails; parts that cannot be followed make it unclear.
pub fn parse_command_line(command: &str) -> ParsedLine {
    let mut parsed_line = ParsedLine::default();
    if command.chars().count() > MAX_CHARACTERS {
        parsed_line.mark_unclear(format!("command longer than {MAX_CHARACTERS} characters"));
    }
    let depth = 0;
    syntax_tree::parse_into(command, depth, &WalkContext::default(), &mut parsed_line);
    if parsed_line.commands.len() > MAX_COMMANDS {
        parsed_line.mark_unclear(format!("more than {MAX_COMMANDS} commands"));
    }
    parsed_line
}

#[cfg(test)]
mod tests;
