//! Code is whole, coloured or not.

use super::*;

fn job(language: &str, code: &str) -> Job {
    Job::new(language, code).expect("worth colouring")
}

/// The stretches of the first line with what they are.
#[track_caller]
fn check(language: &str, line: &str, expected: &[(&str, Role)]) {
    let colours = highlight(&job(language, line));
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
fn words_have_the_role_their_language_gives_them() {
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
fn an_unknown_language_has_no_colours() {
    assert_eq!(highlight(&job("klingon", "x")), Colours::default());
    assert_eq!(Job::new("", "x"), None);
}

#[test]
fn too_much_code_is_left_plain() {
    assert_eq!(Job::new("rust", &"x\n".repeat(MOST_LINES + 1)), None);
    assert_eq!(Job::new("rust", &"x".repeat(LONGEST_LINE + 1)), None);
    assert!(Job::new("rust", &"x\n".repeat(MOST_LINES)).is_some());
}

#[test]
fn colours_never_change_the_text() {
    let theme = Theme::plain();
    let code = "fn main() {\n    let größe = \"漢字\";\n}\n";
    let coloured = block(code, Some(&highlight(&job("rust", code))), 14, &theme);
    let text = |page: &Page| -> Vec<String> {
        page.lines.iter().map(|line| line.spans.iter().map(|span| span.content.as_ref()).collect()).collect()
    };
    assert_eq!(text(&coloured), text(&plain(code, 14, &theme)));
    assert_eq!(text(&coloured)[..2], [" fn main() {  ", "     let größe"]);
    assert!(text(&coloured).iter().all(|line| width::width(line) == 14));
    let wrong = Colours { lines: vec![vec![(5, Role::Keyword), (9000, Role::String)]] };
    assert_eq!(text(&block("größe", Some(&wrong), 14, &theme)), [" größe        "]);
}

#[test]
fn colours_are_wanted_once_and_then_there() {
    let mut highlights = Highlights::default();
    let job = job("rust", "let x = 1;\n");
    assert!(!highlights.colours(&job).complete);
    assert!(!highlights.colours(&job).complete);
    assert_eq!(highlights.take_wanted(), std::slice::from_ref(&job));
    highlights.colours(&job);
    assert_eq!(highlights.take_wanted(), [], "it runs already");
    highlights.insert(job.clone(), highlight(&job));
    let found = highlights.colours(&job);
    assert!(found.complete && found.colours.is_some());
    assert_eq!(highlights.take_wanted(), []);
}

#[test]
fn code_that_grows_keeps_the_colours_of_its_beginning() {
    let mut highlights = Highlights::default();
    let (first, second, third) = (
        job("rust", "let x = 1;\nle"),
        job("rust", "let x = 1;\nlet y"),
        job("rust", "let x = 1;\nlet y = 2;"),
    );
    highlights.insert(first.clone(), highlight(&first));
    let found = highlights.colours(&second);
    assert_eq!(found.colours.map(|colours| colours.lines.len()), Some(1));
    assert!(!found.complete);
    highlights.colours(&third);
    assert_eq!(highlights.take_wanted(), [third], "only the newest state of the block is wanted");
}

#[test]
fn the_cache_is_bounded() {
    let mut highlights = Highlights::default();
    for n in 0..600 {
        highlights.insert(job("x", &format!("{n}")), Colours::default());
    }
    assert!(!highlights.colours(&job("x", "0")).complete);
    assert!(highlights.colours(&job("x", "599")).complete);
}
