//! Extracts simple commands from the syntax tree of a line. Only the node kinds named here are followed, and only
//! blanks may be between them, because bash may interpret text that the grammar skips.

use super::bash_tree::{joins_commands, parse_tree};
use super::{Connector, MAX_NESTING, Nesting, ParsedLine, SimpleCommand, Word, file_words, word, wrapper};
use tree_sitter::Node;

/// Adds the commands of a command line to `parsed_line`. `depth` is 0 for the line itself, and greater for the text of
/// a `bash -c` in it; `context` are the constructs around that.
pub(super) fn parse_into(text: &str, depth: usize, context: &WalkContext, parsed_line: &mut ParsedLine) {
    if text.starts_with(['-', '+']) {
        parsed_line.mark_unclear("read as an option by the shell");
    }
    if let Some(control_character) = text.chars().find(|c| c.is_control() && !matches!(c, '\n' | '\t')) {
        parsed_line.mark_unclear(format!("control character <U+{:04X}>", u32::from(control_character)));
    }
    // The grammar ends a word after `\;`; bash continues it on the next line.
    if text.contains("\\;\\\n") {
        parsed_line.mark_unclear("word continued on the next line");
    }
    let Some(tree) = parse_tree(text) else {
        return parsed_line.mark_unclear("not parsable");
    };
    let root = tree.root_node();
    if root.has_error() {
        parsed_line.mark_unclear("syntax not fully understood");
    }
    if depth == 0 {
        let words_around = 0;
        file_words::collect_file_words(root, text, words_around, &mut parsed_line.file_words);
    }
    let mut walk = TreeWalk { text, depth, parsed_line };
    walk.walk_sequence(root, context);
}

/// Constructs around a command.
#[derive(Debug, Clone, Default)]
pub(super) struct WalkContext {
    pub(super) nesting: Vec<Nesting>,
    /// Number of each pipeline around the command, outermost first, and its stage in that pipeline.
    pub(super) pipelines: Vec<(usize, usize)>,
    /// As [`SimpleCommand::shells`].
    pub(super) shells: Vec<usize>,
    pub(super) connector: Connector,
    /// As [`SimpleCommand::is_skippable`], because of the constructs around the command.
    pub(super) is_skippable: bool,
    /// As [`SimpleCommand::is_negated`].
    pub(super) is_negated: bool,
}

impl WalkContext {
    /// Returns whether a command directly in this context is skippable.
    pub(super) fn is_command_skippable(&self) -> bool {
        self.is_skippable || self.connector == Connector::Or
    }
}

/// Traversal of one syntax tree.
pub(super) struct TreeWalk<'a> {
    pub(super) text: &'a str,
    depth: usize,
    pub(super) parsed_line: &'a mut ParsedLine,
}

impl TreeWalk<'_> {
    /// Returns the context of the commands in a construct.
    fn nested_context(&mut self, context: &WalkContext, construct: Nesting) -> WalkContext {
        let is_skippable = context.is_command_skippable();
        let mut inner = WalkContext { connector: Connector::First, is_skippable, ..context.clone() };
        if construct != Nesting::Group {
            inner.shells = self.parsed_line.enter_shell(&context.shells);
        }
        inner.nesting.push(construct);
        inner
    }

    pub(super) fn mark_unclear(&mut self, why: impl Into<String>) {
        self.parsed_line.mark_unclear(why);
    }

    pub(super) fn node_text(&self, node: Node<'_>) -> String {
        self.text.get(node.byte_range()).unwrap_or_default().to_owned()
    }

    /// Returns the children of a node. Marks the line as unclear if there is more than blanks between and around them.
    pub(super) fn checked_children<'n>(&mut self, node: Node<'n>, allows_newlines: bool) -> Vec<Node<'n>> {
        let children: Vec<Node<'n>> = node.children(&mut node.walk()).collect();
        let (mut gap_start, end) = match node.parent() {
            Some(_) => (node.start_byte(), node.end_byte()),
            None => (0, self.text.len()),
        };
        for child in &children {
            self.check_gap(gap_start, child.start_byte(), allows_newlines);
            gap_start = child.end_byte().max(gap_start);
        }
        self.check_gap(gap_start, end, allows_newlines);
        children
    }

    fn check_gap(&mut self, start: usize, end: usize, allows_newlines: bool) {
        let gap = self.text.get(start..end.max(start)).unwrap_or("?");
        // A line continuation joins the text before and after it, unless a blank or an operator separates them.
        if gap.replace("\\\n", "").is_empty() && !gap.is_empty() {
            let text_before = self.text.get(..start).unwrap_or_default();
            let text_after = self.text.get(end..).unwrap_or_default();
            let is_separated = text_before.ends_with(['&', '|', ';'])
                && text_after.starts_with(|c: char| c.is_ascii_alphanumeric() || "'\"./".contains(c));
            if !is_separated && !text_after.is_empty() {
                self.mark_unclear("ambiguous line continuation");
            }
        }
        let gap = gap.replace("\\\n", "");
        let skipped = gap.chars().find(|c| !(matches!(c, ' ' | '\t') || allows_newlines && *c == '\n'));
        if let Some(skipped) = skipped {
            self.mark_unclear(format!("ambiguous “{}”", skipped.escape_debug()));
        }
    }

    /// Reads commands in sequence.
    fn walk_sequence(&mut self, node: Node<'_>, context: &WalkContext) {
        let mut context = context.clone();
        let mut last_start = self.parsed_line.commands.len();
        let mut previous_end: Option<usize> = None;
        let allows_newlines = true;
        for child in self.checked_children(node, allows_newlines) {
            match child.kind() {
                "(" | ")" | "{" | "}" | "$(" | "<(" | ">(" | "`" | "comment" => {}
                ";" | "&" => {
                    if previous_end.is_none() {
                        self.mark_unclear(format!("“{}” without a command", child.kind()));
                    }
                    if child.kind() == "&" {
                        self.parsed_line.commands[last_start..]
                            .iter_mut()
                            .for_each(|simple| simple.is_background = true);
                    }
                    context.connector = if child.kind() == "&" { Connector::Ampersand } else { Connector::Semicolon };
                    previous_end = None;
                }
                _ => {
                    if let Some(previous_end) = previous_end {
                        // Only a newline may separate them, possibly after a here-document.
                        let gap = self.text.get(previous_end..child.start_byte()).unwrap_or_default();
                        let text_before = self.text.get(..previous_end).unwrap_or_default();
                        if !gap.replace("\\\n", "").contains('\n') && !text_before.ends_with('\n') {
                            self.mark_unclear("two commands without a separator");
                        }
                        context.connector = Connector::Semicolon;
                    }
                    last_start = self.parsed_line.commands.len();
                    self.walk_statement(child, &context);
                    previous_end = Some(child.end_byte());
                }
            }
        }
    }

    /// Reads one command, pipeline or list.
    pub(super) fn walk_statement(&mut self, node: Node<'_>, context: &WalkContext) {
        if context.nesting.len() > MAX_NESTING {
            return self.mark_unclear(format!("nested more than {MAX_NESTING} levels deep"));
        }
        match node.kind() {
            "command" | "variable_assignment" | "variable_assignments" | "declaration_command" | "unset_command" => {
                self.walk_simple(node, context)
            }
            _ if joins_commands(node) => self.walk_operators(node, context),
            "redirected_statement" => self.walk_redirected(node, context),
            "negated_command" => {
                // `!a` is a name.
                if !self.node_text(node).starts_with(['!']) || !self.node_text(node)[1..].starts_with([' ', '\t']) {
                    self.mark_unclear("ambiguous “!”");
                }
                let context = WalkContext { is_skippable: true, is_negated: true, ..context.clone() };
                let allows_newlines = false;
                let children = self.checked_children(node, allows_newlines);
                for child in children.into_iter().filter(|child| child.kind() != "!") {
                    self.walk_statement(child, &context);
                }
            }
            "subshell" => {
                let inner = self.nested_context(context, Nesting::Subshell);
                self.walk_sequence(node, &inner);
            }
            "compound_statement" if self.node_text(node).starts_with('{') => {
                // `{}` and `{a` are names, and so is a `}` that ends no command.
                let raw = self.node_text(node);
                let body = raw[1..].strip_suffix('}').unwrap_or_default().trim_end_matches([' ', '\t']);
                if !body.starts_with([' ', '\t', '\n']) || !body.ends_with([';', '&', '\n']) {
                    self.mark_unclear("ambiguous “{”");
                }
                let inner = self.nested_context(context, Nesting::Group);
                self.walk_sequence(node, &inner);
            }
            kind => {
                self.mark_unclear(unsupported_syntax_reason(kind));
                let inner = self.nested_context(context, Nesting::Other);
                let with_commands = true;
                self.walk_substitutions(node, &inner, with_commands);
            }
        }
    }

    /// Reads a program with its arguments, or assignments.
    fn walk_simple(&mut self, node: Node<'_>, context: &WalkContext) {
        let mut simple =
            SimpleCommand { text: self.node_text(node), span: node.byte_range(), ..empty_command(context) };
        let allows_newlines = false;
        let children = match node.kind() {
            "variable_assignment" => vec![node],
            _ => self.checked_children(node, allows_newlines),
        };
        let mut previous_end = None;
        for child in children {
            // Words without a blank between them are one word.
            if previous_end == Some(child.start_byte()) && !child.kind().ends_with("_redirect") {
                self.mark_unclear("two words without a separator");
            }
            previous_end = Some(child.end_byte());
            match child.kind() {
                "variable_assignment" if simple.words.is_empty() => {
                    let assignment = self.walk_assignment(child, context);
                    simple.assignments.push(assignment);
                }
                "file_redirect" | "herestring_redirect" | "heredoc_redirect" => {
                    let (mut redirects, mut words) = (Vec::new(), Vec::new());
                    self.walk_redirect(child, context, &mut redirects, &mut words);
                    simple.redirects.append(&mut redirects);
                    simple.words.extend(words.into_iter().map(|trailing| trailing.word));
                }
                "command_name" => {
                    let name = self.walk_word(child, context);
                    if let Some(why) = program_name_problem(&self.node_text(child), &name) {
                        self.mark_unclear(why);
                    }
                    simple.words.push(name);
                }
                _ => {
                    let word = self.walk_word(child, context);
                    simple.words.push(word);
                }
            }
        }
        self.push_command(simple);
    }

    fn walk_assignment(&mut self, node: Node<'_>, context: &WalkContext) -> (String, Word) {
        let raw = self.node_text(node);
        let with_commands = false;
        self.walk_substitutions(node, context, with_commands);
        let (name, value) = raw.split_once('=').unwrap_or((&raw, ""));
        let is_plain_name = !name.is_empty()
            && !name.starts_with(|c: char| c.is_ascii_digit())
            && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        if !is_plain_name {
            self.mark_unclear(format!("unsupported assignment to “{}”", name.escape_debug()));
        }
        let value = match word::parse_word(value) {
            // File names are not expanded after `=`.
            Ok(Word::Pattern(text)) => Word::Known(text),
            Ok(word) => word,
            Err(why) => {
                self.mark_unclear(why);
                Word::Unknown(value.to_owned())
            }
        };
        (name.to_owned(), value)
    }

    pub(super) fn walk_word(&mut self, node: Node<'_>, context: &WalkContext) -> Word {
        let with_commands = false;
        self.walk_substitutions(node, context, with_commands);
        word::parse_word(&self.node_text(node)).unwrap_or_else(|why| {
            // `<( … )` is a word that contains blanks.
            if !matches!(node.kind(), "process_substitution" | "concatenation" | "command_name")
                || !self.node_text(node).contains('(')
            {
                self.mark_unclear(why);
            }
            Word::Unknown(self.node_text(node))
        })
    }

    /// Finds the substitutions anywhere in a node and, if `with_commands` is set, the commands too.
    pub(super) fn walk_substitutions(&mut self, node: Node<'_>, context: &WalkContext, with_commands: bool) {
        let mut pending = vec![node];
        while let Some(node) = pending.pop() {
            match node.kind() {
                "command_substitution" => self.walk_substitution(node, context, Nesting::Substitution),
                "process_substitution" => self.walk_substitution(node, context, Nesting::ProcessSubstitution),
                "command" | "list" | "pipeline" | "redirected_statement" | "subshell" | "declaration_command"
                    if with_commands =>
                {
                    self.walk_statement(node, context);
                }
                _ => {
                    let first_child = pending.len();
                    pending.extend(node.children(&mut node.walk()));
                    pending[first_child..].reverse();
                }
            }
        }
    }

    fn walk_substitution(&mut self, node: Node<'_>, context: &WalkContext, construct: Nesting) {
        if context.nesting.len() > MAX_NESTING {
            return self.mark_unclear(format!("nested more than {MAX_NESTING} levels deep"));
        }
        let inner = self.nested_context(context, construct);
        self.walk_sequence(node, &inner);
    }

    pub(super) fn push_command(&mut self, simple: SimpleCommand) {
        wrapper::push_unwrapped(simple, self.depth, self.parsed_line);
    }
}

/// Creates an empty command in a context.
pub(super) fn empty_command(context: &WalkContext) -> SimpleCommand {
    SimpleCommand {
        connector: context.connector,
        is_skippable: context.is_command_skippable(),
        is_negated: context.is_negated,
        nesting: context.nesting.clone(),
        pipelines: context.pipelines.clone(),
        shells: context.shells.clone(),
        ..SimpleCommand::default()
    }
}

/// Keywords that cannot be a program name.
#[rustfmt::skip]
const RESERVED_WORDS: &[&str] = &[
    "if", "then", "else", "elif", "fi", "for", "while", "until", "do", "done", "case", "esac", "in", "select",
    "function", "coproc", "{", "}", "!", "[[", "]]",
];

/// Returns why a word may not be a program name, or may stand for another program. `None` if it is certain.
fn program_name_problem(raw: &str, name: &Word) -> Option<String> {
    let escaped = raw.escape_debug();
    match name {
        Word::Known(name) if name.is_empty() => Some("empty program name".to_owned()),
        Word::Known(_) if raw.starts_with('%') => Some(format!("shell job “{escaped}”")),
        Word::Known(_) if RESERVED_WORDS.contains(&raw) => Some(format!("keyword “{escaped}”")),
        // `A=b` would be an assignment.
        Word::Known(_) if raw.split_once('=').is_some_and(|(name, _)| !name.contains('/')) => {
            Some(format!("“{escaped}” may be an assignment or a program"))
        }
        Word::Known(_) => None,
        Word::Pattern(_) | Word::Home(_) | Word::Unknown(_) => {
            Some(format!("program “{escaped}” unknown before it runs"))
        }
    }
}

/// Returns why a syntax construct is not followed.
fn unsupported_syntax_reason(kind: &str) -> String {
    let construct = match kind {
        "function_definition" => "function definition",
        "for_statement" | "c_style_for_statement" | "while_statement" => "shell loop, not analyzed",
        "if_statement" | "case_statement" => "shell condition, not analyzed",
        "test_command" => "test in brackets",
        "compound_statement" => "shell arithmetic, not analyzed",
        _ => "unsupported shell syntax",
    };
    construct.to_owned()
}
