//! All words of a line that may name a file, even if the rest of the line is not understood.

use tree_sitter::Node;

/// Maximum number of words collected: one more than the preconditions of a command use, so that they can tell that
/// words are missing.
const MAX_FILE_WORDS: usize = 2001;
/// Maximum nesting depth of command lines inside words: `sh -c 'sh -c "…"'`.
const MAX_INNER_LINES: usize = 3;

/// Position of a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WordPosition {
    /// Name of a program, or a variable assignment. In a part that could not be parsed, every word, because it may be
    /// the name of a program.
    Program,
    /// Argument or input redirection.
    Argument,
    /// Target of an output redirection.
    OutputTarget,
}

/// A word that may name a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileWord {
    /// Text without quotes; expansions are left as written.
    pub text: String,
    pub position: WordPosition,
}

/// Adds every word of the tree. `depth` is the number of words around it that contain command lines.
pub(super) fn collect_file_words(root: Node<'_>, text: &str, depth: usize, words: &mut Vec<FileWord>) {
    let mut pending = vec![(root, WordPosition::Argument)];
    while let Some((node, parent_position)) = pending.pop() {
        if words.len() >= MAX_FILE_WORDS {
            return;
        }
        let raw = text.get(node.byte_range()).unwrap_or_default();
        let position = match node.kind() {
            "command_name" | "variable_assignment" => WordPosition::Program,
            "file_redirect" => redirect_position(node),
            "file_descriptor" | "heredoc_start" | "heredoc_end" | "comment" => continue,
            _ => parent_position,
        };
        let is_word = matches!(
            node.kind(),
            "word" | "string" | "raw_string" | "ansi_c_string" | "concatenation" | "number" | "variable_assignment"
        );
        // A part that could not be parsed may run too: bash runs each line before it parses the next one.
        let is_unparsed_leaf = node.kind() == "ERROR" && node.child_count() == 0;
        if is_word {
            push_word(raw, position, depth, words);
        } else if is_unparsed_leaf {
            for piece in raw.split(|c: char| c.is_whitespace() || "|&;()<>'\"`".contains(c)) {
                // With this depth, no command line is searched in the piece.
                push_word(piece, WordPosition::Program, MAX_INNER_LINES, words);
            }
        }
        let child_position = if is_word { WordPosition::Argument } else { position };
        let children: Vec<Node<'_>> = node.children(&mut node.walk()).collect();
        for child in children.into_iter().rev() {
            // The parts of a word are not words, except those in its substitutions.
            if !is_word || may_contain_commands(child) {
                pending.push((child, child_position));
            }
        }
    }
}

fn may_contain_commands(node: Node<'_>) -> bool {
    matches!(node.kind(), "command_substitution" | "process_substitution" | "string" | "array" | "expansion")
        && node.child_count() > 0
}

fn redirect_position(node: Node<'_>) -> WordPosition {
    let is_output = node.children(&mut node.walk()).any(|child| !child.is_named() && child.kind().contains('>'));
    if is_output { WordPosition::OutputTarget } else { WordPosition::Argument }
}

/// Adds a word without its quotes. If it is quoted and may be a command line, the words in it are added too.
fn push_word(raw: &str, position: WordPosition, depth: usize, words: &mut Vec<FileWord>) {
    let (text, quoted) = strip_quotes(raw);
    if text.is_empty() {
        return;
    }
    if quoted
        && depth < MAX_INNER_LINES
        && text.contains(char::is_whitespace)
        && let Some(tree) = super::bash_tree::parse_tree(&text)
    {
        collect_file_words(tree.root_node(), &text, depth + 1, words);
    }
    words.push(FileWord { text, position });
}

/// Removes quotes and backslashes as far as possible. Returns the text, and whether it had quotes.
fn strip_quotes(raw: &str) -> (String, bool) {
    let mut text = String::new();
    let (mut quote, mut quoted) = (None, false);
    let mut chars = raw.chars();
    while let Some(c) = chars.next() {
        match (c, quote) {
            ('\\', None | Some('"')) => text.extend(chars.next().filter(|next| *next != '\n')),
            (c, Some(opening_quote)) if c == opening_quote => quote = None,
            ('\'' | '"', None) => (quote, quoted) = (Some(c), true),
            (c, _) => text.push(c),
        }
    }
    (text, quoted)
}
