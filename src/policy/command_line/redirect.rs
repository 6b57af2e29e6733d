//! Redirections of the commands of a line.

use super::bash_tree::{is_redirection, statement_before_redirections};
use super::syntax_tree::{TreeWalk, WalkContext, empty_command};
use super::{Connector, Redirect, SimpleCommand, Word, heredoc};
use tree_sitter::Node;

/// A word after the target of a redirection, which is an argument of the command.
pub(super) struct TrailingWord {
    pub(super) word: Word,
    /// As written.
    raw: String,
}

impl SimpleCommand {
    /// Adds the words after a redirection, as arguments and to the text.
    pub(super) fn push_trailing_words(&mut self, words: Vec<TrailingWord>) {
        for TrailingWord { word, raw } in words {
            self.words.push(word);
            self.text = format!("{} {raw}", self.text);
        }
    }
}

impl TreeWalk<'_> {
    /// Reads a statement with redirections after it.
    pub(super) fn walk_redirected(&mut self, node: Node<'_>, context: &WalkContext) {
        let start = self.parsed_line.commands.len();
        if let Some(statement) = statement_before_redirections(node) {
            self.walk_statement(statement, context);
        }
        self.apply_redirections(node, start, context);
    }

    /// Adds the redirections of a node to the commands from index `start`.
    pub(super) fn apply_redirections(&mut self, node: Node<'_>, start: usize, context: &WalkContext) {
        let end = self.parsed_line.commands.len();
        let mut redirects = Vec::new();
        let mut trailing_words = Vec::new();
        let allows_newlines = false;
        for child in self.checked_children(node, allows_newlines).into_iter().filter(|child| is_redirection(*child)) {
            self.walk_redirect(child, context, &mut redirects, &mut trailing_words);
        }
        if statement_before_redirections(node).is_none() {
            // In `>a b=c ls`, `b=c` sets a variable and `ls` is the program; `b=c` would be taken for the program here.
            let words: Vec<Word> = trailing_words.into_iter().map(|trailing| trailing.word).collect();
            if words.iter().any(|word| word.known_text().is_none_or(|text| text.contains('='))) {
                self.mark_unclear("words after a redirection");
            }
            return self.push_command(SimpleCommand { redirects, words, ..empty_command(context) });
        }
        for simple in &mut self.parsed_line.commands[start..end] {
            simple.redirects.extend(redirects.iter().cloned());
            simple.span.end = simple.span.end.max(node.end_byte());
        }
        // `cat a > b c`: more arguments follow the target. What the command runs may depend on them.
        if !trailing_words.is_empty() {
            match &self.parsed_line.commands[start..end] {
                [command] if command.wrappers.is_empty() && command.inline_code.is_none() => {
                    let mut command = self.parsed_line.commands.remove(start);
                    command.script = None;
                    command.push_trailing_words(trailing_words);
                    self.push_command(command);
                }
                _ => self.mark_unclear("words after a redirection"),
            }
        }
    }

    /// Adds one redirection to `redirects`, and the words after its target, which are arguments of the command, to
    /// `trailing_words`.
    pub(super) fn walk_redirect(
        &mut self,
        node: Node<'_>,
        context: &WalkContext,
        redirects: &mut Vec<Redirect>,
        trailing_words: &mut Vec<TrailingWord>,
    ) {
        self.check_spacing(node);
        if node.kind() == "heredoc_redirect" {
            return self.walk_heredoc(node, context, redirects);
        }
        let mut operator = "";
        let mut has_descriptor = false;
        let mut targets = Vec::new();
        let allows_newlines = false;
        for child in self.checked_children(node, allows_newlines) {
            match child.kind() {
                "file_descriptor" => {
                    has_descriptor = true;
                    if !self.node_text(child).bytes().all(|byte| byte.is_ascii_digit()) {
                        self.mark_unclear("named file descriptor");
                    }
                }
                kind @ ("<" | ">" | ">>" | ">|" | "&>" | "&>>" | ">&" | "<&" | ">&-" | "<&-" | "<<<") => {
                    operator = kind;
                }
                _ => {
                    let text_before = self.text.get(..child.start_byte()).unwrap_or_default();
                    if !targets.is_empty() && !text_before.ends_with([' ', '\t', '\n']) {
                        self.mark_unclear("ambiguous redirection");
                    }
                    // Bash expands the word after `>&` a second time, without its quotes: even `>&'$(id)'` runs id.
                    if matches!(operator, ">&" | "<&")
                        && targets.is_empty()
                        && !is_expansion_free(&self.node_text(child))
                    {
                        self.mark_unclear(format!("word after “{operator}” is expanded twice"));
                    }
                    targets.push(TrailingWord { word: self.walk_word(child, context), raw: self.node_text(child) });
                }
            }
        }
        let mut targets = targets.into_iter();
        let target = targets.next().map(|target| target.word);
        trailing_words.extend(targets);
        redirects.push(match (operator, target) {
            (">&-" | "<&-", None) => Redirect::Descriptor,
            (">&" | "<&", Some(Word::Known(descriptor))) if is_descriptor_word(&descriptor) => Redirect::Descriptor,
            ("<", Some(target)) => Redirect::Read(target),
            // `2>&a` does not name a file, unlike `>&a`.
            (">" | ">|" | "&>", Some(target)) => Redirect::Write(target),
            (">&", Some(target)) if !has_descriptor => Redirect::Write(target),
            (">>" | "&>>", Some(target)) => Redirect::Append(target),
            ("<<<", Some(text)) => Redirect::Text(text),
            (operator, _) => {
                return self.mark_unclear(format!("unsupported redirection “{operator}”"));
            }
        });
    }

    /// Checks that it is certain where a redirection begins and ends. `ls 2>x` and `ls a2>x` differ: a descriptor
    /// before the operator, digits or a name such as `{fd}`, belongs to the redirection only if it starts a word.
    fn check_spacing(&mut self, node: Node<'_>) {
        let text_before = self.text.get(..node.start_byte()).unwrap_or_default();
        let starts_with_descriptor = self.node_text(node).starts_with(|c: char| c.is_ascii_digit() || c == '{');
        let is_separated =
            text_before.is_empty() || text_before.ends_with([' ', '\t', '\n', ';', '&', '|', '(', ')', '}']);
        let follows_descriptor = text_before.ends_with(|c: char| c.is_ascii_digit() || c == '}');
        // `2>&1a` writes to `1a`.
        let text_after = self.text.get(node.end_byte()..).unwrap_or_default();
        let is_continued = node.kind() != "heredoc_redirect"
            && !text_after.is_empty()
            && !text_after.starts_with([' ', '\t', '\n', ';', '&', '|', '(', ')', '<', '>']);
        // The grammar loses a `-` right before a here-document.
        let raw = self.node_text(node);
        let operator = raw.trim_start_matches(|c: char| c.is_ascii_digit());
        let is_attached = node.kind() == "heredoc_redirect" && !(is_separated && operator.starts_with("<<"));
        if (starts_with_descriptor && !is_separated)
            || (!starts_with_descriptor && follows_descriptor)
            || is_continued
            || is_attached
        {
            self.mark_unclear("ambiguous redirection");
        }
    }

    fn walk_heredoc(&mut self, node: Node<'_>, context: &WalkContext, redirects: &mut Vec<Redirect>) {
        let children: Vec<Node<'_>> = node.children(&mut node.walk()).collect();
        match heredoc::read_heredoc(self.text, node, &children) {
            Ok(text) => redirects.push(Redirect::Text(text)),
            Err(why) => {
                self.mark_unclear(why);
                redirects.push(Redirect::Text(Word::Unknown(String::new())));
            }
        }
        let (without_commands, with_commands) = (false, true);
        for child in children {
            match child.kind() {
                "file_redirect" | "herestring_redirect" => {
                    let mut words = Vec::new();
                    self.walk_redirect(child, context, redirects, &mut words);
                    if !words.is_empty() {
                        self.mark_unclear("words after a redirection");
                    }
                }
                "heredoc_body" => self.walk_substitutions(child, context, without_commands),
                "<<" | "<<-" | "heredoc_start" | "heredoc_end" | "file_descriptor" => {}
                // A pipe or an `&&` list after `<<END`. Its commands are recorded as if they were in a pipe, and the
                // line is marked unclear.
                kind => {
                    self.mark_unclear("commands after a here-document on the same line");
                    let pipe_context = WalkContext { connector: Connector::Pipe, ..context.clone() };
                    if kind == "pipeline" {
                        self.walk_operators(child, &pipe_context);
                    } else {
                        self.walk_substitutions(child, &pipe_context, with_commands);
                    }
                }
            }
        }
    }
}

/// Returns whether repeated expansion does not change a word.
fn is_expansion_free(word: &str) -> bool {
    word.chars().all(|c| c.is_ascii_alphanumeric() || "/._-+,:%@=".contains(c))
}

/// Returns whether a word after `>&` names a file descriptor instead of a file: a number, `-` (closes the descriptor),
/// or a number with `-` (moves it).
fn is_descriptor_word(word: &str) -> bool {
    let digits = word.strip_suffix('-').unwrap_or(word);
    digits.bytes().all(|byte| byte.is_ascii_digit()) && digits.len() < 4 && !word.is_empty()
}
