//! Tokenizes code in one pass without backtracking. It costs about as much as counting the characters, so it runs
//! during layout.

use super::languages::{Kind, Language, find_language, has_word};
use super::syntax_role::{Highlighting, SyntaxRole};
use super::word_roles::{KeywordTable, WordContext, classify_word};

/// Highlights code. Returns no colours for an unknown language.
pub fn highlight(name: &str, code: &str) -> Highlighting {
    let Some(language) = find_language(name) else { return Highlighting::default() };
    let mut reader = Tokenizer {
        language,
        words: KeywordTable::from_language(language),
        inside: OpenConstruct::Code,
        lines: Vec::new(),
    };
    for line in code.split_inclusive('\n') {
        reader.read_line(line.trim_end_matches('\n'));
    }
    Highlighting { lines: reader.lines }
}

/// Construct that is open at the end of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum OpenConstruct {
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
    words: KeywordTable,
    inside: OpenConstruct,
    lines: Vec<Vec<(usize, SyntaxRole)>>,
}

/// A line while it is tokenized.
struct TokenizedLine<'a> {
    text: &'a str,
    position: usize,
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
            Some((length, last)) if *last == role => *length += bytes,
            _ if bytes > 0 => self.tokens.push((bytes, role)),
            _ => {}
        }
    }

    /// Returns the number of following bytes whose characters satisfy a condition.
    fn count_matching(&self, is: impl Fn(char) -> bool) -> usize {
        self.remaining_text().find(|c| !is(c)).unwrap_or(self.remaining_text().len())
    }
}

impl Tokenizer {
    fn read_line(&mut self, text: &str) {
        let context = WordContext { previous_role: None, expects_command: true };
        let mut line = TokenizedLine { text, position: 0, tokens: Vec::new(), context };
        if self.language.kind == Kind::Lines {
            let role = line_role(text, self.language.line_comments.is_empty());
            line.push_token(text.len(), role);
        }
        while line.position < text.len() {
            match self.inside {
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
        if let OpenConstruct::String(end) = self.inside
            && !has_word(self.language.multiline_strings, end)
        {
            self.inside = OpenConstruct::Code;
        }
        self.lines.push(line.tokens);
    }

    /// Consumes everything up to and including an end delimiter.
    fn read_until(&mut self, line: &mut TokenizedLine<'_>, end: &str, role: SyntaxRole) {
        match line.remaining_text().find(end) {
            Some(at) => {
                line.push_token(at + end.len(), role);
                self.inside = OpenConstruct::Code;
            }
            None => line.push_token(line.remaining_text().len(), role),
        }
    }

    fn read_string(&mut self, line: &mut TokenizedLine<'_>, end: &str) {
        let raw = end == "'" && self.language.kind == Kind::Shell;
        while line.position < line.text.len() {
            let rest = line.remaining_text();
            if rest.starts_with(end) {
                line.push_token(end.len(), SyntaxRole::String);
                self.inside = OpenConstruct::Code;
                return self.mark_key(line);
            }
            let mut letters = rest.chars();
            match (letters.next(), letters.next()) {
                (Some('\\'), Some(escaped)) if !raw => line.push_token(1 + escaped.len_utf8(), SyntaxRole::Number),
                (Some(letter), _) => line.push_token(letter.len_utf8(), SyntaxRole::String),
                (None, _) => {}
            }
        }
    }

    /// Marks a string before a colon as a key.
    fn mark_key(&self, line: &mut TokenizedLine<'_>) {
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
            return line.push_token(line.count_matching(char::is_whitespace), SyntaxRole::Plain);
        }
        if !language.block_comment.0.is_empty() && rest.starts_with(language.block_comment.0) {
            line.push_token(language.block_comment.0.len(), SyntaxRole::Comment);
            self.inside = OpenConstruct::Comment;
            return;
        }
        let alone = line.position == 0 || line.text[..line.position].ends_with([' ', '\t', ';', '(']);
        let comments = language.line_comments.split_ascii_whitespace();
        let begins = comments.clone().any(|mark| rest.starts_with(mark));
        if begins
            && (alone || language.line_comments.len() > 1)
            && self.words.find_role(leading_name(rest, "#")).is_none()
        {
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
            _ if is_name_character(first, language.name_characters)
                || first == '#' && has_word(language.keywords, leading_name(rest, "#")) =>
            {
                self.read_word(line);
            }
            '@' => {
                let name = leading_name(&rest[1..], ".").len();
                line.push_token(1 + name, if name > 0 { SyntaxRole::Function } else { SyntaxRole::Punctuation });
            }
            _ => {
                line.context.expects_command = matches!(first, '|' | '&' | ';' | '(' | '{' | '`');
                line.push_token(
                    first.len_utf8(),
                    if first.is_ascii() { SyntaxRole::Punctuation } else { SyntaxRole::Plain },
                );
            }
        }
    }

    /// Starts a string if there is one here.
    fn start_string(&mut self, line: &mut TokenizedLine<'_>, first: char) -> bool {
        let language = self.language;
        let rest = line.remaining_text();
        // The prefix belongs to the string: `b"…"`, `f'…'`, `r#"…"#`.
        let letters = rest.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(rest.len());
        let letters = if letters <= 2 && language.kind == Kind::Code { letters } else { 0 };
        let is_rust = language.names.starts_with("rust");
        let marks = rest[letters..].bytes().take_while(|byte| *byte == b'#').count();
        if is_rust && letters > 0 && rest[..letters].ends_with('r') && rest[letters + marks..].starts_with('"') {
            line.push_token(letters + marks + 1, SyntaxRole::String);
            self.inside = OpenConstruct::Raw(marks);
            return true;
        }
        if is_rust && first == '\'' {
            // A character literal, or the name of a lifetime.
            let mut letters = rest[1..].chars();
            let (one, two) = (letters.next(), letters.next());
            let length = match (one, two) {
                (Some('\\'), _) => rest[2..].find('\'').map_or(rest.len(), |end| end + 3),
                (Some(one), Some('\'')) => one.len_utf8() + 2,
                _ => {
                    line.push_token(1 + leading_name(&rest[1..], "").len(), SyntaxRole::Type);
                    return true;
                }
            };
            line.push_token(length, SyntaxRole::String);
            return true;
        }
        let opens = |mark: &&&str| rest[letters..].starts_with(**mark);
        let marks: Vec<&'static str> = language.strings.split_ascii_whitespace().collect();
        let Some(mark) = marks.iter().find(opens) else { return false };
        line.push_token(letters + mark.len(), SyntaxRole::String);
        self.inside = OpenConstruct::String(mark);
        self.read_string(line, mark);
        true
    }

    fn read_word(&mut self, line: &mut TokenizedLine<'_>) {
        let language = self.language;
        let rest = line.remaining_text();
        let mut length = leading_name(rest, language.name_characters).len();
        if rest.starts_with('#') {
            length = leading_name(rest, "#").len();
        }
        // A colon or stop at the end of a path or sentence is not part of it.
        length = rest[..length].trim_end_matches([':', '.']).len().max(1);
        while !rest.is_char_boundary(length) {
            length += 1;
        }
        let word = &rest[..length];
        let after = rest[length..].trim_start();
        let (role, next) = classify_word(language, &self.words, word, after, line.context);
        line.context = next;
        line.push_token(length, role);
    }

    /// Consumes text between tags.
    fn read_text(&mut self, line: &mut TokenizedLine<'_>) {
        let rest = line.remaining_text();
        match rest.chars().next() {
            Some('<') => {
                let mark = 1 + rest[1..].bytes().take_while(|byte| b"/!?".contains(byte)).count();
                let name = leading_name(&rest[mark..], "-:.").len();
                line.push_token(mark, SyntaxRole::Punctuation);
                line.push_token(name, SyntaxRole::Keyword);
                if name > 0 {
                    self.inside = OpenConstruct::Tag;
                }
            }
            Some('&') => {
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
                self.inside = OpenConstruct::Code;
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
    let mut last = ' ';
    let mut letters = rest.char_indices().peekable();
    let mut end = rest.len();
    while let Some((at, c)) = letters.next() {
        let next = letters.peek().map_or(' ', |(_, next)| *next);
        let goes_on = c.is_ascii_alphanumeric()
            || c == '_'
            || (c == '.' && next.is_ascii_digit())
            || (matches!(c, '+' | '-') && matches!(last, 'e' | 'E') && next.is_ascii_digit());
        if !goes_on {
            end = at;
            break;
        }
        last = c;
    }
    line.push_token(end, SyntaxRole::Number);
    line.context.expects_command = false;
}

fn is_name_character(c: char, also: &str) -> bool {
    c.is_alphabetic() || c == '_' || also.contains(c)
}

/// Returns the name a text starts with.
fn leading_name<'a>(text: &'a str, also: &str) -> &'a str {
    let end = text.find(|c: char| !(c.is_alphanumeric() || c == '_' || also.contains(c)));
    &text[..end.unwrap_or(text.len())]
}

/// Returns the role of a line of a diff or of Markdown by its first characters.
fn line_role(line: &str, prose: bool) -> SyntaxRole {
    let begins = |marks: &[&str]| marks.iter().any(|mark| line.starts_with(mark));
    match prose {
        false if begins(&["+++", "---", "diff ", "index ", "new file", "deleted file", "rename "]) => {
            SyntaxRole::Comment
        }
        false if begins(&["+", ">"]) => SyntaxRole::Added,
        false if begins(&["-", "<"]) => SyntaxRole::Removed,
        false if begins(&["@@"]) => SyntaxRole::Type,
        true if begins(&["#", "===", "---"]) => SyntaxRole::Keyword,
        true if begins(&["```", "    "]) => SyntaxRole::String,
        true if begins(&[">"]) => SyntaxRole::Comment,
        _ => SyntaxRole::Plain,
    }
}
