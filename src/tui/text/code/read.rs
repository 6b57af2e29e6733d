//! Tokenizes code in one pass without backtracking. It costs about as much as counting the characters, so it runs
//! during layout.

use super::languages::{Kind, Language, has, language};
use super::{Colours, Role};

/// Highlights code. Returns no colours for an unknown language.
pub fn colours(name: &str, code: &str) -> Colours {
    let Some(language) = language(name) else { return Colours::default() };
    let mut reader = Reader { language, words: Words::of(language), inside: Inside::Code, lines: Vec::new() };
    for line in code.split_inclusive('\n') {
        reader.line(line.trim_end_matches('\n'));
    }
    Colours { lines: reader.lines }
}

/// Construct that is open at the end of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Inside {
    Code,
    Comment,
    /// A string with this end delimiter.
    String(&'static str),
    /// A raw string of Rust that ends with a quote and this many `#`.
    Raw(usize),
    Tag,
}

/// Keywords of a language, sorted for lookup.
struct Words(Vec<(&'static str, Role)>);

impl Words {
    fn of(language: &Language) -> Self {
        let roles =
            [(language.words, Role::Keyword), (language.values, Role::Number), (language.types, Role::Type)];
        let each = |(words, role): (&'static str, Role)| {
            words.split_ascii_whitespace().map(move |word| (word, role))
        };
        let mut all: Vec<_> = roles.into_iter().flat_map(each).collect();
        all.sort_unstable_by_key(|(word, _)| *word);
        Self(all)
    }

    fn role(&self, word: &str) -> Option<Role> {
        self.0.binary_search_by_key(&word, |(word, _)| word).ok().map(|at| self.0[at].1)
    }
}

struct Reader {
    language: &'static Language,
    words: Words,
    inside: Inside,
    lines: Vec<Vec<(usize, Role)>>,
}

/// A line while it is tokenized.
struct Line<'a> {
    text: &'a str,
    at: usize,
    stretches: Vec<(usize, Role)>,
    /// Role of the previous word, if it determines the role of the next one.
    before: Option<Role>,
    /// True if the next word is a called command.
    begins: bool,
}

impl<'a> Line<'a> {
    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    /// Consumes this many bytes as one token.
    fn take(&mut self, bytes: usize, role: Role) {
        self.at += bytes;
        match self.stretches.last_mut() {
            Some((length, last)) if *last == role => *length += bytes,
            _ if bytes > 0 => self.stretches.push((bytes, role)),
            _ => {}
        }
    }

    /// Returns the number of following bytes whose characters satisfy a condition.
    fn count(&self, is: impl Fn(char) -> bool) -> usize {
        self.rest().find(|c| !is(c)).unwrap_or(self.rest().len())
    }
}

impl Reader {
    fn line(&mut self, text: &str) {
        let mut line = Line { text, at: 0, stretches: Vec::new(), before: None, begins: true };
        if self.language.kind == Kind::Lines {
            let role = first_letters(text, self.language.comments.is_empty());
            line.take(text.len(), role);
        }
        while line.at < text.len() {
            match self.inside {
                Inside::Code => self.code(&mut line),
                Inside::Comment => self.until(&mut line, self.language.block.1, Role::Comment),
                Inside::String(end) => self.string(&mut line, end),
                Inside::Raw(marks) => {
                    let end = format!("\"{}", "#".repeat(marks));
                    self.until(&mut line, &end, Role::String);
                }
                Inside::Tag => self.tag(&mut line),
            }
        }
        // Most strings end with their line, even without a delimiter.
        if let Inside::String(end) = self.inside
            && !has(self.language.long, end)
        {
            self.inside = Inside::Code;
        }
        self.lines.push(line.stretches);
    }

    /// Consumes everything up to and including an end delimiter.
    fn until(&mut self, line: &mut Line<'_>, end: &str, role: Role) {
        match line.rest().find(end) {
            Some(at) => {
                line.take(at + end.len(), role);
                self.inside = Inside::Code;
            }
            None => line.take(line.rest().len(), role),
        }
    }

    fn string(&mut self, line: &mut Line<'_>, end: &str) {
        let raw = end == "'" && self.language.kind == Kind::Shell;
        while line.at < line.text.len() {
            let rest = line.rest();
            if rest.starts_with(end) {
                line.take(end.len(), Role::String);
                self.inside = Inside::Code;
                return self.after_string(line);
            }
            let mut letters = rest.chars();
            match (letters.next(), letters.next()) {
                (Some('\\'), Some(escaped)) if !raw => line.take(1 + escaped.len_utf8(), Role::Number),
                (Some(letter), _) => line.take(letter.len_utf8(), Role::String),
                (None, _) => {}
            }
        }
    }

    /// Marks a string before a colon as a key.
    fn after_string(&self, line: &mut Line<'_>) {
        let is_key = self.language.kind == Kind::Keys && line.rest().trim_start().starts_with(':');
        if is_key && let Some((_, role)) = line.stretches.last_mut() {
            *role = Role::Type;
        }
        line.begins = false;
    }

    fn code(&mut self, line: &mut Line<'_>) {
        let language = self.language;
        let rest = line.rest();
        let Some(first) = rest.chars().next() else { return };
        if first.is_whitespace() {
            return line.take(line.count(char::is_whitespace), Role::Plain);
        }
        if !language.block.0.is_empty() && rest.starts_with(language.block.0) {
            line.take(language.block.0.len(), Role::Comment);
            self.inside = Inside::Comment;
            return;
        }
        let alone = line.at == 0 || line.text[..line.at].ends_with([' ', '\t', ';', '(']);
        let comments = language.comments.split_ascii_whitespace();
        let begins = comments.clone().any(|mark| rest.starts_with(mark));
        if begins && (alone || language.comments.len() > 1) && self.words.role(name(rest, "#")).is_none() {
            return line.take(rest.len(), Role::Comment);
        }
        if language.kind == Kind::Tags {
            return self.text(line);
        }
        if self.begins_string(line, first) {
            return;
        }
        match first {
            '0'..='9' => number(line),
            _ if is_letter(first, language.letters)
                || first == '#' && has(language.words, name(rest, "#")) =>
            {
                self.word(line);
            }
            '@' => {
                let name = name(&rest[1..], ".").len();
                line.take(1 + name, if name > 0 { Role::Function } else { Role::Punctuation });
            }
            _ => {
                line.begins = matches!(first, '|' | '&' | ';' | '(' | '{' | '`');
                line.take(first.len_utf8(), if first.is_ascii() { Role::Punctuation } else { Role::Plain });
            }
        }
    }

    /// Starts a string if there is one here.
    fn begins_string(&mut self, line: &mut Line<'_>, first: char) -> bool {
        let language = self.language;
        let rest = line.rest();
        // The prefix belongs to the string: `b"…"`, `f'…'`, `r#"…"#`.
        let letters = rest.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(rest.len());
        let letters = if letters <= 2 && language.kind == Kind::Code { letters } else { 0 };
        let is_rust = language.names.starts_with("rust");
        let marks = rest[letters..].bytes().take_while(|byte| *byte == b'#').count();
        if is_rust
            && letters > 0
            && rest[..letters].ends_with('r')
            && rest[letters + marks..].starts_with('"')
        {
            line.take(letters + marks + 1, Role::String);
            self.inside = Inside::Raw(marks);
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
                    line.take(1 + name(&rest[1..], "").len(), Role::Type);
                    return true;
                }
            };
            line.take(length, Role::String);
            return true;
        }
        let opens = |mark: &&&str| rest[letters..].starts_with(**mark);
        let marks: Vec<&'static str> = language.strings.split_ascii_whitespace().collect();
        let Some(mark) = marks.iter().find(opens) else { return false };
        line.take(letters + mark.len(), Role::String);
        self.inside = Inside::String(mark);
        self.string(line, mark);
        true
    }

    fn word(&mut self, line: &mut Line<'_>) {
        let language = self.language;
        let rest = line.rest();
        let mut length = name(rest, language.letters).len();
        if rest.starts_with('#') {
            length = name(rest, "#").len();
        }
        // A colon or stop at the end of a path or sentence is not part of it.
        length = rest[..length].trim_end_matches([':', '.']).len().max(1);
        while !rest.is_char_boundary(length) {
            length += 1;
        }
        let word = &rest[..length];
        let after = rest[length..].trim_start();
        let lower;
        let known = match language.case {
            true => word,
            false => {
                lower = word.to_ascii_lowercase();
                &lower
            }
        };
        let is_key = language.kind == Kind::Keys && after.starts_with([':', '=']) && !after.starts_with("==");
        let known = self.words.role(known);
        let role = match known {
            _ if is_key && known != Some(Role::Keyword) => Role::Type,
            Some(role) => role,
            None if word.starts_with(['$', '@', '%']) => Role::Type,
            None if line.before.is_some() => line.before.unwrap_or(Role::Plain),
            None if language.kind == Kind::Shell && line.begins && !after.starts_with('=') => Role::Function,
            None if language.kind == Kind::Shell && word.starts_with('-') => Role::Number,
            None if language.kind == Kind::Shell => Role::Plain,
            None if word.starts_with('\\') => Role::Keyword,
            None if after.starts_with('(') || is_macro(language, after) => Role::Function,
            None if is_loud(word) => Role::Number,
            None if language.large && word.starts_with(char::is_uppercase) => Role::Type,
            None => Role::Plain,
        };
        line.before = match word {
            "fn" | "def" | "func" | "function" | "fun" | "sub" | "defn" | "defun" | "proc" | "macro"
            | "rpc" => Some(Role::Function),
            "class" | "struct" | "enum" | "trait" | "interface" | "typedef" | "protocol" | "message"
                if known.is_some() =>
            {
                Some(Role::Type)
            }
            _ => None,
        };
        line.before = line.before.filter(|_| known.is_some());
        line.begins = known == Some(Role::Keyword) || language.kind == Kind::Shell && after.starts_with('=');
        line.take(length, role);
    }

    /// Consumes text between tags.
    fn text(&mut self, line: &mut Line<'_>) {
        let rest = line.rest();
        match rest.chars().next() {
            Some('<') => {
                let mark = 1 + rest[1..].bytes().take_while(|byte| b"/!?".contains(byte)).count();
                let name = name(&rest[mark..], "-:.").len();
                line.take(mark, Role::Punctuation);
                line.take(name, Role::Keyword);
                if name > 0 {
                    self.inside = Inside::Tag;
                }
            }
            Some('&') => {
                let end = rest.find(';').filter(|end| *end < 12);
                line.take(end.map_or(1, |end| end + 1), Role::Number);
            }
            _ => line.take(line.count(|c| c != '<' && c != '&'), Role::Plain),
        }
    }

    fn tag(&mut self, line: &mut Line<'_>) {
        let rest = line.rest();
        match rest.chars().next() {
            Some('>') => {
                line.take(1, Role::Punctuation);
                self.inside = Inside::Code;
            }
            Some(quote @ ('"' | '\'')) => {
                let end = rest[1..].find(quote).map_or(rest.len(), |end| end + 2);
                line.take(end, Role::String);
            }
            Some(first) if is_letter(first, "@:#*") => line.take(name(rest, "-:.@#*").len(), Role::Type),
            Some(first) if first.is_ascii_punctuation() => line.take(1, Role::Punctuation),
            Some(first) => line.take(first.len_utf8(), Role::Plain),
            None => {}
        }
    }
}

fn number(line: &mut Line<'_>) {
    let rest = line.rest();
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
    line.take(end, Role::Number);
    line.begins = false;
}

fn is_letter(c: char, also: &str) -> bool {
    c.is_alphabetic() || c == '_' || also.contains(c)
}

/// Returns the name a text starts with.
fn name<'a>(text: &'a str, also: &str) -> &'a str {
    let end = text.find(|c: char| !(c.is_alphanumeric() || c == '_' || also.contains(c)));
    &text[..end.unwrap_or(text.len())]
}

fn is_macro(language: &Language, after: &str) -> bool {
    language.names.starts_with("rust")
        && after.strip_prefix('!').is_some_and(|after| after.trim_start().starts_with(['(', '[', '{']))
}

/// Returns whether a name is written in capitals, as constants are.
fn is_loud(word: &str) -> bool {
    word.len() > 1
        && word.chars().any(|c| c.is_ascii_uppercase())
        && word.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_')
}

/// Returns the role of a line of a diff or of Markdown by its first characters.
fn first_letters(line: &str, prose: bool) -> Role {
    let begins = |marks: &[&str]| marks.iter().any(|mark| line.starts_with(mark));
    match prose {
        false if begins(&["+++", "---", "diff ", "index ", "new file", "deleted file", "rename "]) => {
            Role::Comment
        }
        false if begins(&["+", ">"]) => Role::Added,
        false if begins(&["-", "<"]) => Role::Removed,
        false if begins(&["@@"]) => Role::Type,
        true if begins(&["#", "===", "---"]) => Role::Keyword,
        true if begins(&["```", "    "]) => Role::String,
        true if begins(&[">"]) => Role::Comment,
        _ => Role::Plain,
    }
}
