//! Tests of passages: headings of each markup, and that no text is lost.

use super::*;
use proptest::prelude::*;

/// Title, and line and heading of each passage.
fn split(text: &str, markup: Markup) -> (Option<String>, Vec<(usize, String)>) {
    let (title, passages) = split_passages(text, markup);
    (title, passages.into_iter().map(|passage| (passage.line, passage.heading)).collect())
}

fn check(text: &str, markup: Markup, title: Option<&str>, expected: &[(usize, &str)]) {
    let expected: Vec<(usize, String)> =
        expected.iter().map(|(line, heading)| (*line, (*heading).to_owned())).collect();
    assert_eq!(split(text, markup), (title.map(str::to_owned), expected), "{text:?}");
}

#[test]
fn markdown_is_split_at_headings() {
    use Markup::Markdown;
    check("intro\n# One\na\n## `Two` ##\nb\n", Markdown, Some("One"), &[(1, ""), (2, "One"), (4, "Two")]);
    check("# [Link](https://x.example) {#anchor}\n", Markdown, Some("Link"), &[(1, "Link")]);
    check("Title\n=====\ntext\n\nSub\n---\n", Markdown, Some("Title"), &[(1, "Title"), (5, "Sub")]);
    check("# A\n```\n# no\n```\n~~~~\n# no\n~~~\n# no\n~~~~\n# B\n", Markdown, Some("A"), &[(1, "A"), (10, "B")]);
    check("    # code\n#no\n#\n####### no\n", Markdown, None, &[(1, "")]);
    check("| a |\n---\ntext\ntext\n---\n- x\n---\n", Markdown, None, &[(1, "")]);
    check("---\ntitle: \"Of the page\"\nx: 1\n---\n# First\n", Markdown, Some("Of the page"), &[(1, ""), (5, "First")]);
    check("---\nno end\n# A\n", Markdown, Some("A"), &[(1, ""), (3, "A")]);
    check("# A\r\ntext\r\n## B\r\n", Markdown, Some("A"), &[(1, "A"), (3, "B")]);
    check("\u{feff}# A\n", Markdown, Some("A"), &[(1, "A")]);
    check("", Markdown, None, &[]);
}

#[test]
fn other_markup_is_split_too() {
    let rst = "=====\nTitle\n=====\n\ntext\n\nPart\n----\n\n::\n\n    a\n";
    check(rst, Markup::Underlined, Some("Title"), &[(1, "Title"), (7, "Part")]);
    check("one\ntwo\n---\nthree\n", Markup::Underlined, None, &[(1, "")]);
    let adoc = "= Title\n\n----\n== no\n----\n== Part\ntext\n";
    check(adoc, Markup::AsciiDoc, Some("Title"), &[(1, "Title"), (6, "Part")]);
}

#[test]
fn long_text_is_cut_between_paragraphs_lines_or_characters() {
    let paragraph = format!("{}\n\n", "word ".repeat(200).trim());
    let (_, passages) = split_passages(&format!("# A\n{}", paragraph.repeat(10)), Markup::Markdown);
    assert_eq!(passages.len(), 3);
    assert!(passages.iter().all(|passage| passage.heading == "A" && passage.range.len() <= MAX_PASSAGE_BYTES));
    assert_eq!(passages[1].line, 2 + 2 * 4);
    let (_, passages) = split_passages(&"é".repeat(MAX_PASSAGE_BYTES), Markup::Underlined);
    assert_eq!(passages.iter().map(|passage| passage.line).collect::<Vec<_>>(), [1, 1]);
    let (_, passages) = split_passages(&"# a\n".repeat(100_000), Markup::Markdown);
    assert!(passages.len() < 1_000, "{}", passages.len());
}

proptest! {
    #[test]
    fn passages_together_are_the_text(
        lines in proptest::collection::vec("(#{1,7} |={1,5}|-{2,5}|```|~~~|    |---|title: |\\.\\. |)[a-zé漢 `#=\u{202e}\u{1b}\r-]{0,12}", 0..60),
        any_text in ".{0,200}", is_long in any::<bool>(),
    ) {
        let repeated = if is_long { "x y\n\n".repeat(3_000) } else { String::new() };
        let text = format!("{}\n{any_text}{repeated}", lines.join("\n"));
        for markup in [Markup::Markdown, Markup::AsciiDoc, Markup::Underlined] {
            let (_, passages) = split_passages(&text, markup);
            let joined: String = passages.iter().map(|passage| &text[passage.range.clone()]).collect();
            prop_assert_eq!(&joined, &text);
            for passage in &passages {
                let line = 1 + text[..passage.range.start].matches('\n').count();
                prop_assert_eq!(passage.line, line);
                prop_assert!(passage.range.len() <= MAX_PASSAGE_BYTES);
            }
        }
    }
}
