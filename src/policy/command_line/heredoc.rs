//! Text of a here-document, if it is certain that bash ends it where the grammar does.

use super::{Word, word};
use tree_sitter::Node;

/// Returns the body of the here-document that begins with `<<END`. Fails with a reason if bash may read it differently.
pub(super) fn read_heredoc(text: &str, node: Node<'_>, children: &[Node<'_>]) -> Result<Word, String> {
    let unclear_end = || "end of the here-document unclear".to_owned();
    let find_child = |kind: &str| children.iter().find(|child| child.kind() == kind);
    let start = find_child("heredoc_start").ok_or_else(unclear_end)?;
    let strips_tabs = find_child("<<-").is_some();
    let raw = text.get(start.byte_range()).ok_or_else(unclear_end)?;
    let Ok(Word::Known(delimiter)) = word::parse_word(raw) else { return Err(unclear_end()) };
    if delimiter.is_empty() || delimiter.contains('\n') {
        return Err(unclear_end());
    }
    // The body begins with the next line. Nothing before it may extend into that line.
    let newline_offset = text.get(start.end_byte()..).and_then(|rest| rest.find('\n')).ok_or_else(unclear_end)?;
    let body_start = start.end_byte() + newline_offset + 1;
    let children_before_body = children.iter().filter(|child| !matches!(child.kind(), "heredoc_body" | "heredoc_end"));
    if children_before_body.clone().any(|child| child.end_byte() >= body_start)
        || is_ambiguous_line(&text[start.end_byte()..body_start])
    {
        return Err(unclear_end());
    }
    let mut line_start = body_start;
    for line in text[body_start..].split_inclusive('\n') {
        let content = line.strip_suffix('\n').unwrap_or(line);
        let content = if strips_tabs { content.trim_start_matches('\t') } else { content };
        if content == delimiter {
            let delimiter_end = line_start + line.trim_end_matches('\n').len();
            if node.end_byte() != delimiter_end && node.end_byte() != line_start + line.len() {
                return Err(unclear_end());
            }
            // Bash expands the body unless the delimiter is quoted.
            let is_expanded = raw == delimiter;
            return Ok(heredoc_word(&text[body_start..line_start], is_expanded));
        }
        line_start += line.len();
    }
    Err(unclear_end())
}

/// Returns whether the rest of the line after `<<END` could hold a second here-document or a comment, or continue on
/// the next line.
fn is_ambiguous_line(rest_of_line: &str) -> bool {
    rest_of_line.contains("<<") || rest_of_line.contains('#') || rest_of_line.trim_end_matches('\n').ends_with('\\')
}

/// Returns the text as a word, which is known if bash expands nothing in it.
fn heredoc_word(text: &str, is_expanded: bool) -> Word {
    if is_expanded && text.contains(['$', '`', '\\']) {
        Word::Unknown(text.to_owned())
    } else {
        Word::Known(text.to_owned())
    }
}
