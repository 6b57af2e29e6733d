//! Invariants of all grammars, and parsing of arguments by them.

use super::*;
use crate::policy::command_line::Word;
use std::collections::BTreeSet;

fn words(line: &str) -> Vec<Word> {
    line.split(' ').filter(|word| !word.is_empty()).map(|word| Word::Known(word.to_owned())).collect()
}

/// Returns every grammar, including those of subcommands, with its full name.
fn all_grammars() -> Vec<(String, &'static Program)> {
    let with_subcommands = |program: &'static Program| {
        let subcommands = program.subcommands.iter();
        let named = subcommands.map(|subcommand| (format!("{} {}", program.name(), subcommand.name()), subcommand));
        [(program.name().to_owned(), program)].into_iter().chain(named)
    };
    programs().flat_map(with_subcommands).collect()
}

#[test]
fn option_names_are_unique_and_well_formed() {
    let mut programs = BTreeSet::new();
    for (called, program) in all_grammars() {
        let names = program.names.iter().map(|name| format!("{} {name}", called.split(' ').next().unwrap()));
        assert!(names.into_iter().all(|name| programs.insert(name)), "{called} is defined twice");
        assert!(!program.described_versions.is_empty(), "{called}");
        let mut options = BTreeSet::new();
        for name in program.options.iter().flat_map(OptionSpec::all_names) {
            assert!(options.insert(name), "{called}: {name} is defined twice");
            let is_sign = called == "find" && matches!(name, "!" | "(" | ")" | ",");
            assert!(is_sign || (name.starts_with('-') && name.len() > 1), "{called}: {name}");
            assert!(!name.starts_with("--") || name.len() > 2, "{called}: {name}");
            let is_word = name.len() > 2 && !name.starts_with("--");
            assert!(!is_word || program.syntax.is_single_dash || is_sign, "{called}: {name}");
        }
        if program.operands.first.iter().any(|holds| matches!(holds, ValueKind::Pattern | ValueKind::Script)) {
            let replaces = program.options.iter().any(|option| option.role == Role::HoldsScript);
            assert!(replaces || called == "fd", "{called}");
        }
    }
}

/// The next word is the value of an option exactly if the option requires one.
#[test]
fn r12_only_a_required_value_takes_the_next_word() {
    let mut optional = 0;
    for (called, program) in all_grammars().into_iter().filter(|(called, _)| called != "find") {
        for (option, name) in
            program.options.iter().flat_map(|option| option.all_names().map(move |name| (option, name)))
        {
            let given = parse_arguments(program, &words(&format!("{name} .env")));
            let separate = !name.starts_with("--") || program.syntax.has_separate_long;
            match option.value {
                OptionValue::None | OptionValue::Optional(_) | OptionValue::OptionalNumber { .. } => {
                    optional += usize::from(option.value != OptionValue::None);
                    assert_eq!(given.operands, words(".env"), "{called} {name}");
                }
                OptionValue::Required(_) if separate => {
                    assert!(given.operands.is_empty() && given.option_texts(&[name]).eq([".env"]), "{called} {name}");
                }
                OptionValue::Required(_) => {
                    assert!(given.operands == words(".env") && !given.problems.is_empty(), "{called} {name}");
                }
            }
        }
    }
    assert!(optional > 40, "{optional}");
}

#[test]
fn numbers_have_digits_and_optional_sign_and_unit() {
    let tail = program_named("tail").unwrap();
    for (value, is_number) in [
        ("5", true),
        ("+5", true),
        ("-5", true),
        ("5k", true),
        ("1MB", true),
        ("", false),
        ("+", false),
        ("f", false),
        ("-f", false),
        ("--5", false),
        ("5 f", false),
        ("5k5", false),
        ("a5", false),
        ("5.env", false),
        (".env", false),
    ] {
        for words in [vec!["-n", value], vec!["--bytes", value]] {
            let words: Vec<Word> = words.into_iter().map(|word| Word::Known(word.to_owned())).collect();
            assert_eq!(parse_arguments(tail, &words).problems.is_empty(), is_number, "{words:?}");
        }
    }
}

/// Abbreviations, unknown options and missing values are problems.
#[test]
fn r12_unknown_options_are_problems() {
    for (called, program) in all_grammars().into_iter().filter(|(called, _)| called != "find") {
        for name in program.options.iter().flat_map(OptionSpec::all_names).filter(|name| name.starts_with("--")) {
            for end in 3..name.len() {
                let beginning = &name[..end];
                if program.option(beginning).is_none() {
                    let given = parse_arguments(program, &words(&format!("{beginning} x")));
                    assert!(!given.problems.is_empty(), "{called} {beginning}");
                }
            }
            let given = parse_arguments(program, &words(&format!("{name}=1")));
            let takes = program.option(name).is_some_and(|option| option.value != OptionValue::None);
            assert_eq!(given.problems.is_empty(), takes, "{called} {name}=1");
        }
        for letter in ('a'..='z').chain('A'..='Z').chain(['#', '%']) {
            let name = format!("-{letter}");
            if program.option(&name).is_none() {
                assert!(!parse_arguments(program, &words(&name)).problems.is_empty(), "{called} {name}");
            }
        }
        for option in program.options.iter().filter(|option| matches!(option.value, OptionValue::Required(_))) {
            for name in option.all_names() {
                assert!(!parse_arguments(program, &words(name)).problems.is_empty(), "{called} {name}");
            }
        }
    }
}

/// Words with several options after one dash, for programs that parse them in their own way.
#[test]
fn r12_parses_bundled_short_options() {
    for (line, operands, certain) in [
        ("ls -la src", "src", true),
        ("head -n5 a", "a", true),
        ("head -qn 5 a", "a", true),
        ("head -5 a", "a", true),
        ("cat -5 a", "a", false),
        ("xxd -ps a b", "a b", true),
        ("xxd -ps5 a b", "a b", false),
        ("xxd -bi a", "a", false),
        ("xxd -c16 a", "a", true),
        ("xxd -cols 16 a", "16 a", false),
        ("xxd a -l 5", "a -l 5", true),
        ("xxd -- a", "a", false),
        ("tree -aL 2 src", "src", true),
        ("tree -L2 src", "2 src", false),
        ("tree -Lo 2 x", "x", false),
        ("tree src -L 2", "src", true),
        ("od -w16 a", "a", true),
        ("od -cw a", "a", true),
        ("od -Anw a", "a", true),
        ("awk -F, {print} -F b", "{print} -F b", true),
        ("sort a -k 2 b", "a b", true),
        ("grep -ePAT a", "a", true),
        ("grep -e -f a", "a", true),
        ("grep -- -e a", "-e a", true),
        ("seq -s , 1 -2", "1 -2", true),
        ("jq -rc . a", ". a", true),
    ] {
        let line = words(line);
        let given = parse_arguments(program_named(line[0].display_text()).unwrap(), &line[1..]);
        let found: Vec<&str> = given.operands.iter().map(Word::display_text).collect();
        assert_eq!(given.problems.is_empty(), certain, "{line:?}: {:?}", given.problems);
        assert!(!certain || found.join(" ") == operands, "{line:?}: {found:?}");
    }
    let git = program_named("git").unwrap();
    for (line, operands, certain) in [
        ("diff -U /x", "/x", true),
        ("diff -U5 /x", "/x", true),
        ("log -M x -- y", "x y", true),
        ("log -S x y", "y", true),
        ("log -10 x", "x", true),
        ("log -pw x", "x", false),
        ("blame -C x", "x", true),
        ("blame -wCCC x", "x", true),
        ("grep -e x y", "y", true),
        ("status -sb", "", true),
    ] {
        let line = words(line);
        let given = parse_arguments(git.subcommand(line[0].display_text()).unwrap(), &line[1..]);
        let found: Vec<&str> = given.operands.iter().map(Word::display_text).collect();
        assert_eq!(given.problems.is_empty(), certain, "{line:?}: {:?}", given.problems);
        assert!(!certain || found.join(" ") == operands, "{line:?}: {found:?}");
    }
}

#[test]
fn r12_patterns_in_option_position_are_problems() {
    let grep = program_named("grep").unwrap();
    let pattern = |text: &str| parse_arguments(grep, &[Word::Pattern(text.to_owned())]);
    assert_eq!(pattern("--include=*.rs").unmatched_patterns.len(), 1);
    assert!(pattern("--include=*.rs").problems.is_empty());
    for text in ["-e*", "--file=*", "--incl=*.rs", "-*", "--*"] {
        assert!(!pattern(text).problems.is_empty(), "{text}");
    }
    let late = parse_arguments(program_named("head").unwrap(), &words("a -n .env b"));
    assert_eq!((late.late_values, late.operands), (words(".env"), words("a b")));
}
