//! Extracts simple commands from the syntax tree of a line. Only the node kinds named here are followed, and only
//! blanks may be between them: bash may well read what the grammar skips.

use super::{DEPTH, Joint, Reading, Simple, Within, Word, named, word, wrapper};
use tree_sitter::{Node, Parser, Tree};

/// Parses a line, or an argument that is one, into `reading`.
pub(super) fn read(text: &str, depth: usize, reading: &mut Reading) {
    inner(text, depth, &Context::default(), reading);
}

/// Parses the text of a `bash -c` inside `context`.
pub(super) fn inner(text: &str, depth: usize, context: &Context, reading: &mut Reading) {
    if text.starts_with(['-', '+']) {
        reading.unclear("read as an option by the shell");
    }
    if let Some(odd) = text.chars().find(|letter| letter.is_control() && !matches!(letter, '\n' | '\t')) {
        reading.unclear(format!("control character <U+{:04X}>", u32::from(odd)));
    }
    // The grammar ends a word after `\;`; bash continues it on the next line.
    if text.contains("\\;\\\n") {
        reading.unclear("word continued on the next line");
    }
    let Some(tree) = parsed(text) else {
        return reading.unclear("not parsable");
    };
    let root = tree.root_node();
    if root.has_error() {
        reading.unclear("syntax not fully understood");
    }
    if depth == 0 {
        named::gather(root, text, &mut reading.named);
    }
    let mut walk = Walk { text, depth, reading };
    walk.sequence(root, context);
}

/// Parses a text with the grammar; byte positions in the tree are those of the text. Non-ASCII bytes are replaced by a
/// neutral character, because the grammar looks characters up in a table that is too short for Unicode. Words are read
/// from the text itself.
pub(super) fn parsed(text: &str) -> Option<Tree> {
    let ascii: Vec<u8> = text.bytes().map(|byte| if byte.is_ascii() { byte } else { b':' }).collect();
    let mut parser = Parser::new();
    parser.set_language(&tree_sitter_bash::LANGUAGE.into()).ok()?;
    parser.parse(&ascii, None)
}

/// Constructs around a command.
#[derive(Debug, Clone, Default)]
pub(super) struct Context {
    pub(super) within: Vec<Within>,
    pub(super) pipes: Vec<(usize, usize)>,
    pub(super) joint: Joint,
}

impl Context {
    fn in_a(&self, within: Within) -> Self {
        let mut inner = Self { joint: Joint::First, ..self.clone() };
        inner.within.push(within);
        inner
    }
}

/// Traversal of one syntax tree.
pub(super) struct Walk<'a> {
    pub(super) text: &'a str,
    depth: usize,
    pub(super) reading: &'a mut Reading,
}

impl Walk<'_> {
    pub(super) fn unclear(&mut self, why: impl Into<String>) {
        self.reading.unclear(why);
    }

    pub(super) fn raw(&self, node: Node<'_>) -> String {
        self.text.get(node.byte_range()).unwrap_or_default().to_owned()
    }

    /// Returns the children of a node after checking that there are only blanks between and around them.
    pub(super) fn children<'n>(&mut self, node: Node<'n>, lines: bool) -> Vec<Node<'n>> {
        let children: Vec<Node<'n>> = node.children(&mut node.walk()).collect();
        let (mut from, end) = match node.parent() {
            Some(_) => (node.start_byte(), node.end_byte()),
            None => (0, self.text.len()),
        };
        for child in &children {
            self.blank(from, child.start_byte(), lines);
            from = child.end_byte().max(from);
        }
        self.blank(from, end, lines);
        children
    }

    fn blank(&mut self, from: usize, to: usize, lines: bool) {
        let gap = self.text.get(from..to.max(from)).unwrap_or("?");
        // A line continuation joins the text before and after it, unless a blank or an operator separates them.
        if gap.replace("\\\n", "").is_empty() && !gap.is_empty() {
            let before = self.text.get(..from).unwrap_or_default();
            let behind = self.text.get(to..).unwrap_or_default();
            let parted = before.ends_with(['&', '|', ';'])
                && behind
                    .starts_with(|letter: char| letter.is_ascii_alphanumeric() || "'\"./".contains(letter));
            if !parted && !behind.is_empty() {
                self.unclear("ambiguous line continuation");
            }
        }
        let gap = gap.replace("\\\n", "");
        let skipped = gap.chars().find(|letter| !(matches!(letter, ' ' | '\t') || lines && *letter == '\n'));
        if let Some(skipped) = skipped {
            self.unclear(format!("ambiguous “{}”", skipped.escape_debug()));
        }
    }

    /// Reads commands in sequence.
    fn sequence(&mut self, node: Node<'_>, context: &Context) {
        let mut context = context.clone();
        let mut from = self.reading.commands.len();
        let mut ended: Option<usize> = None;
        for child in self.children(node, true) {
            match child.kind() {
                "(" | ")" | "{" | "}" | "$(" | "<(" | ">(" | "`" | "comment" => {}
                ";" | "&" => {
                    if ended.is_none() {
                        self.unclear(format!("“{}” without a command", child.kind()));
                    }
                    if child.kind() == "&" {
                        self.reading.commands[from..].iter_mut().for_each(|simple| simple.background = true);
                    }
                    context.joint = if child.kind() == "&" { Joint::Beside } else { Joint::Then };
                    ended = None;
                }
                _ => {
                    if let Some(end) = ended {
                        // Only a newline may separate them, possibly after a here-document.
                        let gap = self.text.get(end..child.start_byte()).unwrap_or_default();
                        let before = self.text.get(..end).unwrap_or_default();
                        if !gap.replace("\\\n", "").contains('\n') && !before.ends_with('\n') {
                            self.unclear("two commands without a separator");
                        }
                        context.joint = Joint::Then;
                    }
                    from = self.reading.commands.len();
                    self.statement(child, &context);
                    ended = Some(child.end_byte());
                }
            }
        }
    }

    /// Reads one command, pipeline or list. Returns the index of the first command that a redirection after it applies
    /// to.
    pub(super) fn statement(&mut self, node: Node<'_>, context: &Context) -> usize {
        let from = self.reading.commands.len();
        if context.within.len() > DEPTH {
            self.unclear(format!("nested more than {DEPTH} levels deep"));
            return from;
        }
        match node.kind() {
            "command"
            | "variable_assignment"
            | "variable_assignments"
            | "declaration_command"
            | "unset_command" => self.simple(node, context),
            "list" => return self.list(node, context),
            "pipeline" => return self.pipeline(node, context),
            "redirected_statement" => return self.redirected(node, context),
            "negated_command" => {
                // `!a` is a name.
                if !self.raw(node).starts_with(['!']) || !self.raw(node)[1..].starts_with([' ', '\t']) {
                    self.unclear("ambiguous “!”");
                }
                for child in self.children(node, false).into_iter().filter(|child| child.kind() != "!") {
                    self.statement(child, context);
                }
            }
            "subshell" => self.sequence(node, &context.in_a(Within::Subshell)),
            "compound_statement" if self.raw(node).starts_with('{') => {
                // `{}` and `{a` are names, and so is a `}` that ends no command.
                let raw = self.raw(node);
                let inside = raw[1..].strip_suffix('}').unwrap_or_default().trim_end_matches([' ', '\t']);
                if !inside.starts_with([' ', '\t', '\n']) || !inside.ends_with([';', '&', '\n']) {
                    self.unclear("ambiguous “{”");
                }
                self.sequence(node, &context.in_a(Within::Group));
            }
            kind => {
                self.unclear(other(kind));
                self.descend(node, &context.in_a(Within::Other), true);
            }
        }
        from
    }

    /// Reads a program with its arguments, or assignments.
    fn simple(&mut self, node: Node<'_>, context: &Context) {
        let mut simple = blank(context);
        let children =
            if node.kind() == "variable_assignment" { vec![node] } else { self.children(node, false) };
        let mut end = None;
        for child in children {
            // Words without a blank between them are one word.
            if end == Some(child.start_byte()) && !child.kind().ends_with("_redirect") {
                self.unclear("two words without a separator");
            }
            end = Some(child.end_byte());
            match child.kind() {
                "variable_assignment" if simple.words.is_empty() => {
                    let assigned = self.assignment(child, context);
                    simple.prefix.push(assigned);
                }
                "file_redirect" | "herestring_redirect" | "heredoc_redirect" => {
                    let (mut redirects, mut words) = (Vec::new(), Vec::new());
                    self.redirect(child, context, &mut redirects, &mut words);
                    simple.redirects.append(&mut redirects);
                    simple.words.append(&mut words);
                }
                "command_name" => {
                    let name = self.word(child, context);
                    if let Some(why) = no_program(&self.raw(child), &name) {
                        self.unclear(why);
                    }
                    simple.words.push(name);
                }
                _ => {
                    let word = self.word(child, context);
                    simple.words.push(word);
                }
            }
        }
        self.push(simple);
    }

    fn assignment(&mut self, node: Node<'_>, context: &Context) -> (String, Word) {
        let raw = self.raw(node);
        self.descend(node, context, false);
        let (name, value) = raw.split_once('=').unwrap_or((&raw, ""));
        let plain = !name.is_empty()
            && !name.starts_with(|letter: char| letter.is_ascii_digit())
            && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        if !plain {
            self.unclear(format!("unsupported assignment to “{}”", name.escape_debug()));
        }
        let value = match word::read(value) {
            // File names are not expanded after `=`.
            Ok(Word::Pattern(text)) => Word::Known(text),
            Ok(word) => word,
            Err(why) => {
                self.unclear(why);
                Word::Unknown(value.to_owned())
            }
        };
        (name.to_owned(), value)
    }

    pub(super) fn word(&mut self, node: Node<'_>, context: &Context) -> Word {
        self.descend(node, context, false);
        word::read(&self.raw(node)).unwrap_or_else(|why| {
            // `<( … )` is a word that contains blanks.
            if !matches!(node.kind(), "process_substitution" | "concatenation" | "command_name")
                || !self.raw(node).contains('(')
            {
                self.unclear(why);
            }
            Word::Unknown(self.raw(node))
        })
    }

    /// Finds the substitutions anywhere in a node and, if `commands` is set, the commands too.
    pub(super) fn descend(&mut self, node: Node<'_>, context: &Context, commands: bool) {
        let mut open = vec![node];
        while let Some(node) = open.pop() {
            for child in node.children(&mut node.walk()) {
                match child.kind() {
                    "command_substitution" => self.substitution(child, context, Within::Substitution),
                    "process_substitution" => self.substitution(child, context, Within::Process),
                    "command"
                    | "list"
                    | "pipeline"
                    | "redirected_statement"
                    | "subshell"
                    | "declaration_command"
                        if commands =>
                    {
                        self.statement(child, context);
                    }
                    _ => open.push(child),
                }
            }
        }
        match node.kind() {
            "command_substitution" => self.substitution(node, context, Within::Substitution),
            "process_substitution" => self.substitution(node, context, Within::Process),
            _ => {}
        }
    }

    fn substitution(&mut self, node: Node<'_>, context: &Context, within: Within) {
        if context.within.len() > DEPTH {
            return self.unclear(format!("nested more than {DEPTH} levels deep"));
        }
        self.sequence(node, &context.in_a(within));
    }

    pub(super) fn push(&mut self, simple: Simple) {
        wrapper::unwrap(simple, self.depth, self.reading);
    }
}

/// Creates an empty command in a context.
pub(super) fn blank(context: &Context) -> Simple {
    Simple {
        joint: context.joint,
        within: context.within.clone(),
        pipes: context.pipes.clone(),
        ..Simple::default()
    }
}

/// Keywords that cannot be a program name.
#[rustfmt::skip]
const RESERVED: &[&str] = &[
    "if", "then", "else", "elif", "fi", "for", "while", "until", "do", "done", "case", "esac", "in", "select",
    "function", "coproc", "{", "}", "!", "[[", "]]",
];

/// Returns why a word cannot be a program name.
fn no_program(raw: &str, name: &Word) -> Option<String> {
    let shown = raw.escape_debug();
    match name {
        Word::Known(name) if name.is_empty() => Some("empty program name".to_owned()),
        Word::Known(_) if raw.starts_with('%') => Some(format!("shell job “{shown}”")),
        Word::Known(_) if RESERVED.contains(&raw) => Some(format!("keyword “{shown}”")),
        // `A=b` would be an assignment.
        Word::Known(_) if raw.split_once('=').is_some_and(|(name, _)| !name.contains('/')) => {
            Some(format!("“{shown}” may be an assignment or a program"))
        }
        Word::Known(_) => None,
        Word::Pattern(_) | Word::Home(_) | Word::Unknown(_) => {
            Some(format!("program “{shown}” unknown before it runs"))
        }
    }
}

/// Returns why a syntax construct is not followed.
fn other(kind: &str) -> String {
    let what = match kind {
        "function_definition" => "function definition",
        "for_statement" | "c_style_for_statement" | "while_statement" => "loop",
        "if_statement" | "case_statement" => "condition",
        "test_command" => "test in brackets",
        "compound_statement" => "arithmetic",
        _ => "unsupported shell syntax",
    };
    what.to_owned()
}
