//! Text of a here-document, if it is certain that bash ends it where the grammar does.

use super::{Word, word};
use tree_sitter::Node;

/// Returns the text after `<<END`. Fails with a reason if bash may read it differently.
pub(super) fn read_heredoc(text: &str, node: Node<'_>, children: &[Node<'_>]) -> Result<Word, String> {
    let odd = || "end of the here-document unclear".to_owned();
    let of = |kind: &str| children.iter().find(|child| child.kind() == kind);
    let start = of("heredoc_start").ok_or_else(odd)?;
    let tabs = of("<<-").is_some();
    let raw = text.get(start.byte_range()).ok_or_else(odd)?;
    let Ok(Word::Known(end)) = word::parse_word(raw) else { return Err(odd()) };
    if end.is_empty() || end.contains('\n') {
        return Err(odd());
    }
    // The body begins with the next line. Nothing before it may extend into that line.
    let line = text.get(start.end_byte()..).and_then(|rest| rest.find('\n')).ok_or_else(odd)?;
    let begin = start.end_byte() + line + 1;
    let before = children.iter().filter(|child| !matches!(child.kind(), "heredoc_body" | "heredoc_end"));
    if before.clone().any(|child| child.end_byte() >= begin) || is_ambiguous_line(&text[start.end_byte()..begin]) {
        return Err(odd());
    }
    let mut at = begin;
    for line in text[begin..].split_inclusive('\n') {
        let bare = line.strip_suffix('\n').unwrap_or(line);
        let bare = if tabs { bare.trim_start_matches('\t') } else { bare };
        if bare == end {
            let its_end = at + line.trim_end_matches('\n').len();
            if node.end_byte() != its_end && node.end_byte() != at + line.len() {
                return Err(odd());
            }
            return Ok(heredoc_word(&text[begin..at], raw == end));
        }
        at += line.len();
    }
    Err(odd())
}

/// Returns whether the rest of the line after `<<END` could hold a second here-document, or a quote across the line
/// end.
fn is_ambiguous_line(rest: &str) -> bool {
    rest.contains("<<") || rest.contains('#') || rest.trim_end_matches('\n').ends_with('\\')
}

/// Returns the text, known if bash expands nothing in it.
fn heredoc_word(text: &str, replaces: bool) -> Word {
    if replaces && text.contains(['$', '`', '\\']) {
        Word::Unknown(text.to_owned())
    } else {
        Word::Known(text.to_owned())
    }
}
