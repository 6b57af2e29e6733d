//! Syntax tree of a text as bash reads it.

use tree_sitter::{Node, Parser, Tree};

/// Parses a text with the grammar; byte positions in the tree are those of the text. Non-ASCII bytes are replaced by a
/// neutral character, because the grammar looks characters up in a table that is too short for Unicode. Words are read
/// from the text itself.
pub(super) fn parse_tree(text: &str) -> Option<Tree> {
    let ascii: Vec<u8> = text.bytes().map(|byte| if byte.is_ascii() { byte } else { b':' }).collect();
    let mut parser = Parser::new();
    parser.set_language(&tree_sitter_bash::LANGUAGE.into()).ok()?;
    parser.parse(&ascii, None)
}

/// Returns whether a node is a redirection.
pub(super) fn is_redirection(node: Node<'_>) -> bool {
    matches!(node.kind(), "file_redirect" | "herestring_redirect" | "heredoc_redirect")
}

/// Returns the statement of a `redirected_statement`; `None` if it consists of redirections only.
pub(super) fn statement_before_redirections(node: Node<'_>) -> Option<Node<'_>> {
    node.children(&mut node.walk()).find(|child| !is_redirection(*child))
}

/// Returns whether a node of the syntax tree joins commands by operators. Redirections after the last command may be
/// around it.
pub(super) fn joins_commands(node: Node<'_>) -> bool {
    match node.kind() {
        "list" | "pipeline" => true,
        "redirected_statement" => statement_before_redirections(node).is_some_and(joins_commands),
        _ => false,
    }
}
