//! Checks for arbitrary bytes from outside, one file for each kind.
//!
//! The fuzz targets and the tests call the same functions: the targets with bytes from a fuzzer, the tests with those in
//! `fuzz/corpus`.

pub mod cleaner;
pub mod keys;
pub mod markdown;
pub mod references;
pub mod session;
pub mod settings;
pub mod shell;
pub mod themes;
pub mod wire;

/// Panics if something is wrong with the given bytes.
pub type Check = fn(&[u8]);

/// Every check with the name of its target and corpus.
pub const ALL: [(&str, Check); 9] = [
    ("cleaner", cleaner::check),
    ("keys", keys::check),
    ("markdown", markdown::check),
    ("references", references::check),
    ("session", session::check),
    ("settings", settings::check),
    ("shell", shell::check),
    ("themes", themes::check),
    ("wire", wire::check),
];

/// Splits off the first byte, which is a parameter of the check, and returns the rest as text.
fn split_first_byte(bytes: &[u8]) -> (u8, String) {
    let (first, text) = bytes.split_first().map_or((0, bytes), |(first, text)| (*first, text));
    (first, String::from_utf8_lossy(text).into_owned())
}
