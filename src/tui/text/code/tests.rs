//! Highlighting of each kind of language; it covers the whole text and never changes it.

use super::*;

/// Checks the roles of parts of the first line.
#[track_caller]
fn check(language: &str, line: &str, expected: &[(&str, Role)]) {
    let colours = colours(language, line);
    let mut from = 0;
    let mut found = Vec::new();
    for (length, role) in &colours.lines[0] {
        let word = line[from..from + length].trim();
        from += length;
        if !word.is_empty() {
            found.push((word, *role));
        }
    }
    for part in expected {
        assert!(found.contains(part), "{part:?} in {found:?}");
    }
}

#[test]
fn assigns_the_roles_of_each_language() {
    check(
        "rust",
        "let x = \"a\"; // b",
        &[("let", Role::Keyword), ("\"a\"", Role::String), ("// b", Role::Comment)],
    );
    check("src/main.rs", "fn main() { 42 }", &[("main", Role::Function), ("42", Role::Number)]);
    check("py", "def f(): return 1", &[("f", Role::Function), ("return", Role::Keyword)]);
    check("toml", "a = 1 # b", &[("# b", Role::Comment)]);
    check("diff", "+added", &[("+added", Role::Added)]);
    check("rust,ignore", "let x = 1;", &[("let", Role::Keyword)]);
    check("sh", "# note", &[("# note", Role::Comment)]);
}

#[test]
fn tokenizes_every_kind_of_language() {
    check(
        "ts",
        "const f = async (x: number) => `a${x}`;",
        &[("const", Role::Keyword), ("number", Role::Type)],
    );
    check("ts", "g(`a\\n`)", &[("g", Role::Function), ("\\n", Role::Number)]);
    check("rust", "fn f<'a>(c: char) -> Vec<&'a str> {", &[("'a", Role::Type), ("Vec", Role::Type)]);
    check(
        "rust",
        "let c = 'x'; println!(r#\"a\"b\"#);",
        &[("'x'", Role::String), ("println", Role::Function)],
    );
    check("rust", "r#\"a\"b\"#;", &[("r#\"a\"b\"#", Role::String)]);
    check("python", "@cache", &[("@cache", Role::Function)]);
    check("python", "x = f\"{y}\" # c", &[("f\"{y}\"", Role::String), ("# c", Role::Comment)]);
    check(
        "bash",
        "grep -n 'a' $x # c",
        &[("grep", Role::Function), ("-n", Role::Number), ("$x", Role::Type)],
    );
    check("bash", "echo a#b | sort", &[("sort", Role::Function)]);
    check("sql", "select count(*) FROM t -- c", &[("select", Role::Keyword), ("FROM", Role::Keyword)]);
    check("json", "{\"a\": [1, true, \"b\"]}", &[("\"a\"", Role::Type), ("\"b\"", Role::String)]);
    check("yaml", "name: \"x\" # c", &[("name", Role::Type), ("\"x\"", Role::String)]);
    check("css", "a { color: #fff; }", &[("color", Role::Type)]);
    check(
        "html",
        "<a href=\"x\">b</a>",
        &[("a", Role::Keyword), ("href", Role::Type), ("\"x\"", Role::String)],
    );
    check("c", "#include <stdio.h>", &[("#include", Role::Keyword)]);
    check("diff", "-gone", &[("-gone", Role::Removed)]);
    check("md", "# Heading", &[("# Heading", Role::Keyword)]);
    check("Dockerfile", "FROM rust:1 AS build", &[("FROM", Role::Keyword)]);
    check("go", "func (s *T) Name() string { return MAX }", &[("string", Role::Type), ("MAX", Role::Number)]);
}

#[test]
fn continues_constructs_that_span_lines() {
    let role = |language: &str, code: &str, line: usize| colours(language, code).lines[line][0].1;
    assert_eq!(role("rust", "/* a\nb */ let", 1), Role::Comment);
    assert_eq!(role("python", "\"\"\"a\nb\"\"\"\nreturn", 1), Role::String);
    assert_eq!(role("python", "\"\"\"a\nb\"\"\"\nreturn", 2), Role::Keyword);
    assert_eq!(role("js", "`a\nb`", 1), Role::String);
    assert_eq!(role("html", "<!-- a\nb -->", 1), Role::Comment);
    // An unclosed quote ends with its line.
    assert_eq!(role("js", "'a\nreturn", 1), Role::Keyword);
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
        let colours = colours(language, &code);
        let lines: Vec<&str> = code.split_inclusive('\n').map(|line| line.trim_end_matches('\n')).collect();
        assert_eq!(colours.lines.len(), lines.len());
        for (line, stretches) in lines.iter().zip(&colours.lines) {
            let mut at = 0;
            for (length, _) in stretches {
                assert!(*length > 0 && line.is_char_boundary(at + length), "{line:?} {stretches:?}");
                at += length;
            }
            assert_eq!(at, line.len(), "{line:?} {stretches:?}");
        }
    }
}

#[test]
fn no_name_belongs_to_two_languages() {
    let mut seen = std::collections::HashSet::new();
    for name in languages::names() {
        assert!(seen.insert(name), "{name} occurs twice");
    }
}

#[test]
fn unknown_language_has_no_colours() {
    assert_eq!(colours("klingon", "x"), Colours::default());
}

#[test]
fn does_not_highlight_long_code() {
    let theme = crate::tui::theme::Themes::bundled().choose("dark", None);
    let roles = |code: &str| {
        let page = coloured("rust", code, 40, &theme);
        page.lines.iter().flat_map(|line| &line.spans).any(|span| span.style.fg == theme.syntax_keyword.fg)
    };
    assert!(roles(&"let\n".repeat(MOST_LINES)));
    assert!(!roles(&"let\n".repeat(MOST_LINES + 1)));
    assert!(!roles(&"let ".repeat(LONGEST_LINE)));
}

#[test]
fn highlighting_never_changes_the_text() {
    let theme = Theme::plain();
    let code = "fn main() {\n    let größe = \"漢字\";\n}\n";
    let coloured = block(code, Some(&colours("rust", code)), 14, &theme);
    let text = |page: &Page| -> Vec<String> {
        page.lines.iter().map(|line| line.spans.iter().map(|span| span.content.as_ref()).collect()).collect()
    };
    assert_eq!(text(&coloured), text(&plain(code, 14, &theme)));
    assert_eq!(text(&coloured)[..2], [" fn main() {  ", "     let      "]);
    assert!(text(&coloured).iter().all(|line| width::width(line) == 14));
    let wrong = Colours { lines: vec![vec![(5, Role::Keyword), (9000, Role::String)]] };
    assert_eq!(text(&block("größe", Some(&wrong), 14, &theme)), [" größe        "]);
}
