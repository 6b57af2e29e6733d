//! Text without its meaning: cleaning, escaping, redacting, shortening and measuring. Uses no other floor.

pub mod clean;
pub mod escape_sequences;
pub mod escaped_path;
pub mod hidden_chars;
pub mod link;
pub mod redaction;
pub mod reveal;
pub mod tokens;
pub mod truncation;
pub mod unique_keys;
pub mod width;
