//! The check of one error: its three parts, the units of its numbers, and no text that is meant for developers.

/// Beginnings of what failed.
const FAILURES: &[&str] = &["Cannot ", "The provider ", "The account at the provider ", "No answer from "];

/// Verbs with which a sentence says what to do.
const IMPERATIVES: &[&str] = &[
    "Accept", "Add", "Check", "Choose", "Confirm", "Correct", "Deny", "Enter", "Free", "Give", "Increase", "List",
    "Name", "Omit", "Put", "Quote", "Remove", "Restore", "Run", "See", "Set", "Shorten", "Start", "Try", "Type", "Use",
    "Write",
];

/// What may follow a number.
const UNITS: &[&str] =
    &["seconds", "s", "ms", "MB", "MiB", "KiB", "bytes", "characters", "letters", "tokens", "attempts", "sessions"];

/// Words before a number that has no unit: a position or a code, or a value as the user wrote it.
const UNITLESS_AFTER: &[&str] = &["line", "column", "error", "is", "status"];

/// Text of panics and of formats for debugging.
const DEVELOPER_TEXT: &[&str] =
    &["panicked at", "RUST_BACKTRACE", "Some(", "None)", "Ok(", "Err(", "Os {", "Error {", "kind: ", "\\\"", "\\n"];

/// Returns what is wrong with the form of an error, if anything.
pub fn find_fault(text: &str) -> Option<String> {
    let text = text.strip_prefix("aye: ").unwrap_or(text).trim_end();
    let Some((what_failed, rest)) = split_failure(text) else {
        return Some("it does not begin with what failed and a colon".to_owned());
    };
    let sentences = split_sentences(rest);
    if sentences.len() < 2 || sentences[0].is_empty() {
        return Some(format!("{what_failed:?} has no reason, or no sentence after it"));
    }
    let last = sentences.last().copied().unwrap_or_default();
    if !tells_what_to_do(last) {
        return Some(format!("{last:?} does not say what to do"));
    }
    find_bare_number(text).map(|number| format!("{number} has no unit"))
}

/// Returns what is left in the whole output that no user should see, if anything.
pub fn find_leftover(output: &str) -> Option<String> {
    let found = DEVELOPER_TEXT.iter().find(|text| output.contains(**text));
    let has_blank_lines = output.trim_end().lines().filter(|line| line.trim().is_empty()).count() > 1;
    found.map(|text| format!("contains {text:?}")).or(has_blank_lines.then(|| "several blank lines".to_owned()))
}

/// Splits at the colon after what failed: an action, or a place such as a line of a file, an option or a variable.
fn split_failure(text: &str) -> Option<(&str, &str)> {
    let (what_failed, rest) = text.split_once(": ")?;
    let is_place = !what_failed.contains(' ');
    // An address that is refused names its option first.
    if is_place && FAILURES.iter().any(|start| rest.starts_with(start)) {
        return rest.split_once(": ");
    }
    (is_place || FAILURES.iter().any(|start| what_failed.starts_with(start))).then_some((what_failed, rest))
}

fn split_sentences(text: &str) -> Vec<&str> {
    let mut sentences = Vec::new();
    let (mut start, mut is_quoted) = (0, false);
    for (index, c) in text.char_indices() {
        match c {
            '`' => is_quoted = !is_quoted,
            '.' | '?' if !is_quoted && text[index + 1..].starts_with(' ') => {
                sentences.push(&text[start..=index]);
                start = index + 2;
            }
            _ => {}
        }
    }
    sentences.push(&text[start.min(text.len())..]);
    sentences
}

fn tells_what_to_do(sentence: &str) -> bool {
    let first = sentence.split([' ', ':']).next().unwrap_or_default();
    let has_command = |text: &str| text.contains("`aye") || text.contains(": aye ");
    IMPERATIVES.contains(&first)
        || sentence.starts_with("Did you mean ")
        // The verb follows a condition.
        || sentence.split_once(", ").is_some_and(|(_, rest)| {
            let verb = rest.split(' ').next().unwrap_or_default();
            IMPERATIVES.iter().any(|imperative| imperative.eq_ignore_ascii_case(verb))
        })
        || sentence.split_once(": ").is_some_and(|(_, rest)| {
            let verb = rest.split(' ').next().unwrap_or_default();
            IMPERATIVES.iter().any(|imperative| imperative.eq_ignore_ascii_case(verb))
        })
        || has_command(sentence)
}

/// Returns the first number that is a word of its own and has neither a unit nor a reason to have none.
fn find_bare_number(text: &str) -> Option<&str> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let is_number = |word: &str| !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_digit());
    let bare = |word: &str| word.trim_matches([',', '.', ';', ')', ':', '?']).to_owned();
    words.iter().enumerate().find_map(|(index, word)| {
        // The status of a response is in parentheses.
        let number = bare(word);
        if word.starts_with('(') || !is_number(&number) {
            return None;
        }
        let before = index.checked_sub(1).map_or(String::new(), |index| bare(words[index]));
        let mut after = words[index + 1..].iter().map(|word| bare(word));
        let mut unit = after.next().unwrap_or_default();
        // Both ends of a range have the unit after it.
        if unit == "to" && after.next().is_some_and(|end| is_number(&end)) {
            unit = after.next().unwrap_or_default();
        }
        let is_fine = UNITS.contains(&unit.as_str()) || UNITLESS_AFTER.contains(&before.as_str());
        (!is_fine).then_some(*word)
    })
}

#[test]
fn the_check_finds_each_fault() {
    for good in [
        "aye: Cannot read a.toml: line 12: it is not TOML. Correct it.",
        "aye: /a/config.toml:2: screen.colour is not a setting. Did you mean screen.color?",
        "aye: Cannot add a: it is longer than 64 KiB, which is the limit. Enter a shorter one.",
        "Cannot start: the file is missing (os error 2). Use an integer from 1 to 3600 seconds.",
        "aye: --base-url: Cannot use this address: it is empty. Use an address such as \"https://a.b/v1\".",
    ] {
        assert_eq!(find_fault(good), None, "{good}");
    }
    for (bad, fault) in [
        ("aye: no session matches 01ZZ", "begin with what failed"),
        ("aye: Something is wrong: it failed. Use another.", "begin with what failed"),
        ("aye: Cannot read a.toml. Check the path.", "begin with what failed"),
        ("aye: Cannot read a.toml: it does not exist", "no sentence after it"),
        ("aye: Cannot read a.toml: it does not exist. Nobody was there to say yes.", "does not say what to do"),
        ("aye: Cannot read a.toml: it is longer than 1024, the limit. Shorten it.", "1024, has no unit"),
        ("aye: Cannot read a.toml: it is large. Use an integer from 1 to 3600.", "1 has no unit"),
    ] {
        let found = find_fault(bad).unwrap_or_default();
        assert!(found.contains(fault), "{bad}: {found}");
    }
    for (bad, fault) in [
        ("aye: Cannot open x: Os { code: 2 }", "Os {"),
        ("aye: Cannot open x: Some(\"x\")", "Some("),
        ("aye: Cannot open \\\"x\\\": no", "\\\\\\\""),
        ("thread 'main' panicked at src/main.rs:1", "panicked at"),
        ("a\n\n\nb", "several blank lines"),
    ] {
        let found = find_leftover(bad).unwrap_or_default();
        assert!(found.contains(fault), "{bad}: {found}");
    }
}
