//! JSON with one value per line, without parsing it into values: numbers, repeated keys and the order stay as they are.

/// Columns of one level.
const INDENT: usize = 2;
/// Maximum level that is indented, so that deep nesting does not multiply the text. `serde_json` reads no more levels into
/// a value.
const MAX_INDENTED_LEVEL: usize = 128;
/// Maximum bytes of an object or array without nested ones that stays on one line.
const MAX_LINE_BYTES: usize = 60;

/// Indents valid JSON, or the beginning of it. Stops after `max_lines` lines. Returns the text, and how many bytes of the
/// source it has.
pub fn indent_json(source: &str, max_lines: usize) -> (String, usize) {
    let mut indented = IndentedJson { text: String::with_capacity(source.len() * 2), level: 0, line_count: 1 };
    let mut position = 0;
    while position < source.len() && indented.line_count <= max_lines {
        let rest = &source[position..];
        let length = token_length(rest);
        let token = &rest[..length];
        // These begin a line.
        if matches!(token, "}" | "]") && indented.line_count >= max_lines {
            break;
        }
        let flat = if matches!(token, "{" | "[") { flat_container(rest) } else { None };
        position += flat.unwrap_or(length);
        match (token, flat) {
            (_, Some(length)) => indented.push_flat(&rest[..length]),
            ("{" | "[", None) => {
                indented.text.push_str(token);
                indented.level += 1;
                indented.break_line();
            }
            ("}" | "]", None) => {
                indented.level = indented.level.saturating_sub(1);
                indented.break_line();
                indented.text.push_str(token);
            }
            (",", None) => {
                indented.text.push(',');
                indented.break_line();
            }
            (":", None) => indented.text.push_str(": "),
            (token, None) if token.trim_ascii().is_empty() => {}
            (token, None) => indented.text.push_str(token),
        }
    }
    // What the limit cut off begins on a line of its own.
    indented.text.truncate(indented.text.trim_end().len());
    (indented.text, position)
}

struct IndentedJson {
    text: String,
    level: usize,
    line_count: usize,
}

impl IndentedJson {
    fn break_line(&mut self) {
        self.line_count += 1;
        self.text.push('\n');
        self.text.extend(std::iter::repeat_n(' ', INDENT * self.level.min(MAX_INDENTED_LEVEL)));
    }

    /// Appends an object or array on one line.
    fn push_flat(&mut self, source: &str) {
        let mut position = 0;
        while position < source.len() {
            let token = &source[position..position + token_length(&source[position..])];
            position += token.len();
            match token {
                "," => self.text.push_str(", "),
                ":" => self.text.push_str(": "),
                token if token.trim_ascii().is_empty() => {}
                token => self.text.push_str(token),
            }
        }
    }
}

/// Returns the bytes of the object or array at the start of a text, if it is short and contains no other one.
fn flat_container(source: &str) -> Option<usize> {
    let mut end = 1;
    while end <= MAX_LINE_BYTES && end < source.len() {
        let rest = &source[end..];
        let length = token_length(rest);
        match &rest[..length] {
            "}" | "]" if end < MAX_LINE_BYTES => return Some(end + length),
            "{" | "[" => return None,
            _ => end += length,
        }
    }
    None
}

/// Returns the bytes of the first token: a punctuation mark, a string, a run of blanks, or a number or word.
fn token_length(source: &str) -> usize {
    let bytes = source.as_bytes();
    match bytes.first() {
        None => 0,
        Some(b'{' | b'}' | b'[' | b']' | b',' | b':') => 1,
        Some(b'"') => {
            let mut is_escaped = false;
            let end = bytes.iter().skip(1).position(|byte| {
                let is_end = *byte == b'"' && !is_escaped;
                is_escaped = *byte == b'\\' && !is_escaped;
                is_end
            });
            end.map_or(bytes.len(), |end| end + 2)
        }
        Some(first) => {
            let is_blank = first.is_ascii_whitespace();
            let is_same = |byte: &u8| byte.is_ascii_whitespace() == is_blank && !b"{}[],:\"".contains(byte);
            bytes.iter().position(|byte| !is_same(byte)).unwrap_or(bytes.len())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::Value;

    #[test]
    fn short_containers_stay_on_one_line() {
        let source = r#"{"a":[1,2, 3.00],"text":"x, {y}: \"[","empty":{ },"deep":[{"b":[]}],"a":1e400}"#;
        let expected = r#"{
  "a": [1, 2, 3.00],
  "text": "x, {y}: \"[",
  "empty": {},
  "deep": [
    {
      "b": []
    }
  ],
  "a": 1e400
}"#;
        assert_eq!(indent_json(source, 100), (expected.to_owned(), source.len()));
        assert_eq!(indent_json("", 100), (String::new(), 0));
        assert_eq!(indent_json(" [1]\n", 100), ("[1]".to_owned(), 5));
    }

    #[test]
    fn a_long_text_is_cut_after_a_whole_line() {
        let source = r#"[{"a":[[]]},{"b":[[]]}]"#;
        let (text, length) = indent_json(source, 3);
        assert_eq!((text.as_str(), &source[length..]), ("[\n  {\n    \"a\": [", r#"[]]},{"b":[[]]}]"#));
        for max_lines in 1..=13 {
            assert_eq!(indent_json(source, max_lines).0.lines().count(), max_lines.min(12));
        }
    }

    #[test]
    fn deep_nesting_does_not_multiply_the_text() {
        let source = "[".repeat(20_000);
        let (text, length) = indent_json(&source, usize::MAX);
        assert_eq!(length, source.len());
        assert!(text.len() < source.len() * (MAX_INDENTED_LEVEL + 1) * INDENT, "{}", text.len());
    }

    #[test]
    fn each_level_of_a_value_is_indented() {
        let source = format!("{}1{}", "[".repeat(127), "]".repeat(127));
        assert!(serde_json::from_str::<Value>(&source).is_ok());
        let (text, _) = indent_json(&source, usize::MAX);
        let levels = text.lines().take(127).map(|line| (line.len() - line.trim_start().len()) / INDENT);
        assert_eq!(levels.collect::<Vec<_>>(), (0..127).collect::<Vec<_>>());
        assert!(text.contains(&format!("\n{}[1]\n", " ".repeat(126 * INDENT))));
    }

    proptest! {
        #[test]
        fn indenting_changes_only_blanks(source in "[\\[\\]{},:\" \n\\\\a1é]{0,40}", max_lines in 0..8_usize) {
            let (text, length) = indent_json(&source, max_lines);
            prop_assert!(source.is_char_boundary(length));
            let visible = |text: &str| text.split_whitespace().collect::<String>();
            prop_assert_eq!(visible(&text), visible(&source[..length]));
            if let Ok(value) = serde_json::from_str::<Value>(&source) {
                let whole = indent_json(&source, usize::MAX).0;
                prop_assert_eq!(serde_json::from_str::<Value>(&whole).ok(), Some(value));
            }
        }
    }
}
