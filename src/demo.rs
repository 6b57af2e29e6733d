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

/// The script of the tour.
const TOUR: &str = include_str!("demo/tour.toml");

/// Returns the tour.
pub fn tour() -> Script {
    // A test reads the file, so this cannot fail.
    Script::parse("tour", TOUR).unwrap_or_default()
}

#[cfg(test)]
mod tests;
