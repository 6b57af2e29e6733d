//! All words of a line that may name a file, even if the rest of the line is not understood.

use tree_sitter::Node;

/// Most words that are collected.
const MOST: usize = 2001;
/// Most levels of command lines inside words: `sh -c 'sh -c "…"'`.
const DEPTH: usize = 3;

/// Position of a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// Program.
    First,
    /// Argument.
    Later,
    /// Target of an output redirection.
    Written,
}

/// A word that may name a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Named {
    /// Text without quotes; expansions are left as written.
    pub text: String,
    pub place: Place,
}

/// Adds every word of the tree.
pub(super) fn gather(root: Node<'_>, text: &str, words: &mut Vec<Named>) {
    below(root, text, 0, words);
}

fn below(root: Node<'_>, text: &str, depth: usize, words: &mut Vec<Named>) {
    let mut open = vec![(root, Place::Later)];
    while let Some((node, place)) = open.pop() {
        if words.len() >= MOST {
            return;
        }
        let raw = text.get(node.byte_range()).unwrap_or_default();
        let place = match node.kind() {
            "command_name" | "variable_assignment" => Place::First,
            "file_redirect" => redirect(node),
            "file_descriptor" | "heredoc_start" | "heredoc_end" | "comment" => continue,
            _ => place,
        };
        let is_word = matches!(
            node.kind(),
            "word"
                | "string"
                | "raw_string"
                | "ansi_c_string"
                | "concatenation"
                | "number"
                | "variable_assignment"
        );
        // A part that could not be parsed may run all the same: bash parses line by line.
        let is_lost = node.kind() == "ERROR" && node.child_count() == 0;
        if is_word {
            push(raw, place, depth, words);
        } else if is_lost {
            for piece in raw.split(|letter: char| letter.is_whitespace() || "|&;()<>'\"`".contains(letter)) {
                push(piece, Place::First, DEPTH, words);
            }
        }
        let inner = if is_word { Place::Later } else { place };
        let children: Vec<Node<'_>> = node.children(&mut node.walk()).collect();
        for child in children.into_iter().rev() {
            // The parts of a word are not words, except those in its substitutions.
            if !is_word || holds_commands(child) {
                open.push((child, inner));
            }
        }
    }
}

fn holds_commands(node: Node<'_>) -> bool {
    matches!(node.kind(), "command_substitution" | "process_substitution" | "string" | "array" | "expansion")
        && node.child_count() > 0
}

fn redirect(node: Node<'_>) -> Place {
    let writes = node.children(&mut node.walk()).any(|child| !child.is_named() && child.kind().contains('>'));
    if writes { Place::Written } else { Place::Later }
}

fn push(raw: &str, place: Place, depth: usize, words: &mut Vec<Named>) {
    let (text, quoted) = bare(raw);
    if text.is_empty() {
        return;
    }
    if quoted
        && depth < DEPTH
        && text.contains(char::is_whitespace)
        && let Some(tree) = super::tree::parsed(&text)
    {
        below(tree.root_node(), &text, depth + 1, words);
    }
    words.push(Named { text, place });
}

/// Removes quotes and backslashes as far as possible.
fn bare(raw: &str) -> (String, bool) {
    let mut text = String::new();
    let (mut quote, mut quoted) = (None, false);
    let mut letters = raw.chars();
    while let Some(letter) = letters.next() {
        match (letter, quote) {
            ('\\', None | Some('"')) => text.extend(letters.next().filter(|next| *next != '\n')),
            (letter, Some(open)) if letter == open => quote = None,
            ('\'' | '"', None) => (quote, quoted) = (Some(letter), true),
            (letter, _) => text.push(letter),
        }
    }
    (text, quoted)
}
