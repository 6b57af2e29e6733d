//! Commands, prompts, help and the positions of options.

use super::*;
use crate::cli::commands::RulesCommand;
use proptest::prelude::*;

fn parse(line: &[&str]) -> Result<Request, ParseError> {
    parse_arguments(line.iter().map(OsString::from))
}

/// The usage page of these arguments, without line breaks.
fn usage_page(line: &[&str]) -> String {
    match parse(line) {
        Ok(Request::Help(HelpPage::Usage(mut page, _))) => {
            page.render_long_help().to_string().split_whitespace().collect::<Vec<_>>().join(" ")
        }
        other => panic!("{line:?}: {other:?}"),
    }
}

#[test]
fn the_tree_is_consistent() {
    Cli::command().debug_assert();
}

#[test]
fn every_command_has_a_page_with_only_its_options() {
    let overview = usage_page(&["--help"]);
    assert!(
        overview.contains("Commands:") && overview.contains("--print") && overview.contains("Topics"),
        "{overview}"
    );
    assert!(!overview.contains("--hunks") && !overview.contains("--all"), "{overview}");
    let tree = Cli::command();
    for command in tree.get_subcommands() {
        for verb in std::iter::once(None).chain(command.get_subcommands().map(Some)) {
            let path: Vec<&str> =
                std::iter::once(command.get_name()).chain(verb.map(clap::Command::get_name)).collect();
            let page = usage_page(&[&path[..], &["--help"]].concat());
            assert!(page.contains(&format!("Usage: aye {}", path.join(" "))), "{page}");
            assert!(["doctor", "export"].contains(&path[0]) || !page.contains("--theme"), "{page}");
            for option in verb.unwrap_or(command).get_arguments().filter(|option| !option.is_hide_set()) {
                let description = option.get_help().map(ToString::to_string).unwrap_or_default();
                assert!(page.contains(&description), "{description}: {page}");
            }
        }
    }
}

#[test]
fn help_is_found_before_and_after_a_command() {
    for line in [
        &["sessions", "list", "--help"][..],
        &["--help", "sessions", "list"],
        &["-C", "/tmp", "sessions", "-h", "list"],
        &["sessions", "list", "more", "-h"],
        &["help", "sessions", "list"],
    ] {
        assert!(usage_page(line).contains("Usage: aye sessions list"), "{line:?}");
    }
    for line in [&["what", "is", "this", "-h"][..], &["-p", "doctor", "-h"], &["help"]] {
        assert!(usage_page(line).contains("Commands: sessions"), "{line:?}");
    }
    assert!(usage_page(&["sessions", "bogus", "-h"]).contains("Usage: aye sessions"));
    for line in [&["help", "sandbox"][..], &["help", "Network"]] {
        assert!(
            matches!(parse(line), Ok(Request::Help(HelpPage::Topic(topic))) if topic.name == "sandbox"),
            "{line:?}"
        );
    }
}

#[test]
fn options_may_precede_a_command_and_its_subcommand() {
    for line in [
        &["--mode", "auto", "rules", "explain", "ls"][..],
        &["rules", "--mode", "auto", "explain", "ls"],
        &["rules", "explain", "--mode", "auto", "--", "ls"],
        &["--mode", "auto", "rules", "explain", "--", "ls"],
    ] {
        let Ok(Request::Command(Command::Rules(rules))) = parse(line) else { panic!("{line:?}") };
        let Some(RulesCommand::Explain(explain)) = rules.command else { panic!("{line:?}") };
        assert_eq!((explain.mode.as_deref(), explain.command.as_str()), (Some("auto"), "ls"), "{line:?}");
    }
    for line in [&["--json", "-C", "x", "rehearsal"][..], &["rehearsal", "--json", "-C", "x"]] {
        let Ok(Request::Command(Command::Rehearsal(rehearsal))) = parse(line) else { panic!("{line:?}") };
        assert!(
            rehearsal.command.is_none() && rehearsal.show.json && rehearsal.show.place.folder.is_some(),
            "{line:?}"
        );
    }
    for line in
        [&["-c", "audit"][..], &["--resume", "01J", "audit"], &["--profile", "x", "models"], &["doctor", "--tour"]]
    {
        assert!(matches!(parse(line), Ok(Request::Command(_))), "{line:?}: {:?}", parse(line));
    }
}

#[test]
fn a_first_word_is_a_command_only_if_the_rest_parses() {
    for line in [
        &["help", "me"][..],
        &["help", "me", "with", "sessions"],
        &["audit", "the", "code"],
        &["audit", "the", "code", "--model", "m"],
        &["-p", "doctor"],
        &["doctor", "-p"],
        &["--", "doctor"],
        &["--", "help"],
        &["models should not know the screen"],
        &["explain", "this", "repo"],
        &[],
    ] {
        let chat = match parse(line) {
            Ok(Request::Chat(chat)) => chat,
            other => panic!("{line:?}: {other:?}"),
        };
        let options = ["-p", "--", "--model", "m"];
        let words: Vec<&str> = line.iter().copied().filter(|word| !options.contains(word)).collect();
        assert_eq!(chat.prompt(), words.join(" "), "{line:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    /// The tree of all commands does not change the meaning of a line that has only options of the chat.
    #[test]
    fn options_alone_mean_the_same_without_the_commands(
        tokens in proptest::collection::vec((any::<proptest::sample::Index>(), 0..6_usize, any::<proptest::sample::Index>()), 0..5)
    ) {
        const VALUES: [&str; 9] = ["a", "sessions", "list", "doctor", "x=y", "-", "--", "1", "/tmp"];
        let chat = ChatOptions::augment_args(clap::Command::new("aye"));
        let names: Vec<String> = chat.get_arguments().filter_map(|option| option.get_long().map(str::to_owned)).collect();
        let mut line = Vec::new();
        for (name, form, value) in tokens {
            let (name, value) = (name.get(&names), value.get(&VALUES));
            match form {
                0 => line.push(format!("--{name}")),
                1 | 2 => line.extend([format!("--{name}"), (*value).to_owned()]),
                3 => line.push(format!("--{name}={value}")),
                4 => line.extend(["-C".to_owned(), (*value).to_owned()]),
                _ => line.push((*value).to_owned()),
            }
        }
        let line: Vec<OsString> = line.into_iter().map(OsString::from).collect();
        if let Some(chat) = parse_without_words(&line) {
            let (fast, whole) = (finish_chat(chat), parse_with_words(&line));
            prop_assert_eq!(format!("{fast:?}"), format!("{whole:?}"), "{:?}", line);
        }
    }
}

#[test]
fn a_mistyped_line_is_explained() {
    for (line, part) in [
        (
            &["sessions", "list", "--force"][..],
            "Cannot use --force here: it is an option of another command. Use it with: aye sessions export",
        ),
        (&["sessions", "lst", "--all"], "Did you mean `aye sessions list`?"),
        (
            &["doctor", "--hunks"],
            "Cannot use --hunks here: it is an option of another command. Use it with: aye rehearsal apply",
        ),
        (&["--hunks"], "Cannot use --hunks here: it is an option of another command. Use it with: aye rehearsal apply"),
        (
            &["hello", "--json"],
            "Cannot use --json here: it is an option of other commands. Use it with -p, or with: aye sessions list",
        ),
        (&["sessions", "rm"], "aye sessions rm takes one or more session IDs"),
        (&["trust", "list", "all"], "aye trust list takes no arguments"),
        (&["help", "sandbx"], "Did you mean `aye help sandbox`? Topics: getting-started, "),
        (&["help", "perm"], "Did you mean `aye help permissions`?"),
        (&["help", "sesions"], "Did you mean `aye help sessions`?"),
        (&["help", "sessions", "lst"], "Did you mean `aye help sessions list`?"),
        (&["hlep"], "Did you mean `aye help`?"),
        (&["doctor", "--bundle", "--json"], "cannot be used with"),
        (&["export", "cast", "a.cast", "--output", "b", "--idle", "soon"], "expected a number of seconds"),
        (&["--nonsense"], "--nonsense"),
        (&["sessions", "--nonsense"], "--nonsense"),
    ] {
        let Err(error) = parse(line) else { panic!("{line:?}: {:?}", parse(line)) };
        assert!(error.to_string().contains(part), "{line:?}: {error}");
    }
}
