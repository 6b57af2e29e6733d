//! Option grammars: the options and operands of known programs, as data.
//!
//! The read-only set, the rules and the check for destructive commands all parse command lines by these tables. Scripts
//! of `sed` and filters of `jq` are judged by the caller.

mod argument_parser;
mod binary_dumps;
mod build_tools;
mod file_changes;
mod file_info;
mod git;
mod parsed_arguments;
mod program;
mod revisions;
mod scripts;
mod search;
mod target_runners;
mod text;
mod wrappers;

pub use argument_parser::{parse_arguments, possible_options};
pub use build_tools::{ANY_FOLDER, ANY_RUNNER};
pub use parsed_arguments::{ArgumentProblem, ParsedArguments, ParsedOption};
pub use program::{
    AttachedValue, NO_OPERANDS, Operands, OptionGroup, OptionSpec, OptionValue, Program, Role, Syntax, ValueKind,
    leading_operands, operands_of,
};
pub use target_runners::UNKNOWN;
pub use wrappers::SHELL;

/// Returns all programs with a grammar.
pub fn programs() -> impl Iterator<Item = &'static Program> {
    [
        file_info::PROGRAMS,
        text::PROGRAMS,
        binary_dumps::PROGRAMS,
        scripts::PROGRAMS,
        search::PROGRAMS,
        git::PROGRAMS,
        file_changes::PROGRAMS,
        build_tools::PROGRAMS,
        target_runners::PROGRAMS,
    ]
    .into_iter()
    .flatten()
}

/// Returns the grammar of a program called by this name.
pub fn program_named(name: &str) -> Option<&'static Program> {
    programs().find(|program| program.names.contains(&name))
}

/// Returns the grammar of a program that runs the program named in its operands.
pub fn wrapper_named(name: &str) -> Option<&'static Program> {
    wrappers::WRAPPERS.iter().find(|wrapper| wrapper.names.contains(&name))
}

#[cfg(test)]
mod tests;
