//! What must hold of any bytes from outside, one file for each kind of them.
//!
//! The fuzz targets and the tests call the same functions: the targets with bytes that a fuzzer thinks of, the tests with
//! those that are kept in `fuzz/corpus`.

pub mod cleaner;
pub mod keys;
pub mod markdown;
pub mod references;
pub mod session;
pub mod settings;
pub mod shell;
pub mod themes;
pub mod wire;

/// Takes some bytes, and panics where something does not hold of them.
pub type Check = fn(&[u8]);

/// Every check by the name of its target and of its corpus.
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

/// The first byte, which says how the rest is taken, and the rest as text.
fn told(bytes: &[u8]) -> (u8, String) {
    let (how, text) = bytes.split_first().map_or((0, bytes), |(how, text)| (*how, text));
    (how, String::from_utf8_lossy(text).into_owned())
}
