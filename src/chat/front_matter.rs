//! Front matter: fields of a Markdown file between two `---` lines at its beginning, in a subset of YAML.

/// Line before and after the fields.
const FENCE: &str = "---";

/// The fields of a file; none if it has no front matter.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct FrontMatter<'a> {
    lines: &'a str,
}

/// Returns a file without a byte order mark and with `\n` at the end of its lines, as [`FrontMatter::split`] expects it.
pub fn normalize_file(content: &str) -> String {
    content.strip_prefix('\u{feff}').unwrap_or(content).replace("\r\n", "\n")
}

impl<'a> FrontMatter<'a> {
    /// Divides a file, whose lines end with `\n`, into its fields and the text after them. A file without both `---` lines has
    /// no fields.
    pub fn split(content: &'a str) -> (Self, &'a str) {
        let without = (Self::default(), content);
        let Some(rest) = content.strip_prefix(FENCE).and_then(|rest| rest.strip_prefix('\n')) else { return without };
        let mut end = 0;
        for line in rest.split_inclusive('\n') {
            if line.trim_end() == FENCE {
                return (Self { lines: &rest[..end] }, &rest[end + line.len()..]);
            }
            end += line.len();
        }
        without
    }

    /// Returns the value of a key as it is written on its line, apart from quotes around it; empty without the key. What YAML
    /// would read may differ: `[file] [line]` is a list and an error there.
    pub fn raw_value(self, key: &str) -> &'a str {
        let value = self.lines.lines().find_map(|line| value_of_line(line, key)).unwrap_or_default().trim();
        let inner = |quote: char| value.strip_prefix(quote)?.strip_suffix(quote);
        inner('"').or_else(|| inner('\'')).unwrap_or(value)
    }

    /// Returns the text of a key as YAML reads it: it may be quoted, go on in indented lines, be a block (`|`, `>`) or end with
    /// a comment. Empty without the key.
    pub fn yaml_text(self, key: &str) -> String {
        let mut lines = self.lines.lines();
        let Some(first) = lines.find_map(|line| value_of_line(line, key)) else { return String::new() };
        let first = first.trim();
        let further: Vec<&str> =
            lines.take_while(|line| line.trim().is_empty() || line.starts_with([' ', '\t'])).collect();
        match first.chars().next() {
            Some(style @ ('|' | '>')) => read_block(&further, style == '>'),
            Some(quote @ ('"' | '\'')) => {
                let parts = std::iter::once(&first[1..]).chain(further.iter().map(|line| line.trim()));
                read_quoted(&parts.collect::<Vec<_>>().join(" "), quote)
            }
            _ => {
                let parts = std::iter::once(first).chain(further.iter().map(|line| line.trim()));
                let parts: Vec<&str> = parts.map(without_comment).filter(|part| !part.is_empty()).collect();
                parts.join(" ")
            }
        }
    }
}

/// Returns the text after the colon if the line has this key.
fn value_of_line<'a>(line: &'a str, key: &str) -> Option<&'a str> {
    line.strip_prefix(key)?.trim_start().strip_prefix(':')
}

/// Returns a part of a text without quotes, up to a comment.
fn without_comment(part: &str) -> &str {
    let end = if part.starts_with('#') { Some(0) } else { part.find(" #").or_else(|| part.find("\t#")) };
    part[..end.unwrap_or(part.len())].trim_end()
}

/// Returns the text of a block. In a folded one an empty line is a line end, and any other line end is a space.
fn read_block(lines: &[&str], is_folded: bool) -> String {
    let indent_of = |line: &&str| line.len() - line.trim_start_matches([' ', '\t']).len();
    let indent = lines.iter().find(|line| !line.trim().is_empty()).map_or(0, indent_of);
    let mut text = String::new();
    for line in lines {
        let line = line.get(indent.min(indent_of(line))..).unwrap_or_default().trim_end();
        match (is_folded, line.is_empty()) {
            (true, false) if !text.is_empty() && !text.ends_with('\n') => text.push(' '),
            (true, true) | (false, _) if !text.is_empty() => text.push('\n'),
            _ => {}
        }
        text.push_str(line);
    }
    text.trim().to_owned()
}

/// Returns a text up to its closing quote.
fn read_quoted(text: &str, quote: char) -> String {
    let mut read = String::new();
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\'' if quote == '\'' && chars.next_if_eq(&'\'').is_some() => read.push('\''),
            _ if c == quote => break,
            '\\' if quote == '"' => match chars.next() {
                Some('n') => read.push('\n'),
                Some('t') => read.push('\t'),
                Some(escaped) => read.push(escaped),
                None => {}
            },
            _ => read.push(c),
        }
    }
    read
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn text(yaml: &str) -> String {
        let content = format!("---\n{yaml}\n---\nBody\n");
        let (fields, body) = FrontMatter::split(&content);
        assert_eq!(body, "Body\n");
        fields.yaml_text("description")
    }

    #[test]
    fn both_fences_are_needed() {
        for content in ["Body", "---\na: b\nBody", " ---\na: b\n---\nBody", "----\na: b\n---\n", "---a: b\n---\n", ""] {
            assert_eq!(FrontMatter::split(content), (FrontMatter::default(), content));
        }
        let (fields, body) = FrontMatter::split("---\na: b\nab: c\n---  \n---\nBody");
        assert_eq!(
            (fields.raw_value("a"), fields.raw_value("ab"), fields.raw_value("b"), body),
            ("b", "c", "", "---\nBody")
        );
        assert_eq!(FrontMatter::split("---\n---\nBody").1, "Body");
    }

    #[test]
    fn yaml_texts_are_read_in_all_their_styles() {
        for (yaml, expected) in [
            ("description: Fill forms. # not this", "Fill forms."),
            ("description : C# and #1", "C# and"),
            ("description: \"Fill: \\\"forms\\\" # all\" # not this", "Fill: \"forms\" # all"),
            ("description: 'it''s # one'", "it's # one"),
            ("description: Fill\n  forms,\n\n  all of them\nname: x", "Fill forms, all of them"),
            ("description: \"Fill\n  forms\"\nname: x", "Fill forms"),
            ("description: >-\n  Fill\n  forms.\n\n  Also others.\nname: x", "Fill forms.\nAlso others."),
            ("description: |\n    Fill\n      forms.\nname: x", "Fill\n  forms."),
            ("description:\n  Fill forms", "Fill forms"),
            ("description: >", ""),
            ("description: \"", ""),
            ("description: \"open", "open"),
            ("descriptions: x", ""),
            ("metadata:\n  description: x", ""),
            ("description: first\ndescription: second", "first"),
            ("description: |\n  é\n ü", "é\nü"),
        ] {
            assert_eq!(text(yaml), expected, "{yaml}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_read(content in "[-a:|>\"'\\\\# \té\n]{0,80}") {
            let content = format!("---\na: {content}\n---\n");
            let (fields, _) = FrontMatter::split(&content);
            let _ = (fields.yaml_text("a"), fields.raw_value("a"));
        }
    }
}
