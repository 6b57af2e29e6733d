//! Tells Markdown from plain text, such as a drawing or a listing, whose lines and blanks must stay as they are.

use super::nesting_limit::bound_nesting;
use super::parser_options;
use pulldown_cmark::{CodeBlockKind, Event, LinkType, Parser, Tag};
use std::ops::Range;

/// Returns whether a text has Markdown that its author surely meant: a fence, a heading, a list, emphasis, a link, or a
/// table with a delimiter row. What drawings, diffs and code have too does not count, such as underlined lines or
/// `__name__`.
pub fn has_markup(text: &str) -> bool {
    let bounded = bound_nesting(text);
    let source = &*bounded.text;
    // The removed lines of a diff look like items of a list.
    let has_added_lines = source.lines().any(|line| line.starts_with("+ "));
    Parser::new_ext(source, parser_options()).into_offset_iter().any(|(event, range)| match event {
        Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(_))) => is_fence(&source[range]),
        Event::Start(Tag::Heading { .. }) => source[range].trim_start().starts_with('#'),
        Event::Start(Tag::Item) => !has_added_lines && is_list_item(&source[range]),
        Event::Start(Tag::Emphasis) => is_emphasis(source, range, 1),
        Event::Start(Tag::Strong) => !source[range.clone()].starts_with('_') && is_emphasis(source, range, 2),
        Event::Start(Tag::Link { link_type, dest_url, .. } | Tag::Image { link_type, dest_url, .. }) => {
            match link_type {
                LinkType::Autolink | LinkType::Email => false,
                // Code has `handlers[i](event)`.
                _ => dest_url.contains(['/', '.', '#', ':']),
            }
        }
        Event::Start(Tag::Table(_)) => true,
        _ => false,
    })
}

/// Returns the text with every single line break as one that Markdown keeps, except in code.
pub fn harden_breaks(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 64);
    let mut copied = 0;
    for (event, range) in Parser::new_ext(text, parser_options()).into_offset_iter() {
        if event == Event::SoftBreak && range.start >= copied {
            out.push_str(&text[copied..range.start]);
            out.push_str("  ");
            copied = range.start;
        }
    }
    out.push_str(&text[copied..]);
    out
}

/// Returns whether the fence of a block is one: a drawing can have a row of `~`.
fn is_fence(block: &str) -> bool {
    !block.trim_start().starts_with("~~~~")
}

/// Returns whether an item of a list has a bullet or number with text after it. A drawing can have blanks or other marks.
fn is_list_item(item: &str) -> bool {
    let text = item.trim_start().trim_start_matches(|c: char| c.is_ascii_digit());
    let Some(text) = text.strip_prefix(['-', '*', '.', ')']) else { return false };
    let content = text.trim_start_matches(' ');
    text.len() - content.len() <= 3
        && content.starts_with(|c: char| c.is_alphanumeric() || matches!(c, '[' | '`' | '*' | '_' | '"' | '(' | '$'))
}

/// Returns whether emphasis is around words, and not inside of one such as `2*3*4`. `delimiter` is the length of its
/// marks.
fn is_emphasis(source: &str, range: Range<usize>, delimiter: usize) -> bool {
    let ends_word = |c: char| c.is_alphanumeric() || matches!(c, '.' | ',' | ':' | '!' | '?' | ')' | '"' | '`');
    let starts_word = |c: char| c.is_alphanumeric() || matches!(c, '(' | '"' | '`');
    let text = source.get(range.start + delimiter..range.end - delimiter).unwrap_or_default();
    text.starts_with(starts_word)
        && text.ends_with(ends_word)
        && !source[..range.start].ends_with(char::is_alphanumeric)
        && !source[range.end..].starts_with(char::is_alphanumeric)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_markdown() {
        for text in [
            "```rust\nlet x;\n```",
            "code:\n~~~\nx\n~~~",
            "# Title\ntext",
            "text\n### Third",
            "- one\n- two",
            "* `one`",
            "Steps:\n1. first\n2. second",
            "This is **strong**.",
            "**Note:** text",
            "an *important* word",
            "an _important_ word",
            "***both***",
            "see [the page](https://a.example)",
            "see [the page][1]\n\n[1]: https://a.example",
            "![shot](shot.png)",
            "| a | b |\n|---|:-:|\n| 1 | 2 |",
        ] {
            assert!(has_markup(text), "{text}");
        }
    }

    #[test]
    fn drawings_diffs_and_code_are_plain() {
        for text in [
            "",
            "one sentence\nand another",
            "+----+------+\n| li | text |\n+----+------+",
            "+--------+\n| header |\n|        |\n----------\n+--------+",
            "Title\n=====\ntext\n-----",
            "src\n|-- a.rs\n`-- b\n    `-- c.rs",
            "~~~~~~~~\n  waves\n~~~~~~~~",
            "~~~~~~~~",
            "*       *\n *     *\n  *****",
            "*--*--*\n|  |  |\n*--*--*",
            "- - - - -",
            "- old line\n+ new line",
            "2*3*4 and a*b*c",
            "def __init__(self, *args, **kwargs):\n    self.name_of_it = 1",
            "char *a, *b;",
            "handlers[i](event)",
            "<https://a.example>",
            "[ OK ]  [Cancel]",
            "    indented\n  less",
            "a | b\nc | d",
        ] {
            assert!(!has_markup(text), "{text}");
        }
    }

    #[test]
    fn breaks_are_kept_outside_of_code() {
        assert_eq!(harden_breaks("a\nb\n\nc"), "a  \nb\n\nc");
        assert_eq!(harden_breaks("- a\n  b\n- c"), "- a  \n  b\n- c");
        let text = "```\na\nb\n```\n\n| a |\n|---|\n| b |\n";
        assert_eq!(harden_breaks(text), text);
    }
}
