//! Invariants of all grammars, and parsing of arguments by them.

use super::*;
use crate::policy::command_line::Word;
use std::collections::BTreeSet;

/// Splits a line at spaces into known words.
fn known_words(line: &str) -> Vec<Word> {
    line.split(' ').filter(|word| !word.is_empty()).map(|word| Word::Known(word.to_owned())).collect()
}

/// Returns every grammar, including those of subcommands, with its full name.
fn all_grammars() -> Vec<(String, &'static Program)> {
    let with_subcommands = |program: &'static Program| {
        let subcommands = program.subcommands.iter();
        let named_subcommands =
            subcommands.map(|subcommand| (format!("{} {}", program.name(), subcommand.name()), subcommand));
        [(program.name().to_owned(), program)].into_iter().chain(named_subcommands)
    };
    programs().flat_map(with_subcommands).collect()
}

#[test]
fn option_names_are_unique_and_well_formed() {
    let mut programs = BTreeSet::new();
    for (full_name, program) in all_grammars() {
        let names = program.names.iter().map(|name| format!("{} {name}", full_name.split(' ').next().unwrap()));
        assert!(names.into_iter().all(|name| programs.insert(name)), "{full_name} is defined twice");
        assert!(!program.described_versions.is_empty(), "{full_name}");
        let mut options = BTreeSet::new();
        for name in program.all_options().flat_map(OptionSpec::all_names) {
            assert!(options.insert(name), "{full_name}: {name} is defined twice");
            let is_sign = full_name == "find" && matches!(name, "!" | "(" | ")" | ",");
            assert!(is_sign || (name.starts_with('-') && name.len() > 1), "{full_name}: {name}");
            assert!(!name.starts_with("--") || name.len() > 2, "{full_name}: {name}");
            let is_word = name.len() > 2 && !name.starts_with("--");
            assert!(!is_word || program.syntax.is_single_dash || is_sign, "{full_name}: {name}");
        }
        if program.operands.first.iter().any(|kind| matches!(kind, ValueKind::Pattern | ValueKind::Script)) {
            // An option may hold the pattern or script instead of the operand. fd has no such option.
            let has_script_option = program.all_options().any(|option| option.role == Role::HoldsScript);
            assert!(has_script_option || full_name == "fd", "{full_name}");
        }
    }
}

/// The next word is the value of an option exactly if the option requires one.
#[test]
fn r12_only_a_required_value_takes_the_next_word() {
    let mut optional_count = 0;
    for (full_name, program) in all_grammars().into_iter().filter(|(full_name, _)| full_name != "find") {
        for (option, name) in
            program.all_options().flat_map(|option| option.all_names().map(move |name| (option, name)))
        {
            let arguments = parse_arguments(program, &known_words(&format!("{name} .env")));
            let accepts_next_word = !name.starts_with("--") || program.syntax.has_separate_long;
            match option.value {
                OptionValue::None | OptionValue::Optional(_) | OptionValue::OptionalNumber { .. } => {
                    optional_count += usize::from(option.value != OptionValue::None);
                    assert_eq!(arguments.operands, known_words(".env"), "{full_name} {name}");
                }
                OptionValue::Required(_) if accepts_next_word => {
                    assert!(
                        arguments.operands.is_empty() && arguments.option_texts(&[name]).eq([".env"]),
                        "{full_name} {name}"
                    );
                }
                OptionValue::Required(_) => {
                    assert!(
                        arguments.operands == known_words(".env") && !arguments.problems.is_empty(),
                        "{full_name} {name}"
                    );
                }
            }
        }
    }
    assert!(optional_count > 40, "{optional_count}");
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
    for (full_name, program) in all_grammars().into_iter().filter(|(full_name, _)| full_name != "find") {
        for name in program.all_options().flat_map(OptionSpec::all_names).filter(|name| name.starts_with("--")) {
            // The shortest prefix is `--` and one letter.
            for end in 3..name.len() {
                let prefix = &name[..end];
                if program.option(prefix).is_none() {
                    let arguments = parse_arguments(program, &known_words(&format!("{prefix} x")));
                    assert!(!arguments.problems.is_empty(), "{full_name} {prefix}");
                }
            }
            let arguments = parse_arguments(program, &known_words(&format!("{name}=1")));
            let takes_value = program.option(name).is_some_and(|option| option.value != OptionValue::None);
            assert_eq!(arguments.problems.is_empty(), takes_value, "{full_name} {name}=1");
        }
        for c in ('a'..='z').chain('A'..='Z').chain(['#', '%']) {
            let name = format!("-{c}");
            if program.option(&name).is_none() {
                assert!(!parse_arguments(program, &known_words(&name)).problems.is_empty(), "{full_name} {name}");
            }
        }
        for option in program.all_options().filter(|option| matches!(option.value, OptionValue::Required(_))) {
            for name in option.all_names() {
                assert!(!parse_arguments(program, &known_words(name)).problems.is_empty(), "{full_name} {name}");
            }
        }
    }
}

/// Words with several options after one dash, for programs that parse them in their own way.
#[test]
fn r12_parses_bundled_short_options() {
    for (line, operands, is_certain) in [
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
        let line = known_words(line);
        let arguments = parse_arguments(program_named(line[0].display_text()).unwrap(), &line[1..]);
        let actual: Vec<&str> = arguments.operands.iter().map(Word::display_text).collect();
        assert_eq!(arguments.problems.is_empty(), is_certain, "{line:?}: {:?}", arguments.problems);
        assert!(!is_certain || actual.join(" ") == operands, "{line:?}: {actual:?}");
    }
    let git = program_named("git").unwrap();
    for (line, operands, is_certain) in [
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
        let line = known_words(line);
        let arguments = parse_arguments(git.subcommand(line[0].display_text()).unwrap(), &line[1..]);
        let actual: Vec<&str> = arguments.operands.iter().map(Word::display_text).collect();
        assert_eq!(arguments.problems.is_empty(), is_certain, "{line:?}: {:?}", arguments.problems);
        assert!(!is_certain || actual.join(" ") == operands, "{line:?}: {actual:?}");
    }
}

#[test]
fn r12_patterns_in_option_position_are_problems() {
    let grep = program_named("grep").unwrap();
    let parse_pattern = |text: &str| parse_arguments(grep, &[Word::Pattern(text.to_owned())]);
    assert_eq!(parse_pattern("--include=*.rs").unmatched_patterns.len(), 1);
    assert!(parse_pattern("--include=*.rs").problems.is_empty());
    for text in ["-e*", "--file=*", "--incl=*.rs", "-*", "--*"] {
        assert!(!parse_pattern(text).problems.is_empty(), "{text}");
    }
    let head_arguments = parse_arguments(program_named("head").unwrap(), &known_words("a -n .env b"));
    assert_eq!((head_arguments.late_values, head_arguments.operands), (known_words(".env"), known_words("a b")));
}

#[test]
fn r12_parses_bare_options_and_expressions() {
    for (line, operands, options, is_certain) in [
        ("tar tf x", "", "-t -f=x", true),
        ("tar fvt x", "", "-f=x -v -t", true),
        ("tar -tfv x", "x", "-t -f=v", true),
        ("tar xf x", "", "-f=x", false),
        ("tar f", "", "-f", false),
        ("find . src -type f", ". src", "-type=f", true),
        ("find -H . -name -delete", ".", "-H -name=-delete", true),
        ("find . -H", ".", "-H", true),
        ("find -L x ( -newer y , -delete )", "x", "-L ( -newer=y , -delete )", true),
        ("find -exec rm {} ; -delete", "", "-exec -delete", true),
        ("find . -exec rm {} + x", ".", "-exec", false),
        ("find . -o x", ".", "-o", false),
        ("find . -foo -delete", ".", "-delete", false),
        ("find . -name", ".", "-name", false),
    ] {
        let words = known_words(line);
        let arguments = parse_arguments(program_named(words[0].display_text()).unwrap(), &words[1..]);
        let format_option = |option: &ParsedOption| match &option.value {
            Some(value) => format!("{}={}", option.option.all_names().next().unwrap(), value.display_text()),
            None => option.option.all_names().next().unwrap().to_owned(),
        };
        let given: Vec<String> = arguments.options.iter().map(format_option).collect();
        let actual: Vec<&str> = arguments.operands.iter().map(Word::display_text).collect();
        assert_eq!((given.join(" "), actual.join(" ")), (options.to_owned(), operands.to_owned()), "{line}");
        assert_eq!(arguments.problems.is_empty(), is_certain, "{line}: {:?}", arguments.problems);
    }
}
