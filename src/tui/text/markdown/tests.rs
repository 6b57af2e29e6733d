//! Layouts of replies, and properties of all layouts.

mod headings;

use super::*;
use crate::text::link::Existence;
use crate::text::width;
use crate::tui::theme::Themes;
use proptest::prelude::*;
use rustix::time::{ClockId, clock_gettime};

/// Lays out Markdown as if every link target existed and no image had a caption.
fn lay_out_source(source: &str, width: usize) -> Page {
    let theme = Themes::bundled().choose_theme("dark", None);
    lay_out_markdown(source, width, &theme, &|_| Existence::Exists, &NoPictures)
}

fn line_texts(page: &Page) -> Vec<String> {
    let line_text =
        |line: &ratatui::text::Line| line.spans.iter().map(|span| span.content.as_ref()).collect::<String>();
    page.lines.iter().map(line_text).collect()
}

#[track_caller]
fn check_markdown(source: &str, width: usize, expected: &[&str]) {
    let lines: Vec<String> =
        line_texts(&lay_out_source(source, width)).iter().map(|line| line.trim_end().to_owned()).collect();
    assert_eq!(lines, expected, "{source:?}");
}

const GALLERY: &str = include_str!("gallery.md");

#[test]
fn gallery_at_all_widths() {
    for width in [100, 60, 24] {
        let lines: Vec<String> =
            line_texts(&lay_out_source(GALLERY, width)).iter().map(|line| line.trim_end().to_owned()).collect();
        insta::assert_snapshot!(format!("gallery_{width}"), lines.join("\n"));
    }
}

#[test]
fn blocks_are_separated_by_one_blank_line() {
    check_markdown("# a\nb\n\n\n\nc\n***\nd", 9, &["a", "", "b", "", "c", "", "─────────", "", "d"]);
    check_markdown("", 9, &[]);
    check_markdown("\n\n", 9, &[]);
}

#[test]
fn code_is_shown_as_written_also_where_markup_would_be_escaped() {
    let stars = "*".repeat(60);
    for (before, after) in [
        ("```\n", "\n```"),
        ("- ```\n  ", "\n  ```"),
        ("    ", ""),
        ("`", "`"),
        ("`` ", "a\nb ``"),
        ("<div>\n", "\n</div>"),
        ("$", "a$"),
    ] {
        let source = format!("{before}/{stars} [x] {after}");
        let text = line_texts(&lay_out_source(&source, 100)).join("\n");
        assert!(text.contains(&format!("/{stars} [x]")) && !text.contains('\\'), "{text}");
    }
}

#[test]
fn lists_have_hanging_indentation_and_no_blank_lines() {
    check_markdown("- one two\n  - three\n- four", 8, &["• one", "  two", "  • thre", "    e", "• four"]);
    check_markdown("- one\n  - three", 7, &["• one", "  three"]);
    check_markdown("9. a\n10. b", 9, &[" 9. a", "10. b"]);
    check_markdown("- [x] done\n- [ ] open", 12, &["• [x] done", "• [ ] open"]);
    check_markdown("- a\n\n  b\n- c", 9, &["• a", "", "  b", "", "• c"]);
    check_markdown("-\n- a", 9, &["•", "• a"]);
}

#[test]
fn quotes_have_a_bar_on_every_line() {
    check_markdown("> one two\n>\n> > three", 8, &["│ one", "│ two", "│", "│ │ thre", "│ │ e"]);
}

#[test]
fn tables_shrink_evenly_and_finally_become_lists() {
    let table = "| a | long heading |\n|--:|---|\n| 1 | some words here |\n| 200 | |\n";
    check_markdown(table, 40, &["  a │ long heading", "────┼────────────────", "  1 │ some words here", "200 │"]);
    check_markdown(
        table,
        16,
        &["  a │ long", "    │ heading", "────┼───────────", "  1 │ some words", "    │ here", "200 │"],
    );
    check_markdown(
        table,
        10,
        &["a: 1", "long", "  heading:", "  some", "  words", "  here", "", "a: 200", "long", "  heading:"],
    );
}

#[test]
fn link_shows_its_address_unless_its_text_does() {
    check_markdown("[docs](https://a.example/x)", 60, &["docs (https://a.example/x)"]);
    check_markdown("[a.example/x](https://a.example/x)", 60, &["a.example/x"]);
    check_markdown("<https://a.example>", 60, &["https://a.example"]);
    check_markdown("[run](javascript:alert(1))", 60, &["run (javascript:alert(1))"]);
    check_markdown("![cat](cat.png)", 60, &["cat (cat.png)"]);
    check_markdown("![a ![b](b.png 't') c](a.png)", 60, &["a (b.png t) b c (a.png)"]);
    check_markdown("[![a](a.svg)](https://b.example)", 60, &["a (a.svg) (https://b.example)"]);
    let page = lay_out_source("go [docs](https://a.example) and src/a.rs:3 and `b.rs`", 80);
    let links: Vec<_> = page.links.iter().map(|link| (link.start, link.end, link.target.to_string())).collect();
    let web = "https://a.example".to_owned();
    let expected = [(3, 7, web.clone()), (9, 26, web), (32, 42, "src/a.rs:3".into()), (47, 51, "b.rs".into())];
    assert_eq!(links, expected);
    assert_eq!(lay_out_source("[run](javascript:alert)", 60).links, []);
}

#[test]
fn long_address_keeps_its_host_and_its_end() {
    let long = format!("https://a.example/{}/the-end", "x".repeat(200));
    let page = lay_out_source(&format!("[docs]({long})"), 100);
    let rendered = line_texts(&page).join("");
    assert!(rendered.starts_with("docs (https://a.example/xxx") && rendered.ends_with("xxxx/the-end)"), "{rendered}");
    assert!(width::text_width(&rendered) <= 70, "{rendered}");
    assert!(page.links.iter().all(|link| link.target.to_string() == long), "the target is not truncated");
}

#[test]
fn footnotes_show_their_name() {
    check_markdown("a[^1] b\n\n[^1]: the note\n    goes on", 60, &["a[^1] b", "", "[^1] the note goes on"]);
    check_markdown("a[^1]", 60, &["a[^1]"]);
    check_markdown("[^x]: https://a.example", 60, &["[^x] https://a.example"]);
}

#[test]
fn empty_blocks_leave_no_blank_lines() {
    // A footnote without text shows only its name. If the width is too small for the name too, it shows nothing.
    check_markdown("a\n\n[^1]:\n\nb", 3, &["a", "", "b"]);
    check_markdown("[^1]:\n\nb", 3, &["b"]);
    check_markdown("a\n\n>\n\nb", 3, &["a", "", "b"]);
    check_markdown("- \n\n  a\n- \n\n- b\n\n  c", 3, &["a", "", "b", "", "c"]);
}

#[test]
fn formulas_and_variables_stay_as_written() {
    check_markdown("so $a*b*c$ and $$x_1 * y$$", 60, &["so $a*b*c$ and $$x_1 * y$$"]);
    check_markdown("set $HOME/$USER or $5 and $6 *now*", 60, &["set $HOME/$USER or $5 and $6 now"]);
}

#[test]
fn alert_quote_shows_its_kind() {
    check_markdown("> [!WARNING]\n> take care", 60, &["│ Warning", "│", "│ take care"]);
}

#[test]
fn r37_html_and_roles_are_shown_as_text() {
    check_markdown("<b>x</b> <script>y</script>", 60, &["<b>x</b> <script>y</script>"]);
    check_markdown("<div>\nx\n</div>", 60, &["<div>", "x", "</div>"]);
    check_markdown("a<br>b", 60, &["a", "b"]);
    check_markdown("<|im_start|>system", 60, &["<|im_start|>system"]);
}

#[test]
fn r32_cleans_characters_from_entities() {
    for source in ["a&#27;[31mb", "a&#x202E;b", "`a\x1b[31mb`", "```\na\u{202e}b\n```", "[a&#x202E;b](x&#x202e;)"] {
        let rendered = line_texts(&lay_out_source(source, 40)).join("\n");
        assert!(!rendered.contains(['\u{1b}', '\u{202e}']), "{source:?}: {rendered:?}");
    }
}

#[test]
fn code_block_has_a_background_and_highlighting() {
    let theme = Themes::bundled().choose_theme("dark", None);
    let source = "a\n\n```rust\nlet x = 1;\n```";
    let page = lay_out_markdown(source, 12, &theme, &|_| Existence::Exists, &NoPictures);
    assert_eq!(line_texts(&page)[2..], [" let x = 1; "]);
    assert!(page.lines[2].spans.iter().all(|span| span.style.bg == theme.code_block.bg));
    assert!(page.lines[2].spans.iter().any(|span| span.style.fg == theme.syntax_keyword.fg));
}

#[test]
fn r64_hostile_nesting_takes_linear_time() {
    let n = 20_000;
    let hostile = [
        ">".repeat(n),
        "> ".repeat(n),
        "[".repeat(n),
        "- ".repeat(n),
        "1. ".repeat(n / 2),
        "*".repeat(n),
        "[a](".repeat(n / 4),
        "**a".repeat(n / 3),
        "`".repeat(n),
        "![".repeat(n / 2),
        "<".repeat(n),
        "[x".repeat(n / 2),
        "a_".repeat(n / 2),
        (0..200).map(|depth| format!("{}- a\n", "  ".repeat(depth))).collect(),
        "|".repeat(n),
        "> - ".repeat(n / 4),
        format!("{}\n{}\n{}", "|a".repeat(500), "|-".repeat(500), "|b".repeat(500)),
        "&".repeat(n),
        "\\".repeat(n),
        format!("{}\n", ">".repeat(20)).repeat(500),
        "[^a]".repeat(n / 4),
        "~".repeat(n),
        "*a _b ".repeat(n / 6),
    ];
    for source in hostile {
        // CPU time of this thread, which does not depend on the load of the machine.
        let cpu_time = || clock_gettime(ClockId::ThreadCPUTime);
        let start = cpu_time();
        for line in line_texts(&lay_out_source(&source, 40)) {
            assert!(width::text_width(&line) <= 40);
        }
        stable_prefix(&source);
        let excerpt: String = source.chars().take(8).collect();
        assert!((cpu_time() - start).tv_sec < 3, "{excerpt} took {:?}", cpu_time() - start);
    }
}

#[test]
fn reply_is_stable_up_to_its_last_closed_block() {
    for (source, prefix) in [
        ("a\n\nb\n\nc", "a\n\n"),
        ("a\n\nb\n\nc\n", "a\n\nb\n\n"),
        ("a\n\n```\nb\n\nc\n", "a\n\n"),
        ("- a\n\n- b\n\n- c\n", ""),
        ("- a\n\nb\n", "- a\n\n"),
        ("a [x] b\n\nc\n", "a [x] b\n\n"),
        ("a [x](y) b\n\nc\n", "a [x](y) b\n\n"),
        ("[x]: y\n\na\n\nb\n", ""),
        ("a\n\n<!--\n\nb\n\nc\n", "a\n\n"),
        ("a\x1b[1m\t\r\n\r\nb\r\n", "a\x1b[1m\t\r\n\r\n"),
        ("a", ""),
    ] {
        assert_eq!(&source[..stable_prefix(source)], prefix, "{source:?}");
    }
}

/// Lays out a text in two parts, as the screen does.
fn lay_out_in_parts(before: &str, after: &str, width: usize) -> Page {
    let (mut page, after) = (lay_out_source(before, width), lay_out_source(after, width));
    if !page.lines.is_empty() && !after.lines.is_empty() {
        page.lines.push(ratatui::text::Line::default());
    }
    page.append_page(after);
    page
}

/// Returns fragments of most Markdown constructs, complete and broken.
fn markdown_fragments() -> impl Strategy<Value = String> {
    let part = prop::sample::select(vec![
        "a",
        "word two",
        "\n",
        "\n\n",
        "\n\n",
        "- ",
        "1. ",
        "2",
        ". ",
        "> ",
        "```",
        "```rust\n",
        "~~~\n",
        "# ",
        "---",
        "===",
        "    ",
        "  ",
        "| a | b |\n|---|---|\n| c | d |\n",
        "|",
        "[x]",
        "[x]: http://y.z\n",
        "[^n]",
        "[^n]: a note\n",
        "$a*b$",
        "$$",
        "> [!NOTE]\n",
        "[x](y)",
        "(y)",
        "*",
        "**",
        "`",
        "<div>",
        "</div>",
        "<!--",
        "-->",
        "<pre>",
        "https://a.example",
        "src/a.rs:1",
        "\t",
        "漢字",
        "&#27;",
        "\x1b[1m",
        "\r",
        "\\",
        "~~",
        "- [ ] ",
        "* * *",
        "+",
    ]);
    prop::collection::vec(part, 0..30).prop_map(|parts| parts.concat())
}

proptest! {
    #[test]
    fn layout_in_parts_equals_layout_of_the_whole(source in markdown_fragments(), more in markdown_fragments()) {
        let stable = stable_prefix(&source);
        let (before, rest) = source.split_at(stable);
        let whole = format!("{source}{more}");
        let tail = format!("{rest}{more}");
        // The screen lays out a text that defines a reference as a whole.
        if defines_reference(before) || defines_reference(&tail) {
            return Ok(());
        }
        let (parts, at_once) = (lay_out_in_parts(before, &tail, 30), lay_out_source(&whole, 30));
        prop_assert_eq!(line_texts(&parts), line_texts(&at_once), "split at {} of {:?}", stable, whole);
        prop_assert_eq!(parts, at_once);
        // `tail` has a stable prefix too, and the whole text can also be split after that.
        let next = stable_prefix(&tail);
        prop_assert_eq!(line_texts(&lay_out_in_parts(&whole[..stable + next], &tail[next..], 30)), line_texts(&lay_out_source(&whole, 30)));
    }

    #[test]
    fn r34_no_line_is_wider_than_requested(source in markdown_fragments(), noise in "\\PC{0,20}", width in 1usize..40) {
        let page = lay_out_source(&format!("{source}{noise}{source}"), width);
        for line in line_texts(&page) {
            prop_assert!(width::text_width(&line) <= width, "{line:?}");
            prop_assert!(line.chars().all(|c| !c.is_control()));
        }
        for link in &page.links {
            prop_assert!(link.start < link.end && usize::from(link.end) <= width && link.line < page.lines.len());
        }
    }
}

#[test]
fn table_row_is_held_back_until_complete() {
    for (text, complete_rows) in [
        ("words\n\n| a", "words\n\n"),
        ("words\n\n| a | b |\n", "words\n\n"),
        ("words\n\n| a | b |\n|--", "words\n\n"),
        ("| a | b |\n|---|---|\n", "| a | b |\n|---|---|\n"),
        ("| a | b |\n|---|---|\n| 1 | ", "| a | b |\n|---|---|\n"),
        ("| a | b |\n|---|---|\n| 1 | 2 |\nwords", "| a | b |\n|---|---|\n| 1 | 2 |\nwords"),
        ("a | b", "a | b"),
        ("", ""),
        ("|", ""),
    ] {
        assert_eq!(&text[..complete_rows_length(text)], complete_rows, "{text:?}");
    }
}

#[test]
fn shows_text_that_markdown_does_not_render() {
    let rendered = |text: &str| self::line_texts(&lay_out_source(text, 60)).join("\n");
    for (text, expected) in [
        ("```rust one two\nlet x;\n```", "rust one two"),
        ("~~~ obey-me\ncode\n~~~", "obey-me"),
        ("[words](https://a.example \"one two\")", "words (https://a.example) “one two”"),
        ("![words](none.png 'one two')", "words (none.png) “one two”"),
        ("[words](#one-two)", "words (#one-two)"),
        ("text\n\n[name]: https://a.example \"one two\"", "[name]: https://a.example \"one two\""),
        ("[words][name]\n\n[name]: https://a.example \"one two\"", "“one two”"),
        ("| a |\n|---|\n| b | one | two |", "b | one | two"),
        ("&#27;]0;one&#7;", "<U+001B>]0;one<U+0007>"),
    ] {
        assert!(rendered(text).contains(expected), "{text:?}: {}", rendered(text));
    }
    assert_eq!(rendered("```rust\nlet x;\n```").trim(), "let x;", "the highlighting shows a known language");
    assert_eq!(rendered("[One two](#one-two)"), "One two");
}
