//! Syntax tree of a text as bash reads it.

use tree_sitter::{Parser, Tree};

/// Parses a text with the grammar; byte positions in the tree are those of the text. Non-ASCII bytes are replaced by a
/// neutral character, because the grammar looks characters up in a table that is too short for Unicode. Words are read
/// from the text itself.
pub(super) fn parse_tree(text: &str) -> Option<Tree> {
    let ascii: Vec<u8> = text.bytes().map(|byte| if byte.is_ascii() { byte } else { b':' }).collect();
    let mut parser = Parser::new();
    parser.set_language(&tree_sitter_bash::LANGUAGE.into()).ok()?;
    parser.parse(&ascii, None)
}
