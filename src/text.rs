//! Text processing: cleaning, escaping, redacting, shortening and measuring. Depends on no other top-level module.

pub mod byte_size;
pub mod clean;
pub mod delimited_rows;
pub mod escape_sequences;
pub mod escaped_path;
pub mod file_reference;
pub mod hidden_chars;
pub mod indented_json;
pub mod json_outline;
pub mod known_secrets;
pub mod link;
pub mod passages;
pub mod percent_encoding;
pub mod redaction;
pub mod reveal;
pub mod search_words;
pub mod snippet;
pub mod terminal_palette;
pub mod tokens;
pub mod truncation;
pub mod unique_keys;
pub mod web_destination;
pub mod width;
pub mod word_edges;
pub mod words;
pub mod workspace_address;
