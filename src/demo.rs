//! Demo scripts: files that hold what a model says and what a user presses, so that a session can be played again. The tour is
//! one of them.

pub mod call_result;
pub mod conversation;
mod markdown;
mod raw_script;
pub mod script;
pub mod script_checks;
mod script_file;
pub mod script_writer;
pub mod session_script;
mod text_template;

pub use script::Script;
use script::ScriptError;

/// The script of the tour.
const TOUR: &str = include_str!("demo/tour.toml");

/// Returns the tour.
pub fn tour() -> Script {
    // A test reads the file, so this cannot fail.
    parse_script("tour", TOUR).unwrap_or_default()
}

/// Reads a script from TOML.
///
/// # Errors
/// The first line that cannot be used, and what was expected.
pub fn parse_script(name: &str, text: &str) -> Result<Script, ScriptError> {
    script_file::parse(name, text, Vec::new())
}

/// Reads a script from Markdown: its blocks that are marked `toml`, in their order. A block marked with a language and
/// `file=PATH` is a file of the project. Everything else is for the reader.
///
/// # Errors
/// As [`parse_script`]; a document without such a block is an error too.
pub fn parse_markdown(name: &str, text: &str) -> Result<Script, ScriptError> {
    let (toml, files) = markdown::extract(text)?;
    script_file::parse(name, &toml, files)
}

#[cfg(test)]
mod tests;
