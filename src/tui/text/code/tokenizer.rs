//! Tokenizes code in one pass without backtracking. This costs about as much as counting the characters, so it is fast
//! enough to run during layout.

use super::languages::{Kind, Language, find_language, has_word};
use super::syntax_role::{Highlighting, SyntaxRole};
use super::word_roles::{KeywordTable, WordContext, classify_word};

/// Highlights code. `name` is the info string of a fence or a path; returns no lines for an unknown language.
pub fn highlight(name: &str, code: &str) -> Highlighting {
    let Some(language) = find_language(name) else { return Highlighting::default() };
    let mut tokenizer = Tokenizer {
        language,
        keywords: KeywordTable::from_language(language),
        open_construct: OpenConstruct::Code,
        lines: Vec::new(),
    };
    for line in code.split_inclusive('\n') {
        tokenizer.read_line(line.trim_end_matches('\n'));
    }
    Highlighting { lines: tokenizer.lines }
}

/// Construct that is open at the end of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum OpenConstruct {
    /// Nothing is open.
    Code,
    Comment,
    /// A string with this end delimiter.
    String(&'static str),
    /// A raw string of Rust that ends with a quote and this many `#`.
    Raw(usize),
    Tag,
}

struct Tokenizer {
    language: &'static Language,
    keywords: KeywordTable,
    open_construct: OpenConstruct,
    /// Tokens of each line: length in bytes, and role.
    lines: Vec<Vec<(usize, SyntaxRole)>>,
}

/// A line while it is tokenized.
struct TokenizedLine<'a> {
    text: &'a str,
    /// Offset of the text that is not tokenized yet.
    position: usize,
    /// Length in bytes, and role.
    tokens: Vec<(usize, SyntaxRole)>,
    context: WordContext,
}

impl<'a> TokenizedLine<'a> {
    fn remaining_text(&self) -> &'a str {
        &self.text[self.position..]
    }

    /// Consumes this many bytes as one token.
    fn push_token(&mut self, bytes: usize, role: SyntaxRole) {
        self.position += bytes;
        match self.tokens.last_mut() {
            Some((length, last_role)) if *last_role == role => *length += bytes,
            _ if bytes > 0 => self.tokens.push((bytes, role)),
            _ => {}
        }
    }

    /// Returns the number of following bytes whose characters satisfy a condition.
    fn count_matching(&self, predicate: impl Fn(char) -> bool) -> usize {
        self.remaining_text().find(|c| !predicate(c)).unwrap_or(self.remaining_text().len())
    }
}

impl Tokenizer {
    fn read_line(&mut self, text: &str) {
        let context = WordContext { expected_role: None, expects_command: true, is_assignment: false };
        let mut line = TokenizedLine { text, position: 0, tokens: Vec::new(), context };
        if self.language.kind == Kind::Lines {
            // Of the two languages of this kind, Markdown and diffs, only Markdown has no line comments.
            let is_markdown = self.language.line_comments.is_empty();
            let role = line_role(text, is_markdown);
            line.push_token(text.len(), role);
        }
        while line.position < text.len() {
            match self.open_construct {
                OpenConstruct::Code => self.read_code(&mut line),
                OpenConstruct::Comment => {
                    self.read_until(&mut line, self.language.block_comment.1, SyntaxRole::Comment)
                }
                OpenConstruct::String(end) => self.read_string(&mut line, end),
                OpenConstruct::Raw(marks) => {
                    let end = format!("\"{}", "#".repeat(marks));
                    self.read_until(&mut line, &end, SyntaxRole::String);
                }
                OpenConstruct::Tag => self.read_tag(&mut line),
            }
        }
        // Most strings end with their line, even without a delimiter.
        if let OpenConstruct::String(end) = self.open_construct
            && !matches!(end, "\"\"\"" | "'''" | "`")
            && !has_word(self.language.multiline_strings, end)
        {
            self.open_construct = OpenConstruct::Code;
        }
        self.lines.push(line.tokens);
    }

    /// Consumes everything up to and including an end delimiter.
    fn read_until(&mut self, line: &mut TokenizedLine<'_>, end: &str, role: SyntaxRole) {
        match line.remaining_text().find(end) {
            Some(start) => {
                line.push_token(start + end.len(), role);
                self.open_construct = OpenConstruct::Code;
            }
            None => line.push_token(line.remaining_text().len(), role),
        }
    }

    fn read_string(&mut self, line: &mut TokenizedLine<'_>, end: &str) {
        let is_raw = end == "'" && self.language.kind == Kind::Shell;
        while line.position < line.text.len() {
            let rest = line.remaining_text();
            if rest.starts_with(end) {
                line.push_token(end.len(), SyntaxRole::String);
                self.open_construct = OpenConstruct::Code;
                return self.finish_string(line);
            }
            let mut chars = rest.chars();
            match (chars.next(), chars.next()) {
                (Some('\\'), Some(escaped)) if !is_raw => line.push_token(1 + escaped.len_utf8(), SyntaxRole::Number),
                (Some(c), _) => line.push_token(c.len_utf8(), SyntaxRole::String),
                (None, _) => {}
            }
        }
    }

    /// Called at the end of a string: in a language with keys, a string before a colon is a key. In a shell, the word
    /// after a string is no command.
    fn finish_string(&self, line: &mut TokenizedLine<'_>) {
        let is_key = self.language.kind == Kind::Keys && line.remaining_text().trim_start().starts_with(':');
        if is_key && let Some((_, role)) = line.tokens.last_mut() {
            *role = SyntaxRole::Type;
        }
        line.context.expects_command = false;
    }

    fn read_code(&mut self, line: &mut TokenizedLine<'_>) {
        let language = self.language;
        let rest = line.remaining_text();
        let Some(first) = rest.chars().next() else { return };
        if first.is_whitespace() {
            line.context.expects_command |= std::mem::take(&mut line.context.is_assignment);
            return line.push_token(line.count_matching(char::is_whitespace), SyntaxRole::Plain);
        }
        if !language.block_comment.0.is_empty() && rest.starts_with(language.block_comment.0) {
            line.push_token(language.block_comment.0.len(), SyntaxRole::Comment);
            self.open_construct = OpenConstruct::Comment;
            return;
        }
        // A comment mark of one character, such as `#`, starts a comment only at the start of a word.
        let is_word_start = line.position == 0 || line.text[..line.position].ends_with([' ', '\t', ';', '(']);
        let mut comment_marks = language.line_comments.split_ascii_whitespace();
        let starts_comment = |mark: &str| rest.starts_with(mark) && (is_word_start || mark.len() > 1);
        if comment_marks.any(starts_comment) && self.keywords.find_role(leading_name(rest, "#")).is_none() {
            return line.push_token(rest.len(), SyntaxRole::Comment);
        }
        if language.kind == Kind::Tags {
            return self.read_text(line);
        }
        if self.start_string(line, first) {
            return;
        }
        match first {
            '0'..='9' => read_number(line),
            // `#include` and the other directives of C are keywords that start with `#`.
            _ if is_name_character(first, language.name_characters)
                || first == '#' && has_word(language.keywords, leading_name(rest, "#")) =>
            {
                self.read_word(line);
            }
            '@' => {
                let name_length = leading_name(&rest[1..], ".").len();
                line.push_token(
                    1 + name_length,
                    if name_length > 0 { SyntaxRole::Function } else { SyntaxRole::Punctuation },
                );
            }
            _ => {
                line.context.expects_command = matches!(first, '|' | '&' | ';' | '(' | '{' | '`');
                line.context.is_assignment &= !line.context.expects_command;
                line.push_token(
                    first.len_utf8(),
                    if first.is_ascii() { SyntaxRole::Punctuation } else { SyntaxRole::Plain },
                );
            }
        }
    }

    /// Consumes a string that starts here. Returns false if none does.
    fn start_string(&mut self, line: &mut TokenizedLine<'_>, first: char) -> bool {
        let language = self.language;
        let rest = line.remaining_text();
        // The prefix belongs to the string: `b"…"`, `f'…'`, `r#"…"#`.
        let prefix_length = rest.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(rest.len());
        let prefix_length = if prefix_length <= 2 && language.kind == Kind::Code { prefix_length } else { 0 };
        let is_rust = language.names.starts_with("rust");
        let hash_count = rest[prefix_length..].bytes().take_while(|byte| *byte == b'#').count();
        if is_rust
            && prefix_length > 0
            && rest[..prefix_length].ends_with('r')
            && rest[prefix_length + hash_count..].starts_with('"')
        {
            line.push_token(prefix_length + hash_count + 1, SyntaxRole::String);
            self.open_construct = OpenConstruct::Raw(hash_count);
            return true;
        }
        if is_rust && first == '\'' {
            // A character literal or a lifetime.
            let mut chars = rest[1..].chars();
            let (first_char, second_char) = (chars.next(), chars.next());
            let length = match (first_char, second_char) {
                (Some('\\'), Some(escaped)) => {
                    let escape_end = 2 + escaped.len_utf8();
                    rest[escape_end..].find('\'').map_or(rest.len(), |end| escape_end + end + 1)
                }
                (Some(c), Some('\'')) => c.len_utf8() + 2,
                _ => {
                    line.push_token(1 + leading_name(&rest[1..], "").len(), SyntaxRole::Type);
                    return true;
                }
            };
            line.push_token(length, SyntaxRole::String);
            return true;
        }
        let opens_string = |delimiter: &&&str| rest[prefix_length..].starts_with(**delimiter);
        let delimiters: Vec<&'static str> = language.strings.split_ascii_whitespace().collect();
        let Some(delimiter) = delimiters.iter().find(opens_string) else { return false };
        line.push_token(prefix_length + delimiter.len(), SyntaxRole::String);
        self.open_construct = OpenConstruct::String(delimiter);
        self.read_string(line, delimiter);
        true
    }

    fn read_word(&mut self, line: &mut TokenizedLine<'_>) {
        let language = self.language;
        let rest = line.remaining_text();
        let mut length = leading_name(rest, language.name_characters).len();
        if rest.starts_with('#') {
            length = leading_name(rest, "#").len();
        }
        // A colon or full stop after a path or a sentence is not part of the word, unless the word has nothing else: at
        // least one character must be consumed.
        length = rest.ceil_char_boundary(rest[..length].trim_end_matches([':', '.']).len().max(1));
        let word = &rest[..length];
        let following_text = rest[length..].trim_start();
        let (role, next_context) = classify_word(language, &self.keywords, word, following_text, line.context);
        line.context = next_context;
        line.push_token(length, role);
    }

    /// Consumes text between tags.
    fn read_text(&mut self, line: &mut TokenizedLine<'_>) {
        let rest = line.remaining_text();
        match rest.chars().next() {
            Some('<') => {
                let mark_length = 1 + rest[1..].bytes().take_while(|byte| b"/!?".contains(byte)).count();
                let name_length = leading_name(&rest[mark_length..], "-:.").len();
                line.push_token(mark_length, SyntaxRole::Punctuation);
                line.push_token(name_length, SyntaxRole::Keyword);
                if name_length > 0 {
                    self.open_construct = OpenConstruct::Tag;
                }
            }
            Some('&') => {
                // An entity such as `&amp;` is short. A semicolon farther away does not end one.
                let end = rest.find(';').filter(|end| *end < 12);
                line.push_token(end.map_or(1, |end| end + 1), SyntaxRole::Number);
            }
            _ => line.push_token(line.count_matching(|c| c != '<' && c != '&'), SyntaxRole::Plain),
        }
    }

    fn read_tag(&mut self, line: &mut TokenizedLine<'_>) {
        let rest = line.remaining_text();
        match rest.chars().next() {
            Some('>') => {
                line.push_token(1, SyntaxRole::Punctuation);
                self.open_construct = OpenConstruct::Code;
            }
            Some(quote @ ('"' | '\'')) => {
                let end = rest[1..].find(quote).map_or(rest.len(), |end| end + 2);
                line.push_token(end, SyntaxRole::String);
            }
            Some(first) if is_name_character(first, "@:#*") => {
                line.push_token(leading_name(rest, "-:.@#*").len(), SyntaxRole::Type)
            }
            Some(first) if first.is_ascii_punctuation() => line.push_token(1, SyntaxRole::Punctuation),
            Some(first) => line.push_token(first.len_utf8(), SyntaxRole::Plain),
            None => {}
        }
    }
}

fn read_number(line: &mut TokenizedLine<'_>) {
    let rest = line.remaining_text();
    let mut previous_char = ' ';
    let mut chars = rest.char_indices().peekable();
    let mut end = rest.len();
    while let Some((index, c)) = chars.next() {
        let next_char = chars.peek().map_or(' ', |(_, next_char)| *next_char);
        let is_part_of_number = c.is_ascii_alphanumeric()
            || c == '_'
            || (c == '.' && next_char.is_ascii_digit())
            || (matches!(c, '+' | '-') && matches!(previous_char, 'e' | 'E') && next_char.is_ascii_digit());
        if !is_part_of_number {
            end = index;
            break;
        }
        previous_char = c;
    }
    line.push_token(end, SyntaxRole::Number);
    line.context.expects_command = false;
}

fn is_name_character(c: char, extra_characters: &str) -> bool {
    c.is_alphabetic() || c == '_' || extra_characters.contains(c)
}

/// Returns the name a text starts with.
fn leading_name<'a>(text: &'a str, extra_characters: &str) -> &'a str {
    let end = text.find(|c: char| !(c.is_alphanumeric() || c == '_' || extra_characters.contains(c)));
    &text[..end.unwrap_or(text.len())]
}

/// Returns the role of a line of a diff or of Markdown by its first characters.
fn line_role(line: &str, is_markdown: bool) -> SyntaxRole {
    let starts_with_any = |marks: &[&str]| marks.iter().any(|mark| line.starts_with(mark));
    match is_markdown {
        false if starts_with_any(&["+++", "---", "diff ", "index ", "new file", "deleted file", "rename "]) => {
            SyntaxRole::Comment
        }
        false if starts_with_any(&["+", ">"]) => SyntaxRole::Added,
        false if starts_with_any(&["-", "<"]) => SyntaxRole::Removed,
        false if starts_with_any(&["@@"]) => SyntaxRole::Type,
        true if starts_with_any(&["#", "===", "---"]) => SyntaxRole::Keyword,
        true if starts_with_any(&["```", "    "]) => SyntaxRole::String,
        true if starts_with_any(&[">"]) => SyntaxRole::Comment,
        _ => SyntaxRole::Plain,
    }
}
