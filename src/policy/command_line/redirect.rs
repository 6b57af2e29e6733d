//! Redirections of the commands of a line.

use super::syntax_tree::{TreeWalk, WalkContext, empty_command};
use super::{Connector, Redirect, SimpleCommand, Word, heredoc};
use tree_sitter::Node;

impl TreeWalk<'_> {
    pub(super) fn walk_redirected(&mut self, node: Node<'_>, context: &WalkContext) -> usize {
        let mut from = self.reading.commands.len();
        let mut to = from;
        let mut redirects = Vec::new();
        let mut words = Vec::new();
        let mut bodies = 0;
        for child in self.checked_children(node, false) {
            match child.kind() {
                "file_redirect" | "herestring_redirect" | "heredoc_redirect" => {
                    self.walk_redirect(child, context, &mut redirects, &mut words);
                }
                _ => {
                    bodies += 1;
                    from = self.walk_statement(child, context);
                    to = self.reading.commands.len();
                }
            }
        }
        if bodies == 0 {
            // `>a b=c ls` sets a variable.
            if words.iter().any(|word| word.known_text().is_none_or(|text| text.contains('='))) {
                self.mark_unclear("words after a redirection");
            }
            self.push_command(SimpleCommand { redirects, words, ..empty_command(context) });
            return from;
        }
        for simple in &mut self.reading.commands[from..to] {
            simple.redirects.extend(redirects.iter().cloned());
        }
        // `cat a > b c`: more arguments follow the target.
        if !words.is_empty() {
            match &mut self.reading.commands[from..to] {
                [only] if only.wrappers.is_empty() && only.inline_code.is_none() => only.words.extend(words),
                _ => self.mark_unclear("words after a redirection"),
            }
        }
        from
    }

    pub(super) fn walk_redirect(
        &mut self,
        node: Node<'_>,
        context: &WalkContext,
        redirects: &mut Vec<Redirect>,
        words: &mut Vec<Word>,
    ) {
        self.check_spacing(node);
        if node.kind() == "heredoc_redirect" {
            return self.walk_heredoc(node, context, redirects);
        }
        let mut operator = "";
        let mut numbered = false;
        let mut targets = Vec::new();
        for child in self.checked_children(node, false) {
            match child.kind() {
                "file_descriptor" => {
                    numbered = true;
                    if !self.node_text(child).bytes().all(|byte| byte.is_ascii_digit()) {
                        self.mark_unclear("named file descriptor");
                    }
                }
                kind @ ("<" | ">" | ">>" | ">|" | "&>" | "&>>" | ">&" | "<&" | ">&-" | "<&-" | "<<<") => {
                    operator = kind;
                }
                _ => {
                    let before = self.text.get(..child.start_byte()).unwrap_or_default();
                    if !targets.is_empty() && !before.ends_with([' ', '\t', '\n']) {
                        self.mark_unclear("ambiguous redirection");
                    }
                    // Bash expands the word after `>&` a second time, without its quotes: even `>&'$(id)'` runs id.
                    if matches!(operator, ">&" | "<&")
                        && targets.is_empty()
                        && !is_expansion_free(&self.node_text(child))
                    {
                        self.mark_unclear(format!("word after “{operator}” is expanded twice"));
                    }
                    targets.push(self.walk_word(child, context));
                }
            }
        }
        let mut targets = targets.into_iter();
        let target = targets.next();
        words.extend(targets);
        redirects.push(match (operator, target) {
            (">&-" | "<&-", None) => Redirect::Descriptor,
            (">&" | "<&", Some(Word::Known(onto))) if is_open_descriptor(&onto) => Redirect::Descriptor,
            ("<", Some(target)) => Redirect::Read(target),
            // `2>&a` is no file, unlike `>&a`.
            (">" | ">|" | "&>", Some(target)) => Redirect::Write(target),
            (">&", Some(target)) if !numbered => Redirect::Write(target),
            (">>" | "&>>", Some(target)) => Redirect::Append(target),
            ("<<<", Some(text)) => Redirect::Text(text),
            (operator, _) => {
                return self.mark_unclear(format!("unsupported redirection “{operator}”"));
            }
        });
    }

    /// `ls 2>x` and `ls a2>x` differ: digits before a redirection belong to it only if they are a word of their own.
    fn check_spacing(&mut self, node: Node<'_>) {
        let before = self.text.get(..node.start_byte()).unwrap_or_default();
        let own = self.node_text(node).starts_with(|letter: char| letter.is_ascii_digit() || letter == '{');
        let ends_blank = before.is_empty() || before.ends_with([' ', '\t', '\n', ';', '&', '|', '(', ')', '}']);
        let is_number = before.ends_with(|letter: char| letter.is_ascii_digit() || letter == '}');
        // `2>&1a` writes to `1a`.
        let behind = self.text.get(node.end_byte()..).unwrap_or_default();
        let goes_on = node.kind() != "heredoc_redirect"
            && !behind.is_empty()
            && !behind.starts_with([' ', '\t', '\n', ';', '&', '|', '(', ')', '<', '>']);
        // The grammar loses a `-` right before a here-document.
        let raw = self.node_text(node);
        let sign = raw.trim_start_matches(|letter: char| letter.is_ascii_digit());
        let is_glued = node.kind() == "heredoc_redirect" && !(ends_blank && sign.starts_with("<<"));
        if (own && !ends_blank) || (!own && is_number) || goes_on || is_glued {
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
        for child in children {
            match child.kind() {
                "file_redirect" | "herestring_redirect" => {
                    let mut words = Vec::new();
                    self.walk_redirect(child, context, redirects, &mut words);
                    if !words.is_empty() {
                        self.mark_unclear("words after a redirection");
                    }
                }
                "heredoc_body" => self.walk_substitutions(child, context, false),
                "<<" | "<<-" | "heredoc_start" | "heredoc_end" | "file_descriptor" => {}
                // A pipe or a list after `<<END`: its commands are listed, but not followed.
                kind => {
                    self.mark_unclear("commands after a here-document on the same line");
                    let piped = WalkContext { joint: Connector::Pipe, ..context.clone() };
                    if kind == "pipeline" {
                        self.walk_pipeline(child, &piped);
                    } else {
                        self.walk_substitutions(child, &piped, true);
                    }
                }
            }
        }
    }
}

/// Returns whether repeated expansion does not change a word.
fn is_expansion_free(word: &str) -> bool {
    word.chars().all(|letter| letter.is_ascii_alphanumeric() || "/._-+,:%@=".contains(letter))
}

/// Returns whether a word after `>&` is an open file descriptor: a number, `-`, or a number that is closed afterwards.
fn is_open_descriptor(onto: &str) -> bool {
    let digits = onto.strip_suffix('-').unwrap_or(onto);
    digits.bytes().all(|byte| byte.is_ascii_digit()) && digits.len() < 4 && !onto.is_empty()
}
