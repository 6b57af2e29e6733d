//! Highlighting of each kind of language; it covers the whole text and never changes it.

use super::*;
use crate::text::width;

/// Checks the roles of parts of the first line.
#[track_caller]
fn check_roles(language: &str, line: &str, expected: &[(&str, SyntaxRole)]) {
    let highlighting = highlight(language, line);
    let mut start = 0;
    let mut tokens = Vec::new();
    for (length, role) in &highlighting.lines[0] {
        let word = line[start..start + length].trim();
        start += length;
        if !word.is_empty() {
            tokens.push((word, *role));
        }
    }
    for part in expected {
        assert!(tokens.contains(part), "{part:?} in {tokens:?}");
    }
}

#[test]
fn assigns_the_roles_of_each_language() {
    check_roles(
        "rust",
        "let x = \"a\"; // b",
        &[("let", SyntaxRole::Keyword), ("\"a\"", SyntaxRole::String), ("// b", SyntaxRole::Comment)],
    );
    check_roles("src/main.rs", "fn main() { 42 }", &[("main", SyntaxRole::Function), ("42", SyntaxRole::Number)]);
    check_roles("py", "def f(): return 1", &[("f", SyntaxRole::Function), ("return", SyntaxRole::Keyword)]);
    check_roles("toml", "a = 1 # b", &[("# b", SyntaxRole::Comment)]);
    check_roles("diff", "+added", &[("+added", SyntaxRole::Added)]);
    check_roles("rust,ignore", "let x = 1;", &[("let", SyntaxRole::Keyword)]);
    check_roles("sh", "# note", &[("# note", SyntaxRole::Comment)]);
}

#[test]
fn tokenizes_every_kind_of_language() {
    check_roles(
        "ts",
        "const f = async (x: number) => `a${x}`;",
        &[("const", SyntaxRole::Keyword), ("number", SyntaxRole::Type)],
    );
    check_roles("ts", "g(`a\\n`)", &[("g", SyntaxRole::Function), ("\\n", SyntaxRole::Number)]);
    check_roles("rust", "fn f<'a>(c: char) -> Vec<&'a str> {", &[("'a", SyntaxRole::Type), ("Vec", SyntaxRole::Type)]);
    check_roles(
        "rust",
        "let c = 'x'; println!(r#\"a\"b\"#);",
        &[("'x'", SyntaxRole::String), ("println", SyntaxRole::Function)],
    );
    check_roles("rust", r"f('\'', 1)", &[(r"'\''", SyntaxRole::String), ("1", SyntaxRole::Number)]);
    check_roles("rust", "r#\"a\"b\"#;", &[("r#\"a\"b\"#", SyntaxRole::String)]);
    check_roles("python", "@cache", &[("@cache", SyntaxRole::Function)]);
    check_roles("python", "x = f\"{y}\" # c", &[("f\"{y}\"", SyntaxRole::String), ("# c", SyntaxRole::Comment)]);
    check_roles(
        "bash",
        "grep -n 'a' $x # c",
        &[("grep", SyntaxRole::Function), ("-n", SyntaxRole::Number), ("$x", SyntaxRole::Type)],
    );
    check_roles("bash", "echo a#b | sort", &[("sort", SyntaxRole::Function)]);
    for line in ["A=1 make x", "A=b make x", "A=b/1.c make x", "A='b c' make x", "A=1 B=\"$c\" make x", "A= make x"] {
        check_roles("bash", line, &[("make", SyntaxRole::Function), ("x", SyntaxRole::Plain)]);
    }
    check_roles("bash", "A=$(git log) make", &[("git", SyntaxRole::Function), ("log", SyntaxRole::Plain)]);
    check_roles("bash", "echo A=1 make", &[("make", SyntaxRole::Plain)]);
    check_roles(
        "sql",
        "select count(*) FROM t -- c",
        &[("select", SyntaxRole::Keyword), ("FROM", SyntaxRole::Keyword)],
    );
    check_roles("json", "{\"a\": [1, true, \"b\"]}", &[("\"a\"", SyntaxRole::Type), ("\"b\"", SyntaxRole::String)]);
    check_roles("yaml", "name: \"x\" # c", &[("name", SyntaxRole::Type), ("\"x\"", SyntaxRole::String)]);
    check_roles("css", "a { color: #fff; }", &[("color", SyntaxRole::Type)]);
    check_roles(
        "html",
        "<a href=\"x\">b</a>",
        &[("a", SyntaxRole::Keyword), ("href", SyntaxRole::Type), ("\"x\"", SyntaxRole::String)],
    );
    check_roles("c", "#include <stdio.h>", &[("#include", SyntaxRole::Keyword)]);
    check_roles("diff", "-gone", &[("-gone", SyntaxRole::Removed)]);
    check_roles("md", "# Heading", &[("# Heading", SyntaxRole::Keyword)]);
    check_roles("Dockerfile", "FROM rust:1 AS build", &[("FROM", SyntaxRole::Keyword)]);
    check_roles(
        "go",
        "func (s *T) Name() string { return MAX }",
        &[("string", SyntaxRole::Type), ("MAX", SyntaxRole::Number)],
    );
}

#[test]
fn continues_constructs_that_span_lines() {
    let role = |language: &str, code: &str, line: usize| highlight(language, code).lines[line][0].1;
    assert_eq!(role("rust", "/* a\nb */ let", 1), SyntaxRole::Comment);
    assert_eq!(role("python", "\"\"\"a\nb\"\"\"\nreturn", 1), SyntaxRole::String);
    assert_eq!(role("python", "\"\"\"a\nb\"\"\"\nreturn", 2), SyntaxRole::Keyword);
    assert_eq!(role("js", "`a\nb`", 1), SyntaxRole::String);
    assert_eq!(role("html", "<!-- a\nb -->", 1), SyntaxRole::Comment);
    // An unclosed quote ends with its line.
    assert_eq!(role("js", "'a\nreturn", 1), SyntaxRole::Keyword);
}

proptest::proptest! {
    #[test]
    fn r34_covers_every_byte_once(
        language in proptest::sample::select(vec![
            "rust", "py", "ts", "c", "bash", "json", "yaml", "html", "css", "diff", "sql", "lua", "make", "md", "tex", "vim",
            "haskell", "clojure", "ps1", "toml",
        ]),
        code in "(\\PC|[\"'`#/\\*<>\\\\@$\\n a-c0-9.:=-]){0,80}",
    ) {
        let highlighting = highlight(language, &code);
        let lines: Vec<&str> = code.split_inclusive('\n').map(|line| line.trim_end_matches('\n')).collect();
        assert_eq!(highlighting.lines.len(), lines.len());
        for (line, tokens) in lines.iter().zip(&highlighting.lines) {
            let mut end = 0;
            for (length, _) in tokens {
                assert!(*length > 0 && line.is_char_boundary(end + length), "{line:?} {tokens:?}");
                end += length;
            }
            assert_eq!(end, line.len(), "{line:?} {tokens:?}");
        }
    }
}

#[test]
fn no_name_belongs_to_two_languages() {
    let mut seen = std::collections::HashSet::new();
    for name in languages::all_names() {
        assert!(seen.insert(name), "{name} occurs twice");
    }
}

#[test]
fn unknown_language_has_no_colours() {
    assert_eq!(highlight("klingon", "x"), Highlighting::default());
}

#[test]
fn does_not_highlight_long_code() {
    let theme = crate::tui::theme::Themes::bundled().choose_theme("dark", None);
    let is_highlighted = |code: &str| {
        let page = lay_out_highlighted("rust", code, 40, &theme);
        page.lines.iter().flat_map(|line| &line.spans).any(|span| span.style.fg == theme.syntax_keyword.fg)
    };
    assert!(is_highlighted(&"let\n".repeat(MAX_LINES)));
    assert!(!is_highlighted(&"let\n".repeat(MAX_LINES + 1)));
    assert!(!is_highlighted(&"let ".repeat(MAX_LINE_LENGTH)));
}

#[test]
fn highlighting_never_changes_the_text() {
    let theme = Theme::without_colours();
    let code = "fn main() {\n    let größe = \"漢字\";\n}\n";
    let highlighted = lay_out_block(code, Some(&highlight("rust", code)), 14, &theme);
    let line_texts = |page: &Page| -> Vec<String> {
        page.lines.iter().map(|line| line.spans.iter().map(|span| span.content.as_ref()).collect()).collect()
    };
    assert_eq!(line_texts(&highlighted), line_texts(&lay_out_block(code, None, 14, &theme)));
    assert_eq!(line_texts(&highlighted)[..2], [" fn main() {  ", "     let      "]);
    assert!(line_texts(&highlighted).iter().all(|line| width::text_width(line) == 14));
    let too_long = Highlighting { lines: vec![vec![(5, SyntaxRole::Keyword), (9000, SyntaxRole::String)]] };
    assert_eq!(line_texts(&lay_out_block("größe", Some(&too_long), 14, &theme)), [" größe        "]);
}
